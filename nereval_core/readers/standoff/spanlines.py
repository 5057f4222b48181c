"""Lines that name a place in a text which stands elsewhere, as shared tasks have them: i2b2, ShARe, TAC KBP.

- i2b2/VA 2010, `.con` and `.ast`: `c="chest pain" 12:3 12:4||t="problem"`, lines from 1, words from 0, the last within.
- i2b2 2009: `m="aspirin" 12:3 12:3||do="nm"||r="chest pain" 13:0 13:1||…`, a span for each field that has a place.
- i2b2 2012, `.extent`: `EVENT="chest pain" 12:3 12:4||type="PROBLEM"||…`, TIMEX3 and SECTIME likewise.
- ShARe/CLEF 2013 and SemEval-2014: `d.txt||Disease_Disorder||C0000737||344||358`, more pairs are further pieces.
- SemEval-2015 task 14: `d.txt|344-358,361-366|C0000737|no|…`.
- TAC KBP: `run`, id, `Anna`, `d:10-13`, link, `PER`, `NAM` and score, tabs between; the last character is within.

Texts are the `.txt` (or `.text`) of the same name, in whatever folder, else those of gold.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from nereval_core.corpus.builder import Builder
from nereval_core.problems import FormatError, quoted, quoted_apart
from nereval_core.readers import Reader, Reading, ReadOptions, Source
from nereval_core.readers.input.source import SourceFile, unread_files_note
from nereval_core.readers.shared.layer_parts import rowless_note
from nereval_core.readers.shared.offset_conversion import reading_in_code_points
from nereval_core.readers.shared.offset_units import Offsets
from nereval_core.readers.shared.table_columns import parse_score

WORD, LINE, NUMBER = re.compile(r"\S+"), re.compile(r"[^\n]*\n?"), re.compile(r"[0-9]{1,12}")
TEXT_SUFFIXES = (".txt", ".text")
ANNOTATED = (".con", ".ast", ".extent", ".entries", ".pipe", ".pipe.txt")
Fields = Mapping[str, str | None]
"""What a line says of a span. Its place is in `place` as characters, or in `words` as pairs of `line:word`."""
Row = tuple[str, int, Fields]
"""The file, the line and the fields of a span."""
Pieces = tuple[tuple[int, int], ...]
LOOKED_AT = 20
"""The most files whose first lines are looked at."""
ENDINGS = re.compile(
    r"(?:\.pipe|\.xml|\.i2b2)?\.(?:txt|text|con|entries|ast|extent|pipe|xml|sgm|tab|tsv)$", re.IGNORECASE
)


@dataclass(frozen=True)
class LineShape:
    """The lines of a task: `spans` reads a line, None where it is another; `form` is what a line should be."""

    task: str
    spans: Callable[[str], Sequence[Fields] | None]
    form: str
    names_documents: bool = True
    is_inclusive: bool = False


def _pattern(pattern: str) -> Callable[[str], Sequence[Fields] | None]:
    compiled = re.compile(pattern)
    return lambda line: [match.groupdict()] if (match := compiled.fullmatch(line)) else None


def _fields_of_i2b2(line: str) -> Sequence[Fields] | None:
    """Return the spans of a line of i2b2: one of the type that it states, or one for each field with a place (2009)."""
    matches = [FIELD.fullmatch(field) for field in line.rstrip().split("||")]
    fields = [match.groupdict() for match in matches if match]
    if len(fields) < len(matches) or fields[0]["key"] not in ("c", "m", "EVENT", "TIMEX3", "SECTIME"):
        return None
    stated = {field["key"]: field["quote"] for field in fields}
    kind = stated.get("t") or stated.get("type")
    spans = [
        {**field, "type": kind or field["key"], "assertion": stated.get("a")} for field in fields if field["words"]
    ]
    # A line of a relation has two places.
    return spans if (len(spans) == 1 if kind else "m" in stated) else None


FIELD = re.compile(r'(?P<key>\w+)="(?P<quote>.*)"(?P<words>(?:,? ?[0-9]{1,9}:[0-9]{1,9} [0-9]{1,9}:[0-9]{1,9}){0,9})')
SHAPES = (
    LineShape("i2b2", _fields_of_i2b2, 'c="words" LINE:WORD LINE:WORD||t="type"', names_documents=False),
    LineShape(
        "ShARe",
        _pattern(
            r"(?P<document>[^|\t]+)\|\|(?P<type>[^|]*)\|\|(?P<link>[^|]*)"
            r"(?P<place>(?:\|\|[0-9]{1,12}\|\|[0-9]{1,12}){1,99})(?:\|\|)?\s*"
        ),
        "DOCUMENT.txt||type||concept||start||end",
    ),
    LineShape(
        "SemEval-2015 task 14",
        _pattern(
            r"(?P<document>[^|\t]+)\|(?P<place>[0-9]{1,12}-[0-9]{1,12}(?:,[0-9]{1,12}-[0-9]{1,12}){0,99})"
            r"\|(?P<link>[^|]*)(?:\|.*)?"
        ),
        "DOCUMENT.txt|start-end|concept|…",
    ),
    LineShape(
        "TAC KBP",
        _pattern(
            r"[^\t]*\t(?P<id>[^\t]*)\t(?P<quote>[^\t]*)\t(?P<document>[^\t]+):(?P<place>[0-9]{1,12}-[0-9]{1,12})"
            r"\t(?P<link>[^\t]*)\t(?P<type>[^\t]*)(?:\t(?P<mention>[^\t]*)(?:\t(?P<score>[^\t]*).*)?)?"
        ),
        "run, id, words, DOCUMENT:start-end, link, type, NAM or NOM and score, with tabs between",
        is_inclusive=True,
    ),
)
"""The lines that are read; the first that a file's first line is of is that of the source."""


