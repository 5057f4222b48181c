"""Tag schemes: what is legal, how it decodes, what is wrong with the rest, how it is mended, and the way back."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nereval_core.problems import FormatError
from nereval_core.readers.shared.tag_decoding import Chunks, decode, detect, faults
from nereval_core.readers.shared.tag_schemes import LETTERS, SCHEMES, Scheme, Tags, encode, scheme_named, unsayable

Span = tuple[int, int, str]

# Sentences part at "|"; spans are written "first-last Type" by token over all sentences.
LEGAL = [
    ("IOB2", "B-P I-P O B-L B-L I-L", ["0-1 P", "3-3 L", "4-5 L"]),
    ("IOB2", "B-P | B-P | B-P I-P", ["0-0 P", "1-1 P", "2-3 P"]),
    ("IOB2", "B-P I-P B-L I-L", ["0-1 P", "2-3 L"]),
    ("IOB1", "I-P I-P B-P I-L O I-L", ["0-1 P", "2-2 P", "3-3 L", "5-5 L"]),
    ("IOB1", "I-P B-P B-P I-P | I-P", ["0-0 P", "1-1 P", "2-3 P", "4-4 P"]),
    ("IOE2", "I-P E-P E-P E-L O I-L E-L", ["0-1 P", "2-2 P", "3-3 L", "5-6 L"]),
    ("IOE1", "I-P E-P I-P O I-L I-P | E-P I-P", ["0-1 P", "2-2 P", "4-4 L", "5-5 P", "6-6 P", "7-7 P"]),
    ("IOBES", "B-P I-P E-P S-P S-L O B-L E-L", ["0-2 P", "3-3 P", "4-4 L", "6-7 L"]),
    ("BILOU", "B-P I-P L-P U-P U-L O B-L L-L", ["0-2 P", "3-3 P", "4-4 L", "6-7 L"]),
    ("BMES", "B-P M-P E-P S-P S-L O B-L E-L", ["0-2 P", "3-3 P", "4-4 L", "6-7 L"]),
    ("BMEWO", "B-P M-P E-P W-P W-L O B-L E-L", ["0-2 P", "3-3 P", "4-4 L", "6-7 L"]),
    ("IO", "I-P I-P I-L O I-L | I-L", ["0-1 P", "2-2 L", "4-4 L", "5-5 L"]),
    ("IOB2", "B-a-b I-a-b B-a-c", ["0-1 a-b", "2-2 a-c"]),
    ("IOB2", "O O | O", []),
]

# Faults by token; what conlleval makes of it; what is left when malformed chunks are discarded.
MALFORMED = [
    ("IOB2", "O I-P I-P", {1: "after 'O'"}, ["1-2 P"], []),
    ("IOB2", "I-P | B-P", {0: "at the start of a sentence"}, ["0-0 P", "1-1 P"], ["1-1 P"]),
    ("IOB2", "B-P I-L I-L", {1: "'I-L' after 'B-P'"}, ["0-0 P", "1-2 L"], ["0-0 P"]),
    ("IOB2", "B-P E-P O", {1: "is not a tag of IOB2, whose letters are B, I, O"}, ["0-1 P"], []),
    ("IOB2", "B-P | I-P", {1: "at the start"}, ["0-0 P", "1-1 P"], ["0-0 P"]),
    ("IOB1", "O B-P I-P", {1: "after 'O'"}, ["1-2 P"], []),
    ("IOB1", "I-P B-L", {1: "after 'I-P'"}, ["0-0 P", "1-1 L"], ["0-0 P"]),
    ("IOE2", "I-P O E-P", {0: "before 'O'"}, ["0-0 P", "2-2 P"], ["2-2 P"]),
    ("IOE2", "I-P I-L E-L", {0: "before 'I-L'"}, ["0-0 P", "1-2 L"], ["1-2 L"]),
    ("IOE2", "E-P I-P", {1: "at the end of a sentence"}, ["0-0 P", "1-1 P"], ["0-0 P"]),
    ("IOE1", "I-P E-P O", {1: "before 'O'"}, ["0-1 P"], []),
    ("IOE1", "E-P I-L", {0: "before 'I-L'"}, ["0-0 P", "1-1 L"], ["1-1 L"]),
    ("IOBES", "B-P O S-L", {0: "before 'O'"}, ["0-0 P", "2-2 L"], ["2-2 L"]),
    ("IOBES", "B-P I-L E-L", {0: "before 'I-L'", 1: "after 'B-P'"}, ["0-0 P", "1-2 L"], []),
    ("IOBES", "I-P E-P S-P", {0: "at the start"}, ["0-1 P", "2-2 P"], ["2-2 P"]),
    ("IOBES", "S-P I-P E-P", {1: "after 'S-P'"}, ["0-0 P", "1-2 P"], ["0-0 P"]),
    ("BILOU", "B-P B-P L-P", {0: "before 'B-P'"}, ["0-0 P", "1-2 P"], ["1-2 P"]),
    ("BILOU", "L-P U-P I-P", {0: "at the start", 2: "after 'U-P'"}, ["0-0 P", "1-1 P", "2-2 P"], ["1-1 P"]),
    ("BMES", "B-P M-P O B-P E-P", {1: "before 'O'"}, ["0-1 P", "3-4 P"], ["3-4 P"]),
    ("BMEWO", "B-P S-P", {0: "before 'S-P'", 1: "is not a tag of BMEWO"}, ["0-0 P", "1-1 P"], []),
    ("IO", "B-P I-P", {0: "is not a tag of IO"}, ["0-1 P"], []),
]

DETECTED = [
    ("B-P I-P O", "IOB2"),
    ("O I-P I-P", "IOB1"),
    ("I-P B-P", "IOB1"),
    ("I-P E-P", "IOE2"),
    ("E-P I-P", "IOE1"),
    ("B-P E-P S-P", "IOBES"),
    ("B-P I-P E-P", "IOBES"),
    ("B-P L-P U-P", "BILOU"),
    ("B-P M-P E-P", "BMES"),
    ("B-P M-P E-P W-P", "BMEWO"),
    ("W-P", "BMEWO"),
    ("S-P", "IOBES"),
    ("O O", None),
]


def parsed(text: str) -> Tags:
    sentences = [sentence.split() for sentence in text.split("|")]
    first = np.cumsum([0, *map(len, sentences)])
    return Tags.of([tag for sentence in sentences for tag in sentence], first)


def named(tags: Tags, chunks: Chunks) -> list[str]:
    rows = zip(chunks.start.tolist(), chunks.end.tolist(), chunks.type.tolist(), strict=True)
    return [f"{start}-{end - 1} {tags.names[kind]}" for start, end, kind in rows]


@pytest.mark.parametrize(("scheme", "text", "spans"), LEGAL)
def test_legal_tags_decode(scheme: str, text: str, spans: list[str]) -> None:
    tags = parsed(text)
    assert not faults(tags, SCHEMES[scheme])
    for repair in (None, "conlleval", "discard"):
        chunks = decode(tags, SCHEMES[scheme], repair)  # type: ignore[arg-type]
        assert named(tags, chunks) == spans
        assert chunks.mended == 0


@pytest.mark.parametrize(("scheme", "text", "wrong", "cut", "left"), MALFORMED)
def test_malformed_tags_are_named_and_mended(
    scheme: str, text: str, wrong: dict[int, str], cut: list[str], left: list[str]
) -> None:
    tags = parsed(text)
    found = faults(tags, SCHEMES[scheme])
    assert [fault.token for fault in found] == list(wrong)
    for fault, words in zip(found, wrong.values(), strict=True):
        assert words in fault.finding
    mended = decode(tags, SCHEMES[scheme], "conlleval")
    kept = decode(tags, SCHEMES[scheme], "discard")
    assert named(tags, mended) == cut
    assert named(tags, kept) == left
    assert mended.mended == kept.mended == len(cut) - len(left)


def test_every_scheme_has_legal_and_malformed_cases() -> None:
    assert {row[0] for row in LEGAL} == {row[0] for row in MALFORMED} == set(SCHEMES)


@pytest.mark.parametrize(("text", "scheme"), DETECTED)
def test_detection(text: str, scheme: str | None) -> None:
    found = detect(parsed(text))
    assert (found.scheme.name if found.scheme else None, found.broken, found.rivals) == (scheme, 0, ())


def test_where_none_fits_the_one_broken_least_is_taken() -> None:
    found = detect(parsed("B-P I-P | B-P | O I-P"))
    assert found.scheme == SCHEMES["IOB2"]
    assert found.broken == 1


def test_schemes_that_decode_differently_are_rivals() -> None:
    # One in which E may stand anywhere in a chunk cuts "I E I" otherwise than IOE1.
    loose = Scheme("loose", frozenset({"II", "IE", "EI"}), frozenset(), frozenset({"OI", "IO"}), "IIII")
    tags = parsed("I-P O I-P E-P I-P")
    found = detect(tags, (SCHEMES["IOE1"], loose))
    assert found.rivals == ("IOE1", "loose")
    assert found.parting == 2


EVERY_TAG = ["O", *(f"{letter}-{kind}" for letter in LETTERS[1:] for kind in "PL")]
SHORT = [
    *product(EVERY_TAG, repeat=1),
    *product(EVERY_TAG, repeat=2),
    *product(EVERY_TAG, repeat=3),
    *product(["O", "B-P", "I-P", "E-P", "S-P", "I-L"], repeat=4),
]


@pytest.mark.parametrize("scheme", SCHEMES.values(), ids=SCHEMES)
def test_faults_and_repairs_agree_on_all_short_sentences(scheme: Scheme) -> None:
    first = np.cumsum([0, *map(len, SHORT)])
    tags = Tags.of([tag for sentence in SHORT for tag in sentence], first)
    classic = [span for low, sentence in zip(first.tolist(), SHORT, strict=False) for span in conlleval(sentence, low)]
    mended, kept = decode(tags, scheme, "conlleval"), decode(tags, scheme, "discard")
    assert named(tags, mended) == classic
    lost = sorted(set(mended.start.tolist()) - set(kept.start.tolist()))
    assert len(lost) == mended.mended == kept.mended == len(mended.start) - len(kept.start)
    faulty = [fault.token for fault in faults(tags, scheme)]
    assert set(np.searchsorted(first, faulty, "right")) == set(np.searchsorted(first, lost, "right"))


def test_no_two_schemes_fit_a_short_sentence_and_part() -> None:
    for length in (1, 2, 3):
        for sentence in product(["O", "B-P", "I-P", "E-P", "S-P", "I-L"], repeat=length):
            assert not detect(Tags.of(sentence)).rivals, sentence


def conlleval(tags: tuple[str, ...], low: int) -> list[str]:
    """Cut a sentence from token `low` on by the classic table, pair by pair; M reads as I, L as E, U and W as S."""
    ends = {"BB", "BO", "IB", "IO", "EE", "EI", "EO", "EB", "ES", "SB", "SI", "SE", "SO", "SS", "BS", "IS"}
    starts = {"BB", "IB", "OB", "OI", "EE", "EI", "OE", "EB", "SB", "SI", "SE", "OS", "SS", "ES", "BS", "IS"}
    plain = str.maketrans("MLUW", "IESS")
    rows = [("O", ""), *((tag[0].translate(plain), tag[2:]) for tag in tags), ("O", "")]
    chunks, begun = [], low
    for token, ((before, was), (after, now)) in enumerate(pairwise(rows), low):
        if before != "O" and (before + after in ends or was != now):
            chunks.append(f"{begun}-{token - 1} {was}")
        if after != "O" and (before + after in starts or was != now):
            begun = token
    return chunks


@st.composite
def segmentations(draw: st.DrawFn) -> tuple[int, list[Span]]:
    """Draw flat spans over a sentence, often touching, of few types."""
    spans: list[Span] = []
    at = 0
    for _ in range(draw(st.integers(0, 6))):
        start = at + draw(st.sampled_from([0, 0, 1, 2]))
        at = start + draw(st.integers(1, 3))
        spans.append((start, at, draw(st.sampled_from(["P", "L", "a-b"]))))
    return at + draw(st.integers(0, 2)), spans


@pytest.mark.parametrize("scheme", SCHEMES.values(), ids=SCHEMES)
@given(drawn=segmentations())
def test_decoding_undoes_encoding(scheme: Scheme, drawn: tuple[int, list[Span]]) -> None:
    length, spans = drawn
    if list(unsayable(spans, scheme)):
        assert scheme.name == "IO"
        with pytest.raises(FormatError, match="touches another span of its type"):
            encode(spans, length, scheme)
        return
    tags = Tags.of(encode(spans, length, scheme))
    assert not faults(tags, scheme)
    assert named(tags, decode(tags, scheme)) == [f"{start}-{end - 1} {kind}" for start, end, kind in spans]


@pytest.mark.parametrize("scheme", SCHEMES.values(), ids=SCHEMES)
@pytest.mark.parametrize("spans", [[(0, 3, "P"), (1, 2, "L")], [(0, 2, "P"), (1, 3, "P")], [(0, 1, "P"), (0, 1, "P")]])
def test_no_scheme_says_overlapping_spans(scheme: Scheme, spans: list[Span]) -> None:
    assert [number for number, _ in unsayable(spans, scheme)] == [1]
    with pytest.raises(FormatError, match="overlaps another span"):
        encode(spans, 3, scheme)


@pytest.mark.parametrize("tag", ["", "B", "B-", "b-P", "O-P", "X-P", "BI-P", "P", "_", "-P", "B_P"])
def test_what_is_no_tag(tag: str) -> None:
    assert Tags.of(["B-P", tag, "O"]).odd == (1,)


def test_no_tags_at_all() -> None:
    tags = Tags.of([])
    assert detect(tags).scheme is None
    assert named(tags, decode(tags, SCHEMES["IOB2"])) == []


@pytest.mark.parametrize(
    ("name", "scheme"), [("bioes", "IOBES"), ("BIO", "IOB2"), ("Iob1", "IOB1"), ("BILUO", "BILOU")]
)
def test_names_of_schemes(name: str, scheme: str) -> None:
    assert scheme_named(name).name == scheme


def test_an_unknown_scheme_is_refused_with_the_known_ones() -> None:
    with pytest.raises(FormatError, match=r"no tag scheme is called 'IOB'.*IOB2, IOBES"):
        scheme_named("IOB")
