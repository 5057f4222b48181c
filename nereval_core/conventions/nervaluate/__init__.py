"""nervaluate: strict, exact, partial and ent_type of SemEval-2013 task 9.1, at the versions whose results differ.

Ends are inclusive for nervaluate, which changes no overlap. Spans of types that are not in `tags` are left
out on both sides. From 1.0 on each type is scored again on its own spans: a confusion of types overall is missed and
spurious there, and types do not add up to the total. 0.3.1 has one pass: all but spurious predictions count for the
gold span's type.

Files of tags are read as nervaluate's loaders "list" and "conll" read them: each sentence is a document, offsets are
tokens, and a span begins wherever a tag that is not O follows O or another type, or begins with B. All else is read as
for its loader "dict": the documents of the file, offsets in characters.
Source: nervaluate 0.3.1, 1.1.0 and 1.2.1 (Batista and Upson), https://github.com/MantisAI/nervaluate.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
import pandas as pd

from nereval_core.conventions.convention import (
    Convention,
    LayerPair,
    MatchedSides,
    Options,
    ScorerInput,
    ScorerOption,
    ScorerSteps,
    TagPair,
)
from nereval_core.conventions.nervaluate.figures import (
    CREDITED,
    PARTIAL_RATIOS,
    RATIOS,
    TWINS,
    VERSIONS,
    NervaluateVersion,
    check_options,
    csv,
    entities,
    figures,
    overall,
)
from nereval_core.conventions.nervaluate.matching import (
    SAME_TYPE,
    PairedSpans,
    SpanUnits,
    find_clusters,
    first_reached_pairs,
    pairs_by_preference,
    with_overlap_of,
)
from nereval_core.conventions.nervaluate.records import DECIDED, NumberedUnits, PairedSides, schema_records
from nereval_core.conventions.outcome import CountTables, SideContent
from nereval_core.conventions.records import MIS, SPU, UnitColumns, other_units, reading_order
from nereval_core.conventions.tag_sequences import number_tags, runs, tags_of_layers
from nereval_core.corpus import Documents, Layer
from nereval_core.corpus.arrays import Int64
from nereval_core.problems import FormatError, Problem, quoted
from nereval_core.readers.recognition import likely_format
from nereval_core.readers.shared.token_tags import Tagged

BY_TAGS = ("list", "conll")
"""The loaders that are given tags."""


@dataclass(frozen=True, eq=False)
class LoadedSide:
    """One side as nervaluate is given it: spans, names of their types, and what records show of them."""

    units: SpanUnits
    types: tuple[str, ...]
    numbered: Callable[[], NumberedUnits]
    content: SideContent


class LoadedPair(NamedTuple):
    """Both sides; `n_documents` is their number as nervaluate has them, `broken` that of discontinuous spans."""

    gold: LoadedSide
    pred: LoadedSide
    documents: Documents
    n_documents: int
    broken: int = 0
    notes: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()


def read(files: ScorerInput, options: Options, *, version: NervaluateVersion) -> LoadedPair:
    """Read two files, or two columns of one: tags where both are of the format conll, else spans."""
    loader = options["loader"]
    formats = [
        likely_format(source) if name == "auto" else name
        for source, name in ((files.gold, files.gold_format), (files.pred, files.pred_format))
    ]
    if loader != "dict" and all(name == "conll" for name in formats):
        return _pair_of_tags(files.read_tags(), version)
    return from_layers(files.read(), options, version=version)


def from_layers(layers: LayerPair, options: Options, *, version: NervaluateVersion) -> LoadedPair:
    """Return the spans of layers, or with the loaders "list" and "conll" the tags that say them."""
    if options["loader"] in BY_TAGS:
        return _pair_of_tags(tags_of_layers(layers, f"nervaluate's loader '{options['loader']}'"), version)
    gold, pred, marks = layers
    broken = len(gold.fragments) + len(pred.fragments)
    documents = gold.documents
    return LoadedPair(side_of_layer(gold), side_of_layer(pred), documents, len(documents), broken, marks=marks)


def _pair_of_tags(tags: TagPair, version: NervaluateVersion) -> LoadedPair:
    if version.checked:
        problems = [problem for side in tags for problem in tag_problems(side, version.number)]
        if problems:
            raise FormatError(problems)
    sentences = len(tags.gold.sentences) - 1
    notes = (*tags.gold.notes, f"each sentence is a document ({sentences}), offsets are tokens")
    gold, pred = map(side_of_tags, tags)
    return LoadedPair(gold, pred, tags.gold.documents, sentences, notes=notes)


def match(pair: LoadedPair, options: Options, *, version: NervaluateVersion) -> MatchedSides:
    gold, pred = pair.gold, pair.pred
    counts, sides = count_sides(gold, pred, pair.n_documents, options, version, broken=pair.broken)

    def records(schema: str) -> pd.DataFrame:
        return schema_records(schema, sides, gold.numbered(), pred.numbered(), _types(gold, pred))

    return MatchedSides(counts=counts, documents=pair.documents, records=records, notes=pair.notes, marks=pair.marks)


def _types(gold: LoadedSide, pred: LoadedSide) -> tuple[str, ...]:
    return tuple(sorted({*gold.types, *pred.types}))


def count_sides(
    gold: LoadedSide,
    pred: LoadedSide,
    n_documents: int,
    options: Options,
    version: NervaluateVersion,
    *,
    broken: int = 0,
) -> tuple[CountTables, PairedSides]:
    """Pair spans and count.

    Tables: `overall` has the decisions by schema, `types/SCHEMA` by type; `used` how many spans of a type are scored.
    """
    check_options(options, version)
    types = _types(gold, pred)
    minimum = options.get("min_overlap_percentage", 0.0)
    sides = _paired(gold, pred, types, frozenset(options["tags"] or types), minimum, version)
    n_spans = np.zeros(len(types), np.int64)
    for side in (sides.gold, sides.pred):
        n_spans += np.bincount(side.kind, minlength=len(types))
    counts = _counts(sides, len(types), version)

    def by_type(rows: Int64) -> dict[str, tuple[int, ...]]:
        return dict(zip(types, map(tuple, rows.tolist()), strict=True))

    tables = {
        "data": {"documents": (n_documents,), "broken": (broken,)},
        "overall": {schema: tuple(whole.tolist()) for schema, (whole, _) in counts.items()},
        "used": by_type(n_spans[:, None]),
        **{f"types/{schema}": by_type(typed) for schema, (_, typed) in counts.items()},
    }
    return CountTables(tables, gold.content, pred.content), sides


def _not_by_shards(options: Options) -> str:
    loader = options["loader"]
    return f"with --loader {loader} it scores tags" if loader in BY_TAGS else ""


def _paired(
    gold: LoadedSide,
    pred: LoadedSide,
    types: tuple[str, ...],
    tags: frozenset[str],
    minimum: float,
    version: NervaluateVersion,
) -> PairedSides:
    sides, rows = [], []
    for side in (gold, pred):
        code = (
            np.searchsorted(np.array(types, object), np.array(side.types, object)) if side.types else np.zeros(0, int)
        )
        units = SpanUnits(side.units.start, side.units.end, code.astype(np.int16)[side.units.kind], side.units.order)
        if all(name in tags for name in side.types):
            rows.append(np.arange(len(units)))
        else:
            is_scored = np.array([name in tags for name in types], bool)
            rows.append(np.flatnonzero(is_scored[units.kind]))
            units = units.take(rows[-1])
        sides.append(units)
    gold_units, pred_units = sides
    clusters = find_clusters(gold_units, pred_units)
    alone, doubles = clusters.alone, np.zeros(0, np.int64)
    if not version.preferences:
        pairs, doubles = first_reached_pairs(gold_units, pred_units, clusters)
        tangled = {(schema, False): pairs for schema in DECIDED}
    else:
        alone = with_overlap_of(gold_units, pred_units, alone, minimum)
        passes = {
            (schema, typed): (preferences[typed], typed)
            for schema, preferences in version.preferences.items()
            for typed in (False, True)
        }
        pairs_of = pairs_by_preference(gold_units, pred_units, clusters, minimum, dict.fromkeys(passes.values()))
        tangled = {key: pairs_of[preference] for key, preference in passes.items()}
    return PairedSides(gold_units, pred_units, rows[0], rows[1], clusters, alone, tangled, doubles, minimum)


def _counts(sides: PairedSides, types: int, version: NervaluateVersion) -> dict[str, tuple[Int64, Int64]]:
    """Return by schema the five counts overall, shape (5,), and by type, shape (types, 5)."""
    gold, pred = sides.gold, sides.pred
    sizes = [np.bincount(side.kind, minlength=types) for side in (gold, pred)]
    by_pairs: dict[int, Int64] = {}

    def codes(pairs: PairedSpans) -> Int64:
        """Count pairs by gold type and code."""
        if id(pairs) not in by_pairs:
            key = gold.kind[pairs.gold].astype(np.int64) * 4 + pairs.code
            by_pairs[id(pairs)] = np.bincount(key, minlength=types * 4).reshape(-1, 4)
        return by_pairs[id(pairs)]

    if not version.preferences:
        # A span may stand in several pairs, the same ones under all schemas.
        pairs = sides.pairs("strict", False)
        others = (
            other_units(np.concatenate((pairs.gold, sides.doubles)), len(gold)),
            other_units(pairs.pred, len(pred)),
        )
        alone = [
            np.bincount(side.kind[units], minlength=types) for side, units in zip((gold, pred), others, strict=True)
        ]
    counts = {}
    for schema, decisions in DECIDED.items():
        table = np.zeros((4, 5), np.int64)
        table[np.arange(4), decisions] = 1
        hits = codes(sides.alone) + codes(sides.tangled[schema, False])
        if version.preferences:
            whole = hits.sum(axis=0) @ table
            whole[[MIS, SPU]] = np.array((len(gold), len(pred))) - hits.sum()
            of_one_type = np.arange(4) & SAME_TYPE > 0
            hits = codes(sides.alone) * of_one_type + codes(sides.tangled[schema, True])
            typed = hits @ table
            typed[:, MIS], typed[:, SPU] = (size - hits.sum(axis=1) for size in sizes)
        else:
            typed = hits @ table
            typed[:, MIS], typed[:, SPU] = alone
            whole = typed.sum(axis=0)
        counts[schema] = (whole, typed)
    return counts


def side_of_layer(layer: Layer) -> LoadedSide:
    start = layer.documents.base[layer.doc]
    end = start + layer.end
    start += layer.start
    order = np.arange(len(layer)) if layer.order is None else layer.order

    def numbered() -> NumberedUnits:
        unit = np.empty(len(layer), np.int64)
        unit[reading_order(layer)] = np.arange(len(layer))
        return NumberedUnits(UnitColumns.of_layer(layer), unit)

    return LoadedSide(SpanUnits(start, end, layer.type, order), layer.types, numbered, SideContent.of_layer(layer))


def side_of_tags(side: Tagged) -> LoadedSide:
    """Return the spans of tags as nervaluate's loaders cut them."""
    first, last, kind, types = _cut(side)
    number = np.arange(len(first))
    columns = UnitColumns.of_tokens(side, first, last, kind, types)
    content = SideContent.of_tags(side, len(first))
    return LoadedSide(SpanUnits(first, last + 1, kind, number), types, lambda: NumberedUnits(columns, number), content)


