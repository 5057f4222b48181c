"""Parquet: what it keeps, how pairs of files are found and paired, and what is refused, with file and row."""

from __future__ import annotations

import gzip
import io
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from nereval_core.corpus import Layer
from nereval_core.corpus.texts import Texts
from nereval_core.problems import FormatError
from nereval_core.readers import Reading, ReadOptions, Source, read
from nereval_core.writers import parquet as writer
from nereval_core.writers import write
from pages.shared.data.loading import likely_systems, load, served_sources
from tests.readers.test_jsonl import FULL
from tests.support.draws import draws
from tests.support.layer_strategies import content, layers

PAIR = pa.struct([("start", pa.int32()), ("end", pa.int32())])
TEXT = "Ann saw Bob in Rome"


def spans(**columns: Any) -> dict[str, Any]:
    """Return the columns of two spans of the document d1 and one of d2, some replaced or added."""
    return {"document": ["d1", "d1", "d2"], "start": [0, 8, 0], "end": [3, 11, 3], "type": ["PER"] * 3} | columns


def texts(**columns: Any) -> dict[str, Any]:
    return {"document": ["d1", "d2"], "text": [TEXT, TEXT]} | columns


def packed(columns: dict[str, Any], **more: Any) -> bytes:
    buffer = io.BytesIO()
    parquet.write_table(pa.table(columns), buffer, **more)
    return buffer.getvalue()


def upload(*tables: tuple[str, dict[str, Any]]) -> Source:
    return Source.of_uploads([(f"{name}.parquet", packed(columns)) for name, columns in tables])


def pair(of_spans: dict[str, Any] | None = None, of_texts: dict[str, Any] | None = None) -> Source:
    return upload(("x.spans", spans() if of_spans is None else of_spans), ("x.texts", of_texts or texts()))


def refused(source: Source, options: ReadOptions | None = None) -> list[str]:
    with pytest.raises(FormatError) as caught:
        read(source, format="parquet", options=options)
    return [str(problem) for problem in caught.value.problems]


def jsonl(text: str) -> Layer:
    return read(Source.of_uploads([("x.jsonl", text.encode())])).layer


def test_all_that_the_native_format_says_is_kept(tmp_path: Path) -> None:
    layer = jsonl(FULL + FULL.replace('"d1"', '"d2"'))
    assert write(layer, tmp_path / "x.spans.parquet", format="parquet") == ()
    reading = read(tmp_path / "x.spans.parquet")
    assert reading.format == "parquet" and reading.layer.name == "x"
    assert content(reading.layer) == content(layer)
    assert reading.places == ((str(tmp_path / "x.texts.parquet"), 1), (str(tmp_path / "x.texts.parquet"), 2))
    assert isinstance(reading.documents.texts, Texts)
    write(reading.layer, tmp_path / "again.jsonl", format="jsonl")
    assert (tmp_path / "again.jsonl").read_text() == FULL + FULL.replace('"d1"', '"d2"')


@draws(13)
@given(layer=layers(), small=st.booleans())
def test_any_layer_reads_back_unchanged(layer: Layer, small: bool) -> None:
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        if small:
            # Row groups of a document or two.
            patch.setattr(writer, "GROUP_SPANS", 3)
        path = Path(folder, "out")
        write(layer, path, format="parquet")
        if not len(layer.documents):
            with pytest.raises(FormatError, match="no document in it"):
                read(path)
            return
        again = read(path).layer
    assert content(again) == content(layer)
    assert again.digest == layer.digest


def test_the_columns_are_those_that_are_needed_and_the_bytes_those_of_the_layer(tmp_path: Path) -> None:
    plain = jsonl('{"id": "d", "text": "abc", "spans": [{"start": 0, "end": 1, "label": "A"}]}\n')
    for name, layer in (("full", jsonl(FULL)), ("plain", plain), ("twice", plain)):
        write(layer, tmp_path / f"{name}.texts.parquet", format="parquet")
    columns = {
        path.name: parquet.read_schema(path).names for path in sorted(tmp_path.iterdir()) if "twice" not in path.name
    }
    more = ["id", "links", "fragments", "core", "alternatives", "score", "meta"]
    assert columns == {
        "full.spans.parquet": ["document", "start", "end", "type", *more],
        "full.texts.parquet": ["document", "text", "tokens", "sentences", "meta"],
        "plain.spans.parquet": ["document", "start", "end", "type"],
        "plain.texts.parquet": ["document", "text"],
    }
    for ending in (".spans.parquet", ".texts.parquet"):
        assert (tmp_path / f"plain{ending}").read_bytes() == (tmp_path / f"twice{ending}").read_bytes()


