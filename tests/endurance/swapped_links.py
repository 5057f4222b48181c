"""Links in a served folder lead inside and outside by turns while it is read: nothing from outside may ever be read.

One process swaps a file, a folder of brat and the columns of a scored folder for links, by renaming, as fast as it can;
this one opens and reads them as the front page does. Each secret outside holds the word SECRET.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from nereval_core.cli import main
from nereval_core.engine.folder_records import FolderDocuments
from nereval_core.engine.scored_folder import read
from nereval_core.problems import FormatError
from nereval_core.readers import Source
from pages.shared.data.loading import served_entries

SECRET = "SECRET"
SWAPPED = ("file.jsonl", "folder", "scored/columns", "scored/index", "scored/scored.json", "scored/counts")
"""Entries of the served folder that are links, now to what is theirs and now to what lies outside."""
SWAPPING = """
import os, sys
inside, outside, *names = sys.argv[1:]
print(flush=True)
while os.getppid() == int(os.environ["READER"]):
    for name in names:
        for target in (outside, inside + "/.own"):
            link = f"{inside}/{name}"
            os.symlink(f"{target}/{name}", link + ".new")
            os.replace(link + ".new", link)
"""


def run(folder: Path, wanted: Callable[[int], bool]) -> Counter[str]:
    """Read while links are swapped, as long as `wanted` says so of the number of tries.

    Return the numbers of tries, of those `read`, `refused` and `damaged` (half of one corpus, half of the other), and
    of `leaks`: what was read from outside.
    """
    inside, outside = folder / "served", folder / "outside"
    _write(outside, SECRET)
    _write(inside / ".own", "public")
    (inside / "scored").mkdir()
    for name in SWAPPED:
        (inside / name).symlink_to(inside / ".own" / name)
    counts: Counter[str] = Counter()
    with subprocess.Popen(
        [sys.executable, "-c", SWAPPING, str(inside), str(outside), *SWAPPED],
        stdout=subprocess.PIPE,
        env={**os.environ, "READER": str(os.getpid())},
    ) as swapping:
        assert swapping.stdout is not None
        swapping.stdout.readline()
        try:
            while wanted(counts["tries"]):
                for place in (_file, _folder, _names, _scored):
                    counts["tries"] += 1
                    counts.update(_outcomes(place(inside)))
        finally:
            swapping.kill()
    return counts


def _outcomes(found: Iterator[str]) -> Iterator[str]:
    """Yield what became of a try, and of each thing that it read."""
    try:
        for text in found:
            yield "leaks" if SECRET in text else "read"
    except FormatError as error:
        yield "leaks" if SECRET in str(error) else "refused"
    except (KeyError, IndexError, ValueError):
        yield "damaged"


def _file(inside: Path) -> Iterator[str]:
    for file in Source.of_path(inside / "file.jsonl", within=inside).files:
        yield file.read().decode()


def _folder(inside: Path) -> Iterator[str]:
    for file in Source.of_path(inside / "folder", within=inside).files:
        yield file.read().decode()


def _names(inside: Path) -> Iterator[str]:
    yield from served_entries(inside, "folder")


def _scored(inside: Path) -> Iterator[str]:
    folder = read(inside / "scored", within=inside)
    yield " ".join(side.name for side, _ in folder.whole)
    documents = FolderDocuments(folder.records_of_pages)
    yield documents.ids[0]
    yield documents.texts[0]


def _write(folder: Path, word: str) -> None:
    """Write a file, a folder of brat and a scored folder whose names and texts hold a word."""
    (folder / "folder" / f"{word}").mkdir(parents=True)
    for place in (folder / "folder", folder / "folder" / word):
        (place / f"{word}.txt").write_text(f"{word} text")
        (place / f"{word}.ann").write_text(f"T1\tDrug 0 {len(word)}\t{word}\n")
    row = {"id": word, "text": f"{word} text", "spans": [{"start": 0, "end": len(word), "label": "Drug"}]}
    (folder / "file.jsonl").write_text(json.dumps(row) + "\n")
    shards = folder / "shards"
    for side in ("gold", word):
        (shards / side).mkdir(parents=True)
        (shards / side / "part-0.jsonl").write_text(json.dumps(row) + "\n")
    options = ["--engine", "local", "-q", "--out", str(folder / "scored"), "--json", str(folder / "scores.json")]
    assert main(["score", str(shards / "gold"), str(shards / word), *options]) == 0
