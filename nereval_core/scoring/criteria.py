"""Matching criteria as data: a boundary rule, a type rule, and what an aligned pair that fails them gets.

Adding a criterion is one row of CRITERIA. Users compose their own from the same parts, inline or in a TOML file.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass, field, fields
from fractions import Fraction
from types import MappingProxyType
from typing import Any, Literal, Protocol, get_args

from nereval_core.alignment.codes import Decision
from nereval_core.corpus import Layer
from nereval_core.pairing.type_names import merged_in_words
from nereval_core.problems import FormatError, Problem, quoted

Boundaries = Literal["equal", "start", "end", "either", "contain", "overlap", "core", "alternatives"]
Unit = Literal["span", "token"]
Share = Literal["gold", "prediction", "union"]
Group = Literal["SemEval schemas", "others", "your own"]


class Annotated(Protocol):
    """Gold spans, of which some may have a core or alternatives."""

    @property
    def cores(self) -> Sized: ...

    @property
    def alternatives(self) -> Sized: ...

    def __len__(self) -> int: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Criterion:
    """A rule that turns an aligned pair into COR or, where it fails, into `otherwise`.

    `minimum` asks in addition that the shared characters be at least that share (0 to 1) of the gold span, of the
    prediction, or of their union. `merge` (member, merged name) and `leave_out` change the types before scoring.
    Counted by token (`unit`), there are no pairs: a token with its type is on both sides (COR), in gold only (MIS) or
    predicted only (SPU), and the boundary rule is not asked.
    """

    name: str
    boundaries: Boundaries
    same_type: bool
    otherwise: Literal[Decision.INC, Decision.PAR] = Decision.INC
    minimum: Fraction = Fraction(0)
    share: Share = "gold"
    merge: tuple[tuple[str, str], ...] = ()
    leave_out: tuple[str, ...] = ()
    group: Group = "your own"
    sentence: str = ""
    source: str = ""
    unit: Unit = "span"

    @property
    def needs(self) -> str | None:
        """What the criterion cannot do without, in words; None where any data will do."""
        return _NEEDS[self.boundaries][1] if self.boundaries in _NEEDS else None

    def lacks(self, gold: Annotated) -> str | None:
        """Return what the criterion needs where no gold span has it, None where it applies."""
        return self.needs if self.boundaries in _NEEDS and not getattr(gold, _NEEDS[self.boundaries][0]) else None

    def rule(self) -> str:
        """Return the rule in words: what a pair must satisfy to be correct, and what it gets otherwise."""
        if self.unit == "token":
            return "a token has the type on both sides; otherwise MIS or SPU"
        parts = [_BOUNDARY_WORDS[self.boundaries]]
        if self.minimum:
            parts.append(f"at least {_number(self.minimum)} of the {self.share} is shared")
        if self.same_type:
            parts.append("the types are equal")
        types = "" if self.same_type else ", whatever the types"
        return " and ".join(parts) + f"{types}; otherwise {self.otherwise.name}"


def _number(value: Fraction) -> str:
    """Return a decimal where it is exact, else a fraction: a third is not 0.333333."""
    decimal = f"{float(value):g}"
    return decimal if Fraction(decimal) == value else str(value)


_BOUNDARY_WORDS: dict[str, str] = {
    "equal": "the boundaries are equal",
    "start": "both start at the same place",
    "end": "both end at the same place",
    "either": "both start or both end at the same place",
    "contain": "one contains the other",
    "overlap": "the two share a character",
    "core": "the prediction covers the core of the gold span",
    "alternatives": "the boundaries are those of the gold span or one of its alternatives",
}
# By boundary rule: which of a layer's mappings must not be empty, and what that is in words.
_NEEDS: dict[str, tuple[str, str]] = {
    "core": ("cores", "core terms in gold (`core` in JSONL, or brat read with --core-type)"),
    "alternatives": ("alternatives", "alternative boundaries in gold (`alternatives` in JSONL, or BioCreative files)"),
}
_SEMEVAL = "SemEval-2013 task 9.1"
_TSAI = "Tsai et al. 2006"


def _row(
    name: str,
    boundaries: Boundaries,
    same_type: bool,
    sentence: str,
    source: str,
    *,
    otherwise: Literal[Decision.INC, Decision.PAR] = Decision.INC,
    unit: Unit = "span",
) -> Criterion:
    group: Group = "SemEval schemas" if source.startswith(_SEMEVAL) else "others"
    return Criterion(
        name=name,
        boundaries=boundaries,
        same_type=same_type,
        otherwise=otherwise,
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
                otherwise=Decision.PAR,
            ),
            _row(
                "type",
                "overlap",
                True,
                "Any overlap will do if the type is equal.",
                f'{_SEMEVAL}; HIPE "fuzzy"; {_TSAI} "partial match"',
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


def applicable(gold: Layer) -> tuple[str, ...]:
    """Return the names of the field's criteria that apply to a gold layer."""
    return tuple(name for name, criterion in CRITERIA.items() if criterion.lacks(gold) is None)


