"""Decisions and counts against an independent reading of docs/scoring.md, and the properties it promises."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nereval_core import alignment
from nereval_core.alignment import greedy_solver, tangled_clusters
from nereval_core.corpus import Documents, Layer
from nereval_core.scoring import Counts, Scores, Settings, score_layers
from nereval_core.scoring.criteria import APPLICABLE, CRITERIA, SCHEMAS, Decision, applicable
from nereval_core.scoring.criterion_syntax import criterion_from_parts
from tests.support.draws import draws
from tests.support.oracle import Span, decide, decide_each_side
from tests.support.spans import CRITERIA_TESTED, documents, make, random_spans, settings


def one(start: int, end: int, kind: str = "A") -> Span:
    return Span(((start, end),), kind)


def in_reading_order(layer: Layer, codes: np.ndarray) -> list[str]:
    read = np.arange(len(layer)) if layer.order is None else layer.order
    found = [""] * len(layer)
    for place, code in zip(read.tolist(), codes.tolist(), strict=True):
        found[place] = Decision(code).name
    return found


def corpus(seed: int, count: int, most: int, **how: object) -> tuple[Documents, list[list[Span]], list[list[Span]]]:
    rng = random.Random(seed)
    over = documents(count)
    drawn = [[random_spans(rng, most, **how) for _ in range(count)] for _ in range(2)]
    return over, drawn[0], drawn[1]


def flatten(by_document: list[list[Span]]) -> list[tuple[int, Span]]:
    return [(doc, span) for doc, spans in enumerate(by_document) for span in spans]


def score(over: Documents, gold: list[list[Span]], pred: list[list[Span]], how: Settings) -> Scores:
    return score_layers(make("gold", over, flatten(gold)), make("pred", over, flatten(pred)), how)


# The worked table of the issue: one pair equal, one equal in span only, one overlapping with equal type, one
# overlapping with unequal type, one missed, one spurious.
SIX_GOLD = [one(0, 5, "A"), one(10, 15, "A"), one(20, 25, "A"), one(30, 35, "A"), one(40, 45, "A")]
SIX_PRED = [one(0, 5, "A"), one(10, 15, "B"), one(20, 27, "A"), one(30, 37, "B"), one(50, 55, "A")]


@pytest.mark.parametrize(
    ("name", "counts", "ratio"),
    [
        ("strict", (1, 3, 0, 1, 1), 0.2),
        ("exact", (2, 2, 0, 1, 1), 0.4),
        ("partial", (2, 0, 2, 1, 1), 0.6),
        ("type", (2, 2, 0, 1, 1), 0.4),
    ],
)
def test_worked_table_of_the_schemas(name: str, counts: tuple[int, ...], ratio: float) -> None:
    found = score(documents(1), [SIX_GOLD], [SIX_PRED], settings(*SCHEMAS)).counts(name)
    assert (found.cor, found.inc, found.par, found.mis, found.spu) == counts
    assert (found.precision, found.recall, found.f1) == pytest.approx((ratio, ratio, ratio))


def test_ratios_of_given_counts() -> None:
    counts = Counts((10, 5, 3, 2, 0), (10, 5, 3, 0, 4))
    assert (counts.pos, counts.act) == (20, 22)
    assert counts.precision == pytest.approx(11.5 / 22)
    assert counts.recall == pytest.approx(0.575)
    assert counts.f1 == pytest.approx(2 * 11.5 / 42)


@pytest.mark.parametrize(
    ("counts", "ratios"),
    [
        (Counts(), (None, None, None)),
        (Counts(gold=(0, 0, 0, 3, 0)), (None, 0, 0)),
        (Counts(pred=(0, 0, 0, 0, 3)), (0, None, 0)),
        (Counts((0, 2, 0, 0, 0), (0, 2, 0, 0, 0)), (0, 0, 0)),
    ],
)
def test_undefined_ratios_are_none(counts: Counts, ratios: tuple[float | None, ...]) -> None:
    assert (counts.precision, counts.recall, counts.f1) == ratios


Decide = Callable[[list[Span], list[Span], str], tuple[list[str], list[str]]]


def check(gold: list[list[Span]], pred: list[list[Span]], scores: Scores, name: str, expected: Decide = decide) -> None:
    """Compare the decisions of all spans with an independent reading; which of identical spans got which is free."""
    want = [expected(g, p, name) for g, p in zip(gold, pred, strict=True)]
    for side, drawn in enumerate((gold, pred)):
        found = iter(in_reading_order(scores.layers(name)[side], scores.decisions(name)[side]))
        for spans, decided in zip(drawn, (row[side] for row in want), strict=True):
            ours = [next(found) for _ in spans]
            pairs = [sorted(zip((s.key for s in spans), row, strict=True)) for row in (ours, decided)]
            assert pairs[0] == pairs[1], (name, gold, pred)
            # Of identical spans the first read is aligned first.
            for i, span in enumerate(spans):
                if ours[i] in ("MIS", "SPU"):
                    assert all(ours[j] == ours[i] for j in range(i, len(spans)) if spans[j] == span)
    kinds: dict[str, list[str]] = {}
    for spans, (decided, _) in zip(gold, want, strict=True):
        for span, decision in zip(spans, decided, strict=True):
            kinds.setdefault(span.kind, []).append(decision)
    for kind, decided in kinds.items():
        assert scores.by_type(name)[kind].gold == tuple(decided.count(d.name) for d in Decision)


@pytest.mark.parametrize("seed", range(40))
def test_every_decision_equals_the_best_of_all_alignments(seed: int) -> None:
    over, gold, pred = corpus(seed, 30, 4)
    scores = score(over, gold, pred, Settings(CRITERIA_TESTED))
    for criterion in CRITERIA_TESTED:
        check(gold, pred, scores, criterion.name)


@pytest.mark.parametrize("seed", range(12))
def test_large_clusters_equal_the_best_of_all_alignments(seed: int) -> None:
    """Six spans a side: beyond the solver that tries all matchings of small clusters."""
    rng = random.Random(seed)
    gold = [[one(*sorted(rng.sample(range(9), 2)), rng.choice("AB")) for _ in range(6)] for _ in range(3)]
    pred = [[one(*sorted(rng.sample(range(9), 2)), rng.choice("AB")) for _ in range(rng.choice((3, 6)))] for _ in gold]
    scores = score(documents(3), gold, pred, Settings(CRITERIA_TESTED))
    for name in ("strict", "partial", "type", "approximate", "lenient", "muc", "half-union", "half-type"):
        check(gold, pred, scores, name)


@pytest.mark.parametrize("seed", range(8))
def test_staircases_equal_the_best_of_all_alignments(seed: int) -> None:
    """Flat sides whose overlaps form chains longer than small clusters."""
    rng = random.Random(seed)

    def flat() -> list[Span]:
        cuts = sorted(rng.sample(range(24), 9))
        return [one(low, high, rng.choice("AB")) for low, high in pairwise(cuts)]

    gold, pred = [flat() for _ in range(3)], [flat() for _ in range(3)]
    scores = score(documents(3), gold, pred, Settings(CRITERIA_TESTED))
    for criterion in CRITERIA_TESTED:
        check(gold, pred, scores, criterion.name)


@pytest.mark.parametrize("seed", range(10))
def test_each_side_for_itself(seed: int) -> None:
    over, gold, pred = corpus(seed, 30, 6)
    scores = score(over, gold, pred, Settings(CRITERIA_TESTED, counting="each-side"))
    for criterion in CRITERIA_TESTED:
        check(gold, pred, scores, criterion.name, decide_each_side)


LOOSER = [
    ("strict", "left"),
    ("strict", "right"),
    ("left", "either"),
    ("right", "either"),
    ("either", "approximate"),
    ("approximate", "type"),
    ("type", "lenient"),
    ("strict", "exact"),
    ("exact", "lenient"),
    ("strict", "alternatives"),
    ("alternatives", "type"),
    ("strict", "core"),
    ("core", "type"),
    ("strict", "muc"),
    ("muc", "strict"),
    ("muc", "type"),
]
"""The pair of strict and muc stands here both ways: they have the same correct spans."""


def span_in(room: int) -> st.SearchStrategy[Span]:
    """A span of up to three fragments in a text of so many characters, so that spans nest, cross, touch and repeat."""
    edges = st.lists(st.integers(0, room), min_size=2, max_size=6, unique=True).map(sorted)
    parts = edges.map(lambda cuts: tuple(zip(cuts[::2], cuts[1::2], strict=False)))
    others = st.lists(st.tuples(st.integers(0, room - 1), st.just(room)), max_size=2).map(tuple)
    return st.builds(_with_core, parts, st.sampled_from("ABC"), st.integers(0, 2 * room), others)


def _with_core(parts: tuple[tuple[int, int], ...], kind: str, place: int, others: tuple[tuple[int, int], ...]) -> Span:
    """A span with, about every other time, a core that reaches from some place in it to its end."""
    start, end = parts[0][0], parts[-1][1]
    return Span(parts, kind, (place, end) if start <= place < end else None, others)


def side(room: int = 24, most: int = 8, count: int = 4) -> st.SearchStrategy[list[list[Span]]]:
    return st.lists(st.lists(span_in(room), max_size=most), min_size=count, max_size=count)


@contextmanager
def limited(window: int | None) -> Iterator[None]:
    """Align every cluster greedily, each span being offered so many others; exactly where `window` is None."""
    with pytest.MonkeyPatch.context() as patch:
        if window is not None:
            patch.setattr(tangled_clusters, "EXACT_PAIRS", 0)
            patch.setattr(greedy_solver, "WINDOW_SPANS", window)
        yield


WINDOWS = pytest.mark.parametrize("window", [None, 1])


@draws(8)
@WINDOWS
@pytest.mark.parametrize("counting", ["one-to-one", "each-side"])
@given(gold=side(), pred=side())
def test_promised_properties(window: int | None, counting: str, gold: list[list[Span]], pred: list[list[Span]]) -> None:
    over = documents(len(gold))
    how = Settings(CRITERIA_TESTED, counting=counting)  # type: ignore[arg-type]
    with limited(window):
        scores = score(over, gold, pred, how)
        swapped = score(over, pred, gold, how)
    symmetric = {*APPLICABLE, "half-union", "near-type", "near-left", "near-strict", "half-start", "half-type"}
    for criterion in CRITERIA_TESTED:
        name = criterion.name
        counts = scores.counts(name)
        assert (counts.pos, counts.act) == (len(scores.gold), len(scores.pred))
        assert counts.gold[Decision.SPU] == counts.pred[Decision.MIS] == 0
        assert sum(scores.by_document(name).values(), Counts()) == counts
        assert sum(scores.by_type(name).values(), Counts()) == counts
        if counting == "one-to-one":
            assert (counts.cor, counts.inc, counts.par) == counts.gold[:3]
        if name in symmetric:
            other = swapped.counts(name)
            assert other.gold[:3] == counts.pred[:3] and other.pred[:3] == counts.gold[:3]
            assert (other.mis, other.spu, other.precision) == (counts.spu, counts.mis, counts.recall)
            for kind, row in scores.by_type(name).items():
                mirrored = swapped.by_type(name)[kind]
                assert row.gold[:3] == mirrored.pred[:3] and row.mis == mirrored.spu
    for stricter, looser in LOOSER if window is None else ():
        for number in (0, 1):
            sides = [(scores.counts(name).gold, scores.counts(name).pred)[number] for name in (stricter, looser)]
            assert sides[0][Decision.COR] <= sides[1][Decision.COR]


@draws(20)
@pytest.mark.parametrize("counting", ["one-to-one", "each-side"])
@given(gold=side(), pred=side())
def test_muc_is_strict_with_half_points(counting: str, gold: list[list[Span]], pred: list[list[Span]]) -> None:
    """Type by type it has the correct spans of strict; its credit is between that of strict and those of two others."""
    how = Settings(CRITERIA_TESTED, counting=counting)  # type: ignore[arg-type]
    scores = score(documents(len(gold)), gold, pred, how)
    strict, muc = scores.by_type("strict"), scores.by_type("muc")
    for kind, row in muc.items():
        for of_muc, of_strict in ((row.gold, strict[kind].gold), (row.pred, strict[kind].pred)):
            assert of_muc[Decision.COR] == of_strict[Decision.COR]

    def credit(name: str) -> tuple[int, int]:
        counts = scores.counts(name)
        of_gold, of_pred = (2 * side[Decision.COR] + side[Decision.PAR] for side in (counts.gold, counts.pred))
        return of_gold, of_pred

    for number in (0, 1):
        assert credit("strict")[number] <= credit("muc")[number]
        assert all(credit("muc")[number] <= credit(name)[number] for name in ("partial", "type", "near-strict"))


@draws(8)
@WINDOWS
@given(gold=side(), pred=side(), random=st.randoms(use_true_random=False))
def test_order_of_spans_and_documents_changes_nothing(
    window: int | None, gold: list[list[Span]], pred: list[list[Span]], random: random.Random
) -> None:
    over = documents(len(gold))
    with limited(window):
        scores = score(over, gold, pred, Settings(CRITERIA_TESTED))
    turn = random.sample(range(len(gold)), len(gold))
    other = Documents(tuple(over.ids[i] for i in turn), tuple(over.texts[i] for i in turn))
    mixed = []
    for drawn in (gold, pred):
        spans = flatten([drawn[i] for i in turn])
        mixed.append(make("x", other, random.sample(spans, len(spans))))
    with limited(window):
        again = score_layers(*mixed, Settings(CRITERIA_TESTED))
    assert (again.read_gold, again.read_pred) == (scores.read_gold, scores.read_pred)
    for criterion in CRITERIA_TESTED:
        assert again.by_document(criterion.name) == scores.by_document(criterion.name)
        assert again.by_type(criterion.name) == scores.by_type(criterion.name)


@draws(13)
@given(gold=side(room=12, most=4, count=2), pred=side(room=12, most=4, count=2))
def test_drawn_documents_equal_the_best_of_all_alignments(gold: list[list[Span]], pred: list[list[Span]]) -> None:
    scores = score(documents(len(gold)), gold, pred, Settings(CRITERIA_TESTED))
    for criterion in CRITERIA_TESTED:
        check(gold, pred, scores, criterion.name)


@pytest.mark.parametrize("name", ["type", "lenient"])
def test_discontinuous_spans_beside_an_identical_pair(name: str) -> None:
    """Both meet the identical pair and not each other: each of its spans finds another partner."""
    gold = [one(2, 4), Span(((0, 1), (2, 3), (6, 7)), "A")]
    pred = [one(2, 4), Span(((1, 2), (3, 5)), "A")]
    scores = score(documents(1), [gold], [pred], settings(name))
    check([gold], [pred], scores, name)
    assert scores.counts(name).cor == 2


@st.composite
def with_moved_fragments(draw: st.DrawFn) -> tuple[list[list[Span]], list[list[Span]]]:
    """Gold, and predictions made of it: equal, of another type, or with other fragments within the same hull."""
    gold = [draw(st.lists(span_in(9), min_size=1, max_size=4)) for _ in range(3)]

    def predicted(span: Span) -> Span:
        way = draw(st.integers(0, 3))
        if way == 0:
            return replace(span, kind="B")
        if way == 1 or span.end - span.start < 3:
            return span
        low, high = sorted(
            draw(st.lists(st.integers(span.start + 1, span.end - 1), min_size=2, max_size=2, unique=True))
        )
        return replace(span, fragments=((span.start, low), (high, span.end)))

    return gold, [[predicted(span) for span in spans] for spans in gold]


@draws(20)
@given(drawn=with_moved_fragments())
def test_moved_fragments_equal_the_best_of_all_alignments(drawn: tuple[list[list[Span]], list[list[Span]]]) -> None:
    scores = score(documents(len(drawn[0])), *drawn, Settings(CRITERIA_TESTED))
    for criterion in CRITERIA_TESTED:
        check(*drawn, scores, criterion.name)


@draws(13)
@given(gold=side(), pred=side(), cut=st.integers(0, 4))
def test_counts_of_parts_add_up(gold: list[list[Span]], pred: list[list[Span]], cut: int) -> None:
    """Counts are a commutative monoid: scoring shards and adding is scoring all."""
    how = Settings(CRITERIA_TESTED)
    whole = score(documents(len(gold)), gold, pred, how)
    parts = [score(documents(len(g)), g, p, how) for g, p in ((gold[:cut], pred[:cut]), (gold[cut:], pred[cut:]))]
    for criterion in CRITERIA_TESTED:
        assert parts[0].counts(criterion.name) + parts[1].counts(criterion.name) == whole.counts(criterion.name)


def test_partners_agree_with_decisions() -> None:
    over, gold, pred = corpus(5, 40, 9, room=25)
    scores = score(over, gold, pred, Settings(CRITERIA_TESTED))
    for criterion in CRITERIA_TESTED:
        to_pred, to_gold = scores.partners(criterion.name)
        of_gold, of_pred = scores.decisions(criterion.name)
        assert np.array_equal(to_pred < 0, of_gold == Decision.MIS)
        assert np.array_equal(to_gold < 0, of_pred == Decision.SPU)
        paired = np.flatnonzero(to_pred >= 0)
        assert np.array_equal(to_gold[to_pred[paired]], paired)
        assert np.array_equal(of_gold[paired], of_pred[to_pred[paired]])


def test_chunks_do_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many documents in small chunks, and solvers called more than once, against the sum of their parts."""
    monkeypatch.setattr(alignment, "CHUNK_SPANS", 1_000)
    monkeypatch.setattr(alignment, "FLUSH_SPANS", 5_000)
    over, gold, pred = corpus(3, 300, 5)
    once = score(over, gold, pred, Settings(CRITERIA_TESTED))
    many = documents(300 * 60, 2)
    layers = [
        make("x", many, [(doc + 300 * turn, span) for turn in range(60) for doc, span in flatten(side)])
        for side in (gold, pred)
    ]
    scores = score_layers(*layers, Settings(CRITERIA_TESTED))
    for criterion in CRITERIA_TESTED:
        counts = scores.counts(criterion.name)
        single = once.counts(criterion.name)
        assert counts == Counts(tuple(60 * n for n in single.gold), tuple(60 * n for n in single.pred))


