"""The parts of the Linking page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import streamlit as st

from nereval_core.analysis.linking import Truth
from nereval_core.problems import FormatError
from nereval_core.readers import Source
from nereval_core.readers.concepts import read_mapping
from nereval_core.report.concept_addresses import EXAMPLE, template_problem
from pages.shared.components import navigation
from pages.shared.components.downloads import export
from pages.shared.components.record_list import count, selected_cell, table_key
from pages.shared.linking.choices import FORMULA, MAPPING, TEMPLATE, choose, mapping, template
from pages.shared.linking.scores import Linking
from pages.shared.linking.tables import (
    ACCURACY,
    ANY_LINK,
    EXPLAINED,
    GIVEN,
    IDS,
    LINK_LOOKS,
    RATIOS,
    Rule,
    cell_query,
    formula,
    headline,
    mentions_of,
    metrics,
    rule_of,
    rules,
)
from pages.shared.view import keys, state
from pages.shared.view.plain_text import plain
from pages.shared.view.problems import show_problems

if TYPE_CHECKING:
    from pages.shared.frame import Here

WIDTHS = {"right": 62, "wrong link": 82, "NIL for link": 90, "link for NIL": 88, "missing": 70, "spurious": 74}


def nothing_to_show(here: Here) -> bool:
    """Say what to do where gold has no links; whether that is so."""
    corpus = here.loaded.corpus
    if corpus.gold.links:
        if not corpus.system(here.system).links:
            able = [plain(layer.name) for layer in corpus.systems if layer.links]
            others = f" With links: {', '.join(able)}." if able else " No other system has any, either."
            st.info(f"No span of {plain(here.system)} has a link, so every gold mention is missing.{others}")
        return False
    st.info(
        "No gold span of this corpus has a link, so there is no linking to score. Links are read from the NEL columns "
        "of HIPE, from N lines of brat and notes that are codes, and from `links` in JSONL. The demo of "
        "pharmacological case notes has some."
    )
    navigation.link_to("Start", ":primary[Choose another corpus at Start →]", here.view)
    return True


def options(here: Here) -> Linking:
    """Ask what is scored: which mentions, by which of gold's links, and under which mapping."""
    view = here.view
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        key = keys.WIDGET + "given"
        st.session_state[key] = GIVEN if GIVEN in view.sort else ""
        st.segmented_control(
            "Mentions",
            ["", GIVEN],
            format_func=lambda word: "Gold's, given" if word else "End to end",
            key=key,
            on_change=_took,
            args=("given", GIVEN),
            required=True,
            help="End to end: a mention not found, or found in vain, counts too. Gold's, given: only where boundaries "
            "are equal is the link judged.",
        )
        key = keys.WIDGET + "any-link"
        st.session_state[key] = ANY_LINK in view.sort
        st.toggle(
            "Any of gold's links",
            key=key,
            on_change=_took,
            args=("any-link", ANY_LINK),
            help="Gold's first link is the truth; with this, any of them.",
        )
        _mapping()
        _template()
    truth: Truth = "any" if ANY_LINK in view.sort else "first"
    return Linking(here, mentions_of(view), truth, mapping()[1])


def _took(name: str, word: str) -> None:
    state.put(state.view().with_sort(word, bool(st.session_state[keys.WIDGET + name])))


def _mapping() -> None:
    name, inforce = mapping()
    label = f"Mapping: {plain(name, 20)}" if inforce else "Mapping: none"
    with st.popover(label):
        st.caption(
            "Relaxed linking: a TSV file with an id and, after a tab, the id it counts as; or HIPE's, with Main and "
            "Alternatives. It stays in this session; no link carries it."
        )
        key = keys.WIDGET + "mapping"
        given = st.file_uploader("TSV file", key=key, type=["tsv", "txt"])
        if given is not None and st.button("Use it", key="use-mapping", type="primary"):
            try:
                found = read_mapping(Source.of_uploads([(given.name, given.getvalue())]))
            except FormatError as error:
                show_problems(error.lines())
            else:
                st.session_state[MAPPING] = (given.name, found)
                st.rerun()
        if inforce:
            st.button(f"Without {plain(name, 20)} ({len(inforce):,} ids)", key="no-mapping", on_click=_unmapped)


def _unmapped() -> None:
    st.session_state.pop(MAPPING, None)


