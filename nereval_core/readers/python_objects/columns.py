"""Columns of spans or tags from lists of Python objects, all at once, or one by one where something is wrong.

Lists with 100,000 spans are read in 0.02 s of CPU (tags: 0.06 s) all at once, and in 0.25 s (0.36 s) one by one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from nereval_core.corpus import Documents, Labels, Place
from nereval_core.corpus.arrays import Int64
from nereval_core.problems import Problem, ProblemList, counted, quoted
from nereval_core.readers.shared.tag_cells import Notation
from nereval_core.readers.shared.tag_decoding import Chunks
from nereval_core.readers.shared.tag_reading import SpanBounds, token_bounds
from nereval_core.readers.shared.tag_schemes import Tags

KEYS = ("start", "end", "label")
FORMS = "a dict with start, end and label, a tuple (start, end, type), or a tag such as 'B-PER'"
FARTHEST_OFFSET = 2**40
"""Offsets beyond this are cut: no text is so long, and they are refused all the same."""
BLOCK_DOCUMENTS = 200
"""Documents looked at together: few enough that their objects stay in the processor's cache."""

Form = Literal["dict", "tuple", "tag"]


@dataclass(slots=True)
class ObjectColumns:
    """Rows of spans, one a span, or of tags, one a token, document by document.

    `first` is each document's first row, shape (documents + 1,).
    """

    name: str
    form: Form | None
    sizes: Int64
    first: Int64
    problems: ProblemList = field(default_factory=ProblemList)
    start: Int64 = field(default_factory=lambda: np.zeros(0, np.int64))
    end: Int64 = field(default_factory=lambda: np.zeros(0, np.int64))
    labels: Labels = field(default_factory=lambda: Labels.of(()))
    cells: Sequence[str] = ()
    """One a token, where `tagged` is None."""
    tagged: Int64 | None = None
    """The tokens that are tagged otherwise than O, where these are known; their tags are the labels."""
    within: Int64 | None = None
    """The place of each row in its document, None where no row was left out."""
    odd: tuple[int, ...] = ()
    """Rows that are not tags, taken for O."""

    def documents(self, rows: Int64 | None = None) -> Int64:
        """Return the document of each of these rows, or of all."""
        if rows is None:
            return np.repeat(np.arange(len(self.sizes)), np.diff(self.first))
        return np.searchsorted(self.first, rows, side="right").astype(np.int64) - 1

    scores = None
    """Tags of Python objects have no probabilities."""

    def tags(self, notation: Notation) -> Tags:
        """Return the tags, read in a notation."""
        if self.tagged is None:
            return Tags.of(self.cells, self.first, notation.parse)
        return Tags.coded(self.tagged, self.labels.codes, self.labels.names, self.first, notation.parse)

    def written(self, token: int) -> str:
        """Return the tag of a token."""
        if self.tagged is None:
            return self.cells[token]
        at = int(np.searchsorted(self.tagged, token))
        return self.labels[at] if at < len(self.tagged) and self.tagged[at] == token else "O"

    @property
    def distinct(self) -> frozenset[str]:
        """The tags of all rows, each once."""
        if self.tagged is None:
            return frozenset(self.cells)
        return frozenset((*self.labels.names, *(["O"] if len(self.tagged) < self.first[-1] else [])))

    def bounds(self, chunks: Chunks, documents: Documents) -> SpanBounds:
        """Return the bounds of chunks in the documents."""
        return token_bounds(chunks, documents)

    def place(self, row: int) -> Place:
        doc = int(np.searchsorted(self.first, row, side="right")) - 1
        at = row - int(self.first[doc]) if self.within is None else int(self.within[row])
        return f"{self.name}[{doc}][{at}]", None


def rows_before(sizes: Int64) -> Int64:
    """Return the first row of each document, and the number of rows."""
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(sizes)))


def columns_of_objects(documents: Sequence[Sequence[Any]], name: str) -> ObjectColumns | None:
    """Return the columns of objects that are all right, None where any may not be."""
    form: Form | None = None
    sizes: list[int] = []
    columns: list[list[NDArray[Any]]] = [[np.zeros(0, np.int64)] for _ in range(3)]
    tokens = 0
    number: dict[str, int] = {}
    try:
        for low in range(0, len(documents), BLOCK_DOCUMENTS):
            block = documents[low : low + BLOCK_DOCUMENTS]
            if not set(map(type, block)) <= {list, tuple}:
                return None
            sizes += map(len, block)
            flat = list(chain.from_iterable(block))
            form = form or (_form(flat[0]) if flat else None)
            if flat:
                block_columns = _tagged(flat, tokens, number) if form == "tag" else _columns(flat, form, number)
                for column, values in zip(columns, block_columns, strict=False):
                    column.append(np.array(values, np.int64))
            tokens += len(flat)
    except (KeyError, TypeError, ValueError, OverflowError):
        return None
    if not set(map(type, number)) <= {str}:
        return None
    n_rows = np.array(sizes, np.int64)
    first = rows_before(n_rows)
    first_column, second_column, third_column = map(np.concatenate, columns)
    if form == "tag":
        return ObjectColumns(
            name, form, n_rows, first, tagged=first_column, labels=Labels(second_column, tuple(number))
        )
    return ObjectColumns(
        name, form, n_rows, first, start=first_column, end=second_column, labels=Labels(third_column, tuple(number))
    )


