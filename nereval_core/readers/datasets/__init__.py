"""Rows of the Hugging Face datasets library: `tokens` and `ner_tags`, in Parquet or JSON lines.

Tags are strings, or numbers of a list of labels, which stands in the metadata that the library writes into Parquet, or
in a file beside: `labels.txt` (one a line), `dataset_info.json` or a model's `config.json`; or it is given. A row is a
document, its text the tokens with one blank between them. Rows with spans over tokens are read by `token_spans`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from nereval_core.corpus import Place
from nereval_core.problems import FormatError, Problem, ProblemList, counted
from nereval_core.readers import Reader, Reading, ReadOptions, Source
from nereval_core.readers.datasets.token_spans import has_token_spans, read_token_spans, span_choices
from nereval_core.readers.input.file_text import Head
from nereval_core.readers.input.source import SourceFile, unread_files_note
from nereval_core.readers.parquet.columns import MAGIC, open_parquet, read_within_bounds
from nereval_core.readers.shared.annotation_keys import may_hold_annotations, sampled_records
from nereval_core.readers.shared.label_list import OPTION, TAGS, LabelList, labels_of_file, labels_of_json
from nereval_core.readers.shared.strict_json import RefusedError, id_string, items, json_type, loads
from nereval_core.readers.shared.tag_cells import (
    OTHER_TAGS,
    TagColumn,
    annotation_columns,
    choice_problem,
    is_label_name,
    is_named_like_prediction,
    unread_predictions_note,
)
from nereval_core.readers.shared.tag_reading import TagCells, documents_of_words, reading_of_tags

TOKENS = ("tokens", "words")
SAMPLE_ROWS = 50
"""The rows that say which columns hold tags."""
GRAIN = re.compile(r"(?:^|[^a-z])(?:fine|coarse)(?:[^a-z]|$)", re.IGNORECASE)
"""The name of a column of finer or coarser types."""
TOKEN_BYTES = 120
"""Memory of a token or tag as a Python object."""


SPANS_BESIDE = {"spans", "entities", "answer"}
"""Keys of records that have spans in a text, whose tokens other formats read."""
METADATA = b"huggingface"
"""Key of the library in the metadata of Parquet."""
BESIDE = ("labels.txt", "label_list.txt", "dataset_info.json", "dataset_infos.json", "config.json")
"""Files that may hold the list of labels, by how their names end."""


@dataclass(frozen=True)
class DatasetRow:
    """A row as it stands: the list of labels is that of its file, None where it has none."""

    place: Place
    name: str | None
    tokens: Any
    tags: Any
    labels: LabelList | None

    @property
    def numbered(self) -> bool:
        """True where tags are numbers."""
        return isinstance(self.tags, list) and any(type(tag) is int for tag in self.tags)


@dataclass(frozen=True)
class _TagOptions:
    """The names of columns of tags, the labels given, the files beside, and problems and notes.

    A column that is `named` is read even where others hold tags.
    """

    columns: Sequence[str]
    named: bool
    labels: LabelList | None
    beside: Sequence[SourceFile]
    problems: list[Problem]
    notes: list[str] = field(default_factory=list)

    def columns_of(self, file: SourceFile, rows: Sequence[Mapping[str, Any]]) -> Sequence[str]:
        """Return the names of columns of tags, by a sample of rows; none, and a problem, where several may be meant."""
        if self.named:
            return self.columns
        choices = tag_choices(rows)
        if len(choices) > 1:
            self.problems.append(choice_problem(file.shown, None, choices))
            return ()
        columns = (*self.columns, *(str(column.number) for column in choices))
        column_read = [key for key in columns if any(key in row for row in rows)][:1]
        if any("text" in row for row in rows):
            self.notes.append("the key text is not read: the text is the tokens with a blank between")
        self.notes.extend(unread_predictions_note(dict.fromkeys(key for row in rows for key in row), column_read))
        return columns

    def labels_of(self, features: Any, columns: Sequence[str], file: SourceFile) -> LabelList | None:
        """Return the labels given, those of a file's own features, or the first in a file beside."""
        own = labels_of_json(features, columns)
        if self.labels is not None and own is not None and tuple(own) != self.labels.names:
            self.notes.append(f"{file.shown} has a list of {counted(len(own), 'label')}, and the one given is taken")
        if self.labels is not None:
            return self.labels
        if own is not None:
            return LabelList(tuple(own), file.shown)
        for other in self.beside:
            if other.name.endswith(".txt"):
                return labels_of_file(other, columns)
            if names := labels_of_json(_json(other.read()), columns):
                return LabelList(tuple(names), other.shown)
        return None


