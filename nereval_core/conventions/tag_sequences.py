"""Tag sequences, for all scorers of tags: tags as numbers, their neighbours, chunks, and records of tokens."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from nereval_core.conventions.convention import LayerPair, Options, ScorerInput, TagPair
from nereval_core.conventions.records import COR, INC, MatchRows, UnitColumns, record_frame
from nereval_core.corpus.arrays import Array, Bools, Int32, Int64
from nereval_core.problems import FormatError, Problem, ProblemList
from nereval_core.readers.shared import tag_schemes
from nereval_core.readers.shared.token_tags import Tagged, tags_of_layer

TransitionRule = Callable[[Array, Array, Array, Array], tuple[Bools, ...]]
"""Takes letter and type before, letter and type; returns answers about the place between."""
MOST_PAIRS = 1 << 20
"""Pairs of distinct tags up to which transitions are looked up; beyond, they are computed at each token."""
TOKEN_REASONS = ("the same tag on both sides", "another tag on the other side")
NONE = np.empty(0, np.int64)


def read_tags(files: ScorerInput, options: Options) -> TagPair:
    return files.read_tags()


def tags_of_layers(layers: LayerPair, needed_by: str) -> TagPair:
    """Return the IOB2 tags that say the spans of layers."""
    return TagPair(tags_of_layer(layers.gold, needed_by), tags_of_layer(layers.pred, needed_by))


def in_scheme(iob2: Tagged, name: str) -> Tagged:
    """Return well-formed IOB2 tags in another scheme."""
    (numbers,), names = number_tags(iob2.tags)
    scheme = tag_schemes.scheme_named(name)
    outside, begin, inside = range(3)
    letter = np.array(["OBI".index(tag[0]) for tag in names], np.int8)[numbers]
    kinds = {tag[2:]: 0 for tag in names}
    kinds = {kind: code for code, kind in enumerate(kinds)}
    kind = np.array([kinds[tag[2:]] for tag in names], np.int64)[numbers]
    first, last = letter == begin, next_values(letter, iob2.sentences, outside) != inside
    place = np.where(first & last, 0, np.where(first, 1, np.where(last, 3, 2)))
    if scheme.parted:
        step = next_values if scheme.parts_end else previous_values
        touches = (step(letter, iob2.sentences, outside) != outside) & (step(kind, iob2.sentences, -1) == kind)
        place = np.where(touches & (last if scheme.parts_end else first), 4, place)
    place = np.where(letter == outside, 5, place)
    written = scheme.written + scheme.parted.ljust(1)
    table = [[f"{letter}-{kind}" for letter in written] + ["O"] for kind in kinds]
    tags = np.array(table, object)[kind, place] if len(kind) else np.empty(0, object)
    return replace(iob2, tags=tags.tolist())


def refuse_tags(tags: TagPair, numbers: Iterable[Int32], names: Sequence[str], wrong: Mapping[str, str]) -> None:
    """Refuse tags at which a scorer stops: `wrong` says of each why; its first place on each side is told.

    Raises:
        FormatError: there is any.
    """
    problems = ProblemList()
    for side, codes in zip(tags, numbers, strict=True):
        for code, name in enumerate(names):
            if name in wrong and len(tokens := np.flatnonzero(codes == code)):
                problems.append(Problem(*side.place(int(tokens[0])), wrong[name], "mend the tag, or name its scheme"))
    if problems:
        raise FormatError(problems)


@dataclass(frozen=True, eq=False)
class TagChunks:
    """Spans of one side by first and last token and type (a number), in order; the last tokens are all different.

    `dropped` are the first and last tokens of chunks that are tagged and belong to no span.
    """

    first: Int64
    last: Int64
    kind: Array
    dropped: tuple[Int64, Int64] = (NONE, NONE)

    def __len__(self) -> int:
        return len(self.last)

    def units(self, tagged: Tagged, types: tuple[str, ...]) -> UnitColumns:
        return UnitColumns.of_tokens(tagged, self.first, self.last, self.kind, types)


def same_spans(gold: TagChunks, pred: TagChunks, tokens: int) -> tuple[Int64, Int64]:
    """Return the numbers of the spans that are on both sides, pair by pair."""
    ends = np.zeros((2, tokens), bool)
    ends[0, gold.last] = True
    ends[1, pred.last] = True
    g, p = np.flatnonzero(ends[1, gold.last]), np.flatnonzero(ends[0, pred.last])
    same = (gold.first[g] == pred.first[p]) & (gold.kind[g] == pred.kind[p])
    return g[same], p[same]


def chunk_matches(gold: TagChunks, pred: TagChunks, tokens: int) -> MatchRows:
    """Match spans of the same tokens and type."""
    return MatchRows.of_pairs(*same_spans(gold, pred, tokens), len(gold), len(pred))


def runs(inside: Bools, parted: Bools) -> tuple[Int64, Int64]:
    """Return the first and the last token of each run of tokens inside, shape (tokens,).

    `parted` (tokens - 1,) says between which tokens a run ends and another begins.
    """
    edge = np.ones(len(inside) + 1, bool)
    edge[1:-1] = parted | ~inside[1:] | ~inside[:-1]
    return np.flatnonzero(inside & edge[:-1]), np.flatnonzero(inside & edge[1:])


def number_tags(*sides: Sequence[str]) -> tuple[list[Int32], tuple[str, ...]]:
    """Return each side's tags as indices into the distinct tags of all sides, and these."""
    codes: defaultdict[str, int] = defaultdict()
    codes.default_factory = codes.__len__
    numbers = [np.fromiter(map(codes.__getitem__, side), np.int32, len(side)) for side in sides]
    return numbers, tuple(codes)


