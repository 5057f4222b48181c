"""The stand-off format of brat: a folder of `.txt` with an `.ann` beside each.

Offsets are code points of the text as it stands in the file: line ends and a byte-order mark count. Where quotes do not
match so, the unit that makes all of them match is taken (`files.py`). See the page "brat standoff format" of the brat
manual.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from nereval_core.corpus.builder import Builder
from nereval_core.problems import FormatError, Problem, quoted
from nereval_core.readers import Reader, Reading, ReadOptions, Source
from nereval_core.readers.brat.blocks import BLOCK_DOCUMENTS, LEFT_OUT, DocumentBlocks, DocumentFiles, quoted_from
from nereval_core.readers.brat.files import (
    CODE_POINTS,
    TEXT_BOUND,
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


def _read(
    source: Source, options: ReadOptions, *, plainly: bool = True, unit: tuple[Offsets, str] | None = None
) -> Reading:
    """Read as said, documents together where they are `plainly` right; `unit` is that of offsets, with a note on it."""
    texts, annotations = document_files(source)
    if unit is None and options.offsets not in (None, CODE_POINTS):
        unit = offset_unit(annotated_texts(source, options), options.offsets)
    builder = Builder(source.name)
    problems = builder.problems
    counts: Counter[str] = Counter()
    if not annotations:
        problems.append(Problem(source.name, None, "no .ann file in it", "give a folder of .txt and .ann files"))
    # All annotator's notes together show whether they are codes, and each file is read once.
    raw = {name: loaded(file) for name, file in annotations.items()}
    codes = _notes_are_codes(raw.values())

    def exact(given: DocumentFiles) -> None:
        _read_document(given, options, builder, counts, codes, unit[0] if unit else CODE_POINTS)

    blocks = DocumentBlocks(builder, counts, exact, codes=codes)
    names = texts.keys() | annotations.keys()
    block: list[DocumentFiles] = []
    plainly = plainly and unit is None and options.core_type is None
    for name in with_progress(sorted_by_path(names, str), options.progress):
        block.append(document_of(name, texts.get(name), annotations.get(name), raw.pop(name, None), options))
        if len(block) == BLOCK_DOCUMENTS:
            _take(block, blocks, exact, plainly=plainly)
            block = []
    _take(block, blocks, exact, plainly=plainly)
    if unit is None and builder.quotes:
        # Some quotes do not match in code points.
        unit = offset_unit(annotated_texts(source, options), options.offsets)
        if unit is not None and unit[0] != CODE_POINTS:
            return _read(source, options, plainly=False, unit=unit)
    layer = builder.finish(options.name or source.label)
    taken = [*texts.values(), *annotations.values()]
    notes = (
        *((unit[1],) if unit and unit[1] else ()),
        *_notes(counts),
        *_core_notes(counts, options.core_type),
        *unread_files_note(source, taken),
    )
    return Reading(layer.documents, layer, BratReader.name, notes, places=builder.places)


def _take(
    block: Sequence[DocumentFiles], blocks: DocumentBlocks, exact: Callable[[DocumentFiles], None], *, plainly: bool
) -> None:
    if plainly:
        blocks.take(block)
        return
    for given in block:
        exact(given)


def _read_document(
    given: DocumentFiles,
    options: ReadOptions,
    builder: Builder,
    counts: Counter[str],
    codes: bool,
    counting: Offsets,
) -> None:
    """Read a document by itself, and note what is wrong with it."""
    try:
        text = text_of(given, options)
    except FormatError as error:
        builder.problems.extend(error.problems)
        return
    builder.document(given.name, text, source=given.shown)
    spans: Collection[_Span] = ()
    if given.ann is None:
        counts["bare"] += 1
    else:
        try:
            lines, offsets = annotation_lines(given), TextOffsets(text, counting)
            spans = _annotations(
                lines, given.ann.shown, text, offsets, builder.problems, counts, codes, options.core_type
            )
        except FormatError as error:
            builder.problems.extend(error.problems)
    if given.ann is not None:
        _add(spans, given.ann.shown, text, builder, counts)


@dataclass(slots=True)
class _Span:
    key: str
    line: int
    label: str
    parts: Parts
    quote: str | None
    links: list[str] = field(default_factory=list)
    core: tuple[int, int] | None = None
    meta: dict[str, Any] = field(default_factory=dict)

    def give(self, name: str, value: str | Literal[True]) -> None:
        """Give it an attribute, which may have several values."""
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
        return " ".join(text[start:end] for start, end in self.parts)

    def quoted_from(self, text: str) -> bool:
        """Return whether its quote is the text it covers, blanks around it and kinds of blanks aside."""
        return quoted_from(self.quote or "", self.covered(text))

    def around(self, other: _Span) -> bool:
        """Return whether the other lies in it, both as outer hulls."""
        return self.start <= other.start and other.end <= self.end


def _notes_are_codes(files: Iterable[bytes | FormatError]) -> bool:
    """Return whether all annotator's notes of T lines are codes: a number in free text is not a link."""
    found = False
    for raw in files:
        # A file that could not be read is told of with all other problems when its turn comes.
        if isinstance(raw, bytes) and b"AnnotatorNotes" in raw:
            notes = filter(None, map(NOTE.fullmatch, raw.decode(errors="replace").split("\n")))
            if not all(CODE.fullmatch(note[2]) for note in notes):
                return False
            found = True
    return found


