"""Words that would run, were they taken for code, stand wherever a corpus has words: nothing of them may ever run.

Every view of every page is opened in Chromium over corpora of such words, with its menus, folds, tables, tooltips and
fields; so is each HTML file that it saves. No cell of a saved table may be a formula.
"""

from __future__ import annotations

import csv
import io
import os
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from itertools import islice
from pathlib import Path
from typing import Any
from unittest.mock import patch
from urllib.parse import urlencode

from nereval_core.review.playlists import NAME_CHARACTERS
from nereval_core.review.store import ReviewStore
from tests.endurance.payload_walk import Given, Walk
from tests.support.browser import TALL, Visit, serve_app_process, start_browser
from tests.support.every_view import LOOKS, links_by_turns, subject_of, wrong_links
from tests.support.payloads import payloads
from tests.support.worded_corpora import Words, keep, layer_files, one_line, review

TOGETHER = 20
"""Payloads that one corpus is made of: with more, few of them would be names of systems."""


def run(
    folder: Path, wanted: Callable[[int], bool], *, together: int = TOGETHER, steps: bool = True, browser: Any = None
) -> Counter[str]:
    """Walk through views as long as `wanted` says so of their number, of one corpus after the other by turns.

    Without `steps` views are only opened. Without a `browser` one is started.

    Return the numbers of `views` and of what was done on them, of what was `blocked` by the policy of the server, and
    of what may never be: payloads that `ran`, elements `made`, `requests` to elsewhere, `faults` and `errors` of the
    page, `formulas`. Each is printed with the view that it was found on first.
    """
    counts: Counter[str] = Counter()
    verdicts = f"sqlite:///{folder}/review.sqlite"
    with (
        patch.dict(os.environ, {"NEREVAL_CACHE": str(folder / "store"), "NEREVAL_REVIEW_URL": verdicts}),
        serve_app_process(log=folder / "server.log") as (address, _),
        start_browser() if browser is None else nullcontext(browser) as window,
    ):
        reviews = ReviewStore(verdicts)
        walk = Walk(Visit(window, address, viewport=TALL), folder, counts, steps=steps)
        corpora = deque(
            (Given(words, _files(words)), _links(folder / "store", reviews, words))
            for words in _parts(payloads(), together)
        )
        while corpora and wanted(counts["views"]):
            given, links = corpora.popleft()
            counts["payloads"] += 0 if given.pages else len(given.words)
            turn = list(islice(links, len(LOOKS)))
            for page, params in turn:
                if wanted(counts["views"]):
                    walk.view(given, page, f"/{'' if page == 'Start' else page}?{urlencode(params)}")
            if turn:
                corpora.append((given, links))
        walk.visit.context.close()
        reviews.close()
    counts += walk.trap.counts()
    if counts["faults"]:
        print((folder / "server.log").read_text(encoding="utf-8"))
    return counts


def _parts(words: Sequence[str], size: int) -> Iterator[list[str]]:
    """Yield words in parts, each with some of every family: those next to one another are alike."""
    parts = max(1, round(len(words) / size))
    for number in range(parts):
        yield list(words[number::parts])


def _links(store: Path, reviews: ReviewStore, words: list[str]) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield pages with the parameters of links to all their views, pages by turns; then links that fit nothing."""
    # Names are few on a page, so that each has several words in it.
    names = [" ".join(some) for some in zip(words, words[1:] + words, words[2:] + words, strict=False)]
    made = Words(words, names, words)
    loaded = keep(store, one_line(names[0]), made)
    yield from links_by_turns(
        subject_of(loaded, review(reviews, loaded, made, named=[one_line(name)[:NAME_CHARACTERS] for name in names]))
    )
    for page, params in wrong_links(words):
        yield page, {**params, "corpus": loaded.digest}


def _files(words: Sequence[str]) -> dict[str, bytes]:
    """Return files called by words: layers, a table, a criterion, and such as are refused with a quotation."""
    layers = layer_files(Words(words, words, words))
    table = io.StringIO()
    csv.writer(table).writerows([words, words[::-1]])
    quoted = "\n".join(f'"""{word}"""' for word in words)
    contents = {
        ".jsonl": layers["gold"],
        " 2.jsonl": layers["first"],
        " 3.jsonl": layers["first"].replace('"start"', '"<img class=zq src=x onerror=nereval_ran(0)>"'),
        ".csv": table.getvalue(),
        ".tsv": "".join(f"{word}\tB-{word}\n" for word in map(one_line, words)),
        ".toml": f'[criterion.half]\nboundaries = "overlap"\nsentence = """{words[0]}"""\n',
        " 2.toml": quoted,
        ".json": quoted,
    }
    return {f"{word}{ending}": text.encode() for word, (ending, text) in zip(words * 8, contents.items(), strict=False)}
