"""The evaluation scripts of de-identification tasks: i2b2 2014 (track 1) and MEDDOCAN 2019.

Both compare sets: spans of a document that are given twice count once. Documents are those that both sides have.

`i2b2-2014`, of types with a name and a TYPE. `Strict`: equal name and TYPE, whatever their case, start and end.
`Relaxed`: the same, ends at most two characters apart; a span that equals an earlier one of its side so is no span, and
of the side with fewer spans (of predictions, if it is none) those that equal any of the other are right. `Token`: equal
words of spans, which are runs of ASCII letters and digits; a span without any is one empty word at its end. Names and
TYPEs are compared with their case. `Binary`: whatever the type. `HIPAA`: only types of the HIPAA list, where IDNUM is
missing by a mistake of the script. `Macro` is the mean over documents, a ratio without denominator being 0, and in
brackets the standard deviation; its F1 is NaN where both means are 0. Figures of single names are not reproduced.

`meddocan`. `Subtask1`: equal type, start and end; `Leak` is the number of missed spans by that of sentences.
`Subtask2Strict`: equal start and end. `Subtask2Merged`: spans of a side, sorted, with nothing but non-alphanumeric
characters between, are merged to one, which ends where the last of them ends; right is what is equal before or after
merging, and a span that lies in a right one is neither missed nor spurious.
Sources: evaluate.py of github.com/kotfic/i2b2_evaluation_scripts acbfd4e (Stubbs, Kotfila and Uzuner 2015); evaluate.py
of github.com/PlanTL-GOB-ES/MEDDOCAN-CODALAB-Evaluation-Script 783a6df (Marimon et al. 2019).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from nereval_core.conventions.convention import (
    Convention,
    LayerPair,
    MatchedSides,
    Options,
    ScorerOption,
    ScorerSteps,
    read_layers,
    refuse_discontinuous,
    same_layers,
)
from nereval_core.conventions.outcome import CountTables, FigureRow, Figures, Outcome, RatioNames, figure_rows
from nereval_core.conventions.records import (
    COR,
    IGN,
    MIS,
    OVERALL,
    SPU,
    Evaluation,
    MatchRows,
    UnitColumns,
    reading_order,
)
from nereval_core.corpus import Layer
from nereval_core.problems import FormatError

COUNTERS = {"tp": (COR,), "fp": (SPU,), "fn": (MIS,)}
REASONS = (
    "equal on the other side",
    "nothing equal on the other side",
    "given twice, or equal to what counts already: left out",
    "lies in a right span: left out",
    "not of the types that count: left out",
)
RIGHT, WRONG, REPEATED, WITHIN, OTHER_TYPE = range(len(REASONS))
SPANS = Evaluation(reasons=REASONS, counters=COUNTERS)
WORDS = Evaluation(reasons=REASONS, counters=COUNTERS, unit="token")
RATIOS = RatioNames(precision="Precision", recall="Recall", f1="F1", correct="tp", fp="fp", fn="fn")
WORD = re.compile("[a-zA-Z0-9]+")
NAMES = {
    "NAME": ("PATIENT", "DOCTOR", "USERNAME"),
    "PROFESSION": ("PROFESSION",),
    "LOCATION": (
        *("ROOM", "DEPARTMENT", "HOSPITAL", "ORGANIZATION", "STREET", "CITY", "STATE", "COUNTRY", "ZIP"),
        "LOCATION-OTHER",
    ),
    "AGE": ("AGE",),
    "DATE": ("DATE",),
    "CONTACT": ("PHONE", "FAX", "EMAIL", "URL", "IPADDR"),
    "ID": (*("SSN", "MEDICALRECORD", "HEALTHPLAN", "ACCOUNT", "LICENSE", "VEHICLE", "DEVICE", "BIOID", "IDNUM"),),
}
"""The TYPEs of each name, for types that give no name."""
HIPAA: Mapping[str, tuple[str, ...]] = {
    "NAME": ("PATIENT",),
    "LOCATION": ("CITY", "STREET", "ZIP", "ORGANIZATION"),
    "DATE": ("",),
    "AGE": ("",),
    "CONTACT": ("PHONE", "FAX", "EMAIL"),
    "ID": ("SSN", "MEDICALRECORD", "HEALTHPLAN", "ACCOUNT", "LICENSE", "VEHICLE", "DEVICE", "BIOID"),
}
"""Beginnings of the TYPEs of the HIPAA list, by beginnings of their names."""
DISTANCE = 2
"""Characters that ends of `Relaxed` may be apart."""
I2B2 = (
    *("Token", "Strict", "Relaxed", "HIPPA Token", "HIPAA Strict", "HIPAA Relaxed"),
    *("Binary Token", "Binary Strict", "Binary HIPPA Token", "Binary HIPAA Strict"),
)
"""The evaluations, in the order and under the names of the printout."""
MEDDOCAN = ("Subtask1", "Subtask2Strict", "Subtask2Merged")
BY_DOCUMENT = "documents/"
SENTENCES = "sentences"

Key = tuple[Any, ...]


class Side(NamedTuple):
    """The spans of one side in reading order, as lists."""

    layer: Layer
    doc: list[int]
    start: list[int]
    end: list[int]
    kind: list[int]

    @classmethod
    def of_layer(cls, layer: Layer) -> Side:
        order = reading_order(layer)
        columns = (column[order].tolist() for column in (layer.doc, layer.start, layer.end, layer.type))
        return cls(layer, *columns)

    def keys(self, of_kind: Callable[[str], Key]) -> list[Key]:
        """Return document, what `of_kind` makes of the type, start and end of each span."""
        kinds = [of_kind(name) for name in self.layer.types]
        columns = zip(self.doc, self.kind, self.start, self.end, strict=True)
        return [(doc, *kinds[kind], start, end) for doc, kind, start, end in columns]


def no_type(_: str) -> Key:
    return ()


def name_and_type(label: str) -> tuple[str, str]:
    """Return the name and TYPE of a type: `NAME/PATIENT`, `NAME:PATIENT`, or `PATIENT` with the name it belongs to."""
    name, sign, kind = label.replace(":", "/").partition("/")
    if sign:
        return name, kind
    return next((name for name, kinds in NAMES.items() if label.upper() in kinds), ""), label


def is_hipaa(label: str) -> bool:
    name, kind = name_and_type(label)
    return any(name.startswith(begin) and kind.startswith(kinds) for begin, kinds in HIPAA.items())


def match_i2b2(layers: LayerPair, options: Options) -> MatchedSides:
    """Match spans and words by each evaluation.

    Raises:
        FormatError: discontinuous spans, no document.
    """
    _refuse(layers, "and the script reads spans of one start and end")
    sides = Side.of_layer(layers.gold), Side.of_layer(layers.pred)
    left_out = [[not is_hipaa(name) for name in side.layer.types] for side in sides]
    words = [Words.of_side(side) for side in sides]
    rows: dict[str, MatchRows] = {}
    for name in I2B2:
        kind_of = no_type if name.startswith("Binary") else name_and_type
        ignored = left_out if "HIP" in name else [[False] * len(side.layer.types) for side in sides]
        if name.endswith("Token"):
            keys = [each.keys(side, kind_of) for each, side in zip(words, sides, strict=True)]
            skipped = [
                [flags[side.kind[span]] for span in each.span]
                for each, side, flags in zip(words, sides, ignored, strict=True)
            ]
        else:
            folded = no_type if kind_of is no_type else _upper
            keys = [side.keys(folded) for side in sides]
            skipped = [[flags[kind] for kind in side.kind] for side, flags in zip(sides, ignored, strict=True)]
        decide = _near_rows if name.endswith("Relaxed") else _equal_rows
        rows[name] = decide(keys, skipped)

    def records(evaluation: str) -> pd.DataFrame:
        of_words = evaluation.endswith("Token")
        spans = UnitColumns.of_layer(layers.gold), UnitColumns.of_layer(layers.pred)
        units = [each.units(side) for each, side in zip(words, spans, strict=True)] if of_words else spans
        return (WORDS if of_words else SPANS).records(evaluation, units, rows[evaluation])

    ids = layers.gold.documents.ids
    units_of_docs = {False: [side.doc for side in sides], True: [each.doc for each in words]}
    tables: dict[str, dict[str, tuple[int, ...]]] = {}
    for name, each in rows.items():
        of_gold, of_pred = units_of_docs[name.endswith("Token")]
        tables[name] = {OVERALL: each.decisions()}
        tables[BY_DOCUMENT + name] = _by_document(each, of_gold, of_pred, ids)
    return MatchedSides.of_layers(layers, tables, records)


def _upper(label: str) -> Key:
    return tuple(part.upper() for part in name_and_type(label))


class Words(NamedTuple):
    """The words of the spans of a side: the span's number, document, start and end of each."""

    span: list[int]
    doc: list[int]
    start: list[int]
    end: list[int]

    @classmethod
    def of_side(cls, side: Side) -> Words:
        texts = side.layer.documents.texts
        rows = []
        for span, (doc, start, end) in enumerate(zip(side.doc, side.start, side.end, strict=True)):
            places = [match.span() for match in WORD.finditer(texts[doc][start:end])] or [(end - start, end - start)]
            rows += [(span, doc, start + low, start + high) for low, high in places]
        columns: tuple[list[int], ...] = tuple(map(list, zip(*rows, strict=True))) or ([], [], [], [])
        return cls(*columns)

    def keys(self, side: Side, of_kind: Callable[[str], Key]) -> list[Key]:
        kinds = [of_kind(name) for name in side.layer.types]
        columns = zip(self.doc, self.span, self.start, self.end, strict=True)
        return [(doc, *kinds[side.kind[span]], start, end) for doc, span, start, end in columns]

    def units(self, spans: UnitColumns) -> UnitColumns:
        kind = spans.kind[np.array(self.span, np.int64)]
        doc, start, end = (np.array(column, np.int64) for column in (self.doc, self.start, self.end))
        return UnitColumns(spans.documents, doc, start, end, kind, spans.types)


