"""UIMA CAS as XMI and as JSON (0.4.0), as INCEpTION exports it: one annotator's work on one document a file.

Spans are the annotations of DKPro's NamedEntity, `value` their type and `identifier` their link, or those of another
type. Offsets are UTF-16 units; there are no quotes to test that by. Both forms are read without UIMA's own packages:
these warn of offsets outside the text, and cannot read XML 1.1. See INCEpTION's user guide, "UIMA CAS XMI" and "UIMA
CAS JSON".
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from nereval_core.corpus.builder import Builder
from nereval_core.problems import FormatError, Problem, ProblemList, either_option, quoted
from nereval_core.readers import Reader, Reading, ReadOptions, Source, select_layer
from nereval_core.readers.cas.content import (
    ENTITY,
    SENTENCE,
    SEPARATOR,
    TOKEN,
    Cas,
    TypeAnnotations,
    TypeSystem,
    layer_names,
    ranked_annotators,
    short_name,
    types_of_xml,
)
from nereval_core.readers.cas.files import CasFile, cas_likelihood, cas_units, read_cas
from nereval_core.readers.input.origins import ZIP
from nereval_core.readers.input.source import unread_files_note, with_progress
from nereval_core.readers.shared.offset_conversion import reading_in_code_points
from nereval_core.readers.shared.offset_units import Offsets, width_of

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


OFFSETS = Offsets("UTF-16 units")
ENDING = re.compile(r"(?<=[^/.])\.[A-Za-z][A-Za-z0-9]{0,4}$")
"""The ending of the file of a text, from which a document has its name."""
MEND = "mend or delete it where it was annotated, and export again"


class CasReader(Reader):
    name = "cas"
    description = "UIMA CAS as XMI or JSON, as INCEpTION exports it"
    has_columns = True
    opens_zips = True
    has_layers = True

    def recognise(self, source: Source) -> float:
        """Claim XMI by its root and of JSON by its first keys, in the zips of a project's export too."""
        return cas_likelihood(source)

    def layers(self, source: Source, options: ReadOptions) -> tuple[str, ...]:
        """Return the annotators in the export of a project, and the layers that may be meant; nothing where it is one.

        Files are looked into until one has entities.

        Raises:
            FormatError: with every problem found.
        """
        files = _units(source)
        owners = _owners(files)
        kinds: set[str] = set()
        for unit in files:
            kinds |= set(candidate_types(_read_layer(source, [unit], TypeChoice(), options)))
            if ENTITY in kinds:
                break
        names = layer_names(sorted(kinds))
        if ENTITY in kinds or len(names) < 2:
            return owners if len(owners) > 1 else ()
        return (
            tuple(f"{owner}{SEPARATOR}{name}" for owner in owners for name in names)
            if len(owners) > 1
            else tuple(names)
        )

    def read(self, source: Source, options: ReadOptions) -> Reading:
        """Read the documents of one annotator of a project, or of all files where none is in an annotator's place.

        `options.layer` names the annotator, where there are several, and after a slash the layer, by the whole name of
        its type or the last part of that. Without it the spans are the NamedEntity annotations, or, if there are none,
        those of the one custom layer that has some. `options.column` names the feature that is their type; else it is
        `value` or `label`, or the first string that is declared. Annotations without a value are spans called as their
        layer is. Annotations of no character are left out and counted.

        Raises:
            FormatError: with every problem found: annotations outside the text or inverted; several annotators or
                custom layers, and none is named.
        """
        files = _units(source)
        owners = _owners(files)
        owner, _, kind = (options.layer or "").partition(SEPARATOR)
        if len(owners) > 1 or owner in owners:
            owner = select_layer(source, owner or None, owners)
            files = [unit for unit in files if unit.owner == owner]
        else:
            kind = options.layer or ""
        feature_name = None if options.column is None else str(options.column)
        cas_layer = _read_layer(source, files, TypeChoice(kind or None, feature_name), options)
        kinds = span_types(cas_layer)
        feature = type_feature(cas_layer, kinds)
        builder = Builder(source.name)
        counts: Counter[str] = Counter()
        for unit, cas, name in cas_layer.cases:
            _document(unit, cas, name, kinds, feature, options.offsets or OFFSETS, builder, counts)
        used = {file for unit in files for file in (unit.file, unit.types)}
        notes = [*choice_notes(cas_layer, kinds, feature)]
        notes += unread_files_note(source, [file for file in source.files if file in used or file.suffix == ZIP])
        notes += [f"{what}: {count}" for what, count in sorted(counts.items()) if count]
        return reading_in_code_points(builder, source, options, self.name, expected=OFFSETS, notes=notes)


READER = CasReader()


def _units(source: Source) -> list[CasFile]:
    """Return the files to read; their places name no annotators where the first CAS contradicts its place."""
    files = cas_units(source)
    if files[0].document is not None:
        first = read_cas(files[0].file, TypeSystem(), lambda *_: False, [])
        if first is not None and first.name not in (None, files[0].document):
            files = [unit._replace(owner=None, document=None) for unit in files]
    return files


