"""conlleval: the program's printouts, its quirks, and an independent reading of malformed tags."""

from __future__ import annotations

from itertools import pairwise, product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nereval_core.conventions import Outcome, ScorerInput, find_convention, option_values
from nereval_core.problems import FormatError
from nereval_core.readers import Source
from tests.support.conlleval_corpora import BARE, COMMAND, KINDS, KNOWN, RUNS, SEEDS, draw
from tests.support.draws import draws
from tests.support.reconciliation import by_layers_and_files, overall_rows, reconcile
from tests.support.reference_fixtures import read_fixture

CONLLEVAL = find_convention("conlleval")


def source(text: str, name: str = "x.conll") -> Source:
    return Source.of_uploads([(name, text.encode())])


def both(text: str, **options: Any) -> Outcome:
    """Score the last two columns of one file, as the program does."""
    file = source(text)
    return CONLLEVAL.score(ScorerInput(gold=file, pred=file, gold_column=-2), option_values(CONLLEVAL, options))


def rows(gold: str, pred: str) -> str:
    """Return lines of both sides' tags, given split by blanks and sentences by `/`."""
    pairs = zip(gold.split(), pred.split(), strict=True)
    return "".join("\n" if one == "/" else f"w {one} {two}\n" for one, two in pairs)


def counts(gold: str, pred: str) -> tuple[int, int, int]:
    overall = both(rows(gold, pred)).scores["phrases"]["overall"]
    return overall["phrases"], overall["found"], overall["correct"]


def test_drawn_tags_meet_every_transition() -> None:
    fixture = read_fixture("conlleval")
    assert fixture["command"] == COMMAND
    words, kinds, bare = set(), set(), set()
    for seed, printed in zip(SEEDS, fixture["printed"], strict=True):
        text = draw(seed)
        for command, options in RUNS.items():
            outcome = both(text, **options)
            assert CONLLEVAL.forms["text"](outcome) == printed[command], (seed, command)
        reconcile(both(text))
        if seed == 0:
            known = ["", "O", *(f"{letter}-{kind}" for letter in KNOWN for kind in KINDS[:2])]
            tags_of_gold = [line.split(" ")[1] if line else "" for line in text.split("\n")]
            assert {*pairwise(tags_of_gold)} >= {*product(known, repeat=2)}
        rows = [line.split() or ["", "O", "O"] for line in text.split("\n")]
        words |= {row[0] for row in rows}
        for side in (1, 2):
            tags = [row[side].partition("-") for row in rows]
            kinds |= {kind for _, dash, kind in tags if dash}
            bare |= {letter for letter, dash, _ in tags if not dash}
    assert kinds == set(KINDS) and bare >= {"O", *BARE} and words == {"", "w", "-X-", "-DOCSTART-"}
    assert any("found: 0 phrases" in printed[""] for printed in fixture["printed"])


# conlleval.pl of 2004-01-26 (kyzhouhzau/BERT-NER): perl conlleval.pl [-l] [-r -o x] < FILE under Perl 5.36.
FILE = """-DOCSTART- O O

The O O
EU I-ORG B-ORG
Commission B-ORG I-ORG
met O O

Ann S-PER S-PER
Lee S-PER S-PER
of I-LOC I-ORG
Bo I-0 I-LOC
-X- O O
x B B
y I O
"""
RAW = """EU ORG ORG
met x O
Ann PER LOC
"""
TEXT = """processed 11 tokens with 6 phrases; found: 5 phrases; correct: 1.
accuracy:  54.55%; precision:  20.00%; recall:  16.67%; FB1:  18.18
                 : precision:   0.00%; recall:   0.00%; FB1:   0.00  1
                 : precision:   0.00%; recall:   0.00%; FB1:   0.00  1
              LOC: precision:   0.00%; recall:   0.00%; FB1:   0.00  1
              ORG: precision:   0.00%; recall:   0.00%; FB1:   0.00  2
              PER: precision: 100.00%; recall: 100.00%; FB1: 100.00  1
"""
LATEX = r"""        & Precision &  Recall  & F$_{\beta=1} \\\hline
        &    0.00\% &   0.00\% &   0.00 \\
        &    0.00\% &   0.00\% &   0.00 \\
LOC     &    0.00\% &   0.00\% &   0.00 \\
ORG     &    0.00\% &   0.00\% &   0.00 \\
PER     &  100.00\% & 100.00\% & 100.00 \\\hline
Overall &   20.00\% &  16.67\% &  18.18 \\\hline
"""
TEXT_OF_RAW = """processed 3 tokens with 2 phrases; found: 2 phrases; correct: 1.
accuracy:  66.67%; precision:  50.00%; recall:  50.00%; FB1:  50.00
              LOC: precision:   0.00%; recall:   0.00%; FB1:   0.00  1
              ORG: precision: 100.00%; recall: 100.00%; FB1: 100.00  1
              PER: precision:   0.00%; recall:   0.00%; FB1:   0.00  0
"""


