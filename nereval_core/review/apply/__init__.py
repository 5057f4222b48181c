"""Gold with the standing verdicts applied, as a layer of its own, and a log of the effect of each verdict.

The result does not depend on the order of verdicts or documents, and applying verdicts twice is the same as applying
them once. `settlement` defines the effect of a verdict.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nereval_core.corpus import SPAN_KEYS, Labels, Layer
from nereval_core.corpus import layer as layer_of
from nereval_core.corpus.masking import is_masked, masked_text
from nereval_core.review.apply.settlement import (
    AMBIGUOUS,
    DONE,
    REASONS,
    STALE,
    SettledSpans,
    VerdictOutcome,
    named_spans,
    settle_spans,
)
from nereval_core.review.standing_verdicts import Reviewed
from nereval_core.review.verdicts import Fragments, Marked, StoredVerdict
from nereval_core.review.verdicts_on_records import marked, text_digests

CARRIED = ("links", "cores", "alternatives", "meta")
"""Properties that a span brings along from another layer; ids would not be distinct, scores are a system's."""


@dataclass(frozen=True)
class Change:
    """The effect of a verdict in one document (its number), or the `reason` why it has none.

    `before` is the quote of its span, `quotes` are those of the spans `after` it, `note` is that of the reviewer: all
    masked where the texts are.
    """

    document: int
    id: str
    stored: StoredVerdict
    done: str
    after: tuple[Marked, ...]
    reason: str
    before: str
    quotes: tuple[str, ...]
    note: str

    @property
    def span(self) -> Marked:
        return self.stored.verdict.key.span


@dataclass(frozen=True, eq=False)
class AppliedVerdicts:
    """Gold and the result of applying the verdicts `reviewed` to it, beside `layers`: see `apply_verdicts`.

    `results` are by the number of a document. `changes` (verdicts applied) and `open` (verdicts not applied) have a row
    for each verdict and document, sorted by document, side and span. Among documents with the same text a verdict
    concerns the one that it was given on, or, if not `only_this_document`, all of them. `spared` counts the documents
    with the text of a verdict that was given on another document and is not applied to them.
    """

    gold: Layer
    reviewed: Reviewed
    layers: tuple[Layer, ...]
    results: Mapping[int, SettledSpans]
    changes: tuple[Change, ...]
    open: tuple[Change, ...]
    only_this_document: bool = True
    spared: int = 0

    @cached_property
    def layer(self) -> Layer:
        """Gold with the verdicts applied: a new layer over the same documents, gold itself where nothing changes."""
        return changed_layer(self.gold, self.results, self.layers)

    @property
    def log(self) -> tuple[Change, ...]:
        """All rows: those applied, then those not applied."""
        return (*self.changes, *self.open)

    @cached_property
    def verdicts(self) -> int:
        """The number of verdicts applied, each counted once for all documents."""
        return len({change.stored.uid for change in self.changes})

    @property
    def places(self) -> int:
        """The number of pairs of a verdict and a document to which it was applied."""
        return len(self.changes)

    @cached_property
    def documents(self) -> int:
        """The number of documents to which verdicts were applied."""
        return len({change.document for change in self.changes})

    @cached_property
    def n_not_applied(self) -> int:
        """The number of verdicts not applied, or not to every document that they concern."""
        return len({change.stored.uid for change in self.open})

    def counts(self) -> dict[str, int]:
        """Return the number of rows of the log by effect, then by reason; zeros are left out."""
        names = [change.done or change.reason for change in self.log]
        return {name: names.count(name) for name in (*DONE, *REASONS) if name in names}


def select_verdicts(
    reviewed: Reviewed, *, who: Collection[str] | None = None, kinds: Collection[str] | None = None
) -> Reviewed:
    """Return the verdicts of some reviewers (see `Reviewed.by`) and kinds, None for all."""
    verdicts = reviewed if who is None else reviewed.by(who)
    return verdicts if kinds is None else verdicts.only(lambda stored: stored.verdict.kind in kinds)


def drop_verdicts(reviewed: Reviewed, uids: Collection[str]) -> Reviewed:
    """Return the verdicts except those with these uids."""
    return reviewed.only(lambda stored: stored.uid not in uids)


