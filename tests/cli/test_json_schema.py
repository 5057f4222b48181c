"""What each verb writes as JSON is of the shape that docs/results.schema.json describes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import nereval_core as nereval
from nereval_core.cli import VERBS, verb_parser
from tests.support import ROOT
from tests.support.commands import Cli

SCHEMA = json.loads((ROOT / "docs" / "results.schema.json").read_text())
DEMO = ROOT / "demo_data" / "pharmacology"
GOLD, RULES, PERCEPTRON, ONE, TWO = (
    str(DEMO / f"{name}.jsonl") for name in ("gold", "rules", "perceptron", "annotator-1", "annotator-2")
)
FEW = ["--resamples", "100"]
OUTPUTS: list[tuple[str, list[str]]] = [
    ("score", ["score", GOLD, RULES, PERCEPTRON]),
    ("score", ["score", GOLD, RULES, "--by", "document", "--criteria", "all"]),
    ("score", ["score", GOLD, RULES, "--by", "document", "--counting", "each-side"]),
    ("score", ["score", GOLD, RULES, "--by", "confusion,type"]),
    ("score --convention", ["score", GOLD, RULES, "--convention", "nervaluate-1.2.1"]),
    ("compare", ["compare", GOLD, RULES, PERCEPTRON, *FEW]),
    ("compare", ["compare", GOLD, RULES, PERCEPTRON, ONE, *FEW, "--by", "type"]),
    ("compare", ["compare", GOLD, f"people={ONE},{TWO}", RULES, *FEW]),
    ("agreement", ["agreement", ONE, TWO, *FEW]),
    ("agreement", ["agreement", ONE, TWO, GOLD, *FEW, "--by", "document"]),
    ("agreement", ["agreement", ONE, TWO, "--system", RULES, "--system", f"p={PERCEPTRON}", *FEW]),
    ("agreement", ["agreement", ONE, TWO, "--system", RULES, "--documents", "pairwise", *FEW]),
    ("errors", ["errors", GOLD, RULES, PERCEPTRON]),
    ("errors", ["errors", GOLD, RULES, "--forms"]),
    ("slices", ["slices", GOLD, RULES, *FEW, "--by", "length,seen", "--training", GOLD]),
    ("slices", ["slices", GOLD, RULES, PERCEPTRON, *FEW, "--by", "length,worst", "--tests"]),
    ("sensitivity", ["sensitivity", GOLD, RULES, PERCEPTRON]),
    ("sensitivity --curve", ["sensitivity", GOLD, RULES, "--curve", "union"]),
    ("consistency", ["consistency", GOLD, RULES, PERCEPTRON]),
    ("link", ["link", GOLD, RULES]),
    ("index", ["index", GOLD, RULES]),
    ("doctor", ["doctor"]),
    ("review list", ["review", "list"]),
    ("review what-if", ["review", "what-if", GOLD, RULES]),
]


def validator(verb: str) -> Any:
    return Draft202012Validator({**SCHEMA, "$ref": f"#/$defs/{verb}"})


@pytest.mark.parametrize(("verb", "words"), OUTPUTS)
def test_outputs_are_of_their_shape(verb: str, words: list[str], command: Cli) -> None:
    quiet = [] if words in (["doctor"], ["review", "list"]) else ["-q"]
    status, _, err = command(*words, *quiet, "--json", "out.json")
    assert status == 0, err
    found = json.loads(Path("out.json").read_text())
    problems = [
        f"{'/'.join(map(str, one.absolute_path))}: {one.message[:200]}" for one in validator(verb).iter_errors(found)
    ]
    assert problems == []
    # Another version of the shape, or a key that is not known, is seen.
    assert not validator(verb).is_valid({**found, "schema": 2}) and not validator(verb).is_valid({**found, "more": 1})


def test_the_library_makes_the_same_object(command: Cli) -> None:
    assert command("score", GOLD, RULES, "-q", "--by", "document", "--json", "out.json")[0] == 0
    told = nereval.to_dict(nereval.score(GOLD, RULES), documents=True)
    written = json.loads(Path("out.json").read_text())
    # Layers are called by their files there.
    told["systems"][0]["name"] = written["systems"][0]["name"]
    assert json.loads(json.dumps(told)) == written


def test_every_verb_that_writes_json_has_a_shape() -> None:
    writing = {verb for verb in VERBS if "--json" in verb_parser(verb)._option_string_actions}
    assert writing == {verb.partition(" --")[0] for verb, _ in OUTPUTS}
    Draft202012Validator.check_schema(SCHEMA)
