"""Tables, sentences and the signature of an agreement."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from nereval_core import __version__
from nereval_core.analysis.agreement import Agreement
from nereval_core.analysis.agreement.coefficients import FIGURES, Group, Pair, is_symmetric
from nereval_core.analysis.agreement.gamma import GAMMA
from nereval_core.analysis.bootstrap import FEW_UNITS
from nereval_core.analysis.intervals import lacks_interval
from nereval_core.corpus.tokens import tokens_in_words
from nereval_core.pairing.notices import IDENTICAL, is_identical
from nereval_core.pairing.type_names import merged_in_words
from nereval_core.scoring.criteria import CRITERIA, Criterion, same_rule
from nereval_core.tables import UNDEFINED, value_with_interval

LABELS: Mapping[str, str] = {
    "f1": "F1",
    "observed": "observed agreement",
    "kappa": "Cohen's kappa",
    "alpha": "Krippendorff's alpha",
    "unitizing": "unitizing alpha (2004)",
    GAMMA: "gamma",
}
COUNTED_UNITS: Mapping[str, str] = {
    "f1": "spans",
    "observed": "tokens",
    "kappa": "tokens",
    "alpha": "tokens",
    "unitizing": "units",
    GAMMA: "units",
}
"""The things that n counts."""


def figure_label(figure: str, group: Group) -> str:
    """Return the name of a figure; for more than two annotators kappa is Fleiss', F1 and agreement are means."""
    if group is not None:
        return LABELS[figure]
    labels = {"kappa": "Fleiss' kappa", "f1": "mean F1", "observed": "mean observed agreement"}
    return labels.get(figure, LABELS[figure])


def figure_cell(row: Mapping[Hashable, Any]) -> str:
    """Return the value of a row of AGREEMENT_COLUMNS with its interval as text."""
    return value_with_interval(row["value"], row["low"], row["high"])


def figures_table(agreement: Agreement, group: Group, criteria: Sequence[str]) -> pd.DataFrame:
    """Return a row for each figure of all types together: `figure`, `value`, `low`, `high`, `over` and `note`."""
    rows = []
    for number, name in enumerate(criteria):
        table = agreement.rows(group, criterion=name)
        table = table[table["type"].isna()]
        for row in table.to_dict("records"):
            if row["figure"] != "f1" and number:
                continue
            label = figure_label(row["figure"], group) + (f", {name}" if row["figure"] == "f1" else "")
            unit = agreement.criterion(name).unit if row["figure"] == "f1" else ""
            over = f"{row['n']:,} {'typed tokens' if unit == 'token' else COUNTED_UNITS[row['figure']]}"
            rows.append((label, row["value"], row["low"], row["high"], over, _row_note(row, agreement)))
    # F1 under every criterion comes first.
    rows.sort(key=lambda row: not row[0].endswith(tuple(f", {name}" for name in criteria)))
    return pd.DataFrame(rows, columns=["figure", "value", "low", "high", "over", "note"])


def _row_note(row: Mapping[Hashable, Any], agreement: Agreement) -> str:
    away = f"undefined in {row['undefined']:,} of {agreement.plan.resamples:,} resamples, left out"
    parts = [str(row["why"]), away if row["undefined"] and not pd.isna(row["value"]) else ""]
    return "; ".join(filter(None, parts))


def types_table(agreement: Agreement, group: Group, criterion: str) -> pd.DataFrame:
    """Return a row for each type: `type`, `spans`, and each figure with its interval as text."""
    table = agreement.rows(group, criterion=criterion)
    table = table[table["type"].notna()]
    rows = []
    for kind, here in table.groupby("type", sort=True):
        by_figure = {str(row["figure"]): row for row in here.to_dict("records")}
        # A criterion may count tokens or merge types, so that n of F1 is not always the number of spans.
        spans = by_figure["unitizing" if "unitizing" in by_figure else "f1"]["n"]
        rows.append((str(kind), int(spans), *(_cell_of(by_figure, figure) for figure in FIGURES)))
    return pd.DataFrame(rows, columns=["type", "spans", *(figure_label(figure, group) for figure in FIGURES)])


