"""Tag sequences, for all scorers of tags: tags as numbers, their neighbours, chunks, counts and records of tokens."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nereval_core.arrays import Bools, Int32, Int64
from nereval_core.conventions.outcome import COR, INC, MIS, SPU, UnitColumns, record_frame
from nereval_core.conventions.shares import Share
from nereval_core.corpus import Layer
from nereval_core.readers.shared.token_tags import Tagged, no_tokens_note, without_tokens

Rule = Callable[[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]], tuple[Bools, ...]]
"""Takes letter and type before, letter and type; returns answers about the place between."""
PAIRS = 1 << 20
"""Pairs of distinct tags up to which transitions are looked up; beyond, they are computed at each token."""

SAME_TAG = ("the same tag on both sides", "another tag on the other side")


NONE = np.empty(0, np.int64)


@dataclass(frozen=True, eq=False)
class TagChunks:
    """Spans of one side by first and last token and type (a number), in order; the last tokens are all different.

    `dropped` are the first and last tokens of chunks that are tagged and belong to no span.
    """

    first: Int64
    last: Int64
    kind: NDArray[Any]
    dropped: tuple[Int64, Int64] = (NONE, NONE)

    def __len__(self) -> int:
        return len(self.last)


def same_spans(one: TagChunks, two: TagChunks, tokens: int) -> tuple[Int64, Int64]:
    """Return the numbers of the spans that are on both sides, pair by pair."""
    ends = np.zeros((2, tokens), bool)
    ends[0, one.last] = True
    ends[1, two.last] = True
    g, p = np.flatnonzero(ends[1, one.last]), np.flatnonzero(ends[0, two.last])
    same = (one.first[g] == two.first[p]) & (one.kind[g] == two.kind[p])
    return g[same], p[same]


def record_rows(g: Int64, p: Int64, ours: int, theirs: int) -> tuple[Int64, Int64, NDArray[Any]]:
    """Return the rows of records: correct pairs, then spans of gold alone, then spans of the prediction alone.

    `g` and `p` number the pairs' units, of `ours` and `theirs` in all. The columns are the gold unit and the predicted
    one, -1 for none, and the decision.
    """
    missed, added = np.setdiff1d(np.arange(ours), g), np.setdiff1d(np.arange(theirs), p)
    one = np.concatenate((g, missed, np.full(len(added), -1)))
    two = np.concatenate((p, np.full(len(missed), -1), added))
    return one, two, np.repeat([COR, MIS, SPU], [len(g), len(missed), len(added)])


def runs(inside: Bools, parted: Bools) -> tuple[Int64, Int64]:
    """Return the first and the last token of each run of tokens inside, shape (tokens,).

    `parted` (tokens - 1,) says between which tokens a run ends and another begins.
    """
    edge = np.ones(len(inside) + 1, bool)
    edge[1:-1] = parted | ~inside[1:] | ~inside[:-1]
    return np.flatnonzero(inside & edge[:-1]), np.flatnonzero(inside & edge[1:])


def counts_by_type(types: Sequence[str], *kinds: NDArray[Any]) -> dict[str, tuple[int, ...]]:
    """Return by type how often it stands in each array of indices into `types`, without those that stand in none."""
    columns = [np.bincount(kind, minlength=len(types)).tolist() for kind in kinds]
    rows = zip(types, zip(*columns, strict=True), strict=True)
    return {name: row for name, row in rows if any(row)}


def with_untokenized(share: Share, gold: Layer) -> Share:
    """Return a share that also says how many documents have no tokens, for `untokenized_note`."""
    bare = int(np.count_nonzero(without_tokens(gold.documents)))
    return replace(share, tables={**share.tables, "bare": {"documents": (bare,)}})


def untokenized_note(share: Share) -> tuple[str, ...]:
    return no_tokens_note(share.number("bare", "documents"), share.gold.documents)


def number_tags(*sides: Sequence[str]) -> tuple[list[Int32], tuple[str, ...]]:
    """Return each side's tags as indices into the distinct tags of all sides, and these."""
    known: defaultdict[str, int] = defaultdict()
    known.default_factory = known.__len__
    numbers = [np.fromiter(map(known.__getitem__, side), np.int32, len(side)) for side in sides]
    return numbers, tuple(known)


def previous_values(values: NDArray[Any], sentences: Int64, outside: int) -> NDArray[Any]:
    """Return the value before each token, `outside` at the start of a sentence."""
    found = np.empty_like(values)
    found[1:] = values[:-1]
    found[sentences[:-1]] = outside
    return found


def next_values(values: NDArray[Any], sentences: Int64, outside: int) -> NDArray[Any]:
    """Return the value after each token, `outside` at the end of a sentence."""
    found = np.empty_like(values)
    found[:-1] = values[1:]
    found[sentences[1:] - 1] = outside
    return found


def find_transitions(
    rule: Rule,
    numbers: Int32,
    sentences: Int64,
    letter: NDArray[Any],
    kind: NDArray[Any],
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
    if count * count <= PAIRS:
        one, two = np.repeat(np.arange(count), count), np.tile(np.arange(count), count)
        *tables, last = rule(letter[one], kind[one], letter[two], kind[two])
        gap = previous * count + numbers
        return *(table[gap] for table in tables), last[numbers * count + following]
    *found, _ = rule(letter[previous], kind[previous], letter[numbers], kind[numbers])
    return *found, rule(letter[numbers], kind[numbers], letter[following], kind[following])[-1]


def last_true(mask: Bools) -> Int64:
    """Return for each place the last one up to it, itself included, where the mask holds; -1 for none."""
    return np.maximum.accumulate(np.where(mask, np.arange(len(mask)), -1))


def token_records(
    evaluation: str, gold: Tagged, pred: Tagged, counters: dict[str, NDArray[Any]], kept: Int64 | None = None
) -> pd.DataFrame:
    """Return one record for each token (or each of those kept): COR where the tags are the same, else INC."""
    (one, two), names = number_tags(gold.tags, pred.tags)
    tokens = np.arange(len(gold)) if kept is None else kept
    ours, theirs = (UnitColumns.of_tokens(gold, tokens, tokens, side[tokens], names) for side in (one, two))
    same = one[tokens] == two[tokens]
    place = np.arange(len(tokens))
    return record_frame(
        evaluation,
        ours,
        theirs,
        place,
        place,
        np.where(same, COR, INC),
        (np.where(same, 0, 1), SAME_TAG),
        counters,
        unit="token",
    )
