"""The records that verdicts are about, the subject of a verdict on a record, and one verdict for many records.

A verdict belongs to the records of its span, found by content. It is *stale* where its text has changed or no layer has
its span any more; then it belongs to the record at the place of its old quote.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from nereval_core.corpus import Documents, Layer, frozen
from nereval_core.corpus.masking import original
from nereval_core.corpus.texts import Texts
from nereval_core.records.attribute import Records
from nereval_core.records.tables import Rows
from nereval_core.review.standing_verdicts import Reviewed
from nereval_core.review.verdicts import Draft, Given, Key, Kind, Marked, Seen, Verdict, text_digest

_DIGESTS: WeakKeyDictionary[Documents, tuple[str, ...]] = WeakKeyDictionary()
_FOUND: WeakKeyDictionary[Layer, dict[tuple[int, Marked], list[int]]] = WeakKeyDictionary()
_ATTACHED: WeakKeyDictionary[Rows, tuple[Reviewed, AttachedVerdicts]] = WeakKeyDictionary()


@dataclass(frozen=True, eq=False)
class AttachedVerdicts:
    """The verdicts of some records: `given[at[record]]`, shape (records,), -1 where none stands.

    `stale`, shape (records,), is True where that verdict is stale. `lost` are stale verdicts on these documents at
    whose places there are no records.
    """

    given: tuple[Given, ...]
    at: NDArray[np.int32]
    stale: NDArray[np.bool_]
    lost: tuple[Given, ...]

    def of(self, record: int) -> Given | None:
        found = int(self.at[record])
        return None if found < 0 else self.given[found]


def text_digests(documents: Documents) -> tuple[str, ...]:
    """Return the `text_digest` of each document, computed once; for masked documents that of their original."""
    documents = original(documents)
    if documents not in _DIGESTS:
        texts = documents.texts
        parts: Iterable[Any] = map(texts.raw, range(len(texts))) if isinstance(texts, Texts) else texts
        _DIGESTS[documents] = tuple(text_digest(part if isinstance(part, str) else bytes(part)) for part in parts)
    return _DIGESTS[documents]


def marked(layer: Layer, span: int) -> Marked:
    """Return a span of a layer by its fragments and type."""
    parts = layer.fragments.get(span) or ((int(layer.start[span]), int(layer.end[span])),)
    return Marked(tuple((int(low), int(high)) for low, high in parts), layer.label(span))


def key_of(layer: Layer, span: int, side: str) -> Key:
    """Return the key of verdicts on a span of a layer as it was read; `side` is gold or pred."""
    digest = text_digests(layer.documents)[int(layer.doc[span])]
    return Key(digest, "gold" if side == "gold" else "pred", marked(layer, span))


VerdictSubject = tuple[Key, Marked | None, Seen]


def verdict_subject(about: Records, record: int) -> VerdictSubject:
    """Return the key of verdicts on a record, the span of the other side in it, and its context.

    The criterion must count spans, not tokens.
    """
    return next(verdict_subjects(about, [record]))


def verdict_subjects(about: Records, some: Iterable[int]) -> Iterator[VerdictSubject]:
    """Yield the `verdict_subject` of several records."""
    rows, layers, places = about.rows, about.read, _as_read(about)
    documents = original(layers[0].documents)
    for record in some:
        own = 0 if rows.anchored[record] else 1
        spans = [int(side[record]) for side in (rows.gold, rows.pred)]
        key = key_of(layers[own], int(places[own][spans[own]]), ("gold", "pred")[own])
        other = 1 - own
        partner = marked(layers[other], int(places[other][spans[other]])) if spans[other] >= 0 else None
        number = int(rows.doc[record])
        yield key, partner, Seen.of(documents.ids[number], documents.texts[number], key.span)


def attach_verdicts(about: Records) -> AttachedVerdicts:
    """Return the standing verdicts on records."""
    assert about.others is not None, "verdicts come with what else is known of the corpus"
    reviewed = about.others.reviewed
    kept = _ATTACHED.get(about.rows)
    if kept is None or kept[0] is not reviewed:
        kept = (reviewed, _attached(about, reviewed, about.others.layers))
        _ATTACHED[about.rows] = kept
    return kept[1]


def places(about: Records, keys: Sequence[tuple[Key, str]]) -> list[int | None]:
    """Return the position of each key's record, None where its text or its span is gone.

    A key comes with the id of its document, which is preferred among several documents of the same text.
    """
    if _by_token(about):
        return [None] * len(keys)
    by_digest: dict[str, list[int]] = {key.text: [] for key, _ in keys}
    for number, digest in enumerate(text_digests(about.read[0].documents)):
        if digest in by_digest:
            by_digest[digest].append(number)
    sides, ids = _Sides(about), about.read[0].documents.ids
    found: list[int | None] = []
    for key, document in keys:
        side = int(key.side == "pred")
        numbers = sorted(by_digest[key.text], key=lambda number: ids[number] != document)
        spans = (span for number in numbers for span in _same(about.read[side], number, key.span))
        found.append(next((record for span in spans for record in sides.records(side, span)), None))
    return found


def _by_token(about: Records) -> bool:
    criteria = {criterion.name: criterion for criterion in about.scores.criteria}
    return criteria[about.criterion].unit == "token"


def _as_read(about: Records) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return for both sides the index of each scored span in the layer as it was read."""
    gold, pred = about.scores.layers(about.criterion)
    return _places(about.read[0], gold), _places(about.read[1], pred)


