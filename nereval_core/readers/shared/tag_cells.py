"""Cells of tags: how a column writes a letter, a type and outside, and which columns of a table hold tags.

Most files write `B-PER` and `O`. Others write `b-per`, `B_PER`, `PER-B` or `<B-PER>`, a type without a letter, a letter
without a type, or `-`, `0` and the like for outside. Each is read as `O`, or as a letter and a type. Columns of tags
are recognised by a sample of their cells; every format of columns asks here whether it holds several sources of tags.
"""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal

from nereval_core.problems import Problem, either_option, quoted
from nereval_core.readers.read_settings import ReadOptions, ReadSettings
from nereval_core.readers.shared.label_list import LabelList
from nereval_core.readers.shared.tag_schemes import LETTERS, parse_tag, scheme_named

OUTSIDE = "O"
WORDS_FOR_OUTSIDE = (
    *("o", "0", "OTHER", "Other", "other", "OUT", "Out", "out", "OUTSIDE", "Outside", "outside"),
    *("NONE", "None", "none", "NULL", "null", "<O>", "[O]"),
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
    """Return the notation of the tags of a column, of which `cells` has each."""
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
        letters_note = (
            f"tags are letters without a type: all spans are called {quoted(one_type)}; --type names it otherwise"
        )
        return Notation(outside, one_type=one_type, note=_joined(letters_note, note))
    for form in FORMS if scheme != "IO" else ():
        matches = [form.fullmatch(cell) for cell in inside]
        if all(matches) and not BEGINNERS.isdisjoint(match["letter"] for match in matches if match):
            example = min(inside)
            match = form.fullmatch(example)
            assert match is not None
            form_note = f"tags are written as {quoted(example)}, read as {match['letter'].upper()}-{match['type']}"
            return Notation(outside, form, note=_joined(form_note, note))
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


SHOWN_TYPES = 3
"""Types shown of each column that may be chosen."""
CellKind = Literal["tags", "types", "labels", "numbers"]
"""Tags with letters, types without, numbers of labels as in `LABEL_1`, or numbers that may be those of labels."""

TAGGED_SHARE = 0.8
"""A column holds tags where at least this share of its cells does."""
OUTSIDE_SHARE = 0.2
"""The least share of outside in a column of types, or of the most frequent number in one of numbers."""
FEW_TYPES = 8
"""The number of types that such a column may have however few rows are sampled."""
MOST_LABELS = 400
"""Numbers of labels are below this."""
SCORED = re.compile(r"(\S*[^\s/|:(]) *[/|: (] *([01]?\.[0-9]+(?:[eE][-+]?[0-9]+)?|[01](?:\.0*)?)\)?")
"""A tag and its probability in one cell, as CRF++ (`B-PER/0.98`) and others write them."""
PREDICTION = re.compile(
    r"(?:^|[^a-z])(?:pred|predicted|predictions?|preds|hyp|hypothes[ie]s|system|sys|output|outputs|model|auto|guess)"
    r"(?:[^a-z]|$)|^pred|predict",
    re.IGNORECASE,
)
"""The name of a column or key of predictions."""
GOLD = re.compile(r"(?:^|[^a-z])(?:gold|true|truth|reference|ref|expected|actual)(?:[^a-z]|$)", re.IGNORECASE)
"""The name of a column or key of gold."""
OTHER_TAGS = re.compile(
    r"(?:^|[^a-z])(?:u?pos|xpos|chunks?|prev|next|synt(?:ax|actic)?|dep(?:rel)?)(?:[^a-z]|$)", re.IGNORECASE
)
"""The name of a column of parts of speech, of chunks, or of the tags of neighbours."""
CHUNK_TYPES = frozenset(
    ("NP", "VP", "PP", "ADVP", "ADJP", "SBAR", "PRT", "CONJP", "INTJ", "LST", "UCP", "NC", "VC", "PC")
)
"""The types of syntactic chunks in CoNLL-2000 and CoNLL-2003, English and German."""


@dataclass(frozen=True)
class TagColumn:
    """A column or key of annotations, one of several: its number, from 1, or its name, and some of its types."""

    number: int | str
    types: tuple[str, ...]

    @classmethod
    def of(cls, number: int | str, cells: Sequence[str]) -> TagColumn:
        return cls(number, types_of_cells(cells)[:SHOWN_TYPES])


def kind_of_cells(cells: Sequence[str]) -> CellKind | None:
    """Return what a column of annotations holds, by a sample of its cells; None where it holds something else."""
    if not cells:
        return None
    counts = Counter(cells)
    if sum(count for cell, count in counts.items() if parse_tag(cell)) >= TAGGED_SHARE * len(cells):
        return "tags"
    if tags := scored_tags(cells):
        return kind_of_cells(tags)
    inside = counts.keys() - {OUTSIDE, *MARKS_FOR_OUTSIDE}
    if inside and all(map(NUMBERED.fullmatch, inside)):
        if any(cell.startswith("LABEL_") for cell in inside):
            return "labels"
        return "numbers" if _may_be_labels(cells, counts) else None
    notation = notation_of(counts.keys(), ReadSettings())
    if notation.types:
        # A column of words may hold an O too: of tags many are O, and few types come again and again.
        few = len(counts) - 1 <= max(FEW_TYPES, len(cells) / 4) and "o" not in counts
        return "types" if few and sum(counts[word] for word in notation.outside) >= OUTSIDE_SHARE * len(cells) else None
    if any((notation.parse(cell) or ("", ""))[0] not in ("", OUTSIDE) for cell in counts) and all(
        map(notation.parse, counts)
    ):
        return "tags"
    return None


def scored_tags(cells: Sequence[str]) -> list[str]:
    """Return the tags of cells that all hold a tag and its probability, else nothing."""
    first = SCORED.fullmatch(cells[0]) if cells else None
    if first is None:
        return []
    matches = [SCORED.fullmatch(cell) for cell in cells]
    return [match[1] for match in matches if match] if all(matches) else []


def split_scores(cells: Sequence[str]) -> tuple[Sequence[str], list[float] | None]:
    """Return the tags of cells, and the probabilities where all of them hold one."""
    tags = scored_tags(cells)
    if not tags or kind_of_cells(tags) is None:
        return cells, None
    return tags, [float(match[2]) for match in map(SCORED.fullmatch, cells) if match]


def are_chunks(cells: Sequence[str]) -> bool:
    """Return whether the types of tags are those of syntactic chunks."""
    types = set(types_of_cells(cells))
    return bool(types) and types <= CHUNK_TYPES


def types_of_cells(cells: Sequence[str]) -> tuple[str, ...]:
    """Return the types that tags name, in the order in which they are met; of numbers, these."""
    tags = dict.fromkeys(scored_tags(cells) or cells)
    notation = notation_of(tags.keys(), ReadSettings())
    parsed = [("", cell) if notation.numbered else notation.parse(cell) for cell in tags]
    return tuple(dict.fromkeys(tag[1] for tag in parsed if tag and tag[1]))


def annotation_columns(columns: Sequence[tuple[str, Sequence[str]]], usual: Collection[str]) -> tuple[int, ...]:
    """Return the indices of columns, each a name and a sample of its cells, that hold annotations.

    Parts of speech, chunks and the tags of neighbours are passed over by their names. Numbers count where a column has
    one of the `usual` names of tags, or one of gold or of a prediction.
    """
    kinds = {at: kind_of_cells(cells) for at, (name, cells) in enumerate(columns) if not OTHER_TAGS.search(name)}
    tagged = [at for at, kind in kinds.items() if kind and (kind != "numbers" or is_label_name(columns[at][0], usual))]
    chunks = [at for at in tagged if are_chunks(columns[at][1])]
    return tuple(at for at in tagged if at not in chunks or len(chunks) == len(tagged))


def unread_predictions_note(names: Iterable[str], columns_read: Collection[str]) -> list[str]:
    """Return a note on the columns or keys that are called like predictions and not read."""
    unread = [name for name in names if name not in columns_read and is_named_like_prediction(name)]
    return [f"not read, though called like predictions: {', '.join(map(quoted, unread))}"] if unread else []


def choice_problem(
    source: str, line: int | None, columns: Sequence[TagColumn], hold: str = "columns hold tags"
) -> Problem:
    """Return the problem of a source in which several named columns or keys hold annotations."""
    nothing = "O alone" if "tags" in hold else "nothing"
    listed = [f"{quoted(str(column.number))} ({', '.join(column.types) or nothing})" for column in columns]
    numbers = [column.number for column in columns]
    by_side = f"--gold-column {shlex.quote(str(numbers[0]))} --pred-column {shlex.quote(str(numbers[1]))}"
    return Problem(
        source,
        line,
        f"{len(columns)} {hold}: {', '.join(listed)}",
        f"name one: {either_option('--column', numbers)}, or by side {by_side}; in the app choose beside the upload",
    )


def is_named_like_prediction(name: str) -> bool:
    """Return whether a column or key is called like one of predictions."""
    return PREDICTION.search(name) is not None


def is_gold_word(name: str) -> bool:
    """Return whether a column, key or layer is called like gold."""
    return GOLD.search(name) is not None


def is_label_name(name: str, usual: Collection[str]) -> bool:
    """Return whether a column or key is called like one of tags: usually, or as gold or a prediction."""
    return name in usual or is_gold_word(name) or is_named_like_prediction(name)


def _may_be_labels(cells: Sequence[str], counts: Counter[str]) -> bool:
    """Return whether numbers may be those of labels: a few, one of them often, and not counting anything."""
    numbers = [int(cell) for cell in cells if cell.isdecimal()]
    if (
        len(counts) < 2
        or len(counts) - 1 > max(FEW_TYPES, len(cells) / 4)
        or max(numbers, default=MOST_LABELS) >= MOST_LABELS
    ):
        return False
    grows = len(numbers) == len(cells) and all(low <= high for low, high in pairwise(numbers))
    return not grows and counts.most_common(1)[0][1] >= max(2, OUTSIDE_SHARE * len(cells))
