"""What is said of verdicts beside records: in a list, on a button, and where a span is put right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from nereval_core.corpus import Documents
from nereval_core.corpus.tokens import WORD
from nereval_core.review.verdicts import KINDS, Key, Kind, Marked
from nereval_core.review.verdicts_on_records import Attached

WORDS: Mapping[str, str] = {
    "gold": "gold",
    "pred": "prediction",
    "both": "both",
    "neither": "neither",
    "unclear": "unclear",
}
"""The verdicts in a word, for narrow columns and buttons."""
STALE = "stale"
WITHOUT_PARTNER: Mapping[Kind, str] = {
    "pred": "The system saw no entity here: the gold span goes.",
    "both": "The gold span stays; that there may be none cannot be said in gold.",
}
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
        "both": "Nothing changes: that there may be one cannot be said in gold.",
        "neither": "What you say is right is added to gold: other spans, or no entity.",
        "unclear": "Nothing changes until the guideline is clear.",
    },
}
"""What each verdict does to gold, by the side of the span that it is about."""
AROUND = 160
"""Characters before and after a record in which the right span is looked for by its words."""


def meaning(kind: Kind, key: Key, partner: Marked | None) -> str:
    """Say what a verdict does to gold."""
    if key.side == "gold" and partner is None and kind in WITHOUT_PARTNER:
        return WITHOUT_PARTNER[kind]
    return MEANING[key.side][kind]


def listed(found: Attached, records: Iterable[int]) -> list[str | None]:
    """Return the verdict of each record as a list shows it: a word, who gave it, and whether it is stale."""
    lines: list[str | None] = []
    for record in records:
        one = found.of(record)
        parts = [] if one is None else [WORDS.get(one.verdict.kind, ""), one.who]
        lines.append(" · ".join([STALE, *parts] if found.stale[record] else parts) or None)
    return lines


def decided(kind: str, right: Sequence[Marked], text: str | None = None) -> str:
    """Say a verdict in words, with what is right instead where neither is; `text` is that of the document."""
    said = KINDS.get(kind, "taken back")  # type: ignore[call-overload]
    if kind != "neither":
        return str(said)
    spans = (f"{_quote(span, text)}{span.type} at {span.start}–{span.end}" for span in right)
    return f"{said}; right is {', '.join(spans) or 'no entity'}"


def _quote(span: Marked, text: str | None) -> str:
    return "" if text is None else f"“{span.quote(text)}” "


def pieces(documents: Documents, number: int, spans: Sequence[Marked]) -> list[tuple[int, int]]:
    """Return the words around some spans of a document, from which the right span is put together.

    They are [start, end) in code points, in order: the document's own tokens, or those that WORD finds. A word is cut
    where one of the spans begins or ends inside it.
    """
    text = documents.texts[number]
    low = max(0, min(span.start for span in spans) - AROUND)
    high = min(len(text), max(span.end for span in spans) + AROUND)
    own = documents.tokens.of_document(number) if documents.tokens is not None else []
    words = own or [found.span() for found in WORD.finditer(text)]
    cuts = sorted({edge for span in spans for part in span.fragments for edge in part})
    found: list[tuple[int, int]] = []
    for start, end in words:
        if (low <= start and end <= high) or any(span.start < end and start < span.end for span in spans):
            found += pairwise([start, *(cut for cut in cuts if start < cut < end), end])
    # A span of blanks alone has no words: its own ends will do.
    return found or [(spans[0].start, spans[0].end)]


def spanned(some: Sequence[tuple[int, int]], span: Marked) -> tuple[int, int]:
    """Return the first and last of some pieces that a span covers; the first piece where it covers none."""
    inside = [place for place, (start, end) in enumerate(some) if start < span.end and span.start < end]
    return (inside[0], inside[-1]) if inside else (0, 0)


def named(some: Sequence[tuple[int, int]], text: str) -> list[str]:
    """Return the words of pieces of a text, each with a name of its own: the second `the` is `the (2)`."""
    seen: Counter[str] = Counter()
    names = []
    for start, end in some:
        word = text[start:end]
        seen[word] += 1
        names.append(word if seen[word] == 1 else f"{word} ({seen[word]})")
    return names
