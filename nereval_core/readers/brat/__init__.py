"""The stand-off format of brat: a folder of `.txt` with an `.ann` beside each.

Offsets are code points of the text as it stands in the file: line ends and a byte-order mark count. Where quotes do not
match so, the unit that makes all of them match is taken (`files.py`). See the page "brat standoff format" of the brat
manual.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from nereval_core.corpus.builder import Builder
from nereval_core.problems import FormatError, quoted
from nereval_core.readers import Reader, Reading, ReadOptions, Source
from nereval_core.readers.brat.files import (
    CODE_POINTS,
    DocumentFiles,
    Parts,
    Row,
    TextOffsets,
    annotated_texts,
    annotation_rows,
    document_files,
    document_of,
    further_parts,
    loaded,
    offset_unit,
    text_of,
    with_blanks,
)
from nereval_core.readers.input.source import sorted_by_path, unread_files_note, with_progress
from nereval_core.readers.shared.offset_units import Offsets

LEFT_OUT = {
    "A": "attributes",
    "M": "modifications",
    "E": "events",
    "R": "relations",
    "*": "equivalences",
    "#": "annotator's notes",
}
"""Lines that are counted, by their first letter; attributes of spans and notes that are codes are read."""
ANY_LINE = re.compile(r"([TNREAM#]\S*|\*)\t")
# BioNLP names what the two are: Annotation:T1 Referent:OBT:000001.
NORMALISATION = re.compile(r"N\S*\t\S+ (?:Annotation:)?(\S+) (?:Referent:)?([^\s:]*):(\S+)(?:\t.*)?", re.DOTALL)
NOTE = re.compile(r"#\S*\tAnnotatorNotes (T\S*)\t[\t ]*(.*?)\s*", re.DOTALL)
# A code has a digit in it; PharmaCoNER writes <null> where the terminology has no entry.
CODE = re.compile(r"(?=\S*[0-9])\S+|NIL|<null>")
NO_ENTRY = {"<null>": "NIL"}
ATTRIBUTE = re.compile(r"A\S*\t(\S+) (T\S*)(?: (.*))?", re.DOTALL)


class BratReader(Reader):
    name = "brat"
    description = "brat stand-off: a folder of .txt and .ann files"
    suffixes: ClassVar[tuple[str, ...]] = (".ann",)
    has_cores = True

    def recognise(self, source: Source) -> float:
        """Claim files of annotations that hold nothing, or begin with a line such as brat writes."""
        files = [file for suffix in self.suffixes for file in source.by_suffix.get(suffix, ())]
        for file in files:
            line = source.head_of(file).first_line
            if line:
                return 1.0 if ANY_LINE.match(line) else 0.5
        return 1.0 if files else 0.0

    def read(self, source: Source, options: ReadOptions) -> Reading:
        """Read a document for each `.txt`, or, where an `.ann` has none beside it, with the text `options.texts` holds.

        The id of a document is its path without the suffix. `N` lines become links `DB:ID`, or `ID` where DB is empty.
        So do, in the order of the file, the annotator's notes of T lines where every one of them in the source is a
        code (as in PharmaCoNER). Attributes of T lines become metadata of the span, `A1 Certainty T1 High` as
        `{"Certainty": "High"}`, those without a value as true, those of several values as a list. Attributes of others,
        relations, events, modifications, equivalences and other notes are left out and counted.

        Spans of the type `options.core_type`, and those that an attribute of this name marks, are not spans of the
        layer: each is the core of the smallest span around it, of several as small of each of them.

        Raises:
            FormatError: with every problem found.
        """
        return _read(source, options)


READER = BratReader()


def _read(source: Source, options: ReadOptions, unit: tuple[Offsets, str] | None = None) -> Reading:
    """Read all documents; `unit` is that of offsets, with a note on it."""
    texts, annotations, further = document_files(source)
    if unit is None and options.offsets not in (None, CODE_POINTS):
        unit = offset_unit(annotated_texts(source, options), options.offsets)
    builder = Builder(source.name)
    if not annotations:
        builder.problem(None, "no .ann file in it", "give a folder of .txt and .ann files")
    # All annotator's notes together show whether they are codes, and each file is read once.
    raw = {name: loaded(file) for name, file in annotations.items()}
    reader = _DocumentReader(
        builder, options, unit[0] if unit else CODE_POINTS, has_codes=_notes_are_codes(raw.values())
    )
    names = sorted_by_path(texts.keys() | annotations.keys(), str)
    for name in with_progress(names, options.progress):
        files = texts.get(name), annotations.get(name), raw.pop(name, None)
        reader.read(document_of(name, *files, options, further.get(name)))
    if unit is None and builder.quotes:
        # Some quotes do not match in code points.
        unit = offset_unit(annotated_texts(source, options), options.offsets)
        if unit is not None and unit[0] != CODE_POINTS:
            return _read(source, options, unit)
    layer = builder.finish(options.name or source.label)
    notes = (
        *((unit[1],) if unit and unit[1] else ()),
        *_notes(reader.counts),
        *_core_notes(reader.counts, options.core_type),
        *unread_files_note(source, [*texts.values(), *annotations.values(), *further.values()]),
    )
    return Reading(layer.documents, layer, BratReader.name, notes, places=builder.places)


def _notes_are_codes(files: Iterable[bytes | FormatError]) -> bool:
    """Return whether all annotator's notes of T lines are codes: a number in free text is not a link."""
    has_notes = False
    for raw in files:
        # A file that could not be read is reported with all other problems when its turn comes.
        if isinstance(raw, bytes) and b"AnnotatorNotes" in raw:
            notes = filter(None, map(NOTE.fullmatch, raw.decode(errors="replace").split("\n")))
            if not all(CODE.fullmatch(note[2]) for note in notes):
                return False
            has_notes = True
    return has_notes


