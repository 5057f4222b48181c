"""What is said of files before they are read, by their first bytes."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nereval_core.problems import FormatError
from nereval_core.readers import ReadOptions, Source, read
from nereval_core.readers.recognition import preview
from nereval_core.readers.recognition.preview import ROWS, Preview
from nereval_core.readers.shared.table_columns import COLUMNS, parse_column_options
from nereval_core.readers.shared.tag_cells import TagColumn
from tests.readers.test_csv import BARE, GERMAN
from tests.readers.test_malformed import TEXT
from tests.readers.test_readers import ANN, zipped
from tests.support.draws import draws
from tests.support.samples import CSV, JSONL, SAMPLES, TSV


def seen(files: dict[str, str], columns: str = "", *, format: str = "auto", whole: bool = False) -> Preview:
    source = Source.of_uploads((name, text.encode()) for name, text in files.items())
    chosen = parse_column_options(columns) if columns else None
    return preview.preview(source, format=format, columns=chosen, whole=whole)


# What a library makes its own tests ask for.
@pytest.mark.parametrize("name", TEXT)
def test_a_sample_is_known_with_all_its_layers(name: str) -> None:
    format, files, layer = SAMPLES[name]
    found = seen(files)
    assert (found.format, found.files, found.problems) == (format, len(files), ())
    assert (layer in found.layers) if layer else len(found.layers) != 1
    assert not found.waiting and (found.columns is not None) == (format == "csv")


def test_large_files_wait_until_layers_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    _, files, layer = SAMPLES["Label Studio"]
    monkeypatch.setattr(preview, "LAYERS_BYTES", 10)
    assert (seen(files).waiting, seen(files).layers) == (True, ())
    found = seen(files, whole=True)
    assert not found.waiting and layer in found.layers
    # A format of one layer has nothing to wait for.
    assert not seen({"x.jsonl": JSONL}).waiting


def test_columns_are_shown_with_what_they_are_taken_for() -> None:
    found = seen({"x.csv": CSV})
    assert found.columns is not None and found.columns.whole and found.columns.names[:2] == ("doc_id", "start")
    assert dict(found.columns.held_by) == {"document": 1, "start": 2, "end": 3, "type": 4, "quote": 5, "text": 6}
    assert found.columns.rows[0] == ("d1", "0", "3", "PER", "Ann", "Ann met Bob.")
    assert found.unread == ()
    assert seen({"x.csv": CSV.replace("quote", "colour")}).unread == ("column colour",)


def test_a_table_that_no_reader_knows_can_still_be_chosen() -> None:
    found = seen({"x.csv": GERMAN})
    assert (found.format, found.columns and found.columns.whole) == ("", False)
    assert found.columns is not None and found.columns.names == ("Satz", "Art", "von", "bis", "Akte")
    [problem] = found.problems
    assert problem.found == "no column for start, end, type"
    found = seen({"x.csv": GERMAN}, "document=5,start=3,end=4,type=2,text=1")
    assert (found.format, found.problems) == ("csv", ())
    # Without a header the first line is one of the rows.
    found = seen({"x.csv": BARE}, "document=1,start=2,end=3,type=4,text=5")
    assert found.columns is not None and found.columns.names == ("1", "2", "3", "4", "5")
    assert found.columns.rows[0][0] == "d1" and found.format == "csv"


def test_of_two_tables_the_one_of_spans_is_shown() -> None:
    found = seen({"a.csv": "id,text,date\nd1,abc,2024\n", "b.csv": "n,v,b,k\nd1,0,1,A\n"})
    assert found.columns is not None and found.columns.names == ("n", "v", "b", "k")
    found = seen({"x.csv": "id,text,v,b,k\nd1,abc,0,1,A\n"})
    assert (
        found.columns is not None
        and not found.columns.whole
        and dict(found.columns.held_by) == {"document": 1, "text": 2}
    )


def test_no_more_than_the_first_rows_and_characters_are_shown() -> None:
    row = f"d,0,1,A,{'x' * 500}\n"
    found = seen({"x.csv": "doc,start,end,label,text\n" + row * 50})
    assert found.columns is not None
    assert len(found.columns.rows) == ROWS and {len(row[-1]) for row in found.columns.rows} == {preview.CELL}


@pytest.mark.parametrize("files", [{"x.bin": "\0\1"}, {"x.txt": "Ann met Bob, and so on.\n"}, {"x.csv": "a,b\n1,2\n"}])
def test_what_is_no_table_is_only_told(files: dict[str, str]) -> None:
    found = seen(files)
    assert (found.format, found.columns) == ("", None)
    assert found.problems[0].found.startswith("the format cannot be recognised: it ")


@pytest.mark.parametrize(
    ("files", "documents"),
    [
        ({"a.txt": "abc", "a.ann": ANN.decode(), "b.txt": "abc", "b.ann": ANN.decode()}, 2),
        # A text too many, and files that hold all documents.
        ({"a.txt": "abc", "a.ann": ANN.decode(), "b.ann": ANN.decode()}, 0),
        ({"x.jsonl": SAMPLES["doccano triples"][1]["all.jsonl"]}, 0),
    ],
)
def test_documents_are_counted_where_each_has_a_file_for_its_text(files: dict[str, str], documents: int) -> None:
    assert seen(files).documents == documents


def test_what_would_not_be_read_and_what_is_wrong_is_said() -> None:
    source = Source.of_uploads([("g.zip", zipped(("d.ann", ANN), ("d.txt", b"abc"), ("p.png", b"x")))])
    assert preview.preview(source) == Preview("brat", 2, unread=("p.png",), documents=1)
    assert seen({"x.jsonl": SAMPLES["doccano triples"][1]["all.jsonl"], "notes.md": "# x"}).unread == ("notes.md",)
    found = seen({"x.json": SAMPLES["Label Studio"][1]["export.json"][:-3]}, format="labelstudio")
    assert found.format == "labelstudio" and found.problems[0].line is not None
    assert seen({"x.csv": CSV}, format="xml").problems[0].found == "no reader for the format 'xml'"


def test_columns_with_tags_are_named_where_one_has_to_be_chosen() -> None:
    found = seen({"x.tsv": "1\ta\tB-X\tO\n2\tb\tI-X\tO\n3\tc\tB-Y\tO\n"})
    assert (found.format, found.tags) == ("conll", (TagColumn(3, ("X", "Y")), TagColumn(4, ())))
    assert seen({"x.conll": "a NN B-NP B-X\nb VB B-VP O\n"}).tags == ()


CELLS = st.text(st.sampled_from('a1,;\t|"\n\r \0é😀.-'), max_size=60)
PLACES = st.sampled_from(["", "a", "1", 1, 2, 3, 7])


@draws(50)
@given(CELLS, st.dictionaries(st.sampled_from(sorted(COLUMNS)), PLACES, max_size=9))
def test_any_table_and_any_choice_end_in_a_reading_or_in_problems(text: str, chosen: dict[str, int | str]) -> None:
    try:
        source = Source.of_uploads([("x.csv", text.encode())])
        found = preview.preview(source, columns=chosen)
        assert (found.format == "csv") or found.problems
        reading = read(source, format="csv", options=ReadOptions(columns=chosen))
        assert reading.format == "csv"
    except FormatError as error:
        assert all(problem.found and problem.remedy for problem in error.problems)


def test_of_a_packed_file_only_the_beginning_is_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "x.tsv.gz"
    rows = "".join(f"d{hash((0, number))}\t0\t3\tPER\tAnn\n" for number in range(100_000))
    whole = gzip.compress((TSV + rows).encode(), 1)
    path.write_bytes(whole[: len(whole) // 2])
    assert preview.preview(Source.of_path(path)).format == "csv"
