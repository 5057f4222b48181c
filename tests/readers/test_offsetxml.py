"""XML with places: i2b2 2014 and MAE by offsets, GATE by nodes, sets as layers, what is left out and refused."""

from __future__ import annotations

import pytest

from nereval_core.problems import FormatError
from nereval_core.readers import Reading, ReadOptions, Source, layers, read
from tests.support.readings import span_texts
from tests.support.samples import GATE, I2B2_2014, MAE


def source(text: str, name: str = "d.xml") -> Source:
    return Source.of_uploads([(name, text.encode())])


def read_text(text: str, **options: str | None) -> Reading:
    return read(source(text), options=ReadOptions(layer=options.get("layer"), column=options.get("column")))


def test_tags_of_i2b2_are_spans_of_the_text() -> None:
    reading = read_text(I2B2_2014)
    assert (reading.format, reading.documents.ids) == ("offsetxml", ("d",))
    assert span_texts(reading.layer) == [("d", "Ann", "PATIENT"), ("d", "Rome", "CITY")]
    assert dict(reading.layer.ids) == {0: "P0", 1: "P1"}
    assert dict(reading.layer.meta) == {0: {"element": "NAME"}, 1: {"element": "LOCATION", "comment": "sure"}}
    assert reading.notes == ("offsets in code points, end exclusive: 2 of 2 quotes match",)
    # Tools in Java count UTF-16 units, as quotes show.
    in_units = read_text(I2B2_2014.replace('"12" end="16"', '"13" end="17"'))
    assert span_texts(in_units.layer)[1] == ("d", "Rome", "CITY")
    assert in_units.notes == ("offsets in UTF-16 units, end exclusive: 2 of 2 quotes match",)


def test_the_text_and_attributes_are_read_as_xml_has_them() -> None:
    escaped = I2B2_2014.replace("<![CDATA[", "").replace("]]>", "").replace(" & ", " &amp; ").replace("\n", "\r\n")
    assert read_text(escaped).documents.texts == read_text(I2B2_2014).documents.texts
    broken = I2B2_2014.replace("Ann 😀", "Ann\n😀").replace('"4" text="Ann"', '"8" text="Ann 😀 l"')
    assert span_texts(read_text(broken).layer)[0] == ("d", "Ann\n😀 l", "PATIENT")


def test_tags_of_mae_may_have_several_pieces_or_none() -> None:
    reading = read_text(MAE)
    assert span_texts(reading.layer) == [("d", "Ann", "PERSON"), ("d", "Ann Rome", "TRIP")]
    assert dict(reading.layer.fragments) == {1: ((0, 3), (9, 13))}
    assert reading.notes[:2] == ("elements without a place, not read: 1", "links between spans, not read: 1")


def test_sets_of_gate_are_layers_and_nodes_tell_places() -> None:
    assert layers(source(GATE)) == ("default", "Key")
    reading = read_text(GATE, layer="default")
    assert span_texts(reading.layer) == [("d", "Ann", "Person"), ("d", "Rome", "Location")]
    assert dict(reading.layer.meta) == {0: {"gender": "female"}}
    assert reading.notes == ("annotations of GATE's tools and markup, left out: 1",)
    assert span_texts(read_text(GATE, layer="Key", column="class").layer) == [("d", "Rome", "City")]
    with pytest.raises(FormatError, match=r"it holds 2 layers, 'default', 'Key', and one is read at a time"):
        read_text(GATE)
    with pytest.raises(FormatError, match=r"no layer 'x'; choose among 'default', 'Key'"):
        read_text(GATE, layer="x")
    with pytest.raises(FormatError, match=r"no layer 'x'; choose among 'default'"):
        read_text(I2B2_2014, layer="x")


def test_the_column_names_what_has_the_type() -> None:
    reading = read_text(I2B2_2014, column="comment")
    assert span_texts(reading.layer) == [("d", "Rome", "sure")]
    assert "elements without the attribute 'comment', left out: 1" in reading.notes
    assert "annotations without the feature 'class', left out: 2" in read_text(GATE, layer="Key", column="class").notes


def test_each_file_is_a_document() -> None:
    files = [("a.xml", I2B2_2014.encode()), ("b.xml", MAE.encode()), ("notes.txt", b"x")]
    reading = read(Source.of_uploads(files))
    assert reading.documents.ids == ("a", "b")
    assert reading.notes[-2] == "other files, not read: 1 (notes.txt)"


REFUSED = [
    # (what is changed, what is said)
    (('start="1"', 'start="x"'), "d.xml:7: <NAME> stands at 'x to 4'; write start and end as numbers"),
    (('end="16"', 'end="99"'), "d.xml:8: "),
    (("</TAGS>", ""), "d.xml:10: not XML: mismatched tag"),
    (("<deIdi2b2>", '<!DOCTYPE x [<!ENTITY a "b">]><deIdi2b2>'), "d.xml:2: a document type declaration"),
    (('text="Rome"', 'text="Bern"'), "d.xml"),
]


@pytest.mark.parametrize(("change", "said"), REFUSED)
def test_refuses_with_the_line(change: tuple[str, str], said: str) -> None:
    with pytest.raises(FormatError) as caught:
        read(source(I2B2_2014.replace(*change)), format="offsetxml")
    assert any(str(problem).startswith(said) for problem in caught.value.problems), caught.value.problems


def test_nodes_that_are_missing_are_refused() -> None:
    with pytest.raises(FormatError, match=r"d\.xml:11: an annotation 'Location' at a node that the text has not"):
        read_text(GATE.replace('<Node id="16"/>', ""), layer="default")
    with pytest.raises(FormatError, match=r"d\.xml: no <TEXT> and no <TextWithNodes>"):
        read(source("<x/>"), format="offsetxml")
