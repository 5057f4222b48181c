"""What the views of Criteria take beside scoring under the criteria they ask about."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator

import numpy as np

from nereval_core.alignment.codes import Spans
from nereval_core.analysis.criteria.gap import CHAIN, gap, recover_spans
from nereval_core.analysis.criteria.overlap_curve import overlap_curve
from nereval_core.analysis.criteria.sensitivity import fold_scores, proxy_table
from nereval_core.corpus import Documents, Layer
from nereval_core.scoring import Scores, Settings, score_layers
from nereval_core.scoring.criteria import CRITERIA
from tests.benchmarks.generated import TYPES, generate
from tests.benchmarks.scales import Scale

MILLION = 1_000_000
KINDS = tuple(f"T{number:02}" for number in range(TYPES))


def rows(scale: Scale) -> Iterator[tuple[str, float, str]]:
    """Yield what was measured, the figure, and the aim."""
    spans = scale.of(MILLION, MILLION // 10, 1_000)
    drawn = generate(spans)
    documents = Documents(tuple(map(str, range(drawn.documents))), ("",) * drawn.documents, sizes=np.diff(drawn.base))
    gold, pred = (_layer(name, side, documents) for name, side in (("gold", drawn.gold), ("pred", drawn.pred)))

    def scored() -> Scores:
        return score_layers(gold, pred, Settings(tuple(CRITERIA[name] for name in CHAIN)))

    scores = scored()
    for what, run in (
        ("gap strict to type", lambda: gap(scored(), "strict", "type")),
        ("overlap curve", lambda: overlap_curve(gold, pred)),
        ("recovered", lambda: recover_spans(scores)),
        ("stand-ins, 10 folds", lambda: proxy_table(fold_scores({"one": scored()}))),
    ):
        yield f"{spans:,} gold spans, {what} / scoring", _compared(run, scored), "reported"


def _layer(name: str, side: Spans, documents: Documents) -> Layer:
    return Layer(name, documents, side.doc, side.start, side.end, side.type, KINDS)


def _compared(run: Callable[[], object], beside: Callable[[], object]) -> float:
    """Return the median ratio of CPU times of neighbouring runs, after a warm-up of both."""
    run(), beside()
    return statistics.median(_clock(run) / _clock(beside) for _ in range(3))


def _clock(run: Callable[[], object]) -> float:
    start = time.process_time()
    run()
    return time.process_time() - start
