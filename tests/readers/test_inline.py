"""Tags in text: elements of MUC and others, documents, characters, and lines of problems."""

from __future__ import annotations

import pytest

from nereval_core.problems import FormatError
from nereval_core.readers import Reading, ReadOptions, Source, read
from tests.support.readings import span_texts
from tests.support.samples import INLINE, MUC

Spans = list[tuple[str, str]]


def inline(*texts: str, **options: str) -> Reading:
    files = [(f"x{number}.txt", text.encode()) for number, text in enumerate(texts, start=1)]
    return read(Source.of_uploads(files), format="inline", options=ReadOptions(**options))  # type: ignore[arg-type]


def spans(found: Reading) -> Spans:
    return [(found.layer.text(span), found.layer.label(span)) for span in range(len(found.layer))]


def test_elements_of_muc() -> None:
    found = inline(MUC)
    assert found.documents.ids == ("nyt960214.0704", "d2")
    assert found.documents.texts[0] == "BC-AT&T-ART \n\n\nBank of Rome €5 in\nMay"
    assert spans(found) == [
        ("Bank of Rome", "ORGANIZATION"),
        ("Rome", "LOCATION"),
        ("5", "MONEY"),
        ("May", "DATE"),
    ]
    assert found.layer.meta == {2: {"status": "OPT"}}
    assert found.places == (("x1.txt", 1), ("x1.txt", 11))
    assert found.notes == (
        "elements taken for spans: ENAMEX (2), NUMEX (1), TIMEX (1)",
        "elements left out: SLUG (1), TEXT (1), p (1)",
    )


def test_lines_are_documents_and_elements_types() -> None:
    found = inline(INLINE)
    assert list(found.documents.texts) == ["Ann Lee left Rome & 1 < 2.", "Nobody."]
    assert (found.documents.ids, found.documents.named) == (("1", "2"), False)
    assert spans(found) == [("Ann Lee", "PERSON"), ("Rome", "LOCATION")]


def test_of_several_files_each_is_a_document() -> None:
    found = inline("<PER>Ann\nLee</PER>\n", "\n Rome")
    assert (found.documents.ids, list(found.documents.texts)) == (("x1", "x2"), ["Ann\nLee", "Rome"])
    assert spans(found) == [("Ann\nLee", "PER")]


# A text, what is left of it, and its spans.
READ = [
    ("a <X>b</X>", "a b", [("b", "X")]),
    ("<X>a <Y>b</Y></X><X>c</X>", "a bc", [("a b", "X"), ("b", "Y"), ("c", "X")]),
    ("<X>a <X>b</X></X>", "a b", [("a b", "X"), ("b", "X")]),
    ("<e type='PER' id=3>a</E>", "a", [("a", "PER")]),
    ("<X> a </X> ", "a", [("a", "X")]),
    ("é &lt;b&gt; <X>&#x1F600;&eacute;</X>", "é <b> 😀é", [("😀é", "X")]),
    ("&MD; AT&T <X>c</X> &#0;", "&MD; AT&T c �", [("c", "X")]),
    ("<p>a <br/>b<s><X>c</X></s>", "a bc", [("c", "X")]),
    ("a<b <3 <a@b.org> <X>c</X>", "a<b <3 <a@b.org> c", [("c", "X")]),
    ("<?xml version='1.0'?><!-- <X>a</X> --><X>b</X>", "b", [("b", "X")]),
    ("<DATE>1</DATE> <ENAMEX>b</ENAMEX>", "1 b", [("b", "ENAMEX")]),
]


@pytest.mark.parametrize(("text", "left", "found"), READ)
def test_what_is_read(text: str, left: str, found: Spans) -> None:
    reading = inline(text)
    assert (list(reading.documents.texts), spans(reading)) == ([left], found)


def test_the_attribute_of_the_type_may_be_named() -> None:
    text = '<ne type="x" subtype="PER">Ann</ne> <ne type="x">Rome</ne>'
    assert spans(inline(text)) == [("Ann", "x"), ("Rome", "x")]
    assert spans(inline(text, column="subtype")) == [("Ann", "PER"), ("Rome", "ne")]
    assert inline(text, column="subtype").layer.meta[0] == {"type": "x"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "\n<A>a <B>b</A> c</B>",
            ["x1.txt:2: </A> closes that of line 2, and <B> of line 2 is open in it; close <B> first: tags cannot "],
        ),
        ("<A>a\nb</A>", ["x1.txt:1: <A> is not closed in its document; close it by </A>, or", "x1.txt:2: </A> closes"]),
        ("<A>a</A>\nb</B>", ["x1.txt:2: </B> closes nothing; open it by <B>, or delete it"]),
        ("<A></A><A/><A> </A>b", ["x1.txt:1: <A> holds no text", "x1.txt:1: an elem"]),
        ("<A>a</A> <A x=>b</A>", ["x1.txt:1: '<A x=>b' is not a tag; write <NAME>, ", "x1.txt:1: </A> closes nothing"]),
        (
            '<ENAMEX TYPE="PER>a</ENAMEX>\n<ENAMEX>b</ENAMEX>',
            ["x1.txt:1: '<ENAMEX TYPE=\"PER>a' is not a tag", "x1.txt:1:"],
        ),
        ("a\n<DOC>b</DOC>\n c <X>d</X>", ["x1.txt:1: text outside of <DOC>: 'a'", "x1.txt:3: text", "x1.txt:3: text"]),
        ("<DOC>a\n<DOC>b</DOC></DOC>", ["x1.txt:2: <DOC> inside the one of line 1", "x1.txt:2: </DOC> closes nothing"]),
        ("<DOC id=1>a</DOC>\n<DOC id=1>b</DOC>", ["x1.txt:2: document id '1' stands at x1.txt:1 already"]),
        ("<DOC>\n<X>a\n</DOC>", ["x1.txt:2: <X> is not closed in its document; close it by </X>"]),
    ],
)
def test_problems_have_lines(text: str, said: list[str]) -> None:
    with pytest.raises(FormatError) as error:
        inline(text)
    found = [str(problem) for problem in error.value.problems]
    assert len(found) == len(said), found
    assert all(one.startswith(begin) for one, begin in zip(found, said, strict=True)), found


