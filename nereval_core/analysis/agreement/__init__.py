"""Agreement between annotators: F1 of each pair, kappa and alpha on tokens, unitizing alpha of 2004 on characters.

Annotators are any layers over the same documents. F1 is counted span by span under matching criteria with one of the
two as gold. Kappa and alpha are on tokens (`kappa_and_alpha`), unitizing alpha is on characters (`unitizing_alpha`);
these three merge and leave out types as the settings say, not as a user's own criterion does. For all annotators
together F1 and observed agreement are means over their pairs; kappa is Fleiss', and for two annotators Cohen's.

Intervals are bias-corrected bootstrap intervals over units (documents, unless other `ResamplingUnits` are given), with
the same draws for every figure. Unitizing alpha of a pair among three annotators or more has none, nor has it where
very many documents have units of very many lengths.

The figures equal those of the published examples (Cohen 1960; ten subjects and fourteen raters of Fleiss' kappa;
Krippendorff 2004 and 2011), and of nltk and statsmodels on the same data. Five annotators with 225,000 spans over
1,000,000 tokens take 1.5 s on two cores, with intervals from 10,000 resamples.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import permutations
from typing import Any

import numpy as np
import pandas as pd

from nereval_core.analysis.agreement import coefficients
from nereval_core.analysis.agreement.coefficients import FIGURES, CoefficientKey, Group, Pair, Row, Tokens, is_symmetric
from nereval_core.analysis.agreement.coverage import alpha_rows, unite_annotators
from nereval_core.analysis.agreement.gamma import GAMMA, gamma_rows
from nereval_core.analysis.agreement.human_ceiling import HumanCeiling, measure_ceiling
from nereval_core.analysis.agreement.kappa_and_alpha import (
    annotator_pairs,
    count_tokens,
    ratio_or_nan,
    token_coefficients,
)
from nereval_core.analysis.agreement.unitizing_alpha import AnnotatedUnits, TypeUnits, disagreement
from nereval_core.analysis.bootstrap import F1, Bootstrap, document_counts, mean_of_defined, ratios
from nereval_core.analysis.resampling_units import ResamplingPlan, ResamplingUnits, resampling_units
from nereval_core.corpus import Layer
from nereval_core.corpus.arrays import Float64
from nereval_core.corpus.tokens import tokens_of
from nereval_core.problems import FormatError
from nereval_core.report.displayed import Displayed
from nereval_core.scoring import Scores, Settings, score_layers
from nereval_core.scoring.count_tables import TEXT_DTYPE, Columns, typed_table
from nereval_core.scoring.criteria import Criterion, TypeRules
from nereval_core.scoring.type_merging import apply_rules

PAIRWISE = "pairwise"
"""The option that compares each pair of annotators on the documents that the two have in common."""
AGREEMENT_COLUMNS: Columns = {
    **dict.fromkeys(("figure", "criterion", "type", "one", "other"), TEXT_DTYPE),
    **dict.fromkeys(("value", "low", "high"), "float64"),
    **dict.fromkeys(("undefined", "n", "documents"), "int64"),
    "why": TEXT_DTYPE,
}
"""Columns of `Agreement.table` and their dtypes. `criterion` is NA for all figures but F1, `type` for all types
together, `one` and `other` for all annotators together; under a criterion that is not symmetric, `one` is taken as
gold. `undefined` counts the resamples without a value, `n` the spans, tokens or units of these annotators, `documents`
the documents they were compared on. `why` is the reason why a value or an interval is missing, or names what was left
out.
"""
DOCUMENT_COLUMNS: Columns = {
    "document": TEXT_DTYPE,
    "spans": "int64",
    "tokens": "int64",
    **dict.fromkeys(FIGURES, "float64"),
    "why": TEXT_DTYPE,
}
"""Columns of `Agreement.by_document` and their dtypes."""


@dataclass(frozen=True, eq=False, repr=False)
class Agreement(Displayed):
    """The agreement of annotators: `table` has AGREEMENT_COLUMNS.

    `scores` are those of each pair of annotators by position, the first as gold; under a criterion that is not
    symmetric there are both ways. `layers` are as annotated. Where each pair was compared on the documents that the two
    have in common, `parts` are the agreements of the pairs, and `layers` and the `units` of each type are empty.
    `ceiling` holds systems against the annotators, where systems were given.
    """

    annotators: tuple[str, ...]
    layers: tuple[Layer, ...]
    settings: Settings
    plan: ResamplingPlan
    resampled: ResamplingUnits
    scores: Mapping[Pair, Mapping[str, Scores]] = field(repr=False)
    table: pd.DataFrame
    tokens: Tokens = field(repr=False)
    units: Mapping[str, tuple[AnnotatedUnits, ...]] = field(repr=False)
    parts: Mapping[Pair, Agreement] = field(default_factory=dict, repr=False)
    ceiling: HumanCeiling | None = None

    def to_frame(self) -> pd.DataFrame:
        """Return `table`."""
        return self.table

    @property
    def types(self) -> tuple[str, ...]:
        """The types that annotators use, after merging."""
        return tuple(self.units)

    @cached_property
    def pairs(self) -> tuple[Pair, ...]:
        return annotator_pairs(len(self.annotators))

    @property
    def everyone(self) -> Group:
        """The group of all annotators, which for two annotators is their pair."""
        return None if len(self.annotators) > 2 else (0, 1)

    def rows(self, group: Group, *, criterion: str | None = None) -> pd.DataFrame:
        """Return the rows of `table` about a group, those of F1 under one criterion, by default the first."""
        name = criterion or self.settings.criteria[0].name
        rows = self.table[self.table["criterion"].isna() | self.table["criterion"].eq(name)]
        if group is None:
            return rows[rows["one"].isna()]
        counted, once = (
            rows["one"].eq(self.annotators[gold]) & rows["other"].eq(self.annotators[pred])
            for gold, pred in (self.way(group, name), (min(group), max(group)))
        )
        return rows[np.where(rows["figure"].eq("f1"), counted, once)]

    def criterion(self, name: str) -> Criterion:
        return next(criterion for criterion in self.settings.criteria if criterion.name == name)

    def way(self, pair: Pair, criterion: str) -> Pair:
        """Return the key of a pair's F1 under a criterion: the lower annotator comes first if it is symmetric."""
        return (min(pair), max(pair)) if is_symmetric(self.criterion(criterion)) else pair

    def by_document(self, group: Group, *, criterion: str | None = None) -> pd.DataFrame:
        """Return the figures of each document: DOCUMENT_COLUMNS."""
        name = criterion or self.settings.criteria[0].name
        if not self.parts:
            return _document_table(self, group, name)
        if group is None:
            # Documents differ from pair to pair, so that no document has a figure of all annotators.
            return pd.DataFrame({column: [] for column in DOCUMENT_COLUMNS}).astype(dict(DOCUMENT_COLUMNS))
        part = self.parts.get((min(group), max(group)))
        if part is None:
            return self.by_document(None)
        return part.by_document((0, 1) if group[0] < group[1] else (1, 0), criterion=name)


