"""Objects and answers that evalIOB2.pl finds in the tags of both sides, the correct ones, and records of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from nereval_core.conventions.records import COR, IGN, OVERALL, MatchRows, UnitColumns, record_frame, scope_of_type
from nereval_core.conventions.tag_sequences import last_true, next_values, number_tags, previous_values, token_records
from nereval_core.corpus.arrays import Array, Bools, Int64
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

    letter: Array
    rest: Array
    kind: Array
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
    why: Array
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


def token_events(gold: Tagged, pred: Tagged, why: Array, *, april: bool) -> TokenEvents:
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
    of_gold, of_pred = (_rewritten(parts[number], gold.sentences) for number in numbers)
    inside = why < 0
    objects = of_gold.starts & inside
    if april:
        # The program adds a number that it sets only at an object of gold.
        counting = last_true(objects) >= 0
        why[inside & ~counting] = EARLY
        inside &= counting
    answers = of_pred.starts & inside
    outside = (of_gold.letter == O) | (of_pred.letter == O)
    single = (of_gold.letter == S) & (of_pred.letter == S)
    closed = (of_gold.letter == E) & (of_pred.letter == E)
    same = of_gold.kind == of_pred.kind
    alike = of_gold.letter == of_pred.letter
    equal = alike & (of_gold.rest == of_pred.rest)
    begun = (of_gold.letter == B) & (of_pred.letter == B)
    within = np.zeros(len(gold), bool)
    within[gold.sentences[:-1]] = True
    if april:
        through = _still_open(begun & same, ~equal | outside, within, late=True)
    else:
        unfit = ~equal | ((of_pred.letter != B) & (of_pred.letter != I))
        through = _still_open(begun & same, unfit, within, late=False)
    bare = _still_open(begun, ~alike | outside, within, late=True)
    near = {
        "full": (single | (closed & bare)) & inside,
        "left": of_gold.starts & of_pred.starts & inside,
        "right": of_gold.ends & of_pred.ends & inside,
    }
    correct = {
        "full": ((single & same) | (closed & through & same)) & inside,
        "left": near["left"] & same,
        "right": near["right"] & same,
    }
    return TokenEvents(of_gold, of_pred, tuple(classes), why, objects, answers, correct, near)


def _still_open(opened: Bools, stopped: Bools, first: Bools, *, late: bool) -> Bools:
    """Tell at each token whether a match that opened in its sentence has not been stopped since.

    `late`: a stop at the token itself counts, even where the match opens there.
    """
    last_open, last_stop = last_true(opened), last_true(stopped)
    if not late:
        last_open, last_stop = (np.concatenate(([-1], column[:-1])) for column in (last_open, last_stop))
    return (last_open >= last_true(first)) & (last_open > last_stop)


def _rewritten(parts: Array, sentences: Int64) -> RewrittenTags:
    """Rewrite B and I by what follows, and cut objects; a run of I that follows no B is a unit of its own."""
    letter, rest, kind = (np.ascontiguousarray(parts[:, column]) for column in range(3))
    followed = next_values(letter, sentences, O) == I
    letter = np.where((letter == I) & ~followed, E, np.where((letter == B) & ~followed, S, letter))
    previous = previous_values(letter, sentences, O)
    goes_on = (previous == B) | (previous == I)
    begins = (letter == B) | (letter == S) | (((letter == I) | (letter == E)) & ~goes_on)
    is_tagged = (letter == B) | (letter == S) | (letter == I) | (letter == E)
    unit = np.where(is_tagged, np.cumsum(begins) - 1, -1)
    first, last = np.flatnonzero(begins), np.flatnonzero((letter == E) | (letter == S))
    return RewrittenTags(letter, rest, kind, first, last, unit)


def evaluation_records(
    gold: Tagged, pred: Tagged, events: TokenEvents, scopes: Collection[str], overall: Collection[str], evaluation: str
) -> pd.DataFrame:
    """Return the records of an evaluation: overall, and again by the class that each count goes to.

    `overall` are the classes that make up the overall figures.
    """
    if evaluation == TAGS:
        tokens = np.flatnonzero(events.read)
        same_letter, same_tag = (mask[tokens] for mask in events.tags)
        counters: dict[str, Array] = {"tags": np.ones(len(tokens), bool), "correct tags": same_tag}
        return token_records(TAGS, gold, pred, counters | {"correct IOBs": same_letter}, tokens)
    rows, kinds = _match_rows(events, evaluation)
    is_overall = np.array([name in overall for name in events.classes] + [False], bool)
    counts = {name: is_overall[kind] for name, kind in kinds.items()}
    foreign = (rows.decision != IGN) & ~np.logical_or.reduce(list(counts.values()))
    rows.reason[foreign], rows.decision[foreign] = FOREIGN, IGN
    index, scope, counters_by_scope = [np.arange(len(rows))], [np.zeros(len(rows), np.int64)], [counts]
    for number, name in enumerate(scopes, start=1):
        code = events.classes.index(name) if name in events.classes else len(events.classes)
        of_class = {counter: kind == code for counter, kind in kinds.items()}
        index.append(np.flatnonzero(np.logical_or.reduce(list(of_class.values()))))
        scope.append(np.full(len(index[-1]), number))
        counters_by_scope.append({counter: mask[index[-1]] for counter, mask in of_class.items()})
    row = np.concatenate(index)
    return record_frame(
        evaluation,
        _units(gold, events.gold, events.classes),
        _units(gold, events.pred, events.classes),
        MatchRows(rows.gold[row], rows.pred[row], rows.decision[row], rows.reason[row]),
        WHY,
        {name: np.concatenate([part[name] for part in counters_by_scope]) for name in COUNTS},
        scope=(np.concatenate(scope), (OVERALL, *map(scope_of_type, scopes))),
    )


def _match_rows(events: TokenEvents, evaluation: str) -> tuple[MatchRows, dict[str, Int64]]:
    """Return the rows of an evaluation, and the class that each row counts for under each of COUNTS (-1: none)."""
    gold, pred = events.gold, events.pred
    token = np.flatnonzero(events.correct[evaluation])
    rows = MatchRows.of_pairs(gold.unit[token], pred.unit[token], len(gold.first), len(pred.first))
    correct = rows.decision == COR
    kinds = {name: np.full(len(rows), -1) for name in COUNTS}
    kinds["correct"][correct] = pred.kind[token]
    right, (wrong, wrong_class) = RIGHT_WHY[evaluation], WRONG_WHY[evaluation]
    rows.reason[:] = np.where(correct, right, wrong)
    near = np.flatnonzero(events.near[evaluation])
    for name, units, side, counted in (
        ("OBJECTs", rows.gold, gold, events.objects),
        ("ANSWERs", rows.pred, pred, events.answers),
    ):
        row = np.flatnonzero(units >= 0)
        first = side.first[units[row]]
        kinds[name][row] = np.where(counted[first], side.kind[first], -1)
        rows.reason[row[~correct[row] & np.isin(units[row], side.unit[near])]] = wrong_class
        uncounted = ~correct[row] & ~counted[first]
        reason = events.why[first]
        is_orphan = ~side.starts[first] & ((reason < 0) | (reason == EARLY))
        rows.reason[row[uncounted]] = np.where(is_orphan, ORPHAN, reason)[uncounted]
        rows.decision[row[uncounted]] = IGN
    return rows, kinds


def _units(tags: Tagged, side: RewrittenTags, classes: tuple[str, ...]) -> UnitColumns:
    """Return the units of a side; one that no B opens has the class of its last token."""
    kind = np.where(side.starts[side.first], side.kind[side.first], side.kind[side.last])
    return UnitColumns.of_tokens(tags, side.first, side.last, kind, classes)