@pytest.mark.parametrize(("step", "side"), [(1, None), *((shift, side) for shift in (-1, 0, 1) for side in (0, 1))])
def test_chunks_that_end_at_the_last_span(monkeypatch: pytest.MonkeyPatch, step: int, side: int | None) -> None:
    """A chunk of one span, and of as many as a side has, one less and one more: no decision depends on it."""
    over, *both = corpus(3, 60, 4)
    once = score(over, *both, Settings(CRITERIA_TESTED))
    monkeypatch.setattr(alignment, "CHUNK_SPANS", step if side is None else len(flatten(both[side])) + step)
    again = score(over, *both, Settings(CRITERIA_TESTED))
    for criterion in CRITERIA_TESTED:
        for ours, theirs in zip(again.decisions(criterion.name), once.decisions(criterion.name), strict=True):
            assert np.array_equal(ours, theirs)


def test_types_merged_and_left_out() -> None:
    over = documents(1)
    gold = make("gold", over, [(0, one(0, 5, "DNA")), (0, one(0, 5, "RNA")), (0, one(10, 12, "cell"))])
    pred = make("pred", over, [(0, one(0, 5, "protein")), (0, one(10, 12, "virus"))])
    how = Settings((CRITERIA["strict"],), merge=(("DNA", "M"), ("RNA", "M"), ("protein", "M")), leave_out=("cell",))
    counts = score_layers(gold, pred, how).counts("strict")
    assert (counts.cor, counts.mis, counts.spu, counts.pos) == (1, 1, 1, 2)


