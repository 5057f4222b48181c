"""The evaluation script of PharmaCoNER: mentions (sub-track 1) and codes by document (sub-track 2).

Mentions are sets of (type, start, end) for each document, whatever their text; codes are sets as well. Only documents
on both sides count: one without a response costs nothing, one with an empty response does. Mentions marked UNCLEAR are
left out on both sides, codes of UNCLEAR mentions in gold only. A zero denominator gives 0.
Source: PlanTL-GOB-ES/PharmaCoNER-CODALAB-Evaluation-Script, commit b354eab; Gonzalez-Agirre et al. 2019, PharmaCoNER.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from nereval_core.conventions import Convention, Given, Option
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
    digest,
    figures,
    reading_order,
    record_frame,
)
from nereval_core.conventions.pharmaconer.files import (
    UNCLEAR,
    CountedUnit,
    CountedUnits,
    FileFindings,
    TrackFolder,
    documents_of,
    read_codes,
    read_mentions,
)
from nereval_core.conventions.shares import NO_DOCUMENTS, ByShares, Share, precision_recall_f1, without_records
from nereval_core.corpus import Documents, Layer
from nereval_core.problems import FormatError, Problem, quoted

CONCEPT = "concept"
"""The type that records of codes are given."""
BY_DOCUMENT = "documents"
"""The table of counts by document: true positives, false positives, false negatives."""
TWICE = 5
WHY = {
    1: (
        "the same type and offsets on the other side",
        "no mention of the same type and offsets on the other side",
        "offsets of a mention that gold marks UNCLEAR, which is left out",
        "marked UNCLEAR: left out on both sides",
        "its document is on one side only: left out",
        "the same type and offsets once more: counted once",
    ),
    2: (
        "the same code on the other side",
        "no such code in the document on the other side",
        "a code that gold gives to UNCLEAR mentions only, which is left out there",
        "a code of UNCLEAR mentions only: left out of gold",
        "its document is on one side only: left out",
        "the same code once more: counted once",
    ),
}
SAME, NONE, OVER, DROPPED, ALONE = range(5)


def score(given: Given, options: Mapping[str, Any]) -> Outcome:
    """Score folders of `.ann` files, or of `.tsv` files with the `.ann` that tell which mentions are UNCLEAR."""
    track = options["subtrack"]
    suffix = ".ann" if track == 1 else ".tsv"
    annotations = TrackFolder.of(given.gold, "subtask1", ".ann")
    gold, pred = (TrackFolder.of(source, f"subtask{track}", suffix) for source in (given.gold, given.pred))
    found = FileFindings()
    for folder, figures_said in ((gold, "zeros"), (pred, "no figures")):
        if not folder.files:
            said = f"no {suffix} file in it: evaluate.py would print {figures_said}"
            remedy = f"give the folder subtask{track}, or the one that holds it"
            found.problems.append(Problem(folder.source.name, None, said, remedy))
    if track == 1:
        ours, theirs = read_mentions(gold, found), read_mentions(pred, found)
    else:
        ours, theirs = read_codes(gold, annotations, found), read_codes(pred, None, found)
        found.problems += _read_as_codes(pred)
    documents, place, notes = documents_of(annotations, sorted({*ours.documents, *theirs.documents}), found)
    if found.problems:
        raise FormatError(found.problems)
    if found.skipped:
        notes = (*notes, f"T lines that evaluate.py cannot split and passes over: {found.skipped}")
    for whose, lone in (
        ("gold", ours.documents - theirs.documents),
        ("the response", theirs.documents - ours.documents),
    ):
        if lone:
            notes = (*notes, f"documents that only {whose} has, left out: {len(lone)}")
    contents = []
    for side in (ours, theirs):
        rows = [f"{unit.document}\t{unit.value}" for unit in side.units]
        contents.append(Content(len(side.documents), len(side.units), partial(digest, documents, rows)))
    return score_sides(documents, place, ours, theirs, options, (contents[0], contents[1]), notes)


def of_layers(gold: Layer, pred: Layer, options: Mapping[str, Any]) -> Outcome:
    """Score layers: their spans, or, in sub-track 2, the links of their spans as codes of the documents.

    All documents count: a layer does not tell one without a response from one with an empty response.
    """
    ours, theirs = _units(gold, pred, options)
    contents = Content.of_layer(gold), Content.of_layer(pred)
    documents = gold.documents
    return score_sides(documents, documents.index.__getitem__, ours, theirs, options, contents, ())


def _units(gold: Layer, pred: Layer, options: Mapping[str, Any]) -> tuple[CountedUnits, CountedUnits]:
    if options["subtrack"] == 1:
        return _spans(gold), _spans(pred)
    return _links(gold, left_out=True), _links(pred, left_out=False)


def score_sides(
    documents: Documents,
    place: Callable[[str], int],
    gold: CountedUnits,
    pred: CountedUnits,
    options: Mapping[str, Any],
    contents: tuple[Content, Content],
    notes: tuple[str, ...],
) -> Outcome:
    """Score units: counters `tp`, `fp` and `fn`; `place` says which document a name stands for."""
    track = options["subtrack"]
    both = gold.documents & pred.documents
    first = [_first(side, both) for side in (gold, pred)]

    def build(evaluation: str) -> Any:
        g, p, decision, why = _decided(gold, pred, both, first)
        counters = {"tp": decision == COR, "fp": decision == SPU, "fn": decision == MIS}
        sides = _marks(documents, place, gold, track), _marks(documents, place, pred, track)
        unit = "span" if track == 1 else "concept"
        return record_frame(evaluation, *sides, g, p, decision, (why, WHY[track]), counters, unit=unit)

    share = Share({BY_DOCUMENT: _by_document(both, first)}, *contents)
    return replace(of_share(share, options), documents=documents, build=build, notes=notes)


def counted(gold: Layer, pred: Layer, options: Mapping[str, Any]) -> Share:
    """Count the units of a part of a corpus by document: true and false positives, false negatives."""
    ours, theirs = _units(gold, pred, options)
    both = ours.documents & theirs.documents
    tables = {BY_DOCUMENT: _by_document(both, [_first(side, both) for side in (ours, theirs)])}
    return Share(tables, Content.of_layer(gold), Content.of_layer(pred))


def of_share(share: Share, options: Mapping[str, Any]) -> Outcome:
    """Return the figures of a share, without records."""
    evaluation = f"subtask{options['subtrack']}"
    per_document = dict(sorted(share.tables.get(BY_DOCUMENT, {}).items()))
    tp, fp, fn = (sum(row[column] for row in per_document.values()) for column in range(3))
    precision, recall, f1 = precision_recall_f1(tp, tp + fp, tp + fn)
    ratios = {"F1": f1, "Precision": precision, "Recall": recall}
    counts = {"tp": tp, "fp": fp, "fn": fn}
    rows: list[FigureRow] = [
        (evaluation, OVERALL, name, value, name in counts) for name, value in (ratios | counts).items()
    ]
    by_name = {name: dict(zip(counts, row, strict=True)) for name, row in per_document.items()}
    scores = ratios | counts | {"documents": by_name}
    return Outcome("pharmaconer", options, NO_DOCUMENTS, share.gold, share.pred, scores, figures(rows), without_records)


def _by_document(both: frozenset[str], first: Sequence[Mapping[UnitKey, int]]) -> dict[str, tuple[int, ...]]:
    """Return true positives, false positives and false negatives of each document on both sides."""
    found = {name: [0, 0, 0] for name in both}
    for key in first[0]:
        found[key[0]][0 if key in first[1] else 2] += 1
    for key in first[1]:
        found[key[0]][1] += key not in first[0]
    return {name: tuple(row) for name, row in found.items()}


UnitKey = tuple[str, tuple[str, int, int] | str]


def _first(side: CountedUnits, both: frozenset[str]) -> dict[UnitKey, int]:
    """Return the units that count, each with the number of its first occurrence."""
    found: dict[UnitKey, int] = {}
    for number, (document, value, dropped) in enumerate(side.units):
        if not dropped and document in both:
            found.setdefault((document, value), number)
    return found


def _decided(
    gold: CountedUnits, pred: CountedUnits, both: frozenset[str], first: Sequence[Mapping[UnitKey, int]]
) -> tuple[Any, ...]:
    """Return units, decision and number of the reason of each record: gold first, then the other predictions."""
    left = {_bounds(unit) for unit in gold.units if unit.dropped}
    rows: list[tuple[int, int, int, int]] = []
    partners = set()
    for mine, (side, decision) in enumerate(((gold, MIS), (pred, SPU))):
        for number, unit in enumerate(side.units):
            key = (unit.document, unit.value)
            if unit.document not in both:
                outcome = IGN, ALONE
            elif unit.dropped:
                outcome = IGN, DROPPED
            elif first[mine][key] != number:
                outcome = IGN, TWICE
            elif key in first[1 - mine]:
                if mine == 0:
                    partners.add(first[1][key])
                    rows.append((number, first[1][key], COR, SAME))
                continue
            else:
                outcome = decision, OVER if mine and _bounds(unit) in left else NONE
            rows.append((number, -1, *outcome) if mine == 0 else (-1, number, *outcome))
    table = np.array(rows, np.int64).reshape(-1, 4)
    return tuple(table[:, column] for column in range(4))


def _bounds(unit: CountedUnit) -> tuple[Any, ...]:
    return unit.document, unit.value if isinstance(unit.value, str) else unit.value[1:]


def _marks(documents: Documents, place: Callable[[str], int], side: CountedUnits, track: int) -> UnitColumns:
    doc = np.array([place(unit.document) for unit in side.units], np.int64)
    if track == 2:
        nowhere = np.full(len(doc), -1)
        texts = [str(unit.value) for unit in side.units]
        return UnitColumns(documents, doc, nowhere, nowhere, np.zeros(len(doc), np.int8), (CONCEPT,), texts=texts)
    values = [unit.value for unit in side.units if not isinstance(unit.value, str)]
    types = tuple(sorted({kind for kind, _, _ in values}))
    code = {kind: number for number, kind in enumerate(types)}
    kind = np.array([code[kind] for kind, _, _ in values], np.int64)
    lengths = documents.lengths.tolist()
    inside = [
        (start, end) if 0 <= start < end <= lengths[number] else (-1, -1)
        for number, (_, start, end) in zip(doc.tolist(), values, strict=True)
    ]
    shown = None
    if (-1, -1) in inside:
        # A unit that stands nowhere in its text is shown as it is written.
        shown = [
            documents.texts[number][low:high] if low >= 0 else f"{start} {end}"
            for number, (low, high), (_, start, end) in zip(doc.tolist(), inside, values, strict=True)
        ]
    table = np.array(inside, np.int64).reshape(-1, 2)
    return UnitColumns(documents, doc, table[:, 0], table[:, 1], kind, types, texts=shown)


def _spans(layer: Layer) -> CountedUnits:
    """Return the spans of a layer in the order in which they were read.

    Raises:
        FormatError: discontinuous spans.
    """
    ids = layer.documents.ids
    if layer.fragments:
        raise FormatError(
            Problem(
                layer.name,
                None,
                f"document {quoted(ids[int(layer.doc[span])])}: the discontinuous span {quoted(layer.text(span))}: "
                "evaluate.py stops at such a line",
                "join its fragments or leave it out, or choose another convention",
            )
            for span in sorted(layer.fragments)
        )
    order = reading_order(layer)
    columns = (column[order].tolist() for column in (layer.doc, layer.type, layer.start, layer.end))
    types = layer.types
    units = [
        CountedUnit(ids[doc], (types[kind], start, end), types[kind] == UNCLEAR)
        for doc, kind, start, end in zip(*columns, strict=True)
    ]
    return CountedUnits(frozenset(ids), units)


def _links(layer: Layer, *, left_out: bool) -> CountedUnits:
    """Return the links of a layer as codes of their documents.

    Raises:
        FormatError: spans without a single link.
    """
    if len(layer) and not layer.links:
        found = "sub-track 2 counts codes, and no span here has a link"
        raise FormatError.single(layer.name, None, found, "give spans with links, or choose --subtrack 1")
    ids = layer.documents.ids
    rows = [
        (ids[int(layer.doc[span])], link, layer.label(span) == UNCLEAR)
        for span in reading_order(layer).tolist()
        for link in layer.links.get(span, ())
    ]
    clear = {(document, link) for document, link, unclear in rows if not unclear}
    units = [CountedUnit(document, link, left_out and (document, link) not in clear) for document, link, _ in rows]
    return CountedUnits(frozenset(ids), units)


def _by_codes(options: Mapping[str, Any]) -> str | None:
    return None if options["subtrack"] == 1 else "a side without a single link is refused, which a part may well be"


def _read_as_codes(pred: TrackFolder) -> list[Problem]:
    """Return the `.ann` files in the response's folder of codes."""
    said = "an .ann file among lists of codes: evaluate.py reads it as a list too, and by chance in place of one"
    files = pred.of_suffix(".ann").files.values()
    return [Problem(file.shown, None, said, "take it out of the folder") for file in files]