def _equal_rows(keys: Sequence[Sequence[Key]], skipped: Sequence[Sequence[bool]]) -> MatchRows:
    """Match units of the same key, each key once a side."""
    numbers: dict[Key, int] = {}
    columns = [np.array([numbers.setdefault(key, len(numbers)) for key in side], np.int64) for side in keys]
    ignored = [np.where(np.array(side, bool), OTHER_TYPE, -1) for side in skipped]
    return MatchRows.of_sets(columns[0], columns[1], ignored[0], ignored[1])


def _near_rows(keys: Sequence[Sequence[Key]], skipped: Sequence[Sequence[bool]]) -> MatchRows:
    """Match units whose keys differ by at most DISTANCE in the last part, the end."""
    groups: list[dict[Key, list[int]]] = [{}, {}]
    rows: list[tuple[int, int, int, int]] = []
    for side, (own, flags) in enumerate(zip(keys, skipped, strict=True)):
        for unit, (key, is_skipped) in enumerate(zip(own, flags, strict=True)):
            group = groups[side].setdefault(key[:-1], [])
            if is_skipped:
                rows.append(_alone(side, unit, IGN, OTHER_TYPE))
            elif any(abs(own[other][-1] - key[-1]) <= DISTANCE for other in group):
                rows.append(_alone(side, unit, IGN, REPEATED))
            else:
                group.append(unit)
    near = [_near(keys, groups, side) for side in (0, 1)]
    sizes = [_sizes(keys[side], groups[side]) for side in (0, 1)]
    paired: tuple[set[int], set[int]] = (set(), set())
    for side in (0, 1):
        for unit, others in near[side].items():
            doc = keys[side][unit][0]
            # Those of the side with fewer spans are counted, of equally many the predictions.
            if others and side == int(sizes[0].get(doc, 0) >= sizes[1].get(doc, 0)):
                other = next((other for other in others if other not in paired[1 - side]), others[0])
                paired[side].add(unit)
                paired[1 - side].add(other)
                rows.append((unit, other, COR, RIGHT) if side == 0 else (other, unit, COR, RIGHT))
    for side in (0, 1):
        for unit, others in near[side].items():
            if not others:
                rows.append(_alone(side, unit, MIS if side == 0 else SPU, WRONG))
            elif unit not in paired[side]:
                rows.append(_alone(side, unit, IGN, REPEATED))
    return _rows(rows)


