"""The overlap curve, and composing a criterion of one's own: views of the Criteria page."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pandas as pd
import streamlit as st

from nereval_core.analysis.criteria.overlap_curve import SHARES, criterion_at, overlap_curve, step_at
from nereval_core.analysis.criteria.tables import curve_table
from nereval_core.problems import FormatError
from nereval_core.report.figures.criteria import overlap_lines
from nereval_core.report.score_tables import criterion_table
from nereval_core.review.layer_words import figure_by_names
from nereval_core.scoring.criteria import BOUNDARY_RULES, Criterion, Share
from nereval_core.scoring.criterion_syntax import criterion_from_parts, criterion_to_toml
from nereval_core.tables import RATIO_KEYS, cell_text
from pages.shared.components.downloads import Export, count_figure
from pages.shared.components.tables import show_table
from pages.shared.data import own_criteria
from pages.shared.data.computations import compute
from pages.shared.data.memo import memoized
from pages.shared.data.page_context import PageContext
from pages.shared.view import state
from pages.shared.view.link import write_rule
from pages.shared.view.text import named, plain, show_problems


def draw_curve(page: PageContext) -> None:
    """Draw P, R and F1 against the least overlap; a point, or a place on the slider, opens its counts."""
    if page.criterion.unit != "span":
        st.caption(f"{plain(page.by)} counts tokens: choose a matching criterion that counts spans.")
        return
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        share: Share = (
            st.segmented_control(
                "Overlap as",
                list(SHARES),
                format_func=lambda name: page.words.by_names(SHARES[name]),
                default="union",
                required=True,
                key="curve_share",
                wrap=True,
            )
            or "union"
        )
        same = st.toggle("Types must be equal", value=True, key="curve_types")
        least = st.slider("Least overlap", 0.0, 1.0, 0.5, 0.01, key="curve_least", width=280)
    table = curve_of(page, share, same_type=same)
    scores = page.scores()
    marks = [(name, f1) for name in spans_criteria(page) if (f1 := scores.counts(name).f1) is not None]
    n = tuple(len(layer) for layer in scores.layers(page.by))
    about = (marks, SHARES[share], page.system, (n[0], n[1]))
    curve = figure_by_names(overlap_lines(table, *about, at=least), page.words)
    place = count_figure(curve, "curve", (share, same, least), file="overlap")
    Export(
        table,
        page.signature(),
        "overlap",
        key="curve",
        figure=lambda: overlap_lines(table, *about),
        printed=lambda: (curve_table(table, page.system, (page.signature(),)),),
    ).draw()
    if place and 0 <= int(place[0]) < len(table):
        rule = criterion_at(table, int(place[0]), share, same_type=same)
    else:
        minimum = Fraction(round(least * 100), 100)
        rule = replace(criterion_at(table, step_at(table, minimum), share, same_type=same), minimum=minimum)
        rule = replace(rule, name=f"{share}-{least:.2f}{'' if same else '-any-type'}")
    _step(page, rule)


def _step(page: PageContext, rule: Criterion) -> None:
    """Show the counts under a rule of the curve; each opens its records."""
    context = with_criterion(page, rule, write_rule(rule))
    st.markdown(f"**{plain(rule.name)}**: {plain(rule.rule(), 300)}")
    scores = context.scores(names=[rule.name])
    show_table(
        context,
        criterion_table(page.system, {page.system: scores}, [rule.name], name="step"),
        facts=(page.view, rule.name),
        hint="Choose a count to see its records, a ratio to see how it is made.",
        height=None,
    )
    st.button("Keep it as a criterion of my own", key="curve_keep", on_click=_keep, args=(rule,), type="tertiary")


def _keep(rule: Criterion) -> None:
    if own_criteria.add_criterion(rule):
        state.update(criterion=rule.name)


def compose_criterion(page: PageContext) -> None:
    """Offer the parts of a criterion, and show the scores under it while they are chosen."""
    st.caption("Put a criterion together; once added it can be chosen on every page, and links carry its rule.")
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        name = st.text_input("Name", "mine", max_chars=64, key="compose_name", width=160)
        boundaries = st.selectbox(
            "Correct where",
            list(BOUNDARY_RULES),
            list(BOUNDARY_RULES).index("overlap"),
            format_func=lambda name: page.words.by_names(BOUNDARY_RULES[name].words),
            key="compose_rule",
            width=420,
        )
        types = st.segmented_control(
            "and the types", ["equal", "any"], default="equal", required=True, key="compose_types"
        )
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        share = st.selectbox(
            "Overlap as",
            list(SHARES),
            2,
            format_func=lambda name: page.words.by_names(SHARES[name]),
            key="compose_share",
            width=260,
        )
        least = st.slider(
            "at least", 0.0, 1.0, 0.0, 0.01, key="compose_least", width=320, help="0: any overlap will do."
        )
    decisions = _choose_decisions(bounds_fail=boundaries != "overlap" or least > 0, type_fails=types == "equal")
    parts = {"boundaries": boundaries, "types": types, "minimum": f"{least:.2f}", "share": share, **decisions}
    try:
        rule = criterion_from_parts(name.strip(), parts, "compose")
    except FormatError as error:
        show_problems(error.lines())
        return
    if (need := rule.lacks(page.loaded.corpus.gold)) is not None:
        st.caption(f"It does not apply here: it needs {need}.")
    else:
        if rule.name in page.criteria:
            st.caption(f"{plain(rule.name)} is one of your own already: adding it replaces that one.")
        else:
            context = with_criterion(page, rule, write_rule(rule))
            counts = context.scores(names=[rule.name]).counts(rule.name)
            ratios = (f"{ratio} {cell_text(getattr(counts, key), 'ratio')}" for ratio, key in RATIO_KEYS.items())
            st.markdown(f"**{named(page.system)} under it: {', '.join(ratios)}**")
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        st.button("Add and choose it", key="compose_add", on_click=_keep, args=(rule,), type="primary")
        st.download_button(
            "As TOML",
            criterion_to_toml(rule),
            file_name="nereval-criteria.toml",
            mime="application/toml",
            on_click="ignore",
            key="compose_toml",
        )
    st.code(criterion_to_toml(rule), language="toml")
    st.caption("Files of criteria are loaded and saved under Matching criterion, your own.")


def _choose_decisions(*, bounds_fail: bool, type_fails: bool) -> dict[str, str]:
    """Ask what a pair gets that fails by its boundaries and by its type, each where a pair can fail there."""
    failures = {
        "other_boundaries": ("if the boundaries fail", bounds_fail),
        "other_type": ("if the type fails", type_fails),
    }
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        return {
            key: st.segmented_control(
                label,
                ["INC", "PAR"],
                default="INC",
                required=True,
                key=f"compose_{key}",
                help="What an aligned pair gets that fails there; one that fails both gets the lesser of the two.",
            )
            for key, (label, can_fail) in failures.items()
            if can_fail
        }


@memoized("Matching at every overlap …")
def curve_of(page: PageContext, share: Share, *, same_type: bool) -> pd.DataFrame:
    gold, pred = page.scores().layers(page.by)
    return compute(page.loaded, "Matching", overlap_curve, gold, pred, share, same_type=same_type)


def spans_criteria(page: PageContext) -> tuple[str, ...]:
    """Return the criteria that decide over the same spans as the chosen one."""
    rules = page.settings.rules_for(page.criterion)
    by_span = (rule for rule in page.settings.criteria if rule.unit == "span")
    return tuple(rule.name for rule in by_span if page.settings.rules_for(rule) == rules)


def with_criterion(page: PageContext, rule: Criterion, written: str) -> PageContext:
    """Return the page's state under one more criterion; `written` is its rule as links carry it."""
    others = (other for other in page.settings.criteria if other.name != rule.name)
    settings = replace(page.settings, criteria=(*others, rule))
    return replace(page, settings=settings, view=replace(page.view, criterion=rule.name, rule=written))
