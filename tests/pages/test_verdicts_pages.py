"""Verdicts on Inspect: given, told of, taken back, counted, given to many, and refused with a reason."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs
from streamlit.testing.v1 import AppTest

from nereval_core.analysis.surface_forms import folded_forms
from nereval_core.corpus import Layer
from nereval_core.corpus.arrays import Int32
from nereval_core.ledger.attributes import own_facts
from nereval_core.readers import Source
from nereval_core.review.layer_words import LayerWords
from nereval_core.review.standing_verdicts import Reviewed
from nereval_core.review.store import ReviewStore
from nereval_core.review.verdicts import KINDS, NOTE_CHARACTERS, Draft, Marked, given_in_words
from nereval_core.tables.glossary import DECISIONS
from nereval_core.writers import write
from pages.shared.data import caches, verdict_store
from pages.shared.data.loading import DEMOS, load
from pages.shared.inspect.workbench import KEY
from pages.shared.server import access
from pages.shared.verdicts import list as verdicts_list
from pages.shared.view import MASKED, View, keys
from pages.shared.view.link import read_link
from tests.support.pages import (
    DEMO,
    VIEW,
    address,
    choose,
    headings,
    opened,
    sentence_links,
    sentences,
    sound,
    start_afresh,
)
from tests.support.workbench import act, card, choose_facet, facets, listed, sent_by, span_words, workbench

BOB = {keys.REVIEWER: "Bob"}
ANN = {keys.REVIEWER: "Ann"}


@pytest.fixture(autouse=True)
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ReviewStore]:
    """A store that no other test writes to."""
    monkeypatch.setenv("NEREVAL_REVIEW_URL", f"sqlite:///{tmp_path}/review.sqlite")
    verdict_store._kept.cache_clear()
    found = ReviewStore(tmp_path / "review.sqlite")
    yield found
    found.close()
    verdict_store._kept.cache_clear()


def press(app: AppTest, name: str) -> AppTest:
    """Press a key of the workbench, or the button of the page whose key begins so."""
    if name in ("over", "leave"):
        return act(app, name, value=workbench(app)["verdicts"]["conflicts"][0]["id"])
    if name in (*KINDS, "j", "k", "undo", "star"):
        return act(app, name)
    (button,) = [one for one in app.button if one.key and re.fullmatch(f"{keys.VERDICT}{name}(_[0-9a-f]+)?", one.key)]
    return sound(button.click().run())


def said(app: AppTest) -> str:
    """Return what a page says as one text, without the marks of Markdown."""
    every = [one.value for one in (*app.markdown, *app.caption, *app.warning, *app.error, *app.code)]
    bar = workbench(app)["verdicts"]
    told = [message for message in (bar.get("said"), *bar.get("conflicts", ())) if message]
    lines = [line for message in told for line in (message["text"], *message["lines"])]
    stands = [one.get("stands", "") for one in workbench(app)["cards"].values()]
    return "\n".join([*every, bar["reason"], *lines, *stands]).replace("\\", "").replace("\u2060", "")


def stands(app: AppTest) -> str:
    return str(card(app)["stands"])


def verdicts(app: AppTest) -> list[str]:
    """Return the verdicts of the records in the queue."""
    return [entry[6] for entry in workbench(app)["entries"]]


def progress(app: AppTest) -> str:
    return next(sentence for sentence in sentences(app) if " reviewed" in sentence)


def kinds(reviewed: Reviewed) -> list[str]:
    return [one.verdict.kind for one in reviewed.standing]


def first(who: dict[str, str], view: View = VIEW) -> AppTest:
    """Open the page; its first record is open at once."""
    return opened("Inspect", view, **who)


THERE = replace(VIEW, doc="en-01", record="g:133-143:PROTEINAS")


@pytest.mark.parametrize("view", [VIEW, THERE, replace(THERE, layout=("whole-document",))])
def test_a_verdict_is_kept_with_its_note_and_the_next_record_is_chosen(view: View, store: ReviewStore) -> None:
    app = act(first(ANN, view), "gold", note="the suffix counts")
    (one,) = store.every()
    assert (one.who, one.verdict.kind, one.verdict.note) == ("Ann", "gold", "the suffix counts")
    assert one.verdict.seen.quote == "troponin I" and one.verdict.partner is not None
    assert "Kept as Ann: gold is right, of 'troponin I'. u takes it back." in said(app)
    assert card(app)["note"] == ""
    app = press(app, "pred")
    assert [one.verdict.seen.quote for one in store.every()] == ["troponin I", "Antibodies"]
    assert verdicts(app)[:3] == ["gold · Ann", "prediction · Ann", None]
    assert "2 of 60 reviewed" in progress(app)


def test_a_list_of_one_document_stays_so_while_its_records_are_gone_through(store: ReviewStore) -> None:
    app = first(ANN, View(corpus=VIEW.corpus, system=VIEW.system, inspect_tab="records", doc="en-01"))
    records = listed(app)
    app = act(app, "j")
    assert listed(app) == records < listed(first(ANN)) and address(app)["record"]
    app = act(act(app, "gold"), "j")
    assert listed(app) == records and {entry[0] for entry in workbench(app)["entries"]} == {"en-01"}


def test_events_are_applied_once_and_in_order(store: ReviewStore) -> None:
    """What is not acknowledged is sent again: nothing is given twice, and what comes later counts."""
    app = first(ANN)
    names = [entry[:2] for entry in workbench(app)["entries"][:3]]
    events = [
        {"seq": 1, "act": "verdict", "doc": names[0][0], "record": names[0][1], "kind": "gold"},
        {"seq": 2, "act": "verdict", "doc": names[0][0], "record": names[0][1], "kind": "pred"},
        {"seq": 3, "act": "verdict", "doc": names[1][0], "record": names[1][1], "kind": "both"},
    ]
    for size in (2, 3, 3):
        app.session_state[KEY] = {"out": {"mount": "t", "at": [*names[2], 2], "events": events[:size]}}
        app = sound(app.run())
    assert [one.verdict.kind for one in store.every()] == ["gold", "pred", "both"]
    assert (workbench(app)["seen"], workbench(app)["mount"], workbench(app)["at"]) == (3, "t", 2)


@pytest.mark.parametrize("view", [VIEW, THERE])
def test_u_takes_back_the_last_verdict_and_goes_back_to_it(view: View, store: ReviewStore) -> None:
    app = press(press(first(ANN, view), "gold"), "undo")
    assert not store.reviewed().standing and "Taken back: the last verdict of Ann, of 'troponin I'." in said(app)
    app = press(app, "both")
    assert [one.verdict.seen.quote for one in store.reviewed().standing] == ["troponin I"]
    # A verdict has one name, on its button and in words.
    bar = workbench(app)["verdicts"]
    assert bar["labels"][2] == "both" and "both are right" in said(app)
    assert "no verdict of Bob to take back here" in said(press(first(BOB), "undo"))


def test_a_verdict_that_replaces_one_says_whose_and_when_and_u_brings_it_back(store: ReviewStore) -> None:
    bob = act(first(BOB), "gold", note="as in the guideline")
    at = store.every()[0].at[:16].replace("T", " ")
    ann = first(ANN, THERE)
    told = f"1 record of this list was decided before, the last by Bob on {at}: a verdict belongs to text and span"
    assert told in said(ann) and told not in said(bob)
    ann = press(ann, "pred")
    assert len(store.every()) == 1 and "first on 'troponin I' in en-01. Yours is not kept yet: prediction" in said(ann)
    ann = press(ann, "over")
    theirs = f"gold is right, Bob on {at} — as in the guideline"
    assert f"Kept as Ann: prediction is right, of 'troponin I'. It replaces: {theirs}; u brings that back." in said(ann)
    ann = press(ann, "undo")
    assert f"Taken back: the last verdict of Ann, of 'troponin I'. Again stands: {theirs}." in said(ann)
    assert [(one.who, one.verdict.kind) for one in store.reviewed().standing] == [("Bob", "gold")]
    # A list is told of what it shows, and nobody of verdicts of their own.
    for who, view in ((ANN, replace(VIEW, q="has:verdict=none")), (ANN, replace(VIEW, gold=("",))), (BOB, VIEW)):
        assert "decided before" not in said(first(who, view))
    # It is said once, and of what is decided for the first time nothing.
    ann = press(press(ann, "j"), "pred")
    assert "Kept as Ann" in said(ann) and "replaces" not in said(ann) and told not in said(ann)


def test_what_was_decided_before_is_told_of_the_list_as_it_is_narrowed_down(store: ReviewStore) -> None:
    press(press(first(BOB), "gold"), "gold")
    app = first(ANN)
    assert "2 records of this list were decided before" in said(app)
    for value, told in (("NORMALIZABLES", "No record of this list was"), (None, "2 records of this list were")):
        app = choose_facet(app, "Gold type", value)
        assert told in said(app)


def test_next_opens_the_next_record_without_a_verdict_wherever_it_is(store: ReviewStore) -> None:
    app = first(ANN)
    names = [entry[:2] for entry in workbench(app)["entries"]]
    app = press(press(press(app, "gold"), "gold"), "gold")
    for number, opened_number in ((0, 3), (3, 4), (59, 3)):
        doc, record = names[number]
        last = app.session_state[keys.EVENTS][KEY].last
        event = {"seq": last + 1, "act": "next", "doc": doc, "record": record, "value": number}
        app.session_state[KEY] = {"out": {"mount": "test", "at": [doc, record, number], "events": [event]}}
        app = sound(app.run())
        assert workbench(app)["open"] == names[opened_number] and workbench(app)["at"] == opened_number
    # A list of what is open no longer has the record that was decided.
    app = press(first(ANN, replace(VIEW, q="has:verdict=none")), "j")
    doc, record = workbench(app)["open"]
    last = app.session_state[keys.EVENTS][KEY].last
    about = {"doc": doc, "record": record}
    events = [
        {"seq": last + 1, "act": "verdict", "kind": "gold", "version": 0, **about},
        {"seq": last + 2, "act": "next", "value": 1, **about},
    ]
    app.session_state[KEY] = {"out": {"mount": "test", "at": [doc, record, 1], "events": events}}
    assert workbench(sound(app.run()))["open"] == names[5]


def test_on_a_server_for_others_u_takes_back_verdicts_on_the_open_corpus_alone(
    store: ReviewStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = press(first(ANN), "gold")
    (one,) = store.every()
    elsewhere = structs.replace(one.verdict.key, text="0" * 64)
    other = structs.replace(one.verdict, key=elsewhere, seen=structs.replace(one.verdict.seen, quote="zq"))
    (theirs,) = store.give([Draft(other)], "Ann")
    monkeypatch.setattr(access, "LOOPBACK", ())
    verdict_store._kept.cache_clear()
    app = press(app, "undo")
    assert "Taken back: the last verdict of Ann, of 'troponin I'." in said(app)
    app = press(app, "undo")
    assert "There is no verdict of Ann to take back here." in said(app) and "zq" not in said(app)
    assert store.reviewed().standing == (theirs,)


def test_u_leaves_verdicts_on_other_texts_and_layers_alone(store: ReviewStore) -> None:
    press(first(ANN), "gold")
    (one,) = store.every()
    span = Marked(((131, 143),), "PROTEINAS")
    # The second is on a span of the same text that neither of the two layers has.
    others = [
        structs.replace(one.verdict, key=structs.replace(one.verdict.key, text="0" * 64)),
        structs.replace(one.verdict, key=structs.replace(one.verdict.key, span=span)),
    ]
    theirs = store.give([Draft(other) for other in others], "Ann")
    biology = caches.demo("biology").corpus
    app = press(first(ANN, View(corpus=biology.digest, system=biology.systems[0].name)), "undo")
    assert "There is no verdict of Ann to take back here." in said(app) and "troponin" not in said(app)
    assert len(store.every()) == 3
    app = press(press(first(ANN), "undo"), "undo")
    assert "There is no verdict of Ann to take back here." in said(app)
    assert store.reviewed().standing == theirs


def test_u_leaves_a_verdict_that_waits_on_another_system_alone(store: ReviewStore) -> None:
    app = press(act(press(first({}), "pred"), "system", value="perceptron"), "undo")
    assert workbench(app)["verdicts"]["waiting"] == 1 and "no name was given yet" in said(app)


def test_u_counts_again_where_the_workbench_is_mounted_anew(store: ReviewStore) -> None:
    app = press(press(first(ANN), "gold"), "gold")
    for mount, left in (("one", 1), ("two", 0)):
        app.session_state[KEY] = {"out": sent_by(workbench(app), "undo", last=0, mount=mount)}
        app = sound(app.run())
        assert len(store.reviewed()) == left


def test_verdicts_outlive_the_server(store: ReviewStore) -> None:
    press(press(first(ANN), "gold"), "both")
    verdict_store._kept.cache_clear()
    app = opened("Inspect", VIEW)
    assert verdicts(app)[:2] == ["gold · Ann", "both · Ann"]
    app = opened("Inspect", replace(VIEW, system="perceptron", criterion="lenient", decision=DECISIONS))
    assert re.match(r"[12] of", progress(app))


def test_masked_pages_say_nothing_of_the_text_that_a_verdict_quotes(store: ReviewStore) -> None:
    act(first(ANN), "gold", note="as in troponin T")
    app = act(first(ANN, replace(VIEW, mask=MASKED)), "jump", value=0)
    assert "Stands: gold is right, Ann on" in stands(app) and card(app)["note"] == ""
    app = press(app, "pred")
    assert "Kept as Ann: prediction is right, of 'xxxxxxxx X'" in said(app)
    app = act(press(app, "k"), "neither", right=[span(133, 141, "PROTEINAS")])
    words = [*(option for one in app.selectbox for option in one.options), *(one.label for one in app.button)]
    assert "troponin" not in said(app) + " ".join(words) + repr(workbench(app))


def test_all_records_of_a_form_are_one_click_away(store: ReviewStore, monkeypatch: pytest.MonkeyPatch) -> None:
    folded: list[str] = []

    def fold(layer: Layer) -> tuple[Int32, Mapping[str, int]]:
        folded.append(layer.name)
        return folded_forms(layer)

    monkeypatch.setattr(own_facts, "folded_forms", fold)
    start_afresh()
    app = first(ANN, replace(VIEW, q="antibodies", decision=()))
    # The forms of all spans take seconds at a million: they are made when the list is asked for.
    assert not folded
    app = press(app, "form")
    assert folded and address(app)["q"] == "antibodies has:form=antibodies" and listed(app) > 1


def test_without_auto_advance_the_record_stays(store: ReviewStore) -> None:
    app = first({**ANN, f"{keys.WIDGET}more": True})
    app = sound(app.toggle(key=f"{keys.VERDICT}on").set_value(False).run())
    app = press(press(app, "gold"), "pred")
    assert [one.version for one in store.every()] == [1, 2]
    assert "Stands: prediction is right, Ann on" in stands(app)


def test_verdicts_wait_for_a_name_which_is_asked_for_once(store: ReviewStore, monkeypatch: pytest.MonkeyPatch) -> None:
    app = press(press(press(first({}), "gold"), "both"), "unclear")
    data = workbench(app)
    assert not store.every() and data["verdicts"]["waiting"] == 3 and data["verdicts"]["who"] == ""
    # What waits is shown as decided, and undo takes it back.
    assert verdicts(app)[:4] == ["gold", "both", "unclear", None] and data["reviewed"]
    app = press(app, "undo")
    assert workbench(app)["verdicts"]["waiting"] == 2 and workbench(app)["open"] == workbench(app)["entries"][2][:2]
    app = act(app, "name", value="  Ann ")
    assert [(one.who, one.verdict.kind) for one in store.every()] == [("Ann", "gold"), ("Ann", "both")]
    data = workbench(app)["verdicts"]
    assert (data["waiting"], data["who"]) == (0, "Ann")
    # Another browser is not offered the name of whoever gave the last verdict.
    assert "Ann" not in workbench(first({}))["verdicts"].values()
    monkeypatch.setenv("NEREVAL_REVIEWER", "Eve")
    assert "Kept as Eve" in said(press(first({}), "pred"))


def test_verdicts_that_are_sent_again_to_another_session_are_given_once(store: ReviewStore) -> None:
    app = press(press(first({}), "gold"), "both")
    resent = workbench(app)["waiting"]
    assert [event["kind"] for event in resent] == ["gold", "both"]
    # After a reload they wait again.
    again = sent_again(first({}), resent)
    assert workbench(again)["verdicts"]["waiting"] == 2 and verdicts(again)[:3] == ["gold", "both", None]
    assert workbench(again)["session"] != workbench(app)["session"]
    app = act(app, "name", value="Ann")
    assert [one.verdict.kind for one in store.every()] == ["gold", "both"]
    # Answered by then, and one taken back: neither the name nor another message gives them anew.
    app = press(app, "undo")
    stored = store.every()
    act(again, "name", value="Ann")
    sent_again(first(ANN), resent)
    assert store.every() == stored and len(store.reviewed()) == 1


@pytest.mark.parametrize(
    ("typed", "line"), [("An\u202en", "no invisible characters; this one has U+202E"), (" ", "Type a name")]
)
def test_a_name_that_no_verdict_can_bear_is_refused_in_words(typed: str, line: str, store: ReviewStore) -> None:
    app = act(press(first({}), "gold"), "name", value=typed)
    assert not store.every() and line in said(app) and workbench(app)["verdicts"]["waiting"] == 1


@pytest.mark.parametrize("view", [VIEW, THERE])
def test_the_second_of_two_is_told(view: View, store: ReviewStore) -> None:
    bob = first(BOB, view)
    press(first(ANN, view), "pred")
    before = workbench(bob)["cards"]["en-01\ng:133-143:PROTEINAS"]["version"]
    assert before == 0
    bob = act(bob, "gold", note="I do not think so")
    assert len(store.every()) == 1
    assert re.search(r"Ann on \d{4}-\d\d-\d\d \d\d:\d\d: 'troponin I' prediction is right", said(bob))
    assert "Somebody was first on 'troponin I' in en-01. Yours is not kept yet: gold is right" in said(bob)
    # The next record stays open, and its verdict is its own.
    is_next = workbench(bob)["open"] == workbench(bob)["entries"][1][:2]
    assert is_next and "was first on 'troponin I'" in said(press(bob, "j"))
    bob = press(bob, "over")
    assert [(one.who, one.version, one.verdict.note) for one in store.every()] == [
        ("Ann", 1, ""),
        ("Bob", 2, "I do not think so"),
    ]
    assert "was first" not in said(bob)


def sent_again(app: AppTest, events: list[dict[str, Any]]) -> AppTest:
    """Send events as a tab does after a reload."""
    resent = [event | {"seq": seq} for seq, event in enumerate(events, 1)]
    app.session_state[KEY] = {"out": {"mount": "again", "at": workbench(app)["open"] + [0], "events": resent}}
    return sound(app.run())


def test_whose_verdict_counts_is_asked_again_after_a_reload_until_it_is_answered(store: ReviewStore) -> None:
    bob = first(BOB)
    press(first(ANN), "pred")
    bob = act(bob, "gold", note="mine")
    (question,) = workbench(bob)["verdicts"]["conflicts"]
    again = sent_again(first(BOB), [question["event"]])
    assert [each["text"] for each in workbench(again)["verdicts"]["conflicts"]] == [question["text"]]
    # Of another system it is not sent along: there it would be about other records.
    other = act(again, "system", value="perceptron")
    assert [each["event"] for each in workbench(other)["verdicts"]["conflicts"]] == [None]
    again = press(other, "over")
    assert [(one.who, one.verdict.kind, one.verdict.note) for one in store.every()] == [
        ("Ann", "pred", ""),
        ("Bob", "gold", "mine"),
    ]
    # Once it is answered, a tab that sends it again changes nothing.
    sent_again(first(BOB), [question["event"]])
    assert len(store.every()) == 2


def test_a_verdict_that_waits_for_a_name_is_of_the_system_that_was_read(store: ReviewStore) -> None:
    app = press(press(first({}), "j"), "pred")
    (waiting,) = workbench(app)["waiting"]
    app = act(app, "system", value="perceptron")
    assert not workbench(app)["waiting"] and workbench(app)["verdicts"]["waiting"] == 1
    assert not any(verdicts(app))
    names = [f"rules in {DEMO.corpus.name}"]
    assert workbench(app)["verdicts"]["elsewhere"] == {"number": 1, "names": names}
    app = act(app, "name", value="Ann")
    (one,) = store.every()
    # The tab still has it among those of the other system: there it is told that it is kept.
    assert workbench(app)["answered"] == [] and workbench(app)["verdicts"]["elsewhere"]["number"] == 0
    assert workbench(act(app, "system", value="rules"))["answered"] == [list(waiting["origin"])]
    partner = opened("Inspect", replace(VIEW, doc=waiting["doc"], record=waiting["record"]), **ANN)
    sides = card(partner)["sides"]
    mark = one.verdict.partner if sides["pred"] and sides["gold"] else one.verdict.key.span
    assert mark is not None and mark.type == sides["pred"]["type"]
    assert [list(fragment) for fragment in mark.fragments] == [list(each) for each in sides["pred"]["fragments"]]


def test_whoever_goes_on_after_a_verdict_passes_what_others_have_decided_since(store: ReviewStore) -> None:
    bob = first(BOB)
    names = [entry[:2] for entry in workbench(bob)["entries"]]
    press(press(first(ANN), "gold"), "gold")
    # The list that Bob's browser goes on by does not have Ann's verdicts.
    bob = press(bob, "unclear")
    assert workbench(bob)["open"] == names[2] and "was first on 'troponin I'" in said(bob)
    # Where all are decided it stays where the browser is.
    view = replace(THERE, q="has:verdict=gold")
    bob = press(first(BOB, view), "unclear")
    assert listed(bob) == 2 and workbench(bob)["open"] == names[1]


def test_theirs_may_be_left(store: ReviewStore) -> None:
    bob = first(BOB)
    press(first(ANN), "pred")
    bob = press(press(bob, "gold"), "leave")
    assert "was first" not in said(bob) and kinds(store.reviewed()) == ["pred"]
    assert "Stands: prediction is right, Ann on" in said(bob)


def test_a_key_after_a_conflict_is_for_the_open_record(store: ReviewStore) -> None:
    bob = first(BOB)
    press(first(ANN), "pred")
    bob = press(press(bob, "gold"), "unclear")
    assert [(one.who, one.verdict.seen.quote) for one in store.every()] == [
        ("Ann", "troponin I"),
        ("Bob", "Antibodies"),
    ]
    assert "was first on 'troponin I'" in said(bob) and "Kept as Bob: guideline unclear" in said(bob)


def test_each_of_the_waiting_verdicts_that_others_came_before_is_asked_about(store: ReviewStore) -> None:
    bob = press(press(press(first({}), "gold"), "both"), "gold")
    names = [entry[:2] for entry in workbench(bob)["entries"]]
    ann = first(ANN)
    for kind in ("unclear", "pred"):
        ann = press(ann, kind)
    bob = act(bob, "name", value="Bob")
    assert [(one.who, one.verdict.kind) for one in store.every()] == [
        ("Ann", "unclear"),
        ("Ann", "pred"),
        ("Bob", "gold"),
    ]
    questions = [each["text"] for each in workbench(bob)["verdicts"]["conflicts"]]
    assert [re.findall(r"first on '(.*?)'", text) for text in questions] == [["troponin I"], ["Antibodies"]]
    assert workbench(bob)["open"] == names[3]
    bob = press(press(bob, "over"), "leave")
    assert [(one.who, one.verdict.kind) for one in store.every()[3:]] == [("Bob", "gold")]
    assert sorted(kinds(store.reviewed())) == ["gold", "gold", "pred"]
    assert "was first" not in said(bob) and workbench(bob)["open"] == names[3]


def test_two_verdicts_on_a_record_at_once_do_not_replace_one_that_nobody_had_seen(store: ReviewStore) -> None:
    bob = first(BOB)
    doc, record = workbench(bob)["open"]
    press(first(ANN), "pred")
    events = [{"seq": 1, "act": "verdict", "doc": doc, "record": record, "kind": "gold", "version": 0}]
    events.append({"seq": 2, "act": "verdict", "doc": doc, "record": record, "kind": "both"})
    bob.session_state[KEY] = {"out": {"mount": "t", "at": [doc, record, 0], "events": events}}
    bob = sound(bob.run())
    assert [one.who for one in store.every()] == ["Ann"] and "not kept yet: both are right" in said(bob)
    assert len(workbench(bob)["verdicts"]["conflicts"]) == 1


def test_whoever_comes_before_the_answer_is_asked_about_too(store: ReviewStore) -> None:
    bob, eve = first(BOB), first({keys.REVIEWER: "Eve"}, THERE)
    press(first(ANN), "pred")
    bob = press(bob, "gold")
    press(press(eve, "unclear"), "over")
    assert "Ann on" in said(bob) and "Eve on" not in said(bob)
    bob = press(bob, "over")
    assert [one.who for one in store.every()] == ["Ann", "Eve"] and "Eve on" in said(bob)
    press(bob, "over")
    assert [one.who for one in store.every()] == ["Ann", "Eve", "Bob"]


@pytest.mark.parametrize("sees_it", [False, True], ids=["unseen", "seen"])
def test_a_verdict_that_was_taken_back_is_neither_asked_about_again_nor_replaced(
    sees_it: bool, store: ReviewStore
) -> None:
    """Whether the reviewer was asked whose verdict counts, or saw it stand and decided on."""
    bob = first(BOB)
    ann = press(first(ANN), "pred")
    if sees_it:
        bob = first(BOB, THERE)
        press(ann, "undo")
        bob = press(bob, "gold")
    else:
        bob = press(bob, "gold")
        press(ann, "undo")
        bob = press(bob, "over")
    assert not workbench(bob)["verdicts"]["conflicts"]
    assert "Kept as Bob: gold is right, of 'troponin I'. u takes it back." in said(bob)
    assert [(one.who, one.verdict.kind) for one in store.reviewed().standing] == [("Bob", "gold")]


def test_the_same_verdict_again_replaces_none(store: ReviewStore) -> None:
    app = press(press(press(first(ANN), "gold"), "k"), "gold")
    assert "Kept as Ann" in said(app) and "It replaces" not in said(app)


def span(start: int, end: int, name: str, *, is_new: bool = False) -> dict[str, object]:
    """Return a span as the editor in the text sends it."""
    return {"fragments": [[start, end]], "type": name, "isNew": is_new}


def test_spans_of_the_editor_are_kept_and_shown_in_queue_and_text(store: ReviewStore) -> None:
    apart = {"fragments": [[133, 141], [142, 143]], "type": "NORMALIZABLES", "isNew": False}
    app = act(first(ANN), "neither", right=[apart, span(133, 141, "NO_NORMALIZABLES"), apart])
    (one,) = store.every()
    assert one.verdict.kind == "neither" and one.verdict.right == (
        Marked(((133, 141),), "NO_NORMALIZABLES"),
        Marked(((133, 141), (142, 143)), "NORMALIZABLES"),
    )
    data = workbench(app)
    assert data["entries"][0][7] == "troponin NO_NORMALIZABLES, troponin I NORMALIZABLES"
    (spans,) = data["corrected"].values()
    assert spans == [
        {name: value for name, value in right.items() if name != "isNew"}
        for right in (
            span(133, 141, "NO_NORMALIZABLES"),
            apart,
        )
    ]
    assert verdicts(app)[0] == "neither · Ann" and "1 of 60 reviewed" in progress(app)
    app = act(press(app, "k"), "neither")
    assert store.every()[-1].verdict.right == () and "right is no entity" in said(app)
    assert workbench(app)["corrected"] == {} and workbench(app)["entries"][0][7] == ""


def test_the_editor_begins_with_the_spans_as_annotated(store: ReviewStore) -> None:
    app = first(ANN, replace(VIEW, merge=(("PROTEINAS", "Any"), ("NORMALIZABLES", "Any"))))
    sides = card(app)["sides"]
    assert sides["gold"] == {"fragments": [[133, 143]], "type": "PROTEINAS"}
    assert sides["pred"] == {"fragments": [[133, 141]], "type": "PROTEINAS"}
    assert "PROTEINAS" in workbench(app)["verdicts"]["types"]


@pytest.mark.parametrize(
    ("right", "finding"),
    [
        ([span(133, 100_000, "PROTEINAS")], "outside of a text"),
        ([span(-1, 3, "PROTEINAS")], "outside of a text"),
        ([span(133, 133, "PROTEINAS")], "an empty span"),
        ([{"fragments": [[140, 143], [133, 135]], "type": "PROTEINAS"}], "fragments out of order"),
        ([{"fragments": [], "type": "PROTEINAS"}], "an empty span"),
        ([span(133, 141, "ype")], "there is no type 'ype'"),
        ([span(133, 141, "", is_new=True)], "a span without a type"),
        ([{"fragments": [["133", 141]], "type": "PROTEINAS"}], "not a span"),
        ({"fragments": []}, "not a span"),
        (["x"], "not a span"),
    ],
)
def test_spans_that_no_editor_gives_are_not_kept(right: object, finding: str, store: ReviewStore) -> None:
    app = act(first(ANN), "neither", right=right)
    assert not store.every() and finding in said(app) and "Not kept." in said(app)
    # Back at the record that it was about.
    assert workbench(app)["at"] == 0


def test_a_new_type_is_one_of_the_types_from_then_on(store: ReviewStore) -> None:
    app = act(first(ANN), "neither", right=[span(133, 141, "enzyme", is_new=True)])
    assert "enzyme" in workbench(app)["verdicts"]["types"]
    app = act(first(BOB), "neither", right=[span(133, 143, "enzyme")])
    assert [one.who for one in store.every()] == ["Ann", "Bob"]


def test_types_of_stale_verdicts_are_not_offered(store: ReviewStore) -> None:
    act(first(ANN), "neither", right=[span(133, 141, "enzyme", is_new=True)])
    own = store.every()[-1].verdict
    key = structs.replace(own.key, span=Marked(((133, 142),), "of another corpus"))
    right = (Marked(((133, 142),), "alien"),)
    store.give([Draft(structs.replace(own, key=key, right=right), 0)], "Ann")
    verdict_store.refresh()
    types = workbench(first(ANN))["verdicts"]["types"]
    assert "enzyme" in types and not {"alien", "of another corpus"} & {*types}


CHEST = {"fragments": [[40, 50]], "type": "PROTEINAS"}


def entity(app: AppTest, right: list[dict[str, object]], **more: object) -> AppTest:
    return act(app, "entity", span=CHEST, right=right, **more)


def in_brat(folder: Path) -> View:
    """Return a view of the demo as it is read from brat's files."""
    for name in ("gold", "rules"):
        layer = DEMO.corpus.gold if name == "gold" else DEMO.corpus.system(name)
        write(layer, folder / name, format="brat", lossy=True)
    loaded = load("brat", Source.of_path(folder / "gold"), {"rules": Source.of_path(folder / "rules")})
    caches.shelf().put(loaded)
    return replace(THERE, corpus=loaded.digest)


