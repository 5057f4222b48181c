"""Project predicted spans onto gold's text where the texts differ: by token number, or letter by letter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nereval_core.corpus import Documents, Fragments, Layer, frozen
from nereval_core.corpus.arrays import Bools, Int64
from nereval_core.pairing.documents import TokenText
from nereval_core.pairing.letters import (
    IN_CHARACTER,
    IN_SPACE,
    SPACING,
    WRITING,
    Kinds,
    project_intervals,
    same_letters,
)
from nereval_core.pairing.mismatches import (
    FOLLOW,
    LEAVE_OUT,
    LEFT_OUT,
    difference_causes,
    other_text,
    other_tokens,
    spelling_mismatches,
    token_texts,
    tokens_of,
    unprojectable_span,
)
from nereval_core.problems import FormatError, Problem, ProblemList
from nereval_core.readers import Reading

OFF_TOKENS, INSIDE_RESPELT, ACROSS, OFF_LETTERS = 1, 2, 3, 4
REASONS = {
    OFF_TOKENS: "does not begin and end in a token, so it cannot be carried over to gold's text",
    INSIDE_RESPELT: "begins or ends inside a token that gold spells differently",
    ACROSS: "reaches over a document boundary of gold",
    OFF_LETTERS + IN_SPACE: "begins or ends in white space that gold has otherwise",
    OFF_LETTERS + IN_CHARACTER: "begins or ends inside what is one character in gold",
}


@dataclass(frozen=True, eq=False)
class Match:
    """The gold documents and tokens that correspond to a prediction's.

    `to` is the gold document of each predicted document, None where document boundaries differ. `same` marks documents
    with equal texts, `lettered` those with equal letters, ignoring `kinds`, whose spans are projected by letters. For
    all others `tokens` is the gold token of each predicted token (both counted over all documents, -1 where unknown),
    and `respelt` marks the tokens that gold spells differently.
    """

    to: Int64 | None
    same: Bools
    lettered: Bools
    kinds: Kinds
    tokens: Int64
    respelt: Bools


@dataclass(frozen=True, eq=False)
class ProjectedLayer:
    """A layer over gold's documents; `lost` are the problems of the spans left out, which have no place there."""

    layer: Layer
    lost: tuple[Problem, ...]


def match_stream(gold: Reading, pred: Reading, *, token_text: TokenText) -> Match:
    """Match the tokens of both sides one by one, across document boundaries.

    Raises:
        FormatError: some are spelt differently, and `token_text` does not allow it.
    """
    ours, theirs = gold.documents, pred.documents
    assert theirs.tokens is not None
    none = np.zeros(len(theirs), np.bool_)
    tokens = np.arange(len(theirs.tokens.starts))
    pairs = zip(token_texts(theirs), token_texts(ours), strict=True)
    respelt = np.fromiter((pred_token != gold_token for pred_token, gold_token in pairs), np.bool_, len(tokens))
    if token_text == "own" and bool(respelt.any()):
        raise FormatError(spelling_mismatches(gold, pred, tokens, respelt, {}))
    return Match(None, none, none, SPACING, tokens, respelt)


def match_documents(
    gold: Reading, pred: Reading, to: Int64, same: Bools, *, token_text: TokenText, align_text: bool
) -> Match:
    """Match the tokens or letters of documents whose texts differ.

    With `align_text`, documents with the same letters are matched by letters. Otherwise tokens are matched by their
    number, and where number or spelling differ, letters are matched if only white space differs.

    Raises:
        FormatError: texts that cannot be matched.
    """
    ours, theirs = gold.documents, pred.documents
    zeros = np.zeros(len(theirs), np.int64)
    pred_counts = zeros if theirs.tokens is None else np.diff(theirs.tokens.first)
    gold_counts = zeros if ours.tokens is None else np.diff(ours.tokens.first)[to]
    both = (pred_counts > 0) & (gold_counts > 0)
    kinds = WRITING if align_text else SPACING
    lettered = _same_letters(ours, theirs, to, ~same, kinds) if align_text else np.zeros(len(theirs), np.bool_)
    numbered = ~same & ~lettered & both & (pred_counts == gold_counts)
    tokens, respelt = _match_by_number(ours, theirs, to, numbered)
    if token_text == "own" and bool(respelt.any()):
        assert theirs.tokens is not None
        owner = np.repeat(np.arange(len(theirs)), pred_counts)
        lettered |= _same_letters(ours, theirs, to, numbered & np.isin(np.arange(len(theirs)), owner[respelt]), kinds)
        numbered &= ~lettered
        respelt &= numbered[owner]
    rest = ~same & ~lettered & ~numbered
    lettered |= _same_letters(ours, theirs, to, rest & both, kinds)
    problems = ProblemList()
    apart = np.flatnonzero(rest & ~lettered).tolist()
    named = ours.named and theirs.named
    elsewhere = set(ours.texts) & {theirs.texts[number] for number in apart} if apart and named else ()
    spelt = np.flatnonzero(numbered).tolist() if token_text == "own" and bool(respelt.any()) else []
    why = difference_causes(gold, pred, to, [*apart, *spelt])
    for number in apart:
        if both[number]:
            problems.append(other_tokens(gold, pred, number, int(to[number]), why.get(number)))
        else:
            has_text = theirs.texts[number] in elsewhere
            problem = other_text(
                gold, pred, number, int(to[number]), why.get(number), elsewhere=has_text, letters=align_text
            )
            problems.append(problem)
    if spelt:
        problems += spelling_mismatches(gold, pred, tokens, respelt, why)
    if problems:
        raise FormatError(problems)
    return Match(to, same, lettered, kinds, tokens, respelt)


