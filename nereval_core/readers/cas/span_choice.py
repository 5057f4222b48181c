"""Choose the annotations of CASes that are spans, and the feature that is their type."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from nereval_core.problems import FormatError, Problem, either_option, quoted
from nereval_core.readers import Source, select_layer
from nereval_core.readers.cas.content import ENTITY, SENTENCE, TOKEN, Cas, TypeSystem
from nereval_core.readers.cas.files import CasFile
from nereval_core.readers.shared.inception_names import SEPARATOR, layer_names, short_name

CUSTOM = ("webanno.custom.", "custom.")
"""Beginnings of the names of layers that a project of INCEpTION declares itself."""
VALUE, LINK = "value", "identifier"
LABELS = ("label", VALUE)
"""Features that are the type of a span before others are."""
RELATION_FEATURES = {"Governor", "Dependent", "@Governor", "@Dependent", "referenceRelation"}
"""Features of relations and chains, which are not spans."""
SIMPLE_TYPES = {
    f"uima.cas.{name}" for name in ("String", "Boolean", "Byte", "Short", "Integer", "Long", "Float", "Double")
}


@dataclass(frozen=True, slots=True)
class WantedType:
    """The type whose annotations are spans, by its whole name or the last part, and its feature; None: not given."""

    kind: str | None = None
    feature: str | None = None

    def keeps(self, kind: str, types: TypeSystem) -> bool:
        if self.kind is None:
            return types.is_a(kind, ENTITY) or kind.startswith(CUSTOM)
        return any(self.names(one) for one in types.line(kind))

    def names(self, kind: str) -> bool:
        """Return whether a type is the one wanted, whatever it is a kind of."""
        return kind == self.kind or ("." not in (self.kind or ".") and short_name(kind) == self.kind)


@dataclass(slots=True)
class CasLayer:
    """The CASes of a layer, each with its file and the name that its place gives it."""

    source: Source
    wanted: WantedType
    cases: list[tuple[CasFile, Cas, str]] = field(default_factory=list)
    types: TypeSystem = field(default_factory=TypeSystem)
    problems: list[Problem] = field(default_factory=list)

    @property
    def prefix(self) -> str:
        """The name of the annotator and a separator, empty where files name no annotator."""
        owner = self.cases[0][0].owner if self.cases else None
        return f"{owner}{SEPARATOR}" if owner else ""

    def refused(self, found: str, remedy: str) -> FormatError:
        return FormatError.single(self.source.name, None, found, remedy)


def candidate_types(work: CasLayer) -> list[str]:
    """Return the types whose annotations may be meant where none is named: NamedEntity, or those of custom layers."""
    there = sorted({kind for _, cas, _ in work.cases for kind in cas.marks} - {TOKEN, SENTENCE})
    if any(work.types.is_a(kind, ENTITY) for kind in there):
        return [ENTITY]
    return [kind for kind in there if _is_span(work, kind)]


def span_types(work: CasLayer) -> list[str]:
    """Return the types whose annotations are the spans, all of them kinds of one.

    Raises:
        FormatError: several may be meant, or there is none such as is asked for.
    """
    types, wanted = work.types, work.wanted.kind
    there = sorted({kind for _, cas, _ in work.cases for kind in cas.marks} - {TOKEN, SENTENCE})
    if wanted is None:
        custom = candidate_types(work)
        if custom == [ENTITY]:
            return [kind for kind in there if types.is_a(kind, ENTITY)]
        if len(custom) > 1:
            select_layer(work.source, None, [f"{work.prefix}{name}" for name in layer_names(custom)])
        return custom or [ENTITY]
    if wanted in (TOKEN, SENTENCE, short_name(TOKEN), short_name(SENTENCE)):
        raise work.refused(f"{quoted(wanted)} is a part of the text", "name a type whose annotations are spans")
    declared = sorted(filter(work.wanted.names, types.parents))
    roots = [kind for kind in there if not any(other != kind and types.is_a(kind, other) for other in there)]
    if len(roots) > 1:
        found = f"{quoted(wanted)} may be {' or '.join(map(quoted, roots))}"
        raise work.refused(found, "write the whole name of the type")
    if not there and not declared:
        known = sorted({kind for _, cas, _ in work.cases for kind in cas.others})
        remedy = f"choose among {', '.join(map(quoted, known))}" if known else "leave it out"
        raise work.refused(f"no layer {quoted(wanted)}", remedy)
    return there or declared


def _is_span(work: CasLayer, kind: str) -> bool:
    """Return whether annotations of a custom layer are spans: relations and chains have features for their ends."""
    declared = {feature for one in work.types.line(kind) for feature in work.types.features.get(one, ())}
    return RELATION_FEATURES.isdisjoint(declared | _seen(work, [kind]))


def _seen(work: CasLayer, kinds: Collection[str]) -> set[str]:
    """Return the features that annotations of these types have."""
    held = (cas.marks[kind] for _, cas, _ in work.cases for kind in kinds if kind in cas.marks)
    return {key for marks in held for key in marks.features()}


def type_feature(work: CasLayer, kinds: Sequence[str]) -> str | None:
    """Return the feature that is the type of spans, None where they have none.

    Raises:
        FormatError: there is no such feature, it has no simple values, or several may be meant.
    """
    wanted, types = work.wanted.feature, work.types
    ranges: dict[str, str] = {}
    for kind in kinds:
        for one in reversed(types.line(kind)):
            ranges |= types.features.get(one, {})
    seen = {key for key in _seen(work, kinds) if key[:1] not in "@#%^"}
    if wanted is not None:
        if wanted not in ranges and wanted not in seen:
            known = sorted({*ranges, *seen} - {"begin", "end", "sofa"})
            remedy = f"choose among {', '.join(map(quoted, known))}" if known else "leave the feature out"
            raise work.refused(f"{short_name(kinds[0])} has no feature {quoted(wanted)}", remedy)
        if wanted in ranges and not any(one in SIMPLE_TYPES for one in types.line(ranges[wanted])):
            found = f"the feature {quoted(wanted)} of {short_name(kinds[0])} holds {quoted(ranges[wanted])}"
            raise work.refused(found, "name a feature that holds a string")
        return wanted
    if any(types.is_a(kind, ENTITY) for kind in kinds):
        return VALUE
    strings = list(dict.fromkeys(one for kind in kinds for one in types.strings(kind))) or sorted(seen)
    strings = [one for one in strings if one != LINK]
    usual = next((one for one in LABELS if one in strings), None)
    if usual is None and len(strings) > 1 and not ranges:
        names = ", ".join(map(quoted, strings))
        found = f"{short_name(kinds[0])} has the features {names}, and no type system declares them"
        remedy = (
            f"put its TypeSystem.xml beside, or name the one that is the type: {either_option('--column', strings)}"
        )
        raise work.refused(found, remedy)
    return usual or next(iter(strings), None)


def choice_notes(work: CasLayer, kinds: Sequence[str], feature: str | None) -> list[str]:
    """Return notes on the types and features that were chosen, and on those that were not."""
    notes = []
    plain = kinds[0] == ENTITY and feature == VALUE
    if not plain:
        notes.append(f"spans are {', '.join(kinds)}" + (f", their types its {feature}" if feature else ""))
    others: Counter[str] = Counter()
    further: Counter[str] = Counter()
    for _, cas, _ in work.cases:
        others.update({short_name(kind): count for kind, count in cas.others.items()})
        for kind, marks in cas.marks.items():
            if kind in kinds:
                further.update({key.lstrip("@#"): count for key, count in marks.features().items()})
            elif kind not in (TOKEN, SENTENCE):
                others[short_name(kind)] += len(marks)
    if others:
        names = ", ".join(f"{name} {count}" for name, count in others.most_common(3))
        names += ", …" if len(others) > 3 else ""
        notes.append(f"annotations of other types, left out: {others.total()} ({names})")
    unread = sorted(set(further) - {feature, LINK})
    if unread:
        notes.append(f"further features, not read: {', '.join(unread)}")
    return notes
