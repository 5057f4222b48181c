"""TEI with spans apart from its text: what they point at, what the text is, groups as layers, and what is refused."""

from __future__ import annotations

import re

import pytest

from nereval_core.problems import FormatError
from nereval_core.readers import Reading, ReadOptions, Source, layers, read
from tests.support.readings import span_texts
from tests.support.samples import TEI_STANDOFF


def source(content: str, name: str = "x.xml") -> Source:
    return Source.of_uploads([(name, content.encode())])


def read_text(content: str, layer: str | None = None) -> Reading:
    return read(source(content), options=ReadOptions(layer=layer))


def test_spans_are_at_the_elements_that_they_name() -> None:
    reading = read_text(TEI_STANDOFF)
    assert (reading.format, reading.documents.ids) == ("tei", ("letter",))
    assert reading.documents.texts == ("Ann 😀 Lee left Rome.\nBye, Bob!",)
    assert span_texts(reading.layer) == [
        ("letter", "Ann 😀 Lee", "PER"),
        ("letter", "Ann Rome", "ODD"),
        ("letter", "Rome", "PLACE"),
        ("letter", "Bob", "PER"),
    ]
    odd = reading.layer.types.index("ODD")
    assert dict(reading.layer.fragments) == {reading.layer.type.tolist().index(odd): ((0, 3), (15, 19))}
    assert reading.layer.ids == {0: "s1"}


def test_words_without_white_space_between_have_a_blank() -> None:
    words = re.sub(r"(</(?:w|pc)>)\s+(?=<(?:w|pc))", r"\1", TEI_STANDOFF)
    assert read_text(words).documents.texts[0].startswith("Ann 😀 Lee left Rome")
    # Where some words have white space between, the others are one.
    glued = TEI_STANDOFF.replace('</w> <w xml:id="w4"', '</w><w xml:id="w4"')
    assert read_text(glued).documents.texts[0].startswith("Ann 😀 Lee leftRome.")


def test_groups_of_several_types_are_layers_and_documents_have_names() -> None:
    more = TEI_STANDOFF.replace(
        "</standOff>", '<spanGrp type="auto"><span target="#w4" ana="#LOC"/></spanGrp></standOff>'
    )
    assert layers(source(more)) == ("names", "auto")
    assert span_texts(read_text(more, "auto").layer) == [("letter", "Rome", "LOC")]
    with pytest.raises(FormatError, match="2 layers"):
        read_text(more)
    second = TEI_STANDOFF.partition("?>")[2].replace(' xml:id="letter"', "")
    corpus = f"<teiCorpus>{second}{second}</teiCorpus>"
    assert read(source(corpus, "c.xml")).documents.ids == ("c", "c/2")


def test_spans_behind_a_long_text_are_recognised() -> None:
    long = TEI_STANDOFF.replace("Bye, ", "Bye, " + "and so on " * 10_000)
    assert read_text(long).format == "tei"


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (("#w1 #w4", "#w1 #w9"), "a span at 'w9', which is no element with words in the text"),
        (('from="#w4"', 'from="#title"'), "a span at 'title', which is no element"),
        (("</standOff>", ""), "not XML: mismatched tag"),
    ],
)
def test_refuses_with_the_line(change: tuple[str, str], found: str) -> None:
    with pytest.raises(FormatError) as caught:
        read_text(TEI_STANDOFF.replace(*change))
    problem = caught.value.problems[0]
    assert found in problem.found and problem.line is not None and problem.line > 6
