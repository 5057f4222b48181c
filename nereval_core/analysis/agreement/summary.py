"""Tables, sentences and the signature of an agreement."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any

import pandas as pd

from nereval_core import __version__
from nereval_core.analysis.agreement import Agreement
from nereval_core.analysis.agreement.coefficients import Group
from nereval_core.analysis.agreement.gamma import GAMMA
from nereval_core.analysis.bootstrap import FEW_UNITS
from nereval_core.analysis.intervals import lacks_interval
from nereval_core.analysis.sentences import interval_in_words
from nereval_core.corpus import Layer
from nereval_core.corpus.tokens import tokens_in_words
from nereval_core.pairing import IDENTICAL, is_identical
from nereval_core.pairing.type_names import merged_in_words
from nereval_core.scoring.criteria import CRITERIA, Criterion, same_rule
from nereval_core.tables import UNDEFINED

LABELS: Mapping[str, str] = {
    "f1": "F1",
    "observed": "observed agreement",
    "kappa": "Cohen's kappa",
    "alpha": "Krippendorff's alpha",
    "unitizing": "unitizing alpha (2004)",
    GAMMA: "gamma",
}


KAPPA_LEVELS = (
    (-1.0, "poor"),
    (0.0, "slight"),
    (0.21, "fair"),
    (0.41, "moderate"),
    (0.61, "substantial"),
    (0.81, "almost perfect"),
)
"""The least kappa, to two decimals, of each word for it, after Landis and Koch 1977, table in section 2."""


def kappa_in_words(kappa: float) -> str:
    """Return the word for a kappa by Landis and Koch (1977): a convention, which knows nothing of the task."""
    return next(word for least, word in reversed(KAPPA_LEVELS) if round(kappa, 2) >= least)


def figure_label(figure: str, group: Group) -> str:
    """Return the name of a figure; for more than two annotators kappa is Fleiss', F1 and agreement are means."""
    if group is not None:
        return LABELS[figure]
    labels = {"kappa": "Fleiss' kappa", "f1": "mean F1", "observed": "mean observed agreement"}
    return labels.get(figure, LABELS[figure])


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
    """Return each distinct reason after the subjects that it is about."""
    subjects_of: dict[str, list[str]] = {}
    for reason, subject in zip(why, what, strict=True):
        subjects_of.setdefault(str(reason), []).append(subject)
    return tuple(f"{', '.join(subjects)}: {reason}" for reason, subjects in subjects_of.items())


def agreement_sentences(agreement: Agreement, criterion: str, *, is_named: bool = True) -> tuple[str, ...]:
    """Return sentences: F1 and kappa of all annotators, the closest and farthest pairs, and the types by F1.

    They name the criterion, unless it stands beside them.
    """
    under = f" under {criterion}" if is_named else ""
    group = agreement.everyone
    table = agreement.rows(group, criterion=criterion)
    whole = {str(row["figure"]): row for row in table[table["type"].isna()].to_dict("records")}
    if "f1" not in whole or pd.isna(whole["f1"]["value"]):
        why = whole["f1"]["why"] if "f1" in whole else "no pair has what it needs"
        return (f"F1{under} is undefined: {why}",)
    who = "the annotators" if group is None else " and ".join(agreement.annotators)
    f1, kappa = whole["f1"], whole["kappa"]
    level = (
        f1["why"]
        if lacks_interval(f1["value"], f1["low"])
        else interval_in_words(agreement.plan.level, f1["low"], f1["high"])
    )
    token = f"is {kappa['value']:.3f} ({_interval_ends(kappa)})"
    if pd.isna(kappa["value"]):
        token = f"is undefined: {kappa['why']}"
    lines = [
        f"{who} agree with {figure_label('f1', group)} {f1['value']:.3f}{under} ({level}); "
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
        line for part in parts.values() for line in identical_layers(zip(part.annotators, part.layers, strict=True))
    )


def identical_layers(layers: Iterable[tuple[str, Layer]]) -> tuple[str, ...]:
    """Return a warning about each two of some layers, each with its name, that have identical content."""
    return tuple(
        f"{name} and {other}: identical {IDENTICAL}"
        for (name, layer), (other, second) in combinations(layers, 2)
        if is_identical(layer, second)
    )


def interval_warnings(agreement: Agreement) -> tuple[str, ...]:
    """Return warnings about the intervals: too few units, or units that may be dependent."""
    if agreement.parts:
        warnings = [(pair, line) for pair, part in agreement.parts.items() for line in interval_warnings(part)]
        pairs = [" and ".join(agreement.annotators[number] for number in pair) for pair, _ in warnings]
        return _group_by_reason([line for _, line in warnings], pairs)
    units = agreement.resampled
    few = f"{units.in_words(units.count)} are few: intervals over {units.plural} are rough and too narrow"
    return (*((few,) if 1 < units.count < FEW_UNITS else ()), *units.notes)


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
