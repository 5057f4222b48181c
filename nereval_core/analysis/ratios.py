"""Precision, recall and F1 of whatever is right, in gold and predicted."""

from __future__ import annotations

from abc import ABC, abstractmethod


class Ratios(ABC):
    """Counts that have ratios; these are None where undefined."""

    __slots__ = ()

    @property
    @abstractmethod
    def right(self) -> int: ...

    @property
    @abstractmethod
    def gold(self) -> int: ...

    @property
    @abstractmethod
    def predicted(self) -> int: ...

    @property
    def precision(self) -> float | None:
        """right / predicted."""
        return self.right / self.predicted if self.predicted else None

    @property
    def recall(self) -> float | None:
        """right / gold."""
        return self.right / self.gold if self.gold else None

    @property
    def f1(self) -> float | None:
        """2 right / (gold + predicted)."""
        both = self.gold + self.predicted
        return 2 * self.right / both if both else None
