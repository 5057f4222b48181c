"""Entity linking: decisions, what more of a ranking and a mapping may change, and the reference's numbers."""

from __future__ import annotations

import json
import random
from collections import Counter
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nereval_core.analysis.linking import (
    LINK_DECISIONS,
    LINK_RECORD_COLUMNS,
    LinkCounts,
    LinkDecision,
    judge_links,
    link_confusion,
    link_records,
    score_links,
)
from nereval_core.analysis.linking.mentions import align_links, ranked_ids
from nereval_core.api.load import load_corpus
from nereval_core.api.load_options import LoadOptions
from nereval_core.corpus import Documents, Layer, layer
from nereval_core.readers.shared.concepts import read_mapping
from tests.support.shared_corpora import SHARED, files, needs

TEXT = "Anna met Paul in Paris, the Paris of Texas."
OVER = Documents(("d0", "d1"), (TEXT, TEXT))
Given = tuple[int, int, str]
"""Start, end and links of a mention, joined by blanks; none for a span without."""


def mentions(name: str, *rows: Given, kind: str = "X", over: Documents = OVER) -> Layer:
    return layer(
        name,
        over,
        [0] * len(rows),
        [start for start, _, _ in rows],
        [end for _, end, _ in rows],
        [kind] * len(rows),
        extras={"links": {i: tuple(links.split()) for i, (_, _, links) in enumerate(rows) if links}},
    )


def decided(gold: list[Given], pred: list[Given], **options: Any) -> list[str]:
    scores = score_links(mentions("gold", *gold), mentions("pred", *pred, kind="Y"), **options)
    return link_records(scores)["decision"].astype(str).tolist()


ANNA, PAUL, PARIS = (0, 4), (9, 13), (17, 22)
DECIDED: list[tuple[str, list[Given], list[Given], dict[str, Any], list[str]]] = [
    ("the link is gold's", [(*ANNA, "Q1")], [(*ANNA, "Q1")], {}, ["right"]),
    ("another link", [(*ANNA, "Q1")], [(*ANNA, "Q2")], {}, ["wrong link"]),
    ("NIL is right where gold has it", [(*ANNA, "NIL")], [(*ANNA, "NIL")], {}, ["right"]),
    ("NIL where gold has a link", [(*ANNA, "Q1")], [(*ANNA, "NIL")], {}, ["NIL for link"]),
    ("a link where gold has NIL", [(*ANNA, "NIL")], [(*ANNA, "Q1")], {}, ["link for NIL"]),
    ("nothing there", [(*ANNA, "Q1")], [], {}, ["missing"]),
    ("nothing in gold", [], [(*ANNA, "Q1")], {}, ["spurious"]),
    ("a span without a link says nothing", [(*ANNA, "Q1")], [(*ANNA, "")], {}, ["missing"]),
    ("and gold's neither", [(*ANNA, "")], [(*ANNA, "Q1")], {}, ["spurious"]),
    ("neither side has a link", [(*ANNA, "")], [(*ANNA, "")], {}, []),
    ("strict: other boundaries", [(*ANNA, "Q1")], [(0, 8, "Q1")], {}, ["missing", "spurious"]),
    ("overlapping", [(*ANNA, "Q1")], [(0, 8, "Q1")], {"boundaries": "overlapping"}, ["right"]),
    ("second of the ranking, n = 1", [(*ANNA, "Q1")], [(*ANNA, "Q2 Q1")], {"n": 1}, ["wrong link"]),
    ("second of the ranking, n = 3", [(*ANNA, "Q1")], [(*ANNA, "Q2 Q1")], {"n": 3}, ["right"]),
    ("written with |", [(*ANNA, "Q1")], [(*ANNA, "Q2|Q1")], {"n": 3}, ["right"]),
    ("NIL leads a ranking that is wrong", [(*ANNA, "Q1")], [(*ANNA, "NIL|Q2")], {"n": 3}, ["NIL for link"]),
    ("NIL in a ranking, not first", [(*ANNA, "Q1")], [(*ANNA, "Q2|NIL")], {"n": 3}, ["wrong link"]),
    ("gold's first link is the truth", [(*ANNA, "Q1|Q2")], [(*ANNA, "Q2")], {}, ["wrong link"]),
    ("any of gold's links", [(*ANNA, "Q1|Q2")], [(*ANNA, "Q2")], {"truth": "any"}, ["right"]),
    ("mapped", [(*ANNA, "Q1")], [(*ANNA, "Q2")], {"relaxed": {"Q2": "Q1"}}, ["right"]),
    ("both mapped to one", [(*ANNA, "Q1")], [(*ANNA, "Q2")], {"relaxed": {"Q2": "Q3", "Q1": "Q3"}}, ["right"]),
    ("no further from there", [(*ANNA, "Q1")], [(*ANNA, "Q3")], {"relaxed": {"Q3": "Q2", "Q2": "Q1"}}, ["wrong link"]),
    ("mapped to NIL", [(*ANNA, "NIL")], [(*ANNA, "Q2")], {"relaxed": {"Q2": "NIL"}}, ["right"]),
    ("given, other boundaries", [(*ANNA, "Q1")], [(0, 8, "Q1")], {"mentions": "gold"}, []),
    ("given, the same ones", [(*ANNA, "Q1")], [(*ANNA, "Q2")], {"mentions": "gold"}, ["wrong link"]),
    ("given, not linked", [(*ANNA, "Q1")], [(*ANNA, "")], {"mentions": "gold"}, ["missing"]),
    ("given, no such span", [(*ANNA, "Q1")], [], {"mentions": "gold"}, []),
    ("given, not in gold", [], [(*ANNA, "Q1")], {"mentions": "gold"}, []),
    (
        "a mention with an id for each of two spans",
        [(*ANNA, "Q1"), (*ANNA, "Q2")],
        [(*ANNA, "Q2")],
        {},
        ["missing", "right"],
    ),
    (
        "in any order",
        [(*ANNA, "Q1"), (*ANNA, "Q2"), (*ANNA, "Q3")],
        [(*ANNA, "Q3"), (*ANNA, "Q9"), (*ANNA, "Q1")],
        {},
        ["right", "wrong link", "right"],
    ),
]


