"""JSON as we take it: arrays, lines and single objects with their lines."""

from __future__ import annotations

import json

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nereval_core.problems import Problem
from nereval_core.readers import Source
from nereval_core.readers.shared.strict_json import RefusedError, items, loads, typed, typed_list

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def source(text: str, name: str = "x.json") -> Source:
    return Source.of_uploads([(name, text.encode())])


def read(text: str) -> tuple[list[tuple[int, object]], list[str]]:
    problems: list[Problem] = []
    found = [tuple(item) for item in items(source(text).files[0], problems)]
    return found, [str(problem) for problem in problems]  # type: ignore[return-value]


TAKEN = [
    # (what, text, (line, value))
    ("lines", '{"a": 1}\n{"a": 2}\n', [(1, {"a": 1}), (2, {"a": 2})]),
    ("a mark, blank lines and CR LF", '\ufeff\r\n \r\n{"a": 1}\r\n\r\n{"a": 2}', [(3, {"a": 1}), (5, {"a": 2})]),
    ("separators that are text", '{"a": "\u2028\x85"}\n{"a": 2}', [(1, {"a": "\u2028\x85"}), (2, {"a": 2})]),
    ("an array on a line", '[{"a": 1}, {"a": 2}]', [(1, {"a": 1}), (1, {"a": 2})]),
    ("an array over lines", ' \n[\n{"a":\n 1},\n\n {"a": 2}\n ]\n', [(3, {"a": 1}), (6, {"a": 2})]),
    ("an empty array", "[ ]\n", []),
    ("an array of anything", '[1, "]", [2]]', [(1, 1), (1, "]"), (1, [2])]),
    ("one object over lines", '\n{\n "a": {\n  "b": 1}}\n', [(2, {"a": {"b": 1}})]),
    ("one object that opens a list of lines", '{"a": [\n{"b": 1}\n]}\n', [(1, {"a": [{"b": 1}]})]),
    ("lines of no objects", "1\n2\n", [(1, 1), (2, 2)]),
    ("an object with another on a line", '{"a": [\n{"b": 1}\n]}\n', [(1, {"a": [{"b": 1}]})]),
]


@pytest.mark.parametrize(("text", "expected"), [row[1:] for row in TAKEN], ids=[row[0] for row in TAKEN])
def test_takes(text: str, expected: list[tuple[int, object]]) -> None:
    assert read(text) == (expected, [])


REFUSED = [
    # (text, lines that are read none the less, said)
    ('{"a": 1}\n{"a": }\n{"a": 3}\n', [1, 3], "x.json:2: not JSON at position 7 of the line: Expecting value"),
    ('{"a": \n{"a": 2}\n', [2], "x.json:1: not JSON at position 7 of the line: Expecting value"),
    ('{"a": [\n{"b": 1}]]}\n', [], "x.json:2: not JSON at position 10 of the line: Expecting ',' delimiter"),
    ('{"a": 1} {"b": 2}\n{"a": 2}\n', [2], "x.json:1: not JSON at position 9 of the line: Extra data"),
    ('{"a": 1, "a": 2}\n', [], "x.json:1: the key 'a' stands twice in one object; keep one of the two"),
    ('{"a": NaN}\n', [], "x.json:1: NaN, which is not JSON; write a number or leave the key out"),
    ('{"a": -1e999}\n', [], "x.json:1: the number -1e999 is too large"),
    ('{"a": 1' + "0" * 5000 + "}\n", [], "x.json:1: a number with too many digits"),
    ('{"a": "\\ud83d"}\n', [], "x.json:1: half a surrogate pair"),
    ('{"\\uDE00": 1}\n', [], "x.json:1: half a surrogate pair"),
    ("[" * 100_000, [], "x.json:1: JSON nested too deeply"),
    ('[\n{"a": 1},\n{"a": "b\n"}]', [2], "x.json:3: not JSON at position 9 of the line: Invalid control character"),
    ('[{"a": 1},\n{"a": 1, "a": 2}]', [1], "x.json:2: the key 'a' stands twice in one object"),
    ('[\n{"a": 1},\n{"a": 2}\n', [2, 3], "x.json:4: the list is cut off; export the file again"),
    ('[\n{"a": 1}\n{"a": 2}]\n', [2], "x.json:3: the list is cut off; export the file again"),
    ('[{"a": 1},]', [1], "x.json:1: not JSON at position 11 of the line: Expecting value"),
    ('[{"a": 1}]\n{"a": 2}', [1], "x.json:2: more text after the list's end; leave one list in the file"),
    ('{\n"a": 1,\n"b": [1,\n2}\n', [], "x.json:4: not JSON at position 2 of the line: Expecting ',' delimiter"),
    ("\n{\n\n", [], "x.json:2: not JSON at position 2 of the line: Expecting property name"),
]


