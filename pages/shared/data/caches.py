"""Corpora by content digest, and what every page asks about them, kept once for all sessions.

Session state holds digests only: a closed session may stay in memory for minutes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from threading import Lock
from typing import NamedTuple, cast

import pandas as pd
from cachetools import LRUCache

from nereval_core.analysis.criteria.convention_differences import (
    CriterionRow,
    convention_rows,
    differences,
)
from nereval_core.analysis.slices.decades_and_noise import counts_by_decade, decade_table, document_decades
from nereval_core.analysis.slices.slicings import DIGEST_DIGITS
from nereval_core.analysis.slices.user_columns import UserColumns
from nereval_core.conventions import Outcome, conventions
from nereval_core.corpus import Layer
from nereval_core.corpus.masking import masked_error
from nereval_core.ledger import Ledger
from nereval_core.ledger import ledger as ledger_of_corpus
from nereval_core.problems import FormatError
from nereval_core.review.standing_verdicts import Reviewed
from nereval_core.scoring import Counts, Scores, Settings
from nereval_core.scoring.averages import Average
from nereval_core.scoring.criteria import CRITERIA, Criterion
from nereval_core.store import Entry, Store
from pages.shared.data import computations, masks, scored_folders, verdict_store
from pages.shared.data.convention_results import Options, apply_convention, rows_of_scorer, takes_files
from pages.shared.data.jobs import Jobs
from pages.shared.data.kept_corpora import Keeper, named_corpus
from pages.shared.data.loading import Loaded, demo_names, load_demo
from pages.shared.data.memo import MEMO, memoized
from pages.shared.server import server_options
from pages.shared.server.access import only_this_machine
from pages.shared.server.ownership import EVERYBODY, Ownership, visitor
from pages.shared.view import View, is_key

SCORED_DOCUMENTS = 100_000
"""Documents from which a published scorer takes longer than a process to start."""
UPLOADS = 16
"""Large corpora kept in memory beside the demos, or small ones in their places; the one unused longest goes first."""
SMALL_SPANS, SMALL_DOCUMENTS = 5_000, 1_000
"""Spans of all layers, and documents, up to which a corpus is small."""
SMALL_FACTOR = 8
"""Small corpora that are kept in the place of a large one: many people bring small ones."""


def is_small(loaded: Loaded) -> bool:
    """Return whether a corpus is in memory and small."""
    corpus = loaded.corpus
    spans = len(corpus.gold) + sum(map(len, corpus.systems))
    return loaded.has_layers and spans <= SMALL_SPANS and len(corpus.documents) <= SMALL_DOCUMENTS


def _places(loaded: Loaded) -> float:
    return 1 / SMALL_FACTOR if is_small(loaded) else 1.0


class _Name(NamedTuple):
    digest: str
    key: str
    owner: str


class Shelf:
    """Corpora by digest, input and owner, shared by all sessions; those that went come back from the store on disk."""

    def __init__(self, keeper: Keeper) -> None:
        self.keeper = keeper
        self.ownership = Ownership(keeper.store)
        self._lock = Lock()
        self._opening = Lock()
        self._corpora: LRUCache[_Name, Loaded] = LRUCache(UPLOADS, _places)

    def put(self, loaded: Loaded) -> str:
        name = _Name(loaded.corpus.digest, loaded.key, loaded.owner)
        with self._lock:
            # Names stand in the order in which they came.
            self._corpora.pop(name, None)
            self._corpora[name] = loaded
        return name.digest

    def rename(self, key: str, name: str) -> None:
        """Give the stored corpus of an input another name.

        Raises:
            OSError: the store cannot be written to.
        """
        self.keeper.rename(key, name)
        self._close(key)

    def remove(self, digest: str, owner: str | None = None, *, key: str = "") -> None:
        """Remove what an owner, or without one anybody, has stored of a corpus; it goes from memory too.

        With `key` that of one input alone is removed.
        """
        store = self.keeper.store
        for entry in store.entries(digest) if store is not None else ():
            if self._is_of(entry, owner) and key in ("", entry.key):
                self.remove_entry(entry)

    def unused(self, seconds: float) -> tuple[Entry, ...]:
        """Return what was not opened for so long."""
        return () if self.keeper.store is None else self.keeper.store.unused(seconds)

    def remove_entry(self, entry: Entry) -> None:
        """Remove what is stored of a corpus; it goes from memory too."""
        if self.keeper.store is not None:
            self.keeper.store.remove(entry)
            self._forget(entry)

    def _forget(self, entry: Entry) -> None:
        self._close(entry.key)
        self.keeper.forget(entry.key)
        self.ownership.forget(entry.key)

    def _close(self, key: str) -> None:
        MEMO.forget(key)
        with self._lock:
            for name in [stored for stored in self._corpora if stored.key == key]:
                del self._corpora[name]

    def close_stored(self) -> None:
        """Let go of the corpora that were opened from the store: each holds its file, even one that was removed."""
        for key in self.keeper.opened():
            self._close(key)

    def _is_of(self, entry: Entry, owner: str | None) -> bool:
        return owner is None or self.ownership.owner(entry) == owner

    def find(self, prefix: str, owner: str | None = None) -> Loaded | None:
        """Return the one corpus of an owner, or without one of anybody, whose digest begins so.

        None where there is none, or several. It is marked as used in the store; others are neither opened nor marked.
        """
        return self._found(
            lambda name: name.digest.startswith(prefix) and owner in (None, name.owner),
            lambda: self.keeper.find(prefix, lambda entry: self._is_of(entry, owner)),
        )

    def find_open(self, prefix: str, owner: str | None = None) -> Loaded | None:
        """Return what `find` does of the corpora in memory alone."""
        return self._found(lambda name: name.digest.startswith(prefix) and owner in (None, name.owner), lambda: None)

    def shared(self, key: str) -> Loaded | None:
        """Return the corpus that is shared by a key."""
        store, read = self.keeper.store, self.ownership.shared(key)
        if not read:
            return None
        return self._found(
            lambda name: name.key == read, lambda: None if store is None else self.keeper.take(store, read)
        )

    def _found(self, is_wanted: Callable[[_Name], bool], take: Callable[[], Loaded | None]) -> Loaded | None:
        corpora = self._in_memory(is_wanted)
        if not corpora:
            with self._opening:
                # Two sessions that follow one link are to have one corpus.
                corpora = self._in_memory(is_wanted)
                if not corpora and (opened := take()) is not None:
                    self.put(opened)
                    return opened
        if len({loaded.digest for loaded in corpora}) != 1:
            return None
        if self.keeper.store is not None and corpora[-1].key:
            self.keeper.store.mark_used(corpora[-1].digest, corpora[-1].key)
        return corpora[-1]

    def _in_memory(self, is_wanted: Callable[[_Name], bool]) -> list[Loaded]:
        with self._lock:
            return [self._corpora[name] for name in [*filter(is_wanted, self._corpora)]]


# Not kept by Streamlit: uploads expire where no page runs, and these outlast an emptying of its caches.
@cache
def shelf() -> Shelf:
    return Shelf(Keeper(Store.of_environment()))


def forget() -> None:
    """Forget the results of pages, and close the corpora that are stored."""
    shelf().close_stored()
    MEMO.clear()


@cache
def jobs() -> Jobs[Loaded]:
    return Jobs()


@memoized("Reading the demo corpus …")
def demo(folder: str) -> Loaded:
    return load_demo(folder)


def find(prefix: str) -> Loaded | None:
    """Return the corpus of a link, by its digest or its key: one that was read here and may be opened, or a demo."""
    if not prefix:
        return None
    if is_key(prefix):
        return shelf().shared(prefix)
    owners = (None,) if only_this_machine() else (visitor(), EVERYBODY)
    named = named_corpus()
    if named is not None and named.corpus.digest.startswith(prefix):
        # The same files may have been read again since, with other roles.
        return next((read for owner in owners if (read := shelf().find_open(prefix, owner)) is not None), named)
    # One's own goes first: others may have brought the same texts and spans under other names.
    own = next((loaded for owner in owners if (loaded := shelf().find(prefix, owner)) is not None), None)
    # Spans of a scored folder lie on disk unmasked.
    if own is None and not masks.all_masked() and (root := served_folder()) is not None:
        own = scored_folders.find_folder(root, prefix)
        if own is not None:
            shelf().put(own)
    demos = (demo(name) for name in demo_names()) if own is None else ()
    return own or next((loaded for loaded in demos if loaded.corpus.digest.startswith(prefix)), None)


@cache
def served_folder() -> Path | None:
    """Return the folder given as `streamlit run app.py -- --data DIR`, None without one."""
    folder: Path | None = server_options().data
    return folder if folder is not None and folder.is_dir() else None


def settings_in(loaded: Loaded, view: View, own: tuple[Criterion, ...] = ()) -> Settings:
    """Return the settings of scoring for a corpus; a scored folder has its own."""
    return loaded.fixed_settings or settings_of(loaded.corpus.gold, view, own)


def settings_of(gold: Layer, view: View, own: tuple[Criterion, ...] = ()) -> Settings:
    """Return all criteria that apply to gold, the user's own last, under the view's type rules."""
    applicable = [criterion for criterion in (*CRITERIA.values(), *own) if criterion.lacks(gold) is None]
    return Settings(tuple(applicable), tuple(sorted(view.merge)), tuple(sorted(view.leaveout)))


@memoized("Scoring …", show_time=True)
def scores(loaded: Loaded, system: str, settings: Settings) -> Scores:
    if loaded.folder is not None:
        # The pages that a folder opens ask no more of scores than what was counted.
        return cast(Scores, loaded.folder.scores(system))
    return computations.score(loaded, system, settings)


def spans_only(settings: Settings, names: Iterable[str]) -> Settings:
    """Return the settings without the criteria counted by token, whose scoring takes longest, unless one is named."""
    by_token = {criterion.name for criterion in settings.criteria if criterion.unit == "token"}
    if by_token & set(names):
        return settings
    return replace(settings, criteria=tuple(rule for rule in settings.criteria if rule.name not in by_token))


@memoized("Counting match records …")
def ledger(loaded: Loaded, system: str, settings: Settings, criterion: str) -> Ledger:
    """Return the match records under a criterion."""
    if loaded.folder is not None:
        return loaded.folder.ledger(system, criterion)
    system_scores = scores(loaded, system, spans_only(settings, [criterion]))
    corpus = loaded.corpus
    read = (corpus.gold, corpus.system(system))
    return ledger_of_corpus(system_scores, criterion, read, _OtherScores(loaded, system, settings))


@dataclass(frozen=True)
class _OtherScores:
    """The scores of all systems of a corpus under some settings, from the cache."""

    loaded: Loaded
    system: str
    settings: Settings

    @property
    def systems(self) -> tuple[str, ...]:
        return tuple(sorted(layer.name for layer in self.loaded.corpus.systems))

    @property
    def gold(self) -> Layer:
        return self.loaded.corpus.gold

    def scores(self, system: str | None = None, names: Iterable[str] = ()) -> Scores:
        return scores(self.loaded, system or self.system, spans_only(self.settings, names))

    @property
    def layers(self) -> tuple[Layer, ...]:
        return (self.loaded.corpus.gold, *self.loaded.corpus.systems)

    @property
    def reviewed(self) -> Reviewed:
        return verdict_store.now()

    def beside(self, digest: str) -> object | None:
        return beside().get(digest)


class Beside:
    """Training layers and columns that users gave beside corpora, by the first digits of their digests."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._given: LRUCache[str, Layer | UserColumns] = LRUCache(UPLOADS)

    def put(self, content: Layer | UserColumns) -> str:
        name = content.digest[:DIGEST_DIGITS]
        with self._lock:
            self._given[name] = content
        return name

    def get(self, name: str) -> Layer | UserColumns | None:
        with self._lock:
            return self._given.get(name)


