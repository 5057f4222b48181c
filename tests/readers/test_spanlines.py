"""Lines of i2b2 2010, ShARe and TAC KBP: places by words and characters, texts beside or of gold, what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from nereval_core.corpus import Documents
from nereval_core.problems import FormatError
from nereval_core.readers import Reading, ReadOptions, Source, read
from tests.support.readings import span_texts
from tests.support.samples import I2B2, I2B2_TEXT, SEMEVAL, SHARE, TAC, Files, raw


def read_files(files: Files, options: ReadOptions | None = None) -> Reading:
    return read(Source.of_uploads([(name, raw(content)) for name, content in files.items()]), options=options)


def test_concepts_of_i2b2_stand_at_lines_and_words() -> None:
    reading = read_files({"txt/d1.txt": I2B2_TEXT, "concept/d1.con": I2B2, "txt/d2.txt": "none"})
    assert reading.format == "spanlines"
    assert span_texts(reading.layer) == [("d1", "Ann has  chest", "test"), ("d1", "chest PAIN", "problem")]
    assert reading.documents.ids == ("d1", "d2")
    assert reading.notes == ("lines of i2b2", "texts without spans, documents without spans: 1")


def test_a_concept_may_reach_over_lines_and_hold_quotes() -> None:
    line = 'c="to ""rest"" in bed" 1:1 2:0||t="treatment"\n'
    reading = read_files({"d.txt": 'told to\r\n""rest"" in bed', "d.con": line.replace("1:1 2:0", "1:1 2:2")})
    assert span_texts(reading.layer) == [("d", 'to\r\n""rest"" in bed', "treatment")]


def test_assertions_are_read_where_they_stand_alone() -> None:
    line = 'c="pain" 1:0 1:0||t="problem"||a="absent"\n'
    reading = read_files({"ast/d.ast": line, "txt/d.txt": "pain"})
    assert dict(reading.layer.meta) == {0: {"assertion": "absent"}}
    beside = read_files({"ast/d.ast": line, "concept/d.con": line.replace('||a="absent"', ""), "txt/d.txt": "pain"})
    assert not beside.layer.meta and beside.notes[-1] == "other files, not read: 1 (ast/d.ast)"


EXTENTS = """\
EVENT="chest pain" 2:2 2:3||type="PROBLEM"||modality="FACTUAL"||polarity="POS"
TIMEX3="Ann has" 2:0 2:1||type="DATE"||val="2012"||mod="NA"
"""
TLINK = 'EVENT="chest pain" 2:2 2:3||TIMEX3="Ann has" 2:0 2:1||type="BEFORE"\n'


def test_events_and_times_of_i2b2_2012() -> None:
    reading = read_files({"1.xml.txt": I2B2_TEXT, "1.xml.extent": EXTENTS, "1.xml.tlink": TLINK})
    assert (reading.format, reading.documents.ids) == ("spanlines", ("1",))
    assert sorted(span_texts(reading.layer)) == [("1", "Ann has", "DATE"), ("1", "chest PAIN", "PROBLEM")]
    assert reading.notes == ("lines of i2b2", "other files, not read: 1 (1.xml.tlink)")
    with pytest.raises(FormatError, match=r"1.xml.extent:3: .* is not a span; write it as c=\"words\" LINE:WORD"):
        read_files({"1.xml.txt": I2B2_TEXT, "1.xml.extent": EXTENTS + TLINK})


MEDICATIONS = """\
m="lasix" 1:1 1:1||do="40 mg" 1:2 1:3||mo="nm"||f="twice ... at night" 1:4 1:4,2:0 2:1||du="nm"||r="nm"||ln="list"
"""


def test_fields_of_i2b2_2009_are_spans_where_they_have_a_place() -> None:
    texts = {"17": "took Lasix 40 mg twice\nat night\n", "README": "x"}
    reading = read_files({**texts, "17.i2b2.entries": MEDICATIONS})
    assert span_texts(reading.layer) == [
        ("17", "Lasix", "m"),
        ("17", "40 mg", "do"),
        ("17", "twice at night", "f"),
    ]
    assert dict(reading.layer.fragments) == {2: ((17, 22), (23, 31))}
    assert reading.notes == ("lines of i2b2", "other files, not read: 1 (README)")
    # Two concepts without a type are a relation.
    with pytest.raises(FormatError, match=r'17.entries:2: .* is not a span; write it as c="words"'):
        read_files({**texts, "17.entries": MEDICATIONS + 'c="lasix" 1:1 1:1||r="TrIP"||c="night" 2:1 2:1\n'})
    with pytest.raises(FormatError, match=r"17.entries:1: the words are '50 mg', where '40 mg' stands"):
        read_files({**texts, "17.entries": MEDICATIONS.replace("40 mg", "50 mg")})


@pytest.mark.parametrize(
    "files",
    [
        {"d1.txt": I2B2_TEXT, "d1.pipe.txt": SHARE},
        {"texts/d1.text": I2B2_TEXT, "pipes/d1.pipe": SHARE.replace("\n", "||\n")},
        {"d1.text": I2B2_TEXT, "d1.pipe": SEMEVAL},
        {"d1.txt": I2B2_TEXT, "all.txt": SEMEVAL},
    ],
)
def test_disorders_are_read_with_their_pieces_and_concepts(files: Files) -> None:
    reading = read_files(files)
    assert span_texts(reading.layer) == [
        ("d1", "Ann PAIN", "Disease_Disorder"),
        ("d1", "chest", "Disease_Disorder"),
    ]
    assert dict(reading.layer.fragments) == {0: ((7, 10), (22, 26))}
    assert dict(reading.layer.links) == {0: ("NIL",), 1: ("C0008031",)}


def test_mentions_of_tac_have_links_scores_and_inclusive_ends() -> None:
    reading = read_files({"d1.txt": I2B2_TEXT, "run.tab": TAC})
    assert span_texts(reading.layer) == [("d1", "Ann", "PER"), ("d1", "chest", "BODY")]
    assert dict(reading.layer.links) == {0: ("m.01",), 1: ("NIL1",)}
    assert dict(reading.layer.scores) == {0: 0.9, 1: 1.0}
    assert dict(reading.layer.meta) == {0: {"mention": "NAM"}, 1: {"mention": "NOM"}}


def test_texts_are_those_of_gold_where_there_are_none() -> None:
    gold = ReadOptions(texts=Documents(("d1", "d2"), (I2B2_TEXT, "none")))
    for files in ({"d1.con": I2B2}, {"run.tab": TAC}, {"x.pipe": SHARE}):
        reading = read_files(files, gold)
        assert len(reading.layer) == 2 and reading.documents.texts[0] == I2B2_TEXT
    # A file without lines names its document, a table of all documents does not.
    assert read_files({"d1.con": I2B2, "d2.con": ""}, gold).documents.ids == ("d1", "d2")
    assert (
        "no texts: gold's documents taken, 1 of 2 documents without a row here"
        in read_files({"r.tab": TAC}, gold).notes[1]
    )


def test_a_single_file_brings_its_text(tmp_path: Path) -> None:
    (tmp_path / "d1.con").write_text(I2B2)
    (tmp_path / "d1.txt").write_text(I2B2_TEXT)
    assert len(read(tmp_path / "d1.con").layer) == 2


CON = 'c="chest pain" 2:2 2:3||t="problem"\n'
REFUSED = [
    # (files, what is said)
    ({"d.txt": I2B2_TEXT, "d.con": CON + "x\n"}, "d.con:2: 'x' is not a span; write it as c=\"words\" LINE:WORD LINE"),
    ({"d.txt": I2B2_TEXT, "d.con": CON.replace("2:3", "2:9")}, "d.con:1: no word 9 in line 2 of the text; count lines"),
    ({"d.txt": I2B2_TEXT, "d.con": CON.replace("2:2", "0:0")}, "d.con:1: no word 0 in line 0 of the text"),
    ({"d.txt": I2B2_TEXT, "d.con": CON.replace("2:2", "3:0")}, "d.con:1: no word 0 in line 3 of the text"),
    (
        {"d.txt": I2B2_TEXT, "d.con": CON.replace("pain", "gain")},
        "d.con:1: the words are 'chest gain', where 'chest PA",
    ),
    (
        {"d.txt": I2B2_TEXT, "d.con": CON.replace("2:2", "2:3").replace("chest ", "").replace("2:3 2:3", "2:3 2:2")},
        "d.con:1: ",
    ),
    ({"d.con": CON}, "d.con:1: no text for the document 'd'; put 'd.txt' beside it, or score it against gold"),
    (
        {"a/d.txt": "x", "b/d.txt": "x", "d.con": CON},
        "b/d.txt: a second text called 'd', beside a/d.txt; give each text",
    ),
    ({"d1.txt": I2B2_TEXT, "d1.pipe": SHARE + "d1.txt||x\n"}, "d1.pipe:3: 'd1.txt||x' is not a span; write it as DOC"),
    (
        {"d1.txt": I2B2_TEXT, "d1.pipe": SHARE.replace("26", "99")},
        "d1.pipe:2: 7 to 99 is not a place in the text of 35",
    ),
    (
        {"d1.txt": I2B2_TEXT, "r.tab": TAC.replace("d1:16", "d3:16")},
        "r.tab:2: no text for the document 'd3'; put 'd3.txt'",
    ),
    ({"d1.txt": I2B2_TEXT, "r.tab": TAC.replace("d1:7-9", "d1:0-9")}, "r.tab:1: "),
]


@pytest.mark.parametrize(("files", "said"), REFUSED)
def test_refuses_with_the_line(files: Files, said: str) -> None:
    with pytest.raises(FormatError) as caught:
        read_files(files)
    assert any(str(problem).startswith(said) for problem in caught.value.problems), caught.value.problems
