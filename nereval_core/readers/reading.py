"""What a reader is told, and what it returns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from nereval_core.corpus import Documents, Layer, Place
    from nereval_core.readers.shared.label_list import LabelList
    from nereval_core.readers.shared.offset_units import Offsets


@dataclass(frozen=True, kw_only=True)
class ReadOptions:
    """What a reader may be told; one that has no use for an option passes it over.

    `name` names the layer, `column` is the name or number (from 1) of the column with the tags, `scheme` the tag
    scheme, `repair` what becomes of a malformed tag sequence (None: refused), `texts` the documents of files without
    a text, `core_type` the type or attribute of spans that are the cores of others. `offsets` says what offsets count
    where the format leaves it open, `layer` which of several layers in a file is wanted. `columns` says which column of
    a table of spans holds what (`table_columns.COLUMNS`), by number from 1 or by name, "" for none, and, under "tags",
    what `column` says. `labels` is the list in which tags that are numbers are places. `progress` is called, as a file
    is read, with how much is done and the whole, in lines, bytes or (for folders of small files) files.
    """

    name: str | None = None
    column: int | str | None = None
    scheme: str | None = None
    repair: Literal["conlleval", "discard"] | None = None
    texts: Documents | None = None
    core_type: str | None = None
    offsets: Offsets | None = None
    layer: str | None = None
    columns: Mapping[str, int | str] | None = None
    labels: LabelList | None = None
    progress: Callable[[int, int], None] | None = None


@dataclass(frozen=True)
class Reading:
    """What was read: the layer over its documents, the format taken, and what was left out, mended or assumed.

    `scheme` is the tag scheme taken, where the format has one: what gold was read by is right for predictions too.
    `mended` says how many malformed tags were repaired and how, empty where none were: it changes scores, so that
    signatures say it. `source` is the input's name as given; `places` says, where known, at which file and line each
    document begins. `restricted` says how many documents these are of how many, `mapped` by what names types are called
    instead of those read; both are empty where nothing was changed, and stand in signatures too.
    """

    documents: Documents
    layer: Layer
    format: str
    notes: tuple[str, ...] = ()
    scheme: str | None = None
    source: str = ""
    places: Sequence[Place] = ()
    mended: str = ""
    restricted: str = ""
    mapped: str = ""
