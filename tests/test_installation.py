"""What is installed from the wheel works on its own: the command, the pages, the demo, and files that are named."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import sysconfig
import venv
import zipfile
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.support import ROOT
from tests.support.browser import Visit, free_port, serve_command
from tests.support.visitors import Visitor

DEMO = ROOT / "demo_data" / "biology"


@pytest.fixture(scope="module")
def nereval(distributions: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The command in an environment with nothing of ours but the wheel; what it depends on is that of the tests."""
    place = tmp_path_factory.mktemp("installed") / "env"
    venv.create(place)
    (wheel,) = distributions.glob("*.whl")
    pip = [sys.executable, "-m", "pip", "--python", str(place / "bin" / "python"), "install", "--quiet"]
    subprocess.run([*pip, "--no-deps", "--no-index", str(wheel)], check=True)
    (packages,) = place.glob("lib/python*/site-packages")
    (packages / "dependencies.pth").write_text(sysconfig.get_paths()["purelib"] + "\n")
    return str(place / "bin" / "nereval")


def test_the_distributions_are_whole(distributions: Path) -> None:
    files = sorted(distributions.iterdir())
    assert [path.name.partition("-")[0] for path in files] == ["nereval_core", "nereval_core"]
    subprocess.run([sys.executable, "-m", "twine", "check", "--strict", *map(str, files)], check=True)
    (wheel,) = distributions.glob("*.whl")
    with zipfile.ZipFile(wheel) as opened:
        held = set(opened.namelist())
    listed = subprocess.run(["git", "ls-files", "nereval_core", "pages"], cwd=ROOT, capture_output=True, text=True)
    ours = listed.stdout.split() or ["nereval_core/__init__.py", "pages/10_Overview.py"]
    for path in (*ours, "app.py", "demo_data/biology/gold.jsonl", ".streamlit/config.toml"):
        assert (path if path.startswith("nereval_core") else f"nereval_app/{path}") in held


def test_linters_find_nothing_in_the_container_files() -> None:
    server = ROOT / "docs" / "server"
    tools = Path(sys.executable).parent
    for line in (
        [tools / "hadolint", server / "Dockerfile"],
        [tools / "check-jsonschema", "--builtin-schema", "vendor.compose-spec", server / "compose.yaml"],
    ):
        done = subprocess.run(line, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    assert len((server / "Dockerfile").read_text().splitlines()) <= 20


def test_the_demo_opens(nereval: str, browser: Any, tmp_path: Path) -> None:
    port = str(free_port())
    with (
        serve_command([nereval, "app", "--port", port], port, tmp_path) as (address, _),
        closing(Visit(browser, address)) as visit,
    ):
        visit.go("/Overview")
        visit.page.get_by_text("Demo: ").first.wait_for()
        # The theme stands in a file of the installation.
        assert visit.page.evaluate("getComputedStyle(document.querySelector('.stApp')).color") == "rgb(31, 36, 48)"


def test_named_files_open(nereval: str, tmp_path: Path) -> None:
    port = str(free_port())
    files = [str(DEMO / "gold.jsonl"), f"mine={DEMO / 'rules.jsonl'}"]
    with (
        serve_command([nereval, "app", *files, "--port", port], port, tmp_path) as (address, _),
        Visitor(address) as visitor,
    ):
        visitor.open("Overview")
        texts = list(visitor.shown.texts())
        assert any('"mine"' in text for text in texts) and not any("Demo: " in text for text in texts)
        visitor.open()
        assert any("F1 under strict" in text for text in visitor.shown.texts())


def test_an_interrupt_ends_the_server_in_silence(nereval: str, tmp_path: Path) -> None:
    port, log = str(free_port()), tmp_path / "log"
    with serve_command([nereval, "app", "--port", port], port, tmp_path, log=log) as (_, process):
        os.kill(process, signal.SIGINT)
        _, status = os.waitpid(process, 0)
    assert os.waitstatus_to_exitcode(status) == 130
    assert "Aborted" not in log.read_text() and "Traceback" not in log.read_text()


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["bad.jsonl", str(DEMO / "rules.jsonl")], "bad.jsonl:1: not JSON"),
        (["--data", "nowhere"], "nereval app: --data nowhere: no such folder"),
        (["--masked"], "nereval app: unrecognized arguments: --masked"),
        (["--review", str(DEMO / "gold.jsonl" / "new.sqlite")], f"{DEMO / 'gold.jsonl' / 'new.sqlite'}: "),
    ],
)
def test_bad_input_starts_no_server(nereval: str, tmp_path: Path, arguments: list[str], line: str) -> None:
    (tmp_path / "bad.jsonl").write_text('{"id": 1\n')
    command = [nereval, "app", *arguments, "--port", str(free_port())]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert any(said.startswith(line) for said in done.stderr.splitlines()), done.stderr