class SpanLinesReader(Reader):
    name = "spanlines"
    description = "lines of i2b2, ShARe or TAC KBP, with their texts beside or in gold"

    def recognise(self, source: Source) -> float:
        """Claim a source with a file whose first line is of a task."""
        return 1.0 if _shape(source) else 0.0

    def read(self, source: Source, options: ReadOptions) -> Reading:
        """Read the spans of all files; `.ast` files, which say more of the spans in `.con` files, where these lack.

        Raises:
            FormatError: with every problem found.
        """
        shape = _shape(source)
        if shape is None:
            for file in source.files[:LOOKED_AT]:
                # Text in another encoding looks like no task.
                file.text()
            finding, remedy = "no line of i2b2, ShARe or TAC KBP", f"write {SHAPES[0].form}, or as they do"
            raise FormatError.single(source.files[0].shown, None, finding, remedy)
        shaped = (file for file in source.files if shape.spans(source.head_of(file).first_line))
        # A file without a span is known by its name.
        named = {file for file in source.files if file.name.lower().endswith(ANNOTATED)} | set(shaped)
        files = [file for file in source.files if file in named]
        files = [file for file in files if file.suffix == ".con"] or files
        builder = Builder(source.name)
        rows: dict[str, list[Row]] = {} if shape.names_documents else {_plain_name(file.name): [] for file in files}
        for file in files:
            _add_rows(file, shape, rows, builder)
        text_files = _texts(source, files, rows, builder)
        texts = {name: file.text(keep_bom=True) for name, file in text_files.items()}
        notes, gold = [f"lines of {shape.task}"], options.texts
        if not texts and gold is not None:
            of_gold = zip(gold.ids, gold.texts, strict=True)
            texts = {name: text for name, text in of_gold if shape.names_documents or name in rows}
            if shape.names_documents:
                notes += rowless_note(gold, [number for number, name in enumerate(gold.ids) if name not in rows])
        elif n_bare := sum(name not in rows for name in texts):
            notes.append(f"texts without spans, documents without spans: {n_bare}")
        for name in dict.fromkeys((*texts, *rows)):
            spans = rows.get(name, ())
            place, line = spans[0][:2] if spans else (files[0].shown, None)
            if name in texts:
                builder.document(name, texts[name], source=text_files[name].shown if name in text_files else place)
                _add_spans(spans, texts[name], builder)
            elif spans or gold is None:
                remedy = f"put {quoted(f'{name}.txt')} beside it, or score it against gold that has the text"
                builder.problem(line, f"no text for the document {quoted(name)}", remedy, source=place)
        notes += unread_files_note(source, [*files, *text_files.values()])
        expected, fixed = Offsets(inclusive=shape.is_inclusive), not shape.names_documents
        counting = (builder, source, options, self.name)
        return reading_in_code_points(*counting, expected=expected, fixed=fixed, alike=_alike, notes=notes)


