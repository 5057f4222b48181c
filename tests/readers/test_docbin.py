"""spaCy's DocBin: what spaCy itself reads from a file is what we read, damage and bombs end in problems."""

from __future__ import annotations

import gzip
import io
import random
import sys
import tracemalloc
import zipfile
import zlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nereval_core.corpus import Layer
from nereval_core.corpus.builder import Builder
from nereval_core.corpus.tokens import WORD
from nereval_core.problems import FormatError
from nereval_core.readers import Reading, ReadOptions, Source, read
from nereval_core.readers import layers as layers_of
from nereval_core.readers.docbin import message
from nereval_core.writers import write, writers
from nereval_core.writers.docbin import words_of
from nereval_core.writers.writer import find_losses, remove_losses
from tests.support.draws import draws
from tests.support.layer_strategies import content, layers, texts, words
from tests.support.readings import span_texts
from tests.support.samples import DOCBIN

spacy = pytest.importorskip("spacy", reason="spaCy is not installed")
srsly = pytest.importorskip("srsly")

from spacy.tokens import Doc, DocBin, Span  # noqa: E402


@cache
def vocabulary() -> Any:
    return spacy.blank("xx").vocab


def source(raw: bytes, name: str = "train.spacy") -> Source:
    return Source.of_uploads([(name, raw)])


def read_raw(raw: bytes, layer: str | None = None) -> Reading:
    return read(source(raw), format="docbin", options=ReadOptions(layer=layer))


def packed(*docs: Doc, **options: Any) -> bytes:
    raw: bytes = DocBin(docs=docs, **options).to_bytes()
    return raw


def test_entities_and_span_groups_are_layers() -> None:
    assert layers_of(source(DOCBIN)) == ("ents", "sc")
    ents = read_raw(DOCBIN, "ents")
    assert span_texts(ents.layer) == [("d1", "Ann", "PERSON"), ("d1", "Bob Lee", "PERSON")]
    assert dict(ents.layer.links) == {0: ("Q1",), 1: ("lee",)}
    assert ents.documents.texts == ("Ann 😀 met Bob Lee.\n She left  Rome.", "Nobody.")
    assert ents.documents.meta == ({"date": "1798-01-20"}, {})
    assert ents.notes == (
        "tokens without entity annotation, taken as outside of any: 2",
        "values of user data that are not plain, or not of a document, left out: 1",
    )
    group = read_raw(DOCBIN, "sc")
    assert span_texts(group.layer) == [("d1", "Bob Lee", "NAME"), ("d1", "Lee", "SURNAME"), ("d1", "Rome", "CITY")]
    assert (dict(group.layer.ids), dict(group.layer.links)) == ({0: "T1"}, {0: ("Q2",)})
    assert dict(group.layer.scores) == {0: 0.5, 1: 0.25, 2: 1.0}
    assert group.notes[0] == "documents without the span group 'sc', taken as empty: 1"


def test_tokens_are_those_that_are_not_white_space_and_sentences_go_from_word_to_word() -> None:
    documents = read_raw(DOCBIN, "ents").documents
    assert documents.tokens is not None and documents.sentences is not None
    text = documents.texts[0]
    said = [text[low:high] for low, high in documents.tokens.of_document(0)]
    assert said == ["Ann", "😀", "met", "Bob", "Lee", ".", "She", "left", "Rome", "."]
    said = [text[low:high] for low, high in documents.sentences.of_document(0)]
    assert said == ["Ann 😀 met Bob Lee.", "She left  Rome."]
    assert documents.sentences.of_document(1) == [(0, 7)]


def test_one_of_several_layers_has_to_be_named() -> None:
    with pytest.raises(FormatError, match="it holds 2 layers, 'ents', 'sc', and one is read at a time; name it after"):
        read_raw(DOCBIN)
    with pytest.raises(FormatError, match="no layer 'x'; choose among 'ents', 'sc'"):
        read_raw(DOCBIN, "x")


