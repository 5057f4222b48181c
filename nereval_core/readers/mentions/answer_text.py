"""The parts of an answer in words: reasoning, JSON values or Python literals, and text with tags in it."""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from typing import Any, NamedTuple

from nereval_core.problems import quoted
from nereval_core.readers.shared.python_literals import python_literal
from nereval_core.readers.shared.strict_json import json_fault

REASONING = frozenset(
    (
        *("think", "thinking", "thought", "thoughts", "reasoning", "reasoning_content", "reason"),
        *("scratchpad", "analysis", "reflection", "rationale", "explanation", "explanations"),
        *("justification", "plan", "planning", "monologue", "inner_monologue", "cot", "chain_of_thought"),
        *("steps",),
    )
)
"""Names of tags and keys whose content is reasoning, unless gold has a type of this name."""
_NAMES = "|".join(sorted(REASONING, key=len, reverse=True))
REASONING_TAG = re.compile(
    rf"<(?P<close>/?)(?:\w+:)?(?P<name>{_NAMES})(?:\s[^<>]*)?>|(?:\[|◁)(?P<ends>/?)(?P<bracketed>think)(?:\]|▷)",
    re.IGNORECASE,
)
THOUGHT = re.compile(r"<\|(begin|end)_of_thought\|>")
FINAL_CHANNEL = re.compile(r"<\|channel\|>\s*final\s*(?:<\|[\w ]+\|>\s*)*<\|message\|>")
"""The beginning of the answer of models with channels (gpt-oss); what stands before it is reasoning."""

TAG = re.compile(r"<(?P<close>/?)(?P<name>[^\W\d][\w.:-]*)(?P<rest>\s[^<>]*)?>|(?P<opens>@@)|(?P<ends>##)")
TYPE_ATTRIBUTE = re.compile(
    r"\b(?:type|label|class|category)\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))", re.IGNORECASE
)
MARKED = "@@"

BRACKET = re.compile(r"[{\[]")
BEGINS_LIKE_JSON = re.compile(r"\{\s*[\"'}]|\[\s*(?:[\"'{\[(\]]|\w+\()")
"""The beginning of JSON, or of a literal or call of Python, inside which no other value is looked for."""
BRACKETS = re.compile(r"\"(?:[^\"\\]|\\.)*+\"|'(?:[^'\\\n]|\\.)*+'|[{}\[\]]", re.DOTALL)
TRAILING_COMMA = re.compile(r"(\"(?:[^\"\\]|\\.)*+\")|,(?=\s*[}\]])", re.DOTALL)
MOST_FAILURES = 20
"""The most brackets in prose at which JSON is looked for in vain."""
LONGEST_SHOWN = 60
SENTENCE_WORDS = 5
"""The most words of a mention that does not stand in the text."""
CUT = "the answer is cut off"


class MalformedError(Exception):
    """An answer that cannot be read: what is wrong with it, and the remedy if it is not that of most answers."""

    def __init__(self, finding: str, remedy: str = "") -> None:
        super().__init__(finding)
        self.remedy = remedy


class JsonValue(NamedTuple):
    """A JSON value of an answer, and the characters of the answer where it begins and ends."""

    start: int
    end: int
    value: Any


class TaggedSpan(NamedTuple):
    """Words between tags: their place in the text without tags, and the names of the type and of the element."""

    start: int
    end: int
    type: str
    element: str


def without_reasoning(answer: str, types: Collection[str]) -> tuple[str, bool]:
    """Return an answer without its reasoning, and whether it has some; `types` are gold's, in small letters.

    Reasoning stands between tags, or before a closing tag that was never opened. Behind an opening tag that is never
    closed all is reasoning but the JSON value that ends the answer.
    """
    answer = THOUGHT.sub(lambda tag: "<think>" if tag[1] == "begin" else "</think>", answer)
    channels = list(FINAL_CHANNEL.finditer(answer))
    if channels:
        return re.sub(r"<\|\w+\|>\s*\Z", "", answer[channels[-1].end() :]), channels[-1].start() > 0
    pieces: list[str] = []
    has_reasoning, at, name = False, 0, ""
    for tag in REASONING_TAG.finditer(answer):
        tag_name = (tag["name"] or tag["bracketed"]).lower()
        if tag_name in types:
            continue
        if not (tag["close"] or tag["ends"]):
            if not name:
                pieces.append(answer[at : tag.start()])
                name, has_reasoning, at = tag_name, True, tag.end()
        elif name == tag_name:
            name, at = "", tag.end()
        elif not name and answer[tag.end() :].strip():
            pieces, has_reasoning, at = [], True, tag.end()
    rest = answer[at:]
    if name:
        values = json_values(rest)[0]
        ends_answer = bool(values) and not rest[values[-1].end :].strip("` \n\t")
        rest = rest[values[-1].start :] if ends_answer else ""
    return "".join((*pieces, rest)), has_reasoning


