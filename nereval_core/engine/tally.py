"""The counts of a shard under a system: sums that add up over shards, and columns by document.

A `Tally` is small (it grows with types and criteria, not with documents) and a commutative monoid under `+`, except for
the order of `greedy`. `Columns` hold the counts and hashes of each document. Macro averages add up as exact sums, and a
published scorer by its tables of counts.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import pairwise
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nereval_core.conventions import Convention, conventions, find_convention
from nereval_core.conventions.outcome import Tables, add_tables
from nereval_core.corpus import Layer
from nereval_core.corpus.tokens import own_tokens, token_hashes
from nereval_core.pairing import added_marks
from nereval_core.problems import FormatError
from nereval_core.scoring import Scores, Settings
from nereval_core.scoring.averages import Average, Sums
from nereval_core.scoring.counts import Counts

SCALE = 192
"""Sums are in units of 2 to the power of -SCALE: a ratio of counts below 2 to the power of 32 is a multiple of it."""


@dataclass(frozen=True, slots=True)
class Mean:
    """The exact sum of `n` values in units of 2 to the power of -SCALE, without the `undefined` ones."""

    total: int = 0
    n: int = 0
    undefined: int = 0

    def __add__(self, other: Mean) -> Mean:
        return Mean(self.total + other.total, self.n + other.n, self.undefined + other.undefined)

    @classmethod
    def of(cls, sums: Sums, group: int = 0) -> Mean:
        units = sums.exact(group) * (1 << SCALE)
        assert units.denominator == 1, "a ratio too small to be summed exactly"
        return cls(units.numerator, int(sums.n[group]), int(sums.undefined[group]))

    @property
    def average(self) -> Average:
        """The mean, equal to `Sums.mean`: the sum rounded once, then divided."""
        # The quotient of two integers is rounded once, to the nearest.
        return Average(self.total / (1 << SCALE) / self.n if self.n else None, self.n, self.undefined)


Means = tuple[Mean, Mean, Mean]
"""Means of each of RATIOS."""
NONE: Means = (Mean(), Mean(), Mean())


def add_means(means: Means, other: Means) -> Means:
    return means[0] + other[0], means[1] + other[1], means[2] + other[2]


def means_of(sums: Sequence[Sums], group: int = 0) -> Means:
    """Return the means of a group from the sums of each of RATIOS."""
    precision, recall, f1 = (Mean.of(ratio_sums, group) for ratio_sums in sums)
    return precision, recall, f1


Columns = Mapping[str, NDArray[Any]]
"""By name: `ids` (UTF-8 bytes in a row) and `id_ends` (int64), `id_hashes` (uint64), `gold` and `pred` (uint8, shape
(documents, 32): `Layer.hashes`), `tokens` (likewise, where a criterion counts tokens), and for the criterion of number
n `counts/n`: shape (documents, 2, 5), how many of gold and of the prediction got each decision, in the order of
`Decision` and in the smallest unsigned integers that hold them."""


@dataclass(frozen=True, slots=True)
class CriterionTally:
    """Counts by type, and the means over documents: of all types together and of each.

    `spans` gold spans were scored, `bare` of them without a core.
    """

    types: Mapping[str, Counts] = field(default_factory=dict)
    documents: Means = NONE
    documents_by_type: Mapping[str, Means] = field(default_factory=dict)
    spans: int = 0
    bare: int = 0

    def __add__(self, other: CriterionTally) -> CriterionTally:
        types = dict(self.types)
        for kind, counts in other.types.items():
            types[kind] = types.get(kind, Counts()) + counts
        by_type = dict(self.documents_by_type)
        for kind, means in other.documents_by_type.items():
            by_type[kind] = add_means(by_type.get(kind, NONE), means)
        return CriterionTally(
            types, add_means(self.documents, other.documents), by_type, self.spans + other.spans, self.bare + other.bare
        )


@dataclass(frozen=True, slots=True)
class Tally:
    """The sums of some shards under one system.

    Spans and types are those that were read, before any rules; `cores` and `alternatives` count the gold spans that
    have them; `sentences` counts documents that are single sentences, `tokenized` those with tokens of their own.
    `published` holds the tables of a published scorer.
    """

    documents: int = 0
    sentences: int = 0
    gold_spans: int = 0
    pred_spans: int = 0
    gold_types: tuple[str, ...] = ()
    pred_types: tuple[str, ...] = ()
    cores: int = 0
    alternatives: int = 0
    tokenized: int = 0
    marks: tuple[str, ...] = ()
    greedy: tuple[str, ...] = ()
    criteria: Mapping[str, CriterionTally] = field(default_factory=dict)
    published: Tables = field(default_factory=dict)

    def __add__(self, other: Tally) -> Tally:
        names = dict.fromkeys((*self.criteria, *other.criteria))
        empty = CriterionTally()
        return Tally(
            documents=self.documents + other.documents,
            sentences=self.sentences + other.sentences,
            gold_spans=self.gold_spans + other.gold_spans,
            pred_spans=self.pred_spans + other.pred_spans,
            gold_types=tuple(sorted({*self.gold_types, *other.gold_types})),
            pred_types=tuple(sorted({*self.pred_types, *other.pred_types})),
            cores=self.cores + other.cores,
            alternatives=self.alternatives + other.alternatives,
            tokenized=self.tokenized + other.tokenized,
            marks=added_marks((self.marks, other.marks)),
            greedy=self.greedy + other.greedy,
            criteria={name: self.criteria.get(name, empty) + other.criteria.get(name, empty) for name in names},
            published=add_tables((self.published, other.published)),
        )

    def as_json(self) -> dict[str, Any]:
        """Return a JSON object, which `of_json` reads."""
        values = {column.name: getattr(self, column.name) for column in fields(self)}
        if not self.published:
            del values["published"]
        return values | {"criteria": {name: _tally_as_json(tally) for name, tally in self.criteria.items()}}

    @classmethod
    def of_json(cls, row: Mapping[str, Any]) -> Tally:
        values: dict[str, Any] = {
            key: tuple(value) if isinstance(value, list) else value for key, value in row.items() if key != "criteria"
        }
        published = {
            table: {name: tuple(numbers) for name, numbers in rows.items()}
            for table, rows in values.pop("published", {}).items()
        }
        criteria = {name: _read_tally(tally) for name, tally in row["criteria"].items()}
        return cls(**values, criteria=criteria, published=published)


def sum_tallies(tallies: Iterable[Tally]) -> Tally:
    """Return the sum of tallies; `greedy` is in their order."""
    whole = Tally()
    for tally in tallies:
        whole += tally
    return whole


def tally_scores(gold: Layer, pred: Layer, scores: Scores) -> tuple[Tally, Columns]:
    """Return the tally and columns of one shard's scores; the layers are those that were read."""
    documents = gold.documents
    raw = [name.encode() for name in documents.ids]
    columns: dict[str, NDArray[Any]] = {
        "ids": np.frombuffer(b"".join(raw), np.uint8),
        "id_ends": np.cumsum(np.fromiter(map(len, raw), np.int64, len(raw))),
        "id_hashes": id_hashes(raw),
        "gold": gold.hashes,
        "pred": pred.hashes,
    }
    if any(criterion.unit == "token" for criterion in scores.criteria):
        columns["tokens"] = token_hashes(documents)
    criteria = {}
    for number, criterion in enumerate(scores.criteria):
        criteria[criterion.name], columns[f"counts/{number}"] = _criterion(scores, criterion.name)
    tally = Tally(
        documents=len(documents),
        sentences=len(documents) if documents.unit == "sentence" else 0,
        gold_spans=len(gold),
        pred_spans=len(pred),
        gold_types=gold.types,
        pred_types=pred.types,
        cores=len(gold.cores),
        alternatives=len(gold.alternatives),
        tokenized=int(np.count_nonzero(own_tokens(documents))),
        marks=scores.marks,
        greedy=scores.greedy,
        criteria=criteria,
    )
    return tally, MappingProxyType(columns)


