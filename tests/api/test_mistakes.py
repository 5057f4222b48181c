"""Mistakes of people who call the library: each is refused or told in one line that names what they wrote."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import nereval_core as nereval
from nereval_core.problems import FormatError
from tests.support import ROOT

DEMO = ROOT / "demo_data" / "biology"
GOLD, RULES, PERCEPTRON = (str(DEMO / f"{name}.jsonl") for name in ("gold", "rules", "perceptron"))
LINKED = '{"id": "d", "text": "Rome", "spans": [{"start": 0, "end": 4, "label": "LOC", "links": ["Q220"]}]}\n'


def compared(**options: Any) -> object:
    return nereval.compare(GOLD, {"rules": RULES, "perceptron": PERCEPTRON}, resamples=100, **options)


REFUSED: dict[str, tuple[Callable[[], object], str]] = {
    "a tag scheme of gold": (lambda: nereval.score(GOLD, RULES, gold_scheme="XX"), "--gold-scheme: no tag scheme is"),
    "a tag scheme of predictions": (lambda: nereval.score(GOLD, RULES, pred_scheme="X"), "--pred-scheme: no tag"),
    "a tag scheme of either": (lambda: nereval.read(GOLD, scheme="X"), "--scheme: no tag scheme is called 'X'"),
    "gold's scheme beside a prediction": (lambda: nereval.read(RULES, gold_scheme="X"), "--gold-scheme: no tag"),
    "gold without links": (lambda: nereval.link(GOLD, RULES), f"{GOLD}: no span has a link; give gold with links"),
    "gold without ids": (lambda: nereval.index(GOLD, RULES), "gold: no document has an id; give gold with ids"),
    "forms below 0": (lambda: nereval.errors_of(GOLD, RULES).forms(-1), "--forms: '-1' is not possible"),
    "no forms": (lambda: nereval.errors_of(GOLD, RULES).forms(0), "--forms: '0' is not possible; write a whole"),
    "a single run": (lambda: compared(runs={"a": ["rules"]}), "runs: 'a': one run, and means need two or more"),
    "the same run twice": (lambda: compared(runs={"a": ["rules"] * 2}), "'rules': a run twice"),
}


@pytest.mark.parametrize("mistake", REFUSED)
def test_a_mistake_is_refused(mistake: str) -> None:
    call, message = REFUSED[mistake]
    with pytest.raises(FormatError) as error:
        call()
    assert message in str(error.value)


def test_runs_of_one_system_beside_one_without() -> None:
    systems = {"rules": RULES, "a-1": PERCEPTRON, "a-2": PERCEPTRON}
    comparison = nereval.compare(GOLD, systems, runs={"a": ["a-1", "a-2"], "r": ["rules"]}, resamples=100)
    assert comparison.runs is not None and set(comparison.runs.systems) == {"a", "r"}


@pytest.mark.parametrize(
    ("verb", "arguments", "near"),
    [
        ("score", (GOLD, RULES), "criteria"),
        ("errors_of", (GOLD, RULES), "criteria"),
        ("slices_of", (GOLD, RULES), "criterion"),
        ("link", (GOLD, RULES), "mentions"),
        ("compare", (GOLD, {"r": RULES}), "criteria"),
        ("report_of", (GOLD, {"r": RULES}), "criteria"),
        ("agreement", ({"a": GOLD, "b": RULES},), "criteria"),
        ("consistency_of", (GOLD, {"r": RULES}), "format"),
        ("type_suggestions", (GOLD, RULES), "format"),
    ],
)
def test_an_unknown_keyword_is_refused_in_the_name_of_the_verb(
    verb: str, arguments: tuple[object, ...], near: str
) -> None:
    with pytest.raises(TypeError) as error:
        getattr(nereval, verb)(*arguments, **{f"{near}s": 1})
    said = f"{verb}() got an unexpected keyword argument '{near}s'; did you mean "
    assert str(error.value).startswith(said), error.value


def test_pairwise_agreement_and_published_scorers_refuse_it_too() -> None:
    with pytest.raises(TypeError, match=r"agreement\(\) got an unexpected keyword argument 'misssing'; did you mean"):
        nereval.agreement({"a": GOLD, "b": RULES}, documents="pairwise", misssing="empty")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"reproduce\(\) got an unexpected keyword argument 'nope'\Z"):
        nereval.reproduce(GOLD, RULES, convention="nervaluate-1.2.1", nope=1)  # type: ignore[call-arg]


def test_names_of_types_that_no_span_has_are_noted() -> None:
    assert nereval.read(GOLD, types={"NOPE": "x"}).notes == ("types: no span has the type 'NOPE'",)
    notes = nereval.read(GOLD, types={"DNA": "acid", "NOPE": "x", "RNAs": "y"}).notes
    assert notes == ("types mapped: DNA=acid;NOPE=x;RNAs=y", "types: no span has the type 'NOPE', 'RNAs'")
    assert not nereval.read(GOLD).notes


def test_predictions_without_links_are_warned_of(tmp_path: Path) -> None:
    (tmp_path / "gold.jsonl").write_text(LINKED)
    (tmp_path / "pred.jsonl").write_text(LINKED.replace(', "links": ["Q220"]', ""))
    with pytest.warns(UserWarning, match="no span has a link, so every gold mention counts as missing"):
        scores = nereval.link(tmp_path / "gold.jsonl", tmp_path / "pred.jsonl")
    assert (scores.counts.gold, scores.counts.right) == (1, 0)


def test_an_index_without_ids_is_scored_against_gold_with_ids(tmp_path: Path) -> None:
    (tmp_path / "gold.jsonl").write_text(LINKED)
    (tmp_path / "pred.jsonl").write_text(LINKED.replace(', "links": ["Q220"]', ""))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert nereval.index(tmp_path / "gold.jsonl", tmp_path / "pred.jsonl").counts.f1 == 0


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ('{"id": "a', "Unterminated string"),
        ('{"id": "a\tb"}', "Invalid control character"),
        ('{"id": 1', "Expecting ',' delimiter"),
        ("{id: 1}", "Expecting property name enclosed in double quotes"),
    ],
)
def test_messages_on_broken_json_are_whole_sentences(tmp_path: Path, line: str, fault: str) -> None:
    (tmp_path / "bad.jsonl").write_text(line + "\n")
    with pytest.raises(FormatError) as error:
        nereval.read(tmp_path / "bad.jsonl", format="jsonl")
    assert f"of the line: {fault}; write it as JSON objects" in str(error.value)