class DatasetsReader(Reader):
    name = "datasets"
    description = (
        "tokens and ner_tags of Hugging Face datasets, in Parquet or JSON lines; spans over tokens: GLiNER, DyGIE"
    )
    suffixes = (".parquet", ".jsonl", ".json")
    has_columns = True
    has_labels = True

    def recognise(self, source: Source) -> float:
        """Claim rows with tokens and tags."""
        # The file that describes the dataset may be the first by name.
        rows = replace(source, files=_files(source))
        keys = _columns(rows.files[0], rows.head()) or rows.head(*self.suffixes).keys
        if has_token_spans(keys):
            return 1.0
        if not keys & set(TOKENS) or keys & SPANS_BESIDE:
            return 0.0
        return 1.0 if (keys & set(TAGS) and "text" not in keys) or _tag_choices(source, by_head=True) else 0.0

    def tag_column_choices(self, source: Source) -> tuple[TagColumn, ...]:
        """Return the keys of the first file among which one has to be chosen, by its first rows; else nothing."""
        choices = _tag_choices(source)
        return choices if len(choices) > 1 else ()

    def read(self, source: Source, options: ReadOptions) -> Reading:
        """Read a document a row; `options.column` names the tags' column.

        Raises:
            FormatError: with every problem found: rows, labels, tags, sequences that break the scheme.
        """
        files = _files(source)
        if has_token_spans(source.head_of(files[0]).keys):
            return read_token_spans(source, files, options, self.name)
        problems = ProblemList()
        beside = [file for file in source.files if file.name.endswith(BESIDE)]
        named = options.column is not None
        tag_options = _TagOptions((str(options.column),) if named else TAGS, named, options.labels, beside, problems)
        rows = [row for file in files for row in _rows(file, tag_options)]
        tags_of_rows = [_tags(row, problems) for row in rows]
        problems += _label_problems(rows, sound=not problems)
        if problems:
            raise FormatError(problems)
        return reading_of_tags(
            options.name or source.label,
            self.name,
            documents_of_words([row.name for row in rows], [row.tokens for row in rows]),
            TagCells.of_rows(tags_of_rows, [row.place for row in rows]),
            # Numbers are labels already.
            replace(options, labels=None) if any(row.numbered for row in rows) else options,
            places=tuple(row.place for row in rows),
            notes=[*tag_options.notes, *unread_files_note(source, [*files, *beside])],
        )


READER = DatasetsReader()


def _tag_choices(source: Source, *, by_head: bool = False) -> tuple[TagColumn, ...]:
    """Return the keys of the first file that hold annotations, by its first rows, or `by_head` by those in its head."""
    file = _files(source)[0]
    head = source.head_of(file)
    columns = _columns(file, head)
    if columns is not None:
        words = next((key for key in TOKENS if key in columns), None)
        return () if words is None else tag_choices(parquet_sample(file, words))
    values = [_json(line.encode()) for line in head.lines[:SAMPLE_ROWS]]
    records = [record for value in values for record in (value if isinstance(value, list) else [value])]
    if not by_head or not any(isinstance(record, dict) for record in records):
        records = sampled_records([file]) or records
    rows = [row for row in records if isinstance(row, dict)]
    return span_choices(rows) if has_token_spans(head.keys) else tag_choices(rows)


def _files(source: Source) -> tuple[SourceFile, ...]:
    files = tuple(file for file in source.pick(*DatasetsReader.suffixes) if not file.name.endswith(BESIDE))
    return files or source.pick(*DatasetsReader.suffixes)