READER = SpanLinesReader()


def _shape(source: Source) -> LineShape | None:
    """Return the shape of the first lines of the first files that have one."""
    files = sorted(source.files, key=lambda file: file.suffix in TEXT_SUFFIXES)
    lines = [source.head_of(file).first_line for file in files[:LOOKED_AT]]
    return next((shape for line in lines for shape in SHAPES if shape.spans(line)), None)


def _texts(source: Source, files: list[SourceFile], rows: Container[str], builder: Builder) -> dict[str, SourceFile]:
    """Return the files of texts by the names of documents; a second one of a name goes to the problems."""
    texts: dict[str, SourceFile] = {}
    for file in source.files:
        name = _plain_name(file.name)
        # Texts of i2b2 2009 have no ending.
        if file not in files and file.suffix in (TEXT_SUFFIXES if name not in rows else (*TEXT_SUFFIXES, "")):
            if name in texts:
                finding = f"a second text called {quoted(name)}, beside {texts[name].shown}"
                builder.problem(None, finding, "give each text its own name", source=file.shown)
            texts.setdefault(name, file)
    return texts


def _add_rows(file: SourceFile, shape: LineShape, rows: dict[str, list[Row]], builder: Builder) -> None:
    """Add the lines of a file by their documents; others go to the problems."""
    for number, line in enumerate(file.lines(), start=1):
        spans = shape.spans(line) if line and not line.isspace() else ()
        if spans is None:
            builder.problem(number, f"{quoted(line)} is not a span", f"write it as {shape.form}", source=file.shown)
        for fields in spans or ():
            name = _plain_name(fields.get("document") or file.name)
            rows.setdefault(name, []).append((file.shown, number, fields))


def _add_spans(rows: Sequence[Row], text: str, builder: Builder) -> None:
    by_words = any("words" in fields for *_, fields in rows)
    # The starts and ends of the words of each line.
    lines = [[word.span() for word in WORD.finditer(text, *line.span())] for line in LINE.finditer(text) if by_words]
    for row in rows:
        source, line_number, fields = row
        numbers = [int(number) for number in NUMBER.findall(fields.get("place") or fields.get("words") or "")]
        parts: Pieces = tuple(zip(numbers[::2], numbers[1::2], strict=True))
        if by_words and not (parts := _parts_of_words(row, text, parts, lines, builder)):
            continue
        link = (fields.get("link") or "").strip().replace("CUI-less", "NIL")
        builder.span(
            *(parts[0][0], parts[-1][1], fields.get("type") or "Disease_Disorder"),
            line=line_number,
            source=source,
            quote=None if by_words else fields.get("quote"),
            fragments=parts if len(parts) > 1 else (),
            id=fields.get("id") or None,
            links=(link,) if link else (),
            score=parse_score(fields.get("score")),
            meta={key: fields[key] for key in ("assertion", "mention") if fields.get(key)},
        )


def _parts_of_words(
    row: Row, text: str, places: Pieces, lines: Sequence[Sequence[tuple[int, int]]], builder: Builder
) -> Pieces:
    """Return the pieces of a span, each from a line and word to another; none, with a problem, where they are not."""
    bounds: list[tuple[int, int]] = []
    for line, word in places:
        if not 0 < line <= len(lines) or word >= len(lines[line - 1]):
            finding = f"no word {word} in line {line} of the text"
            remedy = "count lines from 1 and words, between blanks, from 0"
            break
        bounds.append(lines[line - 1][word])
    else:
        parts = tuple((first[0], last[1]) for first, last in zip(bounds[::2], bounds[1::2], strict=True))
        # Concepts stand in small letters there, and pieces of several lines with a blank between.
        quote, words = row[2]["quote"] or "", " ".join(text[start:end] for start, end in parts)
        if _alike(words).lower() == _alike(quote.replace("...", " ") if len(parts) > 1 else quote).lower():
            return parts
        finding = "the words are {}, where {} stands".format(*quoted_apart(quote, words))
        remedy = "mend the words, or the lines and words counted"
    builder.problem(row[1], finding, remedy, source=row[0])
    return ()


def _plain_name(path: str) -> str:
    """Return the name of a document: that of its file, without folders and endings."""
    return ENDINGS.sub("", PurePosixPath(path).name)


def _alike(quote: str) -> str:
    return " ".join(quote.split())
