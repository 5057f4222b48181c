"""Counting by token against a count token by token."""

from __future__ import annotations

import random
import re
from collections import Counter
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nereval_core.corpus import Documents, Intervals
from nereval_core.corpus.tokens import tokens_of
from nereval_core.records import tables
from nereval_core.report.signature import signature
from nereval_core.scoring import Counting, Counts, Scores, Settings, score_layers
from nereval_core.scoring.count_tables import TEXT_DTYPE
from nereval_core.scoring.criteria import CRITERIA, Decision
from nereval_core.scoring.criterion_syntax import criterion_from_parts
from tests.support.oracle import COR, MIS, SPU, Span, split, tokens_by_decision
from tests.support.spans import make, random_spans, settings

TEXTS = ("ab, c-d éf  g_h 7", "a b c d e f g h i", "(x) yz\u0301 ⁂⁂ tt\tuu", "….,;:!?-+*/=()[]")
OWN = [(0, 2), (2, 3), (5, 9), (9, 11), (12, 16)]


@pytest.mark.parametrize("text", [*TEXTS, "", " \n\u2003", "\U0001d400x 👩\u200d⚕️"])
def test_tokens_where_a_document_has_none(text: str) -> None:
    assert tokens_of(Documents(("d",), (text,))).of_document(0) == split(text)


@given(texts=st.lists(st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from(" \n_a1-."), max_size=12)))
def test_tokens_are_found_document_by_document(texts: list[str]) -> None:
    """A word does not go on into the next document, and an empty one has none."""
    over = Documents(tuple(f"d{i}" for i in range(len(texts))), tuple(texts))
    found = tokens_of(over)
    assert [found.of_document(i) for i in range(len(texts))] == [
        [match.span() for match in re.finditer(r"\w+|[^\w\s]", text)] for text in texts
    ]


def corpus(seed: int, *, own: bool, count: int = 12, most: int = 6) -> tuple[Documents, list[list[list[Span]]]]:
    """Draw documents, of which with `own` every other one has tokens, and both sides' spans."""
    rng = random.Random(seed)
    texts = tuple(rng.choice(TEXTS) for _ in range(count))
    tokens = Intervals.of([OWN if i % 2 else [] for i in range(count)]) if own else None
    over = Documents(tuple(f"d{i}" for i in range(count)), texts, tokens)
    return over, [[random_spans(rng, most, room=16) for _ in range(count)] for _ in range(2)]


def score(over: Documents, sides: list[list[list[Span]]], how: Settings) -> Scores:
    flat = [[(doc, span) for doc, spans in enumerate(side) for span in spans] for side in sides]
    return score_layers(make("gold", over, flat[0]), make("pred", over, flat[1]), how)


def expected(over: Documents, sides: list[list[list[Span]]]) -> dict[str, Counter[tuple[str, str]]]:
    """Return, by decision, how many tokens there are by (document, type)."""
    found: dict[str, Counter[tuple[str, str]]] = {name: Counter() for name in (COR, MIS, SPU)}
    for doc, (gold, pred) in enumerate(zip(*sides, strict=True)):
        tokens = over.tokens.of_document(doc) if over.tokens else []
        for name, cells in tokens_by_decision(gold, pred, tokens or split(over.texts[doc])).items():
            found[name].update((over.ids[doc], kind) for _, kind in cells)
    return found


def agree(counts: Counts, want: dict[str, int]) -> bool:
    return counts.gold == (want[COR], 0, 0, want[MIS], 0) and counts.pred == (want[COR], 0, 0, 0, want[SPU])


