"""Cells of CSV and TSV that a spreadsheet would run as formulas."""

from __future__ import annotations

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
"""What a spreadsheet may take for the beginning of a formula."""


def harmless(text: str) -> str:
    """Return text that no spreadsheet runs as a formula: with an apostrophe in front where it begins like one."""
    return f"'{text}" if text.startswith(FORMULA) else text
