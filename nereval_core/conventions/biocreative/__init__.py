"""alt_eval.perl, the scorer of BioCreative II's gene mention task.

Mentions are compared by their offset fields, as they are written. A gold mention is found by the first line of its
sentence that equals it, or that equals a variant sharing a character with it: one prediction may find several. A
prediction is wrong where it equals no gold mention and no variant of its sentence, each time it is repeated. One that
is neither wrong nor the first to find a mention is not counted.
Source: alt_eval.perl of the task's training data (2006); Smith et al. 2008, Overview of BioCreative II gene mention
recognition.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nereval_core.alignment.codes import ranges
from nereval_core.arrays import Int64
from nereval_core.conventions import Convention, Given, Option
from nereval_core.conventions.biocreative.files import MentionList, mention_lists, read_lines, split_lines
from nereval_core.conventions.biocreative.files import of_layers as mentions_of
from nereval_core.conventions.outcome import (
    COR,
    IGN,
    MIS,
    OVERALL,
    SPU,
    Content,
    FigureRow,
    Outcome,
    UnitColumns,
    figures,
    record_frame,
)
from nereval_core.conventions.shares import NO_DOCUMENTS, ByShares, Share, Tables, without_records
from nereval_core.corpus import Documents, Layer
from nereval_core.problems import FormatError
from nereval_core.readers import Source
from nereval_core.readers.biomedical.bc2gm import TYPE

EVALUATION = "mentions"
LINES = "lines"
"""The same records, counted by the kinds of lines that the program prints."""
KINDS = ("TP", "*TP", "**TP", "***TP", "****TP", "FN", "FP")
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


def score(given: Given, options: Mapping[str, Any]) -> Outcome:
    """Score a file of mentions against a folder with GENE.eval and ALTGENE.eval; of sentences, if they are there."""
    gold, variants, pred, texts = read_lines(given.gold, given.pred)
    if options["ids"]:
        used = _ids(options["ids"])
        gold, variants, pred = (one.of(used) for one in (gold, variants, pred))
    documents, ours, others, theirs, notes = mention_lists(gold, variants, pred, texts)
    contents = []
    for lines in ((gold, variants), (pred,)):
        rows = ["|".join(row) for one in lines for row in zip(one.ids, one.rests, strict=True)]
        contents.append(Content.of_rows(documents, len(lines[0]), rows))
    outcome = score_sides(documents, ours, others, theirs, options, (contents[0], contents[1]), given.pred.name)
    return replace(outcome, notes=notes)


def of_layers(gold: Layer, pred: Layer, options: Mapping[str, Any]) -> Outcome:
    """Score layers by the lines that say them: types are not compared, blanks not counted.

    A layer holds the variants that overlap a mention of gold; the program also spares a prediction that equals another.
    """
    if options["ids"]:
        used = _ids(options["ids"])
        gold, pred = _of(gold, used), _of(pred, used)
    ours, others, theirs = mentions_of(gold, pred)
    contents = Content.of_layer(gold), Content.of_layer(pred)
    outcome = score_sides(gold.documents, ours, others, theirs, options, contents, pred.name)
    return replace(outcome, notes=_types_note({*gold.types, *pred.types}))


def counted(gold: Layer, pred: Layer, options: Mapping[str, Any]) -> Share:
    """Count the kinds of lines in a part of a corpus."""
    ours, others, theirs = mentions_of(gold, pred)
    _, kind, wrong = _matched(ours, others, theirs)
    types = dict.fromkeys({*gold.types, *pred.types}, (1,))
    tables: Tables = {LINES: _lines(kind, wrong), "types": types}
    return Share(tables, Content.of_layer(gold), Content.of_layer(pred), pred.name)


def of_share(share: Share, options: Mapping[str, Any]) -> Outcome:
    """Return the figures of a share, without records.

    Raises:
        FormatError: no true positive, where the program divides by zero.
    """
    lines = {name: share.number(LINES, name) for name in KINDS}
    tp, fn, fp = sum(lines.values()) - lines["FN"] - lines["FP"], lines["FN"], lines["FP"]
    if not tp:
        found = "no mention is right: alt_eval.perl divides by zero here and stops without its figures"
        raise FormatError.single(share.source, None, found, "check the ids and offsets, or choose another convention")
    precision, recall = tp / (tp + fp), tp / (fn + tp)
    ratios = {"Precision": precision, "Recall": recall, "F": 2 / (1 / precision + 1 / recall)}
    counts = {"TP": tp, "FP": fp, "FN": fn}
    rows: list[FigureRow] = []
    for evaluation, row in ((EVALUATION, counts | ratios), (LINES, lines)):
        rows += [(evaluation, OVERALL, name, value, name not in ratios) for name, value in row.items()]
    scores = {**counts, **ratios, LINES: lines}
    notes = _types_note(share.tables.get("types", {}))
    return Outcome(
        "biocreative", options, NO_DOCUMENTS, share.gold, share.pred, scores, figures(rows), without_records, notes
    )


def _types_note(types: Iterable[str]) -> tuple[str, ...]:
    names = sorted(types)
    return (f"types, which are not compared: {', '.join(names)}",) if len(names) > 1 else ()


def score_sides(
    documents: Documents,
    gold: MentionList,
    variants: MentionList,
    pred: MentionList,
    options: Mapping[str, Any],
    contents: tuple[Content, Content],
    source: str,
) -> Outcome:
    """Score lists of mentions over these documents.

    Counters: `TP`, `FP` and `FN`, or, in the evaluation `lines`, one for each kind of line.

    Raises:
        FormatError: no true positive, where the program divides by zero.
    """
    partner, kind, wrong = _matched(gold, variants, pred)
    outcome = of_share(Share({LINES: _lines(kind, wrong)}, *contents, source), options)

    def build(evaluation: str) -> Any:
        g, p, decision, why = _decided(gold, variants, pred, partner, kind, wrong)
        of_gold = np.concatenate((kind, np.full(len(g) - len(kind), KINDS.index("FP"))))
        codes = np.where(decision == IGN, -1, of_gold)
        counters = {name: codes == code for code, name in enumerate(KINDS)}
        if evaluation == EVALUATION:
            counters = {"TP": decision == COR, "FP": decision == SPU, "FN": decision == MIS}
        sides = _marks(documents, gold), _marks(documents, pred)
        return record_frame(evaluation, *sides, g, p, decision, (why, WHY), counters)

    def printout() -> str:
        rows = [*_found(gold, pred, partner, kind), *_wrong(pred, wrong)]
        counts = "".join(f"{name}: {outcome.scores[name]}\n" for name in ("TP", "FP", "FN"))
        tail = counts + " ".join(f"{name}: {outcome.scores[name]:.15g}" for name in ("Precision", "Recall", "F"))
        return "".join(f"{row}\n" for row in rows) + f"\n{tail}\n\n"

    return replace(outcome, documents=documents, build=build, printout=printout)


def _matched(gold: MentionList, variants: MentionList, pred: MentionList) -> tuple[Int64, NDArray[np.int8], Int64]:
    """Return the result of `_partners`, and the lines that are wrong."""
    known = np.zeros(1 + max(int(side.key.max(initial=-1)) for side in (gold, variants, pred)), bool)
    known[gold.key] = known[variants.key] = True
    return *_partners(gold, variants, pred), np.flatnonzero(~known[pred.key])


def _lines(kind: NDArray[np.int8], wrong: Int64) -> dict[str, tuple[int, ...]]:
    """Return how many lines of each kind there are."""
    counts = (*np.bincount(kind, minlength=len(KINDS) - 1).tolist(), len(wrong))
    return {name: (count,) for name, count in zip(KINDS, counts, strict=True)}


def _partners(gold: MentionList, variants: MentionList, pred: MentionList) -> tuple[Int64, NDArray[np.int8]]:
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
    kind = np.where(best < none, 0, KINDS.index("FN")).astype(np.int8)
    taken = (best[g] == p) & (exact[g] != p)
    kind[g[taken]] = kinds[taken]
    return np.where(best < none, best, -1), kind


def _overlaps(gold: MentionList, pred: MentionList, lines: Int64) -> tuple[Int64, Int64, NDArray[np.int8]]:
    """Return gold mentions and lines that overlap, by the program's comparisons, with the kind of line printed."""
    reach = np.int64(1 << 31)

    # All sentences in a row. Values clipped or rounded here are compared as they stand below.
    def along(doc: Int64, value: NDArray[Any], edge: np.ufunc) -> Int64:
        whole: Int64 = edge(np.clip(value, -1, reach)).astype(np.int64)
        return doc * (reach + 2) + whole

    order = np.lexsort((gold.start, gold.doc))
    proper = (gold.start <= gold.end)[order]
    straight, backward = order[proper], order[~proper]
    fine = pred.start[lines] <= pred.end[lines]
    some = lines[fine]
    starts = along(gold.doc[straight], gold.start[straight], np.floor)
    ends = np.maximum.accumulate(along(gold.doc[straight], gold.end[straight], np.ceil))
    low = np.searchsorted(ends, along(pred.doc[some], pred.start[some], np.floor), "left")
    high = np.searchsorted(starts, along(pred.doc[some], pred.end[some], np.ceil), "right")
    row, place = ranges(low, np.maximum(low, high))
    pairs = [(straight[place], some[row])]
    # Mentions that end before they begin take part in the comparisons too: all of their sentence are tried.
    for one, two in ((backward, lines), (straight, lines[~fine])):
        other = two[np.argsort(pred.doc[two], kind="stable")]
        low, high = (np.searchsorted(pred.doc[other], gold.doc[one], side) for side in ("left", "right"))
        row, place = ranges(low, high)
        pairs.append((one[row], other[place]))
    g, p = (np.concatenate([pair[side] for pair in pairs]) for side in (0, 1))
    start, end, low, high = gold.start[g], gold.end[g], pred.start[p], pred.end[p]
    rules = [
        (low >= start) & (high <= end),
        (start >= low) & (end <= high),
        (start <= low) & (low <= end) & (end <= high),
        (low <= start) & (start <= high) & (high <= end),
    ]
    kinds = np.select(rules, [1, 2, 3, 4], 0).astype(np.int8)
    found = kinds > 0
    return g[found], p[found], kinds[found]


