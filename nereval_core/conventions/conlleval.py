"""conlleval, the scorer of the CoNLL-2000 and later shared tasks.

A phrase begins and ends by the program's table of transitions, which knows B, I, E, `[` and `]`; any other letter (S,
L, U too) begins and ends one only where the type changes, so that S-PER S-PER is one phrase. An I that follows no
phrase of its type begins one. A type is what follows the first `-`; the type 0 is none, as is a missing one. A phrase
is correct where both sides begin and end one here, with nothing between that ends it on one side alone. Percentages are
of tokens and phrases; a zero denominator gives 0. A line whose first column is -X- ends a sentence, and one that begins
with -DOCSTART- is a token like any other.
Source: conlleval.pl (Tjong Kim Sang, 2004-01-26), https://www.clips.uantwerpen.be/conll2000/chunking/.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pandas as pd

from nereval_core.conventions.convention import (
    Convention,
    LayerPair,
    MatchedSides,
    Options,
    ScorerInput,
    ScorerOption,
    ScorerSteps,
    TagPair,
)
from nereval_core.conventions.outcome import CountTables, Figures, Outcome, RatioNames, Tables, figure_rows
from nereval_core.conventions.records import COR, MIS, OVERALL, SPU, Evaluation, MatchRows, SharedTypes, type_of_scope
from nereval_core.conventions.tag_sequences import (
    TagChunks,
    find_transitions,
    last_true,
    number_tags,
    tags_of_layers,
    token_records,
)
from nereval_core.corpus.arrays import Array, Bools, Int64

PHRASE, TOKENS = "phrase", "tokens"
EVALUATION = Evaluation(
    reasons=(
        "the same tokens and type on the other side",
        "no phrase of the same tokens and type on the other side",
    ),
    counters={"correct": (COR,), "phrases": (COR, MIS), "found": (COR, SPU)},
    by_type=True,
)
RATIOS = RatioNames(
    precision="precision", recall="recall", f1="FB1", correct="correct", gold="phrases", pred="found", percent=True
)
BY_TYPE = "types"
BOUNDARY = "-X-"
LETTERS = ("O", "B", "I", "E", "[", "]", ".")
O, B, I, E, OPEN, CLOSE, DOT = range(len(LETTERS))  # noqa: E741


def read(files: ScorerInput, options: Options) -> TagPair:
    tags = files.read_tags(last=True)
    if len(tags.gold.marks) == len(tags.pred.marks) and any({*side.marks} - {"O"} for side in tags):
        # Records and figures of phrases on such lines need their tokens.
        return files.read_tags(last=True, docstarts=True)
    return tags


def from_layers(layers: LayerPair, options: Options) -> TagPair:
    """Return the IOB2 tags that say layers; raw, their types."""
    tags = tags_of_layers(layers, "conlleval")
    if not options["r"]:
        return tags
    return TagPair(*(replace(side, tags=[tag[2:] or options["o"] for tag in side.tags]) for side in tags))


def match(tags: TagPair, options: Options) -> MatchedSides:
    """Match phrases over the same tokens."""
    gold, pred = tags
    marks = (gold.marks, pred.marks) if len(gold.marks) == len(pred.marks) else ((), ())
    tokens = np.arange(len(gold))
    if BOUNDARY in gold.words:
        is_boundary = np.fromiter((word == BOUNDARY for word in gold.words), bool, len(gold))
        tokens = np.flatnonzero(~is_boundary)
        gold, pred = (
            replace(side, tags=["O" if out else tag for tag, out in zip(side.tags, is_boundary.tolist(), strict=True)])
            for side in tags
        )
    numbers, names = number_tags(gold.tags, pred.tags, *marks)
    parts = [_parted(name, options) for name in names]
    types = tuple(sorted({kind for _, kind in parts} | {""}))
    codes = {letter: code for code, letter in enumerate(LETTERS)}
    letter = np.array([*(codes.setdefault(name, len(codes)) for name, _ in parts), O], np.int32)
    kind = np.array([*(types.index(name) for _, name in parts), types.index("")], np.int32)
    edges = [find_transitions(_table, side, gold.sentences, letter, kind, len(names)) for side in numbers[:2]]
    kinds = [kind[side] for side in numbers[:2]]
    phrases = [
        _phrases(start, end, gold.sentences, of_token) for (start, end), of_token in zip(edges, kinds, strict=True)
    ]
    pairs = _correct(edges[0], edges[1], kinds[0], kinds[1], gold.ended)
    rows = MatchRows.of_pairs(*pairs, *map(len, phrases))
    tag = letter.astype(np.int64) * len(types) + kind
    same_tag = tag[numbers[0]] == tag[numbers[1]]
    same_mark = tag[numbers[2]] == tag[numbers[3]] if marks[0] else np.zeros(0, bool)
    n_same = int(np.count_nonzero(same_tag[tokens]) + np.count_nonzero(same_mark))

    def records(evaluation: str) -> pd.DataFrame:
        if evaluation == TOKENS:
            counters = {"tokens": np.ones(len(tokens), bool), "correct tags": same_tag[tokens]}
            return token_records(TOKENS, gold, pred, counters, tokens)
        return EVALUATION.records(PHRASE, [side.units(gold, types) for side in phrases], rows)

    tables: Tables = {
        BY_TYPE: rows.decisions_by_type(SharedTypes(types, phrases[0].kind, phrases[1].kind)),
        TOKENS: {"all": (len(tokens) + len(same_mark), n_same, len(same_mark))},
    }
    return MatchedSides.of_tags(TagPair(gold, pred), len(phrases[0]), len(phrases[1]), tables, records)


def figures(counts: CountTables, options: Options) -> Figures:
    n_tokens, n_same, n_marks = counts.rows(TOKENS).get("all", (0, 0, 0))
    tokens = {"tokens": n_tokens, "correct tags": n_same, "accuracy": 100 * n_same / n_tokens if n_tokens else 0.0}
    phrases = {scope: row | RATIOS.of(row) for scope, row in EVALUATION.scopes(counts.rows(BY_TYPE)).items()}
    # Lines that begin documents count, and are not tokens of ours.
    rows = [
        *figure_rows(TOKENS, {OVERALL: tokens}, () if n_marks else ("tokens", "correct tags")),
        *figure_rows(PHRASE, phrases, EVALUATION.counters),
    ]
    return Figures({TOKENS: tokens, "phrases": phrases}, rows)


def _parted(name: str, options: Options) -> tuple[str, str]:
    """Return letter and type of a tag."""
    if options["r"]:
        name = "O" if name in ("O", options["o"]) else f"B-{name}"
    letter, _, kind = name.partition("-")
    # To Perl the text 0 is false.
    return letter, "" if kind == "0" else kind


def _table(before: Array, old: Array, letter: Array, kind: Array) -> tuple[Bools, Bools]:
    """Return where a phrase starts at a tag, and where one ends before it."""
    changes = old != kind
    plain, again = np.isin(before, (B, I)), (before == E) & np.isin(letter, (E, I))
    start = ((letter == B) & (plain | (before == O))) | ((before == O) & np.isin(letter, (I, E))) | again
    start |= (~np.isin(letter, (O, DOT)) & changes) | np.isin(letter, (OPEN, CLOSE))
    end = (plain & np.isin(letter, (B, O))) | again | ((before == E) & (letter == O))
    end |= (~np.isin(before, (O, DOT)) & changes) | np.isin(before, (OPEN, CLOSE))
    return start, end


def _phrases(start: Bools, end: Bools, sentences: Int64, kind: Array) -> TagChunks:
    """Return each phrase that starts, up to the first end, the next start or the end of the sentence."""
    first = np.flatnonzero(start)
    closed = end.copy()
    closed[sentences[1:] - 1] = True
    ends = np.flatnonzero(closed)
    last = ends[np.searchsorted(ends, first)]
    last[:-1] = np.minimum(last[:-1], first[1:] - 1)
    return TagChunks(first, last, kind[first])


def _correct(
    gold: tuple[Bools, ...], pred: tuple[Bools, ...], ours: Array, theirs: Array, ended: bool
) -> tuple[Int64, Int64]:
    """Return the numbers of the phrases that are correct on both sides, pair by pair.

    A phrase is followed from where both sides start one of a type. It is correct if the first token after which one
    side ends a phrase, or before which the types part, is one after which both do.
    """
    (start, end), (begin, stop) = gold, pred
    opened = last_true(start & begin & (ours == theirs))
    both = end & stop
    halted = end | stop
    halted[:-1] |= ours[1:] != theirs[1:]
    # A phrase still followed at the end of the file is correct; a blank line there ends one that only one side ends.
    both[-1:] = (end == stop)[-1:] if ended else True
    earlier = np.concatenate(([-1], last_true(halted)[:-1]))
    tokens = np.flatnonzero(both & (opened > earlier))
    places = opened[tokens]
    return tuple(np.searchsorted(np.flatnonzero(mask), places) for mask in (start, begin))  # type: ignore[return-value]


def text(outcome: Outcome) -> str:
    """Return the printout of the program: with the option l the rows of a LaTeX table."""
    sections = dict(outcome.scores["phrases"])
    whole, tokens = sections.pop(OVERALL), outcome.scores[TOKENS]
    # The program lists a missing type once for each side that has it.
    listed = [
        (type_of_scope(name), row)
        for name, row in sections.items()
        for _ in range(2 if not name and row["phrases"] * row["found"] else 1)
    ]
    if outcome.options["l"]:
        head = "        & Precision &  Recall  & F$_{\\beta=1} \\\\\\hline"
        lines = [head, *(f"{_padded(name, -7)} &{_latex(row)} \\\\" for name, row in listed)]
        return "\n".join(lines) + f"\\hline\nOverall &{_latex(whole)} \\\\\\hline\n"
    lines = [
        f"processed {tokens['tokens']} tokens with {whole['phrases']} phrases; "
        f"found: {whole['found']} phrases; correct: {whole['correct']}."
    ]
    if tokens["tokens"]:
        lines.append(f"accuracy: {tokens['accuracy']:6.2f}%; {_percent(whole)}")
    lines += [f"{_padded(name, 17)}: {_percent(row)}  {row['found']}" for name, row in listed]
    return "\n".join([*lines, ""])


def _padded(name: str, width: int) -> str:
    """Return a name filled up with blanks as Perl does, which counts bytes."""
    blanks = " " * (abs(width) - len(name.encode()))
    return name + blanks if width < 0 else blanks + name


def _percent(row: Mapping[str, float]) -> str:
    return f"precision: {row['precision']:6.2f}%; recall: {row['recall']:6.2f}%; FB1: {row['FB1']:6.2f}"


def _latex(row: Mapping[str, float]) -> str:
    return f"  {row['precision']:6.2f}\\% & {row['recall']:6.2f}\\% & {row['FB1']:6.2f}"


CONVENTIONS = (
    Convention(
        name="conlleval",
        family="tag sequences",
        sentence="Phrases with the same tokens and type; any I that follows no phrase of its type begins one.",
        needs="one tag a token on both sides",
        source="conlleval.pl of 2004-01-26 (Tjong Kim Sang and Buchholz 2000)",
        steps=ScorerSteps(read, from_layers, match),
        figures=figures,
        formats=("conll",),
        options=(
            ScorerOption("l", "print the rows of a LaTeX table", "flag", False),
            ScorerOption("r", "tags are types without B- and I-: every token is a phrase of its own", "flag", False),
            ScorerOption("o", "with r, the tag of tokens outside", default="O"),
        ),
        twins={PHRASE: "strict"},
        forms={"text": text},
        ratios=RATIOS,
        other_formulas={"accuracy": "100 × correct tags / tokens"},
    ),
)
