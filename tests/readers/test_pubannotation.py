"""JSON of PubAnnotation: documents in three ways, discontinuous spans, attributes, and lines of problems."""

from __future__ import annotations

import json
from typing import Any

import pytest

from nereval_core.problems import FormatError
from nereval_core.readers import Reading, Source, read
from tests.support.samples import PUBANNOTATION

DOCUMENT: dict[str, Any] = json.loads(PUBANNOTATION)


def documents(text: str) -> Reading:
    return read(Source.of_uploads([("x.json", text.encode())]))


def test_a_document_a_list_and_lines_are_read_alike() -> None:
    other = {"sourcedb": "PubMed", "sourceid": "2", "divid": 1, "text": "none"}
    for text in (json.dumps([DOCUMENT, other], indent=1), f"{json.dumps(DOCUMENT)}\n{json.dumps(other)}\n"):
        found = documents(text)
        assert (found.format, found.documents.ids) == ("pubannotation", ("25314077", "2-1"))
        assert found.documents.meta == ({"sourcedb": "PubMed", "project": "example"}, {"sourcedb": "PubMed"})
        assert [found.layer.text(span) for span in range(3)] == ["ES cells", "😀 cells", "cells"]
        assert found.layer.fragments == {0: ((0, 2), (5, 10))}
        assert found.layer.ids == {0: "T1", 1: "T2"}
        assert found.layer.meta == {1: {"negated": True, "by": ["A", "B"]}}
        assert found.notes[:2] == ("attributes of others than denotations, not read: 1", "relations, not read: 1")
    assert documents(PUBANNOTATION).documents.ids == ("25314077",)
    assert documents(json.dumps(other)).format == "pubannotation"


def row(**more: Any) -> dict[str, Any]:
    return {"text": "abc", "denotations": [{"id": "T1", "span": {"begin": 0, "end": 1}, "obj": "X"}], **more}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([], "a list where a document should be; write an object with text and denotations"),
        ({"denotations": []}, "no text; write an object"),
        (row(denotations={}), "denotations is an object; write a list"),
        (row(denotations=[3]), "denotations[0] is an integer; write {"),
        (row(denotations=[{"span": [], "obj": "X"}]), "denotations[0].span has no parts"),
        (
            row(denotations=[{"span": {"begin": 0, "end": "1"}, "obj": "X"}]),
            "denotations[0].span.end is a string; write {",
        ),
        (row(denotations=[{"span": {"begin": 0, "end": 1}, "obj": 3}]), "denotations[0].obj is an integer"),
        (row(denotations=[{"span": {"begin": 0, "end": 1}, "obj": "_FRAGMENT"}]), "denotations[0] is a part of a cha"),
        (row(denotations=[{"span": {"begin": 2, "end": 4}, "obj": "X"}]), "2 to 4 is not a place in the text of 3 ch"),
        (row(denotations=row()["denotations"] * 2), "two denotations of one id; give each its own"),
        (row(attributes=[{"subj": "T1", "pred": "x"}]), "attributes[0] has no obj; write {"),
        (row(attributes=[{"subj": "T7", "pred": "x", "obj": 1}]), "attributes[0] is of 'T7', which no denotation is"),
        (row(tracks=[]), "tracks, the annotations of several projects; download those of one project"),
    ],
)
def test_problems_have_lines(given: Any, said: str) -> None:
    with pytest.raises(FormatError) as error:
        documents(f"{json.dumps(row())}\n{json.dumps(given)}\n")
    [problem] = error.value.problems
    assert str(problem).startswith(f"x.json:2: {said}"), problem
