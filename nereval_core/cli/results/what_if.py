"""Scores without and with verdicts applied to gold, as tables and JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from nereval_core.cli.output import Result
from nereval_core.corpus import Layer
from nereval_core.report.json_results import head, system_side
from nereval_core.review.apply.corrected_copy import signature, span_in_words
from nereval_core.review.apply.deciding_verdicts import Conclusion
from nereval_core.review.apply.what_if import WhatIf
from nereval_core.review.tables import conclusion_in_words, what_if_table
from nereval_core.review.verdicts import kind_in_words
from nereval_core.tables import Table, columns_of, frame_table, objects


def what_if_result(both: WhatIf, systems: Sequence[Layer], pairs: Sequence[Conclusion], *, hangs: bool) -> Result:
    """Return the scores in every form; with `hangs`, also the verdicts that decide the order of systems."""
    return Result(
        tables=lambda: _tables(both, pairs, hangs),
        long=lambda: frame_table("", both.table()),
        json=lambda: _json_object(both, systems, pairs),
    )


def _tables(both: WhatIf, pairs: Sequence[Conclusion], hangs: bool) -> list[Table]:
    return [what_if_table(both, (signature(both.applied),)), *(_hangs(row) for row in pairs if hangs)]


def _hangs(row: Conclusion) -> Table:
    return Table(
        f"{row.criterion}: {conclusion_in_words(row)}",
        columns_of("document", "span", "text", "verdict", "who"),
        tuple(
            (
                change.id,
                span_in_words(change.span),
                change.before,
                kind_in_words(change.stored.verdict),
                change.stored.who,
            )
            for change in row.changes
        ),
    )


def _json_object(both: WhatIf, systems: Sequence[Layer], pairs: Sequence[Conclusion]) -> dict[str, Any]:
    applied = both.applied
    return {
        **head(applied.gold),
        "corrected": {"sha256": applied.layer.digest, "spans": len(applied.layer)},
        "signature": signature(applied),
        "verdicts": applied.counts(),
        "applied": {"verdicts": applied.verdicts, "places": applied.places, "documents": applied.documents},
        "systems": [system_side(applied.gold, layer) for layer in systems],
        "scores": objects(both.table()),
        "hangs": [
            {
                "criterion": row.criterion,
                "better": row.better,
                "worse": row.worse,
                "words": conclusion_in_words(row),
                "verdicts": row.verdicts,
                "least": row.least,
                "records": [{"document": change.id, "span": span_in_words(change.span)} for change in row.changes],
            }
            for row in pairs
        ],
    }
