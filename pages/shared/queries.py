"""Every count on a page is a query over match records: the queries, the records they find, and counts of these.

A count is the sum of the weights of the records found: their number, or, counted by token, the tokens in them. Pure
functions over the frame of `nereval_core.tables.records`, with the columns that `prepared` adds. No Streamlit in here.
The search text may hold `boundary:"..."`, `words:3`, `period:1790s` and `noise:0.1-0.3` beside plain words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import pandas as pd

from nereval_core.analysis.periods import UNDATED, decades_of
from nereval_core.analysis.slices import NOISE, UNKNOWN, noise_of
from nereval_core.corpus import Layer
from nereval_core.glossary import DECISIONS
from pages.shared.url import ABSENT, View

Side = Literal["gold", "pred"]

ERRORS = DECISIONS[1:]
"""What lists show unless told otherwise: everything but the correct records."""
MANY_WORDS = 6
"""Spans of so many words and more are counted together."""

FIELDS = ("boundary", "words", "period", "noise")
"""What the search text says as `name:value`, the value in quotes where it has a blank."""
FACETS = ("decision", "gold", "pred", *FIELDS, "doc")
NO_GOLD = "no gold span"
"""The noise of a record without a gold span."""


@dataclass(frozen=True)
class Query:
    """Which match records: each field narrows down, an empty one does not.

    `types` asks for a record with the type on either side; `gold` and `pred` ask for the type on that side, ABSENT
    for no span there. `period` is the decade of the document's date, `noise` the level of the gold span.
    """

    decision: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    gold: tuple[str, ...] = ()
    pred: tuple[str, ...] = ()
    doc: str = ""
    boundary: str = ""
    words: str = ""
    period: str = ""
    noise: str = ""
    text: str = ""


_FIELD = re.compile(rf'({"|".join(FIELDS)}):(?:"([^"]*)"|(\S+))')


def query_of(view: View) -> Query:
    """Return the query that a view's lists show; no decision chosen stands for all but correct."""
    found = {name: quoted or plain for name, quoted, plain in _FIELD.findall(view.q)}
    return Query(
        decision=view.decision or ERRORS,
        types=view.type,
        gold=view.gold,
        pred=view.pred,
        doc="" if view.record else view.doc,
        text=" ".join(_FIELD.sub("", view.q).split()),
        **found,
    )


def view_of(view: View, query: Query) -> View:
    """Return the view whose lists show exactly the records of a query."""
    decision = query.decision or DECISIONS
    return replace(
        view,
        type=query.types,
        decision=() if decision == ERRORS else decision,
        gold=query.gold,
        pred=query.pred,
        doc=query.doc,
        record="",
        q=search_of(query),
    )


def search_of(query: Query) -> str:
    """Return the search text of a query: its words, and its FIELDS as `name:value`."""
    values = ((name, getattr(query, name)) for name in FIELDS)
    fields = (f'{name}:"{value}"' if " " in value else f"{name}:{value}" for name, value in values if value)
    return " ".join([*query.text.split(), *fields])


def prepared(records: pd.DataFrame, gold: Layer | None = None) -> pd.DataFrame:
    """Add what lists filter and sort by; `gold` is the layer that the records were made of.

    `anchor` is the gold text, else the predicted one, `words` their number in it, `at` where it starts; `sought` is
    what a search looks at. `period` and `noise` are NA, without categories, where no date and no LED is known.
    """
    gold_text, pred_text = records["gold_text"].astype("str"), records["pred_text"].astype("str")
    has_gold = (records["gold"] >= 0).to_numpy()
    anchor = gold_text.where(has_gold, pred_text)
    count = (anchor.str.strip().str.count(r"\s+(?=\S)") + 1).clip(upper=MANY_WORDS).astype(int)
    words = pd.Categorical.from_codes(count.to_numpy() - 1, [word_class(number) for number in range(1, MANY_WORDS + 1)])
    at = records["gold_start"].where(has_gold, records["pred_start"]).astype("int64")
    sought = (
        gold_text.fillna("") + "\n" + pred_text.fillna("") + "\n" + records["document"].astype("str")
    ).str.casefold()
    period, noise = _period(records, gold), _noise(records, gold)
    return records.assign(anchor=anchor, words=words, at=at, sought=sought, period=period, noise=noise)


