"""Finish: the layer that verdicts make, in the format that was read, with all conditions of the export in one panel."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass, replace

import streamlit as st

from nereval_core.corpus import Layer
from nereval_core.records.queries import Query
from nereval_core.review.apply import AppliedVerdicts, drop_verdicts, select_verdicts
from nereval_core.review.apply.adjudication import UNDECIDED, Adjudicated, OpenRecord, Undecided, adjudicate
from nereval_core.review.apply.corrected_copy import log_rows, signature
from nereval_core.review.apply.what_if import count_against
from nereval_core.review.tables import (
    LayerChanges,
    change_table,
    layer_changes,
    lost_properties,
    open_table,
    untaken_properties,
)
from nereval_core.review.verdicts_on_records import turned_verdicts
from nereval_core.scoring import Settings
from nereval_core.scoring.counts import Counts
from nereval_core.tables import Cell
from nereval_core.writers import writers
from pages.shared import review
from pages.shared.components import navigation
from pages.shared.components.downloads import layer_file_name
from pages.shared.components.tables import ROWS, first_row, show_table
from pages.shared.criteria.all_criteria import as_read
from pages.shared.data import reference_layer, verdict_store
from pages.shared.data.computations import compute
from pages.shared.data.loading import Loaded
from pages.shared.data.memo import memoized
from pages.shared.data.page_context import PageContext
from pages.shared.review import verdicts
from pages.shared.view import keys, state
from pages.shared.view.formulas import number
from pages.shared.view.queries import ERRORS, view_of
from pages.shared.view.text import count, named, plain

STRICT = "strict"
PREVIEW = 5
"""Changes that are shown at first."""


@dataclass(frozen=True, eq=False)
class Finished:
    """A finished layer with its log, its signature, the verdicts applied to it and the records without a verdict."""

    layer: Layer
    log: Sequence[Sequence[Cell]]
    signature: str
    applied: AppliedVerdicts
    open: tuple[OpenRecord, ...]


def draw_finish(page: PageContext) -> None:
    """Draw the panel: what the layer holds, its conditions, the download, and what changes."""
    _offer_annotators(page)
    if not page.words.annotators and review.say_no_verdicts(page):
        return
    finished = finished_layer(page)
    changes = _layer_changes(page.loaded, _conditions(page), finished.layer)
    st.markdown(f"{_sentence(page, finished, changes)} {_score_sentence(page)}")
    if losses := lost_properties(page.loaded.corpus.gold, finished.layer, changes):
        st.warning(
            f"Not carried over to changed spans: {plain('; '.join(losses), 600)}. Add them again where they still hold."
        )
    if page.words.annotators and (untaken := _untaken(page.loaded, _conditions(page), finished.layer)):
        st.caption(f"Where both agree, {named(page.system)}'s {plain('; '.join(untaken), 600)} is not taken along.")
    with st.container(border=True):
        with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
            _choose_undecided(page, finished.open)
            review.choose_accepted(page)
        key = (page.loaded.id, _conditions(page))
        name = f"{layer_file_name(page.view.reference or page.words.reference)}-finished"
        verdicts.offer_copy(finished.layer, finished.log, finished.signature, name, key, _format_read(page))
        _say_how_read(page)
    _preview(page, finished, changes)
    if finished.open:
        with st.expander(_undecided_in_words(finished.open)):
            list_open(page, finished)


def is_corrected_gold(page: PageContext) -> bool:
    """Return whether the finished layer is gold with the verdicts applied, as Progress scores it."""
    return _undecided(page) == "first" and not page.words.annotators


def finished_layer(page: PageContext) -> Finished:
    """Return the layer under the conditions of this session; gold that keeps its own is gold as Progress scores it."""
    conditions = _conditions(page)
    adjudicated = _adjudicated(page.loaded, conditions, _declined(page))
    if is_corrected_gold(page):
        applied = review.corrected_gold(page)
        log, signed = log_rows(applied.log), signature(applied)
        return Finished(applied.layer, log, signed, applied, adjudicated.open)
    return Finished(adjudicated.layer, adjudicated.log, adjudicated.signature, adjudicated.applied, adjudicated.open)


@dataclass(frozen=True)
class Conditions:
    """What a finished layer depends on beside the corpus: layers, verdicts, and what becomes of undecided records."""

    reference: str
    system: str
    now: Hashable
    accepted: review.Accepted
    undecided: Undecided


def _conditions(page: PageContext) -> Conditions:
    now, accepted = review.verdicts_number(), review.accepted_choice()
    return Conditions(page.words.reference, page.system, now, accepted, _undecided(page))


def _declined(page: PageContext) -> Collection[str]:
    """Return the uids of the verdicts on other layers that are left out."""
    accepted = review.accepted_choice()
    return () if accepted.other_layers else review.other_layer_verdicts(page, accepted)


@memoized("Comparing the two layers …")
def _adjudicated(loaded: Loaded, conditions: Conditions, _uids: Collection[str]) -> Adjudicated:
    accepted = conditions.accepted
    # Kinds are accepted as they read in this order of the layers.
    own_verdicts = select_verdicts(verdict_store.now(), who=accepted.who)
    verdicts_read = turned_verdicts(own_verdicts, loaded.corpus.gold, loaded.corpus.system(conditions.system))
    return compute(
        loaded,
        "Finishing",
        adjudicate,
        loaded.corpus.gold.renamed(conditions.reference),
        loaded.corpus.system(conditions.system),
        drop_verdicts(select_verdicts(verdicts_read, kinds=accepted.kinds), _uids),
        undecided=conditions.undecided,
        only_this_document=not accepted.every_document,
    )


def finished_counts(page: PageContext) -> Counts | None:
    """Return the counts of the system against the finished layer, None where it lacks what the criterion needs."""
    settings = review.settings_of(page, [page.by])
    if is_corrected_gold(page):
        both = review.what_if_scores_of(page, [page.by]).counts.get((page.system, page.by))
        return None if both is None else both.after
    return _counts(page.loaded, _conditions(page), settings, finished_layer(page).layer)


@memoized("Scoring …")
def _counts(loaded: Loaded, conditions: Conditions, settings: Settings, _layer: Layer) -> Counts | None:
    (criterion,) = settings.criteria
    if criterion.lacks(_layer) is not None:
        return None
    system = loaded.corpus.system(conditions.system)
    return compute(loaded, "Scoring the finished layer", count_against, _layer, system, settings)


@memoized("Comparing with the original …")
def _layer_changes(loaded: Loaded, conditions: Conditions, _layer: Layer) -> LayerChanges:
    return compute(loaded, "Comparing", layer_changes, loaded.corpus.gold, _layer)


@memoized("Comparing with the other layer …")
def _untaken(loaded: Loaded, conditions: Conditions, _layer: Layer) -> tuple[str, ...]:
    return compute(loaded, "Comparing", untaken_properties, loaded.corpus.system(conditions.system), _layer)


def _undecided(page: PageContext) -> Undecided:
    """Return what becomes of records without a verdict: gold stays as it is, annotators' open spans are left out."""
    choices: dict[str, Undecided] = st.session_state.get(keys.REVIEW_UNDECIDED, {})
    return choices.get(page.loaded.digest, "leave-out" if page.words.annotators else "first")


