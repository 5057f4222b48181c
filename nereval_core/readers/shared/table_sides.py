"""Tables of spans that hold gold and a prediction: columns of each side, or rows of several layers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nereval_core.readers.shared.table_columns import COLUMNS, Table, TableRows, plain_name, usual_place
from nereval_core.readers.shared.tag_cells import SHOWN_TYPES, TagColumn, is_gold_word, is_named_like_prediction

PARTS = ("start", "end", "type", "quote", "id", "score")
"""The columns that each side may have of its own."""
LAYERS = (
    *("annotator", "annotator_id", "annotator_name", "annotated_by", "coder", "labeler", "rater", "completed_by"),
    *("user", "user_id", "username", "worker", "worker_id"),
    *("layer", "system", "system_name", "model", "model_name"),
)
"""Names of columns that say whose span a row has."""
ORIGINS = ("source", "run", "origin", "side", "kind", "set")
"""Names of columns that may say so: they do where their cells are called like gold or a prediction."""

BOOLEANS = frozenset(("true", "false", "yes", "no", "0", "1", "y", "n"))


def type_columns(header: Sequence[str], rows: Sequence[Sequence[str]]) -> tuple[TagColumn, ...]:
    """Return the columns of a table that hold types: the usual one, and those of gold and of predictions.

    A column called `prediction` or `gold` alone is one where it has types that another has, and so is one of any name,
    as of a model, that has no others but differs.
    """
    full = [row for row in rows if len(row) == len(header)]
    cells = {at: dict.fromkeys(filter(None, (row[at] for row in full))) for at in range(len(header))}
    usual = usual_place(header, "type")
    places = [at for at, name in enumerate(header) if at == usual or (_side(name) and _part(name) == "type")]
    types = {value for at in places for value in cells[at]}
    bare = [at for at, name in enumerate(header) if _side(name) and not _rest(name) and at not in places]
    places += [at for at in bare if not types.isdisjoint(cells[at])]
    roles = {usual_place(header, what) for what in COLUMNS}
    places += [
        at
        for at in range(len(header))
        if at not in places and at not in roles and usual is not None and cells[at] and cells[at].keys() <= types
        if any(row[at] and row[at] != row[usual] for row in full)
    ]
    return tuple(TagColumn(header[at].strip(), tuple(cells[at])[:SHOWN_TYPES]) for at in sorted(places))


def columns_of_side(header: Sequence[str], type: str) -> dict[str, str]:
    """Return the columns of the side whose types stand in a column: those of the same prefix, by what they hold."""
    side = _side(type)
    own = {_part(name): name.strip() for name in header if side and _side(name) == side}
    return {part: name for part, name in own.items() if part in PARTS} | {"type": type}


def layer_column(table: Table, rows: TableRows) -> tuple[str, ...]:
    """Return the layer of each row of a table, by the name of an annotator or system; nothing where there is one layer.

    A table in which each document is of one annotator holds one layer. Where cells are called like gold and others like
    a prediction, or are yes and no under a name of either, the column need not be called so.
    """
    for name, cells in rows.others.items():
        values = set(cells)
        golden, predicted = any(map(is_gold_word, values)), any(map(is_named_like_prediction, values))
        sided = (golden and predicted) or (bool(_side(name)) and {value.lower() for value in values} <= BOOLEANS)
        if plain_name(name) not in LAYERS and not (sided or ((golden or predicted) and plain_name(name) in ORIGINS)):
            continue
        documents = rows.cells.get("document") or rows.cells.get("text") or cells
        by_document: dict[str, set[str]] = {}
        for document, value in zip(documents, cells, strict=True):
            by_document.setdefault(document, set()).update({value} - {""})
        if any(len(layers) > 1 for layers in by_document.values()):
            return tuple(cells)
    return ()


def rows_of_layer(rows: TableRows, layers: Sequence[str], layer: str) -> TableRows:
    """Return the rows with the spans of one layer; the others stand for their documents alone."""
    cells: Mapping[str, Sequence[str]] = {
        what: tuple(cell if own == layer else "" for cell, own in zip(column, layers, strict=True))
        if what not in ("document", "text")
        else column
        for what, column in rows.cells.items()
    }
    return TableRows(rows.lines, cells)


def _words(name: str) -> list[str]:
    return plain_name(name).split("_")


def _side(name: str) -> frozenset[str]:
    """Return the words of a name that mean gold or a prediction."""
    return frozenset(word for word in _words(name) if is_gold_word(word) or is_named_like_prediction(word))


def _rest(name: str) -> str:
    side = _side(name)
    return "_".join(word for word in _words(name) if word not in side)


def _part(name: str) -> str:
    """Return what a column of a side holds, "" where its name does not say."""
    rest = _rest(name)
    return next((what for what in PARTS if rest in COLUMNS[what]), "")
