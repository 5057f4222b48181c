"""Problems of documents, texts, tokens and spans on which gold and prediction disagree, with places on both sides."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any

import numpy as np

from nereval_core.arrays import Bools, Int64
from nereval_core.corpus import Documents
from nereval_core.pairing.letters import cause_of_difference, first_letter_difference, same_letters
from nereval_core.problems import SHOWN, Problem, counted, quoted, quoted_apart
from nereval_core.readers import Reading

OTHER_TEXT = "score each prediction against the text it was made from"
OTHER_TOKENS = "give the prediction with gold's tokens"
SAME_IDS = "give both sides the same document ids"
OTHER_WRITING = "writing"
LEFT_EMPTY = "count what is missing at the end as predicted empty: --missing empty"
RESPELT = "--token-text gold takes gold's text"
ALIGN = "carry its spans over to gold's text: --align-text"
FOLLOW = "make the span follow gold's tokens and documents"
LEAVE_OUT = f"{FOLLOW}, or leave out such spans: --align-text"
LEFT_OUT = "left out of the prediction"
SHARED = "score the documents that all have: --documents shared"
BY_TEXT = "pair documents by their text: --pair-by text"
BY_TEXT_ALONE = "pair documents by their text, others predicted empty: --pair-by text --missing empty"
BY_ORDER = "pair documents by their order, with gold's words: --pair-by order --token-text gold"


def no_ids_meet(gold: Reading, pred: Reading, near: bool) -> Problem:
    """Return the problem of two sides that have neither a document id nor a text in common.

    `near` tells that some texts differ in writing alone: in white space, quotes, dashes or normal forms.
    """
    ours, theirs = gold.documents, pred.documents
    here, there = quoted_apart(theirs.ids[0], ours.ids[0])
    found = f"no document of {name_of(gold)}: the first here is {here}, there {there}"
    if near:
        return Problem(
            *place_of(pred, 0), f"{found} (some texts are there in other writing)", f"{SAME_IDS}, or {ALIGN}"
        )
    tokens = ours.tokens, theirs.tokens
    alike = tokens[0] is not None and tokens[1] is not None and np.array_equal(tokens[0].first, tokens[1].first)
    ordered = f", or {BY_ORDER}" if alike else ""
    return Problem(*place_of(pred, 0), found, f"{SAME_IDS}{ordered}")


def unknown_document(
    gold: Reading, pred: Reading, here: int, counts: tuple[int, int] | None, near: int | None, *, ids: bool = True
) -> Problem:
    """Return the problem of a document that gold lacks.

    `counts` are the numbers of unpaired documents with its text in the prediction and in gold, `near` is the gold
    document whose text differs in writing alone. Without `ids` documents are paired by text alone.
    """
    name = quoted(pred.documents.ids[here])
    found = f"document {name} is not in" if ids else f"the text of document {name} is not in"
    remedy = "leave it out, or give it the id it has in gold"
    if ids and not set(gold.documents.ids).isdisjoint(pred.documents.ids):
        remedy += f"; or {SHARED}"
    if counts is not None:
        found = f"document {name} has a text that stands in {counted(counts[0], 'document')} here and in {counts[1]} of"
        remedy = SAME_IDS
    elif near is not None:
        other = f"document {quoted(gold.documents.ids[near])} has {'its text' if ids else 'it'} in other writing"
        remedy = f"{SAME_IDS}, or {ALIGN}" if ids else ALIGN
        return Problem(*place_of(pred, here), f"{found} {name_of(gold)}, where {other}", remedy)
    return Problem(*place_of(pred, here), f"{found} {name_of(gold)}", remedy)


def absent_document(gold: Reading, pred: Reading, there: int) -> Problem:
    """Return the problem of a document that the prediction lacks."""
    return Problem(
        name_of(pred),
        None,
        f"document {quoted(gold.documents.ids[there])} ({place_in_words(gold, there)}) is missing",
        f"add it; or {SHARED}; or, where it was read and nothing found in it, count it as empty: --missing empty",
    )


def difference_causes(gold: Reading, pred: Reading, to: Int64, numbers: Sequence[int]) -> Mapping[int, str]:
    """Return the only difference from gold's text, in words, of the predicted documents with the same letters.

    It is determined for the first documents alone, as later problems are only counted.
    """
    pairs = [(pred.documents.texts[number], gold.documents.texts[to[number]]) for number in numbers]
    same = same_letters([one for one, _ in pairs], [two for _, two in pairs]).tolist()
    found = [(number, texts) for number, texts, written in zip(numbers, pairs, same, strict=True) if written]
    return {
        number: (cause_of_difference(*texts) or OTHER_WRITING) if at < SHOWN else OTHER_WRITING
        for at, (number, texts) in enumerate(found)
    }


def other_text(
    gold: Reading,
    pred: Reading,
    here: int,
    there: int,
    why: str | None,
    *,
    elsewhere: bool = False,
    letters: bool = False,
) -> Problem:
    """Return the problem of two documents with different texts, or different `letters`.

    `why` is the only difference in words, if there is but one; `elsewhere` tells that gold has the predicted text under
    another id.
    """
    one, two = pred.documents.texts[here], gold.documents.texts[there]
    at = first_difference(one, two)
    own, other = first_letter_difference(one, two) if letters else (at, at)
    return Problem(
        *place_of(pred, here),
        f"document {quoted(pred.documents.ids[here])} differs from {place_in_words(gold, there)} at character {own}"
        f"{f', in {why} alone' if why else ''}: {_excerpt(one, own)} here, {_excerpt(two, other)} there",
        ALIGN if why else BY_TEXT if elsewhere else OTHER_TEXT,
    )


def other_tokens(gold: Reading, pred: Reading, here: int, there: int, why: str | None) -> Problem:
    """Return the problem of two documents with different numbers of tokens; `why` is the only difference of texts."""
    one, two = tokens_of(pred.documents, here), tokens_of(gold.documents, there)
    at = first_difference(one, two)
    return Problem(
        *place_of(pred, here),
        f"document {quoted(pred.documents.ids[here])} has {counted(len(one), 'token')}, "
        f"{place_in_words(gold, there)} has {len(two)}; "
        f"they differ from token {at + 1}: {_word(one, at)} here, {_word(two, at)} there"
        f"{f', in {why} alone' if why else ''}",
        f"{OTHER_TOKENS}, or {ALIGN}" if why else OTHER_TOKENS,
    )


def token_count_mismatch(gold: Reading, pred: Reading) -> Problem:
    """Return the problem of two token streams of different lengths, which cannot be paired by order."""
    ours, theirs = gold.documents, pred.documents
    assert ours.tokens is not None and theirs.tokens is not None
    counts = len(theirs.tokens.starts), len(ours.tokens.starts)
    at = next(n for n, (one, two) in enumerate(zip_longest(token_texts(theirs), token_texts(ours))) if one != two)
    here, there = min(at, counts[0] - 1), min(at, counts[1] - 1)
    number = int(np.searchsorted(theirs.tokens.first, here, side="right")) - 1
    other = int(np.searchsorted(ours.tokens.first, there, side="right")) - 1
    ended = " (the end)"
    return Problem(
        *place_of(pred, number),
        f"{counted(len(theirs), 'document')} and {counted(counts[0], 'token')} where {name_of(gold)} has "
        f"{len(ours)} and {counts[1]}; they differ from {_token(pred, here)}{ended * (at > here)} of document "
        f"{quoted(theirs.ids[number])}, where {place_in_words(gold, other)} has {_token(gold, there)}"
        f"{ended * (at > there)}",
        OTHER_TOKENS + f", or {LEFT_EMPTY}" * is_beginning(np.diff(theirs.tokens.first), np.diff(ours.tokens.first)),
    )


def document_count_mismatch(gold: Reading, pred: Reading) -> Problem:
    """Return the problem of different numbers of documents that can only be paired by order."""
    ours, theirs = gold.documents, pred.documents
    at = first_difference(theirs.texts, ours.texts)
    here, there = min(at, len(theirs) - 1), min(at, len(ours) - 1)
    are_texts_of_gold = len(set(theirs.texts)) == len(theirs) and set(theirs.texts) <= set(ours.texts)
    return Problem(
        *place_of(pred, here),
        f"{counted(len(theirs), 'document')} where {name_of(gold)} has {len(ours)}; they differ from number {at + 1}: "
        f"{_excerpt(theirs.texts[here], 0) if at == here else 'nothing'} here, "
        f"{_excerpt(ours.texts[there], 0) if at == there else 'nothing'} there",
        "give as many documents as gold has, or document ids on both sides"
        + f", or {BY_TEXT_ALONE}" * are_texts_of_gold,
    )


def spelling_mismatches(
    gold: Reading, pred: Reading, tokens: Int64, respelt: Bools, causes: Mapping[int, str]
) -> Iterator[Problem]:
    """Yield a problem for each predicted document with tokens that gold spells differently.

    `tokens` is the gold token of each predicted token; `causes` has, by document, the only difference of the texts.
    """
    ours, theirs = gold.documents, pred.documents
    assert ours.tokens is not None and theirs.tokens is not None
    odd = np.flatnonzero(respelt)
    doc = np.searchsorted(theirs.tokens.first, odd, side="right") - 1
    numbers, starts, counts = np.unique(doc, return_index=True, return_counts=True)
    for number, token, count in zip(numbers.tolist(), odd[starts].tolist(), counts.tolist(), strict=True):
        other = int(tokens[token])
        there = int(np.searchsorted(ours.tokens.first, other, side="right")) - 1
        why = causes.get(number)
        yield Problem(
            *place_of(pred, number),
            f"document {quoted(theirs.ids[number])} spells {counted(count, 'token')} differently from gold, the first "
            f"{_token(pred, token)} where {place_in_words(gold, there)} has {_token(gold, other)}"
            f"{f', which differ in {why} alone' if why else ''}",
            f"{RESPELT}, or {ALIGN}" if why else RESPELT,
        )


def unprojectable_span(gold: Reading, pred: Reading, span: int, why: str, remedy: str = FOLLOW) -> Problem:
    """Return the problem of a span that cannot be projected onto gold's text."""
    layer = pred.layer
    number = int(layer.doc[span])
    return Problem(
        *place_of(pred, number),
        f"span [{layer.start[span]}, {layer.end[span]}) {quoted(layer.text(span))} ({layer.label(span)}) of document "
        f"{quoted(pred.documents.ids[number])} {why} ({name_of(gold)})",
        remedy,
    )


