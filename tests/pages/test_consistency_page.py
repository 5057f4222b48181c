"""The Consistency page: what was found, what opens, and that every count is what is listed."""

from __future__ import annotations

import re
from dataclasses import replace
from urllib.parse import parse_qsl

import pytest
from streamlit.testing.v1 import AppTest

from nereval_core.analysis.consistency import consistency
from nereval_core.analysis.consistency.kinds import KINDS
from nereval_core.corpus import Corpus, Documents, layer
from pages.shared.consistency import CASE_LABELS
from pages.shared.data import caches
from pages.shared.data.loading import load_demo
from pages.shared.view import MASKED, QUESTIONS, View, keys
from pages.shared.view.link import read_link
from pages.shared.view.queries import query_of
from pages.shared.view.text import plain
from tests.analysis.consistency.test_consistency import marked
from tests.pages.test_published_pages import loaded_of
from tests.support.pages import address, cell, headings, opened, sound, upload

BIOLOGY = load_demo("biology")
VIEW = View(corpus=BIOLOGY.corpus.digest, system="rules")
FOUND = consistency(BIOLOGY.corpus.gold, BIOLOGY.corpus.systems)


def listed(app: AppTest) -> AppTest:
    """Return the frames of the page: the findings, then the places of the one chosen."""
    return app.dataframe[-1].value


def at(kind: str, row: int, column: str) -> dict[str, object]:
    return {f"{keys.TABLE}consistency_{kind.replace('-', '_')}": cell(row, column)}


def question(kind: str) -> str:
    return kind if kind in QUESTIONS else ""


def test_capitals_matter_as_the_reader_chooses() -> None:
    row = '{"id": "d%d", "text": "%s grew", "spans": [%s]}\n'
    span = '{"start": 0, "end": 3, "label": "GENE"}'
    gold = "".join(row % (n, *given) for n, given in enumerate([("GAS", span)] * 3 + [("gas", "")] * 2))
    app = opened("Start")
    app = upload(app, gold, gold)
    view = View(corpus=address(app)["corpus"], system=address(app).get("system", ""))
    found = {}
    for case, label in CASE_LABELS.items():
        app = opened("Consistency", view)
        assert app.segmented_control(key="widget_consistency_case").options == list(CASE_LABELS.values())
        app = sound(app.segmented_control(key="widget_consistency_case").set_value(case).run())
        found[case] = next(
            option for option in app.pills[0].options if option.startswith(KINDS["not-everywhere"].title)
        )
        assert app.segmented_control(key="widget_consistency_case").value == case and label
    assert [option.rpartition(" ")[2] for option in found.values()] == ["0", "1", "0"]


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_says_what_was_found_and_opens_it(kind: str) -> None:
    app = opened("Consistency", replace(VIEW, question=question(kind)))
    assert plain(FOUND.sentence(kind), 400) in headings(app)
    assert app.pills[0].options == [f"{KINDS[name].title} · {len(found):,}" for name, found in FOUND.found.items()]
    if not len(FOUND.found[kind]):
        assert not app.dataframe
        return
    table = app.dataframe[0].value
    assert table["settles"].tolist() == FOUND.table(kind)["settles"].tolist()
    for column in ("how", "settles"):
        app = opened("Consistency", replace(VIEW, question=question(kind)), **at(kind, 0, column))
        finding = FOUND.finding(kind, 0)
        expected = finding.settles if column == "settles" else finding.places
        assert len(listed(app)) == expected
        assert f"{finding.places} place" in headings(app)
        pills = app.pills[1] if len(app.pills) > 1 else None
        for name, number in finding.counts.items() if len(finding.counts) > 1 else ():
            assert pills and plain(f"{name} · {number:,}") in pills.options
            assert len(listed(sound(pills.set_value(name).run()))) == number


