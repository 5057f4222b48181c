"""Names of megabytes: messages about them stay short."""

from __future__ import annotations

from pathlib import Path

import pytest

import nereval_core as nereval
from nereval_core.problems import LONGEST_TEXT, FormatError, Problem, shortened

LONG = "x" * 262_144
FILES = {
    "a column": ("hipe", f"TOKEN\t{LONG}\n# document_id = d\nabc\tB-loc\n"),
    "a layer": (
        "prodigy",
        "".join(
            f'{{"text": "a", "_annotator_id": "{name}", "_session_id": "{name}", "_input_hash": 1, "spans": []}}\n'
            for name in (LONG, "ann")
        ),
    ),
    "an element": ("auto", f"<PERSON>Ann</PERSON> met <{LONG}>Bob</PERSON>.\n"),
    "an encoding": ("auto", f'<?xml version="1.0" encoding="{LONG}"?>\n<collection></collection>'),
}


@pytest.mark.parametrize("name", FILES)
def test_messages_about_long_names_are_short(name: str, tmp_path: Path) -> None:
    format, content = FILES[name]
    file = tmp_path / "file"
    file.write_text(content)
    with pytest.raises(FormatError) as told:
        nereval.read(file, format=format)
    assert "xxxxxxxx" in str(told.value) and len(str(told.value)) < 2_000


def test_of_a_long_text_words_and_end_are_cut() -> None:
    assert shortened("a " * 100) == "a " * 100
    assert shortened(f"no {'y' * 300} ; write {'z' * 200}") == f"no {'y' * 199}… ; write {'z' * 200}"
    assert len(shortened("a " * LONGEST_TEXT)) == LONGEST_TEXT
    assert Problem("f", 1, LONG, LONG) == Problem("f", 1, LONG + "x", LONG)
