"""The Evaluator of nervaluate 1.2.1: its arguments, results, reports and errors, matched by the convention's code.

Differences: `entities` stands in the order of the names of types (nervaluate's order varies from run to run), and an
entity that ends before it starts is refused.
Source: nervaluate 1.2.1 (Batista and Upson), https://github.com/MantisAI/nervaluate.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from nereval_core.arrays import Int64
from nereval_core.compat.nervaluate.entities import LOADERS, Entity, EvaluationIndices, EvaluationResult
from nereval_core.conventions.nervaluate import LoadedSide, count_sides
from nereval_core.conventions.nervaluate.figures import VERSIONS, csv_table, of_share, summary
from nereval_core.conventions.nervaluate.matching import SpanUnits
from nereval_core.conventions.nervaluate.records import DECIDED, Matching, Numbered
from nereval_core.conventions.outcome import COR, INC, MIS, PAR, SPU, Content

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
            "overall_indices": {schema: found[None] for schema, found in indices.items()},
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
        for kind, found in results["entity_indices"].items():
            report += f"\n{painted('Entity Type', '1')}: {painted(kind, '96')}\n"
            report += f"{painted('Error Schema', '1')}: '{painted(scenario, '96')}'\n\n{heading}"
            report += "".join(self._lines(found[scenario], painted))
        return report

    def _lines(self, indices: EvaluationIndices, painted: Any) -> Iterator[str]:
        for name, colour in CATEGORIES.values():
            category = painted(name.capitalize(), colour)
            found = getattr(indices, f"{name}_indices")
            for document, number in found:
                details = "No prediction info"
                if self.pred != [[]]:
                    one = self.pred[document][number]
                    details = f"Label={one.label}, Start={one.start}, End={one.end}"
                yield _row((20, 10, 8, 10), category, str(document), str(number), details) + "\n"
            if not found:
                yield _row((20, 10, 8, 10), category, "-", "-", "None") + "\n"

    def _rows(self, mode: str, scenario: str) -> dict[str, dict[str, Any]]:
        _check_names(mode, scenario)
        scores, _ = self._counted()
        if not self.true:
            return {}
        if mode == "overall":
            return dict(scores["overall"])
        return {kind: rows[scenario] for kind, rows in scores["entities"].items()}

    def _counted(self) -> tuple[dict[str, Any], Matching]:
        sides = [_side(documents) for documents in self._tagged()]
        low = min(int(start.min(initial=0)) for _, start, *_ in sides)
        width = max(int(end.max(initial=0)) for _, _, end, *_ in sides) - low
        loaded = []
        for doc, start, end, kind, types in sides:
            # Documents lie one behind the other.
            first, last = (column - low + doc * width for column in (start, end))
            order = np.lexsort((kind, last, first))
            units = SpanUnits(first[order], last[order], kind[order], order)
            loaded.append(LoadedSide(units, types, _no_records, Content(len(self.true), len(order), str)))
        options = {"tags": None, "min_overlap_percentage": self.min_overlap_percentage}
        share, matching = count_sides(loaded[0], loaded[1], len(self.true), options, VERSION)
        return dict(of_share(share, options, version=VERSION).scores), matching

    def _tagged(self) -> Iterator[list[list[Entity]]]:
        """Yield the entities of each side that have one of the tags."""
        for side in (self.true, self.pred):
            yield [[one for one in document if one.label in self.tags] for document in side]


def _indices(
    matching: Matching, gold: list[Numbers], pred: list[Numbers], schema: str
) -> dict[str | None, EvaluationIndices]:
    """Return the entities behind the counts of a strategy: by type, where each is alone, and overall at None."""
    found: defaultdict[str | None, EvaluationIndices] = defaultdict(EvaluationIndices)
    names = {decision: f"{name}_indices" for decision, (name, _) in CATEGORIES.items()}
    for typed in (False, True):
        pairs = matching.pairs(schema, typed)
        decided = np.full(len(pred), SPU)
        decided[matching.pred.order[pairs.pred]] = np.array(DECIDED[schema])[pairs.code]
        missed = np.ones(len(gold), bool)
        missed[matching.gold.order[pairs.gold]] = False
        left = [entity for entity, alone in zip(gold, missed.tolist(), strict=True) if alone]
        for side, decisions in ((pred, decided.tolist()), (left, [MIS] * len(left))):
            for (kind, document, *numbers), decision in zip(side, decisions, strict=True):
                getattr(found[kind if typed else None], names[decision]).append((document, numbers[typed]))
    return found


def _side(documents: list[list[Entity]]) -> tuple[Int64, Int64, Int64, Int64, tuple[str, ...]]:
    """Return document, start, end (exclusive) and type of each entity, and the names of the types, sorted.

    Raises:
        ValueError: an entity that ends before it starts.
    """
    entities = list(chain.from_iterable(documents))
    start, end = (np.array([getattr(one, name) for one in entities], np.int64) for name in ("start", "end"))
    if (end < start).any():
        raise ValueError(f"Entity ends before it starts: {entities[int(np.flatnonzero(end < start)[0])]}")
    types = tuple(sorted({one.label for one in entities}))
    code = {name: place for place, name in enumerate(types)}
    kind = np.array([code[one.label] for one in entities], np.int64)
    doc = np.repeat(np.arange(len(documents)), [len(document) for document in documents])
    return doc, start, end + 1, kind, types


def _numbered(documents: list[list[Entity]]) -> list[Numbers]:
    """Return type and document of each entity, its number there and its number among those of its type there."""
    found = []
    for place, document in enumerate(documents):
        of_type: Counter[str] = Counter()
        for number, one in enumerate(document):
            found.append((one.label, place, number, of_type[one.label]))
            of_type[one.label] += 1
    return found


def _no_records() -> Numbered:
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
    for place, (one, two) in enumerate(zip(true, pred, strict=True)):
        if len(one) != len(two):
            raise ValueError(f"Document {place} has different lengths: true={len(one)}, pred={len(two)}")


def _check_names(mode: str, scenario: str) -> None:
    if mode not in MODES:
        raise ValueError(f"Invalid mode: must be one of {MODES}")
    if mode == "entities" and scenario not in DECIDED:
        raise ValueError(f"Invalid scenario: must be one of {tuple(DECIDED)}")


def _row(widths: Sequence[int], *cells: str) -> str:
    return " ".join(f"{cell:<{width}}" for cell, width in zip(cells, widths, strict=True))
