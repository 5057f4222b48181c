"""Concept indexing: which concept ids belong to a document, whatever mentions they stand for.

A document has a set of ids: how often or where an id is mentioned does not count (as in sub-track 2 of PharmaCoNER).
Documents that stand on one side only count too: what gold has there is missing, what the prediction has is spurious.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from nereval_core import __version__
from nereval_core.analysis.linking import Truth, relaxed_in_words
from nereval_core.analysis.linking.mentions import NIL, ranked
from nereval_core.analysis.ratios import Ratios
from nereval_core.corpus import Layer
from nereval_core.readers.concepts import Index
from nereval_core.scoring import Average

if TYPE_CHECKING:
    import pandas as pd

INDEX_DECISIONS = ("right", "missing", "spurious")
INDEX_RECORD_COLUMNS: Mapping[str, str] = {
    "document": "category",
    "id": "category",
    "decision": "category",
    "reason": "category",
}
"""Columns of `index_records` and their dtypes: one row a document and id on either side."""


@dataclass(frozen=True, slots=True)
class SetCounts(Ratios):
    """How many ids were right, missing from the prediction, spurious. Ratios are None where undefined."""

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
    """A prediction's sets against gold's, both as the mapping has them."""

    gold: Mapping[str, frozenset[str]]
    pred: Mapping[str, frozenset[str]]

    @cached_property
    def by_document(self) -> dict[str, SetCounts]:
        """Counts by document: gold's in their order, then those of the prediction only."""
        return {name: _counts(self._sets(name)) for name in dict.fromkeys((*self.gold, *self.pred))}

    @cached_property
    def by_id(self) -> dict[str, SetCounts]:
        """Counts over documents by id, most frequent in gold first."""
        found: dict[str, Counter[str]] = {name: Counter() for name in INDEX_DECISIONS}
        for document in self.by_document:
            gold, pred = self._sets(document)
            for name, some in (("right", gold & pred), ("missing", gold - pred), ("spurious", pred - gold)):
                found[name].update(some)
        every = {one for counter in found.values() for one in counter}
        rows = {one: SetCounts(*(found[name][one] for name in INDEX_DECISIONS)) for one in every}
        return dict(sorted(rows.items(), key=lambda item: (-item[1].gold, -item[1].predicted, item[0])))

    @cached_property
    def counts(self) -> SetCounts:
        """Counts of all documents together (micro)."""
        return sum(self.by_document.values(), SetCounts())

    def macro_documents(self) -> dict[str, Average]:
        """Average over documents; where a ratio is undefined the document is left out of its mean."""
        return _averages(self.by_document)

    def macro_ids(self) -> dict[str, Average]:
        """Average over ids."""
        return _averages(self.by_id)

    @property
    def only_gold(self) -> tuple[str, ...]:
        """Documents that the prediction does not have: all their ids are missing."""
        return tuple(name for name in self.gold if name not in self.pred)

    @property
    def only_pred(self) -> tuple[str, ...]:
        """Documents without gold: all their ids are spurious."""
        return tuple(name for name in self.pred if name not in self.gold)

    @property
    def ids_without_gold(self) -> tuple[str, ...]:
        """Predicted ids that gold has in no document."""
        return tuple(one for one, counts in self.by_id.items() if not counts.gold)

    @property
    def wrong_documents(self) -> tuple[str, ...]:
        """Documents with a missing or a spurious id."""
        return tuple(name for name, counts in self.by_document.items() if counts.missing or counts.spurious)

    def _sets(self, document: str) -> tuple[frozenset[str], frozenset[str]]:
        nothing: frozenset[str] = frozenset()
        return self.gold.get(document, nothing), self.pred.get(document, nothing)


def index_of(layer: Layer, *, links: Truth = "first") -> Index:
    """Return the ids of each document that a layer's links name: the first of each mention, or any.

    NIL names no entry and is no id of a document; documents without links have the empty set.
    """
    documents: list[set[str]] = [set() for _ in layer.documents.ids]
    nil = 0
    for span, given in layer.links.items():
        ids = [one for one in (ranked(given) if links == "any" else ranked(given)[:1]) if one != NIL]
        nil += not ids
        documents[int(layer.doc[span])].update(ids)
    notes = (f"mentions linked to {NIL}, no id of their document: {nil}",) if nil else ()
    sets = {name: frozenset(ids) for name, ids in zip(layer.documents.ids, documents, strict=True)}
    return Index(layer.name, sets, notes)


def score_index(gold: Index, pred: Index, *, relaxed: Mapping[str, str] | None = None) -> IndexScores:
    """Score sets of ids by document; `relaxed` says which id counts as which other one."""
    return IndexScores(*(_relaxed(side.documents, relaxed or {}) for side in (gold, pred)))


def index_records(scores: IndexScores) -> pd.DataFrame:
    """Return a row for each document and id on either side, with the columns of INDEX_RECORD_COLUMNS."""
    import pandas as pd

    lost, extra, unknown = set(scores.only_gold), set(scores.only_pred), set(scores.ids_without_gold)
    rows = []
    for document in scores.by_document:
        gold, pred = scores.gold.get(document, frozenset()), scores.pred.get(document, frozenset())
        for one in sorted(gold | pred):
            if one in gold and one in pred:
                rows.append((document, one, "right", ""))
            elif one in gold:
                reason = "the document is missing from the prediction" if document in lost else ""
                rows.append((document, one, "missing", reason))
            elif document in extra:
                rows.append((document, one, "spurious", "the document is not in gold"))
            else:
                rows.append((document, one, "spurious", "gold has the id in no document" if one in unknown else ""))
    return pd.DataFrame(rows, columns=list(INDEX_RECORD_COLUMNS), dtype="str").astype(dict(INDEX_RECORD_COLUMNS))


def index_signature(gold: Index, pred: Index, relaxed: Mapping[str, str]) -> str:
    """Return the line that lets another person reproduce the figures."""
    parts = (
        f"nereval {__version__}",
        "concept indexing",
        relaxed_in_words(relaxed),
        f"gold sha256:{gold.digest[:16]}",
        f"pred sha256:{pred.digest[:16]}",
        f"documents {len({*gold.documents, *pred.documents})}",
    )
    return " | ".join(parts)


def _counts(sets: tuple[frozenset[str], frozenset[str]]) -> SetCounts:
    gold, pred = sets
    right = len(gold & pred)
    return SetCounts(right, len(gold) - right, len(pred) - right)


def _averages(rows: Mapping[str, SetCounts]) -> dict[str, Average]:
    return {
        ratio: Average.of(getattr(counts, ratio) for counts in rows.values()) for ratio in ("precision", "recall", "f1")
    }


def _relaxed(documents: Mapping[str, frozenset[str]], relaxed: Mapping[str, str]) -> Mapping[str, frozenset[str]]:
    if not relaxed:
        return documents
    return {name: frozenset(relaxed.get(one, one) for one in ids) for name, ids in documents.items()}
