"""brat's stand-off files: what real tools write is read, what differs is refused, and writing reads back."""

from __future__ import annotations

import re
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nereval_core.corpus import Layer
from nereval_core.corpus.builder import Builder
from nereval_core.problems import FormatError
from nereval_core.readers import Reading, ReadOptions, Source, read
from nereval_core.readers.shared.offset_units import parse_offsets
from nereval_core.writers import write
from tests.support.draws import draws
from tests.support.layer_strategies import content, layers
from tests.support.readings import span_texts
from tests.support.shared_corpora import SHARED, needs

TEXT = "Aspirin und\nCD 34 helfen\n"


def read_files(files: dict[str, str], *, texts: Reading | None = None, core_type: str | None = None) -> Reading:
    uploads = [(name, content.encode()) for name, content in files.items()]
    options = ReadOptions(texts=None if texts is None else texts.documents, core_type=core_type)
    return read(Source.of_uploads(uploads), format="brat", options=options)


def read_ann(ann: str, *, text: str = TEXT) -> Reading:
    return read_files({"d.txt": text, "d.ann": ann})


def rows(reading: Reading) -> list[tuple[object, ...]]:
    layer = reading.layer
    return [
        (
            layer.ids[span],
            layer.label(span),
            layer.fragments.get(span, ((int(layer.start[span]), int(layer.end[span])),)),
            layer.links.get(span, ()),
        )
        for span in range(len(layer))
    ]


TAKEN = [
    # (what, .ann, spans, notes)
    ("plain", "T1\tDrug 0 7\tAspirin\n", [("T1", "Drug", ((0, 7),), ())], ()),
    ("no final line end", "T1\tDrug 0 7\tAspirin", [("T1", "Drug", ((0, 7),), ())], ()),
    ("CRLF", "T1\tDrug 0 7\tAspirin\r\n\r\n", [("T1", "Drug", ((0, 7),), ())], ()),
    ("discontinuous", "T9\tX 0 7;18 24\tAspirin helfen", [("T9", "X", ((0, 7), (18, 24)), ())], ()),
    ("line end in the quote as a blank", "T1\tX 8 14\tund CD", [("T1", "X", ((8, 14),), ())], ()),
    ("split at a line end", "T1\tX 8 11;12 14\tund CD", [("T1", "X", ((8, 11), (12, 14)), ())], ()),
    (
        "blanks for the tab, as in a PharmaCoNER response",
        "T1\tDrug 0 7 Aspirin\nT2\tProtein 12 17  CD 34\n",
        [("T1", "Drug", ((0, 7),), ()), ("T2", "Protein", ((12, 17),), ())],
        (
            "T lines with a blank instead of the tab before the quoted text: 2",
            "quoted texts with blanks before or after them: 1",
        ),
    ),
    (
        "no quote",
        "T1\tDrug 0 7\n",
        [("T1", "Drug", ((0, 7),), ())],
        ("T lines without a quoted text, so nothing to check the offsets by: 1",),
    ),
    (
        "links, also before their T line; the database is kept",
        "N1\tReference T1 SNOMED:372\tAspirin\nT1\tDrug 0 7\tAspirin\nN2\tReference T1 :7\t\nN3\tReference T1 a:b:c",
        [("T1", "Drug", ((0, 7),), ("SNOMED:372", "7", "a:b:c"))],
        (),
    ),
    (
        "what is not a span is left out and counted",
        "T1\tDrug 0 7\tAspirin\nA1\tNegated T1\nA2\tSure E1\nR1\tX Arg1:T1 Arg2:T1\nE1\tX:T1\nM1\tX E1\n*\tSame T1 T1\n"
        "#1\tAnnotatorNotes T1\tsure?\n#2\tAnnotatorNotes T1\t722\n",
        [("T1", "Drug", ((0, 7),), ())],
        (
            *(
                f"{name}, not read: 1"
                for name in ("attributes", "modifications", "events", "relations", "equivalences")
            ),
            "annotator's notes, not read: 2",
            "attributes of spans, read as their metadata: 1",
        ),
    ),
    (
        "notes that are all codes become links, in the order of the file",
        "T1\tDrug 0 7\tAspirin\n#1\tAnnotatorNotes T1\t722\nN1\tReference T1 a:b\t\nT2\tForm 12 14\tCD\n"
        "#2\tAnnotatorNotes T2\t<null>\n#3\tAnnotatorNotes T1\tCHEBI:9|723 \n#4\tAnnotatorNotes R1\twhy?\n",
        [("T1", "Drug", ((0, 7),), ("722", "a:b", "CHEBI:9|723")), ("T2", "Form", ((12, 14),), ("NIL",))],
        (
            "annotator's notes, not read: 1",
            "annotator's notes, codes without exception, read as links: 3, 1 of them <null>, read as NIL",
        ),
    ),
    (
        "the same span twice",
        "T1\tDrug 0 7\tAspirin\nT2\tDrug 0 7\tAspirin\n",
        [("T1", "Drug", ((0, 7),), ()), ("T2", "Drug", ((0, 7),), ())],
        ("spans that repeat another of the same boundaries and type, kept: 1",),
    ),
    ("nothing", "", [], ()),
]


