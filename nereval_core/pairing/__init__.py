"""Bring a prediction onto gold's documents: which document is which, and spans over gold's text.

Where the texts are equal only document numbers change, and tokens may be cut otherwise. Where they differ and both
sides have tokens, spans are carried over by token number: silently counted where only white space differs, on request
where tokens are spelt differently. On request they are carried over letter by letter between texts that are written
otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TypedDict

import numpy as np

from nereval_core.arrays import Int64
from nereval_core.corpus import Documents, Layer
from nereval_core.pairing.documents import PAIRED_BY_TEXT, Missing, PairBy, counterparts
from nereval_core.pairing.span_projection import Match, TokenText, carry, matched, reordered, streamed
from nereval_core.pairing.text_equality import same_texts, same_tokens
from nereval_core.problems import Problem, counted, one_of
from nereval_core.readers import Reading

__all__ = ["Missing", "PairBy", "Paired", "Pairing", "TokenText", "added_marks", "chosen", "missing_mark", "pair"]

MISSING, RESPELT, ALIGNED = "missing counted empty: ", "token text from gold: ", "aligned texts: "
RESTRICTED = "restricted to "
COUNTING = (MISSING, RESPELT, ALIGNED, RESTRICTED, PAIRED_BY_TEXT)
"""How marks begin whose numbers add up over the parts of a corpus."""
COUNTED = re.compile(r"([0-9]+) (of|document|token|span)s?\b")

STREAM = "the prediction is cut into other units: split by gold's token counts"


class Pairing(TypedDict, total=False):
    """How predictions are brought onto gold's documents: the options of `pair`, for all that call it."""

    missing: Missing
    token_text: TokenText
    pair_by: PairBy
    align_text: bool


@dataclass(frozen=True, eq=False)
class Paired:
    """A predicted layer over gold's documents; `marks` is what of it must stand in the signature.

    `lost` says of each span that has no place in gold's text, and is not in the layer, where it stands and why.
    """

    layer: Layer
    notes: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()
    lost: tuple[Problem, ...] = ()


def pair(
    gold: Reading,
    pred: Reading,
    *,
    missing: Missing = "error",
    token_text: TokenText = "own",
    pair_by: PairBy = "auto",
    align_text: bool = False,
) -> Paired:
    """Return the prediction's layer over gold's documents.

    Documents are paired by id, or by identical text where ids do not meet, or by order where a side has none (see
    `counterparts`); `pair_by` "text" and "order" take no notice of ids. A prediction cut into other units than gold's
    is split by gold's token counts. `missing="empty"` counts a document that the prediction lacks as predicted empty
    (by order: at the end only). `token_text="gold"` allows tokens spelt differently where their number is the same.
    `align_text` carries spans over between texts that differ in white space, line ends, byte-order marks, quotes,
    dashes and normal forms alone (see `letters`); those that have no place in gold's text are left out and told.

    Raises:
        FormatError: a document missing or extra, differing text or tokens, a span that cannot be carried over; each
            problem names the place in the prediction and the place in gold.
    """
    for name, value, known in (("missing", missing, Missing), ("token_text", token_text, TokenText)):
        one_of(name, value, known)
    one_of("pair_by", pair_by, PairBy)
    ours, theirs = gold.documents, pred.documents
    marks = [f"{side} repaired: {one.mended}" for side, one in (("gold", gold), ("pred", pred)) if one.mended]
    marks += _selected(gold, pred)
    if theirs is ours:
        return Paired(pred.layer, (), tuple(marks))
    found = counterparts(gold, pred, missing=missing, pair_by=pair_by, align_text=align_text)
    notes = list(found.notes)
    marks += found.marks
    if found.to is None:
        match = streamed(gold, pred, token_text=token_text)
        notes.append(STREAM)
    else:
        absent = len(ours) - len(found.to)
        if absent:
            marks.append(missing_mark(absent))
            notes.append(f"{counted(absent, 'document')} missing from the prediction counted as predicted empty")
        same = same_texts(ours.texts, theirs.texts, found.to)
        cut = int((same & ~same_tokens(ours, theirs, found.to)).sum())
        if cut:
            other = f"{counted(cut, 'document')} with gold's text and other tokens"
            notes.append(f"{other}: spans compared by characters, gold's tokens kept")
        if bool(same.all()):
            return Paired(_renumbered(pred.layer, ours, found.to), tuple(notes), tuple(marks))
        match = matched(gold, pred, found.to, same, token_text=token_text, align_text=align_text)
    moved = carry(gold, pred, match, lose=align_text)
    said, marked = _told(match, moved.lost, align_text)
    return Paired(moved.layer, (*notes, *said), (*marks, *marked), moved.lost)


