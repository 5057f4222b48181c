"""Adjudication: one layer from two annotators, of the spans they agree on and those decided by verdicts.

The first annotator takes the place of gold; verdicts are those given on the records of the two, in either order.
Records without a verdict are listed as open; the layer has none of their spans, or those of one of the two.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from nereval_core import __version__
from nereval_core.corpus import Layer
from nereval_core.corpus.masking import SAID, is_masked
from nereval_core.records.match_records import record_ids, rows
from nereval_core.review.apply import AppliedVerdicts, Change, apply_verdicts, changed_layer, places
from nereval_core.review.apply.corrected_copy import (
    applied_counts,
    decision_cells,
    log_rows,
    origin_cells,
    span_in_words,
)
from nereval_core.review.apply.settlement import CONTRARY, REPEATS, SettledSpans
from nereval_core.review.standing_verdicts import Reviewed
from nereval_core.review.verdicts import Marked, Side
from nereval_core.review.verdicts_on_records import decided_records, marked, turned_verdicts
from nereval_core.scoring import Settings, score_layers
from nereval_core.scoring.criteria import CRITERIA, Decision
from nereval_core.tables import Cell

STRICT = "strict"
"""The criterion of agreement: equal boundaries and types."""
UNDECIDED = "no verdict yet"
Undecided = Literal["leave-out", "first", "second"]
"""What becomes of the spans of open records: none is in the layer, or those of one of the two layers are."""


@dataclass(frozen=True)
class OpenRecord:
    """An undecided record on which two annotators differ: its document, id and spans, and the reason.

    `change` is that of its verdict, which is not applied; None without one.
    """

    document: str
    record: str
    spans: tuple[Marked | None, Marked | None]
    quote: str
    reason: str
    change: Change | None = None


@dataclass(frozen=True, eq=False)
class Adjudicated:
    """The result of adjudicating two annotators, `first` in the place of gold; `agreed` counts the spans of both.

    `applied` are the verdicts, applied to the agreed and decided spans of the first; `open` are the undecided records,
    of which `undecided` says what is in the layer.
    """

    first: Layer
    second: Layer
    agreed: int
    applied: AppliedVerdicts
    open: tuple[OpenRecord, ...]
    undecided: Undecided = "leave-out"

    @property
    def layer(self) -> Layer:
        return self.applied.layer.renamed("adjudicated")

    @property
    def signature(self) -> str:
        """The line that names the layers, verdicts and program behind the result."""
        return " | ".join(
            (
                f"nereval {__version__}",
                f"adjudicated {self.first.name} and {self.second.name}".replace("|", "/"),
                f"agreed {self.agreed}",
                *applied_counts(self.applied),
                f"open {len(self.open)}",
                *([] if self.undecided == "leave-out" else [f"open as in the {self.undecided} layer"]),
                f"first sha256:{self.first.digest[:16]}",
                f"second sha256:{self.second.digest[:16]}",
                f"adjudicated sha256:{self.layer.digest[:16]}",
                f"documents {len(self.first.documents)}",
                *([SAID] if is_masked(self.first.documents) else []),
            )
        )

    @property
    def log(self) -> tuple[tuple[Cell, ...], ...]:
        """Rows with LOG_COLUMNS: the effects of verdicts, then the open records; sides by the names of the layers."""
        annotators = (self.first.name, self.second.name)
        open_rows = tuple(
            (
                row.document,
                annotators[0] if row.record.startswith("g:") else annotators[1],
                "; ".join(span_in_words(span) for span in row.spans if span is not None),
                row.quote,
                *(decision_cells(row.change, annotators) if row.change is not None else [""] * 4),
                *[""] * 3,
                row.reason,
                *(origin_cells(row.change) if row.change is not None else [""] * 2),
            )
            for row in self.open
        )
        return (*log_rows(self.applied.changes, annotators), *open_rows)


def adjudicate(
    first: Layer,
    second: Layer,
    reviewed: Reviewed,
    *,
    undecided: Undecided = "leave-out",
    only_this_document: bool = True,
) -> Adjudicated:
    """Return the spans that two annotators agree on, and the others as the standing verdicts decide.

    Both layers have the same documents. Verdicts on agreed spans count as well. Links and other properties of spans
    are those of the first; spans that only the second has bring theirs along. With `undecided` "first", the result is
    the first layer with the verdicts applied. See `apply_verdicts` for `only_this_document`.
    """
    reviewed = turned_verdicts(reviewed, first, second)
    scores = score_layers(first, second, Settings((CRITERIA[STRICT],)))
    applied = apply_verdicts(first, reviewed, (second,), only_this_document=only_this_document)
    by_name = {CONTRARY: f"{first.name} has the span"}
    not_applied = {
        (change.document, change.stored.verdict.key.side, change.span): change
        for change in applied.open
        if change.reason != REPEATS
    }
    records = rows(scores, STRICT)
    decided = decided_records(scores, STRICT, records, (first, second), reviewed)
    agreed = records.decision == Decision.COR
    is_kept = np.zeros(len(first), bool)
    is_kept[records.gold[agreed]] = True
    open_records: list[OpenRecord] = []
    of_second: dict[int, list[Marked]] = {}
    for at in np.flatnonzero(~agreed).tolist():
        document = int(records.doc[at])
        gold, pred = int(records.gold[at]), int(records.pred[at])
        spans = (marked(first, gold) if gold >= 0 else None, marked(second, pred) if pred >= 0 else None)
        own = spans[0] if records.anchored[at] else spans[1]
        assert own is not None, "a record is named by a span that it has"
        side: Side = "gold" if records.anchored[at] else "pred"
        change = not_applied.get((document, side, own)) if decided[at] else None
        reason = UNDECIDED if not decided[at] else by_name.get(change.reason, change.reason) if change else ""
        if not reason:
            if gold >= 0:
                is_kept[gold] = True
            continue
        if undecided == "first" and gold >= 0:
            is_kept[gold] = True
        if undecided == "second" and spans[1] is not None:
            of_second.setdefault(document, []).append(spans[1])
        layer, prefix, place = (first, "g", gold) if side == "gold" else (second, "p", pred)
        (record,) = record_ids(layer, prefix, np.array([place]))
        quote = own.quote(first.documents.texts[document])
        open_records.append(OpenRecord(first.documents.ids[document], record, spans, quote, reason, change))
    additions = {
        document: SettledSpans(
            (),
            tuple(span for span in sorted(set(spans)) if not is_kept[places(first, document, span)].any()),
            {},
            (),
        )
        for document, spans in of_second.items()
    }
    basis = changed_layer(first.take(np.flatnonzero(is_kept)), additions, (second,))
    adjudicated = apply_verdicts(basis, reviewed, (second,), only_this_document=only_this_document)
    return Adjudicated(first, second, int(agreed.sum()), adjudicated, tuple(open_records), undecided)


__all__: Sequence[str] = ("UNDECIDED", "Adjudicated", "OpenRecord", "Undecided", "adjudicate")
