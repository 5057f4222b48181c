"""Parts of the Linking page: the settings of scoring, the table of metrics, and the reader's choices."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import streamlit as st

from nereval_core.analysis.linking import LinkCounts, Truth
from nereval_core.analysis.linking.tables import rule_table
from nereval_core.problems import FormatError
from nereval_core.readers import Source
from nereval_core.readers.shared.concepts import read_mapping
from nereval_core.report.concept_links import EXAMPLE, template_problem
from pages.shared.components import navigation
from pages.shared.components.navigation import choose_word, toggle_layout
from pages.shared.components.tables import ChosenCell, show_table
from pages.shared.data.page_context import PageContext
from pages.shared.linking.link_records import (
    Linking,
    LinkQuery,
    Rule,
    cell_query,
    formula,
    headline,
    mentions_of,
    rule_of,
    rules,
    with_rule,
)
from pages.shared.view import keys, state
from pages.shared.view.text import count, named, plain, show_problems

QUERY = f"{keys.LIST}links"
"""The records listed: (facts, LinkQuery). The choice holds as long as these facts do."""
FORMULA = f"{keys.LIST}links_formula"
"""The ratio opened: (facts, Rule, its column)."""
MAPPING = f"{keys.LIST}links_mapping"
"""The mapping of ids in force: (file name, mapping). No link carries it."""
REFUSED_MAPPING = f"{keys.LIST}links_mapping_refused"
TEMPLATE = f"{keys.LIST}links_template"
"""The address at which ids open, as typed by the reader."""


def say_no_links(page: PageContext) -> bool:
    """Tell the reader if gold has no links, and how to get some; return whether that is so."""
    corpus = page.loaded.corpus
    if corpus.gold.links:
        if not corpus.system(page.system).links:
            linked = [named(layer.name) for layer in corpus.systems if layer.links]
            others = f" With links: {', '.join(linked)}." if linked else " No other system has any, either."
            st.info(f"No span of {named(page.system)} has a link, so every gold mention is missing.{others}")
        return False
    st.info(
        "No gold span of this corpus has a link, so there is no linking to score. Links are read from the NEL columns "
        "of HIPE, from N lines of brat and notes that are codes, and from `links` in JSONL. The demo of "
        "pharmacological case notes has some."
    )
    navigation.link_to("Start", ":primary[Choose another corpus at Start →]", page.view)
    return True


def choose_scoring(page: PageContext) -> Linking:
    """Ask for the mentions that are scored, for any or the first of gold's links, and for a mapping."""
    view = page.view
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        choose_word(
            page,
            "mentions",
            "Mentions",
            {"": "End to end", "given": "Gold's, given"},
            visible=True,
            help="End to end: a mention not found, or found in vain, counts too. Gold's, given: only where boundaries "
            "are equal is the link judged.",
        )
        toggle_layout(
            page, "any-link", "Any of gold's links", "Gold's first link is the truth; with this, any of them."
        )
        _mapping()
        _template()
    truth: Truth = "any" if "any-link" in view.layout else "first"
    return Linking(page, mentions_of(view), truth, mapping_in_force()[1])


def _mapping() -> None:
    name, mapping = mapping_in_force()
    label = f"Mapping: {named(name, 20)}" if mapping else "Mapping: none"
    with st.popover(label):
        st.caption(
            "Relaxed linking: a TSV file with an id and, after a tab, the id it counts as; or HIPE's, with Main and "
            "Alternatives. It stays in this session; no link carries it."
        )
        key = keys.WIDGET + "mapping"
        if st.file_uploader("TSV file", key=key, type=["tsv", "txt"]) is not None:
            st.button("Use it", key="use-mapping", type="primary", on_click=_use_mapping, args=(key,))
        if (error := st.session_state.pop(REFUSED_MAPPING, None)) is not None:
            show_problems(error.lines())
        if mapping:
            st.button(f"Without {named(name, 20)} ({len(mapping):,} ids)", key="no-mapping", on_click=_unmapped)


def _use_mapping(key: str) -> None:
    file = st.session_state[key]
    try:
        st.session_state[MAPPING] = (file.name, read_mapping(Source.of_uploads([(file.name, file.getvalue())])))
    except FormatError as error:
        st.session_state[REFUSED_MAPPING] = error


def _unmapped() -> None:
    st.session_state.pop(MAPPING, None)


