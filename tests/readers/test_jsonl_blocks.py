"""JSON lines read in blocks say the same as lines read one by one, about good input and about bad."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from nereval_core.problems import FormatError
from nereval_core.readers import ReadOptions, Source, jsonl
from nereval_core.readers.jsonl import line_blocks
from nereval_core.readers.jsonl.span_lists import plain_spans
from nereval_core.readers.shared.byte_fields import Types
from nereval_core.readers.shared.layer_builder import Gathered
from tests.readers.test_jsonl import FULL, REFUSED, doc, span
from tests.support.layer_strategies import content, texts


def outcome(raw: bytes, *, plainly: bool) -> object:
    """Return all that a reading gives, or its problems."""
    [file] = Source.of_uploads([("x.jsonl", raw)]).files
    gathered = Gathered()
    problems: list[Any] = []
    jsonl._read_file(file, ReadOptions(), gathered, problems, plainly=plainly)
    try:
        return content(gathered.finish("x", problems=problems)), gathered.places
    except FormatError as error:
        return error.problems


def same(raw: bytes) -> None:
    if raw:
        assert outcome(raw, plainly=True) == outcome(raw, plainly=False)


WORDS = st.text('ab:é💊 \t"\\/\u2028\x7f', max_size=6) | texts()
DOCUMENT: dict[str, st.SearchStrategy[Any]] = {
    "tokens": st.just([[0, 1], [1, 3]]) | st.just([]),
    "sentences": st.just([[0, 3]]),
    "meta": st.recursive(
        st.dictionaries(WORDS, WORDS | st.booleans() | st.floats(-1, 1), max_size=2),
        lambda inner: st.dictionaries(WORDS, inner | st.lists(inner, max_size=2), max_size=2),
        max_leaves=4,
    ),
}


@st.composite
def rows(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Draw documents most of which are plain."""
    found = []
    for number in range(draw(st.integers(1, 6))):
        text = "abc" + draw(WORDS)
        spans = []
        for _ in range(draw(st.integers(0, 4))):
            low = draw(st.integers(0, len(text) - 3))
            one = {"start": low, "end": draw(st.integers(low + 3, len(text))), "label": "L" + draw(WORDS)}
            spans.append(one | draw(_few(_extras(low, one["end"]))))
        row = {"id": f"d{number}" + draw(WORDS), "text": text, "spans": spans}
        found.append(row | draw(_few(DOCUMENT)))
    return found


def _extras(low: int, high: int) -> dict[str, st.SearchStrategy[Any]]:
    return {
        "id": WORDS,
        "links": st.lists(WORDS.filter(bool), max_size=2),
        "fragments": st.just([[low, low + 1], [low + 2, high]]) | st.just([[low, high]]) | st.just([]),
        "core": st.just([low, low + 1]),
        "alternatives": st.lists(st.just([low, low + 2]), max_size=2),
        "score": st.floats(-1, 1) | st.integers(-3, 10**20),
        "meta": st.dictionaries(WORDS, WORDS | st.integers() | st.none(), max_size=2),
    }


def _few(more: dict[str, st.SearchStrategy[Any]]) -> st.SearchStrategy[dict[str, Any]]:
    return st.just({}) | st.just({}) | st.fixed_dictionaries({}, optional=more)


@st.composite
def written(draw: st.DrawFn) -> bytes:
    """Draw documents as one of several tools may write them."""
    style: dict[str, Any] = {
        "ensure_ascii": draw(st.booleans()),
        "separators": draw(st.sampled_from([(", ", ": "), (",", ":"), (", ", ": "), (" ,", " :"), (", ", ":")])),
        "sort_keys": draw(st.sampled_from([False, False, True])),
    }
    end = draw(st.sampled_from(["\n", "\n", "\r\n", "\n\n", " \n", "\n \t\n"]))
    lines = [json.dumps(row, **style) for row in draw(rows())]
    mark = draw(st.sampled_from(["", "", "\ufeff"]))
    return (mark + end.join(lines) + draw(st.sampled_from([end, ""]))).encode()


@settings(max_examples=80)
@given(raw=written())
@example(raw=FULL.encode())
@example(raw=doc(text='":abc"').encode())
@example(raw=doc(text='"a\\": b\\\\"', more=', "meta": {"a\\\\": 1}').encode())
@example(raw=doc(text='" :abc"').encode() + b"\n" + doc(id='"e"', text='"a\\" \\t :b"').encode())
@example(raw=doc(span(label='":A"'), id='"d"').encode())
def test_good_lines(raw: bytes) -> None:
    found = outcome(raw, plainly=True)
    assert isinstance(found[0], dict), found
    assert found == outcome(raw, plainly=False)


