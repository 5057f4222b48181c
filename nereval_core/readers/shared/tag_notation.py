"""Notations of tags: how the cells of a column write a letter, a type and outside.

Most files write `B-PER` and `O`. Others write `b-per`, `B_PER`, `PER-B` or `<B-PER>`, a type without a letter, a letter
without a type, or `-`, `0` and the like for outside. Each is read as `O`, or as a letter and a type.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from nereval_core.problems import quoted
from nereval_core.readers.read_settings import ReadOptions, ReadSettings
from nereval_core.readers.shared.label_list import LabelList
from nereval_core.readers.shared.tag_schemes import LETTERS, parse_tag, scheme_named

OUTSIDE = "O"
WORDS_FOR_OUTSIDE = (
    "o",
    "0",
    "OTHER",
    "Other",
    "other",
    "OUT",
    "Out",
    "out",
    "OUTSIDE",
    "Outside",
    "outside",
    "NONE",
    "None",
    "none",
    "NULL",
    "null",
    "<O>",
    "[O]",
)
MARKS_FOR_OUTSIDE = ("-", "_", "")
"""What many files write in cells of any column: it means outside beside tags with letters only."""
ONE_TYPE = "entity"
"""The type of tags that are letters alone."""
TYPE_ALONE = re.compile(r"[^\W\d_]\S{1,39}")
"""A tag that may be a type without a letter: one of a single letter may be the letter without its type."""
_ANY = f"[{LETTERS[1:]}{LETTERS[1:].lower()}]"
LETTERED = re.compile(rf"[{LETTERS}][-_:./|]|.+[-_:./|][{LETTERS}]$")
"""A tag that has a letter before its type, or behind it, or parted otherwise than by '-'."""
NUMBERED = re.compile(r"(?:LABEL_)?([0-9]{1,4})")
"""A number of a list of labels, also as models without one write it."""
FORMS = tuple(
    re.compile(pattern, re.DOTALL)
    for pattern in (
        rf"(?P<letter>{_ANY})-(?P<type>.+)",
        rf"(?P<letter>{_ANY})[_:./|](?P<type>.+)",
        rf"<(?P<letter>{_ANY})[-_](?P<type>[^<>]+)>",
        rf"\[(?P<letter>{_ANY})[-_](?P<type>[^\[\]]+)\]",
        rf"(?P<type>.+)[-_:./|](?P<letter>{_ANY})",
    )
)
"""Other ways to write a letter and a type; a file keeps to one."""
BEGINNERS = frozenset("BIbi")
"""Letters of which any notation of letters has one."""
NUMBERS_PROBLEM = "the tags are numbers of labels"
NUMBERS_REMEDY = "give the labels in order, --labels O,B-PER,I-PER,… or a file of them, or choose another column"


@dataclass(frozen=True)
class Notation:
    """The notation of the tags of a column, and a note where it is not the usual one.

    `form` is one of FORMS, None for the usual one. With `types` a tag without a letter is a type, read as if `I-` stood
    before it; with `one_type` a letter alone is a tag of that type. Tags that are numbers are places in `labels`;
    `numbered` says that there is no such list. `letters` are those that stand for others, by the letter written.
    """

    outside: frozenset[str] = frozenset((OUTSIDE,))
    form: re.Pattern[str] | None = None
    types: bool = False
    one_type: str = ""
    labels: tuple[str, ...] = ()
    numbered: bool = False
    note: str = ""
    letters: Mapping[str, str] = field(default_factory=dict, hash=False)

    def parse(self, cell: str) -> tuple[str, str] | None:
        """Return the letter and the type that a cell says, `O` and "" for outside, None for what is not a tag."""
        if self.labels and (number := NUMBERED.fullmatch(cell)) and int(number[1]) < len(self.labels):
            cell = self.labels[int(number[1])]
        if cell in self.outside:
            return OUTSIDE, ""
        if self.one_type and len(cell) == 1 and cell.upper() in LETTERS[1:]:
            return cell.upper(), self.one_type
        if self.form is not None:
            match = self.form.fullmatch(cell)
            if match is None:
                return None
            letter = match["letter"].upper()
            return self.letters.get(letter, letter), match["type"]
        tag = parse_tag(cell)
        if tag is None and self.types and cell not in MARKS_FOR_OUTSIDE and not cell.isspace():
            return "I", cell
        return tag


USUAL = Notation()


def notation_of(cells: Collection[str], settings: ReadSettings) -> Notation:
    """Return the notation of the tags of a column, given each at least once."""
    outside = _outside(cells, settings)
    inside = [cell for cell in cells if cell not in outside]
    scheme = scheme_named(settings.scheme).name if settings.scheme else None
    of_gold = settings.gold_scheme if isinstance(settings, ReadOptions) else None
    labels = settings.labels.names if isinstance(settings.labels, LabelList) else tuple(settings.labels or ())
    if inside and all(map(NUMBERED.fullmatch, inside)):
        # A 0 among numbers is the first label.
        return Notation(outside - {"0"} | {OUTSIDE}, labels=labels, numbered=not labels)
    note = _outside_note(outside, cells)
    if all(map(parse_tag, inside)):
        return Notation(outside, note=note) if note else USUAL
    if all(len(cell) == 1 and cell.upper() in LETTERS[1:] for cell in inside) and not BEGINNERS.isdisjoint(inside):
        one_type = settings.type or ONE_TYPE
        said = f"tags are letters without a type: all spans are called {quoted(one_type)}; --type names it otherwise"
        return Notation(outside, one_type=one_type, note=_joined(said, note))
    for form in FORMS if scheme != "IO" else ():
        matches = [form.fullmatch(cell) for cell in inside]
        if all(matches) and not BEGINNERS.isdisjoint(match["letter"] for match in matches if match):
            example = min(inside)
            match = form.fullmatch(example)
            assert match is not None
            said = f"tags are written as {quoted(example)}, read as {match['letter'].upper()}-{match['type']}"
            return Notation(outside, form, note=_joined(said, note))
    io = "IO" in (scheme, of_gold if scheme is None else None)
    if io or (scheme is None and are_types(inside) and not outside.isdisjoint(cells)):
        # A dash stands in columns of many kinds, and says nothing beside words.
        if settings.outside is not None or outside.isdisjoint(MARKS_FOR_OUTSIDE):
            return Notation(outside, types=True, note=note)
        return Notation(types=io)
    return Notation(outside, note=note) if note else USUAL


def unused_labels_note(settings: ReadSettings, notation: Notation) -> list[str]:
    """Return a note on a list of labels that tags, which are strings, have no use for."""
    return ["the labels given are not used: tags are strings"] if settings.labels and not notation.labels else []


def are_types(tags: Iterable[str]) -> bool:
    """Return whether tags other than outside are types without letters, as Stanford NER has them."""
    tags = list(tags)
    return bool(tags) and all(map(TYPE_ALONE.fullmatch, tags)) and not any(map(LETTERED.match, tags))


def no_tag_remedy(cell: str, *, beside_tags: bool = False) -> str:
    """Return the remedy for a cell that is not a tag, perhaps beside others that are tags with letters."""
    if cell in (*WORDS_FOR_OUTSIDE, *MARKS_FOR_OUTSIDE):
        return f"write O, or, if it means outside, read with --outside {shlex.quote(cell)}; or choose another column"
    if len(cell) == 1 and cell.upper() in LETTERS:
        return "write '-' and its type behind it; or choose another column"
    remedy = "write O, or a letter, '-' and a type; or choose another column"
    return f"{remedy}, or, for types without a letter, --scheme IO" if are_types([cell]) and not beside_tags else remedy


def _outside(cells: Collection[str], settings: ReadSettings) -> frozenset[str]:
    """Return the words for outside: those that are named, `O`, or the only other one that the cells have."""
    if settings.outside is not None:
        return frozenset((OUTSIDE, *settings.outside.split(",")))
    if OUTSIDE in cells:
        return USUAL.outside
    words = [word for word in (*WORDS_FOR_OUTSIDE, *MARKS_FOR_OUTSIDE) if word in cells]
    return frozenset((OUTSIDE, *words)) if len(words) == 1 else USUAL.outside


def _outside_note(outside: frozenset[str], cells: Collection[str]) -> str:
    words = sorted((outside - {OUTSIDE}).intersection(cells))
    return f"outside is written {' and '.join(map(quoted, words))}" if words else ""


def _joined(*notes: str) -> str:
    return "; ".join(filter(None, notes))
