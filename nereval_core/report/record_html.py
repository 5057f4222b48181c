"""A record in its text as HTML: its gold span above, its prediction below, and the words around them."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
from markupsafe import Markup

from nereval_core.report.excerpts import cut_around
from nereval_core.report.highlight import SIDES, document_html
from nereval_core.report.marks import marks_of
from nereval_core.scoring import Scores

MOST = 240
"""Characters of text around a record."""


def record_html(scores: Scores, criterion: str, record: pd.Series, types: Sequence[str], *, most: int = MOST) -> Markup:
    """Return the HTML of a record, a row of RECORD_COLUMNS; the page has `highlight.STYLE` from elsewhere.

    `types` are those of the whole corpus.
    """
    number = int(record["doc"])
    documents = scores.gold.documents
    spans = zip(SIDES, (int(record["gold"]), int(record["pred"])), strict=True)
    chosen = [mark for side, span in spans if span >= 0 for mark in marks_of(scores, criterion, side, [span])]
    chosen.sort(key=lambda mark: (mark.start, -mark.end, mark.side))
    sentences = () if documents.sentences is None else documents.sentences.of_document(number)
    text, shown = cut_around(documents.texts[number], chosen, most, sentences)
    return document_html(text, shown, types=types, style=False)