def test_a_second_boundary_that_the_finished_file_cannot_hold_is_said_at_once(
    store: ReviewStore, tmp_path: Path
) -> None:
    there = in_brat(tmp_path)
    line = "A file in brat has no place for second boundaries: choose jsonl at Finish to keep them."
    meanings = [line in meaning for meaning in card(first(ANN, there))["meanings"]]
    assert meanings == [False, False, True, False, False]
    assert line in said(act(first(ANN, there), "both")) and line not in said(act(first(BOB), "both"))


def test_a_new_type_with_a_blank_is_refused_where_gold_came_as_brat(store: ReviewStore, tmp_path: Path) -> None:
    """Finish writes the format that was read, and brat's lines end a type at a blank."""
    there = in_brat(tmp_path)
    app = act(first(ANN, there), "neither", right=[{**span(133, 141, "zz top"), "isNew": True}])
    line = "the new type 'zz top' has a blank in it, which brat's files cannot hold; call it 'zz_top'"
    assert not store.every() and line in said(app)
    act(app, "neither", right=[{**span(133, 141, "zz_top"), "isNew": True}])
    act(first(ANN), "neither", right=[{**span(133, 141, "zz top"), "isNew": True}])
    assert [one.verdict.right[0].type for one in store.every()] == ["zz_top", "zz top"]


