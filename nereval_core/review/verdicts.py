"""Verdicts: what a person decided of a span, keyed by content so that it outlives runs, files and criteria.

A key is the digest of the text, the side, the fragments and the type; neither criterion, system nor the document's id
is part of it. Offsets are code points, end exclusive.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, NamedTuple, get_args

from nereval_core.problems import FormatError, Problem, quoted

Side = Literal["gold", "pred"]
Kind = Literal["gold", "pred", "both", "neither", "unclear", "withdrawn"]
WITHDRAWN: Kind = "withdrawn"
"""The kind of what takes a verdict back: afterwards none stands."""
KINDS: Mapping[Kind, str] = {
    "gold": "gold is right",
    "pred": "prediction is right",
    "both": "both acceptable",
    "neither": "neither is right",
    "unclear": "guideline unclear",
}
"""The five verdicts in the order of their keys 1 to 5, in words."""

NOTE = 10_000
"""Characters that a note may have."""
NAME = 100
"""Characters that the name of a reviewer may have."""
QUOTE = 200
"""Characters of a span's text that are kept beside a verdict; of a longer one, its beginning."""
AROUND = 40
"""Characters kept from before and after the span: by them it is found again in a text that changed."""
WORD = 10_000
"""Characters that a type, or the id of a document, may have."""
FAR = 2**31
"""Where offsets end."""
BODY = 2_000_000
"""Bytes that all of a verdict but its note may have: spans, fragments and types without end are no verdict."""

Fragments = tuple[tuple[int, int], ...]


class Marked(NamedTuple):
    """A span of some text: its fragments (one, where it is not discontinuous) in order, and its type as annotated."""

    fragments: Fragments
    type: str

    @property
    def start(self) -> int:
        return self.fragments[0][0]

    @property
    def end(self) -> int:
        return max(end for _, end in self.fragments)

    def quote(self, text: str) -> str:
        """Return the characters of a text that it covers, fragments joined by blanks, cut at QUOTE."""
        return " ".join(text[start:end] for start, end in self.fragments)[:QUOTE]


@dataclass(frozen=True)
class Key:
    """What a verdict is about: a span of one side in a text that has this SHA-256 (hex, of its UTF-8)."""

    text: str
    side: Side
    span: Marked

    @cached_property
    def record(self) -> str:
        """The SHA-256 (hex) of the key, by which verdicts are found."""
        content = [self.text, self.side, self.span.fragments, self.span.type]
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Seen:
    """What a reviewer had in view: the document's id, the span's characters, and those before and after it."""

    document: str
    quote: str
    before: str = ""
    after: str = ""

    @classmethod
    def of(cls, document: str, text: str, span: Marked) -> Seen:
        low, high = max(0, span.start - AROUND), span.end + AROUND
        return cls(document, span.quote(text), text[low : span.start], text[span.end : high])