def test_places_show_what_each_layer_has_and_lead_on() -> None:
    app = opened("Consistency", VIEW, **at("types", 0, "form"))
    frame = listed(app)
    assert list(frame.columns) == [
        *("before", "text", "after", "gold", "rules", "annotator-1", "annotator-2", "perceptron", "document"),
    ]
    assert frame["text"].tolist() == ["PML", "PML"]
    assert frame["gold"].tolist() == ["DNA", "protein; protein “PML-…"]
    (link,) = (one for one in app.get("page_link") if "of this form" in one.proto.label)
    shown = read_link(dict(parse_qsl(link.proto.query_string)))[0]
    records = caches.ledger(BIOLOGY, "rules", caches.settings_of(BIOLOGY.corpus.gold, VIEW), "strict")
    assert f"{records.total(query_of(shown)).records} records of this form" in link.proto.label
    app = opened("Consistency", VIEW, **at("types", 0, "form"), **{f"{keys.TABLE}places": cell(0, "text")})
    (link,) = (one for one in app.get("page_link") if "Read in document" in one.proto.label)
    assert read_link(dict(parse_qsl(link.proto.query_string)))[0].record == "g:106-109:DNA"


def test_a_place_without_annotation_opens_its_document_there() -> None:
    corpus = Corpus("own", (gold := marked("<A:t cell> or t cell " * 3)).documents, gold, (gold.renamed("s"),))
    loaded = replace(BIOLOGY, corpus=corpus, marks={"s": ()}, start="s", reading="17")
    caches.shelf().put(loaded)
    view = View(corpus=corpus.digest, question="not-everywhere")
    chosen = {f"{keys.TABLE}places": cell(1, "text")}
    app = opened("Consistency", view, **at("not-everywhere", 0, "places"), **chosen)
    assert listed(app)["gold"].fillna("").tolist() == ["A", ""] * 3
    (link,) = (one for one in app.get("page_link") if "Read in document" in one.proto.label)
    shown = read_link(dict(parse_qsl(link.proto.query_string)))[0]
    assert (shown.doc, shown.record, shown.at) == ("d0", "", "10-16")
    app = opened("Inspect", shown)
    assert not app.warning
    assert address(app)["at"] == "10-16"
    # What is chosen in the text takes the place's place.
    assert read_link({"at": "16-10"})[1] and read_link({"at": "x"})[1] and not read_link({"at": "10-16"})[1]


HOSTILE = (
    "<img src=x onerror=alert(1)>",
    "\u202eevil\u202c \u200f[x](javascript:alert(1))",
    "a\0b $x^2$ :smile: **bold**",
    "w" * 3_000 + " " + "long " * 4_000,
    "=cmd|' /C calc'!A0",
)


@pytest.mark.parametrize("number", range(len(HOSTILE)))
def test_hostile_texts_do_no_harm(number: int) -> None:
    """Now of one type, now of the other, with an odd end, and once without annotation."""
    text = HOSTILE[number]
    documents = Documents(("<b>d</b>", "\u202ed"), (f"x {text}, {text}", f"{text}. {text}"))
    size = len(text)
    spans = ([0, 0, 1], [2, size + 4, 0], [2 + size, size + 4 + size, size + 1], ["<i>A</i>", "B\u202e", "A|B"])
    gold = layer("gold", documents, *spans)
    corpus = Corpus("own", documents, gold, (gold.renamed("<u>s</u>"), gold.renamed("t")))
    caches.shelf().put(
        replace(BIOLOGY, corpus=corpus, marks={"<u>s</u>": (), "t": ()}, start="t", reading=f"hostile {number}")
    )
    found = consistency(gold, corpus.systems)
    for kind in KINDS:
        if len(found.found[kind]):
            view = View(corpus=corpus.digest, question=question(kind))
            app = opened("Consistency", view, **at(kind, 0, "how"), **{f"{keys.TABLE}places": cell(0, "text")})
            assert len(app.dataframe) == 2 and not app.error
            for one in app.get("html"):
                assert "<img" not in one.proto.body and "<b>d" not in one.proto.body


