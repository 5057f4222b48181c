"""The app in a real browser: start a server and a browser, open pages, click, wait and read."""

from __future__ import annotations

import os
import re
import shutil
import socket
import ssl
import subprocess
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode, urlsplit

import pytest

from pages.shared.view.link import write_link
from tests.support import ROOT
from tests.support.forked_servers import ForkedServer, fork_server

if TYPE_CHECKING:
    from pages.shared.view import View

MISSING = "Chromium is not installed: install it (Debian: apt-get install chromium) to run the browser tests"
HERE = "127.0.0.1"
MOMENT = 15
"""Seconds for which what a page drew before may stand beside what it draws."""
OPTIONS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    # No other name or address is found: nothing a page asks for leaves this machine.
    f"--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE {HERE}",
]


def chromium() -> str:
    """Return the browser's path; without one skip the test, or fail it in CI."""
    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if path is None:
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(MISSING)
    return str(path)


@contextmanager
def start_browser() -> Iterator[Any]:
    """Start a browser for as long as the block lasts."""
    path = chromium()
    from playwright.sync_api import sync_playwright

    _have_locators_wait()
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=path, args=OPTIONS)
        try:
            yield browser
        finally:
            browser.close()


@cache
def _have_locators_wait() -> None:
    from playwright.sync_api import Locator

    for action in ("click", "fill", "focus", "get_attribute", "hover", "inner_text", "text_content", "wait_for"):
        setattr(Locator, action, _once_alone(getattr(Locator, action)))


def _once_alone(action: Callable[..., Any]) -> Callable[..., Any]:
    """Return an action of a locator that waits while it meets two elements: a page drawn anew has both for a moment."""
    from playwright.sync_api import Error

    @wraps(action)
    def act(locator: Any, *arguments: Any, **options: Any) -> Any:
        end = time.monotonic() + MOMENT
        while True:
            try:
                return action(locator, *arguments, **options)
            except Error as error:
                if "strict mode violation" not in error.message or time.monotonic() > end:
                    raise
            locator.page.wait_for_timeout(100)

    return act


@contextmanager
def serve_app(*arguments: str, script: Path = ROOT / "app.py", port: int | None = None) -> Iterator[str]:
    """Start the app (or another script) as its users do, on a port of this machine or a free one; yield its address."""
    with serve_app_process(*arguments, script=script, port=port) as (address, _):
        yield address


@contextmanager
def serve_app_process(
    *arguments: str,
    script: Path = ROOT / "app.py",
    port: int | None = None,
    log: Path | None = None,
    scheme: str = "http",
) -> Iterator[tuple[str, int]]:
    """Start the app as `serve_app` does; yield its address and the number of the server's process.

    What the server says is added to the file `log`.
    """
    at = str(port or free_port())
    command = ["run", str(script), "--server.port", at, "--", *arguments]
    with _until_left(fork_server(command, str(log or os.devnull)), at, scheme) as address:
        yield address


def free_port() -> int:
    """Return a port of this machine that nobody listens on."""
    with socket.socket() as free:
        free.bind((HERE, 0))
        return int(free.getsockname()[1])


@contextmanager
def serve_command(command: list[str], port: str, folder: Path, *, log: Path | None = None) -> Iterator[tuple[str, int]]:
    """Start a server by a command that is run in a folder; yield its address and the number of its process."""
    with Path(log or os.devnull).open("ab") as said:
        server = subprocess.Popen(command, cwd=folder, stdout=said, stderr=said)
    with _until_left(server, port) as address:
        yield address


@contextmanager
def _until_left(
    server: subprocess.Popen[bytes] | ForkedServer, port: str, scheme: str = "http"
) -> Iterator[tuple[str, int]]:
    """Wait until a server answers, yield its address and the number of its process, and end it."""
    address = f"{scheme}://{HERE}:{port}"
    # It signs its certificate itself.
    context = ssl._create_unverified_context() if scheme == "https" else None
    try:
        for _ in range(600):
            assert server.poll() is None, "the server stopped by itself"
            try:
                urllib.request.urlopen(f"{address}/_stcore/health", timeout=5, context=context).close()
                break
            except OSError:
                time.sleep(0.1)
        else:
            raise AssertionError("the server did not answer within a minute")
        yield address, server.pid
    finally:
        server.terminate()
        server.wait(30)


# In the page: the number of the last run that has ended, which the last element drawn is named by, and whether the page
# rests after a run later than `since`, with the scripts of all components there.
RUNS = """Math.max(0, ...[...document.querySelectorAll("[class*='st-key-run-']")]
    .map((last) => Number(/st-key-run-(\\d+)/.exec(last.className)[1])))"""
RESTS = f"""(since) => {RUNS} > since
    && !document.querySelector("[data-testid='stApp'][data-test-script-state='running'], [data-stale='true']")
    && !document.querySelector("[data-quiet], [data-testid='stBidiComponentRegular']:not(:has(> style))")"""
