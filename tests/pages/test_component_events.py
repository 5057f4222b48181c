"""Events of components are applied once and to their end, whatever a browser sends and whatever cuts runs short."""

from __future__ import annotations

from typing import Any

import pytest
import streamlit as st

from pages.shared.components.component_events import EventLog, apply_events
from pages.shared.verdicts import events
from pages.shared.verdicts.events import KEY
from pages.shared.view import keys
from tests.support.pages import DEMO

FORGED: tuple[Any, ...] = ("a", 5, 5.0, None, True, ["a"], {"a": 1})


def applied_numbers(sent: Any) -> list[int]:
    """Return the numbers of the events that are applied of a message."""
    numbers: list[int] = []
    st.session_state["table"] = {"out": sent}
    apply_events("table", lambda _, event: numbers.append(event["seq"]))
    return numbers


@pytest.mark.parametrize("mount", FORGED)
def test_an_event_is_applied_once_whatever_its_component_is_called(mount: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(st, "session_state", {})
    sent: dict[str, Any] = {"mount": mount, "events": [{"seq": 1}]}
    assert applied_numbers(sent) == [1] and applied_numbers(sent) == []
    sent["events"] = [{"seq": 1}, {"seq": 2}, {"seq": 3}]
    assert applied_numbers(sent) == [2, 3] and applied_numbers(sent) == []


@pytest.mark.parametrize("mount", FORGED)
def test_events_of_the_workbench_are_applied_once(mount: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    sent = {"mount": mount, "events": [{"seq": 3, "act": "jump"}], "at": ["", "", 0]}
    monkeypatch.setattr(st, "session_state", {keys.EVENTS: {KEY: EventLog(str(mount), 3)}, KEY: {"out": sent}})
    page: Any = DEMO
    assert not events.apply_events(page)


@pytest.mark.parametrize("number", [float("nan"), None, [1]])
def test_numbers_that_are_none_are_refused(number: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(st, "session_state", {})
    with pytest.raises((TypeError, ValueError)):
        applied_numbers({"mount": "a", "events": [{"seq": number}]})


def test_an_event_that_fails_is_not_applied_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(st, "session_state", {"table": {"out": {"mount": "a", "events": [{"seq": 1}]}}})

    def fail(*_: object) -> None:
        raise RuntimeError

    with pytest.raises(RuntimeError):
        apply_events("table", fail)
    assert not apply_events("table", fail)
