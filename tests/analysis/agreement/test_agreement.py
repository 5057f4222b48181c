"""Agreement between annotators: published examples, other people's programs beside ours, what must always hold."""

from __future__ import annotations

import random
import tracemalloc
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations, pairwise, permutations, product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nereval_core.analysis import bootstrap
from nereval_core.analysis.agreement import (
    AGREEMENT_COLUMNS,
    DOCUMENT_COLUMNS,
    Agreement,
    kappa_and_alpha,
    measure_agreement,
)
from nereval_core.analysis.agreement.coefficients import NO_SPANS, NO_TOKENS, NO_UNITS, NOTHING_EXPECTED, ONE_CATEGORY
from nereval_core.analysis.agreement.kappa_and_alpha import count_tokens, token_coefficients
from nereval_core.analysis.agreement.summary import agreement_signature
from nereval_core.analysis.agreement.tables import figure_table
from nereval_core.analysis.agreement.unitizing_alpha import (
    AnnotatedUnits,
    annotator_units,
    corpus_disagreement,
    disagreement,
    disagreement_of_sums,
    resampling_counts,
)
from nereval_core.analysis.comparison import compare_scores
from nereval_core.analysis.resampling_units import ResamplingPlan
from nereval_core.api.load import load_corpus
from nereval_core.corpus import Layer
from nereval_core.corpus.builder import Builder
from nereval_core.corpus.tokens import tokens_of
from nereval_core.scoring import Settings, score_layers
from nereval_core.scoring.criteria import CRITERIA
from nereval_core.scoring.criterion_syntax import criterion_from_parts
from tests.support import ROOT

DEMO = ROOT / "demo_data" / "biology"
FEW = ResamplingPlan(resamples=100)
STRICT = Settings((CRITERIA["strict"],))
Spans = Sequence[tuple[int, int, str]]
"""Start, end and type."""


def annotated(texts: Sequence[str], annotators: Sequence[Sequence[Spans]]) -> list[Layer]:
    """Return a layer for each annotator, who gives spans for each text."""
    found: list[Layer] = []
    for number, documents in enumerate(annotators):
        builder = Builder("made")
        for place, (text, spans) in enumerate(zip(texts, documents, strict=True)):
            builder.document(f"d{place}", text)
            for span in spans:
                builder.span(*span)
        layer = builder.finish(f"annotator-{number}")
        found.append(replace(layer, documents=found[0].documents) if found else layer)
    return found


def coded(rows: Sequence[str]) -> list[Layer]:
    """Return layers in which token i of one text has the type `row[i]`, none where that is a dot."""
    text = " ".join("x" * len(rows[0]))
    spans = [[[(2 * at, 2 * at + 1, kind) for at, kind in enumerate(row) if kind != "."]] for row in rows]
    return annotated([text], spans)


def agreed(layers: Sequence[Layer], settings: Settings = STRICT) -> Agreement:
    return measure_agreement({layer.name: layer for layer in layers}, settings, plan=FEW)


def value(found: Agreement, figure: str, kind: str | None = None) -> float:
    rows = found.rows(found.everyone)
    rows = rows[rows["figure"].eq(figure) & (rows["type"].isna() if kind is None else rows["type"].eq(kind))]
    return float(rows["value"].iloc[0])


def test_cohen_1960() -> None:
    """Cohen 1960, A coefficient of agreement for nominal scales, table 1: proportions of 200, kappa .492."""
    table = (("a", "a", 88), ("a", "b", 14), ("a", "c", 18), ("b", "a", 10), ("b", "b", 40), ("b", "c", 10))
    table += (("c", "a", 2), ("c", "b", 6), ("c", "c", 12))
    one, other = ("".join(pair[side] * pair[2] for pair in table) for side in (0, 1))
    found = agreed(coded([one, other]))
    assert value(found, "observed") == pytest.approx(0.7)
    assert value(found, "kappa") == pytest.approx(0.29 / 0.59)


