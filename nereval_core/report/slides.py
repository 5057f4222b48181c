"""Slides: a title, one record in its text, bars of decisions, a heat map, and a missing record, legible from afar.

Sizes are in em of the slide, whose letters grow with the window; the text is never below 24 pixels. A slide fits a
window of 1024 by 768 and of 1440 by 900: longer text is cut at sentences or words. What holds slides includes STYLE
once; its variables `--nvs-size` and `--nvs-height` make slides of another size.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from unicodedata import east_asian_width

from markupsafe import Markup, escape

from nereval_core.report.colours import LOOKS
from nereval_core.report.excerpts import CUT, cut_around
from nereval_core.report.highlight import STYLE as TEXT_STYLE
from nereval_core.report.highlight import characters_of_line, document_html, text_height
from nereval_core.report.marks import USUAL_WORDS, Mark, SideWords
from nereval_core.tables.glossary import DECISIONS

HEIGHT_EM = 18.0
"""Height for the text and the comments of reviewers, at 16 to 10 and at 4 to 3."""
LINE_CHARACTERS = 80
PLAIN, MARKED, SAID = 1.7, 3.9, 1.35
"""Em of a line of text, of a line with a span, and of a line of comments."""
SIZES = (2.0, 1.7, 1.4, 1.2, 1.0)
"""Sizes of the letters of a text, in em: the largest in which the sentence of the record fits is taken."""
FULL_LINE = 0.92
"""Share of a line's characters that it has on average."""
LEVEL_COLUMNS = 6
"""Columns of a heat map up to which their names stand level."""
SHRINKING = 0.8
"""Share of the characters of an excerpt that is tried next where it does not fit."""
PATTERN_SIZE = 1.3
"""Size of the sentence on a pattern, in em."""
QUOTE = 60
WORDS = 240
"""Characters of the text of a span, and of a comment or note; half as many each if there are both."""


@dataclass(frozen=True)
class Text:
    """A text with the spans of one record in it, and the other spans of the document as `neighbours`.

    `sentences` are the document's own, (start, end) in code points; `types` are those of the whole corpus.
    """

    text: str
    marks: Sequence[Mark]
    sentences: Sequence[tuple[int, int]] = ()
    types: Sequence[str] = ()
    neighbours: Sequence[Mark] = ()


class Pattern(NamedTuple):
    """A pattern of errors that a record is an example of: its sentence, and its numbers in words."""

    sentence: str
    numbers: str


@dataclass(frozen=True)
class Slide:
    """A record on a slide: `gold` and `pred` are words and type of its spans, None where it has none.

    `verdict` names reviewer and verdict, `note` is the reviewer's, `comment` the playlist's. `under` names system and
    criterion, `place` the number of the slide. `pattern` stands above an example of it. `words` name
    sides and decisions.
    """

    heading: str
    place: str
    under: str
    text: Text
    decision: str
    reason: str
    gold: tuple[str, str] | None
    pred: tuple[str, str] | None
    verdict: str = ""
    note: str = ""
    comment: str = ""
    pattern: Pattern | None = None
    words: SideWords = USUAL_WORDS


def slide_html(slide: Slide) -> Markup:
    """Return the HTML of a record's slide."""
    look = LOOKS[slide.decision]
    most = WORDS // 2 if slide.note and slide.comment else WORDS
    comments = _comments(slide.verdict, shortened(slide.note, most), shortened(slide.comment, most))
    excerpt = _fitted(slide, most)
    sides = ((slide.words.gold, slide.gold), (slide.words.prediction, slide.pred))
    text = document_html(
        excerpt.text,
        excerpt.marks,
        types=slide.text.types,
        style=False,
        neighbours=excerpt.neighbours,
        words=slide.words,
    )
    pattern = slide.pattern
    return slide_page(
        slide.heading,
        slide.place,
        slide.under,
        Markup("")
        if pattern is None
        else Markup('<div class="nvs-pattern"><h2>{}</h2><p>{}</p></div>').format(*pattern),
        Markup('<div class="nvs-body"><div style="font-size:{}em">{}</div></div>').format(excerpt.size, text),
        Markup('<div class="nvs-said"><p class="nvs-decision">{} <span>{}</span></p><dl>{}</dl>{}</div>').format(
            _chip(slide.decision, f"{look.glyph} {slide.words.decision(slide.decision)}"),
            slide.reason,
            Markup("").join(_side(name, span) for name, span in sides),
            comments,
        ),
        legend=slide.words,
    )