@pytest.mark.parametrize(("ann", "spans", "notes"), [case[1:] for case in TAKEN], ids=[case[0] for case in TAKEN])
def test_reads(ann: str, spans: list[tuple[object, ...]], notes: tuple[str, ...]) -> None:
    reading = read_ann(ann)
    assert rows(reading) == spans
    assert reading.notes == notes
    assert reading.documents.ids == ("d",)


REFUSED = [
    # (.ann, line, what the problem says)
    ("T1\tDrug 0 7\taspirin", 1, "the quoted text 'aspirin' is not the text at [0, 7), 'Aspirin'"),
    ("\nT1\tDrug 0 9\tAspirin", 2, "the quoted text 'Aspirin' is not the text at [0, 9), 'Aspirin u'"),
    ("T1\tDrug 0 99\tAspirin", 1, "span [0, 99) of document 'd' is not inside its text of 25 characters"),
    (f"T1\tDrug 0 {'9' * 5000}\tAspirin", 1, "is not inside its text of 25 characters"),
    ("T1\tDrug 7 7\t", 1, "span [7, 7)"),
    ("T1\tX 18 24;0 7\thelfen Aspirin", 1, "span [18, 7)"),
    ("T1\tX 0 7;5 11\tAspirin in und", 1, "fragments [[0, 7], [5, 11]]"),
    ("T1\tDrug 0\tAspirin", 1, "is not a T line; write it as T1<tab>Type start end<tab>text"),
    ("T1\tDrug ０ ７\tAspirin", 1, "is not a T line"),
    ("T1\tTwo Words 0 7\tAspirin", 1, "is not a T line"),
    ("T1 Drug 0 7 Aspirin", 1, "is not a T line"),
    ("T1\tDrug 0 7\tAspirin\nT1\tDrug 8 11\tund", 2, "T1 stands on line 1 already"),
    ("N1\tReference T1 372", 1, "is not an N line; write it as N1<tab>Reference T1 DB:ID<tab>name"),
    ("A1\tNegated T7", 1, "the attribute 'Negated' of 'T7', which is not a T line of this file; name the T line"),
    ("N1\tReference T7 DB:372\tx", 1, "a reference to 'T7', which is not a T line of this file"),
    ("X1\tDrug 0 7\tAspirin", 1, "is of no kind brat knows; begin each line with T, N, R, E, A, M, * or #"),
]


@pytest.mark.parametrize(("ann", "line", "said"), REFUSED, ids=[said for *_, said in REFUSED])
def test_refuses_with_the_line(ann: str, line: int, said: str) -> None:
    with pytest.raises(FormatError) as caught:
        read_ann(ann)
    [problem] = caught.value.problems
    assert str(problem).startswith(f"d.ann:{line}: ")
    assert said in str(problem)


