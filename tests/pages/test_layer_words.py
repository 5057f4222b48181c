"""Corpora whose layers are all annotators': each keeps its name, and nothing is gold, a prediction or a system."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from nereval_core.analysis.methods import methods
from nereval_core.problems import capitalised
from nereval_core.readers import Source
from nereval_core.review.layer_words import GOLD_AND_PREDICTION, LayerWords
from nereval_core.scoring import score_layers
from nereval_core.tables import Column
from pages.shared.data import caches, reference_layer
from pages.shared.data.loading import DEMOS, Loaded, load
from pages.shared.data.page_context import PageContext
from pages.shared.frame.context_bar import labels_of, list_width
from pages.shared.present.deck import deck_of, figures_of
from pages.shared.view import FIGURES_OF_SYSTEM, View
from tests.support.pages import VIEW, address, bar_list, choose, component_data, heat_map, opened
from tests.support.workbench import workbench

FILES = {"ben": "annotator-2", "cleo": "perceptron"}
ELSEWHERE = "each span of anna here is aligned elsewhere"
FOREIGN = re.compile(r"\b(gold|predict\w*|systems?|missed|spurious)\b", re.IGNORECASE)


def annotators(*names: str) -> Loaded:
    """Return a corpus of anna and others, all of them annotators."""
    folder = DEMOS / "pharmacology"
    others = {name: Source.of_path(folder / f"{FILES[name]}.jsonl") for name in names}
    read = load("case notes", Source.of_path(folder / "annotator-1.jsonl"), others)
    return replace(read, first_annotator="anna", start=names[0])


TWO = annotators("ben")
WORDS = LayerWords("anna", "ben", annotators=True)


@pytest.fixture(autouse=True)
def view() -> View:
    return View(corpus=caches.shelf().put(TWO))


def words_on(app: AppTest) -> list[str]:
    """Return what a page shows and says: texts, labels and tooltips, slides, figures, but not the signature."""
    found = []
    for kind in ("markdown", "caption", "info", "metric", "button", "selectbox", "pills", "link_button", "popover"):
        for element in app.get(kind):
            proto = getattr(element.proto, "popover", element.proto)
            found += [str(getattr(proto, name, "")) for name in ("body", "label", "help")]
    for data in component_data(app):
        found += [text for name, text in strings_in(data) if name not in OF_PROGRAMS]
    for figure in app.get("plotly_chart"):
        found += [text for name, text in strings_in(json.loads(figure.proto.spec)) if name in ("text", "hovertext")]
    for table in app.dataframe:
        columns = json.loads(table.proto.columns or "{}")
        found += [str(column) for column in table.value.columns] + [str(one.get("help")) for one in columns.values()]
        found += [cell for row in table.value.to_numpy().tolist() for cell in row if isinstance(cell, str)]
    for html in app.get("html"):
        body = re.sub(r"<style>.*?</style>", "", html.proto.body, flags=re.DOTALL)
        found += [*re.findall(r'title="([^"]*)"', body), re.sub(r"<[^>]*>", " ", body)]
    return [line for line in found if line and "sha256" not in line]


OF_PROGRAMS = (
    "name",
    "key",
    "kind",
    "kinds",
    "side",
    "href",
    "options",
    "facts",
    "ids",
    "text_after",
    "after",
    "before",
)
"""Keys of components whose texts nobody reads, or are the corpus'."""


def strings_in(data: object, name: str = "") -> Iterator[tuple[str, str]]:
    """Yield the strings of JSON data, each with the key that it stands under."""
    if isinstance(data, str):
        yield name, data
    for key, value in data.items() if isinstance(data, dict) else ():
        yield from strings_in(value, key)
    for value in data if isinstance(data, list) else ():
        yield from strings_in(value, name)


VIEWS: dict[str, tuple[str, dict[str, str]]] = {
    "Overview": ("Overview", {}),
    "Slices": ("Slices", {}),
    "Confusion": ("Confusion", {}),
    "Inspect": ("Inspect", {}),
    "Patterns": ("Inspect", {"inspect_tab": "patterns"}),
    "Classes": ("Inspect", {"inspect_tab": "by-class"}),
    "Combinations": ("Overview", {"overview_tab": "by-slice", "slices_tab": "worst-slices"}),
    "Scores of predictions": ("Overview", {"overview_tab": "by-slice", "slices_tab": "scores"}),
    "Annotators": ("Annotators", {}),
    "Review": ("Review", {}),
    "Present": ("Present", {}),
    "Criteria": ("Criteria", {}),
    "Curve": ("Criteria", {"criteria_tab": "curve"}),
}


@pytest.mark.parametrize("name", VIEWS)
def test_nothing_is_gold_or_a_system_among_annotators(name: str, view: View) -> None:
    page, tab = VIEWS[name]
    app = opened(page, replace(view, **tab))
    lines = words_on(app)
    assert len(lines) > 10 and [line for line in lines if FOREIGN.search(line)] == []