def empty_tally(settings: Settings) -> tuple[Tally, Columns]:
    """Return the tally and columns of a shard without documents."""
    columns: dict[str, NDArray[Any]] = {
        "ids": np.zeros(0, np.uint8),
        "id_ends": np.zeros(0, np.int64),
        "id_hashes": np.zeros(0, np.uint64),
        **{name: np.zeros((0, 32), np.uint8) for name in ("gold", "pred", "tokens")},
    }
    columns |= {f"counts/{number}": np.zeros((0, 2, 5), np.uint8) for number in range(len(settings.criteria))}
    return Tally(criteria={criterion.name: CriterionTally() for criterion in settings.criteria}), columns


def id_hashes(ids: Iterable[bytes]) -> NDArray[np.uint64]:
    """Return a hash of each document id, to find repeated ids."""
    sha = hashlib.sha256
    return np.frombuffer(b"".join(sha(name).digest()[:8] for name in ids), np.uint64)


def ids_of(columns: Columns) -> list[str]:
    """Return the document ids."""
    raw = columns["ids"].tobytes()
    return [raw[low:high].decode() for low, high in pairwise((0, *columns["id_ends"].tolist()))]


def _criterion(scores: Scores, name: str) -> tuple[CriterionTally, NDArray[Any]]:
    gold = scores.layers(name)[0]
    table = scores.by_document(name)
    by_document = np.zeros((len(gold.documents), 2, 5), np.int64)
    by_document[table.numbers, 0], by_document[table.numbers, 1] = table.gold, table.pred
    over_documents = []
    for values in table.ratios:
        over_documents.append(Sums(1))
        over_documents[-1].add(values)
    sums, types = scores.sums_by_type(name)
    tally = CriterionTally(
        scores.by_type(name),
        means_of(over_documents),
        {kind: means_of(sums, code) for code, kind in enumerate(types) if sums[0].n[code] + sums[0].undefined[code]},
        spans=len(gold),
        bare=len(gold) - len(gold.cores),
    )
    return tally, by_document.astype(np.min_scalar_type(int(by_document.max(initial=0))))


