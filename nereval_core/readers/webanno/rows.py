"""Files of WebAnno TSV 3 as they stand: the layers declared, sentences with their text, tokens and parts of tokens."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from nereval_core.problems import Problem, ProblemList, counted, quoted
from nereval_core.readers.cas.content import short_name
from nereval_core.readers.input.source import SourceFile
from nereval_core.readers.shared.offset_units import Offsets, width_of

FORMAT = "#FORMAT=WebAnno TSV "
VERSIONS = ("3.1", "3.2", "3.3")
EXPORT = "export it as WebAnno TSV 3.3, the version of today's INCEpTION"
TRUNCATED = "the file may be cut short: export it again"
SPANS, CHAINS, RELATIONS = "#T_SP=", "#T_CH=", "#T_RL="
TEXT, SENTENCE_ID = "#Text=", "#Sentence.id="
SLOT = "ROLE_"
"""The beginning of the name of a slot's column; the next column fills the slot."""
LEADING_COLUMNS = 3
"""Columns before those of layers: number, offsets, token."""
PLACE = re.compile(r"[0-9]{1,9}-[0-9]{1,9}(\.[0-9]{1,9})?\t([0-9]{1,10})-([0-9]{1,10})\t")
GAP_CHARACTERS = 1 << 22
"""Characters that may stand outside of sentences in a file."""
ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "f": "\f", "b": "\b", "\\": "\\"}
ESCAPED = re.compile(r"\\([\\tnrfb\x00-\x1f])")
JAVA = re.compile(r"\\(?:u+([0-9A-Fa-f]{4})|([0-7]{1,3})|(.))")


class SpanLayer(NamedTuple):
    """A layer of spans: its full name, and its features with the places of their columns in a row.

    Slots are not features; a layer without features has one column under the empty name.
    """

    name: str
    features: dict[str, int]

    @property
    def short(self) -> str:
        return short_name(self.name)


class TokenLine(NamedTuple):
    """A token or a part of one: its line, which token of the file it is, offsets as the file counts, all its fields.

    `first` says that it opens a sentence, `part` that it is not a whole token.
    """

    line: int
    token: int
    begin: int
    end: int
    fields: list[str]
    first: bool
    part: bool


@dataclass(slots=True)
class WebAnnoFile:
    """A file: its layers of spans, the short names of its chains and relations, texts of sentences, and rows."""

    file: SourceFile
    version: str
    layers: list[SpanLayer] = field(default_factory=list)
    others: list[str] = field(default_factory=list)
    sentences: list[str] = field(default_factory=list)
    rows: list[TokenLine] = field(default_factory=list)

    def layer(self, name: str) -> SpanLayer | None:
        """Return the layer of this full name."""
        return next((layer for layer in self.layers if layer.name == name), None)


def is_old_version(lines: Sequence[str]) -> bool:
    """Return whether the first lines are those of WebAnno TSV 1 or 2, which have no offsets."""
    first, second = (line.strip() for line in [*lines, "", ""][:2])
    return (first.startswith("# ") and " | " in first) or (first.startswith("#id=") and second.startswith("#text="))


def parse_webanno(file: SourceFile, problems: list[Problem]) -> WebAnnoFile | None:
    """Return the contents of a file; problems are added to `problems`."""
    lines = file.lines()
    head = lines[0].rstrip() if lines else ""
    version = head.removeprefix(FORMAT)
    if is_old_version(lines):
        problems.append(Problem(file.shown, 1, "this is WebAnno TSV 1 or 2, which has no offsets", EXPORT))
        return None
    if version not in VERSIONS:
        what = f"version {quoted(version)}" if head.startswith(FORMAT) else f"{quoted(head)} as the first line"
        problems.append(Problem(file.shown, 1, f"{what}, and {', '.join(VERSIONS)} are known", EXPORT))
        return None
    parsed = WebAnnoFile(file, version)
    at, width = _declared(lines, parsed, problems)
    _fill(lines, at, width, parsed, problems)
    return parsed


def assemble_text(parsed: WebAnnoFile, counting: Offsets, problems: list[Problem]) -> tuple[str, list[tuple[int, int]]]:
    """Return the text of a file and its sentences, in code points.

    Sentences stand where their first tokens say; what is between two is a line end, and blanks where it is longer, as
    when INCEpTION reads a file. One that begins before the one before it ends, or too far behind, goes to the problems.
    """
    parts: list[str] = []
    bounds = []
    at = points = n_filled = 0
    firsts = (row for row in parsed.rows if row.first)
    for text, row in zip(parsed.sentences, firsts, strict=True):
        begin = row.begin - counting.base
        gap = begin - at
        n_filled += max(gap, 0)
        if gap < 0 or n_filled > GAP_CHARACTERS:
            finding = f"a sentence that begins at {row.begin}, and the text before it ends at {at + counting.base}"
            problems.append(Problem(parsed.file.shown, row.line, finding, "mend the offsets, or the line #Text="))
        elif gap:
            parts.append("\n" + " " * (gap - 1) if parts else " " * gap)
            points += gap
        bounds.append((points, points + len(text)))
        parts.append(text)
        points += len(text)
        at = max(begin, at) + width_of(text, counting.unit)
    return "".join(parts), bounds


def truncation_problems(parsed: WebAnnoFile, counting: Offsets) -> list[Problem]:
    """Return a problem for each sentence with more text behind its last token: rows of it are missing."""
    problems = ProblemList()
    tokens = [row for row in parsed.rows if not row.part]
    firsts = [at for at, row in enumerate(tokens) if row.first]
    for text, (first, following) in zip(parsed.sentences, pairwise([*firsts, len(tokens)]), strict=True):
        last = tokens[following - 1]
        end = tokens[first].begin + width_of(_until_blanks(text), counting.unit)
        if last.end < end:
            finding = f"the last token of a sentence ends at {last.end}, and the text of its line #Text= at {end}"
            problems.append(Problem(parsed.file.shown, last.line, finding, TRUNCATED))
    return problems


