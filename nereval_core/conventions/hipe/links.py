"""Relaxed linking: the mapping of links that CLEF-HIPE applies before it scores (normalize_linking.py).

Links are mapped on both sides, time mentions and the union of columns concern predictions: that is how the published
figures were made.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from itertools import chain, zip_longest
from pathlib import Path

from nereval_core.conventions.hipe.columns import Column, Pair
from nereval_core.problems import FormatError, quoted

LITERAL, METONYMIC, MENTIONS = "NEL-LIT", "NEL-METO", "NE-COARSE-LIT"
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
        raise FormatError.single(path, None, "is no text that can be read", "give a table in UTF-8") from None
    rows = [line.split("\t") for line in lines if line.strip()]
    if not rows or "Main" not in rows[0]:
        found = f"{quoted(lines[0])} has no column Main" if lines else "an empty file, without column Main"
        raise FormatError.single(path, 1, found, "begin with Main<tab>Alternatives")
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


def normalised(
    pair: Pair, *, gold_map: Mapping[str, str], pred_map: Mapping[str, str], norm_time: bool, both: bool, union: bool
) -> Pair:
    """Return both sides with links mapped; `norm_time` links predicted time mentions to NIL.

    `both` says that metonymic links are concerned too; `union` joins the ranked lists of both columns.
    """
    gold, pred = dict(pair.gold), dict(pair.pred)
    for columns, mapping in ((gold, gold_map), (pred, pred_map)):
        for name in (LITERAL, METONYMIC):
            if name in columns and mapping:
                columns[name] = columns[name].changed(partial(_mapped, mapping))
    if norm_time:
        timed = [TIME in cell for cell in pred[MENTIONS].cells]
        for name in (LITERAL, METONYMIC) if both else (LITERAL,):
            if name in pred:
                pred[name] = _at_time(pred[name], pred[MENTIONS], timed)
    if union and LITERAL in pred and METONYMIC in pred:
        one, two = pred[LITERAL], pred[METONYMIC]
        pred |= {LITERAL: _joined(one, two), METONYMIC: _joined(two, one)}
    return replace(pair, gold=gold, pred=pred)


def _mapped(mapping: Mapping[str, str], cell: str) -> str:
    return "|".join(mapping.get(link, link) for link in cell.split("|"))


def _at_time(links: Column, mentions: Column, timed: list[bool]) -> Column:
    cells = (*links.cells, NIL)
    codes = links.codes.copy()
    for code, is_time in enumerate(timed):
        if is_time:
            codes[mentions.codes == code] = len(cells) - 1
    return Column(codes, cells)


def _joined(one: Column, two: Column) -> Column:
    """Return the lists of two columns taken in turn, EMPTY where one is shorter; a cell without links stays."""

    def cell(first: str, second: str) -> str:
        if first in ("_", "-", ""):
            return first
        pairs = zip_longest(first.split("|"), second.split("|"), fillvalue="EMPTY")
        return "|".join(chain.from_iterable(pairs))

    rows = zip(one.codes.tolist(), two.codes.tolist(), strict=True)
    return Column.of([cell(one.cells[first], two.cells[second]) for first, second in rows])
