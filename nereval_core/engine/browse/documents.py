"""The documents of a scored folder as sequences: each id and text is read when it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import overload

from nereval_core.corpus.texts import Texts
from nereval_core.engine.browse.folder import Records


@dataclass(frozen=True, eq=False)
class _Column(Sequence[str]):
    """A column of all documents, which `texts` takes from a shard."""

    records: Records
    texts: Callable[[int], Texts]

    def __len__(self) -> int:
        return len(self.records.index)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[str]: ...
    def __getitem__(self, index: int | slice) -> str | Sequence[str]:
        if isinstance(index, slice):
            return tuple(self[number] for number in range(*index.indices(len(self))))
        if not 0 <= index < len(self):
            raise IndexError(index)
        shard = self.records.index.shard(index)
        return self.texts(shard)[index - int(self.records.index.first[shard])]


@dataclass(frozen=True, eq=False)
class _Numbers(Mapping[str, int]):
    """The number of each document by its id."""

    records: Records
    ids: Sequence[str]

    def __len__(self) -> int:
        return len(self.records.index)

    def __iter__(self) -> Iterator[str]:
        return iter(self.ids)

    def __getitem__(self, name: str) -> int:
        for number in self.records.index.candidates(name):
            if self.ids[number] == name:
                return number
        raise KeyError(name)

    def __contains__(self, name: object) -> bool:
        try:
            return isinstance(name, str) and self[name] >= 0
        except KeyError:
            return False


@dataclass(frozen=True, eq=False)
class FolderDocuments:
    """What lists and pages ask of `corpus.Documents`."""

    records: Records

    def __len__(self) -> int:
        return len(self.records.index)

    @property
    def ids(self) -> Sequence[str]:
        return _Column(self.records, lambda shard: self.records.shard(shard).documents.ids)

    @property
    def texts(self) -> Sequence[str]:
        return _Column(self.records, lambda shard: self.records.shard(shard).documents.texts)

    @property
    def index(self) -> Mapping[str, int]:
        return _Numbers(self.records, self.ids)


__all__: Sequence[str] = ("FolderDocuments",)