def _near(keys: Sequence[Sequence[Key]], groups: Sequence[Mapping[Key, list[int]]], side: int) -> dict[int, list[int]]:
    """Return for each unit those of the other side that equal it."""
    return {
        unit: [
            other
            for other in groups[1 - side].get(key, ())
            if abs(keys[1 - side][other][-1] - keys[side][unit][-1]) <= DISTANCE
        ]
        for key, units in groups[side].items()
        for unit in units
    }


def _sizes(keys: Sequence[Key], groups: Mapping[Key, list[int]]) -> dict[int, int]:
    """Return the number of units of each document."""
    sizes: dict[int, int] = {}
    for key, units in groups.items():
        sizes[key[0]] = sizes.get(key[0], 0) + len(units)
    return sizes


def _alone(side: int, unit: int, decision: int, reason: int) -> tuple[int, int, int, int]:
    return (unit, -1, decision, reason) if side == 0 else (-1, unit, decision, reason)


def _rows(rows: Sequence[tuple[int, int, int, int]]) -> MatchRows:
    gold, pred, decision, reason = np.array(rows, np.int64).reshape(-1, 4).T
    return MatchRows(gold, pred, decision, reason)


def _by_document(
    rows: MatchRows, gold_doc: Sequence[int], pred_doc: Sequence[int], ids: Sequence[str]
) -> dict[str, tuple[int, ...]]:
    """Return the decisions of each document that has units, by its id."""
    docs = [gold_doc[g] if g >= 0 else pred_doc[p] for g, p in zip(rows.gold.tolist(), rows.pred.tolist(), strict=True)]
    size = COR + SPU + IGN + MIS + 1
    counts = np.bincount(np.array(docs, np.int64) * size + rows.decision, minlength=len(ids) * size)
    table = counts.reshape(len(ids), size)[:, :IGN].tolist()
    return {name: tuple(row) for name, row in zip(ids, table, strict=True) if any(row)}


