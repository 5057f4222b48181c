"""Options of verbs: declared once, with the same defaults and refusals in Python and on the command line."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields
from typing import Any

import pytest

import nereval_core as nereval
from nereval_core.api.load_options import ScoringOptions
from nereval_core.api.scoring import UnusedTypesWarning
from nereval_core.api.verb_options import (
    AgreementOptions,
    CompareOptions,
    ConsistencyOptions,
    ErrorsOptions,
    LinkOptions,
    ReportOptions,
    SensitivityOptions,
    SlicesOptions,
)
from nereval_core.cli import verb_parser
from nereval_core.cli.options import parsed
from nereval_core.options import Offer
from nereval_core.problems import FormatError
from tests.support import ROOT
from tests.support.commands import Cli

FOLDER = ROOT / "demo_data" / "pharmacology"
GOLD, RULES, OTHER = (str(FOLDER / f"{name}.jsonl") for name in ("gold", "rules", "perceptron"))
OPTIONS: dict[str, type] = {
    "score": ScoringOptions,
    "compare": CompareOptions,
    "agreement": AgreementOptions,
    "slices": SlicesOptions,
    "errors": ErrorsOptions,
    "consistency": ConsistencyOptions,
    "sensitivity": SensitivityOptions,
    "link": LinkOptions,
    "report": ReportOptions,
}


def offers_of(options: type, without: frozenset[str] = frozenset()) -> Iterator[Offer]:
    for each in fields(options):
        if part := each.metadata.get("part"):
            yield from offers_of(part.options, part.without)
        elif "offer" in each.metadata and each.name not in without:
            yield each.metadata["offer"]


@pytest.mark.parametrize("verb", OPTIONS)
def test_a_verb_offers_all_its_options_and_their_defaults_are_those_of_python(verb: str) -> None:
    parser = verb_parser(verb)
    flags = [offer.flag for offer in offers_of(OPTIONS[verb])]
    assert flags and set(flags) <= set(parser._option_string_actions)
    assert parsed(OPTIONS[verb], parser.parse_args(["gold", "pred"])) == OPTIONS[verb]()


# The words of the command line, the same call of the library, and what both refuse.
REFUSED: list[tuple[tuple[str, ...], Callable[[], Any], str]] = [
    (
        ("compare", GOLD, RULES, "--measures", "f2"),
        lambda: nereval.compare(GOLD, {"rules": RULES}, measures=["f2"]),
        "--measures: no measure 'f2'",
    ),
    (
        ("compare", GOLD, RULES, "--scorers", "none"),
        lambda: nereval.compare(GOLD, {"rules": RULES}, scorers=["none"]),
        "--scorers: no published scorer 'none'",
    ),
    (
        ("compare", GOLD, RULES, "--baseline", "x"),
        lambda: nereval.compare(GOLD, {"rules": RULES}, baseline="x"),
        "--baseline: no system is called 'x'; choose among 'rules'",
    ),
    (
        ("score", GOLD, RULES, "--criteria", "strikt"),
        lambda: nereval.score(GOLD, RULES, criteria=["strikt"]),
        "--criteria: no criterion 'strikt'",
    ),
    (
        ("score", GOLD, RULES, "--merge", "Drug"),
        lambda: nereval.score(GOLD, RULES, merge=["Drug"]),
        "'Drug' is not a merge",
    ),
    (
        ("score", GOLD, RULES, "--scheme", "FOO"),
        lambda: nereval.read(GOLD, scheme="FOO"),
        "--scheme: no tag scheme is called 'FOO'; choose one of IOB2",
    ),
    (
        ("slices", GOLD, RULES, "--by", "colour"),
        lambda: nereval.slices_of(GOLD, RULES, by="colour"),
        "--by: no slices by 'colour'",
    ),
    (
        ("consistency", GOLD, "--kinds", "types,odd"),
        lambda: nereval.consistency_of(GOLD, kinds=["types", "odd"]),
        "--kinds: 'odd' is not a kind",
    ),
    (
        ("convert", GOLD, "x", "--to", "docx"),
        lambda: nereval.write(nereval.read(GOLD), "x", format="docx"),
        "--to: no writer for the format 'docx'; choose among bc2gm, ",
    ),
    (
        ("review", "apply", GOLD, RULES, "--out", "x", "--kind", "maybe"),
        lambda: nereval.apply_verdicts(GOLD, {"rules": RULES}, kinds=["maybe"]),
        "--kind: there is no 'maybe'; choose among gold",
    ),
    (
        ("link", GOLD, RULES, "--mentions", "gold", "--boundaries", "overlapping"),
        lambda: nereval.link(GOLD, RULES, mentions="gold", boundaries="overlapping"),
        "--boundaries: --mentions gold judges equal boundaries only; leave them out",
    ),
]


@pytest.mark.parametrize(("words", "call", "refusal"), REFUSED, ids=[" ".join(words[3:]) for words, _, _ in REFUSED])
def test_the_command_line_and_python_refuse_alike(
    words: tuple[str, ...], call: Callable[[], Any], refusal: str, command: Cli
) -> None:
    with pytest.raises(FormatError) as error:
        call()
    status, out, err = command(*words)
    assert (status, out) == (2, "") and refusal in str(error.value)
    assert err.splitlines()[-len(error.value.lines()) :] == error.value.lines()


@pytest.mark.parametrize("port", ["99999999", "-5", "x"])
def test_a_server_has_a_port_that_there_is(port: str, command: Cli) -> None:
    status, _, err = command("app", "--port", port)
    assert status == 2 and err == f"--port: '{port}' is not possible; write a whole number from 1 to 65,535\n"


WRONG_CALLS: tuple[tuple[Callable[[], Any], str], ...] = (
    (lambda: nereval.compare(GOLD, [RULES, OTHER]), "systems: not named; give them by name"),  # type: ignore[arg-type]
    (lambda: nereval.agreement([GOLD, RULES]), "annotators: not named; give them by name"),  # type: ignore[arg-type]
    (lambda: nereval.score(GOLD, RULES, merge={"x": ["Drug"]}), "--merge: 'x': the name is not a string"),  # type: ignore[dict-item]
    (lambda: nereval.score(GOLD, RULES, criteria=None), "--criteria: 'None' is not a list of names"),  # type: ignore[arg-type]
    (lambda: nereval.score(GOLD, RULES).counts("bogus"), "criterion: not scored under 'bogus'; name one of strict,"),
    (lambda: nereval.score(GOLD, RULES).by_type("bogus"), "criterion: not scored under 'bogus'; name one of strict,"),
    (lambda: nereval.read(GOLD, offsets="FOO"), "--offsets: 'FOO' is not a way to count"),  # type: ignore[arg-type]
)


@pytest.mark.parametrize(("call", "refusal"), WRONG_CALLS, ids=[refusal for _, refusal in WRONG_CALLS])
def test_what_python_gives_wrongly_is_refused_in_one_line(call: Callable[[], Any], refusal: str) -> None:
    with pytest.raises(FormatError, match=refusal):
        call()


def test_all_criteria_that_gold_allows_are_scored_in_python_too() -> None:
    names = [criterion.name for criterion in nereval.score(GOLD, RULES, criteria="all").criteria]
    assert "strict" in names and "lenient" in names and "core" not in names


def test_python_warns_of_merges_and_types_that_no_span_has() -> None:
    with pytest.warns(UnusedTypesWarning, match="--merge: no span has the type 'Drog'"):
        nereval.score(GOLD, RULES, merge={"Drog": "Drug"})
    with pytest.warns(UnusedTypesWarning, match="--leave-out: no span has the type 'Drog'"):
        nereval.errors_of(GOLD, RULES, leave_out=["Drog"])
