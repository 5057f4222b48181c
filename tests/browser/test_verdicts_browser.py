"""Verdicts by keyboard in a browser: no key is lost, a name is asked for once, and all is there after a reload."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from nereval_core.review.store import ReviewStore
from nereval_core.review.verdicts import Draft
from pages.shared.view import View
from tests.browser.test_accessibility import grave
from tests.support.browser import Visit, serve_app
from tests.support.pages import VIEW

WHO, OTHER = "Ann 1u2", "Eve"
KEYS = "1251135212"
KINDS = ["gold", "pred", "unclear", "gold", "gold", "both", "unclear", "pred", "gold", "pred"]


@pytest.fixture
def store() -> Iterator[ReviewStore]:
    """The store of the running app, left as it was found."""
    found = ReviewStore(os.environ["NEREVAL_REVIEW_URL"])
    yield found
    for who in (OTHER, WHO):
        while found.undo(who):
            pass
    found.close()


TYPED_AT_ONCE = """() => document.querySelector(".nw-verdict")
    && [..."us1m4"].every((key) => document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true })))"""
"""Types as soon as there are buttons; no key is taken."""


POINTED_AT = """() => {
    const entry = document.querySelector(".nw-entry[data-at='1']");
    entry?.dispatchEvent(new PointerEvent("pointerdown", { bubbles: true }));
    entry?.click();
    document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "4", bubbles: true }));
    return Boolean(entry);
}"""
"""Clicks the second record as soon as it is there, and presses a key at once."""


def first_drawn(visit: Visit) -> None:
    """Open the page and wait for the first moment at which its buttons are there, not for the end of its run."""
    visit.page.goto("about:blank")
    visit.open_at_once("Inspect", VIEW)
    visit.page.locator(".nw-verdict").first.wait_for()


def opened(visit: Visit) -> None:
    """Open the page and wait until its record takes keys, not for the end of its run."""
    first_drawn(visit)
    visit.page.locator(".nw[data-quiet]").wait_for(state="detached")


def place(visit: Visit) -> int:
    return int(visit.page.locator(".nw-entry[aria-current]").get_attribute("data-at"))


def test_keys_that_were_meant_for_something_else_decide_nothing(visit: Visit, store: ReviewStore) -> None:
    given = len(store.every())
    visit.page.goto("about:blank")
    visit.open_at_once("Inspect", VIEW)
    # Whoever types before anything can be read has not meant this record.
    visit.page.wait_for_function(TYPED_AT_ONCE)
    visit.wait_until_drawn(0)
    assert visit.page.get_by_role("button", name="Star", exact=True).get_attribute("aria-pressed") == "false"
    assert not visit.page.locator(".nw-editing").count() and place(visit) == 0
    # Whoever points at a record has seen it: its keys count at once.
    visit.page.goto("about:blank")
    visit.open_at_once("Inspect", VIEW)
    visit.page.wait_for_function(POINTED_AT)
    visit.page.locator(".nw-keep").wait_for()
    assert place(visit) == 1
    visit.page.keyboard.press("Escape")
    visit.page.wait_for_function("() => location.search.includes('record=')")
    visit.press("k")
    visit.wait_until_drawn(0)
    # Without its search box the page keeps what is typed for it.
    visit.page.evaluate("() => document.querySelector('.st-key-widget_q').classList.replace('st-key-widget_q', 'late')")
    visit.page.keyboard.type("/1st")
    assert place(visit) == 0
    visit.page.evaluate("() => document.querySelector('.late')?.classList.replace('late', 'st-key-widget_q')")
    visit.page.wait_for_function("() => document.activeElement.value === '1st'")
    visit.page.keyboard.press("Escape")
    visit.wait_until_drawn(0)
    assert len(store.every()) == given and not visit.page.locator(".nw-name").count()


def test_no_move_is_lost_from_the_first_moment_on(visit: Visit) -> None:
    for _ in range(2):
        first_drawn(visit)
        assert place(visit) == 0
        for _ in range(3):
            visit.page.keyboard.press("j")
        assert place(visit) == 3
        visit.wait_until_drawn(0)
        visit.page.wait_for_function("() => location.search.includes('record=')")
        visit.page.wait_for_timeout(500)
        assert place(visit) == 3


def test_ten_records_by_keyboard_faster_than_the_page_and_still_there(visit: Visit, store: ReviewStore) -> None:
    given = len(store.every())
    opened(visit)
    # The question comes with the first key, and takes none of those that follow, however late.
    for key in KEYS[:5]:
        visit.page.keyboard.press(key)
    field = visit.page.locator(".nw-name").get_by_label("Your name")
    field.wait_for()
    for key in "kj":
        visit.page.wait_for_timeout(800)
        visit.page.keyboard.press(key)
    assert visit.eventually(lambda: place(visit) == 5) and field.input_value() == ""
    field.click()
    visit.page.keyboard.type(WHO)
    assert len(store.every()) == given and field.input_value() == WHO
    visit.page.keyboard.press("Enter")
    field.wait_for(state="detached")
    # A record that came up unasked takes no key for a moment.
    visit.page.locator(".nw[data-quiet]").wait_for(state="detached")
    for key in KEYS[5:]:
        visit.page.keyboard.press(key)
    assert visit.eventually(lambda: place(visit) == 10 and len(store.every()) == given + 10)
    assert [(one.who, one.verdict.kind) for one in store.every()[given:]] == [(WHO, kind) for kind in KINDS]
    names = [one.verdict.key.record for one in store.every()[given:]]
    assert len(set(names)) == 10
    note = visit.page.get_by_label("Note", exact=True)
    note.click()
    visit.page.keyboard.type("12345 u j k")
    visit.page.keyboard.press("Enter")
    assert note.input_value() == "12345 u j k" and len(store.every()) == given + 10
    visit.press("u")
    assert visit.eventually(lambda: len(store.reviewed()) == 9 and place(visit) == 9)
    opened(visit)
    visit.page.get_by_text("9 of 60 reviewed").first.wait_for()
    # The browser remembers who gives the verdicts.
    visit.page.keyboard.press("2")
    assert visit.eventually(lambda: store.every()[-1].verdict.kind == "pred" and store.every()[-1].who == WHO)


def test_where_somebody_was_first_keys_go_on_with_the_open_record(visit: Visit, store: ReviewStore) -> None:
    given = len(store.every())
    opened(visit)
    visit.page.keyboard.press("1")
    visit.page.locator(".nw-name").get_by_label("Your name").fill(WHO)
    visit.page.keyboard.press("Enter")
    assert visit.eventually(lambda: len(store.every()) == given + 1)
    visit.page.get_by_text("Kept as").wait_for()
    own = store.every()[-1]
    store.give([Draft(structs.replace(own.verdict, kind="pred"), own.version)], OTHER)
    for key in "k5":
        visit.page.keyboard.press(key)
    question = visit.page.locator(".nw-said", has_text="Somebody was first on")
    question.wait_for()
    assert place(visit) == 1 and len(store.every()) == given + 2
    visit.page.keyboard.press("3")
    assert visit.eventually(lambda: len(store.every()) == given + 3 and place(visit) == 2)
    assert store.every()[-1].verdict.key != own.verdict.key and OTHER in question.inner_text()
    question.get_by_role("button", name="Mine counts").click()
    assert visit.eventually(lambda: store.every()[-1].verdict.kind == "unclear")
    assert store.every()[-1].verdict.key == own.verdict.key
    question.wait_for(state="detached")
    assert place(visit) == 2
    # Verdicts on one record are taken back in their order.
    store.undo(WHO)


def test_a_span_is_corrected_in_the_text_by_keys_and_drags(visit: Visit, store: ReviewStore) -> None:
    given = len(store.every())
    opened(visit)
    live = visit.page.locator(".nw-live")
    visit.page.keyboard.press("4")
    visit.page.get_by_role("button", name="keep").wait_for()
    assert live.inner_text() == "troponin I, PROTEINAS, characters 133 to 143; keys move the end"
    # Its own lane, over gold, and the keys beside it.
    assert visit.page.locator(".nv-right").count() == 1 and "edge by word" in visit.page.locator(".nw-bar").inner_text()
    assert not grave(visit, None)
    visit.page.keyboard.press("Shift+ArrowRight")
    assert visit.eventually(lambda: live.inner_text().startswith("troponin I rose, PROTEINAS, characters 133 to 148"))
    drag(visit, 129, 141)
    assert visit.eventually(lambda: live.inner_text().startswith("and troponin, PROTEINAS, characters 129 to 141"))
    drag(visit, 144, 148, "Control")
    assert "characters 129 to 141 and 144 to 148" in live.inner_text()
    visit.page.get_by_role("button", name="Move the start a word on").click()
    assert "and 144 to 148" in live.inner_text()
    # All keys are a key away; whoever presses a button goes on with keys of the editor, and Enter keeps.
    visit.page.keyboard.press("?")
    visit.page.get_by_text("move the edge by a character").wait_for()
    visit.page.set_viewport_size({"width": 1440, "height": 400})
    assert visit.page.locator(".nk-sheet").evaluate(
        "sheet => sheet.scrollHeight > sheet.clientHeight && !sheet.scrollTop"
    )
    visit.page.set_viewport_size({"width": 1440, "height": 900})
    visit.page.keyboard.press("Escape")
    further = visit.page.get_by_role("button", name="+ fragment")
    further.press("Enter")
    assert visit.page.evaluate("document.activeElement.className") == "nw-scroll"
    further.click()
    assert (
        visit.page.evaluate("document.activeElement.className") == "nw-scroll" and live.inner_text().count(" to ") == 4
    )
    visit.page.keyboard.press("Escape")
    visit.page.get_by_role("button", name="neither").wait_for()
    assert len(store.every()) == given and visit.page.locator(".nv-right").count() == 0
    # A row that was clicked keeps the focus: Enter is for the editor all the same.
    visit.page.locator(".nw-entry[data-at='0']").click()
    visit.page.keyboard.press("4")
    visit.page.get_by_role("button", name="keep").wait_for()
    visit.page.keyboard.press("Shift+ArrowRight")
    visit.page.keyboard.press("Enter")
    field = visit.page.locator(".nw-name").get_by_label("Your name")
    field.fill(WHO)
    field.press("Enter")
    assert visit.eventually(lambda: len(store.every()) == given + 1)
    (right,) = store.every()[-1].verdict.right
    assert right.fragments == ((133, 148),)
    entry = visit.page.locator(".nw-entry[data-at='0']")
    entry.get_by_text("troponin I rose PROTEINAS").wait_for()
    visit.page.locator(".nw-entry[data-at='1'][aria-current]").wait_for()


def test_a_reload_brings_back_verdicts_that_wait_for_a_name(visit: Visit, store: ReviewStore) -> None:
    given = len(store.every())
    opened(visit)
    for key in KEYS[:3]:
        visit.page.keyboard.press(key)
    visit.page.get_by_text("3 verdicts wait for your name").wait_for()
    with visit.accept_dialogs():
        visit.page.reload()
    visit.page.get_by_text("3 verdicts wait for your name").wait_for()
    assert visit.page.locator(".nw-entry .nw-given").count() == 3 and len(store.every()) == given
    field = visit.page.locator(".nw-name").get_by_label("Your name")
    field.fill(WHO)
    field.press("Enter")
    field.wait_for(state="detached")
    assert visit.eventually(lambda: len(store.every()) == given + 3)
    # What is kept does not come back, once the browser has heard that it is.
    unkept = "() => Object.keys(sessionStorage).filter((key) => key.includes('verdicts'))"
    assert visit.eventually(lambda: visit.page.evaluate(unkept) == [])
    opened(visit)
    visit.page.get_by_text("3 of 60 reviewed").first.wait_for()
    assert [(one.who, one.verdict.kind) for one in store.every()[given:]] == [(WHO, kind) for kind in KINDS[:3]]
    assert visit.page.evaluate(unkept) == []


def test_a_reload_brings_an_edit_back_as_a_draft(visit: Visit, store: ReviewStore) -> None:
    given = len(store.every())
    opened(visit)
    visit.page.keyboard.press("4")
    visit.page.get_by_role("button", name="keep").wait_for()
    visit.page.keyboard.press("Shift+ArrowRight")
    with visit.accept_dialogs():
        visit.page.reload()
    visit.page.locator(".nw-entry[data-at='0'] .nw-draft").wait_for()
    visit.page.locator(".nv-right").first.wait_for()
    visit.page.locator(".nw[data-quiet]").wait_for(state="detached")
    visit.page.keyboard.press("Enter")
    live = visit.page.locator(".nw-live")
    assert visit.eventually(lambda: live.inner_text().startswith("troponin I rose, PROTEINAS, characters 133 to 148"))
    visit.page.keyboard.press("Shift+ArrowLeft")
    with visit.accept_dialogs():
        visit.page.reload()
    visit.page.get_by_text("A draft is back").wait_for()
    visit.page.locator(".nw[data-quiet]").wait_for(state="detached")
    visit.page.keyboard.press("Escape")
    visit.page.locator(".nw-draft").wait_for(state="detached")
    assert visit.page.get_by_text("A draft is back").count() == 0
    assert (
        len(store.every()) == given and visit.page.evaluate("() => JSON.stringify(sessionStorage)").count("spans") == 0
    )


def test_an_entity_that_nobody_marked_is_drawn_and_by_touch_buttons_move_edges(visit: Visit) -> None:
    opened(visit)
    drag(visit, 40, 45)
    live = visit.page.locator(".nw-live")
    assert visit.eventually(lambda: live.inner_text().startswith("chest, no type yet, characters 40 to 45"))
    visit.page.locator(".nw-type", has_text="PROTEINAS").click()
    visit.page.get_by_role("button", name="Move the end a word on").click()
    assert visit.eventually(lambda: live.inner_text().startswith("chest pain, PROTEINAS, characters 40 to 50"))
    # On a narrow screen the text stands above the editor.
    visit.page.set_viewport_size({"width": 390, "height": 844})
    visit.page.get_by_role("button", name="leave").click()
    # By touch a stretch is selected with the browser's own handles.
    select = """() => {
        const scroll = document.querySelector(".nw-scroll");
        scroll.dispatchEvent(new PointerEvent("pointerdown", { pointerType: "touch", bubbles: true }));
        const first = document.createTreeWalker(scroll.querySelector(".nv-text"), NodeFilter.SHOW_TEXT).nextNode();
        document.getSelection().setBaseAndExtent(first, 2, first, 9);
    }"""
    visit.page.evaluate(select)
    visit.page.get_by_role("button", name="leave").wait_for()
    assert visit.eventually(lambda: live.inner_text().startswith("retired, no type yet, characters 2 to 9"))
    visit.page.get_by_role("button", name="leave").click()
    visit.page.get_by_role("button", name="neither").click()
    visit.page.wait_for_function(
        "() => document.querySelector('.nv-right.nv-selected').getBoundingClientRect().bottom"
        " < document.querySelector('.nw-bar').getBoundingClientRect().top"
    )


def test_enter_leads_to_a_draft_that_is_far_down_in_the_text(browser: Any, tmp_path: Path) -> None:
    text = "Ann met Bob in Rome, and they spoke about the weather and the price of bread.\n" * 600
    files = [tmp_path / f"{name}.jsonl" for name in ("gold", "run")]
    for file, end in zip(files, (3, 7), strict=True):
        spans = [{"start": 0, "end": end, "label": "PER"}]
        file.write_text(json.dumps({"id": "long", "text": text, "spans": spans}) + "\n")
    with serve_app("--files", *map(str, files)) as address:
        visit = Visit(browser, address)
        visit.open("Inspect", View())
        page = visit.page
        page.get_by_role("button", name="neither").click()
        page.locator(".nw-type", has_text="PER").wait_for()
        page.keyboard.press("Shift+ArrowRight")
        stored = "() => Object.keys(sessionStorage).find((key) => key.startsWith('nereval drafts'))"
        owner = page.wait_for_function(stored).json_value()
        page.keyboard.press("Escape")
        page.wait_for_function("(owner) => !sessionStorage.getItem(owner)", arg=owner)
        place = text.index("Rome", 30_000)
        drafts = {f"long\nnew {place}": {"spans": [{"fragments": [[place, place + 4]], "type": "PER"}]}}
        page.evaluate("([owner, drafts]) => sessionStorage.setItem(owner, drafts)", [owner, json.dumps(drafts)])
        visit.open("Inspect", View())
        page.get_by_text("A draft is back").wait_for()
        page.locator(".nw-scroll").click(position={"x": 5, "y": 200})
        page.keyboard.press("Enter")
        in_sight = """() => {
            const frame = document.querySelector(".nw-scroll").getBoundingClientRect();
            const box = document.querySelector(".nw-editing .nw-scroll .nv-selected")?.getBoundingClientRect();
            return box && frame.top <= box.top && box.bottom <= frame.bottom;
        }"""
        page.wait_for_function(in_sight)
        assert page.locator(".nw-live").inner_text().startswith(f"Rome, PER, characters {place} to")
        page.keyboard.press("Escape")
        visit.close()


def drag(visit: Visit, start: int, end: int, held: str = "") -> None:
    """Drag over characters of the text, by their number."""
    places = """([start, end]) => {
        const walk = document.createTreeWalker(document.querySelector(".nv-text"), NodeFilter.SHOW_TEXT);
        const at = [];
        for (let [node, passed] = [walk.nextNode(), 0]; node; passed += node.data.length, node = walk.nextNode())
            for (const place of [start, end])
                if (passed <= place && place < passed + node.data.length) {
                    const range = document.createRange();
                    range.setStart(node, place - passed);
                    range.setEnd(node, place - passed + 1);
                    const box = range.getBoundingClientRect();
                    at.push([box.left, (box.top + box.bottom) / 2]);
                }
        return at;
    }"""
    (left, top), (right, bottom) = visit.page.evaluate(places, [start, end])
    mouse, keyboard = visit.page.mouse, visit.page.keyboard
    if held:
        keyboard.down(held)
    mouse.move(left + 0.5, top)
    mouse.down()
    mouse.move((left + right) / 2, bottom)
    mouse.move(right + 0.5, bottom)
    mouse.up()
    if held:
        keyboard.up(held)
    visit.page.evaluate("() => new Promise((done) => setTimeout(done, 50))")


def test_the_chrome_above_the_text_is_low_and_the_bar_in_sight(visit: Visit) -> None:
    visit.open("Inspect", VIEW)
    visit.page.locator(".nv-text").wait_for()
    assert visit.eventually(lambda: visit.page.locator(".nw-scroll").bounding_box()["y"] <= 200)
    for width, height in ((1440, 900), (1280, 720), (1024, 768)):
        visit.page.set_viewport_size({"width": width, "height": height})
        visit.page.wait_for_function(
            "() => document.querySelector('.nw-bar').getBoundingClientRect().bottom <= window.innerHeight"
        )
    # On a telephone the text comes first: the search is folded, until its key is pressed.
    visit.page.set_viewport_size({"width": 390, "height": 844})
    assert visit.eventually(lambda: visit.page.locator(".nw-scroll").bounding_box()["y"] <= 300)
    search = visit.page.locator(".st-key-widget_q input")
    assert not search.is_visible()
    visit.page.keyboard.press("/")
    search.wait_for()
    visit.page.keyboard.press("Escape")
    # The page is scrolled to the span that is decided on.
    for _ in range(6):
        visit.page.keyboard.press("j")
        visit.page.wait_for_timeout(100)
        visit.page.wait_for_function(
            """() => {
                const box = (name) => document.querySelector(name).getBoundingClientRect();
                const [span, bar] = [box(".nv-selected"), box(".nw-bar")];
                return 0 < span.top && span.bottom < bar.top;
            }"""
        )


def test_a_document_alone_is_read_as_a_whole_and_w_leads_back_to_the_queue(visit: Visit) -> None:
    visit.open("Inspect", replace(VIEW, doc="en-02"))
    visit.page.locator(".nv-text").wait_for()
    assert not visit.page.locator(".nw-queue").is_visible()
    ticks = visit.page.locator(".nw-tick")
    assert ticks.count() > 2
    ticks.first.click()
    visit.page.locator(".nv-selected").first.wait_for()
    visit.page.wait_for_function("() => location.search.includes('record=')")
    visit.press("w")
    visit.page.locator(".nw-entry[aria-current]").wait_for()
