"""alt_eval.perl, line for line: the shared runs and edge cases, hostile lines, and the records behind the counts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from nereval_core.conventions import Outcome, ScorerInput, apply, find_convention
from nereval_core.conventions.biocreative import KINDS, WHY
from nereval_core.corpus import Layer
from nereval_core.problems import FormatError
from nereval_core.readers import ReadOptions, Source, read
from tests.support.biocreative_corpora import COMMAND, ODD_LINES, SEEDS, write_corpus
from tests.support.reconciliation import check_texts, reconcile
from tests.support.reference_fixtures import read_fixture
from tests.support.shared_corpora import SHARED, files, needs

CONVENTION = find_convention("biocreative")
EXPECTED = files("expected/bc2gm/*.eval.json")
CASES = [path for path in files("bc2gm/edge/*") if path.is_dir()]
GOLD = {
    "test.in": "s1 abcd efgh ij\ns2 alpha beta\ns3 x\n",
    "GENE.eval": "s1|0 3|abcd\ns1|4 7|efgh\ns2|0 4|alpha\n",
    "ALTGENE.eval": "s1|3 8|defghi\ns1|0 1|ab\ns1|8 9|ij\n",
}


def source(contents: Mapping[str, str]) -> Source:
    return Source.of_uploads([(name, content.encode()) for name, content in contents.items()])


def scored(run: str, gold: Mapping[str, str] = GOLD, **options: Any) -> Outcome:
    return apply(
        CONVENTION, ScorerInput(gold=source(gold), pred=source({"run.eval": run}), gold_format="bc2gm"), options
    )


def check(outcome: Outcome, results: Mapping[str, Any]) -> None:
    """Compare with the program's figures, and the sums of the records with the figures."""
    scores = outcome.scores
    assert {name: scores[name] for name in ("TP", "FP", "FN")} == {name: results[name] for name in ("TP", "FP", "FN")}
    assert scores["lines"] == results["lines_by_kind"]
    printed = CONVENTION.forms["text"](outcome)
    figures = " ".join(f"{name}: {results[key]}" for name, key in (("Precision", "precision"), ("Recall", "recall")))
    counts = "".join(f"{name}: {results[name]}\n" for name in ("TP", "FP", "FN"))
    assert printed.endswith(f"\n\n{counts}{figures} F: {results['f']}\n\n")
    kinds = [line.partition("|")[0] for line in printed.splitlines() if "|" in line]
    assert {kind: kinds.count(kind) for kind in scores["lines"]} == scores["lines"]
    reconciles(outcome)


def reconciles(outcome: Outcome) -> None:
    assert outcome.figures["counted"].sum() == 3 + 7
    reconcile(outcome)
    check_texts(outcome)


def test_drawn_lines_meet_every_rule(tmp_path: Path) -> None:
    fixture = read_fixture("biocreative")
    assert fixture["command"] == COMMAND
    met: set[str] = set()
    for seed, theirs in zip(SEEDS, fixture["results"], strict=True):
        corpus, run, listed = write_corpus(tmp_path, seed)
        sides = ScorerInput(gold=Source.of_path(corpus), pred=Source.of_path(run), gold_format="bc2gm")
        options = {"ids": str(listed)} if listed else {}
        if theirs["stopped"]:
            with pytest.raises(FormatError, match="divides by zero here and stops without its figures"):
                apply(CONVENTION, sides, options)
            met.add("stopped")
            continue
        outcome = apply(CONVENTION, sides, options)
        ours, printed = (text.rpartition("\n\nTP: ") for text in (CONVENTION.forms["text"](outcome), theirs["printed"]))
        assert ours[2] == printed[2], seed
        # The program's order of sentences is by chance.
        assert sorted(ours[0].split("\n")) == sorted(printed[0].split("\n")), seed
        reconciles(outcome)
        met |= {kind for kind, count in outcome.scores["lines"].items() if count}
        met |= {*outcome.records("mentions")["why"], "a list" if listed else "no list"}
        contents = [path.read_bytes().decode().split("\n") for path in (*corpus.iterdir(), run)]
        met |= {line for lines in contents for line in lines[:-1] if line in ODD_LINES}
    assert met == {*KINDS, *WHY, *ODD_LINES, "a list", "no list", "stopped"}


@needs("expected/bc2gm")
@pytest.mark.parametrize("path", EXPECTED, ids=lambda path: path.stem)
def test_shared_runs(path: Path) -> None:
    expected = json.loads(path.read_text())
    run = Source.of_path(SHARED / "bc2gm" / expected["run"])
    outcome = apply(CONVENTION, ScorerInput(gold=Source.of_path(SHARED / "bc2gm"), pred=run))
    assert outcome.pred.spans == expected["predicted_lines"]
    assert outcome.documents.ids[:5000] == read(SHARED / "bc2gm").documents.ids
    check(outcome, expected["results"])


