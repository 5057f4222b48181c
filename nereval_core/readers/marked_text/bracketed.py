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
from dataclasses import dataclass
from itertools import pairwise

from nereval_core.corpus.builder import Builder
from nereval_core.problems import quoted
from nereval_core.readers import Reader, Reading, ReadOptions, Source
from nereval_core.readers.input.source import SourceFile, unread_files_note

BRACKETS = re.compile(r"\[[^\[\]]*\]")
SMALL_NAME = re.compile(r"\[(?P<type>[a-z][a-z0-9_-]+):?\s+[^\s\[\]][^\[\]]*\]")
MOST_SMALL_TYPES = 12
RASA = re.compile(r"(?:nlu:|\s*- intent:\s|## intent:)")
RASA_PART = re.compile(r"\s*(?:-|##)\s*(?P<kind>intent|synonym|lookup|regex|rule|story|response)\s*:")
RASA_EXAMPLE = re.compile(r"\s*[-*+]\s+(?:text:\s*)?(?P<text>.*?)\s*(?:<!--.*-->\s*)?")
BLOCK = re.compile(r"[|>][-+]?")
"""What opens a text on the lines below it in YAML."""
ENTITY = "entity"
TEXT = "["
"""A bracket that opens no name."""
SEEN_LINES = 200
"""Lines by which a file is recognised."""


@dataclass(frozen=True, slots=True)
class _Notation:
    """How a tool marks names. `sign` shows that a line has such; `pattern` is what a line is made of.

    `form` is how one is written in lines of words with blanks between; other lines stand as they are, and `pattern` is
    of the names in them. `is_small` is true where types are in small letters, as other words in brackets may be.
    """

    sign: re.Pattern[str]
    pattern: re.Pattern[str]
    confidence: float
    form: str = ""
    nested: bool = False
    is_small: bool = False


def _square(form: str, letter: str, confidence: float) -> _Notation:
    """Return the notation with brackets apart from words, whose types begin with a letter of a range."""
    sign = re.compile(rf"(?:^|\s)\[[{letter}][\w-]*\s+[^\[\]]*\s\](?:\s|$)")
    pattern = re.compile(rf"(?:^|(?<=\s))(?:\[(?P<type>[{letter}][\w-]*)(?=\s)|(?P<end>\])(?=\s|$))|\S+")
    return _Notation(sign, pattern, confidence, form, nested=True, is_small=letter == "a-z")


def _tight(letter: str, confidence: float) -> _Notation:
    """Return the notation with brackets at the words, whose types are of letters of a range."""
    pattern = rf"\[(?P<type>[{letter}][{letter}0-9_-]+):?\s+(?P<words>[^\[\]]*[^\s\[\]])\](?![(/{{\w])"
    return _Notation(re.compile(pattern), re.compile(pattern), confidence, is_small=letter == "a-z")


MARK = re.compile(r"<START[:>]|<END>")
OPENNLP = _Notation(
    re.compile(r"<START(?::[^<>\s]*)?>.*<END>"),
    re.compile(r"<START(?::(?P<type>[^<>\s]*))?>|(?P<end><END>)|(?:(?!<START[:>]|<END>)\S)+"),
    1.0,
    "<START:type> words <END>",
)
NAME = re.compile(r"\[(?P<words>[^\[\]]+)\](?:\((?P<type>[^\W\d][\w-]*)(?::[^()/]*)?\)|(?P<details>\{\s*\"[^{}]*\}))")
LINKED, TIGHT = _Notation(NAME, NAME, 0.8), _tight("A-Z", 0.6)
SQUARE = _square("[TYPE words ]", "A-Z", 0.8)
NOTATIONS = (OPENNLP, SQUARE, _square("[type words ]", "a-z", 0.55), _tight("a-z", 0.55), LINKED, TIGHT)
"""The first that lines have is theirs."""


