"""Score named entity annotations and keep, for every span, the decision and the reason.

>>> import nereval_core as nereval
>>> scores = nereval.score("gold.jsonl", "system.jsonl", criteria=("strict", "partial"))
>>> scores.counts("strict").f1
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nereval_core.concept_verbs import index, link
    from nereval_core.library import read, reproduce, score, write

__version__ = "0.1.0"

__all__ = ["__version__", "index", "link", "read", "reproduce", "score", "write"]


def __getattr__(name: str) -> Any:
    # The verbs bring numpy with them: the command line's help can do without.
    if name in ("read", "reproduce", "score", "write"):
        from nereval_core import library

        return getattr(library, name)
    if name in ("link", "index"):
        from nereval_core import concept_verbs

        return getattr(concept_verbs, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
