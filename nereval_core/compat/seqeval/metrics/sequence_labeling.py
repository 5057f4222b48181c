"""seqeval.metrics.sequence_labeling: scores, report and measures of tag lists.

`y_true` and `y_pred` are lists of sentences, each a list of tags. `mode="strict"` takes effect with a `scheme` alone,
but in `classification_report`, which detects one; `sample_weight` has no effect. As in seqeval, 0/0 is 0 (with a
warning) or, with `zero_division=1`, 1. An invalid tag is warned of once, however often it occurs.
Source: seqeval 1.2.2 (Nakayama 2018), https://github.com/chakki-works/seqeval.
"""

from __future__ import annotations

import operator
import warnings
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nereval_core.compat.seqeval.reporters import DictReporter, StringReporter
from nereval_core.compat.seqeval.scheme import auto_detect, invalid_token, refuse_scheme, scheme_name
from nereval_core.conventions.seqeval import EVALUATION, decisions_by_type, match_entities
from nereval_core.conventions.seqeval.entities import LETTERS, SCHEMES, default_entities, parse_tags
from nereval_core.conventions.tag_sequences import number_tags
from nereval_core.corpus.arrays import Int64

AVERAGES = (None, "micro", "macro", "weighted")
Tags = Sequence[Sequence[str]]
Figures = tuple[Any, Any, Any, Any]
"""Precision, recall, F and support: arrays over types, or numbers of an average."""


class UndefinedMetricWarning(UserWarning):
    """A ratio is 0/0. Where scikit-learn is installed, its warning of this name is raised instead."""


class TypeCounts(NamedTuple):
    """Entities by type (sorted names): of gold, predicted, and in both."""

    types: tuple[str, ...]
    true: NDArray[Any]
    pred: NDArray[Any]
    both: NDArray[Any]


def f1_score(y_true: Tags, y_pred: Tags, *, average: str | None = "micro", **options: Any) -> Any:
    """Return F1: a number, or with `average` None an array over the types; `options` as in `precision_score`."""
    return _scores(y_true, y_pred, average, "f-score", **options)[2]


def precision_score(y_true: Tags, y_pred: Tags, *, average: str | None = "micro", **options: Any) -> Any:
    """Return precision: a number, or with `average` None an array over the types.

    `options` are suffix, mode, sample_weight, zero_division and scheme.
    """
    return _scores(y_true, y_pred, average, "precision", **options)[0]


def recall_score(y_true: Tags, y_pred: Tags, *, average: str | None = "micro", **options: Any) -> Any:
    """Return recall: a number, or with `average` None an array over the types; `options` as in `precision_score`."""
    return _scores(y_true, y_pred, average, "recall", **options)[1]


def _scores(
    y_true: Tags,
    y_pred: Tags,
    average: str | None,
    measure: str,
    *,
    suffix: bool = False,
    mode: str | None = None,
    sample_weight: object = None,
    zero_division: Any = "warn",
    scheme: type | None = None,
) -> Figures:
    strict = scheme if mode == "strict" and scheme else None
    return precision_recall_fscore_support(
        y_true,
        y_pred,
        average=average,
        warn_for=(measure,),
        zero_division=zero_division,
        suffix=suffix,
        scheme=strict,
    )


def precision_recall_fscore_support(
    y_true: Tags,
    y_pred: Tags,
    *,
    average: str | None = None,
    warn_for: tuple[str, ...] = ("precision", "recall", "f-score"),
    beta: float = 1.0,
    sample_weight: object = None,
    zero_division: Any = "warn",
    suffix: bool = False,
    scheme: type | None = None,
) -> Figures:
    """Return precision, recall, F and support; with a `scheme` in strict mode.

    Raises:
        ValueError: a negative `beta`, an unknown `average`, sentences of different lengths, a tag the scheme lacks.
        TypeError: no lists of lists.
        KeyError: in strict mode, a tag whose letter no scheme has.
    """
    if beta < 0:
        raise ValueError("beta should be >=0 in the F-beta score")
    if average not in AVERAGES:
        raise ValueError(f"average has to be one of {AVERAGES}")
    check_consistent_length(y_true, y_pred)
    name = None if scheme is None else refuse_scheme(scheme)
    counts = _counted(y_true, y_pred, suffix=suffix, scheme=name)
    return _averaged(counts, average, warn_for=warn_for, beta=beta, zero_division=zero_division)