def _template() -> None:
    key = keys.WIDGET + "template"
    given = st.session_state.get(TEMPLATE, "")
    st.session_state[key] = given

    def took() -> None:
        st.session_state[TEMPLATE] = st.session_state[key].strip()

    with st.popover("Ids open a page" if template() else "Let ids open a page"):
        st.text_input("Address", key=key, on_change=took, placeholder=EXAMPLE, max_chars=300)
        if given and (problem := template_problem(given)):
            st.error(f"This address is not used: {plain(problem)}.")
        st.caption(
            "`{id}` is where the id goes, `{code}` what follows its last colon. Nothing is opened before you click an "
            "id of a record, in a new tab. The address stays in this session."
        )


def first_line(linking: Linking) -> None:
    """Say the one number that matters: how many gold mentions got the right id."""
    rule = rule_of(linking.here.view)
    right, whole, what = headline(linking.scores(rule).counts, linking.mentions)
    st.markdown(f"### {right:,} of {whole:,} {what} link to the right id")
    st.caption(f"{plain(linking.here.system)}, {rule.words}. A count in another row below changes the rule.")


def show_metrics(linking: Linking) -> None:
    """Show ratios and counts under each rule: a count lists its records, a ratio opens its formula."""
    every = {rule: linking.scores(rule).counts for rule in rules(linking.mentions)}
    table = metrics(every, linking.mentions)
    key = table_key(f"{keys.TABLE}links", *linking.facts)
    columns = [str(name) for name in table.columns[1:]]

    def took() -> None:
        cell = selected_cell(st.session_state[key], len(table), columns)
        if cell is not None:
            rule = list(every)[cell[0]]
            query = cell_query(cell[1])
            if query is None:
                st.session_state[FORMULA] = (linking.facts, rule, cell[1])
            else:
                choose(linking, rule, query)

    st.dataframe(
        table,
        key=key,
        on_select=took,
        selection_mode="single-cell",
        hide_index=True,
        placeholder="–",
        column_config=_columns(columns),
    )
    alignment = linking.alignment("strict")
    with st.container(horizontal=True, vertical_alignment="center"):
        signatures = " / ".join(linking.signature(rule) for rule in every)
        export(table, signatures, name="linking", key="linking")
        said = "Choose a count to see its records, a ratio to see its formula."
        if linking.mentions == "gold":
            gold, pred = alignment.unjudged
            said += f" Not judged, as boundaries differ: {gold:,} gold, {pred:,} predicted mentions."
        st.caption(said)
    _show_formula(linking, every)


def _show_formula(linking: Linking, every: dict[Rule, Any]) -> None:
    facts, rule, ratio = st.session_state.get(FORMULA, ((), None, ""))
    if facts != linking.facts or rule not in every:
        return
    text, counts = formula(ratio, every[rule])
    st.code(f"{rule.words}: {text}", language=None, wrap_lines=True)
    with st.container(horizontal=True):
        for label, value, query in counts:
            st.button(
                f":primary[{label}: {count(value, 'record')}]",
                key=f"links-{label}",
                type="tertiary",
                on_click=choose,
                args=(linking, rule, query),
            )


def _columns(columns: list[str]) -> dict[str, Any]:
    found: dict[str, Any] = {"linking": st.column_config.TextColumn("linking", width=125, pinned=True)}
    for name in columns:
        if name in (*RATIOS, ACCURACY):
            width = 58 if name in RATIOS else 80
            found[name] = st.column_config.NumberColumn(name, width=width, format="%.3f", help=EXPLAINED[name])
        else:
            label = f"{LINK_LOOKS[name].glyph} {name}" if name in LINK_LOOKS else name
            width = WIDTHS.get(name, 24 + 7 * len(name)) + 8
            found[name] = st.column_config.NumberColumn(label, width=width, format="localized", help=EXPLAINED[name])
    return found


def switch(here: Here) -> bool:
    """Ask what stands below: mentions one by one, or the ids most confused; whether it is the ids."""
    key = keys.WIDGET + "links-shown"
    st.session_state[key] = IDS if IDS in here.view.sort else ""
    st.segmented_control(
        "Below",
        ["", IDS],
        format_func=lambda word: "Most confused ids" if word else "Mentions",
        key=key,
        on_change=_took,
        args=("links-shown", IDS),
        required=True,
        label_visibility="collapsed",
    )
    return IDS in here.view.sort
