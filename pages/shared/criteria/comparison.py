"""Views of Criteria: two criteria compared, missed spans by the first that credits them, one record under all."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from nereval_core.analysis.criteria.gap import (
    CHAIN,
    Gap,
    RecoveredSpans,
    gap_sentence,
    looser_criteria,
    recover_spans,
    recovered_sentence,
)
from nereval_core.analysis.criteria.gap import gap as gap_between
from nereval_core.analysis.criteria.ladder import ladder
from nereval_core.analysis.criteria.tables import decision_table, gap_table, ladder_grid, ladder_table, recovered_table
from nereval_core.analysis.crosstab import decision_matrix
from nereval_core.records.queries import Query
from nereval_core.records.tables import records
from nereval_core.report.figures.criteria import gap_bars
from nereval_core.review.layer_words import figure_by_names
from nereval_core.scoring import Scores
from nereval_core.tables import signed
from nereval_core.tables.glossary import DECISIONS
from pages.shared.components import sentence
from pages.shared.components.downloads import show_figure
from pages.shared.components.records import record_box, short
from pages.shared.components.tables import open_records, record_table, show_table
from pages.shared.criteria.rules import spans_criteria
from pages.shared.data.computations import compute
from pages.shared.data.memo import memoized
from pages.shared.data.page_context import PageContext
from pages.shared.view import keys, state
from pages.shared.view.text import named, plain


def compare_two(page: PageContext) -> None:
    """Ask for the other criterion; show the gap by cause and the decisions under both."""
    others = [name for name in spans_criteria(page) if name != page.by]
    if page.criterion.unit != "span" or not others:
        st.caption(f"{plain(page.by)} is not compared: choose a matching criterion that counts spans.")
        return
    other = page.view.versus if page.view.versus in others else _default_other(page.by, others)
    widget = state.mirror("versus", other, state.take_field("versus"))
    st.selectbox(f"{plain(page.by)} against", others, width=320, **widget)
    gap, counts = gap_of(page, page.by, other)
    _gap(page, gap)
    _decisions(page, other, counts)


def _default_other(name: str, others: list[str]) -> str:
    return next((other for other in ("type", "strict") if other in others and other != name), others[0])


def _gap(page: PageContext, gap: Gap) -> None:
    total = gap.total
    if total is None:
        st.caption("There are no spans to compare the two by.")
        return
    frame = gap.table()
    f1 = [float(value or 0) for value in gap.f1]
    st.markdown(
        f"**F1 is {f1[0]:.4f} under {plain(gap.strict)} and {f1[1]:.4f} under {plain(gap.loose)}, "
        f"{signed(float(total), 4)}.**"
    )
    sentence.draw(page, gap_sentence(gap), "gap")
    if not len(frame):
        st.caption(plain(page.words.by_names("No gold span earns another credit."), 300))
        return
    n = (gap.strict, gap.loose, float(total), gap.spans, page.system)
    show_figure(figure_by_names(gap_bars(frame, *n), page.words), "gap_bars", file="gap")
    show_table(
        page,
        gap_table(gap, f"{page.system}: {gap.strict} to {gap.loose}, by cause"),
        signature=page.signature(gap.loose),
        data=frame,
        facts=(page.view, gap.strict, gap.loose),
        figure=lambda: figure_by_names(gap_bars(frame, *n), page.words),
        caption="Choose a row to see its spans, a count to see those that gain or lose.",
        height=None,
    )


def _decisions(page: PageContext, other: str, counts: pd.DataFrame) -> None:
    title = f"Decisions under {page.by} (down) and {other} (across)"
    st.markdown(f"**{plain(title)}**")
    cell = show_table(
        page,
        decision_table(counts, page.by, other, title),
        signature=page.signature(),
        caption="Gold spans, and in the last row predictions that are spurious under the first criterion.",
        height=None,
    )
    n_flipped = int(counts.to_numpy().sum() - counts.to_numpy().trace())
    if cell is None and st.toggle(f"List the {n_flipped:,} that are decided otherwise", key=f"{keys.WIDGET}flipped"):
        query = Query(decision=DECISIONS, having=((f"flips {other}", "yes"),))
        open_records(page, page.by, query, f"Decided otherwise under {named(other)}", name="flipped")


def list_recovered(page: PageContext) -> None:
    """Show gold spans that the chosen criterion does not credit, by the first looser one that does."""
    chain = _looser_chain(page)
    if page.criterion.unit != "span" or len(chain) < 2:
        st.caption(f"No criterion is looser than {plain(page.by)}: choose a stricter one, such as strict.")
        return
    recovered = recovered_of(page, chain)
    sentence.draw(page, recovered_sentence(recovered), "recovered")
    st.caption(f"Criteria stand from {plain(page.by)} to lenient; a span stands at the first that credits it.")
    show_table(
        page,
        recovered_table(recovered, f"{page.system}: not found under {page.by}, by the first criterion that credits it"),
        signature=page.signature(),
        caption="Choose a row to see its spans. After Tsai et al. 2006.",
        height=None,
    )


def draw_ladder(page: PageContext) -> None:
    """Show the ladder of the record that is chosen, or of one chosen from the list."""
    if page.criterion.unit != "span":
        st.caption(f"{plain(page.by)} counts tokens: choose a matching criterion that counts spans.")
        return
    if page.view.record and page.view.doc:
        scores = page.reading(page.view.doc)
        rows = records(scores, page.by)
        places = np.flatnonzero((rows["record"] == page.view.record).to_numpy())
        if len(places):
            _ladder(page, page.by, scores, rows.iloc[places[0]])
            return
    st.caption("Choose a record to see what each criterion makes of it.")
    record_table(page, page.by, page.query(), name="ladder", card=ladder_card)


def ladder_card(page: PageContext, criterion: str, record: pd.Series) -> None:
    """Show one record of a list with its ladder."""
    scores = page.reading(str(record["document"]), criterion)
    rows = records(scores, criterion)
    (place,) = np.flatnonzero((rows["record"] == record["record"]).to_numpy())
    _ladder(page, criterion, scores, rows.iloc[place])


def _ladder(page: PageContext, criterion: str, scores: Scores, record: pd.Series) -> None:
    record_box(page, scores, page.view, record)
    steps = ladder(scores, criterion, int(record["gold"]), int(record["pred"]))
    if not len(steps):
        side, other = ("gold span", "prediction") if record["gold"] >= 0 else ("prediction", "gold span")
        st.caption(
            plain(page.words.by_names(f"No {other} overlaps this {side}: every criterion leaves it alone."), 400)
        )
        return
    gold, pred = scores.layers(criterion)
    pairs = steps.drop_duplicates("pair")
    labels = [
        (f"{short(gold.text(g))} [{gold.label(g)}]", f"{short(pred.text(p))} [{pred.label(p)}]")
        for g, p in zip(pairs["gold"].tolist(), pairs["pred"].tolist(), strict=True)
    ]
    grid = ladder_grid(steps, labels)
    cell = show_table(
        page,
        grid,
        choose=grid.keys,
        facts=(page.view, criterion, record["document"], record["record"]),
        caption="A row is a pair that the record could be judged by, a column a criterion. In brackets: what the pair "
        "would get, had the criterion aligned it. Choose another row to see what of its prediction flips the record.",
        height=None,
    )
    place = cell.row if cell is not None else 0
    pair = pairs["pair"].tolist()[place]
    title = f"{labels[place][0]} and {labels[place][1]}"
    st.markdown(f"**{plain(title)}**")
    show_table(
        page,
        ladder_table(steps[steps["pair"] == pair], title).selected("criterion", "decision", "change", "partner"),
        signature=page.signature(criterion),
        data=steps,
        file="ladder",
        facts=(page.view, criterion, record["record"], pair),
        caption="",
        height=500,
    )


@memoized("Comparing the two criteria …")
def gap_of(page: PageContext, criterion: str, other: str) -> tuple[Gap, pd.DataFrame]:
    """Return the gap between two criteria, and the decisions under them."""
    scores = page.scores(names=[criterion, other])
    return compute(page.loaded, "Comparing criteria", _gap_and_decisions, scores, criterion, other)


def _gap_and_decisions(scores: Scores, criterion: str, other: str) -> tuple[Gap, pd.DataFrame]:
    return gap_between(scores, criterion, other), decision_matrix(scores, criterion, other)


def _looser_chain(page: PageContext) -> tuple[str, ...]:
    """Return the chosen criterion, and those of the chain that credit all that it credits, and more."""
    comparable = spans_criteria(page)
    rules = {rule.name: rule for rule in page.settings.criteria}
    return looser_criteria(page.criterion, [rules[name] for name in CHAIN if name in comparable])


@memoized("Looking for what could be recovered …")
def recovered_of(page: PageContext, chain: tuple[str, ...]) -> RecoveredSpans:
    return compute(page.loaded, "Recoverable spans", recover_spans, page.scores(names=chain), chain)