def _rows(file: SourceFile, tag_options: _TagOptions) -> Iterator[DatasetRow]:
    """Yield the rows of a file; what is not a row goes to the problems."""
    columns = _columns(file, file.head())
    if columns is not None:
        yield from _parquet_rows(file, columns, tag_options)
        return
    labels = tag_options.labels_of({}, tag_options.columns, file)
    rows = list(items(file, tag_options.problems))
    sample = [row for _, row in rows[:SAMPLE_ROWS] if isinstance(row, dict)]
    keys_of_sample = set().union(*sample)
    sample += [row for _, row in rows[SAMPLE_ROWS:] if isinstance(row, dict) and not row.keys() <= keys_of_sample]
    tag_keys = tag_options.columns_of(file, sample)
    for line, row in rows if tag_keys else ():
        keys = row.keys() if isinstance(row, dict) else set()
        words, tags = (next((key for key in names if key in keys), None) for names in (TOKENS, tag_keys))
        if words is None or tags is None:
            finding = f"no {'tokens' if words is None else ' or '.join(tag_keys)}" if keys else f"{json_type(row)}"
            remedy = "write objects with tokens and ner_tags"
            tag_options.problems.append(Problem(file.shown, line, f"{finding} in a row", remedy))
        else:
            yield DatasetRow((file.shown, line), id_string(row.get("id")), row[words], row[tags], labels)


def _parquet_rows(file: SourceFile, columns: frozenset[str], tag_options: _TagOptions) -> Iterator[DatasetRow]:
    import pyarrow as pa

    words = next((key for key in TOKENS if key in columns), None)
    tag_columns = (
        tag_options.columns
        if tag_options.named or words is None
        else tag_options.columns_of(file, parquet_sample(file, words))
    )
    tags = next((key for key in tag_columns if key in columns), None)
    if not tag_columns:
        return
    if words is None or tags is None:
        remedy = "name the tags' column by --column NAME" if words else "give a column of tokens"
        lacking = " or ".join(TOKENS if words is None else tag_options.columns)
        finding = f"no column {lacking} among {', '.join(sorted(columns))}"
        tag_options.problems.append(Problem(file.shown, None, finding, remedy))
        return
    try:
        columns_read = [column for column in ("id", words, tags) if column in columns]
        table = read_within_bounds(file, open_parquet(file), columns_read, value=TOKEN_BYTES)
        table.validate(full=True)
        values = table.to_pydict()
    except (pa.ArrowException, OSError, ValueError, NotImplementedError) as error:
        tag_options.problems.append(Problem(file.shown, None, f"damaged: {error}", "export it again"))
        return
    except FormatError as error:
        tag_options.problems.extend(error.problems)
        return
    labels = tag_options.labels_of(_json((table.schema.metadata or {}).get(METADATA, b"")), (tags,), file)
    names = values.get("id", [None] * len(table))
    for at, (name, tokens, row_tags) in enumerate(zip(names, values[words], values[tags], strict=True), start=1):
        yield DatasetRow((file.shown, at), id_string(name), tokens, row_tags, labels)


def _columns(file: SourceFile, head: Head) -> frozenset[str] | None:
    """Return the columns of a Parquet file, None for another file; nothing where it cannot be read."""
    if not head.raw.startswith(MAGIC):
        return None
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return frozenset(pq.read_schema(open_parquet(file)).names)
    except (pa.ArrowException, OSError, ValueError, NotImplementedError):
        return frozenset()


def _json(raw: bytes) -> Any:
    try:
        return loads(raw.decode())
    except (UnicodeDecodeError, RefusedError):
        return None


def _label_problems(rows: Sequence[DatasetRow], *, sound: bool) -> Iterator[Problem]:
    """Yield what is wrong with the lists of labels that numbers are places in, each looked at once.

    The labels in use are known of `sound` rows only.
    """
    used: dict[int, set[int]] = {}
    lists: dict[int, LabelList] = {}
    for row in rows:
        if row.labels is not None and row.numbered:
            numbers = used.setdefault(id(row.labels), set())
            lists[id(row.labels)] = row.labels
            if sound:
                numbers.update(row.tags)
    for key, labels in lists.items():
        yield from labels.problems(used[key])


def _tags(row: DatasetRow, problems: list[Problem]) -> list[str]:
    """Return the tags of a row as strings; its problems are added to `problems`."""

    def complain(finding: str, remedy: str) -> list[str]:
        problems.append(Problem(*row.place, finding, remedy))
        return []

    tokens, tags, labels = row.tokens, row.tags, row.labels
    if not isinstance(tokens, list) or not set(map(type, tokens)) <= {str} or not all(tokens):
        return complain("tokens are not a list of strings with something in them", "write one string a token")
    if not isinstance(tags, list) or len(tags) != len(tokens):
        count = counted(len(tags), "tag") if isinstance(tags, list) else "no list of tags"
        return complain(f"{count} for {counted(len(tokens), 'token')}", "write one tag a token")
    if set(map(type, tags)) <= {str}:
        return tags
    if set(map(type, tags)) != {int}:
        return complain("tags that are neither all strings nor all integers", "write one kind")
    if labels is None:
        remedy = f"give it, {OPTION} O,B-PER,I-PER,… or a file, or put one beside it: {', '.join(BESIDE)}"
        return complain("tags are numbers, and there is no list of labels", remedy)
    if min(tags) < 0 or max(tags) >= len(labels):
        beyond = next(tag for tag in tags if not 0 <= tag < len(labels))
        return complain(
            f"the tag {beyond} is not one of the {len(labels)} of {labels.source}",
            "give the list that the tags were made by",
        )
    names = labels.names
    return [names[tag] for tag in tags]


