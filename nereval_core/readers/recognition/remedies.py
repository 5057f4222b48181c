"""Sources that no reader recognises: what they look like, and remedies, each tried on the input before it is named.

A remedy is named only if what is read with it looks right.
"""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from nereval_core.corpus import Documents
from nereval_core.problems import FormatError, ProblemList, quoted
from nereval_core.readers.conll.layout import is_tag, sample_rows
from nereval_core.readers.input.file_text import iconv_command
from nereval_core.readers.input.source import Source, SourceFile
from nereval_core.readers.read_settings import Reading, ReadOptions
from nereval_core.readers.recognition.signs import nearest_shape
from nereval_core.readers.shared.strict_json import items
from nereval_core.readers.shared.table_columns import DELIMITERS, NUMBER, OPTION, first_rows

TRIED_BYTES = 1 << 20
"""The largest size of files, as stored, that are tried whole; of larger ones the heads are."""
TRIED_FILES = 20
"""The most files of which heads are tried."""
NAMED = 3
"""The most remedies that a message names."""
OUTSIDE_FORMATS = ("conll", "tokentable")
"""The formats of columns of tags, which a word for outside may make out."""
WORDS = 200
"""The first words of a reading that are looked at."""
TAG = re.compile(r"[BIOMELSUW]|[BIOMELSUW][-_/]\S+|\S+[-_/][BIOES]|LABEL_\d+|\d+")
"""A type that is a tag, or its number."""
TAG_WORD = re.compile(r"O|[BIMELSUW]-\S+|\d+")
"""A word that is a tag or the number of a token; texts hold few."""


@dataclass(frozen=True)
class Remedy:
    """Options with which a source may be read: a format, and options of its reader."""

    format: str
    scheme: str | None = None
    column: str | None = None
    outside: str | None = None

    def __str__(self) -> str:
        outside = shlex.quote(self.outside) if self.outside else None
        options = {"--format": self.format, "--scheme": self.scheme, "--column": self.column, "--outside": outside}
        return " ".join(f"{flag} {value}" for flag, value in options.items() if value)

    def options(self, texts: Documents | None) -> ReadOptions:
        """Return the settings of reading; `texts` are gold's documents."""
        return ReadOptions(scheme=self.scheme, column=self.column, outside=self.outside, texts=texts)


def working_remedies(
    source: Source, remedies: Iterable[Remedy], read: Callable[[Source, Remedy], Reading]
) -> list[Remedy]:
    """Return the first remedies with which the source, or the head of a large one, reads plausibly."""
    part = _tried_part(source)
    return list(islice((remedy for remedy in remedies if _reads(part, remedy, read)), NAMED))


def _reads(source: Source, remedy: Remedy, read: Callable[[Source, Remedy], Reading]) -> bool:
    try:
        return not implausible(read(source, remedy))
    except FormatError:
        return False


def _tried_part(source: Source) -> Source:
    """Return the source where it is small, else whole lines of the heads of its first files."""
    if sum(file.origin.size() for file in source.files) <= TRIED_BYTES:
        return source
    heads = ((file.name, "\n".join(source.head_of(file).lines).encode()) for file in source.files[:TRIED_FILES])
    return Source.of_uploads(((name, raw) for name, raw in heads if raw), name=source.name)


def implausible(reading: Reading) -> str:
    """Return why a reading looks wrong: no span, a type that is a tag or has blanks, tags or markup as words.

    So does one whose spans cover all of its texts.
    """
    layer = reading.layer
    if not len(layer):
        return "no span"
    if tag := next((kind for kind in layer.types if TAG.fullmatch(kind) or any(map(str.isspace, kind))), ""):
        return f"a type that is a tag or has blanks: {tag}"
    words = list(islice(_words(reading.documents), WORDS))
    if 2 * sum(TAG_WORD.fullmatch(word) is not None for word in words) > len(words):
        return "tags or numbers read as words"
    if words and words[0].startswith(('{"', "[{", "<?xml")):
        return "markup read as words"
    # Spans may overlap: those of a text that is covered are as long together as its words, or longer.
    if int((layer.end - layer.start).sum()) >= sum(len("".join(text.split())) for text in layer.documents.texts):
        return "every word in a span"
    return ""


