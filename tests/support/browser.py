"""The app in a real browser: a server, a browser, and what waiting and clicking need."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.support import ROOT

MISSING = "Chromium is not installed: install it (Debian: apt-get install chromium) to run the browser tests"
OPTIONS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]


def chromium() -> str:
    """Return the browser's path; without one skip the test, or fail it in CI."""
    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if path is None:
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(MISSING)
    return str(path)


@contextmanager
def launched() -> Iterator[Any]:
    """Start a browser for as long as the block lasts."""
    path = chromium()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=path, args=OPTIONS)
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def served(*arguments: str, script: Path = ROOT / "app.py") -> Iterator[str]:
    """Start the app (or another script) as its users do, on a free port of this machine; yield its address."""
    with running(*arguments, script=script) as (address, _):
        yield address


@contextmanager
def running(*arguments: str, script: Path = ROOT / "app.py") -> Iterator[tuple[str, int]]:
    """Do as `served`; yield the number of the server's process too."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", str(script), "--server.port", str(port), "--", *arguments]
    server = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(300):
            assert server.poll() is None, "the server stopped by itself"
            try:
                urllib.request.urlopen(f"{address}/_stcore/health", timeout=5).close()
                break
            except OSError:
                time.sleep(0.2)
        else:
            raise AssertionError("the server did not answer within a minute")
        yield address, server.pid
    finally:
        server.terminate()
        server.wait(30)


class Visit:
    """One page in a fresh browser context: it leaves this machine never, and its console has no errors."""

    def __init__(self, browser: Any, address: str, **context: Any) -> None:
        self.address = address
        self.problems: list[str] = []
        self.context = browser.new_context(**{"viewport": {"width": 1440, "height": 900}, **context})
        self.context.route("**/*", self._keep_here)
        self.page = self.context.new_page()
        self.page.set_default_timeout(60_000)
        self.page.on("pageerror", lambda error: self.problems.append(f"error: {error}"))
        self.page.on("console", self._heard)

    def _keep_here(self, route: Any) -> None:
        if urlsplit(route.request.url).hostname in ("127.0.0.1", None):
            route.continue_()
        else:
            self.problems.append(f"request leaves the machine: {route.request.url}")
            route.abort()

    def _heard(self, message: Any) -> None:
        # Streamlit itself asks for two paths below the page's own before it finds its server.
        probe = message.location.get("url", "").endswith(("/_stcore/health", "/_stcore/host-config"))
        if message.type == "error" and not probe:
            self.problems.append(f"console: {message.text} ({message.location.get('url')})")

    def go(self, path: str = "/") -> None:
        """Open a page and wait until it is drawn."""
        self.page.goto(self.address + path)
        self.drawn(0)

    def runs(self) -> int:
        """Return how often the page has run to its end: its last element says it."""
        names = self.page.locator("[class*='st-key-run-']").evaluate_all("all => all.map(e => e.className)")
        found = [int(word.removeprefix("st-key-run-")) for name in names for word in name.split() if "key-run-" in word]
        return max(found, default=0)

    def drawn(self, since: int) -> None:
        """Wait until the page has run once more than `since` and rests."""
        for _ in range(1_200):
            busy = self.page.locator("[data-testid='stApp'][data-test-script-state='running']").count()
            if self.runs() > since and not busy and not self.page.locator("[data-stale='true']").count():
                return
            self.page.wait_for_timeout(50)
        raise AssertionError(f"the page did not run again after run {since}")

    @contextmanager
    def rerun(self) -> Iterator[None]:
        """Wait, after the block, until what it did has changed the page."""
        before = self.runs()
        yield
        self.drawn(before)

    def close(self) -> None:
        self.context.close()
        assert self.problems == []
