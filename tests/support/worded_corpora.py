"""A corpus made of given words wherever a corpus has words, kept in a store, with verdicts and a playlist on it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from nereval_core.api.load_options import LoadOptions
from nereval_core.ledger import ledger
from nereval_core.readers import Source
from nereval_core.records.queries import Query
from nereval_core.review.playlists import Playlist, Shown, Starred
from nereval_core.review.playlists.store import PlaylistStore
from nereval_core.review.store import ReviewStore
from nereval_core.review.verdicts import KINDS, REVIEWER_CHARACTERS, Draft, Marked, Verdict
from nereval_core.review.verdicts_on_records import verdict_subjects
from nereval_core.scoring import score_layers
from nereval_core.store import Store
from pages.shared.data.kept_corpora import Keeper
from pages.shared.data.loading import Loaded
from tests.support.samples import lines

WHERE = ("gold", "first", "second", "third")
"""The layers: gold, and three that differ from it in boundaries, types and spans, each in another way."""


@dataclass(frozen=True)
class Words:
    """The words of a corpus: `texts` are annotated words, `names` those of documents, types, layers and concepts.

    `values` stand in metadata, notes, comments.
    """

    texts: Sequence[str]
    names: Sequence[str]
    values: Sequence[str]


def layer_names(words: Words) -> list[str]:
    """Return the names of the three systems."""
    names = list(dict.fromkeys(words.names))
    return [one_line(name) for name in islice(cycle([*names, *(f"{name} 2" for name in names)]), 1, len(WHERE))]


def one_line(text: str) -> str:
    """Return a text without the line breaks and control characters that names of people and layers may not have."""
    return "".join(char if char.isprintable() else " " for char in text).strip()


def layer_files(words: Words) -> dict[str, str]:
    """Return gold and three systems as JSON lines by the keys of WHERE: two documents for each annotated word."""
    rows: dict[str, list[Any]] = {where: [] for where in WHERE}
    texts, names = list(words.texts), list(words.names)
    values = cycle(words.values)
    for number in range(2 * len(texts)):
        own = [texts[(number + step) % len(texts)] for step in range(3)]
        kinds = [names[(number // 2 + step) % len(names)] for step in range(3)]
        text, places = _placed(own, next(values))
        name = names[number % len(names)]
        head = {
            "id": name if number < len(names) else f"{name} {number}",
            "text": text,
            "tokens": [match.span() for match in re.finditer(r"\S+", text)],
            "meta": {"author": next(values), "source": next(values), "date": f"17{90 + number % 10}", name: name},
        }
        for where in WHERE:
            spans = [
                {
                    "start": start,
                    "end": end,
                    "label": kind,
                    "id": f"{where} {order} {name}",
                    "links": [kind, name],
                    **({} if where == "gold" else {"score": 0.5 + number % 5 / 10}),
                    "meta": {"note": next(values), "LED": 0.1},
                }
                for order, (start, end, kind) in enumerate(_spans(where, number, places, kinds))
            ]
            rows[where].append({**head, "spans": spans})
    return {where: lines(*found) for where, found in rows.items()}


def _placed(words: Sequence[str], value: str) -> tuple[str, list[tuple[int, int]]]:
    """Return a text with three words in it and what stands around them, and the places of the three."""
    text, places = f"{value} : ", []
    for word in words:
        places.append((len(text), len(text) + len(word)))
        text += f"{word} , {value} . "
    return text, places


def _spans(
    where: str, number: int, places: Sequence[tuple[int, int]], kinds: Sequence[str]
) -> list[tuple[int, int, str]]:
    """Return the spans of one layer in a document: equal to gold's, of another type, longer, missed or spurious."""
    (a, b), (c, d), (e, f) = places
    gold = [(a, b, kinds[0]), (c, d, kinds[1])]
    if where == "gold":
        return gold if number % 3 else [*gold, (a, d, kinds[2])]
    turn = (number + WHERE.index(where)) % 5
    return [
        [(a, b, kinds[0]), (c, d, kinds[0])],
        [(a, b, kinds[1]), (c, d + 2, kinds[1])],
        [(a, b, kinds[0]), (e, f, kinds[2])],
        [(a, d, kinds[0])],
        gold,
    ][turn]


def keep(store: Path, title: str, words: Words) -> Loaded:
    """Read the corpus of these words into a store, as the front page does; return it."""
    files = {where: text.encode() for where, text in layer_files(words).items()}
    gold, *systems = (Source.of_uploads([(f"{where}.jsonl", text)]) for where, text in files.items())
    named = dict(zip(layer_names(words), systems, strict=True))
    return Keeper(Store(store)).read(title, gold, named, LoadOptions())


def review(
    store: ReviewStore, loaded: Loaded, words: Words, *, named: Sequence[str], shown: tuple[str, str] | None = None
) -> Playlist:
    """Give a verdict on each record of the first system, by people `named`, and put some on a playlist; return it.

    `shown` names the corpus and the system in which its items are opened, by default these.
    """
    corpus = loaded.corpus
    system = corpus.systems[0]
    about = ledger(score_layers(corpus.gold, system), "strict", (corpus.gold, system))
    positions = about.positions(Query())
    table = about.frame(positions)
    kinds, values = cycle(KINDS), cycle(words.values)
    people = [one_line(name)[:REVIEWER_CHARACTERS] for name in named]
    subjects = list(verdict_subjects(about.about, positions.tolist()))
    drafts: dict[str, list[Draft]] = {}
    for number, (key, partner, seen) in enumerate(subjects):
        kind = next(kinds)
        right = (Marked(key.span.fragments, words.names[0]),) if kind == "neither" else ()
        verdict = Verdict(key, kind, seen, partner, right, next(values))
        drafts.setdefault(people[number % len(people)], []).append(Draft(verdict, 0))
    for who, given in drafts.items():
        store.give(given, who)
    playlists = PlaylistStore(store)
    uid = playlists.make(people[0], people[-1])
    opened = shown or (loaded.digest, system.name)
    starred = [
        Starred(key, seen, Shown(*opened, "strict", row.document, row.record))
        for (key, _, seen), row in zip(subjects, table.itertuples(), strict=True)
    ]
    playlists.star(uid, starred[:8], people[-1])
    found = playlists.playlists().find(uid)
    assert found is not None
    for item in found.items:
        playlists.comment(uid, item, next(values), people[-1])
    return found
