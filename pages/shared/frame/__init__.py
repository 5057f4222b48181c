"""The frame of every page: configuration, login, navigation, context bar, and state.

Chips name the settings that change the numbers, on every page, and the filters of lists, where they act. Problems are
shown kindly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import streamlit as st

from nereval_core.problems import name_text
from nereval_core.records.queries import ABSENT, ORDERS, Query
from nereval_core.tables.glossary import DECISIONS
from pages.shared.components import export_menu, into_view, navigation, opening
from pages.shared.data import masks, scored_folders, verdict_store
from pages.shared.data.page_context import PageContext, page_context
from pages.shared.data.reviewer import login_name
from pages.shared.frame import context_bar
from pages.shared.frame.faults import guarded
from pages.shared.server.access import has_login, only_this_machine
from pages.shared.verdicts.events import applied
from pages.shared.view import PREFIX, View, keys, state
from pages.shared.view.queries import query_of, search_of
from pages.shared.view.text import count, named, plain

STYLE = Path(__file__).parent / "frame.css"
SIDEBAR = 200
"""Pixels of the sidebar, which holds the links to the pages."""
FILTERS_NAMED = 2
"""Filters of Inspect that the chip of another page names."""


def page(
    title: str,
    *,
    needs_corpus: bool = True,
    demo: Callable[[View], bool] | None = None,
    example: str = "",
    bare: Callable[[View], bool] = lambda view: False,
    filters: Callable[[View], bool] = lambda view: False,
) -> Callable[[Callable[[PageContext], None]], None]:
    """Run a page: `@frame.page("Overview")` over the function that draws it, once there is a corpus to draw.

    Without a corpus a page shows the demo, where `demo` says yes to the view; by default if it needs one: the
    one named `example`, else the first. With
    `needs_corpus=False` the function takes `PageContext | None` and is called in any case. Where `bare` says yes to the
    view, what the function draws has the window to itself; where `filters` does, the page shows records narrowed down
    by the filters of the view, and these as chips.
    """

    def run(body: Callable[..., None]) -> None:
        st.set_page_config(page_title=f"{title} · nereval", layout="wide", initial_sidebar_state=SIDEBAR)
        # First, or what is drawn before it would jump.
        st.html(STYLE)
        notices = list(state.read_address(title))
        verdict_store.refresh()
        if draw_login():
            return
        _go_on(title)
        has_exports = False
        with guarded():
            has_demo = needs_corpus if demo is None else demo(state.view())
            make_context = partial(page_context, demo=has_demo, example=example)
            page, dropped = make_context()
            if page is not None and context_bar.apply_event(page):
                page, dropped = make_context()
            fits = state.write_address()
            alone = page is not None and bare(page.view)
            export_menu.begin()
            if not alone:
                _draw_frame(title, page, fits)
            # One element whatever is in it: were the body's places to change, its tabs would go back to the first.
            with st.container(key="notices"):
                if not alone:
                    _draw_waiting(title, page)
                _tell([*notices, *dropped], passing=alone)
                if page is not None and not alone:
                    # Inspect says itself which record is open; a chip would push its text down.
                    draw_chips(page, filters=filters(page.view), place=title != "Inspect")
                elif page is None and state.view().corpus:
                    _guide(state.view())
            if page is not None and not page.loaded.shows(title):
                scored_folders.say_elsewhere(title)
            elif page is not None or not needs_corpus:
                body(page)
            if not alone:
                has_exports = export_menu.draw(is_open=context_bar.open_menu(context_bar.END) == export_menu.MENU)
            into_view.draw()
        context_bar.draw_end(_count_run(), has_exports)

    return run


def _draw_frame(title: str, page: PageContext | None, fits: bool) -> None:
    """Draw navigation, context bar, and title."""
    with st.sidebar:
        navigation.draw_links(("Linking",) if page is None else _inapplicable(page))
        draw_logout()
    context_bar.draw_head(title if title != "Start" else "nereval", page, fits)


def _draw_waiting(title: str, page: PageContext | None) -> None:
    """Draw the reading that goes on, and the line that names a demo."""
    opening.draw_waiting()
    if title == "Start":
        st.session_state.pop(keys.READING_REFUSED, None)
    elif keys.READING_REFUSED in st.session_state:
        navigation.link_to("Start", ":red[The files were not read: see why at Start →]", state.view())
    if page is not None and page.is_demo and title != "Start":
        name = named(page.loaded.corpus.name)
        navigation.link_to("Start", f"Demo: {name} · :primary[open your own →]", page.view)


def _inapplicable(page: PageContext) -> tuple[str, ...]:
    """Return the pages about what a corpus lacks: links of spans, or systems where all layers are annotators'."""
    linking = () if page.has_links else ("Linking",)
    return (*linking, "Systems") if page.words.annotators else linking


