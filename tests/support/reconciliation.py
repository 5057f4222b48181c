"""Checks that every published scorer must pass: counts are sums of records, records show texts of the documents."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import pandas as pd

from nereval_core.conventions import Outcome, ScorerInput, find_convention, option_values


def reconcile(outcome: Outcome) -> pd.DataFrame:
    """Assert that each counted figure is the sum of the column of its name over records of its scope; return all."""
    records = outcome.records()
    counted = outcome.figures[outcome.figures["counted"]]
    assert len(counted)
    sums = records.groupby(["evaluation", "scope"], observed=True)[sorted(set(counted["figure"]))].sum()
    sum_of = {
        (*place, figure): value
        for figure in sums.columns
        for place, value in zip(sums.index, sums[figure], strict=True)
    }
    for row in counted.itertuples():
        # Without records there is nothing to count.
        assert sum_of.get((row.evaluation, row.scope, row.figure), 0) == row.value, row
    return records


def check_texts(outcome: Outcome) -> None:
    """Assert that records without fragments show the text at their offsets in their document."""
    texts = dict(zip(outcome.documents.ids, outcome.documents.texts, strict=True))
    for evaluation in outcome.evaluations:
        records = outcome.records(evaluation)
        assert set(records["document"]) <= set(texts)
        for side in ("gold", "pred"):
            columns = ["document", f"{side}_start", f"{side}_end", f"{side}_text"]
            for document, start, end, text in records.loc[records[columns[1]].notna(), columns].itertuples(index=False):
                assert texts[document][start:end] == text


def overall_rows(records: pd.DataFrame, *columns: str) -> list[tuple[Any, ...]]:
    """Return some columns of the records of all types together, None for what is missing."""
    rows = records.loc[records["scope"] == "overall", list(columns)].astype("object").to_numpy()
    return [tuple(None if value != value else value for value in row) for row in rows]


def by_layers_and_files(
    name: str,
    given: ScorerInput,
    options: Mapping[str, Any] = MappingProxyType({}),
    of_files: Mapping[str, Any] | None = None,
) -> tuple[Outcome, Outcome]:
    """Return the outcomes of a convention for two files, read as layers and as the scorer reads them.

    `of_files` are the options for the latter where they are others.
    """
    convention = find_convention(name)
    layers = convention.of_layers(*given.read()[:2], option_values(convention, options))
    return layers, convention.score(given, option_values(convention, options if of_files is None else of_files))
