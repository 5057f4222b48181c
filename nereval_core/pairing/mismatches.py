"""Problems of documents, texts, tokens and spans on which gold and prediction disagree, with places on both sides."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any

import numpy as np

from nereval_core.corpus import Documents
from nereval_core.corpus.arrays import Bools, Int64
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
    pred_id, gold_id = quoted_apart(theirs.ids[0], ours.ids[0])
    finding = f"no document of {name_of(gold)}: the first here is {pred_id}, there {gold_id}"
    if near:
        return Problem(
            *place_of(pred, 0), f"{finding} (some texts are there in other writing)", f"{SAME_IDS}, or {ALIGN}"
        )
    tokens = ours.tokens, theirs.tokens
    alike = tokens[0] is not None and tokens[1] is not None and np.array_equal(tokens[0].first, tokens[1].first)
    ordered = f", or {BY_ORDER}" if alike else ""
    return Problem(*place_of(pred, 0), finding, f"{SAME_IDS}{ordered}")


def unknown_document(
    gold: Reading,
    pred: Reading,
    pred_number: int,
    counts: tuple[int, int] | None,
    near: int | None,
    *,
    ids: bool = True,
) -> Problem:
    """Return the problem of a document that gold lacks.

    `counts` are the numbers of unpaired documents with its text in the prediction and in gold, `near` is the gold
    document whose text differs in writing alone. Without `ids` documents are paired by text alone.
    """
    name = quoted(pred.documents.ids[pred_number])
    finding = f"document {name} is not in" if ids else f"the text of document {name} is not in"
    remedy = "leave it out, or give it the id it has in gold"
    if ids and not set(gold.documents.ids).isdisjoint(pred.documents.ids):
        remedy += f"; or {SHARED}"
    if counts is not None:
        finding = (
            f"document {name} has a text that stands in {counted(counts[0], 'document')} here and in {counts[1]} of"
        )
        remedy = SAME_IDS
    elif near is not None:
        other = f"document {quoted(gold.documents.ids[near])} has {'its text' if ids else 'it'} in other writing"
        remedy = f"{SAME_IDS}, or {ALIGN}" if ids else ALIGN
        return Problem(*place_of(pred, pred_number), f"{finding} {name_of(gold)}, where {other}", remedy)
    return Problem(*place_of(pred, pred_number), f"{finding} {name_of(gold)}", remedy)


def absent_document(gold: Reading, pred: Reading, gold_number: int) -> Problem:
    """Return the problem of a document that the prediction lacks."""
    return Problem(
        name_of(pred),
        None,
        f"document {quoted(gold.documents.ids[gold_number])} ({place_in_words(gold, gold_number)}) is missing",
        f"add it; or {SHARED}; or, where it was read and nothing found in it, count it as empty: --missing empty",
    )


def difference_causes(gold: Reading, pred: Reading, to: Int64, numbers: Sequence[int]) -> Mapping[int, str]:
    """Return the only difference from gold's text, in words, of the predicted documents with the same letters.

    It is determined for the first documents alone, as later problems are only counted.
    """
    pairs = [(pred.documents.texts[number], gold.documents.texts[to[number]]) for number in numbers]
    same = same_letters([pred_text for pred_text, _ in pairs], [gold_text for _, gold_text in pairs]).tolist()
    same_letter_pairs = [
        (number, texts) for number, texts, written in zip(numbers, pairs, same, strict=True) if written
    ]
    return {
        number: (cause_of_difference(*texts) or OTHER_WRITING) if at < SHOWN else OTHER_WRITING
        for at, (number, texts) in enumerate(same_letter_pairs)
    }


def other_text(
    gold: Reading,
    pred: Reading,
    pred_number: int,
    gold_number: int,
    why: str | None,
    *,
    elsewhere: bool = False,
    letters: bool = False,
) -> Problem:
    """Return the problem of two documents with different texts, or different `letters`.

    `why` is the only difference in words, if there is but one; `elsewhere` tells that gold has the predicted text under
    another id.
    """
    pred_text, gold_text = pred.documents.texts[pred_number], gold.documents.texts[gold_number]
    at = first_difference(pred_text, gold_text)
    own, other = first_letter_difference(pred_text, gold_text) if letters else (at, at)
    return Problem(
        *place_of(pred, pred_number),
        f"document {quoted(pred.documents.ids[pred_number])} differs from {place_in_words(gold, gold_number)} "
        f"at character {own}{f', in {why} alone' if why else ''}: "
        f"{_excerpt(pred_text, own)} here, {_excerpt(gold_text, other)} there",
        ALIGN if why else BY_TEXT if elsewhere else OTHER_TEXT,
    )


def other_tokens(gold: Reading, pred: Reading, pred_number: int, gold_number: int, why: str | None) -> Problem:
    """Return the problem of two documents with different numbers of tokens; `why` is the only difference of texts."""
    pred_tokens, gold_tokens = tokens_of(pred.documents, pred_number), tokens_of(gold.documents, gold_number)
    at = first_difference(pred_tokens, gold_tokens)
    return Problem(
        *place_of(pred, pred_number),
        f"document {quoted(pred.documents.ids[pred_number])} has {counted(len(pred_tokens), 'token')}, "
        f"{place_in_words(gold, gold_number)} has {len(gold_tokens)}; "
        f"they differ from token {at + 1}: {_word(pred_tokens, at)} here, {_word(gold_tokens, at)} there"
        f"{f', in {why} alone' if why else ''}",
        f"{OTHER_TOKENS}, or {ALIGN}" if why else OTHER_TOKENS,
    )


def token_count_mismatch(gold: Reading, pred: Reading) -> Problem:
    """Return the problem of two token streams of different lengths, which cannot be paired by order."""
    ours, theirs = gold.documents, pred.documents
    assert ours.tokens is not None and theirs.tokens is not None
    counts = len(theirs.tokens.starts), len(ours.tokens.starts)
    at = next(
        n
        for n, (pred_token, gold_token) in enumerate(zip_longest(token_texts(theirs), token_texts(ours)))
        if pred_token != gold_token
    )
    pred_at, gold_at = min(at, counts[0] - 1), min(at, counts[1] - 1)
    number = int(np.searchsorted(theirs.tokens.first, pred_at, side="right")) - 1
    other = int(np.searchsorted(ours.tokens.first, gold_at, side="right")) - 1
    ended = " (the end)"
    return Problem(
        *place_of(pred, number),
        f"{counted(len(theirs), 'document')} and {counted(counts[0], 'token')} where {name_of(gold)} has "
        f"{len(ours)} and {counts[1]}; they differ from {_token(pred, pred_at)}{ended * (at > pred_at)} of document "
        f"{quoted(theirs.ids[number])}, where {place_in_words(gold, other)} has {_token(gold, gold_at)}"
        f"{ended * (at > gold_at)}",
        OTHER_TOKENS + f", or {LEFT_EMPTY}" * is_beginning(np.diff(theirs.tokens.first), np.diff(ours.tokens.first)),
    )


def document_count_mismatch(gold: Reading, pred: Reading) -> Problem:
    """Return the problem of different numbers of documents that can only be paired by order."""
    ours, theirs = gold.documents, pred.documents
    at = first_difference(theirs.texts, ours.texts)
    pred_at, gold_at = min(at, len(theirs) - 1), min(at, len(ours) - 1)
    are_texts_of_gold = len(set(theirs.texts)) == len(theirs) and set(theirs.texts) <= set(ours.texts)
    return Problem(
        *place_of(pred, pred_at),
        f"{counted(len(theirs), 'document')} where {name_of(gold)} has {len(ours)}; they differ from number {at + 1}: "
        f"{_excerpt(theirs.texts[pred_at], 0) if at == pred_at else 'nothing'} here, "
        f"{_excerpt(ours.texts[gold_at], 0) if at == gold_at else 'nothing'} there",
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
        gold_number = int(np.searchsorted(ours.tokens.first, other, side="right")) - 1
        place, text = _numbered(pred, token)
        gold_place, gold_text = _numbered(gold, other)
        is_alike = theirs.ids[number] == ours.ids[gold_number] and place == gold_place
        where = "in gold" if is_alike else f"at token {gold_place} of {place_in_words(gold, gold_number)}"
        why = causes.get(number)
        alone = f", which differ in {why} alone" if why else ""
        yield Problem(
            *place_of(pred, number),
            f"document {quoted(theirs.ids[number])} spells {counted(count, 'token')} differently from gold: at token "
            f"{place} {quoted(text)} here, {quoted(gold_text)} {where}{alone}",
            f"{RESPELT}, or {ALIGN}" if why else RESPELT,
            (place, text),
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


def is_beginning(shorter: Int64, longer: Int64) -> bool:
    """Tell whether one sequence is the beginning of another, longer one."""
    return len(shorter) < len(longer) and bool(np.all(shorter == longer[: len(shorter)]))


def tokens_of(documents: Documents, number: int) -> list[str]:
    """Return the tokens of a document as text."""
    assert documents.tokens is not None
    text = documents.texts[number]
    return [text[low:high] for low, high in documents.tokens.of_document(number)]


def token_texts(documents: Documents) -> Iterator[str]:
    """Yield the tokens of all documents as text."""
    for number in range(len(documents)):
        yield from tokens_of(documents, number)


def first_difference(sequence: Any, other: Any) -> int:
    """Return the first index at which two strings or sequences differ; the shorter length if one begins the other."""
    at = 0
    step = 4096
    while at < min(len(sequence), len(other)) and sequence[at : at + step] == other[at : at + step]:
        at += step
    limit = min(len(sequence), len(other))
    return next((n for n in range(min(at, limit), limit) if sequence[n] != other[n]), limit)


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
    place, text = _numbered(reading, token)
    return f"token {place} {quoted(text)}"


def _numbered(reading: Reading, token: int) -> tuple[int, str]:
    """Return the number in its document, from 1, and the text of a token that is counted over all documents."""
    tokens = reading.documents.tokens
    assert tokens is not None
    number = int(np.searchsorted(tokens.first, token, side="right")) - 1
    low, high = int(tokens.starts[token]), int(tokens.ends[token])
    return token - int(tokens.first[number]) + 1, reading.documents.texts[number][low:high]


def _excerpt(text: str, at: int) -> str:
    return quoted(text[at : at + 20]) if at < len(text) else "the end"


def _word(tokens: list[str], at: int) -> str:
    return quoted(tokens[at]) if at < len(tokens) else "the end"
