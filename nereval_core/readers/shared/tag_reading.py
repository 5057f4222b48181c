"""The way from tags to a reading, for every format of tags: notation, scheme, problems, decoding, layer."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain
from typing import Any, NamedTuple, Protocol

import numpy as np

from nereval_core.corpus import Documents, Intervals, Labels, Place, document_problems, layer
from nereval_core.corpus.arrays import Int32, Int64
from nereval_core.problems import FormatError, Problem, counted
from nereval_core.readers.read_settings import Reading, ReadOptions
from nereval_core.readers.shared.tag_cells import Notation, notation_of, split_scores, unused_labels_note
from nereval_core.readers.shared.tag_decoding import (
    Chunks,
    decode,
    scheme_of_tags,
    tag_problems,
)
from nereval_core.readers.shared.tag_schemes import SCHEMES, Tags

SCORES_NOTE = "tags have probabilities: a span's score is the mean of those of its tokens"


class SpanBounds(NamedTuple):
    """Documents, starts and ends of spans or tokens, in code points."""

    doc: Int64
    start: Int32
    end: Int32


class TagRows(Protocol):
    """One tag a token, as a format holds them: a list of cells (`TagCells`), or arrays."""

    @property
    def scores(self) -> Sequence[float] | None:
        """The probability of each tag, None where tags have none."""

    @property
    def distinct(self) -> Collection[str]:
        """The tags as they stand in the files, each once."""

    def tags(self, notation: Notation) -> Tags:
        """Return the tags, read in a notation."""

    def written(self, token: int) -> str:
        """Return the tag of a token as it stands in the file."""

    def place(self, token: int) -> Place:
        """Return the file and line of a token."""

    def bounds(self, chunks: Chunks, documents: Documents) -> SpanBounds:
        """Return the bounds of chunks in the documents."""


@dataclass(frozen=True)
class TagCells:
    """The tags of tokens as strings, `cells` having one a token; sentence s is `[first[s], first[s + 1])`.

    `token_bounds` are those of the tagged tokens, None where these are the tokens of the documents.
    """

    cells: Sequence[str]
    first: Sequence[int] | Int64
    place: Callable[[int], Place]
    scores: Sequence[float] | None = None
    token_bounds: SpanBounds | None = None

    @classmethod
    def of_rows(cls, rows: Sequence[Sequence[str]], places: Sequence[Place]) -> TagCells:
        """Return the tags of sentences, each with its place; a cell may hold a tag and its probability."""
        first = [0, *accumulate(map(len, rows))]
        cells, scores = split_scores(list(chain.from_iterable(rows)))
        return cls(cells, first, lambda token: places[bisect_right(first, token) - 1], scores)

    @property
    def distinct(self) -> frozenset[str]:
        return frozenset(self.cells)

    def tags(self, notation: Notation) -> Tags:
        return Tags.of(self.cells, self.first, notation.parse)

    def written(self, token: int) -> str:
        return self.cells[token]

    def bounds(self, chunks: Chunks, documents: Documents) -> SpanBounds:
        if self.token_bounds is not None:
            doc, starts, ends = self.token_bounds
            return SpanBounds(doc[chunks.start], starts[chunks.start], ends[chunks.end - 1])
        return token_bounds(chunks, documents)


def token_bounds(chunks: Chunks, documents: Documents) -> SpanBounds:
    """Return the bounds of chunks of the tokens of documents."""
    tokens = documents.tokens
    assert tokens is not None
    doc = np.searchsorted(tokens.first, chunks.start, side="right") - 1
    return SpanBounds(doc, tokens.starts[chunks.start], tokens.ends[chunks.end - 1])


def reading_of_tags(
    name: str,
    format: str,
    documents: Documents,
    rows: TagRows,
    options: ReadOptions,
    *,
    places: Sequence[Place] = (),
    problems: Iterable[Problem] = (),
    spoilt: Collection[int] = (),
    notes: Iterable[str] = (),
    notation: Notation | None = None,
    extras: Callable[[Chunks], Mapping[str, Mapping[int, Any]]] | None = None,
) -> Reading:
    """Return the reading that tags over the tokens of documents make; it ends the way of every format of tags.

    `name` is the layer's. `places` are those of documents, none where these are gold's. `problems` are those met
    before, `spoilt` the tokens that they are about; `notes` stand behind those on the tags. `notation` is that of a
    format whose tags are IOB2 always; of others it is found by the tags, as their scheme is. `extras` returns what the
    format says of chunks beyond their types, as `layer` takes it.

    Raises:
        FormatError: with all of these problems, and those of tags and documents: several schemes fit and do not decode
            alike, tags are not tags or break the scheme, ids or texts are wrong.
    """
    problems = list(problems)
    if notation is None:
        detected = notation_of(rows.distinct, options)
        tags = rows.tags(detected)
        try:
            scheme, scheme_note = scheme_of_tags(tags, rows.place, options, detected)
        except FormatError as error:
            raise _by_line([*problems, *error.problems]) from None
        before, after = [scheme_note, detected.note], unused_labels_note(options, detected)
        problems += tag_problems(tags, scheme, rows.written, rows.place, options, spoilt)
    else:
        tags, scheme, before, after = rows.tags(notation), SCHEMES["IOB2"], [], []
        problems += tag_problems(tags, scheme, rows.written, rows.place, options, spoilt, schemes=())
    problems += document_problems(documents, places.__getitem__) if places else ()
    if problems:
        raise _by_line(problems)
    chunks = decode(tags, scheme or SCHEMES["IOB2"], options.repair)
    mended = ""
    if chunks.mended:
        done = "cut as conlleval does" if options.repair == "conlleval" else "discarded"
        mended = f"{counted(chunks.mended, 'malformed chunk')} {done}"
    spans = layer(
        name,
        documents,
        *rows.bounds(chunks, documents),
        Labels(chunks.type, tags.names),
        extras=extras(chunks) if extras else {"scores": _chunk_scores(chunks, rows.scores)},
        where=lambda span: rows.place(int(chunks.start[span])),
    )
    tag_notes = filter(None, (*before, mended, SCORES_NOTE if rows.scores is not None else "", *after))
    return Reading(
        documents,
        spans,
        format,
        (*tag_notes, *notes),
        scheme=scheme.name if scheme and notation is None else None,
        places=places,
        mended=mended,
    )


def _chunk_scores(chunks: Chunks, scores: Sequence[float] | None) -> dict[int, float]:
    """Return the score of each chunk, the mean of its tokens' probabilities; nothing where there are none."""
    if scores is None:
        return {}
    sums = np.concatenate((np.zeros(1), np.cumsum(scores)))
    means = (sums[chunks.end] - sums[chunks.start]) / (chunks.end - chunks.start)
    return dict(enumerate(means.tolist()))


def _by_line(problems: Sequence[Problem]) -> FormatError:
    """Return an error with the problems of one file in the order of its lines, those of several as they come."""
    one_file = len({problem.source for problem in problems}) == 1
    return FormatError(sorted(problems, key=lambda problem: problem.line or 0) if one_file else problems)


def documents_of_words(names: Sequence[str | None], words: Sequence[Sequence[str]]) -> Documents:
    """Return documents of words with a blank between; one without a name is called by its number, from 1."""
    ids = tuple(str(at) if name is None else name for at, name in enumerate(names, start=1))
    sizes = [np.fromiter(map(len, row), np.int64, len(row)) for row in words]
    first = np.concatenate((np.zeros(1, np.int64), np.cumsum([len(row) for row in words], dtype=np.int64)))
    ends = [np.cumsum(size + 1) - 1 for size in sizes]
    starts = [end - size for end, size in zip(ends, sizes, strict=True)]
    flat = [np.concatenate([np.zeros(0, np.int64), *side]).astype(np.int32) for side in (starts, ends)]
    texts = tuple(" ".join(row) for row in words)
    return Documents(ids, texts, Intervals(first, *flat), named=any(name is not None for name in names))
