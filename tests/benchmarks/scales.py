"""How large the corpora are that benchmarks draw."""

from __future__ import annotations

from enum import Enum
from typing import TypeVar

Value = TypeVar("Value")


class Scale(Enum):
    """FULL gives the figures of docs/limits-and-speed.md, QUICK leaves out large cases, TINY runs each group once."""

    FULL = "full"
    QUICK = "quick"
    TINY = "tiny"

    def of(self, full: Value, quick: Value, tiny: Value) -> Value:
        """Return the value for this scale."""
        return {Scale.FULL: full, Scale.QUICK: quick, Scale.TINY: tiny}[self]

    def runs(self, count: int) -> int:
        """Return how often something is measured."""
        return 1 if self is Scale.TINY else count