FLEISS = (
    *((0, 0, 0, 0, 14), (0, 2, 6, 4, 2), (0, 0, 3, 5, 6), (0, 3, 9, 2, 0), (2, 2, 8, 1, 1)),
    *((7, 7, 0, 0, 0), (3, 2, 6, 3, 0), (2, 5, 3, 2, 2), (6, 5, 2, 1, 0), (0, 2, 2, 3, 7)),
)
"""The example of ten subjects and fourteen raters in textbooks and in Wikipedia's article on Fleiss' kappa: .210."""


def test_the_standard_example_of_fleiss() -> None:
    subjects = ["".join(kind * number for kind, number in zip("abcde", row, strict=True)) for row in FLEISS]
    found = agreed(coded(["".join(row) for row in zip(*subjects, strict=True)]))
    assert round(value(found, "kappa"), 3) == 0.210
    assert round(value(found, "observed"), 3) == 0.378


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (("..........", ".........."), None),
        (("0100000010", "1110010000"), 0.095),
        (("aabbdcccedda", "babbbccceddd"), 0.692),
    ],
)
def test_krippendorff_2011_two_observers(rows: tuple[str, str], expected: float | None) -> None:
    """Krippendorff 2011, Computing Krippendorff's alpha-reliability, examples A and B."""
    found = value(agreed(coded(rows)), "alpha")
    assert np.isnan(found) if expected is None else round(found, 3) == expected


UNITS = (
    [(75, 145, "c"), (220, 250, "c"), (30, 90, "k"), (150, 200, "k")],
    [(70, 150, "c"), (205, 225, "c"), (250, 270, "c"), (30, 90, "k"), (150, 200, "k")],
)
"""The example of Krippendorff 2004, Content Analysis, 2nd edition, p. 254, its continuum from 150 to 450 moved to 0."""


def test_krippendorff_2004_unitizing() -> None:
    layers = annotated(["x" * 300], [[spans] for spans in UNITS])
    seen = [
        corpus_disagreement([annotator_units(layer, kind) for layer in layers], layers[0].documents.base)
        for kind in "ck"
    ]
    assert [round(float(one.observed[0]), 4) for one in seen] == [0.0144, 0]
    assert [round(float(one.expected[0]), 4) for one in seen] == [0.0532, 0.0490]
    found = agreed(layers)
    assert round(value(found, "unitizing", "c"), 4) == 0.7286
    assert value(found, "unitizing", "k") == 1
    assert round(value(found, "unitizing"), 3) == 0.859


@pytest.mark.parametrize("annotators", [2, 3, 5])
def test_nltk_and_statsmodels_say_the_same(annotators: int) -> None:
    drawn = random.Random(annotators)
    truth = [drawn.choice("...abc") for _ in range(200)]
    rows = [
        "".join(kind if drawn.random() < 0.7 else drawn.choice("...abc") for kind in truth) for _ in range(annotators)
    ]
    found = agreed(coded(rows))
    _same_as_others(found, [list(row) for row in rows])


def test_nested_types_are_a_category_of_their_own() -> None:
    from nltk.metrics.agreement import AnnotationTask

    drawn = random.Random(0)
    sets = [frozenset(kind for kind in "abc" if drawn.random() < 0.4) for _ in range(100)]
    every = [[one if drawn.random() < 0.6 else drawn.choice(sets) for one in sets] for _ in range(3)]
    text = " ".join("x" * 100)
    spans = [[[(2 * at, 2 * at + 1, kind) for at, kinds in enumerate(mine) for kind in kinds]] for mine in every]
    found = agreed(annotated([text], spans))
    _same_as_others(found, every)
    for kind in "abc":
        inside = [[kind in one for one in mine] for mine in every]
        task = AnnotationTask([(who, at, one) for who, mine in enumerate(inside) for at, one in enumerate(mine)])
        assert value(found, "alpha", kind) == pytest.approx(task.alpha())
        assert value(found, "observed", kind) == pytest.approx(task.avg_Ao())


