"""Decisions, counts and ratios: from two layers and some criteria to scores.

Counts are integers and add up; ratios are computed when asked for and are None where undefined. Averages, tokens and
merged types are imported where they are asked for: most scores need none of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from nereval_core.alignment import align
from nereval_core.alignment.codes import QUESTION_BITS, Alignment, Progress, SideOutcome, Spans
from nereval_core.corpus import Layer, Unit
from nereval_core.corpus.arrays import Int32, Int64, UInt8
from nereval_core.scoring.counts import Counts, DocumentCounts, counts_of
from nereval_core.scoring.criteria import (
    CRITERIA,
    SCHEMAS,
    Criterion,
    Decision,
    TypeRules,
    decision_table,
    not_scored,
    questions_of,
)

if TYPE_CHECKING:
    import pandas as pd

    from nereval_core.scoring.averages import Average, Sums

Counting = Literal["one-to-one", "each-side"]


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of a score: criteria, type rules for all of them, and the counting."""

    criteria: tuple[Criterion, ...] = tuple(CRITERIA[name] for name in SCHEMAS)
    merge: tuple[tuple[str, str], ...] = ()
    leave_out: tuple[str, ...] = ()
    counting: Counting = "one-to-one"

    @property
    def settled_types(self) -> frozenset[str]:
        """The types that are merged, merged into or left out under all criteria."""
        return frozenset((*(kind for names in self.merge for kind in names), *self.leave_out))

    def rules_for(self, criterion: Criterion) -> TypeRules:
        """Return the type rules in force under a criterion: its own after those for all."""
        own = dict(criterion.merge)
        merge = {member: own.get(name, name) for member, name in self.merge}
        merge = {**own, **merge}
        return TypeRules(merge, tuple(sorted({*self.leave_out, *criterion.leave_out})))