@pytest.mark.parametrize(
    ("gold", "pred", "options", "expected"), [row[1:] for row in DECIDED], ids=[row[0] for row in DECIDED]
)
def test_decisions(gold: list[Given], pred: list[Given], options: dict[str, Any], expected: list[str]) -> None:
    assert decided(gold, pred, **options) == expected


REASONS: list[tuple[list[Given], list[Given], dict[str, Any], list[str]]] = [
    ([(*ANNA, "Q1")], [(*ANNA, "Q2 Q1")], {}, ["the right link is number 2 of the ranking"]),
    ([(*ANNA, "Q1")], [(*ANNA, "Q2")], {}, ["not in the ranking"]),
    ([(*ANNA, "Q1")], [(*ANNA, "Q2 Q1")], {"n": 3}, ["number 2 of the ranking is right"]),
    ([(*ANNA, "Q1")], [(*ANNA, "Q2")], {"relaxed": {"Q2": "Q1"}}, ["the first link is right, by the mapping"]),
    ([(*ANNA, "Q1")], [(*ANNA, "Q1")], {"relaxed": {"Q1": "Q2"}}, ["the first link is right"]),
    ([(*ANNA, "Q1")], [(*ANNA, "")], {}, ["the prediction here has no link"]),
    (
        [(*ANNA, "Q1")],
        [(0, 8, "Q1")],
        {},
        ["the linked prediction here has other boundaries", "the linked gold span here has other boundaries"],
    ),
    ([(*ANNA, "Q1")], [(*PAUL, "")], {}, ["no prediction with a link overlaps it"]),
    ([], [(*ANNA, "Q1")], {}, ["no gold span with a link overlaps it"]),
    ([(*ANNA, "")], [(*ANNA, "Q1")], {}, ["the gold span here has no link"]),
    (
        [(0, 8, "Q1"), (5, 13, "Q2")],
        [(0, 8, "Q1")],
        {},
        ["the first link is right", "every linked prediction that overlaps it is aligned elsewhere"],
    ),
]


@pytest.mark.parametrize(("gold", "pred", "options", "expected"), REASONS)
def test_reasons(gold: list[Given], pred: list[Given], options: dict[str, Any], expected: list[str]) -> None:
    scores = score_links(mentions("gold", *gold), mentions("pred", *pred), **options)
    assert link_records(scores)["reason"].tolist() == expected


def test_ratios() -> None:
    # right 2, wrong 1, NIL for link 1, link for NIL 1, missing 2, spurious 1
    counts = LinkCounts((2, 1, 1, 1, 2, 1))
    assert (counts.right, counts.gold, counts.predicted) == (2, 7, 6)
    assert counts.precision == pytest.approx(2 / 6)
    assert counts.recall == pytest.approx(2 / 7)
    assert counts.f1 == pytest.approx(4 / 13)
    nothing = LinkCounts()
    assert (nothing.precision, nothing.recall, nothing.f1) == (None, None, None)
    assert LinkCounts((0, 0, 0, 0, 3, 0)).precision is None


