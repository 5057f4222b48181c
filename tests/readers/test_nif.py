"""NIF: contexts are documents, strings with links or classes spans; Turtle and N-Triples; what is refused."""

from __future__ import annotations

from contextlib import suppress

import pytest

from nereval_core.problems import FormatError
from nereval_core.readers import Reading, ReadOptions, Source, read, readers
from nereval_core.readers.shared.turtle import TYPE, triples
from tests.support.readings import span_texts
from tests.support.samples import NIF


def read_text(text: str, **options: str) -> Reading:
    source = Source.of_uploads([("x.ttl", text.encode())])
    return read(source, format="nif", options=ReadOptions(type=options.get("type")))


def test_contexts_are_documents_with_typed_and_linked_spans() -> None:
    reading = read_text(NIF)
    assert (reading.documents.ids, reading.documents.texts) == (("http://example.org/d1",), ("Ann 😀 left Rome.",))
    assert span_texts(reading.layer) == [
        ("http://example.org/d1", "Ann", "Person"),
        ("http://example.org/d1", "Rome", "entity"),
    ]
    assert dict(reading.layer.links) == {1: ("http://dbpedia.org/resource/Rome",)}
    assert dict(reading.layer.scores) == {1: 0.75}
    assert reading.notes == (
        "words, sentences and other parts of texts, not read: 1",
        "offsets in code points, end exclusive: 2 of 2 quotes match",
    )
    assert list(reading.places) == [("x.ttl", 6)]
    assert read_text(NIF, type="name").layer.types == ("Person", "name")


def test_triples_of_each_line_are_read_alike() -> None:
    """N-Triples have whole addresses, and each value's type."""
    found = triples(NIF, "x")
    lines = [
        f"<{subject}> <{predicate}> "
        + (f"<{object}>" if "://" in object else f'"{object}"^^<http://www.w3.org/2001/XMLSchema#string>')
        + " ."
        for subject, predicate, object, _ in found
    ]
    reading = read_text("\n".join(lines))
    assert span_texts(reading.layer) == span_texts(read_text(NIF).layer)


TURTLE = '''@prefix a: <http://x#> .
@base <http://b/> .
PREFIX q: <y>
<s> a a:T, a:U ; a:p "x\\n\\u00e9"@en , """l"o
ng"""^^a:s, 5 , -1.5 , true; # a comment
  a:q [ a:r <z> ; a:b (1 2 a:c) ] .
_:n a:p q:w.e.
'''


def test_turtle_is_read() -> None:
    assert list(triples(TURTLE, "x")) == [
        ("http://b/s", TYPE, "http://x#T", 4),
        ("http://b/s", TYPE, "http://x#U", 4),
        ("http://b/s", "http://x#p", "x\né", 4),
        ("http://b/s", "http://x#p", 'l"o\nng', 4),
        ("http://b/s", "http://x#p", "5", 5),
        ("http://b/s", "http://x#p", "-1.5", 5),
        ("http://b/s", "http://x#p", "true", 5),
        ("http://b/s", "http://x#q", "_:b1", 6),
        ("_:b1", "http://x#r", "http://b/z", 6),
        ("_:b1", "http://x#b", "_:b2", 6),
        ("_:n", "http://x#p", "http://b/yw.e", 7),
    ]


REFUSED = [
    # (what is changed, what is said)
    (('"Ann" ;', '"Ann" '), "x.ttl:13: 'nif:beginIndex' where none can stand; end statements by"),
    ((" ;\n    itsrdf:taClassRef", "\n    itsrdf:taClassRef"), "x.ttl:15: 'itsrdf:taClassRef' where none can stand"),
    (('"Rome" ;', '"Rome" "x" ;'), "x.ttl:19: the value 'x' where none can stand"),
    (("a nif:Word ;\n", "a other:Word ;\n"), "x.ttl:18: 'other:Word' is of no prefix that is declared; declare it"),
    (('"0"^^xsd:int', '"x"^^xsd:int'), "x.ttl:12: it begins at 'x' and ends at '3'; write nif:beginIndex and nif:end"),
    (("nif:isString", "nif:isStrung"), "x.ttl:12: a string in the context 'http://example.org/d1#char=0,16', which"),
    (("nif:endIndex 15", "nif:endIndex 99"), "x.ttl:18: "),
    (('anchorOf "Rome"', 'anchorOf "Bern"'), "x.ttl"),
    (("nif:endIndex 10 .", "nif:endIndex 10"), "x.ttl:24: it is cut off; give the whole file"),
    (("@prefix nif:", "@prefix 5:"), "x.ttl:1: '@prefix 5: <http"),
    (
        (" .\n\n<http://example.org/d1#char=11", " ] .\n\n<http://example.org/d1#char=11"),
        "x.ttl:15: ']' closes nothing",
    ),
]


@pytest.mark.parametrize(("change", "said"), REFUSED)
def test_refuses_with_the_line(change: tuple[str, str], said: str) -> None:
    assert change[0] in NIF
    with pytest.raises(FormatError) as caught:
        read_text(NIF.replace(*change))
    assert any(str(problem).startswith(said) for problem in caught.value.problems), caught.value.problems


HARD = [
    "[" * 65_536,
    '"' * 65_536,
    '"' + '\\"' * 30_000,
    "a." * 30_000,
    ":" * 65_536,
    '"""' + '""\\' * 20_000,
    "<" * 65_536,
]


@pytest.mark.parametrize("text", HARD, ids=[text[:6] for text in HARD])
def test_what_is_hard_to_tell_ends(text: str) -> None:
    """In a way that tries each piece more than once, this would take minutes."""
    with suppress(FormatError):
        assert not list(triples(text, "x"))


def test_xml_and_json_of_rdf_are_not_claimed() -> None:
    for text in ('<?xml version="1.0"?><rdf:RDF xmlns:nif="', '{"@context": {"nif": "'):
        raw = f"{text}http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#".encode()
        assert readers()["nif"].recognise(Source.of_uploads([("x.ttl", raw)])) == 0