def _cell_of(rows: Mapping[str, Mapping[Hashable, Any]], figure: str) -> str:
    return figure_cell(rows[figure]) if figure in rows else UNDEFINED


def pairs_table(agreement: Agreement, criteria: Sequence[str]) -> pd.DataFrame:
    """Return a row for each pair: `one`, `other`, F1 under each criterion, and the other figures, as text.

    Where a criterion is not symmetric, both orders have a row, with `one` as gold. Where each pair was compared on
    documents of its own, `documents` is their number.
    """
    lopsided = any(not is_symmetric(agreement.criterion(name)) for name in criteria)
    pairs = (
        [*agreement.pairs, *((second, first) for first, second in agreement.pairs)]
        if lopsided
        else list(agreement.pairs)
    )
    number = ["documents"] if agreement.parts else []
    figures = (*FIGURES[1:], *((GAMMA,) if agreement.table["figure"].eq(GAMMA).any() else ()))
    heads = [
        "one",
        "other",
        *number,
        *(f"F1, {name}" for name in criteria),
        *(LABELS[figure] for figure in figures),
    ]
    rows = []
    for pair in sorted(pairs):
        cells = [str(shared_documents(agreement, pair))] if agreement.parts else []
        for name in criteria:
            table = agreement.rows(pair, criterion=name)
            by_figure = {str(row["figure"]): row for row in table[table["type"].isna()].to_dict("records")}
            cells.append(_cell_of(by_figure, "f1"))
        rows.append(
            (
                *(agreement.annotators[number] for number in pair),
                *cells,
                *(_cell_of(by_figure, figure) for figure in figures),
            )
        )
    return pd.DataFrame(rows, columns=heads)


def shared_documents(agreement: Agreement, pair: Pair) -> int:
    """Return the number of documents that two annotators were compared on."""
    part = agreement.parts.get((min(pair), max(pair)))
    layers = part.layers if part else agreement.layers
    return len(layers[0].documents) if layers else 0


def pair_matrix(agreement: Agreement, figure: str, criterion: str) -> pd.DataFrame:
    """Return a figure of each pair of annotators, NaN on the diagonal; the row's annotator is gold if that matters."""
    names = list(agreement.annotators)
    rows = agreement.table[
        agreement.table["one"].notna() & agreement.table["type"].isna() & agreement.table["figure"].eq(figure)
    ]
    both_ways = True
    if figure == "f1":
        rows, both_ways = rows[rows["criterion"].eq(criterion)], is_symmetric(agreement.criterion(criterion))
    values = np.full((len(names), len(names)), np.nan)
    for first, second, value in zip(rows["one"], rows["other"], rows["value"], strict=True):
        at = names.index(first), names.index(second)
        values[at] = value
        if both_ways:
            values[at[::-1]] = value
    return pd.DataFrame(values, index=names, columns=names)


def documents_table(agreement: Agreement, group: Group, criterion: str) -> pd.DataFrame:
    """Return `Agreement.by_document` with columns named for the reader."""
    table = agreement.by_document(group, criterion=criterion)
    names = {figure: figure_label(figure, group) for figure in FIGURES}
    return table.rename(columns=names | {"why": "note"})


def undefined_reasons(agreement: Agreement, group: Group, criterion: str) -> tuple[str, ...]:
    """Return the reasons why figures of types are undefined, each with these figures; F1 is under a criterion."""
    table = agreement.rows(group, criterion=criterion)
    table = table[table["type"].notna() & table["why"].ne("")]
    labels = [figure_label(figure, group) for figure in table["figure"]]
    return _group_by_reason(
        table["why"], [f"{label} of {kind}" for label, kind in zip(labels, table["type"], strict=True)]
    )