def _same_as_others(found: Agreement, rows: Sequence[Sequence[object]]) -> None:
    # Not by each process that collects the tests: they take long to import.
    from nltk.metrics.agreement import AnnotationTask
    from statsmodels.stats.inter_rater import aggregate_raters, cohens_kappa, fleiss_kappa

    task = AnnotationTask([(who, at, kind) for who, row in enumerate(rows) for at, kind in enumerate(row)])
    assert value(found, "alpha") == pytest.approx(task.alpha())
    assert value(found, "observed") == pytest.approx(task.avg_Ao())
    number = {kind: code for code, kind in enumerate({kind for row in rows for kind in row})}
    numbers = np.array([[number[kind] for kind in row] for row in rows])
    if len(rows) > 2:
        assert value(found, "kappa") == pytest.approx(fleiss_kappa(aggregate_raters(numbers.T)[0]))
    for pair in combinations(range(len(rows)), 2):
        mine = found.rows(pair)
        mine = mine[mine["type"].isna()].set_index("figure")["value"]
        table = np.zeros((len(number), len(number)))
        np.add.at(table, (numbers[pair[0]], numbers[pair[1]]), 1)
        assert mine["kappa"] == pytest.approx(cohens_kappa(table).kappa)
        assert mine["kappa"] == pytest.approx(task.kappa_pairwise(*pair))
        assert mine["observed"] == pytest.approx(task.Ao(*pair))


@st.composite
def corpora(draw: st.DrawFn, *, flat: bool = False, least: int = 2) -> list[Layer]:
    """Draw what two to four annotators mark in up to three texts; flat: no two spans of a type overlap."""
    texts = draw(st.lists(st.text("ab .", min_size=1, max_size=12), min_size=1, max_size=3))
    annotators = draw(st.integers(least, 4))
    every = []
    for _ in range(annotators):
        mine = []
        for text in texts:
            spans: list[tuple[int, int, str]] = []
            for _ in range(draw(st.integers(0, 4))):
                start = draw(st.integers(0, len(text) - 1))
                span = (start, draw(st.integers(start + 1, len(text))), draw(st.sampled_from("XYZ")))
                if not flat or all(span[2] != kind or span[1] <= low or high <= span[0] for low, high, kind in spans):
                    spans.append(span)
            mine.append(spans)
        every.append(mine)
    return annotated(texts, every)


def observed_by_definition(every: Sequence[Sequence[tuple[int, int, bool]]], length: int) -> float:
    """Return observed disagreement section by section, units and gaps as (start, length, is a unit)."""
    total = 0
    for one, other in permutations(every, 2):
        for (b, n, unit), (c, k, other_unit) in product(one, other):
            if unit and other_unit and -n < b - c < k:
                total += (b - c) ** 2 + (b + n - c - k) ** 2
            elif unit and not other_unit and k - n >= b - c >= 0:
                total += n**2
            elif other_unit and not unit and k - n <= b - c <= 0:
                total += k**2
    return total / (len(every) * (len(every) - 1) * length**2)


def expected_by_definition(every: Sequence[Sequence[tuple[int, int, bool]]], length: int) -> float:
    units = [n for mine in every for _, n, unit in mine if unit]
    gaps = [n for mine in every for _, n, unit in mine if not unit]
    above = sum((len(units) - 1) / 3 * (2 * n**3 - 3 * n**2 + n) for n in units)
    above += sum(n**2 * (gap - n + 1) for n in units for gap in gaps if gap >= n)
    room = len(every) * length
    below = room * (room - 1) - sum(n * (n - 1) for n in units)
    return 2 / length * above / below if below else float("nan")


def sections(layer: Layer, kind: str) -> list[tuple[int, int, bool]]:
    """Return units and gaps of all documents, one after the other."""
    found: list[tuple[int, int, bool]] = []
    base = layer.documents.base.tolist()
    for doc, (low, high) in enumerate(pairwise(base)):
        at = low
        for span in np.flatnonzero(layer.doc == doc).tolist():
            if layer.label(span) == kind:
                start, end = low + int(layer.start[span]), low + int(layer.end[span])
                found += [(at, start - at, False)] * (start > at) + [(start, end - start, True)]
                at = end
        found += [(at, high - at, False)] * (high > at)
    return found


