"""Names between marks: OpenNLP and square brackets, documents by empty lines, what is text, and what is refused."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given

from nereval_core.corpus import Layer
from nereval_core.problems import FormatError
from nereval_core.readers import Reading, ReadOptions, Source, read, readers
from nereval_core.writers import write
from tests.support.draws import draws
from tests.support.layer_strategies import layers
from tests.support.readings import span_texts
from tests.support.samples import OPENNLP, SQUARE


def read_text(text: str, **options: str) -> Reading:
    source = Source.of_uploads([("x.train", text.encode())])
    return read(source, format="bracketed", options=ReadOptions(type=options.get("type")))


def test_names_of_opennlp_stand_in_documents_parted_by_empty_lines() -> None:
    reading = read_text(OPENNLP)
    assert reading.documents.texts == ("Ann Lee left Rome .\nShe met Bob .", "Nobody < 3 .")
    assert span_texts(reading.layer) == [("1", "Ann Lee", "person"), ("1", "Rome", "location"), ("1", "Bob", "entity")]
    assert reading.documents.sentences is not None and reading.documents.sentences.of_document(0) == [(0, 19), (20, 33)]
    assert list(reading.places) == [("x.train", 1), ("x.train", 4)]
    assert span_texts(read_text(OPENNLP, type="person").layer)[2] == ("1", "Bob", "person")


def test_each_line_is_a_document_without_empty_lines() -> None:
    reading = read_text(SQUARE)
    assert reading.documents.texts == ("Ann Lee left Bank of Rome .", "[ sic ] Nobody .")
    assert span_texts(reading.layer) == [("1", "Ann Lee", "PER"), ("1", "Bank of Rome", "ORG"), ("1", "Rome", "LOC")]


def test_marks_may_stand_without_blanks_and_signs_are_text() -> None:
    reading = read_text("a<b <START:x>Ann<END>, <STARTED> <i>\n")
    assert reading.documents.texts == ("a<b Ann , <STARTED> <i>",)
    assert span_texts(reading.layer) == [("1", "Ann", "x")]


REFUSED = [
    ("<START:a> Ann", "a name 'a' that is not closed; write names as <START:type> words <END>"),
    ("<START:a> Ann <START:b> Lee <END>", "'<START:b>' in a name that is not closed"),
    ("<START:a> Ann <END> x <END>", "'<END>' closes no name"),
    ("<START:a> <END>", "a name 'a' without words"),
    ("[PER Ann", "a name 'PER' that is not closed; write names as [TYPE words ]"),
    ("[PER ]", "a name 'PER' without words"),
    ("Ann ] left", "']' closes no name"),
]


@pytest.mark.parametrize(("line", "said"), REFUSED)
def test_refuses_with_the_line(line: str, said: str) -> None:
    with pytest.raises(FormatError) as caught:
        read_text(f"{'Nobody .' if '<' in line else '[LOC Rome ]'}\n{line}\n")
    [problem] = caught.value.problems
    assert str(problem).startswith(f"x.train:2: {said}")


@pytest.mark.parametrize("text", ["Ann [1] left [see below].\n", '{"text": "[PER Ann ]"}\n', "a ] b\n", "<START> x\n"])
def test_other_text_is_not_claimed(text: str) -> None:
    assert readers()["bracketed"].recognise(Source.of_uploads([("x.txt", text.encode())])) == 0


def test_writing_reads_back(tmp_path: Path) -> None:
    layer = read_text(OPENNLP).layer
    assert write(layer, tmp_path / "x.train", format="bracketed") == ()
    assert (tmp_path / "x.train").read_text() == OPENNLP.replace("<START>", "<START:entity>")
    [first] = read_text(OPENNLP.split("\n\n")[0] + "\n\nx").documents.texts[:1]
    one = read_text("\n" + OPENNLP.split("\n\n")[0]).layer
    assert one.documents.texts == (first,)
    write(one, tmp_path / "one.train", format="bracketed")
    assert read(tmp_path / "one.train").documents.texts == (first,)


@draws(20)
@given(layers(whole=True))
def test_what_is_written_reads_back_or_is_refused(layer: Layer) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "x.train"
        try:
            write(layer, path, format="bracketed", lossy=True)
            reading = read(path, format="bracketed")
        except FormatError as error:
            assert error.lines()
            return
    written = [row[1:] for row in span_texts(reading.layer)]
    assert {row[1] for row in written} <= set(layer.types)
    assert len(written) <= len(layer)


def test_what_marks_cannot_say_is_refused(tmp_path: Path) -> None:
    layer = read_text(SQUARE).layer
    with pytest.raises(FormatError, match=r"overlaps another"):
        write(layer, tmp_path / "x", format="bracketed")
    assert write(layer, tmp_path / "x", format="bracketed", lossy=True) == ("spans left out, each overlaps another: 1",)
    assert span_texts(read(tmp_path / "x").layer)[0] == ("1", "Ann Lee", "PER")
    marked = read(
        Source.of_uploads(
            [
                (
                    "x.jsonl",
                    b'{"text": "a <END> b", "spans": [], "tokens": [{"start": 0, "end": 1}, {"start": 2, "end": 7}]}',
                )
            ]
        )
    )
    with pytest.raises(FormatError, match=r"document '1': the word '<END>' has a blank or a mark in it; write it as"):
        write(marked.layer, tmp_path / "x", format="bracketed")


RASA_YAML = """version: "3.1"

