"""The format of BioCreative's gene mention task (GENETAG): sentences, and mentions in lines `id|start end|text`.

Offsets count the characters of a sentence that are not blanks, from 0, and the end is inclusive; the text may be
missing. A folder of gold holds the sentences (lines `id text`), `GENE.eval` and, in `ALTGENE.eval`, other boundaries
that are as good. A prediction is one such file of mentions. See Tanabe et al. 2005, and Smith et al. 2008.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import PurePosixPath
from typing import NamedTuple

from nereval_core.corpus import Documents, Place, document_problems, layer
from nereval_core.problems import FormatError, Problem, ProblemList, counted, quoted, quoted_apart
from nereval_core.readers import Reader, Reading, ReadOptions, Source
from nereval_core.readers.input.source import SourceFile, unread_files_note, with_progress
from nereval_core.readers.shared.layer_parts import rowless_note

GOLD = "GENE.eval"
VARIANTS = "ALTGENE.eval"
MENTIONS = ".eval"
SENTENCES = ".in"
TYPE = "GENE"
"""The one type of the task."""

# An id ends at the first blank of its sentence's line, so that it has none.
LINE = re.compile(r"([^|\s]+)\|[ \t]*([0-9]+)([ \t]+)([0-9]+)[ \t]*(?:\|(.*))?", re.DOTALL)
FORM = "write it as id|start end|text"
UNKNOWN = "leave the line out, or give the sentence; or leave such lines out: --unplaced drop"
"""Remedy for a mention of a sentence that is not there. The task's scorer counts each such line as wrong."""
NO_TEXT = "give the folder that holds the sentences (lines: id text) too, or score it against gold that has them"


class Bc2gmReader(Reader):
    name = "bc2gm"
    description = "BioCreative II gene mentions (GENETAG): sentences, GENE.eval and ALTGENE.eval, or one .eval file"

    def recognise(self, source: Source) -> float:
        """Claim a source where the file of mentions begins with a line of this form."""
        file = mention_file(source)
        if file is None:
            return 0.0
        line = source.head_of(file).first_line
        if not line:
            return 1.0 if _name(file) == GOLD.lower() else 0.0
        return 1.0 if not line.startswith("{") and LINE.fullmatch(line) else 0.0

    def read(self, source: Source, options: ReadOptions) -> Reading:
        """Read a document for each sentence, in the order of the sentences.

        A variant belongs to every mention of its sentence that shares a character with it; those that overlap none are
        left out and counted. Without a file of sentences the texts are those of `options.texts`. Mentions of sentences
        that are not there are left out and counted where `options.unplaced` is "drop".

        Raises:
            FormatError: with every problem found: lines of another form, sentences that are not there, offsets outside
                them, a third field that is not the text (blanks aside).
        """
        file = mention_file(source)
        if file is None:
            finding = f"no file of mentions: neither {GOLD} nor one {MENTIONS} file"
            raise FormatError.single(source.name, None, finding, "give a folder with one, or the file itself")
        problems = ProblemList()
        own = sentence_files(source, file)
        documents, places = _documents(own, options.texts, file, problems)
        mentions = _Mentions(documents, problems, drops_unknown=options.unplaced == "drop")
        for line in _lines(file, options, problems):
            row = mentions.row(line, file.shown)
            if row is not None:
                mentions.rows.append(row)
                mentions.lines.append(line)
        variants = companion_file(source, file, VARIANTS)
        if variants is not None and variants is not file:
            _attach(variants, options, mentions)
        spans = [mentions.points[row.document].of(row) for row in mentions.rows]
        result = layer(
            options.name or source.label,
            documents,
            [row.document for row in mentions.rows],
            [start for start, _ in spans],
            [end for _, end in spans],
            [TYPE] * len(spans),
            extras={"alternatives": {span: tuple(sorted(set(rows))) for span, rows in mentions.variants.items()}},
            where=lambda span: (file.shown, mentions.lines[span].number),
            problems=problems,
        )
        files_read = [file, *own, *([] if variants is None else [variants])]
        rows = {row.document for row in mentions.rows}
        bare = [number for number in range(len(documents)) if number not in rows] if documents is options.texts else []
        notes = (*rowless_note(documents, bare), *_notes(mentions.counts), *unread_files_note(source, files_read))
        n_unknown = mentions.counts["unknown"]
        mended = f"{counted(n_unknown, 'mention')} of unknown sentences left out" if n_unknown else ""
        notes += (f"{mended}; the task's scorer counts each as wrong",) if mended else ()
        return Reading(documents, result, self.name, notes, places=places, mended=mended)