def _tally_as_json(tally: CriterionTally) -> dict[str, Any]:
    def means(rows: Means) -> list[list[Any]]:
        return [[f"{mean.total:x}", mean.n, mean.undefined] for mean in rows]

    return {
        "types": {kind: [counts.gold, counts.pred] for kind, counts in tally.types.items()},
        "documents": means(tally.documents),
        "documents_by_type": {kind: means(rows) for kind, rows in tally.documents_by_type.items()},
        "spans": tally.spans,
        "bare": tally.bare,
    }


def _read_tally(row: Mapping[str, Any]) -> CriterionTally:
    def means(rows: list[list[Any]]) -> Means:
        precision, recall, f1 = (Mean(int(total, 16), n, undefined) for total, n, undefined in rows)
        return precision, recall, f1

    return CriterionTally(
        {kind: Counts(tuple(gold), tuple(pred)) for kind, (gold, pred) in row["types"].items()},
        means(row["documents"]),
        {kind: means(rows) for kind, rows in row["documents_by_type"].items()},
        row["spans"],
        row["bare"],
    )


SPANS = "spans"
"""The table of the numbers of scored spans of `gold` and `pred`."""


def check_by_shards(convention: Convention, options: Mapping[str, Any]) -> None:
    """Refuse a convention that cannot be scored shard by shard.

    Raises:
        FormatError: with the reason and the conventions that can.
    """
    refusal = convention.not_by_shards
    reason = refusal if isinstance(refusal, str) else refusal(options)
    if reason:
        able = ", ".join(name for name, other in conventions().items() if goes_by_shards(other))
        finding = f"{convention.name} cannot be scored shard by shard: {reason}"
        raise FormatError.single("--engine", None, finding, f"leave --engine out; by shards go {able}")


def goes_by_shards(convention: Convention) -> bool:
    """Tell whether a convention can be scored shard by shard, with some options at least."""
    return not isinstance(convention.not_by_shards, str) or not convention.not_by_shards


def add_convention_counts(
    tally: Tally, columns: Columns, gold: Layer, pred: Layer, name: str, options: Mapping[str, Any]
) -> tuple[Tally, Columns]:
    """Return the tally and columns of a shard with the counts of a convention, and digests of the layers it scores.

    Raises:
        FormatError: data that the convention does not accept.
    """
    convention = find_convention(name)
    check_by_shards(convention, options)
    counts = convention.count(gold, pred, options)
    assert counts.gold.hashes and counts.pred.hashes, "what adds up has a digest of documents"
    spans = {"gold": (counts.gold.spans,), "pred": (counts.pred.spans,)}
    hashes = {"gold": counts.gold.hashes(), "pred": counts.pred.hashes()}
    return replace(tally, published={**counts.tables, SPANS: spans}), MappingProxyType({**columns, **hashes})
