"""UIMA CAS: what dkpro-cassis writes is read, what is written it reads, and everything else is told with its place."""

from __future__ import annotations

import io
import json
import warnings
import zipfile
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from zlib import crc32

import cassis
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nereval_core.corpus import Layer
from nereval_core.corpus.builder import Builder
from nereval_core.problems import FormatError
from nereval_core.readers import Reading, ReadOptions, Source, layers, read
from nereval_core.readers.cas import files as cas_files
from nereval_core.readers.cas.content import ENTITY, METADATA, SENTENCE, TOKEN
from nereval_core.readers.shared.offset_units import parse_offsets
from nereval_core.writers import write
from tests.support import layer_strategies
from tests.support.draws import draws
from tests.support.layer_strategies import content
from tests.support.samples import CAS_JSON, CAS_XMI
from tests.support.shared_corpora import defect

OWN, EVENT, RELATION = "webanno.custom.Entity", "webanno.custom.Event", "webanno.custom.Relation"
TEXT = "Ann 😀 met\r\nBob & <Lee> e\u0301\t𝔘."


def type_system() -> cassis.TypeSystem:
    """Return DKPro Core's types with INCEpTION's DocumentMetaData and the layers that a project declares."""
    made = cassis.load_dkpro_core_typesystem()
    about = made.create_type(METADATA, "uima.tcas.DocumentAnnotation")
    for feature in ("documentTitle", "documentId", "documentUri", "collectionId"):
        made.create_feature(about, feature, "uima.cas.String")
    own = made.create_type(OWN, "uima.tcas.Annotation")
    for feature, values in (("note", "String"), ("kind", "String"), ("sure", "Boolean"), ("many", "StringArray")):
        made.create_feature(own, feature, f"uima.cas.{values}")
    event = made.create_type(EVENT, "uima.tcas.Annotation")
    made.create_feature(event, "trigger", "uima.cas.String")
    made.create_feature(event, "label", "uima.cas.String")
    relation = made.create_type(RELATION, "uima.tcas.Annotation")
    for feature in ("Governor", "Dependent"):
        made.create_feature(relation, feature, OWN)
    made.create_type(f"{ENTITY}Person", ENTITY)
    return made


SYSTEM = type_system()
SYSTEM_XML = SYSTEM.to_xml()


def cas(
    *annotations: tuple[str, int, int, dict[str, Any]], text: str = TEXT, title: str = "d.txt", owner: str = "ann"
) -> cassis.Cas:
    """Return a CAS as INCEpTION exports it, annotations in code points."""
    made = cassis.Cas(SYSTEM)
    made.sofa_string = text
    made.sofa_mime = "text"
    about = {"documentTitle": title, "documentId": owner, "documentUri": f"project/{title}", "collectionId": "project"}
    for kind, begin, end, features in ((METADATA, 0, len(text), about), *annotations):
        made.add(SYSTEM.get_type(kind)(begin=begin, end=end, **features))
    return made


MADE = cas(
    (TOKEN, 4, 5, {}),
    (TOKEN, 0, 3, {}),
    (SENTENCE, 0, 10, {}),
    (ENTITY, 11, 22, {"value": "PER", "identifier": "http://www.wikidata.org/entity/Q1"}),
    (ENTITY, 4, 5, {"value": "FACE"}),
    (ENTITY, 4, 5, {"value": "FACE"}),
    (ENTITY, 0, 22, {}),
    (f"{ENTITY}Person", 26, 27, {"value": "LETTER"}),
    (OWN, 0, 3, {"kind": "person", "note": "sure of it", "sure": True}),
    (EVENT, 6, 9, {"label": "meeting", "trigger": "met"}),
)
ROWS = [
    ("Ann 😀 met\r\nBob & <Lee>", "NamedEntity", ()),
    ("😀", "FACE", ()),
    ("😀", "FACE", ()),
    ("Bob & <Lee>", "PER", ("http://www.wikidata.org/entity/Q1",)),
    ("𝔘", "LETTER", ()),
]


def source(*files: tuple[str, str | bytes]) -> Source:
    return Source.of_uploads([(name, raw if isinstance(raw, bytes) else raw.encode()) for name, raw in files])


def xmi(made: cassis.Cas) -> Source:
    return source(("ann.xmi", made.to_xmi()), ("TypeSystem.xml", SYSTEM_XML))


def rows(layer: Layer) -> list[tuple[str, str, tuple[str, ...]]]:
    return [(layer.text(span), layer.label(span), layer.links.get(span, ())) for span in range(len(layer))]


