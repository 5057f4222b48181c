"""The deck of Present: suggested, changed, linked, and as one file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from nereval_core.problems import FormatError
from nereval_core.records.queries import Query
from pages.shared import systems
from pages.shared.data import caches, playlists
from pages.shared.data.loading import load_demo
from pages.shared.data.page_context import PageContext
from pages.shared.inspect import patterns
from pages.shared.overview import headline
from pages.shared.overview.headline import f1_intervals
from pages.shared.present import deck_file as present_file
from pages.shared.present import lobby, systems_slides
from pages.shared.present.deck import deck_of, figures_of, groups_by_key, sentence_of
from pages.shared.present.deck_file import Session, deck_file
from pages.shared.present.drawing import first_slide_html, numbers_of
from pages.shared.systems import ranking
from pages.shared.view import MASKED, View, keys
from pages.shared.view.link import read_link
from tests.support.pages import DEMO, address, opened, sound, start_afresh
from tests.support.workbench import act

VIEW = View(corpus=DEMO.corpus.digest, system="rules")
PAGE = PageContext(DEMO, VIEW, caches.settings_in(DEMO, VIEW))
NAMES = [sentence_of(PAGE, group) for group in groups_by_key(PAGE).values()]


@pytest.fixture(autouse=True)
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    start_afresh()
    monkeypatch.setenv("NEREVAL_REVIEW_URL", f"sqlite:///{tmp_path}/review.sqlite")
    yield
    start_afresh()


def shown(app: AppTest) -> list[str]:
    """Return the names of the slides, as the buttons that present from them have them."""
    names = [button.label for button in app.button if button.key.startswith(f"{keys.PLAYLIST}from_")]
    return [name.removeprefix("Present from: ") for name in names]


def slide(app: AppTest) -> str:
    """Return the HTML of the slide shown."""
    return next(body for html in app.get("html") if '<section class="nvs">' in (body := html.proto.body))


def press(app: AppTest, name: str) -> AppTest:
    return sound(app.button(key=f"{keys.PLAYLIST}{name}").click().run())


def page_of(view: View) -> PageContext:
    return replace(PAGE, view=view)


def file_of(view: View, where: str = "http://127.0.0.1:8500") -> str:
    deck = deck_of(page_of(view), None)
    return deck_file(deck, Session(where, {})).decode()


def test_without_anything_chosen_a_deck_is_suggested() -> None:
    app = opened("Present", View())
    assert shown(app) == ["Title", "Scores", "Confusions", "Systems", *NAMES] and len(NAMES) == 3
    assert app.button(key=f"{keys.PLAYLIST}begin").label == "Present 7 slides"
    assert any("Suggested: **7 slides** on rules" in line.value for line in app.markdown)
    assert sum('class="nvt"' in html.proto.body for html in app.get("html")) == 7


def test_slides_are_taken_out_moved_and_added_and_the_link_has_them() -> None:
    app = press(opened("Present", VIEW), "drop_1")
    assert shown(app) == ["Title", "Confusions", "Systems", *NAMES]
    app = press(app, "later_1")
    assert shown(app) == ["Title", "Systems", "Confusions", *NAMES]
    app = sound(app.selectbox(key=f"{keys.PLAYLIST}add").select("Scores").run())
    after = ["Title", "Systems", "Confusions", *NAMES, "Scores"]
    assert shown(app) == after
    link = address(app)
    start_afresh()
    # Somebody else opens the address.
    other = sound(opened("Present", read_link(link)[0]))
    assert shown(other) == after
    app = press(app, "suggest")
    assert shown(app) == ["Title", "Scores", "Confusions", "Systems", *NAMES] and "deck" not in address(app)


def test_the_last_slide_taken_out_leaves_the_title() -> None:
    app = opened("Present", replace(VIEW, deck=("title", "scores")))
    assert shown(press(app, "drop_1")) == ["Title"]


def test_a_pattern_is_a_slide_with_its_numbers_and_an_example() -> None:
    key, group = next(iter(groups_by_key(PAGE).items()))
    html = slide(opened("Present", replace(VIEW, slide="pattern", pattern=key)))
    assert NAMES[0] in html and f"{group.records} of {group.spans} gold spans" in html and "pattern 1 of 3" in html
    assert "nvh-neighbour" in html and '<p class="nvs-decision">' in html


def test_presenting_starts_at_the_title_or_from_a_slide() -> None:
    app = press(opened("Present", VIEW), "begin")
    assert "<h1>Errors of rules</h1>" in slide(app) and address(app)["slide"] == "record"
    app = press(opened("Present", VIEW), "from_2")
    assert "Gold types" in slide(app) and address(app)["slide"] == "confusion"
    app = press(opened("Present", VIEW), "from_3")
    assert "F1 of 2 systems" in slide(app) and address(app)["slide"] == "systems"
    app = press(opened("Present", VIEW), "from_4")
    assert NAMES[0] in slide(app) and address(app)["slide"] == "pattern"


def test_what_a_link_names_and_is_no_slide_is_said() -> None:
    app = opened("Present", replace(VIEW, deck=("title", "scores", "kind:missed;before:of")))
    assert shown(app) == ["Title", "Scores"]
    assert any("1 pattern of this deck is not among the errors here" in line.value for line in app.markdown)


def test_without_patterns_the_records_of_inspect_are_suggested() -> None:
    app = opened("Present", replace(VIEW, criterion="fragment"))
    names = shown(app)
    assert names[:4] == ["Title", "Scores", "Confusions", "Systems"] and "that Inspect lists" in names[4]


def test_patterns_of_a_large_corpus_wait_for_a_click(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patterns, "SPANS", 10)
    app = opened("Present", VIEW)
    assert not set(NAMES) & set(shown(app))
    assert shown(press(app, "patterns"))[4:7] == NAMES


def test_where_patterns_take_long_all_else_stands_there_before(monkeypatch: pytest.MonkeyPatch) -> None:
    suggested = shown(opened("Present", VIEW))
    events: list[str] = []
    draw, find = lobby._slide, patterns.groups_of
    monkeypatch.setattr(patterns, "SPANS_AT_ONCE", 10)
    monkeypatch.setattr(lobby, "_slide", lambda deck, word, place: (events.append(word), draw(deck, word, place)))
    monkeypatch.setattr(patterns, "groups_of", lambda page: (events.append("found"), find(page))[1])
    app = opened("Present", VIEW)
    first = events.index("found")
    early = deck_of(page_of(VIEW), None, with_patterns=False)
    assert events[:first] == early.first_ids and len(early.slides) >= 2 and not early.has_records
    assert shown(app) == suggested and suggested[first:] == NAMES
    # They are found once: what is clicked then finds them there.
    events.clear()
    assert shown(sound(app.run())) == suggested and events[0] == "found"
    # A link to a show has the whole deck at once.
    assert deck_of(page_of(replace(VIEW, slide="record")), None).patterns


def test_a_figure_names_no_document() -> None:
    doc = DEMO.corpus.documents.ids[0]
    assert doc not in slide(opened("Present", replace(VIEW, slide="scores", doc=doc)))


def test_the_map_says_what_it_hides() -> None:
    cells = PAGE.ledger().confusion()
    of_equal_type = sum(number for (gold, pred), number in cells.items() if gold == pred)
    html = slide(opened("Present", replace(VIEW, slide="confusion")))
    assert f"Not shown: {of_equal_type} pairs of equal type." in html


def test_the_map_counts_the_types_and_errors_that_it_leaves_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pages.shared.present.drawing.TYPES", 1)
    cells = PAGE.ledger().confusion()
    errors = sum(number for (gold, pred), number in cells.items() if gold != pred)
    html = slide(opened("Present", replace(VIEW, slide="confusion")))
    hidden = int(re.search(r"2 types less often mistaken \((\d+) errors\)", html)[1])  # type: ignore[index]
    drawn = sum(int(text) for text in re.findall(r"nvs-cell[^>]*>(\d+)<", html))
    assert hidden + drawn == errors


def test_the_file_has_the_slides_with_notes_and_links() -> None:
    html = file_of(VIEW)
    assert html.count('class="deck-slide"') == 7 and all(name in html for name in NAMES)
    assert html.count("strict: ") == 7 and "http://127.0.0.1:8500/Inspect?corpus=" in html
    assert "http" not in file_of(VIEW, "").replace("http-equiv", "")


def test_the_file_holds_the_records_of_the_list() -> None:
    html = file_of(replace(VIEW, deck=("title", "records")))
    errors = PAGE.ledger().total(Query(decision=("INC", "PAR", "MIS", "SPU"))).records
    assert html.count('class="deck-slide"') == 1 + errors


def test_page_title_and_counters_say_how_many_records_a_file_has(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(present_file, "MOST_RECORDS", 3)
    view = replace(VIEW, deck=("title", "records"))
    total = PAGE.ledger().total(Query(decision=("INC", "PAR", "MIS", "SPU"))).records
    html = file_of(view)
    assert html.count('class="deck-slide"') == 4 and f"<dd>the first 3 of {total} records</dd>" in html
    assert f">3 of {total}<" in html and f">4 of {total}<" not in html
    captions = [caption.value for caption in opened("Present", view).caption]
    assert f"*Download* has 4 slides, with the first 3 of {total} records." in captions
    assert not any("*Download* has" in caption.value for caption in opened("Present", VIEW).caption)


@pytest.mark.parametrize(
    ("where", "term"),
    [
        ("http://127.0.0.1:8501", "opens on its author&#39;s computer alone"),
        ("http://localhost:8501", "opens on its author&#39;s computer alone"),
        ("http://[::1]:8501", "opens on its author&#39;s computer alone"),
        ("https://nereval.example.org/ner", "opens in the app"),
    ],
)
def test_notes_say_whom_their_links_serve(where: str, term: str) -> None:
    html = file_of(VIEW, where)
    assert f'<dt>{term}</dt><dd><a href="{where}/Inspect?corpus=' in html
    assert f">{where}/Inspect</a>" in html, "the link reads as the page, without the state of the view"


def test_a_slide_names_the_system_once() -> None:
    doc = next(record for record in file_of(replace(VIEW, deck=("title", "records"))).split("<article")[2:])
    (under,) = re.findall('<span class="nvs-under">([^<]*)</span>', doc)
    assert under.startswith("strict · ") and "<b>Records of rules</b>" in doc


def test_a_pattern_has_a_true_minus() -> None:
    page = page_of(VIEW)
    group = next(iter(groups_by_key(page).values()))
    assert "F1 −0.012 without these errors" in numbers_of(page, replace(group, gain=-0.0123))


def test_a_playlist_with_records_of_two_corpora_is_one_file() -> None:
    news = load_demo("newspapers")
    there = View(corpus=news.corpus.digest, system="perceptron", criterion="type")
    other = PageContext(news, there, caches.settings_in(news, there))
    errors = ("INC", "PAR", "MIS", "SPU")
    first = PAGE.ledger().first(Query(decision=errors))
    second = other.ledger("type").first(Query(decision=errors))
    assert first and second
    playlist = address(act(opened("Inspect", replace(VIEW, doc=first[0], record=first[1])), "star"))["playlist"]
    there = replace(there, playlist=playlist, doc=second[0], record=second[1])
    act(opened("Inspect", there), "star")
    deck = deck_of(page_of(replace(VIEW, playlist=playlist)), playlists.now().find(playlist))
    html = deck_file(deck, Session("", {loaded.digest: loaded for loaded in (DEMO, news)})).decode()
    assert html.count('<p class="nvs-decision">') == 2 and f"perceptron · type · {second[0]}" in html
    alone = deck_file(deck, Session("", {DEMO.digest: DEMO})).decode()
    assert alone.count('<p class="nvs-decision">') == 1 and "Its corpus is not on this server" in alone


def test_masked_thumbnails_have_no_words_of_the_texts() -> None:
    app = opened("Present", replace(VIEW, mask=MASKED))
    assert len(shown(app)) >= 4
    sent = "\n".join(str(element.proto) for element in app.main)
    assert "Aspirin" not in sent and "Aspirin" in "\n".join(str(e.proto) for e in opened("Present", VIEW).main)


def test_systems_are_compared_as_on_their_page() -> None:
    comparison = systems.comparison_of(PAGE, systems.shown_criteria(PAGE, False))
    rows = ranking.whole(PAGE, comparison).intervals
    html = slide(opened("Present", replace(VIEW, slide="systems")))
    for row in rows.to_dict("records"):
        assert f"{row['f1']:.3f}" in html and f"[{row['f1_low']:.3f}, {row['f1_high']:.3f}]" in html
    assert "F1 of 2 systems under strict" in html and "gold spans in" in html and "resamples of documents" in html


def test_systems_are_compared_by_type() -> None:
    app = opened("Present", replace(VIEW, deck=("title", "scores")))
    app = sound(app.selectbox(key=f"{keys.PLAYLIST}add").select("Systems by type").run())
    assert shown(app) == ["Title", "Scores", "Systems by type"]
    html = slide(opened("Present", replace(VIEW, deck=("title", "systems-by-type"), slide="systems-by-type")))
    assert html.count('class="nvs-facet"') == len(PAGE.types) and "(n=" in html and "by type under strict" in html


def test_one_system_has_nothing_to_be_compared_with() -> None:
    alone = replace(DEMO, corpus=replace(DEMO.corpus, systems=DEMO.corpus.systems[:1]), reading="alone")
    view = View(corpus=alone.corpus.digest, system=alone.corpus.systems[0].name)
    page = PageContext(alone, view, caches.settings_in(alone, view))
    assert "systems" not in deck_of(page, None).slides and "systems" not in figures_of(page)
    asked = PageContext(alone, replace(view, deck=("title", "systems", "scores")), page.settings)
    assert deck_of(asked, None).slides == ("scores",)


def test_scores_have_intervals_and_numbers() -> None:
    html = slide(opened("Present", replace(VIEW, slide="scores")))
    low, high = f1_intervals(PAGE, ("strict",))["strict"]
    assert f"[{low:.3f}, {high:.3f}]" in html and f"n = {len(DEMO.corpus.gold)} gold spans in" in html
    assert f"[{low:.3f}, {high:.3f}]" in file_of(replace(VIEW, deck=("title",)))
    assert low < PAGE.scores().counts("strict").f1 < high  # type: ignore[operator]


def test_intervals_and_systems_of_many_documents_are_not_computed_unasked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(headline, "MOST_DOCUMENTS", 1)
    app = opened("Present", VIEW)
    assert shown(app) == ["Title", "Scores", "Confusions", *NAMES]
    assert "Systems" in app.selectbox(key=f"{keys.PLAYLIST}add").options
    assert "n = " in (html := slide(opened("Present", replace(VIEW, slide="scores")))) and "resamples" not in html


def test_a_refusal_to_compare_systems_leaves_the_other_slides(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise FormatError.single("Resampling", None, "it took too long", "ask for fewer systems")

    monkeypatch.setattr(systems, "comparison_of", refuse)
    html = slide(opened("Present", replace(VIEW, slide="systems")))
    assert "it took too long" in html and "ask for fewer systems" in html
    assert shown(opened("Present", VIEW)) == ["Title", "Scores", "Confusions", "Systems", *NAMES]


@pytest.mark.parametrize("system", ["perceptron", "rules"])
def test_of_many_systems_the_best_are_shown_and_the_one_presented(system: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(systems_slides, "MOST_SYSTEMS", 1)
    html = slide(opened("Present", replace(VIEW, system=system, deck=("title", "systems"), slide="systems")))
    shown_ranking = html.partition('<div class="nvs-ranks')[2]
    assert [name for name in ("perceptron", "rules") if name in shown_ranking] == [system]
    assert "F1 of 2 systems" in html and "Not shown: 1 system." in html


def test_the_title_names_systems_in_the_order_of_their_ranking() -> None:
    page = PageContext(DEMO, VIEW, caches.settings_of(DEMO.corpus.gold, VIEW))
    starred = [
        SimpleNamespace(starred=SimpleNamespace(shown=SimpleNamespace(system=name, criterion="strict")))
        for name in sorted(page.systems, key=lambda name: page.scores(name).counts("strict").f1 or 0)
    ]
    deck: Any = SimpleNamespace(page=page, items=starred, heading="Starred", contents="4 records")
    named = re.findall(r"<dt>([\w-]+), strict</dt><dd>F1 (0\.\d+)", first_slide_html(deck, "", ""))
    assert len(named) == 4 and named == sorted(named, key=lambda pair: pair[1], reverse=True)
