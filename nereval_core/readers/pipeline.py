"""Predictions of taggers as JSON lines: `text` and a list of `entities` (`ents`) with start, end and label.

Entities of Stanza, Presidio, Azure, Comprehend and Google are taken too where a `text` stands beside them (`KEYS_OF`).
Entities are objects of a token classification pipeline of Hugging Face (`entity_group`, or `entity` with `index` for
each piece of a word), of GLiNER (`label`, `text`, `score`) or of spaCy's `Doc.to_json` (`ents`). Pieces are joined from
the start of the first to the end of the last, as that pipeline does by its strategy "simple": a type goes on with I-,
or without a prefix, on the next token. Offsets are code points. Entities alone, a list for each text as pipelines
return them, are those of gold's documents in their order.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from nereval_core.corpus.builder import Builder
from nereval_core.problems import FormatError, Problem, counted, quoted
from nereval_core.readers import Reading, ReadOptions, Source
from nereval_core.readers.input.file_text import Head
from nereval_core.readers.input.source import unread_files_note
from nereval_core.readers.shared.annotation_keys import KeyedReader, Record, key_of, types_of_value
from nereval_core.readers.shared.label_list import LabelList
from nereval_core.readers.shared.list_cells import first_record
from nereval_core.readers.shared.offset_conversion import reading_in_code_points
from nereval_core.readers.shared.offset_units import Offsets
from nereval_core.readers.shared.strict_json import Complain, id_string, json_type, list_under, score_number
from nereval_core.readers.shared.tag_cells import NUMBERS_REMEDY

OFFSETS = Offsets()
LISTS = ("entities", "ents", "predictions", "Entities", "results")
OTHER_LISTS = frozenset(("text", "id", "tokens", "sents", "sentences", "words", "relations", "cats", "meta"))
"""Keys of a record that hold no entities."""
GROUPS = "spans"
"""The key under which spaCy's `Doc.to_json` has span groups, each with a name."""
SPAN_GROUPS = re.compile(r'"spans"\s*:\s*\{\s*"(?:[^"\\]|\\.)*"\s*:\s*\[\s*(?:\{\s*"(?:start|end|label)"|\])')
COLUMNS = re.compile(
    r'"(?:entities|spans|ents)"\s*:\s*(?:\{\s*"(?:start|end|label|text|type)"\s*:\s*\[|"\[\s*\{\s*\'(?:start|end)\')'
)
"""Spans as a list for each of their keys, as data sets of Hugging Face write a `Sequence`, or as Python's literal."""
MIN = frozenset(("annotation_id", "annotator"))
"""Columns of Label Studio's CSV."""
KEYS_OF: Mapping[str, str] = {
    "start_char": "start",
    "end_char": "end",
    "BeginOffset": "start",
    "EndOffset": "end",
    "offset": "start",
    "entity_type": "label",
    "Type": "label",
    "category": "label",
    "type": "label",
    "Score": "score",
    "confidenceScore": "score",
    "Text": "text",
}
"""Keys of entities as other services call them: Stanza, Comprehend, Azure (`offset`, `length`), Presidio, Google."""
TRIPLES = (["int", "int", "str"], ["float", "int", "int", "str"])
"""The types of the parts of an entity that is a list, in any order: start before end, label, and perhaps a score."""
TYPES = ("entity_group", "label", "entity")
PREFIX = re.compile(r"([BI])-(.+)", re.DOTALL)
NUMBERED = re.compile(r"LABEL_([0-9]{1,4})")
"""The label of a model without a list of labels."""
ENTITY = re.compile(
    r'"(?:entities|ents|predictions|Entities|results)"\s*:\s*\[\s*\{((?:[^{}"]|"(?:[^"\\]|\\.)*"|\{[^{}]*\})*)'
)
PLACES = ({"start", "end"}, {"start", "length"}, {"mentions", "name"})
"""Keys of entities that have offsets: the last are Google's, whose mentions have them."""
OUTSIDE = "O"
"""Tag of tokens outside of entities, in output of Hugging Face's pipeline that leaves none out."""
BARE = re.compile(r"\s*\[(?:\s*\[\s*\]\s*,?)*\s*\[?\s*\{([^{}]*)\}")
"""The beginning of lists of entities, of which the first may be empty."""
KEY = re.compile(r'"(\w+)"\s*:')


