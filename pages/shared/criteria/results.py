"""What the views of the Criteria page show, made once: keyed on content and on the whole rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from nereval_core.analysis.criteria.gap import Gap, decisions, gap
from nereval_core.analysis.criteria.merging import merged
from nereval_core.analysis.criteria.overlap_curve import overlap_curve
from nereval_core.analysis.criteria.proxy_criterion import fold_scores
from nereval_core.analysis.criteria.rescued_errors import CHAIN, Recovered, recovered
from nereval_core.scoring import Scores
from nereval_core.scoring.criteria import Criterion, Share
from pages.shared.data import caches

if TYPE_CHECKING:
    from pages.shared.frame import Here


def facts(here: Here) -> str:
    return f"{here.system} {caches.key_of(here.loaded, here.system, here.settings, here.settings.criteria)}"


def two(here: Here, one: str, other: str) -> tuple[Gap, pd.DataFrame]:
    """Return the gap between two criteria, and the decisions under them."""
    return _two(here.loaded.corpus.digest, facts(here), one, other, here)


@st.cache_resource(max_entries=24, show_spinner="Comparing the two criteria …")
def _two(digest: str, key: str, one: str, other: str, _here: Here) -> tuple[Gap, pd.DataFrame]:
    scores = _here.scores(names=[one, other])
    return gap(scores, one, other), decisions(scores, one, other)


def curve(here: Here, share: Share, *, same_type: bool) -> pd.DataFrame:
    return _curve(here.loaded.corpus.digest, facts(here), share, same_type, here)


@st.cache_resource(max_entries=24, show_spinner="Matching at every overlap …")
def _curve(digest: str, key: str, share: Share, same_type: bool, _here: Here) -> pd.DataFrame:
    return overlap_curve(*_here.scores().layers(_here.by), share, same_type=same_type)


def recoverable(here: Here) -> Recovered:
    return _recoverable(here.loaded.corpus.digest, facts(here), here)


@st.cache_resource(max_entries=24, show_spinner="Looking for what could be recovered …")
def _recoverable(digest: str, key: str, _here: Here) -> Recovered:
    return recovered(_here.scores(names=CHAIN))


def after_merging(here: Here, merge: Mapping[str, str]) -> Scores:
    """Return the scores with some types merged, on top of the merges in force."""
    return _merged(here.loaded.corpus.digest, facts(here), tuple(sorted(merge.items())), here)


@st.cache_resource(max_entries=12, show_spinner="Scoring with merged types …")
def _merged(digest: str, key: str, merge: tuple[tuple[str, str], ...], _here: Here) -> Scores:
    return merged(_here.scores(), dict(merge))


def folds(here: Here, number: int, seed: int) -> pd.DataFrame:
    return _folds(here.loaded.corpus.digest, facts(here), number, seed, here)


@st.cache_resource(max_entries=12, show_spinner="Scoring the folds of documents …")
def _folds(digest: str, key: str, number: int, seed: int, _here: Here) -> pd.DataFrame:
    return fold_scores({system: _here.scores(system) for system in _here.systems}, number, seed)


def spans_criteria(here: Here) -> tuple[str, ...]:
    """Return the criteria that decide over the same spans as the chosen one."""
    rules = here.settings.rules_for(here.criterion)
    every = (rule for rule in here.settings.criteria if rule.unit == "span")
    return tuple(rule.name for rule in every if here.settings.rules_for(rule) == rules)


def under(here: Here, rule: Criterion, written: str) -> Here:
    """Return the page's state under one more criterion; `written` is its rule as links carry it."""
    others = (one for one in here.settings.criteria if one.name != rule.name)
    settings = replace(here.settings, criteria=(*others, rule))
    return replace(here, settings=settings, view=replace(here.view, criterion=rule.name, rule=written))
