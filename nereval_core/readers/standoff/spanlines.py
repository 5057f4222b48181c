"""Lines that name a place in a text which stands elsewhere, as shared tasks have them: i2b2, ShARe, TAC KBP.

- i2b2/VA 2010, `.con` and `.ast`: `c="chest pain" 12:3 12:4||t="problem"`, lines from 1, words from 0, the last within.
- i2b2 2012, `.extent`: `EVENT="chest pain" 12:3 12:4||type="PROBLEM"||…`, TIMEX3 and SECTIME likewise.
- ShARe/CLEF 2013 and SemEval-2014: `d.txt||Disease_Disorder||C0000737||344||358`, more pairs are further pieces.
- SemEval-2015 task 14: `d.txt|344-358,361-366|C0000737|no|…`.
- TAC KBP: `run`, id, `Anna`, `d:10-13`, link, `PER`, `NAM` and score, tabs between; the last character is within.

Texts are the `.txt` (or `.text`) of the same name, in whatever folder, else those of gold.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
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

WORD, LINE = re.compile(r"\S+"), re.compile(r"[^\n]*\n?")
NUMBER = re.compile(r"[0-9]{1,12}")
OFFSETS = Offsets()
DISORDER = "Disease_Disorder"
TEXT_SUFFIXES = (".txt", ".text")
ANNOTATED = (".con", ".ast", ".extent", ".pipe")
LOOKED_AT = 20
"""The most files whose first lines are looked at."""
ENDINGS = re.compile(r"(?:\.pipe|\.xml)?\.(?:txt|text|con|ast|extent|pipe|xml|sgm|tab|tsv)$", re.IGNORECASE)


@dataclass(frozen=True)
class LineShape:
    """The lines of a task: `pattern` has groups for the document, the place and what else a span has.

    The place is in group `place`, or in `first` and `last` as `line:word`. `form` is what a line should be.
    """

    task: str
    pattern: re.Pattern[str]
    form: str
    counting: Offsets = OFFSETS

    def has(self, group: str) -> bool:
        return group in self.pattern.groupindex


WORDS = r'="(?P<quote>(?:(?!" [0-9]+:).)*)" (?P<first>[0-9]{1,9}:[0-9]{1,9}) (?P<last>[0-9]{1,9}:[0-9]{1,9})\|\|'
SHAPES = (
    LineShape(
        "i2b2 2010",
        re.compile("c" + WORDS + r't="(?P<type>[^"]*)"(?:\|\|a="(?P<assertion>[^"]*)")?\s*'),
        'c="words" LINE:WORD LINE:WORD||t="type"',
    ),
    LineShape(
        "i2b2 2012",
        re.compile("(?:EVENT|TIMEX3|SECTIME)" + WORDS + r'type="(?P<type>[^"]*)".*'),
        'EVENT="words" LINE:WORD LINE:WORD||type="type"',
    ),
    LineShape(
        "ShARe",
        re.compile(
            r"(?P<document>[^|\t]+)\|\|(?P<type>[^|]*)\|\|(?P<link>[^|]*)"
            r"(?P<place>(?:\|\|[0-9]{1,12}\|\|[0-9]{1,12}){1,99})(?:\|\|)?\s*"
        ),
        "DOCUMENT.txt||type||concept||start||end",
    ),
    LineShape(
        "SemEval-2015 task 14",
        re.compile(
            r"(?P<document>[^|\t]+)\|(?P<place>[0-9]{1,12}-[0-9]{1,12}(?:,[0-9]{1,12}-[0-9]{1,12}){0,99})"
            r"\|(?P<link>[^|]*)(?:\|.*)?"
        ),
        "DOCUMENT.txt|start-end|concept|…",
    ),
    LineShape(
        "TAC KBP",
        re.compile(
            r"[^\t]*\t(?P<id>[^\t]*)\t(?P<quote>[^\t]*)\t(?P<document>[^\t]+):(?P<place>[0-9]{1,12}-[0-9]{1,12})"
            r"\t(?P<link>[^\t]*)\t(?P<type>[^\t]*)(?:\t(?P<mention>[^\t]*)(?:\t(?P<score>[^\t]*).*)?)?"
        ),
        "run, id, words, DOCUMENT:start-end, link, type, NAM or NOM and score, with tabs between",
        Offsets(inclusive=True),
    ),
)
"""The lines that are read; the first that a file's first line is of is that of the source."""


class SpanLinesReader(Reader):
    name = "spanlines"
    description = "lines of i2b2 2010, ShARe or TAC KBP, with their texts beside or in gold"

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
            finding = "no line of i2b2 2010, ShARe or TAC KBP"
            raise FormatError.single(source.files[0].shown, None, finding, f"write {SHAPES[0].form}, or as they do")
        files = [file for file in source.files if _is_annotated(file, source, shape)]
        files = [file for file in files if file.suffix == ".con"] or files
        builder = Builder(source.name)
        rows: dict[str, list[_Row]] = {} if shape.has("document") else {_plain_name(file.name): [] for file in files}
        for file in files:
            _add_rows(file, shape, rows, builder)
        texts = _texts(source, files, builder)
        gold, notes = None if texts else options.texts, [f"lines of {shape.task}"]
        names = list(texts)
        if gold is not None:
            names = [name for name in gold.ids if shape.has("document") or name in rows]
            if shape.has("document"):
                notes += rowless_note(gold, [number for number, name in enumerate(gold.ids) if name not in rows])
        elif bare_texts := sum(name not in rows for name in texts):
            notes.append(f"texts without spans, documents without spans: {bare_texts}")
        for name in dict.fromkeys((*names, *rows)):
            text, row = None, next(iter(rows.get(name, ())), None)
            if name in texts:
                text = texts[name].text(keep_bom=True)
            elif gold is not None and name in gold.index:
                text = gold.texts[gold.index[name]]
            source_name, line = (row.source, row.line) if row else (files[0].shown, None)
            if text is not None:
                shown = texts[name].shown if name in texts else source_name
                builder.document(name, text, source=shown)
                _add_spans(rows.get(name, ()), text, shape, builder)
            elif row is not None or options.texts is None:
                remedy = f"put {quoted(f'{name}.txt')} beside it, or score it against gold that has the text"
                builder.problem(line, f"no text for the document {quoted(name)}", remedy, source=source_name)
        notes += unread_files_note(source, [*files, *texts.values()])
        return reading_in_code_points(
            *(builder, source, options, self.name),
            expected=shape.counting,
            fixed=shape.has("first"),
            alike=_alike,
            notes=notes,
        )