def _words(documents: Documents) -> Iterator[str]:
    for number, text in enumerate(documents.texts):
        if documents.tokens is None:
            yield from text.split()
        else:
            yield from (text[start:end] for start, end in documents.tokens.of_document(number))


ROOT = re.compile(r"<[^?!\s<>][^<>]*>")
"""The first element of XML, behind its declaration and comments."""
EXAMPLES = 3
"""The number of cells or keys that a message names."""
ROWS = 50
"""The rows of a table that are looked at."""
SHARE = 0.8
"""The share of rows, or of bytes, that must be alike."""
LONGEST_TYPE = 40
"""The most characters of a cell that may be a type."""
WIDE_BYTES = 1 << 12
"""The bytes by which UTF-16 is recognised."""
UNLETTERED = ("conll", "tokentable", "slashtags")
"""The formats whose tags may be types without letters."""
UNRECOGNISED = "the format cannot be recognised"
NO_WAY = "write it in a format that is read: see `nereval formats`"
"""The remedy where no option reads the source."""
TABLE_COLUMNS = f"of a table of spans, say its columns: {OPTION} document=NAME,start=NAME,end=NAME,type=NAME"
NATIVE = "write the native format, objects with id, text and spans"
KEYS = "name its keys (--keys text=KEY,spans=KEY,start=KEY,end=KEY,label=KEY; in the app under Format and reading)"


def begins_broken(file: SourceFile) -> bool:
    """Return whether the first value of a file of JSON cannot be read."""
    problems = ProblemList()
    next(items(file, problems), None)
    return bool(problems)


def unrecognised_problem(
    source: Source, formats: Sequence[str], keys: Collection[str], read: Callable[[Source, Remedy], Reading]
) -> FormatError:
    """Return the problem of a source that no reader claims, with the options by which it can be read all the same.

    `formats` are those whose signs the source has, `keys` those of its first JSON object, and `read` reads a source
    with the options of a remedy.
    """
    finding, advice = _describe_object(keys) if keys else _describe_source(source)
    working = working_remedies(source, _remedies(source, formats, keys), read)
    ways = [*filter(None, [advice]), *([f"read it by {', or by '.join(map(str, working))}"] if working else [])]
    if not keys:
        finding = f"{UNRECOGNISED}: {finding}" if finding else UNRECOGNISED
        ways += [TABLE_COLUMNS] if _has_number_columns("\n".join(source.head().lines)) else []
    return FormatError.single(source.name, None, finding, "; or ".join(ways) or NO_WAY)


def _remedies(source: Source, formats: Sequence[str], keys: Collection[str]) -> Iterator[Remedy]:
    """Yield the options that may read a source, the likeliest first."""
    nearest = nearest_shape(keys) if keys else None
    names = dict.fromkeys([*([nearest[0]] if nearest else []), *formats])
    yield from (Remedy(name) for name in names if name != "jsonl")
    yield from (Remedy(name, scheme="IO") for name in names if name in UNLETTERED)
    if "tokentable" in names:
        yield from (Remedy("tokentable", column=name) for name, _ in _tag_columns("\n".join(source.head().lines)))
    for name in OUTSIDE_FORMATS:
        if name in names:
            yield from (Remedy(name, outside=word) for word in _words_for_outside(source.head().lines))


def _words_for_outside(lines: Sequence[str]) -> Iterator[str]:
    """Yield what may mean outside in a column of tags with letters: the only other cell, and a frequent one."""
    rows, width, _ = sample_rows(lines)
    tables = [(rows, width)]
    for delimiter in (",", ";"):
        rows = first_rows("\n".join(lines), ROWS, delimiter) or [[]]
        tables.append((rows, len(rows[0])))
    for rows, width in tables:
        full = [row for row in rows[1:] if len(row) == width]
        for column in range(1, width):
            cells = Counter(row[column] for row in full)
            others = [cell for cell in cells if not is_tag(cell)]
            if len(others) == 1 < cells[others[0]] and len(cells) > 1:
                yield others[0]


