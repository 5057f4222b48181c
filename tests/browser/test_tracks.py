"""Three tracks in the text: gold, a system, another one beside it; what marks lead to, and what the card says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from nereval_core.records.tables import record_ids
from nereval_core.report.highlight import document_html, lanes, segments
from nereval_core.report.marks import TRACKS, Mark, within
from nereval_core.scoring import Scores, Settings
from pages.shared.components.highlighted_text import text_data
from pages.shared.inspect.document import ReadDocument, read_document
from tests.support.browser import Visit
from tests.support.other_formats import Demo
from tests.support.pages import VIEW, address
from tests.support.pages import opened as page_opened
from tests.support.workbench import act, workbench

NAMES = ("strict", "type")


def reading(there: Demo, system: str) -> Callable[[str], Scores]:
    return lambda doc: there.ledger(system, "strict").document(doc, Settings())


def shown(there: Demo, doc: str, other: str = "perceptron") -> ReadDocument:
    return read_document(reading(there, "rules"), "strict", doc, (other, reading(there, other)))


def card(there: Demo, doc: str, record: str) -> dict[str, Any] | None:
    found = shown(there, doc)
    return found.card(*found.find(record))


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
            ours, theirs = found.find(record)
            made = found.card(ours, theirs)
            assert made is not None and (ours is None) != (theirs is None)
            # What only the other system has is its record alone; all else says what both make of it.
            assert ("by perceptron alone" in made["under"]) == (ours is None)
            assert [fact[0] for fact in made["facts"]][2:] == ([] if ours is None else ["perceptron"])


def test_the_card_says_what_the_other_system_makes_of_it() -> None:
    there = Demo("pharmacology", NAMES)
    made = card(there, "en-01", "g:133-143:PROTEINAS")
    assert made is not None
    assert made["facts"][2] == ["perceptron", "troponin I", "correct (COR), PROTEINAS, characters 133–143"]
    for doc in there.gold.documents.ids:
        found = shown(there, doc)
        own = set(record_ids(found.scores.layers("strict")[1], "p"))
        for mark in found.marks:
            if mark.side == "prediction" and mark.decision == "SPU":
                made = card(there, doc, mark.record)
                assert made is not None
                same = [one for one in found.marks if one.side == "beside" and one.fragments == mark.fragments]
                same = [one for one in same if one.type == mark.type]
                assert (made["facts"][2][2] == "does not predict it") == (not same)
            if mark.side == "beside" and mark.record.startswith("p:") and mark.record not in own:
                assert found.find(mark.record)[1] is not None


def test_a_record_that_neither_has_is_said_to_be_unknown() -> None:
    there = Demo("pharmacology", NAMES)
    assert shown(there, "en-01").find("p:0-1:X") == (None, None) and card(there, "en-01", "p:0-1:X") is None


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


def test_another_system_is_shown_beside_and_the_record_stays_open() -> None:
    view_of = replace(VIEW, doc="en-01", record="g:133-143:PROTEINAS")
    app = act(page_opened("Inspect", view_of), "beside", value="perceptron")
    assert address(app)["beside"] == "perceptron" and address(app)["record"] == view_of.record
    assert workbench(app)["compared"] == "perceptron"
    wrong = page_opened("Inspect", replace(view_of, beside="nobody"))
    assert "beside" in wrong.warning[0].value and "beside" not in address(wrong)


def test_in_the_browser_tracks_lie_apart_and_the_keys_go_on(visit: Visit) -> None:
    there = Demo("pharmacology", NAMES)
    alone = [
        (doc, mark.record)
        for doc in there.gold.documents.ids
        for mark in shown(there, doc).marks
        if mark.side == "beside" and mark.decision == "SPU" and shown(there, doc).find(mark.record)[1]
    ]
    doc, record = alone[0]
    visit.open("Inspect", replace(VIEW, beside="perceptron", doc=doc))
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
    visit.page.locator(f"button.nv-beside[title*='{kind}'][title*='spurious']").first.click()
    visit.page.get_by_text("by perceptron alone").wait_for()
    visit.press("j")
    assert visit.page.locator(".nv-selected").count() and not visit.page.get_by_text("by perceptron alone").count()
    assert "beside=perceptron" in visit.page.url
