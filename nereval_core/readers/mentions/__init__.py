"""JSON lines of what language models answer: mentions with their types and without offsets, a document a line.

`answers` says what is taken for an answer, `placing` how mentions find their place in the text. The documents are
gold's, by the id of the line or, where no line has one, in their order; without gold each line has its own `text`.

A mention that has no place in the text is one that the model made up. It is kept as an empty span at the end of the
text, which overlaps nothing and so is spurious under every criterion; its words, and what the text has that is nearest,
stand in its metadata: `mention`, `placed`, `closest`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from nereval_core.problems import Problem, ProblemList
from nereval_core.readers import Reader, Reading, ReadOptions, Source, pipeline
from nereval_core.readers.annotation_tools import doccano
from nereval_core.readers.conll.layout import is_tag
from nereval_core.readers.input.source import SourceFile, unread_files_note
from nereval_core.readers.mentions.answer_text import TAG, MalformedError, json_values, without_reasoning
from nereval_core.readers.mentions.answers import type_of_item
from nereval_core.readers.mentions.reading import FORMAT, answer_choices, read_answers
from nereval_core.readers.mentions.responses import (
    ANSWER_KEYS,
    ANSWER_MARKS,
    LIST_KEYS,
    OTHER_KEYS,
    RESPONSE_KEYS,
    STRUCTURE,
    TEXT_KEYS,
    TYPE_KEYS,
    is_response,
)
from nereval_core.readers.shared.annotation_keys import other_keys_note, sampled_records
from nereval_core.readers.shared.list_cells import delimiter_of_columns, list_in_cell, records_of_table
from nereval_core.readers.shared.strict_json import Item, items
from nereval_core.readers.shared.table_columns import plain_name
from nereval_core.readers.shared.tag_cells import TagColumn

ENTITIES = ("entities", "mentions", "named_entities", "extractions", "entity")
WORDED_ANSWERS = ("answer", "response", "completion", "generated_text", "model_output", "llm_output", "final_answer")
"""Keys under which any words are an answer; under others only JSON, tags or reasoning."""
ALPACA_ANSWERS = ("output",)
"""Keys under which they are beside an `instruction`."""
LINED_ANSWERS = ("output", "prediction", "result", "raw", "text_output")
"""Keys under which bullet lists and tables of Markdown are an answer too."""
LINED = re.compile(r"^\s*(?:[-*•]|\d{1,3}[.)])\s+\S|^\s*\|?\s*:?-+:?\s*\|", re.MULTILINE)
"""An item of a list, or the line below the head of a table."""
VERDICTS = frozenset(("accept", "reject", "ignore", "skip"))
"""Values of `answer` that are Prodigy's."""
NOT_BY_TYPE = frozenset(
    (
        *("spans", "tokens", "words", "sentence", "sentences", "data", "label", "labels", "tags", "ner"),
        *("ner_tags", "ner_tags_fine", "tokenized_text", "passages", "documents", "denotations"),
        *("annotations", "spans_", "clusters", "ents", "relations", "Comments", "_input_hash"),
    )
)
"""Keys of other formats, or of objects that no format has, beside which lists of strings are not mentions by type."""
OF_IEPILE = re.compile(r'"entity"\s*:\s*\[\s*\{[^{}]*"entity_type"')
"""An entity of IEPile's data, of which the first line may have none."""
GENERATED = re.compile(r'\s*\[\s*\[\s*\{\s*"generated_text"')
"""The beginning of what a pipeline of Hugging Face generated for several prompts."""
PIPELINE_LIKE = frozenset(("start_offset", "end_offset", "start_char", "end_char"))


