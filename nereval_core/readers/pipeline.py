"""Predictions of taggers as JSON lines: `text` and a list of `entities` (`ents`) with start, end and label.

Entities of Stanza, Presidio, Azure, Comprehend and Google are taken too where a `text` stands beside them (`KEYS_OF`).
Entities are objects of a token classification pipeline of Hugging Face (`entity_group`, or `entity` with `index` for
each piece of a word), of GLiNER (`label`, `text`, `score`) or of spaCy's `Doc.to_json` (`ents`). Pieces are joined from
the start of the first to the end of the last, as that pipeline does by its strategy "simple": a type goes on with I-,
or without a prefix, on the next token. Offsets are code points.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from nereval_core.corpus.builder import Builder
from nereval_core.problems import Problem, quoted
from nereval_core.readers import Reader, Reading, ReadOptions, Source
from nereval_core.readers.input.source import unread_files_note
from nereval_core.readers.shared.annotation_keys import (
    choose_keys,
    key_choices,
    key_of,
    records_of,
    sampled_records,
    types_of_value,
    with_decoded_strings,
)
from nereval_core.readers.shared.label_list import LabelList
from nereval_core.readers.shared.offset_conversion import reading_in_code_points
from nereval_core.readers.shared.offset_units import Offsets
from nereval_core.readers.shared.strict_json import Complain, id_string, json_type, list_under, score_number
from nereval_core.readers.shared.tag_cells import NUMBERS_REMEDY, TagColumn

OFFSETS = Offsets()
LISTS = ("entities", "ents", "predictions", "Entities", "results")
OTHER_LISTS = frozenset(("text", "id", "tokens", "sents", "sentences", "words", "relations", "cats", "meta"))
"""Keys of a record that hold no entities."""
GROUPS = "spans"
"""The key under which spaCy's `Doc.to_json` has span groups, each with a name."""
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
KEY = re.compile(r'"(\w+)"\s*:')


