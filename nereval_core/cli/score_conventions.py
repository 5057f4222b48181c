"""What the command line does with published scorers: `conventions`, and `score --convention NAME`."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from nereval_core.analysis.criteria.convention_differences import differences, grouped, twin
from nereval_core.api.load import Input, choose_criteria, opened
from nereval_core.cli.options import pairing_of
from nereval_core.conventions import Convention, Given, Outcome, apply, named, settled
from nereval_core.conventions import conventions as registry
from nereval_core.pairing.selection import Selection
from nereval_core.problems import FormatError, Problem, quoted
from nereval_core.readers.shared.label_list import label_list
from nereval_core.readers.shared.offset_units import offsets_of
from nereval_core.readers.shared.table_columns import chosen_columns
from nereval_core.report.convention_tables import (
    Published,
    published_long,
    published_records,
    published_results,
    published_sheets,
)
from nereval_core.report.export import frame_as, record_form
from nereval_core.report.score_tables import Sheet
from nereval_core.report.table_formats import as_screen, in_form
from nereval_core.scoring import Settings, score_layers

if TYPE_CHECKING:
    import pandas as pd

STDOUT = "-"
PREFIX = "convention_"
"""What the reference's options are kept under among the parsed ones."""
WITHOUT_PART = ("criteria", "criterion", "merge", "leave_out")
"""Options of `score` that would change the rules of a scorer."""


def conventions(_: argparse.Namespace) -> None:
    """List the conventions by family, each with its rule, its needs, its options and its source."""
    families: dict[str, list[Convention]] = {}
    for convention in registry().values():
        families.setdefault(convention.family, []).append(convention)
    for family, members in families.items():
        print(family)
        for convention in members:
            print(f"  {convention.name:<17}  {convention.sentence}")
            print(f"{'':21}needs {convention.needs} [{convention.source}]")
            for option in convention.options:
                given = f" (default: {_plain(option.default)})" if option.default is not None else ""
                print(f"{'':21}--{option.name}: {option.help}{given}")
            if convention.forms:
                print(f"{'':21}--as-reference {'|'.join(convention.forms)}")


def add_options(parser: argparse.ArgumentParser, name: str) -> None:
    """Add the options of a convention to the parser of `score`; one that `score` has already is shared.

    Raises:
        FormatError: there is no such convention.
    """
    convention = named(name)
    group = parser.add_argument_group(f"options of {name}")
    for option in convention.options:
        # A dash and an underscore are alike.
        spelt = dict.fromkeys((f"--{option.name.replace('_', '-')}", f"--{option.name.replace('-', '_')}"))
        with suppress(argparse.ArgumentError):
            if option.kind == "flag":
                group.add_argument(*spelt, dest=_kept(option.name), action="store_true", default=None, help=option.help)
            else:
                group.add_argument(*spelt, dest=_kept(option.name), metavar="VALUE", help=option.help)


def misused(options: argparse.Namespace) -> str | None:
    """Return what is wrong with options of `score` under a convention."""
    for key in WITHOUT_PART:
        if getattr(options, key):
            return f"--{key.replace('_', '-')} would change the rules of {options.convention}: leave it out"
    if options.counting != "one-to-one":
        return f"--counting would change the rules of {options.convention}: leave it out"
    if options.repair and not options.differences:
        return f"--repair: {options.convention} has its own way with malformed tags, leave it out"
    if options.as_reference is not None:
        forms = named(options.convention).forms
        if not forms:
            return f"--as-reference: what {options.convention} prints is not reproduced, use --json or --csv"
        if options.as_reference and options.as_reference not in forms:
            return f"--as-reference {quoted(options.as_reference)}, choose among {', '.join(forms)}"
    return None


def given_sides(
    options: argparse.Namespace, gold: Input, systems: Mapping[str, Input], selection: Selection
) -> dict[str, Given]:
    """Return gold and each system as given, and what of them is scored.

    Raises:
        FormatError: with all problems of all files.
    """
    problems: list[Problem] = []
    found: dict[str, Given] = {}
    read = opened(gold)
    offsets = None if options.offsets is None else offsets_of(options.offsets)
    columns = None if options.span_columns is None else chosen_columns(options.span_columns)
    labels = None if options.labels is None else label_list(options.labels)
    for name, path in systems.items():
        try:
            found[name] = Given(
                gold=read,
                pred=opened(path),
                gold_format=options.gold_format or options.format,
                pred_format=options.pred_format or options.format,
                gold_column=options.column if options.gold_column is None else options.gold_column,
                pred_column=options.column if options.pred_column is None else options.pred_column,
                pairing=pairing_of(options),
                repair=options.repair,
                offsets=offsets,
                columns=columns,
                labels=labels,
                selection=selection,
            )
        except FormatError as error:
            problems += error.problems
    if problems:
        raise FormatError(dict.fromkeys(problems))
    return found


def chosen(options: argparse.Namespace) -> tuple[Convention, Mapping[str, Any]]:
    """Return the convention that was asked for and the value of each of its options.

    Raises:
        FormatError: there is no such convention, or an option has a value it cannot have.
    """
    convention = named(options.convention)
    return convention, settled(convention, _values(convention, options))