class TaggedEntity(NamedTuple):
    """An entity as given, or a piece of one: `opens` where its tag says B-, `token` the number of its token.

    `continues` says that its number is that of a label with I-. `tagged`
    says that the label is one of Hugging Face's, where O means outside.
    """

    start: int
    end: int
    label: str
    quote: str | None
    score: float | None
    opens: bool
    continues: bool
    token: int | None
    tagged: bool


class PipelineReader(KeyedReader):
    name = "pipeline"
    description = "JSON lines of predictions: Hugging Face token classification, GLiNER, spaCy"
    suffixes = (".jsonl", ".json", ".csv", ".tsv")
    has_labels = True
    keys = LISTS
    other_keys = OTHER_LISTS

    def recognise(self, source: Source) -> float:
        """Claim objects with a text and a list of entities, the first of which has start and end."""
        keys = source.head(*self.suffixes).keys
        if _is_bare(source.head(*self.suffixes)):
            return 0.9
        head = source.head(*self.suffixes)
        row = first_record(head) if not head.keys else None
        if row is not None and MIN.isdisjoint(row):
            cells = {LISTS[0] if key == GROUPS else key: value for key, value in row.items()}
            return 0.95 if "text" in row and _has_entities(cells) else 0.0
        if "text" not in keys or "data" in keys:
            return 0.0
        text = "\n".join(source.head(*self.suffixes).lines)
        if SPAN_GROUPS.search(text) or COLUMNS.search(text):
            return 0.95
        if not keys & set(LISTS):
            return 0.6 if _has_entities(source.head(*self.suffixes).first_object) else 0.0
        if "ents" in keys:
            return 0.95
        first = ENTITY.search("\n".join(source.head(*self.suffixes).lines))
        named = {KEYS_OF.get(key, key) for key in KEY.findall(first[1])} if first else set()
        return 0.95 if any(keys <= named for keys in PLACES) else 0.0

    def read(self, source: Source, options: ReadOptions) -> Reading:
        """Read a text a line with the entities in it.

        Raises:
            FormatError: with every problem; entities without offsets; several lists of entities, and none is named.
        """
        builder = Builder(source.name)
        records = self.records(source, builder.problems)
        if records and _is_bare(source.head(*self.suffixes)):
            records = _beside_gold(records, options, source, builder.problems)
        keys, key_notes = self.choose_keys(records, options, source)
        n_joined = n_outside = 0
        for line, file_name, row in records:
            joined, outside = _add_document(row, line, file_name, builder, keys, options.labels)
            n_joined, n_outside = n_joined + joined, n_outside + outside
        notes = [*unread_files_note(source, source.pick(*self.suffixes)), *key_notes]
        if other_keys := [key for key in keys if key not in LISTS]:
            notes.append(f"entities taken from {' or '.join(map(quoted, other_keys))}")
        notes += [f"pieces of words joined to those before them: {n_joined}"] if n_joined else []
        notes += [f"tokens tagged {OUTSIDE}, left out: {n_outside}"] if n_outside else []
        return reading_in_code_points(builder, source, options, self.name, expected=OFFSETS, notes=notes)

    def prepared(self, record: Any) -> Any:
        """Return a record of spaCy with its span groups under their names, any other with its lists in strings read."""
        record = super().prepared(record)
        groups = record.get(GROUPS) if isinstance(record, dict) else None
        if not isinstance(groups, dict) or not all(isinstance(spans, list) for spans in groups.values()):
            return record
        named = {name if name not in record else f"{GROUPS}.{name}": spans for name, spans in groups.items()}
        return {key: value for key, value in record.items() if key != GROUPS} | named


READER = PipelineReader()


def _is_bare(head: Head) -> bool:
    """Return whether a file begins with a list of entities, or of such lists, without a text."""
    bare = BARE.match(head.text)
    keys = {KEYS_OF.get(key, key) for key in KEY.findall(bare[1])} if bare is not None else set()
    return {"start", "end"} <= keys and bool(keys & set(TYPES)) and keys.isdisjoint(LISTS)


