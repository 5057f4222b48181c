"""Settings of scoring from the options of the library's verbs: criteria by name, merged types, types left out."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from nereval_core.corpus import Layer
from nereval_core.pairing import have_no_common_type
from nereval_core.problems import FormatError, Problem, one_of, quoted
from nereval_core.scoring import Counting, Settings
from nereval_core.scoring.criteria import CRITERIA, Annotated, Criterion
from nereval_core.scoring.type_merging import parse_merge

Criteria = str | Iterable[str | Criterion]
Merge = Mapping[str, str] | str | Iterable[str]


def settings_of(
    criteria: Criteria, merge: Merge = (), leave_out: str | Iterable[str] = (), counting: Counting = "one-to-one"
) -> Settings:
    """Return settings of scoring; one name may stand for a list of one.

    Raises:
        FormatError: an unknown criterion, a bad merge or counting.
    """
    one_of("counting", counting, Counting)
    chosen = choose_criteria(_several(criteria))
    merged = merge if isinstance(merge, Mapping) else parse_merge(_several(merge))
    return Settings(chosen, tuple(sorted(merged.items())), tuple(sorted(set(_several(leave_out)))), counting)


def _several(values: Any) -> Any:
    """Return a single string as a list of one: its letters are not meant."""
    return (values,) if isinstance(values, str) else values


def choose_criteria(
    chosen: Iterable[str | Criterion], *, composed: Sequence[Criterion] = (), source: str = "criteria"
) -> tuple[Criterion, ...]:
    """Return criteria by name, composed ones among them, each once and in the order given.

    Raises:
        FormatError: an unknown name, or one name for two criteria.
    """
    own = {criterion.name: criterion for criterion in composed}
    found: dict[str, Criterion] = {}
    problems: list[Problem] = []
    for item in chosen:
        criterion = item if isinstance(item, Criterion) else own.get(item) or CRITERIA.get(item)
        if criterion is None:
            known = ", ".join((*CRITERIA, *own))
            problems.append(Problem(source, None, f"no criterion {quoted(str(item))}", f"choose among {known}"))
        elif found.setdefault(criterion.name, criterion) != criterion:
            remedy = "give each its own name"
            problems.append(Problem(source, None, f"two criteria are called {quoted(criterion.name)}", remedy))
    if not found and not problems:
        problems.append(Problem(source, None, "no criterion chosen", f"choose among {', '.join(CRITERIA)}"))
    if problems:
        raise FormatError(problems)
    return tuple(found.values())


def check_criteria(criteria: Iterable[Criterion], gold: Annotated, *, source: str = "criteria") -> None:
    """Refuse criteria that need what no gold span has.

    Raises:
        FormatError: with every such criterion.
    """
    problems = [
        Problem(source, None, f"criterion {criterion.name} needs {need}, and gold has none", "leave it out or add them")
        for criterion in criteria
        if (need := criterion.lacks(gold)) is not None
    ]
    if problems:
        raise FormatError(problems)


def warn_of_other_types(gold: Layer, pred: Layer, name: str) -> None:
    """Issue a `UserWarning` where two layers as scored have types, and none in common."""
    if have_no_common_type(gold, pred):
        from nereval_core.pairing.type_suggestions import no_common_type_in_words

        warnings.warn(f"{name}: {no_common_type_in_words(gold, pred)}", stacklevel=3)