def _printed(outcome: Outcome) -> str:
    """Return the content that the script writes to scores.txt."""
    return "".join(f"{name} : {outcome.scores[name]}\n" for name in ("F1", "Precision", "Recall"))


CONVENTIONS = (
    Convention(
        name="pharmaconer",
        family="clinical mentions and codes",
        sentence="Sets of (type, start, end), or of codes, by document; documents without a response cost nothing.",
        needs="continuous spans; for sub-track 2 concept ids",
        source="PharmaCoNER evaluation script, commit b354eab (Gonzalez-Agirre et al. 2019)",
        score=score,
        of_layers=of_layers,
        by_shares=ByShares(counted, of_share, _by_codes),
        formats=("brat",),
        options=(
            Option(
                "subtrack",
                "1: mentions (evaluate.py subtask1); 2: codes (evaluate.py subtask2)",
                "integer",
                1,
                ("1", "2"),
            ),
        ),
        twins={"subtask1": "strict"},
        forms={"text": _printed},
        names={"P": "Precision", "R": "Recall", "F1": "F1", "COR": "tp"},
        formulas={
            "Precision": "tp / (tp + fp)",
            "Recall": "tp / (tp + fn)",
            "F1": "2 × Recall × Precision / (Recall + Precision)",
        },
    ),
)
