"""What nervaluate's Evaluator takes and gives: entities, loaded from dicts, tags or CoNLL, results and indices."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from nereval_core.conventions.shares import precision_recall_f1

Index = tuple[int, int]
"""A document and an entity in it, from 0."""


@dataclass(unsafe_hash=True)
class Entity:
    """An entity; `end` is inclusive."""

    label: str
    start: int
    end: int


@dataclass
class EvaluationResult:
    """The counts and ratios of a strategy, overall or for one type."""

    correct: int = 0
    incorrect: int = 0
    partial: int = 0
    missed: int = 0
    spurious: int = 0
    precision: float = 0.0
    recall: float = 0.0
    f1: float = 0.0
    actual: int = 0
    possible: int = 0

    def compute_metrics(self, partial_or_type: bool = False) -> None:
        """Set both totals and the ratios from the counts; a partial one earns half where that is asked for."""
        matched = self.correct + self.incorrect + self.partial
        self.actual, self.possible = matched + self.spurious, matched + self.missed
        earned = self.correct + 0.5 * self.partial if partial_or_type else self.correct
        self.precision, self.recall, self.f1 = precision_recall_f1(earned, self.actual, self.possible)


@dataclass
class EvaluationIndices:
    """The entities behind the counts, among those of valid tags: gold's for missed, else predictions."""

    correct_indices: list[Index] = field(default_factory=list)
    incorrect_indices: list[Index] = field(default_factory=list)
    partial_indices: list[Index] = field(default_factory=list)
    missed_indices: list[Index] = field(default_factory=list)
    spurious_indices: list[Index] = field(default_factory=list)


def load_dicts(data: Any) -> list[list[Entity]]:
    """Return the entities of documents, each a list of dicts with label, start and (inclusive) end.

    Raises:
        ValueError: anything else.
    """
    return [[_entity(one) for one in document] for document in _documents(data, "Dict", "entity dictionaries")]


def _entity(one: Any) -> Entity:
    if not isinstance(one, dict):
        raise ValueError(f"Invalid entity type: {type(one)}")
    if not one.keys() >= {"label", "start", "end"}:
        raise ValueError("Entity missing required keys: label, start, end")
    if not isinstance(one["label"], str):
        raise ValueError("Entity label must be a string")
    if not isinstance(one["start"], int) or not isinstance(one["end"], int):
        raise ValueError("Entity start and end must be integers")
    return Entity(one["label"], one["start"], one["end"])


def load_tags(data: Any) -> list[list[Entity]]:
    """Return the entities of documents, each a list of tags; offsets are tokens.

    Raises:
        ValueError: anything else, or a tag that begins an entity with neither B- nor I-.
    """
    return [_entities(enumerate(document), len(document)) for document in _documents(data, "List", "tags")]


def load_conll(data: Any) -> list[list[Entity]]:
    """Return the entities of CoNLL text: documents between blank lines, the tag in the second column after a tab.

    Raises:
        ValueError: no text, a line without a tab, or a tag as in `load_tags`.
    """
    if not isinstance(data, str):
        raise ValueError("ConllLoader expects string input")
    if not data:
        return []
    loaded = []
    for document in data.rstrip().split("\n\n"):
        lines = document.split("\n")
        tagged = ((place, _tag(line)) for place, line in enumerate(lines) if line.strip())
        loaded.append(_entities(tagged, len(lines)))
    return loaded


def _tag(line: str) -> str:
    columns = line.split("\t")
    if len(columns) < 2:
        raise ValueError(f"Invalid CoNLL format: line '{line}' does not contain a tab separator")
    return columns[1]


def _documents(data: Any, loader: str, content: str) -> list[list[Any]]:
    if not isinstance(data, list):
        raise ValueError(f"{loader}Loader expects list input")
    if not all(isinstance(document, list) for document in data):
        raise ValueError(f"Each document must be a list of {content}")
    return data


def _entities(tagged: Iterable[tuple[int, Any]], size: int) -> list[Entity]:
    """Return the entities of places and their tags, where the last entity may end at `size`."""
    found: list[Entity] = []
    kind: str | None = None
    start = 0
    for place, tag in tagged:
        if tag == "O":
            if kind is not None:
                found.append(Entity(kind, start, place - 1))
            kind = None
            continue
        if not isinstance(tag, str):
            raise ValueError(f"Invalid tag type: {type(tag)}")
        if tag[2:] != kind or tag[0] == "B":
            if kind is not None:
                found.append(Entity(kind, start, place - 1))
            if not tag.startswith(("B-", "I-")):
                raise ValueError(f"Invalid tag format: {tag}")
            kind, start = tag[2:], place
    if kind is not None:
        found.append(Entity(kind, start, size - 1))
    return found


LOADERS: Mapping[str, Callable[[Any], list[list[Entity]]]] = MappingProxyType(
    {"conll": load_conll, "list": load_tags, "dict": load_dicts}
)
"""What reads each form of input, by the name of nervaluate's loader."""