def _go_on(title: str) -> None:
    """Leave Start for the page of a corpus that was opened there; on other pages it is shown at once."""
    target = st.session_state.pop(keys.OPENED, "")
    if title == "Start" and target:
        state.go(navigation.pages()[target], state.view())


def _tell(notices: list[str], *, passing: bool = False) -> None:
    """Show the notices about dropped parts of the link; `passing`: for a while, over the page."""
    if notices:
        message = "Left out, as it does not fit: " + "; ".join(plain(notice, 300) for notice in notices) + "."
        (st.toast if passing else st.warning)(message)


def _guide(view: View) -> None:
    """Tell the reader how to get the corpus of a link that is not here."""
    st.info(
        f"The link asks for the corpus {view.corpus[:PREFIX]}, which this server does not have. "
        "Upload its gold and system files at Start: what is in them, not their names, decides."
        if only_this_machine()
        else "The link does not open here: its corpus is gone, belongs to another browser, or is no longer shared. Ask "
        "its owner for a link (Share), or upload the gold and system files at Start."
    )
    navigation.link_to("Start", ":primary[Upload your own files at Start →]", view)


def _count_run() -> int:
    """Return the number of this run in its session."""
    st.session_state[keys.RUNS] = st.session_state.get(keys.RUNS, 0) + 1
    return int(st.session_state[keys.RUNS])


def draw_chips(page: PageContext, *, filters: bool, place: bool = True) -> None:
    """Draw settings and, with `filters`, filters as chips that a click removes; `place`: the document too."""
    view = page.view
    if page.convention is not None:
        st.caption(
            f"The figures of {plain(view.criterion)} stand on Overview. All other counts are those of "
            f"{plain(page.by)}, our criterion nearest to it."
        )
    if page.loaded.fixed_settings is not None:
        _folder_settings(page)
    chips = [*_settings(view), *(_filters(page, place) if filters else ())]
    n_hidden = 0 if filters else len({*page.types} - {*view.type})
    # The types have a chip of their own here.
    elsewhere = [] if filters else [label for label, _ in _filters(replace(page, view=replace(view, type=())), place)]
    if not chips and not elsewhere and not (view.type and n_hidden):
        return
    with st.container(horizontal=True, gap="small", key="chips"):
        for number, (label, without) in enumerate(chips):
            st.button(f"{label} ×", key=f"{keys.CHIP}{number}", help="Remove", on_click=state.put, args=(without,))
        if view.type and n_hidden:
            st.button(
                f"lists hide {n_hidden} of {count(len(page.types), 'type')} ×",
                key=f"{keys.CHIP}types",
                help=f"Lists have only {plain(', '.join(map(name_text, view.type)), 300)}. The numbers here are of all "
                "types. A click shows all types in lists again.",
                on_click=state.put,
                args=(replace(view, type=()),),
            )
        if elsewhere:
            more = f"; {len(elsewhere) - FILTERS_NAMED} more" if len(elsewhere) > FILTERS_NAMED else ""
            st.button(
                f"Inspect lists only {'; '.join(elsewhere[:FILTERS_NAMED])}{more} ×",
                key=f"{keys.CHIP}elsewhere",
                help="The numbers here are of all records. A click lists all errors on Inspect again.",
                on_click=state.put,
                args=(replace(view.cleared(), type=view.type),),
            )
        if filters and view != view.cleared():
            st.button("Clear filters", key="clear", type="tertiary", on_click=_clear, args=(page, place))


