"""Statements on the agreement of annotators: its figures, their intervals, and systems held against the annotators."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from nereval_core import __version__
from nereval_core.analysis.agreement import Agreement
from nereval_core.analysis.agreement.gamma import GAMMA
from nereval_core.analysis.methods.statements import (
    Cited,
    Statement,
    cite,
    criteria_statements,
    interval_statement,
    type_statements,
)
from nereval_core.analysis.sentences import name_list, number_with_noun
from nereval_core.report.method_terms import HOLM, METHODS, RANDOMIZATION


def _annotations(agreement: Agreement) -> Iterator[Statement]:
    names, parts = agreement.annotators, list(agreement.parts.values())
    if parts:
        sizes = [len(part.layers[0].documents) for part in parts]
        n_documents = f"{min(sizes):,}" if min(sizes) == max(sizes) else f"{min(sizes):,} to {max(sizes):,}"
        where = f"each pair on the documents that both annotated ({n_documents})"
        who = name_list(names)
    else:
        documents = agreement.layers[0].documents
        where = f"on {number_with_noun(documents.unit, len(documents))}"
        who = name_list([f"{name} ({len(layer):,} spans)" for name, layer in zip(names, agreement.layers, strict=True)])
    yield (f"The annotations of {who} were compared with nereval {__version__}, {where}.",)
    yield from type_statements(agreement.settings)


def _f1(agreement: Agreement) -> Iterator[Statement]:
    yield from criteria_statements(agreement.settings.criteria, agreement.settings)
    several = ", and its mean over the pairs of annotators" if len(agreement.annotators) > 2 else ""
    yield ("Agreement on spans is F1 with one of two annotators taken as gold", cite("f1"), f"{several}.")


def _coefficients(agreement: Agreement) -> Iterator[Statement]:
    figures = set(agreement.table.loc[agreement.table["value"].notna(), "figure"])
    several = len(agreement.annotators) > 2
    parts: list[str | Cited] = []
    if "kappa" in figures:
        cohen, fleiss = METHODS["kappa"].sources
        parts += ["Cohen's kappa for two annotators", Cited((cohen,))]
        # Where each pair has documents of its own, there is no kappa of all.
        if several and not agreement.parts:
            parts += [", Fleiss' kappa for all", Cited((fleiss,))]
    if "alpha" in figures:
        missing = ", with missing values" if agreement.parts and several else ""
        parts += [" and " if parts else "", f"Krippendorff's alpha for nominal data{missing}", cite("alpha")]
    if parts:
        yield ("On tokens, whose category is the set of their types, agreement is ", *parts, ".")
    if "unitizing" in figures:
        yield (
            "On characters it is Krippendorff's unitizing alpha in its form of 2004",
            cite("unitizing"),
            ".",
        )
    if GAMMA in figures:
        yield (
            "On units, by the best alignment of their places and types, it is gamma with alpha, beta and the empty "
            "dissimilarity 1",
            cite("gamma"),
            ".",
        )


def _intervals(agreement: Agreement) -> Iterator[Statement]:
    if agreement.table["low"].notna().any():
        united = (
            f" (for alpha of all annotators, of {agreement.resampled.description})"
            if len(agreement.annotators) > 2
            else ""
        )
        resampled_units = (
            f"the {agreement.resampled.plural} of each pair{united}"
            if agreement.parts
            else agreement.resampled.description
        )
        yield interval_statement("the figures", agreement.plan, resampled_units, agreement.resampled)


def _ceiling(agreement: Agreement) -> Iterator[Statement]:
    if agreement.ceiling is None:
        return
    table = agreement.ceiling.table
    systems = list(dict.fromkeys(table["system"]))
    who = f"The system {systems[0]} was" if len(systems) == 1 else f"The systems {name_list(systems)} were"
    yield (f"{who} held against the annotators: the mean F1 with each of them less the mean F1 of each two of them.",)
    if table["p"].notna().any():
        tests = int(table["tests"].max())
        yield (
            "Whether a system agrees less was tested, one-sided, by approximate randomization",
            cite(RANDOMIZATION),
            f", in which it changes places with annotators ({agreement.plan.resamples:,} draws)",
            *(
                (f"; p values were corrected over the {tests} systems by Holm's method", cite(HOLM))
                if tests > 1
                else ()
            ),
            ".",
        )


AGREEMENT: tuple[Callable[[Agreement], Iterator[Statement]], ...] = (
    _annotations,
    _f1,
    _coefficients,
    _intervals,
    _ceiling,
)
"""What is said of an agreement, in this order."""