def _columns(flat: list[Any], form: Form | None, number: dict[str, int]) -> tuple[list[int], list[int], list[int]]:
    """Return start, end and coded type of dicts or tuples.

    Raises:
        KeyError, TypeError, ValueError: they are not what they must be.
    """
    # With all three keys and no more.
    if set(map(len, flat)) != {3} or (form == "tuple" and not set(map(type, flat)) <= {tuple, list}):
        raise ValueError
    if form == "dict":
        starts, ends, labels = [[item[key] for item in flat] for key in KEYS]
    else:
        starts, ends, labels = [[item[at] for item in flat] for at in range(3)]
    if set(map(type, starts)) != {int} or set(map(type, ends)) != {int}:
        raise ValueError
    return starts, ends, _coded(labels, number)


def _coded(labels: list[str], number: dict[str, int]) -> list[int]:
    try:
        return [number[label] for label in labels]
    except KeyError:
        for label in labels:
            number.setdefault(label, len(number))
    return [number[label] for label in labels]


def _tagged(flat: list[str], base: int, number: dict[str, int]) -> tuple[Int64, list[int]]:
    """Return the tokens that are tagged otherwise than O, the first of `flat` being `base`, and their coded tags.

    Raises:
        TypeError, ValueError: they are not what they must be.
    """
    raw = np.frombuffer(("\n".join(flat) + "\n").encode(), np.uint8)
    ends = np.flatnonzero(raw == ord("\n"))
    if len(ends) != len(flat):
        raise ValueError
    starts = np.zeros(len(ends), np.int64)
    starts[1:] = ends[:-1] + 1
    tokens = np.flatnonzero((raw[starts] != ord("O")) | (ends - starts != 1))
    return tokens + base, _coded([flat[token] for token in tokens.tolist()], number)


def checked_objects(documents: Sequence[Sequence[Any]], name: str) -> ObjectColumns:
    """Return the columns of objects, checked one by one, with all their problems."""
    problems = ProblemList()
    form: Form | None = None
    sizes: list[int] = []
    rows: list[tuple[int, int, int, int, str]] = []
    odd: list[int] = []
    for number, items in enumerate(documents):
        place = f"{name}[{number}]"
        if not isinstance(items, (list, tuple)):
            finding = f"{type_in_words(items)} where the list of a document should be"
            problems.append(Problem(place, None, finding, "give a list of spans or of tags for each document"))
            items = ()
        sizes.append(len(items))
        for at, item in enumerate(items):
            own = _form(item)
            form = form or own
            before = len(problems)
            start, end, label = 0, 1, "O"
            if own is None or own != form:
                remedy = f"write {FORMS}" if own is None else "give all spans of a side in one form"
                among = f" among {form}s" if form else ""
                problems.append(Problem(f"{place}[{at}]", None, f"{type_in_words(item)}{among}", remedy))
            elif own == "tag":
                label = str(item)
            else:
                start, end, label = _span(item, own, f"{place}[{at}]", problems)
            if len(problems) > before:
                odd.append(len(rows))
            if len(problems) == before or form == "tag":
                rows.append((number, at, start, end, label))
    columns = [np.array([row[key] for row in rows], np.int64) for key in range(4)]
    first = rows_before(np.bincount(columns[0], minlength=len(sizes)))
    object_columns = ObjectColumns(name, form, np.array(sizes, np.int64), first, problems, within=columns[1])
    if form == "tag":
        object_columns.cells, object_columns.odd = [row[4] for row in rows], tuple(odd)
    else:
        object_columns.start, object_columns.end, object_columns.labels = (
            columns[2],
            columns[3],
            Labels.of([row[4] for row in rows]),
        )
    return object_columns


def _form(item: object) -> Form | None:
    if isinstance(item, str):
        return "tag"
    return "dict" if isinstance(item, Mapping) else "tuple" if isinstance(item, (tuple, list)) else None


def _span(item: Any, form: Form, place: str, problems: list[Problem]) -> tuple[int, int, str]:
    """Return start, end and type of a dict or a tuple; its problems are added to `problems`."""
    if form == "tuple":
        if len(item) != 3:
            problems.append(Problem(place, None, counted(len(item), "value"), "write a tuple of start, end and type"))
            return 0, 1, ""
        item = dict(zip(KEYS, item, strict=True))
    if unknown := [key for key in item if key not in KEYS]:
        names = ", ".join(quoted(str(key)) for key in unknown)
        finding = f"the unknown key{'s' if len(unknown) > 1 else ''} {names}"
        problems.append(Problem(place, None, finding, f"known are {', '.join(KEYS)}; JSONL has more"))
    if missing := [key for key in KEYS if key not in item]:
        problems.append(Problem(place, None, f"no {' and no '.join(missing)}", f"give {', '.join(KEYS)}"))
        return 0, 1, ""
    for key in ("start", "end"):
        if not isinstance(item[key], (int, np.integer)) or isinstance(item[key], bool):
            remedy = "write an integer: code points from the start of the text"
            problems.append(Problem(place, None, f"{key} is {type_in_words(item[key])}", remedy))
            return 0, 1, ""
    if not isinstance(item["label"], str):
        finding = f"{'label' if form == 'dict' else 'type'} is {type_in_words(item['label'])}"
        problems.append(Problem(place, None, finding, "write a string"))
        return 0, 1, ""
    start, end = (max(-FARTHEST_OFFSET, min(FARTHEST_OFFSET, int(item[key]))) for key in ("start", "end"))
    return start, end, str(item["label"])


def type_in_words(value: object) -> str:
    if value is None:
        return "None"
    kinds = {str: "a string", bool: "true or false", int: "an integer", float: "a fraction"}
    return kinds.get(type(value), f"a {type(value).__name__}")
