"""The problem of a source that no reader recognises: what it looks like, and the options that read it all the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

from nereval_core.problems import FormatError, Problem, quoted
from nereval_core.readers.conll.layout import is_tag, sample_rows
from nereval_core.readers.input.encodings import iconv_command
from nereval_core.readers.input.source import Source, SourceFile
from nereval_core.readers.read_settings import Reading
from nereval_core.readers.recognition.remedies import OUTSIDE_FORMATS, Remedy, working_remedies
from nereval_core.readers.recognition.signs import SHAPES, nearest_shape
from nereval_core.readers.shared.strict_json import items
from nereval_core.readers.shared.table_columns import DELIMITERS, NUMBER, OPTION, first_rows

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


def is_native_slip(keys: Collection[str]) -> bool:
    """Return whether an object of these keys is meant for the native format: it has spans, or all keys but one."""
    native = SHAPES["jsonl"][0].keys
    return "spans" in keys or (len(set(keys) & native) > 1 and len(set(keys) - native) <= 1)


def begins_broken(file: SourceFile) -> bool:
    """Return whether the first value of a file of JSON cannot be read."""
    problems: list[Problem] = []
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
        return f"an object with {named} for keys, which no known format has", NATIVE
    format, shape = nearest
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
        return f"XML that begins {quoted(first)}", ""
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
