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

import numpy as np
import pandas as pd

from nereval_core.conventions.convention import Convention, MatchedSides, Options, ScorerInput, ScorerSteps, TagPair
from nereval_core.conventions.outcome import CountTables, Figures, Outcome, RatioNames, Tables, figure_rows
from nereval_core.conventions.records import (
    COR,
    MIS,
    OVERALL,
    SPU,
    Evaluation,
    MatchRows,
    UnitColumns,
    add_decisions,
    joined_records,
)
from nereval_core.conventions.tag_sequences import TagChunks, number_tags, runs, same_spans
from nereval_core.corpus.arrays import Bools, Int64
from nereval_core.problems import FormatError, Problem, quoted
from nereval_core.readers.conll import read_tagged
from nereval_core.readers.shared.token_tags import Tagged, match_tags

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
EVALUATION = Evaluation(
    reasons=(
        "begins, ends and is typed alike on the other side",
        "nothing begins and ends alike there",
        "begins and ends alike, but some token has another type",
        "reaches the last token of all, where no chunk is right",
    ),
    counters={"gold_chunks": (COR, MIS), "found": (COR, SPU), "correct": (COR,)},
)
OTHER_TYPE, LAST = 2, 3
RATIOS = RatioNames(
    precision="precision", recall="recall", f1="FB1", correct="correct", gold="gold_chunks", pred="found", percent=True
)
CHUNKS, SAME_TAGS, TOKENS = "chunks", "same tags", "tokens"


@dataclass(frozen=True, eq=False)
class ColumnChunks:
    """The tags of one column on both sides, their chunks, with the type of the first token, and the chunks matched."""

    tags: TagPair
    chunks: tuple[TagChunks, TagChunks]
    types: tuple[str, ...]
    rows: MatchRows

    @property
    def same_tags(self) -> int:
        return sum(gold == pred for gold, pred in zip(self.tags.gold.tags, self.tags.pred.tags, strict=True))

    def records(self, evaluation: str) -> pd.DataFrame:
        gold = self.tags.gold
        units = []
        for side in self.chunks:
            # A chunk that goes on in the next document is shown in the first.
            last = np.minimum(side.last, gold.tokens.first[gold.doc[side.first] + 1] - 1)
            units.append(UnitColumns.of_tokens(gold, side.first, last, side.kind, self.types))
        return EVALUATION.records(evaluation, units, self.rows)


def read(files: ScorerInput, options: Options) -> Mapping[str, TagPair]:
    """Read the last two columns of both files: tags of outer and of inner chunks, token by token.

    Raises:
        FormatError: tags that are none of the task, at which the program stops; columns other than the last two.
    """
    _refuse_columns(files)
    levels = {}
    for name, column in COLUMNS.items():
        gold, pred = (read_tagged(source, column=column) for source in (files.gold, files.pred))
        levels[name] = TagPair(gold, match_tags(gold, pred))
    problems = [problem for pair in levels.values() for tags in pair for problem in _tag_problems(tags)]
    if problems:
        raise FormatError(problems)
    return levels


def match(levels: Mapping[str, TagPair], options: Options) -> MatchedSides:
    strict = {name: _column_chunks(pair) for name, pair in levels.items()}
    loose = {name: _column_chunks(TagPair(*map(_coarse, pair))) for name, pair in levels.items()}
    columns = {
        name: [(loose if name == "loose" else strict)[level] for level in names] for name, names in EVALUATIONS.items()
    }

    def records(evaluation: str) -> pd.DataFrame:
        return joined_records([column.records(evaluation) for column in columns[evaluation]])

    tables: Tables = {
        CHUNKS: {name: add_decisions(part.rows.decisions() for part in parts) for name, parts in columns.items()},
        SAME_TAGS: {name: tuple(part.same_tags for part in parts) for name, parts in columns.items()},
        TOKENS: {"all": (len(levels["outer"].gold),)},
    }
    outer, inner = (levels[name] for name in COLUMNS)
    joined = [
        replace(tags, tags=list(map(" ".join, zip(tags.tags, other.tags, strict=True))))
        for tags, other in zip(outer, inner, strict=True)
    ]
    n_gold, n_pred = (sum(len(column.chunks[side]) for column in strict.values()) for side in (0, 1))
    return MatchedSides.of_tags(TagPair(*joined), n_gold, n_pred, tables, records)