READER = Bc2gmReader()


class MentionLine(NamedTuple):
    """A line of mentions: offsets over the characters that are not blanks, end inclusive."""

    number: int
    id: str
    start: int
    end: int
    quote: str | None
    odd: bool


class _Row(NamedTuple):
    document: int
    start: int
    end: int


class NonBlankPlaces:
    """Places of the characters of a text that are not blanks, of which there are `size`."""

    def __init__(self, text: str) -> None:
        self.text = text
        words = text.split()
        # Characters before the end of each word, blanks left out.
        self._ends = [*accumulate(map(len, words))]
        self.size = self._ends[-1] if words else 0
        self._at: list[int] | None = None
        # Words parted by more than one blank are rare, and so are blanks at the ends.
        if len(text) != self.size + max(0, len(words) - 1):
            self._at = [place for place, character in enumerate(text) if not character.isspace()]

    def of(self, row: Sequence[int]) -> tuple[int, int]:
        """Return the code points, end exclusive, of a row that ends in two such offsets, end inclusive."""
        start, end = row[-2], row[-1]
        if self._at is not None:
            return self._at[start], self._at[end] + 1
        # One blank stands before each word but the first.
        return start + bisect_right(self._ends, start), end + bisect_right(self._ends, end) + 1


@dataclass(slots=True)
class _Mentions:
    """Mentions as `rows`, with their `lines`, and variants by mention."""

    documents: Documents
    problems: list[Problem]
    drops_unknown: bool = False
    rows: list[_Row] = field(default_factory=list)
    lines: list[MentionLine] = field(default_factory=list)
    points: dict[int, NonBlankPlaces] = field(default_factory=dict)
    variants: dict[int, list[tuple[int, int]]] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)

    def row(self, line: MentionLine, source: str) -> _Row | None:
        """Return where a mention stands; None, with a problem or a count noted, where it is not in its sentence."""
        document = self.documents.index.get(line.id)
        if document is None and self.drops_unknown:
            self.counts["unknown"] += 1
            return None
        if document is None:
            self.problems.append(Problem(source, line.number, f"no sentence {quoted(line.id)}", UNKNOWN))
            return None
        points = self.points.get(document)
        if points is None:
            points = self.points[document] = NonBlankPlaces(self.documents.texts[document])
        size = points.size
        if not line.start <= line.end < size:
            finding = (
                f"{line.start} {line.end} is not inside sentence {quoted(line.id)}, {counted(size, 'character')} "
                "without blanks"
            )
            remedy = f"count characters without blanks, end inclusive: 0 <= start <= end < {size}"
            self.problems.append(Problem(source, line.number, finding, remedy))
            return None
        low, high = points.of((line.start, line.end))
        covered = points.text[low:high]
        # Most lines quote the text as it stands, or without its blanks.
        quote = covered if line.quote is None else line.quote
        if quote != covered and "".join(quote.split()) != "".join(covered.split()):
            quote, covered = quoted_apart(quote, covered)
            finding = f"the quoted text {quote} is not the text at {line.start} {line.end}, {covered}"
            remedy = "check offsets (characters without blanks, end inclusive) and text version"
            self.problems.append(Problem(source, line.number, finding, remedy))
            return None
        self.counts["odd"] += line.odd
        self.counts["no quote"] += line.quote is None
        return _Row(document, line.start, line.end)


def _attach(file: SourceFile, options: ReadOptions, mentions: _Mentions) -> None:
    """Give each variant to the mentions of its sentence that it overlaps."""
    bounds_of_document: dict[int, list[tuple[int, int, int]]] = {}
    for span, row in enumerate(mentions.rows):
        bounds_of_document.setdefault(row.document, []).append((row.start, row.end, span))
    for rows in bounds_of_document.values():
        rows.sort()
    for line in _lines(file, options, mentions.problems):
        if line.id not in mentions.documents.index:
            mentions.counts["foreign"] += 1
            continue
        variant = mentions.row(line, file.shown)
        if variant is None:
            continue
        near = bounds_of_document.get(variant.document, [])
        last = (variant.end, len(mentions.documents.texts[variant.document]), len(mentions.rows))
        near = near[: bisect_right(near, last)]
        over = [span for _, end, span in near if end >= variant.start]
        mentions.counts["alone"] += not over
        place = mentions.points[variant.document].of(variant)
        for span in over:
            mentions.variants.setdefault(span, []).append(place)