@pytest.mark.parametrize(
    "text",
    [
        "<html>\n<title>x</title>\n</html>\n",
        "Plain text.\n",
        "<b>x\n</b>\n",
        "<p>x</p>\n",
        "<DOC><DOCNO>1</DOCNO><TEXT>x</TEXT></DOC>\n",
    ],
)
def test_other_marks_are_not_claimed(text: str) -> None:
    with pytest.raises(FormatError, match="the format cannot be recognised"):
        read(Source.of_uploads([("x.txt", text.encode())]))


NOTE = '<?xml version="1.0" encoding="UTF-8"?>\n'
RECORDS = """<ROOT>
<RECORD ID="7">
<KEY>00912</KEY>
<TEXT>
Mr <PHI TYPE="PATIENT">Lee</PHI> came
to <PHI TYPE="HOSPITAL">St Ann</PHI>.
</TEXT>
</RECORD>
<RECORD ID="8"><KEY>00913</KEY><TEXT><PHI TYPE="DATE">May 4</PHI></TEXT></RECORD>
</ROOT>
"""
EDITION = """<TEI xmlns="http://www.tei-c.org/ns/1.0" xml:id="l1">
  <teiHeader><fileDesc><titleStmt><title>Letters</title><author><persName>Kay</persName></author></titleStmt></fileDesc></teiHeader>
  <text><body><div><head>One</head>
    <p>Dear <persName ref="#b"><forename>Bea</forename> <surname>Ray</surname></persName>,<lb/>in
    <orgName>Bank of <placeName>Rome</placeName></orgName> <hi rend="italic">we</hi> met <rs type="dog">Rex</rs>.</p>
  </div></body></text>
</TEI>
"""
# A file of XML, the ids and texts of its documents with white space made one blank, and its spans.
STRUCTURED = [
    (
        RECORDS,
        {"7": "Mr Lee came to St Ann.", "8": "May 4"},
        [("Lee", "PATIENT"), ("St Ann", "HOSPITAL"), ("May 4", "DATE")],
    ),
    (NOTE + RECORDS.replace("\n", ""), {"7": "Mr Lee cameto St Ann.", "8": "May 4"}, None),
    (
        NOTE + EDITION,
        {"l1": "One Dear Bea Ray, in Bank of Rome we met Rex."},
        [("Bea Ray", "persName"), ("Bank of Rome", "orgName"), ("Rome", "placeName"), ("Rex", "dog")],
    ),
    (
        f"{NOTE}<teiCorpus>{EDITION}{EDITION.replace('l1', 'l2')}</teiCorpus>",
        dict.fromkeys(("l1", "l2"), "One Dear Bea Ray, in Bank of Rome we met Rex."),
        None,
    ),
    (
        EDITION.replace("<", "<tei:").replace("<tei:/", "</tei:"),
        {"l1": "One Dear Bea Ray, in Bank of Rome we met Rex."},
        None,
    ),
    (
        NOTE + '<document id="9"><text><s>The <e id="U:1">p53</e> gene</s><s>of <e>yeast</e></s></text></document>',
        {"9": "The p53 gene of yeast"},
        [("p53", "e"), ("yeast", "e")],
    ),
    (
        NOTE + "<corpus>\n<unit>Ann left <LOC>Rome</LOC>.</unit>\n<unit>Nobody.</unit>\n</corpus>",
        {"1": "Ann left Rome. Nobody."},
        [("Rome", "LOC")],
    ),
    (
        NOTE + "<!DOCTYPE x [<!ENTITY a 'b'>\n]>\n<x><y>Ann &amp; <PER>Bo</PER><![CDATA[ <3 & more]]></y><z>No</z></x>",
        {"1": "Ann & Bo <3 & more"},
        [("Bo", "PER")],
    ),
    (NOTE + "<notes>\nIn <ENAMEX TYPE='LOC'>Rome</ENAMEX>\nand <b>more</b></notes>", {"1": "In Rome and more"}, None),
    (
        "<DOC>\n<DOCID> APW1 </DOCID>\n<DOCTYPE SOURCE='n'> NEWS </DOCTYPE>\n<DATETIME> 2001 </DATETIME>\n<BODY>\n"
        "<TEXT>\n<TURN>\n<SPEAKER> KAY </SPEAKER>\nIn <GPE>Rome</GPE>\n</TURN>\n</TEXT>\n</BODY>\n</DOC>\n",
        {"APW1": "In Rome"},
        [("Rome", "GPE")],
    ),
    ("<PER>Ann</PER>\n<LOC>Rome</LOC>\n", {"1": "Ann", "2": "Rome"}, [("Ann", "PER"), ("Rome", "LOC")]),
    (
        "<ORG>Bank of <LOC>Rome</LOC></ORG>\nIn <ORG><LOC>Rome</LOC></ORG>",
        {"1": "Bank of Rome", "2": "In Rome"},
        [("Bank of Rome", "ORG"), ("Rome", "LOC"), ("Rome", "LOC"), ("Rome", "ORG")],
    ),
    ("<ORG>Bank of <LOC>Rome</LOC></ORG>", {"1": "Bank of Rome"}, [("Bank of Rome", "ORG"), ("Rome", "LOC")]),
    (
        "<line>Ann left <LOC>Rome</LOC></line>\n<line>Nobody</line>",
        {"1": "Ann left Rome", "2": "Nobody"},
        [("Rome", "LOC")],
    ),
    ("<u1>Ann left <LOC>Rome</LOC>.</u1>", {"1": "Ann left Rome."}, [("Rome", "LOC")]),
    ("<p>Ann<lb/>in <LOC>Rome</LOC><lb/></p>", {"1": "Ann in Rome"}, [("Rome", "LOC")]),
]


