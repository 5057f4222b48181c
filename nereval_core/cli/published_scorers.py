"""Published scorers, for `score --convention NAME`: their options, inputs and tables."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from nereval_core.analysis.criteria.convention_differences import differences, twin_criterion
from nereval_core.analysis.criteria.tables import difference_table
from nereval_core.api.load import Input, source_of
from nereval_core.api.load_options import LoadOptions
from nereval_core.cli.options import STDOUT, UsageError
from nereval_core.cli.output import Result, methods_file, say
from nereval_core.conventions import (
    Convention,
    Outcome,
    ScorerInput,
    apply,
    conventions,
    find_convention,
    option_values,
)
from nereval_core.problems import FormatError, Steps, quoted
from nereval_core.report.convention_tables import (
    Published,
    published_long,
    published_records,
    published_results,
    published_tables,
)
from nereval_core.report.export import RECORD_FORMS, frame_as, record_form
from nereval_core.scoring import Settings, score_layers
from nereval_core.scoring.count_tables import TEXT_DTYPE
from nereval_core.scoring.criteria import choose_criteria
from nereval_core.tables import Table
from nereval_core.tables.terminal import as_screen

if TYPE_CHECKING:
    import pandas as pd

OPTION_PREFIX = "convention_"
"""Prefix of the names of a scorer's options among the parsed options."""
CHANGING_RULES = ("criteria", "criterion", "merge", "leave_out")
"""Options of `score` that would change the rules of a scorer."""


def add_scorer_options(parser: argparse.ArgumentParser, name: str) -> None:
    """Add the options of a convention to the parser of `score`.

    An option that means something else under its name in `score` hides that one.

    Raises:
        FormatError: there is no such convention.
    """
    convention = find_convention(name)
    group = parser.add_argument_group(f"options of {name}", conflict_handler="resolve")
    for option in convention.options:
        if option.shared:
            continue
        # A dash and an underscore are equivalent.
        spelt = dict.fromkeys((f"--{option.name.replace('_', '-')}", f"--{option.name.replace('-', '_')}"))
        dest = _parsed_name(option.name)
        # An option that is hidden keeps its default.
        general = _shared_name(option.name)
        parser.set_defaults(**{general: parser.get_default(general)})
        if option.kind == "flag":
            group.add_argument(*spelt, dest=dest, action="store_true", default=None, help=option.help)
        else:
            group.add_argument(*spelt, dest=dest, metavar="VALUE", help=option.help)


def check_usage(options: argparse.Namespace) -> None:
    """Refuse options of `score` that would change the rules of a convention, and output forms that it lacks.

    Raises:
        UsageError: one of them.
    """
    for key in CHANGING_RULES:
        if getattr(options, key):
            raise UsageError(f"--{key.replace('_', '-')} would change the rules of {options.convention}: leave it out")
    if options.counting not in (None, "one-to-one"):
        raise UsageError(f"--counting would change the rules of {options.convention}: leave it out")
    if options.repair and not options.differences:
        raise UsageError(
            f"--repair: {options.convention} has its own handling of malformed tags; leave out --repair alone, other "
            "options that a refusal named can stay"
        )
    if options.as_reference is not None:
        forms = find_convention(options.convention).forms
        if not forms:
            raise UsageError(f"--as-reference: the output of {options.convention} is not reproduced, use --json")
        if options.as_reference and options.as_reference not in forms:
            raise UsageError(f"--as-reference {quoted(options.as_reference)}, choose among {', '.join(forms)}")


def scorer_sides(gold: Input, systems: Mapping[str, Input], load: LoadOptions) -> dict[str, ScorerInput]:
    """Return gold and each system as given, with the selection to be scored.

    Raises:
        FormatError: with all problems of all files.
    """
    steps = Steps()
    inputs: dict[str, ScorerInput] = {}
    gold_source = source_of(gold)
    for name, path in systems.items():
        with steps.collected():
            inputs[name] = load.scorer_input(gold_source, source_of(path))
    steps.refuse()
    return inputs


def convention_and_options(options: argparse.Namespace) -> tuple[Convention, Mapping[str, Any]]:
    """Return the convention that was asked for and the value of each of its options.

    Raises:
        FormatError: there is no such convention, or an option has an invalid value.
    """
    convention = find_convention(options.convention)
    return convention, option_values(convention, _values(convention, options))


def score(options: argparse.Namespace, sides: Mapping[str, ScorerInput]) -> Published:
    """Score all systems by a convention.

    Raises:
        FormatError: with all problems of all of them.
    """
    convention, values = convention_and_options(options)
    steps = Steps()
    outcomes: list[tuple[str, Outcome]] = []
    for name, side in sides.items():
        with steps.collected():
            outcome = apply(convention, side, values)
            outcomes.append((name, replace(outcome, notes=(*outcome.notes, *_ignored_scheme(convention, options)))))
    steps.refuse()
    return outcomes