def test_entities_are_a_layer_where_nothing_else_is_and_where_they_are_asked_for() -> None:
    doc = Doc(vocabulary(), words=["a", "b"], spaces=[True, False])
    assert layers_of(source(packed(doc))) == ("ents",)
    assert not len(read_raw(packed(doc)).layer)
    doc.spans["x"], doc.spans["ents"] = [Span(doc, 0, 1, label="A")], [Span(doc, 1, 2, label="B")]
    assert layers_of(source(packed(doc))) == ("x", "ents")
    assert span_texts(read_raw(packed(doc), "ents").layer) == [("1", "b", "B")]
    doc.ents = [Span(doc, 0, 2, label="C")]
    assert layers_of(source(packed(doc))) == ("ents", "x", "ents (spans)")
    assert span_texts(read_raw(packed(doc), "ents").layer) == [("1", "a b", "C")]
    assert span_texts(read_raw(packed(doc), "ents (spans)").layer) == [("1", "b", "B")]
    del doc.spans["ents"]
    doc.ents = []
    assert layers_of(source(packed(doc))) == ("x",)
    assert not len(read_raw(packed(doc), "ents").layer)


def test_extension_attributes_of_a_document_are_metadata_and_a_number_is_an_id() -> None:
    doc = Doc(vocabulary(), words=["a"])
    doc.user_data = {"id": 7, ("._.", "year", None, None): 1798, ("._.", "odd", 0, 1): True, "list": [1, {"a": None}]}
    reading = read_raw(packed(doc, store_user_data=True))
    assert (reading.documents.ids, reading.documents.meta) == (("7",), ({"year": 1798, "list": [1, {"a": None}]},))
    assert reading.notes[1:] == (
        "values of user data that are not plain, or not of a document, left out: 1",
        "documents of which spaCy does not know where blanks stand, one taken after every token: 1",
    )
    assert reading.documents.texts == ("a ",)


def test_what_spacy_convert_writes_is_read() -> None:
    """Its converter of columns, `spacy convert --converter ner -n 10`, knows of no blanks."""
    from spacy.training.converters import conll_ner_to_docs

    rows = "EU\tB-ORG\nrejects\tO\nGerman\tB-MISC\ncall\tO\n.\tO\n\nPeter\tB-PER\nBlackburn\tI-PER\n\n"
    reading = read_raw(packed(*conll_ner_to_docs(rows, n_sents=10, no_print=True)))
    found = [("1", "EU", "ORG"), ("1", "German", "MISC"), ("1", "Peter Blackburn", "PER")]
    assert (span_texts(reading.layer), reading.documents.named) == (found, False)
    assert reading.documents.texts == ("EU rejects German call . Peter Blackburn ",)
    assert reading.documents.sentences is not None
    assert reading.documents.sentences.of_document(0) == [(0, 24), (25, 40)]


def test_packed_zipped_and_several_files_are_read() -> None:
    with io.BytesIO() as file:
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr("a.spacy", packed(Doc(vocabulary(), words=["a"])))
            archive.writestr("b.spacy", packed(Doc(vocabulary(), words=["b"])))
        zipped = Source.of_uploads([("x.zip", file.getvalue())])
    reading = read(zipped)
    assert (reading.documents.texts, reading.places) == (("a ", "b "), (("x.zip/a.spacy", 1), ("x.zip/b.spacy", 1)))
    assert read(source(gzip.compress(DOCBIN), "x.spacy.gz"), options=ReadOptions(layer="sc")).format == "docbin"


@st.composite
def docs(draw: st.DrawFn) -> Doc:
    """Draw a document as spaCy makes it: any words and blanks, entities with gaps in what is known, span groups."""
    given = draw(st.lists(texts(min_size=1), max_size=6))
    unknown = draw(st.booleans())
    blanks = None if unknown else draw(st.lists(st.booleans(), min_size=len(given), max_size=len(given)))
    doc = Doc(vocabulary(), words=given, spaces=blanks)

    def drawn() -> Span:
        low = draw(st.integers(0, len(given) - 1))
        high = draw(st.integers(low + 1, len(given)))
        named = draw(st.sampled_from(["", "T1"])), draw(st.sampled_from(["", "Q7"]))
        return Span(doc, low, high, label=draw(words()), span_id=named[0], kb_id=named[1])

    if given:
        taken: set[int] = set()
        kept = []
        for _ in range(draw(st.integers(0, 3))):
            span = drawn()
            if taken.isdisjoint(range(span.start, span.end)):
                taken |= set(range(span.start, span.end))
                kept.append(span)
        doc.set_ents(kept, default=draw(st.sampled_from(["outside", "missing", "blocked"])))
        for key in draw(st.lists(st.sampled_from(["sc", "ruler", "é"]), unique=True)):
            doc.spans[key] = [drawn() for _ in range(draw(st.integers(0, 3)))]
        if draw(st.booleans()):
            for token in doc[1:]:
                token.is_sent_start = draw(st.sampled_from([True, False, None]))
    return doc


