"""The stand-off format of brat: a folder of `.txt` with an `.ann` beside each.

Offsets are code points of the text as it stands in the file: line ends and a byte-order mark count. See the page
"brat standoff format" of the brat manual.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from nereval_core.corpus import Builder
from nereval_core.errors import FormatError, quoted
from nereval_core.readers import Reading, ReadOptions, Source
from nereval_core.readers.source import SourceFile, left_out, watched

NAME = "brat"
DESCRIPTION = "brat stand-off: a folder of .txt and .ann files"
CORES = True

LEFT_OUT = {
    "A": "attributes",
    "M": "modifications",
    "E": "events",
    "R": "relations",
    "*": "equivalences",
    "#": "annotator's notes",
}

ANY_LINE = re.compile(r"([TNREAM#]\S*|\*)\t")
OFFSETS = r"[0-9]+ [0-9]+(?:;[0-9]+ [0-9]+)*"
# Some tools write a blank where the tab before the quote should be.
TEXT_BOUND = re.compile(rf"(T\S*)\t(\S+) ({OFFSETS})(?:([\t ])(.*))?", re.DOTALL)
NORMALISATION = re.compile(r"N\S*\t\S+ (\S+) ([^\s:]*):(\S+)(?:\t.*)?", re.DOTALL)
NOTE = re.compile(r"#\S*\tAnnotatorNotes (T\S*)\t[\t ]*(.*?)\s*", re.DOTALL)
# A code has a digit in it; PharmaCoNER writes <null> where the terminology has no entry.
CODE = re.compile(r"(?=\S*[0-9])\S+|NIL|<null>")
NO_ENTRY = {"<null>": "NIL"}
ATTRIBUTE = re.compile(r"A\S*\t(\S+) (T\S*)(?: .*)?", re.DOTALL)
# brat writes line ends inside a quote as blanks.
BLANKS = str.maketrans("\r\n\t", "   ")


def recognise(source: Source) -> float:
    """Be sure of `.ann` files that hold nothing, or begin with a line such as brat writes."""
    files = [file for file in source.files if file.suffix == ".ann"]
    for file in files:
        line = next((line for line in file.head() if line.strip()), None)
        if line is not None:
            return 1.0 if ANY_LINE.match(line) else 0.5
    return 1.0 if files else 0.0


def read(source: Source, options: ReadOptions) -> Reading:
    """Read a document for each `.txt`, or, where an `.ann` has none beside it, with the text `options.texts` holds.

    The id of a document is its path without the suffix. `N` lines become links `DB:ID`, or `ID` where DB is empty. So
    do, in the order of the file, the annotator's notes of T lines where every one of them in the source is a code (as
    in PharmaCoNER). Attributes, relations, events, modifications, equivalences and other notes are left out and
    counted.

    Spans of the type `options.core_type`, and those that an attribute of this name marks, are no spans of the layer:
    each is the core of the smallest span around it, of several as small of each of them.

    Raises:
        FormatError: with every problem found.
    """
    texts = {file.stem: file for file in source.files if file.suffix == ".txt"}
    annotations = {file.stem: file for file in source.files if file.suffix == ".ann"}
    builder = Builder(source.name)
    counts: Counter[str] = Counter()
    if not annotations:
        builder.problem(None, "no .ann file in it", "give a folder of .txt and .ann files")
    codes = _notes_are_codes(annotations.values())
    names = sorted({*texts, *annotations}, key=lambda name: name.split("/"))
    for name in watched(names, options.progress):
        ann = annotations.get(name)
        text = _text(name, texts.get(name), ann, builder, options)
        if text is None:
            continue
        place = texts.get(name) or ann
        builder.document(name, text, source=place.shown if place else None)
        if ann is None:
            counts["bare"] += 1
        else:
            _read_annotations(ann, text, builder, counts, codes, options.core_type)
    layer = builder.finish(options.name or source.label)
    taken = [*texts.values(), *annotations.values()]
    notes = (*_notes(counts), *_core_notes(counts, options.core_type), *left_out(source, taken))
    return Reading(layer.documents, layer, NAME, notes, places=builder.places)


def _text(
    name: str, file: SourceFile | None, ann: SourceFile | None, builder: Builder, options: ReadOptions
) -> str | None:
    """Return the text of a document; None, with a problem noted, where there is none."""
    if file is not None:
        try:
            return file.text(keep_bom=True)
        except FormatError as error:
            builder.problems.extend(error.problems)
            return None
    if options.texts is not None and name in options.texts.index:
        return options.texts.texts[options.texts.index[name]]
    if options.texts is None:
        remedy = f"put {quoted(name + '.txt')} beside it, or score it against gold that has the text"
        found = "no text: the .txt is missing"
    else:
        remedy = "put the .txt beside it, or name the file after the gold document"
        found = f"no text: neither {quoted(name + '.txt')} beside it nor a gold document {quoted(name)}"
    builder.problem(None, found, remedy, source=ann.shown if ann else None)
    return None


@dataclass(slots=True)
class _Span:
    line: int
    label: str
    parts: tuple[tuple[int, int], ...]
    quote: str | None
    links: list[str] = field(default_factory=list)
    core: tuple[int, int] | None = None

    @property
    def start(self) -> int:
        return self.parts[0][0]

    @property
    def end(self) -> int:
        return self.parts[-1][1]

    def covered(self, text: str) -> str:
        return " ".join(text[start:end] for start, end in self.parts)

    def quoted_from(self, text: str) -> bool:
        """Tell whether its quote is the text it covers, blanks around it and kinds of blanks aside."""
        return (self.quote or "").translate(BLANKS).strip() == self.covered(text).translate(BLANKS).strip()

    def around(self, other: _Span) -> bool:
        """Tell whether the other lies in it, both as outer hulls."""
        return self.start <= other.start and other.end <= self.end


def _notes_are_codes(files: Iterable[SourceFile]) -> bool:
    """Tell whether the annotator's notes of T lines are codes, all of them: among free words a number is no link."""
    found = False
    for file in files:
        try:
            raw = file.read()
        except FormatError:
            # Told with all other problems when its turn comes.
            continue
        if b"AnnotatorNotes" in raw:
            notes = filter(None, map(NOTE.fullmatch, raw.decode(errors="replace").split("\n")))
            if not all(CODE.fullmatch(note[2]) for note in notes):
                return False
            found = True
    return found


