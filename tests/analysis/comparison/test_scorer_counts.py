"""Published scorers in comparisons: their figures, held against the scorers themselves, with intervals and tests."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from nereval_core.analysis.comparison import compare_scores
from nereval_core.analysis.comparison.measures import scorer_counts
from nereval_core.analysis.resampling_units import ResamplingPlan, document_units
from nereval_core.conventions import LayerPair, apply_to_layers, conventions
from nereval_core.conventions.records import OVERALL
from nereval_core.corpus import Documents
from nereval_core.problems import FormatError
from nereval_core.scoring import Scores, score_layers
from tests.support.spans import Span, make

PLAN = ResamplingPlan(resamples=200)
WORDS = ("Anna", "Aspirin", "Bern", "fever", "IL-2", "met", "of", "rose", "the", "took")
TYPES = ("Chemical", "DNA", "Disease", "LOC", "PER", "protein")
WNUT_TYPES = ("group", "location", "person")
SCORERS = [name for name, one in conventions().items() if one.takes_layers]


@cache
def scored_systems(*types: str) -> Mapping[str, Scores]:
    """Return two systems scored over one gold, with whole words as spans."""
    rng = random.Random(3)
    texts = tuple(" ".join(rng.choices(WORDS, k=18)) for _ in range(12))
    over = Documents(tuple(f"d{number}" for number in range(12)), texts)
    gold = _spans(rng, texts, types)
    # Of gold's spans some are kept, some get another type, and others come with them.
    systems = {
        name: [
            (doc, span if rng.random() < 0.7 else replace(span, kind=rng.choice(types)))
            for doc, span in gold
            if rng.random() < 0.8
        ]
        for name in ("a", "b")
    }
    return {name: score_layers(make("gold", over, gold), make(name, over, spans)) for name, spans in systems.items()}


def _spans(rng: random.Random, texts: tuple[str, ...], types: tuple[str, ...]) -> list[tuple[int, Span]]:
    """Draw spans of one or two whole words each, none next to another."""
    found = []
    for doc, text in enumerate(texts):
        words = list(re.finditer("[^ ]+", text))
        for first in range(0, len(words) - 1, 3):
            last = first + rng.randrange(2)
            found.append((doc, Span(((words[first].start(), words[last].end()),), rng.choice(types))))
    return found


@pytest.fixture(scope="module")
def scored() -> Mapping[str, Scores]:
    return scored_systems(*TYPES)


@pytest.mark.parametrize("name", SCORERS)
def test_figures_are_those_of_the_scorer_itself(name: str) -> None:
    convention = conventions()[name]
    scored = scored_systems(*(WNUT_TYPES if name == "wnut17" else TYPES))
    figures = {
        system: apply_to_layers(convention, LayerPair(*scores.read, ())).figures for system, scores in scored.items()
    }
    of_all = figures["a"][(figures["a"]["figure"] == convention.ratios.f1) & (figures["a"]["scope"] == OVERALL)]
    evaluations = set(of_all["evaluation"]) - {"surface"}
    assert evaluations
    for evaluation in sorted(evaluations):
        found = compare_scores(
            scored,
            names=["strict"],
            plan=PLAN,
            measures=["precision", "recall", "f1"],
            scorers=[f"{name}/{evaluation}"],
        )
        rows = found.measures[found.measures["criterion"] == f"{name}/{evaluation}"]
        assert len(rows) == 6
        for system, own in figures.items():
            own = own[(own["evaluation"] == evaluation) & (own["scope"] == OVERALL)].set_index("figure")["value"]
            for measure, key in (("precision", "P"), ("recall", "R"), ("f1", "F1")):
                value = rows[(rows["system"] == system) & (rows["measure"] == measure)]["value"].item()
                theirs = own[convention.ratios.names[key]] / (100 if convention.ratios.percent else 1)
                assert np.nan_to_num(value) == pytest.approx(np.nan_to_num(theirs)), (evaluation, system, measure)


def test_the_twin_of_strict_has_the_intervals_and_tests_of_strict(scored: Mapping[str, Scores]) -> None:
    found = compare_scores(scored, names=["strict"], plan=PLAN, measures=["f1"], scorers=["spacy-ents"], by_type=True)
    for table, values in ((found.measures, ["low", "high"]), (found.measure_differences, ["difference", "low", "p"])):
        ours, theirs = (table[table["criterion"] == name] for name in ("strict", "spacy-ents/ents"))
        keys = ["type", "system"]
        assert (
            set(ours["type"].dropna())
            and ours[keys].fillna("").values.tolist() == theirs[keys].fillna("").values.tolist()
        )
        np.testing.assert_allclose(ours[values].to_numpy(float), theirs[values].to_numpy(float))


def test_counts_of_documents_add_up_by_unit(scored: Mapping[str, Scores]) -> None:
    gold = scored["a"].read[0]
    like_type = scorer_counts(scored, "hipe-2020/ent_type", document_units(len(gold.documents)), by_type=False)
    assert like_type.groups[0].criterion == "hipe-2020/NE-COARSE-LIT/ent_type"
    counted = scorer_counts(scored, "nervaluate-1.2.1/partial", document_units(len(gold.documents)), by_type=False)
    assert counted.counts.shape == (1, 2, 4, len(gold.documents))
    assert counted.counts[0, :, 2].sum(axis=-1).tolist() == [len(gold)] * 2


@pytest.mark.parametrize(
    "name, said",
    [
        ("wnut17/surface", "a surface form counts once in the whole corpus"),
        ("germeval-2014", "it scores files of its own format only"),
        ("conlleval/phrases", "no evaluation 'phrases' with precision, recall and F1; choose among phrase"),
        ("conleval", "no published scorer 'conleval'; choose among"),
    ],
)
def test_what_cannot_be_resampled_is_refused(name: str, said: str) -> None:
    scored = scored_systems(*WNUT_TYPES)
    with pytest.raises(FormatError, match=said):
        compare_scores(scored, names=["strict"], plan=PLAN, scorers=[name])


def test_merged_types_would_change_the_rules(scored: Mapping[str, Scores]) -> None:
    from nereval_core.scoring import Settings

    gold, pred = scored["a"].read
    merged = {"a": score_layers(gold, pred, Settings(merge=(("LOC", "PER"),)))}
    with pytest.raises(FormatError, match="would change the rules"):
        compare_scores(merged, names=["strict"], plan=PLAN, scorers=["conlleval"])
