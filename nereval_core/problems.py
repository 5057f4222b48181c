"""Problems with input: each names a place, a finding and a remedy."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from types import MappingProxyType
from typing import Any, Self, get_args

SHOWN = 20
"""Lines on problems that are printed; the rest is only counted."""
ALIKE = 3
"""Problems of one kind in one file that are told one by one; of more, the first stands for all."""
IN_ALL = " problems in all"
"""In the line that counts the problems of a refusal."""
SOUGHT = ", after which no more were looked for"
"""In the line that counts the problems of a refusal that has as many as are collected."""
VARYING = re.compile(r"'(?:[^'\\]|\\.)*'|[0-9][0-9,]*(?: [a-z]+)?")
"""What differs between problems of one kind: what is quoted, and numbers with their nouns."""
QUOTE = re.compile(r"'(?:[^'\\]|\\.)*'")
OPTION = re.compile(
    r"--(?:repair conlleval|token-text gold|align-text|truncated outside|missing empty|documents shared"
    r"|malformed empty|unplaced drop)"
)
"""Options, as remedies name them, with which files can be scored as they stand."""


LONGEST_WORD, LONGEST_TEXT = 200, 10_000
"""Characters of a word of a message, such as a name, and of the whole; files may name things with megabytes."""
_LONG_WORD = re.compile(rf"\S{{{LONGEST_WORD + 1},}}")


def shortened(text: str) -> str:
    """Return a text whose words are cut at LONGEST_WORD, and itself at LONGEST_TEXT."""
    text = _LONG_WORD.sub(lambda word: word[0][: LONGEST_WORD - 1] + "…", text)
    return text if len(text) <= LONGEST_TEXT else text[: LONGEST_TEXT - 1] + "…"


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem with the input; `line` counts from 1 and is None for a problem of the whole file.

    `token` is the number, from 1, and the text of a token of the document that begins at `line`, until loading has
    found the line of that token.
    """

    source: str
    line: int | None
    found: str
    remedy: str
    token: tuple[int, str] | None = None

    def __post_init__(self) -> None:
        for name in ("found", "remedy"):
            if len(text := getattr(self, name)) > LONGEST_WORD:
                object.__setattr__(self, name, shortened(text))

    @property
    def option(self) -> str:
        """The first option that the remedy names to score the file as it stands; "" where it names none."""
        found = OPTION.search(self.remedy)
        return found[0] if found else ""

    def __str__(self) -> str:
        place = self.source if self.line is None else f"{self.source}:{self.line}"
        return one_line(f"{place}: {self.found}; {self.remedy}")


@dataclass(frozen=True, slots=True)
class ProblemGroup:
    """Problems of one kind in one file, in its order: they differ in lines, numbers and quotes alone."""

    problems: tuple[Problem, ...]

    @property
    def first(self) -> Problem:
        return self.problems[0]

    @property
    def shares_a_line(self) -> bool:
        """Whether there are more than are told one by one."""
        return len(self.problems) > ALIKE

    def quotes(self) -> list[tuple[str, int]]:
        """Return what the findings quote first, such as a tag, with the number of problems of each, most first.

        Empty where most problems quote something of their own, or all quote the same.
        """
        quotes = Counter(quote[0] for problem in self.problems if (quote := QUOTE.search(problem.found)))
        return quotes.most_common() if 1 < len(quotes) <= len(self.problems) // 2 else []

    def line(self) -> str:
        """Return the line of the first problem, with the number of the others."""
        last = self.problems[-1].line
        end = "" if last is None else f", to line {last}"
        found = f"{self.first.found} (and {len(self.problems) - 1} more like it{end})"
        return str(replace(self.first, found=found))


def problem_groups(problems: Iterable[Problem]) -> list[ProblemGroup]:
    """Return problems by file and kind, in the order in which kinds first occur."""
    groups: dict[tuple[str, str], list[Problem]] = {}
    for problem in problems:
        groups.setdefault((problem.source, VARYING.sub("…", problem.found)), []).append(problem)
    return [ProblemGroup(tuple(group)) for group in groups.values()]


@dataclass(frozen=True, slots=True)
class Remedy:
    """Options with which refused files can be scored as they stand, as was tried, and what is read of them so.

    `source` names the files as their problems do. `options` are fields of `LoadOptions` with their values; `mended`
    says what the reading changed.
    """

    source: str
    options: tuple[tuple[str, Any], ...]
    spans: int
    mended: tuple[str, ...]


EXTRAS: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(
            ("streamlit", "plotly", "cloudpickle", "jinja2", "xlsxwriter", "sqlalchemy", "cachetools"), "app"
        ),
        "kaleido": "pictures",
        "spacy": "spacy",
        "psycopg": "postgresql",
        "distributed": "cluster",
        "authlib": "login",
    }
)
"""The packages that the core does without, and the extra of ours that installs each."""


def missing_package(error: ModuleNotFoundError) -> str | None:
    """Return the sentence on a package that an extra of ours installs; None for any other."""
    package = (error.name or "").partition(".")[0]
    if package not in EXTRAS:
        return None
    extra = EXTRAS[package]
    return f"this needs the package {package}; pip install {package}, or install nereval with the extra [{extra}]"


MOST = 1_000
"""Problems that are collected of a reading: the rest of the input is not looked at."""
ALL_OPTIONS = "to score the files as they stand, give all of these options: "
"""The beginning of the last line of a refusal whose remedies name several options."""