@pytest.mark.parametrize(
    ("text", "start", "end", "covered"),
    [
        pytest.param("eins\r\nzwei", 6, 10, "zwei", id="CRLF counts two"),
        pytest.param("\ufeffeins", 1, 5, "eins", id="a byte-order mark counts one"),
        pytest.param("💊 eins", 2, 6, "eins", id="an emoji counts one"),
        pytest.param("e\u0301t eins", 4, 8, "eins", id="a combining mark counts one"),
        pytest.param("a\0b\u2028eins", 4, 8, "eins", id="NUL and the line separator count one"),
        pytest.param("تناول اسبرين", 6, 12, "اسبرين", id="Arabic"),
    ],
)
def test_offsets_count_the_text_as_it_stands_in_the_file(text: str, start: int, end: int, covered: str) -> None:
    reading = read_ann(f"T1\tX {start} {end}\t{covered}\n", text=text)
    assert reading.documents.texts == (text,)
    assert reading.layer.text(0) == covered


def test_ids_are_paths_without_the_suffix_and_a_text_may_lack_annotations() -> None:
    reading = read_files({"b/two.txt": "ab", "b/two.ann": "T1\tX 0 1\ta", "a.1.txt": "ab", "LICENSE": "MIT"})
    assert reading.documents.ids == ("a.1", "b/two")
    assert reading.notes == (
        "texts without an .ann file, documents without spans: 1",
        "other files, not read: 1 (LICENSE)",
    )


def test_annotations_alone_take_the_texts_of_gold() -> None:
    gold = read_ann("T1\tDrug 0 7\tAspirin")
    reading = read_files({"d.ann": "T1\tDrug 12 17 CD 34"}, texts=gold)
    assert reading.documents.texts == gold.documents.texts
    assert rows(reading) == [("T1", "Drug", ((12, 17),), ())]
    assert read_files({"d.ann": ""}, texts=gold).documents.ids == ("d",)
    for options, said in ((gold, "nor a gold document 'e'"), (None, "the .txt is missing; put 'e.txt' beside it")):
        with pytest.raises(FormatError, match=said):
            read_files({"e.ann": "T1\tDrug 12 17 CD 34"}, texts=options)


def test_one_ann_file_finds_the_text_beside_it(tmp_path: Path) -> None:
    (tmp_path / "d.txt").write_text(TEXT)
    (tmp_path / "d.ann").write_text("T1\tDrug 0 7\tAspirin\n")
    (tmp_path / "e.txt").write_text("another")
    reading = read(tmp_path / "d.ann")
    assert (reading.format, reading.documents.ids, len(reading.layer)) == ("brat", ("d",), 1)


def test_a_text_that_is_not_utf8_is_named() -> None:
    source = Source.of_uploads([("d.txt", "a\nné".encode("latin-1")), ("d.ann", b"T1\tX 0 1\ta\n")])
    with pytest.raises(FormatError, match=r"^d\.txt:2: byte 0xE9 at position 2 of the line is not UTF-8"):
        read(source)


NAMES = st.lists(
    st.text("abZ0.-é症", min_size=1, max_size=4).filter(lambda part: part[0] != "."), min_size=1, max_size=2
)


@draws(10)
@given(layer=layers(plain=True, names=NAMES.map("/".join)))
def test_any_plain_layer_reads_back_unchanged(layer: Layer) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder, "out")
        try:
            assert write(layer, path, format="brat") == ()
        except FormatError as error:
            # One document's file may stand where another's folder must: "a.txt" and "a.txt/b".
            assert "cannot be written" in str(error)
            assert not path.exists()
            return
        if not len(layer.documents):
            return
        again = read(path, format="brat").layer
    # Folders are read in the order of their names, so the content is compared free of the order of documents.
    assert again.digest == layer.digest
    if list(layer.documents.ids) == list(again.documents.ids):
        assert content(again) == content(layer)


