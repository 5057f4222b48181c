"""Chips: settings that change the numbers, on every page, and filters of lists, on the pages where they act."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import streamlit as st

from nereval_core.records.queries import ABSENT
from nereval_core.tables.glossary import DECISIONS
from pages.shared.data import masks
from pages.shared.data.page_context import PageContext
from pages.shared.view import View, keys, state
from pages.shared.view.queries import Query, query_of, search_of
from pages.shared.view.text import plain


def draw_chips(page: PageContext, *, filters: bool, place: bool = True) -> None:
    """Draw settings and, with `filters`, filters as chips that a click removes; `place`: document and record too."""
    view = page.view
    if page.convention is not None:
        st.caption(
            f"The figures of {plain(view.criterion)} stand on Overview. All other counts are those of "
            f"{plain(page.by)}, our criterion nearest to it."
        )
    if page.loaded.folder is not None:
        _folder_settings(page)
    found = [*_settings(view), *(_filters(page, place) if filters else ())]
    if not found:
        return
    with st.container(horizontal=True, gap="small", key="chips"):
        for number, (label, without) in enumerate(found):
            st.button(f"{label} ×", key=f"{keys.CHIP}{number}", help="Remove", on_click=state.put, args=(without,))
        if filters and view != view.cleared():
            st.button("Clear filters", key="clear", type="tertiary", on_click=state.put, args=(view.cleared(),))


def _folder_settings(page: PageContext) -> None:
    """Name the settings under which a folder was scored, which stay as they were."""
    groups = replace(page.view, merge=page.settings.merge).merged_groups()
    merges = (f"{', '.join(members)} = {name}" for name, members in groups.items())
    said = [f"merged types: {'; '.join(merges) or 'none'}", f"left out: {', '.join(page.settings.leave_out) or 'none'}"]
    if page.settings.counting != "one-to-one":
        said.append(f"counting {page.settings.counting}")
    st.caption(plain(f"A scored folder: {'; '.join(said)}. To change them, score its shards again.", 500))


def _settings(view: View) -> Iterable[tuple[str, View]]:
    """Yield each setting that changes numbers or texts, as a label and the view without it."""
    for name, members in view.merged_groups().items():
        yield f"merged: {plain(', '.join(members))} = {plain(name)}", view.without_merge(name)
    for name in view.leaveout:
        yield f"left out: {plain(name)}", _without(view, "leaveout", name)
    if view.mask and not masks.all_masked():
        yield "text masked", replace(view, mask="")


def _filters(page: PageContext, place: bool) -> Iterable[tuple[str, View]]:
    """Yield each filter of lists, as a label and the view without it."""
    view, words = page.view, page.words
    for name in view.type:
        yield f"type: {plain(name)}", _without(view, "type", name)
    if view.decision:
        names = "all" if len(view.decision) == len(DECISIONS) else plain(", ".join(map(words.label, view.decision)))
        yield f"decision: {names}", replace(view, decision=())
    for name in view.gold:
        yield f"{plain(words.reference)}: {plain(name) if name != ABSENT else 'no span'}", _without(view, "gold", name)
    for name in view.pred:
        yield f"{plain(words.other)}: {plain(name) if name != ABSENT else 'no span'}", _without(view, "pred", name)
    if (view.record or view.at) and place:
        said = f"record: {plain(view.record)}" if view.record else f"characters {view.at.replace('-', '–')}"
        yield f"{said} in {plain(view.doc)}", replace(view, record="", doc="", at="")
    elif view.doc and place:
        yield f"document: {plain(view.doc)}", replace(view, doc="")
    query = query_of(view)
    for name, value in query.having:
        rest = tuple(one for one in query.having if one != (name, value))
        yield f"{plain(name)}: {plain(value)}", replace(view, q=search_of(replace(query, having=rest)))
    if search := search_of(replace(query, having=())):
        yield f"search: {plain(search)}", replace(view, q=search_of(Query(having=query.having)))


def _without(view: View, field: str, value: str) -> View:
    values: dict[str, Any] = {field: tuple(other for other in getattr(view, field) if other != value)}
    return replace(view, **values)
