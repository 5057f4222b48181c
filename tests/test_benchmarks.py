"""Every group of benchmarks runs, on corpora so small that its figures say nothing."""

from __future__ import annotations

import math
import os
import subprocess
import sys

import pytest

from tests.benchmarks.__main__ import GROUPS, measured
from tests.benchmarks.app import corpus
from tests.benchmarks.scales import Scale
from tests.support import ROOT

IN_BROWSER = ("app", "store", "folder")
LONG = ("growth",)
"""Groups that start dozens of processes: the night is early enough to see that they fail."""


@pytest.mark.parametrize(
    "group",
    [
        pytest.param(group, marks=[pytest.mark.nightly] if group in LONG else [])
        for group in GROUPS
        if group not in IN_BROWSER
    ],
)
def test_a_group_runs_and_gives_its_rows(group: str, capsys: pytest.CaptureFixture[str]) -> None:
    rows = list(measured(group, Scale.TINY))
    said = capsys.readouterr().out
    if "not measured to its end" in said:
        pytest.skip(said.strip())
    assert rows and len({what for what, *_ in rows}) == len(rows)
    assert all(math.isfinite(figure) for _, figure, _ in rows)


@pytest.mark.parametrize(
    ("group", "least"),
    [
        ("parquet", 4),
        *(pytest.param(group, 3, marks=[pytest.mark.browser, pytest.mark.nightly]) for group in IN_BROWSER),
    ],
)
def test_the_command_prints_the_rows_of_the_groups_that_are_named(group: str, least: int) -> None:
    """In a process of its own: a browser of the tests may run in this one."""
    command = [sys.executable, "-m", "tests.benchmarks", "--tiny", group]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    if "not measured to its end" in run.stdout and os.environ.get("CI") != "true":
        pytest.skip(run.stdout)
    assert "not measured to its end" not in run.stdout
    assert len(run.stdout.splitlines()) >= least + 3


@pytest.mark.parametrize("types", [1, 4, 20, 30, 60])
def test_a_corpus_of_any_number_of_types_has_spans_of_each(types: int) -> None:
    gold = corpus(2_000, types).gold
    assert len(gold.types) == len(set(gold.type.tolist())) == types
