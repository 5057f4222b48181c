"""Hold scores against minima and against earlier scores: which of them a system fails, in words.

Scores are the object that `nereval score --json` writes (`report.json_results`), of now and of an earlier run alike, so
that one rule finds a figure in both.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nereval_core.pairing import IDENTICAL
from nereval_core.problems import FormatError, Problem, one_line, quoted

MEASURES = ("precision", "recall", "f1")
EVERY_F1 = None
"""The figure of a greatest drop that stands for the F1 of every criterion."""
SLACK = 1e-9
"""What two figures may differ by rounding: 0.80 - 0.79 is more than 0.01 in binary."""
FORM = "write CRITERION.MEASURE=NUMBER or CRITERION.MEASURE@TYPE=NUMBER, as strict.f1=0.8 or type.recall@PER=0.9"
UNCOMPARED = ("nereval ", "pred sha256:", "gold sha256:", "documents ")
"""Parts of a signature in which two comparable scores may differ: the program's version and the data."""


@dataclass(frozen=True, slots=True)
class CheckedFigure:
    """A published figure: a measure under a criterion, of all spans or of one type."""

    criterion: str
    measure: str
    type: str | None = None

    def __str__(self) -> str:
        return f"{self.criterion}.{self.measure}" + ("" if self.type is None else f"@{self.type}")

    def value(self, criteria: Mapping[str, Any]) -> float | None:
        """Return the figure in a system's `criteria`, None where it is undefined or nobody has the type."""
        scores = criteria[self.criterion]
        value: float | None = (scores if self.type is None else scores["types"].get(self.type, {})).get(self.measure)
        return value


@dataclass(frozen=True, slots=True)
class Bound:
    """What is asked of a figure: a least value, or a greatest drop (of EVERY_F1 for the F1 of every criterion)."""

    figure: CheckedFigure | None
    number: float


@dataclass(frozen=True, slots=True)
class Check:
    """One bound held against one system; `failure` is a line that says why it does not hold, "" where it does."""

    system: str
    name: str
    failure: str


def parse_bounds(texts: Sequence[str], option: str, *, bare: bool = False) -> list[Bound]:
    """Read bounds written `strict.f1=0.8` or `type.recall@PER=0.9`; with `bare` a number alone is of every F1.

    Raises:
        FormatError: with all that are written otherwise; a measure not in MEASURES; a number outside 0 to 1.
    """
    bounds: list[Bound] = []
    problems: list[Problem] = []
    remedy = f"{FORM}, or a number for the F1 of every criterion" if bare else FORM
    for text in texts:
        head, equals, tail = text.rpartition("=")
        name, at, kind = head.partition("@")
        criterion, _, measure = name.rpartition(".")
        try:
            number = float(tail)
        except ValueError:
            number = math.nan
        if math.isnan(number) or not (bare if not equals else criterion and measure and (kind or not at)):
            problems.append(Problem(option, None, f"{quoted(text)} is not a bound", remedy))
        elif not 0 <= number <= 1:
            problems.append(Problem(option, None, f"{quoted(text)} asks for {tail}", "give a number from 0 to 1"))
        elif equals and measure not in MEASURES:
            choice = f"choose among {', '.join(MEASURES)}"
            problems.append(Problem(option, None, f"{quoted(text)}: no measure {quoted(measure)}", choice))
        else:
            bounds.append(Bound(CheckedFigure(criterion, measure, kind or None) if equals else EVERY_F1, number))
    if problems:
        raise FormatError(problems)
    return bounds


def check_types(bounds: Sequence[Bound], types: Sequence[str], option: str) -> None:
    """Refuse bounds of types that neither gold nor a system has (`types`, as they are scored): typing errors.

    Raises:
        FormatError: with all of them.
    """
    unknown = [bound.figure for bound in bounds if bound.figure and bound.figure.type not in (None, *types)]
    remedy = f"choose among {', '.join(types)}" if types else "score spans, there are none"
    if unknown:
        raise FormatError(
            Problem(option, None, f"{figure}: no span has the type {quoted(figure.type or '')}", remedy)
            for figure in unknown
        )


def check_identity(systems: Sequence[Mapping[str, Any]]) -> Iterator[Check]:
    """Yield a failed check for each system whose content is gold's: its scores say nothing."""
    for system in systems:
        if system["identical"]:
            sentence = f"identical to gold {IDENTICAL}, or allow it: --allow-identical"
            yield Check(system["name"], "identical to gold", f"{one_line(system['name'])}: {sentence}")


def check_minima(systems: Sequence[Mapping[str, Any]], bounds: Sequence[Bound]) -> Iterator[Check]:
    """Hold each system against each least value."""
    for system in systems:
        for bound in bounds:
            assert bound.figure is not None
            value = bound.figure.value(system["criteria"])
            failure = ""
            if value is None:
                failure = f"is undefined (0/0), at least {bound.number:g} is asked"
            elif value < bound.number - SLACK:
                failure = f"is {in_digits(value, bound.number)}, at least {bound.number:g} is asked"
            yield _check(system["name"], bound.figure, f">= {bound.number:g}", failure)


