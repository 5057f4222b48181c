"""The Evaluator of nervaluate 1.2.1: its arguments, results, reports and errors, matched by the convention's code.

Differences: `entities` stands in the order of the names of types (nervaluate's order varies from run to run), and an
entity that ends before it starts is refused.
Source: nervaluate 1.2.1 (Batista and Upson), https://github.com/MantisAI/nervaluate.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from nereval_core.conventions.nervaluate import LoadedSide, count_sides
from nereval_core.conventions.nervaluate.figures import VERSIONS, csv_table, figures, summary
from nereval_core.conventions.nervaluate.matching import SpanUnits
from nereval_core.conventions.nervaluate.records import DECIDED, NumberedUnits, PairedSides
from nereval_core.conventions.outcome import SideContent, precision_recall_f1
from nereval_core.conventions.records import COR, INC, MIS, PAR, SPU
from nereval_core.corpus.arrays import Int64

__all__ = ("Entity", "EvaluationIndices", "EvaluationResult", "Evaluator")
VERSION = VERSIONS[0]
MODES = ("overall", "entities")
CATEGORIES = {
    COR: ("correct", "92"),
    INC: ("incorrect", "91"),
    PAR: ("partial", "93"),
    MIS: ("missed", "95"),
    SPU: ("spurious", "94"),
}
"""The name of each decision's field, without `_indices`, and its colour on a terminal."""
WIDTHS = (20, 10, 8, 25)
Numbers = tuple[str, int, int, int]
"""Type and document of an entity, its number there and its number among those of its type there."""

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
    return [[_entity(entity) for entity in document] for document in _documents(data, "Dict", "entity dictionaries")]


def _entity(fields: Any) -> Entity:
    if not isinstance(fields, dict):
        raise ValueError(f"Invalid entity type: {type(fields)}")
    if not fields.keys() >= {"label", "start", "end"}:
        raise ValueError("Entity missing required keys: label, start, end")
    if not isinstance(fields["label"], str):
        raise ValueError("Entity label must be a string")
    if not isinstance(fields["start"], int) or not isinstance(fields["end"], int):
        raise ValueError("Entity start and end must be integers")
    return Entity(fields["label"], fields["start"], fields["end"])


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
    entities: list[Entity] = []
    kind: str | None = None
    start = 0
    for place, tag in tagged:
        if tag == "O":
            if kind is not None:
                entities.append(Entity(kind, start, place - 1))
            kind = None
            continue
        if not isinstance(tag, str):
            raise ValueError(f"Invalid tag type: {type(tag)}")
        if tag[2:] != kind or tag[0] == "B":
            if kind is not None:
                entities.append(Entity(kind, start, place - 1))
            if not tag.startswith(("B-", "I-")):
                raise ValueError(f"Invalid tag format: {tag}")
            kind, start = tag[2:], place
    if kind is not None:
        entities.append(Entity(kind, start, size - 1))
    return entities


LOADERS: Mapping[str, Callable[[Any], list[list[Entity]]]] = MappingProxyType(
    {"conll": load_conll, "list": load_tags, "dict": load_dicts}
)
"""What reads each form of input, by the name of nervaluate's loader."""


