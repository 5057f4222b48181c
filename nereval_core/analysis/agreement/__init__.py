"""Agreement between annotators: F1 of each two, kappa and alpha on tokens, unitizing alpha on characters.

Any layers over the same documents may be annotators. F1 is counted span by span under matching criteria, one of the two
taken as gold; kappa and alpha are on tokens (`agreement_tokens`), unitizing alpha on characters (`unitizing`), these
three under the settings' merged and left-out types, not under those of a criterion of one's own. Of all annotators
together, F1 and observed agreement are means over their pairs, kappa is Fleiss', of two it is Cohen's.

Intervals are bias-corrected bootstrap intervals over units (documents, unless other `ResamplingUnits` are given), the
same draws for every figure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import permutations
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd

from nereval_core.analysis.agreement import figures as rows_of
from nereval_core.analysis.agreement.chance import share
from nereval_core.analysis.agreement.figures import FIGURES, Group, Key, Pair, Row, Tokens, symmetric
from nereval_core.analysis.agreement.token_agreement import count_tokens, pairs_of
from nereval_core.analysis.agreement.token_agreement import figures as token_figures
from nereval_core.analysis.agreement.unitizing import Units, disagreement, units_of
from nereval_core.analysis.comparison.significance import F1
from nereval_core.analysis.resampling import Plan, document_counts, ratios
from nereval_core.analysis.resampling_units import ResamplingUnits, resampling_units
from nereval_core.arrays import Float64
from nereval_core.corpus import Layer
from nereval_core.corpus.tokens import tokens_of
from nereval_core.problems import FormatError
from nereval_core.scoring import Scores, Settings, apply_rules, score_layers
from nereval_core.scoring.criteria import Criterion, TypeRules

PAIRWISE = "pairwise"
"""The word for comparing each pair of annotators on the documents that the two have in common."""
AGREEMENT_COLUMNS: Mapping[str, str] = MappingProxyType(
    {
        "figure": "str",
        "criterion": "str",
        "type": "str",
        "one": "str",
        "other": "str",
        "value": "float64",
        "low": "float64",
        "high": "float64",
        "undefined": "int64",
        "n": "int64",
        "documents": "int64",
        "why": "str",
    }
)
"""Columns of `Agreement.table` and their dtypes. `criterion` is NA but for F1, `type` for all types together, `one` and
`other` for all annotators together; under a criterion that is not symmetric, `one` is taken as gold. `undefined` counts
the resamples without a value; `n` the spans, tokens or units of these annotators, `documents` those they were compared
on; `why` says what keeps a value from
being defined, or from having an interval, or what was left out."""
DOCUMENT_COLUMNS: Mapping[str, str] = MappingProxyType(
    {"document": "str", "spans": "int64", "tokens": "int64", **dict.fromkeys(FIGURES, "float64"), "why": "str"}
)
"""Columns of `Agreement.by_document` and their dtypes."""


@dataclass(frozen=True, eq=False)
class Agreement:
    """What annotators agree on: `table` has AGREEMENT_COLUMNS.

    `scores` are those of each pair, by position: the first taken as gold. Under a criterion that is not symmetric there
    are both ways. `layers` are as annotated. Where each pair was compared on the documents that the two have in common,
    `parts` are the agreements of the pairs, and `layers` is empty.
    """

    annotators: tuple[str, ...]
    layers: tuple[Layer, ...]
    settings: Settings
    plan: Plan
    resampled: ResamplingUnits
    scores: Mapping[Pair, Mapping[str, Scores]] = field(repr=False)
    table: pd.DataFrame
    tokens: Tokens = field(repr=False)
    units: Mapping[str, tuple[Units, ...]] = field(repr=False)
    parts: Mapping[Pair, Agreement] = field(default_factory=dict, repr=False)

    @property
    def types(self) -> tuple[str, ...]:
        """The types that annotators use, after merging."""
        return tuple(self.units)

    @cached_property
    def pairs(self) -> tuple[Pair, ...]:
        return pairs_of(len(self.annotators))

    @property
    def everyone(self) -> Group:
        """All annotators: of two the pair."""
        return None if len(self.annotators) > 2 else (0, 1)

    def rows(self, group: Group, *, criterion: str | None = None) -> pd.DataFrame:
        """Return the rows of `table` about a group, F1 under one criterion, by default the first."""
        name = criterion or self.settings.criteria[0].name
        found = self.table[self.table["criterion"].isna() | self.table["criterion"].eq(name)]
        if group is None:
            return found[found["one"].isna()]
        counted, once = (
            found["one"].eq(self.annotators[one]) & found["other"].eq(self.annotators[other])
            for one, other in (self.way(group, name), (min(group), max(group)))
        )
        return found[np.where(found["figure"].eq("f1"), counted, once)]

    def criterion(self, name: str) -> Criterion:
        return next(one for one in self.settings.criteria if one.name == name)

    def way(self, pair: Pair, criterion: str) -> Pair:
        """Return the pair by which F1 of two annotators is counted under a criterion: symmetric ones stand once."""
        return (min(pair), max(pair)) if symmetric(self.criterion(criterion)) else pair

    def by_document(self, group: Group, *, criterion: str | None = None) -> pd.DataFrame:
        """Return the figures of each document: DOCUMENT_COLUMNS."""
        name = criterion or self.settings.criteria[0].name
        if not self.parts:
            return _by_document(self, group, name)
        if group is None:
            # Documents differ from pair to pair, so that no figure is of all annotators.
            return pd.DataFrame({column: [] for column in DOCUMENT_COLUMNS}).astype(dict(DOCUMENT_COLUMNS))
        part = self.parts.get((min(group), max(group)))
        if part is None:
            return self.by_document(None)
        return part.by_document((0, 1) if group[0] < group[1] else (1, 0), criterion=name)


def agree(
    layers: Mapping[str, Layer],
    settings: Settings | None = None,
    *,
    plan: Plan | None = None,
    resampled: ResamplingUnits | None = None,
) -> Agreement:
    """Return the agreement of annotators by name, layers over the same documents, at least two.

    F1 is under the settings' criteria, of which the first is the one that tables show. `resampled` are what intervals
    are made over, by default each document.
    """
    settings, plan = settings or Settings(), plan or Plan()
    resampled = resampled or resampling_units(next(iter(layers.values())).documents)
    rules = TypeRules(dict(settings.merge), settings.leave_out)
    ruled = [apply_rules(layer, rules) for layer in layers.values()]
    types = tuple(sorted({kind for layer in ruled for kind in layer.types}))
    scores = dict(_scored(tuple(layers.values()), settings))
    units = {kind: tuple(units_of(layer, kind) for layer in ruled) for kind in types}
    tokens: Tokens
    try:
        tokens = count_tokens(ruled, types, tokens_of(ruled[0].documents))
    except FormatError as error:
        tokens = error.problems[0].found
    names = tuple(layers)
    rows = [
        *rows_of.f1(scores, settings.criteria, len(names), plan, resampled),
        *rows_of.on_tokens(tokens, len(names), plan, resampled),
        *rows_of.unitized(units, names, ruled[0].documents, plan, resampled),
    ]
    table = _table(rows, names, len(ruled[0].documents))
    return Agreement(names, tuple(layers.values()), settings, plan, resampled, scores, table, tokens, units)


def _scored(layers: Sequence[Layer], settings: Settings) -> Iterator[tuple[Pair, dict[str, Scores]]]:
    """Yield the scores of each pair by criterion, both ways where a criterion is not symmetric."""
    for pair in permutations(range(len(layers)), 2):
        gold, pred = (layers[number] for number in pair)
        asked = [one for one in settings.criteria if pair[0] < pair[1] or not symmetric(one)]
        asked = [one for one in asked if one.lacks(gold) is None]
        if asked or pair[0] < pair[1]:
            found = score_layers(
                gold, pred, Settings(tuple(asked), settings.merge, settings.leave_out, settings.counting)
            )
            yield pair, {one.name: found for one in asked}


def agree_pairwise(annotators: Sequence[str], parts: Mapping[Pair, Agreement]) -> Agreement:
    """Return the agreement of annotators of whom each pair was compared on documents of its own.

    `parts` are the agreements of the pairs by the positions of the two, the lower first; a pair with no document in
    common is not in it, and is undefined. Of all annotators together there are the means of F1 and of observed
    agreement over the pairs, without intervals.
    """
    first = next(iter(parts.values()))
    missing = [pair for pair in pairs_of(len(annotators)) if pair not in parts]
    keys = [Key("f1", one.name, None, pair) for one in first.settings.criteria for pair in missing]
    keys += [Key(figure, None, None, pair) for figure in FIGURES[1:] for pair in missing]
    rows = [(key, np.nan, np.nan, np.nan, 0, 0, rows_of.NONE_IN_COMMON) for key in keys]
    tables = [*(part.table for part in parts.values()), _table(rows, annotators, 0)]
    pairs = pd.concat([table for table in tables if len(table)], ignore_index=True)
    together = [_mean_of_pairs(pairs, *key) for key in _figures_of(pairs)] if len(annotators) > 2 else []
    whole = pd.DataFrame(together, columns=list(AGREEMENT_COLUMNS)).astype(dict(AGREEMENT_COLUMNS))
    table = pd.concat([whole, pairs], ignore_index=True) if together else pairs
    scores = {(pair[a], pair[b]): found for pair, part in parts.items() for (a, b), found in part.scores.items()}
    units = {kind: each for part in parts.values() for kind, each in part.units.items()}
    return Agreement(
        tuple(annotators), (), first.settings, first.plan, first.resampled, scores, table, first.tokens, units, parts
    )


def _figures_of(pairs: pd.DataFrame) -> list[tuple[str, Any, Any]]:
    """Return the figures of a table of pairs with their criterion and type, each once."""
    rows = pairs[["figure", "criterion", "type"]].drop_duplicates()
    return list(rows.itertuples(index=False, name=None))


def _mean_of_pairs(pairs: pd.DataFrame, figure: str, criterion: Any, kind: Any) -> tuple[Any, ...]:
    """Return the row of all annotators: the mean over pairs, or why there is none."""
    rows = pairs[pairs["figure"].eq(figure)]
    for column, value in (("criterion", criterion), ("type", kind)):
        rows = rows[rows[column].isna() if pd.isna(value) else rows[column].eq(value)]
    known = rows["value"].dropna()
    value, why = np.nan, rows_of.NO_DOCUMENTS_OF_ALL
    if figure in ("f1", "observed"):
        value = float(known.mean()) if len(known) else np.nan
        why = rows_of.MEAN_OF_PAIRS if len(known) else rows_of.NO_SPANS
        if 0 < len(known) < len(rows):
            why = f"{len(rows) - len(known)} of {len(rows)} pairs undefined, left out; {why}"
    return figure, criterion, kind, None, None, value, np.nan, np.nan, 0, rows["n"].sum(), 0, why


def _table(rows: Sequence[Row], names: Sequence[str], documents: int) -> pd.DataFrame:
    def called(key: Key) -> tuple[Any, ...]:
        one, other = (None, None) if key.group is None else (names[number] for number in key.group)
        return key.figure, key.criterion, key.type, one, other

    lines = [(*called(key), *rest, documents, why) for key, *rest, why in rows]
    table = pd.DataFrame(lines, columns=list(AGREEMENT_COLUMNS))
    return table.astype(dict(AGREEMENT_COLUMNS))


def _by_document(found: Agreement, group: Group, name: str) -> pd.DataFrame:
    documents = found.layers[0].documents
    members = list(range(len(found.annotators)) if group is None else group)
    asked = [found.way(group, name)] if group else [pair for pair in found.scores if name in found.scores[pair]]
    each = [ratios(document_counts(found.scores[one][name], name))[F1] for one in asked if name in found.scores[one]]
    nothing = np.full(len(documents), np.nan)
    marked = [every[number].doc for every in found.units.values() for number in members]
    columns: dict[str, Any] = {
        "document": list(documents.ids),
        "spans": np.bincount(np.concatenate([np.zeros(0, np.int64), *marked]), minlength=len(documents)),
        "tokens": np.zeros(len(documents), np.int64),
        "f1": rows_of.mean(np.array(each))[0] if each else nothing,
    }
    if isinstance(found.tokens, str):
        columns |= dict.fromkeys(rows_of.ON_TOKENS, nothing)
    else:
        whole = found.tokens[0]
        columns["tokens"] = whole.tokens
        columns |= token_figures(whole if group is None else whole.of_pair((min(group), max(group))))
    columns["unitizing"], refused = _unitizing(found, members)
    table = pd.DataFrame({name: columns.get(name, "") for name in DOCUMENT_COLUMNS}).astype(dict(DOCUMENT_COLUMNS))
    reasons = [
        (table["unitizing"].isna() & table["spans"].gt(0), rows_of.NOTHING_EXPECTED),
        (table["kappa"].isna(), rows_of.ONE_CATEGORY),
        (table["tokens"].eq(0), rows_of.NO_TOKENS),
        (table["spans"].eq(0), rows_of.NO_SPANS),
    ]
    for where, said in reasons:
        table.loc[where, "why"] = said
    for doc, said in refused.items():
        table.loc[doc, "why"] = said
    return table


def _unitizing(found: Agreement, members: Sequence[int]) -> tuple[Float64, dict[int, str]]:
    """Return unitizing alpha by document, and by document why it is refused."""
    documents = found.layers[0].documents
    observed, expected = np.zeros(len(documents)), np.zeros(len(documents))
    refused: dict[int, str] = {}
    for kind, every in found.units.items():
        apart = disagreement([every[number] for number in members], documents.base)
        observed, expected = observed + apart.observed, expected + apart.expected
        for number in members:
            for doc in every[number].crossed.tolist():
                refused.setdefault(doc, f"refused, spans of {kind} overlap in {found.annotators[number]}")
    expected[list(refused)] = np.nan
    return 1 - share(observed, expected), refused
