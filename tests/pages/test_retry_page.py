"""Refused files read all the same from the front page: by the options that the refusal names."""

from __future__ import annotations

import json

import pytest
from streamlit.testing.v1 import AppTest

from nereval_core.problems import SHOWN
from tests.support.pages import account, drop, opened, read, settled, sound

TAGS = "Aspirin\tB-Drug\nhelps\tO\n\n"
CASES = {
    "malformed tags": (TAGS.replace("O", "I-Brand"), "malformed tags", [1, 2]),
    "another spelling": (TAGS.replace("helps", "help"), "gold's text", [1, 1]),
}


def refused(system: str) -> AppTest:
    app = opened("Start")
    drop(app, {"gold.tsv": TAGS.encode(), "system.tsv": system.encode()})
    return read(app)


@pytest.mark.parametrize("case", CASES)
def test_one_click_reads_what_was_refused(case: str) -> None:
    system, words, spans = CASES[case]
    app = refused(system)
    assert app.error and words in app.button(key="read_again").label
    app = settled(app.button(key="read_again").click().run())
    assert not app.error and list(account(app)["spans"]) == spans
    assert not any(button.key == "read_again" for button in app.button)


ALIGNED = {
    "gold": ("d", "in  Paris now", [(4, 9), (10, 13)]),
    "other writing": ("d", "in Paris  now", [(3, 8), (8, 13)]),
    "other ids": ("x", "in  Paris now", [(4, 9)]),
    "other ids and texts": ("x", "in Rome now", [(3, 7)]),
}


def spans_in(name: str, text: str, spans: list[tuple[int, int]]) -> bytes:
    rows = [{"start": low, "end": high, "label": "X"} for low, high in spans]
    return json.dumps({"id": name, "text": text, "spans": rows}).encode()


@pytest.mark.parametrize(("case", "lost"), [("other writing", 1), ("other ids", 0)])
def test_texts_are_aligned_and_what_is_lost_is_listed(case: str, lost: int) -> None:
    app = opened("Start")
    drop(app, {"gold.jsonl": spans_in(*ALIGNED["gold"]), "system.jsonl": spans_in(*ALIGNED[case])})
    app = read(app)
    if case == "other writing":
        assert "in white space alone" in app.code[0].value
        assert "align texts" in app.button(key="read_again").label
        app = settled(app.button(key="read_again").click().run())
    assert not app.error
    assert list(account(app)["spans"]) == [2, 1]
    listed = [one for one in app.expander if "left out" in one.label]
    assert [one.label for one in listed] == ["1 span of system left out: no place in gold's text"] * lost
    if lost:
        (row,) = listed[0].dataframe[0].value.to_dict("records")
        assert (row["source"], row["line"]) == ("system.jsonl", 1)
        assert "span [8, 13) '  now'" in row["span"]


def test_what_pairing_by_order_would_not_mend_is_only_told() -> None:
    app = opened("Start")
    drop(app, {"gold.jsonl": spans_in(*ALIGNED["gold"]), "system.jsonl": spans_in(*ALIGNED["other ids and texts"])})
    app = read(app)
    assert "system.jsonl" in app.code[0].value and not any(button.key == "read_again" for button in app.button)


def test_what_no_option_mends_is_only_told() -> None:
    app = refused("helps\tB-Drug\n\n")
    assert app.error and not any(button.key == "read_again" for button in app.button)


def test_nothing_is_offered_where_the_files_are_gone() -> None:
    app = refused(CASES["malformed tags"][0])
    app = sound(app.switch_page("pages/90_Guide.py").run())
    app = sound(app.switch_page("app.py").run())
    assert app.error and not any(button.key == "read_again" for button in app.button)


def test_all_problems_are_counted_and_the_first_shown() -> None:
    lines = SHOWN + 5
    app = refused("Aspirin\tI-Drug\nhelps\tO\n\n" + "a\tB-Brand\nb\tI-Drug\n\n" * lines)
    # Behind the tags that are malformed lies that gold has other tokens; the line that names all options is no problem.
    assert f"{lines + 2} problems in all" in app.error[0].value
    assert sum(code.value.startswith("system.tsv:") for code in app.code) == SHOWN
