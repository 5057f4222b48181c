"""Types merged into one name or left out before scoring, by the type rules of a criterion or of all of them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping

import numpy as np

from nereval_core.corpus import Layer
from nereval_core.problems import FormatError, Problem, quoted
from nereval_core.scoring.criteria import TypeRules

MERGE_ONCE = "merge each type straight into its last name"
MERGE_INTO_ONE = "merge each type into one name"


def apply_rules(layer: Layer, rules: TypeRules) -> Layer:
    """Return the layer with merged types renamed and types left out gone; itself where nothing changes."""
    names = [rules.name(kind) for kind in layer.types]
    if names == list(layer.types):
        return layer
    types = tuple(sorted({name for name in names if name is not None}))
    code_of_type = {kind: code for code, kind in enumerate(types)}
    codes = np.array([-1 if name is None else code_of_type[name] for name in names], np.int16)
    code = codes[layer.type]
    changed = layer.retyped(code, types)
    return changed.take(np.flatnonzero(changed.type >= 0)) if (code < 0).any() else changed


def parse_merge(values: Iterable[str]) -> dict[str, str]:
    """Read merges written `protein,DNA,RNA=macromolecule` as member -> merged name.

    A name with a comma stands in double quotes: `"a,b",c="d,e"`.

    Raises:
        FormatError: without `=`, with an empty name or one with a comma, or where a type is merged into two names or
            onwards.
    """
    merge: dict[str, str] = {}
    problems = []
    for value in values:
        parts, name = _split_merge(value)
        if not name or not parts or not all(parts):
            problems.append(
                Problem("--merge", None, f"{quoted(value)} is not a merge", "write protein,DNA,RNA=macromolecule")
            )
            continue
        if "," in name and not _QUOTED.fullmatch(value):
            finding = f"{quoted(value)} merges into {quoted(name)}, a name with a comma"
            problems.append(Problem("--merge", None, finding, f"{MERGE_INTO_ONE}, or quote it: A,B={json.dumps(name)}"))
            continue
        for member in parts:
            if merge.get(member, name) != name:
                finding = f"type {quoted(member)} is merged into {quoted(merge[member])} and {quoted(name)}"
                problems.append(Problem("--merge", None, finding, MERGE_INTO_ONE))
            merge[member] = name
    problems += [Problem("--merge", None, chain, MERGE_ONCE) for chain in merge_chains(merge)]
    if problems:
        raise FormatError(problems)
    return merge


_NAME = r'\s*"(?:[^"\\]|\\.)+"\s*|[^",=]+'
_QUOTED = re.compile(rf"(?P<members>(?:{_NAME})(?:,(?:{_NAME}))*)=(?P<name>{_NAME})")
"""A merge in which quotes, where there are some, stand around whole names."""


def _split_merge(value: str) -> tuple[list[str], str]:
    """Return the members and the name of a merge as it is written, empty ones included."""
    if '"' in value and (match := _QUOTED.fullmatch(value)) is not None:
        names = [_unquoted(name) for name in (*re.findall(_NAME, match["members"]), match["name"])]
        return names[:-1], names[-1]
    members, _, name = value.rpartition("=")
    return [member.strip() for member in members.split(",")], name.strip()


def _unquoted(written: str) -> str:
    return re.sub(r"\\(.)", r"\1", written.strip()[1:-1]) if written.strip().startswith('"') else written.strip()


def merge_chains(merge: Mapping[str, str]) -> list[str]:
    """Return in words the types that are both merged and merged into, for which no order is given."""
    return [
        f"types are merged into {quoted(name)}, which is itself merged into {quoted(merge[name])}"
        for name in sorted(set(merge.values()))
        if merge.get(name, name) != name
    ]
