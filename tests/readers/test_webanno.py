"""WebAnno TSV 3: layers and annotators, stacks and numbers, escapes, offsets held against tokens, what is refused."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nereval_core.corpus import Layer
from nereval_core.problems import FormatError
from nereval_core.readers import Reading, ReadOptions, Source, read
from nereval_core.readers import layers as layers_of
from nereval_core.readers.shared.offset_units import Offsets
from tests.support.draws import draws
from tests.support.samples import WEBANNO
from tests.support.shared_corpora import defect

Spans = list[tuple[str, str, tuple[str, ...]]]


def source(given: str | Mapping[str, str]) -> Source:
    files = {"x.tsv": given} if isinstance(given, str) else given
    return Source.of_uploads([(name, text.encode()) for name, text in files.items()])


def read_text(given: str | Mapping[str, str], **options: object) -> Reading:
    return read(source(given), format="webanno", options=ReadOptions(**options))  # type: ignore[arg-type]


def spans(layer: Layer) -> Spans:
    return [(layer.text(span), layer.label(span), layer.links.get(span, ())) for span in range(len(layer))]


def file(*sentences: str, layers: str = "#T_SP=custom.Span|value\n", version: str = "3.3") -> str:
    """Return a file of sentences, each the text and the rows below it."""
    return f"#FORMAT=WebAnno TSV {version}\n{layers}\n\n" + "\n".join(f"#Text={sentence}" for sentence in sentences)


def test_named_entities_are_read_with_their_links() -> None:
    reading = read_text(WEBANNO)
    assert reading.documents.texts == ("Ann Lee 😀 left New\nYork. \nShe did.",)
    assert spans(reading.layer) == [
        ("Ann", "GIVEN", ()),
        ("Ann Lee", "PER", ("http://example.org/Q1",)),
        ("New\nYork", "LOC", ()),
        ("Yo", "NamedEntity", ()),
    ]
    assert reading.notes == (
        "spans of the layer NamedEntity, types from its feature value, links from identifier",
        "annotations of no character, left out: 1",
        "annotations without a value, called 'NamedEntity': 1",
        "other layers, not read: POS, CoreferenceLink, Relation",
        "offsets in UTF-16 units, end exclusive: 11 of 11 quotes match",
    )
    documents = reading.documents
    assert (documents.ids, documents.tokens and documents.tokens.of_document(0)[2]) == (("x",), (8, 9))
    assert documents.sentences is not None
    assert [documents.texts[0][start:end] for start, end in documents.sentences.of_document(0)] == [
        "Ann Lee 😀 left New\nYork. ",
        "She did.",
    ]


ROWS = "1-1\t0-1\ta\t{}\t\n1-2\t2-3\tb\t{}\t\n1-3\t4-5\tc\t{}\t\n"

TAKEN = [
    # (what, cells of the tokens a, b and c, spans)
    ("one row each", "A B C", [("a", "A"), ("b", "B"), ("c", "C")]),
    ("alike and apart", "A A _", [("a", "A"), ("b", "A")]),
    ("joined", "A[1] A[1] _", [("a b", "A")]),
    ("stacked", "A[1]|B[2] A[1] B[3]", [("a b", "A"), ("a", "B"), ("c", "B")]),
    ("stacked without numbers", "A|A _ _", [("a", "A"), ("a", "A")]),
    ("crossing", "A[1] A[1]|A[2] A[2]", [("a b", "A"), ("b c", "A")]),
    ("without a value", "*[1] *[1] *", [("a b", "Span"), ("c", "Span")]),
    ("what would be nothing", r"\_ \* _", [("a", "_"), ("b", "*")]),
    ("what would be a number", r"A\[1\] A\[1\][7] _", [("a", "A[1]"), ("b", "A[1]")]),
    ("what would be a stack", r"A\|B\->C\;D _ _", [("a", "A|B->C;D")]),
    ("a backslash before a bar", "A\\\\|B _ _", [("a", "A\\"), ("a", "B")]),
    ("a backslash before a bracket", "A\\\\[1] A\\\\[1] _", [("a b", "A\\")]),
    ("a tab and a line end", r"A\tB\nC _ _", [("a", "A\tB\nC")]),
    ("brackets that are not a number", "A[b] [1 A]", [("a", "A[b]"), ("b", "[1"), ("c", "A]")]),
    ("a lone backslash", "A\\ _ _", [("a", "A\\")]),
    ("an empty cell", " _ _", [("a", "Span")]),
]


@pytest.mark.parametrize(("cells", "expected"), [row[1:] for row in TAKEN], ids=[row[0] for row in TAKEN])
def test_takes(cells: str, expected: list[tuple[str, str]]) -> None:
    found = read_text(file("a b c\n" + ROWS.format(*cells.split(" ")))).layer
    assert sorted(row[:2] for row in spans(found)) == sorted(expected)


def test_an_annotation_that_passes_over_a_token_takes_it_in() -> None:
    reading = read_text(file("a b c\n" + ROWS.format("A[1]", "_", "A[1]")))
    assert spans(reading.layer) == [("a b c", "A", ())]
    assert "times an annotation passes over tokens, which are taken with it: 1" in reading.notes


def test_parts_of_tokens_join_tokens_and_parts() -> None:
    """The rows are those of INCEpTION for annotations that begin or end within a token."""
    rows = "1-1\t0-3\tabc\t_\t\n1-1.1\t1-3\tbc\tA[1]|B[2]\t\n1-2\t4-6\tde\tA[1]\t\n"
    rows += "1-2.1\t4-5\td\tB[2]\t\n1-2.2\t6-6\t\tC\t\n"
    assert spans(read_text(file("abc de\n" + rows)).layer) == [("bc d", "B", ()), ("bc de", "A", ())]


@pytest.mark.parametrize(
    ("version", "written", "text"),
    [
        ("3.1", r"a\u00e9\u0022\\ \"\t\n\uD83D\uDE00\101b", 'aé"\\ "\t\n😀Ab'),
        ("3.2", r"a\\n\t\r\f\b\n\u00e9b", "a\\n\t\r\f\b\n\\u00e9b"),
        ("3.3", "a\\\x01\\\\tb", "a\x01\\tb"),
    ],
)
def test_texts_are_escaped_as_each_version_does(version: str, written: str, text: str) -> None:
    size = len(text.encode("utf-16-le")) // 2
    reading = read_text(file(f"{written}\n1-1\t0-1\ta\tA\t\n1-2\t{size - 1}-{size}\tb\tB\t\n", version=version))
    assert (reading.documents.texts, spans(reading.layer)) == ((text,), [("a", "A", ()), ("b", "B", ())])


GAPS = [
    # (offsets of the sentences' first tokens, text)
    ((0, 1), "ab"),
    ((0, 2), "a\nb"),
    ((0, 4), "a\n  b"),
    ((2, 4), "  a\nb"),
]


@pytest.mark.parametrize(("begins", "text"), GAPS)
def test_sentences_stand_where_their_tokens_say(begins: tuple[int, int], text: str) -> None:
    one, two = begins
    reading = read_text(file(f"a\n1-1\t{one}-{one + 1}\ta\tA\t\n", f"b\n2-1\t{two}-{two + 1}\tb\t_\t\n"))
    assert (reading.documents.texts, spans(reading.layer)) == ((text,), [("a", "A", ())])


def test_the_tokens_tell_code_points_from_utf16_units() -> None:
    for step, unit in ((2, "UTF-16 units"), (1, "code points")):
        rows = f"1-1\t0-{step}\t😀\t_\t\n1-2\t{step + 1}-{step + 4}\tBob\tPER\t\n"
        reading = read_text(file(f"😀 Bob\n{rows}", f"Eve\n2-1\t{step + 5}-{step + 8}\tEve\tPER\t\n"))
        assert (spans(reading.layer), reading.documents.texts) == (
            [("Bob", "PER", ()), ("Eve", "PER", ())],
            ("😀 Bob\nEve",),
        )
        assert reading.notes[-1] == f"offsets in {unit}, end exclusive: 3 of 3 quotes match"
    with pytest.raises(FormatError, match="offsets in UTF-16 units, end exclusive: 1 of 3 match"):
        read_text(file(f"😀 Bob\n{rows}", f"Eve\n2-1\t{step + 5}-{step + 8}\tEve\tPER\t\n"), offsets=Offsets(U16))


U16 = "UTF-16 units"
TWO = "#T_SP=one.Name|kind|sure\n#T_SP=two.Place|\n"
ROW = "a\n1-1\t0-1\ta\tA\tyes\t*\t\n"


def test_of_several_layers_one_is_named() -> None:
    with pytest.raises(FormatError) as caught:
        read_text(file(ROW, layers=TWO))
    [line] = caught.value.lines()
    assert line.startswith("x.tsv: it holds 2 layers, 'Name', 'Place', and one is read at a time; name it after the")
    assert layers_of(source(file(ROW, layers=TWO))) == ("Name", "Place")
    for wanted, label in (("Name", "A"), ("one.Name", "A"), ("Place", "Place")):
        assert spans(read_text(file(ROW, layers=TWO), layer=wanted).layer) == [("a", label, ())]
    for column in ("sure", 2):
        reading = read_text(file(ROW, layers=TWO), layer="Name", column=column)
        assert spans(reading.layer) == [("a", "yes", ())]
    assert reading.notes[:2] == (
        "spans of the layer Name, types from its feature sure",
        "other layers, not read: Place",
    )
    for column in ("x", 3, 0):
        with pytest.raises(
            FormatError, match=rf"^x\.tsv: the layer Name has no feature '{column}'; choose among 'kind', 's"
        ):
            read_text(file(ROW, layers=TWO), layer="Name", column=column)
    with pytest.raises(FormatError, match="no layer 'x'; choose among 'Name', 'Place'"):
        read_text(file(ROW, layers=TWO), layer="x")
    assert (
        layers_of(source(WEBANNO)) == layers_of(source(file(ROW, layers=TWO.replace("two.P", "a.syntax.type.P")))) == ()
    )
    alike = TWO.replace("two.Place", "two.Name")
    assert layers_of(source(file(ROW, layers=alike))) == ("one.Name", "two.Name")


SLOTS = [
    # (features as declared, cells, types by the number of the feature)
    ("ROLE_x:args_role|x.Filler|value|sure", "r\t1-1\tA\tyes", ["A", "yes"]),
    ("value|ROLE_x:args_role|x.Filler|sure", "A\tr\t1-1\tyes", ["A", "yes"]),
    ("value|ROLE_x:a_role|x.Filler|ROLE_x:b_role|x.Filler", "A\tr\t1-1\ts\t1-1", ["A"]),
    ("value|sure", "A\tyes", ["A", "yes"]),
]


@pytest.mark.parametrize(("features", "cells", "types"), SLOTS, ids=[row[0] for row in SLOTS])
def test_slots_and_their_fillers_are_no_features(features: str, cells: str, types: list[str]) -> None:
    text = file(f"a\n1-1\t0-1\ta\t{cells}\t\n", layers=f"#T_SP=custom.Span|{features}\n")
    found = [spans(read_text(text, column=number).layer)[0][1] for number in range(1, len(types) + 1)]
    assert found == types
    with pytest.raises(FormatError, match=f"has no feature '{len(types) + 1}'"):
        read_text(text, column=len(types) + 1)


def test_layers_of_tokens_are_read_where_they_are_named() -> None:
    pos = "#T_SP=de.tudarmstadt.ukp.dkpro.core.api.lexmorph.type.pos.POS|PosValue\n"
    reading = read_text(file("a\n1-1\t0-1\ta\tNN\t\n", layers=pos))
    assert (len(reading.documents), len(reading.layer)) == (1, 0)
    assert reading.notes[0] == "no layer of spans but those of tokens: name one after the path, as FILE#POS"
    assert spans(read_text(file("a\n1-1\t0-1\ta\tNN\t\n", layers=pos), layer="POS").layer) == [("a", "NN", ())]


def test_files_of_a_folder_are_documents_and_may_lack_the_layer() -> None:
    """INCEpTION declares the layers that a document has annotations of."""
    one, two = file("a\n1-1\t0-1\ta\tA\t\n"), file("b\n1-1\t0-1\tb\t\n", layers="")
    reading = read_text({"f/one.tsv": one, "f/two.tsv": two, "f/empty.tsv": file(layers=""), "f/notes.txt": "x"})
    assert reading.documents.ids == ("f/empty", "f/one", "f/two")
    assert reading.documents.texts == ("", "a", "b")
    assert spans(reading.layer) == [("a", "A", ())]
    assert reading.notes[0] == "other files, not read: 1 (f/notes.txt)"


@pytest.mark.parametrize("top", ["", "annotation/", "project/annotation/"])
def test_annotators_of_an_exported_project_are_layers(top: str) -> None:
    """Below each document lies a file of each annotator."""
    files = {
        f"{top}d1.txt/ann.tsv": file("a\n1-1\t0-1\ta\tA\t\n"),
        f"{top}d1.txt/bob.tsv": file("a\n1-1\t0-1\ta\tB\t\n"),
        f"{top}d2.txt/ann.tsv": file("b\n1-1\t0-1\tb\tC\t\n"),
    }
    assert layers_of(source(files)) == ("ann", "bob")
    ann = read_text(files, layer="ann")
    assert (ann.documents.ids, spans(ann.layer)) == (("d1", "d2"), [("a", "A", ()), ("b", "C", ())])
    assert spans(read_text(files, layer="bob/Span").layer) == [("a", "B", ())]
    with pytest.raises(FormatError, match="it holds 2 layers, 'ann', 'bob'"):
        read_text(files)
    assert (
        layers_of(source(files | {f"{top}d1.txt/CURATION_USER.tsv": files[f"{top}d1.txt/ann.tsv"]}))[0]
        == "CURATION_USER"
    )
    two = {
        name: text.replace("#T_SP=custom.Span|value", TWO.strip()).replace("\t\n", "\tx\t*\t\n")
        for name, text in files.items()
    }
    assert layers_of(source(two)) == ("ann/Name", "ann/Place", "bob/Name", "bob/Place")
    assert spans(read_text(two, layer="bob/Place").layer) == [("a", "Place", ())]
    with pytest.raises(FormatError, match="it holds 2 layers, 'bob/Name', 'bob/Place'"):
        read_text(two, layer="bob")
    with pytest.raises(FormatError, match="no layer 'bob/x'; choose among 'bob/Name', 'bob/Place'"):
        read_text(two, layer="bob/x")
    alone = {name: text for name, text in files.items() if "ann" in name.rpartition("/")[2]}
    assert spans(read_text(alone, layer="ann").layer) == spans(read_text(alone).layer) == spans(ann.layer)
    alike = {f"{top}d.txt/ann.tsv": files[f"{top}d1.txt/ann.tsv"], f"{top}d.pdf/ann.tsv": files[f"{top}d2.txt/ann.tsv"]}
    assert read_text(alike).documents.ids == ("d.pdf", "d.txt")


HEAD = "#FORMAT=WebAnno TSV 3.3\n#T_SP=custom.Span|value\n\n\n"
GOOD = "#Text=a b\n1-1\t0-1\ta\tA[1]\t\n1-2\t2-3\tb\tA[1]\t\n"


def test_what_gum_says_of_a_document_is_passed_over() -> None:
    said = HEAD.rstrip("\n") + "\n#Summary1=(human) A paper.\n#Summary2=(model) Papers.\n\n\n"
    assert spans(read_text({"x.tsv": said + GOOD}).layer) == spans(read_text({"x.tsv": HEAD + GOOD}).layer)
    # Later on, such a line may be a text that is written wrong.
    with pytest.raises(FormatError, match="'#Summary1=x' is not a line of a sentence"):
        read_text({"x.tsv": HEAD + GOOD + "\n#Summary1=x\n\n"})


REFUSED = [
    # (file, line, said)
    ("x\n", 1, "'x' as the first line, and 3.1, 3.2, 3.3 are known; export it as WebAnno TSV 3.3"),
    ("#FORMAT=WebAnno TSV 3\n", 1, "version '3', and 3.1, 3.2, 3.3 are known"),
    ("#FORMAT=WebAnno TSV 4.0\n", 1, "version '4.0'"),
    ("#id=1\n#text=a\n1\ta\t_\tNN\tB-PER\tO\t0\tROOT\t_\t_\n", 1, "this is WebAnno TSV 1 or 2, which has no offsets"),
    (" # a.NamedEntity | value\n#id=1\n#text=a\n1-1\ta\tB-PER\t\n", 1, "this is WebAnno TSV 1 or 2"),
    (HEAD.replace("\n\n\n", "\n#T_SP=custom.Span|value\n\n\n"), 3, "a second declaration of the layer 'custom.Span'"),
    (HEAD + "1-1\t0-1\ta\tA\t\n", 5, "a token outside of a sentence; write the sentence's text above it"),
    (HEAD + "#Text=a\n\n" + GOOD, 5, "a sentence without tokens; write its tokens below"),
    (HEAD + "#Text=a\n1-1.1\t0-1\ta\tA\t\n", 6, "a part of a token before any token"),
    (HEAD + GOOD + "#Text=c\n3-1\t4-5\tc\t_\t\n", 8, "'#Text=c' among tokens; part sentences by a blank line"),
    (HEAD + "#Tex=a\n" + GOOD, 5, "'#Tex=a' is not a line of a sentence"),
    (
        HEAD + "#Text=a\n1-1\t0-1\ta\n",
        6,
        "3 columns where the layers declared make 4; write number, offsets, token and 1",
    ),
    (HEAD + "#Text=a\n1-1\t0-1\ta\tA\tB\n", 6, "5 columns where the layers declared make 4"),
    (HEAD + "#Text=a\n1\t0-1\ta\tA\t\n", 6, "'1' and '0-1' for a number and offsets; write 2-1 for the first token"),
    (HEAD + "#Text=a\n1-1\t0:1\ta\tA\t\n", 6, "'1-1' and '0:1' for a number and offsets"),
    (HEAD + "#Text=a\n1-1\t-1-1\ta\tA\t\n", 6, "'1-1' and '-1-1' for a number"),
    (HEAD + "#Text=a\n1-1\t1-0\ta\tA\t\n", 6, "offsets 1-0: the start is behind the end"),
    (
        HEAD + "#Text=ab\n1-1\t0-2\tab\tA\t\n1-2\t1-2\tb\tA\t\n",
        7,
        "a token that begins at 1, and the one before it ends at 2",
    ),
    (
        HEAD + GOOD + "\n#Text=cd\n2-1\t3-4\tc\t_\t\n\n#Text=d\n3-1\t4-5\td\t_\t\n",
        13,
        "a sentence that begins at 4, and the text",
    ),
    (
        HEAD + GOOD + "\n#Text=c\n2-1\t9999999999-9999999999\tc\t_\t\n",
        10,
        "a sentence that begins at 9999999999, and the text",
    ),
    (HEAD + "#Text=ab\n1-1\t0-1\tb\t_\t\n1-2\t1-2\tb\t_\t\n", 6, "'b' at 0 to 1, where the text has 'a'"),
    (HEAD + "#Text=ab\n1-1\t0-1\ta\t_\t\n1-2\t1-9\tb\t_\t\n", 7, "'b' at 1 to 9, which is not a place in the text"),
    (
        HEAD + GOOD.replace("b\tA[1]", "b\tB[1]"),
        7,
        "[1] is 'B' here and 'A' at line 6; give each annotation its own number",
    ),
    (HEAD + GOOD.replace("b\tA[1]", "b\tB[2]|B[2]"), 7, "[2] stands twice in a row"),
    (HEAD + GOOD[:-3], 7, "a row without the tab that ends the others: 'A[1' is its last cell; the file may be cut"),
    (HEAD + GOOD.replace("a b", "a b ."), 7, "the last token of a sentence ends at 3, and the text of its line #Text="),
    (HEAD + GOOD.replace("a b", "a b\n#Text=c") + "\n#Text=d\n2-1\t6-7\td\t_\t\n", 8, "ends at 3, and the text of"),
]


@pytest.mark.parametrize(("text", "line", "said"), REFUSED, ids=[row[2][:40] for row in REFUSED])
def test_refuses_with_the_line(text: str, line: int, said: str) -> None:
    with pytest.raises(FormatError) as caught:
        read_text(text)
    problem = caught.value.problems[-1]
    assert str(problem).startswith(f"x.tsv:{line}: ")
    assert said in str(problem)
    if "WebAnno TSV 1 or 2" in said:
        with pytest.raises(FormatError, match=said):
            read(source(text))


@pytest.mark.parametrize(("name", "line"), [("webanno_cut.tsv", 7), ("webanno_cut_line.tsv", 6)])
def test_files_cut_short_are_refused(name: str, line: int) -> None:
    with pytest.raises(FormatError, match=rf"{name}:{line}: .*the file may be cut short: export it again"):
        read(defect(name))


@pytest.mark.parametrize("text", ["a b \u200b", "a b\xa0\ufeff ", "a b"])
def test_what_shows_nothing_may_stand_behind_the_last_token(text: str) -> None:
    assert spans(read_text(HEAD + GOOD.replace("a b", text)).layer) == [("a b", "A", ())]


def test_rows_may_all_lack_their_last_tab() -> None:
    assert spans(read_text(HEAD + GOOD.replace("\t\n", "\n")).layer) == [("a b", "A", ())]


def test_all_problems_of_all_files_are_told() -> None:
    bad = HEAD + "#Text=a\n1-1\t0:1\ta\tA\t\n1-2\t2\tb\tA\t\n"
    with pytest.raises(FormatError) as caught:
        read_text({"a.tsv": bad, "b.tsv": "#FORMAT=WebAnno TSV 2\n"})
    assert [(problem.source, problem.line) for problem in caught.value.problems] == [
        ("a.tsv", 6),
        ("a.tsv", 7),
        ("b.tsv", 1),
    ]


def test_sentences_out_of_place_are_told_of_all_files() -> None:
    bad = file("ab\n1-1\t0-1\ta\t_\t\n", "c\n2-1\t1-2\tc\t_\t\n")
    with pytest.raises(FormatError) as caught:
        read_text({"a.tsv": bad, "b.tsv": bad})
    assert [(problem.source, problem.line) for problem in caught.value.problems] == [("a.tsv", 9), ("b.tsv", 9)]


def test_cells_of_one_annotation_have_to_agree() -> None:
    layers = "#T_SP=x.NamedEntity|identifier|value\n"
    for cells in ("_\tA", "Q1\t_", "Q1[1]\tA", "Q1|Q2\tA", "Q1[1]|Q2[2]\tA[2]|B[1]"):
        with pytest.raises(
            FormatError, match=r"in two columns of NamedEntity; write as many values, with the same numb"
        ):
            read_text(file(f"a\n1-1\t0-1\ta\t{cells}\t\n", layers=layers))
    with pytest.raises(FormatError, match=r"\[1\] is 'Q2' here and 'Q1' at line 6"):
        read_text(file("a b\n1-1\t0-1\ta\tQ1[1]\tA[1]\t\n1-2\t2-3\tb\tQ2[1]\tA[1]\t\n", layers=layers))


@dataclass(frozen=True)
class Printed:
    """A file, its text, and the spans that must be read from it."""

    file: str
    text: str
    spans: list[tuple[int, int, str, tuple[str, ...]]]


LETTERS = st.characters(exclude_categories=["Cs", "Cc", "Zs", "Zl", "Zp"]) | st.sampled_from("😀𐍈é\u0301|[]_*\\;#->")
VALUES = st.text(LETTERS | st.sampled_from("\t\n "), min_size=1, max_size=4)
BETWEEN = st.sampled_from(["", " ", "  ", "\n", "\r\n", "\t", "\x0c", "\x01", " \\ ", "\u2028", "\u00a0"])


@st.composite
def printed(draw: st.DrawFn) -> Printed:
    """Draw a text of sentences and spans over its tokens or parts of them, and print it as INCEpTION would."""
    version = draw(st.sampled_from(["3.1", "3.2", "3.3"]))
    words = draw(
        st.lists(
            st.lists(st.tuples(st.text(LETTERS, min_size=1, max_size=4), BETWEEN), min_size=1, max_size=4), max_size=3
        )
    )
    text, sentences = " " * draw(st.integers(0, 2)) if words else "", []
    for number, sentence in enumerate(words):
        if number:
            text += draw(st.sampled_from(["", "\n", "\n  "]))
        begin, tokens = len(text), []
        for word, between in sentence:
            tokens.append((len(text), len(text) + len(word)))
            text += word + between
        # No text may be seen behind the last token.
        text = text.removesuffix("\\ ")
        sentences.append((begin, len(text), tokens))
    flat = [token for _, _, tokens in sentences for token in tokens]
    spans = []
    for _ in range(draw(st.integers(0, 5)) if flat else 0):
        first = draw(st.integers(0, len(flat) - 1))
        last = draw(st.integers(first, len(flat) - 1))
        start = draw(st.integers(flat[first][0], flat[first][1] - 1))
        end = draw(st.integers(max(start, flat[last][0]) + 1, flat[last][1]))
        spans.append((start, end, draw(st.none() | VALUES), draw(st.none() | VALUES)))
    body = "\n".join(_sentence(text, number, *one, spans, version) for number, one in enumerate(sentences, start=1))
    head = f"#FORMAT=WebAnno TSV {version}\n#T_SP=custom.NamedEntity|identifier|value\n\n\n"
    expected = [(start, end, label or "NamedEntity", (link,) if link else ()) for start, end, label, link in spans]
    return Printed(head + body, text, sorted(expected))


def _sentence(
    text: str,
    number: int,
    begin: int,
    end: int,
    tokens: Sequence[tuple[int, int]],
    spans: Sequence[tuple[int, int, str | None, str | None]],
    version: str,
) -> str:
    rows = [f"#Text={line}" for line in _escaped(text[begin:end], version).split("\n")]
    for at, (low, high) in enumerate(tokens, start=1):
        # Spans that cover the token stand at it, others at the part of it that they cover.
        parts: dict[tuple[int, int], list[int]] = defaultdict(list)
        parts[low, high] = []
        for which, (start, stop, _, _) in enumerate(spans):
            if start < high and stop > low:
                parts[max(start, low), min(stop, high)].append(which)
        for part, (place, held) in enumerate(parts.items()):
            name = f"{number}-{at}" + (f".{part}" if part else "")
            cells = [
                "|".join(f"{_value(spans[which][column])}[{which + 1}]" for which in held) or "_" for column in (3, 2)
            ]
            low16, high16 = (len(text[:edge].encode("utf-16-le")) // 2 for edge in place)
            rows.append("\t".join([name, f"{low16}-{high16}", text[slice(*place)], *cells, ""]))
    return "\n".join(rows) + "\n"


def _escaped(text: str, version: str) -> str:
    if version == "3.1":
        units = text.encode("utf-16-be")
        codes = [units[at] << 8 | units[at + 1] for at in range(0, len(units), 2)]
        return "".join(chr(code) if 31 < code < 127 and code != 92 else f"\\u{code:04x}" for code in codes)
    plain = text.replace("\\", "\\\\").replace("\t", "\\t").replace("\x0c", "\\f").replace("\r", "\\r")
    return re.sub("[\x00-\x07\x0e-\x1f]", lambda found: "\\" + found[0], plain)


def _value(value: str | None) -> str:
    """Escape a value as the user guide says, "Reserved Characters"."""
    if value is None:
        return "*"
    return re.sub(r"->|[\\\[\]|_;*]", lambda found: "\\" + found[0], value).replace("\t", "\\t").replace("\n", "\\n")


@draws(50)
@given(printed())
def test_what_is_printed_is_read(drawn: Printed) -> None:
    reading = read_text(drawn.file)
    layer = reading.layer
    assert reading.documents.texts == (drawn.text,)
    starts, ends = layer.start.tolist(), layer.end.tolist()
    found = [(starts[span], ends[span], layer.label(span), layer.links.get(span, ())) for span in range(len(layer))]
    assert sorted(found) == drawn.spans


def test_an_annotation_of_two_rows_may_have_a_link_of_nothing_in_one() -> None:
    layers = "#T_SP=custom.Named|identifier|value\n"
    text = file("a b\n1-1\t0-1\ta\t*[3]\tA[3]\t\n1-2\t2-3\tb\t[3]\tA[3]\t\n", layers=layers)
    assert spans(read_text(text).layer) == [("a b", "A", ())]


@pytest.mark.parametrize("features", ["value|predicted", "gold|prediction"])
def test_of_features_of_gold_and_a_prediction_one_is_named(features: str) -> None:
    first, second = features.split("|")
    text = file("Ann\n1-1\t0-3\tAnn\tA\tB\t\n", layers=f"#T_SP=custom.Span|{features}\n")
    with pytest.raises(FormatError, match=f"the features '{first}' and '{second}' of Span may both give types; name "):
        read_text(text)
    assert [read_text(text, column=name).layer.types for name in (first, second)] == [("A",), ("B",)]