def _cut(side: Tagged) -> tuple[Int64, Int64, Int64, tuple[str, ...]]:
    """Return first and last token and type of each span, and the names of the types."""
    (codes,), distinct = number_tags(side.tags)
    types = tuple(sorted({tag[2:] for tag in distinct if tag != "O"}))
    code = {name: place for place, name in enumerate(types)}
    kind = np.array([-1 if tag == "O" else code[tag[2:]] for tag in distinct], np.int64)[codes]
    begins = np.array([tag[:1] == "B" for tag in distinct], bool)[codes]
    begins[side.sentences[:-1]] = True
    first, last = runs(kind >= 0, begins[1:] | (kind[1:] != kind[:-1]))
    return first, last, kind[first], types


def tag_problems(side: Tagged, version: str) -> list[Problem]:
    """Return what this version stops at: a span that begins with a tag that is neither B- nor I-."""
    return [
        Problem(
            *side.place(token),
            f"{quoted(side.tags[token])} begins a span: nervaluate {version} stops with 'Invalid tag format'",
            "begin spans with B- or I-, or score with --loader dict",
        )
        for token in _cut(side)[0].tolist()
        if not side.tags[token].startswith(("B-", "I-"))
    ]


TAGS = ScorerOption("tags", "types that are scored; without them all of gold and prediction", "list")
MINIMUM = ScorerOption("min_overlap_percentage", "least overlap in percent of the gold span, 1 to 100", "number", 1.0)
LOADER_HELP = "list, conll: tags sentence by sentence; dict: spans in characters; default: list where both are tags"
LOADER = ScorerOption("loader", LOADER_HELP, default="default", choices=("default", "list", "conll", "dict"))
SENTENCES = {
    "1.2.1": "Each prediction in input order takes the best gold span left: exact first, in ent_type the closest.",
    "1.1.0": "Each prediction in input order takes the first gold span left; no credit for partial over documents.",
    "0.3.1": "Each prediction counts for every gold span it is the first to overlap; types in one pass.",
}

CONVENTIONS = tuple(
    Convention(
        name=f"nervaluate-{version.number}",
        family="nervaluate",
        sentence=SENTENCES[version.number],
        needs="spans in any format; of tags, a sentence is a document",
        source=f"nervaluate {version.number} (Python package), after SemEval-2013 task 9.1 (Segura-Bedmar et al. 2013)",
        steps=ScorerSteps(
            partial(read, version=version), partial(from_layers, version=version), partial(match, version=version)
        ),
        figures=partial(figures, version=version),
        not_by_shards=_not_by_shards,
        options=(TAGS, MINIMUM, LOADER) if version.preferences else (TAGS, LOADER),
        twins=TWINS,
        ratios=RATIOS,
        other_formulas=PARTIAL_RATIOS | (CREDITED if version.credits else {}),
        forms={
            "text": partial(overall, named=version.checked),
            **{f"text-{schema}": partial(entities, schema=schema, named=version.checked) for schema in sorted(DECIDED)},
            **({"csv": csv} if version.checked else {}),
        },
    )
    for version in VERSIONS
)