BEGUN = f"""(since) => {RUNS} > since
    || document.querySelector("[data-testid='stApp'][data-test-script-state='running']")"""
# Whether all that can be clicked stands where it stood when this was asked last.
SETTLED = """() => {
    const places = [...document.querySelectorAll("button, a, td, [role='gridcell'], canvas")]
        .map((target) => Object.values(target.getBoundingClientRect().toJSON()).join()).join(";");
    const isSettled = places === window.placesBefore;
    window.placesBefore = places;
    return isSettled;
}"""
TWO_FRAMES = "() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))"
WIDE = {"width": 1440, "height": 900}
TALL = {"width": 1440, "height": 2400}
"""A window in which all tables of a page are in view."""
ROW = 35
"""Height in pixels of a row of a table, the header included."""


def _accept(dialog: Any) -> None:
    dialog.accept()


class Hand:
    """The clicks and keys that a journey takes."""

    def __init__(self) -> None:
        self.clicks = self.keys = 0

    def click(self, target: Any) -> None:
        self.clicks += 1
        target.click()

    def press(self, page: Any, keys: str | tuple[str, ...]) -> None:
        for key in keys:
            self.keys += 1
            page.keyboard.press(key)


class Visit:
    """A page in a fresh browser context. Closing it fails on any error in its console and any request to elsewhere.

    It asks for reduced motion: drawing what moves while a page loads takes a fifth of the browser's time.
    """

    def __init__(self, browser: Any, address: str, **context: Any) -> None:
        self.address = address
        self.problems: list[str] = []
        self.context = browser.new_context(**{"viewport": WIDE, "reduced_motion": "reduce", **context})
        # Noted, not routed: a browser whose requests are routed keeps no file, and every page loads the whole app anew.
        self.context.on("request", self._note_request)
        self.page = self.context.new_page()
        self.page.set_default_timeout(60_000)
        self.page.on("pageerror", lambda error: self.problems.append(f"error: {error}"))
        self.page.on("console", self._note_console)

    def _note_request(self, request: Any) -> None:
        if urlsplit(request.url).hostname not in (HERE, None):
            self.problems.append(f"request leaves the machine: {request.url}")

    def _note_console(self, message: Any) -> None:
        # Streamlit itself asks for two paths below the page's own before it finds its server.
        probe = message.location.get("url", "").endswith(("/_stcore/health", "/_stcore/host-config"))
        if message.type == "error" and not probe:
            self.problems.append(f"console: {message.text} ({message.location.get('url')})")

    def go(self, path: str = "/") -> None:
        """Open a page and wait until it is drawn."""
        self.page.goto(self.address + path)
        self.wait_until_drawn(0)

    def open(self, page: str, view: View) -> None:
        """Open a page by the link to a view."""
        # Not by tests that have no browser: it takes long to import.

        self.open_at_once(page, view)
        self.wait_until_drawn(0)

    def open_at_once(self, page: str, view: View) -> None:
        """Open a page by the link to a view, and do not wait until it is drawn."""
        link = write_link(view)
        if page == "Inspect":
            # Without a tab it begins with what there is: patterns or records.
            link.setdefault("inspect_tab", "records")
        self.page.goto(f"{self.address}/{page}?{urlencode(link)}")

    def open_demo(self, page: str) -> None:
        """Choose the first demo corpus on the front page and go to another page by the sidebar."""
        self.go("/")
        with self.rerun():
            self.page.locator(".st-key-demo-pharmacology button").first.click()
        self.page.get_by_test_id("stSidebar").get_by_role("link", name=page, exact=True).click()
        self.page.get_by_role("heading", name=page, exact=True).wait_for()
        self.wait_until_drawn(self.run_count() - 1)

    def run_count(self) -> int:
        """Return how often the page has run to its end."""
        return int(self.page.evaluate(RUNS))

    def resize(self, width: int, height: int) -> None:
        """Change the window and wait until the page has followed: a click on what moves may meet its neighbour."""
        self.page.set_viewport_size({"width": width, "height": height})
        self.page.wait_for_function(SETTLED, polling=50)

    def wait_until_drawn(self, since: int) -> None:
        """Wait until the page has run once more than `since` and rests."""
        self.page.wait_for_function(RESTS, arg=since, polling=50)
        faults = self.page.locator("[data-testid='stException']").all_inner_texts()
        assert not faults, faults

    @contextmanager
    def rerun(self) -> Iterator[None]:
        """Wait, after the block, until what it did has changed the page."""
        before = self.run_count()
        yield
        self.wait_until_drawn(before)

    def press(self, key: str) -> None:
        """Press a key and wait until it has changed the page."""
        with self.rerun():
            self.page.keyboard.press(key)

    def eventually(self, holds: Callable[[], bool]) -> bool:
        """Wait for what several runs of the page may take to bring about."""
        for _ in range(600):
            if holds():
                return True
            self.page.wait_for_timeout(100)
        return False

    def open_menu(self, name: str) -> Any:
        """Open a menu of the context bar, and return what it shows."""
        # While the page still runs, the button may be about to be replaced, and would take no click.
        self.wait_until_drawn(self.run_count() - 1)
        self.page.locator(".st-key-context_bar").get_by_role("button", name=name).click()
        menu = self.page.locator("[class*='st-key-bar_open_'][role]")
        # A menu runs itself alone, so that the page's runs do not tell.
        menu.get_by_test_id("stElementContainer").first.wait_for()
        return menu

    def drop(self, *files: Path) -> None:
        """Drop files at Start and wait until it says of each what it is: each that arrives makes the page run anew."""
        self.wait_until_drawn(self.run_count() - 1)
        with self.rerun():
            self.page.locator("input[type=file]").first.set_input_files(list(files))
        for file in files:
            self.page.get_by_text(f"{file.name} · ").first.wait_for()
        self.wait_until_drawn(self.run_count() - 1)

    def save(self, button: str, file: Path, *, exact: bool = False) -> None:
        """Click a button and save what it downloads."""
        with self.page.expect_download() as started:
            self.page.get_by_role("button", name=button, exact=exact).click()
        started.value.save_as(file)

    def table(self, number: int = 0) -> Any:
        return self.page.get_by_test_id("stDataFrame").nth(number)

    def table_with(self, column: str) -> int:
        """Return which of the page's tables has a column."""
        every = self.page.get_by_test_id("stDataFrame")
        every.locator("canvas th", has_text=column).first.wait_for(state="attached")
        return next(
            number for number in range(every.count()) if every.nth(number).locator("canvas th", has_text=column).count()
        )

    def rows(self, number: int) -> int:
        """Return the number of rows of a table, without its header."""
        return int(self.table(number).locator("canvas table").first.get_attribute("aria-rowcount")) - 1

    def cell_text(self, row: int, column: int, number: int = 0) -> str:
        return str(self.table(number).get_by_test_id(f"glide-cell-{column}-{row}").first.text_content())

    def click_row(self, row: int, number: int, *, from_right: int = 40) -> None:
        """Click a cell of a table, so many pixels from its right edge, and wait until that has changed the page."""
        from playwright.sync_api import TimeoutError

        # While the page still runs, a table may be about to be replaced, and would take no click.
        self.wait_until_drawn(self.run_count() - 1)
        target = self.table(number)
        target.scroll_into_view_if_needed()
        box = target.bounding_box()
        place = box["x"] + box["width"] - from_right, box["y"] + ROW * (row + 1) + ROW / 2
        with self.rerun():
            before = self.run_count()
            for _ in range(3):
                # A table drawn anew takes a click only where it has seen the pointer come, and under load not always.
                self.page.mouse.move(*place)
                self.page.evaluate(TWO_FRAMES)
                self.page.mouse.click(*place)
                with suppress(TimeoutError):
                    self.page.wait_for_function(BEGUN, arg=before, timeout=10_000)
                    break
                self.page.mouse.move(0, 0)

    def listed_records(self) -> tuple[str, int]:
        """Return title and number of the records that a cell has opened."""
        heading = self.page.locator("strong", has_text=re.compile(r": [\d,]+ records?$")).first.inner_text()
        title, _, number = heading.rpartition(": ")
        return title, int(number.split()[0].replace(",", ""))

    def begin_anew(self) -> None:
        """Be a stranger in a window as at first: what is left are the app's files, which take longest to load.

        Nothing is undone that a test adds to the page itself, such as routes: such a test takes a visit of its own.
        """
        for page in self.context.pages:
            if page is not self.page:
                page.close()
        with self.accept_dialogs():
            # What a page keeps as it is left is there now, and belongs to the address, whatever page a test ended on.
            self.page.goto(f"{self.address}/_stcore/health")
        self.page.evaluate("() => { localStorage.clear(); sessionStorage.clear(); }")
        self.page.goto("about:blank")
        self.context.clear_cookies()
        self.context.clear_permissions()
        self.page.set_viewport_size(WIDE)
        self.page.emulate_media(media="null", color_scheme="light", reduced_motion="reduce", forced_colors="null")
        self.page.mouse.move(0, 0)
        self.problems.clear()

    @contextmanager
    def accept_dialogs(self) -> Iterator[None]:
        """Leave pages in the block although they ask: they hold what is not kept."""
        self.page.on("dialog", _accept)
        try:
            yield
        finally:
            self.page.remove_listener("dialog", _accept)

    def check(self) -> None:
        """Fail where the console has an error, or a request went elsewhere."""
        assert not self.problems, self.problems

    def close(self) -> None:
        self.context.close()
        self.check()
