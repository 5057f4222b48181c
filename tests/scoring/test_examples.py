"""Marked text is read, its mistakes are named, and each example of the Guide shows its decision."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nereval_core.conventions import LayerPair, apply_to_layers, find_convention
from nereval_core.problems import FormatError
from nereval_core.scoring.criteria import APPLICABLE, CRITERIA, SCHEMAS, Decision
from nereval_core.scoring.examples import (
    CRITERION_EXAMPLES,
    DECISION_EXAMPLES,
    FIVE_DECISIONS,
    PAIRING,
    READINGS,
    SHOWN_UNDER,
    SIX_CASES,
    Example,
    Span,
    decide,
    layers,
    parse_marked,
)
from nereval_core.tables.glossary import DECISIONS, GLOSSARY, decision_label, tooltip
from tests.support import oracle

READ = [
    ("plain", "plain", ()),
    ("no | bar", "no | bar", ()),
    ("Give [Aspirin|Drug] now", "Give Aspirin now", ((5, 12, "Drug"),)),
    ("[a [b|X] c|Y]", "a b c", ((0, 5, "Y"), (2, 3, "X"))),
    ("[[a|X]|Y]", "a", ((0, 1, "X"), (0, 1, "Y"))),
    ("[a|X][b|Y]", "ab", ((0, 1, "X"), (1, 2, "Y"))),
    ("[a|b|X]", "a|b", ((0, 3, "X"),)),
    ("[a| Trade name ]", "a", ((0, 1, "Trade name"),)),
    (r"\[a\|b\] \\ \n", r"[a|b] \ \n", ()),
    ("[two\nlines|X]", "two\nlines", ((0, 9, "X"),)),
    ("[👩‍👩‍👧|X]é", "👩‍👩‍👧é", ((0, 5, "X"),)),
    ("a\\", "a\\", ()),
]


@pytest.mark.parametrize(("marked", "text", "spans"), READ)
def test_marked_text_is_read(marked: str, text: str, spans: tuple[Span, ...]) -> None:
    assert parse_marked(marked, "gold") == (text, spans)


REFUSED = [
    ("[Aspirin", ["gold:1: column 1: a bracket is never closed"]),
    ("Aspirin]", ["gold:1: column 8: a bracket closes that was never opened"]),
    ("[Aspirin]", ["gold:1: column 9: a span without a type"]),
    ("[Aspirin|]", ["gold:1: column 9: a span without a type"]),
    ("[|Drug]", ["gold:1: column 1: a span without text"]),
    ("fine\nnot ] [ so", ["gold:2: column 5: a bracket closes", "gold:2: column 7: a bracket is never closed"]),
]


@pytest.mark.parametrize(("marked", "lines"), REFUSED)
def test_mistakes_are_named_with_line_and_remedy(marked: str, lines: list[str]) -> None:
    with pytest.raises(FormatError) as caught:
        parse_marked(marked, "gold")
    assert len(caught.value.lines()) == len(lines)
    for found, expected in zip(caught.value.lines(), lines, strict=True):
        assert found.startswith(expected)
        assert "; write" in found


@pytest.mark.parametrize(
    ("gold", "prediction", "line"),
    [
        ("[a|X]", "[b|X]", "prediction:1: the texts differ from 'a' in gold and 'b' here; mark the same text twice"),
        (
            "one\n[a|X]",
            "one\na b",
            "prediction:2: the texts differ from '' in gold and ' b' here; mark the same text twice",
        ),
        ("", "", "gold: there is no text; write some"),
    ],
)
def test_two_texts_must_be_one(gold: str, prediction: str, line: str) -> None:
    with pytest.raises(FormatError) as caught:
        decide(Example("", gold, prediction))
    assert caught.value.lines() == [line]


def test_mistakes_of_both_texts_are_shown_at_once() -> None:
    with pytest.raises(FormatError) as caught:
        decide(Example("", "[a", "b]"))
    assert [problem.source for problem in caught.value.problems] == ["gold", "prediction"]


def write_marked(text: str, spans: Sequence[Span]) -> str:
    """Write spans back into their text; spans that `parse_marked` read are nested or disjoint, never crossing."""
    parts: list[str] = []
    opened: list[Span] = []
    waiting = sorted(spans, key=lambda span: (span[0], -span[1], span[2]))[::-1]
    for place in range(len(text) + 1):
        while opened and opened[-1][1] == place:
            parts.append(f"|{opened.pop()[2]}]")
        while waiting and waiting[-1][0] == place:
            span = waiting.pop()
            assert not opened or span[1] <= opened[-1][1], f"{opened[-1]} and {span} cross"
            opened.append(span)
            parts.append("[")
        if place < len(text):
            parts.append("\\" + text[place] if text[place] in "[]|\\" else text[place])
    return "".join(parts)


@given(st.text(st.sampled_from("[]|\\ab \n👩é"), max_size=20))
def test_parsing_ends_and_what_it_reads_can_be_written(marked: str) -> None:
    try:
        text, spans = parse_marked(marked, "gold")
    except FormatError as error:
        assert error.problems
    else:
        assert parse_marked(write_marked(text, spans), "gold") == (text, spans)


def test_the_six_cases_give_the_table_of_the_task() -> None:
    scores = decide(SIX_CASES)
    expected = {
        "strict": ((1, 3, 0, 1, 1), 0.2),
        "exact": ((2, 2, 0, 1, 1), 0.4),
        "partial": ((2, 0, 2, 1, 1), 0.6),
        "type": ((2, 2, 0, 1, 1), 0.4),
    }
    assert tuple(expected) == SCHEMAS
    for name, (row, ratio) in expected.items():
        counts = scores.counts(name)
        assert (counts.cor, counts.inc, counts.par, counts.mis, counts.spu) == row
        assert (counts.pos, counts.act) == (5, 5)
        assert [counts.precision, counts.recall, counts.f1] == pytest.approx([ratio] * 3)


def test_one_criterion_gives_all_five_decisions_as_muc_defines_them() -> None:
    """POS 20 and ACT 22; P = 11.5 / 22 and R = 11.5 / 20."""
    scores = decide(FIVE_DECISIONS)
    rows = {criterion.name: scores.counts(criterion.name) for criterion in scores.criteria if criterion.unit == "span"}
    muc = rows["muc"]
    assert (muc.cor, muc.inc, muc.par, muc.mis, muc.spu, muc.pos, muc.act) == (10, 5, 3, 2, 4, 20, 22)
    assert (f"{muc.precision:.4f}", f"{muc.recall:.4f}", f"{muc.f1:.4f}") == ("0.5227", "0.5750", "0.5476")
    assert [name for name, row in rows.items() if row.inc and row.par] == ["muc"]
    # Sentence by sentence, for the oracle tries all alignments.
    sentences = zip(FIVE_DECISIONS.gold.split(". "), FIVE_DECISIONS.prediction.split(". "), strict=True)
    marked = [[parse_marked(text, "text")[1] for text in sides] for sides in sentences]
    sides = [[[oracle.Span(((low, high),), kind) for low, high, kind in side] for side in both] for both in marked]
    for name, row in rows.items():
        decided = [oracle.decide(gold, pred, name) for gold, pred in sides]
        of_gold, of_pred = (Counter(code for both in decided for code in both[side]) for side in (0, 1))
        assert row.gold == tuple(of_gold[decision.name] for decision in Decision)
        assert row.pred == tuple(of_pred[decision.name] for decision in Decision)


@pytest.mark.parametrize("code", DECISIONS)
def test_aspirin_shows_the_decision(code: str) -> None:
    scores = decide(DECISION_EXAMPLES[code])
    gold, prediction = scores.decisions(SHOWN_UNDER[code])
    assert Decision[code] in {*gold.tolist(), *prediction.tolist()}


EXPECTED = {
    "strict": ["COR", "INC"],
    "exact": ["INC", "COR"],
    "partial": ["PAR", "COR"],
    "type": ["COR", "INC"],
    "muc": ["PAR", "INC", "COR"],
    "left": ["COR", "INC"],
    "right": ["INC", "COR"],
    "either": ["COR", "INC"],
    "approximate": ["COR", "INC"],
    "lenient": ["COR", "MIS"],
    "core": ["COR", "INC"],
    "alternatives": ["COR", "INC"],
    "fragment": ["MIS", "COR", "COR"],
}


@pytest.mark.parametrize("name", CRITERIA)
def test_every_criterion_has_an_example_that_shows_it(name: str) -> None:
    gold, _ = decide(CRITERION_EXAMPLES[name]).decisions(name)
    assert [Decision(value).name for value in gold.tolist()] == EXPECTED[name]


def test_glossary_names_sentences_and_formulas() -> None:
    assert decision_label("MIS") == "missed (MIS)"
    assert all(term.sentence.endswith(".") for term in GLOSSARY.values())
    assert len({term.anchor for term in GLOSSARY.values()}) == len(GLOSSARY)
    assert tooltip("POS") == (
        "possible (POS): All gold spans, which could have been found. POS = COR + INC + PAR + MIS."
    )
    assert tooltip("F1").endswith("F1 = 2 × (COR + 0.5 × PAR) / (POS + ACT).")


def test_cores_and_alternatives_are_marked_inside_their_span() -> None:
    marked = "[human [[p53|=core] gene|=alternative]|Gene], [a [[b|=core] c|X]|Y]"
    scores = decide(Example("", marked, "human [p53 gene|Gene], a b c"))
    gold = scores.gold
    assert [gold.text(i) for i in range(len(gold))] == ["human p53 gene", "a b c", "b c"]
    assert dict(gold.cores) == {0: (6, 9), 2: (18, 19)} and dict(gold.alternatives) == {0: ((6, 14),)}
    assert (scores.counts("core").cor, scores.counts("alternatives").cor, scores.counts("strict").cor) == (1, 1, 0)
    plain = decide(DECISION_EXAMPLES["COR"])
    assert tuple(criterion.name for criterion in plain.criteria) == APPLICABLE


@pytest.mark.parametrize(
    ("marked", "said"),
    [
        ("a\n[b|=core]", "gold:2: 'b' is a =core of no span"),
        ("[[a|=core] [b|=core]|X]", "gold:1: 'b' is a second =core of one span"),
        ("[a|=alternative] [b|X]", "gold:1: 'a' is a =alternative of no span"),
    ],
)
def test_cores_and_alternatives_without_a_span_are_refused(marked: str, said: str) -> None:
    text, _ = parse_marked(marked, "gold")
    with pytest.raises(FormatError) as caught:
        decide(Example("", marked, text))
    assert said in str(caught.value)


@pytest.mark.parametrize("name", [name for name, (_, _, code) in READINGS.items() if code and name != "ours"])
def test_readings_of_semeval_2013_decide_the_example_as_the_guide_says(name: str) -> None:
    outcome = apply_to_layers(find_convention(name), LayerPair(*layers(PAIRING)))
    evaluation = next(each for each in outcome.evaluations if each in ("type", "ent_type"))
    records = outcome.records(evaluation)
    decisions = records.loc[(records["pred"] == 0) & (records["scope"] == "overall"), "decision"]
    assert decisions.tolist() == [READINGS[name][2]]


def test_ours_decides_the_example_of_readings_as_the_guide_says() -> None:
    assert [Decision(code).name for code in decide(PAIRING).decisions("type")[1]] == [READINGS["ours"][2]]
