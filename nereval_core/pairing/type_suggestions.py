"""Suggest a gold type for each predicted type that gold lacks, by overlapping spans, or else by name.

Suggestions are never applied automatically. Overlaps are much stronger evidence than names: two annotation schemes use
unrelated names for one type, and one name for different types.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache, partial
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from nereval_core.corpus import Layer
from nereval_core.corpus.arrays import Int64
from nereval_core.pairing.type_names import mapping_line
from nereval_core.problems import SHOWN, quoted

SHOWN_TYPES = 4
"""Types of each side that a message names."""
REMEDY = "`nereval types GOLD PRED` suggests a mapping"

LEAST_SHARE = 0.5
"""Least share of the overlapping spans that must overlap one gold type for a certain suggestion."""
LEAST_SPANS = 2
"""Least number of overlapping spans for a certain suggestion."""
LEAST_SIMILARITY = 0.75
"""Least ratio of `difflib.SequenceMatcher` for similar names."""
SHORTEST_PREFIX = 3
"""Least number of letters of a name that begins another."""
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
"""Names with much the same meaning, in lower case without punctuation, and the schemes that use each."""


@dataclass(frozen=True)
class Suggestion:
    """A predicted type that gold lacks: `to` is the gold type that it may be, None without evidence.

    `sure` tells whether the suggestion is certain enough for a mapping file. `overlaps` counts, by gold type, the spans
    that overlap a span of it, most frequent first; `spans` counts all spans, `overlapping` those that overlap any gold
    span.
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
        """The overlaps in words: `protein 12, DNA 3`."""
        return ", ".join(f"{kind} {count}" for kind, count in self.overlaps)


def suggest_types(gold: Layer, systems: Iterable[Layer]) -> tuple[Suggestion, ...]:
    """Return a suggestion for each predicted type that gold lacks, sorted by name.

    All layers lie over the same documents; the counts are those of all systems together. Spans overlap where their
    outer bounds do.
    """
    systems = tuple(systems)
    names = sorted({kind for layer in systems for kind in layer.types} - set(gold.types))
    totals: dict[str, int] = dict.fromkeys(names, 0)
    any_type: dict[str, int] = dict.fromkeys(names, 0)
    counts: dict[str, dict[str, int]] = {name: {} for name in names}
    for layer in systems:
        foreign = np.flatnonzero(np.isin(layer.type, [code for code, name in enumerate(layer.types) if name in counts]))
        over, types = _overlapping(gold, layer, foreign), layer.type[foreign]
        for code, name in enumerate(layer.types):
            if name in counts:
                own = types == code
                totals[name] += int(own.sum())
                any_type[name] += int(over[own].any(axis=1).sum())
                for kind, count in zip(gold.types, over[own].sum(axis=0).tolist(), strict=True):
                    counts[name][kind] = counts[name].get(kind, 0) + count
    suggestions = []
    for name in names:
        ranked = sorted(counts[name].items(), key=lambda item: (-item[1], item[0]))
        overlaps = tuple((kind, count) for kind, count in ranked if count)
        to, sure, reason = _suggestion(name, gold.types, any_type[name], overlaps)
        suggestions.append(Suggestion(name, to, sure, reason, totals[name], any_type[name], overlaps))
    return tuple(suggestions)


class NamedTypes(Protocol):
    """What has types: a layer, or one that is known by its digest and types."""

    @property
    def types(self) -> tuple[str, ...]: ...


def no_common_type_in_words(gold: NamedTypes, pred: NamedTypes) -> str:
    """Return a hint for two layers with types but none in common, which may use other names."""
    kinds, ours = (", ".join(map(quoted, layer.types[:SHOWN_TYPES])) for layer in (pred, gold))
    return f"no type is one of gold's: {kinds} here, {ours} in gold; {REMEDY}"


def types_not_in_gold_in_words(gold: NamedTypes, pred: NamedTypes, settled: Collection[str] = ()) -> str:
    """Return the types of predicted spans that gold does not have, each with the nearest type of gold; "" for none.

    Types that are `settled` are passed over. Without the spans of both layers the name alone tells the nearest type.
    """
    if isinstance(gold, Layer) and isinstance(pred, Layer):
        nearest = {suggestion.name: suggestion.to for suggestion in suggest_types(gold, [pred]) if suggestion.spans}
    else:
        nearest = {name: _by_name(name, gold.types)[0] for name in pred.types if name not in gold.types}
    nearest = {name: to for name, to in nearest.items() if name not in settled}
    named = [
        quoted(name) if to is None else f"{quoted(name)} (nearest in gold: {quoted(to)})"
        for name, to in list(nearest.items())[:SHOWN]
    ]
    more = f" and {len(nearest) - SHOWN} more" if len(nearest) > SHOWN else ""
    return f"types that gold does not have: {', '.join(named)}{more}; {REMEDY}" if nearest else ""


def spellings(layers: Iterable[Layer]) -> dict[str, str]:
    """Return types of one layer that differ from a more frequent one of it in case and blanks alone, by their name."""
    joined: dict[str, str] = {}
    for layer in layers:
        counts = np.bincount(layer.type, minlength=len(layer.types)).tolist()
        first: dict[str, str] = {}
        for _, name in sorted(zip(counts, layer.types, strict=True), key=lambda pair: (-pair[0], pair[1])):
            usual = first.setdefault("".join(name.casefold().split()), name)
            if usual != name:
                joined.setdefault(name, usual)
    return {name: usual for name, usual in joined.items() if usual not in joined}


