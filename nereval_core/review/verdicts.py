"""Verdicts: decisions of people on spans, keyed by content so that they outlive runs, files and criteria.

A key consists of the digest of the text, the side, the fragments and the type; criterion, system and document id are
not part of it. Offsets are code points, end exclusive.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from sys import intern
from typing import Any, Literal, NamedTuple, cast, get_args

import msgspec
from msgspec import structs

from nereval_core.problems import FormatError, Problem, quoted

Side = Literal["gold", "pred", "none"]
"""The side that has a verdict's span; `none` is that of an entity which nobody had marked."""
UNMARKED: Side = "none"
Kind = Literal["gold", "pred", "both", "neither", "unclear", "withdrawn"]
WITHDRAWN: Kind = "withdrawn"
"""The kind of a verdict that withdraws another: afterwards none stands."""
KINDS: Mapping[Kind, str] = {
    "gold": "gold is right",
    "pred": "prediction is right",
    "both": "both are right",
    "neither": "neither is right",
    "unclear": "guideline unclear",
}
"""The five verdicts in the order of their keys 1 to 5, in words."""

NOTE_CHARACTERS = 10_000
"""Largest number of characters of a note."""
REVIEWER_CHARACTERS = 100
"""Largest number of characters of a reviewer's name."""
QUOTE_CHARACTERS = 200
"""Characters of a span's text, from its beginning, that are stored with a verdict."""
CONTEXT_CHARACTERS = 40
"""Characters stored from before and after the span, to find it again in a changed text."""
WORD_CHARACTERS = 10_000
"""Largest number of characters of a type or a document id."""
OFFSET_LIMIT = 2**31
"""Offsets are below it."""
BODY_BYTES = 2_000_000
"""Largest number of bytes of a verdict without its note."""

Fragments = tuple[tuple[int, int], ...]
ascii_json = json.encoder.encode_basestring_ascii
"""A string as JSON in ASCII, as `json.dumps` writes it."""


class Marked(NamedTuple):
    """A span of a text: its fragments in order (one where it is continuous) and its type as annotated."""

    fragments: Fragments
    type: str

    @property
    def start(self) -> int:
        return self.fragments[0][0]

    @property
    def end(self) -> int:
        return max(end for _, end in self.fragments)

    def quote(self, text: str) -> str:
        """Return the covered characters, fragments joined by blanks, cut at QUOTE_CHARACTERS."""
        return " ".join(text[start:end] for start, end in self.fragments)[:QUOTE_CHARACTERS]

    def quote_apart(self, text: str) -> str:
        """Return the covered characters with … for words between fragments that are not, cut as `quote` is."""
        words = text[self.fragments[0][0] : self.fragments[0][1]]
        for (_, before), (start, end) in pairwise(self.fragments):
            words += (" … " if text[before:start].strip() else " ") + text[start:end]
        return words[:QUOTE_CHARACTERS]


class Key(msgspec.Struct, frozen=True, dict=True):
    """The subject of a verdict: a span of one side in a text, given by the SHA-256 (hex) of its UTF-8.

    For an entity that nobody had marked it is the span as a reviewer first marked it, and stays that when the
    reviewer's spans (`Verdict.right`) change.
    """

    text: str
    side: Side
    span: Marked

    @cached_property
    def record(self) -> str:
        """The SHA-256 (hex) of the key, by which verdicts are looked up."""
        return record_of(self.text, self.side, self.span.fragments, self.span.type)


def record_of(text: str, side: str, fragments: Fragments, type_: str) -> str:
    """Return the `record` of the key with these parts."""
    parts = ", ".join([f"[{low}, {high}]" for low, high in fragments])
    content = f"[{ascii_json(text)}, {ascii_json(side)}, [{parts}], {ascii_json(type_)}]"
    return hashlib.sha256(content.encode()).hexdigest()


class Seen(msgspec.Struct, frozen=True):
    """The context that a reviewer saw: document id, characters of the span, and those before and after it."""

    document: str
    quote: str
    before: str = ""
    after: str = ""

    @classmethod
    def of(cls, document: str, text: str, span: Marked) -> Seen:
        low, high = max(0, span.start - CONTEXT_CHARACTERS), span.end + CONTEXT_CHARACTERS
        return cls(document, span.quote(text), text[low : span.start], text[span.end : high])