def _places(read: Layer, scored: Layer) -> NDArray[Any]:
    if read.order is None:
        return np.arange(len(scored)) if scored.order is None else scored.order
    assert scored.order is not None, "what is taken of a layer keeps the order that it was read in"
    by_order = np.full(int(read.order.max(initial=-1)) + 1, -1, np.int64)
    by_order[read.order] = np.arange(len(read))
    return by_order[scored.order]


def _attached(about: Records, reviewed: Reviewed, layers: Sequence[Layer]) -> AttachedVerdicts:
    rows, (gold, pred) = about.rows, about.read
    at = np.full(len(rows), -1, np.int32)
    old = np.zeros(len(rows), bool)
    given: list[Given] = []
    lost: list[Given] = []
    # Runs of tokens are no spans: nobody decides on one.
    if not reviewed.standing or _by_token(about):
        return AttachedVerdicts((), frozen(at), frozen(old), ())
    documents = original(gold.documents)
    by_digest: dict[str, list[int]] = {}
    for number, digest in enumerate(text_digests(documents)):
        if digest in reviewed.by_text:
            by_digest.setdefault(digest, []).append(number)
    sides = _Sides(about)
    # How well a verdict fits its record: the one that fits best stays, of several the last.
    fits = np.zeros(len(rows), np.int8)

    def put(records: Iterable[int], one: Given, fit: int) -> bool:
        taken = False
        for record in records:
            taken = True
            if fit >= fits[record]:
                at[record], fits[record], old[record] = len(given), fit, fit == _STALE
        given.append(one)
        return taken

    for one in reviewed.standing:
        key = one.verdict.key
        numbers = by_digest.get(key.text)
        if numbers is None:
            document = documents.index.get(one.verdict.seen.document)
            if document is None:
                continue
            place = _found_again(one, documents.texts[document])
            if not put([] if place is None else sides.around(document, *place, key.side), one, _STALE):
                lost.append(one)
            continue
        found = False
        for number in numbers:
            for side, layer in enumerate((gold, pred)):
                spans = _same(layer, number, key.span)
                found |= bool(spans)
                for span in spans:
                    own = side == (key.side == "pred")
                    put(sides.records(side, span), one, _OWN if own else _PARTNER)
        if found or any(_same(layer, number, key.span) for layer in layers for number in numbers):
            continue
        near = [record for number in numbers for record in sides.around(number, key.span.start, key.span.end, key.side)]
        if not put(near, one, _STALE):
            lost.append(one)
    # A document of a text that repeats shows the verdict that was given on it, before one on another document.
    repeated = any(len(numbers) > 1 for numbers in by_digest.values())
    for (digest, name), own_given in reviewed.by_document.items() if repeated else ():
        numbers = [number for number in by_digest.get(digest, ()) if documents.ids[number] == name]
        if not numbers or len(by_digest[digest]) == 1:
            continue
        for one in own_given:
            for side, layer in enumerate((gold, pred)):
                own = side == (one.verdict.key.side == "pred")
                for span in _same(layer, numbers[0], one.verdict.key.span):
                    put(sides.records(side, span), one, _OWN_HERE if own else _PARTNER_HERE)
    return AttachedVerdicts(tuple(given), frozen(at), frozen(old), tuple(lost))


_STALE, _PARTNER, _OWN, _PARTNER_HERE, _OWN_HERE = 1, 2, 3, 4, 5