def test_records_say_which_ids_were_judged() -> None:
    gold = mentions("gold", (*ANNA, "Q1 Q7"), (*PAUL, "NIL"), (*PARIS, "Q3"))
    pred = mentions("pred", (*ANNA, "Q9|Q2"), (*PAUL, "Q5"), (30, 33, "Q4"), kind="Y")
    frame = link_records(score_links(gold, pred, n=3, relaxed={"Q2": "Q1"}))
    assert frame.dtypes.to_dict() == LINK_RECORD_COLUMNS
    columns = ["record", "decision", "gold_links", "pred_links", "gold_id", "pred_id", "rank", "gold_text", "pred_text"]
    assert frame[columns].astype(object).where(frame[columns].notna(), None).to_numpy().tolist() == [
        ["g:0-4:X", "right", "Q1|Q7", "Q9|Q2", "Q1", "Q1", 2, "Anna", "Anna"],
        ["g:9-13:X", "link for NIL", "NIL", "Q5", "NIL", "Q5", None, "Paul", "Paul"],
        ["g:17-22:X", "missing", "Q3", None, "Q3", None, None, "Paris", None],
        ["p:30-33:Y", "spurious", None, "Q4", None, "Q4", None, None, "ris"],
    ]
    met = link_confusion(frame).to_numpy().tolist()
    assert met == [["", "Q4", 1], ["NIL", "Q5", 1], ["Q1", "Q1", 1], ["Q3", "", 1]]


def test_without_mentions() -> None:
    for boundaries in ("strict", "overlapping"):
        scores = score_links(mentions("gold"), mentions("pred"), boundaries=boundaries)
        assert scores.counts == LinkCounts()
        assert list(link_records(scores).columns) == list(LINK_RECORD_COLUMNS)
        assert link_confusion(link_records(scores)).empty


def test_given_mentions_say_how_many_are_not_judged() -> None:
    gold = mentions("gold", (*ANNA, "Q1"), (*PAUL, "Q2"), (*PARIS, "Q3"))
    pred = mentions("pred", (*ANNA, "Q1"), (*PAUL, ""), (18, 22, "Q3"), (30, 33, "Q4"))
    scores = score_links(gold, pred, mentions="gold")
    assert scores.alignment.unjudged == (1, 2)
    assert scores.counts.decisions == (1, 0, 0, 0, 1, 0)
    assert scores.counts.recall == 0.5


def test_a_link_of_bars_only_stays_a_link() -> None:
    assert ranked_ids(("|",)) == ("|",)
    assert ranked_ids(("Q1||Q2", "Q3")) == ("Q1", "Q2", "Q3")


IDS = st.sampled_from(["NIL", "Q1", "Q2", "Q3", "Q4"])
SPANS = st.tuples(st.integers(0, 9), st.integers(1, 4), st.lists(IDS, max_size=3), st.sampled_from("AB"))
Drawn = list[tuple[int, int, list[str], str]]


def drawn(name: str, by_document: list[Drawn], seed: int = 0) -> Layer:
    rows = [(doc, row) for doc, found in enumerate(by_document) for row in found]
    random.Random(seed).shuffle(rows)
    over = OVER
    return layer(
        name,
        over,
        [doc for doc, _ in rows],
        [start for _, (start, _, _, _) in rows],
        [start + length for _, (start, length, _, _) in rows],
        [kind for _, (_, _, _, kind) in rows],
        extras={"links": {i: tuple(links) for i, (_, (_, _, links, _)) in enumerate(rows) if links}},
    )


CORPORA = st.lists(st.lists(SPANS, max_size=6), min_size=2, max_size=2)
BOUNDARIES = st.sampled_from(["strict", "overlapping"])
MAPPINGS = st.dictionaries(IDS, IDS, max_size=3)


@given(CORPORA, CORPORA, BOUNDARIES, MAPPINGS)
def test_more_of_a_ranking_and_a_mapping_never_lose(
    one: list[Drawn], two: list[Drawn], boundaries: Any, mapping: dict[str, str]
) -> None:
    alignment = align_links(drawn("gold", one), drawn("pred", two), boundaries=boundaries)
    rights = [judge_links(alignment, n=n).decisions == LinkDecision.RIGHT for n in (1, 2, 3, 5)]
    for fewer, more in pairwise(rights):
        assert not (fewer & ~more).any()
    for n in (1, 3):
        plain, relaxed, wide = (
            judge_links(alignment, n=n, **options).decisions == LinkDecision.RIGHT
            for options in ({}, {"relaxed": mapping}, {"truth": "any"})
        )
        assert not (plain & ~relaxed).any()
        assert not (plain & ~wide).any()