class Verdict(msgspec.Struct, frozen=True):
    """A verdict as a reviewer gives it.

    `partner` is the span of the other side that the key's span was compared with, None where there was none; it
    determines the meaning of `pred` and `both`. `right` are the correct spans where neither is right, none for no
    entity, and those of an entity that nobody had marked. `seen` shows the subject of the verdict when the text has
    changed.
    """

    key: Key
    kind: Kind
    seen: Seen
    partner: Marked | None = None
    right: tuple[Marked, ...] = ()
    note: str = ""


class StoredVerdict(msgspec.Struct, frozen=True):
    """A verdict as it is stored: with reviewer, time (ISO 8601, UTC) and its place in the history of its record.

    `version` counts the verdicts on one record from 1. `uid` identifies the verdict in all stores; verdicts given
    together share their `batch`. `undoes` is the uid of the verdict that it takes back, "" for none. `number` is its
    place in the store.
    """

    verdict: Verdict
    who: str
    at: str
    version: int
    uid: str
    batch: str
    undoes: str = ""
    number: int = 0

    @property
    def stands(self) -> bool:
        """Whether it decides anything: a withdrawal does not."""
        return self.verdict.kind != WITHDRAWN

    def is_of(self, who: Collection[str] | None, kinds: Collection[str] | None) -> bool:
        """Return whether it is of one of some reviewers and of some kinds, None for all."""
        return (who is None or self.who in who) and (kinds is None or self.verdict.kind in kinds)


class ConflictError(Exception):
    """Others have given verdicts on the same records meanwhile: `theirs` are those that stand now."""

    def __init__(self, theirs: Iterable[StoredVerdict]) -> None:
        self.theirs = tuple(theirs)
        what = "; ".join(given_in_words(stored) for stored in self.theirs)
        super().__init__(what or "the verdicts on these records are others now")


def turned(stored: StoredVerdict, *, has_partner: bool) -> StoredVerdict:
    """Return a verdict as it reads where the two layers have changed places: its span is now one of the other side.

    `has_partner`: gold, which was the other side, has the span that it was compared with. Such records are named by
    their gold span, others by the one that they have.
    """
    verdict = stored.verdict
    kind = _TURNED_KINDS.get(verdict.kind, verdict.kind)
    if verdict.key.side == "pred":
        key, partner = structs.replace(verdict.key, side="gold"), None
    elif verdict.partner is not None and has_partner:
        key, partner = structs.replace(verdict.key, span=verdict.partner), verdict.key.span
    else:
        key, partner = structs.replace(verdict.key, side="pred"), None
    return structs.replace(stored, verdict=structs.replace(verdict, key=key, kind=kind, partner=partner))


_TURNED_KINDS: Mapping[Kind, Kind] = {"gold": "pred", "pred": "gold"}


def is_alternative(span: Marked, other: Marked) -> bool:
    """Return whether another span can be an alternative of a span: one run of characters of the same type."""
    return other == span or (other.type == span.type and len(other.fragments) == 1)


def replacing_spans(stored: StoredVerdict) -> tuple[Marked, ...]:
    """Return the spans by which a verdict replaces its own, sorted and each once.

    Of two right spans that are no alternatives both are here, so that its own stays.
    """
    verdict = stored.verdict
    if verdict.kind == "neither":
        return tuple(sorted(set(verdict.right)))
    if verdict.key.side != "gold":
        return (verdict.key.span,) if verdict.kind in ("pred", "both") else ()
    if verdict.kind == "both" and verdict.partner is not None and not is_alternative(verdict.key.span, verdict.partner):
        return tuple(sorted((verdict.key.span, verdict.partner)))
    return (verdict.partner,) if verdict.kind == "pred" and verdict.partner is not None else ()


def is_carried_out(stored: StoredVerdict, is_in_gold: Callable[[Marked], bool]) -> bool:
    """Return whether gold, which lacks the span of a verdict, has what it is replaced by, as a corrected copy does."""
    is_replaced = stored.verdict.key.side == "gold" and stored.verdict.kind in ("pred", "neither")
    return is_replaced and all(map(is_in_gold, replacing_spans(stored)))


def mirrored(key: Key, partner: Marked | None) -> Key:
    """Return the key of the same record where the two layers have changed places."""
    if key.side == "gold" and partner is not None:
        return structs.replace(key, span=partner)
    return structs.replace(key, side="pred" if key.side == "gold" else "gold")


def kinds_between(first: str, second: str) -> Mapping[Kind, str]:
    """Return the kinds of verdicts in words for two layers by name, of which neither is gold: `anna is right`."""
    return {**KINDS, "gold": f"{first} is right", "pred": f"{second} is right"}


