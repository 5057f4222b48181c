"""Codes by document and mappings of ids, read from TSV: what is taken and what is refused, all at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from nereval_core.problems import FormatError
from nereval_core.readers import Source
from nereval_core.readers.shared.concepts import read_index, read_mapping


def source(*files: tuple[str, str]) -> Source:
    return Source.of_uploads([(name, text.encode()) for name, text in files])


INDEXES: list[tuple[str, str, dict[str, set[str]], tuple[str, ...]]] = [
    ("two columns", "d1\tA\nd1\tB\nd2\tA\n", {"d1": {"A", "B"}, "d2": {"A"}}, ()),
    ("three columns", "d1\tPROC\tA\nd1\tDIAG\tB\n", {"d1": {"A", "B"}}, ()),
    ("CRLF, blank lines, blanks", "d1\tA \r\n\r\n  \r\nd2\t A\r\n", {"d1": {"A"}, "d2": {"A"}}, ()),
    ("a header", "file\tcode\nd1\tA\n", {"d1": {"A"}}, ("headers passed over: 1",)),
    (
        "twice",
        "d1\tA\nd1\tA\n",
        {"d1": {"A"}},
        ("codes that a document has more than once, taken once: 1",),
    ),
]


@pytest.mark.parametrize(("text", "documents", "notes"), [row[1:] for row in INDEXES], ids=[row[0] for row in INDEXES])
def test_reads_codes(text: str, documents: dict[str, set[str]], notes: tuple[str, ...]) -> None:
    index = read_index(source(("x.tsv", text)))
    assert index.documents == documents
    assert index.notes == notes
    assert index.name == "x"


def test_a_folder_holds_a_file_for_each_document() -> None:
    index = read_index(source(("d1.tsv", "d1\tA\n"), ("d2.tsv", ""), ("d3.ann", "T1\tX 0 1\ta\n")))
    assert index.documents == {"d1": {"A"}, "d2": frozenset()}
    assert index.notes == ("empty files, documents without codes: 1", "other files, not read: 1 (d3.ann)")


def test_the_digest_is_free_of_order() -> None:
    one, two = (read_index(source(("x.tsv", text))) for text in ("d1\tA\nd1\tB\nd2\tC\n", "d2\tC\nd1\tB\nd1\tA\n"))
    assert one.digest == two.digest != read_index(source(("x.tsv", "d1\tA\n"))).digest


WRONG_INDEXES = [
    ("d1\n", [(1, "1 cell")]),
    ("d1\t\n", [(1, "an empty code")]),
    ("\tA\n", [(1, "an empty document id")]),
    ("d1\tA\nd2\tX\tB\n", [(2, "3 cells, and 2 in the first row of the file")]),
    ("d1\tX\tY\tA\nd1\n", [(1, "4 cells"), (2, "1 cell")]),
    ("file\tcode\n", [(None, "no code in it")]),
]


@pytest.mark.parametrize(("text", "expected"), WRONG_INDEXES)
def test_refuses_codes(text: str, expected: list[tuple[int | None, str]]) -> None:
    with pytest.raises(FormatError) as caught:
        read_index(source(("x.tsv", text)))
    assert [(problem.line, problem.found) for problem in caught.value.problems] == expected
    assert all(problem.source == "x.tsv" and problem.remedy for problem in caught.value.problems)


MAPPINGS = [
    ("Q1\tQ2\n\nQ3\tQ2\n", {"Q1": "Q2", "Q3": "Q2"}),
    ("Q1\tQ2\nQ1\tQ2\n", {"Q1": "Q2"}),
    (
        "Main\tAlternatives\t\nhttps://www.wikidata.org/wiki/Q1\thttp://www.wikidata.org/entity/Q2\t#N/A\nQ3\tQ3\tQ4\n",
        {"Q2": "Q1", "Q4": "Q3"},
    ),
]


@pytest.mark.parametrize(("text", "mapping"), MAPPINGS)
def test_reads_mappings(text: str, mapping: dict[str, str]) -> None:
    assert read_mapping(source(("m.tsv", text))) == mapping


WRONG_MAPPINGS = [
    ("Q1\n", [(1, "1 cell")]),
    ("Q1\tQ2\tQ3\n", [(1, "3 cells")]),
    ("Q1\t\n", [(1, "an empty id")]),
    ("Q1\tQ2\nQ1\tQ3\nQ4\n", [(2, "'Q1' is mapped to 'Q3' here and to 'Q2' at m.tsv:1"), (3, "1 cell")]),
    ("Main\tAlternatives\n#N/A\tQ2\n", [(2, "no id in the first cell")]),
    ("Main\tAlternatives\nQ1\t#N/A\n", [(None, "no mapping in it")]),
]


@pytest.mark.parametrize(("text", "expected"), WRONG_MAPPINGS)
def test_refuses_mappings(text: str, expected: list[tuple[int | None, str]]) -> None:
    with pytest.raises(FormatError) as caught:
        read_mapping(source(("m.tsv", text)))
    assert [(problem.line, problem.found) for problem in caught.value.problems] == expected


def test_other_encodings_are_told() -> None:
    for read in (read_index, read_mapping):
        with pytest.raises(FormatError, match="not UTF-8"):
            read(Source.of_uploads([("x.tsv", b"d1\t\xff\n")]))


def test_a_path_will_do(tmp_path: Path) -> None:
    (tmp_path / "m.tsv").write_text("Q1\tQ2\n", encoding="utf-8")
    assert read_mapping(tmp_path / "m.tsv") == {"Q1": "Q2"}
    with pytest.raises(FormatError, match="no such file"):
        read_index(tmp_path / "none.tsv")
