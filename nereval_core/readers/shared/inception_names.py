"""What INCEpTION calls annotators and layers in its exports, in whatever format these are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable

CURATION, INITIAL = "CURATION_USER", "INITIAL_CAS"
"""Whose work is what was decided in the end, and what was there before anyone began."""
RANKS = {CURATION: 0, INITIAL: 2}
WITHIN = "/"
"""What stands between an annotator and a layer, where both are named."""


def in_rank(annotators: Iterable[str]) -> tuple[str, ...]:
    """Return annotators by name: what was decided in the end comes first, what was there before anyone began last."""
    return tuple(sorted(annotators, key=lambda name: (RANKS.get(name, 1), name)))


def short(name: str) -> str:
    """Return the last part of the name of a layer or type."""
    return name.rpartition(".")[2] or name


def called(names: Collection[str]) -> list[str]:
    """Return what layers are called: by the last part of their names, where no other has it."""
    counts = Counter(map(short, names))
    return [short(name) if counts[short(name)] == 1 else name for name in names]
