"""Events of components: each is applied once, however often it is sent.

A component sends its last event as `out`: with its own name, made when it was mounted, and a number that grows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from pages.shared.view import keys


def next_event(key: str) -> Mapping[str, Any] | None:
    """Return the event of a component by its key that was not taken yet, None where there is none."""
    event: Mapping[str, Any] | None = st.session_state.get(key, {}).get("out")
    last_events: dict[str, tuple[str, int]] = st.session_state.setdefault(keys.EVENTS, {})
    if not event:
        return None
    mount, number = str(event["mount"]), int(event["number"])
    last_mount, last_number = last_events.get(key, ("", 0))
    # Compared as they are stored: else a forged one of another type would be new in every run.
    if mount == last_mount and number <= last_number:
        return None
    last_events[key] = (mount, number)
    return event
