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

from nereval_core.conventions.convention import Convention, LayerPair, MatchedSides, Options, ScorerSteps, TagPair
from nereval_core.conventions.outcome import CountTables, Figures, Outcome, RatioNames, Tables, figure_rows
from nereval_core.conventions.records import COR, MIS, OVERALL, SPU, Evaluation, MatchRows, SharedTypes, UnitColumns
from nereval_core.conventions.tag_sequences import (
    TagChunks,
    number_tags,
    previous_values,
    read_tags,
    runs,
    same_spans,
    tags_of_layers,
    token_records,
)
from nereval_core.corpus.arrays import Array, Bools, Int32, Int64
from nereval_core.problems import FormatError, Problem, ProblemList, quoted
from nereval_core.readers.shared.token_tags import Tagged

TYPES = ("corporation", "creative-work", "group", "location", "person", "product")
ENTITY, SURFACE, TOKENS, ILLEGAL = "entity", "surface", "tokens", "illegal_transitions"
ALL = "ALL"
COUNTERS = {"phrases": (COR, MIS), "found": (COR, SPU), "correct": (COR,)}
RATIOS = RatioNames(precision="p", recall="r", f1="f", correct="correct", gold="phrases", pred="found")
PROGRAM_NAMES = {"phrases": "gold", "found": "guess"}
"""The program's names for two of our counters."""
EVALUATIONS = {
    ENTITY: Evaluation(
        reasons=(
            "the same place and type on the other side",
            "no entity of the same place and type on the other side",
        ),
        counters=COUNTERS,
        by_type=True,
    ),
    SURFACE: Evaluation(
        reasons=(
            "an entity of these words and type is right",
            "the other side has these words and type nowhere",
            "the other side has these words and type, but never in the same place",
        ),
        counters=COUNTERS,
        unit="surface form",
        by_type=True,
    ),
}
ELSEWHERE = 2
O, B, I = range(3)  # noqa: E741


@dataclass(frozen=True, eq=False)
class SurfaceForms:
    """The distinct (words, type) of one side: number of the form, its type, and the entity that stands for it."""

    form: Int64
    kind: Array
    entity: Int64


def from_layers(layers: LayerPair, options: Options) -> TagPair:
    return tags_of_layers(layers, "wnut17")


def match(tags: TagPair, options: Options) -> MatchedSides:
    """Match entities and forms; the words are gold's.

    Raises:
        FormatError: a tag at which the program stops.
    """
    gold, pred = tags
    numbers, names = number_tags(gold.tags, pred.tags)
    letter, kind = _parsed(names)
    _refuse(tags, numbers, names, letter)
    (ours, illegal_gold), (theirs, illegal_pred) = (_entities(side, gold.sentences, letter, kind) for side in numbers)
    pairs = same_spans(ours, theirs, len(gold))
    gold_forms, pred_forms, right = _forms(gold, ours, theirs, *pairs)
    rows = {
        ENTITY: MatchRows.of_pairs(*pairs, len(ours), len(theirs)),
        SURFACE: _form_rows(gold_forms.form, pred_forms.form, right),
    }
    n_illegal = illegal_gold.astype(int) + illegal_pred
    same_tag = numbers[0] == numbers[1]

    def records(evaluation: str) -> pd.DataFrame:
        if evaluation == TOKENS:
            is_token = np.ones(len(gold), bool)
            counters = {"phrases": is_token, "found": is_token, "correct": same_tag, ILLEGAL: n_illegal}
            return token_records(TOKENS, gold, pred, counters)
        units = [ours.units(gold, TYPES), theirs.units(gold, TYPES)]
        if evaluation == SURFACE:
            units = [_form_units(gold, ours, gold_forms), _form_units(gold, theirs, pred_forms)]
        return EVALUATIONS[evaluation].records(evaluation, units, rows[evaluation])

    tables: Tables = {
        ENTITY: rows[ENTITY].decisions_by_type(SharedTypes(TYPES, ours.kind, theirs.kind)),
        SURFACE: rows[SURFACE].decisions_by_type(SharedTypes(TYPES, gold_forms.kind, pred_forms.kind)),
        TOKENS: {"all": (len(gold), int(np.count_nonzero(same_tag)), int(n_illegal.sum()))},
    }
    return MatchedSides.of_tags(tags, len(ours), len(theirs), tables, records)


def figures(counts: CountTables, options: Options) -> Figures:
    # A type gets a section of its own if gold has it.
    present = [name for name, row in sorted(counts.rows(ENTITY).items()) if row[COR] + row[MIS]]
    n_tokens, n_same, n_illegal = counts.rows(TOKENS)["all"]
    tables = {}
    for name, evaluation in EVALUATIONS.items():
        scopes = evaluation.scopes(counts.rows(name))
        tables[name] = {scope: scopes[scope] | RATIOS.of(scopes[scope]) for scope in (OVERALL, *present)}
    tokens = {"phrases": n_tokens, "found": n_tokens, "correct": n_same}
    tables[TOKENS] = {OVERALL: tokens | RATIOS.of(tokens)}
    scores: dict[str, Any] = {
        name: {ALL if scope == OVERALL else scope: _named(row) for scope, row in scopes.items()}
        for name, scopes in tables.items()
    }
    scores |= {TOKENS: scores[TOKENS][ALL], ILLEGAL: n_illegal}
    tables[TOKENS][OVERALL][ILLEGAL] = n_illegal
    rows = [row for name, scopes in tables.items() for row in figure_rows(name, scopes, (*COUNTERS, ILLEGAL))]
    return Figures(scores, rows)