def figures_i2b2(counts: CountTables, options: Options) -> Figures:
    scores: dict[str, Any] = {}
    rows: list[FigureRow] = []
    documents = counts.gold.documents
    for name in I2B2:
        row = SPANS.counts(counts.rows(name).get(OVERALL, (0,) * IGN))
        micro = RATIOS.of(row)
        by_document = counts.rows(BY_DOCUMENT + name).values()
        of_row = {each: RATIOS.of(SPANS.counts(each)) for each in set(by_document)}
        of_documents = [of_row[each] for each in by_document]
        means: list[float] = []
        macro: dict[str, float | None] = {}
        for ratio in (RATIOS.precision, RATIOS.recall):
            # Documents without a unit have ratios of 0.
            values = np.zeros(documents)
            values[: len(of_documents)] = [each[ratio] for each in of_documents]
            means.append(float(values.mean()))
            macro |= {f"Macro {ratio}": means[-1], f"SD {ratio}": float(values.std())}
        macro["Macro F1"] = 2 * means[0] * means[1] / sum(means) if sum(means) else None
        scores[name] = row | micro | macro
        rows += figure_rows(name, {OVERALL: scores[name]}, COUNTERS)
    return Figures(scores, rows)


def match_meddocan(layers: LayerPair, options: Options) -> MatchedSides:
    """Match spans by type and place, by place, and by place once spans are merged.

    Raises:
        FormatError: discontinuous spans.
    """
    _refuse(layers, "and the script stops at them")
    sides = Side.of_layer(layers.gold), Side.of_layer(layers.pred)
    merged = [list(_merged(side)) for side in sides]
    none = [[False] * len(side.doc) for side in sides]
    rows = {
        "Subtask1": _equal_rows([side.keys(lambda name: (name,)) for side in sides], none),
        "Subtask2Strict": _equal_rows([side.keys(no_type) for side in sides], none),
        "Subtask2Merged": _merged_rows([side.keys(no_type) for side in sides], merged),
    }

    def records(evaluation: str) -> pd.DataFrame:
        units = [UnitColumns.of_layer(layers.gold), UnitColumns.of_layer(layers.pred)]
        if evaluation == "Subtask2Merged":
            units = [_with_merged(each, keys) for each, keys in zip(units, merged, strict=True)]
        return SPANS.records(evaluation, units, rows[evaluation])

    tables: dict[str, dict[str, tuple[int, ...]]] = {name: {OVERALL: each.decisions()} for name, each in rows.items()}
    sentences = layers.gold.documents.sentences
    if sentences is not None:
        tables[SENTENCES] = {SENTENCES: (len(sentences.starts),)}
    return MatchedSides.of_layers(layers, tables, records)


