"""Tables of the Linking page, and the records behind each of its counts. No Streamlit in here.

Every count is a query over link records (`nereval_core.analysis.linking`) under one boundary rule and n.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import pandas as pd

from nereval_core.analysis.linking import LINK_DECISIONS, RANKS, LinkCounts
from nereval_core.analysis.linking.mentions import Boundaries, Mentions
from nereval_core.report.colours import LOOKS, DecisionLook
from nereval_core.scoring.count_tables import TEXT_DTYPE
from pages.shared.view import View
from pages.shared.view.count_tables import number

ERRORS = LINK_DECISIONS[1:]
"""Decisions that lists show by default: all but right."""
GOLD_SIDE = tuple(name for name in LINK_DECISIONS if name != "spurious")
PRED_SIDE = tuple(name for name in LINK_DECISIONS if name != "missing")
RATIOS = ("P", "R", "F1")
ACCURACY = "accuracy"
GOLD, PREDICTED = "gold", "predicted"

NONE = ""
"""In a query: no mention on this side."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule of linking: the mentions that are paired, and how much of a ranking is looked at."""

    boundaries: Boundaries = "strict"
    n: int = 1

    @property
    def words(self) -> str:
        return f"{self.boundaries}, n = {self.n}"


@dataclass(frozen=True, slots=True)
class LinkQuery:
    """A query over link records: by decision, and by the ids judged (None: any, NONE: no mention on that side)."""

    decisions: tuple[str, ...] = ERRORS
    gold_id: str | None = None
    pred_id: str | None = None


LINK_LOOKS: Mapping[str, DecisionLook] = MappingProxyType(
    {
        "right": LOOKS["COR"],
        "wrong link": LOOKS["INC"],
        "NIL for link": replace(LOOKS["PAR"], glyph="∅"),
        "link for NIL": replace(LOOKS["PAR"], glyph="◇"),
        "missing": LOOKS["MIS"],
        "spurious": LOOKS["SPU"],
    }
)
"""Glyph and colour of a link's decision."""

EXPLAINED: Mapping[str, str] = MappingProxyType(
    {
        "right": "Gold's link stands among the first n of the prediction's ranking.",
        "wrong link": "Both link the mention, to different entries.",
        "NIL for link": "Gold has an entry; the prediction's first link says there is none.",
        "link for NIL": "Gold says there is no entry (NIL); the prediction links to one.",
        "missing": "A gold mention that no prediction with a link is paired with.",
        "spurious": "A predicted mention that no gold mention is paired with.",
        GOLD: "All gold mentions: spans with links.",
        PREDICTED: "All predicted mentions: spans with links.",
        "judged": "Gold mentions where the prediction has a span of equal boundaries.",
        "P": "Precision: right / predicted mentions.",
        "R": "Recall: right / gold mentions.",
        "F1": "2 × right / (gold mentions + predicted mentions).",
        ACCURACY: "right / judged.",
    }
)


def mentions_of(view: View) -> Mentions:
    return "gold" if view.mentions else "end-to-end"


def rules(mentions: Mentions) -> tuple[Rule, ...]:
    """Return the rows of the table of metrics; given gold's mentions boundaries are equal anyway."""
    boundaries: tuple[Boundaries, ...] = ("strict",) if mentions == "gold" else ("strict", "overlapping")
    return tuple(Rule(one, n) for one in boundaries for n in RANKS)


def rule_of(view: View) -> Rule:
    """Return the rule that the lists and the text are under."""
    overlapping = "overlapping" in view.layout and not view.mentions
    return Rule("overlapping" if overlapping else "strict", int(view.rank or RANKS[0]))


def with_rule(view: View, rule: Rule) -> View:
    """Return the view whose lists are under a rule."""
    view = view.with_layout("overlapping", rule.boundaries == "overlapping")
    return replace(view, rank="" if rule.n == RANKS[0] else str(rule.n))


def metrics(counts: Mapping[Rule, LinkCounts], mentions: Mentions) -> pd.DataFrame:
    """Return a row for each rule: `linking`, ratios (NaN where undefined) and counts."""
    rows = []
    for rule, found in counts.items():
        row: dict[str, object] = {"linking": rule.words if mentions == "end-to-end" else f"n = {rule.n}"}
        decisions = dict(zip(LINK_DECISIONS, found.decisions, strict=True))
        if mentions == "gold":
            del decisions["spurious"]
            row |= {ACCURACY: found.recall, **decisions, "judged": found.gold}
        else:
            row |= dict(zip(RATIOS, (found.precision, found.recall, found.f1), strict=True))
            row |= {**decisions, GOLD: found.gold, PREDICTED: found.predicted}
        rows.append(row)
    table = pd.DataFrame(rows)
    ratios = [name for name in (*RATIOS, ACCURACY) if name in table.columns]
    return table.astype(dict.fromkeys(ratios, "float64"))


def cell_query(column: str) -> LinkQuery | None:
    """Return the query behind a count of `metrics`, None where the column is a ratio."""
    if column in (GOLD, "judged"):
        return LinkQuery(GOLD_SIDE)
    if column == PREDICTED:
        return LinkQuery(PRED_SIDE)
    return LinkQuery((column,)) if column in LINK_DECISIONS else None


