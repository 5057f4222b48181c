"""Corpora and scores by content digest, kept once for all sessions. Data are never hashed by Streamlit.

Session state holds digests only: a closed session may stay in memory for minutes.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock
from typing import cast

import pandas as pd
import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from nereval_core.analysis.criteria.all_criteria_table import Row, convention_rows, criteria_rows, ordered, steps
from nereval_core.analysis.criteria.convention_differences import differences, parted, spans
from nereval_core.analysis.periods import by_decade, decade_table, decades_of
from nereval_core.analysis.slices.slicings import DIGITS
from nereval_core.analysis.slices.user_columns import Columns
from nereval_core.conventions import Outcome, conventions
from nereval_core.conventions.outcome import OVERALL
from nereval_core.corpus import Layer
from nereval_core.corpus.masking import masked_error
from nereval_core.ledger import ledger as memory_ledger
from nereval_core.problems import FormatError
from nereval_core.records.queries import Ledger
from nereval_core.records.tables import records as match_records
from nereval_core.review.standing_verdicts import Reviewed
from nereval_core.scoring import Average, Counts, Scores, Settings
from nereval_core.scoring.criteria import CRITERIA, Criterion
from nereval_core.store import Store
from pages.shared.data import masks, scored_folders, verdict_store
from pages.shared.data.convention_results import Options, applied
from pages.shared.data.jobs import Jobs
from pages.shared.data.kept_corpora import Keeper
from pages.shared.data.loading import Loaded, demo_names, load_demo
from pages.shared.data.scoring_process import scored as scored_apart
from pages.shared.data.server import started_with
from pages.shared.view import View, keys
from pages.shared.view.count_tables import averages_table

UPLOADS = 16
"""How many corpora that are no demos are kept; the one unused longest goes first."""


class Shelf:
    """Corpora by digest, shared by all sessions; those that went come back from the store on disk."""

    def __init__(self, keeper: Keeper) -> None:
        self.keeper = keeper
        self._lock = Lock()
        self._opening = Lock()
        self._kept: OrderedDict[str, Loaded] = OrderedDict()

    def put(self, loaded: Loaded) -> str:
        digest = loaded.corpus.digest
        with self._lock:
            self._kept[digest] = loaded
            self._kept.move_to_end(digest)
            while len(self._kept) > UPLOADS:
                self._kept.popitem(last=False)
        return digest

    def find(self, prefix: str) -> Loaded | None:
        """Return the one corpus whose digest begins so; None where there is none, or several."""
        found = self._here(prefix)
        if found:
            return found[0] if len(found) == 1 else None
        with self._opening:
            # Two sessions that follow one link are to have one corpus.
            if not self._here(prefix) and (loaded := self.keeper.find(prefix)) is not None:
                self.put(loaded)
            found = self._here(prefix)
        return found[0] if len(found) == 1 else None

    def _here(self, prefix: str) -> list[Loaded]:
        with self._lock:
            found = [digest for digest in self._kept if digest.startswith(prefix)]
            if len(found) == 1:
                self._kept.move_to_end(found[0])
            return [self._kept[digest] for digest in found]


@st.cache_resource
def shelf() -> Shelf:
    return Shelf(Keeper(Store.of_environment()))


@st.cache_resource
def jobs() -> Jobs:
    return Jobs()


@st.cache_resource(max_entries=8, show_spinner="Reading the demo corpus …")
def demo(folder: str) -> Loaded:
    return load_demo(folder)


def find(prefix: str) -> Loaded | None:
    """Return the corpus of a link: one that was read here, or a demo."""
    if not prefix:
        return None
    found = shelf().find(prefix)
    # What is kept on disk by span is not masked.
    if found is None and not masks.forced() and (root := served_folder()) is not None:
        found = scored_folders.find(root, prefix)
        if found is not None:
            shelf().put(found)
    demos = (demo(name) for name in demo_names()) if found is None else ()
    return found or next((loaded for loaded in demos if loaded.corpus.digest.startswith(prefix)), None)


@st.cache_resource
def served_folder() -> Path | None:
    """Return the folder given as `streamlit run app.py -- --data DIR`, None without one."""
    folder: Path | None = started_with().data
    return folder if folder is not None and folder.is_dir() else None


def settings_in(loaded: Loaded, view: View, own: tuple[Criterion, ...] = ()) -> Settings:
    """Return what is scored in a corpus; a folder that was scored has its own."""
    return settings_of(loaded.corpus.gold, view, own) if loaded.folder is None else loaded.folder.settings


def settings_of(gold: Layer, view: View, own: tuple[Criterion, ...] = ()) -> Settings:
    """Return what is scored: all criteria that apply to gold, one's own last, under the view's type rules."""
    chosen = [criterion for criterion in (*CRITERIA.values(), *own) if criterion.lacks(gold) is None]
    return Settings(tuple(chosen), tuple(sorted(view.merge)), tuple(sorted(view.leaveout)))


def scores(loaded: Loaded, system: str, settings: Settings) -> Scores:
    if loaded.folder is not None:
        # The pages that a folder opens ask no more of scores than what was counted.
        return cast(Scores, loaded.folder.scores(system))
    key = key_of(loaded, system, settings, settings.criteria)
    return _scores(loaded.corpus.digest, system, key, loaded, settings)


@st.cache_resource(max_entries=24, show_spinner="Scoring …", show_time=True)
def _scores(digest: str, system: str, key: str, _loaded: Loaded, _settings: Settings) -> Scores:
    gold, pred = _loaded.corpus.gold, _loaded.corpus.system(system)
    return scored_apart(gold, pred, _settings, marks=_loaded.marks[system], check_wanted=_check_wanted)


def _check_wanted() -> None:
    """End the run of a page whose visitor has left, stopped it or asked for something else meanwhile."""
    # Streamlit ends a run that is no longer wanted where the run looks at its state.
    st.session_state.get(keys.RUNS)
    context = get_script_run_ctx()
    if (
        context is not None
        and st.runtime.exists()
        and not st.runtime.get_instance().is_active_session(context.session_id)
    ):
        st.stop()


def spans_only(settings: Settings, names: Iterable[str]) -> Settings:
    """Return the settings without the criteria counted by token, whose scoring takes longest, unless one is named."""
    by_token = {criterion.name for criterion in settings.criteria if criterion.unit == "token"}
    if by_token & set(names):
        return settings
    return replace(settings, criteria=tuple(one for one in settings.criteria if one.name not in by_token))


def ledger(loaded: Loaded, system: str, settings: Settings, criterion: str) -> Ledger:
    """Return the match records under a criterion."""
    if loaded.folder is not None:
        return loaded.folder.ledger(system, criterion)
    # Records may be asked what other criteria say of them: one's own ones among these differ from user to user.
    rules = tuple(one for one in settings.criteria if one.name == criterion or one.name not in CRITERIA)
    key = key_of(loaded, system, settings, rules)
    return _ledger(loaded.corpus.digest, system, key, criterion, loaded, settings)


def key_of(loaded: Loaded, system: str, settings: Settings, criteria: tuple[Criterion, ...]) -> str:
    """Return what tells scores of a system from others: part of the key of whatever is made of them."""
    # The whole rules, as two users may call different ones by the same name. The marks and the metadata are no part of
    # the digest, yet they stand in the scores; a reading has its number.
    return repr((criteria, settings.merge, settings.leave_out, loaded.number))


@st.cache_resource(max_entries=24, show_spinner="Counting match records …")
def _ledger(digest: str, system: str, key: str, criterion: str, _loaded: Loaded, _settings: Settings) -> Ledger:
    found = scores(_loaded, system, spans_only(_settings, [criterion]))
    corpus = _loaded.corpus
    return memory_ledger(
        found, criterion, (corpus.gold, corpus.system(system)), _OtherScores(_loaded, system, _settings)
    )


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
        self._kept: OrderedDict[str, Layer | Columns] = OrderedDict()

    def put(self, given: Layer | Columns) -> str:
        name = given.digest[:DIGITS]
        with self._lock:
            self._kept[name] = given
            self._kept.move_to_end(name)
            while len(self._kept) > UPLOADS:
                self._kept.popitem(last=False)
        return name

    def get(self, name: str) -> Layer | Columns | None:
        with self._lock:
            return self._kept.get(name)


@st.cache_resource
def beside() -> Beside:
    return Beside()


def reading(loaded: Loaded, system: str, settings: Settings, criterion: str, doc: str) -> Scores:
    """Return the scores of one document alone, under all criteria."""
    key = key_of(loaded, system, settings, settings.criteria)
    return _reading(loaded.corpus.digest, system, key, doc, criterion, loaded, settings)


@st.cache_resource(max_entries=200, show_spinner=False)
def _reading(
    digest: str, system: str, key: str, doc: str, _criterion: str, _loaded: Loaded, _settings: Settings
) -> Scores:
    return ledger(_loaded, system, _settings, _criterion).document(doc, _settings)


Averages = tuple[pd.DataFrame, Mapping[str, Average], Mapping[str, Average]]


def averages(loaded: Loaded, system: str, settings: Settings, criterion: str) -> Averages:
    """Return the table of averages, and those over types and over documents: the latter are many, so it is kept."""
    rule = tuple(one for one in settings.criteria if one.name == criterion)
    return _averages(loaded.corpus.digest, system, key_of(loaded, system, settings, rule), criterion, loaded, settings)


@st.cache_resource(max_entries=100, show_spinner=False)
def _averages(digest: str, system: str, key: str, criterion: str, _loaded: Loaded, _settings: Settings) -> Averages:
    found = scores(_loaded, system, spans_only(_settings, [criterion]))
    over_types, over_documents = found.macro_types(criterion), found.macro_documents(criterion)
    return averages_table(found.counts(criterion), over_types, over_documents), over_types, over_documents


Decades = tuple[pd.DataFrame, Mapping[str, Counts], Mapping[str, int]]


def decades(loaded: Loaded, system: str, settings: Settings, criterion: str) -> Decades:
    """Return the table of decades, the counts of each, and how many documents each has: they are kept."""
    rule = tuple(one for one in settings.criteria if one.name == criterion)
    return _decades(loaded.corpus.digest, system, key_of(loaded, system, settings, rule), criterion, loaded, settings)


@st.cache_resource(max_entries=100, show_spinner=False)
def _decades(digest: str, system: str, key: str, criterion: str, _loaded: Loaded, _settings: Settings) -> Decades:
    found = scores(_loaded, system, spans_only(_settings, [criterion]))
    return decade_table(found, criterion), by_decade(found, criterion), Counter(decades_of(_loaded.corpus.documents))


def outcome(loaded: Loaded, system: str, name: str, options: Options = ()) -> Outcome:
    """Return what a published scorer makes of a system, from the files as it reads them.

    Raises:
        FormatError: it does not apply to these data; what it needs is said.
    """
    found = _outcome(loaded.number, system, name, options, loaded)
    if isinstance(found, FormatError):
        raise found
    return found


# A refusal is kept like a result: finding out takes as long.
@st.cache_resource(max_entries=64, show_spinner="Scoring as the published scorer does …")
def _outcome(number: int, system: str, name: str, options: Options, _loaded: Loaded) -> Outcome | FormatError:
    try:
        if _loaded.original is not None:
            return outcome(_loaded.original, system, name, options).masked()
        return applied(_loaded, system, conventions()[name], options)
    except FormatError as error:
        return error if _loaded.original is None else masked_error(error)


def outcome_records(loaded: Loaded, system: str, name: str, evaluation: str, options: Options = ()) -> pd.DataFrame:
    """Return the records of one evaluation of a published scorer."""
    return _outcome_records(loaded.number, system, name, evaluation, options, loaded)


@st.cache_resource(max_entries=24, show_spinner="Listing the scorer's records …")
def _outcome_records(
    number: int, system: str, name: str, evaluation: str, options: Options, _loaded: Loaded
) -> pd.DataFrame:
    return outcome(_loaded, system, name, options).records(evaluation)


def differing(loaded: Loaded, system: str, name: str, evaluation: str, criterion: str) -> pd.DataFrame:
    """Return the spans that a published scorer and a criterion of ours decide differently.

    Raises:
        FormatError: the evaluation counts no spans.
    """
    found = _differing(loaded.number, system, name, evaluation, criterion, loaded)
    if isinstance(found, FormatError):
        raise found
    return found


@st.cache_resource(max_entries=24, show_spinner="Looking for the spans where the two part …")
def _differing(
    number: int, system: str, name: str, evaluation: str, criterion: str, _loaded: Loaded
) -> pd.DataFrame | FormatError:
    ours = scores(_loaded, system, as_read(_loaded))
    try:
        return differences(outcome(_loaded, system, name), evaluation, ours, criterion)
    except FormatError as error:
        return error


def as_read(loaded: Loaded) -> Settings:
    """Return the settings in which nothing is merged or left out: what a published scorer is compared with."""
    return settings_of(loaded.corpus.gold, View())


Refused = Mapping[str, FormatError]


def every_row(loaded: Loaded, system: str, settings: Settings) -> tuple[tuple[Row, ...], Refused]:
    """Return a row for each criterion and published scorer, and the scorers that do not apply with the reason."""
    key = key_of(loaded, system, settings, settings.criteria)
    return _every_row(loaded.number, system, key, loaded, settings)


@st.cache_resource(max_entries=24, show_spinner="Scoring under every criterion and published scorer …")
def _every_row(
    number: int, system: str, key: str, _loaded: Loaded, _settings: Settings
) -> tuple[tuple[Row, ...], Refused]:
    published: list[Row] = []
    refused = {}
    for name, convention in sorted(conventions().items(), key=lambda item: item[1].family):
        try:
            published += convention_rows(convention, outcome(_loaded, system, name))
        except FormatError as error:
            refused[name] = error
    return ordered(criteria_rows(scores(_loaded, system, _settings)), published), refused


def step(loaded: Loaded, system: str, settings: Settings, row: Row, above: Row) -> pd.DataFrame:
    """Return the spans that two rows decide differently."""
    key = key_of(loaded, system, settings, settings.criteria)
    return _step(loaded.number, system, key, row, above, loaded, settings)


@st.cache_resource(max_entries=12, show_spinner="Looking for the spans that differ …")
def _step(
    number: int, system: str, key: str, row: Row, above: Row, _loaded: Loaded, _settings: Settings
) -> pd.DataFrame:
    one, two = (_row_spans(_loaded, system, _settings, each) for each in (row, above))
    return parted(one, two)


Sizes = tuple[tuple[int, int] | None, ...]


def step_sizes(loaded: Loaded, system: str, settings: Settings, rows: tuple[Row, ...]) -> Sizes:
    """Return by how many spans each row differs from the one above it, and how many of these earn another credit."""
    key = key_of(loaded, system, settings, settings.criteria)
    return _step_sizes(loaded.number, system, key, rows, loaded, settings)


@st.cache_resource(max_entries=24, show_spinner="Comparing each row with the one above it …")
def _step_sizes(
    number: int, system: str, key: str, rows: tuple[Row, ...], _loaded: Loaded, _settings: Settings
) -> Sizes:
    pairs = steps(rows)
    needed = dict.fromkeys(row for pair in pairs if pair for row in pair)
    found = {row: _row_spans(_loaded, system, _settings, row) for row in needed}
    tables = (None if pair is None else parted(found[pair[0]], found[pair[1]]) for pair in pairs)
    return tuple(None if one is None else (len(one), int(one["moves"].sum())) for one in tables)


def _row_spans(loaded: Loaded, system: str, settings: Settings, row: Row) -> pd.DataFrame:
    if not row.evaluation:
        return spans(match_records(scores(loaded, system, settings), row.name), why="reason")
    found = outcome(loaded, system, row.name).records(row.evaluation)
    return spans(found[(found["scope"] == OVERALL).to_numpy()], why="why")
