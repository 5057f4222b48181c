"""seqeval.reporters: rows of a report, as a dictionary or as text."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

COLUMNS = ("precision", "recall", "f1-score", "support")


class Reporter(ABC):
    """Takes the rows of a report one after the other."""

    @abstractmethod
    def report(self) -> Any:
        """Return the report of the rows so far."""

    @abstractmethod
    def write(self, row_name: str, precision: float, recall: float, f1: float, support: int) -> None:
        """Take a row."""

    @abstractmethod
    def write_blank(self) -> None:
        """Take a blank line."""


class DictReporter(Reporter):
    """Makes a dictionary of the rows by their names."""

    def __init__(self, *_: object, **__: object) -> None:
        self.report_dict: dict[str, dict[str, Any]] = {}

    def report(self) -> dict[str, dict[str, Any]]:
        return self.report_dict

    def write(self, row_name: str, precision: float, recall: float, f1: float, support: int) -> None:
        self.report_dict[row_name] = dict(zip(COLUMNS, (precision, recall, f1, support), strict=True))

    def write_blank(self) -> None:
        """Take a blank line, which a dictionary does not have."""


class StringReporter(Reporter):
    """Makes a table of text; names have `width` characters, ratios `digits` places."""

    def __init__(self, *_: object, width: int = 10, digits: int = 4) -> None:
        self.buffer: list[str] = []
        self.width = width
        self.digits = digits

    def report(self) -> str:
        return self.write_header() + "\n".join(self.buffer)

    def write(self, row_name: str, precision: float, recall: float, f1: float, support: int) -> None:
        ratios = "".join(f" {ratio:>9.{self.digits}f}" for ratio in (precision, recall, f1))
        self.buffer.append(f"{row_name:>{self.width}} {ratios} {support:>9}")

    def write_header(self) -> str:
        """Return the head of the table, and the blank line after it."""
        return " " * self.width + " " + "".join(f" {column:>9}" for column in COLUMNS) + "\n\n"

    def write_blank(self) -> None:
        self.buffer.append("")
