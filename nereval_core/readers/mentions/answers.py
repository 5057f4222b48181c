"""Answers of language models as mentions: JSON lists, JSON by type, JSON inside prose or a code fence, tagged text.

Read are, under any of the usual keys: `{"entities": [{"text": "Aspirin", "type": "Drug"}]}`, `[["Aspirin", "Drug"]]`,
`{"Drug": ["Aspirin"]}`, the text with tags in it, `<Drug>Aspirin</Drug>`, or, for one type, `@@Aspirin##` (as GPT-NER
has it, Wang et al. 2023); each as it is or as a string in an answer of a chat, which may stand in the responses of
programming interfaces (`responses`). Of several JSON values in an answer the last complete one counts.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple

from nereval_core.problems import quoted
from nereval_core.readers.mentions.answer_lines import pairs_of_lines, says_nothing, unread_head
from nereval_core.readers.mentions.answer_text import (
    BEGINS_LIKE_JSON,
    LONGEST_SHOWN,
    MARKED,
    REASONING,
    JsonValue,
    MalformedError,
    decoded,
    json_values,
    tagged_spans,
    without_reasoning,
)
from nereval_core.readers.mentions.marked_places import places_of_marks
from nereval_core.readers.mentions.responses import (
    ANSWER_KEYS,
    ANSWER_MARKS,
    ATTRIBUTES,
    LIST_KEYS,
    NOTHING,
    OTHER_KEYS,
    OUTSIDE_TYPES,
    REASONING_KEYS,
    STRUCTURE,
    TEXT_KEYS,
    TYPE_KEYS,
    response_of,
)
from nereval_core.readers.shared.strict_json import json_type

TAG_OF_TYPE = re.compile(r"[bi]-(.+)", re.DOTALL)
MENTION_KEYS = frozenset((*TYPE_KEYS, *TEXT_KEYS))
BETWEEN_ITEMS = re.compile(r"[\s,;`]*(?:(?<=```)\w+\s*)?(?:(?:[-*•]|\(?\d+[.):])\s*)?")
"""White space, commas, fences and the bullet or number of the next item between the items of a list."""
PAIR = re.compile(r"\s*[\[(]?\s*([0-9]{1,12})\s*[-–,:]\s*([0-9]{1,12})\s*[\])]?\s*")
"""Two numbers in words, `47-55`, which may be a start and an end."""
ALIGNMENT = "alignment_status"
"""The key under which LangExtract says how it found the place of a mention in the text."""
DEEPEST = 5
"""The most answers within answers: JSON in a string in JSON."""

REASONING_COUNT = "answers without their reasoning"
SEVERAL = "answers of several JSON values, the last complete one read"
FURTHER = "further answers of one response, not read"
OUTSIDE = "mentions of type O or of none, left out"
INSIDE = "mentions inside tags that are not types of gold, left out"


class NamedMention(NamedTuple):
    """A mention as an answer names it.

    `pair` is the number, in its answer, of the list or object in whose order mention and type stand; None where keys or
    tags tell which is which. `details` are the further values of a mention, which may be offsets. `in_list` says that
    the mention stands in a list under its type.
    """

    text: str
    type: str
    pair: int | None = None
    details: Mapping[str, Any] = MappingProxyType({})
    in_list: bool = False
    place: tuple[int, int] | None = None


@dataclass(slots=True)
class Answer:
    """The mentions of an answer in their order, and how many things of each kind were passed over."""

    mentions: list[NamedMention] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    unread: Counter[str] = field(default_factory=Counter)
    """Keys that were not read."""


def decoded_line(row: Any) -> Any:
    """Return a line that is a string of JSON as its value; anything else as it is."""
    return decoded(row) or row if isinstance(row, str) else row


def read_answer(row: Any, text: str = "", types: Collection[str] = (), key: str | None = None) -> Answer:
    """Return the mentions of a line, in the order of the answer; `text` is its document's, `types` are gold's.

    `key` names the key that holds the answer, None where the line shows it.

    Raises:
        MalformedError: it is not an answer that can be read.
    """
    reader = _AnswerReader(text, {name.casefold(): name for name in types})
    row = decoded_line(row)
    if key is not None and not (isinstance(row, Mapping) and key in row):
        raise MalformedError(f"no key {quoted(key)}, which is to hold the answer")
    mentions = reader.mentions_of_line(row, key)
    counts = reader.counts
    outside_types = OUTSIDE_TYPES.difference(reader.types)
    for number, mention in enumerate(mentions, start=1):
        words = mention.text
        kind = mention.type.casefold()
        if kind not in reader.types:
            if mention.pair is None and words.casefold() in reader.types and kind in text.casefold():
                # Under the key of the mention stands a type, and under that of the type words of the text.
                mention = mention._replace(pair=None if words.casefold() in text.casefold() else -number)
            if (tag := TAG_OF_TYPE.match(kind)) and (not types or tag[1] in reader.types):
                raise MalformedError(f"the tag {quoted(mention.type)} where a type should be")
        if kind in outside_types or (words.casefold() in NOTHING and words not in text):
            counts[OUTSIDE] += 1
        elif "&" in words and words not in text and (plain := html.unescape(words)) in text:
            reader.answer.mentions.append(mention._replace(text=plain))
        else:
            reader.answer.mentions.append(mention)
    if reader.has_reasoning:
        counts[REASONING_COUNT] = 1
    return reader.answer


class _AnswerReader:
    """Reads the answer of a line: `types` are gold's names of types by their small letters, `kind` that of marks."""

    def __init__(self, text: str, types: Mapping[str, str]) -> None:
        self.text, self.types, self.kind = text, types, ""
        self.answer = Answer()
        self.counts = self.answer.counts
        self.has_reasoning = False
        self.pairs = self.depth = 0

    def mentions_of_line(self, row: Any, answer_key: str | None) -> list[NamedMention]:
        if isinstance(row, Mapping) and isinstance(row.get("type"), str):
            self.kind = row["type"]
        if answer_key is not None:
            return self.of_content(row[answer_key])
        response = response_of(row)
        if response is not None:
            self.has_reasoning |= response.has_reasoning
            if response.further:
                self.counts[FURTHER] += response.further
            return self.of_content(response.content)
        if isinstance(row, Mapping) and row:
            for key in ANSWER_KEYS:
                if key in row and not (key in LIST_KEYS and isinstance(row[key], list)):
                    self.has_reasoning |= any(row.get(name) for name in REASONING_KEYS)
                    if row[key] is None:
                        raise MalformedError(f"no answer: {key} is null")
                    return self.of_content(row[key])
            lists = {key: row[key] for key in LIST_KEYS if key in row}
            row = lists or {key: value for key, value in row.items() if key not in OTHER_KEYS}
            if not row:
                raise MalformedError("no answer in it")
        return self.of_content(row)

    def of_content(self, content: Any) -> list[NamedMention]:
        """Return the mentions of words or of a JSON value."""
        self.depth += 1
        if self.depth > DEEPEST:
            raise MalformedError("answers nested too deeply")
        mentions = self.of_words(content) if isinstance(content, str) else list(self.of_value(content))
        self.depth -= 1
        return mentions

    def of_words(self, answer: str) -> list[NamedMention]:
        """Return the mentions of an answer in words."""
        whole = decoded(answer)
        if whole is not None:
            return self.of_content(whole)
        answer, has_reasoning = without_reasoning(answer, self.types)
        self.has_reasoning |= has_reasoning
        if has_reasoning and not answer.strip():
            raise MalformedError("nothing but reasoning: the answer is cut off or empty")
        values, broken = json_values(answer)
        # Numbers in brackets refer to something.
        values = [value for value in values if not _is_reference(value.value)]
        runs = _runs_of_items(values, answer, self)
        if broken and runs and isinstance(runs[-1], _Items):
            raise MalformedError(broken)
        from_json = next((mentions for run in reversed(runs) if (mentions := self.readable(run)) is not None), None)
        if not from_json and not (values and not answer[values[-1].end :].strip("` \n")):
            without_values = _blanked(answer, values)
            if tagged := self.of_tags(without_values) if "<" in without_values or MARKED in without_values else []:
                return tagged
        # An empty list may be that of the last type in a list of mentions by type.
        if runs and self.types and not from_json and (by_type := self.of_lines(answer)):
            return by_type
        if from_json is not None:
            self.counts[SEVERAL] += len(runs) > 1 or bool(broken)
            return from_json
        if runs:
            return list(self.of_value(runs[-1]))
        if "&lt;" in answer or "&quot;" in answer:
            return self.of_words(html.unescape(answer))
        if answer.split() == self.text.split() and self.text:
            # The text as it is, without tags.
            return []
        if says_nothing(answer):
            return []
        mentions = self.of_lines(answer) if not broken else None
        if mentions is not None:
            return mentions
        if not broken and (head := unread_head(answer)):
            remedy = "call the columns of mentions and types Entity and Type in it"
            raise MalformedError(f"neither JSON nor tags in a table with the head {quoted(head)}", remedy)
        raise MalformedError(broken or f"neither JSON nor tags in {quoted(answer.strip()[:LONGEST_SHOWN])}")

    def of_lines(self, answer: str) -> list[NamedMention] | None:
        """Return the mentions of an answer in lines, None where it is not one."""
        pairs = pairs_of_lines(answer, self.types, self.text)
        if pairs is None:
            return None
        self.pairs += 1
        number = self.pairs
        return [
            NamedMention(*pair[:2], None if pair.sure or pair.listed else number, pair.details, place=pair.place)
            for pair in pairs
        ]

    def readable(self, value: Any) -> list[NamedMention] | None:
        """Return the mentions of a JSON value, None where it cannot be read."""
        try:
            return list(self.of_value(value))
        except MalformedError:
            return None

    def of_tags(self, answer: str) -> list[NamedMention]:
        """Return what stands between tags, in the order of the opening tags."""
        words, spans, left_out = tagged_spans(answer, self.types, self.text)
        mentions: list[NamedMention] = []
        places = places_of_marks(words, [(span.start, span.end) for span in spans], self.text)
        for span, place in zip(spans, places, strict=True):
            kind = self.type_of_marks() if span.element == MARKED else html.unescape(span.type)
            if self.is_type(kind):
                mention = html.unescape(words[span.start : span.end]).strip()
                mentions.append(NamedMention(mention, kind, place=place))
        if left_out:
            self.counts[INSIDE] += left_out
        return mentions

    def type_of_marks(self) -> str:
        """Return the type of what an answer marks without naming a type."""
        if not self.kind and len(self.types) != 1:
            raise MalformedError('mentions without a type: give it beside the answer, "type": "Drug"')
        return self.kind or next(iter(self.types.values()))

    def is_type(self, name: str) -> bool:
        """Return whether a key or tag may name a type."""
        name = name.strip().casefold()
        return name in self.types or name not in STRUCTURE | REASONING

    def of_value(self, value: Any) -> Iterator[NamedMention]:
        """Yield the mentions of a JSON value."""
        if isinstance(value, (list, tuple)):
            value = [value] if self.is_item(value) else value
            self.pairs += 1
            number = self.pairs
            for item in value:
                if isinstance(item, Mapping) and MENTION_KEYS.isdisjoint(item):
                    yield from self.of_own_keys(item) or self.of_types(item)
                else:
                    yield self.mention(item, number)
        elif isinstance(value, Mapping):
            value = {str(key): content for key, content in value.items()}
            self.has_reasoning |= any(value[key] for key in REASONING.difference(self.types).intersection(value))
            list_key = next((key for key in LIST_KEYS if isinstance(value.get(key), (list, tuple, Mapping))), None)
            answer_key = next((key for key in (*ANSWER_KEYS, *LIST_KEYS) if self.holds_answer(value, key)), None)
            if list_key is not None and list_key not in self.types:
                yield from self.of_value(value[list_key])
            elif any(isinstance(value.get(key), str) for key in TEXT_KEYS) and any(key in value for key in TYPE_KEYS):
                yield self.mention(value)
            elif answer_key is not None:
                yield from self.of_content(value[answer_key])
            else:
                yield from self.of_types(value)
        elif value is not None:
            raise MalformedError(f"{json_type(value)} where a list of entities should be")

    def of_own_keys(self, item: Mapping[str, Any]) -> list[NamedMention]:
        """Return the mention of an object with two keys of its own, `{"E": "Anna", "T": "PER"}`; nothing for others.

        One of the values is then a type of gold, and neither key is.
        """
        words = [value.strip() for value in item.values() if isinstance(value, str)]
        kinds = [value.casefold() in self.types for value in words]
        if len(item) != 2 or len(words) != 2 or sum(kinds) != 1 or any(key.casefold() in self.types for key in item):
            return []
        return [NamedMention(words[kinds.index(False)], words[kinds.index(True)])]

    def is_item(self, value: Any) -> bool:
        """Return whether a value names one mention: an object with a text and a type, or a pair with a type of gold."""
        if isinstance(value, Mapping):
            return type_of_item(value) is not None and any(isinstance(value.get(key), str) for key in TEXT_KEYS)
        if self.kind or not isinstance(value, (list, tuple)) or len(value) != 2:
            return False
        return all(isinstance(part, str) for part in value) and any(part.casefold() in self.types for part in value)

    def holds_answer(self, value: Mapping[str, Any], key: str) -> bool:
        """Return whether a key of an object holds an answer of its own."""
        if key not in value or key in self.types:
            return False
        content = value[key]
        return isinstance(content, (Mapping, list)) or (isinstance(content, str) and bool(ANSWER_MARKS.search(content)))

    def of_types(self, value: Mapping[str, Any]) -> Iterator[NamedMention]:
        """Yield the mentions of an object of mentions by type; or of types by mention, which `pair_order` turns."""
        self.pairs += 1
        number = self.pairs
        has_lists = any(isinstance(content, (list, tuple)) for content in value.values())
        for key, content in value.items():
            name = str(key).strip()
            folded = name.casefold()
            if content is None:
                continue
            if folded in self.types:
                pass
            elif folded in REASONING:
                continue
            elif folded in STRUCTURE:
                nothing = not content or content == self.text or str(content).strip().casefold() in NOTHING
                if not nothing and (isinstance(content, list) or folded in (*LIST_KEYS, *ANSWER_KEYS)):
                    raise MalformedError(f"neither JSON nor tags under {quoted(name)}, which is not a type")
                if not nothing:
                    self.answer.unread[name] += 1
                continue
            elif name.endswith(ATTRIBUTES) or (has_lists and self.is_remark(content)):
                self.answer.unread[name] += 1
                continue
            for item in content if isinstance(content, (list, tuple)) else [content]:
                yield self.mention_of_type(item, name, number)._replace(in_list=has_lists)

    def is_remark(self, content: Any) -> bool:
        """Return whether a value beside lists of mentions is a string that the text does not have; with gold only."""
        return bool(self.types) and isinstance(content, str) and content.casefold() not in self.text.casefold()

    def mention_of_type(self, item: Any, kind: str, number: int) -> NamedMention:
        """Return an item under a type; the item's own type counts where it is one of gold's and the key is not."""
        text = _words(item, f"an item of {quoted(kind)}")
        if kind.casefold() not in self.types and BEGINS_LIKE_JSON.match(text) and text not in self.text:
            raise MalformedError(f"JSON under {quoted(kind)}, which is not a type")
        if not isinstance(item, Mapping):
            return NamedMention(text, kind, number)
        own = type_of_item(item)
        is_own = own is not None and own.casefold() in self.types and kind.casefold() not in self.types
        return NamedMention(text, own if own is not None and is_own else kind, None, _details(item))

    def mention(self, item: Any, number: int | None = None) -> NamedMention:
        """Return the mention that an item of a list names."""
        if isinstance(item, Mapping):
            return _mention_by_keys(item)
        if isinstance(item, str) and self.kind:
            return NamedMention(_words(item, "an entity"), self.kind)
        strings = [part for part in item if isinstance(part, str)] if isinstance(item, (list, tuple)) else []
        if len(strings) == 2:
            numbers = [part for part in item if type(part) is int]
            if len(strings) + len(numbers) == len(item) and len(numbers) in (0, 2):
                details = dict(zip(("start", "end"), numbers, strict=False))
                return NamedMention(_words(strings[0], "an entity"), strings[1].strip(), number, details)
        raise MalformedError(f"{json_type(item)} where an entity should be")


