"""Verdicts on Inspect and Documents: given, told of, taken back, counted, given to many, and refused with a reason."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from nereval_core.glossary import DECISIONS
from nereval_core.review.standing_verdicts import Reviewed
from nereval_core.review.store import ReviewStore
from nereval_core.review.verdicts import KINDS, NOTE_CHARACTERS, Draft, Marked
from pages.shared.components.count_table import ROWS
from pages.shared.components.record_list import LIST
from pages.shared.data import verdict_store
from pages.shared.view import MASKED, View, keys
from tests.support.pages import VIEW, headings, opened, sound

BOB = {keys.REVIEWER: "Bob"}
ANN = {keys.REVIEWER: "Ann"}


@pytest.fixture(autouse=True)
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ReviewStore]:
    """A store that no other test writes to."""
    monkeypatch.setenv("NEREVAL_REVIEW_URL", f"sqlite:///{tmp_path}/review.sqlite")
    verdict_store._kept.clear()
    found = ReviewStore(tmp_path / "review.sqlite")
    yield found
    found.close()
    verdict_store._kept.clear()


def press(app: AppTest, name: str) -> AppTest:
    """Press the button whose key begins so."""
    (button,) = [one for one in app.button if one.key and re.fullmatch(f"{keys.VERDICT}{name}(_[0-9a-f]+)?", one.key)]
    return sound(button.click().run())


def field(app: AppTest) -> Any:
    """Return the field of the note: several lines on Inspect, one on Documents."""
    return next(one for one in (*app.text_area, *app.text_input) if (one.key or "").startswith(f"{keys.VERDICT}note"))


def write(app: AppTest, note: str) -> AppTest:
    return sound(field(app).set_value(note).run())


def written(app: AppTest) -> str:
    return str(field(app).value)


def said(app: AppTest) -> str:
    """Return what a page says as one text, without the marks of Markdown."""
    every = [*app.markdown, *app.caption, *app.warning, *app.error, *app.code]
    return "\n".join(one.value for one in every).replace("\\", "").replace("\u2060", "")


def progress(app: AppTest) -> str:
    return next(button.label for button in app.button if button.key == f"{keys.VERDICT}done")


def listed(app: AppTest) -> int:
    return int(re.search(r"\*\*([\d,]+) records?\*\*", headings(app))[1].replace(",", ""))  # type: ignore[index]


def kinds(reviewed: Reviewed) -> list[str]:
    return [one.verdict.kind for one in reviewed.standing]


def first(page: str, who: dict[str, str], view: View = VIEW) -> AppTest:
    """Open a page with its first record chosen."""
    if page == "Documents":
        return opened(page, replace(view, doc="en-01", record="g:133-143:PROTEINAS"), **who)
    return press(opened(page, view, **who), "j")


@pytest.mark.parametrize("page", ["Inspect", "Documents"])
def test_a_verdict_is_kept_with_its_note_and_the_next_record_is_chosen(page: str, store: ReviewStore) -> None:
    app = press(write(first(page, ANN), "the suffix counts"), "gold")
    (one,) = store.every()
    assert (one.who, one.verdict.kind, one.verdict.note) == ("Ann", "gold", "the suffix counts")
    assert one.verdict.seen.quote == "troponin I" and one.verdict.partner is not None
    assert "Kept as Ann: gold is right, of 'troponin I'." in said(app)
    assert written(app) == ""
    app = press(app, "pred")
    assert [one.verdict.seen.quote for one in store.every()] == ["troponin I", "Antibodies"]
    if page == "Inspect":
        assert app.dataframe[0].value["verdict"].tolist()[:2] == ["gold · Ann", "prediction · Ann"]
        assert progress(app).startswith(":primary[2 of 60 have a verdict")
    else:
        assert "Record 3 of 60 · 2 have a verdict" in said(app)


@pytest.mark.parametrize("page", ["Inspect", "Documents"])
def test_u_takes_back_the_last_verdict_and_goes_back_to_it(page: str, store: ReviewStore) -> None:
    app = press(press(first(page, ANN), "gold"), "undo")
    assert not store.reviewed().standing and "Taken back: the last verdict of Ann, of 'troponin I'." in said(app)
    app = press(app, "both")
    assert [one.verdict.seen.quote for one in store.reviewed().standing] == ["troponin I"]
    assert "no verdict of Bob left" in said(press(first(page, BOB), "undo"))


def test_verdicts_outlive_the_server(store: ReviewStore) -> None:
    press(press(first("Inspect", ANN), "gold"), "both")
    verdict_store._kept.clear()
    app = opened("Inspect", VIEW)
    assert app.dataframe[0].value["verdict"].tolist()[:2] == ["gold · Ann", "both · Ann"]
    app = opened("Inspect", replace(VIEW, system="perceptron", criterion="lenient", decision=DECISIONS))
    assert re.match(r":primary\[[12] of", progress(app))


def test_masked_pages_say_nothing_of_the_text_that_a_verdict_quotes(store: ReviewStore) -> None:
    press(write(first("Inspect", ANN), "as in troponin T"), "gold")
    app = first("Inspect", ANN, replace(VIEW, mask=MASKED))
    assert "Stands: **gold is right**, Ann on" in said(app) and "troponin" not in said(app) + written(app)
    app = press(app, "pred")
    assert "Kept as Ann: prediction is right, of 'xxxxxxxx X'" in said(app)
    app = press(press(app, "k"), "neither")
    words = [*(option for one in app.selectbox for option in one.options), *(one.label for one in app.button)]
    assert "troponin" not in said(app) + " ".join(words)


def test_all_records_of_a_form_are_one_click_away(store: ReviewStore) -> None:
    app = first("Inspect", ANN, replace(VIEW, q="antibodies", decision=()))
    while not any(one.key == f"{keys.VERDICT}form" for one in app.button):
        app = press(app, "j")
    button = next(one for one in app.button if one.key == f"{keys.VERDICT}form")
    number = int(re.search(r"\d+", button.label)[0])  # type: ignore[index]
    assert listed(sound(button.click().run())) == number > 1


def test_who_does_not_go_on_stays(store: ReviewStore) -> None:
    app = first("Inspect", ANN, VIEW)
    app = sound(app.toggle(key=f"{keys.VERDICT}on").set_value(False).run())
    app = press(press(app, "gold"), "pred")
    assert [one.version for one in store.every()] == [1, 2]
    assert "Stands: **prediction is right**, Ann on" in said(app)


def test_a_verdict_waits_for_a_name_and_no_other_is_asked_for(
    store: ReviewStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = press(first("Inspect", {}), "gold")
    assert not store.every() and "Who gives this verdict?" in said(app)
    app = sound(app.text_input(key=f"{keys.VERDICT}asked").set_value("  Ann ").run())
    assert [one.who for one in store.every()] == ["Ann"] and "Kept as Ann" in said(app)
    monkeypatch.setenv("NEREVAL_REVIEWER", "Eve")
    press(first("Inspect", {}), "j")
    assert "Kept as Eve" in said(press(first("Inspect", {}), "pred"))


@pytest.mark.parametrize("page", ["Inspect", "Documents"])
def test_the_second_of_two_is_told_and_keeps_what_they_typed(page: str, store: ReviewStore) -> None:
    bob = write(first(page, BOB), "I do not think so")
    press(first(page, ANN), "pred")
    bob = press(bob, "gold")
    assert len(store.every()) == 1
    assert re.search(r"Ann on \d{4}-\d\d-\d\d \d\d:\d\d: 'troponin I' prediction is right", said(bob))
    assert written(bob) == "I do not think so"
    bob = press(bob, "over")
    assert [(one.who, one.version, one.verdict.note) for one in store.every()] == [
        ("Ann", 1, ""),
        ("Bob", 2, "I do not think so"),
    ]
    assert "was first" not in said(bob)


def test_theirs_may_be_left(store: ReviewStore) -> None:
    bob = first("Inspect", BOB)
    press(first("Inspect", ANN), "pred")
    bob = press(press(bob, "gold"), "leave")
    assert "was first" not in said(bob) and kinds(store.reviewed()) == ["pred"]
    assert "Stands: **prediction is right**, Ann on" in said(bob)


def test_neither_asks_for_what_is_right(store: ReviewStore) -> None:
    app = press(first("Inspect", ANN), "neither")
    assert not store.every() and "“troponin I” at 133–143, PROTEINAS" in said(app)
    box = next(one for one in app.selectbox if one.label == "to word")
    # What was cut is what the prediction ends in the middle of.
    assert box.options[box.index - 1 : box.index + 1] == ["troponin", "I"]
    kind = next(one for one in app.selectbox if one.label == "Type")
    app = sound(kind.set_value("NORMALIZABLES").run())
    app = press(app, "more")
    kind = next(one for one in app.selectbox if one.label == "Type")
    app = press(sound(kind.set_value("NO_NORMALIZABLES").run()), "keep")
    (one,) = store.every()
    assert one.verdict.kind == "neither"
    assert [(span.start, span.end, span.type) for span in one.verdict.right] == [
        (133, 143, "NORMALIZABLES"),
        (133, 143, "NO_NORMALIZABLES"),
    ]
    app = press(press(app, "neither"), "none")
    assert store.every()[-1].verdict.right == () and "right is no entity" in said(app)
    app = press(press(app, "neither"), "cancel")
    assert len(store.every()) == 2


def test_every_value_of_a_facet_lists_as_many_records_as_it_says(store: ReviewStore) -> None:
    app = first("Inspect", ANN)
    for kind in ("gold", "pred", "unclear", "gold"):
        app = press(app, kind)
    app = press(write(app, "a note"), "both")
    app = first("Inspect", BOB, replace(VIEW, sort=("longest",)))
    # It goes over Ann's third, so that none of her verdicts is unclear any more.
    app = press(app, "gold")
    seen = 0
    for facet, values in (("verdict", (*KINDS, "none")), ("reviewer", ("Ann", "Bob")), ("noted", ("yes",))):
        for value in values:
            app = opened("Inspect", VIEW)
            box = app.selectbox(key=f"{keys.WIDGET}facet-{facet}")
            option = box.format_func(value)
            if option in box.options:
                app = sound(box.set_value(value).run())
                assert listed(app) == int(option.rpartition(" · ")[2])
                seen += 1
    assert seen == 4 + 2 + 1
    app = opened("Inspect", VIEW)
    for name in ("done", "open"):
        button = next(one for one in app.button if one.key == f"{keys.VERDICT}{name}")
        number = int(re.search(r"\d+", button.label)[0])  # type: ignore[index]
        assert listed(sound(button.click().run())) == number
        app = opened("Inspect", VIEW)


def test_what_is_stale_is_shown_with_the_old_words_and_counted(store: ReviewStore) -> None:
    press(first("Inspect", ANN), "pred")
    (one,) = store.every()
    span = Marked(((131, 143),), "PROTEINAS")
    old = replace(one.verdict, key=replace(one.verdict.key, span=span), seen=replace(one.verdict.seen, quote="d tropo"))
    store.undo("Ann")
    store.give([Draft(old)], "Bob")
    app = press(opened("Inspect", replace(VIEW, q="has:stale=yes"), **ANN), "j")
    assert listed(app) == 1 and app.dataframe[0].value["verdict"].tolist() == ["stale · prediction · Bob"]
    assert "*Stale*, as text or span changed since. It was of “d tropo”, PROTEINAS: **prediction is right**" in said(
        app
    )
    box = opened("Inspect", VIEW).selectbox(key=f"{keys.WIDGET}facet-stale")
    assert box.options == ["text or span changed · 1"]
    # One's own is given beside it, and goes before.
    app = press(app, "gold")
    assert kinds(store.reviewed()) == ["pred", "gold"] and "No records." in said(app)


def test_facets_go_with_clear_and_are_in_the_link(store: ReviewStore) -> None:
    press(first("Inspect", ANN), "gold")
    app = opened("Inspect", replace(VIEW, q="has:verdict=none"))
    assert listed(app) == 59 and "whatever their verdict" in progress(app)
    assert listed(sound(app.button(key="clear").click().run())) == 60


def test_a_list_without_what_is_decided_goes_on_with_the_next(store: ReviewStore) -> None:
    app = first("Inspect", ANN, replace(VIEW, q="has:verdict=none"))
    app = press(press(press(app, "gold"), "gold"), "gold")
    assert len(store.reviewed()) == 3 and listed(app) == 57
    assert app.session_state[LIST + "errors"]["selection"]["cells"] == [(0, "span")]


def test_the_next_record_may_stand_on_the_next_page(store: ReviewStore) -> None:
    app = opened("Inspect", replace(VIEW, decision=DECISIONS), **{**ANN, f"{keys.WANTED}errors": ROWS - 1})
    app = press(app, "gold")
    assert app.number_input[0].value == 2
    assert app.session_state[LIST + "errors"]["selection"]["cells"] == [(0, "span")]
    app = press(app, "k")
    assert app.number_input[0].value == 1 and "Stands: **gold is right**" in said(app)


def test_a_batch_that_others_decided_on_since_is_not_undone_in_part(store: ReviewStore) -> None:
    app = press(opened("Inspect", VIEW, **ANN), "batch")
    app = sound(next(one for one in app.button_group if one.key == f"{keys.VERDICT}batch_kind").set_value("pred").run())
    app = press(app, "batch_yes")
    stands = store.reviewed().standing
    store.give([Draft(replace(one.verdict, kind="gold"), one.version) for one in stands[:30]], "Bob")
    app = press(app, "undo")
    assert "Not taken back." in said(app) and "and 10 more" in said(app)
    assert kinds(store.reviewed()).count("pred") == 30


def test_one_verdict_for_a_list_names_its_number_and_is_undone_at_once(store: ReviewStore) -> None:
    missed = replace(VIEW, decision=("MIS",))
    app = press(first("Inspect", ANN, missed), "gold")
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
    press(first("Inspect", ANN, missed), "gold")
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
    verdict_store._kept.clear()
    app = press(write(first("Inspect", ANN), "my note"), "gold")
    assert app.error and "try again" in said(app) and written(app) == "my note"
    monkeypatch.setenv("NEREVAL_REVIEW_URL", "mysql://somewhere/else")
    verdict_store._kept.clear()
    app = press(write(first("Documents", ANN), "my note"), "gold")
    assert "Verdicts are not up to date" in said(app) and "Verdicts are not up to date" in said(opened("Inspect", VIEW))
    assert app.error and "mysql" in said(app) and written(app) == "my note"


@pytest.mark.parametrize("page", ["Inspect", "Documents"])
def test_runs_of_tokens_have_none_and_it_is_said_why(page: str) -> None:
    app = opened(page, replace(VIEW, criterion="fragment"), **ANN)
    assert not [one for one in app.button if one.key and one.key.startswith(keys.VERDICT)]
    assert "fragment counts tokens" in said(app)


def test_hostile_text_shows_as_text(store: ReviewStore) -> None:
    hostile = "<img src=x onerror=alert(1)> [x](javascript:alert(1)) :smile: **b** $x$\n# h"
    app = press(write(first("Inspect", {keys.REVIEWER: "<b>Ann</b> *x*"}), hostile), "gold")
    app = press(app, "k")
    line = next(one.value for one in app.caption if one.value.startswith("Stands"))
    assert "\\<img src\\=x" in line and "\\[x\\]\\(javascript" in line and "\\<b\\>Ann" in line
    app = write(press(app, "j"), "x" * NOTE_CHARACTERS)
    app = press(press(app, "pred"), "k")
    assert len(next(one.value for one in app.caption if one.value.startswith("Stands"))) < 500
    assert len(store.every()[-1].verdict.note) == NOTE_CHARACTERS