def _until_blanks(text: str) -> str:
    """Return a text without the characters at its end that show nothing: no token may have them."""
    text = text.rstrip()
    while text and unicodedata.category(text[-1])[0] in "CZ":
        text = text[:-1].rstrip()
    return text


def _declared(lines: Sequence[str], parsed: WebAnnoFile, problems: list[Problem]) -> tuple[int, int]:
    """Read the layers declared; return the index of the line after them, and how many columns a row has."""
    width = LEADING_COLUMNS
    at = 1
    for at, line in enumerate([*lines[1:], ""], start=1):
        kind, names = line[: len(SPANS)], line[len(SPANS) :].split("|")
        if kind not in (SPANS, CHAINS, RELATIONS):
            break
        # A layer without features has a column all the same.
        columns = names[1:] or [""]
        if kind == SPANS:
            slots = [name.startswith(SLOT) for name in columns]
            filled = [False, *slots[:-1]]
            places = zip(columns, range(width, width + len(columns)), slots, filled, strict=True)
            features = {name: place for name, place, slot, filler in places if not (slot or filler)}
            if parsed.layer(names[0]):
                finding = f"a second declaration of the layer {quoted(names[0])}"
                problems.append(Problem(parsed.file.shown, at + 1, finding, "declare each layer once"))
            parsed.layers.append(SpanLayer(names[0], features))
        else:
            parsed.others.append(short_name(names[0]))
        width += len(columns)
    return at, width


def _fill(lines: Sequence[str], at: int, width: int, parsed: WebAnnoFile, problems: list[Problem]) -> None:
    """Read sentences and their rows from a line on."""
    texts: list[str] = []
    comments: list[tuple[int, str]] = []
    inside, reached, tokens = False, 0, 0
    ended = any(line.endswith("\t") and line.count("\t") == width for line in lines[at:])

    def complain(line: int, finding: str, remedy: str) -> None:
        problems.append(Problem(parsed.file.shown, line, finding, remedy))

    for number, line in enumerate([*lines[at:], ""], start=at + 1):
        if not line.startswith("#"):
            # GUM says more of a document in a block of its own, before the first sentence.
            for place, comment in comments if line.strip(" ") or parsed.sentences else ():
                complain(place, f"{quoted(comment)} is not a line of a sentence", "write #Text=, then its tokens")
            comments = []
        if not line.strip(" "):
            if texts:
                complain(number - 1, "a sentence without tokens", "write its tokens below its line #Text=")
            texts, inside = [], False
        elif line.startswith("#"):
            if inside:
                complain(number, f"{quoted(line)} among tokens", "part sentences by a blank line")
            inside = False
            if line.startswith(TEXT):
                texts.append(_unescaped(line[len(TEXT) :], parsed.version))
            elif not line.startswith(SENTENCE_ID):
                comments.append((number, line))
        else:
            row = _row(line, number, width, tokens, opens=bool(texts), ended=ended, complain=complain)
            if not texts and not inside:
                complain(number, "a token outside of a sentence", "write the sentence's text above it: #Text=…")
            elif row is not None and row.part and texts:
                complain(number, "a part of a token before any token", "write the token first")
            elif row is not None and not row.part and row.begin < reached:
                overlap = f"a token that begins at {row.begin}, and the one before it ends at {reached}"
                complain(number, overlap, "mend the offsets: tokens do not overlap")
            elif row is not None:
                parsed.rows.append(row)
                if not row.part:
                    reached, tokens = row.end, tokens + 1
            if texts:
                parsed.sentences.append("\n".join(texts))
            texts, inside = [], True


def _row(
    line: str,
    number: int,
    width: int,
    tokens: int,
    *,
    opens: bool,
    ended: bool,
    complain: Callable[[int, str, str], None],
) -> TokenLine | None:
    """Return the token in a line; `ended` says that rows of this file end with a tab, as those of the tools do."""
    fields = line.split("\t")
    if len(fields) == width + 1 and not fields[-1]:
        fields.pop()
    elif ended and len(fields) == width:
        complain(
            number, f"a row without the tab that ends the others: {quoted(fields[-1])} is its last cell", TRUNCATED
        )
        return None
    if len(fields) != width:
        more = width - LEADING_COLUMNS
        remedy = f"write number, offsets, token and {more} more with tabs between, as the layers above say"
        complain(number, f"{counted(len(fields), 'column')} where the layers declared make {width}", remedy)
        return None
    match = PLACE.match(line)
    if match is None:
        what = f"{quoted(fields[0])} and {quoted(fields[1])} for a number and offsets"
        complain(number, what, "write 2-1 for the first token of the second sentence, then start-end as 12-17")
        return None
    part, begin, end = match[1] is not None, int(match[2]), int(match[3])
    if begin > end:
        complain(number, f"offsets {fields[1]}: the start is behind the end", "write start-end")
        return None
    return TokenLine(number, tokens - part, begin, end, fields, opens, part)


def _unescaped(text: str, version: str) -> str:
    """Return a text as it was: version 3.1 escapes as Java does, later ones control characters and backslashes."""
    if "\\" not in text:
        return text
    if version != VERSIONS[0]:
        return ESCAPED.sub(lambda match: ESCAPES.get(match[1], match[1]), text)
    plain = JAVA.sub(_java, text)
    # A character of two UTF-16 units is escaped as two.
    return plain.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _java(match: re.Match[str]) -> str:
    if match[1]:
        return chr(int(match[1], 16))
    return chr(int(match[2], 8)) if match[2] else ESCAPES.get(match[3], match[3])
