"""Every writer: losses are listed and refused or left out, and all else is read back as it was."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nereval_core.corpus import SPAN_KEYS, Layer
from nereval_core.corpus.builder import Builder
from nereval_core.corpus.tokens import WORD
from nereval_core.problems import FormatError
from nereval_core.readers import ReadOptions, layers, read
from nereval_core.readers.input.source import Source
from nereval_core.readers.shared.offset_units import parse_offsets
from nereval_core.writers import write, writers
from nereval_core.writers.writer import DOCUMENT_META, EVERYTHING, FRAGMENTS, Writer, find_losses, remove_losses
from tests.support import layer_strategies
from tests.support.draws import draws
from tests.support.layer_strategies import content, texts, words

ONE_TYPE = "bc2gm"
TEXTLESS = ("conll", "datasets")
"""Formats that keep the tokens of a text, not the characters between them."""
ALWAYS = ("ids", "texts", "doc", "start", "end", "label")
OF_DOCUMENTS = {"tokens": "tokens", "sentences": "sentences", "document_meta": "meta of documents"}
"""The parts of a document by the name that `content` gives them."""
Content = dict[str, Any]


def full() -> Layer:
    """Return a layer that has everything that a layer may have."""
    builder = Builder("full")
    text = "Ann met Bob Lee in Rome"
    tokens = [(0, 3), (4, 7), (8, 11), (12, 15), (16, 18), (19, 23)]
    builder.document("d1", text, tokens=tokens, sentences=[(0, 23)], meta={"date": "1798"})
    builder.span(0, 3, "PER", id="T1", links=("Q1", "Q2"), score=0.5)
    builder.span(0, 7, "ACT", fragments=((0, 3), (5, 7)))
    builder.span(8, 15, "PER", core=(12, 15), alternatives=((8, 11),), meta={"by": "A"})
    builder.span(8, 11, "PER")
    builder.span(20, 23, "LOC")
    builder.document("d2", "none", tokens=[(0, 4)], sentences=[(0, 4)])
    return builder.finish("full")


LOST = {
    "ACT": "document 'd1': span [0, 7) 'Ann et' (ACT) is discontinuous",
    "links": "{} has no place for links of 1 span",
    "rankings": "{} has no place for more than one link of 1 span",
    "cores": "{} has no place for a core of 1 span",
    "alternatives": "{} has no place for alternatives of 1 span",
    "scores": "{} has no place for a score of 1 span",
    "meta": "{} has no place for metadata of 1 span",
    DOCUMENT_META: "{} has no place for the metadata of 1 document",
}


def has(format: str, method: str) -> bool:
    """Return whether a writer says something of its own under a method."""
    return getattr(type(writers()[format]), method) is not getattr(Writer, method)


@pytest.mark.parametrize("format", writers())
def test_all_that_a_format_cannot_hold_is_listed_and_nothing_written(format: str, tmp_path: Path) -> None:
    holds = writers()[format].holds
    assert holds <= EVERYTHING
    expected = {LOST[fact].format(format) for fact in LOST if fact not in holds and fact not in ("ACT", "rankings")}
    expected |= set() if FRAGMENTS in holds else {LOST["ACT"]}
    if writers()[format].holds_meta({"by": "A"}):
        expected -= {LOST["meta"].format(format)}
    expected |= {LOST["rankings"].format(format)} if "links" in holds and "rankings" not in holds else set()
    layer = full()
    out = tmp_path / "out"
    if not expected:
        assert write(layer, out, format=format) == ()
        assert content(read(out, format=format).layer) == content(layer)
        return
    with pytest.raises(FormatError) as caught:
        write(layer, out, format=format)
    assert list(tmp_path.iterdir()) == []
    found = {problem.found for problem in caught.value.problems}
    assert expected <= found
    # Other problems are spans that tags cannot state, and types where the format has only one.
    assert bool(found - expected) == (has(format, "unsayable") or format == ONE_TYPE)
    assert all("--lossy" in problem.remedy for problem in caught.value.problems)
    notes = write(layer, out, format=format, lossy=True)
    assert notes
    # The file read back holds only what the format can hold: it is written without a loss.
    again = read(out, format=format, options=ReadOptions(scheme="IOB2")).layer
    assert find_losses(again, writers()[format]).refusal(again, out) is None


@pytest.mark.parametrize("format", writers())
def test_words_that_stand_nowhere_are_refused_or_left_out(format: str, tmp_path: Path) -> None:
    rows = [
        {"id": "d", "text": "Ann met Bob", "entities": [{"text": "Ann", "label": "P"}, {"text": "Eve", "label": "P"}]}
    ]
    (tmp_path / "answers.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    layer = read(tmp_path / "answers.jsonl", format="mentions").layer
    assert layer.unplaced.tolist() == [False, True]
    with pytest.raises(FormatError, match=r"'Eve' .P. stands nowhere in its text; leave it out: --lossy, or"):
        write(layer, tmp_path / "out", format=format)
    write(layer, tmp_path / "out", format=format, lossy=True)
    again = read(tmp_path / "out", format=format, options=ReadOptions(scheme="IOB2")).layer
    assert [again.text(span) for span in range(len(again))] == ["Ann"]


@pytest.mark.parametrize(("one", "two"), list(product(writers(), writers())))
def test_every_pair_of_formats_converts(one: str, two: str, tmp_path: Path) -> None:
    """What both hold is the same on both sides of a conversion."""
    write(full(), tmp_path / "one", format=one, lossy=True)
    options = ReadOptions(scheme="IOB2")
    first = read(tmp_path / "one", format=one, options=options).layer
    write(first, tmp_path / "two", format=two, lossy=True)
    second = read(tmp_path / "two", format=two, options=options).layer
    lost = find_losses(first, writers()[two])
    kept = remove_losses(first, lost)
    if ONE_TYPE in (one, two):
        kept, second = (replace(layer, type=layer.type * 0, types=("GENE",)) for layer in (kept, second))
    assert [kept.text(span) for span in range(len(kept))] == [second.text(span) for span in range(len(second))]
    assert [kept.label(span) for span in range(len(kept))] == [second.label(span) for span in range(len(second))]
    facts = ("links", "cores", "scores") if ONE_TYPE in (one, two) else ("links", "cores", "alternatives", "scores")
    for fact in facts:
        assert dict(getattr(kept, fact)) == dict(getattr(second, fact)), fact
    if not {one, two} & set(TEXTLESS):
        assert kept.documents.texts == second.documents.texts
        assert kept.start.tolist() == second.start.tolist()


@draws(20)
@given(layer_strategies.layers(names=words()), st.sampled_from(sorted(writers())))
def test_removing_losses_leaves_all_else(layer: Layer, format: str) -> None:
    writer = writers()[format]
    lost = find_losses(layer, writer)
    found = remove_losses(layer, lost)
    assert not find_losses(found, writer).spans and not find_losses(found, writer).properties
    kept = [span for span in range(len(layer)) if span not in lost.spans]
    assert [found.label(span) for span in range(len(found))] == [layer.label(span) for span in kept]
    facts = {*SPAN_KEYS} - {"ids"}
    for fact in facts & {*writer.holds} - {"links"}:
        expected = {new: getattr(layer, fact)[span] for new, span in enumerate(kept) if span in getattr(layer, fact)}
        assert dict(getattr(found, fact)) == expected
    if lost.refusal(layer, Path("out")) is None:
        assert found is layer


def in_order_of_names(found: Content) -> Content:
    """Return spans by the names of their documents: a folder has its files in the order of their names."""
    return {"spans": sorted(_rows(found)), "texts": dict(zip(found["ids"], found["texts"], strict=True))}


def in_tokens(found: Content) -> Content:
    """Return spans as their documents and tokens: what stands between these is not kept."""
    spans = []
    for doc, start, end, label in zip(*(found[key] for key in ("doc", "start", "end", "label")), strict=True):
        text, own = found["texts"][doc], (found["tokens"] or {doc: ()})[doc]
        tokens = own or [match.span() for match in WORD.finditer(text)]
        spans.append((doc, [text[low:high] for low, high in tokens if start <= low and high <= end], label))
    return {"documents": len(found["ids"]), "spans": spans}


def in_marks(found: Content) -> Content:
    """Return spans as `in_tokens` does; documents without words are not kept."""
    tokens = found["tokens"] or [()] * len(found["texts"])
    filled = [doc for doc, text in enumerate(found["texts"]) if tokens[doc] or WORD.search(text)]
    spans = [(filled.index(doc), *rest) for doc, *rest in in_tokens(found)["spans"]]
    return {"documents": len(filled), "spans": sorted(spans)}


def quotes(found: Content) -> Content:
    """Return spans as their documents and words: blanks are not counted."""
    texts = [found["texts"][doc] for doc in found["doc"]]
    places = zip(found["doc"], texts, found["start"], found["end"], found["label"], strict=True)
    return {"spans": [(doc, "".join(text[start:end].split()), label) for doc, text, start, end, label in places]}


def untyped(found: Content) -> Content:
    """Return spans as `quotes` does, without their types: there is but one."""
    return quotes(found | {"label": [""] * len(found["label"])})


def in_spacy_words(found: Content) -> Content:
    """Return all but tokens and sentences, which every text has in spaCy, and integers of more than 64 bits."""
    kept = {key: value for key, value in found.items() if key not in ("tokens", "sentences")}
    of_documents = found["meta of documents"] or [{} for _ in found["ids"]]
    narrow = [{key: value for key, value in (meta or {}).items() if _fits(value)} for meta in of_documents]
    return kept | {"meta of documents": narrow}


def _fits(value: Any) -> bool:
    return not isinstance(value, int) or -(2**63) <= value < 2**64


def in_text(found: Content) -> Content:
    """Return metadata as text, without links that say that there is none."""

    def text(meta: Any) -> dict[str, str]:
        return {key: value if isinstance(value, str) else json.dumps(value) for key, value in (meta or {}).items()}

    links = {span: tuple(link for link in given if link != "-") for span, given in found["spans' links"].items()}
    metas = [text(meta) for meta in found["meta of documents"] or ()]
    return found | {
        "spans' links": {span: given for span, given in links.items() if given},
        "spans' meta": {span: text(meta) for span, meta in found["spans' meta"].items()},
        "meta of documents": metas if any(metas) else None,
    }


OTHERWISE: dict[str, Callable[[Content], Content]] = {
    "bionlp": in_order_of_names,
    "brat": in_order_of_names,
    "cas": in_order_of_names,
    "conll": in_tokens,
    "datasets": in_tokens,
    "bracketed": in_marks,
    "bc2gm": untyped,
    "docbin": in_spacy_words,
    "bioc": in_text,
}
"""Formats that keep less than texts and offsets, and in what form both sides are equal."""


def _rows(found: Content) -> list[tuple[Any, ...]]:
    names = [found["ids"][doc] for doc in found["doc"]]
    extras = [found.get(key, {}) for key in ("spans' links", "spans' fragments", "spans' meta")]
    places = zip(names, found["start"], found["end"], found["label"], strict=True)
    return [(*place, *(repr(extra.get(span)) for extra in extras)) for span, place in enumerate(places)]


def held(layer: Layer, format: str) -> Content:
    """Return of a layer what a format holds."""
    found, holds = content(layer), writers()[format].holds
    keys = [*ALWAYS, *(name for what, name in OF_DOCUMENTS.items() if what in holds)]
    keys += [
        f"spans' {what}" for what in ("fragments", "links", "cores", "alternatives", "scores", "meta") if what in holds
    ]
    keys += ["spans' meta"] if has(format, "holds_meta") else []
    return OTHERWISE.get(format, dict)({key: found[key] for key in keys})


@pytest.mark.parametrize("format", writers())
def test_what_a_format_holds_is_read_back(format: str) -> None:
    names = texts(min_size=1) | words()

    @draws(8)
    @given(layer_strategies.layers(names=names, labels=names) | layer_strategies.layers(names=words()), st.booleans())
    def check(layer: Layer, lossy: bool) -> None:
        with TemporaryDirectory() as folder:
            path = Path(folder, "out")
            try:
                write(layer, path, format=format, lossy=lossy)
            except FormatError as error:
                assert not list(Path(folder).iterdir())
                assert all(problem.found and problem.remedy and problem.source for problem in error.problems)
                return
            kept = remove_losses(layer, find_losses(layer, writers()[format]))
            assert lossy or kept is layer
            # There is nothing to read in a file without a token.
            if not any(WORD.search(text) for text in layer.documents.texts):
                return
            # Its offsets are asked for where neither quotes nor edges of words tell their unit.
            options = ReadOptions(scheme="IOB2", offsets=parse_offsets("utf-16") if format == "doccano" else None)
            source = Source.of_path(path)
            names = layers(source, format=format)
            assert len(names) <= 1
            reading = read(source, format=format, options=options)
        assert held(reading.layer, format) == held(kept, format)

    check()
