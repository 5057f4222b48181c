"""The library's verbs, and loading a corpus with some of its systems broken."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

import nereval_core
from nereval_core.api.load import load_corpus
from nereval_core.api.load_options import LoadOptions
from nereval_core.corpus import Documents, layer
from nereval_core.problems import FormatError
from nereval_core.readers import Source
from nereval_core.review.standing_verdicts import Reviewed
from nereval_core.scoring.criteria import CRITERIA, choose_criteria
from nereval_core.scoring.criterion_syntax import criterion_from_parts

TEXT = "Ann saw Bob in Rome"


def jsonl(*spans: tuple[int, int, str], text: str = TEXT) -> bytes:
    rows = [{"start": start, "end": end, "label": label} for start, end, label in spans]
    return json.dumps({"id": "d", "text": text, "spans": rows}).encode()


def source(name: str, raw: bytes) -> Source:
    return Source.of_uploads([(name, raw)])


GOLD = source("gold.jsonl", jsonl((0, 3, "PER"), (15, 19, "LOC")))
GOOD = source("good.jsonl", jsonl((0, 3, "PER"), (15, 19, "ORG")))
BAD = source("bad.jsonl", jsonl((0, 99, "PER"), (9, 9, "PER")))
OTHER = source("other.jsonl", jsonl((0, 3, "PER"), text="Ann saw nobody"))


def test_the_verbs_read_score_and_write(tmp_path: Path) -> None:
    (tmp_path / "gold.jsonl").write_bytes(jsonl((0, 3, "PER"), (15, 19, "LOC")))
    (tmp_path / "pred.jsonl").write_bytes(jsonl((0, 3, "PER"), (15, 19, "ORG")))
    reading = nereval_core.read(tmp_path / "gold.jsonl")
    assert (reading.format, len(reading.layer)) == ("jsonl", 2)
    scores = nereval_core.score(tmp_path / "gold.jsonl", tmp_path / "pred.jsonl", criteria=("exact", "strict"))
    assert [criterion.name for criterion in scores.criteria] == ["exact", "strict"]
    assert [scores.counts(name).cor for name in ("exact", "strict")] == [2, 1]
    assert nereval_core.score(reading, tmp_path / "pred.jsonl").counts("strict").inc == 1
    nereval_core.write(reading, tmp_path / "copy.jsonl")
    again = nereval_core.read(tmp_path / "copy.jsonl").layer
    assert again.digest == reading.layer.digest
    # Layers read apart lie over different documents and are brought together.
    assert nereval_core.score(reading.layer, again).counts("strict").f1 == 1


def test_layers_made_in_memory_are_scored() -> None:
    documents = Documents(("d",), (TEXT,))
    gold = layer("gold", documents, [0], [0], [3], ["PER"])
    pred = layer("pred", documents, [0], [0], [7], ["PER"])
    half = criterion_from_parts("half", {"boundaries": "contain", "otherwise": "PAR"}, "test")
    scores = nereval_core.score(gold, pred, criteria=["strict", half])
    assert [scores.counts(name).cor for name in ("strict", "half")] == [0, 1]


@pytest.mark.parametrize("merge", [{"LOC": "place", "ORG": "place"}, ["LOC,ORG=place"]], ids=["mapping", "written"])
def test_merges_are_taken_in_both_forms(merge: dict[str, str] | list[str]) -> None:
    assert nereval_core.score(GOLD, GOOD, merge=merge).by_type("strict")["place"].cor == 1
    assert nereval_core.score(GOLD, GOOD, merge=merge, leave_out=["place"]).counts("strict").pos == 1


def test_an_unknown_verb_is_no_attribute() -> None:
    with pytest.raises(AttributeError, match="no attribute 'guess'"):
        nereval_core.guess  # noqa: B018


def test_a_broken_system_is_left_out_on_request() -> None:
    loaded = load_corpus(GOLD, {"good": GOOD, "bad": BAD, "other": OTHER}, partial=True)
    assert [one.name for one in loaded.corpus.systems] == ["good"]
    assert loaded.corpus.gold.documents is loaded.corpus.systems[0].documents
    assert list(loaded.systems) == list(loaded.marks) == ["good"]
    assert {name: len(problems) for name, problems in loaded.problems.items()} == {"bad": 2, "other": 1}


def test_all_problems_are_told_otherwise() -> None:
    with pytest.raises(FormatError) as caught:
        load_corpus(GOLD, {"good": GOOD, "bad": BAD, "other": OTHER})
    assert [problem.source for problem in caught.value.problems] == ["bad.jsonl", "bad.jsonl", "other.jsonl"]
    with pytest.raises(FormatError) as caught:
        load_corpus(BAD, {"good": GOOD, "bad": source("worse.jsonl", b"{")}, partial=True)
    assert [problem.source for problem in caught.value.problems] == ["bad.jsonl", "bad.jsonl", "worse.jsonl"]


def test_a_corpus_of_gold_alone_is_a_corpus() -> None:
    assert load_corpus(GOLD, {}).corpus.systems == ()


def test_what_was_assumed_is_noted_and_marked() -> None:
    options = LoadOptions(missing="empty")
    two = Source.of_uploads([("two.jsonl", jsonl((0, 3, "PER")) + b"\n" + jsonl().replace(b'"d"', b'"e"'))])
    loaded = load_corpus(two, {"good": GOOD}, name="mine", options=options)
    assert loaded.corpus.name == "mine"
    assert loaded.marks["good"] == ("missing counted empty: 1 document",)
    assert any("counted as predicted empty" in note for note in loaded.systems["good"].notes)


def test_criteria_are_chosen_once_each_in_the_order_given() -> None:
    own = criterion_from_parts("own", {}, "test")
    chosen = choose_criteria(["type", "own", CRITERIA["strict"], "type"], composed=[own])
    assert [criterion.name for criterion in chosen] == ["type", "own", "strict"]


@pytest.mark.parametrize("many", [{"leave_out": "PER"}, {"merge": "PER=ORG"}, {"criteria": "strict"}])
def test_a_single_string_is_one_of_its_kind(many: dict[str, str]) -> None:
    both = source("g.jsonl", jsonl((0, 3, "PER"), (4, 6, "ORG")))
    one = nereval_core.score(both, both, **many)
    several = nereval_core.score(both, both, **{key: [value] for key, value in many.items()})
    assert one.settings == several.settings
    assert one.counts("strict") == several.counts("strict")


@pytest.mark.parametrize("wrong", [{"counting": "both"}, {"missing": "none"}, {"token_text": "pred"}])
def test_a_choice_that_is_none_is_refused(wrong: dict[str, str]) -> None:
    both = source("g.jsonl", jsonl((0, 3, "PER")))
    with pytest.raises(FormatError, match=next(iter(wrong.values()))):
        nereval_core.score(both, both, **wrong)
    if "counting" not in wrong:
        with pytest.raises(FormatError, match=next(iter(wrong.values()))):
            nereval_core.link(both, both, **wrong)


VERBS: dict[str, Callable[..., object]] = {
    "score": nereval_core.score,
    "compare": lambda gold, pred, **given: nereval_core.compare(gold, {"one": pred}, resamples=100, **given),
    "agreement": lambda gold, pred, **given: nereval_core.agreement({"a": gold, "b": pred}, resamples=100, **given),
    "errors_of": nereval_core.errors_of,
    "slices_of": partial(nereval_core.slices_of, resamples=100),
    "consistency_of": lambda gold, pred, **given: nereval_core.consistency_of(gold, {"one": pred}, **given),
    "report_of": lambda gold, pred, **given: nereval_core.report_of(gold, {"one": pred}, **given),
    "reproduce": partial(nereval_core.reproduce, convention="nervaluate-1.2.1"),
    "link": nereval_core.link,
    "type_suggestions": nereval_core.type_suggestions,
    "apply_verdicts": lambda gold, pred, **given: nereval_core.apply_verdicts(
        gold, {"one": pred}, verdicts=Reviewed(), **given
    ),
    "scores_with_verdicts": lambda gold, pred, **given: nereval_core.scores_with_verdicts(
        gold, {"one": pred}, verdicts=Reviewed(), **given
    ),
    "adjudicate": partial(nereval_core.adjudicate, verdicts=Reviewed()),
}


@pytest.mark.parametrize("verb", VERBS)
def test_all_that_hold_sides_against_one_another_pair_them_as_asked(verb: str) -> None:
    gold = source("gold.jsonl", jsonl((0, 3, "PER"), (15, 19, "LOC")).replace(b'"label"', b'"links": ["Q1"], "label"'))
    spaced = source("spaced.jsonl", jsonl((1, 4, "PER"), (17, 21, "ORG"), text=f" {TEXT.replace(' in ', '  in ')}"))
    with pytest.raises(FormatError, match="--align-text"):
        VERBS[verb](gold, spaced)
    VERBS[verb](gold, spaced, align_text=True, missing="error", token_text="own", pair_by="order")
    with pytest.raises(FormatError, match="pair_by: there is no 'name'; use auto or text or order"):
        VERBS[verb](gold, spaced, align_text=True, pair_by="name")


def test_cores_of_brat(tmp_path: Path) -> None:
    (tmp_path / "key").mkdir()
    (tmp_path / "key" / "d.txt").write_text("human p53 gene", encoding="utf-8")
    (tmp_path / "key" / "d.ann").write_text("T1\tGene 0 14\thuman p53 gene\nT2\tCore 6 9\tp53\n", encoding="utf-8")
    gold = nereval_core.read(tmp_path / "key", core_type="Core")
    assert dict(gold.layer.cores) == {0: (6, 9)} and "spans with a core: 1 of 1" in gold.notes
    for one in (gold, tmp_path / "key"):
        given = {} if one is gold else {"core_type": "Core"}
        assert nereval_core.score(one, gold, criteria=("core", "fragment"), **given).counts("core").cor == 1
    with pytest.raises(FormatError, match="criterion core needs core terms in gold"):
        nereval_core.score(tmp_path / "key", gold, criteria="core")
    with pytest.raises(FormatError, match="is not a name"):
        nereval_core.read(tmp_path / "key", core_type="")