@pytest.mark.parametrize("counting", get_args(Counting))
@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_counts_overall_by_type_and_by_document(seed: int, own: bool, counting: Counting) -> None:
    over, sides = corpus(seed, own=own)
    scores = score(over, sides, settings("fragment", counting=counting))
    want = expected(over, sides)
    assert agree(scores.counts("fragment"), {name: cells.total() for name, cells in want.items()})
    for place, found in ((0, scores.by_document("fragment")), (1, scores.by_type("fragment"))):
        for member in {cell[place] for cells in want.values() for cell in cells} | set(found):
            sums = {name: sum(n for cell, n in cells.items() if cell[place] == member) for name, cells in want.items()}
            assert agree(found[member], sums), (member, sums)
    cells = {(doc, kind) for row in want.values() for doc, kind in row}
    for kind, means in scores.macro_documents_by_type("fragment").items():
        docs = [doc for doc, other in cells if other == kind]
        recalls = [
            want[COR][doc, kind] / (want[COR][doc, kind] + want[MIS][doc, kind])
            for doc in docs
            if want[COR][doc, kind] + want[MIS][doc, kind]
        ]
        assert means["recall"].n == len(recalls) and means["recall"].undefined == len(docs) - len(recalls)
        assert means["recall"].value == (pytest.approx(sum(recalls) / len(recalls)) if recalls else None)


@pytest.mark.parametrize("counting", get_args(Counting))
@pytest.mark.parametrize("seed", range(4))
def test_every_count_is_the_weight_of_its_records(seed: int, counting: Counting) -> None:
    over, sides = corpus(seed, own=bool(seed % 2))
    scores = score(over, sides, settings("strict", "fragment", counting=counting))
    frame, counts = tables.records(scores, "fragment"), scores.counts("fragment")
    assert dict(frame.dtypes) == dict(tables.RECORD_COLUMNS)
    assert not frame.duplicated(["document", "record"]).any()
    for side, row in (("gold", counts.gold), ("pred", counts.pred)):
        mine = frame[frame[side] >= 0 if counting == "one-to-one" else frame["side"] == side]
        assert [mine[mine["decision"] == d.name]["weight"].sum() for d in Decision] == list(row)
        for kind, of_type in scores.by_type("fragment").items():
            typed = mine[mine[f"{side}_type"] == kind]
            sums = [typed[typed["decision"] == d.name]["weight"].sum() for d in Decision]
            assert sums == list(of_type.gold if side == "gold" else of_type.pred)
    if counting == "one-to-one":
        for row in tables.confusion(scores, "fragment").to_dict("records"):
            names = {side: frame[f"{side}_type"].astype(TEXT_DTYPE).fillna("") for side in ("gold", "pred")}
            gold = "" if row["gold_type"] == tables.SPURIOUS else row["gold_type"]
            pred = "" if row["pred_type"] == tables.MISSED else row["pred_type"]
            met = frame[(names["gold"] == gold) & (names["pred"] == pred)]
            assert row["count"] == met["weight"].sum()
    # The other criteria's records weigh one each.
    assert set(tables.records(scores, "strict")["weight"]) <= {1}


def test_records_are_runs_of_adjacent_tokens() -> None:
    over = Documents(("d", "e"), ("a b c d e f", "g h"))
    gold = make("gold", over, [(0, Span(((0, 3),), "X")), (0, Span(((4, 11),), "X")), (1, Span(((0, 3),), "X"))])
    pred = make("pred", over, [(0, Span(((2, 7),), "X")), (0, Span(((8, 9),), "Y")), (1, Span(((2, 3),), "X"))])
    scores = score_layers(gold, pred, settings("fragment"))
    frame = tables.records(scores, "fragment")
    rows = frame[["document", "record", "decision", "gold_text", "pred_text", "weight"]]
    assert rows.fillna({"gold_text": "-", "pred_text": "-"}).values.tolist() == [
        ["d", "g:0-1:X", "MIS", "a", "-", 1],
        ["d", "g:2-7:X", "COR", "b c d", "b c d", 3],
        ["d", "p:8-9:Y", "SPU", "-", "e", 1],
        ["d", "g:8-11:X", "MIS", "e f", "-", 2],
        ["e", "g:0-1:X", "MIS", "g", "-", 1],
        ["e", "g:2-3:X", "COR", "h", "h", 1],
    ]
    assert set(frame["boundary"]) == {"equal", "unaligned"}
    assert frame["reason"].astype(str).tolist()[0] == "tokens not predicted with this type"


