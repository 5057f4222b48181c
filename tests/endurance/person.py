"""A person who uses a server that others use too: uploads, looks around, gives verdicts and saves files.

Texts, types, names of documents and files, notes and the name of the reviewer hold a word that no other person has, so
that whatever the server sends of one to another is seen.
"""

from __future__ import annotations

import io
import json
import random
import re
import sys
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from string import ascii_lowercase
from typing import Any
from urllib.parse import parse_qs

import pyarrow.parquet as pq
from streamlit.proto.ButtonGroup_pb2 import ButtonGroup
from streamlit.proto.MultiSelect_pb2 import MultiSelect
from streamlit.proto.Selectbox_pb2 import Selectbox

from nereval_core.review.verdicts import KINDS
from pages.shared.inspect.workbench import KEY
from tests.benchmarks.app import environment
from tests.support.browser import serve_app_process
from tests.support.visitors import Visitor
from tests.support.workbench import sent_by

TOKEN = "a token of many words"
KEPT = 1
"""Seconds for which the server keeps a session whose visitor has left."""
PAGES = ("", "Overview", "Confusion", "Inspect", "Systems", "Criteria", "Annotators", "Review", "Present", "Guide")
SLOW = ("pdf_", "svg_")
"""Keys of downloads that begin so: a browser draws them."""
WORD = re.compile(rb"zq([a-z]{5})qz", re.IGNORECASE)
DOCUMENTS = 12
SHOWN = 3
"""Foreign texts of each person that are printed."""


@contextmanager
def serve_people(
    folder: Path, *arguments: str, port: int | None = None, scheme: str = "http", **variables: str
) -> Iterator[tuple[str, int]]:
    """Start a server that is reached from elsewhere, with a token, and all that it keeps in a folder."""
    with (
        environment(
            STREAMLIT_SERVER_ADDRESS="0.0.0.0",
            STREAMLIT_SERVER_DISCONNECTED_SESSION_TTL=str(KEPT),
            NEREVAL_TOKEN=TOKEN,
            NEREVAL_CACHE=str(folder / "store"),
            NEREVAL_REVIEW_URL=f"sqlite:///{folder}/review.sqlite",
            TMPDIR=str(folder),
            **variables,
        ),
        serve_app_process(*arguments, port=port, log=log_of(folder), scheme=scheme) as served,
    ):
        yield served


def log_of(folder: Path) -> Path:
    return folder / "server.log"


def logged_faults(folder: Path) -> int:
    """Return the number of exceptions in the server's log, and print the end of the log where there are some."""
    said = log_of(folder).read_text(errors="replace")
    found = said.count("Traceback (most recent call last)")
    if found:
        print(said[-4000:], file=sys.stderr)
    return found


def word_of(number: int) -> str:
    """Return the word of the person with a number."""
    letters = ""
    for _ in range(5):
        number, letter = divmod(number, len(ascii_lowercase))
        letters += ascii_lowercase[letter]
    return f"zq{letters}qz"


def files_of(word: str, seed: object = "") -> dict[str, bytes]:
    """Return gold and the predictions of two systems as files, which differ in some spans and types."""
    rng = random.Random(f"{word} {seed}")
    sides: dict[str, list[str]] = {"gold": [], "rules": [], "model": []}
    for number in range(DOCUMENTS):
        words = [rng.choice((word, "aspirin", "helps", "against", f"{word}itis")) for _ in range(30)]
        # The first document of each person begins alike.
        text = " ".join([word, *words])
        starts = [sum(len(one) + 1 for one in text.split()[:place]) for place in range(0, 30, 6)]
        for side, rows in sides.items():
            spans = []
            for start in starts:
                end = text.index(" ", start) if side == "gold" or rng.random() < 0.7 else text.index(" ", start) + 3
                kind = rng.choice((f"{word}Drug", "Drug")) if side == "gold" or rng.random() < 0.3 else "Drug"
                if side == "gold" or rng.random() < 0.8:
                    spans.append({"start": start, "end": end, "label": kind})
            rows.append(json.dumps({"id": f"{word}-{number}", "text": text, "spans": spans}))
    return {f"{word}-{side}.jsonl": "\n".join(rows).encode() for side, rows in sides.items()}


