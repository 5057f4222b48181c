"""Tables of tokens in CSV: sentences, tags by several names, lines of problems, and the file people have."""

from __future__ import annotations

import pytest

from nereval_core.problems import FormatError
from nereval_core.readers import Reading, ReadOptions, Source, read
from nereval_core.readers.recognition.preview import preview
from nereval_core.readers.shared.label_list import label_list
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
    assert list(table(text, column="tag").documents.texts) == ["Ann Lee"]
    assert words(table(text, column="fine")) == words(table(text, column=3)) == ["Ann"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("word,tag\nAnn,PER\n", ["x.csv:2: 'PER' is not a tag"]),
        ("word,tag\nAnn,B-PER,x\n", ["x.csv:2: 3 cells under 2 columns"]),
        (
            "row_id,document,token,label\n0,7,0,B-PER\n1,7,1,I-PER\n2,7,9,B-LOC\n",
            ["x.csv:1: the column of words, 'token', has numbers alone"],
        ),
        ("word,tag\n,O\nb,O\n,O\n", ["x.csv:2: a row without a word", "x.csv:4: a row without a word"]),
        ("word,tag\nAnn,B-PER\nx,I-LOC\n", ["x.csv:3: 'I-LOC' after 'B-PER' is not legal in IOB2"]),
        ("word,kind\nAnn,x\n", ["x.csv:1: no column for the tags among 'word', 'kind'"]),
        ("name,tag\nAnn,B-PER\n", ["x.csv:1: no column for the words among 'name', 'tag'"]),
        ('word,tag\n"Ann,B-PER\n', ["x.csv:2: not a row of a table"]),
        ("sentence,word,tag\n1,Ann,O\n2,b,O\n1,c,O\n", ["x.csv:4: document id '1' stands at x.csv:2 already"]),
    ],
)
def test_problems_have_lines(text: str, said: list[str]) -> None:
    with pytest.raises(FormatError) as error:
        table(text)
    found = [str(problem) for problem in error.value.problems]
    assert len(found) == len(said)
    assert all(one.startswith(begin) for one, begin in zip(found, said, strict=True)), found


# Tables of gold and a prediction, and the names of the columns that are asked for.
AMBIGUOUS = [
    ("word,label,prediction\nAnn,B-PER,O\nleft,O,O\n", "'label' (PER), 'prediction' (O alone)"),
    ("token,gold,pred\nAnn,B-PER,B_LOC\nleft,O,O\n", "'gold' (PER), 'pred' (LOC)"),
    ("word,pred,tag\nAnn,B-PER/0.9,B-PER\nleft,O/0.7,O\n", "'pred' (PER), 'tag' (PER)"),
    ("word;ner;system\nAnn;PER;LOC\nleft;O;O\n", "'ner' (PER), 'system' (LOC)"),
    (
        "word\tpos\tner\tmodel out\nAnn\tNE\tB-PER\tLABEL_1\nleft\tV\tO\tLABEL_0\n",
        "'ner' (PER), 'model_out' (LABEL_1, ",
    ),
    ("word,tag,predicted\nAnn,B-PER,1\nleft,O,0\nLee,B-PER,0\nx,O,0\n", "'tag' (PER), 'predicted' (1, 0)"),
    ("word,tag,ner_tag\nAnn,B-PER,b-per\nleft,O,o\n", "'tag' (PER), 'ner_tag' (per)"),
]


@pytest.mark.parametrize(("text", "columns"), AMBIGUOUS)
def test_gold_is_not_read_as_the_prediction(text: str, columns: str) -> None:
    source = Source.of_uploads([("x.csv", text.encode())])
    with pytest.raises(FormatError) as error:
        read(source)
    found = str(error.value)
    assert found.startswith(f"x.csv:1: 2 columns hold tags: {columns}")
    first, second = found.partition("--gold-column ")[2].partition(";")[0].split(" --pred-column ")
    chosen = [read(source, options=ReadOptions(column=name, labels=LABELS)) for name in (first, second)]
    assert [reading.format for reading in chosen] == ["tokentable"] * 2
    assert [column.number for column in preview(source).tags] == [first, second]


LABELS = label_list("O,B-PER,I-PER")


def test_other_columns_are_not_asked_for() -> None:
    text = "sentence,word,pos,prev-iob,chunk,shape,conf,tag\n1,Ann,NNP,O,B-NP,Xx,0.5,B-PER\n1,is,O,B-PER,O,x,1,O\n"
    assert words(read(Source.of_uploads([("x.csv", text.encode())]))) == ["Ann"]


def test_a_column_called_like_a_prediction_is_said_not_to_be_read() -> None:
    found = table("word,tag,pred_score,output\nAnn,B-PER,0.5,yes sir\n")
    assert "not read, though called like predictions: 'pred_score', 'output'" in found.notes


def test_probabilities_beside_tags_become_scores() -> None:
    found = table("word,tag\nAnn,B-PER/0.5\nLee,I-PER/1.0\nleft,O/0.9\n")
    assert words(found) == ["Ann Lee"]
    assert dict(found.layer.scores) == {0: 0.75}


def test_the_file_people_have() -> None:
    found = read(Source.of_path(defect("kaggle.csv")))
    assert (found.format, len(found.documents), len(found.layer)) == ("tokentable", 2, 2)
