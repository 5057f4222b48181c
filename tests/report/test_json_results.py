"""What JSON on a terminal may hold: nothing that the terminal obeys."""

from __future__ import annotations

import json

from nereval_core.report.json_results import json_bytes


def test_characters_that_a_terminal_obeys_are_escaped() -> None:
    names = ["\x00\x1b[2J", "\x7f", "\x80\x9b2J", "\u202eevil\u2066", "\u200e\u061c", "\u2028", "é😀\u05d0", '"\\']
    raw = json_bytes({name: name for name in names})
    text = raw.decode()
    assert all(char.isprintable() or char == "\n" for char in text.replace("\u05d0", ""))
    assert json.loads(text) == {name: name for name in names}
    assert "é😀\u05d0" in text