def _ignored_scheme(convention: Convention, options: argparse.Namespace) -> Iterator[str]:
    """Yield a note on a tag scheme that is given to a convention that takes none."""
    strict = f"{convention.name}-strict"
    other = f": it runs in its default mode; {strict} takes a scheme" if strict in conventions() else ""
    for name in ("scheme", "gold_scheme", "pred_scheme"):
        value = getattr(options, name)
        if value is not None and not any(option.name == name for option in convention.options):
            yield f"--{name.replace('_', '-')} {value} does not change what {convention.name} counts{other}"


def published_result(
    options: argparse.Namespace, outcomes: Published, by: Sequence[str], sides: Mapping[str, ScorerInput] | None = None
) -> Result:
    """Return the scores in every form; `--differences` needs the sides, and `--as-reference` prints as the scorer does.

    Raises:
        FormatError: no criterion of ours to compare with.
    """
    # Computed first, so that outcomes that cannot be compared are refused before any note is printed.
    differing = None if sides is None or not options.differences else span_differences(outcomes, sides)

    def differences_file(place: str) -> bytes:
        assert differing is not None
        if place == STDOUT:
            return as_screen(difference_counts(differing, outcomes)).encode()
        return frame_as(record_form(place) or RECORD_FORMS[0], differing)

    for name, outcome in outcomes:
        for sentence in () if options.quiet else outcome.notes:
            say(f"{name}: {sentence}")
        for sentence in outcome.notices:
            say(f"{name}: {sentence}", warning=True)
    by_type = "type" in by
    return Result(
        tables=lambda: published_tables(outcomes, by_type=by_type),
        long=lambda: published_long(outcomes),
        json=lambda: published_results(outcomes),
        frames={"records": lambda: published_records(outcomes)},
        files={"differences": differences_file, **methods_file(dict(outcomes))},
        screen=None if options.as_reference is None else lambda: _as_reference(outcomes, options.as_reference),
    )


def _as_reference(outcomes: Published, form: str) -> str:
    """Return the output of the scorer itself in one of its forms ("" for its first)."""
    forms = find_convention(outcomes[0][1].convention).forms
    show = forms[form or next(iter(forms))]
    return "".join(show(outcome) for _, outcome in outcomes)


def span_differences(outcomes: Published, sides: Mapping[str, ScorerInput]) -> pd.DataFrame:
    """Return the spans that the convention and our equivalent criterion decide differently.

    There is one row per span, with `system`, `evaluation`, `criterion` and the columns of DIFFERENCE_COLUMNS.

    Raises:
        FormatError: input that cannot be read as spans, or no evaluation with an equivalent criterion.
    """
    import pandas as pd

    frames = []
    for name, outcome in outcomes:
        twins = _twins(outcome)
        if not twins:
            finding = f"no evaluation of {outcome.convention} has an equivalent criterion of ours"
            raise FormatError.single("--differences", None, finding, "compare the figures")
        settings = Settings(choose_criteria(twins.values()))
        read = sides[name].read()
        scores = score_layers(read.gold, read.pred, settings, marks=read.marks)
        for evaluation, criterion in twins.items():
            frame = differences(outcome, evaluation, scores, criterion)
            for place, value in enumerate((name, evaluation, criterion)):
                frame.insert(place, ("system", "evaluation", "criterion")[place], value)
            frames.append(frame)
    whole = pd.concat(
        [
            frame.astype({column: TEXT_DTYPE for column in frame if frame[column].dtype == "category"})
            for frame in frames
        ]
    )
    return whole.reset_index(drop=True)


def difference_counts(differing: pd.DataFrame, outcomes: Published) -> tuple[Table, ...]:
    """Return the number of spans that each quirk decides differently, by system and evaluation."""
    tables = []
    for name, outcome in outcomes:
        for evaluation, criterion in _twins(outcome).items():
            rows = differing[(differing["system"] == name) & (differing["evaluation"] == evaluation)]
            title = f"{name}: {outcome.convention} {evaluation} against ours, {criterion}"
            notes = (*(() if len(rows) else ("no span is decided differently",)), outcome.signature)
            tables.append(difference_table(title, rows, outcome.convention, criterion, notes, name="differences"))
    return tuple(tables)


def _twins(outcome: Outcome) -> dict[str, str]:
    """Return our equivalent criterion by evaluation, for the evaluations that have one."""
    twins = {
        evaluation: twin_criterion(find_convention(outcome.convention), evaluation)
        for evaluation in outcome.evaluations
    }
    return {evaluation: criterion for evaluation, criterion in twins.items() if criterion}


def _values(convention: Convention, options: argparse.Namespace) -> dict[str, Any]:
    """Return the options of the convention that were given."""
    values = {}
    for option in convention.options:
        value = getattr(options, _shared_name(option.name) if option.shared else _parsed_name(option.name), None)
        if value is not None:
            values[option.name] = value
    return values


def _shared_name(name: str) -> str:
    return name.replace("-", "_")


def _parsed_name(name: str) -> str:
    return OPTION_PREFIX + _shared_name(name)