def test_row_groups_hold_whole_documents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "GROUP_SPANS", 4)
    row = '{{"id": "d{0}", "text": "abcdef", "spans": [{1}]}}\n'
    one = '{"start": 0, "end": 1, "label": "A"}'
    layer = jsonl(
        "".join(row.format(number, ", ".join([one] * size)) for number, size in enumerate((2, 2, 0, 3, 9, 1)))
    )
    write(layer, tmp_path / "x", format="parquet")
    file = parquet.ParquetFile(tmp_path / "x" / "part-00000.spans.parquet")
    groups = [file.read_row_group(number)["document"].to_pylist() for number in range(file.num_row_groups)]
    assert [sorted(set(group)) for group in groups] == [["d0", "d1"], ["d3"], ["d4"], ["d5"]]
    assert content(read(tmp_path / "x").layer) == content(layer)


def writes_views() -> bool:
    """Tell whether this pyarrow has views in Parquet; older ones read them as strings."""
    try:
        parquet.write_table(pa.table({"text": pa.array(["a"], pa.string_view())}), pa.BufferOutputStream())
    except pa.ArrowNotImplementedError:
        return False
    return True


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(
            lambda name, column: column.dictionary_encode() if name in ("document", "type") else column, id="1"
        ),
        pytest.param(lambda name, column: column.dictionary_encode() if name == "text" else column, id="text coded"),
        pytest.param(
            lambda name, column: column.cast(pa.large_string()) if column.type == pa.string() else column, id="large"
        ),
        pytest.param(
            lambda name, column: column.cast(pa.string_view()) if column.type == pa.string() else column,
            id="views",
            marks=pytest.mark.skipif(not writes_views(), reason="this pyarrow writes no views"),
        ),
        pytest.param(lambda name, column: column.cast(pa.int8()) if name in ("start", "end") else column, id="int8"),
        pytest.param(
            lambda name, column: column.cast(pa.uint64()) if name in ("start", "end") else column, id="uint64"
        ),
        pytest.param(lambda name, column: column.cast(pa.float32()) if name == "score" else column, id="float32"),
        pytest.param(
            lambda name, column: (
                column.cast(pa.large_list(column.type.value_type)) if pa.types.is_list(column.type) else column
            ),
            id="large lists",
        ),
    ],
)
def test_columns_of_other_widths_are_read_alike(change: Any, tmp_path: Path) -> None:
    layer = jsonl(FULL.replace("0.93", "0.5"))
    write(layer, tmp_path / "x.spans.parquet", format="parquet")
    for name in ("x.spans.parquet", "x.texts.parquet"):
        table = parquet.read_table(tmp_path / name)
        changed = {key: change(key, table[key].combine_chunks()) for key in table.column_names}
        parquet.write_table(pa.table(changed), tmp_path / name)
    assert content(read(tmp_path / "x.spans.parquet").layer) == content(layer)


def test_a_folder_holds_many_pairs_and_says_what_else_is_in_it(tmp_path: Path) -> None:
    for name, documents in (("part-00001", ["e1", "e2"]), ("part-00000", ["d1", "d2"])):
        (tmp_path / f"{name}.spans.parquet").write_bytes(packed(spans(document=[documents[i] for i in (0, 0, 1)])))
        (tmp_path / f"{name}.texts.parquet").write_bytes(packed(texts(document=documents)))
    (tmp_path / "records.parquet").write_bytes(packed({"a": [1]}))
    reading = read(tmp_path)
    assert reading.documents.ids == ("d1", "d2", "e1", "e2")
    assert reading.layer.doc.tolist() == [0, 0, 1, 2, 2, 3]
    assert reading.notes == ("other files, not read: 1 (records.parquet)",)


def test_uploads_and_zips_are_read_like_files(tmp_path: Path) -> None:
    assert content(read(pair()).layer)["label"] == ["PER"] * 3
    assert not pair().files[0].on_disk
    for name, columns in (("x.spans", spans()), ("x.texts", texts())):
        (tmp_path / f"{name}.parquet.gz").write_bytes(gzip.compress(packed(columns)))
    assert content(read(tmp_path).layer) == content(read(pair()).layer)
    one = upload(("gold.spans", spans()))
    assert (one.label, one.name) == ("gold", "gold.spans.parquet")


def test_the_app_takes_pairs_of_files_and_names_systems_after_them(tmp_path: Path) -> None:
    system = upload(("run.spans", spans(type=["PER", "LOC", "PER"])), ("run.texts", texts()))
    loaded = load(None, upload(("gold.spans", spans()), ("gold.texts", texts())), {"run": system})
    assert (loaded.corpus.name, len(loaded.corpus.gold), len(loaded.corpus.system("run"))) == ("gold", 3, 3)
    entries = [f"{name}.{kind}.parquet" for name in ("gold", "run", "run.two") for kind in ("spans", "texts")]
    systems = likely_systems(entries, "gold.spans.parquet")
    assert systems == ["run.spans.parquet", "run.two.spans.parquet"]
    for name in entries:
        (tmp_path / name).write_bytes(packed(texts() if "texts" in name else spans()))
    title, gold, served = served_sources(tmp_path, ".", "gold.spans.parquet", systems)
    assert (title, list(served)) == (tmp_path.name, ["run", "run.two"])
    assert len(load(title, gold, served).corpus.systems) == 2


