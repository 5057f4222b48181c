"""The view: the state of a page as data, of which each field is a parameter of the link. No Streamlit in here.

A field declares the codec by which its parameter is written and read. Lists are written with commas; a comma,
semicolon, equals or percent sign inside a name is written as %2C, %3B, %3D, %25. In `gold` and `pred` a lone `-` means
that this side has no span (the name `-` is written %2D).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Generic, TypeVar
from urllib.parse import unquote

from nereval_core.problems import quoted
from nereval_core.records.queries import ABSENT, ORDERS
from nereval_core.report.link_names import escaped_name, merges_parameter, names_parameter
from nereval_core.tables.glossary import DECISIONS

Value = TypeVar("Value")
PREFIX = 16
"""Hexadecimal digits of a corpus digest that stand in a link; at least 12 are asked for."""
_PLACE = re.compile(r"\d{1,9}-\d{1,9}")
_RECORD = re.compile(r"[gp]:\d+-\d+(,\d+-\d+)*:.+", re.DOTALL)
_PATTERN = re.compile(r"kind:[a-z-]+(;[a-z-]+:[^;]+)*", re.DOTALL)
_PLAYLIST = re.compile(r"[0-9a-f]{12,32}(/[0-9a-f]{12,64})?")


@dataclass(frozen=True)
class Codec(Generic[Value]):
    """A pair of functions: `write` gives the text of a value; `read` gives a value, and in words what it leaves out."""

    read: Callable[[str], tuple[Value, list[str]]]
    write: Callable[[Value], str]


def checked(is_valid: Callable[[str], object], complaint: str) -> Codec[str]:
    """Return the codec of a text that has to be valid; the complaint follows the text that is not."""

    def read(text: str) -> tuple[str, list[str]]:
        return (text, []) if is_valid(text) else ("", [f"{quoted(text)} {complaint}"])

    return Codec(read, str)


def one_of(words: Collection[str], complaint: str = "is not known") -> Codec[str]:
    """Return the codec of one of several words."""
    return checked(words.__contains__, complaint)


def renamed(codec: Codec[str], names: Mapping[str, str]) -> Codec[str]:
    """Return a codec that also reads words of older links, by the words that stand for them now."""
    return replace(codec, read=lambda text: codec.read(names.get(text, text)))


def some_of(words: Collection[str]) -> Codec[tuple[str, ...]]:
    """Return the codec of any of several words, in the order in which they stand."""

    def read(text: str) -> tuple[tuple[str, ...], list[str]]:
        parts = dict.fromkeys(text.split(","))
        unknown = [f"{quoted(part)} is not known" for part in parts if part not in words]
        return tuple(part for part in parts if part in words), unknown

    return Codec(read, ",".join)


def _is_text(text: str) -> bool:
    # Half a surrogate pair and NUL come from hand-made links only.
    return text.isprintable() or not any(char == "\0" or "\ud800" <= char <= "\udfff" for char in text)


def _is_place(text: str) -> bool:
    low, _, high = text.partition("-")
    return bool(_PLACE.fullmatch(text)) and int(low) < int(high)


def _read_names(text: str) -> tuple[tuple[str, ...], list[str]]:
    names = tuple(dict.fromkeys(unquote(part) for part in text.split(",")))
    return tuple(name for name in names if name), [] if all(names) else ["an empty name"]


def _read_sides(text: str) -> tuple[tuple[str, ...], list[str]]:
    parts = tuple(dict.fromkeys(text.split(",")))
    names = tuple(ABSENT if part == "-" else unquote(part) for part in parts if part)
    return names, [] if all(parts) else ["an empty name"]


def _write_sides(names: Iterable[str]) -> str:
    return ",".join("-" if name == ABSENT else "%2D" if name == "-" else escaped_name(name) for name in names)


def _read_cell(text: str) -> tuple[tuple[str, ...], list[str]]:
    parts = text.split(",")
    names = tuple(ABSENT if part == "-" else unquote(part) for part in parts)
    fits = len(parts) == 2 and all(parts) and any(names)
    return (names, []) if fits else ((), [f"{quoted(text)} is not a cell (such as DNA,protein)"])


Pairs = tuple[tuple[str, str], ...]


def _read_merges(text: str) -> tuple[Pairs, list[str]]:
    merge: dict[str, str] = {}
    wrong = []
    for group in text.split(";"):
        members, equals, name = group.partition("=")
        parts = [unquote(part) for part in members.split(",")]
        if not equals or not name or not all(parts) or "=" in name or any(part in merge for part in parts):
            wrong.append(f"{quoted(group)} is not a merge (protein,DNA=macromolecule)")
        else:
            merge.update(dict.fromkeys(parts, unquote(name)))
    return tuple(merge.items()), wrong


def is_key(corpus: str) -> bool:
    """Tell whether a link names its corpus by the key of a shared one, not by a digest."""
    return corpus.startswith("s-")


def _is_corpus(text: str) -> bool:
    return bool(re.fullmatch(r"[0-9a-f]{12,64}|s-[0-9a-f]{32}", text))


TEXT = checked(_is_text, "is not text")
NAMES = Codec(_read_names, names_parameter)
SIDES = Codec(_read_sides, _write_sides)
MERGES = Codec(_read_merges, merges_parameter)
CORPUS = Codec(
    checked(_is_corpus, "is neither a digest of a corpus (12 to 64 hexadecimal digits) nor a key of one").read,
    lambda corpus: corpus if is_key(corpus) else corpus[:PREFIX],
)
CELL = Codec(_read_cell, _write_sides)
RECORD = checked(_RECORD.fullmatch, "is not a record (such as g:12-19:Drug)")
PLACE = checked(_is_place, "is not a place in a text (such as 12-19)")
PATTERN = checked(_PATTERN.fullmatch, "is not a pattern (such as kind:missed;before:of)")
PLAYLIST = checked(_PLAYLIST.fullmatch, "is not a playlist (12 or more digits)")


MASKED = "yes"
TABS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "overview_tab": ("by-slice", "all-criteria", "averages"),
        "slices_tab": ("scores", "worst-slices", "decades", "as-clef-hipe"),
        "inspect_tab": ("patterns", "records", "by-class"),
        "systems_tab": (
            *("types-of-systems", "across-criteria", "all-pairs", "from-a-to-b"),
            *("slices-of-systems", "published-rankings"),
        ),
        "criteria_tab": ("two-criteria", "curve", "ladder", "recovered", "merging", "stand-in", "compose"),
        "annotators_tab": ("figures", "consistency"),
        "linking_tab": ("ids",),
        "review_tab": ("given-verdicts", "finish"),
    }
)
"""The tabs of each page by the field of the view, without the first one, for which the field is empty.

