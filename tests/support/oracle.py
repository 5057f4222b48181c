"""An independent, slow reading of docs/scoring.md: all alignments tried, criteria written out one by one.

Counting by token goes token by token, over tokens split by hand.

Nothing here is shared with the core but the names of the decisions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

COR, INC, PAR, MIS, SPU = "COR", "INC", "PAR", "MIS", "SPU"


@dataclass(frozen=True)
class Span:
    fragments: tuple[tuple[int, int], ...]
    kind: str
    core: tuple[int, int] | None = None
    alternatives: tuple[tuple[int, int], ...] = ()

    @property
    def start(self) -> int:
        return self.fragments[0][0]

    @property
    def end(self) -> int:
        return self.fragments[-1][1]

    @cached_property
    def characters(self) -> frozenset[int]:
        return frozenset(c for low, high in self.fragments for c in range(low, high))

    @cached_property
    def key(self) -> tuple[object, ...]:
        # One fragment is no fragments: a continuous span comes before a discontinuous one of the same hull. What only
        # some spans have comes last: none before any.
        more = (self.core or (-1, -1), tuple(sorted(set(self.alternatives))))
        parts = self.fragments if len(self.fragments) > 1 else ()
        return (self.start, self.end, self.kind, parts, *more)


def contains(g: Span, p: Span) -> bool:
    return (g.start <= p.start and p.end <= g.end) or (p.start <= g.start and g.end <= p.end)


def covers_core(g: Span, p: Span) -> bool:
    low, high = g.core or (g.start, g.end)
    return p.start <= low and high <= p.end


def meets_alternative(g: Span, p: Span) -> bool:
    return p.fragments == g.fragments or any(p.fragments == (other,) for other in g.alternatives)


RULES: dict[str, Callable[[Span, Span], str]] = {
    "strict": lambda g, p: COR if g.fragments == p.fragments and g.kind == p.kind else INC,
    "exact": lambda g, p: COR if g.fragments == p.fragments else INC,
    "partial": lambda g, p: COR if g.fragments == p.fragments else PAR,
    "type": lambda g, p: COR if g.kind == p.kind else INC,
    "left": lambda g, p: COR if g.start == p.start and g.kind == p.kind else INC,
    "right": lambda g, p: COR if g.end == p.end and g.kind == p.kind else INC,
    "either": lambda g, p: COR if (g.start == p.start or g.end == p.end) and g.kind == p.kind else INC,
    "approximate": lambda g, p: COR if contains(g, p) and g.kind == p.kind else INC,
    "lenient": lambda g, p: COR,
    "core": lambda g, p: COR if covers_core(g, p) and g.kind == p.kind else INC,
    "alternatives": lambda g, p: COR if meets_alternative(g, p) and g.kind == p.kind else INC,
    "muc": lambda g, p: INC if g.kind != p.kind else COR if g.fragments == p.fragments else PAR,
    "half-start": lambda g, p: INC if g.kind != p.kind else COR if g.start == p.start else PAR,
    "half-type": lambda g, p: (
        INC
        if not contains(g, p) or 2 * len(g.characters & p.characters) < len(g.characters | p.characters)
        else COR
        if g.kind == p.kind
        else PAR
    ),
    "near-core": lambda g, p: (
        COR if covers_core(g, p) and 2 * len(g.characters & p.characters) >= len(p.characters) else PAR
    ),
    "half-union": lambda g, p: COR if 2 * len(g.characters & p.characters) >= len(g.characters | p.characters) else PAR,
    "third-gold": lambda g, p: (
        COR if 3 * len(g.characters & p.characters) >= len(g.characters) and g.kind == p.kind else INC
    ),
    "near-type": lambda g, p: COR if g.kind == p.kind else PAR,
    "near-left": lambda g, p: COR if g.start == p.start and g.kind == p.kind else PAR,
    "near-strict": lambda g, p: COR if g.fragments == p.fragments and g.kind == p.kind else PAR,
    "most-pred": lambda g, p: COR if 4 * len(g.characters & p.characters) >= 3 * len(p.characters) else INC,
}

CREDIT = {COR: 2, PAR: 1, INC: 0}


def matchings(edges: list[tuple[int, int]]) -> Iterator[list[tuple[int, int]]]:
    """Yield every set of edges in which no end occurs twice."""
    if not edges:
        yield []
        return
    (i, j), rest = edges[0], edges[1:]
    yield from matchings(rest)
    for way in matchings([(a, b) for a, b in rest if a != i and b != j]):
        yield [(i, j), *way]


@lru_cache(maxsize=16)
def every_matching(edges: tuple[tuple[int, int], ...]) -> list[list[tuple[int, int]]]:
    """Return what `matchings` yields; many criteria are asked of the same spans, one after the other."""
    return list(matchings(list(edges)))


def best(gold: list[Span], pred: list[Span], rule: Callable[[Span, Span], str]) -> list[tuple[int, int]]:
    """Return the alignment that docs/scoring.md#alignment prefers, from all there are."""
    edges = [(i, j) for i, g in enumerate(gold) for j, p in enumerate(pred) if g.characters & p.characters]
    pairs = [(gold[i], pred[j]) for i, j in edges]
    weights = {
        edge: (
            -CREDIT[rule(g, p)],
            -(g.fragments == p.fragments),
            -1,
            -(g.kind == p.kind),
            -len(g.characters & p.characters),
            abs(g.start - p.start) + abs(g.end - p.end),
        )
        for edge, (g, p) in zip(edges, pairs, strict=True)
    }
    keys = {edge: tuple(sorted((g.key, p.key))) for edge, (g, p) in zip(edges, pairs, strict=True)}
    ways = every_matching(tuple(edges))
    ranks = [tuple(map(sum, zip(*map(weights.__getitem__, way), strict=True))) or (0,) * 6 for way in ways]
    first = min(ranks)
    equal = [way for way, rank in zip(ways, ranks, strict=True) if rank == first]
    return min(equal, key=lambda way: sorted(keys[edge] for edge in way))