def pair_reasons(agreement: Agreement, figure: str, criteria: Sequence[str]) -> tuple[str, ...]:
    """Return the reasons why a figure of pairs is undefined, each with these pairs; F1 is under some criteria."""
    table = agreement.table
    table = table[table["type"].isna() & table["one"].notna() & table["figure"].eq(figure) & table["why"].ne("")]
    if figure == "f1":
        table = table[table["criterion"].isin(criteria)]
    names = table["criterion"].fillna("").map(lambda name: f" under {name}" if len(criteria) > 1 and name else "")
    pairs = zip(table["one"], table["other"], names, strict=True)
    return _group_by_reason(
        table["why"], [f"{LABELS[figure]}{name} of {first} and {second}" for first, second, name in pairs]
    )


def _group_by_reason(why: Iterable[str], what: Iterable[str]) -> tuple[str, ...]:
    subjects_of: dict[str, list[str]] = {}
    for reason, subject in zip(why, what, strict=True):
        subjects_of.setdefault(str(reason), []).append(subject)
    return tuple(f"{', '.join(subjects)}: {reason}" for reason, subjects in subjects_of.items())


def agreement_sentences(agreement: Agreement, criterion: str) -> tuple[str, ...]:
    """Return sentences: F1 and kappa of all annotators, the closest and farthest pairs, and the types by F1."""
    group = agreement.everyone
    table = agreement.rows(group, criterion=criterion)
    whole = {str(row["figure"]): row for row in table[table["type"].isna()].to_dict("records")}
    if "f1" not in whole or pd.isna(whole["f1"]["value"]):
        why = whole["f1"]["why"] if "f1" in whole else "no pair has what it needs"
        return (f"F1 under {criterion} is undefined: {why}",)
    who = "the annotators" if group is None else " and ".join(agreement.annotators)
    f1, kappa = whole["f1"], whole["kappa"]
    level = (
        f1["why"]
        if lacks_interval(f1["value"], f1["low"])
        else f"{agreement.plan.level:.0%} interval {_interval_ends(f1)}"
    )
    token = f"is {kappa['value']:.3f} ({_interval_ends(kappa)})"
    if pd.isna(kappa["value"]):
        token = f"is undefined: {kappa['why']}"
    lines = [
        f"{who} agree with {figure_label('f1', group)} {f1['value']:.3f} under {criterion} ({level}); "
        f"{figure_label('kappa', group)} on tokens {token}"
    ]
    lines += _pairs_in_words(agreement, criterion)
    kinds = table[table["type"].notna() & table["figure"].eq("f1") & table["value"].notna()].sort_values("value")
    if len(kinds) > 1 and kinds["value"].iloc[0] < kinds["value"].iloc[-1]:
        least, most = (f"{row['type']} ({row['value']:.3f})" for row in (kinds.iloc[0], kinds.iloc[-1]))
        lines.append(f"by F1 they agree most on {most} and least on {least}")
    return tuple(lines)


def identity_warnings(agreement: Agreement) -> tuple[str, ...]:
    """Return a warning about each two annotators of identical content."""
    parts = agreement.parts or {(0, 1): agreement}
    return tuple(
        f"{name} and {other}: identical {IDENTICAL}"
        for part in parts.values()
        for (name, layer), (other, second) in combinations(zip(part.annotators, part.layers, strict=True), 2)
        if is_identical(layer, second)
    )


def interval_warnings(agreement: Agreement) -> tuple[str, ...]:
    """Return warnings about the intervals: too few units, or units that may be dependent."""
    if agreement.parts:
        each = ((pair, line) for pair, part in agreement.parts.items() for line in interval_warnings(part))
        return _group_by_line(agreement, each)
    units = agreement.resampled
    few = f"{units.in_words(units.count)} are few: intervals over {units.plural} are rough and too narrow"
    return (*((few,) if 1 < units.count < FEW_UNITS else ()), *units.notes)