Inspect without a tab shows records where the view narrows them down, and else patterns where there are enough."""
FINISH: Mapping[str, str] = MappingProxyType(dict.fromkeys(("adjudicate", "take-along"), "finish"))
"""Former tabs of Review."""
SLICED_BY = (
    *("length", "tokens", "shape", "frequency", "consistency"),
    *("position", "document-length", "spans", "period", "noise"),
)
"""Slicings that a link can name."""
CLASSES_BY = ("ends", "words", "faireval")
"""What the classes of errors on Inspect are broken down by, in place of types, or the classes of FairEval."""
FIGURES = ("observed", "kappa", "alpha", "unitizing")
"""Figures that the matrix of annotators shows in place of F1."""
QUESTIONS = ("not-everywhere", "edges", "nesting", "odd-ends", "against-all")
"""Questions of Consistency beside forms with several types."""
LAYOUTS = (
    *("whole-document", "off-diagonal", "by-confusion", "all-criteria", "published", "gamma", "records-only"),
    *("overlapping", "any-link", "first-open", "with-annotators", "tokens"),
)
"""Switches: Inspect shows a document without the queue, opens the first record of the list without a verdict, or
marks where tokens and sentences begin;
Confusion hides the diagonal, or orders types by confusion; Systems and Review show all criteria; Criteria shows
published scorers; Annotators shows gamma; slides show no figures; Linking pairs overlapping mentions, or takes any
of gold's links for true; Systems ranks annotators too."""
FIGURES_OF_SYSTEM = ("scores", "confusion")
SYSTEM_SLIDES = ("systems", "systems-by-type")
FIGURE_SLIDES = (*FIGURES_OF_SYSTEM, *SYSTEM_SLIDES)
"""Slides that show a figure, not the title or a record: of one system, or of all."""
PATTERN_SLIDE = "pattern"
SLIDES = ("record", PATTERN_SLIDE, *FIGURE_SLIDES)
TITLE_SLIDE, RECORD_SLIDES = "title", "records"
"""Words of a deck for its title, and for the records of the playlist or else of the list, which come last."""


