"""Clusters of every shape and size: exact alignments, greedy ones, and the note that names these."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from nereval_core.alignment import candidates, greedy_solver, tangled_clusters
from nereval_core.alignment.candidates import TangledSpans, candidate_pairs
from nereval_core.alignment.codes import Facts
from nereval_core.scoring import Counting, Scores, score_layers
from nereval_core.scoring.criteria import SCHEMAS
from tests.support.oracle import RULES, Span
from tests.support.spans import documents, make, settings

Row = Callable[[int], tuple[int, int, str]]


def spans(*bounds: tuple[int, int, str]) -> list[tuple[int, Span]]:
    return [(0, Span(((low, high),), kind)) for low, high, kind in bounds]


def score(gold: list[tuple[int, Span]], pred: list[tuple[int, Span]], *names: str) -> Scores:
    over = documents(1, 20_000)
    return score_layers(make("gold", over, gold), make("pred", over, pred), settings(*names))


@pytest.mark.parametrize("size", [1, 2, 30, 400])
@pytest.mark.parametrize("share", [0.0, 0.3, 1.0, 20.0])
def test_connected_components_are_those_of_scipy(size: int, share: float) -> None:
    """Few edges leave many components; a path, a star and repeated edges are among the graphs."""
    rng = np.random.default_rng(size)
    order = rng.permutation(size)
    graphs = [rng.integers(0, size, (2, int(size * share))) for _ in range(20)]
    graphs += [np.stack((order[:-1], order[1:])), np.stack((np.full(size, size - 1), np.arange(size)))]
    for head, tail in graphs:
        graph = coo_array((np.ones(len(head), np.int8), (head, tail)), shape=(size, size))
        labels = tangled_clusters._connected_labels(size, head, tail)
        np.testing.assert_array_equal(labels, connected_components(graph, directed=False)[1])


@pytest.mark.parametrize("block", [1 << 22, 4_000, 400, 40, 4])
def test_pairs_listed_block_by_block_are_all_pairs(monkeypatch: pytest.MonkeyPatch, block: int) -> None:
    """Each overlapping pair is listed once; a block holds as many as are asked for, or those of one span."""
    rng = np.random.default_rng(5)
    starts = [np.sort(rng.integers(0, 400, 60)) for _ in range(2)]
    ends = [start + rng.integers(1, 90, 60) for start in starts]
    every, kinds, none = np.arange(60), np.zeros(60, np.int32), np.zeros(0, np.int64)
    facts = Facts((), none, none, none, none, none, np.zeros(60, bool))
    preds = make("pred", documents(1, 500), [])
    sides = (starts[0], ends[0], starts[1], ends[1], kinds, kinds)
    tangle = TangledSpans(every, every, *sides, every, every + 60, 120, {}, {}, preds, facts)
    monkeypatch.setattr(candidates, "BLOCK_PAIRS", block)
    listed = []
    for number, pairs in enumerate(candidates.pair_blocks(tangle, every, every)):
        listed += zip(pairs.gold.tolist(), pairs.pred.tolist(), strict=True)
        assert len(pairs) <= block // 4 or len(set(pairs.gold.tolist())) == 1 or len(set(pairs.pred.tolist())) == 1
        assert number < 2 if block > 4 * 60 * 60 else number <= 120
    overlapping = (starts[0][:, None] < ends[1]) & (starts[1] < ends[0][:, None])
    assert sorted(listed) == [tuple(pair) for pair in np.argwhere(overlapping).tolist()]


@pytest.mark.parametrize(("longer", "shorter"), [(1, 0), (1, 1), (2, 1)])
def test_long_spans_over_ten_thousand_others_are_exact(longer: int, shorter: int) -> None:
    """The long spans of either side find one another; those left over stay alone, or take the last rule's place."""
    inner = [(i * 10, i * 10 + 5, "A") for i in range(10_000)]
    wider = [(i * 10, i * 10 + 6, "A") for i in range(10_000)]
    gold = [*((i, 100_000 - i, "A") for i in range(longer)), *inner]
    pred = [*((i, 99_990 - i, "B") for i in range(shorter)), *wider]
    scores = score(spans(*gold), spans(*pred), "strict", "type")
    assert scores.greedy == ()
    counts = scores.counts("type")
    assert (counts.cor, counts.inc, counts.mis, counts.spu) == (10_000, shorter, longer - shorter, 0)
    alone = score(spans((0, 100_000, "A")), spans(*wider), "type")
    assert (alone.counts("type").cor, alone.counts("type").spu, alone.greedy) == (1, 9_999, ())


