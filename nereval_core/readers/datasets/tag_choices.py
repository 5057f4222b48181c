"""The columns of rows that hold tags, by a sample: one of several has to be chosen."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from nereval_core.problems import FormatError
from nereval_core.readers.input.source import SourceFile
from nereval_core.readers.parquet.columns import open_parquet, read_within_bounds
from nereval_core.readers.shared.annotation_keys import may_hold_annotations
from nereval_core.readers.shared.label_list import TAGS
from nereval_core.readers.shared.tag_cells import (
    OTHER_TAGS,
    TagColumn,
    annotation_columns,
    is_label_name,
    is_named_like_prediction,
)

TOKENS = ("tokens", "words")
SAMPLE_ROWS = 50
"""The rows that say which columns hold tags."""
GRAIN = re.compile(r"(?:^|[^a-z])(?:fine|coarse)(?:[^a-z]|$)", re.IGNORECASE)
"""The name of a column of finer or coarser types."""
TOKEN_BYTES = 120
"""Memory of a token or tag as a Python object."""


def parquet_sample(file: SourceFile, words: str) -> list[dict[str, Any]]:
    """Return the first rows, the columns of tokens and of those that may be tags; none where these are not several."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        schema = pq.read_schema(open_parquet(file))
        lists = [field.name for field in schema if _may_hold_tags(field.type) and not OTHER_TAGS.search(field.name)]
        candidates = {*lists} - {words}
        if len(candidates) < 2 and candidates <= {*TAGS}:
            return [dict.fromkeys(schema.names)]
        table = read_within_bounds(file, open_parquet(file), lists, value=TOKEN_BYTES)
        sample: list[dict[str, Any]] = table.slice(0, SAMPLE_ROWS).to_pylist()
    except (pa.ArrowException, OSError, ValueError, NotImplementedError, FormatError):
        # What is wrong with the file is said where it is read.
        return []
    return sample


def _may_hold_tags(type: Any) -> bool:
    from pyarrow import types

    if not (types.is_list(type) or types.is_large_list(type)):
        return False
    inner = type.value_type
    return bool(types.is_string(inner) or types.is_large_string(inner) or types.is_integer(inner))


def tag_choices(rows: Sequence[Mapping[str, Any]]) -> tuple[TagColumn, ...]:
    """Return the keys of rows that hold a tag for each token, apart from other forms of the same tags."""
    words = next((key for key in TOKENS if any(key in row for row in rows)), "")
    keys = dict.fromkeys(key for row in rows for key in row if key != words)
    columns = [(key, _cells(rows, words, key)) for key in keys]
    tagged = set(annotation_columns(columns, TAGS))
    tagged |= {at for at, (key, cells) in enumerate(columns) if _are_numbers(cells) and is_label_name(key, TAGS)}
    surest = min(tagged, key=lambda at: TAGS.index(columns[at][0]) if columns[at][0] in TAGS else len(TAGS), default=-1)
    meant = [at for at in sorted(tagged) if at == surest or not _is_other_form(columns[at], columns[surest])]
    choices = tuple(TagColumn.of(*columns[at]) for at in meant)
    others = [key for at, (key, _) in enumerate(columns) if at not in tagged and is_named_like_prediction(key)]
    hidden = [key for key in others if any(may_hold_annotations(row.get(key)) for row in rows)]
    return (*choices, *(TagColumn(key, ()) for key in hidden)) if choices else ()


def _cells(rows: Sequence[Mapping[str, Any]], words: str, key: str) -> list[str]:
    """Return what stands under a key, one a token; nothing where it is something else in any row.

    A key that is called like a prediction may be missing or empty in rows.
    """
    cells: list[str] = []
    is_optional = is_named_like_prediction(key)
    for row in rows:
        tokens, values = row.get(words), row.get(key)
        if is_optional and (values is None or values == []):
            continue
        if not isinstance(tokens, list) or not isinstance(values, list) or len(tokens) != len(values):
            return []
        if not set(map(type, tokens)) <= {str}:
            return []
        if not set(map(type, values)) <= {str, int}:
            return []
        cells += map(str, values)
    return cells


def _are_numbers(cells: Sequence[str]) -> bool:
    return bool(cells) and all(map(str.isdecimal, cells))


def _is_other_form(column: tuple[str, Sequence[str]], surest: tuple[str, Sequence[str]]) -> bool:
    """Return whether a column has the tags of another as numbers or strings, or finer or coarser ones."""
    if is_named_like_prediction(column[0]) or is_named_like_prediction(surest[0]):
        return False
    pairs = len({*zip(column[1], surest[1], strict=True)})
    same = pairs == len({*column[1]}) == len({*surest[1]}) and _are_numbers(column[1]) != _are_numbers(surest[1])
    return same or GRAIN.search(column[0]) is not None