def _owners(files: Sequence[CasFile]) -> tuple[str, ...]:
    names = {unit.owner for unit in files if unit.owner is not None}
    return ranked_annotators(names)


def _read_layer(source: Source, files: Sequence[CasFile], choice: TypeChoice, options: ReadOptions) -> CasLayer:
    cas_layer = CasLayer(source, choice)
    systems: dict[bytes, TypeSystem] = {}
    for unit in with_progress(files, options.progress):
        types = TypeSystem()
        try:
            if unit.types is not None:
                # Every zip brings the same.
                raw = unit.types.read()
                digest = hashlib.sha256(raw).digest()
                if digest not in systems:
                    systems[digest] = types_of_xml(raw, unit.types.shown, cas_layer.problems)
                types = systems[digest]
            cas = read_cas(unit.file, types, cas_layer.choice.keeps, cas_layer.problems)
        except FormatError as error:
            cas_layer.problems += error.problems
            continue
        if cas is not None:
            cas_layer.types |= cas.types
            name = unit.document or cas.name or unit.file.stem
            cas_layer.cases.append((unit, cas, cas.name if cas.own and cas.name else name))
    if cas_layer.problems:
        raise FormatError(cas_layer.problems)
    # Documents are called by the files they were made of, without the endings unless two have the same name then.
    counts = Counter(_base(cas, name) for _, cas, name in cas_layer.cases)
    cas_layer.cases = [
        (unit, cas, name if counts[_base(cas, name)] > 1 else _base(cas, name)) for unit, cas, name in cas_layer.cases
    ]
    return cas_layer


def _base(cas: Cas, name: str) -> str:
    return name if cas.own else ENDING.sub("", name)


def _document(
    unit: CasFile,
    cas: Cas,
    name: str,
    kinds: Sequence[str],
    feature: str | None,
    counting: Offsets,
    builder: Builder,
    counts: Counter[str],
) -> None:
    size = width_of(cas.text, counting.unit)

    def placed_annotations(kind: str, base: int = 0, inclusive: bool = False) -> TypeAnnotations | None:
        """Return the annotations of a type that have characters, none where one is out of place."""
        marks = cas.marks.get(kind)
        if marks is None:
            return None
        places = list(zip(marks.begins, marks.ends, strict=True))
        top = size + base
        empty = {at for at, (begin, end) in enumerate(places) if base <= begin == end + inclusive <= top}
        wrong = [
            at
            for at, (begin, end) in enumerate(places)
            if not base <= begin < end + inclusive <= top and at not in empty
        ]
        for at in wrong:
            begin, end = places[at]
            what = f"is outside the text of {size} {counting.unit}"
            if base <= end + inclusive <= begin <= top:
                what = "ends before it begins"
            where = f"{short_name(kind)} {marks.ids[at]}, from {begin} to {end}, {what}"
            builder.problems.append(Problem(unit.file.shown, marks.lines[at], where, MEND))
        counts["annotations of no character, left out"] += len(empty)
        return None if wrong else marks.without(empty)

    def parts(kind: str) -> list[tuple[int, int]]:
        marks = placed_annotations(kind)
        return sorted(zip(marks.begins, marks.ends, strict=True)) if marks else []

    tokens, sentences = parts(TOKEN), parts(SENTENCE)
    builder.document(name, cas.text, line=cas.line, source=unit.file.shown, tokens=tokens, sentences=sentences)
    for kind in kinds:
        marks = placed_annotations(kind, counting.base, counting.inclusive)
        if not marks:
            continue
        values = [_value(row, feature) for row in marks.rows]
        counts[f"spans without a value, called {quoted(short_name(kind))}"] += values.count("")
        links = [row.get(LINK) for row in marks.rows]
        builder.spans(
            marks.begins,
            marks.ends,
            [value or short_name(kind) for value in values],
            ids=list(map(str, marks.ids)),
            links=[(link,) if isinstance(link, str) and link else None for link in links],
            lines=marks.lines,
        )
    counts["annotations that are in no index, left out"] += cas.unindexed
    counts["further views of documents, left out"] += cas.views


def _value(features: Mapping[str, Any], feature: str | None) -> str:
    value = None if feature is None else features.get(feature)
    if type(value) is str:
        return value
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, (int, float)) else ""


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
        """Return whether a type has the name that was chosen, whatever its supertypes."""
        return kind == self.kind or ("." not in (self.kind or ".") and short_name(kind) == self.kind)


@dataclass(slots=True)
class CasLayer:
    """The CASes of a layer, each with its file and the name that its place gives it."""

    source: Source
    choice: TypeChoice
    cases: list[tuple[CasFile, Cas, str]] = field(default_factory=list)
    types: TypeSystem = field(default_factory=TypeSystem)
    problems: ProblemList = field(default_factory=ProblemList)

    @property
    def prefix(self) -> str:
        """The name of the annotator and a separator, empty where files name no annotator."""
        owner = self.cases[0][0].owner if self.cases else None
        return f"{owner}{SEPARATOR}" if owner else ""

    def refused(self, finding: str, remedy: str) -> FormatError:
        return FormatError.single(self.source.name, None, finding, remedy)