def _mention_by_keys(item: Mapping[str, Any]) -> NamedMention:
    """Return the mention that an object with a text and a type names."""
    kind = type_of_item(item)
    if kind is None:
        keys = ", ".join(quoted(str(key)) for key in item)
        raise MalformedError(f"an entity without a type, with the keys {keys or 'of none'}")
    text = next((item[key] for key in TEXT_KEYS if isinstance(item.get(key), (str, Mapping))), None)
    return NamedMention(_words(text, "the text of an entity"), kind, None, _details(item) if len(item) > 2 else {})


def type_of_item(item: Mapping[str, Any]) -> str | None:
    """Return the type that an object names, also as the only one of a list; None for none."""
    for key in TYPE_KEYS:
        kind = item.get(key)
        kind = kind[0] if isinstance(kind, list) and len(kind) == 1 else kind
        if isinstance(kind, str) and kind.strip():
            return kind.strip()
    return None


def _details(item: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the values of a mention that are neither its text nor its type, and not words but for its alignment."""
    return {
        str(key): value
        for key, value in item.items()
        if not isinstance(value, str) or value.strip().isdecimal() or PAIR.fullmatch(value) or key == ALIGNMENT
    }


def _words(text: Any, what: str) -> str:
    if isinstance(text, Mapping):
        text = next((text[key] for key in TEXT_KEYS if key in text), None)
    if not isinstance(text, str) or not text.strip():
        raise MalformedError(f"{what} is {'empty' if isinstance(text, str) else json_type(text)}")
    return text.strip()


def _runs_of_items(values: Sequence[JsonValue], answer: str, reader: _AnswerReader) -> list[Any]:
    """Return JSON values, items that stand one after the other as one list, and objects of other types as one."""
    runs: list[Any] = []
    end = 0
    for start, following, value in values:
        joins = bool(runs) and BETWEEN_ITEMS.fullmatch(answer, end, start) is not None
        last = runs[-1] if runs else None
        if reader.is_item(value):
            if joins and isinstance(last, _Items):
                last.append(value)
            else:
                runs.append(_Items([value]))
        elif joins and _are_parts(last, value):
            runs[-1] = last | value
        else:
            runs.append(value)
        end = following
    return runs


def _are_parts(last: Any, value: Any) -> bool:
    """Return whether two values are objects of mentions by different types."""
    if not (isinstance(last, dict) and isinstance(value, dict) and last.keys().isdisjoint(value)):
        return False
    return (STRUCTURE | REASONING).isdisjoint({*last, *value})


class _Items(list[Any]):
    """Items that stand one after the other as a list."""


def _is_reference(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and bool(value) and all(type(item) is int for item in value)


def _blanked(answer: str, values: Sequence[JsonValue]) -> str:
    """Return an answer without its JSON values, in whose strings tags may stand."""
    pieces: list[str] = []
    at = 0
    for value in values:
        pieces.append(answer[at : value.start])
        at = value.end
    return "".join((*pieces, answer[at:]))
