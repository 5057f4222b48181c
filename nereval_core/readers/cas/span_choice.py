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
class TypeChoice:
    """The type whose annotations are spans, by its whole name or the last part, and its feature; None: not given."""

    kind: str | None = None
    feature: str | None = None

    def keeps(self, kind: str, types: TypeSystem) -> bool:
        if self.kind is None:
            return types.is_a(kind, ENTITY) or kind.startswith(CUSTOM)
        return any(self.names(ancestor) for ancestor in types.line(kind))

    def names(self, kind: str) -> bool:
        """Return whether a type is the one wanted, whatever it is a kind of."""
        return kind == self.kind or ("." not in (self.kind or ".") and short_name(kind) == self.kind)


@dataclass(slots=True)
class CasLayer:
    """The CASes of a layer, each with its file and the name that its place gives it."""

    source: Source
    choice: TypeChoice
    cases: list[tuple[CasFile, Cas, str]] = field(default_factory=list)
    types: TypeSystem = field(default_factory=TypeSystem)
    problems: list[Problem] = field(default_factory=list)

    @property
    def prefix(self) -> str:
        """The name of the annotator and a separator, empty where files name no annotator."""
        owner = self.cases[0][0].owner if self.cases else None
        return f"{owner}{SEPARATOR}" if owner else ""

    def refused(self, finding: str, remedy: str) -> FormatError:
        return FormatError.single(self.source.name, None, finding, remedy)


def candidate_types(work: CasLayer) -> list[str]:
    """Return the types whose annotations may be meant where none is named: NamedEntity, or those of custom layers."""
    kinds = sorted({kind for _, cas, _ in work.cases for kind in cas.marks} - {TOKEN, SENTENCE})
    if any(work.types.is_a(kind, ENTITY) for kind in kinds):
        return [ENTITY]
    return [kind for kind in kinds if _is_span(work, kind)]


def span_types(work: CasLayer) -> list[str]:
    """Return the types whose annotations are the spans, all of them kinds of one.

    Raises:
        FormatError: several may be meant, or there is none such as is asked for.
    """
    types, requested = work.types, work.choice.kind
    kinds = sorted({kind for _, cas, _ in work.cases for kind in cas.marks} - {TOKEN, SENTENCE})
    if requested is None:
        custom = candidate_types(work)
        if custom == [ENTITY]:
            return [kind for kind in kinds if types.is_a(kind, ENTITY)]
        if len(custom) > 1:
            select_layer(work.source, None, [f"{work.prefix}{name}" for name in layer_names(custom)])
        return custom or [ENTITY]
    if requested in (TOKEN, SENTENCE, short_name(TOKEN), short_name(SENTENCE)):
        raise work.refused(f"{quoted(requested)} is a part of the text", "name a type whose annotations are spans")
    declared = sorted(filter(work.choice.names, types.parents))
    roots = [kind for kind in kinds if not any(other != kind and types.is_a(kind, other) for other in kinds)]
    if len(roots) > 1:
        finding = f"{quoted(requested)} may be {' or '.join(map(quoted, roots))}"
        raise work.refused(finding, "write the whole name of the type")
    if not kinds and not declared:
        names = sorted({kind for _, cas, _ in work.cases for kind in cas.others})
        remedy = f"choose among {', '.join(map(quoted, names))}" if names else "leave it out"
        raise work.refused(f"no layer {quoted(requested)}", remedy)
    return kinds or declared


def _is_span(work: CasLayer, kind: str) -> bool:
    """Return whether annotations of a custom layer are spans: relations and chains have features for their ends."""
    declared = {feature for ancestor in work.types.line(kind) for feature in work.types.features.get(ancestor, ())}
    return RELATION_FEATURES.isdisjoint(declared | _present_features(work, [kind]))


def _present_features(work: CasLayer, kinds: Collection[str]) -> set[str]:
    """Return the features that annotations of these types have."""
    annotations = (cas.marks[kind] for _, cas, _ in work.cases for kind in kinds if kind in cas.marks)
    return {key for marks in annotations for key in marks.features()}


def type_feature(work: CasLayer, kinds: Sequence[str]) -> str | None:
    """Return the feature that is the type of spans, None where they have none.

    Raises:
        FormatError: there is no such feature, it has no simple values, or several may be meant.
    """
    requested, types = work.choice.feature, work.types
    ranges: dict[str, str] = {}
    for kind in kinds:
        for ancestor in reversed(types.line(kind)):
            ranges |= types.features.get(ancestor, {})
    present = {key for key in _present_features(work, kinds) if key[:1] not in "@#%^"}
    if requested is not None:
        if requested not in ranges and requested not in present:
            choices = sorted({*ranges, *present} - {"begin", "end", "sofa"})
            remedy = f"choose among {', '.join(map(quoted, choices))}" if choices else "leave the feature out"
            raise work.refused(f"{short_name(kinds[0])} has no feature {quoted(requested)}", remedy)
        if requested in ranges and not any(ancestor in SIMPLE_TYPES for ancestor in types.line(ranges[requested])):
            finding = f"the feature {quoted(requested)} of {short_name(kinds[0])} holds {quoted(ranges[requested])}"
            raise work.refused(finding, "name a feature that holds a string")
        return requested
    if any(types.is_a(kind, ENTITY) for kind in kinds):
        return VALUE
    strings = list(dict.fromkeys(ancestor for kind in kinds for ancestor in types.strings(kind))) or sorted(present)
    strings = [ancestor for ancestor in strings if ancestor != LINK]
    usual = next((ancestor for ancestor in LABELS if ancestor in strings), None)
    if usual is None and len(strings) > 1 and not ranges:
        names = ", ".join(map(quoted, strings))
        finding = f"{short_name(kinds[0])} has the features {names}, and no type system declares them"
        remedy = (
            f"put its TypeSystem.xml beside, or name the one that is the type: {either_option('--column', strings)}"
        )
        raise work.refused(finding, remedy)
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
