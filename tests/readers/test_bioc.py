"""BioC: what its own package writes is read, passages make up texts, every unit, nothing but BioC is taken from XML."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from itertools import accumulate
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import bioc
import pytest
from bioc import biocjson, biocxml
from hypothesis import given
from hypothesis import strategies as st

from nereval_core.corpus import Layer
from nereval_core.corpus.builder import Builder
from nereval_core.problems import FormatError
from nereval_core.readers import Reading, ReadOptions, Source, read
from nereval_core.readers import bioc as ours
from nereval_core.readers.shared.offset_units import UNITS, Offsets, Unit
from nereval_core.writers import write
from tests.support.draws import draws
from tests.support.layer_strategies import HOSTILE, content, pieces_of, texts, words
from tests.support.samples import BIOC, BIOC_DOCUMENTS, PUBTATOR, bioc_annotation, bioc_document, bioc_passage, lines
from tests.support.shared_corpora import defect

Row = tuple[str, str, str, tuple[str, ...]]


def read_xml(text: str | bytes, options: ReadOptions | None = None) -> Reading:
    raw = text if isinstance(text, bytes) else text.encode()
    return read(Source.of_uploads([("x.xml", raw)]), format="bioc", options=options)


def read_json(value: Any, options: ReadOptions | None = None) -> Reading:
    text = value if isinstance(value, str) else json.dumps(value)
    return read(Source.of_uploads([("x.json", text.encode())]), format="bioc", options=options)


def rows(layer: Layer) -> list[Row]:
    """Return document, covered text, type and links of each span."""
    ids = layer.documents.ids
    return [
        (ids[int(layer.doc[span])], layer.text(span), layer.label(span), layer.links.get(span, ()))
        for span in range(len(layer))
    ]


def test_the_package_of_our_name_is_the_package() -> None:
    assert bioc.BioCCollection and not hasattr(bioc, "NAME")
    assert ours.READER.name == "bioc"


def test_passages_are_one_text_and_infons_links_scores_and_metadata() -> None:
    reading = read_xml(BIOC)
    assert reading.documents.texts == ("Ovarian and breast cancer & lithium\nNaloxone, 5 µg 😀, and BRAF.",)
    assert reading.documents.meta == ({"year": "1981"},)
    assert rows(reading.layer) == [
        ("6794356", "Ovarian cancer", "Disease", ("D010051",)),
        ("6794356", "BRAF", "Gene", ("673|674",)),
    ]
    layer = reading.layer
    assert (dict(layer.fragments), dict(layer.ids)) == ({0: ((0, 7), (19, 25))}, {0: "0", 1: "1"})
    assert (dict(layer.scores), dict(layer.meta)) == ({1: 0.5}, {1: {"updated_at": "1980-01-01"}})
    assert reading.notes == (
        "annotations without a place, left out: 1",
        "relations, not read: 1",
        "offsets in code points, end exclusive: 1 of 1 quotes match",
    )
    assert reading.places == (("x.xml", 5),)


def test_documents_of_services_in_json() -> None:
    reading = read_json({"PubTator3": BIOC_DOCUMENTS})
    assert reading.documents.texts == ("AIDA & UCP1.\nIn mice.", "Nothing.")
    assert reading.documents.meta == ({"pmid": 33664495, "journal": "Nat Cell Biol"}, {})
    assert rows(reading.layer) == [
        ("33664495", "AIDA", "Gene", ("108909",)),
        ("33664495", "mice", "Species", ("10090",)),
    ]
    assert dict(reading.layer.meta) == {0: {"valid": True}}
    assert reading.places == (("x.json", None),) * 2
    opened = '{"documents": [\n' + ",\n".join(map(json.dumps, BIOC_DOCUMENTS)) + "\n]}"
    assert read_json(opened).layer.digest == reading.layer.digest
    by_line = read_json(lines(*BIOC_DOCUMENTS))
    assert by_line.places == (("x.json", 1), ("x.json", 2))
    assert by_line.layer.digest == reading.layer.digest


def test_the_same_corpus_in_pubtator_and_in_bioc_is_the_same() -> None:
    pubtator = read(Source.of_uploads([("x.txt", PUBTATOR.encode())]), format="pubtator")
    title, abstract = pubtator.documents.texts[0].split("\n")
    spans = [
        bioc_annotation(str(at), label, int(pubtator.layer.start[at]), text, identifier=link.replace("|", ";"))
        for at, (document, text, label, (link,)) in enumerate(rows(pubtator.layer))
        if document == "1" and at < 3
    ]
    one = bioc_document("1", bioc_passage(0, title, spans[0]), bioc_passage(len(title) + 1, abstract, *spans[1:]))
    reading = read_json(one)
    assert reading.documents.texts[0] == pubtator.documents.texts[0]
    assert rows(reading.layer) == rows(pubtator.layer)[:3]


LINKED = [
    # (infons of an annotation, links, score, metadata)
    ({"MESH": "D001|D002"}, ("D001|D002",), None, {}),
    ({"NCBI Gene identifier": "12,13"}, ("12|13",), None, {}),
    ({"NCBI_Gene": "12"}, ("12",), None, {}),
    ({"cui": "-"}, (), None, {}),
    ({"identifier": "-1"}, ("NIL",), None, {}),
    ({"identifier": None}, (), None, {}),
    ({"identifier": 673}, ("673",), None, {}),
    ({"identifier": "tmVar:p|SUB|V|600|E;RS#:1"}, ("tmVar:p|SUB|V|600|E;RS#:1",), None, {}),
    ({"identifier": "D1", "identifier 2": "D2", "identifier 4": "D4"}, ("D1", "D2"), None, {"identifier 4": "D4"}),
    ({"OMIM": "1", "MESH": "D1"}, ("D1",), None, {"OMIM": "1"}),
    ({"confidence": "9e-1"}, (), 0.9, {}),
    ({"score": 1, "confidence": 0.5}, (), 1.0, {"confidence": 0.5}),
    ({"score": "high", "lists": [1, {"a": None}]}, (), None, {"score": "high", "lists": [1, {"a": None}]}),
    ({"score": "nan"}, (), None, {"score": "nan"}),
    ({"score": True}, (), None, {"score": True}),
]


@pytest.mark.parametrize(("infons", "links", "score", "meta"), LINKED, ids=[str(row[0]) for row in LINKED])
def test_infons(infons: dict[str, Any], links: tuple[str, ...], score: float | None, meta: dict[str, Any]) -> None:
    layer = read_json(bioc_document("d", bioc_passage(0, "ab", bioc_annotation("1", "A", 0, "a", **infons)))).layer
    assert (layer.links.get(0, ()), layer.scores.get(0), dict(layer.meta.get(0, {}))) == (links, score, meta)


def test_the_infon_with_the_types_is_named() -> None:
    one = bioc_document("d", bioc_passage(0, "ab", bioc_annotation("1", "A", 0, "a", class_="B")))
    assert read_json(one, ReadOptions(column="class_")).layer.types == ("B",)
    with pytest.raises(FormatError) as caught:
        read_json(one, ReadOptions(column="kind"))
    assert str(caught.value) == (
        "x.json:1: annotation '1' of document 'd': no type in an infon 'kind'; "
        "give it one, or name the infon with the types: --column KEY"
    )


def test_infons_of_one_passage_are_metadata_and_the_documents_own_win() -> None:
    infons = [{"type": "title", "year": "1981", "lang": "en"}, {"type": "abstract", "lang": "en", "doi": "x"}]
    passages = [bioc_passage(at, "a", infons=one) for at, one in zip((0, 2), infons, strict=True)]
    assert read_json(bioc_document("d", *passages, infons={"doi": "y"})).documents.meta == (
        {"year": "1981", "doi": "y"},
    )


def sentence(offset: int, text: str, *annotations: dict[str, Any]) -> dict[str, Any]:
    return {"offset": offset, "text": text, "infons": {}, "annotations": list(annotations), "relations": []}


def test_sentences_with_the_text_of_their_passage_and_without() -> None:
    whole = bioc_passage(
        0, "Äb. Cd.", sentences=[sentence(0, "Äb.", bioc_annotation("1", "A", 1, "b")), sentence(4, "Cd.")]
    )
    parted = bioc_passage(
        8, "", sentences=[sentence(8, "Ef."), sentence(13, "Gh.", bioc_annotation("2", "A", 13, "Gh"))]
    )
    crossing = bioc_annotation("3", "A", 4, "Cd.\nEf")
    reading = read_json(bioc_document("d", whole, parted, annotations=[crossing]))
    assert reading.documents.texts == ("Äb. Cd.\nEf.  Gh.",)
    assert reading.documents.sentences is not None
    assert reading.documents.sentences.of_document(0) == [(0, 3), (4, 7), (8, 11), (13, 16)]
    assert [row[1] for row in rows(reading.layer)] == ["b", "Cd.\nEf", "Gh"]
    # The same counted in bytes.
    whole = bioc_passage(
        0, "Äb. Cd.", sentences=[sentence(0, "Äb."), sentence(5, "Cd.", bioc_annotation("1", "A", 5, "Cd"))]
    )
    reading = read_json(bioc_document("d", whole))
    assert reading.documents.sentences is not None
    assert reading.documents.sentences.of_document(0) == [(0, 3), (4, 7)]


def test_quotes_of_plain_letters_match_and_are_counted() -> None:
    text = "SARS‐CoV‐2 and TNF-α"
    quotes = [bioc_annotation("1", "A", 0, "SARS CoV 2"), bioc_annotation("2", "A", 15, "TNF-a")]
    reading = read_json(bioc_document("d", bioc_passage(0, text, *quotes)))
    assert [row[1] for row in rows(reading.layer)] == ["SARS‐CoV‐2", "TNF-α"]
    assert reading.notes[0] == "quotes with other characters for those beyond ASCII: 2"
    for wrong in ("TNF_a", "xyz-a"):
        with pytest.raises(FormatError, match=r"the quotes do not fit offsets in code points, end exclusive: 0 of 1"):
            read_json(bioc_document("d", bioc_passage(0, text, bioc_annotation("2", "A", 15, wrong))))


def test_without_quotes_the_room_between_passages_tells_the_unit() -> None:
    def document(second: int) -> dict[str, Any]:
        one = {**bioc_annotation("1", "A", second + 5, "x"), "text": None}
        return bioc_document(
            "d", bioc_passage(0, "Ä😀."), bioc_passage(second, "Øxx"), bioc_passage(second + 5, "x", one)
        )

    reading = read_json(document(8))
    assert reading.documents.texts == ("Ä😀.\nØxx\nx",)
    assert reading.notes == ("offsets taken as UTF-8 bytes, end exclusive: no quotes to test them by",)
    assert read_json(document(4)).documents.texts == ("Ä😀.\nØxx\n\nx",)
    given = ReadOptions(offsets=Offsets())
    assert read_json(document(8), given).documents.texts == ("Ä😀.\n\n\n\n\nØxx\n\nx",)
    bare = bioc_document("d", bioc_passage(0, "Ä😀."), bioc_passage(8, "Øx"), bioc_passage(12, "x"))
    [note] = read_json(bare).notes
    assert note == "offsets of passages taken as UTF-8 bytes, end exclusive, by the room between them"
    with pytest.raises(FormatError, match="passages overlap where offsets count UTF-8 bytes, end exclusive"):
        read_json(document(4), ReadOptions(offsets=Offsets("UTF-8 bytes")))


def of_passage(inside: str) -> str:
    """Return a collection of one document, what is in its passage on line 3."""
    start = "<collection><document><id>d</id>\n<passage><offset>0</offset><text>ab cd</text>\n"
    return f"{start}{inside}</passage></document></collection>"


def located(offset: str, length: str) -> str:
    return f'<location offset="{offset}" length="{length}"/>'


def annotation(inside: str = '<location offset="0" length="2"/><text>ab</text>', type: str = "A") -> str:
    return f'<annotation id="T1"><infon key="type">{type}</infon>{inside}</annotation>'


PIECES = [
    # (locations, text, fragments, blanks forgiven)
    ([("0", "1"), ("1", "1")], "ab", ((0, 1), (1, 2)), False),
    ([("3", "2"), ("0", "2")], "ab cd", ((0, 2), (3, 5)), False),
    ([("0", "1"), ("3", "1")], "a ... c", ((0, 1), (3, 4)), False),
    ([("0", "1"), ("3", "1")], " a c ", ((0, 1), (3, 4)), True),
]


@pytest.mark.parametrize(("locations", "text", "fragments", "forgiven"), PIECES, ids=[row[1] for row in PIECES])
def test_pieces_may_touch_and_come_in_any_order(
    locations: list[tuple[str, str]], text: str, fragments: tuple[tuple[int, int], ...], forgiven: bool
) -> None:
    inside = "".join(located(*one) for one in locations) + f"<text>{text}</text>"
    reading = read_xml(of_passage(annotation(inside)))
    assert dict(reading.layer.fragments) == {0: fragments}
    assert ("texts of several pieces that match but for blanks at an edge: 1" in reading.notes) == forgiven


def test_an_infon_that_stands_twice_is_refused_where_it_is_asked_for() -> None:
    path = defect("bioc_repeated_infon.xml")
    reading = read(path)
    assert rows(reading.layer) == [("doc-1", "Sentence", "custom.Span", ())]
    assert dict(reading.layer.meta) == {0: {"values": "PER"}}
    assert "further infons of one key, not read: 1" in reading.notes
    with pytest.raises(FormatError, match=r"xml:13: annotation '1' of document 'doc-1': a second infon 'values' with"):
        read(path, options=ReadOptions(column="values"))
    alike = read_xml(of_passage(annotation().replace("<text>", '<infon key="type">A</infon><text>')))
    assert rows(alike.layer) == [("d", "ab", "A", ())]


SECOND = "<passage><offset>6</offset><text>x</text>"
REFUSED_XML = [
    # (XML, line, said)
    (
        of_passage(annotation(located("0", "-2"))),
        3,
        "annotation 'T1' of document 'd': a length of -2",
    ),
    (of_passage(annotation(located("0", "0"))), 3, "a length of 0; give lengths of 1 and more"),
    (of_passage(annotation(located("x", "1"))), 3, "the offset 'x' is not an integer"),
    (of_passage(annotation(located("1_0", "1"))), 3, "the offset '1_0' is not an integer"),
    (of_passage(annotation('<location offset="0"/>')), 3, "the length '' is not an integer"),
    (of_passage(annotation(located("0", "9"))), 3, "0 to 9 is not a place in the text of 5 characters"),
    (of_passage(annotation(located("-1", "2"))), 3, "-1 to 1 is not a place in the text"),
    (
        of_passage(annotation(located("99999999999999", "2"))),
        3,
        "the offset '99999999999999' is not an integer",
    ),
    (of_passage(annotation(type="")), 3, "annotation 'T1' of document 'd': no type in an infon 'type'"),
    (
        of_passage(annotation('<location offset="0" length="2"/><location offset="1" length="3"/>')),
        3,
        "its locations overlap; write each character once",
    ),
    (
        of_passage(annotation('<location offset="0" length="2"/><location offset="3" length="2"/><text>ab d</text>')),
        3,
        "its text is 'ab d', where 'ab cd' stands; mend one of the two",
    ),
    (
        of_passage(annotation().replace("<text>", '<infon key="type">B</infon><text>')),
        3,
        "annotation 'T1' of document 'd': a second infon 'type' with another value; write the one that counts",
    ),
    (
        of_passage(annotation().replace("<text>", '<infon key="MESH">1</infon><infon key="MESH">2</infon><text>')),
        3,
        "a second infon 'MESH' with another value",
    ),
    (of_passage("<text>x</text>"), 3, "a second <text>; write one"),
    (of_passage("\n<text>a<b>c</b></text>"), 4, "an element <b> inside <text>; leave markup out of texts"),
    (of_passage("stray"), 3, "'stray' in <passage>, where only elements may stand"),
    (
        of_passage("").replace("</passage>", f"</passage>\n{SECOND}\n{annotation()}</passage>"),
        5,
        "annotation 'T1' of document 'd': it stands outside its passage",
    ),
    (
        of_passage("").replace("</passage>", "</passage>\n<passage><offset>3</offset><text>x</text></passage>"),
        4,
        "document 'd': a passage or sentence at 3, and the text before it reaches to 5; give offsets in the document",
    ),
    (
        of_passage("").replace("<offset>0", "<offset>-7"),
        2,
        "a passage or sentence at -7, and the text before it reaches to 0",
    ),
    (of_passage("").replace("<offset>0", "<offset>999999999999"), 2, "a passage or sentence at 999999999999"),
    (of_passage("").replace("<offset>0</offset>", ""), 2, "a passage without an offset; give it as an integer"),
    (of_passage("").replace("<offset>0", "<offset>null"), 2, "the offset 'null' is not an integer"),
    (
        of_passage("").replace("</document>", "</document><document/>"),
        3,
        "a document without an id; give each document",
    ),
    (of_passage("") + "<x/>", 3, "not XML: junk after document element at column"),
    (of_passage("")[:-9], 3, "not XML: unclosed token at column"),
    (of_passage("").replace("</text>", ""), 3, "not XML: mismatched tag at column"),
    ("<collections/>", 1, "an element <collections> where <collection> should be; give a collection of BioC"),
    ("\n<html><collection/></html>", 2, "an element <html> where <collection> should be"),
    ("<collection>\n&nbsp;</collection>", 2, "not XML: undefined entity at column"),
    (
        "<!DOCTYPE collection SYSTEM 'BioC.dtd'>\n" + of_passage("").replace("ab cd", "ab&nbsp;cd"),
        3,
        "an entity &nbsp;, which nothing declares; write the character itself",
    ),
    (
        "<!DOCTYPE collection [\n<!ENTITY x 'ab'>]>" + of_passage("").replace("ab cd", "&x; cd"),
        2,
        "entities are declared, which no export has; write the characters themselves",
    ),
    ('<!DOCTYPE collection [\n<!ENTITY x SYSTEM "file:///etc/passwd">]>' + of_passage(""), 2, "entities are declared"),
    (
        '<!DOCTYPE collection [\n<!ATTLIST infon key CDATA "type">]>' + of_passage(""),
        2,
        "values of attributes are declared",
    ),
    (
        '<!DOCTYPE collection [\n<!ENTITY % x SYSTEM "http://127.0.0.1:9/"> %x;]>' + of_passage(""),
        2,
        "entities are declared",
    ),
    (of_passage("\x01"), 3, "not XML: not well-formed (invalid token) at column 1"),
]


def test_a_document_type_may_say_what_there_must_be() -> None:
    declared = "<!DOCTYPE collection [\n<!ELEMENT infon (#PCDATA)><!ATTLIST infon key CDATA #REQUIRED>]>"
    assert len(read_xml(declared + of_passage("")).documents) == 1


@pytest.mark.parametrize(("text", "line", "said"), REFUSED_XML, ids=[row[-1] for row in REFUSED_XML])
def test_refuses_with_the_line(text: str, line: int, said: str) -> None:
    with pytest.raises(FormatError) as caught:
        read_xml(text)
    [problem] = caught.value.problems
    assert str(problem).startswith(f"x.xml:{line}: ")
    assert said in str(problem)


def of_json(**changes: Any) -> dict[str, Any]:
    return bioc_document("d", bioc_passage(0, "ab cd", {**bioc_annotation("T1", "A", 0, "ab"), **changes}))


REFUSED_JSON: list[tuple[Any, str]] = [
    # (value, said)
    ([3], "document '': an integer where a document should be; write it as the package bioc does"),
    ({"documents": 3}, "neither a collection nor a document; write it as the package bioc does"),
    (
        {"documents": [{"id": "d", "text": "ab", "marks": [{"start": 0, "end": 2, "label": "A"}]}]},
        "document 'd': no 'passages', but 'marks', so that it is not BioC's; name the keys of what it has: --keys "
        "records=documents.*,text=text,spans=marks",
    ),
    ({"documents": [3]}, "document '': an integer where a document should be"),
    (bioc_document("d", bioc_passage(0, "a"), passages=3), "document 'd': passages is an integer; write a list"),
    (bioc_document("d", passages=[3]), "document 'd': passages[0] is an integer; write an object"),
    (bioc_document("d", bioc_passage(0, "a"), infons=[1]), "document 'd': infons is a list; write an object"),
    (
        bioc_document("d", bioc_passage(True, "a")),
        "document 'd': passages[0].offset is true or false; write an integer",
    ),
    (
        bioc_document("d", bioc_passage(0, "a", sentences=[{"text": "a"}])),
        "document 'd': passages[0].sentences[0] has no offset; give offset",
    ),
    (bioc_document("d", {"offset": 0, "text": 3}), "document 'd': passages[0].text is an integer; write a string"),
    (
        bioc_document("d", bioc_passage(0, "ab", sentences=[sentence(1, "a")])),
        "document 'd': 1 sentence not in the passage at the offset given; mend offsets or texts",
    ),
    (of_json(text=3), "passages[0].annotations[0].text is an integer"),
    (
        of_json(locations=[{"offset": "0", "length": 2}]),
        "annotations[0].locations[0].offset is a string",
    ),
    (
        of_json(locations=[{"offset": 0, "length": 2.0}]),
        "locations[0].length is a fraction; write an integer",
    ),
    (of_json(locations=[{"offset": 10**30, "length": 2}]), "locations[0].offset is too large"),
    (of_json(locations=[{"offset": 0, "length": -2}]), "annotation 'T1' of document 'd': a length of -2"),
    (of_json(locations=[{"offset": 4, "length": 2}], text=None), "4 to 6 is not a place in the text of 5 characters"),
    (of_json(locations=3), "annotations[0].locations is an integer; write a list"),
    (of_json(id=None, infons={}), "an annotation without an id of document 'd': no type in an infon 'type'"),
    ('{"passages": [}', "not JSON at position 15 of the line"),
    ('{"id": "d", "id": "e", "passages": []}', "the key 'id' stands twice in one object"),
]


@pytest.mark.parametrize(("value", "said"), REFUSED_JSON, ids=[row[-1] for row in REFUSED_JSON])
def test_refuses_json(value: Any, said: str) -> None:
    with pytest.raises(FormatError) as caught:
        read_json(value)
    [problem] = caught.value.problems
    assert str(problem).startswith("x.json")
    assert said in str(problem)


def test_all_problems_are_told_at_once() -> None:
    text = of_passage(annotation(located("0", "-2")) + "\n" + annotation(located("x", "1")))
    with pytest.raises(FormatError) as caught:
        read_xml(text)
    assert [problem.line for problem in caught.value.problems] == [4, 3]


def test_quotes_that_are_not_there_name_their_annotation() -> None:
    with pytest.raises(FormatError) as caught:
        read_json({"documents": [of_json(text="ax")]})
    assert caught.value.lines() == [
        "x.json: the quotes do not fit offsets in code points, end exclusive: 0 of 1 match; "
        "mend the offsets or the quotes, or check that the text is the one annotated",
        "x.json: annotation 'T1' of document 'd': 'ax' at 0 to 2, where the text has 'ab'; "
        "mend the offsets or the quote",
    ]


DEEP = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 12))
BOMB = f'<!DOCTYPE collection [<!ENTITY a0 "ha">{DEEP}]>' + of_passage("").replace("ab cd", "&a11;")


def test_small_files_stay_small() -> None:
    """Neither entities that grow, nor room between passages, nor elements in elements take more than they are worth."""
    with pytest.raises(FormatError, match="entities are declared"):
        read_xml(BOMB)
    far = "".join(
        f"<document><id>{n}</id><passage><offset>3000000</offset><text>x</text></passage></document>" for n in range(9)
    )
    with pytest.raises(FormatError) as caught:
        read_xml(f"<collection>{far}</collection>")
    assert len(caught.value.problems) == 8
    nested = "<x>" * 200_000 + "</x>" * 200_000
    assert read_xml(of_passage(nested)).notes == ("elements <x>, not read: 1",)


def test_documents_are_numbered_where_none_has_an_id() -> None:
    reading = read_json([bioc_document("", bioc_passage(0, text), infons=[]) for text in ("a", "b")])
    assert (reading.documents.ids, reading.documents.named) == (("1", "2"), False)
    assert read_xml(of_passage("").replace("<id>d</id>", "")).documents.ids == ("1",)


def test_other_encodings_that_xml_names() -> None:
    text = of_passage(annotation()).replace("cd", "é")
    for encoding in ("iso-8859-1", "us-ascii", "utf-16"):
        raw = f'<?xml version="1.0" encoding="{encoding}"?>{text}'.encode(encoding, "xmlcharrefreplace")
        assert read_xml(raw).documents.texts == ("ab é",)
    assert read_xml(b"\xef\xbb\xbf" + text.encode()).documents.texts == ("ab é",)
    with pytest.raises(FormatError, match=r"^x\.xml: not XML: unknown encoding: x-none; save the file as UTF-8$"):
        read_xml(f'<?xml version="1.0" encoding="x-none"?>{text}')


def test_line_ends_are_those_that_xml_means() -> None:
    text = of_passage("").replace("ab cd", "a\r\nb&#13;\nc")
    assert read_xml(text).documents.texts == ("a\nb\r\nc",)


SIZES: dict[Unit, Callable[[str], int]] = {
    "code points": len,
    "UTF-16 units": lambda text: len(text.encode("utf-16-le")) // 2,
    "UTF-8 bytes": lambda text: len(text.encode()),
}
ILLEGAL = "".join(map(chr, [*range(9), 11, 12, *range(14, 32), 0xFFFE, 0xFFFF]))
"""What XML 1.0 has no way to say."""


def xml_texts(*, min_size: int = 0) -> st.SearchStrategy[str]:
    letters = st.characters(exclude_categories=["Cs"], exclude_characters=ILLEGAL)
    hostile = [text for text in HOSTILE if not set(text) & set(ILLEGAL)]
    return st.lists(st.sampled_from(hostile) | letters, min_size=min_size, max_size=8).map("".join)


@st.composite
def collections(draw: st.DrawFn, unit: Unit) -> tuple[bioc.BioCCollection, list[list[Row]], list[str]]:
    """Draw a collection by the package, what its annotations cover, and its texts."""
    made = bioc.BioCCollection()
    made.source = made.date = made.key = ""
    expected, texts = [], []
    for name in draw(st.lists(words(), min_size=1, max_size=3, unique=True)):
        document = bioc.BioCDocument()
        document.id = name
        text, offset, covered = "", 0, []
        for number in range(draw(st.integers(1, 3))):
            sentences = draw(st.lists(xml_texts(min_size=1), min_size=1, max_size=2))
            inside = " ".join(sentences)
            gap = 1 if number else 0
            text, offset = text + "\n" * gap, offset + gap
            passage = bioc.BioCPassage.of_text(inside, offset)
            if draw(st.booleans()):
                passage.text = ""
                starts = accumulate((SIZES[unit](one) + 1 for one in sentences), initial=offset)
                for start, one in zip(starts, sentences, strict=False):
                    passage.add_sentence(bioc.BioCSentence.of_text(one, start))
            for at in range(draw(st.integers(0, 3))):
                low = draw(st.integers(0, len(inside) - 1))
                high = draw(st.integers(low + 1, len(inside)))
                one = annotated(f"{number}-{at}", inside, [(low, high)], offset, SIZES[unit])
                draw(st.sampled_from([passage, document, *passage.sentences])).add_annotation(one)
                covered.append((name, inside[low:high], "A", ()))
            document.add_passage(passage)
            text, offset = text + inside, offset + SIZES[unit](inside)
        made.add_document(document)
        expected.append(sorted(covered))
        texts.append(text)
    return made, expected, texts


def annotated(
    name: str, text: str, parts: Sequence[tuple[int, int]], offset: int, size: Callable[[str], int]
) -> bioc.BioCAnnotation:
    """Return an annotation by the package."""
    one = bioc.BioCAnnotation()
    one.id, one.infons["type"] = name, "A"
    one.text = " ".join(text[low:high] for low, high in parts)
    for low, high in parts:
        one.add_location(bioc.BioCLocation(offset + size(text[:low]), size(text[low:high])))
    return one


@pytest.mark.parametrize("unit", UNITS)
def test_what_the_package_writes_is_read(unit: Unit) -> None:
    @draws(20)
    @given(collections(unit))
    def check(drawn: tuple[bioc.BioCCollection, list[list[Row]], list[str]]) -> None:
        collection, expected, texts = drawn
        if unit == "code points":
            assert [bioc.get_text(document)[1] for document in collection.documents] == texts
        given = ReadOptions(offsets=Offsets(unit))
        for reading in (
            read_xml(biocxml.dumps(collection), given),
            read_json(biocjson.dumps(collection), given),
            read_json(biocjson.dumps(collection)),
        ):
            found: dict[str, list[Row]] = {name: [] for name in reading.documents.ids}
            for row in rows(reading.layer):
                found[row[0]].append(row)
            assert [sorted(rows) for rows in found.values()] == expected
            assert list(reading.documents.texts) == texts

    check()


def test_places_that_the_package_accepts_are_refused() -> None:
    """The package reads and writes these without a word."""
    for offset, length in ((0, -2), (0, 0), (4, 9), (-1, 2)):
        collection = bioc.BioCCollection()
        collection.source = collection.date = collection.key = ""
        passage = bioc.BioCPassage.of_text("ab cd", 0)
        one = bioc.BioCAnnotation()
        one.id, one.text, one.infons["type"] = "T1", "", "A"
        one.add_location(bioc.BioCLocation(offset, length))
        passage.add_annotation(one)
        document = bioc.BioCDocument.of_passages(passage)
        document.id = "d"
        collection.add_document(document)
        assert (
            biocxml.loads(biocxml.dumps(collection)).documents[0].passages[0].annotations[0].locations == one.locations
        )
        with pytest.raises(FormatError, match="annotation 'T1' of document 'd': "):
            read_xml(biocxml.dumps(collection))


@st.composite
def documents(draw: st.DrawFn, strings: st.SearchStrategy[str]) -> Layer:
    """Draw documents with all that BioC has a place for, from such strings."""
    builder = Builder("drawn")
    meta = st.dictionaries(strings, strings, max_size=2)
    for name in draw(st.lists(strings.filter(bool), min_size=1, max_size=3, unique=True)):
        text = draw(strings)
        builder.document(name, text, meta=draw(meta))
        for number in range(draw(st.integers(0, 4)) if text else 0):
            parts = pieces_of(draw, len(text), min_size=1)
            builder.span(
                parts[0][0],
                parts[-1][1],
                # Spans of this type are outside: they are left out, and a note says so.
                draw(strings.filter(lambda word: word not in ("", "O"))),
                fragments=tuple(parts),
                id=draw(strings | st.just(str(number))),
                links=tuple(draw(st.lists(words().filter(lambda word: word != "-"), max_size=3))),
                score=draw(st.none() | st.floats(allow_nan=False, allow_infinity=False)),
                meta=draw(meta),
            )
            if draw(st.booleans()):
                builder.span(parts[0][0], parts[-1][1], "again", id=f"{number} again")
    return builder.finish("drawn")


@pytest.mark.parametrize(("ending", "strings"), [("xml", xml_texts()), ("json", texts()), ("jsonl", texts())])
def test_writing_reads_back(ending: str, strings: st.SearchStrategy[str]) -> None:
    @draws(27)
    @given(documents(strings))
    def check(layer: Layer) -> None:
        with TemporaryDirectory() as folder:
            path = Path(folder) / f"out.{ending}"
            assert write(layer, path, format="bioc") == ()
            reading = read(path)
            # The package reads the same.
            if ending != "jsonl":
                load = biocxml.load if ending == "xml" else biocjson.load
                with path.open(encoding="utf-8", newline="") as file:
                    collection = load(file)
                bioc.validate(collection) if not layer.fragments else None
                assert [document.passages[0].text for document in collection.documents] == list(layer.documents.texts)
        assert reading.format == "bioc"
        found, expected = content(reading.layer), content(layer)
        assert found == expected

    check()


def test_what_is_written(tmp_path: Path) -> None:
    layer = read_xml(BIOC).layer
    assert write(layer, tmp_path / "x.xml", format="bioc") == ()
    assert (tmp_path / "x.xml").read_text().splitlines() == [
        "<?xml version='1.0' encoding='UTF-8'?>",
        "<collection><source>nereval</source><date></date><key>nereval.key</key>",
        '<document><id>6794356</id><infon key="year">1981</infon>',
        "<passage><offset>0</offset><text>Ovarian and breast cancer &amp; lithium",
        "Naloxone, 5 µg 😀, and BRAF.</text>",
        '<annotation id="0"><infon key="type">Disease</infon><infon key="identifier">D010051</infon>'
        '<location offset="0" length="7"/><location offset="19" length="6"/><text>Ovarian cancer</text></annotation>',
        '<annotation id="1"><infon key="type">Gene</infon><infon key="identifier">673|674</infon>'
        '<infon key="score">0.5</infon><infon key="updated_at">1980-01-01</infon>'
        '<location offset="58" length="4"/><text>BRAF</text></annotation>',
        "</passage>",
        "</document>",
        "</collection>",
    ]


def made(**span: Any) -> Layer:
    builder = Builder("x")
    builder.document("d", "ab cd")
    builder.span(0, 2, **{"label": "A", **span})
    return builder.finish("x")


CHANGED = [
    # (what a span has, said, what is left of it)
    ({"meta": {"n": 1}}, "metadata that is not text, written as text: 1 span", {"meta": {"n": "1"}}),
    ({"links": ("a;b",)}, "links that cannot stand among concepts, left out: 1 span", {"links": ()}),
    ({"links": ("-", "Q1")}, "links that cannot stand among concepts, left out: 1 span", {"links": ("Q1",)}),
    ({"meta": {"MeSH": "D1", "by": "A"}}, "metadata under keys that say type, links or score", {"meta": {"by": "A"}}),
    ({"meta": {"type": "B"}}, "metadata under keys that say type, links or score, left out: 1 span", {"meta": {}}),
    ({"meta": {"score": "0.5"}}, "metadata under keys that say type, links or score, left out: 1", {"meta": {}}),
    ({"links": ("Q1",), "meta": {"identifier 2": "Q2"}}, "metadata under keys that say", {"links": ("Q1",)}),
]


@pytest.mark.parametrize(("span", "said", "left"), CHANGED, ids=[str(row[0]) for row in CHANGED])
def test_what_would_be_read_otherwise_is_said_first(
    span: dict[str, Any], said: str, left: dict[str, Any], tmp_path: Path
) -> None:
    layer = made(**span)
    with pytest.raises(FormatError, match=said):
        write(layer, tmp_path / "x.xml", format="bioc")
    for name in ("x.xml", "x.json"):
        [note] = write(layer, tmp_path / name, format="bioc", lossy=True)
        assert said in note
        again = read(tmp_path / name).layer
        assert again.label(0) == "A"
        for key, value in left.items():
            assert getattr(again, key).get(0, type(value)()) == value


def test_infons_that_are_safe_under_keys_of_ours_stay(tmp_path: Path) -> None:
    layer = made(links=("Q1",), meta={"MESH": "D1", "score": "high"})
    assert write(layer, tmp_path / "x.xml", format="bioc") == ()
    assert content(read(tmp_path / "x.xml").layer)["spans' meta"] == {0: {"MESH": "D1", "score": "high"}}


def test_characters_that_xml_cannot_hold_are_refused_there(tmp_path: Path) -> None:
    for layer, code in (
        (made(label="A\x01"), "U+0001"),
        (made(meta={"\ufffe": ""}), "U+FFFE"),
        (made(id="\0"), "U+0000"),
    ):
        for lossy in (False, True):
            with pytest.raises(FormatError) as caught:
                write(layer, tmp_path / "x.xml", format="bioc", lossy=lossy)
            assert str(caught.value).endswith(
                f"x.xml: document 'd' has a character that XML cannot hold, {code}; "
                "write JSON, to a name that ends in .json"
            )
            assert list(tmp_path.iterdir()) == []
        assert write(layer, tmp_path / "x.json", format="bioc") == ()
        assert content(read(tmp_path / "x.json").layer)["label"] == content(layer)["label"]
        (tmp_path / "x.json").unlink()


def test_names_say_which_of_the_three_is_written_packed_or_not(tmp_path: Path) -> None:
    layer = made(id="T1")
    begins = {
        "x": "<?xml",
        "x.xml.gz": "<?xml",
        "x.json": '{"source"',
        "x.jsonl.zst": '{"id"',
        "x.json.gz": '{"source"',
    }
    for name, start in begins.items():
        write(layer, tmp_path / name, format="bioc")
        reading = read(tmp_path / name)
        assert content(reading.layer) == content(layer)
        assert Source.of_path(tmp_path / name).files[0].text().startswith(start)
    write(layer, tmp_path / "shards", format="bioc", shards=1)
    assert [path.name for path in (tmp_path / "shards").iterdir()] == ["part-00000.xml"]


def shifted(by: int, *starts: int) -> dict[str, Any]:
    """Return a document whose second passage begins so much too high, with annotations of `gout` in it."""
    quoted = [bioc_annotation(str(number), "Disease", start, "gout") for number, start in enumerate(starts)]
    passages = [bioc_passage(0, "Drug for it"), bioc_passage(12 + by, "gout is gout, not flu", *quoted)]
    return bioc_document("d", *passages)


def test_a_passage_whose_offset_is_too_high_stands_where_its_quotes_fit() -> None:
    reading = read_json({"documents": [shifted(5, 12, 20)]})
    assert reading.documents.texts == ("Drug for it\ngout is gout, not flu",)
    assert reading.layer.start.tolist() == [12, 20]
    assert "passages moved to where the quotes of all their annotations fit: 1" in reading.notes
    # One quote that fits where the passage stands, or two places that fit, decide nothing; nor is it moved far.
    for document in (shifted(5, 12, 25), shifted(5, 12, 21), shifted(9, 20), shifted(25, 12, 20)):
        with pytest.raises(FormatError, match="the quotes do not fit"):
            read_json({"documents": [document]})


def test_texts_of_pieces_that_end_a_letter_later_are_counted() -> None:
    piece = bioc_annotation("0", "Disease", 0, "gout flu")
    document = bioc_document(
        "d",
        bioc_passage(
            0, "gout, or  flu", piece | {"locations": [{"offset": 0, "length": 4}, {"offset": 9, "length": 3}]}
        ),
    )
    reading = read_json({"documents": [document]})
    assert reading.layer.fragments == {0: ((0, 4), (9, 12))}
    assert any(
        "texts of several pieces that end a character later than the pieces: 1" in note for note in reading.notes
    )


def test_lists_called_like_predictions_are_named() -> None:
    passage = {"offset": 0, "text": "Ann", "annotations": [], "predictions": [{"id": "1"}]}
    raw = json.dumps({"documents": [{"id": "d", "passages": [passage]}]}).encode()
    reading = read(Source.of_uploads([("a.json", raw)]))
    assert "'predictions', called like predictions, not read: 1" in reading.notes
