"""Settings of all tests: drawn examples are the same on every run, and no example is held against the clock.

A run in which no test passed, because all were skipped, is no success.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from _pytest.assertion import rewrite
from hypothesis import settings
from hypothesis.internal.conjecture import providers

from nereval_core.cli import main
from tests.support import OFFLINE, ROOT, databases
from tests.support.browser import Visit, serve_app, start_browser
from tests.support.commands import Cli
from tests.support.core_environment import build_once
from tests.support.offline import sitecustomize as sitecustomize  # Refuses connections from now on.
from tests.support.scripts import Run, start_node

# Tests start many processes: where Python is kept from writing what it compiles, each would compile the product anew.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
# What verbs print is compared without colour, which services that run tests ask for.
os.environ.pop("FORCE_COLOR", None)
# A shell has what it runs in the background ignore interrupts, and what that starts in turn: tests send some.
signal.signal(signal.SIGINT, signal.default_int_handler)
# What tests read is not to lie beside what people read.
os.environ["NEREVAL_CACHE"] = ""
# Nor are verdicts; each test process, and the apps it starts, have a file of their own.
os.environ["NEREVAL_REVIEW_URL"] = f"sqlite:///{tempfile.mkdtemp(prefix='nereval-')}/review.sqlite"

# Nothing that tests start opens a connection that leaves this machine; see `connections`.
os.environ["PYTHONPATH"] = str(OFFLINE)
os.environ["NEREVAL_CONNECTIONS"] = tempfile.mkstemp(prefix="nereval-")[1]

# Hypothesis draws constants that it finds in the modules imported so far: what a test is given would depend on which
# tests ran before it in the same process. No setting leaves them out: `derandomize` fixes the seed, not what is drawn
# from, and a backend of our own would have to override the same private name, and is not known to exhaust small spaces.
NO_CONSTANTS = providers._local_constants
providers._get_local_constants = lambda: NO_CONSTANTS

settings.register_profile("nereval", derandomize=True, deadline=None, max_examples=15)
# With `--hypothesis-profile nightly` more is drawn, also by what says a number of its own.
settings.register_profile("nightly", settings.get_profile("nereval"), max_examples=200)
settings.load_profile("nereval")


@pytest.fixture(scope="session", autouse=True)
def connections() -> Iterator[None]:
    """Fail where the app, a command or the library tried to leave this machine, even if it went on without."""
    yield
    log = Path(os.environ["NEREVAL_CONNECTIONS"])
    tried = log.read_text()
    log.unlink()
    assert not tried


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """A headless Chromium; without one the test is skipped, or fails under CI=true."""
    with start_browser() as started:
        yield started


@pytest.fixture(scope="session")
def node() -> Iterator[Run | None]:
    """A node that calls functions of JavaScript, if it is installed."""
    with start_node() as call:
        yield call


@pytest.fixture(scope="session")
def distributions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel and the source distribution, which the processes of a run share."""
    base = tmp_path_factory.getbasetemp()
    return build_once((base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "distributions")


@pytest.fixture(scope="session")
def app() -> Iterator[str]:
    """The address of the running app."""
    with serve_app() as address:
        yield address


@pytest.fixture(scope="session")
def window(browser: Any, app: str) -> Iterator[Visit]:
    """A page in the browser that has loaded the running app, which takes longer than to draw a page of it."""
    opened = Visit(browser, app)
    yield opened
    opened.context.close()


@pytest.fixture
def visit(window: Visit) -> Iterator[Visit]:
    """A stranger's page in the browser, at the running app."""
    window.begin_anew()
    yield window
    window.check()


@pytest.fixture(scope="session")
def server() -> Iterator[databases.Server]:
    """A PostgreSQL server, which tests share: each empties the database first."""
    with databases.server() as started:
        yield started


@pytest.fixture
def command(capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Run a verb in a folder of its own; return exit status, standard output and standard error."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def run(*arguments: str) -> tuple[int, str, str]:
        capfd.readouterr()
        status = main(list(arguments))
        out, err = capfd.readouterr()
        return status, out, err

    return run


@pytest.fixture
def cli(command: Cli) -> Cli:
    """Run `score`, as `command` does."""
    return partial(command, "score")


def pytest_configure(config: pytest.Config) -> None:
    """Rewrite the assertions of a share of the files, for all workers: in a fresh clone each would rewrite them all."""
    worker = getattr(config, "workerinput", None)
    if worker is None:
        return
    number = int(worker["workerid"].removeprefix("gw"))
    for path in sorted((ROOT / "tests").rglob("test_*.py"))[number :: worker["workercount"]]:
        folder = rewrite.get_cache_dir(path)
        compiled = folder / (path.stem + rewrite.PYC_TAIL)
        if rewrite.try_makedirs(folder) and rewrite._read_pyc(path, compiled) is None:
            status, code = rewrite._rewrite_test(path, config)
            rewrite._write_pyc(config.stash[rewrite.assertstate_key], code, status, compiled)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--nightly", action="store_true", help="run the tests marked nightly too")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Keep the garbage collector from looking through thousands of tests and all modules again and again."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark what takes the browser, so that no file has to, and run files with such tests first: they wait the most."""
    if not config.option.nightly:
        config.hook.pytest_deselected(items=[item for item in items if item.get_closest_marker("nightly")])
        items[:] = [item for item in items if not item.get_closest_marker("nightly")]
    for item in items:
        if {"browser", "visit"} & set(getattr(item, "fixturenames", ())):
            item.add_marker("browser")
        if item.get_closest_marker("browser"):
            # Tried again once: hundreds of tests that click while other processes have the machine miss one now and
            # then. The summary names each that needed it (RERUN).
            item.add_marker(pytest.mark.flaky(reruns=1))
    waiting = {item.path for item in items if item.get_closest_marker("browser")}
    items.sort(key=lambda item: item.path not in waiting)


def pytest_sessionfinish(session: pytest.Session) -> None:
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    # Workers of xdist see only their share: the session that collects the reports decides.
    if session.config.option.collectonly or reporter is None or hasattr(session.config, "workerinput"):
        return
    if session.exitstatus == pytest.ExitCode.OK and not reporter.stats.get("passed"):
        session.exitstatus = pytest.ExitCode.NO_TESTS_COLLECTED
