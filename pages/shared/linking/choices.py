"""What the reader of the Linking page has chosen, kept in the session; what a link can carry is in the view."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import streamlit as st

from nereval_core.report.concept_addresses import template_problem
from pages.shared.linking.tables import IDS, LinkQuery, Rule, with_rule
from pages.shared.view import keys, state

if TYPE_CHECKING:
    from pages.shared.linking.scores import Linking

QUERY = f"{keys.LIST}links"
"""What is listed: (facts, LinkQuery). It goes with the facts it was chosen under."""
FORMULA = f"{keys.LIST}links_formula"
"""The ratio opened: (facts, Rule, its column)."""
MAPPING = f"{keys.LIST}links_mapping"
"""The mapping of ids in force: (file name, mapping). No link carries it."""
TEMPLATE = f"{keys.LIST}links_template"
"""Where ids open, as its reader set it."""


def choose(linking: Linking, rule: Rule, query: LinkQuery) -> None:
    """List the records of a query under a rule: what a click on a count does."""
    state.put(replace(with_rule(state.view(), rule).with_sort(IDS, False), doc="", record=""))
    st.session_state[QUERY] = (linking.facts, query)
    st.session_state.pop(FORMULA, None)


def query_of(linking: Linking) -> LinkQuery:
    """Return what is listed: what was chosen, or all that is not right."""
    facts, query = st.session_state.get(QUERY, ((), LinkQuery()))
    return query if facts == linking.facts else LinkQuery()


def template() -> str:
    """Return where ids open, empty where that is not set or cannot be used."""
    found = str(st.session_state.get(TEMPLATE, ""))
    return found if found and template_problem(found) is None else ""


def mapping() -> tuple[str, Mapping[str, str]]:
    """Return the mapping in force with the name of its file, empty without one."""
    found: tuple[str, Mapping[str, str]] = st.session_state.get(MAPPING, ("", {}))
    return found
