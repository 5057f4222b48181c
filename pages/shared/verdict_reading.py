"""Verdicts while a document is read: the row of them above the text, and what is decided of its spans."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from nereval_core.review.records import attached
from nereval_core.review.shown import listed
from pages.shared import verdict_lists, verdict_panel
from pages.shared.plain import plain
from pages.shared.reading.document import Opened
from pages.shared.verdict_case import case_of, ledger_of, unoffered

if TYPE_CHECKING:
    from pages.shared.frame import Here

Go = Callable[[str, str], None]


def progress(here: Here) -> str:
    """Say how many of the records to go through have a verdict, "" where none can have one."""
    if unoffered(here):
        return ""
    query, done, every = verdict_lists.reviewed_of(here)
    of = "" if query == here.query() else f" of {every:,} whatever their verdict"
    return f"{done:,}{of} have a verdict" if done else ""


def bar(here: Here, there: Opened, go: Go) -> None:
    """Offer verdicts on the record chosen, the next one to be chosen after it; say so where there are none to give."""
    reason = unoffered(here)
    if reason:
        st.caption(plain(reason, 300))
        return
    verdict_lists.problems()
    ledger = ledger_of(here)
    record = None if there.record is None else ledger.position(there.name, str(there.record["record"]))
    step = there.step(True)
    case = None if record is None else case_of(here, record, partial(go, *step) if step else None)
    verdict_panel.above(here, case, lambda position: go(*ledger.name(position)))


def of_document(here: Here, doc: str) -> Mapping[str, str]:
    """Return what is decided of the records of a document, by their ids."""
    if unoffered(here):
        return {}
    ledger = ledger_of(here)
    found = attached(ledger.about)
    number = here.loaded.corpus.documents.index[doc]
    some = [
        place
        for place in range(*ledger.by_document[number : number + 2].tolist())
        if found.given and found.at[place] >= 0
    ]
    return {ledger.name(place)[1]: words for place, words in zip(some, listed(found, some), strict=True) if words}
