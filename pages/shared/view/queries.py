"""Every count on a page is a query over match records: the query of a view, and the view of a query.

The records themselves are kept, counted and listed by a `nereval_core.ledger.Ledger`. No Streamlit in here.
The search text may hold `boundary:"..."`, `words:3`, `period:1790s` and `noise:0.1-0.3` beside plain words,
and what else is known of records as `has:"under left=COR"`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from urllib.parse import unquote

import numpy as np
import pandas as pd

from nereval_core.records.queries import FIELDS, Query, in_documents
from nereval_core.tables.glossary import DECISIONS
from pages.shared.view import View

ERRORS = DECISIONS[1:]
"""Decisions that lists show by default: everything but the correct records."""

RECORDS_TAB = "records"
HAS = "has"
"""The field of the search text for attributes of `nereval_core.ledger.attributes`: name, `=`, value."""
_FIELD = re.compile(rf'\b({"|".join((*FIELDS, HAS))}):(?:"([^"]*)"|(\S+))')


def query_of(view: View) -> Query:
    """Return the query that a view's lists show; no decision chosen stands for all but correct."""
    parts = [(name, quoted or plain) for name, quoted, plain in _FIELD.findall(view.q)]
    fields_of_query: dict[str, str] = {name: value for name, value in parts if name != HAS}
    return Query(
        decision=view.decision or ERRORS,
        types=view.type,
        gold=view.gold,
        pred=view.pred,
        doc="" if view.record or view.at else view.doc,
        text=" ".join(_FIELD.sub("", view.q).split()),
        having=tuple(_having(value) for name, value in parts if name == HAS),
        **fields_of_query,
    )


def view_of(view: View, query: Query) -> View:
    """Return the view whose lists show exactly the records of a query."""
    decision = query.decision or DECISIONS
    narrowed = replace(
        view,
        inspect_tab="",
        type=query.types,
        decision=() if decision == ERRORS else decision,
        gold=query.gold,
        pred=query.pred,
        doc=query.doc,
        record="",
        at="",
        q=search_of(query),
    )
    # All errors are listed too: without filters Inspect might begin with patterns.
    return narrowed if narrowed.is_narrowed else replace(narrowed, inspect_tab=RECORDS_TAB)


def lasting(query: Query) -> Query:
    """Return a query of the same records, whose document stays where the record of another one is open."""
    return replace(query, doc="", having=(*query.having, in_documents([query.doc]))) if query.doc else query


def search_of(query: Query) -> str:
    """Return the search text of a query: its words, and its FIELDS as `name:value`."""
    values = ((name, getattr(query, name)) for name in FIELDS)
    having = ((HAS, f"{_escaped(name).replace('=', '%3D')}={_escaped(value)}") for name, value in query.having)
    pairs = (*values, *having)
    fields = (
        f'{name}:"{value}"' if any(map(str.isspace, value)) else f"{name}:{value}" for name, value in pairs if value
    )
    return " ".join([*query.text.split(), *fields])


def _having(value: str) -> tuple[str, str]:
    name, _, text = value.partition("=")
    return unquote(name), unquote(text)


def _escaped(text: str) -> str:
    """Escape characters for the search text: quotes end a value, and line breaks become blanks in an address."""
    return "".join(f"%{ord(char):02X}" if char in '%"\n\r\t' else char for char in text)


def cell_query(gold: str, pred: str) -> Query:
    """Return the query behind a cell of the confusion table; ABSENT for its `spurious` row and `missed` column."""
    return Query(gold=(gold,), pred=(pred,))


Line = tuple[str, str, str]


def context(records: pd.DataFrame, texts: Sequence[str], characters: int = 40) -> list[Line]:
    """Return the words before, in and after each record's anchor, on one line each."""
    has_gold = (records["gold"] >= 0).to_numpy()
    starts, ends = (
        np.where(has_gold, *(records[f"{side}_{edge}"].to_numpy(np.int64, na_value=-1) for side in ("gold", "pred")))
        for edge in ("start", "end")
    )
    lines = around(texts, records["doc"].tolist(), starts.tolist(), ends.tolist(), characters)
    # The words of a prediction that stands nowhere are not in the text.
    for place in np.flatnonzero((starts == ends) & (starts >= 0)).tolist():
        lines[place] = (lines[place][0], str(records["pred_text"].iat[place]), lines[place][2])
    return lines


def around(
    texts: Sequence[str], documents: Iterable[int], starts: Iterable[int], ends: Iterable[int], characters: int = 40
) -> list[Line]:
    """Return the words before, in and after pieces of text, on one line each; a start below 0 is not a place."""

    def line(text: str) -> str:
        return " ".join(text.split())

    rows = []
    for document, start, end in zip(documents, starts, ends, strict=True):
        text = texts[document] if start >= 0 else ""
        low, high = max(0, start - characters), min(len(text), end + characters)
        rows.append((line(text[low:start]), line(text[start:end]), line(text[end:high])) if text else ("", "", ""))
    return rows