def _annotations(
    lines: Sequence[str],
    shown: str,
    text: str,
    text_offsets: TextOffsets,
    problems: list[Problem],
    counts: Counter[str],
    codes: bool,
    core_type: str | None,
) -> Collection[_Span]:
    """Return the spans of a file, line by line."""
    spans: dict[str, _Span] = {}
    links: list[tuple[int, str, str]] = []
    marked: list[tuple[int, str]] = []
    attributes: list[tuple[int, str, str, str | Literal[True]]] = []
    for number, line in enumerate(lines, start=1):

        def complain(found: str, remedy: str, *, number: int = number) -> None:
            problems.append(Problem(shown, number, found, remedy))

        if not line or line.isspace():
            continue
        if line[0] == "T":
            match = TEXT_BOUND.fullmatch(line)
            if match is None:
                complain(f"{quoted(line)} is not a T line", "write it as T1<tab>Type start end<tab>text")
                continue
            key, label, offsets, separator, quote = match.groups()
            if key in spans:
                complain(f"{key} stands on line {spans[key].line} already", "give each T line its own number")
                continue
            counts["blank for tab"] += separator == " "
            counts["no quote"] += separator is None
            spans[key] = _Span(key, number, label, text_offsets.convert(parts_of(offsets)), quote)
        elif line[0] == "N":
            match = NORMALISATION.fullmatch(line)
            if match is None:
                complain(f"{quoted(line)} is not an N line", "write it as N1<tab>Reference T1 DB:ID<tab>name")
                continue
            target, database, concept = match.groups()
            links.append((number, target, f"{database}:{concept}" if database else concept))
        elif codes and (match := NOTE.fullmatch(line)):
            counts["codes"] += 1
            counts["no entry"] += match[2] in NO_ENTRY
            links.append((number, match[1], NO_ENTRY.get(match[2], match[2])))
        elif match := ATTRIBUTE.fullmatch(line):
            if match[1] == core_type:
                marked.append((number, match[2]))
            else:
                attributes.append((number, match[2], match[1], (match[3] or "").strip() or True))
        elif line[0] in LEFT_OUT:
            counts[line[0]] += 1
        else:
            complain(f"{quoted(line)} is of no kind brat knows", "begin each line with T, N, R, E, A, M, * or #")
    for number, target, link in links:
        if target in spans:
            spans[target].links.append(link)
        else:
            found = f"a reference to {quoted(target)}, which is not a T line of this file"
            problems.append(Problem(shown, number, found, "name the T line it belongs to"))
    for number, target, name, value in attributes:
        if target in spans:
            spans[target].give(name, value)
            counts["attributes"] += 1
        else:
            found = f"the attribute {quoted(name)} of {quoted(target)}, which is not a T line of this file"
            problems.append(Problem(shown, number, found, "name the T line it belongs to"))
    for number, target in marked:
        if target not in spans:
            found = f"the attribute {quoted(core_type or '')} of {quoted(target)}, which is not a T line of this file"
            problems.append(Problem(shown, number, found, "give it to the T line of a core"))
    if core_type is not None:
        inner = {key for key, span in spans.items() if span.label == core_type}.union(key for _, key in marked)
        spans = _with_cores(spans, inner, text, shown, problems, counts)
    return spans.values()


