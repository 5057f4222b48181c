"""The methods of a result as a paragraph for a paper: it says what was done with these data and options, and no more.

Each kind of result has a table of functions that yield statements, in the order of the paragraph: to say more of a
result, add a function to its table. What a result does not hold, such as a test of a single system, yields nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from nereval_core import __version__
from nereval_core.analysis.agreement import Agreement
from nereval_core.analysis.agreement.gamma import GAMMA
from nereval_core.analysis.agreement.summary import agreement_signature
from nereval_core.analysis.comparison import SYSTEMS, Comparison
from nereval_core.analysis.comparison.measures import MACRO
from nereval_core.analysis.comparison.significance import POWER
from nereval_core.analysis.methods.statements import (
    FORMS,
    TWO_ANNOTATORS,
    Cited,
    Methods,
    Statement,
    cite,
    criteria_statements,
    holm_statement,
    interval_statement,
    published_statements,
    scored_statements,
    significance_statement,
    type_statements,
)
from nereval_core.analysis.sentences import name_list, number_with_noun
from nereval_core.analysis.slices import SliceReport
from nereval_core.analysis.slices.calibration import EQUAL_WIDTH
from nereval_core.analysis.slices.scores_by_slice import BOOTSTRAP, FEW_UNITS_OF_SLICE, MOST_RESAMPLED_UNITS, WILSON
from nereval_core.analysis.slices.slicings import title_in_sentence
from nereval_core.conventions import Outcome, find_convention
from nereval_core.problems import capitalised, counted
from nereval_core.report.references import (
    AREA,
    BRIER,
    ECE,
    EQUAL_MASS,
    EQUIVALENCE,
    FALSE_DISCOVERY,
    HOLM,
    LEAST_DIFFERENCE,
    METHODS,
    RANDOMIZATION,
    REFLECTED,
    SEVERAL_RUNS,
    WILSON_INTERVAL,
    works_named_in,
)
from nereval_core.report.signature import signature, together
from nereval_core.scoring import Scores
from nereval_core.scoring.protocols import CountedScores

__all__ = ["FORMS", "Methods", "methods", "methods_by_slice"]

Scored = Mapping[str, CountedScores] | Mapping[str, Outcome]
"""Scores of systems by name, under criteria or by a published scorer."""
Reports = Sequence[SliceReport]


def methods(
    result: Scores | Outcome | Scored | Comparison | Agreement | SliceReport | Iterable[SliceReport],
    *,
    marks: Iterable[str] = (),
) -> Methods:
    """Describe for a paper how a result of `score`, `reproduce`, `compare`, `agreement` or `slices_of` was computed.

    Scores of several systems may be given together by name, slices of several systems as a list. `marks` are changes
    made to the data, which stand at the end of the signature of an agreement.

    Raises:
        TypeError: another kind of result, or no scores.
    """
    if isinstance(result, Comparison):
        return _of(result, COMPARISON, together(line for row in result.signatures.values() for line in row.values()))
    if isinstance(result, Agreement):
        return _of(result, AGREEMENT, [agreement_signature(result, tuple(marks))])
    if isinstance(result, Scores):
        return methods({result.read[1].name: result})
    if isinstance(result, Outcome):
        return methods({result.system or "predicted": result})
    if isinstance(result, SliceReport):
        return methods([result])
    if isinstance(result, Mapping) and result:
        return _of_systems(result)
    reports = list(result) if isinstance(result, Iterable) else []
    if not reports or not all(isinstance(report, SliceReport) for report in reports):
        raise TypeError("methods of what was scored, compared, agreed on or sliced: give such a result")
    return _of(reports, SLICES, together(report.signature for report in reports))


def methods_by_slice(comparison: Comparison, reports: Reports) -> Methods:
    """Describe a comparison of systems whose slices stand beside it: `reports` are those of the systems."""
    whole = methods(comparison)
    plan, units = reports[0].plan, reports[0].units
    tests: tuple[Statement, ...] = ()
    if len(reports) > 1:
        pairs = len(reports) * (len(reports) - 1) // 2
        tests = (
            (
                f"Systems were tested against one another in each slice whose gold spans are in at least "
                f"{FEW_UNITS_OF_SLICE} {units.plural}, by approximate randomization",
                cite(RANDOMIZATION),
                f" with {plan.resamples:,} random swaps.",
            ),
            *([holm_statement(f"the {pairs} pairs of systems in each slice")] if pairs > 1 else []),
        )
    signatures = (*whole.signatures, *together(report.signature for report in reports))
    return Methods((*whole.statements, *_slices(reports), *tests), signatures)


def _of_systems(scored: Mapping[str, Any]) -> Methods:
    outcomes = {name: scores for name, scores in scored.items() if isinstance(scores, Outcome)}
    if outcomes:
        return Methods(tuple(published_statements(outcomes)), tuple(scores.signature for scores in outcomes.values()))
    names = [criterion.name for criterion in next(iter(scored.values())).criteria]
    signatures = together(signature(scores, name) for scores in scored.values() for name in names)
    return Methods(tuple(scored_statements(scored, names)), signatures)


def _of(result: Any, tellers: Iterable[Callable[[Any], Iterator[Statement]]], signatures: Iterable[str]) -> Methods:
    statements = tuple(statement for tell in tellers for statement in tell(result))
    return Methods(statements, tuple(dict.fromkeys(signatures)))


def _annotations(agreement: Agreement) -> Iterator[Statement]:
    names, parts = agreement.annotators, list(agreement.parts.values())
    if parts:
        sizes = [len(part.layers[0].documents) for part in parts]
        n_documents = f"{min(sizes):,}" if min(sizes) == max(sizes) else f"{min(sizes):,} to {max(sizes):,}"
        where = f"each pair on the documents that both annotated ({n_documents})"
        who = name_list(names)
    else:
        documents = agreement.layers[0].documents
        where = f"on {number_with_noun(documents.unit, len(documents))}"
        who = name_list([f"{name} ({len(layer):,} spans)" for name, layer in zip(names, agreement.layers, strict=True)])
    yield (f"The annotations of {who} were compared with nereval {__version__}, {where}.",)
    yield from type_statements(agreement.settings)


def _f1(agreement: Agreement) -> Iterator[Statement]:
    yield from criteria_statements(agreement.settings.criteria, agreement.settings, TWO_ANNOTATORS)
    several = ", and its mean over the pairs of annotators" if len(agreement.annotators) > 2 else ""
    yield ("Agreement on spans is F1 with one of two annotators taken as gold", cite("f1"), f"{several}.")


def _coefficients(agreement: Agreement) -> Iterator[Statement]:
    figures = set(agreement.table.loc[agreement.table["value"].notna(), "figure"])
    several = len(agreement.annotators) > 2
    parts: list[str | Cited] = []
    if "kappa" in figures:
        cohen, fleiss = METHODS["kappa"].sources
        parts += ["Cohen's kappa for two annotators", Cited((cohen,))]
        # Where each pair has documents of its own, there is no kappa of all.
        if several and not agreement.parts:
            parts += [", Fleiss' kappa for all", Cited((fleiss,))]
    if "alpha" in figures:
        missing = ", with missing values" if agreement.parts and several else ""
        parts += [" and " if parts else "", f"Krippendorff's alpha for nominal data{missing}", cite("alpha")]
    if parts:
        yield ("On tokens, whose category is the set of their types, agreement is ", *parts, ".")
    if "unitizing" in figures:
        yield (
            "On characters it is Krippendorff's unitizing alpha in its form of 2004",
            cite("unitizing"),
            ".",
        )
    if GAMMA in figures:
        yield (
            "On units, by the best alignment of their places and types, it is gamma with alpha, beta and the empty "
            "dissimilarity 1",
            cite("gamma"),
            ".",
        )


def _agreement_intervals(agreement: Agreement) -> Iterator[Statement]:
    if agreement.table["low"].notna().any():
        united = (
            f" (for alpha of all annotators, of {agreement.resampled.description})"
            if len(agreement.annotators) > 2
            else ""
        )
        resampled_units = (
            f"the {agreement.resampled.plural} of each pair{united}"
            if agreement.parts
            else agreement.resampled.description
        )
        yield interval_statement("the figures", agreement.plan, resampled_units, agreement.resampled)


def _ceiling(agreement: Agreement) -> Iterator[Statement]:
    if agreement.ceiling is None:
        return
    table = agreement.ceiling.table
    systems = list(dict.fromkeys(table["system"]))
    who = f"The system {systems[0]} was" if len(systems) == 1 else f"The systems {name_list(systems)} were"
    yield (f"{who} held against the annotators: the mean F1 with each of them less the mean F1 of each two of them.",)
    if table["p"].notna().any():
        tests = int(table["tests"].max())
        yield (
            "Whether a system agrees less was tested, one-sided, by approximate randomization",
            cite(RANDOMIZATION),
            f", in which it changes places with annotators ({agreement.plan.resamples:,} draws)",
            *(("; ", *holm_statement(f"the {tests} systems")) if tests > 1 else (".",)),
        )


AGREEMENT: tuple[Callable[[Agreement], Iterator[Statement]], ...] = (
    _annotations,
    _f1,
    _coefficients,
    _agreement_intervals,
    _ceiling,
)
"""What is said of an agreement, in this order."""


def _compared_scores(comparison: Comparison) -> Iterator[Statement]:
    return scored_statements(comparison.scores, comparison.criteria)


def _comparison_intervals(comparison: Comparison) -> Iterator[Statement]:
    if comparison.intervals["f1_low"].notna().any():
        what = "scores and differences" if len(comparison.differences) else "scores"
        what = what if comparison.runs is None else "scores of single runs"
        yield interval_statement(what, comparison.plan, comparison.units.description, comparison.units)


def _difference_tests(comparison: Comparison) -> Iterator[Statement]:
    tested = comparison.differences[comparison.differences["p"].notna()]
    if tested.empty or comparison.runs is not None:
        return
    yield (
        f"Differences in F1 from {comparison.baseline} were tested, two-sided, by approximate randomization",
        cite(RANDOMIZATION),
        f" with {comparison.plan.resamples:,} random swaps of {comparison.units.plural}.",
    )
    together = int(tested["tests"].max())
    if together > 1:
        within = " under each criterion" if tested["criterion"].nunique() > 1 else ""
        within += " and for each type" if tested["type"].notna().any() else ""
        yield holm_statement(f"the {together} {comparison.corrected_over}{within}")
    if tested.duplicated(["system", "baseline"]).any():
        yield (
            f"They were also corrected over all tests ({comparison.family}) by Holm's method",
            cite(HOLM),
            " and by that of Benjamini and Hochberg",
            cite(FALSE_DISCOVERY),
            ".",
        )
    yield significance_statement(
        comparison.plan.level, f", corrected over the {comparison.corrected_over}" if together > 1 else ""
    )


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
        if (together := int(tested["tests"].max())) > 1:
            yield holm_statement(f"the {together} systems")
        yield significance_statement(comparison.plan.level)
    yield from ((f"{capitalised(note, each)}.",) for note in runs.notes)


def _pairs(comparison: Comparison) -> Iterator[Statement]:
    if comparison.runs is None and comparison.corrected_over == SYSTEMS and comparison.pairs["p"].notna().any():
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
    _compared_scores,
    _comparison_intervals,
    _difference_tests,
    _runs,
    _pairs,
    _measures,
    _scorers,
    _power,
)
"""What is said of a comparison, in this order."""


def _sliced_scores(reports: Reports) -> Iterator[Statement]:
    scored = {report.scores.read[1].name: report.scores for report in reports}
    return scored_statements(scored, list(dict.fromkeys(report.criterion for report in reports)))


def _slices(reports: Reports) -> Iterator[Statement]:
    titles = [title_in_sentence(name) for name in dict.fromkeys(name for report in reports for name in report.tables)]
    if not titles:
        return
    yield (
        f"Scores were broken down by {name_list(titles)}: recall of a slice is over its gold spans, precision over "
        "its predictions.",
    )
    kinds = {str(kind) for report in reports for table in report.tables.values() for kind in table["interval"]}
    plan, units = reports[0].plan, reports[0].units
    if BOOTSTRAP in kinds:
        grouped = units.count > MOST_RESAMPLED_UNITS and units.strata is None
        resampled_units = (
            f"{MOST_RESAMPLED_UNITS:,} random groups of {units.description}" if grouped else units.description
        )
        yield interval_statement("slices", plan, resampled_units, units)
    if WILSON in kinds:
        which = f"in fewer than {FEW_UNITS_OF_SLICE} {units.plural}, or all correct, or all wrong"
        yield (f"Slices {which}, have Wilson's intervals", cite(WILSON_INTERVAL), ".")


def _calibration(reports: Reports) -> Iterator[Statement]:
    calibrations = [report.calibration for report in reports if report.calibration is not None]
    if not calibrations:
        return
    if any(not calibration.refusal for calibration in calibrations):
        has_one_binning = all(len(calibration.bins) == 1 for calibration in calibrations)
        bins = EQUAL_WIDTH if has_one_binning else "equal width and of equal mass"
        yield (
            "The calibration of the scores of predictions is their expected and maximum calibration error in up to ten "
            f"bins of {bins}",
            cite(ECE, *([] if bins == EQUAL_WIDTH else [EQUAL_MASS])),
            " and the Brier score",
            cite(BRIER),
            ".",
        )
        if any(calibration.errors["low"].notna().any() for calibration in calibrations):
            yield (
                "Intervals of calibration errors are bootstrap intervals reflected at the value",
                cite(REFLECTED),
                ".",
            )
    yield ("Scores were also judged by the area under the curve of risk against coverage", cite(AREA), ".")
    if any(len(calibration.held_out) for calibration in calibrations):
        units = calibrations[0].units.plural
        yield (f"A threshold was chosen by F1 on a random half of the {units} and tried on the other half.",)


def _worst(reports: Reports) -> Iterator[Statement]:
    tests = [int(report.worst["tests"].max()) for report in reports if report.worst is not None and len(report.worst)]
    if tests:
        yield (
            "Recall of each combination of two slices was compared with that of all other gold spans by a one-sided "
            f"score test over {reports[0].units.plural}; ",
            *holm_statement(f"{max(tests):,} combinations"),
        )


def _slice_tests(reports: Reports) -> Iterator[Statement]:
    families = [report.apart.family for report in reports if report.apart is not None and len(report.apart.table)]
    if families:
        yield (
            "Each slice was tested against all others of its slicing by Student's t at the standard error of the "
            "delete-one jackknife",
            cite(LEAST_DIFFERENCE),
            f" (family: {families[0]}), with p values corrected by Holm's method",
            cite(HOLM),
            " and by that of Benjamini and Hochberg",
            cite(FALSE_DISCOVERY),
            ".",
        )


SLICES: tuple[Callable[[Reports], Iterator[Statement]], ...] = (
    _sliced_scores,
    _slices,
    _slice_tests,
    _calibration,
    _worst,
)
"""What is said of slices, in this order."""
