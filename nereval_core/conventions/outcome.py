"""The outcome of a convention: the scorer's figures under its own names, and the records that make them.

A count is the sum of the contributions of records: the column of its name, over the records of its evaluation and
scope. Counts of parts of a corpus add up (`CountTables`) where documents are counted one by one; the figures are made
of the sums.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import pairwise
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pandas as pd

from nereval_core import __version__
from nereval_core.conventions.records import joined_records, masked_records
from nereval_core.corpus import Documents, Layer
from nereval_core.corpus.digest import HASH_BYTES, Hashes, combined
from nereval_core.corpus.masking import SAID, masked_documents, masked_quotes
from nereval_core.pairing import IDENTICAL
from nereval_core.problems import FormatError, one_line
from nereval_core.readers.shared.token_tags import Tagged
from nereval_core.scoring.count_tables import Columns

FigureRow = tuple[str, str, str, float | None, bool]
"""A row of FIGURE_COLUMNS."""
FIGURE_COLUMNS: Columns = {
    "evaluation": "category",
    "scope": "category",
    "figure": "category",
    "value": "float64",
    "counted": "bool",
}
"""Columns of `Outcome.figures`: `figure` under the scorer's own name; `counted`: it is a sum of contributions."""

Tables = Mapping[str, Mapping[str, tuple[int, ...]]]
"""Rows of numbers by table and name; the rows of a name are of one length in all parts of a corpus."""
NO_DOCUMENTS = Documents((), ())


@dataclass(frozen=True, eq=False)
class SideContent:
    """The content of one side: the numbers of documents and spans, and the source of their digest.

    `sha256` (hex) is over documents and annotations, not over file names. It is made when first asked for: scoring
    does not need it. `hashes` are those of the documents that it is made of, where it is `combined` from them.
    """

    documents: int
    spans: int
    digest: Callable[[], str] = field(repr=False)
    hashes: Callable[[], Hashes] | None = field(default=None, repr=False)

    @cached_property
    def sha256(self) -> str:
        return self.digest()

    @classmethod
    def of_layer(cls, layer: Layer) -> SideContent:
        return cls(len(layer.documents), len(layer), lambda: layer.digest, lambda: layer.hashes)

    @classmethod
    def of_tags(cls, tagged: Tagged, spans: int) -> SideContent:
        """Return the content of tags of which the scorer makes `spans` spans."""
        # Made as a layer's is, so that parts of a corpus make that of the whole.
        hashes = partial(_tag_hashes, tagged)
        return cls(len(tagged.documents), spans, lambda: combined("layer", hashes()), hashes)

    @classmethod
    def of_rows(
        cls, documents: Documents, spans: int, rows: Sequence[str], n_documents: int | None = None
    ) -> SideContent:
        """Return the content of documents and of rows of text in their order."""
        count = len(documents) if n_documents is None else n_documents
        return cls(count, spans, partial(_digest_of_rows, documents, rows))


def _tag_hashes(tagged: Tagged) -> Hashes:
    """Hash the tags of each document together with the document's own hash."""
    own, tags = tagged.documents.hashes, tagged.tags
    hashes = bytearray()
    for number, (low, high) in enumerate(pairwise(tagged.tokens.first.tolist())):
        raw = "\n".join(tags[low:high]).encode(errors="surrogatepass")
        hashes += hashlib.sha256(b"tags\n" + own[number].tobytes() + raw).digest()
    return np.frombuffer(bytes(hashes), np.uint8).reshape(-1, HASH_BYTES)


def _digest_of_rows(documents: Documents, rows: Sequence[str]) -> str:
    sha = hashlib.sha256(b"rows\n" + documents.digest.encode())
    sha.update("\n".join(rows).encode(errors="surrogatepass"))
    return sha.hexdigest()


@dataclass(frozen=True, eq=False)
class CountTables:
    """The counts of a scorer over some documents, and the content of either side.

    `source` names the prediction in problems.
    """

    tables: Tables
    gold: SideContent
    pred: SideContent
    source: str = ""

    def rows(self, table: str) -> Mapping[str, tuple[int, ...]]:
        return self.tables.get(table, {})

    def number(self, table: str, row: str) -> int:
        """Return a row's first number, 0 where no part of the corpus has the row."""
        return self.rows(table).get(row, (0,))[0]


def add_tables(parts: Iterable[Tables]) -> dict[str, dict[str, tuple[int, ...]]]:
    """Add up the rows of one name."""
    sums: dict[str, dict[str, tuple[int, ...]]] = {}
    for tables in parts:
        for table, rows in tables.items():
            own = sums.setdefault(table, {})
            for name, row in rows.items():
                before = own.get(name, (0,) * len(row))
                own[name] = tuple(map(sum, zip(before, row, strict=True)))
    return sums


@dataclass(frozen=True)
class Figures:
    """The figures that a scorer makes of its counts.

    `scores` holds them under the scorer's own names, nested as the scorer nests them and ready for JSON; `rows` are the
    same for the table.
    """

    scores: Mapping[str, Any]
    rows: Iterable[FigureRow]
    notes: tuple[str, ...] = ()


def figure_rows(
    evaluation: str, scopes: Mapping[str, Mapping[str, float | None]], counted: Collection[str]
) -> Iterator[FigureRow]:
    """Yield the figures by scope as rows; `counted` are those that are sums of contributions."""
    for scope, figures in scopes.items():
        for name, value in figures.items():
            yield evaluation, scope, name, value, name in counted


def figure_table(rows: Iterable[FigureRow]) -> pd.DataFrame:
    """Return rows as the table of FIGURE_COLUMNS."""
    return pd.DataFrame(list(rows), columns=list(FIGURE_COLUMNS)).astype(dict(FIGURE_COLUMNS))


