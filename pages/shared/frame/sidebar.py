"""The sidebar of every page: Scoring, which changes numbers, Show, which changes lists only, and the link."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import streamlit as st

from nereval_core.conventions import conventions
from nereval_core.glossary import DECISIONS, decision_label
from nereval_core.problems import FormatError
from nereval_core.records.queries import ABSENT
from nereval_core.scoring.criteria import CRITERIA, Criterion
from pages.shared.components import navigation
from pages.shared.data import caches, masks, own_criteria, reference_layer
from pages.shared.view import MASKED, View, keys, state
from pages.shared.view.link import LIMIT
from pages.shared.view.queries import ERRORS, Query, query_of, search_of, view_of
from pages.shared.view.text import criterion_explained, explained, plain

if TYPE_CHECKING:
    from nereval_core.corpus import Layer
    from pages.shared.frame import Here

LOOPBACK = ("127.0.0.1", "localhost", "::1")
SERVE = "streamlit run app.py --server.address 0.0.0.0"
CHOICES = ("Matching criteria", "Published scorers")
"""The two parts of the control for what counts as a match."""
TALL = 480
"""Pixels of that control: a browser places it once, as tall as it then is, above or beneath its button."""


def draw_sidebar(here: Here, fits: bool) -> None:
    with st.container(border=True):
        st.markdown("**Scoring**", help="Changes numbers, on every page.")
        _scoring(here)
    with st.container(border=True):
        st.markdown("**Show**", help="Changes which records are listed, never a number on Overview or Confusion.")
        _show(here)
        _masking(here)
        _number(here)
        narrowed = here.view != here.view.cleared()
        st.button("Clear", on_click=state.put, args=(here.view.cleared(),), disabled=not narrowed, key="clear")
    _link(fits)


def _number(here: Here) -> None:
    """Say how many records of all are shown, each number a way to the list of exactly these.

    On Errors itself a link would not do: there the session is right, not the address.
    """
    shown, every = view_of(here.view, here.query()), view_of(here.view.cleared(), Query())
    with st.container(horizontal=True, gap="xxsmall", vertical_alignment="center"):
        for key, label, view in (
            ("shown", f"{here.ledger().total(here.query()).records:,} of", shown),
            ("every", f"{here.ledger().total(Query()).records:,} records", every),
        ):
            if st.button(f":primary[{label}]", key=key, type="tertiary", help="List them in Errors"):
                state.go(navigation.pages()["Errors"], view)


def _field(name: str, value: Any, change: Callable[[Any], Any] = lambda value: value) -> dict[str, Any]:
    """Return arguments for the widget of a field of the view, see `state.mirror`; `change` makes the field."""
    take = state.take_field(name)
    return state.mirror(name, value, lambda chosen: take(change(chosen)))


def _scoring(here: Here) -> None:
    view = here.view
    st.selectbox("System", here.systems, **_field("system", here.system))
    if here.loaded.folder is not None:
        _as_scored(here)
        return
    said = "Matching criterion" if here.convention is None else "Published scorer"
    key = keys.WIDGET + "criteria"
    with st.popover(f"{said}: {plain(view.criterion)}", width="stretch", key=key, on_change="rerun") as popover:
        # Side by side, as beneath the criteria nobody would look for the scorers.
        tab = keys.WIDGET + "match"
        st.session_state.setdefault(tab, CHOICES[int(here.convention is not None)])
        ours, published = st.tabs(CHOICES, height=TALL, key=tab, on_change="rerun")
        # Nothing is drawn that nobody looks at: every run of every page would wait for it, and which scorers apply
        # takes as long as scoring.
        if popover.open and ours.open:
            with ours:
                _criteria(view, here.loaded.corpus.gold)
        if popover.open and published.open:
            with published:
                _conventions(here)
    merges = _groups(view.merge)
    said, key = f"Merged types: {len(merges) or 'none'}", keys.WIDGET + "merges"
    with st.popover(said, width="stretch", key=key, on_change="rerun") as popover:
        if popover.open:
            _merging(here, merges)
    names = {*here.annotated_types, *(name for _, name in view.merge)} - {member for member, _ in view.merge}
    st.multiselect(
        "Types left out",
        sorted({*names, *view.leaveout}),
        **_field("leaveout", list(view.leaveout), lambda names: tuple(sorted(names))),
        placeholder="none",
        help="Gold spans and predictions of these types are not scored at all.",
    )
    _reference(here)


def _reference(here: Here) -> None:
    """Offer each layer to be taken as gold, where there are several."""
    names = list(reference_layer.layers(here.loaded))
    if len(names) < 3:
        return

    st.selectbox(
        "Taken as gold",
        names,
        **reference_layer.mirror("reference", here.view, here.loaded),
        help="The layer that all others are held against: of two annotators, for one, either.",
    )


def _as_scored(here: Here) -> None:
    """Offer the criteria that a folder was scored under; its other settings are as they were."""
    st.pills(
        "Matching criterion",
        here.criteria,
        **_field("criterion", here.by),
        required=True,
        help="When a gold span and a prediction count as a match: those that the folder was scored under.",
    )
    merges = (f"{', '.join(members)} = {name}" for name, members in _groups(here.settings.merge).items())
    said = [f"merged types: {'; '.join(merges) or 'none'}", f"left out: {', '.join(here.settings.leave_out) or 'none'}"]
    if here.settings.counting != "one-to-one":
        said.append(f"counting {here.settings.counting}")
    st.caption(plain(f"A scored folder: {'; '.join(said)}. To change them, score its shards again.", 500))


def _criteria(view: View, gold: Layer) -> None:
    """Offer the criteria in their groups; those that do not apply are greyed, with the reason beneath."""
    st.caption("When a gold span and a prediction count as a match.")
    for group, members in groupby(CRITERIA.values(), key=lambda criterion: criterion.group):
        found = list(members)
        st.markdown(f"**{group}**")
        with st.container(horizontal=True, gap="small"):
            for criterion in found:
                _criterion(criterion, chosen=criterion.name == view.criterion, lacks=criterion.lacks(gold))
        reasons = [f"{one.name} does not apply: it needs {need}." for one in found if (need := one.lacks(gold))]
        if view.criterion in {one.name for one in found if one.boundaries == "core"}:
            reasons.append(
                f"{len(gold) - len(gold.cores):,} of {len(gold):,} gold spans have no core: each is its own."
            )
        if reasons:
            st.caption("  \n".join(reasons))
    st.markdown("**your own**")
    own_criteria.draw_own(view, gold)


def _conventions(here: Here) -> None:
    """Offer the published scorers in their families; those that do not apply are greyed, with their requirements."""
    st.caption("Their numbers to the last digit: Overview shows them beside ours.")
    for family, members in groupby(sorted(conventions().values(), key=lambda one: one.family), lambda one: one.family):
        st.markdown(f"**{plain(family)}**")
        for convention in members:
            try:
                caches.outcome(here.loaded, here.system, convention.name)
                problem = ""
            except FormatError as error:
                first, more = error.problems[0], len(error.problems) - 1
                problem = f"{first.source}: {first.found}" + (f" (and {more:,} more)" if more else "")
            st.button(
                convention.name,
                key=f"convention-{convention.name}",
                type="primary" if convention is here.convention else "secondary",
                disabled=bool(problem),
                on_click=state.update,
                kwargs={"criterion": convention.name},
            )
            said = plain(f"{convention.sentence} {convention.source}.", 400)
            if problem:
                said += "  \n" + plain(f"Does not apply: it needs {convention.needs}. {problem}.", 500)
            st.caption(said)


def _criterion(criterion: Criterion, *, chosen: bool, lacks: str | None) -> None:
    st.button(
        criterion.name,
        key=f"criterion-{criterion.name}",
        type="primary" if chosen else "secondary",
        disabled=lacks is not None,
        help=criterion_explained(criterion),
        on_click=state.update,
        kwargs={"criterion": criterion.name},
    )


def _merging(here: Here, merges: dict[str, list[str]]) -> None:
    st.caption("Types merged into one are scored as one.")
    for name, members in merges.items():
        label = f"{', '.join(members)} = {name}"
        st.button(
            f"{plain(label)} ×", key=f"unmerge-{name}", help="Take this merge back", on_click=_unmerge, args=(name,)
        )
    merged = {member for member, _ in here.view.merge}
    st.multiselect("Types to merge", [kind for kind in here.annotated_types if kind not in merged], key="merge_members")
    st.text_input("are scored as", key="merge_name", placeholder="name of the merged type", max_chars=80)
    st.button("Merge", key="merge_add", on_click=_merge)


def _merge() -> None:
    members, name = st.session_state["merge_members"], st.session_state["merge_name"].strip()
    if members and name:
        merge = {**dict(state.view().merge), **dict.fromkeys(members, name)}
        state.update(merge=tuple(sorted(merge.items())))
        st.session_state["merge_members"], st.session_state["merge_name"] = [], ""


def _unmerge(name: str) -> None:
    state.update(merge=tuple(pair for pair in state.view().merge if pair[1] != name))


def _groups(merge: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for member, name in merge:
        groups.setdefault(name, []).append(member)
    return groups


def _show(here: Here) -> None:
    st.multiselect(
        "Types",
        sorted({*here.types, *here.view.type}),
        **_field("type", list(here.view.type), tuple),
        placeholder="all",
        help="Records with one of these types on either side.",
    )
    st.multiselect(
        "Decisions",
        DECISIONS,
        **_field("decision", list(here.view.decision), lambda codes: () if set(codes) == set(ERRORS) else tuple(codes)),
        format_func=decision_label,
        placeholder="all but correct (COR)",
        help=explained(*DECISIONS),
    )


def _masking(here: Here) -> None:
    """Offer to mask the texts; a server that masks everything says so."""
    if here.loaded.folder is not None:
        return
    st.toggle(
        "Mask the text",
        **_field("mask", bool(here.view.mask), lambda on: MASKED if on else ""),
        disabled=masks.all_masked(),
        help="Letters and digits are replaced, everything else stays: for data that must not be seen. Scores and "
        "records are the same. " + ("This server masks everything." if masks.all_masked() else ""),
    )


def _link(fits: bool) -> None:
    local = st.get_option("server.address") in LOOPBACK
    with st.popover("Copy link (this machine only)" if local else "Copy link", width="stretch"):
        if fits:
            params = state.link(state.view())
            st.code(f"{st.context.url or ''}?{urlencode(params)}", language=None, wrap_lines=True)
            own_criteria.say_not_carried(state.view(), carried="rule" in params)
        else:
            st.caption(f"What is shown does not fit a link of {LIMIT:,} characters. Clear some of it.")
        if local:
            st.caption("The server listens only on this machine, so the link opens here alone. To let others in:")
            st.code(SERVE, language=None, wrap_lines=True)
            st.caption("Whoever reaches the machine can then read what was uploaded: there is no password.")


def draw_chips(here: Here, *, place: bool = True) -> None:
    """Draw the active settings and filters as chips that a click removes; `place`: document and record too."""
    view = here.view
    rule = f": {own_criteria.rule_words(here.criterion)}" if here.criterion in own_criteria.criteria() else ""
    counted = f"matching criterion {plain(here.by)}{rule}"
    if here.convention is not None:
        counted = (
            f"published scorer {plain(view.criterion)}: its figures stand on Overview, and all else is counted by "
            f"{plain(here.by)}, our criterion nearest to it"
        )
    st.caption(f"{plain(here.loaded.corpus.name)} · system {plain(here.system)} · {counted}")
    found = [*_held(here), *_active(view, place)]
    if not found:
        return
    with st.container(horizontal=True, gap="small", key="chips"):
        for number, (label, without) in enumerate(found):
            st.button(
                f"{label} ×",
                key=f"{keys.CHIP}{number}",
                help="Remove",
                on_click=state.put,
                args=(without,),
            )


def _held(here: Here) -> Iterable[tuple[str, View]]:
    """Yield the layer that is taken as gold, where that is not gold, and the view without it."""
    if here.view.reference:
        yield (
            f"taken as gold: {plain(here.view.reference)}",
            reference_layer.take_as_gold(here.view, here.loaded, reference_layer.gold_name(here.loaded)),
        )
    if here.view.mask and not masks.all_masked():
        yield "text masked", replace(here.view, mask="")


def _active(view: View, place: bool) -> Iterable[tuple[str, View]]:
    """Yield each setting and filter that differs from the default: its label, and the view without it."""
    if view.criterion != View().criterion:
        yield f"criterion: {plain(view.criterion)}", replace(view, criterion=View().criterion)
    for name, members in _groups(view.merge).items():
        rest = tuple(pair for pair in view.merge if pair[1] != name)
        yield f"merged: {plain(', '.join(members))} = {plain(name)}", replace(view, merge=rest)
    for name in view.leaveout:
        yield f"left out: {plain(name)}", _without(view, "leaveout", name)
    for name in view.type:
        yield f"type: {plain(name)}", _without(view, "type", name)
    if view.decision:
        names = "all" if len(view.decision) == len(DECISIONS) else ", ".join(map(decision_label, view.decision))
        yield f"decision: {names}", replace(view, decision=())
    for name in view.gold:
        yield f"gold: {plain(name) if name != ABSENT else 'no span'}", _without(view, "gold", name)
    for name in view.pred:
        yield f"prediction: {plain(name) if name != ABSENT else 'no span'}", _without(view, "pred", name)
    if (view.record or view.at) and place:
        said = f"record: {plain(view.record)}" if view.record else f"characters {view.at.replace('-', '–')}"
        yield f"{said} in {plain(view.doc)}", replace(view, record="", doc="", at="")
    elif view.doc and place:
        yield f"document: {plain(view.doc)}", replace(view, doc="")
    query = query_of(view)
    for name, value in query.having:
        rest = tuple(one for one in query.having if one != (name, value))
        yield f"{plain(name)}: {plain(value)}", replace(view, q=search_of(replace(query, having=rest)))
    if words := search_of(replace(query, having=())):
        yield f"search: {plain(words)}", replace(view, q=search_of(Query(having=query.having)))


def _without(view: View, field: str, value: str) -> View:
    return replace(view, **{field: tuple(one for one in getattr(view, field) if one != value)})