def decide(gold: list[Span], pred: list[Span], name: str) -> tuple[list[str], list[str]]:
    """Return the decision of every gold span and of every prediction."""
    rule = RULES[name]
    of_gold, of_pred = [MIS] * len(gold), [SPU] * len(pred)
    for i, j in best(gold, pred, rule):
        of_gold[i] = of_pred[j] = rule(gold[i], pred[j])
    return of_gold, of_pred


def decide_each_side(gold: list[Span], pred: list[Span], name: str) -> tuple[list[str], list[str]]:
    """Return the best decision that any overlapping span of the other side earns each span."""
    rule = RULES[name]

    def best_of(found: list[str], alone: str) -> str:
        return max(found, key=CREDIT.__getitem__) if found else alone

    return (
        [best_of([rule(g, p) for p in pred if g.characters & p.characters], MIS) for g in gold],
        [best_of([rule(g, p) for g in gold if g.characters & p.characters], SPU) for p in pred],
    )


def split(text: str) -> list[tuple[int, int]]:
    """Return the tokens of a text that has none: runs of word characters, and single others but white space."""
    found: list[tuple[int, int]] = []
    for place, char in enumerate(text):
        word = char.isalnum() or char == "_"
        if word and found and found[-1][1] == place and (text[place - 1].isalnum() or text[place - 1] == "_"):
            found[-1] = (found[-1][0], place + 1)
        elif word or not char.isspace():
            found.append((place, place + 1))
    return found


def tokens_by_decision(
    gold: list[Span], pred: list[Span], tokens: list[tuple[int, int]]
) -> dict[str, set[tuple[int, str]]]:
    """Return the distinct (token, type) on both sides, in gold only and predicted only; tokens by their number."""

    def covered(spans: list[Span]) -> set[tuple[int, str]]:
        return {
            (number, span.kind)
            for span in spans
            for number, (low, high) in enumerate(tokens)
            if any(low <= char < high for char in span.characters)
        }

    on_gold, on_pred = covered(gold), covered(pred)
    return {COR: on_gold & on_pred, MIS: on_gold - on_pred, SPU: on_pred - on_gold}
