"""Find the unit of offsets by testing which one makes the quoted texts of a whole file match.

Tools count code points (Python), UTF-16 units (JavaScript, Java) or UTF-8 bytes, from 0 or 1, with the end inside the
span or behind it. Offsets that are off by one give plausible but wrong scores, so that nothing is guessed: quotes that
fit no unit, or several that place spans differently, are refused.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, product
from typing import Literal, NamedTuple, get_args

import numpy as np

from nereval_core.corpus import Place
from nereval_core.corpus.arrays import Int64
from nereval_core.problems import FormatError, Problem, quoted, quoted_apart

Unit = Literal["code points", "UTF-16 units", "UTF-8 bytes"]
UNITS: tuple[Unit, ...] = get_args(Unit)
SHOWN_MISMATCHES = 5
"""Mismatches that are shown where no reading fits."""

UNIT_OPTIONS: Mapping[str, Unit] = {"code-points": "code points", "utf-16": "UTF-16 units", "utf-8": "UTF-8 bytes"}
"""Units as `--offsets` names them."""


class Offsets(NamedTuple):
    """A way to count offsets: unit, offset of the first character, and whether the end is inside the span."""

    unit: Unit = "code points"
    base: int = 0
    inclusive: bool = False

    @property
    def option(self) -> str:
        """The way to count as `parse_offsets` reads it."""
        (unit,) = (word for word, unit in UNIT_OPTIONS.items() if unit == self.unit)
        return ",".join([unit, *(["inclusive"] if self.inclusive else []), *(["from-1"] if self.base else [])])

    def __str__(self) -> str:
        first = "" if self.base == 0 else f", first at {self.base}"
        return f"{self.unit}, end {'inclusive' if self.inclusive else 'exclusive'}{first}"


ALL_OFFSETS = tuple(
    sorted(
        (Offsets(*parts) for parts in product(UNITS, (0, 1), (False, True))),
        key=lambda counting: counting.base + counting.inclusive,
    )
)
"""The ways to count offsets, usual ones first: of several that place all spans alike the first is named."""


def parse_offsets(words: str) -> Offsets:
    """Read what `--offsets` says: a unit of WORDS, and after commas `inclusive` and `from-1`.

    Raises:
        FormatError: it says something else.
    """
    unit, *more = (word.strip().lower() for word in words.split(","))
    if unit not in UNIT_OPTIONS or not set(more) <= {"inclusive", "from-1"}:
        remedy = f"write {', '.join(UNIT_OPTIONS)}, and after it perhaps ,inclusive and ,from-1"
        raise FormatError.single("--offsets", None, f"{quoted(words)} is not a way to count", remedy)
    return Offsets(UNIT_OPTIONS[unit], int("from-1" in more), "inclusive" in more)


def option_value(offsets: Offsets) -> str:
    """Return the words of `--offsets` for offsets, as `parse_offsets` reads them."""
    unit = next(words for words, unit in UNIT_OPTIONS.items() if unit == offsets.unit)
    return f"{unit}{',inclusive' * offsets.inclusive}{',from-1' * bool(offsets.base)}"


def fitting_unit(spans: CountedSpans, texts: Sequence[str], counting: Offsets) -> Offsets | None:
    """Return another unit in which all spans are inside their texts, None for none."""
    others = (counting._replace(unit=unit) for unit in UNITS if unit != counting.unit)
    return next((other for other in others if (convert_offsets(spans, texts, other)[0] >= 0).all()), None)


@dataclass(frozen=True)
class CountedSpans:
    """Spans with offsets as a file counts them: `text` is the number of each one's text, never falling, shape (spans,).

    `quotes` are, by span, the texts that the file says they cover; `alike` gives the form in which a quote is compared,
    for tools that change white space. `where` says at which line a span stands, and `called` what a problem calls it
    where no line tells.
    """

    text: Int64
    start: Int64
    end: Int64
    quotes: Mapping[int, str]
    where: Callable[[int], Place]
    alike: Callable[[str], str] = str
    called: Callable[[int], str] | None = None


@dataclass(frozen=True)
class ConvertedSpans:
    """The unit of the offsets, the spans in code points, end exclusive (-1: outside the text), and a note."""

    counting: Offsets
    start: Int64
    end: Int64
    note: str


def code_points(
    spans: CountedSpans,
    texts: Sequence[str],
    *,
    expected: Offsets,
    stated: Offsets | None = None,
    fixed: bool = True,
    doubtful: bool = False,
    countings: Sequence[Offsets] = ALL_OFFSETS,
) -> ConvertedSpans:
    """Return spans in code points, by the reading that makes all quotes match.

    Where none does, the reading by which most quotes match is used if all others differ in blanks at their edges alone;
    these are counted.

    `expected` is the format's own, used where it fits, before others of `countings`; `stated` is the user's, and then
    the only one tried. Without quotes one of these two is used, with a note unless the format is `fixed` and UTF-16
    units are code points in all texts. A format that is not `fixed`, or `doubtful`, is read by that of code points and
    UTF-16 units which sets spans at the edges of words, where they place them differently.

    Raises:
        FormatError: no reading makes all quotes match, or several do that place spans differently; no quotes, and the
            edges of words do not decide.
    """
    if not spans.quotes:
        is_open = not stated and (doubtful or not fixed)
        if is_open and (decided := _by_word_edges(spans, texts, expected)):
            return decided
        counting_used = stated or expected
        start, end = convert_offsets(spans, texts, counting_used)
        settled = not len(spans.text) or (fixed and not any(map(_astral, texts)))
        return ConvertedSpans(
            counting_used, start, end, "" if settled else f"offsets taken as {counting_used}: no quotes to test them by"
        )
    tried = (stated,) if stated else (expected, *(counting for counting in countings if counting != expected))
    counts: dict[Offsets, int] = {}
    fits: list[tuple[Offsets, Int64, Int64]] = []
    most = len(spans.quotes)
    stripped = replace(spans, alike=_after(str.strip, spans.alike))
    for counting in tried:
        start, end = convert_offsets(spans, texts, counting)
        differing = _differing(spans, texts, start, end)
        counts[counting] = len(spans.quotes) - len(differing)
        if not differing:
            fits.append((counting, start, end))
            if counting == tried[0]:
                break
    if not fits:
        most = max(counts.values())
        for counting in [counting for counting, count in counts.items() if count == most and (count or stated)]:
            start, end = convert_offsets(spans, texts, counting)
            if not _differing(stripped, texts, start, end):
                fits.append((counting, start, end))
    if not fits:
        raise FormatError(_mismatches(spans, texts, counts))
    counting_used, start, end = fits[0]
    other = next((fit for fit in fits[1:] if not all(map(np.array_equal, (start, end), fit[1:]))), None)
    if other is not None:
        # Quotes alone may decide only where all fitting units place the spans alike.
        finding = f"the quotes fit offsets in {counting_used} and in {other[0]}"
        choice = f"{option_value(counting_used)}|{option_value(other[0])}"
        raise FormatError.single(spans.where(0)[0], None, finding, f"say which: --offsets {choice}")
    total = f"{len(spans.quotes):,}"
    forgiven = f", {len(spans.quotes) - most:,} of them but for blanks at an edge" if most < len(spans.quotes) else ""
    return ConvertedSpans(
        counting_used, start, end, f"offsets in {counting_used}: {total} of {total} quotes match{forgiven}"
    )


FIT, MISFIT = 0.9, 0.5
"""The least share of spans at the edges of words in the one way to count, and the largest in the other, that decide."""
JOINED = re.compile(r"[^\W\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\U0010ffff]{2}")
"""Two letters or digits of a script that has blanks between words."""


def _by_word_edges(spans: CountedSpans, texts: Sequence[str], expected: Offsets) -> ConvertedSpans | None:
    """Return spans without quotes by that of code points and UTF-16 units in which they stand at the edges of words.

    None: both ways place them alike, or the expected way sets some outside their texts, which is a problem of its own.

    Raises:
        FormatError: edges of words do not decide.
    """
    others: Mapping[Unit, Unit] = {"code points": "UTF-16 units", "UTF-16 units": "code points"}
    if expected.unit not in others or not any(map(_astral, texts)):
        return None
    countings = (expected, expected._replace(unit=others[expected.unit]))
    (start, end), (other_start, other_end) = places = [convert_offsets(spans, texts, way) for way in countings]
    differing = np.flatnonzero((start != other_start) | (end != other_end)).tolist()
    if not differing:
        return None
    counts = [
        sum(_at_word_edges(texts[spans.text[span]], starts[span], ends[span]) for span in differing)
        for starts, ends in places
    ]
    total = f"{len(differing):,}"
    for at, count in enumerate(counts):
        if count >= FIT * len(differing) and counts[1 - at] <= MISFIT * count:
            note = f"offsets taken as {countings[at]}: {count:,} of {total} spans behind characters such as emoji are "
            note += f"at edges of words, {counts[1 - at]:,} in {countings[1 - at].unit}; no quotes to test them by"
            return ConvertedSpans(countings[at], *places[at], note)
    if (start >= 0).all():
        ways = " and ".join(f"{count:,} in {way.unit}" for way, count in zip(countings, counts, strict=True))
        finding = "no quotes tell what offsets count behind characters such as emoji, nor do edges of words: "
        remedy = f"say which: --offsets {'|'.join(map(option_value, countings))}"
        raise FormatError.single(spans.where(differing[0])[0], None, f"{finding}{ways} of {total} spans", remedy)
    return None


def _at_word_edges(text: str, start: int, end: int) -> bool:
    """Return whether a span is a place that begins and ends with no blank and cuts no word."""
    if start < 0 or text[start].isspace() or text[end - 1].isspace():
        return False
    return not any(JOINED.fullmatch(text, edge - 1, edge + 1) for edge in (start, end) if edge > 0)


def convert_offsets(spans: CountedSpans, texts: Sequence[str], counting: Offsets) -> tuple[Int64, Int64]:
    """Return starts and ends in code points, both -1 where a span is empty, outside its text or cuts a character."""
    start, end = spans.start - counting.base, spans.end - counting.base + int(counting.inclusive)
    numbers, begins = np.unique(spans.text, return_index=True)
    bounds = [*begins.tolist(), len(start)]
    lengths = np.zeros(len(texts), np.int64)
    for number, (low, high) in zip(numbers.tolist(), pairwise(bounds), strict=True):
        unit_offsets = offsets_in_unit(texts[number], counting.unit)
        lengths[number] = len(texts[number])
        if unit_offsets is not None:
            last = int(unit_offsets[-1])
            points = np.full(last + 1, -1, np.int64)
            points[unit_offsets] = np.arange(len(unit_offsets))
            for side in (start, end):
                here = side[low:high]
                side[low:high] = np.where((here >= 0) & (here <= last), points[here.clip(0, last)], -1)
    wrong = (start < 0) | (start >= end) | (end > lengths[spans.text])
    start[wrong] = end[wrong] = -1
    return start, end


def width_of(text: str, unit: Unit) -> int:
    """Return how long a text is in a unit."""
    if unit == "code points" or text.isascii():
        return len(text)
    return len(text.encode("utf-16-le", "surrogatepass")) // 2 if unit == "UTF-16 units" else len(text.encode())


def offsets_in_unit(text: str, unit: Unit) -> Int64 | None:
    """Return the offset in a unit of each place of a text, shape (code points + 1,); None where it is the same."""
    if unit == "code points" or text.isascii():
        return None
    codes = np.frombuffer(text.encode("utf-32-le"), np.uint32)
    widths = 1 + (codes > 0xFFFF) if unit == "UTF-16 units" else 1 + (codes > 0x7F) + (codes > 0x7FF) + (codes > 0xFFFF)
    if widths.max() == 1:
        return None
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(widths, dtype=np.int64)))


CAUSES: Mapping[str, Callable[[str], str]] = {
    "line ends are CR LF in the text and LF where it was annotated": lambda text: text.replace("\r\n", "\n"),
    "line ends are LF in the text and CR LF where it was annotated": lambda text: text.replace("\n", "\r\n"),
    "the text begins with a byte-order mark that was not counted": lambda text: text.removeprefix("\ufeff"),
    "a byte-order mark was counted that the text does not begin with": lambda text: "\ufeff" + text,
    "the text is decomposed (NFD) and was composed (NFC) where it was annotated": lambda text: unicodedata.normalize(
        "NFC", text
    ),
    "the text is composed (NFC) and was decomposed (NFD) where it was annotated": lambda text: unicodedata.normalize(
        "NFD", text
    ),
}
"""Why offsets may fit none of a text as it is, each with the text that they would fit."""
FIRST_QUOTES = 100
"""Quotes that are looked at first: most causes are ruled out by them."""


def mismatch_cause(spans: CountedSpans, texts: Sequence[str], countings: Iterable[Offsets] = ALL_OFFSETS) -> str | None:
    """Return why quotes do not match, where changing the texts in one way makes all of them do."""
    quoted_spans = sorted(spans.quotes)[:FIRST_QUOTES]
    columns = {name: getattr(spans, name)[quoted_spans] for name in ("text", "start", "end")}
    first = replace(spans, **columns, quotes={at: spans.quotes[span] for at, span in enumerate(quoted_spans)})
    for name, change in CAUSES.items():
        for counting in countings:
            if all(_fits(part, texts, change, counting) for part in (first, spans)):
                numbers = {int(spans.text[span]) for span in spans.quotes}
                if any(change(texts[number]) != texts[number] for number in numbers):
                    return f"{name} (offsets in {counting})"
    return None


def _fits(spans: CountedSpans, texts: Sequence[str], change: Callable[[str], str], counting: Offsets) -> bool:
    """Return whether all quotes match the changed texts."""
    changed = list(texts)
    for number in {int(spans.text[span]) for span in spans.quotes}:
        changed[number] = change(texts[number])
    # Quotes may be written in the one way or the other.
    both = replace(spans, alike=_after(change, spans.alike))
    return not _differing(both, changed, *convert_offsets(spans, changed, counting))


def _after(change: Callable[[str], str], alike: Callable[[str], str]) -> Callable[[str], str]:
    return lambda text: alike(change(text))


def _astral(text: str) -> bool:
    """Return whether UTF-16 takes two units for a character."""
    return not text.isascii() and len(text.encode("utf-16-le")) > 2 * len(text)


def _differing(spans: CountedSpans, texts: Sequence[str], start: Int64, end: Int64) -> list[int]:
    """Return the spans whose quotes are not the text at their place."""
    starts, ends, numbers, alike = start.tolist(), end.tolist(), spans.text.tolist(), spans.alike
    return [
        span
        for span, quote in spans.quotes.items()
        if starts[span] < 0
        or (
            quote != (covered := texts[numbers[span]][starts[span] : ends[span]])
            and (alike is str or alike(quote) != alike(covered))
        )
    ]


def _mismatches(spans: CountedSpans, texts: Sequence[str], counts: Mapping[Offsets, int]) -> list[Problem]:
    """Return problems: the best fit of the quotes, a likely cause, and the first mismatches."""
    best = max(counts, key=lambda counting: counts[counting])
    why = mismatch_cause(spans, texts, counts)
    finding = f"the quotes fit no way to count offsets; best is {best}: {counts[best]:,} of {len(spans.quotes):,} match"
    if len(counts) == 1:
        finding = f"the quotes do not fit offsets in {best}: {counts[best]:,} of {len(spans.quotes):,} match"
    other = "mend the offsets or the quotes, or check that the text is the one annotated"
    problems = [Problem(spans.where(0)[0], None, finding, f"mend the text: {why}" if why else other)]
    start, end = convert_offsets(spans, texts, best)
    for span in _differing(spans, texts, start, end)[:SHOWN_MISMATCHES]:
        quote, covered = quoted_apart(spans.quotes[span], texts[spans.text[span]][start[span] : end[span]])
        if start[span] < 0:
            quote = quoted(spans.quotes[span])
        what = "which is not a place in the text" if start[span] < 0 else f"where the text has {covered}"
        whose = f"{spans.called(span)}: " if spans.called else ""
        finding = f"{whose}{quote} at {spans.start[span]} to {spans.end[span]}, {what}"
        problems.append(Problem(*spans.where(span), finding, "mend the offsets or the quote"))
    return problems