def test_an_entity_that_nobody_had_marked_is_kept_changed_and_taken_out(store: ReviewStore) -> None:
    app = entity(first(ANN), [CHEST | {"isNew": False}])
    (one,) = store.every()
    assert one.verdict.key.side == "none" and one.verdict.right == (Marked(((40, 50),), "PROTEINAS"),)
    assert "Kept as Ann: 'chest pain', an entity that nobody had marked." in said(app)
    # The reader stays at the record, and no record has a verdict.
    assert workbench(app)["at"] == 0 and set(verdicts(app)) == {None} and "0 of 60 reviewed" in progress(app)
    (kept,) = workbench(app)["entities"]
    assert kept == {"doc": "en-01", "span": CHEST, "right": [CHEST], "version": 1, "who": "Ann"}
    app = entity(app, [CHEST | {"type": "symptom", "isNew": True}], version=1)
    assert workbench(app)["entities"][0]["right"] == [CHEST | {"type": "symptom"}]
    assert "symptom" in workbench(app)["verdicts"]["types"]
    app = entity(app, [], version=2)
    assert workbench(app)["entities"] == [] and store.every()[-1].verdict.kind == "withdrawn"
    app = press(app, "undo")
    assert workbench(app)["entities"][0]["right"] == [CHEST | {"type": "symptom"}] and workbench(app)["at"] == 0