@needs("expected/bc2gm")
@pytest.mark.parametrize("folder", CASES, ids=lambda folder: folder.name)
def test_shared_edge_cases_have_no_sentences(folder: Path) -> None:
    cases = json.loads((SHARED / "expected/bc2gm/edge_cases.json").read_text())["cases"]
    given = ScorerInput(gold=Source.of_path(folder), pred=Source.of_path(folder / "run.eval"))
    outcome = apply(CONVENTION, given)
    check(outcome, cases[folder.name]["results"])
    assert outcome.notes[0].startswith("sentences, of which there is no file, shown as pieced together from quoted")


# Printed by perl 5.36 alt_eval.perl (spyysalo/bc2gm-corpus 1816168, original-data/train) run.eval on these three files;
# its order of sentences is by chance.
HOSTILE = {
    "GENE.eval": "nobar\nS1|0 3|abcd\n\nS1|5 6|x y|z\nS2|4 2|b\nS2|1e1 12|c\nS3|0 1\n",
    "ALTGENE.eval": "S1|6 5|q\nS2|3 1|k\nS1|3 8|r\n",
    "run.eval": "|9 9|w\nS1|0 3|abcd\n\nS1| 5 6|x\nS2|3 1|k\nS2|10 12|c\nS3|\nS3|0 1|\nS1|3 8|r\r\nS1|6 5|q\n",
}
PRINTED = """\
FN||nobar|
TP|S3||0 1||0 1
FN|S2|4 2|b
FN|S2|1e1 12|c
TP|S1|abcd|0 3|abcd|0 3
TP|S1||||
**TP|S1|x y|5 6|r\r|3 8
FP|S2|10 12|c
FP|S1| 5 6|x
FP|||9 9|w
FP|S3|

TP: 4
FP: 4
FN: 3
Precision: 0.5 Recall: 0.571428571428571 F: 0.533333333333333

"""


def test_hostile_lines_are_taken_as_the_program_takes_them() -> None:
    outcome = scored(HOSTILE["run.eval"], {name: HOSTILE[name] for name in ("GENE.eval", "ALTGENE.eval")})
    printed = CONVENTION.forms["text"](outcome)
    lines, _, figures = printed.rpartition("\n\nTP: ")
    expected_lines, _, expected_figures = PRINTED.rpartition("\n\nTP: ")
    assert figures == expected_figures
    assert sorted(lines.split("\n")) == sorted(expected_lines.split("\n"))
    reconciles(outcome)


DECIDED = [
    # (what, run, records: record, decision, prediction's text, a part of why)
    ("equal", "s2|0 4|alpha\n", {"g:0-5:GENE": ("COR", "alpha", "the same offsets")}),
    ("variant inside", "s1|0 1|ab\n", {"g:0-4:GENE": ("COR", "ab", "inside")}),
    (
        "one prediction finds two",
        "s1|3 8|defghi\n",
        {"g:0-4:GENE": ("COR", "d efgh i", "over the end"), "g:5-9:GENE": ("COR", "d efgh i", "around")},
    ),
    (
        "the first line of the file finds",
        "s1|0 1|ab\ns1|0 3|abcd\n",
        {"g:0-4:GENE": ("COR", "ab", "inside"), "p:0-4:GENE": ("IGN", "abcd", "an earlier line had found")},
    ),
    (
        "a right line twice",
        "s2|0 4|alpha\ns2|0 4|alpha\n",
        {"g:0-5:GENE": ("COR", "alpha", "same"), "p:0-5:GENE~2": ("IGN", "alpha", "an earlier line had found")},
    ),
    (
        "a wrong line twice",
        "s2|0 4|alpha\ns3|0 0|x\ns3|0 0|x\n",
        {"p:0-1:GENE": ("SPU", "x", "no gold mention"), "p:0-1:GENE~2": ("SPU", "x", "no gold mention")},
    ),
    (
        "a variant that overlaps nothing",
        "s2|0 4|alpha\ns1|8 9|ij\n",
        {"p:10-12:GENE": ("IGN", "ij", "overlaps no gold mention")},
    ),
    (
        "two blanks",
        "s2|0 4|alpha\ns1|0  3|abcd\n",
        {
            "g:0-4:GENE": ("MIS", None, "written differently"),
            "p:0-4:GENE": ("SPU", "abcd", "written differently"),
            "g:5-9:GENE": ("MIS", None, "no prediction with the offsets"),
        },
    ),
    (
        "outside the sentence",
        "s2|0 4|alpha\ns3|4 9|abcd\n",
        {"p:4 9:GENE": ("SPU", "4 9", "no gold mention")},
    ),
]


@pytest.mark.parametrize(("run", "expected"), [case[1:] for case in DECIDED], ids=[case[0] for case in DECIDED])
def test_records_say_what_decided(run: str, expected: Mapping[str, tuple[str, str | None, str]]) -> None:
    outcome = scored(run)
    records = outcome.records("mentions")
    for record, (decision, text, why) in expected.items():
        [row] = (row for row in records.itertuples() if row.record == record and row.decision == decision)
        assert why in row.why
        assert row.pred_text == text if text else pd.isna(row.pred_text)
    reconciles(outcome)