def _describe_object(keys: Collection[str]) -> tuple[str, str]:
    """Return the finding and the remedy for an object of these keys."""
    nearest = nearest_shape(keys)
    named = _some(sorted(keys))
    if nearest is None or nearest[0] == "jsonl":
        return f"an object with {named} for keys, which no known format has", f"{KEYS}, or {NATIVE}"
    format, shape = nearest
    if shape.keys <= set(keys):
        return f"an object with the keys {named}, as '{format}' has them, whose values are not of its form", ""
    finding = f"an object with the keys {named}, which no format has so; the nearest is '{format}' with "
    return finding + ", ".join(sorted(shape.keys)), "write it so"


def _describe_source(source: Source) -> tuple[str, str]:
    """Describe a source in a few words, and return a remedy for it; both may be empty."""
    file = source.files[0]
    head = source.head_of(file)
    if wide := _wide(head.raw[:WIDE_BYTES]):
        return f"it looks like {wide} without a byte-order mark", f"save it as UTF-8{iconv_command(wide, file.shown)}"
    if b"\0" in head.raw[:WIDE_BYTES]:
        return "it is not text", ""
    lines, first = head.lines, head.first_line
    if first.lstrip().startswith("{") and not head.keys:
        return "an object without keys", NATIVE
    if first.startswith("<"):
        root = ROOT.search(head.text)
        return f"XML that begins {quoted(root[0] if root else first)}", ""
    for name, tags in _tag_columns("\n".join(lines)):
        examples = _some([tag for tag in dict.fromkeys(tags) if tag != "O"])
        way = "write one token and its tag a line, with a tab between and a blank line after each sentence"
        return f"a table of tokens, whose column {quoted(name)} holds {examples}", way
    rows, width, split = sample_rows(lines)
    full = [row for row in rows if len(row) == width]
    if width < 2 or len(full) < SHARE * len(rows) or len(full) < 2:
        other = next((at for at, line in enumerate(lines, 1) if line.strip() and len(split(line)) != width), 0)
        uneven = (
            f", and its line {other} has another number of columns than most, {width}"
            if other and len(full) > 1
            else ""
        )
        return (f"it begins {quoted(first)}{uneven}", "") if first else ("", "")
    if all(is_tag(row[0]) for row in full):
        return f"the first of {width} columns has the tags", "write the word first and its tag last in each row"
    by = "blanks" if split("a\tb") == split("a b") else "tabs"
    cells = Counter(row[-1] for row in full)
    finding = f"{width} columns split by {by}, the last holds {_some(list(cells))}"
    if "O" not in cells or any(len(cell) > LONGEST_TYPE or " " in cell for cell in cells):
        return finding, ""
    return finding, "write O, or a letter, '-' and a type, in the last column of all rows"


def _wide(head: bytes) -> str:
    """Return UTF-16LE or UTF-16BE where every other byte of plain letters is zero, else ""."""
    pairs = len(head) // 2
    for first, encoding in ((1, "UTF-16LE"), (0, "UTF-16BE")):
        zeros, others = (head[start : 2 * pairs : 2].count(0) for start in (first, 1 - first))
        if pairs >= 4 and zeros >= SHARE * pairs and not others:
            return encoding
    return ""


def _tag_columns(text: str) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield the columns of a table of tokens that hold tags: their names in its header, and their cells."""
    for delimiter in (",", ";"):
        header, *rows = first_rows(text, ROWS, delimiter) or [[]]
        full = [row for row in rows if len(row) == len(header)]
        if len(header) < 2 or len(full) < 2:
            continue
        for column, name in enumerate(header):
            tags = [row[column] for row in full]
            if any(tag != "O" for tag in tags) and sum(map(is_tag, tags)) >= SHARE * len(tags) and not is_tag(name):
                yield name, tags


def _has_number_columns(text: str) -> bool:
    """Return whether two columns of a table hold numbers, as starts and ends are."""
    for delimiter in DELIMITERS:
        _, *rows = first_rows(text, ROWS, delimiter) or [[]]
        width = max(map(len, rows), default=0)
        full = [row for row in rows if len(row) == width]
        numbered = [column for column in range(width) if all(NUMBER.fullmatch(row[column]) for row in full)]
        if width > 2 and len(numbered) >= 2:
            return True
    return False


def _some(texts: Iterable[str]) -> str:
    texts = list(texts)
    return ", ".join(map(quoted, texts[:EXAMPLES])) + (", …" if len(texts) > EXAMPLES else "")