def _named(figures: Mapping[str, float]) -> dict[str, float]:
    """Return figures under the program's names."""
    return {PROGRAM_NAMES.get(name, name): value for name, value in figures.items()}


def _parsed(names: tuple[str, ...]) -> tuple[Array, Array]:
    """Return letter and type of each distinct tag, then O, which stands between sentences; letter -1 is none."""
    letters, kinds = [], []
    for name in names:
        letter, dash, kind = name.partition("-")
        fits = name == "O" or (dash and letter in ("O", "B", "I") and kind in TYPES)
        letters.append("OBI".index(letter) if fits else -1)
        kinds.append(TYPES.index(kind) if fits and dash else -1)
    return np.array([*letters, O], np.int8), np.array([*kinds, -1], np.int64)


def _refuse(tags: TagPair, numbers: list[Int32], names: tuple[str, ...], letter: Array) -> None:
    """Raise a FormatError with the first place of each tag at which the program stops with a ValueError."""
    problems = ProblemList()
    for side, codes in zip(tags, numbers, strict=True):
        is_inner = np.ones(len(side), bool)
        is_inner[side.sentences[:-1]] = False
        for code, name in enumerate(names):
            # At the start of a sentence O with a type begins an entity.
            if letter[code] < 0 or (letter[code] == O and name != "O"):
                tokens = np.flatnonzero((codes == code) & (is_inner | (letter[code] < 0)))
                if len(tokens):
                    finding = f"{quoted(name)} is not a tag of WNUT 2017, at which wnuteval.py stops with a ValueError"
                    remedy = f"write O, or B or I, '-' and one of {', '.join(TYPES)}"
                    problems.append(Problem(*side.place(int(tokens[0])), finding, remedy))
    if problems:
        raise FormatError(problems)


def _entities(numbers: Int32, sentences: Int64, letter: Array, kind: Array) -> tuple[TagChunks, Bools]:
    """Return one side's entities, and where an I inside a sentence begins one."""
    previous = previous_values(numbers, sentences, len(letter) - 1)
    # Of each pair of tags: whether the second goes on with the entity of the first.
    goes_on = (letter[None, :] == I) & (kind[:, None] == kind[None, :])
    within = goes_on[previous, numbers]
    first, last = runs(kind[numbers] >= 0, ~within[1:])
    illegal = (letter[numbers] == I) & ~within
    illegal[sentences[:-1]] = False
    return TagChunks(first, last, kind[numbers[first]]), illegal


def _forms(
    gold: Tagged, entities: TagChunks, guesses: TagChunks, g: Int64, p: Int64
) -> tuple[SurfaceForms, SurfaceForms, Int64]:
    """Return the forms of both sides, and the numbers of those that are right: an entity of theirs is."""
    codes: dict[tuple[int, tuple[str, ...]], int] = {}
    words = gold.words
    numbers = []
    for side in (entities, guesses):
        rows = zip(side.kind.tolist(), side.first.tolist(), side.last.tolist(), strict=True)
        keys = ((kind, tuple(words[low : high + 1])) for kind, low, high in rows)
        numbers.append(np.fromiter((codes.setdefault(key, len(codes)) for key in keys), np.int64, len(side)))
    sides = []
    for side, form, right in ((entities, numbers[0], g), (guesses, numbers[1], p)):
        distinct, entity = np.unique(form, return_index=True)
        # A form that is right is shown where it is.
        right_forms, firsts = np.unique(form[right], return_index=True)
        entity[np.searchsorted(distinct, right_forms)] = right[firsts]
        sides.append(SurfaceForms(distinct, side.kind[entity], entity))
    return sides[0], sides[1], np.unique(numbers[0][g])


def _form_rows(gold: Int64, pred: Int64, right: Int64) -> MatchRows:
    """Match the forms that are right; of others it is told whether the other side has them elsewhere."""
    pairs = [np.flatnonzero(np.isin(forms, right)) for forms in (gold, pred)]
    rows = MatchRows.of_pairs(pairs[0], pairs[1], len(gold), len(pred))
    missed, spurious = np.flatnonzero(rows.decision == MIS), np.flatnonzero(rows.decision == SPU)
    rows.reason[missed[np.isin(gold[rows.gold[missed]], pred)]] = ELSEWHERE
    rows.reason[spurious[np.isin(pred[rows.pred[spurious]], gold)]] = ELSEWHERE
    return rows


def _form_units(gold: Tagged, entities: TagChunks, forms: SurfaceForms) -> UnitColumns:
    first, last = entities.first[forms.entity], entities.last[forms.entity]
    places = zip(first.tolist(), last.tolist(), strict=True)
    texts = tuple(" ".join(gold.words[low : high + 1]) for low, high in places)
    return replace(UnitColumns.of_tokens(gold, first, last, forms.kind, TYPES), texts=texts)


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
        steps=ScorerSteps(read_tags, from_layers, match),
        figures=figures,
        not_by_shards="a surface form counts once in the whole corpus",
        words=True,
        formats=("conll",),
        twins={ENTITY: "strict"},
        forms={"text": text},
        ratios=RATIOS,
    ),
)
