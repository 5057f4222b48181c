"""Tables of verdicts and of their effects: scores, change log, conclusions, open records and the list of verdicts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from nereval_core.corpus import SPAN_KEYS, Documents, Layer
from nereval_core.problems import counted, name_text, quoted
from nereval_core.records.match_records import rows as record_rows
from nereval_core.review.apply import Change, places
from nereval_core.review.apply.adjudication import OpenRecord
from nereval_core.review.apply.deciding_verdicts import Conclusion
from nereval_core.review.apply.what_if import WhatIf
from nereval_core.review.verdicts import (
    KINDS,
    UNMARKED,
    Kind,
    Marked,
    StoredVerdict,
    kind_in_words,
    kinds_between,
    minute_of,
)
from nereval_core.review.verdicts_on_records import marked, text_digests
from nereval_core.scoring import Settings, score_layers
from nereval_core.scoring.criteria import CRITERIA, Decision
from nereval_core.tables import (
    CRITERION,
    F1,
    PRECISION,
    RECALL,
    SYSTEM,
    Cell,
    Column,
    Table,
    frame_table,
)
from nereval_core.writers.writer import ANNOTATION

WITH = "with verdicts"


def what_if_table(both: WhatIf, notes: tuple[str, ...] = ()) -> Table:
    """Return F1, P and R of each system under each criterion without and with verdicts, and their differences."""
    columns = [SYSTEM, CRITERION]
    for ratio in (F1, PRECISION, RECALL):
        after = Column(f"{ratio.key}_after", f"{ratio.heading} {WITH}", "ratio", ratio.term)
        columns += [ratio, after, Column(f"{ratio.key}_difference", f"{ratio.heading} difference", "difference")]
    title = "What if: scores without and with verdicts applied to gold"
    return frame_table(title, both.table(), columns, notes, name="what-if")


def log_table(changes: Iterable[Change], kinds: Mapping[Kind, str] = KINDS) -> Table:
    """Return a row for each verdict and document; `result` is its effect, or why it has none.

    `kinds` name the verdicts.
    """
    rows = tuple(
        (
            change.id,
            change.before,
            change.span.type,
            kind_in_words(change.stored.verdict, kinds),
            change.done or f"not applied: {change.reason}",
            "; ".join(f"{quote} ({span.type})" for quote, span in zip(change.quotes, change.after, strict=True)),
            change.stored.who,
            minute_of(change.stored.at),
            change.note,
        )
        for change in changes
    )
    keys = ("document", "text", "type", "verdict", "result", "after", "who", "at", "note")
    return Table("Verdicts and what became of them", _texts(*keys), rows, name="verdicts")


def _texts(*keys: str) -> tuple[Column, ...]:
    return tuple(Column(key, kind="name" if key == "document" or "type" in key else "text") for key in keys)


def conclusion_table(rows: Sequence[Conclusion]) -> Table:
    """Return both F1 of each pair of systems, the number of deciding verdicts, and the bound on it."""
    columns = (
        Column("better", kind="name", meaning="with verdicts applied"),
        F1,
        Column("than", kind="name"),
        Column("worse_f1", "its F1", "ratio", "F1"),
        Column("holds", kind="text"),
        Column("verdicts", kind="count", meaning="so many have to fall for the better one to be no longer better"),
        Column("least", "at least", "count", meaning="fewer than so many never do; where both are equal, none do"),
    )
    cells = tuple(
        (row.better, row.f1[0], row.worse, row.f1[1], _duration(row), row.verdicts or None, row.least or None)
        for row in rows
    )
    return Table("The order of systems and verdicts", columns, cells, name="hangs")


def conclusion_in_words(row: Conclusion) -> str:
    """Say which system is better, and the verdicts on which that depends."""
    if row.firm:
        return f"{row.better} is better than {row.worse} whichever of the verdicts fall"
    if not row.verdicts:
        return f"{row.better} is better than {row.worse}; no verdicts were found that this hangs on"
    stand = "this verdict stands" if row.verdicts == 1 else f"these {row.verdicts} verdicts stand"
    claim = ""
    if row.verdicts > 1 and row.verdicts == row.least:
        claim = "; no smaller set does it"
    elif row.verdicts > 1:
        claim = f"; none of them can be left out, and no set of fewer than {row.least} does it"
    return f"{row.better} is better than {row.worse} only while {stand}{claim}"


def _duration(row: Conclusion) -> str:
    if row.firm:
        return "whichever verdicts fall"
    if row.verdicts == 1:
        return "only while this verdict stands"
    return f"only while these {row.verdicts} stand" if row.verdicts else "as far as is known"


def open_table(rows: Iterable[OpenRecord], documents: Documents) -> Table:
    """Return both spans of each open record and why it is open; a side without a span is None."""
    cells: list[tuple[Cell, ...]] = []
    for row in rows:
        text = documents.texts[documents.index[row.document]]
        spans = [(None, None) if span is None else (span.quote(text), span.type) for span in row.spans]
        cells.append((row.document, *spans[0], *spans[1], row.reason))
    columns = _texts("document", "first", "first_type", "second", "second_type", "why")
    return Table("Open records", columns, tuple(cells), name="open")


@dataclass(frozen=True, eq=False)
class LayerChanges:
    """The differences of a layer from its original: `before` and `after` are span numbers by change, -1 for none.

    `same` counts the spans that are as they were.
    """

    same: int
    before: NDArray[np.int64]
    after: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.before)

    @property
    def changed(self) -> int:
        return int(((self.before >= 0) & (self.after >= 0)).sum())

    @property
    def removed(self) -> int:
        return int((self.after < 0).sum())

    @property
    def added(self) -> int:
        return int((self.before < 0).sum())


def layer_changes(original: Layer, layer: Layer) -> LayerChanges:
    """Return the differences of a layer over the same documents, in the order of the text.

    A span that became another one is one change: the two are aligned as scoring aligns.
    """
    if layer is original:
        return LayerChanges(len(original), np.zeros(0, np.int64), np.zeros(0, np.int64))
    records = record_rows(score_layers(original, layer, Settings((CRITERIA["strict"],))), "strict")
    differs = records.decision != Decision.COR
    return LayerChanges(int((~differs).sum()), records.gold[differs], records.pred[differs])


def lost_properties(original: Layer, layer: Layer, changes: LayerChanges) -> tuple[str, ...]:
    """Return in words what changed spans had in the original and do not have any more, with document,
    place and words of the first: `links of 3 spans, the first in d at 9-13 'aspi'`.

    A span that has some of it still, or something else in its place, has lost it too.
    """
    is_change = (changes.before >= 0) & (changes.after >= 0)
    return _losses(original, layer, changes.before[is_change], changes.after[is_change])


def untaken_properties(other: Layer, layer: Layer) -> tuple[str, ...]:
    """Return in words what the spans of another layer have that equal spans of this one do not: as lost_properties.

    Scores are not counted: they say how sure the other one was.
    """
    records = record_rows(score_layers(other, layer, Settings((CRITERIA["strict"],))), "strict")
    equal = records.decision == Decision.COR
    return _losses(replace(other, scores={}), layer, records.gold[equal], records.pred[equal])


def _losses(before: Layer, after: Layer, spans: NDArray[np.int64], others: NDArray[np.int64]) -> tuple[str, ...]:
    """Count the spans of `before` whose properties the spans of `after` beside them lack; both of shape (pairs,)."""
    losses: dict[str, list[int]] = {}
    for key, words in ANNOTATION.items():
        values = getattr(before, key, {}) if key in SPAN_KEYS else {}
        if values:
            new = getattr(after, key)
            pairs = zip(spans.tolist(), others.tolist(), strict=True)
            losses[words] = [
                span for span, other in pairs if span in values and not _holds(new.get(other), values[span])
            ]
    return tuple(
        f"{words} of {counted(len(numbers), 'span')}, {'the first ' if len(numbers) > 1 else ''}"
        f"{_place(before, numbers[0])}"
        for words, numbers in losses.items()
        if numbers
    )


def _place(layer: Layer, span: int) -> str:
    """Return document, place and words of a span."""
    name = name_text(layer.documents.ids[layer.doc[span]])
    return f"in {name} at {layer.start[span]}-{layer.end[span]} {quoted(layer.text(span))}"


def _holds(value: object, part: object) -> bool:
    """Return whether the value of a property has all that another one has."""
    if isinstance(part, Mapping):
        return isinstance(value, Mapping) and all(value.get(name) == entry for name, entry in part.items())
    return value == part


def change_table(original: Layer, layer: Layer, changes: LayerChanges, low: int, high: int) -> Table:
    """Return a row for each of some changes: the span before and after, None where there is none."""
    cells: list[tuple[Cell, ...]] = []
    for before, after in zip(changes.before[low:high].tolist(), changes.after[low:high].tolist(), strict=True):
        at, owner = (before, original) if before >= 0 else (after, layer)
        name = owner.documents.ids[owner.doc[at]]
        cells.append((name, *_quote_and_type(original, before), *_quote_and_type(layer, after)))
    columns = _texts("document", "before", "type_before", "after", "type_after")
    return Table("Changes", columns, tuple(cells), name="changes")


def _quote_and_type(layer: Layer, span: int) -> tuple[str | None, str | None]:
    if span < 0:
        return None, None
    return marked(layer, span).quote(layer.documents.texts[layer.doc[span]]), layer.label(span)


COLUMNS = ("document", "record", "quote", "verdict", "right", "who", "at", "note")
STALE = "stale"
"""The additional column beside a corpus: yes, no, or missing where the corpus lacks the document."""


def verdicts_table(verdicts: Iterable[StoredVerdict], layers: Sequence[Layer] = ()) -> Table:
    """Return a row for each verdict; beside layers, with a column whether it is stale.

    Of two layers, of which the first is not called gold, verdicts are named after both.
    """
    rows = []
    is_pair = len(layers) == 2 and layers[0].name != "gold"
    kinds = kinds_between(layers[0].name, layers[1].name) if is_pair else KINDS
    is_stale = staleness_test(layers)
    for verdict in verdicts:
        row: list[Cell] = list(_cells(verdict, kinds))
        if layers:
            stale = is_stale(verdict)
            row.append(None if stale is None else "yes" if stale else "no")
        rows.append(tuple(row))
    columns = _texts(*COLUMNS, *([STALE] if layers else []))
    return Table("verdicts", columns, tuple(rows))


def staleness_test(layers: Sequence[Layer]) -> Callable[[StoredVerdict], bool | None]:
    """Return a test whether a verdict is stale: its text, or its span in every layer, is gone.

    The test returns None for a document that no layer has.
    """
    # Layers may have documents of their own: each is asked by itself.
    numbers: list[dict[str, list[int]]] = []
    for layer in layers:
        by_digest: dict[str, list[int]] = {}
        for number, digest in enumerate(text_digests(layer.documents)):
            by_digest.setdefault(digest, []).append(number)
        numbers.append(by_digest)

    def is_stale(stored: StoredVerdict) -> bool | None:
        key = stored.verdict.key
        numbered = [
            (layer, number) for layer, by in zip(layers, numbers, strict=True) for number in by.get(key.text, ())
        ]
        if numbered and key.side == UNMARKED:
            return False
        if numbered:
            return not any(places(layer, number, key.span) for layer, number in numbered)
        return True if any(stored.verdict.seen.document in layer.documents.index for layer in layers) else None

    return is_stale


def _cells(stored: StoredVerdict, kinds: Mapping[Kind, str]) -> tuple[str, ...]:
    verdict = stored.verdict
    right = "; ".join(map(_span, verdict.right)) or ("no entity" if verdict.kind == "neither" else "")
    record = f"{verdict.key.side[0]}:{_span(verdict.key.span)}"
    context = verdict.seen
    return (
        context.document,
        record,
        context.quote,
        kind_in_words(verdict, kinds),
        right,
        stored.who,
        stored.at,
        verdict.note,
    )


def _span(span: Marked) -> str:
    """Return a span as it is written in record ids."""
    return f"{','.join([f'{low}-{high}' for low, high in span.fragments])}:{span.type}"
