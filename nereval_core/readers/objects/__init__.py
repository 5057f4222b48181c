"""Spans held as Python objects: a list for each document, of dicts, of tuples, or of the tags of its tokens.

- dicts: `{"start": 0, "end": 3, "label": "PER"}`, code points, end exclusive, the names of the native format;
- tuples: `(0, 3, "PER")`: start, end and type;
- tags: `"B-PER"`, `"O"`, one a token, in one of the tag schemes; where no words are given, offsets are tokens.

Documents are called by their place in the list, from "0" on. Without texts nothing is known of a document but its spans
or tokens: it is taken to end with its last span, and nothing can be asked that looks at words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from os import PathLike
from typing import Any

import numpy as np

from nereval_core.corpus import Documents, Labels, document_problems, frozen, layer
from nereval_core.problems import FormatError, Problem, quoted
from nereval_core.readers import Reading, Source
from nereval_core.readers.objects.columns import Found, at_once, one_by_one
from nereval_core.readers.objects.documents import (
    documents_of_spans,
    documents_of_tags,
    other_counts,
    unequal,
    without_texts,
)
from nereval_core.readers.shared.tag_schemes import SCHEMES, Repair, Scheme, Tags, decode, detect, faults, scheme_named

MEND = 'mend it, or read it with read_objects(…, repair="conlleval") or "discard"'


def is_objects(given: object) -> bool:
    """Tell whether something is a list of documents, rather than a place or places to read them from."""
    if not isinstance(given, (list, tuple)):
        return False
    return not given or not all(isinstance(one, (Source, str, PathLike)) for one in given)


def read_objects(
    documents: Sequence[Sequence[Any]],
    *,
    texts: Documents | Sequence[str] | Sequence[Sequence[str]] | None = None,
    name: str = "gold",
    scheme: str | None = None,
    repair: Repair | None = None,
) -> Reading:
    """Return the spans of Python objects as a layer of this name; see the module for what they may be.

    `texts` are strings, for tags the words of each document, or the documents of another layer: in the same order.
    `scheme` (None: the one that fits) and `repair` are about tags.

    Raises:
        FormatError: with every problem found, its place written as `gold[3][17]`: document and span, from 0.
    """
    found = at_once(documents, name) or one_by_one(documents, name)
    if found.form == "tag":
        return _of_tags(found, texts, scheme, repair)
    known = documents_of_spans(found, texts)
    problems = found.problems
    if known is None:
        known, offsets = without_texts(found)
        problems += offsets
    elif known is not texts:
        problems += document_problems(known, lambda number: (f"texts[{number}]", None))
    made = layer(
        name, known, found.documents(), found.start, found.end, found.labels, where=found.place, problems=problems
    )
    return Reading(known, made, "", source=name)


def levelled(gold: Reading, pred: Reading) -> tuple[Reading, Reading]:
    """Return both sides over the same documents where neither has texts; else as they are.

    A document then ends with the last span of either side.

    Raises:
        FormatError: one side alone has texts, or counts in tokens; unequal numbers of documents or of tokens.
    """
    ours, theirs = gold.documents, pred.documents
    if ours is theirs or (ours.sizes is None and theirs.sizes is None):
        return gold, pred
    if ours.sizes is None or theirs.sizes is None:
        bare, other = (gold, pred) if ours.sizes is not None else (pred, gold)
        found = f"no texts, and {other.source or 'the other side'} has some"
        raise FormatError.single(bare.source, None, found, "give the same texts: read_objects(…, texts=…)")
    if len(ours) != len(theirs):
        raise FormatError.single(pred.source, None, *unequal(len(theirs), len(ours), "gold has"))
    held = [documents for documents, side in ((ours, gold), (theirs, pred)) if documents.tokens or len(side.layer)]
    if len({documents.tokens is None for documents in held}) > 1:
        counted = (
            "tokens where gold counts characters" if ours.tokens is None else "characters where gold counts tokens"
        )
        raise FormatError.single(pred.source, None, f"offsets count {counted}", "give both sides in one form")
    if ours.tokens and theirs.tokens:
        counts = (np.diff(theirs.tokens.first), np.diff(ours.tokens.first))
        if problems := other_counts(pred.source, *counts, "gold has"):
            raise FormatError(problems)
    tokens = ours.tokens or theirs.tokens
    common = replace(ours, tokens=tokens, sizes=frozen(np.maximum(ours.sizes, theirs.sizes)))
    one, two = (replace(side, documents=common, layer=replace(side.layer, documents=common)) for side in (gold, pred))
    return one, two


def _of_tags(found: Found, texts: Any, scheme: str | None, repair: Repair | None) -> Reading:
    """Return the spans of tags over their tokens.

    Raises:
        FormatError: as `read_objects`.
    """
    known = documents_of_tags(found, texts)
    assert known.tokens is not None
    if found.tagged is None:
        tags = Tags.of(found.tags, found.first)
    else:
        tags = Tags.coded(found.tagged, found.labels.codes, found.labels.names, found.first)
    taken, notes = _scheme(tags, found, scheme)
    strange = sorted({*tags.odd, *found.odd})
    problems = found.problems
    remedy = "write O, or a letter, '-' and a type"
    problems += [Problem(*found.place(at), f"{quoted(found.tag(at))} is no tag", remedy) for at in tags.odd]
    beside = {token + step for token in strange for step in (-1, 0, 1)}
    broken = faults(tags, taken) if taken and not repair else []
    problems += [Problem(*found.place(at), told, MEND) for at, told in broken if at not in beside]
    if problems:
        raise FormatError(problems)
    chunks = decode(tags, taken or SCHEMES["IOB2"], repair)
    starts, ends = known.tokens.starts[chunks.start], known.tokens.ends[chunks.end - 1]
    made = layer(
        found.name,
        known,
        found.documents(chunks.start),
        starts,
        ends,
        Labels(chunks.type, tags.names),
        where=lambda span: found.place(int(chunks.start[span])),
        problems=document_problems(known, lambda number: (f"texts[{number}]", None)) if known.sizes is None else (),
    )
    mended = ""
    if chunks.mended:
        count = f"{chunks.mended} malformed chunk{'s' if chunks.mended > 1 else ''}"
        mended = f"{count} {'cut as conlleval does' if repair == 'conlleval' else 'discarded'}"
        notes += (mended,)
    return Reading(known, made, "", notes, scheme=taken.name if taken else None, source=found.name, mended=mended)


def _scheme(tags: Tags, found: Found, given: str | None) -> tuple[Scheme | None, tuple[str, ...]]:
    if given is not None:
        scheme = scheme_named(given)
        return scheme, (f"tag scheme {scheme.name} (given)",)
    detected = detect(tags)
    if detected.rivals:
        fits = f"the tags fit {', '.join(detected.rivals)}, which part here"
        remedy = "name the scheme: read_objects(…, scheme=…)"
        raise FormatError([*found.problems, Problem(*found.place(detected.parting), fits, remedy)])
    if detected.scheme is None:
        return None, ("no tag but O: the scheme cannot be told",)
    least = f"no scheme fits; this one is broken least, {detected.broken} times" if detected.broken else "detected"
    return detected.scheme, (f"tag scheme {detected.scheme.name} ({least})",)
