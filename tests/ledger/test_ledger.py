"""The ledger answers as filtering the frame of all records does, one by one and in words."""

from __future__ import annotations

import random
import re
from collections import Counter
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nereval_core.analysis.slices.decades_and_noise import NOISE, UNDATED, UNKNOWN, document_decades, span_noise
from nereval_core.corpus import Documents, Layer
from nereval_core.corpus.subset import single_document
from nereval_core.corpus.texts import Texts
from nereval_core.ledger import Ledger, ledger
from nereval_core.ledger.attributes.own_facts import record_form
from nereval_core.ledger.facet_counts import FacetCounts, classes_of
from nereval_core.records.match_records import record_ids
from nereval_core.records.queries import ABSENT, FACETS, MANY_WORDS, NO_GOLD, ORDERS, Query, narrowed, word_class
from nereval_core.records.reasons import BOUNDARIES
from nereval_core.records.tables import RECORD_COLUMNS, records
from nereval_core.records.text_search import AROUND, Sought, is_anchored, is_regex, regex_problem, span_texts, words_of
from nereval_core.scoring import Scores, Settings, score_layers
from nereval_core.scoring.criteria import CRITERIA
from nereval_core.tables.glossary import DECISIONS
from tests.support.draws import draws
from tests.support.layer_strategies import texts
from tests.support.spans import make, random_spans

NAMES = ("strict", "partial", "muc", "lenient", "fragment")
TEXTS = (
    "Aspirin 100 mg, ßtraße\u2028A",
    "the  the\tThe Rome and",
    "",
    "İstanbul \x85 x y z a b c dé",
    "aAaA BbBb  cccc dd eee",
)
TYPES = "ABC"


def corpus(seed: int, *, broken: float = 0.15, dated: bool = True) -> tuple[Layer, Layer]:
    """Draw two layers over short texts of all kinds, with dates, noise, tokens, doubled and discontinuous spans."""
    rng = random.Random(seed)
    chosen = [rng.choice(TEXTS) for _ in range(8)]
    dates = [rng.choice(["1798-01-20", "1805", None, "soon"]) for _ in chosen]
    meta = tuple({} if date is None else {"date": date} for date in dates) if dated else None
    over = Documents(tuple(f"Doc-{number}" for number in range(8)), tuple(chosen), None, None, meta)
    sides = []
    for name in ("gold", "sys"):
        spans = [
            (doc, span)
            for doc, text in enumerate(chosen)
            for span in (random_spans(rng, 5, room=len(text), kinds=TYPES, broken=broken) if len(text) > 3 else [])
        ]
        sides.append(make(name, over, spans))
    noise = [0.0, 0.05, 0.2, 0.5, 7]
    meta_of = {span: {"LED": rng.choice(noise)} for span in range(len(sides[0])) if rng.random() < 0.7}
    return replace(sides[0], meta=meta_of if dated else {}), sides[1]


def scored(gold: Layer, pred: Layer, **how: Any) -> Scores:
    return score_layers(gold, pred, Settings(tuple(CRITERIA[name] for name in NAMES), **how))


@cache
def example(seed: int, name: str, dated: bool = True) -> tuple[Ledger, list[dict[str, Any]]]:
    gold, pred = corpus(seed, dated=dated)
    scores = scored(gold, pred)
    return ledger(scores, name, (gold, pred)), facts(scores, name)


def facts(scores: Scores, name: str) -> list[dict[str, Any]]:
    """Return what a query looks at, of each record in document order, found out record by record."""
    gold = scores.layers(name)[0]
    periods, noise = document_decades(gold.documents), span_noise(gold)
    some_date, some_noise = set(periods) - {UNDATED}, (noise != NOISE.index(UNKNOWN)).any()
    found = []
    for row in records(scores, name).to_dict("records"):
        anchor = row["gold_text"] if row["gold"] >= 0 else row["pred_text"]
        sides = {side: row[f"{side}_type"] if row[side] >= 0 else ABSENT for side in ("gold", "pred")}
        found.append(
            row
            | sides
            | {
                "doc": row["document"],
                "anchor": anchor,
                "words": word_class(min(MANY_WORDS, max(1, len(anchor.split())))),
                "period": periods[row["doc"]] if some_date else None,
                "noise": (NOISE[noise[row["gold"]]] if row["gold"] >= 0 else NO_GOLD) if some_noise else None,
                "sought": [
                    *("" if pd.isna(row[key]) else row[key] for key in ("gold_text", "pred_text", "document")),
                    *(around(gold.documents.texts[row["doc"]], row, side) for side in ("gold", "pred")),
                ],
                "number": row["doc"],
                "at": int(row["gold_start"] if row["gold"] >= 0 else row["pred_start"]),
            }
        )
    return found


