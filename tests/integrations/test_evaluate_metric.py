"""The metric in `evaluate` itself, loaded from its path: seqeval's keys and values, and those of the schemas.

`evaluate` is not in the environment of the tests: `pip install evaluate seqeval` beside nereval, then run this file.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from tests.support import ROOT

PLACE = ROOT / "nereval_core" / "integrations" / "evaluate_metric.py"
GOLD = [["B-PER", "I-PER", "O", "B-LOC"], ["O", "B-ORG"]]
PRED = [["B-PER", "I-PER", "O", "B-ORG"], ["B-ORG", "I-ORG"]]


@pytest.fixture
def metric(tmp_path: Path) -> Any:
    evaluate = pytest.importorskip("evaluate", reason="evaluate is not installed")
    return evaluate.load(str(PLACE), cache_dir=str(tmp_path))


@pytest.mark.parametrize("options", [{}, {"mode": "strict", "scheme": "IOB2"}, {"suffix": False}])
def test_seqeval_s_keys_have_its_values(metric: Any, options: dict[str, Any]) -> None:
    import seqeval.metrics as theirs
    import seqeval.scheme

    found = metric.compute(references=GOLD, predictions=PRED, zero_division=0, **options)
    given = options | ({"scheme": seqeval.scheme.IOB2} if "scheme" in options else {})
    report = theirs.classification_report(GOLD, PRED, output_dict=True, zero_division=0, **given)
    names = {"precision": "precision", "recall": "recall", "f1": "f1-score", "number": "support"}
    for kind in ("PER", "LOC", "ORG"):
        assert found[kind] == {name: report[kind][key] for name, key in names.items()}
    assert [found[f"overall_{name}"] for name in list(names)[:3]] == list(report["micro avg"].values())[:3]
    assert found["overall_accuracy"] == theirs.accuracy_score(GOLD, PRED)


def test_the_schemas_are_added(metric: Any) -> None:
    found = metric.compute(references=GOLD, predictions=PRED, zero_division=0)
    figures = [found[f"{name}_f1"] for name in ("strict", "exact", "partial", "type")]
    assert figures == pytest.approx([1 / 3, 2 / 3, 2.5 / 3, 2 / 3])
    empty = metric.compute(references=[["O"]], predictions=[["B-A"]], zero_division=0)
    assert math.isnan(empty["strict_recall"]) and empty["strict_precision"] == 0


def test_an_unknown_scheme_is_refused(metric: Any) -> None:
    with pytest.raises(ValueError, match="Scheme should be one of"):
        metric.compute(references=GOLD, predictions=PRED, scheme="Token")
