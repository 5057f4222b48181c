"""Servers started as users start them, and visitors without a browser: served folders, cancelled readings, links that
outlive their server, scoring that ends with its session, and copies that score as the page says."""

from __future__ import annotations

import json
import re
import shutil
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlencode

import pytest

from nereval_core.cli import main
from nereval_core.readers import Source
from nereval_core.review.store import ReviewStore
from nereval_core.store import Store
from pages.shared.data.kept_corpora import Keeper
from pages.shared.start import LOCAL
from pages.shared.view import View
from pages.shared.view.link import write_link
from tests.cli.test_review_apply_command import SYSTEMS, drafted
from tests.support.browser import serve_app, serve_app_process
from tests.support.pages import DEMO, GOLD, PREDICTION, VIEW
from tests.support.samples import nested
from tests.support.visitors import Visitor

DOCUMENTS = 20_000
"""So many files in a zip take seconds on any machine."""
FILES = {"gold.jsonl": GOLD, "system.jsonl": PREDICTION}
READ = "Signature: what reproduces these numbers"
"""What Overview shows of a corpus that was read."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to be served, beside the store of the servers that are started meanwhile."""
    monkeypatch.setenv("NEREVAL_CACHE", str(tmp_path / "store"))
    (tmp_path / "served").mkdir()
    return tmp_path / "served"


def words(visitor: Visitor) -> str:
    return "\n".join(visitor.shown.texts())


def eventually(holds: Callable[[], bool]) -> bool:
    for _ in range(600):
        if holds():
            return True
        time.sleep(0.1)
    return False


def write_zips(folder: Path, documents: int) -> None:
    with zipfile.ZipFile(folder / "gold.zip", "w") as archive:
        for number in range(documents):
            archive.writestr(f"{number}.txt", "Aspirin helps")
            archive.writestr(f"{number}.ann", "T1\tDrug 0 7\tAspirin\n")
    shutil.copy(folder / "gold.zip", folder / "system.zip")


def test_a_folder_named_on_the_command_line_is_read(folder: Path) -> None:
    outside = folder.parent / "secret"
    for place in (folder / "mine", outside):
        place.mkdir()
        for name, text in FILES.items():
            (place / name).write_text(text)
    (folder / "link").symlink_to(outside)
    with serve_app("--data", str(folder)) as address, Visitor(address) as visitor:
        visitor.open()
        assert list(visitor.shown.widget("served_folder").options) == [".", "mine"]
        visitor.write("served_folder", "mine")
        visitor.click("served_read")
        visitor.wait()
        assert READ in words(visitor) and "secret" not in words(visitor)


def test_a_reading_is_shown_and_cancelled(folder: Path) -> None:
    write_zips(folder, DOCUMENTS)
    with serve_app("--data", str(folder)) as address, Visitor(address) as visitor, Visitor(address) as other:
        other.open()
        other.choose("files_from", LOCAL)
        other.upload("upload_files", {name: text.encode() for name, text in FILES.items()})
        visitor.open()
        visitor.click("served_read")
        visitor.rerun()
        assert visitor.shown.has("reading_cancel") and visitor.shown.widget("served_read").disabled
        # Who reads something else meanwhile waits for nobody.
        other.click("upload_read")
        other.wait()
        assert READ in words(other) and visitor.shown.has("reading_cancel")
        visitor.click("reading_cancel")
        assert not visitor.shown.has("reading_cancel") and READ not in words(visitor)
    assert len(Store(folder.parent / "store").entries()) == 1
    assert not list((folder.parent / "store").glob(".*"))


def test_whoever_leaves_while_files_are_read_gets_the_corpus_there(folder: Path) -> None:
    write_zips(folder, DOCUMENTS // 5)
    with serve_app("--data", str(folder)) as address, Visitor(address) as visitor:
        visitor.open()
        visitor.click("served_read")
        visitor.open("Overview")
        visitor.wait()
        visitor.rerun()


def test_a_link_opens_in_another_server(folder: Path) -> None:
    for name, text in FILES.items():
        (folder / name).write_text(text)
    with serve_app("--data", str(folder)) as address, Visitor(address) as visitor:
        visitor.open()
        visitor.click("served_read")
        visitor.wait()
        visitor.rerun()
        assert READ in words(visitor)
        link = visitor.query
    shutil.rmtree(folder)
    assert "corpus=" in link
    with serve_app() as address, Visitor(address) as visitor:
        visitor.open("", link)
        assert "served" in visitor.shown.texts() and "Stored corpora: 1" in words(visitor)
        visitor.click("stored_clear")
        assert "served" in visitor.shown.texts() and "Stored corpora" not in words(visitor)
    assert not Store(folder.parent / "store").entries()


def scoring_under(server: int) -> bool:
    """Return whether a process scores for a server."""
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(status.read_text().rpartition(")")[2].split()[1])
            command = (status.parent / "cmdline").read_bytes()
        except OSError:
            continue
        if parent == server and b"core_process" in command:
            return True
    return False


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are looked up in /proc")
def test_scoring_ends_with_its_session(folder: Path) -> None:
    gold, system = (
        Source.of_uploads([(f"{name}.jsonl", nested(3_000, shift, 0).encode())])
        for shift, name in enumerate(("gold", "system"))
    )
    stored = Keeper(Store(folder.parent / "store")).read(None, gold, {"system": system})
    with serve_app_process() as (address, server):
        with Visitor(address) as visitor:
            visitor.ask_for("Overview", urlencode(write_link(View(corpus=stored.digest, system="system"))))
            assert eventually(lambda: scoring_under(server))
        assert eventually(lambda: not scoring_under(server))


def test_the_copy_with_verdicts_scores_as_the_page_says(tmp_path: Path) -> None:
    store = ReviewStore(tmp_path / "review.sqlite")
    store.give(drafted(DEMO, "rules"), "Ann")
    store.close()
    with serve_app("--review", str(tmp_path / "review.sqlite")) as address, Visitor(address) as visitor:
        visitor.open("Review", urlencode(write_link(VIEW)))
        shown = list(visitor.shown.texts())
        (promised,) = re.findall(r"0\.\d{3}", shown[shown.index("F1 of rules under strict") + 1])[:1]
        visitor.choose("widget_review_tab", "Finish")
        (spans,) = re.findall(r"finished layer has ([\d,]+ spans)", "\n".join(visitor.shown.texts()))
        (tmp_path / "gold-finished.jsonl").write_bytes(visitor.download(f"gold-finished.jsonl · {spans}"))
        log = visitor.download("Log of changes (CSV)").decode("utf-8")
    files = [str(tmp_path / "gold-finished.jsonl"), str(SYSTEMS["rules"])]
    assert main(["score", *files, "-q", "--criteria", "strict", "--json", str(tmp_path / "scores.json")]) == 0
    scores = json.loads((tmp_path / "scores.json").read_text(encoding="utf-8"))
    assert f"{scores['systems'][0]['criteria']['strict']['f1']:.3f}" == promised
    assert f"corrected sha256:{scores['gold']['sha256'][:16]}" in log
