"""Names between marks: `<START:person> Ann Lee <END>`, `[PER Ann Lee ]`, `[PER Ann Lee]` and `[Ann Lee](PER)`.

OpenNLP writes the first, Illinois NER the second, people and models the others. A line is a sentence. Empty lines part
documents; without any before the last sentence, each line is a document. Words are joined by one blank, sentences by a
line end; the last two notations have a document a line, which stands as it is. A name without a type is of type
`entity`, or of that of `--type`. Names may be nested in the second alone. See the manual of Apache OpenNLP, "Name
Finder Training".

Of Rasa's training data, YAML or Markdown, each example of an intent is a document; `role` and `group` are metadata.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from nereval_core.corpus.builder import Builder
from nereval_core.problems import quoted
from nereval_core.readers import Reader, Reading, ReadOptions, Source
from nereval_core.readers.input.source import SourceFile, unread_files_note

OPENNLP = re.compile(r"<START(?::(?P<type>[^<>\s]*))?>|(?P<end><END>)|(?:(?!<START[:>]|<END>)\S)+")
SQUARE = re.compile(r"(?:^|(?<=\s))(?:\[(?P<type>[A-Z][\w-]*)(?=\s)|(?P<end>\])(?=\s|$))|\S+")
MARK = re.compile(r"<START[:>]|<END>")
MARKED = re.compile(r"<START(?::[^<>\s]*)?>.*<END>")
MARKED_SQUARE = re.compile(r"(?:^|\s)\[[A-Z][\w-]*\s+[^\[\]]*\s\](?:\s|$)")
TIGHT = re.compile(r"\[(?P<type>[A-Z][A-Z0-9_-]+):?\s+(?P<words>[^\[\]]*[^\s\[\]])\](?![(/{\w])")
SMALL_SQUARE, SMALL_MARKED_SQUARE = (
    re.compile(pattern.pattern.replace("A-Z", "a-z")) for pattern in (SQUARE, MARKED_SQUARE)
)
SMALL_TIGHT = re.compile(r"\[(?P<type>[a-z][a-z0-9_-]+):?\s+(?P<words>[^\[\]]*[^\s\[\]])\](?![(/{\w])")
BRACKETS = re.compile(r"\[[^\[\]]*\]")
SMALL_NAME = re.compile(r"\[(?P<type>[a-z][a-z0-9_-]+):?\s+[^\s\[\]][^\[\]]*\]")
MOST_SMALL_TYPES = 12
LINKED = re.compile(r"\[(?P<words>[^\[\]]+)\](?:\((?P<type>[^\W\d][\w-]*)(?::[^()/]*)?\)|(?P<details>\{\s*\"[^{}]*\}))")
RASA = re.compile(r"(?:nlu:|\s*- intent:\s|## intent:)")
RASA_PART = re.compile(r"\s*(?:-|##)\s*(?P<kind>intent|synonym|lookup|regex|rule|story|response)\s*:")
RASA_EXAMPLE = re.compile(r"\s*[-*+]\s+(?:text:\s*)?(?P<text>.*?)\s*(?:<!--.*-->\s*)?")
RASA_DETAILS = ("role", "group")
BLOCK = re.compile(r"[|>][-+]?")
"""What opens a text on the lines below it in YAML."""
ENTITY = "entity"
TEXT = "["
"""A bracket that opens no name."""
SEEN_LINES = 200
"""Lines by which a file is recognised."""


@dataclass(frozen=True, slots=True)
class _Marks:
    """The marks of a tool: what a line is made of, whether names may be nested, and how one is written."""

    pattern: re.Pattern[str]
    nested: bool
    form: str


MARKS = {
    "<": _Marks(OPENNLP, False, "<START:type> words <END>"),
    "[": _Marks(SQUARE, True, "[TYPE words ]"),
}


SMALL_MARKS = _Marks(SMALL_SQUARE, True, "[type words ]")


@dataclass(slots=True)
class _Document:
    line: int
    words: list[str] = field(default_factory=list)
    tokens: list[tuple[int, int]] = field(default_factory=list)
    sentences: list[tuple[int, int]] = field(default_factory=list)
    spans: list[tuple[int, int, str, int]] = field(default_factory=list)
    """Start, end, type and line of each span."""


class BracketedReader(Reader):
    name = "bracketed"
    description = "names between marks: <START:person> Ann <END> of OpenNLP, [PER Ann ], [Ann](PER) of Rasa"
    suffixes = (".train", ".txt", ".test", ".dev", ".out", ".yml", ".yaml")

    def recognise(self, source: Source) -> float:
        """Claim text with marks of OpenNLP, and text with names in square brackets."""
        lines = source.head(*self.suffixes).lines[:SEEN_LINES]
        if any("<START" in line and MARKED.search(line) for line in lines):
            return 1.0
        if lines and lines[0].lstrip().startswith("{"):
            return 0.0
        if any(map(RASA.match, lines)) and any("examples:" in line or line.startswith("## intent:") for line in lines):
            return 1.0
        if any("]" in line and (LINKED.search(line) or MARKED_SQUARE.search(line)) for line in lines):
            return 0.8
        if any("]" in line and TIGHT.search(line) for line in lines):
            return 0.6
        return 0.55 if _has_small_types(lines) else 0.0

    def read(self, source: Source, options: ReadOptions) -> Reading:
        """Read all documents of all files.

        Raises:
            FormatError: with every problem found: marks that open nothing, close nothing, or hold no word.
        """
        builder = Builder(source.name, named=False)
        files = source.pick(*self.suffixes)
        n_unread = 0
        for file in files:
            lines = file.lines()
            if pattern := _pattern_of_lines(lines):
                _add_lines(file, lines, pattern, builder)
                continue
            # Text without any name is as OpenNLP has it.
            marks = MARKS["<"]
            if not any(map(MARK.search, lines)):
                if any(map(MARKED_SQUARE.search, lines)):
                    marks = MARKS["["]
                elif _has_small_types(lines) and any(map(SMALL_MARKED_SQUARE.search, lines)):
                    marks = SMALL_MARKS
                else:
                    n_unread += sum(len(BRACKETS.findall(line)) for line in lines)
            for document in _documents(file, lines, marks, options.type or ENTITY, builder):
                text = " ".join(document.words).replace(" \n ", "\n")
                builder.document(
                    None,
                    text,
                    line=document.line,
                    source=file.shown,
                    tokens=document.tokens,
                    sentences=document.sentences,
                )
                for start, end, label, line in document.spans:
                    builder.span(start, end, label, line=line)
        layer = builder.finish(options.name or source.label)
        notes = unread_files_note(source, files)
        notes += [f"square brackets read as text, as they mark no names: {n_unread}"] if n_unread else []
        return Reading(layer.documents, layer, self.name, tuple(notes), places=builder.places)


READER = BracketedReader()


def _has_small_types(lines: Sequence[str]) -> bool:
    """Return whether all square brackets of lines hold a type in small letters and words, of few types that recur.

    Brackets in a text, such as `[sic]` and `[see below]`, are as a rule not all of this form.
    """
    groups = [mark[0] for line in lines if "]" in line for mark in BRACKETS.finditer(line)]
    if not groups or any(LINKED.search(line) or TIGHT.search(line) for line in lines):
        return False
    names = [SMALL_NAME.fullmatch(group) for group in groups]
    types = {name["type"] for name in names if name}
    return all(names) and 2 <= len(types) <= min(MOST_SMALL_TYPES, len(names) - 1)


def _pattern_of_lines(lines: Sequence[str]) -> re.Pattern[str] | None:
    """Return the marks of lines that stand as they are, None where the lines are of words with blanks between."""
    if any(MARK.search(line) or MARKED_SQUARE.search(line) for line in lines):
        return None
    if _has_small_types(lines):
        return None if any(map(SMALL_MARKED_SQUARE.search, lines)) else SMALL_TIGHT
    has_marks = (pattern for pattern in (LINKED, TIGHT) if any("]" in line and pattern.search(line) for line in lines))
    return LINKED if any(map(RASA.match, lines)) else next(has_marks, None)


def _add_lines(file: SourceFile, lines: Sequence[str], pattern: re.Pattern[str], builder: Builder) -> None:
    """Add the lines of a file, or the examples of Rasa's data, as documents."""
    is_rasa = any(map(RASA.match, lines))
    for number, line in _examples(lines) if is_rasa else enumerate(lines, start=1):
        if not line or line.isspace():
            continue
        pieces: list[str] = []
        spans: list[tuple[int, int, str, dict[str, str]]] = []
        at = size = 0
        for mark in pattern.finditer(line):
            size += mark.start() - at
            pieces += [line[at : mark.start()], mark["words"]]
            at = mark.end()
            label, meta = _type_of(mark)
            if not label:
                finding = f"no type in {quoted(mark[0])}"
                builder.problem(number, finding, 'write [words](type) or [words]{"entity": "type"}', source=file.shown)
            spans.append((size, size + len(mark["words"]), label, meta))
            size += len(mark["words"])
        builder.document(None, "".join((*pieces, line[at:])), line=number, source=file.shown)
        for start, end, label, meta in spans:
            builder.span(start, end, label or ENTITY, line=number, meta=meta)


