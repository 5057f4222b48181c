"""CLEF-HIPE files: headers, documents, tags and links; every real file is read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nereval_core.problems import FormatError, counted
from nereval_core.readers import Reading, ReadOptions, Source, read
from nereval_core.writers import write
from tests.support.shared_corpora import SHARED, files, needs

HEADER = "TOKEN\tNE-COARSE-LIT\tNE-COARSE-METO\tNE-NESTED\tNEL-LIT\tNEL-METO\tMISC\n"
ROWS = """\
Die\tO\tO\tO\t_\t_\tNoSpaceAfter
¬\tO\tO\tO\t_\t_\tEndOfLine|NoSpaceAfter
Stadt\tB-loc\tB-org\tO\tQ72|Q11943\tQ1|_|Q2\t_
Zürich\tI-loc\tI-org\tB-loc\tQ1\t_\tNoSpaceAfter|LED0.1
.\tO\tO\tO\t_\t_\tEndOfSentence
Genf\tB-loc\t_\tO\tNIL\t_\tEndOfLine
"""
IDS_2020 = "# language = de\n# date = 1798-01-20\n# document_id = d1\n# segment_iiif_link = https://x/y=z\n"
IDS_2022 = (
    "# hipe2022:document_type = newspaper\n# hipe2022:document_id = d1\n# hipe2022:date = 1798-01-20\n"
    "# newseye:title =  Antiqua = neu \n"
)


def read_text(text: str, **options: object) -> Reading:
    source = Source.of_uploads([("x.tsv", text.encode())])
    return read(source, format="hipe", options=ReadOptions(**options))  # type: ignore[arg-type]


def spans(reading: Reading) -> list[tuple[str, str]]:
    layer = reading.layer
    return [(layer.text(span), layer.label(span)) for span in range(len(layer))]


def tagged(*tags: str) -> str:
    """Return a file with one token a tag: t1, t2, …"""
    rows = "".join(f"t{number}\t{tag}\n" for number, tag in enumerate(tags, start=1))
    return f"TOKEN\tNE-COARSE-LIT\n# document_id = d1\n{rows}"


def test_text_tokens_sentences_and_links() -> None:
    reading = read_text(HEADER + IDS_2020 + ROWS)
    documents, layer = reading.documents, reading.layer
    assert documents.texts == ("Die¬\nStadt Zürich. Genf",)
    assert documents.tokens is not None and documents.sentences is not None
    assert documents.tokens.of_document(0) == [(0, 3), (3, 4), (5, 10), (11, 17), (17, 18), (19, 23)]
    assert documents.sentences.of_document(0) == [(0, 18), (19, 23)]
    assert spans(reading) == [("Stadt Zürich", "loc"), ("Genf", "loc")]
    assert layer.links == {0: ("Q72", "Q11943"), 1: ("NIL",)}
    assert reading.notes == (
        "entities from column NE-COARSE-LIT, links from NEL-LIT",
        "comments on segments, left out: 1",
    )


@pytest.mark.parametrize(
    ("comments", "meta"),
    [
        pytest.param(IDS_2020, {"language": "de", "date": "1798-01-20"}, id="2020"),
        pytest.param(
            IDS_2022,
            {"document_type": "newspaper", "date": "1798-01-20", "newseye:title": "Antiqua = neu"},
            id="2022",
        ),
        pytest.param("# document_id = d1\t\t\t\n# date = 1798\t\t\n", {"date": "1798"}, id="cells after comments"),
    ],
)
def test_metadata_before_and_after_the_id_belongs_to_the_document(comments: str, meta: dict[str, str]) -> None:
    second = comments.replace("d1", "d2").replace("1798", "1848")
    documents = read_text(HEADER + comments + ROWS + "\n" + second + ROWS).documents
    assert documents.ids == ("d1", "d2")
    assert documents.named
    assert documents.meta is not None
    assert [dict(one) for one in documents.meta] == [meta, {**meta, "date": meta["date"].replace("1798", "1848")}]


def test_a_document_without_tokens_keeps_its_place() -> None:
    ids = [f"# date = {number}\n# document_id = d{number}\n" for number in (1, 2, 3)]
    documents = read_text(HEADER + ids[0] + ids[1] + ROWS + ids[2]).documents
    assert documents.ids == ("d1", "d2", "d3")
    assert [bool(text) for text in documents.texts] == [False, True, False]
    assert [one["date"] for one in documents.meta or ()] == ["1", "2", "3"]


@pytest.mark.parametrize(
    ("cells", "noise"),
    [
        (("LED0.12", "LED0.12"), {"LED": 0.12}),
        (("NoSpaceAfter|LED0.1", "LED0.33|EndOfLine"), {"LED": 0.33}),
        (("_", "LED0.00"), {"LED": 0.0}),
        (("LED1", "_"), {"LED": 1.0}),
        (("_", "NoSpaceAfter"), None),
        (("LED", "LEDx"), None),
        ((f"LED{'9' * 400}", "_"), None),
    ],
)
def test_a_span_is_as_noisy_as_its_noisiest_token(cells: tuple[str, str], noise: dict[str, float] | None) -> None:
    rows = [f"{word}\t{tag}\t{cell}\n" for word, tag, cell in zip("ab", ("B-loc", "I-loc"), cells, strict=True)]
    text = "TOKEN\tNE-COARSE-LIT\tMISC\nx\tO\tLED0.9\n" + "".join(rows)
    reading = read_text(text)
    assert dict(reading.layer.meta) == ({} if noise is None else {0: noise})
    clean = read_text(text.replace("LED", ""))
    assert not clean.layer.meta and clean.layer.digest == reading.layer.digest


def test_the_noise_of_spans_survives_jsonl_and_brat_says_that_it_goes(tmp_path: Path) -> None:
    layer = read_text(HEADER + IDS_2020 + ROWS).layer
    assert dict(layer.meta) == {0: {"LED": 0.1}}
    write(layer, tmp_path / "a.jsonl", format="jsonl")
    assert dict(read(tmp_path / "a.jsonl").layer.meta) == {0: {"LED": 0.1}}
    assert any("metadata of 1 span" in note for note in write(layer, tmp_path / "brat", format="brat", lossy=True))
    write(layer, tmp_path / "a.conll", format="conll", lossy=True)
    for back in (read(tmp_path / "brat"), read(tmp_path / "a.conll")):
        assert spans(back) == [("Stadt Zürich", "loc"), ("Genf", "loc")] and not back.layer.meta


@pytest.mark.parametrize(
    ("text", "ids", "note"),
    [
        (HEADER + ROWS + "#\n\n" + ROWS, ("1",), "no document_id comments: each file is one document"),
        (
            HEADER + f"# document_id\n{ROWS}# segment_iiif_link\n{ROWS}# document_id\n{ROWS}",
            ("1", "2"),
            "document_id comments without ids: the documents are numbered in order",
        ),
    ],
)
def test_documents_without_ids_are_numbered_and_that_is_said(text: str, ids: tuple[str, ...], note: str) -> None:
    reading = read_text(text)
    assert reading.documents.ids == ids
    assert not reading.documents.named
    assert note in reading.notes


@pytest.mark.parametrize(
    ("column", "found", "links"),
    [
        (None, [("Stadt Zürich", "loc"), ("Genf", "loc")], {0: ("Q72", "Q11943"), 1: ("NIL",)}),
        ("NE-COARSE-METO", [("Stadt Zürich", "org")], {0: ("Q1", "_", "Q2")}),
        (3, [("Stadt Zürich", "org")], {0: ("Q1", "_", "Q2")}),
        ("NE-NESTED", [("Zürich", "loc")], {}),
    ],
)
def test_the_column_is_chosen_by_name_or_number(column: object, found: list[object], links: dict[int, object]) -> None:
    reading = read_text(HEADER + IDS_2020 + ROWS, column=column)
    assert (spans(reading), dict(reading.layer.links)) == (found, links)


@pytest.mark.parametrize("column", ["NE-FINE-LIT", "TOKEN", 1, 8, -1])
def test_a_column_that_is_not_there_is_refused_with_those_that_are(column: object) -> None:
    with pytest.raises(FormatError, match=r"^x\.tsv:1: no column .*; choose one of NE-COARSE-LIT, NE-COARSE-METO, "):
        read_text(HEADER + ROWS, column=column)


TAGS = [
    # (tags, spans, or None where refused at the lines given, conlleval's, discard's)
    ("B-a I-a O B-a B-a", ["t1 t2 a", "t4 a", "t5 a"], None, None),
    ("S-a B-b I-b E-b S-b", ["t1 a", "t2 t3 t4 b", "t5 b"], None, None),
    ("B-a _ B-a  B-A", ["t1 a", "t3 a", "t5 A"], None, None),
    ("I-a I-a O B-a", [3], ["t1 t2 a", "t4 a"], ["t4 a"]),
    ("B-a I-b I-b I-a", [4, 6], ["t1 a", "t2 t3 b", "t4 a"], ["t1 a"]),
    ("B-a O I-a I-a B-a I-a", [5], ["t1 a", "t3 t4 a", "t5 t6 a"], ["t1 a", "t5 t6 a"]),
    ("E-a B-a", [3], ["t1 a", "t2 a"], ["t2 a"]),
    ("I-pers.ind B-x-y I-x-y", [3], ["t1 pers.ind", "t2 t3 x-y"], ["t2 t3 x-y"]),
]


@pytest.mark.parametrize(("tags", "taken", "conlleval", "discard"), TAGS, ids=[case[0] for case in TAGS])
def test_tags(tags: str, taken: list[object], conlleval: list[str] | None, discard: list[str] | None) -> None:
    text = tagged(*tags.split(" "))
    if conlleval is None:
        assert [" ".join(span) for span in spans(read_text(text))] == taken
        return
    with pytest.raises(FormatError) as caught:
        read_text(text)
    assert [problem.line for problem in caught.value.problems] == taken
    assert "is not legal in IOB2; mend it, or read it with --repair" in str(caught.value)
    for repair, mended in (("conlleval", conlleval), ("discard", discard)):
        reading = read_text(text, repair=repair)
        assert [" ".join(span) for span in spans(reading)] == mended
        done = "cut as conlleval does" if repair == "conlleval" else "discarded"
        assert reading.mended == f"{counted(len(taken), 'malformed chunk')} {done}"
        assert reading.mended in reading.notes


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("Die\tO\n", 1, "is not a header; begin with TOKEN<tab>NE-COARSE-LIT"),
        ("# only = a comment\n", None, "no header"),
        ("\xa0\n", 1, "is not a header"),
        ((HEADER + "a\tO\n").replace("\n", "\r"), None, "lines end in a carriage return alone; save the file with"),
        (HEADER + "a\tO\tO\tO\t_\t_\t_\tO\n", 2, "8 cells under a header of 7"),
        (HEADER + "# document_id = d\n\tO\tO\tO\t_\t_\t_\n", 3, "a row without a token"),
        (HEADER + "# document_id = d\na\n", 3, "1 cell, so no tag in column NE-COARSE-LIT; write 2 cells or more"),
        (HEADER + "a O O O _ _ _\n", 2, "1 cell, so no tag in column NE-COARSE-LIT; write 2 cells or more"),
        (HEADER + "a\tX-loc\n", 2, "'X-loc' is not a tag; write O, or a letter, '-' and a type"),
        (HEADER + "a\tB-\n", 2, "'B-' is not a tag"),
        (HEADER + "a\tO\n# document_id = d\na\tO\n", 2, "tokens before the first document_id"),
        (HEADER + "# document_id = d\na\tO\n# document_id\na\tO\n", 4, "a document_id without a value"),
        (HEADER + "# document_id = d\na\tO\n# document_id = d\na\tO\n", 4, "document id 'd' stands at x.tsv:2 already"),
    ],
)
def test_refuses_with_the_line(text: str, line: int | None, said: str) -> None:
    with pytest.raises(FormatError) as caught:
        read_text(text)
    [problem] = caught.value.problems
    assert (problem.source, problem.line) == ("x.tsv", line)
    assert said in str(problem)


@pytest.mark.parametrize(
    ("change", "note"),
    [
        (lambda text: text.replace("\n", "\r\n"), None),
        (lambda text: text.replace("\n", "\r\r\n"), None),
        (lambda text: "\ufeff" + text, None),
        (lambda text: text.replace("\nGenf", "\n\nGenf"), None),
        (lambda text: text.replace("\nGenf", "\n\t\t\t\t\nGenf"), None),
        (lambda text: text.replace("METO\tNE-NESTED", "METO   NE-NESTED"), None),
        (lambda text: text.replace("\tQ72|Q11943\tQ1|_|Q2\t_", ""), "rows with fewer cells than the header"),
        (lambda text: text.replace("\nGenf", "\n#Atolacs\tO\t_\nGenf"), "lines that begin with # and have cells"),
    ],
    ids=["CRLF", "CR CR LF", "byte-order mark", "blank line", "blank cells", "blanks in header", "short row", "#token"],
)
def test_what_real_files_do_differently_changes_no_span(change: object, note: str | None) -> None:
    plain = read_text(HEADER + IDS_2020 + ROWS)
    reading = read_text(change(HEADER + IDS_2020 + ROWS))  # type: ignore[operator]
    assert spans(reading) == spans(plain)
    assert reading.documents.digest == plain.documents.digest
    more = [said for said in reading.notes if said not in plain.notes]
    assert len(more) == (note is not None)
    assert all(said.startswith(note or "") for said in more)


REAL = [path for pattern in ("gold", "submissions", "relaxed") for path in files(f"hipe20*/{pattern}/*.tsv")]
REAL = [path for path in REAL if "mapping" not in path.name]


@needs("hipe2020")
@needs("hipe2022")
def test_every_real_file_is_recognised_and_read() -> None:
    assert len(REAL) == 48
    tokens: dict[str, int] = {}
    for path in REAL:
        reading = read(path, options=ReadOptions(repair="conlleval"))
        assert reading.format == "hipe"
        assert reading.documents.tokens is not None
        tokens[path.name] = len(reading.documents.tokens.starts)
        if path.parent.name == "gold":
            # Gold needs no repair, and has an id and metadata for each document.
            assert not any("repair" in note for note in reading.notes)
            assert reading.documents.named
            assert all(reading.documents.meta or [False])
        else:
            assert len(reading.layer) > 0
    for end, number in (("en_1.tsv", {16634, 6051}), ("fr_2.tsv", {40854}), ("sonar_de_1.tsv", {15463})):
        assert {size for name, size in tokens.items() if name.endswith(end)} == number


def expected(pattern: str) -> list[Path]:
    return files(f"expected/{pattern}")


@needs("hipe2022")
@needs("expected")
def test_gold_of_2022_has_as_many_spans_as_the_scorer_counted() -> None:
    counted: dict[tuple[str, str], int] = {}
    for path in expected("hipe2022/*_nerc_*.json"):
        result = json.loads(path.read_text())
        for column, slices in result["results"].items():
            possible = slices["TIME-ALL"]["LED-ALL"]["ALL"]["strict"]["possible"]
            assert counted.setdefault((result["gold"], column), possible) == possible
    assert len(counted) == 18
    for (name, column), possible in counted.items():
        layer = read(SHARED / "hipe2022/gold" / name, options=ReadOptions(column=column)).layer
        assert (name, column, len(layer)) == (name, column, possible)


@needs("hipe2020")
@needs("expected")
@pytest.mark.parametrize(("language", "name"), [("en", "team10_bundle1_en_1.json"), ("fr", "team1_bundle3_fr_2.json")])
def test_gold_of_2020_has_as_many_spans_as_the_official_rows(language: str, name: str) -> None:
    rows = json.loads((SHARED / "expected/hipe2020" / name).read_text())["official_rows"]
    [row] = [row for row in rows if (row["Evaluation"], row["Label"]) == ("NE-COARSE-LIT-micro-strict", "ALL")]
    gold = read(SHARED / f"hipe2020/gold/HIPE-data-v1.3-test-{language}.tsv")
    assert len(gold.layer) == int(row["TP"]) + int(row["FN"])


def test_other_columns_of_tags_are_asked_for() -> None:
    text = "TOKEN\tNE-COARSE-LIT\tNE-FINE-LIT\tPRED\nAnn\tB-pers\tB-pers.ind\tB-loc\nleft\tO\tO\tO\n"
    with pytest.raises(FormatError, match=r"2 columns hold tags: 'NE-COARSE-LIT' \(pers\), 'PRED' \(loc\); name one"):
        read_text(text)
    assert [spans(read_text(text, column=name)) for name in ("NE-COARSE-LIT", "PRED")] == [
        [("Ann", "pers")],
        [("Ann", "loc")],
    ]
    assert spans(read_text(text.replace("PRED", "MISC").replace("B-loc", "_"))) == [("Ann", "pers")]
