"""Text with its spans marked: segments and lanes as data, and HTML that needs no script.

The plain text of the rendering is the document, character for character: the texts of the segments make up the text,
and `plain_text` reads it back from the HTML. Two characters need care there: a parser turns a bare CR into LF, so it is
written as a reference; NUL cannot be written in HTML, so its control picture `␀` stands in an element whose `data-char`
names the character.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from html.parser import HTMLParser
from itertools import accumulate
from math import ceil
from typing import Literal

from markupsafe import Markup, escape

from nereval_core.corpus import Fragments
from nereval_core.problems import counted, name_text
from nereval_core.report.colours import LOOKS, Colour, type_colours
from nereval_core.report.marks import SIDES, TRACKS, USUAL_WORDS, Mark, Side, SideWords

NUL = "␀"
"""The picture of the character that HTML cannot hold."""
LANES = 12
"""Lanes on each side; spans beyond them are not drawn, but counted."""

WINDOW_CHARACTERS = 20_000
WINDOW_MARKS = 1_500
_WINDOW_AT_LEAST = 500


@dataclass(frozen=True, slots=True)
class Stroke:
    """A mark's part in one segment; `mark` counts the marks as given. A gap lies between two fragments."""

    mark: int
    lane: int
    starts: bool
    ends: bool
    gap: bool


@dataclass(frozen=True, slots=True)
class Segment:
    """A piece of text within which no span begins or ends; `start` in code points of the text."""

    start: int
    text: str
    strokes: tuple[Stroke, ...] = ()


def lanes(marks: Sequence[Mark], *, limit: int = LANES, first: str = "") -> list[int | None]:
    """Return the lane of each mark on its side, counted from the text outwards, None where all lanes are occupied.

    The assignment is greedy and independent of input order, except for duplicates: shorter spans come first, so an
    inner span lies nearer to the text than the one around it. No two marks of one side, system and lane overlap, gaps
    of discontinuous spans included. The marks of record `first` are placed before all others if they would not be drawn
    otherwise.
    """
    lane_of_mark = _lanes(marks, limit, "")
    if first and any(lane is None and mark.record == first for lane, mark in zip(lane_of_mark, marks, strict=True)):
        return _lanes(marks, limit, first)
    return lane_of_mark


def lanes_with_labels(marks: Sequence[Mark], labels: Sequence[str], *, first: str = "") -> list[int | None]:
    """Return lanes as `lanes` does, in which a label that is longer than its span has room, where lanes suffice.

    The width of a label is estimated as a number of characters of the text, as the browser alone knows it. An empty
    label takes no room.
    """
    ends = [
        max(mark.end, mark.start + ceil(_LABEL_CHARACTER * len(label)) + 1) if label else mark.end
        for mark, label in zip(marks, labels, strict=True)
    ]
    wide = [
        replace(mark, fragments=(*mark.fragments[:-1], (mark.fragments[-1][0], end)))
        for mark, end in zip(marks, ends, strict=True)
    ]
    placed = lanes(wide, first=first)
    return lanes(marks, first=first) if None in placed else placed


def _lanes(marks: Sequence[Mark], limit: int, first: str) -> list[int | None]:
    rows_of_track: dict[tuple[Side, str], list[list[tuple[int, int]]]] = {}
    lane_of_mark: list[int | None] = [None] * len(marks)

    def rank(number: int) -> tuple[bool, int, int, str, Fragments]:
        mark = marks[number]
        is_first = bool(first) and mark.record == first
        return (not is_first, mark.end - mark.start, mark.start, mark.type, mark.fragments)

    for number in sorted(range(len(marks)), key=rank):
        mark = marks[number]
        rows = rows_of_track.setdefault((mark.side, mark.system), [[] for _ in range(limit)])
        for lane, row in enumerate(rows):
            place = bisect_left(row, (mark.end, -1))
            # The rows hold disjoint intervals: only the last one that starts before our end can reach into us.
            if place == 0 or row[place - 1][1] <= mark.start:
                insort(row, (mark.start, mark.end))
                lane_of_mark[number] = lane
                break
    return lane_of_mark


