"""The context bar, first on every page: corpus, system, reference, matching criterion and types.

The menu of criteria lists published scorers too, and says why some do not apply. The menu of types says which are
merged, left out of the scores, and shown in lists.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import streamlit as st

from nereval_core.conventions import conventions
from nereval_core.problems import name_text, shortened_name
from nereval_core.scoring.criteria import CRITERIA, SCHEMAS, Criterion
from pages.shared.components import navigation
from pages.shared.data import caches, own_criteria, reference_layer
from pages.shared.data.page_context import PageContext, page_context
from pages.shared.frame import share_menu
from pages.shared.frame.faults import guarded
from pages.shared.streamlit_internals import for_whole_page
from pages.shared.view import View, keys, state
from pages.shared.view.text import criterion_explained, named, plain

TYPE_MENU = f"{keys.BAR}merges"
NARROWEST, WIDEST = 100, 260
"""Pixels of a list of systems or layers."""
CHARACTER, BUTTON = 8, 50
"""Pixels of a character of a name, and of the button that opens the list."""


def draw_context_bar(page: PageContext, fits: bool) -> None:
    """Draw the bar; `fits`: the view fits a link.

    A menu that opens runs itself alone: the page stays as it is, and is not dimmed.
    """
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="context_bar"):
        name = page.loaded.corpus.name
        about = f"The corpus {named(name, 200)}; another one is opened at Start."
        navigation.link_to("Start", named(name, 40), page.view, icon=":material/folder_open:", help=about)
        _pair(page)
        schemas = _criterion(page)
        _menus(page.view, own_criteria.criteria(), schemas, fits)


@st.fragment
def _menus(view: View, own: tuple[Criterion, ...], schemas: Sequence[str], fits: bool) -> None:
    """Draw the menus of a view and the session's own criteria; where a menu has changed these the page runs again."""
    if (view, own) != (state.view(), own_criteria.criteria()):
        st.rerun()
    with guarded():
        # Not the page's own context: what a fragment is given stays in memory for as long as its session.
        page, _ = page_context(demo=False)
        if page is None:
            st.rerun()
        _draw_criterion_menu(page, schemas, fits)
        _draw_type_menu(page)
        share_menu.draw_share_menu(page, fits)


def _pair(page: PageContext) -> None:
    """Offer the systems, and the layers that may be their reference where there are several.

    Annotators stand in the order of tables, the reference first, with a button that swaps the two.
    """
    names = list(reference_layer.layers(page.loaded)) if page.loaded.has_layers else []
    if page.words.annotators:
        st.caption("reference:", width="content")
        _reference(page, names)
        swapped = reference_layer.swapped_view(page.view, page.loaded, page.system)
        swap_help = f"Swap the two: {named(page.system)} as reference. Verdicts stay: who is right does not change."
        st.button("⇄", key=f"{keys.BAR}swap", type="tertiary", help=swap_help, on_click=state.put, args=(swapped,))
        _system(page)
        return
    _system(page)
    if len(names) < 3:
        st.caption(f"reference: {plain(page.words.reference, 40)}", width="content")
        return
    st.caption("reference:", width="content")
    _reference(page, names)


def list_width(labels: Iterable[str]) -> int:
    """Return the pixels of a list in which the longest of the labels is read to its end, if that is not very long."""
    return min(max(NARROWEST, BUTTON + CHARACTER * max(map(len, labels), default=0)), WIDEST)


