"""Shared by the views of the Review page: the accepted verdicts, corrected gold and its scores, and records in text."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from nereval_core.corpus import Layer
from nereval_core.review.apply import AppliedVerdicts, Change, apply_verdicts, drop_verdicts, select_verdicts
from nereval_core.review.apply.deciding_verdicts import Conclusion, conclude_pairs
from nereval_core.review.apply.other_layers import verdicts_of_other_layers
from nereval_core.review.apply.settlement import DONE
from nereval_core.review.apply.what_if import WhatIf, what_if
from nereval_core.review.standing_verdicts import Reviewed
from nereval_core.review.verdicts import KINDS
from nereval_core.review.verdicts_on_records import attach_verdicts, turned_verdicts
from nereval_core.scoring import Settings
from nereval_core.scoring.criteria import CRITERIA
from pages.shared.components import navigation
from pages.shared.components.records import record_card
from pages.shared.data import verdict_store
from pages.shared.data.computations import compute
from pages.shared.data.loading import Loaded
from pages.shared.data.memo import memoized
from pages.shared.data.page_context import PageContext
from pages.shared.verdicts.events import applied
from pages.shared.view import keys, state
from pages.shared.view.text import count, plain

FEW = 6
"""Systems up to which each is held against each."""


@dataclass(frozen=True)
class Accepted:
    """Verdicts that are applied: reviewers and kinds, None for all; and whether to every document with their text.

    `other_layers`: also those that were given on other layers of the texts.
    """

    who: tuple[str, ...] | None = None
    kinds: tuple[str, ...] | None = None
    every_document: bool = False
    other_layers: bool = True


def accepted_choice() -> Accepted:
    """Return the verdicts that this session accepts."""
    who = st.session_state.get(keys.REVIEW_WHO)
    reviewers = set(verdict_store.now().reviewers)
    # Whoever has taken all of theirs back is nobody to choose any more.
    return Accepted(
        who if who is None else tuple(sorted(reviewers.intersection(who))),
        st.session_state.get(keys.REVIEW_KINDS),
        st.session_state.get(keys.REVIEW_EVERY, False),
        st.session_state.get(keys.REVIEW_OTHERS, True),
    )


def choose_accepted(page: PageContext) -> None:
    """Ask whose verdicts are applied, and of which kinds; and whether those given on other layers are."""
    _choose_other_layers(page)
    now, names = accepted_choice(), verdict_store.now().reviewers
    parts = [] if now.who is None else [", ".join(sorted(now.who)) or "nobody"]
    parts += (
        []
        if now.kinds is None
        else [", ".join(parts for kind, parts in page.words.verdicts.items() if kind in now.kinds) or "no kind"]
    )
    parts += ["every document with the text"] if now.every_document else []
    parts += [] if now.other_layers else ["not of other layers"]
    label = f"Accepted: {plain('; '.join(parts)) or 'all verdicts'}"
    with st.popover(label, key=f"{keys.WIDGET}review_accepted", on_change="rerun") as box:
        if not box.open:
            return
        who = state.mirror("review_who", list(names if now.who is None else now.who), _take_reviewers)
        st.multiselect("Verdicts of", names, **who)
        kinds = state.mirror("review_kinds", list(KINDS if now.kinds is None else now.kinds), _take_kinds)
        st.multiselect("Kinds", list(KINDS), format_func=partial(_in_words, page), **kinds)
        st.toggle(
            "Every document with the text",
            **state.mirror("review_every_document", now.every_document, state.keep(keys.REVIEW_EVERY)),
            help="Where several documents have the same text, a verdict changes the one that it was given on; with "
            "this, all of them.",
        )


def _choose_other_layers(page: PageContext) -> None:
    """Say how many verdicts given on other layers change this one, and let the reader leave them out."""
    accepted = accepted_choice()
    if n_verdicts := len(other_layer_verdicts(page, accepted)):
        st.toggle(
            f"{count(n_verdicts, 'verdict')} given on other layers of these texts: apply them too",
            **state.mirror("review_other_layers", accepted.other_layers, state.keep(keys.REVIEW_OTHERS)),
            help="A verdict belongs to its text and span, whichever files it was given on. These change "
            f"{plain(page.words.reference)}, and are on no record of the layers that are read here.",
        )


def _in_words(page: PageContext, kind: str) -> str:
    return next((words for verdict, words in page.words.verdicts.items() if verdict == kind), kind)


def _take_reviewers(names: list[str]) -> None:
    is_all = set(names) >= set(verdict_store.now().reviewers)
    st.session_state[keys.REVIEW_WHO] = None if is_all else tuple(sorted(names))


def _take_kinds(kinds: list[str]) -> None:
    accepted = tuple(kind for kind in KINDS if kind in kinds)
    st.session_state[keys.REVIEW_KINDS] = None if len(accepted) == len(KINDS) else accepted


def corrected_gold(page: PageContext, choice: Accepted | None = None) -> AppliedVerdicts:
    """Return gold with verdicts applied: those accepted in this session, or by another choice."""
    accepted = accepted_choice() if choice is None else choice
    return _applied_verdicts(page.loaded, _second_annotator(page), verdicts_number(), accepted, verdict_store.now())


def effects_in_words(results: AppliedVerdicts) -> str:
    """Return how many applied verdicts had which effect, as the log of changes calls and counts them."""
    parts = [f"{name} {number:,}" for name, number in results.counts().items() if name in DONE]
    return ", ".join(parts) or "nothing to do"


def _second_annotator(page: PageContext) -> str:
    """Return the system where it is an annotator, "" for that of gold.

    Of two annotators either may be the reference: their verdicts hold in both orders.
    """
    return page.system if page.words.annotators else ""


def _with_others(choice: Accepted) -> Accepted:
    return replace(choice, other_layers=True)


def other_layer_verdicts(page: PageContext, choice: Accepted) -> frozenset[str]:
    """Return the uids of the verdicts that change the layer and were given on others, by a choice of verdicts."""
    return _other_layer_verdicts(
        page.loaded, _second_annotator(page), verdicts_number(), _with_others(choice), verdict_store.now()
    )


@memoized("Looking for verdicts on other layers …")
def _other_layer_verdicts(
    loaded: Loaded, system: str, now: Hashable, choice: Accepted, _reviewed: Reviewed
) -> frozenset[str]:
    systems = (loaded.corpus.system(system),) if system else loaded.corpus.systems
    applied = _applied_verdicts(loaded, system, now, choice, _reviewed)
    return compute(loaded, "Verdicts", verdicts_of_other_layers, applied, systems)


# Verdicts are named by the last one there is.
@memoized("Applying the verdicts …")
def _applied_verdicts(
    loaded: Loaded, system: str, now: Hashable, choice: Accepted, _reviewed: Reviewed
) -> AppliedVerdicts:
    others = () if choice.other_layers else _other_layer_verdicts(loaded, system, now, _with_others(choice), _reviewed)
    # The history of a reviewer's verdicts is that of one order of the layers, and kinds are accepted as they read here.
    _reviewed = select_verdicts(_reviewed, who=choice.who)
    if system:
        _reviewed = turned_verdicts(_reviewed, loaded.corpus.gold, loaded.corpus.system(system))
    verdicts = drop_verdicts(select_verdicts(_reviewed, kinds=choice.kinds), others)
    layers = (loaded.corpus.gold, verdicts, loaded.corpus.systems)
    return compute(loaded, "Verdicts", apply_verdicts, *layers, only_this_document=not choice.every_document)


def what_if_scores_of(page: PageContext, names: Sequence[str]) -> WhatIf:
    """Return all systems' scores as they are and with verdicts, under some criteria: those that then apply."""
    settings = settings_of(page, names)
    return _what_if_scores(page, _state(), settings)


