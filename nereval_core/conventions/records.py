"""Units of both sides, the rows that decide them, and what follows from these: counts by type, and records.

A scorer numbers its units (`UnitColumns`) and decides them (`MatchRows`). An `Evaluation` says which decisions each of
its counters counts; every count is then a sum over rows, and every row is a record.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from pandas.api.types import union_categoricals

from nereval_core.corpus import Documents, Fragments, Layer
from nereval_core.corpus.arrays import Array, Bools, Int64
from nereval_core.corpus.masking import masked_text
from nereval_core.readers.shared.token_tags import Tagged
from nereval_core.records.match_records import NUMBERED
from nereval_core.records.tables import SIDE_COLUMNS, SIDES, categories
from nereval_core.scoring.count_tables import TEXT_DTYPE, Columns

DECISIONS = ("COR", "INC", "PAR", "MIS", "SPU", "IGN")
COR, INC, PAR, MIS, SPU, IGN = range(6)
"""The decisions of a convention; IGN marks units that the scorer passes over."""
DecisionCounts = tuple[int, ...]
"""How many rows have each decision but IGN, in the order of DECISIONS."""
MATCHED, UNMATCHED, REPEATED = range(3)
"""The first reasons of evaluations whose units are matched with equal ones."""

UNITS = ("span", "token", "concept", "surface form")
OVERALL = "overall"
"""The scope of figures over all types together."""
TYPE_SUFFIX = " (type)"
"""Suffix of a type whose name the scorer gives to something else."""

RECORD_COLUMNS: Columns = {
    "evaluation": "category",
    "scope": "category",
    "unit": "category",
    "document": "category",
    "record": TEXT_DTYPE,
    "side": "category",
    "decision": "category",
    **SIDE_COLUMNS,
    "why": "category",
    "doc": "int32",
    "gold": "int32",
    "pred": "int32",
}
"""Columns of records and their dtypes; after them one int32 column for each counter.

