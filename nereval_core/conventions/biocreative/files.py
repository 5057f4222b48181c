"""Files of gene mentions as alt_eval.perl takes them apart: line by line, offsets as they are written.

A line without an id before a bar belongs to the sentence of the line before it, whole as it stands.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nereval_core.conventions.records import LIMIT, reading_order, text_from_quotes
from nereval_core.corpus import Documents, Layer
from nereval_core.corpus.arrays import Int64
from nereval_core.problems import FormatError, Problem, ProblemList, quoted
from nereval_core.readers import Source, SourceFile
from nereval_core.readers.biomedical.bc2gm import (
    GOLD,
    VARIANTS,
    companion_file,
    mention_file,
    read_sentences,
    sentence_files,
)

PLAIN = re.compile(r"[0-9 ]*")
BLANK = re.compile(r"[ \t\n\r\f\v]")
NUMBER = re.compile(r"[ \t\n\r\f\v]*([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)")


@dataclass(frozen=True, eq=False)
class MentionLines:
    """The lines of a file: the id of their sentence, and what follows it, `start end|text`."""

    ids: Sequence[str]
    rests: Sequence[str]

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def offsets(self) -> list[str]:
        return [rest.partition("|")[0] for rest in self.rests]

    def quote(self, line: int) -> str:
        """Return the third field."""
        return self.rests[line].partition("|")[2].partition("|")[0]

    def line(self, line: int) -> tuple[str, str]:
        return self.ids[line], self.rests[line]

    def of(self, used: frozenset[str]) -> MentionLines:
        """Return the lines of these sentences only."""
        is_used = [name in used for name in self.ids]
        return MentionLines(list(compress(self.ids, is_used)), list(compress(self.rests, is_used)))


@dataclass(frozen=True, eq=False)
class MentionList:
    """One list of mentions: `doc` and `key` (equal for the same offsets in the same sentence), shape (mentions,).

    `start` and `end` are the numbers the program reads, over characters without blanks, end inclusive; `low` and
    `high` the code points that are meant, end exclusive, -1 where the offsets are none of the text. `line` gives a
    mention's id and the rest of its line.
    """

    doc: Int64
    key: Int64
    start: NDArray[Any]
    end: NDArray[Any]
    low: Int64
    high: Int64
    line: Callable[[int], tuple[str, str]]

    def __len__(self) -> int:
        return len(self.doc)


@dataclass(frozen=True, eq=False)
class SolidCharacters:
    """The characters of all texts in a row that are not blanks: `before` counts them before each place, `at` says where
    they are."""

    documents: Documents
    before: Int64
    at: Int64

    @classmethod
    def of(cls, documents: Documents) -> SolidCharacters:
        codes = np.frombuffer("".join(documents.texts).encode("utf-32-le", "surrogatepass"), np.uint32)
        blanks = [code for code in np.unique(codes).tolist() if chr(code).isspace()]
        solid = ~np.isin(codes, np.array(blanks, np.uint32))
        return cls(documents, np.concatenate((np.zeros(1, np.int64), np.cumsum(solid))), np.flatnonzero(solid))

    def points(self, doc: Int64, start: NDArray[Any], end: NDArray[Any]) -> tuple[Int64, Int64]:
        """Return code points, end exclusive, -1 for offsets that are none of their text."""
        base = self.documents.base
        first = self.before[base[doc]]
        fine = (start >= 0) & (start <= end) & (end < self.before[base[doc + 1]] - first)
        fine &= (start == np.floor(start)) & (end == np.floor(end))
        low, high = np.full(len(doc), -1), np.full(len(doc), -1)
        before, origin = first[fine], base[doc[fine]]
        low[fine] = self.at[before + start[fine].astype(np.int64)] - origin
        high[fine] = self.at[before + end[fine].astype(np.int64)] + 1 - origin
        return low, high


def read_lines(gold: Source, pred: Source) -> tuple[MentionLines, MentionLines, MentionLines, Documents | None]:
    """Return the lines of gold, of the variants and of the prediction, and the sentences where they are given.

    Raises:
        FormatError: a file is missing or not UTF-8.
    """
    ours, theirs = mention_file(gold), mention_file(pred)
    others = None if ours is None else companion_file(gold, ours, VARIANTS)
    problems = ProblemList()
    for source, file, what in ((gold, ours, GOLD), (gold, others, VARIANTS), (pred, theirs, "one .eval file")):
        if file is None:
            finding = f"no {what}: alt_eval.perl would say so and stop"
            remedy = "give a folder with it (it may be empty)" if what == VARIANTS else "give a folder with it"
            problems.append(Problem(source.name, None, finding, remedy))
    found_lines = []
    for file in (ours, others, theirs):
        try:
            found_lines.append(mention_lines(file) if file is not None else MentionLines([], []))
        except FormatError as error:
            problems.extend(error.problems)
    files = sentence_files(gold, ours) if ours is not None else []
    texts = read_sentences(files, problems)[0] if files else None
    if problems:
        raise FormatError(problems)
    return found_lines[0], found_lines[1], found_lines[2], texts


def mention_lines(file: SourceFile) -> MentionLines:
    """Return the lines of a file as the program takes them apart."""
    ids, rests = [], []
    last = ""
    for row in split_lines(file):
        name, bar, rest = row.partition("|")
        if bar and name:
            last = name
        else:
            rest = row
        ids.append(last)
        rests.append(rest)
    return MentionLines(ids, rests)


def split_lines(file: SourceFile) -> list[str]:
    """Return the lines of a file; a carriage return or a byte-order mark stays."""
    rows = file.text(keep_bom=True).split("\n")
    if rows[-1] == "":
        rows.pop()
    return rows


def mention_lists(
    gold: MentionLines, variants: MentionLines, pred: MentionLines, sentences: Documents | None
) -> tuple[Documents, MentionList, MentionList, MentionList, tuple[str, ...]]:
    """Return the documents, the three lists of mentions, and notes.

    Documents are the sentences given, then those that only mentions name, their texts pieced together from quotes.
    """
    named = {} if sentences is None else dict(sentences.index)
    index = dict(named)
    three = (gold, variants, pred)
    docs = [
        np.fromiter((index.setdefault(name, len(index)) for name in lines.ids), np.int64, len(lines)) for lines in three
    ]
    offsets = [lines.offsets for lines in three]
    edges = [offset_numbers(lines) for lines in offsets]
    meant = [_meant(lines, *edge) for lines, edge in zip(offsets, edges, strict=True)]
    codes: dict[tuple[int, str], int] = {}
    keys = [
        np.fromiter(
            (codes.setdefault(key, len(codes)) for key in zip(doc.tolist(), lines, strict=True)), np.int64, len(doc)
        )
        for doc, lines in zip(docs, offsets, strict=True)
    ]
    documents = sentences
    notes = []
    if sentences is None or len(index) > len(named):
        quotes: dict[int, list[tuple[int, int, str]]] = {}
        for lines, doc, (start, end) in zip(three, docs, meant, strict=True):
            for line in np.flatnonzero((doc >= len(named)) & (start >= 0) & (start <= end) & (end < LIMIT)).tolist():
                place = int(start[line]), int(end[line]) + 1
                quotes.setdefault(int(doc[line]), []).append((*place, "".join(lines.quote(line).split())))
        texts_made = [text_from_quotes(quotes.get(number, ())) for number in range(len(named), len(index))]
        texts = sentences.texts if sentences is not None else ()
        documents = Documents(tuple(index), (*texts, *texts_made))
        what = "sentences that only mentions name" if sentences is not None else "sentences, of which there is no file"
        notes.append(f"{what}, shown as pieced together from quoted texts: {len(texts_made)}")
    assert documents is not None
    solid = SolidCharacters.of(documents)
    lists = []
    for lines, doc, key, (start, end), numbers in zip(three, docs, keys, edges, meant, strict=True):
        lists.append(MentionList(doc, key, start, end, *solid.points(doc, *numbers), lines.line))
    return documents, lists[0], lists[1], lists[2], tuple(notes)


def layer_mentions(gold: Layer, pred: Layer) -> tuple[MentionList, MentionList, MentionList]:
    """Return gold, variants and prediction as lists of mentions, in the order in which they were read.

    Raises:
        FormatError: discontinuous spans, or spans of blanks alone: such a line cannot be written.
    """
    documents = gold.documents
    solid = SolidCharacters.of(documents)
    alternatives = [
        (int(gold.doc[span]), *variant) for span, rows in sorted(gold.alternatives.items()) for variant in rows
    ]
    table = np.array(sorted(set(alternatives)), np.int64).reshape(-1, 3)
    rows = [_in_order(gold), (table[:, 0], table[:, 1], table[:, 2]), _in_order(pred)]
    problems = ProblemList()
    places = []
    for name, (doc, low, high) in zip((gold.name, "", pred.name), rows, strict=True):
        base = documents.base[doc]
        first, last = solid.before[base + low], solid.before[base + high] - 1
        empty = last < first
        problems += [
            _cannot(name, documents, int(doc[span]), int(low[span]), int(high[span]), "holds blanks only")
            for span in (np.flatnonzero(empty).tolist() if name else ())
        ]
        keep = ~empty
        places.append((doc[keep], low[keep], high[keep], first[keep], last[keep]))
    for layer in (gold, pred):
        problems += [
            _cannot(
                layer.name, documents, int(layer.doc[i]), int(layer.start[i]), int(layer.end[i]), "is discontinuous"
            )
            for i in sorted(layer.fragments)
        ]
    if problems:
        raise FormatError(problems)
    count = len(solid.at) + 1
    whole = np.concatenate([first * count + last for *_, first, last in places])
    _, codes = np.unique(whole, return_inverse=True)
    cuts = np.cumsum([len(place[0]) for place in places])[:-1]
    lists = []
    for (doc, low, high, first, last), key in zip(places, np.split(codes.astype(np.int64), cuts), strict=True):
        origin = solid.before[documents.base[doc]]
        lists.append(
            MentionList(doc, key, first - origin, last - origin, low, high, _written(documents, doc, low, high, solid))
        )
    return lists[0], lists[1], lists[2]


def offset_numbers(offsets: Sequence[str]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the first two numbers of each offset field, as Perl reads text where it needs a number: 0 for none."""
    joined = " ".join(offsets)
    parts = joined.split(" ")
    plain = PLAIN.fullmatch(joined) and len(parts) == 2 * len(offsets) and "" not in parts
    if plain and all(field.count(" ") == 1 for field in offsets) and max(map(len, parts)) < 16:
        table = np.array(parts).astype(np.int64).reshape(-1, 2)
        return table[:, 0], table[:, 1]
    rows = [(*BLANK.split(field), "", "")[:2] for field in offsets]
    values = np.array([[_number(field) for field in row] for row in rows], np.float64).reshape(-1, 2)
    return values[:, 0], values[:, 1]


