"""alt_eval.perl, the scorer of BioCreative II's gene mention task.

Mentions are compared by their offset fields, as they are written. A gold mention is found by the first line of its
sentence that equals it, or that equals a variant sharing a character with it: one prediction may find several. A
prediction is wrong where it equals no gold mention and no variant of its sentence, each time it is repeated. One that
is neither wrong nor the first to find a mention is not counted.
Source: alt_eval.perl of the task's training data (2006); Smith et al. 2008, Overview of BioCreative II gene mention
recognition.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nereval_core.alignment.codes import ranges
from nereval_core.conventions.biocreative.files import (
    MentionList,
    layer_mentions,
    mention_lists,
    read_lines,
    split_lines,
)
from nereval_core.conventions.convention import (
    Convention,
    LayerPair,
    MatchedSides,
    Options,
    ScorerInput,
    ScorerOption,
    ScorerSteps,
)
from nereval_core.conventions.outcome import (
    CountTables,
    Figures,
    Outcome,
    RatioNames,
    SideContent,
    Tables,
    figure_rows,
    without_records,
)
from nereval_core.conventions.records import (
    COR,
    IGN,
    MIS,
    OVERALL,
    SPU,
    MatchRows,
    UnitColumns,
    other_units,
    record_frame,
)
from nereval_core.corpus import Documents, Layer
from nereval_core.corpus.arrays import Array, Int64
from nereval_core.problems import FormatError
from nereval_core.readers import Source
from nereval_core.readers.biomedical.bc2gm import TYPE

MENTIONS, LINES = "mentions", "lines"
"""Evaluations of the same records: the second is counted by the kinds of lines that the program prints."""
KINDS = ("TP", "*TP", "**TP", "***TP", "****TP", "FN", "FP")
FN, FP = 5, 6
TYPES = "types"
COUNTERS = {"TP": COR, "FP": SPU, "FN": MIS}
WHY = (
    "the same offsets",
    "a variant inside the gold mention",
    "a variant around the gold mention",
    "a variant over the end of the gold mention",
    "a variant over the start of the gold mention",
    "no prediction with the offsets of the mention or of a variant that overlaps it",
    "offsets of no gold mention and of no variant of its sentence",
    "the same numbers stand on the other side, written differently",
    "right, but an earlier line had found the mention: not counted",
    "a variant that overlaps no gold mention: not counted",
)
MISSED, WRONG, WRITTEN, SECOND, APART = range(5, 10)


class MentionSides(NamedTuple):
    """The mentions of both sides over these documents, and the variants of gold's."""

    gold: MentionList
    variants: MentionList
    pred: MentionList
    documents: Documents
    contents: tuple[SideContent, SideContent]
    source: str
    types: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()


def read(files: ScorerInput, options: Options) -> MentionSides:
    """Read a file of mentions, and a folder with GENE.eval and ALTGENE.eval; sentences too, if they are there."""
    gold, variants, pred, texts = read_lines(files.gold, files.pred)
    if options["ids"]:
        ids = _ids(options["ids"])
        gold, variants, pred = (lines.of(ids) for lines in (gold, variants, pred))
    documents, gold_list, variant_list, pred_list, notes = mention_lists(gold, variants, pred, texts)
    contents = [
        SideContent.of_rows(
            documents,
            len(side[0]),
            ["|".join(row) for lines in side for row in zip(lines.ids, lines.rests, strict=True)],
        )
        for side in ((gold, variants), (pred,))
    ]
    return MentionSides(
        gold_list, variant_list, pred_list, documents, (contents[0], contents[1]), files.pred.name, notes=notes
    )


def from_layers(layers: LayerPair, options: Options) -> MentionSides:
    """Return the lines that say layers: types are not compared, blanks not counted.

    A layer holds the variants that overlap a mention of gold; the program also spares a prediction that equals another.
    """
    gold, pred, _ = layers
    if options["ids"]:
        ids = _ids(options["ids"])
        gold, pred = _of(gold, ids), _of(pred, ids)
    contents = SideContent.of_layer(gold), SideContent.of_layer(pred)
    types = frozenset({*gold.types, *pred.types})
    return MentionSides(*layer_mentions(gold, pred), gold.documents, contents, pred.name, types)


