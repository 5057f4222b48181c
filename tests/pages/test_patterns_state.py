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
    run = run_scripts(request, "patterns_state", more=PLAY)
    return lambda *steps: run(f"play({json.dumps([answer(), *steps])})")


def answer(*, facts: str = "f", open: str = "a", who: str = "Ann", decided: int = 0, reason: str = "") -> Step:
    groups = [{"key": key, "records": 4, "decided": decided} for key in "abc"]
    verdicts = {"reason": reason, "kinds": ["gold", "pred", "both", "neither", "unclear"], "who": who}
    return ["takePatterns", {"facts": facts, "groups": groups, "open": open, "verdicts": verdicts}]


def press(key: str) -> Step:
    return ["pressPatternKey", key]


def test_keys_move_and_tell_the_last_pattern(play: Any) -> None:
    state = play(press("k"), press("j"), press("j"), press("j"))
    assert state["open"] == "c" and state["event"] == {"act": "open", "key": "c", "mount": "m", "number": 2}


def test_an_older_answer_leaves_the_pattern_open(play: Any) -> None:
    assert play(press("j"), answer())["open"] == "b"
    assert play(press("j"), answer(facts="other", open="c"))["open"] == "c"


def test_enter_lists_the_records(play: Any) -> None:
    assert play(press("j"), press("Enter"))["event"] == {"act": "records", "key": "b", "mount": "m", "number": 2}


@pytest.mark.parametrize(("key", "kind"), zip("12345", ("gold", "pred", "both", "neither", "unclear"), strict=True))
def test_a_verdict_is_asked_again_and_then_told(play: Any, key: str, kind: str) -> None:
    asked = play(press(key))
    assert asked["event"] is None and asked["asking"] == int(key) - 1
    event = play(press(key), press("Enter"))["event"]
    assert event == {"act": "decide", "key": "a", "kind": kind, "who": "Ann", "mount": "m", "number": 1}


@pytest.mark.parametrize("leave", [press("Escape"), press("j"), answer(facts="other")])
def test_a_verdict_is_not_given_once_the_pattern_is_left(play: Any, leave: Step) -> None:
    state = play(press("1"), leave)
    assert state["asking"] is None and (state["event"] or {}).get("act") != "decide"


def test_without_a_name_nothing_is_told(play: Any) -> None:
    state = play(answer(who=""), press("1"), ["nameReviewer", "  "], press("Enter"))
    assert state["event"] is None and state["asking"] == 0
    state = play(answer(who=""), press("1"), ["nameReviewer", " Bob "], press("Enter"))
    assert state["event"]["who"] == "Bob"


@pytest.mark.parametrize("data", [answer(decided=4), answer(reason="This server takes no verdicts.")])
def test_what_cannot_be_decided_is_not_asked(play: Any, data: Step) -> None:
    state = play(data, press("1"), press("Enter"))
    assert state["asking"] is None and state["event"]["act"] == "records"


def test_undo_is_told_and_other_keys_do_nothing(play: Any) -> None:
    assert play(press("u"))["event"]["act"] == "undo"
    assert play(press("x"), press("9"))["event"] is None


def test_the_sheet_of_keys_calls_verdicts_as_the_page_does(play: Any) -> None:
    step, data = answer()
    words = ["anna is right", "ben is right", "both are right", "neither is right: no entity", "unclear"]
    rows = dict(play([step, {**data, "verdicts": {**data["verdicts"], "words": words}}], ["patternKeyRows"]))
    assert [rows[key] for key in "12345"] == [f"{word}, in all its records" for word in words]
    assert rows["j"] == "next pattern"
