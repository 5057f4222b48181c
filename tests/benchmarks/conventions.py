"""How fast published scorers are reproduced, beside the scorers themselves where they install."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from itertools import pairwise

import numpy as np

from nereval_core.conventions import conventions, hipe, option_values
from nereval_core.conventions.convention import TagPair
from nereval_core.conventions.hipe.columns import HIPE_2022, pair_of_layers
from nereval_core.corpus import Documents, Intervals, Layer
from nereval_core.readers.shared.token_tags import tags_of_layer
from tests.benchmarks.scales import Scale

BY_DOCUMENT = 10
TOKENS = 6
"""Tokens from one gold span to the next."""
TYPES = 20
MANY, FEW = 1_000_000, 20_000


def rows(scale: Scale) -> list[tuple[str, float, str]]:
    """Return what was measured, the figure, and the aim."""
    many, few = scale.of((MANY, FEW), (MANY, FEW), (200, 200))
    gold, pred = layers(few)
    found = []
    for name, ours, theirs in (
        ("nervaluate 1.2.1 evaluate()", by_nervaluate, nervaluate_itself),
        ("seqeval 1.2.2 classification_report()", by_seqeval, seqeval_itself),
    ):
        run = ours(gold, pred)
        of_reference = clock(theirs(gold, pred))
        ratio = of_reference / statistics.median(clock(run) for _ in range(9))
        found.append((f"{name} / ours, {few:,} gold spans", ratio, ">= 50"))
    gold, pred = layers(many)
    for name, ours, seconds in REFERENCES:
        run = ours(gold, pred)
        run()
        taken = statistics.median(clock(run) for _ in range(3))
        found.append((f"{name}, CPU seconds for {many:,} gold spans", taken, f"<= {seconds / 50}"))
    return found


def clock(run: Callable[[], object]) -> float:
    start = time.process_time()
    run()
    return time.process_time() - start


def layers(spans: int) -> tuple[Layer, Layer]:
    """Draw flat spans over tokens: 70% of the predictions equal, 10% each longer, of another type and elsewhere."""
    rng = np.random.default_rng(0)
    documents = spans // BY_DOCUMENT
    size = BY_DOCUMENT * TOKENS
    text = " ".join("x" * size)
    first = np.arange(documents + 1, dtype=np.int64) * size
    starts = np.tile(np.arange(size, dtype=np.int32) * 2, documents)
    tokens = Intervals(first, starts, starts + 1)
    shared = Documents(tuple(map(str, range(documents))), (text,) * documents, tokens)
    doc = np.repeat(np.arange(documents, dtype=np.int32), BY_DOCUMENT)
    start = np.tile(np.arange(BY_DOCUMENT, dtype=np.int32) * TOKENS, documents)
    end = start + rng.integers(1, 4, spans)
    kind = rng.integers(0, TYPES, spans)
    low, high, other = start.copy(), end.copy(), kind.copy()
    fate = rng.random(spans)
    high[(fate > 0.7) & (fate < 0.8)] += 1
    retyped, elsewhere = (fate > 0.8) & (fate < 0.9), fate > 0.9
    other[retyped] = (other[retyped] + 1) % TYPES
    low[elsewhere] += 4
    high[elsewhere] = low[elsewhere] + 1
    names = tuple(f"T{code:02}" for code in range(TYPES))

    def layer(name: str, one: np.ndarray, two: np.ndarray, code: np.ndarray) -> Layer:
        columns = ((2 * one).astype(np.int32), (2 * two - 1).astype(np.int32), code.astype(np.int16))
        return Layer(name, shared, doc, *columns, names)

    return layer("gold", start, end, kind), layer("pred", low, high, other)


def by_nervaluate(gold: Layer, pred: Layer) -> Callable[[], object]:
    convention = conventions()["nervaluate-1.2.1"]
    options = option_values(convention, {})
    # Digests are made once and kept: they are not part of scoring.
    assert gold.digest != pred.digest
    score = convention.of_layers
    return lambda: score(gold, pred, options)


def nervaluate_itself(gold: Layer, pred: Layer) -> Callable[[], object]:
    from nervaluate.evaluator import Evaluator

    sides = []
    for layer in (gold, pred):
        by_document: list[list[dict[str, object]]] = [[] for _ in range(len(layer.documents))]
        for index, doc in enumerate(layer.doc.tolist()):
            row = {"label": layer.label(index), "start": int(layer.start[index]), "end": int(layer.end[index]) - 1}
            by_document[doc].append(row)
        sides.append(by_document)
    evaluator = Evaluator(*sides, tags=list(gold.types), loader="dict")
    return evaluator.evaluate


def by_seqeval(gold: Layer, pred: Layer) -> Callable[[], object]:
    tags = TagPair(tags_of_layer(gold, "seqeval"), tags_of_layer(pred, "seqeval"))
    convention = conventions()["seqeval"]
    options = option_values(convention, {})
    return lambda: convention.outcome(convention.steps.match(tags, options), options)


def seqeval_itself(gold: Layer, pred: Layer) -> Callable[[], object]:
    from seqeval.metrics import classification_report

    sides = []
    for layer in (gold, pred):
        tags = tags_of_layer(layer, "seqeval")
        sides.append([list(tags.tags[low:high]) for low, high in pairwise(tags.sentences.tolist())])
    return lambda: classification_report(*sides, output_dict=True)


def by_hipe(gold: Layer, pred: Layer) -> Callable[[], object]:
    convention = conventions()["hipe-2022"]
    options = option_values(convention, {})
    columns = hipe.ScoredColumns(pair_of_layers(gold, pred, HIPE_2022, options), ("NE-COARSE-LIT",), "pred")
    return lambda: convention.outcome(convention.steps.match(columns, options), options)


REFERENCES = (("hipe-2022", by_hipe, 105), ("seqeval", by_seqeval, 60), ("nervaluate-1.2.1", by_nervaluate, 25))
"""Conventions, and how many seconds of CPU the scorers themselves took for a million spans; HIPE's does not install."""
