"""The sensitivity of scores to the criterion: all criteria x all systems x merged types, merges, and proxy criteria.

This is the experiment of Tsai et al. 2006 (BMC Bioinformatics 7:92, "Various criteria in the evaluation of biomedical
named entity recognition"): the same systems scored under many criteria, with and without merged types; theirs merges
protein, DNA and RNA, and cell line and cell type. We do not claim to reproduce their tables.

Proxy criteria are their second experiment: criteria whose F1 agrees with that of another, which is costly to apply, as
matching core terms is, over disjoint folds of documents and several systems. Agreement is measured by the mean
difference with a paired t-test, and by Pearson's correlation.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, groupby
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nereval_core.alignment.codes import Progress
from nereval_core.analysis.sentences import name_list
from nereval_core.corpus import Corpus
from nereval_core.options import FOLD_COUNT, SEED
from nereval_core.pairing.type_names import merged_in_words
from nereval_core.problems import FormatError, Problem, counted, quoted
from nereval_core.report.signature import signature
from nereval_core.scoring import Counting, Scores, Settings, score_layers
from nereval_core.scoring.count_tables import TEXT_DTYPE, Columns, count_row, free_name, nan_for_none, typed_table
from nereval_core.scoring.counts import ratio_columns
from nereval_core.scoring.criteria import CRITERIA, Criterion, Decision, applicable
from nereval_core.scoring.type_merging import parse_merge

NONE, ALL_TYPES = "none", "all types"
"""The settings that are always compared: no merge, and all types merged into one."""

REFERENCE = "strict"
_SIDES = tuple(f"{side}_{decision}" for side in ("gold", "pred") for decision in ("COR", "INC", "PAR"))

SENSITIVITY_COLUMNS: Columns = {
    **dict.fromkeys(("system", "criterion", "merge", "counting"), "category"),
    **dict.fromkeys(("COR", "INC", "PAR", "MIS", "SPU", "POS", "ACT"), "Int64"),
    **dict.fromkeys(("precision", "recall", "f1"), "float64"),
    "rank": "Int64",
    "f1_minus_strict": "float64",
    **dict.fromkeys(_SIDES, "int64"),
    "signature": TEXT_DTYPE,
}
"""Columns of `sensitivity` and their dtypes. COR, INC and PAR are NA when each side counts for itself; undefined ratios
are NaN and have no rank. `rank` is the system's rank by F1 under one criterion, merge and counting: 1 is best, equal
systems share the better rank. `f1_minus_strict` is F1 less F1 of the same system, merge and counting under strict."""

MERGING_COLUMNS: Columns = {
    "criterion": TEXT_DTYPE,
    "COR": "Int64",
    "COR_after": "Int64",
    **dict.fromkeys(("f1", "f1_after", "difference"), "float64"),
}
"""Columns of `merging_table` and their dtypes; ratios are NaN where undefined."""
OVERTAKING_COLUMNS = ("system", "overtakes", "criterion", "merge", "counting")
FOLDS = 10
FOLD_COLUMNS: Columns = {
    "system": TEXT_DTYPE,
    "criterion": TEXT_DTYPE,
    "fold": "int64",
    "documents": "int64",
    "f1": "float64",
}
"""Columns of `fold_scores` and their dtypes: folds count from 1; F1 is NaN where undefined."""
PROXY_COLUMNS: Columns = {
    "criterion": TEXT_DTYPE,
    "n": "int64",
    "undefined": "int64",
    **dict.fromkeys(("f1", "difference", "t", "p", "r"), "float64"),
}
"""Columns of `proxy_table` and their dtypes. `n` is the number of folds of systems with an F1 under both criteria,
`undefined` that of the others. `f1` is the mean under this criterion, `difference` that of F1 less F1 under the
reference. `t` and `p` are of the two-sided paired t-test with n - 1 degrees of freedom, NaN where all differences are
equal; `r` is Pearson's correlation, NaN where either F1 is the same in all folds."""
FEW_FOLDS_NOTE = (
    "folds of one corpus are few and alike, and those of several systems are of the same documents: "
    "p says less than it seems to"
)


