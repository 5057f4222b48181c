"""Score named entity annotations and keep, for every span, the decision and the reason.

>>> import nereval_core as nereval
>>> scores = nereval.score("gold.jsonl", "system.jsonl", criteria=("strict", "partial"))
>>> scores.counts("strict").f1
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nereval_core.analysis.methods import methods
    from nereval_core.analysis.slices import slice_changes
    from nereval_core.api.agreement import agreement
    from nereval_core.api.app import app
    from nereval_core.api.compare import compare, replicability
    from nereval_core.api.consistency import consistency_of
    from nereval_core.api.display import show
    from nereval_core.api.errors import errors_of
    from nereval_core.api.linking import index, link
    from nereval_core.api.read import read, write
    from nereval_core.api.report import report_of
    from nereval_core.api.reproduce import reproduce
    from nereval_core.api.review import adjudicate, apply_verdicts, scores_with_verdicts
    from nereval_core.api.score import score, to_dict, type_suggestions
    from nereval_core.api.slices import slices_of
    from nereval_core.pairing.selection import restricted
    from nereval_core.pairing.type_names import mapped
    from nereval_core.readers.python_objects import read_objects

__version__ = "0.2.0"

_MODULES = {
    "adjudicate": "api.review",
    "agreement": "api.agreement",
    "app": "api.app",
    "apply_verdicts": "api.review",
    "compare": "api.compare",
    "consistency_of": "api.consistency",
    "errors_of": "api.errors",
    "index": "api.linking",
    "link": "api.linking",
    "mapped": "pairing.type_names",
    "methods": "analysis.methods",
    "read": "api.read",
    "read_objects": "readers.python_objects",
    "replicability": "api.compare",
    "report_of": "api.report",
    "reproduce": "api.reproduce",
    "restricted": "pairing.selection",
    "score": "api.score",
    "scores_with_verdicts": "api.review",
    "show": "api.display",
    "slice_changes": "analysis.slices",
    "slices_of": "api.slices",
    "to_dict": "api.score",
    "type_suggestions": "api.score",
    "write": "api.read",
}
"""The module of each verb, imported when the verb is first asked for: numpy takes longer than the help."""

__all__ = [
    "__version__",
    "adjudicate",
    "agreement",
    "app",
    "apply_verdicts",
    "compare",
    "consistency_of",
    "errors_of",
    "index",
    "link",
    "mapped",
    "methods",
    "read",
    "read_objects",
    "replicability",
    "report_of",
    "reproduce",
    "restricted",
    "score",
    "scores_with_verdicts",
    "show",
    "slice_changes",
    "slices_of",
    "to_dict",
    "type_suggestions",
    "write",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    except ModuleNotFoundError as error:
        from nereval_core.problems import missing_package

        if (sentence := missing_package(error)) is None:
            raise
        raise ModuleNotFoundError(f"{name}: {sentence}", name=error.name) from error