@draws(27)
@given(st.lists(docs(), min_size=1, max_size=4))
def test_what_spacy_reads_is_what_we_read(drawn: list[Doc]) -> None:
    raw = packed(*drawn)
    theirs = list(DocBin().from_bytes(raw).get_docs(vocabulary()))
    known = layers_of(source(raw))
    for name in {*known, "ents"}:
        layer = read_raw(raw, name).layer
        groups = [doc.ents if name == "ents" else doc.spans.get(name, ()) for doc in theirs]
        expected = sorted(
            (number, span.start_char, span.end_char, span.label_, span.id_, span.kb_id_)
            for number, group in enumerate(groups)
            for span in group
        )
        ours = []
        for span in range(len(layer)):
            links = layer.links.get(span, ())
            id = layer.ids.get(span, "")
            if name == "ents":
                # An entity's id is told from its link by its own name only.
                id, links = ("T1" if "T1" in links else ""), tuple(link for link in links if link != "T1")
            place = int(layer.doc[span]), int(layer.start[span]), int(layer.end[span])
            ours.append((*place, layer.label(span), id, "".join(links)))
        assert sorted(ours) == expected
    documents = read_raw(raw, known[0]).documents
    assert documents.texts == tuple(doc.text for doc in theirs)
    for number, doc in enumerate(theirs):
        own = [] if documents.tokens is None else documents.tokens.of_document(number)
        assert own == [(token.idx, token.idx + len(token)) for token in doc if not token.text.isspace()]
        if documents.sentences is not None and len(doc) > 1 and doc.has_annotation("SENT_START"):
            said = [[token for token in sentence if not token.text.isspace()] for sentence in doc.sents]
            ends = [(sent[0].idx, sent[-1].idx + len(sent[-1])) for sent in said if sent]
            assert documents.sentences.of_document(number) == ends


@draws(13)
@given(st.lists(docs(), min_size=1, max_size=6), st.integers(1, 9))
def test_blocks_of_documents_change_nothing(drawn: list[Doc], tokens: int) -> None:
    """Neither how many documents are unpacked at once nor whether tokens are taken out of the message beforehand."""
    raw = packed(*drawn)
    for name in {*layers_of(source(raw)), "ents"}:
        whole = read_raw(raw, name)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(message, "BLOCK_TOKENS", tokens)
            assert told(read_raw(raw, name)) == told(whole)
            patch.setattr(message, "ATTRS", b"not there")
            assert told(read_raw(raw, name)) == told(whole)


def told(reading: Reading) -> list[Any]:
    """Return all that a reading says."""
    layer, documents = reading.layer, reading.documents
    spans = [column.tolist() for column in (layer.doc, layer.start, layer.end)]
    of_spans = [layer.label(span) for span in range(len(layer))], dict(layer.ids), dict(layer.links), dict(layer.scores)
    intervals = [
        [each.of_document(number) for number in range(len(documents))] if each is not None else None
        for each in (documents.tokens, documents.sentences)
    ]
    return [documents.ids, documents.texts, intervals, spans, of_spans, sorted(reading.notes), tuple(reading.places)]