@dataclass(frozen=True, eq=False, repr=False)
class Scores:
    """Decisions and counts of one system against gold under some criteria.

    `gold` and `pred` are the layers as scored, spans of types left out gone; span indices refer to these. Criteria with
    type rules of their own are scored in groups, each over its own layers: ask `layers(name)`. Counted by token, layers
    hold token runs in place of spans, and `weights(name)` says of how many tokens; tokens are counted when they are
    asked for. `read` are both layers as they were read.
    """

    settings: Settings
    marks: tuple[str, ...]
    read: tuple[Layer, Layer]
    groups: tuple[_Group | _Tokens, ...]
    _cache: dict[tuple[str, str], Any] = field(default_factory=dict, repr=False)

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        return self.settings.criteria

    @property
    def gold(self) -> Layer:
        return self._first.gold

    @property
    def pred(self) -> Layer:
        return self._first.pred

    @property
    def _first(self) -> _Group:
        return next((group for group in self.groups if isinstance(group, _Group)), self.groups[0].counted)

    @property
    def read_gold(self) -> str:
        """The digest of gold as it was read; made when asked for, as counting alone can do without."""
        return self.read[0].digest

    @property
    def read_pred(self) -> str:
        return self.read[1].digest

    @property
    def documents(self) -> int:
        return len(self.gold.documents)

    @property
    def unit(self) -> Unit:
        """The unit that a document stands for: a sentence where no documents are marked."""
        return self.gold.documents.unit

    @property
    def types(self) -> tuple[str, ...]:
        return tuple(sorted({kind for group in self.groups for kind in group.types}))

    @cached_property
    def greedy(self) -> tuple[str, ...]:
        """Ids of documents with a cluster too large to be aligned exactly."""
        documents = {number for group in self.groups if isinstance(group, _Group) for number in group.outcome.greedy}
        return tuple(self.gold.documents.ids[number] for number in sorted(documents))

    @property
    def f1(self) -> float | None:
        """F1 under the first criterion, None where it is undefined."""
        return self.counts(self.criteria[0].name).f1

    def to_frame(self) -> pd.DataFrame:
        """Return one row a criterion: `criterion` and `count_tables.COUNT_COLUMNS`, micro averaged."""
        from nereval_core.scoring.count_tables import count_table

        return count_table("criterion", {criterion.name: self.counts(criterion.name) for criterion in self.criteria})

    def criterion(self, name: str) -> Criterion:
        return next(criterion for criterion in self.criteria if criterion.name == name)

    def layers(self, name: str) -> tuple[Layer, Layer]:
        """Return the gold and predicted layer as scored under a criterion."""
        group, _ = self._find(name)
        return group.gold, group.pred

    def decisions(self, name: str) -> tuple[UInt8, UInt8]:
        """Return the decision codes of gold spans and of predictions under a criterion."""
        group, column = self._find(name)
        return group.outcome.gold.rows[:, column], group.outcome.pred.rows[:, column]

    def _decided(self, group: _Group) -> dict[str, tuple[UInt8, UInt8]]:
        return {name: self.decisions(name) for name in group.names}

    def weights(self, name: str) -> tuple[Int64, Int64]:
        """Return how much each row of the two layers counts: 1 for a span, its number of tokens for a token run."""
        group, _ = self._find(name)
        return group.weights or (np.ones(len(group.gold), np.int64), np.ones(len(group.pred), np.int64))

    def counts(self, name: str) -> Counts:
        group, column = self._find(name)
        return counts_of(
            group.outcome.gold.counts[:, column].sum(axis=0), group.outcome.pred.counts[:, column].sum(axis=0)
        )

    def by_type(self, name: str) -> dict[str, Counts]:
        """Return counts by type: gold spans of that type and predictions of that type, each with its own decisions."""
        group, column = self._find(name)
        both = zip(group.outcome.gold.counts[:, column], group.outcome.pred.counts[:, column], strict=True)
        rows = {kind: counts_of(*row) for kind, row in zip(group.types, both, strict=True)}
        return {kind: row for kind, row in rows.items() if row.pos or row.act}

    def by_document(self, name: str) -> DocumentCounts:
        """Return counts by document, for those with spans on either side, in their order; as columns or one by one."""
        key = ("documents", name)
        if key not in self._cache:
            group, _ = self._find(name)
            tables = [
                _tally(layer.doc.astype(np.int64) * 5 + decisions, weight, len(layer.documents) * 5).reshape(-1, 5)
                for layer, decisions, weight in group.sides(self.decisions(name))
            ]
            self._cache[key] = DocumentCounts.of(self.gold.documents.ids, *tables)
        counts: DocumentCounts = self._cache[key]
        return counts

    def macro_types(self, name: str) -> dict[str, Average]:
        from nereval_core.scoring.averages import averages_of

        return averages_of(self.by_type(name).values())

    def macro_documents(self, name: str) -> dict[str, Average]:
        """Average over documents that have spans on either side."""
        from nereval_core.scoring.averages import averages_by_document

        return averages_by_document(self.by_document(name))

    def macro_documents_by_type(self, name: str) -> dict[str, dict[str, Average]]:
        """Average each type over the documents that have spans of it on either side."""
        from nereval_core.scoring.averages import averages_by_type

        return averages_by_type(*self.sums_by_type(name))

    def sums_by_type(self, name: str) -> tuple[list[Sums], tuple[str, ...]]:
        """Return the sums of RATIOS by type over the documents that have spans of it on either side, and the types."""
        key = ("documents by type", name)
        group, _ = self._find(name)
        if key not in self._cache:
            from nereval_core.scoring.averages import sums_by_type

            sums_by_criterion = sums_by_type(group.gold, group.pred, self._decided(group), group.weights, group.types)
            self._cache.update({("documents by type", each): sums for each, sums in sums_by_criterion.items()})
        sums_of_types: list[Sums] = self._cache[key]
        return sums_of_types, group.types

    def partners(self, name: str) -> tuple[Int32, Int32]:
        """Return, for gold spans and for predictions, the index of the span each was judged by, -1 where none."""
        key = ("partners", name)
        if key not in self._cache:
            group, _ = self._find(name)
            outcome = group.outcome
            if group.weights is None:
                outcome = group.align((self.criterion(name),), self.settings.counting, partners=True)
            assert outcome.gold.partners is not None and outcome.pred.partners is not None
            self._cache[key] = (outcome.gold.partners, outcome.pred.partners)
        partners_of_sides: tuple[Int32, Int32] = self._cache[key]
        return partners_of_sides

    def data_in_words(self, name: str) -> tuple[str, ...]:
        """Return in words the tokens or cores that the data give a criterion that looks at these."""
        criterion = self.criterion(name)
        if criterion.unit == "token":
            from nereval_core.corpus.tokens import tokens_in_words

            return (tokens_in_words(self.gold.documents),)
        if criterion.boundary_rule.bare is not None:
            gold = self.layers(name)[0]
            return (criterion.boundary_rule.bare_in_words(len(gold) - len(gold.cores), len(gold)),)
        return ()

    def _find(self, name: str) -> tuple[_Group, int]:
        for group in self.groups:
            if name in group.names:
                return group.counted, group.names.index(name)
        raise not_scored(name, (criterion.name for criterion in self.criteria))


@dataclass(frozen=True, eq=False)
class _Group:
    """Criteria that share their type rules, the two layers under these, and their outcome.

    `weights` are the tokens of each row where the layers hold token runs.
    """

    names: tuple[str, ...]
    gold: Layer
    pred: Layer
    types: tuple[str, ...]
    outcome: Alignment
    weights: tuple[Int64, Int64] | None = None

    @property
    def counted(self) -> _Group:
        return self

    def sides(self, decisions: tuple[UInt8, UInt8]) -> Iterator[tuple[Layer, UInt8, Int64 | None]]:
        """Yield layer, decisions and weights of gold and of the prediction."""
        return zip((self.gold, self.pred), decisions, self.weights or (None, None), strict=True)

    def align(
        self,
        criteria: tuple[Criterion, ...],
        counting: Counting,
        *,
        partners: bool = False,
        progress: Progress | None = None,
    ) -> Alignment:
        return _align(self.gold, self.pred, self.types, criteria, counting, partners=partners, progress=progress)