def given_in_words(stored: StoredVerdict, kinds: Mapping[Kind, str] = KINDS) -> str:
    """Return a line with the reviewer, time, span and decision of a verdict; `kinds` name the decisions."""
    verdict = stored.verdict
    what = kind_in_words(verdict, kinds) or "no verdict any more"
    prefix = "taken back, now " if stored.undoes else ""
    return f"{stored.who} on {minute_of(stored.at)}: {quoted(verdict.seen.quote)} {prefix}{what}"


def kind_in_words(verdict: Verdict, kinds: Mapping[Kind, str] = KINDS) -> str:
    """Return the kind of a verdict in words, "" for one that withdraws another."""
    if verdict.kind == WITHDRAWN:
        return ""
    return "an entity that nobody had marked" if verdict.key.side == UNMARKED else kinds[verdict.kind]


def minute_of(at: str) -> str:
    """Return a moment in ISO 8601 as `2026-01-31 12:00`."""
    return at[:16].replace("T", " ")


def text_digest(text: str | bytes) -> str:
    """Return the SHA-256 (hex) of a text, given as such or in UTF-8."""
    return hashlib.sha256(text.encode() if isinstance(text, str) else text).hexdigest()


def verdict_problems(verdict: Verdict, who: str, source: str, line: int | None = None) -> list[Problem]:
    """Return the problems of a verdict: text that databases cannot hold, text that is too long, impossible spans."""
    key, context = verdict.key, verdict.seen
    spans = (key.span, *([verdict.partner] if verdict.partner else []), *verdict.right)
    problems = name_problems(who, source, line)

    def wrong(what: str, remedy: str) -> None:
        problems.append(Problem(source, line, what, remedy))

    _written_badly(wrong, "note", verdict.note, NOTE_CHARACTERS)
    if "\0" in verdict.note:
        wrong(f"a note with {quoted(chr(0))}, which is not a character of a text", "take it out")
    _written_badly(wrong, "document's id", context.document, WORD_CHARACTERS)
    _written_badly(wrong, "quote", context.quote, QUOTE_CHARACTERS)
    _written_badly(wrong, "text before a quote", context.before, CONTEXT_CHARACTERS)
    _written_badly(wrong, "text after a quote", context.after, CONTEXT_CHARACTERS)
    if not _DIGEST.fullmatch(key.text):
        wrong(f"{quoted(key.text)}, which is not a digest of a text", "write its SHA-256, 64 digits from 0 to f")
    is_withdrawn = verdict.kind == WITHDRAWN
    if verdict.kind not in _KINDS:
        wrong(f"there is no verdict {quoted(str(verdict.kind))}", f"use {', '.join(KINDS)}")
    if key.side not in _SIDES:
        wrong(f"there is no side {quoted(str(key.side))}", "use gold, pred or none")
    if key.side == UNMARKED and not is_withdrawn and (verdict.kind != "neither" or not verdict.right):
        wrong("an entity that nobody had marked, without its spans", "give neither, with right spans")
    if key.side == UNMARKED and verdict.partner is not None:
        wrong("an entity that nobody had marked, with a partner", "give null as its partner")
    if verdict.right and verdict.kind != "neither":
        wrong(f"right spans beside the verdict {quoted(verdict.kind)}", "give them with neither")
    for span in spans:
        ends = [place for part in span.fragments for place in part]
        if not ends or ends[0] < 0 or any(low >= high for low, high in span.fragments) or ends != sorted(ends):
            wrong(f"a span at {_shown(span)}", "give [start, end] pairs in order, start < end")
        elif ends[-1] >= OFFSET_LIMIT:
            wrong("a span beyond the end of any text", f"give offsets below {OFFSET_LIMIT:,}")
        if not span.type:
            wrong("a span without a type", "name its type")
        _written_badly(wrong, "type", span.type, WORD_CHARACTERS)
    # Few spans in few parts cannot be as large, whatever their types are.
    is_small = len(spans) <= 8 and all(len(span.fragments) <= 1_000 for span in spans)
    if not problems and not is_small and (size := len(body_of(verdict))) > BODY_BYTES:
        wrong(f"a verdict of {size:,} bytes", "give fewer spans")
    return problems


def name_problems(who: str, source: str, line: int | None = None) -> list[Problem]:
    """Return the problems of a reviewer's name."""
    problems: list[Problem] = []

    def wrong(what: str, remedy: str) -> None:
        problems.append(Problem(source, line, what, remedy))

    _written_badly(wrong, "reviewer's name", who, REVIEWER_CHARACTERS)
    if not who.strip():
        wrong("no name of a reviewer", "say who gives the verdict")
    elif not who.isprintable() and not problems:
        wrong(f"a reviewer's name with {quoted(who)}", "write it on one line, without control characters")
    return problems


