"""The Agreement page: its figures are those of the library, and a cell opens what the two disagree on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from urllib.parse import parse_qsl

import pytest
from streamlit.testing.v1 import AppTest

from nereval_core.analysis.agreement import Agreement, measure_agreement
from nereval_core.analysis.agreement.human_ceiling import ceiling_sentences
from nereval_core.analysis.agreement.summary import (
    agreement_sentences,
    agreement_signature,
    kappa_in_words,
)
from nereval_core.analysis.agreement.tables import (
    agreement_document_table,
    agreement_type_table,
    ceiling_table,
    figure_table,
    matrix_table,
)
from nereval_core.analysis.resampling_units import ResamplingPlan
from nereval_core.ledger import ledger
from nereval_core.pairing import IDENTICAL
from nereval_core.problems import capitalised
from nereval_core.readers import Source
from nereval_core.scoring import Settings, score_layers
from nereval_core.scoring.criteria import CRITERIA
from pages.shared.data import caches
from pages.shared.data.loading import DEMOS, demo_names, load, load_demo
from pages.shared.data.reference_layer import layers, with_reference
from pages.shared.view import FIGURES, View
from pages.shared.view.link import read_link
from pages.shared.view.queries import query_of
from pages.shared.view.text import plain
from tests.support.pages import (
    DEMO,
    GOLD,
    PREDICTION,
    VIEW,
    address,
    assert_shows,
    cell,
    heat_map,
    opened,
    sound,
    upload,
)
from tests.support.workbench import listed

ANNOTATORS = ("annotator-1", "annotator-2")
LAYERS = tuple(layers(DEMO))
ALL = replace(VIEW, annotators=LAYERS)
FULL = replace(ALL, corpus=DEMO.corpus.digest)


def agreed(names: Sequence[str], criterion: str = "strict") -> Agreement:
    return measure_agreement({name: layers(DEMO)[name] for name in names}, Settings((CRITERIA[criterion],)))


def figures(view: View, **state: object) -> AppTest:
    """Open the figures of annotators."""
    return opened("Annotators", replace(view, annotators_tab="figures"), **state)


def texts(app: AppTest) -> str:
    return "\n".join(element.value for kind in ("markdown", "caption") for element in getattr(app, kind))


def every_link(app: AppTest) -> list[tuple[str, View]]:
    """Return label and view of each link of the page."""
    found = []
    for link in app.get("page_link"):
        view, wrong = read_link(dict(parse_qsl(link.proto.query_string)))
        assert not wrong
        found.append((link.label, view))
    return found


def links(app: AppTest) -> dict[str, View]:
    """Return where the links of the page lead, by label."""
    return dict(every_link(app))


def matrix_cell(figure: str, row: int, column: str) -> dict[str, object]:
    key = "table_agreement_matrix"
    return {key: cell(row, column)}


def test_disagreements_come_first_and_each_count_opens_its_records() -> None:
    app = opened("Annotators", VIEW)
    assert app.segmented_control(key="widget_annotators_tab").value == ""
    shown = {metric.label: metric.value for metric in app.metric}
    assert [label.replace("\\", "") for label in shown] == [
        "all disagreements",
        "only annotator-1",
        "only annotator-2",
        "types differ",
        "boundaries differ",
        "agree",
    ]
    values = [int(value.partition(" ")[0]) for value in shown.values()]
    assert values[0] == sum(values[1:5]) and shown["all disagreements"] == f"{values[0]} of {values[0] + values[5]}"
    ways = [view for label, view in every_link(app) if "read them" in label or "decide who" in label]
    assert [listed(opened("Inspect", view)) for view in ways] == values
    table = app.dataframe[0].value
    for column in table.columns.drop("type"):
        for row, kind in enumerate(table["type"]):
            if table[column].iat[row]:
                there = opened("Annotators", VIEW, table_disagreement_types=cell(row, column))
                assert address(there)["type"] == kind and listed(there) == table[column].iat[row]


def test_the_map_of_types_has_the_counts_of_the_table() -> None:
    app = opened("Annotators", VIEW)
    data, table = heat_map(app), app.dataframe[0].value
    assert data["rows"] == [*table["type"], "all types"] and data["columns"][-1] == "agree"
    for row, texts in enumerate(data["texts"][:-1]):
        assert [int(text or 0) for text in texts] == [table[name].iat[row] for name in data["columns"]]
    shares = [shade for line in data["shades"] for shade in line[:-1]]
    assert max(shares) == 1 and not any(line[-1] for line in data["shades"])


def test_the_headline_says_how_good_the_agreement_is() -> None:
    app = opened("Annotators", VIEW)
    texts = [element.value.replace("\\", "") for element in (*app.markdown, *app.caption)]
    line = next(text for text in texts if text.startswith("annotator-1 and annotator-2 agree with F1"))
    kappa = line.partition("kappa on tokens is ")[2].split()[0]
    assert "95% interval" in line
    word = kappa_in_words(float(kappa))
    assert any(f"A kappa of {kappa} is called *{word}* after Landis and Koch (1977)" in text for text in texts)


@pytest.mark.parametrize(
    ("kappa", "word"),
    [
        *((-0.3, "poor"), (-0.001, "slight"), (0.2, "slight"), (0.204, "slight"), (0.21, "fair"), (0.4, "fair")),
        *((0.41, "moderate"), (0.6, "moderate"), (0.61, "substantial"), (0.8, "substantial"), (1.0, "almost perfect")),
    ],
)
def test_words_for_kappa_are_those_of_landis_and_koch(kappa: float, word: str) -> None:
    assert kappa_in_words(kappa) == word


def test_of_more_than_two_each_pair_is_counted() -> None:
    view = replace(VIEW, annotators=("gold", *ANNOTATORS), criterion="type")
    app = opened("Annotators", view)
    table = app.dataframe[0].value
    assert table["pair"].tolist() == ["gold / annotator-1", "gold / annotator-2", "annotator-1 / annotator-2"]
    assert app.header[0].value.replace("\\", "") == "gold and annotator-1"
    there = opened("Annotators", view, table_disagreement_pairs=cell(2, "only the second"))
    assert listed(there) == table["only the second"].iat[2] and address(there)["reference"] == "annotator-1"
    held = opened("Annotators", replace(view, reference="annotator-1", system="annotator-2"))
    assert held.header[0].value.replace("\\", "") == "annotator-1 and annotator-2"
    assert int(held.metric[1].value) == table["only the first"].iat[2]


def test_a_criterion_that_counts_tokens_has_the_disagreements_of_strict() -> None:
    app = opened("Annotators", replace(VIEW, criterion="fragment"))
    usual = opened("Annotators", VIEW)
    assert [one.value for one in app.metric] == [one.value for one in usual.metric]
    assert "Counted under strict" in texts(app)
    assert all(view.criterion == "strict" for label, view in every_link(app) if "read them" in label)


def test_another_part_is_chosen_and_left_again() -> None:
    app = figures(replace(VIEW, figure="kappa"))
    assert app.segmented_control(key="widget_annotators_tab").value == "figures"
    app = sound(app.segmented_control(key="widget_annotators_tab").set_value("").run())
    assert "annotators_tab" not in address(app) and app.metric


def test_the_demo_opens_with_its_annotators_and_what_they_disagree_on() -> None:
    app = figures(VIEW)
    found = agreed(ANNOTATORS)
    shown = [frame.value for frame in app.dataframe]
    assert app.multiselect(key="widget_annotators").value == list(ANNOTATORS)
    assert_shows(shown[0], figure_table(found, (0, 1), ["strict"]).selected("figure", "value", "low", "high", "over"))
    assert_shows(shown[2], matrix_table(found, "f1", "strict"))
    assert_shows(shown[4], agreement_type_table(found, (0, 1), "strict"))
    assert_shows(shown[5], agreement_document_table(found, (0, 1), "strict"))
    for line in agreement_sentences(found, "strict"):
        assert plain(f"{capitalised(line, ANNOTATORS)}.", 1_000) in texts(app)
    assert "refused, spans of NORMALIZABLES overlap" in texts(app).replace("\\", "")
    assert "annotators" not in address(app)


def test_every_count_of_a_pair_is_the_number_of_its_records() -> None:
    app = figures(VIEW)
    gold, pred = (layers(DEMO)[name] for name in ANNOTATORS)
    scores = score_layers(gold, pred)
    records = ledger(scores, "strict", (gold, pred))
    counts = scores.counts("strict")
    first, second = (f"all of {name}".replace("-", "\\-") for name in ANNOTATORS)
    for words, number in {"agree": counts.cor, first: counts.pos, second: counts.act}.items():
        view = links(app)[f":primary[{words}: {number:,} records →]"]
        assert (view.reference, view.system) == ANNOTATORS and view.corpus == VIEW.corpus[:16]
        assert records.total(query_of(view)).records == number
    (errors,) = (view for label, view in links(app).items() if label == ":primary[Open in Inspect →]")
    number = records.total(query_of(errors)).records
    assert f"disagree on: {number} records" in texts(app) and len(app.dataframe[3].value) == number
    again = opened("Inspect", errors)
    assert not again.warning and listed(again) == number


def test_layers_that_are_no_annotators_are_held_against_these() -> None:
    app = figures(VIEW)
    every = layers(DEMO)
    systems = {name: layer for name, layer in every.items() if name not in (*ANNOTATORS, LAYERS[0])}
    strict, plan = Settings((CRITERIA["strict"],)), ResamplingPlan()
    found = measure_agreement({name: every[name] for name in ANNOTATORS}, strict, plan=plan, systems=systems).ceiling
    assert found is not None and "Systems against the human ceiling" in [title.value for title in app.header]
    assert_shows(app.dataframe[1].value, ceiling_table(found, plan))
    for line in ceiling_sentences(found, "strict", plan):
        assert plain(f"{capitalised(line, list(systems))}.", 1_000) in texts(app)
    everybody = figures(ALL)
    assert "Systems against the human ceiling" not in [title.value for title in everybody.header]
    assert "Take a system out of the annotators above" in texts(everybody)


@pytest.mark.parametrize("figure", ["f1", *FIGURES])
def test_a_cell_of_any_matrix_opens_the_two(figure: str) -> None:
    app = figures(
        replace(ALL, figure="" if figure == "f1" else figure), **matrix_cell(figure, LAYERS.index("rules"), "gold")
    )
    assert_shows(app.dataframe[1].value, matrix_table(agreed(LAYERS), figure, "strict"))
    (there,) = (view for label, view in links(app).items() if label == ":primary[Overview →]")
    assert (there.reference, there.system) == ("rules", "original gold")
    held = with_reference(DEMO, "rules").corpus
    counts = score_layers(held.gold, held.system("original gold")).counts("strict")
    assert f":primary[agree: {counts.cor:,} records →]" in links(app)
    assert any(title.value.startswith("By type: rules and gold") for title in app.header)


def test_of_many_nobody_is_chosen_until_a_cell_is() -> None:
    app = figures(ALL)
    assert "Choose a cell to open" in texts(app) and ":primary[Overview →]" not in links(app)
    assert app.dataframe[0].value["figure"].tolist()[:3] == [
        "mean F1, strict",
        "mean observed agreement",
        "Fleiss' kappa",
    ]
    assert address(app)["annotators"] == ",".join(LAYERS)
    held = figures(replace(ALL, reference="annotator-1", system="annotator-2"))
    (there,) = (view for label, view in links(held).items() if label == ":primary[Inspect →]")
    assert (there.reference, there.system) == ANNOTATORS
    oneself = figures(ALL, **matrix_cell("f1", 0, LAYERS[0]))
    assert "Choose a cell to open" in texts(oneself)


def test_a_type_opens_its_records() -> None:
    found = agreement_type_table(agreed(ANNOTATORS), (0, 1), "strict").to_frame()
    app = figures(VIEW, table_agreement_types=cell(2, "F1"))
    kind = found["type"].iat[2]
    scores = score_layers(*(layers(DEMO)[name] for name in ANNOTATORS))
    counts = scores.by_type("strict")[kind]
    reference = ANNOTATORS[0].replace("-", "\\-")
    assert any(f"all of {reference}: {counts.pos:,} record" in label for label in links(app))
    assert f"Disagreements with {kind}" in texts(app).replace("\\", "")
    assert "Choose two annotators above" in texts(figures(ALL, table_agreement_types=cell(0, "spans")))


def test_a_document_is_read_with_one_taken_as_gold() -> None:
    app = figures(VIEW, table_agreement_documents=cell(1, "document"))
    (view,) = (view for label, view in links(app).items() if label.startswith(":primary[Read"))
    assert (view.doc, view.reference, view.system) == (DEMO.corpus.documents.ids[1], *ANNOTATORS)
    assert not opened("Inspect", view).warning


def test_annotators_are_chosen_and_linked() -> None:
    app = figures(VIEW)
    app = sound(app.multiselect(key="widget_annotators").set_value(["gold", "rules"]).run())
    assert address(app)["annotators"] == "gold,rules"
    app = sound(app.multiselect(key="widget_annotators").set_value(["rules"]).run())
    assert "two annotators or more" in app.info[0].value and not app.dataframe
    app = sound(app.multiselect(key="widget_annotators").set_value(list(ANNOTATORS)).run())
    assert "annotators" not in address(app)
    app = figures(replace(VIEW, annotators=("nobody", *ANNOTATORS)))
    assert "nobody" in app.warning[0].value


def test_another_figure_is_chosen_and_linked() -> None:
    app = figures(VIEW)
    control = app.segmented_control(key="widget_figure")
    app = sound(control.set_value("Krippendorff's alpha").run())
    assert address(app)["annotators_tab"] == "figures" and address(app)["figure"] == "alpha"


def test_the_criterion_counts_for_f1() -> None:
    app = figures(replace(VIEW, criterion="partial"))
    found = agreed(ANNOTATORS, "partial")
    table = figure_table(found, (0, 1), ["partial"]).selected("figure", "value", "low", "high", "over")
    assert_shows(app.dataframe[0].value, table)
    assert "criterion partial" in agreement_signature(found)


@pytest.mark.parametrize("criterion", ["fragment", "lenient", "conlleval", "nervaluate-1.2.1"])
def test_every_kind_of_criterion_has_its_records(criterion: str) -> None:
    app = figures(replace(VIEW, criterion=criterion, annotators=("gold", *ANNOTATORS), reference="gold"))
    assert len(app.dataframe) >= 3
    app = figures(replace(VIEW, criterion=criterion))
    assert any(label.startswith(":primary[agree") for label in links(app))


def test_what_was_uploaded_has_all_layers_as_annotators() -> None:
    app = upload(opened("Start"), GOLD, PREDICTION, GOLD)
    app.switch_page("pages/60_Annotators.py")
    app = sound(app.run())
    app = sound(app.segmented_control(key="widget_annotators_tab").set_value("figures").run())
    assert app.multiselect(key="widget_annotators").value[0] == "gold"
    assert len(app.dataframe) >= 4


def test_demos_say_who_is_an_annotator() -> None:
    for name in demo_names():
        kinds = {row.name: row.kind for row in load_demo(name).layers}
        assert [layer for layer, kind in kinds.items() if kind == "annotator"] == list(ANNOTATORS)


def test_gamma_is_measured_when_it_is_asked_for() -> None:
    app = opened("Annotators", replace(VIEW, annotators_tab="figures"))

    def figures() -> list[str]:
        return list(next(one.value for one in app.dataframe if "over" in one.value)["figure"])

    assert "gamma" not in figures()
    app = sound(app.toggle(key="widget_gamma").set_value(True).run())
    assert address(app)["layout"] == "gamma" and figures()[-1] == "gamma"


@pytest.mark.parametrize("tab", ["", "figures"])
def test_layers_of_identical_content_are_told_as_on_the_command_line(tab: str) -> None:
    read_one = Source.of_path(DEMOS / "biology/annotator-1.jsonl")
    loaded = replace(load("two", read_one, {"copy": read_one}), first_annotator="annotator-1")
    caches.shelf().put(loaded)
    app = opened("Annotators", View(corpus=loaded.digest, system="copy", annotators_tab=tab))
    (warning,) = app.warning
    assert warning.value == plain(f"annotator-1 and copy: identical {IDENTICAL}.", 400)
