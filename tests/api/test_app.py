"""The pages in the background of a notebook: one server for all that it must show, and refusals without one."""

from __future__ import annotations

import importlib.util
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit
from urllib.request import urlopen

import pytest

import nereval_core as nereval
from nereval_core.api import app as app_module
from nereval_core.api.app import RunningPages
from nereval_core.problems import FormatError
from pages.shared.view.link import read_link
from tests.support import ROOT
from tests.support.commands import Cli

DEMO = ROOT / "demo_data" / "biology"
GOLD, RULES, PERCEPTRON = (str(DEMO / f"{name}.jsonl") for name in ("gold", "rules", "perceptron"))
MERGE = {"protein": "a,b", "DNA": "a,b"}


@pytest.fixture(scope="module")
def pages() -> Iterator[RunningPages]:
    options: dict[str, Any] = {"criteria": ["type"], "merge": MERGE, "leave_out": ["RNA"]}
    scores = {name: nereval.score(GOLD, path, **options) for name, path in (("r=1", RULES), ("p", PERCEPTRON))}
    running = nereval.app(scores)
    yield running
    running.stop()


def test_the_pages_answer_at_their_address(pages: RunningPages) -> None:
    with urlopen(pages.address) as answer:
        assert answer.status == 200
    assert pages.is_running and pages.address.startswith("http://localhost:")


def test_the_address_carries_the_settings_of_the_scores(pages: RunningPages) -> None:
    parameters = {name: value for name, (value,) in parse_qs(urlsplit(pages.address).query).items()}
    view, notices = read_link(parameters)
    assert (view.system, view.criterion, notices) == ("r_1", "type", ())
    assert (dict(view.merge), view.leaveout) == (MERGE, ("RNA",))


def test_the_pages_show_themselves_as_a_link(pages: RunningPages) -> None:
    html = pages._repr_html_()
    assert f'href="{pages.address.replace("&", "&amp;")}"' in html and "this machine alone" in html
    assert repr(pages).splitlines()[0] == pages.address and "stop() ends them" in repr(pages)


def test_a_port_in_use_is_refused(pages: RunningPages) -> None:
    port = urlsplit(pages.address).port
    with pytest.raises(FormatError, match=f"port: {port} is not free"):
        nereval.app(nereval.score(GOLD, RULES), port=port)


def test_a_server_that_ends_at_once_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    command = [sys.executable, "-c", "print('no memory'); raise SystemExit(2)"]
    monkeypatch.setattr(app_module, "serving_command", lambda *arguments, **options: command)
    with pytest.raises(FormatError, match="app: the server ended at its start: no memory; try"):
        nereval.app(nereval.score(GOLD, RULES))


def test_pages_end_by_stop_and_with_their_program(pages: RunningPages, tmp_path: Path) -> None:
    """A process of ours starts pages and is killed: they end, too."""
    code = (
        "import nereval_core as n, time; "
        f"pages = n.app(n.score({GOLD!r}, {RULES!r})); print(pages._process.pid, flush=True); time.sleep(60)"
    )
    # Its folder is left to the next process; `nereval doctor`, of another test, would find it.
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    program = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, cwd=ROOT, env=environment
    )
    assert program.stdout is not None
    server = Path("/proc", program.stdout.readline().strip())
    assert server.is_dir()
    program.send_signal(signal.SIGKILL)
    program.wait()
    program.stdout.close()
    end = time.monotonic() + 20
    while server.is_dir() and time.monotonic() < end:
        time.sleep(0.1)
    assert not server.is_dir()
    folder = Path(pages._folder.name)
    assert {place.name for place in folder.iterdir()} >= {"gold.jsonl", "system-1.jsonl", "system-2.jsonl"}
    pages.stop()
    pages.stop()
    assert not pages.is_running and not folder.exists()
    assert "they have ended" in repr(pages)


def test_without_streamlit_the_refusal_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    find_spec = importlib.util.find_spec

    def without_streamlit(name: str, package: str | None = None) -> Any:
        return None if name == "streamlit" else find_spec(name, package)

    monkeypatch.setattr("nereval_core.api.serving.find_spec", without_streamlit)
    with pytest.raises(FormatError, match="the pages need Streamlit and Plotly; install the extra"):
        nereval.app(nereval.score(GOLD, RULES))


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_scores_that_no_page_can_show() -> None:
    scores = nereval.score(GOLD, RULES)
    other = nereval.score("demo_data/pharmacology/gold.jsonl", "demo_data/pharmacology/rules.jsonl")
    spans = nereval.score([[(0, 1, "A")]], [[(0, 1, "A")]])
    for systems, message in (
        ({}, "no scores"),
        ({"a": scores, "b": other}, "b was scored against another gold"),
        (spans, "no texts"),
    ):
        with pytest.raises(FormatError, match=message):
            nereval.app(systems)
    with pytest.raises(FormatError, match="--port"):
        nereval.app(scores, port=0)


def test_settings_that_the_pages_do_not_have_are_named() -> None:
    own = nereval.score(GOLD, RULES, criteria=["strict"], counting="each-side")
    assert app_module._view("rules", own) == (
        {"system": "rules", "criterion": "strict"},
        ("The pages align gold spans and predictions one to one.",),
    )


@pytest.mark.parametrize(
    ("files", "line"),
    [
        (["nowhere.jsonl", GOLD], "nowhere.jsonl: no such file or folder; check the path"),
        ([GOLD, "a=nowhere.jsonl"], "nowhere.jsonl: no such file or folder; check the path"),
        ([f"gold={GOLD}", f"gold={RULES}", "nowhere/"], "nowhere/: no such file or folder; check the path"),
        ([GOLD, f"a={RULES}", RULES, RULES], "RULES: a second system is called 'rules'".replace("RULES", RULES)),
    ],
)
def test_files_that_cannot_be_opened_start_no_server(
    files: list[str], line: str, command: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "execve", lambda *_: pytest.fail("a server was started"))
    status, out, err = command("app", *files)
    assert (status, out) == (2, "") and line in err


def test_files_that_can_be_opened_are_left_to_the_server(command: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    lines: list[list[str]] = []
    monkeypatch.setattr(os, "execve", lambda _, line, __: lines.append(line))
    monkeypatch.setattr(sys, "stdin", None)
    # Standard input is the server's to read.
    command("app", "-", f"a={RULES}", "--port", "8600")
    assert lines[0][-3:] == ["--files", "-", f"a={RULES}"]