def figures(counts: CountTables, options: Options) -> Figures:
    scores = {}
    n_tokens = counts.number(TOKENS, "all")
    for name in TITLES:
        chunks = EVALUATION.counts(counts.rows(CHUNKS)[name])
        accuracy = _accuracy(counts.rows(SAME_TAGS)[name], n_tokens) if n_tokens else 0.0
        scores[name] = {"accuracy": accuracy, **RATIOS.of(chunks), **chunks}
    rows = [row for name in scores for row in figure_rows(name, {OVERALL: scores[name]}, EVALUATION.counters)]
    return Figures(scores, rows)


def _accuracy(same_tags: Sequence[int], n_tokens: int) -> float:
    """Return the percentage of tags that are the same, in the order of operations of the program."""
    if len(same_tags) > 1:
        return 100 * (sum(same_tags) / len(same_tags)) / n_tokens
    return 100 * (same_tags[0] / n_tokens)


def _refuse_columns(files: ScorerInput) -> None:
    problems = [
        Problem(f"--{side}-column", None, "nereval.perl takes the last two columns", "leave the option out")
        for side, column in (("gold", files.gold_column), ("pred", files.pred_column))
        if column is not None
    ]
    if problems:
        raise FormatError(problems)


def _tag_problems(tags: Tagged) -> list[Problem]:
    """Return the first place of each tag at which the program stops, or which it takes by chance."""
    first: dict[str, int] = {}
    for token, tag in enumerate(tags.tags):
        first.setdefault(tag, token)
    remedy = f"write O, or B or I, '-' and one of {', '.join(TYPES)}, which {' or '.join(ENDINGS)} may follow"
    return [
        Problem(*tags.place(token), f"{quoted(tag)} is not a tag of GermEval 2014", remedy)
        for tag, token in first.items()
        if not TAG.fullmatch(tag)
    ]


def _coarse(tags: Tagged) -> Tagged:
    coarse = {tag: re.sub(f"({'|'.join(ENDINGS)})$", "", tag) for tag in set(tags.tags)}
    return replace(tags, tags=[coarse[tag] for tag in tags.tags])


def _column_chunks(tags: TagPair) -> ColumnChunks:
    numbers, names = number_tags(tags.gold.tags, tags.pred.tags)
    types = tuple(sorted({name[2:] for name in names if name != "O"}))
    kind_of = np.array([types.index(name[2:]) if name != "O" else -1 for name in names], np.int64)
    begins = np.array([name.startswith("B") for name in names], bool)
    kinds = [kind_of[codes] for codes in numbers]
    chunks = []
    for codes, kind in zip(numbers, kinds, strict=True):
        first, last = runs(kind >= 0, begins[codes[1:]])
        chunks.append(TagChunks(first, last, np.zeros(len(first), np.int64)))
    # Chunks of one place; right are those whose tokens all have one type on both sides.
    size = len(tags.gold)
    g, p = same_spans(chunks[0], chunks[1], size)
    differing = np.concatenate(([0], np.cumsum(kinds[0] != kinds[1])))
    first, last = chunks[0].first[g], chunks[0].last[g]
    is_alike: Bools = differing[last + 1] == differing[first]
    is_ended = last < size - 1
    right = is_alike & is_ended
    rows = MatchRows.of_pairs(g[right], p[right], *map(len, chunks))
    wrong = ~right
    reason = np.where(is_alike, LAST, OTHER_TYPE)[wrong]
    rows.reason[_rows_of(rows.gold, g[wrong])] = reason
    rows.reason[_rows_of(rows.pred, p[wrong])] = reason
    typed = [TagChunks(side.first, side.last, kind[side.first]) for side, kind in zip(chunks, kinds, strict=True)]
    return ColumnChunks(tags, (typed[0], typed[1]), types, rows)


def _rows_of(column: Int64, units: Int64) -> Int64:
    """Return the row in which each of these units stands; each stands in one."""
    row = np.zeros(int(column.max(initial=-1)) + 1, np.int64)
    row[column[column >= 0]] = np.flatnonzero(column >= 0)
    return row[units]


def text(outcome: Outcome) -> str:
    """Return what the program prints before its figures by type."""
    outer, inner = (outcome.scores[level] for level in COLUMNS)
    predicted = f"Found: {outer['found']} outer and {inner['found']} inner phrases"
    gold = f"Gold: {outer['gold_chunks']} (outer) and {inner['gold_chunks']} (inner)."
    lines = [f"{mode}: {predicted}; {gold}" for mode in ("STRICT", "LOOSE")]
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
        steps=ScorerSteps(read, None, match),
        figures=figures,
        not_by_shards="it scores files of its own format only",
        formats=("conll",),
        forms={"text-metrics": text},
        ratios=RATIOS,
    ),
)
