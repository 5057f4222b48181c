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
from nereval_core.cli.output import Result
from nereval_core.corpus import Layer
from nereval_core.report.export import join_records
from nereval_core.report.json_results import versions
from nereval_core.scoring.count_tables import TEXT_DTYPE
from nereval_core.tables import RATIO_KEYS, RATIOS, RECORDS, Cell, Column, Table, columns_by_name, columns_of

DECISIONS = tuple(decision.name.lower() for decision in LinkDecision)
_LINKED = ("right", "wrong", "NIL for link", "link for NIL", "missing")
COUNTED = (*columns_by_name((*_LINKED, "spurious", "gold", "predicted"), "count"), *RATIOS)
GIVEN = (
    *columns_by_name((*_LINKED, "judged"), "count"),
    Column("accuracy", kind="ratio"),
    Column("not judged", kind="count"),
)


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


def _signature(one: LinkedSystem, scores: LinkScores, gold: Layer) -> str:
    return link_signature(scores, gold.digest, one.layer.digest, one.marks)


def _json_object(gold: Layer, systems: Sequence[LinkedSystem], by: Sequence[str]) -> dict[str, Any]:
    def side(layer: Layer) -> dict[str, Any]:
        return {"sha256": layer.digest, "spans": len(layer), "mentions": len(layer.links)}

    return {
        **versions(),
        "gold": {**side(gold), "documents": len(gold.documents)},
        "systems": [{"name": one.layer.name, **side(one.layer), "links": _by_rule(one, gold, by)} for one in systems],
    }


def _by_rule(one: LinkedSystem, gold: Layer, by: Sequence[str]) -> dict[str, Any]:
    rules: dict[str, Any] = {}
    for scores in one.scores:
        given = scores.alignment.mentions == "gold"
        found = {"signature": _signature(one, scores, gold)} | _counts(scores.counts, given)
        if given:
            found["not_judged"] = dict(zip(("gold", "pred"), scores.alignment.unjudged, strict=True))
        if "document" in by:
            found["documents"] = {name: _counts(counts, given) for name, counts in scores.by_document.items()}
        if "confusion" in by:
            found["confusion"] = link_confusion(link_records(scores)).to_dict("records")
        rules.setdefault("given" if given else scores.alignment.boundaries, {})[str(scores.n)] = found
    return rules


def _counts(counts: LinkCounts, given: bool) -> dict[str, Any]:
    decisions = dict(zip(DECISIONS, counts.decisions, strict=True))
    if given:
        del decisions["spurious"]
        return decisions | {"judged": counts.gold, "accuracy": counts.recall}
    sums = {"gold": counts.gold, "predicted": counts.predicted}
    return decisions | sums | {"precision": counts.precision, "recall": counts.recall, "f1": counts.f1}


def _tables(gold: Layer, systems: Sequence[LinkedSystem], by: Sequence[str]) -> list[Table]:
    tables = []
    for one in systems:
        given = one.scores[0].alignment.mentions == "gold"
        rows: tuple[tuple[Cell, ...], ...] = tuple((_name(scores), *_cells(scores)) for scores in one.scores)
        columns = (
            (Column("given mentions", kind="name"), *GIVEN) if given else (Column("linking", kind="name"), *COUNTED)
        )
        notes = tuple(_signature(one, scores, gold) for scores in one.scores)
        tables.append(Table(one.layer.name, columns, rows, notes))
        for scores in one.scores:
            tables += _parts(one, scores, by, given)
    return tables


def _parts(one: LinkedSystem, scores: LinkScores, by: Sequence[str], given: bool) -> Iterator[Table]:
    title = f"{one.layer.name}: {_name(scores)}"
    if "document" in by:
        columns = (Column("document", kind="name"), *(GIVEN[:-1] if given else COUNTED))
        rows = tuple((name, *_row(counts, given)) for name, counts in scores.by_document.items())
        yield Table(f"{title} by document", columns, rows)
    if "confusion" in by:
        frame = link_confusion(link_records(scores))
        met = tuple((gold or "–", pred or "–", count) for gold, pred, count in frame.itertuples(index=False))
        yield Table(
            f"{title}, gold and predicted ids",
            (Column("gold", kind="name"), Column("predicted", kind="name"), RECORDS),
            met,
        )


def _name(scores: LinkScores) -> str:
    rule = "equal boundaries" if scores.alignment.mentions == "gold" else scores.alignment.boundaries
    return f"{rule}, n = {scores.n}"


def _cells(scores: LinkScores) -> tuple[Cell, ...]:
    if scores.alignment.mentions == "gold":
        return (*_row(scores.counts, True), sum(scores.alignment.unjudged))
    return _row(scores.counts, False)


def _row(counts: LinkCounts, given: bool) -> tuple[Cell, ...]:
    if given:
        return (*counts.decisions[: LinkDecision.SPURIOUS], counts.gold, counts.recall)
    return (*counts.decisions, counts.gold, counts.predicted, counts.precision, counts.recall, counts.f1)


def _long(gold: Layer, systems: Sequence[LinkedSystem], by: Sequence[str]) -> Table:
    """Return all numbers as one table for programs and spreadsheets; `document` is empty for the whole."""
    columns = ("system", "mentions", "boundaries", "n", "document", *DECISIONS)
    rows: list[tuple[Cell, ...]] = []
    for one in systems:
        for scores in one.scores:
            head = (one.layer.name, scores.alignment.mentions, scores.alignment.boundaries, scores.n)
            signed = _signature(one, scores, gold)
            rows.append((*head, None, *_row(scores.counts, False), signed))
            if "document" in by:
                rows += [(*head, name, *_row(counts, False), signed) for name, counts in scores.by_document.items()]
    return Table("links", columns_of(*columns, "gold", "predicted", *RATIO_KEYS.values(), "signature"), tuple(rows))


def _records(systems: Sequence[LinkedSystem]) -> pd.DataFrame:
    """Return the records of all systems: `system`, `boundaries`, `n` and the columns of LINK_RECORD_COLUMNS."""
    frames = []
    for one in systems:
        for scores in one.scores:
            frame = link_records(scores)
            frame.insert(0, "boundaries", pd.Series(scores.alignment.boundaries, index=frame.index, dtype=TEXT_DTYPE))
            frame.insert(1, "n", scores.n)
            frames.append((one.layer.name, frame))
    return join_records(frames)
