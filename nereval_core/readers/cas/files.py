"""Find the files of a source that are CASes, and the annotator and document of each.

INCEpTION exports one document as a zip of `NAME.xmi` and `TypeSystem.xml`, or as one JSON file; and a project, or its
curated documents, as a zip with a folder a document in `annotation` or `curation`, in it a zip or JSON file for each
annotator. Before version 26 these zips were called by a number, and the XMI in each after the annotator.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from nereval_core.problems import FormatError, Problem
from nereval_core.readers.input.archives import ZIP_FILES, files_of_inner_zip
from nereval_core.readers.input.encodings import UTF8_BOM
from nereval_core.readers.input.heads import Head
from nereval_core.readers.input.origins import MOST_EXPANDED_BYTES, ZIP, OnDisk
from nereval_core.readers.input.source import Source, SourceFile

SUFFIXES = (".xmi", ".json", ".xml")
TYPE_SYSTEM = "typesystem.xml"
FOLDERS = ("annotation", "curation")
"""Folders of a project's export with the work of annotators and curators."""
NUMBERED = re.compile(r"webanno[0-9]+export|inception-document[0-9]+")
"""Names of zips that do not name their annotator."""
LOOKED_AT = 25
"""Files of a source that are examined for CASes."""
# Nothing is tried in two ways: without that, forty comments in a row, or line ends alone, would take hours.
IS_XMI = re.compile(r"\s*+(?:<[^>]*?\bxmi:XMI\b|<\?xml[^>]*+>(?>\s++|<!--.*?-->)*+<(?:\w++:)?XMI\b)", re.DOTALL)
IS_JSON = re.compile(r"""\s*+\[?\s*+\{.*?(?<!\\)"%(?:TYPES|FEATURE_STRUCTURES|VIEWS)"\s*:""", re.DOTALL)


class CasFile(NamedTuple):
    """A file with CASes, its annotator and document where its place names them, and the file of its types."""

    file: SourceFile
    owner: str | None = None
    document: str | None = None
    types: SourceFile | None = None


def cas_likelihood(source: Source) -> float:
    """Return the likelihood, 0 to 1, that the first files or those of the first zip are CASes, never failing.

    Among other files, a zip of CASes is but one of them, unless it lies where a project's export has it.
    """
    try:
        files = islice(_candidates(source.pick(*SUFFIXES)), LOOKED_AT)
        if any(_is_cas(source.head_of(file)) for file in files):
            return 1.0
        inner = [file for file in islice(_candidates(_inner(source, 1)), LOOKED_AT) if _is_cas(source.head_of(file))]
    except FormatError:
        return 0.0
    return max((1.0 if _placed(file.shown)[0] else 0.4 for file in inner), default=0.0)


def cas_units(source: Source) -> list[CasFile]:
    """Return the files with CASes, in the order of their names.

    Raises:
        FormatError: a zip in it is broken or not safe, or there is no CAS.
    """
    plain = [file for file in source.files if file.suffix != ZIP]
    folders = {file.name.rpartition("/")[0] for file in plain}
    # Somebody unpacked some of the zips where they lie.
    inner = [file for file in _inner(source) if file.name.rpartition("/")[0] not in folders]
    files = sorted([*plain, *inner], key=lambda file: file.name.split("/"))
    systems = {
        file.name.rpartition("/")[0]: file for file in files if file.name.rpartition("/")[2].lower() == TYPE_SYSTEM
    }
    placed = [CasFile(file, *_placed(file.shown), _nearest(file.name, systems)) for file in _candidates(files)]
    found = [unit for unit in placed if unit.owner is not None]
    found = found or [unit for unit in placed if unit.file.suffix == ".xmi" or _is_cas(unit.file.head())]
    if not found and len(files) == 1:
        # Damaged beyond knowing, and to be told what is wrong with it.
        found = placed
    if not found:
        remedy = "export it as UIMA CAS XMI or as UIMA CAS JSON"
        raise FormatError.single(source.name, None, "no CAS in it, neither XMI nor JSON", remedy)
    return found


def _candidates(files: Sequence[SourceFile]) -> Iterator[SourceFile]:
    """Yield the files that are called as CASes are, all where none is."""
    known = [file for file in files if file.suffix in SUFFIXES]
    for file in known or files:
        if file.suffix != ZIP and file.name.rpartition("/")[2].lower() != TYPE_SYSTEM:
            yield file


def _is_cas(head: Head) -> bool:
    text = "\n".join(head.lines).removeprefix(UTF8_BOM)
    return (IS_XMI if text.lstrip().startswith("<") else IS_JSON).match(text) is not None


def _placed(shown: str) -> tuple[str | None, str | None]:
    """Return owner and document of a file, None where its place is not such as in a project's export."""
    parts = shown.split("/")
    for at in range(len(parts) - 3, -1, -1):
        if parts[at] in FOLDERS and len(parts) - at in (3, 4):
            stem = _stem(parts[at + 2])
            return _stem(parts[-1]) if len(parts) - at == 4 and NUMBERED.fullmatch(stem) else stem, parts[at + 1]
    return None, None


def _stem(name: str) -> str:
    return next((name[: -len(end)] for end in (*SUFFIXES, ZIP) if name.lower().endswith(end)), name)


def _nearest(name: str, systems: dict[str, SourceFile]) -> SourceFile | None:
    """Return the type system in the folder of a file or in the nearest around it."""
    folder = name.rpartition("/")[0]
    while folder and folder not in systems:
        folder = folder.rpartition("/")[0]
    return systems.get(folder)


def _inner(source: Source, most: int | None = None) -> list[SourceFile]:
    """Return the files of the zips in a source.

    Raises:
        FormatError: a zip is broken or not safe, or those of a zip are too much together.
    """
    problems: list[Problem] = []
    found: list[SourceFile] = []
    total = 0
    for file in source.by_suffix.get(ZIP, ())[:most]:
        try:
            entries = files_of_inner_zip(file.shown, file.origin)
        except FormatError as error:
            problems += error.problems
            continue
        folder = file.name[: -len(ZIP)]
        found += [SourceFile(f"{folder}/{name}", shown, origin) for name, shown, origin in entries]
        total += 0 if isinstance(file.origin, OnDisk) else sum(origin.size() for _, _, origin in entries)
    if total > MOST_EXPANDED_BYTES or len(found) > ZIP_FILES:
        what = f"{total} bytes and {len(found)} files in the zips of a zip"
        problems.append(Problem(source.name, None, what, "unpack the outer one and give its folder"))
    if problems:
        raise FormatError(problems)
    return found
