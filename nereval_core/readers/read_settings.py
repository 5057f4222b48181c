"""Settings of reading, each with its option on the command line and its field in the app; and the result of reading."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Literal

from nereval_core.options import FormField, NumberOption, Offer, check_offers

Repeats = Literal["next", "all", "first"]
Unplaced = Literal["spurious", "drop"]
Malformed = Literal["refuse", "empty"]
EDITS = NumberOption(flag="--edits", whole=False, most=1)

if TYPE_CHECKING:
    from nereval_core.corpus import Documents, Layer, Place
    from nereval_core.readers.shared.label_list import LabelList
    from nereval_core.readers.shared.offset_units import Offsets
    from nereval_core.readers.shared.tag_schemes import Repair


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


def _keys(words: str) -> Mapping[str, str]:
    from nereval_core.readers.records.record_shape import parse_keys

    return parse_keys(words)


def _key_words(words: str | None) -> Mapping[str, str] | None:
    return _keys(words) if words and words.strip() else None


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
    name, "" for none, and, under "tags", which holds tags. `keys` says which keys of JSON records hold what
    (`records.record_shape.NAMES`). `labels` is the list that numeric tags index.

    To add a setting, add a field here, or one of both sides in `LoadOptions`, and use it in a reader: the command line,
    the form of the app and `LoadOptions` have it then.
    """

    scheme: str | None = Offer(
        "--scheme",
        "tag scheme of {first} and {others} (default: for {first} the one that fits; for {others} that of "
        "{first} where they fit it, else their own)",
        help_of_one="tag scheme (default: the one that fits)",
        form=FormField("Tag scheme", "For columns of tokens and tags.", empty="detected on gold", values=scheme_names),
    ).field(None)
    repair: Repair | None = Offer(
        "--repair",
        "mend malformed tag sequences, which are refused otherwise: conlleval begins an entity there, discard "
        "drops the chunk",
        choices=("conlleval", "discard"),
        form=FormField(
            "Malformed tag sequences",
            values=lambda: {
                "refuse": "refuse",
                "conlleval": "repair: conlleval",
                "discard": "repair: discard",
            },
            parse=lambda value: None if value == "refuse" else value,
        ),
    ).field(None)
    outside: str | None = Offer(
        "--outside",
        "columns of tags: the tag of tokens outside of spans, several with commas (default: O, or the one "
        "that stands for it)",
        "TAG",
        form=FormField(
            "Tag for outside",
            "For columns of tags that write something else than O.",
            empty="O, or the one that stands for it",
            parse=stripped,
        ),
    ).field(None)
    type: str | None = Offer(
        "--type",
        "columns of tags: the type of tags that are letters alone, B, I and O (default: entity)",
        "NAME",
        form=FormField("Type of tags without one", "For columns of B, I and O alone.", empty="entity", parse=stripped),
    ).field(None)
    core_type: str | None = Offer(
        "--core-type",
        "brat: the type or attribute of spans that are the cores of others",
        "NAME",
        form=FormField(
            "Type of cores",
            "For brat: spans of this type, or with this attribute, are the cores of the smallest spans "
            "around them. The criterion core needs them.",
            empty="none",
            parse=stripped,
        ),
    ).field(None)
    offsets: Offsets | None = Offer(
        "--offsets",
        "what offsets count, where a format leaves it open: code-points, utf-16 or utf-8, perhaps with "
        ",inclusive ,from-1",
        "UNIT",
        parse=_offsets,
        form=FormField(
            "Offsets count",
            "Where there are no quotes, the format's own way is taken; quotes may fit several.",
            empty="what fits the quotes",
            values=_offset_units,
        ),
    ).field(None)
    columns: Mapping[str, int | str] | None = Offer(
        "--span-columns",
        "CSV: what columns hold, by name or number from 1: document=doc,start=3,end=4,type=kind,text=6",
        "WHAT=COLUMN,…",
        parse=_span_columns,
        elsewhere="the app asks for columns beside the first rows of the table",
    ).field(None)
    keys: Mapping[str, str] | None = Offer(
        "--keys",
        "JSON of no known shape: the keys of its records, text=content,spans=marks,start=from,end=to,label=kind "
        "(spans=marks.{{label}} where types are keys; last= for an end inside the span, length=, or quote= alone; "
        "words= for a list of words; records=, id=, score=; no spans= where each record is a span)",
        "WHAT=KEY,…",
        parse=_keys,
        form=FormField(
            "Keys of JSON records",
            "For JSON that is not recognised. An end inside the span is last, and words is a list of words in place of "
            "text. Dots lead into objects.",
            empty="text=content, spans=marks, start=from, end=to, label=kind",
            parse=_key_words,
        ),
    ).field(None)
    labels: LabelList | Sequence[str] | None = Offer(
        "--labels",
        "the list of labels that numeric tags index, O,B-PER,I-PER,… or a file of it",
        "LIST|FILE",
        parse=_labels,
        form=FormField(
            "Labels of numbered tags",
            "For columns of tags that are numbers: the labels in order, O, B-PER, I-PER, …",
            empty="in the file, or in labels.txt beside it",
            parse=_label_words,
        ),
    ).field(None)

    repeated: Repeats = Offer(
        "--repeated",
        "mentions: a repeated one goes to the next occurrence, to all, or to the first (default: next)",
        choices=("next", "all", "first"),
        form=FormField(
            "Repeated mentions",
            "For answers of language models, which have no offsets.",
            values=lambda: {
                "next": "to the next occurrence",
                "all": "each to all occurrences",
                "first": "to the first occurrence",
            },
        ),
    ).field("next")
    edits: float = Offer(
        "--edits",
        "mentions: edits a character up to which other words are taken for a mention (default: 0.2)",
        "SHARE",
        number=EDITS,
        form=FormField(
            "Edits allowed in a mention",
            "For each character: 0.2 is one in five.",
            values=lambda: {0.2: "1 in 5 characters", 0.1: "1 in 10", 0.34: "1 in 3", 0.0: "none"},
        ),
    ).field(0.2)
    unplaced: Unplaced = Offer(
        "--unplaced",
        "mentions: those that stand nowhere in the text count as spurious, or are left out; bc2gm refuses those of "
        "unknown sentences, or leaves them out",
        choices=("spurious", "drop"),
        form=FormField(
            "Mentions that stand nowhere in the text",
            values=lambda: {"spurious": "count as spurious", "drop": "leave out"},
        ),
    ).field("spurious")
    malformed: Malformed = Offer(
        "--malformed",
        "mentions: empty: an answer that cannot be read names no mention",
        choices=("refuse", "empty"),
        form=FormField("Answers that cannot be read", values=lambda: {"refuse": "refuse", "empty": "count as empty"}),
    ).field("refuse")

    def __post_init__(self) -> None:
        check_offers(self)
        if isinstance(self.offsets, str):
            # Python may write them as the command line does.
            object.__setattr__(self, "offsets", _offsets(self.offsets))
        names = {
            each.name: name
            for each in fields(self)
            if each.name.endswith("scheme") and (name := getattr(self, each.name))
        }
        if names:
            from nereval_core.readers.shared.tag_schemes import scheme_named

            # Formats without tags read no scheme, and a name that is mistyped is refused there too.
            for field_name, name in names.items():
                scheme_named(name, option=f"--{field_name.replace('_', '-')}")


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
