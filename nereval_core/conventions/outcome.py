"""The outcome of a convention: the scorer's figures under its own names, and the records that make them.

A count is the sum of the contributions of records: the column of its name, over the records of its evaluation and
scope.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nereval_core import __version__
from nereval_core.corpus import Documents, Fragments, Layer
from nereval_core.corpus.digest import HASH_BYTES, Hashes, combined
from nereval_core.corpus.masking import SAID, masked_documents, masked_quotes, masked_text
from nereval_core.pairing.notices import IDENTICAL
from nereval_core.problems import one_line
from nereval_core.readers.shared.token_tags import Tagged
from nereval_core.records.tables import NUMBERED, SIDE_COLUMNS, SIDES, categories
from nereval_core.scoring.count_tables import TEXT_DTYPE, Columns

DECISIONS = ("COR", "INC", "PAR", "MIS", "SPU", "IGN")
COR, INC, PAR, MIS, SPU, IGN = range(6)
"""The decisions of a convention; IGN marks units that the scorer passes over."""
UNITS = ("span", "token", "concept", "surface form")
OVERALL = "overall"
"""The scope of figures over all types together."""

MARK = " (type)"
"""Suffix of a type whose name the scorer gives to something else."""

RECORD_COLUMNS: Columns = {
    "evaluation": "category",
    "scope": "category",
    "unit": "category",
    "document": "category",
    "record": TEXT_DTYPE,
    "side": "category",
    "decision": "category",
    **SIDE_COLUMNS,
    "why": "category",
    "doc": "int32",
    "gold": "int32",
    "pred": "int32",
}
"""Columns of `Outcome.records` and their dtypes; after them one int32 column for each counter.

Offsets are code points, end exclusive, NA for units that are not pieces of text. `why` is a fixed phrase of the
convention: the rule that decided. `doc` is the document's number, `gold` and `pred` are numbers of units in reading
order, -1 for none.
"""

FigureRow = tuple[str, str, str, float | None, bool]
"""A row of FIGURE_COLUMNS."""

FIGURE_COLUMNS: Columns = {
    "evaluation": "category",
    "scope": "category",
    "figure": "category",
    "value": "float64",
    "counted": "bool",
}
"""Columns of `Outcome.figures`: `figure` under the scorer's own name; `counted`: it is a sum of contributions."""


@dataclass(frozen=True, eq=False)
class Content:
    """The content of one side: the numbers of documents and spans, and the source of their digest.

    `sha256` (hex) is over documents and annotations, not over file names. It is made when first asked for: scoring
    does not need it. `hashes` are those of the documents that it is made of, where it is `combined` from them.
    """

    documents: int
    spans: int
    hashed: Callable[[], str] = field(repr=False)
    hashes: Callable[[], Hashes] | None = field(default=None, repr=False)

    @cached_property
    def sha256(self) -> str:
        return self.hashed()

    @classmethod
    def of_layer(cls, layer: Layer) -> Content:
        return cls(len(layer.documents), len(layer), lambda: layer.digest, lambda: layer.hashes)

    @classmethod
    def of_tags(cls, tagged: Tagged, spans: int) -> Content:
        """Return the content of tags of which the scorer makes `spans` spans."""
        # Made as a layer's is, so that parts of a corpus make that of the whole.
        hashes = partial(_tag_hashes, tagged)
        return cls(len(tagged.documents), spans, lambda: combined("layer", hashes()), hashes)

    @classmethod
    def of_rows(cls, documents: Documents, spans: int, rows: Sequence[str]) -> Content:
        """Return the content of documents and of rows of text in their order."""
        return cls(len(documents), spans, lambda: digest(documents, rows))


def _tag_hashes(tagged: Tagged) -> Hashes:
    """Hash the tags of each document together with the document's own hash."""
    own, tags = tagged.documents.hashes, tagged.tags
    found = bytearray()
    for number, (low, high) in enumerate(pairwise(tagged.tokens.first.tolist())):
        raw = "\n".join(tags[low:high]).encode(errors="surrogatepass")
        found += hashlib.sha256(b"tags\n" + own[number].tobytes() + raw).digest()
    return np.frombuffer(bytes(found), np.uint8).reshape(-1, HASH_BYTES)


def digest(documents: Documents, rows: Sequence[str]) -> str:
    """Return the SHA-256 (hex) of documents and rows of text in their order."""
    sha = hashlib.sha256(b"rows\n" + documents.digest.encode())
    sha.update("\n".join(rows).encode(errors="surrogatepass"))
    return sha.hexdigest()