def measure_agreement(
    layers: Mapping[str, Layer],
    settings: Settings | None = None,
    *,
    plan: ResamplingPlan | None = None,
    resampled: ResamplingUnits | None = None,
    systems: Mapping[str, Layer] | None = None,
    gamma: bool = False,
) -> Agreement:
    """Return the agreement of two or more annotators: layers by name over the same documents.

    `systems`, over these documents too, are held against the annotators. F1 is under the settings' criteria; tables
    show the first. Intervals are over the units `resampled`, by default each document. With `gamma` the table has gamma
    too, which takes many times as long as the other figures together.
    """
    settings, plan = settings or Settings(), plan or ResamplingPlan()
    resampled = resampled or resampling_units(next(iter(layers.values())).documents)
    bootstrap = Bootstrap(plan, resampled)
    rules = TypeRules(dict(settings.merge), settings.leave_out)
    ruled = [apply_rules(layer, rules) for layer in layers.values()]
    types = tuple(sorted({kind for layer in ruled for kind in layer.types}))
    scores = dict(_score_pairs(tuple(layers.values()), settings))
    units = TypeUnits(ruled, types, [None] * len(ruled))
    tokens: Tokens
    try:
        tokens = count_tokens(ruled, types, tokens_of(ruled[0].documents))
    except FormatError as error:
        tokens = error.problems[0].found
    names = tuple(layers)
    figures = (
        coefficients.f1_rows(scores, settings.criteria, len(names), bootstrap),
        coefficients.token_rows(tokens, len(names), bootstrap),
        coefficients.unitizing_rows(units, names, ruled[0].documents, bootstrap),
    )
    rows = [
        *coefficients.resampled_rows(figures, bootstrap),
        *(gamma_rows(ruled, types, seed=plan.seed) if gamma else ()),
    ]
    table = _agreement_table(rows, names, len(ruled[0].documents))
    ceiling = None
    if systems:
        mine = {
            name: {number: score_pair(layer, system, settings) for number, layer in enumerate(layers.values())}
            for name, system in systems.items()
        }
        ceiling = measure_ceiling(names, scores, mine, ruled[0].documents, settings.criteria, bootstrap)
    return Agreement(
        names, tuple(layers.values()), settings, plan, resampled, scores, table, tokens, units, ceiling=ceiling
    )


