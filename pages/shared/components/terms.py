"""Tooltips of abbreviations and criteria, with the way to the Guide."""

import re

from nereval_core.glossary import GLOSSARY, tooltip
from nereval_core.scoring.criteria import Criterion


def explained(*codes: str) -> str:
    """Return name, sentence and formula of abbreviations as Markdown, each with a link to the Guide."""
    return "  \n".join(f"{tooltip(code)} [Guide](Guide#{GLOSSARY[code].anchor})" for code in codes)


def criterion_explained(criterion: Criterion) -> str:
    return f"{criterion.sentence} ({criterion.source}) [Guide](Guide#criterion-{criterion.name})"


def level_said(level: str) -> str:
    """Return a noise level as words, 0.0-0.1 as 0.0–0.1; other text stays as it is."""
    if not re.fullmatch(r"[\d.]+-[\d.]+", level):
        return level
    low, high = level.split("-")
    return low if low == high else f"{low}–{high}"
