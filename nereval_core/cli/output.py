"""The one place where results are written and printed: to files or standard output, messages to standard error.

A verb gives its `Result` to `write_result`, with the FILE of each form that was asked for; `write_files` writes them,
all files or none. What a form needs is imported where it is made: most results are only printed. Layers are written by
`writers.write`, the folder of scored shards by `engine.scored_folder.write`.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from nereval_core.cli.files import check_places
from nereval_core.cli.options import STDOUT, UsageError
from nereval_core.problems import one_line, quoted
from nereval_core.report import TABLES
from nereval_core.report.score_tables import long_table, score_tables
from nereval_core.tables import RATIOS, Column, Table
from nereval_core.tables.terminal import WARNING, as_screen, painted

if TYPE_CHECKING:
    import pandas as pd

    from nereval_core.alignment.codes import Progress
    from nereval_core.report.figures.files import Figure
    from nereval_core.report.paper_tables import TableStyle
    from nereval_core.scoring.protocols import LayerSummary, SystemScores

FRAMES = ("records", "differences")
"""Options whose file is a table with a row for each span or record, in one of RECORD_FORMS."""
STYLED = ("latex", "markdown")
"""Forms whose tables can have a style."""
INSTEAD_OF_SCREEN = (*TABLES, "differences")
"""Options whose files replace the printed tables."""

PROGRESS_DELAY_SECONDS = 0.5
"""The time after which progress is shown."""


@dataclass(frozen=True)
class Result:
    """The result of a verb in every form. Each form is made when it is asked for.

    `tables` are those to be read, `long` is the one table that CSV and Parquet hold of them all, `json` is the object,
    `figures` are drawn with `title` in the name of the page, `frames` are the tables of the options in FRAMES, and
    `files` makes the bytes of any other option's file, given its place.
    """

    tables: Callable[[], Iterable[Table]]
    long: Callable[[], Table]
    json: Callable[[], Mapping[str, Any]]
    title: str = ""
    figures: Callable[[], Sequence[Figure]] | None = None
    frames: Mapping[str, Callable[[], pd.DataFrame]] = field(default_factory=dict)
    files: Mapping[str, Callable[[str], bytes]] = field(default_factory=dict)
    styled: Callable[[str], Iterable[Table]] | None = None
    """The tables of a form in STYLED, where they differ from `tables`."""
    screen: Callable[[], str] | None = None
    """The text to print, where it is not the tables."""


def scores_result(
    gold: LayerSummary,
    scored: SystemScores,
    by: Sequence[str],
    style: TableStyle | None = None,
    ratios: Sequence[Column] = RATIOS,
) -> Result:
    """Return the scores of systems in every form; `by` breaks them down by PARTS of `score_tables`.

    `style` is that of tables in LaTeX and Markdown, `ratios` are the ones of tables.
    """

    def styled(form: str) -> Iterable[Table]:
        from nereval_core.report.paper_tables import TableStyle, styled_tables

        return styled_tables(form, scored, by, style or TableStyle(), ratios)

    def json_object() -> Mapping[str, Any]:
        from nereval_core.report.json_results import results

        return results(gold, scored, documents="document" in by, confusion="confusion" in by)

    return Result(
        lambda: score_tables(scored, by=by, ratios=ratios),
        lambda: long_table(scored, by=by, ratios=ratios),
        json_object,
        files=methods_file({layer.name: scores for layer, scores in scored}),
        styled=styled,
    )


def methods_file(result: Any, *, marks: Sequence[str] = ()) -> dict[str, Callable[[str], bytes]]:
    """Return what makes the file of `--methods`, by that option; `result` and `marks` are those of `methods`."""

    def content(place: str) -> bytes:
        from nereval_core.analysis.methods import FORMS, methods

        form = Path(place).suffix.lower() if place != STDOUT else ".txt"
        return FORMS[form](methods(result, marks=marks)).encode()

    return {"methods": content}


def unchecked_places(options: argparse.Namespace, *more: str) -> dict[str, str]:
    """Return the places that are written to, by option: those of TABLES and `more` that were given.

    They are unchecked: see `output_places`.
    """
    return {form: place for form in (*TABLES, *more) if (place := getattr(options, form)) is not None}


def output_places(options: argparse.Namespace, *more: str) -> dict[str, str]:
    """Return the places as `unchecked_places` does, once they are checked.

    Raises:
        UsageError: an input, a place twice, a name that does not say the form, or a figure that cannot be drawn here.
        FormatError: a width that no figure has.
    """
    places = unchecked_places(options, *more)
    check_places(options, places)
    for form in [form for form in FRAMES if form in places]:
        from nereval_core.report.export import RECORD_FORMS, record_form

        # `--differences -` counts them on the screen.
        if record_form(places[form]) is None and (form, places[form]) != ("differences", STDOUT):
            raise UsageError(f"--{form} {quoted(places[form])}, end the name in one of {', '.join(RECORD_FORMS)}")
    if "figure" in more:
        from nereval_core.report.figures.files import paper_width, undrawable

        if problem := undrawable(places.get("figure"), options.figure_width):
            raise UsageError(problem)
        paper_width(options.figure_width)
    return places


def write_result(
    result: Result, places: Mapping[str, str], *, always_print: bool = False, figure_width: str | None = None
) -> None:
    """Write every form that was asked for, all files or none, and print the tables where no file has them.

    With `always_print` they are printed beside files too. Standard output holds one form at most. `figure_width` is
    the width of a figure for a paper, as `--figure-width` has it.

    Raises:
        FormatError: a file cannot be written.
    """
    tables = cache(lambda: tuple(result.tables()))
    write_files(places, {form: _content(result, tables, form, place, figure_width) for form, place in places.items()})
    printed = always_print or not any(form in places for form in INSTEAD_OF_SCREEN)
    if printed and STDOUT not in places.values():
        print(result.screen() if result.screen else as_screen(tables(), colour=has_colour(sys.stdout)), end="")


def _content(
    result: Result, tables: Callable[[], Sequence[Table]], form: str, place: str, figure_width: str | None
) -> bytes:
    if form in result.files:
        return result.files[form](place)
    if form in result.frames:
        from nereval_core.report.export import RECORD_FORMS, frame_as, record_form

        return frame_as(record_form(place) or RECORD_FORMS[0], result.frames[form]())
    if form == "json":
        from nereval_core.report.json_results import json_bytes

        return json_bytes(result.json())
    if form == "figure":
        from nereval_core.report.figures.files import figure_file, paper_width, without_title

        assert result.figures is not None
        figures = result.figures()
        content = figure_file(figures, place, tables(), result.title, paper_width(figure_width))
        if without_title(place, figure_width):
            from nereval_core.report.figures.paper import caption

            say(f"caption of {place}: {caption(figures[0])}")
        return content
    from nereval_core.tables.rendering import in_form

    styled = result.styled if form in STYLED else None
    return in_form(form, tables() if styled is None else tuple(styled(form)), result.long)


def write_files(targets: Mapping[str, str], contents: Mapping[str, bytes]) -> None:
    """Write the contents of each form to its place: all of the files or none, then standard output.

    Raises:
        FormatError: a file cannot be written.
    """
    if not targets:
        return
    from nereval_core import writers

    with ExitStack() as stack:
        # Files appear only when the last of them is written.
        for form, place in targets.items():
            if place != STDOUT:
                stack.enter_context(writers.whole_file(Path(place))).write(contents[form])
    for form, place in targets.items():
        if place == STDOUT:
            sys.stdout.buffer.write(contents[form])


def say(text: str, *, warning: bool = False) -> None:
    """Print a line on standard error; a full disk there does not stop the work."""
    line = painted(one_line(text), WARNING, warning and has_colour(sys.stderr))
    with suppress(OSError):
        print(line, file=sys.stderr)


@dataclass(frozen=True)
class Console:
    """The listener of the command line: it prints on standard error; if `quiet`, not what was read."""

    quiet: bool = False

    def read(self, text: str) -> None:
        if not self.quiet:
            say(text)

    def note(self, text: str) -> None:
        say(text)

    def warn(self, text: str, category: type[UserWarning] = UserWarning) -> None:
        say(text, warning=True)

    def progress(self, name: str, done_word: str) -> Progress | None:
        return progress_bar(name, done_word)


def has_colour(stream: TextIO) -> bool:
    """Tell whether what is printed to a stream has colour: it and standard output are terminals.

    NO_COLOR turns colour off (https://no-color.org), else FORCE_COLOR turns it on, and off where it is 0.
    """
    if os.environ.get("NO_COLOR"):
        return False
    if forced := os.environ.get("FORCE_COLOR"):
        return forced != "0"
    # The old console of Windows prints escape sequences as they are.
    shows_escapes = os.environ.get("TERM") != "dumb" and (os.name != "nt" or "WT_SESSION" in os.environ)
    return sys.stdout.isatty() and stream.isatty() and shows_escapes


def progress_bar(name: str, done_word: str) -> Progress | None:
    """Return a function that draws a bar on standard error once the work takes long, None if that is not a terminal."""
    if not sys.stderr.isatty():
        return None
    began = time.monotonic()
    drawn_percent = -1
    shortened = one_line(name)[-40:]

    def show(done: int, total: int) -> None:
        nonlocal drawn_percent
        percent = 100 * done // total if total else 100
        if percent == drawn_percent or time.monotonic() - began < PROGRESS_DELAY_SECONDS:
            return
        drawn_percent = percent
        bar = "#" * (percent // 5)
        end = "\r\x1b[K" if done >= total else ""
        print(f"\r\x1b[K{shortened}: [{bar:<20}] {percent:3d}% {done_word}{end}", end="", file=sys.stderr, flush=True)

    return show
