"""What pages compute in processes of their own: each page asks for what can be sent there, and shows the answer."""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nereval_core.conventions import conventions
from nereval_core.review.store import ReviewStore
from nereval_core.scoring import Settings
from pages.shared.components import links
from pages.shared.data import caches, computations
from pages.shared.server import core_process
from pages.shared.view import TABS
from pages.shared.view.keys import LIST
from tests.pages.test_review_page import given
from tests.support.pages import DEMO, VIEW, opened, sentences, start_afresh

ASKED = {
    "Consistency": ["Consistency"],
    "Systems": ["Resampling", "Resampling measures"],
    "Systems types-of-systems": ["Resampling, by type"],
    "Systems slices-of-systems": ["Slicing all systems"],
    "Annotators": ["Disagreements"],
    "Annotators figures": ["Agreement"],
    "Review": ["Verdicts", "Scoring with verdicts", "The order"],
    "Review finish": ["Finishing"],
    "Inspect by-class": ["Error classes"],
    "Slices": ["Testing slices", "Testing changes"],
    "Slices scores": ["Thresholds"],
    "Slices worst-slices": ["Combinations of slices"],
    "Criteria": ["Comparing all criteria", "Comparing criteria"],
    "Criteria published": ["rules: scoring as bc5cdr does"],
    "Criteria recovered": ["Recoverable spans"],
    "Criteria two-criteria": ["Comparing criteria"],
    "Criteria curve": ["Matching"],
    "Criteria stand-in": ["Folds"],
}
"""By page and word of the link: titles of what it has computed."""
SYSTEMS = tuple(layer.name for layer in DEMO.corpus.systems if "annotator" not in layer.name)
UNFOLDED = {f"{LIST}measures": True, f"{LIST}differing": True}


class Request(io.BytesIO):
    """A call on its way: it is made here once it is written."""

    def __init__(self, answer: io.BytesIO) -> None:
        super().__init__()
        self._answer = answer

    def flush(self) -> None:
        if self.getvalue():
            call, shared = core_process.read_call(io.BytesIO(self.getvalue()))
            core_process.write_outcome(call, shared, self._answer)
            self._answer.seek(0)


class ProcessHere:
    """What stands for a process apart, and costs no start."""

    pid = returncode = 0

    def __init__(self) -> None:
        self.stdout = io.BytesIO()
        self.stdin = Request(self.stdout)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        pass

    def kill(self) -> None:
        pass


@pytest.fixture
def sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The titles of what was computed as for a large corpus with verdicts, by what runs in the other process."""
    where = f"sqlite:///{tmp_path}/review.sqlite"
    monkeypatch.setenv("NEREVAL_REVIEW_URL", where)
    given(ReviewStore(where))
    titles: list[str] = []

    def called(call: Callable[[], object], title: str, **rest: object) -> object:
        titles.append(title)
        return apart(call, title, **rest)

    apart = core_process.call_apart
    start_afresh()
    monkeypatch.setattr(computations, "SPANS", 0)
    monkeypatch.setattr(computations, "COMPARED", 0)
    monkeypatch.setattr(computations, "RESAMPLED", 0)
    monkeypatch.setattr(computations, "call_apart", called)
    monkeypatch.setattr(core_process, "start_process", ProcessHere)
    return titles


def test_published_scorers_are_scored_when_asked_for_and_their_rows_alone_are_kept(
    sent: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    opened("Criteria", VIEW)
    assert not [title for title in sent if "scoring as" in title]
    outcomes: list[str] = []
    monkeypatch.setattr(caches, "outcome", lambda loaded, system, name: outcomes.append(name))
    apart = caches.published_rows(DEMO, "rules")
    assert not outcomes and sum("scoring as" in title for title in sent) == len(conventions())
    monkeypatch.undo()
    start_afresh()
    rows, refused = caches.published_rows(DEMO, "rules")
    assert apart[0] == rows and {name: str(error) for name, error in apart[1].items()} == {
        name: str(error) for name, error in refused.items()
    }


@pytest.mark.parametrize("asking", ASKED)
def test_pages_have_what_takes_long_computed_elsewhere(sent: list[str], asking: str) -> None:
    page, _, word = asking.partition(" ")
    view = replace(VIEW, criterion="partial")
    if word in TABS.get(f"{page.lower()}_tab", ()):
        view = replace(view, **{f"{page.lower()}_tab": word})
    elif word:
        view = view.with_layout(word)
    opened(page, view, **UNFOLDED)
    missing = set(ASKED[asking]) - set(sent)
    assert not missing, (missing, sent)


def test_systems_says_the_order_while_intervals_are_computed(sent: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[tuple[str, bool]] = []
    mount = links.mount_sentence

    def noted(parts: Sequence[str | links.Link], key: str, *rest: Any) -> None:
        if key == "sentence-order":
            said.append(("".join(part if isinstance(part, str) else part.text for part in parts), "Resampling" in sent))
        mount(parts, key, *rest)

    monkeypatch.setattr(links, "mount_sentence", noted)
    app = opened("Systems", VIEW)
    scores = {name: caches.scores(DEMO, name, Settings()).counts("strict").f1 or 0 for name in SYSTEMS}
    ranked = sorted(scores, key=scores.__getitem__, reverse=True)
    order = ", ".join(f"{name} {scores[name]:.3f}" for name in ranked)
    assert said == [(f"F1 under strict: {order}. Intervals and tests follow.", False)]
    assert not [line for line in sentences(app) if "follow" in line]
    # With the intervals there it is not said again.
    opened("Systems", VIEW)
    assert len(said) == 1


def test_systems_are_resampled_in_the_server_and_a_process_gets_no_spans(
    sent: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[bytes] = []
    monkeypatch.setattr(computations, "call_apart", lambda call, *_, **__: calls.append(pickle.dumps(call)) or call())
    apart = opened("Systems", VIEW)
    assert len(calls) == 1 and b"Layer" not in calls[0]
    monkeypatch.setattr(computations, "RESAMPLED", 1 << 40)
    start_afresh()
    assert sentences(opened("Systems", VIEW)) == sentences(apart) and len(calls) == 1