def around(text: str, row: dict[str, Any], side: str) -> str:
    if row[side] < 0:
        return ""
    return text[max(0, row[f"{side}_start"] - AROUND) : row[f"{side}_end"] + AROUND]


def is_found(record: dict[str, Any], text: str) -> bool:
    """Tell whether each word is in one of the texts of a record, or the regular expression in one of them."""
    if is_regex(text):
        # Anchors are those of spans and ids, not of the text around spans.
        places = record["sought"][:3] if is_anchored(text) else record["sought"]
        return not regex_problem(text) and any(re.search(text[1:-1], sought) for sought in places)
    return all(any(word in sought.casefold() for sought in record["sought"]) for word in text.casefold().split())


def matches(record: dict[str, Any], query: Query) -> bool:
    return (
        (not query.decision or record["decision"] in query.decision)
        and (not query.types or record["gold"] in query.types or record["pred"] in query.types)
        and (not query.gold or record["gold"] in query.gold)
        and (not query.pred or record["pred"] in query.pred)
        and all(not (value := getattr(query, key)) or record[key] == value for key in ("doc", *FACETS[3:7]))
        and is_found(record, query.text)
    )


REGEXES = ("/[A-C]/", "/^Doc-[0-4]$/", "/a. e|the/", "/\\d{2}/", "/(/", "/[/")


QUERIES = st.builds(
    Query,
    decision=st.sampled_from([(), ("INC", "MIS", "SPU"), ("COR",), DECISIONS]),
    types=st.sampled_from([(), ("A",), ("B", "C"), ("Z",)]),
    gold=st.sampled_from([(), ("A",), (ABSENT,), ("B", ABSENT)]),
    pred=st.sampled_from([(), ("A",), (ABSENT,), ("B", ABSENT)]),
    doc=st.sampled_from(["", "", "Doc-0", "Doc-3", "Doc-7", "none such"]),
    boundary=st.sampled_from(["", "", *BOUNDARIES]),
    words=st.sampled_from(["", "", "1", "2", "6+"]),
    period=st.sampled_from(["", "", "1790s", UNDATED, "2020s"]),
    noise=st.sampled_from(["", "", *NOISE, NO_GOLD]),
    text=st.sampled_from(["", "", "a", "the", "SS", "i̇", "doc-3", "a e", "x doc-", "nowhere", *REGEXES]),
)


@draws(100)
@given(st.integers(0, 11), QUERIES, st.sampled_from(NAMES), st.booleans(), st.sampled_from(ORDERS))
def test_a_query_finds_what_a_look_at_every_record_finds(
    seed: int, query: Query, name: str, dated: bool, order: str
) -> None:
    made, rows = example(seed, name, dated)
    expected = [place for place, row in enumerate(rows) if matches(row, query)]
    weight = sum(rows[place]["weight"] for place in expected)
    assert made.positions(query).tolist() == expected
    assert made.total(query) == (len(expected), weight)
    keys = {
        "document": lambda row: 0,
        "text": lambda row: row["anchor"].casefold(),
        "gold": lambda row: (row["gold"] == ABSENT, row["gold"], row["pred"] == ABSENT, row["pred"]),
        "prediction": lambda row: (row["pred"] == ABSENT, row["pred"], row["gold"] == ABSENT, row["gold"]),
        "decision": lambda row: DECISIONS.index(row["decision"]),
        "longest": lambda row: -len(row["anchor"]),
    }
    assert made.positions(query, order).tolist() == sorted(expected, key=lambda place: keys[order](rows[place]))
    for facet in FACETS:
        asked = narrowed(query, facet, None)
        counts = Counter[str]()
        for row in rows:
            if matches(row, asked) and row[facet] is not None:
                counts[row[facet]] += row["weight"]
        found = made.facet_counts(query, facet)
        assert found == {value: count for value, count in counts.items() if count}
        best = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        if facet == "doc":
            assert list(made.facet_counts(query, facet, 2).items()) == best[:2]
        assert list(found.items()) == best or facet in ("decision", "words", "period", "noise")
        assert facet in made.offered or not found


