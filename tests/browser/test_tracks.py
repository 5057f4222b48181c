"""Three tracks in the text: gold, a system, another one beside it; what marks lead to, and what the card says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from nereval_core.records.queries import Query
from nereval_core.records.tables import record_ids
from nereval_core.report.highlight import document_html, lanes, segments
from nereval_core.report.marks import TRACKS, Mark, within
from nereval_core.scoring import Scores, Settings
from pages.shared.inspect.document import OpenDocument, open_card, open_document
from pages.shared.components.highlighted_text import text_data
from tests.support.browser import Visit
from tests.support.other_formats import Demo
from tests.support.pages import VIEW, address
from tests.support.pages import opened as page_opened

NAMES = ("strict", "type")


def reading(there: Demo, system: str) -> Callable[[str], Scores]:
    return lambda doc: there.ledger(system, "strict").document(doc, Settings())


def shown(there: Demo, doc: str, record: str = "", other: str = "perceptron") -> OpenDocument:
    beside = (other, reading(there, other))
    return open_document(there.ledger("rules", "strict"), Query(), reading(there, "rules"), doc, record, beside=beside)


@pytest.mark.parametrize("name", ["pharmacology", "newspapers"])
def test_each_track_holds_the_spans_of_its_layer_and_each_mark_opens(name: str) -> None:
    there = Demo(name, NAMES)
    for doc in there.gold.documents.ids[:6]:
        found = shown(there, doc)
        layers = (there.gold, there.scores("rules").pred, there.scores("perceptron").pred)
        for side, layer in zip(TRACKS, layers, strict=True):
            number = layer.documents.index[doc]
            spans = range(*layer.first[number : number + 2].tolist())
            drawn = [(mark.fragments, mark.type) for mark in found.marks if mark.side == side]
            kept = [
                (layer.fragments.get(i) or ((int(layer.start[i]), int(layer.end[i])),), layer.label(i)) for i in spans
            ]
            assert sorted(drawn) == sorted(kept)
        for record in {mark.record for mark in found.marks}:
            again = shown(there, doc, record)
            assert not again.unknown and again.selected == record
            made = open_card(again, "strict")
            assert made is not None
            # What only the other system has is its record alone; all else says what both make of it.
            assert ("by perceptron alone" in made["under"]) == (again.record is None)
            assert [fact[0] for fact in made["facts"]][2:] == ([] if again.record is None else ["perceptron"])


def test_the_card_says_what_the_other_system_makes_of_it() -> None:
    there = Demo("pharmacology", NAMES)
    made = open_card(shown(there, "en-01", "g:133-143:PROTEINAS"), "strict")
    assert made is not None
    assert made["facts"][2] == ["perceptron", "troponin I", "correct (COR), PROTEINAS, characters 133–143"]
    for doc in there.gold.documents.ids:
        found = shown(there, doc)
        own = set(record_ids(found.scores.layers("strict")[1], "p"))
        for mark in found.marks:
            if mark.side == "prediction" and mark.decision == "SPU":
                made = open_card(shown(there, doc, mark.record), "strict")
                assert made is not None
                same = [one for one in found.marks if one.side == "beside" and one.fragments == mark.fragments]
                same = [one for one in same if one.type == mark.type]
                assert (made["facts"][2][2] == "does not predict it") == (not same)
            if mark.side == "beside" and mark.record.startswith("p:") and mark.record not in own:
                assert shown(there, doc, mark.record).other is not None


def test_a_record_that_neither_has_is_said_to_be_unknown() -> None:
    there = Demo("pharmacology", NAMES)
    found = shown(there, "en-01", "p:0-1:X")
    assert found.unknown and not found.selected and open_card(found, "strict") is None


def test_tracks_share_no_lanes_and_are_told_apart() -> None:
    marks = [Mark(side, 0, ((0, 3),), "X", "COR", system="" if side == "gold" else side) for side in TRACKS]
    assert lanes(marks) == [0, 0, 0]
    (first, *_) = segments("one two", marks[::-1])
    assert [marks[::-1][stroke.mark].side for stroke in first.strokes] == list(TRACKS)
    assert marks[2].words("one two") == "predicted span of beside one, type X, correct (COR)"
    assert within(marks, 1, 2)[2] == replace(marks[2], fragments=((0, 1),))
    sent = text_data("one two", marks, systems=("a", "b"))
    assert sent["paragraphs"][0]["lanes"] == [1, 1, 1] and sent["beside"]
    assert "b under that" in sent["notes"][0]
    with pytest.raises(AssertionError):
        document_html("one two", marks)


def test_documents_shows_another_system_beside_and_keeps_the_record() -> None:
    view_of = replace(VIEW, doc="en-01", record="g:133-143:PROTEINAS")
    app = page_opened("Documents", view_of)
    app.selectbox(key="widget_beside_text").select("perceptron")
    app.run()
    assert not app.exception
    assert address(app)["beside"] == "perceptron" and address(app)["record"] == view_of.record
    wrong = page_opened("Documents", replace(view_of, beside="nobody"))
    assert "beside" in wrong.warning[0].value and "beside" not in address(wrong)


def test_in_the_browser_tracks_lie_apart_and_the_keys_go_on(visit: Visit) -> None:
    there = Demo("pharmacology", NAMES)
    alone = [
        (doc, mark.record)
        for doc in there.gold.documents.ids
        for mark in shown(there, doc).marks
        if mark.side == "beside" and mark.decision == "SPU" and shown(there, doc, mark.record).other
    ]
    doc, record = alone[0]
    visit.open("Documents", replace(VIEW, beside="perceptron", doc=doc))
    visit.page.locator("button.nv-beside").first.wait_for()
    # On each line the tracks stand one under another: gold, text, the system, the other one.
    rows: dict[str, list[dict[str, float]]] = {}
    for side in TRACKS:
        boxes = visit.page.locator(f".nv-piece.nv-{side}")
        rows[side] = [boxes.nth(at).bounding_box() for at in range(boxes.count())]
    assert all(rows.values())
    for one in rows["prediction"]:
        for other in rows["beside"]:
            apart = one["y"] + one["height"] <= other["y"] + 1 or other["y"] + other["height"] <= one["y"] + 1
            beside = one["x"] + one["width"] <= other["x"] + 1 or other["x"] + other["width"] <= one["x"] + 1
            assert apart or beside
    kind = record.rpartition(":")[2]
    with visit.rerun():
        visit.page.locator(f"button.nv-beside[title*='{kind}'][title*='spurious']").first.click()
    visit.page.get_by_text("by perceptron alone").wait_for()
    visit.press("j")
    assert visit.page.locator(".nv-selected").count() and not visit.page.get_by_text("by perceptron alone").count()
    assert "beside=perceptron" in visit.page.url