@dataclass(frozen=True, slots=True)
class Verdict:
    """A verdict as a reviewer gives it.

    `partner` is the span of the other side that the key's was held against, None where there was none; what `pred` and
    `both` mean follows from it. `right` are the spans that should stand instead where neither is right, none for no
    entity. `seen` is kept to show what the verdict was about when the text has changed.
    """

    key: Key
    kind: Kind
    seen: Seen
    partner: Marked | None = None
    right: tuple[Marked, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class Given:
    """A verdict as it is kept: by whom and when (ISO 8601, UTC), and its place in the history of its record.

    `version` counts the verdicts on one record from 1. `uid` names this one everywhere; those given at once share their
    `batch`. `undoes` is the uid of the verdict that it takes back, "" where it takes back none. `number` is its place
    in the store.
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
        """Whether it says anything: one that takes another back does not."""
        return self.verdict.kind != WITHDRAWN


class ConflictError(Exception):
    """Somebody else has given a verdict on these records meanwhile: `theirs` are those that stand now."""

    def __init__(self, theirs: Iterable[Given]) -> None:
        self.theirs = tuple(theirs)
        what = "; ".join(said(given) for given in self.theirs)
        super().__init__(what or "the verdicts on these records are others now")


def said(given: Given) -> str:
    """Say in a line who decided what of which span, and when."""
    verdict = given.verdict
    what = KINDS.get(verdict.kind, "no verdict any more")
    taken = "taken back, now " if given.undoes else ""
    return f"{given.who} on {given.at[:16].replace('T', ' ')}: {quoted(verdict.seen.quote)} {taken}{what}"


def text_digest(text: str | bytes) -> str:
    """Return the SHA-256 (hex) of a text, given as such or in UTF-8."""
    return hashlib.sha256(text.encode() if isinstance(text, str) else text).hexdigest()


def problems(verdict: Verdict, who: str, source: str, line: int | None = None) -> list[Problem]:
    """Return what keeps a verdict from being taken: text that no database holds, or too much of it, or odd spans."""
    key, seen = verdict.key, verdict.seen
    spans = (key.span, *([verdict.partner] if verdict.partner else []), *verdict.right)
    found = name_problems(who, source, line)

    def wrong(what: str, remedy: str) -> None:
        found.append(Problem(source, line, what, remedy))

    _written_badly(wrong, "note", verdict.note, NOTE)
    if "\0" in verdict.note:
        wrong(f"a note with {quoted(chr(0))}, which is no character of a text", "take it out")
    _written_badly(wrong, "document's id", seen.document, WORD)
    _written_badly(wrong, "quote", seen.quote, QUOTE)
    _written_badly(wrong, "text before a quote", seen.before, AROUND)
    _written_badly(wrong, "text after a quote", seen.after, AROUND)
    if not _DIGEST.fullmatch(key.text):
        wrong(f"{quoted(key.text)}, which is no digest of a text", "write its SHA-256, 64 digits from 0 to f")
    if verdict.kind not in get_args(Kind):
        wrong(f"there is no verdict {quoted(str(verdict.kind))}", f"use {', '.join(KINDS)}")
    if key.side not in get_args(Side):
        wrong(f"there is no side {quoted(str(key.side))}", "use gold or pred")
    if verdict.right and verdict.kind != "neither":
        wrong(f"right spans beside the verdict {quoted(verdict.kind)}", "give them with neither")
    for span in spans:
        ends = [place for part in span.fragments for place in part]
        if not ends or ends[0] < 0 or any(low >= high for low, high in span.fragments) or ends != sorted(ends):
            wrong(f"a span at {_shown(span)}", "give [start, end] pairs in order, start < end")
        elif ends[-1] >= FAR:
            wrong("a span beyond the end of any text", f"give offsets below {FAR:,}")
        if not span.type:
            wrong("a span without a type", "name its type")
        _written_badly(wrong, "type", span.type, WORD)
    if not found and (size := len(body_of(verdict))) > BODY:
        wrong(f"a verdict of {size:,} bytes", "give fewer spans")
    return found


def name_problems(who: str, source: str, line: int | None = None) -> list[Problem]:
    """Return what keeps a text from being the name of a reviewer."""
    found: list[Problem] = []

    def wrong(what: str, remedy: str) -> None:
        found.append(Problem(source, line, what, remedy))

    _written_badly(wrong, "reviewer's name", who, NAME)
    if not who.strip():
        wrong("no name of a reviewer", "say who gives the verdict")
    elif not who.isprintable() and not found:
        wrong(f"a reviewer's name with {quoted(who)}", "write it on one line, without control characters")
    return found


_DIGEST = re.compile("[0-9a-f]{64}")


def _written_badly(wrong: Callable[[str, str], None], name: str, value: str, most: int) -> None:
    if len(value) > most:
        wrong(f"a {name} of {len(value):,} characters", f"shorten it to {most:,}")
    if odd := next((char for char in value if "\ud800" <= char <= "\udfff"), ""):
        wrong(f"a {name} with {quoted(odd)}, which is no character of a text", "take it out")


def _shown(span: Marked) -> str:
    few = [[low, high] for low, high in span.fragments[:4]]
    # An integer may have more digits than can be printed.
    return str(few) if all(abs(place) < FAR for part in few for place in part) else "places out of reach"


def body_of(verdict: Verdict) -> str:
    """Return all of a verdict but its kind and note as JSON in ASCII: hostile text is as harmless in it as any."""
    key, seen = verdict.key, verdict.seen
    content = {
        "text": key.text,
        "side": key.side,
        "span": _written(key.span),
        "partner": None if verdict.partner is None else _written(verdict.partner),
        "right": [_written(span) for span in verdict.right],
        "document": seen.document,
        "quote": seen.quote,
        "before": seen.before,
        "after": seen.after,
    }
    return json.dumps(content, separators=(",", ":"))


def verdict_of(kind: Kind, note: str, body: Mapping[str, Any]) -> Verdict:
    """Return the verdict whose `body_of` is this; a value of another form raises KeyError, TypeError or ValueError."""
    for name in ("text", "document", "quote", "before", "after"):
        if not isinstance(body[name], str):
            raise TypeError(f"{name}: no text")
    return Verdict(
        Key(body["text"], body["side"], _read(body["span"])),
        kind,
        Seen(body["document"], body["quote"], body["before"], body["after"]),
        None if body["partner"] is None else _read(body["partner"]),
        tuple(_read(span) for span in body["right"]),
        note,
    )


def _written(span: Marked) -> dict[str, Any]:
    return {"fragments": span.fragments, "type": span.type}


def _read(span: Mapping[str, Any]) -> Marked:
    parts: Sequence[Sequence[int]] = span["fragments"]
    fragments = tuple((low, high) for low, high in parts)
    if not all(type(place) is int for part in fragments for place in part) or not isinstance(span["type"], str):
        raise TypeError("span: fragments of whole numbers and a type are wanted")
    return Marked(fragments, span["type"])


@dataclass(frozen=True)
class Draft:
    """A verdict about to be kept, and the version of its record's verdicts that the reviewer had seen (0: none)."""

    verdict: Verdict
    seen: int = 0
    undoes: str = field(default="", kw_only=True)


def refuse(found: Sequence[Problem]) -> None:
    """Raise FormatError where there are problems."""
    if found:
        raise FormatError(found)