def _beside_gold(
    records: Sequence[Record], options: ReadOptions, source: Source, problems: list[Problem]
) -> list[Record]:
    """Return lists of entities, one a text, as records with the texts of gold's documents.

    Raises:
        FormatError: there is no gold, or it has another number of documents.
    """
    if all(isinstance(entities, dict) for _, _, entities in records):
        # A single list is the output for a single text.
        line, file_name, _ = records[0]
        records = [(line, file_name, [entity for _, _, entity in records])]
    gold = options.texts
    if problems:
        raise FormatError(problems)
    if gold is None:
        remedy = "score it against gold that has the texts, or write objects with text and entities on each line"
        raise FormatError.single(source.name, None, "entities without the texts that they stand in", remedy)
    if len(records) != len(gold):
        finding = f"{counted(len(records), 'list')} of entities where gold has {counted(len(gold), 'document')}"
        raise FormatError.single(
            source.name, None, finding, "give one list for each of gold's documents, in their order"
        )
    rows = zip(records, gold.ids, gold.texts, strict=True)
    return [
        (line, file_name, {"id": name, "text": text, LISTS[0]: entities})
        for (line, file_name, entities), name, text in rows
    ]


def _has_entities(record: Mapping[str, Any] | None) -> bool:
    """Return whether a record has entities with offsets under a key that no format has for them."""
    lists = [value for key, value in (record or {}).items() if key not in OTHER_LISTS and key != GROUPS]
    return any(
        isinstance(value, list)
        and types_of_value(value) is not None
        and all(isinstance(entry, list) or _is_placed(entry) for entry in value)
        for value in lists
    )


def _is_placed(entry: Any) -> bool:
    named = {KEYS_OF.get(key, key) for key in entry} if isinstance(entry, dict) else set()
    return {"start", "end"} <= named and not named.isdisjoint(TYPES)


def _add_document(
    row: Any, line: int, file_name: str, builder: Builder, keys: Sequence[str], labels: LabelList | None
) -> tuple[int, int]:
    """Add a document; return the number of pieces that were joined to others, and of tokens that are in no entity."""

    def complain(finding: str, remedy: str) -> None:
        builder.problem(line, finding, remedy, source=file_name)

    if not isinstance(row, dict) or not isinstance(row.get("text"), str):
        what = "no text" if isinstance(row, dict) else f"{json_type(row)} where a text should be"
        complain(what, "write an object with text and entities on each line")
        return 0, 0
    builder.document(id_string(row.get("id")), row["text"], line=line, source=file_name)
    key = key_of(row, keys)
    if key is None:
        if not row.keys().isdisjoint(LISTS):
            return 0, 0
        complain("no list of entities", f"write one under {', '.join(LISTS)}, empty where there are none")
        return 0, 0
    listed = _entities_of(list_under(row, key, complain))
    if _add_plain_entities(listed, builder):
        return 0, 0
    values = [read_entity(entity, f"{key}[{at}]", complain, labels) for at, entity in enumerate(listed)]
    entities = [entity for entity in values if entity is not None]
    inside = [entity for entity in entities if not (entity.tagged and entity.label == OUTSIDE)]
    groups = join_pieces(inside, row["text"])
    for group in groups:
        scores = [piece.score for piece in group if piece.score is not None]
        builder.span(
            group[0].start,
            group[-1].end,
            group[0].label,
            quote=group[0].quote,
            score=sum(scores) / len(scores) if scores else None,
        )
    return len(inside) - len(groups), len(entities) - len(inside)


def _add_plain_entities(entities: list[Any], builder: Builder) -> bool:
    """Add entities that are correct and whole words, and return whether all of them are.

    Of a file with 100,000 entities `read()` takes 0.34 s of CPU with this, 0.52 s one by one.
    """
    if set(map(type, entities)) != {dict}:
        return False
    keys = set().union(*entities)
    label = next((key for key in TYPES if key in keys), "entity")
    if label == "entity" or "index" in keys or not keys >= {"start", "end"}:
        return False
    starts, ends, labels = ([entity.get(key) for entity in entities] for key in ("start", "end", label))
    if [set(map(type, column)) for column in (starts, ends, labels)] != [{int}, {int}, {str}]:
        return False
    if (label == "entity_group" and OUTSIDE in labels) or any(name.startswith("LABEL_") for name in {*labels}):
        return False
    texts = [entity.get("text") for entity in entities] if "text" in keys else ()
    quotes = [text if isinstance(text, str) else None for text in texts]
    scores = [score_number(entity.get("score")) for entity in entities] if "score" in keys else ()
    builder.spans(starts, ends, labels, quotes=quotes, scores=scores)
    return True


