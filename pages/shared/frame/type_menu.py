"""The menu of types: which are merged, which are left out of the scores, and which lists show."""

from __future__ import annotations

import streamlit as st

from pages.shared.data.page_context import PageContext
from pages.shared.view import keys, state
from pages.shared.view.text import plain


def draw_type_menu(page: PageContext) -> None:
    """Draw the menu; its button says how many types are merged or left out."""
    view = page.view
    changed = [f"{len(view.merged_groups())} merged"] if view.merge else []
    changed += [f"{len(view.leaveout)} left out"] if view.leaveout else []
    label = ": ".join(("Types", ", ".join(changed))) if changed else "Types"
    with st.popover(label, key=f"{keys.BAR}merges", on_change="rerun") as popover:
        if popover.open:
            _shown(page)
            # Types of a scored folder are merged and left out as they were when it was scored.
            if page.loaded.folder is None:
                _left_out(page)
                _merging(page)


def _shown(page: PageContext) -> None:
    st.multiselect(
        "Types shown in lists",
        sorted({*page.types, *page.view.type}),
        **state.mirror_field("type", list(page.view.type), tuple),
        placeholder="all",
        help="Records with one of these types on either side. No score changes.",
    )


def _left_out(page: PageContext) -> None:
    view = page.view
    names = {*page.annotated_types, *(name for _, name in view.merge)} - {member for member, _ in view.merge}
    st.multiselect(
        "Types left out",
        sorted({*names, *view.leaveout}),
        **state.mirror_field("leaveout", list(view.leaveout), lambda names: tuple(sorted(names))),
        placeholder="none",
        help="Spans of these types are not scored at all.",
    )


def _merging(page: PageContext) -> None:
    st.caption("Types merged into one are scored as one.")
    for name, members in page.view.merged_groups().items():
        label = plain(f"{', '.join(members)} = {name}")
        st.button(
            f"{label} ×", key=f"{keys.BAR}unmerge-{name}", help="Take this merge back", on_click=_unmerge, args=(name,)
        )
    merged = {member for member, _ in page.view.merge}
    st.multiselect("Types to merge", [kind for kind in page.annotated_types if kind not in merged], key="merge_members")
    st.text_input("are scored as", key="merge_name", placeholder="name of the merged type", max_chars=80)
    st.button("Merge", key="merge_add", on_click=_merge)


def _merge() -> None:
    members, name = st.session_state["merge_members"], st.session_state["merge_name"].strip()
    if members and name:
        merge = {**dict(state.view().merge), **dict.fromkeys(members, name)}
        state.update(merge=tuple(sorted(merge.items())))
        st.session_state["merge_members"], st.session_state["merge_name"] = [], ""


def _unmerge(name: str) -> None:
    state.update(merge=state.view().without_merge(name).merge)