def _read_annotations(
    file: SourceFile, text: str, builder: Builder, counts: Counter[str], codes: bool, core_type: str | None
) -> None:
    try:
        lines = file.lines()
    except FormatError as error:
        builder.problems.extend(error.problems)
        return
    spans: dict[str, _Span] = {}
    links: list[tuple[int, str, str]] = []
    marked: list[tuple[int, str]] = []
    for number, line in enumerate(lines, start=1):

        def complain(found: str, remedy: str, *, number: int = number) -> None:
            builder.problem(number, found, remedy, source=file.shown)

        if not line or line.isspace():
            continue
        if line[0] == "T":
            match = TEXT_BOUND.fullmatch(line)
            if match is None:
                complain(f"{quoted(line)} is no T line", "write it as T1<tab>Type start end<tab>text")
                continue
            key, label, offsets, separator, quote = match.groups()
            if key in spans:
                complain(f"{key} stands on line {spans[key].line} already", "give each T line its own number")
                continue
            counts["blank for tab"] += separator == " "
            counts["no quote"] += separator is None
            spans[key] = _Span(number, label, _parts(offsets), quote)
        elif line[0] == "N":
            match = NORMALISATION.fullmatch(line)
            if match is None:
                complain(f"{quoted(line)} is no N line", "write it as N1<tab>Reference T1 DB:ID<tab>name")
                continue
            target, database, concept = match.groups()
            links.append((number, target, f"{database}:{concept}" if database else concept))
        elif codes and (match := NOTE.fullmatch(line)):
            counts["codes"] += 1
            counts["no entry"] += match[2] in NO_ENTRY
            links.append((number, match[1], NO_ENTRY.get(match[2], match[2])))
        elif core_type is not None and (match := ATTRIBUTE.fullmatch(line)) and match[1] == core_type:
            marked.append((number, match[2]))
        elif line[0] in LEFT_OUT:
            counts[line[0]] += 1
        else:
            complain(f"{quoted(line)} is of no kind brat knows", "begin each line with T, N, R, E, A, M, * or #")
    for number, target, link in links:
        if target in spans:
            spans[target].links.append(link)
        else:
            found = f"a reference to {quoted(target)}, which is no T line of this file"
            builder.problem(number, found, "name the T line it belongs to", source=file.shown)
    for number, target in marked:
        if target not in spans:
            found = f"the attribute {quoted(core_type or '')} of {quoted(target)}, which is no T line of this file"
            builder.problem(number, found, "give it to the T line of a core", source=file.shown)
    if core_type is not None:
        inner = {key for key, span in spans.items() if span.label == core_type}.union(key for _, key in marked)
        spans = _with_cores(spans, inner, text, file.shown, builder, counts)
    _add(spans, text, file.shown, builder, counts)


def _with_cores(
    spans: Mapping[str, _Span],
    inner: Collection[str],
    text: str,
    shown: str,
    builder: Builder,
    counts: Counter[str],
) -> dict[str, _Span]:
    """Return the spans that are no cores, each with its core; note cores that belong to none, or are a second one."""
    rest = {key: span for key, span in spans.items() if key not in inner}
    of: dict[str, str] = {}

    def complain(core: _Span, found: str, remedy: str) -> None:
        builder.problem(core.line, found, remedy, source=shown)

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


def _add(spans: Mapping[str, _Span], text: str, shown: str, builder: Builder, counts: Counter[str]) -> None:
    for key, span in spans.items():
        quote = span.quote
        if quote is not None and span.quoted_from(text):
            covered = span.covered(text)
            counts["ends of quotes"] += quote != covered and quote.strip() == covered.strip()
            quote = None
        builder.span(
            span.start,
            span.end,
            span.label,
            line=span.line,
            source=shown,
            quote=quote,
            fragments=span.parts if len(span.parts) > 1 else (),
            id=key,
            links=tuple(span.links),
            core=span.core,
        )


def _parts(offsets: str) -> tuple[tuple[int, int], ...]:
    """Return the fragments as they stand; digits beyond any text are cut, so that they are refused as outside."""
    pairs = (part.split(" ") for part in offsets.split(";"))
    return tuple((int(start[:15]), int(end[:15])) for start, end in pairs)


def _notes(counts: Mapping[str, int]) -> Sequence[str]:
    kept_out = [f"{counts[kind]} {kind} ({name})" for kind, name in LEFT_OUT.items() if counts.get(kind)]
    said = [f"lines left out: {', '.join(kept_out)}"] if kept_out else []
    if counts.get("codes"):
        null = f", {counts['no entry']} of them <null>, read as NIL" if counts.get("no entry") else ""
        said.append(f"annotator's notes, codes without exception, read as links: {counts['codes']}{null}")
    for key, note in (
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
