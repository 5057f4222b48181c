"""Verdicts while a document is read: the row of them above the text, and what is decided of its spans."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from nereval_core.glossary import decision_label
from nereval_core.review.verdicts_on_records import attach_verdicts
from nereval_core.review.words import verdict_labels
from pages.shared.components.columns import short, table_of
from pages.shared.components.count_table import ChosenCell, count_table
from pages.shared.documents.document import OpenDocument
from pages.shared.verdicts import list as verdicts_list
from pages.shared.verdicts import panel as verdicts_panel
from pages.shared.verdicts.case import case_of, ledger_of, reason_unoffered
from pages.shared.view import keys
from pages.shared.view.queries import context
from pages.shared.view.text import plain

if TYPE_CHECKING:
    from pages.shared.frame import Here

Go = Callable[[str, str], None]


def progress_words(here: Here) -> str:
    """Say how many of the records to go through have a verdict, "" where none can have one."""
    if reason_unoffered(here):
        return ""
    query, done, every = verdicts_list.reviewed_of(here)
    of = "" if query == here.query() else f" of {every:,} whatever their verdict"
    return f"{done:,}{of} have a verdict" if done else ""


def verdict_bar(here: Here, there: OpenDocument, go: Go) -> None:
    """Offer verdicts on the record chosen, the next one to be chosen after it; say so where there are none to give."""
    reason = reason_unoffered(here)
    if reason:
        st.caption(plain(reason, 300))
        return
    verdicts_list.show_verdict_problems()
    ledger = ledger_of(here)
    record = None if there.record is None else ledger.position(there.name, str(there.record["record"]))
    step = there.step(True)
    case = None if record is None else case_of(here, record, partial(go, *step) if step else None)
    verdicts_panel.panel_above(here, case, lambda position: go(*ledger.name(position)))


def choose_from_queue(here: Here, there: OpenDocument, go: Go) -> None:
    """Offer the records that are gone through, around the present one, each with its verdict; choosing one opens it."""
    if reason_unoffered(here) or not there.queue:
        return
    with st.popover("Queue", type="tertiary", key=f"{keys.VERDICT}queue", on_change="rerun") as box:
        if not box.open:
            return
        ledger = ledger_of(here)
        positions = ledger.positions(replace(here.query(), doc=""))
        first = int(np.searchsorted(positions, ledger.position(*there.queue[0]) or 0))
        some = positions[first : first + len(there.queue)]
        records = ledger.frame(some)
        lines = context(records, here.loaded.corpus.documents.texts, 0)
        table = {
            "decision": [decision_label(code) for code in records["decision"]],
            "verdict": verdict_labels(attach_verdicts(ledger.about), some.tolist()),
            "span": [short(text) for _, text, _ in lines],
            "document": [doc for doc, _ in there.queue],
        }
        at = int(there.at) if there.number else -1
        count_table(
            table_of(table),
            "queue",
            (there.queue, at),
            on_choose=lambda cell: go(*there.queue[cell.row]),
            chosen=ChosenCell(at, "span") if 0 <= at < len(some) else None,
            prefix=keys.LIST,
            height=320,
            fixed=True,
            width=620,
            placeholder="",
        )


def verdict_words(here: Here, doc: str) -> Mapping[str, str]:
    """Return what is decided of the records of a document, by their ids."""
    if reason_unoffered(here):
        return {}
    ledger = ledger_of(here)
    found = attach_verdicts(ledger.about)
    number = here.loaded.corpus.documents.index[doc]
    some = [
        place
        for place in range(*ledger.by_document[number : number + 2].tolist())
        if found.given and found.at[place] >= 0
    ]
    return {
        ledger.name(place)[1]: words for place, words in zip(some, verdict_labels(found, some), strict=True) if words
    }