def missing_mark(documents: int) -> str:
    """Return the mark of so many documents counted as predicted empty."""
    return f"{MISSING}{counted(documents, 'document')}"


def added_marks(parts: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    """Return the marks of a whole from those of its parts: what is counted in them is added up."""
    totals: dict[tuple[str, ...], list[int]] = {}
    for mark in (mark for part in parts for mark in part):
        # Words, then a number, what is counted, and words again.
        pieces = COUNTED.split(mark) if mark.startswith(COUNTING) else [mark]
        numbers = list(map(int, pieces[1::3]))
        told = tuple(piece for at, piece in enumerate(pieces) if at % 3 != 1)
        totals[told] = [one + two for one, two in zip(totals.get(told, [0] * len(numbers)), numbers, strict=True)]
    return tuple(_marked(told, numbers) for told, numbers in totals.items())


def chosen(layer: Reading) -> tuple[str, ...]:
    """Return the marks of what was chosen of a layer that is paired with no other."""
    return tuple(_selected(layer, layer))


def _selected(gold: Reading, pred: Reading) -> Iterator[str]:
    """Yield the marks of what was chosen of both sides: documents and names of types."""
    if gold.restricted:
        yield f"{RESTRICTED}{gold.restricted}"
    if gold.mapped and gold.mapped == pred.mapped:
        yield f"types mapped: {gold.mapped}"
    else:
        yield from (
            f"{side} types mapped: {one.mapped}" for side, one in (("gold", gold), ("pred", pred)) if one.mapped
        )


def _marked(told: tuple[str, ...], numbers: list[int]) -> str:
    rows = zip(numbers, told[1::2], told[2::2], strict=True)
    counts = ((f"{number} of" if what == "of" else counted(number, what)) + rest for number, what, rest in rows)
    return told[0] + "".join(counts)


def _told(match: Match, lost: tuple[Problem, ...], align_text: bool) -> tuple[list[str], list[str]]:
    """Return notes and marks on how spans were carried over."""
    notes, marks = [], []
    respelt = int(match.respelt.sum())
    if respelt:
        marks.append(f"{RESPELT}{counted(respelt, 'token')}")
        notes.append(f"{counted(respelt, 'token')} spelt differently than in gold: gold's text taken")
    elif match.to is not None and (spaced := int((~match.same & ~match.lettered).sum())):
        spaces = counted(spaced, "document")
        notes.append(f"{spaces} with other white space than in gold: spans carried over by token")
    lettered = counted(int(match.lettered.sum()), "document")
    if lettered.startswith("0"):
        return notes, marks
    if not align_text:
        notes.append(f"{lettered} with other white space and tokens than in gold: spans carried over by character")
        return notes, marks
    left = counted(len(lost), "span")
    marks.append(f"{ALIGNED}{lettered}, {left} lost")
    notes.append(f"{lettered} aligned with gold's text: spans carried over, {left} lost")
    return notes, marks


def _renumbered(layer: Layer, documents: Documents, to: Int64) -> Layer:
    """Return the layer over gold's documents, the offsets being right as they are."""
    if bool(np.all(to == np.arange(len(to)))):
        return replace(layer, documents=documents)
    return reordered(replace(layer, documents=documents), to[layer.doc])