@pytest.mark.parametrize(
    ("file", "options", "printed"),
    [(FILE, {}, TEXT), (FILE, {"l": True}, LATEX), (RAW, {"r": True, "o": "x"}, TEXT_OF_RAW)],
)
def test_the_text_is_the_reference_printout(file: str, options: dict[str, Any], printed: str) -> None:
    outcome = both(file, **options)
    assert CONLLEVAL.forms["text"](outcome) == printed
    reconcile(outcome)


# Gold, prediction, and how many phrases are in gold, found and correct.
CASES = [
    ("an I alone begins a phrase", "I-A I-A O", "B-A I-A O", (1, 1, 1)),
    ("an I of another type begins one", "B-A I-B I-B", "B-A B-B I-B", (2, 2, 2)),
    ("a sentence ends a phrase", "B-A / I-A", "B-A / I-A", (2, 2, 2)),
    ("S is a letter like any other", "S-A S-A O", "B-A I-A O", (1, 1, 1)),
    ("so are L and U", "B-A L-A U-A", "B-A I-A I-A", (1, 1, 1)),
    ("E ends before E and I", "I-A E-A E-A I-A", "B-A I-A B-A B-A", (3, 3, 3)),
    ("E goes on with B", "E-A B-A O", "B-A I-A O", (1, 1, 1)),
    ("brackets are phrases of one token", "[-A ]-A O", "B-A B-A O", (2, 2, 2)),
    ("a bracket inside takes the phrase over", "B-A [-A O", "B-A [-A O", (2, 2, 1)),
    ("B without a type", "B I O B", "B I O B", (2, 2, 2)),
    ("an unknown tag without a type begins nothing", "X X O", "B-A O O", (0, 1, 0)),
    ("a type may hold dashes", "B-A-B I-A-B", "B-A-B I-A", (1, 2, 0)),
]


# Tags of gold and prediction at the end of a file, and the correct phrases without and with a final blank line, by the
# same program.
ENDS = [
    ("B I", "E S", (1, 0)),
    ("B S", "E S", (1, 1)),
    ("B-A .-A", "B-A .-A", (1, 1)),
    ("B-A .-A", "B-A I-A", (1, 0)),
    ("B-A S-A", "B-A I-A", (1, 1)),
    ("B I", "B S", (1, 0)),
    ("B", "B", (1, 1)),
    ("B S / B I", "B I / B I", (1, 1)),
    ("B S / .", "B S / .", (1, 1)),
]


@pytest.mark.parametrize(("gold", "pred", "wanted"), ENDS)
def test_the_end_of_a_file_and_a_blank_line_there(gold: str, pred: str, wanted: tuple[int, int]) -> None:
    texts = rows(gold, pred), rows(gold, pred) + "\n"
    outcomes = [both(text) for text in texts]
    assert tuple(outcome.scores["phrases"]["overall"]["correct"] for outcome in outcomes) == wanted
    for outcome in outcomes:
        reconcile(outcome)