def parquet_sample(file: SourceFile, words: str) -> list[dict[str, Any]]:
    """Return the first rows, the columns of tokens and of those that may be tags; none where these are not several."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        schema = pq.read_schema(open_parquet(file))
        lists = [field.name for field in schema if _may_hold_tags(field.type) and not OTHER_TAGS.search(field.name)]
        candidates = {*lists} - {words}
        if len(candidates) < 2 and candidates <= {*TAGS}:
            return [dict.fromkeys(schema.names)]
        table = read_within_bounds(file, open_parquet(file), lists, value=TOKEN_BYTES)
        sample: list[dict[str, Any]] = table.slice(0, SAMPLE_ROWS).to_pylist()
    except (pa.ArrowException, OSError, ValueError, NotImplementedError, FormatError):
        # Reading reports what is wrong with the file.
        return []
    return sample


def _may_hold_tags(type: Any) -> bool:
    from pyarrow import types

    if not (types.is_list(type) or types.is_large_list(type)):
        return False
    inner = type.value_type
    return bool(types.is_string(inner) or types.is_large_string(inner) or types.is_integer(inner))


def tag_choices(rows: Sequence[Mapping[str, Any]]) -> tuple[TagColumn, ...]:
    """Return the keys of rows that hold a tag for each token, apart from other forms of the same tags."""
    words = next((key for key in TOKENS if any(key in row for row in rows)), "")
    keys = dict.fromkeys(key for row in rows for key in row if key != words)
    columns = [(key, _cells(rows, words, key)) for key in keys]
    tagged = set(annotation_columns(columns, TAGS))
    tagged |= {at for at, (key, cells) in enumerate(columns) if _are_numbers(cells) and is_label_name(key, TAGS)}
    surest = min(tagged, key=lambda at: TAGS.index(columns[at][0]) if columns[at][0] in TAGS else len(TAGS), default=-1)
    meant = [at for at in sorted(tagged) if at == surest or not _is_other_form(columns[at], columns[surest])]
    choices = tuple(TagColumn.of(*columns[at]) for at in meant)
    others = [key for at, (key, _) in enumerate(columns) if at not in tagged and is_named_like_prediction(key)]
    hidden = [key for key in others if any(may_hold_annotations(row.get(key)) for row in rows)]
    return (*choices, *(TagColumn(key, ()) for key in hidden)) if choices else ()


def _cells(rows: Sequence[Mapping[str, Any]], words: str, key: str) -> list[str]:
    """Return what stands under a key, one a token; nothing where it is something else in any row.

    A key that is called like a prediction may be missing or empty in rows.
    """
    cells: list[str] = []
    is_optional = is_named_like_prediction(key)
    for row in rows:
        tokens, values = row.get(words), row.get(key)
        if is_optional and (values is None or values == []):
            continue
        if not isinstance(tokens, list) or not isinstance(values, list) or len(tokens) != len(values):
            return []
        if not set(map(type, tokens)) <= {str}:
            return []
        if not set(map(type, values)) <= {str, int}:
            return []
        cells += map(str, values)
    return cells


def _are_numbers(cells: Sequence[str]) -> bool:
    return bool(cells) and all(map(str.isdecimal, cells))


def _is_other_form(column: tuple[str, Sequence[str]], surest: tuple[str, Sequence[str]]) -> bool:
    """Return whether a column has the tags of another as numbers or strings, or finer or coarser ones."""
    if is_named_like_prediction(column[0]) or is_named_like_prediction(surest[0]):
        return False
    pairs = len({*zip(column[1], surest[1], strict=True)})
    same = pairs == len({*column[1]}) == len({*surest[1]}) and _are_numbers(column[1]) != _are_numbers(surest[1])
    return same or GRAIN.search(column[0]) is not None
