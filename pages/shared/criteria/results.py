"""Results that the views of the Criteria page show, kept by content and rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pandas as pd

from nereval_core.analysis.criteria.gap import CHAIN, Gap, RecoveredSpans, gap, recover_spans
from nereval_core.analysis.criteria.overlap_curve import overlap_curve
from nereval_core.analysis.criteria.sensitivity import fold_scores, merge_types
from nereval_core.analysis.crosstab import decision_matrix
from nereval_core.scoring import Scores
from nereval_core.scoring.criteria import Criterion, Share
from pages.shared.data.computations import compute
from pages.shared.data.memo import memoized
from pages.shared.data.page_context import PageContext


@memoized("Comparing the two criteria …")
def gap_of(page: PageContext, one: str, other: str) -> tuple[Gap, pd.DataFrame]:
    """Return the gap between two criteria, and the decisions under them."""
    scores = page.scores(names=[one, other])
    return compute(page.loaded, "Comparing criteria", _gap, scores, one, other)


def _gap(scores: Scores, one: str, other: str) -> tuple[Gap, pd.DataFrame]:
    return gap(scores, one, other), decision_matrix(scores, one, other)


@memoized("Matching at every overlap …")
def curve_of(page: PageContext, share: Share, *, same_type: bool) -> pd.DataFrame:
    gold, pred = page.scores().layers(page.by)
    return compute(page.loaded, "Matching", overlap_curve, gold, pred, share, same_type=same_type)


@memoized("Looking for what could be recovered …")
def recovered_of(page: PageContext) -> RecoveredSpans:
    return compute(page.loaded, "Recoverable spans", recover_spans, page.scores(names=CHAIN))


@memoized("Scoring with merged types …")
def merged_scores(page: PageContext, merge: Mapping[str, str]) -> Scores:
    """Return the scores with some types merged, on top of the merges in force."""
    return compute(page.loaded, "Merging types", merge_types, page.scores(), dict(merge))


@memoized("Scoring the folds of documents …")
def fold_table(page: PageContext, number: int, seed: int) -> pd.DataFrame:
    scores = {system: page.scores(system) for system in page.systems}
    return compute(page.loaded, "Folds", fold_scores, scores, number, seed)


def spans_criteria(page: PageContext) -> tuple[str, ...]:
    """Return the criteria that decide over the same spans as the chosen one."""
    rules = page.settings.rules_for(page.criterion)
    every = (rule for rule in page.settings.criteria if rule.unit == "span")
    return tuple(rule.name for rule in every if page.settings.rules_for(rule) == rules)


def with_criterion(page: PageContext, rule: Criterion, written: str) -> PageContext:
    """Return the page's state under one more criterion; `written` is its rule as links carry it."""
    others = (one for one in page.settings.criteria if one.name != rule.name)
    settings = replace(page.settings, criteria=(*others, rule))
    return replace(page, settings=settings, view=replace(page.view, criterion=rule.name, rule=written))