def test_undo_of_an_entity_leaves_the_reader_where_he_is(store: ReviewStore) -> None:
    app = press(entity(press(first(ANN), "j"), [CHEST]), "undo")
    assert workbench(app)["at"] == 1 and workbench(app)["entities"] == []


def test_an_entity_that_somebody_has_changed_meanwhile_is_not_written_over(store: ReviewStore) -> None:
    bob = first(BOB)
    entity(first(ANN), [CHEST])
    bob = entity(bob, [CHEST | {"type": "NORMALIZABLES"}], version=0)
    assert [one.who for one in store.every()] == ["Ann"] and "was first" in said(bob)


@pytest.mark.parametrize(("start", "end", "name"), [(40, 100_000, "PROTEINAS"), (40, 50, "ype"), (50, 40, "PROTEINAS")])
def test_an_entity_that_no_editor_gives_is_not_kept(start: int, end: int, name: str, store: ReviewStore) -> None:
    assert "Not kept." in said(entity(first(ANN), [span(start, end, name)])) and not store.every()


def test_masked_pages_quote_no_entity(store: ReviewStore) -> None:
    app = entity(first(ANN, replace(VIEW, mask=MASKED)), [CHEST])
    assert len(workbench(app)["entities"]) == 1 and "chest" not in said(app) + repr(workbench(app))


