"""Calibration errors of one set of scores by torchmetrics, netcal and scikit-learn, for `tests/fixtures`.

Run it where those programs are installed; nereval is not needed there:
`python -m tests.support.calibration_errors tests/fixtures/calibration.json`
"""

from __future__ import annotations

import json
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

NAMES = {"l1": "expected calibration error", "max": "maximum calibration error"}


def main(place: str) -> None:
    import numpy as np
    import torch
    from netcal.metrics import ECE, MCE
    from sklearn.metrics import brier_score_loss
    from torchmetrics.functional.classification import binary_calibration_error

    rng = np.random.default_rng(18)
    scores = np.round(rng.beta(3, 1.3, 400), 6)
    correct = (rng.random(400) < scores**1.6).astype(int)

    def torchmetrics_error(norm: Any) -> float:
        given = torch.tensor(scores, dtype=torch.float64), torch.tensor(correct)
        return round(float(binary_calibration_error(*given, n_bins=10, norm=norm)), 9)

    def netcal_error(kind: Any, equal: bool) -> float:
        return round(float(kind(10, equal_intervals=equal, detection=True).measure(scores, correct)), 9)

    programs = ("torchmetrics", "netcal", "scikit-learn")
    found = {
        "program": ", ".join(programs),
        "version": ", ".join(map(version, programs)),
        "command": f"python -m tests.support.calibration_errors {place}",
        "torchmetrics": {
            "version": version("torchmetrics"),
            "equal width": {name: torchmetrics_error(norm) for norm, name in NAMES.items()},
        },
        "netcal": {
            "version": version("netcal"),
            **{
                bins: {name: netcal_error(kind, equal) for kind, name in zip((ECE, MCE), NAMES.values(), strict=True)}
                for bins, equal in (("equal width", True), ("equal mass", False))
            },
        },
        "scikit-learn": {
            "version": version("scikit-learn"),
            "": {"Brier score": round(float(brier_score_loss(correct, scores)), 9)},
        },
        "scores": scores.tolist(),
        "correct": correct.tolist(),
    }
    Path(place).write_text(json.dumps(found, separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
