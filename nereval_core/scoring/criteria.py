"""Matching criteria as data: a boundary rule, a type rule, and the decisions for aligned pairs that fail either.

A new criterion is one row of CRITERIA, a new boundary rule one row of BOUNDARY_RULES. `decision_table` is where a
criterion makes a pair correct: it gives the decision for every code that a pair can have. Users compose criteria of
their own from the same parts (`criterion_syntax.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass, field, fields
from fractions import Fraction
from types import MappingProxyType
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from nereval_core.alignment.codes import (
    ALTERNATIVES,
    CODES,
    CONTAIN,
    CORE,
    END,
    EQUAL,
    QUESTION_BITS,
    SAME_TYPE,
    START,
    Decision,
    Question,
    Rules,
)
from nereval_core.corpus import Layer
from nereval_core.problems import FormatError, Problem, quoted

Unit = Literal["span", "token"]
Share = Literal["gold", "prediction", "union"]
NearMiss = Literal[Decision.INC, Decision.PAR]
Group = Literal["SemEval schemas", "MUC-5", "others", "your own"]


class Annotated(Protocol):
    """Gold spans, of which some may have a core or alternatives."""

    @property
    def cores(self) -> Sized: ...

    @property
    def alternatives(self) -> Sized: ...

    def __len__(self) -> int: ...


@dataclass(frozen=True, slots=True)
class BoundaryRule:
    """A rule for the boundaries of a pair.

    It holds where the code of the pair has any of `bits`, or answers `question` with yes; a rule with neither holds for
    every pair, because all pairs share a character. `words` complete "a pair is correct where …". A rule about
    annotations of gold has no meaning where gold has none of them: `annotation` is their name in a layer, `needs` says
    in words what is needed. Gold spans without such an annotation may be taken for it themselves: `bare` names them.
    """

    words: str
    bits: int = 0
    question: Question | None = None
    annotation: Literal["cores", "alternatives"] | None = None
    needs: str | None = None
    bare: str | None = None

    def bare_in_words(self, bare: int, spans: int) -> str:
        """Return in words how many of the gold spans have no annotation of their own."""
        return f"{self.bare}: {bare} of {spans}"


BOUNDARY_RULES: Mapping[str, BoundaryRule] = MappingProxyType(
    {
        "equal": BoundaryRule("the boundaries are equal", EQUAL),
        "start": BoundaryRule("both start at the same place", START),
        "end": BoundaryRule("both end at the same place", END),
        "either": BoundaryRule("both start or both end at the same place", START | END),
        "contain": BoundaryRule("one contains the other", CONTAIN),
        "overlap": BoundaryRule("the two share a character"),
        "core": BoundaryRule(
            "the prediction covers the core of the gold span",
            question=CORE,
            annotation="cores",
            needs="core terms in gold (`core` in JSONL, or brat read with --core-type)",
            bare="gold spans without a core, each its own",
        ),
        "alternatives": BoundaryRule(
            "the boundaries are those of the gold span or one of its alternatives",
            EQUAL,
            ALTERNATIVES,
            annotation="alternatives",
            needs="alternative boundaries in gold (`alternatives` in JSONL, or BioCreative files)",
        ),
    }
)


@dataclass(frozen=True, slots=True)
class TypeRules:
    """Type rules: `merge` maps a member to its merged name, `leave_out` drops spans.

    A type is left out if its own name or the name it is merged into is listed.
    """

    merge: Mapping[str, str] = field(default_factory=dict)
    leave_out: tuple[str, ...] = ()

    def name(self, label: str) -> str | None:
        """Return the type a span is scored as, None where it is left out."""
        merged = self.merge.get(label, label)
        return None if label in self.leave_out or merged in self.leave_out else merged


@dataclass(frozen=True, slots=True, kw_only=True)
class Criterion:
    """A rule that turns an aligned pair into COR, or into INC or PAR where it fails.

    `boundaries` names one of BOUNDARY_RULES. `minimum` asks in addition that the shared characters be at least that
    share (0 to 1) of the gold span, of the prediction, or of their union. A pair that fails there gets
    `other_boundaries`, one whose types must be equal and differ `other_type`, and one that fails both the lesser of the
    two. `merge` (member, merged name) and `leave_out` change the types before scoring. Counted by token (`unit`), there
    are no pairs: a token with its type is on both sides (COR), in gold only (MIS) or predicted only (SPU), and the
    boundary rule is not asked.
    """

    name: str
    boundaries: str
    same_type: bool
    other_boundaries: NearMiss = Decision.INC
    other_type: NearMiss = Decision.INC
    minimum: Fraction = Fraction(0)
    share: Share = "gold"
    merge: tuple[tuple[str, str], ...] = ()
    leave_out: tuple[str, ...] = ()
    group: Group = "your own"
    sentence: str = ""
    source: str = ""
    unit: Unit = "span"

    def __post_init__(self) -> None:
        if self.boundaries not in BOUNDARY_RULES:
            raise ValueError(f"no boundary rule is called {self.boundaries!r}")
        for part, decision in (("boundaries", self.other_boundaries), ("type", self.other_type)):
            if decision != Decision.INC and part not in self.near_misses:
                raise ValueError(f"other_{part} is {decision.name}, but no pair fails there")

    @property
    def boundary_rule(self) -> BoundaryRule:
        return BOUNDARY_RULES[self.boundaries]

    @property
    def near_misses(self) -> dict[str, NearMiss]:
        """Decisions on aligned pairs that fail, by the part they fail in, `boundaries` or `type`, where pairs can."""
        parts: dict[str, NearMiss] = {}
        if self.boundary_rule.bits or self.boundary_rule.question or self.minimum:
            parts["boundaries"] = self.other_boundaries
        if self.same_type:
            parts["type"] = self.other_type
        return parts

    @property
    def questions(self) -> frozenset[Question]:
        """Questions asked of a pair beside its boundaries and types."""
        least: Question | None = (self.share, self.minimum) if self.minimum else None
        return frozenset(question for question in (self.boundary_rule.question, least) if question is not None)

    @property
    def needs(self) -> str | None:
        """Annotations without which the criterion has no meaning, in words; None where any data will do."""
        return self.boundary_rule.needs

    def lacks(self, gold: Annotated) -> str | None:
        """Return the annotations that the criterion needs and gold lacks, in words; None where it applies."""
        annotation = self.boundary_rule.annotation
        return self.needs if annotation and not getattr(gold, annotation) else None

    def rule(self) -> str:
        """Return the rule in words: the condition for a correct pair, and the decision otherwise."""
        return f"{self.condition()}; otherwise {self.near_miss()}"

    def condition(self) -> str:
        """Return in words where a pair (or, counted by token, a token) is correct."""
        if self.unit == "token":
            return "a token has the type on both sides"
        parts = [self.boundary_rule.words]
        if self.minimum:
            parts.append(f"at least {_number(self.minimum)} of the {self.share} is shared")
        if self.same_type:
            parts.append("the types are equal")
        types = "" if self.same_type else ", whatever the types"
        return " and ".join(parts) + types

    def near_miss(self) -> str:
        """Return in words the decision on an aligned pair that is not correct."""
        if self.unit == "token":
            return "MIS or SPU"
        decisions = set(self.near_misses.values())
        if len(decisions) == 2:
            return f"PAR if only the {'boundaries fail' if self.other_type == Decision.INC else 'type fails'}, else INC"
        return next(iter(decisions), Decision.INC).name


def _number(value: Fraction) -> str:
    """Return a decimal where it is exact, else a fraction: a third is not 0.333333."""
    decimal = f"{float(value):g}"
    return decimal if Fraction(decimal) == value else str(value)


_SEMEVAL = "SemEval-2013 task 9.1"
_TSAI = "Tsai et al. 2006"
_MUC = "MUC-5 (Chinchor and Sundheim 1993)"


def _row(
    name: str,
    boundaries: str,
    same_type: bool,
    sentence: str,
    source: str,
    *,
    other_boundaries: NearMiss = Decision.INC,
    unit: Unit = "span",
) -> Criterion:
    groups: dict[str, Group] = {_SEMEVAL: "SemEval schemas", _MUC: "MUC-5"}
    group: Group = next((group for work, group in groups.items() if source.startswith(work)), "others")
    return Criterion(
        name=name,
        boundaries=boundaries,
        same_type=same_type,
        other_boundaries=other_boundaries,
        group=group,
        sentence=sentence,
        source=source,
        unit=unit,
    )


CRITERIA: Mapping[str, Criterion] = MappingProxyType(
    {
        row.name: row
        for row in (
            _row("strict", "equal", True, "Boundaries and type must both be equal.", _SEMEVAL),
            _row("exact", "equal", False, "Boundaries must be equal; the type does not count.", _SEMEVAL),
            _row(
                "partial",
                "equal",
                False,
                "Equal boundaries are correct, any other overlap earns half; the type does not count.",
                _SEMEVAL,
                other_boundaries=Decision.PAR,
            ),
            _row(
                "type",
                "overlap",
                True,
                "Any overlap will do if the type is equal.",
                f'{_SEMEVAL}; HIPE "fuzzy"; {_TSAI} "partial match"',
            ),
            _row(
                "muc",
                "equal",
                True,
                "Boundaries and type must be equal; other boundaries earn half, another type nothing.",
                _MUC,
                other_boundaries=Decision.PAR,
            ),
            _row("left", "start", True, "Both must start at the same place, with equal type.", _TSAI),
            _row("right", "end", True, "Both must end at the same place, with equal type.", _TSAI),
            _row(
                "either",
                "either",
                True,
                "Both must start or both must end at the same place, with equal type.",
                f'{_TSAI} "left/right"',
            ),
            _row("approximate", "contain", True, "One must contain the other, with equal type.", _TSAI),
            _row(
                "lenient",
                "overlap",
                False,
                "Any overlap is correct, whatever the type.",
                f'{_TSAI} "uncategorized partial"',
            ),
            _row(
                "core",
                "core",
                True,
                "The prediction must cover the core term of the gold span, with equal type.",
                _TSAI,
            ),
            _row(
                "alternatives",
                "alternatives",
                True,
                "Boundaries must equal the gold span or one of its alternatives, with equal type.",
                "BioCreative/GENETAG multiple tagging",
            ),
            _row(
                "fragment",
                "overlap",
                True,
                "Counted by token and type, not by span.",
                f'{_TSAI} "name fragment"',
                unit="token",
            ),
        )
    }
)

SCHEMAS = ("strict", "exact", "partial", "type")
"""The four schemas of SemEval-2013 task 9.1."""

APPLICABLE = tuple(name for name, criterion in CRITERIA.items() if criterion.needs is None)
"""The criteria that apply to any data."""


def not_scored(name: str, names: Iterable[str]) -> FormatError:
    """Return the refusal of a criterion that is not among the names of those scored."""
    return FormatError.single("criterion", None, f"not scored under {quoted(name)}", f"name one of {', '.join(names)}")


def choose_criteria(
    criteria: Iterable[str | Criterion], *, composed: Sequence[Criterion] = (), source: str = "criteria"
) -> tuple[Criterion, ...]:
    """Return criteria by name, composed ones among them, each once and in the order given.

    Raises:
        FormatError: an unknown name, or one name for two criteria.
    """
    own = {criterion.name: criterion for criterion in composed}
    by_name: dict[str, Criterion] = {}
    problems: list[Problem] = []
    for item in criteria:
        criterion = item if isinstance(item, Criterion) else own.get(item) or CRITERIA.get(item)
        if criterion is None:
            names = ", ".join((*CRITERIA, *own))
            problems.append(Problem(source, None, f"no criterion {quoted(str(item))}", f"choose among {names}"))
        elif by_name.setdefault(criterion.name, criterion) != criterion:
            remedy = "give each its own name"
            problems.append(Problem(source, None, f"two criteria are called {quoted(criterion.name)}", remedy))
    if not by_name and not problems:
        problems.append(Problem(source, None, "no criterion chosen", f"choose among {', '.join(CRITERIA)}"))
    if problems:
        raise FormatError(problems)
    return tuple(by_name.values())


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


def applicable(gold: Layer) -> tuple[str, ...]:
    """Return the names of the field's criteria that apply to a gold layer."""
    return tuple(name for name, criterion in CRITERIA.items() if criterion.lacks(gold) is None)


