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
from typing import Any, Literal

from nereval_core.corpus.builder import Builder
from nereval_core.problems import FormatError, quoted
from nereval_core.readers import Reader, Reading, ReadOptions, Source
from nereval_core.readers.brat.files import (
    BLANKS,
    CODE_POINTS,
    TEXT_BOUND,
    DocumentFiles,
    Parts,
    TextOffsets,
    annotated_texts,
    annotation_lines,
    document_files,
    document_of,
    loaded,
    offset_unit,
    parts_of,
    text_of,
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
NORMALISATION = re.compile(r"N\S*\t\S+ (\S+) ([^\s:]*):(\S+)(?:\t.*)?", re.DOTALL)
NOTE = re.compile(r"#\S*\tAnnotatorNotes (T\S*)\t[\t ]*(.*?)\s*", re.DOTALL)
# A code has a digit in it; PharmaCoNER writes <null> where the terminology has no entry.
CODE = re.compile(r"(?=\S*[0-9])\S+|NIL|<null>")
NO_ENTRY = {"<null>": "NIL"}
ATTRIBUTE = re.compile(r"A\S*\t(\S+) (T\S*)(?: (.*))?", re.DOTALL)


class BratReader(Reader):
    name = "brat"
    description = "brat stand-off: a folder of .txt and .ann files"
    has_cores = True

    def recognise(self, source: Source) -> float:
        """Claim `.ann` files that hold nothing, or begin with a line such as brat writes."""
        files = source.by_suffix.get(".ann", ())
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
    texts, annotations = document_files(source)
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
        reader.read(document_of(name, texts.get(name), annotations.get(name), raw.pop(name, None), options))
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
        *unread_files_note(source, [*texts.values(), *annotations.values()]),
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
class _Span:
    """A T line: `key` is its number, `parts` are its fragments in code points."""

    key: str
    line: int
    label: str
    parts: Parts
    quote: str | None
    links: list[str] = field(default_factory=list)
    core: tuple[int, int] | None = None
    is_core: bool = False
    meta: dict[str, Any] = field(default_factory=dict)

    def set_attribute(self, name: str, value: str | Literal[True]) -> None:
        """Set an attribute, which may have several values."""
        if name not in self.meta:
            self.meta[name] = value
        elif isinstance(self.meta[name], list):
            self.meta[name].append(value)
        else:
            self.meta[name] = [self.meta[name], value]

    @property
    def start(self) -> int:
        return self.parts[0][0]

    @property
    def end(self) -> int:
        return self.parts[-1][1]

    def covered(self, text: str) -> str:
        if len(self.parts) == 1:
            return text[self.parts[0][0] : self.parts[0][1]]
        return " ".join(text[start:end] for start, end in self.parts)

    def contains(self, other: _Span) -> bool:
        """Return whether the other lies in it, both as outer hulls."""
        return self.start <= other.start and other.end <= self.end


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
            lines, offsets = annotation_lines(document), TextOffsets(text, self._counting)
        except FormatError as error:
            builder.problems.extend(error.problems)
            return
        self._source = document.ann.shown
        spans = self._spans(lines, offsets)
        if self._options.core_type is not None:
            spans = self._with_cores(spans, text)
        # Most documents have T lines of one fragment alone.
        has_more = any(span.links or span.meta or span.core or len(span.parts) > 1 for span in spans)
        builder.spans(
            [span.parts[0][0] for span in spans],
            [span.parts[-1][1] for span in spans],
            [span.label for span in spans],
            quotes=[self._mismatched_quote(span, text) for span in spans],
            ids=[span.key for span in spans],
            links=[tuple(span.links) or None for span in spans if has_more],
            fragments=[span.parts if len(span.parts) > 1 else None for span in spans if has_more],
            cores=[span.core for span in spans if has_more],
            meta=[span.meta or None for span in spans if has_more],
            lines=[span.line for span in spans],
            source=self._source,
        )

    def _complain(self, line: int, finding: str, remedy: str) -> None:
        self._builder.problem(line, finding, remedy, source=self._source)

    def _spans(self, lines: Sequence[str], text_offsets: TextOffsets) -> Sequence[_Span]:
        """Return the spans of a file, with links and metadata; the core of each is not known yet."""
        counts, core_type = self.counts, self._options.core_type
        spans: dict[str, _Span] = {}
        links: list[tuple[int, str, str]] = []
        attributes: list[tuple[int, str, str, str | Literal[True]]] = []
        core_marks: list[tuple[int, str]] = []
        for number, line in enumerate(lines, start=1):
            if not line or line.isspace():
                continue
            if line[0] == "T":
                match = TEXT_BOUND.fullmatch(line)
                if match is None:
                    self._complain(
                        number, f"{quoted(line)} is not a T line", "write it as T1<tab>Type start end<tab>text"
                    )
                    continue
                key, label, start, end, further, separator, quote = match.groups()
                if key in spans:
                    finding = f"{key} stands on line {spans[key].line} already"
                    self._complain(number, finding, "give each T line its own number")
                    continue
                if separator != "\t":
                    counts["no quote" if separator is None else "blank for tab"] += 1
                spans[key] = _Span(key, number, label, text_offsets.convert(parts_of(start, end, further)), quote)
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
            if target in spans:
                spans[target].links.append(link)
            else:
                self._missing_target(number, "a reference to", target, "name the T line it belongs to")
        for number, target, name, value in attributes:
            if target in spans:
                spans[target].set_attribute(name, value)
                counts["attributes"] += 1
            else:
                what = f"the attribute {quoted(name)} of"
                self._missing_target(number, what, target, "name the T line it belongs to")
        for number, target in core_marks:
            if target in spans:
                spans[target].is_core = True
            else:
                what = f"the attribute {quoted(core_type or '')} of"
                self._missing_target(number, what, target, "give it to the T line of a core")
        return [*spans.values()]

    def _missing_target(self, line: int, what: str, target: str, remedy: str) -> None:
        self._complain(line, f"{what} {quoted(target)}, which is not a T line of this file", remedy)

    def _with_cores(self, all_spans: Sequence[_Span], text: str) -> Sequence[_Span]:
        """Return the spans that are not cores, each with its core; report cores of no span and second ones."""
        core_type = self._options.core_type
        spans = [span for span in all_spans if not (span.is_core or span.label == core_type)]
        key_of_core: dict[str, str] = {}
        for core in (span for span in all_spans if span.is_core or span.label == core_type):
            owners = [span for span in spans if span.contains(core)]
            if core.quote is not None and not _is_quote_of(core.quote, core.covered(text)):
                place = f"[{core.start}, {core.end})"
                self._complain(
                    core.line,
                    f"the quoted text {quoted(core.quote)} of core {core.key} is not the text at {place}",
                    "check offsets (code points, end exclusive), line ends and text version",
                )
            if len(core.parts) > 1:
                self._complain(core.line, f"core {core.key} is discontinuous", "draw a core as one piece")
            elif not owners:
                self._complain(
                    core.line, f"core {core.key} lies in no span", "draw it inside the span it is the core of"
                )
            smallest = min((span.end - span.start for span in owners), default=0)
            for span in owners:
                if span.end - span.start != smallest:
                    continue
                if span.key in key_of_core:
                    finding = f"{core.key} is a second core of {span.key}, beside {key_of_core[span.key]}"
                    self._complain(core.line, finding, "keep one core a span")
                key_of_core[span.key] = core.key
                span.core = (core.start, core.end)
            self.counts["cores"] += 1
        return spans

    def _mismatched_quote(self, span: _Span, text: str) -> str | None:
        """Return the quote of a span that does not cover it, None where it has none or covers it."""
        quote, covered = span.quote, span.covered(text)
        if quote is None or quote == covered:
            return None
        if not _is_quote_of(quote, covered):
            return quote
        self.counts["ends of quotes"] += quote.strip() == covered.strip()
        return None


def _is_quote_of(quote: str, covered: str) -> bool:
    """Return whether a quote is the text covered, blanks around it and kinds of blanks aside."""
    return quote.translate(BLANKS).strip() == covered.translate(BLANKS).strip()


def _notes(counts: Mapping[str, int]) -> Sequence[str]:
    lines = [f"{counts[letter]} {letter} ({name})" for letter, name in LEFT_OUT.items() if counts.get(letter)]
    notes = [f"lines left out: {', '.join(lines)}"] if lines else []
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
