"""seqeval.metrics.v1: strict mode, with its scheme. Without one, `classification_report` detects it.

Source: seqeval 1.2.2 (Nakayama 2018), https://github.com/chakki-works/seqeval.
"""

from __future__ import annotations

from typing import Any

from nereval_core.compat.seqeval.metrics import sequence_labeling
from nereval_core.compat.seqeval.metrics.sequence_labeling import Figures, Tags, check_consistent_length
from nereval_core.compat.seqeval.scheme import Entities, Token, refuse_scheme

__all__ = ("check_consistent_length", "classification_report", "precision_recall_fscore_support", "unique_labels")


def precision_recall_fscore_support(
    y_true: Tags, y_pred: Tags, *, scheme: type[Token] | None = None, **options: Any
) -> Figures:
    """Return precision, recall, F and support in strict mode.

    `options` are those of `sequence_labeling.precision_recall_fscore_support`.

    Raises:
        TypeError: no scheme; or as there.
        ValueError: as there.
    """
    refuse_scheme(scheme)
    return sequence_labeling.precision_recall_fscore_support(y_true, y_pred, scheme=scheme, **options)


def classification_report(
    y_true: Tags,
    y_pred: Tags,
    *,
    sample_weight: object = None,
    digits: int = 2,
    output_dict: bool = False,
    zero_division: Any = "warn",
    suffix: bool = False,
    scheme: type[Token] | None = None,
) -> str | dict[str, dict[str, Any]]:
    """Return the report of strict mode, as text or as a dictionary.

    Raises:
        ValueError: as `sequence_labeling.classification_report`.
        TypeError: no lists of lists.
    """
    return sequence_labeling.classification_report(
        y_true,
        y_pred,
        digits=digits,
        suffix=suffix,
        output_dict=output_dict,
        mode="strict",
        zero_division=zero_division,
        scheme=scheme,
    )


def unique_labels(y_true: Tags, y_pred: Tags, scheme: type[Token], suffix: bool = False) -> list[str]:
    """Return the types of the entities of either side, sorted.

    Raises:
        TypeError: no scheme.
        KeyError, ValueError: a tag that the scheme lacks.
    """
    return sorted(Entities(y_true, scheme, suffix).unique_tags | Entities(y_pred, scheme, suffix).unique_tags)
