"""The figures of nervaluate's versions, and the reports that nervaluate makes of them."""

from __future__ import annotations

import csv as writing
import io
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from nereval_core.conventions.convention import Options
from nereval_core.conventions.nervaluate.matching import Preference
from nereval_core.conventions.nervaluate.records import DECIDED, EVALUATION
from nereval_core.conventions.outcome import CountTables, Figures, Outcome, RatioNames, figure_rows, precision_recall_f1
from nereval_core.conventions.records import COR, IGN, OVERALL, PAR, DecisionCounts, scope_of_type
from nereval_core.problems import FormatError

RATIOS = RatioNames(precision="precision", recall="recall", f1="f1", correct="correct", gold="possible", pred="actual")
PARTIAL_RATIOS = {
    "ent_type/precision": "(correct + 0.5 × partial) / actual",
    "ent_type/recall": "(correct + 0.5 × partial) / possible",
}
CREDITED = {
    "partial/precision": "(correct + 0.5 × partial) / actual",
    "partial/recall": "(correct + 0.5 × partial) / possible",
}
TWINS = {"strict": "strict", "exact": "exact", "partial": "partial", "ent_type": "type"}


@dataclass(frozen=True, kw_only=True)
class NervaluateVersion:
    """A version by its differences from others.

    `schemas` are in the order of its results. `preferences` say, by schema, which gold span a prediction prefers,
    overall and where a type is alone; without them every gold span reached counts. `credits` is False where partial
    matches of two and more documents get no credit. `checked`: a span may only begin with B- or I-. `unused`: types in
    `tags` have figures though no span has them.
    """

    number: str
    schemas: tuple[str, ...] = ("strict", "partial", "ent_type", "exact")
    preferences: Mapping[str, tuple[Preference, Preference]] = field(default_factory=dict)
    credits: bool = True
    checked: bool = True
    unused: bool = False


VERSIONS = (
    NervaluateVersion(
        number="1.2.1",
        # Where all types are the same, "identical" and "bounds" are one.
        preferences={
            "strict": ("identical", "identical"),
            "exact": ("bounds", "identical"),
            "partial": ("bounds", "identical"),
            "ent_type": ("type", "type"),
        },
    ),
    NervaluateVersion(number="1.1.0", preferences=dict.fromkeys(DECIDED, ("first", "first")), credits=False),
    NervaluateVersion(number="0.3.1", schemas=("ent_type", "partial", "strict", "exact"), checked=False, unused=True),
)


def check_options(options: Options, version: NervaluateVersion) -> None:
    """Refuse options that nervaluate stops at, or would count wrongly."""
    minimum = options.get("min_overlap_percentage", 0.0)
    if version.preferences and not 1.0 <= minimum <= 100.0:
        finding = f"{minimum:g} is not between 1 and 100"
        raise FormatError.single("--min_overlap_percentage", None, finding, "give a percentage of the gold span")
    tags = options["tags"] or ()
    if version.unused and len(set(tags)) < len(tags):
        finding = f"a type is given twice, and nervaluate {version.number} counts it twice"
        raise FormatError.single("--tags", None, finding, "give each type once")


def figures(counts: CountTables, options: Options, *, version: NervaluateVersion) -> Figures:
    check_options(options, version)
    n_spans = {name: counts.number("used", name) for name in sorted(counts.rows("used"))}
    tags = tuple(dict.fromkeys(options["tags"] or n_spans))
    scored = tags if version.unused else tuple(name for name in n_spans if n_spans[name])
    several = counts.number("data", "documents") > 1

    def row(schema: str, table: str, name: str) -> dict[str, Any]:
        credit = schema in ("partial", "ent_type") and (version.credits or not several)
        return _figures(counts.rows(table).get(name, (0,) * IGN), credit=credit)

    overall = {schema: row(schema, "overall", schema) for schema in version.schemas}
    by_type = {name: {schema: row(schema, f"types/{schema}", name) for schema in version.schemas} for name in scored}
    rows = [
        line
        for schema in DECIDED
        for scope, by_schema in ((OVERALL, overall), *((scope_of_type(name), row) for name, row in by_type.items()))
        for line in figure_rows(schema, {scope: by_schema[schema]}, EVALUATION.counters)
    ]
    notes = []
    if broken := counts.number("data", "broken"):
        notes.append(f"discontinuous spans scored from their first to their last character: {broken}")
    if options["tags"] is None:
        notes.append(f"tags not given: every type of gold and prediction is scored ({len(n_spans)})")
    elif unknown := [tag for tag in tags if tag not in n_spans]:
        notes.append(f"tags that no span has: {', '.join(unknown)}")
    return Figures({"overall": overall, "entities": by_type}, rows, tuple(notes))


def _figures(decisions: DecisionCounts, *, credit: bool) -> dict[str, int | float]:
    counts = EVALUATION.counts(decisions)
    earned = decisions[COR] + 0.5 * decisions[PAR] if credit else decisions[COR]
    ratios = precision_recall_f1(earned, counts["actual"], counts["possible"], undefined=0)
    return counts | dict(zip(RATIO_NAMES, ratios, strict=True))


COUNTS = ("correct", "incorrect", "partial", "missed", "spurious")
RATIO_NAMES = ("precision", "recall", "f1")


def overall(outcome: Outcome, *, named: bool) -> str:
    """Return summary_report() of 1.x, which is `named` by its scenario, or summary_report_overall() of 0.3.1."""
    rows = outcome.scores["overall"]
    if named:
        return summary({schema: rows[schema] for schema in sorted(rows)}, "all")
    return summary(rows, None)


def entities(outcome: Outcome, *, schema: str, named: bool) -> str:
    """Return summary_report("entities", schema) of 1.x, or summary_report_ent() of 0.3.1.

    Raises:
        FormatError: no type is scored, where the report of 0.3.1 stops.
    """
    rows = outcome.scores["entities"]
    if not rows and not named:
        finding = "no type is scored: nervaluate's summary_report_ent stops with a ValueError"
        raise FormatError.single(outcome.convention, None, finding, "take the report overall: --as-reference text")
    return summary({name: rows[name][schema] for name in sorted(rows)}, schema if named else None)


def csv(outcome: Outcome) -> str:
    """Return results_to_csv() of 1.x."""
    return csv_table("Strategy", outcome.scores["overall"])


def csv_table(first: str, scores: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the table of results_to_csv, whose first column has this name."""
    table = io.StringIO()
    rows = writing.writer(table)
    rows.writerow((first, *(name.capitalize() for name in (*COUNTS, *RATIO_NAMES[:2])), "F1-Score"))
    rows.writerows((name, *(row[key] for key in (*COUNTS, *RATIO_NAMES))) for name, row in scores.items())
    return table.getvalue()


def summary(rows: Mapping[str, Mapping[str, Any]], scenario: str | None, digits: int = 2) -> str:
    """Return a table of counts and ratios; 1.x names its `scenario`."""
    # 1.x makes room for the heading "correct" too, where the names stand.
    room = max(len(name) for name in ((*rows, COUNTS[0]) if scenario else rows))
    width = max(room, digits)
    heading = "".join(f" {name:>11}" for name in (*COUNTS, *RATIO_NAMES[:2], "f1-score"))
    lines = [f"Scenario: {scenario}\n\n"] if scenario else []
    lines.append(f"{'':>{width}} {heading}\n\n")
    for name, row in rows.items():
        counts = "".join(f" {row[key]:>11}" for key in COUNTS)
        ratios = "".join(f" {row[key]:>11.{digits}f}" for key in RATIO_NAMES)
        lines.append(f"{name:>{width}} {counts}{ratios}\n")
    return "".join(lines)
