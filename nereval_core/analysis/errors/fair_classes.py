"""The classes of FairEval, which count every error once, beside our own.

They differ from `error_classes` where spans nest: ours call a gold span that shares a character with the prediction of
a wrong pair merged (a prediction split), FairEval only where the other has tokens left that no error has used, and else
missed (spurious).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from weakref import WeakKeyDictionary

import numpy as np
import pandas as pd

from nereval_core.analysis.errors.error_classes import STRICT, Codes
from nereval_core.conventions import LayerPair, find_convention, option_values
from nereval_core.conventions.faireval import match_paired
from nereval_core.conventions.faireval.figures import COUNTS
from nereval_core.conventions.faireval.matching import CLASSES, FairMatches, PairedSides
from nereval_core.conventions.records import OVERALL
from nereval_core.corpus.arrays import Bools
from nereval_core.records.match_records import Rows, rows
from nereval_core.records.queries import YES, Query
from nereval_core.scoring import Scores
from nereval_core.scoring.count_tables import TEXT_DTYPE, Columns
from nereval_core.tables import F1, PRECISION, RATIO_KEYS, RECALL, Column, RecordsOf, Row, Table, frame_table

FAIR_COLUMNS: Columns = {"class": TEXT_DTYPE, "records": "int64", "share": "float64"}
"""Columns of `FairErrors.classes` and their dtypes; `share` is that of all errors, NaN of TP."""
FAIR_RATIO_COLUMNS: Columns = {"evaluation": TEXT_DTYPE, **dict.fromkeys(RATIO_KEYS.values(), "float64")}
"""Columns of `FairErrors.ratios` and their dtypes."""
IN_WORDS = {
    "TP": "equal boundaries and type",
    "LE": "type only",
    "BES": "boundary only, smaller than gold",
    "BEL": "boundary only, larger than gold",
    "BEO": "boundary only, overlaps gold",
    "LBE": "type and boundary",
    "FN": "missed",
    "FP": "spurious",
}
FAIR = "fair"
"""The attribute of records that hold an error of FairEval; its class follows."""


@dataclass(frozen=True, eq=False)
class FairErrors:
    """The errors of one system as FairEval counts them: tables of FAIR_COLUMNS and FAIR_RATIO_COLUMNS.

    `records` are the numbers of strict records that hold the errors of each class, which are fewer where a record holds
    several. `figures` are those of each evaluation over all types, under the names of the program.
    """

    classes: pd.DataFrame
    ratios: pd.DataFrame
    records: Mapping[str, int]
    figures: Mapping[str, Mapping[str, float]]


@dataclass(frozen=True, eq=False)
class NamedErrors:
    """The rows of FairEval over the spans as scored under `strict`, right ones too, and what each is named by.

    `is_by_gold` tells which rows are named by their gold span, shape (rows,), the others by their prediction.
    """

    rows: FairMatches
    is_by_gold: Bools


_KEPT: WeakKeyDictionary[Scores, NamedErrors] = WeakKeyDictionary()


def name_errors(scores: Scores) -> NamedErrors:
    """Return the rows of FairEval and what they are named by, kept as long as the scores.

    Of the errors of one gold span, that with the prediction which it is aligned with under `strict` is named by it,
    else the first; the others are named by their predictions, as those without a gold span are.

    Raises:
        FormatError: spans that do not fit the tokens of their documents.
    """
    return _KEPT[scores] if scores in _KEPT else _keep(scores, PairedSides.of_layers(*scores.layers(STRICT)))


def _keep(scores: Scores, paired: PairedSides) -> NamedErrors:
    matches = paired.matches.by_span(*scores.layers(STRICT))
    partner = np.append(scores.partners(STRICT)[0], -1)
    order = np.lexsort((partner[matches.gold] != matches.pred, matches.gold))
    spans, places = np.unique(matches.gold[order], return_index=True)
    is_by_gold = np.zeros(len(matches.gold), bool)
    is_by_gold[order[places[spans >= 0]]] = True
    _KEPT[scores] = NamedErrors(matches, is_by_gold)
    return _KEPT[scores]


def fair_spans(scores: Scores, name: str) -> tuple[Codes, Codes]:
    """Return 0 for the gold spans and predictions that the errors of one of CLASSES are named by, -1 for others.

    Raises:
        FormatError: spans that do not fit the tokens of their documents.
    """
    named = name_errors(scores)
    is_class = named.rows.error == CLASSES.index(name)
    gold, pred = (np.full(len(layer), -1, np.int8) for layer in scores.layers(STRICT))
    gold[named.rows.gold[is_class & named.is_by_gold]] = 0
    pred[named.rows.pred[is_class & ~named.is_by_gold]] = 0
    return gold, pred


def hold_spans(table: Rows, gold: Codes, pred: Codes) -> Bools:
    """Tell which records hold a span of either side with a code that is not below 0."""
    sides = ((gold, table.gold), (pred, table.pred))
    in_gold, in_pred = (np.append(codes, np.int8(-1))[spans] >= 0 for codes, spans in sides)
    return np.asarray(in_gold | in_pred)


def fair_errors(scores: Scores) -> FairErrors:
    """Count the errors as FairEval does, with its default weights; a zero denominator gives 0, as there.

    Raises:
        FormatError: spans that do not fit the tokens of their documents.
    """
    convention = find_convention("faireval")
    options = option_values(convention, {})
    layers = LayerPair(*scores.layers(STRICT))
    paired = PairedSides.of_layers(layers.gold, layers.pred)
    _keep(scores, paired)
    outcome = convention.outcome(match_paired(layers, paired, options), options)
    table = outcome.figures[(outcome.figures["scope"] == OVERALL).to_numpy()]
    figures = {
        name: dict(zip(part["figure"].astype(str), part["value"], strict=True))
        for name in COUNTS
        for part in [table[(table["evaluation"] == name).to_numpy()]]
    }
    counts = {name: int(figures["fair"][name]) for name in CLASSES}
    errors = sum(counts.values()) - counts["TP"]
    classes = [
        (name, counts[name], counts[name] / errors if errors and name != "TP" else float("nan")) for name in CLASSES
    ]
    names = convention.ratios.names
    ratios = [(name, *(figures[name][names[ratio]] for ratio in RATIO_KEYS)) for name in COUNTS]
    strict_rows = rows(scores, STRICT)
    records = {name: int(hold_spans(strict_rows, *fair_spans(scores, name)).sum()) for name in CLASSES}
    return FairErrors(
        pd.DataFrame(classes, columns=list(FAIR_COLUMNS)).astype(dict(FAIR_COLUMNS)),
        pd.DataFrame(ratios, columns=list(FAIR_RATIO_COLUMNS)).astype(dict(FAIR_RATIO_COLUMNS)),
        MappingProxyType(records),
        MappingProxyType(figures),
    )


def fair_class_table(errors: FairErrors, system: str) -> Table:
    """Return the number of errors of each class; a count opens the records that hold them."""

    def records_of(row: Row) -> RecordsOf:
        name = str(row["class"])
        return RecordsOf(Query(having=((f"{FAIR} {name}", YES),)), f"{name}, {IN_WORDS[name]}", STRICT)

    columns = (
        Column("class", "FairEval class", "name"),
        Column("records", "number", "count", opens=records_of),
        Column("share", kind="share", meaning="of all errors", opens=records_of),
        Column("words", "which is", "text", opens=records_of),
    )
    frame = errors.classes.assign(words=errors.classes["class"].map(IN_WORDS))
    counts = zip(errors.classes["class"], errors.classes["records"], strict=True)
    fewer = [f"{count:,} {name} in {errors.records[name]:,}" for name, count in counts if count > errors.records[name]]
    notes = (f"a record can hold several errors: {', '.join(fewer)}",) if fewer else ()
    title = f"{system}: errors as FairEval counts them, each once"
    return frame_table(title, frame, columns, notes, name="fair-classes")


def fair_score_table(errors: FairErrors, system: str) -> Table:
    """Return precision, recall and F1 of each evaluation."""
    columns = (
        Column("evaluation", kind="name"),
        *(Column(ratio.key, ratio.heading, "ratio", ratio.term) for ratio in (PRECISION, RECALL, F1)),
    )
    return frame_table(f"{system}: scores of FairEval", errors.ratios, columns, name="fair-scores")