def test_another_layer_and_another_question_are_in_the_link() -> None:
    app = opened("Consistency", VIEW)
    assert app.selectbox(key="widget_consistency_layer").value == "gold"
    app = sound(app.selectbox(key="widget_consistency_layer").set_value("annotator-1").run())
    assert address(app)["reference"] == "annotator-1"
    app = sound(app.pills[0].set_value("edges").run())
    assert address(app)["annotators_tab"] == "consistency" and address(app)["question"] == "edges"
    assert app.session_state["widget_consistency_kind"] == "edges"
    app = sound(app.pills[0].set_value("types").run())
    assert address(app)["annotators_tab"] == "consistency" and "question" not in address(app)


def test_types_are_those_that_are_scored() -> None:
    """Merged into one, a form's types are no longer several."""
    app = opened("Consistency", replace(VIEW, merge=(("DNA", "x"), ("protein", "x"))))
    app = sound(app.pills[0].set_value("types").run())
    assert "No form has several types" in headings(app)


def test_the_page_opens_on_a_question_that_found_something() -> None:
    app = opened("Consistency", replace(VIEW, merge=(("DNA", "x"), ("protein", "x"))))
    assert app.pills[0].value == "edges" and "stands at an edge" in headings(app)
    app = sound(app.pills[0].set_value("types").run())
    assert app.pills[0].value == "types", "a question without findings can be chosen all the same"


@pytest.mark.parametrize("kind", KINDS)
def test_masked_the_same_is_found_and_none_of_it_can_be_read(kind: str) -> None:
    held = replace(VIEW, reference="perceptron", question=question(kind))
    plain_app = opened("Consistency", held, **at(kind, 0, "how"))
    app = opened("Consistency", replace(held, mask=MASKED), **at(kind, 0, "how"))
    counts = ["places", "settles"]
    assert app.pills[0].options == plain_app.pills[0].options
    for one, other in zip(app.dataframe, plain_app.dataframe, strict=True):
        columns = [name for name in counts if name in one.value]
        assert one.value[columns].equals(other.value[columns])
    labels = [[link.proto.label for link in each.get("page_link")] for each in (app, plain_app)]
    assert labels[0] == [label for label in labels[1] if label in labels[0]]
    sent = "\n".join(str(block) for frame in app.dataframe for block in frame.value.to_numpy().tolist())
    sent += headings(app) + "".join(link.proto.query_string for link in app.get("page_link"))
    sent += "".join(str(pill.options) for pill in app.pills)
    texts = " ".join(BIOLOGY.corpus.documents.texts)
    leaked = words(texts) & words(sent) - words(OURS + " ".join(map(repr, KINDS.values())))
    assert not leaked


def words(text: str) -> set[str]:
    return set(re.findall(r"[^\W\d_]{5,}", text.casefold()))


OURS = "every place those first protein corpus perceptron nothing others inside just outside another everywhere rules"
"""Words of the page and of its links that stand in texts of the corpus too."""


def test_one_system_is_too_few_to_agree() -> None:
    loaded = loaded_of("Rome\tB-loc\n\n", "Rome\tO\n\n")
    caches.shelf().put(loaded)
    app = opened("Consistency", View(corpus=loaded.corpus.digest))
    assert any("takes 2 other layers, there is 1" in caption.value for caption in app.caption)
    assert len(app.pills[0].options) == len(KINDS) - 1


def test_many_ways_are_offered_in_a_list() -> None:
    gold = marked(" ".join(f"<T{number:02}:x y>" for number in range(20)) + " <T05:x y>")
    corpus = Corpus("own", gold.documents, gold, (gold.renamed("s"),))
    caches.shelf().put(replace(BIOLOGY, corpus=corpus, marks={"s": ()}, start="s", reading="18"))
    app = opened("Consistency", View(corpus=corpus.digest), **at("types", 0, "settles"))
    box = next(one for one in app.selectbox if one.label == "Places")
    assert box.options[:3] == ["every place · 21", "those to settle · 19", "T05 · 2"]
    assert len(listed(app)) == 19
    assert len(listed(sound(box.set_value("T05").run()))) == 2