def classification_report(
    y_true: Tags,
    y_pred: Tags,
    digits: int = 2,
    suffix: bool = False,
    output_dict: bool = False,
    mode: str | None = None,
    sample_weight: object = None,
    zero_division: Any = "warn",
    scheme: type | None = None,
) -> str | dict[str, dict[str, Any]]:
    """Return precision, recall, F1 and support of each type and three averages, as text or as a dictionary.

    Raises:
        ValueError: as `precision_recall_fscore_support`; as text, no entity on either side; in strict mode without a
            scheme, tags that show none.
    """
    check_consistent_length(y_true, y_pred)
    name = None
    if mode == "strict":
        name = scheme_name(scheme) or auto_detect(y_true, suffix=suffix).__name__
    counts = _counted(y_true, y_pred, suffix=suffix, scheme=name)
    # Without a type, seqeval's text ends in a ValueError too.
    width = 0 if output_dict else max(max(map(len, counts.types)), len("weighted avg"), digits)
    reporter = DictReporter() if output_dict else StringReporter(width=width, digits=digits)
    columns = _averaged(counts, None, zero_division=zero_division)
    for row in zip(counts.types, *columns, strict=True):
        reporter.write(*row)
    reporter.write_blank()
    for name in AVERAGES[1:]:
        reporter.write(f"{name} avg", *_averaged(counts, name, zero_division=zero_division))
    reporter.write_blank()
    return reporter.report()


def accuracy_score(y_true: Sequence[Any], y_pred: Sequence[Any]) -> float:
    """Return the share of tokens with the same tag; sides may be lists of tags, or of lists of tags."""
    y_true, y_pred = _flat(y_true, y_pred)
    right: int = sum(map(operator.eq, y_true, y_pred))
    return right / len(y_true)


def performance_measure(y_true: Sequence[Any], y_pred: Sequence[Any]) -> dict[str, int]:
    """Return seqeval's token counts: TP, FP, FN and TN.

    A token of another tag on both sides is one of FP alone.
    """
    pairs = Counter(zip(*_flat(y_true, y_pred), strict=False))
    return {
        "TP": sum(number for (true, pred), number in pairs.items() if true == pred != "O"),
        "FP": sum(number for (true, pred), number in pairs.items() if true != pred != "O"),
        "FN": sum(number for (true, pred), number in pairs.items() if true != "O" == pred),
        "TN": pairs["O", "O"],
    }


def get_entities(seq: Sequence[Any], suffix: bool = False) -> list[tuple[str, int, int]]:
    """Return the entities of default mode: type, first and last token.

    In a list of sentences, tokens are numbered as if another stood after each sentence.
    """
    nested = any(isinstance(item, list) for item in seq)
    sentences: Tags = seq if nested else [seq]
    tags, starts = _in_one_row(sentences, strict=False)
    (numbers,), names = number_tags(tags)
    _warn_of_other_tags(names, suffix=suffix)
    parsed = parse_tags(names, suffix=suffix, strict=False)
    entities = default_entities(numbers, starts, parsed)
    place = np.arange(len(tags))
    if nested:
        sizes = np.array([len(sentence) for sentence in sentences], np.int64)
        place = np.arange(sizes.sum()) + np.repeat(np.arange(len(sizes)), sizes)
        place = np.concatenate((np.zeros(len(tags) - len(place), np.int64), place))
    columns = (place[entities.first].tolist(), place[entities.last].tolist())
    return [(parsed.types[kind], *ends) for kind, *ends in zip(entities.kind.tolist(), *columns, strict=True)]


def check_consistent_length(y_true: Tags, y_pred: Tags) -> None:
    """Refuse sides that are not lists of lists, and sentences of different lengths.

    Raises:
        TypeError: no lists of lists.
        ValueError: another number of sentences or tokens.
    """
    true, pred = (list(map(len, side)) for side in (y_true, y_pred))
    if set(map(type, chain(y_true, y_pred))) != {list}:
        raise TypeError("Found input variables without list of list.")
    if true != pred:
        raise ValueError(f"Found input variables with inconsistent numbers of samples:\n{true}\n{pred}")


# Counting


def _counted(y_true: Tags, y_pred: Tags, *, suffix: bool, scheme: str | None) -> TypeCounts:
    """Count entities by type, in strict mode where a scheme is named."""
    strict = scheme is not None
    (true, starts), (pred, _) = (_in_one_row(side, strict=strict) for side in (y_true, y_pred))
    (true_numbers, pred_numbers), names = number_tags(true, pred)
    if scheme is None:
        _warn_of_other_tags(names, suffix=suffix)
    else:
        _check_tags(names, chain(y_true, y_pred), scheme, suffix=suffix)
    parsed = parse_tags(names, suffix=suffix, strict=strict)

    true_entities, pred_entities, rows = match_entities((true_numbers, pred_numbers), starts, parsed, scheme)
    table = decisions_by_type(true_entities, pred_entities, rows, parsed)
    columns = [EVALUATION.counts(row) for row in table.values()]
    true_counts, pred_counts, both = (
        np.array([row[name] for row in columns], np.int64) for name in ("support", "pred_sum", "tp_sum")
    )
    return TypeCounts(tuple(table), true_counts, pred_counts, both)


