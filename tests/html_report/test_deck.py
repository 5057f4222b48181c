"""A deck as one file: hostile words are text, its policy lets its own script run alone, and what its keys do."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from markupsafe import Markup

from nereval_core.html_report.deck import DECK_KEYS, DeckSlide, deck_html
from nereval_core.report.slides import title_html
from tests.support.scripts import run_scripts

Press = Callable[..., dict[str, Any]]
HOSTILE = '</script><script>alert(1)</script><img src=x onerror=alert(1)>"\u202e'
SLIDE = DeckSlide("Scores", title_html("Errors of rules", [("corpus", "News")]), [("criterion", "strict")])


def test_a_deck_has_its_slides_with_names_and_notes() -> None:
    page = deck_html("Monday", [SLIDE, SLIDE._replace(name="Second")])
    assert "<title>Monday</title>" in page and page.count("<h1>Errors of rules</h1>") == 2
    assert 'aria-label="2 of 2: Second"' in page and "<dt>criterion</dt><dd>strict</dd>" in page
    assert deck_html("Monday", [SLIDE]) == deck_html("Monday", [SLIDE])


def test_hostile_words_are_text() -> None:
    slide = DeckSlide(
        HOSTILE, title_html(HOSTILE, [(HOSTILE, HOSTILE)]), [(HOSTILE, f"https://{HOSTILE}"), ("a", HOSTILE)]
    )
    page = deck_html(HOSTILE, [slide])
    assert page.count("<script>") == page.count("</script>") == 1 and "<img" not in page


def test_only_a_web_address_is_a_link() -> None:
    notes = [("a", "https://example.org/?a=1&b=2"), ("b", "javascript:alert(1)")]
    page = deck_html("Monday", [SLIDE._replace(notes=notes)])
    assert re.findall('href="([^"]*)"', page) == ["https://example.org/?a=1&amp;b=2"]


def test_the_policy_allows_its_own_script_and_nothing_from_elsewhere() -> None:
    page = deck_html("Monday", [SLIDE])
    (script,) = re.findall("<script>(.*?)</script>", page, flags=re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    (policy,) = re.findall('Content-Security-Policy" content="([^"]*)"', page)
    assert f"script-src &#39;sha256-{digest}&#39;" in policy and "default-src &#39;none&#39;" in policy
    assert not re.search(r"""(src|href)=["']?(http|//)|url\(|@import|onclick|fetch\(""", page)


def test_a_deck_without_slides_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one slide"):
        deck_html("Monday", [])


@pytest.fixture(scope="module")
def press(request: pytest.FixtureRequest) -> Press:
    """Return the state of a deck after some keys."""
    run = run_scripts(request, "deck_state", folder="../../nereval_core/html_report")

    def pressed(*keys: str, total: int = 3, at: int = 0, dark: bool = False) -> dict[str, Any]:
        begun = f"deckState({total}, {at}, {json.dumps(dark)})"
        state: dict[str, Any] = run(
            f"{json.dumps(keys)}.reduce((state, key) => pressDeckKey(state, key, false), {begun})"
        )
        return state

    return pressed


@pytest.mark.parametrize(
    ("keys", "at"),
    [
        (("ArrowRight",), 1),
        ((" ", "PageDown", "ArrowRight"), 2),
        (("End", "ArrowLeft"), 1),
        (("End", "Home"), 0),
        (("PageUp",), 0),
        (("b", "ArrowRight"), 1),
    ],
)
def test_keys_go_from_slide_to_slide_and_not_beyond(press: Press, keys: tuple[str, ...], at: int) -> None:
    state = press(*keys)
    assert state["at"] == at and not state["blank"]


def test_an_address_opens_its_slide_and_none_beyond(press: Press) -> None:
    assert [press(at=at)["at"] for at in (0, 2, 9, -4)] == [0, 2, 2, 0]


def test_keys_switch_theme_notes_and_ratio(press: Press) -> None:
    assert press("d")["dark"] is True and press("d", dark=True)["dark"] is False and press("d", "d")["dark"] is False
    assert press("n")["notes"] and not press("n", "n")["notes"] and press("4")["ratio"]
    assert press("p")["act"] == "print" and press("p", "ArrowRight")["act"] is None


def test_escape_closes_what_lies_over_the_slide(press: Press) -> None:
    assert press("?")["help"] and press("b")["blank"]
    closed = press("?", "b", "Escape")
    assert not closed["help"] and not closed["blank"]


def test_every_key_of_the_help_does_something(press: Press) -> None:
    names = {"→": "ArrowRight", "space": " ", "Page Down": "PageDown", "←": "ArrowLeft", "Page Up": "PageUp"}
    for keys, _ in DECK_KEYS:
        for key in keys.split(", "):
            assert press(names.get(key, key), at=1) != press(at=1), key


def test_slides_are_html_that_was_escaped_before() -> None:
    assert "<b>bold</b>" in deck_html("Monday", [SLIDE._replace(html=Markup("<b>bold</b>"))])
