"""Strict JSON, without keys that stand twice, NaN or half characters, and its values as declared types."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, TypeVar, get_args, get_origin

import msgspec

from nereval_core.problems import Problem, quoted
from nereval_core.readers.input.source import SourceFile

Complain = Callable[[str, str], None]
"""Reports a problem: finding and remedy."""
Value = TypeVar("Value")
FAULT = re.compile(r"Expected `([^`]+)`(?: of length (\d+))?, got (?:`(\w+)`|\d+)")
MISSING_KEY = re.compile("Object missing required field `(.*)`", re.DOTALL)
UNKNOWN_KEY = re.compile("Object contains unknown field `(.*)`", re.DOTALL)
KINDS = {
    "str": "a string",
    "bool": "true or false",
    "int": "an integer",
    "float": "a fraction",
    "array": "a list",
    "object": "an object",
    "null": "null",
}
"""Types of JSON values, as msgspec calls them, in words."""


class RefusedError(Exception):
    """JSON that is refused: finding, remedy, and the place in characters from the start (None: unknown)."""

    def __init__(self, finding: str, remedy: str, at: int | None = None) -> None:
        super().__init__(finding, remedy)
        self.at = at


class Item(NamedTuple):
    """A value of a file, and the line at which it begins."""

    line: int
    value: Any


def loads(text: str) -> Any:
    """Return the value of a JSON text.

    Raises:
        RefusedError: it is not JSON, or not strict JSON.
    """
    end = _skipped(text, 0)
    value, end = _decoded(text, end)
    if len(text) > end and text[end:].strip():
        raise _not_json(text, end, "Extra data")
    return value


def items(file: SourceFile, problems: list[Problem]) -> Iterator[Item]:
    """Yield the values of a JSON array, of a file with one object or list a line, or of one that is a single object.

    What is wrong with one goes to `problems`, and the next one follows where it can be found.
    """
    text = file.text()
    start = _skipped(text, 0)
    if start == len(text):
        return
    if text.startswith("[", start) and not _lists_a_line(text, start):
        yield from _array(text, start, file.shown, problems)
    elif _one_a_line(text, start):
        for number, line in enumerate(text.split("\n"), start=1):
            if line and not line.isspace():
                try:
                    yield Item(number, loads(line))
                except RefusedError as error:
                    problems.append(Problem(file.shown, number, *error.args))
    else:
        try:
            yield Item(text.count("\n", 0, start) + 1, loads(text))
        except RefusedError as error:
            at = start if error.at is None else error.at
            problems.append(Problem(file.shown, text.count("\n", 0, at) + 1, *error.args))


def _lists_a_line(text: str, start: int) -> bool:
    """Return whether the first line is a whole list and another list follows, as pairs or answers, one a line."""
    end = text.find("\n", start)
    return end >= 0 and text.startswith("[", _skipped(text, end)) and is_json(text[start:end])


def _one_a_line(text: str, start: int) -> bool:
    """Return whether the first line is a whole value: else the file is one, over many lines."""
    end = text.find("\n", start)
    if end < 0 or _skipped(text, end) == len(text):
        return True
    if is_json(text[start:end]):
        return True
    # A broken first line before one that is whole is a broken line, unless all of them are one value.
    low, high = end + 1, text.find("\n", end + 1)
    following = text[low : high if high >= 0 else len(text)]
    return following.startswith("{") and is_json(following) and not is_json(text)


def is_json(text: str) -> bool:
    """Return whether a text is a JSON value, strict or not."""
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _array(text: str, start: int, source: str, problems: list[Problem]) -> Iterator[Item]:
    line, counted, at = 1, 0, _skipped(text, start + 1)
    closed = text.startswith("]", at)
    while not closed:
        line, counted = line + text.count("\n", counted, at), at
        try:
            value, at = _decoded(text, at)
        except RefusedError as error:
            line = line if error.at is None else text.count("\n", 0, error.at) + 1
            problems.append(Problem(source, line, *error.args))
            return
        yield Item(line, value)
        at = _skipped(text, at)
        closed = text.startswith("]", at)
        if not closed and not text.startswith(",", at):
            line = text.count("\n", 0, at) + 1
            problems.append(Problem(source, line, "the list is cut off", "export the file again"))
            return
        at = _skipped(text, at + 1) if not closed else at
    after = _skipped(text, at + 1)
    if after < len(text):
        line = text.count("\n", 0, after) + 1
        problems.append(Problem(source, line, "more text after the list's end", "leave one list in the file"))


def _skipped(text: str, at: int) -> int:
    """Return where the next character stands that is not white space."""
    return _BLANK.match(text, at).end()  # type: ignore[union-attr]


def json_type(value: Any) -> str:
    """Return what a JSON value is, in words."""
    kinds = {str: "a string", bool: "true or false", int: "an integer", float: "a fraction", list: "a list"}
    return "null" if value is None else kinds.get(type(value), "an object")


def typed(value: Any, type_: type[Value], place: str, complain: Complain, form: str = "") -> Value | None:
    """Return a value as a declared type, None where it does not fit; its first fault goes to `complain`.

    `place` says where the value stands, such as `spans[3]`, or is "" for a document: the finding adds the path of the
    fault within the value. `form` is the remedy, where one fits all faults.
    """
    try:
        return msgspec.convert(value, type_)
    except msgspec.ValidationError as error:
        fault, _, path = str(error).partition(" - at `$")
        path = f"{place}{path.removesuffix('`')}".removeprefix(".")
        finding, remedy = _fault_in_words(fault, path or "the document", type_ if path == place else None)
        complain(finding, form or remedy)
    except RecursionError:
        complain(f"{place or 'the document'} is nested too deeply", form or "write plain objects")
    return None


def _fault_in_words(fault: str, place: str, type_: Any) -> tuple[str, str]:
    """Return the finding and the remedy for a fault that msgspec reports; `type_` is what is declared for the place."""
    struct = get_origin(type_) or type_
    fields = msgspec.structs.fields(struct) if isinstance(struct, type) and issubclass(struct, msgspec.Struct) else ()
    if missing := MISSING_KEY.fullmatch(fault):
        names = [field.encode_name for field in fields if field.required] or [missing[1]]
        return f"{place} has no {missing[1]}", f"give {', '.join(names)}"
    if unknown := UNKNOWN_KEY.fullmatch(fault):
        names = [field.encode_name for field in fields]
        return f"{place} has the unknown key {quoted(unknown[1])}", f"known are {', '.join(names)}"
    match = FAULT.fullmatch(fault)
    if match is None:
        return f"{place} is too large", "write a number of ordinary size"
    expected, length, actual = match.groups()
    kinds = ["a number" if kind == "float" else KINDS[kind] for kind in expected.split(" | ") if kind != "null"]
    if actual is None:
        return f"{place} does not have {length} values", f"write a list of {length}"
    return f"{place} is {KINDS[actual]}", f"write {' or '.join(kinds)}"


def list_under(row: Mapping[str, Any], key: str, complain: Complain) -> list[Any]:
    """Return the list under a key, empty where it is missing or null; complain of anything else."""
    value = row.get(key)
    if value is None or isinstance(value, list):
        return value or []
    complain(f"{key} is {json_type(value)}", "write a list")
    return []


def typed_list(
    row: Mapping[str, Any], key: str, type_: type[list[Value]], complain: Complain, form: str
) -> list[Value]:
    """Return the list under a key as one of a declared type, empty where a value does not fit.

    A fault of each such value goes to `complain`, with `form` as the remedy.
    """
    values = list_under(row, key, complain)
    try:
        return msgspec.convert(values, type_)
    except (msgspec.ValidationError, RecursionError):
        for at, value in enumerate(values):
            typed(value, get_args(type_)[0], f"{key}[{at}]", complain, form)
        return []


def id_string(value: Any) -> str | None:
    """Return an id, a string or an integer, as a string; None where there is none."""
    return str(value) if type(value) in (str, int) and value != "" else None


def score_number(value: Any) -> float | None:
    """Return a score, None where there is none."""
    return float(value) if type(value) in (int, float) and abs(value) < 1e300 else None


def has_half_surrogate(value: object) -> bool:
    """Return whether a string of a value holds half a surrogate pair, which no encoding can write."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return True
    return False