def labels_of(names: Sequence[str]) -> dict[str, str]:
    """Return the labels of names in a list of the bar: cut in the middle to its width, unless two would be alike."""
    labels = {name: shortened_name(name_text(name), (WIDEST - BUTTON) // CHARACTER) for name in names}
    uses = Counter(labels.values())
    return {name: label if uses[label] == 1 else name_text(name) for name, label in labels.items()}


def _system(page: PageContext) -> None:
    # There is nothing to choose between two annotators.
    if page.words.annotators and len(page.systems) == 1:
        st.markdown(f"**{named(page.system, 40)}**", width="content")
        return
    labels = labels_of(page.systems)
    st.selectbox(
        "Annotator" if page.words.annotators else "System",
        page.systems,
        format_func=labels.__getitem__,
        label_visibility="collapsed",
        width=list_width(labels.values()),
        **state.mirror_field("system", page.system),
    )


def _reference(page: PageContext, names: list[str]) -> None:
    if len(names) < 3:
        st.markdown(f"**{plain(page.words.reference, 40)}**", width="content")
        return
    labels = labels_of(names)
    reference = page.view.reference or reference_layer.gold_name(page.loaded)
    st.selectbox(
        "Reference",
        names,
        format_func=labels.__getitem__,
        label_visibility="collapsed",
        width=list_width([labels[reference]]),
        **reference_layer.mirror("reference", page.view, page.loaded),
    )


def _criterion(page: PageContext) -> list[str]:
    """Offer the schemas side by side, and return them; a menu beside them has all other criteria."""
    schemas = [name for name in SCHEMAS if name in page.criteria]
    criterion = page.view.criterion
    st.segmented_control(
        "Matching criterion",
        schemas,
        label_visibility="collapsed",
        # Else its place is measured in each run to scroll to the chosen one, before the page is laid out.
        wrap=True,
        **state.mirror("schema", criterion if criterion in schemas else None, _take_schema),
    )
    return schemas


def _take_schema(name: str | None) -> None:
    # A click on the chosen one would take the choice back: there is always a criterion.
    if name is not None:
        _take_criterion(name)


def _take_criterion(name: str) -> None:
    # Criteria shows the step of the criterion chosen last.
    state.update(criterion=name, step="")


def _draw_criterion_menu(page: PageContext, beside: Sequence[str], fits: bool) -> None:
    """Draw the menu; its button names what is chosen, unless that stands among those `beside` it.

    What has no room in the bar of a telephone stands in it too, see `frame.css`.
    """
    criterion = page.view.criterion
    label = "more" if criterion in beside else plain(criterion, 30)
    key, words = f"{keys.BAR}criteria", "All matching criteria and published scorers"
    with st.popover(label, key=key, on_change="rerun", help=words) as popover:
        if popover.open:
            _list(page)
            if page.loaded.fixed_settings is None:
                st.markdown("**Criteria of your own**")
                own_criteria.draw_own(page.view, page.loaded.corpus.gold)
            # A widget stands once on a page: not while the menu is open to which it belongs.
            if not any(st.session_state.get(menu) for menu in (TYPE_MENU, share_menu.MENU)):
                with st.container(key="folded"):
                    _folded(page, fits)


def _folded(page: PageContext, fits: bool) -> None:
    names = list(reference_layer.layers(page.loaded)) if page.loaded.has_layers else []
    if len(names) > 2:
        st.selectbox(
            "Reference",
            names,
            format_func=name_text,
            **reference_layer.mirror("folded", page.view, page.loaded),
        )
    _type_menu(page)
    share_menu.draw_content(page, fits)


def _list(page: PageContext) -> None:
    """Offer everything that applies in one list, and name what does not apply, with the reasons."""
    names, lacking = dict.fromkeys(page.criteria, "matching criterion"), list[str]()
    if page.loaded.fixed_settings is None:
        names, lacking = _applicable(page)
    with for_whole_page():
        st.selectbox(
            "Matching criterion or published scorer",
            list(names),
            format_func=lambda name: f"{name} · {names[name]}",
            help="When two spans count as a match. A published scorer's own figures stand on Overview.",
            **state.mirror("criterion", page.view.criterion, _take_criterion),
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
    refused = caches.refused_scorers(page.loaded, page.system)
    for scorer in sorted(conventions().values(), key=lambda scorer: scorer.family):
        error = refused.get(scorer.name)
        if error is None:
            names[scorer.name] = f"published scorer, {scorer.family}"
            continue
        first, more = error.problems[0], len(error.problems) - 1
        problem = f"{first.source}: {first.found}" + (f" (and {more:,} more)" if more else "")
        lacking.append(f"{plain(scorer.name)}: " + plain(f"it needs {scorer.needs}. {problem}.", 500))
    return names, lacking


def _sentence(page: PageContext) -> str:
    """Return the definition of the chosen criterion or scorer as Markdown."""
    if page.convention is not None:
        return plain(f"{page.convention.sentence} {page.convention.source}.", 400)
    if page.criterion in own_criteria.criteria():
        return own_criteria.rule_words(page.criterion)
    sentence = criterion_explained(page.criterion)
    if page.criterion.boundary_rule.bare and page.loaded.has_layers:
        gold = page.loaded.corpus.gold
        spans = plain(page.words.spans("gold"))
        sentence += f"  \n{len(gold) - len(gold.cores):,} of {len(gold):,} {spans} have no core: each is its own."
    return sentence


def _draw_type_menu(page: PageContext) -> None:
    """Draw the menu; its button says how many types are merged, left out, or shown in lists."""
    view = page.view
    changed = [f"{len(view.merged_groups())} merged"] if view.merge else []
    changed += [f"{len(view.leaveout)} left out"] if view.leaveout else []
    changed += [f"{len(view.type)} in lists"] if view.type else []
    label = ": ".join(("Types", ", ".join(changed))) if changed else "Types"
    with st.popover(label, key=TYPE_MENU, on_change="rerun") as popover:
        if popover.open:
            _type_menu(page)


def _type_menu(page: PageContext) -> None:
    with for_whole_page():
        _shown(page)
    # Types of a scored folder are merged and left out as they were when it was scored.
    if page.loaded.fixed_settings is None:
        with for_whole_page():
            _left_out(page)
        _merging(page)


def _shown(page: PageContext) -> None:
    st.multiselect(
        "Types shown in lists",
        sorted({*page.types, *page.view.type}),
        format_func=name_text,
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
        format_func=name_text,
        **state.mirror_field("leaveout", list(view.leaveout), lambda names: tuple(sorted(names))),
        placeholder="none",
        help="Spans of these types are not scored at all.",
    )


def _merging(page: PageContext) -> None:
    st.caption("Types merged into one are scored as one.")
    for name, members in page.view.merged_groups().items():
        label = plain(f"{', '.join(map(name_text, members))} = {name_text(name)}")
        st.button(
            f"{label} ×", key=f"{keys.BAR}unmerge-{name}", help="Take this merge back", on_click=_unmerge, args=(name,)
        )
    merged = {member for member, _ in page.view.merge}
    # The list of types stays open for the next one, and covers what is below it: on a phone that is the button alone.
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        st.text_input("Merged type", key="merge_name", placeholder="its name", max_chars=80, width=150)
        st.multiselect(
            "takes the place of",
            [kind for kind in page.annotated_types if kind not in merged],
            key="merge_members",
            format_func=name_text,
            width=300,
        )
        st.button("Merge", key="merge_add", on_click=_merge)


def _merge() -> None:
    members, name = st.session_state["merge_members"], st.session_state["merge_name"].strip()
    if members and name:
        merge = {**dict(state.view().merge), **dict.fromkeys(members, name)}
        state.update(merge=tuple(sorted(merge.items())))
        st.session_state["merge_members"], st.session_state["merge_name"] = [], ""


def _unmerge(name: str) -> None:
    state.update(merge=state.view().without_merge(name).merge)
