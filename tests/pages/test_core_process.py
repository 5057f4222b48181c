"""Calls in a process of their own: the same answers as here, and an end once nobody waits for them."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from nereval_core.api.load_options import LoadOptions
from nereval_core.cli import BLAS_THREADS
from nereval_core.corpus import Corpus
from nereval_core.problems import FormatError
from nereval_core.readers import Source
from nereval_core.scoring import Settings, score_layers
from pages.shared.data.computations import is_tangled, overlapping_pairs
from pages.shared.data.loading import load, load_demo
from pages.shared.data.reading_orders import Again
from pages.shared.server import core_process
from pages.shared.server.core_process import call_apart
from tests.support.samples import nested


def written(folder: Path, spans: int, more: int = 0) -> tuple[Path, Path]:
    gold, system = folder / "gold.jsonl", folder / "system.jsonl"
    gold.write_text(nested(spans, 0, more))
    system.write_text(nested(spans, 1, more))
    return gold, system


def tangled(folder: Path, spans: int, more: int = 0) -> Corpus:
    gold, system = map(Source.of_path, written(folder, spans, more))
    return load("tangled", gold, {"system": system}).corpus


@pytest.fixture
def processes(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The processes that are started to compute."""
    found: list[Any] = []
    start = core_process.start_process

    def noted() -> Any:
        found.append(start())
        return found[-1]

    monkeypatch.setattr(core_process, "start_process", noted)
    return found


@pytest.mark.parametrize("more", [0, 300_000], ids=["less than a pipe holds", "more than a pipe holds"])
def test_the_scores_are_those_of_scoring_here(tmp_path: Path, processes: list[Any], more: int) -> None:
    corpus = tangled(tmp_path, 130, more)
    gold, pred = corpus.gold, corpus.system("system")
    asked = iter(range(1_000))
    # What never ends would be asked about for ever: the questions run out.
    scoring = partial(score_layers, gold, pred, Settings(), marks=("m",))
    found = call_apart(scoring, "scoring", check_wanted=lambda: next(asked) and None)
    here = score_layers(gold, pred, Settings(), marks=("m",))
    assert len(processes) == 1
    assert found.read == (gold, pred) and found.marks == ("m",)
    for criterion in here.criteria:
        assert found.counts(criterion.name) == here.counts(criterion.name)
        assert [side.tolist() for side in found.partners(criterion.name)] == [
            side.tolist() for side in here.partners(criterion.name)
        ]


def test_only_what_is_tangled_takes_long_to_score(tmp_path: Path) -> None:
    corpus = load_demo("pharmacology").corpus
    assert not any(is_tangled(corpus.gold, system) for system in corpus.systems)
    nested = tangled(tmp_path, 130)
    assert is_tangled(nested.gold, nested.system("system"))


def test_a_process_ends_with_the_server() -> None:
    process = core_process.start_process()
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(pickle.dumps(partial(time.sleep, 600)) + pickle.dumps([]))
    # When a server ends, however that comes, its end of the pipe is closed.
    process.stdin.close()
    assert process.wait(60) == 1
    process.stdout.close()


def test_a_process_that_c_code_aborts_has_no_memory() -> None:
    with pytest.raises(FormatError, match="takes more memory than there is"):
        call_apart(os.abort, "aborting", check_wanted=lambda: None)


def test_a_process_that_ends_without_an_answer_is_a_fault() -> None:
    with pytest.raises(RuntimeError, match="ended with status 5"):
        call_apart(partial(os._exit, 5), "ending", check_wanted=lambda: None)


def test_mappings_that_nobody_writes_to_come_back_as_they_went() -> None:
    mapping = MappingProxyType({"a": 1})
    returned = call_apart(partial(max, [mapping], key=len), "mapping", check_wanted=lambda: None)
    assert type(returned) is MappingProxyType and returned == mapping


def test_what_is_read_again_is_sent_without_what_stands_in_the_store(processes: list[Any], tmp_path: Path) -> None:
    sources = dict.fromkeys(("gold", "system"), Source.of_path(written(tmp_path, 1)[0]))
    order = Again("again", "key", None, sources, LoadOptions())
    assert call_apart(partial(getattr, order, "sources"), "order", check_wanted=lambda: None) is None
    assert len(processes) == 1


def test_what_nobody_waits_for_is_ended(tmp_path: Path, processes: list[Any]) -> None:
    corpus = tangled(tmp_path, 600)

    def check_wanted() -> None:
        if processes:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        call_apart(partial(score_layers, corpus.gold, corpus.system("system")), "scoring", check_wanted=check_wanted)
    assert processes[0].returncode != 0


@pytest.mark.parametrize(
    ("gold", "pred", "pairs"),
    [
        ([], [], 0),
        ([(0, 2)], [(2, 4)], 0),
        ([(0, 2)], [(1, 4)], 1),
        ([(0, 9), (1, 8)], [(0, 1), (2, 3), (8, 9)], 4),
        ([(0, 2), (10, 12)], [(0, 12)], 2),
    ],
)
def test_overlapping_pairs(gold: list[Any], pred: list[Any], pairs: int, tmp_path: Path) -> None:
    layers = []
    for name, spans in (("gold", gold), ("system", pred)):
        said = [{"start": start, "end": end, "label": "T"} for start, end in spans]
        lines = ({"id": doc, "text": "x" * 12, "spans": said} for doc in "ab")
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        layers.append(Source.of_path(tmp_path / f"{name}.jsonl"))
    corpus = load("pairs", layers[0], {"system": layers[1]}).corpus
    assert overlapping_pairs(corpus.gold, corpus.system("system")) == 2 * pairs


def test_the_server_and_what_it_starts_multiply_on_one_thread() -> None:
    # `streamlit run app.py` does not pass the command line, which says so for its verbs.
    code = (
        "import streamlit.web.cli, os, sys; from streamlit.starlette import App; import pages.shared; "
        f"print(os.environ['{BLAS_THREADS}'], 'numpy' in sys.modules)"
    )
    environment = {name: value for name, value in os.environ.items() if name != BLAS_THREADS}
    run = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["1", "False"]
    assert call_apart(partial(os.getenv, BLAS_THREADS), "threads", check_wanted=lambda: None) == "1"
