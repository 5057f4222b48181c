"""How long slicing takes: finding the values of a million spans, counting them with intervals, and every threshold.

And how often tests of slices err where slices and systems are equal, in percent of simulated corpora. Seconds are
processor time of this process, all threads. The spans are words of a vocabulary in texts of such words, so
that surface forms repeat as they do in corpora.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from nereval_core.alignment.codes import Decision
from nereval_core.analysis.resampling_units import document_units
from nereval_core.analysis.slices import slicings
from nereval_core.analysis.slices.scores_by_slice import SliceTally, slice_table, tally_slices
from nereval_core.analysis.slices.slice_tests import LEAST_DOCUMENTS, apart_tests, change_tests, worst_table
from nereval_core.analysis.slices.span_values import SlicedScores
from nereval_core.analysis.slices.thresholds import sweep_thresholds
from nereval_core.corpus import Documents, Layer, frozen
from nereval_core.corpus.texts import Texts
from nereval_core.scoring import Settings, score_layers
from nereval_core.scoring.criteria import CRITERIA
from tests.benchmarks.scales import Scale

CORPORA = 4_000
SIZES = (15, 30, 100)
"""Documents of uneven size and difficulty, as in `significance`."""
SHARES = (0.05, 0.2, 0.5)
"""The shares of spans, or of documents, that are in the slice."""
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
    five = {name: tally_slices(given, values[name]) for name in TOGETHER[:5]}
    units = document_units(len(given.read[0].documents))
    yield f"s: tests of the slices of five slicings, {size}", seconds(lambda: apart_tests(five, units)), "<= 2"
    systems = {"a": five, "b": five}
    changes = seconds(lambda: change_tests(systems, "a", units))
    yield f"s: tests of the changes of two systems, five slicings, {size}", changes, "<= 2"
    for documents in SIZES:
        for whole in (False, True):
            of = "documents" if whole else "spans"
            for share in SHARES:
                if whole and share * documents < LEAST_DOCUMENTS:
                    continue
                apart, changed = simulated(documents, share, whole, scale.of(CORPORA, CORPORA // 4, 3))
                where = f"{share:.0%} of {of}, {documents} documents"
                yield f"%: p <= 0.05 for an equal slice, {where}", apart, "<= 6"
                yield f"%: p <= 0.05 for equal systems in a slice, {where}", changed, "<= 6"
    yield f"s: 100 thresholds, {size}", seconds(lambda: sweep_thresholds(given.scores, given.criterion)), "reported"


def simulated(documents: int, share: float, whole: bool, corpora: int) -> tuple[float, float]:
    """Return in how many of 100 corpora a slice differs from the rest, and equal systems within it, at 5%.

    Corpora that make no test, as the slice is in too few documents, are left out. The slice has a share of the spans
    of each document, or `whole` documents.
    """
    rng = np.random.default_rng(documents)
    units = document_units(documents)
    systems: dict[str, dict[str, SliceTally]] = {"a": {}, "b": {}}
    # Each corpus is a slicing, so that one table has the tests of all.
    for corpus in range(corpora):
        gold = 1 + rng.poisson(rng.gamma(1, 8, documents))
        hard = rng.beta(6, 3, documents)
        inside = gold * (rng.random(documents) < share) if whole else rng.binomial(gold, share)
        for tallies in systems.values():
            tallies[str(corpus)] = drawn_slices(np.stack([inside, gold - inside]), hard, rng)
    changes = change_tests(systems, "a", units).table
    return _significant(apart_tests(systems["a"], units).table), _significant(changes[changes["slice"] == "in"])


def drawn_slices(gold: np.ndarray[Any, Any], hard: np.ndarray[Any, Any], rng: np.random.Generator) -> SliceTally:
    """Draw what a system finds of the gold spans of each slice, shape (slices, documents)."""
    right = rng.binomial(gold, hard)
    counts = np.stack([2 * right, 2 * right, gold, right + rng.poisson(0.3 * gold)], axis=1).astype(np.int32)
    counts = np.concatenate([counts, np.zeros_like(counts[:1])])
    sides = np.ones((len(counts), len(Decision)), np.int64)
    return SliceTally(("in", "out"), sides, sides, counts)


def _significant(tests: pd.DataFrame) -> float:
    p = tests["p"].dropna()
    return 100 * float((p <= 0.05).mean()) if len(p) else 0.0


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
