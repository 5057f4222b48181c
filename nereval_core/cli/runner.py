"""Steps that verbs share: read the layers, score them, and write and print the result in every form."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Any

from nereval_core.api.load import Loaded, load_corpus
from nereval_core.cli.files import Paths, check_places, gold_path, system_paths
from nereval_core.cli.options import STDOUT, UsageError, load_options
from nereval_core.cli.output import (
    progress_bar,
    say_greedy,
    say_lost,
    say_other_types,
    say_read,
    say_unused,
    write_outputs,
)
from nereval_core.cli.settings import applicable_criteria, scoring_settings
from nereval_core.corpus import Layer
from nereval_core.problems import quoted
from nereval_core.report import TABLES
from nereval_core.report.score_tables import Sheet, long_sheet, sheets
from nereval_core.report.table_formats import as_screen, in_form
from nereval_core.scoring import Scores, Settings, score_layers

if TYPE_CHECKING:
    import pandas as pd

    from nereval_core.report.figures.files import Figure
    from nereval_core.scoring.protocols import LayerSummary, SystemScores

FRAMES = ("records", "differences")
"""Options whose file is a table with a row for each span or record, in one of RECORD_FORMS."""
INSTEAD_OF_SCREEN = (*TABLES, "differences")
"""Options whose files replace the printed tables."""


def load_layers(
    options: argparse.Namespace,
    gold: Paths | None = None,
    systems: Mapping[str, Paths] | None = None,
    *,
    say_types: bool = True,
) -> Loaded:
    """Read gold and the systems, by default all that are named, and say what was read unless told to be quiet.

    With `say_types`, systems that share no type with gold are named.

    Raises:
        FormatError: with the problems of all files.
    """
    loaded = load_corpus(
        gold_path(options) if gold is None else gold,
        system_paths(options) if systems is None else systems,
        options=load_options(options),
        progress=lambda name: progress_bar(name, "read"),
    )
    if not options.quiet:
        for reading in (loaded.gold, *loaded.systems.values()):
            say_read(reading)
        say_lost(loaded)
    if say_types:
        say_other_types(loaded)
    return loaded


def load_for_scoring(options: argparse.Namespace) -> tuple[Loaded, Settings]:
    """Read gold and the systems, and return them with the settings of scoring.

    Raises:
        FormatError: with the problems of all options, or of all files.
    """
    settings = scoring_settings(options)
    loaded = load_layers(options)
    settings = replace(settings, criteria=applicable_criteria(settings.criteria, options, loaded.corpus.gold))
    say_unused(settings, types_of(loaded))
    return loaded, settings


def types_of(loaded: Loaded) -> set[str]:
    """Return the types that a span of gold or of a system has."""
    return {kind for layer in (loaded.corpus.gold, *loaded.corpus.systems) for kind in layer.types}


def score_systems(loaded: Loaded, settings: Settings) -> list[tuple[Layer, Scores]]:
    """Score every system, and say which documents were aligned greedily."""
    scored = []
    for layer in loaded.corpus.systems:
        progress = progress_bar(layer.name, "scored")
        marks = loaded.marks[layer.name]
        scores = score_layers(loaded.corpus.gold, layer, settings, marks=marks, progress=progress)
        say_greedy(layer.name, scores.greedy)
        scored.append((layer, scores))
    return scored


@dataclass(frozen=True)
class Result:
    """The result of a verb in every form. Each form is made when it is asked for.

    `tables` are those to be read, `long` is the one table that CSV and Parquet hold of them all, `json` is the object,
    `figures` are drawn with `title` in the name of the page, `frames` are the tables of the options in FRAMES, and
    `files` makes the bytes of any other option's file, given its place.
    """

    tables: Callable[[], Iterable[Sheet]]
    long: Callable[[], Sheet]
    json: Callable[[], Mapping[str, Any]]
    title: str = ""
    figures: Callable[[], Sequence[Figure]] | None = None
    frames: Mapping[str, Callable[[], pd.DataFrame]] = field(default_factory=dict)
    files: Mapping[str, Callable[[str], bytes]] = field(default_factory=dict)
    screen: Callable[[], str] | None = None
    """The text to print, where it is not the tables."""


def scores_result(gold: LayerSummary, scored: SystemScores, by: Sequence[str]) -> Result:
    """Return the scores of systems in every form; `by` breaks them down by "type", "document" or both."""

    def json_object() -> Mapping[str, Any]:
        from nereval_core.report.json_results import results

        return results(gold, scored, documents="document" in by)

    return Result(lambda: sheets(scored, by=by), lambda: long_sheet(scored, by=by), json_object)


def unchecked_places(options: argparse.Namespace, *more: str) -> dict[str, str]:
    """Return the places that are written to, by option: those of TABLES and `more` that were given.

    They are unchecked: see `output_places`.
    """
    return {form: place for form in (*TABLES, *more) if (place := getattr(options, form)) is not None}


def output_places(options: argparse.Namespace, *more: str) -> dict[str, str]:
    """Return the places as `unchecked_places` does, once they are checked.

    Raises:
        UsageError: an input, a place twice, a name that does not say the form, or a figure that cannot be drawn here.
    """
    places = unchecked_places(options, *more)
    check_places(options, places)
    for form in [form for form in FRAMES if form in places]:
        from nereval_core.report.export import RECORD_FORMS, record_form

        # `--differences -` counts them on the screen.
        if record_form(places[form]) is None and (form, places[form]) != ("differences", STDOUT):
            raise UsageError(f"--{form} {quoted(places[form])}, end the name in one of {', '.join(RECORD_FORMS)}")
    if "figure" in places:
        from nereval_core.report.figures.files import undrawable

        if problem := undrawable(places["figure"]):
            raise UsageError(problem)
    return places


def write_result(result: Result, places: Mapping[str, str], *, always_print: bool = False) -> None:
    """Write every form that was asked for, all files or none, and print the tables where no file has them.

    With `always_print` they are printed beside files too. Standard output holds one form at most.

    Raises:
        FormatError: a file cannot be written.
    """
    tables = cache(lambda: tuple(result.tables()))
    write_outputs(places, {form: _content(result, tables, form, place) for form, place in places.items()})
    printed = always_print or not any(form in places for form in INSTEAD_OF_SCREEN)
    if printed and STDOUT not in places.values():
        print(result.screen() if result.screen else as_screen(tables()), end="")


def _content(result: Result, tables: Callable[[], Sequence[Sheet]], form: str, place: str) -> bytes:
    if form in result.files:
        return result.files[form](place)
    if form in result.frames:
        from nereval_core.report.export import RECORD_FORMS, frame_as, record_form

        return frame_as(record_form(place) or RECORD_FORMS[0], result.frames[form]())
    if form == "json":
        from nereval_core.report.json_results import json_bytes

        return json_bytes(result.json())
    if form == "figure":
        from nereval_core.report.figures.files import drawn

        assert result.figures is not None
        return drawn(result.figures(), place, tables(), result.title)
    return in_form(form, tables(), result.long)