def _merged(side: Side) -> Iterator[Key]:
    """Yield document, start and end of spans merged over what is not alphanumeric, in the order of the script."""
    texts = side.layer.documents.texts
    last: Key | None = None
    for doc, start, end in sorted(zip(side.doc, side.start, side.end, strict=True)):
        if last is not None and last[0] == doc and not any(map(str.isalnum, texts[doc][last[2] : start])):
            last = (doc, last[1], end)
            continue
        if last is not None:
            yield last
        last = (doc, start, end)
    if last is not None:
        yield last


def _merged_rows(keys: Sequence[Sequence[Key]], merged: Sequence[Sequence[Key]]) -> MatchRows:
    """Match spans as they are, then merged ones; a span within a right one is left out."""
    rows: list[tuple[int, int, int, int]] = []
    units: list[dict[Key, int]] = []
    for side, own in enumerate(keys):
        first: dict[Key, int] = {}
        for unit, key in enumerate(own):
            if first.setdefault(key, unit) != unit:
                rows.append(_alone(side, unit, IGN, REPEATED))
        units.append(first)
    equal = {key: (units[0][key], units[1][key]) for key in units[0] if key in units[1]}
    both = [{key: len(keys[side]) + at for at, key in enumerate(merged[side])} for side in (0, 1)]
    right = {key: (both[0][key], both[1][key]) for key in both[0] if key in both[1]} | equal
    rows += [(g, p, COR, RIGHT) for g, p in right.values()]
    containers: dict[int, list[tuple[int, int]]] = {}
    for doc, start, end in sorted(right):
        containers.setdefault(doc, []).append((start, end))
    # The furthest end of the right spans up to each start.
    reach = {
        doc: (np.array([start for start, _ in spans]), np.maximum.accumulate([end for _, end in spans]))
        for doc, spans in containers.items()
    }
    for side, of_side in enumerate(units):
        for (doc, start, end), unit in of_side.items():
            if (doc, start, end) in equal:
                continue
            starts, ends = reach.get(doc, (np.array([], np.int64), np.array([], np.int64)))
            place = int(np.searchsorted(starts, start, side="right")) - 1
            within = place >= 0 and ends[place] >= end
            decision, reason = (IGN, WITHIN) if within else (MIS if side == 0 else SPU, WRONG)
            rows.append(_alone(side, unit, decision, reason))
    return _rows(rows)


def _with_merged(units: UnitColumns, merged: Sequence[Key]) -> UnitColumns:
    """Return units with the merged spans behind them, of the type of the first span that starts there."""
    doc, start, end = np.array(merged, np.int64).reshape(-1, 3).T
    kinds: dict[tuple[int, int], int] = {}
    for at, first, number in zip(units.doc.tolist(), units.start.tolist(), units.kind.tolist(), strict=True):
        kinds.setdefault((at, first), number)
    kind = np.array([kinds[key[0], key[1]] for key in merged], np.int64)
    own = (units.doc, units.start, units.end, units.kind)
    columns = [np.concatenate(pair) for pair in zip(own, (doc, start, end, kind), strict=True)]
    return UnitColumns(units.documents, columns[0], columns[1], columns[2], columns[3], units.types)


