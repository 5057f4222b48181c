"""Bring a prediction onto gold's documents: pair the documents, and project its spans onto gold's texts.

Where the texts are equal only document numbers change, and tokens may differ. Where they differ and both sides have
tokens, spans are projected by token number: with a note where only white space differs, on request where tokens are
spelt differently. On request spans are projected letter by letter between texts that differ in spelling conventions.

Notices tell of identical content and of predicted types that gold does not have. Both are legal and both are often
mistakes that change the score: gold that is scored as the prediction gives F1 1, and a type that is spelt otherwise is
never correct. Every output of scores states them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Protocol, TypedDict

import numpy as np

from nereval_core.corpus import Documents, Layer
from nereval_core.corpus.arrays import Bools, Int64
from nereval_core.pairing.documents import (
    PAIRED_BY_TEXT,
    Missing,
    PairBy,
    TokenText,
    Truncated,
    pair_documents,
    same_texts,
    same_tokens,
)
from nereval_core.problems import FormatError, Problem, counted, one_of
from nereval_core.readers import Reading

if TYPE_CHECKING:
    from nereval_core.pairing.span_projection import Match

__all__ = [
    "Missing",
    "PairBy",
    "Paired",
    "Pairing",
    "TokenText",
    "Truncated",
    "added_marks",
    "have_no_common_type",
    "missing_mark",
    "pair",
    "selection_marks",
]

MISSING, RESPELT, ALIGNED = "missing counted empty: ", "token text from gold: ", "aligned texts: "
CUT_OFF = "cut off, counted outside: "
RESTRICTED = "restricted to "
COUNTING = (MISSING, RESPELT, ALIGNED, CUT_OFF, RESTRICTED, PAIRED_BY_TEXT)
"""Beginnings of the marks whose numbers add up over the parts of a corpus."""
COUNTED = re.compile(r"([0-9]+) (of|document|sentence|token|span)s?\b")

STREAM = "documents of the prediction have other boundaries than gold's: split by gold's token counts"


class Pairing(TypedDict, total=False):
    """Options of pairing the documents and texts of a prediction with gold's.

    `missing="empty"` counts documents that the prediction lacks as empty. `token_text="gold"` takes gold's text where
    as many tokens are spelt differently. `pair_by` pairs documents by identical text or by order, whatever their ids
    ("auto": by id, else by text). `align_text` carries spans over to gold's text where white space or quotes differ.
    `truncated="outside"` takes tokens that a prediction lacks at the end of sentences as outside of spans.
    """

    missing: Missing
    token_text: TokenText
    pair_by: PairBy
    align_text: bool
    truncated: Truncated


@dataclass(frozen=True, eq=False)
class Paired:
    """A predicted layer over gold's documents; `marks` are the parts of the signature that the pairing adds.

    `lost` has a problem for each span that has no place in gold's text and was removed from the layer.
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
    truncated: Truncated = "error",
) -> Paired:
    """Return the prediction's layer over gold's documents.

    Documents are paired by id, by identical text where no id matches, or by order where a side has no ids (see
    `pair_documents`); `pair_by` "text" and "order" ignore ids. A prediction with other document boundaries than gold's
    is split by gold's token counts. `missing="empty"` counts a document that the prediction lacks as predicted empty
    (by order: at the end only). `token_text="gold"` allows tokens spelt differently where their number is the same.
    `align_text` projects spans between texts that differ only in white space, line ends, byte-order marks, quotes,
    dashes and normal forms (see `letters`); spans without a place in gold's text are left out and reported.
    `truncated="outside"` takes tokens that the prediction lacks at the end of sentences as outside of spans.

    Raises:
        FormatError: a document missing or extra, differing text or tokens, a span that cannot be projected; each
            problem names the place in the prediction and the place in gold.
    """
    for name, value, allowed in (("missing", missing, Missing), ("token_text", token_text, TokenText)):
        one_of(name, value, allowed)
    one_of("pair_by", pair_by, PairBy)
    one_of("truncated", truncated, Truncated)
    pair_with_gold = partial(
        _pair, gold, missing=missing, token_text=token_text, pair_by=pair_by, align_text=align_text
    )
    if truncated == "error":
        try:
            return pair_with_gold(pred)
        except FormatError as error:
            raise _with_truncation_named(error, gold, pred, pair_with_gold, by_order=pair_by == "order") from None
    from nereval_core.pairing.truncation import complete_truncated

    completed = complete_truncated(gold, pred, by_order=pair_by == "order")
    paired = pair_with_gold(completed.pred)
    if not completed.tokens:
        return paired
    counts = f"{counted(completed.sentences, 'sentence')}, {counted(completed.tokens, 'token')}"
    note = f"the ends of {counts.replace(',', ' that the prediction lacks,')}, taken as outside"
    return replace(paired, notes=(*paired.notes, note), marks=(*paired.marks, f"{CUT_OFF}{counts}"))