@dataclass(slots=True)
class _Spans:
    """The T lines of a file in columns, offsets in code points; what few of them have by their numbers."""

    keys: Sequence[str]
    lines: Sequence[int]
    labels: Sequence[str]
    starts: Sequence[int]
    ends: Sequence[int]
    fragments: Mapping[int, Parts]
    covered: Sequence[str]
    separators: Sequence[str]
    quotes: Sequence[str]
    links: dict[int, tuple[str, ...]] = field(default_factory=dict)
    meta: dict[int, dict[str, Any]] = field(default_factory=dict)
    cores: dict[int, tuple[int, int]] = field(default_factory=dict)
    core_marks: set[int] = field(default_factory=set)

    def set_attribute(self, span: int, name: str, value: str | Literal[True]) -> None:
        """Set an attribute, which may have several values."""
        meta = self.meta.setdefault(span, {})
        if name not in meta:
            meta[name] = value
        elif isinstance(meta[name], list):
            meta[name].append(value)
        else:
            meta[name] = [meta[name], value]

    def differing_quotes(self) -> dict[int, str]:
        """Return the quotes that are not the text covered to the letter, by the numbers of their spans."""
        if self.quotes == self.covered:
            return {}
        return {
            span: quote
            for span, (quote, covered, separator) in enumerate(
                zip(self.quotes, self.covered, self.separators, strict=True)
            )
            if separator and quote != covered
        }