@dataclass(frozen=True, kw_only=True)
class RatioNames:
    """A scorer's names for precision, recall and F1, and for the counts that they are made of.

    `gold` and `pred` are the names for all that counts of a side; `fp` and `fn` for the wrong ones, of a scorer that
    names these instead. Ratios of a `percent` scorer go to 100.
    """

    precision: str
    recall: str
    f1: str
    correct: str
    gold: str = ""
    pred: str = ""
    fp: str = ""
    fn: str = ""
    percent: bool = False

    def of(self, counts: Mapping[str, int]) -> dict[str, float]:
        """Return the ratios of a scorer that takes a zero denominator for 0."""
        correct = counts[self.correct]
        predicted = counts[self.pred] if self.pred else correct + counts[self.fp]
        expected = counts[self.gold] if self.gold else correct + counts[self.fn]
        values = precision_recall_f1(100 * correct if self.percent else correct, predicted, expected)
        return dict(zip((self.precision, self.recall, self.f1), values, strict=True))

    @property
    def names(self) -> dict[str, str]:
        """The names of P, R, F1, COR and, where the scorer has these, POS and ACT."""
        names = {"P": self.precision, "R": self.recall, "F1": self.f1, "COR": self.correct}
        return names | {code: name for code, name in (("POS", self.gold), ("ACT", self.pred)) if name}

    @property
    def formulas(self) -> dict[str, str]:
        """How each ratio is made of the other figures of its scope."""
        correct = f"100 × {self.correct}" if self.percent else self.correct
        return {
            self.precision: f"{correct} / {self.pred or f'({self.correct} + {self.fp})'}",
            self.recall: f"{correct} / {self.gold or f'({self.correct} + {self.fn})'}",
            self.f1: f"2 × {self.precision} × {self.recall} / ({self.precision} + {self.recall})",
        }


def precision_recall_f1(
    correct: float, predicted: int, expected: int, *, undefined: float = 0.0
) -> tuple[float, float, float]:
    """Return the ratios of scorers that take a zero denominator for `undefined`."""
    precision = correct / predicted if predicted else undefined
    recall = correct / expected if expected else undefined
    return precision, recall, harmonic_mean(precision, recall, undefined=undefined)


def harmonic_mean(precision: float, recall: float, *, undefined: float = 0.0) -> float:
    both = precision + recall
    return 2 * precision * recall / both if both else undefined


def without_records(_: str) -> NoReturn:
    """Refuse records where only counts are left.

    Raises:
        FormatError: always.
    """
    raise FormatError.single("--records", None, "only counts are left of the parts", "score without --engine")


@dataclass(frozen=True, eq=False)
class Outcome:
    """A published score, reproduced.

    `scores` holds the scorer's figures under its own names, nested as the scorer nests them and ready for JSON;
    `figures` the same ones as a table (FIGURE_COLUMNS), by evaluation (a schema, a column, a slice: `a/b/c` from the
    outside in) and scope. `documents` are what records point into. `build` makes the records of an evaluation;
    `printout` makes the printout of a scorer that prints its input's own lines; `system` is the name of the prediction
    there. `marks` name changes made to the data before scoring, for the signature.
    """

    convention: str
    options: Mapping[str, Any]
    documents: Documents
    gold: SideContent
    pred: SideContent
    scores: Mapping[str, Any]
    figures: pd.DataFrame
    build: Callable[[str], pd.DataFrame] = field(repr=False)
    notes: tuple[str, ...] = ()
    printout: Callable[[], str] | None = field(default=None, repr=False)
    system: str = ""
    marks: tuple[str, ...] = ()

    @property
    def notices(self) -> tuple[str, ...]:
        """The notice that both sides have the same content, with at least one span; else nothing."""
        same = self.gold.spans > 0 and self.gold.spans == self.pred.spans and self.gold.sha256 == self.pred.sha256
        return (f"identical to gold {IDENTICAL}",) if same else ()

    @property
    def evaluations(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self.figures["evaluation"]))

    def records(self, evaluation: str | None = None) -> pd.DataFrame:
        """Return the records of one evaluation, or of all: RECORD_COLUMNS, then the counters.

        Raises:
            KeyError: no evaluation of that name.
        """
        if evaluation is None:
            return joined_records([self.build(name) for name in self.evaluations])
        if evaluation not in self.evaluations:
            raise KeyError(evaluation)
        return self.build(evaluation)

    def masked(self) -> Outcome:
        """Return the same figures, of the original texts, with records that show masked ones; there is no printout."""
        return replace(
            self,
            documents=masked_documents(self.documents),
            build=lambda evaluation: masked_records(self.build(evaluation)),
            notes=tuple(map(masked_quotes, self.notes)),
            printout=None,
            marks=(*self.marks, SAID),
        )

    @property
    def signature(self) -> str:
        """One line that lets another person reproduce the figures."""
        options = {name: value for name, value in self.options.items() if value not in (None, False, "")}
        words = ", ".join(f"{name} {_option_words(value)}" for name, value in options.items())
        parts = (
            f"nereval {__version__}",
            f"convention {self.convention}",
            f"options: {words or 'none'}",
            f"gold sha256:{self.gold.sha256[:16]}",
            f"pred sha256:{self.pred.sha256[:16]}",
            f"documents {self.gold.documents}",
            *self.marks,
        )
        return one_line(" | ".join(parts))


def _option_words(value: Any) -> str:
    if isinstance(value, Path):
        # The content of a file counts, not its name.
        return f"sha256:{hashlib.sha256(value.read_bytes()).hexdigest()[:16]}"
    return "+".join(map(str, value)) if isinstance(value, (list, tuple)) else "yes" if value is True else str(value)
