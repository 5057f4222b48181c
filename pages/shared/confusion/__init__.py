"""The Confusion page: the confusion table as a heat map, whose cells are chosen with the mouse or the arrow keys."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from nereval_core.problems import name_text
from nereval_core.records.queries import ABSENT
from nereval_core.report.figures.scores import confusion_map
from nereval_core.report.slides import from_word, to_word
from nereval_core.review.layer_words import GOLD_AND_PREDICTION, LayerWords
from nereval_core.scoring.count_tables import free_name
from pages.shared.components.downloads import Export
from pages.shared.components.highlighted_text import DRAWING
from pages.shared.components.navigation import choose_word, toggle_layout
from pages.shared.data.memo import memoized
from pages.shared.data.page_context import PageContext
from pages.shared.server.component_files import component
from pages.shared.view import keys, state
from pages.shared.view.confusion_layout import Confusion, Pair, TypeGroups
from pages.shared.view.queries import Line, cell_query, context
from pages.shared.view.text import visible

Pairs = Sequence[tuple[Pair, int]]
PAIRS = 20
"""Confused pairs that are listed."""
AROUND = 24
"""Characters of whole words before and after the span of an example."""

UNITS = {"": "% of row", "column": "% of column", "counts": "counts"}
TITLES = {"": "counts of match records", "row": "per cent of each row", "column": "per cent of each column"}
TYPES = 100
"""Types in the table at most: a larger one would make too long a message to the browser."""
SWITCHES = {
    "off-diagonal": ("Hide the diagonal", "Leaves pairs of equal type blank, so that confusions stand out."),
    "by-confusion": (
        "Order by confusion",
        "Types with most confusions, and most spans that one side alone has, first.",
    ),
}


def types_shown(page: PageContext, cells: Mapping[tuple[str, str], int]) -> tuple[str, ...]:
    """Return the types that the table shows, in order: all of them unless there are very many."""
    types = page.types
    if len(types) <= TYPES:
        return types
    st.caption(f"The {TYPES} of {len(types):,} types with most records; leave out or merge others to see the rest.")
    sums = Counter[str]()
    for pair, number in cells.items():
        for kind in set(pair):
            sums[kind] += number
    return tuple(sorted(sorted(types, key=lambda kind: -sums[kind])[:TYPES]))


def choose_layout(page: PageContext, groups: TypeGroups) -> None:
    """Ask how the table is laid out; the answers are kept in the link."""
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        choose_word(page, "share", "Cells show", UNITS, visible=True)
        for word, (label, help_text) in SWITCHES.items():
            toggle_layout(page, word, label, help_text)
        if groups.members:
            unfolded = [name for name in groups.members if name not in groups.folded]
            st.multiselect(
                "Unfolded",
                list(groups.members),
                format_func=name_text,
                **state.mirror("unfold", unfolded, lambda names: _unfold(tuple(names))),
                placeholder="types with a common beginning",
                help="Types whose names begin alike share a row and a column until they are unfolded.",
                width=300,
            )


def _unfold(names: tuple[str, ...]) -> None:
    state.put(replace(state.view(), unfold=names))


def share_of(page: PageContext) -> str:
    """Return what cells show as `confusion_table` calls it: shares of the row unless the reader chose otherwise."""
    return {"": "row", "counts": ""}.get(page.view.share, page.view.share)


def open_cell(page: PageContext, groups: TypeGroups, pairs: Pairs) -> Pair | None:
    """Return the cell of the link, or the pair confused most where the link has none that is in the table."""
    if page.view.cell:
        gold, pred = page.view.cell
        if all(name == ABSENT or name in groups.members or name in page.types for name in (gold, pred)):
            return gold, pred
    return pairs[0][0] if pairs else None


def cell_title(page: PageContext, cell: Pair) -> str:
    """Return the names of a cell's sides."""
    names = page.words.reference, page.words.other if page.words.by_name else "predicted"
    kinds = (name_text(name) or page.words.label(code) for name, code in zip(cell, ("SPU", "MIS"), strict=True))
    return ", ".join(f"{name} {kind}" for name, kind in zip(names, kinds, strict=True))


def draw_pairs(page: PageContext, pairs: Pairs, cell: Pair | None) -> None:
    """List the pairs confused most, the most frequent first, each with an example."""
    reference, other = page.words.reference, page.words.other if page.words.by_name else "predicted"
    n_confused = sum(number for _, number in pairs)
    if not pairs:
        st.caption("No two types are confused. A cell of the table opens its records.")
        return
    listed = pairs[:PAIRS]
    rows = [
        {
            "key": list(pair),
            "types": f"{name_text(pair[0])} → {name_text(pair[1])}",
            "number": f"{number:,} ({number / n_confused:.0%})",
            "example": list(line),
        }
        for (pair, number), line in zip(listed, _examples(page, tuple(pair for pair, _ in listed)), strict=True)
    ]
    open_place = next((place for place, (pair, _) in enumerate(listed) if pair == cell), None)
    title = f"Confused most: {reference} → {other}"
    more = f"; the first {PAIRS} of {len(pairs):,} pairs" if len(pairs) > PAIRS else ""
    key = f"{keys.TABLE}confused_pairs"
    data = {"label": visible(title), "more": more, "pairs": rows, "chosen": open_place}
    _mount_pairs(data=data, key=key, on_choose_change=lambda: _choose(st.session_state[key]["choose"]))


@memoized()
def _examples(page: PageContext, pairs: tuple[Pair, ...]) -> list[Line]:
    """Return the words around the first record of each pair of types."""
    ledger, texts = page.ledger(), page.loaded.corpus.documents.texts
    # A longer context than is shown tells whether there is more.
    lines = (context(ledger.page(cell_query(*pair), rows=1), texts, 2 * AROUND)[0] for pair in pairs)
    return [(from_word(before, AROUND), span, to_word(after, AROUND)) for before, span, after in lines]