@draws(27)
@given(st.integers(0, 11), st.sampled_from(NAMES), st.sampled_from(["one-to-one", "each-side"]), st.data())
def test_a_page_is_a_part_of_the_whole_frame(seed: int, name: str, counting: str, data: st.DataObject) -> None:
    gold, pred = corpus(seed)
    scores = scored(gold, pred, counting=counting)
    made, every = ledger(scores, name, (gold, pred)), records(scores, name)
    places = np.array(data.draw(st.lists(st.integers(0, len(every) - 1), max_size=6)) if len(every) else [], np.int32)
    got = made.frame(places)
    assert dict(got.dtypes) == dict(RECORD_COLUMNS)
    wanted = every.iloc[places]
    pd.testing.assert_frame_equal(got, wanted, check_categorical=False, check_index_type=False)
    assert pd.concat([*made.pieces(Query()), every.iloc[:0]])["record"].tolist() == every["record"].tolist()


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("counting", ["one-to-one", "each-side"])
def test_documents_are_counted_as_scored(seed: int, counting: str) -> None:
    gold, pred = corpus(seed)
    scores = scored(gold, pred, counting=counting)
    for name in NAMES:
        made, every = ledger(scores, name, (gold, pred)), list(scores.by_document(name).items())
        assert made.documents() == (dict(every), len(every))
        assert made.documents("", 1, 2) == (dict(every[1:3]), len(every))
        some = [(doc, counts) for doc, counts in every if "c-3" in doc]
        assert made.documents("C-3") == (dict(some), len(some))
        assert made.documents("nowhere") == ({}, 0)


@draws(20)
@given(st.integers(0, 11), st.sampled_from(NAMES), QUERIES)
def test_the_records_around_a_place(seed: int, name: str, query: Query) -> None:
    made, rows = example(seed, name)
    queue = [(row["document"], row["record"]) for row in rows if matches(row, query)]
    assert made.first(query) == (queue[0] if queue else None)
    for number, (doc, record) in enumerate(queue):
        near = made.near(query, doc, record, around=2)
        assert near.queue[int(near.at)] == (doc, record) and near.number == number + 1
        assert near.queue == queue[max(0, number - 2) : number + 3]
    for row in rows:
        if (row["document"], row["record"]) not in queue:
            near = made.near(query, row["document"], row["record"], row["at"], around=100)
            place = (row["number"], row["at"])
            assert near.number == 0 and near.queue == queue
            assert near.at == sum((one["number"], one["at"]) < place for one in rows if matches(one, query)) - 0.5


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("merged", [(), (("A", "B"),), (("A", "Z"), ("C", "Z"))])
def test_a_document_alone_is_scored_as_among_the_others(seed: int, merged: tuple[tuple[str, str], ...]) -> None:
    gold, pred = corpus(seed)
    scores = scored(gold, pred, merge=merged, leave_out=("C",) if not merged else ())
    for name in NAMES:
        made, every = ledger(scores, name, (gold, pred)), records(scores, name)
        for doc in gold.documents.ids:
            one = records(made.document(doc, scores.settings), name)
            there = every[(every["document"] == doc).to_numpy()]
            columns = [column for column in RECORD_COLUMNS if column not in ("doc", "gold", "pred")]
            pd.testing.assert_frame_equal(
                one[columns].astype("object"), there[columns].astype("object").reset_index(drop=True)
            )


@pytest.mark.parametrize("dated", [True, False])
def test_counts_of_parts_make_those_of_the_whole(dated: bool) -> None:
    for seed in range(8):
        gold, pred = corpus(seed, dated=dated)
        for name in NAMES:
            whole = ledger(scored(gold, pred), name, (gold, pred)).facets
            parts = []
            for number in range(len(gold.documents)):
                one = single_document(gold, number)
                two = replace(single_document(pred, number), documents=one.documents)
                parts.append(ledger(scored(one, two), name, (one, two)).facets)
            merged = FacetCounts.merged(parts)[0]
            assert merged.confusion() == whole.confusion()
            assert merged.offered == whole.offered
            for facet in FACETS[:-1]:
                assert list(merged.facet_counts(Query(), facet).items()) == list(
                    whole.facet_counts(Query(), facet).items()
                )
            for query in (Query(), Query(decision=("MIS",), words="1"), Query(types=("A",), boundary="equal")):
                assert merged.total(query) == whole.total(query)


def test_counts_of_no_records() -> None:
    assert FacetCounts.merged([])[0].total(Query()) == (0, 0)
    over = Documents((), ())
    empty = make("x", over, [])
    made = ledger(scored(empty, empty), "strict", (empty, empty))
    assert made.total(Query()) == (0, 0) and made.confusion() == {} and made.first(Query()) is None
    assert made.facet_counts(Query(), "doc") == {} and not len(made.page(Query(), "text"))


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5_000), st.integers(0, 3_000)), max_size=40))
def test_classes_are_the_distinct_rows(rows: list[tuple[int, int, int]]) -> None:
    table = np.array(rows, np.int64).reshape(-1, 3)
    place, classes = classes_of([(column, size) for column, size in zip(table.T, (6, 5_001, 3_001), strict=True)])
    assert [tuple(row) for row in classes.tolist()] == sorted(set(rows))
    assert [tuple(row) for row in classes[place].tolist()] == rows


