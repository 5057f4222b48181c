"""Refused files read all the same from the front page: by the options that the refusal names."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from nereval_core.errors import SHOWN
from tests.test_pages import opened, settled, sound

TAGS = "Aspirin\tB-Drug\nhelps\tO\n\n"
CASES = {
    "malformed tags": (TAGS.replace("O", "I-Brand"), "malformed tags", [1, 2]),
    "another spelling": (TAGS.replace("helps", "help"), "gold's text", [1, 1]),
}


def refused(system: str) -> AppTest:
    app = opened("Start")
    app.file_uploader[0].upload("gold.tsv", TAGS.encode()).run()
    app.file_uploader[1].upload("system.tsv", system.encode()).run()
    return settled(app.button(key="upload_read").click().run())


@pytest.mark.parametrize("case", CASES)
def test_one_click_reads_what_was_refused(case: str) -> None:
    system, words, spans = CASES[case]
    app = refused(system)
    assert app.error and words in app.button(key="read_again").label
    app = settled(app.button(key="read_again").click().run())
    assert not app.error and list(app.dataframe[0].value["spans"]) == spans
    assert not any(button.key == "read_again" for button in app.button)


def test_what_no_option_mends_is_only_told() -> None:
    app = refused("Aspirin\tB-Drug\n\n")
    assert app.error and not any(button.key == "read_again" for button in app.button)


def test_nothing_is_offered_where_the_files_are_gone() -> None:
    app = refused(CASES["malformed tags"][0])
    app = sound(app.switch_page("pages/50_Guide.py").run())
    app = sound(app.switch_page("app.py").run())
    assert app.error and not any(button.key == "read_again" for button in app.button)


def test_all_problems_are_counted_and_the_first_shown() -> None:
    lines = SHOWN + 5
    app = refused("Aspirin\tI-Drug\nhelps\tO\n\n" + "a\tO\nb\tI-Drug\n\n" * lines)
    assert f"{lines + 1} problems in all" in app.error[0].value
    assert sum(code.value.startswith("system.tsv:") for code in app.code) == SHOWN
