"""The verbs `read` and `write` of the library, and the table of formats."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from nereval_core import readers, writers
from nereval_core.api.load import Input, check_core_type, check_cores, source_of
from nereval_core.corpus import Documents, Layer
from nereval_core.pairing.selection import DocumentIds, restricted
from nereval_core.pairing.type_names import TypeNames, mapped, read_types, type_names, unused_names
from nereval_core.problems import quoted
from nereval_core.readers import Reading, ReadOptions
from nereval_core.readers.read_settings import Malformed, Repeats, Unplaced
from nereval_core.readers.shared.label_list import Labels, label_list
from nereval_core.readers.shared.offset_units import Offsets
from nereval_core.readers.shared.tag_schemes import Repair

Types = TypeNames | Mapping[str, str] | str | os.PathLike[str]


def read(
    path: Input,
    *,
    format: str = "auto",
    name: str | None = None,
    column: int | str | None = None,
    scheme: str | None = None,
    gold_scheme: str | None = None,
    repair: Repair | None = None,
    outside: str | None = None,
    type: str | None = None,
    core_type: str | None = None,
    offsets: Offsets | None = None,
    layer: str | None = None,
    columns: Mapping[str, int | str] | None = None,
    keys: Mapping[str, str] | None = None,
    labels: Labels | None = None,
    texts: Documents | Reading | None = None,
    repeated: Repeats = "next",
    edits: float = 0.2,
    unplaced: Unplaced = "spurious",
    malformed: Malformed = "refuse",
    documents: DocumentIds | Iterable[str] | None = None,
    types: Types | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Reading:
    """Read annotations: a file or folder in one of the formats, recognised by content where none is named.

    Several paths are the parts of one layer, each in a format of its own; no document may stand in two of them.
    `layer` names one of several layers in a file. `documents` are the ids of the documents to keep. `types` renames
    types: a mapping, or a file of lines `PER = person`. `progress` is called with the lines or files done and their
    total.

    `column` is the column with the tags, by name or number from 1. Without a `scheme` a prediction is read by
    `gold_scheme` where its tags fit it, else by the scheme that fits. `repair` mends malformed tag sequences, which
    are refused otherwise. `outside` is the tag of tokens outside of spans where it is not `O`, `type` the type of
    tags that are letters alone. `labels` is the list that numeric tags index: a list, `O,B-PER,I-PER`, or a file.
    `columns` says what the columns of a table of spans hold, by name or number from 1: `{"start": "von", "end":
    3}`; `keys` those of JSON records: `{"text": "content", "spans": "marks"}`. `offsets` is what offsets count,
    where a format leaves it open. `core_type` is for brat: spans of that type, or with an attribute of that name,
    are the cores of the smallest spans around them.

    `repeated`, `edits`, `unplaced` and `malformed` are rules for answers of language models (`readers.mentions`). These
    need the `texts` of gold; where `texts` is gold's `Reading`, its types help too.

    Raises:
        FormatError: with every problem found.
    """
    check_core_type(core_type)
    options = ReadOptions(
        name=name,
        column=column,
        scheme=scheme,
        gold_scheme=gold_scheme,
        repair=repair,
        outside=outside,
        type=type,
        core_type=core_type,
        offsets=offsets,
        layer=layer,
        columns=columns,
        keys=keys,
        labels=None if labels is None else label_list(labels),
        texts=texts.documents if isinstance(texts, Reading) else texts,
        gold_types=texts.layer.types if isinstance(texts, Reading) else (),
        repeated=repeated,
        edits=edits,
        unplaced=unplaced,
        malformed=malformed,
        progress=progress,
    )
    reading = readers.read(source_of(path), format=format, options=options)
    check_cores(reading, core_type)
    if types is not None:
        reading = _with_names(reading, types)
    return reading if documents is None else restricted(reading, documents)


def _with_names(reading: Reading, types: Types) -> Reading:
    """Return a reading with renamed types; a note counts the names that no span has, possibly typing errors."""
    if not isinstance(types, TypeNames):
        types = type_names(types) if isinstance(types, Mapping) else read_types(types)
    unused = ", ".join(map(quoted, unused_names(types, [reading])))
    reading = mapped(reading, types)
    return replace(reading, notes=(*reading.notes, f"types: no span has the type {unused}")) if unused else reading


def write(
    layer: Layer | Reading, path: str | os.PathLike[str], *, format: str = "jsonl", lossy: bool = False
) -> tuple[str, ...]:
    """Write a layer with its documents, whole or not at all.

    What the format cannot hold is refused, or left out with `lossy=True`. Returns notes that count what was left out.

    Raises:
        FormatError: an unknown format, a path that cannot be written, or spans that the format cannot hold.
    """
    return writers.write(layer.layer if isinstance(layer, Reading) else layer, path, format=format, lossy=lossy)


@dataclass(frozen=True)
class Format:
    """A row of the table of formats."""

    name: str
    description: str
    reads: bool
    writes: bool


def formats() -> tuple[Format, ...]:
    """Return the table of formats, in the order of their names."""
    writes, reads = writers.writers(), readers.readers()
    described = {name: writer.description for name, writer in writes.items()}
    described |= {name: reader.description for name, reader in reads.items()}
    return tuple(Format(name, described[name], name in reads, name in writes) for name in sorted(described))
