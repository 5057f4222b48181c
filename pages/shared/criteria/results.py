"""Results that the views of the Criteria page show, kept by content and rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from nereval_core.analysis.criteria.gap import Gap, decision_matrix, gap
from nereval_core.analysis.criteria.merging import merge_types
from nereval_core.analysis.criteria.overlap_curve import overlap_curve
from nereval_core.analysis.criteria.proxy_criterion import fold_scores
from nereval_core.analysis.criteria.recovered_spans import CHAIN, RecoveredSpans, recover_spans
from nereval_core.scoring import Scores
from nereval_core.scoring.criteria import Criterion, Share
from pages.shared.data import caches
from pages.shared.data.computations import compute

if TYPE_CHECKING:
    from pages.shared.frame import Here


@st.cache_resource(max_entries=24, show_spinner="Comparing the two criteria …", hash_funcs=caches.HASHED_BY)
def gap_of(here: Here, one: str, other: str) -> tuple[Gap, pd.DataFrame]:
    """Return the gap between two criteria, and the decisions under them."""
    scores = here.scores(names=[one, other])
    return compute(here.loaded, "Comparing criteria", _gap, scores, one, other)


def _gap(scores: Scores, one: str, other: str) -> tuple[Gap, pd.DataFrame]:
    return gap(scores, one, other), decision_matrix(scores, one, other)


@st.cache_resource(max_entries=24, show_spinner="Matching at every overlap …", hash_funcs=caches.HASHED_BY)
def curve_of(here: Here, share: Share, *, same_type: bool) -> pd.DataFrame:
    gold, pred = here.scores().layers(here.by)
    return compute(here.loaded, "Matching", overlap_curve, gold, pred, share, same_type=same_type)


@st.cache_resource(max_entries=24, show_spinner="Looking for what could be recovered …", hash_funcs=caches.HASHED_BY)
def recovered_of(here: Here) -> RecoveredSpans:
    return compute(here.loaded, "Recoverable spans", recover_spans, here.scores(names=CHAIN))


@st.cache_resource(max_entries=12, show_spinner="Scoring with merged types …", hash_funcs=caches.HASHED_BY)
def merged_scores(here: Here, merge: Mapping[str, str]) -> Scores:
    """Return the scores with some types merged, on top of the merges in force."""
    return compute(here.loaded, "Merging types", merge_types, here.scores(), dict(merge))


@st.cache_resource(max_entries=12, show_spinner="Scoring the folds of documents …", hash_funcs=caches.HASHED_BY)
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
