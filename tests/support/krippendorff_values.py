"""Alphas with missing values by the package krippendorff, run once in an environment that has it: see COMMAND."""

from __future__ import annotations

import json
import random
import sys
from importlib.metadata import version
from pathlib import Path

COMMAND = "python -m tests.support.krippendorff_values tests/fixtures/krippendorff-0.9.0.json"
MISSING = "."
PUBLISHED = {
    "Krippendorff 2011, example C": ("123321412...", "1233224125.3", ".3332342251.", "12332441251."),
    "README of the package": (".....34121133.3", "1.213343.......", "..21344.21133.4"),
}
"""Rows are annotators, places are units."""


def main(path: str) -> None:
    import krippendorff  # type: ignore[import-not-found,unused-ignore]

    drawn = random.Random(18)
    cases = dict(PUBLISHED)
    for number in range(12):
        annotators, units = drawn.randint(2, 6) if number else 3, drawn.randint(6, 20)
        cases[f"random {number}"] = tuple(
            "".join(MISSING if drawn.random() < 0.3 else drawn.choice("0112233") for _ in range(units))
            for _ in range(annotators)
        )
    found = []
    for name, rows in cases.items():
        values = [[float("nan") if one == MISSING else int(one) for one in row] for row in rows]
        alpha = float(krippendorff.alpha(values, level_of_measurement="nominal"))
        found.append({"name": name, "rows": rows, "alpha": round(alpha, 12)})
    origin = {"program": "krippendorff", "version": version("krippendorff"), "command": COMMAND}
    Path(path).write_text(json.dumps({**origin, "cases": found}, indent=1) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
