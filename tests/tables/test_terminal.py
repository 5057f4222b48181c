"""Tables on a terminal: what is cut so that a row stays readable."""

from __future__ import annotations

from nereval_core.tables import Column, Table
from nereval_core.tables.terminal import as_screen


def test_a_long_text_does_not_widen_its_column() -> None:
    """The last column, which widens none, and names, by which rows are known, are whole."""
    columns = (Column("name", kind="name"), Column("form", kind="text"), Column("example", kind="text"))
    rows = (("n" * 70, "f" * 70, "e" * 70), ("n", "f" * 60, "e"))
    lines = as_screen([Table("t", columns, rows)]).splitlines()
    assert lines[2].split() == ["n" * 70, f"{'f' * 59}…", "e" * 70]
    assert lines[3].split()[1] == "f" * 60


def test_columns_stand_below_one_another_whatever_the_characters_are() -> None:
    """Characters of East Asia are two columns wide, combining ones none, and what does not print is an escape."""
    rows = (("東京", "x"), ("e\u0301te", "x"), ("a\x1bb", "x"), ("plain", "x"))
    lines = as_screen([Table("t", (Column("name"), Column("end", kind="text")), rows)]).splitlines()[2:]
    assert lines == ["東京    x", "e\u0301te     x", "a\\x1bb  x", "plain   x"]
