"""What verdicts make of the gold spans of one text: which stay, which go, which come in, and why some change nothing.

On a gold span `gold` keeps it; under `pred` it gives way to the partner, without one it goes; under `both` it gets the
partner's boundaries as an alternative; under `neither` it gives way to the right spans. A prediction comes in under
`pred`, under `neither` the right spans do. A span that comes in may have a verdict of its own, which is followed: so
applying verdicts to what they made changes nothing more.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

from nereval_core.review.verdicts import Given, Marked

KEPT = "kept"
REMOVED = "removed"
REPLACED = "replaced"
ADDED = "added"
ALTERNATIVE = "alternative added"
NOTHING = "nothing to do"
DONE = (KEPT, REMOVED, REPLACED, ADDED, ALTERNATIVE, NOTHING)
"""What a verdict that is applied did."""

UNCLEAR = "unclear"
STALE = "stale"
ELSEWHERE = "on another layer"
TYPES = "types differ under both"
OPTIONAL = "optional entity"
APART = "discontinuous alternative"
OUTSIDE = "outside the text"
REPEATS = "would repeat a span"
CIRCLE = "verdicts go round in a circle"
CONTRARY = "gold has the span"
AMBIGUOUS = "several documents have the text"
REASONS: Mapping[str, str] = {
    UNCLEAR: "the guideline does not say, so gold stays as it is",
    STALE: "the text has changed, or no layer has the span any more",
    ELSEWHERE: "it is about a span that another layer has and this one has not",
    TYPES: "an alternative has other boundaries, not another type: gold cannot say that both types are right",
    OPTIONAL: "that a span may be there or not cannot be said in gold",
    APART: "an alternative is one run of characters, and the prediction is discontinuous",
    OUTSIDE: "a span that it brings in reaches beyond the text, or its type is no text",
    REPEATS: "gold has this span already",
    CIRCLE: "spans give way to one another in a circle, so none of them is right",
    CONTRARY: "it says that the prediction is no entity, and gold has it, as it was read or by another verdict",
    AMBIGUOUS: "several documents have its text, and none of them the id of the one that it was given on",
}
"""Why a verdict is not applied."""


@dataclass(frozen=True)
class Outcome:
    """What became of a verdict: what was `done` and what stands `after` in place of its span, or why not (`reason`)."""

    given: Given
    done: str = ""
    after: tuple[Marked, ...] = ()
    reason: str = ""


@dataclass(frozen=True)
class Settled:
    """What verdicts make of a text's gold spans: those that go, those that come in, both sorted, and what some get.

    `alternatives` holds by span the boundaries that it gets as an alternative. `outcomes` are in the order of
    `ordered`.
    """

    gone: tuple[Marked, ...]
    added: tuple[Marked, ...]
    alternatives: Mapping[Marked, tuple[int, int]]
    outcomes: tuple[Outcome, ...]


def ordered(given: Iterable[Given]) -> list[Given]:
    """Return verdicts on one text by side and span, an order that does not depend on when they were given."""
    return sorted(given, key=lambda one: (one.verdict.key.side, one.verdict.key.span))


def brings(given: Given) -> tuple[Marked, ...]:
    """Return the spans that a verdict puts in the place of its own, sorted and each once."""
    verdict = given.verdict
    if verdict.kind == "neither":
        return tuple(sorted(set(verdict.right)))
    if verdict.kind != "pred":
        return ()
    span = verdict.partner if verdict.key.side == "gold" else verdict.key.span
    return () if span is None else (span,)


def named(given: Iterable[Given]) -> set[Marked]:
    """Return the spans that verdicts are about or bring in: all that it matters of whether gold has them."""
    return {span for one in given for span in (one.verdict.key.span, *brings(one))}


def settled(
    own: Collection[Marked],
    given: Iterable[Given],
    length: int,
    *,
    known: Mapping[Marked, frozenset[tuple[int, int]]] | None = None,
    held: Callable[[Marked], bool] | None = None,
) -> Settled:
    """Apply verdicts on a text of so many characters to its gold spans, at most one verdict a side and span.

    `own` are the gold spans, at least those among `named`.
    `known` are the alternatives that gold spans have. `held` tells whether some other layer has a span: a verdict on
    one that none has any more is stale. Without it a prediction is taken to be there still.
    """
    verdicts = ordered(given)
    wrong = {id(one): _wrong(one, length) for one in verdicts}
    moves = {
        one.verdict.key.span: brings(one)
        for one in verdicts
        if one.verdict.key.side == "gold" and one.verdict.kind in ("pred", "neither") and not wrong[id(one)]
    }
    for span in _in_circles(moves):
        del moves[span]
    staying = {span for span in own if span not in moves or span in moves[span]}
    passed = set(own)
    brought: set[Marked] = set()
    for span in passed & moves.keys():
        brought |= _led(moves[span], moves, passed)
    before = staying | brought
    predicted = {one.verdict.key.span for one in verdicts if one.verdict.key.side == "pred"}
    there = {span for span in predicted if held is None or span in own or held(span)}
    for one in verdicts:
        if one.verdict.key.side == "pred" and not wrong[id(one)] and one.verdict.key.span in there:
            brought |= _led(brings(one), moves, passed)
    more: dict[Marked, tuple[int, int]] = {}
    outcomes = []
    for one in verdicts:
        verdict, span = one.verdict, one.verdict.key.span
        if span not in (passed if verdict.key.side == "gold" else there):
            elsewhere = verdict.key.side == "gold" and held is not None and held(span)
            outcomes.append(Outcome(one, reason=ELSEWHERE if elsewhere else STALE))
        elif reason := wrong[id(one)] or (CIRCLE if _stuck(one, moves) else ""):
            outcomes.append(Outcome(one, reason=reason))
        elif verdict.key.side == "pred":
            outcomes.append(_of_prediction(one, before, staying | brought, _led(brings(one), moves, set())))
        elif verdict.kind == "both":
            assert verdict.partner is not None, "without one it is an optional entity"
            place = (verdict.partner.start, verdict.partner.end)
            said = place in (known or {}).get(span, ()) or verdict.partner == span
            if not said:
                more[span] = place
            outcomes.append(Outcome(one, NOTHING if said else ALTERNATIVE, (span,)))
        else:
            outcomes.append(_of_gold(one, moves))
    return Settled(tuple(sorted(set(own) - staying)), tuple(sorted(brought - staying)), more, tuple(outcomes))


def _wrong(one: Given, length: int) -> str:
    """Return why a verdict cannot be applied whatever gold has, "" where it can."""
    verdict = one.verdict
    if verdict.kind == "unclear":
        return UNCLEAR
    if verdict.kind == "both":
        if verdict.partner is None:
            return OPTIONAL
        if verdict.partner.type != verdict.key.span.type:
            return TYPES
        if len(verdict.partner.fragments) > 1 and verdict.partner != verdict.key.span:
            return APART
    new = (verdict.partner,) if verdict.kind == "both" and verdict.partner else brings(one)
    return OUTSIDE if any(span.end > length or not _is_text(span.type) for span in new) else ""


def _is_text(name: str) -> bool:
    return bool(name) and not any("\ud800" <= char <= "\udfff" for char in name)


def _in_circles(moves: Mapping[Marked, tuple[Marked, ...]]) -> set[Marked]:
    """Return the spans that give way, by others, to themselves; one that is its own right span stays."""
    found = set()
    for first in moves:
        waiting = [span for span in moves[first] if span != first]
        seen = set(waiting)
        while waiting:
            for span in moves.get(waiting.pop(), ()):
                if span == first:
                    found.add(first)
                if span not in seen:
                    seen.add(span)
                    waiting.append(span)
    return found


def _led(spans: Iterable[Marked], moves: Mapping[Marked, tuple[Marked, ...]], passed: set[Marked]) -> set[Marked]:
    """Return what spans that come in end as, when verdicts on them are followed; `passed` gets all on the way."""
    waiting = list(spans)
    seen = set(waiting)
    ends = set()
    while waiting:
        span = waiting.pop()
        passed.add(span)
        if span not in moves or span in moves[span]:
            ends.add(span)
        for other in moves.get(span, ()):
            if other not in seen:
                seen.add(other)
                waiting.append(other)
    return ends


def _stuck(one: Given, moves: Mapping[Marked, tuple[Marked, ...]]) -> bool:
    verdict = one.verdict
    return verdict.key.side == "gold" and verdict.kind in ("pred", "neither") and verdict.key.span not in moves


def _of_gold(one: Given, moves: Mapping[Marked, tuple[Marked, ...]]) -> Outcome:
    span = one.verdict.key.span
    after = moves.get(span, (span,))
    return Outcome(one, KEPT if after == (span,) else REPLACED if after else REMOVED, after)


def _of_prediction(one: Given, before: set[Marked], standing: set[Marked], ends: set[Marked]) -> Outcome:
    """Say what a verdict on a prediction did; `before` is what gold has by the verdicts on its own spans."""
    if one.verdict.kind == "both":
        return Outcome(one, reason=OPTIONAL)
    if not ends:
        return Outcome(one, reason=CONTRARY) if one.verdict.key.span in standing else Outcome(one, NOTHING)
    return Outcome(one, reason=REPEATS) if ends <= before else Outcome(one, ADDED, tuple(sorted(ends)))