def test_more_types_than_either_side_could_number_alone() -> None:
    over, count = documents(1, 4_000), 20_000
    gold = make("gold", over, [(0, one(i, i + 1, f"g{i}")) for i in range(count)])
    pred = make("pred", over, [(0, one(i, i + 1, "g7" if i == 7 else f"p{i}")) for i in range(count)])
    scores = score_layers(gold, pred, settings("strict", "exact"))
    assert (scores.counts("strict").cor, scores.counts("exact").cor) == (1, count)
    assert len(scores.by_type("strict")) == 2 * count - 1


def test_what_criteria_need_is_told_of_a_gold_layer() -> None:
    plain = make("gold", documents(1), [(0, one(0, 2))])
    more = make("gold", documents(1), [(0, Span(((0, 2),), "A", (0, 1), ((1, 4),)))])
    assert applicable(plain) == APPLICABLE and applicable(more) == tuple(CRITERIA)
    for name in ("core", "alternatives"):
        lacking = CRITERIA[name].lacks(plain)
        assert lacking is not None and lacking == CRITERIA[name].needs and name in lacking
        assert CRITERIA[name].lacks(more) is None


def test_more_questions_than_a_code_has_bits_for() -> None:
    """Criteria that ask too much at once are aligned in groups, each as if it were alone."""
    over, gold, pred = corpus(3, 20, 4)
    shares = [
        criterion_from_parts(f"share-{n}", {"boundaries": "core", "minimum": f"{n}/7", "share": "union"}, "test")
        for n in range(1, 6)
    ]
    both = (*shares, CRITERIA["alternatives"], CRITERIA["core"])
    scores = score(over, gold, pred, Settings(both))
    assert len(scores.groups) > 1
    for criterion in both:
        alone = score(over, gold, pred, Settings((criterion,)))
        assert scores.by_type(criterion.name) == alone.by_type(criterion.name)