def _in_one_row(sentences: Tags, *, strict: bool) -> tuple[list[str], Int64]:
    """Return all tags, and where sentences with tags begin, and their end.

    In default mode the first token of all is special: behind an empty sentence it is not, so that an O stands for that.
    """
    filled: list[Sequence[str]] = [sentence for sentence in sentences if len(sentence)]
    if not strict and len(sentences) and not len(sentences[0]):
        filled.insert(0, ["O"])
    starts = np.concatenate(([0], np.cumsum([len(sentence) for sentence in filled], dtype=np.int64)))
    return list(chain.from_iterable(filled)), starts.astype(np.int64)


def _warn_of_other_tags(names: Iterable[str], *, suffix: bool) -> None:
    for name in names:
        letter, dash = (name[-1:], name[-2:-1]) if suffix else (name[:1], name[1:2])
        if name not in ("O", "B", "I", "E", "S") and not (letter in "BIES" and letter and dash == "-"):
            warnings.warn(f"{name} seems not to be NE tag.", UserWarning, stacklevel=4)


def _check_tags(names: Iterable[str], sentences: Iterable[Sequence[str]], scheme: str, *, suffix: bool) -> None:
    """Refuse tags that a scheme lacks as seqeval does: the first such sentence, letters of no scheme before others."""
    place = -1 if suffix else 0
    allowed = set(SCHEMES[scheme].letters)
    if all(name and name[place] in allowed for name in names):
        return
    for sentence in sentences:
        if other := [tag[place] for tag in sentence if tag[place] not in LETTERS]:
            raise KeyError(other[0])
        for tag in sentence:
            if tag[place] not in allowed:
                raise ValueError(invalid_token(tag, scheme))


def _flat(y_true: Sequence[Any], y_pred: Sequence[Any]) -> tuple[Sequence[Any], Sequence[Any]]:
    if any(isinstance(item, list) for item in y_true):
        return list(chain.from_iterable(y_true)), list(chain.from_iterable(y_pred))
    return y_true, y_pred


# Ratios


def _averaged(
    counts: TypeCounts,
    average: str | None,
    *,
    warn_for: tuple[str, ...] = ("precision", "recall", "f-score"),
    beta: float = 1.0,
    zero_division: Any = "warn",
) -> Figures:
    """Return precision, recall, F and support in the order of operations that gives seqeval's last digits."""
    true, pred, both = counts.true, counts.pred, counts.both
    if average == "micro":
        true, pred, both = (np.array([column.sum()]) for column in (true, pred, both))
    undefined = 0.0 if zero_division in ("warn", 0) else 1.0
    precision, recall = (
        np.where(whole == 0, undefined, both / np.where(whole == 0, 1, whole)) for whole in (pred, true)
    )
    if zero_division == "warn":
        _warn_of_undefined(true, pred, warn_for)
    if np.isposinf(beta):
        f_score = recall
    else:
        whole = beta**2 * precision + recall
        f_score = (1 + beta**2) * precision * recall / np.where(whole == 0, 1.0, whole)
    if average is None:
        return precision, recall, f_score, true
    if average == "weighted" and not true.sum():
        value = 0.0 if pred.sum() else undefined
        return value, undefined, value, sum(true)
    weights = true if average == "weighted" else None
    means = (np.average(column, weights=weights) for column in (precision, recall, f_score))
    return (*means, sum(true))


def _warn_of_undefined(true: NDArray[Any], pred: NDArray[Any], warn_for: tuple[str, ...]) -> None:
    also = " and F-score are" if "f-score" in warn_for else " is"
    if "precision" in warn_for and not pred.all():
        _warn(f"Precision{also}", "predicted", len(pred))
    if "recall" in warn_for and not true.all():
        _warn(f"Recall{also}", "true", len(true))
    if warn_for == ("f-score",) and (pred[true == 0] == 0).any():
        _warn("F-score is", "true nor predicted", len(true))


def _warn(beginning: str, modifier: str, labels: int) -> None:
    try:
        from sklearn.exceptions import UndefinedMetricWarning as Category
    except ImportError:
        Category = UndefinedMetricWarning  # noqa: N806
    where = "due to" if labels == 1 else "in labels with"
    text = f"{beginning} ill-defined and being set to 0.0 {where} no {modifier} samples."
    warnings.warn(f"{text} Use `zero_division` parameter to control this behavior.", Category, stacklevel=5)