BREAKS = [
    # What stands in a line, and what may be put for it.
    (
        rb"\d+",
        [
            b"1.0",
            b"true",
            b"01",
            b"1e2",
            b"-0",
            b"-1",
            b"9" * 10,
            b"9" * 25,
            b"null",
            b'"1"',
            b"[1]",
            b"",
            b"2147483648",
        ],
    ),
    (
        rb'"(start|end|label|id|text|spans|meta)"',
        [b'"start"', b'"id"', b'"x"', b'"st\\u0061rt"', b'"meta"', b"start", b'"score"'],
    ),
    (
        rb"\},? ?",
        [
            b"}",
            b"},",
            b"}}",
            b', "id": "x"}',
            b', "score": NaN}',
            b', "score": 1e999}',
            b',"end": 3}',
            b"}\n",
            b"} {",
            b"}{",
            b"\n",
        ],
    ),
    (rb'": ?', [b'" : ', b'"\t:', b'"', b'"::', b'":\r', b'":\n', b'"          :']),
    (
        rb'"',
        [b"", b'\\"', b'""', b"\xff", b"\\ud83d", b"\\u0000", b"\x01", b"\t", b"\xed\xa0\xbd", b'":', b'" :', b"\\"],
    ),
    (rb"\[|\]", [b"", b"[", b"]", b"{", b"[ ", b"[,", b"\n["]),
]


@st.composite
def broken(draw: st.DrawFn) -> bytes:
    raw = draw(written())
    for _ in range(draw(st.integers(1, 2))):
        pattern, instead = draw(st.sampled_from(BREAKS))
        found = list(re.finditer(pattern, raw))
        if found:
            place = draw(st.sampled_from(found))
            raw = raw[: place.start()] + draw(st.sampled_from(instead)) + raw[place.end() :]
    return raw


HOSTILE = st.text('\\":a,}', max_size=4)
"""Strings that look like the ends of others where escapes are counted wrongly."""


@st.composite
def repeated(draw: st.DrawFn) -> bytes:
    """Draw a document, at times with a key twice, in it or in its meta, beside strings of hostile characters."""
    keys = draw(st.lists(HOSTILE, min_size=1, max_size=3))
    pairs = [(key, json.dumps(draw(HOSTILE))) for key in keys]
    comma, colon = draw(st.sampled_from([(",", ":"), (", ", ": "), (",", " :")]))

    def written_object(some: list[tuple[str, str]]) -> str:
        return "{" + comma.join(f"{json.dumps(key)}{colon}{value}" for key, value in some) + "}"

    document = [("id", json.dumps(draw(HOSTILE))), ("text", json.dumps(draw(HOSTILE))), ("spans", "[]")]
    if draw(st.booleans()):
        document.append(("meta", written_object(pairs)))
    if draw(st.booleans()):
        key, value = draw(st.sampled_from(document))
        instead = json.dumps(draw(HOSTILE)) if value[0] == '"' else value
        document.insert(draw(st.integers(0, len(document))), (key, instead))
    return written_object(document).encode()


@settings(max_examples=150)
@given(lines=st.lists(repeated(), min_size=1, max_size=3))
@example(lines=[b'{"id":"","id":"","text":"abc","spans":[]}'])
@example(lines=[b'{"id":"","text":"","text":"","spans":[]}'])
@example(lines=[b'{"id":"d","text":"a\\\\","text":"b","spans":[]}'])
@example(lines=[b'{"id":"d","text":"b","meta":{"a":"\\\\","a":""},"spans":[]}'])
@example(lines=[b'{"id":"d","text":"b","meta":{"a\\\\":1,"a\\\\":1},"spans":[]}'])
@example(lines=[b'{"id":"d","id\\\\":1,"text":"\\\\","text\\\\":"","spans":[]}'])
@example(lines=[b'{"id":"d","id":"d","text":"b","meta":{"a\\\\":1},"spans":[]}'])
def test_keys_that_stand_twice(lines: list[bytes]) -> None:
    same(b"\n".join(lines))