@pytest.mark.parametrize("turned", [False, True])
def test_spans_that_differ_in_their_core_only_are_told_apart(turned: bool) -> None:
    """The order of reading must not decide which of the two is correct."""
    first, second = Span(((0, 9),), "A", (0, 2)), Span(((0, 9),), "A", (5, 7))
    read = [(0, first), (0, second)][:: -1 if turned else 1]
    over = documents(1)
    gold, pred = make("gold", over, read), make("pred", over, [(0, one(4, 8))])
    scores = score_layers(gold, pred, settings("core", "strict"))
    found = in_reading_order(gold, scores.decisions("core")[0])
    assert found == (["MIS", "COR"] if not turned else ["COR", "MIS"])
    (partner,) = scores.partners("core")[1].tolist()
    assert gold.cores[partner] == (5, 7)


@pytest.mark.parametrize("sides", [([], []), ([one(0, 3)], []), ([], [one(0, 3)])])
def test_empty_layers(sides: tuple[list[Span], list[Span]]) -> None:
    scores = score(documents(2), [sides[0], []], [sides[1], []], Settings(CRITERIA_TESTED))
    for criterion in CRITERIA_TESTED:
        counts = scores.counts(criterion.name)
        assert (counts.mis, counts.spu) == (len(sides[0]), len(sides[1]))
        assert counts.f1 == (0.0 if counts.pos + counts.act else None)
