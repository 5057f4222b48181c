"""Three tracks in the text: gold, a system, another one beside it; what marks lead to, and what the card says."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from nereval_core.records.match_records import record_ids
from nereval_core.report.highlight import document_html, lanes, segments
from nereval_core.report.marks import TRACKS, Mark, within
from nereval_core.scoring import Scores, Settings
from pages.shared.components.highlighted_text import text_data
from pages.shared.inspect.document import ReadDocument, read_document
from pages.shared.view import View
from tests.support.browser import Visit
from tests.support.other_formats import Demo
from tests.support.pages import VIEW, address
from tests.support.pages import opened as page_opened
from tests.support.workbench import act, workbench

NAMES = ("strict", "type")


def reading(there: Demo, system: str) -> Callable[[str], Scores]:
    return lambda doc: there.ledger(system, "strict").document(doc, Settings())


def shown(there: Demo, doc: str, other: str = "perceptron") -> ReadDocument:
    return read_document(reading(there, "rules"), "strict", doc, {other: reading(there, other)})


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
    # Further systems do not share the lanes of the first.
    two = [replace(marks[2], system=name) for name in ("a", "b")]
    assert lanes([*two, two[0]]) == [0, 0, 1]
    sent = text_data("one two", marks, missed=lambda gold: ["a", "b"], tokens=[(0, 3), (4, 7)], sentences=[0])
    assert [mark.get("missed") for mark in sent["marks"]] == [["a", "b"], None, None]
    pieces = [text for block in sent["paragraphs"] for text in block["texts"]]
    assert [pieces[number] for number in sent["tokens"]] == ["one", "two"] and sent["sentences"] == [0]
    with pytest.raises(AssertionError):
        document_html("one two", marks)


RECORD = replace(VIEW, doc="en-01", record="g:133-143:PROTEINAS")


def test_another_system_is_shown_beside_and_the_record_stays_open() -> None:
    app = act(page_opened("Inspect", RECORD), "beside", value=["perceptron", "rules", "nobody"])
    assert address(app)["beside"] == "perceptron" and address(app)["record"] == RECORD.record
    assert "tracks" not in address(app)
    assert workbench(app)["compared"] == ["perceptron"]
    # The text says what the other one misses, with the sentences where the corpus has them.
    (text, *_) = workbench(app)["texts"].values()
    gold = [mark for mark in text["marks"] if mark["side"] == "gold"]
    assert {mark["system"] for mark in text["marks"] if mark["side"] == "beside"} == {"perceptron"}
    assert any(mark["missed"] == ["perceptron"] for mark in gold) and any(mark["missed"] == [] for mark in gold)
    wrong = page_opened("Inspect", replace(RECORD, beside="nobody", tracks=("rules", "nobody")))
    assert "beside" in wrong.warning[0].value and "beside" not in address(wrong)
    assert "tracks" not in address(wrong)


def test_the_next_system_is_read_in_its_place_on_the_same_record() -> None:
    app = act(page_opened("Inspect", replace(RECORD, beside="perceptron")), "system", value="perceptron")
    sent = workbench(app)
    assert (sent["system"], sent["compared"], sent["open"]) == ("perceptron", ["rules"], ["en-01", RECORD.record])
    assert address(app)["system"] == "perceptron" and address(app)["beside"] == "rules"
    # Without a comparison there is none afterwards.
    app = act(page_opened("Inspect", RECORD), "system", value="perceptron")
    assert workbench(app)["compared"] == [] and workbench(app)["open"][1] == RECORD.record
    # What is spurious in one system alone stays open as that system's record.
    there = Demo("pharmacology", NAMES)
    doc, record = next(
        (doc, mark.record)
        for doc in there.gold.documents.ids
        for mark in shown(there, doc).marks
        if mark.side == "prediction" and mark.decision == "SPU" and not other_has(there, doc, mark.record)
    )
    app = act(
        page_opened("Inspect", replace(VIEW, doc=doc, record=record, beside="perceptron")), "system", value="perceptron"
    )
    assert not app.warning and "by rules alone" in workbench(app)["cards"][f"{doc}\n{record}"]["under"]


def other_has(there: Demo, doc: str, record: str) -> bool:
    return record in record_ids(reading(there, "perceptron")(doc).layers("strict")[1], "p")


BOXES_OF_PIECES = """all => all.map(lane => [...lane.querySelectorAll(".nt-piece")].map(
    piece => [piece.getBoundingClientRect().top, piece.getBoundingClientRect().bottom]))"""
"""Top and bottom of the pieces of each lane, at one moment: a page that is drawn anew has others."""


def test_in_the_browser_each_system_has_a_lane_and_keys_change_the_one_that_is_read(visit: Visit) -> None:
    visit.page.set_viewport_size({"width": 390, "height": 844})
    visit.open("Inspect", replace(RECORD, beside="perceptron"))
    lanes = visit.page.locator(".nt-sentence:not(.nt-bare)").first.locator("li")
    visit.page.locator(".nt-piece").first.wait_for()
    assert lanes.evaluate_all("all => all.map(lane => lane.ariaLabel.split(':')[0])") == ["gold", "perceptron", "rules"]
    assert "wrong in this sentence" in lanes.nth(1).get_attribute("aria-label")
    boxes = lanes.evaluate_all(BOXES_OF_PIECES)
    assert len(boxes) == 3 and all(boxes)
    for upper, lower in ((0, 1), (1, 2)):
        assert max(bottom for _, bottom in boxes[upper]) <= min(top for top, _ in boxes[lower]) + 1
    # The lanes scroll in their box, never the page; what is copied is the text alone.
    assert visit.page.evaluate("document.documentElement.scrollWidth") <= 390
    texts = Demo("pharmacology", NAMES).gold.documents
    assert visit.page.locator(".nw .nv-text").inner_text().strip() == texts.texts[texts.index["en-01"]]
    visit.press("]")
    assert "system=perceptron" in visit.page.url and "beside=rules" in visit.page.url
    assert visit.page.locator(".nt-piece.nv-selected").count() and "record=g" in visit.page.url
    # A span leads to its record.
    visit.page.locator(".nt .nt-missed[aria-label^='missed by perceptron: gold span']").first.click()
    assert visit.eventually(lambda: visit.page.locator(".nt .nt-missed.nv-selected").count() > 0)


def test_in_the_browser_a_record_behind_long_sentences_is_scrolled_to(visit: Visit, tmp_path: Path) -> None:
    """Sentences out of sight are not laid out; each of these is higher than the frame."""
    text = "\n".join(" ".join(f"Word{number}" for number in range(line, line + 100)) for line in range(0, 1500, 100))
    words = [match.span() for match in re.finditer(r"\w+", text)]
    for name, step in (("gold", 5), ("one", 6), ("two", 7)):
        spans = [{"start": start, "end": end, "label": "X"} for start, end in words[::step]]
        (tmp_path / f"{name}.jsonl").write_text(json.dumps({"id": "d", "text": text, "spans": spans}) + "\n")
    visit.go("/")
    visit.drop(*(tmp_path / f"{name}.jsonl" for name in ("gold", "one", "two")))
    visit.page.get_by_role("button", name="Read and score").click()
    visit.page.wait_for_url("**corpus=*")
    corpus = parse_qs(urlsplit(visit.page.url).query)["corpus"][0]
    start, end = words[1200]
    record = f"g:{start}-{end}:X"
    visit.open("Inspect", View(corpus=corpus, system="one", beside="two", doc="d", record=record))
    in_sight = """() => {
        const frame = document.querySelector(".nw-scroll")?.getBoundingClientRect();
        const piece = document.querySelector(".nw-scroll .nv-selected")?.getBoundingClientRect();
        return frame && piece && piece.top >= frame.top && piece.bottom <= frame.bottom;
    }"""
    for key in ("", "j", "]", "k"):
        if key:
            visit.press(key)
        # Sentences are measured once they are laid out.
        visit.page.wait_for_function(in_sight, polling=50, timeout=5_000)
    # Without the queue lines are longer, and all that stands before the record takes fewer of them.
    visit.open("Inspect", View(corpus=corpus, system="one", doc="d", record=record))
    visit.page.wait_for_function(in_sight, polling=50, timeout=5_000)
    visit.press("w")
    visit.page.locator(".nw-whole").wait_for()
    visit.page.wait_for_function(in_sight, polling=50, timeout=5_000)