READER = SpanLinesReader()


@dataclass(frozen=True, slots=True)
class _Row:
    """A line of a span, with its file and number."""

    source: str
    line: int
    match: re.Match[str]


def _shape(source: Source) -> LineShape | None:
    """Return the shape of the first lines of the first files that have one."""
    files = sorted(source.files, key=lambda file: file.suffix in TEXT_SUFFIXES)[:LOOKED_AT]
    lines = [source.head_of(file).first_line for file in files]
    return next((shape for line in lines for shape in SHAPES if shape.pattern.fullmatch(line)), None)


def _is_annotated(file: SourceFile, source: Source, shape: LineShape) -> bool:
    """Return whether a file is of spans: its first line is, or it is called so; where none was found it is empty."""
    if file.suffix in ANNOTATED or file.name.lower().endswith(".pipe.txt"):
        return True
    return shape.pattern.fullmatch(source.head_of(file).first_line) is not None


def _texts(source: Source, files: Sequence[SourceFile], builder: Builder) -> dict[str, SourceFile]:
    """Return the files of texts by the names of documents; a second one of a name goes to the problems."""
    texts: dict[str, SourceFile] = {}
    for file in source.files:
        if file.suffix in TEXT_SUFFIXES and file not in files:
            name = _plain_name(file.name)
            if name in texts:
                finding = f"a second text called {quoted(name)}, beside {texts[name].shown}"
                builder.problem(None, finding, "give each text its own name", source=file.shown)
            texts.setdefault(name, file)
    return texts


def _add_rows(file: SourceFile, shape: LineShape, rows: dict[str, list[_Row]], builder: Builder) -> None:
    """Add the lines of a file by their documents; others go to the problems."""
    for number, line in enumerate(file.lines(), start=1):
        if not line or line.isspace():
            continue
        match = shape.pattern.fullmatch(line)
        if match is None:
            builder.problem(number, f"{quoted(line)} is not a span", f"write it as {shape.form}", source=file.shown)
            continue
        name = _plain_name(match["document"] if shape.has("document") else file.name)
        rows.setdefault(name, []).append(_Row(file.shown, number, match))


def _add_spans(rows: Sequence[_Row], text: str, shape: LineShape, builder: Builder) -> None:
    words = _words(text) if shape.has("first") and rows else []
    for row in rows:
        groups = row.match.groupdict()
        if shape.has("first"):
            parts = _parts_of_words(row, text, words, builder)
        else:
            numbers = [int(number) for number in NUMBER.findall(groups["place"])]
            parts = tuple(zip(numbers[::2], numbers[1::2], strict=True))
        if not parts:
            continue
        link = (groups.get("link") or "").strip().replace("CUI-less", "NIL")
        builder.span(
            parts[0][0],
            parts[-1][1],
            groups.get("type") or DISORDER,
            line=row.line,
            source=row.source,
            quote=None if shape.has("first") else groups.get("quote"),
            fragments=parts if len(parts) > 1 else (),
            id=groups.get("id") or None,
            links=(link,) if link else (),
            score=parse_score(groups.get("score")),
            meta={key: groups[key] for key in ("assertion", "mention") if groups.get(key)},
        )


def _words(text: str) -> list[list[tuple[int, int]]]:
    """Return the starts and ends of the words of each line."""
    return [[word.span() for word in WORD.finditer(text, *line.span())] for line in LINE.finditer(text)]


def _parts_of_words(
    row: _Row, text: str, words: Sequence[Sequence[tuple[int, int]]], builder: Builder
) -> tuple[tuple[int, int], ...]:
    """Return the place of a span by its first and last words; one that is not in the text goes to the problems."""
    bounds: list[int] = []
    for side in ("first", "last"):
        line, word = map(int, row.match[side].split(":"))
        if not 0 < line <= len(words) or word >= len(words[line - 1]):
            finding = f"no word {word} in line {line} of the text"
            remedy = "count lines from 1 and words, between blanks, from 0"
            break
        bounds += words[line - 1][word]
    else:
        # Concepts stand in small letters there, and pieces of several lines with a blank between.
        if _alike(quote := text[bounds[0] : bounds[3]]).lower() == _alike(row.match["quote"]).lower():
            return ((bounds[0], bounds[3]),)
        finding = "the words are {}, where {} stands".format(*quoted_apart(row.match["quote"], quote))
        remedy = "mend the words, or the lines and words counted"
    builder.problem(row.line, finding, remedy, source=row.source)
    return ()


def _plain_name(path: str) -> str:
    """Return the name of a document: that of its file, without folders and endings."""
    return ENDINGS.sub("", PurePosixPath(path).name)


def _alike(quote: str) -> str:
    return " ".join(quote.split())
