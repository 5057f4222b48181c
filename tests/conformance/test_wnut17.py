"""wnuteval.py: the reference's numbers and printouts, illegal transitions, and records of entities and forms."""

from __future__ import annotations

import json
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nereval_core.conventions import Outcome, ScorerInput, find_convention, option_values
from nereval_core.problems import FormatError
from nereval_core.readers import Source
from tests.support.draws import draws
from tests.support.reconciliation import by_layers_and_files, overall_rows, reconcile
from tests.support.reference_fixtures import read_fixture
from tests.support.shared_corpora import SHARED, files, needs
from tests.support.wnut17_corpora import COMMAND, SEEDS, draw, write_corpus

WNUT = find_convention("wnut17")


def scored(gold: Source, pred: Source) -> Outcome:
    return WNUT.score(ScorerInput(gold=gold, pred=pred), option_values(WNUT, {}))


def source(tags: str, words: str | None = None, name: str = "x.conll") -> Source:
    """Return lines of tokens for tags split by blanks, sentences by `/`."""
    texts = iter((words or " ".join(f"w{i}" for i in range(99))).split())
    sentences = ("".join(f"{next(texts)}\t{tag}\n" for tag in one.split()) for one in tags.split("/"))
    return Source.of_uploads([(name, "\n".join(sentences).encode())])


def test_drawn_tags_meet_every_rule(tmp_path: Path) -> None:
    fixture = read_fixture("wnut17")
    assert fixture["command"] == COMMAND
    met: set[str] = set()
    for seed, theirs in zip(SEEDS, fixture["results"], strict=True):
        outcome = scored(*map(Source.of_path, write_corpus(tmp_path, seed)))
        assert WNUT.forms["text"](outcome) == theirs["printed"], seed
        assert outcome.scores["illegal_transitions"] == theirs["illegal_transitions"], seed
        reconcile(outcome)
        met |= {*outcome.records("entity")["why"], *outcome.records("surface")["why"], *peculiarities(seed, outcome)}
    assert met == {*WHY.values(), *PECULIARITIES}


PECULIARITIES = {
    "an I of another type", "an I after O", "an I at the start of a sentence", "an O with a type",
    "nothing in gold", "nothing in the prediction", "a type of predictions alone",
}  # fmt: skip


def peculiarities(seed: int, outcome: Outcome) -> set[str]:
    """Return which of the things that wnuteval.py takes in a way of its own are in the tags of a seed."""
    met = set()
    sides = [[[tags[side] for tags in sentence] for sentence in draw(seed)[1]] for side in (0, 1)]
    for tags in (tags for side in sides for tags in side):
        met |= {"an I at the start of a sentence"} if tags[0].startswith("I-") else set()
        met |= {"an O with a type"} if tags[0].startswith("O-") else set()
        for one, two in pairwise(tags):
            if two.startswith("I-") and one[2:] != two[2:]:
                met.add("an I after O" if one == "O" else "an I of another type")
    kinds = [{tag[2:] for tags in side for tag in tags} - {""} for side in sides]
    met |= {f"nothing in {name}" for name, side in zip(("gold", "the prediction"), kinds, strict=True) if not side}
    if kinds[1] - kinds[0]:
        assert outcome.scores["entity"].keys() == {"ALL", *kinds[0]}
        met.add("a type of predictions alone")
    return met


@needs("wnut17")
@pytest.mark.parametrize("path", files("expected/wnut17/*.json"), ids=lambda path: path.stem)
def test_the_reference_says_the_same(path: Any) -> None:
    wanted = json.loads(path.read_text())
    folder = SHARED / "wnut17"
    outcome = scored(Source.of_path(folder / wanted["gold"]), Source.of_path(folder / wanted["submission"]))
    for evaluation, sections in wanted["results"].items():
        assert outcome.scores[evaluation].keys() == sections.keys()
        for scope, row in sections.items():
            assert outcome.scores[evaluation][scope] == pytest.approx(row, abs=1e-9)
    assert outcome.scores["tokens"] == pytest.approx(wanted["token_accuracy"], abs=1e-9)
    assert outcome.scores["illegal_transitions"] == wanted["illegal_transitions"]
    assert [line for line in WNUT.forms["text"](outcome).split("\n") if line] == wanted["printed"]
    reconcile(outcome)


# wnuteval.py (tavo91/NER-WNUT17, predictions/wnuteval.py): python3 wnuteval.py FILE, with functools.reduce
# given as the builtin that it was in Python 2.
PRINTED = "\n".join(
    [
        "### ENTITY F1-SCORES ###",
        "processed 5 tokens with 2 phrases; ",
        "found: 3 phrases; correct: 1.",
        "",
        "accuracy:  40.00%; ",
        "precision:  33.33%; ",
        "recall:  50.00%; ",
        "FB1:  40.00",
        "",
        "           person: ",
        "precision:  33.33%; ",
        "recall:  50.00%; ",
        "FB1:  40.00  1",
        "",
        "",
        "### SURFACE FORM F1-SCORES ###",
        "processed 5 tokens with 2 phrases; ",
        "found: 2 phrases; correct: 1.",
        "",
        "accuracy:  40.00%; ",
        "precision:  50.00%; ",
        "recall:  50.00%; ",
        "FB1:  50.00",
        "",
        "           person: ",
        "precision:  50.00%; ",
        "recall:  50.00%; ",
        "FB1:  50.00  1",
        "",
        "",
    ]
)
WORDS = "Ann met Bo Ann there"


def test_the_text_is_the_reference_printout() -> None:
    outcome = scored(source("B-person O B-person / O O", WORDS), source("B-person O O / B-person B-person", WORDS))
    assert WNUT.forms["text"](outcome) == PRINTED


