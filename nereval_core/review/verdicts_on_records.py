"""The records that verdicts are about, the subject of a verdict on a record, and one verdict for many records.

A verdict belongs to the records of its span, found by content. It is *stale* where its text has changed or no layer has
its span any more; then it belongs to the record at the place of its old quote.

It says what gold is to have in the place of a gold span, whatever the system: beside another prediction than the one
that was judged it reads as that (`as_said_of_gold`). It decides on the prediction that was judged, too, where that one
is a record of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from msgspec import structs
from numpy.typing import NDArray

from nereval_core.corpus import Documents, Layer, frozen
from nereval_core.corpus.masking import original
from nereval_core.corpus.texts import Texts
from nereval_core.records.match_records import Rows
from nereval_core.review.attribute import Records
from nereval_core.review.standing_verdicts import Moment, Reviewed
from nereval_core.review.verdicts import (
    UNMARKED,
    Draft,
    Key,
    Kind,
    Marked,
    Seen,
    StoredVerdict,
    Verdict,
    is_carried_out,
    replacing_spans,
    text_digest,
    turned,
)
from nereval_core.scoring import Scores

_DIGESTS: WeakKeyDictionary[Documents, tuple[str, ...]] = WeakKeyDictionary()
_FOUND: WeakKeyDictionary[Layer, dict[tuple[int, Marked], list[int]]] = WeakKeyDictionary()
_NUMBERS: WeakKeyDictionary[Documents, dict[str, list[int]]] = WeakKeyDictionary()
_SIDES: WeakKeyDictionary[Rows, _Sides] = WeakKeyDictionary()
_BY_ORDER: WeakKeyDictionary[Layer, NDArray[Any]] = WeakKeyDictionary()
_ATTACHED: WeakKeyDictionary[Rows, tuple[Moment, AttachedVerdicts]] = WeakKeyDictionary()
FEW = 100
"""New verdicts up to which only the records of their documents are looked at again."""


@dataclass(frozen=True, eq=False)
class AttachedVerdicts:
    """The verdicts of some records: `verdicts[at[record]]`, shape (records,), -1 where none stands.

    `stale`, shape (records,), is True where that verdict is stale. `lost` are stale verdicts on these documents at
    whose places there are no records. `unmarked` are those on entities that nobody had marked, which have no record.
    A verdict that gold has been corrected by says that gold is right.
    A verdict that was given while the two layers had each other's places is turned: it names the same span as right.
    """

    verdicts: tuple[StoredVerdict, ...]
    at: NDArray[np.int32]
    stale: NDArray[np.bool_]
    lost: tuple[StoredVerdict, ...]
    unmarked: tuple[StoredVerdict, ...] = ()

    @property
    def decided(self) -> NDArray[np.bool_]:
        """The records that a verdict decides, shape (records,): a stale one decides nothing."""
        return (self.at >= 0) & ~self.stale

    def of(self, record: int) -> StoredVerdict | None:
        number = int(self.at[record])
        return None if number < 0 else self.verdicts[number]


def as_said_of_gold(stored: StoredVerdict) -> StoredVerdict:
    """Return a verdict for the prediction beside a gold span as it reads beside another prediction, or none.

    Where the prediction is right, neither is here, but it; where both are, gold is.
    """
    right = replacing_spans(stored)
    kind: Kind = "gold" if stored.verdict.kind == "both" else "neither"
    return structs.replace(
        stored, verdict=structs.replace(stored.verdict, kind=kind, right=() if kind == "gold" else right)
    )


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
    parts = layer.parts(span)
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


def verdict_subjects(about: Records, records: Iterable[int]) -> Iterator[VerdictSubject]:
    """Yield the `verdict_subject` of several records."""
    rows, layers, scored = about.rows, about.read, about.scores.layers(about.criterion)
    documents = original(layers[0].documents)
    for record in records:
        own = 0 if rows.anchored[record] else 1
        spans = [int(side[record]) for side in (rows.gold, rows.pred)]
        key = key_of(layers[own], _place_as_read(layers[own], scored[own], spans[own]), ("gold", "pred")[own])
        other = 1 - own
        has_partner = spans[other] >= 0
        place = _place_as_read(layers[other], scored[other], spans[other]) if has_partner else -1
        partner = marked(layers[other], place) if has_partner else None
        number = int(rows.doc[record])
        yield key, partner, Seen.of(documents.ids[number], documents.texts[number], key.span)


def attach_verdicts(about: Records) -> AttachedVerdicts:
    """Return the standing verdicts on records."""
    assert about.others is not None, "verdicts come with what else is known of the corpus"
    reviewed = about.others.reviewed
    cached = _ATTACHED.get(about.rows)
    if cached is None or cached[0] != reviewed.moment:
        updated = None if cached is None else _attached_anew(about, *cached, reviewed)
        # Not the verdicts of that moment: they are those on all corpora of a server.
        cached = (reviewed.moment, updated or _attached(about, reviewed, about.others.layers))
        _ATTACHED[about.rows] = cached
    return cached[1]


def places(about: Records, keys: Sequence[tuple[Key, str]]) -> list[int | None]:
    """Return the position of each key's record, None where its text, or its span on both sides, is gone.

    A key comes with the id of its document, which is preferred among several documents of the same text.
    """
    if _by_token(about):
        return [None] * len(keys)
    by_digest, sides, ids = _numbers(about.read[0].documents), _sides(about), about.read[0].documents.ids
    positions: list[int | None] = []
    for key, document in keys:
        if key.side == UNMARKED:
            positions.append(None)
            continue
        own = int(key.side == "pred")
        numbers = sorted(by_digest.get(key.text, ()), key=lambda number: ids[number] != document)
        # Where the layers have changed places the other one has the span.
        spans = (
            (side, span)
            for side in (own, 1 - own)
            for number in numbers
            for span in _same(about.read[side], number, key.span)
        )
        positions.append(next((record for side, span in spans for record in sides.records(side, span)), None))
    return positions


def records_of_layers(layers: Sequence[Layer], reviewed: Reviewed) -> frozenset[str]:
    """Return, by `Key.record`, those with a verdict ever given whose span gold or system has, whichever of the two.

    An entity that nobody had marked needs no more than its text.
    """
    by_digest = _numbers(layers[0].documents)
    return frozenset(
        record
        for record, stored in reviewed.last.items()
        if (numbers := by_digest.get(stored.verdict.key.text))
        and (
            stored.verdict.key.side == UNMARKED
            or any(_same(layer, number, stored.verdict.key.span) for layer in layers for number in numbers)
        )
    )


def turned_for_layers(stored: StoredVerdict, layers: Sequence[Layer], documents: Iterable[int]) -> StoredVerdict:
    """Return a verdict as it reads beside gold and a system: turned where of the two only the other has its span.

    `documents` are the numbers of those with its text.
    """
    key, partner = stored.verdict.key, stored.verdict.partner
    if key.side == UNMARKED:
        return stored
    own, numbers = int(key.side == "pred"), list(documents)
    if any(_same(layers[own], number, key.span) for number in numbers):
        return stored
    if not any(_same(layers[1 - own], number, key.span) for number in numbers):
        return stored
    has_partner = partner is not None and any(_same(layers[0], number, partner) for number in numbers)
    return turned(stored, has_partner=has_partner)


def turned_verdicts(reviewed: Reviewed, gold: Layer, system: Layer) -> Reviewed:
    """Return the verdicts as they read beside gold and a system, see `turned_for_layers`; itself where none differs.

    Of two verdicts that turn out to be on one record the later one is in force.
    """
    numbers = _numbers(gold.documents)
    return reviewed.turned(
        lambda stored: turned_for_layers(stored, (gold, system), numbers.get(stored.verdict.key.text, ()))
    )


def _by_token(about: Records) -> bool:
    criteria = {criterion.name: criterion for criterion in about.scores.criteria}
    return criteria[about.criterion].unit == "token"


def _place_as_read(read: Layer, scored: Layer, span: int) -> int:
    """Return the index of a scored span in the layer as it was read, without computing those of all spans."""
    number = span if scored.order is None else int(scored.order[span])
    return number if read.order is None else int(_by_order(read, read.order)[number])


def _places(read: Layer, scored: Layer) -> NDArray[Any]:
    """Return the index of each scored span in the layer as it was read."""
    if read.order is None:
        return np.arange(len(scored)) if scored.order is None else scored.order
    assert scored.order is not None, "what is taken of a layer keeps the order that it was read in"
    return _by_order(read, read.order)[scored.order]


def _by_order(read: Layer, order: NDArray[Any]) -> NDArray[Any]:
    """Return the index of each span in a layer by its number in the order that it was read in, computed once."""
    if read not in _BY_ORDER:
        by_order = np.full(int(order.max(initial=-1)) + 1, -1, np.int32)
        by_order[order] = np.arange(len(read))
        _BY_ORDER[read] = by_order
    return _BY_ORDER[read]


def read_verdict(about: Records, stored: StoredVerdict) -> StoredVerdict:
    """Return a verdict as it reads beside the layers of these records, see `turned_for_layers`."""
    numbers = _numbers(about.read[0].documents)
    return turned_for_layers(stored, about.read, numbers.get(stored.verdict.key.text, ()))


def _numbers(documents: Documents) -> dict[str, list[int]]:
    """Return the numbers of the documents by the digest of their text, computed once."""
    documents = original(documents)
    if documents not in _NUMBERS:
        numbers: dict[str, list[int]] = {}
        for number, digest in enumerate(text_digests(documents)):
            numbers.setdefault(digest, []).append(number)
        _NUMBERS[documents] = numbers
    return _NUMBERS[documents]


def decided_records(
    scores: Scores, criterion: str, rows: Rows, layers: tuple[Layer, Layer], reviewed: Reviewed
) -> NDArray[np.bool_]:
    """Return which records of two layers verdicts decide, shape (records,): see `AttachedVerdicts.decided`."""
    return _attached(Records(scores, criterion, rows, layers), reviewed, layers).decided


def _attached(about: Records, reviewed: Reviewed, layers: Sequence[Layer]) -> AttachedVerdicts:
    """Return the standing verdicts on all records; `layers` are all that are known of the documents."""
    attaching = _Attaching(about, layers, np.full(len(about.rows), -1, np.int32), np.zeros(len(about.rows), bool), [])
    # Runs of tokens are not spans: nobody decides on one.
    if not _by_token(about):
        attaching.put_all(reviewed)
    return attaching.done()


def _attached_anew(
    about: Records, before: Moment, attached: AttachedVerdicts, reviewed: Reviewed
) -> AttachedVerdicts | None:
    """Return the standing verdicts after a few more, None where there are many: all records are looked at then.

    A verdict touches the documents of its text, or, without one, the document that it was given on. The verdicts of the
    documents touched are put on their records again, all others stay.
    """
    news = reviewed.since(before)
    if news is None or len(news) > FEW or len(attached.verdicts) > 2 * len(attached.at) + FEW or _by_token(about):
        return None
    documents = original(about.read[0].documents)
    numbers, digests = _numbers(documents), text_digests(documents)
    touched = {number for stored in news for number in numbers.get(stored.verdict.key.text, ())}
    for stored in news:
        number = documents.index.get(stored.verdict.seen.document)
        if number is not None:
            touched.add(number)
    # Documents of one text share their verdicts.
    touched = {also for number in touched for also in numbers[digests[number]]}
    texts = {digests[number] for number in touched} | {stored.verdict.key.text for stored in news}
    affected = reviewed.among(texts, {documents.ids[number] for number in touched})
    again = {id(stored) for stored in (*news, *affected.last.values())}
    assert about.others is not None, "verdicts come with what else is known of the corpus"
    attaching = _Attaching(
        about, about.others.layers, attached.at.copy(), attached.stale.copy(), list(attached.verdicts)
    )
    first = _sides(about).first
    for number in touched:
        low, high = first[number : number + 2].tolist()
        attaching.at[low:high], attaching.old[low:high] = -1, False
    attaching.lost = [stored for stored in attached.lost if id(stored) not in again]
    attaching.unmarked = [stored for stored in attached.unmarked if id(stored) not in again]
    attaching.put_all(affected, only=touched)
    return attaching.done()


class _Attaching:
    """Verdicts being put on records: `at` and `old` as `at` and `stale` of AttachedVerdicts."""

    def __init__(
        self,
        about: Records,
        layers: Sequence[Layer],
        at: NDArray[np.int32],
        old: NDArray[np.bool_],
        verdicts: list[StoredVerdict],
    ) -> None:
        self.about, self.layers = about, layers
        self.at, self.old, self.verdicts = at, old, verdicts
        self.lost: list[StoredVerdict] = []
        self.unmarked: list[StoredVerdict] = []
        # How well a verdict fits its record: the one that fits best stays, of several the last.
        self.fits = np.zeros(len(at), np.int8)

    def done(self) -> AttachedVerdicts:
        lost, unmarked = (
            tuple(sorted(verdicts, key=lambda stored: stored.number)) for verdicts in (self.lost, self.unmarked)
        )
        return AttachedVerdicts(tuple(self.verdicts), frozen(self.at), frozen(self.old), lost, unmarked)

    def put_all(self, reviewed: Reviewed, only: Collection[int] | None = None) -> None:
        """Put the verdicts that stand on the records of their documents, or of `only` some documents, by number."""
        if not reviewed.standing:
            return
        documents = original(self.about.read[0].documents)
        by_digest = _numbers(documents)
        for stored in reviewed.standing:
            numbers = by_digest.get(stored.verdict.key.text)
            if numbers is None and reviewed.by_text_alone:
                continue
            if stored.verdict.key.side == UNMARKED:
                # Of documents of one text each has its own, see below.
                if numbers is not None and len(numbers) == 1 and (only is None or numbers[0] in only):
                    self.unmarked.append(stored)
                continue
            if numbers is None:
                number = documents.index.get(stored.verdict.seen.document)
                if number is not None and (only is None or number in only):
                    self._put_stale(stored, number, documents.texts[number])
            elif only is None or numbers[0] in only:
                self._put_on_text(stored, numbers)
        # A document of a text that repeats shows the verdict that was given on it, before one on another document.
        for (digest, name), own_given in reviewed.by_document.items():
            numbers = by_digest.get(digest, [])
            here = [number for number in numbers if documents.ids[number] == name]
            if not here or len(numbers) == 1 or (only is not None and here[0] not in only):
                continue
            self.unmarked += [stored for stored in own_given if stored.verdict.key.side == UNMARKED]
            for stored in own_given:
                if stored.verdict.key.side != UNMARKED:
                    self._put_on_document(stored, here[0], _SPAN_HERE)

    def _put(self, records: Iterable[int], stored: StoredVerdict, fit: int) -> bool:
        has_records = False
        for record in records:
            has_records = True
            if fit >= self.fits[record]:
                self.at[record], self.fits[record], self.old[record] = len(self.verdicts), fit, fit == _STALE
        self.verdicts.append(stored)
        return has_records

    def _put_stale(self, stored: StoredVerdict, number: int, text: str) -> None:
        """Put a verdict whose text is gone on the record at the place of its quote in its document."""
        place, side = _found_again(stored, text), stored.verdict.key.side
        near = [] if place is None else _sides(self.about).around(self.about.rows, number, *place, side)
        if not self._put(near, stored, _STALE):
            self.lost.append(stored)

    def _put_on_text(self, stored: StoredVerdict, numbers: Sequence[int]) -> None:
        """Put a verdict on the records of its span in the documents of its text; stale where no layer has the span."""
        key, sides, about = stored.verdict.key, _sides(self.about), self.about
        has_span = False
        for number in numbers:
            has_span |= self._put_on_document(stored, number, _SPAN)
        if has_span or any(_same(layer, number, key.span) for layer in self.layers for number in numbers):
            return
        gold = about.read[0]
        if is_carried_out(stored, lambda span: any(_same(gold, number, span) for number in numbers)):
            self._put_carried_out(stored, numbers)
            return
        near = [
            record
            for number in numbers
            for record in sides.around(about.rows, number, key.span.start, key.span.end, key.side)
        ]
        if not self._put(near, stored, _STALE):
            self.lost.append(stored)

    def _put_carried_out(self, stored: StoredVerdict, numbers: Sequence[int]) -> None:
        """Put a verdict on the records of the spans that gold has in place of its own: gold is right, as it says."""
        for span in replacing_spans(stored):
            key = structs.replace(stored.verdict.key, span=span)
            verdict = structs.replace(stored.verdict, key=key, kind="gold", partner=None, right=())
            for number in numbers:
                self._put_on_document(structs.replace(stored, verdict=verdict), number, _CARRIED_OUT)

    def _put_on_document(self, stored: StoredVerdict, number: int, fit: int) -> bool:
        """Put a verdict on the records of its span in a document, turned where only the other side has the span."""
        verdict = turned_for_layers(stored, self.about.read, [number])
        own = int(stored.verdict.key.side == "pred")
        side = own if verdict is stored else 1 - own
        partner = stored.verdict.partner
        spans = _same(self.about.read[side], number, stored.verdict.key.span)
        records = [record for span in spans for record in _sides(self.about).records(side, span)]
        # A prediction decided on by itself is met again beside another span.
        if side == own == 1 or stored.verdict.kind not in ("both", _OTHER_SIDE[stored.verdict.key.side]):
            self._put(records, verdict, fit)
        else:
            others = [record for record in records if not self._is_judged(record, 1 - side, number, partner)]
            self._put([record for record in records if record not in others], verdict, fit)
            if verdict is stored:
                self._put(others, as_said_of_gold(verdict), fit)
        if verdict is stored and own == 0 and partner is not None:
            self._put_on_judged(stored, number, partner)
        return bool(spans)

    def _put_on_judged(self, stored: StoredVerdict, number: int, partner: Marked) -> None:
        """Put a verdict on a gold span on the record of the prediction that was judged, where that is another one."""
        rows, sides = self.about.rows, _sides(self.about)
        records = [record for span in _same(self.about.read[1], number, partner) for record in sides.records(1, span)]
        alone = [record for record in records if rows.gold[record] < 0]
        if alone:
            self._put(alone, stored, _JUDGED)

    def _is_judged(self, record: int, side: int, number: int, partner: Marked | None) -> bool:
        """Return whether a side of a record has the span that a verdict was given on, None for none.

        Criteria pair spans in ways of their own: it is enough that the layer has it.
        """
        if partner is not None:
            return bool(_same(self.about.read[side], number, partner))
        rows = self.about.rows
        return int((rows.gold, rows.pred)[side][record]) < 0


_OTHER_SIDE: Mapping[str, Kind] = {"gold": "pred", "pred": "gold"}
_STALE, _JUDGED, _CARRIED_OUT, _SPAN, _SPAN_HERE = 1, 2, 3, 4, 5


def _sides(about: Records) -> _Sides:
    """Return the records of the spans of both sides, computed once."""
    if about.rows not in _SIDES:
        _SIDES[about.rows] = _Sides(about)
    return _SIDES[about.rows]


class _Sides:
    """The records of the spans of both sides as they were read. It does not hold the records, which it is kept by."""

    def __init__(self, about: Records) -> None:
        rows = about.rows
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
            for record_of_span, is_chosen in ((self.named, own), (self.beside, ~own & (spans >= 0))):
                records = np.full(len(scored), -1, np.int64)
                records[spans[is_chosen]] = np.flatnonzero(is_chosen)
                record_of_span.append(records)

    def records(self, side: int, span: int) -> list[int]:
        """Return the records of a span as read: its own, and the one in which it is the partner."""
        scored = int(self.scored[side][span])
        if scored < 0:
            return []
        records = [int(record_of_span[side][scored]) for record_of_span in (self.named, self.beside)]
        return [record for record in records if record >= 0]

    def around(self, rows: Rows, document: int, start: int, end: int, side: str) -> list[int]:
        """Return, in a list, the record of a document that shares most characters with a place; empty if none does."""
        low, high = self.first[document : document + 2].tolist()
        if low == high:
            return []
        nearby = rows.take(np.arange(low, high))
        starts = nearby.of_spans(self.layers[0].start, self.layers[1].start)
        ends = nearby.of_spans(self.layers[0].end, self.layers[1].end)
        shared = np.minimum(ends, end) - np.maximum(starts, start)
        if shared.max() <= 0:
            return []
        same = nearby.anchored == (side == "gold")
        return [low + int(np.lexsort((same, -np.abs(ends - starts - (end - start)), shared))[-1])]


def _same(layer: Layer, document: int, span: Marked) -> list[int]:
    """Return the indices of a document's spans with these fragments and this type; looked for once a layer."""
    spans_of = _FOUND.setdefault(layer, {})
    if (document, span) not in spans_of:
        spans_of[document, span] = _search(layer, document, span)
    return spans_of[document, span]


