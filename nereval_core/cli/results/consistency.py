"""Findings of consistency within one layer, as tables, JSON and a list of places."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd

from nereval_core.analysis.consistency import FINDING_COLUMNS, Consistency, places_in_layers
from nereval_core.analysis.consistency.kinds import KINDS
from nereval_core.analysis.consistency.tables import finding_table
from nereval_core.cli.output import Result
from nereval_core.report.json_results import side, versions
from nereval_core.tables import Table, cells, columns_of

FINDING_KEYS = ("kind", "rank", "what", "where")
PLACE_COLUMNS = ("document", "start", "end", "how", "settle", "text")
"""Columns of the list of places, before those of the layers."""
SHOWN_FINDINGS = 20
"""Findings of a kind in printed tables, by default."""


def consistency_result(consistency: Consistency, top: int | None) -> Result:
    """Return the findings in every form: the first `top` of each kind, by default SHOWN_FINDINGS in tables."""
    return Result(
        tables=lambda: finding_tables(consistency, top),
        long=lambda: long_table(consistency, top),
        json=lambda: _json_object(consistency, top),
        frames={"records": lambda: _places(consistency, top)},
    )


def finding_tables(consistency: Consistency, top: int | None = None) -> Iterator[Table]:
    """Yield a table for each kind, with the findings that settle most places first; the last has the signature."""
    most = SHOWN_FINDINGS if top is None else top
    for kind, findings in consistency.found.items():
        frame = consistency.table(kind, most)
        hidden = len(findings) - len(frame)
        more = (f"{hidden} more: --top, --csv and --json have them",) if hidden > 0 else ()
        signed = (consistency.signature,) if kind == list(consistency.found)[-1] else ()
        notes = (consistency.sentence(kind), *findings.skipped, *more, *signed)
        yield finding_table(consistency, kind, frame, notes)


def long_table(consistency: Consistency, top: int | None = None) -> Table:
    """Return the findings of all kinds as one table: FINDING_COLUMNS, layer and signature."""
    rows = [row for kind in consistency.found for row in cells(consistency.table(kind, top))]
    signed = tuple((consistency.layer.name, *row, consistency.signature) for row in rows)
    return Table("consistency", columns_of("layer", *FINDING_COLUMNS, "signature"), signed)


def _json_object(consistency: Consistency, top: int | None) -> dict[str, Any]:
    layer = consistency.layer
    return {
        **versions(),
        "layer": {**side(layer), "documents": len(layer.documents)},
        "others": [side(other) for other in consistency.others],
        "signature": consistency.signature,
        "kinds": {
            kind: {
                "question": KINDS[kind].question,
                "sentence": consistency.sentence(kind),
                "total": len(findings),
                "settles": consistency.settled(kind),
                "skipped": list(findings.skipped),
                "findings": [consistency.finding(kind, number)._asdict() for number in range(len(findings))[:top]],
            }
            for kind, findings in consistency.found.items()
        },
        "skipped": list(consistency.skipped()),
    }


def _places(consistency: Consistency, top: int | None) -> pd.DataFrame:
    """Return all places of the findings, with the annotation of each layer there."""
    parts = [pd.DataFrame(columns=[*FINDING_KEYS, *PLACE_COLUMNS])]
    for kind in consistency.found:
        for number, places in consistency.every_place(kind, top):
            finding = consistency.finding(kind, number)
            about = pd.DataFrame(
                [(kind, number + 1, finding.what, finding.where)] * len(places), columns=list(FINDING_KEYS)
            )
            parts.append(pd.concat((about, places_in_layers(consistency, places)), axis=1))
    return pd.concat(parts[1:] or parts, ignore_index=True).assign(signature=consistency.signature)