def _same_letters(ours: Documents, theirs: Documents, to: Int64, is_compared: Bools, kinds: Kinds) -> Bools:
    """Return the predicted documents, of those in `some`, that have gold's letters."""
    is_same = np.zeros(len(theirs), np.bool_)
    rows = np.flatnonzero(is_compared).tolist()
    is_same[rows] = same_letters([theirs.texts[row] for row in rows], [ours.texts[to[row]] for row in rows], kinds)
    return is_same


def _match_by_number(ours: Documents, theirs: Documents, to: Int64, is_matched: Bools) -> tuple[Int64, Bools]:
    """Return the gold token of each predicted token in some documents, or -1, and which are spelt differently."""
    if theirs.tokens is None or ours.tokens is None:
        count = 0 if theirs.tokens is None else len(theirs.tokens.starts)
        return np.full(count, -1), np.zeros(count, np.bool_)
    doc = np.repeat(np.arange(len(theirs)), np.diff(theirs.tokens.first))
    tokens = np.arange(len(doc)) + (ours.tokens.first[to] - theirs.tokens.first[:-1])[doc]
    tokens[~is_matched[doc]] = -1
    respelt = np.zeros(len(doc), np.bool_)
    for number in np.flatnonzero(is_matched).tolist():
        pred_tokens, gold_tokens = tokens_of(theirs, number), tokens_of(ours, int(to[number]))
        low = int(theirs.tokens.first[number])
        respelt[low : low + len(pred_tokens)] = [
            pred_token != gold_token for pred_token, gold_token in zip(pred_tokens, gold_tokens, strict=True)
        ]
    return tokens, respelt


def project_spans(gold: Reading, pred: Reading, match: Match, *, lose: bool) -> ProjectedLayer:
    """Project the spans onto gold's documents, with their fragments, cores and alternatives.

    With `lose`, a span that has no place in gold's text by its letters is left out.

    Raises:
        FormatError: spans without a place that may not be left out.
    """
    layer = pred.layer
    flat, kind = _edges(layer)
    span = flat[:, 0]
    doc, start, end, why = _project_edges(
        gold.documents, pred.documents, match, layer.doc[span].astype(np.int64), *flat.T[1:]
    )
    # Fragments, cores and alternatives belong to the document of their span.
    home = doc[: len(layer)][span]
    why[(why == 0) & (doc != home)] = ACROSS
    odd = {
        int(span[row]): (int(why[row]), "" if kind[row] == 0 else _part_of(kind[row], *flat[row, 1:].tolist()))
        for row in np.flatnonzero(why).tolist()[::-1]
    }
    lost = {lost_span for lost_span, (code, _) in odd.items() if lose and code >= OFF_LETTERS}
    problems = {
        lost_span: unprojectable_span(
            gold,
            pred,
            lost_span,
            part + REASONS[code],
            LEFT_OUT if lost_span in lost else LEAVE_OUT if code >= OFF_LETTERS else FOLLOW,
        )
        for lost_span, (code, part) in sorted(odd.items())
    }
    if len(lost) < len(problems):
        raise FormatError(problem for lost_span, problem in problems.items() if lost_span not in lost)
    extras = _extras(layer, kind, start, end)
    count = len(layer)
    moved = replace(
        layer,
        documents=gold.documents,
        start=frozen(start[:count].astype(np.int32)),
        end=frozen(end[:count].astype(np.int32)),
        **extras,
    )
    doc = doc[:count]
    if problems:
        remaining = np.setdiff1d(np.arange(count), np.fromiter(problems, np.int64))
        moved, doc = moved.take(remaining), doc[remaining]
    return ProjectedLayer(moved.renumbered(doc), tuple(problems.values()))


