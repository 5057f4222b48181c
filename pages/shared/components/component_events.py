"""Events of components: each is applied once and to its end, in order, however often it is sent and whatever cuts runs.

A component numbers its events from 1, and sends as `out` its own name, made when it was mounted, with all events that
the server has not acknowledged, see `events.js`: a run that is cut short before it has begun with them loses none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import streamlit as st

from pages.shared.streamlit_internals import uncut
from pages.shared.view import keys, state

Event = Mapping[str, Any]
EVENTS = Path(__file__).with_name("events.js").read_text(encoding="utf-8")
"""The script by which components number and send their events; they put it before their own."""


@dataclass
class EventLog:
    """The component of a key as it was mounted last, and the number of its last event that was applied."""

    mount: str = ""
    last: int = 0


def event_log(key: str) -> EventLog:
    logs: dict[str, EventLog] = state.lasting(keys.EVENTS, dict)
    return logs.setdefault(key, EventLog())


def apply_events(
    key: str, apply: Callable[[Event, Event], object], follow: Callable[[Event], object] = lambda sent: None
) -> bool:
    """Apply each event that the component of a key has sent and was not applied yet; return whether there was one.

    `apply` is called with the message and the event, `follow` with the message once all are applied. An event that
    fails, or leads to another page, counts as applied: the next run is not to do it again.
    """
    sent: Event | None = st.session_state.get(key, {}).get("out")
    if not sent:
        return False
    log = event_log(key)
    with uncut():
        if str(sent["mount"]) != log.mount:
            log.mount, log.last = str(sent["mount"]), 0
        # What is no number is refused: compared with one, it could be new in every run.
        if int(sent["events"][-1]["seq"]) <= log.last:
            return False
        for event in sent["events"]:
            if event["seq"] > log.last:
                try:
                    apply(sent, event)
                finally:
                    log.last = int(event["seq"])
        follow(sent)
    return True


def acknowledged(key: str) -> dict[str, Any]:
    """Return what a component is told of its events: those of its `mount` up to the number `seen` were applied."""
    log = event_log(key)
    return {"mount": log.mount, "seen": log.last}
