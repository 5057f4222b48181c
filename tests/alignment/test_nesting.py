"""Nested spans: pairs fixed beforehand and clusters solved side by side change nothing but the time."""

from __future__ import annotations

import random
from dataclasses import replace
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nereval_core import alignment
from nereval_core.alignment import chunk_sweep, narrow_clusters, nesting, small_clusters, tangled_clusters
from nereval_core.alignment.candidates import CandidatePairs, TangledSpans
from nereval_core.alignment.identical_pairs import Scope, fixed_first, scopes
from nereval_core.scoring import Settings, score_layers
from nereval_core.scoring.criteria import CRITERIA, SCHEMAS, decision_table
from tests.benchmarks.generated import TYPES, Generated
from tests.benchmarks.nested import nested
from tests.scoring.test_scoring import check, flatten, score
from tests.support.draws import draws
from tests.support.oracle import Span
from tests.support.spans import CRITERIA_TESTED, documents, make

Drawn = list[list[Span]]


def scoped(names: list[str]) -> dict[Scope, list[str]]:
    found = scopes(decision_table([CRITERIA[name] for name in names]))
    return {scope: [names[column] for column in columns] for scope, columns in found.items()}


def test_where_identical_pairs_may_be_fixed() -> None:
    """Four criteria allow it everywhere (alignment/identical_pairs.py); a looser one must not lose credit by it."""
    names = [criterion.name for criterion in CRITERIA.values() if criterion.unit == "span"]
    found = scoped([name for name in names if name not in ("core", "alternatives")])
    assert found["everywhere"] == ["strict", "exact", "partial", "muc"]
    assert found["innermost"] == ["type", "left", "right", "lenient"]
    assert found["nowhere"] == ["either", "approximate"]
    assert scoped(["core", "alternatives"]) == {"nowhere": ["core", "alternatives"]}
    first = {name: fixed_first(decision_table([CRITERIA[name]])) for name in names}
    assert [name for name, (innermost, _) in first.items() if not innermost] == [
        name for name in names if name in ("either", "approximate", "core", "alternatives")
    ]
    assert [name for name, (_, lone) in first.items() if not lone] == ["lenient", "core"]
    assert fixed_first(decision_table([CRITERIA[name] for name in SCHEMAS])) == (True, True)


@pytest.mark.parametrize(
    ("name", "gold", "pred", "correct"),
    [
        # The identical pair is not part of the best alignment: each of its spans finds another.
        ("type", [(0, 6, "A"), (4, 10, "A")], [(4, 10, "A"), (9, 14, "A")], 2),
        ("approximate", [(4, 10, "A"), (2, 12, "A")], [(4, 10, "A"), (5, 6, "A")], 2),
        ("either", [(4, 10, "A"), (4, 12, "A")], [(4, 10, "A"), (2, 10, "A")], 2),
        ("lenient", [(0, 6, "A"), (4, 10, "A")], [(4, 10, "A"), (9, 14, "A")], 2),
    ],
)
def test_an_identical_pair_that_must_not_be_fixed(
    name: str, gold: list[tuple[int, int, str]], pred: list[tuple[int, int, str]], correct: int
) -> None:
    sides = [[Span(((low, high),), kind) for low, high, kind in side] for side in (gold, pred)]
    scores = score(documents(1), [sides[0]], [sides[1]], Settings((CRITERIA[name],)))
    check([sides[0]], [sides[1]], scores, name)
    assert scores.counts(name).cor == correct


@st.composite
def trees(draw: st.DrawFn, *, room: int = 40, levels: int = 3, most: int = 4) -> list[Span]:
    """Spans that stand inside one another, none crossing, some of them doubled."""
    found: list[Span] = []

    def fill(low: int, high: int, level: int) -> None:
        cuts = sorted(draw(st.lists(st.integers(low, high), max_size=2 * most, unique=True)))
        for start, end in zip(cuts[::2], cuts[1::2], strict=False):
            found.append(Span(((start, end),), draw(st.sampled_from("AAB"))))
            if draw(st.integers(0, 9)) == 0:
                found.append(replace(found[-1], kind=draw(st.sampled_from("AB"))))
            if level < levels and end - start > 2:
                fill(start, end, level + 1)

    fill(0, room, 1)
    return found


