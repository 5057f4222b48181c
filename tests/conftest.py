"""Settings of all tests: drawn examples are the same on every run, and no example is held against the clock."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("nereval", derandomize=True, deadline=None)
settings.load_profile("nereval")