def figures_meddocan(counts: CountTables, options: Options) -> Figures:
    scores: dict[str, Any] = {}
    rows: list[FigureRow] = []
    sentences = options["sentences"] or counts.number(SENTENCES, SENTENCES)
    for name in MEDDOCAN:
        row = SPANS.counts(counts.rows(name).get(OVERALL, (0,) * IGN))
        tp, fp, fn = row["tp"], row["fp"], row["fn"]
        precision, recall = tp / (tp + fp) if tp + fp else 0.0, tp / (tp + fn) if tp + fn else 0.0
        f1 = 2 * ((recall * precision) / (recall + precision)) if recall + precision else 0.0
        leak = {"Leak": fn / sentences if sentences else None} if name == "Subtask1" else {}
        scores[name] = {**leak, "Precision": precision, "Recall": recall, "F1": f1, **row}
        rows += figure_rows(name, {OVERALL: scores[name]}, COUNTERS)
    notes = () if sentences else ("the documents have no sentences, so that there is no leak score: give --sentences",)
    return Figures(scores, rows, notes)


def _refuse(layers: LayerPair, why: str) -> None:
    if not len(layers.gold.documents):
        raise FormatError.single(layers.gold.name, None, "there is no document", "give at least one")
    refuse_discontinuous(layers, why)


def _printed_i2b2(outcome: Outcome) -> str:
    """Return what the script prints first; it goes on with each name by itself."""
    lines = []
    form = "{:<25}{:<15}{:<15}{:<20}"
    for name in I2B2:
        row = outcome.scores[name]
        lines.append(form.format(f"{name} ({outcome.gold.documents})", "Measure", "Macro (SD)", "Micro (Primary)"))
        lines.append(f"{'':-<25}{'':-<15}{'':-<15}{'':-<20}")
        for head, ratio in (("Total", "Precision"), ("", "Recall")):
            macro = f"{row[f'Macro {ratio}']:.4} ({row[f'SD {ratio}']:.2})"
            lines.append(form.format(head, ratio, macro, f"{row[ratio]:.4}"))
        macro = "nan" if row["Macro F1"] is None else f"{row['Macro F1']:.4}"
        lines += [form.format("", "F1", macro, f"{row['F1']:.4}"), "", ""]
    return "\n".join([*lines, ""])


def _printed_meddocan(outcome: Outcome) -> str:
    """Return the lines of scores.txt."""
    lines = []
    for name in MEDDOCAN:
        for figure in ("Leak", *RATIO_NAMES):
            if figure in outcome.scores[name]:
                value = outcome.scores[name][figure]
                lines.append(f"{name}_{figure} : {'NA' if value is None else value}{' ' * (figure == 'Leak')}")
    return "\n".join([*lines, ""])


RATIO_NAMES = ("Precision", "Recall", "F1")

CONVENTIONS = (
    Convention(
        name="i2b2-2014",
        family="clinical mentions and codes",
        sentence="Identifiers by span, by span with an end two characters off, and by word; HIPAA's alone, any type.",
        needs="continuous spans whose types have a name and a TYPE, as NAME/PATIENT",
        source="evaluate.py of the i2b2 2014 scripts acbfd4e (Stubbs et al. 2015)",
        steps=ScorerSteps(read_layers, same_layers, match_i2b2),
        figures=figures_i2b2,
        not_by_shards="its macro average is over the documents of the whole corpus",
        twins={"Strict": "strict", "Binary Strict": "exact"},
        forms={"text": _printed_i2b2},
        ratios=RATIOS,
        other_formulas={"Macro F1": "2 × Macro Precision × Macro Recall / (Macro Precision + Macro Recall)"},
        words=True,
    ),
    Convention(
        name="meddocan",
        family="clinical mentions and codes",
        sentence="Identifiers by span and type with the leak score, by span, and by span once neighbours are merged.",
        needs="continuous spans; sentences for the leak score",
        source="evaluate.py of MEDDOCAN 783a6df (Marimon et al. 2019)",
        steps=ScorerSteps(read_layers, same_layers, match_meddocan),
        figures=figures_meddocan,
        options=(ScorerOption("sentences", "the number of sentences, for the leak score", "integer", least=1),),
        twins={"Subtask1": "strict", "Subtask2Strict": "exact"},
        forms={"text": _printed_meddocan},
        ratios=RATIOS,
        words=True,
    ),
)
