"""The figures of nervaluate's versions, and the reports that nervaluate makes of them."""

from __future__ import annotations

import csv as writing
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from nereval_core.conventions.nervaluate.matching import Preference
from nereval_core.conventions.nervaluate.records import DECIDED
from nereval_core.conventions.outcome import OVERALL, Outcome, figures, scope_of_type
from nereval_core.conventions.shares import NO_DOCUMENTS, Share, precision_recall_f1, without_records
from nereval_core.problems import FormatError

COUNTED = ("correct", "incorrect", "partial", "missed", "spurious", "possible", "actual")
NAMES = {"P": "precision", "R": "recall", "F1": "f1", "COR": "correct", "POS": "possible", "ACT": "actual"}
HARMONIC = "2 × precision × recall / (precision + recall)"
FORMULAS = {"f1": HARMONIC} | {
    f"{schema}/{ratio}": f"(correct + 0.5 × partial) / {whole}" if schema == "ent_type" else f"correct / {whole}"
    for schema in ("strict", "exact", "ent_type")
    for ratio, whole in (("precision", "actual"), ("recall", "possible"))
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


def check_options(options: Mapping[str, Any], version: NervaluateVersion) -> None:
    """Refuse options that nervaluate stops at, or would count wrongly."""
    minimum = options.get("min_overlap_percentage", 0.0)
    if version.preferences and not 1.0 <= minimum <= 100.0:
        found = f"{minimum:g} is not between 1 and 100"
        raise FormatError.single("--min_overlap_percentage", None, found, "give a percentage of the gold span")
    tags = options["tags"] or ()
    if version.unused and len(set(tags)) < len(tags):
        found = f"a type is given twice, and nervaluate {version.number} counts it twice"
        raise FormatError.single("--tags", None, found, "give each type once")


def of_share(
    share: Share, options: Mapping[str, Any], *, version: NervaluateVersion, notes: Sequence[str] = ()
) -> Outcome:
    """Return the figures of a share, without records."""
    check_options(options, version)
    used = {name: share.number("used", name) for name in sorted(share.tables.get("used", ()))}
    tags = tuple(dict.fromkeys(options["tags"] or used))
    shown = tags if version.unused else tuple(name for name in used if used[name])
    several = share.number("data", "documents") > 1
    nothing = (0,) * 5

    def row(schema: str, name: str | None) -> dict[str, Any]:
        table, key = ("overall", schema) if name is None else (f"types/{schema}", name)
        five = share.tables.get(table, {}).get(key, nothing)
        credit = schema in ("partial", "ent_type") and (version.credits or not several)
        return _figures(*five, credit=credit)

    scores = {
        "overall": {schema: row(schema, None) for schema in version.schemas},
        "entities": {name: {schema: row(schema, name) for schema in version.schemas} for name in shown},
    }
    typed = [(scope_of_type(name), row) for name, row in scores["entities"].items()]
    rows = [
        (schema, scope, name, value, name in COUNTED)
        for schema in DECIDED
        for scope, by_schema in ((OVERALL, scores["overall"]), *typed)
        for name, value in by_schema[schema].items()
    ]
    said = [*notes]
    if broken := share.number("data", "broken"):
        said.append(f"discontinuous spans scored from their first to their last character: {broken}")
    if options["tags"] is None:
        said.append(f"tags not given: every type of gold and prediction is scored ({len(used)})")
    elif unknown := [tag for tag in tags if tag not in used]:
        said.append(f"tags that no span has: {', '.join(unknown)}")
    return Outcome(
        f"nervaluate-{version.number}",
        options,
        NO_DOCUMENTS,
        share.gold,
        share.pred,
        scores,
        figures(rows),
        without_records,
        tuple(said),
    )


def _figures(
    correct: int, incorrect: int, partial: int, missed: int, spurious: int, *, credit: bool
) -> dict[str, int | float]:
    possible = correct + incorrect + partial + missed
    actual = correct + incorrect + partial + spurious
    earned = correct + 0.5 * partial if credit else correct
    precision, recall, f1 = precision_recall_f1(earned, actual, possible, undefined=0)
    return {
        "correct": correct,
        "incorrect": incorrect,
        "partial": partial,
        "missed": missed,
        "spurious": spurious,
        "possible": possible,
        "actual": actual,
        "precision": precision,
        "recall": recall,
        "f1": f1,
    }


COUNTS = ("correct", "incorrect", "partial", "missed", "spurious")
RATIOS = ("precision", "recall", "f1")


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
        found = "no type is scored: nervaluate's summary_report_ent stops with a ValueError"
        raise FormatError.single(outcome.convention, None, found, "take the report overall: --as-reference text")
    return summary({name: rows[name][schema] for name in sorted(rows)}, schema if named else None)


def csv(outcome: Outcome) -> str:
    """Return results_to_csv() of 1.x."""
    return csv_table("Strategy", outcome.scores["overall"])


def csv_table(first: str, scores: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the table of results_to_csv, whose first column has this name."""
    written = io.StringIO()
    rows = writing.writer(written)
    rows.writerow((first, *(name.capitalize() for name in (*COUNTS, *RATIOS[:2])), "F1-Score"))
    rows.writerows((name, *(row[key] for key in (*COUNTS, *RATIOS))) for name, row in scores.items())
    return written.getvalue()


def summary(rows: Mapping[str, Mapping[str, Any]], scenario: str | None, digits: int = 2) -> str:
    """Return a table of counts and ratios; 1.x names its `scenario`."""
    # 1.x makes room for the heading "correct" too, where the names stand.
    room = max(len(name) for name in ((*rows, COUNTS[0]) if scenario else rows))
    width = max(room, digits)
    heading = "".join(f" {name:>11}" for name in (*COUNTS, *RATIOS[:2], "f1-score"))
    lines = [f"Scenario: {scenario}\n\n"] if scenario else []
    lines.append(f"{'':>{width}} {heading}\n\n")
    for name, row in rows.items():
        counts = "".join(f" {row[key]:>11}" for key in COUNTS)
        ratios = "".join(f" {row[key]:>11.{digits}f}" for key in RATIOS)
        lines.append(f"{name:>{width}} {counts}{ratios}\n")
    return "".join(lines)
