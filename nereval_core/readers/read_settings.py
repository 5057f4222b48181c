"""Settings of reading, each with its option on the command line and its field in the app; and the result of reading."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Literal

from nereval_core.problems import NumberOption

Repeats = Literal["next", "all", "first"]
Unplaced = Literal["spurious", "drop"]
Malformed = Literal["refuse", "empty"]
EDITS = NumberOption(flag="--edits", whole=False, most=1)

if TYPE_CHECKING:
    from nereval_core.corpus import Documents, Layer, Place
    from nereval_core.readers.shared.label_list import LabelList
    from nereval_core.readers.shared.offset_units import Offsets
    from nereval_core.readers.shared.tag_schemes import Repair


@dataclass(frozen=True, kw_only=True)
class FormField:
    """A field of the form under "Format and reading" in the app.

    It is a box to tick for a `checkbox`; else it selects one of `values`, which maps them to the words for them; else
    it takes text. `empty` is shown where nothing is selected or written; without it the first value is selected.
    `parse` returns the value of the setting for that of the field.
    """

    label: str
    hint: str | None = None
    empty: str | None = None
    values: Callable[[], Mapping[Any, str]] | None = None
    checkbox: bool = False
    parse: Callable[[Any], Any] = lambda value: value


@dataclass(frozen=True, kw_only=True)
class Offer:
    """A setting as the command line and the app offer it.

    `flag` is its option on the command line, None where another option stands for it; `both` is the option for gold and
    predictions alike, where each side has one of its own. {first} and {others} in `help` are what a verb calls the two;
    `help_of_one` is the help of a verb that reads a single layer, where it is another. `parse` returns the value for
    the words given. Settings that `selects` say what of the files is scored. One without `form` is not a field of the
    form; `elsewhere` says where the app asks for it.
    """

    flag: str | None = None
    help: str = ""
    metavar: str | None = None
    choices: tuple[str, ...] | None = None
    parse: Callable[[str], Any] | None = None
    both: Offer | None = None
    form: FormField | None = None
    help_of_one: str = ""
    selects: bool = False
    elsewhere: str = ""

    @property
    def metadata(self) -> Mapping[str, Offer]:
        """The metadata of the field of settings that is offered so."""
        return {"offer": self}


def offers(settings: type[ReadSettings]) -> Mapping[str, Offer]:
    """Return how the settings of a class are offered, by the name of the field; those of sides come first."""
    found = {one.name: one.metadata["offer"] for one in fields(settings) if "offer" in one.metadata}
    # The documents that are scored stand before the names of their types.
    return dict(sorted(found.items(), key=lambda item: item[1].both is None and not item[1].selects))


def scheme_names() -> Mapping[Any, str]:
    """Return the names of tag schemes with the words for them, for fields of the form."""
    from nereval_core.readers.shared.tag_schemes import SCHEMES

    return {name: name for name in SCHEMES}


def _offset_units() -> Mapping[Any, str]:
    from nereval_core.readers.shared.offset_units import ALL_OFFSETS

    return {offsets: str(offsets) for offsets in ALL_OFFSETS}


def _offsets(words: str) -> Offsets:
    from nereval_core.readers.shared.offset_units import parse_offsets

    return parse_offsets(words)


def _span_columns(words: str) -> Mapping[str, int | str]:
    from nereval_core.readers.shared.table_columns import parse_column_options

    return parse_column_options(words)


def _labels(words: str) -> LabelList:
    from nereval_core.readers.shared.label_list import label_list

    return label_list(words)


def _label_words(words: str | None) -> tuple[str, ...] | None:
    from nereval_core.readers.shared.label_list import split_labels

    return split_labels(words or "") or None


def stripped(words: str | None) -> str | None:
    """Return the words of a field of text, None where it is blank."""
    return (words or "").strip() or None


def column_of(words: str) -> int | str:
    """Return the number or name of a column."""
    return int(words) if words.isdecimal() else words


@dataclass(frozen=True, kw_only=True)
class ReadSettings:
    """Settings of reading that gold and predictions share; a format that has no use for one passes it over.

    `scheme` is the tag scheme, `repair` what becomes of a malformed tag sequence (None: refused). `outside` is the tag
    of tokens outside of spans, `type` the type of tags that are letters alone. `core_type` is the type or attribute of
    spans that are the cores of others. `offsets` says what offsets count where the format leaves it
    open. `columns` says which column of a table of spans holds what (`table_columns.COLUMNS`), by number from 1 or by
    name, "" for none, and, under "tags", which holds tags. `labels` is the list that numeric tags index.

    To add a setting, add a field here, or one of both sides in `LoadOptions`, and use it in a reader: the command line,
    the form of the app and `LoadOptions` have it then.
    """

    scheme: str | None = field(
        default=None,
        metadata=Offer(
            flag="--scheme",
            help="tag scheme of {first} and {others} (default: for {first} the one that fits; for {others} that of "
            "{first} where they fit it, else their own)",
            help_of_one="tag scheme (default: the one that fits)",
            form=FormField(
                label="Tag scheme",
                hint="For columns of tokens and tags.",
                empty="detected on gold",
                values=scheme_names,
            ),
        ).metadata,
    )
    repair: Repair | None = field(
        default=None,
        metadata=Offer(
            flag="--repair",
            help="mend malformed tag sequences, which are refused otherwise: conlleval begins an entity there, discard "
            "drops the chunk",
            choices=("conlleval", "discard"),
            form=FormField(
                label="Malformed tag sequences",
                values=lambda: {
                    "refuse": "refuse",
                    "conlleval": "repair: conlleval",
                    "discard": "repair: discard",
                },
                parse=lambda value: None if value == "refuse" else value,
            ),
        ).metadata,
    )
    outside: str | None = field(
        default=None,
        metadata=Offer(
            flag="--outside",
            help="columns of tags: the tag of tokens outside of spans, several with commas (default: O, or the one "
            "that stands for it)",
            metavar="TAG",
            form=FormField(
                label="Tag for outside",
                hint="For columns of tags that write something else than O.",
                empty="O, or the one that stands for it",
                parse=stripped,
            ),
        ).metadata,
    )
    type: str | None = field(
        default=None,
        metadata=Offer(
            flag="--type",
            help="columns of tags: the type of tags that are letters alone, B, I and O (default: entity)",
            metavar="NAME",
            form=FormField(
                label="Type of tags without one",
                hint="For columns of B, I and O alone.",
                empty="entity",
                parse=stripped,
            ),
        ).metadata,
    )
    core_type: str | None = field(
        default=None,
        metadata=Offer(
            flag="--core-type",
            help="brat: the type or attribute of spans that are the cores of others",
            metavar="NAME",
            form=FormField(
                label="Type of cores",
                hint="For brat: spans of this type, or with this attribute, are the cores of the smallest spans "
                "around them. The criterion core needs them.",
                empty="none",
                parse=stripped,
            ),
        ).metadata,
    )
    offsets: Offsets | None = field(
        default=None,
        metadata=Offer(
            flag="--offsets",
            help="what offsets count, where a format leaves it open: code-points, utf-16 or utf-8, perhaps with "
            ",inclusive ,from-1",
            metavar="UNIT",
            parse=_offsets,
            form=FormField(
                label="Offsets count",
                hint="Where there are no quotes, the format's own way is taken; quotes may fit several.",
                empty="what fits the quotes",
                values=_offset_units,
            ),
        ).metadata,
    )
    columns: Mapping[str, int | str] | None = field(
        default=None,
        metadata=Offer(
            flag="--span-columns",
            help="CSV: what columns hold, by name or number from 1: document=doc,start=3,end=4,type=kind,text=6",
            metavar="WHAT=COLUMN,…",
            parse=_span_columns,
            elsewhere="the app asks for columns beside the first rows of the table",
        ).metadata,
    )
    labels: LabelList | Sequence[str] | None = field(
        default=None,
        metadata=Offer(
            flag="--labels",
            help="the list of labels that numeric tags index, O,B-PER,I-PER,… or a file of it",
            metavar="LIST|FILE",
            parse=_labels,
            form=FormField(
                label="Labels of numbered tags",
                hint="For columns of tags that are numbers: the labels in order, O, B-PER, I-PER, …",
                empty="in the file, or in labels.txt beside it",
                parse=_label_words,
            ),
        ).metadata,
    )

    repeated: Repeats = field(
        default="next",
        metadata=Offer(
            flag="--repeated",
            help="mentions: a repeated one goes to the next occurrence, to all, or to the first (default: next)",
            choices=("next", "all", "first"),
            form=FormField(
                label="Repeated mentions",
                hint="For answers of language models, which have no offsets.",
                values=lambda: {
                    "next": "to the next occurrence",
                    "all": "each to all occurrences",
                    "first": "to the first occurrence",
                },
            ),
        ).metadata,
    )
    edits: float = field(
        default=0.2,
        metadata=Offer(
            flag="--edits",
            help="mentions: edits a character up to which other words are taken for a mention (default: 0.2)",
            metavar="SHARE",
            parse=EDITS.parse,
            form=FormField(
                label="Edits allowed in a mention",
                hint="For each character: 0.2 is one in five.",
                values=lambda: {0.2: "1 in 5 characters", 0.1: "1 in 10", 0.34: "1 in 3", 0.0: "none"},
            ),
        ).metadata,
    )
    unplaced: Unplaced = field(
        default="spurious",
        metadata=Offer(
            flag="--unplaced",
            help="mentions: those that stand nowhere in the text count as spurious, or are left out",
            choices=("spurious", "drop"),
            form=FormField(
                label="Mentions that stand nowhere in the text",
                values=lambda: {"spurious": "count as spurious", "drop": "leave out"},
            ),
        ).metadata,
    )
    malformed: Malformed = field(
        default="refuse",
        metadata=Offer(
            flag="--malformed",
            help="mentions: empty: an answer that cannot be read names no mention",
            choices=("refuse", "empty"),
            form=FormField(
                label="Answers that cannot be read",
                values=lambda: {"refuse": "refuse", "empty": "count as empty"},
            ),
        ).metadata,
    )

    def __post_init__(self) -> None:
        EDITS.check(self.edits)


@dataclass(frozen=True, kw_only=True)
class ReadOptions(ReadSettings):
    """Settings of reading one layer.

    `name` names the layer, `column` is the name or number (from 1) of the column with the tags. `gold_scheme` is that
    of gold, by which a prediction is read where its tags fit it and no `scheme` is given. `texts` are the documents of
    files without a text, `gold_types` the types of gold (empty: not known), by which pairs of mention and type are told
    apart. `layer` names one of several layers in a file. `progress` is called, as a file is read, with the lines, bytes
    or (for folders of small files) files done and their total.
    """

    name: str | None = None
    column: int | str | None = None
    gold_scheme: str | None = None
    texts: Documents | None = None
    gold_types: tuple[str, ...] = ()
    layer: str | None = None
    labels: LabelList | None = None
    progress: Callable[[int, int], None] | None = None


@dataclass(frozen=True)
class Reading:
    """The result of reading: a layer over its documents, its format, and notes on spans left out, mended or assumed.

    `scheme` is the tag scheme taken, where the format has one: what gold was read by is right for predictions too.
    `mended` says how many malformed tags were repaired and how, `placed` how mentions without offsets found their
    places; both change scores, so that signatures say them. `source` is the input's name as given; `places` says, where
    known, at which file and line each document begins. `restricted` says how many documents these are of how many,
    `mapped` by what names types are called instead of those read; both are empty where nothing was changed, and stand
    in signatures too.
    """

    documents: Documents
    layer: Layer
    format: str
    notes: tuple[str, ...] = ()
    scheme: str | None = None
    source: str = ""
    places: Sequence[Place] = ()
    mended: str = ""
    placed: str = ""
    restricted: str = ""
    mapped: str = ""

    def __repr__(self) -> str:
        spans, types = len(self.layer), len(self.layer.types)
        size = f"{len(self.documents):,} documents, {spans:,} spans, {types:,} types"
        return f"<{size}, {self.format}, {len(self.notes)} notes>"