def _choose_undecided(page: PageContext, rows: Sequence[OpenRecord]) -> None:
    def take(word: Undecided) -> None:
        # A choice is for this corpus: of another one it would decide on records that nobody has looked at.
        choices = st.session_state.get(keys.REVIEW_UNDECIDED, {})
        st.session_state[keys.REVIEW_UNDECIDED] = {**choices, page.loaded.digest: word}

    words = _filling_words(page)
    st.segmented_control(
        _undecided_in_words(rows),
        list(words),
        format_func=words.__getitem__,
        required=True,
        help=f"Where {plain(page.words.reference)} and {named(page.system)} differ, without a verdict or unclear.",
        **state.mirror("review_undecided", _undecided(page), take),
    )


def _filling_words(page: PageContext) -> dict[Undecided, str]:
    """Return the choices of what becomes of undecided records, in words."""
    return {
        "first": f"as in {plain(page.words.reference)}",
        "second": f"as in {named(page.system)}",
        "leave-out": "left out",
    }


def filling_in_words(page: PageContext) -> str:
    """Return what becomes of undecided records."""
    return f"undecided records {_filling_words(page)[_undecided(page)]}"


def _score_sentence(page: PageContext) -> str:
    """Return F1 against the layer that is offered."""
    counts = finished_counts(page)
    value = number(None if counts is None else counts.f1)
    return f"Against it, F1 of {named(page.system)} under {plain(page.by)} is **{value}**."


def _sentence(page: PageContext, finished: Finished, changes: LayerChanges) -> str:
    reference = plain(page.words.reference)
    left_out = sum(row.spans[0] is not None for row in finished.open) if _undecided(page) == "leave-out" else 0
    differences = changes_in_words(changes, left_out)
    return (
        f"**The finished layer has {count(len(finished.layer), 'span')}**: {changes.same:,} as in {reference}, "
        f"{differences}. {count(finished.applied.verdicts, 'verdict')} applied"
        f"{f': {review.effects_in_words(finished.applied)}' if finished.applied.changes else ''}. "
        f"{reference} itself stays as it is."
    )