def _score_pairs(layers: Sequence[Layer], settings: Settings) -> Iterator[tuple[Pair, dict[str, Scores]]]:
    """Yield the scores of each pair by criterion, and of the reverse pair where a criterion is not symmetric."""
    for pair in permutations(range(len(layers)), 2):
        criteria = [criterion for criterion in settings.criteria if pair[0] < pair[1] or not is_symmetric(criterion)]
        gold, pred = (layers[number] for number in pair)
        scores = score_pair(gold, pred, replace(settings, criteria=tuple(criteria)))
        if scores or pair[0] < pair[1]:
            yield pair, scores


def score_pair(gold: Layer, pred: Layer, settings: Settings) -> dict[str, Scores]:
    """Return the scores of two layers over the same documents under the criteria that gold has what they need for."""
    criteria = tuple(criterion for criterion in settings.criteria if criterion.lacks(gold) is None)
    scores = score_layers(gold, pred, replace(settings, criteria=criteria)) if criteria else None
    return {} if scores is None else {criterion.name: scores for criterion in criteria}


def measure_pairwise_agreement(
    annotators: Sequence[str],
    parts: Mapping[Pair, Agreement],
    systems: Mapping[str, Mapping[int, Mapping[str, Scores]]] | None = None,
) -> Agreement:
    """Return the agreement of annotators of whom each pair was compared on documents of its own.

    `parts` are the agreements of the pairs by the positions of the two, the lower first. A pair with no document in
    common is missing from it and has undefined figures. All annotators together have the means of F1 and of observed
    agreement over the pairs, without intervals, and both alphas with missing values, over the documents that two or
    more saw; these are what is resampled. `systems`, held against the annotators, are the scores of each with
    annotators as gold, by criterion and the number of the annotator (`score_pair`), on the documents that both have.
    """
    first = next(iter(parts.values()))
    united = unite_annotators(annotators, {pair: part.layers for pair, part in parts.items()})
    resampled = resampling_units(united.documents, first.resampled.by)
    bootstrap = Bootstrap(first.plan, resampled)
    missing = [pair for pair in annotator_pairs(len(annotators)) if pair not in parts]
    keys = [
        CoefficientKey("f1", criterion.name, None, pair) for criterion in first.settings.criteria for pair in missing
    ]
    keys += [CoefficientKey(figure, None, None, pair) for figure in FIGURES[1:] for pair in missing]
    rows = [(key, np.nan, np.nan, np.nan, 0, 0, coefficients.NONE_IN_COMMON) for key in keys]
    tables = [*(part.table for part in parts.values()), _agreement_table(rows, annotators, 0)]
    if len(annotators) > 2:
        pairs = pd.concat([table for table in tables if len(table)], ignore_index=True)
        means = [_mean_of_pairs(pairs, *key) for key in _distinct_figures(pairs)]
        rules = TypeRules(dict(first.settings.merge), first.settings.leave_out)
        alphas = list(alpha_rows(united, rules, bootstrap))
        together = [typed_table(means, AGREEMENT_COLUMNS), _agreement_table(alphas, annotators, len(united.documents))]
        tables = [*together, *tables]
    table = pd.concat([table for table in tables if len(table)], ignore_index=True)
    scores = {(pair[a], pair[b]): by_name for pair, part in parts.items() for (a, b), by_name in part.scores.items()}
    units = {kind: () for part in parts.values() for kind in part.units}
    ceiling = None
    if systems:
        ceiling = measure_ceiling(annotators, scores, systems, united.documents, first.settings.criteria, bootstrap)
    return Agreement(
        tuple(annotators), (), first.settings, first.plan, resampled, scores, table, first.tokens, units, parts, ceiling
    )


def _distinct_figures(pairs: pd.DataFrame) -> list[tuple[str, Any, Any]]:
    """Return the distinct figures of a table of pairs, with criterion and type: those that are means over pairs.

    Alphas allow missing values, and gamma of all annotators needs documents that all of them saw.
    """
    is_mean = ~pairs["figure"].isin(["alpha", "unitizing", GAMMA])
    rows = pairs.loc[is_mean, ["figure", "criterion", "type"]].drop_duplicates()
    return list(rows.itertuples(index=False, name=None))


