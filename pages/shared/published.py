"""Published scorers as pages show them: applying one, its figures as a table, its ratios as formulas. No Streamlit."""

from __future__ import annotations

import re
from collections.abc import Mapping

import pandas as pd

from nereval_core.analysis.differences import twin
from nereval_core.conventions import Convention, Given, Outcome, settled
from nereval_core.conventions.outcome import OVERALL
from nereval_core.errors import FormatError
from pages.shared.loading import Loaded

Options = tuple[tuple[str, object], ...]
"""Options of a scorer by name, those that are not as by default: what a cache can be keyed by."""


def applied(loaded: Loaded, system: str, convention: Convention, options: Options = ()) -> Outcome:
    """Score by a convention: from the files where they are of the scorer's own format, else from the layers.

    Raises:
        FormatError: it does not apply to these data.
    """
    values = settled(convention, dict(options))
    formats = {row.name: row.format for row in loaded.layers}
    own = {formats["gold"], formats[system]} <= set(convention.formats)
    if not own and convention.of_layers is not None:
        return convention.of_layers(loaded.corpus.gold, loaded.corpus.system(system), values)
    if not own and convention.formats:
        what = f"these data are {' and '.join(sorted({formats['gold'], formats[system]}))}"
        remedy = f"{convention.name} needs {convention.needs} ({' or '.join(convention.formats)})"
        raise FormatError.single(loaded.corpus.name, None, what, remedy)
    read = loaded.options
    given = Given(
        gold=loaded.sources["gold"],
        pred=loaded.sources[system],
        gold_format=formats["gold"],
        pred_format=formats[system],
        gold_column=read.gold_column,
        pred_column=read.pred_column,
        missing=read.missing,
        token_text=read.token_text,
        repair=read.repair,
    )
    return convention.score(given, values)


def evaluations(outcome: Outcome, convention: Convention) -> tuple[str, ...]:
    """Return the evaluations, those that mean the same as a criterion of ours first."""
    return tuple(sorted(outcome.evaluations, key=lambda name: twin(convention, name) is None))


def figures_table(outcome: Outcome, evaluation: str) -> pd.DataFrame:
    """Return the figures of an evaluation as published: `scope` (all types first), then a column a figure."""
    rows = outcome.figures[(outcome.figures["evaluation"] == evaluation).to_numpy()]
    table: dict[str, dict[str, float]] = {}
    for scope, figure, value in zip(rows["scope"], rows["figure"], rows["value"], strict=True):
        table.setdefault(str(scope), {})[str(figure)] = value
    columns = list(dict.fromkeys(map(str, rows["figure"])))
    ordered = sorted(table.items(), key=lambda item: item[0] != OVERALL)
    made = pd.DataFrame([{"scope": scope, **row} for scope, row in ordered], columns=["scope", *columns])
    return made.astype(dict.fromkeys(counts_of(outcome, evaluation), "Int64"))


def counts_of(outcome: Outcome, evaluation: str) -> tuple[str, ...]:
    """Return which figures of an evaluation are counts that records make up."""
    rows = outcome.figures[(outcome.figures["evaluation"] == evaluation).to_numpy()]
    return tuple(dict.fromkeys(map(str, rows["figure"][rows["counted"].to_numpy()])))


def made_of(found: pd.DataFrame, scope: str, figure: str) -> pd.DataFrame:
    """Return the records that make a count: their contributions in the column of its name add up to it."""
    return found[((found["scope"] == scope) & (found[figure] != 0)).to_numpy()]


def formula(convention: Convention, evaluation: str, figure: str, row: Mapping[str, float]) -> str | None:
    """Return how a ratio is made, in names and in numbers; None where the convention does not say."""
    last = evaluation.rpartition("/")[2]
    made = convention.formulas.get(f"{last}/{figure}", convention.formulas.get(figure))
    if made is None:
        return None
    return f"{figure} = {made} = {in_numbers(made, row)} = {shown(row[figure])}"


def in_numbers(made: str, row: Mapping[str, float], *, exact: bool = False) -> str:
    """Return a formula with each figure's value in place of its name, as shown or with all its digits."""
    say = repr if exact else shown
    names = sorted((name for name in row if name in made), key=len, reverse=True)
    if not names:
        return made
    either = "|".join(rf"(?<!\w){re.escape(name)}(?!\w)" for name in names)
    return re.sub(either, lambda found: say(row[found[0]]), made)


def shown(value: float) -> str:
    """Return a figure as it is shown: whole numbers as such, others with four places, an en dash for none."""
    if value != value:
        return "–"
    return f"{value:,.0f}" if float(value).is_integer() and abs(value) >= 2 else f"{value:.4f}".removesuffix(".0000")