def match(sides: MentionSides, options: Options) -> MatchedSides:
    """Match mentions with the lines that find them."""
    gold, variants, pred = sides[:3]
    is_right = np.zeros(1 + max(int(side.key.max(initial=-1)) for side in (gold, variants, pred)), bool)
    is_right[gold.key] = is_right[variants.key] = True
    partner, kind = _partners(gold, variants, pred)
    wrong = np.flatnonzero(~is_right[pred.key])

    def records(evaluation: str) -> pd.DataFrame:
        rows = _match_rows(gold, pred, partner, kind, wrong)
        if evaluation == MENTIONS:
            counters = {name: rows.decision == code for name, code in COUNTERS.items()}
        else:
            line = np.concatenate((kind, np.full(len(rows) - len(kind), FP)))
            counters = {name: (line == code) & (rows.decision != IGN) for code, name in enumerate(KINDS)}
        return record_frame(
            evaluation, _units(sides.documents, gold), _units(sides.documents, pred), rows, WHY, counters
        )

    def printout() -> str:
        lines = [*_found(gold, pred, partner, kind), *_wrong(pred, wrong)]
        row = _figures(counts)
        tail = "".join(f"{name}: {row[name]}\n" for name in ("TP", "FP", "FN"))
        tail += " ".join(f"{name}: {row[name]:.15g}" for name in ("Precision", "Recall", "F"))
        return "".join(f"{line}\n" for line in lines) + f"\n{tail}\n\n"

    n_lines = (*np.bincount(kind, minlength=FP).tolist(), len(wrong))
    tables: Tables = {
        LINES: {name: (count,) for name, count in zip(KINDS, n_lines, strict=True)},
        TYPES: dict.fromkeys(sides.types, (1,)),
    }
    counts = CountTables(tables, *sides.contents, sides.source)
    return MatchedSides(counts=counts, documents=sides.documents, records=records, notes=sides.notes, printout=printout)


def _figures(counts: CountTables) -> dict[str, float]:
    """Return counts and ratios.

    Raises:
        FormatError: no true positive, where the program divides by zero.
    """
    fn, fp = counts.number(LINES, "FN"), counts.number(LINES, "FP")
    tp = sum(counts.number(LINES, name) for name in KINDS[:FN])
    if not tp:
        finding = "no mention is right: alt_eval.perl divides by zero here and stops without its figures"
        raise FormatError.single(
            counts.source, None, finding, "check the ids and offsets, or choose another convention"
        )
    precision, recall = tp / (tp + fp), tp / (fn + tp)
    ratios = {"Precision": precision, "Recall": recall, "F": 2 / (1 / precision + 1 / recall)}
    return {"TP": tp, "FP": fp, "FN": fn} | ratios


def figures(counts: CountTables, options: Options) -> Figures:
    row = _figures(counts)
    lines = {name: counts.number(LINES, name) for name in KINDS}
    rows = [
        *figure_rows(MENTIONS, {OVERALL: row}, COUNTERS),
        *figure_rows(LINES, {OVERALL: lines}, KINDS),
    ]
    names = sorted(counts.rows(TYPES))
    notes = (f"types, which are not compared: {', '.join(names)}",) if len(names) > 1 else ()
    return Figures({**row, LINES: lines}, rows, notes)