def _clear(page: PageContext, place: bool) -> None:
    """Take all filters back, with `place` document and record too; else the open record stays where it is listed."""
    view = page.view.cleared()
    doc, record, _ = applied().place
    if not place and record and doc in page.loaded.corpus.documents.index:
        ledger, query = page.ledger(), query_of(view)
        order = view.order if view.order in ledger.orders(query) else ORDERS[0]
        number = ledger.place(query, order, doc, record)
        # Halfway between two it is not listed.
        if number is not None and number % 1 == 0:
            view = replace(view, doc=doc, record=record)
    state.put(view)


def _folder_settings(page: PageContext) -> None:
    """Name the settings under which a folder was scored, which stay as they were."""
    groups = replace(page.view, merge=page.settings.merge).merged_groups()
    merges = (f"{', '.join(members)} = {name}" for name, members in groups.items())
    settings = [
        f"merged types: {'; '.join(merges) or 'none'}",
        f"left out: {', '.join(page.settings.leave_out) or 'none'}",
    ]
    if page.settings.counting != "one-to-one":
        settings.append(f"counting {page.settings.counting}")
    st.caption(plain(f"A scored folder: {'; '.join(settings)}. To change them, score its shards again.", 500))


def _settings(view: View) -> Iterable[tuple[str, View]]:
    """Yield each setting that changes numbers or texts, as a label and the view without it."""
    for name, members in view.merged_groups().items():
        yield f"merged: {plain(', '.join(map(name_text, members)))} = {named(name)}", view.without_merge(name)
    for name in view.leaveout:
        yield f"left out: {named(name)}", _without(view, "leaveout", name)
    if view.mask and not masks.all_masked():
        yield "text masked", replace(view, mask="")


def _filters(page: PageContext, place: bool) -> Iterable[tuple[str, View]]:
    """Yield each filter of lists, as a label and the view without it."""
    view, words = page.view, page.words
    for name in view.type:
        yield f"type: {named(name)}", _without(view, "type", name)
    if view.decision:
        names = "all" if len(view.decision) == len(DECISIONS) else plain(", ".join(map(words.label, view.decision)))
        yield f"decision: {names}", replace(view, decision=())
    for name in view.gold:
        yield f"{plain(words.reference)}: {named(name) if name != ABSENT else 'no span'}", _without(view, "gold", name)
    for name in view.pred:
        yield f"{plain(words.other)}: {named(name) if name != ABSENT else 'no span'}", _without(view, "pred", name)
    # The document of an open record or place does not narrow a list down.
    if view.doc and place and not (view.record or view.at):
        yield f"document: {named(view.doc)}", replace(view, doc="")
    query = query_of(view)
    for name, value in query.having:
        remaining = tuple(pair for pair in query.having if pair != (name, value))
        yield plain(words.condition(name, value)), replace(view, q=search_of(replace(query, having=remaining)))
    if search := search_of(replace(query, having=())):
        yield f"search: {plain(search)}", replace(view, q=search_of(Query(having=query.having)))


def _without(view: View, field: str, value: str) -> View:
    values: dict[str, Any] = {field: tuple(other for other in getattr(view, field) if other != value)}
    return replace(view, **values)


def draw_login() -> bool:
    """Ask a visitor to log in whose login was under another address; return whether there is nothing else to show."""
    if not has_login() or st.user.is_logged_in:
        return False
    st.title("nereval")
    st.markdown("This server asks its visitors to log in. Your name will stand beside the verdicts that you give.")
    st.button("Log in", type="primary", on_click=st.login)
    return True


def draw_logout() -> None:
    """Say who is logged in, and offer to log out."""
    if has_login():
        st.caption(f"Logged in as {plain(login_name(), 40)}")
        st.button("Log out", type="tertiary", on_click=st.logout)