@cache
def beside() -> Beside:
    return Beside()


@memoized()
def reading(loaded: Loaded, system: str, settings: Settings, _criterion: str, doc: str) -> Scores:
    """Return the scores of one document alone, under all criteria; those of any criterion's records are the same."""
    return ledger(loaded, system, settings, _criterion).document(doc, settings)


Averages = tuple[Mapping[str, Average], Mapping[str, Average]]


@memoized()
def averages(loaded: Loaded, system: str, settings: Settings, criterion: str) -> Averages:
    """Return the macro averages over types and over documents, which may be very many."""
    of_criterion = scores(loaded, system, spans_only(settings, [criterion]))
    return of_criterion.macro_types(criterion), of_criterion.macro_documents(criterion)


Decades = tuple[pd.DataFrame, Mapping[str, Counts], Mapping[str, int]]


@memoized()
def decades(loaded: Loaded, system: str, settings: Settings, criterion: str) -> Decades:
    """Return the table of decades, the counts of each, and how many documents each has: they are kept."""
    system_scores = scores(loaded, system, spans_only(settings, [criterion]))
    documents = Counter(document_decades(loaded.corpus.documents))
    return decade_table(system_scores, criterion), counts_by_decade(system_scores, criterion), documents


@memoized("Scoring as the published scorer does …")
def outcome(loaded: Loaded, system: str, name: str, options: Options = ()) -> Outcome:
    """Return the outcome of a published scorer for a system, from the files as it reads them.

    Raises:
        FormatError: it does not apply to these data; what it needs is said.
    """
    if loaded.original is not None:
        try:
            return outcome(loaded.original, system, name, options).masked()
        except FormatError as error:
            raise masked_error(error) from None
    if not are_scorers_slow(loaded):
        return apply_convention(loaded, system, conventions()[name], options)
    title = f"{system}: scoring as {name} does"
    return computations.compute(loaded, title, apply_convention, loaded, system, conventions()[name], options)


