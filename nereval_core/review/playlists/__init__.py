"""Playlists: records that people selected for presentation, in order, with comments.

An item is identified by content (the key of verdicts), system and criterion, so that it outlives re-scoring and files.
It also holds the view in which it was shown, and the words of its span, in case the text has changed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from msgspec import structs

from nereval_core.problems import FormatError, Problem, quoted
from nereval_core.review.verdicts import Key, Marked, Seen
from nereval_core.review.verdicts_on_records import places

if TYPE_CHECKING:
    from nereval_core.review.attribute import Records

NAME_CHARACTERS = 100
"""Largest number of characters of the name of a playlist or a person."""
COMMENT_CHARACTERS = 2_000
"""Largest number of characters of a comment."""
PLAYLIST_ITEMS = 1_000
"""Largest number of items of a playlist."""
LINK_DIGITS = 12
"""Hexadecimal digits of the uid of a playlist or an item in a link."""


@dataclass(frozen=True)
class Shown:
    """The view of a record: digest of the corpus, system, criterion, document and record id.

    `settings` are further parameters of its link that affect the score, such as merged types.
    """

    corpus: str
    system: str
    criterion: str
    document: str
    record: str
    settings: str = ""


@dataclass(frozen=True)
class Starred:
    """A record to be added to a playlist: its key, its context and its view."""

    key: Key
    seen: Seen
    shown: Shown

    @cached_property
    def uid(self) -> str:
        """The SHA-256 (hex) of its key, system and criterion."""
        content = [self.key.record, self.shown.system, self.shown.criterion]
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()


@dataclass(frozen=True)
class Item:
    """A record on a playlist: `place` orders items, `version` counts its changes from 1.

    `who` and `at` (ISO 8601, UTC) are those of its last change; a removed item is `gone`.
    """

    starred: Starred
    place: int
    comment: str
    who: str
    at: str
    version: int
    gone: bool = False

    @property
    def uid(self) -> str:
        return self.starred.uid


@dataclass(frozen=True)
class Playlist:
    """A playlist with its items in order; `at` is the time when it was made or renamed."""

    uid: str
    name: str
    who: str
    at: str
    version: int
    items: tuple[Item, ...] = ()

    def find(self, uid: str) -> int | None:
        """Return the index of an item by its uid or the beginning of it, None where it is not there."""
        return next((place for place, item in enumerate(self.items) if uid and item.uid.startswith(uid)), None)


@dataclass(frozen=True)
class PlaylistName:
    """The name of a playlist, one row of the store; a removed playlist is `gone`."""

    uid: str
    name: str
    who: str
    at: str
    version: int
    gone: bool = False


@dataclass(frozen=True, eq=False)
class Playlists:
    """All playlists at one moment, up to the rows `named` and `changed` of the store."""

    names: Mapping[str, PlaylistName] = field(default_factory=dict)
    rows: Mapping[str, Mapping[str, Item]] = field(default_factory=dict)
    named: int = 0
    changed: int = 0

    @cached_property
    def standing(self) -> tuple[Playlist, ...]:
        """The playlists, by name."""
        playlists = [
            Playlist(name.uid, name.name, name.who, name.at, name.version, _ordered(self.rows.get(name.uid, {})))
            for name in self.names.values()
            if not name.gone
        ]
        return tuple(sorted(playlists, key=lambda name: (name.name.casefold(), name.uid)))

    def find(self, uid: str) -> Playlist | None:
        """Return a playlist by its uid or the beginning of it, None where there is none or several."""
        matches = [playlist for playlist in self.standing if uid and playlist.uid.startswith(uid)]
        return matches[0] if len(matches) == 1 else None

    def of_items(self, keep: Callable[[Item], bool]) -> Playlists:
        """Return the playlists with some of their items; one that has none of its items left is left out."""
        rows = {uid: {name: entry for name, entry in items.items() if keep(entry)} for uid, items in self.rows.items()}
        names = {uid: entry for uid, entry in self.names.items() if rows.get(uid) or not self.rows.get(uid)}
        return replace(self, names=names, rows=rows)

    def after(self, named: Sequence[tuple[int, PlaylistName]], changed: Sequence[tuple[int, str, Item]]) -> Playlists:
        """Return the playlists after more rows of the store, each with its number; itself where there are none."""
        if not named and not changed:
            return self
        rows = dict(self.rows)
        for _, uid, item in changed:
            rows[uid] = {**rows.get(uid, {}), item.uid: item}
        return replace(
            self,
            names={**self.names, **{playlist.uid: playlist for _, playlist in named}},
            rows=rows,
            named=named[-1][0] if named else self.named,
            changed=changed[-1][0] if changed else self.changed,
        )


def _ordered(items: Mapping[str, Item]) -> tuple[Item, ...]:
    return tuple(sorted((item for item in items.values() if not item.gone), key=lambda item: item.place))


class ChangedError(Exception):
    """Somebody else has changed this meanwhile; the message names who, when and the change."""


def playlist_records(playlist: Playlist, about: Records, system: str) -> list[tuple[int, Item]]:
    """Return the records of a system that are on a playlist, in its order: position and item of each.

    Items of other systems are left out, and those whose text or span is gone; their criterion does not matter.
    """
    items = [item for item in playlist.items if item.starred.shown.system == system]
    records = places(about, [(item.starred.key, item.starred.shown.document) for item in items])
    pairs = {record: item for record, item in zip(records, items, strict=True) if record is not None}
    return list(pairs.items())


def move_item(playlist: Playlist, place: int, to: int) -> tuple[Item, ...]:
    """Return the items with the one at an index moved to another index, within the bounds."""
    items = list(playlist.items)
    item = items.pop(place)
    items.insert(max(0, to), item)
    return tuple(items)


def free_name(playlists: Iterable[Playlist], name: str) -> str:
    """Return a name that no playlist has: the given one, if need be with a number after it."""
    names = {playlist.name.casefold() for playlist in playlists}
    number = 1
    while (candidate := name if number == 1 else f"{name} {number}").casefold() in names:
        number += 1
    return candidate


def refuse_text(what: str, text: str, most: int, *, one_line: bool = False) -> None:
    """Refuse text that databases cannot hold, text that is too long, and for one line control characters or no text.

    Raises:
        FormatError: with the problems.
    """
    problems = []
    if len(text) > most:
        problems.append(Problem(what, None, f"{len(text):,} characters", f"shorten it to {most:,}"))
    if odd := next((char for char in text if char == "\0" or "\ud800" <= char <= "\udfff"), ""):
        problems.append(Problem(what, None, f"{quoted(odd)}, which is not a character of a text", "take it out"))
    elif one_line and not text.strip():
        problems.append(Problem(what, None, "nothing", "type something"))
    elif one_line and not text.isprintable():
        problems.append(Problem(what, None, "line breaks or control characters", "write it on one line"))
    if problems:
        raise FormatError(problems)


def body_of(starred: Starred) -> str:
    """Return a record on a playlist as JSON in ASCII."""
    key = starred.key
    content = {
        "text": key.text,
        "side": key.side,
        "fragments": key.span.fragments,
        "type": key.span.type,
        "seen": structs.asdict(starred.seen),
        "shown": asdict(starred.shown),
    }
    return json.dumps(content, separators=(",", ":"))


def starred_of(body: Mapping[str, Any]) -> Starred:
    """Return the record of a `body_of`.

    Raises:
        KeyError, TypeError, ValueError: the body has another form.
    """
    if body.keys() != {"text", "side", "fragments", "type", "seen", "shown"}:
        raise KeyError("other keys")
    span = Marked(tuple((int(low), int(high)) for low, high in body["fragments"]), str(body["type"]))
    return Starred(Key(body["text"], body["side"], span), Seen(**body["seen"]), Shown(**body["shown"]))
