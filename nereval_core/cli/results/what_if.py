"""Scores without and with verdicts applied to gold, as tables and JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from nereval_core.cli.output import Result
from nereval_core.corpus import Layer
from nereval_core.report.json_results import head, system_side
from nereval_core.report.score_tables import Sheet, frame_sheet, objects
from nereval_core.review.apply.corrected_copy import signature, span_in_words
from nereval_core.review.apply.deciding_verdicts import Conclusion
from nereval_core.review.apply.what_if import WhatIf
from nereval_core.review.tables import conclusion_in_words
from nereval_core.review.verdicts import KINDS

RATIO_NAMES = {"f1": "F1", "precision": "P", "recall": "R"}


def what_if_result(both: WhatIf, systems: Sequence[Layer], pairs: Sequence[Conclusion], *, hangs: bool) -> Result:
    """Return the scores in every form; with `hangs`, also the verdicts that decide the order of systems."""
    return Result(
        tables=lambda: _sheets(both, pairs, hangs),
        long=lambda: frame_sheet("", both.table()),
        json=lambda: _json_object(both, systems, pairs),
    )


def _sheets(both: WhatIf, pairs: Sequence[Conclusion], hangs: bool) -> list[Sheet]:
    table = both.table()
    columns = [(ratio, f"{ratio}_after", f"{ratio}_difference") for ratio in RATIO_NAMES]
    names = [column for ratio in RATIO_NAMES.values() for column in (ratio, "with verdicts", "difference")]
    shown = table[["system", "criterion", *(column for three in columns for column in three)]]
    title = "What if: scores without and with verdicts applied to gold"
    sheet = frame_sheet(title, shown, (signature(both.applied),), columns=("system", "criterion", *names))
    if not hangs:
        return [sheet]
    return [sheet, *(_hangs(row) for row in pairs)]


def _hangs(row: Conclusion) -> Sheet:
    return Sheet(
        f"{row.criterion}: {conclusion_in_words(row)}",
        ("document", "span", "text", "verdict", "who"),
        tuple(
            (change.id, span_in_words(change.span), change.before, KINDS[change.given.verdict.kind], change.given.who)
            for change in row.changes
        ),
    )


def _json_object(both: WhatIf, systems: Sequence[Layer], pairs: Sequence[Conclusion]) -> dict[str, Any]:
    found = both.applied
    return {
        **head(found.gold),
        "corrected": {"sha256": found.layer.digest, "spans": len(found.layer)},
        "signature": signature(found),
        "verdicts": found.counts(),
        "applied": {"verdicts": found.verdicts, "places": found.places, "documents": found.documents},
        "systems": [system_side(found.gold, layer) for layer in systems],
        "scores": objects(both.table()),
        "hangs": [
            {
                "criterion": row.criterion,
                "better": row.better,
                "worse": row.worse,
                "words": conclusion_in_words(row),
                "verdicts": row.verdicts,
                "least": row.least,
                "records": [{"document": one.id, "span": span_in_words(one.span)} for one in row.changes],
            }
            for row in pairs
        ],
    }