def _template() -> None:
    template = st.session_state.get(TEMPLATE, "")

    def take(typed: str) -> None:
        st.session_state[TEMPLATE] = typed.strip()

    with st.popover("Ids open a page" if id_template() else "Let ids open a page"):
        st.text_input("Address", placeholder=EXAMPLE, max_chars=300, **state.mirror("template", template, take))
        if template and (problem := template_problem(template)):
            st.error(f"This address is not used: {plain(problem)}.")
        st.caption(
            "`{id}` is where the id goes, `{code}` what follows its last colon. Nothing is opened before you click an "
            "id of a record, in a new tab. The address stays in this session."
        )


def say_headline(linking: Linking) -> None:
    """Say the one number that matters: how many gold mentions got the right id."""
    rule = rule_of(linking.page.view)
    right, whole, what = headline(linking.scores(rule).counts, linking.mentions)
    st.markdown(f"## {right:,} of {whole:,} {what} link to the right id")
    st.caption(f"{plain(linking.page.system)}, {rule.words}. A count in another row below changes the rule.")


def show_metrics(linking: Linking) -> None:
    """Show ratios and counts under each rule: a count lists its records, a ratio opens its formula."""
    scores_of_rule = {rule: linking.scores(rule) for rule in rules(linking.mentions)}
    table = rule_table(f"Links of {linking.page.system}", list(scores_of_rule.values()))

    def open_cell(cell: ChosenCell) -> None:
        rule, query = list(scores_of_rule)[cell.row], cell_query(cell.column)
        if query is None:
            st.session_state[FORMULA] = (linking.facts, rule, table.columns[table.keys.index(cell.column)].label)
        else:
            list_records(linking, rule, query)

    caption = "Choose a count to see its records, a ratio to see its formula."
    if linking.mentions == "gold":
        gold, pred = linking.alignment("strict").unjudged
        caption += f" Not judged, as boundaries differ: {gold:,} gold, {pred:,} predicted mentions."
    show_table(
        linking.page,
        table,
        signature=" / ".join(linking.signature(rule) for rule in scores_of_rule),
        file="linking",
        choose=[key for key in table.keys[1:] if key != "not_judged"],
        on_choose=open_cell,
        facts=linking.facts,
        caption=caption,
        height=None,
    )
    _show_formula(linking, {rule: scores.counts for rule, scores in scores_of_rule.items()})


def _show_formula(linking: Linking, counts_of_rule: Mapping[Rule, LinkCounts]) -> None:
    facts, rule, ratio = st.session_state.get(FORMULA, ((), None, ""))
    if facts != linking.facts or rule not in counts_of_rule:
        return
    text, counts = formula(ratio, counts_of_rule[rule])
    st.code(f"{rule.words}: {text}", language=None, wrap_lines=True)
    with st.container(horizontal=True):
        for label, value, query in counts:
            st.button(
                f":primary[{label}: {count(value, 'record')}]",
                key=f"links-{label}",
                type="tertiary",
                on_click=list_records,
                args=(linking, rule, query),
            )


def choose_list(page: PageContext) -> bool:
    """Ask for the list below, mentions or the ids most confused; return whether it is the ids."""
    return choose_word(page, "linking_tab", "Below", {"": "Mentions", "ids": "Most confused ids"}) == "ids"


def list_records(linking: Linking, rule: Rule, query: LinkQuery) -> None:
    """List the records of a query under a rule (the click on a count)."""
    state.put(replace(with_rule(state.view(), rule), linking_tab="", doc="", record=""))
    st.session_state[QUERY] = (linking.facts, query)
    st.session_state.pop(FORMULA, None)


def query_of(linking: Linking) -> LinkQuery:
    """Return the query of the list: the one chosen, or all that is not right."""
    facts, query = st.session_state.get(QUERY, ((), LinkQuery()))
    return query if facts == linking.facts else LinkQuery()


def id_template() -> str:
    """Return where ids open, empty where that is not set or cannot be used."""
    template = str(st.session_state.get(TEMPLATE, ""))
    return template if template and template_problem(template) is None else ""


def mapping_in_force() -> tuple[str, Mapping[str, str]]:
    """Return the mapping in force with the name of its file, empty without one."""
    named_mapping: tuple[str, Mapping[str, str]] = st.session_state.get(MAPPING, ("", {}))
    return named_mapping
