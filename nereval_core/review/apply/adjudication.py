"""Two annotators made into one layer: what they agree on is taken, the rest by verdict, and what is open is listed.

The first annotator is taken as gold: verdicts are those given on the records of the second against the first. Spans
that are still open are in neither's favour: the layer has none of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nereval_core import __version__
from nereval_core.corpus import Layer
from nereval_core.corpus.masking import SAID, is_masked
from nereval_core.records.tables import record_ids, rows
from nereval_core.report.score_tables import Cell
from nereval_core.review.apply import Applied, applied
from nereval_core.review.apply.corrected_copy import log_rows, what_was_applied, written
from nereval_core.review.apply.settlement import REPEATS
from nereval_core.review.standing_verdicts import Reviewed
from nereval_core.review.verdicts import Marked, Side
from nereval_core.review.verdicts_on_records import marked
from nereval_core.scoring import Settings, score_layers
from nereval_core.scoring.criteria import CRITERIA, Decision

STRICT = "strict"
"""The criterion by which two agree: equal boundaries and types."""
UNDECIDED = "no verdict yet"


@dataclass(frozen=True)
class Open:
    """A record on which two annotators differ and nothing is decided: its document, its id, its spans, and why."""

    document: str
    record: str
    spans: tuple[Marked | None, Marked | None]
    quote: str
    reason: str


@dataclass(frozen=True, eq=False)
class Adjudicated:
    """The layer that came of two annotators, `first` taken as gold: `agreed` spans of both, the others by verdict.

    `applied` are the verdicts over what of the first is agreed or decided; `open` are the records still to be decided.
    """

    first: Layer
    second: Layer
    agreed: int
    applied: Applied
    open: tuple[Open, ...]

    @property
    def layer(self) -> Layer:
        return self.applied.layer.renamed("adjudicated")

    @property
    def signature(self) -> str:
        """The line that says what it was made of."""
        return " | ".join(
            (
                f"nereval {__version__}",
                f"adjudicated {self.first.name} and {self.second.name}".replace("|", "/"),
                f"agreed {self.agreed}",
                *what_was_applied(self.applied),
                f"open {len(self.open)}",
                f"first sha256:{self.first.digest[:16]}",
                f"second sha256:{self.second.digest[:16]}",
                f"adjudicated sha256:{self.layer.digest[:16]}",
                f"documents {len(self.first.documents)}",
                *([SAID] if is_masked(self.first.documents) else []),
            )
        )

    @property
    def log(self) -> tuple[tuple[Cell, ...], ...]:
        """Rows with LOG_COLUMNS: what verdicts did, then the records that are open."""
        left = tuple(
            (
                row.document,
                "gold" if row.record.startswith("g:") else "pred",
                "; ".join(written(span) for span in row.spans if span is not None),
                row.quote,
                *[""] * 7,
                row.reason,
                "",
                "",
            )
            for row in self.open
        )
        return (*log_rows(self.applied.changes), *left)


def adjudicate(first: Layer, second: Layer, reviewed: Reviewed, *, only_this_document: bool = True) -> Adjudicated:
    """Take the spans that two annotators agree on, and decide on the others by the verdicts that stand.

    Both lie over the same documents. What a verdict says of agreed spans counts as well. What spans have beside
    boundaries and type is that of the first. See `applied` for `only_this_document`.
    """
    scores = score_layers(first, second, Settings((CRITERIA[STRICT],)))
    every = applied(first, reviewed, (second,), only_this_document=only_this_document)
    decided = {(change.document, change.given.verdict.key.side, change.span) for change in every.changes}
    # Whoever decides on a span decides on the one that it was held against.
    decided |= {
        (change.document, "pred", partner)
        for change in every.changes
        if change.given.verdict.key.side == "gold" and (partner := change.given.verdict.partner) is not None
    }
    decided |= {
        (change.document, change.given.verdict.key.side, change.span)
        for change in every.open
        if change.reason == REPEATS
    }
    reasons = {(change.document, change.given.verdict.key.side, change.span): change.reason for change in every.open}
    found = rows(scores, STRICT)
    agreed = found.decision == Decision.COR
    kept = np.zeros(len(first), bool)
    kept[found.gold[agreed]] = True
    left: list[Open] = []
    for at in np.flatnonzero(~agreed).tolist():
        document = int(found.doc[at])
        gold, pred = int(found.gold[at]), int(found.pred[at])
        spans = (marked(first, gold) if gold >= 0 else None, marked(second, pred) if pred >= 0 else None)
        own = spans[0] if found.anchored[at] else spans[1]
        assert own is not None, "a record is named by a span that it has"
        side: Side = "gold" if found.anchored[at] else "pred"
        if (document, side, own) in decided:
            if gold >= 0:
                kept[gold] = True
            continue
        layer, prefix, place = (first, "g", gold) if side == "gold" else (second, "p", pred)
        (record,) = record_ids(layer, prefix, np.array([place]))
        quote = own.quote(first.documents.texts[document])
        reason = reasons.get((document, side, own), UNDECIDED)
        left.append(Open(first.documents.ids[document], record, spans, quote, reason))
    basis = first.take(np.flatnonzero(kept))
    made = applied(basis, reviewed, (second,), only_this_document=only_this_document)
    return Adjudicated(first, second, int(agreed.sum()), made, tuple(left))


__all__: Sequence[str] = ("UNDECIDED", "Adjudicated", "Open", "adjudicate")