@given(corpora(flat=True))
def test_unitizing_is_what_the_formulas_say(layers: list[Layer]) -> None:
    base = layers[0].documents.base
    for kind in "XYZ":
        units = [annotator_units(layer, kind) for layer in layers]
        found = corpus_disagreement(units, base)
        every = [sections(layer, kind) for layer in layers]
        assert found.observed[0] == pytest.approx(observed_by_definition(every, int(base[-1])))
        assert found.expected[0] == pytest.approx(expected_by_definition(every, int(base[-1])), nan_ok=True)


@given(corpora(flat=True), st.lists(st.integers(0, 2), min_size=1, max_size=5))
def test_a_sample_of_documents_is_a_corpus(layers: list[Layer], drawn: list[int]) -> None:
    """The disagreement of a resample is that of the corpus in which documents stand as often as they were drawn."""
    documents = layers[0].documents
    chosen = [number % len(documents) for number in drawn]
    texts = [documents.texts[number] for number in chosen]

    def spans(layer: Layer, doc: int) -> Spans:
        there = np.flatnonzero(layer.doc == doc).tolist()
        return [(int(layer.start[one]), int(layer.end[one]), layer.label(one)) for one in there]

    again = annotated(texts, [[spans(layer, doc) for doc in chosen] for layer in layers])
    for kind in "XYZ":
        counted = resampling_counts([annotator_units(layer, kind) for layer in layers], documents.base)
        assert counted is not None
        counts, lengths, numbers = counted
        sample = disagreement_of_sums(counts[:, chosen].sum(axis=1, keepdims=True), lengths, numbers)
        real = corpus_disagreement([annotator_units(layer, kind) for layer in again], again[0].documents.base)
        np.testing.assert_allclose(sample.observed, real.observed)
        np.testing.assert_allclose(sample.expected, real.expected)


@given(corpora(least=3), st.randoms(use_true_random=False))
def test_the_order_of_annotators_changes_nothing(layers: list[Layer], drawn: random.Random) -> None:
    found = agreed(layers).rows(None).drop(columns=["low", "high", "why"]).reset_index(drop=True)
    mixed = list(layers)
    drawn.shuffle(mixed)
    again = agreed(mixed).rows(None).drop(columns=["low", "high", "why"]).reset_index(drop=True)
    np.testing.assert_allclose(found.pop("value"), again.pop("value"), atol=1e-12)
    assert found.drop(columns="undefined").equals(again.drop(columns="undefined"))


@given(corpora())
def test_swapping_two_changes_nothing(layers: list[Layer]) -> None:
    one, other = agreed(layers[:2]), agreed(layers[1::-1])
    columns = ["figure", "type", "n"]
    assert one.table[columns].equals(other.table[columns])
    for column in ("value", "low", "high"):
        np.testing.assert_allclose(one.table[column], other.table[column], atol=1e-9)
    assert one.rows((1, 0)).equals(one.rows((0, 1)))


@given(corpora(flat=True))
def test_who_agrees_on_all_agrees_by_every_figure(layers: list[Layer]) -> None:
    same = [layers[0], *(layers[0].renamed(f"twin-{number}") for number in range(2))]
    table = agreed(same).table
    assert table["value"].dropna().map(lambda one: one == pytest.approx(1)).all()
    assert (table["value"].isna() == table["why"].map(reason).ne("")).all()


@given(corpora(flat=True))
def test_documents_add_up(layers: list[Layer]) -> None:
    documents = layers[0].documents
    types = tuple(sorted({kind for layer in layers for kind in layer.types}))
    counts, by_type = count_tokens(layers, types, tokens_of(documents))
    found = agreed(layers)
    for kind, each in ((None, counts), *by_type.items()):
        sums = each.product_sums()
        for block in each.blocks():
            sums.add(block.sum(axis=1, keepdims=True))
        for figure, numbers in token_coefficients(sums.finish()).items():
            np.testing.assert_allclose(numbers[0], value(found, figure, kind))
    table = found.by_document(found.everyone)
    assert list(table.columns) == list(DOCUMENT_COLUMNS) and table["document"].tolist() == list(documents.ids)
    assert table["tokens"].sum() == counts.tokens.sum()
    assert table["spans"].sum() == sum(map(len, layers))
    for number in range(len(documents)):
        alone = [
            annotated(
                [documents.texts[number]],
                [
                    [
                        [
                            (int(s), int(e), layer.label(i))
                            for i, (d, s, e) in enumerate(zip(layer.doc, layer.start, layer.end, strict=True))
                            if d == number
                        ]
                    ]
                ],
            )[0]
            for layer in layers
        ]
        alone = [replace(layer, name=str(place), documents=alone[0].documents) for place, layer in enumerate(alone)]
        one = agreed(alone)
        for figure in ("f1", "observed", "kappa", "alpha", "unitizing"):
            np.testing.assert_allclose(table[figure].iloc[number], value(one, figure), atol=1e-12)


