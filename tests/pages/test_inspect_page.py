"""Inspect and Guide: what the annotated text is sent, and that the pages run with nothing, the demo and a bad link."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import streamlit as st
from hypothesis import given, settings

from nereval_core.corpus import Documents, Layer, layer
from nereval_core.ledger import Ledger, ledger
from nereval_core.problems import one_line
from nereval_core.readers import Source
from nereval_core.records.queries import Query
from nereval_core.records.tables import records
from nereval_core.report.colours import LOOKS
from nereval_core.report.marks import Mark, marks
from nereval_core.report.span_difference import difference_text
from nereval_core.scoring import Scores, Settings, score_layers
from nereval_core.scoring.criteria import SCHEMAS
from nereval_core.scoring.examples import FIVE_DECISIONS, SIX_CASES, decide
from nereval_core.tables.glossary import DECISIONS
from pages.shared.components.highlighted_text import text_data
from pages.shared.data.loading import demo_names, load, load_demo
from pages.shared.guide import case_decisions
from pages.shared.inspect.document import (
    ReadDocument,
    document_marks,
    find_record,
    neighbours,
    read_document,
    record_card_data,
)
from pages.shared.inspect.queue import CHUNK, entries, queue_part
from pages.shared.view import View
from tests.report.test_highlight import marked
from tests.support.pages import GOLD, PREDICTION, VIEW, address, sound, start_afresh, upload
from tests.support.pages import opened as open_page
from tests.support.workbench import act, card, workbench

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
        assert mark["title"].endswith(f"type {one_line(span.type)}, {mark['word']} ({span.decision})")


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


def test_under_muc_a_text_shows_all_five_decisions() -> None:
    scores = decide(FIVE_DECISIONS)
    text = scores.gold.documents.texts[0]
    sent = {name: text_data(text, marks(scores, name, 0))["marks"] for name in (*SCHEMAS, "muc")}
    words = {name: {mark["word"] for mark in drawn} for name, drawn in sent.items()}
    assert {name: len(decisions) for name, decisions in words.items()} == {**dict.fromkeys(SCHEMAS, 4), "muc": 5}


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
        **dict.fromkeys(("strict", "exact", "type", "muc", "left", "right", "either", "approximate"), "≠"),
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
    for number, (doc, record) in enumerate(every):
        part = queue_part(kept, WRONG, "document", doc, record)
        assert part.at == number and part.total == len(every)
        assert part.near(3, 10) == [*every[number + 1 :][:10], *reversed(every[max(0, number - 3) : number])]
        assert any(mark.record == record for mark in read_document(reading, "strict", doc).marks)


@pytest.mark.parametrize("order", ["document", "text", "longest", "decision"])
def test_a_part_of_a_long_queue_holds_the_open_record(order: str) -> None:
    _, kept = long_text()
    every = kept.page(Query(), order, 0, 4_000)
    for number in (0, 49, 50, 51, 99, 100, 2_345, 3_999):
        doc, record = str(every["document"].iat[number]), str(every["record"].iat[number])
        for known in (number, -1):
            part = queue_part(kept, Query(), order, doc, record, number=known)
            assert part.at == number and part.names[number - part.first] == (doc, record)
            assert part.first % CHUNK == 0 and number - part.first >= min(number, CHUNK)
    # A record that is not listed, and a place without one, lie between two.
    missed = Query(decision=("COR",))
    assert queue_part(kept, missed, "document", "long", "g:50000-50007:Drug").total == 0
    assert queue_part(kept, Query(), "document", "long", "", start=30).at == 1.5


def test_the_queue_shows_the_difference_and_names_what_an_overlapping_span_is_aligned_with() -> None:
    text = "the United States; left and right ventricle; Aspirin tablet"
    documents = Documents(("d",), (text,))
    gold = layer("gold", documents, [0] * 4, [4, 19, 45, 53], [17, 43, 52, 59], ["Place", "Part", "Drug", "Form"])
    gold = replace(gold, fragments={1: ((19, 23), (34, 43))})
    pred = layer("pred", documents, [0, 0], [0, 45], [17, 59], ["Place", "Drug"])
    scores = score_layers(gold, pred)
    kept = ledger(scores, "strict", (gold, pred))
    part = queue_part(kept, Query(), "document", "d", "")
    pieces, reasons = ([entry[place] for entry in entries(kept, part, documents.texts)] for place in (3, 4))
    assert pieces[0] == [("the ", "+"), ("United States", "")]
    assert difference_text(pieces[1]) == "left … ventricle"
    assert difference_text(pieces[2]) == "Aspirin [tablet]"
    assert reasons[3] == "prediction “Aspirin tablet” is aligned with “Aspirin”"
    # The card says the same.
    card_data = record_card_data(scores, "strict", find_record(part.records, scores, "strict", "g:53-59:Form"))
    assert card_data["reason"] == reasons[3]


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


def long_text() -> tuple[ReadDocument, Ledger]:
    """Read a text of 100,000 characters with a span in each of its 4,000 lines."""
    text = "Aspirin was given again.\n" * 4_000
    documents = Documents(("long",), (text,))
    starts = list(range(0, len(text), 25))
    gold = layer("gold", documents, [0] * len(starts), starts, [start + 7 for start in starts], ["Drug"] * len(starts))
    pred = layer("pred", documents, [], [], [], [])
    kept = ledger(score_layers(gold, pred), "strict", (gold, pred))
    return read_document(alone((gold, pred)), "strict", "long"), kept


def test_a_record_opens_the_part_of_a_long_text_it_lies_in() -> None:
    there, _ = long_text()
    number = there.part_of(50_000)
    low, high = there.windows[number]
    assert low <= 50_000 < high and low > 0 and low % 25 == 0
    assert 1 < len(there.marks_in(number)) <= 1_500
    assert any(mark.record == "g:50000-50007:Drug" for mark in there.marks_in(number))
    assert [there.part_of(place) for place in (low, low - 25, 0, 99_999)] == [
        number,
        number - 1,
        0,
        len(there.windows) - 1,
    ]
    assert marks(there.scores, "strict", 0)[0].fragments == ((0, 7),)


def test_a_whole_document_is_sent_window_by_window_as_it_is_asked_for() -> None:
    text = "".join(f"Aspirin {number:03} was given.\n" for number in range(300))
    rows = [
        json.dumps({"id": "long", "text": text, "spans": [{"start": 0, "end": end, "label": "Drug"}]})
        for end in (7, 11)
    ]
    app = open_page("Inspect", replace(VIEW, corpus=uploaded_digest(*rows), system="system0", doc="long"))
    first = workbench(app)
    (opened,) = first["texts"].values()
    assert first["whole"] and opened["parts"] == 3 and opened["window"][2] == len(text)
    assert [row[1] for row in first["map"]] == ["INC", "INC"]
    sent = workbench(act(app, "windows", value=[1, 2, 99]))
    windows = sorted(sent["texts"].values(), key=lambda window: window["part"])
    assert "".join(piece for each in windows for block in each["paragraphs"] for piece in block["texts"]) == text
    assert sent["open"] == first["open"]
    # Once: what is missing is asked for again.
    assert len(workbench(act(app, "whole", value=True))["texts"]) == 1


def uploaded_digest(gold: str, *systems: str) -> str:
    """Return the digest of a corpus that is dropped at Start."""
    return address(upload(open_page("Start"), gold, *systems))["corpus"]


@pytest.mark.parametrize("place", [(0, 7), (49_990, 50_003), (99_975, 100_000), (10_000, 90_000)])
def test_a_place_that_is_asked_for_is_outlined(place: tuple[int, int]) -> None:
    """The segments outlined are the text of the place, as far as the window goes that opens where it begins."""
    text = "".join(f"Aspirin {number:06} was given.\n" for number in range(4_000))[:100_000]
    documents = Documents(("long",), (text,))
    gold, pred = (layer(name, documents, [], [], [], []) for name in ("gold", "pred"))
    there = read_document(alone((gold, pred)), "strict", "long")
    part = there.part_of(place[0])
    low, high = there.windows[part]
    seen = there.place_in(part, place)
    assert low <= place[0] < high and seen is not None
    sent = text_data(text[low:high], there.marks_in(part), place=seen)
    pieces = [piece for paragraph in sent["paragraphs"] for piece in paragraph["texts"]]
    assert "".join(pieces[number] for number in sent["place"]) == text[place[0] : min(place[1], high)]


def test_inspect_opens_the_first_record_at_once_and_goes_on_from_it() -> None:
    page = open_page("Inspect", VIEW)
    sent = workbench(page)
    assert not page.error and sent["at"] == 0 and sent["open"] == sent["entries"][0][:2] and not sent["whole"]
    assert card(page)["reason"] and sent["text"] in sent["texts"]
    # What lies ahead is there before it is asked for, more with each step.
    names = ["\n".join(entry[:2]) for entry in sent["entries"]]
    assert set(names[:4]) <= sent["cards"].keys()
    page = act(page, "j")
    assert workbench(page)["at"] == 1 and set(names[:7]) <= workbench(page)["cards"].keys()
    assert [address(page)[name] for name in ("doc", "record")] == sent["entries"][1][:2]


def test_ids_and_types_may_hold_line_breaks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEREVAL_REVIEW_URL", f"sqlite:///{tmp_path}/review.sqlite")
    start_afresh()
    gold, prediction = (text.replace("d1", "d\\n1").replace("Drug", "Drug\\n---\\n") for text in (GOLD, PREDICTION))
    upload(open_page("Start"), gold, prediction)
    digest = load(None, _source(gold), {"system0": _source(prediction)}).corpus.digest
    app = open_page("Inspect", View(corpus=digest))
    assert workbench(app)["open"] == ["d\n1", "g:0-7:Drug\n---\n"] and card(app)["version"] == 0
    assert card(act(app, "star"))["starred"]
    start_afresh()


def _source(text: str) -> Source:
    return Source.of_uploads([("layer.jsonl", text.encode())])


def test_a_link_opens_a_record_in_its_queue_a_document_as_a_whole_and_a_place() -> None:
    doc, record = "en-02", "g:0-1:Nothing"
    sent = workbench(open_page("Inspect", replace(VIEW, doc="en-01", record="g:133-143:PROTEINAS")))
    assert not sent["whole"] and sent["open"] == ["en-01", "g:133-143:PROTEINAS"] and sent["total"] == 60
    page = open_page("Inspect", replace(VIEW, doc=doc))
    sent = workbench(page)
    assert sent["whole"] and sent["open"] == [doc, ""] and sent["at"] == -0.5
    assert {entry[0] for entry in sent["entries"]} == {doc}
    assert workbench(act(page, "j"))["whole"]
    sent = workbench(open_page("Inspect", replace(VIEW, doc=doc, at="3-9")))
    assert sent["whole"] and sent["texts"][sent["text"]]["place"]
    page = open_page("Inspect", replace(VIEW, doc=doc, at="90000-90010"))
    assert "90000-90010 is not in this text, which has" in page.warning[0].value
    page = open_page("Inspect", replace(VIEW, doc=doc, record=record))
    assert not page.error and "is not a record of this document" in page.warning[0].value


def test_guide_needs_no_corpus_and_scores_what_is_written() -> None:
    page = open_page("Guide")
    assert not page.error
    five = page.dataframe[0].value.set_index("criterion")
    assert list(five.index) == [*SCHEMAS, "muc"]
    assert five.loc["muc", ["COR", "INC", "PAR", "MIS", "SPU", "POS", "ACT"]].tolist() == [10, 5, 3, 2, 4, 20, 22]
    assert five.loc["muc", ["P", "R"]].tolist() == pytest.approx([0.5227, 0.5750], abs=5e-5)
    page.text_area[0].set_value("[a|X] b")
    sound(page.text_area[1].set_value("[a|Y] b").run())
    assert not page.error
    spans = page.dataframe[1].value.set_index("span")
    assert spans.loc["gold: a (X)", "strict"] == "≠ INC"
    assert spans.loc["gold: a (X)", "lenient"] == "✓ COR"


def test_the_six_cases_have_their_decisions_under_the_schemas_and_muc() -> None:
    names = (*SCHEMAS, "muc")
    scores = decide(SIX_CASES)
    cases = case_decisions(scores, names)
    assert [(words, *codes) for words, _, codes in cases] == [
        ("equal", "COR", "COR", "COR", "COR", "COR"),
        ("only the span is equal", "INC", "COR", "COR", "INC", "INC"),
        ("overlap, same type", "INC", "INC", "PAR", "COR", "PAR"),
        ("overlap, other type", "INC", "INC", "PAR", "INC", "INC"),
        ("missed", "MIS", "MIS", "MIS", "MIS", "MIS"),
        ("spurious", "SPU", "SPU", "SPU", "SPU", "SPU"),
    ]
    by_criterion = dict(zip(names, zip(*(codes for *_, codes in cases), strict=True), strict=True))
    assert [name for name, codes in by_criterion.items() if len(set(codes)) == 5] == ["muc"]
    for name, codes in by_criterion.items():
        counts = scores.counts(name)
        assert Counter(codes) == Counter({code: n for code in DECISIONS if (n := getattr(counts, code.lower()))}), (
            "every span of the text is one case"
        )
    html = str(next(part.proto.body for part in open_page("Guide").get("html") if "nvc-cases" in part.proto.body))
    body = html.partition("<tbody>")[2].partition("</tbody>")[0]
    rows = [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in body.split("</tr>") if row]
    assert rows == [[f"{LOOKS[code].glyph} {code}" for code in codes] for *_, codes in cases], "no row is empty"
    ratios = re.findall(r"<td>(.*?)</td>", html.partition("<tfoot>")[2])
    assert ratios == ["0.200", "0.400", "0.600", "0.400", "0.300"]


def test_no_table_of_the_guide_is_higher_than_its_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[tuple[int, Any]] = []
    draw = st.dataframe

    def measured(data: Any, **options: Any) -> Any:
        drawn.append((len(data), options["height"]))
        return draw(data, **options)

    monkeypatch.setattr(st, "dataframe", measured)
    page = open_page("Guide")
    sound(page.text_area[1].set_value("Give [one|X] [Aspirin|Drug] [tablet|X] with [water|X].").run())
    assert len(drawn) >= 6
    assert all(height in ("auto", "content") or height <= 35 * (rows + 1) + 3 for rows, height in drawn)


def test_guide_names_mistakes_in_the_marks() -> None:
    page = open_page("Guide")
    sound(page.text_area[0].set_value("[a|X b").run())
    assert "1 problem" in page.error[0].value
    assert page.code[0].value.startswith("gold:1: column 1: a bracket is never closed")
