"""The errors of one system by class: costs, boundary patterns, records, sentences, and where mentions were placed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nereval_core.analysis.errors.boundary_patterns import EDGES, find_patterns, pattern_table
from nereval_core.analysis.errors.error_classes import (
    CLASSES,
    ENDS,
    STRICT,
    class_ends,
    class_table,
    class_types,
    classify_errors,
    mend_classes,
)
from nereval_core.analysis.errors.error_groups import GroupKey, find_groups
from nereval_core.analysis.errors.fair_classes import FairErrors, fair_errors
from nereval_core.analysis.errors.group_words import group_frame
from nereval_core.analysis.sentences import (
    RecordCount,
    Sentence,
    is_or_are,
    join_parts,
    number_with_noun,
    record_count,
    sentence_text,
)
from nereval_core.corpus import Layer
from nereval_core.options import FORMS
from nereval_core.problems import FormatError, quoted
from nereval_core.records.match_records import rows
from nereval_core.records.queries import YES, Query
from nereval_core.records.tables import RECORD_COLUMNS, categories, frame
from nereval_core.report.displayed import Displayed
from nereval_core.report.excerpts import record_text
from nereval_core.scoring import Scores
from nereval_core.scoring.count_tables import TEXT_DTYPE, Columns
from nereval_core.scoring.criteria import Decision
from nereval_core.tables.glossary import DECISIONS

FORM_COLUMNS: Columns = {
    "class": TEXT_DTYPE,
    "form": TEXT_DTYPE,
    "predicted_form": TEXT_DTYPE,
    "gold_type": TEXT_DTYPE,
    "pred_type": TEXT_DTYPE,
    "records": "int64",
    "document": TEXT_DTYPE,
    "record": TEXT_DTYPE,
    "example": TEXT_DTYPE,
}
"""Columns of `error_forms` and their dtypes. `form` is the text of the gold span, or of a prediction without one;
`predicted_form` that of the prediction of a pair, where it is another. White space in them is one blank. `document`
and `record` name the first record of the form, `example` is its text with the form in brackets; NA: nowhere in it."""
FORM_KEY = ("class", "form", "predicted_form", "gold_type", "pred_type")
ALL_CLASSES = "all"

ERROR_COLUMNS: Columns = {
    **RECORD_COLUMNS,
    "class": "category",
    "ends": "category",
    **{f"pattern_{edge}": "category" for edge in EDGES},
}
"""Columns of `ErrorReport.records` and their dtypes: match records with class, ends and patterns, NA for none."""
PLACING = "placing"
"""The attribute of records of predictions whose mentions had no offsets."""
NOWHERE, EDITED, FOLDED, ELSEWHERE = "nowhere", "by edits", "apart from case or space", "at another occurrence"
PLACINGS = (NOWHERE, EDITED, FOLDED, ELSEWHERE)
PLACINGS_IN_WORDS = {
    NOWHERE: "made up, with words that stand nowhere in the text",
    EDITED: "written otherwise than in the text, and placed by edits",
    FOLDED: "written in other letter case or white space",
    ELSEWHERE: "placed elsewhere than a missed span of the same words and type",
}


def form_keys(records: pd.DataFrame) -> pd.DataFrame:
    """Return FORM_KEY of each record; `records` has the columns of `ErrorReport.records`."""
    gold, pred = (
        records[f"{side}_text"].map(lambda text: " ".join(text.split()), na_action="ignore")
        for side in ("gold", "pred")
    )
    both = gold.notna() & pred.notna() & (gold != pred)
    texts = {"form": gold.where(gold.notna(), pred), "predicted_form": pred.where(both)}
    columns = {name: records[name] for name in ("class", "gold_type", "pred_type")}
    return pd.DataFrame({**columns, **texts}, columns=list(FORM_KEY)).astype(TEXT_DTYPE)


def error_forms(scores: Scores, records: pd.DataFrame, limit: int) -> pd.DataFrame:
    """Return the `limit` most frequent forms of each class, the largest classes first: FORM_COLUMNS.

    Equal numbers of records are in the order of their first records. `records` are those of `ErrorReport.records`.

    Raises:
        FormatError: spans without texts.
    """
    if scores.gold.documents.sizes is not None:
        raise FormatError.single("forms", None, "spans without texts have no forms", "give the texts with them")
    keys = form_keys(records)
    keys["place"] = range(len(keys))
    groups = keys.groupby(list(FORM_KEY), sort=False, dropna=False, as_index=False)
    table = groups.agg(records=("place", "size"), place=("place", "first"))
    sizes = records["class"].value_counts()
    table["size"] = [int(sizes[name]) for name in table["class"]]
    table["rank"] = [CLASSES.index(name) for name in table["class"]]
    order = ["size", "rank", "records", "place"]
    table = table.sort_values(order, ascending=[False, True, False, True], kind="stable")
    table = table.groupby("class", sort=False).head(limit).reset_index(drop=True)
    firsts = records.iloc[table["place"]]
    columns: dict[str, Any] = {name: firsts[name].to_numpy() for name in ("document", "record")}
    columns["example"] = [record_text(scores, STRICT, record) or None for _, record in firsts.iterrows()]
    return table.assign(**columns)[list(FORM_COLUMNS)].astype(dict(FORM_COLUMNS))


@dataclass(frozen=True, eq=False, repr=False)
class ErrorReport(Displayed):
    """The errors of one system: `classes` are tables of CLASS_COLUMNS by criterion; the others are about strict
    records.

    `types` has TYPE_COLUMNS, `ends` END_COLUMNS and `patterns` PATTERN_COLUMNS.
    """

    scores: Scores
    classes: Mapping[str, pd.DataFrame]
    types: pd.DataFrame
    ends: pd.DataFrame
    patterns: pd.DataFrame

    def to_frame(self) -> pd.DataFrame:
        """Return the classes under all criteria: `criterion` and CLASS_COLUMNS."""
        classes = pd.concat(self.classes, names=["criterion"]).reset_index("criterion").reset_index(drop=True)
        return classes.astype({"criterion": TEXT_DTYPE})

    def mended(self, classes: str | Collection[str]) -> Layer:
        """Return the predictions as read with some classes, or "all", mended.

        Raises:
            FormatError: an unknown class.
        """
        return mend_classes(self.scores, parse_classes([classes] if isinstance(classes, str) else classes))

    def records(self) -> pd.DataFrame:
        """Return the records that are not strictly correct, in document order: ERROR_COLUMNS."""
        errors, words = classify_errors(self.scores), find_patterns(self.scores)
        all_rows = rows(self.scores, STRICT)
        all_rows = all_rows.take(np.flatnonzero(all_rows.decision != Decision.COR))
        table = frame(self.scores, STRICT, all_rows)
        is_gold = all_rows.gold >= 0

        def column(gold: NDArray[Any], pred: NDArray[Any], names: Iterable[str]) -> Any:
            codes = np.empty(len(all_rows), np.int32)
            codes[is_gold] = gold[all_rows.gold[is_gold]]
            codes[~is_gold] = pred[all_rows.pred[~is_gold]]
            return categories(codes, names)

        table["class"] = column(errors.gold, errors.pred, CLASSES)
        table["ends"] = column(errors.gold_ends, errors.pred_ends, ENDS)
        for edge in EDGES:
            table[f"pattern_{edge}"] = column(words.gold[edge], words.pred[edge], words.names)
        return table

    def forms(self, limit: int = 10) -> pd.DataFrame:
        """Return the `limit` most frequent surface forms of each class, with an example each: FORM_COLUMNS of
        `error_forms`.

        Raises:
            FormatError: spans without texts, or a limit below 1.
        """
        FORMS.check(limit)
        return error_forms(self.scores, self.records(), limit)

    def groups(self, criterion: str = STRICT) -> pd.DataFrame:
        """Return the groups of errors with something in common under a criterion, the largest gain in F1 first.

        GROUP_COLUMNS of `nereval_core.analysis.errors.group_words`; a criterion that counts tokens has no groups.
        """
        has_groups = self.scores.criterion(criterion).unit == "span"
        groups = find_groups(self.scores, criterion) if has_groups else ()
        return group_frame(self.scores, criterion, groups)

    def fair(self) -> FairErrors:
        """Return the errors as FairEval counts them (Ortmann 2022): every one once, and P, R and F1 by its weights.

        Raises:
            FormatError: spans that do not fit the tokens of their documents.
        """
        return fair_errors(self.scores)

    def sentence(self, criterion: str = STRICT) -> Sentence:
        """Return the sentence on the costliest class under a criterion; its numbers count strict records."""
        return costliest_class_sentence(
            self.classes[criterion], self.patterns, self.scores.counts(criterion).f1, criterion
        )

    @property
    def words(self) -> tuple[str, ...]:
        """A sentence for each criterion, and one on mentions that had no offsets, where there are some."""
        placed = self.placing_sentence()
        return (
            *(sentence_text(self.sentence(name)) for name in self.classes),
            *([sentence_text(placed)] if placed else []),
        )

    def placing_sentence(self) -> Sentence:
        """Return the sentence on mentions that had no offsets, empty where all predictions had some."""
        return placing_sentence(self.scores, STRICT)


def error_report(
    scores: Scores, names: Sequence[str] = (STRICT,), *, progress: Callable[[int, int], None] | None = None
) -> ErrorReport:
    """Return the errors of one system by class, and the gain of mending each under some of the scored criteria.

    `progress` is called with the re-scorings done and their total, for each criterion.

    Raises:
        ValueError: `strict` is not scored, or each side counts for itself.
    """
    classes = {name: class_table(scores, name, progress=progress) for name in names}
    return ErrorReport(
        scores, MappingProxyType(classes), class_types(scores), class_ends(scores), pattern_table(scores)
    )


LIKE = "like"
"""The attribute of records that belong to a group of errors; its key follows."""


def group_query(key: GroupKey | str) -> Query:
    """Return the query for the records of a group of errors by its key."""
    return errors_query((f"{LIKE} {key}", YES))


def errors_query(*having: tuple[str, str]) -> Query:
    """Return the query for the errors with some attributes."""
    return Query(decision=DECISIONS[1:], having=having)


def costliest_class_sentence(
    classes: pd.DataFrame, patterns: pd.DataFrame, f1: float | None, criterion: str = STRICT
) -> Sentence:
    """Return the sentence on the costliest class.

    `classes` has CLASS_COLUMNS, `patterns` PATTERN_COLUMNS; `f1` is the present F1 under the criterion.
    """
    records = int(classes["records"].sum())
    if not records and f1 is None:
        return (f"Nothing is scored under {criterion}: there are no errors to find.",)
    if not records:
        return ("There are no errors: every span is correct.",)
    first = classes.iloc[0]
    name, number = str(first["class"]), int(first["records"])
    having = ("class", name)
    parts: list[str | RecordCount] = [
        "Of ",
        RecordCount(number_with_noun("error", records), errors_query(), records),
        ", ",
        record_count(number, errors_query(having), records),
        f" {is_or_are(number)} {name}",
    ]
    if name == "boundary only" and patterns["records"].gt(1).any():
        edge, pattern, most = patterns[["end", "pattern", "records"]].iloc[0]
        parts += [
            f", most often because the prediction {pattern} at its {edge} end (",
            record_count(int(most), errors_query(having, (f"pattern {edge}", pattern))),
            ")",
        ]
    if f1 is not None and first["gain"] > 0:
        parts += [
            f"; mending {'it' if number == 1 else 'these'} alone would raise F1 under {criterion} from {f1:.4f} to ",
            RecordCount(f"{first['f1']:.4f}", errors_query(having), number),
        ]
    return join_parts((*parts, "."))


def negative_gains_note(table: pd.DataFrame) -> str:
    """Return the explanation of gains below 0, "" where there are none."""
    names = table.loc[table["gain"] < 0, "class"].tolist()
    if not names:
        return ""
    return (
        f"F1 falls if {' or '.join(names)} alone {is_or_are(len(names))} mended: what is mended was "
        "credited already, or takes gold spans that other predictions have"
    )


def parse_classes(names: Collection[str]) -> tuple[str, ...]:
    """Return CLASSES by name, in their order; names may have dashes for blanks and omit `only`, and "all" means all.

    Raises:
        FormatError: an unknown class.
    """
    short = {name.removesuffix(" only"): name for name in CLASSES} | {name: name for name in CLASSES}
    requested = [" ".join(name.replace("-", " ").split()) for name in names]
    wrong = [name for name in requested if name not in short and name != ALL_CLASSES]
    if wrong or not requested:
        finding = f"there is no error class {quoted(wrong[0])}" if wrong else "no error class is named"
        raise FormatError.single("mend", None, finding, f"choose among {', '.join(CLASSES)}, or {ALL_CLASSES}")
    classes = set(CLASSES) if ALL_CLASSES in requested else {short[name] for name in requested}
    return tuple(name for name in CLASSES if name in classes)


def placings(scores: Scores, name: str) -> NDArray[np.int8] | None:
    """Return the placing of each prediction under a criterion: an index into PLACINGS, -1 where it is as it should be.

    None where no mention had to be placed otherwise than exactly: then the predictions may have had offsets. That one
    stands at another occurrence counts only where it was placed exactly.
    """
    gold, pred = scores.layers(name)
    if scores.criterion(name).unit == "token" or not any("placed" in meta for meta in pred.meta.values()):
        return None
    codes = np.full(len(pred), -1, np.int8)
    for span, meta in pred.meta.items():
        if meta.get("placed") in PLACINGS:
            codes[span] = PLACINGS.index(meta["placed"])
    gold_decision, pred_decision = scores.decisions(name)
    missed = {
        (int(gold.doc[span]), gold.label(span), gold.text(span))
        for span in np.flatnonzero(gold_decision == Decision.MIS).tolist()
    }
    for span in np.flatnonzero((pred_decision == Decision.SPU) & (codes < 0)).tolist():
        if (int(pred.doc[span]), pred.label(span), pred.text(span)) in missed:
            codes[span] = PLACINGS.index(ELSEWHERE)
    return codes


def placing_sentence(scores: Scores, name: str) -> Sentence:
    """Return the sentence on the placing of predictions under a criterion, empty where there is nothing to say."""
    codes = placings(scores, name)
    if codes is None:
        return ()
    counts = np.bincount(codes[codes >= 0], minlength=len(PLACINGS)).tolist()
    parts: list[str | RecordCount] = [f"Of {number_with_noun('prediction', len(codes))} without offsets, "]
    counted = [(kind, count) for kind, count in zip(PLACINGS, counts, strict=True) if count]
    for place, (kind, count) in enumerate(counted):
        query = Query(decision=DECISIONS, having=((PLACING, kind),))
        words = f" {is_or_are(count)} {PLACINGS_IN_WORDS[kind]}"
        parts += ["; " if place else "", record_count(count, query), words]
    return join_parts((*parts, "."))
