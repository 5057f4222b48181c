"""Tokens and the tags of one column as they stand in a file, malformed sequences included.

Readers refuse or mend what breaks a tag scheme; the published scorers read it their own way, so that their conventions
start from here.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np

from nereval_core.corpus import Documents, Intervals, Layer, Place
from nereval_core.corpus.arrays import Bools, Int64
from nereval_core.corpus.tokens import tokens_of
from nereval_core.problems import FormatError, Problem, ProblemList, counted, quoted


@dataclass(frozen=True, eq=False)
class Tagged:
    """One tag a token, over documents with tokens.

    `tags` and `words` have one entry a token, all documents in a row; `sentences` holds the number of each sentence's
    first token and, last, the number of tokens. `place` says at which file and line a token stands. `marks` are the
    tags beside -DOCSTART-, which is a token to some scorers, but not here. `ended` says whether a blank line
    or the like follows the last token. `written_ids` are the ids of documents as they stand in the file, repeated ones
    alike.
    """

    documents: Documents
    tags: Sequence[str]
    words: Sequence[str]
    sentences: Int64
    source: str
    place: Callable[[int], Place]
    notes: tuple[str, ...] = ()
    marks: Sequence[str] = ()
    ended: bool = True
    written_ids: Sequence[str] = ()

    def __len__(self) -> int:
        return len(self.tags)

    @cached_property
    def tokens(self) -> Intervals:
        assert self.documents.tokens is not None, "tags stand beside tokens"
        return self.documents.tokens

    @cached_property
    def doc(self) -> Int64:
        """Document of each token, shape (tokens,)."""
        sizes = np.diff(self.tokens.first)
        return np.repeat(np.arange(len(sizes)), sizes)


def match_tags(gold: Tagged, pred: Tagged) -> Tagged:
    """Return the prediction's tags over gold's tokens: token by token, whatever their text.

    Raises:
        FormatError: the numbers of tokens differ; the first place where the tokens part is named. Tokens that are only
            written otherwise, the ones after them alike, are no such place.
    """
    if len(gold) == len(pred):
        return replace(pred, documents=gold.documents, words=gold.words, sentences=gold.sentences)
    fewest = min(len(gold), len(pred))
    parting = next((number for number in range(fewest) if _part(gold.words, pred.words, number)), fewest)
    counts = f"{counted(len(pred), 'token')} where gold ({gold.source}) has {len(gold)}"
    if parting < len(pred):
        pred_position = f"they part at {quoted(pred.words[parting])}"
        gold_position = f"gold's {quoted(gold.words[parting])}" if parting < len(gold) else "the end of gold"
        source, line = pred.place(parting)
    else:
        pred_position = "the prediction ends"
        source, line = pred.source, pred.place(len(pred) - 1)[1] if len(pred) else None
        gold_position = f"gold's {quoted(gold.words[parting])}"
    where = ""
    if parting < len(gold):
        file, number = gold.place(parting)
        where = f" ({file}:{number})" if number else f" ({file})"
    raise FormatError.single(
        source, line, f"{counts}: {pred_position} against {gold_position}{where}", "give one tag for each gold token"
    )


COMPARED_TOKENS = 8
"""Tokens compared after one that differs: where half of them agree, that one is only spelt differently."""


def _part(gold_words: Sequence[str], pred_words: Sequence[str], at: int) -> bool:
    """Return whether two rows of words part at a place, rather than spell one word differently."""
    if gold_words[at] == pred_words[at]:
        return False
    after = slice(at + 1, at + 1 + COMPARED_TOKENS)
    pairs = list(zip(gold_words[after], pred_words[after], strict=False))
    n_equal = sum(gold_word == pred_word for gold_word, pred_word in pairs)
    return not pairs or 2 * n_equal < len(pairs)


def without_tokens(documents: Documents) -> Bools:
    """Return which documents have words but no tokens."""
    own = documents.tokens
    lacks_tokens: Bools = np.diff(tokens_of(documents).first) > (0 if own is None else np.diff(own.first))
    return lacks_tokens


def with_tokens(documents: Documents) -> tuple[Documents, tuple[str, ...]]:
    """Return documents that all have tokens, and a note where some had none."""
    own, tokens = documents.tokens, tokens_of(documents)
    bare = without_tokens(documents)
    if own is not None and not bare.any():
        return documents, ()
    return replace(documents, tokens=tokens), no_tokens_note(int(np.count_nonzero(bare)), len(documents))


def no_tokens_note(bare: int, documents: int) -> tuple[str, ...]:
    """Return a note on the number of documents without tokens."""
    if not bare:
        return ()
    which = "the documents" if bare == documents else f"{bare} of {counted(documents, 'document')}"
    return (f"{which} have no tokens: words and single other characters were taken for tokens",)


def tags_of_layer(layer: Layer, needed_by: str) -> Tagged:
    """Return the IOB2 tags of a layer.

    Where documents have no tokens, runs of word characters and single other non-space characters are taken; where they
    have no sentences, each is one.

    Raises:
        FormatError: as `tokens_of_spans`.
    """
    documents, notes = with_tokens(layer.documents)
    assert documents.tokens is not None
    first_token, last_token = tokens_of_spans(replace(layer, documents=documents) if notes else layer, needed_by)
    first, starts, ends = documents.tokens.first, documents.tokens.starts, documents.tokens.ends
    tags = np.full(len(starts), "O", object)
    inside, begin = (np.array([f"{letter}-{name}" for name in layer.types], object) for letter in "IB")
    sizes = last_token - first_token + 1
    within = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes) + np.repeat(first_token, sizes)
    if len(layer):
        tags[within] = inside[np.repeat(layer.type, sizes)]
        tags[first_token] = begin[layer.type]
    edges = first.tolist()
    words = [
        text[start:end]
        for text, (low, high) in zip(documents.texts, pairwise(edges), strict=True)
        for start, end in zip(starts[low:high].tolist(), ends[low:high].tolist(), strict=True)
    ]
    ids = documents.ids

    def place(token: int) -> Place:
        return f"{layer.name}, document {quoted(ids[bisect_right(edges, token) - 1])}", None

    return Tagged(documents, tags.tolist(), words, sentence_bounds(documents), layer.name, place, notes)


def tokens_of_spans(layer: Layer, needed_by: str) -> tuple[Int64, Int64]:
    """Return the first and the last token of each span, shape (spans,); documents must have tokens.

    Raises:
        FormatError: spans that tags cannot express (nested, crossing, discontinuous, not on token boundaries, over the
            end of a sentence), all of them at once. `needed_by` is who asks for tags.
    """
    documents = layer.documents
    tokens = documents.tokens
    assert tokens is not None, "tags stand beside tokens"
    origin = np.repeat(documents.base[:-1], np.diff(tokens.first))
    base = documents.base[layer.doc]
    first = np.searchsorted(origin + tokens.starts, base + layer.start)
    last = np.searchsorted(origin + tokens.ends, base + layer.end)
    n_tokens = len(tokens.starts)
    is_on_tokens = np.zeros(len(layer), bool)
    if n_tokens:
        is_on_tokens = (origin + tokens.starts)[np.minimum(first, n_tokens - 1)] == base + layer.start
        is_on_tokens &= (origin + tokens.ends)[np.minimum(last, n_tokens - 1)] == base + layer.end
    edges = sentence_bounds(documents)
    is_across = np.searchsorted(edges, first, side="right") != np.searchsorted(edges, last, side="right")
    overlaps = np.zeros(len(layer), bool)
    if len(layer) > 1:
        reach = np.maximum.accumulate(np.where(is_on_tokens, last, -1))
        overlaps[1:] = first[1:] <= reach[:-1]
    is_discontinuous = np.zeros(len(layer), bool)
    is_discontinuous[list(layer.fragments)] = True
    reasons = (
        (is_discontinuous, "is discontinuous"),
        (~is_on_tokens, "does not begin and end with a token"),
        (overlaps, "overlaps another span"),
        (is_across, "reaches over the end of a sentence"),
    )
    problems = ProblemList()
    for span in np.flatnonzero(np.any([mask for mask, _ in reasons], axis=0)).tolist():
        reason = next(reason for mask, reason in reasons if mask[span])
        what = f"span [{layer.start[span]}, {layer.end[span]}) {quoted(layer.text(span))} ({layer.label(span)})"
        document = quoted(documents.ids[int(layer.doc[span])])
        finding = f"document {document}: {what} {reason}, and {needed_by} counts tags, which cannot say that"
        problems.append(Problem(layer.name, None, finding, "leave the span out, or choose another convention"))
    if problems:
        raise FormatError(problems)
    return first, last


def sentence_bounds(documents: Documents) -> Int64:
    """Return the number of each sentence's first token, and of all tokens; a document without sentences is one."""
    assert documents.tokens is not None
    first = documents.tokens.first
    if documents.sentences is None:
        return np.unique(first)
    cuts = set(first.tolist())
    for number, (low, high) in enumerate(pairwise(first.tolist())):
        begins = [start for start, _ in documents.sentences.of_document(number)]
        cuts.update((low + np.searchsorted(documents.tokens.starts[low:high], begins)).tolist())
    return np.array(sorted(cuts), np.int64)
