"""Rules of linking, and the records behind each count of the Linking page. No Streamlit in here.

Every count is a query over link records (`nereval_core.analysis.linking`) under one boundary rule and n.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pandas as pd

from nereval_core.analysis.linking import LINK_DECISIONS, RANKS, LinkCounts
from nereval_core.analysis.linking.mentions import Boundaries, Mentions
from nereval_core.analysis.linking.tables import NO_MENTION
from nereval_core.scoring.count_tables import TEXT_DTYPE
from pages.shared.view import View
from pages.shared.view.formulas import number

ERRORS = LINK_DECISIONS[1:]
"""Decisions that lists show by default: all but right."""
GOLD_SIDE = tuple(name for name in LINK_DECISIONS if name != "spurious")
PRED_SIDE = tuple(name for name in LINK_DECISIONS if name != "missing")


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
    """A query over link records: by decision, and by the ids judged (None: any, NO_MENTION: no mention)."""

    decisions: tuple[str, ...] = ERRORS
    gold_id: str | None = None
    pred_id: str | None = None


def mentions_of(view: View) -> Mentions:
    return "gold" if view.mentions else "end-to-end"


def rules(mentions: Mentions) -> tuple[Rule, ...]:
    """Return the rows of the table of metrics; given gold's mentions boundaries are equal anyway."""
    boundaries: tuple[Boundaries, ...] = ("strict",) if mentions == "gold" else ("strict", "overlapping")
    return tuple(Rule(boundary_rule, n) for boundary_rule in boundaries for n in RANKS)


def rule_of(view: View) -> Rule:
    """Return the rule that the lists and the text are under."""
    overlapping = "overlapping" in view.layout and not view.mentions
    return Rule("overlapping" if overlapping else "strict", int(view.rank or RANKS[0]))


def with_rule(view: View, rule: Rule) -> View:
    """Return the view whose lists are under a rule."""
    view = view.with_layout("overlapping", rule.boundaries == "overlapping")
    return replace(view, rank="" if rule.n == RANKS[0] else str(rule.n))


def cell_query(column: str) -> LinkQuery | None:
    """Return the query behind a count of `metrics`, None where the column is a ratio."""
    if column in ("gold", "judged"):
        return LinkQuery(GOLD_SIDE)
    if column == "predicted":
        return LinkQuery(PRED_SIDE)
    return LinkQuery((column,)) if column in LINK_DECISIONS else None


def formula(ratio: str, counts: LinkCounts) -> tuple[str, tuple[tuple[str, int, LinkQuery], ...]]:
    """Return the formula of a ratio, and the counts in it with their queries."""
    right = ("right", counts.right, LinkQuery(("right",)))
    gold, pred = ("gold", counts.gold, LinkQuery(GOLD_SIDE)), ("predicted", counts.predicted, LinkQuery(PRED_SIDE))
    if ratio == "F1":
        numbers = f"2 × {counts.right} / ({counts.gold} + {counts.predicted}) = {number(counts.f1)}"
        return f"F1 = 2 × right / (gold mentions + predicted mentions) = {numbers}", (right, gold, pred)
    below = pred if ratio == "P" else ("judged" if ratio == "accuracy" else "gold", *gold[1:])
    value = counts.precision if ratio == "P" else counts.recall
    return f"{ratio} = right / {below[0]} = {counts.right} / {below[1]} = {number(value)}", (right, below)


def select_records(records: pd.DataFrame, query: LinkQuery) -> pd.DataFrame:
    """Return the link records that match a query, in document order."""
    mask = records["decision"].isin(query.decisions).to_numpy(copy=True)
    for column, link in (("gold_id", query.gold_id), ("pred_id", query.pred_id)):
        if link is not None:
            mask &= (records[column].fillna(NO_MENTION) == link).to_numpy()
    return records[mask]


def decision_counts(records: pd.DataFrame, query: LinkQuery) -> dict[str, int]:
    """Return how many records of a query's ids there are by decision, those that do not occur left out."""
    counts = select_records(records, replace(query, decisions=LINK_DECISIONS))["decision"].value_counts()
    return {name: int(counts[name]) for name in LINK_DECISIONS if counts.get(name, 0)}


def headline(counts: LinkCounts, mentions: Mentions) -> tuple[int, int, str]:
    """Return the number of right links, the whole, and the unit in words: the page's headline."""
    return counts.right, counts.gold, "gold mentions" if mentions == "end-to-end" else "judged gold mentions"


def ids_of(links: object) -> list[str]:
    """Return the ids of the links of a record's side, best first; none where it has no mention."""
    return links.split("|") if isinstance(links, str) and links else []


def codes(records: pd.DataFrame) -> dict[tuple[str, int], str]:
    """Return the decision of each mention, by side and span."""
    decisions: dict[tuple[str, int], str] = {}
    names = records["decision"].astype(TEXT_DTYPE).tolist()
    for name, gold, pred in zip(names, records["gold"].tolist(), records["pred"].tolist(), strict=True):
        for side, span in (("gold", gold), ("prediction", pred)):
            if span >= 0:
                decisions[side, span] = name
    return decisions


def ids_words(ids: Sequence[str]) -> str:
    """Return the ids of a mention as its chip shows them: the first two, and how many more."""
    return " | ".join(ids[:2]) + (f" +{len(ids) - 2}" if len(ids) > 2 else "")
