"""Names between marks: OpenNLP and square brackets, documents by empty lines, what is text, and what is refused."""

from __future__ import annotations

import pytest

from nereval_core.problems import FormatError
from nereval_core.readers import Reading, ReadOptions, Source, read, readers
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
        read_text(f"Nobody .\n{line}\n")
    [problem] = caught.value.problems
    assert str(problem).startswith(f"x.train:2: {said}")


@pytest.mark.parametrize("text", ["Ann [1] left [see below].\n", '{"text": "[PER Ann ]"}\n', "a ] b\n", "<START> x\n"])
def test_other_text_is_not_claimed(text: str) -> None:
    assert readers()["bracketed"].recognise(Source.of_uploads([("x.txt", text.encode())])) == 0
