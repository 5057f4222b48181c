"""Verdicts in words, for lists and buttons."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from nereval_core.review.verdicts import KINDS, Key, Kind, Marked, is_alternative
from nereval_core.review.verdicts_on_records import AttachedVerdicts

WORDS: Mapping[str, str] = {
    "gold": "gold",
    "pred": "prediction",
    "both": "both",
    "neither": "neither",
    "unclear": "unclear",
}
"""One word for each verdict, for narrow columns and buttons."""
STALE = "stale"
WITHOUT_PARTNER: Mapping[Kind, str] = {
    "pred": "The system saw no entity here: the gold span goes.",
    "both": "The gold span stays.",
}
BESIDE = "The gold span stays, and the prediction is added beside it."
MEANING: Mapping[str, Mapping[Kind, str]] = {
    "gold": {
        "gold": "The gold span stays as it is.",
        "pred": "The gold span gives way to the prediction.",
        "both": "The gold span stays, and the prediction's boundaries are accepted beside its own.",
        "neither": "The gold span gives way to what you say is right: other spans, or no entity.",
        "unclear": "Nothing changes until the guideline is clear.",
    },
    "pred": {
        "gold": "There is no entity here, as gold says: nothing changes.",
        "pred": "The prediction is added to gold.",
        "both": "The prediction is added to gold.",
        "neither": "What you say is right is added to gold: other spans, or no entity.",
        "unclear": "Nothing changes until the guideline is clear.",
    },
}
"""The effect of each verdict on gold, by the side of its span."""


def meaning(kind: Kind, key: Key, partner: Marked | None) -> str:
    """Return a sentence on the effect of a verdict on gold."""
    if key.side == "gold" and partner is None and kind in WITHOUT_PARTNER:
        return WITHOUT_PARTNER[kind]
    if key.side == "gold" and partner is not None and kind == "both" and not is_alternative(key.span, partner):
        return BESIDE
    return MEANING[key.side][kind]


def verdict_labels(
    attached: AttachedVerdicts, records: Iterable[int], words: Mapping[str, str] = WORDS
) -> list[str | None]:
    """Return the verdict of each record as a list shows it: a word, the reviewer, and whether it is stale."""
    lines: list[str | None] = []
    for record in records:
        stored = attached.of(record)
        parts = [] if stored is None else [words.get(stored.verdict.kind, ""), stored.who]
        lines.append(" · ".join([STALE, *parts] if attached.stale[record] else parts) or None)
    return lines


def decision_in_words(
    kind: str, right: Sequence[Marked], text: str | None = None, kinds: Mapping[Kind, str] = KINDS
) -> str:
    """Return a verdict in words, with the right spans where neither is right; `text` is that of the document."""
    message = kinds.get(kind, "taken back")  # type: ignore[call-overload]
    if kind != "neither":
        return str(message)
    spans = (f"{_quote(span, text)}{span.type} at {_places(span)}" for span in right)
    return f"{message}; right is {', '.join(spans) or 'no entity'}"


def _quote(span: Marked, text: str | None) -> str:
    return "" if text is None else f"“{span.quote_apart(text)}” "


def _places(span: Marked) -> str:
    return ", ".join(f"{start}–{end}" for start, end in span.fragments)
