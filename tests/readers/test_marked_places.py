"""Answers that repeat the text with marks in it: a name that stands several times is read where it is marked."""

from __future__ import annotations

import pytest

import nereval_core as nereval
from nereval_core.problems import FormatError
from nereval_core.readers.mentions.marked_places import places_of_marks

TEXT = "Anna Lee met Anna Lee in Rome. Bob of ACME saw Anna Lee & Co."
SECOND, THIRD = (13, 21, "PER"), (47, 55, "PER")
ROME = (25, 29, "LOC")


def spans(answer: object) -> list[tuple[int, int, str]]:
    gold = nereval.read_objects([[(0, 8, "PER"), ROME]], texts=[TEXT])
    layer = nereval.read_objects([answer if isinstance(answer, dict) else {"answer": answer}], texts=gold).layer
    names = [layer.types[code] for code in layer.type.tolist()]
    return sorted(zip(layer.start.tolist(), layer.end.tolist(), names, strict=True))


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("Anna Lee met <PER>Anna Lee</PER> in Rome. Bob of ACME saw Anna Lee & Co.", [SECOND]),
        ("Anna Lee met Anna Lee in Rome. Bob of ACME saw <PER>Anna Lee</PER> &amp; Co.", [THIRD]),
        ('Anna Lee met Anna Lee in <e type="LOC">Rome</e>. Bob of ACME saw <e type="PER">Anna Lee</e>', [ROME, THIRD]),
        ("Here it is:\n\nAnna Lee  met <PER>Anna Lee</PER> in Roma; Bob from ACME saw Anna Lee!", [SECOND]),
        ("anna lee met <PER>anna lee</PER> in rome.", [SECOND]),
        ("Anna Lee met Anna Lee in [Rome](LOC). Bob of ACME saw [Anna Lee](PER) & Co.", [ROME, THIRD]),
        ("Anna Lee met Anna Lee in [LOC Rome]. Bob of ACME saw [PER Anna Lee] & Co.", [ROME, THIRD]),
        ("Anna Lee met Anna Lee in Rome! Bill from ACME says <PER>Anna Lee</PER> et Co.", [THIRD]),
        # Without words around them, mentions are placed in their order.
        ("<PER>Anna Lee</PER>\n<LOC>Rome</LOC>", [(0, 8, "PER"), ROME]),
        ("<LOC>Rome</LOC>\n<PER>Anna Lee</PER>", [(0, 8, "PER"), ROME]),
    ],
)
def test_marks_in_the_text(answer: str, expected: list[tuple[int, int, str]]) -> None:
    assert spans(answer) == expected


def test_marks_without_a_type() -> None:
    answer = {"type": "PER", "answer": "Anna Lee met @@Anna Lee## in Rome."}
    assert spans(answer) == [SECOND]


def test_long_texts_are_aligned_from_their_beginning_alone() -> None:
    text = "so Ann " * 4_000
    answer = "so Ann so Ann of " + "Ann so " * 4_000
    assert places_of_marks(answer, [(10, 13), (17, 20)], text) == [(10, 13), None]


@pytest.mark.parametrize(
    ("head", "row"),
    [("Start | End", "47 | 55"), ("Offsets", "47-55"), ("Start Index | End Index", "47 | 54"), ("#", "1")],
)
def test_places_in_tables(head: str, row: str) -> None:
    answer = f"| Entity | Type | {head} |\n|---|---|{'---|' * (head.count('|') + 1)}\n| Anna Lee | PER | {row} |"
    assert spans(answer) == [(0, 8, "PER") if head == "#" else THIRD]


def test_wrong_places_in_tables_are_refused() -> None:
    answer = "| Entity | Type | Start | End |\n|---|---|---|---|\n| Anna Lee | PER | 46 | 51 |"
    with pytest.raises(FormatError, match=r"the numbers under 'start', 'end'.*leave them out"):
        spans(answer)


def test_a_range_in_words() -> None:
    assert spans('[{"text": "Anna Lee", "type": "PER", "span": "47-55"}]') == [THIRD]
    assert spans('[{"text": "Anna Lee", "type": "PER", "time": "10:30"}]') == [(0, 8, "PER")]


@pytest.mark.parametrize(
    "answer",
    [
        '{"PER": "Bob, Anna Lee", "LOC": "Rome"}',
        "| Type | Entities |\n|---|---|\n| PER | Bob; Anna Lee |\n| LOC | Rome |",
        "| Entity | Type |\n|---|---|\n| Bob, Anna Lee | PER |\n| Rome | LOC |",
    ],
)
def test_several_mentions_in_one_string(answer: str) -> None:
    assert spans(answer) == [(0, 8, "PER"), ROME, (31, 34, "PER")]


def test_a_mention_with_a_comma_is_one_where_the_text_has_it_or_lacks_a_part() -> None:
    gold = nereval.read_objects([[(0, 9, "PER")]], texts=["Lee, Anna and Bob"])
    for words, start, end in (("Lee, Anna", 0, 9), ("lee,  anna", 0, 9), ("Bob, Eve", 17, 17)):
        layer = nereval.read_objects([{"PER": [words]}], texts=gold).layer
        assert (layer.start.tolist(), layer.end.tolist()) == ([start], [end])


@pytest.mark.parametrize(
    "answer",
    [
        "Anna Lee met Anna Lee (PER) in Rome (LOC).",
        "PER: Bob, Eve. LOC: Rome.",
    ],
)
def test_running_text_with_types_behind_its_names_is_refused(answer: str) -> None:
    with pytest.raises(FormatError, match="neither JSON nor tags"):
        spans(answer)
