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
from collections.abc import Mapping, Sequence
from typing import Any

from nereval_core.corpus.builder import Builder
from nereval_core.problems import FormatError, Problem, quoted
from nereval_core.readers import Reader, Reading, ReadOptions, Source, select_layer
from nereval_core.readers.cas.content import ENTITY, SENTENCE, TOKEN, Cas, TypeAnnotations, TypeSystem, types_of_xml
from nereval_core.readers.cas.files import CasFile, cas_likelihood, cas_units, read_cas
from nereval_core.readers.cas.span_choice import (
    LINK,
    CasLayer,
    TypeChoice,
    candidate_types,
    choice_notes,
    span_types,
    type_feature,
)
from nereval_core.readers.input.origins import ZIP
from nereval_core.readers.input.source import unread_files_note, with_progress
from nereval_core.readers.shared.inception_names import SEPARATOR, layer_names, ranked_annotators, short_name
from nereval_core.readers.shared.offset_conversion import reading_in_code_points
from nereval_core.readers.shared.offset_units import Offsets, width_of

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
            kinds |= set(candidate_types(_work(source, [unit], TypeChoice(), options)))
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
        work = _work(source, files, TypeChoice(kind or None, feature_name), options)
        kinds = span_types(work)
        feature = type_feature(work, kinds)
        builder = Builder(source.name)
        counts: Counter[str] = Counter()
        for unit, cas, name in work.cases:
            _document(unit, cas, name, kinds, feature, options.offsets or OFFSETS, builder, counts)
        used = {file for unit in files for file in (unit.file, unit.types)}
        notes = [*choice_notes(work, kinds, feature)]
        notes += unread_files_note(source, [file for file in source.files if file in used or file.suffix == ZIP])
        notes += [f"{what}: {count}" for what, count in sorted(counts.items()) if count]
        return reading_in_code_points(builder, source, options, self.name, expected=OFFSETS, notes=notes)


READER = CasReader()


def _units(source: Source) -> list[CasFile]:
    """Return the files to read, as `cas_files.units`, whose place says nothing where the first CAS belies it."""
    files = cas_units(source)
    if files[0].document is not None:
        first = read_cas(files[0].file, TypeSystem(), lambda *_: False, [])
        if first is not None and first.name not in (None, files[0].document):
            files = [unit._replace(owner=None, document=None) for unit in files]
    return files


def _owners(files: Sequence[CasFile]) -> tuple[str, ...]:
    names = {unit.owner for unit in files if unit.owner is not None}
    return ranked_annotators(names)


def _work(source: Source, files: Sequence[CasFile], choice: TypeChoice, options: ReadOptions) -> CasLayer:
    work = CasLayer(source, choice)
    systems: dict[bytes, TypeSystem] = {}
    for unit in with_progress(files, options.progress):
        types = TypeSystem()
        try:
            if unit.types is not None:
                # Every zip brings the same.
                raw = unit.types.read()
                digest = hashlib.sha256(raw).digest()
                if digest not in systems:
                    systems[digest] = types_of_xml(raw, unit.types.shown, work.problems)
                types = systems[digest]
            cas = read_cas(unit.file, types, work.choice.keeps, work.problems)
        except FormatError as error:
            work.problems += error.problems
            continue
        if cas is not None:
            work.types |= cas.types
            name = unit.document or cas.name or unit.file.stem
            work.cases.append((unit, cas, cas.name if cas.own and cas.name else name))
    if work.problems:
        raise FormatError(work.problems)
    # Documents are called by the files they were made of, without the endings unless two have the same name then.
    counts = Counter(_base(cas, name) for _, cas, name in work.cases)
    work.cases = [
        (unit, cas, name if counts[_base(cas, name)] > 1 else _base(cas, name)) for unit, cas, name in work.cases
    ]
    return work


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
