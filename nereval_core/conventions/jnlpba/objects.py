"""Objects and answers that evalIOB2.pl finds in the tags of both sides, the correct ones, and records of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nereval_core.arrays import Bools, Int64
from nereval_core.conventions.outcome import COR, IGN, MIS, OVERALL, SPU, UnitColumns, record_frame, scope_of_type
from nereval_core.conventions.tag_sequences import last_true, next_values, number_tags, previous_values, token_records
from nereval_core.readers.shared.token_tags import Tagged

EVALUATIONS = ("full", "left", "right")
TAGS = "tags"
COUNTS = ("OBJECTs", "ANSWERs", "correct")

WHY = (
    "the same tags from the first token to the last",
    "both begin here, of one class",
    "both end here, and the tags of this token are of one class",
    "the other side has not the same tags from the first token to the last",
    "the other side has the same first and last token, of another class",
    "the other side begins none here",
    "the other side begins one here, of another class",
    "the other side ends none here",
    "the other side ends one here, and the tag of this token is of another class",
    "an I that follows no B or I belongs to no object",
    "stands before the first object of gold: not counted",
    "the answers end before this sentence: not read",
    "no blank line ends the last sentence: dropped",
    "its abstract is not in the list",
    "its class is none of the five",
)
(
    SAME_TAGS,
    SAME_START,
    SAME_END,
    OTHER_TAGS,
    OTHER_CLASS,
    NO_START,
    OTHER_START_CLASS,
    NO_END,
    OTHER_END_CLASS,
    ORPHAN,
    EARLY,
    UNREAD,
    UNENDED,
    UNLISTED,
    FOREIGN,
) = range(len(WHY))
RIGHT_WHY = dict(zip(EVALUATIONS, (SAME_TAGS, SAME_START, SAME_END), strict=True))
WRONG_WHY = dict(
    zip(EVALUATIONS, ((OTHER_TAGS, OTHER_CLASS), (NO_START, OTHER_START_CLASS), (NO_END, OTHER_END_CLASS)), strict=True)
)
LETTERS = "BIESO"
B, I, E, S, O = range(len(LETTERS))  # noqa: E741


@dataclass(frozen=True, eq=False)
class RewrittenTags:
    """One side's tokens, rewritten: `letter`, `rest` of the tag and `kind` (class), shape (tokens,).

    An object stands from token `first[unit]` to token `last[unit]`; `unit` says which one a token belongs to (-1 none).
    """

    letter: NDArray[Any]
    rest: NDArray[Any]
    kind: NDArray[Any]
    first: Int64
    last: Int64
    unit: Int64

    @property
    def starts(self) -> Bools:
        return np.isin(self.letter, (B, S))

    @property
    def ends(self) -> Bools:
        return np.isin(self.letter, (E, S))


@dataclass(frozen=True, eq=False)
class TokenEvents:
    """Both sides token by token: `why` says why a token is passed over (index into WHY, -1: it is not).

    `objects` and `answers` mark the first tokens of those counted. `correct` and `near` have one mask by evaluation:
    with the class, and whatever the class.
    """

    gold: RewrittenTags
    pred: RewrittenTags
    classes: tuple[str, ...]
    why: NDArray[Any]
    objects: Bools
    answers: Bools
    correct: Mapping[str, Bools]
    near: Mapping[str, Bools]

    @property
    def read(self) -> Bools:
        return np.isin(self.why, (-1, EARLY))

    @property
    def tags(self) -> tuple[Bools, Bools]:
        """Masks of the tokens at which the letters of both sides are equal, and at which the tags are."""
        alike = self.gold.letter == self.pred.letter
        return alike, alike & (self.gold.rest == self.pred.rest)


def token_events(gold: Tagged, pred: Tagged, why: NDArray[Any], *, april: bool) -> TokenEvents:
    """Return the program's counts at each token; `why` tells the tokens that it does not read, and is changed."""
    numbers, names = number_tags(gold.tags, pred.tags)
    letters = {letter: code for code, letter in enumerate(LETTERS)}
    rests: dict[str, int] = {}
    classes: dict[str, int] = {}
    parts = np.array(
        [
            (
                letters.setdefault(name[:1], len(letters)),
                rests.setdefault(name[1:], len(rests)),
                classes.setdefault(name[2:] if name[1:2] == "-" else "", len(classes)),
            )
            for name in names
        ],
        np.int32,
    ).reshape(-1, 3)
    one, two = (_side(parts[number], gold.sentences) for number in numbers)
    inside = why < 0
    objects = one.starts & inside
    if april:
        # The program adds a number that it sets only at an object of gold.
        counting = last_true(objects) >= 0
        why[inside & ~counting] = EARLY
        inside &= counting
    answers = two.starts & inside
    outside = (one.letter == O) | (two.letter == O)
    single = (one.letter == S) & (two.letter == S)
    closed = (one.letter == E) & (two.letter == E)
    same = one.kind == two.kind
    alike = one.letter == two.letter
    equal = alike & (one.rest == two.rest)
    begun = (one.letter == B) & (two.letter == B)
    within = np.zeros(len(gold), bool)
    within[gold.sentences[:-1]] = True
    if april:
        through = _held(begun & same, ~equal | outside, within, late=True)
    else:
        unfit = ~equal | ((two.letter != B) & (two.letter != I))
        through = _held(begun & same, unfit, within, late=False)
    bare = _held(begun, ~alike | outside, within, late=True)
    near = {
        "full": (single | (closed & bare)) & inside,
        "left": one.starts & two.starts & inside,
        "right": one.ends & two.ends & inside,
    }
    correct = {
        "full": ((single & same) | (closed & through & same)) & inside,
        "left": near["left"] & same,
        "right": near["right"] & same,
    }
    return TokenEvents(one, two, tuple(classes), why, objects, answers, correct, near)


