"""The answer in the response of a programming interface: of chats, completions and batches."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from nereval_core.problems import quoted
from nereval_core.readers.mentions.answer_text import MalformedError

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
    )
)
"""Keys that only responses of language models have."""
CHATS = ("generated_text", "messages", "conversations")
REASONING_KEYS = ("reasoning_content", "reasoning", "thinking", "thoughts")
REASONING_PARTS = frozenset(("thinking", "redacted_thinking", "reasoning", "reasoning_text", "thought"))
OUTPUT_ITEMS = frozenset(("message", "reasoning", "function_call", "output_text", "custom_tool_call"))
BATCH_KEYS = ("custom_id", "key")


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
    batch = any(key in row for key in BATCH_KEYS)
    body: Any = row
    for keys in (("response", "body"), ("result", "message"), ("response",)):
        inner: Any = row
        for key in keys:
            inner = inner.get(key) if isinstance(inner, Mapping) else None
        if isinstance(inner, Mapping) and (len(keys) == 2 or batch):
            body = inner
            break
    response = _of_body(body)
    if response is None and batch and ("response" in row or "result" in row):
        failure = _failure(row)
        raise MalformedError(f"a response without an answer{': ' + quoted(failure) if failure else ''}")
    return response


def is_response(row: Any) -> bool:
    """Return whether a line is the body of a response, whose `id` is its own."""
    return isinstance(row, Mapping) and ("object" in row or row.get("type") == "message") and _of_body(row) is not None


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
    for key in CHATS:
        chat = _objects(body.get(key))
        if chat and chat[-1].get("role") == "assistant":
            return _of_message(chat[-1])
        if chat and chat[-1].get("from") in ("gpt", "assistant"):
            return Response(chat[-1].get("value") or "")
    return None


def _of_message(message: Mapping[str, Any]) -> Response:
    """Return the answer of a message: its content, or else the arguments of the tool that it calls."""
    content = message.get("content")
    response = _of_parts(content) if isinstance(content, list) else Response(content)
    calls = _objects(message.get("tool_calls"))
    if response.content in (None, "") and calls:
        function = calls[0].get("function")
        arguments = function.get("arguments") if isinstance(function, Mapping) else None
        response = Response(arguments, response.has_reasoning, len(calls) - 1)
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
        return Response(inputs[-1], has_reasoning, len(inputs) - 1)
    return Response("".join(texts), has_reasoning)


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