@pytest.mark.parametrize("wrong", ["a word", "a group"])
def test_documents_of_any_block_are_named_by_their_number(wrong: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(message, "BLOCK_TOKENS", 1)
    given = srsly.msgpack_loads(zlib.decompress(packed(*(Doc(vocabulary(), words=["a", w]) for w in ("b", "c")))))
    if wrong == "a word":
        given["strings"].remove("c")
    else:
        given["user_data"] = [None, b"\xc1"]
    with pytest.raises(FormatError) as caught:
        read_raw(zlib.compress(srsly.msgpack_dumps(given)))
    assert [(problem.source, problem.line) for problem in caught.value.problems] == [("train.spacy", 2)]


Change = Callable[[dict[str, Any]], object]


def changed(change: Change) -> bytes:
    """Return the sample with another message in it."""
    message = srsly.msgpack_loads(zlib.decompress(DOCBIN))
    change(message)
    return zlib.compress(srsly.msgpack_dumps(message))


def column(name: str, *values: tuple[int, int]) -> Change:
    """Give tokens other values of an attribute."""

    def change(message: dict[str, Any]) -> None:
        array = np.frombuffer(message["tokens"], "<u8").reshape(-1, len(message["attrs"])).copy()
        for token, value in values:
            array[token, message["attrs"].index(spacy.attrs.IDS[name])] = value
        message["tokens"] = array.tobytes()

    return change


def group(**parts: Any) -> Change:
    """Give the group of the first document other parts; `spans` are structs as spaCy packs them."""

    def change(message: dict[str, Any]) -> None:
        found = srsly.msgpack_loads(message["span_groups"][0])
        [(inner, keys)] = found.items()
        content = srsly.msgpack_loads(inner) | parts
        message["span_groups"][0] = srsly.msgpack_dumps({srsly.msgpack_dumps(content): keys})

    return change


def span(start: int, end: int, low: int, high: int) -> bytes:
    label = vocabulary().strings.add("NAME")
    return b"".join(int(one).to_bytes(8, "big") for one in (0, 0, label)) + b"".join(
        int(one).to_bytes(4, "big", signed=True) for one in (start, end, low, high)
    )


def without(*keys: str) -> Change:
    return lambda message: [message.pop(key) for key in keys]


def put(**parts: Any) -> Change:
    return lambda message: message.update(parts)


NO_ENTITIES = packed(Doc(vocabulary(), words=["a"]), attrs=["TAG"])
SWOLLEN = zlib.compress(b"\x81\xa5attrs" + bytes(65 << 20))

REFUSED: list[tuple[bytes, str]] = [
    # (file, said)
    (b"\x78\x9cnothing", ": damaged: Error -3 while decompressing data: invalid block type; write it again"),
    (DOCBIN[:-20], ": the file is cut off; write it again with DocBin.to_disk"),
    (DOCBIN + b"x", ": more bytes after its end; write it again"),
    (SWOLLEN, f": expands from {len(SWOLLEN):,} to more than {64 << 20:,} bytes; give it unpacked or in parts"),
    (zlib.compress(b"\x93\x01\x02\x03"), ": damaged: Expected `object`, got `array`"),
    (changed(without("tokens")), ": damaged: Object missing required field `tokens`"),
    (changed(put(attrs=["ORTH"])), ": damaged: Expected `int`, got `str` - at `$.attrs[0]`"),
    (changed(put(attrs=[])), ": its attributes lack the words, or name one twice"),
    (changed(put(attrs=[65, 65])), ": its attributes lack the words, or name one twice"),
    (changed(put(tokens=b"x")), ": its tokens or lengths are cut off"),
    (
        changed(put(lengths=b"\0\0\0\0")),
        ": 14 tokens with 14 spaces, and documents of 0 tokens; 2 flags for 1 document",
    ),
    (
        changed(put(lengths=np.array([-1, 15], "<i4").tobytes())),
        ": 14 tokens with 14 spaces, and documents of 14 tokens",
    ),
    (changed(put(spaces=b"")), ": 14 tokens with 0 spaces, and documents of 14 tokens"),
    (changed(put(flags=[])), ": 0 flags for 2 documents"),
    (changed(put(span_groups=[b"\xc1", b"\x93"])), ":1: damaged span groups: "),
    (changed(put(span_groups=[b"\xc1", b"\x93"])), ":2: damaged span groups: Input data was truncated"),
    (changed(put(user_data=[b"\x93", b"\x01"])), ":1: damaged user data: Input data was truncated"),
    (changed(put(user_data=[b"\x93", b"\x01"])), ":2: damaged user data: not a map"),
    (changed(put(strings=["Ann"])), ":1: a word that is not among the strings; write it again"),
    (changed(put(strings=["Ann"])), ":2: a word that is not among the strings; write it again"),
    (changed(column("ENT_IOB", (0, 4))), ":1: an entity tag that is not one of 0 to 3"),
    (changed(column("ENT_IOB", (0, 2**64 - 1))), ":1: an entity tag that is not one of 0 to 3"),
    (changed(column("ENT_IOB", (0, 1))), ":1: an entity goes on that has not begun"),
    (changed(column("ENT_IOB", (13, 1))), ":2: an entity goes on that has not begun"),
    (changed(column("ENT_TYPE", (3, 0))), ":1: an entity goes on that has not begun"),
    (changed(column("ENT_TYPE", (0, 12345678901234567))), ":1: a type that is not among the strings"),
    (NO_ENTITIES, ": no entities are stored in it; write it with ENT_IOB and ENT_TYPE among its attributes"),
]

MISPLACED: list[tuple[bytes, str]] = [
    (changed(group(spans=[b"x"])), ":1: damaged span group 'sc': a span that is not of 40 bytes"),
    (changed(group(spans=[span(0, 1, 0, 4)])), ":1: the span group 'sc' has tokens 0 to 1 at characters 0 to 4, which"),
    (changed(group(spans=[span(2, 1, 0, 3)])), ":1: the span group 'sc' has tokens 2 to 1, of 12; write it again"),
    (changed(group(spans=[span(2, 2, 0, 0)])), ":1: the span group 'sc' has tokens 2 to 2, of 12"),
    (changed(group(spans=[span(-1, 1, 0, 3)])), ":1: the span group 'sc' has tokens -1 to 1, of 12"),
    (changed(group(spans=[span(11, 13, 0, 3)])), ":1: the span group 'sc' has tokens 11 to 13, of 12"),
    (changed(group(spans=[span(0, 2**31 - 1, 0, 3)])), ":1: the span group 'sc' has tokens 0 to 2147483647, of 12"),
]


@pytest.mark.parametrize(("raw", "said"), [*REFUSED, *MISPLACED], ids=range(len(REFUSED) + len(MISPLACED)))
def test_what_is_wrong_is_told(raw: bytes, said: str) -> None:
    layer = "ents" if (raw, said) in REFUSED else "sc"
    with pytest.raises(FormatError) as caught:
        read_raw(raw, layer)
    assert f"train.spacy{said}" in str(caught.value)


def test_all_that_is_wrong_is_told_at_once() -> None:
    with pytest.raises(FormatError) as caught:
        read_raw(changed(group(spans=[span(0, 1, 0, 4), span(9, 2, 0, 1), span(0, 0, 0, 0)])), "sc")
    assert len(caught.value.problems) == 3


def test_scores_that_are_no_numbers_are_left_out() -> None:
    for scores in ([1.0], "x", {b"nd": True, b"type": "|O", b"data": b"\x80\x04."}, [None, 1, 2], {b"nd": True}):
        reading = read_raw(changed(group(attrs={"scores": scores})), "sc")
        assert not reading.layer.scores
        assert "span groups whose scores are not one number a span, left out: 1" in reading.notes
    reading = read_raw(changed(group(attrs={"scores": [1, float("nan"), 0.5]})), "sc")
    assert dict(reading.layer.scores) == {0: 1.0, 2: 0.5}


def test_a_short_file_may_not_make_long_texts() -> None:
    """A word of a mebibyte stands at a thousand tokens, each of which takes a byte or two when packed."""
    doc = Doc(vocabulary(), words=["a" * (1 << 20)] * 1000)
    raw = packed(doc, attrs=["ENT_IOB", "ENT_TYPE"])
    assert len(raw) < 10_000
    tracemalloc.start()
    try:
        with pytest.raises(FormatError, match="texts of more than 67108864 characters in all"):
            read_raw(raw)
        assert tracemalloc.get_traced_memory()[1] < 50 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("layer", ["ents", "sc"])
def test_damage_below_the_packing_ends_in_a_reading_or_in_problems(layer: str) -> None:
    whole = zlib.decompress(DOCBIN)
    chosen = random.Random(1)
    ends = 0
    for at in chosen.sample(range(len(whole)), 400):
        byte = bytes([chosen.randrange(256)])
        for change in (b"", byte, bytes([whole[at] ^ 1]), byte * 9):
            try:
                reading = read_raw(zlib.compress(whole[:at] + change + whole[at + 1 :]), layer)
                ends += len(reading.documents) == 2
            except FormatError as error:
                assert all(problem.found and problem.remedy for problem in error.problems)
    assert ends


def test_that_spacy_is_missing_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    assert read(source(DOCBIN), options=ReadOptions(layer="sc")).format == "docbin"
    monkeypatch.setitem(sys.modules, "spacy.strings", None)
    with pytest.raises(FormatError) as caught:
        read(source(DOCBIN))
    assert str(caught.value) == "train.spacy: spaCy is not installed, which DocBin needs; pip install spacy"


@draws(17)
@given(layers())
def test_what_is_written_reads_back_by_us_and_by_spacy(layer: Layer) -> None:
    fits = remove_losses(layer, find_losses(layer, writers()["docbin"]))
    with TemporaryDirectory() as folder:
        out = Path(folder) / "out.spacy"
        notes = write(layer, out, format="docbin", lossy=True)
        if not len(layer.documents):
            return
        reading = read(out)
        known = layers_of(Source.of_path(out))
        theirs = [doc.text for doc in DocBin().from_disk(out).get_docs(vocabulary())]
    assert theirs == list(layer.documents.texts)
    one, two = content(reading.layer), content(fits)
    # An empty id is none.
    two["spans' ids"] = {span: id for span, id in two["spans' ids"].items() if id}
    for found in (one, two):
        found["order"] = sorted(range(len(found["order"])), key=found["order"].__getitem__)
    kept = ["ids", "texts", "doc", "start", "end", "label", "spans' links", "spans' scores"]
    for key in [*kept, *(["spans' ids", "order"] if known == ("sc",) else [])]:
        assert one[key] == two[key], key
    told = " ".join(notes)
    for number, text in enumerate(layer.documents.texts):
        own = [(low, high) for low, high in (two["tokens"] or {number: []})[number] if not text[low:high].isspace()]
        if own and "tokens added" not in told:
            assert one["tokens"][number] == own
        own = (two["sentences"] or {number: []})[number]
        # Of a single token spaCy says always that it begins a sentence.
        if "sentences" not in told and (one["tokens"] or {number: []})[number][1:]:
            assert (one["sentences"] or {number: []})[number] == own
    if "metadata" not in told:
        assert list(reading.documents.meta or ()) == [meta or {} for meta in two["meta of documents"] or ()]


def made(*spans: dict[str, Any], text: str = "Ann Lee, Rome", tokens: Any = (), **meta: Any) -> Layer:
    builder = Builder("made")
    builder.document("d", text, tokens=tokens, meta=meta)
    for one in spans:
        builder.span(**one)
    return builder.finish("made")


def test_spans_are_entities_where_these_can_say_them_else_a_group(tmp_path: Path) -> None:
    one = {"start": 0, "end": 7, "label": "PER", "links": ("Q1",), "id": "T1"}
    two = {"start": 9, "end": 13, "label": "LOC"}
    path = tmp_path / "x.spacy"
    unnamed = "span ids, which entities have none of, left out: 1"
    assert write(made(one, two), path, format="docbin") == (unnamed,)
    [doc] = DocBin().from_disk(path).get_docs(vocabulary())
    assert [(ent.text, ent.label_, ent.kb_id_) for ent in doc.ents] == [("Ann Lee", "PER", "Q1"), ("Rome", "LOC", "")]
    assert ([token.text for token in doc], doc.user_data) == (["Ann", "Lee", ",", "Rome"], {"id": "d"})
    assert not doc.spans
    comma = {"start": 7, "end": 8, "label": "X", "score": 0.5}
    for more in ({"start": 4, "end": 7, "label": "SUR"}, {**two, "label": "ORG"}, comma):
        why = "spans have scores" if more is comma else "spans overlap"
        told = f"{why}: written as the span group 'sc', no entities"
        assert write(made(one, two, more), path, format="docbin") == (told,)
        [doc] = DocBin().from_disk(path).get_docs(vocabulary())
        assert not doc.ents and not doc.has_annotation("ENT_IOB")
        assert [(span.text, span.id_) for span in doc.spans["sc"]][:2] == [("Ann Lee", "T1"), ("Rome", "")]
        assert dict(read(path).layer.scores) == ({1: 0.5} if more is comma else {})


def test_a_span_off_the_tokens_is_refused_and_never_moved(tmp_path: Path) -> None:
    layer = made({"start": 1, "end": 7, "label": "PER"}, {"start": 9, "end": 13, "label": "LOC"})
    with pytest.raises(FormatError) as caught:
        write(layer, tmp_path / "x.spacy", format="docbin")
    [line] = caught.value.lines()
    assert "document 'd': span [1, 7) 'nn Lee' (PER) does not begin and end with a token; leave out what" in line
    assert not list(tmp_path.iterdir())
    notes = write(layer, tmp_path / "x.spacy", format="docbin", lossy=True)
    assert notes == ("spans left out, each does not begin and end with a token: 1",)
    assert span_texts(read(tmp_path / "x.spacy").layer) == [("d", "Rome", "LOC")]


WORDS = [
    # (text, tokens, words as spaCy has them, a blank after which)
    ("Ann  met\n", (), ["Ann", " ", "met", "\n"], [1, 0, 0, 0]),
    (" a", (), [" ", "a"], [0, 0]),
    ("a ", (), ["a"], [1]),
    ("a, b", ((0, 1), (3, 4)), ["a", ",", "b"], [0, 1, 0]),
    ("ab", ((0, 1),), ["a", "b"], [0, 0]),
    ("a b c", ((0, 3),), ["a b", "c"], [1, 0]),
    (" ", ((0, 1),), [" "], [0]),
    ("", (), [], []),
]


@pytest.mark.parametrize(("text", "tokens", "expected", "blanks"), WORDS)
def test_texts_in_words(text: str, tokens: Any, expected: list[str], blanks: list[int]) -> None:
    found = words_of(text, tokens or [match.span() for match in WORD.finditer(text)])
    assert ([text[low:high] for low, high in found.places], found.blanks) == (expected, list(map(bool, blanks)))


def test_tokens_that_are_added_are_told(tmp_path: Path) -> None:
    for tokens, added in (((0, 3), (4, 7), (7, 8), (9, 13)), 0), (((0, 3), (8, 9), (9, 13)), 1), ((), 0):
        notes = write(made(tokens=tokens), tmp_path / "x.spacy", format="docbin")
        assert notes == ("documents with tokens added where text stands in none: 1",) * added


def test_metadata_that_user_data_cannot_hold_is_told(tmp_path: Path) -> None:
    deep: Any = 1
    for _ in range(600):
        deep = [deep]
    layer = made(id="x", wide=1 << 64, deep=deep, inner={"a": [-(1 << 63), (1 << 64) - 1, True, None, 0.5, "é"]})
    with pytest.raises(FormatError) as caught:
        write(layer, tmp_path / "x.spacy", format="docbin")
    assert [problem.found for problem in caught.value.problems] == [
        "documents with metadata under a key of the format's own: 1",
        "documents with metadata of integers over 64 bits or nested more than 100 deep: 1",
    ]
    write(layer, tmp_path / "x.spacy", format="docbin", lossy=True)
    meta = {"inner": {"a": [-(1 << 63), (1 << 64) - 1, True, None, 0.5, "é"]}}
    assert read(tmp_path / "x.spacy").documents.meta == (meta,)


def test_nothing_is_written_where_spacy_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "spacy.tokens", None)
    with pytest.raises(FormatError, match="spaCy is not installed, which DocBin needs; pip install"):
        write(made(), tmp_path / "x.spacy", format="docbin")
    assert not list(tmp_path.iterdir())
