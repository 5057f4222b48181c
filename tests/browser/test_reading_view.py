"""The reading view in a real browser: the text is the document, spans can be reached, fast keys lose no step."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, pairwise
from typing import Any

import pytest
from hypothesis import given

from nereval_core.report.marks import Mark
from pages.shared.components.highlighted_text import DRAWING, STYLE, text_data
from tests.report.test_highlight import marked
from tests.support import ROOT
from tests.support.draws import draws

HERE = ROOT / "pages" / "shared" / "components"

MOUNT = """async ([source, style]) => {
    const made = await import(URL.createObjectURL(new Blob([source], { type: "text/javascript" })));
    document.head.append(Object.assign(document.createElement("style"), { textContent: style }));
    const parentElement = document.createElement("div");
    document.body.replaceChildren(parentElement);
    window.sent = [];
    const setTriggerValue = (name, value) => window.sent.push(value);
    window.show = (data) => { window.stop = made.default({ data, parentElement, setTriggerValue }); };
    window.text = () => document.querySelector(".nv-text").textContent;
}"""


@pytest.fixture(scope="module")
def tab(browser: Any) -> Iterator[Any]:
    """One tab for all tests: to make one takes longer than most of them."""
    context = browser.new_context()
    tab = context.new_page()
    problems: list[str] = []
    tab.on("pageerror", lambda error: problems.append(str(error)))
    yield tab
    context.close()
    assert problems == []


@pytest.fixture
def page(tab: Any) -> Any:
    tab.set_viewport_size({"width": 1000, "height": 800})
    # As in the app, and not as browsers draw pages of the last century.
    tab.set_content("<!doctype html><html><body></body></html>")
    source = DRAWING + (HERE / "highlighted_text.js").read_text(encoding="utf-8")
    tab.evaluate(MOUNT, [source, STYLE])
    return tab


def show(page: Any, data: dict[str, Any]) -> None:
    page.evaluate("data => window.show(data)", data)


def test_the_text_on_screen_is_the_document(page: Any) -> None:
    @draws(20)
    @given(marked())
    def holds(case: tuple[str, list[Mark]]) -> None:
        text, spans = case
        show(page, text_data(text, spans))
        assert page.evaluate("window.text()") == text
        reached = page.locator("button.nv-piece")
        assert reached.count() == len(spans)
        assert page.locator("script, img, iframe, style:not(head style)").count() == 0

    holds()


TEXT = "Give [1] Aspirin\r\ntablet\0 to\rthe patient."
SPANS = [
    Mark("gold", 0, ((9, 24),), "Drug", "INC", "g:9-24:Drug"),
    Mark("prediction", 0, ((9, 16),), "Drug", "INC", "g:9-24:Drug"),
    Mark("prediction", 1, ((33, 40),), "Drug", "SPU", "p:33-40:Drug"),
]
QUEUE = [("d", "g:9-24:Drug"), ("d", "p:33-40:Drug"), ("e", "g:0-1:Drug"), ("e", "g:5-6:Drug")]


def shown(selected: str = "", at: float = -0.5) -> dict[str, Any]:
    return text_data(TEXT, SPANS, doc="d", selected=selected, queue=QUEUE, at=at)


def test_what_is_copied_is_the_text_without_labels(page: Any) -> None:
    show(page, shown())
    copied = """() => {
        document.getSelection().selectAllChildren(document.querySelector(".nv-reader"));
        const clipboardData = new DataTransfer();
        const event = new ClipboardEvent("copy", { bubbles: true, cancelable: true, clipboardData });
        document.querySelector(".nv-text").dispatchEvent(event);
        return event.clipboardData.getData("text/plain");
    }"""
    assert page.evaluate(copied) == TEXT


def test_spans_are_buttons_with_words_and_a_click_sends_the_record(page: Any) -> None:
    show(page, shown())
    page.get_by_role("button", name="predicted span patient, type Drug, spurious (SPU)").click()
    assert page.evaluate("window.sent") == [{"doc": "d", "record": "p:33-40:Drug"}]


def test_tab_and_enter_choose_a_span(page: Any) -> None:
    show(page, shown())
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == (
        "gold span Aspirin tablet, type Drug, incorrect (INC)"
    )
    page.keyboard.press("Enter")
    assert page.evaluate("window.sent") == [{"doc": "d", "record": "g:9-24:Drug"}]


def records(page: Any) -> list[str]:
    return [item["record"] for item in page.evaluate("window.sent")]


def test_fast_keys_lose_no_step_while_answers_are_late(page: Any) -> None:
    show(page, shown())
    for key in "jj":
        page.keyboard.press(key)
    # The answer to the first j arrives after the second was pressed.
    show(page, shown("g:9-24:Drug", 0))
    page.keyboard.press("j")
    show(page, shown("p:33-40:Drug", 1))
    page.keyboard.press("j")
    page.keyboard.press("k")
    assert records(page) == ["g:9-24:Drug", "p:33-40:Drug", "g:0-1:Drug", "g:5-6:Drug", "g:0-1:Drug"]


def test_keys_stop_at_the_ends_and_leave_other_uses_alone(page: Any) -> None:
    show(page, shown("g:9-24:Drug", 0))
    page.keyboard.press("k")
    page.keyboard.press("Control+j")
    assert records(page) == []
    page.evaluate("document.body.append(document.createElement('input'))")
    page.locator("input").press("j")
    assert records(page) == []
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("Escape")
    assert page.evaluate("window.sent") == [{"doc": "d", "record": ""}]


def test_drawn_again_and_taken_away_it_listens_once_and_then_not(page: Any) -> None:
    for _ in range(3):
        show(page, shown())
    page.keyboard.press("j")
    assert records(page) == ["g:9-24:Drug"]
    page.evaluate("window.stop()")
    page.keyboard.press("j")
    assert records(page) == ["g:9-24:Drug"]


def test_pieces_lie_over_and_under_their_text(page: Any) -> None:
    show(page, shown())
    boxes = {side: page.locator(f".nv-piece.nv-{side}").first.bounding_box() for side in ("gold", "prediction")}
    line = page.evaluate(
        """() => {
            const range = document.createRange();
            range.selectNodeContents(document.querySelector(".nv-words"));
            return range.getBoundingClientRect().toJSON();
        }"""
    )
    assert boxes["gold"]["y"] + boxes["gold"]["height"] <= line["top"] + 3
    assert boxes["prediction"]["y"] >= line["bottom"] - 3
    assert abs(boxes["prediction"]["x"] - line["left"]) < 2
    assert abs(boxes["prediction"]["width"] - line["width"]) < 2


def test_right_to_left_text_runs_right_to_left(page: Any) -> None:
    text = "قال محمد علي في القاهرة\nIn Cairo he said"
    show(page, text_data(text, [Mark("gold", 0, ((4, 12),), "Person", "MIS", "r")]))
    directions = [
        page.locator(".nv-paragraph").nth(number).evaluate("e => getComputedStyle(e).direction") for number in (0, 1)
    ]
    assert directions == ["rtl", "ltr"]
    piece, words, line = (
        page.locator(name).first.bounding_box() for name in ("button.nv-piece", ".nv-words", ".nv-paragraph")
    )
    assert abs(piece["x"] - words["x"]) < 2 and abs(piece["width"] - words["width"]) < 2
    assert piece["x"] + piece["width"] / 2 > line["x"] + line["width"] / 2
    # The label begins at the start of its span, which is at the right.
    assert page.locator(".nv-label").evaluate("e => getComputedStyle(e).direction") == "rtl"


LONG = "word " * 60


def test_a_label_runs_on_where_its_lane_is_free_and_is_repeated_where_its_span_wraps(page: Any) -> None:
    text = f"{LONG}a b {LONG}"
    low = len(LONG)
    kind = "A rather long type name"
    wrapped = Mark("prediction", 0, ((5, low - 5),), kind, "SPU", "q")
    show(page, text_data(text, [Mark("gold", 0, ((low, low + 1),), kind, "MIS", "r"), wrapped]))
    pieces = page.locator(".nv-piece")
    assert pieces.count() > 2
    short = page.locator(".nv-gold").bounding_box()
    label = page.locator(".nv-gold .nv-label")
    assert label.bounding_box()["width"] > 5 * short["width"]
    assert label.evaluate("e => e.scrollWidth <= e.clientWidth && e.dataset.fitted === e.dataset.label")
    labels = page.locator(".nv-prediction .nv-label").evaluate_all("all => all.map(e => e.dataset.label)")
    assert labels == [f"+ {kind}", *[f"… {kind}"] * (len(labels) - 1)] and len(labels) > 1
    assert page.locator("button.nv-prediction").get_attribute("title").endswith(f"type {kind}, spurious (SPU)")


def test_labels_are_whole_on_lanes_of_their_own_and_never_lie_over_one_another(page: Any) -> None:
    words = [f"organisation.{kind}" for kind in ("political", "commercial", "sports", "religious", "media", "state")]
    text = " ".join(f"{word} Ltd" for word in ("Aa", "Bbbbbb", "Cc", "Dddddddd", "Ee", "Fff")) + " " + LONG
    starts = [text.index(letter) for letter in "ABCDEF"]
    show(
        page,
        text_data(
            text, [Mark("gold", at, ((low, low + 2),), words[at], "MIS", f"g{at}") for at, low in enumerate(starts)]
        ),
    )
    boxes = [page.locator(".nv-label").nth(number).bounding_box() for number in range(len(words))]
    for one, other in combinations(boxes, 2):
        beside = one["x"] + one["width"] <= other["x"] or other["x"] + other["width"] <= one["x"]
        assert beside or abs(one["y"] - other["y"]) >= 13
    labels = page.locator(".nv-label").evaluate_all("all => all.map(e => [e.dataset.fitted, e.dataset.label])")
    assert [fitted for fitted, _ in labels] == [label for _, label in labels] and len(labels) == len(words)


def test_a_line_is_as_high_as_its_own_lanes_need(page: Any) -> None:
    text = f"{LONG}{LONG}"
    show(page, text_data(text, [Mark("gold", 0, ((0, 4),), "X", "MIS", "r")]))
    tops = page.evaluate(
        """() => {
            const range = document.createRange();
            const walker = document.createTreeWalker(document.querySelector(".nv-text"), NodeFilter.SHOW_TEXT);
            const tops = new Set();
            while (walker.nextNode()) {
                range.selectNodeContents(walker.currentNode);
                for (const box of range.getClientRects()) tops.add(Math.round(box.top));
            }
            return [...tops].sort((a, b) => a - b);
        }"""
    )
    steps = [below - above for above, below in pairwise(tops)]
    assert len(steps) > 1 and set(steps) == {26}
    assert page.locator(".nv-text").bounding_box()["height"] > 26 * len(tops) + 10


def test_a_narrow_window_does_not_scroll_sideways(page: Any) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    text = "unbreakable" * 60 + " end"
    show(page, text_data(text, [Mark("gold", 0, ((650, 664),), "A rather long type name" * 3, "MIS", "r")]))
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_a_span_over_several_hard_wrapped_lines_is_ruled_on_each(page: Any) -> None:
    text = "His Excellency the\nGovernor General\nof the Province said\nso."
    show(page, text_data(text, [Mark("gold", 0, ((4, 50),), "Person", "MIS", "r")]))
    pieces = page.locator(".nv-piece.nv-gold")
    assert pieces.count() == 3
    lines = page.locator(".nv-words .nv-words")
    for number in range(3):
        piece, line = pieces.nth(number).bounding_box(), lines.nth(number).bounding_box()
        assert 0 <= line["y"] - piece["y"] < 30 and abs(piece["x"] - line["x"]) < 2
    tops = [pieces.nth(number).bounding_box()["y"] for number in range(3)]
    assert all(below - above > 30 for above, below in pairwise(tops))
