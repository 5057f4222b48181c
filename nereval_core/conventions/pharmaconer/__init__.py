"""The evaluation script of PharmaCoNER: mentions (sub-track 1) and codes by document (sub-track 2).

Mentions are sets of (type, start, end) for each document, whatever their text; codes are sets as well. Only documents
on both sides count: one without a response costs nothing, one with an empty response does. Mentions marked UNCLEAR are
left out on both sides, codes of UNCLEAR mentions in gold only. A zero denominator gives 0.
Source: PlanTL-GOB-ES/PharmaCoNER-CODALAB-Evaluation-Script, commit b354eab; Gonzalez-Agirre et al. 2019, PharmaCoNER.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from nereval_core.conventions.convention import (
    Convention,
    LayerPair,
    MatchedSides,
    Options,
    ScorerInput,
    ScorerOption,
    ScorerSteps,
)
from nereval_core.conventions.outcome import CountTables, Figures, Outcome, RatioNames, SideContent, figure_rows
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
from nereval_core.conventions.records import (
    COR,
    MIS,
    OVERALL,
    SPU,
    UNMATCHED,
    Evaluation,
    MatchRows,
    SharedTypes,
    UnitColumns,
    add_decisions,
    reading_order,
)
from nereval_core.corpus import Documents, Layer
from nereval_core.problems import FormatError, Problem, quoted

CONCEPT = "concept"
"""The type that records of codes are given."""
BY_DOCUMENT = "documents"
"""The table of counts by document."""
COUNTERS = {"tp": (COR,), "fp": (SPU,), "fn": (MIS,)}
EVALUATIONS = {
    1: Evaluation(
        reasons=(
            "the same type and offsets on the other side",
            "no mention of the same type and offsets on the other side",
            "the same type and offsets once more: counted once",
            "offsets of a mention that gold marks UNCLEAR, which is left out",
            "marked UNCLEAR: left out on both sides",
            "its document is on one side only: left out",
        ),
        counters=COUNTERS,
    ),
    2: Evaluation(
        reasons=(
            "the same code on the other side",
            "no such code in the document on the other side",
            "the same code once more: counted once",
            "a code that gold gives to UNCLEAR mentions only, which is left out there",
            "a code of UNCLEAR mentions only: left out of gold",
            "its document is on one side only: left out",
        ),
        counters=COUNTERS,
        unit="concept",
    ),
}
"""The evaluation of each sub-track."""
OVER_UNCLEAR, DROPPED, ALONE = range(3, 6)
RATIOS = RatioNames(precision="Precision", recall="Recall", f1="F1", correct="tp", fp="fp", fn="fn")


class TrackSides(NamedTuple):
    """The units of both sides; `place` says which of `documents` a name stands for."""

    gold: CountedUnits
    pred: CountedUnits
    documents: Documents
    place: Callable[[str], int]
    contents: tuple[SideContent, SideContent]
    notes: tuple[str, ...] = ()


def read(files: ScorerInput, options: Options) -> TrackSides:
    """Read folders of `.ann` files, or of `.tsv` files with the `.ann` that tell which mentions are UNCLEAR."""
    track = options["subtrack"]
    suffix = ".ann" if track == 1 else ".tsv"
    annotations = TrackFolder.of(files.gold, "subtask1", ".ann")
    folders = [TrackFolder.of(source, f"subtask{track}", suffix) for source in (files.gold, files.pred)]
    findings = FileFindings()
    for folder, printed in zip(folders, ("zeros", "no figures"), strict=True):
        if not folder.files:
            finding = f"no {suffix} file in it: evaluate.py would print {printed}"
            remedy = f"give the folder subtask{track}, or the one that holds it"
            findings.problems.append(Problem(folder.source.name, None, finding, remedy))
    if track == 1:
        gold, pred = (read_mentions(folder, findings) for folder in folders)
    else:
        gold, pred = read_codes(folders[0], annotations, findings), read_codes(folders[1], None, findings)
        findings.problems += _read_as_codes(folders[1])
    documents, place, notes = documents_of(annotations, sorted({*gold.documents, *pred.documents}), findings)
    if findings.problems:
        raise FormatError(findings.problems)
    if findings.skipped:
        notes = (*notes, f"T lines that evaluate.py cannot split and passes over: {findings.skipped}")
    for owner, names in (("gold", gold.documents - pred.documents), ("the response", pred.documents - gold.documents)):
        if names:
            notes = (*notes, f"documents that only {owner} has, left out: {len(names)}")
    contents = [
        SideContent.of_rows(
            documents,
            len(side.units),
            [f"{unit.document}\t{unit.value}" for unit in side.units],
            n_documents=len(side.documents),
        )
        for side in (gold, pred)
    ]
    return TrackSides(gold, pred, documents, place, (contents[0], contents[1]), notes)


def from_layers(layers: LayerPair, options: Options) -> TrackSides:
    """Return the spans of layers, or, in sub-track 2, the links of their spans as codes of the documents.

    All documents count: a layer does not tell one without a response from one with an empty response.
    """
    gold, pred, _ = layers
    if options["subtrack"] == 1:
        units = _spans(gold), _spans(pred)
    else:
        units = _links(gold, left_out=True), _links(pred, left_out=False)
    contents = SideContent.of_layer(gold), SideContent.of_layer(pred)
    return TrackSides(*units, gold.documents, gold.documents.index.__getitem__, contents)


def match(sides: TrackSides, options: Options) -> MatchedSides:
    """Match units of documents that both sides have."""
    track = options["subtrack"]
    both = sides.gold.documents & sides.pred.documents
    numbers: dict[tuple[Any, ...], int] = {}
    keys, ignored = [], []
    for side in sides[:2]:
        keys.append(np.array([numbers.setdefault(unit[:2], len(numbers)) for unit in side.units], np.int64))
        reasons = [ALONE if unit.document not in both else DROPPED if unit.dropped else -1 for unit in side.units]
        ignored.append(np.array(reasons, np.int64))
    rows = MatchRows.of_sets(*keys, *ignored)
    unclear = {_bounds(unit) for unit in sides.gold.units if unit.dropped}
    spurious = np.flatnonzero((rows.decision == SPU) & (rows.reason == UNMATCHED))
    is_over = [_bounds(sides.pred.units[unit]) in unclear for unit in rows.pred[spurious].tolist()]
    rows.reason[spurious[np.array(is_over, bool)]] = OVER_UNCLEAR

    def records(evaluation: str) -> pd.DataFrame:
        units = [_units(sides.documents, sides.place, side, track) for side in sides[:2]]
        return EVALUATIONS[track].records(evaluation, units, rows)

    names = tuple(both)
    code = {name: number for number, name in enumerate(names)}
    docs = [np.array([code.get(unit.document, 0) for unit in side.units], np.int64) for side in sides[:2]]
    by_document = rows.decisions_by_type(SharedTypes(names, *docs)) if names else {}
    tables = {BY_DOCUMENT: dict.fromkeys(names, add_decisions(())) | by_document}
    return MatchedSides(
        counts=CountTables(tables, *sides.contents), documents=sides.documents, records=records, notes=sides.notes
    )


def figures(counts: CountTables, options: Options) -> Figures:
    evaluation = EVALUATIONS[options["subtrack"]]
    by_document = dict(sorted(counts.rows(BY_DOCUMENT).items()))
    whole = evaluation.counts(add_decisions(by_document.values()))
    ratios = RATIOS.of(whole)
    row = {name: ratios[name] for name in ("F1", "Precision", "Recall")} | whole
    scores = row | {"documents": {name: evaluation.counts(decisions) for name, decisions in by_document.items()}}
    return Figures(scores, figure_rows(f"subtask{options['subtrack']}", {OVERALL: row}, COUNTERS))


def _bounds(unit: CountedUnit) -> tuple[Any, ...]:
    return unit.document, unit.value if isinstance(unit.value, str) else unit.value[1:]


def _units(documents: Documents, place: Callable[[str], int], side: CountedUnits, track: int) -> UnitColumns:
    doc = np.array([place(unit.document) for unit in side.units], np.int64)
    if track == 2:
        codes = [str(unit.value) for unit in side.units]
        return UnitColumns.of_codes(documents, doc, np.zeros(len(doc), np.int8), (CONCEPT,), codes)
    values = [unit.value for unit in side.units if not isinstance(unit.value, str)]
    types = tuple(sorted({kind for kind, _, _ in values}))
    code = {kind: number for number, kind in enumerate(types)}
    kind = np.array([code[kind] for kind, _, _ in values], np.int64)
    bounds = np.array([(start, end) for _, start, end in values], object).reshape(-1, 2)
    lengths = documents.lengths[doc] if len(doc) else doc
    is_inside = ((bounds[:, 0] >= 0) & (bounds[:, 0] < bounds[:, 1]) & (bounds[:, 1] <= lengths)).astype(bool)
    start, end = np.where(is_inside[:, None], bounds, -1).astype(np.int64).T
    texts = None
    if not is_inside.all():
        # A unit that stands nowhere in its text is shown as it is written.
        texts = [
            documents.texts[number][low:high] if low >= 0 else f"{first} {last}"
            for number, low, high, (first, last) in zip(
                doc.tolist(), start.tolist(), end.tolist(), bounds.tolist(), strict=True
            )
        ]
    return UnitColumns(documents, doc, start, end, kind, types, texts=texts)


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
        finding = "sub-track 2 counts codes, and no span here has a link"
        raise FormatError.single(layer.name, None, finding, "give spans with links, or choose --subtrack 1")
    ids = layer.documents.ids
    rows = [
        (ids[int(layer.doc[span])], link, layer.label(span) == UNCLEAR)
        for span in reading_order(layer).tolist()
        for link in layer.links.get(span, ())
    ]
    clear = {(document, link) for document, link, unclear in rows if not unclear}
    units = [CountedUnit(document, link, left_out and (document, link) not in clear) for document, link, _ in rows]
    return CountedUnits(frozenset(ids), units)


def _not_by_shards(options: Options) -> str:
    return "" if options["subtrack"] == 1 else "a side without a single link is refused, which a part may well be"


def _read_as_codes(pred: TrackFolder) -> list[Problem]:
    """Return the `.ann` files in the response's folder of codes."""
    finding = "an .ann file among lists of codes: evaluate.py reads it as a list too, and by chance in place of one"
    files = pred.of_suffix(".ann").files.values()
    return [Problem(file.shown, None, finding, "take it out of the folder") for file in files]


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
        steps=ScorerSteps(read, from_layers, match),
        figures=figures,
        not_by_shards=_not_by_shards,
        formats=("brat",),
        options=(
            ScorerOption(
                "subtrack",
                "1: mentions (evaluate.py subtask1); 2: codes (evaluate.py subtask2)",
                "integer",
                1,
                ("1", "2"),
            ),
        ),
        twins={"subtask1": "strict"},
        forms={"text": _printed},
        ratios=RATIOS,
    ),
)
