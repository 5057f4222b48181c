"""Scripts that run for as long as they are asked to, and count what must never happen: `python -m tests.endurance`.

`python -m tests.endurance swapped-links --seconds 600` runs one of them for ten minutes, in a folder that it removes,
prints what it counted and ends with status 1 where something happened that must not. The test suite runs each one
briefly (`tests/test_endurance.py`), by a number of tries and not by the clock.
"""
