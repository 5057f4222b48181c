"""Patterns, the front of Inspect: errors with a kind and a context in common, with examples, decided at once."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from nereval_core.analysis.errors import group_query
from nereval_core.analysis.errors.error_groups import SPURIOUS, ErrorGroup, GroupKey, find_groups
from nereval_core.analysis.errors.group_words import group_examples, group_frame
from nereval_core.analysis.errors.tables import group_table
from nereval_core.problems import FormatError, capitalised
from nereval_core.records.queries import Query
from nereval_core.review.verdicts import KINDS, ConflictError, Kind
from nereval_core.review.verdicts_on_records import BATCH_RECORDS, attach_verdicts, select_batch
from nereval_core.tables import Table
from nereval_core.tables.glossary import DECISIONS
from pages.shared.components.component_events import EVENTS, Event, acknowledged, apply_events
from pages.shared.components.highlighted_text import DRAWING
from pages.shared.components.tables import show_table
from pages.shared.data import masks, reviewer, verdict_store
from pages.shared.data.memo import memoized
from pages.shared.data.page_context import PageContext
from pages.shared.server.component_files import component
from pages.shared.verdicts import list as verdicts_list
from pages.shared.verdicts.case import LastVerdict, reason_unoffered, set_outcome, take_back, undo_verdict
from pages.shared.verdicts.events import outcome_data
from pages.shared.view import keys, state
from pages.shared.view.queries import view_of
from pages.shared.view.text import count

_HERE = Path(__file__).parent
KEY = f"{keys.WIDGET}patterns"
SPANS = 300_000
"""Spans of gold and system up to which patterns are looked for unasked: it takes a second."""
SPANS_AT_ONCE = 30_000
"""Spans up to which nobody notices that patterns are looked for."""
LEAST_ERRORS, LEAST_PATTERNS = 20, 3
"""Errors and patterns below which Inspect begins with the records."""
_mount = component(
    "nereval_patterns",
    css="".join(
        (_HERE / f"{name}.css").read_text(encoding="utf-8") for name in ("difference", "key_sheet", "patterns")
    ),
    js=DRAWING
    + EVENTS
    + "".join(
        (_HERE / f"{name}.js").read_text(encoding="utf-8")
        for name in ("difference", "key_sheet", "patterns_state", "patterns_drawing", "patterns")
    ),
)


def is_unpaired(page: PageContext) -> bool:
    """Tell whether the criterion does not pair spans one to one: then there are no patterns."""
    return page.criterion.unit == "token" or page.settings.counting != "one-to-one"


def reason_without(page: PageContext) -> str:
    """Say why there are no patterns of these errors, "" where there are some."""
    if not page.loaded.has_layers:
        return "A scored folder has no patterns: they need all spans at once. Read one of its shards as a corpus."
    if is_unpaired(page):
        return f"{page.by} counts tokens: choose a criterion that counts spans to see patterns."
    return (
        ""
        if groups_of(page)
        else f"No kind of {page.words.error_noun} is more frequent in some context than elsewhere."
    )


def is_front(page: PageContext) -> bool:
    """Tell whether Inspect begins with patterns: there are errors enough, and they are found at once."""
    if not page.loaded.has_layers or page.words.annotators or is_unpaired(page):
        return False
    if sum(map(len, page.scores().layers(page.by))) > SPANS:
        return False
    n_errors = page.ledger().total(Query(decision=DECISIONS[1:])).records
    return n_errors >= LEAST_ERRORS and len(groups_of(page)) >= LEAST_PATTERNS


@memoized("Looking for patterns …")
def groups_of(page: PageContext) -> tuple[ErrorGroup, ...]:
    """Return the groups of errors of the system under the chosen criterion."""
    return find_groups(page.scores(), page.by)


def draw_patterns(page: PageContext) -> None:
    """Show the patterns, and unfolded the table of all."""
    if reason := reason_without(page):
        st.info(reason)
        return
    verdicts_list.show_verdict_problems()
    _mount(data=patterns_data(page), key=KEY, on_out_change=partial(_take_event, page))
    with st.expander("All patterns as a table"):
        frame = _frame(page)
        show_table(
            page,
            _by_names(page, group_table(frame, page.by, page.system)),
            signature=page.signature(),
            data=frame,
            hint="Choose a number to see its records.",
        )


def _by_names(page: PageContext, table: Table) -> Table:
    """Return the table of patterns with a title for two annotators, of whom neither errs."""
    if not page.words.by_name:
        return table
    return replace(table, title=f"{page.words.reference} and {page.system}: patterns of disagreement under {page.by}")


@memoized()
def _frame(page: PageContext) -> Any:
    frame, words = group_frame(page.scores(), page.by, groups_of(page)), page.words
    groups = [each for group in groups_of(page) for each in (group, *group.narrower)] if words.by_name else []
    for place, group in enumerate(groups):
        frame.loc[place, "group"] = "".join(phrase.text for phrase in words.pattern(group.key, group.quote))
    return frame


def patterns_data(page: PageContext) -> dict[str, Any]:
    """Return all that the component is sent."""
    groups = _descriptions(page)
    listed = {group["key"] for group in groups}
    return {
        **acknowledged(KEY),
        "facts": repr((page.loaded.id, page.system, page.by, page.settings, page.view.mask)),
        "groups": [group | {"decided": decided} for group, decided in zip(groups, _decided(page), strict=True)],
        "open": page.view.pattern if page.view.pattern in listed else groups[0]["key"],
        "verdicts": _verdicts(page),
        "summary": _summary(page),
        "gainWords": _gain_words(page),
        "said": outcome_data(),
    }


def _summary(page: PageContext) -> str:
    """Return how many of the errors are in a pattern."""
    groups = groups_of(page)
    sides = zip(*((group.gold, group.pred) for group in groups), strict=True)
    n_grouped = sum(len(np.unique(np.concatenate(spans))) for spans in sides)
    n_errors = page.ledger().total(Query(decision=DECISIONS[1:])).records
    number = count(len(groups), "pattern")
    gain = "agreement" if page.words.by_name else "F1"
    return f"{number} with {n_grouped:,} of {count(n_errors, page.words.error_noun)}, the largest gain in {gain} first"


def _gain_words(page: PageContext) -> dict[str, str]:
    """Return what stands around the gain of a pattern, and what it means."""
    if not page.words.by_name:
        meaning = "F1 gained if the records of this pattern were right"
        return {"before": "Mended, they would add ", "after": " F1.", "meaning": meaning}
    meaning = "F1 between the two, their agreement, gained if they agreed on the records of this pattern"
    return {"before": "Settled, they would add ", "after": " to the agreement (F1).", "meaning": meaning}


@memoized()
def _descriptions(page: PageContext) -> list[dict[str, Any]]:
    """Return the groups as they are drawn, without what depends on verdicts."""
    scores, words = page.scores(), page.words

    def description(group: ErrorGroup) -> dict[str, Any]:
        return {
            "key": str(group.key),
            "phrases": [list(phrase) for phrase in words.pattern(group.key, group.quote)],
            "records": group.records,
            "spans": group.spans,
        }

    return [
        description(group)
        | {
            "elsewhere": None if np.isnan(group.elsewhere) else group.elsewhere,
            "gain": None if np.isnan(group.gain) else group.gain,
            "population": _population(page, group.key),
            "narrower": [description(narrower) for narrower in group.narrower],
            "examples": [example._asdict() for example in group_examples(scores, page.by, group)],
        }
        for group in groups_of(page)
    ]


def _population(page: PageContext, key: GroupKey) -> str:
    """Return what the spans of a context are called, as the beginning of a sentence."""
    spans = page.words.spans("pred" if key.kind == SPURIOUS else "gold")
    return f"{capitalised(spans)} in this context"


def _decided(page: PageContext) -> list[int]:
    """Return how many records of each group have a verdict."""
    positions = _positions(page)
    if reason_unoffered(page):
        return [0] * len(positions)
    decided = attach_verdicts(page.ledger().about).decided
    return [int(np.count_nonzero(decided[of_group])) for of_group in positions]


@memoized()
def _positions(page: PageContext) -> list[NDArray[Any]]:
    """Return the positions of each group's records in the ledger, in document order."""
    rows = page.ledger().about.rows
    gold, pred = (np.full(len(layer), -1, np.int64) for layer in page.scores().layers(page.by))
    is_gold = rows.gold >= 0
    gold[rows.gold[is_gold]] = np.flatnonzero(is_gold)
    pred[rows.pred[~is_gold]] = np.flatnonzero(~is_gold)
    return [np.sort(np.concatenate((gold[group.gold], pred[group.pred]))) for group in groups_of(page)]


