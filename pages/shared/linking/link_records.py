"""Rules and scores of linking, the records behind each count, and their text with links. No Streamlit in here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pandas as pd

from nereval_core.analysis.linking import (
    LINK_DECISIONS,
    RANKS,
    LinkCounts,
    LinkScores,
    Truth,
    judge_links,
    link_records,
    link_signature,
    relaxed_in_words,
)
from nereval_core.analysis.linking.mentions import Boundaries, LinkAlignment, Mentions, align_links, ranked_ids
from nereval_core.analysis.linking.tables import MEANINGS, NO_MENTION
from nereval_core.problems import name_text
from nereval_core.report.colours import LINK_LOOKS
from nereval_core.report.highlight import windows
from nereval_core.report.marks import Mark, Side, within
from nereval_core.scoring.count_tables import TEXT_DTYPE
from nereval_core.scoring.type_merging import apply_rules
from pages.shared.components.highlighted_text import text_data
from pages.shared.data.computations import compute
from pages.shared.data.memo import memoized
from pages.shared.data.page_context import PageContext
from pages.shared.inspect.document import document_rows, neighbours
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
    return " | ".join(map(name_text, ids[:2])) + (f" +{len(ids) - 2}" if len(ids) > 2 else "")


@dataclass(frozen=True, eq=False)
class Linking:
    """A system's links held against gold's, by the spans that the chosen criterion scores."""

    page: PageContext
    mentions: Mentions = "end-to-end"
    truth: Truth = "first"
    relaxed: Mapping[str, str] = field(default_factory=dict)

    @property
    def facts(self) -> tuple[str, ...]:
        """The facts that the scores depend on beside the rule; a choice among the records must not outlive them."""
        rules = self.page.settings.rules_for(self.page.criterion)
        corpus = self.page.loaded.corpus.digest
        return (corpus, self.page.system, repr(rules), self.mentions, self.truth, relaxed_in_words(self.relaxed))

    def alignment(self, boundaries: Boundaries) -> LinkAlignment:
        return _alignment(self.page, self.mentions, boundaries)

    def scores(self, rule: Rule) -> LinkScores:
        alignment = self.alignment(rule.boundaries)
        return judge_links(alignment, n=rule.n, truth=self.truth, relaxed=self.relaxed)

    def records(self, rule: Rule) -> pd.DataFrame:
        return _records(self.page, self.facts, rule, self)

    def signature(self, rule: Rule) -> str:
        corpus = self.page.loaded.corpus
        left_out = self.page.settings.rules_for(self.page.criterion).leave_out
        marks = (*((f"left out: {','.join(left_out)}",) if left_out else ()), *self.page.loaded.marks[self.page.system])
        return link_signature(self.scores(rule), corpus.gold.digest, corpus.system(self.page.system).digest, marks)


@memoized("Aligning mentions …")
def _alignment(page: PageContext, mentions: Mentions, boundaries: Boundaries) -> LinkAlignment:
    corpus = page.loaded.corpus
    rules = page.settings.rules_for(page.criterion)
    gold, pred = (apply_rules(layer, rules) for layer in (corpus.gold, corpus.system(page.system)))
    return compute(page.loaded, "Aligning mentions", align_links, gold, pred, boundaries=boundaries, mentions=mentions)


@memoized("Listing links …")
def _records(page: PageContext, facts: tuple[str, ...], rule: Rule, _linking: Linking) -> pd.DataFrame:
    return link_records(_linking.scores(rule))


def linked_text(
    alignment: LinkAlignment, records: pd.DataFrame, listed: pd.DataFrame, document: int, record: str
) -> dict[str, Any]:
    """Return the data of the reading view: the part of the document that holds the record, else its first part.

    `records` are all link records, `listed` those that j and k go through.
    """
    documents = alignment.gold.documents
    text = documents.texts[document]
    rows = document_rows(records, document)
    marks = _marks(alignment, rows)
    chosen_starts = [mark.start for mark in marks if record and mark.record == record]
    cut = windows(text, sorted(mark.start for mark in marks))
    start = chosen_starts[0] if chosen_starts else 0
    low, high = next(part for part in cut if start < part[1] or part == cut[-1])
    queue, at, _ = neighbours(listed, document, start if chosen_starts else -1, record if chosen_starts else "")
    inside = within(marks, low, high)
    data = text_data(
        text[low:high],
        inside,
        doc=documents.ids[document],
        selected=record if chosen_starts else "",
        queue=queue,
        at=at,
        keys=("j next record", "k previous"),
    )
    data["legend"] = [_painted(name) for name in LINK_DECISIONS]
    if len(cut) > 1:
        data["notes"] += [f"characters {low:,} to {high:,} of {len(text):,}: choose a record to see another part"]
    names = codes(rows)
    for entry in data["marks"]:
        name = names[entry["side"], entry["key"]]
        layer = alignment.gold if entry["side"] == "gold" else alignment.pred
        who = "gold mention" if entry["side"] == "gold" else "predicted mention"
        links = ", ".join(map(name_text, ranked_ids(layer.links[entry["key"]])))
        quote = " ".join(layer.text(entry["key"]).split())
        look = LINK_LOOKS[name]
        title = f"{who} {quote}, linked to {links}, {name}"
        entry |= {"glyph": look.glyph, "word": name, "title": title, **_paint(name)}
    return data


def _marks(alignment: LinkAlignment, rows: pd.DataFrame) -> list[Mark]:
    mentions = []
    sides: Sequence[tuple[Side, str]] = (("gold", "gold"), ("prediction", "pred"))
    for side, column in sides:
        layer = alignment.gold if side == "gold" else alignment.pred
        for span, record, name in zip(rows[column].tolist(), rows["record"], rows["decision"], strict=True):
            # Gold that is missing given the mentions has a prediction without a link: no mention, so no chip.
            if span >= 0:
                parts = layer.fragments.get(span) or ((int(layer.start[span]), int(layer.end[span])),)
                chip = ids_words(ranked_ids(layer.links[span]))
                mentions.append(Mark(side, span, parts, chip, LINK_LOOKS[name].code, record))
    return sorted(mentions, key=lambda mark: (mark.start, -mark.end, mark.side))


def _painted(name: str) -> dict[str, Any]:
    return {"text": f"{LINK_LOOKS[name].glyph} {name}", "title": f"{MEANINGS[name]}.", **_paint(name)}


def _paint(name: str) -> dict[str, list[str]]:
    colour = LINK_LOOKS[name].colour
    return {"fill": list(colour.fill), "ink": list(colour.ink)}
