"""Bring a prediction onto gold's documents: by id, by order, or by the stream of tokens.

Where the texts are equal only document numbers change. Where they differ and both sides have tokens, spans are carried
over by token number: silently counted where only white space differs, on request where tokens are spelt differently.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import zip_longest
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from nereval_core.corpus import SPAN_KEYS, Documents, Fragments, Int64, Layer, frozen
from nereval_core.errors import FormatError, Problem, one_of, quoted
from nereval_core.likeness import same_texts, same_tokens
from nereval_core.readers import Reading

Missing = Literal["error", "empty"]
TokenText = Literal["own", "gold"]
Bools = NDArray[np.bool_]

OTHER_TEXT = "score each prediction against the text it was made from"
OTHER_TOKENS = "give the prediction with gold's tokens"
LEFT_EMPTY = "count what is missing at the end as predicted empty: --missing empty"
RESPELT = "--token-text gold takes gold's text"
COUNTED = re.compile(r"(missing counted empty: |token text from gold: )([0-9]+) (document|token)s?")
"""Marks that hold a number, which adds up over the parts of a corpus."""
RESTRICTED = re.compile(r"restricted to ([0-9]+) of ([0-9]+) documents")
"""The mark of a list of documents: both numbers add up."""


@dataclass(frozen=True, eq=False)
class Paired:
    """A predicted layer over gold's documents; `marks` is what of it must stand in the signature."""

    layer: Layer
    notes: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()


def pair(gold: Reading, pred: Reading, *, missing: Missing = "error", token_text: TokenText = "own") -> Paired:
    """Return the prediction's layer over gold's documents.

    Documents are paired by id, or by order where a side has none; a prediction cut into other units than gold's is
    split by gold's token counts. `missing="empty"` counts a document that the prediction lacks as predicted empty
    (by order: at the end only). `token_text="gold"` allows tokens spelt differently where their number is the same.

    Raises:
        FormatError: a document missing or extra, differing text or tokens, a span that cannot be carried over; each
            problem names the place in the prediction and the place in gold.
    """
    one_of("missing", missing, Missing)
    one_of("token_text", token_text, TokenText)
    ours, theirs = gold.documents, pred.documents
    notes: list[str] = []
    sides = (("gold", gold), ("pred", pred))
    marks = [f"{side} repaired: {reading.mended}" for side, reading in sides if reading.mended]
    marks += _selected(gold, pred)
    if theirs is ours:
        return Paired(pred.layer, (), tuple(marks))
    to: Int64 | None
    if ours.named and theirs.named:
        to = _by_id(gold, pred, missing)
    else:
        without = [side for side, documents in (("gold", ours), ("prediction", theirs)) if not documents.named]
        notes.append(f"paired by order: no document ids in {' and '.join(without)}")
        to = _by_order(gold, pred, missing)
    if to is None:
        notes.append("the prediction is cut into other units: split by gold's token counts")
        return _carried(gold, pred, _stream(ours, theirs), token_text, notes, marks)
    absent = len(ours) - len(to)
    if absent:
        marks.append(missing_mark(absent))
        notes.append(f"{_count(absent, 'document')} missing from the prediction counted as predicted empty")
    same = same_texts(ours.texts, theirs.texts, to)
    if bool(same.all()) and same_tokens(ours, theirs, to):
        return Paired(_renumbered(pred.layer, ours, to), tuple(notes), tuple(marks))
    # Equal texts with other tokens are refused here.
    match = _Match(to, same, _matched_tokens(gold, pred, to, same))
    return _carried(gold, pred, match, token_text, notes, marks)


def missing_mark(documents: int) -> str:
    """Return the mark of so many documents counted as predicted empty."""
    return f"missing counted empty: {_count(documents, 'document')}"