_BLANK = re.compile(r"[ \t\n\r]*")
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def _decoded(text: str, start: int) -> tuple[Any, int]:
    """Return the value that begins at a place, and where it ends."""
    try:
        value, end = _SCAN(text, start)
    except json.JSONDecodeError as error:
        raise _not_json(text, error.pos, error.msg) from None
    except StopIteration as error:
        raise _not_json(text, error.value, "Expecting value") from None
    except RecursionError:
        raise RefusedError("JSON nested too deeply", "write meta as a flat object") from None
    except ValueError:
        raise RefusedError("a number with too many digits", "write offsets as plain integers") from None
    if _SURROGATE.search(text, start, end) and has_half_surrogate(value):
        remedy = "write characters beyond U+FFFF as a pair of \\u escapes, or as they are"
        raise RefusedError("half a surrogate pair", remedy)
    return value, end


def _not_json(text: str, at: int, why: str) -> RefusedError:
    place = at - text.rfind("\n", 0, at)
    return RefusedError(f"not JSON at position {place} of the line: {json_fault(why)}", "write it as JSON objects", at)


def json_fault(message: str) -> str:
    """Return Python's message on broken JSON without its end, `starting at`, after which it gives the position."""
    return message.removesuffix(" starting at").removesuffix(" at")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    row = dict(pairs)
    if len(row) != len(pairs):
        keys: set[str] = set()
        twice = next(key for key, _ in pairs if key in keys or keys.add(key))  # type: ignore[func-returns-value]
        raise RefusedError(f"the key {quoted(twice)} stands twice in one object", "keep one of the two")
    return row


def _constant(name: str) -> float:
    raise RefusedError(f"{name}, which is not JSON", "write a number or leave the key out")


def _float(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise RefusedError(f"the number {digits[:20]} is too large", "write a number of ordinary size")
    return value


_SCAN: Callable[[str, int], tuple[Any, int]]
_SCAN = json.scanner.make_scanner(  # type: ignore[attr-defined]
    json.JSONDecoder(object_pairs_hook=_object, parse_constant=_constant, parse_float=_float)
)