def _with_truncation_named(
    error: FormatError, gold: Reading, pred: Reading, pair_with_gold: Callable[[Reading], Paired], *, by_order: bool
) -> FormatError:
    """Return the refusal with the option that scores a prediction that lacks the ends of sentences, if it does."""
    from nereval_core.pairing.truncation import complete_truncated

    completed = complete_truncated(gold, pred, by_order=by_order)
    if not completed.tokens:
        return error
    try:
        pair_with_gold(completed.pred)
    except FormatError:
        return error
    counts = f"{counted(completed.sentences, 'sentence')} and {counted(completed.tokens, 'token')}"
    remedy = f"or, as only the ends of sentences are missing ({counts}), take these as outside: --truncated outside"
    return FormatError(replace(problem, remedy=f"{problem.remedy}; {remedy}") for problem in error.problems)


def _pair(
    gold: Reading, pred: Reading, *, missing: Missing, token_text: TokenText, pair_by: PairBy, align_text: bool
) -> Paired:
    """Pair as `pair` does what is not cut off."""
    ours, theirs = gold.documents, pred.documents
    marks = [
        f"{side} repaired: {reading.mended}" for side, reading in (("gold", gold), ("pred", pred)) if reading.mended
    ]
    marks += [pred.placed] if pred.placed else []
    if gold.scheme and pred.scheme and gold.scheme != pred.scheme:
        marks.append(f"tag schemes: gold {gold.scheme}, pred {pred.scheme}")
    marks += _selection_marks(gold, pred)
    if theirs is ours:
        return Paired(pred.layer, (), tuple(marks))
    document_pairs = pair_documents(gold, pred, missing=missing, pair_by=pair_by, align_text=align_text)
    notes = list(document_pairs.notes)
    marks += document_pairs.marks
    same: Bools | None = None
    if document_pairs.to is not None:
        absent = len(ours) - len(document_pairs.to)
        if absent:
            marks.append(missing_mark(absent))
            notes.append(f"{counted(absent, 'document')} missing from the prediction counted as predicted empty")
        same = same_texts(ours.texts, theirs.texts, document_pairs.to)
        retokenized = int((same & ~same_tokens(ours, theirs, document_pairs.to)).sum())
        if retokenized:
            other = f"{counted(retokenized, 'document')} with gold's text and other tokens"
            notes.append(f"{other}: spans compared by characters, gold's tokens kept")
        if bool(same.all()):
            return Paired(_renumbered(pred.layer, ours, document_pairs.to), tuple(notes), tuple(marks))
    # Where texts are equal, nothing is projected.
    from nereval_core.pairing.span_projection import match_documents, match_stream, project_spans

    if document_pairs.to is None or same is None:
        match = match_stream(gold, pred, token_text=token_text)
        notes.append(STREAM)
    else:
        match = match_documents(gold, pred, document_pairs.to, same, token_text=token_text, align_text=align_text)
    projected = project_spans(gold, pred, match, lose=align_text)
    more_notes, more_marks = _projection_notes(match, projected.lost, align_text)
    return Paired(projected.layer, (*notes, *more_notes), (*marks, *more_marks), projected.lost)


def have_no_common_type(gold: Layer, pred: Layer) -> bool:
    """Tell whether both layers have types, but none in common."""
    return bool(gold.types) and bool(pred.types) and not set(gold.types) & set(pred.types)


def missing_mark(documents: int) -> str:
    """Return the mark of so many documents counted as predicted empty."""
    return f"{MISSING}{counted(documents, 'document')}"