PARTS = (("fragments", "fragment"), ("cores", "core"), ("alternatives", "alternative"))


def _edges(layer: Layer) -> tuple[Int64, NDArray[np.int8]]:
    """Return all intervals of a layer, shape (intervals, 3), as span, start and end, and the kind of each.

    Kind 0 are the spans themselves, in their order; the others are those of PARTS, from 1.
    """
    rows = [np.column_stack((np.arange(len(layer)), layer.start, layer.end)).astype(np.int64)]
    for key, _ in PARTS:
        extra = _as_fragments(layer, key)
        flat = [(span, *edges) for span, value in extra.items() for edges in value]
        rows.append(np.array(flat, np.int64).reshape(-1, 3))
    kinds = np.repeat(np.arange(len(rows), dtype=np.int8), [len(row) for row in rows])
    return np.concatenate(rows), kinds


def _as_fragments(layer: Layer, key: str) -> Mapping[int, Fragments]:
    extra = getattr(layer, key)
    return {span: (value,) for span, value in extra.items()} if key == "cores" else extra


def _extras(layer: Layer, kind: NDArray[np.int8], start: Int64, end: Int64) -> dict[str, Any]:
    """Return fragments, cores and alternatives with their projected starts and ends."""
    moved: dict[str, Any] = {}
    for number, (key, _) in enumerate(PARTS, start=1):
        own = kind == number
        rows = iter(zip(start[own].tolist(), end[own].tolist(), strict=True))
        parts = {span: tuple(next(rows) for _ in value) for span, value in _as_fragments(layer, key).items()}
        moved[key] = MappingProxyType({span: value[0] for span, value in parts.items()} if key == "cores" else parts)
    return moved


def _part_of(kind: int, low: int, high: int) -> str:
    return f"has a {PARTS[kind - 1][1]} [{low}, {high}) that "


def _project_edges(
    ours: Documents, theirs: Documents, match: Match, doc: Int64, start: Int64, end: Int64
) -> tuple[Int64, Int64, Int64, NDArray[np.int8]]:
    """Return gold document, start and end of intervals, and 0, or the key in REASONS if one cannot be projected."""
    to = doc.copy() if match.to is None else match.to[doc]
    start, end, why = start.copy(), end.copy(), np.zeros(len(doc), np.int8)
    lettered = match.lettered[doc]
    rows = np.flatnonzero(lettered)
    if len(rows):
        assert match.to is not None
        documents, text = np.unique(doc[rows], return_inverse=True)
        pairs = [(theirs.texts[number], ours.texts[match.to[number]]) for number in documents.tolist()]
        pred_texts, gold_texts = zip(*pairs, strict=True)
        start[rows], end[rows], odd = project_intervals(
            pred_texts, gold_texts, text, start[rows], end[rows], match.kinds
        )
        why[rows] = np.where(odd > 0, odd + OFF_LETTERS, 0)
    rows = np.flatnonzero(~match.same[doc] & ~lettered)
    if len(rows):
        to[rows], start[rows], end[rows], why[rows] = _by_tokens(ours, theirs, match, doc[rows], start[rows], end[rows])
    return to, start, end, why


def _by_tokens(
    ours: Documents, theirs: Documents, match: Match, doc: Int64, start: Int64, end: Int64
) -> tuple[Int64, Int64, Int64, NDArray[np.int8]]:
    """Project intervals as `_project_edges` does, by the numbers of the tokens in which they begin and end."""
    assert ours.tokens is not None and theirs.tokens is not None
    # Positions count from the start of the first document.
    owner = np.repeat(np.arange(len(theirs)), np.diff(theirs.tokens.first))
    lows, highs = theirs.tokens.starts + theirs.base[owner], theirs.tokens.ends + theirs.base[owner]
    base = theirs.base[doc]
    first_token = np.searchsorted(lows, start + base, side="right") - 1
    last_token = np.searchsorted(lows, end + base - 1, side="right") - 1
    off = (first_token < 0) | (start + base >= highs[first_token]) | (end + base > highs[last_token])
    before, after = start + base - lows[first_token], highs[last_token] - end - base
    inside = (match.respelt[first_token] & (before > 0)) | (match.respelt[last_token] & (after > 0))
    first, last = match.tokens[first_token], match.tokens[last_token]
    place = np.repeat(np.arange(len(ours)), np.diff(ours.tokens.first))
    why = np.select([off, inside, place[first] != place[last]], [OFF_TOKENS, INSIDE_RESPELT, ACROSS], 0)
    low, high = ours.tokens.starts[first] + before, ours.tokens.ends[last] - after
    return place[first], low.astype(np.int64), high.astype(np.int64), why.astype(np.int8)
