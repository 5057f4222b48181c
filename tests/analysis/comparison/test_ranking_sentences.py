"""Sentences on a ranking: few systems are named with their p, of many the number and the greatest p."""

from __future__ import annotations

import pytest

from nereval_core.analysis.comparison import MOST_NAMED, compare_scores, ranking_sentences
from nereval_core.analysis.resampling_units import ResamplingPlan
from nereval_core.corpus import Layer
from nereval_core.scoring import score_layers
from tests.support.pages import DEMO


def copies(number: int) -> dict[str, Layer]:
    return {f"copy-{place}": DEMO.corpus.system("perceptron") for place in range(number)}


@pytest.mark.parametrize("number", [2, MOST_NAMED, MOST_NAMED + 1])
def test_of_many_systems_the_number_is_said(number: int) -> None:
    layers = {"best": DEMO.corpus.system("annotator-1"), **copies(number)}
    scores = {name: score_layers(DEMO.corpus.gold, layer) for name, layer in layers.items()}
    found = compare_scores(scores, names=["strict"], plan=ResamplingPlan(resamples=1_000))
    (sentence, *_) = ranking_sentences(found)
    pairs = (number + 1) * number // 2
    assert sentence.startswith("significantly worse than best: ") and sentence.endswith(
        f"over {pairs} pairs of systems"
    )
    named = [name for name in layers if name in sentence.partition(": ")[2]]
    assert named == ([] if number > MOST_NAMED else [name for name in layers if name != "best"])
    assert (f"{number} systems (p" in sentence) == (number > MOST_NAMED)