def _type_of(mark: re.Match[str]) -> tuple[str, dict[str, str]]:
    """Return the type of a name and what else is said of it, no type where that cannot be read."""
    if "details" not in mark.groupdict() or not mark["details"]:
        return mark["type"], {}
    try:
        details = json.loads(mark["details"])
    except ValueError:
        return "", {}
    return str(details.get("entity", "")), {key: str(details[key]) for key in RASA_DETAILS if key in details}


def _examples(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield the examples of intents with their lines; the text of one may stand on the line below."""
    is_read = is_below = is_intent = False
    for number, line in enumerate(lines, start=1):
        if part := RASA_PART.match(line):
            is_intent = part["kind"] == "intent"
            is_read = is_intent and line.startswith("##")
        elif line.strip().startswith("examples:"):
            is_read = is_intent
        elif is_below and line.strip():
            yield number, line.strip()
            is_below = False
        elif is_read and (example := RASA_EXAMPLE.fullmatch(line)):
            is_below = BLOCK.fullmatch(example["text"]) is not None
            if not is_below:
                yield number, example["text"]


def _documents(
    file: SourceFile, lines: Sequence[str], marks: _Marks, label: str, builder: Builder
) -> Iterator[_Document]:
    """Yield the documents of a file."""
    filled = [number for number, line in enumerate(lines) if line and not line.isspace()]
    each_line = filled == list(range(len(filled)))
    document: _Document | None = None
    before = -1
    for number in filled:
        if document is None or each_line or number > before + 1:
            if document is not None:
                yield document
            document = _Document(number + 1)
        _add_line(lines[number], number + 1, document, marks, label, file, builder)
        before = number
    if document is not None:
        yield document


def _add_line(
    line: str, number: int, document: _Document, marks: _Marks, label: str, file: SourceFile, builder: Builder
) -> None:
    """Add a sentence with its spans; marks that do not match go to the problems."""
    opened: list[tuple[int, str]] = []
    first = len(document.tokens)

    def complain(finding: str) -> None:
        builder.problem(number, finding, f"write names as {marks.form}", source=file.shown)

    def add(word: str) -> None:
        at = document.tokens[-1][1] + 1 if document.tokens else 0
        document.words.append(word)
        document.tokens.append((at, at + len(word)))

    if document.words:
        document.words.append("\n")
    for part in marks.pattern.finditer(line):
        if part["end"]:
            if not opened:
                complain(f"{quoted(part[0])} closes no name")
                return
            token, kind = opened.pop()
            if kind == TEXT:
                add(part[0])
            elif token == len(document.tokens):
                complain(f"a name {quoted(kind)} without words")
                return
            else:
                document.spans.append((document.tokens[token][0], document.tokens[-1][1], kind, number))
        elif part["type"] is not None or part[0] == "<START>":
            if opened and not marks.nested:
                complain(f"{quoted(part[0])} in a name that is not closed")
                return
            opened.append((len(document.tokens), part["type"] or label))
        else:
            add(part[0])
            if part[0] == TEXT and marks.nested:
                # What closes it is text too.
                opened.append((len(document.tokens), TEXT))
    if still_open := [kind for _, kind in opened if kind != TEXT]:
        complain(f"a name {quoted(still_open[-1])} that is not closed")
    if first < len(document.tokens):
        document.sentences.append((document.tokens[first][0], document.tokens[-1][1]))
    elif document.words:
        document.words.pop()