def test_no_slide_compares_systems_where_all_are_annotators() -> None:
    loaded = annotators("ben", "cleo")
    view = View(corpus=caches.shelf().put(loaded))
    page = PageContext(loaded, view, caches.settings_in(loaded, view))
    assert deck_of(page, None, with_patterns=False).slides == FIGURES_OF_SYSTEM == figures_of(page)


def test_scores_of_the_spans_of_an_annotator_are_told_by_name() -> None:
    """A layer may say how sure it is of its spans, whoever made it."""
    (ben,) = TWO.corpus.systems
    scored = replace(ben, scores={span: span % 11 / 10 for span in range(len(ben))})
    key = caches.shelf().put(replace(TWO, corpus=replace(TWO.corpus, systems=(scored,))))
    app = opened("Overview", View(corpus=key, overview_tab="by-slice", slices_tab="scores"))
    assert any("spans of ben" in line for line in words_on(app))
    assert [line for line in words_on(app) if FOREIGN.search(line)] == []


def test_the_methods_paragraph_names_the_two_layers() -> None:
    (ben,) = TWO.corpus.systems
    paragraph = methods(score_layers(TWO.corpus.gold, ben)).in_words(WORDS.by_names).paragraph
    assert "spans of anna and spans of ben are aligned one to one" in paragraph
    assert not FOREIGN.search(paragraph.partition("Signature")[0].replace("The system ", ""))


@pytest.mark.parametrize("name", [*VIEWS, "Systems"])
def test_the_layer_in_golds_place_is_called_by_its_name(name: str) -> None:
    """The word gold would mean two layers: the reference, and the one that was read as gold."""
    page, tab = VIEWS.get(name, (name, {}))
    app = opened(page, replace(VIEW, reference="annotator-1", system="rules", **tab))
    lines = words_on(app)
    assert any("annotator" in line for line in lines)
    assert [line for line in lines if re.search(r"(?<!original )\bgold\b(?!-)|\bpredict", line, re.IGNORECASE)] == []


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("Of 9 gold spans, 3; of 8 predictions, 1", "Of 9 spans of anna, 3; of 8 spans of ben, 1"),
        ("Gold spans that no prediction overlaps", "Spans of anna that no span of ben overlaps"),
        ("a number of gold spans in gold", "a number of spans of anna in anna"),
        ("predicted type, gold type, gold's text", "type of ben, type of anna, anna's text"),
        ("original gold, gold-2, unpredicted, marigold", "original gold, gold-2, unpredicted, marigold"),
    ],
)
def test_sentences_of_gold_and_predictions_name_the_layers(text: str, named: str) -> None:
    assert WORDS.by_names(text) == named and GOLD_AND_PREDICTION.by_names(text) == text


def test_records_are_told_by_name(view: View) -> None:
    sent = workbench(opened("Inspect", view))
    assert sent["verdicts"]["labels"] == ["anna", "ben", "both", "neither", "unclear"]
    assert [look["text"] for look in sent["looks"].values()] == [
        "✓ agree",
        "≠ differ",
        "◐ partly agree",
        "− only anna",
        "+ only ben",
    ]
    assert "anna above the text, ben below it" in sent["texts"][sent["text"]]["notes"]
    reasons = {entry[4] for entry in sent["entries"]}
    assert {"ben ends 7 characters later", "ben has no span here"} <= reasons
    # Beside them a row shows the types.
    of_types = next(entry for entry in sent["entries"] if entry[5] == ["PROTEINAS", "NORMALIZABLES"])
    assert "types differ" not in of_types[4]
    assert not [line for line in reasons if FOREIGN.search(line)]
    card = next(iter(sent["cards"].values()))
    assert [fact[0] for fact in card["facts"]] == ["anna", "ben"]
    assert not [line for line in card["meanings"] if FOREIGN.search(line)]


def test_a_click_swaps_the_two(view: View) -> None:
    shown = heat_map(opened("Confusion", view))
    assert shown["sides"] == ["anna", "ben"]
    app = opened("Confusion", replace(view, decision=("MIS",), gold=("PROTEINAS",)))
    app = choose(app, "swap")
    assert (address(app)["reference"], address(app)["system"]) == ("ben", "anna")
    assert (address(app)["decision"], address(app)["pred"]) == ("SPU", "PROTEINAS")
    assert heat_map(app)["sides"] == ["ben", "anna"]
    app = choose(app, "swap")
    assert "reference" not in address(app) and address(app)["system"] == "ben"


def test_of_three_each_may_be_the_reference() -> None:
    view = View(corpus=caches.shelf().put(annotators("ben", "cleo")), system="cleo", reference="ben")
    app = opened("Confusion", view)
    assert bar_list(app, "reference")[1] == "ben" and bar_list(app, "system") == (["anna", "cleo"], "cleo")


def test_with_gold_the_words_stay() -> None:
    sent = workbench(opened("Inspect", VIEW))
    assert sent["verdicts"]["labels"][:2] == ["gold", "prediction"] and sent["looks"]["MIS"]["text"] == "− missed (MIS)"
    assert heat_map(opened("Confusion", VIEW))["sides"] == ["gold", "predicted"]
    assert reference_layer.words_of(caches.demo("pharmacology"), "rules") == GOLD_AND_PREDICTION