def _meant(offsets: Sequence[str], start: NDArray[Any], end: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the first two runs of digits of each field, whatever stands between; -1 where there are none."""
    if start.dtype == np.int64:
        return start, end
    rows = [[float(digits) for digits in re.findall("[0-9]+", field)[:2]] for field in offsets]
    table = np.array([row if len(row) == 2 else [-1.0, -1.0] for row in rows]).reshape(-1, 2)
    return table[:, 0], table[:, 1]


def _number(field: str) -> float:
    match = NUMBER.match(field)
    return float(match[1]) if match else 0.0


def _in_order(layer: Layer) -> tuple[Int64, Int64, Int64]:
    order = reading_order(layer)
    doc, start, end = (column[order].astype(np.int64) for column in (layer.doc, layer.start, layer.end))
    return doc, start, end


def _written(
    documents: Documents, doc: Int64, low: Int64, high: Int64, solid: SolidCharacters
) -> Callable[[int], tuple[str, str]]:
    def line(mention: int) -> tuple[str, str]:
        number, start, end = int(doc[mention]), int(low[mention]), int(high[mention])
        base = int(documents.base[number])
        first, last = (int(solid.before[base + place] - solid.before[base]) for place in (start, end))
        return documents.ids[number], f"{first} {last - 1}|{documents.texts[number][start:end].strip()}"

    return line


def _cannot(name: str, documents: Documents, doc: int, start: int, end: int, what: str) -> Problem:
    finding = (
        f"document {quoted(documents.ids[doc])}: span [{start}, {end}) {what}, and alt_eval counts characters in a row"
    )
    return Problem(name, None, finding, "leave the span out, or choose another convention")
