"""Published scorers as pages show them: applying one, its figures as a table, its ratios as formulas. No Streamlit."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

import pandas as pd

from nereval_core.analysis.criteria.convention_differences import CriterionRow, convention_rows, twin_criterion
from nereval_core.conventions import Convention, Outcome, option_values
from nereval_core.conventions.records import OVERALL
from nereval_core.problems import FormatError, quoted
from nereval_core.scoring.criteria import CRITERIA
from pages.shared.data.loading import Loaded

Options = tuple[tuple[str, object], ...]
"""Options of a scorer by name, those that are not as by default: what a cache can be keyed by."""

NO_F1 = "by its rules there is nothing to find, or nothing was found"
"""Why a scorer that applies has no F1."""


def apply_convention(loaded: Loaded, system: str, convention: Convention, options: Options = ()) -> Outcome:
    """Score by a convention: from the files where they are of the scorer's own format, else from the layers.

    Raises:
        FormatError: it does not apply to these data.
    """
    values = option_values(convention, dict(options))
    if not takes_files(loaded, system, convention):
        marks = loaded.marks.get(system, ())
        return convention.of_layers(loaded.corpus.gold, loaded.corpus.system(system), values, marks)
    formats = {row.name: row.format for row in loaded.layers}
    files = loaded.options.scorer_input(loaded.sources["gold"], loaded.sources[system])
    return convention.score(replace(files, gold_format=formats["gold"], pred_format=formats[system]), values)


def takes_files(loaded: Loaded, system: str, convention: Convention) -> bool:
    """Tell whether a convention reads the files, as they are of the scorer's own format, or takes the layers.

    Raises:
        FormatError: it can do neither. What is in the data may keep it from scoring them all the same.
    """
    formats = {row.name: row.format for row in loaded.layers}
    parted = any(source.parts for name in ("gold", system) if (source := loaded.sources.get(name)) is not None)
    own = not (parted or loaded.options.selection) and {formats["gold"], formats[system]} <= set(convention.formats)
    if not own and convention.takes_layers:
        return False
    if not own and convention.formats:
        what = f"these data are {' and '.join(sorted({formats['gold'], formats[system]}))}"
        remedy = f"{convention.name} needs {convention.needs} ({' or '.join(convention.formats)})"
        raise FormatError.single(loaded.corpus.name, None, what, remedy)
    if system not in loaded.sources:
        what = f"its columns are those of a layer taken as gold, not of {quoted(system)}"
        raise FormatError.single(loaded.corpus.name, None, what, "take gold itself as gold")
    return True


def rows_of_scorer(loaded: Loaded, system: str, convention: Convention) -> tuple[CriterionRow, ...]:
    """Return the rows of a convention among all criteria, without what its records are made of.

    Raises:
        FormatError: it does not apply to these data.
    """
    outcome = apply_convention(loaded.original or loaded, system, convention)
    return convention_rows(convention, outcome if loaded.original is None else outcome.masked())


def ordered_evaluations(outcome: Outcome, convention: Convention) -> tuple[str, ...]:
    """Return the evaluations, those that mean the same as a criterion of ours first, in the order of the criteria."""
    place = {name: number for number, name in enumerate(CRITERIA)}
    return tuple(
        sorted(outcome.evaluations, key=lambda name: place.get(twin_criterion(convention, name) or "", len(place)))
    )


def figures_table(outcome: Outcome, evaluation: str) -> pd.DataFrame:
    """Return the figures of an evaluation as published: `scope` (all types first), then a column a figure."""
    rows = outcome.figures[(outcome.figures["evaluation"] == evaluation).to_numpy()]
    table: dict[str, dict[str, float]] = {}
    for scope, figure, value in zip(rows["scope"], rows["figure"], rows["value"], strict=True):
        table.setdefault(str(scope), {})[str(figure)] = value
    columns = list(dict.fromkeys(map(str, rows["figure"])))
    ordered = sorted(table.items(), key=lambda item: item[0] != OVERALL)
    figures = pd.DataFrame([{"scope": scope, **row} for scope, row in ordered], columns=["scope", *columns])
    return figures.astype(dict.fromkeys({figure for _, figure in counts_of(outcome, evaluation)}, "Int64"))


def values_of(row: pd.Series) -> dict[str, float]:
    """Return the figures of a row of `figures_table`, NaN for those that it lacks."""
    return {str(name): float("nan") if pd.isna(row[name]) else float(row[name]) for name in row.index.drop("scope")}


def counts_of(outcome: Outcome, evaluation: str) -> frozenset[tuple[str, str]]:
    """Return the (scope, figure) of those figures of an evaluation that are counts of records."""
    rows = outcome.figures[((outcome.figures["evaluation"] == evaluation) & outcome.figures["counted"]).to_numpy()]
    return frozenset(zip(map(str, rows["scope"]), map(str, rows["figure"]), strict=True))


def records_of_count(records: pd.DataFrame, scope: str, figure: str) -> pd.DataFrame:
    """Return the records that make a count: their contributions in the column of its name add up to it."""
    return records[((records["scope"] == scope) & (records[figure] != 0)).to_numpy()]


def formula(convention: Convention, evaluation: str, figure: str, row: Mapping[str, float]) -> str | None:
    """Return the formula of a ratio in names and in numbers; None where the convention has none.

    `row` has all figures of the scope, NaN for those that the scope lacks: a mean over types is not made of counts.
    """
    rule = _rule(convention, evaluation, figure, row)
    if rule is None:
        return None
    return f"{figure} = {rule} = {in_numbers(rule, row)} = {figure_words(row[figure])}"


def _rule(convention: Convention, evaluation: str, figure: str, row: Mapping[str, float]) -> str | None:
    """Return a ratio's formula, if all its parts are defined, and their parts too."""
    last = evaluation.rpartition("/")[2]
    rules = convention.formulas
    rule = rules.get(f"{last}/{figure}", rules.get(figure))
    if rule is None:
        return None
    parts = set(_names(rule, row).findall(rule)) - {figure}
    if any(row[part] != row[part] for part in parts):
        return None
    are_defined = all(
        _rule(convention, evaluation, part, row) for part in parts if {part, f"{last}/{part}"} & set(rules)
    )
    return rule if are_defined else None


def in_numbers(rule: str, row: Mapping[str, float], *, exact: bool = False) -> str:
    """Return a formula with each figure's value in place of its name, as shown or with all its digits."""
    say = repr if exact else figure_words
    return _names(rule, row).sub(lambda match: say(row[match[0]]), rule)


def _names(rule: str, row: Mapping[str, float]) -> re.Pattern[str]:
    names = sorted((name for name in row if name in rule), key=len, reverse=True)
    return re.compile("|".join(rf"(?<!\w){re.escape(name)}(?!\w)" for name in names))


def figure_words(value: float) -> str:
    """Return a figure as it is shown: whole numbers as such, others with four places, an en dash for none."""
    if value != value:
        return "–"
    return f"{value:,.0f}" if float(value).is_integer() and abs(value) >= 2 else f"{value:.4f}".removesuffix(".0000")