class Person:
    """A visitor with a word of its own. `counts` are clicks, verdicts, foreign and own texts, and errors.

    `seconds` are those of each click, `notes` those of verdicts that the server has acknowledged. Before each click
    `pause` is called.
    """

    def __init__(
        self, address: str, number: int, *, seed: object = 0, pause: Callable[[], object] = lambda: None
    ) -> None:
        self.word = word_of(number)
        self.counts: Counter[str] = Counter()
        self.seconds: list[float] = []
        self.notes: list[str] = []
        self.link = ""
        """The parameters that open the upload."""
        self._rng = random.Random(f"{seed} {number}")
        self._pause = pause
        self._seed = seed
        self._mounts = self._last = 0
        """Numbers of the workbench that is open, and of its last event."""
        cookies = {"nereval_reviewer": self.word}
        self.visitor = Visitor(address, token=TOKEN, cookies=cookies, received=self._check)

    def _check(self, raw: bytes) -> None:
        """Look for words of other people in what the server has sent."""
        for content in _contents(raw):
            for found in set(WORD.findall(content)):
                kind = "own texts" if found.decode().lower() == self.word[2:-2] else "foreign texts"
                self.counts[kind] += 1
                if kind == "foreign texts" and self.counts[kind] <= SHOWN:
                    place = content.index(found)
                    print(f"{self.word} was sent", content[max(0, place - 200) : place + 200], file=sys.stderr)

    def _clicked(self, seconds: float) -> None:
        self.counts["clicks"] += 1
        self.seconds.append(seconds)
        for fault in self.visitor.shown.faults():
            self.counts["errors"] += 1
            print(f"{self.word} was shown", fault, file=sys.stderr)
        self._pause()

    def bring(self) -> None:
        """Upload a corpus and have it read."""
        visitor = self.visitor
        self._clicked(visitor.open())
        self._clicked(visitor.upload("upload_files", files_of(self.word, self._seed)))
        self._clicked(visitor.click("upload_read"))
        visitor.wait()
        assert "corpus=" in visitor.query, list(visitor.shown.texts())
        self.link = visitor.query

    def turn(self, links: Sequence[str] = ()) -> None:
        """Look at a page and change a setting of it, read and judge records, save a file, try somebody's link."""
        self.look(self._rng.choice(PAGES))
        self.change()
        if self._rng.random() < 0.3:
            self.save()
        self.look("Inspect")
        self.press("j")
        self.judge()
        if self._rng.random() < 0.2:
            self.press("star")
        if self._rng.random() < 0.3:
            self.pry(links)

    def look(self, page: str) -> None:
        lists_records = page == "Inspect" and "inspect_tab" not in self.link
        self._open(page, f"{self.link}&inspect_tab=records" if lists_records else self.link)

    def _open(self, page: str, link: str) -> None:
        self._mounts, self._last = self._mounts + 1, 0
        self._clicked(self.visitor.open(page, link))

    def change(self) -> None:
        """Choose another option of one of the page's menus."""
        kinds = Selectbox, MultiSelect, ButtonGroup
        every = [one for one in self.visitor.shown.widgets() if isinstance(one, kinds) and one.options]
        if every:
            one = self._rng.choice(every)
            option = self._rng.choice(list(one.options))
            if isinstance(one, Selectbox):
                self._clicked(self.visitor.write(one.id, option))
            else:
                self._clicked(self.visitor.choose(one.id, getattr(option, "content", option)))

    def save(self) -> None:
        """Download one of the files that the page offers."""
        visitor = self.visitor
        if visitor.shown.has("page_end"):
            self._clicked(visitor.open_menu("export"))
        buttons = [one for one in visitor.shown.elements() if one.WhichOneof("type") == "download_button"]
        names = [key for one in buttons if not (key := one.download_button.id.split("-", 2)[2]).startswith(SLOW)]
        if names:
            # One of verdicts is empty where nobody has given any.
            visitor.download(self._rng.choice(names))
            self.counts["files"] += 1

    def press(self, key: str, **more: Any) -> dict[str, Any]:
        """Press a key of the workbench; return what it shows afterwards."""
        sent = sent_by(self._workbench(), key, mount=f"mount {self._mounts}", last=self._last, **more)
        self._last += 1
        self._clicked(self.visitor.send(KEY, out=sent))
        return self._workbench()

    def _workbench(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.visitor.shown.widget(KEY).json)
        return found

    def judge(self) -> None:
        """Give a verdict with a note on the open record."""
        note = f"{self.word} {self._seed} {len(self.notes)}"
        kind = self._rng.choice(list(KINDS))
        said = self.press(kind, note=note)["verdicts"]["said"]
        assert said and said["text"].startswith("Kept as"), said
        self.notes.append(note)
        self.counts["verdicts"] += 1

    def pry(self, links: Sequence[str]) -> None:
        """Open the corpus of one of the links that belongs to somebody else."""
        others = [link for link in links if link != self.link]
        if not others:
            return
        (digest,) = parse_qs(self._rng.choice(others))["corpus"]
        self._open(self._rng.choice(PAGES), f"corpus={digest}")
        self.counts["links of others"] += 1

    def leave(self) -> None:
        self.visitor.leave()


def _contents(raw: bytes) -> Iterator[bytes]:
    """Yield what was sent, and what is packed in it."""
    yield raw
    if raw.startswith(b"PK"):
        with zipfile.ZipFile(io.BytesIO(raw)) as packed:
            yield from map(packed.read, packed.namelist())
    elif raw.startswith(b"PAR1"):
        yield str(pq.read_table(io.BytesIO(raw)).to_pylist()).encode()
