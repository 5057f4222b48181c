"""Pair predicted documents with gold's: by id, by identical text, or by order."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from nereval_core.arrays import Int64
from nereval_core.corpus import Documents
from nereval_core.pairing.letters import SPACING, WRITING, letter_key, same_letters
from nereval_core.pairing.mismatches import (
    absent_document,
    document_count_mismatch,
    is_beginning,
    no_ids_meet,
    token_count_mismatch,
    unknown_document,
)
from nereval_core.pairing.text_equality import same_texts
from nereval_core.problems import FormatError, counted
from nereval_core.readers import Reading

Missing = Literal["error", "empty"]
PairBy = Literal["auto", "text", "order"]

PAIRED_BY_TEXT, PAIRED_BY_ORDER = "paired by text: ", "paired by order"


@dataclass(frozen=True, eq=False)
class DocumentPairs:
    """The number of the gold document of each predicted document, shape (predicted documents,).

    `to` is None where the sides have other document boundaries, so that their tokens are matched as one stream. `notes`
    tell how documents were paired, `marks` are the parts of the signature that follow from it.
    """

    to: Int64 | None
    notes: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()


def pair_documents(
    gold: Reading, pred: Reading, *, missing: Missing, pair_by: PairBy, align_text: bool
) -> DocumentPairs:
    """Pair documents.

    With `auto` they are paired by id, and documents without a matching id by identical text. Where a side has no ids
    they are paired by order, unless gold has each predicted text, in another order. Several documents with one text are
    paired in their order, if both sides have equally many.

    Raises:
        FormatError: a document missing or extra; sides that no order can pair.
    """
    named = gold.documents.named and pred.documents.named
    if pair_by == "order":
        found = _by_order(gold, pred, missing, align_text)
        given = named and gold.documents.ids != pred.documents.ids
        return DocumentPairs(found, ("paired by order, as asked",), (PAIRED_BY_ORDER,) * given)
    if named or pair_by == "text":
        return _by_id_and_text(gold, pred, missing, align_text, ids=pair_by == "auto")
    without = [side for side, one in (("gold", gold), ("prediction", pred)) if not one.documents.named]
    note = f"paired by order: no document ids in {' and '.join(without)}"
    mismatch: FormatError | None = None
    to: Int64 | None = None
    try:
        to = _by_order(gold, pred, missing, align_text)
    except FormatError as error:
        mismatch = error
    ours, theirs = gold.documents, pred.documents
    if to is None or not bool(same_texts(ours.texts, theirs.texts, to).all()):
        by_text = _by_text(ours, theirs, range(len(ours)), range(len(theirs)))
        whole = len(by_text.pairs) == len(theirs) and (len(theirs) == len(ours) or missing == "empty")
        if whole:
            why = f"no document ids in {' and '.join(without)}"
            return _add_text_pairs(np.full(len(theirs), -1, np.int64), by_text, why)
    if mismatch is not None:
        raise mismatch
    return DocumentPairs(to, (note,))


def _by_id_and_text(gold: Reading, pred: Reading, missing: Missing, align_text: bool, *, ids: bool) -> DocumentPairs:
    ours, theirs = gold.documents, pred.documents
    if ids and ours.ids == theirs.ids:
        return DocumentPairs(np.arange(len(ours)))
    known = ours.index if ids else {}
    to = np.fromiter((known.get(name, -1) for name in theirs.ids), np.int64, len(theirs))
    any_id = bool((to >= 0).any())
    free, lone = _absent(to, len(ours)), np.flatnonzero(to < 0).tolist()
    by_text = _by_text(ours, theirs, free, lone, align_text=align_text)
    why = "ids ignored" if not ids else "ids not in gold" if any_id else "no id is in gold"
    found = _add_text_pairs(to, by_text, why)
    assert found.to is not None
    unknown, absent = np.flatnonzero(found.to < 0).tolist(), _absent(found.to, len(ours))
    # Documents that --align-text would pair: their texts differ in spelling conventions only.
    near = _by_text(ours, theirs, absent, unknown, align_text=True).pairs if unknown and not align_text else {}
    if ids and not any_id and len(theirs) and not by_text.pairs and not by_text.unequal:
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
class _TextPairs:
    """Gold documents by the predicted documents with the same text.

    `repeated` counts those whose text several documents of their side have. `unequal` are predicted documents whose
    text gold has more or less often, with the number of unpaired documents that have it in the prediction and in gold.
    """

    pairs: Mapping[int, int]
    repeated: int
    unequal: Mapping[int, tuple[int, int]]


def _by_text(
    ours: Documents, theirs: Documents, free: Iterable[int], lone: Iterable[int], *, align_text: bool = False
) -> _TextPairs:
    """Pair predicted documents (`lone`) and gold documents (`free`) by text, with `align_text` also by letters."""
    pairs: dict[int, int] = {}
    unequal: dict[int, tuple[int, int]] = {}
    repeated = 0
    keys: tuple[Callable[[str], Any], ...] = (str, letter_key) if align_text else (str,)
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
    return _TextPairs(pairs, repeated, unequal)


def _grouped(texts: Sequence[str], rows: Iterable[int], of: Callable[[str], Any]) -> dict[Any, list[int]]:
    groups: dict[Any, list[int]] = defaultdict(list)
    for number in rows:
        groups[of(texts[number])].append(number)
    return groups


def _add_text_pairs(to: Int64, by_text: _TextPairs, why: str) -> DocumentPairs:
    """Add the documents paired by text to those paired by id, with a note that gives the reason."""
    if not by_text.pairs:
        return DocumentPairs(to)
    placed = to.copy()
    placed[np.fromiter(by_text.pairs.keys(), np.int64)] = np.fromiter(by_text.pairs.values(), np.int64)
    count = counted(len(by_text.pairs), "document")
    shared = f", {by_text.repeated} of them in their order, as others have the same text" if by_text.repeated else ""
    return DocumentPairs(placed, (f"paired by text: {count} ({why}){shared}",), (f"{PAIRED_BY_TEXT}{count}",))


def _absent(to: Int64, count: int) -> list[int]:
    """Return the gold documents, of `count`, that have no predicted document."""
    present = np.zeros(count, np.bool_)
    present[to[to >= 0]] = True
    return np.flatnonzero(~present).tolist()


def _by_order(gold: Reading, pred: Reading, missing: Missing, align_text: bool) -> Int64 | None:
    """Return the gold document of each predicted document, or None where token streams have to be matched instead."""
    ours, theirs = gold.documents, pred.documents
    every = np.arange(len(theirs))
    if ours.tokens is None or theirs.tokens is None:
        if len(ours) == len(theirs) or (missing == "empty" and ours.texts[: len(theirs)] == theirs.texts):
            return every
        raise FormatError([document_count_mismatch(gold, pred)])
    here, there = np.diff(theirs.tokens.first), np.diff(ours.tokens.first)
    kinds = WRITING if align_text else SPACING
    # Equal token counts, or equal texts with other tokens.
    if len(here) == len(there) and bool(np.all(here == there) or same_letters(theirs.texts, ours.texts, kinds).all()):
        return every
    if here.sum() == there.sum():
        return None
    if missing == "empty" and is_beginning(here, there):
        return every
    raise FormatError([token_count_mismatch(gold, pred)])
