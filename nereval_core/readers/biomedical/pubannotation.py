"""JSON of PubAnnotation and TextAE: a `text` with `denotations`, each a span of it and what it denotes.

A file holds one document, a list of them, or one a line. Offsets are code points, `begin` to `end` exclusive; a list of
spans is a discontinuous one. Attributes are metadata of the denotation that is their subject. See the documentation of
PubAnnotation, "Annotation format".
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from nereval_core.corpus.builder import Builder
from nereval_core.problems import Problem, quoted
from nereval_core.readers import Reader, Reading, ReadOptions, Source
from nereval_core.readers.input.source import unread_files_note
from nereval_core.readers.shared.annotation_keys import choose_keys, key_choices, records_of, sampled_records
from nereval_core.readers.shared.offset_conversion import reading_in_code_points
from nereval_core.readers.shared.offset_units import Offsets
from nereval_core.readers.shared.strict_json import Complain, id_string, json_type, list_under
from nereval_core.readers.shared.tag_cells import TagColumn

OFFSETS = Offsets()
DENOTATIONS, ATTRIBUTES, TRACKS = "denotations", "attributes", "tracks"
COUNTED = ("relations", "modifications", "blocks")
"""Lists that are counted, not read."""
OWN = frozenset(("text", "id", "sourceid", "divid", DENOTATIONS, ATTRIBUTES, *COUNTED, "config", "namespaces"))
"""Keys of a document that are not metadata of it."""
FRAGMENT = "_FRAGMENT"
"""What a part denotes in chains, the other way to write discontinuous spans."""
FORM = 'write {"id": "T1", "span": {"begin": 0, "end": 4}, "obj": "TYPE"}'


class PubAnnotationReader(Reader):
    name = "pubannotation"
    description = "JSON of PubAnnotation and TextAE: texts with denotations and their attributes"
    suffixes = (".json", ".jsonl")
    has_columns = True

    def recognise(self, source: Source) -> float:
        """Claim objects with denotations, or the text of a document of PubAnnotation that has none."""
        keys = source.head(*self.suffixes).keys
        return 1.0 if DENOTATIONS in keys else 0.9 if keys >= {"text", "sourcedb"} else 0.0

    def read(self, source: Source, options: ReadOptions) -> Reading:
        """Read all documents, called as their `sourceid` (with `-` and `divid`, where they are divided) or `id`.

        Raises:
            FormatError: with every problem found; annotations of several projects, parts of chains.
        """
        files = source.pick(*self.suffixes)
        made = Builder(source.name)
        counts: Counter[str] = Counter()
        records = list(records_of(files, made.problems))
        keys, key_notes = choose_keys(records, (DENOTATIONS,), OWN - {DENOTATIONS}, options.column, source.name)
        for line, shown, row in records:
            _document(row, line, shown, made, counts, (*keys, DENOTATIONS)[0])
        notes = [*unread_files_note(source, files), *key_notes]
        notes += [f"{what}, not read: {count}" for what, count in sorted(counts.items()) if count]
        return reading_in_code_points(made, source, options, self.name, expected=OFFSETS, notes=notes)

    def tag_column_choices(self, source: Source) -> tuple[TagColumn, ...]:
        """Return the keys of which one has to be chosen, by the first records of small files; else nothing."""
        return key_choices(sampled_records(source.pick(*self.suffixes)), (DENOTATIONS,), OWN - {DENOTATIONS})


READER = PubAnnotationReader()


def _document(row: Any, line: int, shown: str, made: Builder, counts: Counter[str], key: str) -> None:
    def complain(found: str, remedy: str) -> None:
        made.problems.append(Problem(shown, line, found, remedy))

    if not isinstance(row, dict) or not isinstance(row.get("text"), str):
        what = "no text" if isinstance(row, dict) else f"{json_type(row)} where a document should be"
        complain(what, "write an object with text and denotations")
        return
    if TRACKS in row:
        complain(f"{TRACKS}, the annotations of several projects", "download those of one project, and score it alone")
        return
    name, part = id_string(row.get("sourceid")), id_string(row.get("divid"))
    if name is not None and part is not None:
        name = f"{name}-{part}"
    meta = {name: value for name, value in row.items() if name not in OWN and name != key and value is not None}
    made.document(name or id_string(row.get("id")), row["text"], line=line, source=shown, meta=meta)
    counts.update({key: len(list_under(row, key, complain)) for key in COUNTED})
    first = len(made.starts)
    for number, denotation in enumerate(list_under(row, key, complain)):
        _denotation(denotation, f"{key}[{number}]", made, complain)
    ids = made.extras["ids"]
    of = {ids[span]: span for span in range(first, len(made.starts)) if span in ids}
    if len(of) < sum(span in ids for span in range(first, len(made.starts))):
        complain("two denotations of one id", "give each its own")
    others = {id_string(one.get("id")) for key in COUNTED for one in row.get(key) or () if isinstance(one, dict)}
    for number, one in enumerate(list_under(row, ATTRIBUTES, complain)):
        subject = id_string(one.get("subj")) if isinstance(one, dict) else None
        if subject is None or not isinstance(one.get("pred"), str) or one.get("obj") is None:
            form = '{"subj": "T1", "pred": "NAME", "obj": VALUE}'
            complain(f"{ATTRIBUTES}[{number}] is not an attribute", f"write {form}")
        elif subject in of:
            _give(made.extras["meta"].setdefault(of[subject], {}), one["pred"], one["obj"])
        elif subject in others:
            counts[f"{ATTRIBUTES} of others than denotations"] += 1
        else:
            complain(f"{ATTRIBUTES}[{number}] is of {quoted(subject)}, which no denotation is", "name one of this text")


def _denotation(one: Any, place: str, made: Builder, complain: Complain) -> None:
    """Add a denotation to the spans of the last document."""
    given = one.get("span") if isinstance(one, dict) else None
    parts = [_pair(part) for part in (given if isinstance(given, list) else [given])]
    pairs = sorted(part for part in parts if part is not None)
    if not pairs or len(pairs) < len(parts):
        complain(f"{place} is not a denotation with a span", FORM)
    elif not isinstance(one.get("obj"), str) or not one["obj"]:
        complain(f"the obj of {place} is {json_type(one.get('obj'))}", FORM)
    elif one["obj"] == FRAGMENT:
        complain(f"{place} is a part of a chain", "write the parts of one denotation as a list under its span")
    else:
        fragments = pairs if len(pairs) > 1 else ()
        made.span(pairs[0][0], pairs[-1][1], one["obj"], fragments=tuple(fragments), id=id_string(one.get("id")))


def _pair(span: Any) -> tuple[int, int] | None:
    if not isinstance(span, dict) or type(span.get("begin")) is not int or type(span.get("end")) is not int:
        return None
    return span["begin"], span["end"]


def _give(meta: dict[str, Any], name: str, value: Any) -> None:
    """Add an attribute, which may have several values, to the metadata of a span."""
    if name not in meta:
        meta[name] = value
    else:
        meta[name] = [*(meta[name] if isinstance(meta[name], list) else [meta[name]]), value]