def _entities_of(values: list[Any]) -> list[Any]:
    """Return entities under our keys; each mention of an entity of Google is one."""
    entities: list[Any] = []
    for value in values:
        if isinstance(value, list) and sorted(part.__name__ for part in map(type, value)) in TRIPLES:
            places, labels, scores = ([part for part in value if type(part) is kind] for kind in (int, str, float))
            entities.append(dict(zip(("start", "end", "label", "score"), [*places, *labels, *scores], strict=False)))
        elif not isinstance(value, dict) or ({"start", "end"} <= value.keys() and value.keys() & set(TYPES)):
            entities.append(value)
        elif isinstance(value.get("mentions"), list):
            texts = [mention.get("text") for mention in value["mentions"] if isinstance(mention, dict)]
            entities += [_entity_of_google(text, value.get("type")) for text in texts]
        else:
            renamed = {KEYS_OF.get(key, key): content for key, content in value.items()}
            if type(renamed.get("start")) is int and type(value.get("length")) is int:
                renamed.setdefault("end", renamed["start"] + value["length"])
            entities.append(renamed)
    return entities


def _entity_of_google(text: Any, kind: Any) -> Any:
    start, content = (text.get("beginOffset"), text.get("content")) if isinstance(text, dict) else (None, None)
    if type(start) is not int or not isinstance(content, str):
        return text
    return {"start": start, "end": start + len(content), "label": kind, "text": content}


def read_entity(value: Any, place: str, complain: Complain, labels: LabelList | None = None) -> TaggedEntity | None:
    """Return an entity, None where it is not one; `place` names it in problems, `labels` are those of `LABEL_n`."""
    entity: Mapping[str, Any] = value if isinstance(value, dict) else {}
    start, end = entity.get("start"), entity.get("end")
    label = next((entity[key] for key in TYPES if key in entity), None)
    if isinstance(label, str) and "start" in entity and start is None and end is None:
        complain(f"{place} has no offsets", "run the pipeline with a fast tokenizer: others give none")
        return None
    if type(start) is not int or type(end) is not int or not isinstance(label, str):
        complain(f"{place} is not an entity", f"give start, end and one of {', '.join(TYPES)}")
        return None
    quote, index = entity.get("text"), entity.get("index")
    number = NUMBERED.fullmatch(label)
    if number is not None:
        if labels is None:
            complain(f"{place} has the label {quoted(label)}, the number of a label", NUMBERS_REMEDY)
            return None
        if int(number[1]) >= len(labels):
            complain(f"{place} has the label {quoted(label)}, and there are {len(labels)} labels", NUMBERS_REMEDY)
            return None
        label = labels.names[int(number[1])]
    tag = PREFIX.fullmatch(label) if number or ("entity" in entity and "entity_group" not in entity) else None
    return TaggedEntity(
        start,
        end,
        tag[2] if tag else label,
        quote if isinstance(quote, str) else None,
        score_number(entity.get("score")),
        bool(tag and tag[1] == "B"),
        bool(number and tag and tag[1] == "I"),
        index if type(index) is int else None,
        number is not None or "entity" in entity or "entity_group" in entity,
    )


def join_pieces(entities: list[TaggedEntity], text: str = "") -> list[list[TaggedEntity]]:
    """Return the pieces of each entity of a text.

    A piece follows another on the next token, or, where a label was given by its number, with I- and at most blanks
    between them in the text.
    """
    groups: list[list[TaggedEntity]] = []
    for entity in entities:
        last = groups[-1][-1] if groups else None
        if last is not None and not entity.opens and entity.label == last.label and _follows(entity, last, text):
            groups[-1].append(entity)
        else:
            groups.append([entity])
    return groups


def _follows(entity: TaggedEntity, last: TaggedEntity, text: str) -> bool:
    if entity.token is not None and last.token is not None:
        return entity.token == last.token + 1
    return entity.continues and last.end <= entity.start and not text[last.end : entity.start].strip()
