"""Runs that are cut short anywhere: what a reader did is done once and to its end, as if no run had been cut.

Streamlit cuts a run wherever it draws something or looks at the session's state, and begins the next one.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from streamlit.runtime.scriptrunner import ScriptRunner
from streamlit.runtime.scriptrunner_utils.exceptions import StopException
from streamlit.runtime.state import SafeSessionState
from streamlit.testing.v1 import AppTest

from nereval_core.review.store import ReviewStore
from nereval_core.review.verdicts import KINDS
from pages.shared import streamlit_internals
from pages.shared.data import verdict_store
from pages.shared.data.loading import load_demo
from pages.shared.inspect import patterns
from pages.shared.verdicts import events
from pages.shared.view import View, keys
from tests.support.pages import opened

Event = dict[str, Any]
BIOLOGY = View(corpus=load_demo("biology").corpus.digest, system="perceptron")
PATTERNS, RECORDS = (replace(BIOLOGY, inspect_tab=tab) for tab in ("patterns", "records"))
ANN = {keys.REVIEWER: "Ann"}
SEEDS = [0, *(pytest.param(seed, marks=pytest.mark.nightly) for seed in range(1, 12))]
LATEST = 150
"""Looks at the session's state after which a run is cut at the latest: a run has some 300 of them."""


class Cuts:
    """Cuts runs at a random look of theirs at what the reader has done meanwhile."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
        self.random = Random(seed)
        self.looks = -1
        self.number = 0
        look = ScriptRunner._maybe_handle_execution_control_request

        def look_and_cut(runner: ScriptRunner) -> None:
            if runner._execing and runner._is_in_script_thread():
                self.looks -= 1
                if self.looks == 0:
                    self.number += 1
                    raise StopException
            look(runner)

        monkeypatch.setattr(ScriptRunner, "_maybe_handle_execution_control_request", look_and_cut)

    def run(self, app: AppTest) -> None:
        self.looks = self.random.randrange(1, LATEST) if self.random.random() < 0.8 else -1
        app.run()
        self.looks = -1


def stored_by(
    folder: Path, monkeypatch: pytest.MonkeyPatch, view: View, key: str, script: Sequence[Event], seed: int | None
) -> tuple[Any, ...]:
    """Return what stands in a new store, and the view, once all events of a script were acknowledged."""
    folder.mkdir()
    monkeypatch.setenv("NEREVAL_REVIEW_URL", f"sqlite:///{folder}/review.sqlite")
    verdict_store._kept.cache_clear()
    app = opened("Inspect", view, **ANN)
    with monkeypatch.context() as patch:
        cuts = Cuts(patch, seed or 0)
        pending: list[Event] = []
        for number, event in enumerate((*script, None, None), start=1):
            pending += [] if event is None else [{"seq": number, **event}]
            if pending:
                at = [pending[-1].get("doc", ""), pending[-1].get("record", ""), -1]
                app.session_state[key] = {"out": {"mount": "tab", "events": list(pending), "at": at}}
            if seed is None or event is None:
                app.run()
            else:
                cuts.run(app)
            answer = answer_to(app)
            if answer is not None and answer["mount"] == "tab":
                pending = [each for each in pending if each["seq"] > answer["seen"]]
        assert not pending and (seed is None or cuts.number > len(script) / 3)
    store = ReviewStore(folder / "review.sqlite")
    rows = [(row.who, row.verdict.kind, row.verdict.key.record, row.verdict.right) for row in store.every()]
    standing = {row.verdict.key.record: row.verdict.kind for row in store.reviewed().standing}
    store.close()
    verdict_store._kept.cache_clear()
    return rows, standing, app.session_state[keys.VIEW]


def answer_to(app: AppTest) -> dict[str, Any] | None:
    """Return what the page has last told its component, None where the run was cut before."""
    sent = [
        json.loads(each.proto.json) for each in app.get("bidi_component") if each.proto.WhichOneof("data") == "json"
    ]
    return next(
        (data for data in sent if {"mount", "seen"} <= data.keys() and ("groups" in data or "entries" in data)), None
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_patterns_are_decided_and_taken_back_as_without_cuts(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = opened("Inspect", PATTERNS)
    groups = [group["key"] for group in answer_to(app)["groups"]]
    random = Random(seed)
    script: list[Event] = []
    for _ in range(14):
        key = random.choice(groups)
        act = random.choice(["decide", "decide", "undo", "open"])
        script.append({"act": act, "key": key, "kind": random.choice(tuple(KINDS)), "who": "Ann"})
    whole, cut = (
        stored_by(tmp_path / str(number), monkeypatch, PATTERNS, patterns.KEY, script, number)
        for number in (None, seed)
    )
    assert whole[0] and cut == whole


@pytest.mark.parametrize("looks", [1, 2, 4, 8])
def test_a_pattern_is_decided_whole_though_its_run_is_cut_meanwhile(
    looks: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Random cuts seldom hit the few looks within which an event is carried out; these are counted from its begin."""
    apply, cuts = patterns._apply, Cuts(monkeypatch, 0)

    def apply_and_cut(*arguments: Any) -> None:
        cuts.looks = looks
        apply(*arguments)

    monkeypatch.setattr(patterns, "_apply", apply_and_cut)
    group = answer_to(opened("Inspect", PATTERNS))["groups"][0]
    script = [{"act": "decide", "key": group["key"], "kind": "gold", "who": "Ann"}]
    rows, standing, _ = stored_by(tmp_path / "store", monkeypatch, PATTERNS, patterns.KEY, script, None)
    assert cuts.number == 1 and len(rows) == len(standing) == group["records"]