def layer_of(name: str, text: str = "Aspirin", *, label: str = "Drug", links: tuple[str, ...] = ()) -> Layer:
    builder = Builder("made")
    builder.document(name, text)
    builder.span(0, len(text), label, links=links)
    return builder.finish("made")


@pytest.mark.parametrize(
    ("layer", "said"),
    [
        (layer_of("../d"), "the document id '../d' cannot be a file name"),
        (layer_of("/etc/d"), "the document id '/etc/d' cannot be a file name"),
        (layer_of("a//d"), "cannot be a file name"),
        (layer_of("a\\d"), "cannot be a file name"),
        (layer_of("a\0d"), "cannot be a file name"),
        (layer_of(".d"), "cannot be a file name"),
        (layer_of("é" * 126), "cannot be a file name"),
        (layer_of("d", label="Two words"), "the type 'Two words' has a blank in it, in document 'd', 0-7 'Aspirin'"),
        (layer_of("d", links=("Q 1",)), "the link 'Q 1' has a blank in it, in document 'd', 0-7 'Aspirin'"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_brat_cannot_say_is_refused_and_nothing_written(layer: Layer, said: str, tmp_path: Path) -> None:
    with pytest.raises(FormatError) as caught:
        write(layer, tmp_path / "out", format="brat")
    assert said in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_holds_something_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    write(layer_of("a/d"), tmp_path / "out", format="brat")
    with pytest.raises(FormatError, match="the folder is not empty; name a new or empty folder"):
        write(layer_of("e"), tmp_path / "out", format="brat")
    assert [path.name for path in sorted(tmp_path.rglob("*"))] == ["out", "a", "d.ann", "d.txt"]
    assert (tmp_path / "out/a/d.ann").read_text() == "T1\tDrug 0 7\tAspirin\n"


def test_what_brat_has_no_place_for_is_said(tmp_path: Path) -> None:
    builder = Builder("made")
    builder.document("d", "ab", tokens=[(0, 2)], meta={"date": "1798"})
    builder.span(0, 2, "X", score=0.5, core=(0, 1))
    notes = write(builder.finish("made"), tmp_path / "out", format="brat", lossy=True)
    assert notes == (
        "brat has no place for them, left out: a core of 1 span, a score of 1 span, the metadata of 1 document, tokens",
    )


@needs("pharmaconer")
def test_every_pharmaconer_file_reads() -> None:
    gold = read(SHARED / "pharmaconer/subtask1/ref/subtask1")
    response = read(SHARED / "pharmaconer/subtask1/res/subtask1", options=ReadOptions(texts=gold.documents))
    assert (gold.format, len(gold.documents), len(gold.layer)) == ("brat", 125, 835)
    said = "annotator's notes, codes without exception, read as links: 823, 36 of them <null>, read as NIL"
    assert gold.notes == (said,)
    assert sum(map(len, gold.layer.links.values())) == 823
    assert (response.format, len(response.documents), len(response.layer)) == ("brat", 125, 803)
    assert gold.documents.digest == response.documents.digest


@needs("pharmaconer")
def test_pharmaconer_gold_reads_back_from_brat_and_jsonl(tmp_path: Path) -> None:
    gold = read(SHARED / "pharmaconer/subtask1/ref/subtask1").layer
    for format, name in (("brat", "folder"), ("jsonl", "file.jsonl")):
        write(gold, tmp_path / name, format=format)
        assert content(read(tmp_path / name).layer) == content(gold)
    note = re.compile(r"#\S+(\tAnnotatorNotes .*)")
    for file in (SHARED / "pharmaconer/subtask1/ref/subtask1").glob("*.ann"):
        as_read, as_written = (note.sub(r"#\1", path.read_text()) for path in (file, tmp_path / "folder" / file.name))
        assert sorted(as_written.split("\n")) == sorted(as_read.split("\n")), "but numbers of notes, the same lines"


def test_codes_of_notes_go_back_as_notes_and_references_as_references(tmp_path: Path) -> None:
    ann = (
        "T1\tDrug 0 7\tAspirin\n#1\tAnnotatorNotes T1\t722\n#2\tAnnotatorNotes T1\tCHEBI:9\nN1\tReference T1 a:b\t\n"
        "T2\tForm 12 14\tCD\n#3\tAnnotatorNotes T2\t<null>\n"
    )
    layer = read_ann(ann).layer
    assert layer.links == {0: ("722", "CHEBI:9", "a:b"), 1: ("NIL",)}
    write(layer, tmp_path / "out", format="brat")
    assert (tmp_path / "out/d.ann").read_text() == ann
    assert read(tmp_path / "out").layer.links == layer.links


def test_a_link_without_database_that_is_no_code_is_a_reference(tmp_path: Path) -> None:
    builder = Builder("made")
    builder.document("d", "ab")
    builder.span(0, 2, "X", links=("aspirin", "<null>", "Q90"))
    layer = builder.finish("made")
    write(layer, tmp_path / "out", format="brat")
    assert (tmp_path / "out/d.ann").read_text() == (
        "T1\tX 0 2\tab\nN1\tReference T1 :aspirin\t\nN2\tReference T1 :<null>\t\n#1\tAnnotatorNotes T1\tQ90\n"
    )
    assert read(tmp_path / "out").layer.links == layer.links


def test_attributes_are_metadata_and_written_again(tmp_path: Path) -> None:
    ann = "A1\tNegation T1\nT1\tDrug 0 7\tAspirin\nA2\tCertainty T1 very  high \nA9\tby T1 A\nA8\tby T1 B\n"
    layer = read_ann(ann).layer
    assert layer.meta == {0: {"Negation": True, "Certainty": "very  high", "by": ["A", "B"]}}
    write(layer, tmp_path / "out", format="brat")
    assert (tmp_path / "out/d.ann").read_text() == (
        "T1\tDrug 0 7\tAspirin\nA1\tNegation T1\nA2\tCertainty T1 very  high\nA3\tby T1 A\nA4\tby T1 B\n"
    )
    assert read(tmp_path / "out").layer.meta == layer.meta


UNSAID = [
    {"n": 1},
    {"a b": "x"},
    {"": "x"},
    {"x": ""},
    {"x": " y"},
    {"x": "y\nz"},
    {"x": None},
    {"x": ["y"]},
    {"x": {}},
]


@pytest.mark.parametrize("meta", UNSAID, ids=repr)
def test_metadata_that_no_attribute_says_is_refused(meta: dict[str, object], tmp_path: Path) -> None:
    builder = Builder("made")
    builder.document("d", "ab")
    builder.span(0, 1, "X", meta=meta)
    builder.span(1, 2, "X", meta={"x": True})
    layer = builder.finish("made")
    with pytest.raises(FormatError, match="brat has no place for metadata of 1 span;"):
        write(layer, tmp_path / "out", format="brat")
    write(layer, tmp_path / "out", format="brat", lossy=True)
    assert read(tmp_path / "out").layer.meta == {1: {"x": True}}


GENE = "the human p53 gene of mice"
WHOLE = "T1\tGene 4 18\thuman p53 gene\n"

CORES = [
    # (what, .ann, cores by span id, spans)
    ("of a type", WHOLE + "T2\tCore 10 13\tp53\n", {"T1": (10, 13)}, ["T1"]),
    ("before its span in the file", "T2\tCore 10 13\tp53\n" + WHOLE, {"T1": (10, 13)}, ["T1"]),
    ("of an attribute", WHOLE + "T2\tX 10 13\tp53\nA1\tCore T2\n", {"T1": (10, 13)}, ["T1"]),
    ("of an attribute with a value", WHOLE + "T2\tX 10 13\tp53\nA1\tCore T2 yes\n", {"T1": (10, 13)}, ["T1"]),
    (
        "of the smallest of several",
        WHOLE + "T2\tPhrase 0 26\tthe human p53 gene of mice\nT3\tCore 10 13\tp53\n",
        {"T1": (10, 13)},
        ["T1", "T2"],
    ),
    (
        "of each of several as small",
        WHOLE + "T2\tDNA 4 18\thuman p53 gene\nT3\tCore 10 13\tp53\n",
        {"T1": (10, 13), "T2": (10, 13)},
        ["T1", "T2"],
    ),
    ("as large as its span", WHOLE + "T2\tCore 4 18\thuman p53 gene\n", {"T1": (4, 18)}, ["T1"]),
    ("in a gap", "T1\tGene 4 9;14 18\thuman gene\nT2\tCore 10 13\tp53\n", {"T1": (10, 13)}, ["T1"]),
    ("another attribute", WHOLE + "A1\tSure T1\n", {}, ["T1"]),
]


@pytest.mark.parametrize(("what", "ann", "cores", "spans"), CORES, ids=[case[0] for case in CORES])
def test_cores(what: str, ann: str, cores: dict[str, tuple[int, int]], spans: list[str]) -> None:
    reading = read_files({"d.txt": GENE, "d.ann": ann}, core_type="Core")
    layer = reading.layer
    assert sorted(layer.ids.values()) == spans
    assert {layer.ids[span]: core for span, core in layer.cores.items()} == cores
    said = "spans of type or attribute 'Core', read as the cores of others: 1"
    assert any((said if cores else "no span has the type or the attribute 'Core'") in note for note in reading.notes)
    # Without the option they are spans, or lines left out, as ever.
    plain = read_files({"d.txt": GENE, "d.ann": ann})
    assert len(plain.layer) == ann.count("\tCore ") - ann.count("A1\tCore") + len(spans) + ann.count("\tX ")
    assert not plain.layer.cores


@pytest.mark.parametrize(
    ("ann", "lines"),
    [
        (WHOLE + "T2\tCore 0 3\tthe\n", ["d.ann:2: core T2 lies in no span; draw it inside the span"]),
        (WHOLE + "T2\tCore 2 13\te human p53\n", ["d.ann:2: core T2 lies in no span"]),
        (
            WHOLE + "T2\tCore 4 9\thuman\nT3\tCore 10 13\tp53\n",
            ["d.ann:3: T3 is a second core of T1, beside T2; keep one core a span"],
        ),
        (WHOLE + "T2\tCore 4 9;14 18\thuman gene\n", ["d.ann:2: core T2 is discontinuous"]),
        (WHOLE + "T2\tCore 10 13\tp54\n", ["d.ann:2: the quoted text 'p54' of core T2 is not the text at [10, 13)"]),
        (WHOLE + "A1\tCore T7\n", ["d.ann:2: the attribute 'Core' of 'T7', which is not a T line of this file"]),
        (WHOLE + "A1\tCore T1\n", ["d.ann:1: core T1 lies in no span"]),
        (
            "T1\tCore 0 3\tthe\nT2\tCore 4 9\thuman\n",
            ["d.ann:1: core T1 lies in no span", "d.ann:2: core T2 lies in no span"],
        ),
    ],
)
def test_cores_that_are_none(ann: str, lines: list[str]) -> None:
    with pytest.raises(FormatError) as caught:
        read_files({"d.txt": GENE, "d.ann": ann}, core_type="Core")
    assert len(caught.value.lines()) == len(lines)
    for found, expected in zip(caught.value.lines(), lines, strict=True):
        assert found.startswith(expected)


ASTRAL = "💊 Aspirin é hilft Ann."


def counted_in(text: str, encoding: str, width: int, *words: str, ends: tuple[str, str] = ("", "")) -> str:
    """Return an .ann file whose offsets count the units of an encoding of the text with other line ends."""
    lines = []
    for number, word in enumerate(words, start=1):
        before = text[: text.index(word)].replace(*ends) if ends[0] else text[: text.index(word)]
        start = len(before.encode(encoding)) // width
        lines.append(f"T{number}\tX {start} {start + len(word.encode(encoding)) // width}\t{word}\n")
    return "".join(lines)


@pytest.mark.parametrize(("encoding", "width", "unit"), [("utf-16-le", 2, "UTF-16 units"), ("utf-8", 1, "UTF-8 bytes")])
def test_the_unit_that_makes_all_quotes_match_is_taken(encoding: str, width: int, unit: str) -> None:
    ann = counted_in(ASTRAL, encoding, width, "Aspirin", "hilft Ann", "Ann")
    plain = "T1\tX 0 3\tAnn\nN1\tReference T1 A:1\tAnn\n"
    files = {"d.txt": ASTRAL, "d.ann": ann, "e.txt": "Ann\r\n", "e.ann": plain.replace("\n", "\r\n")}
    reading = read_files(files)
    assert [reading.layer.text(span) for span in range(4)] == ["Aspirin", "hilft Ann", "Ann", "Ann"]
    assert reading.layer.links == {3: ("A:1",)}
    assert reading.notes[0] == f"offsets in {unit}, end exclusive: 4 of 4 quotes match"
    # A discontinuous span, and a core, count as the others do.
    first, _, last = (line.split("\t")[1].removeprefix("X ") for line in ann.splitlines())
    more = f"{ann}T8\tX {first};{last}\tAspirin Ann\n"
    reading = read_files({"d.txt": ASTRAL, "d.ann": more + "A1\tCore T3\n"}, core_type="Core")
    assert ((2, 9), (18, 21)) in reading.layer.fragments.values() and set(reading.layer.cores.values()) == {(18, 21)}


def test_the_unit_may_be_named() -> None:
    unquoted = "T1\tX 3 10\nT2\tX 11 12\n"
    source = Source.of_uploads([("d.txt", ASTRAL.encode()), ("d.ann", unquoted.encode())])
    for offsets, words in ((None, ["spirin ", " "]), ("utf-16", ["Aspirin", "é"])):
        options = ReadOptions(offsets=None if offsets is None else parse_offsets(offsets))
        reading = read(source, options=options)
        assert [reading.layer.text(span) for span in range(2)] == words
    quoted = Source.of_uploads([("d.txt", ASTRAL.encode()), ("d.ann", b"T1\tX 2 9\tAspirin\n")])
    with pytest.raises(FormatError, match=r"d\.ann: the quotes do not fit offsets in UTF-16 units"):
        read(quoted, options=ReadOptions(offsets=parse_offsets("utf-16")))


@pytest.mark.parametrize(
    ("text", "annotated", "cause"),
    [
        ("Eins\r\nzwei 💊 Ann", "Eins\nzwei 💊 Ann", "line ends are CR LF in the text and LF where it was annotated"),
    ],
)
def test_the_cause_is_named_where_no_unit_fits(text: str, annotated: str, cause: str) -> None:
    ann = counted_in(annotated, "utf-16-le", 2, "zwei", "Ann")
    with pytest.raises(FormatError) as error:
        read_files({"d.txt": text, "d.ann": ann})
    assert cause in str(error.value.problems[0]) and error.value.problems[1].line == 1


BIONLP = {
    "d.txt": "Ann binds Bob\n",
    "d.a1": "T1\tProtein 0 3\tAnn\nT2\tProtein 10 13\tBob\n",
    "d.a2": "T3\tBinding 4 9\tbinds\nE1\tBinding:T3 Theme:T1\nN1\tDB Annotation:T2 Referent:DB:0001\n",
}


def test_both_files_of_bionlp_are_one_document() -> None:
    reading = read_files(BIONLP)
    assert [row[:2] for row in rows(reading)] == [("T1", "Protein"), ("T3", "Binding"), ("T2", "Protein")]
    assert dict(reading.layer.links) == {2: ("DB:0001",)}
    assert reading.notes == ("events, not read: 1",)
    assert len(read_files({key: BIONLP[key] for key in ("d.txt", "d.a1")}).layer) == 2
    assert len(read_files({key: BIONLP[key] for key in ("d.txt", "d.a2")} | {"d.a2": "T3\tB 4 9\tbinds\n"}).layer) == 1
    gold = read_files(BIONLP)
    assert len(read_files({key: BIONLP[key] for key in ("d.a1", "d.a2")}, texts=gold).layer) == 3


@pytest.mark.parametrize(
    ("file", "change", "said"),
    [
        ("d.a1", ("0 3", "0 x"), "d.a1:1: 'T1\\tProtein 0 x\\tAnn' is not a T line"),
        ("d.a2", ("4 9", "4 99"), "d.a2:1: "),
        ("d.a2", ("binds", "bonds"), "d.a2:1: "),
        ("d.a2", ("T3\tBinding", "T1\tBinding"), "d.a2:1: T1 stands on line 1 already"),
        ("d.a2", ("Annotation:T2", "Annotation:T9"), "d.a2:3: a reference to 'T9', which is not a T line of this file"),
    ],
)
def test_problems_of_bionlp_stand_in_their_file(file: str, change: tuple[str, str], said: str) -> None:
    with pytest.raises(FormatError) as caught:
        read_files(BIONLP | {file: BIONLP[file].replace(*change)})
    assert str(caught.value.problems[0]).startswith(said), caught.value.problems


def test_texts_and_annotations_may_lie_in_folders_of_their_own() -> None:
    """CADEC has text/A.1.txt and original/A.1.ann, its medical codes as types in folders beside."""
    files = {
        "text/A.1.txt": "bit drowsy, weak",
        "original/A.1.ann": "T1\tADR 0 10\tbit drowsy\n#1\tAnnotatorNotes T1\tsleepy\nT2\tADR 0 3;12 16\tbit weak\n",
    }
    reading = read_files(files)
    assert reading.documents.ids == ("A.1",)
    assert [row[1] for row in rows(reading)] == ["ADR", "ADR"]
    codes = {"text/A.1.txt": files["text/A.1.txt"], "meddra/A.1.ann": "TT1\t10013649 4 10\tdrowsy\n"}
    assert [row[:2] for row in rows(read_files(codes))] == [("TT1", "10013649")]
    # Concepts of SNOMED CT have their words beside them, and may be several.
    concepts = "TT1\t7 | Drowsy | 4 10\tdrowsy\nTT2\t8 | Weak | or 9 | Frail | 0 3;12 16\tbit weak\n"
    concepts += "TT3\tCONCEPT_LESS 0 3\tbit\n"
    alone = read_files({"text/A.1.txt": files["text/A.1.txt"], "sct/A.1.ann": concepts})
    assert [row[1] for row in rows(alone)] == ["CONCEPT_LESS", "8 | Weak | or 9 | Frail |", "7 | Drowsy |"]
    # Beside the spans that annotators marked, the other folders have codes for them.
    whole = read_files(
        files | {"meddra/A.1.ann": codes["meddra/A.1.ann"], "sct/A.1.ann": "TT1\t7 | Drowsy | 4 10\tdrowsy\n"}
    )
    assert rows(whole) == rows(reading)
    assert "other files, not read: 2 (meddra/A.1.ann, sct/A.1.ann)" in whole.notes
    with pytest.raises(FormatError, match=r"no text: the \.txt is missing"):
        read_files(codes | {"sct/A.1.ann": codes["meddra/A.1.ann"]})


def test_blanks_of_quotes_may_be_of_another_kind() -> None:
    """In BB 2019 texts have plain blanks where quotes have others."""
    assert len(read_files({"d.txt": "P. crustosum", "d.a1": "T1\tX 0 12\tP.\xa0crustosum\n"}).layer) == 1


@pytest.mark.parametrize("suffix", [".ann", ".a1"])
def test_a_byte_order_mark_that_the_offsets_do_not_count_is_none_of_the_text(suffix: str) -> None:
    files = [("d.txt", "\ufeffEins Ann".encode()), (f"d{suffix}", b"T1\tPER 5 8\tAnn\n")]
    reading = read(Source.of_uploads(files))
    assert reading.documents.texts == ("Eins Ann",)
    assert span_texts(reading.layer) == [("d", "Ann", "PER")]
