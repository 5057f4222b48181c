"""The frame of every page: configuration, navigation, context bar, state and chips; problems are shown kindly."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from nereval_core import __version__
from nereval_core.conventions import Convention, conventions
from nereval_core.problems import FormatError
from nereval_core.report.signature import signature
from nereval_core.scoring import Scores, Settings
from nereval_core.scoring.criteria import Criterion
from pages.shared.components import export_menu, navigation, reading_progress
from pages.shared.data import caches, masks, own_criteria, reference_layer, scored_folders, verdict_store
from pages.shared.data.loading import Loaded, demo_names
from pages.shared.data.named_files import named_corpus
from pages.shared.frame import chips, context_bar, login
from pages.shared.server.access import only_this_machine
from pages.shared.verdicts.events import end_events
from pages.shared.view import View, keys, state
from pages.shared.view.layer_words import LayerWords
from pages.shared.view.link import PREFIX, check_view, is_key
from pages.shared.view.queries import Ledger, Query, query_of
from pages.shared.view.text import plain, show_problems

STYLE = Path(__file__).parent / "frame.css"
_LOG = logging.getLogger("nereval")
SIDEBAR = 200
"""Pixels of the sidebar, which holds the links to the pages."""
Made = TypeVar("Made")


@dataclass(frozen=True, eq=False)
class Here:
    """The subject of a page: the corpus, the view (checked against it), and the scores under its settings."""

    loaded: Loaded
    view: View
    settings: Settings
    _kept: dict[Hashable, Any] = field(init=False, repr=False, default_factory=dict)

    @property
    def system(self) -> str:
        return self.view.system or self.loaded.start

    @property
    def words(self) -> LayerWords:
        """The words for the two sides: gold and prediction, or the names of two annotators."""
        return reference_layer.words_of(self.loaded, self.system)

    @property
    def beside(self) -> str:
        """The system that the chosen one is compared with, "" where there is none."""
        return self.view.beside if self.view.beside in self.systems and self.view.beside != self.system else ""

    def of(self, system: str) -> Here:
        """The same page about another system, compared with this one."""
        return replace(self, view=replace(self.view, system=system, beside=self.system))

    @property
    def systems(self) -> tuple[str, ...]:
        return tuple(sorted(layer.name for layer in self.loaded.corpus.systems))

    @property
    def annotated_types(self) -> tuple[str, ...]:
        """The types of the whole corpus as annotated, before merging."""
        return self.loaded.types

    @property
    def has_links(self) -> bool:
        """Whether some gold span is linked to a concept."""
        return self.loaded.folder is None and bool(self.loaded.corpus.gold.links)

    @property
    def is_demo(self) -> bool:
        # Only demos come with a description.
        return bool(self.loaded.description)

    @property
    def convention(self) -> Convention | None:
        """The published scorer that is chosen in place of a criterion, None where there is none."""
        return None if self.view.criterion in self.criteria else conventions().get(self.view.criterion)

    @property
    def by(self) -> str:
        """The criterion of our own numbers: the one chosen, or the first twin of the convention that is chosen."""
        return _by(self.settings, self.view.criterion)

    @property
    def criterion(self) -> Criterion:
        return next(criterion for criterion in self.settings.criteria if criterion.name == self.by)

    @property
    def criteria(self) -> tuple[str, ...]:
        """The names of all criteria that are scored, one's own last."""
        return tuple(criterion.name for criterion in self.settings.criteria)

    @property
    def types(self) -> tuple[str, ...]:
        """The types as scored under the chosen criterion, which may merge some and leave some out itself."""
        return tuple(sorted(self.scores().by_type(self.by)))

    def scores(self, system: str | None = None, names: Sequence[str] | None = None) -> Scores:
        """Return scores under some criteria at least, by default the chosen one."""
        settings = caches.spans_only(self.settings, names or [self.by])
        key = (system or self.system, len(settings.criteria))
        return self._once(key, lambda: caches.scores(self.loaded, system or self.system, settings))

    def signature(self, criterion: str | None = None) -> str:
        name = criterion or self.by
        return self._once(("signature", name), lambda: signature(self.scores(names=[name]), name))

    def ledger(self, criterion: str | None = None) -> Ledger:
        """All match records of the system under a criterion, by default the chosen one."""
        name = criterion or self.by
        return self._once(name, lambda: caches.ledger(self.loaded, self.system, self.settings, name))

    def reading(self, doc: str, criterion: str | None = None) -> Scores:
        """The scores of one document alone."""
        return caches.reading(self.loaded, self.system, self.settings, criterion or self.by, doc)

    def _once(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """Return a value by its key, made once in this run: to make the key of a cache would take longer."""
        if key not in self._kept:
            self._kept[key] = make()
        found: Made = self._kept[key]
        return found

    def query(self) -> Query:
        """The query of the records that lists show."""
        return query_of(self.view)


def page(
    title: str,
    *,
    needs_corpus: bool = True,
    demo: Callable[[View], bool] | None = None,
    bare: Callable[[View], bool] = lambda view: False,
    filters: Callable[[View], bool] = lambda view: False,
) -> Callable[[Callable[[Here], None]], None]:
    """Run a page: `@page("Overview")` over the function that draws it, once there is a corpus to draw.

    Without a corpus a page shows the demo, where `demo` says yes to the view; by default if it needs one. With
    `needs_corpus=False` the function takes `Here | None` and is called in any case. Where the view is one that `bare`
    says yes to, what the function draws has the window to itself; where `filters` says yes, the page shows records
    narrowed down by the filters of the view, and these as chips.
    """

    def run(body: Callable[..., None]) -> None:
        st.set_page_config(page_title=f"{title} · nereval", layout="wide", initial_sidebar_state=SIDEBAR)
        # First, or what is drawn before it would jump.
        st.html(STYLE)
        end_events()
        notices = list(state.read_address(title))
        verdict_store.refresh()
        if login.draw_login():
            return
        with guarded():
            here, dropped = _here(demo=needs_corpus if demo is None else demo(state.view()))
            fits = state.write_address()
            alone = here is not None and bare(here.view)
            export_menu.begin()
            exports = None if alone else _draw_frame(title, here, fits)
            # One element whatever is in it: were the body's places to change, its tabs would go back to the first.
            with st.container():
                _tell([*notices, *dropped], passing=alone)
                if here is not None and not alone:
                    # Inspect says itself which record is open; a chip would push its text down.
                    chips.draw_chips(here, filters=filters(here.view), place=title != "Inspect")
                elif here is None and state.view().corpus:
                    _guide(state.view())
            if here is not None and not here.loaded.shows(title):
                scored_folders.say_elsewhere(title)
            elif here is not None or not needs_corpus:
                body(here)
            if exports is not None:
                export_menu.draw(exports)
        _count_run()

    return run


def _draw_frame(title: str, here: Here | None, fits: bool) -> DeltaGenerator:
    """Draw navigation, context bar, the reading that goes on, the line that names a demo, and the title.

    Return the place of the menu that exports what the page draws below.
    """
    with st.sidebar:
        navigation.draw_links(("Linking",) if here is None else _inapplicable(here))
        login.draw_logout()
    if here is not None:
        context_bar.draw_context_bar(here, fits)
    with st.container(key="notices"):
        reading_progress.draw_waiting()
        if title == "Start":
            st.session_state.pop(keys.READING_REFUSED, None)
        elif keys.READING_REFUSED in st.session_state:
            navigation.link_to("Start", ":red[The files were not read: see why at Start →]", state.view())
        if here is not None and here.is_demo and title != "Start":
            name = plain(here.loaded.corpus.name)
            navigation.link_to("Start", f"Demo: {name} · :primary[open your own →]", here.view)
    with st.container(horizontal=True, vertical_alignment="center", key="title_row"):
        st.title(title if title != "Start" else "nereval")
        return st.container(width="content")


def _inapplicable(here: Here) -> tuple[str, ...]:
    """Return the pages about what a corpus lacks: links of spans, or systems where all layers are annotators'."""
    linking = () if here.has_links else ("Linking",)
    return (*linking, "Systems") if here.words.annotators else linking


class PageError(Exception):
    """A fault of the program, as visitors see it: without the words of the exception behind it."""


@contextmanager
def guarded() -> Iterator[None]:
    """Show what is wrong with input line by line; log anything else and show an id to find it by.

    A fault is shown as an exception of the page, so that whoever tests the page sees that it failed.
    """
    try:
        yield
    except FormatError as error:
        show_problems([masks.mask_message(line) for line in error.lines()])
    except Exception:
        number = secrets.token_hex(4)
        _LOG.exception("error %s", number)
        st.exception(
            PageError(f"This is a fault of nereval, not of your files. The server's log has it under {number}.")
        )


def _here(*, demo: bool) -> tuple[Here | None, tuple[str, ...]]:
    """Find the corpus of the view, with `demo` that of the demo where none is named, and check the view against it."""
    wanted = state.view()
    wanted, refused = own_criteria.receive_rule(wanted)
    named = named_corpus()
    if named is not None and not wanted.corpus:
        wanted = replace(wanted, corpus=named.corpus.digest, system=named.start)
    elif demo and not wanted.corpus and demo_names():
        shown = caches.demo(demo_names()[0])
        wanted = replace(wanted, corpus=shown.corpus.digest, system=shown.start)
    loaded = caches.find(wanted.corpus)
    if loaded is None:
        state.put(wanted)
        return None, refused
    wanted, fixed = scored_folders.following(loaded, wanted)
    loaded, wanted, unheld = reference_layer.follow_view(loaded, wanted)
    loaded, wanted = masks.follow_view(loaded, wanted)
    corpus = loaded.corpus
    known = loaded.types
    settings = caches.settings_in(loaded, wanted, own_criteria.criteria())
    scored_under = {criterion.name for criterion in settings.criteria}
    by = _by(settings, wanted.criterion)
    rules = settings.rules_for(next(criterion for criterion in settings.criteria if criterion.name == by))
    counted = {name for kind in known if (name := rules.name(kind)) is not None}
    view, notices = check_view(
        wanted,
        systems={layer.name for layer in corpus.systems},
        criteria=[*scored_under, *(() if loaded.fixed_settings or wanted.criterion in scored_under else conventions())],
        known_types=known,
        scored_types=counted,
        # Made of all ids, which may be very many.
        documents=corpus.documents.index if wanted.doc else (),
    )
    # From here on in full, so that a link's short digest and an opened corpus are the same view.
    name = view.corpus if is_key(view.corpus) else loaded.digest
    view = replace(view, corpus=name, system=view.system or loaded.start)
    if view != state.view():
        state.put(view)
    return Here(loaded, view, caches.settings_in(loaded, view, own_criteria.criteria())), (
        *refused,
        *fixed,
        *unheld,
        *notices,
    )


def _by(settings: Settings, name: str) -> str:
    """Return the name of a criterion that is scored: for a convention its twin, for what is not known the default."""
    known = {criterion.name for criterion in settings.criteria}
    if name in known:
        return name
    twins = conventions()[name].twins.values() if name in conventions() else ()
    wanted = (*twins, View().criterion, *(criterion.name for criterion in settings.criteria))
    return next(one for one in wanted if one in known)


def _tell(notices: list[str], *, passing: bool = False) -> None:
    """Show the notices about dropped parts of the link; `passing`: for a while, over the page."""
    if notices:
        said = "Left out, as it does not fit: " + "; ".join(plain(notice, 300) for notice in notices) + "."
        (st.toast if passing else st.warning)(said)


def _guide(wanted: View) -> None:
    """Tell the reader how to get the corpus of a link that is not here."""
    st.info(
        f"The link asks for the corpus {wanted.corpus[:PREFIX]}, which this server does not have. "
        "Upload its gold and system files at Start: what is in them, not their names, decides."
        if only_this_machine()
        else "The link does not open here: its corpus is gone, belongs to another browser, or is no longer shared. Ask "
        "its owner for a link (Share), or upload the gold and system files at Start."
    )
    navigation.link_to("Start", ":primary[Upload your own files at Start →]", wanted)


def _count_run() -> None:
    runs = st.session_state.get(keys.RUNS, 0) + 1
    st.session_state[keys.RUNS] = runs
    with st.container(key=f"run-{runs}"):
        st.caption(f"nereval {__version__}")
