"""wnuteval.py, the scorer of the WNUT 2017 shared task on emerging entities.

An I of another type, or one that follows O, begins an entity; the program names each on standard error, except at the
start of a sentence. `entity` counts entities of the same place and type. `surface` counts distinct (words, type):
right are those of entities that are right, whatever the other places where the same words stand; the words are gold's.
A type gets a section of its own if gold has it.
Source: wnuteval.py (Nichols 2017; Derczynski, Nichols, van Erp and Limsopatham 2017).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nereval_core.arrays import Bools, Int32, Int64
from nereval_core.conventions import Convention, Given
from nereval_core.conventions.outcome import (
    COR,
    OVERALL,
    Content,
    FigureRow,
    Outcome,
    UnitColumns,
    figures,
    record_frame,
    with_types,
)
from nereval_core.conventions.shares import precision_recall_f1
from nereval_core.conventions.tag_sequences import (
    TagChunks,
    counts_by_type,
    number_tags,
    previous_values,
    record_rows,
    runs,
    same_spans,
    token_records,
)
from nereval_core.corpus import Layer
from nereval_core.problems import FormatError, Problem, quoted
from nereval_core.readers.shared.token_tags import Tagged, tags_of_layer

TYPES = ("corporation", "creative-work", "group", "location", "person", "product")
ENTITY, SURFACE, TOKENS, ILLEGAL = "entity", "surface", "tokens", "illegal_transitions"
ALL = "ALL"
COUNTS = {"gold": "phrases", "guess": "found", "correct": "correct"}
"""The program's names for counts, and our counters."""
WHY = (
    "the same place and type on the other side",
    "no entity of the same place and type on the other side",
    "an entity of these words and type is right",
    "the other side has these words and type, but never in the same place",
    "the other side has these words and type nowhere",
)
O, B, I = range(3)  # noqa: E741


@dataclass(frozen=True, eq=False)
class Forms:
    """The distinct (words, type) of one side: number of the form, its type, and the entity that stands for it."""

    form: Int64
    kind: NDArray[Any]
    entity: Int64


def score(given: Given, options: Mapping[str, Any]) -> Outcome:
    """Score the tags of two files, or of two columns of one, token by token; the words are gold's."""
    return score_tags(*given.read_tags(), options)


def of_layers(gold: Layer, pred: Layer, options: Mapping[str, Any]) -> Outcome:
    """Score layers by the IOB2 tags that say them."""
    return score_tags(tags_of_layer(gold, "wnut17"), tags_of_layer(pred, "wnut17"), options)


def score_tags(gold: Tagged, pred: Tagged, options: Mapping[str, Any]) -> Outcome:
    """Score tags over the same tokens.

    Counters by type and overall: `phrases` (gold), `found` and `correct`.

    Raises:
        FormatError: a tag at which the program stops.
    """
    numbers, names = number_tags(gold.tags, pred.tags)
    letter, kind = _parsed(names)
    _refuse(gold, pred, numbers, names, letter)
    (one, odd), (two, strange) = (_entities(side, gold.sentences, letter, kind) for side in numbers)
    g, p = same_spans(one, two, len(gold))
    forms = _forms(gold, one, two, g, p)
    found = {
        ENTITY: (one.kind, two.kind, one.kind[g]),
        SURFACE: (forms[0].kind, forms[1].kind, forms[0].kind[np.isin(forms[0].form, forms[2])]),
    }
    scores: dict[str, Any] = {}
    rows: list[FigureRow] = []
    present = sorted(TYPES[code] for code in np.unique(one.kind).tolist())
    for evaluation, kinds in found.items():
        counts = counts_by_type(TYPES, *kinds)
        scores[evaluation] = {ALL: _results(*map(len, kinds))}
        scores[evaluation] |= {name: _results(*counts[name]) for name in present}
        for scope, row in scores[evaluation].items():
            rows += _rows(evaluation, OVERALL if scope == ALL else scope, row)
    right = numbers[0] == numbers[1]
    scores[TOKENS] = _results(len(gold), len(gold), int(np.count_nonzero(right)))
    scores[ILLEGAL] = int(np.count_nonzero(odd) + np.count_nonzero(strange))
    rows += [*_rows(TOKENS, OVERALL, scores[TOKENS]), (TOKENS, OVERALL, ILLEGAL, scores[ILLEGAL], True)]

    def build(evaluation: str) -> pd.DataFrame:
        if evaluation == TOKENS:
            every = np.ones(len(gold), bool)
            counters = {"phrases": every, "found": every, "correct": right, ILLEGAL: odd.astype(int) + strange}
            return token_records(TOKENS, gold, pred, counters)
        if evaluation == ENTITY:
            whole = _marks(gold, one), _marks(gold, two)
            return _records(ENTITY, *whole, (g, p), np.zeros(len(one), bool), np.zeros(len(two), bool))
        return _surface_records(gold, (one, two), forms)

    return Outcome(
        "wnut17",
        options,
        gold.documents,
        Content.of_tags(gold, len(one)),
        Content.of_tags(pred, len(two)),
        scores,
        figures(rows),
        build,
    )