def suggested_lines(suggestions: Sequence[Suggestion], gold: Layer, systems: Iterable[Layer]) -> str:
    """Return the suggestions as a mapping file to be edited; uncertain ones and reasons stand in comments.

    So do types that one side spells in several ways, which are to be joined on both.
    """
    systems = tuple(systems)
    lines = ["# NAME OF PREDICTIONS = NAME OF GOLD. Check every line: these are only suggestions."]
    if not suggestions:
        lines.append("# Gold has every type of the predictions: no mapping is needed.")
    for suggestion in suggestions:
        comment = "" if suggestion.sure else "# "
        right = (
            mapping_line(suggestion.name, suggestion.to)
            if suggestion.to is not None
            else f"{mapping_line(suggestion.name, '?')}"
        )
        lines.append(f"{comment}{right}  # {_on_one_line(suggestion.reason)}")
    reached = {suggestion.to for suggestion in suggestions if suggestion.sure} | {
        kind for layer in systems for kind in layer.types
    }
    others = [kind for kind in gold.types if kind not in reached]
    if others and suggestions:
        lines.append(f"# types of gold that no line maps to: {_on_one_line(', '.join(others))}")
    mapped = {suggestion.name for suggestion in suggestions if suggestion.sure}
    joined = {name: usual for name, usual in spellings((gold, *systems)).items() if not {name, usual} <= mapped}
    if joined:
        lines.append(
            "# One side spells these in several ways. To join them, save the lines without # as FILE: --types FILE"
        )
        lines += [f"# {mapping_line(name, usual)}" for name, usual in sorted(joined.items())]
    return "".join(f"{line}\n" for line in lines)


def _on_one_line(text: str) -> str:
    """Return text for a comment, which is one line."""
    return quoted(text, len(text) + 1)[1:-1] if not text.isprintable() else text


def _overlapping(gold: Layer, pred: Layer, spans: Int64) -> NDArray[np.bool_]:
    """Return whether each of these predicted spans overlaps a gold span of each type, shape (spans, types of gold)."""
    base = gold.documents.base
    start, end = (column[spans] + base[pred.doc[spans]] for column in (pred.start, pred.end))
    is_overlapping = np.zeros((len(spans), len(gold.types)), np.bool_)
    for code in range(len(gold.types)):
        own = gold.type == code
        starts, ends = (np.sort(column[own] + base[gold.doc[own]]) for column in (gold.start, gold.end))
        # Gold spans that begin before its end, minus those that end before its start.
        begun, over = np.searchsorted(starts, end, side="left"), np.searchsorted(ends, start, side="right")
        is_overlapping[:, code] = begun > over
    return is_overlapping


def _suggestion(
    name: str, kinds: Sequence[str], overlapping: int, overlaps: Sequence[tuple[str, int]]
) -> tuple[str | None, bool, str]:
    """Return the gold type that a predicted type may be, whether that is certain enough, and the reason."""
    alike, why = _by_name(name, kinds)
    if not overlaps:
        return alike, alike is not None, why or "overlaps no gold span, and no name is similar"
    best, most = overlaps[0]
    overlap = f"{most} of {overlapping} overlapping spans overlap {best}"
    others = [f"{kind} {count}" for kind, count in overlaps[1:4]]
    overlap += f" ({', '.join(others)})" if others else ""
    tied = [kind for kind, count in overlaps if count == most]
    if alike in tied:
        return alike, True, f"{overlap}; {why}"
    if len(tied) == 1 and most >= LEAST_SPANS and most >= LEAST_SHARE * overlapping:
        return best, True, overlap
    if alike is not None:
        return alike, False, f"{why}, but {overlap}"
    return best, False, overlap


def _by_name(name: str, kinds: Sequence[str]) -> tuple[str | None, str]:
    """Return the type with a similar name and the kind of similarity; None where none or several are similar."""
    bare = _bare(name)
    for alike, why in (
        (lambda other: other == bare, "the same name except for case and punctuation"),
        (lambda other: any({bare, other} <= set(row) for row in MEANINGS), "a name of much the same meaning"),
        (lambda other: _begins(bare, other), "one name begins the other"),
        (partial(_is_spelt_like, bare), "similar spelling"),
    ):
        similar = [kind for kind in kinds if alike(_bare(kind))]
        if len(similar) == 1:
            return similar[0], why
    return None, ""


def _is_spelt_like(name: str, other: str) -> bool:
    """Return whether two names are similar; bounds of the ratio, which are found sooner, are looked at first."""
    match = SequenceMatcher(None, name, other)
    return all(ratio() >= LEAST_SIMILARITY for ratio in (match.real_quick_ratio, match.quick_ratio, match.ratio))


@lru_cache(maxsize=1 << 16)
def _bare(name: str) -> str:
    """Return the letters and digits of a name in lower case, without the prefix of a tag."""
    return "".join(char for char in TAG.sub("", name, count=1).casefold() if char.isalnum())


def _begins(name: str, other: str) -> bool:
    short, long = sorted((name, other), key=len)
    return len(short) >= SHORTEST_PREFIX and long.startswith(short)