def test_long_chains_are_exact() -> None:
    """Each gold span overlaps two predictions of which one has its type: all can be correct, but only one way round."""
    kinds = "ABC"
    gold = spans(*((i * 10, i * 10 + 10, kinds[i % 3]) for i in range(10_000)))
    pred = spans(*((i * 10 + 5, i * 10 + 15, kinds[(i + 1) % 3]) for i in range(9_999)))
    scores = score(gold, pred, "type", "lenient")
    assert (scores.counts("type").cor, scores.counts("lenient").cor, scores.greedy) == (9_999, 9_999, ())


@pytest.mark.parametrize("kinds", ["A", "AB"])
def test_a_thousand_identical_spans_each_side(kinds: str) -> None:
    rng = random.Random(1)
    gold = spans(*((3, 9, rng.choice(kinds)) for _ in range(1000)))
    pred = spans(*((3, 9, rng.choice(kinds)) for _ in range(1000)))
    scores = score(gold, pred, "strict", "exact")
    both = sum(min(sum(s.kind == k for _, s in side) for side in (gold, pred)) for k in kinds)
    assert scores.counts("strict").cor == both
    assert (scores.counts("exact").cor, scores.greedy) == (1000, ("d0",))


def greedily(gold: list[Span], pred: list[Span], name: str) -> dict[tuple[Span, Span], int]:
    """The preference of docs/scoring.md#alignment, pair by pair, and then its tie order; all spans distinct."""
    rule, credit = RULES[name], {"COR": 2, "PAR": 1, "INC": 0}
    ranked = sorted(
        (
            -credit[rule(g, p)],
            g.fragments != p.fragments,
            g.kind != p.kind,
            max(g.start, p.start) - min(g.end, p.end),
            abs(g.start - p.start) + abs(g.end - p.end),
            *sorted((g.key, p.key)),
            i,
            j,
        )
        for i, g in enumerate(gold)
        for j, p in enumerate(pred)
        if g.start < p.end and p.start < g.end
    )
    free = (set(range(len(gold))), set(range(len(pred))))
    chosen = {}
    for *_, i, j in ranked:
        if i in free[0] and j in free[1]:
            free[0].remove(i)
            free[1].remove(j)
            chosen[gold[i], pred[j]] = 1
    return chosen


def cluster(seed: int, size: int, room: int) -> list[Span]:
    """Draw distinct spans that all meet in the middle."""
    rng = random.Random(seed)
    drawn: set[Span] = set()
    while len(drawn) < size:
        drawn.add(Span(((rng.randrange(room), rng.randrange(room, 2 * room)),), rng.choice("AB")))
    return sorted(drawn, key=lambda span: span.key)