class _DocumentReader:
    """Adds documents and their spans to a builder, and counts what is left out or read in its own way.

    With `has_codes` the annotator's notes of spans are links.
    """

    def __init__(self, builder: Builder, options: ReadOptions, counting: Offsets, *, has_codes: bool) -> None:
        self.counts: Counter[str] = Counter()
        self._builder = builder
        self._options = options
        self._counting = counting
        self._has_codes = has_codes

    def read(self, document: DocumentFiles) -> None:
        """Add a document; what is wrong with it goes to the builder's problems."""
        builder = self._builder
        try:
            text = text_of(document, self._options)
            builder.document(document.name, text, source=document.source)
            if document.ann is None:
                self.counts["bare"] += 1
                return
            rows = annotation_rows(document.raw, document.ann)
            self._n_first = len(rows)
            if document.further is not None:
                rows = [*rows, *annotation_rows(loaded(document.further), document.further)]
        except FormatError as error:
            builder.problems.extend(error.problems)
            return
        self._sources = document.ann.shown, document.further.shown if document.further else ""
        spans = self._spans(rows, text)
        numbers: Sequence[int] = range(len(spans.keys))
        if self._options.core_type is not None:
            numbers = self._with_cores(spans)

        def column(values: Sequence[Any]) -> Sequence[Any]:
            return values if len(numbers) == len(values) else [values[span] for span in numbers]

        def rare_column(values: Mapping[int, Any]) -> Sequence[Any]:
            return [values.get(span) for span in numbers] if values else ()

        builder.spans(
            column(spans.starts),
            column(spans.ends),
            column(spans.labels),
            quotes=rare_column(self._mismatched_quotes(spans, numbers)),
            ids=column(spans.keys),
            links=rare_column(spans.links),
            fragments=rare_column(spans.fragments),
            cores=rare_column(spans.cores),
            meta=rare_column(spans.meta),
            lines=column(spans.lines),
            source=self._sources[0],
        )
        if document.further is not None:
            first = len(builder.starts) - len(numbers)
            for number, row in enumerate(column(spans.lines), start=first):
                builder.span_sources[number], builder.span_lines[number] = self._place(row)

    def _place(self, row: int) -> tuple[str, int]:
        """Return the file and the line of a row, from 1."""
        if row <= self._n_first:
            return self._sources[0], row
        return self._sources[1], row - self._n_first

    def _complain(self, row: int, finding: str, remedy: str) -> None:
        source, line = self._place(row)
        self._builder.problem(line, finding, remedy, source=source)

    def _spans(self, rows: Sequence[Row], text: str) -> _Spans:
        """Return the spans of a file, with links and metadata; the core of each is not known yet."""
        # Of T lines of the same number the first one counts.
        line_of_key = dict(zip([row[0] for row in reversed(rows)], range(len(rows), 0, -1), strict=True))
        line_of_key.pop("", None)
        lines: Sequence[int] = range(1, len(rows) + 1)
        t_rows = rows
        if len(line_of_key) < len(rows):
            lines = sorted(line_of_key.values())
            t_rows = [rows[line - 1] for line in lines]
        spans = self._spans_of(t_rows, lines, text)
        if len(lines) < len(rows):
            self._read_others(rows, line_of_key, spans)
        return spans

    def _spans_of(self, rows: Sequence[Row], lines: Sequence[int], text: str) -> _Spans:
        """Return the spans of T lines."""
        columns: Iterable[tuple[str, ...]] = zip(*rows, strict=True) if rows else ((),) * 8
        keys, labels, first_starts, first_ends, further, separators, quotes, _ = columns
        self.counts["no quote"] += separators.count("")
        self.counts["blank for tab"] += separators.count(" ")
        starts, ends = list(map(int, first_starts)), list(map(int, first_ends))
        parts = {span: further_parts(more) for span, more in enumerate(further) if more}
        if self._counting != CODE_POINTS:
            offsets = TextOffsets(text, self._counting)
            starts, ends = offsets.starts(starts), offsets.ends(ends)
            for span, pairs in parts.items():
                part_starts, part_ends = zip(*pairs, strict=True)
                parts[span] = tuple(zip(offsets.starts(part_starts), offsets.ends(part_ends), strict=True))
        covered = [text[start:end] for start, end in zip(starts, ends, strict=True)]
        for span, more in parts.items():
            parts[span] = ((starts[span], ends[span]), *more)
            covered[span] = " ".join(text[start:end] for start, end in parts[span])
            ends[span] = more[-1][1]
        return _Spans(keys, lines, labels, starts, ends, parts, covered, separators, list(quotes))

    def _read_others(self, rows: Sequence[Row], line_of_key: Mapping[str, int], spans: _Spans) -> None:
        """Read lines that are not T lines of spans: add links, metadata and marks of cores; count the others."""
        counts, core_type = self.counts, self._options.core_type
        span_of_key = {key: span for span, key in enumerate(spans.keys)}
        links: list[tuple[int, str, str]] = []
        attributes: list[tuple[int, str, str, str | Literal[True]]] = []
        core_marks: list[tuple[int, str]] = []
        for number, row in enumerate(rows, start=1):
            key, line = row[0], row[-1]
            if key:
                if line_of_key[key] != number:
                    finding = f"{key} stands on line {self._place(line_of_key[key])[1]} already"
                    self._complain(number, finding, "give each T line its own number")
            elif not line or line.isspace():
                continue
            elif line[0] == "T":
                self._complain(number, f"{quoted(line)} is not a T line", "write it as T1<tab>Type start end<tab>text")
            elif line[0] == "N":
                match = NORMALISATION.fullmatch(line)
                if match is None:
                    remedy = "write it as N1<tab>Reference T1 DB:ID<tab>name"
                    self._complain(number, f"{quoted(line)} is not an N line", remedy)
                    continue
                target, database, concept = match.groups()
                links.append((number, target, f"{database}:{concept}" if database else concept))
            elif self._has_codes and (match := NOTE.fullmatch(line)):
                counts["codes"] += 1
                counts["no entry"] += match[2] in NO_ENTRY
                links.append((number, match[1], NO_ENTRY.get(match[2], match[2])))
            elif match := ATTRIBUTE.fullmatch(line):
                if match[1] == core_type:
                    core_marks.append((number, match[2]))
                else:
                    attributes.append((number, match[2], match[1], (match[3] or "").strip() or True))
            elif line[0] in LEFT_OUT:
                counts[line[0]] += 1
            else:
                remedy = "begin each line with T, N, R, E, A, M, * or #"
                self._complain(number, f"{quoted(line)} is of no kind brat knows", remedy)
        for number, target, link in links:
            if target in span_of_key:
                span = span_of_key[target]
                spans.links[span] = (*spans.links.get(span, ()), link)
            else:
                self._missing_target(number, "a reference to", target, "name the T line it belongs to")
        for number, target, name, value in attributes:
            if target in span_of_key:
                spans.set_attribute(span_of_key[target], name, value)
                counts["attributes"] += 1
            else:
                what = f"the attribute {quoted(name)} of"
                self._missing_target(number, what, target, "name the T line it belongs to")
        for number, target in core_marks:
            if target in span_of_key:
                spans.core_marks.add(span_of_key[target])
            else:
                what = f"the attribute {quoted(core_type or '')} of"
                self._missing_target(number, what, target, "give it to the T line of a core")

    def _missing_target(self, line: int, what: str, target: str, remedy: str) -> None:
        self._complain(line, f"{what} {quoted(target)}, which is not a T line of this file", remedy)

    def _with_cores(self, spans: _Spans) -> Sequence[int]:
        """Give spans their cores, and return those that are not cores; report cores of no span and second ones."""
        is_core = [
            span in spans.core_marks or label == self._options.core_type for span, label in enumerate(spans.labels)
        ]
        numbers = [span for span, is_marked in enumerate(is_core) if not is_marked]
        starts, ends = spans.starts, spans.ends
        differing = spans.differing_quotes()
        key_of_core: dict[int, str] = {}
        for core in (span for span, is_marked in enumerate(is_core) if is_marked):
            key, line, start, end = spans.keys[core], spans.lines[core], starts[core], ends[core]
            owners = [span for span in numbers if starts[span] <= start and end <= ends[span]]
            if core in differing and not _is_quote_of(differing[core], spans.covered[core]):
                self._complain(
                    line,
                    f"the quoted text {quoted(differing[core])} of core {key} is not the text at [{start}, {end})",
                    "check offsets (code points, end exclusive), line ends and text version",
                )
            if core in spans.fragments:
                self._complain(line, f"core {key} is discontinuous", "draw a core as one piece")
            elif not owners:
                self._complain(line, f"core {key} lies in no span", "draw it inside the span it is the core of")
            smallest = min((ends[span] - starts[span] for span in owners), default=0)
            for span in owners:
                if ends[span] - starts[span] != smallest:
                    continue
                if span in key_of_core:
                    finding = f"{key} is a second core of {spans.keys[span]}, beside {key_of_core[span]}"
                    self._complain(line, finding, "keep one core a span")
                key_of_core[span] = key
                spans.cores[span] = (start, end)
            self.counts["cores"] += 1
        return numbers

    def _mismatched_quotes(self, spans: _Spans, numbers: Sequence[int]) -> dict[int, str]:
        """Return the quotes of these spans that do not match, blanks aside, the text covered."""
        differing = spans.differing_quotes()
        mismatched: dict[int, str] = {}
        for span in numbers if differing else ():
            if span not in differing:
                continue
            quote, covered = differing[span], spans.covered[span]
            if not _is_quote_of(quote, covered):
                mismatched[span] = quote
            else:
                self.counts["ends of quotes"] += quote.strip() == covered.strip()
        return mismatched


