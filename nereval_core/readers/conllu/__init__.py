"""CoNLL-U with entities in MISC: tags (`NE=B-PER`), or brackets as in CorefUD and GUM (`Entity=(e1-person)`).

In CoNLL-U Plus they stand in a column of their own, which `# global.columns` names (`CONLL:NER`).

The text is that of `# text` and SpaceAfter. A document begins at `# newdoc`; without, each sentence is one, as in
other CoNLL files, of several files each file, and where entities are in brackets, which go beyond sentences, each file.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from nereval_core.corpus import Documents, Intervals, Place, Unit, document_problems, layer
from nereval_core.problems import FormatError, Problem, ProblemList, counted, either_option, quoted
from nereval_core.readers import Reader, Reading, ReadOptions, Source
from nereval_core.readers.conll.layout import is_tag
from nereval_core.readers.conllu.brackets import entities_of, places_of
from nereval_core.readers.conllu.texts import (
    NUMBER,
    SENTENCE,
    ColumnNames,
    WordDocument,
    WordNode,
    WordSentence,
    document_of,
    layout_of,
    sentences_of,
    value_of,
)
from nereval_core.readers.input.source import SourceFile, unread_files_note, with_progress
from nereval_core.readers.shared.tag_cells import is_gold_word, is_named_like_prediction, kind_of_cells
from nereval_core.readers.shared.tag_reading import SpanBounds, TagCells, reading_of_tags

KEY = re.compile(r"(?:[^|=]*:)?(?:NE|NER|name|Entity)", re.IGNORECASE)
"""A usual key of entities."""
OUTSIDE = ("", "_", "O")


class ConlluReader(Reader):
    name = "conllu"
    description = (
        "CoNLL-U with entities in MISC or a named column, as tags (NE=B-PER) or in brackets (Entity=(e1-person))"
    )
    suffixes = (".conllu", ".conllup")
    has_columns = True

    def recognise(self, source: Source) -> float:
        """Claim ten columns after a number with entities in the last; those without are left to columns of tags.

        Be as sure of as many columns as are named at the top, one of them having entities or tags.
        """
        head = source.head_of(_files(source)[0]).lines
        layout = next(filter(None, map(layout_of, (line for line in head if line.startswith("#")))), ColumnNames())
        rows = [line.split("\t") for line in head if line and not line.startswith("#") and not line.isspace()]
        full = [row for row in rows if len(row) == len(layout.names)]
        full = [row for row in full if NUMBER.fullmatch(layout.cell(row, "ID") or "1")]
        if not rows or len(full) < 0.8 * len(rows):
            return 0.0
        cells = (layout.cell(row, name) for row in full for name in layout.extra)
        has_keys = any(_has_usual_key(layout.misc(row)) for row in full)
        return 1.0 if has_keys or any(map(is_tag, filter(None, cells))) else 0.7

    def read(self, source: Source, options: ReadOptions) -> Reading:
        """Read the entities under one key of MISC, which `options.column` may name.

        Raises:
            FormatError: with every problem found: rows, texts, brackets, tags that break the scheme; no entities, or
                several keys that may be meant.
        """
        files = _files(source)
        problems = ProblemList()
        sentences = [
            sentence for file in with_progress(files, options.progress) for sentence in sentences_of(file, problems)
        ]
        if not sentences and not problems:
            problems.append(Problem(source.name, None, "no words in it", "write ten columns a word"))
        if problems:
            raise FormatError(problems)
        key, bracketed = _key(source, sentences, options.column)
        grouped, named, unit, notes = _documents(sentences, problems, whole=bracketed or len(files) > 1)
        if problems:
            raise FormatError(problems)
        places = tuple((document.source, document.line) for document in grouped)
        documents = Documents(
            tuple(document.name for document in grouped),
            tuple(document.text for document in grouped),
            Intervals.of([document.tokens for document in grouped]),
            Intervals.of([document.spans for document in grouped]),
            named=named,
            unit=unit,
        )
        name = options.name or source.label
        if bracketed:
            reading = _reading_of_brackets(name, documents, grouped, key, places)
        else:
            reading = reading_of_tags(name, self.name, documents, _tag_cells(grouped, key), options, places=places)
        origin = f"the column {key}" if key in _columns(sentences) else f"{key} in MISC"
        style = "in brackets" if bracketed else "as tags"
        notes = [f"entities taken from {origin}, {style}", *reading.notes, *notes, *unread_files_note(source, files)]
        return replace(reading, notes=tuple(notes))


READER = ConlluReader()


def _has_usual_key(misc: str) -> bool:
    return any(KEY.fullmatch(pair.partition("=")[0]) for pair in misc.split("|") if "=" in pair)


def _files(source: Source) -> tuple[SourceFile, ...]:
    return source.pick(*ConlluReader.suffixes)


def _key(source: Source, sentences: Sequence[WordSentence], column: int | str | None) -> tuple[str, bool]:
    """Return under which key of MISC entities stand, and whether they are in brackets.

    Raises:
        FormatError: nothing stands under any, or under several.
    """
    layout = sentences[0].layout
    if isinstance(column, int) and 0 < column <= len(layout.names) and layout.names[column - 1] in layout.extra:
        column = layout.names[column - 1]
    cells = _cells_by_key(sentences)
    # Values under `name` are entities only where they are tags.
    usual = {
        key: values
        for key, values in cells.items()
        if KEY.fullmatch(key) and (key.lower() != "name" or all(map(is_tag, values)))
    }
    if isinstance(column, int):
        finding = f"column {column} is asked for, and entities stand in MISC, the last"
        remedy = f"name their key: {either_option('--column', list(usual) or ['KEY'])}"
        raise FormatError.single(source.name, None, finding, remedy)
    if column is not None:
        if usual and column not in cells:
            finding = f"nothing under {quoted(column)} in MISC, and entities under {' and '.join(usual)}"
            remedy = f"name one that is there: {either_option('--column', usual)}"
            raise FormatError.single(source.name, None, finding, remedy)
        candidates = {column: cells.get(column, [])}
    else:
        extra = {key: cells.get(key, []) for key in _columns(sentences)}
        candidates = usual or {key: values for key, values in extra.items() if values and all(map(is_tag, values))}
        candidates |= {
            key: values
            for key, values in cells.items()
            if key not in candidates and (is_gold_word(key) or is_named_like_prediction(key))
            if kind_of_cells(values) in ("tags", "labels")
        }
    if not candidates:
        finding = "no entities: no NE=, NER=, name= or Entity= in MISC, the last column"
        raise FormatError.single(source.name, None, finding, "name the key that they stand under: --column KEY")
    if len(candidates) > 1:
        finding = f"entities under {' and '.join(candidates)}"
        raise FormatError.single(source.name, None, finding, f"name one: {either_option('--column', candidates)}")
    [(key, values)] = candidates.items()
    return key, any("(" in value or ")" in value for value in values) and not any(map(is_tag, values))


def _cells_by_key(sentences: Sequence[WordSentence]) -> dict[str, list[str]]:
    """Return the values under each key of MISC but those for outside, of MISC cells that are equal those of one.

    The columns that CoNLL-U does not have are keys too. A key that has O alone has no values; one without any value is
    not there.
    """
    cells: dict[str, list[str]] = {}
    for misc in dict.fromkeys(row.misc for sentence in sentences for row in sentence.rows):
        for pair in misc.split("|"):
            key, _, value = pair.partition("=")
            if value not in ("", "_"):
                values = cells.setdefault(key, [])
                if value != "O":
                    values.append(value)
    return cells


def _columns(sentences: Sequence[WordSentence]) -> tuple[str, ...]:
    """Return the columns of all files that CoNLL-U does not have."""
    return tuple(dict.fromkeys(name for sentence in sentences for name in sentence.layout.extra))


def _documents(
    sentences: Sequence[WordSentence], problems: list[Problem], *, whole: bool
) -> tuple[list[WordDocument], bool, Unit, list[str]]:
    """Return the documents, whether they have names, what each is, and notes on how they were divided.

    Where no document is marked each sentence is one, or with `whole` each file.
    """
    several = len({sentence.file.shown for sentence in sentences}) > 1
    marked = {sentence.file.shown for sentence in sentences if sentence.document is not None}
    groups: list[tuple[str, list[WordSentence]]] = []
    previous = None
    inside = 0
    for sentence in sentences:
        source = sentence.file.shown
        if source in marked or whole:
            begins = sentence.document is not None or source != previous
            name = sentence.file.stem if several and source not in marked else sentence.document or ""
            if begins and source in marked and sentence.document is None:
                # A part of a corpus may begin inside a document.
                name = sentence.comments.get(SENTENCE, "")
                inside += 1
        else:
            begins, name = True, sentence.comments.get(SENTENCE, "")
        if begins:
            groups.append((name, []))
        groups[-1][1].append(sentence)
        previous = source
    names = [name for name, _ in groups]
    notes: list[str] = []
    units = not marked and not whole
    named = all(names) and (not units or len(set(names)) == len(names))
    if inside:
        what = counted(inside, "document")
        notes.append(f"sentences before the first '# newdoc' taken for a document, called after the first: {what}")
    if any(names) and not named and not units:
        problems += [
            Problem(
                group[0].file.shown,
                group[0].line,
                "a document without an id where others have one",
                "give each an id: # newdoc id = …",
            )
            for name, group in groups
            if not name
        ]
    if units:
        how = "named by sent_id" if named else "numbered"
        notes.append(f"no documents marked: each sentence is a unit ({len(groups)}, {how})")
    elif not named:
        notes.append(f"documents have no ids: numbered 1 to {len(groups)}")
    if not named:
        groups = [(str(number), group) for number, (_, group) in enumerate(groups, start=1)]
    unit: Unit = "sentence" if units else "document"
    return [document_of(name, group, problems) for name, group in groups], named, unit, notes


def _reading_of_brackets(
    name: str, documents: Documents, grouped: Sequence[WordDocument], key: str, places: Sequence[Place]
) -> Reading:
    """Return the reading of entities in brackets.

    Raises:
        FormatError: with what is wrong with brackets, spans and documents.
    """
    problems = ProblemList()
    bounds: list[tuple[int, int, int]] = []
    labels: list[str] = []
    span_places: list[Place] = []
    fragments: dict[int, Sequence[tuple[int, int]]] = {}
    links: dict[int, tuple[str, ...]] = {}
    counts: Counter[str] = Counter()
    for number, document in enumerate(grouped):
        for entity in entities_of(document, key, problems):
            parts = places_of(entity, document.nodes, counts)
            if not parts:
                continue
            counts[f"entities without a type, called {quoted(key)}"] += not entity.label
            if len(parts) > 1:
                fragments[len(bounds)] = parts
            if entity.link:
                links[len(bounds)] = (entity.link,)
            bounds.append((number, parts[0][0], parts[-1][1]))
            labels.append(entity.label or key)
            span_places.append((document.source, entity.line))
    problems += document_problems(documents, places.__getitem__)
    if problems:
        raise FormatError(problems)
    doc, start, end = np.array(bounds, np.int64).reshape(-1, 3).T
    spans = layer(
        name,
        documents,
        doc,
        start,
        end,
        labels,
        extras={"fragments": fragments, "links": links},
        where=span_places.__getitem__,
    )
    notes = tuple(f"{what}: {count}" for what, count in sorted(counts.items()) if count)
    return Reading(documents, spans, ConlluReader.name, notes, places=places)


def _tag_cells(documents: Sequence[WordDocument], key: str) -> TagCells:
    """Return the tags of words; a tag of a multiword token goes before those of its words."""
    nodes: list[WordNode] = []
    owners: list[int] = []
    cells: list[str] = []
    first = [0]
    for number, document in enumerate(documents):
        for low, high in pairwise(document.bounds):
            for node, tag in _tags(document.nodes[low:high], key):
                nodes.append(node)
                owners.append(number)
                cells.append("O" if tag in OUTSIDE else tag)
            first.append(len(nodes))
    starts, ends = (np.array([getattr(node, edge) for node in nodes], np.int32) for edge in ("start", "end"))

    def place(token: int) -> Place:
        return documents[owners[token]].source, nodes[token].line

    return TagCells(cells, first, place, token_bounds=SpanBounds(np.array(owners, np.int64), starts, ends))


def _tags(nodes: Sequence[WordNode], key: str) -> Iterator[tuple[WordNode, str]]:
    """Yield the tag of each word of a sentence that is in the text."""
    reached = -1
    for node in nodes:
        wide = value_of(node.wide, key) if node.wide else None
        if node.start < 0 or (wide is not None and node.start == reached):
            continue
        reached = node.start
        yield node, wide if wide is not None else value_of(node.misc, key) or "O"
