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

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nereval_core.arrays import Bools, Int64
from nereval_core.conventions import Convention, Given, Option
from nereval_core.conventions.outcome import (
    COR,
    OVERALL,
    Content,
    FigureRow,
    Outcome,
    UnitColumns,
    figures,
    record_frame,
    scope_of_type,
    type_of_scope,
    with_types,
)
from nereval_core.conventions.shares import NO_DOCUMENTS, ByShares, Share, precision_recall_f1, without_records
from nereval_core.conventions.tag_sequences import (
    TagChunks,
    counts_by_type,
    find_transitions,
    last_true,
    number_tags,
    record_rows,
    token_records,
    untokenized_note,
    with_untokenized,
)
from nereval_core.corpus import Layer
from nereval_core.readers.shared.token_tags import Tagged, tags_of_layer

EVALUATION, TOKENS = "phrase", "tokens"
WHY = ("the same tokens and type on the other side", "no phrase of the same tokens and type on the other side")
BOUNDARY = "-X-"
COUNTS = ("correct", "phrases", "found")
LETTERS = ("O", "B", "I", "E", "[", "]", ".")
O, B, I, E, OPEN, CLOSE, DOT = range(len(LETTERS))  # noqa: E741


def score(given: Given, options: Mapping[str, Any]) -> Outcome:
    """Score the tags of two files, or of two columns of one."""
    sides = given.read_tags(last=True)
    if len(sides[0].marks) == len(sides[1].marks) and any({*side.marks} - {"O"} for side in sides):
        # Records and figures of phrases on such lines need their tokens.
        sides = given.read_tags(last=True, docstarts=True)
    return score_tags(*sides, options)


def of_layers(gold: Layer, pred: Layer, options: Mapping[str, Any]) -> Outcome:
    """Score layers by the IOB2 tags that say them; raw, by their types."""
    return score_tags(*_sides(gold, pred, options), options)


def counted(gold: Layer, pred: Layer, options: Mapping[str, Any]) -> Share:
    """Count the phrases of a part of a corpus; a document stands in one part."""
    return with_untokenized(_counted(*_sides(gold, pred, options), options)[0], gold)


def _sides(gold: Layer, pred: Layer, options: Mapping[str, Any]) -> tuple[Tagged, Tagged]:
    one, two = (tags_of_layer(layer, "conlleval") for layer in (gold, pred))
    if options["r"]:
        one, two = (replace(side, tags=[tag[2:] or options["o"] for tag in side.tags]) for side in (one, two))
    return one, two


def score_tags(gold: Tagged, pred: Tagged, options: Mapping[str, Any]) -> Outcome:
    """Score tags over the same tokens.

    Counters by type and overall: `correct`, `phrases` (gold) and `found` (predicted); figures in percent.
    """
    share, build = _counted(gold, pred, options)
    return replace(of_share(share, options), documents=gold.documents, build=build)


def _counted(gold: Tagged, pred: Tagged, options: Mapping[str, Any]) -> tuple[Share, Callable[[str], pd.DataFrame]]:
    """Count tags over the same tokens, and return the function that makes the records.

    Tables: `types` has the COUNTS of each type; `tokens` how many there are, how many of the same tag, and how many of
    them are lines that begin documents.
    """
    marks = (gold.marks, pred.marks) if len(gold.marks) == len(pred.marks) else ((), ())
    kept = np.arange(len(gold))
    if BOUNDARY in gold.words:
        outside = np.fromiter((word == BOUNDARY for word in gold.words), bool, len(gold))
        kept = np.flatnonzero(~outside)
        gold, pred = (
            replace(side, tags=["O" if out else tag for tag, out in zip(side.tags, outside.tolist(), strict=True)])
            for side in (gold, pred)
        )
    numbers, names = number_tags(gold.tags, pred.tags, *marks)
    parts = [_parted(name, options) for name in names]
    types = sorted({kind for _, kind in parts} | {""})
    known = {letter: code for code, letter in enumerate(LETTERS)}
    letter = np.array([*(known.setdefault(one, len(known)) for one, _ in parts), O], np.int32)
    kind = np.array([*(types.index(kind) for _, kind in parts), types.index("")], np.int32)
    equal = letter.astype(np.int64) * len(types) + kind
    cut = [find_transitions(_table, side, gold.sentences, letter, kind, len(names)) for side in numbers[:2]]
    one, two = (
        _phrases(start, end, gold.sentences, kind[side]) for (start, end), side in zip(cut, numbers[:2], strict=True)
    )
    g, p = _correct(cut[0], cut[1], kind[numbers[0]], kind[numbers[1]], gold.ended)

    right = equal[numbers[0]] == equal[numbers[1]]
    beside = equal[numbers[2]] == equal[numbers[3]] if marks[0] else np.empty(0, bool)
    total, hits = len(kept) + len(beside), int(np.count_nonzero(right[kept]) + np.count_nonzero(beside))
    share = Share(
        {
            "types": counts_by_type(types, one.kind[g], one.kind, two.kind),
            "tokens": {"all": (total, hits, len(beside))},
        },
        Content.of_tags(gold, len(one)),
        Content.of_tags(pred, len(two)),
    )

    def build(evaluation: str) -> pd.DataFrame:
        if evaluation == TOKENS:
            counters = {"tokens": np.ones(len(kept), bool), "correct tags": right[kept]}
            return token_records(TOKENS, gold, pred, counters, kept)
        return _records(gold, (one, two), (g, p), tuple(types))

    return share, build


