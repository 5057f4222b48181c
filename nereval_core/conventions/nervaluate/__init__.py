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

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from nereval_core.arrays import Int64
from nereval_core.conventions import Convention, Given, Option
from nereval_core.conventions.nervaluate.figures import (
    CREDITED,
    FORMULAS,
    NAMES,
    TWINS,
    VERSIONS,
    NervaluateVersion,
    check_options,
    csv,
    entities,
    of_share,
    overall,
)
from nereval_core.conventions.nervaluate.matching import (
    SAME_TYPE,
    PairedSpans,
    SpanUnits,
    clusters,
    first_reached_pairs,
    pairs_by_preference,
    with_overlap_of,
)
from nereval_core.conventions.nervaluate.records import DECIDED, Matching, Numbered, schema_records
from nereval_core.conventions.outcome import MIS, SPU, Content, Outcome, UnitColumns, reading_order
from nereval_core.conventions.shares import ByShares, Share
from nereval_core.conventions.tag_sequences import number_tags, runs
from nereval_core.corpus import Layer
from nereval_core.problems import FormatError, Problem, quoted
from nereval_core.readers.recognition import likely_format
from nereval_core.readers.shared.token_tags import Tagged, tags_of_layer

BY_TAGS = ("list", "conll")
"""The loaders that are given tags."""


@dataclass(frozen=True, eq=False)
class LoadedSide:
    """One side as nervaluate is given it: spans, names of their types, and what records show of them."""

    units: SpanUnits
    types: tuple[str, ...]
    numbered: Callable[[], Numbered]
    content: Content


def score(given: Given, options: Mapping[str, Any], *, version: NervaluateVersion) -> Outcome:
    """Score two files, or two columns of one: tags where both are of the format conll, else spans."""
    loader = options["loader"]
    formats = [
        likely_format(source) if name == "auto" else name
        for source, name in ((given.gold, given.gold_format), (given.pred, given.pred_format))
    ]
    if loader != "dict" and all(name == "conll" for name in formats):
        return _of_tags(*given.read_tags(), options, version)
    read = given.read()
    return replace(of_layers(read.gold, read.pred, options, version=version), marks=read.marks)


def of_layers(gold: Layer, pred: Layer, options: Mapping[str, Any], *, version: NervaluateVersion) -> Outcome:
    """Score the spans of layers, or with the loaders "list" and "conll" the tags that say them."""
    if options["loader"] in BY_TAGS:
        reader = f"nervaluate's loader '{options['loader']}'"
        return _of_tags(tags_of_layer(gold, reader), tags_of_layer(pred, reader), options, version)
    share, matching, sides = _of_spans(gold, pred, options, version)
    outcome = of_share(share, options, version=version)
    return replace(outcome, documents=gold.documents, build=_build(matching, *sides))


def counted(gold: Layer, pred: Layer, options: Mapping[str, Any], *, version: NervaluateVersion) -> Share:
    """Count the spans of a part of a corpus; a document stands in one part."""
    return _of_spans(gold, pred, options, version)[0]


def _of_spans(
    gold: Layer, pred: Layer, options: Mapping[str, Any], version: NervaluateVersion
) -> tuple[Share, Matching, tuple[LoadedSide, LoadedSide]]:
    sides = side_of_layer(gold), side_of_layer(pred)
    share, matching = count_sides(*sides, len(gold.documents), options, version)
    broken = {"broken": (len(gold.fragments) + len(pred.fragments),)}
    return replace(share, tables={**share.tables, "data": {**share.tables["data"], **broken}}), matching, sides


def _of_tags(gold: Tagged, pred: Tagged, options: Mapping[str, Any], version: NervaluateVersion) -> Outcome:
    if version.checked:
        problems = [problem for side in (gold, pred) for problem in tag_problems(side, version.number)]
        if problems:
            raise FormatError(problems)
    sentences = len(gold.sentences) - 1
    notes = [*gold.notes, f"each sentence is a document ({sentences}), offsets are tokens"]
    sides = side_of_tags(gold), side_of_tags(pred)
    share, matching = count_sides(*sides, sentences, options, version)
    outcome = of_share(share, options, version=version, notes=notes)
    return replace(outcome, documents=gold.documents, build=_build(matching, *sides))


def _build(matching: Matching, gold: LoadedSide, pred: LoadedSide) -> Callable[[str], pd.DataFrame]:
    types = _types(gold, pred)
    return lambda schema: schema_records(schema, matching, gold.numbered(), pred.numbered(), types)


def _types(gold: LoadedSide, pred: LoadedSide) -> tuple[str, ...]:
    return tuple(sorted({*gold.types, *pred.types}))


def count_sides(
    gold: LoadedSide, pred: LoadedSide, documents: int, options: Mapping[str, Any], version: NervaluateVersion
) -> tuple[Share, Matching]:
    """Match and count; `documents` is their number as nervaluate has them.

    Tables: `overall` has the five counts by schema, `types/SCHEMA` by type; `used` how many spans of a type are scored.
    """
    check_options(options, version)
    types = _types(gold, pred)
    minimum = options.get("min_overlap_percentage", 0.0)
    matching = _matched(gold, pred, types, frozenset(options["tags"] or types), minimum, version)
    used = np.zeros(len(types), np.int64)
    for side in (matching.gold, matching.pred):
        used += np.bincount(side.kind, minlength=len(types))
    counts = _counts(matching, len(types), version)

    def by_type(rows: Int64) -> dict[str, tuple[int, ...]]:
        return dict(zip(types, map(tuple, rows.tolist()), strict=True))

    tables = {
        "data": {"documents": (documents,)},
        "overall": {schema: tuple(whole.tolist()) for schema, (whole, _) in counts.items()},
        "used": by_type(used[:, None]),
        **{f"types/{schema}": by_type(typed) for schema, (_, typed) in counts.items()},
    }
    return Share(tables, gold.content, pred.content), matching


