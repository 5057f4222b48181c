"""Sentences to be read out: each number is what its link lists, and the words are those worked out by hand."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import streamlit as st

import nereval_core as nereval
from nereval_core.analysis.agreement.summary import agreement_sentences as agreement_in_words
from nereval_core.analysis.criteria.sensitivity import ranking_in_words, sensitivity
from nereval_core.analysis.sentences import (
    RecordCount,
    Sentence,
    confusion_sentence,
    errors_sentence,
    join_parts,
    overview_sentence,
    sentence_text,
)
from nereval_core.corpus import Corpus
from nereval_core.ledger import Ledger, ledger
from nereval_core.pairing import pair
from nereval_core.readers import Source, read
from nereval_core.records.queries import Query, in_documents
from nereval_core.scoring import score_layers
from nereval_core.scoring.criteria import CRITERIA
from pages.shared.components.links import Link, choose_part, sentence_data
from pages.shared.view import View
from pages.shared.view.keys import VIEW as VIEW_KEY
from pages.shared.view.link import read_link, write_link
from pages.shared.view.queries import query_of, view_of
from pages.shared.view.text import visible
from tests.support.other_formats import Demo
from tests.support.pages import VIEW, component_data, opened, sentence_links
from tests.support.workbench import listed

NAMES = ("strict", "partial", "type", "fragment")
ERRORS = query_of(View())


def held(records: Ledger, said: Sentence) -> list[RecordCount]:
    """Check that each number of a sentence is what its link lists; return the numbers."""
    counts = [part for part in said if isinstance(part, RecordCount)]
    for part in counts:
        view, wrong = read_link(write_link(view_of(View(), part.query)))
        assert not wrong
        assert records.total(query_of(view)).weight == part.number, sentence_text(said)
        assert part.text == f"{part.number:,}" or re.fullmatch(rf"{part.number:,} \(\d+%\)", part.text)
    return counts


@pytest.mark.parametrize("name", ["pharmacology", "biology", "newspapers"])
@pytest.mark.parametrize("criterion", NAMES)
def test_each_number_is_what_it_opens(name: str, criterion: str) -> None:
    there = Demo(name, NAMES)
    for system in ("rules", "annotator-2"):
        records = there.ledger(system, criterion)
        documents = len(there.gold.documents)
        counts = held(records, overview_sentence(records, "token" if criterion == "fragment" else "span"))
        scored = there.scores(system).counts(criterion)
        assert counts[0].number == scored.pos and scored.act in [part.number for part in counts]
        held(records, confusion_sentence(records, documents))
        held(records, confusion_sentence(records))
        for query in (ERRORS, Query(decision=("MIS",)), Query(decision=("SPU",)), Query(text="a"), Query(text="zzz")):
            held(records, errors_sentence(records, query, documents))


def made(*wrong: tuple[int, str]) -> Ledger:
    """Score 40 documents with a place in each; `wrong` says in how many another type is predicted, and which."""
    types = [kind for number, kind in wrong for _ in range(number)]
    rows = []
    for number in range(40):
        # Two errors in each of the first documents, one in those after.
        first, second = ("LOC", "LOC")
        if types:
            first = types.pop(0)
        if types and number < 3:
            second = types.pop(0)
        rows.append((number, first, second))
    gold = [spans(number, "LOC", "LOC") for number, _, _ in rows]
    pred = [spans(number, first, second) for number, first, second in rows]
    sides = (Source.of_uploads([("a.jsonl", "\n".join(side).encode())]) for side in (gold, pred))
    one, two = (read(side, format="jsonl") for side in sides)
    both = (one.layer, pair(one, two).layer)
    return ledger(score_layers(*both), "strict", both)


def spans(number: int, first: str, second: str) -> str:
    marks = [{"start": 0, "end": 4, "label": first}, {"start": 9, "end": 14, "label": second}]
    return json.dumps({"id": f"d,{number:02}%", "text": "Rome and Paris.", "spans": marks})


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ((), "No gold span is aligned with a prediction of another type."),
        (((1, "ORG"),), "Of 1 type error, 1 (100%) has ORG in place of LOC."),
        (
            ((9, "ORG"), (3, "PER")),
            "Of 12 type errors, 9 (75%) have ORG in place of LOC; 6 (67%) of them stand in 3 of 40 documents.",
        ),
        (
            ((2, "PER"), (5, "ORG")),
            "Of 7 type errors, 5 (71%) have ORG in place of LOC; 4 (80%) of them stand in 2 of 40 documents.",
        ),
        (((3, "ORG"), (2, "PER")), "Of 5 type errors, 3 (60%) have ORG in place of LOC."),
    ],
)
def test_confusions_worked_by_hand(wrong: tuple[tuple[int, str], ...], said: str) -> None:
    records = made(*wrong)
    found = confusion_sentence(records, 40)
    assert sentence_text(found) == said
    held(records, found)


def test_overview_and_errors_worked_by_hand() -> None:
    records = made((4, "ORG"))
    assert sentence_text(overview_sentence(records)) == (
        "Of 80 gold spans, 76 (95%) are correct and 4 (5%) are incorrect; of 80 predictions, 0 (0%) are spurious."
    )
    found = errors_sentence(records, ERRORS, 40)
    assert sentence_text(found) == "Of 4 records, 2 (50%) stand in document d,00%."
    held(records, found)
    assert errors_sentence(records, Query(text="zzz"), 40) == ()
    assert join_parts(("a", "b", RecordCount("1", Query(), 1), "c", "d")) == ("ab", RecordCount("1", Query(), 1), "cd")


@pytest.mark.parametrize(
    ("missed", "expected"),
    [
        ("AAB", "; the type missed most is A, 2 times."),
        ("AABB", "; the types missed most are A, 2 times and B, 2 times."),
        ("ABC", "; 3 types are missed most, among them A, 1 time and B, 1 time."),
    ],
)
def test_types_that_are_missed_as_often_are_all_told(missed: str, expected: str) -> None:
    gold = nereval.read_objects([[(place, place + 1, kind) for place, kind in enumerate(missed)]]).layer
    pred = replace(nereval.read_objects([[]]).layer, documents=gold.documents)
    found = overview_sentence(ledger(score_layers(gold, pred), "strict", (gold, pred)))
    assert sentence_text(found).endswith(expected)


def test_documents_and_types_can_be_asked_for() -> None:
    records = made((9, "ORG"))
    every = records.page(Query(), rows=1_000)
    ids = ["d,00%", "d,07%", "d,39%"]
    query = Query(having=(in_documents(ids),))
    assert records.page(query)["document"].tolist() == every[every["document"].isin(ids)]["document"].tolist()
    assert records.total(Query(having=(in_documents(["d", "00%"]),))).records == 0
    for value, differ in (("equal", False), ("differ", True)):
        both = every[(every["gold"] >= 0) & (every["pred"] >= 0)]
        found = records.page(Query(having=(("types", value),)), rows=1_000)
        assert (
            found.index.tolist()
            == both[(both["gold_type"].astype(str) != both["pred_type"].astype(str)) == differ].index.tolist()
        )
    assert records.attribute("types now") is None


def test_on_errors_itself_the_numbers_of_the_sentence_change_the_list(monkeypatch: pytest.MonkeyPatch) -> None:
    app = opened("Inspect", VIEW)
    (parts,) = (data["parts"] for data in component_data(app) if data.get("parts", [""])[0] == "Of ")
    *links, guide = (part for part in parts if not isinstance(part, str))
    assert guide["href"].startswith("/Guide?") and not guide["stays"]
    assert links and all(link["stays"] and link["href"].startswith("/Inspect?") for link in links)
    for label, view in sentence_links(app):
        assert not label[0].isdigit() or listed(opened("Inspect", view)) == leading_number(label)
    # What the browser sends is the place of the part; the session takes its view over.
    shown = replace(VIEW, type=("PROTEINAS",))
    session: dict[str, Any] = {"sentence": {"show": 1}}
    monkeypatch.setattr(st, "session_state", session)
    choose_part(["Of ", Link("2", "Inspect", shown), " records"], "sentence")
    assert session[VIEW_KEY] == shown


@pytest.mark.parametrize("page", ["Overview", "Confusion"])
def test_the_sentence_stands_on_the_page_and_its_numbers_are_links(page: str) -> None:
    app = opened(page, VIEW)
    records = Demo("pharmacology", NAMES).ledger("rules", "strict")
    numbers = [(label, view) for label, view in sentence_links(app) if label[0].isdigit()]
    assert numbers or page == "Confusion"
    for label, view in numbers:
        assert records.total(query_of(view)).records == leading_number(label), label


def test_texts_in_a_sentence_are_one_line_and_steer_no_writing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(st, "session_state", {})
    link = Link(visible("<b>\u202eevil\n", 40), "Inspect", VIEW)
    first, second = sentence_data([visible(" of\ttypes "), link])["parts"]
    assert first == " of types " and second["text"].startswith("<b>") and "\u202e" not in second["text"]
    assert len(visible("x" * 900, 400)) == 400 and visible(" \n ") == " "


def leading_number(label: str) -> int:
    return int(re.search(r"[\d,]+", label)[0].replace(",", ""))  # type: ignore[index]


def lines_of_agreement(*annotators: list[list[tuple[int, int, str]]]) -> tuple[str, ...]:
    found = nereval.agreement({f"a{place}": spans for place, spans in enumerate(annotators)}, resamples=100)
    return agreement_in_words(found, "strict")


def lines_of_sensitivity(gold: list[list[tuple[int, int, str]]], **systems: Any) -> tuple[str, ...]:
    first = nereval.read_objects(gold)
    layers = [
        replace(nereval.read_objects(spans).layer.renamed(name), documents=first.documents)
        for name, spans in systems.items()
    ]
    return ranking_in_words(
        sensitivity(Corpus("made", first.documents, first.layer, tuple(layers)), [CRITERIA["strict"]])
    )


def lines_of_errors(gold: list[list[tuple[int, int, str]]], pred: Any) -> tuple[str, ...]:
    return nereval.errors_of(gold, pred).words


NOTHING: list[list[tuple[int, int, str]]] = [[], []]
ONE = [[(0, 2, "X")], []]
OTHER = [[(3, 4, "X")], []]
TWO_TYPES = [[(0, 2, "X"), (5, 9, "Y")], []]


@pytest.mark.parametrize(
    ("lines", "there", "absent"),
    [
        (lambda: lines_of_agreement(NOTHING, NOTHING), "F1 under strict is undefined: no spans", "agree"),
        (lambda: lines_of_agreement(TWO_TYPES, TWO_TYPES), "agree with F1 1.000", "agree most on"),
        (lambda: lines_of_agreement(ONE, ONE, ONE), "agree with mean F1 1.000", "closest"),
        (lambda: lines_of_agreement(ONE, OTHER, NOTHING), "agree with mean F1 0.000", "closest"),
        (
            lambda: lines_of_sensitivity(NOTHING, a=NOTHING, b=NOTHING),
            "counting one-to-one: undefined",
            "change places",
        ),
        (lambda: lines_of_sensitivity(NOTHING, a=ONE, b=NOTHING), "one-to-one: a; undefined for b", "change places"),
        (lambda: lines_of_sensitivity(ONE, a=ONE, b=OTHER), "one-to-one: a, b", "undefined"),
        (lambda: lines_of_errors(NOTHING, NOTHING), "Nothing is scored under strict", "every span is correct"),
        (lambda: lines_of_errors(ONE, ONE), "There are no errors: every span is correct.", "Nothing"),
        (lambda: lines_of_errors(NOTHING, ONE), "Of 1 error, 1 (100%) is spurious", "to 0.0000"),
    ],
)
def test_what_is_undefined_or_level_is_no_most_and_no_least(
    lines: Callable[[], tuple[str, ...]], there: str, absent: str
) -> None:
    said = "\n".join(lines())
    assert there in said and absent not in said


def test_one_is_written_without_a_plural() -> None:
    gold = nereval.read_objects(ONE).layer
    assert sentence_text(overview_sentence(ledger(score_layers(gold, gold), "strict", (gold, gold)))) == (
        "Of 1 gold span, 1 (100%) is correct; of 1 prediction, 0 (0%) are spurious."
    )