@given(seed=st.integers(0, 10_000), random=st.randoms(use_true_random=False))
def test_order_changes_nothing_and_sides_swap(seed: int, random: random.Random) -> None:
    over, sides = corpus(seed, own=bool(seed % 2), count=4)
    scores = score(over, sides, settings("fragment"))
    swapped = score(over, sides[::-1], settings("fragment")).counts("fragment")
    counts = scores.counts("fragment")
    assert (swapped.cor, swapped.mis, swapped.spu) == (counts.cor, counts.spu, counts.mis)
    turn = random.sample(range(4), 4)
    tokens = None if over.tokens is None else Intervals.of([over.tokens.of_document(i) for i in turn])
    other = Documents(tuple(over.ids[i] for i in turn), tuple(over.texts[i] for i in turn), tokens)
    again = score(other, [[random.sample(side[i], len(side[i])) for i in turn] for side in sides], settings("fragment"))
    assert again.by_type("fragment") == scores.by_type("fragment")
    assert again.by_document("fragment") == scores.by_document("fragment")
    assert signature(again, "fragment") == signature(scores, "fragment")


def test_types_merged_and_left_out() -> None:
    over = Documents(("d",), ("a b c d",))
    gold = make("gold", over, [(0, Span(((0, 3),), "DNA")), (0, Span(((2, 5),), "RNA")), (0, Span(((6, 7),), "cell"))])
    pred = make("pred", over, [(0, Span(((0, 7),), "protein"))])
    how = Settings((CRITERIA["fragment"],), (("DNA", "M"), ("RNA", "M"), ("protein", "M")), ("cell",))
    counts = score_layers(gold, pred, how).counts("fragment")
    assert (counts.cor, counts.mis, counts.spu) == (3, 0, 1)


def test_tokens_stand_in_the_signature() -> None:
    """They change the numbers, and are not part of a layer's digest."""
    spans = [(0, Span(((0, 7),), "X"))]
    plain = Documents(("d",), ("a-b c d",))
    for over, said in (
        (plain, "tokens: words and single other characters"),
        (
            Documents(plain.ids, plain.texts, Intervals.of([[(0, 3), (4, 5), (6, 7)]])),
            "tokens: the documents' own sha256:",
        ),
    ):
        scores = score_layers(make("gold", over, spans), make("pred", over, spans), settings("fragment", "strict"))
        assert f"| {said}" in signature(scores, "fragment")
        assert "tokens" not in signature(scores, "strict")
    own = Intervals.of([[(0, 1), (1, 2), (2, 3), (4, 5), (6, 7)]])
    other = Documents(plain.ids, plain.texts, own)
    assert signature(scores, "fragment") != signature(
        score_layers(make("gold", other, spans), make("pred", other, spans), settings("fragment")), "fragment"
    )


def test_a_criterion_with_types_of_its_own_beside_tokens() -> None:
    over, sides = corpus(2, own=False)
    mine = criterion_from_parts("mine", {"leave_out": ["A"]}, "test")
    scores = score(over, sides, Settings((CRITERIA["fragment"], CRITERIA["strict"], mine)))
    frame = tables.wide(scores)
    assert len(frame) == len(scores.gold) + len(scores.pred)
    assert list(frame.columns[-2:]) == ["strict", "mine"]
    assert scores.counts("strict").pos == len(scores.gold)
    alone = tables.wide(score(over, sides, settings("fragment")))
    assert list(alone.columns)[-1] == "fragment" and set(alone["fragment"]) == {COR, MIS, SPU}


def test_white_space_has_no_tokens() -> None:
    over = Documents(("d",), ("a  b",))
    blank = make("gold", over, [(0, Span(((1, 3),), "X"))])
    counts = score_layers(blank, blank, settings("fragment")).counts("fragment")
    assert (counts.pos, counts.act, counts.f1) == (0, 0, None)