def _held(opened: Bools, stopped: Bools, first: Bools, *, late: bool) -> Bools:
    """Tell at each token whether a match that opened in its sentence has not been stopped since.

    `late`: a stop at the token itself counts, even where the match opens there.
    """
    last_open, last_stop = last_true(opened), last_true(stopped)
    if not late:
        last_open, last_stop = (np.concatenate(([-1], column[:-1])) for column in (last_open, last_stop))
    return (last_open >= last_true(first)) & (last_open > last_stop)


def _side(parts: NDArray[Any], sentences: Int64) -> RewrittenTags:
    """Rewrite B and I by what follows, and cut objects; a run of I that follows no B is a unit of its own."""
    letter, rest, kind = (np.ascontiguousarray(parts[:, column]) for column in range(3))
    followed = next_values(letter, sentences, O) == I
    letter = np.where((letter == I) & ~followed, E, np.where((letter == B) & ~followed, S, letter))
    previous = previous_values(letter, sentences, O)
    goes_on = (previous == B) | (previous == I)
    begins = (letter == B) | (letter == S) | (((letter == I) | (letter == E)) & ~goes_on)
    held = (letter == B) | (letter == S) | (letter == I) | (letter == E)
    unit = np.where(held, np.cumsum(begins) - 1, -1)
    first, last = np.flatnonzero(begins), np.flatnonzero((letter == E) | (letter == S))
    return RewrittenTags(letter, rest, kind, first, last, unit)


