"""Which type of gold a prediction's type may be, by what its spans overlap, else by its name. Never applied unasked.

What overlaps is much the stronger evidence: two annotation schemes call one thing by names that have nothing in common,
and different things by one name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

import numpy as np
from numpy.typing import NDArray

from nereval_core.corpus import Layer
from nereval_core.pairing.type_names import line_of
from nereval_core.problems import quoted

SHOWN_TYPES = 4
"""Types of either side that a sentence names."""

LEAST_SHARE = 0.5
"""Spans say what a type is where so large a part of those that overlap anything overlap one type of gold."""
LEAST_SPANS = 2
"""Fewer overlapping spans say nothing by themselves."""
LEAST_ALIKE = 0.75
"""Names are alike from this ratio of `difflib.SequenceMatcher` on."""
SHORTEST = 3
"""A name begins another one where it has so many letters."""
TAG = re.compile(r"[BIESLU]-(?=.)")

MEANINGS: tuple[Mapping[str, str], ...] = (
    {"per": "CoNLL-2003", "person": "OntoNotes, WNUT-17, MUC", "pers": "HIPE"},
    {"loc": "CoNLL-2003, HIPE", "location": "WNUT-17, MUC", "geoloc": "WNUT-16", "gpe": "OntoNotes, ACE"},
    {"org": "CoNLL-2003, OntoNotes, HIPE", "organization": "MUC", "organisation": "as spelt in Britain"},
    {"misc": "CoNLL-2003", "other": "WNUT-16"},
    {"corporation": "WNUT-17", "company": "WNUT-16"},
    {"fac": "OntoNotes, ACE", "facility": "WNUT-16"},
    {"product": "OntoNotes, WNUT-17", "prod": "HIPE"},
    {"workofart": "OntoNotes", "creativework": "WNUT-17"},
    {"date": "OntoNotes, MUC", "time": "HIPE"},
    {"gene": "BioCreative II", "protein": "JNLPBA", "geneorgeneproduct": "BioRED"},
    {"chemical": "CDR", "drug": "DDI-2013", "chemicalentity": "BioRED"},
    {"disease": "CDR", "diso": "UMLS", "diseaseorphenotypicfeature": "BioRED"},
    {"species": "PubTator", "organism": "BioNLP", "organismtaxon": "BioRED"},
)
"""Names that mean much the same, in small letters without signs, and where each is used."""


@dataclass(frozen=True)
class Suggestion:
    """A type of predictions that gold has not: `to` is what it may be there, None where nothing says so.

    `sure` tells whether it is suggested outright. `overlaps` counts, by type of gold, the spans that overlap one of it,
    the most first; `spans` counts all, `overlapping` those that overlap any.
    """

    name: str
    to: str | None
    sure: bool
    reason: str
    spans: int
    overlapping: int
    overlaps: tuple[tuple[str, int], ...]

    @property
    def counts(self) -> str:
        """What is overlapped, in words: `protein 12, DNA 3`."""
        return ", ".join(f"{kind} {count}" for kind, count in self.overlaps)


def suggest_types(gold: Layer, systems: Iterable[Layer]) -> tuple[Suggestion, ...]:
    """Return a suggestion for each type of predictions that gold has not, sorted by name.

    All layers lie over the same documents; the counts are those of all systems together. Spans overlap where their
    outer bounds do.
    """
    systems = tuple(systems)
    names = sorted({kind for layer in systems for kind in layer.types} - set(gold.types))
    totals: dict[str, int] = dict.fromkeys(names, 0)
    any_type: dict[str, int] = dict.fromkeys(names, 0)
    counts: dict[str, dict[str, int]] = {name: {} for name in names}
    for layer in systems:
        over = _overlapping(gold, layer)
        for code, name in enumerate(layer.types):
            if name in counts:
                own = layer.type == code
                totals[name] += int(own.sum())
                any_type[name] += int(over[own].any(axis=1).sum())
                for kind, count in zip(gold.types, over[own].sum(axis=0).tolist(), strict=True):
                    counts[name][kind] = counts[name].get(kind, 0) + count
    found = []
    for name in names:
        ranked = sorted(counts[name].items(), key=lambda item: (-item[1], item[0]))
        overlaps = tuple((kind, count) for kind, count in ranked if count)
        to, sure, reason = _chosen(name, gold.types, any_type[name], overlaps)
        found.append(Suggestion(name, to, sure, reason, totals[name], any_type[name], overlaps))
    return tuple(found)


def unlike(gold: Layer, pred: Layer) -> bool:
    """Tell whether two layers have types, and none in common."""
    return bool(gold.types) and bool(pred.types) and not set(gold.types) & set(pred.types)


def unlike_in_words(gold: Layer, pred: Layer) -> str:
    """Say that two layers have types and none in common, as they may call the same things otherwise; else ""."""
    if not unlike(gold, pred):
        return ""
    kinds, ours = (", ".join(map(quoted, layer.types[:SHOWN_TYPES])) for layer in (pred, gold))
    return f"no type is one of gold's, {kinds} here, {ours} there; `nereval types GOLD PRED` suggests a mapping"


def suggested_lines(suggestions: Sequence[Suggestion], gold: Layer, systems: Iterable[Layer]) -> str:
    """Return the suggestions as a file to be edited, for predictions: what is not sure, and why, stands in comments."""
    lines = ["# NAME OF PREDICTIONS = NAME OF GOLD. Check every line: nothing here is certain."]
    if not suggestions:
        lines.append("# Gold has every type of the predictions: nothing is to be mapped.")
    for one in suggestions:
        left = "" if one.sure else "# "
        right = line_of(one.name, one.to) if one.to is not None else f"{line_of(one.name, '?')}"
        lines.append(f"{left}{right}  # {_spoken(one.reason)}")
    reached = {one.to for one in suggestions if one.sure} | {kind for layer in systems for kind in layer.types}
    others = [kind for kind in gold.types if kind not in reached]
    if others and suggestions:
        lines.append(f"# types of gold that no line leads to: {_spoken(', '.join(others))}")
    return "".join(f"{line}\n" for line in lines)


def _spoken(text: str) -> str:
    """Return text as it can stand in a comment: on one line."""
    return quoted(text, len(text) + 1)[1:-1] if not text.isprintable() else text


def _overlapping(gold: Layer, pred: Layer) -> NDArray[np.bool_]:
    """Return whether each predicted span overlaps a gold span of each type, shape (spans, types of gold)."""
    base = gold.documents.base
    start, end = (column + base[pred.doc] for column in (pred.start, pred.end))
    found = np.zeros((len(pred), len(gold.types)), np.bool_)
    for code in range(len(gold.types)):
        own = gold.type == code
        starts, ends = (np.sort(column[own] + base[gold.doc[own]]) for column in (gold.start, gold.end))
        # Those that begin before its end, less those that end before it begins.
        begun, over = np.searchsorted(starts, end, side="left"), np.searchsorted(ends, start, side="right")
        found[:, code] = begun > over
    return found


def _chosen(
    name: str, kinds: Sequence[str], overlapping: int, overlaps: Sequence[tuple[str, int]]
) -> tuple[str | None, bool, str]:
    """Return what a type may be, whether that is sure enough to be suggested, and why."""
    alike, why = _by_name(name, kinds)
    if not overlaps:
        return alike, alike is not None, why or "overlaps no gold span, and no name is alike"
    best, most = overlaps[0]
    told = f"{most} of {overlapping} that overlap any overlap {best}"
    others = [f"{kind} {count}" for kind, count in overlaps[1:4]]
    told += f" ({', '.join(others)})" if others else ""
    tied = [kind for kind, count in overlaps if count == most]
    if alike in tied:
        return alike, True, f"{told}; {why}"
    if len(tied) == 1 and most >= LEAST_SPANS and most >= LEAST_SHARE * overlapping:
        return best, True, told
    if alike is not None:
        return alike, False, f"{why}, but {told}"
    return best, False, told


def _by_name(name: str, kinds: Sequence[str]) -> tuple[str | None, str]:
    """Return the type whose name is alike, and in which way; None where none is, or several are."""
    bare = _bare(name)
    for alike, why in (
        (lambda other: other == bare, "the same name but for case and signs"),
        (lambda other: any({bare, other} <= set(row) for row in MEANINGS), "another name of the same"),
        (lambda other: _begins(bare, other), "one name begins the other"),
        (lambda other: SequenceMatcher(None, bare, other).ratio() >= LEAST_ALIKE, "names spelt alike"),
    ):
        found = [kind for kind in kinds if alike(_bare(kind))]
        if len(found) == 1:
            return found[0], why
    return None, ""


def _bare(name: str) -> str:
    """Return the letters and digits of a name, small, without the letter of a tag before it."""
    return "".join(char for char in TAG.sub("", name, count=1).casefold() if char.isalnum())


def _begins(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    return len(short) >= SHORTEST and long.startswith(short)
