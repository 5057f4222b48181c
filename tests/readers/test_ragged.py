"""CoNLL-2012 and AIDA: documents, parts and sentences, names in brackets, links, and what is refused."""

from __future__ import annotations

import pytest

from nereval_core.problems import FormatError
from nereval_core.readers import Reading, ReadOptions, Source, read
from tests.support.readings import span_texts
from tests.support.samples import AIDA, CONLL2012


def read_text(text: str, *, column: int | str | None = None, type: str | None = None) -> Reading:
    source = Source.of_uploads([("x.conll", text.encode())])
    return read(source, options=ReadOptions(column=column, type=type))


def test_parts_of_conll_2012_are_documents() -> None:
    reading = read_text(CONLL2012)
    assert (reading.format, reading.documents.ids) == ("ragged", ("nw/x/00/x_0001", "nw/x/00/x_0001 part 001"))
    assert reading.documents.texts == ("Ann Lee left Rome\nNobody", "Bob")
    assert [row[1:] for row in span_texts(reading.layer)] == [("Ann Lee", "PERSON"), ("Rome", "GPE"), ("Bob", "PERSON")]
    assert reading.documents.tokens is not None and len(reading.documents.tokens.of_document(0)) == 5
    assert reading.documents.sentences is not None and reading.documents.sentences.of_document(0) == [(0, 17), (18, 24)]
    assert list(reading.places) == [("x.conll", 1), ("x.conll", 10)]


def test_names_may_be_nested_stand_in_another_column_or_be_left_out() -> None:
    text = CONLL2012.replace("(GPE) *", "(ORG(GPE)) *").replace("* (V*)", "- (V*)")
    assert [row[2] for row in span_texts(read_text(text).layer)] == ["PERSON", "GPE", "ORG", "PERSON"]
    with_tabs = "\n".join("\t".join(line.split()) if line[:2] == "nw" else line for line in CONLL2012.split("\n"))
    assert span_texts(read_text(with_tabs).layer) == span_texts(read_text(CONLL2012).layer)
    arguments = read_text(CONLL2012.split("\n\n")[0], column=12)
    assert [row[1:] for row in span_texts(arguments.layer)] == [("Ann Lee", "ARG0"), ("left", "V")]


def test_mentions_of_aida_have_links() -> None:
    reading = read_text(AIDA)
    assert (reading.documents.ids, reading.documents.texts) == (("1 EU", "2 Rare"), ("EU rejects New York .", "Nobody"))
    assert span_texts(reading.layer) == [("1 EU", "EU", "entity"), ("1 EU", "New York", "entity")]
    assert dict(reading.layer.links) == {0: ("NIL",), 1: ("New_York",)}
    assert reading.layer.types == ("entity",) and read_text(AIDA, type="name").layer.types == ("name",)
    # As neleval's examples have it, the entity of a mention may be missing.
    without = read_text("-DOCSTART- (doc1)\nThe\tB\tThe Cat\nCat\tI\tThe Cat\nin\nParis\tB\tParis\tParis\n")
    assert (without.format, dict(without.layer.links)) == ("ragged", {0: ("NIL",), 1: ("Paris",)})
    assert read_text(AIDA.replace("B\tEU\t", "B\tUE\t")).notes == ("mentions that their words do not spell: 1",)


REFUSED = [
    # (the text, what is changed, what is said)
    (CONLL2012, ("(PERSON* (ARG0*", "PERSON (ARG0*"), "x.conll:2: 'PERSON' is not a name in brackets; write (TYPE*, *"),
    (CONLL2012, ("*) *) (0)", "* *) (0)"), "x.conll:2: a name 'PERSON' is not closed in its sentence; close it: *)"),
    (CONLL2012, ("* (V*)", "*) (V*)"), "x.conll:4: '*)' closes a name that is not open; open it: (TYPE*"),
    (CONLL2012, (" 3 Rome NNP (NP*))) - - - - (GPE) * -", " 3 Rome"), "x.conll:5: 4 cells, so no name in column 11"),
    (CONLL2012, ("#end document\n#begin document (nw/x/00/x_0001); part 001", "#end document"), "x.conll:10: 'nw/x/00"),
    (AIDA, ("rejects", "rejects\tI\tx\ty"), None),
    (AIDA, ("rejects", "rejects\tX"), "x.conll:3: 'X' in the second of 2 cells; write B or I, the mention"),
    (AIDA, ("New\tB", "New\tB\n\nNew\tI"), "x.conll:4: 'B' in the second of 2 cells"),
    (AIDA, (".\n\n", ".\nEU\tI\tEU\tEU\n"), "x.conll:7: I without B before it; begin each mention by B"),
    (AIDA, ("(2 Rare)", "(1 EU)"), "x.conll:8: document id '1 EU' stands at x.conll:1 already"),
]


@pytest.mark.parametrize(("text", "change", "said"), REFUSED)
def test_refuses_with_the_line(text: str, change: tuple[str, str], said: str | None) -> None:
    if said is None:
        assert len(read_text(text.replace(*change)).layer) == 2
        return
    with pytest.raises(FormatError) as caught:
        read_text(text.replace(*change))
    assert str(caught.value.problems[0]).startswith(said), caught.value.problems


def test_a_column_is_a_number() -> None:
    with pytest.raises(FormatError, match=r"x\.conll:1: a column 'ner'; give its number, from 1: --column 11"):
        read_text(CONLL2012, column="ner")