def test_spans_wait_for_the_name_of_their_reviewer(store: ReviewStore) -> None:
    app = act(opened("Inspect", VIEW), "neither", right=[span(133, 141, "NORMALIZABLES")])
    assert not store.every()
    app.session_state[keys.REVIEWER] = "Ann"
    sound(app.run())
    (one,) = store.every()
    assert one.verdict.right == (Marked(((133, 141),), "NORMALIZABLES"),)


def test_every_value_of_a_facet_lists_as_many_records_as_it_says(store: ReviewStore) -> None:
    app = first(ANN)
    for kind in ("gold", "pred", "unclear", "gold"):
        app = press(app, kind)
    app = act(app, "both", note="a note")
    app = act(first(BOB, replace(VIEW, order="longest")), "jump", value=0)
    # It goes over Ann's third, so that none of her verdicts is unclear any more.
    app = press(app, "gold")
    seen = 0
    for facet, values in (("verdict", (*KINDS, "none")), ("reviewer", ("Ann", "Bob")), ("noted", ("yes",))):
        for value in values:
            app = opened("Inspect", VIEW)
            label = verdicts_list.FACETS[facet]
            numbers = {row[0]: row[2] for row in facets(app)[label]["values"]}
            if value in numbers:
                assert listed(choose_facet(app, label, value)) == numbers[value]
                seen += 1
    assert seen == 4 + 2 + 1
    numbers = [
        (text, view) for text, view in sentence_links(opened("Inspect", VIEW)) if re.search("reviewed|open$", text)
    ]
    for text, view in numbers:
        assert listed(opened("Inspect", view)) == int(re.search(r"\d+", text)[0]), text  # type: ignore[index]
    assert len(numbers) == 2