def segments(
    text: str,
    marks: Sequence[Mark],
    *,
    limit: int = LANES,
    cuts: Iterable[int] = (),
    first: str = "",
    placed: Sequence[int | None] | None = None,
) -> list[Segment]:
    """Cut a text where a fragment of a drawn mark begins or ends, and at `cuts` (code points).

    The segments make up the text; none is empty. A segment has at most `limit` strokes per side, in the order of
    TRACKS, each side sorted by lane. Known lanes may be given as `placed`.
    """
    placed = lanes(marks, limit=limit, first=first) if placed is None else placed
    edges = {0, len(text), *cuts}
    for mark, lane in zip(marks, placed, strict=True):
        if lane is not None:
            edges.update(edge for part in mark.fragments for edge in part)
    bounds = sorted(edge for edge in edges if 0 <= edge <= len(text))
    at = {edge: number for number, edge in enumerate(bounds)}
    strokes: list[list[Stroke]] = [[] for _ in bounds[1:]]
    for number, (mark, lane) in enumerate(zip(marks, placed, strict=True)):
        if lane is None:
            continue
        inside = {piece for low, high in mark.fragments for piece in range(at[low], at[high])}
        for piece in range(at[mark.start], at[mark.end]):
            strokes[piece].append(
                Stroke(number, lane, bounds[piece] == mark.start, bounds[piece + 1] == mark.end, piece not in inside)
            )
    for row in strokes:
        row.sort(key=lambda stroke: (TRACKS.index(marks[stroke.mark].side), stroke.lane))
    return [
        Segment(low, text[low:high], tuple(row)) for low, high, row in zip(bounds, bounds[1:], strokes, strict=False)
    ]


def paragraphs(text: str) -> list[tuple[int, int]]:
    """Return the paragraphs as (start, end) in code points, each with its line end; together they are the text."""
    bounds = []
    low = 0
    while low < len(text):
        high = text.find("\n", low) + 1 or len(text)
        bounds.append((low, high))
        low = high
    return bounds


def windows(
    text: str,
    starts: Sequence[int],
    *,
    ends: Sequence[int] = (),
    characters: int = WINDOW_CHARACTERS,
    marks: int = WINDOW_MARKS,
) -> list[tuple[int, int]]:
    """Cut a long text into windows (start, end), at paragraphs where there are any, else at sentences or spaces.

    `starts` are the sorted starts of the spans. A window holds at most `characters` code points, and at most `marks`
    starts unless that would make it shorter than 500 characters. Where `ends` has the ends of the same spans, a window
    ends within a span only if there is no such place outside of all spans.
    """
    furthest_ends = list(accumulate(ends, max))
    bounds = []
    low = 0
    while low < len(text):
        high = min(len(text), low + characters)
        beyond = bisect_left(starts, low) + marks
        if beyond < len(starts):
            high = min(high, max(starts[beyond], low + _WINDOW_AT_LEAST))
        if high < len(text):
            high = _break_before(text, low, high, starts, furthest_ends)
        bounds.append((low, high))
        low = high
    return bounds or [(0, 0)]


def _break_before(text: str, low: int, high: int, starts: Sequence[int], furthest_ends: Sequence[int]) -> int:
    """Return the place where a window from `low` ends, at most `high`.

    `furthest_ends` has for each span the furthest end up to it, or is empty.
    """

    def is_free(place: int) -> bool:
        before = bisect_left(starts, place) - 1
        return before < 0 or not furthest_ends or furthest_ends[before] <= place

    line_ends = [match.end() for match in _LINE_END.finditer(text, low, high)]
    sentence_ends = [match.end() for match in _SENTENCE_END.finditer(text, max(low, high - _SEARCHED), high)]
    spaces = [place for place in range(max(low, high - 200) + 1, high + 1) if text[place - 1].isspace()]
    places = [place for ends in (line_ends, sentence_ends, spaces) for place in reversed(ends)]
    return next(filter(is_free, places), places[0] if places else high)


_LINE_END, _SENTENCE_END = re.compile("\n"), re.compile(r"[.!?…]\s+(?=\S)")
_SEARCHED = 1_000
"""Characters before the end of a window in which the end of a sentence is searched."""