def scored_against(gold: Reading, source: Source) -> Reading:
    return read(source, options=ReadOptions(texts=gold.documents))


def test_spans_without_texts_take_those_of_gold() -> None:
    gold = read(pair())
    found = scored_against(gold, upload(("system", spans(document=["d2"] * 3, start=[0, 4, 8], end=[3, 7, 11]))))
    assert found.documents is gold.documents
    assert found.layer.doc.tolist() == [1, 1, 1]
    assert found.notes == (
        "no texts: gold's documents taken, 1 of 2 documents without a row here, read as empty: 'd1'",
    )
    two = upload(("a.spans", spans(document=["d1"] * 3)), ("b.spans", spans(document=["d1", "d2", "d2"])))
    problems = refused(two, ReadOptions(texts=gold.documents))
    assert problems == [
        "b.spans.parquet:1: document 'd1', whose spans stand in a.spans.parquet already; "
        "keep all spans of a document in one file"
    ]


def test_gold_needs_its_texts() -> None:
    assert refused(upload(("x.spans", spans()))) == [
        "x.spans.parquet: no texts; put the file of texts beside it, named alike, or score it against gold that has "
        "the texts"
    ]
    source = upload(("a.spans", spans()), ("a.texts", texts()), ("b.spans", spans()), ("c.texts", texts()))
    assert refused(source)[:2] == [
        "b.spans.parquet: the file 'b.texts.parquet' is missing; put it beside this one",
        "c.texts.parquet: the file 'c.spans.parquet' is missing; put it beside this one",
    ]


def pairs(*rows: Any) -> pa.Array:
    return pa.array(rows, pa.list_(PAIR))


REFUSED: list[tuple[dict[str, Any], dict[str, Any], list[str]]] = [
    # (what the spans have, what the texts have, the beginnings of what is said)
    (
        spans(start=[0, 8, 17], end=[3, 8, 20]),
        texts(),
        ["x.spans.parquet:2: span [8, 8)", "x.spans.parquet:3: span [17"],
    ),
    (
        spans(start=[0, -8, 2**60]),
        texts(),
        ["x.spans.parquet:2: span [-8, 11)", "x.spans.parquet:3: span [1099511627776"],
    ),
    (
        spans(start=pa.array([0, None, 0]), type=[None, "A", "A"]),
        texts(),
        ["x.spans.parquet:2: a span without start; give", "x.spans.parquet:1: a span without type; give it in"],
    ),
    (spans(type=["", "A", "A"]), texts(), ["x.spans.parquet:1: a span without a usable type; give it a type name"]),
    (
        spans(document=["d1", "d3", "d3"]),
        texts(),
        ["x.spans.parquet:2: 2 spans of document 'd3', which has no text; add its text, or leave them out"],
    ),
    (spans(start=[0.0, 1.0, 2.0]), texts(), ["x.spans.parquet: the column start holds double; write integers"]),
    (spans(start=[True] * 3), texts(), ["x.spans.parquet: the column start holds bool; write integers"]),
    (spans(type=[1, 2, 3]), texts(), ["x.spans.parquet: the column type holds int64; write strings"]),
    (
        {"document": ["d1"], "label": ["A"]},
        texts(),
        [
            "x.spans.parquet: no column start and no column end and no column type; give the columns document, start,",
            "x.spans.parquet: the unknown column 'label'; known are document, start, end, type, id, links, fragments,",
        ],
    ),
    (
        spans(),
        {"document": ["d1", "d2"], "words": ["a", "b"]},
        ["x.texts.parquet: no column text; give", "x.texts.parqu"],
    ),
    (
        spans(),
        texts(text=["a", None]),
        ["x.texts.parquet:2: a document without a text; give it in every row", "x", "x", "x"],
    ),
    (
        spans(),
        texts(document=["d1", "d1"]),
        ["x.texts.parquet:2: document id 'd1' stands at x.texts.parquet:1 alr", "x."],
    ),
    (spans(document=["d1"] * 3), texts(document=["d1", None]), ["x.texts.parquet:2: a document without an id; give"]),
    (spans(), texts(tokens=pairs([(0, 3)], [(2, 4), (0, 1)])), ["x.texts.parquet:2: token [0, 1) of document 'd2'"]),
    (
        spans(),
        texts(tokens=pairs(None, [(2, 4), None])),
        ["x.texts.parquet:2: a pair of tokens without a start or", "x.te"],
    ),
    (spans(), texts(sentences=[["a"], []]), ["x.texts.parquet: the column sentences holds list<"]),
    (
        spans(),
        texts(meta=["[]", '{"a": 1, "a": 2}']),
        ["x.texts.parquet:1: meta is not a JSON object", "x.texts.parquet:2: "],
    ),
    (
        spans(meta=["{", None, '{"a": NaN}']),
        texts(),
        ["x.spans.parquet:1: meta is not JSON that", "x.spans.parquet:3: meta"],
    ),
    (
        spans(core=pa.array([(0, 9), None, (None, 3)], PAIR)),
        texts(),
        [
            "x.spans.parquet:3: a core without a start or an end",
            "x.spans.parquet:1: core [0, 9] is not inside",
        ],
    ),
    (spans(core=[[0, 3]] * 3), texts(), ["x.spans.parquet: the column core holds list<"]),
    (spans(fragments=pairs([(0, 1), (2, 4)], None, None)), texts(), ["x.spans.parquet:1: fragments [[0, 1], [2, 4]]"]),
    (
        spans(alternatives=pairs(None, [(0, 99)], None)),
        texts(),
        ["x.spans.parquet:2: alternative [0, 99) is not inside"],
    ),
    (
        spans(links=[["Q1"], [None], [""]]),
        texts(),
        ["x.spans.parquet:2: a null in links", "x.spans.parquet:3: an empty"],
    ),
    (spans(score=[1.0, float("nan"), None]), texts(), ["x.spans.parquet:2: score nan is not a finite number"]),
]


