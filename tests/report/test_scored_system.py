"""Reports by type, as seqeval has them, and the confusion matrix of the scores that the library returns."""

from __future__ import annotations

import random
import sys
import warnings

import pytest
from seqeval.metrics import classification_report

import nereval_core as nereval
from nereval_core.problems import FormatError
from nereval_core.records.tables import confusion
from nereval_core.report.scored_system import ScoredSystem
from tests.support import ROOT

DEMO = ROOT / "demo_data" / "biology"
GOLD, RULES = (str(DEMO / f"{name}.jsonl") for name in ("gold", "rules"))


@pytest.fixture(scope="module")
def scores() -> ScoredSystem:
    return nereval.score(GOLD, RULES)


def drawn_tags(seed: int, types: tuple[str, ...], documents: int) -> list[list[str]]:
    """Return well-formed IOB2 tags of spans that follow one another at random."""
    chance = random.Random(seed)
    sentences = []
    for _ in range(documents):
        tags: list[str] = []
        while len(tags) < 12:
            kind = chance.choice(types)
            tags += [f"B-{kind}", *[f"I-{kind}"] * chance.randint(0, 2)] if chance.random() < 0.5 else ["O"]
        sentences.append(tags[:12])
    return sentences


@pytest.mark.parametrize("zero_division", [0, 1])
@pytest.mark.parametrize(
    ("gold_types", "pred_types"),
    [
        (("PER", "LOC", "ORG"), ("PER", "LOC", "ORG")),
        (("PER", "LOC", "ORG"), ("PER", "MISC")),
        (("PER",), ("LOC",)),
    ],
    ids=["the same types", "some on one side alone", "none in common"],
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_numbers_are_those_of_seqeval(
    gold_types: tuple[str, ...], pred_types: tuple[str, ...], zero_division: int
) -> None:
    """Of seqeval 1.2.2, with all of its averages."""
    gold, pred = drawn_tags(1, gold_types, 40), drawn_tags(2, pred_types, 40)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = classification_report(gold, pred, output_dict=True, zero_division=zero_division)
    report = nereval.score(gold, pred, criteria=["strict"]).report(zero_division=zero_division).to_dict()
    assert report.keys() == expected.keys()
    for name, numbers in expected.items():
        assert report[name] == pytest.approx({key: float(number) for key, number in numbers.items()}), name


def test_undefined_ratios_are_named() -> None:
    gold = [[(0, 2, "A"), (3, 5, "B")]]
    with pytest.warns(UserWarning):
        scores = nereval.score(gold, [[(0, 2, "A"), (6, 7, "C")]], criteria=["strict"])
    as_zero, left_out = scores.report(), scores.report(zero_division=None)
    assert as_zero.table.notes[:2] == (
        "precision undefined and counted as 0: 'B'",
        "recall undefined and counted as 0: 'C'",
    )
    assert left_out.table.notes[0] == "precision undefined and left out of averages: 'B'"
    assert left_out.to_dict()["B"]["precision"] is None and left_out.to_dict()["macro avg"]["precision"] == 0.5
    assert as_zero.to_dict()["macro avg"]["precision"] == pytest.approx(1 / 3)
    assert left_out.to_dict()["macro avg"]["f1-score"] == scores.macro_types("strict")["f1"].value


def test_a_report_shows_all_of_its_rows(scores: ScoredSystem) -> None:
    title, headings, *lines = repr(scores.report("partial")).splitlines()
    assert title == "rules under partial, by type"
    assert headings.split() == ["type", "precision", "recall", "f1-score", "support"]
    assert [line.split("  ")[0].strip() for line in lines[:8]] == [
        *("DNA", "RNA", "cell_line", "cell_type", "protein"),
        *("micro avg", "macro avg", "weighted avg"),
    ]
    assert "criterion partial" in lines[8]
    assert scores.report().to_frame().set_index("type").at["micro avg", "f1"] == scores.f1


def test_a_report_of_nothing() -> None:
    report = nereval.score([[]], [[]]).report()
    assert report.to_dict()["macro avg"] == {"precision": None, "recall": None, "f1-score": None, "support": 0}
    assert "weighted avg" in repr(report)


def test_a_matrix_has_the_counts_of_the_records(scores: ScoredSystem) -> None:
    matrix = scores.confusion("type")
    frame = matrix.to_frame()
    assert frame.columns.tolist() == [*scores.types, "missed"] and frame.index.tolist() == [*scores.types, "spurious"]
    cells = confusion(scores, "type")
    assert int(frame.to_numpy().sum()) == cells["count"].sum()
    assert all(frame.at[gold, pred] == n for gold, pred, n in cells.itertuples(index=False, name=None))
    assert repr(matrix).splitlines()[0].split() == ["gold", "type", *scores.types, "missed"]
    assert matrix._repr_html_().count("rgba(0,114,178,") == int((frame > 0).to_numpy().sum())


def test_types_named_as_the_margins_stay_apart() -> None:
    with pytest.warns(UserWarning):
        scores = nereval.score([[(0, 2, "missed"), (3, 4, "a")]], [[(0, 2, "spurious")]])
    frame = scores.confusion().to_frame()
    assert frame.columns.tolist() == ["a", "missed", "spurious", "(missed)"]
    assert frame.at["missed", "spurious"] == 1 and frame.at["a", "(missed)"] == 1


def test_the_plot_is_that_of_the_pages(scores: ScoredSystem) -> None:
    figure = scores.confusion().plot()
    heat, squares = figure.data
    assert heat.type == "heatmap" and heat.z.shape == (6, 6)
    assert "24" in squares.text and figure.layout.paper_bgcolor == "#ffffff"


def test_the_plot_asks_for_plotly(scores: ScoredSystem, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith(("plotly", "nereval_core.report.figures"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "plotly", None)
    with pytest.raises(FormatError, match="Plotly is not installed; pip install plotly"):
        scores.confusion().plot()


@pytest.mark.parametrize("verb", [ScoredSystem.report, ScoredSystem.confusion])
def test_an_unknown_criterion_is_refused(scores: ScoredSystem, verb: object) -> None:
    assert callable(verb)
    with pytest.raises(FormatError, match="not scored under 'left'"):
        verb(scores, "left")


def test_scores_show_their_declared_table_with_signatures(scores: ScoredSystem) -> None:
    html = scores._repr_html_()
    assert "rules against gold: 20 documents, 184 gold spans, 171 predictions" in html
    assert html.count("<tr>") == 5 and html.count("gold sha256:") == 4 and "<script" not in html
