"""Paths through JSON values in a few words: `projects.*.labels.*(layer=created_by).objects.*`.

A step is a key or a place in a list, `*` for all entries of a list or object, or `{label}` for all entries of an
object, whose keys are then what the word in brackets says; `{layer=a,b}` takes two of its entries alone. `(layer=by)`
behind a step says what the value under `by` is. A key that is the whole rest of a path is taken first: keys may hold
dots.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any, NamedTuple

from nereval_core.readers.shared.strict_json import json_type

STEP = re.compile(
    r"(?P<key>\*|\{(?P<role>\w+)(?:=(?P<names>[^}]*))?\}|[^.()]+)(?:\((?P<bound>\w+)=(?P<by>[^()]*)\))?\.?"
)
NO_ROLES: Mapping[str, Any] = MappingProxyType({})


class Step(NamedTuple):
    """The first step of a path, with the rest of it; `role` is that of keys, `bound` that of what stands under `by`."""

    key: str
    role: str
    names: tuple[str, ...]
    bound: str
    by: str
    rest: str


class Visit(NamedTuple):
    """A value at the end of a path, what keys on the way to it say, and the way in words, `spans[3]`."""

    value: Any
    roles: Mapping[str, Any]
    place: str


class WrongPathError(Exception):
    """A value that is no list or object where a path goes on: finding and remedy."""


@cache
def _first_step(path: str) -> Step:
    match = STEP.match(path)
    if match is None:
        raise WrongPathError(f"the path {path!r} cannot be read", "write keys with dots between, and * for all entries")
    names = tuple(match["names"].split(",")) if match["names"] else ()
    return Step(match["key"], match["role"] or "", names, match["bound"] or "", match["by"] or "", path[match.end() :])


def walk(value: Any, path: str, place: str = "", roles: Mapping[str, Any] = NO_ROLES) -> Iterator[Visit]:
    """Yield the values at the end of a path; nothing where a key is missing or null on the way.

    Raises:
        WrongPathError: entries are wanted of a value that has none.
    """
    if not path:
        yield Visit(value, roles, place)
        return
    if isinstance(value, dict) and path in value:
        yield Visit(value[path], roles, f"{place}.{path}" if place else path)
        return
    step = _first_step(path)
    for key, entry in _entries(value, step, place):
        own = roles
        if step.role:
            own = {**own, step.role: key}
        if step.bound:
            own = {**own, step.bound: leaf(entry, step.by)}
        dotted = f"{place}.{key}" if place else str(key)
        entry_place = f"{place}[{key}]" if isinstance(value, list) else dotted
        yield from walk(entry, step.rest, entry_place, own)


def _entries(value: Any, step: Step, place: str) -> Iterator[tuple[Any, Any]]:
    """Yield the entries of a value to which a step leads, with their keys or places."""
    if value is None:
        return
    if step.key == "*" or step.role:
        if not isinstance(value, (dict, list)) or (step.role and not isinstance(value, dict)):
            expected = "an object" if step.role else "a list"
            raise WrongPathError(f"{place or 'the record'} is {json_type(value)}", f"write {expected}")
        entries = value.items() if isinstance(value, dict) else enumerate(value)
        yield from ((key, entry) for key, entry in entries if not step.names or key in step.names)
    elif isinstance(value, dict):
        if step.key in value:
            yield step.key, value[step.key]
    elif isinstance(value, list) and step.key.isdecimal() and int(step.key) < len(value):
        yield int(step.key), value[int(step.key)]


def leaf(value: Any, path: str) -> Any:
    """Return the value at the end of a path without `*`, of several with `|` between the first there is; else None."""
    for choice in path.split("|"):
        inner = value
        rest = choice
        while rest and inner is not None:
            if isinstance(inner, dict) and rest in inner:
                inner, rest = inner[rest], ""
                break
            key, _, rest = rest.partition(".")
            if isinstance(inner, dict):
                inner = inner.get(key)
            elif isinstance(inner, list) and key.isdecimal() and int(key) < len(inner):
                inner = inner[int(key)]
            else:
                inner = None
        if choice and inner is not None:
            return inner
    return None