def score(options: argparse.Namespace, sides: Mapping[str, Given]) -> Published:
    """Score all systems by a convention.

    Raises:
        FormatError: with all problems of all of them.
    """
    convention, values = chosen(options)
    problems: list[Problem] = []
    found: list[tuple[str, Outcome]] = []
    for name, given in sides.items():
        try:
            outcome = apply(convention, given, values)
            found.append((name, replace(outcome, notes=(*outcome.notes, *_passed_over(convention, options)))))
        except FormatError as error:
            problems += error.problems
    if problems:
        raise FormatError(dict.fromkeys(problems))
    return found


def _passed_over(convention: Convention, options: argparse.Namespace) -> Iterator[str]:
    """Yield a note on a tag scheme that is given to a convention that takes none."""
    if options.scheme is None or any(option.name == "scheme" for option in convention.options):
        return
    strict = f"{convention.name}-strict"
    other = f": it runs in its default mode; {strict} takes a scheme" if strict in registry() else ""
    yield f"--scheme {options.scheme} does not change what {convention.name} counts{other}"


def rendered(
    form: str, outcomes: Published, *, name: str, by: Iterable[str], differing: pd.DataFrame | None = None
) -> bytes:
    """Return what a file of that form holds: one of TABLES, records or differences."""
    if form == "differences":
        assert differing is not None
        if name == STDOUT:
            return as_screen(comparison(differing, outcomes)).encode()
        return frame_as(record_form(name) or ".parquet", differing)
    if form == "records":
        return frame_as(record_form(name) or ".parquet", published_records(outcomes))
    if form == "json":
        found = published_results(outcomes)
        return json.dumps(found, ensure_ascii=False, indent=2, allow_nan=False).encode() + b"\n"
    return in_form(form, published_sheets(outcomes, by_type="type" in by), lambda: published_long(outcomes))


def screen(outcomes: Published, *, form: str | None, by: Iterable[str]) -> str:
    """Return the tables for a terminal, or what the scorer itself prints in one of its forms ("" for its first)."""
    if form is None:
        return as_screen(published_sheets(outcomes, by_type="type" in by))
    forms = named(outcomes[0][1].convention).forms
    show = forms[form or next(iter(forms))]
    return "".join(show(outcome) for _, outcome in outcomes)


def compared(outcomes: Published, sides: Mapping[str, Given]) -> pd.DataFrame:
    """Return the spans that the convention and the criterion of ours that means the same decide differently.

    A row a span, with `system`, `evaluation`, `criterion` and the columns of DIFFERENCE_COLUMNS.

    Raises:
        FormatError: input that we cannot read as spans, or no evaluation that one of our criteria means.
    """
    import pandas as pd

    frames = []
    for name, outcome in outcomes:
        known = _twins(outcome)
        if not known:
            found = f"{outcome.convention} has no evaluation that a criterion of ours means"
            raise FormatError.single("--differences", None, found, "compare the figures")
        settings = Settings(choose_criteria(known.values()))
        read = sides[name].read()
        scores = score_layers(read.gold, read.pred, settings, marks=read.marks)
        for evaluation, criterion in known.items():
            frame = differences(outcome, evaluation, scores, criterion)
            for place, value in enumerate((name, evaluation, criterion)):
                frame.insert(place, ("system", "evaluation", "criterion")[place], value)
            frames.append(frame)
    whole = pd.concat(
        [frame.astype({column: "str" for column in frame if frame[column].dtype == "category"}) for frame in frames]
    )
    return whole.reset_index(drop=True)


def comparison(found: pd.DataFrame, outcomes: Published) -> tuple[Sheet, ...]:
    """Return, by system and evaluation, how many spans are decided differently by each quirk."""
    sheets = []
    for name, outcome in outcomes:
        for evaluation, criterion in _twins(outcome).items():
            rows = grouped(found[(found["system"] == name) & (found["evaluation"] == evaluation)])
            cells = tuple(
                (quirk, theirs, ours, "yes" if moves else "no", int(count))
                for quirk, theirs, ours, moves, count in rows.itertuples(index=False)
            )
            title = f"{name}: {outcome.convention} {evaluation} against ours, {criterion}"
            columns = ("quirk", "theirs", "ours", "moves the score", "spans")
            notes = () if cells else ("no span is decided differently",)
            sheets.append(Sheet(title, columns, cells, (*notes, outcome.signature)))
    return tuple(sheets)


def _twins(outcome: Outcome) -> dict[str, str]:
    """Return the criterion of ours that means the same, by evaluation, for those that have one."""
    twins = {evaluation: twin(named(outcome.convention), evaluation) for evaluation in outcome.evaluations}
    return {evaluation: criterion for evaluation, criterion in twins.items() if criterion}


def _values(convention: Convention, options: argparse.Namespace) -> dict[str, Any]:
    """Return the options of the convention that were given."""
    found = {}
    for option in convention.options:
        shared = option.name.replace("-", "_")
        value = getattr(options, _kept(option.name), getattr(options, shared, None))
        if value is not None:
            found[option.name] = value
    return found


def _kept(name: str) -> str:
    return PREFIX + name.replace("-", "_")


def _plain(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, (list, tuple)) else "no" if value is False else str(value)
