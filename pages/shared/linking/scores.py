"""Link scores by content digest, kept once for all sessions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pandas as pd

from nereval_core.analysis.linking import LinkScores, Truth, judge_links, link_records, link_signature, relaxed_in_words
from nereval_core.analysis.linking.mentions import Boundaries, LinkAlignment, Mentions, align_links
from nereval_core.scoring.type_merging import apply_rules
from pages.shared.data.computations import compute
from pages.shared.data.memo import memoized
from pages.shared.data.page_context import PageContext
from pages.shared.linking.link_records import Rule


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
