"""The rule of the interface: the value of every count is the number of records that it opens, or of tokens in them."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache

import pytest

from nereval_core.analysis.errors.fair_classes import fair_class_table, fair_errors
from nereval_core.analysis.slices.decades_and_noise import LEVELS, NOISE, UNDATED, UNKNOWN
from nereval_core.ledger import Ledger, ledger
from nereval_core.pairing import pair
from nereval_core.readers import Source, read
from nereval_core.records.queries import ABSENT, FACETS, NO_GOLD, ORDERS, Query, narrowed
from nereval_core.records.tables import MISSED, SPURIOUS, confusion, records
from nereval_core.records.text_search import AROUND
from nereval_core.report.score_tables import criterion_table, type_table
from nereval_core.scoring import Scores, Settings, score_layers
from nereval_core.scoring.averages import Average
from nereval_core.scoring.counts import Counts
from nereval_core.scoring.criteria import APPLICABLE, CRITERIA
from nereval_core.tables import RATIO_KEYS, FormulaOf, RecordsOf, Table
from nereval_core.tables.glossary import DECISIONS
from pages.shared.data.loading import demo_names, load_demo
from pages.shared.view import LAYOUTS, View
from pages.shared.view.confusion_layout import confusion_table
from pages.shared.view.formulas import formula, mean_formula, reconciles
from pages.shared.view.link import read_link, write_link
from pages.shared.view.queries import around, cell_query, context, query_of, view_of

MERGES = {
    "pharmacology": (("NORMALIZABLES", "drug"), ("NO_NORMALIZABLES", "drug")),
    "biology": (("DNA", "macromolecule"), ("RNA", "macromolecule"), ("protein", "macromolecule")),
    "newspapers": (("org", "pers"),),
}
LEFT_OUT = {"pharmacology": "PROTEINAS", "biology": "cell_line", "newspapers": "time"}
CASES = [
    pytest.param(name, system, merged, id=f"{name}-{system}{'-merged' if merged else ''}")
    for name in demo_names()
    for system in ("rules", "perceptron")
    for merged in (False, True)
]


demo = cache(load_demo)


@cache
def scored(name: str, system: str, merged: bool) -> Scores:
    criteria = tuple(CRITERIA[criterion] for criterion in APPLICABLE)
    settings = Settings(criteria, MERGES[name], (LEFT_OUT[name],)) if merged else Settings(criteria)
    corpus = demo(name).corpus
    return score_layers(corpus.gold, corpus.system(system), settings)


@cache
def listed(name: str, system: str, merged: bool, criterion: str) -> Ledger:
    corpus = demo(name).corpus
    return ledger(scored(name, system, merged), criterion, (corpus.gold, corpus.system(system)))


OPENED: dict[tuple[int, Query], int] = {}


def opened(records: Ledger, query: Query) -> int:
    """Return what the records that a count opens weigh, opened as a link does: through the view and its address."""
    view, notices = read_link(write_link(view_of(View(), query)))
    assert not notices
    # The ledgers are kept by `listed`, so their ids stay theirs.
    key = (id(records), query_of(view))
    if key not in OPENED:
        found = records.positions(key[1])
        # What is counted by class is what is listed one by one.
        assert records.total(key[1]) == (
            len(found),
            OPENED.setdefault(key, int(records.about.rows.weight[found].sum())),
        )
        # By span a record counts for one, by token for the tokens in its text.
        assert OPENED[key] == len(found) or records.criterion == "fragment"
    return OPENED[key]


@pytest.mark.parametrize(("name", "system", "merged"), CASES)
def test_counts_by_criterion(name: str, system: str, merged: bool) -> None:
    scores = scored(name, system, merged)
    table = criterion_table(system, {system: scores}, APPLICABLE)
    for number, criterion in enumerate(APPLICABLE):
        frame = listed(name, system, merged, criterion)
        assert_counts_open(table, number, frame, 7)


@pytest.mark.parametrize(("name", "system", "merged"), CASES)
def test_counts_by_type(name: str, system: str, merged: bool) -> None:
    scores = scored(name, system, merged)
    for criterion in APPLICABLE:
        frame = listed(name, system, merged, criterion)
        table = type_table(system, {system: scores}, criterion)
        assert len(table.rows) == len(scores.by_type(criterion))
        for number in range(len(table.rows)):
            assert_counts_open(table, number, frame, 10)


def assert_counts_open(table: Table, number: int, frame: Ledger, counts: int) -> None:
    """Check that each count of a row opens as many records, and each ratio its formula."""
    row = table.row(number)
    targets = {column.key: column.opens(row) for column in table.columns if column.opens is not None}
    records = {key: target for key, target in targets.items() if isinstance(target, RecordsOf)}
    formulas = [target for target in targets.values() if isinstance(target, FormulaOf)]
    assert (len(records), [target.ratio for target in formulas]) == (counts, list(RATIO_KEYS))
    for target in formulas:
        assert getattr(target.counts(), RATIO_KEYS[target.ratio]) == row[RATIO_KEYS[target.ratio]]
    for key, target in records.items():
        assert opened(frame, target.query) == row[key], (row, key)


@pytest.mark.parametrize(("name", "system", "merged"), CASES)
def test_counts_of_faireval(name: str, system: str, merged: bool) -> None:
    frame = listed(name, system, merged, "strict")
    table = fair_class_table(fair_errors(scored(name, system, merged)), system)
    for number in range(len(table.rows)):
        row = table.row(number)
        targets = [column.opens(row) for column in table.columns if column.opens is not None]
        assert [isinstance(target, RecordsOf) and opened(frame, target.query) for target in targets] == [
            row["records"]
        ] * 3
    assert table.notes == ()


@pytest.mark.parametrize(("name", "system", "merged"), CASES)
def test_counts_in_formulas(name: str, system: str, merged: bool) -> None:
    scores = scored(name, system, merged)
    for criterion in APPLICABLE:
        frame = listed(name, system, merged, criterion)
        for kind, counts in [(None, scores.counts(criterion)), *scores.by_type(criterion).items()]:
            for ratio in (*RATIO_KEYS, "SER"):
                made = formula(ratio, counts, kind)
                for label, value, query in made.counts:
                    assert opened(frame, query) == value, (criterion, kind, ratio, label)


@pytest.mark.parametrize(("name", "system", "merged"), CASES)
def test_confusion_cells(name: str, system: str, merged: bool) -> None:
    scores = scored(name, system, merged)
    for criterion in APPLICABLE:
        frame = listed(name, system, merged, criterion)
        cells = frame.confusion()
        long = confusion(scores, criterion)
        sides = zip(long["gold_type"].replace(SPURIOUS, ABSENT), long["pred_type"].replace(MISSED, ABSENT), strict=True)
        assert cells == dict(zip(sides, long["count"], strict=True))
        for layout in ((), LAYOUTS):
            table = confusion_table(cells, scores.types, layout)
            assert table.counts.to_numpy().sum() == frame.total(Query()).weight
            for row, gold in enumerate(table.rows):
                for column, pred in enumerate(table.columns):
                    assert opened(frame, cell_query(gold, pred)) == table.counts.iat[row, column], (gold, pred)


@pytest.mark.parametrize(("name", "system", "merged"), CASES)
@pytest.mark.parametrize("query", [Query(), Query(decision=("INC", "MIS", "SPU")), Query(text="a"), Query(words="2")])
def test_facets(name: str, system: str, merged: bool, query: Query) -> None:
    for criterion in ("strict", "fragment"):
        frame = listed(name, system, merged, criterion)
        there = {"pharmacology": ("period",), "newspapers": ("period",)}.get(name, ())
        assert frame.offered == tuple(facet for facet in FACETS if facet not in ("period", "noise") or facet in there)
        check_facets(frame, query)


def check_facets(frame: Ledger, query: Query) -> None:
    for facet in FACETS:
        counts = frame.facet_counts(query, facet)
        assert 0 not in counts.values()
        for value, count in counts.items():
            assert opened(frame, narrowed(query, facet, value)) == count, (facet, value)
        if facet not in frame.offered:
            assert not counts
        elif facet not in ("gold", "pred"):
            assert sum(counts.values()) == opened(frame, narrowed(query, facet, None))


ROME = "Rome and Pari5 or Bern, Ulm."


@cache
def dated() -> Scores:
    """Return scores over spans of every noise level and of none, in documents of two decades and without a date."""
    noise = [0.0, 0.05, 0.2, 0.5, 7, None]
    gold, pred = [], []
    for number, date in enumerate(["1798-01-20", "1805", None, "May 1805", "1799-12-31"]):
        places = [(0, 4), (9, 14), (18, 22), (24, 27)]
        spans = [
            {"start": start, "end": end, "label": "loc", "meta": {"LED": noise[(number + place) % len(noise)]}}
            for place, (start, end) in enumerate(places)
        ]
        row = {"id": f"d{number}", "text": ROME, "meta": {} if date is None else {"date": date}}
        gold.append(json.dumps(row | {"spans": spans[: 3 + number % 2]}))
        found = [{"start": 5, "end": 8, "label": "loc"}, *({**one, "label": "pers"} for one in spans[number % 3 :])]
        pred.append(json.dumps(row | {"spans": [{k: v for k, v in one.items() if k != "meta"} for one in found]}))
    sides = (Source.of_uploads([("a.jsonl", "\n".join(rows).encode())]) for rows in (gold, pred))
    one, two = (read(side, format="jsonl") for side in sides)
    settings = Settings(tuple(CRITERIA[name] for name in APPLICABLE), (("loc", "place"),))
    return score_layers(one.layer, pair(one, two).layer, settings)


@cache
def listed_dated(criterion: str) -> Ledger:
    scores = dated()
    return ledger(scores, criterion, (scores.gold, scores.pred))


@pytest.mark.parametrize("criterion", ["strict", "type", "fragment"])
@pytest.mark.parametrize(
    "query",
    [
        Query(),
        Query(period="1790s"),
        Query(period="no date", decision=("MIS",)),
        Query(noise="0.1-0.3"),
        Query(text="u"),
    ],
)
def test_facets_of_period_and_noise(criterion: str, query: Query) -> None:
    frame = listed_dated(criterion)
    # A run of tokens is no gold span, so nothing is known of its noise.
    assert set(FACETS) - set(frame.offered) == ({"noise"} if criterion == "fragment" else set())
    check_facets(frame, query)


def test_periods_and_noise_stand_in_their_order() -> None:
    frame = listed_dated("strict")
    assert list(frame.facet_counts(Query(), "period")) == ["1790s", "1800s", UNDATED]
    assert list(frame.facet_counts(Query(), "noise")) == [*NOISE, NO_GOLD]
    gold = dated().layers("strict")[0]
    of_record = [
        frame.facets.names["noise"][code]
        for code in frame.facets.codes["noise"][frame.source.classes(by_field=True).in_part(0).of_record]
    ]
    for (_, row), level in zip(frame.page(Query(), rows=1_000).iterrows(), of_record, strict=True):
        noise = gold.meta.get(row["gold"], {}).get("LED")
        assert (level == NO_GOLD) == (row["decision"] == "SPU")
        assert (level == UNKNOWN) == (row["gold"] >= 0 and noise is None)
        if level in LEVELS:
            low, high = map(float, level.split("-"))
            assert low <= noise < high or low == noise == high


@pytest.mark.parametrize(("name", "system", "merged"), CASES)
def test_decisions_reconcile_with_spans(name: str, system: str, merged: bool) -> None:
    scores = scored(name, system, merged)
    for criterion in APPLICABLE:
        gold, pred = (int(side.sum()) for side in scores.weights(criterion))
        counts = scores.counts(criterion)
        assert [holds for holds, _ in reconciles(counts, gold, pred)] == [True, True]
        assert [holds for holds, _ in reconciles(counts, gold + 1, pred - 1)] == [False, False]


def test_without_a_choice_lists_show_all_but_correct() -> None:
    records = listed("pharmacology", "rules", False, "strict")
    shown = records.page(query_of(View()), rows=10_000)
    assert set(shown["decision"]) == {"INC", "MIS", "SPU"}
    correct = records.total(Query(decision=("COR",))).records
    assert len(shown) + correct == records.total(Query()).records == len(records.about.rows)


def test_a_chosen_record_does_not_narrow_the_list_down_to_its_document() -> None:
    assert query_of(View(doc="en-01")).doc == "en-01"
    assert query_of(View(doc="en-01", record="g:0-1:Drug")).doc == ""
    assert query_of(View(doc="en-01", at="3-9")).doc == ""


@pytest.mark.parametrize(
    ("q", "query"),
    [
        ("aspirin", Query(text="aspirin")),
        ('boundary:"end differs" aspirin', Query(text="aspirin", boundary="end differs")),
        ("words:6+ boundary:equal", Query(words="6+", boundary="equal")),
        ('a "quoted" word', Query(text='a "quoted" word')),
        ("period:1790s Rome", Query(text="Rome", period="1790s")),
        ('noise:0.1-0.3 period:"no date"', Query(period=UNDATED, noise="0.1-0.3")),
        ('noise:"none given" words:2 x', Query(text="x", noise=UNKNOWN, words="2")),
        ('x has:"under left=COR"', Query(text="x", having=(("under left", "COR"),))),
        ('has:a=b has:"c d=%22=%2522"', Query(having=(("a", "b"), ("c d", '"=%22')))),
        ('has:"by a%3Db=COR" x', Query(text="x", having=(("by a=b", "COR"),))),
        ('has:"by \u00a0%0A%09é=x y"', Query(having=(("by \u00a0\n\té", "x y"),))),
    ],
)
def test_the_search_text_holds_fields(q: str, query: Query) -> None:
    asked = replace(query, decision=DECISIONS)
    assert query_of(View(q=q, decision=DECISIONS)) == asked
    assert query_of(read_link(write_link(view_of(View(), asked)))[0]) == asked


@pytest.mark.parametrize("text", ["ASPIRIN", "aspirin", "spiri", "morphine sulfate", "en-01 aspirin"])
def test_the_search_finds_span_texts_and_documents(text: str) -> None:
    frame = listed("pharmacology", "rules", False, "strict")
    found = frame.page(Query(text=text))
    assert len(found)
    documents = load_demo("pharmacology").corpus.documents
    for _, row in found.iterrows():
        parts = [str(row[column]) for column in ("gold_text", "pred_text", "document")]
        for side in ("gold", "pred"):
            if row[side] >= 0:
                low, high = max(0, row[f"{side}_start"] - AROUND), row[f"{side}_end"] + AROUND
                parts.append(documents.texts[documents.index[row["document"]]][low:high])
        assert all(word in " ".join(parts).casefold() for word in text.casefold().split())


@pytest.mark.parametrize("order", ORDERS)
def test_orders_keep_every_record(order: str) -> None:
    frame = listed("newspapers", "rules", False, "strict")
    assert sorted(frame.positions(Query(), order)) == list(range(len(frame.about.rows)))
    found = frame.page(Query(), order, rows=10_000)
    anchor = found["gold_text"].where(found["gold"] >= 0, found["pred_text"])
    if order == "longest":
        assert anchor.str.len().is_monotonic_decreasing
    if order == "text":
        assert anchor.str.casefold().is_monotonic_increasing
    if order == "decision":
        assert found["decision"].map(DECISIONS.index).astype(int).is_monotonic_increasing


def test_context_is_the_text_around_the_anchor() -> None:
    corpus = demo("pharmacology").corpus
    frame = listed("pharmacology", "rules", False, "strict").page(Query())
    around = context(frame, corpus.documents.texts, 20)
    for (_, row), part in zip(frame.iterrows(), around, strict=True):
        line = " ".join(corpus.documents.texts[row["doc"]].split())
        for piece in part:
            assert piece in line


def test_a_table_of_no_types() -> None:
    table = confusion_table({}, [], LAYOUTS)
    assert table.counts.to_numpy().tolist() == [[0]]


@pytest.mark.parametrize(
    ("pos_act_cor", "said"),
    [
        ([], "F1 is undefined for every one of the 0 types"),
        ([(0, 0, 0), (0, 0, 0)], "F1 is undefined for every one of the 2 types"),
        ([(1, 1, 1)], "F1 = (1.000) / 1 types = 1.000"),
        ([(1, 1, 1), (0, 0, 0), (2, 2, 1)], "F1 = (1.000 + 0.500) / 2 types = 0.750 (1 undefined)"),
        ([(1, 1, 1)] * 12, "F1 = (" + " + ".join(["1.000"] * 12) + ") / 12 types = 1.000"),
        ([(1, 1, 1)] * 13, "F1 = (" + " + ".join(["1.000"] * 12) + " + …) / 13 types = 1.000"),
    ],
)
def test_a_mean_says_what_it_is_made_of(pos_act_cor: list[tuple[int, int, int]], said: str) -> None:
    counts = [Counts((cor, 0, 0, pos - cor, 0), (cor, 0, 0, 0, act - cor)) for pos, act, cor in pos_act_cor]
    assert mean_formula("F1", counts, Average.of(one.f1 for one in counts), "types") == said


@pytest.mark.parametrize(
    ("start", "end", "characters", "line"),
    [
        (8, 11, 4, ("two", "six", "nin")),
        (8, 11, 40, ("one two", "six", "nine ten")),
        (0, 3, 4, ("", "one", "two")),
        (17, 20, 4, ("ine", "ten", "")),
        (8, 11, 0, ("", "six", "")),
        (-1, -1, 40, ("", "", "")),
    ],
)
def test_words_around_a_place_go_as_far_as_asked(
    start: int, end: int, characters: int, line: tuple[str, str, str]
) -> None:
    assert around(["", "one\ttwo\nsix nine\nten"], [1], [start], [end], characters) == [line]


@pytest.mark.parametrize(("name", "system", "merged"), CASES)
def test_the_context_of_a_record_holds_the_span_that_its_id_names(name: str, system: str, merged: bool) -> None:
    scores = scored(name, system, merged)
    texts, rows = scores.gold.documents.texts, records(scores, "strict")
    for record, document, line in zip(rows["record"], rows["doc"], context(rows, texts), strict=True):
        places = record.split(":")[1].replace(",", "-").split("-")
        assert line[1] == " ".join(texts[document][int(places[0]) : int(places[-1])].split())
