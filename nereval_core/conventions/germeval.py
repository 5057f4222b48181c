"""nereval.perl, the scorer of the GermEval 2014 shared task, metrics 1 to 3.

Tags stand in two columns: outer chunks and those inside them. A chunk begins with B, or with I after O, whatever its
type, and goes on until the next B or O; blank lines are passed over, so that I goes on with the sentence before. A
chunk is right where both sides begin and end together and have the same type on each of its tokens; the last chunk of
all, which nothing ends, is never right if it reaches the last token. Metric 1 (`strict`) counts the chunks of both
columns, metric 2 (`loose`) does so without the endings `deriv` and `part` of types, metric 3 counts each column on its
own (`outer`, `inner`). Accuracy is over the tags. The figures by type are not reproduced: a chunk whose type changes
inside is found under one type and right under another there.
Source: nereval.perl of 2014-05-19 (Kisselew, after Tjong Kim Sang); Benikova, Biemann, Kisselew and Padó 2014.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nereval_core.arrays import Bools, Int64
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
)
from nereval_core.conventions.tag_sequences import TagChunks, number_tags, record_rows, runs, same_spans
from nereval_core.problems import FormatError, Problem, quoted
from nereval_core.readers.conll import read_tagged
from nereval_core.readers.shared.token_tags import Tagged, match_tags
from nereval_core.scoring.count_tables import TEXT_DTYPE

TYPES = ("PER", "LOC", "ORG", "OTH")
ENDINGS = ("deriv", "part")
TAG = re.compile(rf"O|[BI]-(?:{'|'.join(TYPES)})(?:{'|'.join(ENDINGS)})?")
COLUMNS = {"outer": -2, "inner": -1}
EVALUATIONS = {"strict": ("outer", "inner"), "loose": ("outer", "inner"), "outer": ("outer",), "inner": ("inner",)}
TITLES = {
    "strict": "1. Strict, Combined Evaluation (official):",
    "loose": "2. Loose, Combined Evaluation:",
    "outer": "3.1 Per-Level Evaluation (outer chunks):",
    "inner": "3.2 Per-Level Global Evaluation (inner chunks):",
}
COUNTERS = ("gold_chunks", "found", "correct")
WHY = (
    "begins, ends and is typed alike on the other side",
    "nothing begins and ends alike there",
    "begins and ends alike, but some token has another type",
    "reaches the last token of all, where no chunk is right",
)
SAME, NONE, OTHER, LAST = range(4)


@dataclass(frozen=True, eq=False)
class ColumnChunks:
    """The tags of one column on both sides, and their chunks: the type is that of the first token.

    `gold` and `pred` number the chunks that are right; `why` says of each side's chunks what decided.
    """

    tags: tuple[Tagged, Tagged]
    chunks: tuple[TagChunks, TagChunks]
    types: tuple[str, ...]
    gold: Int64
    pred: Int64
    why: tuple[NDArray[Any], NDArray[Any]]


def score(given: Given, options: Mapping[str, Any]) -> Outcome:
    """Score two files whose last two columns are tags of outer and of inner chunks, token by token.

    Counters: `gold_chunks`, `found` and `correct`.

    Raises:
        FormatError: tags that are none of the task, at which the program stops; columns other than the last two.
    """
    _refuse_columns(given)
    levels: dict[str, tuple[Tagged, Tagged]] = {}
    for name, column in COLUMNS.items():
        gold, pred = (read_tagged(source, column=column) for source in (given.gold, given.pred))
        levels[name] = gold, match_tags(gold, pred)
    problems = [problem for sides in levels.values() for tags in sides for problem in _tag_problems(tags)]
    if problems:
        raise FormatError(problems)
    strict = {name: _column_chunks(*sides) for name, sides in levels.items()}
    loose = {name: _column_chunks(*(_coarse(tags) for tags in sides)) for name, sides in levels.items()}
    found = {name: [(loose if name == "loose" else strict)[level] for level in EVALUATIONS[name]] for name in TITLES}
    scores = {name: _results(columns) for name, columns in found.items()}
    rows: list[FigureRow] = [
        (name, OVERALL, figure, value, figure in COUNTERS)
        for name, row in scores.items()
        for figure, value in row.items()
    ]

    def build(evaluation: str) -> pd.DataFrame:
        frames = [_records(evaluation, column) for column in found[evaluation]]
        plain = [frame.astype({"gold_type": TEXT_DTYPE, "pred_type": TEXT_DTYPE}) for frame in frames]
        return pd.concat(plain, ignore_index=True).astype({"gold_type": "category", "pred_type": "category"})

    contents = []
    for side in (0, 1):
        both = [levels[name][side] for name in COLUMNS]
        pairs = list(map(" ".join, zip(both[0].tags, both[1].tags, strict=True)))
        chunks = sum(len(column.chunks[side]) for column in strict.values())
        contents.append(Content.of_tags(replace(both[0], tags=pairs), chunks))
    documents = levels["outer"][0].documents
    return Outcome("germeval-2014", options, documents, contents[0], contents[1], scores, figures(rows), build)


def _refuse_columns(given: Given) -> None:
    problems = [
        Problem(f"--{side}-column", None, "nereval.perl takes the last two columns", "leave the option out")
        for side, column in (("gold", given.gold_column), ("pred", given.pred_column))
        if column is not None
    ]
    if problems:
        raise FormatError(problems)


def _tag_problems(tags: Tagged) -> list[Problem]:
    """Return the first place of each tag at which the program stops, or which it takes by chance."""
    seen: dict[str, int] = {}
    for token, tag in enumerate(tags.tags):
        seen.setdefault(tag, token)
    remedy = f"write O, or B or I, '-' and one of {', '.join(TYPES)}, which {' or '.join(ENDINGS)} may follow"
    return [
        Problem(*tags.place(token), f"{quoted(tag)} is not a tag of GermEval 2014", remedy)
        for tag, token in seen.items()
        if not TAG.fullmatch(tag)
    ]


def _coarse(tags: Tagged) -> Tagged:
    coarse = {tag: re.sub(f"({'|'.join(ENDINGS)})$", "", tag) for tag in set(tags.tags)}
    return replace(tags, tags=[coarse[tag] for tag in tags.tags])


def _column_chunks(gold: Tagged, pred: Tagged) -> ColumnChunks:
    numbers, names = number_tags(gold.tags, pred.tags)
    types = tuple(sorted({name[2:] for name in names if name != "O"}))
    kind_of = np.array([types.index(name[2:]) if name != "O" else -1 for name in names], np.int64)
    begins = np.array([name.startswith("B") for name in names], bool)
    kinds = [kind_of[codes] for codes in numbers]
    chunks = []
    for codes, kind in zip(numbers, kinds, strict=True):
        first, last = runs(kind >= 0, begins[codes[1:]])
        chunks.append(TagChunks(first, last, np.zeros(len(first), np.int64)))
    # Chunks of one place; right are those whose tokens all have one type on both sides.
    g, p = same_spans(chunks[0], chunks[1], len(gold))
    differing = np.concatenate(([0], np.cumsum(kinds[0] != kinds[1])))
    first, last = chunks[0].first[g], chunks[0].last[g]
    alike: Bools = differing[last + 1] == differing[first]
    ended = last < len(gold) - 1
    whys = []
    for side, placed in ((chunks[0], g), (chunks[1], p)):
        why = np.full(len(side), NONE)
        why[placed] = np.where(~alike, OTHER, np.where(ended, SAME, LAST))
        whys.append(why)
    typed = [TagChunks(side.first, side.last, kind[side.first]) for side, kind in zip(chunks, kinds, strict=True)]
    right = alike & ended
    return ColumnChunks((gold, pred), (typed[0], typed[1]), types, g[right], p[right], (whys[0], whys[1]))


def _results(columns: Sequence[ColumnChunks]) -> dict[str, float]:
    gold, found = (sum(len(column.chunks[side]) for column in columns) for side in (0, 1))
    correct = sum(len(column.gold) for column in columns)
    tokens = len(columns[0].tags[0])
    alike = sum(one == two for column in columns for one, two in zip(*(side.tags for side in column.tags), strict=True))
    precision = 100 * correct / found if found else 0.0
    recall = 100 * correct / gold if gold else 0.0
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    share = alike / len(columns)
    accuracy = (100 * share / tokens if len(columns) > 1 else 100 * (share / tokens)) if tokens else 0.0
    ratios = {"accuracy": accuracy, "precision": precision, "recall": recall, "FB1": f1}
    return ratios | dict(zip(COUNTERS, (gold, found, correct), strict=True))


def _records(evaluation: str, column: ColumnChunks) -> pd.DataFrame:
    tags = column.tags[0]
    # A chunk that goes on in the next document is shown in the first.
    ours, theirs = (
        UnitColumns.of_tokens(
            tags,
            side.first,
            np.minimum(side.last, tags.tokens.first[tags.doc[side.first] + 1] - 1),
            side.kind,
            column.types,
        )
        for side in column.chunks
    )
    g, p, decision = record_rows(column.gold, column.pred, len(ours), len(theirs))
    why = np.full(len(g), SAME)
    why[g >= 0] = column.why[0][g[g >= 0]]
    alone = g < 0
    why[alone] = column.why[1][p[alone]]
    counters = dict(zip(COUNTERS, (g >= 0, p >= 0, decision == COR), strict=True))
    return record_frame(evaluation, ours, theirs, g, p, decision, (why, WHY), counters)


def text(outcome: Outcome) -> str:
    """Return what the program prints before its figures by type."""
    outer, inner = (outcome.scores[level] for level in COLUMNS)
    found = f"Found: {outer['found']} outer and {inner['found']} inner phrases"
    gold = f"Gold: {outer['gold_chunks']} (outer) and {inner['gold_chunks']} (inner)."
    lines = [f"{mode}: {found}; {gold}" for mode in ("STRICT", "LOOSE")]
    for name, title in TITLES.items():
        row = outcome.scores[name]
        lines += [
            "",
            title,
            *(f"{part.capitalize()}: {row[part]:6.2f}%;" for part in ("accuracy", "precision", "recall")),
        ]
        lines.append(f"FB1: {row['FB1']:6.2f}")
    return "\n".join([*lines, "", ""])


CONVENTIONS = (
    Convention(
        name="germeval-2014",
        family="tag sequences",
        sentence="GermEval 2014: outer and inner chunks of the same place and type, with and without deriv and part.",
        needs=f"files whose last two columns are tags, outer and inner, of the types {', '.join(TYPES)}",
        source="nereval.perl of 2014-05-19, GermEval 2014 NER shared task (Benikova et al. 2014)",
        score=score,
        formats=("conll",),
        forms={"text-metrics": text},
        names={"P": "precision", "R": "recall", "F1": "FB1", "COR": "correct", "POS": "gold_chunks", "ACT": "found"},
        percent=True,
        formulas={
            "precision": "correct / found",
            "recall": "correct / gold_chunks",
            "FB1": "2 × precision × recall / (precision + recall)",
        },
    ),
)
