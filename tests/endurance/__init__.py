"""Scripts that run for as long as they are asked to, and count what must never happen: `python -m tests.endurance`.

`python -m tests.endurance swapped-links --seconds 600` runs one of them for ten minutes, in a folder that it removes,
prints what it counted and ends with status 1 where something happened that must not. The test suite runs each one
briefly (`tests/test_endurance.py`), by a number of tries and not by the clock.
"""

from __future__ import annotations

from typing import Protocol


class Wanted(Protocol):
    """Say whether to go on after so many tries, or until a share of what is wanted is done."""

    def __call__(self, tries: int, share: float = 1.0, /) -> bool: ...
