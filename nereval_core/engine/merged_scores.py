"""The scores over all shards, for reports as `Scores` are: computed from tallies and entries on disk."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from nereval_core.conventions import Outcome, find_convention
from nereval_core.conventions.outcome import CountTables, SideContent
from nereval_core.corpus import Unit
from nereval_core.corpus.digest import combined
from nereval_core.corpus.tokens import token_origin
from nereval_core.engine.shard_counts import CountsStore
from nereval_core.engine.shards import Shard
from nereval_core.engine.tally import SPANS, Means, Tally, check_by_shards, ids_of, sum_tallies
from nereval_core.engine.work import Job, ShardResult
from nereval_core.problems import FormatError, Problem, quoted
from nereval_core.scoring import Settings
from nereval_core.scoring.averages import Average, averages_of
from nereval_core.scoring.counts import RATIOS, Counts, DocumentCounts
from nereval_core.scoring.criteria import Criterion, not_scored


@dataclass(frozen=True, eq=False)
class MergedSide:
    """A layer over all shards, known only by counts and digest: each range is as long as the number it stands for."""

    name: str
    digest: str
    spans: range
    documents: range
    types: tuple[str, ...]
    cores: range = range(0)
    alternatives: range = range(0)

    def __len__(self) -> int:
        return len(self.spans)


@dataclass(frozen=True, eq=False)
class MergedScores:
    """The scores of one system over all shards; `keys` are the shards' entries in the order of the shards.

    `computed` are the criteria in the order of the entries; `settings` may leave some of them out.
    """

    settings: Settings
    computed: tuple[str, ...]
    tally: Tally
    store: CountsStore
    keys: tuple[str, ...]
    read_gold: str
    read_pred: str
    _documents: dict[str, DocumentCounts] = field(default_factory=dict, repr=False)

    @property
    def marks(self) -> tuple[str, ...]:
        return self.tally.marks

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        return self.settings.criteria

    @property
    def documents(self) -> int:
        return self.tally.documents

    @property
    def unit(self) -> Unit:
        return "sentence" if self.tally.documents == self.tally.sentences > 0 else "document"

    @property
    def greedy(self) -> tuple[str, ...]:
        return self.tally.greedy

    def criterion(self, name: str) -> Criterion:
        return next(criterion for criterion in self.criteria if criterion.name == name)

    def counts(self, name: str) -> Counts:
        return sum(self.by_type(name).values(), Counts())

    def by_type(self, name: str) -> dict[str, Counts]:
        if name not in self.tally.criteria:
            raise not_scored(name, self.tally.criteria)
        return dict(sorted(self.tally.criteria[name].types.items()))

    def by_document(self, name: str) -> DocumentCounts:
        """Return counts by document, for documents with spans on either side, read from the entries."""
        if name not in self._documents:
            column = f"counts/{self.computed.index(name)}"
            ids: list[str] = []
            tables = []
            for key in self.keys:
                entry = self.store.columns(key, "ids", "id_ends", column)
                ids += ids_of(entry)
                tables.append(entry[column].astype(np.int64))
            whole = np.concatenate(tables)
            self._documents[name] = DocumentCounts.of(tuple(ids), whole[:, 0], whole[:, 1])
        return self._documents[name]

    def macro_types(self, name: str) -> dict[str, Average]:
        return averages_of(self.by_type(name).values())

    def macro_documents(self, name: str) -> dict[str, Average]:
        return _averages(self.tally.criteria[name].documents)

    def macro_documents_by_type(self, name: str) -> dict[str, dict[str, Average]]:
        means_by_type = self.tally.criteria[name].documents_by_type
        return {kind: _averages(means) for kind, means in sorted(means_by_type.items())}

    def data_in_words(self, name: str) -> tuple[str, ...]:
        criterion = self.criterion(name)
        if criterion.unit == "token":
            return (token_origin(self.tally.documents, self.tally.tokenized, lambda: self._tokens),)
        if criterion.boundary_rule.bare is not None:
            tally = self.tally.criteria[name]
            return (criterion.boundary_rule.bare_in_words(tally.bare, tally.spans),)
        return ()

    @cached_property
    def _tokens(self) -> str:
        return _digest("tokens", self.store, self.keys, "tokens")


@dataclass(frozen=True, eq=False)
class ScoredShards:
    """Gold and all systems over all shards, and the scores of each."""

    gold: MergedSide
    systems: tuple[tuple[MergedSide, MergedScores], ...]

    @property
    def types(self) -> frozenset[str]:
        return frozenset((*self.gold.types, *(kind for side, _ in self.systems for kind in side.types)))

    def under(self, criteria: Sequence[Criterion]) -> ScoredShards:
        """Return the scores under some of the criteria."""
        settings = replace(self.systems[0][1].settings, criteria=tuple(criteria))
        return replace(self, systems=tuple((side, replace(scores, settings=settings)) for side, scores in self))

    def __iter__(self) -> Iterator[tuple[MergedSide, MergedScores]]:
        return iter(self.systems)


def merge_scores(shards: Sequence[Shard], done: Iterable[ShardResult], job: Job) -> ScoredShards:
    """Add up the results of all shards, in whatever order they are given.

    Raises:
        FormatError: with the problems of all shards; a document id in two shards; entries that are damaged.
    """
    by_name = {result.shard: result for result in done}
    rows = [by_name[shard.name] for shard in shards]
    problems = [problem for row in rows for problem in row.problems]
    if problems:
        raise FormatError(dict.fromkeys(problems))
    store = CountsStore(job.work)
    systems = list(shards[0].systems)
    keys = {system: tuple(row.systems[system].key for row in rows) for system in systems}
    first = keys[systems[0]]
    problems = list(_repeated(store, [(shard.gold.path, key) for shard, key in zip(shards, first, strict=True)]))
    if problems:
        raise FormatError(problems)
    gold = _digest("layer", store, first, "gold")
    digests = {system: _digest("layer", store, keys[system], "pred") for system in systems}
    tallies = {system: sum_tallies(row.systems[system].tally for row in rows) for system in systems}
    return whole_of_tallies(job.settings, tallies, store=store, keys=keys, gold=gold, digests=digests)


def whole_of_tallies(
    settings: Settings,
    tallies: Mapping[str, Tally],
    *,
    store: CountsStore,
    keys: Mapping[str, tuple[str, ...]],
    gold: str,
    digests: Mapping[str, str],
) -> ScoredShards:
    """Return the scores from the tallies of all systems and the digests of gold and of each system."""
    first = next(iter(tallies.values()))
    documents, spans = range(first.documents), range(first.gold_spans)
    extras = range(first.cores), range(first.alternatives)
    side = MergedSide("gold", gold, spans, documents, first.gold_types, *extras)
    computed = tuple(criterion.name for criterion in settings.criteria)
    return ScoredShards(
        side,
        tuple(
            (
                MergedSide(system, digests[system], range(tally.pred_spans), documents, tally.pred_types),
                MergedScores(settings, computed, tally, store, keys[system], gold, digests[system]),
            )
            for system, tally in tallies.items()
        ),
    )


def convention_outcomes(result: ScoredShards, name: str, options: Mapping[str, Any]) -> list[tuple[str, Outcome]]:
    """Return the outcomes of a convention over all shards, with the name of each system.

    Raises:
        FormatError: data that the convention does not accept.
    """
    convention = find_convention(name)
    check_by_shards(convention, options)
    outcomes: list[tuple[str, Outcome]] = []
    problems: list[Problem] = []
    for side, scores in result:
        try:
            outcome = convention.of_counts(_counts(result.gold, side, scores), options)
            outcomes.append((side.name, replace(outcome, marks=scores.marks)))
        except FormatError as error:
            problems += error.problems
    if problems:
        raise FormatError(problems)
    return outcomes


def _digest(kind: str, store: CountsStore, keys: Sequence[str], column: str) -> str:
    """Return the digest of the whole from the hashes of all documents, 32 bytes each."""
    return combined(kind, np.concatenate([store.column(key, column) for key in keys]))


def _repeated(store: CountsStore, shards: Sequence[tuple[str, str]]) -> Iterator[Problem]:
    """Yield a problem for each document id in two shards, which are given as path and key of an entry."""
    hashes = [store.column(key, "id_hashes") for _, key in shards]
    values, counts = np.unique(np.concatenate(hashes), return_counts=True)
    doubled = values[counts > 1]
    if not len(doubled):
        return
    path_of_document: dict[str, str] = {}
    for (path, key), own in zip(shards, hashes, strict=True):
        rows = np.flatnonzero(np.isin(own, doubled)).tolist()
        ids = ids_of(store.columns(key, "ids", "id_ends")) if rows else []
        for document in (ids[row] for row in rows):
            if document in path_of_document:
                finding = f"document id {quoted(document)} stands in {path_of_document[document]} already"
                yield Problem(path, None, finding, "give each document its own id")
            path_of_document.setdefault(document, path)


def _averages(means: Means) -> dict[str, Average]:
    return {ratio: mean.average for ratio, mean in zip(RATIOS, means, strict=True)}


def _counts(gold: MergedSide, pred: MergedSide, scores: MergedScores) -> CountTables:
    tables = scores.tally.published
    spans = tables.get(SPANS, {})

    def content(key: str, side: MergedSide) -> SideContent:
        return SideContent(scores.documents, spans.get(key, (0,))[0], lambda: side.digest)

    return CountTables(tables, content("gold", gold), content("pred", pred), pred.name)
