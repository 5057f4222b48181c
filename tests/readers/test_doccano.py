"""JSON lines of doccano: triples and objects in UTF-16 units, metadata, what is refused, and writing reads back."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given

from nereval_core.corpus import Layer
from nereval_core.problems import FormatError
from nereval_core.readers import Reading, ReadOptions, Source, read
from nereval_core.readers import layers as layers_of
from nereval_core.readers.shared.offset_units import Offsets
from nereval_core.writers import write
from tests.support.draws import draws
from tests.support.layer_strategies import content, layers
from tests.support.readings import span_texts
from tests.support.samples import DOCCANO, DOCCANO_RELATIONS


def read_text(text: str, **options: Offsets | None) -> Reading:
    return read(
        Source.of_uploads([("all.jsonl", text.encode())]),
        format="doccano",
        options=ReadOptions(offsets=options.get("offsets")),
    )


def test_triples_are_read_in_utf16_units() -> None:
    reading = read_text(DOCCANO)
    assert span_texts(reading.layer) == [
        ("1", "EU", "ORG"),
        ("1", "German", "MISC"),
        ("1", "Peter", "PER"),
        ("2", "Peter Blackburn", "PER"),
    ]
    assert reading.documents.meta == ({}, {"source": "wire"}, {})
    assert reading.notes == (
        "offsets taken as UTF-16 units, end exclusive: 1 of 1 spans behind characters such as emoji are at edges of "
        "words, 0 in code points; no quotes to test them by",
    )
    assert reading.places == tuple(("all.jsonl", line) for line in (1, 2, 3))


def test_offsets_in_code_points_are_read_where_that_is_said() -> None:
    text = json.dumps({"text": "😀 Peter", "label": [[2, 7, "PER"]]}, ensure_ascii=False)
    assert span_texts(read_text(text).layer) == [("1", "Peter", "PER")]
    assert span_texts(read_text(text, offsets=Offsets()).layer) == [("1", "Peter", "PER")]
    with pytest.raises(FormatError, match=r"all\.jsonl:1: 1 to 7 is not a place in the text of 7 characters; offsets"):
        read_text(text.replace("[2,", "[1,"))


def test_offsets_that_edges_of_words_do_not_tell_are_asked_for() -> None:
    row = json.dumps({"text": "😀巴黎人民", "label": [[3, 5, "LOC"]]}, ensure_ascii=False)
    with pytest.raises(FormatError, match=r"say which: --offsets utf-16\|code-points"):
        read_text(row)
    assert len(read_text(row, offsets=Offsets()).layer) == 1


def test_objects_are_read_with_their_ids_and_relations_counted() -> None:
    reading = read_text(DOCCANO_RELATIONS)
    assert span_texts(reading.layer) == [("7", "Google", "ORG"), ("7", "September 4, 1998", "DATE")]
    assert dict(reading.layer.ids) == {0: "0", 1: "1"}
    assert reading.documents.meta is None
    assert reading.notes == ("relations between spans, not read: 1",)


def test_documents_without_ids_are_numbered_over_all_files() -> None:
    row = b'{"text": "ab", "labels": [[0, 1, "A"]]}\n'
    reading = read(Source.of_uploads([("b.jsonl", row + row), ("a.jsonl", b"[" + row.strip() + b"," + row + b"]")]))
    assert (reading.format, reading.documents.ids, reading.documents.named) == ("doccano", ("1", "2", "3", "4"), False)
    assert [place[1] for place in reading.places] == [1, 1, 1, 2]


def test_files_of_annotators_who_share_documents_are_layers() -> None:
    """A project without collaborative annotation is exported as a zip of one file for each member."""
    row = {"id": 1, "text": "Ann", "label": [[0, 3, "PER"]]}
    files = {"bob.jsonl": [row], "eve.jsonl": [row | {"label": []}, row | {"id": 2}], "kim.jsonl": [row | {"id": 3}]}
    source = Source.of_uploads([(name, "\n".join(map(json.dumps, rows)).encode()) for name, rows in files.items()])
    assert layers_of(source) == ("bob", "eve", "kim")
    with pytest.raises(FormatError, match="it holds 3 layers, 'bob', 'eve', 'kim', and one is read at a time"):
        read(source)
    assert span_texts(read(source, options=ReadOptions(layer="eve")).layer) == [("2", "Ann", "PER")]
    with pytest.raises(FormatError, match="no layer 'x'; choose among 'bob', 'eve', 'kim'"):
        read(source, options=ReadOptions(layer="x"))
    apart = Source.of_uploads(
        [("bob.jsonl", json.dumps(row).encode()), ("x.jsonl", b'{"id": 2, "text": "", "label": []}')]
    )
    assert layers_of(apart) == ()
    assert read(apart).documents.ids == ("1", "2")
    assert read(apart, options=ReadOptions(layer="x")).documents.ids == ("2",)


GOOD = '{"text": "abc", "label": [[0, 1, "A"]]}\n'
REFUSED = [
    # (second line, said)
    ("[1]", "a list where a document should be; write one object with text and label"),
    ('{"text": 1, "label": []}', "the text is an integer; write a string under text"),
    ('{"label": []}', "the text is null; write a string under text"),
    ('{"text": "abc", "label": {}}', "label is an object; write a list"),
    ('{"text": "abc"}', "no label or labels or entities; write [] where there are no spans"),
    ('{"text": "abc", "annotations": [{"label": 7, "start_offset": 0}]}', "its annotations call labels by number"),
    ('{"text": "abc", "label": ["A"]}', "label[0] is a string; write [start, end, type], or an object with start"),
    ('{"text": "abc", "label": [[0, 1, "A"], [0, 1]]}', "label[1] does not have 3 values"),
    ('{"text": "abc", "label": [[0, 1, "A"], [0, 1.0, "A"]]}', "label[1][1] is a fraction"),
    ('{"text": "abc", "label": [[0, true, "A"]]}', "label[0][1] is true or false"),
    ('{"text": "abc", "label": [[0, 1, null]]}', "label[0][2] is null"),
    ('{"text": "abc", "entities": [{"start_offset": 0, "end_offset": 1}]}', "entities[0] has no label"),
    (
        '{"text": "abc", "entities": [{"start_offset": "0", "end_offset": 1, "label": "A"}]}',
        "entities[0].start_offset is a string",
    ),
    ('{"text": "abc", "label": [], "relations": 1}', "relations is an integer; write a list"),
    ('{"text": "abc", "label": [[0, 4, "A"]]}', "0 to 4 is not a place in the text of 3 characters; offsets are read"),
    ('{"text": "abc", "label": [[-1, 2, "A"]]}', "-1 to 2 is not a place in the text of 3 characters"),
    ('{"text": "abc", "label": [[1, 1, "A"]]}', "1 to 1 is not a place in the text of 3 characters"),
    (f'{{"text": "abc", "label": [[0, 1{"0" * 400}, "A"]]}}', "is not a place in the text of 3 characters"),
    ('{"text": "ab😀c", "label": [[1, 3, "A"]]}', "1 to 3 is not a place in the text of 4 characters"),
    ('{"text": "abc", "label": [[0, 1, ""]]}', "a span without a usable type"),
    ('{"text": "abc", "text": "", "label": []}', "the key 'text' stands twice"),
    ('{"text": "abc", "label": [[0, 1, "A"]}', "not JSON at position 38 of the line"),
    ('{"text": "\\udc00", "label": []}', "half a surrogate pair"),
]


@pytest.mark.parametrize(("line", "said"), REFUSED)
def test_refuses_with_the_line(line: str, said: str) -> None:
    with pytest.raises(FormatError) as caught:
        read_text(GOOD + line + "\n" + GOOD)
    [problem] = caught.value.problems
    assert str(problem).startswith("all.jsonl:2: ")
    assert said in str(problem)


def test_an_id_given_twice_is_refused() -> None:
    with pytest.raises(FormatError, match=r"^all\.jsonl:2: document id 'x' stands at all\.jsonl:1 already"):
        read_text('{"id": "x", "text": "", "label": []}\n' * 2)


@draws(13)
@given(layers(whole=True))
def test_writing_reads_back(layer: Layer) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "out.jsonl"
        notes = write(layer, path, format="doccano", lossy=True)
        if not len(layer.documents):
            return
        reading = read(path, options=ReadOptions(offsets=Offsets("UTF-16 units")))
    expected, found = content(layer), content(reading.layer)
    kept = {"ids", "texts", "doc", "start", "end", "label", "order"}
    assert {key: found[key] for key in kept} == {key: expected[key] for key in kept}
    lost = [key for key in ("ids", "links", "cores", "alternatives", "scores", "meta") if expected[f"spans' {key}"]]
    lost += [key for key in ("tokens", "sentences") if expected[key] is not None]
    assert bool(lost) == any(note.startswith("doccano has no place for them") for note in notes)
    assert reading.documents.meta == layer.documents.meta


def test_what_doccano_has_no_way_to_say_is_told(tmp_path: Path) -> None:
    def built(line: str) -> Layer:
        return read(Source.of_uploads([("x.jsonl", line.encode())])).layer

    layer = built(
        '{"id": "d", "text": "a😀c", "spans": [{"start": 2, "end": 3, "label": "A", "id": "T1", "score": 1}]}'
    )
    assert write(layer, tmp_path / "x.jsonl", format="doccano", lossy=True) == (
        "doccano has no place for them, left out: a score of 1 span, span ids",
    )
    assert json.loads((tmp_path / "x.jsonl").read_text()) == {"id": "d", "text": "a😀c", "label": [[3, 4, "A"]]}
    layer = built('{"id": "d", "text": "abc", "spans": [], "meta": {"label": 1, "b": 2}}')
    assert write(layer, tmp_path / "x.jsonl", format="doccano", lossy=True) == (
        "documents with metadata under a key of the format's own: 1",
    )
    assert json.loads((tmp_path / "x.jsonl").read_text()) == {"id": "d", "text": "abc", "label": [], "b": 2}
    span = '{"start": 0, "end": 3, "label": "A", "fragments": [[0, 1], [2, 3]]}'
    layer = built(f'{{"id": "d", "text": "abc", "spans": [{span}]}}')
    with pytest.raises(
        FormatError, match=r"y\.jsonl: document 'd': span \[0, 3\) 'a c' \(A\) is discontinuous; leave out what"
    ):
        write(layer, tmp_path / "y.jsonl", format="doccano")
    assert not (tmp_path / "y.jsonl").exists()