def formula(ratio: str, counts: LinkCounts) -> tuple[str, tuple[tuple[str, int, LinkQuery], ...]]:
    """Return the formula of a ratio, and the counts in it with their queries."""
    right = ("right", counts.right, LinkQuery(("right",)))
    gold, pred = (GOLD, counts.gold, LinkQuery(GOLD_SIDE)), (PREDICTED, counts.predicted, LinkQuery(PRED_SIDE))
    if ratio == "F1":
        made = f"2 × {counts.right} / ({counts.gold} + {counts.predicted})"
        said = "F1 = 2 × right / (gold mentions + predicted mentions)"
        return f"{said} = {made} = {number(counts.f1)}", (right, gold, pred)
    below = pred if ratio == "P" else ("judged" if ratio == ACCURACY else GOLD, *gold[1:])
    value = counts.precision if ratio == "P" else counts.recall
    return f"{ratio} = right / {below[0]} = {counts.right} / {below[1]} = {number(value)}", (right, below)


def select_records(records: pd.DataFrame, query: LinkQuery) -> pd.DataFrame:
    """Return the link records that match a query, in document order."""
    mask = records["decision"].isin(query.decisions).to_numpy(copy=True)
    for column, wanted in (("gold_id", query.gold_id), ("pred_id", query.pred_id)):
        if wanted is not None:
            mask &= (records[column].fillna(NONE) == wanted).to_numpy()
    return records[mask]


def decision_counts(records: pd.DataFrame, query: LinkQuery) -> dict[str, int]:
    """Return how many records of a query's ids there are by decision, those that do not occur left out."""
    found = select_records(records, replace(query, decisions=LINK_DECISIONS))["decision"].value_counts()
    return {name: int(found.get(name, 0)) for name in LINK_DECISIONS if found.get(name, 0)}


def confused(records: pd.DataFrame, most: int) -> pd.DataFrame:
    """Return the ids most often confused: `gold id`, `gold text`, `predicted id`, `predicted text`, `count`.

    Mentions that both sides link, and not alike; then ids most often missing or spurious. The texts are the most
    frequent ones. The ids of a row are NONE where that side has no mention.
    """
    wrong = records[records["decision"] != "right"]
    if wrong.empty:
        return pd.DataFrame(columns=["gold id", "gold text", "predicted id", "predicted text", "count"])
    ids = {name: wrong[name].fillna(NONE).astype(TEXT_DTYPE) for name in ("gold_id", "pred_id")}
    texts = {name: wrong[name].fillna(NONE).astype(TEXT_DTYPE) for name in ("gold_text", "pred_text")}
    table = pd.DataFrame({**ids, **texts})
    sizes = table.groupby(["gold_id", "pred_id"], sort=True).size().rename("count").reset_index()
    sizes["alone"] = (sizes["gold_id"] == NONE) | (sizes["pred_id"] == NONE)
    order = ["alone", "count", "gold_id", "pred_id"]
    top = sizes.sort_values(order, ascending=[True, False, True, True]).head(most)
    pairs = table.merge(top[["gold_id", "pred_id"]], on=["gold_id", "pred_id"])
    often = pairs.groupby(["gold_id", "pred_id"])[["gold_text", "pred_text"]].agg(_most_frequent)
    found = top.drop(columns="alone").merge(often.reset_index(), on=["gold_id", "pred_id"])
    names = {"gold_id": "gold id", "gold_text": "gold text", "pred_id": "predicted id", "pred_text": "predicted text"}
    return found.rename(columns=names)[["gold id", "gold text", "predicted id", "predicted text", "count"]]


def _most_frequent(texts: pd.Series[str]) -> str:
    counted = texts.value_counts()
    return str(min(counted.index[counted == counted.max()]))


def headline(counts: LinkCounts, mentions: Mentions) -> tuple[int, int, str]:
    """Return the number of right links, the whole, and the unit in words: the page's headline."""
    return counts.right, counts.gold, "gold mentions" if mentions == "end-to-end" else "judged gold mentions"


def ids_of(links: object) -> list[str]:
    """Return the ids of the links of a record's side, best first; none where it has no mention."""
    return links.split("|") if isinstance(links, str) and links else []


def codes(records: pd.DataFrame) -> dict[tuple[str, int], str]:
    """Return the decision of each mention, by side and span."""
    found: dict[tuple[str, int], str] = {}
    names = records["decision"].astype(TEXT_DTYPE).tolist()
    for name, gold, pred in zip(names, records["gold"].tolist(), records["pred"].tolist(), strict=True):
        for side, span in (("gold", gold), ("prediction", pred)):
            if span >= 0:
                found[side, span] = name
    return found


def ids_words(ids: Sequence[str]) -> str:
    """Return the ids of a mention as its chip shows them: the first two, and how many more."""
    return " | ".join(ids[:2]) + (f" +{len(ids) - 2}" if len(ids) > 2 else "")