def _decided(
    gold: MentionList, variants: MentionList, pred: MentionList, partner: Int64, kind: NDArray[np.int8], wrong: Int64
) -> tuple[Int64, Int64, NDArray[np.int8], NDArray[np.int8]]:
    """Return units, decision and number of the reason of each record: gold first, then the other predictions."""
    rest = np.setdiff1d(np.arange(len(pred)), partner)
    g = np.concatenate((np.arange(len(gold)), np.full(len(rest), -1)))
    p = np.concatenate((partner, rest))
    spurious = np.isin(rest, wrong)
    decision = np.concatenate((np.where(partner >= 0, COR, MIS), np.where(spurious, SPU, IGN))).astype(np.int8)
    missed, strayed = kind.copy(), np.where(spurious, WRONG, SECOND).astype(np.int8)
    # The rest that is not wrong equals a gold mention, or a variant: one that finds nothing, or is found by no one.
    served = np.union1d(gold.key, pred.key[_overlaps(gold, pred, rest[~spurious])[1]])
    strayed[~spurious & ~np.isin(pred.key[rest], served)] = APART
    # Equal code points under another key: the offsets are written in another way.
    ours, theirs = (_places(side) for side in (gold, pred))
    alone = np.flatnonzero((kind == MISSED) & (gold.low >= 0))
    missed[alone[np.isin(ours[alone], theirs[wrong])]] = WRITTEN
    stray = np.flatnonzero(spurious & (pred.low[rest] >= 0))
    strayed[stray[np.isin(theirs[rest[stray]], ours)]] = WRITTEN
    return g, p, decision, np.concatenate((missed, strayed))


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
            there, text = _fields(pred.line(int(partner[mention]))[1])
            yield f"{KINDS[kind[mention]]}|{name}|{quote}|{offsets}|{text}|{there}"


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


