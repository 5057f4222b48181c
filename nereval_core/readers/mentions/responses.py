"""Responses of programming interfaces (chats, completions, batches), and the keys of answers in them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from nereval_core.problems import quoted
from nereval_core.readers.mentions.answer_text import MalformedError, decoded
from nereval_core.readers.shared.python_literals import CLASS_NAME
from nereval_core.readers.shared.strict_json import json_type

RESPONSE_KEYS = frozenset(
    (
        "choices",
        "custom_id",
        "completion",
        "generated_text",
        "candidates",
        "outputs",
        "messages",
        "done",
        "conversations",
        "modelOutput",
        "stopReason",
        "finish_reason",
        "filtered_resps",
    )
)
"""Keys that only responses of language models have."""
QUESTION = re.compile(r"What describes (.+) in the text\?", re.IGNORECASE)
"""The question for one type, of chats that ask for each."""
CHAT_TEXT = "Text: "
CHATS = ("generated_text", "messages", "conversations")
REASONING_KEYS = ("reasoning_content", "reasoning", "thinking", "thoughts")
REASONING_PARTS = frozenset(("thinking", "redacted_thinking", "reasoning", "reasoning_text", "thought"))
OUTPUT_ITEMS = frozenset(("message", "reasoning", "function_call", "output_text", "custom_tool_call"))
COUNT_EMPTY = ", or count it as empty: --malformed empty"
BATCH_KEYS = ("custom_id", "key", "recordId")


class Response(NamedTuple):
    """An answer: words, or the value of a tool's call; whether reasoning stands beside it; and answers beyond it."""

    content: Any
    has_reasoning: bool = False
    further: int = 0


def response_of(row: Any) -> Response | None:
    """Return the answer in a response, None where a line is not a response.

    Raises:
        MalformedError: a line of a batch whose request failed.
    """
    if isinstance(row, list) and row and isinstance(row[0], Mapping) and "generated_text" in row[0]:
        return _of_texts(row, "generated_text")
    if not isinstance(row, Mapping):
        return None
    batch = any(key in row for key in BATCH_KEYS) or isinstance(row.get("request"), Mapping)
    body: Any = row
    for keys in (("response", "body"), ("result", "message"), ("response",), ("modelOutput",), ("output",)):
        inner: Any = row
        for key in keys:
            inner = inner.get(key) if isinstance(inner, Mapping) else None
        if isinstance(inner, Mapping) and (len(keys) == 2 or batch or ("message" in inner and "stopReason" in row)):
            body = inner
            break
    response = _of_body(body)
    if response is None and batch and ("response" in row or "result" in row):
        failure = _failure(row)
        finding = f"a response without an answer{': the request failed: ' + quoted(failure) if failure else ''}"
        raise MalformedError(finding, f"send the request again{COUNT_EMPTY}" if failure else "")
    return response


def is_response(row: Any) -> bool:
    """Return whether a line is the body of a response, whose `id` is its own."""
    if not isinstance(row, Mapping):
        return False
    is_named = not row.keys().isdisjoint(("object", "finish_reason", "filtered_resps")) or row.get("type") == "message"
    return is_named and _of_body(row) is not None


def _of_body(body: Mapping[str, Any]) -> Response | None:
    """Return the answer of the body of a response, None where it has none of the known forms."""
    if choices := _objects(body.get("choices")):
        message = choices[0].get("message")
        response = _of_message(message) if isinstance(message, Mapping) else Response(choices[0].get("text") or "")
        return response._replace(further=len(choices) - 1)
    if isinstance(body.get("content"), list):
        return _of_message(body)
    output = _objects(body.get("output"))
    if any(item.get("type") in OUTPUT_ITEMS for item in output):
        return _of_parts(output)
    candidates = _objects(body.get("candidates"))
    if candidates and isinstance(candidates[0].get("content"), Mapping):
        parts = candidates[0]["content"].get("parts")
        return _of_parts(parts if isinstance(parts, list) else ())._replace(further=len(candidates) - 1)
    if outputs := _objects(body.get("outputs")):
        return _of_texts(outputs, "text")
    if isinstance(body.get("message"), Mapping):
        return _of_message(body["message"])
    if isinstance(samples := body.get("filtered_resps"), list) and samples and isinstance(samples[0], str):
        return Response(samples[0], further=len(samples) - 1)
    for key in CHATS:
        chat = _objects(body.get(key))
        if chat and chat[-1].get("role") == "assistant":
            return _of_message(chat[-1])
        if chat and chat[-1].get("from") in ("gpt", "assistant"):
            return Response(_by_question(chat) or chat[-1].get("value") or "")
    return None