def _is_quote_of(quote: str, covered: str) -> bool:
    """Return whether a quote is the text covered, blanks around it and kinds of blanks aside."""
    return with_blanks(quote).strip() == with_blanks(covered).strip()


def _notes(counts: Mapping[str, int]) -> Sequence[str]:
    notes = [f"{name}, not read: {counts[letter]}" for letter, name in LEFT_OUT.items() if counts.get(letter)]
    if counts.get("codes"):
        null = f", {counts['no entry']} of them <null>, read as NIL" if counts.get("no entry") else ""
        notes.append(f"annotator's notes, codes without exception, read as links: {counts['codes']}{null}")
    for key, note in (
        ("attributes", "attributes of spans, read as their metadata: {}"),
        ("bare", "texts without an .ann file, documents without spans: {}"),
        ("blank for tab", "T lines with a blank instead of the tab before the quoted text: {}"),
        ("ends of quotes", "quoted texts with blanks before or after them: {}"),
        ("no quote", "T lines without a quoted text, so nothing to check the offsets by: {}"),
    ):
        if counts.get(key):
            notes.append(note.format(counts[key]))
    return notes


def _core_notes(counts: Mapping[str, int], core_type: str | None) -> Sequence[str]:
    if core_type is None:
        return ()
    if not counts.get("cores"):
        return (f"no span has the type or the attribute {quoted(core_type)}, so none has a core",)
    return (f"spans of type or attribute {quoted(core_type)}, read as the cores of others: {counts['cores']}",)
