"""A corrected copy of gold as files: the layer in any writable format, and the log of its changes beside it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from nereval_core import __version__, writers
from nereval_core.corpus import Layer
from nereval_core.corpus.masking import SAID, is_masked
from nereval_core.problems import FormatError, one_line
from nereval_core.readers.parquet import SPANS, TEXTS
from nereval_core.review.apply import AppliedVerdicts, Change
from nereval_core.review.verdicts import KINDS, Marked, kind_in_words, kinds_between
from nereval_core.tables import Cell, Table, columns_of
from nereval_core.tables.rendering import as_csv

CHANGE_LOG_SUFFIX = ".changes.csv"
"""The end of a log's name, after that of the copy."""
LOG_COLUMNS = (
    *("document", "side", "span", "text", "verdict", "who", "at", "note"),
    *("done", "after", "text after", "not applied", "given on", "verdict id"),
)
"""Spans are written as in record ids, `12-19:Drug`, several with a semicolon between. A row is a verdict in a document;
`given on` is the document that the verdict was given on, and rows of one verdict share its `verdict id`."""
ONLY, EVERY = "only the document each was given on", "every document with the text"


def span_in_words(span: Marked) -> str:
    """Return a span as it is written in a record id, without its side."""
    return ",".join(f"{low}-{high}" for low, high in span.fragments) + f":{span.type}"


def signature(applied: AppliedVerdicts) -> str:
    """Return the line that names the layer behind a copy, the number of verdicts and the program."""
    parts = (
        f"nereval {__version__}",
        *applied_counts(applied),
        f"not applied {applied.n_not_applied}",
        f"gold sha256:{applied.gold.digest[:16]}",
        f"corrected sha256:{applied.layer.digest[:16]}",
        f"documents {len(applied.gold.documents)}",
        *([SAID] if is_masked(applied.gold.documents) else []),
    )
    return " | ".join(parts)


def applied_counts(applied: AppliedVerdicts) -> tuple[str, ...]:
    """Return the parts of a signature with the numbers of verdicts, places and documents, and the rule for these."""
    return (
        f"verdicts applied {applied.verdicts}",
        f"places {applied.places}",
        f"documents with verdicts {applied.documents}",
        f"applied to {ONLY if applied.only_this_document else EVERY}",
    )


def log_rows(changes: Iterable[Change], annotators: tuple[str, str] | None = None) -> tuple[tuple[Cell, ...], ...]:
    """Return a row for each verdict and document, with LOG_COLUMNS.

    Sides are gold and pred, or, where two annotators are compared, called by their names.
    """
    return tuple(
        (
            change.id,
            side_in_words(change.stored.verdict.key.side, annotators),
            span_in_words(change.span),
            change.before,
            *decision_cells(change, annotators),
            change.done,
            "; ".join(map(span_in_words, change.after)),
            "; ".join(change.quotes),
            change.reason,
            *origin_cells(change),
        )
        for change in changes
    )


def decision_cells(change: Change, annotators: tuple[str, str] | None = None) -> tuple[str, str, str, str]:
    """Return the cells of LOG_COLUMNS from `verdict` to `note`."""
    kinds = KINDS if annotators is None else kinds_between(*annotators)
    return kind_in_words(change.stored.verdict, kinds), change.stored.who, change.stored.at, change.note


def origin_cells(change: Change) -> tuple[str, str]:
    """Return the cells `given on` and `verdict id` of LOG_COLUMNS."""
    return change.stored.verdict.seen.document, change.stored.uid


def side_in_words(side: str, annotators: tuple[str, str] | None) -> str:
    """Return the side of a span as the log calls it."""
    return side if annotators is None else {"gold": annotators[0], "pred": annotators[1]}.get(side, side)


def log_csv(rows: Iterable[Sequence[Cell]], signed: str) -> bytes:
    """Return the rows of a log as CSV in UTF-8, with the signature in each row; without rows, in one of its own."""
    signed = one_line(signed)
    signed_rows = [(*row, signed) for row in rows] or [(*[""] * len(LOG_COLUMNS), signed)]
    return as_csv(Table("", columns_of(*LOG_COLUMNS, "signature"), tuple(signed_rows))).encode()


def write_copy(
    layer: Layer,
    log: bytes,
    path: str | os.PathLike[str],
    *,
    format: str,
    inputs: Iterable[str | os.PathLike[str]],
    lossy: bool = False,
) -> tuple[str, ...]:
    """Write a layer, and its log beside it under the same name with CHANGE_LOG_SUFFIX; both or neither.

    Parts that the format cannot hold are refused or, if `lossy`, left out; return notes that count them.

    Raises:
        FormatError: either place is one of the inputs, or in a folder among them, by whatever name or link; a format
            that cannot hold the layer; a place that cannot be written.
    """
    out = Path(path)
    beside = out.with_name(f"{out.name}{CHANGE_LOG_SUFFIX}") if out.name else out
    places = list(inputs)
    # Spans and texts in Parquet are two files, whichever of them is named.
    pair = (SPANS, TEXTS) if out.name.endswith((SPANS, TEXTS)) else ()
    stem = out.name.removesuffix(SPANS).removesuffix(TEXTS)
    for place in (out, beside, *(out.with_name(stem + ending) for ending in pair)):
        if any(is_input(place, source) for source in places):
            finding = "this is what the copy is made of, and is not written over"
            raise FormatError.single(os.fspath(place), None, finding, "name another place")
    with writers.whole_file(beside) as file:
        file.write(log)
        return writers.write(layer, out, format=format, lossy=lossy)


def is_input(place: Path, source: str | os.PathLike[str]) -> bool:
    """Return whether a place is an input, lies in a folder that is one, or holds one; links are followed."""
    real_place, real_source = Path(os.path.realpath(place)), Path(os.path.realpath(source))
    if real_place == real_source or real_source in real_place.parents or real_place in real_source.parents:
        return True
    return real_place.exists() and real_source.exists() and real_place.samefile(real_source)
