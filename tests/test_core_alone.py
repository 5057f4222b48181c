"""The wheel without extras, in an environment of its own: verbs and library work, or name the extra they need."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

import nereval_core
from nereval_core.cli import VERBS
from tests.support import ROOT
from tests.support.core_environment import install_core

DEMO = ROOT / "demo_data" / "biology"
GOLD, RULES, PERCEPTRON = (str(DEMO / f"{layer}.jsonl") for layer in ("gold", "rules", "perceptron"))
LINKED = '{"id": "d", "text": "Rome", "spans": [{"start": 0, "end": 4, "label": "LOC", "links": ["Q220"]}]}\n'
WORKING = [
    ["agreement", RULES, PERCEPTRON],
    ["check", GOLD, RULES, "--min", "strict.f1=0.5", "--junit", "checks.xml"],
    ["compare", GOLD, RULES, PERCEPTRON, "--latex", "t.tex", "--html", "t.html", "--csv", "t.csv", "--json", "t.json"],
    ["completion", "bash"],
    ["consistency", GOLD, RULES],
    ["conventions"],
    ["convert", GOLD, "gold", "--to", "parquet"],
    ["criteria"],
    ["errors", GOLD, RULES],
    ["formats"],
    ["index", "linked.jsonl", "linked.jsonl"],
    ["link", "linked.jsonl", "linked.jsonl"],
    ["score", GOLD, RULES, "--criteria", "all", "--records", "records.csv", "--markdown", "table.md"],
    ["score", GOLD, RULES, "--convention", "nervaluate-1.2.1"],
    ["sensitivity", GOLD, RULES],
    ["slices", GOLD, RULES],
    ["store"],
    ["types", GOLD, RULES],
]
WITHOUT_EXTRA = [
    (["app"], "the extra [app]"),
    (["doctor"], "the extra [app]"),
    (["report", GOLD, RULES, "--out", "report.html"], "the extra [app]"),
    (["review", "adjudicate", RULES, PERCEPTRON, "--out", "both.jsonl"], "the extra [app]"),
    (["review", "apply", GOLD, "--out", "corrected.jsonl"], "the extra [app]"),
    (["review", "backup", "copy.sqlite"], "the extra [app]"),
    (["review", "export"], "the extra [app]"),
    (["review", "import", "linked.jsonl"], "the extra [app]"),
    (["review", "list"], "the extra [app]"),
    (["review", "what-if", GOLD, RULES], "the extra [app]"),
    (["score", GOLD, RULES, "--excel", "table.xlsx"], "the extra [app]"),
    (["errors", GOLD, RULES, "--figure", "figure.html"], "pip install plotly"),
    (["convert", RULES, "rules.spacy", "--to", "docbin", "--lossy"], "pip install spacy"),
]
"""Arguments that need an extra, and the part of the line on standard error that says which."""
NAMES_WITH_EXTRA = {"adjudicate", "apply_verdicts", "report_of", "scores_with_verdicts"}


@pytest.fixture(scope="module")
def core_alone(distributions: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment with the wheel and what it requires, without extras."""
    folder = tmp_path_factory.mktemp("core")
    (folder / "linked.jsonl").write_text(LINKED)
    return install_core(distributions, folder)


RUN_ALL = """
import contextlib, io, json, sys
from nereval_core.cli import main
for arguments in json.loads(sys.argv[1]):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            status = main(arguments)
        except SystemExit as end:
            status = end.code
    print(json.dumps([status, out.getvalue(), err.getvalue()]))
"""


def run_all(python: Path, commands: list[list[str]]) -> list[tuple[int, str, str]]:
    """Return exit status, standard output and standard error of each command, all run in one new process."""
    call = [str(python), "-c", RUN_ALL, json.dumps(commands)]
    done = subprocess.run(call, cwd=python.parents[2], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return [(status, out, err) for status, out, err in map(json.loads, done.stdout.splitlines())]


@pytest.fixture(scope="module")
def results(core_alone: Path) -> list[tuple[int, str, str]]:
    """What each of WORKING says and ends with: each in a process of its own would mostly import pandas again."""
    return run_all(core_alone, WORKING)


def test_every_verb_is_tried() -> None:
    commands = [" ".join(arguments) for arguments in (*WORKING, *(row[0] for row in WITHOUT_EXTRA))]
    assert all(any(f"{command} ".startswith(f"{verb} ") for command in commands) for verb in VERBS)


@pytest.mark.parametrize(
    "number", range(len(WORKING)), ids=[" ".join(arguments[::3]).replace(str(DEMO), "demo") for arguments in WORKING]
)
def test_a_verb_of_the_core_works(results: list[tuple[int, str, str]], number: int) -> None:
    status, _, err = results[number]
    assert (status, "Traceback" in err) == (0, False), err


def test_the_core_is_run_as_a_module(core_alone: Path) -> None:
    call = [str(core_alone), "-m", "nereval_core", "criteria"]
    assert "strict" in subprocess.run(call, capture_output=True, text=True, check=True).stdout


def test_verbs_that_need_an_extra_say_so(core_alone: Path) -> None:
    """They import little before they see that a package is missing."""
    commands = [arguments for arguments, _ in WITHOUT_EXTRA]
    for (status, out, err), (arguments, line) in zip(run_all(core_alone, commands), WITHOUT_EXTRA, strict=True):
        assert (status, out) == (2, ""), arguments
        assert line in err.splitlines()[-1] and "Traceback" not in err, arguments


def test_names_of_the_library_can_be_imported(core_alone: Path) -> None:
    code = (
        "import nereval_core\n"
        "for name in nereval_core.__all__:\n"
        "    try:\n"
        "        getattr(nereval_core, name)\n"
        "    except ModuleNotFoundError as error:\n"
        "        print(error)\n"
    )
    done = subprocess.run(
        [str(core_alone), "-c", code], cwd=core_alone.parent, capture_output=True, text=True, check=True
    )
    lines = {line.partition(":")[0]: line for line in done.stdout.splitlines()}
    assert lines.keys() == NAMES_WITH_EXTRA <= set(nereval_core.__all__)
    assert all("the extra [app]" in line for line in lines.values())
