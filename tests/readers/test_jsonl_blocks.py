"""JSON lines that are decoded together say the same as lines judged one by one, about good input and about bad."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from nereval_core.corpus.builder import Builder
from nereval_core.problems import FormatError
from nereval_core.readers import ReadOptions, Source, jsonl
from tests.readers.test_jsonl import FULL, REFUSED, doc, span
from tests.support.draws import draws
from tests.support.layer_strategies import content, texts


def outcome(raw: bytes, *, plainly: bool) -> object:
    """Return all that a reading gives, or its problems."""
    [file] = Source.of_uploads([("x.jsonl", raw)]).files
    builder = Builder("x")
    with pytest.MonkeyPatch.context() as patch:
        if not plainly:
            patch.setattr(jsonl, "_add_decoded", lambda *line: 0)
        jsonl._read_file(file, ReadOptions(), builder)
    try:
        return content(builder.finish("x")), builder.places
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


@draws(27)
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


@draws(50)
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


@draws(27)
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


@draws(17)
@given(raw=written() | broken(), size=st.integers(3, 200))
def test_blocks_of_any_size(raw: bytes, size: int) -> None:
    whole = outcome(raw, plainly=True) if raw else None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jsonl, "BLOCK_BYTES", size)
        assert whole is None or outcome(raw, plainly=True) == whole


def test_plain_lines_take_the_fast_way() -> None:
    lines = [
        doc(", ".join([span(), span(start="10", end="12")] * (number % 3)), id=f'"{number}"') for number in range(9)
    ]
    for style in (lines, [line.replace(" ", "") for line in lines], [*lines, doc(span(', "id": "T1"'), id='"x"')]):
        builder = Builder("x")
        assert jsonl._add_decoded("\r\n".join(style).encode(), 1, "x", builder) == len(style)
        assert (builder.counts[:4], builder.places[-1][1]) == ([0, 2, 4, 0], len(style))
    assert builder.extras["ids"] == {len(builder.starts) - 1: "T1"}


@pytest.mark.parametrize("compact", [False, True])
def test_every_byte_of_plain_spans_counts(compact: bool) -> None:
    line = '{"id": "d", "text": "Aspirin und ASS", "spans": [{"start": 12, "end": 15, "label": "é"}]}'
    raw = (line.replace(" ", "") if compact else line).encode()
    for place in range(len(raw)):
        for value in b'\0\t "+,0:A\\]}\xff':
            same(b"\n".join([raw, raw[:place] + bytes([value]) + raw[place + 1 :]]))