class Evaluator:
    """Evaluate predictions: lists of tags, lists of dicts (ends inclusive), or CoNLL text.

    `tags` are the types that are scored. `true` and `pred` are then lists of entities by document.

    Raises:
        ValueError: an unknown loader or form, sides of different lengths, a percentage outside 1 to 100, bad entities.
    """

    def __init__(
        self, true: Any, pred: Any, tags: Sequence[str], loader: str = "default", min_overlap_percentage: float = 1.0
    ) -> None:
        name = _loader_of(true) if loader == "default" else loader
        if name not in LOADERS:
            raise ValueError(f"Unknown loader: {name}")
        if name == "list":
            _check_lengths(true, pred)
        self.tags = tags
        self.min_overlap_percentage = min_overlap_percentage
        self.true, self.pred = LOADERS[name](true), LOADERS[name](pred)
        if len(self.true) != len(self.pred):
            raise ValueError("Number of predicted documents does not equal true")
        if not 1.0 <= min_overlap_percentage <= 100.0:
            raise ValueError("min_overlap_percentage must be between 1.0 and 100.0")

    def evaluate(self) -> dict[str, Any]:
        """Return results and indices of each strategy: overall, and by type, where each type is scored alone."""
        scores, matching = self._counted()
        if not self.true:
            return {"overall": {}, "entities": {}, "overall_indices": {}, "entity_indices": {}}
        kinds = list(scores["entities"])
        gold, pred = map(_numbered, self._tagged())
        indices = {schema: _indices(matching, gold, pred, schema) for schema in VERSION.schemas}
        return {
            "overall": {schema: EvaluationResult(**row) for schema, row in scores["overall"].items()},
            "entities": {
                kind: {schema: EvaluationResult(**row) for schema, row in rows.items()}
                for kind, rows in scores["entities"].items()
            },
            "overall_indices": {schema: by_kind[None] for schema, by_kind in indices.items()},
            "entity_indices": {kind: {schema: indices[schema][kind] for schema in indices} for kind in kinds},
        }

    def results_to_csv(
        self, mode: str = "overall", scenario: str = "strict", file_path: str | None = None
    ) -> str | None:
        """Return the results as CSV, or write them: strategies overall, or types under one scenario.

        Raises:
            ValueError: an unknown mode or scenario.
        """
        rows = self._rows(mode, scenario)
        text = csv_table("Strategy" if mode == "overall" else "Entity", rows)
        if not file_path:
            return text
        Path(file_path).write_text(text, encoding="utf-8", newline="")
        return None

    def summary_report(self, mode: str = "overall", scenario: str = "strict", digits: int = 2) -> str:
        """Return a table of strategies overall, or of types under one scenario.

        Raises:
            ValueError: an unknown mode or scenario.
        """
        rows = self._rows(mode, scenario)
        return summary(dict(sorted(rows.items())), "all" if mode == "overall" else scenario, digits)

    def summary_report_indices(self, mode: str = "overall", scenario: str = "strict", colors: bool = False) -> str:
        """Return tables of the entities behind the counts, with nervaluate's columns.

        Raises:
            ValueError: an unknown mode or scenario.
            IndexError: a gold entity is missed whose number no prediction of its document has, as in nervaluate.
        """
        _check_names(mode, scenario)
        results = self.evaluate()

        def painted(text: str, colour: str) -> str:
            return f"\033[{colour}m{text}\033[0m" if colors else text

        heading = painted(_row(WIDTHS, "Category", "Instance", "Entity", "Details"), "1")
        heading += f"\n{painted('-' * 78, '97')}\n"
        if mode == "overall":
            title = f"\n{painted('Indices for error schema', '1')} '{painted(scenario, '96')}':\n\n"
            return title + heading + "".join(self._lines(results["overall_indices"][scenario], painted))
        report = ""
        for kind, by_schema in results["entity_indices"].items():
            report += f"\n{painted('Entity Type', '1')}: {painted(kind, '96')}\n"
            report += f"{painted('Error Schema', '1')}: '{painted(scenario, '96')}'\n\n{heading}"
            report += "".join(self._lines(by_schema[scenario], painted))
        return report

    def _lines(self, indices: EvaluationIndices, painted: Any) -> Iterator[str]:
        for name, colour in CATEGORIES.values():
            category = painted(name.capitalize(), colour)
            entities = getattr(indices, f"{name}_indices")
            for document, number in entities:
                details = "No prediction info"
                if self.pred != [[]]:
                    entity = self.pred[document][number]
                    details = f"Label={entity.label}, Start={entity.start}, End={entity.end}"
                yield _row((20, 10, 8, 10), category, str(document), str(number), details) + "\n"
            if not entities:
                yield _row((20, 10, 8, 10), category, "-", "-", "None") + "\n"

    def _rows(self, mode: str, scenario: str) -> dict[str, dict[str, Any]]:
        _check_names(mode, scenario)
        scores, _ = self._counted()
        if not self.true:
            return {}
        if mode == "overall":
            return dict(scores["overall"])
        return {kind: rows[scenario] for kind, rows in scores["entities"].items()}

    def _counted(self) -> tuple[dict[str, Any], PairedSides]:
        sides = [_side(documents) for documents in self._tagged()]
        low = min(int(start.min(initial=0)) for _, start, *_ in sides)
        width = max(int(end.max(initial=0)) for _, _, end, *_ in sides) - low
        loaded = []
        for doc, start, end, kind, types in sides:
            # Documents lie one behind the other.
            first, last = (column - low + doc * width for column in (start, end))
            order = np.lexsort((kind, last, first))
            units = SpanUnits(first[order], last[order], kind[order], order)
            loaded.append(LoadedSide(units, types, _no_records, SideContent(len(self.true), len(order), str)))
        options = {"tags": None, "min_overlap_percentage": self.min_overlap_percentage}
        counts, matching = count_sides(loaded[0], loaded[1], len(self.true), options, VERSION)
        return dict(figures(counts, options, version=VERSION).scores), matching

    def _tagged(self) -> Iterator[list[list[Entity]]]:
        """Yield the entities of each side that have one of the tags."""
        for side in (self.true, self.pred):
            yield [[entity for entity in document if entity.label in self.tags] for document in side]


