"""Entities and links as the CLEF-HIPE scorer builds them from the cells of a column.

Every side's units are disjoint and in the order of the text, within a document.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nereval_core.arrays import Int64
from nereval_core.conventions.hipe.columns import Column

Flags = NDArray[np.bool_]
NO_LINK = ("_", "-")


@dataclass(frozen=True, eq=False)
class Units:
    """Units of one side: first and last token (of those kept), and the cell that says the label.

    `labels` has the codes of a cell's labels in order of rank, -1 where there are no more; shape (cells, ranks).
    `shown` is the label of a cell as it stands in the file.
    """

    first: Int64
    last: Int64
    cell: Int64
    labels: NDArray[np.int64]
    shown: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.first)

    def take(self, units: Int64 | Flags) -> Units:
        return Units(self.first[units], self.last[units], self.cell[units], self.labels, self.shown)


class Names:
    """Labels by code, in upper case as the scorer compares them."""

    def __init__(self) -> None:
        self.codes: dict[str, int] = {}

    def code(self, label: str) -> int:
        return self.codes.setdefault(label, len(self.codes))

    def table(self, ranked: Iterable[Sequence[str]]) -> NDArray[np.int64]:
        rows = [[self.code(label) for label in labels] for labels in ranked]
        table = np.full((len(rows), max(map(len, rows), default=1)), -1, np.int64)
        for number, row in enumerate(rows):
            table[number, : len(row)] = row
        return table


def allowed(columns: Sequence[Column], names: Names) -> set[int]:
    """Return the codes of the labels that the scorer finds in whole columns.

    Of a cell it takes what stands before the first | and, of that, what follows the last -: a label that holds one of
    them is never found.
    """
    found = {cell.upper().split("|")[0].split("-")[-1] for column in columns for cell in column.cells}
    return {names.code(label) for label in found - {"_", "-", "O"}}


def entities(column: Column, doc: Int64, names: Names, *, whole: bool) -> tuple[Units, Units]:
    """Return the entities of a column of tags over tokens.

    O closes; any other cell opens one where none is open, where its type is another or its prefix is B. Without
    `whole` those that cover a whole document are lost and returned apart.
    """
    cells = [cell.upper() for cell in column.cells]
    labels = names.table([(cell[2:],) for cell in cells])
    outside = np.array([cell == "O" for cell in cells], bool)
    begins = np.array([cell[:1] == "B" for cell in cells], bool)
    codes = column.codes
    closed = outside[codes] if len(codes) else np.zeros(0, bool)
    kind = labels[codes, 0] if len(codes) else np.zeros(0, np.int64)
    cut = kind[1:] != kind[:-1]
    cut |= begins[codes[1:]] if len(codes) else False
    first, last = _runs(closed, cut, doc)
    lost = [not cell[2:] for cell in cells]
    shown = tuple(cell[2:] for cell in column.cells)
    return _without_lost(Units(first, last, codes[first].astype(np.int64), labels, shown), doc, lost, whole=whole)


def links(column: Column, doc: Int64, names: Names, ranks: int, *, whole: bool) -> tuple[Units, Units]:
    """Return runs of equal cells but `_` and `-`, with so many alternatives each, and those lost as in `entities`."""
    upper = [cell.upper() for cell in column.cells]
    same = {cell: number for number, cell in enumerate(dict.fromkeys(upper))}
    run = np.array([same[cell] for cell in upper], np.int64)
    outside = np.array([cell in NO_LINK for cell in upper], bool)
    codes = column.codes
    closed = outside[codes] if len(codes) else np.zeros(0, bool)
    kind = run[codes] if len(codes) else np.zeros(0, np.int64)
    first, last = _runs(closed, kind[1:] != kind[:-1], doc)
    units = Units(first, last, codes[first].astype(np.int64), *_ranked(column, names, ranks))
    return _without_lost(units, doc, [not cell for cell in upper], whole=whole)


def links_of_mentions(column: Column, mentions: Column, doc: Int64, names: Names, ranks: int, *, gold: bool) -> Units:
    """Return the links of mentions, with their first so many alternatives, and links outside mentions, by token.

    A mention has the link of its first token; a prediction is split where the link changes within a mention.
    """
    tags = [cell.upper() for cell in mentions.cells]
    upper = [cell.upper() for cell in column.cells]
    same = {cell: number for number, cell in enumerate(dict.fromkeys(upper))}
    run = np.array([same[cell] for cell in upper], np.int64)
    types = {tag[2:]: number for number, tag in enumerate(tags)}
    size = len(column.codes)
    if not size:
        none = np.zeros(0, np.int64)
        return Units(none, none, none, *_ranked(column, names, ranks))
    outside = np.array([tag == "O" for tag in tags], bool)[mentions.codes]
    prefix = np.array([" BI".find(tag[:1]) if tag[:1] else -1 for tag in tags], np.int64)[mentions.codes]
    kind = np.array([types[tag[2:]] for tag in tags], np.int64)[mentions.codes]
    link = run[column.codes]
    cut = (kind[1:] != kind[:-1]) | (prefix[1:] == 1)
    if not gold:
        inside = prefix[1:] == 2
        changed = inside & (link[1:] != link[:-1])
        # A token of the mention with neither B nor I is passed over when links are compared.
        if np.any(~cut & ~outside[1:] & ~outside[:-1] & ~inside):
            changed = _changes(outside, cut, inside, link, doc)
        cut |= changed
    first, last = _runs(outside, cut, doc)
    unlinked = np.array([cell in NO_LINK for cell in upper], bool)[column.codes]
    alone = np.flatnonzero(outside & ~unlinked)
    firsts, lasts = np.concatenate((first, alone)), np.concatenate((last, alone))
    order = np.argsort(firsts, kind="stable")
    firsts, lasts = firsts[order], lasts[order]
    return Units(firsts, lasts, column.codes[firsts].astype(np.int64), *_ranked(column, names, ranks))


def union(units: Units, columns: Sequence[Column], names: Names) -> Units:
    """Return units with the label that each column has at their first token, in the order of the columns."""
    cells = [column.codes[units.first].astype(np.int64) for column in columns]
    if not len(units):
        return units
    rows, cell = np.unique(np.stack(cells, axis=1), axis=0, return_inverse=True)
    texts = [[column.cells[code] for column, code in zip(columns, row, strict=True)] for row in rows.tolist()]
    labels = names.table([[text.upper() for text in row] for row in texts])
    return Units(units.first, units.last, cell.reshape(-1), labels, tuple("|".join(row) for row in texts))


def _ranked(column: Column, names: Names, ranks: int) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    kept = [cell.split("|")[:ranks] for cell in column.cells]
    return names.table([[label.upper() for label in row] for row in kept]), tuple("|".join(row) for row in kept)


def _runs(outside: Flags, cut: Flags, doc: Int64) -> tuple[Int64, Int64]:
    """Return first and last token of the runs inside, parted where `cut` (between tokens) says or documents end."""
    size = len(outside)
    edge = np.ones(size + 1, bool)
    if size:
        edge[1:-1] = cut | (doc[1:] != doc[:-1]) | outside[1:] | outside[:-1]
    inside = ~outside
    return np.flatnonzero(inside & edge[:-1]), np.flatnonzero(inside & edge[1:])


def _changes(outside: Flags, cut: Flags, inside: Flags, link: Int64, doc: Int64) -> Flags:
    """Return between which tokens a mention changes its link, token by token."""
    changed = np.zeros(len(cut), bool)
    new = cut | outside[1:] | outside[:-1] | (doc[1:] != doc[:-1])
    held = link[0]
    for token, (begins, compared, now) in enumerate(zip(new.tolist(), inside.tolist(), link[1:].tolist(), strict=True)):
        if begins:
            held = now
        elif compared and now != held:
            changed[token] = True
            held = now
    return changed


def _without_lost(units: Units, doc: Int64, nameless: Sequence[bool], *, whole: bool) -> tuple[Units, Units]:
    """Part units from what the scorer loses at the end of a document: those without label, or, not `whole`, all of it.

    Only the second kind is returned as lost.
    """
    if not len(units):
        return units, units
    starts, ends = np.ones((2, len(doc)), bool)
    ends[:-1] = starts[1:] = doc[1:] != doc[:-1]
    unnamed = ends[units.last] & np.array(nameless, bool)[units.cell]
    entire = (ends[units.last] & starts[units.first] & ~unnamed) if not whole else np.zeros(len(units), bool)
    return units.take(~(unnamed | entire)), units.take(entire)
