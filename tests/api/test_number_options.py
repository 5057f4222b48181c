"""Numeric options: a value that is not possible is refused in Python and on the command line, with what is allowed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import nereval_core as nereval
from nereval_core.analysis.criteria.sensitivity import document_folds
from nereval_core.analysis.resampling_units import ResamplingPlan
from nereval_core.api.load_options import LoadOptions
from nereval_core.options import NumberOption
from nereval_core.problems import FormatError
from tests.support import ROOT
from tests.support.commands import Cli

FOLDER = ROOT / "demo_data" / "pharmacology"
GOLD, RULES, OTHER = (str(FOLDER / f"{name}.jsonl") for name in ("gold", "rules", "perceptron"))
BOTH = {"rules": RULES, "perceptron": OTHER}
VERBS: dict[str, Callable[..., Any]] = {
    "compare": lambda **options: nereval.compare(GOLD, BOTH, **options),
    "agreement": lambda **options: nereval.agreement(BOTH, **options),
    "slices_of": lambda **options: nereval.slices_of(GOLD, RULES, **options),
    "replicability": lambda **options: nereval.replicability({}, **options),
    "link": lambda **options: nereval.link(GOLD, RULES, **options),
    "report_of": lambda **options: nereval.report_of(GOLD, BOTH, **options),
    "read": lambda **options: nereval.read(GOLD, **options),
    "LoadOptions": LoadOptions,
    "ResamplingPlan": ResamplingPlan,
    "document_folds": lambda **options: document_folds(20, **options),
}
RESAMPLING = (
    ("resamples", 0),
    ("resamples", 99),
    ("resamples", 10**7),
    ("resamples", 100.0),
    ("seed", -1),
    ("seed", "1"),
)
REFUSED = [
    *((verb, *pair) for verb in ("compare", "agreement", "slices_of", "ResamplingPlan") for pair in RESAMPLING),
    *(("compare", "margin", value) for value in (5.0, 0, 1, -0.1, float("nan"), "0.01", True)),
    *((verb, "level", value) for verb in ("replicability", "ResamplingPlan") for value in (0, 1, 95, float("nan"))),
    ("document_folds", "folds", 1),
    ("document_folds", "folds", 2.5),
    ("document_folds", "seed", -1),
    ("link", "n", 0),
    ("link", "n", 1.5),
    ("report_of", "records", -1),
    ("report_of", "records", 10**6),
    ("read", "edits", 2.0),
    ("LoadOptions", "edits", -0.1),
]


@pytest.mark.parametrize(("verb", "option", "value"), REFUSED)
def test_a_number_that_is_not_possible_is_refused_in_python(verb: str, option: str, value: object) -> None:
    with pytest.raises(FormatError) as refusal:
        VERBS[verb](**{option: value})
    (problem,) = refusal.value.problems
    assert problem.source.removeprefix("--") == option and problem.found == f"'{value}' is not possible"
    assert problem.remedy.startswith(("write a number ", "write a whole number from "))


COMMANDS = [
    *(
        (command, option)
        for command in (("compare", GOLD, RULES, OTHER), ("agreement", RULES, OTHER), ("slices", GOLD, RULES))
        for option in ("--resamples=99", "--resamples=1000001", "--seed=-1")
    ),
    *((("compare", GOLD, RULES, OTHER), option) for option in ("--margin=5", "--margin=0", "--margin=nan")),
    (("sensitivity", GOLD, RULES, "--stand-in", "strict"), "--folds=1"),
    (("sensitivity", GOLD, RULES, "--stand-in", "strict"), "--seed=-1"),
    (("consistency", GOLD), "--top=0"),
    (("report", GOLD, RULES, "--out", "-"), "--records=10001"),
    (("score", GOLD, RULES), "--edits=2"),
    (("score", GOLD, RULES), "--edits=x"),
]


@pytest.mark.parametrize(("arguments", "option"), COMMANDS)
def test_the_command_line_refuses_the_same(arguments: tuple[str, ...], option: str, command: Cli) -> None:
    status, out, err = command(*arguments, option)
    flag, _, value = option.partition("=")
    assert (status, out) == (2, "") and f"{flag}: '{value}" in err and " is not possible; write a" in err


def test_margins_are_not_tested_over_runs() -> None:
    with pytest.raises(FormatError, match=r"margin: 0\.1 is not tested over several runs; leave it out"):
        nereval.compare(GOLD, BOTH, margin=0.1, runs={"a": list(BOTH)})


@pytest.mark.parametrize("value", [100, 1_000_000, np.int32(500)])
def test_the_numbers_of_the_bounds_are_possible(value: int) -> None:
    assert ResamplingPlan(resamples=value, seed=10**400, level=0.5).resamples == value


def test_what_is_allowed_in_words() -> None:
    assert NumberOption(flag="--n", least=1).allowed == "a whole number from 1"
    assert NumberOption(flag="--n", most=2_000).allowed == "a whole number from 0 to 2,000"
    assert NumberOption(flag="--n", whole=False, most=1, open=True).allowed == "a number above 0 and below 1"


def test_help_of_compare_has_the_words_that_people_look_for(command: Cli) -> None:
    text = " ".join(command("compare", "--help")[1].split())
    assert "equivalence" in text and "power of 80%" in text