@memoized("Listing the scorer's records …")
def outcome_records(loaded: Loaded, system: str, name: str, evaluation: str, options: Options = ()) -> pd.DataFrame:
    """Return the records of one evaluation of a published scorer."""
    return outcome(loaded, system, name, options).records(evaluation)


@memoized("Looking for the spans where the two part …")
def differing(loaded: Loaded, system: str, name: str, evaluation: str, criterion: str) -> pd.DataFrame:
    """Return the spans that a published scorer and a criterion of ours decide differently.

    Raises:
        FormatError: the evaluation counts no spans.
    """
    return differences(outcome(loaded, system, name), evaluation, scores(loaded, system, as_read(loaded)), criterion)


def as_read(loaded: Loaded) -> Settings:
    """Return settings that merge and leave out nothing: a published scorer is compared with these."""
    return settings_of(loaded.corpus.gold, View())


Refused = Mapping[str, FormatError]


def scorer_names() -> tuple[str, ...]:
    """Return the names of all published scorers, those of one family together."""
    return tuple(sorted(conventions(), key=lambda name: conventions()[name].family))


@memoized("Scoring as every published scorer does …")
def published_rows(loaded: Loaded, system: str) -> tuple[tuple[CriterionRow, ...], Refused]:
    """Return the rows of all published scorers, and the scorers that do not apply with the reason."""
    rows: list[CriterionRow] = []
    refused = {}
    for name in scorer_names():
        try:
            rows += scorer_rows(loaded, system, name)
        except FormatError as error:
            refused[name] = FormatError(error.problems)
    return tuple(rows), refused


