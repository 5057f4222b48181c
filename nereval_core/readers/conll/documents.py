"""Divide the tokens of files of columns into documents: as marked, else by file, else by sentence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from nereval_core.arrays import Int64
from nereval_core.corpus import Place, Unit
from nereval_core.problems import Problem, quoted
from nereval_core.readers.conll.blocks import PackedRows
from nereval_core.readers.conll.rows import DocumentMark, ListedRows

AnyRows = ListedRows | PackedRows


@dataclass(slots=True)
class DocumentUnits:
    """Documents by the number of their first sentence, with ids and places.

    `written_ids` are the ids as they stand in the files, where a file repeats one; else they are empty.
    """

    first: Sequence[int]
    ids: tuple[str, ...]
    named: bool
    places: Sequence[Place]
    notes: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    unit: Unit = "document"
    written_ids: tuple[str, ...] = ()


def document_units(rows: AnyRows, sentences: Int64, files: int) -> DocumentUnits:
    """Return the documents as marked, else the files, else the sentences."""
    marks = rows.found.marks
    if any(mark.kind == "newdoc" for mark in marks):
        # Where new documents are marked, `# id` names sentences.
        marks = [mark for mark in marks if mark.kind != "id"]
    if files > 1:
        marks = _with_files(marks, rows)
    if not marks:
        return _sentence_units(rows, sentences)
    kept: list[DocumentMark] = []
    kinds = {mark.kind for mark in marks}
    for mark in marks if len(kinds) > 1 else ():
        # -DOCSTART- and an id line right after it mark one document.
        if kept and (kept[-1].kind, kept[-1].token) == ("docstart", mark.token) and mark.kind != "docstart":
            kept.pop()
        kept.append(mark)
    kept = kept or list(marks)
    notes: list[str] = []
    if kept[0].token > 0:
        kept.insert(0, _unmarked(rows, 0, kept))
        if kept[0].name is not None:
            notes.append(f"tokens before the first document id: a document of their own, {quoted(kept[0].name)}")
    unnamed = [mark for mark in kept if mark.name is None]
    units = DocumentUnits(
        np.searchsorted(sentences[:-1], [mark.token for mark in kept]).tolist(),
        tuple(map(str, range(1, len(kept) + 1)) if unnamed else (mark.name or "" for mark in kept)),
        not unnamed,
        tuple(mark.place for mark in kept),
        notes,
    )
    if unnamed and len(unnamed) < len(kept):
        units.problems += [
            Problem(*mark.place, "a document without an id where others have one", "give each document an id, or none")
            for mark in unnamed
        ]
    elif unnamed:
        units.notes.append(f"documents have no ids: numbered 1 to {len(kept)}")
    else:
        _number_repeated_ids(units)
    return units


def _number_repeated_ids(units: DocumentUnits) -> None:
    """Number the documents that repeat an id of their file, as those of JNLPBA's test set do: d, d#2.

    Ids that two files share stay: two versions of one text are not two documents.
    """
    keys = [(name, place[0]) for name, place in zip(units.ids, units.places, strict=True)]
    repeated = len(keys) - len(set(keys))
    if not repeated:
        return
    counts: Counter[tuple[str, str]] = Counter()
    known = set(units.ids)
    ids = []
    for name, file in keys:
        number = counts[name, file] = counts[name, file] + 1
        own = name if number == 1 else f"{name}#{number}"
        while number > 1 and own in known:
            own += "#"
        ids.append(own)
    units.written_ids, units.ids = units.ids, tuple(ids)
    example = next(name for name, written in zip(ids, units.written_ids, strict=True) if name != written)
    units.notes.append(f"documents that repeat an id of the file, numbered apart: {repeated}, as {quoted(example)}")


def _unmarked(rows: AnyRows, token: int, marks: Sequence[DocumentMark]) -> DocumentMark:
    """Return a mark for sentences from this token on that stand before the first mark of their file.

    A part of a corpus may begin inside a document. Where the others have names it is called after its first sentence,
    else, at the beginning of all, by a number that is no other's name.
    """
    names = {mark.name for mark in marks}
    numbers = map(str, range(len(names) + 1)) if token == 0 else ()
    offered = () if None in names else (rows.found.sentence_ids.get(token), *numbers)
    name = next((name for name in offered if name and name not in names), None)
    return DocumentMark("docstart", name, token, rows.place(token))


def _with_files(marks: Sequence[DocumentMark], rows: AnyRows) -> list[DocumentMark]:
    """Return the marks with one more for each file that has none."""
    found = list(marks)
    marked = {mark.place[0] for mark in marks}
    files = [*rows.found.files, rows.count]
    for (low, high), file in zip(pairwise(files), rows.found.sources, strict=True):
        if file.shown not in marked:
            found.append(DocumentMark("newdoc", file.stem, low, rows.place(low) if low < high else (file.shown, None)))
        elif low < next(mark.token for mark in marks if mark.place[0] == file.shown):
            found.append(_unmarked(rows, low, marks))
    return sorted(found, key=lambda mark: mark.token)


def _sentence_units(rows: AnyRows, sentences: Int64) -> DocumentUnits:
    count = len(sentences) - 1
    places = rows.places(sentences[:-1])
    if rows.found.sentence_ids:
        names = [rows.found.sentence_ids.get(token, "") for token in sentences[:-1].tolist()]
        if all(names) and len(set(names)) == count:
            note = f"no documents marked: each sentence is a unit ({count}, named by sent_id)"
            return DocumentUnits(range(count), tuple(names), True, places, [note], unit="sentence")
    note = f"no documents marked: each sentence is a unit ({count}, numbered)"
    return DocumentUnits(range(count), tuple(map(str, range(1, count + 1))), False, places, [note], unit="sentence")
