"""The verdicts that change a layer and were given on other layers of its texts than those that are read."""

from __future__ import annotations

from collections.abc import Sequence

from nereval_core.corpus import Layer
from nereval_core.review.apply import AppliedVerdicts, Change, places
from nereval_core.review.apply.settlement import KEPT, NOTHING
from nereval_core.review.verdicts import UNMARKED


def verdicts_of_other_layers(applied: AppliedVerdicts, systems: Sequence[Layer]) -> frozenset[str]:
    """Return the uids of the verdicts that change gold and compare spans as gold beside none of the systems does.

    A verdict on a span that both sides have compared it with another one, and so did one whose partner is gone. A
    verdict on an entity that nobody had marked is about the text itself, and belongs to all layers.
    """
    return frozenset(
        change.stored.uid
        for change in applied.changes
        if change.done not in (KEPT, NOTHING)
        and change.stored.verdict.key.side != UNMARKED
        and not any(_is_compared(change, applied.gold, system) for system in systems)
    )


def _is_compared(change: Change, gold: Layer, system: Layer) -> bool:
    """Return whether a layer has the span of a verdict, and the other one its partner, or not its span again."""
    verdict = change.stored.verdict
    own, other = (gold, system) if verdict.key.side == "gold" else (system, gold)
    if not places(own, change.document, verdict.key.span):
        return False
    if verdict.partner is not None:
        return bool(places(other, change.document, verdict.partner))
    return not places(other, change.document, verdict.key.span)