# Gold, prediction, evaluation, and (decision, text on both sides, why) of its overall records.
WHY = {
    "right": "the same place and type on the other side",
    "wrong": "no entity of the same place and type on the other side",
    "form": "an entity of these words and type is right",
    "elsewhere": "the other side has these words and type, but never in the same place",
    "nowhere": "the other side has these words and type nowhere",
}
RECORDS = [
    ("B-person O B-person / O O", "B-person O O / B-person O", "entity",
     [("COR", "Ann", "Ann", "right"), ("MIS", "Bo", None, "wrong"), ("SPU", None, "Ann", "wrong")]),
    ("B-person O B-person / O O", "B-person O O / B-person O", "surface",
     [("COR", "Ann", "Ann", "form"), ("MIS", "Bo", None, "nowhere")]),
    ("B-person O O / O O", "O O O / B-person O", "surface",
     [("MIS", "Ann", None, "elsewhere"), ("SPU", None, "Ann", "elsewhere")]),
    ("B-person I-person O / O O", "B-person I-group O / O O", "entity",
     [("MIS", "Ann met", None, "wrong"), ("SPU", None, "Ann", "wrong"), ("SPU", None, "met", "wrong")]),
]  # fmt: skip


@pytest.mark.parametrize(("gold", "pred", "evaluation", "wanted"), RECORDS)
def test_records(gold: str, pred: str, evaluation: str, wanted: list[tuple[str, str | None, str | None, str]]) -> None:
    records = scored(source(gold, WORDS), source(pred, WORDS)).records(evaluation)
    found = overall_rows(records, "decision", "gold_text", "pred_text", "why")
    assert found == [(*row[:3], WHY[row[3]]) for row in wanted]
    assert set(records["unit"]) == {"span" if evaluation == "entity" else "surface form"}


# An I inside a sentence that goes on with nothing is illegal; at the start of one it is not.
@pytest.mark.parametrize(
    ("tags", "illegal"),
    [
        ("I-person I-person O", 0),
        ("O I-person O", 1),
        ("B-person I-group I-group", 1),
        ("B-person / I-person", 0),
        ("I-person I-group I-person", 2),
    ],
)
def test_illegal_transitions(tags: str, illegal: int) -> None:
    outcome = scored(source(tags), source(tags.replace("I", "B")))
    assert outcome.scores["illegal_transitions"] == illegal
    reconcile(outcome)


REFUSED = [
    ("B-person O", "B-person X", "x.conll:2: 'X' is not a tag of WNUT 2017, at which wnuteval.py stops"),
    ("B-person O", "B-city O", "x.conll:1: 'B-city' is not a tag of WNUT 2017"),
    ("B-person O", "O O-person", "x.conll:2: 'O-person' is not a tag of WNUT 2017"),
    ("B-person O", "O", "x.conll:1: 1 token where gold (x.conll) has 2"),
]


@pytest.mark.parametrize(("gold", "pred", "said"), REFUSED)
def test_where_the_program_stops(gold: str, pred: str, said: str) -> None:
    with pytest.raises(FormatError) as error:
        scored(source(gold), source(pred))
    assert error.value.lines()[0].startswith(said)


def entities(tags: list[str], words: list[str]) -> list[tuple[int, tuple[str, ...], str]]:
    """Return (first token, words, type) of tagged chunks, cut at B and where the type changes."""
    found: list[tuple[int, tuple[str, ...], str]] = []
    cut = 0
    keys = []
    for number, tag in enumerate(tags):
        kind = tag.partition("-")[2]
        if tag[0] == "B" or not number or tags[number - 1].partition("-")[2] != kind:
            cut += 1
        keys.append((cut, kind))
    place = 0
    for (_, kind), group in groupby(keys):
        size = len(list(group))
        if kind:
            found.append((place, tuple(words[place : place + size]), kind))
        place += size
    return found


TAGS = ("O", "B-person", "I-person", "B-creative-work", "I-creative-work", "I-group")
SENTENCE = st.lists(
    st.tuples(st.sampled_from("ab"), st.sampled_from(TAGS), st.sampled_from(TAGS)), min_size=1, max_size=6
)


@draws(13)
@given(st.lists(SENTENCE, min_size=1, max_size=3))
def test_an_independent_reading_agrees(sentences: list[list[tuple[str, str, str]]]) -> None:
    words = " ".join(word for one in sentences for word, _, _ in one)
    gold, pred = (" / ".join(" ".join(row[side] for row in one) for one in sentences) for side in (1, 2))
    outcome = scored(source(gold, words), source(pred, words))
    sides: list[list[Any]] = [[], []]
    for number, one in enumerate(sentences):
        for side, found in enumerate(sides):
            tags = [row[side + 1] for row in one]
            found += [(number, *entity) for entity in entities(tags, [row[0] for row in one])]
    right = set(sides[0]) & set(sides[1])
    overall = outcome.scores["entity"]["ALL"]
    assert (overall["gold"], overall["guess"], overall["correct"]) == (len(sides[0]), len(sides[1]), len(right))
    forms = [{entity[2:] for entity in side} for side in (*sides, right)]
    overall = outcome.scores["surface"]["ALL"]
    assert [overall["gold"], overall["guess"], overall["correct"]] == [len(side) for side in forms]


def test_layers_score_as_their_files() -> None:
    gold, pred = "B-person I-person O / B-group O", "B-person O O / B-group O"
    given = ScorerInput(gold=source(gold), pred=source(pred), gold_format="conll", pred_format="conll")
    layers, read = by_layers_and_files("wnut17", given)
    assert layers.scores == read.scores
    assert layers.records().equals(read.records())
