"""The selection of what is scored: the documents on a list, and types under other names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

import numpy as np

from nereval_core.corpus.arrays import Int64
from nereval_core.pairing import PairBy, Paired, Pairing, pair
from nereval_core.problems import FormatError, Problem, counted, quoted
from nereval_core.readers import Reading, Source
from nereval_core.readers.input.file_text import split_lines

if TYPE_CHECKING:
    from nereval_core.pairing.type_names import TypeNames


@dataclass(frozen=True, kw_only=True)
class Selection:
    """The documents that are scored, None for all, and other names for the types of gold and of predictions.

    Most are of all documents and of the types as read, so that what renames types is imported where it is needed.
    """

    documents: DocumentIds | None = None
    gold_types: TypeNames | None = None
    pred_types: TypeNames | None = None

    def __bool__(self) -> bool:
        return self != Selection()

    def of_gold(self, gold: Reading) -> Reading:
        """Return the selected part of gold.

        Raises:
            FormatError: it has none of the selected documents.
        """
        if self.gold_types is not None:
            gold = _renamed(gold, self.gold_types)
        if self.documents is None:
            return gold
        selected = select_listed(gold, self.documents)
        if not len(selected.documents):
            raise FormatError(unknown_ids(self.documents, [gold]))
        return selected

    def of_pred(self, pred: Reading, whole: Reading, *, pair_by: PairBy = "auto") -> Reading:
        """Return the selected part of a prediction, which is paired by id with `whole`, all of gold.

        Documents that are not paired by id all stay: `paired` selects among them. Where some ids match, documents stay
        whose text is that of a selected document that the prediction does not have by id.
        """
        if self.pred_types is not None:
            pred = _renamed(pred, self.pred_types)
        if self.documents is None or pair_by != "auto" or not _paired_by_id(pred, whole):
            return pred
        return select_listed(pred, self.documents, _with_selected_text(pred, whole, self.documents))

    def paired(self, gold: Reading, pred: Reading, whole: Reading, **pairing: Unpack[Pairing]) -> Paired:
        """Return the prediction's layer over the selected documents of gold.

        `gold` and `pred` are the results of `of_gold` and `of_pred`. Where documents are paired by order or by text,
        all of them are paired before the selection.

        Raises:
            FormatError: as `pair`.
        """
        if self.documents is None or pred.restricted:
            return pair(gold, pred, **pairing)
        from nereval_core.corpus.subset import select_spans

        all_of_gold = replace(whole, restricted=gold.restricted, mapped=gold.mapped)
        pairing_result = pair(all_of_gold, pred, **pairing)
        numbers = listed_numbers(whole, self.documents)
        note = f"restricted to {gold.restricted}, those of gold they are paired with"
        layer = select_spans(pairing_result.layer, numbers, gold.documents)
        return replace(pairing_result, layer=layer, notes=(*pairing_result.notes, note))

    def unknown_documents(self, readings: Iterable[Reading]) -> Iterator[Problem]:
        """Yield a problem for each selected document that no reading has."""
        if self.documents is not None:
            yield from unknown_ids(self.documents, readings)

    def unused_names(self, gold: Reading, systems: Iterable[Reading]) -> tuple[str, ...]:
        """Return notes on renamed types that no span has, on the sides where they are renamed."""
        if self.gold_types is None and self.pred_types is None:
            return ()
        from nereval_core.pairing.type_names import unused_names

        systems = tuple(systems)
        if self.gold_types == self.pred_types:
            sides = [(self.gold_types, (gold, *systems), "no span")]
        else:
            sides = [(self.gold_types, (gold,), "no gold span"), (self.pred_types, systems, "no prediction")]
        return tuple(
            f"{names.source}: {who} has the type {', '.join(map(quoted, lost))}"
            for names, readings, who in sides
            if names is not None and (lost := unused_names(names, readings))
        )


@dataclass(frozen=True)
class DocumentIds:
    """Distinct ids of documents and the place of the list; `lines` are empty where the list is not a file."""

    ids: tuple[str, ...]
    source: str = "documents"
    lines: tuple[int, ...] = ()

    def problem(self, name: str, finding: str, remedy: str) -> Problem:
        """Return a problem of one of the ids, at its line."""
        return Problem(self.source, dict(zip(self.ids, self.lines, strict=False)).get(name), finding, remedy)


def document_ids(text: str) -> DocumentIds:
    """Return the ids in a file, one per line, or, if no file has that name, the ids in the comma-separated list.

    Raises:
        FormatError: no id in it, or a file that cannot be read.
    """
    if text and Path(text).is_file():
        return listed_ids(Source.of_path(text).files[0].text(), source=text)
    return _distinct_ids(enumerate(name.strip() for name in text.split(",")), "--documents", lines=False)


def listed_ids(text: str, *, source: str) -> DocumentIds:
    """Return the ids in a text, one per line; empty lines are skipped, blanks at the ends are kept.

    Raises:
        FormatError: no id in it.
    """
    rows = ((line, name) for line, name in enumerate(split_lines(text), start=1) if name.strip())
    return _distinct_ids(rows, source, lines=True)


def _distinct_ids(names: Iterable[tuple[int, str]], source: str, *, lines: bool) -> DocumentIds:
    line_of_id: dict[str, int] = {}
    for line, name in names:
        if name:
            line_of_id.setdefault(name, line)
    if not line_of_id:
        raise FormatError.single(source, None, "no document id in it", "write ids, one per line or separated by commas")
    return DocumentIds(tuple(line_of_id), source, tuple(line_of_id.values()) if lines else ())


def restricted(reading: Reading, ids: DocumentIds | Iterable[str]) -> Reading:
    """Return a reading of the listed documents alone, in the order of the reading; the signature states it.

    Raises:
        FormatError: an id that no document has, or an empty list of ids.
    """
    listed = _ids(ids)
    problems = list(unknown_ids(listed, [reading]))
    if problems:
        raise FormatError(problems)
    return select_listed(reading, listed)


def select_listed(reading: Reading, ids: DocumentIds, more: Iterable[int] = ()) -> Reading:
    """Return a reading of the listed documents that it has, possibly none, and of the documents `more`, by number."""
    from nereval_core.readers.shared.layer_parts import restrict_reading

    numbers = np.union1d(listed_numbers(reading, ids), np.fromiter(more, np.int64))
    share = f"{len(numbers)} of {counted(len(reading.documents), 'document')}"
    return replace(
        restrict_reading(reading, numbers), restricted=share, notes=(*reading.notes, f"restricted to {share}")
    )


def listed_numbers(reading: Reading, ids: DocumentIds) -> Int64:
    """Return the numbers of the listed documents that a reading has, increasing."""
    index = reading.documents.index
    return np.array(sorted(index[name] for name in ids.ids if name in index), np.int64)


def unknown_ids(ids: DocumentIds, readings: Iterable[Reading]) -> Iterator[Problem]:
    """Yield a problem for each id that no document of these readings has."""
    all_documents = [reading.documents for reading in readings]
    first = quoted(all_documents[0].ids[0])
    for name in ids.ids:
        if not any(name in documents.index for documents in all_documents):
            yield ids.problem(name, f"no document is called {quoted(name)}", f"write ids as in the files, as {first}")


def _ids(ids: DocumentIds | Iterable[str]) -> DocumentIds:
    if isinstance(ids, DocumentIds):
        return ids
    return _distinct_ids(enumerate([ids] if isinstance(ids, str) else ids), "documents", lines=False)


def _renamed(reading: Reading, names: TypeNames) -> Reading:
    from nereval_core.pairing.type_names import mapped

    return mapped(reading, names)


def _paired_by_id(pred: Reading, whole: Reading) -> bool:
    ours, theirs = whole.documents, pred.documents
    return ours.named and theirs.named and theirs is not ours and not ours.index.keys().isdisjoint(theirs.ids)


def _with_selected_text(pred: Reading, whole: Reading, ids: DocumentIds) -> list[int]:
    """Return the documents whose id gold does not have, but whose text is that of a selected document."""
    ours, theirs = whole.documents, pred.documents
    selected_texts = {
        ours.texts[ours.index[name]] for name in ids.ids if name in ours.index and name not in theirs.index
    }
    if not selected_texts:
        return []
    foreign = (number for number, name in enumerate(theirs.ids) if name not in ours.index)
    return [number for number in foreign if theirs.texts[number] in selected_texts]
