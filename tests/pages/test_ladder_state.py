"""The state of the ladder in the browser: what its keys and clicks do, and what the server is told."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.scripts import run_scripts

PLAY = 'const play = (all) => all.reduce((state, [name, ...values]) => eval(name)(state, ...values), ladderState("m"));'
PART = {"kind": "types", "gains": False, "spans": 3}
Turn = list[Any]


@pytest.fixture(scope="module")
def play(request: pytest.FixtureRequest) -> Any:
    """Return the state after some turns."""
    run = run_scripts(request, "../components/events", "ladder_state", more=PLAY, folder="criteria")
    return lambda *turns: run(f"play({json.dumps([answer(), *turns])})")


def answer(*, facts: str = "f", open: str = "strict") -> Turn:
    steps = [{"criterion": name} for name in ("strict", "muc", "lenient")]
    return ["takeLadder", {"facts": facts, "steps": steps, "open": open, "whole": {"criterion": open}}]


def press(key: str) -> Turn:
    return ["pressLadderKey", key]


def test_keys_go_down_and_up_the_ladder_and_stop_at_its_ends(play: Any) -> None:
    state = play(press("k"), press("j"), press("j"), press("j"))
    assert state["open"] == "lenient"
    assert state["events"][-1] == {"act": "open", "step": "lenient", "seq": 2}
    assert play(press("j"), press("k"))["open"] == "strict" and play(press("x"))["events"] == []


def test_an_older_answer_leaves_the_step_open_and_another_ladder_does_not(play: Any) -> None:
    assert play(press("j"), answer())["open"] == "muc"
    assert play(press("j"), answer(facts="other", open="lenient"))["open"] == "lenient"
    # A criterion of one's own that is gone.
    assert play(["takeLadder", {"facts": "f", "steps": [{"criterion": "type"}], "open": "type"}])["open"] == "type"


def test_enter_and_clicks_tell_the_server_what_to_list(play: Any) -> None:
    step = {"criterion": "muc"}
    told = {"seq": 1, "step": "muc"}
    for turn, event in (
        (["showPart", step, "strict", PART], {"act": "part", "against": "strict", "kind": "types", "gains": False}),
        (["showDecision", step, "PAR"], {"act": "decision", "code": "PAR"}),
        (["showStep", step], {"act": "step"}),
        (["showLadderRecord", step, {"document": "d", "record": "g:0-1:A"}], {"act": "record", "doc": "d"}),
    ):
        assert {**event, **told}.items() <= play(turn)["events"][-1].items()
    assert play(press("j"), press("Enter"))["events"][-1] == {"act": "step", "step": "muc", "seq": 2}
    assert play(["showScorer", "conlleval"])["events"][-1]["name"] == "conlleval"