Offsets are code points, end exclusive, NA for units that are not pieces of text. `why` is a fixed phrase of the
convention: the rule that decided. `doc` is the document's number, `gold` and `pred` are numbers of units in reading
order, -1 for none.
"""


@dataclass(frozen=True, eq=False)
class UnitColumns:
    """One side's units in the order in which the scorer meets them.

    `doc`, `start`, `end` (code points, end exclusive; -1 for units that are not pieces of text) and `kind` (index into
    `types`) have shape (units,). `texts` is given where a unit is not the text it covers: a code, a surface form.
    """

    documents: Documents
    doc: Array
    start: Array
    end: Array
    kind: Array
    types: tuple[str, ...]
    fragments: Mapping[int, Fragments] = field(default_factory=dict)
    texts: Sequence[str] | None = None

    def __len__(self) -> int:
        return len(self.doc)

    @classmethod
    def of_layer(cls, layer: Layer) -> UnitColumns:
        """Return the spans of a layer in the order in which they were read."""
        order = reading_order(layer)
        fragments = {}
        if layer.fragments:
            rank = np.empty(len(layer), np.int64)
            rank[order] = np.arange(len(layer))
            fragments = {int(rank[span]): parts for span, parts in layer.fragments.items()}
        doc, start, end = layer.doc[order], layer.start[order], layer.end[order]
        return cls(layer.documents, doc, start, end, layer.type[order], layer.types, fragments)

    @classmethod
    def of_tokens(cls, tagged: Tagged, first: Array, last: Array, kind: Array, types: tuple[str, ...]) -> UnitColumns:
        """Return the spans between first and last tokens, which are numbered over all documents."""
        tokens = tagged.tokens
        return cls(tagged.documents, tagged.doc[first], tokens.starts[first], tokens.ends[last], kind, types)

    @classmethod
    def of_codes(
        cls, documents: Documents, doc: Array, kind: Array, types: tuple[str, ...], codes: Sequence[str]
    ) -> UnitColumns:
        """Return units that are codes of documents."""
        nowhere = np.full(len(doc), -1)
        return cls(documents, doc, nowhere, nowhere, kind, types, texts=codes)

    def text(self, unit: int) -> str:
        """Return the text shown for a unit; the fragments of a discontinuous span are joined by one blank."""
        if self.texts is not None:
            return self.texts[unit]
        text = self.documents.texts[int(self.doc[unit])]
        parts = self.fragments.get(unit) or ((int(self.start[unit]), int(self.end[unit])),)
        return " ".join(text[low:high] for low, high in parts)

    def ids(self, prefix: str) -> list[str]:
        """Return record ids without their documents as `record_ids` does, `~2` for the second of two equal units."""
        ids = []
        repeats: dict[tuple[int, str], int] = {}
        rows = zip(self.doc.tolist(), self.start.tolist(), self.end.tolist(), self.kind.tolist(), strict=True)
        for unit, (doc, start, end, kind) in enumerate(rows):
            name = self.types[kind]
            parts = self.fragments.get(unit) or ((start, end),)
            place = ",".join(f"{low}-{high}" for low, high in parts) if start >= 0 else self.text(unit)
            key = f"{prefix}:{place}:{name}~1" if NUMBERED.search(name) else f"{prefix}:{place}:{name}"
            count = repeats[doc, key] = repeats.get((doc, key), 0) + 1
            ids.append(key if count == 1 else f"{NUMBERED.sub('', key)}~{count}")
        return ids


def reading_order(layer: Layer) -> Int64:
    """Return the spans of a layer in the order in which they were read."""
    return np.arange(len(layer)) if layer.order is None else np.argsort(layer.order, kind="stable")


class SharedTypes(NamedTuple):
    """The sorted types of both sides, and the index of each span's type among them, in reading order."""

    types: Sequence[str]
    gold: Int64
    pred: Int64

    @classmethod
    def of_layers(cls, gold: Layer, pred: Layer) -> SharedTypes:
        types = tuple(sorted({*gold.types, *pred.types}))
        code = {name: number for number, name in enumerate(types)}
        kinds = [
            np.array([code[name] for name in layer.types], np.int64)[layer.type[reading_order(layer)]]
            for layer in (gold, pred)
        ]
        return cls(types, kinds[0], kinds[1])


def span_keys(gold: Layer, pred: Layer, shared: SharedTypes) -> tuple[Int64, Int64]:
    """Return a number for each span in reading order: the same on both sides for the same document, bounds and type."""
    columns = [
        (layer.doc[order], layer.start[order], layer.end[order], kind)
        for layer, order, kind in (
            (gold, reading_order(gold), shared.gold),
            (pred, reading_order(pred), shared.pred),
        )
    ]
    key = np.zeros(len(gold) + len(pred), np.int64)
    for column in map(np.concatenate, zip(*columns, strict=True)):
        # Distinct keys are numbered anew, so that no product of sizes overflows.
        key = np.unique(key, return_inverse=True)[1] * (int(column.max(initial=0)) + 1) + column
    return key[: len(gold)], key[len(gold) :]


def stretch_starts(documents: Documents, doc: Int64, kind: Int64, n_types: int) -> Int64:
    """Return where the stretch of each span begins: one for each type of a document, so that two types never overlap.

    `kind` is the number of the span's type, of `n_types`.
    """
    starts: Int64 = documents.base[doc] * n_types + kind * documents.lengths[doc]
    return starts


