"""The syntax of users' own criteria: parts named on the command line, and TOML tables `[criterion.NAME]`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, get_args

from nereval_core.alignment.codes import Decision
from nereval_core.problems import FormatError, Problem, quoted
from nereval_core.scoring.criteria import BOUNDARY_RULES, CRITERIA, Criterion, NearMiss, Share
from nereval_core.scoring.type_merging import MERGE_ONCE, merge_chains

_KEYS = (
    "boundaries",
    "types",
    "otherwise",
    "other_boundaries",
    "other_type",
    "minimum",
    "share",
    "merge",
    "leave_out",
    "sentence",
)
_NAME = re.compile(r"[A-Za-z0-9_][\w.+-]{0,63}")
_NEAR_MISSES: Mapping[str, NearMiss] = {"INC": Decision.INC, "PAR": Decision.PAR}
_NUMBER = re.compile(r"-?[\d./]{1,40}(e-?\d{1,2})?")


def criterion_from_parts(name: str, parts: Mapping[str, Any], source: str, line: int | None = None) -> Criterion:
    """Compose a criterion from its parts as TOML or the command line gives them.

    `boundaries` is one of BOUNDARY_RULES; `types` is "equal" or "any"; `minimum` is a number from 0 to 1, a share of
    `share`; `otherwise`, "INC" or "PAR", is the decision on a pair that fails, `other_boundaries` and `other_type` that
    on one that fails there; `merge` maps a merged name to its members.

    Raises:
        FormatError: with every part that is unknown or out of range.
    """
    problems: list[Problem] = []

    def wrong(finding: str, remedy: str) -> None:
        problems.append(Problem(source, line, f"criterion {quoted(name)}: {finding}", remedy))

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
    boundaries = one_of("boundaries", "overlap", tuple(BOUNDARY_RULES))
    same_type = one_of("types", "equal", ("equal", "any")) == "equal"
    minimum = Fraction(0)
    try:
        # Short, and without a large exponent: "1e999999999" would be computed digit by digit.
        number = _NUMBER.fullmatch(str(parts.get("minimum", 0)))
        minimum = Fraction(number[0] if number else "no number").limit_denominator(10**6)
    except (ValueError, ZeroDivisionError):
        wrong(f"minimum is {quoted(str(parts['minimum']))}", "give a number from 0 to 1")
    if not 0 <= minimum <= 1:
        wrong(f"minimum is {parts['minimum']}", "give a number from 0 to 1")
    otherwise = one_of("otherwise", "INC", tuple(_NEAR_MISSES))
    near_misses = {
        key: _NEAR_MISSES[one_of(key, otherwise, tuple(_NEAR_MISSES))] for key in ("other_boundaries", "other_type")
    }
    for key, never, remedy in (
        ("other_boundaries", boundaries == "overlap" and not minimum, "ask for other boundaries or a minimum"),
        ("other_type", not same_type, "ask for equal types"),
    ):
        if never:
            near_misses[key] = Decision.INC
            if key in parts:
                wrong(f"{key} is never used, as no pair fails there", f"leave it out, or {remedy}")
    merge = parts.get("merge", {})
    rows = merge.items() if isinstance(merge, dict) else [("", None)]
    if not all(
        merged and isinstance(row, list) and all(isinstance(item, str) and item for item in row) for merged, row in rows
    ):
        wrong("merge is not a table of lists", 'write merge = {macromolecule = ["protein", "DNA"]}')
        merge = {}
    leave_out = parts.get("leave_out", [])
    if not isinstance(leave_out, list) or not all(isinstance(item, str) for item in leave_out):
        wrong("leave_out is not a list of types", 'write leave_out = ["cell_line"]')
        leave_out = []
    pairs = {member: merged for merged, row in merge.items() for member in row}
    if len(pairs) < sum(map(len, merge.values())):
        wrong("a type is merged twice", "merge each type into one name")
    for chain in merge_chains(pairs):
        wrong(chain, MERGE_ONCE)
    criterion = Criterion(
        name=name,
        boundaries=boundaries,
        same_type=same_type,
        other_boundaries=near_misses["other_boundaries"],
        other_type=near_misses["other_type"],
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


def criterion_from_rule(text: str) -> Criterion:
    """Read a criterion written `NAME: key=value, key=value`.

    Raises:
        FormatError: another form, or a part that is unknown or out of range.
    """
    name, colon, rest = text.partition(":")
    parts: dict[str, str] = {}
    for item in rest.split(",") if rest.strip() else ():
        key, equals, value = item.partition("=")
        if not equals or key.strip() in parts or key.strip() in ("merge", "leave_out"):
            colon = ""
        parts[key.strip()] = value.strip()
    if not colon:
        remedy = 'write "NAME: boundaries=overlap, types=any, otherwise=PAR"; merge and leave_out go in a .toml file'
        raise FormatError.single("--criterion", None, f"{quoted(text)} is not a criterion", remedy)
    return criterion_from_parts(name.strip(), parts, "--criterion")


def criteria_from_toml(text: str, source: str) -> tuple[Criterion, ...]:
    """Read composed criteria from TOML: one table `[criterion.NAME]` each.

    Raises:
        FormatError: where the text is not TOML (with its line) or a criterion is wrong.
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
    criteria: list[Criterion] = []
    problems: list[Problem] = []
    for name, parts in tables.items():
        line = _line_of(text, name)
        if not isinstance(parts, dict):
            problems.append(Problem(source, line, f"criterion {quoted(name)} is not a table", "write [criterion.NAME]"))
            continue
        try:
            criteria.append(criterion_from_parts(name, parts, source, line))
        except FormatError as error:
            problems.extend(error.problems)
    if problems:
        raise FormatError(problems)
    return tuple(criteria)


def criterion_to_toml(criterion: Criterion) -> str:
    """Write a criterion as the TOML that `criteria_from_toml` reads back."""
    merged: dict[str, list[str]] = {}
    for member, name in criterion.merge:
        merged.setdefault(name, []).append(member)
    lines = [
        f"[criterion.{_toml(criterion.name)}]",
        f'boundaries = "{criterion.boundaries}"',
        f'types = "{"equal" if criterion.same_type else "any"}"',
        *(f'{key} = "{decision}"' for key, decision in near_miss_parts(criterion).items()),
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


def near_miss_parts(criterion: Criterion) -> dict[str, str]:
    """Return the decisions on pairs that fail as parts that `criterion_from_parts` takes."""
    decisions = {f"other_{part}": decision.name for part, decision in criterion.near_misses.items()}
    if len(set(decisions.values())) == 2:
        return decisions
    return {"otherwise": next(iter(decisions.values()), "INC")}


def _line_of(text: str, name: str) -> int | None:
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip().startswith("[") and name in line:
            return number
    return None


def _toml(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(c if c.isprintable() else f"\\U{ord(c):08X}" for c in escaped) + '"'
