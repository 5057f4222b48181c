"""The reports that nervaluate itself makes of its figures."""

from __future__ import annotations

import csv as writing
import io
from collections.abc import Mapping
from typing import Any

from nereval_core.conventions.outcome import Outcome
from nereval_core.problems import FormatError

COUNTS = ("correct", "incorrect", "partial", "missed", "spurious")
RATIOS = ("precision", "recall", "f1")


def overall(outcome: Outcome, *, named: bool) -> str:
    """Return summary_report() of 1.x, which is `named` by its scenario, or summary_report_overall() of 0.3.1."""
    rows = outcome.scores["overall"]
    if named:
        return _report({schema: rows[schema] for schema in sorted(rows)}, "all")
    return _report(rows, None)


def entities(outcome: Outcome, *, schema: str, named: bool) -> str:
    """Return summary_report("entities", schema) of 1.x, or summary_report_ent() of 0.3.1.

    Raises:
        FormatError: no type is scored, where the report of 0.3.1 stops.
    """
    rows = outcome.scores["entities"]
    if not rows and not named:
        found = "no type is scored: nervaluate's summary_report_ent stops with a ValueError"
        raise FormatError.single(outcome.convention, None, found, "take the report overall: --as-reference text")
    return _report({name: rows[name][schema] for name in sorted(rows)}, schema if named else None)


def csv(outcome: Outcome) -> str:
    """Return results_to_csv() of 1.x."""
    written = io.StringIO()
    rows = writing.writer(written)
    rows.writerow(("Strategy", *(name.capitalize() for name in (*COUNTS, *RATIOS[:2])), "F1-Score"))
    rows.writerows((name, *(row[key] for key in (*COUNTS, *RATIOS))) for name, row in outcome.scores["overall"].items())
    return written.getvalue()


def _report(rows: Mapping[str, Mapping[str, Any]], scenario: str | None) -> str:
    # 1.x makes room for the heading "correct" too, where the names stand.
    room = max(len(name) for name in ((*rows, COUNTS[0]) if scenario else rows))
    width = max(room, 2)
    heading = "".join(f" {name:>11}" for name in (*COUNTS, *RATIOS[:2], "f1-score"))
    lines = [f"Scenario: {scenario}\n\n"] if scenario else []
    lines.append(f"{'':>{width}} {heading}\n\n")
    for name, row in rows.items():
        counts = "".join(f" {row[key]:>11}" for key in COUNTS)
        ratios = "".join(f" {row[key]:>11.2f}" for key in RATIOS)
        lines.append(f"{name:>{width}} {counts}{ratios}\n")
    return "".join(lines)
