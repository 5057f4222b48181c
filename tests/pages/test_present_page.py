"""Present and playlists on the pages: stars, order, comments, slides; links that open on a server anew; masking."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from msgspec import structs
from streamlit.testing.v1 import AppTest

from nereval_core.corpus import Corpus
from nereval_core.ledger import ledger
from nereval_core.records.queries import Query
from nereval_core.review.playlists.store import PlaylistStore
from nereval_core.review.store import ReviewStore
from nereval_core.review.verdicts import Draft, Marked, Verdict
from nereval_core.scoring import score_layers
from pages.shared.data import caches, playlists
from pages.shared.data.loading import load_demo
from pages.shared.server import access
from pages.shared.view import FIGURES_OF_SYSTEM, MASKED, View, keys
from tests.support.pages import DEMO, address, opened, sound, start_afresh, title
from tests.support.workbench import act, card, workbench

VIEW = View(corpus=DEMO.corpus.digest, system="rules")
CORPUS = DEMO.corpus
LEDGER = ledger(score_layers(CORPUS.gold, CORPUS.system("rules")), "strict", (CORPUS.gold, CORPUS.system("rules")))
ERRORS = LEDGER.frame(LEDGER.positions(Query(decision=("INC", "PAR", "MIS", "SPU"))))


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[PlaylistStore]:
    """An empty store of its own, as a server that has just been started has it."""
    start_afresh()
    where = f"sqlite:///{tmp_path}/review.sqlite"
    monkeypatch.setenv("NEREVAL_REVIEW_URL", where)
    found = PlaylistStore(ReviewStore(where))
    yield found
    found.review.close()
    start_afresh()


def record(number: int) -> View:
    row = ERRORS.iloc[number]
    return replace(VIEW, doc=str(row["document"]), record=str(row["record"]))


def press(app: AppTest, name: str) -> AppTest:
    return sound(app.button(key=f"{keys.PLAYLIST}{name}").click().run())


def starred(*numbers: int) -> AppTest:
    """Star records on Inspect, one after the other; return the page of the last one."""
    app = None
    for number in numbers:
        view = record(number) if app is None else replace(record(number), playlist=address(app)["playlist"])
        app = act(opened("Inspect", view), "star")
    assert app is not None
    return app


def slide(app: AppTest) -> str:
    """Return the HTML of the slide shown."""
    return next(body for one in app.get("html") if '<section class="nvs">' in (body := one.proto.body))


def test_a_star_puts_a_record_on_a_playlist_and_takes_it_out_again(store: PlaylistStore) -> None:
    app = starred(0)
    (playlist,) = store.playlists().standing
    assert title(opened("Present", replace(VIEW, playlist=playlist.uid))) == "Present"
    assert (playlist.name, len(playlist.items)) == ("Starred", 1)
    shown = playlist.items[0].starred.shown
    assert (shown.system, shown.criterion, shown.document, shown.record) == (
        *("rules", "strict"),
        *(ERRORS.iloc[0][["document", "record"]]),
    )
    assert card(app)["starred"] and workbench(app)["starred"] == ["\n".join(workbench(app)["open"])]
    assert address(app)["playlist"] == playlist.uid[:12]
    app = act(app, "star")
    assert store.playlists().standing[0].items == () and not card(app).get("starred")


def test_counted_by_token_there_is_no_star(store: PlaylistStore) -> None:
    app = opened("Inspect", replace(record(0), criterion="fragment"))
    assert not workbench(app)["verdicts"]["stars"]


def test_the_words_of_a_span_in_parts_are_apart_on_its_slide() -> None:
    number = next(at for at, span in enumerate(ERRORS["gold"]) if span in CORPUS.gold.fragments)
    assert "hepatitis B … antibodies" in slide(opened("Present", replace(record(number), slide="record")))


def test_the_open_record_is_starred_and_stays_open(store: PlaylistStore) -> None:
    app = act(act(act(opened("Inspect", VIEW), "j"), "j"), "star")
    # It stays open, though the playlist that it went on is now chosen too.
    assert address(app)["playlist"] and card(app)["starred"]
    (item,) = store.playlists().standing[0].items
    assert item.starred.shown.record == ERRORS.iloc[2]["record"]


def test_records_are_ordered_commented_on_and_taken_out(store: PlaylistStore) -> None:
    uid = address(starred(0, 1, 2))["playlist"]
    first, second, third = store.playlists().standing[0].items
    app = opened("Present", replace(VIEW, playlist=uid))
    press(app, f"down_{first.uid[:12]}")
    assert [item.uid for item in store.playlists().standing[0].items] == [second.uid, first.uid, third.uid]
    press(app, f"up_{third.uid[:12]}")
    press(app, f"out_{first.uid[:12]}")
    comment = f"{keys.PLAYLIST}comment_{uid}_{third.uid[:12]}"
    sound(app.text_area(key=comment).set_value("<b>why?</b>").run())
    items = store.playlists().standing[0].items
    assert [(item.uid, item.comment) for item in items] == [(second.uid, ""), (third.uid, "<b>why?</b>")]


def test_who_comes_second_is_told_and_keeps_what_they_typed(store: PlaylistStore) -> None:
    uid = address(starred(0))["playlist"]
    app = opened("Present", replace(VIEW, playlist=uid))
    playlist = store.playlists().standing[0]
    store.comment(playlist.uid, playlist.items[0], "first", "Ann")
    key = f"{keys.PLAYLIST}comment_{uid}_{playlist.items[0].uid[:12]}"
    sound(app.text_area(key=key).set_value("second").run())
    assert "Ann on" in app.warning[0].value and "first" in app.warning[0].value
    assert app.text_area(key=key).value == "second"
    assert store.playlists().standing[0].items[0].comment == "first"
    sound(app.text_area(key=key).set_value("second!").run())
    assert store.playlists().standing[0].items[0].comment == "second!" and not app.warning


def test_playlists_are_made_chosen_renamed_and_removed(store: PlaylistStore) -> None:
    app = opened("Present", VIEW)
    sound(app.text_input(key=f"{keys.PLAYLIST}new").set_value("Monday").run())
    sound(app.text_input(key=f"{keys.PLAYLIST}new").set_value("monday").run())
    assert [one.name for one in store.playlists().standing] == ["Monday", "monday 2"]
    chosen = store.playlists().find(address(app)["playlist"])
    assert chosen is not None and chosen.name == "monday 2"
    sound(app.text_input(key=f"{keys.PLAYLIST}name").set_value("Monday").run())
    assert "there is a playlist 'Monday'" in app.warning[0].value.replace("\\", "")
    press(app, "remove")
    assert [one.name for one in store.playlists().standing] == ["Monday"] and "playlist" not in address(app)


def test_slides_show_title_then_records_with_comments(store: PlaylistStore) -> None:
    uid = address(starred(0, 1))["playlist"]
    playlist = store.playlists().standing[0]
    store.comment(playlist.uid, playlist.items[1], "Say <this>.", "")
    app = press(opened("Present", replace(VIEW, playlist=uid)), "begin")
    title = slide(app)
    assert (
        "<h1>Starred records of rules</h1>" in title
        and "sha256" not in title
        and "F1 0." in title
        and "correct (COR)" in title
    )
    assert not app.sidebar.children and address(app)["slide"] == "record"
    item = playlist.items[1].starred
    link = replace(record(1), playlist=f"{uid}/{item.uid[:12]}", slide="record")
    for view in (link, View(playlist=f"{uid}/{item.uid[:12]}", slide="record")):
        found = opened("Present", view)
        shown = slide(found)
        assert "2 of 2" in shown and "Say &lt;this&gt;." in shown and str(ERRORS.iloc[1]["reason"]) in shown
        assert address(found)["record"] == item.shown.record


def test_figures_stand_between_the_title_and_the_records_unless_only_records_are_wanted(store: PlaylistStore) -> None:
    uid = address(starred(0))["playlist"]
    for view in (replace(VIEW, playlist=uid), VIEW):
        slides = replace(view, slide="record")
        scores, confusion = (opened("Present", replace(slides, slide=word)) for word in FIGURES_OF_SYSTEM)
        strict = score_layers(CORPUS.gold, CORPUS.system("rules")).counts("strict")
        assert f"{strict.f1:.3f}" in slide(scores) and f"✓ {strict.gold[0]}" in slide(scores)
        missed = ERRORS[ERRORS["decision"] == "MIS"]["gold_type"].value_counts()
        assert all(f">{count}</td>" in slide(confusion) for count in missed)
        assert "<h1>" in slide(opened("Present", replace(slides, layout=("records-only",), slide="scores")))


def test_a_slide_has_the_verdict_and_its_note(store: PlaylistStore) -> None:
    uid = address(starred(0))["playlist"]
    item = store.playlists().standing[0].items[0]
    given = Verdict(
        item.starred.key, "neither", item.starred.seen, right=(Marked(((0, 1),), "X"),), note="Popocatepetl"
    )
    store.review.give([Draft(given)], "Ann")
    view = replace(record(0), playlist=f"{uid}/{item.uid[:12]}", slide="record")
    shown = slide(opened("Present", view))
    assert "Verdict of Ann: neither is right; right is" in shown and "Popocatepetl" in shown
    assert "Verdict of Ann" in slide(opened("Present", replace(view, playlist="")))
    masked = slide(opened("Present", replace(view, mask=MASKED)))
    assert "Verdict of Ann: neither is right" in masked and "Popocatepetl" not in masked


def test_a_change_bears_the_name_of_who_made_it(store: PlaylistStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEREVAL_REVIEWER", "Bea")
    starred(0)
    assert store.playlists().standing[0].who == store.playlists().standing[0].items[0].who == "Bea"


def test_a_link_to_a_playlist_opens_it_on_a_server_anew(store: PlaylistStore) -> None:
    uid = address(starred(0, 1))["playlist"]
    start_afresh()
    app = opened("Present", View(playlist=uid, slide="record"))
    assert "<h1>Starred records of rules</h1>" in slide(app) and "2 records" in slide(app)
    start_afresh()
    for view in (replace(VIEW, playlist="0" * 12), replace(VIEW, playlist="0" * 12, slide="record")):
        lost = opened("Present", view)
        assert "not in this server's store of verdicts" in lost.warning[0].value and title(lost) == "Present"


def test_without_its_corpus_a_playlist_says_what_to_upload(
    store: PlaylistStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    uid = address(starred(0, 1))["playlist"]
    monkeypatch.setattr(caches, "find", lambda prefix: None)
    app = opened("Present", View(playlist=uid, slide="record"))
    assert CORPUS.digest[:16] in app.warning[0].value and "Upload" in app.warning[0].value
    assert str(ERRORS.iloc[0]["gold_text"]).split()[0] in "\n".join(one.value for one in app.markdown)


def test_an_empty_playlist_says_how_to_fill_it(store: PlaylistStore) -> None:
    uid = store.make("Monday", "")
    for view in (View(playlist=uid), View(playlist=uid, slide="record"), replace(VIEW, playlist=uid)):
        assert any("Star records" in one.value for one in opened("Present", view).info)
    app = opened("Present", replace(VIEW, playlist=uid, slide="record"))
    assert "3 patterns" in slide(app)


def test_a_record_that_is_gone_shows_what_it_was(store: PlaylistStore) -> None:
    uid = address(starred(0))["playlist"]
    item = store.playlists().standing[0].items[0]
    view = replace(record(0), record="g:0-1:NONE", playlist=f"{uid}/{item.uid[:12]}", slide="record")
    shown = slide(opened("Present", view))
    assert "This record is not there any more" in shown and "1 of 1" in shown
    assert f"<mark>{item.starred.seen.quote}</mark>" in shown


def test_a_playlist_outlives_another_scoring_and_another_name(
    store: PlaylistStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same texts and gold with other predictions, and documents called otherwise, are another corpus."""
    uid = address(starred(0, 1))["playlist"]
    ids = {name: f"new-{name}" for name in CORPUS.documents.ids}
    documents = replace(CORPUS.documents, ids=tuple(ids.values()))
    gold, other = (replace(layer, documents=documents) for layer in (CORPUS.gold, CORPUS.system("perceptron")))
    anew = replace(DEMO, corpus=Corpus("anew", documents, gold, (other.renamed("rules"),)), reading="anew")
    assert anew.corpus.digest != CORPUS.digest
    monkeypatch.setattr(caches, "demo_names", lambda: ())
    caches.shelf().put(anew)
    for number, item in enumerate(store.playlists().standing[0].items):
        view = View(corpus=anew.corpus.digest, playlist=f"{uid}/{item.uid[:12]}", slide="record")
        app = opened("Present", view)
        assert address(app)["doc"] == ids[item.starred.shown.document]
        assert f"{number + 1} of 2" in slide(app)
    # The first one is about a gold span, which is there still; nothing of the old corpus is.
    first = store.playlists().standing[0].items[0]
    shown = slide(opened("Present", replace(view, playlist=f"{uid}/{first.uid[:12]}")))
    assert '<p class="nvs-decision">' in shown


