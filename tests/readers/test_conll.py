"""Columns of tokens and tags: splitting, comments, documents, columns, complaints, writing, and the real files."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nereval_core.corpus import Layer
from nereval_core.corpus.builder import Builder
from nereval_core.pairing import pair
from nereval_core.problems import MOST, FormatError
from nereval_core.readers import Reading, ReadOptions, Source, read, readers
from nereval_core.readers.shared.label_list import label_list
from nereval_core.readers.shared.tag_schemes import scheme_named
from nereval_core.writers import conll as writer
from nereval_core.writers import write
from tests.support.layer_strategies import content, words
from tests.support.readings import span_texts
from tests.support.shared_corpora import SHARED, defect, needs


def read_text(*texts: str, format: str = "conll", **options: object) -> Reading:
    source = Source.of_uploads([(f"x{number}.conll", text.encode()) for number, text in enumerate(texts, start=1)])
    return read(source, format=format, options=ReadOptions(**options))  # type: ignore[arg-type]


def refused(*texts: str, **options: object) -> list[str]:
    with pytest.raises(FormatError) as error:
        read_text(*texts, **options)
    return error.value.lines()


def test_text_tokens_and_sentences() -> None:
    reading = read_text("# id = d1\nNew\tB-LOC\nYork\tI-LOC\n\n\nis\tO\n\n# id = d2\nÀ\tO\n😀\tB-X\n")
    documents = reading.documents
    assert documents.ids == ("d1", "d2")
    assert documents.named
    assert documents.texts == ("New York\nis", "À 😀")
    assert documents.tokens is not None and documents.sentences is not None
    assert documents.tokens.of_document(0) == [(0, 3), (4, 8), (9, 11)]
    assert documents.tokens.of_document(1) == [(0, 1), (2, 3)]
    assert documents.sentences.of_document(0) == [(0, 8), (9, 11)]
    assert documents.sentences.of_document(1) == [(0, 3)]
    assert span_texts(reading.layer) == [("d1", "New York", "LOC"), ("d2", "😀", "X")]
    assert reading.scheme == "IOB2"
    assert reading.notes == ("tag scheme IOB2 (detected)",)
    assert reading.places == (("x1.conll", 1), ("x1.conll", 8))


# What the file is, and the texts it is read as.
SPLIT = [
    ("tabs", "a\tB-X\nb\tO\n", ["a b"]),
    ("CRLF", "a\tB-X\r\n\r\nb\tO\r\n", ["a", "b"]),
    ("no final line end", "a\tB-X\nb\tO", ["a b"]),
    ("byte-order mark", "\ufeffa\tB-X\n", ["a"]),
    ("blank lines of white space", "a\tB-X\n \t \nb\tO\n\u00a0\nc\tO\n", ["a", "b", "c"]),
    ("runs of blanks", "a   NN  B-X\nb NN O\n", ["a b"]),
    ("blanks and a tab", "a B-X\nb\tO\nc O\nd O\n", ["a b c d"]),
    ("blanks within tokens between tabs", "New York\tB-X\nb\tO\n", ["New York b"]),
    ("no-break spaces", "10\u00a0000 B-X\nb\u2009c O\n", ["10\u00a0000 b\u2009c"]),
    ("line separators that are not line ends", "a\u2028b\tB-X\nc\x0cd\tO\n", ["a\u2028b c\x0cd"]),
    ("blanks at line ends", "a B-X  \nb O\t\n", ["a b"]),
    ("a tab at every line end", "a\tB-X\t\nb\tO\t\n", ["a b"]),
    ("tokens that begin with #", "#\tO\n#tag\tB-X\n# \tO\n#\tO\n", ["# #tag #  #"]),
    ("tokens that begin with #, blanks", "# O\n#tag B-X\n", ["# #tag"]),
    ("comments among tokens", "# a remark\na\tB-X\n# one more\nb\tO\n", ["a b"]),
    ("a comment as long as a row", "# remark\na B-X\n# O\n", ["a #"]),
    ("tokens that begin with -", "-\tO\n-LRB-\tB-X\n--\tO\n", ["- -LRB- --"]),
    ("numbered tokens", "#\thttp://x [2009]\n1\ta\tNN\tO\n2\t2\tCD\tB-X\n\n1\tc\tNN\tO\n", ["a 2", "c"]),
    (
        "comments as long as numbered rows",
        "#\thttp://x\t[2009]\n1\ta\tB-X\n2\t#\tO\n\n#\tx\tO\n1\tb\tO\n",
        ["a #", "b"],
    ),
    ("numbers that are tokens", "1 CD B-X\n3 CD O\n", ["1 3"]),
    ("a type that begins with -", "a\tB--X\n", ["a"]),
]


@pytest.mark.parametrize(("text", "texts"), [row[1:] for row in SPLIT], ids=[row[0] for row in SPLIT])
def test_splitting(text: str, texts: list[str]) -> None:
    reading = read_text(text)
    assert list(reading.documents.texts) == texts
    assert len(reading.layer) == 1


# What marks the documents: ids, whether they are names, and texts.
MARKS = [
    ("none", "a\tO\n\nb\tO\n", ["1", "2"], False, ["a", "b"]),
    ("sent_id", "# sent_id = s1\na\tO\n\n# sent_id = s2\nb\tO\n", ["s1", "s2"], True, ["a", "b"]),
    ("one sent_id twice", "# sent_id = s1\na\tO\n\n# sent_id = s1\nb\tO\n", ["1", "2"], False, ["a", "b"]),
    ("-DOCSTART-", "-DOCSTART-\tO\n\na\tO\n\nb\tO\n\n-DOCSTART-\tO\n\nc\tO\n", ["1", "2"], False, ["a\nb", "c"]),
    ("-DOCSTART- alone", "-DOCSTART-\na\tO\n-DOCSTART-\nc\tO\n", ["1", "2"], False, ["a", "c"]),
    ("-DOCSTART- with columns", "-DOCSTART- -X- -X- O\n\na NN I-NP O\n", ["1"], False, ["a"]),
    (
        "-DOCSTART- and ids",
        "-DOCSTART-\tO\n# id = d\na\tO\n\n-DOCSTART-\tO\n\n# id = e\nb\tO\n",
        ["d", "e"],
        True,
        ["a", "b"],
    ),
    ("MEDLINE", "###MEDLINE:7\n\na\tO\n\nb\tO\n\n###MEDLINE:8\n\nc\tO\n", ["7", "8"], True, ["a\nb", "c"]),
    ("id", "# id = d/1 = x\na\tO\n\nb\tO\n# id=e\nc\tO\n", ["d/1 = x", "e"], True, ["a\nb", "c"]),
    (
        "id as MultiCoNER has it",
        "# id 1f-2e\tdomain=en\na _ _ O\n\n# id 3\tdomain=en\nb _ _ O\n",
        ["1f-2e", "3"],
        True,
        ["a", "b"],
    ),
    ("newdoc and sent_id", "# newdoc id = d\n# sent_id = 1\na\tO\n\n# sent_id = 2\nb\tO\n", ["d"], True, ["a\nb"]),
    ("sent_id before newdoc", "# sent_id = s\na\tO\n\n# newdoc id = d\nb\tO\n", ["s", "d"], True, ["a", "b"]),
    ("sent_id before newdoc without id", "# sent_id = s\na\tO\n\n# newdoc\nb\tO\n", ["1", "2"], False, ["a", "b"]),
    ("newdoc over id", "# newdoc id = d\n# id = 1\na\tO\n\n# id = 2\nb\tO\n", ["d"], True, ["a\nb"]),
    ("newdoc without id", "# newdoc\na\tO\n\nb\tO\n\n# newdoc\nc\tO\n", ["1", "2"], False, ["a\nb", "c"]),
    ("an empty document", "# id = d\n\n# id = e\na\tO\n\n# id = f\n", ["d", "e", "f"], True, ["", "a", ""]),
]


@pytest.mark.parametrize(("text", "ids", "named", "texts"), [row[1:] for row in MARKS], ids=[row[0] for row in MARKS])
def test_documents(text: str, ids: list[str], named: bool, texts: list[str]) -> None:
    documents = read_text(text).documents
    assert (list(documents.ids), documents.named, list(documents.texts)) == (ids, named, texts)


def test_sentences_as_units_are_announced() -> None:
    assert read_text("a\tO\n\nb\tB-X\n").notes == (
        "tag scheme IOB2 (detected)",
        "no documents marked: each sentence is a unit (2, numbered)",
    )


def test_comments_are_counted() -> None:
    assert read_text("# text = a\n# remark\n# id = d\na\tB-X\n").notes[-1] == "2 comment lines not kept"


def test_several_files_are_documents_where_they_mark_none() -> None:
    reading = read_text("a\tB-X\n\nb\tO\n", "# id = d\nc\tB-X\n")
    assert reading.documents.ids == ("x1", "d")
    assert reading.documents.texts == ("a\nb", "c")
    assert reading.places == (("x1.conll", 1), ("x2.conll", 1))
    assert refused("a\tB-X\n", "b\tO\nc\tI-X\n")[0].startswith("x2.conll:2: 'I-X' after 'O' is not legal in IOB2;")


def test_a_file_that_begins_inside_a_document_does_not_go_on_with_that_of_another_file() -> None:
    one, two = "# newdoc id = d\na\tB-X\n", "# sent_id = s\nb\tO\n\n# newdoc id = e\nc\tB-X\n"
    documents = read_text(one, two).documents
    assert (documents.ids, documents.texts) == (("d", "s", "e"), ("a", "b", "c"))
    assert refused(one, two.replace("# sent_id = s\n", ""))[0].startswith("x2.conll:1: a document without an id where")


def test_of_a_folder_the_files_of_the_format_are_read() -> None:
    uploads = [("README.txt", b"What this is."), ("a.bio", b"a\tB-X\n"), ("b.bio", b"b\tO\n")]
    reading = read(Source.of_uploads(uploads))
    assert reading.documents.ids == ("a", "b")
    assert reading.notes[-1] == "other files, not read: 1 (README.txt)"


COLUMNS = [(4, ["b"]), (-1, ["b"]), (3, ["a"]), (-2, ["a"]), ("3", ["a"])]


@pytest.mark.parametrize(("column", "found"), COLUMNS)
def test_columns(column: int | str | None, found: list[str]) -> None:
    reading = read_text("a NN B-X O\nb NN O B-X\n", column=column)
    assert [text for _, text, _ in span_texts(reading.layer)] == found


def test_types_without_a_letter_are_read_where_the_scheme_io_is_named() -> None:
    reading = read_text("New\tLOC\nYork\tLOC\n\nAnn\tperson-actor\nis\tO\n", scheme="io")
    assert span_texts(reading.layer) == [("1", "New York", "LOC"), ("2", "Ann", "person-actor")]
    lines = refused("a\tLOC\nb\t_\nc\t-\nd\tO\n", scheme="IO")
    assert [line.partition(";")[0] for line in lines] == [
        "x1.conll:2: '_' is not a tag",
        "x1.conll:3: '-' is not a tag",
    ]
    assert "or, for types without a letter, --scheme IO" in refused("a\tLOC\nb\tPER\n")[0]


def test_types_without_a_letter_are_known_by_themselves() -> None:
    reading = read_text("New\tLOC\nYork\tLOC\n\nAnn\tperson-actor\nis\tO\n")
    assert span_texts(reading.layer) == [("1", "New York", "LOC"), ("2", "Ann", "person-actor")]
    note = "no tag has a letter before its type: runs of one type are one span; say otherwise by --scheme"
    assert (reading.scheme, reading.notes[0]) == ("IO", f"tag scheme IO ({note})")


# A column of tags, and the tags that are said to be none.
NO_TYPES = [
    ("a\tPER\nb\tLOC\n", ["PER", "LOC"]),
    ("a\tO\nb\tB-PER\nc\tPER\n", ["PER"]),
    ("a\tO\nb\tB_PER\nc\tI-PER\n", ["B_PER"]),
    ("a\tO\nb\tPER-B\nc\tPER\n", ["PER-B", "PER"]),
    ("a\tO\nb\tB\nc\tI-PER\n", ["B"]),
    ("a\tO\nb\tB-PER\nc\t-\n", ["-"]),
    ("a\t_\nb\tB-PER\nc\t-\n", ["_", "-"]),
    ("a\tO\nb\t_\nc\t_\n", ["_", "_"]),
]


@pytest.mark.parametrize(("text", "odd"), NO_TYPES)
def test_what_may_be_a_slip_is_no_type(text: str, odd: list[str]) -> None:
    assert [line.split(" is not a tag")[0].partition(": ")[2] for line in refused(text)] == [f"'{tag}'" for tag in odd]
    assert len(refused(text, scheme="IOB2")) == len(odd)


def test_several_columns_of_types_are_asked_for_and_words_are_none() -> None:
    rows = "Ann N person person-actor\nis V O O\nin P O O\nRome N location location-city\n"
    [line] = refused(rows)
    assert "2 columns hold tags: column 3 (2 spans, as 'person'), column 4 (2 spans, as 'person-actor')" in line
    nested = read_text(rows, column="all")
    assert [label for *_, label in span_texts(nested.layer)] == ["person", "person-actor", "location", "location-city"]
    assert read(Source.of_uploads([("x.txt", rows.encode())]), options=ReadOptions(column=4)).format == "conll"
    assert span_texts(read_text("Ann N person\nO V O\n").layer) == [("1", "Ann", "person")]


# A text, the spans and the first note of the column that is taken where none is asked for.
TAKEN = [
    ("after two others", "a _ _ B-X\nb _ _ O\n", ["a"], "tags taken from column 4 of 4"),
    ("not the last", "1\ta\tB-X\t-\t-\n2\tb\tO\t-\t-\n", ["a"], "tags taken from column 3 of 5"),
    ("the tokens look like tags", "B-52 NN O\nI-95 NN B-X\n", ["I-95"], "tags taken from column 3 of 3"),
    ("before confidence", "a B-X 0.5\nb O 0.7\n", ["a"], "tags taken from column 2 of 3"),
    (
        "chunks as in CoNLL-2003",
        "U.N. NNP I-NP I-ORG\nofficial NN I-NP O\nheads VBZ I-VP O\nfor IN I-PP O\nBaghdad NNP I-NP I-LOC\n",
        ["U.N.", "Baghdad"],
        "tags taken from column 4 of 4, as column 3 holds syntactic chunks",
    ),
    ("chunks and no entity", "a NN B-NP O\nb VB B-VP O\n", [], "tags taken from column 4 of 4, as column 3 holds "),
    ("chunks after entities", "a B-X B-NP\nb O B-VP\n", ["a"], "tags taken from column 2 of 3, as column 3 holds "),
    ("German chunks", "Ann Ann NE I-NC B-PER\nlacht lachen V I-VC O\n", ["Ann"], "tags taken from column 5 of 5, as "),
    ("chunks alone, as in CoNLL-2000", "a NN B-NP\nb VB B-VP\n", ["a", "b"], "tags taken from column 3 of 3"),
]


@pytest.mark.parametrize(("text", "found", "note"), [row[1:] for row in TAKEN], ids=[row[0] for row in TAKEN])
def test_the_column_with_tags_is_found(text: str, found: list[str], note: str) -> None:
    reading = read_text(text)
    assert [span for _, span, _ in span_texts(reading.layer)] == found
    assert next(one for one in reading.notes if "tags taken" in one).startswith(note)


# A file that was once read wrongly or refused, the column chosen, and its number of documents and spans.
DEFECTS = [
    ("uner.iob2", None, 1, 0),
    ("multiconer.conll", None, 2, 2),
    ("germeval.tsv", 3, 3, 7),
    ("germeval_comments.tsv", 3, 3, 7),
    ("germeval_comments.tsv", 4, 3, 0),
    ("litbank_nested.tsv", 2, 4, 5),
    ("litbank_nested.tsv", 3, 4, 1),
]


@pytest.mark.parametrize(("name", "column", "documents", "count"), DEFECTS)
def test_files_once_read_wrongly(name: str, column: int | None, documents: int, count: int) -> None:
    reading = read(Source.of_path(defect(name)), options=ReadOptions(column=column))
    assert (reading.format, len(reading.documents), len(reading.layer)) == ("conll", documents, count)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("germeval.tsv", "2 columns hold tags: column 3 (7 spans, as 'B-OTH'), column 4 (0 spans); name one"),
        ("litbank_nested.tsv", "4 columns hold tags: column 2 (5 spans, as 'B-FAC'), column 3 (1 span, as 'B-PER'), "),
    ],
)
def test_files_of_several_columns_of_tags_are_refused(name: str, said: str) -> None:
    with pytest.raises(FormatError, match=re.escape(said)):
        read(Source.of_path(defect(name)))


def spans_of(found: Reading) -> list[tuple[str, str, int]]:
    held = found.layer
    return [(held.text(span), held.label(span), held.meta.get(span, {}).get("depth", 1)) for span in range(len(held))]


def test_all_columns_are_one_nested_layer() -> None:
    rows = "the O O O\nBank B-ORG O O\nof I-ORG O O\nNew I-ORG B-LOC B-X\nYork I-ORG I-LOC O\n\nhe O O O\n"
    source = Source.of_uploads([("x.conll", rows.encode())])
    found = read(source, options=ReadOptions(column="all"))
    assert spans_of(found) == [("Bank of New York", "ORG", 1), ("New", "X", 3), ("New York", "LOC", 2)]
    assert found.notes[0] == "tags taken from columns 2 (1 span), 3 (1 span), 4 (1 span), as one nested layer"
    assert found.scheme == "IOB2"
    # One column of tags is all of them.
    one = Source.of_uploads([("x.conll", b"Rome B-LOC\n")])
    assert spans_of(read(one, options=ReadOptions(column="all"))) == [("Rome", "LOC", 1)]


def test_columns_of_each_depth_come_back() -> None:
    """Two layers, written one beside the other, are one nested layer with both."""
    for number, (outer, inner) in enumerate([("B-A I-A O B-B", "O B-C O O"), ("O O O O", "B-A I-A O O")]):
        lines = [f"w{at}\t{one}\t{two}" for at, (one, two) in enumerate(zip(outer.split(), inner.split(), strict=True))]
        source = Source.of_uploads([(f"x{number}.conll", ("\n".join(lines) + "\n").encode())])
        every = read(source, options=ReadOptions(column="all", scheme="IOB2"))
        for depth, column in ((1, 2), (2, 3)):
            alone = read(source, options=ReadOptions(column=column, scheme="IOB2"))
            assert [one for one in spans_of(every) if one[2] == depth] == [
                (text, kind, depth) for text, kind, _ in spans_of(alone)
            ]


NESTED = "the O O O\nBank B-ORG O O\nof I-ORG O O\nNew I-ORG B-LOC B-X\nYork I-ORG I-LOC O\n\nhe O O B-X\n"


def test_columns_of_each_depth_are_written_again(tmp_path: Path) -> None:
    gap = NESTED.replace("B-LOC", "O").replace("I-LOC", "O")
    for number, text in enumerate((NESTED, f"-DOCSTART- O O O\n\n{NESTED}", gap)):
        source = Source.of_uploads([("x.conll", text.encode())])
        layer = read(source, options=ReadOptions(column="all", scheme="IOB2")).layer
        path = tmp_path / f"{number}.conll"
        assert write(layer, path, format="conll") == ("columns of tags: 3; --column all reads them as one layer",)
        assert path.read_text() == text.replace(" ", "\t") + "\n"
        assert content(read(path, options=ReadOptions(column="all", scheme="IOB2")).layer) == content(layer)


@pytest.mark.parametrize(
    ("meta", "said"),
    [
        ({"depth": 2}, ""),
        ({"depth": 1}, "no place for metadata of 1 span"),
        ({"depth": True}, "no place for metadata of 1 span"),
        ({"depth": 10**9}, "no place for metadata of 1 span"),
        ({"depth": 2, "by": "A"}, "no place for metadata of 1 span"),
        ({}, "'New York' (LOC) overlaps another span"),
    ],
)
def test_what_columns_cannot_say_is_refused(meta: dict[str, object], said: str, tmp_path: Path) -> None:
    builder = Builder("made")
    builder.document("d", "Bank of New York")
    builder.span(0, 16, "ORG")
    builder.span(8, 16, "LOC", meta=meta)
    layer = builder.finish("made")
    if not said:
        write(layer, tmp_path / "x.conll", format="conll")
        assert spans_of(read(tmp_path / "x.conll", options=ReadOptions(column="all"))) == [
            ("Bank of New York", "ORG", 1),
            ("New York", "LOC", 2),
        ]
        return
    with pytest.raises(FormatError, match=re.escape(said)):
        write(layer, tmp_path / "x.conll", format="conll")


# Rows whose first columns number tokens or sentences, and the text that is read.
NUMBERED = [
    "0\tAnn\tB-X\n1\tleft\tO\n\n0\tBob\tB-X\n1\tand\tO\n",
    "1 Ann B-X\n2 left O\n\n1 Bob B-X\n2 and O\n",
    "0 Ann B-X\n1 left O\n\n2 Bob B-X\n3 and O\n",
    "17 Ann B-X\n18 left O\n\n19 Bob B-X\n20 and O\n",
    "0 0 Ann B-X\n0 1 left O\n\n1 0 Bob B-X\n1 1 and O\n",
    "5\t1\tAnn\tB-X\n5\t2\tleft\tO\n\n6\t1\tBob\tB-X\n6\t2\tand\tO\n",
    "1-1 Ann B-X\n1-2 left O\n\n2-1 Bob B-X\n2-2 and O\n",
]


@pytest.mark.parametrize("text", NUMBERED)
def test_numbers_are_not_read_as_words(text: str) -> None:
    reading = read_text(text, format="auto")
    assert reading.documents.texts == ("Ann left", "Bob and")
    assert span_texts(reading.layer) == [("1", "Ann", "X"), ("2", "Bob", "X")]
    assert reading.notes[0].startswith("tokens taken from column ")


@pytest.mark.parametrize("text", ["0 B-X\n1 O\n2 O\n", "1\tB-X\tB-X\n2\tO\tO\n3\tO\tB-Y\n"])
def test_numbers_without_words_are_refused(text: str) -> None:
    assert refused(text)[0].startswith("x1.conll: column 1 counts the tokens, and no column holds words; ")


def test_words_that_are_numbers_are_words() -> None:
    assert read_text("1 CD O\n1 CD B-X\n4 CD O\n").documents.texts == ("1 1 4",)
    assert read_text("1 O\n2 B-X\n").documents.texts == ("1 2",)


# Rows that are split in two ways, or whose last cell is empty.
UNEVEN = ["Ann\tB-X\nLee I-X\nleft\tO\n", "Ann\tB-X\nLee\tI-X\nleft\t\n", "Ann B-X\nLee\tI-X\nleft \t O\n"]


@pytest.mark.parametrize("text", UNEVEN)
def test_tabs_and_blanks_in_one_file_and_empty_last_cells(text: str) -> None:
    reading = read_text(text, format="auto")
    assert (reading.documents.texts, span_texts(reading.layer)) == (("Ann Lee left",), [("1", "Ann Lee", "X")])


def test_a_line_with_other_columns_is_named_where_nothing_is_recognised() -> None:
    text = "Ann\tB-X\nLee I-X\nNew York\tB-Y\nnow here\tO\nor there O\n"
    assert "and its line 2 has another number of columns than most, 2" in "".join(refused(text, format="auto"))


def test_the_tags_of_a_sentence_are_not_a_type() -> None:
    lines = refused("Ann left Rome\tB-PER O B-LOC\nBob\tB-PER\nhe\tO\n")
    assert lines[0].startswith("x1.conll:1: the type 'PER O B-LOC' is several tags; ")


# Rows with gold and a prediction, and the columns that are asked for; labels where one holds numbers.
AMBIGUOUS = [
    ("Ann B-PER B-PER/0.98\nleft O O/0.7\n", (2, 3)),
    ("Ann\tB-PER\tB-PER 0.98\nleft\tO\tO 0.7\n", (2, 3)),
    ("Ann\tNNP\tB-PER\tB-LOC (0.98)\nleft\tVB\tO\tO (1)\n", (3, 4)),
    ("Ann B-PER LABEL_1\nleft O LABEL_0\n", (2, 3)),
    ("Ann B-PER 1\nleft O 0\nLee B-PER 2\nis O 0\n", (2, 3)),
    ("Ann B-PER 1\nleft O -\nLee B-PER 2\nis O -\n", (2, 3)),
    ("Ann B-PER 1\nleft O O\nLee B-PER 2\nis O O\n", (2, 3)),
    ("Ann B-PER PER\nleft O O\n", (2, 3)),
    ("Ann PER B-LOC\nleft O O\n", (2, 3)),
    ("Ann B-PER B_PER\nleft O O\n", (2, 3)),
    ("Ann B-PER b-per\nleft O o\n", (2, 3)),
    ("Ann B-PER <B-PER>\nleft O <O>\n", (2, 3)),
    ("Ann B-PER B\nleft O O\n", (2, 3)),
    ("0 Ann NNP I-NP B-PER PER-B\n1 left VB I-VP O O\n", (5, 6)),
    ("Ann B-PER B-LOC\nleft - -\n", (2, 3)),
    ("Ann 1 2\nleft 0 0\nLee 1 1\nis 0 0\n", (2, 3)),
]


@pytest.mark.parametrize(("text", "columns"), AMBIGUOUS)
def test_gold_is_not_read_as_the_prediction(text: str, columns: tuple[int, int]) -> None:
    source = Source.of_uploads([("x.txt", text.encode())])
    with pytest.raises(FormatError, match="2 columns hold tags: ") as error:
        read(source)
    assert f"--gold-column {columns[0]} --pred-column {columns[1]}" in str(error.value)
    assert tuple(column.number for column in readers()["conll"].tag_column_choices(source)) == columns
    labels = label_list("O,B-PER,B-LOC")
    for column in columns:
        assert read(source, options=ReadOptions(column=column, labels=labels)).format == "conll"


@pytest.mark.parametrize("word", ["NONE", "null", "X"])
def test_a_chosen_or_usual_word_for_outside_shows_the_tags(word: str) -> None:
    source = Source.of_uploads([("x.txt", f"Ann\tB-PER\nleft\t{word}\nRome\tB-LOC\nnow\t{word}\n".encode())])
    reading = read(source, options=ReadOptions(outside=f"O,{word}"))
    assert (reading.format, span_texts(reading.layer)) == ("conll", [("1", "Ann", "PER"), ("1", "Rome", "LOC")])
    if word == "X":
        with pytest.raises(FormatError, match=r"cannot be recognised: .*; read it by --format conll --outside X"):
            read(source)
    else:
        assert len(read(source).layer) == 2


# Rows with columns beside the tags that are not annotation, and the column that is read.
UNAMBIGUOUS = [
    ("Ann NNP I-NP B-PER\nO PRP O O\n", 4),
    ("Ann 0 1 B-PER\nleft 1 0 O\nLee 0 0 B-PER\nis 0 0 O\n", 4),
    ("Ann B-PER 0 3\nleft O 4 8\nLee B-PER 9 12\n", 2),
    ("Ann B-PER 1\nleft O 1\nLee B-PER 1\nis O 2\nhere O 2\n", 2),
    ("Ann B-PER _\nleft O SpaceAfter=No\nis O _\n", 2),
    ("Ann ann B-PER Xx\nO o O X\nis be O xx\n", 3),
    ("Ann B-PER NNP\nleft O VBD\nRome B-LOC NNP\n", 2),
]


@pytest.mark.parametrize(("text", "column"), UNAMBIGUOUS)
def test_other_columns_are_not_asked_for(text: str, column: int) -> None:
    source = Source.of_uploads([("x.txt", text.encode())])
    assert read(source).notes[0].startswith(f"tags taken from column {column} of ")
    assert readers()["conll"].tag_column_choices(source) == ()


def test_probabilities_beside_tags_become_scores() -> None:
    reading = read_text("Ann X B-PER/0.5\nLee X I-PER/1.0\nleft X O/0.9\n\nRome X B-LOC/.25\nis X O/1\n")
    assert span_texts(reading.layer) == [("1", "Ann Lee", "PER"), ("2", "Rome", "LOC")]
    assert dict(reading.layer.scores) == {0: 0.75, 1: 0.25}
    assert "tags have probabilities: a span's score is the mean of those of its tokens" in reading.notes


def test_another_word_for_outside_moves_no_span() -> None:
    reading = read_text("so -\nAnn B-PER\nleft -\n\nnow -\nRome B-LOC\n", scheme="IOB2")
    assert span_texts(reading.layer) == [("1", "Ann", "PER"), ("2", "Rome", "LOC")]
    numbered = read_text("so 0\nAnn 1\nLee 2\nleft 0\n", labels=label_list("O,B-PER,I-PER"))
    assert span_texts(numbered.layer) == [("1", "Ann Lee", "PER")]
    assert refused("so 0\nAnn 1\nLee 2\nleft 0\n")[0].startswith("x1.conll:1: the tags are numbers of labels; ")


def test_a_broken_tag_in_a_deeper_column_is_named() -> None:
    source = Source.of_uploads([("x.conll", b"a B-X O\nb I-X I-Y\n")])
    with pytest.raises(FormatError, match=r"x\.conll:2: 'I-Y' after 'O' is not legal in IOB2"):
        read(source, options=ReadOptions(column="all"))


@pytest.mark.parametrize(("name", "counts"), [("germeval.tsv", {1: 7}), ("litbank_nested.tsv", {1: 5, 2: 1})])
def test_nested_files_people_have(name: str, counts: dict[int, int]) -> None:
    found = read(Source.of_path(defect(name)), options=ReadOptions(column="all"))
    assert Counter(depth for _, _, depth in spans_of(found)) == counts


# Options, text, and what each line of the complaint begins with or holds.
REFUSED = [
    ({}, "a\tB-X\nb\nc\tO\td\te\n", ["x1.conll:2: 1 column where the file has 2; give", "x1.conll:3: 4 columns where"]),
    ({}, "a B-X\nb c O\n", ["x1.conll:2: 3 columns where the file has 2; give each token 2 columns split by blanks"]),
    ({}, "a\nb\n", ["x1.conll: only one column"]),
    ({}, "a\tB-X\n\tO\n", ["x1.conll:2: a line without a token"]),
    ({}, "a\tX\nb\tI-P\nc\tB-P\n", ["x1.conll:1: 'X' is not a tag"]),
    ({}, "a\tB-P\nb\t\nc\tO\n", ["x1.conll:2: '' is not a tag"]),
    ({}, "#tag\tX\nb\tB-P\n", ["x1.conll:1: 'X' is not a tag"]),
    ({}, "a\tI-P\nb\tB-P\n\nc\tI-P\n", []),
    (
        {},
        "a\tB-P\n\nb\tI-P\nc\tI-P\nd\tI-L\n\ne\tB-P\n",
        [
            "x1.conll:3: 'I-P' at the start of a sentence is not legal in IOB2; mend it, or read it with --repair ",
            "x1.conll:5: 'I-L' after 'I-P' is not legal in IOB2",
        ],
    ),
    ({"scheme": "IOBES"}, "a\tB-P\nb\tO\n", ["x1.conll:1: 'B-P' before 'O' is not legal in IOBES"]),
    ({"scheme": "IOB"}, "a\tB-P\n", ["--scheme: no tag scheme is called 'IOB'; choose one of IOB2"]),
    (
        {"column": 3},
        "a\tB-P\n",
        ["x1.conll: there is no column 3; give the number of the column with the tags, 2 to 2"],
    ),
    (
        {},
        "a NN B-X O\nb NN O B-Y\n\nc NN I-X I-Y\n",
        [
            "x1.conll: 2 columns hold tags: column 3 (2 spans, as 'B-X'), column 4 (2 spans, as 'B-Y'); name one: "
            "--column 3 or --column 4, or by side --gold-column 3 --pred-column 4, or all as one nested layer: "
            "--column all; in the app choose beside the upload"
        ],
    ),
    ({}, "a B-X O\nb O O\n", ["x1.conll: 2 columns hold tags: column 2 (1 span, as 'B-X'), column 3 (0 spans); name"]),
    (
        {},
        "a NN B-NP B-NP\nb VB B-VP B-NP\n",
        ["x1.conll: 2 columns hold tags: column 3 (2 spans, as 'B-NP'), column 4 (2 spans, as 'B-NP'); name"],
    ),
    (
        {},
        "a NN B-NP B-X B-X\nb VB B-VP O B-X\n",
        ["x1.conll: 2 columns hold tags: column 4 (1 span, as 'B-X'), column 5 (2 spans, as 'B-X'); name one"],
    ),
    ({"column": -2}, "a\tB-P\n", ["x1.conll: column 1 holds the tokens"]),
    ({"column": -3}, "a\tB-P\n", ["x1.conll: there is no column -3"]),
    ({"column": 1}, "1\ta\tB-P\n2\tb\tO\n", ["x1.conll: column 1 holds their numbers"]),
    ({}, "a\tB-P\rb\tO\r", ["x1.conll: lines end in a carriage return alone"]),
    ({"column": 1}, "a\tB-P\n", ["x1.conll: column 1 holds the tokens"]),
    ({"column": 0}, "a\tB-P\n", ["x1.conll: there is no column 0"]),
    ({"column": "NE"}, "a\tB-P\n", ["x1.conll: no column is called 'NE'"]),
    ({}, " \n\n", ["x1.conll: no tokens in it"]),
    ({}, "# id = d\n", ["x1.conll:"]),
    ({}, "# id =\na\tB-X\n\n# id = d\nb\tO\n", ["x1.conll:1: a document without an id where others have one"]),
    (
        {},
        "a\tB-X\n# newdoc\nb\tO\n# newdoc id = x\nc\tO\n",
        ["x1.conll:1: a document without", "x1.conll:2: a document"],
    ),
]


@pytest.mark.parametrize(("options", "text", "found"), REFUSED)
def test_complaints(options: dict[str, object], text: str, found: list[str]) -> None:
    if not found:
        assert read_text(text, **options).scheme == "IOB1"
        return
    lines = refused(text, **options)
    assert len(lines) == len(found), lines
    for line, begin in zip(lines, found, strict=True):
        assert line.startswith(begin)


def test_wrong_encoding_is_told_with_the_line() -> None:
    with pytest.raises(FormatError, match=r"^x\.conll:2: byte 0xE9 at position 1 of the line is not UTF-8"):
        read(Source.of_uploads([("x.conll", b"a\tO\n\xe9\tO\n")]), format="conll")


def test_an_empty_file_is_refused() -> None:
    with pytest.raises(FormatError, match=r"^x\.conll: the file is empty"):
        read(Source.of_uploads([("x.conll", b"")]), format="conll")


REPAIRS = [
    ("conlleval", [("1", "a b", "P"), ("1", "c", "L"), ("1", "e", "P")], "2 malformed chunks cut as conlleval does"),
    ("discard", [("1", "e", "P")], "2 malformed chunks discarded"),
]


@pytest.mark.parametrize(("repair", "found", "note"), REPAIRS)
def test_repair_is_counted(repair: str, found: list[tuple[str, str, str]], note: str) -> None:
    reading = read_text("a\tI-P\nb\tI-P\nc\tI-L\nd\tO\ne\tB-P\n", scheme="IOB2", repair=repair)
    assert span_texts(reading.layer) == found
    assert reading.notes[:2] == ("tag scheme IOB2 (given)", note)


def test_repair_without_a_scheme_takes_the_one_broken_least() -> None:
    reading = read_text("a\tB-P\nb\tO\nc\tI-P\nd\tO\ne\tB-P\n", repair="discard")
    assert reading.scheme == "IOB2"
    assert reading.notes[0] == "tag scheme IOB2 (no scheme fits; this one is broken least, 1 time)"


def test_without_tags_no_scheme_is_handed_on() -> None:
    reading = read_text("a\tO\nb\tO\n")
    assert (reading.scheme, len(reading.layer)) == (None, 0)


RECOGNISED = [
    ("a\tB-X\nb\tO\n", 0.9),
    ("-DOCSTART- -X- -X- O\n\na NN I-NP O\nb NN I-NP O\n", 0.9),
    ("###MEDLINE:1\n\na\tB-X\n", 0.9),
    ("# a remark\n# O\n#tag B-X\n", 0.9),
    ("a\tB-X\t0.5\nb\tO\t0.7\n", 0.8),
    ("TOKEN\tNE-COARSE-LIT\na\tO\n", 0.0),
    ('{"id": "d", "text": "", "spans": []}\n', 0.0),
    ("T1\tPER 0 3\tBob\nT2\tLOC 4 8\tRome\n", 0.0),
    ("Just a text.\nOf two lines.\n", 0.0),
    ("a\nb\n", 0.0),
    ("\n \n", 0.0),
]


@pytest.mark.parametrize(("text", "sure"), RECOGNISED)
def test_recognition(text: str, sure: float) -> None:
    assert readers()["conll"].recognise(Source.of_uploads([("x", text.encode())])) == sure


def build(*documents: tuple[str, list[tuple[int, int, str]]], named: bool = True, tokens: bool = False) -> Layer:
    """Build a layer from texts with spans; with `tokens` the words between blanks are kept."""
    builder = Builder("built", named)
    for number, (text, spans) in enumerate(documents, start=1):
        own, at = [], 0
        for word in text.split():
            at = text.index(word, at)
            own.append((at, at + len(word)))
            at += len(word)
        builder.document(f"d{number}" if named else str(number), text, tokens=own if tokens else ())
        for start, end, label in spans:
            builder.span(start, end, label)
    return builder.finish("built")


def test_writing(tmp_path: Path) -> None:
    layer = build(("Bob's cat.\nIn Rome", [(0, 5, "PER"), (14, 18, "LOC")]), ("", []), ("x", [(0, 1, "a-b c")]))
    write(layer, tmp_path / "out", format="conll")
    assert (tmp_path / "out").read_text() == (
        "# id = d1\nBob\tB-PER\n'\tI-PER\ns\tI-PER\ncat\tO\n.\tO\n\nIn\tO\nRome\tB-LOC\n\n"
        "# id = d2\n\n# id = d3\nx\tB-a-b c\n\n"
    )
    reading = read(tmp_path / "out")
    assert reading.documents.texts == ("Bob ' s cat .\nIn Rome", "", "x")
    assert span_texts(reading.layer) == [("d1", "Bob ' s", "PER"), ("d1", "Rome", "LOC"), ("d3", "x", "a-b c")]


def test_a_span_over_a_line_end_keeps_its_sentence_together(tmp_path: Path) -> None:
    write(build(("New\nYork is\nbig", [(0, 8, "LOC")])), tmp_path / "out", format="conll")
    assert (tmp_path / "out").read_text() == "# id = d1\nNew\tB-LOC\nYork\tI-LOC\nis\tO\n\nbig\tO\n\n"


UNWRITABLE = [
    (build(("a b c", [(0, 5, "X"), (2, 3, "Y")])), "document 'd1': span [2, 3) 'b' (Y) overlaps another span"),
    (build(("a b c", [(0, 3, "X"), (2, 5, "Y")])), "span [2, 5) 'b c' (Y) overlaps another span"),
    (build(("a b c", [(0, 1, "X"), (0, 1, "X")])), "span [0, 1) 'a' (X) overlaps another span"),
    (build(("abc d", [(1, 3, "X")])), "span [1, 3) 'bc' (X) does not begin and end with a token"),
    (build(("abc d", [(0, 4, "X")])), "span [0, 4) 'abc ' (X) does not begin and end with a token"),
    (build(("a", [(0, 1, "X\tY")])), "has a type with a tab or a line end"),
    (build(("-DOCSTART- a", []), tokens=True), "token 1 '-DOCSTART-' would be taken for the beginning of a document"),
]


@pytest.mark.parametrize(("layer", "found"), UNWRITABLE)
def test_what_tags_cannot_say(layer: Layer, found: str, tmp_path: Path) -> None:
    with pytest.raises(FormatError) as error:
        write(layer, tmp_path / "out", format="conll")
    assert [found in line for line in error.value.lines()] == [True]
    assert not list(tmp_path.iterdir())


def test_discontinuous_spans_and_spans_over_sentences_are_refused(tmp_path: Path) -> None:
    builder = Builder("built")
    builder.document("d 1", "a b c", sentences=[(0, 1), (2, 5)])
    builder.span(0, 5, "X", fragments=((0, 1), (4, 5)))
    builder.span(0, 3, "Y")
    builder.span(2, 3, "Z")
    layer = builder.finish("built")
    with pytest.raises(FormatError) as error:
        write(layer, tmp_path / "out", format="conll")
    assert [line.split(": ", 1)[1].split(";")[0] for line in error.value.lines()] == [
        "document 'd 1': span [0, 3) 'a b' (Y) reaches over the end of a sentence",
        "document 'd 1': span [0, 5) 'a c' (X) is discontinuous",
    ]
    assert write(layer, tmp_path / "out", format="conll", lossy=True) == (
        "spans left out, each reaches over the end of a sentence: 1",
        "spans left out, each is discontinuous: 1",
    )
    assert (tmp_path / "out").read_text() == "# id = d 1\na\tO\n\nb\tB-Z\nc\tO\n\n"


def test_ids_and_tokens_that_no_line_holds_are_refused_even_so(tmp_path: Path) -> None:
    builder = Builder("built")
    builder.document(" d", "a\tb", tokens=[(0, 3)])
    with pytest.raises(FormatError) as error:
        write(builder.finish("built"), tmp_path / "out", format="conll", lossy=True)
    assert [line.split(";")[0] for line in error.value.lines()] == [
        "built: document ' d': its id has white space at an end, or a line end",
        "built: document ' d': token 1 'a\\tb' has a tab or a line end",
    ]


HOSTILE = st.sampled_from(
    ["#", "# O", "#\u00a0", "-", "\u2028", "\ufeff", "\0", "\r", "😀", "e\u0301", "שלום", " ", "O", "B-X"]
)


@st.composite
def conll_layers(draw: st.DrawFn) -> Layer:
    """Draw what a file of this format can say: documents of sentences of tokens, flat spans within sentences."""
    named = draw(st.booleans())
    ids = draw(st.lists(words(), min_size=1, max_size=3, unique=True))
    builder = Builder("drawn", named)
    for number, name in enumerate(ids, start=1):
        sentences = draw(st.lists(st.lists(words() | HOSTILE, min_size=1, max_size=6), min_size=1, max_size=3))
        text, tokens, bounds, found = "", [], [], []
        for sentence in sentences:
            text += "\n" if text else ""
            low = len(tokens)
            for word in sentence:
                text += " " if len(tokens) > low else ""
                tokens.append((len(text), len(text) + len(word)))
                text += word
            bounds.append((tokens[low][0], tokens[-1][1]))
            cuts = sorted(draw(st.sets(st.integers(low, len(tokens)), max_size=4)))
            found += [(tokens[a][0], tokens[b - 1][1]) for a, b in pairwise(cuts)]
        builder.document(name if named else str(number), text, tokens=tokens, sentences=bounds)
        for start, end in found:
            if draw(st.booleans()):
                builder.span(start, end, draw(words()))
    return builder.finish("drawn")


@given(drawn=conll_layers(), scheme=st.sampled_from(["IOB2", "IOB1", "IOE1", "IOE2", "IOBES", "BILOU", "BMES"]))
def test_round_trip(drawn: Layer, scheme: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("conll") / "out"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(writer, "SCHEME", scheme_named(scheme))
        write(drawn, path, format="conll", lossy=True)
    back = read(path, format="conll", options=ReadOptions(scheme=scheme))
    assert_same(back.layer, drawn)


def assert_same(one: Layer, two: Layer) -> None:
    assert one.digest == two.digest
    assert one.documents.named == two.documents.named
    for key in ("tokens", "sentences"):
        mine, other = getattr(one.documents, key), getattr(two.documents, key)
        for column in ("first", "starts", "ends"):
            assert getattr(mine, column).tolist() == getattr(other, column).tolist()


# Gold and submissions, with the numbers that the reference scorers print.
REAL = [
    ("wnut17/emerging.test.annotated", None, 1287, 1079),
    ("wnut17/submissions/arcada", None, 1287, 787),
    ("wnut17/submissions/drexel_cci", None, 1287, 381),
    ("wnut17/submissions/mic-cis.txt", "conlleval", 1287, 891),
    ("wnut17/submissions/uh_ritual", None, 1287, 617),
    ("jnlpba/Genia4EReval1.iob2", None, 3856, 8662),
    ("jnlpba/answers_legal.iob2", None, 3856, 8102),
    # evalIOB2.pl counts the spans that start with B: those left when the malformed ones are dropped.
    ("jnlpba/answers_broken.iob2", "discard", 3856, 7892),
]


@needs("wnut17")
@needs("jnlpba")
@pytest.mark.parametrize(("path", "repair", "units", "count"), REAL)
def test_real_files(path: str, repair: str | None, units: int, count: int, tmp_path: Path) -> None:
    reading = read(SHARED / path, options=ReadOptions(repair=repair))  # type: ignore[arg-type]
    assert (reading.format, reading.scheme) == ("conll", "IOB2")
    assert (len(reading.documents), len(reading.layer)) == (units, count)
    write(reading.layer, tmp_path / "out", format="conll")
    assert_same(read(tmp_path / "out").layer, reading.layer)


@needs("jnlpba")
def test_broken_answers_are_refused_with_their_lines() -> None:
    with pytest.raises(FormatError) as error:
        read(SHARED / "jnlpba/answers_broken.iob2", options=ReadOptions(scheme="IOB2"))
    # The file has 1,350.
    assert len(error.value.problems) == MOST
    assert error.value.problems[0].line == 40
    assert error.value.problems[0].found == "'I-protein' after 'O' is not legal in IOB2"


@needs("jnlpba")
@pytest.mark.parametrize("folder", sorted(SHARED.glob("jnlpba/edge/*")), ids=lambda folder: folder.name)
def test_edge_files(folder: Path) -> None:
    gold = read(folder / "gold.iob2", options=ReadOptions(repair="conlleval"))
    assert gold.scheme == "IOB2"
    assert len(read(folder / "answers.iob2", options=ReadOptions(scheme="IOB2", repair="conlleval")).documents)


def test_repeated_ids_of_a_file_are_numbered_apart() -> None:
    reading = read_text("# id = d\na\tB-X\n\n# id = e\nb\tO\n\n# id = d\nc\tO\n\n# id = d#2\nf\tO\n\n# id = d\na\tO\n")
    assert reading.documents.ids == ("d", "e", "d#2#", "d#2", "d#3")
    assert reading.notes[-1] == "documents that repeat an id of the file, numbered apart: 2, as 'd#2#'"
    assert refused("# id = d\na\tB-X\n", "# id = d\na\tB-X\n") == [
        "x2.conll:1: document id 'd' stands at x1.conll:1 already; give each document its own id"
    ]


MEDLINE = "###MEDLINE:{}\n\n{}\n\n"


@pytest.mark.parametrize(
    ("prediction", "correct"),
    [
        ([(7, "cells\tB-X\nare\tO"), (8, "fine\tO"), (7, "blood\tB-Y")], 2),
        # In another order, too.
        ([(8, "fine\tO"), (7, "cells\tB-X\nare\tO"), (7, "blood\tB-Y")], 2),
        ([(7, "blood\tB-Y"), (8, "fine\tO"), (7, "cells\tB-X\nare\tO")], None),
    ],
)
def test_documents_with_one_id_are_paired_by_order_and_never_with_another_text(
    prediction: list[tuple[int, str]], correct: int | None
) -> None:
    gold, pred = (
        read_text("".join(MEDLINE.format(*document) for document in documents))
        for documents in ([(7, "cells\tB-X\nare\tO"), (8, "fine\tO"), (7, "blood\tB-Y")], prediction)
    )
    if correct is None:
        with pytest.raises(FormatError, match=r"document '7' has 1 token, x1.conll:1, document '7' has 2"):
            pair(gold, pred)
    else:
        paired = pair(gold, pred).layer
        assert sorted(zip(paired.doc.tolist(), map(paired.label, range(len(paired))), strict=True)) == [
            (0, "X"),
            (2, "Y"),
        ]


def test_tags_beside_docstart_are_counted_in_a_note() -> None:
    reading = read_text("-DOCSTART-\tB-X\n\na\tB-X\n\n-DOCSTART-\tO\n\nb\tO\n")
    assert len(reading.layer) == 1
    assert reading.notes[-1] == "tags beside -DOCSTART-, which is not a token here, left out: 1"


def test_heads_of_a_parser_are_no_tags() -> None:
    """CoreNLP writes number, word, lemma, part of speech, tag, head and relation."""
    words = ["Ann\tPERSON", "Lee\tPERSON", "went\tO", "home\tO", ".\tO"]
    rows = [f"{at + 1}\t{word}\t{at}\tdep" for at, word in enumerate(words)]
    reading = read(Source.of_uploads([("s.conll", ("\n".join(rows) + "\n\n").encode() * 2)]))
    assert [label for *_, label in span_texts(reading.layer)] == ["PERSON", "PERSON"]
    assert "tags taken from column 3 of 5" in reading.notes