def test_disagreements_add_up() -> None:
    layers = annotated(["x" * 300, "x" * 300], [[spans, spans[:2]] for spans in UNITS])
    units = [annotator_units(layer, "c") for layer in layers]
    base = layers[0].documents.base
    assert disagreement(units, base).apart.sum() == corpus_disagreement(units, base).apart.sum()


def reason(why: str) -> str:
    """Return why a value is undefined, without why it has no interval."""
    return "; ".join(part for part in why.split("; ") if not part.startswith("no interval"))


def spans_of(*kinds: str) -> Spans:
    return [(2 * at, 2 * at + 1, kind) for at, kind in enumerate(kinds) if kind]


@pytest.mark.parametrize(
    ("text", "one", "other", "why"),
    [
        ("a b", [], [], {"f1": NO_SPANS, "kappa": ONE_CATEGORY, "alpha": ONE_CATEGORY, "unitizing": NO_UNITS}),
        ("", [], [], {"f1": NO_SPANS, "observed": NO_TOKENS, "kappa": NO_TOKENS, "unitizing": NO_UNITS}),
        ("   ", [(0, 1, "X")], [], {"f1": "", "observed": NO_TOKENS, "unitizing": ""}),
        ("a", [(0, 1, "X")], [(0, 1, "X")], {"f1": "", "kappa": ONE_CATEGORY, "unitizing": NOTHING_EXPECTED}),
        ("a b", [(0, 1, "X")], [], {"f1": "", "observed": "", "kappa": "", "alpha": "", "unitizing": ""}),
        (
            "ab",
            [(0, 1, "X"), (0, 2, "X")],
            [],
            {"unitizing": "refused, spans of X overlap in annotator-0 (in document d0)"},
        ),
        (
            "ab",
            [(0, 1, "X"), (0, 1, "X")],
            [],
            {"unitizing": "refused, spans of X overlap in annotator-0 (in document d0)"},
        ),
        ("ab", [(0, 1, "X"), (0, 2, "Y")], [], {"unitizing": ""}),
    ],
)
def test_what_is_undefined_says_why(text: str, one: Spans, other: Spans, why: dict[str, str]) -> None:
    found = agreed(annotated([text], [[one], [other]]))
    assert dict(found.table.dtypes) == dict(AGREEMENT_COLUMNS)
    rows = found.rows((0, 1))
    rows = rows[rows["type"].isna()].set_index("figure")
    for figure, said in why.items():
        assert rows.loc[figure, "why"].startswith(said) if said else reason(rows.loc[figure, "why"]) == ""
        assert np.isnan(rows.loc[figure, "value"]) == bool(said)


def test_what_overlaps_in_one_annotator_keeps_the_other_figures_and_pairs() -> None:
    flat, nested = [(0, 1, "X"), (2, 3, "Y")], [(0, 1, "X"), (0, 3, "X"), (2, 3, "Y")]
    found = agreed(annotated(["a b c"], [[nested], [flat], [flat]]))
    assert np.isnan(value(found, "unitizing")) and np.isnan(value(found, "unitizing", "X"))
    assert value(found, "unitizing", "Y") == 1 and value(found, "kappa") < 1
    alone = found.rows((1, 2)).set_index("figure")
    assert (alone.loc["unitizing", "value"] == 1).all()
    assert found.by_document(None)["why"].iloc[0].startswith("refused, spans of X overlap in annotator-0")