def document_html(
    text: str,
    marks: Sequence[Mark],
    *,
    colour_by: Literal["decision", "type"] = "decision",
    types: Iterable[str] = (),
    style: bool = True,
    neighbours: Sequence[Mark] = (),
    words: SideWords = USUAL_WORDS,
) -> Markup:
    """Return a text with gold spans ruled above and predicted spans below, as HTML that needs no script.

    Labels come from style sheets, not from the text, and stand on the rules without moving a word. Give the types of
    the whole corpus as `types`, so that their colours do not depend on the marks shown. Only the tracks of SIDES are
    drawn. Each line is as high as its own lanes need. `neighbours` are further spans, drawn without a background.
    `words` name the sides and decisions.
    """
    n_own = len(marks)
    marks = [*marks, *neighbours]
    assert all(mark.side in SIDES for mark in marks), "a third track is drawn by the reading view only"
    colours = type_colours(types, (mark.type for mark in marks))
    placed = _placed(text, marks)
    body = Markup("").join(
        _kept_whole(
            pieces, [_segment_html(segment, marks, text, colours, colour_by, n_own, words) for segment in pieces]
        )
        for pieces in _connected_segments(placed)
    )
    marks_in_lanes = {stroke.mark for segment in placed for stroke in segment.strokes}
    hidden = len(marks) - len(marks_in_lanes)
    note = (
        Markup('<span class="nvh-chip" data-label="{}"></span>').format(counted(hidden, "more span")) if hidden else ""
    )
    # Nothing beyond the box is drawn: the lines end where the widest label of a span at their end still fits.
    margin = f"padding-inline-end:min({_CHARACTER * label_overhang(text, marks, placed):.1f}em,{_WIDEST_MARGIN:.0%})"
    return Markup('{}<div class="nvh-text" dir="auto" style="line-height:{}em;{}">{}</div>{}').format(
        STYLE if style else "", _LINE, margin, body, note
    )


def label_overhang(text: str, marks: Sequence[Mark], placed: Iterable[Segment] = ()) -> int:
    """Return the most characters by which a label is longer than what of its span stays on one line with it."""
    overhang = 0
    for pieces in _connected_segments(placed or _placed(text, marks)):
        end = pieces[-1].start + len(pieces[-1].text)
        for piece in pieces:
            for mark in (marks[stroke.mark] for stroke in piece.strokes if stroke.starts):
                line_break = None if _is_whole(pieces) else _BREAK.search(text, mark.start, end)
                room = (end if line_break is None else line_break.start()) - mark.start
                overhang = max(overhang, ceil(_LABEL_CHARACTER * len(_label(mark))) + 1 - room)
    return overhang


def characters_of_line(text: str, marks: Sequence[Mark], line: int, placed: Iterable[Segment] = ()) -> int:
    """Return how many of the characters of a line are free for text, beside the margin for labels."""
    return max(line - label_overhang(text, marks, placed), int(line * (1 - _WIDEST_MARGIN)))


def text_height(text: str, marks: Sequence[Mark], line: int) -> float:
    """Return about how high `document_html` draws a text with these marks in lines of so many characters, in em."""
    placed = _placed(text, marks)
    line = characters_of_line(text, marks, line, placed)
    height = 0.0
    for low in range(0, len(text), line):
        in_line = [piece for piece in placed if piece.start < low + line and piece.start + len(piece.text) > low]
        height += _LINE + _LANE * sum(_lanes_used(in_line, marks).values())
    return height


def _placed(text: str, marks: Sequence[Mark]) -> list[Segment]:
    """Return the segments of a text whose labels have room."""
    return segments(text, marks, placed=lanes_with_labels(marks, [_label(mark) for mark in marks]))


def _connected_segments(placed: Iterable[Segment]) -> Iterator[list[Segment]]:
    """Yield the segments in groups that no mark connects with others."""
    group: list[Segment] = []
    for segment in placed:
        group.append(segment)
        if all(stroke.ends for stroke in segment.strokes):
            yield group
            group = []
    if group:
        yield group