@memoized("Scoring …")
def _what_if_scores(page: PageContext, verdicts: Hashable, settings: Settings) -> WhatIf:
    return compute(page.loaded, "Scoring with verdicts", what_if, corrected_gold(page), systems(page), settings)


def hanging_of(page: PageContext) -> tuple[Conclusion, ...]:
    """Return the verdicts that decide the order of each two systems; of many, only of pairs with the chosen one."""
    settings = settings_of(page, [page.by])
    return _deciding_verdicts(page, _state(), settings)


@memoized("Seeking the verdicts that the order hangs on …")
def _deciding_verdicts(page: PageContext, verdicts: Hashable, settings: Settings) -> tuple[Conclusion, ...]:
    compared, first_only = systems(page), len(page.systems) > FEW
    gold = corrected_gold(page)
    conclusions = compute(page.loaded, "The order", conclude_pairs, gold, compared, settings, first_only=first_only)
    return tuple(conclusions.values())


def _state() -> Hashable:
    """Return the verdicts that there are, and those that this session accepts."""
    return verdicts_number(), accepted_choice()


def verdicts_number() -> Hashable:
    """Return number and uid of the last verdict, which identify the state of the store."""
    now = verdict_store.now()
    return now.number, now.uid


def settings_of(page: PageContext, names: Sequence[str]) -> Settings:
    """Return settings with some criteria; those that gold does not have what they need for may come to life."""
    criteria = {criterion.name: criterion for criterion in (*CRITERIA.values(), *page.settings.criteria)}
    return replace(page.settings, criteria=tuple(criteria[name] for name in names))