def test_a_playlist_may_be_of_several_corpora(store: PlaylistStore) -> None:
    uid = address(starred(0))["playlist"]
    news = load_demo("newspapers").corpus
    there = View(corpus=news.digest, system="perceptron", playlist=uid)
    found = ledger(score_layers(news.gold, news.system("perceptron")), "type", (news.gold, news.system("perceptron")))
    first = found.first(Query(decision=("INC", "PAR", "MIS", "SPU")))
    assert first is not None
    act(opened("Inspect", replace(there, criterion="type", doc=first[0], record=first[1])), "star")
    items = store.playlists().standing[0].items
    app = opened("Present", replace(VIEW, playlist=f"{uid}/{items[0].uid[:12]}", slide="record"))
    assert "1 of 2" in slide(app) and address(app)["corpus"] == CORPUS.digest[:16]
    app = opened("Present", replace(VIEW, playlist=f"{uid}/{items[1].uid[:12]}", slide="record"))
    assert "2 of 2" in slide(app) and '<p class="nvs-decision">' in slide(app)
    shown = address(app)
    assert (shown["corpus"], shown["system"], shown["criterion"]) == (news.digest[:16], "perceptron", "type")


def test_on_a_server_for_others_nobody_sees_records_of_a_corpus_that_is_not_theirs(
    store: PlaylistStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(access, "LOOPBACK", ())
    uid = address(starred(0))["playlist"]
    foreign = replace(store.playlists().standing[0].items[0].starred)
    secret = replace(
        foreign,
        key=structs.replace(foreign.key, text="0" * 64),
        seen=structs.replace(foreign.seen, quote="secret"),
        shown=replace(foreign.shown, corpus="f" * 64, document="theirs"),
    )
    hidden = store.make("Theirs", "Eve")
    for name in (hidden, store.playlists().standing[0].uid):
        store.star(name, [secret], "Eve")
    assert [len(one.items) for one in store.playlists().standing] == [2, 1]
    assert [(one.name, len(one.items)) for one in playlists.now().of_items(playlists.may_see).standing] == [
        ("Starred", 1)
    ]
    for view in (VIEW, replace(VIEW, playlist=hidden), replace(VIEW, playlist=uid)):
        app = opened("Present", view)
        assert not re.search("secret|Theirs", "\n".join(one.value for one in (*app.markdown, *app.caption)))


def test_what_a_link_says_wrong_passes_over_the_slide(store: PlaylistStore) -> None:
    app = opened("Present", replace(record(0), system="nobody", slide="record"))
    assert "nobody" in app.toast[0].value and not app.warning and "1 of" in slide(app)


def test_without_a_playlist_the_records_of_the_list_are_shown(store: PlaylistStore) -> None:
    app = press(opened("Present", VIEW), "begin_list")
    assert f"{len(ERRORS):,} records" in slide(app) and "<h1>Records of rules</h1>" in slide(app)
    for number in (0, 7, len(ERRORS) - 1):
        assert f"{number + 1} of {len(ERRORS)}" in slide(opened("Present", replace(record(number), slide="record")))
    # What is not in the list, here a correct one, stands between its neighbours.
    right = LEDGER.frame(LEDGER.positions(Query(decision=("COR",)))).iloc[0]
    view = replace(VIEW, doc=str(right["document"]), record=str(right["record"]), slide="record")
    assert f"not among the {len(ERRORS)}" in slide(opened("Present", view))
    doc = str(ERRORS.iloc[0]["document"])
    narrowed = press(opened("Present", replace(VIEW, doc=doc)), "begin_list")
    assert "has:" in address(narrowed)["q"] and f"{(ERRORS['document'] == doc).sum()} record" in slide(narrowed)


def test_masked_neither_texts_nor_peoples_words_are_shown(store: PlaylistStore) -> None:
    uid = address(starred(0))["playlist"]
    playlist = store.playlists().standing[0]
    item = playlist.items[0]
    store.comment(playlist.uid, item, "Quetzalcoatl", "")
    masked = replace(record(0), mask=MASKED, playlist=uid)
    assert card(opened("Inspect", masked))["starred"]
    lobby = opened("Present", replace(VIEW, mask=MASKED, playlist=uid))
    shows = opened("Present", replace(masked, playlist=f"{uid}/{item.uid[:12]}", slide="record"))
    gone = replace(masked, record="g:0-1:NONE", playlist=f"{uid}/{item.uid[:12]}", slide="record")
    title = press(lobby, "begin")
    assert "comments and notes" in slide(title)
    for app in (lobby, shows, opened("Present", gone)):
        sent = "\n".join(str(one.proto) for one in app.main)
        assert "Quetzalcoatl" not in sent
        assert not [word for word in str(ERRORS.iloc[0]["gold_text"]).split() if len(word) > 4 and word in sent]
    assert "1 of 1" in slide(shows)


def test_a_store_that_cannot_be_read_is_told_and_the_list_is_still_shown(
    store: PlaylistStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "folder").mkdir()
    monkeypatch.setenv("NEREVAL_REVIEW_URL", f"sqlite:///{tmp_path}/folder")
    start_afresh()
    app = opened("Present", VIEW)
    assert any(f"{tmp_path}/folder" in one.value for one in app.code)
    assert slide(press(app, "begin_list"))
    assert not workbench(opened("Inspect", record(0)))["verdicts"]["stars"]
