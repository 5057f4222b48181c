"""Groups of verdicts that do not affect one another, and the places they concern as small documents of their own.

Two verdicts are in one group where a chain of spans that share characters leads from one to the other. No span reaches
from one place to another, so that spans get the same decisions at a place as in the whole, and counts of places add up.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nereval_core.alignment.codes import Decision
from nereval_core.corpus import Documents, Intervals, Labels, Layer, frozen
from nereval_core.corpus import layer as layer_of
from nereval_core.corpus.arrays import Int64
from nereval_core.corpus.tokens import remember_tokens, tokens_of
from nereval_core.review.apply import AppliedVerdicts, changed_layer, settle_document, verdicts_by_document
from nereval_core.review.apply.settlement import (
    ADDED,
    ALTERNATIVE,
    BESIDE,
    CIRCLE,
    REMOVED,
    REPEATS,
    REPLACED,
    named_spans,
)
from nereval_core.review.verdicts import StoredVerdict
from nereval_core.scoring import Settings, score_layers

EFFECTIVE = (REMOVED, REPLACED, ADDED, ALTERNATIVE, BESIDE, CIRCLE, REPEATS)
"""Outcomes of verdicts that may change scores: the last two may once another verdict is dropped."""
SCORED_KEYS = ("fragments", "cores", "alternatives")
"""The mappings of a layer that scoring looks at beside boundaries and types."""


class Place(NamedTuple):
    """Runs of characters [low, high) of a document, by its number; every span that begins in one ends there."""

    document: int
    runs: tuple[tuple[int, int], ...]


class VerdictGroup(NamedTuple):
    """Verdicts in an order that does not depend on when they were given, and the places that they concern.

    There are several places where the verdicts are applied to several documents of one text.
    """

    verdicts: tuple[StoredVerdict, ...]
    places: tuple[Place, ...]


def group_verdicts(applied: AppliedVerdicts, systems: Iterable[Layer], *, by_token: bool) -> list[VerdictGroup]:
    """Return the groups of the verdicts that may change the scores of systems, in a fixed order.

    With `by_token`, spans that share a token are connected too.
    """
    uids = {change.stored.uid for change in applied.log if (change.done or change.reason) in EFFECTIVE}
    documents: dict[tuple[StoredVerdict, ...], list[int]] = defaultdict(list)
    for document, verdicts in verdicts_by_document(
        applied.gold, applied.reviewed, only_this_document=applied.only_this_document
    ):
        documents[tuple(sorted((stored for stored in verdicts if stored.uid in uids), key=_rank))].append(document)
    documents.pop((), None)
    columns = [(layer.first, layer.start, layer.end) for layer in (applied.gold, *systems)]
    if by_token:
        tokens = tokens_of(applied.gold.documents)
        columns.append((tokens.first, tokens.starts, tokens.ends))
    groups = []
    for verdicts, numbers in documents.items():
        spans = [(at, span) for at, stored in enumerate(verdicts) for span in sorted(named_spans([stored]))]
        starts: list[NDArray[Any]] = [np.array([span.start for _, span in spans], np.int64)]
        ends: list[NDArray[Any]] = [np.array([span.end for _, span in spans], np.int64)]
        for number in numbers:
            for first, start, end in columns:
                rows = slice(*first[number : number + 2].tolist())
                starts.append(start[rows])
                ends.append(end[rows])
        low, high = _runs(np.concatenate(starts), np.concatenate(ends))
        run = np.searchsorted(low, starts[0], side="right") - 1
        for indices, own_runs in _connected([at for at, _ in spans], run.tolist()):
            members = tuple(verdicts[at] for at in indices)
            runs = tuple(zip(low[own_runs].tolist(), high[own_runs].tolist(), strict=True))
            groups.append(VerdictGroup(members, tuple(Place(document, runs) for document in numbers)))
    return sorted(groups, key=lambda group: _rank(group.verdicts[0]))


def _connected(verdicts: Sequence[int], runs: Sequence[int]) -> list[tuple[list[int], list[int]]]:
    """Return the verdicts and the runs that are connected, both in order, of pairs of a verdict and a run it names."""
    # Nearly all components have one verdict and one run: scipy takes many times as long for these.
    verdicts_of, runs_of = defaultdict(list), defaultdict(list)
    for verdict, run in zip(verdicts, runs, strict=True):
        verdicts_of[run].append(verdict)
        runs_of[verdict].append(run)
    components = []
    reached: set[int] = set()
    for first in runs_of:
        if first in reached:
            continue
        own_verdicts, own_runs, waiting = {first}, set[int](), [first]
        while waiting:
            for run in set(runs_of[waiting.pop()]) - own_runs:
                own_runs.add(run)
                waiting += (new := set(verdicts_of[run]) - own_verdicts)
                own_verdicts |= new
        reached |= own_verdicts
        components.append((sorted(own_verdicts), sorted(own_runs)))
    return components


def place_counts(
    applied: AppliedVerdicts,
    selections: Sequence[tuple[Place, Sequence[StoredVerdict]]],
    systems: Sequence[Layer],
    settings: Settings,
) -> Int64:
    """Return the counts of systems at places where only some verdicts are applied, under the one criterion given.

    The shape is (places, systems, 2 for gold spans and predictions, decisions).
    """
    (criterion,) = settings.criteria
    sums = np.zeros((len(selections), len(systems), 2, len(Decision)), np.int64)
    if selections:
        places = [place for place, _ in selections]
        results = {
            at: settle_document(applied.gold, place.document, verdicts, applied.layers)
            for at, (place, verdicts) in enumerate(selections)
        }
        documents = _documents(applied.gold.documents, places, by_token=criterion.unit == "token")
        origins = [_layer(layer, places, documents) for layer in applied.layers]
        gold = changed_layer(_layer(applied.gold, places, documents), results, origins)
        for number, system in enumerate(systems):
            scores = score_layers(gold, _layer(system, places, documents), settings)
            counts = scores.by_document(criterion.name)
            sums[counts.numbers, number] = np.stack((counts.gold, counts.pred), axis=1)
    return sums


def _documents(documents: Documents, places: Sequence[Place], *, by_token: bool) -> Documents:
    """Return a document for each place, with the whole text of its document and, if asked, the tokens of the place."""
    texts = {number: documents.texts[number] for number in {place.document for place in places}}
    place_documents = Documents(
        tuple(map(str, range(len(places)))), tuple(texts[place.document] for place in places), named=False
    )
    if by_token:
        tokens = tokens_of(documents)
        sizes, index = _rows(tokens.first, tokens.starts, places)
        first = np.concatenate((np.zeros(1, np.int64), np.cumsum(sizes)))
        remember_tokens(place_documents, Intervals(first, frozen(tokens.starts[index]), frozen(tokens.ends[index])))
    return place_documents


def _layer(layer: Layer, places: Sequence[Place], documents: Documents) -> Layer:
    """Return the spans of a layer at places, over the documents that `_documents` made of these."""
    sizes, index = _rows(layer.first, layer.start, places)
    extras: dict[str, dict[int, Any]] = {}
    for key in SCORED_KEYS:
        values = getattr(layer, key)
        extras[key] = {at: values[span] for at, span in enumerate(index.tolist()) if span in values} if values else {}
    doc = np.repeat(np.arange(len(places)), sizes)
    labels = Labels(layer.type[index], layer.types)
    return layer_of(layer.name, documents, doc, layer.start[index], layer.end[index], labels, extras=extras)


def _rows(
    first: NDArray[np.integer], start: NDArray[np.integer], places: Iterable[Place]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return by place the number of spans, or tokens, that begin there, and the index of each."""
    indices = [np.zeros(0, np.int64)]
    for document, runs in places:
        begin, end = first[document : document + 2].tolist()
        own = start[begin:end]
        # Bounds are of the column's own type: any other makes searchsorted copy the column.
        edges = np.searchsorted(own, np.array(runs, own.dtype)).tolist()
        indices.append(np.concatenate([np.arange(begin + low, begin + high) for low, high in edges]))
    return np.array(list(map(len, indices[1:])), np.int64), np.concatenate(indices)


def _rank(stored: StoredVerdict) -> tuple[object, ...]:
    key = stored.verdict.key
    return key.text, key.side, key.span, stored.verdict.seen.document


def _runs(start: NDArray[np.int64], end: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where runs of spans that share characters begin and end."""
    order = np.argsort(start, kind="stable")
    start, reach = start[order], np.maximum.accumulate(end[order])
    first = np.flatnonzero(np.append(True, start[1:] >= reach[:-1]))[: len(start)]
    return start[first], reach[np.append(first[1:], len(start)) - 1] if len(first) else reach