def same_rule(criterion: Criterion, other: Criterion) -> bool:
    """Tell whether two criteria decide alike, whatever their names."""
    words = {"name", "group", "sentence", "source", *(() if criterion.minimum else ("share",))}
    return all(
        getattr(criterion, item.name) == getattr(other, item.name)
        for item in fields(Criterion)
        if item.name not in words
    )


def questions_of(criteria: Iterable[Criterion]) -> tuple[Question, ...]:
    """Return the questions that criteria ask of a pair, each once."""
    return tuple(sorted({question for criterion in criteria for question in criterion.questions}))


def decision_table(criteria: Sequence[Criterion]) -> Rules:
    """Tabulate criteria: the decision for every code that a pair can have.

    Raises:
        ValueError: for more different questions than a code has bits for.
    """
    questions = questions_of(criteria)
    if len(questions) > len(QUESTION_BITS):
        raise ValueError(
            f"at most {len(QUESTION_BITS)} different minimum overlaps, core and alternatives among them, at once"
        )
    bits_of = dict(zip(questions, QUESTION_BITS, strict=False))
    code = np.arange(CODES)

    def has_any(bits: int) -> NDArray[np.bool_]:
        return np.asarray(code & bits != 0)

    table = np.empty((CODES, len(criteria)), np.uint8)
    for column, criterion in enumerate(criteria):
        rule = criterion.boundary_rule
        bits = rule.bits | (bits_of[rule.question] if rule.question else 0)
        in_bounds = has_any(bits) if bits else np.ones(CODES, bool)
        if criterion.minimum:
            in_bounds &= has_any(bits_of[criterion.share, criterion.minimum])
        of_type = has_any(SAME_TYPE) if criterion.same_type else np.ones(CODES, bool)
        other_boundaries, other_type = criterion.other_boundaries, criterion.other_type
        other_both = Decision.PAR if other_boundaries == other_type == Decision.PAR else Decision.INC
        table[:, column] = np.select(
            [in_bounds & of_type, of_type, in_bounds], [Decision.COR, other_boundaries, other_type], other_both
        )
    return Rules(table, questions)


__all__ = (
    "APPLICABLE",
    "BOUNDARY_RULES",
    "CRITERIA",
    "SCHEMAS",
    "BoundaryRule",
    "Criterion",
    "Decision",
    "TypeRules",
    "applicable",
    "check_criteria",
    "choose_criteria",
    "decision_table",
    "questions_of",
    "same_rule",
)