def added_marks(parts: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    """Return the marks of a whole from those of its parts: what is counted in them is added up."""
    counts: dict[tuple[str, str], int] = {}
    some, every = 0, 0
    for mark in (mark for part in parts for mark in part):
        if match := RESTRICTED.fullmatch(mark):
            some, every = some + int(match[1]), every + int(match[2])
            mark = RESTRICTED.pattern
        found = COUNTED.fullmatch(mark)
        what = (found[1], found[3]) if found else (mark, "")
        counts[what] = counts.get(what, 0) + (int(found[2]) if found else 0)
    told = {said: said for said, _ in counts} | {RESTRICTED.pattern: f"restricted to {some} of {every} documents"}
    return tuple(f"{said}{_count(count, what)}" if what else told[said] for (said, what), count in counts.items())


def _selected(gold: Reading, pred: Reading) -> Iterator[str]:
    """Yield the marks of what was chosen of both sides: documents and names of types."""
    if gold.restricted:
        yield f"restricted to {gold.restricted}"
    if gold.mapped and gold.mapped == pred.mapped:
        yield f"types mapped: {gold.mapped}"
    else:
        yield from (
            f"{side} types mapped: {one.mapped}" for side, one in (("gold", gold), ("pred", pred)) if one.mapped
        )


@dataclass(frozen=True, eq=False)
class _Match:
    """Where a prediction's documents and tokens are found in gold.

    `to` is the gold document of each predicted one, None where they are cut differently; `same` says whose text is
    equal; `tokens` is the gold token of each predicted token, both counted over all documents, -1 where not known.
    """

    to: Int64 | None
    same: Bools
    tokens: Int64


def _by_id(gold: Reading, pred: Reading, missing: Missing) -> Int64:
    """Return the gold document of each predicted one."""
    ours, theirs = gold.documents, pred.documents
    if ours.ids == theirs.ids:
        return np.arange(len(ours))
    to = np.fromiter((ours.index.get(name, -1) for name in theirs.ids), np.int64, len(theirs))
    if len(to) and bool((to < 0).all()):
        found = f"no document of {_name(gold)}: the first here is {quoted(theirs.ids[0])}, there {quoted(ours.ids[0])}"
        raise FormatError.single(*_place(pred, 0), found, "give both sides the same document ids")
    problems = [
        Problem(
            *_place(pred, number),
            f"document {quoted(theirs.ids[number])} is not in {_name(gold)}",
            "leave it out, or give it the id it has in gold",
        )
        for number in np.flatnonzero(to < 0).tolist()
    ]
    if missing == "error":
        present = np.zeros(len(ours), np.bool_)
        present[to[to >= 0]] = True
        problems += [
            Problem(
                _name(pred),
                None,
                f"document {quoted(ours.ids[number])} ({_shown(gold, number)}) is missing",
                "add it, or count it as predicted empty: --missing empty",
            )
            for number in np.flatnonzero(~present).tolist()
        ]
    if problems:
        raise FormatError(problems)
    return to


def _by_order(gold: Reading, pred: Reading, missing: Missing) -> Int64 | None:
    """Return the gold document of each predicted one, or None where the token streams are to be matched instead."""
    ours, theirs = gold.documents, pred.documents
    if ours.tokens is None or theirs.tokens is None:
        if len(ours) == len(theirs):
            return np.arange(len(ours))
        if missing == "empty" and ours.texts[: len(theirs)] == theirs.texts:
            return np.arange(len(theirs))
        raise FormatError([_text_parting(gold, pred)])
    here, there = np.diff(theirs.tokens.first), np.diff(ours.tokens.first)
    if len(here) == len(there) and bool(np.all(here == there)):
        return np.arange(len(ours))
    if here.sum() == there.sum():
        return None
    if missing == "empty" and _begins(here, there):
        return np.arange(len(theirs))
    raise FormatError([_token_parting(gold, pred)])


def _begins(here: Int64, there: Int64) -> bool:
    return len(here) < len(there) and bool(np.all(here == there[: len(here)]))


def _stream(ours: Documents, theirs: Documents) -> _Match:
    assert theirs.tokens is not None
    return _Match(None, np.zeros(len(theirs), np.bool_), np.arange(len(theirs.tokens.starts)))


def _matched_tokens(gold: Reading, pred: Reading, to: Int64, same: Bools) -> Int64:
    """Return the gold token of each predicted one, documents being matched.

    Raises:
        FormatError: texts that differ without tokens to carry spans over by, or tokens that differ in number, or, the
            text being equal, in boundaries.
    """
    ours, theirs = gold.documents, pred.documents
    zeros = np.zeros(len(theirs), np.int64)
    here = zeros if theirs.tokens is None else np.diff(theirs.tokens.first)
    there = zeros if ours.tokens is None else np.diff(ours.tokens.first)[to]
    both = (here > 0) & (there > 0)
    problems = [_other_text(gold, pred, number, int(to[number])) for number in np.flatnonzero(~same & ~both).tolist()]
    unequal = both & (here != there)
    if theirs.tokens is None or ours.tokens is None:
        tokens = np.full(int(here.sum()), -1)
    else:
        doc = np.repeat(np.arange(len(theirs)), here)
        tokens = np.arange(len(doc)) + (ours.tokens.first[to] - theirs.tokens.first[:-1])[doc]
        tokens[~(both & ~unequal)[doc]] = -1
        known = np.flatnonzero(same[doc] & (tokens >= 0))
        moved = (theirs.tokens.starts[known] != ours.tokens.starts[tokens[known]]) | (
            theirs.tokens.ends[known] != ours.tokens.ends[tokens[known]]
        )
        unequal[doc[known[moved]]] = True
    problems += [_other_tokens(gold, pred, number, int(to[number])) for number in np.flatnonzero(unequal).tolist()]
    if problems:
        raise FormatError(problems)
    return tokens


def _carried(
    gold: Reading, pred: Reading, match: _Match, token_text: TokenText, notes: list[str], marks: list[str]
) -> Paired:
    """Return the layer with its spans carried over by token number where the texts differ."""
    ours, theirs = gold.documents, pred.documents
    respelt = _respelt(gold, pred, match, token_text)
    count = int(respelt.sum())
    if count:
        marks.append(f"token text from gold: {_count(count, 'token')}")
        notes.append(f"{_count(count, 'token')} spelt differently than in gold: gold's text taken")
    elif match.to is not None:
        spaced = int((~match.same).sum())
        notes.append(f"{_count(spaced, 'document')} with other white space than in gold: spans carried over by token")

    move = _Mover(ours, theirs, match, respelt)
    layer = pred.layer
    doc, start, end, why = move(layer.doc.astype(np.int64), layer.start.astype(np.int64), layer.end.astype(np.int64))
    extras, odd = _moved_extras(layer, move)
    problems = [
        _stuck(gold, pred, span, REASONS[int(why[span])] if why[span] else odd[span])
        for span in sorted({*np.flatnonzero(why).tolist(), *odd})
    ]
    if problems:
        raise FormatError(problems)
    moved: dict[str, Any] = {key: MappingProxyType(extra) for key, extra in extras.items()}
    carried = replace(
        layer,
        documents=ours,
        start=frozen(start.astype(np.int32)),
        end=frozen(end.astype(np.int32)),
        **moved,
    )
    return Paired(_reordered(carried, doc), tuple(notes), tuple(marks))


OFF_TOKENS, INSIDE_RESPELT, ACROSS = 1, 2, 3
REASONS = {
    OFF_TOKENS: "does not begin and end in a token, so it cannot be carried over to gold's text",
    INSIDE_RESPELT: "begins or ends inside a token that gold spells differently",
    ACROSS: "reaches over a document boundary of gold",
}


@dataclass(frozen=True, eq=False)
class _Mover:
    """Carries offsets of the prediction's documents over to gold's; called with columns of equal length."""

    ours: Documents
    theirs: Documents
    match: _Match
    respelt: Bools

    def __call__(self, doc: Int64, start: Int64, end: Int64) -> tuple[Int64, Int64, Int64, NDArray[np.int8]]:
        """Return gold document, start and end, and why a span cannot be moved (key of REASONS, 0 where it can)."""
        why = np.zeros(len(doc), np.int8)
        still = self.match.same[doc]
        to = doc.copy() if self.match.to is None else self.match.to[doc]
        start, end = start.copy(), end.copy()
        rows = np.flatnonzero(~still)
        if not len(rows):
            return to, start, end, why
        assert self.ours.tokens is not None and self.theirs.tokens is not None
        # All tokens in a row: positions count from the start of the first document.
        owner = np.repeat(np.arange(len(self.theirs)), np.diff(self.theirs.tokens.first))
        lows, highs = (
            self.theirs.tokens.starts + self.theirs.base[owner],
            self.theirs.tokens.ends + self.theirs.base[owner],
        )
        base = self.theirs.base[doc[rows]]
        one = np.searchsorted(lows, start[rows] + base, side="right") - 1
        two = np.searchsorted(lows, end[rows] + base - 1, side="right") - 1
        off = (one < 0) | (start[rows] + base >= highs[one]) | (end[rows] + base > highs[two])
        before, after = start[rows] + base - lows[one], highs[two] - end[rows] - base
        inside = (self.respelt[one] & (before > 0)) | (self.respelt[two] & (after > 0))
        first, last = self.match.tokens[one], self.match.tokens[two]
        place = np.repeat(np.arange(len(self.ours)), np.diff(self.ours.tokens.first))
        why[rows] = np.select(
            [off, inside, place[first] != place[last]], [OFF_TOKENS, INSIDE_RESPELT, ACROSS], 0
        ).astype(np.int8)
        to[rows] = place[first]
        start[rows] = self.ours.tokens.starts[first] + before
        end[rows] = self.ours.tokens.ends[last] - after
        return to, start, end, why


def _moved_extras(layer: Layer, move: _Mover) -> tuple[dict[str, dict[int, Any]], dict[int, str]]:
    """Return fragments, cores and alternatives with moved offsets, and by span why one could not be moved."""
    moved: dict[str, dict[int, Any]] = {}
    odd: dict[int, str] = {}
    home, *_ = move(layer.doc.astype(np.int64), layer.start.astype(np.int64), layer.end.astype(np.int64))
    parts: Mapping[int, Fragments]
    for key, what in (("fragments", "fragment"), ("cores", "core"), ("alternatives", "alternative")):
        extra = getattr(layer, key)
        parts = {span: (value,) for span, value in extra.items()} if key == "cores" else extra
        flat = np.array([(span, *edges) for span, value in parts.items() for edges in value], np.int64).reshape(-1, 3)
        doc, start, end, why = move(layer.doc[flat[:, 0]].astype(np.int64), flat[:, 1], flat[:, 2])
        why[(why == 0) & (doc != home[flat[:, 0]])] = ACROSS
        for row in np.flatnonzero(why).tolist():
            low, high = flat[row, 1:].tolist()
            odd[int(flat[row, 0])] = f"has a {what} [{low}, {high}) that {REASONS[int(why[row])]}"
        rows = iter(zip(start.tolist(), end.tolist(), strict=True))
        found = {span: tuple(next(rows) for _ in value) for span, value in parts.items()}
        moved[key] = {span: value[0] for span, value in found.items()} if key == "cores" else found
    return moved, odd


def _respelt(gold: Reading, pred: Reading, match: _Match, token_text: TokenText) -> Bools:
    """Return which predicted tokens are spelt otherwise in gold.

    Raises:
        FormatError: some are, and `token_text` does not allow it.
    """
    ours, theirs = gold.documents, pred.documents
    assert ours.tokens is not None and theirs.tokens is not None
    respelt = np.zeros(len(theirs.tokens.starts), np.bool_)
    if match.to is None:
        pairs = zip(_token_texts(theirs), _token_texts(ours), strict=True)
        respelt[:] = np.fromiter((one != two for one, two in pairs), np.bool_, len(respelt))
    else:
        for number in np.flatnonzero(~match.same).tolist():
            here, there = _tokens_of(theirs, number), _tokens_of(ours, int(match.to[number]))
            low = int(theirs.tokens.first[number])
            respelt[low : low + len(here)] = [one != two for one, two in zip(here, there, strict=True)]
    if token_text == "own" and bool(respelt.any()):
        raise FormatError(_spellings(gold, pred, match, respelt))
    return respelt


def _spellings(gold: Reading, pred: Reading, match: _Match, respelt: Bools) -> Iterator[Problem]:
    """Yield a problem for each predicted document with tokens spelt otherwise in gold."""
    ours, theirs = gold.documents, pred.documents
    assert ours.tokens is not None and theirs.tokens is not None
    odd = np.flatnonzero(respelt)
    doc = np.searchsorted(theirs.tokens.first, odd, side="right") - 1
    numbers, starts, counts = np.unique(doc, return_index=True, return_counts=True)
    for number, token, count in zip(numbers.tolist(), odd[starts].tolist(), counts.tolist(), strict=True):
        other = int(match.tokens[token])
        there = int(np.searchsorted(ours.tokens.first, other, side="right")) - 1
        yield Problem(
            *_place(pred, number),
            f"document {quoted(theirs.ids[number])} spells {_count(count, 'token')} otherwise than gold, the first "
            f"{_token(pred, token)} where {_shown(gold, there)} has {_token(gold, other)}",
            RESPELT,
        )


def _renumbered(layer: Layer, documents: Documents, to: Int64) -> Layer:
    """Return the layer over gold's documents, the offsets being right as they are."""
    if bool(np.all(to == np.arange(len(to)))):
        return replace(layer, documents=documents)
    return _reordered(replace(layer, documents=documents), to[layer.doc])


def _reordered(layer: Layer, doc: Int64) -> Layer:
    """Return the layer with these document numbers, sorted by them; within a document the order stays."""
    if bool(np.all(doc[1:] >= doc[:-1])):
        return replace(layer, doc=frozen(doc.astype(np.int32)))
    order = np.argsort(doc, kind="stable")
    read = np.arange(len(layer), dtype=np.int32) if layer.order is None else layer.order
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    new = place.tolist() if any(getattr(layer, key) for key in SPAN_KEYS) else []
    extras: dict[str, Any] = {
        key: MappingProxyType({new[span]: value for span, value in getattr(layer, key).items()}) for key in SPAN_KEYS
    }
    return replace(
        layer,
        doc=frozen(doc[order].astype(np.int32)),
        start=frozen(layer.start[order]),
        end=frozen(layer.end[order]),
        type=frozen(layer.type[order]),
        order=frozen(read[order]),
        **extras,
    )


def _other_text(gold: Reading, pred: Reading, here: int, there: int) -> Problem:
    one, two = pred.documents.texts[here], gold.documents.texts[there]
    at = _first_difference(one, two)
    return Problem(
        *_place(pred, here),
        f"document {quoted(pred.documents.ids[here])} differs from {_shown(gold, there)} at character {at}: "
        f"{_excerpt(one, at)} here, {_excerpt(two, at)} there",
        OTHER_TEXT,
    )


def _other_tokens(gold: Reading, pred: Reading, here: int, there: int) -> Problem:
    """Return the problem of two documents whose tokens differ in number or, the text being equal, in boundaries."""
    ours, theirs = gold.documents.tokens, pred.documents.tokens
    assert ours is not None and theirs is not None
    one, two = _tokens_of(pred.documents, here), _tokens_of(gold.documents, there)
    at = _first_difference(one, two)
    if len(one) == len(two) == at:
        # Equal words at other places: the text holds some of them twice.
        at = _first_difference(theirs.of_document(here), ours.of_document(there))
    return Problem(
        *_place(pred, here),
        f"document {quoted(pred.documents.ids[here])} has {_count(len(one), 'token')}, {_shown(gold, there)} has "
        f"{len(two)}; they part at token {at + 1}: {_word(one, at)} here, {_word(two, at)} there",
        OTHER_TOKENS,
    )


def _token_parting(gold: Reading, pred: Reading) -> Problem:
    """Return the problem of two token streams of unequal length, which no order can pair."""
    ours, theirs = gold.documents, pred.documents
    assert ours.tokens is not None and theirs.tokens is not None
    counts = len(theirs.tokens.starts), len(ours.tokens.starts)
    at = next(n for n, (one, two) in enumerate(zip_longest(_token_texts(theirs), _token_texts(ours))) if one != two)
    here, there = min(at, counts[0] - 1), min(at, counts[1] - 1)
    number = int(np.searchsorted(theirs.tokens.first, here, side="right")) - 1
    other = int(np.searchsorted(ours.tokens.first, there, side="right")) - 1
    ended = " (the end)"
    return Problem(
        *_place(pred, number),
        f"{_count(len(theirs), 'document')} and {_count(counts[0], 'token')} where {_name(gold)} has {len(ours)} and "
        f"{counts[1]}; they part at {_token(pred, here)}{ended * (at > here)} of document "
        f"{quoted(theirs.ids[number])}, where {_shown(gold, other)} has {_token(gold, there)}{ended * (at > there)}",
        OTHER_TOKENS + f", or {LEFT_EMPTY}" * _begins(np.diff(theirs.tokens.first), np.diff(ours.tokens.first)),
    )


def _text_parting(gold: Reading, pred: Reading) -> Problem:
    """Return the problem of documents that differ in number and can only be paired by order."""
    ours, theirs = gold.documents, pred.documents
    at = _first_difference(theirs.texts, ours.texts)
    here, there = min(at, len(theirs) - 1), min(at, len(ours) - 1)
    return Problem(
        *_place(pred, here),
        f"{_count(len(theirs), 'document')} where {_name(gold)} has {len(ours)}; they part at number {at + 1}: "
        f"{_excerpt(theirs.texts[here], 0) if at == here else 'nothing'} here, "
        f"{_excerpt(ours.texts[there], 0) if at == there else 'nothing'} there",
        "give as many documents as gold has, or document ids on both sides",
    )


def _stuck(gold: Reading, pred: Reading, span: int, why: str) -> Problem:
    layer = pred.layer
    number = int(layer.doc[span])
    return Problem(
        *_place(pred, number),
        f"span [{layer.start[span]}, {layer.end[span]}) {quoted(layer.text(span))} ({layer.label(span)}) of document "
        f"{quoted(pred.documents.ids[number])} {why} ({_name(gold)})",
        "make the span follow gold's tokens and documents",
    )


def _tokens_of(documents: Documents, number: int) -> list[str]:
    assert documents.tokens is not None
    text = documents.texts[number]
    return [text[low:high] for low, high in documents.tokens.of_document(number)]


def _token_texts(documents: Documents) -> Iterator[str]:
    for number in range(len(documents)):
        yield from _tokens_of(documents, number)


def _token(reading: Reading, token: int) -> str:
    """Return a token, counted over all documents, as its number in its document and its text."""
    tokens = reading.documents.tokens
    assert tokens is not None
    number = int(np.searchsorted(tokens.first, token, side="right")) - 1
    low, high = int(tokens.starts[token]), int(tokens.ends[token])
    return f"token {token - int(tokens.first[number]) + 1} {quoted(reading.documents.texts[number][low:high])}"


def _first_difference(one: Any, two: Any) -> int:
    """Return where two strings or sequences first differ: the shorter's length where one begins the other."""
    at = 0
    step = 4096
    while at < min(len(one), len(two)) and one[at : at + step] == two[at : at + step]:
        at += step
    limit = min(len(one), len(two))
    return next((n for n in range(min(at, limit), limit) if one[n] != two[n]), limit)


def _excerpt(text: str, at: int) -> str:
    return quoted(text[at : at + 20]) if at < len(text) else "the end"


def _word(tokens: list[str], at: int) -> str:
    return quoted(tokens[at]) if at < len(tokens) else "the end"


def _place(reading: Reading, number: int) -> tuple[str, int | None]:
    return reading.places[number] if number < len(reading.places) else (_name(reading), None)


def _shown(reading: Reading, number: int) -> str:
    """Return where a document stands, in words: file and line where known, and its id."""
    source, line = _place(reading, number)
    place = source if line is None else f"{source}:{line}"
    return f"{place}, document {quoted(reading.documents.ids[number])}"


def _name(reading: Reading) -> str:
    return reading.source or reading.layer.name


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
