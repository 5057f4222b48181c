"""What the CLEF-HIPE scorer writes: the table of its main figures and the JSON of all."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import PurePath
from typing import Any

from nereval_core.conventions.hipe.figures import ALL
from nereval_core.conventions.hipe.versions import Version
from nereval_core.conventions.outcome import Outcome

FIELDS = ("System", "Evaluation", "Label", "P", "R", "F1", "F1_std", "P_std", "R_std", "TP", "FP", "FN")
AVERAGES = ("micro", "macro_doc")
SCHEMA = {"fuzzy": "ent_type", "strict": "strict"}


def system_name(source: str, *, skip_check: bool) -> str:
    """Return what the scorer calls a submission: the name of its file in lower case, or unchecked the path as given."""
    return source if skip_check else PurePath(source.lower()).stem


def to_json(version: Version, outcome: Outcome) -> str:
    """Return all figures as the scorer writes them; with several n-best the first version keeps only the last."""
    scores = outcome.scores
    if not version.slices and _ranked(outcome):
        scores = scores[str(outcome.options["n_best"][-1])]
    if outcome.options["task"] == "nel" and outcome.options.get("union"):
        scores = {column: labels[ALL] for column, labels in scores.items()}
    return json.dumps(scores, indent=4)


def to_tsv(version: Version, outcome: Outcome) -> str:
    """Return the table, floats rounded to three places."""
    text = io.StringIO()
    writer = csv.DictWriter(text, FIELDS, delimiter="\t")
    writer.writeheader()
    linking = outcome.options["task"] == "nel"
    if not linking:
        writer.writerows(_rows(outcome.scores, version, outcome, None))
    elif _ranked(outcome):
        for rank, scores in outcome.scores.items():
            writer.writerows(_rows(scores, version, outcome, rank))
    elif not outcome.options.get("union"):
        writer.writerows(_rows(outcome.scores, version, outcome, str(outcome.options["n_best"][0])))
    return text.getvalue()


def _ranked(outcome: Outcome) -> bool:
    return all(key.isdigit() for key in outcome.scores)


def _rows(scores: Mapping[str, Any], version: Version, outcome: Outcome, rank: str | None) -> Iterator[dict[str, Any]]:
    suffix = outcome.options["suffix"] or ""
    regimes = version.regimes if rank is not None else ("fuzzy", "strict")
    if version.slices:
        periods = list(scores[next(iter(scores))])
        levels = list(scores[next(iter(scores))][periods[0]])
    else:
        periods, levels = [""], [""]
    for column, period, level, average, regime in product(sorted(scores), periods, levels, AVERAGES, regimes):
        at = f"@{rank}" if rank is not None else ""
        if version.slices:
            parts = [column, average, regime, suffix, period, level, at]
            labels = scores[column][period][level]
        else:
            parts = [column, average, regime, suffix if at else "", at]
            labels = scores[column]
        for label in sorted(labels):
            if rank is not None and label != ALL:
                continue
            figures = labels[label][SCHEMA[regime]]
            row = {"System": outcome.system, "Evaluation": "-".join(part for part in parts if part), "Label": label}
            row |= {name: figures[f"{name}_{average}"] for name in ("P", "R", "F1")}
            if average == "micro":
                row |= {name: figures[name] for name in ("TP", "FP", "FN")}
            else:
                row |= {f"{name}_std": figures[f"{name}_{average}_std"] for name in ("P", "R", "F1")}
            yield {name: round(value, 3) if isinstance(value, (int, float)) else value for name, value in row.items()}