def check_drops(
    systems: Sequence[Mapping[str, Any]], earlier: Mapping[str, Mapping[str, Any]], bounds: Sequence[Bound]
) -> Iterator[Check]:
    """Hold each system against its `earlier` scores, by its name; a figure that was undefined then has no bound."""
    for system in systems:
        then = earlier[system["name"]]["criteria"]
        for bound in bounds:
            all_criteria = [CheckedFigure(name, "f1") for name in then if name in system["criteria"]]
            for figure in all_criteria if bound.figure is EVERY_F1 else [bound.figure]:
                before, now = figure.value(then), figure.value(system["criteria"])
                if before is None:
                    continue
                failure = ""
                if now is None:
                    failure = f"is undefined (0/0), it was {in_digits(before)}"
                elif before - now > bound.number + SLACK:
                    drop = in_digits(before - now, bound.number)
                    failure = f"fell by {drop} from {in_digits(before)} to {in_digits(now)}, at most {bound.number:g}"
                    failure += " is allowed"
                yield _check(system["name"], figure, f"drop <= {bound.number:g}", failure)


def _check(system: str, figure: CheckedFigure, bound: str, failure: str) -> Check:
    line = one_line(f"{system}: {figure} {failure}") if failure else ""
    return Check(system, f"{figure} {bound}", line)


def in_digits(value: float, bound: float | None = None) -> str:
    """Return a figure with four digits, or as many more as it takes to tell it from the bound that it fails."""
    return next(text for digits in range(4, 18) if digits == 17 or float(text := f"{value:.{digits}f}") != bound)


def earlier_systems(
    earlier: object, systems: Sequence[Mapping[str, Any]], bounds: Sequence[Bound], source: str
) -> dict[str, Mapping[str, Any]]:
    """Return the earlier scores of each system, by its name now: those of the same name, or of the only one in both.

    `earlier` is the object of a JSON file, of which `source` is the place.

    Raises:
        FormatError: no object that `nereval score --json` wrote, a system or a criterion that it lacks, or scores of
            other settings, which cannot be compared.
    """
    by_name = systems_of(earlier, source)
    problems: list[Problem] = []
    earlier_of: dict[str, Mapping[str, Any]] = {}
    for system in systems:
        name = system["name"]
        alone = len(by_name) == len(systems) == 1
        then = next(iter(by_name.values())) if alone else by_name.get(name)
        if then is None:
            remedy = f"call it as it was called, NAME=PATH: {', '.join(by_name)}"
            problems.append(Problem(source, None, f"no scores of {quoted(name)}", remedy))
            continue
        asked_criteria = {bound.figure.criterion for bound in bounds if bound.figure is not None}
        for criterion in sorted(asked_criteria - set(then["criteria"])):
            remedy = f"score with --criteria {criterion}, or choose among {', '.join(then['criteria'])}"
            problems.append(Problem(source, None, f"no scores of {quoted(name)} under {quoted(criterion)}", remedy))
        changed: dict[str, list[str]] = {}
        for criterion in (name for name in system["criteria"] if name in then["criteria"]):
            was, now = (_settings(side["criteria"][criterion]["signature"]) for side in (then, system))
            if was != now:
                parts = [[part for part in side if part not in other] for side, other in ((was, now), (now, was))]
                words = ", now ".join(", ".join(part) or "plain" for part in parts)
                changed.setdefault(words, []).append(criterion)
        for words, criteria in changed.items():
            text = f"{', '.join(criteria)} of {quoted(name)} scored with other settings ({words})"
            problems.append(Problem(source, None, text, "score both with the same options"))
        earlier_of[name] = then
    if problems:
        raise FormatError(problems)
    return earlier_of


def systems_of(value: object, source: str) -> dict[str, Mapping[str, Any]]:
    """Return the systems of an object that `nereval score --json` wrote, by name.

    Raises:
        FormatError: it is another object.
    """
    try:
        assert isinstance(value, dict)
        assert isinstance(value["gold"]["sha256"], str)
        systems: dict[str, Mapping[str, Any]] = {}
        for system in value["systems"]:
            for scores in system["criteria"].values():
                assert isinstance(scores["signature"], str)
                for row in (scores, *scores["types"].values()):
                    assert all(row[name] is None or 0 <= row[name] <= 1 for name in MEASURES)
            systems[system["name"]] = system
        assert systems
    except (AssertionError, AttributeError, KeyError, TypeError):
        remedy = "give the file that `nereval score GOLD PRED --json FILE` wrote, without --convention"
        raise FormatError.single(source, None, "no scores of systems under criteria", remedy) from None
    return systems


def _settings(signature: str) -> list[str]:
    return [part for part in signature.split(" | ") if not part.startswith(UNCOMPARED)]
