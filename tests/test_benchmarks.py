"""Every group of benchmarks runs, on corpora so small that its figures say nothing."""

from __future__ import annotations

import math
import subprocess
import sys

import pytest

from tests.benchmarks.__main__ import GROUPS, measured
from tests.benchmarks.scales import Scale
from tests.support.browser import ROOT

IN_BROWSER = ("app", "store", "folder")


@pytest.mark.parametrize(
    "group",
    [
        pytest.param(group, marks=[pytest.mark.browser, pytest.mark.xdist_group("browser")] * (group in IN_BROWSER))
        for group in GROUPS
    ],
)
def test_a_group_runs_and_gives_its_rows(group: str, capsys: pytest.CaptureFixture[str]) -> None:
    rows = list(measured(group, Scale.TINY))
    said = capsys.readouterr().out
    if "not measured to its end" in said:
        pytest.skip(said.strip())
    assert rows and len({what for what, *_ in rows}) == len(rows)
    assert all(math.isfinite(figure) for _, figure, _ in rows)


def test_the_command_prints_the_rows_of_the_groups_that_are_named() -> None:
    command = [sys.executable, "-m", "tests.benchmarks", "--tiny", "parquet"]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    rows = [line for line in run.stdout.splitlines() if "spans" in line or "shards" in line]
    assert len(rows) == 4
