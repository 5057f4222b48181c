"""Check spans and make a layer of them: the one way in for every reader."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import pairwise
from math import isfinite
from types import MappingProxyType
from typing import Any

import numpy as np

from nereval_core.corpus.arrays import Bools, Int64, frozen
from nereval_core.corpus.documents import Documents, Place, encodable
from nereval_core.corpus.intervals import Integers, offset_array
from nereval_core.corpus.layers import SPAN_KEYS, Labels, Layer, span_order
from nereval_core.problems import FormatError, Problem, counted, quoted, quoted_apart

SEVERAL_TAGS = re.compile(r"\S+(?:\s+(?:O|[BIMELSUW]-\S+))+")
"""The type of a span whose tag was that of a whole sentence."""


def layer(
    name: str,
    documents: Documents,
    doc: Sequence[int] | Integers,
    start: Sequence[int] | Integers,
    end: Sequence[int] | Integers,
    label: Sequence[str],
    *,
    quotes: Mapping[int, str] | None = None,
    extras: Mapping[str, Mapping[int, Any]] | None = None,
    where: Callable[[int], Place] | None = None,
    unplaced: Collection[int] = (),
    problems: Iterable[Problem] = (),
) -> Layer:
    """Check the spans and return them as a sorted layer: the one way in for every reader.

    Offsets are code points, end exclusive; `extras` maps each of SPAN_KEYS to values by span; `where` gives the source
    and line of a span. A reader of columns may give `label` as Labels, without making strings. `problems` are those
    that the reader found; they are reported together with those found here. Spans that are `unplaced` are empty and at
    the end of the text: predicted words that stand nowhere in it, which overlap nothing.

    Raises:
        FormatError: offsets outside the text, start >= end, fragments not sorted and disjoint or not spanning the
            span, a quote that differs from the text, a core outside its span, an empty type or one that is several
            tags, a bad number or link.
    """
    all_problems = list(problems)
    where = where or (lambda span: (name, None))
    more = {key: dict((extras or {}).get(key, {})) for key in SPAN_KEYS}
    texts, ids = documents.texts, documents.ids
    docs = np.asarray(doc, np.int64).reshape(-1)
    lengths = documents.lengths[docs] if len(docs) else np.zeros(0, np.int64)
    starts, ends = offset_array(start), offset_array(end)

    bad = (starts < 0) | (starts >= ends) | (ends > lengths)
    for span in unplaced:
        bad[span] = not starts[span] == ends[span] == lengths[span]
    all_problems.extend(
        Problem(
            *where(i),
            f"span [{start[i]}, {end[i]}) of document {quoted(ids[docs[i]])} is not inside its text of "
            f"{counted(lengths[i], 'character')}",
            f"use code points with 0 <= start < end <= {lengths[i]}",
        )
        for i in np.flatnonzero(bad).tolist()
    )
    labels = Labels.of(label)
    unusable = [code for code, value in enumerate(labels.names) if not value or not encodable(value)]
    all_problems.extend(
        Problem(*where(i), "a span without a usable type", "give it a type name")
        for i in (np.flatnonzero(np.isin(labels.codes, unusable)).tolist() if unusable else ())
    )

    of_tags = {code: value for code, value in enumerate(labels.names) if SEVERAL_TAGS.fullmatch(value)}
    all_problems.extend(
        Problem(
            *where(i),
            f"the type {quoted(of_tags[int(labels.codes[i])])} is several tags",
            "write one token and one tag a line, or a list of each",
        )
        for i in (np.flatnonzero(np.isin(labels.codes, list(of_tags))).tolist() if of_tags else ())
    )

    def text_of(span: int) -> str:
        parts = more["fragments"].get(span) or ((starts[span], ends[span]),)
        return " ".join(texts[docs[span]][a:b] for a, b in parts)

    for i, parts in more["fragments"].items():
        if not bad[i]:
            all_problems.extend(_fragment_problems(parts, int(starts[i]), int(ends[i]), where(i)))
    # A single fragment over the whole span adds nothing to the span.
    more["fragments"] = {i: tuple(map(tuple, parts)) for i, parts in more["fragments"].items() if len(parts) > 1}
    for i, quote in (quotes or {}).items():
        if not bad[i] and text_of(i) != quote:
            here, elsewhere = quoted_apart(quote, text_of(i))
            all_problems.append(
                Problem(
                    *where(i),
                    f"the quoted text {here} is not the text at [{starts[i]}, {ends[i]}), {elsewhere}",
                    "check offsets (code points, end exclusive), line ends and text version",
                )
            )
    all_problems.extend(_extra_problems(more, starts, ends, lengths, bad, where))
    if all_problems:
        raise FormatError(all_problems)

    coded, types = labels.sorted()
    if len(types) > np.iinfo(np.int16).max:
        raise FormatError.single(name, None, f"{len(types)} types", "use at most 32,767 types")
    codes = coded.astype(np.int16)
    order = span_order(docs, starts, ends, codes, more["fragments"])
    if order is not None:
        docs, starts, ends, codes = docs[order], starts[order], ends[order], codes[order]
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        more = {key: {int(place[i]): value for i, value in extra.items()} for key, extra in more.items()}
    metadata: dict[str, Any] = {key: MappingProxyType(extra) for key, extra in more.items()}
    return Layer(
        name,
        documents,
        frozen(docs.astype(np.int32)),
        frozen(starts.astype(np.int32)),
        frozen(ends.astype(np.int32)),
        frozen(codes),
        types,
        None if order is None else frozen(order.astype(np.int32)),
        **metadata,
    )


def _fragment_problems(parts: Sequence[Sequence[int]], start: int, end: int, place: Place) -> Iterable[Problem]:
    """Yield a problem where fragments are not sorted, overlap, or do not reach from start to end of the span."""
    flat = [edge for part in parts for edge in part]
    # Fragments that touch are kept: they are how some tools write a line break inside a span.
    fine = all(a < b for a, b in parts) and all(first[1] <= second[0] for first, second in pairwise(parts))
    if not fine or (flat and (flat[0] != start or flat[-1] != end)):
        yield Problem(
            *place,
            f"fragments {[list(part) for part in parts]} of span [{start}, {end})",
            "give them sorted, disjoint and together reaching from the span's start to its end",
        )


def _extra_problems(
    more: Mapping[str, Mapping[int, Any]],
    starts: Int64,
    ends: Int64,
    lengths: Int64,
    bad: Bools,
    where: Callable[[int], Place],
) -> Iterable[Problem]:
    """Yield the problems of cores, alternatives, scores and links; `bad` marks spans with refused offsets."""
    for i, core in more["cores"].items():
        if not bad[i] and not starts[i] <= core[0] < core[1] <= ends[i]:
            yield Problem(
                *where(i),
                f"core {list(core)} is not inside its span [{starts[i]}, {ends[i]})",
                "give the core as [start, end) in the document",
            )
    for i, alternatives in more["alternatives"].items():
        for low, high in alternatives:
            if not 0 <= low < high <= lengths[i]:
                yield Problem(
                    *where(i),
                    f"alternative [{low}, {high}) is not inside the text of {counted(lengths[i], 'character')}",
                    "give alternatives as [start, end) in the document",
                )
    for i, score in more["scores"].items():
        if not isfinite(score):
            yield Problem(*where(i), f"score {score} is not a finite number", "give a number or leave it out")
    # Few links are wrong, and many are alike.
    wrong = {links for links in set(more["links"].values()) if not (all(links) and all(map(encodable, links)))}
    for i, links in more["links"].items() if wrong else ():
        if links in wrong:
            yield Problem(*where(i), "an empty or unreadable concept id", "leave the link out or name a concept")