@dataclass(frozen=True, eq=False)
class Outcome:
    """A published score, reproduced.

    `scores` holds the scorer's figures under its own names, nested as the scorer nests them and ready for JSON;
    `figures` the same ones as a table (FIGURE_COLUMNS), by evaluation (a schema, a column, a slice: `a/b/c` from the
    outside in) and scope. `documents` are what records point into. `build` makes the records of an evaluation;
    `printout` makes the printout of a scorer that prints its input's own lines; `system` is the name of the prediction
    there. `marks` name changes made to the data before scoring, for the signature.
    """

    convention: str
    options: Mapping[str, Any]
    documents: Documents
    gold: Content
    pred: Content
    scores: Mapping[str, Any]
    figures: pd.DataFrame
    build: Callable[[str], pd.DataFrame] = field(repr=False)
    notes: tuple[str, ...] = ()
    printout: Callable[[], str] | None = field(default=None, repr=False)
    system: str = ""
    marks: tuple[str, ...] = ()

    @property
    def notices(self) -> tuple[str, ...]:
        """The notice that both sides have the same content, with at least one span; else nothing."""
        same = self.gold.spans > 0 and self.gold.spans == self.pred.spans and self.gold.sha256 == self.pred.sha256
        return (f"identical to gold {IDENTICAL}",) if same else ()

    @property
    def evaluations(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self.figures["evaluation"]))

    def records(self, evaluation: str | None = None) -> pd.DataFrame:
        """Return the records of one evaluation, or of all: RECORD_COLUMNS, then the counters.

        Raises:
            KeyError: no evaluation of that name.
        """
        if evaluation is None:
            frames = [self.build(name) for name in self.evaluations]
            whole = pd.concat([frame.astype(_plain(frame)) for frame in frames], ignore_index=True)
            counters = [name for name in whole.columns if name not in RECORD_COLUMNS]
            whole[counters] = whole[counters].fillna(0)
            return whole.astype({**RECORD_COLUMNS, **dict.fromkeys(counters, "int32")})
        if evaluation not in self.evaluations:
            raise KeyError(evaluation)
        return self.build(evaluation)

    def masked(self) -> Outcome:
        """Return the same figures, of the original texts, with records that show masked ones; there is no printout."""
        return replace(
            self,
            documents=masked_documents(self.documents),
            build=lambda evaluation: _masked_records(self.build(evaluation)),
            notes=tuple(map(masked_quotes, self.notes)),
            printout=None,
            marks=(*self.marks, SAID),
        )

    @property
    def signature(self) -> str:
        """One line that lets another person reproduce the figures."""
        chosen = {name: value for name, value in self.options.items() if value not in (None, False, "")}
        said = ", ".join(f"{name} {_shown(value)}" for name, value in chosen.items())
        parts = (
            f"nereval {__version__}",
            f"convention {self.convention}",
            f"options: {said or 'none'}",
            f"gold sha256:{self.gold.sha256[:16]}",
            f"pred sha256:{self.pred.sha256[:16]}",
            f"documents {self.gold.documents}",
            *self.marks,
        )
        return one_line(" | ".join(parts))


def _masked_records(frame: pd.DataFrame) -> pd.DataFrame:
    """Mask the words in records; codes of concepts are none."""
    words = (frame["unit"] != "concept").to_numpy()
    made = {}
    for side in ("gold", "pred"):
        texts = frame[f"{side}_text"].tolist()
        made[f"{side}_text"] = [
            masked_text(text) if word and isinstance(text, str) else text
            for text, word in zip(texts, words.tolist(), strict=True)
        ]
    # A unit that is not a piece of text is named by its words.
    placed = (frame["gold_start"].notna() | frame["pred_start"].notna()).to_numpy()
    ids = zip(frame["record"].tolist(), (placed | ~words).tolist(), range(len(frame)), strict=True)
    made["record"] = [name if kept else f"{name[:2]}{number}" for name, kept, number in ids]
    return frame.assign(**made).astype({name: RECORD_COLUMNS[name] for name in made})


def _plain(frame: pd.DataFrame) -> Columns:
    return {name: TEXT_DTYPE for name in frame.columns if frame[name].dtype == "category"}


