"""Protocols of layers and scores that reports take: of this process, or merged from many shards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Sized
from typing import Protocol

from nereval_core.corpus import Unit
from nereval_core.pairing import NamedLayer
from nereval_core.scoring import Counts, Settings
from nereval_core.scoring.averages import Average
from nereval_core.scoring.counts import DocumentCounts
from nereval_core.scoring.criteria import Criterion


class LayerSummary(NamedLayer, Protocol):
    """A layer as it was read, with its documents."""

    @property
    def documents(self) -> Sized: ...


class CountedScores(Protocol):
    """The counts of one system under some criteria: `Scores` explains the members."""

    @property
    def settings(self) -> Settings: ...

    @property
    def marks(self) -> tuple[str, ...]: ...

    @property
    def read_gold(self) -> str: ...

    @property
    def read_pred(self) -> str: ...

    @property
    def criteria(self) -> tuple[Criterion, ...]: ...

    @property
    def documents(self) -> int: ...

    @property
    def unit(self) -> Unit: ...

    @property
    def greedy(self) -> tuple[str, ...]: ...

    def criterion(self, name: str) -> Criterion: ...

    def counts(self, name: str) -> Counts: ...

    def by_type(self, name: str) -> Mapping[str, Counts]: ...

    def by_document(self, name: str) -> DocumentCounts: ...

    def macro_types(self, name: str) -> Mapping[str, Average]: ...

    def macro_documents(self, name: str) -> Mapping[str, Average]: ...

    def macro_documents_by_type(self, name: str) -> Mapping[str, Mapping[str, Average]]: ...

    def data_in_words(self, name: str) -> tuple[str, ...]: ...


SystemScores = Sequence[tuple[LayerSummary, CountedScores]]
"""The layer of each system as it was read, and its scores."""