@dataclass(frozen=True, slots=True)
class TypeRules:
    """What is done to types before scoring: `merge` maps a member to its merged name, `leave_out` drops spans.

    A type is left out if its own name or the name it is merged into is listed.
    """

    merge: Mapping[str, str] = field(default_factory=dict)
    leave_out: tuple[str, ...] = ()

    def name(self, label: str) -> str | None:
        """Return the type a span is scored as, None where it is left out."""
        merged = self.merge.get(label, label)
        return None if label in self.leave_out or merged in self.leave_out else merged


def parse_merge(values: Iterable[str]) -> dict[str, str]:
    """Read merges written `protein,DNA,RNA=macromolecule` as member -> merged name.

    Raises:
        FormatError: without `=`, with an empty name, or where a type is merged into two names or onwards.
    """
    merge: dict[str, str] = {}
    problems = []
    for value in values:
        members, equals, name = value.rpartition("=")
        parts = [member.strip() for member in members.split(",")]
        if not equals or not name.strip() or not all(parts):
            problems.append(
                Problem("--merge", None, f"{quoted(value)} is not a merge", "write protein,DNA,RNA=macromolecule")
            )
            continue
        for member in parts:
            if merge.get(member, name.strip()) != name.strip():
                problems.append(
                    Problem(
                        "--merge",
                        None,
                        f"type {quoted(member)} is merged into {quoted(merge[member])} and {quoted(name.strip())}",
                        "merge each type into one name",
                    )
                )
            merge[member] = name.strip()
    problems += [Problem("--merge", None, found, MERGE_ONCE) for found in _chained(merge)]
    if problems:
        raise FormatError(problems)
    return merge


MERGE_ONCE = "merge each type straight into its last name"


def _chained(merge: Mapping[str, str]) -> list[str]:
    """Say which types are both merged and merged into: nothing says which comes first."""
    return [
        f"types are merged into {quoted(name)}, which is itself merged into {quoted(merge[name])}"
        for name in sorted(set(merge.values()))
        if merge.get(name, name) != name
    ]


def merges_in_words(merge: Mapping[str, str]) -> str:
    """Return merges as they are written on the command line: `DNA,RNA=nucleic;x,y=z`, or `none`."""
    return merged_in_words(merge)


_KEYS = ("boundaries", "types", "otherwise", "minimum", "share", "merge", "leave_out", "sentence")
_NAME = re.compile(r"[A-Za-z0-9_][\w.+-]{0,63}")
_NUMBER = re.compile(r"-?[\d./]{1,40}(e-?\d{1,2})?")


def criterion_from_parts(name: str, parts: Mapping[str, Any], source: str, line: int | None = None) -> Criterion:
    """Compose a criterion from its parts as TOML or the command line gives them.

    `boundaries` is one of Boundaries; `types` is "equal" or "any"; `otherwise` is "INC" or "PAR"; `minimum` is a
    number from 0 to 1 and `share` says of what; `merge` maps a merged name to its members.

    Raises:
        FormatError: with every part that is unknown or out of range.
    """
    problems: list[Problem] = []

    def wrong(found: str, remedy: str) -> None:
        problems.append(Problem(source, line, f"criterion {quoted(name)}: {found}", remedy))

    def one_of(key: str, default: str, allowed: Sequence[str]) -> Any:
        value = parts.get(key, default)
        if value not in allowed:
            wrong(f"{key} is {quoted(str(value))}", f"use one of {', '.join(allowed)}")
            return default
        return value

    if not _NAME.fullmatch(name):
        wrong("its name cannot be used", "use letters, digits and . _ + -, at most 64")
    if name in CRITERIA:
        wrong("this name is taken by a criterion of the field", "choose another name")
    for key in parts:
        if key not in _KEYS:
            wrong(f"unknown key {quoted(str(key))}", f"use {', '.join(_KEYS)}")
    minimum = Fraction(0)
    try:
        # Short, and without a large exponent: "1e999999999" would be computed digit by digit.
        given = _NUMBER.fullmatch(str(parts.get("minimum", 0)))
        minimum = Fraction(given[0] if given else "no number").limit_denominator(10**6)
    except (ValueError, ZeroDivisionError):
        wrong(f"minimum is {quoted(str(parts['minimum']))}", "give a number from 0 to 1")
    if not 0 <= minimum <= 1:
        wrong(f"minimum is {parts['minimum']}", "give a number from 0 to 1")
    merge = parts.get("merge", {})
    rows = merge.items() if isinstance(merge, dict) else [("", None)]
    if not all(
        merged and isinstance(row, list) and all(isinstance(item, str) and item for item in row) for merged, row in rows
    ):
        wrong("merge is no table of lists", 'write merge = {macromolecule = ["protein", "DNA"]}')
        merge = {}
    leave_out = parts.get("leave_out", [])
    if not isinstance(leave_out, list) or not all(isinstance(item, str) for item in leave_out):
        wrong("leave_out is no list of types", 'write leave_out = ["cell_line"]')
        leave_out = []
    pairs = {member: merged for merged, row in merge.items() for member in row}
    if len(pairs) < sum(map(len, merge.values())):
        wrong("a type is merged twice", "merge each type into one name")
    for found in _chained(pairs):
        wrong(found, MERGE_ONCE)
    criterion = Criterion(
        name=name,
        boundaries=one_of("boundaries", "overlap", get_args(Boundaries)),
        same_type=one_of("types", "equal", ("equal", "any")) == "equal",
        otherwise=Decision.PAR if one_of("otherwise", "INC", ("INC", "PAR")) == "PAR" else Decision.INC,
        minimum=minimum,
        share=one_of("share", "gold", get_args(Share)),
        merge=tuple(sorted(pairs.items())),
        leave_out=tuple(sorted(leave_out)),
        sentence=str(parts.get("sentence", "")),
        source="composed here",
    )
    if problems:
        raise FormatError(problems)
    return criterion