def _shown(value: Any) -> str:
    if isinstance(value, Path):
        # The content of a file counts, not its name.
        return f"sha256:{hashlib.sha256(value.read_bytes()).hexdigest()[:16]}"
    return "+".join(map(str, value)) if isinstance(value, (list, tuple)) else "yes" if value is True else str(value)


def figures(rows: Sequence[FigureRow]) -> pd.DataFrame:
    """Return rows of evaluation, scope, figure, value and whether it is counted, as the table of FIGURE_COLUMNS."""
    return pd.DataFrame(rows, columns=list(FIGURE_COLUMNS)).astype(dict(FIGURE_COLUMNS))


def scope_of_type(kind: str, taken: Sequence[str] = (OVERALL,)) -> str:
    """Return the name of a type, marked where it is one that the scorer gives to something else."""
    return f"{kind}{MARK}" if _unmarked(kind) in taken else kind


def type_of_scope(name: str, taken: Sequence[str] = (OVERALL,)) -> str:
    """Return the type that `apart` gave this name to."""
    return name.removesuffix(MARK) if _unmarked(name) in taken else name


def _unmarked(name: str) -> str:
    while name.endswith(MARK):
        name = name.removesuffix(MARK)
    return name


@dataclass(frozen=True, eq=False)
class UnitColumns:
    """One side's units in the order in which the scorer meets them.

    `doc`, `start`, `end` (code points, end exclusive; -1 for units that are not pieces of text) and `kind` (index into
    `types`) have shape (units,). `texts` is given where a unit is not the text it covers: a code, a surface form.
    """

    documents: Documents
    doc: NDArray[Any]
    start: NDArray[Any]
    end: NDArray[Any]
    kind: NDArray[Any]
    types: tuple[str, ...]
    fragments: Mapping[int, Fragments] = field(default_factory=dict)
    texts: Sequence[str] | None = None

    def __len__(self) -> int:
        return len(self.doc)

    @classmethod
    def of_layer(cls, layer: Layer) -> UnitColumns:
        """Return the spans of a layer in the order in which they were read."""
        order = reading_order(layer)
        fragments = {}
        if layer.fragments:
            place = np.empty(len(layer), np.int64)
            place[order] = np.arange(len(layer))
            fragments = {int(place[span]): parts for span, parts in layer.fragments.items()}
        doc, start, end = layer.doc[order], layer.start[order], layer.end[order]
        return cls(layer.documents, doc, start, end, layer.type[order], layer.types, fragments)

    @classmethod
    def of_tokens(
        cls, tagged: Tagged, first: NDArray[Any], last: NDArray[Any], kind: NDArray[Any], types: tuple[str, ...]
    ) -> UnitColumns:
        """Return spans given by their first and last token, each counted over all documents."""
        tokens = tagged.tokens
        return cls(tagged.documents, tagged.doc[first], tokens.starts[first], tokens.ends[last], kind, types)

    def text(self, unit: int) -> str:
        """Return the text shown for a unit; the fragments of a discontinuous span are joined by one blank."""
        if self.texts is not None:
            return self.texts[unit]
        text = self.documents.texts[int(self.doc[unit])]
        parts = self.fragments.get(unit) or ((int(self.start[unit]), int(self.end[unit])),)
        return " ".join(text[low:high] for low, high in parts)

    def ids(self, prefix: str) -> list[str]:
        """Return record ids without their documents, `~2` for the second of two equal units: as `tables.record_ids`."""
        found = []
        seen: dict[tuple[int, str], int] = {}
        rows = zip(self.doc.tolist(), self.start.tolist(), self.end.tolist(), self.kind.tolist(), strict=True)
        for unit, (doc, start, end, kind) in enumerate(rows):
            name = self.types[kind]
            parts = self.fragments.get(unit) or ((start, end),)
            place = ",".join(f"{low}-{high}" for low, high in parts) if start >= 0 else self.text(unit)
            key = f"{prefix}:{place}:{name}~1" if NUMBERED.search(name) else f"{prefix}:{place}:{name}"
            count = seen[doc, key] = seen.get((doc, key), 0) + 1
            found.append(key if count == 1 else f"{NUMBERED.sub('', key)}~{count}")
        return found


def reading_order(layer: Layer) -> NDArray[np.int64]:
    """Return the spans of a layer in the order in which they were read."""
    return np.arange(len(layer)) if layer.order is None else np.argsort(layer.order, kind="stable")


