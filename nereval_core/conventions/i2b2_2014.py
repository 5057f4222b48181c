"""The evaluation script of i2b2 2014, track 1: de-identification, of types with a name and a TYPE.

Sets are compared: spans of a document that are given twice count once. Documents are those that both sides have.
`Strict`: equal name and TYPE, whatever their case, start and end.
`Relaxed`: the same, ends at most two characters apart; a span that equals an earlier one of its side so is no span, and
of the side with fewer spans (of predictions, if it is none) those that equal any of the other are right. `Token`: equal
words of spans, which are runs of ASCII letters and digits; a span without any is one empty word at its end. Names and
TYPEs are compared with their case. `Binary`: whatever the type. `HIPAA`: only types of the HIPAA list, where IDNUM is
missing by a mistake of the script. `Macro` is the mean over documents, a ratio without denominator being 0, and in
brackets the standard deviation; its F1 is NaN where both means are 0. Figures of single names are not reproduced.
Source: evaluate.py of github.com/kotfic/i2b2_evaluation_scripts acbfd4e (Stubbs, Kotfila and Uzuner 2015).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from nereval_core.conventions.convention import (
    Convention,
    LayerPair,
    MatchedSides,
    Options,
    ScorerSteps,
    read_layers,
    same_layers,
)
from nereval_core.conventions.deidentification import (
    COUNTERS,
    OTHER_TYPE,
    RATIOS,
    REASONS,
    REPEATED,
    RIGHT,
    SPANS,
    WRONG,
    Key,
    Side,
    equal_rows,
    lone_row,
    match_rows,
    no_type,
    refuse_unreadable,
)
from nereval_core.conventions.outcome import CountTables, FigureRow, Figures, Outcome, figure_rows
from nereval_core.conventions.records import COR, IGN, MIS, OVERALL, SPU, Evaluation, MatchRows, UnitColumns

WORDS = Evaluation(reasons=REASONS, counters=COUNTERS, unit="token")
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
EVALUATIONS = (
    *("Token", "Strict", "Relaxed", "HIPPA Token", "HIPAA Strict", "HIPAA Relaxed"),
    *("Binary Token", "Binary Strict", "Binary HIPPA Token", "Binary HIPAA Strict"),
)
"""The evaluations, in the order and under the names of the printout."""
BY_DOCUMENT = "documents/"


def name_and_type(label: str) -> tuple[str, str]:
    """Return the name and TYPE of a type: `NAME/PATIENT`, `NAME:PATIENT`, or `PATIENT` with the name it belongs to."""
    name, sign, kind = label.replace(":", "/").partition("/")
    if sign:
        return name, kind
    return next((name for name, kinds in NAMES.items() if label.upper() in kinds), ""), label


def is_hipaa(label: str) -> bool:
    name, kind = name_and_type(label)
    return any(name.startswith(begin) and kind.startswith(kinds) for begin, kinds in HIPAA.items())


def match(layers: LayerPair, options: Options) -> MatchedSides:
    """Match spans and words by each evaluation.

    Raises:
        FormatError: discontinuous spans, no document.
    """
    refuse_unreadable(layers, "and the script reads spans of one start and end")
    sides = Side.of_layer(layers.gold), Side.of_layer(layers.pred)
    left_out = [[not is_hipaa(name) for name in side.layer.types] for side in sides]
    words = [Words.of_side(side) for side in sides]
    rows: dict[str, MatchRows] = {}
    for name in EVALUATIONS:
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
        decide = _near_rows if name.endswith("Relaxed") else equal_rows
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


def _near_rows(keys: Sequence[Sequence[Key]], skipped: Sequence[Sequence[bool]]) -> MatchRows:
    """Match units whose keys differ by at most DISTANCE in the last part, the end."""
    groups: list[dict[Key, list[int]]] = [{}, {}]
    rows: list[tuple[int, int, int, int]] = []
    for side, (own, flags) in enumerate(zip(keys, skipped, strict=True)):
        for unit, (key, is_skipped) in enumerate(zip(own, flags, strict=True)):
            group = groups[side].setdefault(key[:-1], [])
            if is_skipped:
                rows.append(lone_row(side, unit, IGN, OTHER_TYPE))
            elif any(abs(own[other][-1] - key[-1]) <= DISTANCE for other in group):
                rows.append(lone_row(side, unit, IGN, REPEATED))
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
                rows.append(lone_row(side, unit, MIS if side == 0 else SPU, WRONG))
            elif unit not in paired[side]:
                rows.append(lone_row(side, unit, IGN, REPEATED))
    return match_rows(rows)


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


def _by_document(
    rows: MatchRows, gold_doc: Sequence[int], pred_doc: Sequence[int], ids: Sequence[str]
) -> dict[str, tuple[int, ...]]:
    """Return the decisions of each document that has units, by its id."""
    docs = [gold_doc[g] if g >= 0 else pred_doc[p] for g, p in zip(rows.gold.tolist(), rows.pred.tolist(), strict=True)]
    size = COR + SPU + IGN + MIS + 1
    counts = np.bincount(np.array(docs, np.int64) * size + rows.decision, minlength=len(ids) * size)
    table = counts.reshape(len(ids), size)[:, :IGN].tolist()
    return {name: tuple(row) for name, row in zip(ids, table, strict=True) if any(row)}


def figures(counts: CountTables, options: Options) -> Figures:
    scores: dict[str, Any] = {}
    rows: list[FigureRow] = []
    documents = counts.gold.documents
    for name in EVALUATIONS:
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


def _printed(outcome: Outcome) -> str:
    """Return what the script prints first; it goes on with each name by itself."""
    lines = []
    form = "{:<25}{:<15}{:<15}{:<20}"
    for name in EVALUATIONS:
        row = outcome.scores[name]
        lines.append(form.format(f"{name} ({outcome.gold.documents})", "Measure", "Macro (SD)", "Micro (Primary)"))
        lines.append(f"{'':-<25}{'':-<15}{'':-<15}{'':-<20}")
        for head, ratio in (("Total", "Precision"), ("", "Recall")):
            macro = f"{row[f'Macro {ratio}']:.4} ({row[f'SD {ratio}']:.2})"
            lines.append(form.format(head, ratio, macro, f"{row[ratio]:.4}"))
        macro = "nan" if row["Macro F1"] is None else f"{row['Macro F1']:.4}"
        lines += [form.format("", "F1", macro, f"{row['F1']:.4}"), "", ""]
    return "\n".join([*lines, ""])


CONVENTIONS = (
    Convention(
        name="i2b2-2014",
        family="clinical mentions and codes",
        sentence="Identifiers by span, by span with an end two characters off, and by word; HIPAA's alone, any type.",
        needs="continuous spans whose types have a name and a TYPE, as NAME/PATIENT",
        source="evaluate.py of the i2b2 2014 scripts acbfd4e (Stubbs et al. 2015)",
        steps=ScorerSteps(read_layers, same_layers, match),
        figures=figures,
        not_by_shards="its macro average is over the documents of the whole corpus",
        twins={"Strict": "strict", "Binary Strict": "exact"},
        forms={"text": _printed},
        ratios=RATIOS,
        other_formulas={"Macro F1": "2 × Macro Precision × Macro Recall / (Macro Precision + Macro Recall)"},
        words=True,
    ),
)
