"""What a format cannot hold is listed and refused, or left out when asked, and all else stays: in every format."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from nereval_core.corpus import SPAN_KEYS, Builder, Layer
from nereval_core.corpus.tokens import WORD
from nereval_core.problems import FormatError
from nereval_core.readers import ReadOptions, read
from nereval_core.writers import write, writers
from nereval_core.writers.losses import DOCUMENT_META, EVERYTHING, FRAGMENTS, fitted, losses
from tests.support.layer_strategies import content, layers, words

ONE_TYPE = "bc2gm"
TEXTLESS = ("conll", "datasets")
"""Formats that keep the tokens of a text, not what stands between them."""


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


@pytest.mark.parametrize("format", writers())
def test_all_that_a_format_cannot_hold_is_listed_and_nothing_written(format: str, tmp_path: Path) -> None:
    holds = writers()[format].HOLDS
    assert holds <= EVERYTHING
    expected = {LOST[fact].format(format) for fact in LOST if fact not in holds and fact not in ("ACT", "rankings")}
    expected |= set() if FRAGMENTS in holds else {LOST["ACT"]}
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
    # What is listed besides are spans that tags cannot say, and types where there is but one.
    assert bool(found - expected) == (hasattr(writers()[format], "unsayable") or format == ONE_TYPE)
    assert all("--lossy" in problem.remedy for problem in caught.value.problems)
    notes = write(layer, out, format=format, lossy=True)
    assert notes
    # What was read of what was written is all that the format holds, and can be written without a loss.
    again = read(out, format=format, options=ReadOptions(scheme="IOB2")).layer
    assert losses(again, writers()[format]).refused(again, out) is None


@pytest.mark.parametrize(("one", "two"), list(product(writers(), writers())))
def test_every_pair_of_formats_converts(one: str, two: str, tmp_path: Path) -> None:
    """What both hold is the same on both sides of a conversion."""
    write(full(), tmp_path / "one", format=one, lossy=True)
    options = ReadOptions(scheme="IOB2")
    first = read(tmp_path / "one", format=one, options=options).layer
    write(first, tmp_path / "two", format=two, lossy=True)
    second = read(tmp_path / "two", format=two, options=options).layer
    lost = losses(first, writers()[two])
    kept = fitted(first, lost)
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


@settings(max_examples=60, deadline=None)
@given(layers(names=words()), st.sampled_from(sorted(writers())))
def test_what_fits_loses_nothing_more_and_the_rest_stays(layer: Layer, format: str) -> None:
    writer = writers()[format]
    lost = losses(layer, writer)
    found = fitted(layer, lost)
    assert not losses(found, writer).spans and not losses(found, writer).facts
    kept = [span for span in range(len(layer)) if span not in lost.spans]
    assert [found.label(span) for span in range(len(found))] == [layer.label(span) for span in kept]
    facts = {*SPAN_KEYS} - {"ids"}
    for fact in facts & {*writer.HOLDS} - {"links"}:
        expected = {new: getattr(layer, fact)[span] for new, span in enumerate(kept) if span in getattr(layer, fact)}
        assert dict(getattr(found, fact)) == expected
    if lost.refused(layer, Path("out")) is None:
        assert found is layer


@settings(max_examples=100, deadline=None)
@given(layers(names=words()), st.sampled_from(sorted(writers())))
def test_a_layer_is_written_or_refused_with_its_reason(layer: Layer, format: str) -> None:
    # There is nothing to read in a file without a token.
    assume(any(WORD.search(text) for text in layer.documents.texts))
    with TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        try:
            write(layer, out, format=format, lossy=True)
        except FormatError as error:
            assert not list(Path(folder).iterdir())
            assert all(problem.found and problem.remedy for problem in error.problems)
            return
        again = read(out, format=format, options=ReadOptions(scheme="IOB2")).layer
    kept = fitted(layer, losses(layer, writers()[format]))
    assert len(again.documents) == len(kept.documents) and len(again) == len(kept)
    if format not in TEXTLESS:
        assert _spans(again, format) == _spans(kept, format)


def _spans(layer: Layer, format: str) -> list[Any]:
    names = ["" if format == ONE_TYPE else layer.label(span) for span in range(len(layer))]
    # A folder has its files in the order of their names.
    documents = [layer.documents.ids[doc] for doc in layer.doc.tolist()]
    places: Any = (documents, layer.start.tolist(), layer.end.tolist())
    if format == ONE_TYPE:
        places = (documents,)
    return sorted(zip(*places, names, strict=True))