def apply_verdicts(
    gold: Layer, reviewed: Reviewed, layers: Sequence[Layer] = (), *, only_this_document: bool = True
) -> AppliedVerdicts:
    """Apply the standing verdicts to gold.

    A verdict belongs to the content of a text. Where several documents have that text, it is applied to the one that it
    was given on, or, if not `only_this_document`, to all of them; then the last verdict on a span counts, whichever of
    them it was given on. A text of one document only is changed whatever the id of that document.

    `layers` are the systems over the same documents: a verdict on a prediction that none of them has any more is stale,
    and stale verdicts are never applied. Without layers a prediction is taken to be there still. What gold spans have
    beside boundaries and type stays with those that stay; spans that come in bring what the first of `layers` has that
    equals them: see CARRIED.
    """
    changes: list[Change] = []
    results: dict[int, SettledSpans] = {}
    for document, verdicts in verdicts_by_document(gold, reviewed, only_this_document=only_this_document):
        settled = settle_document(gold, document, verdicts, layers)
        results[document] = settled
        changes += [_change(gold, document, outcome) for outcome in settled.outcomes]
    changes += _of_changed_texts(gold, reviewed)
    repeated = _repeated(gold, reviewed) if only_this_document else {}
    changes += _of_unknown_documents(gold, reviewed, repeated)
    changes.sort(key=lambda change: (change.document, change.stored.verdict.key.side, change.span))
    done = tuple(change for change in changes if change.done)
    not_applied = tuple(change for change in changes if not change.done)
    spared = sum(
        _is_spared(gold, reviewed, text, document) for text, numbers in repeated.items() for document in numbers
    )
    return AppliedVerdicts(gold, reviewed, tuple(layers), results, done, not_applied, only_this_document, spared)


def verdicts_by_document(
    gold: Layer, reviewed: Reviewed, *, only_this_document: bool = True
) -> Iterator[tuple[int, tuple[StoredVerdict, ...]]]:
    """Yield the documents (numbers) that verdicts concern, with these verdicts: at most one per side and span."""
    repeated = _repeated(gold, reviewed) if only_this_document else {}
    for document, text in enumerate(text_digests(gold.documents) if reviewed.by_text else ()):
        if text in repeated:
            verdicts = reviewed.by_document.get((text, gold.documents.ids[document]), ())
        else:
            verdicts = reviewed.by_text.get(text, ())
        if verdicts:
            yield document, verdicts


def _repeated(gold: Layer, reviewed: Reviewed) -> dict[str, list[int]]:
    """Return the documents (numbers) by the digest of their text, for texts with verdicts in several documents."""
    documents_of_text: dict[str, list[int]] = {}
    texts = {text for text, _ in reviewed.by_document}
    for document, text in enumerate(text_digests(gold.documents) if texts else ()):
        if text in texts:
            documents_of_text.setdefault(text, []).append(document)
    return {text: numbers for text, numbers in documents_of_text.items() if len(numbers) > 1}


def _is_spared(gold: Layer, reviewed: Reviewed, text: str, document: int) -> bool:
    """Return whether a verdict on the text was given on other documents and not on this one."""
    own = reviewed.by_document.get((text, gold.documents.ids[document]), ())
    return bool(
        {stored.verdict.key.record for stored in reviewed.by_text.get(text, ())}
        - {stored.verdict.key.record for stored in own}
    )


def settle_document(
    gold: Layer, document: int, verdicts: Sequence[StoredVerdict], layers: Sequence[Layer] = ()
) -> SettledSpans:
    """Apply verdicts to the gold spans of one document."""
    own = {span: indices for span in named_spans(verdicts) if (indices := places(gold, document, span))}
    both = (
        [stored.verdict.key.span for stored in verdicts if stored.verdict.kind == "both"] if gold.alternatives else ()
    )
    # Of spans that repeat one another, each is to have it.
    alternatives = {
        span: frozenset.intersection(*(frozenset(gold.alternatives.get(at, ())) for at in own[span]))
        for span in both
        if span in own
    }

    def is_held(span: Marked) -> bool:
        return any(places(layer, document, span) for layer in layers)

    length = int(gold.documents.lengths[document])
    return settle_spans(own, verdicts, length, gold_alternatives=alternatives, is_held=is_held if layers else None)


def places(layer: Layer, document: int, span: Marked) -> list[int]:
    """Return the indices of a document's spans equal to this one; several where spans repeat one another."""
    low, high = int(layer.first[document]), int(layer.first[document + 1])
    # Offsets are of the column's own type: any other makes searchsorted copy the column.
    if low == high or span.end > layer.documents.lengths[document]:
        return []
    start = layer.start[low:high]
    first, last = np.searchsorted(start, np.array((span.start, span.start + 1), start.dtype)).tolist()
    return [at for at in range(low + first, low + last) if layer.end[at] == span.end and marked(layer, at) == span]


