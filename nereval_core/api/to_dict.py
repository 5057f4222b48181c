"""The verb `to_dict` of the library: scores as the object that `nereval score --json` writes."""

from __future__ import annotations

from typing import Any

from nereval_core.report.json_results import results
from nereval_core.scoring import Scores


def to_dict(scores: Scores, *, documents: bool = False, confusion: bool = False) -> dict[str, Any]:
    """Return the object of `nereval score --json` for one system, see docs/results.schema.json.

    With `documents` it holds the counts of each document too, as with `--by document`; with `confusion` those of each
    gold type with each predicted type, as with `--by confusion`.
    """
    gold, pred = scores.read
    return results(gold, [(pred, scores)], documents=documents, confusion=confusion)