def _choose(cell: Sequence[str] | None) -> None:
    if cell:
        state.put(replace(state.view(), cell=(str(cell[0]), str(cell[1]))))


def draw_matrix(page: PageContext, table: Confusion, groups: TypeGroups, cell: Pair | None) -> None:
    """Draw the table and its files; a click on a cell, or Enter, opens it."""
    key = f"{keys.TABLE}confusion_map"

    def unfold() -> None:
        name = st.session_state[key]["unfold"]
        if name:
            _unfold((*state.view().unfold, str(name)))

    names = None if cell is None else [groups.row_name(name) for name in cell]
    is_drawn = names is not None and names[0] in table.rows and names[1] in table.columns
    data = heat_map_data(table, matrix_title(page), share=share_of(page), words=page.words, groups=groups)
    data["chosen"] = [table.rows.index(names[0]), table.columns.index(names[1])] if names and is_drawn else None
    mount_heat_map(data, key, lambda: _choose(st.session_state[key]["choose"]), unfold)

    def counts() -> tuple[pd.DataFrame]:
        return (table.counts.reset_index(names=free_name(page.words.reference, list(table.counts.columns))),)

    export = Export(counts, page.signature(), "confusion", rows=len(table.rows), figure=lambda: _drawn(page, table))
    export.draw()


def matrix_title(page: PageContext) -> str:
    """Return the title of the confusion table."""
    if page.words.by_name:
        return f"Types of {page.words.reference} and of {name_text(page.system)}"
    return f"Gold types and what {name_text(page.system)} made of them"


def _drawn(page: PageContext, table: Confusion) -> Any:
    """Return the table as a heat map."""
    share = share_of(page)
    texts = table.values.map(lambda value: "" if value != value else f"{value:.0f}{' %' if share else ''}")
    cells = [[(row, column) for column in range(len(table.columns))] for row in range(len(table.rows))]
    records = int(table.counts.to_numpy().sum())
    unit = TITLES[share]
    title = matrix_title(page)
    return confusion_map(table.values, texts, cells, title, unit, records)


_HERE = Path(__file__).parent
_mount = component(
    "nereval_heat_map",
    css=(_HERE / "heat_map.css").read_text(encoding="utf-8"),
    js="".join((DRAWING, *((_HERE / f"{name}.js").read_text("utf-8") for name in ("heat_map_layout", "heat_map")))),
)


def mount_heat_map(
    data: Mapping[str, Any], key: str, on_choose: Callable[[], None], on_unfold: Callable[[], None] = lambda: None
) -> Sequence[str] | None:
    """Draw a heat map from its data, see `heat_map_data`; return the keys of the cell that was just chosen.

    `columnKeys` of the data are the keys of columns where these are not the rows' own.
    """
    cell: Sequence[str] | None = _mount(data=data, key=key, on_choose_change=on_choose, on_unfold_change=on_unfold)[
        "choose"
    ]
    return cell


_mount_pairs = component(
    "nereval_confused_pairs",
    js=(_HERE / "confused_pairs.js").read_text(encoding="utf-8"),
)


def heat_map_data(
    table: Confusion,
    label: str,
    *,
    share: str,
    words: LayerWords = GOLD_AND_PREDICTION,
    groups: TypeGroups | None = None,
) -> dict[str, Any]:
    """Return names, texts and shades of the cells, row by row, and the scales of the shades.

    A shade is 0 to 1, by the square root, so that small counts show; None for a pair of equal type, which has no part
    in the scale. Missed and spurious spans have a scale of their own.
    """
    values = table.values.to_numpy("float64")
    same = np.eye(len(table.rows), dtype=bool)
    apart = np.zeros_like(same)
    apart[-1, :] = apart[:, -1] = True
    shades = np.zeros_like(values)
    end = " %" if share else ""
    scales = []
    lone = f"{words.name('MIS')}, {words.name('SPU')}"
    for name, part in (("other type", ~apart & ~same), (lone, apart & ~same)):
        part_values = np.where(part, np.nan_to_num(values), 0)
        most = part_values.max(initial=0)
        shades += np.sqrt(part_values / (most or 1))
        scales.append({"label": name, "most": f"{most:,.0f}{end}"})
    counts = table.counts.to_numpy()
    titles = [[f"{number:,}" for number in row] for row in counts.tolist()]
    for row, column in np.argwhere((counts > 0) & bool(share)).tolist():
        titles[row][column] = table.share(row, column, share)
    for row, name in enumerate(table.rows):
        if table.mixed.get(name):
            titles[row][row] += f"; {table.mixed[name]:,} of these pair different types of {name_text(name)}"
    members = groups.members if groups is not None else {}
    folded = groups.folded if groups is not None else frozenset[str]()
    return {
        "label": label,
        "sides": [words.reference, words.other if words.by_name else "predicted"],
        "keys": list(table.rows),
        "folded": [len(members[name]) if name in folded else 0 for name in table.rows],
        "rows": [name_text(str(name)) for name in table.counts.index],
        "columns": [name_text(str(name)) for name in table.counts.columns],
        "texts": [["" if value != value else f"{value:,.0f}{end}" for value in row] for row in values.tolist()],
        "titles": titles,
        "scales": scales,
        "same": "same type",
        "shades": [
            [None if equal else round(shade, 3) for shade, equal in zip(*pair, strict=True)]
            for pair in zip(shades.tolist(), same.tolist(), strict=True)
        ],
    }
