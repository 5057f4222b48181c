"""The rule of a criterion of one's own as a parameter of a link: `half:boundaries=overlap;minimum=1/2;share=union`.

What is as by default is left out, and so is the sentence. Signs that part a rule are written as in `pages.shared.view`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

from nereval_core.problems import FormatError, quoted
from nereval_core.scoring.criteria import Criterion
from nereval_core.scoring.criterion_syntax import criterion_from_parts, near_miss_parts

PARTING = "%,;=:>"
WHERE = "rule in the link"


def written(criterion: Criterion) -> str:
    """Return a criterion as a link carries it."""
    parts = [("boundaries", criterion.boundaries)]
    parts += [] if criterion.same_type else [("types", "any")]
    parts += [("minimum", str(criterion.minimum)), ("share", criterion.share)] if criterion.minimum else []
    parts += [(key, decision) for key, decision in near_miss_parts(criterion).items() if decision != "INC"]
    groups: dict[str, list[str]] = {}
    for member, name in criterion.merge:
        groups.setdefault(name, []).append(_escaped(member))
    parts += [("merge", f"{','.join(members)}>{_escaped(name)}") for name, members in groups.items()]
    parts += [("leave_out", ",".join(map(_escaped, criterion.leave_out)))] if criterion.leave_out else []
    return f"{criterion.name}:" + ";".join(f"{key}={value}" for key, value in parts)


def is_of(rule: str, criterion: str) -> bool:
    """Tell whether a rule as a link carries it is that of a criterion by name."""
    return rule.partition(":")[0] == criterion


def read(rule: str) -> Criterion:
    """Read a rule as a link carries it, the reverse of `written`.

    Raises:
        FormatError: anything else.
    """
    name, _, rest = rule.partition(":")
    parts: dict[str, Any] = {}
    merge: dict[str, list[str]] = {}
    for item in rest.split(";"):
        key, equals, value = item.partition("=")
        if key == "merge":
            members, arrow, merged = value.partition(">")
            merge[unquote(merged) if arrow else ""] = [unquote(member) for member in members.split(",")]
        elif key == "leave_out":
            parts[key] = [unquote(kind) for kind in value.split(",")]
        elif not equals or key in parts:
            raise FormatError.single(WHERE, None, f"{quoted(rule)} is not a rule", "copy the whole link")
        else:
            parts[key] = unquote(value)
    given: Mapping[str, Any] = {**parts, "merge": merge} if merge else parts
    if "" in merge:
        raise FormatError.single(WHERE, None, f"{quoted(rule)} merges types into no name", "copy the whole link")
    return criterion_from_parts(name, given, WHERE)


def _escaped(name: str) -> str:
    return "".join(f"%{ord(char):02X}" if char in PARTING else char for char in name)
