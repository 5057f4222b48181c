"""How long slicing takes: finding the values of a million spans, counting them with intervals, and every threshold.

Seconds are processor time of this process, all threads. The spans are words of a vocabulary in texts of such words, so
that surface forms repeat as they do in corpora.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from nereval_core.analysis.slices import slicings
from nereval_core.analysis.slices.scores_by_slice import slice_table, tally_slices
from nereval_core.analysis.slices.span_values import SlicedScores
from nereval_core.analysis.slices.thresholds import sweep_thresholds
from nereval_core.analysis.slices.worst_combinations import worst_table
from nereval_core.corpus import Documents, Layer, frozen
from nereval_core.corpus.texts import Texts
from nereval_core.scoring import Settings, score_layers
from nereval_core.scoring.criteria import CRITERIA
from tests.benchmarks.scales import Scale

SPANS, BY_DOCUMENT, WORDS, VOCABULARY = 1_000_000, 10, 60, 20_000
TOGETHER = ("length", "tokens", "shape", "frequency", "consistency", "position", "document-length", "spans")


def rows(scale: Scale) -> Iterator[tuple[str, float, str]]:
    """Yield what was measured, the figure, and the aim."""
    given = drawn(scale.of(SPANS, SPANS // 10, 1_000))
    size = f"{len(given.read[0]):,} gold spans"
    values: dict[str, Any] = {}
    for name in TOGETHER:
        # Two seconds a side.
        yield f"s: {size}, as many predictions: {name}", seconds(partial(find, given, name, values)), "<= 4"
    counted = seconds(lambda: slice_table(tally_slices(given, values["length"])))
    yield f"s: counts of {size} by length with intervals", counted, "<= 2"
    yield f"s: combinations of {len(values)} slicings, {size}", seconds(lambda: worst_table(given, values)), "reported"
    yield f"s: 100 thresholds, {size}", seconds(lambda: sweep_thresholds(given.scores, given.criterion)), "reported"


def find(given: SlicedScores, name: str, values: dict[str, Any]) -> None:
    values[name] = slicings.find_values(given, name)


def seconds(work: Callable[[], Any]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def drawn(spans: int) -> SlicedScores:
    """Draw documents of words, gold spans over one to three of them, and predictions moved by chance, with scores."""
    rng = np.random.default_rng(0)
    letters = np.array(list("etaoinshrdlucmf"))
    words = ["".join(rng.choice(letters, rng.integers(3, 10))) for _ in range(VOCABULARY)]
    share = 1 / np.arange(1, VOCABULARY + 1)
    documents = spans // BY_DOCUMENT
    chosen = rng.choice(VOCABULARY, (documents, WORDS), p=share / share.sum())
    size = np.array([len(word) for word in words])[chosen]
    starts = np.cumsum(size + 1, axis=1) - size - 1
    over = Documents(
        tuple(f"d{number:06}" for number in range(documents)),
        Texts.of(" ".join(map(words.__getitem__, row)) for row in chosen.tolist()),
    )
    first = np.arange(0, WORDS, WORDS // BY_DOCUMENT)
    sides = []
    for name, moved in (("gold", 0), ("pred", 1)):
        low = first + rng.integers(0, 1 + moved, (documents, BY_DOCUMENT))
        high = low + rng.integers(0, 3, (documents, BY_DOCUMENT))
        doc = np.repeat(np.arange(documents, dtype=np.int32), BY_DOCUMENT)
        start = np.take_along_axis(starts, low, 1).ravel().astype(np.int32)
        end = np.take_along_axis(starts + size, high, 1).ravel().astype(np.int32)
        kind = rng.integers(0, 4, len(doc)).astype(np.int16)
        columns = (frozen(column) for column in (doc, start, end, kind))
        sides.append(Layer(name, over, *columns, ("A", "B", "C", "D")))
    gold, pred = sides
    pred = replace(pred, scores=dict(enumerate(rng.random(len(pred)).round(3).tolist())))
    return SlicedScores(score_layers(gold, pred, Settings((CRITERIA["strict"],))), "strict", (gold, pred))
