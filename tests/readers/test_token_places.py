"""Mentions that state tokens: read where one way to count gives their words, refused where a repeated name needs it."""

from __future__ import annotations

from typing import Any

import pytest

import nereval_core as nereval
from nereval_core.problems import FormatError

TEXT = "Anna Lee met Anna Lee, in Rome. Bob saw Anna Lee."
TOKENS = ["Anna", "Lee", "met", "Anna", "Lee", ",", "in", "Rome", ".", "Bob", "saw", "Anna", "Lee", "."]
SECOND, BOB, THIRD = (13, 21), (32, 35), (40, 48)


def spans(mentions: list[dict[str, Any]], **line: Any) -> list[tuple[int, int]]:
    gold = nereval.read_objects([[(0, 8, "PER"), (26, 30, "LOC")]], texts=[TEXT])
    layer = nereval.read_objects([{"entities": mentions, **line}], texts=gold).layer
    return sorted(zip(layer.start.tolist(), layer.end.tolist(), strict=True))


def mention(text: str, start: int, end: int, *keys: str) -> dict[str, Any]:
    first, last = keys or ("token_start", "token_end")
    return {"text": text, "type": "PER", first: start, last: end}


@pytest.mark.parametrize(
    ("mentions", "expected"),
    [
        # Words and punctuation, then what blanks divide; the end behind or inside, the first 0 or 1.
        ([mention("Anna Lee", 11, 13)], [THIRD]),
        ([mention("Anna Lee", 11, 12)], [THIRD]),
        ([mention("Anna Lee", 12, 13, "start_token", "end_token"), mention("Bob", 10, 10)], [BOB, THIRD]),
        ([mention("Anna Lee", 3, 5), mention("Bob", 7, 8), mention("anna lee", 9, 11)], [SECOND, BOB, THIRD]),
        ([{"text": "Anna Lee", "type": "PER", "token_span": [3, 5]}], [SECOND]),
        # Nothing is wrong where the words stand once.
        ([mention("Bob", 70, 71)], [BOB]),
    ],
)
def test_tokens_of_the_text(mentions: list[dict[str, Any]], expected: list[tuple[int, int]]) -> None:
    assert spans(mentions) == expected


def test_tokens_of_the_line() -> None:
    tokens = [*TOKENS[:2], "met", "Anna Lee", *TOKENS[5:]]
    assert spans([mention("Anna Lee", 10, 12), mention("Bob", 8, 9)], tokens=tokens) == [BOB, THIRD]


def test_tokens_of_gold() -> None:
    gold = nereval.read_objects([["B-PER", "O", "O", "B-PER", "O"]], texts=[["A-1", "and", "x", "A-1", "left"]])
    answer = {"entities": [mention("A-1", 3, 4)]}
    reading = nereval.read_objects([answer], texts=gold)
    assert reading.layer.start.tolist() == [10]
    assert "numbers of tokens are read: gold's tokens, end exclusive" in reading.notes


@pytest.mark.parametrize(
    ("mentions", "said"),
    [
        ([mention("Anna Lee", 5, 9)], "give the words of all mentions in no way to count tokens"),
        ([mention("Anna Lee", 3, 5), mention("Bob", 70, 71)], "give the words of all mentions in no way"),
    ],
)
def test_tokens_that_do_not_fit_are_refused(mentions: list[dict[str, Any]], said: str) -> None:
    with pytest.raises(FormatError, match=said) as caught:
        spans(mentions)
    assert "or leave the numbers out, and mentions are placed by their words" in str(caught.value)
    for each in mentions:
        del each["token_start"], each["token_end"]
    assert spans(mentions)[0] == (0, 8)


def test_two_ways_to_count_with_different_places_are_refused() -> None:
    gold = nereval.read_objects([[(0, 1, "PER")]], texts=["a a a"])
    with pytest.raises(FormatError, match="fit several ways to count: what blanks divide, end exclusive or"):
        nereval.read_objects([{"entities": [mention("a", 1, 2)]}], texts=gold)