def record_frame(
    evaluation: str,
    gold: UnitColumns,
    pred: UnitColumns,
    g: NDArray[Any],
    p: NDArray[Any],
    decision: NDArray[Any],
    why: tuple[NDArray[Any], Sequence[str]],
    counters: Mapping[str, NDArray[Any]],
    *,
    scope: tuple[NDArray[Any], Sequence[str]] | str = OVERALL,
    unit: str = "span",
) -> pd.DataFrame:
    """Return records as a frame: `g` and `p` number units of gold and pred (-1 none), all arrays of shape (records,).

    `why` and `scope` are codes and the words they stand for. A record is anchored on its gold unit where it has one.
    """
    assert not counters.keys() & RECORD_COLUMNS.keys(), "a counter takes the name of a column"
    size = len(g)
    scopes = (np.zeros(size, np.int8), (scope,)) if isinstance(scope, str) else scope
    sides = np.where(p < 0, 1, np.where(g < 0, 2, 0))
    ids = (gold.ids("g"), pred.ids("p"))
    doc = np.where(g >= 0, _taken(gold.doc, g), _taken(pred.doc, p))
    frame = pd.DataFrame(
        {
            "evaluation": categories(np.zeros(size, np.int8), (evaluation,)),
            "scope": categories(*scopes),
            "unit": categories(np.zeros(size, np.int8), (unit,)),
            "document": categories(doc, gold.documents.ids),
            "record": [ids[0][i] if i >= 0 else ids[1][j] for i, j in zip(g.tolist(), p.tolist(), strict=True)],
            "side": categories(sides, SIDES),
            "decision": categories(decision, DECISIONS),
            **_side_columns("gold", gold, g),
            **_side_columns("pred", pred, p),
            "why": categories(*why),
            "doc": doc.astype(np.int32),
            "gold": g.astype(np.int32),
            "pred": p.astype(np.int32),
        },
        columns=list(RECORD_COLUMNS),
    ).astype({"record": TEXT_DTYPE, "gold_text": TEXT_DTYPE, "pred_text": TEXT_DTYPE})
    return frame.assign(**{name: np.asarray(values).astype(np.int32) for name, values in counters.items()})


def with_types(records: pd.DataFrame) -> pd.DataFrame:
    """Return records of scope OVERALL, and each again with its type (gold's, else the prediction's) as its scope.

    For scorers that split their overall counts by type, and score no type on its own.
    """
    own = records.copy()
    kind = records["gold_type"].astype(TEXT_DTYPE)
    kind = kind.where(records["gold_type"].notna(), records["pred_type"].astype(TEXT_DTYPE))
    kind = kind.replace({name: scope_of_type(name) for name in kind.unique() if scope_of_type(name) != name})
    whole = pd.concat(
        [records.assign(scope=records["scope"].astype(TEXT_DTYPE)), own.assign(scope=kind)], ignore_index=True
    )
    return whole.astype({"scope": "category"})


def _taken(column: NDArray[Any], index: NDArray[Any]) -> NDArray[Any]:
    return column[index] if len(column) else np.full(len(index), -1)


def _side_columns(side: str, marks: UnitColumns, units: NDArray[Any]) -> dict[str, Any]:
    absent = units < 0
    start, end = (np.where(absent, -1, _taken(column, units)) for column in (marks.start, marks.end))
    return {
        f"{side}_start": _nullable(start, start < 0),
        f"{side}_end": _nullable(end, start < 0),
        f"{side}_type": categories(np.where(absent, -1, _taken(marks.kind, units)), marks.types),
        f"{side}_text": [marks.text(unit) if unit >= 0 else None for unit in units.tolist()],
    }


def _nullable(values: NDArray[Any], absent: NDArray[Any]) -> Any:
    return pd.arrays.IntegerArray(values.astype(np.int32), absent)


FILL = "·"
"""Fills places whose text no quote gives."""
LIMIT = 1_000_000
"""Beyond this offset, in characters, nothing is laid out."""


def text_from_quotes(quotes: Iterable[tuple[int, int, str]]) -> str:
    """Return a text with each quote at its (start, end), end exclusive; one of another length leaves a gap."""
    held = [(start, end, quote) for start, end, quote in quotes if 0 <= start < end <= LIMIT]
    chars = [FILL] * max((end for _, end, _ in held), default=0)
    for start, end, quote in held:
        if len(quote) == end - start:
            chars[start:end] = quote
    return "".join(chars)
