"""Progress of a review, each score beside the score with verdicts, and verdicts that decide the order."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from nereval_core.ledger.verdict_tables import progress_by_reviewer, progress_by_type
from nereval_core.problems import capitalised
from nereval_core.records.queries import YES, Query
from nereval_core.review.apply import AppliedVerdicts
from nereval_core.review.apply.corrected_copy import signature
from nereval_core.review.apply.deciding_verdicts import Conclusion
from nereval_core.review.apply.settlement import REASONS, STALE
from nereval_core.review.apply.what_if import CountsPair, WhatIf
from nereval_core.review.tables import (
    WITH,
    conclusion_in_words,
    conclusion_table,
    log_table,
    what_if_table,
)
from nereval_core.review.verdicts import KINDS
from nereval_core.scoring.criteria import SCHEMAS
from nereval_core.tables import UNDEFINED, signed
from pages.shared import review
from pages.shared.components import navigation
from pages.shared.components.downloads import table_key
from pages.shared.components.navigation import toggle_all_criteria
from pages.shared.components.tables import open_records, show_formula, show_table
from pages.shared.data.page_context import PageContext
from pages.shared.review import finish, verdicts
from pages.shared.verdicts.list import OPEN, REVIEWED
from pages.shared.view import keys
from pages.shared.view.formulas import number
from pages.shared.view.queries import ERRORS, view_of
from pages.shared.view.text import count, named, plain

ALIVE = "alternatives"
"""The criterion that comes to life with the first verdict that both are right."""
HELD = 30
"""Systems up to which the order of each two is looked into."""


def draw_what_if(page: PageContext) -> None:
    draw_progress(page)
    if review.say_no_verdicts(page):
        return
    names = criteria_shown(page)
    say_applied(page)
    with st.container(horizontal=True, gap="medium", vertical_alignment="center"):
        review.choose_accepted(page)
        toggle_all_criteria(page)
    verdict_counts(page)
    score_table(page, names)
    order_on_verdicts(page)


def criteria_shown(page: PageContext) -> tuple[str, ...]:
    """Return the criteria that are shown: the schemas, the chosen one and the one that comes to life, or all.

    What counts tokens takes longest, and is scored where it is the one chosen, or all are.
    """
    if "all-criteria" in page.view.layout:
        return tuple(dict.fromkeys((*page.criteria, ALIVE)))
    few = {*SCHEMAS, page.by, ALIVE}
    return tuple(dict.fromkeys((*(name for name in page.criteria if name in few), ALIVE)))


def say_applied(page: PageContext) -> None:
    """Say what the verdicts did."""
    applied = review.corrected_gold(page)
    copied = f"a copy of {plain(page.words.reference)}"
    to = f"{count(applied.places, 'place')} in {count(applied.documents, 'document')} of {copied}"
    lines = [f"{count(applied.verdicts, 'verdict')} applied to {to}: {review.effects_in_words(applied)}."]
    if applied.spared:
        same = f"{count(applied.spared, 'document')} with the same text left alone"
        lines.append(f"{same}: *Accepted* has a switch for every document.")
    st.caption(" ".join(lines))


def verdict_counts(page: PageContext) -> None:
    """Show by type and by reviewer how many errors have each verdict; each count opens its records."""
    ledger, words = page.ledger(review.by_span(page, page.by)), page.words.verdicts
    signed = signature(review.corrected_gold(page))
    for table in (
        progress_by_type(ledger, page.types, words),
        progress_by_reviewer(ledger, words, page.words.reference),
    ):
        st.header(table.title)
        show_table(
            page, table, signature=signed, facts=(page.loaded.id, page.system, review.verdicts_number()), height=None
        )
    st.header("Scores with verdicts")


def score_table(page: PageContext, names: tuple[str, ...]) -> None:
    """Show P, R and F1 of all systems as they are and with verdicts; a row opens the records that have one."""
    both = review.what_if_scores_of(page, names)
    table = what_if_table(both)
    cell = show_table(
        page,
        table,
        signature=signature(both.applied),
        data=both.table(),
        choose=table.keys,
        facts=(page.loaded.id, page.system, review.verdicts_number(), names),
        caption=f"{UNDEFINED}: {page.words.reference} lacks what the criterion needs. "
        f"Choose a row to see how its F1 is made. Undecided records are as in {page.words.reference} here.",
        height=373,
    )
    if cell is not None:
        system, criterion = map(str, table.rows[cell.row][:2])
        _opened(page, both, system, criterion)


def _opened(page: PageContext, both: WhatIf, system: str, criterion: str) -> None:
    """Show the formula of an F1 as it is and with verdicts, and the records of the system that have verdicts."""
    counts = both.counts[system, criterion]
    with st.container(border=True):
        for counted, label in zip(counts, ("as it is", WITH), strict=True):
            if counted is not None:
                st.markdown(f"**F1 of {named(system)} under {plain(criterion)}, {label}**")
                show_formula("F1", counted)
        listed_by = review.by_span(page, criterion)
        if listed_by != criterion:
            st.caption(
                f"Its records are listed under {listed_by}: {plain(criterion)} has none of its own for verdicts."
            )
        of, accepted = page.of(system), review.accepted_choice()
        # A query asks for one reviewer, or for all of them.
        who = accepted.who[0] if accepted.who is not None and len(accepted.who) == 1 else None
        query = Query(having=() if who is None else (("reviewer", who),))
        ledger = of.ledger(listed_by)
        kind_counts = ledger.having_counts(query, "verdict")
        kinds = [kind for kind in KINDS if kind_counts.get(kind) and (accepted.kinds is None or kind in accepted.kinds)]
        by = "" if who is None else f" by {named(who)}"
        if not kinds:
            st.caption(f"No record of {named(system)} has a verdict{by}.")
            return
        kind = st.pills(
            f"Records of {named(system)} with a verdict{by}",
            kinds,
            key=table_key(f"{keys.WIDGET}what_if_kind", page.loaded.id, system, criterion, kinds),
            format_func=lambda kind: f"{page.words.verdicts[kind]} · {kind_counts[kind]:,}",
            default=kinds[0],
            required=True,
        )
    kind_query = Query(having=(*query.having, ("verdict", kind)))
    open_records(of, listed_by, kind_query, plain(page.words.verdicts[kind]), name="what_if_records")


def order_on_verdicts(page: PageContext) -> None:
    """Say of each two systems which verdicts have to fall for the better one to be no longer better."""
    if len(page.systems) < 2:
        return
    st.header(f"Does the order hang on verdicts, under {plain(page.by)}?")
    if len(page.systems) > HELD:
        st.caption(f"Not computed for more than {HELD} systems: it would take too long for a page.")
        return
    if len(page.systems) > review.FEW:
        st.caption(f"Of {named(page.system)} and each other, not of all pairs.")
    rows = review.hanging_of(page)
    if not rows:
        who = "annotator" if page.words.annotators else "system"
        st.caption(f"No {who} is better than another.")
        return
    table = conclusion_table(rows)
    cell = show_table(
        page,
        table,
        signature=signature(review.corrected_gold(page)),
        file="hanging",
        choose=table.keys,
        facts=(page.loaded.id, page.by, rows),
        caption="Choose a row to see the verdicts.",
        height=None,
    )
    if cell is not None:
        _fallen(page, rows[cell.row])


def _fallen(page: PageContext, row: Conclusion) -> None:
    with st.container(border=True):
        st.markdown(plain(f"{conclusion_in_words(row)}.", 400))
        if row.without is None:
            return
        better_f1, worse_f1 = (number(value) for value in row.without)
        st.caption(plain(f"Without them F1 of {row.better} is {better_f1}, that of {row.worse} {worse_f1}.", 400))
        table = log_table(row.changes, page.words.verdicts).selected(
            "document", "text", "type", "verdict", "after", "who"
        )
        cell = show_table(
            page,
            replace(table, name="fallen"),
            choose=table.keys,
            facts=(row,),
            hint="Choose a row to read its record in the text.",
            height=360,
        )
        if cell is not None:
            review.show_change(page, row.changes[cell.row])


def draw_progress(page: PageContext) -> None:
    """Draw how far the review is, F1 with its verdicts, those that are not applied, and the corrected copy."""
    applied = review.corrected_gold(page)
    columns = st.columns(4, gap="small")
    draws = (_decided, _score, _stale, _finished) if applied.log else (_decided,)
    for place, (column, draw) in enumerate(zip(columns, draws, strict=False)):
        with column, st.container(border=True, gap=None, height="stretch", key=f"headline_review_{place}"):
            draw(page, applied)


def _decided(page: PageContext, applied: AppliedVerdicts) -> None:
    criterion = review.by_span(page, page.by)
    ledger = page.ledger(criterion)
    errors = Query(decision=ERRORS)
    n_errors = ledger.total(errors).records
    done = ledger.having_counts(errors, REVIEWED[0]).get(YES, 0) if applied.log else 0
    what = f"{page.words.error_noun}s"
    st.metric(f"Decided under {plain(criterion)}", f"{done:,} of {n_errors:,}", help=f"The {what} that have a verdict.")
    st.progress(done / n_errors if n_errors else 1.0)
    if done < n_errors:
        view = view_of(page.view.under(criterion), Query(decision=ERRORS, having=(OPEN,)))
        label = "Decide the rest" if done else "Decide who is right"
        navigation.link_to("Inspect", f":primary[{label}: {n_errors - done:,} →]", view)


def _score(page: PageContext, applied: AppliedVerdicts) -> None:
    both = review.what_if_scores_of(page, [page.by]).counts.get((page.system, page.by))
    pair = CountsPair(None if both is None else both.before, finish.finished_counts(page))
    now, then = (number(None if counts is None else counts.f1) for counts in pair)
    gain = pair.difference("f1")
    # Its direction is told by an ASCII minus.
    change = f"{signed(gain).replace('−', '-')} from {now}" if gain else f"as before, {now}"
    reference = plain(page.words.reference)
    explanation = f"F1 against the finished layer, and the difference from that against {reference} as it is."
    label = f"F1 of {named(page.system)} under {plain(page.by)}"
    st.metric(label, then, change, delta_color="normal" if gain else "off", help=explanation)
    st.caption(f"Against the finished layer: {finish.filling_in_words(page)}.")


def _stale(page: PageContext, applied: AppliedVerdicts) -> None:
    counts = applied.counts()
    reasons = [name for name in counts if name in REASONS]
    n_not_applied = sum(map(counts.__getitem__, reasons))
    st.metric("Stale verdicts", f"{counts.get(STALE, 0):,}", help=f"Stale: {REASONS[STALE]}.")
    if n_not_applied:
        label = f":primary[not applied {n_not_applied:,}, and why →]"
        st.button(label, key="not_applied", type="tertiary", on_click=verdicts.list_outcomes, args=(page, reasons))
    else:
        st.caption("All verdicts are applied.")


def _finished(page: PageContext, applied: AppliedVerdicts) -> None:
    # Which records are open, for which two layers are compared, is of no use here.
    layer = applied.layer if finish.is_corrected_gold(page) else finish.finished_layer(page).layer
    filling = finish.filling_in_words(page)
    explanation = f"The layer that Finish offers: {plain(page.words.reference)} with the verdicts applied, {filling}."
    st.metric("Finished layer", count(len(layer), "span"), help=explanation)
    st.caption(f"{capitalised(filling)}.")
    navigation.link_to("Review", ":primary[Finish →]", replace(page.view, review_tab="finish"), key="to_copies")