def evaluation_records(
    gold: Tagged, pred: Tagged, scored: TokenEvents, scopes: Sequence[str], whole: Sequence[int], evaluation: str
) -> pd.DataFrame:
    """Return the records of an evaluation: overall, and again by the class that each count goes to.

    `whole` lists the classes that make up the overall figures.
    """
    if evaluation == TAGS:
        return _tag_records(gold, pred, scored)
    g, p, decision, why, counts, kinds = _judged(scored, evaluation)
    known = np.zeros(len(scored.classes), bool)
    known[list(whole)] = True
    overall = {name: counts[name] & known[kinds[name]] for name in COUNTS}
    foreign = (decision != IGN) & ~np.logical_or.reduce(list(overall.values()))
    why[foreign], decision[foreign] = FOREIGN, IGN

    rank = np.array([scopes.index(name) + 1 if name in scopes else 0 for name in scored.classes], np.int64)
    rows, scope, parts = [np.arange(len(g))], [np.zeros(len(g), np.int64)], [overall]
    taken: list[NDArray[Any]] = []
    for name in reversed(COUNTS):
        kind = np.where(counts[name], kinds[name], -1)
        fresh = (kind >= 0) & (rank[kind] > 0)
        for earlier in taken:
            fresh &= earlier != kind
        taken.append(kind)
        chosen = np.flatnonzero(fresh)
        rows.append(chosen)
        scope.append(rank[kind[chosen]])
        parts.append({other: (counts[other] & (kinds[other] == kind))[chosen] for other in COUNTS})
    row = np.concatenate(rows)
    return record_frame(
        evaluation,
        _marks(gold, scored.gold, scored.classes),
        _marks(gold, scored.pred, scored.classes),
        g[row],
        p[row],
        decision[row],
        (why[row], WHY),
        {name: np.concatenate([part[name] for part in parts]) for name in COUNTS},
        scope=(np.concatenate(scope), (OVERALL, *map(scope_of_type, scopes))),
    )


def _judged(scored: TokenEvents, evaluation: str) -> tuple[Any, ...]:
    """Return units of both sides, decision, reason, the counters of each row, and the class of each counter."""
    one, two = scored.gold, scored.pred
    event = np.flatnonzero(scored.correct[evaluation])
    missed = np.setdiff1d(np.arange(len(one.first)), one.unit[event])
    added = np.setdiff1d(np.arange(len(two.first)), two.unit[event])
    g = np.concatenate((one.unit[event], missed, np.full(len(added), -1)))
    p = np.concatenate((two.unit[event], np.full(len(missed), -1), added))
    correct = np.arange(len(g)) < len(event)
    counts = {name: np.zeros(len(g), bool) for name in COUNTS[:2]} | {"correct": correct}
    kinds = {name: np.zeros(len(g), np.int64) for name in COUNTS}
    kinds["correct"][correct] = two.kind[event]
    decision = np.where(correct, COR, np.where(g >= 0, MIS, SPU))
    near = np.flatnonzero(scored.near[evaluation])
    why = np.where(correct, RIGHT_WHY[evaluation], WRONG_WHY[evaluation][0])
    for name, units, side, mask in (("OBJECTs", g, one, scored.objects), ("ANSWERs", p, two, scored.answers)):
        rows = np.flatnonzero(units >= 0)
        first = side.first[units[rows]]
        counts[name][rows] = mask[first]
        kinds[name][rows] = side.kind[first]
        wrong = ~correct[rows]
        touched = np.isin(units[rows], side.unit[near])
        why[rows[wrong & touched]] = WRONG_WHY[evaluation][1]
        uncounted = wrong & ~mask[first]
        reason = scored.why[first]
        orphan = ~side.starts[first] & ((reason < 0) | (reason == EARLY))
        why[rows[uncounted]] = np.where(orphan, ORPHAN, reason)[uncounted]
        decision[rows[uncounted]] = IGN
    return g, p, decision, why, counts, kinds


def _tag_records(gold: Tagged, pred: Tagged, scored: TokenEvents) -> pd.DataFrame:
    kept = np.flatnonzero(scored.read)
    alike, equal = (mask[kept] for mask in scored.tags)
    counters = {"tags": np.ones(len(kept), bool), "correct tags": equal, "correct IOBs": alike}
    return token_records(TAGS, gold, pred, counters, kept)


def _marks(tags: Tagged, side: RewrittenTags, classes: tuple[str, ...]) -> UnitColumns:
    """Return the units of a side; one that no B opens has the class of its last token."""
    kind = np.where(side.starts[side.first], side.kind[side.first], side.kind[side.last])
    return UnitColumns.of_tokens(tags, side.first, side.last, kind, classes)