@pytest.mark.parametrize(("text", "documents", "marked"), STRUCTURED)
def test_elements_that_structure_a_text_are_no_spans(
    text: str, documents: dict[str, str], marked: Spans | None
) -> None:
    found = inline(text)
    texts = dict(zip(found.documents.ids, (" ".join(text.split()) for text in found.documents.texts), strict=True))
    assert texts == documents
    if marked is not None:
        assert spans(found) == marked
    name = "x.xml" if text.startswith("<?xml") else "x.txt"
    assert read(Source.of_uploads([(name, text.encode())])).format == "inline"


def test_what_is_left_out_is_named() -> None:
    assert inline(NOTE + EDITION).notes == (
        "elements taken for spans: orgName (1), persName (1), placeName (1), rs (1)",
        "elements left out: body (1), div (1), forename (1), head (1), hi (1), lb (1), p (1), surname (1), text (1)",
        "elements left out with their words: teiHeader (1)",
    )
    assert inline(RECORDS).notes[2] == "elements left out with their words: KEY (2)"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            NOTE + '<source_file>\n<document DOCID="1"><entity ID="E1" TYPE="PER"><entity_mention ID="M"><extent>\n'
            '<charseq START="4" END="6">Ann</charseq></extent></entity_mention></entity></document></source_file>',
            'x1.txt:4: \'<charseq START="4" END="6">\' gives the place',
        ),
        (
            NOTE + "<deIdi2b2>\n<TEXT><![CDATA[Seen by Dr Lee.]]></TEXT>\n<TAGS>\n"
            '<NAME id="P0" start="11" end="14" text="Lee" TYPE="DOCTOR"/>\n</TAGS></deIdi2b2>',
            'x1.txt:5: \'<NAME id="P0" start=',
        ),
        (
            NOTE + "<a>\n<b>Ann</b>\n<c>Rome</c></a>",
            "x1.txt:1: XML in which no element marks a piece of running text: <",
        ),
    ],
)
def test_xml_of_other_kinds_is_refused(text: str, said: str) -> None:
    with pytest.raises(FormatError) as error:
        inline(text)
    assert [str(problem).startswith(said) for problem in error.value.problems] == [True], error.value


def test_elements_of_letters_are_names_where_attributes_say_so() -> None:
    """HAREM's names are `<EM>`, which elsewhere sets letters."""
    names = '<EM ID="1" CATEG="PESSOA">Ana</EM> de <EM ID="2" CATEG="LOCAL">Roma</EM>, <EM>aqui</EM>'
    harem = f'<?xml version="1.0"?>\n<colHAREM><DOC><p>A {names}</p></DOC></colHAREM>'
    reading = read(Source.of_uploads([("x.xml", harem.encode())]), options=ReadOptions(column="CATEG"))
    assert [row[1:] for row in span_texts(reading.layer)][:2] == [("Ana", "PESSOA"), ("Roma", "LOCAL")]
    plain = '<?xml version="1.0"?>\n<doc><p>A <em class="x">very</em> <PER>Ann</PER> and <em id="3">so</em></p></doc>'
    reading = read(Source.of_uploads([("x.xml", plain.encode())]))
    assert [row[1:] for row in span_texts(reading.layer)] == [("Ann", "PER")]
