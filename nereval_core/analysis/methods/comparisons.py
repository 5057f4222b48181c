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


def _scores(found: Comparison) -> Iterator[Statement]:
    return scored_statements(found.scores, found.criteria)


def _intervals(found: Comparison) -> Iterator[Statement]:
    if found.intervals["f1_low"].notna().any():
        what = "scores and differences" if len(found.differences) else "scores"
        what = what if found.runs is None else "scores of single runs"
        yield interval_statement(what, found.plan, found.units.drawn, found.units)


def _tests(found: Comparison) -> Iterator[Statement]:
    tested = found.differences[found.differences["p"].notna()]
    if tested.empty or found.runs is not None:
        return
    yield (
        f"Differences in F1 from {found.baseline} were tested, two-sided, by approximate randomization",
        cite(RANDOMIZATION),
        f" with {found.plan.resamples:,} random swaps of {found.units.many}.",
    )
    level, together = f"{1 - found.plan.level:.2g}", int(tested["tests"].max())
    after = "" if together == 1 else " after that of the systems"
    if together > 1:
        within = " under each criterion" if tested["criterion"].nunique() > 1 else ""
        within += " and for each type" if tested["type"].notna().any() else ""
        yield (f"p values were corrected over the {together} systems{within} by Holm's method", cite(HOLM), ".")
    if len(tested) > together:
        yield (
            f"They were also corrected over all tests ({found.family}) by Holm's method",
            cite(HOLM),
            " and by that of Benjamini and Hochberg",
            cite(FALSE_DISCOVERY),
            ".",
        )
    yield (f"A difference is called significant where p is at most {level}{after and ', corrected over the systems'}.",)


def _runs(found: Comparison) -> Iterator[Statement]:
    runs = found.runs
    if runs is None:
        return
    each = [f"{system} ({counted(len(some), 'run')})" for system, some in runs.systems.items()]
    yield (
        f"F1 was averaged over the runs of {name_list(each)}; intervals of means"
        f"{' and of their differences' if len(runs.differences) else ''} are over {found.units.many} and runs together",
        cite(SEVERAL_RUNS),
        ".",
    )
    tested = runs.differences[runs.differences["p"].notna()]
    if len(tested):
        yield (
            f"Differences in mean F1 from {runs.baseline} were tested, two-sided, by Student's t of these variances.",
        )
        together, level = int(tested["tests"].max()), f"{1 - found.plan.level:.2g}"
        if together > 1:
            yield (f"p values were corrected over the {together} systems by Holm's method", cite(HOLM), ".")
        yield (f"A difference is called significant where p is at most {level}.",)
    yield from ((f"{note[0].upper()}{note[1:]}.",) for note in runs.notes)


def _pairs(found: Comparison) -> Iterator[Statement]:
    if found.runs is None and found.pairs["p"].notna().any():
        tests = counted(int(found.pairs["tests"].max()), "pair")
        yield (f"Each two systems were tested alike, with Holm's correction over the {tests}", cite(HOLM), ".")


def _measures(found: Comparison) -> Iterator[Statement]:
    names = list(dict.fromkeys(found.measures["measure"]))
    if not names:
        return
    tested = found.measure_differences["p"].notna().any()
    with_tests = f", with tests of their own ({found.measure_family}) corrected in the same way" if tested else ""
    yield (f"Intervals of {name_list(names)} are from the same resamples{with_tests}.",)
    if any(name.startswith(MACRO) for name in names):
        yield ("A macro average is the mean over the types for which the ratio is defined.",)


def _scorers(found: Comparison) -> Iterator[Statement]:
    named = [name for name in found.measures["criterion"].unique() if name not in found.criteria]
    if not named:
        return
    keys = [works_named_in(find_convention(name.partition("/")[0]).source) for name in named]
    yield (
        f"The figures of {name_list(named)} are those of the published scorer, of which each document's part was "
        "resampled",
        Cited(tuple(dict.fromkeys(chain.from_iterable(keys)))),
        ".",
    )


def _power(found: Comparison) -> Iterator[Statement]:
    if found.runs is None and found.power["detectable"].notna().any():
        yield (
            f"The least difference that the corpus shows in {POWER:.0%} of cases is from the standard error of "
            "the delete-one jackknife",
            cite(LEAST_DIFFERENCE),
            ".",
        )
    if found.power["p_equivalent"].notna().any():
        margin = float(found.power["margin"].iloc[0])
        said = f"Whether systems are as good as {found.baseline}, within {margin:g} of F1, was tested by two one-sided "
        yield (f"{said}tests", cite(EQUIVALENCE), ".")


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
