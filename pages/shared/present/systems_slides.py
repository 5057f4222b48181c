"""The slides that compare systems, and intervals for slides of one: the numbers are those of Systems and Overview."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
from markupsafe import Markup

from nereval_core.problems import FormatError, name_text
from nereval_core.report.figures.comparison import brackets, counts_in_words
from nereval_core.report.figures.parts import short_names, system_markers
from nereval_core.report.ranking_slide import RankedGroup, RankedSystem, ranking_html
from nereval_core.report.slides import gone_html
from pages.shared import systems
from pages.shared.data import masks
from pages.shared.data.page_context import PageContext
from pages.shared.data.resampling import plan_of, units_of
from pages.shared.overview import headline
from pages.shared.systems import ranking
from pages.shared.view import SYSTEM_SLIDES
from pages.shared.view.text import count

MOST_SYSTEMS = 12
"""Systems that are legible from the last row."""
MOST_ROWS = 40
"""Rows of systems by type that are, with one between two types."""


def are_compared(page: PageContext) -> bool:
    """Tell whether the corpus has several systems that Systems ranks: layers of annotators alone are not systems."""
    return page.loaded.has_layers and not page.words.annotators and len(systems.ranked_systems(page)) > 1


def are_suggested(page: PageContext) -> bool:
    """Tell whether a slide that compares systems is suggested: not where it takes long."""
    return headline.has_intervals(page) and are_compared(page) and len(systems.ranked_systems(page)) <= MOST_SYSTEMS


def f1_intervals(page: PageContext, names: Sequence[str]) -> Mapping[str, tuple[float, float]]:
    """Return the 95% interval of F1 by criterion; none where they would take long."""
    return headline.f1_intervals(page, tuple(names)) if headline.has_intervals(page) else {}


def numbers_behind(page: PageContext) -> str:
    """Return the numbers of spans and documents that scores are of, and how intervals were made where there are any."""
    gold = page.scores().layers(page.by)[0] if page.loaded.has_layers else None
    if gold is None:
        return ""
    n = f"n = {len(gold):,} {page.words.spans('gold')} in {count(len(page.loaded.corpus.documents), 'document')}"
    if not headline.has_intervals(page):
        return n
    plan = plan_of(page)
    return f"{n}; {units_of(page).intervals_in_words(plan.level, plan.resamples)}"


def systems_html(page: PageContext, heading: str, under: str, word: str) -> Markup:
    """Return the HTML of a slide that compares systems, of all types together or by type."""
    try:
        return _ranking_html(page, heading, under, word)
    except FormatError as error:
        # A bound of the server was reached: the other slides are shown all the same.
        problem = error.problems[0]
        return gone_html(heading, "", masks.mask_message(problem.found), problem.remedy)


def _ranking_html(page: PageContext, heading: str, under: str, word: str) -> Markup:
    comparison = systems.comparison_of(page, systems.shown_criteria(page, False))
    by_type = word == SYSTEM_SLIDES[1]
    table = (ranking.by_type if by_type else ranking.whole)(page, comparison)
    rows, facet = table.intervals, table.facet
    best = ranking.whole(page, comparison).intervals.sort_values("f1", ascending=False, kind="stable")["system"]
    # The system that the deck is about is among them, wherever it stands.
    others = [name for name in best if name != page.system][: MOST_SYSTEMS - 1]
    shown_systems = [name for name in best if name in (page.system, *others)]
    facets = list(dict.fromkeys(rows[facet])) if facet else [""]
    shown_facets = facets[: max(1, MOST_ROWS // (len(shown_systems) + 1))]
    method, apart = ranking.method_and_tests(comparison, table)
    names = dict(zip(sorted(page.systems), short_names(sorted(page.systems)), strict=True))
    markers = system_markers(page.systems)
    groups = []
    for value in shown_facets:
        of_facet, tests = ((part[part[facet].eq(value)] if facet else part) for part in (rows, apart))
        of_facet = of_facet[of_facet["system"].isin(shown_systems)]
        order = of_facet.sort_values("f1", ascending=False, kind="stable", na_position="last")
        ranked = [
            RankedSystem(
                name_text(names[row["system"]]),
                str(markers[row["system"]]["color"]),
                str(markers[row["system"]]["symbol"]),
                *(float(row[key]) for key in ("f1", "f1_low", "f1_high")),
            )
            for row in order.to_dict("records")
        ]
        name = f"{name_text(str(value))} (n={int(of_facet['POS'].max()):,})" if facet else ""
        groups.append(RankedGroup(name, ranked, brackets(order["system"].tolist(), _better_pairs(tests))))
    left_out = [
        count(len(everything) - len(shown), noun)
        for everything, shown, noun in ((best, shown_systems, "system"), (facets, shown_facets, "type"))
        if len(everything) > len(shown)
    ]
    hidden = f". Not shown: {' and '.join(left_out)}" if left_out else ""
    units = comparison.units.singular, comparison.units.plural
    counts = counts_in_words(rows.assign(_facet=rows[facet] if facet else ""), units)
    note = page.words.by_names(f"{counts}; {'; '.join(method.splitlines())}{hidden}.")
    words = f"by type under {page.by}" if by_type else f"under {page.by}"
    return ranking_html(heading, under, f"F1 of {count(len(best), 'system')} {words}", groups, note)


def _better_pairs(tests: pd.DataFrame) -> set[tuple[str, str]]:
    """Return the pairs of a significantly better system and a worse one."""
    sides = zip(tests["system"], tests["baseline"], tests["difference"], strict=True)
    return {(system, baseline) if difference > 0 else (baseline, system) for system, baseline, difference in sides}