@settings(max_examples=80)
@given(raw=broken())
@example(raw=b'{"id": "d", "id": "d", "text" : "abc", "spans": []}')
@example(raw=(doc() + doc(id='"e"') + "\n" + doc(id='"f"').replace(", ", ",\n", 1)).encode())
@example(raw=doc(more=', "meta": {"a": {"b": 1, "b": 2}}').encode())
@example(raw=doc(more=', "meta": {"a": "\xff"}').encode("latin-1"))
@example(raw=doc(span(', "meta": {"a": 1, "a": 1}')).encode())
@example(raw=doc(span(', "score": 1' + "0" * 300)).encode())
def test_broken_lines(raw: bytes) -> None:
    same(raw)


@pytest.mark.parametrize("line", [line for line, _ in REFUSED], ids=[said[:50] for _, said in REFUSED])
def test_lines_that_are_refused(line: str) -> None:
    good = [doc(span(), id=f'"{number}"') for number in range(4)]
    same("\n".join([*good[:2], line, good[2], line, good[3]]).encode())


@settings(max_examples=50)
@given(raw=written() | broken(), size=st.integers(3, 200))
def test_blocks_of_any_size(raw: bytes, size: int) -> None:
    whole = outcome(raw, plainly=True) if raw else None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(line_blocks, "BLOCK", size)
        assert whole is None or outcome(raw, plainly=True) == whole


def test_plain_lines_take_the_fast_way() -> None:
    lines = [
        doc(", ".join([span(), span(start="10", end="12")] * (number % 3)), id=f'"{number}"') for number in range(9)
    ]
    read: list[int] = []
    for style in (lines, [line.replace(" ", "") for line in lines], [*lines, doc(span(', "id": "T1"'), id='"x"')]):
        gathered = Gathered()
        taken = line_blocks.Blocks("x", gathered, lambda _, number: read.append(number))
        assert taken.take("".join(f"{line}\r\n" for line in style).encode(), 1) == len(style)
        assert (read, gathered.counts[:4], gathered.lines[-1]) == ([], [0, 2, 4, 0], len(style))
    assert gathered.extras["ids"] == {gathered.spans - 1: "T1"}


PLAIN = '[{"start": 12, "end": 19, "label": "Drug"}, {"start": 0, "end": 7, "label": "é"}]'


@pytest.mark.parametrize("compact", [False, True])
def test_every_byte_of_plain_spans_counts(compact: bool) -> None:
    raw = (PLAIN.replace(" ", "") if compact else PLAIN).encode()
    found = plain_spans([b"[]", raw, raw, b"[]"], Types(Gathered().code))
    assert found is not None
    assert [list(column) for column in found[:4]] == [[0, 2, 2, 0], [12, 0] * 2, [19, 7] * 2, [0, 1] * 2]
    for place in range(len(raw)):
        for value in (0, 9, 0x20, 0x22, 0x2C, 0x30, 0x31, 0x39, 0x3A, 0x41, 0x5B, 0x5C, 0x5D, 0x7B, 0x7D, 0xFF):
            other = raw[:place] + bytes([value]) + raw[place + 1 :]
            for lists in ([other], [b"[]", raw, other, raw], [other, b"[]"]):
                gathered = Gathered()
                try:
                    found = plain_spans(lists, Types(gathered.code))
                except UnicodeDecodeError:
                    continue
                if found is None:
                    continue
                spans = [span for one in lists for span in json.loads(one)]
                assert all(list(span) == ["start", "end", "label"] for span in spans)
                starts, ends, labels = zip(*(span.values() for span in spans), strict=True)
                assert (tuple(found.starts), tuple(found.ends)) == (starts, ends)
                names = list(gathered.names)
                assert tuple(names[code] for code in found.codes) == labels


@settings(max_examples=60)
@given(names=st.lists(st.lists(st.text("aéx", max_size=9), min_size=1), min_size=1, max_size=3))
@example(names=[["a" * 20], ["b"]])
def test_types_of_any_length(names: list[list[str]]) -> None:
    gathered = Gathered()
    types = Types(gathered.code)
    for some in names:
        parts = [name.encode() for name in some]
        high = np.cumsum([len(part) for part in parts])
        raw = b"".join([*parts, bytes(16)])
        codes = types.codes(raw, np.concatenate(([0], high[:-1])), high)
        assert [list(gathered.names)[code] for code in codes] == some


def test_a_type_that_is_no_text_does_not_spoil_the_next() -> None:
    types = Types(Gathered().code)
    with pytest.raises(UnicodeDecodeError):
        types.codes(b"A\xff" + bytes(16), np.array([0, 1]), np.array([1, 2]))
    assert list(types.codes(b"AB" + bytes(16), np.array([0, 1]), np.array([1, 2]))) == [0, 1]
