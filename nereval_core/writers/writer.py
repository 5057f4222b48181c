"""A writer of a format, and the parts of a layer that it cannot hold: listed first, and left out only on request.

The loss of span ids, tokens and sentences is only noted, for these are not annotations; the loss of any other part
changes the layer and is refused.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from nereval_core.corpus import Layer
from nereval_core.problems import FormatError, Problem, counted, quoted

ANNOTATION: Mapping[str, str] = {
    "links": "links",
    "rankings": "more than one link",
    "cores": "a core",
    "alternatives": "alternatives",
    "scores": "a score",
    "meta": "metadata",
}
"""Properties that a span may have, in words; `rankings` are links beyond the first."""
DOCUMENT_META = "document_meta"
NOTED: Mapping[str, str] = {"ids": "span ids", "tokens": "tokens", "sentences": "sentences"}
"""Parts of a layer whose loss is noted, not refused."""
FRAGMENTS = "fragments"
EVERYTHING = frozenset((*ANNOTATION, *NOTED, FRAGMENTS, DOCUMENT_META))
REMEDY = "leave out what it cannot hold: --lossy; or write jsonl, which holds everything"
UNPLACED, UNPLACED_REMEDY = "stands nowhere in its text", "leave it out: --lossy, or --unplaced drop"
"""The reason for which no format can state a span of words without a place, and what helps."""


class Writer(ABC):
    """A writer of one format."""

    name: ClassVar[str]
    description: ClassVar[str]
    holds: ClassVar[frozenset[str]]
    """The parts of a layer that the format has a place for, see `EVERYTHING`."""
    shard: ClassVar[str | None] = None
    """The suffix of its files, where many of them make one corpus; None for a format of folders."""

    @abstractmethod
    def write(self, layer: Layer, path: Path) -> tuple[str, ...]:
        """Write a layer without parts that the format does not hold; return notes on an unexpected form.

        Raises:
            FormatError: a place that cannot be written, or names that the format cannot write.
        """

    def unsayable(self, layer: Layer) -> Iterable[tuple[int, str]]:
        """Yield the spans that the format cannot state, with the reason."""
        return ()

    def changed(self, layer: Layer) -> Iterable[str]:
        """Yield messages about other changes of the layer in this format."""
        return ()

    def holds_meta(self, meta: Mapping[str, Any]) -> bool:
        """Return whether the format, which has no place for all metadata of spans, can say this."""
        return False

    def escaping_formulas(self) -> Writer | None:
        """Return the writer of files in which no cell is a formula, None where no spreadsheet opens the format."""
        return None


@dataclass(frozen=True)
class Losses:
    """The parts of a layer that are lost in a format.

    `spans` are the spans that it cannot state, by number with the reason; `properties` counts, by key of ANNOTATION,
    the spans with a property that it has no place for, and `documents` the documents with metadata that it has no place
    for. `changes` are messages about other changes, `noted` the parts whose loss is not refused.
    """

    writer: Writer
    spans: Mapping[int, str]
    properties: Mapping[str, int]
    documents: int
    changes: tuple[str, ...]
    noted: tuple[str, ...]

    def refusal(self, layer: Layer, path: Path) -> FormatError | None:
        """Return the error to raise if nothing may be lost, None where nothing would be lost."""
        ids = layer.documents.ids
        problems = [
            (
                f"document {quoted(ids[layer.doc[span]])}: span [{layer.start[span]}, {layer.end[span]}) "
                f"{quoted(layer.text(span))} ({layer.label(span)}) {why}",
                UNPLACED_REMEDY if why == UNPLACED else REMEDY,
            )
            for span, why in sorted(self.spans.items())
        ]
        problems += [(f"{self.writer.name} has no place for {words}", REMEDY) for words in self._without_place()]
        problems += [(change, REMEDY) for change in self.changes]
        return FormatError(Problem(os.fspath(path), None, *problem) for problem in problems) if problems else None

    def notes(self) -> tuple[str, ...]:
        """Return notes that count the parts left out or changed."""
        reasons: dict[str, int] = {}
        for why in self.spans.values():
            reasons[why] = reasons.get(why, 0) + 1
        notes = [f"spans left out, each {why}: {count}" for why, count in reasons.items()]
        lost = (*self._without_place(), *self.noted)
        notes += [f"{self.writer.name} has no place for them, left out: {', '.join(lost)}"] if lost else []
        return (*notes, *self.changes)

    def _without_place(self) -> list[str]:
        words = [f"{ANNOTATION[key]} of {counted(count, 'span')}" for key, count in self.properties.items()]
        return words + ([f"the metadata of {counted(self.documents, 'document')}"] if self.documents else [])


def find_losses(layer: Layer, writer: Writer) -> Losses:
    """Return the parts of a layer that a format cannot hold."""
    holds = writer.holds
    spans = dict(writer.unsayable(layer))
    if FRAGMENTS not in holds:
        spans |= dict.fromkeys(layer.fragments, "is discontinuous")
    spans |= dict.fromkeys(np.flatnonzero(layer.unplaced).tolist(), UNPLACED)
    several = {span for span, links in layer.links.items() if len(links) > 1}
    unheld = {span for span, meta in layer.meta.items() if not writer.holds_meta(meta)}
    having: Mapping[str, Any] = {
        key: several if key == "rankings" else unheld if key == "meta" else getattr(layer, key)
        for key in ANNOTATION
        # Without a place for a link there is none for a second one.
        if key not in holds and not (key == "rankings" and "links" not in holds)
    }
    documents = layer.documents
    described = 0 if DOCUMENT_META in holds else sum(map(bool, documents.meta or ()))
    present = {
        "ids": bool(layer.ids),
        "tokens": documents.tokens is not None,
        "sentences": documents.sentences is not None,
    }
    return Losses(
        writer,
        spans,
        {key: len(affected) for key, affected in having.items() if affected},
        described,
        tuple(writer.changed(layer)),
        tuple(words for part, words in NOTED.items() if part not in holds and present[part]),
    )


def remove_losses(layer: Layer, lost: Losses) -> Layer:
    """Return the layer without the parts that its losses name."""
    if lost.spans:
        layer = layer.take(np.setdiff1d(np.arange(len(layer)), list(lost.spans)))
    changes: dict[str, Any] = {key: {} for key in lost.properties if key != "rankings"}
    if "rankings" in lost.properties:
        changes["links"] = {span: links[:1] for span, links in layer.links.items()}
    if "meta" in lost.properties:
        changes["meta"] = {span: meta for span, meta in layer.meta.items() if lost.writer.holds_meta(meta)}
    if lost.documents:
        changes["documents"] = replace(layer.documents, meta=None)
    return replace(layer, **changes) if changes else layer
