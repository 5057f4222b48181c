"""A metric for Hugging Face's `evaluate`: `evaluate.load(PATH_OF_THIS_FILE)`, for tag lists as `seqeval` takes them.

The results have all that the metric `seqeval` gives, by the drop-in for it, and the overall figures of the four
schemas: `strict_precision`, `strict_recall`, `strict_f1`, `exact_…`, `partial_…` and `type_…`, NaN where undefined.
"""

from __future__ import annotations

import math
from typing import Any

import datasets
import evaluate

from nereval_core import score
from nereval_core.compat import seqeval
from nereval_core.compat.seqeval.reporters import COLUMNS
from nereval_core.scoring.criteria import SCHEMAS

MEASURES = ("precision", "recall", "f1")
DESCRIPTION = "Named entity recognition: seqeval's figures, and strict, exact, partial and type of SemEval-2013 9.1."
INPUTS = """
Args:
    predictions, references: lists of sentences, each a list of tags.
    suffix, scheme, mode, sample_weight, zero_division: as of the metric `seqeval`; a scheme is given by its name.
"""
CITATION = "SemEval-2013 task 9.1 (Segura-Bedmar et al. 2013); seqeval (Nakayama 2018)"


class NerevalMetric(evaluate.Metric):  # type: ignore[misc]
    """seqeval's keys, and the figures of the four schemas, of the entities that seqeval's default mode finds."""

    def _info(self) -> Any:
        tags = datasets.Sequence(datasets.Value("string", id="label"), id="sequence")
        features = datasets.Features({"predictions": tags, "references": tags})
        return evaluate.MetricInfo(
            description=DESCRIPTION, citation=CITATION, inputs_description=INPUTS, features=features
        )

    def _compute(
        self,
        predictions: list[list[str]],
        references: list[list[str]],
        suffix: bool = False,
        scheme: str | None = None,
        mode: str | None = None,
        sample_weight: list[int] | None = None,
        zero_division: Any = "warn",
    ) -> dict[str, Any]:
        """Return the figures.

        Raises:
            ValueError: an unknown scheme, or sentences of different lengths.
        """
        tag_scheme = None if scheme is None else getattr(seqeval.scheme, scheme, None)
        if scheme is not None and seqeval.scheme.scheme_name(tag_scheme) is None:
            raise ValueError(f"Scheme should be one of IOB1, IOB2, IOE1, IOE2, IOBES, BILOU, got {scheme}")
        report = seqeval.metrics.classification_report(
            references,
            predictions,
            suffix=suffix,
            output_dict=True,
            scheme=tag_scheme,
            mode=mode,
            zero_division=zero_division,
        )
        assert isinstance(report, dict)
        overall, *_ = (report.pop(f"{average} avg") for average in ("micro", "macro", "weighted"))
        figures: dict[str, Any] = {
            kind: {
                "precision": row["precision"],
                "recall": row["recall"],
                "f1": row["f1-score"],
                "number": row["support"],
            }
            for kind, row in report.items()
        }
        figures |= {f"overall_{name}": overall[key] for name, key in zip(MEASURES, COLUMNS, strict=False)}
        figures["overall_accuracy"] = seqeval.metrics.accuracy_score(references, predictions)
        return figures | _figures_of_schemas(references, predictions, suffix=suffix)


def _figures_of_schemas(references: list[list[str]], predictions: list[list[str]], *, suffix: bool) -> dict[str, float]:
    # Entities of all sentences are numbered in one row, in which only those of one sentence can overlap.
    gold, pred = (
        [[(start, last + 1, kind) for kind, start, last in seqeval.metrics.get_entities(side, suffix=suffix)]]
        for side in (references, predictions)
    )
    scores = score(gold, pred)
    values = {f"{name}_{measure}": getattr(scores.counts(name), measure) for name in SCHEMAS for measure in MEASURES}
    return {key: math.nan if value is None else value for key, value in values.items()}
