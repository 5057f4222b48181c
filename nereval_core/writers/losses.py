"""What a format cannot hold of a layer: listed before anything is written, and left out only where that is asked for.

A writer says in `HOLDS` what its format has a place for. Names of spans, tokens and sentences are told where they go,
for they are no annotation; without all else the layer would be another.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nereval_core.corpus import Layer
from nereval_core.problems import FormatError, Problem, counted, quoted

if TYPE_CHECKING:
    from nereval_core.writers import Writer

ANNOTATION: Mapping[str, str] = {
    "links": "links",
    "rankings": "more than one link",
    "cores": "a core",
    "alternatives": "alternatives",
    "scores": "a score",
    "meta": "metadata",
}
"""What a span may have, in words; `rankings` are links beyond the first."""
DOCUMENT_META = "document_meta"
TOLD: Mapping[str, str] = {"ids": "span ids", "tokens": "tokens", "sentences": "sentences"}
"""What is told where there is no place for it."""
FRAGMENTS = "fragments"
EVERYTHING = frozenset((*ANNOTATION, *TOLD, FRAGMENTS, DOCUMENT_META))
REMEDY = "leave out what it cannot hold: --lossy; or write jsonl, which holds everything"

Unsayable = Iterable[tuple[int, str]]


@dataclass(frozen=True)
class Losses:
    """What of a layer is lost in a format.

    `spans` are those it cannot say, by number with the reason; `facts` count by key of ANNOTATION the spans that have
    what it has no place for; `documents` are those with metadata that it has none for; `changes` say what else would
    not be as it is, `told` what goes without harm.
    """

    format: str
    spans: Mapping[int, str] = field(default_factory=dict)
    facts: Mapping[str, int] = field(default_factory=dict)
    documents: int = 0
    changes: tuple[str, ...] = ()
    told: tuple[str, ...] = ()

    def refused(self, layer: Layer, path: Path) -> FormatError | None:
        """Return what is to be said if nothing may be lost, None where nothing would be."""
        ids = layer.documents.ids
        found = [
            f"document {quoted(ids[layer.doc[span]])}: span [{layer.start[span]}, {layer.end[span]}) "
            f"{quoted(layer.text(span))} ({layer.label(span)}) {why}"
            for span, why in sorted(self.spans.items())
        ]
        found += [f"{self.format} has no place for {one}" for one in self._without_place()]
        found += self.changes
        return FormatError(Problem(os.fspath(path), None, one, REMEDY) for one in found) if found else None

    def notes(self) -> tuple[str, ...]:
        """Return notes that count what was left out or changed."""
        reasons: dict[str, int] = {}
        for why in self.spans.values():
            reasons[why] = reasons.get(why, 0) + 1
        gone = [f"spans left out, each {why}: {count}" for why, count in reasons.items()]
        lost = (*self._without_place(), *self.told)
        gone += [f"{self.format} has no place for them, left out: {', '.join(lost)}"] if lost else []
        return (*gone, *self.changes)

    def _without_place(self) -> list[str]:
        words = [f"{ANNOTATION[fact]} of {counted(count, 'span')}" for fact, count in self.facts.items()]
        return words + ([f"the metadata of {counted(self.documents, 'document')}"] if self.documents else [])


def losses(layer: Layer, writer: Writer) -> Losses:
    """Return what of a layer a format cannot hold."""
    holds = writer.HOLDS
    spans: dict[int, str] = {}
    if FRAGMENTS not in holds:
        spans = dict.fromkeys(layer.fragments, "is discontinuous")
    unsayable: Callable[[Layer], Unsayable] | None = getattr(writer, "unsayable", None)
    if unsayable is not None:
        spans = dict(unsayable(layer)) | spans
    several = {span for span, links in layer.links.items() if len(links) > 1}
    having: Mapping[str, Any] = {
        fact: several if fact == "rankings" else getattr(layer, fact)
        for fact in ANNOTATION
        # Where there is no place for a link there is none for a second.
        if fact not in holds and not (fact == "rankings" and "links" not in holds)
    }
    documents = layer.documents
    described = 0 if DOCUMENT_META in holds else sum(map(bool, documents.meta or ()))
    there = {
        "ids": bool(layer.ids),
        "tokens": documents.tokens is not None,
        "sentences": documents.sentences is not None,
    }
    changed: Callable[[Layer], Iterable[str]] | None = getattr(writer, "changed", None)
    return Losses(
        writer.NAME,
        spans,
        {fact: len(found) for fact, found in having.items() if found},
        described,
        () if changed is None else tuple(changed(layer)),
        tuple(words for what, words in TOLD.items() if what not in holds and there[what]),
    )


def fitted(layer: Layer, lost: Losses) -> Layer:
    """Return the layer without what its losses name."""
    if lost.spans:
        layer = layer.take(np.setdiff1d(np.arange(len(layer)), list(lost.spans)))
    kept: dict[str, Any] = {fact: {} for fact in lost.facts if fact != "rankings"}
    if "rankings" in lost.facts:
        kept["links"] = {span: links[:1] for span, links in layer.links.items()}
    if lost.documents:
        kept["documents"] = replace(layer.documents, meta=None)
    return replace(layer, **kept) if kept else layer
