"""Types merged into one name or left out before scoring, by the type rules of a criterion or of all of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from nereval_core.corpus import Layer
from nereval_core.problems import FormatError, Problem, quoted
from nereval_core.scoring.criteria import TypeRules

MERGE_ONCE = "merge each type straight into its last name"


def apply_rules(layer: Layer, rules: TypeRules) -> Layer:
    """Return the layer with merged types renamed and types left out gone; itself where nothing changes."""
    names = [rules.name(kind) for kind in layer.types]
    if names == list(layer.types):
        return layer
    types = tuple(sorted({name for name in names if name is not None}))
    codes = np.array([-1 if name is None else types.index(name) for name in names], np.int16)
    code = codes[layer.type]
    changed = layer.retyped(code, types)
    return changed.take(np.flatnonzero(changed.type >= 0)) if (code < 0).any() else changed


def parse_merge(values: Iterable[str]) -> dict[str, str]:
    """Read merges written `protein,DNA,RNA=macromolecule` as member -> merged name.

    Raises:
        FormatError: without `=`, with an empty name, or where a type is merged into two names or onwards.
    """
    merge: dict[str, str] = {}
    problems = []
    for value in values:
        members, equals, name = value.rpartition("=")
        parts = [member.strip() for member in members.split(",")]
        if not equals or not name.strip() or not all(parts):
            problems.append(
                Problem("--merge", None, f"{quoted(value)} is not a merge", "write protein,DNA,RNA=macromolecule")
            )
            continue
        for member in parts:
            if merge.get(member, name.strip()) != name.strip():
                problems.append(
                    Problem(
                        "--merge",
                        None,
                        f"type {quoted(member)} is merged into {quoted(merge[member])} and {quoted(name.strip())}",
                        "merge each type into one name",
                    )
                )
            merge[member] = name.strip()
    problems += [Problem("--merge", None, chain, MERGE_ONCE) for chain in merge_chains(merge)]
    if problems:
        raise FormatError(problems)
    return merge


def merge_chains(merge: Mapping[str, str]) -> list[str]:
    """Return in words the types that are both merged and merged into, for which no order is given."""
    return [
        f"types are merged into {quoted(name)}, which is itself merged into {quoted(merge[name])}"
        for name in sorted(set(merge.values()))
        if merge.get(name, name) != name
    ]
