"""seqeval, run beside ours on generated tags that break every scheme; its text, its averages, where it stops."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from nereval_core.cli import main
from nereval_core.conventions import Outcome, ScorerInput, find_convention, option_values
from nereval_core.conventions.tag_sequences import in_scheme
from nereval_core.problems import FormatError
from nereval_core.readers import Source, conll
from tests.support.reconciliation import by_layers_and_files, overall_rows, reconcile
from tests.support.reference_fixtures import read_fixture
from tests.support.seqeval_corpora import CASES, COMMAND, DOCUMENTS, LETTERS, SEEDS, Sentences, draw, reports


def source(sentences: Sentences, name: str = "x.conll") -> Source:
    lines = ("".join(f"w{i}\t{tag}\n" for i, tag in enumerate(sentence)) for sentence in sentences)
    return Source.of_uploads([(name, "\n".join(lines).encode())])


def scored(gold: Sentences, pred: Sentences, name: str = "seqeval", **options: Any) -> Outcome:
    convention = find_convention(name)
    given = ScorerInput(gold=source(gold, "gold.conll"), pred=source(pred, "pred.conll"))
    return convention.score(given, option_values(convention, options))


def split(tags: str) -> Sentences:
    return [sentence.split() for sentence in tags.split("/")]


def test_two_thousand_documents_are_compared() -> None:
    assert len(CASES) * len(SEEDS) * DOCUMENTS >= 2000


def ours(number: int, seed: int) -> Outcome:
    """Score a case by our convention."""
    name, _, options = CASES[number]
    values = {option: str(value) if option == "zero_division" else value for option, value in options.items()}
    return scored(*draw(number, seed), name, digits=4, **values)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("number", range(len(CASES)), ids=lambda number: str(CASES[number]))
def test_seqeval_says_the_same(number: int, seed: int) -> None:
    pytest.importorskip("seqeval")
    text, report, accuracy = reports(number, seed)
    outcome, forms = ours(number, seed), find_convention(CASES[number][0]).forms
    assert forms["text"](outcome) == text
    printed = json.loads(forms["json"](outcome))
    assert printed.keys() == report.keys()
    for scope, row in report.items():
        assert printed[scope] == pytest.approx({figure: float(value) for figure, value in row.items()}, abs=1e-12)
    assert outcome.scores["accuracy_score"] == accuracy
    if seed != SEEDS[0]:
        reconcile(outcome)


def test_drawn_tags_meet_every_rule() -> None:
    fixture = read_fixture("seqeval")
    assert (fixture["version"].partition(",")[0], fixture["command"]) == ("seqeval 1.2.2", COMMAND)
    met: set[str] = set()
    for number, printed in enumerate(fixture["printed"]):
        for seed, text in zip(SEEDS, printed, strict=True):
            outcome = ours(number, seed)
            assert find_convention(CASES[number][0]).forms["text"](outcome) == text, (CASES[number], seed)
            met |= set(outcome.records("entities")["why"])
    assert met == {SAME, ALONE, DROPPED}
    assert {options.get("scheme") for _, _, options in CASES} == {None, *LETTERS}


# Options, gold, prediction, and decision, text on both sides and why of the records.
DROPPED = "malformed in the scheme: dropped"
ALONE = "no entity of the same tokens and type on the other side"
SAME = "the same tokens and type on the other side"
RECORDS = [
    ("seqeval", {}, "B-A I-A O", "I-A I-A O", [("COR", "w0 w1", "w0 w1", SAME)]),
    ("seqeval", {}, "B-A L-A U-A", "B-A L-A O", [("MIS", "w0 w1 w2", None, ALONE), ("SPU", None, "w0 w1", ALONE)]),
    ("seqeval-strict", {"scheme": "IOB1"}, "B-A I-A O", "I-A I-A O",
     [("MIS", "w1", None, ALONE), ("SPU", None, "w0 w1", ALONE), ("IGN", "w0", None, DROPPED)]),
    ("seqeval-strict", {"scheme": "IOBES"}, "B-A I-A O S-A", "B-A I-A O S-A",
     [("COR", "w3", "w3", SAME), ("IGN", "w0 w1", None, DROPPED), ("IGN", None, "w0 w1", DROPPED)]),
    ("seqeval-strict", {"scheme": "IOB2"}, "I-A I-A O B-A", "B-A I-A O B-A",
     [("COR", "w3", "w3", SAME), ("SPU", None, "w0 w1", ALONE), ("IGN", "w0 w1", None, DROPPED)]),
]  # fmt: skip


@pytest.mark.parametrize(("name", "options", "gold", "pred", "wanted"), RECORDS)
def test_records_say_what_was_dropped(
    name: str, options: dict[str, Any], gold: str, pred: str, wanted: list[tuple[str, str | None, str | None, str]]
) -> None:
    records = scored(split(gold), split(pred), name, **options).records("entities")
    assert overall_rows(records, "decision", "gold_text", "pred_text", "why") == wanted


# What is given and what is said of it.
REFUSED = [
    ("seqeval-strict", {"scheme": "IOB2"}, "B-A", "S-A",
     "pred.conll:1: 'S-A' is not a tag of IOB2, at which seqeval stops with a ValueError"),
    ("seqeval-strict", {"scheme": "IOB2"}, "B-A", "X-A",
     "pred.conll:1: 'X-A' is not a tag of IOB2, at which seqeval stops with a KeyError"),
    ("seqeval-strict", {}, "I-A O", "I-A O",
     "gold.conll: tags of the letters O, I show no scheme that seqeval detects: it stops with a ValueError"),
    ("seqeval", {}, "B-A O", "B-A", "pred.conll: 1 token where gold (gold.conll) has 2"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "options", "gold", "pred", "said"), REFUSED)
def test_where_seqeval_stops(name: str, options: dict[str, Any], gold: str, pred: str, said: str) -> None:
    with pytest.raises(FormatError) as error:
        scored(split(gold), split(pred), name, **options)
    assert error.value.lines()[0].replace("pred.conll:1: 1 token", "pred.conll: 1 token").startswith(said)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("zero_division", ["warn", "0", "1"])
@pytest.mark.parametrize(
    ("name", "gold", "pred"), [("seqeval", "O O", "O O"), ("seqeval-strict", "I-A I-A O", "O I-A O")]
)
def test_no_entity_left_gives_the_dictionary_and_no_text(name: str, gold: str, pred: str, zero_division: str) -> None:
    from seqeval.metrics import classification_report
    from seqeval.scheme import IOB2

    strict = {"mode": "strict", "scheme": IOB2} if name == "seqeval-strict" else {}
    value = zero_division if zero_division == "warn" else int(zero_division)
    sides = [[gold.split()], [pred.split()]]
    expected = classification_report(*sides, **strict, output_dict=True, zero_division=value)
    options = {"scheme": "IOB2"} if strict else {}
    outcome = scored(split(gold), split(pred), name, zero_division=zero_division, **options)
    report = {
        row: {figure: math.nan if value is None else value for figure, value in figures.items()}
        for row, figures in outcome.scores["classification_report"].items()
    }
    assert report.keys() == expected.keys()
    for row, figures in report.items():
        assert figures == pytest.approx(expected[row], nan_ok=True)
    reconcile(outcome)
    with pytest.raises(FormatError, match="stops with a ValueError"):
        find_convention(name).forms["text"](outcome)


@pytest.mark.parametrize(
    ("name", "notes"),
    [
        (
            "seqeval",
            [
                "--scheme IOB2 does not change what seqeval counts: it runs in its default mode; seqeval-strict takes "
                "a scheme"
            ],
        ),
        ("conlleval", ["--scheme IOB2 does not change what conlleval counts"]),
        ("seqeval-strict", []),
    ],
)
def test_a_scheme_that_changes_nothing_is_noted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, notes: list[str]
) -> None:
    file = tmp_path / "a.conll"
    file.write_text("a B-X\nb I-X\n", encoding="utf-8")
    arguments = ["score", str(file), str(file), "--convention", name]
    for scheme, expected in (("IOB2", notes), (None, [])):
        given = [*arguments, *(("--scheme", scheme) if scheme else ())]
        assert main([*given, "--json", "-", "--quiet"]) == 0
        (system,) = json.loads(capsys.readouterr().out)["systems"]
        assert [note for note in system["convention"]["notes"] if "--scheme" in note] == expected


def test_every_tag_that_stops_seqeval_is_named() -> None:
    with pytest.raises(FormatError) as error:
        scored(split("B-A S-A"), split("E-A U-B"), "seqeval-strict", scheme="IOB2")
    places = [line.split(" ")[0] for line in error.value.lines()]
    assert places == ["gold.conll:2:", "pred.conll:1:", "pred.conll:2:"]


# A row of entities, as IOB2 and in each scheme.
WRITTEN = {
    "IOB2": "B-A B-A I-A O B-B B-A I-A I-A",
    "IOB1": "I-A B-A I-A O I-B I-A I-A I-A",
    "IOE2": "E-A I-A E-A O E-B I-A I-A E-A",
    "IOE1": "E-A I-A I-A O I-B I-A I-A I-A",
    "IOBES": "S-A B-A E-A O S-B B-A I-A E-A",
    "BILOU": "U-A B-A L-A O U-B B-A I-A L-A",
}


@pytest.mark.parametrize("scheme", WRITTEN)
def test_layers_are_written_in_the_scheme_asked_for(scheme: str) -> None:
    side = conll.read_tagged(source(split(WRITTEN["IOB2"])))
    assert " ".join(in_scheme(side, scheme).tags) == WRITTEN[scheme]


@pytest.mark.parametrize("suffix", [False, True])
@pytest.mark.parametrize(("name", "scheme"), [("seqeval", None), ("seqeval-strict", "BILOU"), ("seqeval-strict", None)])
def test_layers_score_as_their_files(name: str, scheme: str | None, suffix: bool) -> None:
    strict = name == "seqeval-strict"
    gold, pred = split("B-A I-A O / B-B B-B I-B O"), split("B-A O O / B-B B-B I-B O")
    sides = source(gold, "gold.conll"), source(pred, "pred.conll")
    given = ScorerInput(gold=sides[0], pred=sides[1], gold_format="conll", pred_format="conll")
    options = {"suffix": suffix} | ({"scheme": scheme} if strict else {})
    found, read = by_layers_and_files(name, given, options, {"scheme": "IOB2"} if strict else {})
    # Between schemes the tags differ, and with them the accuracy.
    assert found.scores["classification_report"] == read.scores["classification_report"]
    assert found.records("entities").equals(read.records("entities"))