def previous_values(values: Array, sentences: Int64, outside: int) -> Array:
    """Return the value before each token, `outside` at the start of a sentence."""
    previous = np.empty_like(values)
    previous[1:] = values[:-1]
    previous[sentences[:-1]] = outside
    return previous


def next_values(values: Array, sentences: Int64, outside: int) -> Array:
    """Return the value after each token, `outside` at the end of a sentence."""
    following = np.empty_like(values)
    following[:-1] = values[1:]
    following[sentences[1:] - 1] = outside
    return following


def find_transitions(
    rule: TransitionRule,
    numbers: Int32,
    sentences: Int64,
    letter: Array,
    kind: Array,
    between: int,
    at_start: int | None = None,
) -> tuple[Bools, ...]:
    """Return the answers of a rule at each token: about the tag before it, and (the last array) about the one after.

    `letter` and `kind` are those of the distinct tags; `between` is the tag that stands between sentences, `at_start`
    (where it is another) the one before the first token of all.
    """
    previous, following = previous_values(numbers, sentences, between), next_values(numbers, sentences, between)
    if at_start is not None and len(previous):
        previous[0] = at_start
    count = len(letter)
    if count * count <= MOST_PAIRS:
        before, after = np.repeat(np.arange(count), count), np.tile(np.arange(count), count)
        *tables, last = rule(letter[before], kind[before], letter[after], kind[after])
        gap = previous * count + numbers
        return *(table[gap] for table in tables), last[numbers * count + following]
    *answers, _ = rule(letter[previous], kind[previous], letter[numbers], kind[numbers])
    return *answers, rule(letter[numbers], kind[numbers], letter[following], kind[following])[-1]


def last_true(mask: Bools) -> Int64:
    """Return for each place the last one up to it, itself included, where the mask holds; -1 for none."""
    return np.maximum.accumulate(np.where(mask, np.arange(len(mask)), -1))


def token_records(
    evaluation: str, gold: Tagged, pred: Tagged, counters: dict[str, Array], tokens: Int64 | None = None
) -> pd.DataFrame:
    """Return one record for each token (or each of `tokens`): COR where the tags are the same, else INC."""
    sides, names = number_tags(gold.tags, pred.tags)
    tokens = np.arange(len(gold)) if tokens is None else tokens
    units = [UnitColumns.of_tokens(gold, tokens, tokens, side[tokens], names) for side in sides]
    same, number = sides[0][tokens] == sides[1][tokens], np.arange(len(tokens))
    rows = MatchRows(number, number, np.where(same, COR, INC), np.where(same, 0, 1))
    return record_frame(evaluation, units[0], units[1], rows, TOKEN_REASONS, counters, unit="token")