@dataclass(frozen=True, eq=False)
class MatchRows:
    """Units as a scorer decides them, one row a match record, arrays of shape (rows,).

    `gold` and `pred` number units of their side, -1 for none; `decision` is an index into DECISIONS, `reason` one into
    the reasons of the evaluation.
    """

    gold: Int64
    pred: Int64
    decision: Array
    reason: Array

    def __len__(self) -> int:
        return len(self.gold)

    @classmethod
    def of_pairs(cls, gold: Int64, pred: Int64, n_gold: int, n_pred: int) -> MatchRows:
        """Return correct pairs (MATCHED), then the other gold units, then the other predictions (UNMATCHED)."""
        missed, spurious = other_units(gold, n_gold), other_units(pred, n_pred)
        sizes = [len(gold), len(missed), len(spurious)]
        return cls(
            np.concatenate((gold, missed, np.full(len(spurious), -1))),
            np.concatenate((pred, np.full(len(missed), -1), spurious)),
            np.repeat(np.array([COR, MIS, SPU], np.int8), sizes),
            np.repeat(np.array([MATCHED, UNMATCHED, UNMATCHED], np.int8), sizes),
        )

    @classmethod
    def of_partners(
        cls, partner: Int64, reason: Array, pred: Int64, pred_ignored: Bools, pred_reason: Array
    ) -> MatchRows:
        """Return all gold units, each with its partner (-1: missed), then the predictions without one.

        `pred` numbers the latter; those that are ignored cost nothing.
        """
        none = np.full(len(pred), -1)
        return cls(
            np.concatenate((np.arange(len(partner)), none)),
            np.concatenate((partner, pred)),
            np.concatenate((np.where(partner >= 0, COR, MIS), np.where(pred_ignored, IGN, SPU))),
            np.concatenate((reason, pred_reason)),
        )

    @classmethod
    def of_sets(
        cls, gold: Int64, pred: Int64, gold_ignored: Int64 | None = None, pred_ignored: Int64 | None = None
    ) -> MatchRows:
        """Match units of the same key, each key once a side (MATCHED, UNMATCHED; REPEATED units are ignored).

        `gold` and `pred` are the keys, `gold_ignored` and `pred_ignored` the reasons why the scorer passes over a
        unit, -1 where it does not. Rows of gold come first.
        """
        sides = []
        for keys, ignored in ((gold, gold_ignored), (pred, pred_ignored)):
            ignored = np.full(len(keys), -1) if ignored is None else ignored
            units = np.flatnonzero(ignored < 0)
            distinct, first = np.unique(keys[units], return_index=True)
            reason = np.where(ignored < 0, REPEATED, ignored)
            reason[units[first]] = UNMATCHED
            sides.append((distinct, units[first], reason))
        (gold_keys, gold_units, gold_reason), (pred_keys, pred_units, pred_reason) = sides
        _, on_gold, on_pred = np.intersect1d(gold_keys, pred_keys, assume_unique=True, return_indices=True)
        partner = np.full(len(gold), -1)
        partner[gold_units[on_gold]] = pred_units[on_pred]
        gold_reason[gold_units[on_gold]] = MATCHED
        others = other_units(pred_units[on_pred], len(pred))
        reason = pred_reason[others]
        rows = cls.of_partners(partner, gold_reason, others, reason >= REPEATED, reason)
        rows.decision[: len(gold)][gold_reason >= REPEATED] = IGN
        return rows

    def decisions_by_type(self, shared: SharedTypes) -> dict[str, DecisionCounts]:
        """Count the decisions by the type of the gold unit, else of the prediction; types without any are left out."""
        types = shared.types
        kind = np.where(self.gold >= 0, at(shared.gold, self.gold), at(shared.pred, self.pred))
        table = np.bincount(kind * len(DECISIONS) + self.decision, minlength=len(types) * len(DECISIONS))
        counts = table.reshape(-1, len(DECISIONS))[:, :IGN].tolist()
        return {name: tuple(row) for name, row in zip(types, counts, strict=True) if any(row)}

    def decisions(self) -> DecisionCounts:
        return tuple(np.bincount(self.decision, minlength=len(DECISIONS))[:IGN].tolist())


def other_units(units: Int64, size: int) -> Int64:
    """Return the numbers below `size` that are not among `units`."""
    is_other = np.ones(size, bool)
    is_other[units] = False
    return np.flatnonzero(is_other)


def at(column: Array, index: Array) -> Array:
    """Return the entries at an index, -1 for all where the column is empty."""
    return column[index] if len(column) else np.full(len(index), -1)