class _Excerpt(NamedTuple):
    """The part of a text that a slide shows, the size of its letters in em, and the spans in it."""

    size: float
    text: str
    marks: list[Mark]
    neighbours: list[Mark]


def _fitted(slide: Slide, most: int) -> _Excerpt:
    """Return the excerpt of a slide's text in the largest letters in which its sentence fits, its neighbours too."""
    for size in SIZES:
        excerpt = _cut(slide, size, _room(slide, most, size))
        if excerpt.text in slide.text.text and _fits(slide, most, excerpt):
            return excerpt
    room = _room(slide, most, size)
    while not _fits(slide, most, excerpt) and room > LINE_CHARACTERS:
        room = int(room * SHRINKING)
        excerpt = _cut(slide, size, room)
    return excerpt


def _cut(slide: Slide, size: float, room: int) -> _Excerpt:
    text = slide.text
    n_own = len(text.marks)
    words, marks = cut_around(text.text, text.marks, room, text.sentences, neighbours=text.neighbours)
    return _Excerpt(size, words, marks[:n_own], marks[n_own:])


def _fits(slide: Slide, most: int, excerpt: _Excerpt) -> bool:
    """Tell whether an excerpt with its neighbours fits; without neighbours `_room` sees to that."""
    if not excerpt.neighbours:
        return True
    # Lines end where words do, and no label is cut.
    line = int(_line_characters(slide.text, excerpt.size) * FULL_LINE)
    marks = [*excerpt.marks, *excerpt.neighbours]
    return text_height(excerpt.text, marks, line) <= _height(slide, most, excerpt.size)