def sensitivity(
    corpus: Corpus,
    criteria: Sequence[Criterion] | None = None,
    merges: Mapping[str, Mapping[str, str]] | None = None,
    counting: Counting | Sequence[Counting] = "one-to-one",
    *,
    leave_out: Iterable[str] = (),
    marks: Mapping[str, Sequence[str]] | None = None,
    progress: Progress | None = None,
) -> pd.DataFrame:
    """Return one row for each merge, counting, criterion and system, in this order: SENSITIVITY_COLUMNS.

    `merges` maps the name of a setting to its merges (type -> merged name), see `merge_settings`; None stands for no
    merge and all types as one, and `criteria` None for all that apply. `marks` are changes to a system's data before
    scoring, for the signatures. `progress` is called with the work done and its total.

    Raises:
        ValueError: for two criteria of one name.
    """
    rules = tuple(CRITERIA[name] for name in applicable(corpus.gold)) if criteria is None else tuple(criteria)
    left_out = tuple(sorted(set(leave_out)))
    if merges is None:
        merges = merge_settings((), corpus, leave_out=left_out, criteria=rules)
    countings = (counting,) if isinstance(counting, str) else tuple(counting)
    names = [criterion.name for criterion in rules]
    # All criteria are compared with strict, which is scored even if it is not shown.
    scored = rules if REFERENCE in names else (*rules, CRITERIA[REFERENCE])
    work = [(merge, way, system) for merge in merges for way in countings for system in corpus.systems]
    rows: list[dict[str, Any]] = []
    for step, (merge, way, system) in enumerate(work):
        settings = Settings(scored, tuple(sorted(merges[merge].items())), left_out, way)
        scores = score_layers(
            corpus.gold,
            system,
            settings,
            marks=tuple(marks[system.name]) if marks else (),
            progress=_step_progress(progress, step, len(work)),
        )
        strict = scores.counts(REFERENCE).f1
        head = {"system": system.name, "merge": merge, "counting": way}
        rows += [{**head, "criterion": name, **_score_row(scores, name, strict)} for name in names]
    table = pd.DataFrame(rows, columns=list(SENSITIVITY_COLUMNS))
    for column, categories in (
        ("merge", list(merges)),
        ("counting", list(countings)),
        ("criterion", names),
        ("system", [system.name for system in corpus.systems]),
    ):
        table[column] = pd.Categorical(table[column], pd.Index(categories, dtype=TEXT_DTYPE))
    order = ["merge", "counting", "criterion"]
    table = table.sort_values([*order, "system"], kind="stable", ignore_index=True)
    table["rank"] = table.groupby(order, observed=True)["f1"].rank(method="min", ascending=False)
    return table.astype(dict(SENSITIVITY_COLUMNS))


def merge_settings(
    merges: Iterable[str | Mapping[str, str]],
    corpus: Corpus,
    *,
    leave_out: Collection[str] = (),
    criteria: Iterable[Criterion] = (),
) -> dict[str, dict[str, str]]:
    """Return the settings to compare: no merge, each given one, and all types as one where there are several.

    A merge maps types to merged names, or is a text for `parse_merges`. A setting is named by its merged names
    (`macromolecule`), or by its text where two would have the same name. `leave_out` and `criteria` give other names in
    use.

    Raises:
        FormatError: with every merge that cannot be parsed.
    """
    values = list(merges)
    read = iter(parse_merges(value for value in values if isinstance(value, str)))
    distinct: list[dict[str, str]] = []
    for merge in (next(read) if isinstance(value, str) else dict(value) for value in values):
        if merge not in distinct:
            distinct.append(merge)
    labels = [" + ".join(sorted(set(merge.values()))) for merge in distinct]
    settings: dict[str, dict[str, str]] = {NONE: {}}
    for label, merge in zip(labels, distinct, strict=True):
        clear = labels.count(label) == 1 and label not in (NONE, ALL_TYPES)
        settings[label if clear else merged_in_words(merge)] = merge
    types = {kind for layer in (corpus.gold, *corpus.systems) for kind in layer.types}.difference(leave_out)
    if len(types) > 1:
        rules = tuple(criteria)
        # A merged name must be neither a type nor left out.
        names = types.union(leave_out, *(rule.leave_out for rule in rules), *(dict(rule.merge) for rule in rules))
        settings[ALL_TYPES] = dict.fromkeys(sorted(types), free_name(ALL_TYPES, names))
    return settings


def parse_merges(values: Iterable[str]) -> list[dict[str, str]]:
    """Read merges written as `protein,DNA=macromolecule`, several in one setting with `;` between.

    Raises:
        FormatError: with every value that cannot be parsed.
    """
    problems: list[Problem] = []
    merges: list[dict[str, str]] = []
    for value in values:
        try:
            merges.append(parse_merge(_merges_of_setting(value)))
        except FormatError as error:
            problems += error.problems
    if problems:
        raise FormatError(problems)
    return merges


