"""Findings of consistency within one layer, as tables, JSON and a list of places."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd

from nereval_core.analysis.consistency import FINDING_COLUMNS, Consistency, places_in_layers
from nereval_core.analysis.consistency.kinds import KINDS
from nereval_core.cli.output import Result
from nereval_core.report.json_results import side, versions
from nereval_core.tables import Table, cells, columns_of, frame_table

FINDING_KEYS = ("kind", "rank", "what", "where")
PLACE_COLUMNS = ("document", "start", "end", "how", "settle", "text")
"""Columns of the list of places, before those of the layers."""
SHOWN_FINDINGS = 20
"""Findings of a kind in printed tables, by default."""


def consistency_result(found: Consistency, top: int | None) -> Result:
    """Return the findings in every form: the first `top` of each kind, by default SHOWN_FINDINGS in tables."""
    return Result(
        tables=lambda: finding_tables(found, top),
        long=lambda: long_table(found, top),
        json=lambda: _json_object(found, top),
        frames={"records": lambda: _places(found, top)},
    )


def finding_tables(found: Consistency, top: int | None = None) -> Iterator[Table]:
    """Yield a table for each kind, with the findings that settle most places first; the last has the signature."""
    most = SHOWN_FINDINGS if top is None else top
    last = list(found.found)[-1:]
    for kind, one in found.found.items():
        table = found.table(kind, most).drop(columns=["kind", "rank"])
        empty = [name for name in ("where", "share") if not table[name].replace("", None).notna().any()]
        table = table.drop(columns=empty)
        hidden = len(one) - len(table)
        more = (f"{hidden} more: --top, --csv and --json have them",) if hidden > 0 else ()
        signed = (found.signature,) if [kind] == last else ()
        notes = (found.sentence(kind), *one.skipped, *more, *signed)
        yield frame_table(f"{found.layer.name}: {KINDS[kind].title.lower()}", table, notes=notes)


def long_table(found: Consistency, top: int | None = None) -> Table:
    """Return the findings of all kinds as one table: FINDING_COLUMNS, layer and signature."""
    rows = [row for kind in found.found for row in cells(found.table(kind, top))]
    signed = tuple((found.layer.name, *row, found.signature) for row in rows)
    return Table("consistency", columns_of("layer", *FINDING_COLUMNS, "signature"), signed)


def _json_object(found: Consistency, top: int | None) -> dict[str, Any]:
    layer = found.layer
    return {
        **versions(),
        "layer": {**side(layer), "documents": len(layer.documents)},
        "others": [side(one) for one in found.others],
        "signature": found.signature,
        "kinds": {
            kind: {
                "question": KINDS[kind].question,
                "sentence": found.sentence(kind),
                "total": len(one),
                "settles": found.settled(kind),
                "skipped": list(one.skipped),
                "findings": [found.finding(kind, number)._asdict() for number in range(len(one))[:top]],
            }
            for kind, one in found.found.items()
        },
        "skipped": list(found.skipped()),
    }


def _places(found: Consistency, top: int | None) -> pd.DataFrame:
    """Return all places of the findings, with the annotation of each layer there."""
    parts = [pd.DataFrame(columns=[*FINDING_KEYS, *PLACE_COLUMNS])]
    for kind in found.found:
        for number, places in found.every_place(kind, top):
            one = found.finding(kind, number)
            about = pd.DataFrame([(kind, number + 1, one.what, one.where)] * len(places), columns=list(FINDING_KEYS))
            parts.append(pd.concat((about, places_in_layers(found, places)), axis=1))
    return pd.concat(parts[1:] or parts, ignore_index=True).assign(signature=found.signature)