def _mean_of_pairs(pairs: pd.DataFrame, figure: str, criterion: Any, kind: Any) -> tuple[Any, ...]:
    """Return the row of all annotators: the mean over pairs, or the reason why there is none."""
    rows = pairs[pairs["figure"].eq(figure)]
    for column, value in (("criterion", criterion), ("type", kind)):
        rows = rows[rows[column].isna() if pd.isna(value) else rows[column].eq(value)]
    defined = rows["value"].dropna()
    value, why = np.nan, coefficients.NO_DOCUMENTS_OF_ALL
    if figure in ("f1", "observed"):
        value = float(defined.mean()) if len(defined) else np.nan
        why = coefficients.MEAN_OF_PAIRS if len(defined) else coefficients.NO_SPANS
        if 0 < len(defined) < len(rows):
            why = f"{len(rows) - len(defined)} of {len(rows)} pairs undefined, left out; {why}"
    return figure, criterion, kind, None, None, value, np.nan, np.nan, 0, rows["n"].sum(), 0, why


def _agreement_table(rows: Sequence[Row], names: Sequence[str], documents: int) -> pd.DataFrame:
    def called(key: CoefficientKey) -> tuple[Any, ...]:
        first, second = (None, None) if key.group is None else (names[number] for number in key.group)
        return key.figure, key.criterion, key.type, first, second

    lines = [(*called(key), *rest, documents, why) for key, *rest, why in rows]
    table = pd.DataFrame(lines, columns=list(AGREEMENT_COLUMNS))
    return table.astype(dict(AGREEMENT_COLUMNS))


def _document_table(agreement: Agreement, group: Group, name: str) -> pd.DataFrame:
    documents = agreement.layers[0].documents
    members = list(range(len(agreement.annotators)) if group is None else group)
    pairs = (
        [agreement.way(group, name)] if group else [pair for pair in agreement.scores if name in agreement.scores[pair]]
    )
    each = [
        ratios(document_counts(agreement.scores[counted_pair][name], name))[F1]
        for counted_pair in pairs
        if name in agreement.scores[counted_pair]
    ]
    nothing = np.full(len(documents), np.nan)
    marked = [units_of[number].doc for units_of in agreement.units.values() for number in members]
    columns: dict[str, Any] = {
        "document": list(documents.ids),
        "spans": np.bincount(np.concatenate([np.zeros(0, np.int64), *marked]), minlength=len(documents)),
        "tokens": np.zeros(len(documents), np.int64),
        "f1": mean_of_defined(np.array(each)) if each else nothing,
    }
    if isinstance(agreement.tokens, str):
        columns |= dict.fromkeys(coefficients.ON_TOKENS, nothing)
    else:
        whole = agreement.tokens[0]
        products = whole.by_document()
        columns["tokens"] = whole.tokens
        columns |= token_coefficients(products if group is None else products.of_pair((min(group), max(group))))
    columns["unitizing"], refused = _unitizing_by_document(agreement, members)
    table = pd.DataFrame({name: columns.get(name, "") for name in DOCUMENT_COLUMNS}).astype(dict(DOCUMENT_COLUMNS))
    reasons = [
        (table["unitizing"].isna() & table["spans"].gt(0), coefficients.NOTHING_EXPECTED),
        (table["kappa"].isna(), coefficients.ONE_CATEGORY),
        (table["tokens"].eq(0), coefficients.NO_TOKENS),
        (table["spans"].eq(0), coefficients.NO_SPANS),
    ]
    for where, reason in reasons:
        table.loc[where, "why"] = reason
    for doc, reason in refused.items():
        table.loc[doc, "why"] = reason
    return table


def _unitizing_by_document(agreement: Agreement, members: Sequence[int]) -> tuple[Float64, dict[int, str]]:
    """Return unitizing alpha by document, and the reason by document where it is refused."""
    documents = agreement.layers[0].documents
    observed, expected = np.zeros(len(documents)), np.zeros(len(documents))
    refused: dict[int, str] = {}
    for kind, units_of in agreement.units.items():
        apart = disagreement([units_of[number] for number in members], documents.base)
        observed, expected = observed + apart.observed, expected + apart.expected
        for number in members:
            for doc in units_of[number].crossed.tolist():
                refused.setdefault(doc, f"refused, spans of {kind} overlap in {agreement.annotators[number]}")
    expected[list(refused)] = np.nan
    return 1 - ratio_or_nan(observed, expected), refused