def of_share(share: Share, options: Mapping[str, Any]) -> Outcome:
    """Return the figures of a share, without records."""
    total, hits, beside = share.tables.get("tokens", {}).get("all", (0, 0, 0))
    tokens = {"tokens": total, "correct tags": hits, "accuracy": 100 * hits / total if total else 0.0}
    # Lines that begin documents count, and are not tokens of ours.
    rows: list[FigureRow] = [
        (TOKENS, OVERALL, name, value, not beside and name != "accuracy") for name, value in tokens.items()
    ]
    by_type = sorted(share.tables.get("types", {}).items())
    whole = [sum(row[column] for _, row in by_type) for column in range(len(COUNTS))]
    scores: dict[str, Any] = {}
    for scope, row in ((OVERALL, whole), *((scope_of_type(name), row) for name, row in by_type)):
        counts = dict(zip(COUNTS, row, strict=True))
        scores[scope] = counts | _ratios(counts)
        rows += [(EVALUATION, scope, name, value, name in COUNTS) for name, value in scores[scope].items()]
    return Outcome(
        "conlleval",
        options,
        NO_DOCUMENTS,
        share.gold,
        share.pred,
        {TOKENS: tokens, "phrases": scores},
        figures(rows),
        without_records,
        untokenized_note(share),
    )


def _parted(name: str, options: Mapping[str, Any]) -> tuple[str, str]:
    """Return letter and type of a tag."""
    if options["r"]:
        name = "O" if name in ("O", options["o"]) else f"B-{name}"
    letter, _, kind = name.partition("-")
    # To Perl the text 0 is false.
    return letter, "" if kind == "0" else kind


def _table(before: NDArray[Any], old: NDArray[Any], letter: NDArray[Any], kind: NDArray[Any]) -> tuple[Bools, Bools]:
    """Return where a phrase starts at a tag, and where one ends before it."""
    changes = old != kind
    plain, again = np.isin(before, (B, I)), (before == E) & np.isin(letter, (E, I))
    start = ((letter == B) & (plain | (before == O))) | ((before == O) & np.isin(letter, (I, E))) | again
    start |= (~np.isin(letter, (O, DOT)) & changes) | np.isin(letter, (OPEN, CLOSE))
    end = (plain & np.isin(letter, (B, O))) | again | ((before == E) & (letter == O))
    end |= (~np.isin(before, (O, DOT)) & changes) | np.isin(before, (OPEN, CLOSE))
    return start, end


def _phrases(start: Bools, end: Bools, sentences: Int64, kind: NDArray[Any]) -> TagChunks:
    """Return each phrase that starts, up to the first end, the next start or the end of the sentence."""
    first = np.flatnonzero(start)
    closed = end.copy()
    closed[sentences[1:] - 1] = True
    ends = np.flatnonzero(closed)
    last = ends[np.searchsorted(ends, first)]
    last[:-1] = np.minimum(last[:-1], first[1:] - 1)
    return TagChunks(first, last, kind[first])


def _correct(
    gold: tuple[Bools, ...], pred: tuple[Bools, ...], ours: NDArray[Any], theirs: NDArray[Any], ended: bool
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


def _ratios(row: Mapping[str, int]) -> dict[str, float]:
    ratios = precision_recall_f1(100 * row["correct"], row["found"], row["phrases"])
    return dict(zip(("precision", "recall", "FB1"), ratios, strict=True))


def _records(
    gold: Tagged, sides: tuple[TagChunks, TagChunks], pairs: tuple[Int64, Int64], types: tuple[str, ...]
) -> pd.DataFrame:
    ours, theirs = (UnitColumns.of_tokens(gold, side.first, side.last, side.kind, types) for side in sides)
    one, two, decision = record_rows(*pairs, len(ours), len(theirs))
    counters = {"correct": decision == COR, "phrases": one >= 0, "found": two >= 0}
    why = np.where(decision == COR, 0, 1), WHY
    return with_types(record_frame(EVALUATION, ours, theirs, one, two, decision, why, counters))


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
        score=score,
        of_layers=of_layers,
        by_shares=ByShares(counted, of_share),
        formats=("conll",),
        options=(
            Option("l", "print the rows of a LaTeX table", "flag", False),
            Option("r", "tags are types without B- and I-: every token is a phrase of its own", "flag", False),
            Option("o", "with r, the tag of tokens outside", default="O"),
        ),
        twins={EVALUATION: "strict"},
        forms={"text": text},
        names={"P": "precision", "R": "recall", "F1": "FB1", "COR": "correct", "POS": "phrases", "ACT": "found"},
        percent=True,
        formulas={
            "accuracy": "100 × correct tags / tokens",
            "precision": "100 × correct / found",
            "recall": "100 × correct / phrases",
            "FB1": "2 × precision × recall / (precision + recall)",
        },
    ),
)