def _partners(gold: MentionList, variants: MentionList, pred: MentionList) -> tuple[Int64, Array]:
    """Return the line that finds each gold mention, -1 for none, and the kind of line printed."""
    none = len(pred)
    size = 1 + max(int(side.key.max(initial=-1)) for side in (gold, variants, pred))
    first = np.full(size, none)
    first[pred.key[::-1]] = np.arange(none)[::-1]
    best = first[gold.key]
    exact = best.copy()
    variant = np.zeros(size, bool)
    variant[variants.key] = True
    # Of lines that are written alike only the first can find anything.
    lines = np.flatnonzero(variant[pred.key] & (first[pred.key] == np.arange(none)))
    g, p, kinds = _overlaps(gold, pred, lines)
    np.minimum.at(best, g, p)
    kind = np.where(best < none, 0, FN).astype(np.int8)
    by_variant = (best[g] == p) & (exact[g] != p)
    kind[g[by_variant]] = kinds[by_variant]
    return np.where(best < none, best, -1), kind


def _overlaps(gold: MentionList, pred: MentionList, lines: Int64) -> tuple[Int64, Int64, Array]:
    """Return gold mentions and lines that overlap, by the program's comparisons, with the kind of line printed."""
    reach = np.int64(1 << 31)

    # All sentences in a row. Values clipped or rounded here are compared as they stand below.
    def along(doc: Int64, value: Array, edge: np.ufunc) -> Int64:
        whole: Int64 = edge(np.clip(value, -1, reach)).astype(np.int64)
        return doc * (reach + 2) + whole

    order = np.lexsort((gold.start, gold.doc))
    proper = (gold.start <= gold.end)[order]
    straight, backward = order[proper], order[~proper]
    fine = pred.start[lines] <= pred.end[lines]
    forward = lines[fine]
    starts = along(gold.doc[straight], gold.start[straight], np.floor)
    ends = np.maximum.accumulate(along(gold.doc[straight], gold.end[straight], np.ceil))
    low = np.searchsorted(ends, along(pred.doc[forward], pred.start[forward], np.floor), "left")
    high = np.searchsorted(starts, along(pred.doc[forward], pred.end[forward], np.ceil), "right")
    row, place = ranges(low, np.maximum(low, high))
    pairs = [(straight[place], forward[row])]
    # Mentions that end before they begin take part in the comparisons too: all of their sentence are tried.
    for mentions, others in ((backward, lines), (straight, lines[~fine])):
        ordered = others[np.argsort(pred.doc[others], kind="stable")]
        low, high = (np.searchsorted(pred.doc[ordered], gold.doc[mentions], side) for side in ("left", "right"))
        row, place = ranges(low, high)
        pairs.append((mentions[row], ordered[place]))
    g, p = (np.concatenate([pair[side] for pair in pairs]) for side in (0, 1))
    start, end, low, high = gold.start[g], gold.end[g], pred.start[p], pred.end[p]
    rules = [
        (low >= start) & (high <= end),
        (start >= low) & (end <= high),
        (start <= low) & (low <= end) & (end <= high),
        (low <= start) & (start <= high) & (high <= end),
    ]
    kinds = np.select(rules, [1, 2, 3, 4], 0).astype(np.int8)
    overlap = kinds > 0
    return g[overlap], p[overlap], kinds[overlap]


def _match_rows(gold: MentionList, pred: MentionList, partner: Int64, kind: Array, wrong: Int64) -> MatchRows:
    others = other_units(partner[partner >= 0], len(pred))
    is_wrong = np.isin(others, wrong)
    missed_why, other_why = kind.copy(), np.where(is_wrong, WRONG, SECOND).astype(np.int8)
    # The others that are not wrong equal a gold mention, or a variant: one that finds nothing, or is found by no one.
    useful = np.union1d(gold.key, pred.key[_overlaps(gold, pred, others[~is_wrong])[1]])
    other_why[~is_wrong & ~np.isin(pred.key[others], useful)] = APART
    # Equal code points under another key: the offsets are written in another way.
    gold_places, pred_places = (_places(side) for side in (gold, pred))
    missed = np.flatnonzero((kind == MISSED) & (gold.low >= 0))
    missed_why[missed[np.isin(gold_places[missed], pred_places[wrong])]] = WRITTEN
    stray = np.flatnonzero(is_wrong & (pred.low[others] >= 0))
    other_why[stray[np.isin(pred_places[others[stray]], gold_places)]] = WRITTEN
    return MatchRows.of_partners(partner, missed_why, others, ~is_wrong, other_why)


