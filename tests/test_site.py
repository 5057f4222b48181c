"""The site of the documents builds strictly, answers from its search, and fetches nothing from other hosts."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from html import unescape
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import urlsplit

import pytest

import nereval_core as nereval
from nereval_core.cli import VERBS, verb_parser
from nereval_core.report.references import works
from tests.support import OFFLINE, ROOT

CONFIG = Path("docs", "site", "mkdocs.yml")
PARTS = ["Start", "How to", "Reference", "Explanation"]
SEARCHES = {
    "LaTeX table": "how-to/latex-table.html",
    "significance": "how-to/compare-systems.html",
    "confusions": "how-to/read-confusions.html",
    "language model": "how-to/language-model.html",
    "adjudicate": "how-to/adjudicate.html",
    "CI": "how-to/continuous-integration.html",
    "secrets.toml": "how-to/team-server.html",
    "criterion of your own": "how-to/own-criterion.html",
    "cluster": "how-to/cluster.html",
    "seqeval": "how-to/from-seqeval-or-nervaluate.html",
    "notebook": "how-to/notebook.html",
    "Trainer": "how-to/spacy-and-trainer.html",
    "GPT answers": "how-to/language-model.html",
    "GitHub actions": "how-to/continuous-integration.html",
    "login": "how-to/team-server.html",
    "nervaluate": "how-to/from-seqeval-or-nervaluate.html",
    "Jupyter": "how-to/notebook.html",
}
"""Words of a task, and the page that answers it."""
FETCHED = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src"}


def build(root: Path, site: Path) -> subprocess.CompletedProcess[str]:
    # With --quiet MkDocs does not count warnings, and so a strict build lets them pass.
    return subprocess.run(
        # Python finds the package by -m, in the folder it is started in: without, as `mkdocs build`, hooks lack it.
        [sys.executable, "-m", "mkdocs", "build", "-f", root / CONFIG, "-d", site],
        env=os.environ | {"PYTHONPATH": str(OFFLINE), "NO_MKDOCS_2_WARNING": "1"},
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    done = build(ROOT, folder)
    assert done.returncode == 0, done.stderr
    return folder


class Fetches(HTMLParser):
    """Addresses that a browser fetches to show a page."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        address = dict(attrs).get(FETCHED.get(tag, ""))
        if address is not None and dict(attrs).get("rel") not in ("canonical", "next", "prev"):
            self.addresses.append(address)


def test_the_command_that_builds_the_site_is_the_documented_one() -> None:
    text = (ROOT / "docs" / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert f"`.venv-tests/bin/python -m mkdocs build -f {CONFIG.as_posix()}`" in text


def test_long_commands_are_broken_and_not_cut(site: Path) -> None:
    page = (site / "how-to" / "latex-table.html").read_text(encoding="utf-8")
    assert 'href="../commands.css"' in page and 'class="language-bash highlight"' in page
    assert ".language-bash pre > code { white-space: pre-wrap;" in (site / "commands.css").read_text(encoding="utf-8")


def test_pages_fetch_nothing_from_other_hosts(site: Path) -> None:
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > 25
    for page in pages:
        text = page.read_text(encoding="utf-8")
        fetches = Fetches()
        fetches.feed(text)
        assert fetches.addresses and not [address for address in fetches.addresses if "//" in address], page.name
        assert "content=\"default-src 'self';" in text, page.name
    for style in site.rglob("*.css"):
        assert not re.findall(r"url\(.?(?:https?:)?//|@import", style.read_text(encoding="utf-8")), style.name


def test_the_site_has_four_parts(site: Path) -> None:
    tabs = re.findall(r'md-tabs__link">\s*([^<]+?)\s*<', (site / "index.html").read_text(encoding="utf-8"))
    assert tabs == PARTS


@pytest.mark.browser
def test_the_search_puts_the_page_of_each_task_first(site: Path, browser: Any) -> None:
    with serve_folder(site) as address:
        page = browser.new_page()
        first_pages = {}
        page.goto(f"{address}/index.html")
        page.click(".md-search__input")
        for words in SEARCHES:
            # Words that are written before the index is ready are lost; afterwards, what the last words led to is gone.
            page.fill(".md-search__input", "")
            page.wait_for_selector("text=Type to start searching")
            page.wait_for_selector(".md-search-result__link", state="detached")
            page.fill(".md-search__input", words)
            page.keyboard.press("End")
            page.wait_for_selector(".md-search-result__link")
            first = page.get_attribute(".md-search-result__link >> nth=0", "href")
            first_pages[words] = urlsplit(first).path.removeprefix("/")
        page.close()
    assert first_pages == SEARCHES


@contextmanager
def serve_folder(folder: Path) -> Iterator[str]:
    """Serve a folder on a free port of this machine; yield its address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(SilentHandler, directory=folder)) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


class SilentHandler(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Keep requests off standard error."""


def test_the_site_lists_every_work_cited(site: Path) -> None:
    page = unescape((site / "references.html").read_text(encoding="utf-8"))
    assert not [key for key, work in works().items() if work.reference not in page or work.url not in page]
    assert 'href="references.html"' in (site / "scoring.html").read_text(encoding="utf-8")


def test_every_option_of_every_verb_is_listed(site: Path) -> None:
    """In the section of the verb, or in that of the first verb with the same group of options."""
    page = unescape((site / "options.html").read_text(encoding="utf-8"))
    sections = dict(re.findall(r'<h2 id="([^"]*)">(.*?)(?=<h2|$)', page, re.DOTALL))
    assert set(sections) == {verb.replace(" ", "-") for verb in VERBS}
    for verb in VERBS:
        section = sections[verb.replace(" ", "-")]
        first = re.findall(r'the options of <a href="#([^"]*)"', section)
        listed = re.findall(r"<td><code>(.*?)</code>", "".join([section, *(sections[name] for name in first)]))
        options = {option for action in verb_parser(verb)._actions for option in action.option_strings}
        assert options <= set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", " ".join(listed))), verb


def test_every_name_of_the_library_is_in_the_reference(site: Path) -> None:
    """Each verb has an entry with text below its signature, and each class of the package that a verb returns."""
    index = json.loads((site / "search" / "search_index.json").read_text(encoding="utf-8"))["docs"]
    entries = {
        entry["location"].partition("#")[2]: entry["text"]
        for entry in index
        if entry["location"].startswith("library-reference.html")
    }
    assert "nereval.__version__" in entries[""]
    verbs = set(nereval.__all__) - {"__version__"}
    results = {name for verb in verbs for name in re.findall(r"-&gt; (?:tuple\[)?([A-Z]\w+)", entries[verb])}
    assert {"ScoredSystem", "Comparison", "Suggestion"} < results
    for name in verbs | {f"class-{name.lower()}" for name in results}:
        assert "<p>" in entries[name], name


def test_broken_links_fail(tmp_path: Path) -> None:
    root, links = tmp_path / "clone", ("missing.md", "formats.md#missing", "../missing.txt")
    shutil.copytree(ROOT / "docs", root / "docs")
    for path in ROOT.iterdir():
        if path.name != "docs":
            (root / path.name).symlink_to(path)
    with (root / "docs" / "start.md").open("a", encoding="utf-8") as file:
        file.writelines(f"\n[broken]({link})\n" for link in links)
    done = build(root, tmp_path / "site")
    assert done.returncode == 1
    assert not [link for link in links if f"start.md' contains a link '{link}'" not in done.stderr]
