"""A document with its mentions, each with its link as a chip, for the reading view. No Streamlit in here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from nereval_core.analysis.linking import LINK_DECISIONS
from nereval_core.analysis.linking.mentions import LinkAlignment, ranked_ids
from nereval_core.analysis.linking.tables import MEANINGS
from nereval_core.report.colours import LINK_LOOKS
from nereval_core.report.highlight import windows
from nereval_core.report.marks import Mark, Side, within
from pages.shared.components.highlighted_text import text_data
from pages.shared.inspect.document import document_rows, neighbours
from pages.shared.linking.link_records import codes, ids_words


def linked_text(
    alignment: LinkAlignment, records: pd.DataFrame, listed: pd.DataFrame, document: int, record: str
) -> dict[str, Any]:
    """Return the data of the reading view: the part of the document that holds the record, else its first part.

    `records` are all link records, `listed` those that j and k go through.
    """
    documents = alignment.gold.documents
    text = documents.texts[document]
    rows = document_rows(records, document)
    marks = _marks(alignment, rows)
    chosen_starts = [mark.start for mark in marks if record and mark.record == record]
    cut = windows(text, sorted(mark.start for mark in marks))
    start = chosen_starts[0] if chosen_starts else 0
    low, high = next(part for part in cut if start < part[1] or part == cut[-1])
    queue, at, _ = neighbours(listed, document, start if chosen_starts else -1, record if chosen_starts else "")
    inside = within(marks, low, high)
    data = text_data(
        text[low:high],
        inside,
        doc=documents.ids[document],
        selected=record if chosen_starts else "",
        queue=queue,
        at=at,
        keys=("j next record", "k previous"),
    )
    data["legend"] = [_painted(name) for name in LINK_DECISIONS]
    if len(cut) > 1:
        data["notes"] += [f"characters {low:,} to {high:,} of {len(text):,}: choose a record to see another part"]
    names = codes(rows)
    for entry in data["marks"]:
        name = names[entry["side"], entry["key"]]
        layer = alignment.gold if entry["side"] == "gold" else alignment.pred
        who = "gold mention" if entry["side"] == "gold" else "predicted mention"
        links = ", ".join(ranked_ids(layer.links[entry["key"]]))
        quote = " ".join(layer.text(entry["key"]).split())
        look = LINK_LOOKS[name]
        title = f"{who} {quote}, linked to {links}, {name}"
        entry |= {"glyph": look.glyph, "word": name, "title": title, **_paint(name)}
    return data


def _marks(alignment: LinkAlignment, rows: pd.DataFrame) -> list[Mark]:
    mentions = []
    sides: Sequence[tuple[Side, str]] = (("gold", "gold"), ("prediction", "pred"))
    for side, column in sides:
        layer = alignment.gold if side == "gold" else alignment.pred
        for span, record, name in zip(rows[column].tolist(), rows["record"], rows["decision"], strict=True):
            # Gold that is missing given the mentions has a prediction without a link: no mention, so no chip.
            if span >= 0:
                parts = layer.fragments.get(span) or ((int(layer.start[span]), int(layer.end[span])),)
                chip = ids_words(ranked_ids(layer.links[span]))
                mentions.append(Mark(side, span, parts, chip, LINK_LOOKS[name].code, record))
    return sorted(mentions, key=lambda mark: (mark.start, -mark.end, mark.side))


def _painted(name: str) -> dict[str, Any]:
    return {"text": f"{LINK_LOOKS[name].glyph} {name}", "title": f"{MEANINGS[name]}.", **_paint(name)}


def _paint(name: str) -> dict[str, list[str]]:
    colour = LINK_LOOKS[name].colour
    return {"fill": list(colour.fill), "ink": list(colour.ink)}
