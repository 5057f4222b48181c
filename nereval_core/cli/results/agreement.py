"""Agreement of annotators, of each pair and of all together, as tables and JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from nereval_core.analysis.agreement import PAIRWISE, Agreement
from nereval_core.analysis.agreement.coefficients import FIGURES, Group
from nereval_core.analysis.agreement.human_ceiling import CEILING_TEST, ceiling_sentences, ceiling_table
from nereval_core.analysis.agreement.summary import (
    agreement_sentences,
    agreement_signature,
    documents_table,
    figures_table,
    identity_warnings,
    interval_warnings,
    pair_reasons,
    pairs_table,
    types_table,
    undefined_reasons,
)
from nereval_core.cli.output import Result, methods_file
from nereval_core.problems import counted
from nereval_core.report.json_results import side, versions
from nereval_core.scoring.count_tables import TEXT_DTYPE
from nereval_core.tables import Table, frame_table, objects


def agreement_result(found: Agreement, *, by: Sequence[str], marks: Sequence[str]) -> Result:
    """Return the agreement in every form; `marks` are the parts of the signature about reading."""
    return Result(
        tables=lambda: agreement_tables(found, by=by, marks=marks),
        long=lambda: long_table(found, by=by, marks=marks),
        json=lambda: _json_object(found, by, marks),
        files=methods_file(found, marks=marks),
    )


def agreement_tables(found: Agreement, *, by: Sequence[str] = (), marks: Sequence[str] = ()) -> Iterator[Table]:
    """Yield the tables: all annotators together, each pair, and with `by` by type and by document."""
    names = [criterion.name for criterion in found.settings.criteria]
    group, tables = found.everyone, []
    who = " and ".join(found.annotators) if group else counted(len(found.annotators), "annotator")
    notes = (*agreement_sentences(found, names[0]), *identity_warnings(found), *interval_warnings(found))
    tables.append(frame_table(f"Agreement of {who}", figures_table(found, group, names), notes=notes))
    if group is None:
        notes = tuple(line for figure in FIGURES for line in pair_reasons(found, figure, names))
        tables.append(frame_table("Agreement of each pair", pairs_table(found, names), notes=notes))
    if "type" in by:
        for name in names:
            notes = undefined_reasons(found, group, name)
            tables += [frame_table(f"By type, F1 under {name}", types_table(found, group, name), notes=notes)]
    if "document" in by:
        for which in found.pairs if found.parts else (group,):
            who = f" of {' and '.join(found.annotators[number] for number in which)}" if found.parts and which else ""
            tables += [
                frame_table(f"By document{who}, F1 under {name}", documents_table(found, which, name)) for name in names
            ]
    if found.ceiling:
        notes = tuple(line for name in names for line in ceiling_sentences(found.ceiling, name, found.plan))
        table = ceiling_table(found.ceiling, found.plan)
        tables.append(frame_table("Systems against the human ceiling", table, notes=(*notes, CEILING_TEST)))
    notes = (
        f"intervals: bias-corrected bootstrap over {found.resampled.plural}, {found.plan.resamples} resamples, seed "
        f"{found.plan.seed}",
        agreement_signature(found, marks),
    )
    tables[-1] = replace(tables[-1], notes=(*tables[-1].notes, *notes))
    yield from tables


def long_table(found: Agreement, *, by: Sequence[str] = (), marks: Sequence[str] = ()) -> Table:
    """Return a row for each figure, type and group of annotators, and with `by` for each document, with the signature.

    `one` and `other` are empty for all annotators together; rows of a document have no interval. With systems there are
    rows of the figure `ceiling`, the difference of the system `one` to annotators with one another, and its p values.
    """
    signed = agreement_signature(found, marks)
    parts = [found.table.assign(document=pd.Series(None, found.table.index, TEXT_DTYPE))]
    if "document" in by:
        parts += [
            _long(found, group, criterion.name) for group in _groups(found) for criterion in found.settings.criteria
        ]
    if found.ceiling:
        names = {"system": "one", "difference": "value"}
        rows = found.ceiling.table.rename(columns=names).drop(columns=["f1", "annotators_f1", "tests"])
        parts.append(rows.assign(figure="ceiling"))
    table = pd.concat(parts, ignore_index=True).assign(signature=signed)
    table = table.drop_duplicates(["figure", "criterion", "type", "one", "other", "document"])
    for name in ("undefined", "n", "documents"):
        table[name] = table[name].astype("Int64")
    columns = ["figure", "criterion", "type", "document", "one", "other"]
    return frame_table("agreement", table[[*columns, *(name for name in table.columns if name not in columns)]])


def _groups(found: Agreement) -> tuple[Group, ...]:
    """Return all annotators, if more than two, and each pair, both ways where a criterion is not symmetric."""
    return (*(() if found.everyone else (None,)), *found.scores)


def _long(found: Agreement, group: Group, name: str) -> pd.DataFrame:
    """Return the figures by document as rows of the long table."""
    wide = found.by_document(group, criterion=name)
    table = wide.melt(
        ["document", "spans", "tokens", "why"], ["f1", "observed", "kappa", "alpha", "unitizing"], "figure", "value"
    )
    table["criterion"] = table["figure"].map({"f1": name})
    table["n"] = table["tokens"].where(table["figure"].isin(["observed", "kappa", "alpha"]), table["spans"])
    table["why"] = table["why"].where(table["value"].isna(), "")
    for place, column in enumerate(("one", "other")):
        table[column] = None if group is None else found.annotators[group[place]]
    return table.drop(columns=["spans", "tokens"])


def _json_object(found: Agreement, by: Sequence[str], marks: Sequence[str]) -> dict[str, Any]:
    made: dict[str, Any] = {
        **versions(),
        **_annotators(found),
        "criteria": [criterion.name for criterion in found.settings.criteria],
        "resamples": found.plan.resamples,
        "seed": found.plan.seed,
        "level": found.plan.level,
        "resampled_by": found.resampled.by,
        "agreement": objects(found.table),
        "words": list(agreement_sentences(found, found.settings.criteria[0].name)),
        "warnings": [*identity_warnings(found), *interval_warnings(found)],
        "signature": agreement_signature(found, marks),
    }
    if found.ceiling:
        made["systems"] = _systems(found)
        made["ceiling"] = objects(found.ceiling.table)
        made["ceiling_words"] = [
            line
            for criterion in found.settings.criteria
            for line in ceiling_sentences(found.ceiling, criterion.name, found.plan)
        ]
    if "document" in by:
        made["by_document"] = [
            {
                "one": None if group is None else found.annotators[group[0]],
                "other": None if group is None else found.annotators[group[1]],
                "criterion": criterion.name,
                "documents": objects(found.by_document(group, criterion=criterion.name)),
            }
            for group in _groups(found)
            for criterion in found.settings.criteria
        ]
    return made


def _systems(found: Agreement) -> list[dict[str, Any]]:
    """Return the systems' layers; those compared on documents of their own with each annotator name the annotator."""
    assert found.ceiling is not None
    rows = []
    for name, mine in found.ceiling.layers.items():
        if found.parts:
            rows += [{**side(layer.renamed(name)), "annotator": annotator} for annotator, layer in mine.items()]
        else:
            rows += [side(layer.renamed(name)) for layer in list(mine.values())[:1]]
    return rows


def _annotators(found: Agreement) -> dict[str, Any]:
    """Return the documents and annotators compared: those of each pair, if each pair has its own documents."""
    if not found.parts:
        return {"documents": len(found.layers[0].documents), "annotators": [side(layer) for layer in found.layers]}
    pairs = [
        {"documents": len(part.layers[0].documents), "annotators": [side(layer) for layer in part.layers]}
        for part in found.parts.values()
    ]
    return {"documents": PAIRWISE, "annotators": [{"name": name} for name in found.annotators], "pairs": pairs}
