"""The script of PharmaCoNER, both sub-tracks: shared runs, edge cases, lines that it passes over or stops at."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from nereval_core.conventions import Outcome, ScorerInput, apply, find_convention
from nereval_core.conventions.pharmaconer import EVALUATIONS
from nereval_core.problems import FormatError
from nereval_core.readers import ReadOptions, Source, read
from tests.support.pharmaconer_corpora import COMMAND, ODD_LINES, SEEDS, UNSPLIT, write_corpus
from tests.support.reconciliation import check_texts, reconcile
from tests.support.reference_fixtures import read_fixture
from tests.support.shared_corpora import SHARED, needs

CONVENTION = find_convention("pharmaconer")
DATA = SHARED / "pharmaconer"
RUNS = [("subtask1", 1, "subtask1", ()), ("subtask2", 2, "subtask2", ()), ("subtask2_changed", 2, "subtask2", (7,))]
EDGES = [
    *((1, name) for name in ("missing_document", "extra_document", "duplicates", "unclear", "wrong_tag_and_text")),
    *((2, name) for name in ("unclear_code", "duplicates_and_names", "missing_document")),
]


def given(gold: Path, pred: Path) -> ScorerInput:
    return ScorerInput(gold=Source.of_path(gold), pred=Source.of_path(pred))


def scored(gold: Mapping[str, str], pred: Mapping[str, str], subtrack: int = 1) -> Outcome:
    """Score uploads: the names are paths as in the folders `ref` and `res`."""
    sides = [
        Source.of_uploads([(name, content.encode()) for name, content in files.items()], name=side)
        for side, files in (("ref", gold), ("res", pred))
    ]
    return apply(CONVENTION, ScorerInput(gold=sides[0], pred=sides[1], gold_format="brat"), {"subtrack": subtrack})


def check(outcome: Outcome, results: Mapping[str, Any]) -> None:
    scores = outcome.scores
    assert {name: str(scores[name]) for name in results["scores"]} == results["scores"]
    assert [scores[name] for name in ("tp", "fp", "fn")] == [results[name] for name in ("TP", "FP", "FN")]
    assert len(scores["documents"]) == results["documents_scored"]
    assert {name: list(row.values()) for name, row in scores["documents"].items()} == results["per_document"]
    printed = "".join(f"{name} : {results['scores'][name]}\n" for name in ("F1", "Precision", "Recall"))
    assert CONVENTION.forms["text"](outcome) == printed
    reconciles(outcome)


def reconciles(outcome: Outcome) -> None:
    records = outcome.records()
    figures = outcome.figures.set_index("figure")["value"]
    assert {name: figures[name] for name in ("tp", "fp", "fn")} == {
        name: outcome.scores[name] for name in ("tp", "fp", "fn")
    }
    assert (records["decision"] == "IGN").sum() == (records[["tp", "fp", "fn"]].sum(axis=1) == 0).sum()
    reconcile(outcome)
    check_texts(outcome)


def test_drawn_folders_meet_every_rule(tmp_path: Path) -> None:
    fixture = read_fixture("pharmaconer")
    assert fixture["command"] == COMMAND
    met: dict[int, set[str]] = {1: set(), 2: set()}
    lines: set[str] = set()
    for seed, by_track in zip(SEEDS, fixture["results"], strict=True):
        sides = write_corpus(tmp_path, seed)
        lines |= {line for path in sides[0].parent.rglob("*.ann") for line in path.read_text().split("\n")}
        for track, rules in met.items():
            printed = by_track[str(track)]
            if printed is None:
                with pytest.raises(FormatError, match=r"cannot be split: evaluate\.py stops here"):
                    apply(CONVENTION, given(*sides), {"subtrack": track})
                rules.add("stopped")
                continue
            outcome = apply(CONVENTION, given(*sides), {"subtrack": track})
            assert CONVENTION.forms["text"](outcome) == printed, (seed, track)
            reconciles(outcome)
            rules |= {*outcome.records()["why"], *({"zero"} if outcome.scores["F1"] == 0 else ())}
            rules |= {note.rpartition(":")[0] for note in outcome.notes if "left out" in note}
    sides_left_out = {f"documents that only {whose} has, left out" for whose in ("gold", "the response")}
    assert met[1] == {*EVALUATIONS[1].reasons, *sides_left_out, "zero"}
    assert met[2] == {*EVALUATIONS[2].reasons, *sides_left_out, "zero", "stopped"}
    assert lines >= {*ODD_LINES, *UNSPLIT}


@needs("expected/pharmaconer")
@pytest.mark.parametrize(("run", "subtrack", "gold", "lone"), RUNS, ids=[run[0] for run in RUNS])
def test_shared_runs(run: str, subtrack: int, gold: str, lone: tuple[int, ...]) -> None:
    expected = json.loads((SHARED / f"expected/pharmaconer/{run}.json").read_text())
    outcome = apply(CONVENTION, given(DATA / gold / "ref", DATA / run / "res"), {"subtrack": subtrack})
    check(outcome, expected["results"])
    left_out = tuple(f"documents that only gold has, left out: {count}" for count in lone)
    assert outcome.notes[-1:] == left_out or not lone


@needs("expected/pharmaconer")
@pytest.mark.parametrize(("subtrack", "case"), EDGES, ids=[f"{track} {name}" for track, name in EDGES])
def test_shared_edge_cases(subtrack: int, case: str) -> None:
    cases = json.loads((SHARED / f"expected/pharmaconer/subtask{subtrack}_edge.json").read_text())["cases"]
    assert set(cases) == {name for track, name in EDGES if track == subtrack}
    folder = DATA / f"subtask{subtrack}_edge" / case
    check(apply(CONVENTION, given(folder / "ref", folder / "res"), {"subtrack": subtrack}), cases[case]["results"])


@needs("pharmaconer")
def test_records_stand_in_the_documents_our_reader_gives() -> None:
    folder = DATA / "subtask1"
    for inside in ("", "subtask1"):
        outcome = apply(CONVENTION, given(folder / "ref" / inside, folder / "res" / inside))
        documents = read(folder / "ref" / inside).documents
        assert (outcome.documents.ids, outcome.documents.texts) == (documents.ids, documents.texts)
        assert outcome.notes == ()


@needs("pharmaconer")
def test_layers_score_as_the_files_they_were_read_from() -> None:
    folder = DATA / "subtask1"
    files = given(folder / "ref/subtask1", folder / "res/subtask1")
    gold, pred, _ = files.read()
    outcome = CONVENTION.of_layers(gold, pred, {"subtrack": 1})
    assert outcome.scores == apply(CONVENTION, files).scores
    reconciles(outcome)


@needs("pharmaconer")
def test_links_score_as_the_codes_they_are() -> None:
    # The response of the repository names each code of gold, those of UNCLEAR mentions too.
    folder = DATA / "subtask2"
    files = apply(CONVENTION, given(folder / "ref", folder / "res"), {"subtrack": 2})
    gold = read(folder / "ref", options=ReadOptions(texts=files.documents)).layer
    outcome = CONVENTION.of_layers(gold, gold, {"subtrack": 2})
    assert {name.partition("/")[2]: row for name, row in outcome.scores["documents"].items()} == files.scores[
        "documents"
    ]
    assert {name: outcome.scores[name] for name in ("F1", "tp", "fp")} == {
        "F1": 0.9895988112927191,
        "tp": 666,
        "fp": 14,
    }
    reconciles(outcome)


# Printed by evaluate.py of PlanTL-GOB-ES/PharmaCoNER-CODALAB-Evaluation-Script b354eab (Python 3.11) for folders with
# one document d1 on both sides, gold "T1 A 0 1" and the response below: (what, response, F1, Precision, Recall).
LENIENT = [
    ("blanks before a line and instead of tabs", "  T1\tA 0 1 x\r\n\r\n", "1.0", "1.0", "1.0"),
    ("numbers as Python reads them", "T1\tA +0 01\tx\n", "1.0", "1.0", "1.0"),
    ("lines that cannot be split", "T1\nT2\t\tx\nT3 A 0 1 x\nT4\tA 0\nT5\tA 0 1\n", "1.0", "1.0", "1.0"),
    ("a byte-order mark hides the first line", "\ufeffT1\tA 0 1\tx\n", "0.0", "0.0", "0.0"),
    ("an empty response costs", "", "0.0", "0.0", "0.0"),
    ("UNCLEAR may be discontinuous", "T1\tA 0 1\tx\nT2\tUNCLEAR 0 1;2 3\tx\n", "1.0", "1.0", "1.0"),
    ("outside any text", "T1\tA 0 1\tx\nT2\tA 7 -3\tx\nT3\tA 1 99999999999\tx\n", "0.5", "0.3333333333333333", "1.0"),
]


@pytest.mark.parametrize(("response", *"fpr"), [row[1:] for row in LENIENT], ids=[row[0] for row in LENIENT])
def test_lines_are_taken_as_the_script_takes_them(response: str, f: str, p: str, r: str) -> None:
    outcome = scored({"subtask1/d1.ann": "T1\tA 0 1\tx\n"}, {"subtask1/d1.ann": response})
    assert CONVENTION.forms["text"](outcome) == f"F1 : {f}\nPrecision : {p}\nRecall : {r}\n"
    reconciles(outcome)


def test_records_say_what_decided() -> None:
    gold = "T1\tA 0 1\tx\nT2\tA 0 1\tx\nT3\tUNCLEAR 2 3\ty\nT4\tB 4 5\tz\n"
    pred = "T1\tB 2 3\ty\nT2\tA 0 1\tx\nT3\tUNCLEAR 4 5\tz\n"
    outcome = scored({"d1.ann": gold, "d2.ann": gold}, {"d1.ann": pred, "d3.ann": pred})
    records = outcome.records("subtask1")
    rows = [(row.document, row.record, row.decision, row.why) for row in records.itertuples()]
    assert rows[:4] == [
        ("d1", "g:0-1:A", "COR", "the same type and offsets on the other side"),
        ("d1", "g:0-1:A~2", "IGN", "the same type and offsets once more: counted once"),
        ("d1", "g:2-3:UNCLEAR", "IGN", "marked UNCLEAR: left out on both sides"),
        ("d1", "g:4-5:B", "MIS", "no mention of the same type and offsets on the other side"),
    ]
    assert [row for row in rows[4:] if row[0] == "d1"] == [
        ("d1", "p:2-3:B", "SPU", "offsets of a mention that gold marks UNCLEAR, which is left out"),
        ("d1", "p:4-5:UNCLEAR", "IGN", "marked UNCLEAR: left out on both sides"),
    ]
    assert {row[2:] for row in rows if row[0] != "d1"} == {("IGN", "its document is on one side only: left out")}
    assert outcome.notes[1:] == (
        "documents that only gold has, left out: 1",
        "documents that only the response has, left out: 1",
    )


def test_codes_of_unclear_mentions_leave_gold_only_and_lines_of_other_documents_stay() -> None:
    ann = "T1\tA 0 1\tx\n#1\tAnnotatorNotes T1\t11\nT2\tUNCLEAR 2 3\ty\n#2\tAnnotatorNotes T2\t22\n"
    codes = {"subtask2/d1.tsv": "d1\t11\nd1\t22\nd1\t33\n", "subtask2/d2.tsv": "dX\t22\n"}
    gold = {"subtask1/d1.ann": ann, "subtask1/d2.ann": ann, **codes}
    outcome = scored(gold, codes, subtrack=2)
    assert outcome.scores["documents"] == {
        "d1": {"tp": 2, "fp": 1, "fn": 0},
        "d2": {"tp": 1, "fp": 0, "fn": 0},
    }
    records = outcome.records("subtask2")
    assert set(records["unit"]) == {"concept"}
    assert [(row.record, row.decision, row.why) for row in records.itertuples() if "22" in row.record] == [
        ("g:22:concept", "IGN", "a code of UNCLEAR mentions only: left out of gold"),
        ("g:22:concept", "COR", "the same code on the other side"),
        ("p:22:concept", "SPU", "a code that gold gives to UNCLEAR mentions only, which is left out there"),
    ]
    assert outcome.documents.texts == ("x·y", "x·y")


GOOD = {"d1.ann": "T1\tA 0 1\tx\n"}
NOTED = {"subtask1/d1.ann": "T1\tA 0 1\tx\n", "subtask2/d1.tsv": "d1\t11\n"}
STOPS = [
    # (sub-track, gold, response, where, said)
    (
        1,
        GOOD,
        {"d1.ann": "T1\tA 0 1;3 4\tx y\n"},
        "d1.ann:1",
        "a discontinuous span, 'T1\\tA 0 1;3 4\\tx y': evalua",
    ),
    (1, GOOD, {"d1.ann": "\nT1\tA zero 1\tx\n"}, "d1.ann:2", "offsets that are not numbers"),
    (1, {"subtask2/d1.tsv": "d1\t1\n"}, GOOD, "ref", "no .ann file in it: evaluate.py would print zeros"),
    (1, GOOD, {"d1.tsv": "d1\t1\n"}, "res", "no .ann file in it: evaluate.py would print no figures"),
    (2, NOTED, {"d1.tsv": "d1\t11\n\n"}, "d1.tsv:2", "'' has no second field: evaluate.py stops here"),
    (2, NOTED, {"d1.tsv": "d1\t1\n", "d1.ann": ""}, "d1.ann", "reads it as a list too, and by chance"),
    (2, {"d1.tsv": "d1\t11\n"}, {"d1.tsv": "d1\t11\n"}, "ref", "no 'd1.ann' beside its codes"),
    (
        2,
        NOTED | {"subtask1/d1.ann": "T1\tA 0 1\tx\n#1\tAnnotatorNotes T1\n"},
        {"d1.tsv": "d1\t11\n"},
        "subtask1/d1.ann:2",
        "'#1\\tAnnotatorNotes T1' cannot be split: evaluate.py stops here",
    ),
    (2, NOTED | {"subtask1/d1.ann": "T1\n"}, {"d1.tsv": "d1\t11\n"}, "subtask1/d1.ann:1", "'T1' cannot be split"),
]


@pytest.mark.parametrize(("subtrack", "gold", "pred", "where", "said"), STOPS, ids=[row[-1] for row in STOPS])
def test_where_the_script_stops_so_do_we(
    subtrack: int, gold: Mapping[str, str], pred: Mapping[str, str], where: str, said: str
) -> None:
    with pytest.raises(FormatError) as caught:
        scored(gold, pred, subtrack)
    [problem] = caught.value.problems
    assert str(problem).startswith(f"{where}: ")
    assert said in str(problem)


@pytest.mark.parametrize(
    ("subtrack", "said"),
    [(1, "the discontinuous span 'a c': evaluate.py stops at such a line"), (2, "no span here has a link")],
)
def test_layers_without_what_is_needed_are_refused(subtrack: int, said: str) -> None:
    row = b'{"id": "d", "text": "a c", "spans": [{"start": 0, "end": 3, "label": "A", "fragments": [[0, 1], [2, 3]]}]}'
    upload = Source.of_uploads([("x.jsonl", row)])
    with pytest.raises(FormatError, match=said):
        apply(CONVENTION, ScorerInput(gold=upload, pred=upload), {"subtrack": subtrack})