def test_units_neither_meet_nor_fill_gaps_across_documents() -> None:
    layers = annotated(["ab", "ab"], [[[(1, 2, "X")], []], [[], [(0, 1, "X")]]])
    one, other = (annotator_units(layer, "X") for layer in layers)
    assert isinstance(one, AnnotatedUnits) and (one.gap.tolist(), other.gap.tolist()) == ([1, 2], [2, 1])
    assert corpus_disagreement([one, other], layers[0].documents.base).apart.tolist() == [[2]]


@pytest.mark.parametrize("name", ["strict", "partial", "type", "lenient", "fragment", "left"])
def test_f1_is_that_of_scoring(name: str) -> None:
    layers = annotated(["a b c d"], [[[(0, 3, "X"), (4, 5, "Y")]], [[(0, 1, "X"), (4, 5, "X")]], [[(0, 3, "X")]]])
    found = agreed(layers, Settings((CRITERIA[name],)))
    values = []
    for pair in combinations(range(3), 2):
        scores = score_layers(layers[pair[0]], layers[pair[1]], found.settings)
        rows = found.rows(pair).query("figure == 'f1'")
        assert rows["value"].iloc[0] == pytest.approx(scores.counts(name).f1)
        values.append(scores.counts(name).f1)
        for kind, counts in scores.by_type(name).items():
            assert rows[rows["type"].eq(kind)]["value"].iloc[0] == pytest.approx(counts.f1)
    assert value(found, "f1") == pytest.approx(np.mean(values))


def test_intervals_are_those_of_compare() -> None:
    corpus = load_corpus(DEMO / "gold.jsonl", {"rules": DEMO / "rules.jsonl"}).corpus
    gold, rules = corpus.gold, corpus.system("rules")
    plan = ResamplingPlan(resamples=500, seed=3)
    found = measure_agreement({"gold": gold, "rules": rules}, STRICT, plan=plan)
    other = compare_scores({"rules": score_layers(gold, rules, STRICT)}, plan=plan, by_type=True).intervals
    rows = found.table[found.table["figure"].eq("f1")]
    rows = rows.set_index(rows["type"].fillna("all"))
    for row in other.to_dict("records"):
        mine = rows.loc["all" if pd.isna(row["type"]) else row["type"]]
        assert mine[["value", "low", "high"]].tolist() == pytest.approx([row["f1"], row["f1_low"], row["f1_high"]])
        assert (mine["undefined"], mine["n"]) == (row["undefined"], row["POS"] + row["ACT"])


def test_under_a_lopsided_criterion_both_are_taken_as_gold() -> None:
    half = criterion_from_parts("half", {"boundaries": "overlap", "minimum": "0.5", "share": "gold"}, "test")
    layers = annotated(["abcdefgh"], [[[(0, 8, "X")]], [[(0, 3, "X")]]])
    found = agreed(layers, Settings((half, CRITERIA["strict"])))
    ways = {pair: found.rows(pair).query("figure == 'f1'")["value"].iloc[0] for pair in ((0, 1), (1, 0))}
    assert ways == {(0, 1): 0, (1, 0): 1}
    assert [found.by_document(pair)["f1"].tolist() for pair in ways] == [[0], [1]]
    assert found.by_document((1, 0))["spans"].tolist() == [2]
    assert found.rows((1, 0), criterion="strict").query("figure == 'f1'")["one"].iloc[0] == "annotator-0"


def test_a_criterion_that_does_not_apply_says_what_it_needs() -> None:
    layers = annotated(["ab"], [[[(0, 1, "X")]], [[(0, 2, "X")]]])
    found = agreed(layers, Settings((CRITERIA["core"],)))
    assert found.by_document((0, 1))["f1"].isna().all()
    assert found.rows((0, 1)).query("figure == 'f1'")["why"].tolist() == [f"it needs {CRITERIA['core'].needs}"]


def test_merged_and_left_out_types_count_everywhere() -> None:
    layers = annotated(["a b c"], [[[(0, 1, "X"), (4, 5, "Z")]], [[(0, 1, "Y")]]])
    found = agreed(layers, Settings(STRICT.criteria, (("X", "XY"), ("Y", "XY")), ("Z",)))
    assert found.types == ("XY",)
    assert (found.table["value"] == 1).all()