@memoized()
def refused_scorers(loaded: Loaded, system: str) -> Refused:
    """Return the published scorers that do not apply, with the reason.

    Of a corpus that is not small only those that can read neither its files nor its layers: to try all takes long.
    """
    if is_small(loaded):
        return published_rows(loaded, system)[1]
    refused = {}
    for name, convention in conventions().items():
        try:
            takes_files(loaded, system, convention)
        except FormatError as error:
            refused[name] = FormatError(error.problems)
    return refused


@memoized()
def scorer_rows(loaded: Loaded, system: str, name: str) -> tuple[CriterionRow, ...]:
    """Return the rows of a published scorer.

    Raises:
        FormatError: it does not apply to these data.
    """
    convention = conventions()[name]
    if not are_scorers_slow(loaded):
        return convention_rows(convention, outcome(loaded, system, name))
    # The outcomes of all scorers, with what their records are made of, take gigabytes: one is kept once it is opened.
    title = f"{system}: scoring as {name} does"
    try:
        return computations.compute(loaded, title, rows_of_scorer, loaded, system, convention)
    except FormatError as error:
        raise error if loaded.original is None else masked_error(error) from None


def are_scorers_slow(loaded: Loaded) -> bool:
    """Return whether a published scorer takes longer than a process to start: documents of few spans take it little."""
    return computations.is_large(loaded, documents=SCORED_DOCUMENTS)
