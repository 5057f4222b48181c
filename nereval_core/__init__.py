"""Score named entity annotations and keep, for every span, the decision and the reason.

>>> import nereval_core as nereval
>>> scores = nereval.score("gold.jsonl", "system.jsonl", criteria=("strict", "partial"))
>>> scores.counts("strict").f1
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nereval_core.api.agreement import agreement
    from nereval_core.api.consistency import consistency_of
    from nereval_core.api.errors import errors_of
    from nereval_core.api.linking import index, link
    from nereval_core.api.load import compare, read, reproduce, score, type_suggestions, write
    from nereval_core.api.report import report_of
    from nereval_core.api.review import adjudicate, apply_verdicts, scores_with_verdicts
    from nereval_core.api.slices import slices_of
    from nereval_core.pairing.document_lists import restricted
    from nereval_core.pairing.type_names import mapped
    from nereval_core.readers.objects import read_objects

__version__ = "0.1.0"

__all__ = [
    "__version__",
    "adjudicate",
    "agreement",
    "apply_verdicts",
    "compare",
    "consistency_of",
    "errors_of",
    "index",
    "link",
    "mapped",
    "read",
    "read_objects",
    "report_of",
    "reproduce",
    "restricted",
    "score",
    "scores_with_verdicts",
    "slices_of",
    "type_suggestions",
    "write",
]


def __getattr__(name: str) -> Any:
    # The verbs bring numpy with them: the command line's help can do without.
    if name in ("compare", "read", "reproduce", "score", "type_suggestions", "write"):
        from nereval_core.api import load as api_load

        return getattr(api_load, name)
    if name == "restricted":
        from nereval_core.pairing.document_lists import restricted

        return restricted
    if name == "mapped":
        from nereval_core.pairing.type_names import mapped

        return mapped
    if name == "read_objects":
        from nereval_core.readers.objects import read_objects

        return read_objects
    if name == "agreement":
        from nereval_core.api.agreement import agreement

        return agreement
    if name == "consistency_of":
        from nereval_core.api.consistency import consistency_of

        return consistency_of
    if name == "errors_of":
        from nereval_core.api.errors import errors_of

        return errors_of
    if name == "report_of":
        from nereval_core.api.report import report_of

        return report_of
    if name == "slices_of":
        from nereval_core.api.slices import slices_of

        return slices_of
    if name in ("adjudicate", "apply_verdicts", "scores_with_verdicts"):
        from nereval_core.api import review as api_review

        return getattr(api_review, name)
    if name in ("link", "index"):
        from nereval_core.api import linking as api_linking

        return getattr(api_linking, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