def is_pattern(word: str) -> bool:
    """Tell whether a word of a deck is the key of a pattern."""
    return bool(_PATTERN.fullmatch(word))


def _read_deck(text: str) -> tuple[tuple[str, ...], list[str]]:
    words, wrong = _read_names(text)
    slide_words = {TITLE_SLIDE, RECORD_SLIDES, *FIGURE_SLIDES}
    wrong += [f"{quoted(word)} is not a slide" for word in words if word not in slide_words and not is_pattern(word)]
    return tuple(word for word in words if word in slide_words or is_pattern(word)), wrong


DECK = Codec(_read_deck, names_parameter)


def parameter(default: Value, codec: Codec[Value]) -> Value:
    """Declare a field of the view: its default, for which the link has no parameter, and its codec."""
    declared: Any = field(default=default, metadata={"codec": codec})
    return declared  # type: ignore[no-any-return]


@dataclass(frozen=True, slots=True)
class View:
    """The state of a page: the corpus by content digest (or a prefix), its scoring, and the records that are listed.

    A corpus that its owner shares is named by its key.

    - `merge`: pairs of a type and the name that it is merged into; `leaveout`: types that are not scored.
    - `doc`: the document that lists are narrowed down to; if a `record` is chosen, the document of that record alone.
    - `beside`: a second system, which the first is held against; `tracks`: further ones that Inspect shows with these
      two; `versus`: a second criterion; `step`: the criterion whose step of the ladder is open.
    - `rule`: the rule of a criterion of the user's own (`pages.shared.view.link`), in links alone.
    - `reference`: the layer taken as gold; `annotators`: the layers that Annotators compares.
    - `mask`: MASKED if texts are masked.
    - `playlist`: the uid of the playlist that records are put on and that Present shows, and after a slash that of the
      record shown.
    - `slide`: the kind of slide that Present shows, empty outside a show; of `record`, without one, it is the title.
    - `deck`: the slides of Present in order: `title`, figures, keys of patterns, `records` for those of the playlist
      or else of the list. Empty is the suggested deck.
    - `pattern`: the pattern that is open on Inspect or shown as a slide, by the key of its group of errors.
    - `at`: a place in the document, annotated or not, as `12-19`: code points, end exclusive.
    - `resample`: the units of resampling, in the words of `--resample-by`.
    - `share`: Confusion shows counts, or shares of the column, in place of shares of the row; `cell`: its open cell,
      by the types of both sides; `unfold`: groups of its types that have rows of their own.
    - `rank`: Linking looks at the first 3 or 5 links.
    - `..._tab`: the tab of a page, see TABS; a view that is carried from page to page has one for each.

    Empty fields stand for the default: first system by name, no second one, all but the correct records in lists, gold
    itself, texts as they are, each document resampled, the first tab.
    """

    corpus: str = parameter("", CORPUS)
    system: str = parameter("", TEXT)
    criterion: str = parameter("strict", TEXT)
    merge: tuple[tuple[str, str], ...] = parameter((), MERGES)
    leaveout: tuple[str, ...] = parameter((), NAMES)
    type: tuple[str, ...] = parameter((), NAMES)
    decision: tuple[str, ...] = parameter((), some_of(DECISIONS))
    gold: tuple[str, ...] = parameter((), SIDES)
    pred: tuple[str, ...] = parameter((), SIDES)
    doc: str = parameter("", TEXT)
    record: str = parameter("", RECORD)
    order: str = parameter(ORDERS[0], one_of(ORDERS))
    q: str = parameter("", TEXT)
    beside: str = parameter("", TEXT)
    tracks: tuple[str, ...] = parameter((), NAMES)
    versus: str = parameter("", TEXT)
    step: str = parameter("", TEXT)
    rule: str = parameter("", TEXT)
    reference: str = parameter("", TEXT)
    mask: str = parameter("", one_of((MASKED,), f"is not {MASKED}"))
    playlist: str = parameter("", PLAYLIST)
    slide: str = parameter("", one_of(SLIDES))
    deck: tuple[str, ...] = parameter((), DECK)
    annotators: tuple[str, ...] = parameter((), NAMES)
    at: str = parameter("", PLACE)
    resample: str = parameter("", TEXT)
    overview_tab: str = parameter("", one_of(TABS["overview_tab"]))
    slices_tab: str = parameter("", one_of(TABS["slices_tab"]))
    slice_by: str = parameter("", one_of(SLICED_BY))
    inspect_tab: str = parameter("", one_of(TABS["inspect_tab"]))
    systems_tab: str = parameter("", one_of(TABS["systems_tab"]))
    criteria_tab: str = parameter("", one_of(TABS["criteria_tab"]))
    pattern: str = parameter("", PATTERN)
    classes_by: str = parameter("", one_of(CLASSES_BY))
    annotators_tab: str = parameter("", one_of(TABS["annotators_tab"]))
    figure: str = parameter("", one_of(FIGURES))
    question: str = parameter("", one_of(QUESTIONS))
    linking_tab: str = parameter("", one_of(TABS["linking_tab"]))
    mentions: str = parameter("", one_of(("given",)))
    rank: str = parameter("", one_of(("3", "5")))
    review_tab: str = parameter("", renamed(one_of(TABS["review_tab"]), FINISH))
    share: str = parameter("", renamed(one_of(("counts", "column", "")), {"row": ""}))
    cell: tuple[str, ...] = parameter((), CELL)
    unfold: tuple[str, ...] = parameter((), NAMES)
    layout: tuple[str, ...] = parameter((), some_of(LAYOUTS))

    @property
    def place(self) -> tuple[int, int] | None:
        """The place in the document that is asked for, None without one."""
        low, _, high = self.at.partition("-")
        return (int(low), int(high)) if high else None

    def with_layout(self, word: str, on: bool = True) -> View:
        """Return the view with a switch of its layout turned on or off."""
        others = tuple(other for other in self.layout if other != word)
        return replace(self, layout=(*others, word) if on else others)

    def merged_groups(self) -> dict[str, list[str]]:
        """Return the types merged, by the name that they are merged into."""
        groups: dict[str, list[str]] = {}
        for member, name in self.merge:
            groups.setdefault(name, []).append(member)
        return groups

    def without_merge(self, name: str) -> View:
        """Return the view without the types merged into a name."""
        return replace(self, merge=tuple(pair for pair in self.merge if pair[1] != name))

    def under(self, criterion: str) -> View:
        """Return the view with another criterion."""
        return replace(self, criterion=criterion)

    def cleared(self) -> View:
        """Return the view without the filters of lists; the settings of scoring stay."""
        return replace(self, **{name: getattr(View(), name) for name in SHOW})

    @property
    def is_narrowed(self) -> bool:
        """Whether the view asks for some records, not for all errors."""
        return any(getattr(self, name) for name in SHOW)


SHOW = ("type", "decision", "gold", "pred", "doc", "record", "q", "at")
