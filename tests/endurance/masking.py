"""A server that masks everything sends nothing of the texts, whatever is opened, searched, unfolded, saved or refused.

The texts, metadata and notes of a corpus are made of words that stand nowhere else. Every message and every file that
the server sends is searched for pieces of them, in every way they may be written.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from unittest.mock import patch
from urllib.parse import urlencode

from nereval_core.cli import main
from nereval_core.corpus import Layer
from nereval_core.corpus.masking import masked_error, masked_quotes
from nereval_core.engine import scored_folder
from nereval_core.problems import FormatError
from nereval_core.readers import Source, read
from nereval_core.review.store import ReviewStore
from nereval_core.writers import pack_layer, writers
from pages.shared.view import View
from tests.endurance.masked_walk import Walk
from tests.fuzzing.mutation import changed
from tests.support.browser import serve_app
from tests.support.every_view import Subject, links_by_turns, subject_of, wrong_links
from tests.support.markers import Search, markers
from tests.support.worded_corpora import WHERE, Words, keep, layer_files, review

NAMES = tuple(f"name-{number}" for number in range(6))
"""Names of documents, types, systems and concepts, which are not masked."""
READ_EACH = 50
"""Damaged files that are read between two views, in this process."""
SCORED = WHERE[1:3]
"""The systems of the scored folder."""
UPLOADED_EACH = 30
"""One of so many files whose problems quote the texts is uploaded, too."""


def run(folder: Path, wanted: Callable[[int], bool], *, masked: bool = True, drawn: bool = True) -> Counter[str]:
    """Walk through the views of corpora, one after the other, as long as `wanted` says so of their number.

    Each corpus is one that was read and, by turns, a scored folder, which a server that masks does not open. Return the
    numbers of `corpora` whose every view was seen, of `views` and of what was done on them, of `messages` that were
    searched, of damaged files that were `read` and `refused` and of those `quoting` the texts, and of `leaks` and
    `faults`, which there may not be: one for each page and corpus is printed. Where the server is not `masked` there
    are leaks. Files that a browser draws are saved if `drawn`.
    """
    counts: Counter[str] = Counter()
    served, verdicts = folder / "served", f"sqlite:///{folder}/review.sqlite"
    with patch.dict(os.environ, {"NEREVAL_CACHE": str(folder / "store"), "NEREVAL_REVIEW_URL": verdicts}):
        first = Words(markers(12, -1), NAMES, markers(12, -1)[::-1])
        reviews = ReviewStore(verdicts)
        scored = _scored(folder, first, reviews)
        with serve_app("--data", str(served), *(["--mask"] if masked else [])) as address:
            number = 0
            while wanted(counts["views"]):
                words = markers(12, number, apart=first.texts)
                made = Words(words, NAMES, words[::-1])
                loaded = keep(folder / "store", f"corpus {number}", made)
                search = Search({*words, *first.texts})
                # No two playlists have one name.
                playlist = review(reviews, loaded, made, named=[f"{name} {number}" for name in NAMES])
                subjects = [subject_of(loaded, playlist), scored]
                walk = Walk(address, search, counts, made.texts, drawn=drawn)
                _walk(walk, made, loaded.corpus.gold, subjects, search, counts, wanted)
                walk.close()
                number += 1
        reviews.close()
    return counts


def _walk(
    walk: Walk,
    words: Words,
    gold: Layer,
    subjects: Sequence[Subject],
    search: Search,
    counts: Counter[str],
    wanted: Callable[[int], bool],
) -> None:
    every = chain.from_iterable(zip(*map(links_by_turns, subjects), strict=True))
    links: list[tuple[str, dict[str, str], tuple[str, ...]]] = [(page, params, ()) for page, params in every]
    corpus = {"corpus": subjects[0].view.corpus}
    for word in words.texts:
        links += [(page, corpus | params, (word,)) for page, params in wrong_links([word])]
        links += [("Inspect", corpus | {"q": word}, (word,))]
    files = {where: text.encode() for where, text in layer_files(words).items()}
    walk.upload({f"{where}.jsonl": files[where] for where in WHERE[:2]})
    # Texts that differ are quoted where two layers are paired.
    texts = files["first"].decode().replace(words.texts[0], words.texts[0] + words.texts[1])
    walk.upload({"gold.jsonl": files["gold"], "system.jsonl": texts.encode()})
    damaged = damaged_files(gold, len(links))
    for page, params, typed in links:
        if not wanted(counts["views"]):
            return
        walk.view(page, urlencode(params), typed)
        for file in islice(damaged, READ_EACH):
            if _read_damaged(file, search, counts) and counts["quoting"] % UPLOADED_EACH == 1:
                walk.upload({f"gold-{file[0]}": file[1], "system.jsonl": files["first"]})
    counts["corpora"] += 1


def damaged_files(layer: Layer, seed: int) -> Iterator[tuple[str, bytes]]:
    """Yield names and contents of files in all formats that can be written, each damaged in another way."""
    whole = []
    for format in writers():
        try:
            name, content, _ = pack_layer(layer, format, "damaged", lossy=True)
        except FormatError:
            continue
        whole.append((name, content))
    while True:
        for name, content in whole:
            seed += 1
            yield name, changed(content, seed)


def _read_damaged(file: tuple[str, bytes], search: Search, counts: Counter[str]) -> bool:
    """Search the problems of a damaged file as a masked page shows them; return whether they quote the texts."""
    try:
        notes = read(Source.of_uploads([file])).notes
        counts["read"] += 1
        said, shown = list(notes), list(map(masked_quotes, notes))
    except FormatError as error:
        counts["refused"] += 1
        said, shown = error.lines(), masked_error(error).lines()
    for line in shown:
        if search.found(line.encode()):
            counts["leaks"] += 1
            print(f"leak in a message about {file[0]}: {line}")
    quoting = bool(search.found("\n".join(said).encode()))
    counts["quoting"] += quoting
    return quoting


def _scored(folder: Path, words: Words, reviews: ReviewStore) -> Subject:
    """Write layers into the served folder, and score them there; return the scored folder, with verdicts on it."""
    served = folder / "served"
    for where, text in layer_files(words).items():
        (served / where).mkdir(parents=True)
        (served / where / "part-0.jsonl").write_text(text, encoding="utf-8")
    layers = [str(served / where) for where in ("gold", *SCORED)]
    options = ["--engine", "local", "-q", "--out", str(served / "scored"), "--json", str(served / "scores.json")]
    assert main(["score", *layers, *options]) == 0
    view = View(corpus=scored_folder.read(served / "scored").digest, system=SCORED[0])
    loaded = keep(folder / "store", "scored", words)
    playlist = review(reviews, loaded, words, named=NAMES, shown=(view.corpus, view.system))
    return replace(subject_of(loaded, playlist), view=view, systems=SCORED)
