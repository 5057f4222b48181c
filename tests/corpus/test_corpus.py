"""The validator every reader uses: what it refuses, what it keeps, and digests that depend on content alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nereval_core.corpus import Documents, Labels, Layer
from nereval_core.corpus import layer as layer_of
from nereval_core.corpus.builder import Builder
from nereval_core.corpus.digest import combined
from nereval_core.problems import FormatError
from tests.support.draws import draws
from tests.support.layer_strategies import content, layers

SCRIPTS = [
    # (what, text, start, end, the text there)
    ("emoji of one code point", "a 💊 b", 2, 3, "💊"),
    ("emoji of several code points", "a 👩‍⚕️ b", 2, 6, "👩‍⚕️"),
    ("inside an emoji", "a 👩‍⚕️ b", 2, 3, "👩"),
    ("combining marks", "cafe\u0301 noir", 0, 5, "cafe\u0301"),
    ("a base letter without its mark", "cafe\u0301 noir", 0, 4, "cafe"),
    ("composed and decomposed differ", "caf\u00e9 noir", 0, 4, "caf\u00e9"),
    ("Arabic with vowels", "تناول أَسْبِرِين اليوم", 6, 16, "أَسْبِرِين"),
    ("Hebrew with points", "נָטַל אספירין", 6, 13, "אספירין"),
    ("right to left marks", "\u200fאב\u200f", 1, 3, "אב"),
    ("CRLF", "eins\r\nzwei", 4, 6, "\r\n"),
    ("byte-order mark", "\ufeffeins", 1, 5, "eins"),
    ("NUL", "a\0b", 1, 2, "\0"),
    ("line and paragraph separators", "a\u2028b\u2029c\x85d", 2, 7, "b\u2029c\x85d"),
    ("astral letters", "𝔸𝔹ℂ", 1, 3, "𝔹ℂ"),
]


def built(spans: list[dict[str, Any]], text: str = "abcdefghij", *, name: str = "d") -> Layer:
    builder = Builder("x")
    builder.document(name, text, line=1)
    for number, span in enumerate(spans, start=2):
        builder.span(**{"start": 0, "end": 3, "label": "A", "line": number, **span})
    return builder.finish("made")


def refused(spans: list[dict[str, Any]], text: str = "abcdefghij") -> list[str]:
    with pytest.raises(FormatError) as caught:
        built(spans, text)
    return [str(problem) for problem in caught.value.problems]


@pytest.mark.parametrize(("text", "start", "end", "there"), [case[1:] for case in SCRIPTS], ids=[c[0] for c in SCRIPTS])
def test_offsets_are_code_points_and_quotes_must_agree(text: str, start: int, end: int, there: str) -> None:
    layer = built([{"start": start, "end": end, "quote": there}], text)
    assert layer.text(0) == there == layer.documents.texts[0][start:end]
    assert layer.documents.texts == (text,)
    [problem] = refused([{"start": start, "end": end, "quote": there + "x"}], text)
    assert problem.startswith("x:2: the quoted text ")
    assert len(problem.splitlines()) == 1


@pytest.mark.parametrize(("text", "unit"), [("a 💊 b", "utf-16-le"), ("é 💊 b", "utf-8")])
def test_offsets_counted_in_bytes_or_utf16_are_caught_by_the_quote(text: str, unit: str) -> None:
    size = {"utf-16-le": 2, "utf-8": 1}[unit]
    start = len(text[: text.index("b")].encode(unit)) // size
    assert start != text.index("b")
    assert refused([{"start": start, "end": start + 1, "quote": "b"}], text)


REFUSED = [
    ({"start": -1}, "span [-1, 3) of document 'd' is not inside its text of 10 characters"),
    ({"end": 11}, "span [0, 11) of document 'd'"),
    ({"start": 3}, "span [3, 3) of document 'd'"),
    ({"start": 4}, "span [4, 3) of document 'd'"),
    ({"start": 2**70, "end": 2**70 + 1}, "is not inside its text of 10 characters"),
    ({"label": ""}, "a span without a usable type"),
    ({"label": "\ud800"}, "a span without a usable type"),
    ({"quote": "abd"}, "the quoted text 'abd' is not the text at [0, 3), 'abc'"),
    ({"end": 5, "fragments": ((0, 2), (3, 5)), "quote": "abde"}, "the quoted text 'abde' is not the text at"),
    ({"end": 5, "fragments": ((3, 5), (0, 2))}, "fragments [[3, 5], [0, 2]] of span [0, 5)"),
    ({"end": 5, "fragments": ((0, 3), (2, 5))}, "fragments [[0, 3], [2, 5]] of span [0, 5)"),
    ({"end": 5, "fragments": ((0, 2), (3, 4))}, "fragments [[0, 2], [3, 4]] of span [0, 5)"),
    ({"end": 5, "fragments": ((0, 2), (2, 2), (3, 5))}, "fragments [[0, 2], [2, 2], [3, 5]] of span [0, 5)"),
    ({"core": (2, 4)}, "core [2, 4] is not inside its span [0, 3)"),
    ({"core": (1, 1)}, "core [1, 1] is not inside its span [0, 3)"),
    ({"alternatives": ((0, 4), (9, 11))}, "alternative [9, 11) is not inside the text of 10 characters"),
    ({"score": float("nan")}, "score nan is not a finite number"),
    ({"score": float("inf")}, "score inf is not a finite number"),
    ({"links": ("Q1", "")}, "an empty or unreadable concept id"),
]


@pytest.mark.parametrize(("span", "said"), REFUSED, ids=[said for _, said in REFUSED])
def test_a_bad_span_is_refused_with_its_place(span: dict[str, Any], said: str) -> None:
    [problem] = refused([{}, span])
    assert problem.startswith("x:3: ")
    assert said in problem


def test_all_problems_are_told_at_once_the_readers_own_first() -> None:
    builder = Builder("x")
    builder.document("d", "abc", line=1, tokens=[(0, 2), (1, 3)])
    builder.document("", "abc", line=2, sentences=[(0, 4)])
    builder.document("d", "\ud800", line=3)
    builder.span(0, 9, "A", line=4)
    builder.problem(5, "found", "remedy")
    with pytest.raises(FormatError) as caught:
        builder.finish("made")
    said = [str(problem) for problem in caught.value.problems]
    assert said[0] == "x:5: found; remedy"
    assert [problem.line for problem in caught.value.problems] == [5, 2, 3, 3, 1, 2, 4]


def test_spans_are_sorted_and_lead_back_to_the_order_read() -> None:
    spans = [(5, 9, "B"), (0, 9, "A"), (0, 3, "B"), (0, 3, "A"), (5, 9, "A")]
    layer = built([{"start": start, "end": end, "label": label} for start, end, label in spans])
    assert layer.types == ("A", "B")
    assert layer.order is not None
    assert [spans[read] for read in layer.order.tolist()] == sorted(spans)
    assert list(zip(layer.start.tolist(), layer.end.tolist(), map(layer.label, range(5)), strict=True)) == sorted(spans)
    columns = (layer.doc, layer.start, layer.end, layer.type, layer.order, layer.first)
    assert not any(column.flags.writeable for column in columns[:5])


def test_duplicates_are_kept_and_known() -> None:
    hull = {"start": 0, "end": 5}
    split = {**hull, "fragments": ((0, 2), (3, 5))}
    layer = built([hull, split, split, {**hull, "label": "B"}, hull, {**hull, "fragments": ((0, 1), (3, 5))}])
    assert len(layer) == 6
    assert len(layer.duplicates) == 2
    for span in layer.duplicates.tolist():
        assert layer.label(span) == layer.label(span - 1)
        assert layer.fragments.get(span) == layer.fragments.get(span - 1)


def test_one_fragment_over_the_whole_span_is_no_fragment() -> None:
    plain, single = built([{}]), built([{"fragments": ((0, 3),)}])
    assert single.fragments == {}
    assert single.digest == plain.digest


def test_a_layer_without_spans_and_a_corpus_without_documents() -> None:
    assert len(built([])) == 0
    assert built([], "").first.tolist() == [0, 0]
    empty = Builder("x").finish("made")
    assert (len(empty), len(empty.documents), empty.first.tolist()) == (0, 0, [0])
    assert empty.digest != built([]).digest


def test_an_interval_beyond_int32_is_refused() -> None:
    builder = Builder("x")
    builder.document("d", "abc", tokens=[(0, 2**40)])
    with pytest.raises(FormatError, match="token"):
        builder.finish("made")


def rebuilt(layer: Layer, documents: list[int], spans: list[int]) -> Layer:
    """Return the same content, documents and spans added in another order."""
    builder = Builder("again")
    for document in documents:
        builder.document(layer.documents.ids[document], layer.documents.texts[document])
        for span in spans:
            if layer.doc[span] == document:
                builder.span(
                    int(layer.start[span]),
                    int(layer.end[span]),
                    layer.label(span),
                    fragments=layer.fragments.get(span, ()),
                    id=f"other{span}",
                    links=layer.links.get(span, ()),
                    core=layer.cores.get(span),
                    alternatives=layer.alternatives.get(span, ()),
                    score=layer.scores.get(span),
                )
    return builder.finish("again")


@draws(13)
@given(layer=layers(), data=st.data())
def test_digests_are_free_of_order_names_and_metadata(layer: Layer, data: st.DataObject) -> None:
    documents = data.draw(st.permutations(range(len(layer.documents))))
    spans = data.draw(st.permutations(range(len(layer))))
    again = rebuilt(layer, documents, spans)
    assert again.documents.digest == layer.documents.digest
    assert again.digest == layer.digest


@draws(13)
@given(layer=layers(), data=st.data())
def test_digests_of_the_parts_make_that_of_the_whole(layer: Layer, data: st.DataObject) -> None:
    part = data.draw(st.lists(st.integers(0, 2), min_size=len(layer.documents), max_size=len(layer.documents)))
    spans = list(range(len(layer)))
    parts = []
    for number in range(3):
        documents = [doc for doc, own in enumerate(part) if own == number]
        parts.append(rebuilt(layer, documents, [span for span in spans if part[layer.doc[span]] == number]))
    assert combined("layer", np.concatenate([one.hashes for one in parts])) == layer.digest
    whole = np.concatenate([one.documents.hashes for one in parts])
    assert combined("documents", whole) == layer.documents.digest


BASE: dict[str, Any] = {"start": 1, "end": 6, "label": "A", "fragments": ((1, 2), (4, 6)), "links": ("Q1", "Q2")}
CHANGES: list[dict[str, Any]] = [
    {},
    {"start": 0, "fragments": ((0, 2), (4, 6))},
    {"end": 7, "fragments": ((1, 2), (4, 7))},
    {"label": "B"},
    {"fragments": ((1, 3), (4, 6))},
    {"fragments": ()},
    {"links": ("Q2", "Q1")},
    {"links": ()},
    {"core": (1, 2)},
    {"alternatives": ((1, 2),)},
    {"score": 0.5},
]


def test_digests_tell_every_difference_of_content() -> None:
    made = [built([{**BASE, **change}]) for change in CHANGES]
    made += [built([BASE, BASE]), built([]), built([BASE], name="e"), built([BASE], "abcdefghiJ")]
    assert len({layer.digest for layer in made}) == len(made)


def test_texts_and_ids_do_not_run_into_one_another() -> None:
    def digest(*documents: tuple[str, str]) -> str:
        builder = Builder("x")
        for name, text in documents:
            builder.document(name, text)
        return builder.finish("made").documents.digest

    parted = [digest(("a", "bc")), digest(("ab", "c")), digest(("a", "b"), ("c", "")), digest(("a", ""), ("b", "c"))]
    assert len(set(parted)) == len(parted)


@draws(10)
@given(layer=layers(), data=st.data())
def test_taking_all_spans_changes_nothing_and_taking_some_keeps_what_they_carry(
    layer: Layer, data: st.DataObject
) -> None:
    every = np.arange(len(layer))
    assert content(layer.take(every)) == content(layer)
    kept = [span for span in every.tolist() if data.draw(st.booleans())]
    part = layer.take(np.array(kept, np.int64))
    assert part.digest == rebuilt(layer, list(range(len(layer.documents))), kept).digest


@given(
    spans=st.lists(st.tuples(st.integers(0, 2), st.integers(-1, 4), st.integers(0, 6), st.integers(0, 4)), max_size=8),
    names=st.permutations(["A", "B", "c", "", "\ud800"]),
)
def test_coded_labels_say_what_their_names_say(spans: list[tuple[int, int, int, int]], names: list[str]) -> None:
    documents = Documents(("x", "y", "z"), ("abcde",) * 3)
    doc, start, end, codes = ([span[column] for span in spans] for column in range(4))
    made: list[Any] = []
    for label in ([names[code] for code in codes], Labels(np.array(codes, np.int64), tuple(names))):
        try:
            made.append(content(layer_of("x", documents, doc, start, end, label)))
        except FormatError as error:
            made.append(error.problems)
    assert made[0] == made[1]
