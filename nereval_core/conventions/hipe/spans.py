"""Entities and links as the CLEF-HIPE scorer builds them from the cells of a column, and the mapping of links.

Every side's units are disjoint and in the order of the text, within a document.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, zip_longest
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nereval_core.conventions.hipe.columns import LITERAL_LINKS, MENTIONS, METONYMIC_LINKS, CellColumn, ColumnPair
from nereval_core.conventions.tag_sequences import runs
from nereval_core.corpus.arrays import Int64
from nereval_core.problems import FormatError, quoted

Flags = NDArray[np.bool_]
NO_LINK = ("_", "-")


@dataclass(frozen=True, eq=False)
class TokenUnits:
    """Units of one side: first and last token (of those kept), and the cell that says the label.

    `labels` has the codes of a cell's labels in order of rank, -1 where there are no more; shape (cells, ranks).
    `written` is the label of a cell as it stands in the file.
    """

    first: Int64
    last: Int64
    cell: Int64
    labels: NDArray[np.int64]
    written: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.first)

    def take(self, units: Int64 | Flags) -> TokenUnits:
        return TokenUnits(self.first[units], self.last[units], self.cell[units], self.labels, self.written)


class LabelCodes:
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


def label_codes_found(columns: Sequence[CellColumn], names: LabelCodes) -> set[int]:
    """Return the codes of the labels that the scorer finds in whole columns.

    Of a cell it takes the text before the first | and, of that, the text after the last -: a label with one of these
    characters is never found.
    """
    labels = {cell.upper().split("|")[0].split("-")[-1] for column in columns for cell in column.cells}
    return {names.code(label) for label in labels - {"_", "-", "O"}}


def entity_units(column: CellColumn, doc: Int64, names: LabelCodes, *, whole: bool) -> tuple[TokenUnits, TokenUnits]:
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
    written = tuple(cell[2:] for cell in column.cells)
    return _without_lost(
        TokenUnits(first, last, codes[first].astype(np.int64), labels, written), doc, lost, whole=whole
    )


def link_units(
    column: CellColumn, doc: Int64, names: LabelCodes, ranks: int, *, whole: bool
) -> tuple[TokenUnits, TokenUnits]:
    """Return runs of equal cells but `_` and `-`, with `ranks` alternatives each, and those lost as in `entities`."""
    upper = [cell.upper() for cell in column.cells]
    same = {cell: number for number, cell in enumerate(dict.fromkeys(upper))}
    run = np.array([same[cell] for cell in upper], np.int64)
    outside = np.array([cell in NO_LINK for cell in upper], bool)
    codes = column.codes
    closed = outside[codes] if len(codes) else np.zeros(0, bool)
    kind = run[codes] if len(codes) else np.zeros(0, np.int64)
    first, last = _runs(closed, kind[1:] != kind[:-1], doc)
    units = TokenUnits(first, last, codes[first].astype(np.int64), *_ranked(column, names, ranks))
    return _without_lost(units, doc, [not cell for cell in upper], whole=whole)


def mention_link_units(
    column: CellColumn, mentions: CellColumn, doc: Int64, names: LabelCodes, ranks: int, *, gold: bool
) -> TokenUnits:
    """Return the links of mentions, with their first `ranks` alternatives, and links outside mentions, by token.

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
        return TokenUnits(none, none, none, *_ranked(column, names, ranks))
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
    return TokenUnits(firsts, lasts, column.codes[firsts].astype(np.int64), *_ranked(column, names, ranks))


def union_units(units: TokenUnits, columns: Sequence[CellColumn], names: LabelCodes) -> TokenUnits:
    """Return units with the label that each column has at their first token, in the order of the columns."""
    cells = [column.codes[units.first].astype(np.int64) for column in columns]
    if not len(units):
        return units
    rows, cell = np.unique(np.stack(cells, axis=1), axis=0, return_inverse=True)
    texts = [[column.cells[code] for column, code in zip(columns, row, strict=True)] for row in rows.tolist()]
    labels = names.table([[text.upper() for text in row] for row in texts])
    return TokenUnits(units.first, units.last, cell.reshape(-1), labels, tuple("|".join(row) for row in texts))


def _ranked(column: CellColumn, names: LabelCodes, ranks: int) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    ranked = [cell.split("|")[:ranks] for cell in column.cells]
    return names.table([[label.upper() for label in row] for row in ranked]), tuple("|".join(row) for row in ranked)


def _runs(outside: Flags, cut: Flags, doc: Int64) -> tuple[Int64, Int64]:
    """Return first and last token of the runs inside; `cut` (between tokens) and document ends separate them."""
    return runs(~outside, cut | (doc[1:] != doc[:-1]))