@pytest.mark.parametrize("seed", SEEDS)
def test_records_are_decided_and_taken_back_as_without_cuts(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entries = answer_to(opened("Inspect", RECORDS))["entries"]
    random = Random(seed)
    script: list[Event] = []
    for _ in range(20):
        doc, record = random.choice(entries)[:2]
        act = random.choice(["verdict", "verdict", "verdict", "undo", "open"])
        script.append({"act": act, "doc": doc, "record": record, "kind": random.choice(tuple(KINDS)), "right": []})
    whole, cut = (
        stored_by(tmp_path / str(number), monkeypatch, RECORDS, events.KEY, script, number) for number in (None, seed)
    )
    assert whole[0] and cut == whole


def page_of_one_button() -> None:
    import streamlit as st

    def count() -> None:
        st.session_state["clicks"] = st.session_state.get("clicks", 0) + 1
        for number in range(20):
            st.session_state[f"written {number}"] = st.session_state["clicks"]

    st.button("Count", on_click=count)


@pytest.mark.parametrize("looks", range(1, 30, 4))
def test_a_callback_is_carried_out_to_its_end_or_not_begun(looks: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SafeSessionState, "on_script_will_rerun", SafeSessionState.on_script_will_rerun)
    streamlit_internals.carry_out_callbacks()
    app = AppTest.from_function(page_of_one_button).run()
    button = app.button[0].click()
    with monkeypatch.context() as patch:
        cuts = Cuts(patch, 0)
        cuts.looks = looks
        button.run()
    written = [app.session_state[f"written {number}"] for number in range(20)] if "clicks" in app.session_state else []
    assert written == ([] if looks == 1 else [1] * 20)


def page_that_two_runs_draw() -> None:
    import time
    from threading import Thread

    import streamlit as st
    from streamlit.runtime.scriptrunner import add_script_run_ctx

    from pages.shared.streamlit_internals import uncut

    order: list[str] = []

    def begin_another() -> None:
        with uncut():
            order.append("another")

    other = add_script_run_ctx(Thread(target=begin_another))
    with uncut():
        other.start()
        time.sleep(0.05)
        order.append("first")
    other.join()
    st.write(" ".join(order))


def test_two_runs_of_a_session_take_turns() -> None:
    assert AppTest.from_function(page_that_two_runs_draw).run().markdown[0].value == "first another"