def _search(layer: Layer, document: int, span: Marked) -> list[int]:
    low, high = layer.first[document : document + 2].tolist()
    is_there = (layer.start[low:high] == span.start) & (layer.end[low:high] == span.end)
    return [low + at for at in np.flatnonzero(is_there).tolist() if marked(layer, low + at) == span]


def _found_again(stored: StoredVerdict, text: str) -> tuple[int, int] | None:
    """Return the place of a verdict's span in a changed text, by its quote and the characters around it."""
    context, span = stored.verdict.seen, stored.verdict.key.span
    quote = context.quote.split(" ")[0] if len(span.fragments) > 1 else context.quote
    if not quote:
        return None
    exact = text.find(context.before + quote + context.after)
    if exact >= 0:
        low = exact + len(context.before)
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
    n_with_verdict: int


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
    drafts: dict[str, Draft] = {}
    for done, (key, partner, context) in enumerate(verdict_subjects(about, records.tolist()), start=1):
        drafts[key.record] = Draft(Verdict(key, kind, context, partner, note=note), stands.version(key))
        if not done % PROGRESS_RECORDS:
            tell(done)
    return tuple(drafts.values())


def verdicts_since(about: Records, positions: NDArray[np.int32], number: int) -> tuple[StoredVerdict, ...]:
    """Return the standing verdicts on records that were stored after the verdict with this number."""
    attached = attach_verdicts(about)
    places = np.unique(attached.at[positions])
    verdicts = {attached.verdicts[place].number: attached.verdicts[place] for place in places[places >= 0].tolist()}
    return tuple(verdicts[later] for later in sorted(verdicts) if later > number)