def _kept_whole(pieces: Sequence[Segment], html: Sequence[Markup]) -> Markup:
    """Return the HTML of connected segments; short spans are not broken over lines, away from their labels."""
    joined = Markup("").join(html)
    return Markup('<span class="nvh-whole">{}</span>').format(joined) if _is_whole(pieces) else joined


def _is_whole(pieces: Sequence[Segment]) -> bool:
    text = "".join(piece.text for piece in pieces)
    return bool(pieces[0].strokes) and len(text) <= _SHORT and _BREAK.search(text) is not None


_SHORT = 20
"""Characters up to which spans stay on one line: about a third of a line of a narrow window."""
_BREAK = re.compile(r"[ \t\u00ad\u2000-\u200b-]")
_LINE, _LANE = 1.7, 1.1
"""Height of a line without lanes and of a lane, in em."""
_LABEL_CHARACTER = 0.95
"""Width of a character of a label, in characters of the text: labels are smaller, but bold and often capitals."""
_CHARACTER = 0.55
"""Width of a character of the text, in em."""
_WIDEST_MARGIN = 0.3
"""Share of the width that is left free for labels at most."""


def _label(mark: Mark) -> str:
    # A type with characters that change the direction of writing would look like another type.
    return f"{LOOKS[mark.decision].glyph} {name_text(mark.type)}"


def _lanes_used(placed: Iterable[Segment], marks: Sequence[Mark]) -> dict[Side, int]:
    strokes = [stroke for segment in placed for stroke in segment.strokes]
    return {side: 1 + max((s.lane for s in strokes if marks[s.mark].side == side), default=-1) for side in SIDES}


def _segment_html(
    segment: Segment,
    marks: Sequence[Mark],
    text: str,
    colours: Mapping[str, Colour],
    colour_by: str,
    n_own: int,
    words: SideWords,
) -> Markup:
    """Draw a segment; the marks from `n_own` on are neighbours."""
    if not segment.strokes:
        return _characters(segment.text)

    def colour(mark: Mark) -> Colour:
        return LOOKS[mark.decision].colour if colour_by == "decision" else colours[mark.type]

    rows = _lanes_used([segment], marks)
    boxes, labels = [], []
    for stroke in segment.strokes:
        mark = marks[stroke.mark]
        above = mark.side == "gold"
        # Lanes are counted from the text outwards, backgrounds placed from the box's upper or lower edge.
        inset = _LANE * (rows[mark.side] - 1 - stroke.lane)
        ink, fill = ("light-dark({}, {})".format(*pair) for pair in (colour(mark).ink, colour(mark).fill))
        is_own = stroke.mark < n_own
        thickness = _GAP if stroke.gap or not is_own else _RULE
        rule = inset + _LANE - _RULE if above else inset + _LANE - thickness
        layers = [(_DASHES.format(ink) if stroke.gap else f"linear-gradient({ink},{ink})", rule, thickness)]
        if is_own and not stroke.gap:
            layers.append((f"linear-gradient({fill},{fill})", inset, _LANE))
            if stroke.starts and _BREAK.search(segment.text):
                boxes += _dots(ink, inset + (_LANE - _RULE - _DOT) / 2, above=above)
        boxes += [
            f"{paint} 0 {_from_edge(at, above=above)}/100% {height:.2f}em no-repeat" for paint, at, height in layers
        ]
        if stroke.starts:
            labels.append(
                Markup(
                    '<span class="nvh-label nvh-{}" data-label="{}" style="--nvh-lane:{};color:{}{}"></span>'
                ).format(
                    mark.side if is_own else f"{mark.side} nvh-neighbour",
                    _label(mark),
                    stroke.lane,
                    ink,
                    f";--nvh-fill:{fill}" if is_own else "",
                )
            )
    content = _characters(segment.text)
    if labels:
        # Labels are placed by the first character: a longer piece may go over several lines.
        cut = _first_character(segment.text)
        content = Markup('<span class="nvh-at">{}{}</span>{}').format(
            Markup("").join(labels), _characters(segment.text[:cut]), _characters(segment.text[cut:])
        )
    named = [words.of_mark(marks[stroke.mark], text) for stroke in segment.strokes]
    title = "\n".join(named).replace("\0", NUL)
    over, under = _LANE * rows["gold"], _LANE * rows["prediction"]
    # The outer box asks for room above and below on each line that it runs over; the inner one keeps the baseline.
    shift = (over - under) / 2
    return Markup(
        '<span class="nvh-line" style="line-height:{:.2f}em;vertical-align:{:.2f}em">'
        '<span class="nvh-span" title="{}" style="vertical-align:{:.2f}em;background:{};'
        'padding-block:{:.2f}em {:.2f}em">{}</span></span>'
    ).format(_LINE + over + under, shift, title, -shift, ",".join(boxes), over, under, content)


