"""bc5cdr_eval.jar of BioCreative V: its figures for drawn corpora, and what records say."""

from __future__ import annotations

import json
from pathlib import Path

from nereval_core.conventions import ScorerInput, apply, find_convention
from nereval_core.readers import Source
from tests.support.bc5cdr_corpora import COMMAND, EVALUATIONS, SEEDS, write_corpus
from tests.support.commands import Cli
from tests.support.reconciliation import overall_rows, reconcile
from tests.support.samples import bioc_annotation, bioc_document, bioc_passage

CONVENTION = find_convention("bc5cdr")
FIXTURE = Path(__file__).resolve().parents[1] / "fixtures/bc5cdr.json"


def given(gold: Path, pred: Path) -> ScorerInput:
    return ScorerInput(gold=Source.of_path(gold), pred=Source.of_path(pred))


def test_drawn_corpora(tmp_path: Path) -> None:
    fixture = json.loads(FIXTURE.read_text(encoding="utf-8"))
    assert fixture["command"] == COMMAND
    undefined = 0
    for seed, by_types in zip(SEEDS, fixture["results"], strict=True):
        sides = write_corpus(tmp_path, seed)
        for types, results in by_types.items():
            outcome = apply(CONVENTION, given(*sides), {"types": types.replace("|", ",")})
            for name in EVALUATIONS:
                theirs = {key: None if value == "NaN" else float(value) for key, value in results[name].items()}
                assert outcome.scores[name] == theirs, (seed, types, name)
                undefined += None in theirs.values()
            reconcile(outcome)
    assert undefined


def test_records_say_what_decided(tmp_path: Path) -> None:
    rows = {
        "gold": ([(0, 1, "Disease", ["D1", "D2"]), (2, 3, "Chemical", ["D4"])], []),
        "pred": ([(0, 1, "Disease", ["MESH:D1"]), (0, 1, "Disease", ["D1"])], [(0, 1, "Disease", ["D1"])]),
    }
    for name, documents in rows.items():
        lines = [
            {
                "id": str(at),
                "text": "abcdef",
                "spans": [{"start": low, "end": high, "label": kind, "links": ids} for low, high, kind, ids in spans],
            }
            for at, spans in enumerate(documents)
        ]
        content = "".join(json.dumps(line) + "\n" for line in lines)
        (tmp_path / f"{name}.jsonl").write_text(content, encoding="utf-8")
    outcome = apply(CONVENTION, given(tmp_path / "gold.jsonl", tmp_path / "pred.jsonl"))
    assert overall_rows(outcome.records("mention"), "document", "record", "decision", "why") == [
        ("0", "g:0-1:Disease", "COR", "the same on the other side"),
        ("0", "g:2-3:Chemical", "IGN", "of a type that is not asked for: left out"),
        ("0", "p:0-1:Disease~2", "IGN", "the same once more: counted once"),
        ("1", "p:0-1:Disease", "IGN", "gold has nothing to compare in this document: left out"),
    ]
    assert [outcome.scores["id"][name] for name in ("TP", "FP", "FN")] == [1, 0, 1]


def test_types_is_the_option_of_the_scorer(command: Cli, tmp_path: Path) -> None:
    spans = [{"start": 0, "end": 4, "label": "Chem"}, {"start": 5, "end": 9, "label": "Disease"}]
    row = {"id": "d", "text": "iron gout", "spans": spans}
    Path("gold.jsonl").write_text(json.dumps(row))
    Path("pred.jsonl").write_text(json.dumps({**row, "spans": spans[:1]}))
    Path("names").write_text("Chem = Chemical\n")
    score = ("score", "gold.jsonl", "pred.jsonl", "--convention", "bc5cdr", "--json", "-")
    renamed = ("--gold-types", "names", "--pred-types", "names")
    for options, counts in (
        ((), (0, 0, 1)),
        (("--types", "Chem"), (1, 0, 0)),
        (("--types", "Chem,Disease"), (1, 0, 1)),
        (("--types", "Chemical", *renamed), (1, 0, 0)),
    ):
        status, out, _ = command(*score, *options)
        scores = json.loads(out)["systems"][0]["convention"]["scores"]["mention"]
        assert (status, tuple(scores[name] for name in ("TP", "FP", "FN"))) == (0, counts), options
    # What once renamed types is not a type.
    _, _, err = command(*score, "--types", "names")
    assert "types that count and are not in gold: 'names'; --types chooses among gold's, 'Chem', 'Disease'" in err


def test_parts_of_a_composite_mention_are_not_compared() -> None:
    # bc5cdr_eval.jar on BioC: the span of the composite mention counts, that of its part does not.
    parts = [
        bioc_annotation("0", "Disease", 0, "renal or hepatic failure", CompositeRole="CompositeMention"),
        bioc_annotation("1", "Disease", 9, "hepatic failure", CompositeRole="IndividualMention"),
    ]
    gold, pred = (
        Source.of_uploads([("x.json", json.dumps({"documents": [bioc_document("d", passage)]}).encode())])
        for passage in (
            bioc_passage(0, "renal or hepatic failure", *parts),
            bioc_passage(0, "renal or hepatic failure", bioc_annotation("1", "Disease", 9, "hepatic failure")),
        )
    )
    outcome = apply(CONVENTION, ScorerInput(gold=gold, pred=pred), {})
    assert [outcome.scores["mention"][name] for name in ("TP", "FP", "FN")] == [0, 1, 1]
    reconcile(outcome)
