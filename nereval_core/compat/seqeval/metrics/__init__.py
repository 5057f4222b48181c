"""seqeval.metrics: scores, report and measures of tag lists, with seqeval's arguments, results, errors and warnings."""

from nereval_core.compat.seqeval.metrics import sequence_labeling, v1
from nereval_core.compat.seqeval.metrics.sequence_labeling import (
    UndefinedMetricWarning,
    accuracy_score,
    check_consistent_length,
    classification_report,
    f1_score,
    get_entities,
    performance_measure,
    precision_recall_fscore_support,
    precision_score,
    recall_score,
)

__all__ = (
    "UndefinedMetricWarning",
    "accuracy_score",
    "check_consistent_length",
    "classification_report",
    "f1_score",
    "get_entities",
    "performance_measure",
    "precision_recall_fscore_support",
    "precision_score",
    "recall_score",
    "sequence_labeling",
    "v1",
)
