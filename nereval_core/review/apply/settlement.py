"""The effect of verdicts on the gold spans of one text: spans kept, removed, replaced or added, or the reason for none.

On a gold span, `gold` keeps it; `pred` replaces it by its partner, or removes it where it has none; `both` keeps it,
with its partner's boundaries as an alternative, or the partner beside it where that has another type or several runs;
`neither` replaces it by the right spans. On a
prediction, `pred` and `both` add it and `neither` adds the right spans, as it does of an entity that nobody had marked.
An added span may have a verdict of its own, which is followed: applying verdicts to their own result changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

from nereval_core.review.verdicts import UNMARKED, Key, Marked, StoredVerdict, is_carried_out, replacing_spans

KEPT = "kept"
REMOVED = "removed"
REPLACED = "replaced"
ADDED = "added"
ALTERNATIVE = "alternative added"
BESIDE = "both kept"
NOTHING = "nothing to do"
DONE = (KEPT, REMOVED, REPLACED, ADDED, ALTERNATIVE, BESIDE, NOTHING)
"""The effects of an applied verdict."""

UNCLEAR = "unclear"
STALE = "stale"
ELSEWHERE = "on another layer"
BEFORE = "applied before"
OUTSIDE = "outside the text"
REPEATS = "would repeat a span"
CIRCLE = "verdicts go round in a circle"
CONTRARY = "gold has the span"
AMBIGUOUS = "several documents have the text"
REASONS: Mapping[str, str] = {
    UNCLEAR: "the guideline does not say, so gold stays as it is",
    STALE: "the text has changed, or no layer has the span any more",
    ELSEWHERE: "it is about a span that another layer has and this one has not",
    BEFORE: "gold has been corrected by it already",
    OUTSIDE: "a span that it brings in reaches beyond the text, or its type is not text",
    REPEATS: "gold has this span already",
    CIRCLE: "spans give way to one another in a circle, so none of them is right",
    CONTRARY: "it says that the prediction is not an entity, and gold has it, as it was read or by another verdict",
    AMBIGUOUS: "several documents have its text, and none of them the id of the one that it was given on",
}
"""The reasons why a verdict is not applied."""


@dataclass(frozen=True)
class VerdictOutcome:
    """The outcome of a verdict: its effect (`done`) and the spans `after` it, or the `reason` for no effect."""

    stored: StoredVerdict
    done: str = ""
    after: tuple[Marked, ...] = ()
    reason: str = ""


@dataclass(frozen=True)
class SettledSpans:
    """The result of verdicts on a text's gold spans: those removed and those added, both sorted, and alternatives.

    `alternatives` holds by span the boundaries that it gets as an alternative. `outcomes` are in the order of
    `sort_verdicts`.
    """

    gone: tuple[Marked, ...]
    added: tuple[Marked, ...]
    alternatives: Mapping[Marked, tuple[int, int]]
    outcomes: tuple[VerdictOutcome, ...]


def sort_verdicts(verdicts: Iterable[StoredVerdict]) -> list[StoredVerdict]:
    """Return the verdicts on one text sorted by side and span, independent of when they were given."""
    return sorted(verdicts, key=lambda stored: (stored.verdict.key.side, stored.verdict.key.span))


def named_spans(verdicts: Iterable[StoredVerdict]) -> set[Marked]:
    """Return the spans that verdicts are about or add: their effect depends on no other gold spans."""
    return {span for stored in verdicts for span in (stored.verdict.key.span, *replacing_spans(stored))}


def settle_spans(
    own: Collection[Marked],
    stored_verdicts: Iterable[StoredVerdict],
    length: int,
    *,
    gold_alternatives: Mapping[Marked, frozenset[tuple[int, int]]] | None = None,
    is_held: Callable[[Marked], bool] | None = None,
) -> SettledSpans:
    """Apply verdicts on a text of so many characters to its gold spans, at most one verdict a side and span.

    `own` are the gold spans, at least those among `named_spans`, and `gold_alternatives` their alternatives. `is_held`
    tells whether some other layer has a span: a verdict on a span that no layer has is stale. Without it, predictions
    are assumed to exist.
    """
    verdicts = sort_verdicts(stored_verdicts)
    wrong = {id(stored): _wrong(stored, length) for stored in verdicts}
    moves = {
        stored.verdict.key.span: replacing_spans(stored)
        for stored in verdicts
        if _is_move(stored) and not wrong[id(stored)]
    }
    for span in _in_circles(moves):
        del moves[span]
    staying = {span for span in own if span not in moves or span in moves[span]}
    passed = set(own)
    brought: set[Marked] = set()
    for span in passed & moves.keys():
        brought |= _led(moves[span], moves, passed)
    before = staying | brought
    predicted = {stored.verdict.key.span for stored in verdicts if stored.verdict.key.side == "pred"}
    existing = {span for span in predicted if is_held is None or span in own or is_held(span)}

    def is_there(key: Key) -> bool:
        """Return whether the span of a verdict exists; an entity that nobody had marked needs none."""
        return key.side == UNMARKED or key.span in (passed if key.side == "gold" else existing)

    for stored in verdicts:
        if stored.verdict.key.side != "gold" and not wrong[id(stored)] and is_there(stored.verdict.key):
            brought |= _led(replacing_spans(stored), moves, passed)
    more: dict[Marked, tuple[int, int]] = {}
    outcomes = []
    for stored in verdicts:
        verdict, span = stored.verdict, stored.verdict.key.span
        if not is_there(verdict.key):
            elsewhere = verdict.key.side == "gold" and is_held is not None and is_held(span)
            is_before = bool(replacing_spans(stored)) and is_carried_out(stored, own.__contains__)
            outcomes.append(VerdictOutcome(stored, reason=ELSEWHERE if elsewhere else BEFORE if is_before else STALE))
        elif reason := wrong[id(stored)] or (CIRCLE if _stuck(stored, moves) else ""):
            outcomes.append(VerdictOutcome(stored, reason=reason))
        elif verdict.key.side != "gold":
            outcomes.append(
                _of_prediction(stored, before, staying | brought, _led(replacing_spans(stored), moves, set()))
            )
        elif verdict.kind == "both" and _is_move(stored):
            outcomes.append(VerdictOutcome(stored, NOTHING if verdict.partner in own else BESIDE, moves[span]))
        elif verdict.kind == "both" and verdict.partner is not None:
            place = (verdict.partner.start, verdict.partner.end)
            is_known = place in (gold_alternatives or {}).get(span, ()) or verdict.partner == span
            if not is_known:
                more[span] = place
            outcomes.append(VerdictOutcome(stored, NOTHING if is_known else ALTERNATIVE, (span,)))
        else:
            outcomes.append(_of_gold(stored, moves))
    return SettledSpans(tuple(sorted(set(own) - staying)), tuple(sorted(brought - staying)), more, tuple(outcomes))


def _wrong(stored: StoredVerdict, length: int) -> str:
    """Return the reason why a verdict cannot be applied to any gold, "" where it can."""
    verdict = stored.verdict
    if verdict.kind == "unclear":
        return UNCLEAR
    new = (verdict.partner,) if verdict.kind == "both" and verdict.partner else replacing_spans(stored)
    return OUTSIDE if any(span.end > length or not _is_text(span.type) for span in new) else ""


def _is_text(name: str) -> bool:
    return bool(name) and not any("\ud800" <= char <= "\udfff" for char in name)


def _in_circles(moves: Mapping[Marked, tuple[Marked, ...]]) -> set[Marked]:
    """Return the spans that are replaced, through others, by themselves; a span may be its own right span."""
    circular = set()
    for first in moves:
        waiting = [span for span in moves[first] if span != first]
        visited = set(waiting)
        while waiting:
            for span in moves.get(waiting.pop(), ()):
                if span == first:
                    circular.add(first)
                if span not in visited:
                    visited.add(span)
                    waiting.append(span)
    return circular


def _led(spans: Iterable[Marked], moves: Mapping[Marked, tuple[Marked, ...]], passed: set[Marked]) -> set[Marked]:
    """Return the last spans when verdicts on added spans are followed; all spans on the way go into `passed`."""
    waiting = list(spans)
    visited = set(waiting)
    ends = set()
    while waiting:
        span = waiting.pop()
        passed.add(span)
        if span not in moves or span in moves[span]:
            ends.add(span)
        for other in moves.get(span, ()):
            if other not in visited:
                visited.add(other)
                waiting.append(other)
    return ends


def _stuck(stored: StoredVerdict, moves: Mapping[Marked, tuple[Marked, ...]]) -> bool:
    return _is_move(stored) and stored.verdict.key.span not in moves


def _is_move(stored: StoredVerdict) -> bool:
    """Return whether a verdict puts other spans in the place of a gold span, or beside it."""
    verdict = stored.verdict
    is_replaced = verdict.kind in ("pred", "neither") or (verdict.kind == "both" and bool(replacing_spans(stored)))
    return verdict.key.side == "gold" and is_replaced


def _of_gold(stored: StoredVerdict, moves: Mapping[Marked, tuple[Marked, ...]]) -> VerdictOutcome:
    span = stored.verdict.key.span
    after = moves.get(span, (span,))
    return VerdictOutcome(stored, KEPT if after == (span,) else REPLACED if after else REMOVED, after)


def _of_prediction(
    stored: StoredVerdict, before: set[Marked], standing: set[Marked], ends: set[Marked]
) -> VerdictOutcome:
    """Return the outcome of a verdict on a prediction; `before` are the gold spans after the verdicts on gold spans."""
    if not ends:
        return (
            VerdictOutcome(stored, reason=CONTRARY)
            if stored.verdict.key.span in standing
            else VerdictOutcome(stored, NOTHING)
        )
    return (
        VerdictOutcome(stored, reason=REPEATS) if ends <= before else VerdictOutcome(stored, ADDED, tuple(sorted(ends)))
    )