def _changes(outside: Flags, cut: Flags, inside: Flags, link: Int64, doc: Int64) -> Flags:
    """Return between which tokens a mention changes its link, token by token."""
    changed = np.zeros(len(cut), bool)
    new = cut | outside[1:] | outside[:-1] | (doc[1:] != doc[:-1])
    current = link[0]
    for token, (begins, compared, now) in enumerate(zip(new.tolist(), inside.tolist(), link[1:].tolist(), strict=True)):
        if begins:
            current = now
        elif compared and now != current:
            changed[token] = True
            current = now
    return changed


def _without_lost(
    units: TokenUnits, doc: Int64, nameless: Sequence[bool], *, whole: bool
) -> tuple[TokenUnits, TokenUnits]:
    """Split off units that the scorer loses at the end of a document: those without label, or, not `whole`, all of it.

    Only the second kind is returned as lost.
    """
    if not len(units):
        return units, units
    starts, ends = np.ones((2, len(doc)), bool)
    ends[:-1] = starts[1:] = doc[1:] != doc[:-1]
    unnamed = ends[units.last] & np.array(nameless, bool)[units.cell]
    entire = (ends[units.last] & starts[units.first] & ~unnamed) if not whole else np.zeros(len(units), bool)
    return units.take(~(unnamed | entire)), units.take(entire)


ITEM = re.compile(r"(Q[0-9]+)")
TIME = "time"
NIL = "NIL"


def read_mapping(path: str) -> dict[str, str]:
    """Return the main item of each alternative, from a table with the column Main and any number of alternatives.

    Columns are read from left to right: of two main items for one alternative the later column's, then the later row's,
    stays. Items are found anywhere in a cell.

    Raises:
        FormatError: no such table.
    """
    try:
        lines = Path(path).read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError):
        raise FormatError.single(path, None, "is not text that can be read", "give a table in UTF-8") from None
    rows = [line.split("\t") for line in lines if line.strip()]
    if not rows or "Main" not in rows[0]:
        finding = f"{quoted(lines[0])} has no column Main" if lines else "an empty file, without column Main"
        raise FormatError.single(path, 1, finding, "begin with Main<tab>Alternatives")
    main = rows[0].index("Main")
    mapping = {}
    for column in range(max(map(len, rows))):
        if column == main:
            continue
        for row in rows[1:]:
            target, item = (ITEM.search(row[at]) if at < len(row) else None for at in (main, column))
            if target and item:
                mapping[item[1]] = target[1]
    return mapping


def map_links(
    pair: ColumnPair,
    *,
    gold_map: Mapping[str, str],
    pred_map: Mapping[str, str],
    norm_time: bool,
    both: bool,
    union: bool,
) -> ColumnPair:
    """Return both sides with links mapped; `norm_time` links predicted time mentions to NIL.

    `both` says that metonymic links are concerned too; `union` joins the ranked lists of both columns.
    """
    gold, pred = dict(pair.gold), dict(pair.pred)
    for columns, mapping in ((gold, gold_map), (pred, pred_map)):
        for name in (LITERAL_LINKS, METONYMIC_LINKS):
            if name in columns and mapping:
                columns[name] = columns[name].changed(partial(_mapped, mapping))
    if norm_time:
        timed = [TIME in cell for cell in pred[MENTIONS[LITERAL_LINKS]].cells]
        for name in (LITERAL_LINKS, METONYMIC_LINKS) if both else (LITERAL_LINKS,):
            if name in pred:
                pred[name] = _at_time(pred[name], pred[MENTIONS[LITERAL_LINKS]], timed)
    if union and LITERAL_LINKS in pred and METONYMIC_LINKS in pred:
        literal, metonymic = pred[LITERAL_LINKS], pred[METONYMIC_LINKS]
        pred |= {LITERAL_LINKS: _joined(literal, metonymic), METONYMIC_LINKS: _joined(metonymic, literal)}
    return replace(pair, gold=gold, pred=pred)


def _mapped(mapping: Mapping[str, str], cell: str) -> str:
    return "|".join(mapping.get(link, link) for link in cell.split("|"))


def _at_time(links: CellColumn, mentions: CellColumn, timed: list[bool]) -> CellColumn:
    cells = (*links.cells, NIL)
    codes = links.codes.copy()
    for code, is_time in enumerate(timed):
        if is_time:
            codes[mentions.codes == code] = len(cells) - 1
    return CellColumn(codes, cells)


def _joined(left: CellColumn, right: CellColumn) -> CellColumn:
    """Return the lists of two columns taken in turn, EMPTY where one is shorter; a cell without links stays."""

    def cell(first: str, second: str) -> str:
        if first in ("_", "-", ""):
            return first
        pairs = zip_longest(first.split("|"), second.split("|"), fillvalue="EMPTY")
        return "|".join(chain.from_iterable(pairs))

    rows = zip(left.codes.tolist(), right.codes.tolist(), strict=True)
    return CellColumn.of([cell(left.cells[first], right.cells[second]) for first, second in rows])