def criteria_from_toml(text: str, source: str) -> tuple[Criterion, ...]:
    """Read composed criteria from TOML: one table `[criterion.NAME]` each.

    Raises:
        FormatError: where the text is no TOML (with its line) or a criterion is wrong.
    """
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        place = re.search(r"line (\d+)", str(error))
        line = int(place[1]) if place else None
        raise FormatError.single(source, line, f"not TOML: {error}", "mend the syntax") from None
    except (ValueError, RecursionError):
        # A number of thousands of digits, lists nested a thousand deep.
        raise FormatError.single(source, None, "not TOML that can be read", "write [criterion.NAME] tables") from None
    tables = data.get("criterion")
    if not isinstance(tables, dict) or set(data) != {"criterion"} or not tables:
        raise FormatError.single(source, None, "no criteria found", "write one table [criterion.NAME] for each")
    found: list[Criterion] = []
    problems: list[Problem] = []
    for name, parts in tables.items():
        line = _line_of(text, name)
        if not isinstance(parts, dict):
            problems.append(Problem(source, line, f"criterion {quoted(name)} is no table", "write [criterion.NAME]"))
            continue
        try:
            found.append(criterion_from_parts(name, parts, source, line))
        except FormatError as error:
            problems.extend(error.problems)
    if problems:
        raise FormatError(problems)
    return tuple(found)


def criterion_to_toml(criterion: Criterion) -> str:
    """Write a criterion as the TOML that `criteria_from_toml` reads back."""
    merged: dict[str, list[str]] = {}
    for member, name in criterion.merge:
        merged.setdefault(name, []).append(member)
    lines = [
        f"[criterion.{_toml(criterion.name)}]",
        f'boundaries = "{criterion.boundaries}"',
        f'types = "{"equal" if criterion.same_type else "any"}"',
        f'otherwise = "{criterion.otherwise.name}"',
        f'minimum = "{criterion.minimum}"',
        f'share = "{criterion.share}"',
    ]
    if merged:
        rows = (f"{_toml(name)} = [{', '.join(map(_toml, row))}]" for name, row in merged.items())
        lines.append(f"merge = {{{', '.join(rows)}}}")
    if criterion.leave_out:
        lines.append(f"leave_out = [{', '.join(map(_toml, criterion.leave_out))}]")
    if criterion.sentence:
        lines.append(f"sentence = {_toml(criterion.sentence)}")
    return "\n".join(lines) + "\n"


def same_rule(one: Criterion, other: Criterion) -> bool:
    """Tell whether two criteria decide alike, whatever they are called."""
    words = {"name", "group", "sentence", "source"}
    return all(
        getattr(one, item.name) == getattr(other, item.name) for item in fields(Criterion) if item.name not in words
    )


def _line_of(text: str, name: str) -> int | None:
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip().startswith("[") and name in line:
            return number
    return None


def _toml(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(c if c.isprintable() else f"\\U{ord(c):08X}" for c in escaped) + '"'


__all__ = (
    "APPLICABLE",
    "CRITERIA",
    "SCHEMAS",
    "Criterion",
    "Decision",
    "TypeRules",
    "applicable",
    "criteria_from_toml",
    "criterion_from_parts",
    "criterion_to_toml",
    "merges_in_words",
    "parse_merge",
    "same_rule",
)
