"""Surface forms of errors: the most frequent ones of each class, each with an example in its text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from nereval_core.analysis.errors.error_classes import CLASSES, STRICT
from nereval_core.problems import FormatError
from nereval_core.report.excerpts import record_text
from nereval_core.scoring import Scores

FORM_COLUMNS: Mapping[str, str] = {
    "class": "str",
    "form": "str",
    "predicted_form": "str",
    "gold_type": "str",
    "pred_type": "str",
    "records": "int64",
    "document": "str",
    "record": "str",
    "example": "str",
}
"""Columns of `error_forms` and their dtypes. `form` is the text of the gold span, or of a prediction without one;
`predicted_form` that of the prediction of a pair, where it is another. White space in them is one blank. `document`
and `record` name the first record of the form, `example` is its text with the form in brackets; NA: nowhere in it."""
FORM_KEY = ("class", "form", "predicted_form", "gold_type", "pred_type")


def form_keys(records: pd.DataFrame) -> pd.DataFrame:
    """Return FORM_KEY of each record; `records` has the columns of `ErrorReport.records`."""
    gold, pred = (
        records[f"{side}_text"].map(lambda text: " ".join(text.split()), na_action="ignore")
        for side in ("gold", "pred")
    )
    both = gold.notna() & pred.notna() & (gold != pred)
    texts = {"form": gold.where(gold.notna(), pred), "predicted_form": pred.where(both)}
    columns = {name: records[name] for name in ("class", "gold_type", "pred_type")}
    return pd.DataFrame({**columns, **texts}, columns=list(FORM_KEY)).astype("str")


def error_forms(scores: Scores, records: pd.DataFrame, limit: int) -> pd.DataFrame:
    """Return the `limit` most frequent forms of each class, the largest classes first: FORM_COLUMNS.

    Equal numbers of records are in the order of their first records. `records` are those of `ErrorReport.records`.

    Raises:
        FormatError: spans without texts.
    """
    if scores.gold.documents.sizes is not None:
        raise FormatError.single("forms", None, "spans without texts have no forms", "give the texts with them")
    keys = form_keys(records)
    keys["place"] = range(len(keys))
    groups = keys.groupby(list(FORM_KEY), sort=False, dropna=False, as_index=False)
    table = groups.agg(records=("place", "size"), place=("place", "first"))
    sizes = records["class"].value_counts()
    table["size"] = [int(sizes[name]) for name in table["class"]]
    table["rank"] = [CLASSES.index(name) for name in table["class"]]
    order = ["size", "rank", "records", "place"]
    table = table.sort_values(order, ascending=[False, True, False, True], kind="stable")
    table = table.groupby("class", sort=False).head(limit).reset_index(drop=True)
    firsts = records.iloc[table["place"]]
    columns: dict[str, Any] = {name: firsts[name].to_numpy() for name in ("document", "record")}
    columns["example"] = [record_text(scores, STRICT, record) or None for _, record in firsts.iterrows()]
    return table.assign(**columns)[list(FORM_COLUMNS)].astype(dict(FORM_COLUMNS))