def _period(records: pd.DataFrame, gold: Layer | None) -> pd.Categorical:
    found = decades_of(gold.documents) if gold is not None else ()
    names = sorted(set(found), key=lambda name: (name == UNDATED, name))
    if names in ([], [UNDATED]):
        return _unknown(records)
    number = {name: code for code, name in enumerate(names)}
    codes = np.array([number[name] for name in found], np.int32)
    return pd.Categorical.from_codes(codes[records["doc"].to_numpy()], names)


def _noise(records: pd.DataFrame, gold: Layer | None) -> pd.Categorical:
    found = noise_of(gold) if gold is not None else np.zeros(0, np.int8)
    if (found == NOISE.index(UNKNOWN)).all():
        return _unknown(records)
    # The last one is that of index -1, no gold span.
    codes = np.append(found, len(NOISE)).astype(np.int8)
    return pd.Categorical.from_codes(codes[records["gold"].to_numpy()], [*NOISE, NO_GOLD])


def _unknown(records: pd.DataFrame) -> pd.Categorical:
    return pd.Categorical.from_codes(np.full(len(records), -1), [])


def offered(records: pd.DataFrame) -> tuple[str, ...]:
    """Return the facets of which the corpus knows something: period needs a date, noise a gold span with LED."""
    return tuple(facet for facet in FACETS if facet not in ("period", "noise") or len(records[facet].cat.categories))


def word_class(number: int) -> str:
    return f"{number}+" if number >= MANY_WORDS else str(number)


def weight(records: pd.DataFrame) -> int:
    """Return what records count for: the value of the count that opens them."""
    return int(records["weight"].sum())


def select(records: pd.DataFrame, query: Query) -> pd.DataFrame:
    """Return the records that match a query, in the order given."""
    return records[_mask(records, query)]


def _mask(records: pd.DataFrame, query: Query) -> np.ndarray:
    mask = np.ones(len(records), bool)
    if query.decision:
        mask &= records["decision"].isin(query.decision).to_numpy()
    if query.types:
        mask &= (records["gold_type"].isin(query.types) | records["pred_type"].isin(query.types)).to_numpy()
    for column, side, names in (("gold_type", "gold", query.gold), ("pred_type", "pred", query.pred)):
        if names:
            absent = (records[side] < 0).to_numpy() & (ABSENT in names)
            mask &= records[column].isin([name for name in names if name != ABSENT]).to_numpy() | absent
    for column, value in (("document", query.doc), *((name, getattr(query, name)) for name in FIELDS)):
        if value:
            mask &= (records[column] == value).to_numpy()
    for word in query.text.casefold().split():
        mask &= records["sought"].str.contains(word, regex=False, na=False).to_numpy(bool)
    return mask


_COLUMNS = {
    "decision": "decision",
    "gold": "gold_type",
    "pred": "pred_type",
    "doc": "document",
} | {name: name for name in FIELDS}


def narrowed(query: Query, facet: str, value: str | None) -> Query:
    """Return the query with one facet set to one value (None: not narrowed by it)."""
    if facet in ("decision", "gold", "pred"):
        return replace(query, **{facet: () if value is None else (value,)})
    return replace(query, **{facet: value or ""})


