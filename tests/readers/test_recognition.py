"""Every format is told from every other by a sample of it, whatever its file is called, and damage ends in problems."""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nereval_core.problems import FormatError
from nereval_core.readers import ReadOptions, Source, layers, read, readers
from nereval_core.readers.input.file_text import HEAD_BYTES
from nereval_core.readers.recognition.signs import SHAPES, nearest_shape
from tests.support.draws import draws
from tests.support.samples import SAMPLES, raw
from tests.support.shared_corpora import defect


def source(name: str, files: dict[str, bytes] | None = None) -> Source:
    given = {file: raw(content) for file, content in SAMPLES[name][1].items()} if files is None else files
    return Source.of_uploads(given.items())


@pytest.mark.parametrize("name", SAMPLES)
def test_a_sample_is_claimed_most_surely_by_its_own_reader(name: str) -> None:
    format, files, layer = SAMPLES[name]
    claims = {one: reader.recognise(source(name)) for one, reader in readers().items()}
    assert sorted(claims, key=lambda one: -claims[one])[0] == format
    assert [one for one, claim in claims.items() if claim == claims[format]] == [format]
    reading = read(source(name), options=ReadOptions(layer=layer))
    assert reading.format == format
    assert len(reading.documents) and len(reading.layer)
    if len(files) == 1:
        [content] = files.values()
        for other in ("x", "x.txt", "x.json"):
            reading = read(source(name, {other: raw(content)}), options=ReadOptions(layer=layer))
            assert reading.format == format


def test_every_reader_has_a_sample() -> None:
    assert {format for format, _, _ in SAMPLES.values()} | {"parquet"} == set(readers())


@pytest.mark.parametrize("name", SAMPLES)
def test_a_damaged_sample_ends_in_a_reading_or_in_problems(name: str) -> None:
    """Every byte in turn is lost, or becomes another that JSON and tables care about."""
    format, files, layer = SAMPLES[name]
    target = list(files)[-1]
    whole = raw(files[target])
    chosen = random.Random(0)
    ends = 0
    for at in sorted(chosen.sample(range(len(whole)), min(len(whole), 250))):
        for change in (b"", chosen.choice([b'"', b"{", b"]", b"\n", b"\t", b"\xff", b"-", b"0", b",", b"\\", b"|"])):
            damaged = whole[:at] + change + whole[at + 1 :]
            given = {**{file: raw(content) for file, content in files.items()}, target: damaged}
            try:
                read(source(name, given), format=format, options=ReadOptions(layer=layer))
                layers(source(name, given), format=format)
                ends += 1
            except FormatError as error:
                assert all(problem.found and problem.remedy for problem in error.problems)
    # What is packed has a sum to check it by.
    assert ends or isinstance(files[target], bytes)


HARD_HEADS = {
    # what a recogniser that tries each piece in several ways would not get done with
    "line ends alone": "\n" * HEAD_BYTES,
    "blanks and a bracket": " " * HEAD_BYTES + "[",
    "comments of XML": '<?xml version="1.0"?>' + "<!---->" * 5_000 + "x",
    "instructions of XML": "<?a?> " * 5_000 + "x",
    "a declaration of a document": "<!DOCTYPE collection [" + "] " * 20_000,
    "open comments": "<!--" * 10_000,
    "brackets": "[" * HEAD_BYTES,
    "open objects": '{"a":' * 10_000,
    "quotes": '{"' + '\\"' * 20_000,
    "keys of a CAS": '{"%TYPES"' * 5_000,
    "bars": "|" * HEAD_BYTES,
    "tabs": "\t" * HEAD_BYTES,
}


@pytest.mark.parametrize("head", HARD_HEADS.values(), ids=HARD_HEADS)
def test_no_reader_is_sure_of_what_is_hard_to_tell_or_goes_on_without_end(head: str) -> None:
    given = Source.of_uploads([("x.txt", head.encode())])
    # The native format is what may be meant by any object.
    assert max(reader.recognise(given) for reader in readers().values()) <= 0.5


@pytest.mark.parametrize(("root", "format"), [("<collection>", "bioc"), ("<xmi:XMI xmi:version='2.0'>", "cas")])
def test_xml_is_told_behind_many_comments(root: str, format: str) -> None:
    head = '<?xml version="1.0"?>' + " <!-- > -->\n" * 1_000 + root
    assert readers()[format].recognise(Source.of_uploads([("x.txt", head.encode())])) == 1.0