class TaggedEntity(NamedTuple):
    """An entity as given, or a piece of one: `opens` where its tag says B-, `token` the number of its token.

    `continues` says that its number is that of a label with I-. `tagged`
    says that the label is one of Hugging Face's, of which O is none.
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


class PipelineReader(Reader):
    name = "pipeline"
    description = "JSON lines of predictions: Hugging Face token classification, GLiNER, spaCy"
    suffixes = (".jsonl", ".json")
    has_columns = True
    has_labels = True

    def recognise(self, source: Source) -> float:
        """Claim objects with a text and a list of entities, the first of which has start and end."""
        keys = source.head(*self.suffixes).keys
        if "text" not in keys or "data" in keys:
            return 0.0
        if not keys & set(LISTS):
            return 0.6 if _has_entities(source.head(*self.suffixes).first_object) else 0.0
        if "ents" in keys:
            return 0.95
        first = ENTITY.search("\n".join(source.head(*self.suffixes).lines))
        named = {KEYS_OF.get(key, key) for key in KEY.findall(first[1])} if first else set()
        return 0.95 if any(one <= named for one in PLACES) else 0.0

    def read(self, source: Source, options: ReadOptions) -> Reading:
        """Read a text a line with the entities in it.

        Raises:
            FormatError: with every problem; entities without offsets; several lists of entities, and none is named.
        """
        files = source.pick(*self.suffixes)
        made = Builder(source.name)
        records = [(line, shown, _with_groups(row)) for line, shown, row in records_of(files, made.problems)]
        keys, key_notes = choose_keys(records, LISTS, OTHER_LISTS, options.column, source.name)
        joined = outside = 0
        for line, shown, row in records:
            more = _document(row, line, shown, made, keys, options.labels)
            joined, outside = joined + more[0], outside + more[1]
        notes = [*unread_files_note(source, files), *key_notes]
        if other_keys := [key for key in keys if key not in LISTS]:
            notes.append(f"entities taken from {' or '.join(map(quoted, other_keys))}")
        notes += [f"pieces of words joined to those before them: {joined}"] if joined else []
        notes += [f"tokens tagged {OUTSIDE}, left out: {outside}"] if outside else []
        return reading_in_code_points(made, source, options, self.name, expected=OFFSETS, notes=notes)

    def tag_column_choices(self, source: Source) -> tuple[TagColumn, ...]:
        """Return the keys of which one has to be chosen, by the first records of small files; else nothing."""
        records = sampled_records(source.pick(*self.suffixes))
        return key_choices(map(_with_groups, records), LISTS, OTHER_LISTS)


READER = PipelineReader()


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


def _with_groups(row: Any) -> Any:
    """Return a record of spaCy with its span groups under their own names; any other with its lists in strings read."""
    row = with_decoded_strings(row, OTHER_LISTS)
    groups = row.get(GROUPS) if isinstance(row, dict) else None
    if not isinstance(groups, dict) or not all(isinstance(spans, list) for spans in groups.values()):
        return row
    named = {name if name not in row else f"{GROUPS}.{name}": spans for name, spans in groups.items()}
    return {key: value for key, value in row.items() if key != GROUPS} | named


def _document(
    row: Any, line: int, shown: str, made: Builder, keys: Sequence[str], labels: LabelList | None
) -> tuple[int, int]:
    """Add a document; return how many pieces were joined to others, and how many were tagged as being in no entity."""

    def complain(found: str, remedy: str) -> None:
        made.problems.append(Problem(shown, line, found, remedy))

    if not isinstance(row, dict) or not isinstance(row.get("text"), str):
        what = "no text" if isinstance(row, dict) else f"{json_type(row)} where a text should be"
        complain(what, "write an object with text and entities on each line")
        return 0, 0
    made.document(id_string(row.get("id")), row["text"], line=line, source=shown)
    key = key_of(row, keys)
    if key is None:
        if not row.keys().isdisjoint(LISTS):
            return 0, 0
        complain("no list of entities", f"write one under {', '.join(LISTS)}, empty where there are none")
        return 0, 0
    listed = _entities_of(list_under(row, key, complain))
    if _plainly(listed, made):
        return 0, 0
    entities = [read_entity(entity, f"{key}[{at}]", complain, labels) for at, entity in enumerate(listed)]
    found = [entity for entity in entities if entity is not None]
    inside = [entity for entity in found if not (entity.tagged and entity.label == OUTSIDE)]
    groups = join_pieces(inside, row["text"])
    for group in groups:
        scores = [piece.score for piece in group if piece.score is not None]
        made.span(
            group[0].start,
            group[-1].end,
            group[0].label,
            quote=group[0].quote,
            score=sum(scores) / len(scores) if scores else None,
        )
    return len(inside) - len(groups), len(found) - len(inside)


def _plainly(given: list[Any], made: Builder) -> bool:
    """Add entities that are all right and no pieces, and say whether they were."""
    if set(map(type, given)) != {dict}:
        return False
    keys = set().union(*given)
    label = next((key for key in TYPES if key in keys), "entity")
    if label == "entity" or "index" in keys or not keys >= {"start", "end"}:
        return False
    starts, ends, labels = ([one.get(key) for one in given] for key in ("start", "end", label))
    if [set(map(type, column)) for column in (starts, ends, labels)] != [{int}, {int}, {str}]:
        return False
    if (label == "entity_group" and OUTSIDE in labels) or any(name.startswith("LABEL_") for name in {*labels}):
        return False
    quotes = [quote if isinstance(quote := one.get("text"), str) else None for one in given] if "text" in keys else ()
    scores = [score_number(one.get("score")) for one in given] if "score" in keys else ()
    made.spans(starts, ends, labels, quotes=quotes, scores=scores)
    return True


def _entities_of(given: list[Any]) -> list[Any]:
    """Return entities under our keys; each mention of an entity of Google is one."""
    found: list[Any] = []
    for one in given:
        if isinstance(one, list) and sorted(part.__name__ for part in map(type, one)) in TRIPLES:
            places, labels, scores = ([part for part in one if type(part) is kind] for kind in (int, str, float))
            found.append(dict(zip(("start", "end", "label", "score"), [*places, *labels, *scores], strict=False)))
        elif not isinstance(one, dict) or ({"start", "end"} <= one.keys() and one.keys() & set(TYPES)):
            found.append(one)
        elif isinstance(one.get("mentions"), list):
            texts = [mention.get("text") for mention in one["mentions"] if isinstance(mention, dict)]
            found += [_google(text, one.get("type")) for text in texts]
        else:
            renamed = {KEYS_OF.get(key, key): value for key, value in one.items()}
            if type(renamed.get("start")) is int and type(one.get("length")) is int:
                renamed.setdefault("end", renamed["start"] + one["length"])
            found.append(renamed)
    return found


def _google(text: Any, kind: Any) -> Any:
    held = text if isinstance(text, dict) else {}
    start, content = held.get("beginOffset"), held.get("content")
    if type(start) is not int or not isinstance(content, str):
        return text
    return {"start": start, "end": start + len(content), "label": kind, "text": content}


def read_entity(given: Any, what: str, complain: Complain, labels: LabelList | None = None) -> TaggedEntity | None:
    """Return an entity, None where it is not one; `what` names it in problems, `labels` are those of `LABEL_n`."""
    found: Mapping[str, Any] = given if isinstance(given, dict) else {}
    start, end = found.get("start"), found.get("end")
    label = next((found[key] for key in TYPES if key in found), None)
    if isinstance(label, str) and "start" in found and start is None and end is None:
        complain(f"{what} has no offsets", "run the pipeline with a fast tokenizer: others give none")
        return None
    if type(start) is not int or type(end) is not int or not isinstance(label, str):
        complain(f"{what} is not an entity", f"give start, end and one of {', '.join(TYPES)}")
        return None
    quote, index = found.get("text"), found.get("index")
    number = NUMBERED.fullmatch(label)
    if number is not None:
        if labels is None:
            complain(f"{what} has the label {quoted(label)}, the number of a label", NUMBERS_REMEDY)
            return None
        if int(number[1]) >= len(labels):
            complain(f"{what} has the label {quoted(label)}, and there are {len(labels)} labels", NUMBERS_REMEDY)
            return None
        label = labels.names[int(number[1])]
    tag = PREFIX.fullmatch(label) if number or ("entity" in found and "entity_group" not in found) else None
    return TaggedEntity(
        start,
        end,
        tag[2] if tag else label,
        quote if isinstance(quote, str) else None,
        score_number(found.get("score")),
        bool(tag and tag[1] == "B"),
        bool(number and tag and tag[1] == "I"),
        index if type(index) is int else None,
        number is not None or "entity" in found or "entity_group" in found,
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
