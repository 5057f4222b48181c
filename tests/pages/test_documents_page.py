"""Documents and Guide: what the reading view is sent, and that the pages run with nothing, the demo and a bad link."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from streamlit.testing.v1 import AppTest

from nereval_core.corpus import Documents, Layer, layer
from nereval_core.ledger import ledger
from nereval_core.records.queries import Query
from nereval_core.records.tables import records
from nereval_core.report.marks import Mark, marks
from nereval_core.scoring import Scores, Settings, score_layers
from nereval_core.scoring.examples import SIX_CASES, decide
from pages.shared.data.loading import demo_names, load_demo
from pages.shared.inspect.document import (
    OpenDocument,
    document_marks,
    find_record,
    neighbours,
    open_document,
    record_card_data,
)
from pages.shared.components.highlighted_text import text_data
from tests.report.test_highlight import marked
from tests.support.pages import DEMO, VIEW, sound
from tests.support.pages import opened as open_page

WRONG = Query(decision=("INC", "PAR", "MIS", "SPU"))


def alone(sides: tuple[Layer, Layer]) -> Callable[[str], Scores]:
    """Return what scores a document of two layers alone."""
    return lambda doc: ledger(score_layers(*sides), "strict", sides).document(doc, Settings())


@settings(deadline=None)
@given(marked())
def test_what_is_sent_holds_the_text_and_the_spans(case: tuple[str, list[Mark]]) -> None:
    text, spans = case
    sent = json.loads(json.dumps(text_data(text, spans)))
    pieces = [piece for paragraph in sent["paragraphs"] for piece in paragraph["texts"]]
    assert "".join(pieces) == text
    edges = np.cumsum([0, *map(len, pieces)])
    for mark, span in zip(sent["marks"], spans, strict=True):
        parts = [(edges[low], edges[high + 1]) for low, high in mark["parts"]]
        assert len(parts) == len(span.fragments)
        assert [edge for part in parts for edge in part][:: len(parts) * 2 - 1] == [span.start, span.end]
        inside = {place for low, high in parts for place in range(low, high)}
        assert inside == {place for low, high in span.fragments for place in range(low, high)}
        assert mark["title"].endswith(f"type {span.type}, {mark['word']} ({span.decision})")


def test_paragraphs_keep_their_line_ends_and_count_their_own_lanes() -> None:
    sent = text_data(
        "one\r\n\ntwo", [Mark("gold", 0, ((0, 3),), "X", "MIS"), Mark("prediction", 0, ((6, 9),), "X", "SPU")]
    )
    assert [paragraph["texts"] for paragraph in sent["paragraphs"]] == [["one", "\r\n"], ["\n"], ["two"]]
    assert [paragraph["lanes"] for paragraph in sent["paragraphs"]] == [[1, 0, 0], [0, 0, 0], [0, 1, 0]]


@pytest.fixture(scope="module")
def six() -> tuple[Any, Any]:
    scores = decide(SIX_CASES)
    return scores, records(scores, "strict")


def test_every_span_leads_to_its_record(six: tuple[Any, Any]) -> None:
    scores, rows = six
    found = document_marks(scores, "strict", rows)
    assert len(found) == 10
    by_record: dict[str, list[Mark]] = {}
    for mark in found:
        by_record.setdefault(mark.record, []).append(mark)
    assert list(by_record) == rows["record"].tolist()
    assert [len(group) for group in by_record.values()] == [2, 2, 2, 2, 1, 1]


def test_a_prediction_keeps_its_record_id_where_it_has_a_partner(six: tuple[Any, Any]) -> None:
    scores, rows = six
    assert find_record(rows, scores, "strict", "p:29-33:Place")["record"] == "g:24-33:Place"
    assert find_record(rows, scores, "strict", "p:29-33:Nothing") is None
    assert find_record(rows, scores, "strict", "g:29-33:Place") is None


def test_the_card_says_decision_partner_and_reason(six: tuple[Any, Any]) -> None:
    scores, rows = six
    said = record_card_data(scores, "strict", find_record(rows, scores, "strict", "g:39-51:Company"))
    assert said["decision"]["text"] == "≠ incorrect (INC)"
    assert said["reason"] == "ends 8 characters earlier; type Place instead of Company"
    assert said["facts"] == [
        ["gold", "Bank of Peru", "Company, characters 39–51"],
        ["prediction", "Bank", "Place, characters 39–43"],
    ]
    assert {row["criterion"]: row["text"].split()[0] for row in said["rows"]} == {
        **dict.fromkeys(("strict", "exact", "type", "left", "right", "either", "approximate"), "≠"),
        "partial": "◐",
        "lenient": "✓",
        # Tokens are decided over, not this span.
        "fragment": "by",
    }
    assert [row["criterion"] for row in said["rows"] if row["current"]] == ["strict"]
    lone = record_card_data(scores, "strict", find_record(rows, scores, "strict", "p:61-66:Person"))
    assert lone["facts"][0] == ["gold", "", ""]


def test_steps_lead_through_all_records_and_back() -> None:
    loaded = load_demo(demo_names()[0])
    sides = loaded.corpus.gold, loaded.corpus.system(loaded.start)
    scores = score_layers(*sides)
    kept, reading = ledger(scores, "strict", sides), alone(sides)
    rows = records(scores, "strict")
    shown = rows[rows["decision"] != "COR"]
    every = list(zip(shown["document"].astype(str), shown["record"], strict=True))
    assert len(every) > 20
    seen = []
    there = open_document(kept, WRONG, reading, "", "")
    while step := there.step(forward=True):
        seen.append(step)
        there = open_document(kept, WRONG, reading, *step)
        assert (there.name, there.selected, there.number) == (*step, len(seen))
        assert any(mark.record == there.selected for mark in there.marks)
    assert seen == every
    back = [step]
    while step := there.step(forward=False):
        back.append(step)
        there = open_document(kept, WRONG, reading, *step)
    assert back[1:] == every[-2::-1]


@pytest.mark.parametrize(
    ("at", "back", "on"),
    [(-0.5, None, 0), (0, None, 1), (0.5, 0, 1), (1, 0, 2), (1.5, 1, 2), (2, 1, None), (2.5, 2, None)],
)
def test_steps_from_a_record_and_from_between_two(at: float, back: int | None, on: int | None) -> None:
    queue = [("d", f"g:{start}-{start + 1}:X") for start in range(3)]
    documents = Documents(("d",), ("text",))
    gold, pred = (layer(name, documents, [], [], [], []) for name in ("gold", "pred"))
    there = open_document(ledger(score_layers(gold, pred), "strict", (gold, pred)), WRONG, alone((gold, pred)), "d", "")
    there = replace(there, queue=queue, at=at)
    assert there.step(forward=False) == (None if back is None else queue[back])
    assert there.step(forward=True) == (None if on is None else queue[on])


def test_the_way_on_from_a_record_that_is_not_listed() -> None:
    scores = decide(SIX_CASES)
    rows = records(scores, "strict")
    shown = rows[rows["decision"] != "COR"]
    queue, at, number = neighbours(shown, 0, 0, "g:0-8:Person")
    assert (at, number, len(queue)) == (-0.5, 0, 5)
    _, at, number = neighbours(shown, 0, 30, "")
    assert (at, number) == (1.5, 0)
    queue, at, number = neighbours(shown, 0, 39, "g:39-51:Company", around=1)
    assert (at, number, [record for _, record in queue]) == (
        1,
        3,
        ["g:24-33:Place", "g:39-51:Company", "g:56-60:Person"],
    )


def opened_long(record: str, part: int | None = None) -> OpenDocument:
    """Open a text of 100,000 characters with a span in each of its 4,000 lines."""
    text = "Aspirin was given again.\n" * 4_000
    documents = Documents(("long",), (text,))
    starts = list(range(0, len(text), 25))
    gold = layer("gold", documents, [0] * len(starts), starts, [start + 7 for start in starts], ["Drug"] * len(starts))
    pred = layer("pred", documents, [], [], [], [])
    kept = ledger(score_layers(gold, pred), "strict", (gold, pred))
    return open_document(kept, Query(), alone((gold, pred)), "long", record, part)


def test_a_record_opens_the_part_of_a_long_text_it_lies_in() -> None:
    there = opened_long("g:50000-50007:Drug")
    assert there.window[0] <= 50_000 < there.window[1]
    assert len(there.marks) <= 1_500
    assert any(mark.record == "g:50000-50007:Drug" for mark in there.marks)
    assert opened_long("g:50000-50007:Drug", 0).window[0] == 0
    edge = there.window[0]
    assert edge > 0 and edge % 25 == 0
    for start, low in ((edge, edge), (edge - 25, opened_long("", there.part - 1).window[0])):
        assert opened_long(f"g:{start}-{start + 7}:Drug").window[0] == low
    assert marks(there.scores, "strict", 0)[0].fragments == ((0, 7),)


def part_of_long(part: int) -> None:
    """Draw the way through a long text; the script runs alone and imports what it needs."""
    from pages.shared.documents.controls import turn_parts
    from tests.pages.test_documents_page import opened_long

    turn_parts(opened_long("g:50000-50007:Drug", part), ("long", ""))


def test_a_long_text_is_gone_through_part_by_part() -> None:
    last = opened_long("g:50000-50007:Drug").parts - 1
    assert last >= 3
    for part, shut in ((0, [True, False]), (1, [False, False]), (last - 1, [False, False]), (last, [False, True])):
        app = AppTest.from_function(part_of_long, args=(part,)).run()
        assert not app.exception and [button.disabled for button in app.button] == shut
        assert app.caption[0].value.startswith(f"Part {part + 1} of {last + 1}: characters ")


@pytest.mark.parametrize("place", [(0, 7), (49_990, 50_003), (99_975, 100_000), (10_000, 90_000)])
def test_a_place_that_is_asked_for_is_outlined(place: tuple[int, int]) -> None:
    """The segments outlined are the text of the place, as far as the window goes that opens where it begins."""
    text = "".join(f"Aspirin {number:06} was given.\n" for number in range(4_000))[:100_000]
    documents = Documents(("long",), (text,))
    gold, pred = (layer(name, documents, [], [], [], []) for name in ("gold", "pred"))
    kept, reading = ledger(score_layers(gold, pred), "strict", (gold, pred)), alone((gold, pred))
    there = open_document(kept, Query(), reading, "long", "", place=place)
    low, high = there.window
    assert low <= place[0] < high and there.place is not None
    sent = text_data(text[low:high], there.marks, place=there.place)
    pieces = [piece for paragraph in sent["paragraphs"] for piece in paragraph["texts"]]
    assert "".join(pieces[number] for number in sent["place"]) == text[place[0] : min(place[1], high)]


def test_documents_shows_the_demo() -> None:
    page = open_page("Documents", VIEW)
    assert not page.error
    said = next(caption.value for caption in page.caption if caption.value.endswith("records to go through"))
    total = int(said.split()[0].replace(",", ""))
    assert total > 20
    sound(next(button for button in page.button if button.label == "Next (j)").click().run())
    assert not page.error
    assert any(caption.value == f"Record 1 of {total:,}" for caption in page.caption)
    assert page.query_params["record"] and page.query_params["doc"]


def test_documents_names_a_record_that_is_not_there() -> None:
    name = DEMO.corpus.documents.ids[0]
    page = open_page("Documents", replace(VIEW, doc=name, record="g:0-1:Nothing"))
    assert not page.error
    assert "is no record of this document" in page.warning[0].value


def test_guide_needs_no_corpus_and_scores_what_is_written() -> None:
    page = open_page("Guide")
    assert not page.error
    six = page.dataframe[0].value
    assert six.loc["partial", ["COR", "INC", "PAR", "MIS", "SPU", "F1"]].tolist() == [2, 0, 2, 1, 1, 0.6]
    page.text_area[0].set_value("[a|X] b")
    sound(page.text_area[1].set_value("[a|Y] b").run())
    assert not page.error
    spans = page.dataframe[1].value
    assert spans.loc["gold: a (X)", "strict"] == "≠ INC"
    assert spans.loc["gold: a (X)", "lenient"] == "✓ COR"


def test_guide_names_mistakes_in_the_marks() -> None:
    page = open_page("Guide")
    sound(page.text_area[0].set_value("[a|X b").run())
    assert "1 problem" in page.error[0].value
    assert page.code[0].value.startswith("gold:1: column 1: a bracket is never closed")
