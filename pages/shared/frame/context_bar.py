"""The head of every page: the context bar, with corpus, system, reference, criterion and menus, and the title.

Bar and title are one component, as an element of Streamlit for each costs more than what the page shows. Its menus are
drawn by Streamlit while they are open. The menu of criteria lists published scorers too, and says why some do not
apply. The menu of types says which are merged, left out of the scores, and shown in lists.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import streamlit as st

from nereval_core.conventions import conventions
from nereval_core.problems import name_text, shortened_name
from nereval_core.scoring.criteria import CRITERIA, SCHEMAS, Criterion
from pages.shared.components import links
from pages.shared.components.component_events import EVENTS, Event, acknowledged, apply_events
from pages.shared.data import caches, own_criteria, reference_layer
from pages.shared.data.page_context import PageContext, page_context
from pages.shared.frame import share_menu
from pages.shared.frame.faults import guarded
from pages.shared.server.component_files import component
from pages.shared.streamlit_internals import for_whole_page
from pages.shared.view import View, keys, state
from pages.shared.view.text import criterion_explained, plain, visible

KEY, MENU, END = "context_bar", f"{keys.BAR}menu", "page_end"
"""The component of the head; the part of it that opens menus; and the part that ends a page, with its exports."""
NARROWEST, WIDEST = 100, 260
"""Pixels of a list of systems or layers."""
CHARACTER, BUTTON = 8, 50
"""Pixels of a character of a name, and of the button that opens the list."""
_HERE = Path(__file__).parent
_mount = component(
    "nereval_head",
    css=(_HERE / "context_bar.css").read_text(encoding="utf-8"),
    js="".join(
        (
            (_HERE.parent / "components" / "morph.js").read_text(encoding="utf-8"),
            links.SCRIPT,
            EVENTS,
            *((_HERE / f"{name}.js").read_text(encoding="utf-8") for name in ("menus", "context_bar")),
        )
    ),
)


def draw_head(title: str, page: PageContext | None, fits: bool) -> None:
    """Draw the bar, where there is a corpus, and the title of a page; `fits`: the view fits a link.

    A menu that opens runs itself alone: the page stays as it is, and is not dimmed.
    """
    data = {**acknowledged(KEY), "part": "head", "title": title, "bar": None if page is None else bar_data(page)}
    _mount(data=data, key=KEY, on_out_change=lambda: None)
    if page is not None:
        _menus(page.view, own_criteria.criteria(), fits)


def draw_end(run: int, exports: bool) -> None:
    """End a page by the number of its run; `exports`: something on it can be exported, by a button beside its title."""
    _mount(data={"part": "end", "run": run, "exports": exports}, key=END, on_open_change=lambda: None)


def open_menu(part: str) -> str:
    """Return the name of the menu that is open, of those that a part of the component opens: MENU or END."""
    return str(st.session_state.get(part, {}).get("open") or "")


def bar_data(page: PageContext) -> dict[str, Any]:
    """Return what the component is sent of the bar."""
    name = name_text(page.loaded.corpus.name)
    about = f"The corpus {visible(name, 200)}; another one is opened at Start."
    criterion, schemas = page.view.criterion, _schemas(page)
    return {
        "corpus": links.link_data(links.Link(visible(name, 40), "Start", page.view, about)),
        "layers": _layers(page),
        "criteria": schemas,
        "criterion": criterion,
        "menus": [
            # Its button names what is chosen, unless that stands beside it.
            [
                "criteria",
                "more" if criterion in schemas else visible(criterion, 30),
                "All matching criteria and published scorers",
            ],
            ["types", _types_label(page.view), "Types in lists, left out and merged"],
            ["share", "Share", "Link, report and masking"],
        ],
    }


def _schemas(page: PageContext) -> list[str]:
    return [name for name in SCHEMAS if name in page.criteria]


def _layers(page: PageContext) -> list[dict[str, Any]]:
    """Return the lists and words of the bar: the systems, and the layers that may be their reference if several.

    Annotators stand in the order of tables, the reference first, with a button that swaps the two.
    """
    names = _reference_names(page)
    chosen_name = page.view.reference or reference_layer.gold_name(page.loaded) if names else ""
    reference = _list_data("reference", "Reference", names, chosen_name)
    if page.words.annotators:
        # There is nothing to choose between two annotators.
        if len(names) < 3:
            reference = {"name": visible(page.words.reference, 40)}
        system = {"name": visible(name_text(page.system), 40)}
        if len(page.systems) > 1:
            system = _list_data("system", "Annotator", page.systems, page.system)
        swap_help = f"Swap the two: {visible(name_text(page.system))} as reference."
        swap_help += " Verdicts stay: who is right does not change."
        return [{"text": "reference:"}, reference, {"swap": swap_help}, system]
    system = _list_data("system", "System", page.systems, page.system)
    if len(names) < 3:
        return [system, {"text": f"reference: {visible(page.words.reference, 40)}"}]
    return [system, {"text": "reference:"}, reference]


def _reference_names(page: PageContext) -> list[str]:
    return list(reference_layer.layers(page.loaded)) if page.loaded.has_layers else []


def _list_data(act: str, label: str, names: Sequence[str], value: str) -> dict[str, Any]:
    """Return what the component is sent of a list; that of references is as wide as the name chosen."""
    labels = labels_of(names)
    width = list_width([labels[value]] if act == "reference" and names else labels.values())
    options = [[name, text, name_text(name)] for name, text in labels.items()]
    return {"act": act, "label": label, "options": options, "chosen": value, "width": width}


def apply_event(page: PageContext) -> bool:
    """Choose what the reader has chosen in the bar since the last run; return whether there was anything."""
    return apply_events(KEY, partial(_choose, page))


def _choose(page: PageContext, _: Event, event: Event) -> None:
    act, name = event["act"], str(event.get("value"))
    if act == "criterion" and name in page.criteria:
        _take_criterion(name)
    elif act == "system" and name in page.systems:
        state.update(system=name)
    elif act == "reference" and name in reference_layer.layers(page.loaded):
        state.put(reference_layer.take_as_gold(state.view(), page.loaded, name))
    elif act == "swap":
        state.put(reference_layer.swapped_view(state.view(), page.loaded, page.system))


@st.fragment
def _menus(view: View, own: tuple[Criterion, ...], fits: bool) -> None:
    """Draw the open menu of a view and the session's own criteria; where it has changed these the page runs again."""
    if (view, own) != (state.view(), own_criteria.criteria()):
        st.rerun()
    _mount(data={"part": "menus"}, key=MENU, on_open_change=lambda: None)
    draw_content = {"criteria": _criterion_menu, "types": _type_menu, "share": share_menu.draw_content}
    if (name := open_menu(MENU)) not in draw_content:
        return
    with st.container(key=keys.OPEN_MENU + name), guarded():
        # Not the page's own context: what a fragment is given stays in memory for as long as its session.
        page, _ = page_context(demo=False)
        if page is None:
            st.rerun()
        draw_content[name](page, fits)