def _parsed(names: tuple[str, ...]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return letter and type of each distinct tag, then O, which stands between sentences; letter -1 is none."""
    letters, kinds = [], []
    for name in names:
        letter, dash, kind = name.partition("-")
        fits = name == "O" or (dash and letter in ("O", "B", "I") and kind in TYPES)
        letters.append("OBI".index(letter) if fits else -1)
        kinds.append(TYPES.index(kind) if fits and dash else -1)
    return np.array([*letters, O], np.int8), np.array([*kinds, -1], np.int64)


def _refuse(gold: Tagged, pred: Tagged, numbers: list[Int32], names: tuple[str, ...], letter: NDArray[Any]) -> None:
    """Raise a FormatError with the first place of each tag at which the program stops with a ValueError."""
    inner = np.ones(len(gold), bool)
    inner[gold.sentences[:-1]] = False
    problems = []
    for tags, side in ((gold, numbers[0]), (pred, numbers[1])):
        for code, name in enumerate(names):
            # At the start of a sentence O with a type begins an entity.
            if letter[code] < 0 or (letter[code] == O and name != "O"):
                places = np.flatnonzero((side == code) & (inner | (letter[code] < 0)))
                if len(places):
                    found = f"{quoted(name)} is not a tag of WNUT 2017, at which wnuteval.py stops with a ValueError"
                    remedy = f"write O, or B or I, '-' and one of {', '.join(TYPES)}"
                    problems.append(Problem(*tags.place(int(places[0])), found, remedy))
    if problems:
        raise FormatError(problems)


def _entities(numbers: Int32, sentences: Int64, letter: NDArray[Any], kind: NDArray[Any]) -> tuple[TagChunks, Bools]:
    """Return one side's entities, and where an I inside a sentence begins one."""
    previous = previous_values(numbers, sentences, len(letter) - 1)
    # Of each pair of tags: whether the second goes on with the entity of the first.
    goes_on = (letter[None, :] == I) & (kind[:, None] == kind[None, :])
    within = goes_on[previous, numbers]
    first, last = runs(kind[numbers] >= 0, ~within[1:])
    illegal = (letter[numbers] == I) & ~within
    illegal[sentences[:-1]] = False
    return TagChunks(first, last, kind[numbers[first]]), illegal


def _forms(gold: Tagged, one: TagChunks, two: TagChunks, g: Int64, p: Int64) -> tuple[Forms, Forms, Int64]:
    """Return the forms of both sides, and the numbers of those that are right."""
    known: dict[tuple[int, tuple[str, ...]], int] = {}
    words = gold.words
    forms = []
    for side in (one, two):
        rows = zip(side.kind.tolist(), side.first.tolist(), side.last.tolist(), strict=True)
        numbers = (known.setdefault((kind, tuple(words[low : high + 1])), len(known)) for kind, low, high in rows)
        forms.append(np.fromiter(numbers, np.int64, len(side)))
    right = np.unique(forms[0][g])
    sides = []
    for side, form, correct in ((one, forms[0], g), (two, forms[1], p)):
        distinct, entity = np.unique(form, return_index=True)
        # A form that is right is shown where it is.
        places, firsts = np.unique(form[correct], return_index=True)
        entity[np.searchsorted(distinct, places)] = correct[firsts]
        sides.append(Forms(distinct, side.kind[entity], entity))
    return sides[0], sides[1], right


def _results(gold: int, guess: int, correct: int) -> dict[str, float]:
    p, r, f = precision_recall_f1(correct, guess, gold)
    return {"gold": gold, "guess": guess, "correct": correct, "p": p, "r": r, "f": f}


def _rows(evaluation: str, scope: str, results: Mapping[str, float]) -> list[FigureRow]:
    return [(evaluation, scope, COUNTS.get(name, name), value, name in COUNTS) for name, value in results.items()]


def _surface_records(
    gold: Tagged, sides: tuple[TagChunks, TagChunks], forms: tuple[Forms, Forms, Int64]
) -> pd.DataFrame:
    marks, both = [], []
    for side, form, other in zip(sides, forms[:2], (forms[1], forms[0]), strict=True):
        shown = TagChunks(side.first[form.entity], side.last[form.entity], form.kind)
        rows = zip(shown.first.tolist(), shown.last.tolist(), strict=True)
        marks.append(_marks(gold, shown, tuple(" ".join(gold.words[low : high + 1]) for low, high in rows)))
        both.append(np.isin(form.form, other.form))
    g, p = (np.flatnonzero(np.isin(form.form, forms[2])) for form in forms[:2])
    return _records(SURFACE, marks[0], marks[1], (g, p), both[0], both[1])


def _records(
    evaluation: str, ours: UnitColumns, theirs: UnitColumns, pairs: tuple[Int64, Int64], known: Bools, given: Bools
) -> pd.DataFrame:
    """Return the records of entities or forms; `known` and `given` mark the units that the other side has elsewhere."""
    one, two, decision = record_rows(*pairs, len(ours), len(theirs))
    if evaluation == ENTITY:
        why = np.where(decision == COR, 0, 1)
    else:
        elsewhere = np.zeros(len(one), bool)
        elsewhere[two < 0], elsewhere[one < 0] = known[one[two < 0]], given[two[one < 0]]
        why = np.where(decision == COR, 2, np.where(elsewhere, 3, 4))
    counters = {"phrases": one >= 0, "found": two >= 0, "correct": decision == COR}
    unit = "span" if evaluation == ENTITY else "surface form"
    return with_types(record_frame(evaluation, ours, theirs, one, two, decision, (why, WHY), counters, unit=unit))


def _marks(gold: Tagged, spans: TagChunks, texts: tuple[str, ...] | None = None) -> UnitColumns:
    return replace(UnitColumns.of_tokens(gold, spans.first, spans.last, spans.kind, TYPES), texts=texts)


def text(outcome: Outcome) -> str:
    """Return the printout of the program: one piece a line, some of which end in a line end of their own."""
    pieces: list[str] = []
    for title, evaluation in (("ENTITY", ENTITY), ("SURFACE FORM", SURFACE)):
        sections = dict(outcome.scores[evaluation])
        whole, tokens = sections.pop(ALL), outcome.scores[TOKENS]
        pieces += [
            *([""] if pieces else []),
            f"### {title} F1-SCORES ###",
            f"processed {tokens['gold']} tokens with {whole['gold']} phrases; ",
            f"found: {whole['guess']} phrases; correct: {whole['correct']}.\n",
            f"accuracy: {100 * tokens['correct'] / tokens['gold']:6.2f}%; ",
            *_ratios(whole, "\n"),
        ]
        for name, row in sections.items():
            pieces += [f"{name:>17}: ", *_ratios(row, f"  {row['correct']}\n")]
    return "\n".join([*pieces, ""])


def _ratios(row: Mapping[str, float], end: str) -> tuple[str, str, str]:
    return (
        f"precision: {100 * row['p']:6.2f}%; ",
        f"recall: {100 * row['r']:6.2f}%; ",
        f"FB1: {100 * row['f']:6.2f}{end}",
    )


CONVENTIONS = (
    Convention(
        name="wnut17",
        family="tag sequences",
        sentence="WNUT 2017: entities of the same place and type, and distinct surface forms.",
        needs=f"IOB2 tags of the types {', '.join(TYPES)} on both sides",
        source="wnuteval.py of the shared task (Derczynski et al. 2017)",
        score=score,
        of_layers=of_layers,
        by_shares="a surface form counts once in the whole corpus",
        words=True,
        formats=("conll",),
        twins={ENTITY: "strict"},
        forms={"text": text},
        names={"P": "p", "R": "r", "F1": "f", "COR": "correct", "POS": "phrases", "ACT": "found"},
        formulas={"p": "correct / found", "r": "correct / phrases", "f": "2 × p × r / (p + r)"},
    ),
)