def test_what_is_stale_is_shown_with_the_old_words_and_counted(store: ReviewStore) -> None:
    press(first(ANN), "pred")
    (one,) = store.every()
    span = Marked(((131, 143),), "PROTEINAS")
    old = structs.replace(
        one.verdict,
        key=structs.replace(one.verdict.key, span=span),
        seen=structs.replace(one.verdict.seen, quote="d tropo"),
    )
    store.undo("Ann")
    store.give([Draft(old)], "Bob")
    app = opened("Inspect", replace(VIEW, q="has:stale=yes"), **ANN)
    assert listed(app) == 1 and verdicts(app) == ["stale · prediction · Bob"]
    assert stands(app).startswith("Stale, as text or span changed since. It was of “d tropo”, PROTEINAS: prediction is")
    assert facets(opened("Inspect", VIEW))["Stale"]["values"] == [["yes", "given on another text or span", 1]]
    # One's own is given beside it, and goes before.
    app = press(app, "gold")
    assert kinds(store.reviewed()) == ["pred", "gold"] and listed(app) == 0


def test_a_verdict_on_another_prediction_says_what_gold_is_to_have(store: ReviewStore) -> None:
    press(first(ANN), "pred")
    (one,) = store.every()
    store.undo("Ann")
    for partner, words in (
        (Marked(((131, 143),), "PROTEINAS"), "“d troponin I” PROTEINAS at 131–143"),
        (None, "no entity"),
    ):
        store.give(
            [Draft(structs.replace(one.verdict, partner=partner), store.reviewed().version(one.verdict.key))], "Bob"
        )
        app = opened("Inspect", replace(VIEW, q="has:verdict=neither"), **ANN)
        assert listed(app) == 1 and "1 of 60 reviewed" in progress(opened("Inspect", VIEW))
        assert stands(app).startswith(f"Stands: neither is right; right is {words}, Bob on ")
        assert stands(app).endswith(". Given beside another prediction: prediction is right")