@pytest.mark.parametrize(("of_spans", "of_texts", "said"), REFUSED, ids=[said[0][:60] for *_, said in REFUSED])
def test_what_is_wrong_is_named_with_file_and_row(
    of_spans: dict[str, Any], of_texts: dict[str, Any], said: list[str]
) -> None:
    problems = refused(pair(of_spans, of_texts))
    assert len(problems) == len(said)
    for problem, start in zip(problems, said, strict=True):
        assert problem.startswith(start)
        assert "; " in problem


def test_a_document_stands_in_one_pair_of_files_only() -> None:
    source = upload(
        ("a.spans", spans()),
        ("a.texts", texts()),
        ("b.spans", spans(document=["e1", "d1", "d1"])),
        ("b.texts", texts(document=["e1", "d2"])),
    )
    assert refused(source) == [
        "b.texts.parquet:2: document id 'd2' stands at a.texts.parquet:2 already; give each document its own id",
        "b.spans.parquet:2: 2 spans of document 'd1', whose text stands at a.texts.parquet:1; keep the spans of a "
        "document in the file beside its text",
    ]


def test_damaged_files_are_one_problem_each() -> None:
    whole, other = packed(spans()), packed(texts())
    for raw in (whole[: len(whole) // 2], whole[:-6], b"PAR1" + b"\0" * 40 + b"PAR1"):
        problems = refused(Source.of_uploads([("x.spans.parquet", raw), ("x.texts.parquet", other)]))
        assert len(problems) == 1
        assert problems[0].startswith("x.spans.parquet: cannot be read as Parquet: ")


def test_strings_that_are_not_utf8_are_refused() -> None:
    wrong = pa.Array.from_buffers(
        pa.string(), 2, [None, pa.py_buffer(np.array([0, 3, 6], np.int32)), pa.py_buffer(b"abc\xe9\xff\xff")]
    )
    for name, of_texts in (("text", texts(text=wrong)), ("document", texts(document=wrong))):
        (problem,) = (found for found in refused(pair(None, of_texts)) if "x.texts" in found)
        assert problem.startswith(f"x.texts.parquet: the column {name} is damaged: ")


def test_parquet_is_told_by_its_first_bytes() -> None:
    assert read(
        Source.of_uploads([("x", packed(spans())), ("y", b"")][:1]), options=ReadOptions(texts=read(pair()).documents)
    )
    mixed = [("records.parquet", packed({"a": [1]})), ("x.jsonl", FULL.encode())]
    assert read(Source.of_uploads(mixed)).format == "jsonl"


@pytest.mark.parametrize(
    ("name", "said"), [("x.parquet", "texts and spans are two files"), ("f", "a file stands there")]
)
def test_a_place_that_cannot_be_written_is_named(name: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "f").write_text("x")
    with pytest.raises(FormatError, match=said):
        write(jsonl(FULL), tmp_path / name, format="parquet")
    assert [path.name for path in tmp_path.iterdir()] == ["f"]


def test_both_files_appear_or_none(tmp_path: Path) -> None:
    layer = jsonl(FULL.replace('{"by": "a"}', '{"by": {"a": [1]}}'))
    layer.meta[0]["by"]["a"].append(float("nan"))
    with pytest.raises(ValueError, match="JSON"):
        write(layer, tmp_path / "x.spans.parquet", format="parquet")
    assert list(tmp_path.iterdir()) == []