def list_width(labels: Iterable[str]) -> int:
    """Return the pixels of a list in which the longest of the labels is read to its end, if that is not very long."""
    return min(max(NARROWEST, BUTTON + CHARACTER * max(map(len, labels), default=0)), WIDEST)


def labels_of(names: Sequence[str]) -> dict[str, str]:
    """Return the labels of names in a list of the bar: cut in the middle to its width, unless two would be alike."""
    labels = {name: shortened_name(name_text(name), (WIDEST - BUTTON) // CHARACTER) for name in names}
    uses = Counter(labels.values())
    return {name: label if uses[label] == 1 else name_text(name) for name, label in labels.items()}


def _take_criterion(name: str) -> None:
    # Criteria shows the step of the criterion chosen last.
    state.update(criterion=name, step="")


def _criterion_menu(page: PageContext, fits: bool) -> None:
    """Offer all criteria; what has no room in the bar of a telephone stands here too, see `context_bar.css`."""
    _list(page)
    if page.loaded.fixed_settings is None:
        st.markdown("**Criteria of your own**")
        own_criteria.draw_own(page.view, page.loaded.corpus.gold)
    with st.container(key="folded"):
        _folded(page, fits)


def _folded(page: PageContext, fits: bool) -> None:
    names = _reference_names(page)
    if len(names) > 2:
        st.selectbox(
            "Reference",
            names,
            format_func=name_text,
            **reference_layer.mirror("folded", page.view, page.loaded),
        )
    _type_menu(page, fits)
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


def _types_label(view: View) -> str:
    """Return the words on the button of the menu: how many types are merged, left out, or shown in lists."""
    changed = [f"{len(view.merged_groups())} merged"] if view.merge else []
    changed += [f"{len(view.leaveout)} left out"] if view.leaveout else []
    changed += [f"{len(view.type)} in lists"] if view.type else []
    return ": ".join(("Types", ", ".join(changed))) if changed else "Types"


def _type_menu(page: PageContext, _: bool) -> None:
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