def test_facets_go_with_clear_and_are_in_the_link(store: ReviewStore) -> None:
    press(first(ANN), "gold")
    app = opened("Inspect", replace(VIEW, q="has:verdict=none"))
    assert listed(app) == 59 and "1 of 60 reviewed" in progress(app)
    assert listed(sound(app.button(key="clear").click().run())) == 60


def test_once_all_are_decided_the_list_says_so_and_leads_to_finish(store: ReviewStore) -> None:
    app = first(ANN, replace(VIEW, type=("PROTEINAS",), q="has:verdict=none"))
    while listed(app):
        assert not workbench(app)["none"] and "go on to Finish" not in " ".join(sentences(app))
        app = press(app, "gold")
    assert workbench(app)["none"].startswith("All records here have a verdict.")
    (finish,) = [view for text, view in sentence_links(app) if "Finish" in text]
    assert finish.review_tab == "finish"


def test_a_list_without_what_is_decided_goes_on_with_the_next(store: ReviewStore) -> None:
    app = first(ANN, replace(VIEW, q="has:verdict=none"))
    app = press(press(press(app, "gold"), "gold"), "gold")
    assert len(store.reviewed()) == 3 and listed(app) == 57
    assert workbench(app)["at"] == 0


def test_verdicts_stay_marked_in_the_text_whatever_the_filter(store: ReviewStore) -> None:
    app = press(first(ANN, VIEW), "gold")
    name = "\n".join(workbench(app)["entries"][0][:2])
    assert workbench(app)["reviewed"] == {name: "gold · Ann"}
    app = opened("Inspect", replace(VIEW, q="has:verdict=none", doc=name.split("\n")[0]))
    assert name not in ["\n".join(entry[:2]) for entry in workbench(app)["entries"]]
    assert workbench(app)["reviewed"] == {name: "gold · Ann"}


def test_a_review_goes_on_at_the_first_record_without_a_verdict(store: ReviewStore) -> None:
    app = press(press(first(ANN, VIEW), "gold"), "gold")
    entries = workbench(app)["entries"]
    app = opened("Inspect", VIEW.with_layout("first-open"))
    assert workbench(app)["open"] == entries[2][:2] and workbench(app)["at"] == 2
    assert "layout" not in address(app)


def test_a_batch_that_others_decided_on_since_is_not_undone_in_part(store: ReviewStore) -> None:
    app = press(opened("Inspect", VIEW, **ANN), "batch")
    app = sound(next(one for one in app.button_group if one.key == f"{keys.VERDICT}batch_kind").set_value("pred").run())
    app = press(app, "batch_yes")
    stands = store.reviewed().standing
    store.give([Draft(structs.replace(one.verdict, kind="gold"), one.version) for one in stands[:30]], "Bob")
    app = press(app, "undo")
    assert "Not taken back: somebody was first." in said(app) and "and 10 more" in said(app)
    assert kinds(store.reviewed()).count("pred") == 30


def test_one_verdict_for_a_list_names_its_number_and_is_undone_at_once(store: ReviewStore) -> None:
    missed = replace(VIEW, decision=("MIS",))
    app = press(first(ANN, missed), "gold")
    app = press(app, "batch")
    assert "One verdict for all 31 records of this list" in headings(app)
    app = sound(next(one for one in app.button_group if one.key == f"{keys.VERDICT}batch_kind").set_value("pred").run())
    app = sound(app.text_area(key=f"{keys.VERDICT}batch_note").set_value("not in our guideline").run())
    assert "30 records get it; 1 record with a verdict stay as they are" in said(app)
    confirm = next(one for one in app.button if one.key == f"{keys.VERDICT}batch_yes")
    assert confirm.label == "Give “prediction is right” to 30 records"
    app = sound(confirm.click().run())
    assert sorted(kinds(store.reviewed())) == ["gold", *["pred"] * 30]
    assert {one.verdict.note for one in store.every()[1:]} == {"not in our guideline"}
    assert "Kept as Ann: prediction is right, of 30 records" in said(app)
    app = press(app, "undo")
    assert kinds(store.reviewed()) == ["gold"] and "30 records at once" in said(app)


def test_a_batch_asks_for_a_name_too(store: ReviewStore) -> None:
    app = press(opened("Inspect", replace(VIEW, decision=("SPU",))), "batch")
    app = sound(next(one for one in app.button_group if one.key == f"{keys.VERDICT}batch_kind").set_value("gold").run())
    assert next(one for one in app.button if one.key == f"{keys.VERDICT}batch_yes").disabled
    app = sound(app.text_input(key=f"{keys.VERDICT}batch_name").set_value("Ann").run())
    app = press(app, "batch_yes")
    assert {one.who for one in store.every()} == {"Ann"} and len(store.every()) == 7


def test_a_batch_lists_what_others_decided_meanwhile(store: ReviewStore) -> None:
    missed = replace(VIEW, decision=("MIS",))
    bob = press(opened("Inspect", missed, **BOB), "batch")
    bob = sound(next(one for one in bob.button_group if one.key == f"{keys.VERDICT}batch_kind").set_value("pred").run())
    press(first(ANN, missed), "gold")
    bob = press(bob, "batch_yes")
    assert "others have decided on 1 record of these" in said(bob) and "Ann on" in said(bob)
    assert kinds(store.reviewed()) == ["gold"]
    bob = press(bob, "batch_yes")
    assert sorted(kinds(store.reviewed())) == ["gold", *["pred"] * 30]