@given(st.lists(texts(), max_size=6), texts(min_size=1).filter(lambda text: text.casefold() != ""))
def test_a_word_is_found_where_python_finds_it(some: list[str], word: str) -> None:
    sought = Sought.of(some)
    assert sought.holding(word).tolist() == [word.casefold() in text.casefold() for text in some]
    for text in some:
        if text:
            assert sought.holding(text[: len(text) // 2 + 1]).any()
    ranks = sought.ranks().tolist()
    order = sorted({text.casefold() for text in some})
    assert ranks == [order.index(text.casefold()) for text in some]


ASCII = st.text("ab \t\n\x1f.", max_size=12)


@given(st.lists(texts() | ASCII, min_size=1, max_size=4), st.integers(0, 1_000), st.booleans())
def test_words_are_what_python_splits(some: list[str], seed: int, as_bytes: bool) -> None:
    rng = random.Random(seed)
    over = Documents(tuple(map(str, range(len(some)))), Texts.of(some) if as_bytes else tuple(some))
    spans = [
        (doc, span)
        for doc, text in enumerate(some)
        for span in (random_spans(rng, 4, room=len(text), broken=0.3 * (seed % 2)) if len(text) > 1 else [])
    ]
    layer = make("x", over, spans)
    found = list(span_texts(layer))
    assert found == [layer.text(span) for span in range(len(layer))]
    assert words_of(layer).tolist() == [min(MANY_WORDS, max(1, len(text.split()))) for text in found]


@pytest.mark.parametrize("seed", range(5))
def test_ids_of_some_records_are_those_of_all(seed: int) -> None:
    rng = random.Random(seed)
    gold, _ = corpus(seed, broken=0.4)
    every = record_ids(gold, "g")
    for _ in range(20):
        some = np.array([rng.randrange(len(gold)) for _ in range(5)])
        assert record_ids(gold, "g", some) == [every[place] for place in some]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", NAMES[:3])
def test_attributes_narrow_down_like_any_other_fact(seed: int, name: str) -> None:
    gold, pred = corpus(seed)
    scores = scored(gold, pred)
    one = ledger(scores, name, (gold, pred))
    every = one.frame(one.positions(Query()))
    known = [decision_of(scores, "lenient", row) for row in every.to_dict("records")]
    for decision in DECISIONS:
        query = Query(having=(("under lenient", decision),))
        found = one.page(query, rows=10_000)
        assert found.index.tolist() == [place for place, value in enumerate(known) if value == decision]
        assert one.total(query).records == len(found)
        assert sum(one.facet_counts(query, "gold").values()) == len(found)
    assert one.total(Query(having=(("under strict", "COR"), ("under lenient", "COR")))).records <= len(every)
    for unknown in (("under nothing", "COR"), ("nothing", "COR"), ("under strict", "")):
        assert one.total(Query(having=(unknown,))).records == 0


def decision_of(scores: Scores, name: str, row: dict[str, Any]) -> str:
    gold, pred = scores.decisions(name)
    return DECISIONS[gold[row["gold"]] if row["gold"] >= 0 else pred[row["pred"]]]


@pytest.mark.parametrize("seed", range(5))
def test_the_form_of_one_record_is_that_of_the_attribute(seed: int) -> None:
    records, _ = example(seed, "strict")
    forms = records.attribute("form")
    assert forms is not None and len(forms.codes)
    names = ["" if code < 0 else forms.names[code] for code in forms.codes.tolist()]
    assert [record_form(records.about, record) for record in range(len(names))] == names


def test_a_regular_expression_takes_time_that_grows_with_the_text_alone() -> None:
    sought = Sought.of(["a" * 50_000, "aaab"], cased=True)
    assert sought.matching("^(a+)+b$").tolist() == [False, True]
    assert regex_problem("/(a/").startswith("missing )") and regex_problem("/(a)/") == regex_problem("(a") == ""
    assert sought.matching("(a").tolist() == [False, False]


@pytest.mark.parametrize(
    ("regex", "anchored"),
    [("/^a/", True), ("/a$/", True), ("/[^a]/", False), ("/\\^a\\$/", False), ("/\\Aa|b/", True), ("a$", False)],
)
def test_anchors_are_told_from_other_signs(regex: str, anchored: bool) -> None:
    assert is_anchored(regex) == anchored