def _marks(documents: Documents, side: MentionList) -> UnitColumns:
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


def _of(layer: Layer, used: frozenset[str]) -> Layer:
    kept = np.array([name in used for name in layer.documents.ids], bool)
    return layer.take(np.flatnonzero(kept[layer.doc]))


def _printed(outcome: Outcome) -> str:
    if outcome.printout is None:
        return without_records("")
    return outcome.printout()


def _by_ids(options: Mapping[str, Any]) -> str | None:
    return "--ids picks sentences of the whole corpus" if options["ids"] else None


CONVENTIONS = (
    Convention(
        name="biocreative",
        family="gene mentions",
        sentence="Offsets of a mention, or of a variant that overlaps it; one prediction may find several mentions.",
        needs="mentions of one type, with other acceptable boundaries where there are any",
        source="alt_eval.perl of BioCreative II (2006; Smith et al. 2008)",
        score=score,
        of_layers=of_layers,
        by_shares=ByShares(counted, of_share, _by_ids),
        words=True,
        formats=("bc2gm",),
        options=(Option("ids", "a file with the ids of the sentences to be scored, one a line", "file"),),
        twins={EVALUATION: "alternatives"},
        forms={"text": _printed},
        names={"P": "Precision", "R": "Recall", "F1": "F", "COR": "TP"},
        formulas={
            "Precision": "TP / (TP + FP)",
            "Recall": "TP / (TP + FN)",
            "F": "2 / (1 / Precision + 1 / Recall)",
        },
    ),
)