@st.composite
def predicted(draw: st.DrawFn, gold: list[Span]) -> list[Span]:
    """Predictions for gold spans: most equal, others shifted, of another type or left out, and some from nowhere."""
    found = []
    for span in gold:
        fate = draw(st.integers(0, 9))
        start, end = span.start, span.end
        if fate == 7:
            end += 1
        if fate == 8:
            found.append(replace(span, kind="C"))
        elif fate < 8:
            found.append(replace(span, fragments=((start, end),)))
    return [*found, *draw(trees(levels=1, most=1))]


@st.composite
def corpora(draw: st.DrawFn) -> tuple[Drawn, Drawn]:
    gold = draw(st.lists(trees(), min_size=1, max_size=3))
    return gold, [draw(predicted(spans)) for spans in gold]


def side_by_side(monkeypatch: pytest.MonkeyPatch, *, small: bool = False) -> None:
    """Leave all tangled clusters to the solvers behind the sweep, or all but small ones."""
    how: dict[str, Any] = {"identical_first": lambda: (False, False), "small_apart": small}
    monkeypatch.setattr(alignment, "sweep", lambda *given, **asked: chunk_sweep.sweep(*given, **(asked | how)))


def plainly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Send every tangled cluster to the exact solver for any shape, one at a time."""

    def unsolved(rules: Any, tangle: TangledSpans, pairs: CandidatePairs, cluster: Any) -> tuple[Any, Any]:
        return np.zeros((rules.criteria, len(pairs)), bool), np.zeros(len(pairs), bool)

    side_by_side(monkeypatch)
    monkeypatch.setattr(
        tangled_clusters, "scopes", lambda rules: {"nowhere": list(range(rules.criteria))} if rules.criteria else {}
    )
    monkeypatch.setattr(tangled_clusters, "solve_nested", unsolved)
    monkeypatch.setattr(tangled_clusters, "_is_flat", lambda start, end: False)
    monkeypatch.setattr(tangled_clusters.NarrowCluster, "of", lambda tangle, pairs: None)


def in_segments(monkeypatch: pytest.MonkeyPatch, segment: int) -> None:
    """Send every cluster in which few spans are open at once to the solver by segments, of so many spans each."""
    plain = tangled_clusters.NarrowCluster.of
    plainly(monkeypatch)
    monkeypatch.setattr(tangled_clusters.NarrowCluster, "of", plain)
    monkeypatch.setattr(narrow_clusters, "SEGMENT_SPANS", segment)
    monkeypatch.setattr(narrow_clusters, "CELLS_PER_SPAN", 1 << 20)


def outcomes(gold: Drawn, pred: Drawn) -> list[Any]:
    over = documents(len(gold))
    layers = make("gold", over, flatten(gold)), make("pred", over, flatten(pred))
    scores = score_layers(*layers, Settings(CRITERIA_TESTED))
    found: list[Any] = []
    for criterion in CRITERIA_TESTED:
        columns = (*scores.decisions(criterion.name), *scores.partners(criterion.name))
        found.append((criterion.name, *(column.tolist() for column in columns)))
    return found


@draws(13)
@given(drawn=corpora(), segment=st.integers(1, 16))
def test_nested_documents_equal_the_plain_way(drawn: tuple[Drawn, Drawn], segment: int) -> None:
    fast = outcomes(*drawn)
    with pytest.MonkeyPatch.context() as patch:
        side_by_side(patch, small=True)
        tried = outcomes(*drawn)
        side_by_side(patch)
        in_tables = outcomes(*drawn)
        plainly(patch)
        plain = outcomes(*drawn)
    with pytest.MonkeyPatch.context() as patch:
        in_segments(patch, segment)
        segmented = outcomes(*drawn)
    assert fast == plain
    assert tried == plain
    assert in_tables == plain
    assert segmented == plain


@st.composite
def near(draw: st.DrawFn) -> tuple[Drawn, Drawn]:
    """Few spans a document that cross, contain and repeat one another: as many as all alignments can be tried of."""
    bounds = st.tuples(st.integers(0, 9), st.integers(1, 5), st.sampled_from("AB"))
    one = st.lists(bounds, min_size=1, max_size=4)
    sides = draw(st.lists(st.tuples(one, one), min_size=1, max_size=2))
    return tuple([[Span(((low, low + size),), kind) for low, size, kind in side[i]] for side in sides] for i in (0, 1))


@pytest.mark.parametrize("way", ["fast", "by trying", "side by side", "in segments", "plain"])
@draws(13)
@given(drawn=near(), segment=st.integers(1, 3))
def test_every_solver_finds_what_trying_all_alignments_finds(
    way: str, drawn: tuple[Drawn, Drawn], segment: int
) -> None:
    """Offsets a multiple of others, up to 2^31, are aligned alike, however many bits their sums and keys take."""
    gold, pred = drawn
    with pytest.MonkeyPatch.context() as patch:
        if way == "by trying":
            side_by_side(patch, small=True)
        elif way == "side by side":
            side_by_side(patch)
        elif way == "in segments":
            in_segments(patch, segment)
        elif way == "plain":
            plainly(patch)
        scores = score(documents(len(gold)), gold, pred, Settings(CRITERIA_TESTED))
        for criterion in CRITERIA_TESTED:
            check(gold, pred, scores, criterion.name)
        expected = stretched(drawn, 1)
        for times in ((1 << 18) + 1, (1 << 27) + 3):
            assert stretched(drawn, times) == expected


def stretched(drawn: tuple[Drawn, Drawn], times: int) -> list[Any]:
    """Return the decisions of spans whose offsets are multiplied by `times`."""
    sides = []
    for side in drawn:
        rows = sorted((doc, s.start, s.end, "AB".index(s.kind)) for doc, spans in enumerate(side) for s in spans)
        doc, start, end, kind = np.array(rows, np.int64).T
        sides.append(
            alignment.Spans(
                doc.astype(np.int32),
                (start * times).astype(np.int32),
                (end * times).astype(np.int32),
                kind.astype(np.int16),
                {},
            )
        )
    base = np.arange(len(drawn[0]) + 1, dtype=np.int64) * (15 * times)
    outcome = alignment.align(*sides, base, decision_table([CRITERIA[name] for name in SCHEMAS]), types=2)
    return [part.tolist() for side in (outcome.gold, outcome.pred) for part in (side.rows, side.counts)]


@pytest.mark.parametrize("seed", [*range(6), *(pytest.param(seed, marks=pytest.mark.nightly) for seed in range(6, 40))])
def test_random_documents_equal_the_plain_way(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Crossing, doubled and discontinuous spans with cores and alternatives: nothing but tables over subsets."""
    from tests.support.spans import random_spans

    rng = random.Random(seed)
    gold = [random_spans(rng, 9, room=16) for _ in range(8)]
    # As found elsewhere, with what others predicted.
    pred = [[*rng.sample(spans, len(spans) // 2), *random_spans(rng, 4, room=16)] for spans in gold]
    fast = outcomes(gold, pred)
    side_by_side(monkeypatch)
    in_tables = outcomes(gold, pred)
    in_segments(monkeypatch, 1 + seed % 4)
    segmented = outcomes(gold, pred)
    plainly(monkeypatch)
    plain = outcomes(gold, pred)
    assert fast == plain
    assert in_tables == plain
    assert segmented == plain


@pytest.mark.parametrize(
    ("module", "limit", "value"),
    [
        (nesting, "MOST_OPEN_SPANS", 3),
        (nesting, "LONGEST_CLUSTER_SPANS", 9),
        (nesting, "MOST_PAIRS", 3),
        (nesting, "PAIR_BITS", 12),
        (nesting, "SUM_BITS", 4),
        (nesting, "BATCH_CELLS", 1),
        (chunk_sweep, "LENGTH_BITS", 4),
        (chunk_sweep, "SMALL_CLUSTER_SPANS", 2),
        (small_clusters, "CASE_BITS", 9),
        (small_clusters, "FLUSH_SPANS", 1),
        (small_clusters, "BLOCK_CLUSTERS", 3),
    ],
)
def test_clusters_beyond_a_limit_are_solved_otherwise(
    module: ModuleType, limit: str, value: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = nested(1_000, levels=2, doubled=0.1, outer=0.1)
    expected = sides(data)
    monkeypatch.setattr(module, limit, value)
    assert sides(data) == expected


@pytest.mark.parametrize("how", [{}, {"levels": 3}, {"doubled": 0.1}, {"outer": 0.01, "many": 40, "by_document": 80}])
def test_generated_nested_spans_equal_the_plain_way(how: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    data = nested(1_000, **how)
    expected = sides(data)
    plainly(monkeypatch)
    assert sides(data) == expected


def sides(data: Generated) -> list[Any]:
    rules = decision_table([CRITERIA[name] for name in SCHEMAS])
    outcome = alignment.align(data.gold, data.pred, data.base, rules, types=TYPES)
    assert outcome.greedy == ()
    return [part.tolist() for side in (outcome.gold, outcome.pred) for part in (side.rows, side.counts)]
