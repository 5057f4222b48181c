"""The errors of one system by class: what they cost, where they are, the records, and that in one sentence."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nereval_core.analysis.errors.boundary_patterns import EDGES, pattern_table, patterns
from nereval_core.analysis.errors.error_classes import CLASSES, ENDS, STRICT, taxonomy
from nereval_core.analysis.errors.gains import class_ends, class_table, class_types, mended
from nereval_core.analysis.sentences import Count, Sentence, count, in_words, joined
from nereval_core.corpus import Layer
from nereval_core.glossary import DECISIONS
from nereval_core.problems import FormatError, quoted
from nereval_core.records.queries import Query
from nereval_core.records.tables import RECORD_COLUMNS, categories, frame, rows
from nereval_core.scoring import Scores
from nereval_core.scoring.criteria import Decision

ALL = "all"

ERROR_COLUMNS: Mapping[str, str] = MappingProxyType(
    {
        **RECORD_COLUMNS,
        "class": "category",
        "ends": "category",
        **{f"pattern_{edge}": "category" for edge in EDGES},
    }
)
"""Columns of `Errors.records` and their dtypes: those of match records, then class, ends and patterns, NA for none."""


@dataclass(frozen=True, eq=False)
class Errors:
    """The errors of one system: `classes` has CLASS_COLUMNS by criterion, the other tables are about strict records.

    `types` has TYPE_COLUMNS, `ends` END_COLUMNS and `patterns` PATTERN_COLUMNS.
    """

    scores: Scores
    classes: Mapping[str, pd.DataFrame]
    types: pd.DataFrame
    ends: pd.DataFrame
    patterns: pd.DataFrame

    def mended(self, classes: str | Collection[str]) -> Layer:
        """Return the predictions as they were read with some classes mended: names, or "all".

        Raises:
            FormatError: an unknown class.
        """
        return mended(self.scores, classes_named([classes] if isinstance(classes, str) else classes))

    def records(self) -> pd.DataFrame:
        """Return the records that are not strictly correct, in document order: ERROR_COLUMNS."""
        found, words = taxonomy(self.scores), patterns(self.scores)
        every = rows(self.scores, STRICT)
        every = every.take(np.flatnonzero(every.decision != Decision.COR))
        table = frame(self.scores, STRICT, every)
        there = every.gold >= 0

        def column(gold: NDArray[Any], pred: NDArray[Any], names: Iterable[str]) -> Any:
            codes = np.empty(len(every), np.int32)
            codes[there] = gold[every.gold[there]]
            codes[~there] = pred[every.pred[~there]]
            return categories(codes, names)

        table["class"] = column(found.gold, found.pred, CLASSES)
        table["ends"] = column(found.gold_ends, found.pred_ends, ENDS)
        for edge in EDGES:
            table[f"pattern_{edge}"] = column(words.gold[edge], words.pred[edge], words.names)
        return table

    def sentence(self, criterion: str = STRICT) -> Sentence:
        """Say which class costs most under a criterion, and how much; its numbers count strict records."""
        return sentence(self.classes[criterion], self.patterns, self.scores.counts(criterion).f1, criterion)

    @property
    def words(self) -> tuple[str, ...]:
        """A sentence for each criterion."""
        return tuple(in_words(self.sentence(name)) for name in self.classes)


def error_report(
    scores: Scores, names: Sequence[str] = (STRICT,), *, progress: Callable[[int, int], None] | None = None
) -> Errors:
    """Return the errors of one system by class, and what mending them would gain under some criteria that are scored.

    `progress` is called with the re-scorings done and their total, for each criterion.

    Raises:
        ValueError: `strict` is not scored, or each side counts for itself.
    """
    classes = {name: class_table(scores, name, progress=progress) for name in names}
    return Errors(scores, MappingProxyType(classes), class_types(scores), class_ends(scores), pattern_table(scores))


def errors_query(*having: tuple[str, str]) -> Query:
    """Return the query behind a count of errors with some attributes."""
    return Query(decision=DECISIONS[1:], having=having)


def sentence(classes: pd.DataFrame, found: pd.DataFrame, f1: float | None, criterion: str = STRICT) -> Sentence:
    """Say which class of CLASS_COLUMNS costs most; `found` has PATTERN_COLUMNS, `f1` is the present one."""
    every = int(classes["records"].sum())
    if not every and f1 is None:
        return (f"Nothing is scored under {criterion}: there are no errors to find.",)
    if not every:
        return ("There are no errors: every span is correct.",)
    first = classes.iloc[0]
    name, number = str(first["class"]), int(first["records"])
    having = ("class", name)
    errors = f"{every:,} error{'' if every == 1 else 's'}"
    parts: list[str | Count] = [
        "Of ",
        Count(errors, errors_query(), every),
        ", ",
        count(number, errors_query(having), every),
        f" {'is' if number == 1 else 'are'} {name}",
    ]
    if name == "boundary only" and found["records"].gt(1).any():
        edge, pattern, most = found[["end", "pattern", "records"]].iloc[0]
        parts += [
            f", most often because the prediction {pattern} at its {edge} end (",
            count(int(most), errors_query(having, (f"pattern {edge}", pattern))),
            ")",
        ]
    if f1 is not None and first["gain"] > 0:
        parts += [
            f"; mending {'it' if number == 1 else 'these'} alone would raise F1 under {criterion} from {f1:.4f} to ",
            Count(f"{first['f1']:.4f}", errors_query(having), number),
        ]
    return joined((*parts, "."))


def negative_gains(table: pd.DataFrame) -> str:
    """Say what gains below 0 mean where there are some, "" where there are none."""
    some = table.loc[table["gain"] < 0, "class"].tolist()
    if not some:
        return ""
    return (
        f"F1 falls if {' or '.join(some)} alone {'is' if len(some) == 1 else 'are'} mended: what is mended was "
        "credited already, or takes gold spans that other predictions have"
    )


def classes_named(names: Collection[str]) -> tuple[str, ...]:
    """Return CLASSES by name, in their order: a dash stands for a blank, `only` may be left out, and "all" is all.

    Raises:
        FormatError: an unknown class.
    """
    short = {name.removesuffix(" only"): name for name in CLASSES} | {name: name for name in CLASSES}
    asked = [" ".join(name.replace("-", " ").split()) for name in names]
    wrong = [name for name in asked if name not in short and name != ALL]
    if wrong or not asked:
        found = f"there is no error class {quoted(wrong[0])}" if wrong else "no error class is named"
        raise FormatError.single("mend", None, found, f"choose among {', '.join(CLASSES)}, or {ALL}")
    chosen = set(CLASSES) if ALL in asked else {short[name] for name in asked}
    return tuple(name for name in CLASSES if name in chosen)


__all__: Sequence[str] = ("ERROR_COLUMNS", "Errors", "classes_named", "error_report", "errors_query", "sentence")