@pytest.mark.parametrize("name", ["strict", "type"])
def test_larger_clusters_are_aligned_greedily_and_named(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # Every span is offered all others.
    monkeypatch.setattr(greedy_solver, "WINDOW_SPANS", 120)
    gold, pred = cluster(1, 120, 40), cluster(2, 110, 40)
    scores = score([(0, s) for s in gold], [(0, s) for s in pred], name)
    assert scores.greedy == ("d0",)
    partner = scores.partners(name)[0]
    found = {(gold[i], pred[j]): 1 for i, j in enumerate(partner.tolist()) if j >= 0}
    assert found == greedily(gold, pred, name)


@pytest.mark.parametrize("seed", range(6))
def test_equal_boundaries_left_over_are_paired_as_one_by_one(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(seed)
    monkeypatch.setattr(greedy_solver, "WINDOW_SPANS", 1)
    monkeypatch.setattr(tangled_clusters, "EXACT_PAIRS", 10)
    gold = spans(*((3, 9, rng.choice("AAB")) for _ in range(rng.randint(80, 120))))
    pred = spans(*((3, 9, rng.choice("ABC")) for _ in range(rng.randint(80, 120))))

    def decided() -> list[Any]:
        scores = score(gold, pred, "strict", "type", "partial")
        assert scores.greedy == ("d0",)
        names = ("strict", "type", "partial")
        return [column.tolist() for name in names for column in (*scores.decisions(name), *scores.partners(name))]

    alike = greedy_solver._all_alike
    found: list[bool] = []

    def noted(*given: Any) -> bool:
        found.append(alike(*given))
        return found[-1]

    monkeypatch.setattr(greedy_solver, "_all_alike", noted)
    at_once = decided()
    assert any(found)
    monkeypatch.setattr(greedy_solver, "_all_alike", lambda *_: False)
    assert decided() == at_once


def test_just_over_the_limit_is_greedy_and_a_neighbour_is_not_touched() -> None:
    gold, pred = cluster(3, 101, 500), cluster(4, 100, 500)
    assert len(gold[1:]) * len(pred) == tangled_clusters.EXACT_PAIRS
    apart = Span(((5_000, 5_010),), "A")
    scores = score([(0, s) for s in [*gold, apart]], [(0, s) for s in [*pred, apart]], "lenient")
    assert scores.greedy == ("d0",)
    assert scores.counts("lenient").cor == 101
    exact = score([(0, s) for s in gold[1:]], [(0, s) for s in pred], "lenient")
    assert exact.greedy == ()


def test_clusters_joined_only_by_one_side_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two halves that only gold spans bridge are two clusters: neither is too large alone."""
    monkeypatch.setattr(tangled_clusters, "EXACT_PAIRS", 150)
    left = [Span(((i, 40 - i),), "A") for i in range(10)]
    right = [Span(((60 + i, 100 - i),), "A") for i in range(10)]
    bridge = [Span(((45, 55),), "A"), Span(((39, 50),), "A"), Span(((50, 61),), "A")]
    gold = [(0, s) for s in [*left, *bridge[:1], *right]]
    pred = [(0, s) for s in [*left, *right]]
    scores = score(gold, pred, "strict")
    assert (scores.greedy, scores.counts("strict").cor, scores.counts("strict").mis) == ((), 20, 1)


def test_a_long_ladder_is_solved_exactly_within_reach(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search for any perfect matching of such a graph, from nothing, takes time exponential in its length."""
    monkeypatch.setattr(tangled_clusters, "EXACT_PAIRS", 1_000_000)
    sides = [spans(*((i, i + 10 + more, "A") for i in range(600))) for more in (0, 1)]
    scores = score(*sides, "exact", "type")
    assert (scores.counts("exact").inc, scores.counts("type").cor, scores.greedy) == (600, 600, ())


K = 1_000


@pytest.mark.parametrize(
    ("gold", "pred", "strict", "lenient"),
    [
        (lambda i: (i, 2 * K - i, "A"), lambda i: (i, 2 * K - i, "A"), K, K),
        (lambda i: (i, 2 * K - i, "A"), lambda i: (i, 2 * K - i + 1, "A"), 0, K),
        (lambda i: (3, 9, "A"), lambda i: (3, 9, "A"), K, K),
        (lambda i: (3, 9, f"A{i}"), lambda i: (3, 9, f"A{i + 10}"), K - 10, K),
        (lambda i: (i, i + K, "A"), lambda i: (i + 1, i + K, "B"), 0, K),
        (lambda i: (i % 7, 3 * K + i % 11, "A"), lambda i: (3 * i + 8, 3 * i + 10, "A"), 0, K),
    ],
    ids=["nested", "nested, shifted", "equal", "equal but for types", "ladder", "long ones over short ones"],
)
@pytest.mark.parametrize("counting", ["one-to-one", "each-side"])
def test_a_million_overlaps_are_neither_listed_nor_lost(
    gold: Row, pred: Row, strict: int, lenient: int, counting: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A million candidate pairs a case, of which no more are described than a few for each span."""
    described = []

    def counted(tangle: Any, g: Any, p: Any) -> Any:
        described.append(len(g))
        return candidate_pairs(tangle, g, p)

    for module in (tangled_clusters, greedy_solver):
        monkeypatch.setattr(module, "candidate_pairs", counted)
    over = documents(1, 1_000)
    sides = [make("x", over, spans(*map(row, range(K)))) for row in (gold, pred)]
    scores = score_layers(*sides, settings("strict", "lenient", counting=counting))
    if counting == "each-side":
        # A type in gold only, or in the prediction only, shares no identical span.
        assert scores.counts("strict").gold[0] == strict
        assert (scores.counts("lenient").gold[0], scores.counts("lenient").pred[0]) == (K, K)
    else:
        assert (scores.counts("strict").cor, scores.counts("lenient").cor) == (strict, lenient)
    assert max(described, default=0) <= 2 * K * (greedy_solver.WINDOW_SPANS + 5)


def test_a_large_cluster_of_hulls_alone_has_no_pairs() -> None:
    gold = [(0, Span(((0, 1), (10, 11)), "A"))] * 1001
    pred = [(0, Span(((2, 3), (5, 6)), "A"))] * 1001
    counts = score(gold, pred, "lenient").counts("lenient")
    assert (counts.mis, counts.spu, counts.cor) == (1001, 1001, 0)


def test_discontinuous_spans_pair_only_where_they_share_a_character() -> None:
    gold = [(0, Span(((0, 3), (8, 10)), "A")), (0, Span(((20, 25),), "A"))]
    pred = [(0, Span(((4, 7),), "A")), (0, Span(((20, 22), (23, 25)), "A"))]
    scores = score(gold, pred, *SCHEMAS, "left", "approximate", "lenient")
    for name, expected in {
        "strict": (0, 1, 0),
        "exact": (0, 1, 0),
        "partial": (0, 0, 1),
        "type": (1, 0, 0),
        "left": (1, 0, 0),
        "approximate": (1, 0, 0),
        "lenient": (1, 0, 0),
    }.items():
        counts = scores.counts(name)
        assert (counts.cor, counts.inc, counts.par, counts.mis, counts.spu) == (*expected, 1, 1)


def test_positions_beyond_31_bits() -> None:
    """Many long documents: the row of all texts is longer than an int32 can count."""
    from nereval_core.alignment import align
    from nereval_core.alignment.codes import Spans
    from nereval_core.scoring.criteria import CRITERIA, decision_table

    count = 5_000
    column = np.arange(count, dtype=np.int32)
    low = np.full(count, 2**30, np.int32)
    side = Spans(column, low, low + 7, np.zeros(count, np.int16), {})
    base = np.arange(count + 1, dtype=np.int64) * (2**30 + 50)
    outcome = align(side, side, base, decision_table([CRITERIA["strict"]]), types=1)
    assert outcome.gold.counts[0, 0].tolist() == [count, 0, 0, 0, 0]


@pytest.mark.parametrize("documents", [1, 2, 200])
def test_one_huge_span_changes_nothing_elsewhere(documents: int) -> None:
    """With it, lengths and positions take so many bits that documents cannot stand a power of two apart."""
    from nereval_core.alignment import align
    from nereval_core.alignment.codes import Spans
    from nereval_core.scoring.criteria import CRITERIA, SCHEMAS, decision_table

    rng = np.random.default_rng(0)
    count, huge = 1_000, 2**31 - 100_000
    rules = decision_table([CRITERIA[name] for name in SCHEMAS])

    def drawn() -> Spans:
        start = rng.integers(0, 90, count)
        columns = np.stack([rng.integers(0, documents, count), start, start + rng.integers(1, 10, count)])
        doc, start, end = columns[:, np.lexsort(columns[::-1])].astype(np.int32)
        return Spans(doc, start, end, np.zeros(count, np.int16), {})

    def with_huge(side: Spans) -> Spans:
        more = ((side.doc, documents), (side.start, 0), (side.end, huge))
        doc, start, end = (np.append(column, last).astype(np.int32) for column, last in more)
        return Spans(doc, start, end, np.zeros(count + 1, np.int16), {})

    gold, pred = drawn(), drawn()
    base = np.arange(documents + 1, dtype=np.int64) * 100
    without = align(gold, pred, base, rules, types=1)
    outcome = align(with_huge(gold), with_huge(pred), np.append(base, base[-1] + huge), rules, types=1)
    for one, other in ((without.gold, outcome.gold), (without.pred, outcome.pred)):
        assert np.array_equal(one.rows, other.rows[:-1])
        assert other.rows[-1, : rules.criteria].tolist() == [0] * rules.criteria
