"""How long comparing takes, how often the test errs where systems are equal, and how often intervals hold the truth.

Seconds are processor time of this process, all threads; rates are shares of simulated corpora in percent.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import expit, logit

from nereval_core.analysis.bootstrap import F1
from nereval_core.analysis.comparison.measures import ComparisonGroup, SystemResamples, UnitCounts
from nereval_core.analysis.comparison.runs import compare_runs
from nereval_core.analysis.comparison.significance import difference_table, interval_table, power_table
from nereval_core.analysis.resampling_units import ResamplingPlan, ResamplingUnits
from nereval_core.scoring.criteria import CRITERIA
from tests.benchmarks.scales import Scale

DOCUMENTS, SYSTEMS = 1_000, 5
MANY = 100_000
RUNS = 5
CORPORA, TOGETHER = 4_000, 200
"""Simulated corpora, and how many of them are resampled together, with the same draws."""
WORSE = 0.1
"""The share of what a worse system misses more."""
RUNS_A_SYSTEM = (2, 3, 5)
RUN_EFFECTS = {2: 0.15, 5: 0.4}
"""Standard deviations between runs on the logit of what is found, by the points of F1 they come to."""
RUN_BY_DOCUMENT = 0.5
"""The same between runs in one document."""
TRUTH = 1_000_000
"""Documents of the corpus that stands for all there could be."""
TRUE_RUNS, TRUE_DOCUMENTS = 400, 20_000
"""The same of runs."""
SIZES = (15, 30, 100)
"""Clusters of uneven size: documents of an author, say."""


def rows(scale: Scale) -> Iterator[tuple[str, float, str]]:
    """Yield what was measured, the figure, and the aim."""
    counts = drawn(len(CRITERIA), SYSTEMS, scale.of(DOCUMENTS, DOCUMENTS, 20), np.random.default_rng(0))
    what = f"s: 10,000 resamples, {len(CRITERIA)} criteria, {SYSTEMS} systems, {DOCUMENTS:,} documents, and tests"
    yield (what, statistics.median(seconds(lambda: compared(counts)) for _ in range(scale.runs(RUNS))), "<= 2")
    if scale is Scale.FULL:
        counts = drawn(1, SYSTEMS, MANY, np.random.default_rng(0))
        yield (f"s: the same of one criterion, {MANY:,} documents", seconds(lambda: compared(counts)), "reported")
    corpora = scale.of(CORPORA, CORPORA // 4, 2)
    truth = scale.of(TRUTH, TRUTH, TRUTH // 100)
    shown, equal = planned(scale.of(100, 100, 20), corpora, truth)
    yield ("%: p <= 0.05 for a true difference with as many documents as were said to be needed", shown, "75..85")
    yield ("%: as good within a margin that is the true difference", equal, "<= 5.5")
    for documents in SIZES:
        errors, held, apart = simulated(documents, corpora, truth)
        yield (f"%: p <= 0.05 where two systems are equal, {documents} clusters, {corpora:,} corpora", errors, "4..6")
        yield (f"%: 95% intervals that hold the F1 of all clusters, {documents} clusters", held, "93..97")
        yield (f"%: 95% intervals that hold the difference of two systems, {documents} clusters", apart, "93..97")
    of_all = scale.of((TRUE_RUNS, TRUE_DOCUMENTS), (TRUE_RUNS, TRUE_DOCUMENTS), (20, 1_000))
    for points, effect in RUN_EFFECTS.items():
        for runs in RUNS_A_SYSTEM:
            what = f"{runs} runs that differ by {points} points, {SIZES[-1]} clusters"
            errors, held, apart = simulated_runs(effect, runs, corpora, *of_all)
            yield (f"%: p <= 0.05 where two systems are equal, {what}", errors, "<= 6")
            yield (f"%: 95% intervals that hold the mean F1 over clusters and runs, {what}", held, "reported")
            yield (f"%: 95% intervals that hold the difference of two systems, {what}", apart, "93..97")


def planned(documents: int, corpora: int, truth: int) -> tuple[float, float]:
    """Return in how many of 100 corpora, as large as others say is needed, a true difference has p at most 5%.

    And in how many two systems are called equally good within a margin that is their true difference.
    """
    rng = np.random.default_rng(documents)
    f1 = SystemResamples(named(drawn(1, 2, truth, rng, worse=WORSE)), ResamplingPlan()).observed[0, :, F1]
    true = float(f1[0] - f1[1])
    pilot = power_of(drawn(TOGETHER, 2, documents, rng, worse=WORSE), 0, true)
    needed = round(float(pilot["needed"].median()) * (0.01 / true) ** 2)
    found, equal = [], []
    for part in range(max(1, corpora // TOGETHER)):
        counts = drawn(min(TOGETHER, corpora), 2, needed, rng, worse=WORSE)
        plan = ResamplingPlan(resamples=1_999, seed=part)
        found += (difference_table(SystemResamples(named(counts), plan), "0")["p"] <= 0.05).tolist()
        equal += (power_of(counts, part, true)["p_equivalent"] <= 0.05).tolist()
    return 100 * statistics.mean(found), 100 * statistics.mean(equal)


def power_of(counts: NDArray[Any], seed: int, margin: float) -> pd.DataFrame:
    return power_table(SystemResamples(named(counts), ResamplingPlan(resamples=100, seed=seed)), "0", margin)


def compared(counts: NDArray[Any]) -> None:
    """Compare systems as the page and the command do."""
    resampled = SystemResamples(named(counts), ResamplingPlan())
    interval_table(resampled)
    difference_table(resampled, "0")


def seconds(work: Callable[[], None]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def named(counts: NDArray[Any]) -> UnitCounts:
    groups, systems = counts.shape[:2]
    units = ResamplingUnits("document", "document", "documents", counts.shape[-1])
    names = tuple(map(str, range(systems)))
    return UnitCounts(tuple(ComparisonGroup(str(number)) for number in range(groups)), names, counts, units)


def drawn(
    groups: int, systems: int, documents: int, rng: np.random.Generator, *, worse: float = 0
) -> NDArray[np.int32]:
    """Draw counts, shape (groups, systems, 4, documents): documents differ in size and in how hard they are.

    All systems are equally good, or the last finds `worse` of what it should less often.
    """
    shape = (groups, 1, documents)
    gold = np.broadcast_to(1 + rng.poisson(rng.gamma(1, 8, shape)), (groups, systems, documents))
    hard = rng.beta(6, 3, shape)
    chance = np.broadcast_to(hard, gold.shape).copy()
    chance[:, -1] *= 1 - worse
    right = rng.binomial(gold, chance)
    predicted = right + rng.poisson(0.3 * gold)
    return np.stack([2 * right, 2 * right, gold, predicted], axis=2).astype(np.int32)


def simulated(documents: int, corpora: int, of_all: int) -> tuple[float, float, float]:
    """Return in how many of 100 corpora equal systems differ at 5%, and how many intervals of 100 hold the truth.

    These are intervals of F1, and of the difference of two equal systems, which is 0.
    """
    rng = np.random.default_rng(documents)
    truth = SystemResamples(named(drawn(1, 1, of_all, rng)), ResamplingPlan()).observed[0, 0, F1]
    differ, held, apart = [], [], []
    for part in range(max(1, corpora // TOGETHER)):
        resampled = SystemResamples(
            named(drawn(min(TOGETHER, corpora), 2, documents, rng)), ResamplingPlan(resamples=1_999, seed=part)
        )
        differences = difference_table(resampled, "0")
        differ += (differences["p"] <= 0.05).tolist()
        apart += ((differences["low"] <= 0) & (differences["high"] >= 0)).tolist()
        table = interval_table(resampled)
        held += ((table["f1_low"] <= truth) & (truth <= table["f1_high"])).tolist()
    return 100 * statistics.mean(differ), 100 * statistics.mean(held), 100 * statistics.mean(apart)


def drawn_runs(groups: int, runs: int, documents: int, effect: float, rng: np.random.Generator) -> NDArray[np.int32]:
    """Draw counts of runs of equal systems, shape (groups, runs, 4, documents).

    A run is better or worse than others in all documents, and in each of them.
    """
    shape = (groups, 1, documents)
    gold = np.broadcast_to(1 + rng.poisson(rng.gamma(1, 8, shape)), (groups, runs, documents))
    apart = rng.normal(0, effect, (groups, runs, 1)) + rng.normal(0, RUN_BY_DOCUMENT, gold.shape)
    right = rng.binomial(gold, expit(logit(rng.beta(6, 3, shape)) + apart))
    predicted = right + rng.poisson(0.3 * gold)
    return np.stack([2 * right, 2 * right, gold, predicted], axis=2).astype(np.int32)


@cache
def true_mean(effect: float, runs: int, documents: int) -> float:
    """Return the mean F1 over very many runs on very many documents."""
    counts = drawn_runs(1, runs, documents, effect, np.random.default_rng(0))
    return float(SystemResamples(named(counts), ResamplingPlan()).observed[0, :, F1].mean())


def simulated_runs(
    effect: float, runs: int, corpora: int, true_runs: int, true_documents: int
) -> tuple[float, float, float]:
    """Return the same of 100 as `simulated`, of two equal systems with several runs each."""
    rng, truth = np.random.default_rng(runs), true_mean(effect, true_runs, true_documents)
    systems = {name: [str(place + run) for run in range(runs)] for name, place in (("a", 0), ("b", runs))}
    differ, held, apart = [], [], []
    for _ in range(max(1, corpora // TOGETHER)):
        counts = drawn_runs(min(TOGETHER, corpora), 2 * runs, SIZES[-1], effect, rng)
        found = compare_runs(SystemResamples(named(counts), ResamplingPlan()), systems, "a")
        differ += (found.differences["p"] <= 0.05).tolist()
        apart += ((found.differences["low"] <= 0) & (found.differences["high"] >= 0)).tolist()
        held += ((found.means["f1_low"] <= truth) & (truth <= found.means["f1_high"])).tolist()
    return 100 * statistics.mean(differ), 100 * statistics.mean(held), 100 * statistics.mean(apart)