def changes_in_words(changes: LayerChanges, left_out: int = 0) -> str:
    """Return how many spans are changed, removed and added, and apart from these `left_out` as undecided."""
    parts = {
        "changed": changes.changed,
        "removed": changes.removed - left_out,
        "added": changes.added,
        "left out as undecided": left_out,
    }
    return ", ".join(f"{number:,} {word}" for word, number in parts.items() if number) or "nothing changed"


def _undecided_in_words(rows: Sequence[OpenRecord]) -> str:
    """Return how many records are undecided, and how many of them have a verdict that is not applied."""
    n_records, n_with_verdict = len(rows), sum(row.reason != UNDECIDED for row in rows)
    words = count(n_records, "undecided record")
    if not n_with_verdict:
        return words
    return f"{words}: {n_records - n_with_verdict:,} without a verdict, {n_with_verdict:,} with one that is not applied"


def _format_read(page: PageContext) -> str:
    """Return the format that the reference was read in, jsonl where that one is not written."""
    reading = reference_layer.reading_of(page.loaded, page.view.reference)
    return reading.format if reading is not None and reading.format in writers() else "jsonl"


def _say_how_read(page: PageContext) -> None:
    """Say what the file differs in from the one read: what was left out in reading, or its whole format."""
    reading = reference_layer.reading_of(page.loaded, page.view.reference)
    if reading is None:
        return
    notes = list(reading.notes)
    if reading.format not in writers():
        notes.insert(0, f"its format, {reading.format}, is read and not written here")
    if notes:
        st.caption(plain(f"When {page.words.reference} was read: {'; '.join(notes)}.", 600))


def _preview(page: PageContext, finished: Finished, changes: LayerChanges) -> None:
    """Show the first changes; all of them are a click away, and in the file."""
    total = len(changes)
    if not total:
        return
    st.header(count(total, "change"))
    is_whole = st.toggle("Show all", key=f"{keys.WIDGET}all_changes") or total <= PREVIEW
    low = first_row(total, "changes", page.view, "changes") if is_whole and total > ROWS else 0
    high = min(total, low + ROWS) if is_whole else PREVIEW
    table = change_table(page.loaded.corpus.gold, finished.layer, changes, low, high)
    show_table(
        page,
        table,
        signature=finished.signature,
        data=lambda: [change_table(page.loaded.corpus.gold, finished.layer, changes, 0, total).to_frame()],
        rows=total,
    )


def _offer_annotators(page: PageContext) -> None:
    """Offer, in a corpus with gold, to finish the layers of its two annotators."""
    pair = annotators(page)
    if pair is not None and pair != (page.view.reference, page.system):
        label = f":primary[Finish {plain(pair[0])} and {plain(pair[1])} →]"
        st.button(label, key="adjudicate-annotators", type="tertiary", on_click=_both, args=(page, *pair))


def annotators(page: PageContext) -> tuple[str, str] | None:
    """Return the first two layers that the corpus declares as annotators', None if there are fewer."""
    rows = reference_layer.as_read(page.loaded).layers
    names = [row.name for row in rows if row.kind == "annotator"]
    return (names[0], names[1]) if len(names) > 1 else None


def _both(page: PageContext, first: str, second: str) -> None:
    view = reference_layer.take_as_gold(replace(state.view(), system=second), page.loaded, first)
    state.put(replace(view, system=second))


def list_open(page: PageContext, finished: Finished) -> None:
    """List the records on which nothing is decided, each with the way to it."""
    # Two agree on types as they annotated them, whatever is merged elsewhere.
    page = as_read(page)
    low = first_row(len(finished.open), "open", page.view, "records")
    part = finished.open[low : low + ROWS]
    table = open_table(part, page.loaded.corpus.documents)
    cell = show_table(
        page,
        table,
        signature=finished.signature,
        data=open_table(finished.open, page.loaded.corpus.documents).to_frame(),
        choose=table.keys,
        facts=(page.loaded.id, page.system, [(row.document, row.record) for row in part]),
        caption="Choose a row to read it in its text.",
        height=360,
    )
    query = Query(decision=ERRORS, having=(("verdict", "none"),))
    if rest := page.ledger(STRICT).total(query).records:
        label = f":primary[Decide on Inspect: {count(rest, 'record')} without a verdict →]"
        navigation.link_to("Inspect", label, view_of(replace(page.view, criterion=STRICT), query), key="open")
    if cell is not None:
        row = part[cell.row]
        review.show_record(page, STRICT, row.document, row.record)
