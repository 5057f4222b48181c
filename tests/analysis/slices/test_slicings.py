"""Slices: every span is in the slice that its definition says, slices add up, and every count opens its records."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nereval_core.analysis.slices import slicings, span_values, user_columns
from nereval_core.analysis.slices.scores_by_slice import SIDED, SliceTally, slice_table, tally_slices
from nereval_core.analysis.slices.slicings import SLICINGS, applicable_slicings, find_values
from nereval_core.analysis.slices.span_values import SlicedScores, SpanValues, bin_names, bins, token_counts
from nereval_core.analysis.span_relations import corresponding_spans
from nereval_core.analysis.surface_forms import SEEN, head_word, number_forms
from nereval_core.corpus import Corpus, Layer
from nereval_core.corpus.tokens import tokens_of
from nereval_core.ledger import ledger
from nereval_core.problems import FormatError
from nereval_core.readers import Source, read
from nereval_core.records.match_records import record_ids
from nereval_core.records.queries import Query
from nereval_core.scoring import Counting, Scores, Settings, score_layers
from nereval_core.scoring.criteria import CRITERIA, Decision
from nereval_core.scoring.type_merging import apply_rules
from pages.shared.data.loading import load_demo
from tests.support.draws import draws
from tests.support.layer_strategies import layers
from tests.support.spans import documents, make, random_spans, settings

SHAPES = [
    ("Rome", "capitalised"),
    ("New York", "capitalised"),
    ("Anglo-Saxon", "capitalised"),
    ("Alzheimer's", "capitalised"),
    ("National assembly", "first word capitalised"),
    ('"National assembly"', "first word capitalised"),
    ("the Hague", "mixed case"),
    ("mRNA", "mixed case"),
    ("McDonald", "mixed case"),
    ("the New-york", "mixed case"),
    ("USA", "all capitals"),
    ("U.S.", "all capitals"),
    ("A", "all capitals"),
    ("aspirin", "lower case"),
    ("être humain", "lower case"),
    ("IL-2", "letters and digits"),
    ("p53", "letters and digits"),
    ("1798", "digits"),
    ("12.5 %", "digits"),
    ("東京", "letters without case"),
    ("…", "neither letter nor digit"),
    (" ", "neither letter nor digit"),
]


def line(name: str, text: str, spans: list[dict[str, object]], **meta: object) -> str:
    return json.dumps({"id": name, "text": text, "spans": spans, "meta": meta})


def layer_of(lines: list[str]) -> Layer:
    return read(Source.of_uploads([("a.jsonl", "\n".join(lines).encode())]), format="jsonl").layer


def words_layer(texts: list[tuple[str, str]]) -> Layer:
    """Return a layer with one document of words, all of them spans, each with its type."""
    whole, spans = "", []
    for text, kind in texts:
        spans.append({"start": len(whole), "end": len(whole) + len(text), "label": kind})
        whole += text + "|"
    return layer_of([line("d", whole, spans)])


def together(gold: Layer, pred: Layer, *names: str, counting: Counting = "one-to-one") -> SlicedScores:
    pred = replace(pred, documents=gold.documents)
    scores = score_layers(gold, pred, settings(*(names or ("strict",)), counting=counting))
    return SlicedScores(scores, names[0] if names else "strict", (gold, pred))


def said(given: SlicedScores, name: str) -> tuple[list[str | None], list[str | None]]:
    """Return the value of each gold span and of each prediction."""
    values = find_values(given, name)
    assert values is not None
    one, two = ([None if code < 0 else values.names[code] for code in side.tolist()] for side in values[1:])
    return one, two


@pytest.mark.parametrize(("text", "shape"), SHAPES)
def test_shapes(text: str, shape: str) -> None:
    layer = words_layer([(text, "x")])
    assert [span_values.SHAPES[code] for code in span_values.shapes_of(layer)] == [shape]


def test_shapes_of_many_at_once_are_those_of_each() -> None:
    assert {shape for _, shape in SHAPES} == set(span_values.SHAPES)
    layer = words_layer([(text, "x") for text, _ in SHAPES])
    assert [span_values.SHAPES[code] for code in span_values.shapes_of(layer)] == [shape for _, shape in SHAPES]


def plain_shape(text: str) -> str:
    """Find the shape of a text word by word, as SHAPES defines it."""
    for dash in span_values.DASHES:
        text = text.replace(dash, " ")
    letters = [char for char in text if char.isalpha() or char.isupper() or char.islower()]
    upper = [char for char in letters if char.isupper() or char.istitle()]
    lower = [char for char in letters if char.islower() and char not in upper]
    digits = [char for char in text if char.isnumeric() and char not in letters]
    if not letters:
        return "digits" if digits else "neither letter nor digit"
    if digits:
        return "letters and digits"
    if not upper and not lower:
        return "letters without case"
    if not lower:
        return "all capitals"
    if not upper:
        return "lower case"
    firsts = [first for word in text.split() if (first := next((char for char in word if char in letters), None))]
    if all(first in upper for first in firsts) and len(upper) == len(firsts):
        return "capitalised"
    return "first word capitalised" if firsts[0] in upper and len(upper) == 1 else "mixed case"


@draws(8)
@given(layers())
def test_shapes_of_any_text(layer: Layer) -> None:
    expected = [plain_shape(layer.text(span)) for span in range(len(layer))]
    assert [span_values.SHAPES[code] for code in span_values.shapes_of(layer)] == expected


@draws(8)
@given(layers())
def test_forms_are_the_words_whatever_the_white_space(layer: Layer) -> None:
    found = number_forms(layer)
    words = [" ".join(layer.text(span).split()) for span in range(len(layer))]
    name = {code: form for form, code in found.forms.items()}
    assert [name[code] for code in found.codes.tolist()] == words


@draws(8)
@given(layers())
def test_tokens_in_spans(layer: Layer) -> None:
    tokens = tokens_of(layer.documents)
    expected = []
    for span in range(len(layer)):
        parts = layer.fragments.get(span, ((int(layer.start[span]), int(layer.end[span])),))
        there = tokens.of_document(int(layer.doc[span]))
        expected.append(sum(any(low < end and start < high for low, high in parts) for start, end in there))
    assert token_counts(layer).tolist() == expected


@pytest.mark.parametrize(
    "starts",
    [
        span_values.SPAN_LENGTH_STARTS,
        span_values.SPAN_TOKENS_STARTS,
        span_values.DOCUMENT_LENGTH_STARTS,
        span_values.FREQUENCY_STARTS,
    ],
)
def test_bins_hold_what_their_names_say(starts: tuple[int, ...]) -> None:
    names = bin_names(starts)
    numbers = np.arange(starts[0], starts[-1] + 50)
    for number, code in zip(numbers.tolist(), bins(numbers, starts).tolist(), strict=True):
        low, _, high = names[code].rstrip("+").partition("-")
        assert int(low) <= number and (names[code].endswith("+") or number <= int(high or low))


GOLD = [
    line(
        "a",
        "Rome and  Rome and Paris. Rome",
        [
            {"start": 0, "end": 4, "label": "loc", "id": "T1"},
            {"start": 10, "end": 14, "label": "loc", "id": "T2"},
            {"start": 19, "end": 24, "label": "loc", "id": "T3"},
            {"start": 26, "end": 30, "label": "org", "id": "T4"},
        ],
        date="1798-01-20",
        source="Gazette",
    ),
    line("b", "Dr  Who, Dr Who", [{"start": 0, "end": 7, "label": "pers", "id": "T1"}], source="a=b%"),
]
PRED = [
    line(
        "a",
        "Rome and  Rome and Paris. Rome",
        [
            {"start": 0, "end": 8, "label": "loc", "score": 0.3},
            {"start": 10, "end": 14, "label": "pers", "score": 0.95},
            {"start": 26, "end": 30, "label": "loc", "score": 1.0},
        ],
    ),
    line("b", "Dr  Who, Dr Who", [{"start": 9, "end": 15, "label": "pers"}]),
]
CASES = [
    ("length", ["4-6", "4-6", "4-6", "4-6", "7-10"], ["7-10", "4-6", "4-6", "4-6"]),
    ("tokens", ["1", "1", "1", "1", "2"], ["2", "1", "1", "2"]),
    ("shape", ["capitalised"] * 5, ["first word capitalised", "capitalised", "capitalised", "capitalised"]),
    ("frequency", ["2-5", "2-5", "1", "2-5", "1"], ["0", "2-5", "2-5", "1"]),
    (
        "consistency",
        ["one type in under 80%", "one type in under 80%", "only once", "one type in under 80%", "only once"],
        ["not in gold", "one type in under 80%", "one type in under 80%", "only once"],
    ),
    ("position", ["0-20%", "20-40%", "60-80%", "80-100%", "0-20%"], ["0-20%", "20-40%", "80-100%", "60-80%"]),
    ("document-length", ["0-100"] * 5, ["0-100"] * 4),
    ("spans", ["3-5"] * 4 + ["1"], ["3-5"] * 3 + ["1"]),
    ("period", ["1790s"] * 4 + ["no date"], ["1790s"] * 3 + ["no date"]),
    ("meta source", ["Gazette"] * 4 + ["a=b%"], ["Gazette"] * 3 + ["a=b%"]),
    ("score", [None] * 5, ["0.3-0.4", "0.9-1.0", "0.9-1.0", None]),
    ("score-mass", [None] * 5, ["0.3", "0.95", "1", None]),
    ("at 0.95", ["MIS", "INC", "MIS", "INC", "MIS"], ["left out", "INC", "INC", "SPU"]),
    ("at 0.5", ["MIS", "INC", "MIS", "INC", "MIS"], ["left out", "INC", "INC", "SPU"]),
    ("at 0.1", ["INC", "INC", "MIS", "INC", "MIS"], ["INC", "INC", "INC", "SPU"]),
]


@pytest.mark.parametrize(("name", "gold", "pred"), CASES, ids=[name for name, _, _ in CASES])
def test_values(name: str, gold: list[str | None], pred: list[str | None]) -> None:
    assert said(together(layer_of(GOLD), layer_of(PRED)), name) == (gold, pred)


def test_what_applies_is_offered() -> None:
    sliced = together(layer_of(GOLD), layer_of(PRED))
    names = applicable_slicings(sliced)
    assert [name.partition(" ")[0] for name in names] == [
        name for name, one in SLICINGS.items() if one.listed and name not in ("seen", "head", "year", "noise", "column")
    ]
    assert all(find_values(sliced, name) is not None for name in names)
    by_token = together(layer_of(GOLD), layer_of(PRED), "fragment")
    assert applicable_slicings(by_token) == ("document-length", "spans", "period", "meta source")
    assert all((find_values(by_token, name) is None) == (name not in applicable_slicings(by_token)) for name in names)
    for name in ("nothing", "at x", "meta none", "seen 00", "column 00 x", "noise"):
        assert find_values(sliced, name) is None


def test_noise_is_of_gold_alone_where_predictions_do_not_say_it() -> None:
    text = "Rome Bern"
    spans: list[dict[str, object]] = [{"start": 0, "end": 4, "label": "loc"}, {"start": 5, "end": 9, "label": "loc"}]
    gold = layer_of([line("a", text, [{**spans[0], "meta": {"LED": 0.2}}, spans[1]])])
    sliced = together(gold, layer_of([line("a", text, spans)]))
    assert "noise" in applicable_slicings(sliced)
    assert said(sliced, "noise") == (["0.1-0.3", "none given"], [None, None])
    values = find_values(sliced, "noise")
    assert values is not None
    counted = tally_slices(sliced, values)
    table = slice_table(counted)
    assert table["recall"].tolist() == [1, 1] and table[["precision", "f1"]].isna().all(axis=None)
    assert counted.note("noise (LED)") == (
        "predictions carry no value for noise (LED): there is recall only, no precision and no F1"
    )
    turned = replace(counted, gold=counted.pred, pred=counted.gold)
    assert turned.note("x") == "gold spans carry no value for x: there is precision only, no recall and no F1"
    length = find_values(sliced, "length")
    assert length is not None and tally_slices(sliced, length).note("x") is None


def test_seen_in_training() -> None:
    training = layer_of([line("t", "Rome Dr Who", [{"start": 0, "end": 4, "label": "loc"}])])
    sliced = together(layer_of(GOLD), layer_of(PRED))
    digest = training.digest[: slicings.DIGEST_DIGITS]
    sliced = replace(sliced, beside={digest: training}.get)
    assert f"seen {digest}" in applicable_slicings(sliced, training)
    same, other, never = SEEN
    assert said(sliced, f"seen {digest}") == ([same, same, never, other, never], [never, other, same, never])
    # Types are compared as scored: here the two are one.
    merged = Settings((CRITERIA["strict"],), (("loc", "place"), ("org", "place")))
    sliced = replace(sliced, scores=score_layers(*sliced.read, merged))
    assert said(sliced, f"seen {digest}")[0] == [same, same, never, same, never]


def test_head_words_seen_in_training() -> None:
    text = "Bern University and the university of Rome"
    spans = [{"start": 0, "end": 15, "label": "org"}, {"start": 24, "end": 42, "label": "loc"}]
    gold = layer_of([line("a", text, [*spans, {"start": 38, "end": 42, "label": "org"}])])
    training = layer_of([line("t", "Oxford University", [{"start": 0, "end": 17, "label": "org"}])])
    digest = training.digest[: slicings.DIGEST_DIGITS]
    sliced = replace(together(gold, gold), beside={digest: training}.get)
    assert f"head {digest}" in applicable_slicings(sliced, training)
    assert said(sliced, f"head {digest}")[0] == list(SEEN)
    assert said(sliced, f"seen {digest}")[0] == ["unseen"] * 3


@pytest.mark.parametrize(
    ("form", "head"),
    [
        ("University of Oxford", "university"),
        ("St Mary's Hospital (Paddington)", "hospital"),
        ("Universit\u00e9 de Paris", "universit\u00e9"),
        ("Paris, Texas", "paris"),
        ("Acme Inc.", "inc"),
        ("De Gaulle", "gaulle"),
        ("of", "of"),
        ("(IL)-2", "il)-2"),
        ("\u6771\u4eac\u90fd", "\u6771\u4eac\u90fd"),
        ("!?", "!?"),
    ],
)
def test_head_words(form: str, head: str) -> None:
    assert head_word(form) == head


def test_before_and_from_a_year() -> None:
    dates: list[object] = ["1849-12-31", 1850, "May 1850", None]
    meta = [{"date": date} if date is not None else {} for date in dates]
    spans = [{"start": 0, "end": 4, "label": "loc"}]
    lines = [json.dumps({"id": str(n), "text": "Rome", "spans": spans, "meta": m}) for n, m in enumerate(meta)]
    sliced = together(layer_of(lines), layer_of(lines))
    assert "year 1850" in applicable_slicings(sliced, years=[1850]) and "year" not in applicable_slicings(sliced)
    assert said(sliced, "year 1850")[0] == ["before 1850", "1850 or later", "no date", "no date"]
    for name in ("year", "year x", "year ٢"):
        assert find_values(sliced, name) is None


@pytest.mark.parametrize(
    ("values", "names", "codes"),
    [
        ([], (), []),
        ([None, ""], ("not given",), [0, 0]),
        (["b", "a", "b", None], ("a", "b", "not given"), [1, 0, 1, 2]),
        ([10, 9.5, True], ("10", "9.5", "True"), [0, 1, 2]),
        (["10", "9", 9], ("9", "10"), [1, 0, 0]),
        (["not given", None], ("not given", "(not given)"), [0, 1]),
        (["a\nb", " a "], ("a", "a\\nb"), [1, 0]),
        (list(range(20)), ("0 to 3", "4 to 7", "8 to 11", "12 to 15", "16 to 19"), sorted([0, 1, 2, 3, 4] * 4)),
        ([0] * 90 + list(range(1, 11)), ("0 to 0", "1 to 10"), [0] * 90 + [1] * 10),
    ],
)  # fmt: skip
def test_values_are_grouped(values: list[object], names: tuple[str, ...], codes: list[int]) -> None:
    found = user_columns.group_values(values)
    assert (found[1], found[0].tolist()) == (names, codes)


def test_rare_values_of_many_are_grouped_together() -> None:
    values = [f"v{number:03}" for number in range(100) for _ in range(100 - number)]
    codes, names = user_columns.group_values(values)
    assert names == (*(f"v{number:03}" for number in range(user_columns.MOST_VALUES)), "other values")
    assert Counter(codes.tolist())[user_columns.MOST_VALUES] == sum(100 - number for number in range(30, 100))


def test_ranges_that_six_digits_do_not_tell_apart_are_written_in_full() -> None:
    codes, names = user_columns.group_values([1_000_000 + number / 100 for number in range(20)])
    assert len(set(names)) == 5 and Counter(codes.tolist()) == dict.fromkeys(range(5), 4)


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", ["c.csv:1: no column is called document"]),
        ("doc,x\na,1\n", ["c.csv:1: no column is called document"]),
        ("document\na\n", ["c.csv:1: there is no column to slice by"]),
        ("document,span\na,T1\n", ["c.csv:1: there is no column to slice by"]),
        ("document,x,x\na,1,2\n", ["c.csv:1: two columns are called 'x'"]),
        ("document,x,\na,1,2\n", ["c.csv:1: a column has no name"]),
        ("document,x\na\n\nb,1,2\n", ["c.csv:2: 1 cell where", "c.csv:4: 3 cells"]),
        ("document,x\na,1\nb,2\na,3\n", ["c.csv:4: document 'a' has a row already, in line 2"]),
        ('document,x\na,"1\n2"\na,3\n', ["c.csv:4: document 'a' has a row already, in line 2"]),
        ('document,x\na,1\nb,"2\n', ["c.csv:3: this is not CSV"]),
    ],
)
def test_bad_columns_are_told_by_line(text: str, lines: list[str]) -> None:
    with pytest.raises(FormatError) as error:
        user_columns.read_columns(text, "c.csv")
    found = error.value.lines()
    assert len(found) == len(lines) and all(map(str.startswith, found, lines)), found


def test_columns_that_fit_nothing_are_told_by_line() -> None:
    gold, pred = layer_of(GOLD), layer_of(PRED)
    text = "document,x\na,1\nz,2\n"
    with pytest.raises(FormatError) as error:
        user_columns.check_columns(user_columns.read_columns(text, "c.csv"), gold, [pred])
    assert [found.partition(";")[0] for found in error.value.lines()] == ["c.csv:3: there is no document 'z'"]
    text = "document,span,x\na,T1,1\na,T9,2\nz,T1,3\na,g:0-4:loc,4\na,p:0-8:loc,5\na,p:0-4:loc,6\nb,T1,7\n"
    with pytest.raises(FormatError) as error:
        user_columns.check_columns(user_columns.read_columns(text, "c.csv"), gold, [pred])
    assert [found.partition(";")[0] for found in error.value.lines()] == [
        "c.csv:3: there is no span 'T9' in document 'a'",
        "c.csv:4: there is no document 'z'",
        "c.csv:7: there is no span 'p:0-4:loc' in document 'a'",
    ]


@pytest.mark.parametrize(
    ("text", "gold", "pred"),
    [
        ("\ufeffx,document\r\nhard,a\r\n", ["hard"] * 4 + ["not given"], ["hard"] * 3 + ["not given"]),
        (
            "document,span,x\na,T2,one\na,p:26-30:loc,two\nb,g:0-7:pers,three\n",
            ["not given", "one", "not given", "not given", "three"],
            ["not given", "not given", "two", "not given"],
        ),
    ],
)
def test_columns_are_joined(text: str, gold: list[str], pred: list[str]) -> None:
    sliced = together(layer_of(GOLD), layer_of(PRED))
    columns = user_columns.read_columns(text, "c.csv")
    user_columns.check_columns(columns, sliced.read[0], [sliced.read[1]])
    digest = columns.digest[: slicings.DIGEST_DIGITS]
    sliced = replace(sliced, beside={digest: columns}.get)
    (name,) = set(applicable_slicings(sliced, None, columns)) - set(applicable_slicings(sliced))
    assert slicings.slicing_title(name) == "Your column x"
    assert said(sliced, name) == (gold, pred)
    # The rows of spans hold whatever is merged or left out.
    rules = Settings((CRITERIA["strict"],), (("loc", "zone"),), ("pers",))
    again = replace(sliced, scores=score_layers(*sliced.read, rules))
    ours = [value for value, span in zip(gold, range(5), strict=True) if sliced.read[0].label(span) != "pers"]
    theirs = [value for value, span in zip(pred, range(4), strict=True) if sliced.read[1].label(span) != "pers"]
    assert said(again, name) == (ours, theirs)


def drawn(seed: int) -> tuple[Layer, Layer]:
    """Return layers over six documents, with dates, spans of every kind, and scores of most predictions."""
    rng = random.Random(seed)
    over = replace(
        documents(6), meta=tuple({"date": f"18{rng.randrange(3)}1", "n": rng.randrange(3)} for _ in range(6))
    )
    sides = []
    for name in ("gold", "pred"):
        made = make(name, over, [(doc, span) for doc in range(6) for span in random_spans(rng, 6)])
        sides.append(
            replace(made, scores={span: rng.randrange(5) / 4 for span in range(len(made)) if rng.random() < 0.9})
        )
    return sides[0], sides[1]


def check(given: SlicedScores, name: str) -> None:
    """Hold the slices of a slicing to the corpus, and each of their counts to the records that it opens."""
    values = find_values(given, name)
    assert values is not None
    gold, pred = given.layers
    assert len(values.gold) == len(gold) and len(values.pred) == len(pred)
    found = tally_slices(given, values)
    whole = given.scores.counts(given.criterion)
    assert tuple(found.gold.sum(axis=0).tolist()) == whole.gold and tuple(found.pred.sum(axis=0).tolist()) == whole.pred
    check_documents(given, found)
    records = ledger(given.scores, given.criterion, given.read)
    for place, value in enumerate(values.names):
        for side, counts, lone in (("gold", found.gold[place], "MIS"), ("pred", found.pred[place], "SPU")):
            query = Query(having=((f"{side} {name}", value),))
            for decision in ("COR", "INC", "PAR", lone):
                total = records.total(replace(query, decision=(decision,)))
                assert total.weight == counts[Decision[decision]], (name, value, side, decision)
            assert records.total(query).weight == counts.sum()


def check_documents(given: SlicedScores, found: SliceTally) -> None:
    totals = found.by_document.sum(axis=2)
    assert (totals[:, 2] == found.gold.sum(axis=1)).all() and (totals[:, 3] == found.pred.sum(axis=1)).all()
    rows = given.scores.by_document(given.criterion)
    ids = given.layers[0].documents.ids
    for number, name in enumerate(ids):
        if name in rows:
            assert found.by_document[:, 2:, number].sum(axis=0).tolist() == [rows[name].pos, rows[name].act]


@pytest.mark.parametrize("counting", ["one-to-one", "each-side"])
@pytest.mark.parametrize("criterion", ["strict", "partial", "type"])
@draws(8)
@given(st.integers(0, 10_000))
def test_counts_open_their_records(counting: Counting, criterion: str, seed: int) -> None:
    gold, pred = drawn(seed)
    sliced = together(gold, pred, criterion, counting=counting)
    names = [*applicable_slicings(sliced), "at 0.5"]
    check(sliced, names[seed % len(names)] if seed % 3 else "at 0.25")


@pytest.mark.parametrize("demo", ["biology", "newspapers"])
@pytest.mark.parametrize("merged", [False, True])
def test_every_count_of_the_demos_opens_its_records(demo: str, merged: bool) -> None:
    corpus = load_demo(demo).corpus
    for sliced in scored_demo(corpus, merged):
        for name in applicable_slicings(sliced):
            check(sliced, name)


def scored_demo(corpus: Corpus, merged: bool) -> Iterator[SlicedScores]:
    kinds = corpus.gold.types
    rules = Settings((CRITERIA["strict"], CRITERIA["fragment"]), ((kinds[0], "m"), (kinds[1], "m")), (kinds[2],))
    chosen = rules if merged else Settings(rules.criteria)
    system = corpus.system("rules")
    scores = score_layers(corpus.gold, system, chosen)
    for criterion in ("strict", "fragment"):
        yield SlicedScores(scores, criterion, (corpus.gold, system))


def test_what_is_not_known_of_records_may_be_known_later() -> None:
    gold, pred = layer_of(GOLD), layer_of(PRED)
    sliced = together(gold, pred)
    columns = user_columns.read_columns("document,x\na,1\n", "c.csv")
    name = f"gold column {columns.digest[: slicings.DIGEST_DIGITS]} x"
    given: dict[str, object] = {}

    class Others:
        systems = ("pred",)

        def __init__(self, gold: Layer) -> None:
            self.gold = gold

        def scores(self, system: str | None = None, names: object = ()) -> Scores:
            return sliced.scores

        def beside(self, digest: str) -> object | None:
            return given.get(digest)

    records = ledger(sliced.scores, "strict", (gold, sliced.read[1]), Others(gold))
    query = Query(having=((name, "1"),))
    assert records.total(query).records == len(records.positions(query)) == 0
    given[columns.digest[: slicings.DIGEST_DIGITS]] = columns
    assert records.total(query).records == len(records.positions(query)) == 4


def test_the_table_has_the_counts_and_ratios_of_each_slice() -> None:
    sliced = together(layer_of(GOLD), layer_of(PRED), "type")
    values = find_values(sliced, "spans")
    assert isinstance(values, SpanValues)
    table = slice_table(tally_slices(sliced, values)).set_index("slice")
    assert list(table.index) == ["1", "3-5"] and table["documents"].tolist() == [1, 1]
    assert table[list(SIDED)].to_numpy().tolist() == [[0, 0, 0, 1, 0, 0, 0, 1], [1, 2, 0, 1, 1, 2, 0, 0]]
    row = table.loc["3-5"]
    assert (row["POS"], row["ACT"], row["precision"], row["recall"], row["f1"]) == (4, 3, 1 / 3, 1 / 4, 2 / 7)
    assert row["small"] and row["interval"] == "none" and np.isnan(row["f1_low"])


def test_rows_for_spans_are_found_after_merging() -> None:
    """What a row names is a span as it was read, whatever is merged or left out."""
    corpus = load_demo("biology").corpus
    names = record_ids(corpus.gold, "g")
    rows = zip(corpus.gold.doc.tolist(), names, strict=True)
    text = "".join(f'{corpus.documents.ids[doc]},"{name}","{name}"\n' for doc, name in rows)
    columns = user_columns.read_columns(f"document,span,x\n{text}", "c.csv")
    user_columns.check_columns(columns, corpus.gold, corpus.systems)
    assert user_columns.values_of_spans(columns, "x", corpus.gold, "g") == names
    rules = Settings((), (("DNA", "x"),), ("protein",)).rules_for(CRITERIA["strict"])
    scored = apply_rules(corpus.gold, rules)
    kept = corresponding_spans(scored, corpus.gold)
    assert corpus.gold.start[kept].tolist() == scored.start.tolist()
    assert corpus.gold.doc[kept].tolist() == scored.doc.tolist()
