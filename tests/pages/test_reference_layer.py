"""A layer taken as gold: a corpus of its own with the address of the one it is made of, on every page."""

from __future__ import annotations

from dataclasses import replace

import pytest

from nereval_core.problems import FormatError
from nereval_core.report.signature import signature
from nereval_core.scoring import score_layers
from pages.shared.data import caches
from pages.shared.data.loading import Loaded
from pages.shared.data.reference_layer import former_gold, gold_name, layers, swap_gold, take_as_gold, with_reference
from pages.shared.view import View
from tests.support.pages import DEMO, VIEW, address, bar_list, choose, opened

FORMER = "original gold"
SYSTEMS = ["annotator-1", "annotator-2", "perceptron", "rules"]


def test_the_former_gold_is_a_system() -> None:
    held = swap_gold(DEMO, "annotator-1")
    assert held.corpus.gold is DEMO.corpus.system("annotator-1")
    assert sorted(layer.name for layer in held.corpus.systems) == sorted([FORMER, *SYSTEMS[1:]])
    assert (held.digest, held.start, held.types) == (DEMO.corpus.digest, DEMO.start, DEMO.types)
    assert held.corpus.digest != DEMO.corpus.digest and held.id != DEMO.id
    assert held.sources["gold"] is DEMO.sources["annotator-1"] and held.sources[FORMER] is DEMO.sources["gold"]
    assert [row.name for row in held.layers] == ["gold", *(layer.name for layer in held.corpus.systems)]
    assert held.layers[0].source == "annotator-1.jsonl" and held.layers[-1].source == "gold.jsonl"


def test_the_other_way_round_precision_and_recall_are_swapped() -> None:
    held = swap_gold(DEMO, "rules")
    one = score_layers(held.corpus.gold, held.corpus.system(FORMER), marks=held.marks[FORMER])
    other = score_layers(DEMO.corpus.gold, DEMO.corpus.system("rules"))
    assert one.counts("strict").precision == other.counts("strict").recall
    assert one.counts("strict").f1 == other.counts("strict").f1
    assert "| taken as gold: rules" in signature(one, "strict")


def test_a_second_choice_starts_from_what_was_read() -> None:
    held = with_reference(with_reference(DEMO, "annotator-1"), "rules")
    assert held.origin is DEMO and held.reference == "rules" and held.start == FORMER
    assert with_reference(held, "") is DEMO
    assert list(layers(held)) == list(layers(DEMO)) == ["gold", *(layer.name for layer in DEMO.corpus.systems)]
    assert held is with_reference(DEMO, "rules")


def test_marks_of_both_files_stay() -> None:
    marks = dict.fromkeys(SYSTEMS, ()) | {"rules": ("pred repaired: 2 tags",), "perceptron": ("lacks 1",)}
    held = swap_gold(replace(DEMO, marks=marks, reading="marked"), "rules")
    assert held.marks["perceptron"] == (
        "taken as gold: rules",
        "rules as read: pred repaired: 2 tags",
        "perceptron as read: lacks 1",
    )
    assert held.marks[FORMER] == ("taken as gold: rules", "rules as read: pred repaired: 2 tags")


def test_a_system_may_have_the_name_already() -> None:
    corpus = DEMO.corpus
    systems = (*corpus.systems, corpus.system("rules").renamed(FORMER))
    named = replace(DEMO, corpus=replace(corpus, systems=(*systems, corpus.system("rules").renamed("gold"))))
    assert (former_gold(named), gold_name(named)) == ("original gold *", "gold *")


def test_a_scorer_that_reads_files_is_given_the_swapped_ones() -> None:
    held = swap_gold(DEMO, "rules")
    assert caches.outcome(held, FORMER, "nervaluate-1.2.1").evaluations
    columns = replace(DEMO, options=replace(DEMO.options, gold_column=1, pred_column=2), reading="columns")
    lacking: Loaded = swap_gold(columns, "rules")
    assert FORMER not in lacking.sources and lacking.options.gold_column == 2
    formats = tuple(replace(row, format="conll") for row in lacking.layers)
    with pytest.raises(FormatError, match="original gold"):
        caches.outcome(replace(lacking, layers=formats), FORMER, "conlleval")


@pytest.mark.parametrize(
    ("reference", "system", "name", "moved_to"),
    [
        ("", "rules", "annotator-1", "rules"),
        ("", "annotator-1", "annotator-1", FORMER),
        ("annotator-1", FORMER, "gold", "annotator-1"),
        ("annotator-1", FORMER, "annotator-2", FORMER),
        ("annotator-1", "annotator-2", "annotator-2", "annotator-1"),
        ("annotator-1", "rules", "gold", "rules"),
    ],
)
def test_the_two_change_places(reference: str, system: str, name: str, moved_to: str) -> None:
    view = View(reference=reference, system=system, beside="perceptron", record="g:0-1:X", doc="d")
    found = take_as_gold(view, DEMO, name)
    assert found == View(reference="" if name == "gold" else name, system=moved_to, beside="perceptron")


@pytest.mark.parametrize("page", ["Start", "Overview", "Confusion", "Inspect", "Slices", "Systems", "Consistency"])
def test_every_page_shows_it(page: str) -> None:
    view = replace(VIEW, reference="annotator-1", system="annotator-2")
    app = opened(page, view)
    assert not app.warning and not app.error
    assert address(app)["corpus"] == DEMO.corpus.digest[:16] and address(app)["reference"] == "annotator-1"
    assert bar_list(app, "reference")[1] == "annotator-1"
    app = choose(app, "reference", "gold")
    assert "reference" not in address(app) and not app.warning


def test_it_is_chosen_in_the_context_bar() -> None:
    app = opened("Overview", replace(VIEW, system="annotator-1"))
    assert bar_list(app, "reference") == (["gold", *(layer.name for layer in DEMO.corpus.systems)], "gold")
    app = choose(app, "reference", "annotator-1")
    assert address(app)["reference"] == "annotator-1" and address(app)["system"] == FORMER


def test_a_link_to_a_layer_that_is_not_there_says_so() -> None:
    app = opened("Overview", replace(VIEW, reference="nobody"))
    assert "nobody" in app.warning[0].value and "reference" not in address(app)
