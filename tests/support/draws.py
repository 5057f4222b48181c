"""How many examples a property is given: by day so many as find most faults, at night eight times as many."""

from __future__ import annotations

from hypothesis import settings

AT_NIGHT = 8


def draws(by_day: int) -> settings:
    """Return the settings of a property that draws so many examples by day; `tests/nightly.sh` draws more."""
    return settings(max_examples=by_day * (AT_NIGHT if settings.get_current_profile_name() == "nightly" else 1))