@pytest.mark.parametrize(
    ("reason", "types", "said"),
    [
        ("same boundaries and type", ("A", "A"), "same boundaries and type"),
        ("starts 2 tokens later; type B instead of A", ("A", "B"), "types differ: A / B; ben starts 2 tokens later"),
        ("other fragments", ("A", "A"), "other fragments"),
        ("no prediction overlaps it", ("A", None), "ben has no span here"),
        (
            "every gold span that overlaps it is aligned elsewhere",
            (None, "B"),
            "each span of anna here is aligned elsewhere",
        ),
    ],
)
def test_reasons_by_name(reason: str, types: tuple[str | None, str | None], said: str) -> None:
    assert WORDS.reason(reason, *types) == said
    assert GOLD_AND_PREDICTION.reason(reason, *types) == reason


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("rules does not differ from b", "rules does not differ from b"),
        ("rulesets differ", "Rulesets differ"),
        ("rules-2's F1", "rules-2's F1"),
        ("no system is best", "No system is best"),
        ("", ""),
    ],
)
def test_a_sentence_begins_with_a_capital_letter_and_a_name_stays_as_it_is(text: str, sentence: str) -> None:
    assert capitalised(text, ["rules", "b", "rules-2"]) == sentence


@pytest.mark.parametrize("page", ["Systems", "Annotators"])
def test_no_system_is_capitalised_at_the_beginning_of_a_sentence(page: str) -> None:
    view = replace(VIEW, annotators_tab="figures") if page == "Annotators" else VIEW
    app = opened(page, view)
    texts = [one.value for one in (*app.markdown, *app.caption, *app.info)]
    names = "|".join(name.capitalize() for name in ("rules", "perceptron", "annotator-1", "annotator-2"))
    assert len(texts) > 5 and not [text for text in texts if re.search(rf"(^|\. )({names})\b", text)]


def test_names_that_differ_at_their_ends_differ_in_the_list_of_systems() -> None:
    names = [f"organisation-team-bundle-10-run-{number}" for number in (1, 2)] + ["rules", "a\u202eb"]
    assert labels_of(names) == {
        names[0]: "organisati…bundle-10-run-1",
        names[1]: "organisati…bundle-10-run-2",
        "rules": "rules",
        "a\u202eb": "a\\u202eb",
    }
    alike = [f"{'a' * 20}{middle}{'b' * 20}" for middle in "xy"]
    assert labels_of(alike) == {name: name for name in alike}, "two labels are never alike"


def test_lists_of_the_bar_are_as_wide_as_their_longest_name() -> None:
    assert list_width(["a"]) == list_width([]) == 100 < list_width(["team10_bundle"]) < 260 == list_width(["x" * 80])


@pytest.mark.parametrize(
    ("column", "heading", "by_name"),
    [
        (Column("gold_COR", "gold COR", "count", "COR"), "gold COR", "anna: agree"),
        (Column("MIS", "MIS", "count", "MIS"), "MIS", "only anna"),
        (Column("precision", "P", "ratio", "P"), "P", "of ben's spans (P)"),
        (Column("pred_type", "predicted type", "text"), "predicted type", "type of ben"),
        (Column("system", kind="name"), "system", "annotator"),
        (Column("f1_after", "F1 with verdicts", "ratio", "F1"), "F1 with verdicts", "F1 with verdicts"),
    ],
)
def test_headings_of_tables_name_the_annotators(column: Column, heading: str, by_name: str) -> None:
    assert GOLD_AND_PREDICTION.heading(column) == heading
    assert LayerWords("anna", "ben", annotators=True).heading(column) == by_name


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("credit strict", "more", "more credit than under strict"),
        ("credit strict", "same", "same credit as under strict"),
        ("changed muc", "yes", "another credit than under muc"),
        ("forgiven strict", "boundaries", "against strict: boundaries"),
        ("forgiven strict>type", "boundaries", "strict to type: boundaries"),
        ("credit strict>type", "more", "more credit under type than under strict"),
        ("changed strict>muc", "yes", "another credit under muc than under strict"),
        ("gap strict", "left boundary", "against strict: left boundary"),
        ("under left", "COR", "under left: COR"),
    ],
)
def test_conditions_on_credit_are_said_in_words(name: str, value: str, words: str) -> None:
    assert GOLD_AND_PREDICTION.condition(name, value) == words


def test_notes_stay_with_the_layer_that_they_are_about_when_the_two_change_places() -> None:
    """What was noticed while reading is told of a file, whichever layer is the reference."""
    layers = (replace(row, notes=(f"note {number}",)) for number, row in enumerate(TWO.layers))
    view = View(corpus=caches.shelf().put(replace(TWO, layers=tuple(layers), reading="noted")))
    app = opened("Overview", view)
    notes = [caption.value for caption in app.caption if "note" in caption.value]
    assert [note.splitlines() for note in notes] == [["- anna: note 0", "- ben: note 1"]]
    swapped = choose(app, "swap")
    assert [caption.value for caption in swapped.caption if "note" in caption.value] == notes
