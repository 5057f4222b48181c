"""Agreement of annotators, of each pair and of all together, as tables and JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from nereval_core.analysis.agreement import PAIRWISE, Agreement
from nereval_core.analysis.agreement.coefficients import FIGURES, Group
from nereval_core.analysis.agreement.human_ceiling import ceiling_sentences
from nereval_core.analysis.agreement.summary import (
    agreement_sentences,
    agreement_signature,
    identity_warnings,
    interval_warnings,
    pair_reasons,
)
from nereval_core.analysis.agreement.tables import (
    agreement_document_table,
    agreement_type_table,
    ceiling_table,
    figure_table,
    pair_table,
)
from nereval_core.cli.output import Result, methods_file
from nereval_core.options import INTERVAL_METHOD
from nereval_core.report.json_results import side, versions
from nereval_core.scoring.count_tables import TEXT_DTYPE
from nereval_core.tables import Table, frame_table, objects


def agreement_result(agreement: Agreement, *, by: Sequence[str], marks: Sequence[str]) -> Result:
    """Return the agreement in every form; `marks` are the parts of the signature about reading."""
    return Result(
        tables=lambda: agreement_tables(agreement, by=by, marks=marks),
        long=lambda: long_table(agreement, by=by, marks=marks),
        json=lambda: _json_object(agreement, by, marks),
        files=methods_file(agreement, marks=marks),
    )


def agreement_tables(agreement: Agreement, *, by: Sequence[str] = (), marks: Sequence[str] = ()) -> Iterator[Table]:
    """Yield the tables: all annotators together, each pair, and with `by` by type and by document."""
    names = [criterion.name for criterion in agreement.settings.criteria]
    group = agreement.everyone
    notes = (
        *agreement_sentences(agreement, names[0]),
        *identity_warnings(agreement),
        *interval_warnings(agreement),
    )
    tables = [figure_table(agreement, group, names, notes)]
    if group is None:
        notes = tuple(line for figure in FIGURES for line in pair_reasons(agreement, figure, names))
        tables.append(pair_table(agreement, names, notes))
    if "type" in by:
        tables += [agreement_type_table(agreement, group, name) for name in names]
    if "document" in by:
        groups = agreement.pairs if agreement.parts else (group,)
        tables += [agreement_document_table(agreement, of_pair, name) for of_pair in groups for name in names]
    if agreement.ceiling:
        notes = tuple(line for name in names for line in ceiling_sentences(agreement.ceiling, name, agreement.plan))
        tables.append(ceiling_table(agreement.ceiling, agreement.plan, notes))
    resampled, plan = agreement.resampled, agreement.plan
    notes = (
        f"intervals: {INTERVAL_METHOD} over {resampled.plural}, {plan.resamples} resamples, seed {plan.seed}",
        agreement_signature(agreement, marks),
    )
    yield from tables[:-1]
    yield replace(tables[-1], notes=(*tables[-1].notes, *notes))


def long_table(agreement: Agreement, *, by: Sequence[str] = (), marks: Sequence[str] = ()) -> Table:
    """Return a row for each figure, type and group of annotators, and with `by` for each document, with the signature.

    `one` and `other` are empty for all annotators together; rows of a document have no interval. With systems there are
    rows of the figure `ceiling`, the difference of the system `one` to annotators with one another, and its p values.
    """
    signed = agreement_signature(agreement, marks)
    parts = [agreement.table.assign(document=pd.Series(None, agreement.table.index, TEXT_DTYPE))]
    if "document" in by:
        parts += [
            _long(agreement, group, criterion.name)
            for group in _groups(agreement)
            for criterion in agreement.settings.criteria
        ]
    if agreement.ceiling:
        names = {"system": "one", "difference": "value"}
        rows = agreement.ceiling.table.rename(columns=names).drop(columns=["f1", "annotators_f1", "tests"])
        parts.append(rows.assign(figure="ceiling"))
    table = pd.concat(parts, ignore_index=True).assign(signature=signed)
    table = table.drop_duplicates(["figure", "criterion", "type", "one", "other", "document"])
    for name in ("undefined", "n", "documents"):
        table[name] = table[name].astype("Int64")
    columns = ["figure", "criterion", "type", "document", "one", "other"]
    return frame_table("agreement", table[[*columns, *(name for name in table.columns if name not in columns)]])


def _groups(agreement: Agreement) -> tuple[Group, ...]:
    """Return all annotators, if more than two, and each pair, both ways where a criterion is not symmetric."""
    return (*(() if agreement.everyone else (None,)), *agreement.scores)


def _long(agreement: Agreement, group: Group, name: str) -> pd.DataFrame:
    """Return the figures by document as rows of the long table."""
    wide = agreement.by_document(group, criterion=name)
    table = wide.melt(
        ["document", "spans", "tokens", "why"], ["f1", "observed", "kappa", "alpha", "unitizing"], "figure", "value"
    )
    table["criterion"] = table["figure"].map({"f1": name})
    table["n"] = table["tokens"].where(table["figure"].isin(["observed", "kappa", "alpha"]), table["spans"])
    table["why"] = table["why"].where(table["value"].isna(), "")
    for place, column in enumerate(("one", "other")):
        table[column] = None if group is None else agreement.annotators[group[place]]
    return table.drop(columns=["spans", "tokens"])


def _json_object(agreement: Agreement, by: Sequence[str], marks: Sequence[str]) -> dict[str, Any]:
    result: dict[str, Any] = {
        **versions(),
        **_annotators(agreement),
        "criteria": [criterion.name for criterion in agreement.settings.criteria],
        "resamples": agreement.plan.resamples,
        "seed": agreement.plan.seed,
        "level": agreement.plan.level,
        "resampled_by": agreement.resampled.by,
        "agreement": objects(agreement.table),
        "words": list(agreement_sentences(agreement, agreement.settings.criteria[0].name)),
        "warnings": [*identity_warnings(agreement), *interval_warnings(agreement)],
        "signature": agreement_signature(agreement, marks),
    }
    if agreement.ceiling:
        result["systems"] = _systems(agreement)
        result["ceiling"] = objects(agreement.ceiling.table)
        result["ceiling_words"] = [
            line
            for criterion in agreement.settings.criteria
            for line in ceiling_sentences(agreement.ceiling, criterion.name, agreement.plan)
        ]
    if "document" in by:
        result["by_document"] = [
            {
                "one": None if group is None else agreement.annotators[group[0]],
                "other": None if group is None else agreement.annotators[group[1]],
                "criterion": criterion.name,
                "documents": objects(agreement.by_document(group, criterion=criterion.name)),
            }
            for group in _groups(agreement)
            for criterion in agreement.settings.criteria
        ]
    return result


def _systems(agreement: Agreement) -> list[dict[str, Any]]:
    """Return the systems' layers; those compared on documents of their own with each annotator name the annotator."""
    assert agreement.ceiling is not None
    rows = []
    for name, layers in agreement.ceiling.layers.items():
        if agreement.parts:
            rows += [{**side(layer.renamed(name)), "annotator": annotator} for annotator, layer in layers.items()]
        else:
            rows += [side(layer.renamed(name)) for layer in list(layers.values())[:1]]
    return rows


def _annotators(agreement: Agreement) -> dict[str, Any]:
    """Return the documents and annotators compared: those of each pair, if each pair has its own documents."""
    if not agreement.parts:
        return {
            "documents": len(agreement.layers[0].documents),
            "annotators": [side(layer) for layer in agreement.layers],
        }
    pairs = [
        {"documents": len(part.layers[0].documents), "annotators": [side(layer) for layer in part.layers]}
        for part in agreement.parts.values()
    ]
    return {"documents": PAIRWISE, "annotators": [{"name": name} for name in agreement.annotators], "pairs": pairs}