def systems(page: PageContext) -> tuple[Layer, ...]:
    """Return the systems, the one chosen first."""
    names = (page.system, *(name for name in page.systems if name != page.system))
    return tuple(map(page.loaded.corpus.system, names))


def say_no_verdicts(page: PageContext) -> bool:
    """Tell the reader if no verdict stands on this corpus, and how to give some; return whether that is so."""
    if corrected_gold(page, Accepted()).log:
        return False
    words = page.words
    first = plain(words.reference)
    st.info(
        "No verdict stands on this corpus yet. Choose a record on Inspect and say who is right, by the "
        f"keys 1 to 5: {first}, {plain(words.other)}, both, neither, or unclear. Then this "
        f"page says what every score would be, and hands out a corrected copy of {first}, which itself is never "
        "changed."
    )
    if n_waiting := len(applied().waiting):
        verb = "waits" if n_waiting == 1 else "wait"
        st.info(f"{count(n_waiting, 'verdict')} given in this tab {verb} for your name: Inspect asks for it.")
    navigation.link_to("Inspect", ":primary[Give verdicts on Inspect →]", page.view)
    return True


def show_change(page: PageContext, change: Change) -> None:
    """Show the record that a verdict is about, in its text; the way to its document where no system has it."""
    place = record_of(page, change)
    if place is not None:
        system, criterion, record = place
        show_record(page.of(system), criterion, change.id, record)
        return
    view = replace(page.view, doc=change.id, record="")
    navigation.link_to("Inspect", f":primary[Read the document {plain(change.id)} →]", view)


def show_record(page: PageContext, criterion: str, document: str, record: str) -> None:
    """Show a record in its text, with the way to its document."""
    record_card(page, criterion, pd.Series({"document": document, "record": record}))


def by_span(page: PageContext, criterion: str) -> str:
    """Return a criterion, or strict for one that counts tokens or that gold lacks something for."""
    return next(
        (offered.name for offered in page.settings.criteria if offered.name == criterion and offered.unit == "span"),
        "strict",
    )


def record_of(page: PageContext, change: Change) -> tuple[str, str, str] | None:
    """Return system, criterion and record id of the record that a verdict is shown at, None where it is at none."""
    criterion = by_span(page, page.by)
    for name in (page.system, *(name for name in page.systems if name != page.system)):
        ledger = page.of(name).ledger(criterion)
        verdicts = attach_verdicts(ledger.about)
        numbers = [place for place, verdict in enumerate(verdicts.verdicts) if verdict.uid == change.stored.uid]
        places = np.flatnonzero(np.isin(verdicts.at, numbers) & (ledger.about.rows.doc == change.document))
        if len(places):
            return name, criterion, str(ledger.frame(places[:1])["record"].iloc[0])
    return None