_RULE, _GAP = 0.19, 0.07
"""Thickness of the rule of a span and between its fragments, in em."""
_DOT = 0.16
_DASHES = "repeating-linear-gradient(90deg,{} 0 .25em,#0000 0 .5em)"
"""The rule between two fragments of a span."""


def _from_edge(at: float, *, above: bool) -> str:
    """Return the place of a layer of the background that lies so many em from the outer edge of its side."""
    return f"{at:.2f}em" if above else f"calc(100% - {at:.2f}em)"


def _dots(ink: str, at: float, *, above: bool) -> list[str]:
    """Return the layers of the `…` at the beginning of each further line of a span; its label hides the first one."""
    dot = f"radial-gradient({ink} 55%,#0000 70%)"
    place = _from_edge(at, above=above)
    return [f"{dot} {x:.2f}em {place}/{_DOT}em {_DOT}em no-repeat" for x in (0.22, 0.5, 0.78)]


def _first_character(text: str) -> int:
    """Return the end of the first character of a text and of the marks that combine with it."""
    return next((at for at, char in enumerate(text) if at and unicodedata.category(char) not in _COMBINING), len(text))


_COMBINING = ("Mn", "Mc", "Me", "Cf")
"""Categories of characters which belong to the one before: marks, joiners and selectors."""


def _characters(text: str) -> Markup:
    safe = str(escape(text)).replace("\r", "&#13;")
    return Markup(safe.replace("\0", f'<span class="nvh-char" data-char="0">{NUL}</span>'))


STYLE = Markup(
    "<style>"
    ".nvh-text{white-space:pre-wrap;overflow-wrap:anywhere;unicode-bidi:plaintext;text-align:start;overflow-x:clip}"
    # A page without a doctype gives no height to a box which has neither text of its own nor padding.
    ".nvh-line{padding-inline-end:.01px}"
    ".nvh-span{line-height:1.7em;-webkit-box-decoration-break:clone;box-decoration-break:clone}"
    ".nvh-whole{white-space:pre;overflow-wrap:normal}"
    ".nvh-at{position:relative}"
    ".nvh-label{position:absolute;inset-inline-start:0;user-select:none;pointer-events:none}"
    ".nvh-label.nvh-gold{bottom:calc(100% + var(--nvh-lane)*1.1em)}"
    ".nvh-label.nvh-prediction{top:calc(100% + var(--nvh-lane)*1.1em)}"
    ".nvh-label::before{background:var(--nvh-fill) content-box}"
    ".nvh-label::before,.nvh-chip::before{content:attr(data-label);display:block;font-size:.69em;font-weight:600;"
    "line-height:1.19;white-space:nowrap;padding-inline:.25em;unicode-bidi:isolate}"
    # More than the rule is thick: rounded to pixels, the background would hide a part of it.
    ".nvh-gold::before{padding-block-end:.4em}.nvh-prediction::before{padding-block-start:.4em}"
    ".nvh-neighbour::before{font-weight:400}"
    ".nvh-char{opacity:.6}"
    "</style>"
)


def plain_text(html: str) -> str:
    """Return the text of `document_html`, as tests and readers of an export need it."""
    reader = _PlainText()
    reader.feed(html)
    reader.close()
    return "".join(reader.parts)


class _PlainText(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self.character: str | None = None
        self.style = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.style = tag == "style"
        code = dict(attrs).get("data-char")
        self.character = chr(int(code)) if code is not None else None

    def handle_endtag(self, tag: str) -> None:
        self.style = False
        self.character = None

    def handle_data(self, data: str) -> None:
        if not self.style:
            self.parts.append(self.character if self.character is not None else data)
