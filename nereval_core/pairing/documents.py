"""Pair predicted documents with gold's: by id, by identical text, or by order.

Texts and tokens of both sides are compared as arrays, a block of documents at a time. Texts are reduced to their
letters, and mismatches put in words, only where the two sides differ.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from nereval_core.corpus import Documents
from nereval_core.corpus.arrays import Bools, Int64
from nereval_core.corpus.texts import Texts
from nereval_core.problems import FormatError, counted
from nereval_core.readers import Reading

Missing = Literal["error", "empty"]
PairBy = Literal["auto", "text", "order"]
TokenText = Literal["own", "gold"]
Truncated = Literal["error", "outside"]

PAIRED_BY_TEXT, PAIRED_BY_ORDER = "paired by text: ", "paired by order"

BLOCK_ROWS = 1 << 20
"""Bytes of text, or tokens, that are compared at once: they fit into the processor's cache."""


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
        order = _by_order(gold, pred, missing, align_text)
        has_other_ids = named and gold.documents.ids != pred.documents.ids
        return DocumentPairs(order, ("paired by order, as asked",), (PAIRED_BY_ORDER,) * has_other_ids)
    if named or pair_by == "text":
        return _by_id_and_text(gold, pred, missing, align_text, ids=pair_by == "auto")
    without = [side for side, reading in (("gold", gold), ("prediction", pred)) if not reading.documents.named]
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
    gold_of_id = ours.index if ids else {}
    to = np.fromiter((gold_of_id.get(name, -1) for name in theirs.ids), np.int64, len(theirs))
    any_id = bool((to >= 0).any())
    free, lone = _absent(to, len(ours)), np.flatnonzero(to < 0).tolist()
    by_text = _by_text(ours, theirs, free, lone, align_text=align_text)
    why = "ids ignored" if not ids else "ids not in gold" if any_id else "no id is in gold"
    document_pairs = _add_text_pairs(to, by_text, why)
    assert document_pairs.to is not None
    unknown, absent = np.flatnonzero(document_pairs.to < 0).tolist(), _absent(document_pairs.to, len(ours))
    if not unknown and (not absent or missing == "empty"):
        return document_pairs
    from nereval_core.pairing.mismatches import absent_document, no_ids_meet, unknown_document

    # Documents that --align-text would pair: their texts differ in spelling conventions only.
    near = _by_text(ours, theirs, absent, unknown, align_text=True).pairs if unknown and not align_text else {}
    if ids and not any_id and len(theirs) and not by_text.pairs and not by_text.unequal:
        raise FormatError([no_ids_meet(gold, pred, bool(near))])
    problems = [
        unknown_document(gold, pred, pred_number, by_text.unequal.get(pred_number), near.get(pred_number), ids=ids)
        for pred_number in unknown
    ]
    if missing == "error":
        problems += [absent_document(gold, pred, gold_number) for gold_number in absent]
    raise FormatError(problems)


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
    keys: list[Callable[[str], Any]] = [str]
    if align_text:
        from nereval_core.pairing.letters import letter_key

        keys.append(letter_key)
    for of in keys:
        pred_groups, gold_groups = (_grouped(side.texts, rows, of) for side, rows in ((theirs, lone), (ours, free)))
        for text, documents in pred_groups.items():
            others = gold_groups.get(text, [])
            if len(documents) == len(others):
                pairs |= zip(documents, others, strict=True)
                repeated += len(documents) if len(documents) > 1 else 0
            elif others:
                unequal |= dict.fromkeys(documents, (len(documents), len(others)))
        paired_golds = set(pairs.values())
        lone = [number for number in lone if number not in pairs and number not in unequal]
        free = [number for number in free if number not in paired_golds]
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
    in_order = np.arange(len(theirs))
    if ours.tokens is None or theirs.tokens is None:
        if len(ours) == len(theirs) or (missing == "empty" and ours.texts[: len(theirs)] == theirs.texts):
            return in_order
        from nereval_core.pairing.mismatches import document_count_mismatch

        raise FormatError([document_count_mismatch(gold, pred)])
    pred_counts, gold_counts = np.diff(theirs.tokens.first), np.diff(ours.tokens.first)
    if np.array_equal(pred_counts, gold_counts) or (
        len(pred_counts) == len(gold_counts) and _same_letters(theirs, ours, align_text)
    ):
        return in_order
    if pred_counts.sum() == gold_counts.sum():
        return None
    from nereval_core.pairing.mismatches import is_beginning, token_count_mismatch

    if missing == "empty" and is_beginning(pred_counts, gold_counts):
        return in_order
    raise FormatError([token_count_mismatch(gold, pred)])


