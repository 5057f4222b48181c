"""nervaluate: strict, exact, partial and ent_type of SemEval-2013 task 9.1, at the versions whose results differ.

Ends are inclusive for nervaluate, which does not change what overlaps. Spans of types that are not in `tags` are left
out on both sides. From 1.0 on each type is scored again on its own spans: what is a confusion of types overall is
missed and spurious there, and types do not add up to the total. 0.3.1 has one pass: what is not spurious counts for the
gold span's type.

Files of tags are read as nervaluate's loaders "list" and "conll" read them: each sentence is a document, offsets are
tokens, and a span begins wherever a tag that is not O follows O or another type, or begins with B. All else is read as
for its loader "dict": the documents of the file, offsets in characters.
Source: nervaluate 0.3.1, 1.1.0 and 1.2.1 (Batista and Upson), https://github.com/MantisAI/nervaluate.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from nereval_core import readers
from nereval_core.arrays import Int64
from nereval_core.conventions import Convention, Given, Option
from nereval_core.conventions.nervaluate.figures import (
    CREDITED,
    FORMULAS,
    NAMES,
    TWINS,
    VERSIONS,
    Version,
    check,
    of_share,
)
from nereval_core.conventions.nervaluate.matching import SAME_TYPE, Pairs, Units, chosen, clusters, sufficient
from nereval_core.conventions.nervaluate.overlaps import reached
from nereval_core.conventions.nervaluate.records import DECIDED, Matching, records
from nereval_core.conventions.nervaluate.reports import csv, entities, overall
from nereval_core.conventions.nervaluate.sides import Side, faults, of_layer, of_tags
from nereval_core.conventions.outcome import MIS, SPU, Outcome
from nereval_core.conventions.shares import ByShares, Share
from nereval_core.corpus import Layer
from nereval_core.problems import FormatError
from nereval_core.readers import conll
from nereval_core.readers.shared.token_tags import Tagged, matched, tagged

BY_TAGS = ("list", "conll")
"""The loaders that are given tags."""


def score(given: Given, options: Mapping[str, Any], *, version: Version) -> Outcome:
    """Score two files, or two columns of one: tags where both are of the format conll, else spans."""
    loader = options["loader"]
    formats = [
        readers.recognised(source) if name == "auto" else name
        for source, name in ((given.gold, given.gold_format), (given.pred, given.pred_format))
    ]
    if loader != "dict" and all(name == "conll" for name in formats):
        gold = conll.tagged(given.gold, column=given.gold_column)
        return _of_tags(gold, matched(gold, conll.tagged(given.pred, column=given.pred_column)), options, version)
    read = given.read()
    return replace(of_layers(read.gold, read.pred, options, version=version), marks=read.marks)


def of_layers(gold: Layer, pred: Layer, options: Mapping[str, Any], *, version: Version) -> Outcome:
    """Score the spans of layers, or with the loaders "list" and "conll" the tags that say them."""
    if options["loader"] in BY_TAGS:
        reader = f"nervaluate's loader '{options['loader']}'"
        return _of_tags(tagged(gold, reader), tagged(pred, reader), options, version)
    share, matching, sides = _of_spans(gold, pred, options, version)
    outcome = of_share(share, options, version=version)
    return replace(outcome, documents=gold.documents, build=_build(matching, *sides))


def counted(gold: Layer, pred: Layer, options: Mapping[str, Any], *, version: Version) -> Share:
    """Count the spans of a part of a corpus; a document stands in one part."""
    return _of_spans(gold, pred, options, version)[0]


def _of_spans(
    gold: Layer, pred: Layer, options: Mapping[str, Any], version: Version
) -> tuple[Share, Matching, tuple[Side, Side]]:
    sides = of_layer(gold), of_layer(pred)
    share, matching = _counted(*sides, len(gold.documents), options, version)
    broken = {"broken": (len(gold.fragments) + len(pred.fragments),)}
    return replace(share, tables={**share.tables, "data": {**share.tables["data"], **broken}}), matching, sides


def _of_tags(gold: Tagged, pred: Tagged, options: Mapping[str, Any], version: Version) -> Outcome:
    if version.checked:
        problems = [problem for side in (gold, pred) for problem in faults(side, version.number)]
        if problems:
            raise FormatError(problems)
    sentences = len(gold.sentences) - 1
    notes = [*gold.notes, f"each sentence is a document ({sentences}), offsets are tokens"]
    sides = of_tags(gold), of_tags(pred)
    share, matching = _counted(*sides, sentences, options, version)
    outcome = of_share(share, options, version=version, notes=notes)
    return replace(outcome, documents=gold.documents, build=_build(matching, *sides))


def _build(matching: Matching, gold: Side, pred: Side) -> Callable[[str], pd.DataFrame]:
    types = _types(gold, pred)
    return lambda schema: records(schema, matching, gold.numbered(), pred.numbered(), types)


def _types(gold: Side, pred: Side) -> tuple[str, ...]:
    return tuple(sorted({*gold.types, *pred.types}))


def _counted(
    gold: Side, pred: Side, documents: int, options: Mapping[str, Any], version: Version
) -> tuple[Share, Matching]:
    """Match and count; `documents` is their number as nervaluate has them.

    Tables: `overall` has the five counts by schema, `types/SCHEMA` by type; `used` how many spans of a type are scored.
    """
    check(options, version)
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
    gold: Side, pred: Side, types: tuple[str, ...], tags: frozenset[str], minimum: float, version: Version
) -> Matching:
    sides, rows = [], []
    for side in (gold, pred):
        code = (
            np.searchsorted(np.array(types, object), np.array(side.types, object)) if side.types else np.zeros(0, int)
        )
        units = Units(side.units.start, side.units.end, code.astype(np.int16)[side.units.kind], side.units.order)
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
        pairs, doubles = reached(ours, theirs, found)
        tangled = {(schema, False): pairs for schema in DECIDED}
    else:
        alone = sufficient(ours, theirs, alone, minimum)
        wanted = dict.fromkeys((way[typed], bool(typed)) for way in version.preferences.values() for typed in (0, 1))
        by_way = chosen(ours, theirs, found, minimum, wanted)
        tangled = {
            (schema, bool(typed)): by_way[way[typed], bool(typed)]
            for schema, way in version.preferences.items()
            for typed in (0, 1)
        }
    return Matching(ours, theirs, rows[0], rows[1], found, alone, tangled, doubles, minimum)


def _counts(matching: Matching, types: int, version: Version) -> dict[str, tuple[Int64, Int64]]:
    """Return by schema the five counts overall, shape (5,), and by type, shape (types, 5)."""
    gold, pred = matching.gold, matching.pred
    sizes = [np.bincount(side.kind, minlength=types) for side in (gold, pred)]
    done: dict[int, Int64] = {}

    def codes(pairs: Pairs) -> Int64:
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
