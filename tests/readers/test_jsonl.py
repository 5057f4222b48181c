"""The native format: what it refuses and how it says so; what it writes reads back unchanged."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given

from nereval_core.corpus import Layer
from nereval_core.problems import FormatError
from nereval_core.readers import Source, read
from nereval_core.writers import write
from tests.support.draws import draws
from tests.support.layer_strategies import content, layers

FULL = (
    '{"id": "d1", "text": "Aspirin tablet", "spans": [{"start": 8, "end": 14, "label": "Form"}, {"start": 0, "end": 14,'
    ' "label": "Drug", "id": "T1", "links": ["Q18216", "372687004"], "fragments": [[0, 7], [8, 14]], "core": [0, 7],'
    ' "alternatives": [[0, 7]], "score": 0.93, "meta": {"by": "a"}}], "tokens": [[0, 7], [8, 14]],'
    ' "sentences": [[0, 14]], "meta": {"date": "1798-01-20", "pages": [1, null]}}\n'
)


def doc(spans: str = "", *, id: str = '"d"', text: str = '"abcdef"', more: str = "") -> str:
    return f'{{"id": {id}, "text": {text}, "spans": [{spans}]{more}}}'


def span(more: str = "", *, start: str = "0", end: str = "3", label: str = '"A"') -> str:
    return f'{{"start": {start}, "end": {end}, "label": {label}{more}}}'


def read_text(text: str) -> Layer:
    return read(Source.of_uploads([("x.jsonl", text.encode())]), format="jsonl").layer


def refused(text: str) -> list[str]:
    with pytest.raises(FormatError) as caught:
        read_text(text)
    return [str(problem) for problem in caught.value.problems]


def test_all_keys_are_read_and_written_back_as_they_were(tmp_path: Path) -> None:
    layer = read_text(FULL)
    assert layer.start.tolist() == [0, 8]
    assert layer.fragments == {0: ((0, 7), (8, 14))}
    assert layer.links == {0: ("Q18216", "372687004")}
    assert (layer.cores, layer.alternatives) == ({0: (0, 7)}, {0: ((0, 7),)})
    assert (layer.scores, layer.ids, layer.meta) == ({0: 0.93}, {0: "T1"}, {0: {"by": "a"}})
    assert layer.documents.tokens is not None
    assert layer.documents.tokens.of_document(0) == [(0, 7), (8, 14)]
    assert write(layer, tmp_path / "out.jsonl", format="jsonl") == ()
    again = (tmp_path / "out.jsonl").read_text()
    assert content(read_text(again)) == content(layer)
    # Spans stand in the order in which they were read, not sorted.
    assert again.index('"Form"') < again.index('"Drug"')


@draws(10)
@given(layer=layers())
def test_any_layer_reads_back_unchanged(layer: Layer) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder, "x.jsonl")
        write(layer, path, format="jsonl")
        if not len(layer.documents):
            assert path.read_bytes() == b""
            return
        again = read(path).layer
    assert content(again) == content(layer)
    assert again.digest == layer.digest


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"{doc(span())}", id="no final line end"),
        pytest.param(f"{doc(span())}\r\n", id="CRLF"),
        pytest.param(f"\n  \n{doc(span())}\n\n", id="blank lines"),
        pytest.param(f"\ufeff{doc(span())}\n", id="byte-order mark"),
        pytest.param(f"  {doc(span())}  \n", id="blanks around"),
    ],
)
def test_line_ends_and_blank_lines_do_not_matter(text: str) -> None:
    layer = read_text(text)
    assert (layer.documents.texts, layer.start.tolist(), layer.end.tolist()) == (("abcdef",), [0], [3])


REFUSED = [
    # (what stands in the line, what the problem says)
    ("{", "not JSON at position 2 of the line"),
    ("[]", "a list where a document should be"),
    ('"a"', "a string where a document should be"),
    ("null", "null where a document should be"),
    ('{"id": "d"}', "the document has no text; give id, text, spans"),
    (doc(more=', "tags": []'), "the document has the unknown key 'tags'; known are id, text, spans, tokens,"),
    (doc(id="7"), "id is an integer; write a string"),
    (doc(id='""'), "a document without an id"),
    (doc(text="null"), "text is null; write a string"),
    ('{"id": "d", "text": "a", "spans": {}}', "spans is an object; write a list"),
    (doc("3"), "spans[0] is an integer"),
    (doc(more=', "meta": []'), "meta is a list; write an object"),
    (doc(more=', "tokens": 1'), "tokens is an integer; write a list"),
    (doc(more=', "tokens": [[0, 3], [3]]'), "tokens[1] does not have 2 values; write a list of 2"),
    (doc(more=', "tokens": [[0, 99999999999999999999]]'), "tokens[0][1] is too large"),
    (doc(more=', "tokens": [[2, 4], [0, 1]]'), "token [0, 1) of document 'd' (length 6)"),
    (doc(more=', "sentences": [[0, 9]]'), "sentence [0, 9) of document 'd' (length 6)"),
    (doc(span(start="true")), "spans[0].start is true or false; write an integer"),
    (doc(span(end="3.0")), "spans[0].end is a fraction; write an integer"),
    (doc(span(start='"0"')), "spans[0].start is a string; write an integer"),
    (doc('{"start": 0, "label": "A"}'), "spans[0] has no end; give start, end, label"),
    (doc(span(label="null")), "spans[0].label is null; write a string"),
    (doc(span(label='""')), "a span without a usable type"),
    (doc(span(', "type": "A", "text": "abc"')), "spans[0] has the unknown key 'type'; known are start, end,"),
    (doc(span(end="7")), "span [0, 7) of document 'd' is not inside its text of 6 characters"),
    (doc(span(start="3")), "span [3, 3) of document 'd'"),
    (doc(span(start="-1")), "span [-1, 3) of document 'd'"),
    (doc(span(end="9" * 30)), "is not inside its text of 6 characters"),
    (doc(span(end="9" * 5000)), "a number with too many digits"),
    (doc(span(', "links": "Q1"')), "spans[0].links is a string; write a list"),
    (doc(span(', "links": [1]')), "spans[0].links[0] is an integer"),
    (doc(span(', "links": [""]')), "an empty or unreadable concept id"),
    (doc(span(', "core": [0]')), "spans[0].core does not have 2 values"),
    (doc(span(', "core": [2, 5]')), "core [2, 5] is not inside its span [0, 3)"),
    (doc(span(', "fragments": [0, 3]')), "spans[0].fragments[0] is an integer"),
    (doc(span(', "fragments": [[0, 1], [2, 4]]')), "fragments [[0, 1], [2, 4]] of span [0, 3)"),
    (doc(span(', "alternatives": [[0, 7]]')), "alternative [0, 7) is not inside the text"),
    (doc(span(', "score": "1"')), "spans[0].score is a string; write a number"),
    (doc(span(', "score": true')), "spans[0].score is true or false; write a number"),
    (doc(span(', "score": null')), "spans[0].score is null; write a number"),
    (doc(span(', "score": NaN')), "NaN, which is not JSON"),
    (doc(span(', "score": -Infinity')), "-Infinity, which is not JSON"),
    (doc(span(', "score": 1e999')), "the number 1e999 is too large"),
    (doc(span(f', "score": {"9" * 400}')), "spans[0].score is too large"),
    (doc(more=', "text": "b"'), "the key 'text' stands twice in one object"),
    (doc(text='"\\ud83d"'), "half a surrogate pair"),
    (doc(more=', "meta": {"\\udc00": 1}'), "half a surrogate pair"),
    (doc(more=f', "meta": {{"a": {"[" * 100_000}{"]" * 100_000}}}'), "JSON nested too deeply"),
]


@pytest.mark.parametrize(("line", "said"), REFUSED, ids=[said[:50] for _, said in REFUSED])
def test_a_bad_line_is_named_with_what_is_wrong_and_how_to_mend_it(line: str, said: str) -> None:
    first = doc(id='"first"')
    problems = refused(f"{first}\n\n{line}\n")
    assert len(problems) == 1
    place, _, rest = problems[0].partition(": ")
    assert place == "x.jsonl:3"
    assert said in rest
    assert "; " in rest


def test_all_problems_of_a_file_are_told_at_once() -> None:
    problems = refused("\n".join([doc(span(start="9")), "{", doc(id='"e"', text="1") + "\r", doc(id='"d"')]))
    assert sorted(int(problem.split(":")[1]) for problem in problems) == [1, 2, 3, 4]
    assert any("'d' stands at x.jsonl:1 already" in problem for problem in problems)


def test_pairs_of_surrogate_escapes_are_one_character() -> None:
    assert read_text(doc(text='"\\ud83d\\udc8a!"')).documents.lengths.tolist() == [2]


def test_bytes_that_are_not_utf8_are_named_with_their_line() -> None:
    raw = f"{doc()}\n".encode() + '{"id": "é"}'.encode("latin-1")
    with pytest.raises(FormatError, match=r"^x\.jsonl:2: byte 0xE9 at position 9 of the line is not UTF-8; save the"):
        read(Source.of_uploads([("x.jsonl", raw)]))


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("name", ["x.json", "x.jsonl"])
def test_a_list_of_documents_and_documents_over_several_lines_are_read(name: str, indent: int | None) -> None:
    document = json.loads(doc(span()))
    for value in ([document, document | {"id": "e"}], document):
        uploaded = Source.of_uploads([(name, json.dumps(value, indent=indent).encode())])
        reading = read(uploaded)
        assert (reading.format, len(reading.layer)) == ("jsonl", len(value) if isinstance(value, list) else 1)


def test_a_problem_in_a_list_has_its_line() -> None:
    assert refused(f"[\n{doc()},\n{doc(span(start='-1'), id='5')}\n]")[0].startswith("x.jsonl:3: id is an integer")
