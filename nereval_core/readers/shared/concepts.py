"""Concept ids without spans: the codes of each document, and mappings of one id to another. Both are TSV files.

Codes: `document<TAB>code`, or `document<TAB>type<TAB>code` (as the shared tasks on clinical coding write them), one a
line; a folder may hold a file for each document, and an empty one is a document without codes. Mappings: `id<TAB>id`,
or the form of HIPE's relaxed evaluation: under the header `Main`, an id and then all that count as it.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from nereval_core.problems import FormatError, Problem, ProblemList, counted, quoted
from nereval_core.readers.input.source import Source, SourceFile, unread_files_note

HEADS = frozenset({"file", "filename", "document", "document_id", "doc", "doc_id", "articleid", "id"})
CODES = frozenset({"code", "codes", "concept", "concept_id", "id", "label", "labels"})
"""First and last cells of a header, in small letters."""
MAIN = "main"
NO_VALUE = ("", "#N/A")
"""Cells of a mapping of HIPE's form that hold no id."""

Place = tuple[str, int]


@dataclass(frozen=True, eq=False)
class Index:
    """The set of concept ids of each document, by document id; `notes` say what was passed over."""

    name: str
    documents: Mapping[str, frozenset[str]]
    notes: tuple[str, ...] = ()

    @cached_property
    def digest(self) -> str:
        """SHA-256 (hex) of documents and ids, whatever order they were read in."""
        sha = hashlib.sha256(b"index\n")
        for document, ids in sorted(self.documents.items()):
            sha.update(json.dumps([document, sorted(ids)]).encode())
        return sha.hexdigest()


def read_index(source: Source | str | os.PathLike[str]) -> Index:
    """Read the codes of documents from a TSV file or a folder of them; an id is taken once for a document.

    Raises:
        FormatError: with every problem found: another number of cells, an empty document id or code, a document in two
            parts.
    """
    source = source if isinstance(source, Source) else Source.of_path(source)
    if source.parts:
        return _united(source)
    files = source.pick(".tsv")
    problems = ProblemList()
    documents: dict[str, set[str]] = {}
    repeated = empty = headers = 0
    for file in files:
        rows = list(_rows(file, problems))
        if rows and _is_header(rows[0][1]):
            headers += 1
            del rows[0]
        elif not rows and len(files) > 1:
            documents.setdefault(file.stem.rpartition("/")[2], set())
            empty += 1
        wide = len(rows[0][1]) if rows else 0
        for line, cells in rows:
            wrong = _wrong_row(cells, wide)
            if wrong:
                problems.append(Problem(file.shown, line, *wrong))
                continue
            codes = documents.setdefault(cells[0], set())
            repeated += cells[-1] in codes
            codes.add(cells[-1])
    if not documents and not problems:
        problems.append(Problem(source.name, None, "no code in it", "write document<tab>code, one a line"))
    if problems:
        raise FormatError(problems)
    notes = [
        f"{what}: {count}"
        for what, count in (
            ("headers passed over", headers),
            ("codes that a document has more than once, taken once", repeated),
            ("empty files, documents without codes", empty),
        )
        if count
    ]
    ids_of_document = {name: frozenset(codes) for name, codes in documents.items()}
    return Index(source.label, ids_of_document, (*notes, *unread_files_note(source, files)))


def _united(source: Source) -> Index:
    """Return the codes of all parts of a source.

    Raises:
        FormatError: as `read_index`.
    """
    documents: dict[str, frozenset[str]] = {}
    homes: dict[str, str] = {}
    problems = ProblemList()
    notes: list[str] = []
    for part in source.parts:
        index = read_index(part)
        remedy = "give each document once, or call two systems by two names: NAME=PATH"
        problems += [
            Problem(part.name, None, f"document {quoted(name)} stands in {homes[name]} already", remedy)
            for name in index.documents
            if name in homes
        ]
        homes |= dict.fromkeys(index.documents, part.name)
        documents |= index.documents
        notes += [f"{part.name}: {note}" for note in index.notes]
    if problems:
        raise FormatError(problems)
    return Index(source.label, documents, tuple(notes))


def read_mapping(source: Source | str | os.PathLike[str]) -> dict[str, str]:
    """Read which id counts as which other one; a mapping is not followed further from where it leads.

    Of URLs in a file of HIPE's form the last part is the id.

    Raises:
        FormatError: with every problem found: a line of another form, an id that is mapped to two others.
    """
    source = source if isinstance(source, Source) else Source.of_path(source)
    problems = ProblemList()
    mapping: dict[str, str] = {}
    places: dict[str, Place] = {}

    def add(place: Place, id: str, other_id: str) -> None:
        if mapping.setdefault(id, other_id) != other_id:
            first = f"{places[id][0]}:{places[id][1]}"
            finding = f"{quoted(id)} is mapped to {quoted(other_id)} here and to {quoted(mapping[id])} at {first}"
            problems.append(Problem(*place, finding, "map each id to one other"))
        places.setdefault(id, place)

    for file in source.pick(".tsv"):
        rows = list(_rows(file, problems))
        grouped = bool(rows) and rows[0][1][0].lower() == MAIN
        for line, cells in rows[1:] if grouped else rows:
            (_add_group if grouped else _add_pair)((file.shown, line), cells, add, problems)
    if not mapping and not problems:
        problems.append(Problem(source.name, None, "no mapping in it", "write id<tab>id, one a line"))
    if problems:
        raise FormatError(problems)
    return mapping


def _add_pair(place: Place, cells: list[str], add: Callable[[Place, str, str], None], problems: list[Problem]) -> None:
    if len(cells) != 2 or not all(cells):
        finding = f"{len(cells)} cell{'s' * (len(cells) > 1)}" if len(cells) != 2 else "an empty id"
        problems.append(Problem(*place, finding, "write id<tab>id: the first counts as the second"))
    else:
        add(place, *cells)


def _add_group(place: Place, cells: list[str], add: Callable[[Place, str, str], None], problems: list[Problem]) -> None:
    main, *others = (cell.rstrip("/").rpartition("/")[2] if cell not in NO_VALUE else "" for cell in cells)
    if not main:
        problems.append(Problem(*place, "no id in the first cell", "write the id that all others of the line count as"))
        return
    for other in others:
        if other and other != main:
            add(place, other, main)


def _rows(file: SourceFile, problems: list[Problem]) -> Iterator[tuple[int, list[str]]]:
    """Yield line number and cells of the lines that are not blank, blanks around the cells taken off."""
    try:
        lines = file.lines()
    except FormatError as error:
        problems += error.problems
        return
    for number, line in enumerate(lines, start=1):
        if line.strip():
            yield number, [cell.strip() for cell in line.split("\t")]


def _is_header(cells: list[str]) -> bool:
    return cells[0].lower() in HEADS and cells[-1].lower() in CODES and len(cells) > 1


def _wrong_row(cells: list[str], wide: int) -> tuple[str, str] | None:
    """Return what is wrong with a row of codes and how to mend it; `wide` is the number of cells in the first one."""
    remedy = "write document<tab>code, or document<tab>type<tab>code"
    if len(cells) not in (2, 3):
        return f"{len(cells)} cell{'s' * (len(cells) > 1)}", remedy
    if len(cells) != wide:
        return f"{counted(len(cells), 'cell')}, and {wide} in the first row of the file", "write as many in each row"
    if not cells[0] or not cells[-1]:
        return f"an empty {'code' if cells[0] else 'document id'}", remedy
    return None