def added_marks(parts: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    """Return the marks of a whole corpus from those of its parts: their counts are added up."""
    totals: dict[tuple[str, ...], list[int]] = {}
    for mark in (mark for part in parts for mark in part):
        # Words, then a number, the noun it counts, and words again.
        pieces = COUNTED.split(mark) if mark.startswith(COUNTING) else [mark]
        numbers = list(map(int, pieces[1::3]))
        words = tuple(piece for at, piece in enumerate(pieces) if at % 3 != 1)
        totals[words] = [
            total + number for total, number in zip(totals.get(words, [0] * len(numbers)), numbers, strict=True)
        ]
    return tuple(_mark(words, numbers) for words, numbers in totals.items())


def selection_marks(layer: Reading) -> tuple[str, ...]:
    """Return the marks of selected documents and renamed types of a layer that is paired with no other."""
    return tuple(_selection_marks(layer, layer))


def _selection_marks(gold: Reading, pred: Reading) -> Iterator[str]:
    """Yield the marks of selected documents and renamed types on both sides."""
    if gold.restricted:
        yield f"{RESTRICTED}{gold.restricted}"
    if gold.mapped and gold.mapped == pred.mapped:
        yield f"types mapped: {gold.mapped}"
    else:
        yield from (
            f"{side} types mapped: {reading.mapped}"
            for side, reading in (("gold", gold), ("pred", pred))
            if reading.mapped
        )


def _mark(words: tuple[str, ...], numbers: list[int]) -> str:
    rows = zip(numbers, words[1::2], words[2::2], strict=True)
    counts = ((f"{number} of" if what == "of" else counted(number, what)) + rest for number, what, rest in rows)
    return words[0] + "".join(counts)


def _projection_notes(match: Match, lost: tuple[Problem, ...], align_text: bool) -> tuple[list[str], list[str]]:
    """Return notes and marks on projected spans."""
    notes, marks = [], []
    respelt = int(match.respelt.sum())
    if respelt:
        marks.append(f"{RESPELT}{counted(respelt, 'token')}")
        notes.append(f"{counted(respelt, 'token')} spelt differently than in gold: gold's text used")
    elif match.to is not None and (spaced := int((~match.same & ~match.lettered).sum())):
        spaces = counted(spaced, "document")
        notes.append(f"{spaces} with other white space than in gold: spans carried over by token")
    lettered = counted(int(match.lettered.sum()), "document")
    if lettered.startswith("0"):
        return notes, marks
    if not align_text:
        notes.append(f"{lettered} with other white space and tokens than in gold: spans carried over by character")
        return notes, marks
    lost_spans = counted(len(lost), "span")
    marks.append(f"{ALIGNED}{lettered}, {lost_spans} lost")
    notes.append(f"{lettered} aligned with gold's text: spans carried over, {lost_spans} lost")
    return notes, marks


def _renumbered(layer: Layer, documents: Documents, to: Int64) -> Layer:
    """Return the layer over gold's documents; the texts are equal, so offsets stay."""
    layer = replace(layer, documents=documents)
    return layer if bool(np.all(to == np.arange(len(to)))) else layer.renumbered(to[layer.doc])


# Notices

IDENTICAL = "in content: the same documents and spans; check that they are not copies of one file"
"""The end of the notice on two layers with the same spans and no others."""


class IdenticalContentWarning(UserWarning):
    """A prediction has gold's documents and spans and no others, or an annotator those of another."""


class TypesNotInGoldWarning(UserWarning):
    """The prediction has types that gold does not have."""


class NamedLayer(Protocol):
    """A layer of this process, or one that is known by its digest, number of spans and types."""

    @property
    def name(self) -> str: ...

    @property
    def digest(self) -> str: ...

    @property
    def types(self) -> tuple[str, ...]: ...

    def __len__(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Notices:
    """The notices on one prediction, in words that stand after its name; "" where there is nothing to notice."""

    identical: str
    types: str

    def __iter__(self) -> Iterator[str]:
        return filter(None, (self.identical, self.types))

    def by_category(self) -> Iterator[tuple[str, type[UserWarning]]]:
        """Yield each notice with the category of its warning."""
        if self.identical:
            yield self.identical, IdenticalContentWarning
        if self.types:
            yield self.types, TypesNotInGoldWarning


def notices_of(
    gold: NamedLayer, pred: NamedLayer, *, reference: str = "gold", settled: Collection[str] = ()
) -> Notices:
    """Return the notices on a prediction, or on an annotator compared with another, the `reference`.

    Both layers lie over the same documents, and their types are not merged yet; `settled` are types that are merged or
    left out in scoring, of which nothing need be said.
    """
    identical = f"identical to {reference} {IDENTICAL}" if is_identical(gold, pred) else ""
    return Notices(identical, _types_in_words(gold, pred, settled))


def is_identical(gold: NamedLayer, pred: NamedLayer) -> bool:
    """Tell whether a prediction has gold's spans, at least one, and no others; links, cores and scores may differ.

    Layers that are known by their digests are equal where these are, with everything that the digest is made of.
    """
    if not len(gold) or len(gold) != len(pred):
        return False
    if not isinstance(gold, Layer) or not isinstance(pred, Layer):
        return gold.digest == pred.digest
    if not all(np.array_equal(getattr(gold, column), getattr(pred, column)) for column in ("doc", "start", "end")):
        return False
    # A layer may name types that none of its spans has.
    types = tuple(sorted({*gold.types, *pred.types}))
    return np.array_equal(gold.type_codes(types), pred.type_codes(types)) and gold.fragments == pred.fragments


def _types_in_words(gold: NamedLayer, pred: NamedLayer, settled: Collection[str]) -> str:
    if not gold.types or {*pred.types} <= {*gold.types, *settled}:
        return ""
    from nereval_core.pairing.type_suggestions import no_common_type_in_words, types_not_in_gold_in_words

    if not {*gold.types} & {*pred.types}:
        return no_common_type_in_words(gold, pred)
    return types_not_in_gold_in_words(gold, pred, settled)
