"""Tables of tokens in CSV: sentences, tags by several names, lines of problems, and the file people have."""

from __future__ import annotations

import pytest

from nereval_core.problems import FormatError
from nereval_core.readers import Reading, ReadOptions, Source, read
from tests.support.samples import KAGGLE
from tests.support.shared_corpora import defect


def table(text: str, **options: str | int) -> Reading:
    return read(Source.of_uploads([("x.csv", text.encode())]), format="tokentable", options=ReadOptions(**options))  # type: ignore[arg-type]


def words(found: Reading) -> list[str]:
    return [found.layer.text(span) for span in range(len(found.layer))]


def test_sentences_are_documents() -> None:
    found = table(KAGGLE)
    assert found.documents.ids == ("Sentence: 1", "Sentence: 2")
    assert list(found.documents.texts) == ["Ann Lee, Jr. left", "Rome"]
    assert words(found) == ["Ann Lee, Jr.", "Rome"]
    assert list(found.places) == [("x.csv", 2), ("x.csv", 5)]
    assert found.scheme == "IOB2"


@pytest.mark.parametrize(
    "text",
    [
        "sentence_id;token;ner\n1;Ann;B-PER\n1;left;O\n2;Rome;B-LOC\n",
        "doc\tword\tBIO\na\tAnn\tB-PER\na\tleft\tO\n\nb\tRome\tB-LOC\n",
        '"Sentence","Word","Label"\n1,Ann,B-PER\n,left,O\n2,Rome,B-LOC\n',
    ],
)
def test_other_names_and_delimiters(text: str) -> None:
    found = table(text)
    assert list(found.documents.texts) == ["Ann left", "Rome"]
    assert words(found) == ["Ann", "Rome"]
    assert read(Source.of_uploads([("x.csv", text.encode())])).format == "tokentable"


def test_a_file_without_sentences_is_one_document_and_a_column_may_be_named() -> None:
    text = "word,tag,fine\nAnn,B-PER,B-actor\nLee,I-PER,O\n"
    assert list(table(text).documents.texts) == ["Ann Lee"]
    assert words(table(text, column="fine")) == words(table(text, column=3)) == ["Ann"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("word,tag\nAnn,PER\n", ["x.csv:2: 'PER' is not a tag"]),
        ("word,tag\nAnn,B-PER,x\n", ["x.csv:2: 3 cells under 2 columns"]),
        ("word,tag\n,O\nb,O\n,O\n", ["x.csv:2: a row without a word", "x.csv:4: a row without a word"]),
        ("word,tag\nAnn,B-PER\nx,I-LOC\n", ["x.csv:3: 'I-LOC' after 'B-PER' is not legal in IOB2"]),
        ("word,kind\nAnn,B-PER\n", ["x.csv:1: no column for the tags among 'word', 'kind'"]),
        ("name,tag\nAnn,B-PER\n", ["x.csv:1: no column for the words among 'name', 'tag'"]),
        ('word,tag\n"Ann,B-PER\n', ["x.csv:2: no row of a table"]),
        ("sentence,word,tag\n1,Ann,O\n2,b,O\n1,c,O\n", ["x.csv:4: document id '1' stands at x.csv:2 already"]),
    ],
)
def test_problems_have_lines(text: str, said: list[str]) -> None:
    with pytest.raises(FormatError) as error:
        table(text)
    found = [str(problem) for problem in error.value.problems]
    assert len(found) == len(said)
    assert all(one.startswith(begin) for one, begin in zip(found, said, strict=True)), found


def test_the_file_people_have() -> None:
    found = read(Source.of_path(defect("kaggle.csv")))
    assert (found.format, len(found.documents), len(found.layer)) == ("tokentable", 2, 2)
