"""The signature of a score: the line with which another person can reproduce it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from nereval_core import __version__
from nereval_core.problems import counted
from nereval_core.scoring.criteria import CRITERIA, same_rule

if TYPE_CHECKING:
    from nereval_core.scoring.protocols import CountedScores


def signature(scores: CountedScores, name: str, *, intervals: str = "") -> str:
    """Return the signature of a system's scores under a criterion; `intervals` describes the intervals, if any.

    Digests (16 of 64 hexadecimal digits) are of canonical content, independent of file names and reading order.
    """
    criterion = scores.criterion(name)
    rules = scores.settings.rules_for(criterion)
    merged = "none"
    if rules.merge:
        from nereval_core.pairing.type_names import merged_in_words

        merged = merged_in_words(rules.merge)
    is_ours = name in CRITERIA and same_rule(criterion, CRITERIA[name])
    parts = [
        f"nereval {__version__}",
        f"criterion {name}" if is_ours else f"criterion {name} ({criterion.rule()})",
        f"types merged: {merged}",
        f"left out: {','.join(rules.leave_out) or 'none'}",
        f"counting {scores.settings.counting}",
        *scores.data_in_words(name),
        f"gold sha256:{scores.read_gold[:16]}",
        f"pred sha256:{scores.read_pred[:16]}",
        f"documents {scores.documents}",
        *([intervals] if intervals else []),
        *scores.marks,
    ]
    if scores.greedy:
        first_documents = ", ".join(scores.greedy[:5]) + (" …" if len(scores.greedy) > 5 else "")
        parts.append(f"aligned greedily: {counted(len(scores.greedy), 'document')} ({first_documents})")
    return " | ".join(part.replace("\n", " ").replace("\r", " ") for part in parts)


def together(lines: Iterable[str]) -> tuple[str, ...]:
    """Return distinct signatures; those that differ in the criterion alone are merged into one line."""
    criteria_of_rest: dict[tuple[str, str], dict[str, None]] = {}
    for line in lines:
        program, criterion, rest = line.split(" | ", 2)
        criteria_of_rest.setdefault((program, rest), {})[criterion.removeprefix("criterion ")] = None
    return tuple(
        f"{program} | criterion {','.join(names)} | {rest}" for (program, rest), names in criteria_of_rest.items()
    )