def _indices(
    matching: PairedSides, gold: list[Numbers], pred: list[Numbers], schema: str
) -> dict[str | None, EvaluationIndices]:
    """Return the entities behind the counts of a strategy: by type, where each is alone, and overall at None."""
    by_type: defaultdict[str | None, EvaluationIndices] = defaultdict(EvaluationIndices)
    names = {decision: f"{name}_indices" for decision, (name, _) in CATEGORIES.items()}
    for typed in (False, True):
        pairs = matching.pairs(schema, typed)
        decided = np.full(len(pred), SPU)
        decided[matching.pred.order[pairs.pred]] = np.array(DECIDED[schema])[pairs.code]
        missed = np.ones(len(gold), bool)
        missed[matching.gold.order[pairs.gold]] = False
        missed_entities = [entity for entity, alone in zip(gold, missed.tolist(), strict=True) if alone]
        for side, decisions in ((pred, decided.tolist()), (missed_entities, [MIS] * len(missed_entities))):
            for (kind, document, *numbers), decision in zip(side, decisions, strict=True):
                getattr(by_type[kind if typed else None], names[decision]).append((document, numbers[typed]))
    return by_type


def _side(documents: list[list[Entity]]) -> tuple[Int64, Int64, Int64, Int64, tuple[str, ...]]:
    """Return document, start, end (exclusive) and type of each entity, and the names of the types, sorted.

    Raises:
        ValueError: an entity that ends before it starts.
    """
    entities = list(chain.from_iterable(documents))
    start, end = (np.array([getattr(entity, name) for entity in entities], np.int64) for name in ("start", "end"))
    if (end < start).any():
        raise ValueError(f"Entity ends before it starts: {entities[int(np.flatnonzero(end < start)[0])]}")
    types = tuple(sorted({entity.label for entity in entities}))
    code = {name: place for place, name in enumerate(types)}
    kind = np.array([code[entity.label] for entity in entities], np.int64)
    doc = np.repeat(np.arange(len(documents)), [len(document) for document in documents])
    return doc, start, end + 1, kind, types


def _numbered(documents: list[list[Entity]]) -> list[Numbers]:
    """Return type and document of each entity, its number there and its number among those of its type there."""
    numbered = []
    for place, document in enumerate(documents):
        of_type: Counter[str] = Counter()
        for number, entity in enumerate(document):
            numbered.append((entity.label, place, number, of_type[entity.label]))
            of_type[entity.label] += 1
    return numbered


def _no_records() -> NumberedUnits:
    raise AssertionError("the Evaluator makes no records")


def _loader_of(true: Any) -> str:
    """Return the loader for a form of input.

    Raises:
        ValueError: no form is recognised.
    """
    if isinstance(true, str):
        return "conll"
    if isinstance(true, list) and true and isinstance(true[0], list):
        return "dict" if isinstance(true[0][0], dict) else "list"
    raise ValueError("Could not infer loader from input type")


def _check_lengths(true: Any, pred: Any) -> None:
    if len(true) != len(pred):
        raise ValueError("Number of predicted documents does not equal true")
    for place, (true_tags, pred_tags) in enumerate(zip(true, pred, strict=True)):
        if len(true_tags) != len(pred_tags):
            raise ValueError(f"Document {place} has different lengths: true={len(true_tags)}, pred={len(pred_tags)}")


def _check_names(mode: str, scenario: str) -> None:
    if mode not in MODES:
        raise ValueError(f"Invalid mode: must be one of {MODES}")
    if mode == "entities" and scenario not in DECIDED:
        raise ValueError(f"Invalid scenario: must be one of {tuple(DECIDED)}")


def _row(widths: Sequence[int], *cells: str) -> str:
    return " ".join(f"{cell:<{width}}" for cell, width in zip(cells, widths, strict=True))
