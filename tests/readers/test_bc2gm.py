"""BioCreative's gene mention files: offsets without blanks, variants as alternatives, and writing reads back."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nereval_core.corpus import Layer
from nereval_core.corpus.builder import Builder
from nereval_core.problems import FormatError
from nereval_core.readers import Reading, ReadOptions, Source, read
from nereval_core.readers.biomedical.bc2gm import NonBlankPlaces
from nereval_core.readers.read_settings import Unplaced
from nereval_core.writers import write
from tests.support.draws import draws
from tests.support.layer_strategies import texts, words
from tests.support.shared_corpora import SHARED, needs

#            0123 4567 89
SENTENCES = "s1 abcd efgh ij\ns2 alpha beta\n\ns3\n"


def read_files(files: dict[str, str], *, texts: Reading | None = None, unplaced: Unplaced = "spurious") -> Reading:
    uploads = [(name, content.encode()) for name, content in files.items()]
    options = ReadOptions(texts=None if texts is None else texts.documents, unplaced=unplaced)
    return read(Source.of_uploads(uploads), options=options)


def read_gold(gene: str, variants: str = "", sentences: str = SENTENCES) -> Reading:
    return read_files({"test.in": sentences, "GENE.eval": gene, "ALTGENE.eval": variants})


def rows(reading: Reading) -> list[tuple[object, ...]]:
    layer = reading.layer
    return [
        (layer.documents.ids[int(layer.doc[span])], layer.text(span), layer.alternatives.get(span, ()))
        for span in range(len(layer))
    ]


TAKEN = [
    # (what, GENE.eval, ALTGENE.eval, (sentence, text, alternatives as code points), notes)
    ("one character", "s1|4 4|e\n", "", [("s1", "e", ())], ()),
    ("over a blank, quoted with it", "s1|0 7|abcd efgh\n", "", [("s1", "abcd efgh", ())], ()),
    ("over a blank, quoted without it", "s1|2 5|cdef", "", [("s1", "cd ef", ())], ()),
    ("CRLF and blank lines", "\r\ns2|5 8|beta\r\n\r\n", "", [("s2", "beta", ())], ()),
    (
        "more than one blank",
        "s1|0  3|abcd\n",
        "",
        [("s1", "abcd", ())],
        ("offsets with more than one blank between them: 1",),
    ),
    (
        "no text",
        "s1|0 3\n",
        "",
        [("s1", "abcd", ())],
        ("mentions without a quoted text, so nothing to check the offsets by: 1",),
    ),
    (
        "a variant belongs to each mention it overlaps, sorted and once",
        "s1|0 3|abcd\ns1|4 7|efgh\ns2|0 4|alpha\n",
        "s1|3 7|defgh\ns1|3 4|de\ns1|3 4|de\ns1|4 4|e\n",
        [("s1", "abcd", ((3, 6), (3, 9))), ("s1", "efgh", ((3, 6), (3, 9), (5, 6))), ("s2", "alpha", ())],
        (),
    ),
    (
        "nested mentions, lines in any order",
        "s1|1 2|bc\ns1|0 7|abcd efgh\n",
        "s1|2 3|cd\ns1|3 3|d\n",
        [("s1", "abcd efgh", ((2, 4), (3, 4))), ("s1", "bc", ((2, 4),))],
        (),
    ),
    (
        "variants that touch no mention, or whose sentence is not there",
        "s1|0 3|abcd\n",
        "s1|4 7|efgh\ns2|0 0|a\ns9|0 3|abcd\n",
        [("s1", "abcd", ())],
        (
            "variants that overlap no mention of their sentence, left out: 2",
            "variants of sentences that are not there, left out: 1",
        ),
    ),
]


@pytest.mark.parametrize(
    ("gene", "variants", "expected", "notes"), [row[1:] for row in TAKEN], ids=[r[0] for r in TAKEN]
)
def test_takes(gene: str, variants: str, expected: list[tuple[object, ...]], notes: tuple[str, ...]) -> None:
    reading = read_gold(gene, variants)
    assert (reading.format, reading.documents.ids, reading.layer.types) == ("bc2gm", ("s1", "s2", "s3"), ("GENE",))
    assert reading.documents.texts == ("abcd efgh ij", "alpha beta", "")
    assert rows(reading) == expected
    counted = f"spans with alternatives: {len(reading.layer.alternatives)} of {len(reading.layer)}"
    assert reading.notes == notes + ((counted,) if reading.layer.alternatives else ())


REFUSED = [
    # (GENE.eval, ALTGENE.eval, where, said)
    ("s1|0 3|abcd\ns1;0 3;abcd\n", "", "GENE.eval:2", "'s1;0 3;abcd' is not a mention; write it as id|start end|text"),
    ("s1|0 3|abcd\ns1|0 -3|abcd\n", "", "GENE.eval:2", "'s1|0 -3|abcd' is not a mention"),
    ("s9|0 3|abcd\n", "", "GENE.eval:1", "no sentence 's9'"),
    ("s1|0 10|abcd efgh ij\n", "", "GENE.eval:1", "0 10 is not inside sentence 's1', 10 characters without blanks"),
    ("s1|3 2|x\n", "", "GENE.eval:1", "3 2 is not inside sentence 's1'"),
    ("s3|0 0|x\n", "", "GENE.eval:1", "0 characters without blanks"),
    (f"s1|0 {'9' * 400}|abcd\n", "", "GENE.eval:1", "is not inside sentence 's1'"),
    ("s1|0 3|abce\n", "", "GENE.eval:1", "the quoted text 'abce' is not the text at 0 3, 'abcd'"),
    ("s1|0 3|abcd\n", "s1|0 4|abcd\n", "ALTGENE.eval:1", "the quoted text 'abcd' is not the text at 0 4, 'abcd e'"),
    ("s1|0 3|abcd\n", "s1|0 99|abcd\n", "ALTGENE.eval:1", "is not inside sentence 's1'"),
]


@pytest.mark.parametrize(("gene", "variants", "where", "said"), REFUSED, ids=[row[-1] for row in REFUSED])
def test_refuses_with_the_line(gene: str, variants: str, where: str, said: str) -> None:
    with pytest.raises(FormatError) as caught:
        read_gold(gene, variants)
    [problem] = caught.value.problems
    assert str(problem).startswith(f"{where}: ")
    assert said in str(problem)


def test_all_problems_are_told_at_once() -> None:
    with pytest.raises(FormatError) as caught:
        read_gold("s1|0 3|abcx\ns9|0 1|ab\n", "s1|0 33|a\n", SENTENCES + "s1 again\n")
    assert [str(problem).partition(": ")[0] for problem in caught.value.problems] == [
        "test.in:5",
        "GENE.eval:1",
        "GENE.eval:2",
        "ALTGENE.eval:1",
    ]


def test_a_prediction_takes_the_sentences_of_gold_or_its_own() -> None:
    gold = read_gold("s1|0 3|abcd\n", "s1|0 1|ab\n")
    pred = read_files({"run.eval": "s2|0 4|alpha\n"}, texts=gold)
    assert pred.documents is gold.documents
    assert rows(pred) == [("s2", "alpha", ())]
    assert "documents without a row here, read as empty: 's1'" in pred.notes[0]
    own = read_files({"run.eval": "s2|0 4|alpha\n", "sentences.txt": SENTENCES, "NOTICE.txt": "made by hand"})
    assert rows(own) == rows(pred)
    assert own.notes == ("other files, not read: 1 (NOTICE.txt)",)
    with pytest.raises(
        FormatError,
        match=r"run\.eval: no text: there is no file of sentences; give the folder that holds the sentences",
    ):
        read_files({"run.eval": "s2|0 4|alpha\n"})
    with pytest.raises(FormatError, match=r"run\.eval:1: no sentence 's7'.* --unplaced drop"):
        read_files({"run.eval": "s7|0 4|alpha\n"}, texts=gold)


def test_lines_of_unknown_sentences_are_left_out_on_request_and_told() -> None:
    gold = read_gold("s1|0 3|abcd\n")
    pred = read_files({"run.eval": "s7|0 4|alpha\ns2|0 4|alpha\ns8|0 0|a\n"}, texts=gold, unplaced="drop")
    assert rows(pred) == [("s2", "alpha", ())]
    assert pred.mended == "2 mentions of unknown sentences left out"
    assert f"{pred.mended}; the task's scorer counts each as wrong" in pred.notes
    whole = read_files({"run.eval": "s2|0 4|alpha\n"}, texts=gold, unplaced="drop")
    assert not whole.mended and len(whole.notes) == 1


def test_the_gold_that_lies_least_deep_is_read() -> None:
    files = {"test.in": SENTENCES, "GENE.eval": "s1|0 3|abcd\n", "a/GENE.eval": "x|0 0|x\n", "run.eval": "s1|0 0|x\n"}
    reading = read_files(files)
    assert rows(reading) == [("s1", "abcd", ())]
    assert reading.notes == ("other files, not read: 2 (a/GENE.eval, run.eval)",)
    with pytest.raises(FormatError, match="no file of mentions"):
        source = Source.of_uploads([("a/GENE.eval", b"x|0 0|x\n"), ("b/GENE.eval", b"x|0 0|x\n")])
        read(source, format="bc2gm")


@pytest.mark.parametrize(
    "uploads",
    [
        pytest.param([("x.jsonl", b'{"id":"a|0 1|b","text":"","spans":[]}\n')], id="JSON lines with bars"),
        pytest.param([("x.conll", b"a|1 O\nb|2 B-X\n")], id="columns with bars"),
    ],
)
def test_other_formats_are_not_claimed(uploads: list[tuple[str, bytes]]) -> None:
    assert read(Source.of_uploads(uploads)).format != "bc2gm"


@st.composite
def gene_layers(draw: st.DrawFn) -> Layer:
    """Draw what the format can say: one type, continuous spans that begin and end with no blank."""
    builder = Builder("drawn")
    for name in draw(st.lists(words(), max_size=4, unique=True)):
        text = draw(texts()).replace("\n", " ").replace("\r", " ")
        builder.document(name, text)
        solid = [place for place, char in enumerate(text) if not char.isspace()]

        def piece(solid: list[int] = solid) -> tuple[int, int]:
            low, high = sorted(draw(st.tuples(*[st.sampled_from(solid)] * 2)))
            return low, high + 1

        spans = [piece() for _ in range(draw(st.integers(0, 5)) if solid else 0)]
        variants = sorted({piece() for _ in range(draw(st.integers(0, 4)) if solid else 0)})
        for low, high in spans:
            over = [one for one in variants if max(low, one[0]) < min(high, one[1])]
            builder.span(low, high, "GENE", alternatives=tuple(over))
    return builder.finish("drawn")


@draws(20)
@given(layer=gene_layers())
def test_any_layer_of_genes_reads_back_unchanged(layer: Layer) -> None:
    if not len(layer.documents):
        return
    with TemporaryDirectory() as folder:
        path = Path(folder, "out")
        assert write(layer, path, format="bc2gm") == ()
        again = read(path).layer
        alone = (
            read(path / "GENE.eval", format="bc2gm", options=ReadOptions(texts=layer.documents)).layer
            if len(layer)
            else None
        )
    assert again.documents.ids == layer.documents.ids
    assert again.digest == layer.digest
    assert alone is None or (alone.start.tolist(), alone.end.tolist()) == (layer.start.tolist(), layer.end.tolist())


def layer_of(name: str = "d", text: str = "ab cd", label: str = "GENE", **span: object) -> Layer:
    builder = Builder("made")
    builder.document(name, text)
    builder.span(0, len(text), label, **span)  # type: ignore[arg-type]
    return builder.finish("made")


@pytest.mark.parametrize(
    ("layer", "said"),
    [
        (layer_of("a b"), "the document id 'a b' cannot stand before a bar and a blank"),
        (layer_of("a|b"), "the document id 'a|b' cannot stand"),
        (layer_of(text="a\nb"), "the text of document 'd' has more than one line; cut it into sentences"),
        (layer_of(text=" \t"), "document 'd': span [0, 2) ' \\t' (GENE) holds blanks only; leave out what it cannot"),
        (layer_of(fragments=((0, 2), (3, 5))), "document 'd': span [0, 5) 'ab cd' (GENE) is discontinuous"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_the_format_cannot_say_is_refused_and_nothing_written(layer: Layer, said: str, tmp_path: Path) -> None:
    with pytest.raises(FormatError) as caught:
        write(layer, tmp_path / "out", format="bc2gm")
    assert said in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_what_the_format_has_no_place_for_is_said(tmp_path: Path) -> None:
    layer = layer_of(text=" ab ", label="Drug", score=0.5, alternatives=((1, 2), (0, 1)))
    with pytest.raises(FormatError, match=r"bc2gm has no place for a score of 1 span; leave out what it"):
        write(layer, tmp_path / "out", format="bc2gm")
    assert write(layer, tmp_path / "out", format="bc2gm", lossy=True) == (
        "bc2gm has no place for them, left out: a score of 1 span",
        "GENE is the only type of bc2gm; these would be written as GENE: 'Drug'",
        "spans with blanks at an end, which are not counted: 1",
        "alternatives that share no character with their span, so that their span would be unknown: 1",
    )
    assert (tmp_path / "out/sentences.in").read_bytes() == b"d  ab \n"
    assert (tmp_path / "out/GENE.eval").read_bytes() == b"d|0 1|ab\n"
    assert (tmp_path / "out/ALTGENE.eval").read_bytes() == b"d|0 0|a\n"


@needs("bc2gm")
def test_the_test_set_reads_and_reads_back(tmp_path: Path) -> None:
    gold = read(SHARED / "bc2gm")
    assert (gold.format, len(gold.documents), len(gold.layer)) == ("bc2gm", 5000, 6331)
    assert gold.notes[0] == "variants that overlap no mention of their sentence, left out: 27"
    lines = (SHARED / "bc2gm/ALTGENE.eval").read_text().splitlines()
    assert len(lines) - 27 <= sum(map(len, gold.layer.alternatives.values()))
    for run, spans in (("run_mixed.eval", 6055), ("run_variants.eval", 7080), ("ALTGENE.eval", len(lines))):
        pred = read(SHARED / "bc2gm" / run, options=ReadOptions(texts=gold.documents))
        assert (pred.format, len(pred.layer)) == ("bc2gm", spans)
    with pytest.raises(FormatError, match=r"run_noisy\.eval:6589: no sentence 'BC2GMX000000000'"):
        read(SHARED / "bc2gm/run_noisy.eval", options=ReadOptions(texts=gold.documents))
    write(gold.layer, tmp_path / "out", format="bc2gm")
    again = read(tmp_path / "out")
    assert again.layer.digest == gold.layer.digest
    assert again.notes == ("spans with alternatives: 3670 of 6331",)


@given(texts() | st.lists(words(), max_size=6).map(" ".join))
def test_places_without_blanks_are_those_counted_one_by_one(text: str) -> None:
    at = [place for place, character in enumerate(text) if not character.isspace()]
    places = NonBlankPlaces(text)
    assert places.size == len(at)
    assert [places.of((0, end)) for end in range(len(at))] == [(at[0], place + 1) for place in at]
    assert [places.of((start, len(at) - 1)) for start in range(len(at))] == [(place, at[-1] + 1) for place in at]
