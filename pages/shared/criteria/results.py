"""Results that the views of the Criteria page show, kept by content and rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import pandas as pd

from nereval_core.analysis.criteria.gap import Gap, decision_matrix, gap
from nereval_core.analysis.criteria.merging import merge_types
from nereval_core.analysis.criteria.overlap_curve import overlap_curve
from nereval_core.analysis.criteria.proxy_criterion import fold_scores
from nereval_core.analysis.criteria.recovered_spans import CHAIN, RecoveredSpans, recover_spans
from nereval_core.scoring import Scores
from nereval_core.scoring.criteria import Criterion, Share
from pages.shared.data.computations import compute
from pages.shared.data.result_cache import keep_results

if TYPE_CHECKING:
    from pages.shared.frame import Here


@keep_results(24, "Comparing the two criteria …")
def gap_of(here: Here, one: str, other: str) -> tuple[Gap, pd.DataFrame]:
    """Return the gap between two criteria, and the decisions under them."""
    scores = here.scores(names=[one, other])
    return compute(here.loaded, "Comparing criteria", _gap, scores, one, other)


def _gap(scores: Scores, one: str, other: str) -> tuple[Gap, pd.DataFrame]:
    return gap(scores, one, other), decision_matrix(scores, one, other)


@keep_results(24, "Matching at every overlap …")
def curve_of(here: Here, share: Share, *, same_type: bool) -> pd.DataFrame:
    gold, pred = here.scores().layers(here.by)
    return compute(here.loaded, "Matching", overlap_curve, gold, pred, share, same_type=same_type)


@keep_results(24, "Looking for what could be recovered …")
def recovered_of(here: Here) -> RecoveredSpans:
    return compute(here.loaded, "Recoverable spans", recover_spans, here.scores(names=CHAIN))


@keep_results(12, "Scoring with merged types …")
def merged_scores(here: Here, merge: Mapping[str, str]) -> Scores:
    """Return the scores with some types merged, on top of the merges in force."""
    return compute(here.loaded, "Merging types", merge_types, here.scores(), dict(merge))


@keep_results(12, "Scoring the folds of documents …")
def fold_table(here: Here, number: int, seed: int) -> pd.DataFrame:
    scores = {system: here.scores(system) for system in here.systems}
    return compute(here.loaded, "Folds", fold_scores, scores, number, seed)


def spans_criteria(here: Here) -> tuple[str, ...]:
    """Return the criteria that decide over the same spans as the chosen one."""
    rules = here.settings.rules_for(here.criterion)
    every = (rule for rule in here.settings.criteria if rule.unit == "span")
    return tuple(rule.name for rule in every if here.settings.rules_for(rule) == rules)


def with_criterion(here: Here, rule: Criterion, written: str) -> Here:
    """Return the page's state under one more criterion; `written` is its rule as links carry it."""
    others = (one for one in here.settings.criteria if one.name != rule.name)
    settings = replace(here.settings, criteria=(*others, rule))
    return replace(here, settings=settings, view=replace(here.view, criterion=rule.name, rule=written))
