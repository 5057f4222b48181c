"""Merging types, and which criterion stands in for another: views of the Criteria page."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import streamlit as st

from nereval_core.analysis.criteria.sensitivity import FEW_FOLDS_NOTE, FOLDS, merging_table, proxy_table
from nereval_core.analysis.crosstab import vanished_confusions
from nereval_core.ledger.attributes.criteria import merge_words
from nereval_core.pairing.type_names import merged_in_words
from nereval_core.tables.glossary import DECISIONS
from pages.shared.components.count_table import count_table
from pages.shared.components.downloads import Export
from pages.shared.components.record_list import count, open_records
from pages.shared.criteria import results as criteria_results
from pages.shared.data.page_context import PageContext
from pages.shared.view.queries import Query
from pages.shared.view.text import plain

GROUPS = 4
"""Merges that can be tried at once."""


def try_merging(page: PageContext) -> None:
    """Ask for merges; show scores before and after, and the confusions that disappear."""
    merge = _asked(page)
    if not merge:
        st.caption(
            "Choose two types or more: what is merged is scored as one type. The experiment of Tsai et al. 2006 merges "
            "protein, DNA and RNA, and cell line and cell type."
        )
        return
    after = criteria_results.merged_scores(page, merge)
    before = page.scores()
    table = merging_table(before, after)
    shown = table.rename(columns={"COR_after": "COR merged", "f1": "F1", "f1_after": "F1 merged"})
    number = st.column_config.NumberColumn
    st.markdown(f"**Scores without and with {plain(merged_in_words(merge), 200)}**")
    cell = count_table(
        shown,
        "merging",
        (page.view, tuple(merge.items())),
        columns={
            "COR": number(format="localized"),
            "COR merged": number(format="localized"),
            "F1": number(format="%.4f"),
            "F1 merged": number(format="%.4f"),
            "difference": number(format="%+.4f"),
        },
        export=Export(table, page.signature(), "merging"),
    )
    if cell is not None and cell[1] in ("COR", "COR merged"):
        name = str(table["criterion"].tolist()[cell[0]])
        there = page if cell[1] == "COR" else _merged(page, after.settings.merge)
        open_records(there, name, Query(decision=("COR",)), f"{cell[1]} under {plain(name)}", name="merging")
    _gone(page, vanished_confusions(before, after, page.by), merge)


def _merged(page: PageContext, merge: tuple[tuple[str, str], ...]) -> PageContext:
    return replace(page, settings=replace(page.settings, merge=merge), view=replace(page.view, merge=merge))


def _asked(page: PageContext) -> dict[str, str]:
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
            free = [kind for kind in free if kind not in members]
    return merge


def _gone(page: PageContext, table: pd.DataFrame, merge: dict[str, str]) -> None:
    pairs, correct = int(table["pairs"].sum()), int(table["correct"].sum())
    st.markdown(f"**{count(pairs, 'confusion')} under {plain(page.by)} gone; correct once merged: {correct:,}**")
    if not pairs:
        st.caption("No two spans of these types are aligned.")
        return
    cell = count_table(
        table,
        "gone",
        (page.view, tuple(merge.items())),
        columns={
            "gold_type": st.column_config.TextColumn("gold type"),
            "pred_type": st.column_config.TextColumn("predicted type"),
            "pairs": st.column_config.NumberColumn("aligned pairs", format="localized"),
            "correct": st.column_config.NumberColumn("correct once merged", format="localized"),
        },
        export=Export(table, page.signature(), "confusions-gone", key="gone"),
    )
    if cell is None:
        st.caption("Choose a count to see its records, as they are without the merge.")
        return
    row = table.iloc[cell[0]]
    one, other = str(row["gold_type"]), str(row["pred_type"])
    having = ((f"merging {merge_words(merge)}", "COR"),) if cell[1] == "correct" else ()
    title = f"{plain(one)} taken for {plain(other)}{', correct once merged' if having else ''}"
    open_records(
        page, page.by, Query(decision=DECISIONS, gold=(one,), pred=(other,), having=having), title, name="gone"
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
    values = criteria_results.fold_table(page, int(number), int(seed))
    table = proxy_table(values, reference)
    st.markdown(
        f"**F1 under each criterion and under {plain(reference)}: {int(number)} folds × {len(page.systems)} systems = "
        f"{int(number) * len(page.systems)} values**"
    )
    st.warning(f"Read p with care: {FEW_FOLDS_NOTE}.")
    column = st.column_config.NumberColumn
    cell = count_table(
        table,
        "stand_in",
        (page.view, reference, number, seed),
        columns={
            "n": column("n", help="Folds of systems with an F1 under both criteria."),
            "undefined": column("undefined", help="Folds of systems without an F1: no spans on either side."),
            "f1": column("mean F1", format="%.4f"),
            "difference": column("mean difference", format="%+.4f", help=f"F1 less F1 under {plain(reference)}."),
            "t": column("t", format="%.2f", help="Paired t-test, two-sided, n − 1 degrees of freedom."),
            "p": column("p", format="%.1e"),
            "r": column("r", format="%.4f", help="Pearson's correlation over the n values."),
        },
        export=Export(table, f"{page.signature(reference)} | folds {number} | seed {seed}", "stand-in", key="stand_in"),
    )
    if cell is None:
        st.caption("Choose a criterion to see its folds.")
        return
    _folds(page, values, str(table["criterion"].tolist()[cell[0]]), reference, (int(number), int(seed)))


def _folds(page: PageContext, values: pd.DataFrame, name: str, reference: str, dealt: tuple[int, int]) -> None:
    mine = values[values["system"].eq(page.system)]
    table = mine[mine["criterion"].eq(name)][["fold", "documents", "f1"]].reset_index(drop=True)
    table["reference"] = mine[mine["criterion"].eq(reference)]["f1"].tolist()
    table.insert(2, "records", [_in_fold(page, name, fold, dealt) for fold in table["fold"].tolist()])
    st.markdown(f"**Folds of {plain(page.system)} under {plain(name)} and {plain(reference)}**")
    cell = count_table(
        table,
        "folds",
        (page.view, name, reference, dealt),
        columns={
            "records": st.column_config.NumberColumn(f"records under {plain(name)}", format="localized"),
            "f1": st.column_config.NumberColumn(f"F1 under {plain(name)}", format="%.4f"),
            "reference": st.column_config.NumberColumn(f"F1 under {plain(reference)}", format="%.4f"),
        },
    )
    if cell is not None:
        fold = table["fold"].tolist()[cell[0]]
        open_records(page, name, _query(fold, dealt), f"Fold {fold} under {plain(name)}", name="folds")


def _query(fold: int, dealt: tuple[int, int]) -> Query:
    return Query(decision=DECISIONS, having=((f"fold {dealt[0]} {dealt[1]}", str(fold)),))


def _in_fold(page: PageContext, name: str, fold: int, dealt: tuple[int, int]) -> int:
    return page.ledger(name).total(_query(fold, dealt)).records
