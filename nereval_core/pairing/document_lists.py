"""Lists of document ids, and readings restricted to the documents on them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from nereval_core.arrays import Int64
from nereval_core.problems import FormatError, Problem, counted, quoted
from nereval_core.readers import Reading, Source
from nereval_core.readers.input.encodings import split_lines


@dataclass(frozen=True)
class DocumentIds:
    """Distinct ids of documents and the place of the list; `lines` are empty where the list is no file."""

    ids: tuple[str, ...]
    source: str = "documents"
    lines: tuple[int, ...] = ()

    def problem(self, name: str, found: str, remedy: str) -> Problem:
        """Return a problem of one of the ids, at its line."""
        return Problem(self.source, dict(zip(self.ids, self.lines, strict=False)).get(name), found, remedy)


def document_ids(given: str, *, source: str = "--documents") -> DocumentIds:
    """Return the ids in a file, one per line, or, if no file has that name, the ids in the comma-separated list.

    Raises:
        FormatError: no id in it, or a file that cannot be read.
    """
    if given and Path(given).is_file():
        return listed_ids(Source.of_path(given).files[0].text(), source=given)
    return _distinct_ids(enumerate(name.strip() for name in given.split(",")), source, lines=False)


def listed_ids(text: str, *, source: str) -> DocumentIds:
    """Return the ids in a text, one per line; empty lines are skipped, blanks at the ends are kept.

    Raises:
        FormatError: no id in it.
    """
    rows = ((line, name) for line, name in enumerate(split_lines(text), start=1) if name.strip())
    return _distinct_ids(rows, source, lines=True)


def _distinct_ids(names: Iterable[tuple[int, str]], source: str, *, lines: bool) -> DocumentIds:
    found: dict[str, int] = {}
    for line, name in names:
        if name:
            found.setdefault(name, line)
    if not found:
        raise FormatError.single(source, None, "no document id in it", "write ids, one per line or separated by commas")
    return DocumentIds(tuple(found), source, tuple(found.values()) if lines else ())


def restricted(reading: Reading, ids: DocumentIds | Iterable[str]) -> Reading:
    """Return a reading of the listed documents alone, in the order of the reading; the signature states it.

    Raises:
        FormatError: an id that no document has, or no id.
    """
    wanted = _ids(ids)
    problems = list(unknown_ids(wanted, [reading]))
    if problems:
        raise FormatError(problems)
    return select_listed(reading, wanted)


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
    known = [reading.documents for reading in readings]
    first = quoted(known[0].ids[0])
    for name in ids.ids:
        if not any(name in documents.index for documents in known):
            yield ids.problem(name, f"no document is called {quoted(name)}", f"write ids as in the files, as {first}")


def _ids(given: DocumentIds | Iterable[str]) -> DocumentIds:
    if isinstance(given, DocumentIds):
        return given
    return _distinct_ids(enumerate([given] if isinstance(given, str) else given), "documents", lines=False)