def _with_cores(
    spans: Mapping[str, _Span],
    inner: Collection[str],
    text: str,
    shown: str,
    problems: list[Problem],
    counts: Counter[str],
) -> dict[str, _Span]:
    """Return the spans that are not cores, each with its core; note cores that belong to none, or are a second one."""
    rest = {key: span for key, span in spans.items() if key not in inner}
    of: dict[str, str] = {}

    def complain(core: _Span, found: str, remedy: str) -> None:
        problems.append(Problem(shown, core.line, found, remedy))

    for key in (key for key in spans if key in inner):
        core = spans[key]
        around = {other: span.end - span.start for other, span in rest.items() if span.around(core)}
        if core.quote is not None and not core.quoted_from(text):
            found = f"the quoted text {quoted(core.quote)} of core {key} is not the text at [{core.start}, {core.end})"
            complain(core, found, "check offsets (code points, end exclusive), line ends and text version")
        if len(core.parts) > 1:
            complain(core, f"core {key} is discontinuous", "draw a core as one piece")
        elif not around:
            complain(core, f"core {key} lies in no span", "draw it inside the span it is the core of")
        for owner in (other for other, size in around.items() if size == min(around.values())):
            if owner in of:
                complain(core, f"{key} is a second core of {owner}, beside {of[owner]}", "keep one core a span")
            of[owner] = key
            rest[owner].core = (core.start, core.end)
        counts["cores"] += 1
    return rest


def _add(spans: Collection[_Span], shown: str, text: str, builder: Builder, counts: Counter[str]) -> None:
    """Add the spans of the last document, which stand in the file `shown`."""
    for span in spans:
        quote = span.quote
        if quote is not None:
            covered = span.covered(text)
            if quoted_from(quote, covered):
                counts["ends of quotes"] += quote != covered and quote.strip() == covered.strip()
                quote = None
        builder.span(
            span.start,
            span.end,
            span.label,
            line=span.line,
            source=shown,
            quote=quote,
            id=span.key,
            links=tuple(span.links),
            core=span.core,
            meta=span.meta,
            fragments=span.parts if len(span.parts) > 1 else (),
        )


def _notes(counts: Mapping[str, int]) -> Sequence[str]:
    kept_out = [f"{counts[kind]} {kind} ({name})" for kind, name in LEFT_OUT.items() if counts.get(kind)]
    said = [f"lines left out: {', '.join(kept_out)}"] if kept_out else []
    if counts.get("codes"):
        null = f", {counts['no entry']} of them <null>, read as NIL" if counts.get("no entry") else ""
        said.append(f"annotator's notes, codes without exception, read as links: {counts['codes']}{null}")
    for key, note in (
        ("attributes", "attributes of spans, read as their metadata: {}"),
        ("bare", "texts without an .ann file, documents without spans: {}"),
        ("blank for tab", "T lines with a blank instead of the tab before the quoted text: {}"),
        ("ends of quotes", "quoted texts with blanks before or after them: {}"),
        ("no quote", "T lines without a quoted text, so nothing to check the offsets by: {}"),
    ):
        if counts.get(key):
            said.append(note.format(counts[key]))
    return said


def _core_notes(counts: Mapping[str, int], core_type: str | None) -> Sequence[str]:
    if core_type is None:
        return ()
    if not counts.get("cores"):
        return (f"no span has the type or the attribute {quoted(core_type)}, so none has a core",)
    return (f"spans of type or attribute {quoted(core_type)}, read as the cores of others: {counts['cores']}",)