def test_the_signature_names_all_that_counts() -> None:
    layers = annotated(["a b c"], [[[(0, 1, "X")]], [[(0, 1, "Y")]]])
    parts = {"boundaries": "overlap", "merge": {"XY": ["X", "Y"]}, "leave_out": ["Z"]}
    own = criterion_from_parts("own", parts, "test")
    found = agreed(layers, Settings((CRITERIA["fragment"], own), leave_out=("W",)))
    line = agreement_signature(found, ["annotator-1: read otherwise"])
    rule = own.rule()
    assert (
        f"| criterion fragment,own ({rule}; types merged: X,Y=XY; left out: Z) | types merged: none | left out: W |"
        in line
    )
    for layer in layers:
        assert f"annotator {layer.name} sha256:{layer.digest[:16]}" in line
    assert line.endswith("| intervals 95%, 100 resamples of documents, seed 0 | annotator-1: read otherwise")
    assert figure_table(found, (0, 1), ["fragment"]).row(0)["over"] == "2 typed tokens"


def test_many_types_have_the_figures_of_few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables that are made for few documents or categories at a time give what whole tables give."""
    rng = random.Random(3)
    texts = ["a b c d e f g h"] * 60
    drawn = [
        [
            [(2 * place, 2 * place + 1, f"T{rng.randrange(40)}") for place in range(8) if rng.random() < 0.8]
            for _ in texts
        ]
        for _ in range(3)
    ]
    table = agreed(annotated(texts, drawn)).table
    monkeypatch.setattr(bootstrap, "WEIGHTS_KEPT", 0)
    monkeypatch.setattr(kappa_and_alpha, "ROWS_AT_ONCE", 1000)
    whole = agreed(annotated(texts, drawn)).table
    numbers = ["value", "low", "high"]
    np.testing.assert_allclose(table[numbers].to_numpy(), whole[numbers].to_numpy(), atol=1e-12)
    assert table.drop(columns=numbers).equals(whole.drop(columns=numbers))


def test_memory_does_not_grow_with_types_times_documents() -> None:
    """Each document has a type of its own, so that a table of all types by document is nearly empty."""
    peaks = []
    for size in (50, 200):
        texts = ["a b c d"] * size
        spans = [[(2 * place, 2 * place + 1, f"T{doc}") for place in range(4)] for doc in range(size)]
        layers = annotated(texts, [spans, [row[:3] for row in spans]])
        plan = ResamplingPlan(resamples=100)
        measure_agreement({layer.name: layer for layer in layers}, plan=plan)
        tracemalloc.start()
        measure_agreement({layer.name: layer for layer in layers}, plan=plan)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 8 * peaks[0], peaks


def test_the_products_of_a_pair_are_its_own() -> None:
    crossed = np.arange(10.0)[:, None]
    products = kappa_and_alpha.TokenProducts(np.ones(1), crossed + 10, np.arange(5.0)[:, None], crossed)
    for number, pair in enumerate(combinations(range(5), 2)):
        of_pair = products.of_pair(pair)
        rows = (of_pair.crossed, of_pair.differing, of_pair.squares)
        assert [row.ravel().tolist() for row in rows] == [[number], [number + 10], list(pair)]


def test_units_are_drawn_once_for_all_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    draw, drawn = bootstrap._draw_with_replacement, []

    def counting(rng: np.random.Generator, weights: bootstrap.Sums) -> None:
        drawn.append(len(weights))
        draw(rng, weights)

    monkeypatch.setattr(bootstrap, "_draw_with_replacement", counting)
    texts = ["a b c d"] * 6
    spans = [[[(0, 1, "A"), (2, 3 + 2 * (number == who), "B")] for number in range(6)] for who in range(3)]
    layers = annotated(texts, spans)
    table = measure_agreement({layer.name: layer for layer in layers}, STRICT, plan=FEW).table
    assert set(table["figure"]) == {"f1", "observed", "kappa", "alpha", "unitizing"}
    assert drawn == [FEW.resamples]