def _loaded_by_tags(options: Mapping[str, Any]) -> str | None:
    loader = options["loader"]
    return f"with --loader {loader} it scores tags" if loader in BY_TAGS else None


def _matched(
    gold: LoadedSide,
    pred: LoadedSide,
    types: tuple[str, ...],
    tags: frozenset[str],
    minimum: float,
    version: NervaluateVersion,
) -> Matching:
    sides, rows = [], []
    for side in (gold, pred):
        code = (
            np.searchsorted(np.array(types, object), np.array(side.types, object)) if side.types else np.zeros(0, int)
        )
        units = SpanUnits(side.units.start, side.units.end, code.astype(np.int16)[side.units.kind], side.units.order)
        if all(name in tags for name in side.types):
            rows.append(np.arange(len(units)))
        else:
            kept = np.array([name in tags for name in types], bool)
            rows.append(np.flatnonzero(kept[units.kind]))
            units = units.take(rows[-1])
        sides.append(units)
    ours, theirs = sides
    found = clusters(ours, theirs)
    alone, doubles = found.alone, np.zeros(0, np.int64)
    if not version.preferences:
        pairs, doubles = first_reached_pairs(ours, theirs, found)
        tangled = {(schema, False): pairs for schema in DECIDED}
    else:
        alone = with_overlap_of(ours, theirs, alone, minimum)
        wanted = dict.fromkeys((way[typed], bool(typed)) for way in version.preferences.values() for typed in (0, 1))
        by_way = pairs_by_preference(ours, theirs, found, minimum, wanted)
        tangled = {
            (schema, bool(typed)): by_way[way[typed], bool(typed)]
            for schema, way in version.preferences.items()
            for typed in (0, 1)
        }
    return Matching(ours, theirs, rows[0], rows[1], found, alone, tangled, doubles, minimum)


def _counts(matching: Matching, types: int, version: NervaluateVersion) -> dict[str, tuple[Int64, Int64]]:
    """Return by schema the five counts overall, shape (5,), and by type, shape (types, 5)."""
    gold, pred = matching.gold, matching.pred
    sizes = [np.bincount(side.kind, minlength=types) for side in (gold, pred)]
    done: dict[int, Int64] = {}

    def codes(pairs: PairedSpans) -> Int64:
        """Count pairs by gold type and code."""
        if id(pairs) not in done:
            key = gold.kind[pairs.gold].astype(np.int64) * 4 + pairs.code
            done[id(pairs)] = np.bincount(key, minlength=types * 4).reshape(-1, 4)
        return done[id(pairs)]

    if not version.preferences:
        # A span may stand in several pairs, the same ones under all schemas.
        pairs = matching.pairs("strict", False)
        rest = [np.ones(len(side), bool) for side in (gold, pred)]
        rest[0][pairs.gold] = rest[0][matching.doubles] = False
        rest[1][pairs.pred] = False
        alone = [np.bincount(side.kind[left], minlength=types) for side, left in zip((gold, pred), rest, strict=True)]
    counts = {}
    for schema, decided in DECIDED.items():
        table = np.zeros((4, 5), np.int64)
        table[np.arange(4), decided] = 1
        hits = codes(matching.alone) + codes(matching.tangled[schema, False])
        if version.preferences:
            whole = hits.sum(axis=0) @ table
            whole[[MIS, SPU]] = np.array((len(gold), len(pred))) - hits.sum()
            of_one_type = np.arange(4) & SAME_TYPE > 0
            hits = codes(matching.alone) * of_one_type + codes(matching.tangled[schema, True])
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

    def numbered() -> Numbered:
        unit = np.empty(len(layer), np.int64)
        unit[reading_order(layer)] = np.arange(len(layer))
        return Numbered(UnitColumns.of_layer(layer), unit)

    return LoadedSide(SpanUnits(start, end, layer.type, order), layer.types, numbered, Content.of_layer(layer))


def side_of_tags(side: Tagged) -> LoadedSide:
    """Return the spans of tags as nervaluate's loaders cut them."""
    first, last, kind, types = _cut(side)
    units = SpanUnits(first, last + 1, kind, np.arange(len(first)))
    marks = UnitColumns.of_tokens(side, first, last, kind, types)
    return LoadedSide(units, types, lambda: Numbered(marks, np.arange(len(first))), Content.of_tags(side, len(first)))


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


TAGS = Option("tags", "types that are scored; without them all of gold and prediction", "list")
MINIMUM = Option("min_overlap_percentage", "least overlap in percent of the gold span, 1 to 100", "number", 1.0)
LOADER_HELP = "list, conll: tags sentence by sentence; dict: spans in characters; default: list where both are tags"
LOADER = Option("loader", LOADER_HELP, default="default", choices=("default", "list", "conll", "dict"))
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
        score=partial(score, version=version),
        of_layers=partial(of_layers, version=version),
        by_shares=ByShares(partial(counted, version=version), partial(of_share, version=version), _loaded_by_tags),
        options=(TAGS, MINIMUM, LOADER) if version.preferences else (TAGS, LOADER),
        twins=TWINS,
        names=NAMES,
        formulas=FORMULAS | (CREDITED if version.credits else {}),
        forms={
            "text": partial(overall, named=version.checked),
            **{f"text-{schema}": partial(entities, schema=schema, named=version.checked) for schema in sorted(DECIDED)},
            **({"csv": csv} if version.checked else {}),
        },
    )
    for version in VERSIONS
)
