"""Make documents and a layer of entities from CLEF-HIPE files that were read block by block."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nereval_core.arrays import Int64
from nereval_core.corpus import Documents, Intervals, Labels, Layer, Place, document_problems, frozen, layer
from nereval_core.corpus.intervals import SpacedIntervals
from nereval_core.corpus.texts import Texts
from nereval_core.problems import FormatError
from nereval_core.readers import ReadOptions
from nereval_core.readers.hipe.blocks import PackedFiles
from nereval_core.readers.hipe.rows import HipeDocument
from nereval_core.readers.shared.text_pieces import without_bytes
from nereval_core.readers.shared.token_columns import NotJudged

NO_LINK = ("", "_", "-")
TAG = re.compile(r"([BIES])-(.+)", re.DOTALL)
BEGINS, CONTINUES = 1, 2


@dataclass
class TaggedTokens:
    """Documents, and the tokens tagged otherwise than O with their cells, as arrays."""

    documents: Documents
    places: tuple[Place, ...]
    tokens: Int64
    doc: Int64
    letters: NDArray[np.int8]
    types: NDArray[np.int32]
    names: tuple[str, ...]
    links: NDArray[np.int32]
    noise: NDArray[np.float64]


def tagged_tokens(packed: PackedFiles) -> TaggedTokens:
    """Return the documents and the tagged tokens of files.

    Raises:
        Unjudged: something is wrong with it.
    """
    arrays = packed.arrays
    found = [document for parsed in packed.files for document in parsed.documents]
    if not found or not packed.tokens:
        raise NotJudged
    first = np.array([*packed.firsts, packed.tokens], np.int64)
    documents = _documents(packed, found, first)
    places = tuple((document.shown, document.line) for document in found)
    letters, types, names = _kinds(packed.tags.names)
    tokens, codes = arrays.whole("tagged"), arrays.whole("codes")
    levels = np.array([*packed.flags.noise, np.nan], np.float64)
    return TaggedTokens(
        documents,
        places,
        tokens,
        np.searchsorted(first, tokens, side="right") - 1,
        letters[codes],
        types[codes],
        names,
        arrays.whole("linked"),
        levels[arrays.whole("noise")],
    )


def _documents(packed: PackedFiles, found: Sequence[HipeDocument], first: Int64) -> Documents:
    named = any(document.name for document in found)
    if named and not all(document.name for document in found):
        raise NotJudged
    ids = tuple(document.name or str(number) for number, document in enumerate(found, start=1))
    arrays = packed.arrays
    gaps = arrays.whole("gaps")
    filled = np.diff(first) > 0
    last = first[1:][filled] - 1
    # The gap after the last token of a document is dropped.
    offsets = np.array([*packed.first_bytes, packed.bytes], np.int64)
    dropped = np.zeros(len(found), np.int64)
    dropped[filled] = gaps[last]
    ends = offsets[1:][dropped > 0] - 1
    offsets[1:] -= np.cumsum(dropped)
    tokens = SpacedIntervals(first, arrays.whole("sizes"), gaps)
    lengths = np.zeros(len(found), np.int64)
    lengths[filled] = tokens.ends[last]
    texts = Texts(without_bytes(arrays.parts("text"), ends), offsets, lengths)
    meta = tuple(document.meta for document in found)
    return Documents(ids, texts, tokens, _sentences(arrays.whole("ended"), tokens), meta if any(meta) else None, named)


def _sentences(ended: Int64, tokens: Intervals) -> Intervals | None:
    """Return the sentences, which end at these tokens and with the documents in which any ends."""
    if not len(ended):
        return None
    first = tokens.first
    doc = np.searchsorted(first, ended, side="right") - 1
    with_any = np.flatnonzero(np.bincount(doc))
    inner = ended[ended + 1 < first[doc + 1]] + 1
    begins, ends = np.zeros((2, len(tokens.starts) + 1), np.bool_)
    begins[first[with_any]] = begins[inner] = True
    ends[first[with_any + 1] - 1] = ends[ended] = True
    begin, end = np.flatnonzero(begins), np.flatnonzero(ends)
    count = np.bincount(np.searchsorted(first, begin, side="right") - 1, minlength=len(first) - 1)
    edges = np.concatenate((np.zeros(1, np.int64), np.cumsum(count)))
    return Intervals(frozen(edges), frozen(tokens.starts[begin]), frozen(tokens.ends[end]))


def _kinds(cells: Sequence[bytes]) -> tuple[NDArray[np.int8], NDArray[np.int32], tuple[str, ...]]:
    """Return of each tag whether it begins or continues an entity, and its type."""
    letters, types = [], []
    names: dict[str, int] = {}
    for cell in cells:
        match = TAG.fullmatch(cell.decode())
        if match is None:
            raise NotJudged
        letters.append(BEGINS if match[1] in "BS" else CONTINUES)
        types.append(names.setdefault(match[2], len(names)))
    return np.array(letters, np.int8), np.array(types, np.int32), tuple(names)


@dataclass
class Entities:
    """Entities by their first and last tagged token, `last` included.

    `noise` is that of the noisiest token, NaN for none; `orphans` counts those that begin with a tag that continues
    nothing.
    """

    first: Int64
    last: Int64
    noise: NDArray[np.float64]
    orphans: int


def join_entities(found: TaggedTokens, options: ReadOptions) -> Entities:
    """Return the entities, mended as the options say.

    Raises:
        Unjudged: a tag continues nothing, and that is to be refused.
    """
    tokens, types, inside = found.tokens, found.types, found.letters == CONTINUES
    follows = np.zeros(len(tokens), np.bool_)
    follows[1:] = (np.diff(tokens) == 1) & (found.doc[1:] == found.doc[:-1]) & (types[1:] == types[:-1])
    first = np.flatnonzero(~(follows & inside))
    last = np.append(first, len(tokens))[1:] - 1
    orphan = inside[first]
    orphans = int(orphan.sum())
    if orphans and options.repair is None:
        raise NotJudged
    noise = np.fmax.reduceat(found.noise, first) if len(first) else np.zeros(0)
    if options.repair == "discard":
        first, last, noise = first[~orphan], last[~orphan], noise[~orphan]
    return Entities(first, last, noise, orphans)


def entity_layer(found: TaggedTokens, chosen: Entities, links: Sequence[bytes], name: str) -> Layer:
    """Return the entities as a layer with links and noise.

    Raises:
        Unjudged: something is wrong with documents or spans.
    """
    documents, first, last = found.documents, chosen.first, chosen.last
    assert documents.tokens is not None
    given = [tuple(one for one in cell.decode().split("|") if one) for cell in links]
    given = [() if cell.decode() in NO_LINK else link for cell, link in zip(links, given, strict=True)]
    # The code of a file without links is -1.
    given.append(())
    codes = found.links[first]
    linked = np.flatnonzero(np.fromiter(map(bool, given), np.bool_, len(given))[codes])
    noisy = np.flatnonzero(np.isfinite(chosen.noise))
    levels, level_of = np.unique(chosen.noise[noisy], return_inverse=True)
    level = [{"LED": value} for value in levels.tolist()]
    extras: dict[str, Mapping[int, Any]] = {
        "links": dict(zip(linked.tolist(), map(given.__getitem__, codes[linked].tolist()), strict=True)),
        "meta": dict(zip(noisy.tolist(), map(level.__getitem__, level_of.tolist()), strict=True)),
    }
    try:
        return layer(
            name,
            documents,
            found.doc[first],
            documents.tokens.starts[found.tokens[first]],
            documents.tokens.ends[found.tokens[last]],
            Labels(found.types[first], found.names),
            extras=extras,
            problems=document_problems(documents, found.places.__getitem__),
        )
    except FormatError:
        raise NotJudged from None