def _same_letters(theirs: Documents, ours: Documents, align_text: bool) -> bool:
    """Tell whether all texts are equal but for white space, or with `align_text` for their writing."""
    from nereval_core.pairing.letters import SPACING, WRITING, same_letters

    return bool(same_letters(theirs.texts, ours.texts, WRITING if align_text else SPACING).all())


def same_texts(ours: Sequence[str], theirs: Sequence[str], to: Int64) -> Bools:
    """Return for each of their texts whether it equals ours: their number i is compared with our number `to[i]`."""
    if not isinstance(ours, Texts) or not isinstance(theirs, Texts):
        if len(to) == len(ours) and _in_order(to) and ours == theirs:
            return np.ones(len(to), bool)
        pairs = zip(theirs, to.tolist(), strict=True)
        return np.fromiter((text == ours[number] for text, number in pairs), np.bool_, len(to))
    same: Bools = np.diff(theirs.offsets) == np.diff(ours.offsets)[to]
    for block in _blocks(theirs.offsets):
        same_documents = np.flatnonzero(same[block]) + block.start
        pred_rows, gold_rows, size = _rows(theirs.offsets, ours.offsets, same_documents, to[same_documents])
        if not np.array_equal(theirs.data[pred_rows], ours.data[gold_rows]):
            odd = np.flatnonzero(theirs.data[pred_rows] != ours.data[gold_rows])
            same[same_documents[np.searchsorted(np.cumsum(size), odd, side="right")]] = False
    return same


def same_tokens(ours: Documents, theirs: Documents, to: Int64) -> Bools:
    """Return for each of their documents whether tokens equal those of our number `to[i]`, or a side has none."""
    same = np.ones(len(to), np.bool_)
    if ours.tokens is None or theirs.tokens is None:
        return same
    pred_tokens, gold_tokens = theirs.tokens, ours.tokens
    if len(to) == len(ours) and _in_order(to) and pred_tokens.same(gold_tokens):
        return same
    counts = np.diff(pred_tokens.first), np.diff(gold_tokens.first)[to]
    both = (counts[0] > 0) & (counts[1] > 0)
    same[both & (counts[0] != counts[1])] = False
    for block in _blocks(pred_tokens.first):
        same_documents = np.flatnonzero((both & same)[block]) + block.start
        pred_rows, gold_rows, size = _rows(pred_tokens.first, gold_tokens.first, same_documents, to[same_documents])
        odd = np.flatnonzero(
            (pred_tokens.starts[pred_rows] != gold_tokens.starts[gold_rows])
            | (pred_tokens.ends[pred_rows] != gold_tokens.ends[gold_rows])
        )
        same[same_documents[np.searchsorted(np.cumsum(size), odd, side="right")]] = False
    return same


def _in_order(numbers: Int64) -> bool:
    return bool(np.all(np.diff(numbers) == 1)) and not numbers[:1].any()


def _blocks(first: Int64) -> Iterator[slice]:
    """Yield runs of documents with about BLOCK_ROWS rows; `first` (documents + 1,) counts the rows before each."""
    low = 0
    while low < len(first) - 1:
        high = max(low + 1, int(np.searchsorted(first, first[low] + BLOCK_ROWS, side="right")) - 1)
        yield slice(low, high)
        low = high


def _rows(pred_first: Int64, gold_first: Int64, documents: Int64, to: Int64) -> tuple[Any, Any, Int64]:
    """Return the rows of some documents on both sides, as slices if they are consecutive, and the rows of each.

    Documents have equally many rows on both sides.
    """
    size = pred_first[documents + 1] - pred_first[documents]
    if not len(documents):
        return slice(0, 0), slice(0, 0), size
    if documents[-1] - documents[0] == len(documents) - 1 and bool(np.all(np.diff(to) == 1)):
        return (
            slice(int(pred_first[documents[0]]), int(pred_first[documents[-1] + 1])),
            slice(int(gold_first[to[0]]), int(gold_first[to[-1] + 1])),
            size,
        )
    inside = np.arange(int(size.sum())) - np.repeat(np.cumsum(size) - size, size)
    return inside + np.repeat(pred_first[documents], size), inside + np.repeat(gold_first[to], size), size
