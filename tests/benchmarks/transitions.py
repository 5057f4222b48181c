"""How long it takes to say what becomes of each span from one system to another, beside scoring one of them."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator

import numpy as np

from nereval_core.alignment.codes import Spans
from nereval_core.analysis.crosstab import count_transitions, right_system_counts
from nereval_core.corpus import Documents, Layer, frozen
from nereval_core.scoring import Settings, score_layers
from nereval_core.scoring.criteria import CRITERIA
from tests.benchmarks.generated import TYPES, generate
from tests.benchmarks.scales import Scale

SPANS = 1_000_000
RUNS = 5
STRICT = Settings((CRITERIA["strict"],))


def rows(scale: Scale) -> Iterator[tuple[str, float, str]]:
    """Yield what was measured, the ratio of processor times, and the aim."""
    spans = scale.of(SPANS, SPANS, 1_000)
    drawn = generate(spans)
    ids = tuple(f"d{number}" for number in range(drawn.documents))
    documents = Documents(ids, ("",) * drawn.documents, sizes=np.diff(drawn.base))
    most = np.random.default_rng(0).random(len(drawn.pred.doc)) < 0.9
    gold, one = layer("gold", documents, drawn.gold, slice(None)), layer("one", documents, drawn.pred, slice(None))
    other = layer("other", documents, drawn.pred, most)
    scored = [score_layers(gold, each, STRICT) for each in (one, other)]
    what = f"{spans:,} spans: both matrices / scoring one system under strict"
    yield what, ratio(lambda: count_transitions(*scored, "strict"), lambda: score_layers(gold, one, STRICT)), "reported"
    what = "who of ten systems gets each span right / the same"
    yield (
        what,
        ratio(lambda: right_system_counts(scored * 5, "strict"), lambda: score_layers(gold, one, STRICT)),
        "reported",
    )


def layer(name: str, documents: Documents, spans: Spans, some: slice | np.ndarray) -> Layer:
    columns = (frozen(column[some]) for column in (spans.doc, spans.start, spans.end, spans.type))
    return Layer(name, documents, *columns, tuple(f"T{number:02}" for number in range(TYPES)))


def ratio(one: Callable[[], object], other: Callable[[], object]) -> float:
    """Return the median of the ratios of neighbouring runs."""
    return statistics.median(seconds(one) / seconds(other) for _ in range(RUNS))


def seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start