def merge_types(scores: Scores, merge: Mapping[str, str], names: Sequence[str] = ()) -> Scores:
    """Return the scores with some types merged (type -> merged name), in addition to the merges already in force.

    Merging a merged name merges its members too. `names` are the criteria, by default all.
    """
    before = dict(scores.settings.merge)
    after = {member: merge.get(name, name) for member, name in before.items()} | {
        kind: name for kind, name in merge.items() if kind not in before
    }
    criteria = tuple(rule for rule in scores.criteria if not names or rule.name in names)
    settings: Settings = replace(scores.settings, criteria=criteria, merge=tuple(sorted(after.items())))
    return score_layers(*scores.read, settings, marks=scores.marks)


def merging_table(before: Scores, after: Scores) -> pd.DataFrame:
    """Return a row for each criterion: MERGING_COLUMNS."""
    rows = []
    for criterion in before.criteria:
        counts, merged = before.counts(criterion.name), after.counts(criterion.name)
        f1, merged_f1 = nan_for_none(counts.f1), nan_for_none(merged.f1)
        rows.append((criterion.name, counts.cor, merged.cor, f1, merged_f1, merged_f1 - f1))
    return typed_table(rows, MERGING_COLUMNS)


def overtakings(table: pd.DataFrame) -> pd.DataFrame:
    """Return the settings in which two systems change places: OVERTAKING_COLUMNS, a row for each pair and setting.

    The reference order is that under strict (or the first criterion without it), the first merge and the first
    counting; for two systems with equal F1 there, it is that of the first setting in which they differ.
    """
    grid = _f1_by_setting(table)
    order = grid.index.tolist()
    rows = []
    for left, right in combinations(grid.columns.tolist(), 2):
        ahead = (grid[left] > grid[right]).tolist()
        behind = (grid[left] < grid[right]).tolist()
        leads = next((up for up, down in zip(ahead, behind, strict=True) if up or down), None)
        if leads is None:
            continue
        first, second = (left, right) if leads else (right, left)
        for (merge, counting, criterion), reversed_ in zip(order, behind if leads else ahead, strict=True):
            if reversed_:
                rows.append((second, first, criterion, merge, counting))
    return pd.DataFrame(rows, columns=list(OVERTAKING_COLUMNS), dtype=TEXT_DTYPE)


def ranking_in_words(table: pd.DataFrame) -> tuple[str, ...]:
    """Return sentences on the order of the systems and on overtakings, none for a single system."""
    grid = _f1_by_setting(table)
    if len(grid.columns) < 2:
        return ()
    merge, counting, criterion = grid.index[0]
    best = grid.iloc[0].dropna().sort_values(ascending=False, kind="stable")
    level = groupby(best.items(), key=lambda item: item[1])
    order = ", ".join(" = ".join(str(system) for system, _ in members) for _, members in level)
    lines = [f"order by F1 under {criterion}, types merged: {merge}, counting {counting}: {order or 'undefined'}"]
    undefined = [str(system) for system in grid.columns if grid[system].iloc[0] != grid[system].iloc[0]]
    if undefined and order:
        lines[0] += f"; undefined for {name_list(undefined)}"
    changes = overtakings(table)
    criteria = grid.index.get_level_values(2).unique().tolist()
    for (system, other), rows in changes.groupby(["system", "overtakes"], sort=False):
        parts = []
        for (merged, way), under in rows.groupby(["merge", "counting"], sort=False):
            where = [] if way == counting else [f"counting {way}"]
            where += [] if merged == merge else [f"with types merged: {merged}"]
            is_all = len(under) == len(criteria) > 1
            names = "every criterion" if is_all else name_list(under["criterion"].tolist())
            parts.append(" ".join([*where, f"under {names}"]))
        lines.append(f"{system} overtakes {other} {'; '.join(parts)}")
    if changes.empty and grid.notna().sum(axis=1).gt(1).any():
        lines.append("no two systems change places under any criterion, merge or counting")
    return tuple(lines)


def _f1_by_setting(table: pd.DataFrame) -> pd.DataFrame:
    """Return F1 with a row for each (merge, counting, criterion), strict first, and a column for each system."""
    criteria = table["criterion"].cat.categories.tolist()
    leading = sorted(criteria, key=lambda name: name != REFERENCE)
    named = table.assign(criterion=table["criterion"].cat.reorder_categories(leading))
    keys = ["merge", "counting", "criterion"]
    return named.pivot(index=keys, columns="system", values="f1").sort_index().sort_index(axis=1)