def _by_question(chat: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the answers of a chat that asks for one type after another, as UniversalNER's data do, by type.

    Raises:
        MalformedError: one is not a list.
    """
    by_type: dict[str, Any] = {}
    for turn, reply in pairwise(chat):
        if question := QUESTION.fullmatch(str(turn.get("value")).strip()):
            mentions = decoded(str(reply.get("value")))
            if not isinstance(mentions, list):
                finding = f"no list of mentions for {quoted(question[1])} in {quoted(str(reply.get('value')))}"
                raise MalformedError(finding)
            by_type.setdefault(question[1], []).extend(mentions)
    return by_type


def _of_message(message: Mapping[str, Any]) -> Response:
    """Return the answer of a message: its content, or else the arguments of the tool that it calls."""
    content = message.get("content")
    response = _of_parts(content) if isinstance(content, list) else Response(content)
    calls = _objects(message.get("tool_calls"))
    if response.content in (None, "") and calls:
        functions = [call.get("function") for call in calls]
        arguments = [function.get("arguments") if isinstance(function, Mapping) else None for function in functions]
        response = Response(_of_calls(arguments), response.has_reasoning)
    beside = any(message.get(key) for key in REASONING_KEYS)
    return response._replace(content=response.content or "", has_reasoning=response.has_reasoning or beside)


def _of_parts(parts: Sequence[Any]) -> Response:
    """Return the answer in the parts of a content: their text, or the input of a tool."""
    texts: list[str] = []
    inputs: list[Any] = []
    has_reasoning = False
    for part in parts:
        if not isinstance(part, Mapping):
            continue
        if part.get("type") in REASONING_PARTS or part.get("thought") is True:
            has_reasoning = True
        elif isinstance(part.get("content"), list):
            nested = _of_parts(part["content"])
            texts.append(str(nested.content))
            has_reasoning |= nested.has_reasoning
        elif part.get("type") == "tool_use":
            inputs.append(part.get("input"))
        elif part.get("type") == "function_call":
            inputs.append(part.get("arguments"))
        else:
            texts.append(str(part.get("text") or ""))
    if inputs:
        # A tool's input is the answer; the words before it introduce it.
        return Response(_of_calls(inputs), has_reasoning)
    return Response("".join(texts), has_reasoning)


def _of_calls(inputs: Sequence[Any]) -> Any:
    """Return the answer of a model's calls of tools: the mentions of all of them."""
    if len(inputs) == 1:
        return inputs[0]
    mentions: list[Any] = []
    for value in inputs:
        arguments = decoded(value) if isinstance(value, str) else value
        if not isinstance(arguments, (Mapping, list)):
            raise MalformedError(f"a call of a tool whose arguments are {json_type(value)} without JSON")
        entries = arguments
        if isinstance(arguments, Mapping):
            entries = next((arguments[key] for key in LIST_KEYS if isinstance(arguments.get(key), list)), arguments)
        mentions += entries if isinstance(entries, list) else [entries]
    return mentions


def _of_texts(rows: Sequence[Mapping[str, Any]], key: str) -> Response:
    text = rows[0].get(key)
    if chat := _objects(text):
        return _of_message(chat[-1])
    return Response(text or "", False, len(rows) - 1)


def _objects(value: Any) -> list[Mapping[str, Any]]:
    """Return a list of objects, an empty one for any other value."""
    return value if isinstance(value, list) and all(isinstance(item, Mapping) for item in value) else []


def _failure(row: Mapping[str, Any]) -> str:
    """Return what a batch says of a request that failed."""
    error = row.get("error") or row.get("response") or row.get("result")
    if isinstance(error, Mapping):
        error = error.get("error") or error.get("body") or error
    if isinstance(error, Mapping):
        error = error.get("message") or error.get("error") or error
    return "" if error is None else error if isinstance(error, str) else json.dumps(error, default=str)


TEXT_KEYS = (
    *("text", "mention", "name", "entity", "span", "word", "value", "surface"),
    *("entity_name", "entity_text", "entity_value", "mention_text", "extraction_text", "phrase", "quote"),
)
TYPE_KEYS = (
    *("type", "label", "entity_type", "category", "class", "tag", "entity_group"),
    *("entity_label", "ner_type", "ner_tag", "extraction_class", "types", CLASS_NAME),
)
LIST_KEYS = (
    *("entities", "mentions", "spans", "annotations", "ner", "named_entities", "result", "results", "output"),
    *("extractions", "entity_list", "predictions", "answers", "entity"),
)
ANSWER_KEYS = (
    *("answer", "response", "completion", "output", "content", "prediction", "generated_text", "result"),
    *("model_output", "model_response", "llm_output", "llm_response", "output_text", "raw_output", "final_answer"),
    *("predict", "pred", "hypothesis", "generation", "reply", "raw", "text_output"),
)
ID_KEYS = ("custom_id", "id", "document", "document_id", "doc_id", "key", "recordId")
"""Keys of a line that name its document; in batches `id` is that of the response."""
OTHER_KEYS = frozenset((*ID_KEYS, "text", "meta", "model", "prompt", "type", "usage", "created", "object", "error"))
"""Keys of a line that are not types."""
STRUCTURE = frozenset(
    (
        *LIST_KEYS,
        *ANSWER_KEYS,
        *(
            "id",
            "text",
            "type",
            "label",
            "mention",
            "entity",
            "sentence",
            "input",
            "json",
            "xml",
            *("tokens", "words", "tags", "labels", "ner_tags"),
        ),
    )
)
"""Names of keys and tags that are not types, unless gold has a type of this name."""
OUTSIDE_TYPES = frozenset(("o", "none", "null", "n/a", "not an entity", "no entity", "non-entity"))
NOTHING = frozenset(("none", "null", "n/a", "no entities", "none found", "not found", "not mentioned"))
"""Words in place of a mention that mean "no mention", unless they stand in the text."""
ANSWER_MARKS = re.compile(r"[{\[<]|@@")
"""Beginnings of JSON and of tags."""
SPAN_KEYS = frozenset(("start", "end", "label"))
SIDE = re.compile(r"(?:gold|pred|hyp|system|output|model|answer|response)", re.IGNORECASE)
"""Beginnings of keys that name a side of a comparison, or a model."""
ATTRIBUTES = "_attributes"
"""The ending of keys under which LangExtract's models say more of a mention."""


def text_of_line(row: Any) -> Any:
    """Return the text that a line has beside its answer, also as the input of an instruction; None for none."""
    if not isinstance(row, Mapping):
        return None
    chat = _objects(row.get("conversations"))
    first = chat[0].get("value") if chat else None
    if isinstance(first, str) and first.startswith(CHAT_TEXT) and _by_question(chat):
        return first.removeprefix(CHAT_TEXT)
    if "text" in row or "instruction" not in row:
        return row.get("text")
    # IEPile has the text in the JSON of its instruction.
    instruction = decoded(row["instruction"]) if isinstance(row["instruction"], str) else None
    return row.get("input") or (instruction.get("input") if isinstance(instruction, Mapping) else None)


def id_of_line(row: Any) -> Any:
    """Return the id that a line gives, None where it gives none."""
    return next((row[key] for key in ID_KEYS if key in row), None) if isinstance(row, Mapping) else None


def answer_keys(row: Any) -> list[str]:
    """Return the keys of a line that may hold its answer; several where gold or another answer stands beside it."""
    if not isinstance(row, Mapping) or not row.keys().isdisjoint(
        RESPONSE_KEYS.difference(ANSWER_KEYS).union(BATCH_KEYS)
    ):
        return []
    keys = [*ANSWER_KEYS, *LIST_KEYS, *(key for key in row if SIDE.match(str(key)))]
    return [key for key in dict.fromkeys(keys) if _may_be_answer(row.get(key))]


def _may_be_answer(value: Any) -> bool:
    if isinstance(value, str):
        return ANSWER_MARKS.search(value) is not None
    if not isinstance(value, list):
        return isinstance(value, Mapping) and bool(value)
    first = value[0] if value else None
    if isinstance(first, Mapping):
        # Spans with offsets alone are those of another format.
        return not set(TEXT_KEYS).isdisjoint(first) or SPAN_KEYS.isdisjoint(first)
    return isinstance(first, str) or (isinstance(first, list) and bool(first) and isinstance(first[0], str))
