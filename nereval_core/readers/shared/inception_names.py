"""Names of annotators and layers in the exports of INCEpTION, in any format."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable

CURATION, INITIAL = "CURATION_USER", "INITIAL_CAS"
"""The annotators that stand for the curated documents and for the documents before annotation."""
ANNOTATOR_RANKS = {CURATION: 0, INITIAL: 2}
SEPARATOR = "/"
"""Separator of annotator and layer where both are named."""


def ranked_annotators(annotators: Iterable[str]) -> tuple[str, ...]:
    """Return annotators by name, the curated documents first, the documents before annotation last."""
    return tuple(sorted(annotators, key=lambda name: (ANNOTATOR_RANKS.get(name, 1), name)))


def short_name(name: str) -> str:
    """Return the last part of the name of a layer or type."""
    return name.rpartition(".")[2] or name


def layer_names(names: Collection[str]) -> list[str]:
    """Return short names of layers: the last part of each name, where no other layer has it."""
    counts = Counter(map(short_name, names))
    return [short_name(name) if counts[short_name(name)] == 1 else name for name in names]
