"""Answers of language models as mentions: JSON lists, JSON by type, JSON inside prose or a code fence, tagged text.

Taken are, under any of the usual keys: `{"entities": [{"text": "Aspirin", "type": "Drug"}]}`, `[["Aspirin", "Drug"]]`,
`{"Drug": ["Aspirin"]}`, the text with tags in it, `<Drug>Aspirin</Drug>`, or, for one type, `@@Aspirin##` (as GPT-NER
has it, Wang et al. 2023); each as it is or as a string in an answer of a chat, which may stand in the responses of the
programming interfaces of OpenAI and Anthropic.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from nereval_core.problems import quoted
from nereval_core.readers.mentions.placing import Mention
from nereval_core.readers.shared.strict_json import json_type

TEXT_KEYS = ("text", "mention", "name", "entity", "span", "word", "value", "surface")
TYPE_KEYS = ("type", "label", "entity_type", "category", "class", "tag", "entity_group")
LIST_KEYS = ("entities", "mentions", "spans", "annotations", "ner", "named_entities", "result", "results", "output")
ANSWER_KEYS = ("answer", "response", "completion", "output", "content", "prediction", "generated_text", "result")
ID_KEYS = ("id", "document", "document_id", "doc_id", "custom_id")
OTHER_KEYS = frozenset((*ID_KEYS, "text", "meta", "model", "prompt", "type", "usage", "created", "object", "error"))
"""Keys of a line that are no types."""
FENCE = re.compile(r"```[\w-]*[ \t]*\n?(.*?)(?:```|\Z)", re.DOTALL)
TAG = re.compile(r"<(/?)([^\W\d][\w.:-]*)>|(@@)|(##)")
MARKED = "@@"
LONGEST_SHOWN = 60
JSON_BEGINS = 20
"""The most brackets in prose at which JSON is looked for."""

CUT = "the answer is cut off"
MEND = "mend it, or count it as empty: --malformed empty"


class MalformedError(Exception):
    """An answer that names no mentions, not even none: what was found."""


def id_of_line(row: Any) -> Any:
    """Return the id that a line gives, None where it gives none."""
    return next((row[key] for key in ID_KEYS if key in row), None) if isinstance(row, Mapping) else None


def mentions_of_line(row: Any) -> list[Mention]:
    """Return the mentions of a line, in the order of the answer.

    Raises:
        MalformedError: it is no answer that can be read.
    """
    if isinstance(row, Mapping):
        kind = row["type"] if isinstance(row.get("type"), str) else ""
        if (answer := _chat_answer(row)) is not None:
            return mentions_of_answer(answer, kind)
        for key in ANSWER_KEYS:
            if isinstance(row.get(key), str):
                return mentions_of_answer(row[key], kind)
        if any(key in row for key in LIST_KEYS):
            return list(_of_value(row))
        rest = {key: value for key, value in row.items() if key not in OTHER_KEYS}
        if not rest:
            raise MalformedError("no answer in it")
        return list(_of_value(rest))
    return mentions_of_answer(row) if isinstance(row, str) else list(_of_value(row))


def mentions_of_answer(answer: str, kind: str = "") -> list[Mention]:
    """Return the mentions of an answer in words; those marked without a type are of this `kind`.

    Raises:
        MalformedError: neither JSON nor tags in it, or JSON that is cut off or of another form.
    """
    for text in (answer, *(found[1] for found in FENCE.finditer(answer))):
        if text.lstrip().startswith(("{", "[")):
            return list(_of_value(_json(text)))
    if TAG.search(answer) and (tagged := _tagged(answer, kind)):
        return tagged
    problem = f"neither JSON nor tags in {quoted(answer.strip()[:LONGEST_SHOWN])}"
    for begin in islice(re.finditer(r"[{\[]", answer), JSON_BEGINS):
        try:
            return list(_of_value(_json(answer[begin.start() :])))
        except MalformedError as error:
            problem = str(error)
    raise MalformedError(problem)


def _json(text: str) -> Any:
    """Return the JSON value that a text begins with."""
    try:
        return json.JSONDecoder().raw_decode(text.strip())[0]
    except RecursionError:
        raise MalformedError("JSON nested too deeply") from None
    except json.JSONDecodeError as error:
        cut = error.msg.startswith("Unterminated") or not text.strip()[error.pos :].strip()
        said = CUT if cut else f"no JSON: {error.msg} at {error.pos}"
        raise MalformedError(f"{said}, {quoted(text.strip()[-LONGEST_SHOWN:])}") from None


def _of_value(value: Any) -> Iterator[Mention]:
    """Yield the mentions of a JSON value."""
    if isinstance(value, list):
        for item in value:
            yield _mention(item)
    elif isinstance(value, Mapping):
        known = next((key for key in LIST_KEYS if isinstance(value.get(key), (list, Mapping))), None)
        if known is not None:
            yield from _of_value(value[known])
        elif any(isinstance(value.get(key), str) for key in TEXT_KEYS) and any(key in value for key in TYPE_KEYS):
            yield _mention(value)
        else:
            for kind, texts in value.items():
                for text in texts if isinstance(texts, list) else [texts] if texts is not None else []:
                    yield Mention(_words(text, f"an item of {quoted(str(kind))}"), str(kind))
    elif value is not None:
        raise MalformedError(f"{json_type(value)} where a list of entities should be")


def _mention(item: Any) -> Mention:
    if isinstance(item, list) and len(item) == 2 and all(isinstance(part, str) for part in item):
        return Mention(_words(item[0], "an entity"), item[1])
    if not isinstance(item, Mapping):
        raise MalformedError(f"{json_type(item)} where an entity should be")
    kind = next((item[key] for key in TYPE_KEYS if isinstance(item.get(key), str) and item[key]), None)
    text = next((item[key] for key in TEXT_KEYS if key in item), None)
    if kind is None:
        keys = ", ".join(quoted(str(key)) for key in item)
        raise MalformedError(f"an entity without a type, with the keys {keys or 'of none'}")
    return Mention(_words(text, "the text of an entity"), kind)


def _words(text: Any, what: str) -> str:
    if isinstance(text, Mapping):
        text = next((text[key] for key in TEXT_KEYS if key in text), None)
    if not isinstance(text, str) or not text.strip():
        raise MalformedError(f"{what} is {'empty' if isinstance(text, str) else json_type(text)}")
    return text.strip()


def _chat_answer(row: Mapping[str, Any]) -> str | None:
    """Return the answer in the response of a programming interface, None where the line is none."""
    row = _under(row, "response", "body") or _under(row, "result", "message") or row
    choices = row.get("choices")
    if isinstance(choices, list) and choices and isinstance(choices[0], Mapping):
        message = choices[0].get("message")
        content = message.get("content") if isinstance(message, Mapping) else choices[0].get("text")
        return content if isinstance(content, str) else ""
    content = row.get("content")
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content if isinstance(part, Mapping))
    return None


def _under(row: Mapping[str, Any], *keys: str) -> Mapping[str, Any] | None:
    found: Any = row
    for key in keys:
        found = found.get(key) if isinstance(found, Mapping) else None
    return found if isinstance(found, Mapping) else None


def _tagged(text: str, kind: str) -> list[Mention]:
    """Return what stands between tags, in the order of the opening tags; tags without a partner are text.

    Raises:
        MalformedError: a tag is opened and not closed.
    """
    opened: list[tuple[str, int, int]] = []
    closed: list[tuple[int, int, str]] = []
    plain: list[str] = []
    size = at = 0
    for found in TAG.finditer(text):
        name = MARKED if found[3] or found[4] else found[2]
        closes = bool(found[1] or found[4])
        partner = next((number for number in range(len(opened) - 1, -1, -1) if opened[number][0] == name), None)
        if closes and partner is None:
            continue
        plain.append(text[at : found.start()])
        size += found.start() - at
        at = found.end()
        if not closes:
            opened.append((name, size, found.start()))
        elif partner is not None:
            start = opened.pop(partner)[1]
            closed.append((start, size, (kind or MARKED) if name == MARKED else name))
    if opened:
        raise MalformedError(f"{CUT}: <{opened[-1][0]}> is not closed, {quoted(text[opened[-1][2] :][:LONGEST_SHOWN])}")
    plain.append(text[at:])
    words = "".join(plain)
    mentions = [(start, -end, Mention(words[start:end].strip(), name)) for start, end, name in closed]
    return [mention for _, _, mention in sorted(mentions) if mention.text]
