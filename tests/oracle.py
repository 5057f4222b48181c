"""An independent, slow reading of design sections 3 and 4: all alignments tried, criteria written out one by one.

Nothing here is shared with the core but the names of the decisions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

COR, INC, PAR, MIS, SPU = "COR", "INC", "PAR", "MIS", "SPU"


@dataclass(frozen=True)
class Span:
    fragments: tuple[tuple[int, int], ...]
    kind: str

    @property
    def start(self) -> int:
        return self.fragments[0][0]

    @property
    def end(self) -> int:
        return self.fragments[-1][1]

    @property
    def characters(self) -> frozenset[int]:
        return frozenset(c for low, high in self.fragments for c in range(low, high))

    @property
    def key(self) -> tuple[int, int, str, tuple[tuple[int, int], ...]]:
        # One fragment is no fragments: a continuous span comes before a discontinuous one of the same hull.
        return (self.start, self.end, self.kind, self.fragments if len(self.fragments) > 1 else ())


def contains(g: Span, p: Span) -> bool:
    return (g.start <= p.start and p.end <= g.end) or (p.start <= g.start and g.end <= p.end)


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
    "half-union": lambda g, p: COR if 2 * len(g.characters & p.characters) >= len(g.characters | p.characters) else PAR,
    "third-gold": lambda g, p: (
        COR if 3 * len(g.characters & p.characters) >= len(g.characters) and g.kind == p.kind else INC
    ),
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


def best(gold: list[Span], pred: list[Span], rule: Callable[[Span, Span], str]) -> list[tuple[int, int]]:
    """Return the alignment that design section 4 prefers, from all there are."""
    edges = [(i, j) for i, g in enumerate(gold) for j, p in enumerate(pred) if g.characters & p.characters]

    def rank(way: list[tuple[int, int]]) -> tuple[object, ...]:
        spans = [(gold[i], pred[j]) for i, j in way]
        keys = sorted(tuple(sorted((g.key, p.key))) for g, p in spans)
        return (
            -sum(CREDIT[rule(g, p)] for g, p in spans),
            -sum(g.fragments == p.fragments for g, p in spans),
            -len(spans),
            -sum(g.kind == p.kind for g, p in spans),
            -sum(len(g.characters & p.characters) for g, p in spans),
            sum(abs(g.start - p.start) + abs(g.end - p.end) for g, p in spans),
            keys,
        )

    return min(matchings(edges), key=rank)


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
