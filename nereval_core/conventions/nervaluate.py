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

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nereval_core import readers
from nereval_core.conventions import Convention, Given, Option
from nereval_core.conventions.nervaluate_matching import (
    SAME_TYPE,
    Pairs,
    Preference,
    Units,
    chosen,
    clusters,
    sufficient,
)
from nereval_core.conventions.nervaluate_prints import csv, entities, overall
from nereval_core.conventions.nervaluate_reach import reached
from nereval_core.conventions.nervaluate_records import DECIDED, Matching, records
from nereval_core.conventions.nervaluate_sides import Side, faults, of_layer, of_tags
from nereval_core.conventions.outcome import MIS, OVERALL, SPU, Outcome, apart, figures
from nereval_core.corpus import Layer
from nereval_core.errors import FormatError
from nereval_core.readers import conll
from nereval_core.tagged import Tagged, matched, tagged

Int64 = NDArray[np.int64]
COUNTED = ("correct", "incorrect", "partial", "missed", "spurious", "possible", "actual")
NAMES = {"P": "precision", "R": "recall", "F1": "f1", "COR": "correct", "POS": "possible", "ACT": "actual"}
HARMONIC = "2 × precision × recall / (precision + recall)"
FORMULAS = {"f1": HARMONIC} | {
    f"{schema}/{ratio}": f"(correct + 0.5 × partial) / {whole}" if schema == "ent_type" else f"correct / {whole}"
    for schema in ("strict", "exact", "ent_type")
    for ratio, whole in (("precision", "actual"), ("recall", "possible"))
}
CREDITED = {
    "partial/precision": "(correct + 0.5 × partial) / actual",
    "partial/recall": "(correct + 0.5 × partial) / possible",
}
TWINS = {"strict": "strict", "exact": "exact", "partial": "partial", "ent_type": "type"}


@dataclass(frozen=True, kw_only=True)
class Version:
    """What differs between versions.

    `schemas` are in the order of its results. `preferences` say, by schema, which gold span a prediction prefers,
    overall and where a type is alone; without them every gold span reached counts. `credits` is False where partial
    matches of two and more documents get no credit. `checked`: a span may only begin with B- or I-. `unused`: types in
    `tags` have figures though no span has them.
    """

    number: str
    schemas: tuple[str, ...] = ("strict", "partial", "ent_type", "exact")
    preferences: Mapping[str, tuple[Preference, Preference]] = field(default_factory=dict)
    credits: bool = True
    checked: bool = True
    unused: bool = False


VERSIONS = (
    Version(
        number="1.2.1",
        # Where all types are the same, "identical" and "bounds" are one.
        preferences={
            "strict": ("identical", "identical"),
            "exact": ("bounds", "identical"),
            "partial": ("bounds", "identical"),
            "ent_type": ("type", "type"),
        },
    ),
    Version(number="1.1.0", preferences=dict.fromkeys(DECIDED, ("first", "first")), credits=False),
    Version(number="0.3.1", schemas=("ent_type", "partial", "strict", "exact"), checked=False, unused=True),
)


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
    if options["loader"] in ("list", "conll"):
        reader = f"nervaluate's loader '{options['loader']}'"
        return _of_tags(tagged(gold, reader), tagged(pred, reader), options, version)
    notes = []
    if broken := len(gold.fragments) + len(pred.fragments):
        notes.append(f"discontinuous spans scored from their first to their last character: {broken}")
    return _scored(of_layer(gold), of_layer(pred), gold.documents, len(gold.documents), options, version, notes)


def _of_tags(gold: Tagged, pred: Tagged, options: Mapping[str, Any], version: Version) -> Outcome:
    if version.checked:
        problems = [problem for side in (gold, pred) for problem in faults(side, version.number)]
        if problems:
            raise FormatError(problems)
    sentences = len(gold.sentences) - 1
    notes = [*gold.notes, f"each sentence is a document ({sentences}), offsets are tokens"]
    return _scored(of_tags(gold), of_tags(pred), gold.documents, sentences, options, version, notes)


def _scored(
    gold: Side,
    pred: Side,
    documents: Any,
    count: int,
    options: Mapping[str, Any],
    version: Version,
    notes: Sequence[str],
) -> Outcome:
    """Match and count; `count` is the number of documents as nervaluate has them."""
    minimum = options.get("min_overlap_percentage", 0.0)
    if version.preferences and not 1.0 <= minimum <= 100.0:
        found = f"{minimum:g} is not between 1 and 100"
        raise FormatError.single("--min_overlap_percentage", None, found, "give a percentage of the gold span")
    types = tuple(sorted({*gold.types, *pred.types}))
    tags = tuple(dict.fromkeys(options["tags"] or types))
    if version.unused and options["tags"] and len(tags) < len(options["tags"]):
        found = f"a type is given twice, and nervaluate {version.number} counts it twice"
        raise FormatError.single("--tags", None, found, "give each type once")
    matching = _matched(gold, pred, types, frozenset(tags), minimum, version)
    counts = _counts(matching, len(types), version)
    used = np.zeros(len(types), np.int64)
    for side in (matching.gold, matching.pred):
        used += np.bincount(side.kind, minlength=len(types))
    code = {name: place for place, name in enumerate(types)}
    shown = tags if version.unused else tuple(name for name in types if used[code[name]])
    nothing = np.zeros(5, np.int64)

    def row(schema: str, name: str | None) -> dict[str, Any]:
        typed = counts[schema][1]
        five = counts[schema][0] if name is None else typed[code[name]] if name in code else nothing
        credit = schema in ("partial", "ent_type") and (version.credits or count < 2)
        return _figures(*five.tolist(), credit=credit)

    scores = {
        "overall": {schema: row(schema, None) for schema in version.schemas},
        "entities": {name: {schema: row(schema, name) for schema in version.schemas} for name in shown},
    }
    typed = [(apart(name), row) for name, row in scores["entities"].items()]
    rows = [
        (schema, scope, name, value, name in COUNTED)
        for schema in DECIDED
        for scope, by_schema in ((OVERALL, scores["overall"]), *typed)
        for name, value in by_schema[schema].items()
    ]
    if options["tags"] is None:
        notes = [*notes, f"tags not given: every type of gold and prediction is scored ({len(types)})"]
    elif unknown := [tag for tag in tags if tag not in code]:
        notes = [*notes, f"tags that no span has: {', '.join(unknown)}"]
    return Outcome(
        f"nervaluate-{version.number}",
        options,
        documents,
        gold.content,
        pred.content,
        scores,
        figures(rows),
        lambda schema: records(schema, matching, gold.numbered(), pred.numbered(), types),
        tuple(notes),
    )


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


def _figures(
    correct: int, incorrect: int, partial: int, missed: int, spurious: int, *, credit: bool
) -> dict[str, int | float]:
    possible = correct + incorrect + partial + missed
    actual = correct + incorrect + partial + spurious
    earned = correct + 0.5 * partial if credit else correct
    precision = earned / actual if actual else 0
    recall = earned / possible if possible else 0
    both = precision + recall
    return {
        "correct": correct,
        "incorrect": incorrect,
        "partial": partial,
        "missed": missed,
        "spurious": spurious,
        "possible": possible,
        "actual": actual,
        "precision": precision,
        "recall": recall,
        "f1": 2 * (precision * recall) / both if both else 0,
    }


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
