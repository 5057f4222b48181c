"""Documents and layers: columnar, frozen, and checked once, on construction.

All offsets are code points, 0-based, end exclusive. A layer keeps its spans sorted by document, start, end, type and
fragments; `order` holds the order in which they were read.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cached_property

from nereval_core.corpus.arrays import frozen
from nereval_core.corpus.documents import Documents, Place, Unit, document_problems
from nereval_core.corpus.intervals import Intervals
from nereval_core.corpus.layer_checks import layer
from nereval_core.corpus.layers import SPAN_KEYS, Fragments, Labels, Layer

__all__ = [
    "SPAN_KEYS",
    "Corpus",
    "Documents",
    "Fragments",
    "Intervals",
    "Labels",
    "Layer",
    "Place",
    "Unit",
    "document_problems",
    "frozen",
    "layer",
]


@dataclass(frozen=True, eq=False)
class Corpus:
    """Documents, their gold layer and the layers of one or more systems, all over the same documents."""

    name: str
    documents: Documents
    gold: Layer
    systems: tuple[Layer, ...]
    notes: tuple[str, ...] = ()

    @cached_property
    def digest(self) -> str:
        """SHA-256 (hex) of texts and layers with their names; links refer to a corpus by it."""
        sha = hashlib.sha256(b"corpus\n" + self.gold.digest.encode())
        for system in sorted(self.systems, key=lambda system: system.name):
            sha.update(json.dumps([system.name, system.digest]).encode())
        return sha.hexdigest()

    def system(self, name: str) -> Layer:
        for system in self.systems:
            if system.name == name:
                return system
        raise KeyError(name)