_DIGEST = re.compile("[0-9a-f]{64}")
_KINDS, _SIDES = get_args(Kind), get_args(Side)


def _written_badly(wrong: Callable[[str, str], None], name: str, value: str, most: int) -> None:
    if len(value) > most:
        wrong(f"a {name} of {len(value):,} characters", f"shorten it to {most:,}")
    if not value.isascii() and (odd := next((char for char in value if "\ud800" <= char <= "\udfff"), "")):
        wrong(f"a {name} with {quoted(odd)}, which is not a character of a text", "take it out")


def _shown(span: Marked) -> str:
    few = [[low, high] for low, high in span.fragments[:4]]
    # An integer may have more digits than can be printed.
    return str(few) if all(abs(place) < OFFSET_LIMIT for part in few for place in part) else "places out of reach"


def body_of(verdict: Verdict) -> str:
    """Return all of a verdict but its kind and note as JSON in ASCII, which any database holds."""
    key, context = verdict.key, verdict.seen
    return body_text(
        ascii_json(key.text),
        ascii_json(key.side),
        span_text(*key.span),
        "null" if verdict.partner is None else span_text(*verdict.partner),
        ",".join([span_text(*span) for span in verdict.right]),
        ascii_json(context.document),
        ascii_json(context.quote),
        ascii_json(context.before),
        ascii_json(context.after),
    )


def body_text(
    text: str, side: str, span: str, partner: str, right: str, document: str, quote: str, before: str, after: str
) -> str:
    """Return the body of a verdict whose parts are JSON; `right` are spans with commas between."""
    return (
        f'{{"text":{text},"side":{side},"span":{span},"partner":{partner},"right":[{right}],'
        f'"document":{document},"quote":{quote},"before":{before},"after":{after}}}'
    )


def span_text(fragments: Fragments, type_: str) -> str:
    """Return a span as JSON in ASCII without blanks."""
    parts = ",".join([f"[{low},{high}]" for low, high in fragments])
    return f'{{"fragments":[{parts}],"type":{ascii_json(type_)}}}'


class _Span(msgspec.Struct, forbid_unknown_fields=True):
    fragments: Fragments
    type: str

    def marked(self) -> Marked:
        return Marked(self.fragments, intern(self.type))


class _Body(msgspec.Struct, forbid_unknown_fields=True):
    text: str
    side: str
    span: _Span
    partner: _Span | None
    right: tuple[_Span, ...]
    document: str
    quote: str
    before: str
    after: str


_BODY = msgspec.json.Decoder(_Body)


def verdict_of(kind: Kind, note: str, body: str) -> Verdict:
    """Return the verdict of a `body_of`.

    Raises:
        ValueError: the body has another form.
    """
    try:
        content = _BODY.decode(body)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise ValueError("no body of a verdict") from error
    return Verdict(
        # Many verdicts share these strings, and all are held together.
        Key(intern(content.text), cast(Side, content.side), content.span.marked()),
        kind,
        Seen(intern(content.document), content.quote, content.before, content.after),
        None if content.partner is None else content.partner.marked(),
        tuple([span.marked() for span in content.right]),
        note,
    )


def span_as_json(span: Marked) -> dict[str, Any]:
    """Return a span as a JSON object."""
    return {"fragments": span.fragments, "type": span.type}


def span_of(span: Mapping[str, Any]) -> Marked:
    """Return the span of a `span_as_json`.

    Raises:
        KeyError, TypeError, ValueError: the object has another form.
    """
    parts: Sequence[Sequence[int]] = span["fragments"]
    fragments = tuple((low, high) for low, high in parts)
    if not all(type(place) is int for part in fragments for place in part) or not isinstance(span["type"], str):
        raise TypeError("span: fragments of whole numbers and a type are wanted")
    return Marked(fragments, intern(span["type"]))


@dataclass(frozen=True)
class Draft:
    """A verdict to be stored, and the version of its record's history that the reviewer had seen (0: none)."""

    verdict: Verdict
    seen: int = 0
    undoes: str = field(default="", kw_only=True)


def raise_problems(problems: Sequence[Problem]) -> None:
    """Raise a FormatError with the problems, if there are any."""
    if problems:
        raise FormatError(problems)
