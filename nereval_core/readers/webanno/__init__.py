"""WebAnno TSV 3.1 to 3.3, as WebAnno and INCEpTION export it: a document a file, one layer of its spans.

Offsets are UTF-16 units, which the tokens are held against. The layer `NamedEntity` is read, or the one there is
besides those that say something of tokens, or the one asked for; its feature `label` or `value`, or the first, gives
types, and `identifier` links. Where files lie as in the export of a project, `DOCUMENT.txt/ANNOTATOR.tsv`, each
annotator has a layer. See INCEpTION's user guide, "WebAnno TSV 3.3 File format".
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from nereval_core.corpus import Documents, Intervals, Place, document_problems, layer
from nereval_core.problems import FormatError, Problem, ProblemList, quoted, quoted_apart
from nereval_core.readers import Reader, Reading, ReadOptions, Source, select_layer
from nereval_core.readers.cas.content import SEPARATOR, layer_names, ranked_annotators, short_name
from nereval_core.readers.input.source import unread_files_note, with_progress
from nereval_core.readers.shared.offset_units import (
    UNITS,
    ConvertedSpans,
    CountedSpans,
    Offsets,
    code_points,
    convert_offsets,
)
from nereval_core.readers.shared.tag_cells import is_gold_word, is_named_like_prediction
from nereval_core.readers.webanno.rows import (
    FORMAT,
    SpanLayer,
    TokenLine,
    WebAnnoFile,
    assemble_text,
    is_old_version,
    parse_webanno,
    truncation_problems,
)

ENTITIES = "NamedEntity"
OF_TOKENS = ("lexmorph.type", "segmentation.type", "syntax.type", "transform.type")
"""Packages of layers that say something of each token, and are read where they are named only."""
EXPORTED = re.compile(r"(?:.*/)?(?:annotation|curation)/([^/]+)/([^/]+)|([^/]+\.[A-Za-z0-9]{1,5})/([^/]+)")
"""The place of a file in a project's export: below its document, under the annotator's name."""


class WebannoReader(Reader):
    name = "webanno"
    description = "WebAnno TSV 3 of WebAnno and INCEpTION: a document a file, one of its layers of spans"
    suffixes = (".tsv",)
    has_columns = True
    has_layers = True

    def recognise(self, source: Source) -> float:
        """Claim a source where the first line says so; WebAnno TSV 1 and 2 are claimed too, to be refused."""
        lines = source.head(*self.suffixes).lines
        return 1.0 if lines[0].startswith(FORMAT) else 0.95 if is_old_version(lines) else 0.0

    def layers(self, source: Source, options: ReadOptions) -> tuple[str, ...]:
        """Return the annotators where there are several, else the layers that may be meant where these are several.

        Raises:
            FormatError: with every problem found.
        """
        by_annotator = _by_annotator(source)
        meant = _meant(_names([rows for files in by_annotator.values() for _, rows in files]))
        if len(by_annotator) == 1:
            return tuple(meant) if len(meant) > 1 else ()
        if len(meant) < 2:
            return tuple(by_annotator)
        return tuple(f"{annotator}{SEPARATOR}{name}" for annotator in by_annotator for name in meant)

    def read(self, source: Source, options: ReadOptions) -> Reading:
        """Read one layer of all files, of one annotator; `options.column` names the feature that gives types.

        Raises:
            FormatError: with every problem found; several layers or annotators, and none is named.
        """
        by_annotator = _by_annotator(source, options.progress)
        layer_name, annotator = options.layer or "", next(iter(by_annotator))
        named, _, within = layer_name.partition(SEPARATOR)
        if len(by_annotator) > 1 or named in by_annotator:
            annotator = select_layer(source, named or None, tuple(by_annotator))
            layer_name = within
        names, files = zip(*by_annotator[annotator], strict=True)
        full_name = _chosen(source, files, layer_name or None, f"{annotator}{SEPARATOR}" if annotator else "")
        notes = unread_files_note(source, source.pick(*self.suffixes))
        by_file, layer_notes = _annotations(files, full_name, options.column)
        texts, sentences, converted = _texts(files, options.offsets)
        doc = np.repeat(np.arange(len(files)), list(map(len, by_file)))
        flat = [annotation for annotations in by_file for annotation in annotations]
        begin = np.array([annotation.begin for annotation in flat], np.int64)
        end = np.array([annotation.end for annotation in flat], np.int64)

        def where(span: int) -> Place:
            return files[doc[span]].file.shown, flat[span].row.line

        places = tuple((rows.file.shown, 1) for rows in files)
        documents = Documents(names, tuple(texts), _tokens(files, converted), Intervals.of(sentences))
        spans = layer(
            options.name or source.label,
            documents,
            doc,
            *convert_offsets(CountedSpans(doc, begin, end, {}, where), texts, converted.counting),
            [annotation.label for annotation in flat],
            extras={"links": {span: (annotation.link,) for span, annotation in enumerate(flat) if annotation.link}},
            where=where,
            problems=document_problems(documents, places.__getitem__),
        )
        notes += [*layer_notes, *_others(files, full_name), *filter(None, [converted.note])]
        return Reading(documents, spans, self.name, tuple(notes), places=places)


READER = WebannoReader()


def _by_annotator(
    source: Source, progress: Callable[[int, int], None] | None = None
) -> dict[str, list[tuple[str, WebAnnoFile]]]:
    """Return the files of each annotator with the ids of their documents; without a project's folders "" has all.

    Raises:
        FormatError: with every problem found.
    """
    files = source.pick(*WebannoReader.suffixes)
    problems = ProblemList()
    files_of_annotator: dict[str, list[tuple[str, WebAnnoFile]]] = {}
    below = [EXPORTED.fullmatch(file.stem) for file in files]
    pairs = [[*filter(None, match.groups())] for match in below if match]
    if len(pairs) < len(files):
        pairs = [[file.stem, ""] for file in files]
    # A document is called by the name of its file, without the suffix unless another has the same.
    bases = {name: name.rpartition(".")[0] or name for name, annotator in pairs if annotator}
    counts = Counter(bases.values())
    for file, (name, annotator) in with_progress(tuple(zip(files, pairs, strict=True)), progress):
        rows = parse_webanno(file, problems)
        if rows is not None:
            base = bases.get(name, name)
            files_of_annotator.setdefault(annotator, []).append((name if counts[base] > 1 else base, rows))
    if problems:
        raise FormatError(problems)
    return {name: files_of_annotator[name] for name in ranked_annotators(files_of_annotator)}


def _names(files: Sequence[WebAnnoFile]) -> dict[str, str]:
    """Return the full names of the layers of spans by what to call them: their last part where no other has it."""
    full = dict.fromkeys(layer.name for rows in files for layer in rows.layers if layer.features)
    return dict(zip(layer_names(full), full, strict=True))


def _meant(names: Mapping[str, str]) -> dict[str, str]:
    """Return the layers that may be meant where none is named: NamedEntity, or all but those of tokens."""
    if ENTITIES in names:
        return {ENTITIES: names[ENTITIES]}
    return {name: full for name, full in names.items() if not any(f".{package}." in full for package in OF_TOKENS)}


def _chosen(source: Source, files: Sequence[WebAnnoFile], layer_name: str | None, prefix: str) -> str | None:
    """Return the full name of the layer to be read, None where no file has one that may be meant.

    `prefix` stands before the names that problems give.

    Raises:
        FormatError: several may be meant, or none has that name.
    """
    names = _names(files)
    if layer_name in names.values():
        return layer_name
    candidates = _meant(names) if layer_name is None else names
    if not candidates and layer_name is None:
        return None
    offered = tuple(f"{prefix}{name}" for name in candidates)
    return candidates[select_layer(source, layer_name and f"{prefix}{layer_name}", offered).removeprefix(prefix)]


def _annotations(
    files: Sequence[WebAnnoFile], name: str | None, column: int | str | None
) -> tuple[list[list[CellAnnotation]], list[str]]:
    """Return the annotations of a layer, file by file, and notes on them.

    Raises:
        FormatError: with every problem found.
    """
    problems = ProblemList()
    counts: Counter[str] = Counter()
    sources: dict[str, None] = {}
    annotations_of_files: list[list[CellAnnotation]] = []
    for rows in files:
        declared = rows.layer(name or "")
        annotations_of_files.append([])
        if declared is None:
            continue
        feature = type_feature(declared, column)
        if feature is None:
            finding = f"the layer {declared.short} has no feature {quoted(str(column))}"
            remedy = f"choose among {', '.join(map(quoted, declared.features))}"
            problems.append(Problem(rows.file.shown, None, finding, remedy))
            continue
        linked = f", links from {LINK}" if feature != LINK and LINK in declared.features else ""
        sides = [name for name in declared.features if is_gold_word(name) or is_named_like_prediction(name)]
        if column is None and {*sides} - {feature}:
            first, second, *_ = dict.fromkeys((feature, *sides))
            finding = f"the features {quoted(first)} and {quoted(second)} of {declared.short} may both give types"
            remedy = f"name one: --column {first}, or by side --gold-column {first} --pred-column {second}"
            problems.append(Problem(rows.file.shown, None, finding, remedy))
            continue
        sources[(f"its feature {feature}" if feature else "its name") + linked] = None
        annotations_of_files[-1] = annotations_of_layer(rows, declared, feature, counts, problems)
    if problems:
        raise FormatError(problems)
    notes = [f"spans of the layer {short_name(name or '')}, types from {origin}" for origin in sources]
    if name is None:
        notes.append("no layer of spans but those of tokens: name one after the path, as FILE#POS")
    return annotations_of_files, notes + [f"{what}: {count}" for what, count in sorted(counts.items()) if count]


def _others(files: Sequence[WebAnnoFile], full_name: str | None) -> list[str]:
    """Return a note on the layers that are not read."""
    others = dict.fromkeys(
        name
        for rows in files
        for name in (*(layer.short for layer in rows.layers if layer.name != full_name), *rows.others)
    )
    return [f"other layers, not read: {', '.join(others)}"] if others else []


def _texts(
    files: Sequence[WebAnnoFile], named: Offsets | None
) -> tuple[list[str], list[list[tuple[int, int]]], ConvertedSpans]:
    """Return texts, their sentences, and where the rows that cover something are, in the unit that tokens fit.

    Raises:
        FormatError: the tokens fit no unit, or a sentence lacks its last ones.
    """
    rows = [(number, row) for number, file in enumerate(files) for row in file.rows if row.begin < row.end]
    columns = np.array([(number, row.begin, row.end) for number, row in rows], np.int64).reshape(-1, 3)
    quotes = {at: row.fields[2] for at, (_, row) in enumerate(rows)}

    def where(at: int) -> Place:
        return files[rows[at][0]].file.shown, rows[at][1].line

    numbers, begins, ends = columns.T
    marked = CountedSpans(numbers, begins, ends, quotes, where)
    failed: list[FormatError] = []
    for counting in [named] if named else [Offsets(unit) for unit in (UNITS[1], UNITS[0], UNITS[2])]:
        problems = ProblemList()
        try:
            assembled = [assemble_text(file, counting, problems) for file in files]
            texts = [text for text, _ in assembled]
            if problems:
                raise FormatError(problems)
            converted = code_points(marked, texts, expected=counting, stated=counting)
            problems += (problem for file in files for problem in truncation_problems(file, counting))
            if problems:
                raise FormatError(problems)
            return texts, [bounds for _, bounds in assembled], converted
        except FormatError as error:
            failed.append(error)
    raise failed[0]


def _tokens(files: Sequence[WebAnnoFile], converted: ConvertedSpans) -> Intervals | None:
    """Return the tokens of documents, in code points."""
    places = zip(converted.start.tolist(), converted.end.tolist(), strict=True)
    tokens_of_files = [[(next(places), row.part) for row in file.rows if row.begin < row.end] for file in files]
    if not any(tokens_of_files):
        return None
    return Intervals.of([[place for place, part in rows if not part] for rows in tokens_of_files])


TYPES, LINK = ("label", "value"), "identifier"
"""Features by the names they usually have."""
NOTHING, EMPTY = "_", "*"
"""No annotation in a cell, and one without a value."""
STACKED = re.compile(r"(?:\A|\|)((?:\\.|[^|\\]|\\\Z)*)", re.DOTALL)
NUMBERED = re.compile(r"((?:\\.|[^\\]|\\\Z)*?)(?:\[([0-9]{1,9})\])?", re.DOTALL)
ESCAPED = re.compile(r"\\(.)", re.DOTALL)
CONTROL = {"t": "\t", "n": "\n"}


@dataclass(slots=True)
class CellAnnotation:
    """A span of a layer, offsets as the file counts; it was met first in `row`, last in `last`."""

    row: TokenLine
    last: TokenLine
    begin: int
    end: int
    label: str
    link: str | None


class CellValue(NamedTuple):
    """Value of one annotation in a cell (None: none), and its number where it has one."""

    text: str | None
    number: str | None


def type_feature(layer: SpanLayer, column: int | str | None) -> str | None:
    """Return the feature that gives types: `column` by its name or number from 1, else one of TYPES, else the first.

    None where there is no such feature.
    """
    names = list(layer.features)
    if isinstance(column, int):
        return names[column - 1] if 0 < column <= len(names) else None
    if column is None:
        column = next((name for name in TYPES if name in names), names[0])
    return column if column in names else None


def annotations_of_layer(
    rows: WebAnnoFile, layer: SpanLayer, feature: str, counts: Counter[str], problems: list[Problem]
) -> list[CellAnnotation]:
    """Return the annotations of a layer in the order in which they begin, their types from one of its features.

    One without a value is called as the layer is. What is left out, filled in or assumed goes to the counts.
    """
    place = layer.features[feature]
    link = layer.features.get(LINK) if feature != LINK else None
    name = layer.short
    annotations: list[CellAnnotation] = []
    joined: dict[str, CellAnnotation] = {}
    for row in rows.rows:
        cell = row.fields[place]
        beside = cell if link is None else row.fields[link]
        if cell == beside == NOTHING:
            continue
        values = _values(cell)
        links = values if link is None else _values(beside)
        if NOTHING in (cell, beside) or [value.number for value in values] != [value.number for value in links]:
            finding = f"{quoted(cell)} and {quoted(beside)} in two columns of {name}"
            problems.append(Problem(rows.file.shown, row.line, finding, "write as many values, with the same numbers"))
            continue
        for (value, number), (linked, _) in zip(values, links, strict=True):
            annotation = CellAnnotation(row, row, row.begin, row.end, value or name, None if link is None else linked)
            if not value and number not in joined:
                counts[f"annotations without a value, called {quoted(name)}"] += 1
            if number in joined:
                finding = _extended(joined[number], annotation, counts)
                if finding:
                    remedy = "give each annotation its own number, and one value in all of its rows"
                    problems.append(Problem(rows.file.shown, row.line, f"[{number}] {finding}", remedy))
                continue
            annotations.append(annotation)
            if number is not None:
                joined[number] = annotation
    counts["annotations of no character, left out"] += sum(
        annotation.begin == annotation.end for annotation in annotations
    )
    return [annotation for annotation in annotations if annotation.begin < annotation.end]


def _extended(annotation: CellAnnotation, part: CellAnnotation, counts: Counter[str]) -> str:
    """Extend an annotation by a further row; return the problem with that, or nothing."""
    if annotation.last is part.row:
        return "stands twice in a row"
    for value, first_value in ((part.label, annotation.label), (part.link or "", annotation.link or "")):
        if value != first_value:
            quote, first_quote = quoted_apart(value, first_value)
            return f"is {quote} here and {first_quote} at line {annotation.row.line}"
    passes_over = part.row.token > annotation.last.token + 1
    counts["times an annotation passes over tokens, which are taken with it"] += passes_over
    annotation.last, annotation.end = part.row, max(annotation.end, part.end)
    return ""


def _values(cell: str) -> list[CellValue]:
    """Return the values of the annotations stacked in a cell."""
    if "|" not in cell and "[" not in cell and "\\" not in cell:
        return [CellValue(None if cell == EMPTY else cell, None)]
    return list(map(_value, STACKED.findall(cell)))


def _value(written: str) -> CellValue:
    match = NUMBERED.fullmatch(written)
    assert match is not None
    return CellValue(None if match[1] == EMPTY else ESCAPED.sub(_plain, match[1]), match[2])


def _plain(escaped: re.Match[str]) -> str:
    return CONTROL.get(escaped[1], escaped[1])