def changed_layer(gold: Layer, results: Mapping[int, SettledSpans], origins: Sequence[Layer] = ()) -> Layer:
    """Return the layer with the results of verdicts, by document; gold itself where nothing changes.

    A span that comes in has the CARRIED properties of the first span of `origins` that equals it.
    """
    gone: list[int] = []
    added: list[tuple[int, Marked]] = []
    more: dict[int, Fragments] = {}
    late: dict[tuple[int, Marked], Fragments] = {}
    for document, settled in results.items():
        gone += [at for span in settled.gone for at in places(gold, document, span)]
        added += [(document, span) for span in settled.added]
        for span, other in settled.alternatives.items():
            if span in settled.added:
                late[document, span] = (other,)
            for at in () if span in settled.added else places(gold, document, span):
                more[at] = tuple(dict.fromkeys((*gold.alternatives.get(at, ()), other)))
    if not gone and not added and not more:
        return gold
    # In the order in which they were read, so that a copy that is written differs from its model where it must.
    read = np.arange(len(gold)) if gold.order is None else np.argsort(gold.order, kind="stable")
    goes = np.zeros(len(gold), bool)
    goes[gone] = True
    remaining = read[~goes[read]]
    extras = {key: _carried(getattr(gold, key), remaining, len(gold)) for key in SPAN_KEYS}
    place = _places(remaining, len(gold))
    extras["alternatives"] |= {int(place[span]): others for span, others in more.items()}
    types = tuple(dict.fromkeys((*gold.types, *(span.type for _, span in added))))
    for at, (document, span) in enumerate(added, start=len(remaining)):
        if len(span.fragments) > 1:
            extras["fragments"][at] = span.fragments
        for key, value in _properties(origins, document, span).items():
            extras[key][at] = value
        if (document, span) in late:
            extras["alternatives"][at] = late[document, span]
    return layer_of(
        gold.name,
        gold.documents,
        _column(gold.doc[remaining], [document for document, _ in added]),
        _column(gold.start[remaining], [span.start for _, span in added]),
        _column(gold.end[remaining], [span.end for _, span in added]),
        Labels(_column(gold.type[remaining], [types.index(span.type) for _, span in added]), types),
        extras=extras,
    )


def _properties(origins: Sequence[Layer], document: int, span: Marked) -> dict[str, Any]:
    """Return the CARRIED properties of the first span of these layers that equals this one."""
    for layer in origins:
        for at in places(layer, document, span):
            return {key: getattr(layer, key)[at] for key in CARRIED if at in getattr(layer, key)}
    return {}


def _change(gold: Layer, document: int, outcome: VerdictOutcome) -> Change:
    text = gold.documents.texts[document]
    verdict = outcome.stored.verdict
    stale = outcome.reason == STALE
    quote = _shown(gold, verdict.seen.quote) if stale else verdict.key.span.quote_apart(text)
    quotes = tuple(after.quote_apart(text) for after in outcome.after)
    done, after, reason = outcome.done, outcome.after, outcome.reason
    name, note = gold.documents.ids[document], _shown(gold, verdict.note)
    return Change(document, name, outcome.stored, done, after, reason, quote, quotes, note)


def _of_changed_texts(gold: Layer, reviewed: Reviewed) -> Iterator[Change]:
    """Yield the verdicts on former texts of documents, found by their ids."""
    if reviewed.by_text_alone or not reviewed.by_text:
        return
    digests = set(text_digests(gold.documents))
    for text, verdicts in reviewed.by_text.items():
        for stored in verdicts if text not in digests else ():
            context = stored.verdict.seen
            document = gold.documents.index.get(context.document)
            if document is not None:
                quote, note = _shown(gold, context.quote), _shown(gold, stored.verdict.note)
                yield Change(document, context.document, stored, "", (), STALE, quote, (), note)


def _of_unknown_documents(gold: Layer, reviewed: Reviewed, repeated: Mapping[str, Sequence[int]]) -> Iterator[Change]:
    """Yield verdicts on a text of several documents that were given on another id, at the first of these."""
    for (text, name), verdicts in reviewed.by_document.items():
        numbers = repeated.get(text, ())
        if numbers and name not in {gold.documents.ids[document] for document in numbers}:
            yield from (_change(gold, numbers[0], VerdictOutcome(stored, reason=AMBIGUOUS)) for stored in verdicts)


def _shown(gold: Layer, text: str) -> str:
    """Return a stored quote or note, masked where the texts of the layer are."""
    return masked_text(text) if is_masked(gold.documents) else text


def _column(remaining: NDArray[np.integer], added: Sequence[int]) -> NDArray[np.int64]:
    return np.concatenate((remaining.astype(np.int64), np.array(added, np.int64)))


def _places(remaining: NDArray[np.integer], spans: int) -> NDArray[np.int64]:
    """Return the new index of each span, -1 for removed ones."""
    place = np.full(spans, -1, np.int64)
    place[remaining] = np.arange(len(remaining))
    return place


def _carried(values: Mapping[int, object], remaining: NDArray[np.integer], spans: int) -> dict[int, object]:
    if not values:
        return {}
    place = _places(remaining, spans).tolist()
    return {place[span]: value for span, value in values.items() if place[span] >= 0}


__all__: Sequence[str] = (
    "AppliedVerdicts",
    "Change",
    "apply_verdicts",
    "changed_layer",
    "drop_verdicts",
    "places",
    "select_verdicts",
    "settle_document",
    "verdicts_by_document",
)
