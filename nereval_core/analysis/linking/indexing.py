"""Concept indexing: scores of the sets of concept ids of documents, regardless of mentions.

The number and place of an id's mentions do not count (as in sub-track 2 of PharmaCoNER). Documents on one side only
count too: gold's ids are missing there, the prediction's are spurious.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import pandas as pd

from nereval_core import __version__
from nereval_core.analysis.linking import Ratios, Truth, relaxed_in_words
from nereval_core.analysis.linking.mentions import NIL, ranked_ids
from nereval_core.corpus import Layer
from nereval_core.readers.shared.concepts import Index
from nereval_core.scoring.averages import Average
from nereval_core.scoring.count_tables import TEXT_DTYPE, Columns

INDEX_DECISIONS = ("right", "missing", "spurious")
INDEX_RECORD_COLUMNS: Columns = dict.fromkeys(("document", "id", "decision", "reason"), "category")
"""Columns of `index_records` and their dtypes: a row for each document and id on either side."""


@dataclass(frozen=True, slots=True)
class SetCounts(Ratios):
    """The numbers of ids that are right, missing from the prediction, and spurious."""

    right: int = 0
    missing: int = 0
    spurious: int = 0

    def __add__(self, other: SetCounts) -> SetCounts:
        return SetCounts(self.right + other.right, self.missing + other.missing, self.spurious + other.spurious)

    @property
    def gold(self) -> int:
        return self.right + self.missing

    @property
    def predicted(self) -> int:
        return self.right + self.spurious


@dataclass(frozen=True, eq=False)
class IndexScores:
    """The sets of ids of gold and of a prediction by document, after mapping."""

    gold: Mapping[str, frozenset[str]]
    pred: Mapping[str, frozenset[str]]

    def __repr__(self) -> str:
        return f"<ids of {len(self.by_document):,} documents: {self.counts}>"

    @cached_property
    def by_document(self) -> dict[str, SetCounts]:
        """Counts by document: gold's documents in their order, then those of the prediction only."""
        return {name: _set_counts(self._ids_of(name)) for name in dict.fromkeys((*self.gold, *self.pred))}

    @cached_property
    def by_id(self) -> dict[str, SetCounts]:
        """Counts over documents by id, most frequent in gold first."""
        counters: dict[str, Counter[str]] = {name: Counter() for name in INDEX_DECISIONS}
        for document in self.by_document:
            gold, pred = self._ids_of(document)
            for name, ids in (("right", gold & pred), ("missing", gold - pred), ("spurious", pred - gold)):
                counters[name].update(ids)
        all_ids = {concept for counter in counters.values() for concept in counter}
        rows = {concept: SetCounts(*(counters[name][concept] for name in INDEX_DECISIONS)) for concept in all_ids}
        return dict(sorted(rows.items(), key=lambda item: (-item[1].gold, -item[1].predicted, item[0])))

    @cached_property
    def counts(self) -> SetCounts:
        """Counts of all documents together (micro)."""
        return sum(self.by_document.values(), SetCounts())

    def macro_documents(self) -> dict[str, Average]:
        """Return averages over documents, each without documents where the ratio is undefined."""
        return _macro_averages(self.by_document)

    def macro_ids(self) -> dict[str, Average]:
        """Return averages over ids, each without ids where the ratio is undefined."""
        return _macro_averages(self.by_id)

    @property
    def only_gold(self) -> tuple[str, ...]:
        """Documents missing from the prediction: all their ids are missing."""
        return tuple(name for name in self.gold if name not in self.pred)

    @property
    def only_pred(self) -> tuple[str, ...]:
        """Documents without gold: all their ids are spurious."""
        return tuple(name for name in self.pred if name not in self.gold)

    @property
    def ids_without_gold(self) -> tuple[str, ...]:
        """Predicted ids that are in no document of gold."""
        return tuple(concept for concept, counts in self.by_id.items() if not counts.gold)

    @property
    def wrong_documents(self) -> tuple[str, ...]:
        """Documents with a missing or a spurious id."""
        return tuple(name for name, counts in self.by_document.items() if counts.missing or counts.spurious)

    def _ids_of(self, document: str) -> tuple[frozenset[str], frozenset[str]]:
        nothing: frozenset[str] = frozenset()
        return self.gold.get(document, nothing), self.pred.get(document, nothing)


def index_layer(layer: Layer, *, links: Truth = "first") -> Index:
    """Return the ids of each document from a layer's links: the first of each mention, or all.

    NIL is not an id of a document; documents without links have the empty set.
    """
    documents: list[set[str]] = [set() for _ in layer.documents.ids]
    nil = 0
    for span, ranking in layer.links.items():
        ids = [
            concept
            for concept in (ranked_ids(ranking) if links == "any" else ranked_ids(ranking)[:1])
            if concept != NIL
        ]
        nil += not ids
        documents[int(layer.doc[span])].update(ids)
    notes = (f"mentions linked to {NIL}, no id of their document: {nil}",) if nil else ()
    sets = {name: frozenset(ids) for name, ids in zip(layer.documents.ids, documents, strict=True)}
    return Index(layer.name, sets, notes)


def score_index(gold: Index, pred: Index, *, relaxed: Mapping[str, str] | None = None) -> IndexScores:
    """Score sets of ids by document; `relaxed` maps ids to the ids they count as."""
    return IndexScores(*(_relax_ids(side.documents, relaxed or {}) for side in (gold, pred)))


def index_records(scores: IndexScores) -> pd.DataFrame:
    """Return a row for each document and id on either side: INDEX_RECORD_COLUMNS."""
    lost, extra, unknown = set(scores.only_gold), set(scores.only_pred), set(scores.ids_without_gold)
    rows = []
    for document in scores.by_document:
        gold, pred = scores.gold.get(document, frozenset()), scores.pred.get(document, frozenset())
        for concept in sorted(gold | pred):
            if concept in gold and concept in pred:
                rows.append((document, concept, "right", ""))
            elif concept in gold:
                reason = "the document is missing from the prediction" if document in lost else ""
                rows.append((document, concept, "missing", reason))
            elif document in extra:
                rows.append((document, concept, "spurious", "the document is not in gold"))
            else:
                rows.append(
                    (document, concept, "spurious", "gold has the id in no document" if concept in unknown else "")
                )
    return pd.DataFrame(rows, columns=list(INDEX_RECORD_COLUMNS), dtype=TEXT_DTYPE).astype(dict(INDEX_RECORD_COLUMNS))


def index_signature(gold: Index, pred: Index, relaxed: Mapping[str, str]) -> str:
    """Return the line that reproduces the figures."""
    parts = (
        f"nereval {__version__}",
        "concept indexing",
        relaxed_in_words(relaxed),
        f"gold sha256:{gold.digest[:16]}",
        f"pred sha256:{pred.digest[:16]}",
        f"documents {len({*gold.documents, *pred.documents})}",
    )
    return " | ".join(parts)


def _set_counts(sets: tuple[frozenset[str], frozenset[str]]) -> SetCounts:
    gold, pred = sets
    right = len(gold & pred)
    return SetCounts(right, len(gold) - right, len(pred) - right)


def _macro_averages(rows: Mapping[str, SetCounts]) -> dict[str, Average]:
    return {
        ratio: Average.of(getattr(counts, ratio) for counts in rows.values()) for ratio in ("precision", "recall", "f1")
    }


def _relax_ids(documents: Mapping[str, frozenset[str]], relaxed: Mapping[str, str]) -> Mapping[str, frozenset[str]]:
    if not relaxed:
        return documents
    return {name: frozenset(relaxed.get(concept, concept) for concept in ids) for name, ids in documents.items()}
