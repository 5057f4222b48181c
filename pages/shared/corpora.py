"""Corpora and scores by content digest, kept once for all sessions. Data are never hashed by Streamlit.

Session state holds digests only: a closed session may stay in memory for minutes.
"""

from __future__ import annotations

import argparse
import sys
from collections import OrderedDict
from collections.abc import Mapping
from pathlib import Path
from threading import Lock

import pandas as pd
import streamlit as st

from nereval_core.analysis.conventions_table import Row, convention_rows, criteria_rows, ordered, steps
from nereval_core.analysis.differences import differences, parted, spans
from nereval_core.conventions import Outcome, conventions
from nereval_core.conventions.outcome import OVERALL
from nereval_core.corpus import Layer
from nereval_core.criteria import CRITERIA, Criterion
from nereval_core.errors import FormatError
from nereval_core.scoring import Scores, Settings, score_layers
from nereval_core.tables import records as match_records
from pages.shared.loading import Loaded, demo_names, load_demo
from pages.shared.published import Options, applied
from pages.shared.queries import prepared
from pages.shared.url import View

UPLOADS = 16
"""How many corpora that are no demos are kept; the one unused longest goes first."""


class Shelf:
    """Corpora by digest, shared by all sessions."""

    def __init__(self) -> None:
        self._lock = Lock()
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
        with self._lock:
            found = [digest for digest in self._kept if digest.startswith(prefix)]
            if len(found) != 1:
                return None
            self._kept.move_to_end(found[0])
            return self._kept[found[0]]


@st.cache_resource
def shelf() -> Shelf:
    return Shelf()


@st.cache_resource(max_entries=8, show_spinner="Reading the demo corpus …")
def demo(folder: str) -> Loaded:
    return load_demo(folder)


def find(prefix: str) -> Loaded | None:
    """Return the corpus of a link: one that was read here, or a demo."""
    if not prefix:
        return None
    found = shelf().find(prefix)
    demos = (demo(name) for name in demo_names()) if found is None else ()
    return found or next((loaded for loaded in demos if loaded.corpus.digest.startswith(prefix)), None)


@st.cache_resource
def served_folder() -> Path | None:
    """Return the folder given as `streamlit run app.py -- --data DIR`, None without one."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--data", type=Path)
    folder: Path | None = parser.parse_known_args(sys.argv[1:])[0].data
    return folder if folder is not None and folder.is_dir() else None


def settings_of(gold: Layer, view: View, own: tuple[Criterion, ...] = ()) -> Settings:
    """Return what is scored: all criteria that apply to gold, one's own last, under the view's type rules."""
    chosen = [criterion for criterion in (*CRITERIA.values(), *own) if criterion.lacks(gold) is None]
    return Settings(tuple(chosen), tuple(sorted(view.merge)), tuple(sorted(view.leaveout)))


def scores(loaded: Loaded, system: str, settings: Settings) -> Scores:
    key = _key(loaded, system, settings, settings.criteria)
    return _scores(loaded.corpus.digest, system, key, loaded, settings)


@st.cache_resource(max_entries=24, show_spinner="Scoring …")
def _scores(digest: str, system: str, key: str, _loaded: Loaded, _settings: Settings) -> Scores:
    corpus = _loaded.corpus
    return score_layers(corpus.gold, corpus.system(system), _settings, marks=_loaded.marks[system])


def records(loaded: Loaded, system: str, settings: Settings, criterion: str) -> pd.DataFrame:
    """Return the match records with what lists sort and filter by."""
    rule = tuple(one for one in settings.criteria if one.name == criterion)
    key = _key(loaded, system, settings, rule)
    return _records(loaded.corpus.digest, system, key, criterion, loaded, settings)


def _key(loaded: Loaded, system: str, settings: Settings, criteria: tuple[Criterion, ...]) -> str:
    # The whole rules, as two users may call different ones by the same name. The marks and the metadata are no part of
    # the digest, yet they stand in the scores; a reading has its number.
    return repr((criteria, settings.merge, settings.leave_out, loaded.number))


@st.cache_resource(max_entries=12, show_spinner="Listing match records …")
def _records(digest: str, system: str, key: str, criterion: str, _loaded: Loaded, _settings: Settings) -> pd.DataFrame:
    found = scores(_loaded, system, _settings)
    return prepared(match_records(found, criterion), found.layers(criterion)[0])


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
        return applied(_loaded, system, conventions()[name], options)
    except FormatError as error:
        return error


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
    key = _key(loaded, system, settings, settings.criteria)
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
    key = _key(loaded, system, settings, settings.criteria)
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
    key = _key(loaded, system, settings, settings.criteria)
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