@dataclass(frozen=True, eq=False)
class _Tokens:
    """A criterion that counts tokens, which takes longer than all others together: it is counted when asked for."""

    names: tuple[str, ...]
    gold: Layer
    pred: Layer
    types: tuple[str, ...]

    @cached_property
    def counted(self) -> _Group:
        return _of_tokens(self.names[0], self.gold, self.pred, self.types)


def score_layers(
    gold: Layer,
    pred: Layer,
    settings: Settings | None = None,
    *,
    marks: Sequence[str] = (),
    progress: Progress | None = None,
) -> Scores:
    """Score a layer of predictions against gold; both lie over the same documents.

    `marks` name changes made to the data before scoring, for the signature. `progress` is called with
    gold spans done and their total. Annotations that a criterion needs may be missing (`Criterion.lacks`
    tells): a part of a corpus may have none of the whole's cores.

    Raises:
        ValueError: for two criteria of one name.
        FormatError: tokens are to be counted where there are neither tokens nor texts.
    """
    settings = settings or Settings()
    assert gold.documents is pred.documents, "pair the layers first: they lie over different documents"
    names = [criterion.name for criterion in settings.criteria]
    if len(set(names)) < len(names):
        raise ValueError("two criteria have the same name")
    bundles: list[tuple[TypeRules, list[Criterion]]] = []
    for criterion in settings.criteria:
        rules = settings.rules_for(criterion)
        for bundle_rules, bundle in bundles:
            together = bundle[0].unit == criterion.unit == "span"
            if bundle_rules == rules and together and len(questions_of([*bundle, criterion])) <= len(QUESTION_BITS):
                bundle.append(criterion)
                break
        else:
            bundles.append((rules, [criterion]))
    groups: list[_Group | _Tokens] = []
    for rules, bundle in bundles:
        own, theirs = gold, pred
        if rules != TypeRules():
            from nereval_core.scoring.type_merging import apply_rules

            own, theirs = apply_rules(gold, rules), apply_rules(pred, rules)
        types = tuple(sorted({*own.types, *theirs.types}))
        names_in = tuple(criterion.name for criterion in bundle)
        if bundle[0].unit == "token":
            from nereval_core.corpus.tokens import check_tokens

            check_tokens(gold.documents)
            groups.append(_Tokens(names_in, own, theirs, types))
            continue
        outcome = _align(own, theirs, types, tuple(bundle), settings.counting, partners=False, progress=progress)
        groups.append(_Group(names_in, own, theirs, types, outcome))
    return Scores(settings, tuple(marks), (gold, pred), tuple(groups))


def _of_tokens(name: str, gold: Layer, pred: Layer, types: tuple[str, ...]) -> _Group:
    """Count tokens instead of aligning spans: both countings are the same."""
    from nereval_core.corpus.tokens import tokens_of
    from nereval_core.scoring.token_counting import token_runs

    codes = (gold.type_codes(types), pred.type_codes(types))
    runs = token_runs(gold, pred, types, codes, tokens_of(gold.documents))
    sides = []
    for own in (runs.gold, runs.pred):
        key = own.layer.type.astype(np.int64) * len(Decision) + own.decisions
        counts = _tally(key, own.tokens, len(types) * len(Decision)).reshape(-1, 1, len(Decision))
        sides.append(SideOutcome(own.decisions[:, None], counts, own.partners))
    return _Group(
        (name,),
        runs.gold.layer,
        runs.pred.layer,
        types,
        Alignment(sides[0], sides[1], ()),
        (runs.gold.tokens, runs.pred.tokens),
    )


def _tally(key: NDArray[Any], weight: Int64 | None, size: int) -> Int64:
    """Count keys, each as often as it weighs."""
    if weight is None:
        return np.bincount(key, minlength=size)
    # The sums are of whole numbers far below 2 to the power of 53.
    return np.bincount(key, weight, minlength=size).astype(np.int64)


def _align(
    gold: Layer,
    pred: Layer,
    types: tuple[str, ...],
    criteria: tuple[Criterion, ...],
    counting: Counting,
    *,
    partners: bool,
    progress: Progress | None,
) -> Alignment:
    return align(
        spans_of(gold, types),
        spans_of(pred, types),
        gold.documents.base,
        decision_table(criteria),
        types=len(types),
        partners=partners,
        each_side=counting == "each-side",
        progress=progress,
    )


def spans_of(layer: Layer, types: tuple[str, ...]) -> Spans:
    """Return a layer as columns for the alignment; `types` are those of both sides, sorted."""
    return Spans(
        layer.doc, layer.start, layer.end, layer.type_codes(types), layer.fragments, layer.cores, layer.alternatives
    )


__all__: Sequence[str] = (
    "Counting",
    "Counts",
    "DocumentCounts",
    "Scores",
    "Settings",
    "score_layers",
    "spans_of",
)