def test_a_store_that_cannot_be_written_says_so_and_what_was_typed_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("NEREVAL_REVIEW_URL", f"sqlite:///{tmp_path}/file/review.sqlite")
    verdict_store._kept.cache_clear()
    app = act(first(ANN), "gold", note="my note")
    assert workbench(app)["verdicts"]["said"]["wrong"] and "try again" in said(app)
    monkeypatch.setenv("NEREVAL_REVIEW_URL", "mysql://somewhere/else")
    verdict_store._kept.cache_clear()
    app = act(first(ANN, THERE), "gold", note="my note")
    assert "Verdicts are not up to date" in said(app) and "Verdicts are not up to date" in said(opened("Inspect", VIEW))
    assert workbench(app)["verdicts"]["said"]["wrong"] and "mysql" in said(app)


@pytest.mark.parametrize("view", [VIEW, THERE])
def test_runs_of_tokens_have_none_and_it_is_said_why(view: View) -> None:
    app = opened("Inspect", replace(view, criterion="fragment"), **ANN)
    assert not [one for one in app.button if one.key and one.key.startswith(keys.VERDICT)]
    assert "fragment counts tokens" in said(app)


def test_hostile_text_is_sent_as_text_alone(store: ReviewStore) -> None:
    hostile = "<img src=x onerror=alert(1)> [x](javascript:alert(1)) :smile: **b** $x$\n# h"
    app = act(first({keys.REVIEWER: "<b>Ann</b> *x*"}), "gold", note=hostile)
    app = press(app, "k")
    assert hostile in stands(app) and "<img" not in "\n".join(one.value for one in (*app.markdown, *app.caption))
    app = act(press(app, "j"), "pred", note="x" * (NOTE_CHARACTERS + 5))
    assert len(store.every()[-1].verdict.note) == NOTE_CHARACTERS


def test_lists_begin_with_the_first_record_without_a_verdict(store: ReviewStore) -> None:
    app = press(press(first(ANN, VIEW), "gold"), "gold")
    entries = workbench(app)["entries"]
    # A plain link, and a list of some of the records.
    assert workbench(opened("Inspect", VIEW))["open"] == entries[2][:2]
    missed = replace(VIEW, decision=("MIS",))
    of_missed = workbench(press(first(ANN, missed), "gold"))["entries"]
    again = workbench(opened("Inspect", missed))
    decided = {tuple(entry[:2]) for entry in again["entries"] if entry[6]}
    assert tuple(of_missed[0][:2]) in decided and tuple(again["open"]) not in decided
    # Whoever asks for what is decided begins with the first of it, and a link to a record opens it.
    assert workbench(opened("Inspect", replace(VIEW, q="has:verdict=gold")))["at"] == 0
    assert workbench(opened("Inspect", replace(VIEW, doc=entries[0][0], record=entries[0][1])))["at"] == 0


def test_clear_filters_stays_on_the_open_record_where_it_is_listed(store: ReviewStore) -> None:
    press(first(ANN, VIEW), "gold")
    app = opened("Inspect", replace(VIEW, decision=("MIS",)), **ANN)
    app = act(act(app, "j"), "j")
    place = workbench(app)["open"]
    app = sound(app.button(key="clear").click().run())
    assert listed(app) == 60 and workbench(app)["open"] == place and workbench(app)["at"] > 2
    # A correct span is in no list of errors.
    app = act(opened("Inspect", replace(VIEW, decision=("COR",)), **ANN), "j")
    app = sound(app.button(key="clear").click().run())
    data = workbench(app)
    assert data["at"] == 1 and [bool(entry[6]) for entry in data["entries"][:2]] == [True, False]


def test_verdicts_of_others_are_told_by_the_names_of_annotators(store: ReviewStore) -> None:
    press(first(ANN, VIEW), "pred")
    words = LayerWords("anna", "ben", annotators=True)
    (stored,) = store.every()
    assert given_in_words(stored, words.verdicts).endswith("'troponin I' ben is right")


def view_of_app(app: AppTest) -> View:
    return read_link(address(app))[0]


def two_annotators() -> View:
    """Return the view of a corpus of anna and ben, neither of them gold."""
    folder = DEMOS / "pharmacology"
    layers = {name: Source.of_path(folder / f"annotator-{number}.jsonl") for number, name in ((1, "anna"), (2, "ben"))}
    read = load("case notes", layers["anna"], {"ben": layers["ben"]})
    return View(corpus=caches.shelf().put(replace(read, first_annotator="anna", start="ben")))


def test_verdicts_and_notes_stay_with_their_annotator_when_the_two_change_places(store: ReviewStore) -> None:
    app = first(ANN, two_annotators())
    app = act(app, "gold", note="anna read the guideline")
    app = act(app, "pred", note="ben saw the suffix")
    assert verdicts(app)[:2] == ["anna · Ann", "ben · Ann"]
    app = choose(app, "swap")
    assert workbench(app)["verdicts"]["labels"][:2] == ["ben", "anna"]
    labels = {span_words(entry): entry[6] for entry in workbench(app)["entries"] if entry[6]}
    assert labels == {"Aspirin tablet": "anna · Ann", "Antibodies against cyclic citrullinated peptide": "ben · Ann"}
    assert facets(app)["Verdict"]["values"][:2] == [["gold", "ben is right", 1], ["pred", "anna is right", 1]]
    doc, record = next(entry[:2] for entry in workbench(app)["entries"] if span_words(entry) == "Aspirin tablet")
    app = opened("Inspect", replace(view_of_app(app), doc=doc, record=record), **ANN)
    assert "anna is right, Ann on" in stands(app) and "anna read the guideline" in stands(app)
    assert card(app)["note"] == "anna read the guideline"
    # The key of ben, who is the reference now.
    app = act(app, "gold", note="")
    assert "Kept as Ann: ben is right" in said(app) and "It replaces: anna is right, Ann on" in said(app)
    app = act(app, "undo")
    assert "Again stands: anna is right" in said(app) and "anna is right, Ann on" in stands(app)


def test_two_annotators_are_finished_by_the_same_verdicts_in_either_order(store: ReviewStore) -> None:
    app = act(act(first(ANN, two_annotators()), "gold"), "pred")
    view = replace(view_of_app(app), review_tab="given-verdicts", doc="", record="")
    app = opened("Review", view)
    spans = []
    for _ in range(2):
        assert "**2 verdicts**" in headings(app)
        table = next(one.value for one in app.dataframe if "verdict" in one.value)
        assert sorted(table["verdict"]) == ["anna is right", "ben is right"]
        assert not [result for result in table["result"] if result.startswith("not applied")]
        spans.append(sorted(table["after"]))
        app = choose(app, "swap")
    assert spans[0] == spans[1]