def packed(*files: tuple[str, str | bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, raw in files:
            archive.writestr(name, raw)
    return buffer.getvalue()


@pytest.mark.parametrize("form", ["XMI", "XMI alone", "JSON"])
def test_what_cassis_writes_is_read(form: str) -> None:
    given = {
        "XMI": xmi(MADE),
        "XMI alone": source(("ann.xmi", MADE.to_xmi(pretty_print=True))),
        "JSON": source(("ann.json", MADE.to_json())),
    }[form]
    reading = read(given)
    # Without the types nobody knows that a Person is a NamedEntity.
    assert rows(reading.layer) == (ROWS[:-1] if form == "XMI alone" else ROWS)
    documents = reading.documents
    assert (documents.ids, documents.texts) == (("d",), (TEXT,))
    assert documents.tokens is not None and documents.tokens.of_document(0) == [(0, 3), (4, 5)]
    assert documents.sentences is not None and documents.sentences.of_document(0) == [(0, 10)]
    others = "annotations of other types, left out: "
    told = others + ("3 (NamedEntityPerson 1, " if form == "XMI alone" else "2 (")
    assert reading.notes[0].startswith(told)
    assert "spans without a value, called 'NamedEntity': 1" in reading.notes


def test_offsets_are_those_that_cassis_makes_of_them() -> None:
    """Each annotation covers in our reading what it covers in cassis's."""
    again = cassis.load_cas_from_xmi(MADE.to_xmi(), SYSTEM)
    covered = sorted((one.begin, one.end, one.get_covered_text()) for one in again.select(ENTITY))
    layer = read(xmi(MADE)).layer
    ours = zip(layer.start.tolist(), layer.end.tolist(), map(layer.text, range(len(layer))), strict=True)
    assert sorted(ours) == covered


CHOSEN = [
    # (layer, column, the spans with their types)
    ("NamedEntity", None, ROWS),
    (ENTITY, None, ROWS),
    ("NamedEntity", "identifier", []),
    ("Entity", None, [("Ann", "sure of it", ())]),
    (OWN, "kind", [("Ann", "person", ())]),
    ("Entity", "sure", [("Ann", "true", ())]),
    ("Event", None, [("met", "meeting", ())]),
    ("Event", "trigger", [("met", "met", ())]),
    ("Relation", None, []),
    ("NamedEntityPerson", None, ROWS[-1:]),
]


@pytest.mark.parametrize("form", ["XMI", "JSON"])
@pytest.mark.parametrize(("layer", "column", "expected"), CHOSEN)
def test_a_layer_and_a_feature_are_chosen(layer: str, column: str | None, expected: Any, form: str) -> None:
    given = xmi(MADE) if form == "XMI" else source(("ann.json", MADE.to_json()))
    reading = read(given, options=ReadOptions(layer=layer, column=column))
    if column == "identifier":
        labels = ["NamedEntity", "NamedEntity", "NamedEntity", ROWS[3][2][0], "NamedEntityPerson"]
        assert [label for _, label, _ in rows(reading.layer)] == labels
    else:
        assert rows(reading.layer) == expected
    assert layers(given) == ()


def test_what_was_chosen_is_told() -> None:
    reading = read(xmi(MADE), options=ReadOptions(layer="Entity", column="kind"))
    assert reading.notes[:3] == (
        "spans are webanno.custom.Entity, their types its kind",
        "annotations of other types, left out: 6 (NamedEntity 4, NamedEntityPerson 1, Event 1)",
        "further features, not read: note, sure",
    )


def test_without_entities_the_one_custom_layer_is_read() -> None:
    made = cas((OWN, 0, 3, {"note": "x"}), (RELATION, 0, 3, {}), title="other.txt")
    for form in (xmi(made), source(("ann.json", made.to_json()))):
        reading = read(form)
        assert rows(reading.layer) == [("Ann", "x", ())]
        assert "spans are webanno.custom.Entity, their types its note" in reading.notes
    several = xmi(cas((OWN, 0, 3, {}), (EVENT, 0, 3, {})))
    with pytest.raises(FormatError) as caught:
        read(several)
    assert "it holds 2 layers, 'Entity', 'Event', and one is read at a time; name it after the path" in str(
        caught.value
    )
    assert layers(several) == ("Entity", "Event")
    assert len(read(several, options=ReadOptions(layer="Event")).layer) == 1


def test_without_a_type_system_a_feature_is_named_where_several_may_be_meant() -> None:
    plain = source(("d.xmi", cas((OWN, 0, 3, {"kind": "x"})).to_xmi()))
    assert rows(read(plain).layer) == [("Ann", "x", ())]
    given = source(("d.xmi", cas((OWN, 0, 3, {"kind": "x", "note": "y"})).to_xmi()))
    with pytest.raises(FormatError) as caught:
        read(given)
    assert str(caught.value) == (
        "d.xmi: Entity has the features 'kind', 'note', and no type system declares them; put its TypeSystem.xml "
        "beside, or name the one that is the type: --column kind or --column note"
    )
    assert rows(read(given, options=ReadOptions(column="note")).layer) == [("Ann", "y", ())]


REFUSED_CHOICES = [
    # (layer, column, said)
    ("Nobody", None, "no layer 'Nobody'; choose among 'webanno.custom.Event'"),
    ("Token", None, "'Token' is a part of the text; name a type whose annotations are spans"),
    ("Event", "nothing", "Event has no feature 'nothing'; choose among 'label', 'trigger'"),
    ("Entity", "many", "the feature 'many' of Entity holds 'uima.cas.StringArray'; name a feature that holds a string"),
    ("NamedEntity", 3, "NamedEntity has no feature '3'; choose among 'identifier', 'value'"),
]


@pytest.mark.parametrize(("layer", "column", "said"), REFUSED_CHOICES)
def test_what_is_not_there_cannot_be_chosen(layer: str, column: Any, said: str) -> None:
    given = xmi(cas((EVENT, 0, 3, {})))
    with pytest.raises(FormatError) as caught:
        read(given, options=ReadOptions(layer=layer, column=column))
    assert said in str(caught.value)


def test_two_types_of_one_name_are_told_apart() -> None:
    system = type_system()
    other = system.create_type("custom.Entity", "uima.tcas.Annotation")
    made = cassis.Cas(system)
    made.sofa_string = "Ann"
    made.add(other(begin=0, end=1))
    made.add(system.get_type(OWN)(begin=0, end=2))
    given = source(("d.xmi", made.to_xmi()), ("TypeSystem.xml", system.to_xml()))
    assert layers(given) == ("custom.Entity", OWN)
    with pytest.raises(FormatError, match=r"'Entity' may be 'custom\.Entity' or 'webanno\.custom\.Entity'; write the"):
        read(given, options=ReadOptions(layer="Entity"))
    assert rows(read(given, options=ReadOptions(layer="custom.Entity")).layer) == [("A", "Entity", ())]


PLACES = [
    # (begin, end, said)
    (0, 99, "is outside the text of 30 UTF-16 units"),
    (-1, 3, "is outside the text of 30 UTF-16 units"),
    (40, 50, "is outside the text of 30 UTF-16 units"),
    (40, 40, "is outside the text of 30 UTF-16 units"),
    (5, 3, "ends before it begins"),
]


@pytest.mark.parametrize("kind", [ENTITY, TOKEN, SENTENCE])
@pytest.mark.parametrize("at", [0, 3, len(TEXT)])
def test_annotations_of_no_character_are_left_out_and_counted(kind: str, at: int) -> None:
    made = cas((kind, at, at, {}), (kind, 5, 7, {}), (ENTITY, 0, 2, {"value": "PER"}))
    for file in (("d.xmi", made.to_xmi()), ("d.json", made.to_json())):
        reading = read(source(file))
        assert ("An", "PER", ()) in rows(reading.layer)
        found = {ENTITY: len(reading.layer) - 1}
        for name, parts in ((TOKEN, reading.documents.tokens), (SENTENCE, reading.documents.sentences)):
            found[name] = len(parts.of_document(0)) if parts else 0
        assert found == {ENTITY: 0, TOKEN: 0, SENTENCE: 0} | {kind: 1}
        assert "annotations of no character, left out: 1" in reading.notes


REPEATED = [
    # (file, lines of the second and the first thing of an id)
    ("xmi_allsame.xmi", 4, "a second id '3': line 3 has it too (and 12 more like it, to line 16); export"),
    ("xmi_dupid_sofa.xmi", 16, "a second id '1': line 6 has it too"),
    ("casj_dupid.json", 1, "a second %ID '3': line 1 has it too"),
]


@pytest.mark.parametrize(("name", "line", "said"), REPEATED)
def test_an_id_of_two_things_is_refused(name: str, line: int, said: str) -> None:
    with pytest.raises(FormatError) as caught:
        read(defect(name))
    assert f"{name}:{line}: {said}" in str(caught.value)


def test_what_stands_in_the_indexes_may_be_listed_in_parts() -> None:
    whole = CAS_XMI.replace('members="1 3 4 5 6"', 'members="1 3 4"')
    parts = whole.replace("</xmi:XMI>", '<cas:View sofa="2" members="5 6"/></xmi:XMI>')
    assert len(read(source(("d.xmi", parts))).layer) == len(read(source(("d.xmi", CAS_XMI))).layer) == 1


@pytest.mark.parametrize("kind", [ENTITY, TOKEN, SENTENCE])
@pytest.mark.parametrize(("begin", "end", "said"), PLACES)
def test_an_annotation_without_a_place_is_refused_by_its_id(kind: str, begin: int, end: int, said: str) -> None:
    made = cas((kind, 0, 2, {}), (ENTITY, 0, 1, {}))
    raw = made.to_xmi(pretty_print=True).replace('begin="0" end="2"', f'begin="{begin}" end="{end}"')
    with pytest.raises(FormatError) as caught:
        read(source(("d.xmi", raw)))
    short = kind.rpartition(".")[2]
    line = next(number for number, one in enumerate(raw.splitlines(), start=1) if f'end="{end}"' in one)
    remedy = "mend or delete it where it was annotated, and export again"
    assert str(caught.value) == f"d.xmi:{line}: {short} 3, from {begin} to {end}, {said}; {remedy}"
    told = json.loads(made.to_json())
    told["%FEATURE_STRUCTURES"][2] |= {"begin": begin, "end": end}
    with pytest.raises(FormatError) as caught:
        read(source(("d.json", json.dumps(told))))
    assert str(caught.value) == f"d.json:1: {short} 3, from {begin} to {end}, {said}; {remedy}"


def test_half_a_character_is_no_place() -> None:
    raw = cas((ENTITY, 4, 5, {})).to_xmi().replace('begin="4" end="6"', 'begin="5" end="6"')
    with pytest.raises(FormatError, match=r"^d\.xmi:2: 5 to 6 is not a place in the text"):
        read(source(("d.xmi", raw)))


@pytest.mark.parametrize(
    ("words", "begin", "end", "covered"),
    [
        ("code-points", 6, 9, "met"),
        ("code-points", 27, 28, "."),
        ("code-points", 27, 29, None),
        ("code-points,inclusive", 6, 8, "met"),
        ("code-points,inclusive", 0, 0, "A"),
        ("code-points,inclusive", 27, 27, "."),
        ("code-points,inclusive", 27, 28, None),
        ("code-points,from-1", 1, 2, "A"),
        ("code-points,from-1", 28, 29, "."),
        ("code-points,from-1", 0, 2, None),
        ("code-points,inclusive,from-1", 1, 1, "A"),
        ("code-points,inclusive,from-1", 28, 28, "."),
        ("code-points,inclusive,from-1", 28, 29, None),
    ],
)
def test_offsets_may_be_said_to_count_something_else(words: str, begin: int, end: int, covered: str | None) -> None:
    """The first and the last character can be covered alone, and nothing beyond them."""
    raw = cas((ENTITY, 4, 5, {})).to_xmi().replace('begin="4" end="6"', f'begin="{begin}" end="{end}"')
    options = ReadOptions(offsets=parse_offsets(words))
    if covered is None:
        with pytest.raises(FormatError, match="is outside the text of 28 code points"):
            read(source(("d.xmi", raw)), options=options)
    else:
        assert rows(read(source(("d.xmi", raw)), options=options).layer) == [(covered, "NamedEntity", ())]


def test_what_no_index_holds_and_other_views_are_left_out_and_counted() -> None:
    made = cas((ENTITY, 0, 1, {"value": "A"}), (ENTITY, 1, 2, {"value": "GONE"}))
    made.create_view("pdf").sofa_string = "another text"
    made.get_view("pdf").add(SYSTEM.get_type(ENTITY)(begin=0, end=7, value="THERE"))
    for name, raw, old, new in (
        ("d.xmi", made.to_xmi(), 'members="2 3 4"', 'members="2 3"'),
        ("d.json", made.to_json(pretty_print=False), '"%MEMBERS": [2, 3, 4]', '"%MEMBERS": [2, 3]'),
    ):
        assert old in raw
        reading = read(source((name, raw.replace(old, new))))
        assert rows(reading.layer) == [("A", "A", ())]
        assert "annotations that are in no index, left out: 1" in reading.notes
        assert "further views of documents, left out: 1" in reading.notes


def xml(rows: str, declaration: str = '<?xml version="1.0" encoding="UTF-8"?>\n') -> str:
    """Return XMI with an entity over the first character, and rows after it."""
    return (
        f'{declaration}<xmi:XMI xmlns:xmi="http://www.omg.org/XMI" xmlns:cas="http:///uima/cas.ecore"\n'
        ' xmlns:type="http:///de/tudarmstadt/ukp/dkpro/core/api/ner/type.ecore" xmi:version="2.0">\n'
        '<type:NamedEntity xmi:id="1" sofa="2" begin="0" end="1" value="A"/>\n'
        f'{rows}\n<cas:View sofa="2" members="1 3"/>\n</xmi:XMI>\n'
    )


SOFA = '<cas:Sofa xmi:id="2" sofaID="_InitialView" sofaString="abc"/>'
BOMB = '<?xml version="1.0"?>\n<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>\n'
OUTSIDE = '<?xml version="1.0"?>\n<!DOCTYPE x SYSTEM "file:///etc/passwd">\n'
REFUSED_XMI = [
    # (file, its line, said)
    (xml(SOFA).replace("</xmi:XMI>", ""), 8, "not XML: no element found at column 1; export the file again"),
    (xml(SOFA + "<x>"), 7, "not XML: mismatched tag"),
    (xml(SOFA + "<y:x/>"), 5, "not XML: unbound prefix"),
    (xml(SOFA.replace("abc", "a\x01c")), 5, "not XML: not well-formed (invalid token)"),
    (xml(SOFA.replace("abc", "a&#1;c")), 5, "invalid character number at column "),
    (xml(SOFA, BOMB), 2, "a document type declaration, which no export has; leave it out: nothing is declared"),
    (xml(SOFA.replace("abc", "&b;"), BOMB), 2, "a document type declaration"),
    (xml(SOFA, OUTSIDE), 2, "a document type declaration"),
    (xml(""), None, "no text: no sofaString in it; export it from the tool it was annotated in"),
    (xml(SOFA.replace("sofaString", "sofaURI")), None, "no text: no sofaString in it"),
    (xml(SOFA + SOFA.replace('"2"', '"4"')), None, "2 views with a text, and none is _InitialView"),
    (xml(SOFA + '<type:NamedEntity xmi:id="3" sofa="2" begin="x" end="1"/>'), 5, "NamedEntity 3: begin is 'x'; write"),
    (xml(SOFA + '<type:NamedEntity xmi:id="3" sofa="2" begin="0" end="1.5"/>'), 5, "NamedEntity 3: end is '1.5'"),
    ('<?xml version="1.0"?><html xmi:XMI=""/>', 1, "not XML: unbound prefix"),
    ("<xmi:XMI xmlns:xmi='other'/>", 1, "the root is 'other XMI', not xmi:XMI; export it as UIMA CAS XMI"),
    (b'<?xml version="1.0" encoding="big5"?>' + xml(SOFA, "").encode(), None, "not XML: "),
    (b"<?xml version='1.0'?>" + xml(SOFA.replace("abc", "ä"), "").encode("latin-1"), 4, "not XML: "),
]


@pytest.mark.parametrize(("raw", "line", "said"), REFUSED_XMI, ids=[row[2][:40] for row in REFUSED_XMI])
def test_xmi_is_refused_with_its_line(raw: str | bytes, line: int | None, said: str) -> None:
    with pytest.raises(FormatError) as caught:
        read(source(("d.xmi", raw)), format="cas")
    [problem] = caught.value.problems
    assert str(problem).startswith("d.xmi: " if line is None else f"d.xmi:{line}: ")
    assert said in str(problem)


def changed(change: Callable[[Any], Any]) -> str:
    held = json.loads(CAS_JSON)
    return json.dumps(change(held) or held)


REFUSED_JSON = [
    # (what becomes of the sample, said)
    (lambda held: held.update({"%FEATURE_STRUCTURES": None}), "%FEATURE_STRUCTURES is null; export it as UIMA CAS"),
    (lambda held: held["%FEATURE_STRUCTURES"].append(3), "a feature structure without %TYPE: an integer; export"),
    (lambda held: held["%FEATURE_STRUCTURES"].append({"%ID": 9}), "a feature structure without %TYPE: an object 9"),
    (lambda held: held["%FEATURE_STRUCTURES"][1].update(begin="x"), "Entity 2: begin is 'x'; write an integer"),
    (lambda held: held["%FEATURE_STRUCTURES"][1].update(end=True), "Entity 2: end is 'True'"),
    (lambda held: held["%FEATURE_STRUCTURES"][1].update(end=7.0), "Entity 2: end is '7.0'"),
    (lambda held: held["%FEATURE_STRUCTURES"][1].update(end=2**70), f"Entity 2, from 3 to {2**70}, is outside the"),
    (lambda held: held["%FEATURE_STRUCTURES"][0].update(sofaString=None), "no text: no sofaString in it"),
    (lambda held: held["%FEATURE_STRUCTURES"][0].update(sofaString=3), "no text: no sofaString in it"),
    (lambda held: [held, 3], "a list where a CAS should be"),
]


@pytest.mark.parametrize(("change", "said"), REFUSED_JSON, ids=[row[1][:40] for row in REFUSED_JSON])
def test_json_is_refused_with_its_reason(change: Callable[[Any], Any], said: str) -> None:
    with pytest.raises(FormatError) as caught:
        read(source(("d.json", changed(change))), format="cas")
    assert said in str(caught.value)
    with pytest.raises(FormatError, match=r"^d\.json:1: the key '%TYPES' stands twice in one object"):
        read(source(("d.json", CAS_JSON.replace('{"%TYPES"', '{"%TYPES": {}, "%TYPES"', 1))))


def test_a_feature_without_a_name_is_none_to_choose() -> None:
    structures = [
        {"%ID": 1, "%TYPE": "uima.cas.Sofa", "sofaID": "_InitialView", "sofaString": "ab"},
        {"%ID": 2, "%TYPE": "webanno.custom.Name", "@sofa": 1, "begin": 0, "end": 1, "": "x", "kind": "A"},
    ]
    views = {"_InitialView": {"%SOFA": 1, "%MEMBERS": [2]}}
    raw = json.dumps({"%TYPES": {}, "%FEATURE_STRUCTURES": structures, "%VIEWS": views})
    assert rows(read(source(("d.json", raw)), format="cas").layer) == [("a", "A", ())]


def test_structures_may_stand_under_their_ids() -> None:
    held = json.loads(CAS_JSON)
    held["%FEATURE_STRUCTURES"] = {str(one.pop("%ID")): one for one in held["%FEATURE_STRUCTURES"]}
    assert content(read(source(("d.json", json.dumps(held)))).layer) == content(
        read(source(("d.json", CAS_JSON))).layer
    )


def test_xml_of_other_versions_and_encodings_is_read() -> None:
    """XML 1.1 has control characters, and says in which bytes text lies."""
    controls = SOFA.replace("abc", "a&#1;&#x1F;\ue001&#xFDD1;b&#9;")
    given = xml(controls, "<?xml version='1.1' encoding='UTF-8'?>\n")
    assert read(source(("d.xmi", given))).documents.texts == ("a\x01\x1f\ue001\ufdd1b\t",)
    for encoding in ("utf-16", "latin-1"):
        raw = xml(
            SOFA.replace("abc", "aß😀" if encoding == "utf-16" else "aßc"),
            f'<?xml version="1.0" encoding="{encoding}"?>\n',
        )
        reading = read(source(("d.xmi", raw.encode(encoding))), format="cas")
        assert reading.documents.texts[0][:2] == "aß"
    bom = read(source(("d.xmi", b"\xef\xbb\xbf" + CAS_XMI.encode())))
    assert bom.documents.texts == ("😊 Rome\nend",)
    assert bom.layer.text(0) == "Rome"


def project(*files: tuple[str, cassis.Cas], form: str) -> bytes:
    """Return the export of a project: a folder a document, in it a file or zip an annotator."""
    held: list[tuple[str, str | bytes]] = [("exportedproject12.json", '{"name": "p"}'), ("event.log", "")]
    for name, made in files:
        _, document, who = name.split("/")
        if (f"source/{document}", "text") not in held:
            held.append((f"source/{document}", "text"))
        if form == "JSON":
            held.append((f"{name}.json", made.to_json()))
            continue
        inner = packed((f"{who}.xmi", made.to_xmi()), ("TypeSystem.xml", SYSTEM_XML))
        # Older versions called the zip by a number.
        called = name if form == "XMI" else f"{name.rpartition('/')[0]}/webanno{crc32(name.encode())}export"
        held.append((f"{called}.zip", inner))
    return packed(*held)


WORK = [
    ("annotation/a.txt/ann", cas((ENTITY, 0, 3, {"value": "PER"}), title="a.txt")),
    ("annotation/a.txt/bob", cas((ENTITY, 0, 3, {"value": "ORG"}), (EVENT, 6, 9, {"label": "m"}), title="a.txt")),
    ("annotation/b.txt/ann", cas((ENTITY, 6, 9, {"value": "ACT"}), title="b.txt")),
    ("curation/a.txt/CURATION_USER", cas((ENTITY, 0, 3, {"value": "PERSON"}), title="a.txt")),
]


@cache
def project_of_work(form: str) -> bytes:
    """Return the export of the project; cassis takes a second and a half to write one in JSON."""
    return project(*WORK, form=form)


@pytest.mark.parametrize("form", ["XMI", "old XMI", "JSON"])
@pytest.mark.parametrize("place", ["upload", "zip", "folder", "annotation", "unpacked"])
def test_each_annotator_of_a_project_is_a_layer(form: str, place: str, tmp_path: Path) -> None:
    raw = project_of_work(form)
    (tmp_path / "p.zip").write_bytes(raw)
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        archive.extractall(tmp_path / "p")
    if place == "unpacked":
        for inner in (tmp_path / "p").rglob("*.zip"):
            with zipfile.ZipFile(inner) as archive:
                archive.extractall(inner.with_suffix(""))
    annotators = ["ann", "bob"] if place == "annotation" else ["CURATION_USER", "ann", "bob"]
    path = {"zip": "p.zip", "annotation": "p/annotation"}.get(place, "p")
    given = source(("p.zip", raw)) if place == "upload" else Source.of_path(tmp_path / path)
    assert layers(given) == tuple(annotators)

    def work(name: str) -> list[tuple[str, str, str]]:
        layer = read(given, options=ReadOptions(layer=name)).layer
        ids = layer.documents.ids
        return [(ids[layer.doc[span]], layer.text(span), layer.label(span)) for span in range(len(layer))]

    assert work("ann") == [("a", "Ann", "PER"), ("b", "met", "ACT")]
    assert work("bob") == [("a", "Ann", "ORG")]
    assert work("bob/Event") == [("a", "met", "m")]
    with pytest.raises(FormatError, match=rf"it holds {len(annotators)} layers, .*'ann', 'bob', and one is read"):
        read(given)
    with pytest.raises(FormatError, match="no layer 'eve'; choose among"):
        read(given, options=ReadOptions(layer="eve"))
    if place != "upload":
        named = Source.of_path(f"{tmp_path / path}#bob/Event")
        assert read(named).layer.name == "bob/Event"


def test_folders_that_are_called_like_a_projects_are_not_taken_for_one(tmp_path: Path) -> None:
    for name in ("d1", "d2"):
        path = tmp_path / "annotation" / "train" / f"{name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(cas((ENTITY, 0, 3, {}), title=f"{name}.txt", owner=name).to_json())
    reading = read(tmp_path)
    assert reading.documents.ids == ("d1", "d2")


def test_exports_of_single_documents_lie_in_a_folder(tmp_path: Path) -> None:
    """The file of a document is called as the annotator is, and the zip by a number."""
    for number in (1, 2):
        made = cas((ENTITY, 0, 3, {"value": "PER"}), title=f"d{number}.txt")
        inner = packed(("ann.xmi", made.to_xmi()), ("TypeSystem.xml", SYSTEM_XML))
        (tmp_path / f"inception-document{number}.zip").write_bytes(inner)
    (tmp_path / "README.md").write_text("what this is")
    reading = read(tmp_path)
    assert reading.documents.ids == ("d1", "d2")
    assert "other files, not read: 1 (README.md)" in reading.notes
    assert read(tmp_path / "inception-document1.zip").documents.ids == ("d1",)
    # Uploaded together, their files have the same names.
    paths = sorted(tmp_path.glob("*.zip"))
    assert read(source(*((path.name, path.read_bytes()) for path in paths))).documents.ids == ("d1", "d2")
    with pytest.raises(FormatError, match=r"a second file called 'inception-document1/ann\.xmi'"):
        source(*((path.name, path.read_bytes()) for path in (paths[0], paths[0])))


def test_a_type_system_is_found_beside_a_single_file_and_around_it(tmp_path: Path) -> None:
    made = cas((OWN, 0, 3, {"note": "n", "kind": "k"}))
    (tmp_path / "in").mkdir()
    (tmp_path / "d.xmi").write_text(made.to_xmi())
    (tmp_path / "in" / "e.xmi").write_text(made.to_xmi().replace("d.txt", "e.txt"))
    (tmp_path / "TypeSystem.xml").write_text(SYSTEM_XML)
    assert read(tmp_path / "d.xmi").layer.label(0) == "n"
    assert read(tmp_path).documents.ids == ("d", "e")


TYPE_SYSTEMS = [
    (SYSTEM_XML[:900], None, "not XML: "),
    ("<other/>", 1, "'other' is not a description of a type system; put the TypeSystem.xml of the export there"),
    (SYSTEM_XML.replace("<typeSystem", BOMB.partition("?>\n")[2] + "<typeSystem", 1), 2, "a document type declaration"),
]


@pytest.mark.parametrize(("raw", "line", "said"), TYPE_SYSTEMS)
def test_a_damaged_type_system_is_refused(raw: str, line: int | None, said: str) -> None:
    with pytest.raises(FormatError) as caught:
        read(source(("d.xmi", MADE.to_xmi()), ("TypeSystem.xml", raw)))
    assert str(caught.value).startswith(f"TypeSystem.xml:{line}: " if line else "TypeSystem.xml:")
    assert said in str(caught.value)


def test_types_that_are_kinds_of_one_another_end() -> None:
    raw = SYSTEM_XML.replace(f"<name>{OWN}</name>", f"<name>{OWN}</name><supertypeName>{OWN}</supertypeName>")
    made = cas((OWN, 0, 3, {"note": "n"}))
    assert len(read(source(("d.xmi", made.to_xmi()), ("TypeSystem.xml", raw))).layer) == 1


def test_documents_are_called_by_their_ids_in_dkpro_core() -> None:
    """In `documentId` DKPro Core has a path below a base, with which the address ends; INCEpTION the annotator."""
    names = {
        ("a.txt", "sub/a.txt", "file:/data/sub/a.txt"): "sub/a",
        ("a.txt", "ann", "project/a.txt"): "a",
        ("", "PMID.7", ""): "PMID.7",
        ("a.b", "a.b", "a.b"): "a.b",
        ("", "", ""): "x",
    }
    for (title, id, place), expected in names.items():
        made = cas((ENTITY, 0, 3, {}))
        [about] = made.select(METADATA)
        about.documentTitle, about.documentId, about.documentUri = title, id, place
        assert read(source(("x.xmi", made.to_xmi()))).documents.ids == (expected,)
    two = source(*((f"{end}.xmi", cas((ENTITY, 0, 3, {}), title=f"d.{end}").to_xmi()) for end in ("txt", "html")))
    assert read(two).documents.ids == ("d.html", "d.txt")


def test_zips_within_zips_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    inner = packed(("ann.xmi", MADE.to_xmi()))
    cases: list[tuple[Sequence[tuple[str, str | bytes]], str]] = [
        ([("annotation/a.txt/ann.zip", packed(("in.zip", inner)))], "ann.zip/in.zip: a packed file inside a zip"),
        ([("annotation/a.txt/ann.zip", inner[:-9])], "ann.zip: not a readable zip"),
        ([("annotation/a.txt/ann.zip", packed(("../ann.xmi", "x")))], "the entry '../ann.xmi' leads outside"),
        ([("a.zip", packed(("ann.xmi", b" " * (65 << 20)), ("b.xmi", b" " * 9)))], "expands from"),
    ]
    for files, said in cases:
        with pytest.raises(FormatError) as caught:
            read(source(("p.zip", packed(*files))), format="cas")
        assert said in str(caught.value)
    # What they take where they lie is what counts: two packings do not multiply.
    bomb = packed(*((f"{number}.xmi", b" " * (1 << 20)) for number in range(65)))
    with pytest.raises(FormatError, match=rf"ann\.zip: expands from [0-9,]+ to {65 << 20:,} bytes"):
        read(source(("p.zip", packed(("annotation/a.txt/ann.zip", bomb)))), format="cas")
    monkeypatch.setattr(cas_files, "MOST_EXPANDED_BYTES", 5 << 20)
    many = [(f"annotation/a{number}.txt/ann.zip", packed(("ann.xmi", b" " * (1 << 20)))) for number in range(6)]
    with pytest.raises(FormatError, match=f"{6 << 20} bytes and 6 files in the zips of a zip; unpack the outer one"):
        read(source(("p.zip", packed(*many))), format="cas")
    # Formats that have no zips in their zips refuse them as ever.
    with pytest.raises(FormatError, match=r"x\.zip/in\.zip: a packed file inside a zip"):
        read(source(("x.zip", packed(("a.jsonl", '{"id": "a", "text": "a"}'), ("in.zip", inner)))))


@st.composite
def held(draw: st.DrawFn, layer: st.SearchStrategy[Layer]) -> Layer:
    """Draw a layer with what a CAS has a place for, without what XML cannot write."""
    given = draw(layer)
    builder = Builder("drawn")
    documents = given.documents
    for number, (name, text) in enumerate(zip(documents.ids, documents.texts, strict=True)):
        pieces = [() if one is None else one.of_document(number) for one in (documents.tokens, documents.sentences)]
        clean = [part.translate(dict.fromkeys((0, 0xFFFE, 0xFFFF), "x")) for part in (name, text)]
        builder.document(clean[0], clean[1], tokens=pieces[0], sentences=pieces[1])
        for span in range(int(given.first[number]), int(given.first[number + 1])):
            start, end = int(given.start[span]), int(given.end[span])
            builder.span(start, end, given.label(span), links=given.links.get(span, ())[:1])
    return builder.finish("drawn")


def without_ids(layer: Layer) -> dict[str, Any]:
    """Return what a layer holds but for the ids of spans, documents in the order of theirs."""
    found = {key: value for key, value in content(layer).items() if key not in ("spans' ids", "order")}
    order = sorted(range(len(found["ids"])), key=found["ids"].__getitem__)
    rank = {old: new for new, old in enumerate(order)}
    for key in ("ids", "texts", "tokens", "sentences"):
        if found[key] is not None:
            found[key] = [found[key][number] for number in order]
    spans = zip(found.pop("doc"), found.pop("start"), found.pop("end"), found.pop("label"), strict=True)
    links = found.pop("spans' links")
    found["spans"] = sorted(((rank[doc], *rest), links.get(at, ())) for at, (doc, *rest) in enumerate(spans))
    return found


NAMES = layer_strategies.texts(min_size=1).map(lambda name: name.translate(dict.fromkeys((0, 0xFFFE, 0xFFFF), "x")))


@draws(20)
@given(held(layer_strategies.layers(whole=True, names=NAMES)), st.sampled_from(["out", "out.zip"]))
def test_writing_reads_back(layer: Layer, name: str) -> None:
    if not len(layer.documents):
        return
    with TemporaryDirectory() as folder:
        path = Path(folder) / name
        assert write(layer, path, format="cas") == ()
        reading = read(path)
        assert reading.format == "cas"
        assert without_ids(reading.layer) == without_ids(layer)


@draws(13)
@given(held(layer_strategies.layers(whole=True, names=NAMES)), st.sampled_from(["out.json", "out.xmi", "out.json.gz"]))
def test_a_single_document_reads_back(layer: Layer, name: str) -> None:
    if len(layer.documents) != 1:
        return
    with TemporaryDirectory() as folder:
        path = Path(folder) / name
        write(layer, path, format="cas")
        assert without_ids(read(path).layer) == without_ids(layer)


def written() -> Layer:
    builder = Builder("made")
    builder.document("a/b.txt", TEXT, tokens=[(0, 3), (4, 5)], sentences=[(0, 10), (11, 28)])
    builder.span(4, 5, 'A "&<b>\n', links=("Q1",))
    builder.span(0, 22, "A")
    builder.span(0, 22, "A")
    return builder.finish("made")


def test_cassis_reads_what_is_written(tmp_path: Path) -> None:
    write(written(), tmp_path / "out", format="cas")
    write(written(), tmp_path / "out.json", format="cas")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["TypeSystem.xml", "a_b.txt.xmi"]
    with (tmp_path / "out" / "TypeSystem.xml").open("rb") as file:
        system = cassis.load_typesystem(file)
    with warnings.catch_warnings(action="error"):
        one = cassis.load_cas_from_xmi(tmp_path / "out" / "a_b.txt.xmi", system)
        with (tmp_path / "out.json").open("rb") as file:
            two = cassis.load_cas_from_json(file)
    for made in (one, two):
        assert made.sofa_string == TEXT
        spans = [(span.get_covered_text(), span.value, span.identifier) for span in made.select(ENTITY)]
        whole = (TEXT[:22], "A", None)
        assert sorted(spans, key=str) == sorted([("😀", 'A "&<b>\n', "Q1"), whole, whole], key=str)
        assert [token.get_covered_text() for token in made.select(TOKEN)] == ["Ann", "😀"]
        assert [(one.begin, one.end) for one in made.select(SENTENCE)] == [(0, 10), (11, 28)]
        assert [about.documentId for about in made.select(METADATA)] == ["a/b.txt"]


def test_the_same_layer_is_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a.zip", "b.zip"):
        write(written(), tmp_path / name, format="cas")
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()


def several(*pairs: tuple[str, str]) -> Layer:
    builder = Builder("made")
    for name, text in pairs:
        builder.document(name, text)
        builder.span(0, 1, "A")
    return builder.finish("made")


def test_names_of_files_are_safe_and_their_own(tmp_path: Path) -> None:
    names = ["../x", "x", "X", ".", "TypeSystem", "症" * 200, "a/b", "a_b"]
    write(several(*((name, "abc") for name in names)), tmp_path / "out", format="cas")
    assert len(list((tmp_path / "out").iterdir())) == len(names) + 1
    assert sorted(read(tmp_path / "out").documents.ids) == sorted(names)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


UNWRITABLE = [
    ("out.xmi", several(("a", "b"), ("c", "d")), "2 documents, and a CAS holds one; name a folder, or a zip that ends"),
    ("out.json", several(("a", "b"), ("c", "d")), "2 documents, and a CAS holds one"),
    ("out", several(("a", "b\0")), "the document 'a' holds U+0000, which no XML can write; take it out, or write one"),
    ("out.xmi", several(("a", "\uffff")), "the document 'a' holds U+FFFF, which no XML can write"),
]


@pytest.mark.parametrize(("name", "layer", "said"), UNWRITABLE)
def test_what_a_file_cannot_hold_is_refused(name: str, layer: Layer, said: str, tmp_path: Path) -> None:
    with pytest.raises(FormatError) as caught:
        write(layer, tmp_path / name, format="cas")
    assert said in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_json_holds_what_xml_cannot(tmp_path: Path) -> None:
    layer = several(("a", "\0\ufffe"))
    write(layer, tmp_path / "out.json", format="cas")
    assert read(tmp_path / "out.json").documents.texts == ("\0\ufffe",)


def reading_of(raw: bytes) -> Reading:
    return read(source(("d.xmi", raw)))


def test_control_characters_are_written_as_xml_1_1(tmp_path: Path) -> None:
    layer = several(("a", "\x01\x85\u2028\x7f"))
    write(layer, tmp_path / "out.xmi", format="cas")
    raw = (tmp_path / "out.xmi").read_bytes()
    assert raw.startswith(b'<?xml version="1.1" encoding="UTF-8"?>') and b"&#1;&#133;&#8232;&#127;" in raw
    assert reading_of(raw).documents.texts == layer.documents.texts


def test_what_is_no_id_is_in_no_index() -> None:
    held = json.loads(CAS_JSON)
    held["%FEATURE_STRUCTURES"].append({"%ID": [1], "%TYPE": OWN, "@sofa": 1, "begin": 0, "end": 2})
    reading = read(source(("d.json", json.dumps(held))))
    assert rows(reading.layer) == [("Rome", "place", ())]
    assert "annotations that are in no index, left out: 1" in reading.notes


def test_of_a_project_the_layers_that_may_be_meant_are_offered() -> None:
    both = [(OWN, 0, 3, {"kind": "x"}), (EVENT, 6, 9, {"label": "m"})]
    work = [(f"annotation/a.txt/{who}", cas(*both[:count], title="a.txt")) for who, count in (("ann", 1), ("bob", 2))]
    given = source(("p.zip", project(*work, form="JSON")))
    assert layers(given) == ("ann/Entity", "ann/Event", "bob/Entity", "bob/Event")
    with pytest.raises(FormatError, match="it holds 2 layers, 'bob/Entity', 'bob/Event', and one is read at a time"):
        read(given, options=ReadOptions(layer="bob"))
    assert rows(read(given, options=ReadOptions(layer="bob/Event")).layer) == [("met", "m", ())]
    first = ("annotation/a.txt/INITIAL_CAS", cas(title="a.txt"))
    named = source(("p.zip", project(first, *WORK, form="XMI")))
    assert layers(named) == ("CURATION_USER", "ann", "bob", "INITIAL_CAS")
    assert len(read(named, options=ReadOptions(layer="INITIAL_CAS")).layer) == 0
