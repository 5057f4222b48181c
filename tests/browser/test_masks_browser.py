"""What a masked page is sent: no word of the original texts, whatever is opened, searched or downloaded."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from nereval_core.html_report.figures import script
from pages.shared.data.loading import load_demo
from pages.shared.view import MASKED, View
from tests.support import ROOT
from tests.support.browser import TALL, Visit

DEMO = load_demo("newspapers")
VIEW = View(corpus=DEMO.corpus.digest, system="rules", mask=MASKED)
WORD = re.compile(r"[^\W\d_]{5,}")


def words() -> set[str]:
    """Return the words of the demo's texts and sources that no file of the interface has."""
    own = [*ROOT.glob("pages/**/*.*"), *ROOT.glob("nereval_core/**/*.py"), ROOT / "app.py"]
    own += ROOT.glob("demo_data/*/corpus.toml")
    used = {word for path in own if path.suffix != ".pyc" for word in WORD.findall(path.read_text(encoding="utf-8"))}
    documents = DEMO.corpus.documents
    said = [*documents.texts, *(str(one.get("source")) for one in documents.meta or ())]
    return {word for text in said for word in WORD.findall(text)} - used


class Sent:
    """All that a page was sent, but the files of the interface itself."""

    def __init__(self, visit: Visit) -> None:
        self.parts: list[bytes] = []
        visit.page.on("websocket", lambda socket: socket.on("framereceived", self._frame))
        visit.page.on("response", self._response)

    def _frame(self, payload: str | bytes) -> None:
        self.parts.append(payload.encode() if isinstance(payload, str) else payload)

    def _response(self, response: Any) -> None:
        if "/static/" not in response.url and response.ok:
            self.parts.append(response.body())

    def found(self, known: set[str]) -> list[str]:
        """Return the words that were sent: as UTF-8, or with the escapes of JSON."""
        whole = b"\n".join(self.parts)
        whole += re.sub(rb"\\u([0-9a-f]{4})", lambda code: chr(int(code[1], 16)).encode(errors="ignore"), whole)
        # Not inside the names of the interface: `height`, `MutationObserver`.
        return sorted(known.intersection(re.findall(r"[^\W\d_]{5,}", whole.decode(errors="replace"))))


def test_no_word_is_sent(visit: Visit, tmp_path: Path) -> None:
    visit.page.set_viewport_size(TALL)
    known = words()
    assert len(known) > 250
    sent = Sent(visit)
    visit.open("Inspect", replace(VIEW, mask=""))
    assert len(sent.found(known)) > 50, "what is looked for is found where nothing is masked"
    sent.parts.clear()
    visit.page.goto("about:blank")

    for page in ("", "Criteria", "Systems", "Annotators", "Review", "Linking", "Present"):
        visit.open(page, VIEW)
    for page, tab in (
        ("Inspect", {"inspect_tab": "by-class"}),
        ("Criteria", {"criteria_tab": "ladder"}),
        ("Overview", {"overview_tab": "by-slice"}),
        ("Annotators", {"annotators_tab": "consistency"}),
    ):
        visit.open(page, replace(VIEW, **tab))
    # The records of a cell, one of them in its text, and all of them in a file.
    visit.open("Confusion", VIEW)
    with visit.rerun():
        visit.page.get_by_role("gridcell", name="predicted missed (MIS)").first.click()
    visit.open("Inspect", VIEW)
    visit.page.locator(".nv-text").first.wait_for()
    visit.page.get_by_text("Export", exact=True).first.click()
    files = []
    for name in ("CSV", "HTML"):
        visit.save(name, tmp_path / name, exact=True)
        files.append((tmp_path / name).read_bytes())
    visit.open("Overview", VIEW)
    visit.open_menu("Share")
    visit.save("Download report", tmp_path / "report")
    # Plotly's script has words of its own.
    files.append((tmp_path / "report").read_bytes())
    assert all(b"xxxx" in file for file in files)
    sent.parts = [part.replace(script().encode(), b"") for part in (*sent.parts, *files)]
    # A document, with what another system predicts, and the card of a record.
    gold = DEMO.corpus.gold
    record = f"g:{gold.start[0]}-{gold.end[0]}:{gold.label(0)}"
    visit.open("Inspect", replace(VIEW, doc=DEMO.corpus.documents.ids[0], record=record, beside="perceptron"))
    visit.page.locator(".nv-card").first.wait_for()

    assert b"xxxx" in b"".join(sent.parts)
    assert sent.found(known) == []


def test_a_word_of_the_text_is_not_found(visit: Visit) -> None:
    word = max(words(), key=len)
    visit.open("Inspect", VIEW)
    sent = Sent(visit)
    with visit.rerun():
        visit.page.get_by_role("textbox", name="Search").fill(word)
        visit.page.keyboard.press("Enter")
    visit.page.get_by_text("No records.").wait_for()
    # The word stands where it was typed, in the chip and in the link: nothing else is found with it.
    assert sent.found(words()) in ([], [word])