def facet_counts(records: pd.DataFrame, query: Query, facet: str) -> dict[str, int]:
    """Return, for each value of a facet, what the records would count for if it were the one chosen."""
    column = _COLUMNS[facet]
    found = select(records, narrowed(query, facet, None))
    sums = found.groupby(column, observed=True, dropna=True)["weight"].sum()
    counts = {str(value): int(n) for value, n in sums.items() if n}
    if facet in ("gold", "pred") and (absent := weight(found[found[column].isna()])):
        counts[ABSENT] = absent
    if facet in ("words", "period", "noise"):
        return {value: counts[value] for value in map(str, records[facet].cat.categories) if value in counts}
    if facet == "decision":
        return {value: counts[value] for value in DECISIONS if value in counts}
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def overall_query(column: str) -> Query | None:
    """Return the query behind a count of the whole corpus, None where the column is a ratio."""
    return side_query("gold", column) or side_query("pred", column)


def side_query(side: Side, column: str, kind: str | None = None) -> Query | None:
    """Return the query behind a count of one side: spans of a type (None: of all) with a decision, POS or ACT."""
    lone = "MIS" if side == "gold" else "SPU"
    whole = "POS" if side == "gold" else "ACT"
    if column == whole:
        decision: tuple[str, ...] = ("COR", "INC", "PAR", lone)
    elif column in ("COR", "INC", "PAR", lone):
        decision = (column,)
    else:
        return None
    names = () if kind is None else (kind,)
    return Query(decision=decision, gold=names) if side == "gold" else Query(decision=decision, pred=names)


def confusion_counts(records: pd.DataFrame) -> dict[tuple[str, str], int]:
    """Return what the records of each gold and predicted type count for, ABSENT where a side has no span."""
    sides = [records[name].astype("str").fillna(ABSENT) for name in ("gold_type", "pred_type")]
    sums = records["weight"].groupby(sides).sum()
    return {(str(gold), str(pred)): int(n) for (gold, pred), n in sums.items()}


def cell_query(gold: str, pred: str) -> Query:
    """Return the query behind a cell of the confusion table; ABSENT for its `spurious` row and `missed` column."""
    return Query(gold=(gold,), pred=(pred,))


_SORTS: dict[str, tuple[list[str], bool]] = {
    "text": (["anchor"], True),
    "gold": (["gold_type", "pred_type"], True),
    "prediction": (["pred_type", "gold_type"], True),
    "decision": (["decision"], True),
    "longest": (["length"], False),
}


def ordered(records: pd.DataFrame, order: str) -> pd.DataFrame:
    """Return the records sorted; those that tie, and all by default, stay in document order."""
    if order not in _SORTS:
        return records
    columns, ascending = _SORTS[order]
    keys = {
        "anchor": records["anchor"].str.casefold(),
        "length": records["anchor"].str.len(),
        "decision": records["decision"].astype("str").map(DECISIONS.index),
    }
    table = pd.DataFrame({name: keys[name] if name in keys else records[name].astype("str") for name in columns})
    place = table.reset_index(drop=True).sort_values(columns, ascending=ascending, kind="stable").index
    return records.iloc[place]


def context(records: pd.DataFrame, texts: Sequence[str], characters: int = 40) -> pd.DataFrame:
    """Return the words before, in and after each record's anchor, on one line each."""
    return around(texts, records["doc"], records["at"], _ends(records), characters).set_index(records.index)


def around(
    texts: Sequence[str], documents: Iterable[int], starts: Iterable[int], ends: Iterable[int], characters: int = 40
) -> pd.DataFrame:
    """Return the words before, in and after pieces of text, on one line each; a start below 0 is no place."""

    def line(text: str) -> str:
        return " ".join(text.split())

    rows = []
    for document, start, end in zip(documents, starts, ends, strict=True):
        text = texts[document] if start >= 0 else ""
        low, high = max(0, start - characters), min(len(text), end + characters)
        rows.append((line(text[low:start]), line(text[start:end]), line(text[end:high])) if text else ("", "", ""))
    return pd.DataFrame(rows, columns=["before", "span", "after"], dtype="str")


def _ends(records: pd.DataFrame) -> list[int]:
    end = records["gold_end"].where(records["gold"] >= 0, records["pred_end"])
    return [int(value) for value in end]
