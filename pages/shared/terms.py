"""Tooltips of abbreviations and criteria, with the way to the Guide."""

from nereval_core.criteria import Criterion
from nereval_core.glossary import GLOSSARY, tooltip


def explained(*codes: str) -> str:
    """Return name, sentence and formula of abbreviations as Markdown, each with a link to the Guide."""
    return "  \n".join(f"{tooltip(code)} [Guide](Guide#{GLOSSARY[code].anchor})" for code in codes)


def criterion_explained(criterion: Criterion) -> str:
    return f"{criterion.sentence} ({criterion.source}) [Guide](Guide#criterion-{criterion.name})"
