"""Tables of entity linking: ratios and counts under each rule or in each document, and ids by how often they meet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from nereval_core.analysis.linking import LINK_DECISIONS, LinkCounts, LinkScores
from nereval_core.scoring.count_tables import TEXT_DTYPE
from nereval_core.tables import RATIOS, RECORDS, UNDEFINED, Cell, Column, Table, frame_table

NO_MENTION = ""
"""The id of a side that has no mention."""
MEANINGS: Mapping[str, str] = {
    "right": "gold's link stands among the first n of the prediction's ranking",
    "wrong link": "both link the mention, to different entries",
    "NIL for link": "gold has an entry; the prediction's first link says there is none",
    "link for NIL": "gold says there is no entry (NIL); the prediction links to one",
    "missing": "a gold mention that no prediction with a link is paired with",
    "spurious": "a predicted mention that no gold mention is paired with",
}
ACCURACY = Column("accuracy", kind="ratio", meaning="right / judged")
DECISIONS = tuple(Column(name, name, "count", meaning=meaning) for name, meaning in MEANINGS.items())
END_TO_END: tuple[Column, ...] = (
    *(
        Column(ratio.key, ratio.heading, "ratio", meaning=meaning)
        for ratio, meaning in zip(
            RATIOS,
            ("right / predicted", "right / gold", "2 × right / (gold + predicted)"),
            strict=True,
        )
    ),
    *DECISIONS,
    Column("gold", kind="count", meaning="all gold mentions: spans with links"),
    Column("predicted", kind="count", meaning="all predicted mentions: spans with links"),
)
GIVEN: tuple[Column, ...] = (
    ACCURACY,
    *DECISIONS[:-1],
    Column("judged", kind="count", meaning="gold mentions where the prediction has a span of equal boundaries"),
)
CONFUSED_COLUMNS = ("gold_id", "gold_text", "pred_id", "pred_text", "count")


def rule_name(scores: LinkScores) -> str:
    """Return the boundary rule and n of scores: `strict, n = 1`; of given mentions `equal boundaries, n = 1`."""
    rule = "equal boundaries" if scores.alignment.mentions == "gold" else scores.alignment.boundaries
    return f"{rule}, n = {scores.n}"


def rule_table(title: str, rules: Sequence[LinkScores], notes: tuple[str, ...] = ()) -> Table:
    """Return ratios and counts under each rule; with given mentions also how many of both sides are not judged."""
    given = rules[0].alignment.mentions == "gold"
    unjudged = [(sum(scores.alignment.unjudged),) if given else () for scores in rules]
    rows = tuple(
        (rule_name(scores), *_cells(scores.counts, given), *more) for scores, more in zip(rules, unjudged, strict=True)
    )
    last = (Column("not_judged", kind="count", meaning="mentions of both sides whose boundaries differ"),)
    columns = (Column("linking", kind="name"), *(GIVEN if given else END_TO_END), *(last if given else ()))
    return Table(title, columns, rows, notes, name="links")


def linked_document_table(title: str, scores: LinkScores) -> Table:
    """Return ratios and counts of each document."""
    given = scores.alignment.mentions == "gold"
    rows = tuple((name, *_cells(counts, given)) for name, counts in scores.by_document.items())
    return Table(title, (Column("document", kind="name"), *(GIVEN if given else END_TO_END)), rows, name="documents")


def id_table(title: str, confusion: pd.DataFrame) -> Table:
    """Return the pairs of gold and predicted ids; `confusion` is a `link_confusion`."""
    rows = tuple(
        (gold or UNDEFINED, pred or UNDEFINED, count)
        for gold, pred, count in confusion.itertuples(index=False, name=None)
    )
    return Table(title, (Column("gold", kind="name"), Column("predicted", kind="name"), RECORDS), rows, name="ids")


def confused_ids(records: pd.DataFrame, most: int) -> pd.DataFrame:
    """Return the ids most often confused: CONFUSED_COLUMNS.

    Mentions that both sides link, and not alike; then ids most often missing or spurious. The texts are the most
    frequent ones. The ids of a row are NO_MENTION where that side has no mention.
    """
    wrong = records[records["decision"] != "right"]
    if wrong.empty:
        return pd.DataFrame(columns=list(CONFUSED_COLUMNS))
    sides = {name: wrong[name].fillna(NO_MENTION).astype(TEXT_DTYPE) for name in sorted(CONFUSED_COLUMNS[:-1])}
    table, ids = pd.DataFrame(sides), ["gold_id", "pred_id"]
    sizes = table.groupby(ids, sort=True).size().rename("count").reset_index()
    sizes["is_lone"] = (sizes["gold_id"] == NO_MENTION) | (sizes["pred_id"] == NO_MENTION)
    largest = sizes.sort_values(["is_lone", "count", *ids], ascending=[True, False, True, True]).head(most)
    pairs = table.merge(largest[ids], on=ids)
    texts = pairs.groupby(ids)[["gold_text", "pred_text"]].agg(_most_frequent)
    return largest.merge(texts.reset_index(), on=ids)[list(CONFUSED_COLUMNS)]


def confused_table(title: str, confused: pd.DataFrame) -> Table:
    """Return `confused_ids` as they are shown."""
    columns = (
        Column("gold_id", kind="name"),
        Column("gold_text", kind="text"),
        Column("pred_id", "predicted id", "name"),
        Column("pred_text", "predicted text", "text"),
        Column("count", kind="count"),
    )
    return frame_table(title, confused.replace(NO_MENTION, UNDEFINED), columns, name="confused-ids")


def _most_frequent(texts: pd.Series[str]) -> str:
    counts = texts.value_counts()
    return str(min(counts.index[counts == counts.max()]))


def _cells(counts: LinkCounts, given: bool) -> tuple[Cell, ...]:
    if given:
        return (counts.recall, *counts.decisions[: LINK_DECISIONS.index("spurious")], counts.gold)
    return (counts.precision, counts.recall, counts.f1, *counts.decisions, counts.gold, counts.predicted)
