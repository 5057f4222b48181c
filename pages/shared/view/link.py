"""Links: writing a view as the parameters of an address, reading it back, and checking it against a corpus.

Lists are written with commas; a comma, semicolon, equals or percent sign inside a name is written as %2C, %3B, %3D,
%25. In `gold` and `pred` a lone `-` means that this side has no span (the name `-` is written %2D).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import fields, replace
from urllib.parse import unquote, urlencode

from nereval_core.glossary import DECISIONS
from nereval_core.problems import quoted
from nereval_core.records.queries import ABSENT, ORDERS
from nereval_core.scoring.criteria import CRITERIA
from pages.shared.view import (
    AGREEMENT_VIEWS,
    CONSISTENCY,
    CONSISTENCY_VIEWS,
    CRITERIA_VIEWS,
    FIGURE_SLIDES,
    FIGURES,
    GAMMA,
    LAYOUTS,
    LINKING,
    MASKED,
    OVERVIEW_TABS,
    PUBLISHED,
    RECORDS_ONLY,
    REVIEW_VIEWS,
    SLICED_BY,
    SLICES_VIEWS,
    SLIDES,
    SYSTEMS_VIEWS,
    View,
)

LIMIT = 2_000
"""A longer query string is not put in a link: some mail programs and servers cut it."""
PREFIX = 16
"""Hexadecimal digits of a corpus digest that stand in a link; at least 12 are asked for."""
_OWN_ELSEWHERE = (
    "is not known here; if it is the sender's own, ask for its TOML file and load it under Matching criterion, "
    "your own: this link does not carry its rule"
)
_PLACE = re.compile(r"\d{1,9}-\d{1,9}")
_RECORD = re.compile(r"[gp]:\d+-\d+(,\d+-\d+)*:.+", re.DOTALL)
_PLAYLIST = re.compile(r"[0-9a-f]{12,32}(/[0-9a-f]{12,64})?")


def is_key(corpus: str) -> bool:
    """Tell whether a link names its corpus by the key of a shared one, not by a digest."""
    return corpus.startswith("s-")


def write_link(view: View) -> dict[str, str]:
    """Return the parameters of a view, defaults left out, in the order of the fields."""
    found = {}
    for item in fields(View):
        value = getattr(view, item.name)
        if value != getattr(View(), item.name):
            found[item.name] = _WRITERS.get(item.name, str)(value)
    if "corpus" in found:
        found["corpus"] = found["corpus"] if is_key(found["corpus"]) else found["corpus"][:PREFIX]
    return found


def write_short_link(view: View) -> dict[str, str] | None:
    """Return the parameters of a view, None where they make a query string longer than LIMIT characters."""
    params = write_link(view)
    return params if len(urlencode(params)) <= LIMIT else None


def read_link(params: Mapping[str, str]) -> tuple[View, tuple[str, ...]]:
    """Read parameters; return the view and, in words, the values that were dropped as they cannot be understood."""
    names = {item.name for item in fields(View)}
    values: dict[str, object] = {}
    notices = []
    for name, text in params.items():
        if name not in names:
            notices.append(f"the link has a parameter {quoted(name)} that is not known")
            continue
        value, wrong = _READERS[name](text)
        notices += [f"{name}: {one}" for one in wrong]
        if value:
            values[name] = value
    return replace(View(), **values), tuple(notices)  # type: ignore[arg-type]


def check_view(
    view: View,
    *,
    systems: Collection[str],
    criteria: Collection[str],
    known_types: Collection[str],
    scored_types: Collection[str],
    documents: Collection[str],
) -> tuple[View, tuple[str, ...]]:
    """Return the view without the values that the corpus does not have, and these in words.

    `known_types` are the types as annotated; `scored_types` are those after merging and leaving out.
    """
    notices: list[str] = []

    def kept(name: str, allowed: Collection[str]) -> tuple[str, ...]:
        values = getattr(view, name)
        notices.extend(f"{name}: {quoted(value)} is not in this corpus" for value in values if value not in allowed)
        return tuple(value for value in values if value in allowed)

    def one(name: str, allowed: Collection[str], default: str, why: str) -> str:
        value = str(getattr(view, name))
        if value == default or value in allowed:
            return value
        notices.append(f"{name}: {quoted(value)} {why}")
        return default

    lost = [name for name in ("record", "at") if getattr(view, name) and not view.doc]
    notices.extend(f"{name}: its document is not given" for name in lost)
    merged = {name for _, name in view.merge}
    sides = {*scored_types, ABSENT}
    for member, _ in view.merge:
        if member not in known_types:
            notices.append(f"merge: {quoted(member)} is not in this corpus")
    system = one("system", systems, "", "is not a system of this corpus")
    return replace(
        view,
        system=system,
        criterion=one(
            "criterion",
            criteria,
            "strict",
            "is not a matching criterion that applies here" if view.criterion in CRITERIA else _OWN_ELSEWHERE,
        ),
        merge=tuple(pair for pair in view.merge if pair[0] in known_types),
        leaveout=kept("leaveout", {*known_types, *merged}),
        type=kept("type", scored_types),
        gold=kept("gold", sides),
        pred=kept("pred", sides),
        beside="" if view.beside == system else one("beside", systems, "", "is not a system of this corpus"),
        versus=one("versus", criteria, "", "is not a matching criterion that applies here"),
        doc=(doc := one("doc", documents, "", "is not a document of this corpus")),
        record=view.record if doc else "",
        at=view.at if doc else "",
    ), tuple(notices)


def _packed(names: Iterable[str]) -> str:
    return ",".join(_escaped(name) for name in names)


def _packed_sides(names: Iterable[str]) -> str:
    return ",".join("-" if name == ABSENT else "%2D" if name == "-" else _escaped(name) for name in names)


def _packed_merge(pairs: Iterable[tuple[str, str]]) -> str:
    groups: dict[str, list[str]] = {}
    for member, name in pairs:
        groups.setdefault(name, []).append(member)
    return ";".join(f"{_packed(members)}={_escaped(name)}" for name, members in groups.items())


def _escaped(name: str) -> str:
    return "".join(f"%{ord(char):02X}" if char in "%,;=" else char for char in name)


Read = Callable[[str], tuple[object, list[str]]]


def _text(text: str) -> tuple[object, list[str]]:
    # Half a surrogate pair and NUL come from hand-made links only.
    fine = text.isprintable() or not any(char == "\0" or "\ud800" <= char <= "\udfff" for char in text)
    return (text, []) if fine else ("", [f"{quoted(text)} is no text"])


def _digest(text: str) -> tuple[object, list[str]]:
    if re.fullmatch(r"[0-9a-f]{12,64}|s-[0-9a-f]{32}", text):
        return text, []
    return "", [f"{quoted(text)} is neither a digest of a corpus (12 to 64 hexadecimal digits) nor a key of one"]


def _names(text: str) -> tuple[object, list[str]]:
    names = tuple(dict.fromkeys(unquote(part) for part in text.split(",")))
    return tuple(name for name in names if name), [] if all(names) else ["an empty name"]


def _sides(text: str) -> tuple[object, list[str]]:
    parts = tuple(dict.fromkeys(text.split(",")))
    return tuple(ABSENT if part == "-" else unquote(part) for part in parts if part), (
        [] if all(parts) else ["an empty name"]
    )


def _merges(text: str) -> tuple[object, list[str]]:
    merge: dict[str, str] = {}
    wrong = []
    for group in text.split(";"):
        members, equals, name = group.partition("=")
        parts = [unquote(part) for part in members.split(",")]
        if not equals or not name or not all(parts) or "=" in name or any(part in merge for part in parts):
            wrong.append(f"{quoted(group)} is no merge (protein,DNA=macromolecule)")
        else:
            merge.update(dict.fromkeys(parts, unquote(name)))
    return tuple(merge.items()), wrong


def _words(allowed: Collection[str]) -> Read:
    def read(text: str) -> tuple[object, list[str]]:
        words = tuple(dict.fromkeys(text.split(",")))
        return tuple(w for w in words if w in allowed), [f"{quoted(w)} is not known" for w in words if w not in allowed]

    return read


def _sort(text: str) -> tuple[object, list[str]]:
    views = (
        *OVERVIEW_TABS,
        *CRITERIA_VIEWS,
        PUBLISHED,
        *SYSTEMS_VIEWS,
        *SLICES_VIEWS,
        *SLICED_BY,
        *AGREEMENT_VIEWS,
        GAMMA,
        CONSISTENCY,
        FIGURES,
        *CONSISTENCY_VIEWS,
        *REVIEW_VIEWS,
        SLIDES,
        *FIGURE_SLIDES,
        RECORDS_ONLY,
    )
    words, wrong = _words((*ORDERS, *LAYOUTS, *LINKING, *views))(text)
    view = View()
    for word in words:  # type: ignore[attr-defined]
        view = view.with_sort(word)
    return view.sort, wrong


def _record(text: str) -> tuple[object, list[str]]:
    return (text, []) if _RECORD.fullmatch(text) else ("", [f"{quoted(text)} is no record (such as g:12-19:Drug)"])


def _masked(text: str) -> tuple[object, list[str]]:
    return (text, []) if text == MASKED else ("", [f"{quoted(text)} is not {MASKED}"])


def _playlist(text: str) -> tuple[object, list[str]]:
    return (text, []) if _PLAYLIST.fullmatch(text) else ("", [f"{quoted(text)} is no playlist (12 or more digits)"])


def _place(text: str) -> tuple[object, list[str]]:
    low, _, high = text.partition("-")
    fine = _PLACE.fullmatch(text) and int(low) < int(high)
    return (text, []) if fine else ("", [f"{quoted(text)} is no place in a text (such as 12-19)"])


_WRITERS: Mapping[str, Callable[..., str]] = {
    "merge": _packed_merge,
    "leaveout": _packed,
    "type": _packed,
    "decision": ",".join,
    "gold": _packed_sides,
    "pred": _packed_sides,
    "sort": ",".join,
    "annotators": _packed,
}
_READERS: Mapping[str, Read] = {
    "corpus": _digest,
    "system": _text,
    "criterion": _text,
    "merge": _merges,
    "leaveout": _names,
    "type": _names,
    "decision": _words(DECISIONS),
    "gold": _sides,
    "pred": _sides,
    "doc": _text,
    "record": _record,
    "sort": _sort,
    "q": _text,
    "beside": _text,
    "versus": _text,
    "rule": _text,
    "reference": _text,
    "mask": _masked,
    "playlist": _playlist,
    "annotators": _names,
    "at": _place,
    "resample": _text,
}
