"""Spans that a reviewer has drawn in the text: the types they may have, and the check of what the browser sent."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from nereval_core.problems import FormatError, Problem, quoted
from nereval_core.review.verdicts import Marked, raise_problems, span_of
from nereval_core.review.verdicts_on_records import AttachedVerdicts, attach_verdicts
from nereval_core.writers import writers
from nereval_core.writers.brat import BLANK, BratWriter
from pages.shared.data import reference_layer
from pages.shared.data.page_context import PageContext

_BROUGHT: WeakKeyDictionary[AttachedVerdicts, frozenset[str]] = WeakKeyDictionary()
SOURCE = "edited span"
"""The place that problems with edited spans name."""


def types_to_choose(page: PageContext) -> list[str]:
    """Return the types that spans may have: those of its layers, and those that verdicts which count brought in."""
    attached = attach_verdicts(page.ledger().about)
    if attached not in _BROUGHT:
        # Stale ones are about spans of other layers, whose types may be others.
        standing = (attached.verdicts[number] for number in np.unique(attached.at[attached.decided]).tolist())
        verdicts = (stored.verdict for stored in (*standing, *attached.unmarked))
        _BROUGHT[attached] = frozenset(span.type for verdict in verdicts for span in verdict.right)
    return sorted({*page.annotated_types, *_BROUGHT[attached]}, key=lambda name: (name.casefold(), name))


def takes_blanks(page: PageContext) -> bool:
    """Return whether the format that the reference was read in, in which Finish writes it, has types with blanks."""
    reading = reference_layer.reading_of(page.loaded, page.view.reference)
    return reading is None or not isinstance(writers().get(reading.format), BratWriter)


def format_without_alternatives(page: PageContext) -> str:
    """Return the format that the reference was read in, in which Finish writes it, if it has no place for alternatives.

    It is "" where that has one, or where Finish writes another format.
    """
    reading = reference_layer.reading_of(page.loaded, page.view.reference)
    writer = None if reading is None else writers().get(reading.format)
    return "" if reading is None or writer is None or "alternatives" in writer.holds else reading.format


def read_edited_spans(
    sent: Any, length: int, types: Collection[str], *, takes_blanks: bool = True
) -> tuple[Marked, ...]:
    """Return the spans that were sent, in order and each once: `{fragments, type, isNew}` in code points of a text.

    `length` is that of the text. A type is one of `types`, or is said to be new; a new one has no blank in it unless
    `takes_blanks`.

    Raises:
        FormatError: something else, a span outside of the text or empty, or a type that does not exist.
    """
    try:
        spans = [(span_of(span), bool(span.get("isNew"))) for span in sent]
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise FormatError.single(SOURCE, None, "something that is not a span", "draw it again") from error
    problems = []
    for span, is_new in spans:
        ends = [place for fragment in span.fragments for place in fragment]
        if not ends or any(low >= high for low, high in span.fragments) or ends != sorted(ends):
            problems.append(Problem(SOURCE, None, "an empty span, or fragments out of order", "draw it again"))
        elif ends[0] < 0 or ends[-1] > length:
            problems.append(
                Problem(SOURCE, None, f"a span outside of a text of {length:,} characters", "draw it again")
            )
        if not is_new and span.type not in types:
            problems.append(Problem(SOURCE, None, f"there is no type {quoted(span.type)}", "choose it as a new type"))
        elif span.type not in types and not takes_blanks and BLANK.search(span.type):
            finding = f"the new type {quoted(span.type)} has a blank in it, which brat's files cannot hold"
            problems.append(Problem(SOURCE, None, finding, f"call it {quoted(BLANK.sub('_', span.type))}"))
    raise_problems(problems)
    return tuple(dict.fromkeys(sorted(span for span, _ in spans)))