def _height(slide: Slide, most: int, size: float) -> float:
    """Return the height for the text beside comments and a pattern, in em of letters of `size` em."""
    blocks = (min(len(slide.verdict), WORDS) + min(len(slide.note), most), min(len(slide.comment), most))
    height = HEIGHT_EM - sum(SAID * (-(-length // LINE_CHARACTERS) + 0.3) for length in blocks if length)
    return (height - (0 if slide.pattern is None else _pattern_height(slide.pattern))) / size


def _line_characters(text: Text, size: float) -> int:
    beginning = text.text[text.marks[0].start :][:500]
    wide = sum(2 if east_asian_width(char) in "FW" else 1 for char in beginning)
    return int(LINE_CHARACTERS / size) * len(beginning) // wide


def _room(slide: Slide, most: int, size: float) -> int:
    """Return the number of characters of text that fit on a slide with its comments, in letters of `size` em."""
    height, marks = _height(slide, most, size), slide.text.marks
    line = characters_of_line(slide.text.text, marks, _line_characters(slide.text, size))
    span = max(mark.end for mark in marks) - min(mark.start for mark in marks)
    longest = int(line * (height / MARKED - 1))
    if span > longest:
        return longest
    # A span may begin in the middle of a line, and then needs one line more.
    lines = int((height - MARKED * (1 + -(-span // line))) / PLAIN)
    # As many lines fit as if all had spans.
    return max(span + line * max(lines, 0), line * int(height / MARKED))


def _pattern_height(pattern: Pattern) -> float:
    lines = -(-len(pattern.sentence) * PATTERN_SIZE // LINE_CHARACTERS)
    return float(SAID * (PATTERN_SIZE * lines + 1.5))


def title_html(
    name: str, facts: Iterable[tuple[str, str]], hint: str = "", *, words: SideWords = USUAL_WORDS
) -> Markup:
    """Return the HTML of the first slide: a name, and facts as (term, words)."""
    rows = Markup("").join(Markup("<dt>{}</dt><dd>{}</dd>").format(term, shortened(words)) for term, words in facts)
    body = Markup('<div class="nvs-body nvs-title"><h1>{}</h1><dl>{}</dl><p class="nvs-hint">{}</p></div>')
    return slide_page("", "", "", body.format(name, rows, hint), legend=words)


class Bar(NamedTuple):
    """A bar of decisions: its name, F1 and interval in words, and counts by decision."""

    name: str
    f1: str
    interval: str
    counts: Mapping[str, int]


def bars_html(
    heading: str,
    under: str,
    title: str,
    bars: Iterable[Bar],
    note: str = "",
    *,
    words: SideWords = USUAL_WORDS,
) -> Markup:
    """Return the HTML of a slide with a bar a criterion; `note` says what the numbers are of."""
    rows = Markup("").join(
        Markup('<dt>{}</dt><dd>{}</dd><dd>{}<span class="nvs-interval">{}</span></dd>').format(
            bar.name,
            Markup("").join(_segment(code, count) for code, count in bar.counts.items() if count),
            bar.f1,
            bar.interval and f" {bar.interval}",
        )
        for bar in bars
    )
    note_html = Markup('<p class="nvs-method">{}</p>').format(note) if note else Markup("")
    body = Markup('<div class="nvs-body nvs-figure"><h2>{}</h2><dl class="nvs-bars">{}</dl>{}</div>').format(
        title, rows, note_html
    )
    return slide_page(heading, "", under, body, legend=words)


def map_html(heading: str, under: str, title: str, table: Mapping[str, Sequence[Any]], note: str = "") -> Markup:
    """Return the HTML of a slide with a confusion table; `note` says what it hides.

    `table` has the words of the two `sides` (rows, then columns), the names of its `rows` and `columns`, the `texts` of
    its cells and their `shades`, row by row: 0 to 1, None for a cell without one.
    """
    is_upright = len(table["columns"]) > LEVEL_COLUMNS
    head = Markup("").join(Markup('<th scope="col">{}</th>').format(breakable(name)) for name in table["columns"])
    rows = Markup("").join(
        Markup('<tr><th scope="row">{}</th>{}</tr>').format(
            breakable(name), Markup("").join(_shaded(*cell) for cell in zip(texts, shades, strict=True))
        )
        for name, texts, shades in zip(table["rows"], table["texts"], table["shades"], strict=True)
    )
    body = Markup(
        '<div class="nvs-body nvs-figure"><h2>{}</h2><table class="{}" style="--nvs-rows:{};--nvs-columns:{}">'
        "<thead><tr><td>{}</td>{}</tr></thead>"
        "<tbody>{}</tbody></table><p>{}</p></div>"
    ).format(
        title,
        "nvs-upright" if is_upright else "",
        len(table["rows"]) + (5 if is_upright else 2),
        len(table["columns"]),
        " → ".join(table["sides"]),
        head,
        rows,
        note,
    )
    return slide_page(heading, "", under, body)


def gone_html(
    heading: str, place: str, why: str, remedy: str, was: tuple[str, str, str] = ("", "", ""), comment: str = ""
) -> Markup:
    """Return the HTML of a record that cannot be shown: the reason, the remedy, and its text when it was added."""
    before, quote, after = was
    old = Markup("<blockquote>{}<mark>{}</mark>{}</blockquote>").format(
        from_word(before), shortened(quote), to_word(after)
    )
    body = Markup('<div class="nvs-body nvs-gone"><h2>{}</h2><p>{}</p>{}{}</div>').format(
        why, remedy, old if quote else "", _comments("", "", shortened(comment))
    )
    return slide_page(heading, place, "", body)


def shortened(text: str, most: int = WORDS) -> str:
    """Return text on one line, cut at a word."""
    line = " ".join(text.split())
    if len(line) <= most:
        return line
    cut = line[: most - 1]
    return f"{cut.rpartition(' ')[0] or cut}{CUT}"


def from_word(text: str, most: int = WORDS) -> str:
    """Return the end of some text that stands before other text, on one line and from where a word begins."""
    line = " ".join(f"{text}|".split())[:-1]
    # Not all scripts have blanks.
    return line if len(line) <= most else f"{CUT} {line[-most - 1 :].partition(' ')[2] or line[-most:]}"


def to_word(text: str, most: int = WORDS) -> str:
    """Return the beginning of some text that stands after other text, on one line and up to where a word ends."""
    line = " ".join(f"|{text}".split())[1:]
    return line if len(line) <= most else f"{line[: most + 1].rpartition(' ')[0] or line[:most]} {CUT}"


def slide_page(heading: str, place: str, under: str, *parts: Markup, legend: SideWords | None = None) -> Markup:
    """Return a slide: its header, its parts, and with a `legend` sides and decisions at its foot."""
    head = Markup(
        '<header class="nvs-head"><b>{}</b><span class="nvs-under">{}</span><span class="nvs-place">{}</span></header>'
    ).format(heading, under, place)
    foot = Markup("") if legend is None else _legend(legend)
    return Markup('<section class="nvs">{}{}{}</section>').format(
        head if heading or place else "", Markup("").join(parts), foot
    )


def _legend(words: SideWords) -> Markup:
    chips = Markup("").join(_chip(code, f"{LOOKS[code].glyph} {words.decision(code)}") for code in DECISIONS)
    note = f"{words.gold} above the text, {words.prediction} below it"
    return Markup('<footer class="nvs-foot">{}<span>{}</span></footer>').format(chips, note)


def breakable(name: str) -> Markup:
    """Return a name that may go over several lines after its signs, as in NO_NORMALIZABLES."""
    return Markup("<wbr>").join(escape(part) for part in _SIGN.split(name))


_SIGN = re.compile(r"(?<=[_./:-])")


def _chip(code: str, words: str) -> Markup:
    return Markup('<span class="nvs-chip" style="{}">{}</span>').format(_colours(code), words)


def _colours(code: str) -> str:
    """Return the colours of a decision as a style, for both themes."""
    colour = LOOKS[code].colour
    fill, ink = ("light-dark({}, {})".format(*pair) for pair in (colour.fill, colour.ink))
    return f"background:{fill};color:{ink}"


def _segment(code: str, count: int) -> Markup:
    return Markup('<span style="flex:{} 1 0;{}">{} {:,}</span>').format(count, _colours(code), LOOKS[code].glyph, count)


def _shaded(text: str, shade: float | None) -> Markup:
    inked = " nvs-full" if shade is not None and shade > 0.5 else ""
    return Markup('<td class="nvs-cell{}" style="--nvs-shade:{}">{}</td>').format(inked, shade or 0, text)


def _side(name: str, span: tuple[str, str] | None) -> Markup:
    if span is None:
        return Markup('<dt>{}</dt><dd class="nvs-none">no span</dd>').format(name)
    quote, kind = span
    return Markup("<dt>{}</dt><dd><b>{}</b> <q>{}</q></dd>").format(name, kind, shortened(quote, QUOTE))


def _comments(verdict: str, note: str, comment: str) -> Markup:
    noted = Markup("<i>: {}</i>").format(note) if note else ""
    verdict_html = Markup('<p class="nvs-verdict">{}{}</p>').format(shortened(verdict, WORDS), noted) if verdict else ""
    return Markup("{}{}").format(
        verdict_html, Markup('<p class="nvs-comment">{}</p>').format(comment) if comment else ""
    )


STYLE = TEXT_STYLE + Markup(
    "<style>"
    ".nvs{font-size:var(--nvs-size,clamp(24px,min(2.1vw,3.4vh),52px));line-height:1.35;height:var(--nvs-height,100dvh);box-sizing:border-box;display:flex;"
    "flex-direction:column;gap:.6em;padding:.7em 1.2em .6em;overflow:hidden}"
    ".nvs *{box-sizing:border-box}"
    ".nvs p,.nvs dl,.nvs dd,.nvs h1,.nvs h2,.nvs blockquote{margin:0;padding:0;font-size:inherit}"
    ".nvs-head{display:flex;gap:1em;align-items:baseline;font-size:.8em;"
    "border-bottom:1px solid #8888;padding-bottom:.3em}"
    # The heading, which is the same on all slides, gives way to the document of this one.
    ".nvs-head b{flex:0 9999 auto;min-width:7em;overflow:hidden;text-overflow:ellipsis;white-space:nowrap}"
    ".nvs-under{flex:1 1 auto;min-width:0;overflow:hidden;text-overflow:ellipsis;white-space:nowrap;opacity:.8}"
    ".nvs-place{white-space:nowrap;font-variant-numeric:tabular-nums}"
    ".nvs-body{flex:1 0 auto;min-height:5em;height:5em;overflow:auto;display:flex;flex-direction:column;"
    "justify-content:safe center}"
    ".nvs .nvh-text{white-space:normal}.nvs .nvh-whole{white-space:nowrap}"
    ".nvs .nvs-pattern h2{font-size:1.3em;line-height:1.2;overflow-wrap:anywhere}.nvs-pattern p{opacity:.8}"
    ".nvs-said{display:flex;flex-direction:column;gap:.4em;min-height:0;overflow:auto}"
    ".nvs-decision>span:last-child{margin-inline-start:.4em}"
    ".nvs-chip{display:inline-block;border-radius:.3em;padding:0 .45em;font-weight:600;white-space:nowrap}"
    ".nvs-said dl{display:grid;grid-template-columns:auto minmax(0,1fr);gap:0 .8em}"
    ".nvs dt{opacity:.8;font-weight:400}"
    ".nvs dd{overflow-wrap:anywhere}"
    ".nvs q{quotes:none;opacity:.9}.nvs-none{opacity:.8}"
    ".nvs-comment,.nvs-verdict{border-inline-start:.2em solid currentColor;padding-inline-start:.6em!important;"
    "overflow-wrap:anywhere}"
    ".nvs-comment{font-weight:600}"
    ".nvs-foot{display:flex;flex-wrap:wrap;gap:.3em .6em;align-items:baseline;font-size:max(16px,.6em);"
    "padding-inline-end:8.5rem}"
    ".nvs-foot>span:last-child{opacity:.8;margin-inline-start:.4em}"
    ".nvs .nvs-title h1{font-size:2em;line-height:1.15;margin-bottom:.5em;overflow-wrap:anywhere}"
    ".nvs-title dl{display:grid;grid-template-columns:fit-content(45%) minmax(0,1fr);gap:.2em 1em}"
    ".nvs-title dt{overflow-wrap:anywhere}"
    ".nvs .nvs-figure h2{font-size:1.3em;line-height:1.2;margin-bottom:.6em;overflow-wrap:anywhere}"
    ".nvs-figure p{opacity:.8}"
    ".nvs .nvs-bars{display:grid;grid-template-columns:auto minmax(min-content,1fr) auto;gap:.5em .8em;"
    "align-items:center;font-variant-numeric:tabular-nums}"
    ".nvs-bars dd:nth-of-type(odd){display:flex;gap:3px;height:2.2em;line-height:2.2em}"
    ".nvs-bars dd:nth-of-type(odd) span{min-width:max-content;padding:0 .15em;white-space:nowrap;text-align:center;"
    "border-radius:.15em}"
    ".nvs-bars dd:nth-of-type(even){white-space:nowrap}"
    "@media (max-width:500px){.nvs .nvs-bars{column-gap:.4em}.nvs-bars dd:nth-of-type(odd){gap:1px}"
    ".nvs-bars dd:nth-of-type(odd) span{font-size:.72em;padding:0}}"
    ".nvs-interval{font-size:.75em;opacity:.8;white-space:nowrap}"
    ".nvs p.nvs-method{font-size:max(16px,.65em);margin-top:.8em}"
    ".nvs-ranks{display:grid;gap:0 .6em;align-items:center;font-variant-numeric:tabular-nums;"
    "font-size:min(1em,calc((var(--nvs-height,100dvh) - 14em)/var(--nvs-em)))}"
    ".nvs-ranks b{font-weight:400;line-height:1.1;overflow-wrap:anywhere}.nvs-ranks b.nvs-facet{text-align:end}"
    ".nvs-ranks>span{white-space:nowrap}.nvs-plot,.nvs-grid,.nvs-axis{position:relative;height:100%;align-self:stretch}"
    ".nvs-mark{display:inline-block;width:.6em;height:.6em}"
    ".nvs-plot .nvs-mark{position:absolute;top:50%;margin:-.3em 0 0 -.3em}"
    ".nvs-line{position:absolute;top:50%;height:.14em;margin-top:-.07em;border-radius:.07em}"
    ".nvs-grid i{position:absolute;top:0;bottom:0;border-inline-start:1px solid #8886}"
    ".nvs-axis i{position:absolute;top:.3em;transform:translateX(-50%);font-style:normal;font-size:.8em;opacity:.8}"
    ".nvs-bracket{align-self:stretch;padding-block:calc(var(--nvs-row)*.56)}"
    ".nvs-bracket i{display:block;height:100%;border:2px solid currentColor;border-inline-start:0;opacity:.7}"
    ".nvs p.nvs-legend{display:flex;flex-wrap:wrap;gap:0 1em;font-size:.8em;opacity:1;margin-bottom:.5em}"
    ".nvs-legend>span{overflow-wrap:anywhere}"
    ".nvs-figure table{border-collapse:separate;border-spacing:3px;font-variant-numeric:tabular-nums;"
    "font-size:min(1em,calc((var(--nvs-height,100dvh) - 9em)/(var(--nvs-rows)*2)))}"
    ".nvs-figure th{font-weight:400;max-width:11em;overflow-wrap:anywhere;line-height:1.1}"
    ".nvs-figure thead td{opacity:.8;text-align:right;padding-inline-end:.5em;white-space:nowrap}"
    ".nvs-figure tbody th{text-align:right;padding-inline-end:.5em}"
    ".nvs-figure thead th{max-width:calc(36em/var(--nvs-columns));padding:0 .2em .2em;vertical-align:bottom}"
    ".nvs-figure .nvs-upright thead th{writing-mode:sideways-lr;max-width:none;max-height:8em;text-align:start;"
    "padding:.2em 0;vertical-align:bottom;margin:auto}"
    ".nvs-figure .nvs-upright{width:max-content;max-width:100%}"
    ".nvs-cell{min-width:2.6em;height:1.7em;text-align:center;border-radius:.15em;background:color-mix(in oklab,"
    "light-dark(#1a4f8f,#8ec1ff) calc(var(--nvs-shade)*90%),light-dark(#f0f2f6,#2d2b27))}"
    ".nvs-cell.nvs-full{color:light-dark(#fff,#10100e)}"
    ".nvs p.nvs-hint{font-size:max(16px,.7em);opacity:.8;margin-top:.8em}"
    ".nvs-gone{gap:.8em}.nvs .nvs-gone h2{font-size:1.4em}"
    ".nvs blockquote{border-inline-start:.2em solid #8888;padding-inline-start:.6em!important;overflow-wrap:anywhere}"
    ".nvs mark{background:none;color:inherit;font-weight:700;text-decoration:underline}"
    "@media (max-width:600px){.nvs{font-size:var(--nvs-size,18px)}.nvs-figure table{font-size:.7em}"
    ".nvs-ranks{column-gap:.3em}.nvs-ranks.nvs-whole{--nvs-row:2.8em!important}.nvs-whole b{font-size:.8em}"
    ".nvs-interval{display:none}.nvs-axis i:nth-child(even){display:none}"
    ".nvs-head{flex-wrap:wrap;row-gap:0}.nvs-head b{flex-grow:1;max-width:60%}"
    ".nvs-under{order:1;flex-basis:100%;white-space:normal;overflow-wrap:anywhere}"
    ".nvs-title dl{grid-template-columns:minmax(0,1fr);gap:0}.nvs-title dd{margin-bottom:.4em}"
    ".nvs-figure thead th{writing-mode:sideways-lr;max-width:none;max-height:9em;text-align:start;padding:.2em 0;"
    "margin:auto}.nvs-foot{display:none}.nvs-said{max-height:55%}}"
    "</style>"
)