def _places(side: MentionList) -> NDArray[np.void]:
    """Return sentence and code points as one comparable value."""
    table = np.ascontiguousarray(np.stack((side.doc, side.low, side.high), axis=1))
    return table.view([("", np.int64)] * 3).reshape(-1)


def _found(gold: MentionList, pred: MentionList, partner: Int64, kind: NDArray[np.int8]) -> Iterator[str]:
    for mention in _by_sentence(gold).tolist():
        name, row = gold.line(mention)
        offsets, quote = _fields(row)
        if partner[mention] < 0:
            yield f"FN|{name}|{offsets}|{quote}"
        else:
            place, text = _fields(pred.line(int(partner[mention]))[1])
            yield f"{KINDS[kind[mention]]}|{name}|{quote}|{offsets}|{text}|{place}"


def _wrong(pred: MentionList, wrong: Int64) -> Iterator[str]:
    order = _by_sentence(pred)
    for mention in order[np.isin(order, wrong)].tolist():
        yield "FP|" + "|".join(pred.line(mention))


def _by_sentence(side: MentionList) -> Int64:
    """Return the mentions sentence by sentence, in the order of first appearance (the program's own is by chance)."""
    _, first, inverse = np.unique(side.doc, return_index=True, return_inverse=True)
    return np.argsort(first[inverse], kind="stable")


def _fields(row: str) -> tuple[str, str]:
    offsets, _, rest = row.partition("|")
    return offsets, rest.partition("|")[0]


def _units(documents: Documents, side: MentionList) -> UnitColumns:
    texts = None
    if bool((side.low < 0).any()):
        # A unit that stands nowhere in its sentence is shown as it is written.
        texts = [
            documents.texts[doc][low:high] if low >= 0 else _fields(side.line(mention)[1])[0]
            for mention, (doc, low, high) in enumerate(
                zip(side.doc.tolist(), side.low.tolist(), side.high.tolist(), strict=True)
            )
        ]
    kind = np.zeros(len(side), np.int8)
    return UnitColumns(documents, side.doc, side.low, side.high, kind, (TYPE,), texts=texts)


def _ids(path: str) -> frozenset[str]:
    """Return the lines of a file of ids."""
    return frozenset(split_lines(Source.of_path(path).files[0]))


def _of(layer: Layer, ids: frozenset[str]) -> Layer:
    is_used = np.array([name in ids for name in layer.documents.ids], bool)
    return layer.take(np.flatnonzero(is_used[layer.doc]))


def _printed(outcome: Outcome) -> str:
    return without_records("") if outcome.printout is None else outcome.printout()


def _not_by_shards(options: Options) -> str:
    return "--ids picks sentences of the whole corpus" if options["ids"] else ""


CONVENTIONS = (
    Convention(
        name="biocreative",
        family="gene mentions",
        sentence="Offsets of a mention, or of a variant that overlaps it; one prediction may find several mentions.",
        needs="mentions of one type, with other acceptable boundaries where there are any",
        source="alt_eval.perl of BioCreative II (2006; Smith et al. 2008)",
        steps=ScorerSteps(read, from_layers, match),
        figures=figures,
        not_by_shards=_not_by_shards,
        words=True,
        formats=("bc2gm",),
        options=(ScorerOption("ids", "a file with the ids of the sentences to be scored, one a line", "file"),),
        twins={MENTIONS: "alternatives"},
        forms={"text": _printed},
        ratios=RatioNames(precision="Precision", recall="Recall", f1="F", correct="TP", fp="FP", fn="FN"),
        other_formulas={"F": "2 / (1 / Precision + 1 / Recall)"},
    ),
)
