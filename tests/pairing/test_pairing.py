"""Pairing: by id, by order, by the stream of tokens; what is refused with both places, what is carried over."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nereval_core.corpus import Layer
from nereval_core.corpus.builder import Builder
from nereval_core.pairing import Paired, pair
from nereval_core.problems import FormatError
from nereval_core.readers import Reading, ReadOptions, read
from tests.support.shared_corpora import SHARED, files, needs

Row = tuple[str, str, list[tuple[int, int, str]]]


def reading(name: str, *rows: Row, named: bool = True, tokens: bool = True, gap: str = " ") -> Reading:
    """Build a reading from ids, words between blanks, and spans over words (end exclusive)."""
    builder = Builder(f"{name}.x", named)
    places = []
    for line, (document, words, spans) in enumerate(rows, start=1):
        text, own = "", []
        for word in words.split():
            text += gap if own else ""
            own.append((len(text), len(text) + len(word)))
            text += word
        builder.document(document, text, line=line, tokens=own if tokens else ())
        places.append((f"{name}.x", line))
        for start, end, label in spans:
            builder.span(own[start][0], own[end - 1][1], label, line=line)
    layer = builder.finish(name)
    return Reading(layer.documents, layer, "test", source=f"{name}.x", places=tuple(places))


def spans(layer: Layer) -> list[tuple[str, str, str]]:
    ids = layer.documents.ids
    return [(ids[layer.doc[span]], layer.text(span), layer.label(span)) for span in range(len(layer))]


def refused(gold: Reading, pred: Reading, **options: object) -> list[str]:
    with pytest.raises(FormatError) as error:
        pair(gold, pred, **options)  # type: ignore[arg-type]
    return error.value.lines()


A: Row = ("a", "New York is big", [(0, 2, "LOC")])
B: Row = ("b", "in Paris now", [(1, 2, "LOC"), (2, 3, "TIME")])
GOLD = reading("gold", A, B)
BOTH = [("a", "New York", "LOC"), ("b", "Paris", "LOC"), ("b", "now", "TIME")]
STREAM = "documents of the prediction have other boundaries than gold's: split by gold's token counts"
BY_ORDER = "paired by order: no document ids in prediction"

# What fits: the prediction, options, the spans over gold's documents, notes and marks.
CARRIED = [
    ("the same", reading("pred", A, B), {}, BOTH, (), ()),
    ("another order", reading("pred", B, A), {}, BOTH, (), ()),
    ("no tokens", reading("pred", B, A, tokens=False), {}, BOTH, (), ()),
    ("no ids", reading("pred", ("1", A[1], A[2]), ("2", B[1], B[2]), named=False), {}, BOTH, (BY_ORDER,), ()),
    (
        "other white space",
        reading("pred", B, A, gap="\n "),
        {},
        BOTH,
        ("2 documents with other white space than in gold: spans carried over by token",),
        (),
    ),
    (
        "one stream",
        reading(
            "pred", ("1", "New York is big in Paris now", [(0, 2, "LOC"), (5, 6, "LOC"), (6, 7, "TIME")]), named=False
        ),
        {},
        BOTH,
        (BY_ORDER, STREAM),
        (),
    ),
    (
        "other sentences, as many",
        reading(
            "pred",
            ("1", "New York", [(0, 2, "LOC")]),
            ("2", "is big in Paris now", [(3, 4, "LOC"), (4, 5, "TIME")]),
            named=False,
        ),
        {},
        BOTH,
        (BY_ORDER, STREAM),
        (),
    ),
    (
        "spelling",
        reading("pred", ("b", "In Pariis now", B[2]), A),
        {"token_text": "gold"},
        BOTH,
        ("2 tokens spelt differently than in gold: gold's text used",),
        ("token text from gold: 2 tokens",),
    ),
    (
        "spelling in a stream",
        reading(
            "pred", ("1", "New Yorck is big in Paris now", [(0, 2, "LOC"), (5, 6, "LOC"), (6, 7, "TIME")]), named=False
        ),
        {"token_text": "gold"},
        BOTH,
        (BY_ORDER, STREAM, "1 token spelt differently than in gold: gold's text used"),
        ("token text from gold: 1 token",),
    ),
    ("nothing to respell", reading("pred", B, A), {"token_text": "gold"}, BOTH, (), ()),
    (
        "a document missing",
        reading("pred", B),
        {"missing": "empty"},
        BOTH[1:],
        ("1 document missing from the prediction counted as predicted empty",),
        ("missing counted empty: 1 document",),
    ),
    (
        "the last one missing, by order",
        reading("pred", ("1", A[1], A[2]), named=False),
        {"missing": "empty"},
        BOTH[:1],
        (BY_ORDER, "1 document missing from the prediction counted as predicted empty"),
        ("missing counted empty: 1 document",),
    ),
    ("none missing", reading("pred", B, A), {"missing": "empty"}, BOTH, (), ()),
]


@pytest.mark.parametrize(
    ("pred", "options", "found", "notes", "marks"), [row[1:] for row in CARRIED], ids=[row[0] for row in CARRIED]
)
def test_carried(
    pred: Reading,
    options: dict[str, str],
    found: list[tuple[str, str, str]],
    notes: tuple[str, ...],
    marks: tuple[str, ...],
) -> None:
    paired = pair(GOLD, pred, **options)  # type: ignore[arg-type]
    assert spans(paired.layer) == found
    assert (paired.notes, paired.marks) == (notes, marks)
    assert paired.layer.documents is GOLD.documents
    assert paired.layer.name == "pred"


# What does not: the prediction, options, and the complaint, with the place on either side.
PARTED = [
    (
        reading("pred", A),
        {},
        [
            "pred.x: document 'b' (gold.x:2, document 'b') is missing; add it; or score the documents that all have: "
            "--documents shared; or, where it was read and nothing found in it, count it as empty: --missing empty"
        ],
    ),
    (
        reading("pred", A, ("c", "x", []), B),
        {"missing": "empty"},
        ["pred.x:2: document 'c' is not in gold.x; leave it out, or give it the id it has in gold"],
    ),
    (reading("pred", A, ("c", "x", [])), {}, ["pred.x:2: document 'c' is not in", "pred.x: document 'b' (gold.x:2"]),
    (
        reading("pred", ("x", "a", []), ("y", "b", [])),
        {},
        ["pred.x:1: no document of gold.x: the first here is 'x', there 'a'; give both sides the same document ids"],
    ),
    (
        reading("pred", ("a", "New York was big", []), B, tokens=False),
        {"token_text": "gold"},
        [
            "pred.x:1: document 'a' differs from gold.x:1, document 'a' at character 9: 'was big' here, 'is big' there;"
            " score each prediction against the text it was made from"
        ],
    ),
    (
        reading("pred", ("a", "New York is big indeed", []), ("b", "in", []), tokens=False),
        {},
        ["at character 15: ' indeed' here, the end there", "at character 2: the end here, ' Paris now' there"],
    ),
    (
        reading("pred", ("a", "New York was big", []), ("b", "In Pariis now", [])),
        {},
        [
            "pred.x:1: document 'a' spells 1 token differently from gold: at token 3 'was' here, 'is' in gold; "
            "--token-text gold takes gold's text",
            "pred.x:2: document 'b' spells 2 tokens differently from gold: at token 1 'In' here, 'in' in gold; "
            "--token-text gold takes gold's text",
        ],
    ),
    (
        reading("pred", ("a", "New York is very big", []), B),
        {"token_text": "gold"},
        [
            "pred.x:1: document 'a' has 5 tokens, gold.x:1, document 'a' has 4; they differ from token 4: 'very' here, "
            "'big' there; give the prediction with gold's tokens"
        ],
    ),
    (
        reading("pred", ("1", "New York is big", []), named=False),
        {},
        [
            "pred.x:1: 1 document and 4 tokens where gold.x has 2 and 7; they differ from token 4 'big' (the end) of "
            "document '1', where gold.x:2, document 'b' has token 1 'in'; give the prediction with gold's tokens, or "
            "count what is missing at the end as predicted empty: --missing empty"
        ],
    ),
    (
        reading("pred", ("1", "New York", []), ("2", "was big in Paris right now", []), named=False),
        {"missing": "empty"},
        [
            "pred.x:2: 2 documents and 8 tokens where gold.x has 2 and 7; they differ from token 1 'was' of document "
            "'2', where gold.x:1, document 'a' has token 3 'is'"
        ],
    ),
    (
        reading("pred", ("1", "New York is big", []), named=False, tokens=False),
        {},
        ["pred.x:1: 1 document where gold.x has 2; they differ from number 2: nothing here, 'in Paris now' there"],
    ),
    (
        reading("pred", ("1", "New York is big in Paris now", [(3, 6, "LOC"), (0, 1, "LOC")]), named=False),
        {},
        [
            "pred.x:1: span [12, 24) 'big in Paris' (LOC) of document '1' reaches over a document boundary of gold "
            "(gold.x); make the span follow gold's tokens and documents"
        ],
    ),
    (
        reading("pred", ("1", "New York was big in Paris now", []), named=False),
        {},
        [
            "pred.x:1: document '1' spells 1 token differently from gold: at token 3 'was' here, 'is' at token 3 of "
            "gold.x:1, document 'a'"
        ],
    ),
]


@pytest.mark.parametrize(("pred", "options", "found"), PARTED)
def test_parted(pred: Reading, options: dict[str, str], found: list[str]) -> None:
    lines = refused(GOLD, pred, **options)
    assert len(lines) == len(found), lines
    for line, words in zip(lines, found, strict=True):
        assert words in line


def test_equal_text_with_other_tokens_is_compared_by_characters() -> None:
    builder = Builder("pred")
    builder.document("a", "New York is big", tokens=[(0, 8), (9, 11), (12, 15)])
    builder.document("b", "in Paris now", tokens=[(0, 2), (3, 5), (5, 12)])
    builder.span(3, 5, "LOC")
    layer = builder.finish("pred")
    paired = pair(GOLD, Reading(layer.documents, layer, "test", source="pred"))
    assert spans(paired.layer) == [("b", "Pa", "LOC")]
    assert paired.notes == (
        "2 documents with gold's text and other tokens: spans compared by characters, gold's tokens kept",
    )
    assert not paired.marks
    assert paired.layer.documents.tokens is GOLD.documents.tokens


CUT = "1 document with other white space and tokens than in gold: spans carried over by character"


@pytest.mark.parametrize("named", [True, False])
def test_other_tokens_white_space_aside(named: bool) -> None:
    """As many tokens by chance, or more; documents with ids and without."""
    gold = reading("gold", ("a", "I don't know", [(1, 2, "X")]), ("b", "so what", []), named=named)
    for words, span in (("I do n't know", (1, 3)), ("Id on't know", (0, 2)), ("I don't know", (1, 2))):
        pred = reading("pred", ("a", words, [(*span, "X")]), ("b", "so what", []), named=named)
        paired = pair(gold, pred)
        assert spans(paired.layer) == [("a", "I don't" if span[0] == 0 else "don't", "X")]
        ordered = () if named else ("paired by order: no document ids in gold and prediction",)
        assert paired.notes == (*ordered, *[CUT] * (words != "I don't know"))
    builder = Builder("pred", named)
    builder.document("a", "I do n't know", tokens=[(0, 1), (2, 4), (5, 8), (9, 13)])
    builder.span(2, 5, "X")
    builder.document("b", "so what", tokens=[(0, 2), (3, 7)])
    layer = builder.finish("pred")
    lines = refused(gold, Reading(layer.documents, layer, "test", source="pred"))
    assert lines == [
        "pred: span [2, 5) 'do ' (X) of document 'a' begins or ends in white space that gold has otherwise (gold.x); "
        "make the span follow gold's tokens and documents, or leave out such spans: --align-text"
    ]


# Ids that do not meet, and documents without: the prediction, options, which gold documents, notes and marks.
TEXTS = reading("gold", ("a", "one", []), ("b", "two", []), ("c", "two", []), ("d", "three", []))
NO_ID = "paired by text: 4 documents (no id is in gold), 2 of them in their order, as others have the same text"
BY_TEXT = [
    ("no id meets", [("w", "three"), ("x", "two"), ("y", "one"), ("z", "two")], {}, "dbac", NO_ID,
     "paired by text: 4 documents"),
    ("one does not", [("a", "one"), ("b", "two"), ("c", "two"), ("x", "three")], {}, "abcd",
     "paired by text: 1 document (ids not in gold)", "paired by text: 1 document"),
    ("some missing", [("x", "three")], {"missing": "empty"}, "d", "paired by text: 1 document (no id is in gold)",
     "paired by text: 1 document"),
    ("ids of other documents", [("a", "three"), ("b", "one"), ("c", "two"), ("d", "two")], {"pair_by": "text"}, "dabc",
     "paired by text: 4 documents (ids ignored), 2 of them in their order, as others have the same text",
     "paired by text: 4 documents"),
    ("asked", [("w", "one"), ("x", "two"), ("y", "two"), ("z", "three")], {"pair_by": "order"}, "abcd",
     "paired by order, as asked", "paired by order"),
    ("the ids in order", [("a", "one"), ("b", "two"), ("c", "two"), ("d", "three")], {"pair_by": "order"}, "abcd",
     "paired by order, as asked", None),
    ("written otherwise", [("w", "t\u200bhree"), ("x", "two"), ("y", "o ne"), ("z", "two")],
     {"align_text": True}, "dbac",
     NO_ID, "paired by text: 4 documents"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("rows", "options", "found", "note", "mark"), [row[1:] for row in BY_TEXT], ids=[r[0] for r in BY_TEXT]
)
def test_by_text_and_order(
    rows: list[tuple[str, str]], options: dict[str, Any], found: str, note: str, mark: str | None
) -> None:
    pred = reading("pred", *((name, text, [(0, 1, name)]) for name, text in rows), tokens=False)
    paired = pair(TEXTS, pred, **options)
    placed = {label: name for name, _, label in spans(paired.layer)}
    assert "".join(placed[name] for name, _ in rows) == found
    assert (note in paired.notes) and (mark is None or mark in paired.marks)
    assert mark is not None or not paired.marks


def test_documents_without_ids_in_another_order() -> None:
    """Where all texts are there in another order, they are the sign; where one is not, the order is all there is."""
    rows: list[Row] = [("1", "in Paris now", [(1, 2, "LOC")]), ("2", "New York is big", [])]
    for tokens in (True, False):
        paired = pair(GOLD, reading("pred", *rows, named=False, tokens=tokens))
        assert spans(paired.layer) == [("b", "Paris", "LOC")]
        assert paired.notes == ("paired by text: 2 documents (no document ids in prediction)",)
        assert paired.marks == ("paired by text: 2 documents",)
        assert refused(GOLD, reading("pred", *rows, named=False, tokens=tokens), pair_by="order")
    short = pair(GOLD, reading("pred", rows[0], named=False), missing="empty")
    assert spans(short.layer) == [("b", "Paris", "LOC")]
    assert short.marks == ("paired by text: 1 document", "missing counted empty: 1 document")


NOT_BY_TEXT = [
    (
        [("x", "two"), ("y", "one"), ("z", "three"), ("u", "one")],
        {},
        [
            "pred.x:2: document 'y' has a text that stands in 2 documents here and in 1 of gold.x; give both sides the "
            "same document ids",
            "pred.x:4: document 'u' has a text that stands in 2 documents here and in 1 of gold.x",
            "pred.x:1: document 'x' has a text that stands in 1 document here and in 2 of gold.x",
        ],
    ),
    (
        [("x", "four"), ("y", "five"), ("z", "six"), ("u", "7")],
        {},
        ["give both sides the same document ids"],
    ),
    (
        [("x", "four"), ("a", "one")],
        {"pair_by": "text", "missing": "empty"},
        ["the text of document 'x' is not in gold.x; leave it out"],
    ),
    (
        [("a", "three"), ("b", "one"), ("c", "two"), ("d", "two")],
        {},
        [
            "pred.x:1: document 'a' differs from gold.x:1, document 'a' at character 0: 'three' here, 'one' there; "
            "pair documents by their text: --pair-by text"
        ]
        + ["--pair-by text"] * 2,
    ),
    ([("a", "one")], {"pair_by": "order"}, ["1 document where gold.x has 4"]),
    (
        [("x", "o ne"), ("y", "tw o"), ("z", "two"), ("u", "three")],
        {},
        [
            "pred.x:1: document 'x' is not in gold.x, where document 'a' has its text in other writing; give both "
            "sides the same document ids, or carry its spans over to gold's text: --align-text",
        ],
    ),
    (
        [("x", "o ne"), ("y", "4"), ("z", "5")],
        {"missing": "empty"},
        ["there 'a' (some texts are there in other writing); give both sides the same document ids, or carry"],
    ),
    (
        [("a", "o ne"), ("b", "three"), ("c", "two"), ("d", "two")],
        {"pair_by": "text"},
        ["the text of document 'a' is not in gold.x, where document 'a' has it in other writing; carry its spans"],
    ),
]


@pytest.mark.parametrize(("rows", "options", "found"), NOT_BY_TEXT)
def test_not_paired_by_text(rows: list[tuple[str, str]], options: dict[str, Any], found: list[str]) -> None:
    lines = refused(TEXTS, reading("pred", *((name, text, []) for name, text in rows), tokens=False), **options)
    for words in found:
        assert any(words in line for line in lines), lines


# Texts written otherwise, to be aligned: gold's, the prediction's, its spans, the spans found, and how many are lost.
ALIGNED = [
    ("line ends", "New York\nis", "New York\r\nis", [(0, 8), (10, 12), (4, 12)], ["New York", "is", "York\nis"], 0),
    ("a byte-order mark", "Paris", "\ufeffParis", [(1, 6), (0, 6)], ["Paris"], 1),
    ("normal forms", "café Zoë", "cafe\u0301 Zoe\u0308", [(0, 5), (6, 10), (0, 4)], ["café", "Zoë"], 1),
    ("quotes", "in \"Paris\" now", "in “Paris” now", [(3, 10), (4, 9)], ['"Paris"', "Paris"], 0),
    ("white space", "in  Paris now", "in Paris now ", [(2, 8), (3, 8), (8, 12)], ["Paris", " now"], 1),
]  # fmt: skip


@pytest.mark.parametrize(
    ("gold", "pred", "edges", "found", "lost"), [row[1:] for row in ALIGNED], ids=[r[0] for r in ALIGNED]
)
@pytest.mark.parametrize("tokens", [True, False])
def test_aligned(gold: str, pred: str, edges: list[tuple[int, int]], found: list[str], lost: int, tokens: bool) -> None:
    sides = []
    for name, text, marked in (("gold", gold, []), ("pred", pred, edges)):
        builder = Builder(name)
        builder.document("b", "the same")
        builder.document("a", text, tokens=[(0, len(text))] if tokens else ())
        for start, end in marked:
            builder.span(start, end, "X")
        layer = builder.finish(name)
        sides.append(Reading(layer.documents, layer, "test", source=f"{name}.x", places=[(f"{name}.x", 1)] * 2))
    if not tokens:
        (line,) = refused(*sides)
        assert " alone: " in line
        assert line.endswith("; carry its spans over to gold's text: --align-text")
    paired = pair(*sides, align_text=True)
    assert sorted(text for _, text, _ in spans(paired.layer)) == sorted(found)
    assert paired.marks == (f"aligned texts: 1 document, {lost} span{'s' * (lost != 1)} lost",)
    assert paired.notes == (
        f"1 document aligned with gold's text: spans carried over, {lost} span{'s' * (lost != 1)} lost",
    )
    assert [(problem.source, problem.line, problem.remedy) for problem in paired.lost] == [
        ("pred.x", 1, "left out of the prediction")
    ] * lost


def test_texts_with_other_letters_are_not_aligned() -> None:
    pred = reading("pred", ("a", "New York is big", []), ("b", "in Pariss now", []), tokens=False, gap="  ")
    assert refused(GOLD, pred, align_text=True) == [
        "pred.x:2: document 'b' differs from gold.x:2, document 'b' at character 9: 's  now' here, "
        "'now' there; score each prediction against the text it was made from"
    ]
    assert "at character 4, in white space alone: ' York  is  big' here" in refused(GOLD, pred)[0]


def test_tokens_spelt_otherwise_and_texts_written_otherwise() -> None:
    """What can be aligned is, what is left is spelt as gold has it."""
    gold = reading("gold", ("a", "the `` Big Apple ''", []), ("b", "in Paris now", []))
    pred = reading("pred", ("a", 'the " Big Apple "', [(2, 4, "LOC")]), ("b", "in Pariss now", [(1, 2, "LOC")]))
    assert [line.rsplit("; ")[1] for line in refused(gold, pred)] == [
        "--token-text gold takes gold's text, or carry its spans over to gold's text: --align-text",
        "--token-text gold takes gold's text",
    ]
    assert len(refused(gold, pred, align_text=True)) == 1
    paired = pair(gold, pred, align_text=True, token_text="gold")
    assert spans(paired.layer) == [("a", "Big Apple", "LOC"), ("b", "Paris", "LOC")]
    assert paired.marks == ("token text from gold: 1 token", "aligned texts: 1 document, 0 spans lost")


@pytest.mark.parametrize("edge", ["core", "alternatives", "fragments"])
def test_a_span_is_lost_with_what_belongs_to_it(edge: str) -> None:
    builder = Builder("pred")
    builder.document("a", "the New  York")
    more = {"core": (4, 8), "alternatives": ((4, 8),), "fragments": ((4, 8), (9, 13))}[edge]
    builder.span(4, 13, "X", **{edge: more})  # type: ignore[arg-type]
    builder.span(0, 3, "Y", id="kept")
    layer = builder.finish("pred")
    paired = pair(reading("gold", ("a", "the New York", [])), Reading(layer.documents, layer, "test"), align_text=True)
    assert spans(paired.layer) == [("a", "the", "Y")]
    assert list(paired.layer.ids.values()) == ["kept"]
    (problem,) = paired.lost
    assert f"has a {edge.removesuffix('s')} [4, 8) that begins or ends in white space" in problem.found


def test_gold_without_ids() -> None:
    gold = reading("gold", ("1", A[1], []), ("2", B[1], []), named=False)
    paired = pair(gold, reading("pred", A, B))
    assert [name for name, *_ in spans(paired.layer)] == ["1", "2", "2"]
    assert paired.notes == ("paired by order: no document ids in gold",)


def test_a_layer_over_the_same_documents_stays_as_it_is() -> None:
    assert pair(GOLD, GOLD).layer is GOLD.layer


def rich(order: list[str], gap: str, words: dict[str, list[str]]) -> Reading:
    """Build a reading whose spans carry all that spans can."""
    builder = Builder("pred")
    for name in order:
        text, tokens = "", []
        for word in words[name]:
            text += gap if tokens else ""
            tokens.append((len(text), len(text) + len(word)))
            text += word
        builder.document(name, text, tokens=tokens)
        start = [low for low, _ in tokens]
        end = [high for _, high in tokens]
        builder.span(
            start[0],
            end[2],
            "X",
            id=f"{name}1",
            fragments=((start[0], end[0]), (start[2], end[2])),
            links=(f"Q{name}",),
            core=(start[2], end[2]),
            alternatives=((start[0], end[1]), (start[1], end[2])),
            score=0.5,
            meta={"of": name},
        )
        builder.span(start[0], end[0], "Y", id=f"{name}2")
    layer = builder.finish("pred")
    return Reading(layer.documents, layer, "test")


WORDS = {"a": ["one", "two", "three"], "b": ["vier", "fünf", "sechs"]}


@pytest.mark.parametrize("order", [["a", "b"], ["b", "a"]])
@pytest.mark.parametrize("gap", [" ", "  \n"])
@pytest.mark.parametrize("align", [True, False])
def test_all_that_spans_carry_comes_along(order: list[str], gap: str, align: bool) -> None:
    gold = rich(["a", "b"], " ", WORDS)
    paired = pair(gold, rich(order, gap, WORDS), align_text=align)
    assert paired.layer.digest == gold.layer.digest
    assert [paired.layer.ids[span] for span in range(4)] == ["a2", "a1", "b2", "b1"]
    assert [paired.layer.meta[span]["of"] for span in (1, 3)] == ["a", "b"]
    read_as = [paired.layer.ids[span] for span in np.argsort(paired.layer.order).tolist()]
    assert read_as == [f"{name}{number}" for name in order for number in (1, 2)]


def test_spans_inside_tokens() -> None:
    """Inside a token of the same spelling a boundary keeps its place; in one spelt differently it has none."""

    def predicted(word: str, start: int, end: int) -> Reading:
        builder = Builder("pred")
        builder.document("a", f"New  {word}", tokens=[(0, 3), (5, 5 + len(word))])
        builder.span(start, end, "X")
        layer = builder.finish("pred")
        return Reading(layer.documents, layer, "test")

    gold = reading("gold", ("a", "New York", []))
    assert spans(pair(gold, predicted("York", 1, 7)).layer) == [("a", "ew Yo", "X")]
    assert spans(pair(gold, predicted("Yorck", 1, 10), token_text="gold").layer) == [("a", "ew York", "X")]
    for start, end, why in (
        (1, 7, "gold spells differently"),
        (6, 10, "gold spells differently"),
        (3, 10, "does not begin"),
    ):
        assert why in refused(gold, predicted("Yorck", start, end), token_text="gold")[0]
    assert "does not begin and end in a token" in refused(gold, predicted("York", 0, 4))[0]


def test_a_core_that_cannot_be_carried_is_told() -> None:
    builder = Builder("pred")
    builder.document("a", "New  York", tokens=[(0, 3), (5, 9)])
    builder.span(0, 9, "X", core=(4, 9))
    layer = builder.finish("pred")
    lines = refused(reading("gold", ("a", "New York", [])), Reading(layer.documents, layer, "test"))
    assert lines == [
        "pred: span [0, 9) 'New  York' (X) of document 'a' has a core [4, 9) that does not begin and end in a token, "
        "so it cannot be carried over to gold's text (gold.x); make the span follow gold's tokens and documents"
    ]


WORD = st.sampled_from(["a", "bc", "déf", "😀"])


def drawn(documents: list[list[str]], data: st.DataObject) -> list[Row]:
    """Return documents of these words with spans over some of them."""
    rows: list[Row] = []
    for number, words in enumerate(documents):
        picked = data.draw(st.lists(st.tuples(st.integers(0, len(words) - 1), st.integers(1, 6)), max_size=4))
        rows.append((f"d{number}", " ".join(words), [(low, min(low + size, len(words)), "X") for low, size in picked]))
    return rows


@given(
    documents=st.lists(st.lists(WORD, min_size=1, max_size=6), min_size=1, max_size=5),
    data=st.data(),
)
def test_ways_of_pairing_agree(documents: list[list[str]], data: st.DataObject) -> None:
    """Shuffled, spaced, cut and respelt, the same spans over the same tokens come back as the same layer."""
    rows = drawn(documents, data)
    gold = reading("gold", *rows)
    shuffled = data.draw(st.permutations(rows))
    respelt = [(name, words.replace("bc", "BBC"), found) for name, words, found in shuffled]
    offsets = np.cumsum([0, *map(len, documents)]).tolist()
    one = (
        "1",
        " ".join(words for _, words, _ in rows),
        [(low + at, high + at, x) for at, (_, _, found) in zip(offsets, rows, strict=False) for low, high, x in found],
    )
    for paired in (
        pair(gold, reading("pred", *shuffled)),
        pair(gold, reading("pred", *shuffled, gap="\t ")),
        pair(gold, reading("pred", *respelt), token_text="gold"),
        pair(gold, reading("pred", one, named=False)),
    ):
        assert paired.layer.digest == gold.layer.digest


def lettered(row: Row) -> Row:
    """Return a document cut into letters."""
    name, text, found = row
    places = np.cumsum([0, *map(len, text.split())]).tolist()
    return name, " ".join(text.replace(" ", "")), [(places[low], places[high], x) for low, high, x in found]


@given(
    documents=st.lists(st.lists(WORD, min_size=1, max_size=6), min_size=1, max_size=5, unique_by="".join),
    data=st.data(),
)
def test_other_ids_and_tokens_change_nothing(documents: list[list[str]], data: st.DataObject) -> None:
    """Documents called otherwise, without ids in another order, and cut into letters, with gaps between them or not."""
    rows = drawn(documents, data)
    gold = reading("gold", *rows)
    shuffled = data.draw(st.permutations(rows))
    renamed = [(f"other {name}", words, found) for name, words, found in shuffled]
    gap = data.draw(st.sampled_from(["", "\t ", " "]))
    for paired in (
        pair(gold, reading("pred", *renamed, tokens=data.draw(st.booleans()))),
        pair(gold, reading("pred", *shuffled, named=False)),
        pair(gold, reading("pred", *rows), pair_by="order"),
        pair(gold, reading("pred", *map(lettered, shuffled), gap=gap)),
        pair(gold, reading("pred", *map(lettered, rows), gap=gap, named=False)),
        pair(gold, reading("pred", *map(lettered, renamed), gap=gap), align_text=True),
        pair(gold, reading("pred", *map(lettered, renamed), gap=gap, tokens=False), align_text=True),
    ):
        assert paired.layer.digest == gold.layer.digest
        assert not paired.lost


def correct(gold: Reading, paired: Paired) -> int:
    """Count the spans with equal document, boundaries and type, taking no notice of case as HIPE does."""
    one, two = (
        {(layer.doc[i], layer.start[i], layer.end[i], layer.label(i).upper()) for i in range(len(layer))}
        for layer in (gold.layer, paired.layer)
    )
    return len(one & two)


# Submission, its true positives by wnuteval.py, and what stands in the signature.
WNUT17 = [
    ("arcada", 373, ()),
    ("drexel_cci", 192, ()),
    (
        "mic-cis.txt",
        365,
        ("pred repaired: 13 malformed chunks cut as conlleval does", "token text from gold: 1283 tokens"),
    ),
    ("uh_ritual", 355, ()),
]


@needs("wnut17")
@pytest.mark.parametrize(("name", "count", "marks"), WNUT17)
def test_wnut17(name: str, count: int, marks: tuple[str, ...]) -> None:
    gold = read(SHARED / "wnut17/emerging.test.annotated")
    repair = "conlleval" if marks else None
    pred = read(SHARED / "wnut17/submissions" / name, options=ReadOptions(scheme=gold.scheme, repair=repair))
    if marks:
        with pytest.raises(FormatError, match="--token-text gold takes gold's text"):
            pair(gold, pred)
    paired = pair(gold, pred, token_text="gold")
    assert correct(gold, paired) == count
    assert paired.marks == marks


@needs("jnlpba")
def test_jnlpba() -> None:
    gold = read(SHARED / "jnlpba/Genia4EReval1.iob2")
    paired = pair(gold, read(SHARED / "jnlpba/answers_legal.iob2", options=ReadOptions(scheme=gold.scheme)))
    assert correct(gold, paired) == 6064


@needs("jnlpba")
def test_fewer_sentences_than_gold() -> None:
    folder = SHARED / "jnlpba/edge/fewer_answer_sentences"
    gold, pred = read(folder / "gold.iob2"), read(folder / "answers.iob2")
    assert "answers.iob2:4: 2 documents and 4 tokens where" in refused(gold, pred)[0]
    assert pair(gold, pred, missing="empty").marks == ("missing counted empty: 1 document",)


HIPE = [
    *files("expected/hipe2022/*_nerc_coarse.json"),
    *(path for path in files("expected/hipe2020/*_?.json") if "bundle5" not in path.name),
]


@needs("expected")
@pytest.mark.parametrize("path", HIPE, ids=lambda path: path.stem)
def test_hipe(path: Path) -> None:
    """Submissions without ids, spaced, respelt or cut otherwise: the true positives are the scorer's."""
    told = json.loads(path.read_text())
    folder = SHARED / path.parent.name
    gold = read(folder / "gold" / told["gold"])
    pred = read(folder / "submissions" / told["submission"], options=ReadOptions(repair="conlleval"))
    if "official_rows" in told:
        row = next(row for row in told["official_rows"] if row["Evaluation"] == "NE-COARSE-LIT-micro-strict")
    else:
        row = told["results"]["NE-COARSE-LIT"]["TIME-ALL"]["LED-ALL"]["ALL"]["strict"]
    assert correct(gold, pair(gold, pred, token_text="gold")) == int(row["TP"])


def test_there_are_hipe_files_where_there_are_corpora() -> None:
    assert bool(HIPE) == (SHARED / "expected").is_dir()
