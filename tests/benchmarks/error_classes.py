"""What sorting errors into classes takes beside scoring, and what mending each class takes, at a million gold spans."""

from __future__ import annotations

from collections.abc import Iterator

from nereval_core.analysis.errors import error_classes as classes
from nereval_core.analysis.errors.boundary_patterns import find_patterns
from nereval_core.analysis.errors.error_classes import class_table
from nereval_core.scoring import Settings, score_layers
from nereval_core.scoring.criteria import CRITERIA
from tests.benchmarks.app import corpus
from tests.benchmarks.matching import clock, compared
from tests.benchmarks.scales import Scale

MILLION = 1_000_000


def rows(scale: Scale) -> Iterator[tuple[str, float, str]]:
    """Yield what was measured, the figure, and the aim."""
    spans = scale.of(MILLION, MILLION // 10, 1_000)
    made = corpus(spans)
    settings = Settings((CRITERIA["strict"],))
    scores = score_layers(made.gold, made.systems[0], settings)
    scores.partners("strict")

    def sort() -> None:
        # What is kept for the same scores would be given again.
        classes._KEPT.clear()
        classes.classify_errors(scores)

    def score() -> None:
        score_layers(made.gold, made.systems[0], settings)

    yield (f"{spans:,} gold spans: error classes / scoring under strict", compared(sort, score, 7), "<= 3")
    yield (f"{spans:,} gold spans: CPU seconds to sort errors into classes", clock(sort), "<= 1")
    yield (
        f"{spans:,} gold spans: CPU seconds to mend each class and score",
        clock(lambda: class_table(scores)),
        "<= 5",
    )
    yield (f"{spans:,} gold spans: CPU seconds to name wrong boundaries", clock(lambda: find_patterns(scores)), "<= 2")