def json_values(text: str) -> tuple[list[JsonValue], str]:
    """Return the JSON objects and lists in a text that no other one holds, and what is wrong with one behind them.

    Trailing commas are passed over, and literals of Python are read. Nothing is taken from inside a broken value.

    Raises:
        MalformedError: JSON nested too deeply.
    """
    values: list[JsonValue] = []
    problem = ""
    at = failures = 0
    while failures < MOST_FAILURES and (bracket := BRACKET.search(text, at)):
        start = bracket.start()
        try:
            value, at = _DECODER.raw_decode(text, start)
        except RecursionError:
            raise MalformedError("JSON nested too deeply") from None
        except json.JSONDecodeError as error:
            failures += 1
            end = _closing_bracket(text, start)
            if end is not None and (literal := _lenient_value(text[start:end])) is not None:
                values.append(JsonValue(start, end, literal[0]))
                problem, at = "", end
            elif BEGINS_LIKE_JSON.match(text, start) is None:
                at = start + 1
            else:
                cut = end is None and (error.msg.startswith("Unterminated") or not text[error.pos :].strip())
                finding = CUT if cut or end is None else f"not JSON: {json_fault(error.msg)} at {error.pos}"
                problem = f"{finding}, {quoted(text.strip()[-LONGEST_SHOWN:])}"
                if end is None:
                    break
                at = end
        else:
            values.append(JsonValue(start, at, value))
            problem = ""
    return values, problem


def decoded(text: str) -> Any:
    """Return the object, list or string that a whole text is in JSON; None for any other text."""
    if not text.lstrip().startswith(("{", "[", '"')):
        return None
    try:
        value = _DECODER.decode(text.strip())
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, (dict, list, str)) else None


def _object_of_pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object; the values of a key that stands twice are one list, which reads both and loses neither."""
    row = dict(pairs)
    if len(row) < len(pairs):
        for key in row:
            values = [value for name, value in pairs if name == key]
            if len(values) > 1:
                row[key] = [item for value in values for item in (value if isinstance(value, list) else [value])]
    return row


_DECODER = json.JSONDecoder(object_pairs_hook=_object_of_pairs)


def _closing_bracket(text: str, start: int) -> int | None:
    """Return where the value ends that a bracket begins, None where no bracket closes it."""
    opened: list[str] = []
    for token in BRACKETS.finditer(text, start):
        mark = token[0][0]
        if mark in "{[":
            opened.append(mark)
        elif mark in "}]":
            if not opened or opened.pop() + mark not in ("{}", "[]"):
                return None
            if not opened:
                return token.end()
    return None


def _lenient_value(text: str) -> tuple[Any] | None:
    """Return the value of JSON with trailing commas or of a Python literal, None for any other text."""
    try:
        return (_DECODER.decode(TRAILING_COMMA.sub(lambda match: match[1] or "", text)),)
    except (ValueError, RecursionError):
        pass
    return python_literal(text)


def tagged_spans(answer: str, types: Collection[str], text: str) -> tuple[str, list[TaggedSpan], int]:
    """Return an answer without tags, what stands between its tags, and how many of these spans were left out.

    Tags without a partner are text. A tag that is not a type of gold (`types`, in small letters) and encloses more than
    a mention is not a span; what stands inside it is left out where there are spans outside.

    Raises:
        MalformedError: a tag is opened and not closed.
    """
    opened: list[tuple[str, str, int, int]] = []
    spans: list[TaggedSpan] = []
    plain: list[str] = []
    size = at = 0
    for tag in TAG.finditer(answer):
        rest = tag["rest"] or ""
        if rest.rstrip().endswith("/"):
            continue
        element = MARKED if tag["opens"] or tag["ends"] else tag["name"]
        if f"{element}{rest}".strip().casefold() in types:
            element = f"{element}{rest}".strip()
        closes = bool(tag["close"] or tag["ends"])
        partner = next((number for number in range(len(opened) - 1, -1, -1) if opened[number][0] == element), None)
        if closes and partner is None:
            continue
        plain.append(answer[at : tag.start()])
        size += tag.start() - at
        at = tag.end()
        if partner is None or not closes:
            attribute = TYPE_ATTRIBUTE.search(rest)
            kind = next(filter(None, attribute.groups()), element) if attribute else element
            opened.append((element, kind, size, tag.start()))
        else:
            _, kind, start, _ = opened.pop(partner)
            spans.append(TaggedSpan(start, size, kind, element))
    plain.append(answer[at:])
    words = "".join(plain)
    unclosed = [tag for tag in opened if not types or tag[0] == MARKED or tag[1].casefold() in types]
    if unclosed:
        beginning = quoted(answer[unclosed[-1][3] :][:LONGEST_SHOWN])
        raise MalformedError(f"{CUT}: <{unclosed[-1][0]}> is not closed, {beginning}")
    containers = [
        span
        for span in spans
        if span.type.casefold() not in types
        and _is_container(words[span.start : span.end].strip(), span, spans, text, types)
    ]
    mentions = [span for span in spans if span not in containers and words[span.start : span.end].strip()]
    outside = [span for span in mentions if not any(_holds(container, span) for container in containers)]
    if outside:
        left_out = len(mentions) - len(outside)
        return words, sorted(outside, key=lambda span: (span.start, -span.end)), left_out
    return words, sorted(mentions, key=lambda span: (span.start, -span.end)), 0


def _is_container(
    words: str, span: TaggedSpan, spans: Collection[TaggedSpan], text: str, types: Collection[str]
) -> bool:
    """Return whether a span is more than a mention: prose, JSON, several spans, or the whole text."""
    if span.element == MARKED:
        return False
    if BRACKET.search(words) and words not in text:
        return True
    nested_spans = sum(_holds(span, other) for other in spans)
    if types and nested_spans > 1:
        return True
    is_long = len(words.split()) > SENTENCE_WORDS
    if " ".join(words.split()) not in " ".join(text.split()):
        return is_long or "\n" in words
    return (is_long or nested_spans > 0) and len(words) >= len(text.strip())


def _holds(container: TaggedSpan, span: TaggedSpan) -> bool:
    return container is not span and container.start <= span.start and span.end <= container.end
