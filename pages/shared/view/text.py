"""Text on pages: corpus text inside Markdown, tooltips of terms, and lists of problems."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from unicodedata import category

import streamlit as st

from nereval_core.problems import ALL_OPTIONS, IN_ALL, FormatError, counted, name_text, one_line, shortened_name
from nereval_core.records.queries import Total
from nereval_core.review.layer_words import GOLD_AND_PREDICTION, LayerWords
from nereval_core.scoring.criteria import CRITERIA, Criterion
from nereval_core.tables.glossary import GLOSSARY

_MARKS = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|~:$^=&\"'/])")
_MEANT = re.compile(r"\\:|@|www(?=\\\.)", re.IGNORECASE)
"""What is given a meaning though it is marked, of marked text."""
_JOINERS = "\u200c\u200d"
LONGEST_LABEL = 120
"""Characters of corpus text in a label, unless another limit is given."""


def plain(text: str, limit: int = LONGEST_LABEL) -> str:
    """Return Markdown that shows as the text itself, on one line, cut in the middle to `limit` characters.

    A colon is followed by a word joiner, or `:smile:` would become a picture, and so are an at sign and `www`, or an
    address would become a link: Markdown looks for addresses once more when all marks are taken off.
    """
    line = visible(text, limit).strip()
    return _MEANT.sub("\\g<0>\u2060", _MARKS.sub(r"\\\1", line))


def visible(text: str, limit: int = LONGEST_LABEL) -> str:
    """Return a text on one line, cut in the middle to `limit` characters; a blank at its beginning or end stays."""
    line = "".join(map(_visible, text))
    words = shortened_name(" ".join(line.split()), limit)
    before, after = (" " if line[at : at + 1 or None].isspace() else "" for at in (0, -1))
    return f"{before}{words}{after}" if words else before


def named(name: str, limit: int = LONGEST_LABEL) -> str:
    """Return Markdown that shows a name of the data, such as a type or a system, as `name_text` has it."""
    return plain(name_text(name), limit)


def _visible(char: str) -> str:
    """Return a character, a blank for white space and control characters, an escape for what steers the writing.

    Joiners stay: words of several scripts have them.
    """
    if char.isprintable() or char in _JOINERS:
        return char
    return one_line(char) if category(char) == "Cf" else " "


def count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def noun(criterion: str) -> str:
    """Return the unit of counts under a criterion: "record", or "token" where tokens are counted."""
    by_token = criterion in CRITERIA and CRITERIA[criterion].unit == "token"
    return "token" if by_token else "record"


def count_words(criterion: str, total: Total) -> str:
    """Return how many records there are, counted by token with the tokens in them: the value of the count opened."""
    records = count(total.records, "record")
    return records if noun(criterion) == "record" else f"{count(total.weight, 'token')} in {records}"


def as_markdown(words: LayerWords) -> LayerWords:
    """Return words for Markdown, in which the names of annotators show as they are."""
    return replace(words, reference=plain(words.reference), other=plain(words.other))


def explained(*codes: str, words: LayerWords = GOLD_AND_PREDICTION) -> str:
    """Return name, sentence and formula of abbreviations as Markdown, each with a link to the Guide."""
    words = as_markdown(words)
    return "  \n".join(f"{words.tooltip(code)} [Guide](Guide#{GLOSSARY[code].anchor})" for code in codes)


def criterion_explained(criterion: Criterion) -> str:
    return f"{criterion.sentence} ({criterion.source}) [Guide](Guide#criterion-{criterion.name})"


def level_said(level: str) -> str:
    """Return a noise level as words, 0.0-0.1 as 0.0–0.1; other text stays as it is."""
    if not re.fullmatch(r"[\d.]+-[\d.]+", level):
        return level
    low, high = level.split("-")
    return low if low == high else f"{low}–{high}"


def refusal_words(error: FormatError) -> str:
    """Return the first problem of a refusal, and how many more there are."""
    more = len(error.problems) - 1
    return error.problems[0].found + (f" (and {more:,} more)" if more else "")


def show_problems(lines: Sequence[str]) -> None:
    """Show lines as `FormatError.lines` gives them."""
    totals = [line for line in lines if IN_ALL in line]
    rest = [line for line in lines if line not in totals]
    n_problems = sum(not line.startswith(ALL_OPTIONS) for line in rest)
    st.error(
        f"What was given has {totals[0].replace(';', ':')}"
        if totals
        else f"{counted(n_problems, 'problem')} in what was given:"
    )
    for line in rest:
        st.code(line, language=None, wrap_lines=True)
