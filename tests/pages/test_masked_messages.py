"""What a masked page is sent: no word of the original texts, whatever is opened, searched or downloaded."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from urllib.parse import urlencode

from nereval_core.html_report.figures import script
from pages.shared.data.loading import load_demo
from pages.shared.inspect.workbench import KEY
from pages.shared.view import MASKED, View
from pages.shared.view.link import write_link
from tests.support import ROOT
from tests.support.visitors import Visitor

DEMO = load_demo("newspapers")
VIEW = View(corpus=DEMO.corpus.digest, system="rules", mask=MASKED)
RECORDS = replace(VIEW, inspect_tab="records")
WORD = re.compile(r"[^\W\d_]{5,}")


@cache
def words() -> set[str]:
    """Return the words of the demo's texts and sources that no file of the interface has."""
    own = [*ROOT.glob("pages/**/*.*"), *ROOT.glob("nereval_core/**/*.py"), ROOT / "app.py"]
    own += ROOT.glob("demo_data/*/corpus.toml")
    used = {word for path in own if path.suffix != ".pyc" for word in WORD.findall(path.read_text(encoding="utf-8"))}
    documents = DEMO.corpus.documents
    texts = [*documents.texts, *(str(meta.get("source")) for meta in documents.meta or ())]
    return {word for text in texts for word in WORD.findall(text)} - used


class Messages:
    """All that visitors of a server were sent."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.parts: list[bytes] = []

    @contextmanager
    def opened(self, page: str, view: View) -> Iterator[Visitor]:
        """Open a page by the link to a view, in a session of its own."""
        with Visitor(self.address, received=self.parts.append) as visitor:
            visitor.open(page, urlencode(write_link(view)))
            yield visitor

    def words(self) -> set[str]:
        """Return the known words that were sent: as UTF-8, or with the escapes of JSON."""
        # Plotly's script has words of its own.
        whole = b"\n".join(self.parts).replace(script().encode(), b"")
        whole += re.sub(rb"\\u([0-9a-f]{4})", lambda code: chr(int(code[1], 16)).encode(errors="ignore"), whole)
        # Not inside the names of the interface: `height`, `MutationObserver`.
        return words().intersection(re.findall(r"[^\W\d_]{5,}", whole.decode(errors="replace")))


def test_no_word_is_sent(app: str) -> None:
    assert len(words()) > 250
    messages = Messages(app)
    with messages.opened("Inspect", replace(RECORDS, mask="")):
        assert len(messages.words()) > 50, "what is looked for is found where nothing is masked"
    messages.parts.clear()

    for page in ("", "Criteria", "Systems", "Annotators", "Review", "Linking", "Present"):
        with messages.opened(page, VIEW):
            pass
    for page, tab in (
        ("Inspect", {"inspect_tab": "patterns"}),
        ("Inspect", {"inspect_tab": "by-class"}),
        ("Criteria", {"criteria_tab": "ladder"}),
        ("Overview", {"overview_tab": "by-slice"}),
        ("Annotators", {"annotators_tab": "consistency"}),
    ):
        with messages.opened(page, replace(VIEW, **tab)):
            pass
    # The records of a cell, one of them in its text, and all of them in a file.
    with messages.opened("Confusion", VIEW) as visitor:
        kind = json.loads(visitor.shown.widget("table_confusion_map").json)["keys"][0]
        visitor.trigger("table_confusion_map", "choose", [kind, ""])
        assert any("predicted missed" in text for text in visitor.shown.texts())
    with messages.opened("Inspect", RECORDS) as visitor:
        visitor.open_menu("export")
        files = [visitor.download(name) for name in ("CSV", "HTML")]
    with messages.opened("Overview", VIEW) as visitor:
        visitor.open_menu("share")
        files.append(visitor.download("Download report"))
    assert all(b"xxxx" in file for file in files)
    # A document, with what another system predicts, and the card of a record.
    gold = DEMO.corpus.gold
    record = f"g:{gold.start[0]}-{gold.end[0]}:{gold.label(0)}"
    document = DEMO.corpus.documents.ids[0]
    with messages.opened("Inspect", replace(RECORDS, doc=document, record=record, beside="perceptron")) as visitor:
        assert json.loads(visitor.shown.widget(KEY).json)["cards"]

    assert b"xxxx" in b"".join(messages.parts)
    assert messages.words() == set()


def test_a_word_of_the_text_is_not_found(app: str) -> None:
    word = max(words(), key=len)
    messages = Messages(app)
    with messages.opened("Inspect", RECORDS) as visitor:
        assert json.loads(visitor.shown.widget(KEY).json)["total"] > 0
        visitor.write("Search", word)
        assert json.loads(visitor.shown.widget(KEY).json)["total"] == 0
    # The word stands where it was typed, in the chip and in the link: nothing else is found with it.
    assert messages.words() <= {word}