nlu:
- intent: travel
  examples: |
    - [Ann Lee](person) left [Rome]{"entity": "place", "role": "from"}
    - Nobody came
- synonym: Rome
  examples: |
    - [the city](place)
- intent: told
  examples:
  - text: |
      [Bob](person:Robert) left
    metadata:
      sentiment: neutral
- rule: greet
  steps:
  - intent: travel
  - action: utter_[x](y)
"""
RASA_MARKDOWN = """## intent:travel
- [Ann Lee](person) left [Rome](place) <!-- said by many -->
- Nobody came

## lookup:place
- [the city](place)

## intent:told
* [Bob](person:Robert) left
"""
RASA_SPANS = [("1", "Ann Lee", "person"), ("1", "Rome", "place"), ("3", "Bob", "person")]


@pytest.mark.parametrize(("name", "content"), [("nlu.yml", RASA_YAML), ("nlu.md", RASA_MARKDOWN)])
def test_examples_of_rasa_are_documents(name: str, content: str) -> None:
    for text in (content, content.replace("\n", "\r\n"), "\ufeff" + content):
        reading = read(Source.of_uploads([(name, text.encode())]))
        assert reading.format == "bracketed"
        assert reading.documents.texts == ("Ann Lee left Rome", "Nobody came", "Bob left")
        assert span_texts(reading.layer) == RASA_SPANS
    if name == "nlu.yml":
        assert reading.layer.meta == {1: {"role": "from"}}
        with pytest.raises(FormatError) as caught:
            read(Source.of_uploads([(name, content.replace('"entity": "place", ', "").encode())]))
        assert (caught.value.problems[0].line, "no type in" in caught.value.problems[0].found) == (6, True)


@pytest.mark.parametrize(
    "line", ["[Ann Lee](PER) left [Rome](LOC).", "[PER Ann Lee] left [LOC Rome].", "[PER: Ann Lee] left [LOC: Rome]."]
)
def test_lines_with_tight_brackets_stand_as_they_are(line: str) -> None:
    reading = read(Source.of_uploads([("x.txt", f"Nobody  came.\n{line}\n".encode())]))
    assert (reading.format, reading.documents.texts) == ("bracketed", ("Nobody  came.", "Ann Lee left Rome."))
    assert span_texts(reading.layer) == [("2", "Ann Lee", "PER"), ("2", "Rome", "LOC")]


@pytest.mark.parametrize(
    "line",
    [
        "[Ann Lee]PER left",
        "[see](https://example.org) there",
        "[Ann Lee/PER] left",
        "[sic] he left",
        "[rules](CONTRIBUTING.md)",
    ],
)
def test_other_brackets_are_not_names(line: str) -> None:
    with pytest.raises(FormatError, match="cannot be recognised"):
        read(Source.of_uploads([("x.txt", f"{line}\n".encode())]))


@pytest.mark.parametrize("end", [" ]", "]"])
def test_types_may_be_in_small_letters_where_all_brackets_have_them(end: str) -> None:
    text = f"[person Ann Lee{end} left [place Rome{end} .\nMr . [person Lee{end} is back .\n"
    reading = read(Source.of_uploads([("x.txt", text.encode())]))
    assert reading.format == "bracketed"
    assert reading.documents.texts == ("Ann Lee left Rome .", "Mr . Lee is back .")
    names = [("1", "Ann Lee", "person"), ("1", "Rome", "place"), ("2", "Lee", "person")]
    assert span_texts(reading.layer) == names


def test_brackets_that_are_read_as_text_are_counted() -> None:
    reading = read_text("Ann [sic] left [see below] Rome [see above] .\n")
    assert (len(reading.layer), reading.notes) == (0, ("square brackets read as text, as they mark no names: 3",))
