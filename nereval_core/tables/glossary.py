"""Terms of the field: name, one sentence and formula of each abbreviation, as tooltips and the Guide show them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

DECISIONS = ("COR", "INC", "PAR", "MIS", "SPU")
ERROR_CLASSES = (
    "duplicate",
    "split",
    "merged",
    "type only",
    "boundary only",
    "type and boundary",
    "missed",
    "spurious",
)
"""Classes of errors, in the order in which they are tried: see `nereval_core.analysis.errors.error_classes`."""


@dataclass(frozen=True, slots=True)
class Term:
    """An abbreviation or a method; `formula` is empty for a count that is not computed from others.

    `sources` are the keys of the works that a method is from, in `report/references.bib`.
    """

    code: str
    name: str
    sentence: str
    formula: str = ""
    sources: tuple[str, ...] = ()

    @property
    def anchor(self) -> str:
        """The fragment under which the Guide explains the term, without `#`."""
        return "term-" + "".join(char if char.isalnum() else "-" for char in self.code.lower())

    @property
    def label(self) -> str:
        """The name with the code, unless the name is the code: `missed (MIS)`, `macro over types`."""
        return self.name if self.name == self.code else f"{self.name} ({self.code})"

    @property
    def tooltip(self) -> str:
        parts = [f"{self.label}: {self.sentence}"]
        return " ".join([*parts, f"{self.code} = {self.formula}."] if self.formula else parts)


_TERMS = (
    Term("COR", "correct", "A gold span and a prediction are aligned and agree as the matching criterion asks."),
    Term("INC", "incorrect", "A gold span and a prediction are aligned but the matching criterion refuses the pair."),
    Term("PAR", "partial", "A gold span and a prediction are aligned and earn half a point for a near miss."),
    Term("MIS", "missed", "A gold span that no prediction is aligned with."),
    Term("SPU", "spurious", "A prediction that no gold span is aligned with."),
    Term("POS", "possible", "All gold spans, which could have been found.", "COR + INC + PAR + MIS"),
    Term("ACT", "actual", "All predictions of the system.", "COR + INC + PAR + SPU"),
    Term("P", "precision", "The share of the predictions that are correct.", "(COR + 0.5 × PAR) / ACT"),
    Term("R", "recall", "The share of the gold spans that were found.", "(COR + 0.5 × PAR) / POS"),
    Term("F1", "F1", "Precision and recall in one number, their harmonic mean.", "2 × (COR + 0.5 × PAR) / (POS + ACT)"),
    Term(
        "SER",
        "slot error rate",
        "Errors by gold span, 0 at best: it grows beyond 1 where many predictions are spurious.",
        "(INC + 0.5 × PAR + MIS + SPU) / POS",
        ("makhoul1999",),
    ),
    Term("micro", "micro", "The counts of all types and documents are added first and divided once."),
    Term(
        "macro over types",
        "macro over types",
        "The mean of the types' ratios, each type weighing the same; types without the ratio are left out.",
    ),
    Term(
        "macro over documents",
        "macro over documents",
        "The mean of the documents' ratios, each document weighing the same; documents without the ratio are left out.",
    ),
    Term("support", "support", "The number of gold spans of the type."),
    Term("core", "core", "The part of a gold span that a prediction must cover under the criterion core."),
    Term("alternatives", "alternatives", "Other boundaries of a gold span that are as correct as its own."),
    Term(
        "token run",
        "token run",
        "A record under the criterion fragment: adjacent tokens with one type and decision. It counts as many times "
        "as it has tokens, and POS and ACT count tokens.",
    ),
    Term(
        "duplicate",
        "duplicate",
        "An unaligned prediction with the boundaries and type of another prediction. Mended, it is removed.",
    ),
    Term(
        "split",
        "split",
        "One gold span, several predictions: an aligned pair that is not correct, and each unaligned prediction that "
        "shares a character with its gold span. Mended, one prediction equals the gold span and the others are "
        "removed.",
    ),
    Term(
        "merged",
        "merged",
        "Several gold spans, one prediction: an aligned pair that is not correct, and each unaligned gold span that "
        "shares a character with its prediction. Mended, each gold span is predicted.",
    ),
    Term("type only", "type only", "Another pair with equal boundaries. Mended, the prediction gets gold's type."),
    Term(
        "boundary only",
        "boundary only",
        "Another pair with equal types. Mended, the prediction gets gold's boundaries.",
    ),
    Term("type and boundary", "type and boundary", "Any other pair. Mended, the prediction gets both from gold."),
    Term("missed", "missed", "Any other gold span that no prediction is aligned with. Mended, it is predicted."),
    Term("spurious", "spurious", "Any other prediction that no gold span is aligned with. Mended, it is removed."),
)

GLOSSARY: Mapping[str, Term] = MappingProxyType({term.code: term for term in _TERMS})


def decision_label(code: str) -> str:
    """Return a decision as words with its code: `missed (MIS)`."""
    return GLOSSARY[code].label


def tooltip(code: str) -> str:
    """Return the definition of an abbreviation in one line, formula included."""
    return GLOSSARY[code].tooltip
