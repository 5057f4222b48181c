"""The state of Patterns in the browser: what its keys do, and what the server is told. Its script runs under node."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.scripts import run_scripts

PLAY = (
    'const play = (all) => all.reduce((state, [name, ...values]) => eval(name)(state, ...values), patternsState("m"));'
)
Step = list[Any]


@pytest.fixture(scope="module")
def play(request: pytest.FixtureRequest) -> Any:
    """Return the state after some steps."""
    run = run_scripts(request, "../components/events", "patterns_state", more=PLAY)
    return lambda *steps: run(f"play({json.dumps([answer(), *steps])})")


def answer(
    *, facts: str = "f", open: str = "a", who: str = "Ann", decided: int = 0, reason: str = "", **more: Any
) -> Step:
    groups = [{"key": key, "records": 4, "decided": decided} for key in "abc"]
    verdicts = {"reason": reason, "kinds": ["gold", "pred", "both", "neither", "unclear"], "who": who}
    return [
        "takePatterns",
        {"facts": facts, "groups": groups, "open": open, "verdicts": verdicts, "mount": "m", "seen": 0, **more},
    ]


def press(key: str) -> Step:
    return ["pressPatternKey", key]


def test_keys_move_and_tell_the_last_pattern(play: Any) -> None:
    state = play(press("k"), press("j"), press("j"), press("j"))
    assert state["open"] == "c" and state["events"][-1] == {"act": "open", "key": "c", "seq": 2}


def test_an_older_answer_leaves_the_pattern_open(play: Any) -> None:
    assert play(press("j"), answer())["open"] == "b"
    assert play(press("j"), answer(facts="other", open="c"))["open"] == "c"


def test_enter_lists_the_records(play: Any) -> None:
    assert play(press("j"), press("Enter"))["events"][-1] == {"act": "records", "key": "b", "seq": 2}


@pytest.mark.parametrize(("key", "kind"), zip("12345", ("gold", "pred", "both", "neither", "unclear"), strict=True))
def test_a_verdict_is_asked_again_and_then_told(play: Any, key: str, kind: str) -> None:
    asked = play(press(key))
    assert not asked["events"] and asked["asking"] == int(key) - 1
    event = play(press(key), press("Enter"))["events"][-1]
    assert event == {"act": "decide", "key": "a", "kind": kind, "who": "Ann", "seq": 1}


def test_what_the_server_has_not_acknowledged_is_sent_again(play: Any) -> None:
    """A pattern was decided and the next one opened before the page had run: the verdict was lost."""
    given = press("1"), press("Enter"), press("j")
    assert [event["act"] for event in play(*given)["events"]] == ["decide", "open"]
    assert [event["act"] for event in play(*given, answer(seen=1))["events"]] == ["open"]
    # An answer to a component that was mounted before this one acknowledges nothing.
    assert len(play(*given, answer(seen=2, mount="before"))["events"]) == 2


def test_what_became_of_a_verdict_is_said_once(play: Any) -> None:
    message = {"id": "1", "text": "Kept as Ann.", "lines": []}
    assert (
        play(answer(said=message))["message"] == play(answer(said=message), answer(said=message))["message"] == message
    )
    assert play(answer(said=message), press("j"), answer(said=message))["message"] is None
    assert play(answer(said=message), press("j"), answer(said=message | {"id": "2"}))["message"]["id"] == "2"


@pytest.mark.parametrize("leave", [press("Escape"), press("j"), answer(facts="other")])
def test_a_verdict_is_not_given_once_the_pattern_is_left(play: Any, leave: Step) -> None:
    state = play(press("1"), leave)
    assert state["asking"] is None and "decide" not in [event["act"] for event in state["events"]]


def test_without_a_name_nothing_is_told(play: Any) -> None:
    state = play(answer(who=""), press("1"), ["nameReviewer", "  "], press("Enter"))
    assert not state["events"] and state["asking"] == 0
    state = play(answer(who=""), press("1"), ["nameReviewer", " Bob "], press("Enter"))
    assert state["events"][-1]["who"] == "Bob"


@pytest.mark.parametrize("data", [answer(decided=4), answer(reason="This server takes no verdicts.")])
def test_what_cannot_be_decided_is_not_asked(play: Any, data: Step) -> None:
    state = play(data, press("1"), press("Enter"))
    assert state["asking"] is None and state["events"][-1]["act"] == "records"


def test_undo_is_told_and_other_keys_do_nothing(play: Any) -> None:
    assert play(press("u"))["events"][-1]["act"] == "undo"
    assert play(press("x"), press("9"))["events"] == []


def test_the_sheet_of_keys_calls_verdicts_as_the_page_does(play: Any) -> None:
    step, data = answer()
    words = ["anna is right", "ben is right", "both are right", "neither is right: no entity", "unclear"]
    rows = dict(play([step, {**data, "verdicts": {**data["verdicts"], "words": words}}], ["patternKeyRows"]))
    assert [rows[key] for key in "12345"] == [f"{word}, in all its records" for word in words]
    assert rows["j"] == "next pattern"