def _verdicts(page: PageContext) -> dict[str, Any]:
    """Return what the verdicts on whole patterns are called."""
    kinds = list(KINDS)
    words: dict[Kind, str] = {**page.words.verdicts, "neither": "neither is right: no entity"}
    return {
        "reason": reason_unoffered(page),
        "kinds": kinds,
        "words": [words[kind] for kind in kinds],
        "labels": list(page.words.verdict_words.values()),
        "who": reviewer.reviewer_name(),
    }


def apply_event(page: PageContext) -> bool:
    """Do what the reader has asked for since the last events; return whether there was anything."""
    return apply_events(KEY, partial(_apply, page))


def _take_event(page: PageContext) -> None:
    apply_event(page)


def _apply(page: PageContext, _: Event, event: Event) -> None:
    act = event["act"]
    if act == "undo":
        if not reason_unoffered(page):
            undo_verdict(page, partial(take_back, page), lambda position: None)
        return
    key = GroupKey.of(str(event["key"]))
    if key is None:
        return
    if act == "open":
        state.put(replace(state.view(), pattern=str(key)))
    elif act in ("records", "record"):
        view = view_of(replace(state.view(), pattern=str(event["key"])), group_query(key))
        is_one = act == "record"
        state.put(replace(view, doc=str(event["doc"]), record=str(event["record"])) if is_one else view)
    elif act == "decide" and event["kind"] in KINDS:
        _decide(page, key, event)


def _decide(page: PageContext, key: GroupKey, event: Event) -> None:
    """Give a verdict to all records of a group that have none; "neither" says that there is no entity."""
    if reason_unoffered(page) or not (reviewer.reviewer_name() or reviewer.take_name(str(event["who"]))):
        return
    about = page.ledger().about
    batch = select_batch(about, page.ledger().positions(group_query(key)))
    if len(batch.records) > BATCH_RECORDS:
        set_outcome(LastVerdict("Nothing was kept.", (f"At most {BATCH_RECORDS:,} records at once.",)))
        return
    try:
        drafts = verdicts_list.draft_batch_of(page, event["kind"], batch, "")
        set_outcome(verdicts_list.give_batch(page, event["kind"], batch, drafts))
    except ConflictError as error:
        verdict_store.refresh()
        number = count(len(error.theirs), "record")
        set_outcome(LastVerdict("Nothing was kept.", (f"Meanwhile others have decided on {number}: look again.",)))
    except FormatError as error:
        set_outcome(LastVerdict("Nothing was kept.", tuple(masks.mask_message(line) for line in error.lines())))