def candidate_types(cas_layer: CasLayer) -> list[str]:
    """Return the types whose annotations may be meant where none is named: NamedEntity, or those of custom layers."""
    kinds = sorted({kind for _, cas, _ in cas_layer.cases for kind in cas.marks} - {TOKEN, SENTENCE})
    if any(cas_layer.types.is_a(kind, ENTITY) for kind in kinds):
        return [ENTITY]
    return [kind for kind in kinds if _is_span(cas_layer, kind)]


def span_types(cas_layer: CasLayer) -> list[str]:
    """Return the types whose annotations are the spans, all of them kinds of one.

    Raises:
        FormatError: several may be meant, or the requested one does not exist.
    """
    types, requested = cas_layer.types, cas_layer.choice.kind
    kinds = sorted({kind for _, cas, _ in cas_layer.cases for kind in cas.marks} - {TOKEN, SENTENCE})
    if requested is None:
        custom = candidate_types(cas_layer)
        if custom == [ENTITY]:
            return [kind for kind in kinds if types.is_a(kind, ENTITY)]
        if len(custom) > 1:
            select_layer(cas_layer.source, None, [f"{cas_layer.prefix}{name}" for name in layer_names(custom)])
        return custom or [ENTITY]
    if requested in (TOKEN, SENTENCE, short_name(TOKEN), short_name(SENTENCE)):
        raise cas_layer.refused(f"{quoted(requested)} is a part of the text", "name a type whose annotations are spans")
    declared = sorted(filter(cas_layer.choice.names, types.parents))
    roots = [kind for kind in kinds if not any(other != kind and types.is_a(kind, other) for other in kinds)]
    if len(roots) > 1:
        finding = f"{quoted(requested)} may be {' or '.join(map(quoted, roots))}"
        raise cas_layer.refused(finding, "write the whole name of the type")
    if not kinds and not declared:
        names = sorted({kind for _, cas, _ in cas_layer.cases for kind in cas.others})
        remedy = f"choose among {', '.join(map(quoted, names))}" if names else "leave it out"
        raise cas_layer.refused(f"no layer {quoted(requested)}", remedy)
    return kinds or declared


def _is_span(cas_layer: CasLayer, kind: str) -> bool:
    """Return whether annotations of a custom layer are spans: relations and chains have features for their ends."""
    declared = {
        feature for ancestor in cas_layer.types.line(kind) for feature in cas_layer.types.features.get(ancestor, ())
    }
    return RELATION_FEATURES.isdisjoint(declared | _present_features(cas_layer, [kind]))


def _present_features(cas_layer: CasLayer, kinds: Collection[str]) -> set[str]:
    """Return the features that annotations of these types have."""
    annotations = (cas.marks[kind] for _, cas, _ in cas_layer.cases for kind in kinds if kind in cas.marks)
    return {key for marks in annotations for key in marks.features()}


def type_feature(cas_layer: CasLayer, kinds: Sequence[str]) -> str | None:
    """Return the feature that is the type of spans, None where they have none.

    Raises:
        FormatError: there is no such feature, it has no simple values, or several may be meant.
    """
    requested, types = cas_layer.choice.feature, cas_layer.types
    ranges: dict[str, str] = {}
    for kind in kinds:
        for ancestor in reversed(types.line(kind)):
            ranges |= types.features.get(ancestor, {})
    present = {key for key in _present_features(cas_layer, kinds) if key[:1] not in "@#%^"}
    if requested is not None:
        if requested not in ranges and requested not in present:
            choices = sorted({*ranges, *present} - {"begin", "end", "sofa"})
            remedy = f"choose among {', '.join(map(quoted, choices))}" if choices else "leave the feature out"
            raise cas_layer.refused(f"{short_name(kinds[0])} has no feature {quoted(requested)}", remedy)
        if requested in ranges and not any(ancestor in SIMPLE_TYPES for ancestor in types.line(ranges[requested])):
            finding = f"the feature {quoted(requested)} of {short_name(kinds[0])} holds {quoted(ranges[requested])}"
            raise cas_layer.refused(finding, "name a feature that holds a string")
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
        raise cas_layer.refused(finding, remedy)
    return usual or next(iter(strings), None)


def choice_notes(cas_layer: CasLayer, kinds: Sequence[str], feature: str | None) -> list[str]:
    """Return notes on the types and features that were chosen, and on those that were not."""
    notes = []
    plain = kinds[0] == ENTITY and feature == VALUE
    if not plain:
        notes.append(f"spans are {', '.join(kinds)}" + (f", their types its {feature}" if feature else ""))
    others: Counter[str] = Counter()
    further: Counter[str] = Counter()
    for _, cas, _ in cas_layer.cases:
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
