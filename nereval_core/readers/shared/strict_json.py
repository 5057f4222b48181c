"""JSON as we take it: no key twice, no NaN, no half characters; and what a file of it begins with."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from nereval_core.problems import Problem, quoted
from nereval_core.readers.input.source import HEAD_BYTES, UTF8_BOM, Source, SourceFile

FAR_BYTES = 1 << 24
"""How far into a file its first object is followed."""

Complain = Callable[[str, str], None]


class RefusedError(Exception):
    """JSON that we do not take: found, remedy, and where, in characters from the start (None: unknown)."""

    def __init__(self, found: str, remedy: str, at: int | None = None) -> None:
        super().__init__(found, remedy)
        self.at = at


class Item(NamedTuple):
    """A value of a file, and the line at which it begins."""

    line: int
    value: Any


def loads(text: str) -> Any:
    """Return the value of a JSON text.

    Raises:
        RefusedError: it is none, or one that we do not take.
    """
    end = _skipped(text, 0)
    value, end = _decoded(text, end)
    if len(text) > end and text[end:].strip():
        raise _not_json(text, end, "Extra data")
    return value


def items(file: SourceFile, problems: list[Problem]) -> Iterator[Item]:
    """Yield the objects of a JSON array, of a file with one object a line, or of one that is a single object.

    What is wrong with one goes to `problems`, and the next one follows where it can be found.
    """
    text = file.text()
    start = _skipped(text, 0)
    if start == len(text):
        return
    if text.startswith("[", start):
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


def _one_a_line(text: str, start: int) -> bool:
    """Say whether the first line is a whole value: else the file is one, over many lines."""
    end = text.find("\n", start)
    if end < 0 or _skipped(text, end) == len(text):
        return True
    try:
        json.loads(text[start:end])
    except (ValueError, RecursionError):
        # A broken first line before one that is whole is a broken line, unless all of them are one value.
        low, high = end + 1, text.find("\n", end + 1)
        following = text[low : high if high >= 0 else len(text)]
        return following.startswith("{") and _is_json(following) and not _is_json(text)
    return True


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _array(text: str, start: int, shown: str, problems: list[Problem]) -> Iterator[Item]:
    line, counted, at = 1, 0, _skipped(text, start + 1)
    closed = text.startswith("]", at)
    while not closed:
        line, counted = line + text.count("\n", counted, at), at
        try:
            value, at = _decoded(text, at)
        except RefusedError as error:
            line = line if error.at is None else text.count("\n", 0, error.at) + 1
            problems.append(Problem(shown, line, *error.args))
            return
        yield Item(line, value)
        at = _skipped(text, at)
        closed = text.startswith("]", at)
        if not closed and not text.startswith(",", at):
            line = text.count("\n", 0, at) + 1
            problems.append(Problem(shown, line, "the list is cut off", "export the file again"))
            return
        at = _skipped(text, at + 1) if not closed else at
    after = _skipped(text, at + 1)
    if after < len(text):
        line = text.count("\n", 0, after) + 1
        problems.append(Problem(shown, line, "more text after the list's end", "leave one list in the file"))


def _skipped(text: str, at: int) -> int:
    """Return where the next character stands that is no white space."""
    return _BLANK.match(text, at).end()  # type: ignore[union-attr]


def first_keys(source: Source, *suffixes: str) -> frozenset[str]:
    """Return the keys of the first object of the first file, as far as its first bytes go; empty where none begins."""
    file = source.pick(*suffixes)[0]
    found = source.known.get(file.name)
    if found is None:
        found = source.known[file.name] = _first_keys(file)
    return found


def _first_keys(file: SourceFile) -> frozenset[str]:
    for size in (HEAD_BYTES, FAR_BYTES):
        raw = file.load(size)
        head = raw.decode(errors="replace").removeprefix(UTF8_BOM)
        found, whole = _keys(head)
        # A text longer than the head stands before the keys that tell one format from another.
        if whole or len(raw) < size:
            break
    return frozenset(found)


def _keys(head: str) -> tuple[set[str], bool]:
    """Return the keys of the first object, and whether more of the text would add nothing."""
    found: set[str] = set()
    begin = re.match(r"\s*(\[\s*)?\{", head)
    if begin is None:
        return found, True
    depth, expecting = 1, True
    for token in _TOKEN.finditer(head, begin.end()):
        mark = token[0][0]
        if mark == '"':
            if depth == 1 and expecting and token["colon"]:
                found.add(token["string"])
                expecting = False
        elif mark in "{[":
            depth += 1
        elif mark in "}]":
            depth -= 1
            if depth == 0:
                return found, True
        elif depth == 1:
            expecting = True
    return found, False


def kind(value: Any) -> str:
    """Return what a JSON value is, in words."""
    kinds = {str: "a string", bool: "true or false", int: "an integer", float: "a fraction", list: "a list"}
    return "null" if value is None else kinds.get(type(value), "an object")


def listed(row: Mapping[str, Any], key: str, complain: Complain) -> list[Any]:
    """Return the list under a key, empty where there is none or it is null; complain of anything else."""
    value = row.get(key)
    if value is None or isinstance(value, list):
        return value or []
    complain(f"{key} is {kind(value)}", "write a list")
    return []


def named(value: Any) -> str | None:
    """Return an id, a string or an integer, as a string; None where there is none."""
    return str(value) if type(value) in (str, int) and value != "" else None


def number(value: Any) -> float | None:
    """Return a score, None where there is none."""
    return float(value) if type(value) in (int, float) and abs(value) < 1e300 else None


def halved(value: object) -> bool:
    """Say whether a string of a value holds half a surrogate pair, which no encoding can write."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return True
    return False


_BLANK = re.compile(r"[ \t\n\r]*")
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
# A string that is cut off reaches to the end: else each quote in it would be tried for the start of one.
_TOKEN = re.compile(r'"(?P<string>[^"\\]*+(?:\\.[^"\\]*+)*+)(?:"(?P<colon>\s*:)?|\\?\Z)|[{}\[\],]', re.DOTALL)


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
    if _SURROGATE.search(text, start, end) and halved(value):
        remedy = "write characters beyond U+FFFF as a pair of \\u escapes, or as they are"
        raise RefusedError("half a surrogate pair", remedy)
    return value, end


def _not_json(text: str, at: int, why: str) -> RefusedError:
    place = at - text.rfind("\n", 0, at)
    return RefusedError(f"not JSON at position {place} of the line: {why}", "write it as JSON objects", at)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    row = dict(pairs)
    if len(row) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
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