class _Sides:
    """The records of the spans of both sides as they were read."""

    def __init__(self, about: Records) -> None:
        rows = self.rows = about.rows
        self.layers = about.scores.layers(about.criterion)
        self.first = np.searchsorted(rows.doc, np.arange(len(about.read[0].documents) + 1))
        self.scored: list[NDArray[Any]] = []
        self.named: list[NDArray[Any]] = []
        self.beside: list[NDArray[Any]] = []
        for read, scored, spans, own in zip(
            about.read, self.layers, (rows.gold, rows.pred), (rows.anchored, ~rows.anchored), strict=True
        ):
            place = np.full(len(read), -1, np.int64)
            place[_places(read, scored)] = np.arange(len(scored))
            self.scored.append(place)
            for kept, chosen in ((self.named, own), (self.beside, ~own & (spans >= 0))):
                records = np.full(len(scored), -1, np.int64)
                records[spans[chosen]] = np.flatnonzero(chosen)
                kept.append(records)

    def records(self, side: int, span: int) -> list[int]:
        """Return the records of a span as read: its own, and the one in which it is the partner."""
        scored = int(self.scored[side][span])
        if scored < 0:
            return []
        found = [int(kept[side][scored]) for kept in (self.named, self.beside)]
        return [record for record in found if record >= 0]

    def around(self, document: int, start: int, end: int, side: str) -> list[int]:
        """Return, in a list, the record of a document that shares most characters with a place; empty if none does."""
        low, high = self.first[document : document + 2].tolist()
        if low == high:
            return []
        some = self.rows.take(np.arange(low, high))
        starts = some.of_spans(self.layers[0].start, self.layers[1].start)
        ends = some.of_spans(self.layers[0].end, self.layers[1].end)
        shared = np.minimum(ends, end) - np.maximum(starts, start)
        if shared.max() <= 0:
            return []
        same = some.anchored == (side == "gold")
        return [low + int(np.lexsort((same, -np.abs(ends - starts - (end - start)), shared))[-1])]


def _same(layer: Layer, document: int, span: Marked) -> list[int]:
    """Return the indices of a document's spans with these fragments and this type; looked for once a layer."""
    known = _FOUND.setdefault(layer, {})
    if (document, span) not in known:
        known[document, span] = _search(layer, document, span)
    return known[document, span]


def _search(layer: Layer, document: int, span: Marked) -> list[int]:
    low, high = layer.first[document : document + 2].tolist()
    there = (layer.start[low:high] == span.start) & (layer.end[low:high] == span.end)
    return [low + at for at in np.flatnonzero(there).tolist() if marked(layer, low + at) == span]


def _found_again(one: Given, text: str) -> tuple[int, int] | None:
    """Return the place of a verdict's span in a changed text, by its quote and the characters around it."""
    seen, span = one.verdict.seen, one.verdict.key.span
    quote = seen.quote.split(" ")[0] if len(span.fragments) > 1 else seen.quote
    if not quote:
        return None
    exact = text.find(seen.before + quote + seen.after)
    if exact >= 0:
        low = exact + len(seen.before)
        return low, low + len(quote)
    places = []
    place = text.find(quote)
    while place >= 0:
        places.append(place)
        place = text.find(quote, place + 1)
    if not places:
        return None
    low = min(places, key=lambda place: abs(place - span.start))
    return low, low + len(quote)


BATCH_RECORDS = 10_000
"""Largest number of records of one batch."""
PROGRESS_RECORDS = 500
"""Records after which the progress of drafting is reported."""


@dataclass(frozen=True, eq=False)
class Batch:
    """The records of a batch, and the number of records left out because they have a verdict.

    `records` are positions in document order, shape (records,).
    """

    records: NDArray[np.int32]
    left: int


def select_batch(about: Records, positions: NDArray[np.int32], *, over: bool = False) -> Batch:
    """Return the batch of the records without a verdict, or, `over` standing verdicts, of all of them."""
    without = attach_verdicts(about).at[positions] < 0
    return Batch(positions if over else positions[without], 0 if over else int((~without).sum()))


def draft_batch(
    about: Records,
    records: NDArray[np.int32],
    kind: Kind,
    note: str,
    stands: Reviewed,
    tell: Callable[[int], None] = lambda done: None,
) -> tuple[Draft, ...]:
    """Return a draft of a verdict for each record; `stands` are the verdicts that the reviewer has seen.

    Records of one key (the same span in a document that occurs twice) share a verdict. `tell` is called now and then
    with the number of records done.
    """
    found: dict[str, Draft] = {}
    for done, (key, partner, seen) in enumerate(verdict_subjects(about, records.tolist()), start=1):
        found[key.record] = Draft(Verdict(key, kind, seen, partner, note=note), stands.version(key))
        if not done % PROGRESS_RECORDS:
            tell(done)
    return tuple(found.values())


def verdicts_since(about: Records, positions: NDArray[np.int32], number: int) -> tuple[Given, ...]:
    """Return the standing verdicts on records that were stored after the verdict with this number."""
    found = attach_verdicts(about)
    places = np.unique(found.at[positions])
    given = {found.given[place].number: found.given[place] for place in places[places >= 0].tolist()}
    return tuple(given[one] for one in sorted(given) if one > number)
