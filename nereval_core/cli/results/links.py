"""Entity linking of systems against gold, as tables, JSON and records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import pandas as pd

from nereval_core.analysis.linking import (
    LinkCounts,
    LinkDecision,
    LinkScores,
    link_confusion,
    link_records,
    link_signature,
)
from nereval_core.analysis.linking.tables import id_table, linked_document_table, rule_name, rule_table
from nereval_core.cli.output import Result
from nereval_core.corpus import Layer
from nereval_core.report.export import join_records
from nereval_core.report.json_results import versions
from nereval_core.scoring.count_tables import TEXT_DTYPE
from nereval_core.tables import RATIO_KEYS, Cell, Table, columns_of

DECISIONS = tuple(decision.name.lower() for decision in LinkDecision)


class LinkedSystem(NamedTuple):
    """A system's layer as read, with scores for each boundary rule and n."""

    layer: Layer
    marks: tuple[str, ...]
    scores: tuple[LinkScores, ...]


def links_result(gold: Layer, systems: Sequence[LinkedSystem], by: Sequence[str]) -> Result:
    """Return the scores in every form; `by` breaks them down by "document", by "confusion" of ids, or both."""
    return Result(
        tables=lambda: _tables(gold, systems, by),
        long=lambda: _long(gold, systems, by),
        json=lambda: _json_object(gold, systems, by),
        frames={"records": lambda: _records(systems)},
    )


def _signature(system: LinkedSystem, scores: LinkScores, gold: Layer) -> str:
    return link_signature(scores, gold.digest, system.layer.digest, system.marks)


def _json_object(gold: Layer, systems: Sequence[LinkedSystem], by: Sequence[str]) -> dict[str, Any]:
    def side(layer: Layer) -> dict[str, Any]:
        return {"sha256": layer.digest, "spans": len(layer), "mentions": len(layer.links)}

    return {
        **versions(),
        "gold": {**side(gold), "documents": len(gold.documents)},
        "systems": [
            {"name": system.layer.name, **side(system.layer), "links": _by_rule(system, gold, by)} for system in systems
        ],
    }


def _by_rule(system: LinkedSystem, gold: Layer, by: Sequence[str]) -> dict[str, Any]:
    rules: dict[str, Any] = {}
    for scores in system.scores:
        of_gold_mentions = scores.alignment.mentions == "gold"
        rule = {"signature": _signature(system, scores, gold)} | _counts(scores.counts, of_gold_mentions)
        if of_gold_mentions:
            rule["not_judged"] = dict(zip(("gold", "pred"), scores.alignment.unjudged, strict=True))
        if "document" in by:
            rule["documents"] = {name: _counts(counts, of_gold_mentions) for name, counts in scores.by_document.items()}
        if "confusion" in by:
            rule["confusion"] = link_confusion(link_records(scores)).to_dict("records")
        rules.setdefault("given" if of_gold_mentions else scores.alignment.boundaries, {})[str(scores.n)] = rule
    return rules


def _counts(counts: LinkCounts, of_gold_mentions: bool) -> dict[str, Any]:
    decisions = dict(zip(DECISIONS, counts.decisions, strict=True))
    if of_gold_mentions:
        del decisions["spurious"]
        return decisions | {"judged": counts.gold, "accuracy": counts.recall}
    sums = {"gold": counts.gold, "predicted": counts.predicted}
    return decisions | sums | {"precision": counts.precision, "recall": counts.recall, "f1": counts.f1}


def _tables(gold: Layer, systems: Sequence[LinkedSystem], by: Sequence[str]) -> Iterator[Table]:
    for system in systems:
        name = system.layer.name
        yield rule_table(name, system.scores, tuple(_signature(system, scores, gold) for scores in system.scores))
        for scores in system.scores:
            title = f"{name}: {rule_name(scores)}"
            if "document" in by:
                yield linked_document_table(f"{title} by document", scores)
            if "confusion" in by:
                yield id_table(f"{title}, gold and predicted ids", link_confusion(link_records(scores)))


def _long(gold: Layer, systems: Sequence[LinkedSystem], by: Sequence[str]) -> Table:
    """Return all numbers as one table for programs and spreadsheets; `document` is empty for the whole."""
    columns = ("system", "mentions", "boundaries", "n", "document", *DECISIONS)
    rows: list[tuple[Cell, ...]] = []
    for system in systems:
        for scores in system.scores:
            head = (system.layer.name, scores.alignment.mentions, scores.alignment.boundaries, scores.n)
            signed = _signature(system, scores, gold)
            rows.append((*head, None, *_numbers(scores.counts), signed))
            if "document" in by:
                rows += [(*head, name, *_numbers(counts), signed) for name, counts in scores.by_document.items()]
    return Table("links", columns_of(*columns, "gold", "predicted", *RATIO_KEYS.values(), "signature"), tuple(rows))


def _numbers(counts: LinkCounts) -> tuple[Cell, ...]:
    return (*counts.decisions, counts.gold, counts.predicted, counts.precision, counts.recall, counts.f1)


def _records(systems: Sequence[LinkedSystem]) -> pd.DataFrame:
    """Return the records of all systems: `system`, `boundaries`, `n` and the columns of LINK_RECORD_COLUMNS."""
    frames = []
    for system in systems:
        for scores in system.scores:
            frame = link_records(scores)
            frame.insert(0, "boundaries", pd.Series(scores.alignment.boundaries, index=frame.index, dtype=TEXT_DTYPE))
            frame.insert(1, "n", scores.n)
            frames.append((system.layer.name, frame))
    return join_records(frames)
