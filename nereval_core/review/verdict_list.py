"""The verdicts that stand, as a table to be read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from nereval_core.corpus import Layer
from nereval_core.report.score_tables import Cell, Sheet
from nereval_core.review.apply import places
from nereval_core.review.verdicts import KINDS, Given, Marked
from nereval_core.review.verdicts_on_records import text_digests

COLUMNS = ("document", "record", "quote", "verdict", "right", "who", "at", "note")
STALE = "stale"
"""The column that is there beside a corpus: yes, no, or nothing where the corpus has not the document."""


def verdict_sheet(given: Iterable[Given], layers: Sequence[Layer] = ()) -> Sheet:
    """Return a row for each verdict; beside layers, whether they still have what it is about."""
    rows = []
    is_stale = staleness(layers)
    for one in given:
        row: list[Cell] = list(_cells(one))
        if layers:
            found = is_stale(one)
            row.append(None if found is None else "yes" if found else "no")
        rows.append(tuple(row))
    return Sheet("verdicts", (*COLUMNS, *([STALE] if layers else [])), tuple(rows))


def staleness(layers: Sequence[Layer]) -> Callable[[Given], bool | None]:
    """Return what tells of a verdict whether its text, or its span in every layer, is gone; None of other documents."""
    # Layers may have documents of their own: each is asked by itself.
    numbers: list[dict[str, list[int]]] = []
    for layer in layers:
        by_digest: dict[str, list[int]] = {}
        for number, digest in enumerate(text_digests(layer.documents)):
            by_digest.setdefault(digest, []).append(number)
        numbers.append(by_digest)

    def is_stale(one: Given) -> bool | None:
        key = one.verdict.key
        there = [(layer, number) for layer, by in zip(layers, numbers, strict=True) for number in by.get(key.text, ())]
        if there:
            return not any(places(layer, number, key.span) for layer, number in there)
        return True if any(one.verdict.seen.document in layer.documents.index for layer in layers) else None

    return is_stale


def _cells(one: Given) -> tuple[str, ...]:
    verdict = one.verdict
    right = "; ".join(map(_span, verdict.right)) or ("no entity" if verdict.kind == "neither" else "")
    record = f"{verdict.key.side[0]}:{_span(verdict.key.span)}"
    seen = verdict.seen
    return seen.document, record, seen.quote, KINDS[verdict.kind], right, one.who, one.at, verdict.note


def _span(span: Marked) -> str:
    """Write a span as record ids do."""
    return f"{','.join(f'{low}-{high}' for low, high in span.fragments)}:{span.type}"