def add_decisions(rows: Iterable[DecisionCounts]) -> DecisionCounts:
    return tuple(map(sum, zip((0,) * IGN, *rows, strict=True)))


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """An evaluation of a scorer: its unit, its fixed reasons, and the decisions that each of its counters counts.

    `by_type`: counts are split by the type of the gold unit, else of the prediction, and records have that scope too.
    """

    reasons: Sequence[str]
    counters: Mapping[str, tuple[int, ...]]
    unit: Literal["span", "token", "concept", "surface form"] = "span"
    by_type: bool = False

    def counts(self, decisions: DecisionCounts) -> dict[str, int]:
        """Return each counter's number from the numbers of decisions."""
        return {name: sum(decisions[code] for code in codes) for name, codes in self.counters.items()}

    def scopes(self, by_type: Mapping[str, DecisionCounts]) -> dict[str, dict[str, int]]:
        """Return the counts of all types together, under OVERALL, then of each in order of their names."""
        rows = {OVERALL: add_decisions(by_type.values())}
        rows |= {scope_of_type(name): by_type[name] for name in sorted(by_type)}
        return {scope: self.counts(row) for scope, row in rows.items()}

    def records(self, name: str, sides: Sequence[UnitColumns], rows: MatchRows) -> pd.DataFrame:
        """Return the rows over units of gold and prediction as records of the evaluation of this name."""
        gold, pred = sides
        counters = {counter: np.isin(rows.decision, codes) for counter, codes in self.counters.items()}
        frame = record_frame(name, gold, pred, rows, self.reasons, counters, unit=self.unit)
        return with_types(frame) if self.by_type else frame


def record_frame(
    evaluation: str,
    gold: UnitColumns,
    pred: UnitColumns,
    rows: MatchRows,
    reasons: Sequence[str],
    counters: Mapping[str, Array],
    *,
    scope: tuple[Array, Sequence[str]] | str = OVERALL,
    unit: str = "span",
) -> pd.DataFrame:
    """Return rows as a frame of records; `counters` and the codes of `scope` have shape (rows,).

    A record is anchored on its gold unit where it has one.
    """
    assert not counters.keys() & RECORD_COLUMNS.keys(), "a counter takes the name of a column"
    size, g, p = len(rows), rows.gold, rows.pred
    scopes = (np.zeros(size, np.int8), (scope,)) if isinstance(scope, str) else scope
    sides = np.where(p < 0, 1, np.where(g < 0, 2, 0))
    ids = (gold.ids("g"), pred.ids("p"))
    doc = np.where(g >= 0, at(gold.doc, g), at(pred.doc, p))
    return pd.DataFrame(
        {
            "evaluation": categories(np.zeros(size, np.int8), (evaluation,)),
            "scope": categories(*scopes),
            "unit": categories(np.zeros(size, np.int8), (unit,)),
            "document": categories(doc, gold.documents.ids),
            "record": pd.array(
                [ids[0][i] if i >= 0 else ids[1][j] for i, j in zip(g.tolist(), p.tolist(), strict=True)], TEXT_DTYPE
            ),
            "side": categories(sides, SIDES),
            "decision": categories(rows.decision, DECISIONS),
            **_side_columns("gold", gold, g),
            **_side_columns("pred", pred, p),
            "why": categories(rows.reason, reasons),
            "doc": doc.astype(np.int32),
            "gold": g.astype(np.int32),
            "pred": p.astype(np.int32),
            **{name: np.asarray(values).astype(np.int32) for name, values in counters.items()},
        },
        columns=[*RECORD_COLUMNS, *counters],
    )


def _side_columns(side: str, columns: UnitColumns, units: Int64) -> dict[str, Any]:
    is_absent = units < 0
    start, end = (np.where(is_absent, -1, at(column, units)) for column in (columns.start, columns.end))
    placeless = start < 0
    return {
        f"{side}_start": pd.arrays.IntegerArray(start.astype(np.int32), placeless),
        f"{side}_end": pd.arrays.IntegerArray(end.astype(np.int32), placeless),
        f"{side}_type": categories(np.where(is_absent, -1, at(columns.kind, units)), columns.types),
        f"{side}_text": pd.array([columns.text(unit) if unit >= 0 else None for unit in units.tolist()], TEXT_DTYPE),
    }


