"""Statements on a comparison of systems: intervals, tests with their corrections, power and equivalence."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain

from nereval_core.analysis.comparison import Comparison
from nereval_core.analysis.comparison.measures import MACRO
from nereval_core.analysis.comparison.significance import POWER
from nereval_core.analysis.methods.statements import Cited, Statement, cite, interval_statement, scored_statements
from nereval_core.analysis.sentences import name_list
from nereval_core.conventions import find_convention
from nereval_core.problems import counted
from nereval_core.report.method_terms import (
    EQUIVALENCE,
    FALSE_DISCOVERY,
    HOLM,
    LEAST_DIFFERENCE,
    RANDOMIZATION,
    SEVERAL_RUNS,
)
from nereval_core.report.references import works_named_in


def _scores(comparison: Comparison) -> Iterator[Statement]:
    return scored_statements(comparison.scores, comparison.criteria)


def _intervals(comparison: Comparison) -> Iterator[Statement]:
    if comparison.intervals["f1_low"].notna().any():
        what = "scores and differences" if len(comparison.differences) else "scores"
        what = what if comparison.runs is None else "scores of single runs"
        yield interval_statement(what, comparison.plan, comparison.units.description, comparison.units)


def _tests(comparison: Comparison) -> Iterator[Statement]:
    tested = comparison.differences[comparison.differences["p"].notna()]
    if tested.empty or comparison.runs is not None:
        return
    yield (
        f"Differences in F1 from {comparison.baseline} were tested, two-sided, by approximate randomization",
        cite(RANDOMIZATION),
        f" with {comparison.plan.resamples:,} random swaps of {comparison.units.plural}.",
    )
    level, together = f"{1 - comparison.plan.level:.2g}", int(tested["tests"].max())
    after = "" if together == 1 else " after that of the systems"
    if together > 1:
        within = " under each criterion" if tested["criterion"].nunique() > 1 else ""
        within += " and for each type" if tested["type"].notna().any() else ""
        yield (f"p values were corrected over the {together} systems{within} by Holm's method", cite(HOLM), ".")
    if len(tested) > together:
        yield (
            f"They were also corrected over all tests ({comparison.family}) by Holm's method",
            cite(HOLM),
            " and by that of Benjamini and Hochberg",
            cite(FALSE_DISCOVERY),
            ".",
        )
    yield (f"A difference is called significant where p is at most {level}{after and ', corrected over the systems'}.",)


def _runs(comparison: Comparison) -> Iterator[Statement]:
    runs = comparison.runs
    if runs is None:
        return
    each = [f"{system} ({counted(len(own_runs), 'run')})" for system, own_runs in runs.systems.items()]
    yield (
        f"F1 was averaged over the runs of {name_list(each)}; intervals of means"
        f"{' and of their differences' if len(runs.differences) else ''} are over {comparison.units.plural} and runs "
        "together",
        cite(SEVERAL_RUNS),
        ".",
    )
    tested = runs.differences[runs.differences["p"].notna()]
    if len(tested):
        yield (
            f"Differences in mean F1 from {runs.baseline} were tested, two-sided, by Student's t of these variances.",
        )
        together, level = int(tested["tests"].max()), f"{1 - comparison.plan.level:.2g}"
        if together > 1:
            yield (f"p values were corrected over the {together} systems by Holm's method", cite(HOLM), ".")
        yield (f"A difference is called significant where p is at most {level}.",)
    yield from ((f"{note[0].upper()}{note[1:]}.",) for note in runs.notes)


def _pairs(comparison: Comparison) -> Iterator[Statement]:
    if comparison.runs is None and comparison.pairs["p"].notna().any():
        tests = counted(int(comparison.pairs["tests"].max()), "pair")
        yield (f"Each two systems were tested alike, with Holm's correction over the {tests}", cite(HOLM), ".")


def _measures(comparison: Comparison) -> Iterator[Statement]:
    names = list(dict.fromkeys(comparison.measures["measure"]))
    if not names:
        return
    tested = comparison.measure_differences["p"].notna().any()
    with_tests = f", with tests of their own ({comparison.measure_family}) corrected in the same way" if tested else ""
    yield (f"Intervals of {name_list(names)} are from the same resamples{with_tests}.",)
    if any(name.startswith(MACRO) for name in names):
        yield ("A macro average is the mean over the types for which the ratio is defined.",)


def _scorers(comparison: Comparison) -> Iterator[Statement]:
    named = [name for name in comparison.measures["criterion"].unique() if name not in comparison.criteria]
    if not named:
        return
    keys = [works_named_in(find_convention(name.partition("/")[0]).source) for name in named]
    yield (
        f"The figures of {name_list(named)} are those of the published scorer, of which each document's part was "
        "resampled",
        Cited(tuple(dict.fromkeys(chain.from_iterable(keys)))),
        ".",
    )


def _power(comparison: Comparison) -> Iterator[Statement]:
    if comparison.runs is None and comparison.power["detectable"].notna().any():
        yield (
            f"The least difference that the corpus shows in {POWER:.0%} of cases is from the standard error of "
            "the delete-one jackknife",
            cite(LEAST_DIFFERENCE),
            ".",
        )
    if comparison.power["p_equivalent"].notna().any():
        margin = float(comparison.power["margin"].iloc[0])
        question = f"Whether systems are as good as {comparison.baseline}, within {margin:g} of F1,"
        yield (f"{question} was tested by two one-sided tests", cite(EQUIVALENCE), ".")


COMPARISON: tuple[Callable[[Comparison], Iterator[Statement]], ...] = (
    _scores,
    _intervals,
    _tests,
    _runs,
    _pairs,
    _measures,
    _scorers,
    _power,
)
"""What is said of a comparison, in this order."""
