"""Colour stands on terminals only, and NO_COLOR and FORCE_COLOR are respected: tried through pseudo-terminals."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

import nereval_core as nereval
from nereval_core.tables import Table, columns_of
from nereval_core.tables.terminal import as_screen
from tests.support import ROOT

pty = pytest.importorskip("pty")
BIOLOGY = ROOT / "demo_data" / "biology"
GOLD, RULES, PERCEPTRON = (str(BIOLOGY / f"{name}.jsonl") for name in ("gold", "rules", "perceptron"))
SCORE = ("score", GOLD, RULES, PERCEPTRON, "--criteria", "strict,type", "-q")
CODES = re.compile(r"\x1b\[[0-9;]*m")


def run(*arguments: str, terminals: str = "", variables: Mapping[str, str] | None = None) -> tuple[str, str]:
    """Run a verb and return its standard output and error; `terminals`, of "out" and "err", are pseudo-terminals."""
    environment = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR")}
    environment |= {"TERM": "xterm-256color", **(variables or {})}
    command = [sys.executable, "-m", "nereval_core", *arguments]
    pairs = {name: pty.openpty() if name in terminals.split() else os.pipe() for name in ("out", "err")}
    # The slave of a pseudo-terminal and the end of a pipe that is written to stand second.
    child = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=pairs["out"][1], stderr=pairs["err"][1], env=environment, cwd=ROOT
    )
    texts = []
    for _, end in pairs.values():
        os.close(end)
    for start, _ in pairs.values():
        content = b""
        # A terminal whose other side is closed ends in an error on Linux.
        try:
            while block := os.read(start, 65536):
                content += block
        except OSError:
            pass
        os.close(start)
        texts.append(content.decode().replace("\r\n", "\n"))
    assert child.wait() == 0, texts
    return texts[0], texts[1]


def test_a_terminal_has_colour_and_the_same_words() -> None:
    coloured, _ = run(*SCORE, terminals="out err")
    plain, _ = run(*SCORE)
    assert "\x1b" not in plain
    note = "bold: the highest F1, not tested (`nereval compare` tests differences of F1)\n"
    assert CODES.sub("", coloured).replace(note, "") == plain
    assert coloured.startswith("\x1b[1mF1 of all systems\x1b[0m\n\x1b[1msystem")
    # The best value of each column, of the library's scores, and no other cell.
    scores = [nereval.score(GOLD, path, criteria=["strict", "type"]) for path in (RULES, PERCEPTRON)]
    best = [f"{max(one.counts(name).f1 or 0 for one in scores):.4f}" for name in ("strict", "type")]
    assert re.findall(r"\x1b\[1;32m(.*?)\x1b\[0m", coloured) == best
    assert re.findall(r"\x1b\[2m(nereval .*?)\x1b\[0m", coloured) == [
        line for line in plain.splitlines() if line.startswith("nereval ")
    ]


NOWHERE = [
    ("err", {}),
    ("out err", {"NO_COLOR": "1"}),
    ("out err", {"NO_COLOR": "1", "FORCE_COLOR": "1"}),
    ("out err", {"TERM": "dumb"}),
    ("out err", {"FORCE_COLOR": "0"}),
    ("", {"FORCE_COLOR": ""}),
]


@pytest.mark.parametrize(("terminals", "variables"), NOWHERE)
def test_nowhere_else(terminals: str, variables: dict[str, str]) -> None:
    out, err = run("score", GOLD, GOLD, PERCEPTRON, "--criteria", "strict", terminals=terminals, variables=variables)
    assert "identical to gold" in err and "0.4912" in out
    assert "\x1b[1m" not in out and "\x1b[33m" not in err


@pytest.mark.parametrize("variables", [{"FORCE_COLOR": "1"}, {"FORCE_COLOR": "3", "NO_COLOR": "", "TERM": "dumb"}])
def test_colour_can_be_forced(variables: dict[str, str]) -> None:
    out, err = run("score", GOLD, GOLD, PERCEPTRON, "--criteria", "strict", variables=variables)
    assert out.startswith("\x1b[1mF1 of all systems") and "\x1b[33mgold: identical to gold" in err


def test_warnings_are_yellow_and_what_was_read_is_not() -> None:
    _, err = run("score", GOLD, GOLD, PERCEPTRON, terminals="out err")
    (warning,) = re.findall(r"\x1b\[33m(.*?)\x1b\[0m", err)
    assert "identical to gold" in warning and "20 documents" in CODES.sub("", err)


@pytest.mark.parametrize("form", ["--markdown", "--latex", "--csv", "--json", "--html"])
def test_files_have_no_colour(form: str, tmp_path: Path) -> None:
    out, _ = run(*SCORE, form, "-", terminals="out err", variables={"FORCE_COLOR": "1"})
    assert "\x1b" not in out and out
    run(*SCORE, form, str(tmp_path / "file"), variables={"FORCE_COLOR": "1"})
    assert "\x1b" not in (tmp_path / "file").read_text(encoding="utf-8")


def test_a_type_cannot_paint_the_terminal() -> None:
    sheet = Table(
        "a\x1b[31m",
        columns_of("name\x1b[7m", "F1"),
        (("\x1b[5mX", 0.5), ("Y", 0.4)),
        ("n\x1b[2J",),
        frozenset({(0, 1)}),
    )
    printed = as_screen([sheet], colour=True)
    assert set(CODES.findall(printed)) == {"\x1b[1m", "\x1b[1;32m", "\x1b[2m", "\x1b[0m"}
    assert CODES.sub("", printed) == as_screen([sheet]) and "\x1b" not in as_screen([sheet])
