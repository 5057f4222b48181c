"""Merging types, and which criterion stands in for another: views of the Criteria page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pandas as pd
import streamlit as st

from nereval_core.analysis.criteria.sensitivity import (
    FEW_FOLDS_NOTE,
    FOLDS,
    fold_scores,
    merge_types,
    merging_table,
    proxy_table,
)
from nereval_core.analysis.criteria.tables import fold_table, merged_score_table, proxy_criterion_table, vanished_table
from nereval_core.analysis.crosstab import vanished_confusions
from nereval_core.ledger.attributes.comparisons import merge_words
from nereval_core.pairing.type_names import merged_in_words
from nereval_core.problems import name_text
from nereval_core.records.queries import Query
from nereval_core.scoring import Scores
from nereval_core.tables.glossary import DECISIONS
from pages.shared.components.tables import open_records, show_table
from pages.shared.data.computations import compute
from pages.shared.data.memo import memoized
from pages.shared.data.page_context import PageContext
from pages.shared.view.text import count, named, plain

GROUPS = 4
"""Merges that can be tried at once."""


def try_merging(page: PageContext) -> None:
    """Ask for merges; show scores before and after, and the confusions that disappear."""
    merge = _choose_merges(page)
    if not merge:
        st.caption(
            "Choose two types or more: what is merged is scored as one type. The experiment of Tsai et al. 2006 merges "
            "protein, DNA and RNA, and cell line and cell type."
        )
        return
    after = merged_scores(page, merge)
    before = page.scores()
    frame = merging_table(before, after)
    title = f"Scores without and with {merged_in_words(merge)}"
    st.markdown(f"**{plain(title, 200)}**")
    cell = show_table(
        page,
        merged_score_table(frame, title),
        signature=page.signature(),
        data=frame,
        choose=("COR", "COR_after"),
        facts=(page.view, tuple(merge.items())),
        height=None,
    )
    if cell is not None:
        name, is_merged = str(frame["criterion"].tolist()[cell.row]), cell.column != "COR"
        context = _merged(page, after.settings.merge) if is_merged else page
        title = f"{'COR merged' if is_merged else 'COR'} under {named(name)}"
        open_records(context, name, Query(decision=("COR",)), title, name="merging")
    _vanished(page, vanished_confusions(before, after, page.by), merge)


def _merged(page: PageContext, merge: tuple[tuple[str, str], ...]) -> PageContext:
    return replace(page, settings=replace(page.settings, merge=merge), view=replace(page.view, merge=merge))


def _choose_merges(page: PageContext) -> dict[str, str]:
    """Ask for groups of types, the next once one is chosen; a group is called by its members."""
    merge: dict[str, str] = {}
    free = list(page.types)
    with st.container(horizontal=True, gap="medium"):
        for number in range(GROUPS):
            if len(free) < 2:
                break
            members = st.multiselect(
                "Merge" if not number else "and merge",
                free,
                format_func=name_text,
                key=f"merge_try_{number}",
                placeholder="types",
                width=300,
            )
            if len(members) < 2:
                break
            name = "+".join(members)
            while name in page.types:
                name = f"({name})"
            merge |= dict.fromkeys(members, name)
            free = [type_name for type_name in free if type_name not in members]
    return merge


def _vanished(page: PageContext, frame: pd.DataFrame, merge: dict[str, str]) -> None:
    n_pairs, n_correct = int(frame["pairs"].sum()), int(frame["correct"].sum())
    title = f"{count(n_pairs, 'confusion')} under {page.by} gone; correct once merged: {n_correct:,}"
    st.markdown(f"**{plain(title)}**")
    if not n_pairs:
        st.caption("No two spans of these types are aligned.")
        return
    show_table(
        page,
        vanished_table(frame, title, f"merging {merge_words(merge)}"),
        signature=page.signature(),
        file="confusions-gone",
        facts=(page.view, tuple(merge.items())),
        hint="Choose a count to see its records, as they are without the merge.",
        height=None,
    )


def compare_stand_ins(page: PageContext) -> None:
    """Compare F1 under each criterion with that under a reference, over folds of documents and all systems."""
    documents = len(page.loaded.corpus.documents)
    if documents < 2:
        st.caption("Folds need two documents at least.")
        return
    names = [rule.name for rule in page.scores().criteria]
    most = min(documents, 50)
    with st.container(horizontal=True, gap="medium"):
        reference = st.selectbox("Stand in for", names, key="stand_in_reference", width=220) or names[0]
        number = st.number_input("Folds of documents", 2, most, min(FOLDS, most), key="stand_in_folds", width=160)
        seed = st.number_input("Seed", 0, 10**6, 0, key="stand_in_seed", width=120)
    values = fold_scores_of(page, int(number), int(seed))
    frame = proxy_table(values, reference)
    n_values = f"{int(number)} folds × {len(page.systems)} systems = {int(number) * len(page.systems)} values"
    st.markdown(f"**F1 under each criterion and under {named(reference)}: {n_values}**")
    st.warning(f"Read p with care: {FEW_FOLDS_NOTE}.")
    table = proxy_criterion_table(frame, reference)
    cell = show_table(
        page,
        table,
        signature=f"{page.signature(reference)} | folds {number} | seed {seed}",
        data=frame,
        choose=table.keys,
        facts=(page.view, reference, number, seed),
        caption="",
        hint="Choose a criterion to see its folds.",
        height=None,
    )
    if cell is not None:
        _folds(page, values, str(frame["criterion"].tolist()[cell.row]), reference, (int(number), int(seed)))


def _folds(page: PageContext, values: pd.DataFrame, name: str, reference: str, dealt: tuple[int, int]) -> None:
    of_system = values[values["system"].eq(page.system)]
    frame = of_system[of_system["criterion"].eq(name)][["fold", "documents", "f1"]].reset_index(drop=True)
    frame["reference"] = of_system[of_system["criterion"].eq(reference)]["f1"].tolist()
    queries = [Query(decision=DECISIONS, having=((_fold_attribute(dealt), str(fold)),)) for fold in frame["fold"]]
    frame["records"] = [page.ledger(name).total(query).records for query in queries]
    st.markdown(f"**Folds of {named(page.system)} under {named(name)} and {named(reference)}**")
    table = fold_table(frame, name, reference)
    cell = show_table(page, table, choose=table.keys, facts=(page.view, name, reference, dealt), height=None)
    if cell is not None:
        title = f"Fold {frame['fold'].tolist()[cell.row]} under {named(name)}"
        open_records(page, name, queries[cell.row], title, name="folds")


def _fold_attribute(dealt: tuple[int, int]) -> str:
    return f"fold {dealt[0]} {dealt[1]}"


@memoized("Scoring with merged types …")
def merged_scores(page: PageContext, merge: Mapping[str, str]) -> Scores:
    """Return the scores with some types merged, on top of the merges in force."""
    return compute(page.loaded, "Merging types", merge_types, page.scores(), dict(merge))


@memoized("Scoring the folds of documents …")
def fold_scores_of(page: PageContext, number: int, seed: int) -> pd.DataFrame:
    scores = {system: page.scores(system) for system in page.systems}
    return compute(page.loaded, "Folds", fold_scores, scores, number, seed)
