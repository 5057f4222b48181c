"""Columns of tokens and tags, one token a line, as in the CoNLL shared tasks.

Columns are split by tabs where most lines have one, else by runs of blanks. The first holds the token, or, where it
counts the tokens of each sentence, the second. A blank line ends a sentence. Documents begin at `-DOCSTART-`,
`###MEDLINE:…`, `# newdoc id = …` or `# id = …`; `# sent_id = …` names sentences. Another line that begins with `#` is a
comment, unless it has as many columns as the others and a tag.
Tags stand in the one column that holds any, the chunks of CoNLL-2003 apart; of several one has to be named.
The text is rebuilt: tokens joined by one blank, sentences by a line end.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np

from nereval_core.corpus import Place, Unit, document_problems, layer
from nereval_core.problems import FormatError, Problem, ProblemList, counted, either_option, quoted
from nereval_core.readers import Reader, Reading, ReadOptions, Source
from nereval_core.readers.conll.blocks import PackedRows, read_packed
from nereval_core.readers.conll.layout import is_tag, sample_rows, tag_columns, word_column
from nereval_core.readers.conll.rows import AmbiguousColumns, DocumentMark, ListedRows, read_listed
from nereval_core.readers.input.source import SourceFile, unread_files_note
from nereval_core.readers.shared.table_columns import TAGS
from nereval_core.readers.shared.tag_cells import TAGGED_SHARE, TagColumn, notation_of
from nereval_core.readers.shared.tag_decoding import decode, detect
from nereval_core.readers.shared.tag_reading import reading_of_tags
from nereval_core.readers.shared.tag_schemes import SCHEMES
from nereval_core.readers.shared.token_columns import NotJudged
from nereval_core.readers.shared.token_tags import Tagged

OTHER_SUFFIXES = (".tsv", ".txt", ".dat")
"""Of a folder's files these are read where none has a suffix of the format's own."""
ALL_COLUMNS = "all"
"""The column that stands for all columns of tags, read as one nested layer."""
DEPTH = "depth"
"""Key of the metadata of spans of deeper columns."""


class ConllReader(Reader):
    name = "conll"
    description = "one token a line with its tag in a column: IOB1, IOB2, IOE1, IOE2, IOBES, BILOU, BMES, BMEWO, IO"
    suffixes = (".conll", ".iob", ".iob1", ".iob2", ".bio", ".bioes", ".bilou")
    has_columns = True
    is_table = True
    has_labels = True

    def recognise(self, source: Source) -> float:
        """Claim rows of equal length that have a tag in one column, the last one most surely."""
        head = source.head_of(_files(source)[0])
        if head.first_line.startswith(("TOKEN\t", "{")):
            return 0.0
        rows, columns, _ = sample_rows(head.lines)
        full = [row for row in rows if len(row) == columns]
        if columns < 2 or len(full) < 0.8 * len(rows):
            return 0.0
        canonical = [column for column in range(1, columns) if _most_are_tags([row[column] for row in full])]
        if canonical:
            return 0.9 if columns - 1 in canonical else 0.8
        return 0.7 if any(tag_columns(full, columns, 0)) else 0.0

    def read(self, source: Source, options: ReadOptions) -> Reading:
        """Read the tokens and the tags of one column, or of all; of several files, one without marks is one document.

        Raises:
            FormatError: with every problem found: columns, tags, sequences that break the scheme, ids.
        """
        if options.column == ALL_COLUMNS:
            return _read_nested(source, options)
        return reading_of_rows(source, options, _rows(_files(source), options))

    def tag_column_choices(self, source: Source) -> tuple[TagColumn, ...]:
        """Return the columns of the first file among which one has to be chosen, by its first lines; else nothing."""
        rows, columns, _ = sample_rows(source.head_of(_files(source)[0]).lines)
        if columns <= 2:
            return ()
        full = [row for row in rows if len(row) == columns]
        tagged, _ = tag_columns(full, columns, word_column(full, columns))
        if len(tagged) < 2:
            return ()
        return tuple(TagColumn.of(column + 1, [row[column] for row in full]) for column in tagged)


READER = ConllReader()


def _most_are_tags(cells: Sequence[str]) -> bool:
    return sum(map(is_tag, cells)) >= TAGGED_SHARE * len(cells)


def _read_nested(source: Source, options: ReadOptions) -> Reading:
    """Read the spans of all columns of tags as one layer; those of deeper columns keep their `depth`, from 2.

    The scheme that the first column fits is that of all: deeper ones often hold too few tags to tell.

    Raises:
        FormatError: as `read`, of the first column that has problems.
    """
    numbers = [column.number for column in READER.tag_column_choices(source)]
    if not numbers:
        return READER.read(source, replace(options, column=None))
    first = READER.read(source, replace(options, column=numbers[0]))
    other_options = replace(options, scheme=options.scheme or first.scheme)
    readings = [first, *(READER.read(source, replace(other_options, column=number)) for number in numbers[1:])]
    layers = [reading.layer for reading in readings]
    depth = np.repeat(np.arange(1, len(layers) + 1), [len(spans) for spans in layers])
    doc, start, end = (np.concatenate([getattr(spans, edge) for spans in layers]) for edge in ("doc", "start", "end"))
    nested = layer(
        options.name or source.label,
        first.documents,
        doc,
        start,
        end,
        [spans.label(span) for spans in layers for span in range(len(spans))],
        extras={"meta": {span: {DEPTH: int(depth[span])} for span in np.flatnonzero(depth > 1).tolist()}},
    )
    listed = ", ".join(
        f"{number} ({counted(len(spans), 'span')})" for number, spans in zip(numbers, layers, strict=True)
    )
    notes = [f"tags taken from columns {listed}, as one nested layer", *first.notes[1:]]
    mended = "; ".join(filter(None, (reading.mended for reading in readings)))
    return replace(first, layer=nested, notes=tuple(notes), mended=mended)


def _rows(files: Sequence[SourceFile], options: ReadOptions) -> AnyRows:
    """Return the rows of files, as arrays where their lines can be judged by the block."""
    try:
        return read_packed(files, options)
    except NotJudged:
        return read_listed(files, options)


def reading_of_rows(source: Source, options: ReadOptions, rows: AnyRows) -> Reading:
    """Return the reading that the rows of all files make.

    Raises:
        FormatError: as `read`.
    """
    structure = rows.structure
    if structure.wordless:
        complaint = "column 1 counts the tokens, and no column holds words"
        remedy = "give the word of each token before its tag"
        raise FormatError(Problem(file.shown, None, complaint, remedy) for file in structure.wordless)
    units = _checked(source, rows, options)
    notes = [*units.notes]
    if structure.comments:
        notes.append(f"{counted(structure.comments, 'comment line')} not kept")
    if labels := len(structure.marked) - structure.marked.count("O"):
        notes.append(f"tags beside -DOCSTART-, which is not a token here, left out: {labels}")
    reading = reading_of_tags(
        options.name or source.label,
        ConllReader.name,
        replace(rows.documents(units.first, units.ids, units.named), unit=units.unit),
        rows.tag_rows(),
        options,
        places=units.places,
        problems=units.problems,
        notes=[*notes, *unread_files_note(source, structure.sources)],
    )
    return replace(reading, notes=(*_column_notes(rows), *reading.notes))


def read_tagged(
    source: Source, *, column: int | str | None = None, last: bool = False, docstarts: bool = False
) -> Tagged:
    """Read the tokens and the tags of one column as they stand, whether or not they make sense.

    With `last`, for scorers that do so, the last column is taken where none is asked for, whatever it holds. With
    `docstarts` rows of -DOCSTART- are tokens, not marks.

    Raises:
        FormatError: with every problem found in columns, tokens and ids; none for a tag.
    """
    named = (source.columns or {}).get(TAGS) if column is None else column
    options = ReadOptions(column=-1 if named is None and last else named)
    rows = read_listed(_files(source), options, docstarts=docstarts)
    units = _checked(source, rows, options)
    documents = rows.documents(units.first, units.ids, units.named)
    problems = [*units.problems, *document_problems(documents, units.places.__getitem__)]
    if problems:
        raise FormatError(problems)
    marks = () if docstarts else tuple(rows.structure.marked)
    return Tagged(
        documents,
        rows.words,
        rows.tokens,
        rows.sentences,
        source.name,
        rows.place,
        marks=marks,
        ended=rows.ended,
        written_ids=units.written_ids or units.ids,
    )


def _checked(source: Source, rows: AnyRows, options: ReadOptions) -> DocumentUnits:
    """Return the documents that rows make.

    Raises:
        FormatError: with what is wrong with lines and columns.
    """
    problems = [
        *rows.structure.problems,
        *(_ambiguity_problem(undecided, options) for undecided in rows.structure.undecided),
    ]
    if not rows.count and not problems:
        problems.append(Problem(source.name, None, "no tokens in it", "give one token and its tag a line"))
    if problems:
        raise FormatError(problems)
    return document_units(rows)


def _files(source: Source) -> tuple[SourceFile, ...]:
    own = not source.by_suffix.keys().isdisjoint(ConllReader.suffixes)
    return source.pick(*(ConllReader.suffixes if own else OTHER_SUFFIXES))


def _ambiguity_problem(undecided: AmbiguousColumns, options: ReadOptions) -> Problem:
    """Return the problem of a file with several columns of tags: it names them, their spans and an example."""
    listed = []
    for column in undecided.columns:
        rows = _rows((undecided.file,), replace(options, column=column + 1, progress=None))
        tag_rows = rows.tag_rows()
        notation = notation_of(tag_rows.distinct, options)
        tags = tag_rows.tags(notation)
        spans = len(decode(tags, detect(tags).scheme or SCHEMES["IOB2"], "conlleval").start)
        holds = "numbers of labels" if notation.numbered else counted(spans, "span")
        examples = [*tags.odd[:1]] if notation.numbered else tags.tokens[:1].tolist()
        example = "".join(f", as {quoted(tag_rows.written(token))}" for token in examples)
        listed.append(f"column {column + 1} ({holds}{example})")
    numbers = [str(column + 1) for column in undecided.columns]
    return Problem(
        undecided.file.shown,
        None,
        f"{len(listed)} columns hold tags: {', '.join(listed)}",
        f"name one: {either_option('--column', numbers)}, or by side --gold-column {numbers[0]} --pred-column "
        f"{numbers[1]}, or all as one nested layer: --column {ALL_COLUMNS}; in the app choose beside the upload",
    )


def _column_notes(rows: AnyRows) -> list[str]:
    words = sorted({columns.word for columns in rows.structure.columns} - {0})
    notes = [f"tokens taken from column {word + 1}, as column {word} numbers them" for word in words]
    for columns in sorted(rows.structure.columns):
        if columns.columns > 2:
            beside = "".join(f", as column {column + 1} holds syntactic chunks" for column in columns.chunks)
            notes.append(f"tags taken from column {columns.column + 1} of {columns.columns}{beside}")
    return notes


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
    problems: ProblemList = field(default_factory=ProblemList)
    unit: Unit = "document"
    written_ids: tuple[str, ...] = ()


def document_units(rows: AnyRows) -> DocumentUnits:
    """Return the documents as marked, else the files, else the sentences."""
    sentences = rows.sentences
    marks = rows.structure.marks
    if any(mark.kind == "newdoc" for mark in marks):
        # Where new documents are marked, `# id` names sentences.
        marks = [mark for mark in marks if mark.kind != "id"]
    if len(rows.structure.sources) > 1:
        marks = _with_files(marks, rows)
    if not marks:
        return _sentence_units(rows)
    starts: list[DocumentMark] = []
    kinds = {mark.kind for mark in marks}
    for mark in marks if len(kinds) > 1 else ():
        # -DOCSTART- and an id line right after it mark one document.
        if starts and (starts[-1].kind, starts[-1].token) == ("docstart", mark.token) and mark.kind != "docstart":
            starts.pop()
        starts.append(mark)
    starts = starts or list(marks)
    notes: list[str] = []
    if starts[0].token > 0:
        starts.insert(0, _unmarked(rows, 0, starts))
        if starts[0].name is not None:
            notes.append(f"tokens before the first document id: a document of their own, {quoted(starts[0].name)}")
    unnamed = [mark for mark in starts if mark.name is None]
    units = DocumentUnits(
        np.searchsorted(sentences[:-1], [mark.token for mark in starts]).tolist(),
        tuple(map(str, range(1, len(starts) + 1)) if unnamed else (mark.name or "" for mark in starts)),
        not unnamed,
        tuple(mark.place for mark in starts),
        notes,
    )
    if unnamed and len(unnamed) < len(starts):
        units.problems += [
            Problem(*mark.place, "a document without an id where others have one", "give each document an id, or none")
            for mark in unnamed
        ]
    elif unnamed:
        units.notes.append(f"documents have no ids: numbered 1 to {len(starts)}")
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
    ids_used = set(units.ids)
    ids = []
    for name, file in keys:
        number = counts[name, file] = counts[name, file] + 1
        own = name if number == 1 else f"{name}#{number}"
        while number > 1 and own in ids_used:
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
    offered = () if None in names else (rows.structure.sentence_ids.get(token), *numbers)
    name = next((name for name in offered if name and name not in names), None)
    return DocumentMark("docstart", name, token, rows.place(token))


def _with_files(marks: Sequence[DocumentMark], rows: AnyRows) -> list[DocumentMark]:
    """Return the marks with one more for each file that has none."""
    all_marks = list(marks)
    marked = {mark.place[0] for mark in marks}
    files = [*rows.structure.files, rows.count]
    for (low, high), file in zip(pairwise(files), rows.structure.sources, strict=True):
        if file.shown not in marked:
            all_marks.append(
                DocumentMark("newdoc", file.stem, low, rows.place(low) if low < high else (file.shown, None))
            )
        elif low < next(mark.token for mark in marks if mark.place[0] == file.shown):
            all_marks.append(_unmarked(rows, low, marks))
    return sorted(all_marks, key=lambda mark: mark.token)


def _sentence_units(rows: AnyRows) -> DocumentUnits:
    first = rows.sentences[:-1]
    count = len(first)
    places = rows.places(first)
    if rows.structure.sentence_ids:
        names = [rows.structure.sentence_ids.get(token, "") for token in first.tolist()]
        if all(names) and len(set(names)) == count:
            note = f"no documents marked: each sentence is a unit ({count}, named by sent_id)"
            return DocumentUnits(range(count), tuple(names), True, places, [note], unit="sentence")
    note = f"no documents marked: each sentence is a unit ({count}, numbered)"
    return DocumentUnits(range(count), tuple(map(str, range(1, count + 1))), False, places, [note], unit="sentence")