def _lines(file: SourceFile, options: ReadOptions, problems: list[Problem]) -> list[MentionLine]:
    """Return the mentions of a file; lines of another form become problems, blank ones are passed over."""
    try:
        lines = file.lines()
    except FormatError as error:
        problems.extend(error.problems)
        return []
    rows = []
    for number, line in enumerate(with_progress(lines, options.progress), start=1):
        match = LINE.fullmatch(line)
        if match is not None:
            name, start, blanks, end, quote = match.groups()
            # Digits beyond any text are cut, so that they are refused as outside.
            rows.append(MentionLine(number, name, int(start[:15]), int(end[:15]), quote, blanks != " "))
        elif line and not line.isspace():
            problems.append(Problem(file.shown, number, f"{quoted(line)} is not a mention", FORM))
    return rows


def _documents(
    files: Sequence[SourceFile], texts: Documents | None, beside: SourceFile, problems: list[Problem]
) -> tuple[Documents, tuple[Place, ...]]:
    """Return the sentences with their places: those of the files, or gold's where there is no file."""
    if files:
        return read_sentences(files, problems)
    if texts is not None:
        return texts, ()
    problems.append(Problem(beside.shown, None, "no text: there is no file of sentences", NO_TEXT))
    raise FormatError(problems)


def read_sentences(files: Sequence[SourceFile], problems: list[Problem]) -> tuple[Documents, tuple[Place, ...]]:
    """Return the sentences of files with their places; their problems are added to `problems`."""
    ids, texts, places = [], [], []
    for file in files:
        try:
            lines = file.lines()
        except FormatError as error:
            problems.extend(error.problems)
            continue
        for number, line in enumerate(lines, start=1):
            if line and not line.isspace():
                name, _, text = line.partition(" ")
                ids.append(name)
                texts.append(text)
                places.append((file.shown, number))
    documents = Documents(tuple(ids), tuple(texts), unit="sentence")
    problems.extend(document_problems(documents, places.__getitem__))
    return documents, tuple(places)


def _name(file: SourceFile) -> str:
    return PurePosixPath(file.name).name.lower()


def _folder(file: SourceFile) -> str:
    return str(PurePosixPath(file.name).parent)


def mention_file(source: Source) -> SourceFile | None:
    """Return the file of mentions: the GENE.eval that lies least deep, else the only one of its kind."""
    gold = [file for file in source.by_suffix.get(MENTIONS, ()) if _name(file) == GOLD.lower()]
    if gold:
        depth = min(file.name.count("/") for file in gold)
        gold = [file for file in gold if file.name.count("/") == depth]
        return gold[0] if len(gold) == 1 else None
    rest = list(source.by_suffix.get(MENTIONS, ()))
    if len(rest) > 1:
        rest = [file for file in rest if _name(file) != VARIANTS.lower()]
    if not rest and len(source.files) == 1:
        return source.files[0]
    return rest[0] if len(rest) == 1 else None


def companion_file(source: Source, file: SourceFile, name: str) -> SourceFile | None:
    """Return the file of this name in the same folder."""
    here = (other for other in source.files if _folder(other) == _folder(file))
    return next((other for other in here if _name(other) == name.lower()), None)


def sentence_files(source: Source, beside: SourceFile) -> list[SourceFile]:
    """Return the files of sentences beside the mentions: those that end in `.in`, else one whose ids are mentioned."""
    here = [file for file in source.files if _folder(file) == _folder(beside) and file.suffix != MENTIONS]
    files = [file for file in here if file is not beside]
    named = [file for file in files if file.suffix == SENTENCES]
    if named or not files:
        return named
    ids = {line.partition("|")[0] for line in beside.head().lines}

    def mentioned(file: SourceFile) -> bool:
        return any(line.partition(" ")[0] in ids for line in file.head().lines if " " in line)

    return list(filter(mentioned, files))[:1]


def _notes(counts: Mapping[str, int]) -> list[str]:
    return [
        note.format(counts[key])
        for key, note in (
            ("odd", "offsets with more than one blank between them: {}"),
            ("no quote", "mentions without a quoted text, so nothing to check the offsets by: {}"),
            ("alone", "variants that overlap no mention of their sentence, left out: {}"),
            ("foreign", "variants of sentences that are not there, left out: {}"),
        )
        if counts[key]
    ]
