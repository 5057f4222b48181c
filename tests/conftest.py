"""Settings of all tests: drawn examples are the same on every run, and no example is held against the clock.

A run in which no test passed, because all were skipped, is no success.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import settings

from tests.browser import launched, served

settings.register_profile("nereval", derandomize=True, deadline=None, max_examples=60)
settings.load_profile("nereval")


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """A headless Chromium; without one the test is skipped, or fails under CI=true."""
    with launched() as started:
        yield started


@pytest.fixture(scope="session")
def app() -> Iterator[str]:
    """The address of the running app."""
    with served() as address:
        yield address


def pytest_sessionfinish(session: pytest.Session) -> None:
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    # Workers of xdist see only their share: the session that collects the reports decides.
    if session.config.option.collectonly or reporter is None or hasattr(session.config, "workerinput"):
        return
    if session.exitstatus == pytest.ExitCode.OK and not reporter.stats.get("passed"):
        session.exitstatus = pytest.ExitCode.NO_TESTS_COLLECTED
