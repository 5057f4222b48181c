"""Refused files, beside the files: what is wrong, by kind with the first place, and ways to read them all the same.

Each way was tried when the files were read, so that it says what is read so. Files that are gone have their problems at
the top of the page.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from nereval_core.api.load_options import LoadOptions
from nereval_core.options import offers
from nereval_core.problems import SHOWN, FormatError, Problem, ProblemGroup, Remedy, problem_groups
from nereval_core.readers.input.paths import LAYER_MARK
from pages.shared.data import masks
from pages.shared.data.refused_files import refusal_of, refused_form
from pages.shared.view.text import count, plain, show_problems

WORDS: dict[tuple[str, str | bool], str] = {
    ("repair", "conlleval"): "cut malformed tags as conlleval does",
    ("repair", "discard"): "drop malformed chunks",
    ("token_text", "gold"): "take gold's text where tokens are spelt differently",
    ("align_text", True): "align texts that differ in white space, quotes or normal forms alone",
    ("truncated", "outside"): "take the missing ends of sentences as outside",
    ("malformed", "empty"): "take answers that cannot be read as empty",
    ("unplaced", "drop"): "leave out mentions without a place in the texts",
    ("missing", "empty"): "count missing documents as empty",
    ("common", True): "score only the documents that all of them have",
    ("pair_by", "text"): "pair documents by their text",
    ("pair_by", "order"): "pair documents by their order",
}
"""What an option of reading does, by its field and value."""
UNTRIED: dict[str, tuple[str, str | bool]] = {
    "is missing; add it": ("common", True),
    "leave it out, or give it the id": ("common", True),
    "--pair-by text": ("pair_by", "text"),
    "--pair-by order": ("pair_by", "order"),
}
"""By words of a problem: an option that mends it, which is not tried with the others."""
NOTE = (
    "A setting holds for all files. What was mended is counted and told with the files. Published scorers read their "
    "own formats as they stand, so their figures stay those of the files as submitted."
)
HEAD = "refused_files_head"
"""The container of how much was refused."""
FLAG = re.compile(r"--([a-z-]+)(?: (?!or\b|and\b|takes\b)([\w.:#-]+))?")
AROUND = 1
"""Lines shown before and after the line of a problem."""
QUOTES = 5
"""Quotes of problems of a kind that are counted one by one."""
LONGEST = 160
"""Characters of a line that are shown."""
LARGE = 20_000_000
"""Bytes of a file of which no line is shown: to find it takes too long."""


def is_refused(error: FormatError | None, names: Collection[str]) -> bool:
    return error is not None and bool(_of_files(error.problems, names))


def draw_beside(error: FormatError, files: Mapping[str, Any], form: str, again: Callable[[], None]) -> None:
    """Draw what is wrong with uploaded files, by name, and offer the ways to read them; `again` reads the form."""
    problems = _of_files(error.problems, files)
    ways = _ways(problems, error.remedies)
    _draw_groups(problem_groups(problems), files, {way.source for way in ways})
    _offer(ways, form, again)


def draw_head(error: FormatError, form: str, again: Callable[[], None]) -> None:
    """Say how much was refused, and offer to read all that can be mended: above the files and their problems."""
    by_source: dict[str, list[Problem]] = {}
    for problem in error.problems:
        by_source.setdefault(problem.source, []).append(problem)
    ways = [way[0] for problems in by_source.values() if (way := _ways(problems, error.remedies))]
    with st.container(key=HEAD):
        st.error(f"{count(len(error.problems), 'problem')} in {count(len(by_source), 'file')}.")
        if len(ways) > 1:
            options = tuple(dict.fromkeys(option for way in ways for option in way.options))
            label = plain(f"Fix all and continue: {_words(dict.fromkeys(options))}", 300)
            st.button(label, type="primary", key="fix_all", on_click=_read_again, args=(form, options, again))
        if ways:
            st.caption(NOTE)


def draw_others(error: FormatError, names: Collection[str], form: str, again: Callable[[], None]) -> None:
    """Draw the problems of a form that are not those of the files named."""
    beside = set(_of_files(error.problems, names))
    others = [problem for problem in error.problems if problem not in beside]
    _draw_groups(problem_groups(others), {}, ())
    _offer(_ways(others, error.remedies), form, again)


def draw_alone(error: FormatError) -> None:
    """Draw problems where no other setting would read the files: beside what was asked for."""
    st.error(f"{count(len(error.problems), 'problem')}: nothing was read anew.")
    _draw_groups(problem_groups(error.problems), {}, ())


def draw_elsewhere(forms: Collection[str]) -> None:
    """Draw the problems that belong to none of the forms on the page."""
    form = refused_form()
    error = refusal_of(form)
    if error is not None and (not form or form not in forms):
        show_problems([masks.mask_message(page_words(line)) for line in error.lines()])


def _of_files(problems: Iterable[Problem], names: Collection[str]) -> list[Problem]:
    return [problem for problem in problems if _is_of(problem.source, names)]


def _is_of(source: str, names: Collection[str]) -> bool:
    """Return whether a source is one of these files, a part of one, or its layer."""
    return any(source == name or source.startswith((f"{name}/", f"{name}{LAYER_MARK}", f"{name}:")) for name in names)


def _draw_groups(groups: Sequence[ProblemGroup], files: Mapping[str, Any], mended: Collection[str]) -> None:
    """Draw a line for each problem; those of one kind in one file share a line where they are many.

    Of sources that a way below the problems is offered for, `mended`, the line has no remedy.
    """
    for group in groups[:SHOWN]:
        shown = [group.first] if group.shares_a_line else group.problems
        for problem in shown:
            times = _times(group) if group.shares_a_line else ""
            _draw_problem(problem, times, files, problem.source not in mended)
    if len(groups) > SHOWN:
        st.caption(f"{len(groups) - SHOWN:,} more kinds of problems")


def _times(group: ProblemGroup) -> str:
    """Return in Markdown how many problems the line of a group stands for, and what they quote where that differs."""
    number, quotes = len(group.problems), group.quotes()
    if not quotes and len({problem.found for problem in group.problems}) == 1:
        return f"**{number:,} ×** "
    listed = [f"{count:,} × {plain(masks.mask_message(quote), 40)}" for quote, count in quotes[:QUOTES]]
    if remaining := sum(count for _, count in quotes[QUOTES:]):
        listed.append(f"{remaining:,} more")
    counts = f" ({', '.join(listed)})" if listed else ""
    return f"**{number:,} of a kind**{counts}, the first: "


def _draw_problem(problem: Problem, times: str, files: Mapping[str, Any], with_remedy: bool) -> None:
    """Draw a problem, with its place in the file where that is at hand; `times` says how many it stands for."""
    source = "" if problem.source in files else f"{problem.source}: "
    place = "" if problem.line is None else f", {'first in ' if times.endswith('×** ') else ''}line {problem.line:,}"
    finding, remedy = (masks.mask_message(words) for words in (f"{source}{problem.found}", page_words(problem.remedy)))
    st.markdown(f":red[✗] {times}{plain(finding, 300)}{place}{f'; {plain(remedy, 300)}' if with_remedy else ''}.")
    file = files.get(problem.source)
    if file is not None and problem.line is not None and file.size <= LARGE and not masks.is_masked():
        st.code(_lines_around(file.getvalue(), problem.line), language=None)


def _lines_around(content: bytes, line: int) -> str:
    """Return the line of a problem and its neighbours, each with its number."""
    lines = content.decode("utf-8", "replace").split("\n")
    numbers = range(max(1, line - AROUND), min(len(lines), line + AROUND) + 1)
    return "\n".join(
        f"{'>' if number == line else ' '} {number:>6}  {lines[number - 1].rstrip()[:LONGEST]}" for number in numbers
    )


def page_words(remedy: str) -> str:
    """Return a remedy with the names of fields under *Format and reading* in place of options."""
    fields = {offer.flag: offer.form.label for offer in offers(LoadOptions).values() if offer.form and offer.flag}

    def named(match: re.Match[str]) -> str:
        label = fields.get(f"--{match[1]}")
        return match[0] if label is None else f"“{label}{f': {match[2]}' if match[2] else ''}”"

    words = FLAG.sub(named, remedy)
    return words if words == remedy else f"{words} (a field of Format and reading)"


def _words(options: Iterable[tuple[str, Any]]) -> str:
    return " and ".join(WORDS[option] for option in options)


@dataclass(frozen=True)
class Way:
    """A way to read refused files of a source: options by field, and what is read so, "" where it was not tried."""

    source: str
    options: tuple[tuple[str, Any], ...]
    effect: str = ""


def _ways(problems: Sequence[Problem], remedies: Iterable[Remedy]) -> list[Way]:
    sources = dict.fromkeys(problem.source for problem in problems)
    ways = [
        Way(remedy.source, remedy.options, "; ".join((count(remedy.spans, "span"), *remedy.mended)))
        for remedy in remedies
        if remedy.source in sources
    ]
    ways += dict.fromkeys(
        Way(problem.source, (option,))
        for problem in problems
        for words, option in UNTRIED.items()
        if words in str(problem)
    )
    return ways


def _offer(ways: Sequence[Way], form: str, again: Callable[[], None]) -> None:
    """Offer each way to read files, with what is read so."""
    for number, way in enumerate(ways):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.button(
                "Fix and continue",
                type="secondary" if number else "primary",
                key=f"fix_{way.source}_{number}",
                help=_words(way.options),
                on_click=_read_again,
                args=(form, way.options, again),
            )
            effect = f": **{plain(way.effect, 300)}**" if way.effect else ""
            st.markdown(f"{plain(_words(way.options), 200)}{effect}")


def _read_again(form: str, options: Iterable[tuple[str, Any]], again: Callable[[], None]) -> None:
    for field, value in options:
        offered = offers(LoadOptions)[field].form
        st.session_state[f"{form}_{field}"] = True if offered is not None and offered.checkbox else value
    again()
