"""Annotated text: a component that draws marks and a legend and sends back the chosen record.

It is sent paragraphs as segments of text, and marks by segment number. Offsets never leave Python: it counts code
points, the browser UTF-16 units. `highlighted_text.js` takes the keys.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

import streamlit as st

from nereval_core.problems import counted, name_text
from nereval_core.report.colours import LOOKS, Colour, type_colours
from nereval_core.report.highlight import Segment, lanes_with_labels, paragraphs, segments
from nereval_core.report.marks import TRACKS, Mark
from nereval_core.review.layer_words import GOLD_AND_PREDICTION, LayerWords
from nereval_core.tables.glossary import DECISIONS
from pages.shared.server.component_files import component

ColourBy = Literal["decision", "type"]
_HERE = Path(__file__).parent
DRAWING = (_HERE / "text_drawing.js").read_text(encoding="utf-8")
"""The functions that draw a text with its marks; components put them before their own script."""
STYLE = (_HERE / "highlighted_text.css").read_text(encoding="utf-8")
_mount = component(
    "nereval_reading",
    css=STYLE,
    js=DRAWING + (_HERE / "highlighted_text.js").read_text(encoding="utf-8"),
)


def show_text(data: Mapping[str, Any], *, key: str, on_select: Callable[[str, str], None] | None = None) -> None:
    """Show a text from its `text_data`; call `on_select` with document and record id when the reader chooses a span.

    The record id is empty where the reader gives up the choice (Escape).
    """

    def take_choice() -> None:
        selection = st.session_state[key]["select"]
        if on_select is not None and selection:
            on_select(str(selection["doc"]), str(selection["record"]))

    _mount(data=dict(data), key=key, on_select_change=take_choice)


def text_data(
    text: str,
    marks: Sequence[Mark],
    *,
    doc: str = "",
    selected: str = "",
    colour_by: ColourBy = "decision",
    types: Iterable[str] = (),
    queue: Sequence[tuple[str, str]] | None = None,
    at: float = -0.5,
    clickable: bool = True,
    keys: Sequence[str] = (),
    missed: Callable[[int], Sequence[str]] | None = None,
    tokens: Sequence[tuple[int, int]] = (),
    sentences: Sequence[int] = (),
    place: tuple[int, int] | None = None,
    verdicts: Mapping[str, str] = MappingProxyType({}),
    words: LayerWords = GOLD_AND_PREDICTION,
) -> dict[str, Any]:
    """Return the component's data for a text (or a window of it) and its marks.

    `queue` are (document, record) near the present place for j and k, `at` is the present one's place in it, halfway
    between two where it is not among them. `missed` gives the other systems that miss a gold span. `tokens` are (start,
    end), and `sentences` starts, of which the text is to show where they begin. `place` is a stretch of the text to be
    outlined and brought into sight. `verdicts` say by record what reviewers decided, `words` name the two sides. Give
    the types of the whole corpus, so that colours stay the same.
    """
    bounds = paragraphs(text)
    cuts = [*(low for low, _ in bounds), *(place or ()), *sentences, *(edge for token in tokens for edge in token)]
    # Correct spans are quiet, without labels.
    labels = ["" if mark.decision == "COR" else f"{LOOKS[mark.decision].glyph} {mark.type}" for mark in marks]
    placed = segments(text, marks, cuts=cuts, placed=lanes_with_labels(marks, labels, first=selected))
    colours = type_colours(types, (mark.type for mark in marks))
    mark_data: dict[int, dict[str, Any]] = {}
    blocks = []
    number = 0
    for _, high in bounds:
        texts = []
        lanes = dict.fromkeys(TRACKS, 0)
        while number < len(placed) and placed[number].start < high:
            texts.append(placed[number].text)
            for stroke in placed[number].strokes:
                mark = marks[stroke.mark]
                entry = mark_data.setdefault(stroke.mark, {"lane": stroke.lane, "pieces": []})
                lanes[mark.side] = max(lanes[mark.side], stroke.lane + 1)
                if not stroke.gap:
                    entry["pieces"].append(number)
            number += 1
        blocks.append({"texts": texts, "lanes": [lanes[side] for side in TRACKS]})
    hidden = len(marks) - len(mark_data)
    deep = [f"{counted(hidden, 'more span')} too deep to be drawn"] if hidden else []
    return {
        "doc": doc,
        "selected": selected,
        "paragraphs": blocks,
        "marks": [
            _mark(marks[place], entry, text, colours, colour_by, words)
            | {"verdict": verdicts.get(marks[place].record, ""), "system": marks[place].system}
            | ({"missed": list(missed(marks[place].index))} if missed and marks[place].side == "gold" else {})
            for place, entry in sorted(mark_data.items())
        ],
        "legend": _legend(marks, colours, colour_by, words),
        "notes": [
            f"{words.reference} above the text, {words.other} below it",
            *deep,
            *(["a dot: it has a verdict"] if verdicts else []),
        ],
        "tokens": _numbers_at(placed, {start for start, _ in tokens}),
        "sentences": _numbers_at(placed, set(sentences)),
        "keys": list(keys),
        "queue": None if queue is None else [list(item) for item in queue],
        "at": at,
        "clickable": clickable,
        "place": place and [n for n, piece in enumerate(placed) if place[0] <= piece.start < place[1]],
    }


def _numbers_at(placed: Sequence[Segment], starts: Collection[int]) -> list[int]:
    """Return the numbers of the segments that begin at some of the places."""
    return [number for number, segment in enumerate(placed) if segment.start in starts]


def look(code: str, words: LayerWords = GOLD_AND_PREDICTION) -> dict[str, Any]:
    """Return a decision as the component paints it: glyph and words, tooltip and colours."""
    return {"text": words.with_glyph(code), "title": words.tooltip(code), **painted(LOOKS[code].colour)}


def painted(colour: Colour) -> dict[str, list[str]]:
    """Return a colour as the component takes it: fill and ink, each for the light and the dark theme."""
    return {"fill": list(colour.fill), "ink": list(colour.ink)}


def _mark(
    mark: Mark,
    entry: Mapping[str, Any],
    text: str,
    colours: Mapping[str, Colour],
    colour_by: ColourBy,
    words: LayerWords,
) -> dict[str, Any]:
    decision = LOOKS[mark.decision]
    return {
        "side": mark.side,
        "key": mark.index,
        "lane": entry["lane"],
        "parts": _runs(entry["pieces"]),
        "glyph": decision.glyph,
        "code": mark.decision,
        "type": mark.type,
        "name": name_text(mark.type),
        "word": words.name(mark.decision),
        "title": mark_words(mark, text, words),
        "record": mark.record,
        **painted(decision.colour if colour_by == "decision" else colours[mark.type]),
    }


def mark_words(mark: Mark, text: str, words: LayerWords) -> str:
    """Return a span of a text in words, as its tooltip has it."""
    name = f"span of {name_text(mark.system) or words.side(mark.side)}" if words.by_name else ""
    return mark.words(text, name=name, label=words.label(mark.decision))


def _runs(numbers: Sequence[int]) -> list[list[int]]:
    """Join consecutive segment numbers into [first, last]: one run for each fragment."""
    breaks = [place for place, (number, following) in enumerate(pairwise(numbers), start=1) if following != number + 1]
    cuts = [0, *breaks, len(numbers)]
    return [[numbers[low], numbers[high - 1]] for low, high in pairwise(cuts)]


def _legend(
    marks: Sequence[Mark], colours: Mapping[str, Colour], colour_by: ColourBy, words: LayerWords
) -> list[dict[str, Any]]:
    if colour_by == "decision":
        return [look(code, words) for code in DECISIONS]
    return [
        {"text": name_text(name), "title": f"type {name_text(name)}", **painted(colours[name])}
        for name in sorted({mark.type for mark in marks})
    ]