@pytest.mark.parametrize("format", readers())
def test_any_bytes_end_in_problems(format: str) -> None:
    @draws(20)
    @given(st.binary(min_size=1, max_size=200) | st.text(min_size=1).map(lambda text: text.encode(errors="replace")))
    def check(raw: bytes) -> None:
        try:
            given = Source.of_uploads([("x.json", raw)])
            readers()[format].recognise(given)
            read(given, format=format)
        except FormatError as error:
            assert error.lines()

    check()


def test_an_upload_of_several_layers_is_told_what_to_do() -> None:
    for name, (_, _, layer) in SAMPLES.items():
        if layer is None:
            continue
        with pytest.raises(FormatError) as caught:
            read(source(name))
        [line] = caught.value.lines()
        assert "and one is read at a time; name it after the path, " in line
        assert line.endswith(", or choose it beside the upload")


# A file, and what is said of it where no reader knows it.
UNKNOWN = [
    (
        "x.txt",
        "a\tO\nb\tX\n",
        "holds 'O', 'X'; write O, or a letter, '-' and a type, in the last column of all rows; or read it by --format ",
    ),
    ("x.txt", "a O\nb I_PER\nc X\n", "split by blanks, the last holds 'O', 'I_PER', 'X'; write O, or a letter,"),
    ("x.txt", "a\tO\nb\tB-X\nc\tBX\nd\tX\n", "holds 'O', 'B-X', 'BX', …; write O, or a letter, '-' and a type, in the"),
    (
        "x.bio",
        "B-PER\tAnn\nO\tleft\n\nB-LOC\tRome\n",
        "the first of 2 columns has the tags; write the word first and its tag last in each row",
    ),
    (
        "x.txt",
        "a\tb c\nd\te\n",
        "2 columns split by tabs, the last holds 'b c', 'e'; write it in a format that",
    ),
    (
        "x.csv",
        "W;T\na;B-X\nb;O\n",
        "a table of tokens, whose column 'T' holds 'B-X'; write one token and its tag",
    ),
    (
        "x.xml",
        '<?xml version="1.0"?>\n<!-- a -->\n<c l="en">\n</c>\n',
        "XML that begins '<c l=\"en\">'; write it in a format",
    ),
    (
        "x.jsonl",
        '{"id": "d", "output": "I see none."}\n',
        "keys 'id', 'output', as 'mentions' has them, whose values are not",
    ),
    ("x.xml", "<tei>\n</tei>\n", "XML that begins '<tei>'; write it in a format that is read"),
    ("x.txt", "Just a text.\n", "it begins 'Just a text.'; write it in a format that is read"),
    (
        "x.jsonl",
        '{"sentence": "a", "ner": []}\n',
        "an object with 'ner', 'sentence' for keys, which no known format has; name its keys (--keys text=KEY,",
    ),
    ("x.jsonl", "{}\n", "an object without keys; write the native format"),
    (
        "x.jsonl",
        '{"text": "a", "annotations": []}\n',
        "an object with the keys 'annotations', 'text', which no format has",
    ),
    (
        "x.jsonl",
        '{"words_": [], "ner_tags": []}\n',
        "the nearest is 'datasets' with id, ner_tags, tokens; write it so",
    ),
    (
        "x.jsonl",
        '{"id": "a", "text": "a", "span": []}\n',
        "the document has the unknown key 'span'; known are id, text,",
    ),
]


@pytest.mark.parametrize(("name", "text", "said"), UNKNOWN)
def test_what_was_seen_is_said_where_the_format_cannot_be_recognised(name: str, text: str, said: str) -> None:
    with pytest.raises(FormatError, match=re.escape(said)):
        read(source("", {name: text.encode()}))


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("conll_bom_end.conll", ":3: a byte-order mark alone; delete the line"),
        (
            "doccano_v1.jsonl",
            "it looks like doccano's old export, which is not read; export it from doccano 1.5 or later",
        ),
    ],
)
def test_files_once_explained_badly(name: str, said: str) -> None:
    with pytest.raises(FormatError, match=re.escape(said)):
        read(Source.of_path(defect(name)))


@pytest.mark.parametrize("name", ["fewnerd.txt", "stanford.tsv"])
def test_types_without_letters_are_columns(name: str) -> None:
    reading = read(Source.of_path(defect(name)))
    assert (reading.format, reading.scheme) == ("conll", "IO")


def test_every_known_shape_is_of_a_format_that_reads_json() -> None:
    """Objects of a shape that can be read are nearest to their own format."""
    assert set(SHAPES) <= set(readers())
    for format, shapes in SHAPES.items():
        assert all(nearest_shape(shape.keys) == (format, shape) for shape in shapes)
