"""Lines of tokens that problems are about: pairing knows their numbers in documents, and the lines of these."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace

from nereval_core.problems import FormatError, Problem
from nereval_core.readers import Source

LARGE = 50_000_000
"""Bytes of a file in which no token is looked for: to read it again takes too long."""
NO_TOKEN = ("#", "-DOCSTART-", "TOKEN\t")
"""Beginnings of lines without a token: comments, the beginning of a document, the header of HIPE."""


def at_tokens(problems: Iterable[Problem], sources: Iterable[Source]) -> tuple[Problem, ...]:
    """Return problems; one about a token stands at the line of it, where its file has a token a line."""
    problems = tuple(problems)
    if not any(problem.token for problem in problems):
        return problems
    files = {file.shown: file for source in sources for file in source.files}
    lines: dict[str, Sequence[str]] = {}
    for name in {problem.source for problem in problems if problem.token}:
        with suppress(FormatError):
            if name in files and files[name].origin.size() <= LARGE:
                lines[name] = files[name].lines()
    return tuple(_at_token(problem, lines.get(problem.source, ())) for problem in problems)


def _at_token(problem: Problem, lines: Sequence[str]) -> Problem:
    if problem.token is None or problem.line is None:
        return problem if problem.token is None else replace(problem, token=None)
    return replace(problem, line=_line_of(lines, problem.line, *problem.token) or problem.line, token=None)


def _line_of(lines: Sequence[str], first: int, number: int, text: str) -> int | None:
    """Return the line of a token by its number in the document that begins at a line; None where it cannot be told."""
    tokens = 0
    for line_number, line in enumerate(lines[first - 1 :], start=first):
        if line.startswith("#") and "\t" in line.rstrip():
            # One format has a comment there, another a token; with empty cells alone it is a comment.
            return None
        if not line.strip() or line.startswith(NO_TOKEN):
            continue
        tokens += 1
        if tokens == number:
            return line_number if text in (line.split("\t")[0], line.split()[0]) else None
    return None
