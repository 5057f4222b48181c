"""Which document of gold each predicted one is: by id, by identical text, by order; none where tokens are a stream."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from nereval_core.arrays import Int64
from nereval_core.corpus import Documents
from nereval_core.pairing.letters import SPACING, WRITING, alike, key
from nereval_core.pairing.mismatches import (
    absent_document,
    begins,
    no_ids_meet,
    text_parting,
    token_parting,
    unknown_document,
)
from nereval_core.pairing.text_equality import same_texts
from nereval_core.problems import FormatError, counted
from nereval_core.readers import Reading

Missing = Literal["error", "empty"]
PairBy = Literal["auto", "text", "order"]

PAIRED_BY_TEXT, PAIRED_BY_ORDER = "paired by text: ", "paired by order"


@dataclass(frozen=True, eq=False)
class Counterparts:
    """The gold document of each predicted one, or None where documents are cut otherwise and tokens are a stream.

    `notes` say how that was found, `marks` what of it a signature must say.
    """

    to: Int64 | None
    notes: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()


def counterparts(gold: Reading, pred: Reading, *, missing: Missing, pair_by: PairBy, align_text: bool) -> Counterparts:
    """Pair documents.

    By `auto` they are paired by id, and those whose ids do not meet by identical text. Where a side has no ids they are
    paired by order, unless each predicted text stands in gold, in another order. Several documents of one text are
    paired in their order, where there are as many on both sides.

    Raises:
        FormatError: a document missing or extra; sides that no order can pair.
    """
    named = gold.documents.named and pred.documents.named
    if pair_by == "order":
        found = _by_order(gold, pred, missing, align_text)
        given = named and gold.documents.ids != pred.documents.ids
        return Counterparts(found, ("paired by order, as asked",), (PAIRED_BY_ORDER,) * given)
    if named or pair_by == "text":
        return _by_id_and_text(gold, pred, missing, align_text, ids=pair_by == "auto")
    without = [side for side, one in (("gold", gold), ("prediction", pred)) if not one.documents.named]
    note = f"paired by order: no document ids in {' and '.join(without)}"
    parted: FormatError | None = None
    to: Int64 | None = None
    try:
        to = _by_order(gold, pred, missing, align_text)
    except FormatError as error:
        parted = error
    ours, theirs = gold.documents, pred.documents
    if to is None or not bool(same_texts(ours.texts, theirs.texts, to).all()):
        by_text = _by_text(ours, theirs, range(len(ours)), range(len(theirs)))
        whole = len(by_text.pairs) == len(theirs) and (len(theirs) == len(ours) or missing == "empty")
        if whole:
            said = f"no document ids in {' and '.join(without)}"
            return _told(np.full(len(theirs), -1, np.int64), by_text, said)
    if parted is not None:
        raise parted
    return Counterparts(to, (note,))


def _by_id_and_text(gold: Reading, pred: Reading, missing: Missing, align_text: bool, *, ids: bool) -> Counterparts:
    ours, theirs = gold.documents, pred.documents
    if ids and ours.ids == theirs.ids:
        return Counterparts(np.arange(len(ours)))
    known = ours.index if ids else {}
    to = np.fromiter((known.get(name, -1) for name in theirs.ids), np.int64, len(theirs))
    met = bool((to >= 0).any())
    free, lone = _absent(to, len(ours)), np.flatnonzero(to < 0).tolist()
    by_text = _by_text(ours, theirs, free, lone, align_text=align_text)
    why = "whatever their ids" if not ids else "ids not in gold" if met else "no id is in gold"
    found = _told(to, by_text, why)
    assert found.to is not None
    unknown, absent = np.flatnonzero(found.to < 0).tolist(), _absent(found.to, len(ours))
    # With other writing they would be paired.
    near = _by_text(ours, theirs, absent, unknown, align_text=True).pairs if unknown and not align_text else {}
    if ids and not met and len(theirs) and not by_text.pairs and not by_text.unequal:
        raise FormatError([no_ids_meet(gold, pred, bool(near))])
    problems = [
        unknown_document(gold, pred, here, by_text.unequal.get(here), near.get(here), ids=ids) for here in unknown
    ]
    if missing == "error":
        problems += [absent_document(gold, pred, there) for there in absent]
    if problems:
        raise FormatError(problems)
    return found


@dataclass(frozen=True, eq=False)
class _ByText:
    """Gold documents by the predicted ones that have their text.

    `repeated` of them share it with others of their side. `unequal` are predicted documents whose text is there, but
    not as often: with how often it is left here and there.
    """

    pairs: Mapping[int, int]
    repeated: int
    unequal: Mapping[int, tuple[int, int]]


def _by_text(
    ours: Documents, theirs: Documents, free: Iterable[int], lone: Iterable[int], *, align_text: bool = False
) -> _ByText:
    """Pair predicted documents with the free ones of gold, by identical text; to be aligned, by identical letters."""
    pairs: dict[int, int] = {}
    unequal: dict[int, tuple[int, int]] = {}
    repeated = 0
    keys: tuple[Callable[[str], Any], ...] = (str, key) if align_text else (str,)
    for of in keys:
        here, there = (_grouped(side.texts, rows, of) for side, rows in ((theirs, lone), (ours, free)))
        for text, documents in here.items():
            others = there.get(text, [])
            if len(documents) == len(others):
                pairs |= zip(documents, others, strict=True)
                repeated += len(documents) if len(documents) > 1 else 0
            elif others:
                unequal |= dict.fromkeys(documents, (len(documents), len(others)))
        taken = set(pairs.values())
        lone = [number for number in lone if number not in pairs and number not in unequal]
        free = [number for number in free if number not in taken]
    return _ByText(pairs, repeated, unequal)


def _grouped(texts: Sequence[str], rows: Iterable[int], of: Callable[[str], Any]) -> dict[Any, list[int]]:
    groups: dict[Any, list[int]] = defaultdict(list)
    for number in rows:
        groups[of(texts[number])].append(number)
    return groups


def _told(to: Int64, by_text: _ByText, why: str) -> Counterparts:
    """Return where documents are, those by text too, and say so."""
    if not by_text.pairs:
        return Counterparts(to)
    placed = to.copy()
    placed[np.fromiter(by_text.pairs.keys(), np.int64)] = np.fromiter(by_text.pairs.values(), np.int64)
    count = counted(len(by_text.pairs), "document")
    shared = f", {by_text.repeated} of them in their order, as others have the same text" if by_text.repeated else ""
    return Counterparts(placed, (f"paired by text: {count} ({why}){shared}",), (f"{PAIRED_BY_TEXT}{count}",))


def _absent(to: Int64, count: int) -> list[int]:
    """Return which of so many gold documents have no predicted one."""
    present = np.zeros(count, np.bool_)
    present[to[to >= 0]] = True
    return np.flatnonzero(~present).tolist()


def _by_order(gold: Reading, pred: Reading, missing: Missing, align_text: bool) -> Int64 | None:
    """Return the gold document of each predicted one, or None where the token streams are to be matched instead."""
    ours, theirs = gold.documents, pred.documents
    every = np.arange(len(theirs))
    if ours.tokens is None or theirs.tokens is None:
        if len(ours) == len(theirs) or (missing == "empty" and ours.texts[: len(theirs)] == theirs.texts):
            return every
        raise FormatError([text_parting(gold, pred)])
    here, there = np.diff(theirs.tokens.first), np.diff(ours.tokens.first)
    kinds = WRITING if align_text else SPACING
    # The same tokens, or the same texts cut into others.
    if len(here) == len(there) and bool(np.all(here == there) or alike(theirs.texts, ours.texts, kinds).all()):
        return every
    if here.sum() == there.sum():
        return None
    if missing == "empty" and begins(here, there):
        return every
    raise FormatError([token_parting(gold, pred)])