def is_beginning(here: Int64, there: Int64) -> bool:
    """Tell whether one sequence is the beginning of another, longer one."""
    return len(here) < len(there) and bool(np.all(here == there[: len(here)]))


def tokens_of(documents: Documents, number: int) -> list[str]:
    """Return the tokens of a document as text."""
    assert documents.tokens is not None
    text = documents.texts[number]
    return [text[low:high] for low, high in documents.tokens.of_document(number)]


def token_texts(documents: Documents) -> Iterator[str]:
    """Yield the tokens of all documents as text."""
    for number in range(len(documents)):
        yield from tokens_of(documents, number)


def first_difference(one: Any, two: Any) -> int:
    """Return the first index at which two strings or sequences differ; the shorter length if one begins the other."""
    at = 0
    step = 4096
    while at < min(len(one), len(two)) and one[at : at + step] == two[at : at + step]:
        at += step
    limit = min(len(one), len(two))
    return next((n for n in range(min(at, limit), limit) if one[n] != two[n]), limit)


def place_of(reading: Reading, number: int) -> tuple[str, int | None]:
    """Return the source and line at which a document begins, as far as known."""
    return reading.places[number] if number < len(reading.places) else (name_of(reading), None)


def place_in_words(reading: Reading, number: int) -> str:
    """Return the place of a document in words: source, line if known, and its id."""
    source, line = place_of(reading, number)
    place = source if line is None else f"{source}:{line}"
    return f"{place}, document {quoted(reading.documents.ids[number])}"


def name_of(reading: Reading) -> str:
    """Return the name of a reading: its source, or else the name of its layer."""
    return reading.source or reading.layer.name


def _token(reading: Reading, token: int) -> str:
    """Return a token, counted over all documents, as its number in its document and its text."""
    tokens = reading.documents.tokens
    assert tokens is not None
    number = int(np.searchsorted(tokens.first, token, side="right")) - 1
    low, high = int(tokens.starts[token]), int(tokens.ends[token])
    return f"token {token - int(tokens.first[number]) + 1} {quoted(reading.documents.texts[number][low:high])}"


def _excerpt(text: str, at: int) -> str:
    return quoted(text[at : at + 20]) if at < len(text) else "the end"


def _word(tokens: list[str], at: int) -> str:
    return quoted(tokens[at]) if at < len(tokens) else "the end"