def _group_by_line(agreement: Agreement, lines: Iterable[tuple[Pair, str]]) -> tuple[str, ...]:
    """Return each distinct line after the names of the pairs that it is about."""
    pairs_of_line: dict[str, list[str]] = {}
    for pair, line in lines:
        pairs_of_line.setdefault(line, []).append(" and ".join(agreement.annotators[number] for number in pair))
    return tuple(f"{', '.join(pairs)}: {line}" for line, pairs in pairs_of_line.items())


def _interval_ends(row: Mapping[Hashable, Any]) -> str:
    return UNDEFINED if pd.isna(row["low"]) else f"{row['low']:.3f} to {row['high']:.3f}"


def _pairs_in_words(agreement: Agreement, criterion: str) -> Iterable[str]:
    if len(agreement.annotators) < 3:
        return
    table = agreement.table
    pairs = table[
        table["one"].notna() & table["type"].isna() & table["criterion"].eq(criterion) & table["value"].notna()
    ]
    if len(pairs) > 1 and pairs["value"].min() < pairs["value"].max():
        ordered = pairs.sort_values("value")
        most, least = (" and ".join(ordered.iloc[place][["one", "other"]]) for place in (-1, 0))
        values = ordered["value"]
        yield f"by F1 {most} are closest ({values.iloc[-1]:.3f}), {least} farthest apart ({values.iloc[0]:.3f})"


def agreement_signature(agreement: Agreement, marks: Sequence[str] = ()) -> str:
    """Return the line that reproduces the figures."""
    settings = agreement.settings
    parts = [
        f"nereval {__version__}",
        f"criterion {','.join(map(_criterion_in_signature, settings.criteria))}",
        f"types merged: {merged_in_words(dict(settings.merge))}",
        f"left out: {','.join(settings.leave_out) or 'none'}",
        f"counting {settings.counting}",
        *(_inputs_by_pair(agreement) if agreement.parts else _inputs(agreement)),
        agreement.resampled.signature(agreement.plan),
        *marks,
    ]
    return " | ".join(part.replace("\n", " ").replace("\r", " ") for part in parts)


def _inputs(agreement: Agreement) -> Iterable[str]:
    documents = agreement.layers[0].documents
    if not isinstance(agreement.tokens, str):
        yield tokens_in_words(documents)
    for name, layer in zip(agreement.annotators, agreement.layers, strict=True):
        yield f"annotator {name} sha256:{layer.digest[:16]}"
    for name, mine in (agreement.ceiling.layers if agreement.ceiling else {}).items():
        yield f"system {name} sha256:{', '.join(dict.fromkeys(layer.digest[:16] for layer in mine.values()))}"
    yield f"documents {len(documents)}"


def _inputs_by_pair(agreement: Agreement) -> Iterable[str]:
    yield "documents pairwise"
    for part in agreement.parts.values():
        inputs = " and ".join(
            f"{name} sha256:{layer.digest[:16]}" for name, layer in zip(part.annotators, part.layers, strict=True)
        )
        tokens = "" if isinstance(part.tokens, str) else f", {tokens_in_words(part.layers[0].documents)}"
        yield f"{inputs} on documents {len(part.layers[0].documents)}{tokens}"
    for name, mine in (agreement.ceiling.layers if agreement.ceiling else {}).items():
        each = (
            f"{annotator} sha256:{layer.digest[:16]} on documents {len(layer.documents)}"
            for annotator, layer in mine.items()
        )
        yield f"system {name} with {', with '.join(each)}"


def _criterion_in_signature(criterion: Criterion) -> str:
    """Return a criterion for a signature: one of a user's own with its rule, and the types it merges and leaves out."""
    if criterion.name in CRITERIA and same_rule(criterion, CRITERIA[criterion.name]):
        return criterion.name
    merged = f"; types merged: {merged_in_words(dict(criterion.merge))}" if criterion.merge else ""
    left_out = f"; left out: {','.join(criterion.leave_out)}" if criterion.leave_out else ""
    return f"{criterion.name} ({criterion.rule()}{merged}{left_out})"
