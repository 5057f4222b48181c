"""Digests of content, computed document by document, so that those of the parts of a corpus give that of the whole.

The hash of a document is a SHA-256 over its content. The digest of several is a SHA-256 over their hashes in sorted
order: neither the order of documents nor their distribution over files matters.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nereval_core.corpus.texts import Texts

Hashes = NDArray[np.uint8]
"""SHA-256 hashes, shape (documents, 32)."""
HASH_BYTES = 32

SPAN = np.dtype([("start", "<i4"), ("end", "<i4"), ("type", "<u8")])
"""The hashed form of a span: offsets in code points, and the first eight bytes of the SHA-256 of its type's name."""


def combined(kind: str, hashes: Hashes) -> str:
    """Return the digest (hex) of documents, or of their spans, from the hash of each.

    The concatenated hashes of the parts of a corpus give the digest of the whole; `kind` makes digests of documents,
    layers and tokens differ.
    """
    rows = np.sort(np.ascontiguousarray(hashes).view(f"S{HASH_BYTES}").ravel())
    return hashlib.sha256(kind.encode() + b"\n" + rows.tobytes()).hexdigest()


def document_hashes(ids: Sequence[str], texts: Sequence[str]) -> Hashes:
    """Hash each document: the length of its id (8 bytes, little endian), the id and the text, both in UTF-8."""
    parts: Iterable[Any] = map(texts.raw, range(len(texts))) if isinstance(texts, Texts) else map(str.encode, texts)
    sha = hashlib.sha256
    hashes = bytearray()
    for name, text in zip(ids, parts, strict=True):
        raw = name.encode()
        hashes += sha(b"".join((len(raw).to_bytes(8, "little"), raw, text))).digest()
    return _rows(hashes)


def span_hashes(
    documents: Hashes,
    first: NDArray[np.int64],
    start: NDArray[Any],
    end: NDArray[Any],
    type: NDArray[Any],
    types: Sequence[str],
    extras: Mapping[int, Sequence[Any]],
) -> Hashes:
    """Hash the spans of each document together with the document's own hash.

    Spans are sorted by document, start, end, type and fragments; those of document d are `first[d]` to `first[d + 1]`.
    `extras` are further properties of some spans, in JSON types. They are hashed in sorted order, as equal spans with
    different properties have no order of their own.
    """
    names = np.array([_number(name) for name in types], np.uint64)
    rows = np.empty(len(start), SPAN)
    rows["start"], rows["end"] = start, end
    rows["type"] = names[type] if len(types) else 0
    raw = rows.tobytes()
    more: dict[int, list[str]] = {}
    for span in sorted(extras):
        doc = int(np.searchsorted(first, span, side="right")) - 1
        place = [int(start[span]), int(end[span]), types[int(type[span])]]
        more.setdefault(doc, []).append(json.dumps([*place, *extras[span]]))
    own = documents.tobytes()
    sha = hashlib.sha256
    hashes = bytearray()
    for doc, (low, high) in enumerate(pairwise((first * SPAN.itemsize).tolist())):
        # The number of spans separates them from the properties that follow.
        content = own[HASH_BYTES * doc : HASH_BYTES * (doc + 1)] + (high - low).to_bytes(8, "little") + raw[low:high]
        if doc in more:
            content += json.dumps(sorted(more[doc])).encode()
        hashes += sha(content).digest()
    return _rows(hashes)


def _number(name: str) -> int:
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "little")


def _rows(digests: bytearray) -> Hashes:
    hashes = np.frombuffer(bytes(digests), np.uint8).reshape(-1, HASH_BYTES)
    hashes.setflags(write=False)
    return hashes
