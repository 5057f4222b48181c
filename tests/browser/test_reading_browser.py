"""The reading view in a browser: the card of a record names every criterion, those without a decision too."""

from __future__ import annotations

from dataclasses import replace

from tests.support.browser import Visit
from tests.support.pages import DEMO, VIEW


def test_the_card_names_every_criterion(visit: Visit) -> None:
    visit.open("Inspect", replace(VIEW, doc="en-01", record="g:133-143:PROTEINAS"))
    rows = visit.page.locator(".nv-card .nv-rows li")
    visit.page.get_by_text("all criteria").click()
    rows.first.wait_for()
    name, chip = (rows.locator(at).all_inner_texts() for at in (".nv-name", ".nv-chip"))
    said = dict(zip(name, chip, strict=True))
    assert said["strict"].endswith("incorrect (INC)")
    assert said["fragment"] == "by token"


def test_what_the_bar_holds_ends_before_the_exports(visit: Visit) -> None:
    visit.open("Inspect", VIEW)
    is_clear = """() => {
        const bar = document.querySelector(".st-key-inspect_bar"), frame = bar.getBoundingClientRect();
        const exports = document.querySelector(".ncb-title button").getBoundingClientRect();
        const isInRow = frame.top < exports.top && exports.bottom < frame.bottom;
        return isInRow && frame.right - parseFloat(getComputedStyle(bar).paddingRight) <= exports.left;
    }"""
    for width in (1400, 1440, 1920):
        visit.page.set_viewport_size({"width": width, "height": 900})
        visit.page.wait_for_function(is_clear, timeout=10_000)


def test_the_text_stays_where_a_line_above_it_mounts_the_workbench_anew(visit: Visit) -> None:
    visit.open("Inspect", VIEW)
    search, piece = visit.page.get_by_placeholder("Words or /regex/"), visit.page.locator(".nw-scroll .nv-selected")
    piece.first.wait_for()
    for typed, has_message in (("/[/", True), ("/[Tt]roponin/", False)):
        search.fill(typed)
        with visit.rerun():
            search.press("Enter")
        assert visit.page.get_by_text("is not a regular expression").count() == has_message
        assert visit.eventually(lambda: piece.count() > 0)


def test_an_opened_record_is_in_sight_with_its_labels(visit: Visit) -> None:
    """What stands below the text took its place after the text was scrolled: labels of a record lay under it."""
    visit.page.set_viewport_size({"width": 1440, "height": 640})
    visit.open("Inspect", VIEW)
    is_in_sight = """() => {
        const find = (what) => [...document.querySelectorAll(`.nw-scroll${what}`)];
        const boxes = (what) => find(what).map((box) => box.getBoundingClientRect());
        const [[frame], [record]] = [boxes(""), boxes(" .nv-selected")];
        const isBeside = ({ left, right, top }) =>
            Math.abs(top - record.top) < 50 && left < record.right && right > record.left;
        const own = boxes(" .nv-label").filter(isBeside);
        return own.every(({ top, bottom }) => frame.top - 1 <= top && bottom <= frame.bottom + 1);
    }"""
    for _ in range(8):
        visit.page.locator(".nw-scroll .nv-selected").first.wait_for()
        visit.page.wait_for_function(is_in_sight)
        visit.page.locator(".nw[data-quiet]").wait_for(state="detached")
        visit.page.keyboard.press("j")


def test_the_open_record_stays_in_sight_when_the_text_breaks_into_other_lines(visit: Visit) -> None:
    """A window of another width, or the whole document in the queue's place, left the record above or below."""
    lengths = DEMO.corpus.gold.documents.lengths
    number = int(lengths.argmax())
    gold, doc = DEMO.corpus.gold, DEMO.corpus.documents.ids[number]
    last = int(gold.first[number + 1]) - 1
    record = f"g:{gold.start[last]}-{gold.end[last]}:{gold.label(last)}"
    visit.page.set_viewport_size({"width": 1900, "height": 640})
    visit.open("Inspect", replace(VIEW, doc=doc, record=record))
    # As if it were long.
    visit.page.add_style_tag(content=".nw-scroll .nv-text { font-size: 3rem !important; }")
    is_in_sight = """() => {
        const [frame, record] = [".nw-scroll", ".nw-scroll .nv-selected"].map((name) =>
            document.querySelector(name)?.getBoundingClientRect());
        return record && frame.top <= record.top && record.bottom <= frame.bottom;
    }"""
    for width in (1900, 800, 1900, 800):
        visit.page.set_viewport_size({"width": width, "height": 640})
        visit.page.wait_for_timeout(300)
        visit.page.wait_for_function(is_in_sight)
    # On a narrow screen the page scrolls.
    is_above_bar = """() => {
        const [record, bar] = [".nw-scroll .nv-selected", ".nw-bar"].map((name) =>
            document.querySelector(name).getBoundingClientRect());
        return 0 <= record.top && record.bottom <= bar.top;
    }"""
    visit.page.set_viewport_size({"width": 390, "height": 844})
    visit.page.wait_for_timeout(300)
    visit.page.wait_for_function(is_above_bar)
    visit.page.set_viewport_size({"width": 1400, "height": 640})
    visit.page.locator(".nw[data-quiet]").wait_for(state="detached")
    for _ in range(2):
        with visit.rerun():
            visit.page.keyboard.press("w")
        visit.page.wait_for_function(is_in_sight)


def test_focus_goes_in_the_order_of_sight_at_every_width(visit: Visit) -> None:
    """On a telephone the text stands above the queue, and Tab reached the queue first."""
    visit.open("Inspect", VIEW)
    visit.page.locator(".nw-scroll .nv-selected").first.wait_for()
    in_order = """(first) => {
        const [text, queue] = [".nw-pane", ".nw-queue"].map((name) => document.querySelector(name));
        const [textBox, queueBox] = [text, queue].map((part) => part.getBoundingClientRect());
        const isTextFirst = Boolean(text.compareDocumentPosition(queue) & Node.DOCUMENT_POSITION_FOLLOWING);
        const isSeenFirst = textBox.bottom <= queueBox.top;
        return isTextFirst === (first === "text") && isSeenFirst === (first === "text");
    }"""
    for width, first in ((1440, "queue"), (390, "text"), (1024, "queue")):
        visit.page.set_viewport_size({"width": width, "height": 844})
        visit.page.wait_for_function(in_order, arg=first)