def with_types(records: pd.DataFrame) -> pd.DataFrame:
    """Return records of scope OVERALL, and each again with its type (gold's, else the prediction's) as its scope.

    For scorers that split their overall counts by type, and score no type on its own.
    """
    kind = records["gold_type"].astype(TEXT_DTYPE)
    kind = kind.where(records["gold_type"].notna(), records["pred_type"].astype(TEXT_DTYPE))
    kind = kind.replace({name: scope_of_type(name) for name in kind.unique() if scope_of_type(name) != name})
    whole = records.assign(scope=records["scope"].astype(TEXT_DTYPE))
    return pd.concat([whole, records.assign(scope=kind)], ignore_index=True).astype({"scope": "category"})


def joined_records(frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Return records of several frames, with 0 for the counters that a frame does not have."""
    counters = dict.fromkeys(name for frame in frames for name in frame.columns if name not in RECORD_COLUMNS)
    columns: dict[str, Any] = {}
    for name, dtype in RECORD_COLUMNS.items():
        parts = [frame[name] for frame in frames]
        if dtype == "category":
            columns[name] = union_categoricals(parts, sort_categories=True).remove_unused_categories()
        else:
            columns[name] = pd.concat(parts, ignore_index=True)
    for name in counters:
        counts = [frame[name] if name in frame else np.zeros(len(frame), np.int32) for frame in frames]
        columns[name] = np.concatenate(counts).astype(np.int32)
    return pd.DataFrame(columns)


def masked_records(frame: pd.DataFrame) -> pd.DataFrame:
    """Mask the words in records; codes of concepts are not words."""
    is_word = (frame["unit"] != "concept").to_numpy()
    columns = {}
    for side in ("gold", "pred"):
        texts = zip(frame[f"{side}_text"].tolist(), is_word.tolist(), strict=True)
        columns[f"{side}_text"] = [
            masked_text(text) if word and isinstance(text, str) else text for text, word in texts
        ]
    # A unit that is not a piece of text is named by its words.
    has_place = (frame["gold_start"].notna() | frame["pred_start"].notna()).to_numpy()
    ids = zip(frame["record"].tolist(), (has_place | ~is_word).tolist(), range(len(frame)), strict=True)
    columns["record"] = [name if plain else f"{name[:2]}{number}" for name, plain, number in ids]
    return frame.assign(**columns).astype({name: RECORD_COLUMNS[name] for name in columns})


def scope_of_type(kind: str, reserved: Sequence[str] = (OVERALL,)) -> str:
    """Return the name of a type, marked where it is one that the scorer gives to something else."""
    return f"{kind}{TYPE_SUFFIX}" if _unmarked(kind) in reserved else kind


def type_of_scope(name: str, reserved: Sequence[str] = (OVERALL,)) -> str:
    """Return the type that `scope_of_type` gave this name to."""
    return name.removesuffix(TYPE_SUFFIX) if _unmarked(name) in reserved else name


def _unmarked(name: str) -> str:
    while name.endswith(TYPE_SUFFIX):
        name = name.removesuffix(TYPE_SUFFIX)
    return name


FILL = "·"
"""Fills places whose text no quote gives."""
LIMIT = 1_000_000
"""Beyond this offset, in characters, nothing is laid out."""


def text_from_quotes(quotes: Iterable[tuple[int, int, str]]) -> str:
    """Return a text with each quote at its (start, end), end exclusive; one of another length leaves a gap."""
    placed = [(start, end, quote) for start, end, quote in quotes if 0 <= start < end <= LIMIT]
    characters = [FILL] * max((end for _, end, _ in placed), default=0)
    for start, end, quote in placed:
        if len(quote) == end - start:
            characters[start:end] = quote
    return "".join(characters)