@pytest.mark.parametrize(("gold", "pred", "wanted"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_what_a_phrase_is(gold: str, pred: str, wanted: tuple[int, int, int]) -> None:
    assert counts(gold, pred) == wanted


def phrases(tags: list[str]) -> set[tuple[int, int, str]]:
    """Return first token, last token and type of each run of tags with a type, cut where the definition cuts.

    A run is cut where the type changes, before a B after B or I, and before E or I after E.
    """
    found: list[tuple[int, int, str]] = []
    before = ("O", "")
    for number, tag in enumerate(tags):
        letter, _, kind = tag.partition("-")
        cut = (before[0] in "BI" and letter == "B") or (before[0] == "E" and letter in "EI")
        if kind and found and before[1] == kind and not cut:
            found[-1] = (found[-1][0], number, kind)
        elif kind:
            found.append((number, number, kind))
        before = (letter, kind)
    return set(found)


TAGS = ["O", *(f"{letter}-{kind}" for letter in "BIESLU" for kind in ("A", "B"))]


@draws(13)
@given(st.lists(st.lists(st.tuples(*[st.sampled_from(TAGS)] * 2), min_size=1, max_size=10), min_size=1, max_size=4))
def test_an_independent_reading_agrees(sentences: list[list[tuple[str, str]]]) -> None:
    gold, pred = (" / ".join(" ".join(pair[side] for pair in one) for one in sentences) for side in (0, 1))
    sides: list[set[Any]] = [set(), set()]
    for number, one in enumerate(sentences):
        for side, found in enumerate(sides):
            found |= {(number, *phrase) for phrase in phrases([pair[side] for pair in one])}
    outcome = both(rows(gold, pred))
    for kind, row in outcome.scores["phrases"].items():
        ours, theirs = ({each for each in side if kind in ("overall", each[-1])} for side in sides)
        assert (row["phrases"], row["found"], row["correct"]) == (len(ours), len(theirs), len(ours & theirs))
    right = sum(one == two for sentence in sentences for one, two in sentence)
    assert outcome.scores["tokens"]["correct tags"] == right
    assert len(outcome.records("phrase")) == 2 * len(sides[0] | sides[1])


def test_records() -> None:
    outcome = both(rows("B-A I-A O / B-B", "B-A O O / B-B"))
    assert overall_rows(outcome.records("phrase"), "decision", "gold_text", "pred_text") == [
        ("COR", "w", "w"),
        ("MIS", "w w", None),
        ("SPU", None, "w"),
    ]
    reconcile(outcome)


def test_marks_of_documents_are_tokens_to_the_program() -> None:
    # conlleval.pl: processed 4 tokens with 2 phrases; found: 2 phrases; correct: 1. accuracy: 50.00%
    outcome = both("-DOCSTART- -X- O O\n\nEU X B-A B-A\n\n-DOCSTART- -X- O B-A\n\nAnn X B-A O\n")
    assert outcome.scores["tokens"] == {"tokens": 4, "correct tags": 2, "accuracy": 50.0}
    overall = outcome.scores["phrases"]["overall"]
    assert [overall[name] for name in ("phrases", "found", "correct", "precision")] == [2, 2, 1, 50.0]
    reconcile(outcome)


@pytest.mark.parametrize("raw", [False, True])
def test_layers_score_as_their_files(raw: bool) -> None:
    gold, pred = "w\tB-A\nw\tO\n\nw\tB-B\n", "w\tB-A\nw\tO\n\nw\tB-A\n"
    given = ScorerInput(gold=source(gold), pred=source(pred), gold_format="conll", pred_format="conll")
    layers, read = by_layers_and_files("conlleval", given, {"r": raw}, {})
    assert layers.scores["phrases"] == read.scores["phrases"]
    assert layers.records("phrase").equals(read.records("phrase"))


def test_another_number_of_tokens_is_refused() -> None:
    given = ScorerInput(gold=source("a O\nb O\n", "gold.conll"), pred=source("a O\nc O\nb O\n", "pred.conll"))
    said = (
        r"pred.conll:2: 3 tokens where gold \(gold.conll\) has 2: they part at 'c' against gold's 'b' \(gold.conll:2\)"
    )
    with pytest.raises(FormatError, match=said):
        CONLLEVAL.score(given, option_values(CONLLEVAL, {}))
