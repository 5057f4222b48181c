"""PubTator: titles and abstracts, concepts, every line accounted for, and writing reads back."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nereval_core.corpus import Layer
from nereval_core.corpus.builder import Builder
from nereval_core.problems import FormatError
from nereval_core.readers import Reading, Source, read
from nereval_core.writers import write
from tests.support.draws import draws
from tests.support.layer_strategies import content, texts, words
from tests.support.samples import PUBTATOR
from tests.support.shared_corpora import defect


def read_text(text: str) -> Reading:
    return read(Source.of_uploads([("x.pubtator", text.encode())]), format="pubtator")


def rows(layer: Layer) -> list[tuple[str, str, str, tuple[str, ...]]]:
    ids = layer.documents.ids
    return [
        (ids[int(layer.doc[span])], layer.text(span), layer.label(span), layer.links.get(span, ()))
        for span in range(len(layer))
    ]


def test_titles_and_abstracts_are_one_text_and_concepts_links() -> None:
    reading = read_text(PUBTATOR)
    assert reading.documents.texts == ("Ovarian and breast cancer\nNaloxone, 5 µg, and BRAF V600E.", "Nothing")
    assert rows(reading.layer) == [
        ("1", "Ovarian and breast cancer", "Disease", ("D010051|D001943",)),
        ("1", "Naloxone", "Chemical", ("D009270",)),
        ("1", "BRAF", "Gene", ("673|674",)),
        ("1", "V600E", "Mutation", ("tmVar:p|SUB|V|600|E;RS#:113488022",)),
        ("2", "Nothing", "Disease", ("NIL",)),
    ]
    assert reading.notes == (
        "further fields of spans, not read: 1",
        "relations, not read: 1",
        "offsets in code points, end exclusive: 5 of 5 quotes match",
    )
    assert reading.places == (("x.pubtator", 1), ("x.pubtator", 9))


TAKEN = [
    # (what, text, (mention, links))
    ("no abstract", "1|t|ab\n1\t0\t1\ta\tA\t\n", ("a", ())),
    ("no concepts", "1|t|ab\n1|a|cd\n1\t3\t4\tc\tA\n", ("c", ())),
    ("a dash for none", "1|t|ab\n1|a|\n1\t0\t1\ta\tA\t-\n", ("a", ())),
    ("CR LF and blank lines", "\r\n1|t|ab\r\n1|a|cd\r\n\r\n1\t3\t5\tcd\tA\tQ1\r\n\r\n", ("cd", ("Q1",))),
    ("bars in the title", "1|t|a|t|b\n1\t4\t5\tb\tA\tQ1\n", ("b", ("Q1",))),
    ("a mention over both", "1|t|ab\n1|a|cd\n1\t1\t4\tb c\tA\tQ1\n", ("b\nc", ("Q1",))),
    ("UTF-8 bytes", "1|t|ä b\n1\t3\t4\tb\tA\tQ1\n", ("b", ("Q1",))),
    ("end inclusive", "1|t|ab cd\n1\t3\t4\tcd\tA\tQ1\n", ("cd", ("Q1",))),
]


@pytest.mark.parametrize(("text", "expected"), [row[1:] for row in TAKEN], ids=[row[0] for row in TAKEN])
def test_takes(text: str, expected: tuple[str, tuple[str, ...]]) -> None:
    [(_, mention, label, links)] = rows(read_text(text).layer)
    assert ((mention, links), label) == (expected, "A")


@pytest.mark.parametrize("between", ";,")
def test_discontinuous_spans_are_read_where_they_are_marked(between: str) -> None:
    row = f"1\t0{between}14\t5{between}21\trenal failure\tDisease\tD058186\n"
    reading = read_text("1|t|renal failing failure\n" + row)
    assert rows(reading.layer) == [("1", "renal failure", "Disease", ("D058186",))]
    assert dict(reading.layer.fragments) == {0: ((0, 5), (14, 21))}
    reading = read_text("1|t|renal failing failure\n" + row.replace("renal failure", "renal failure "))
    assert rows(reading.layer) == [("1", "renal failure", "Disease", ("D058186",))]
    assert reading.notes == ("quotes in several fragments that match but for blanks at an edge: 1",)


def test_blanks_behind_one_mention_refuse_no_file() -> None:
    reading = read_text(PUBTATOR.replace("Naloxone\t", "Naloxone  \t"))
    assert [row[1] for row in rows(reading.layer)][:2] == ["Ovarian and breast cancer", "Naloxone"]
    assert reading.notes[-1] == (
        "offsets in code points, end exclusive: 5 of 5 quotes match, 1 of them but for blanks at an edge"
    )


REFUSED = [
    # (lines after a title and an abstract, line, said)
    ("1\t0\t1\ta", 3, "'1\\t0\\t1\\ta' is not a span; write id, start, end, mention, type and concepts with tabs"),
    ("1\t0\t1x\ta\tA\tQ1", 3, "is not a span"),
    ("1\t1x\t1\ta\tA\tQ1", 3, "is not a span"),
    ("1\t0;3\t1\ta c\tA\tQ1", 3, "is not a span"),
    ("1\t0;\t1;4\ta c\tA\tQ1", 3, "is not a span"),
    ("1\t0;3\t1;4\ta b\tA\tQ1", 3, "'a b'"),
    ("1\t3;0\t4;1\tc a\tA\tQ1", 3, "3 to 1 is not a place"),
    ("1\t0;0\t1;1\ta a\tA\tQ1", 3, "fragments [[0, 1], [0, 1]]"),
    ("1 0 1 a A Q1", 3, "a line of '1 0 1 a A Q1', and the document is '1'"),
    ("2\t0\t1\ta\tA\tQ1", 3, "a line of '2', and the document is '1'; write ID|t|title, ID|a|abstract, then the lines"),
    ("2|a|x", 3, "a line of '2', and the document is '1'"),
    ("1|a|x", 3, "a second abstract, or one below spans; write one abstract, after the title"),
    ("1|b|x", 3, "a line of '1|b|x', and the document is '1'"),
    ("1|t|x", 3, "document id '1' stands at x.pubtator:1 already"),
    ("1\t0\t1\ta\t\tQ1", 3, "a span without a usable type"),
    ("\n1\tCID\tQ1", 4, "is not a span"),
    ("1\tO\t1\ta\tA\tQ1", 3, "is not a span"),
    ("1\tO\t1\tp53\tA", 3, "is not a span"),
    ("1\tabc\t1\tab", 3, "is not a span"),
    ("1\tabc\tD1\tD 2", 3, "is not a span"),
    ("1\tabc\tD1\tD2\tDisease", 3, "is not a span"),
]


@pytest.mark.parametrize(("lines", "line", "said"), REFUSED, ids=[row[0] for row in REFUSED])
def test_refuses_with_the_line(lines: str, line: int, said: str) -> None:
    with pytest.raises(FormatError) as caught:
        read_text(f"1|t|ab\n1|a|cd\n{lines}\n")
    [problem] = caught.value.problems
    assert str(problem).startswith(f"x.pubtator:{line}: ")
    assert said in str(problem)


@pytest.mark.parametrize(("name", "line"), [("letterO", 3), ("letters", 4)])
def test_a_span_that_begins_with_letters_is_no_relation(name: str, line: int) -> None:
    path = defect(f"pubtator_{name}.txt")
    with pytest.raises(FormatError, match=rf"{path.name}:{line}: .* is not a span") as caught:
        read(path)
    assert len(caught.value.problems) == 1


RELATIONS = [
    "CID\tD003000\tD008750",
    "Positive_Correlation\t1636\trs4646994\tNovel",
    "Association\tc|SUB|A|5|G\tD001|D002\tNo",
    "Association\tDisease|MESH:D001\tGene|673\t",
]


@pytest.mark.parametrize("relation", RELATIONS)
def test_relations_are_counted(relation: str) -> None:
    assert read_text(f"1|t|ab\n1\t{relation}\n").notes == ("relations, not read: 1",)


def test_mentions_that_are_not_there_are_refused_with_their_line() -> None:
    with pytest.raises(FormatError) as caught:
        read_text("1|t|ab\n1\t0\t1\ta\tA\n1\t1\t2\tc\tA\n1\t7\t9\tc\tA\n")
    assert caught.value.lines()[1:] == [
        "x.pubtator:3: 'c' at 1 to 2, where the text has 'b'; mend the offsets or the quote",
        "x.pubtator:4: 'c' at 7 to 9, which is not a place in the text; mend the offsets or the quote",
    ]
    with pytest.raises(FormatError, match=r"^x\.pubtator:1: a line of '1', and no title before it"):
        read_text("1|a|ab\n")


@st.composite
def documents(draw: st.DrawFn) -> Layer:
    """Draw documents of a line or two, with spans that may have links."""
    builder = Builder("drawn")
    line = texts().map(lambda text: text.replace("\n", " ").replace("\r", " "))
    for name in draw(st.lists(words(), min_size=1, max_size=3, unique=True)):
        text = draw(st.just("\n").flatmap(lambda end: st.tuples(line, line).map(lambda two: end.join(two))) | line)
        text = text.rstrip("\n")
        builder.document(name, text)
        for _ in range(draw(st.integers(0, 3)) if text else 0):
            start = draw(st.integers(0, len(text) - 1))
            end = draw(st.integers(start + 1, len(text)))
            parts = draw(st.lists(words() | st.just("NIL"), max_size=2))
            link = "|".join(part for part in parts if part != "-")
            builder.span(start, end, draw(words()), links=(link,) if link else ())
    return builder.finish("drawn")


@draws(20)
@given(documents())
def test_writing_reads_back(layer: Layer) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "out.pubtator"
        assert write(layer, path, format="pubtator") == ()
        reading = read(path)
    assert reading.format == "pubtator"
    found, expected = content(reading.layer), content(layer)
    assert found == expected


def test_what_is_written(tmp_path: Path) -> None:
    layer = read_text(PUBTATOR.replace("tmVar:p|SUB|V|600|E;RS#:113488022", "rs113488022")).layer
    assert write(layer, tmp_path / "x", format="pubtator") == ()
    written = (tmp_path / "x").read_text()
    assert written.splitlines()[:3] == PUBTATOR.replace("\tOvarian cancer|breast cancer", "").splitlines()[:3]
    assert written.endswith("2|t|Nothing\n2|a|\n2\t0\t7\tNothing\tDisease\t-1\n\n")


def test_of_a_ranking_the_first_concept_is_written(tmp_path: Path) -> None:
    builder = Builder("x")
    builder.document("d", "ab")
    builder.span(0, 1, "A", links=("Q1|NIL", "Q2"))
    notes = write(builder.finish("x"), tmp_path / "x", format="pubtator", lossy=True)
    assert notes == ("pubtator has no place for them, left out: more than one link of 1 span",)
    assert (tmp_path / "x").read_text().splitlines()[2] == "d\t0\t1\ta\tA\tQ1|-1"


UNWRITABLE = [
    ("a|b", "text", "A", "Q1", "the document id 'a|b' cannot stand before a bar; rename it, or write jsonl"),
    ("a\tb", "text", "A", "Q1", "the document id 'a\\tb' cannot stand before a bar"),
    ("d", "a\nb\nc", "A", "Q1", "the text of document 'd' is not a line or two; cut it, or write jsonl"),
    ("d", "ab\n", "A", "Q1", "the text of document 'd' is not a line or two"),
    ("d", "a\r\nb", "A", "Q1", "the text of document 'd' is not a line or two"),
    ("d", "text", "A\tB", "Q1", "the type 'A\\tB' has a tab or a line end"),
    ("d", "text", "A", "Q1;Q2", "the link 'Q1;Q2' cannot stand among concepts"),
    ("d", "text", "A", "-1", "the link '-1' cannot stand among concepts"),
]


@pytest.mark.parametrize(("name", "text", "label", "link", "said"), UNWRITABLE, ids=[row[-1] for row in UNWRITABLE])
def test_what_lines_cannot_hold_is_refused(
    name: str, text: str, label: str, link: str, said: str, tmp_path: Path
) -> None:
    builder = Builder("x")
    builder.document(name, text)
    builder.span(0, 1, label, links=(link,))
    with pytest.raises(FormatError) as caught:
        write(builder.finish("x"), tmp_path / "x", format="pubtator")
    assert said in str(caught.value)
    assert not (tmp_path / "x").exists()


def test_spans_beside_a_composite_one_are_read_as_without_it() -> None:
    """Rows of a document are read together, or one by one where a mention has several pieces."""
    plain = "1|t|breast and ovarian cancer\n1\t0\t6\tbreast\tA\tQ1|Q2\n1\t11\t18\tovarian\tB\n"
    both = plain + "1\t0;19\t6;25\tbreast cancer\tC\tQ3\n"
    one, several = read_text(plain).layer, read_text(both).layer
    assert len(several) == 3 and len(several.fragments) == 1
    assert [row for row in rows(several) if row[2] != "C"] == rows(one)
