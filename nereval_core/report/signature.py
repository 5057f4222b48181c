"""The line that lets another person reproduce a score (design section 6)."""

from __future__ import annotations

from nereval_core import __version__
from nereval_core.criteria import CRITERIA, Criterion, merges_in_words, same_rule
from nereval_core.scoring import Scores
from nereval_core.tokens import tokens_in_words


def signature(scores: Scores, name: str) -> str:
    """Return the signature of a system's scores under a criterion.

    Digests are over canonical content (16 of 64 hexadecimal digits): neither file names nor reading order matter.
    """
    criterion = scores.criterion(name)
    rules = scores.settings.rules_for(criterion)
    known = name in CRITERIA and same_rule(criterion, CRITERIA[name])
    parts = [
        f"nereval {__version__}",
        f"criterion {name}" if known else f"criterion {name} ({criterion.rule()})",
        f"types merged: {merges_in_words(rules.merge)}",
        f"left out: {','.join(rules.leave_out) or 'none'}",
        f"counting {scores.settings.counting}",
        *_data(scores, criterion),
        f"gold sha256:{scores.read_gold[:16]}",
        f"pred sha256:{scores.read_pred[:16]}",
        f"documents {len(scores.gold.documents)}",
        *scores.marks,
    ]
    if scores.greedy:
        shown = ", ".join(scores.greedy[:5]) + (" …" if len(scores.greedy) > 5 else "")
        parts.append(f"aligned greedily: {len(scores.greedy)} documents ({shown})")
    return " | ".join(part.replace("\n", " ").replace("\r", " ") for part in parts)


def _data(scores: Scores, criterion: Criterion) -> list[str]:
    """Say what the data give a criterion that looks at more than boundaries and types."""
    if criterion.unit == "token":
        return [tokens_in_words(scores.gold.documents)]
    if criterion.boundaries == "core":
        gold = scores.layers(criterion.name)[0]
        return [f"gold spans without a core, each its own: {len(gold) - len(gold.cores)} of {len(gold)}"]
    return []
