"""What every page does first and last: configuration, links, state, sidebar, chips; problems shown kindly."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd
import streamlit as st

from nereval_core import __version__
from nereval_core.conventions import Convention, conventions
from nereval_core.criteria import Criterion
from nereval_core.errors import FormatError
from nereval_core.report.signature import signature
from nereval_core.scoring import Scores, Settings
from pages.shared import corpora, demos, keys, navigation, own, sidebar, state
from pages.shared.loading import Loaded
from pages.shared.plain import plain
from pages.shared.problems import show_problems
from pages.shared.queries import Query, query_of, select
from pages.shared.url import PREFIX, View, checked

STYLE = Path(__file__).parent / "frame.css"
_LOG = logging.getLogger("nereval")


@dataclass(frozen=True, eq=False)
class Here:
    """What a page is about: the corpus, the view (checked against it), and the scores under its settings."""

    loaded: Loaded
    view: View
    settings: Settings

    @property
    def system(self) -> str:
        return self.view.system or self.loaded.start

    @property
    def systems(self) -> tuple[str, ...]:
        return tuple(sorted(layer.name for layer in self.loaded.corpus.systems))

    @property
    def annotated_types(self) -> tuple[str, ...]:
        """The types of the whole corpus as annotated, before merging."""
        return self.loaded.types

    @property
    def convention(self) -> Convention | None:
        """The published scorer that is chosen in place of a criterion, None where there is none."""
        return None if self.view.criterion in self.criteria else conventions().get(self.view.criterion)

    @property
    def by(self) -> str:
        """The criterion by which our own numbers count: the one chosen, or what a convention's first twin means."""
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
        return tuple(sorted({kind for layer in self.scores().layers(self.by) for kind in layer.types}))

    def scores(self, system: str | None = None) -> Scores:
        return corpora.scores(self.loaded, system or self.system, self.settings)

    def signature(self, criterion: str | None = None) -> str:
        return signature(self.scores(), criterion or self.by)

    def records(self, criterion: str | None = None) -> pd.DataFrame:
        """All match records of the system under a criterion, by default the chosen one."""
        return corpora.records(self.loaded, self.system, self.settings, criterion or self.by)

    def query(self) -> Query:
        """What the lists show."""
        return query_of(self.view)

    def shown(self) -> pd.DataFrame:
        return select(self.records(), self.query())


def page(title: str, *, needs_corpus: bool = True) -> Callable[[Callable[[Here], None]], None]:
    """Run a page: `@page("Overview")` over the function that draws it, once there is a corpus to draw.

    With `needs_corpus=False` the function takes `Here | None` and is called in any case.
    """

    def run(body: Callable[..., None]) -> None:
        st.set_page_config(page_title=f"{title} · nereval", layout="wide")
        notices = list(state.read_address(title))
        with guarded():
            here, dropped = _here()
            fits = state.write_address()
            with st.sidebar:
                navigation.draw()
            st.title(title if title != "Start" else "nereval")
            if here is not None:
                with st.sidebar:
                    sidebar.draw(here, fits)
            # One element whatever is in it: were the body's places to change, its tabs would go back to the first.
            with st.container():
                _tell([*notices, *dropped])
                if here is not None:
                    # Documents says itself which record is open; a chip would push its text down.
                    sidebar.chips(here, place=title != "Documents")
                elif needs_corpus or state.view().corpus:
                    _guide(state.view())
            if here is not None or not needs_corpus:
                body(here)
        _count_run()

    return run


@contextmanager
def guarded() -> Iterator[None]:
    """Show what is wrong with input line by line; log anything else and show an id to find it by."""
    try:
        yield
    except FormatError as error:
        show_problems(error.lines())
    except Exception:
        number = secrets.token_hex(4)
        _LOG.exception("error %s", number)
        st.error(f"This is a fault of nereval, not of your files. The server's log has it under {number}.")


def _here() -> tuple[Here | None, tuple[str, ...]]:
    """Find the corpus of the view and check the view against it."""
    wanted = state.view()
    loaded = corpora.find(wanted.corpus)
    if loaded is None:
        return None, ()
    corpus = loaded.corpus
    known = loaded.types
    settings = corpora.settings_of(corpus.gold, wanted, own.criteria())
    by = _by(settings, wanted.criterion)
    rules = settings.rules_for(next(criterion for criterion in settings.criteria if criterion.name == by))
    scored = {name for kind in known if (name := rules.name(kind)) is not None}
    view, notices = checked(
        wanted,
        systems={layer.name for layer in corpus.systems},
        criteria=[*(criterion.name for criterion in settings.criteria), *conventions()],
        known_types=known,
        scored_types=scored,
        documents=corpus.documents.index,
    )
    # From here on in full, so that a link's short digest and an opened corpus are the same view.
    view = replace(view, corpus=corpus.digest, system=view.system or loaded.start)
    if view != wanted:
        state.put(view)
    return Here(loaded, view, corpora.settings_of(corpus.gold, view, own.criteria())), notices


def _by(settings: Settings, name: str) -> str:
    """Return the name of a criterion that is scored: for a convention its twin, for what is not known the default."""
    known = {criterion.name for criterion in settings.criteria}
    twins = conventions()[name].twins.values() if name in conventions() else ()
    return next((one for one in (name, *twins) if one in known), View().criterion)


def _tell(notices: list[str]) -> None:
    if notices:
        st.warning("Left out, as it does not fit: " + "; ".join(plain(notice, 300) for notice in notices) + ".")


def _guide(wanted: View) -> None:
    """Say what to do where there is nothing to show."""
    if wanted.corpus:
        st.info(
            f"The link asks for the corpus {wanted.corpus[:PREFIX]}, which this server does not have. "
            "Upload its gold and system files at Start: what is in them, not their names, decides."
        )
    else:
        st.info("There is no corpus to show yet. Choose a demo corpus or upload files at Start.")
        demos.cards(None)
    navigation.link_to("Start", ":primary[Upload your own files at Start →]", wanted)


def _count_run() -> None:
    runs = st.session_state.get(keys.RUNS, 0) + 1
    st.session_state[keys.RUNS] = runs
    st.html(STYLE)
    with st.container(key=f"run-{runs}"):
        st.caption(f"nereval {__version__}")
