"""Every result of the library shows itself in ten lines at most, whatever the size of the corpus."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

import nereval_core as nereval
from tests.api.test_library import jsonl, source
from tests.support import ROOT

LINES, CHARACTERS = 10, 1_500
DEMO = ROOT / "demo_data" / "newspapers"
GOLD, RULES, PERCEPTRON = (str(DEMO / f"{layer}.jsonl") for layer in ("gold", "rules", "perceptron"))
LINKED = source("linked.jsonl", jsonl((0, 3, "PER")).replace(b'"label"', b'"links": ["Q1"], "label"'))
TAGS = [["B-PER", "O", "B-LOC"]] * 300
RESULTS: Mapping[str, Callable[[], Any]] = {
    "agreement": lambda: nereval.agreement({"a": RULES, "b": PERCEPTRON}),
    "compare": lambda: nereval.compare(GOLD, {"a": RULES, "b": PERCEPTRON}, resamples=100),
    "consistency_of": lambda: nereval.consistency_of(GOLD, others={"a": RULES, "b": PERCEPTRON}),
    "errors_of": lambda: nereval.errors_of(GOLD, RULES),
    "index": lambda: nereval.index(LINKED, LINKED),
    "link": lambda: nereval.link(LINKED, LINKED),
    "methods": lambda: nereval.methods(nereval.score(GOLD, RULES)),
    "read": lambda: nereval.read(GOLD),
    "read_objects": lambda: nereval.read_objects(TAGS),
    "report_of": lambda: nereval.report_of(GOLD, {"a": RULES}),
    "score": lambda: nereval.score(GOLD, RULES),
    "slices_of": lambda: nereval.slices_of(GOLD, RULES),
    "slice_changes": lambda: nereval.slice_changes(
        {system: nereval.slices_of(GOLD, system) for system in (RULES, PERCEPTRON)}
    ),
    "type_suggestions": lambda: nereval.type_suggestions(GOLD, RULES),
}
SHOWN_ELSEWHERE = {
    "__version__": "a string",
    "adjudicate": "needs a store of verdicts; a Corpus of layers, as below",
    "app": "needs a server: tests/api/test_app.py",
    "apply_verdicts": "needs a store of verdicts; a Reading, as `read`",
    "mapped": "a Reading, as `read`",
    "restricted": "a Reading, as `read`",
    "replicability": "a data frame",
    "reproduce": "a published scorer's own result",
    "scores_with_verdicts": "Scores, as `score`",
    "show": "a document, which is its text",
    "to_dict": "a dict, as JSON has it",
    "write": "nothing",
}


def test_every_verb_of_the_library_is_classified() -> None:
    assert RESULTS.keys() | SHOWN_ELSEWHERE.keys() == set(nereval.__all__)


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_shows_itself_in_few_lines(name: str) -> None:
    shown = repr(RESULTS[name]())
    assert 0 < len(shown.splitlines()) <= LINES and len(shown) <= CHARACTERS, shown


def test_a_reading_names_its_size_and_format() -> None:
    reading = nereval.read(GOLD)
    assert repr(reading) == "<20 documents, 143 spans, 5 types, jsonl, 0 notes>"
    assert repr(reading.documents) == f"<20 documents, {sum(map(len, reading.documents.texts)):,} characters>"
    assert repr(reading.layer) == f"<layer {reading.layer.name!r}: 143 spans of 5 types in {reading.documents!r}>"
