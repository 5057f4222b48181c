"""Layers as the columns of a CLEF-HIPE file that say the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from typing import Any

import numpy as np

from nereval_core.arrays import Int64
from nereval_core.conventions.hipe.columns import Column, Pair
from nereval_core.conventions.hipe.files import DAY
from nereval_core.conventions.hipe.versions import MENTIONS, Version
from nereval_core.corpus import Layer
from nereval_core.problems import FormatError
from nereval_core.readers.shared.token_tags import tagged, tokenized

LINKS = "NEL-LIT"
NERC = {"nerc_coarse": "NE-COARSE-LIT", "nerc_fine": "NE-FINE-LIT"}


def pair_of_layers(gold: Layer, pred: Layer, version: Version, options: Mapping[str, Any]) -> Pair:
    """Return layers over the same documents as a pair of one column of tags, for linking with one of links too.

    Raises:
        FormatError: spans that tags cannot say.
    """
    linking = options["task"] == "nel"
    name = MENTIONS[LINKS] if linking else NERC[options["task"]]
    documents, notes = tokenized(gold.documents)
    sides: list[dict[str, Column]] = []
    for layer in (replace(gold, documents=documents), replace(pred, documents=documents)):
        first, last = _tokens(layer, version.name)
        columns = {name: _tags(layer, first, last)}
        if linking:
            columns[LINKS] = _links(layer, first, last)
        sides.append(columns)
    assert documents.tokens is not None, "tags stand beside tokens"
    sizes = np.diff(documents.tokens.first)
    days = [_day_of(str(meta.get("date", ""))) for meta in documents.meta or ()] or [0] * len(documents)
    return Pair(
        documents,
        sides[0],
        sides[1],
        np.repeat(np.arange(len(sizes)), sizes),
        np.repeat(np.array(days, np.int64), sizes),
        np.full(len(documents.tokens.starts), np.nan),
        None,
        gold.name,
        noisy=False,
        notes=notes,
    )


def _day_of(text: str) -> int:
    """Return a date as an ordinal number, 0 where it is none."""
    match = DAY.search(text)
    try:
        return date.fromisoformat(match[0]).toordinal() if match else 0
    except ValueError:
        return 0


def _tokens(layer: Layer, name: str) -> tuple[Int64, Int64]:
    """Return first and last token of each span.

    Raises:
        FormatError: as `tagged`; sentences do not matter here.
    """
    documents = replace(layer.documents, sentences=None)
    tokens = documents.tokens
    assert tokens is not None, "tags stand beside tokens"
    origin = np.repeat(documents.base[:-1], np.diff(tokens.first))
    base = documents.base[layer.doc]
    starts, ends = origin + tokens.starts, origin + tokens.ends
    first = np.searchsorted(starts, base + layer.start)
    last = np.searchsorted(ends, base + layer.end)
    held = np.minimum(last, max(len(ends) - 1, 0)), np.minimum(first, max(len(starts) - 1, 0))
    fits = not len(layer) or (
        len(starts) > 0
        and not layer.fragments
        and bool(np.all(starts[held[1]] == base + layer.start))
        and bool(np.all(ends[held[0]] == base + layer.end))
        and bool(np.all(first[1:] > last[:-1]))
    )
    if not fits:
        tagged(replace(layer, documents=documents), name)
        raise FormatError.single(layer.name, None, f"{name} cannot say its spans as tags", "choose another convention")
    return first.astype(np.int64), last.astype(np.int64)


def _tags(layer: Layer, first: Int64, last: Int64) -> Column:
    """Return IOB2 tags: code 0 is O, then B- and I- of each type in turn."""
    assert layer.documents.tokens is not None
    cells = ("O", *(f"{letter}-{name}" for name in layer.types for letter in "BI"))
    codes = np.zeros(len(layer.documents.tokens.starts), np.int32)
    codes[_inside(first, last)] = np.repeat(2 * layer.type.astype(np.int32) + 2, last - first + 1)
    codes[first] = 2 * layer.type.astype(np.int32) + 1
    return Column(codes, cells)


def _links(layer: Layer, first: Int64, last: Int64) -> Column:
    """Return the links of spans, ranked ones parted by |, on each of their tokens; `_` for none."""
    assert layer.documents.tokens is not None
    known = {"_": 0}
    span_codes = np.zeros(len(layer), np.int32)
    for span, links in layer.links.items():
        span_codes[span] = known.setdefault("|".join(links) or "_", len(known))
    codes = np.zeros(len(layer.documents.tokens.starts), np.int32)
    codes[_inside(first, last)] = np.repeat(span_codes, last - first + 1)
    return Column(codes, tuple(known))


def _inside(first: Int64, last: Int64) -> Int64:
    sizes = last - first + 1
    before: Int64 = np.cumsum(sizes) - sizes
    return np.arange(int(sizes.sum())) - np.repeat(before, sizes) + np.repeat(first, sizes)
