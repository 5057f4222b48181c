"""Corpora written otherwise, real ones by a script: aligned, they score as they are."""

from __future__ import annotations

import random
import unicodedata
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nereval_core.api.read import read
from nereval_core.api.score import score
from nereval_core.corpus import Layer
from nereval_core.corpus.builder import Builder
from nereval_core.corpus.texts import Texts
from nereval_core.pairing import pair
from nereval_core.pairing.letters import letter_key
from nereval_core.readers import Reading
from tests.support.layer_strategies import layers
from tests.support.shared_corpora import SHARED, needs

FORM = st.sampled_from(["NFC", "NFD"])
REWRITTEN = {
    "\n": ("\r\n", "\n", "\n\n", " "),
    " ": (" ", "  ", "\t", "\xa0", "\n"),
    '"': ("“", "”", "''", "``", "«"),
    "'": ("’", "‘", "´"),
    "-": ("–", "‑", "−"),
}


def written_otherwise(text: str, rng: random.Random) -> tuple[str, list[int], list[int]]:
    """Return a text in other writing, and for each place in it where something may begin there, or end."""
    parts: list[str] = []
    begins: list[int] = []
    ends = [0]
    length = 0
    for letter in text:
        # White space is put before letters too, and a letter is taken apart or put together.
        before = rng.choice([" ", "\u200b"]) if letter.isalnum() and rng.random() < 0.02 else ""
        form = rng.choice(["NFC", "NFD"])
        part = rng.choice(REWRITTEN.get(letter, (unicodedata.normalize(form, letter),)))  # type: ignore[arg-type]
        begins.append(length + len(before))
        length += len(before) + len(part)
        ends.append(length)
        parts.append(before + part)
    return "\ufeff" + "".join(parts), [place + 1 for place in (*begins, length)], [place + 1 for place in ends]


def rewritten(layer: Layer, seed: int) -> Reading:
    """Return a layer over its texts in other writing."""
    rng = random.Random(seed)
    builder = Builder("rewritten")
    documents = layer.documents
    for number, name in enumerate(documents.ids):
        text, begins, ends = written_otherwise(documents.texts[number], rng)
        builder.document(name, text)
        for span in range(int(layer.first[number]), int(layer.first[number + 1])):
            parts = layer.fragments.get(span, ((int(layer.start[span]), int(layer.end[span])),))
            moved = [(begins[low], ends[high]) for low, high in parts]
            builder.span(moved[0][0], moved[-1][1], layer.label(span), fragments=tuple(moved))
    made = builder.finish(layer.name)
    return Reading(made.documents, made, "test", source=layer.name)


def sides(name: str) -> tuple[Reading, Reading]:
    if name == "pharmaconer":
        folder = SHARED / "pharmaconer/subtask1"
        gold = read(folder / "ref/subtask1")
        return gold, read(folder / "res/subtask1", texts=gold.documents)
    gold = read(SHARED / "bc2gm")
    return gold, read(SHARED / "bc2gm/run_variants.eval", texts=gold.documents)


def counts(gold: Reading, pred: Reading, **options: Any) -> Iterator[tuple[int, ...]]:
    scores = score(gold, pred, missing="empty", **options)
    for criterion in scores.criteria:
        found = scores.counts(criterion.name)
        yield found.cor, found.inc, found.par, found.mis, found.spu


@needs("pharmaconer")
@pytest.mark.parametrize("name", ["pharmaconer", "bc2gm"])
def test_a_corpus_written_otherwise_scores_as_it_is(name: str) -> None:
    gold, pred = sides(name)
    other = rewritten(pred.layer, seed=7)
    paired = pair(gold, other, align_text=True, missing="empty")
    assert not paired.lost
    assert paired.layer.digest == pair(gold, pred, missing="empty").layer.digest
    assert list(counts(gold, other, align_text=True)) == list(counts(gold, pred))


@given(pred=layers(), held=st.sampled_from([tuple, Texts.of]), data=st.data())
def test_spans_keep_their_letters_or_are_lost(pred: Layer, held: Any, data: st.DataObject) -> None:
    """Whatever they carry; those that are left are in the order in which they were read."""
    own = pred.documents
    blank = data.draw(st.sampled_from([" ", "  ", "\n", "\r\n"]))
    texts = [
        unicodedata.normalize(form, text.replace(" ", blank).replace('"', "“"))  # type: ignore[arg-type]
        for text, form in zip(own.texts, data.draw(st.lists(FORM, min_size=len(own), max_size=len(own))), strict=True)
    ]
    none = np.zeros(0, np.int32)
    gold = Layer("gold", replace(own, texts=held(texts), tokens=None), none, none, none, none.astype(np.int16), ())
    theirs = replace(pred, documents=replace(own, texts=held(own.texts)))
    paired = pair(*(Reading(layer.documents, layer, "drawn") for layer in (gold, theirs)), align_text=True)
    kept = paired.layer
    assert len(kept) + len(paired.lost) == len(pred)
    place = {number: span for span, number in enumerate(_read_at(pred))}
    for span, number in enumerate(_read_at(kept)):
        before = place[number]
        assert kept.doc[span] == pred.doc[before] and kept.label(span) == pred.label(before)
        for one, other in zip(_intervals(kept, span), _intervals(pred, before), strict=True):
            here, there = texts[kept.doc[span]][slice(*one)], own.texts[pred.doc[before]][slice(*other)]
            assert letter_key(here) == letter_key(there)
        for name in ("ids", "links", "scores", "meta"):
            assert getattr(kept, name).get(span) == getattr(pred, name).get(before)
    spans = [(kept.doc[span], kept.start[span], kept.end[span]) for span in range(len(kept))]
    assert spans == sorted(spans)


def _read_at(layer: Layer) -> list[int]:
    return list(range(len(layer))) if layer.order is None else layer.order.tolist()


def _intervals(layer: Layer, span: int) -> list[tuple[int, int]]:
    core = layer.cores.get(span)
    return [
        (int(layer.start[span]), int(layer.end[span])),
        *layer.fragments.get(span, ()),
        *([] if core is None else [core]),
        *layer.alternatives.get(span, ()),
    ]
