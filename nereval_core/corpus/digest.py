"""Digests of content, made document by document, so that those of a corpus's parts make that of the whole.

A document's hash is a SHA-256 over what it holds. The digest of many is a SHA-256 over their hashes in sorted order:
neither the order of documents nor the way in which they lie in files matters.
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
"""A SHA-256 a row: shape (documents, 32)."""
SIZE = 32

SPAN = np.dtype([("start", "<i4"), ("end", "<i4"), ("type", "<u8")])
"""What is hashed of a span: offsets in code points, and the first eight bytes of the SHA-256 of its type's name."""


def combined(kind: str, hashes: Hashes) -> str:
    """Return the digest (hex) of documents, or of their spans, from the hash of each.

    The hashes of the parts of a corpus, one below the other, give the digest of the whole; `kind` keeps digests of
    different things apart.
    """
    rows = np.sort(np.ascontiguousarray(hashes).view(f"S{SIZE}").ravel())
    return hashlib.sha256(kind.encode() + b"\n" + rows.tobytes()).hexdigest()


def document_hashes(ids: Sequence[str], texts: Sequence[str]) -> Hashes:
    """Hash each document: the length of its id (8 bytes, little endian), the id and the text, both in UTF-8."""
    parts: Iterable[Any] = map(texts.raw, range(len(texts))) if isinstance(texts, Texts) else map(str.encode, texts)
    sha = hashlib.sha256
    found = bytearray()
    for name, text in zip(ids, parts, strict=True):
        raw = name.encode()
        found += sha(b"".join((len(raw).to_bytes(8, "little"), raw, text))).digest()
    return _rows(found)


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
    `extras` are further facts of some spans, which JSON can hold. They are hashed sorted, as equal spans with
    different ones stand in no order of their own.
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
    found = bytearray()
    for doc, (low, high) in enumerate(pairwise((first * SPAN.itemsize).tolist())):
        # With their number, so that what follows the spans is never taken for spans.
        content = own[SIZE * doc : SIZE * (doc + 1)] + (high - low).to_bytes(8, "little") + raw[low:high]
        if doc in more:
            content += json.dumps(sorted(more[doc])).encode()
        found += sha(content).digest()
    return _rows(found)


def _number(name: str) -> int:
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "little")


def _rows(found: bytearray) -> Hashes:
    hashes = np.frombuffer(bytes(found), np.uint8).reshape(-1, SIZE)
    hashes.setflags(write=False)
    return hashes
