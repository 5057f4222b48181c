"""The methods paragraph says what was done with the options given, and nothing that was not."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import nereval_core as nereval
from nereval_core import __version__
from nereval_core.analysis.methods import FORMS, Methods
from nereval_core.cli import main
from nereval_core.report.references import works
from tests.report.test_references import parsed
from tests.support import ROOT

DEMO = ROOT / "demo_data" / "pharmacology"
GOLD, RULES, PERCEPTRON, ONE, TWO = (
    str(DEMO / f"{name}.jsonl") for name in ("gold", "rules", "perceptron", "annotator-1", "annotator-2")
)
SYSTEMS = {"rules": RULES, "perceptron": PERCEPTRON}
ALL = ["strict", "exact", "partial", "type"]


def compared(systems: Mapping[str, Any] = SYSTEMS, **options: Any) -> Methods:
    return nereval.methods(nereval.compare(GOLD, systems, **{"resamples": 100, "criteria": ["strict"]} | options))


def test_a_comparison_names_data_criterion_plan_and_test() -> None:
    said = compared(seed=7, resamples=150).paragraph
    assert said.startswith(
        "The systems rules and perceptron were scored against 157 gold spans in 20 documents "
        f"with nereval {__version__}."
    )
    assert "under strict where the boundaries are equal and the types are equal (Segura-Bedmar et al. 2013)" in said
    assert "The 95% intervals of scores and differences are" in said
    assert "from 150 resamples of 20 documents (seed 7)" in said
    assert "from rules were tested, two-sided, by approximate randomization (Noreen 1989) with 150 random" in said
    assert (
        f"Signatures: nereval {__version__} | criterion strict |" in said
        and "seed 7" in said.partition("Signatures")[2]
    )


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"criteria": ALL}, ["They were also corrected over all tests (4 tests", "Benjamini and Hochberg 1995"]),
        ({"by_type": True}, ["They were also corrected over all tests (4 tests", "3 types and all together"]),
        ({"systems": SYSTEMS | {"c": ONE}}, ["over the 2 systems by Holm's method", "correction over the 3 pairs"]),
        (
            {"systems": SYSTEMS | {"c": ONE}, "runs": {"two": ["rules", "perceptron"]}},
            [
                "averaged over the runs of two (2 runs) and c (1 run)",
                "Dorfman et al. 1992",
                "Differences in mean F1 from two were tested, two-sided, by Student's t",
                "Of c there is a single run",
            ],
        ),
        ({"margin": 0.02}, ["as good as rules, within 0.02 of F1", "Schuirmann 1987"]),
        (
            {"measures": ["macro-f1", "recall"]},
            ["Intervals of macro-f1 and recall", "A macro average is the mean over the types"],
        ),
        (
            {"scorers": ["n2c2-2018"]},
            ["The figures of n2c2-2018/strict are those of the published", "Henry et al. 2020"],
        ),
        ({"baseline": "perceptron"}, ["Differences in F1 from perceptron"]),
        ({"merge": ["PROTEINAS=X"]}, ["Types were merged before scoring: PROTEINAS=X."]),
        ({"leave_out": ["UNCLEAR"]}, ["Spans of the type UNCLEAR were left out."]),
        ({"counting": "each-side"}, ["without a one-to-one alignment"]),
        ({"criteria": ["partial"]}, ["(any other aligned pair counts half)"]),
        ({"criteria": ["muc"]}, ["(an aligned pair that differs in boundaries alone counts half) (Chinchor and"]),
        ({"criteria": ["fragment"]}, ["tokens are counted in place of spans", "gold tokens in 20", "Tsai et al. 2006"]),
        ({"resample_by": "language"}, ["resamples of 3 groups of documents with the same language"]),
        ({"resample_by": "document within language"}, ["drawn within the 3 values of language (Davison and Hinkley"]),
    ],
)
def test_what_an_option_does_is_said_only_where_it_is_given(options: dict[str, Any], words: list[str]) -> None:
    plain, said = compared().paragraph, compared(**options).paragraph
    assert [word for word in words if word not in said] == []
    assert [word for word in words if word in plain] == []


def test_a_single_system_has_no_test_and_one_document_no_interval() -> None:
    alone = compared({"rules": RULES}).paragraph
    assert "The 95% intervals of scores are" in alone and "tested" not in alone and "Holm" not in alone
    gold, one, other = [[(0, 2, "X"), (3, 4, "X")]], [[(0, 2, "X")]], [[(0, 2, "X"), (5, 6, "X")]]
    lone = nereval.methods(nereval.compare(gold, {"a": one, "b": other}, resamples=100)).paragraph
    assert "interval" not in lone.partition("Signature")[0] and "tested" not in lone


def test_a_criterion_of_a_users_own_is_described_and_not_cited() -> None:
    own = nereval.score(GOLD, RULES, criteria=["strict"]).settings.criteria[0]
    loose = type(own)(name="strict", boundaries="overlap", same_type=False, merge=(("PROTEINAS", "X"),))
    found = nereval.methods(nereval.score(GOLD, RULES, criteria=[loose]))
    assert "under strict where the two share a character, whatever the types, types merged: PROTEINAS=X." in (
        found.paragraph
    )
    assert found.keys == ()
    assert found.as_text() == f"{found.paragraph}\n"


@pytest.mark.parametrize("convention", ["nervaluate-1.2.1", "spacy-spans"])
def test_a_published_scorer_is_named_with_its_source(convention: str) -> None:
    gold = [[{"start": 0, "end": 7, "label": "Drug"}], []]
    found = nereval.methods(nereval.reproduce(gold, gold, convention=convention))
    assert f"1 gold span in 2 documents with nereval {__version__} as the scorer {convention} does" in found.paragraph
    assert found.keys == (("segura-bedmar2013",) if "nervaluate" in convention else ())
    assert found.paragraph.count("Segura-Bedmar") == len(found.keys)


def agreed(annotators: Mapping[str, Any], **options: Any) -> Methods:
    return nereval.methods(nereval.agreement(annotators, **{"resamples": 100} | options), marks=["b: aligned texts"])


def test_an_agreement_names_its_coefficients() -> None:
    two = agreed({"a": ONE, "b": TWO})
    said = two.paragraph
    assert said.startswith(
        f"The annotations of a (149 spans) and b (130 spans) were compared with nereval {__version__}, on 20"
    )
    assert "Cohen's kappa for two annotators (Cohen 1960) and Krippendorff's alpha" in said and "Fleiss" not in said
    assert {"hripcsak2005", "krippendorff2011", "krippendorff2004"} <= set(two.keys)
    assert "held against" not in said and two.signatures[0].endswith("b: aligned texts")
    three = agreed({"a": ONE, "b": TWO, "c": GOLD}, systems={"r": RULES, "p": PERCEPTRON})
    assert "Fleiss' kappa for all (Fleiss 1971)" in three.paragraph
    assert "The systems r and p were held against the annotators" in three.paragraph
    assert "corrected over the 2 systems by Holm's method (Holm 1979)" in three.paragraph
    pairwise = agreed({"a": ONE, "b": TWO, "c": GOLD}, documents="pairwise").paragraph
    for paragraph in (said, three.paragraph, pairwise):
        assert "In each document spans of two annotators are aligned one to one" in paragraph
        assert "gold span" not in paragraph and "prediction" not in paragraph
    assert "each pair on the documents that both annotated (20)" in pairwise and "missing values" in pairwise
    assert "resamples of the documents of each pair" in pairwise and "Fleiss" not in pairwise


def sliced(pred: Any = RULES, gold: Any = GOLD, **options: Any) -> Methods:
    return nereval.methods(nereval.slices_of(gold, pred, **{"resamples": 100} | options))


def test_slices_name_the_slicings_and_their_intervals() -> None:
    said = sliced(by="length").paragraph
    assert "Scores were broken down by span length in characters: recall" in said
    assert "The 95% intervals of slices are" in said and "Wilson's intervals (Wilson 1927)" in said
    assert "combination" not in said and "calibration" not in said
    assert "Each slice was tested against" not in said
    assert "slices of 1 slicing against the rest" in sliced(by="length", tests=True).paragraph
    worst = sliced(by=["length", "worst"]).paragraph
    assert re.search(r"corrected over \d+ combinations by Holm's method", worst)


@pytest.mark.parametrize(("share", "cited"), [(0.01, True), (7, False)])
def test_calibration_is_cited_where_scores_are_probabilities(share: float, cited: bool) -> None:
    gold = [[{"start": 2 * n, "end": 2 * n + 1, "label": "X"} for n in range(5)] for _ in range(12)]
    pred = [[span | {"score": share * (n + 1)} for n, span in enumerate(row[:4])] for row in gold]
    found = sliced(pred, gold, by="score")
    assert {"naeini2015", "brier1950", "nguyen2015"} <= set(found.keys) if cited else "naeini2015" not in found.keys
    assert "geifman2019" in found.keys and "Wilson" not in found.paragraph


def test_hostile_names_are_text_in_latex_and_markdown() -> None:
    name = "50%_a&b \\input{x}~^#$|<i>[1](u)\n`*"
    found = compared({name: RULES, "b": PERCEPTRON})
    latex = found.as_latex()
    assert r"50\%\_a\&b \textbackslash{}input\{x\}\textasciitilde{}\textasciicircum{}\#\$\textbar{}" in latex
    assert r"\textless{}i\textgreater{}[1](u)\textbackslash{}n`*" in latex
    markdown = found.as_markdown()
    assert r"50%\_a&amp;b \\input{x}\~^\#$\|&lt;i>\[1\](u)\\n\`\*" in markdown


def test_every_key_cited_is_an_entry_and_a_reference() -> None:
    found = compared(margin=0.02, measures=["f1"], by_type=True)
    assert set(found.keys) <= set(works())
    assert set(parsed(found.bibtex)) == set(found.keys)
    cited = {key for keys in re.findall(r"~\\cite\{(.*?)\}", found.as_latex()) for key in keys.split(",")}
    assert cited == set(found.keys)
    for text in (found.as_text(), found.as_markdown()):
        assert len(re.findall(r"^(?:- )?[A-Z][^|\n]* \(\d{4}\)\. ", text, re.MULTILINE)) == len(found.keys)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "words",
    [
        ["score", GOLD, RULES],
        ["score", GOLD, RULES, "--convention", "nervaluate-1.2.1"],
        ["compare", GOLD, RULES, PERCEPTRON, "--resamples", "100"],
        ["agreement", ONE, TWO, "--resamples", "100"],
        ["slices", GOLD, RULES, "--by", "length", "--resamples", "100"],
    ],
    ids=lambda words: " ".join(word for word in words if not word.startswith("/")),
)
def test_the_command_line_writes_each_form(words: list[str], form: str, tmp_path: Path) -> None:
    place = tmp_path / f"methods{form}"
    assert main([*words, "-q", "--methods", str(place)]) == 0
    text = place.read_text(encoding="utf-8")
    assert parsed(text) if form == ".bib" else f"nereval {__version__}" in text


def test_other_endings_and_other_results_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["score", GOLD, RULES, "--methods", "m.docx"]) == 2
    assert "--methods 'm.docx', end the name in one of .md, .txt, .tex, .bib" in capsys.readouterr().err
    with pytest.raises(TypeError, match="give such a result"):
        nereval.methods({})