@pytest.mark.parametrize(("text", "lines", "said"), REFUSED, ids=[row[2] for row in REFUSED])
def test_refuses_with_the_line(text: str, lines: list[int], said: str) -> None:
    found, problems = read(text)
    assert [line for line, _ in found] == lines
    assert len(problems) == 1
    assert problems[0].startswith(said)


def test_a_pair_of_escapes_is_a_character_and_an_escaped_backslash_none() -> None:
    assert loads('"\\ud83d\\ude00 \\\\ud83d"') == "😀 \\ud83d"


@settings(deadline=None)
@given(st.lists(st.dictionaries(st.text(), JSON, max_size=3), max_size=4), st.booleans(), st.sampled_from([None, 1]))
def test_what_python_writes_is_read(rows: list[dict[str, object]], ascii: bool, indent: int | None) -> None:
    array = json.dumps(rows, ensure_ascii=ascii, indent=indent)
    lines = "".join(json.dumps(row, ensure_ascii=ascii) + "\n" for row in rows)
    for text in (array, lines or "\n"):
        try:
            text.encode()
            json.dumps(rows, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            continue
        found, problems = read(text)
        assert ([value for _, value in found], problems) == (rows, [])


@settings(deadline=None)
@given(st.text(alphabet='{}[]",:\\1a \n\ud83d'.replace("\ud83d", "u"), min_size=1, max_size=30))
def test_any_text_ends_in_values_or_problems(text: str) -> None:
    read(text + "{")
    try:
        loads(text)
    except RefusedError as error:
        assert all(error.args)


class Inner(msgspec.Struct):
    start: int
    score: float | None = None


class Outer(msgspec.Struct, forbid_unknown_fields=True):
    id: str
    pairs: list[tuple[int, int]] = []
    inner: list[Inner | str] = []
    outer: list[Outer] = []


def nested(depth: int) -> dict[str, object]:
    row: dict[str, object] = {"id": ""}
    for _ in range(depth):
        row = {"id": "", "outer": [row]}
    return row


FAULTS = [
    # (value, place, finding and remedy)
    ([], "", "the document is a list; write an object"),
    ({}, "", "the document has no id; give id"),
    ({}, "rows[2]", "rows[2] has no id; give id"),
    ({"id": "a", "x": 1}, "", "the document has the unknown key 'x'; known are id, pairs, inner, outer"),
    ({"id": None}, "", "id is null; write a string"),
    ({"id": True}, "rows[2]", "rows[2].id is true or false; write a string"),
    ({"id": "a", "pairs": [[0, 1], [2]]}, "", "pairs[1] does not have 2 values; write a list of 2"),
    ({"id": "a", "pairs": [[0, 1.0]]}, "", "pairs[0][1] is a fraction; write an integer"),
    ({"id": "a", "inner": [{}]}, "", "inner[0] has no start; give start"),
    ({"id": "a", "inner": [3]}, "", "inner[0] is an integer; write a string or an object"),
    ({"id": "a", "inner": [{"start": 0, "score": "1"}]}, "", "inner[0].score is a string; write a number"),
    ({"id": "a", "inner": [{"start": 0, "score": 10**400}]}, "", "inner[0].score is too large; write a number of"),
    (nested(5000), "", "the document is nested too deeply; write plain objects"),
]


@pytest.mark.parametrize(("value", "place", "said"), FAULTS, ids=[row[2][:40] for row in FAULTS])
def test_a_fault_has_its_path_and_a_remedy(value: object, place: str, said: str) -> None:
    messages: list[str] = []
    assert typed(value, Outer, place, lambda finding, remedy: messages.append(f"{finding}; {remedy}")) is None
    [message] = messages
    assert message.startswith(said)


def test_each_value_of_a_list_has_a_fault() -> None:
    messages: list[str] = []
    row = {"rows": [{"start": 0}, {"start": "0"}, 3]}
    assert typed_list(row, "rows", list[Inner], lambda *words: messages.append("; ".join(words)), "mend it") == []
    assert messages == ["rows[1].start is a string; mend it", "rows[2] is an integer; mend it"]
    assert typed_list({"rows": None}, "rows", list[Inner], lambda *_: None, "") == []
