"""Type mappings: files that give the types of one side the names of the other."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from nereval_core.problems import FormatError, Problem, ProblemList, counted, quoted
from nereval_core.readers import Reading, Source
from nereval_core.readers.input.file_text import split_lines

LONGEST_MAPPING = 200
"""Characters of a mapping in a signature; a longer mapping is given by its digest."""
BARE = r'[^\s"=#](?:[^\s"=]|\s+[^\s"=#])*'
NAME = rf'"(?:[^"\\]|\\.)*"|{BARE}'
LINE = re.compile(rf"\s*(?P<one>{NAME})\s*=\s*(?P<other>{NAME})\s*(?:(?<=\s)#.*)?")
SYNTAX = 'write NAME = NAME, one per line; put a name that contains = or ", or # after a blank, in double quotes'


@dataclass(frozen=True)
class TypeNames:
    """New names of types: pairs of name read and new name, sorted by the name read; `source` is the file."""

    pairs: tuple[tuple[str, str], ...]
    source: str = "types"

    @cached_property
    def names(self) -> Mapping[str, str]:
        """New name by name read."""
        return dict(self.pairs)

    def then(self, later: TypeNames) -> TypeNames:
        """Return the composition: this mapping, then a later one."""
        names = {read_name: later.names.get(new_name, new_name) for read_name, new_name in self.pairs}
        return TypeNames(tuple(sorted({**later.names, **names}.items())), later.source)

    @property
    def in_words(self) -> str:
        """The mapping as a signature gives it: whole, or by its digest if it is long."""
        words = merged_in_words(self.names)
        if len(words) <= LONGEST_MAPPING:
            return words
        digest = hashlib.sha256(json.dumps(self.pairs).encode()).hexdigest()
        return f"{counted(len(self.pairs), 'name')} sha256:{digest[:16]}"


def merged_in_words(names: Mapping[str, str]) -> str:
    """Return merged names as the command line writes them: `DNA,RNA=nucleic;x,y=z`, or `none`.

    Names that would read as several stand in double quotes.
    """
    groups: dict[str, list[str]] = {}
    for member, name in sorted(names.items()):
        groups.setdefault(name, []).append(_in_merge(member))
    return ";".join(f"{','.join(members)}={_in_merge(name)}" for name, members in sorted(groups.items())) or "none"


def _in_merge(name: str) -> str:
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"' if any(char in ',;="' for char in name) else name


def read_types(path: str | os.PathLike[str]) -> TypeNames:
    """Read a mapping from a file.

    Raises:
        FormatError: as `parse_types`, or a file that cannot be read.
    """
    source = Source.of_path(path)
    return parse_types(source.files[0].text(), source=source.files[0].shown)


def parse_types(text: str, *, source: str) -> TypeNames:
    """Read lines `PER = person`, the name read first, then the new name; `#` begins a comment.

    Several names may become one, and two may be swapped: each line applies to the names read.

    Raises:
        FormatError: with every line of another form, every name mapped twice, or no line at all.
    """
    places: dict[str, int] = {}
    pairs: dict[str, str] = {}
    problems = ProblemList()
    for number, line in enumerate(split_lines(text), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        match = LINE.fullmatch(line)
        names = (_unquoted(match["one"]), _unquoted(match["other"])) if match else (None, None)
        read_name, new_name = names
        if read_name is None or new_name is None:
            problems.append(Problem(source, number, f"{quoted(line.strip())} is not a mapping", SYNTAX))
        elif read_name in places:
            finding = f"type {quoted(read_name)} is already mapped in line {places[read_name]}"
            problems.append(Problem(source, number, finding, "map each name once"))
        else:
            places[read_name], pairs[read_name] = number, new_name
    if not pairs and not problems:
        problems.append(Problem(source, None, "no line maps a type", SYNTAX))
    if problems:
        raise FormatError(problems)
    return type_names(pairs, source=source)


def type_names(names: Mapping[str, str], *, source: str = "types") -> TypeNames:
    """Return a mapping that is given as a Python mapping.

    Raises:
        FormatError: a name that is empty or no text.
    """
    wrong = [name for pair in names.items() for name in pair if not isinstance(name, str) or not name]
    if wrong:
        raise FormatError.single(source, None, f"{quoted(str(wrong[0]))} is not a type name", "give names as strings")
    return TypeNames(tuple(sorted(names.items())), source)


def mapping_line(read_name: str, new_name: str) -> str:
    """Return a line that maps one name to another, as `parse_types` reads it."""
    return f"{_quoted(read_name)} = {_quoted(new_name)}"


def _quoted(name: str) -> str:
    plain = re.fullmatch(BARE, name) and name.isprintable()
    return name if plain else json.dumps(name, ensure_ascii=not name.isprintable())


def _unquoted(written: str) -> str | None:
    """Return the name that a line spells, None for quotes without a valid name."""
    if not written.startswith('"'):
        return written
    try:
        name: str = json.loads(written)
    except ValueError:
        return None
    return name or None


def mapped(reading: Reading, names: TypeNames | Mapping[str, str] | str | os.PathLike[str]) -> Reading:
    """Return a reading with renamed types, which the signature states; `names` may be the path of a file.

    Raises:
        FormatError: the file cannot be read, or a line is not `NAME = NAME`.
    """
    if not isinstance(names, TypeNames):
        names = type_names(names) if isinstance(names, Mapping) else read_types(names)
    layer = reading.layer
    new_names = [names.names.get(name, name) for name in layer.types]
    if new_names == list(layer.types):
        return reading
    types = tuple(sorted(set(new_names)))
    code = np.array([types.index(name) for name in new_names], np.int16)
    renamed = layer.retyped(code[layer.type], types)
    notes = [f"types mapped: {names.in_words}"]
    repeated = len(renamed.duplicates) - len(layer.duplicates)
    if repeated:
        notes.append(f"spans that repeat another after types were merged: {repeated}")
    return replace(reading, layer=renamed, mapped=names.in_words, notes=(*reading.notes, *notes))


def unused_names(names: TypeNames, readings: Iterable[Reading]) -> tuple[str, ...]:
    """Return the mapped names that no reading has, possibly typing errors."""
    types = {kind for reading in readings for kind in reading.layer.types}
    return tuple(name for name, _ in names.pairs if name not in types)