def _score_row(scores: Scores, name: str, strict: float | None) -> dict[str, Any]:
    counts = scores.counts(name)
    row = count_row(counts)
    if scores.settings.counting == "each-side":
        row |= dict.fromkeys(("COR", "INC", "PAR"))
    decisions = (Decision.COR, Decision.INC, Decision.PAR)
    sides = [side[decision] for side in (counts.gold, counts.pred) for decision in decisions]
    difference = float("nan") if counts.f1 is None or strict is None else counts.f1 - strict
    return (
        row
        | dict(zip(_SIDES, sides, strict=True))
        | {"f1_minus_strict": difference, "signature": signature(scores, name)}
    )


def _step_progress(progress: Progress | None, step: int, steps: int) -> Progress | None:
    if progress is None:
        return None
    return lambda done, total: progress(step * total + done, steps * total)


def _merges_of_setting(value: str) -> list[str]:
    """Return the merges of one setting; a `;` within a name does not split it."""
    parts = [part for part in value.split(";") if part.strip()]
    return parts if parts and all("=" in part for part in parts) else [value]


def document_folds(documents: int, folds: int = FOLDS, seed: int = 0) -> NDArray[np.int64]:
    """Return the fold of each document, from 0, shape (documents,): documents are shuffled by the seed and dealt out.

    Raises:
        FormatError: fewer than two folds, or fewer documents than folds; a seed below 0.
    """
    FOLD_COUNT.check(folds)
    SEED.check(seed)
    if folds > documents:
        finding = f"{counted(folds, 'fold')} of {counted(documents, 'document')}"
        raise FormatError.single("folds", None, finding, "ask for at most one a document")
    found_in = np.empty(documents, np.int64)
    found_in[np.random.default_rng(seed).permutation(documents)] = np.arange(documents) % folds
    return found_in


def fold_scores(systems: Mapping[str, Scores], folds: int = FOLDS, seed: int = 0) -> pd.DataFrame:
    """Return F1 of every system under every criterion in every fold of documents: FOLD_COLUMNS.

    Counts are added up over the documents of a fold. All systems must be scored over the same documents.

    Raises:
        FormatError: as `document_folds`.
    """
    pieces = []
    for system, scores in systems.items():
        fold = document_folds(scores.documents, folds, seed)
        sizes = np.bincount(fold, minlength=folds)
        for criterion in scores.criteria:
            table = scores.by_document(criterion.name)
            sums = [np.zeros((folds, side.shape[1]), np.int64) for side in (table.gold, table.pred)]
            for total, side in zip(sums, (table.gold, table.pred), strict=True):
                np.add.at(total, fold[table.numbers], side)
            pieces.append(
                pd.DataFrame(
                    {
                        "system": system,
                        "criterion": criterion.name,
                        "fold": np.arange(1, folds + 1),
                        "documents": sizes,
                        "f1": ratio_columns(*sums)[2],
                    }
                )
            )
    folds_table = pd.concat(pieces, ignore_index=True) if pieces else pd.DataFrame(columns=list(FOLD_COLUMNS))
    return folds_table.astype(dict(FOLD_COLUMNS))


def proxy_table(values: pd.DataFrame, reference: str = "strict") -> pd.DataFrame:
    """Compare F1 under each criterion with that under a reference: PROXY_COLUMNS, a row for each other criterion.

    `values` have FOLD_COLUMNS.

    Raises:
        FormatError: the reference is not among the criteria.
    """
    wide = values.pivot(index=["system", "fold"], columns="criterion", values="f1")
    names = list(dict.fromkeys(values["criterion"]))
    if reference not in names:
        raise FormatError.single("reference", None, f"no criterion {quoted(reference)}", f"use {', '.join(names)}")
    rows = []
    for name in names:
        if name == reference:
            continue
        both = wide[[name, reference]].dropna().to_numpy()
        f1, reference_f1 = both[:, 0], both[:, 1]
        means = (float(f1.mean()), float((f1 - reference_f1).mean())) if len(both) else (float("nan"),) * 2
        rows.append((name, len(both), len(wide) - len(both), *means, *_paired_test(f1, reference_f1)))
    return typed_table(rows, PROXY_COLUMNS)


def _paired_test(f1: NDArray[np.float64], reference_f1: NDArray[np.float64]) -> tuple[float, float, float]:
    """Return t and p of the paired t-test, and Pearson's r."""
    from scipy import stats

    t = p = r = float("nan")
    # Values that are equal in all folds, but for rounding, have no spread to compare with.
    if len(f1) > 1 and np.ptp(f1 - reference_f1) > 1e-12:
        test = stats.ttest_rel(f1, reference_f1)
        t, p = float(test.statistic), float(test.pvalue)
    if len(f1) > 1 and min(np.ptp(f1), np.ptp(reference_f1)) > 1e-12:
        r = float(stats.pearsonr(f1, reference_f1).statistic)
    return t, p, r