class MentionReader(Reader):
    name = FORMAT
    description = "JSON lines of language models: mentions without offsets, or tags in the text; placed in gold's texts"
    suffixes = (".jsonl", ".json", ".csv", ".tsv")
    has_columns = True

    def recognise(self, source: Source) -> float:
        """Claim responses of language models, answers in words, entities that quote their words, and mentions by
        type."""
        head = source.head(*self.suffixes)
        if not head.keys:
            return 0.9 if GENERATED.match(head.text) or delimiter_of_columns(head, WORDED_ANSWERS) else 0.0
        if head.keys & RESPONSE_KEYS and "spans" not in head.keys:
            return 0.9
        row = head.first_object
        if row is None or not head.keys >= set(row):
            return 0.0
        if is_response(row):
            return 0.9
        if any(key in row and _has_answer(row[key]) for key in ANSWER_KEYS):
            # Spans with offsets beside an answer: gold and its prediction, one of which has to be named.
            words = max((_claim_of_entities(row[key]) for key in ENTITIES if row.get(key)), default=0.0)
            return max(0.85, words, doccano.READER.recognise(source), pipeline.READER.recognise(source))
        if row.get("entity") == [] and OF_IEPILE.search(head.text):
            return 0.94
        for key in ENTITIES:
            if row.get(key):
                # Data sets of Gretel have the list in a string.
                return _claim_of_entities(list_in_cell(row[key]) if isinstance(row[key], str) else row[key])
        if "spans" in row or "tokens" in row:
            return 0.0
        worded = {*WORDED_ANSWERS, *(ALPACA_ANSWERS if "instruction" in row else ())}
        if any(_is_answer(row[key], key in worded) for key in ANSWER_KEYS if key in row):
            return 0.85
        if any(LINED.search(row[key]) for key in LINED_ANSWERS if isinstance(row.get(key), str)):
            return 0.85
        return 0.7 if _is_by_type(row) else 0.0

    def tag_column_choices(self, source: Source) -> tuple[TagColumn, ...]:
        """Return the keys among which one has to be chosen, by a sample; nothing where it is clear which holds
        answers."""
        choices = map(answer_choices, sampled_records(source.pick(*self.suffixes)))
        return next(filter(None, choices), ())

    def read(self, source: Source, options: ReadOptions) -> Reading:
        """Read the answers, and place their mentions in the texts of their documents.

        Raises:
            FormatError: with every problem found: answers that cannot be read (unless `options.malformed` is "empty"),
                pairs whose order is ambiguous, offsets that mentions do not confirm, ids that gold does not have,
                another number of lines than gold has documents, no texts.
        """
        files = source.pick(*self.suffixes)
        problems = ProblemList()
        rows = [((file.shown, line), row) for file in files for line, row in _rows(file, problems)]
        unread = (
            [] if options.column is not None else other_keys_note((_unread_part(row) for _, row in rows), NOT_LISTS)
        )
        return read_answers(
            rows,
            options,
            source=source.name,
            name=source.label,
            problems=problems,
            notes=[*unread_files_note(source, files), *unread],
        )


READER = MentionReader()


def _rows(file: SourceFile, problems: list[Problem]) -> Iterator[Item]:
    """Yield the answers of a file with their lines: values of JSON, or rows of a table with a column of answers."""
    delimiter = delimiter_of_columns(file.head(), WORDED_ANSWERS)
    if delimiter is None:
        return items(file, problems)
    rows = records_of_table(file, problems, delimiter)
    return (row._replace(value={_answer_key(name): cell for name, cell in row.value.items()}) for row in rows)


def _answer_key(name: str) -> str:
    return plain_name(name) if plain_name(name) in WORDED_ANSWERS else name


def _claim_of_entities(entities: Any) -> float:
    """Return how sure it is that entities are mentions: surely without offsets, below other formats with them."""
    if isinstance(entities, Mapping):
        is_by_mention = bool(entities) and all(isinstance(kind, str) for kind in entities.values())
        return 0.94 if is_by_mention or _is_by_type(entities) else 0.0
    first = entities[0] if isinstance(entities, list) else None
    if isinstance(first, list):
        return 0.94 if len(first) == 2 and all(isinstance(part, str) for part in first) else 0.0
    if not isinstance(first, Mapping) or not any(isinstance(first.get(key), str) for key in TEXT_KEYS):
        return 0.0
    if type_of_item(first) is None:
        return 0.0
    others = (first[key] for key in first.keys() - {*TEXT_KEYS, *TYPE_KEYS})
    if all(isinstance(value, (str, float)) or value is None for value in others):
        return 0.96
    # Where offsets are those of a tool's export, its own reader knows what they count.
    return 0.0 if first.keys() & PIPELINE_LIKE else 0.94


def _is_answer(value: Any, is_worded: bool) -> bool:
    if not isinstance(value, str):
        return is_worded and isinstance(value, (Mapping, list)) and bool(value)
    if not value.strip() or value.strip().lower() in VERDICTS or all(map(is_tag, value.split())):
        return False
    return is_worded or _has_answer(value)


def _has_answer(value: Any) -> bool:
    """Return whether a value is words with JSON, tags or reasoning in them."""
    if not isinstance(value, str) or not ANSWER_MARKS.search(value):
        return False
    try:
        return bool(without_reasoning(value, ())[1] or TAG.search(value) or json_values(value)[0])
    except MalformedError:
        return False


def _is_by_type(row: Mapping[str, Any]) -> bool:
    """Return whether an object may hold lists of mentions by their types."""
    lists = [value for key, value in row.items() if key not in OTHER_KEYS and isinstance(value, list)]
    others = [value for key, value in row.items() if key not in OTHER_KEYS and not isinstance(value, list)]
    words = [word for value in lists for word in value]
    return (
        bool(words)
        and not row.keys() & (NOT_BY_TYPE | STRUCTURE - OTHER_KEYS)
        and all(isinstance(word, str) and not is_tag(word) for word in words)
        and all(value is None or isinstance(value, str) for value in others)
    )


NOT_LISTS = STRUCTURE - set(LIST_KEYS)


def _unread_part(row: Any) -> Any:
    """Return a line without the first of its lists of mentions, which is read where no other answer stands there."""
    if not isinstance(row, dict) or not row.keys().isdisjoint(ANSWER_KEYS):
        return row
    read_key = next((key for key in LIST_KEYS if key in row), None)
    return {key: value for key, value in row.items() if key != read_key}
