"""The classes of FairEval, which count every error once, beside our own.

They differ from `error_classes` where spans nest: ours call a gold span that shares a character with the prediction of
a wrong pair merged (a prediction split), FairEval only where the other has tokens left that no error has used, and else
missed (spurious).
"""

from __future__ import annotations

from typing import NamedTuple

import pandas as pd

from nereval_core.analysis.errors.error_classes import STRICT
from nereval_core.conventions import find_convention, option_values
from nereval_core.conventions.faireval import COUNTS
from nereval_core.conventions.faireval.matching import CLASSES
from nereval_core.scoring import Scores
from nereval_core.scoring.count_tables import TEXT_DTYPE, Columns
from nereval_core.tables import F1, PRECISION, RATIO_KEYS, RECALL, SHARE, Column, Table, frame_table

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


class FairErrors(NamedTuple):
    """The errors of one system as FairEval counts them: tables of FAIR_COLUMNS and FAIR_RATIO_COLUMNS."""

    classes: pd.DataFrame
    ratios: pd.DataFrame


def fair_errors(scores: Scores) -> FairErrors:
    """Count the errors as FairEval does, with its default weights; a zero denominator gives 0, as there.

    Raises:
        FormatError: spans that do not fit the tokens of their documents.
    """
    convention = find_convention("faireval")
    figures = convention.of_layers(*scores.layers(STRICT), option_values(convention, {})).scores
    counts = figures["fair"]["overall"]
    errors = sum(counts[name] for name in CLASSES if name != "TP")
    classes = [
        (name, counts[name], counts[name] / errors if errors and name != "TP" else float("nan")) for name in CLASSES
    ]
    names = [convention.ratios.names[ratio] for ratio in RATIO_KEYS]
    ratios = [(name, *(figures[name]["overall"][ratio] for ratio in names)) for name in COUNTS]
    return FairErrors(
        pd.DataFrame(classes, columns=list(FAIR_COLUMNS)).astype(dict(FAIR_COLUMNS)),
        pd.DataFrame(ratios, columns=list(FAIR_RATIO_COLUMNS)).astype(dict(FAIR_RATIO_COLUMNS)),
    )


def fair_tables(errors: FairErrors, system: str) -> tuple[Table, Table]:
    """Return the table of classes, and that of precision, recall and F1."""
    columns = (
        Column("class", "FairEval class", "name"),
        Column("words", "which is", "text"),
        Column("records", kind="count"),
        SHARE,
    )
    frame = errors.classes.assign(words=errors.classes["class"].map(IN_WORDS))
    ratios = (
        Column("evaluation", kind="name"),
        *(Column(ratio.key, ratio.heading, "ratio", ratio.term) for ratio in (PRECISION, RECALL, F1)),
    )
    return (
        frame_table(f"{system}: errors as FairEval counts them, each once", frame, columns, name="fair-classes"),
        frame_table(f"{system}: scores of FairEval", errors.ratios, ratios, name="fair-scores"),
    )