class BracketedReader(Reader):
    name = "bracketed"
    description = "names between marks: <START:person> Ann <END> of OpenNLP, [PER Ann ], [Ann](PER) of Rasa"
    suffixes = (".train", ".txt", ".test", ".dev", ".out", ".yml", ".yaml")

    def recognise(self, source: Source) -> float:
        """Claim text with marks of OpenNLP, and text with names in square brackets."""
        lines = source.head(*self.suffixes).lines[:SEEN_LINES]
        if lines and lines[0].lstrip().startswith("{") and not any(map(OPENNLP.sign.search, lines)):
            return 0.0
        if any(map(RASA.match, lines)) and any("examples:" in line or line.startswith("## intent:") for line in lines):
            return 1.0
        return notation.confidence if (notation := _notation(lines)) else 0.0

    def read(self, source: Source, options: ReadOptions) -> Reading:
        """Read all documents of all files.

        Raises:
            FormatError: with every problem found: marks that open nothing, close nothing, or hold no word.
        """
        builder = Builder(source.name, named=False)
        files, n_unread = source.pick(*self.suffixes), 0
        for file in files:
            lines = file.lines()
            marked = OPENNLP if any(map(MARK.search, lines)) else None
            notation = marked or (LINKED if any(map(RASA.match, lines)) else _notation(lines))
            if notation and not notation.form:
                _add_lines(file, lines, notation.pattern, builder)
                continue
            if notation is None:
                # Text without any name is as OpenNLP has it.
                notation = OPENNLP
                n_unread += sum(len(BRACKETS.findall(line)) for line in lines)
            filled = [number for number, line in enumerate(lines, start=1) if line and not line.isspace()]
            each_line = len(filled) == (filled or [0])[-1]
            edges = [at for at, number in enumerate(filled) if not at or each_line or number > filled[at - 1] + 1]
            for first, last in pairwise((*edges, len(filled))):
                sentences = [(number, lines[number - 1]) for number in filled[first:last]]
                _add_document(sentences, notation, options.type or ENTITY, file.shown, builder)
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
    if not groups or any(each.sign.search(line) for line in lines for each in (LINKED, TIGHT)):
        return False
    names = [SMALL_NAME.fullmatch(group) for group in groups]
    types = {name["type"] for name in names if name}
    return all(names) and 2 <= len(types) <= min(MOST_SMALL_TYPES, len(names) - 1)


def _notation(lines: Sequence[str]) -> _Notation | None:
    """Return the notation of the names in lines, None where they have none."""
    is_small = _has_small_types(lines)
    return next((each for each in NOTATIONS if is_small >= each.is_small and any(map(each.sign.search, lines))), None)


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
    return str(details.get("entity", "")), {key: str(details[key]) for key in ("role", "group") if key in details}


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


def _add_document(
    sentences: Sequence[tuple[int, str]], notation: _Notation, label: str, source: str, builder: Builder
) -> None:
    """Add lines of words, each with its number, as a document; marks that do not match go to the problems."""
    texts, at = list[str](), 0
    tokens, bounds, spans = list[tuple[int, int]](), list[tuple[int, int]](), list[tuple[int, int, str, int]]()
    for number, line in sentences:
        words, names, finding = _words(line, notation, label)
        if finding:
            builder.problem(number, finding, f"write names as {notation.form}", source=source)
        first = len(tokens)
        for word in words:
            tokens.append((at, at + len(word)))
            at += len(word) + 1
        if words:
            texts.append(" ".join(words))
            bounds.append((tokens[first][0], tokens[-1][1]))
        spans += [(tokens[first + low][0], tokens[first + high - 1][1], kind, number) for low, high, kind in names]
    builder.document(None, "\n".join(texts), line=sentences[0][0], source=source, tokens=tokens, sentences=bounds)
    for start, end, kind, number in spans:
        builder.span(start, end, kind, line=number)


def _words(line: str, notation: _Notation, label: str) -> tuple[list[str], list[tuple[int, int, str]], str]:
    """Return the words of a line, first word, end and type of each name, and what of the marks does not match."""
    words, names, opened = list[str](), list[tuple[int, int, str]](), list[tuple[int, str]]()
    for part in notation.pattern.finditer(line):
        if part["end"]:
            if not opened:
                return words, names, f"{quoted(part[0])} closes no name"
            first, kind = opened.pop()
            if kind == TEXT:
                words.append(part[0])
            elif first == len(words):
                return words, names, f"a name {quoted(kind)} without words"
            else:
                names.append((first, len(words), kind))
        elif part["type"] is not None or part[0] == "<START>":
            if opened and not notation.nested:
                return words, names, f"{quoted(part[0])} in a name that is not closed"
            opened.append((len(words), part["type"] or label))
        else:
            words.append(part[0])
            if part[0] == TEXT and notation.nested:
                # What closes it is text too.
                opened.append((len(words), TEXT))
    still_open = [kind for _, kind in opened if kind != TEXT]
    return words, names, f"a name {quoted(still_open[-1])} that is not closed" if still_open else ""
