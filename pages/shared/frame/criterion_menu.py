"""The menu of all matching criteria and published scorers: one searchable list, and why some do not apply."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from nereval_core.conventions import conventions
from nereval_core.scoring.criteria import CRITERIA
from pages.shared.data import caches, own_criteria
from pages.shared.data.page_context import PageContext
from pages.shared.view import state
from pages.shared.view.text import criterion_explained, plain


def draw_criterion_menu(page: PageContext, beside: Sequence[str], *, key: str) -> None:
    """Draw the menu; its button names what is chosen, unless that stands among those `beside` it."""
    chosen = page.view.criterion
    label = "more" if chosen in beside else plain(chosen, 30)
    with st.popover(label, key=key, on_change="rerun", help="All matching criteria and published scorers") as popover:
        # Which scorers apply takes as long as scoring: nothing is drawn that nobody looks at.
        if popover.open:
            _list(page)
            if page.loaded.folder is None:
                st.markdown("**Criteria of your own**")
                own_criteria.draw_own(page.view, page.loaded.corpus.gold)


def _list(page: PageContext) -> None:
    """Offer everything that applies in one list, and name what does not apply, with the reasons."""
    names, lacking = dict.fromkeys(page.criteria, "matching criterion"), list[str]()
    if page.loaded.folder is None:
        names, lacking = _applicable(page)
    st.selectbox(
        "Matching criterion or published scorer",
        list(names),
        format_func=lambda name: f"{name} · {names[name]}",
        help="When two spans count as a match. A published scorer's own figures stand on Overview.",
        **state.mirror_field("criterion", page.view.criterion),
    )
    st.caption(_sentence(page))
    if lacking:
        with st.expander(f"{len(lacking)} do not apply to this corpus"):
            st.caption("  \n".join(lacking))


def _applicable(page: PageContext) -> tuple[dict[str, str], list[str]]:
    """Return what applies, by name with its group, and a line of Markdown on each that does not."""
    gold = page.loaded.corpus.gold
    names: dict[str, str] = {}
    lacking: list[str] = []
    for criterion in (*CRITERIA.values(), *own_criteria.criteria()):
        if (need := criterion.lacks(gold)) is None:
            names[criterion.name] = criterion.group if criterion.name in CRITERIA else "your own"
        else:
            lacking.append(f"{plain(criterion.name)}: it needs {plain(need, 300)}.")
    _, refused = caches.published_rows(page.loaded, page.system)
    for one in sorted(conventions().values(), key=lambda one: one.family):
        error = refused.get(one.name)
        if error is None:
            names[one.name] = f"published scorer, {one.family}"
            continue
        first, more = error.problems[0], len(error.problems) - 1
        problem = f"{first.source}: {first.found}" + (f" (and {more:,} more)" if more else "")
        lacking.append(f"{plain(one.name)}: " + plain(f"it needs {one.needs}. {problem}.", 500))
    return names, lacking


def _sentence(page: PageContext) -> str:
    """Return the definition of the chosen criterion or scorer as Markdown."""
    if page.convention is not None:
        return plain(f"{page.convention.sentence} {page.convention.source}.", 400)
    if page.criterion in own_criteria.criteria():
        return own_criteria.rule_words(page.criterion)
    said = criterion_explained(page.criterion)
    if page.criterion.boundary_rule.bare and page.loaded.folder is None:
        gold = page.loaded.corpus.gold
        spans = plain(page.words.spans("gold"))
        said += f"  \n{len(gold) - len(gold.cores):,} of {len(gold):,} {spans} have no core: each is its own."
    return said