def test_only_the_sentences_of_a_list_are_scored(tmp_path: Path) -> None:
    (tmp_path / "ids").write_text("s2\ns3\n")
    run = "s1|0 3|abcd\ns2|0 4|alpha\ns3|0 0|x\n"
    outcome = scored(run, ids=str(tmp_path / "ids"))
    assert {name: outcome.scores[name] for name in ("TP", "FP", "FN")} == {"TP": 1, "FP": 1, "FN": 0}
    layers = both(run)
    again = CONVENTION.of_layers(*layers, {"ids": str(tmp_path / "ids")})
    assert again.scores == outcome.scores


def both(run: str) -> tuple[Layer, Layer]:
    gold = read(source(GOLD))
    return gold.layer, read(source({"run.eval": run}), options=ReadOptions(texts=gold.documents)).layer


def test_layers_score_as_the_files_they_were_read_from() -> None:
    run = "s1|0 1|ab\ns1|3 8|d efgh i\ns2|5 8|beta\ns2|5 8|beta\ns2|0 4|alpha\n"
    one, two = scored(run), CONVENTION.of_layers(*both(run), {"ids": None})
    assert one.scores == two.scores
    assert CONVENTION.forms["text"](one) == CONVENTION.forms["text"](two)
    assert one.records().equals(two.records())


@needs("bc2gm")
@pytest.mark.parametrize(("run", "far"), [("run_mixed.eval", 0), ("run_variants.eval", 0), ("ALTGENE.eval", 27)])
def test_layers_of_the_shared_corpus_score_as_its_files(run: str, far: int) -> None:
    gold = read(SHARED / "bc2gm")
    pred = read(SHARED / "bc2gm" / run, options=ReadOptions(texts=gold.documents))
    outcome = CONVENTION.of_layers(gold.layer, pred.layer, {"ids": None})
    expected = json.loads((SHARED / f"expected/bc2gm/{run}.json").read_text())["results"]
    # The program also spares predictions that equal a variant far from any mention; layers do not hold such variants.
    assert outcome.scores["lines"] == expected["lines_by_kind"] | {"FP": expected["FP"] + far}
    reconciles(outcome)


def test_types_are_not_compared_and_that_is_said() -> None:
    rows = [
        b'{"id": "d", "text": "ab", "spans": [{"start": 0, "end": 2, "label": "%s"}]}' % kind for kind in (b"A", b"B")
    ]
    gold, pred = (Source.of_uploads([("x.jsonl", row)]) for row in rows)
    outcome = apply(CONVENTION, ScorerInput(gold=gold, pred=pred))
    assert (outcome.scores["TP"], outcome.notes) == (1, ("types, which are not compared: A, B",))


@pytest.mark.parametrize(
    ("gold", "run", "said"),
    [
        pytest.param(GOLD, "s3|0 0|x\n", "divides by zero here and stops without its figures", id="nothing right"),
        pytest.param(
            {"GENE.eval": "s|0 0|x\n"},
            "s|0 0|x\n",
            "no ALTGENE.eval: alt_eval.perl would say so and stop",
            id="no variants",
        ),
    ],
)
def test_where_the_program_stops_so_do_we(gold: Mapping[str, str], run: str, said: str) -> None:
    with pytest.raises(FormatError, match=said):
        scored(run, gold)


@pytest.mark.parametrize(
    ("span", "said"),
    [
        (b'{"start": 0, "end": 3, "label": "A", "fragments": [[0, 1], [2, 3]]}', "is discontinuous"),
        (b'{"start": 1, "end": 2, "label": "A"}', "holds blanks only"),
    ],
)
def test_what_no_line_can_say_is_refused(span: bytes, said: str) -> None:
    upload = Source.of_uploads([("x.jsonl", b'{"id": "d", "text": "a b", "spans": [%s]}' % span)])
    with pytest.raises(FormatError, match=said):
        apply(CONVENTION, ScorerInput(gold=upload, pred=upload))


def test_many_variants_in_one_long_text_take_no_quadratic_time() -> None:
    size = 20_000
    text = " ".join(["ab"] * size)
    spans = ", ".join(
        f'{{"start": {3 * n}, "end": {3 * n + 1}, "label": "G", "alternatives": [[{3 * n}, {3 * n + 2}]]}}'
        for n in range(size)
    )
    found = ", ".join(f'{{"start": {3 * n}, "end": {3 * n + 2}, "label": "G"}}' for n in range(size))
    rows = [f'{{"id": "d", "text": "{text}", "spans": [{row}]}}'.encode() for row in (spans, found)]
    gold, pred = (read(Source.of_uploads([("x.jsonl", row)])).layer for row in rows)
    outcome = CONVENTION.of_layers(gold, pred, {"ids": None})
    assert outcome.scores["lines"]["**TP"] == size
    assert np.array_equal(outcome.records("mentions")["pred"], np.arange(size))
