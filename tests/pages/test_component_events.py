"""Events of components are applied once, whatever a browser sends."""

from __future__ import annotations

from typing import Any

import pytest
import streamlit as st

from pages.shared.components.component_events import next_event
from pages.shared.verdicts.events import Applied, apply_events
from pages.shared.view import keys
from tests.support.pages import DEMO

FORGED: tuple[Any, ...] = ("a", 5, 5.0, None, True, ["a"], {"a": 1})


@pytest.mark.parametrize("mount", FORGED)
def test_an_event_is_taken_once_whatever_its_component_is_called(mount: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    event = {"mount": mount, "number": 1}
    monkeypatch.setattr(st, "session_state", {"table": {"out": event}})
    assert next_event("table") is event and next_event("table") is None
    event["number"] = 2
    assert next_event("table") is event and next_event("table") is None


@pytest.mark.parametrize("mount", FORGED)
def test_events_of_the_workbench_are_applied_once(mount: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(st, "session_state", {keys.APPLIED: Applied(mount=str(mount), last=3)})
    page: Any = DEMO
    assert not apply_events(page, {"mount": mount, "events": [{"seq": 3, "act": "jump"}], "at": ["", "", 0]})


@pytest.mark.parametrize("number", [float("nan"), None, [1]])
def test_numbers_that_are_none_are_refused(number: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        st, "session_state", {keys.APPLIED: Applied(mount="a"), "table": {"out": {"mount": "a", "number": number}}}
    )
    page: Any = DEMO
    for action in (
        lambda: next_event("table"),
        lambda: apply_events(page, {"mount": "a", "events": [{"seq": number}], "at": ["", "", 0]}),
    ):
        with pytest.raises((TypeError, ValueError)):
            action()
