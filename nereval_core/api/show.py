"""The verb `show` of the library: a document with its spans and decisions, highlighted as in the app."""

from __future__ import annotations

from dataclasses import dataclass

from nereval_core.problems import FormatError, quoted
from nereval_core.report.highlight import document_html, plain_text
from nereval_core.report.marks import marks
from nereval_core.scoring import Scores


@dataclass(frozen=True, repr=False)
class ShownDocument:
    """A document as HTML that needs no script; notebooks show it."""

    html: str

    def __repr__(self) -> str:
        return plain_text(self.html)

    def _repr_html_(self) -> str:
        return self.html


def show(scores: Scores, document: str | int, *, criterion: str | None = None) -> ShownDocument:
    """Show a document, by its id or its number from 0, in a notebook: gold above the text, the prediction below.

    `criterion` is the first one by default.

    Raises:
        FormatError: no such document or criterion, or there are no texts.
    """
    documents = scores.gold.documents
    number = document if isinstance(document, int) else documents.index.get(document, -1)
    names = [criterion_row.name for criterion_row in scores.criteria]
    name = names[0] if criterion is None else criterion
    if not 0 <= number < len(documents):
        raise FormatError.single("show", None, f"no document {quoted(str(document))}", "name an id, or a place from 0")
    if name not in names:
        raise FormatError.single("show", None, f"not scored under {quoted(name)}", f"name one of {', '.join(names)}")
    if documents.sizes is not None:
        raise FormatError.single("show", None, "no texts", "give them: score(…, texts=…)")
    html = document_html(documents.texts[number], marks(scores, name, number), types=scores.types)
    return ShownDocument(str(html))