class FormatError(Exception):
    """Input that cannot be read or scored: all its problems at once, and what was tried to mend them."""

    def __init__(self, problems: Iterable[Problem], remedies: Iterable[Remedy] = ()) -> None:
        self.problems = tuple(islice(problems, MOST))
        self.remedies = tuple(remedies)
        assert self.problems, "a FormatError names at least one problem"
        super().__init__(str(self))

    @classmethod
    def single(cls, source: str, line: int | None, found: str, remedy: str) -> FormatError:
        return cls([Problem(source, line, found, remedy)])

    def lines(self) -> list[str]:
        """Return a line for each problem; those of one kind in one file share a line where they are many.

        The number of all follows where a line stands for several or is left out. A last line names all options of the
        remedies, if these name several.
        """
        groups = [group for group in problem_groups(self.problems) if group.shares_a_line]
        shared = {group.first: group.line() for group in groups}
        others = {problem for group in groups for problem in group.problems} - shared.keys()
        remaining = dict.fromkeys(problem for problem in self.problems if problem not in others)
        every_line = [shared.get(problem) or str(problem) for problem in remaining]
        lines = every_line[:SHOWN]
        # Of input that has more nobody knows how many.
        in_all = f"{len(self.problems)}{IN_ALL}" if len(self.problems) < MOST else f"{MOST:,} problems or more{SOUGHT}"
        if len(every_line) > SHOWN:
            lines.append(f"{in_all}; the first {SHOWN} are shown")
        elif len(every_line) < len(self.problems):
            lines.append(in_all)
        options = tuple(dict.fromkeys(problem.option for problem in self.problems if problem.option))
        if len(options) > 1:
            rest = sum(not problem.option for problem in self.problems)
            mend = f"; {counted(rest, 'problem')} must be mended in the files" if rest else ""
            lines.append(f"{ALL_OPTIONS}{' '.join(options)}{mend}")
        return lines

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def __reduce__(self) -> tuple[object, ...]:
        return (FormatError, (self.problems, self.remedies))


class ProblemList(list[Problem]):
    """The problems of a reading, which ends where there are MOST of them."""

    def append(self, problem: Problem) -> None:
        self.extend((problem,))

    def extend(self, problems: Iterable[Problem]) -> None:
        """Add problems.

        Raises:
            FormatError: with the first MOST, when there are as many.
        """
        super().extend(islice(problems, MOST - len(self)))
        if len(self) == MOST:
            raise FormatError(self)

    def __iadd__(self, problems: Iterable[Problem]) -> Self:  # type: ignore[override, misc]
        self.extend(problems)
        return self


class Steps:
    """The problems of several steps, so that all are told at once."""

    def __init__(self) -> None:
        self.problems: dict[Problem, None] = {}

    @contextmanager
    def collected(self) -> Iterator[None]:
        """Run a step; its refusal is kept until `refuse`."""
        try:
            yield
        except FormatError as error:
            self.problems |= dict.fromkeys(error.problems)

    def refuse(self) -> None:
        """Refuse the input if a step did.

        Raises:
            FormatError: with the problems of all steps, each once.
        """
        if self.problems:
            raise FormatError(self.problems)


def quoted(text: str, limit: int = 40) -> str:
    """Return text for a message: in quotes, on one line, control characters escaped, cut at `limit`."""
    shown = text if len(text) <= limit else text[: limit - 1] + "…"
    return "'" + one_line(shown.replace("\\", "\\\\").replace("'", "\\'")) + "'"


def quoted_apart(one: str, other: str, limit: int = 40) -> tuple[str, str]:
    """Return two different texts for a message, each cut so that their first difference is shown.

    If they differ in white space alone, blanks are shown as `␣`.
    """
    if "".join(one.split()) == "".join(other.split()) and "␣" not in one:
        one, other = (text.replace(" ", "␣") for text in (one, other))
    place = next((at for at, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), -1)
    place = min(len(one), len(other)) if place < 0 else place
    if place >= limit - 1:
        begin = place - limit // 2
        one, other = (f"…{text[begin:]}" for text in (one, other))
    return quoted(one, limit), quoted(other, limit)


def one_line(text: str) -> str:
    """Return text with escapes for all characters that do not print, line ends included."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def name_text(name: str) -> str:
    """Return a name of the data as readers see it: characters that do not print are escapes.

    A name that turns the direction of writing would look like another one. In quotes stands a name that a reader would
    take for a dash, a comma or another name: without a letter or digit, or with blanks at its edges.
    """
    line = one_line(name)
    is_plain = line == line.strip() and any(char.isalnum() for char in line)
    return line if is_plain or not line else f"'{line}'"


def shortened_name(name: str, most: int) -> str:
    """Return a name of at most so many characters, cut in the middle.

    Names of one family share their beginning, so that more of the end is left.
    """
    tail = most * 3 // 5
    return name if len(name) <= most else f"{name[: most - tail - 1]}…{name[-tail:]}"


def capitalised(text: str, names: Iterable[str] = ()) -> str:
    """Return a text with a capital letter at its beginning, unless one of these names stands there."""
    is_named = any(name and text.startswith(name) and not text[len(name) :][:1].isalnum() for name in names)
    return text if is_named else text[:1].upper() + text[1:]


def either_option(flag: str, values: Iterable[object]) -> str:
    """Return an option with each of its values, as a remedy names them: `--column 2 or --column 3`."""
    return " or ".join(f"{flag} {shlex.quote(str(value))}" for value in values)


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: `1 span`, `2 spans`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def one_of(name: str, value: str, allowed: Any) -> None:
    """Refuse a value that a Literal does not allow.

    Raises:
        FormatError: the problem names the allowed values.
    """
    known = get_args(allowed)
    if value not in known:
        raise FormatError.single(name, None, f"there is no {quoted(str(value))}", f"use {' or '.join(known)}")
