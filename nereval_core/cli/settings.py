"""Settings of scoring: criteria, merged types and types left out, from the options of the group "scoring"."""

from __future__ import annotations

import argparse
from collections.abc import Iterable

from nereval_core.api.scoring_settings import check_criteria, choose_criteria
from nereval_core.cli.options import ALL, comma_separated
from nereval_core.cli.output import say
from nereval_core.problems import FormatError, Problem, quoted
from nereval_core.readers import Source
from nereval_core.scoring import Counting, Settings
from nereval_core.scoring.criteria import CRITERIA, SCHEMAS, Annotated, Criterion
from nereval_core.scoring.type_merging import parse_merge


def scoring_settings(options: argparse.Namespace, *, several_merges: bool = False) -> Settings:
    """Return criteria, merges, types left out and the counting.

    With `several_merges`, each merge is a setting of its own, and so may be each counting: neither is returned.

    Raises:
        FormatError: with all that is wrong with them at once.
    """
    problems: list[Problem] = []
    composed: list[Criterion] = []
    chosen: list[str | Criterion] = []
    merge: dict[str, str] = {}
    named = SCHEMAS if options.criteria is None else comma_separated([options.criteria])
    for item in named:
        try:
            if item == ALL:
                # Which of them apply is known when gold is read: see `applicable_criteria`.
                chosen += CRITERIA
            elif item.endswith(".toml"):
                from nereval_core.scoring.criterion_syntax import criteria_from_toml

                composed += criteria_from_toml(Source.of_path(item).files[0].text(), item)
                chosen += composed
            else:
                chosen.append(item)
        except FormatError as error:
            problems += error.problems
    for item in options.criterion:
        try:
            composed.append(_composed_criterion(item))
        except FormatError as error:
            problems += error.problems
    try:
        merge = {} if several_merges else parse_merge(options.merge)
    except FormatError as error:
        problems += error.problems
    criteria: tuple[Criterion, ...] = ()
    try:
        if chosen or composed or not problems:
            criteria = choose_criteria([*chosen, *composed], composed=composed, source="--criteria")
    except FormatError as error:
        problems += error.problems
    if problems:
        raise FormatError(problems)
    leave_out = tuple(sorted(set(comma_separated(options.leave_out))))
    counting: Counting = "one-to-one" if several_merges else options.counting
    return Settings(criteria, tuple(sorted(merge.items())), leave_out, counting)


def applicable_criteria(
    criteria: Iterable[Criterion], options: argparse.Namespace, gold: Annotated
) -> tuple[Criterion, ...]:
    """Return the criteria that gold has what they need for; say which of those that only `all` names are skipped.

    Raises:
        FormatError: one that is named itself needs what no gold span has.
    """
    named = comma_separated([options.criteria or ""])
    free = {criterion for name, criterion in CRITERIA.items() if ALL in named and name not in named}
    check_criteria((criterion for criterion in criteria if criterion not in free), gold, source="--criteria")
    kept = tuple(criterion for criterion in criteria if criterion.lacks(gold) is None)
    for criterion in criteria:
        if criterion not in kept:
            say(f"--criteria all: {criterion.name} skipped, it needs {criterion.lacks(gold)}")
    bare = len(gold) - len(gold.cores)
    if bare and any(criterion.boundaries == "core" for criterion in kept):
        say(f"core: {bare} of {len(gold)} gold spans have no core, each counts as its own")
    return kept


def _composed_criterion(text: str) -> Criterion:
    """Read a criterion written `NAME: key=value, key=value`.

    Raises:
        FormatError: another form, or a part that is unknown or out of range.
    """
    from nereval_core.scoring.criterion_syntax import criterion_from_parts

    name, colon, rest = text.partition(":")
    parts: dict[str, str] = {}
    for item in rest.split(",") if rest.strip() else ():
        key, equals, value = item.partition("=")
        if not equals or key.strip() in parts or key.strip() in ("merge", "leave_out"):
            colon = ""
        parts[key.strip()] = value.strip()
    if not colon:
        remedy = 'write "NAME: boundaries=overlap, types=any, otherwise=PAR"; merge and leave_out go in a .toml file'
        raise FormatError.single("--criterion", None, f"{quoted(text)} is no criterion", remedy)
    return criterion_from_parts(name.strip(), parts, "--criterion")
