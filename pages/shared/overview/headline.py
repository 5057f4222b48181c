"""What comes first: F1, P, R and errors, the classes that cost most, and bars of decisions by criterion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import streamlit as st

from nereval_core.analysis.comparison.measures import SystemResamples, count_units
from nereval_core.analysis.errors import errors_query
from nereval_core.analysis.intervals import set_wilson_intervals
from nereval_core.analysis.resampling_units import ResamplingPlan
from nereval_core.problems import capitalised
from nereval_core.records.queries import overall_query
from nereval_core.report.colours import LOOKS
from nereval_core.report.references import INTERVAL
from nereval_core.tables import RATIO_KEYS
from nereval_core.tables.glossary import DECISIONS, GLOSSARY
from pages.shared.components import links, navigation, sentence
from pages.shared.components.export_menu import method_notes
from pages.shared.components.tables import formula_box
from pages.shared.data.memo import memoized
from pages.shared.data.page_context import PageContext
from pages.shared.data.resampling import plan_of, units_of
from pages.shared.inspect.error_classes import errors_of
from pages.shared.server.component_files import component
from pages.shared.view import keys, state
from pages.shared.view.formulas import number
from pages.shared.view.queries import query_of, view_of
from pages.shared.view.text import visible

SHOWN = 3
"""Classes of errors that are named."""
MOST_SPANS = 50_000
"""Gold spans up to which they are computed with the page: the scores with each class mended are computed for them."""
MOST_DOCUMENTS = 2_000
"""Documents up to which intervals are computed with the page: for more, Systems has them."""


_HERE = Path(__file__).parent
MORPH = (_HERE.parent / "components" / "morph.js").read_text(encoding="utf-8")
_mount_headline, mount_bars = (
    component(
        f"nereval_{name}",
        css=style + (_HERE / f"{name}.css").read_text(encoding="utf-8"),
        js=script + (_HERE / f"{name}.js").read_text(encoding="utf-8"),
    )
    for name, style, script in (("headline", links.STYLE, links.SCRIPT), ("schema_bars", "", MORPH))
)
OPEN_FORMULA = keys.LIST + "formula"
"""The ratio of the headline whose formula is open, in the session."""


def draw_headline(page: PageContext) -> None:
    """Draw the numbers of the system under the chosen criterion; each opens its formula or its records."""
    intervals = _intervals_of(page)
    opened = st.session_state.get(OPEN_FORMULA, "")
    key = f"{OPEN_FORMULA}_drawn"

    def choose() -> None:
        if ratio := st.session_state[key]["formula"]:
            # A second click on the same closes it.
            st.session_state[OPEN_FORMULA] = "" if ratio == opened else str(ratio)

    _mount_headline(data=headline_data(page, intervals, opened), key=key, on_formula_change=choose)
    if opened in RATIO_KEYS:
        with st.container(border=True):
            formula_box(page, page.by, opened, page.scores().counts(page.by))
            if any(np.isfinite(low) for low, _ in intervals):
                st.markdown(method_notes(INTERVAL))


def headline_data(page: PageContext, intervals: Sequence[tuple[float, float]], opened: str) -> dict[str, Any]:
    """Return the cards of F1, P and R with their intervals, if any, and of the errors, and the sentences around them.

    `opened` is the ratio whose formula is open, or empty.
    """
    counts, words = page.scores().counts(page.by), page.words
    cards: list[dict[str, Any]] = []
    for place, (ratio, name) in enumerate(RATIO_KEYS.items()):
        low, high = intervals[place] if intervals else (np.nan, np.nan)
        cards.append(
            {
                "name": ratio,
                "label": visible(capitalised(words.label(ratio), (words.reference, words.other))),
                "value": number(getattr(counts, name)),
                "help": visible(words.tooltip(ratio), 1_000),
                "guide": f"{links.page_path('Guide')}#{GLOSSARY[ratio].anchor}",
                "button": "formula" if np.isnan(low) else f"95% interval {low:.3f} to {high:.3f}",
                "open": ratio == opened,
            }
        )
    view = page.view.cleared()
    errors = {
        "label": f"{capitalised(words.error_noun)}s",
        "value": f"{page.ledger().total(query_of(view)).records:,}",
        "help": f"All records but {'those on which the two agree' if words.by_name else 'the correct ones'}.",
        "link": links.link_data(links.Link("inspect them →", "Inspect", view)),
    }
    around = ("parts", sentence.overview(page)), ("losses", losses(page))
    sentences = {name: links.sentence_data(parts)["parts"] for name, parts in around}
    return {"cards": [cards[2], cards[0], cards[1], errors], **sentences}


def losses(page: PageContext) -> list[str | links.Link]:
    """Return in a sentence the classes of errors that cost most F1 under the chosen criterion, with their records."""
    if not page.loaded.has_layers or page.settings.counting != "one-to-one":
        return []
    differ = page.words.by_name
    parts: list[str | links.Link] = ["Where they differ most: " if differ else "Where it loses most: "]
    if len(page.loaded.corpus.gold) <= MOST_SPANS:
        classes = errors_of(page).classes[page.by]
        largest = classes[classes["gain"] > 0].head(SHOWN)
        for name, records, gain in largest[["class", "records", "gain"]].itertuples(index=False):
            label = f"{visible(page.words.error_class(name))} {records:,}"
            view = view_of(page.view, errors_query(("class", name)))
            parts.append(links.Link(label, "Inspect", view, help="F1 gained if these alone were right"))
            parts.append(f" ({_beside_errors(page, name, records)}+{gain:.3f} F1), ")
    by_class = replace(page.view.cleared(), inspect_tab="by-class")
    label = "all classes of differences" if differ else "all classes of errors"
    return [*parts, links.Link(f"{label} →", "Inspect", by_class)]


def _beside_errors(page: PageContext, error_class: str, records: int) -> str:
    """Say how many missed or spurious spans are in another class: the bars count these too."""
    counts = page.scores().counts(page.by)
    decided = {"missed": counts.mis, "spurious": counts.spu}.get(error_class, records)
    return f"and {decided - records:,} beside another error; " if decided > records else ""


def has_intervals(page: PageContext) -> bool:
    """Tell whether intervals are computed with the page: not where they would take long, or there are no spans."""
    return page.loaded.has_layers and len(page.loaded.corpus.documents) <= MOST_DOCUMENTS


def _intervals_of(page: PageContext) -> list[tuple[float, float]]:
    """Return the 95% intervals of precision, recall and F1, none where the page has none."""
    return _intervals(page, plan_of(page), (page.by,))[page.by] if has_intervals(page) else []


def f1_intervals(page: PageContext, names: tuple[str, ...]) -> dict[str, tuple[float, float]]:
    """Return the 95% interval of F1 under each criterion."""
    place = list(RATIO_KEYS).index("F1")
    return {name: ends[place] for name, ends in _intervals(page, plan_of(page), names).items()}


@memoized()
def _intervals(page: PageContext, plan: ResamplingPlan, names: tuple[str, ...]) -> dict[str, list[tuple[float, float]]]:
    scores = {page.system: page.scores(names=names)}
    resampled = SystemResamples(count_units(scores, list(names), units_of(page)), plan)
    estimates = [resampled.estimate_ratios(place) for place in range(len(names))]
    for each, totals in zip(estimates, resampled.totals, strict=True):
        set_wilson_intervals(each.low, each.high, totals, plan.level)
    return {
        name: list(zip(each.low[0].tolist(), each.high[0].tolist(), strict=True))
        for name, each in zip(names, estimates, strict=True)
    }


CHOSEN = keys.TABLE + "bars"
"""The criterion and the decision (or F1) that were clicked, in the session."""


def draw_bars(page: PageContext, names: Sequence[str]) -> None:
    """Draw a bar for each criterion; a decision leads to its records on Inspect, an F1 shows its formula below."""
    key = f"{CHOSEN}_drawn"

    def choose() -> None:
        if clicked := st.session_state[key]["choose"]:
            st.session_state[CHOSEN] = (names[int(clicked[0])], str(clicked[1]))

    mount_bars(data=bars_data(page, names), key=key, on_choose_change=choose)
    criterion, code = st.session_state.get(CHOSEN, ("", ""))
    if criterion not in names:
        return
    if code == "F1":
        formula_box(page, criterion, "F1", page.scores(names=names).counts(criterion))
        return
    del st.session_state[CHOSEN]
    if (query := overall_query(code)) is not None:
        state.go(navigation.pages()["Inspect"], view_of(page.view.under(criterion), query))


def bars_data(page: PageContext, names: Sequence[str]) -> dict[str, Any]:
    """Return names, F1 and segments: decision, count, size (a share of the bar), words and colours."""
    scores = page.scores(names=names)
    rows = []
    for name in names:
        counts = scores.counts(name)
        parts = bar_parts(page, dict(zip(DECISIONS, (*counts.gold[:4], counts.spu), strict=True)), f"under {name}")
        title = f"F1 under {name}: its formula"
        rows.append({"name": name, "f1": number(counts.f1), "title": title, "parts": parts, "chosen": name == page.by})
    return {"rows": rows, "legend": [page.words.with_glyph(code) for code in DECISIONS]}


def bar_parts(page: PageContext, counts: Mapping[str, int], where: str) -> list[dict[str, Any]]:
    """Return the segments of a bar for the decisions that there are; `where` ends the sentence of a tooltip."""
    return [
        {
            "code": code,
            "count": f"{value:,}",
            "size": value,
            "glyph": LOOKS[code].glyph,
            "title": f"{value:,} {page.words.label(code)} {where}: read them",
            "fill": list(LOOKS[code].colour.fill),
            "ink": list(LOOKS[code].colour.ink),
        }
        for code, value in counts.items()
        if value
    ]