@given(CORPORA, CORPORA, BOUNDARIES, st.integers(1, 3), MAPPINGS)
def test_counts_add_up_and_order_is_free(
    one: list[Drawn], two: list[Drawn], boundaries: Any, n: int, mapping: dict[str, str]
) -> None:
    gold, pred = drawn("gold", one), drawn("pred", two)
    scores = score_links(gold, pred, boundaries=boundaries, n=n, relaxed=mapping)
    assert scores.counts.gold == len(gold.links)
    assert scores.counts.predicted == len(pred.links)
    assert sum(scores.by_document.values(), LinkCounts()) == scores.counts
    records = link_records(scores)
    assert link_confusion(records)["count"].sum() == len(records) == sum(scores.counts.decisions)
    assert Counter(records["decision"]) == Counter(
        {name: n for name, n in zip(LINK_DECISIONS, scores.counts.decisions, strict=True) if n}
    )
    again = score_links(drawn("gold", one, 7), drawn("pred", two, 8), boundaries=boundaries, n=n, relaxed=mapping)
    assert again.by_document == scores.by_document
    columns = ["document", "decision", "gold_start", "gold_type", "gold_links", "pred_start", "pred_type", "pred_links"]
    rows = [sorted(link_records(s)[columns].astype(str).to_numpy().tolist()) for s in (scores, again)]
    assert rows[0] == rows[1]


@given(CORPORA, CORPORA)
def test_given_mentions_are_those_of_strict(one: list[Drawn], two: list[Drawn]) -> None:
    gold, pred = drawn("gold", one), drawn("pred", two)
    strict, judged = score_links(gold, pred), score_links(gold, pred, mentions="gold")
    assert judged.counts.decisions[: LinkDecision.MISSING] == strict.counts.decisions[: LinkDecision.MISSING]
    assert judged.counts.gold + judged.alignment.unjudged[0] == len(gold.links)
    assert judged.counts.predicted + judged.alignment.unjudged[1] == len(pred.links)


def hipe(expected: dict[str, Any]) -> tuple[Layer, Layer]:
    options = LoadOptions(repair="conlleval", token_text="gold")
    places = [
        SHARED / "hipe2022" / (expected[key] if "/" in expected[key] else f"{folder}/{expected[key]}")
        for key, folder in (("gold", "gold"), ("submission", "submissions"))
    ]
    loaded = load_corpus(places[0], {"run": places[1]}, options=options)
    return loaded.corpus.gold, loaded.corpus.systems[0]


NEL = [path for path in files("expected/hipe2022/*_nel*.json") if "_slices" not in path.name]


@needs("hipe2022")
@pytest.mark.parametrize("path", NEL, ids=[path.stem for path in NEL])
def test_hipe_submissions_give_the_numbers_of_their_scorer(path: Any) -> None:
    """Where mentions are read from the entity columns, HIPE's rules and ours agree on these files.

    The numbers are HIPE-scorer's (commit 6605770); the files of the relaxed evaluation are mapped already.
    """
    expected = json.loads(path.read_text(encoding="utf-8"))
    gold, pred = hipe(expected)
    for n, found in expected["results"].items():
        column = found["NEL-LIT"]["TIME-ALL"]["LED-ALL"]["ALL"]
        for boundaries, schema in (("strict", "strict"), ("overlapping", "ent_type")):
            counts = score_links(gold, pred, boundaries=boundaries, n=int(n)).counts
            wanted = tuple(column[schema][name] for name in ("TP", "FP", "FN"))
            assert (counts.right, counts.predicted - counts.right, counts.gold - counts.right) == wanted


@needs("hipe2022")
def test_the_mapping_of_hipe_gives_the_numbers_of_its_relaxed_evaluation() -> None:
    """The sonar files have no times, which the reference sets to NIL beside the mapping."""
    path = SHARED / "expected/hipe2022/team5_bundle5_sonar_de_1_nel_relaxed.json"
    expected = json.loads(path.read_text(encoding="utf-8"))
    plain = json.loads(path.with_name("team5_bundle5_sonar_de_1_nel.json").read_text(encoding="utf-8"))
    gold, pred = hipe({**expected, "gold": plain["gold"], "submission": plain["submission"]})
    mapping = read_mapping(SHARED / "hipe2022" / expected["mapping"])
    for n, found in expected["results"].items():
        strict = found["NEL-LIT"]["TIME-ALL"]["LED-ALL"]["ALL"]["strict"]
        assert score_links(gold, pred, n=int(n), relaxed=mapping).counts.right == strict["TP"]
