"""Folders of PharmaCoNER as its two evaluate.py read them: `.ann` for mentions, `.tsv` for codes.

A folder may be the one that holds `subtask1` and `subtask2`, or one of these itself. Lines end as Python's text files
end them, and a byte-order mark is a character.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from operator import itemgetter
from pathlib import PurePosixPath
from typing import NamedTuple

from nereval_core.conventions.records import text_from_quotes
from nereval_core.corpus import Documents
from nereval_core.problems import FormatError, Problem, ProblemList, quoted
from nereval_core.readers import Source, SourceFile

UNCLEAR = "UNCLEAR"


class CountedUnit(NamedTuple):
    """A unit that is counted: a (type, start, end), or a code. `dropped`: gold or response leaves it out."""

    document: str
    value: tuple[str, int, int] | str
    dropped: bool = False


@dataclass(frozen=True, slots=True)
class CountedUnits:
    """One side: the documents that have a file, and their units in the order of the files."""

    documents: frozenset[str]
    units: Sequence[CountedUnit]


@dataclass(slots=True)
class FileFindings:
    """Findings while files are read: problems, the number of lines skipped, quotes by document."""

    problems: ProblemList = field(default_factory=ProblemList)
    skipped: int = 0
    quotes: list[tuple[str, int, int, str]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class TrackFolder:
    """The files of a sub-track, by the name of their document; `prefix` is where they lie inside the source."""

    source: Source
    prefix: str
    files: Mapping[str, SourceFile]

    @classmethod
    def of(cls, source: Source, name: str, suffix: str) -> TrackFolder:
        """Return the files of this suffix in the folder `name`, or in the whole source where there is none."""
        folders = (PurePosixPath(file.name).parts[:-1] for file in source.files)
        inside = next((parts[: parts.index(name) + 1] for parts in folders if name in parts), ())
        prefix = "".join(f"{part}/" for part in inside)
        return cls(source, prefix, {}).of_suffix(suffix)

    def of_suffix(self, suffix: str) -> TrackFolder:
        """Return the files of another suffix in the same folder."""
        files = (file for file in self.source.files if file.name.startswith(self.prefix) and file.name.endswith(suffix))
        return replace(self, files={file.name[len(self.prefix) : -len(suffix)]: file for file in files})

    def named(self) -> Iterator[tuple[str, SourceFile]]:
        yield from sorted(self.files.items(), key=lambda item: item[0].split("/"))


def read_mentions(folder: TrackFolder, findings: FileFindings) -> CountedUnits:
    """Return the mentions of `.ann` files; those of type UNCLEAR are dropped.

    The program passes over a line that it cannot split; an offset that is not a number stops it and becomes a problem.
    """
    units = []
    for name, file in folder.named():
        for number, line in _lines(file, findings):
            if not line.startswith("T"):
                continue
            fields = line.split("\t")
            parts = fields[1].split() if len(fields) > 1 else []
            unclear = parts[:1] == [UNCLEAR]
            try:
                start, end = int(parts[1]), int(parts[2])
            except IndexError:
                findings.skipped += not unclear
                continue
            except ValueError:
                if unclear:
                    continue
                what = "a discontinuous span" if ";" in fields[1] else "offsets that are not numbers"
                finding = f"{what}, {quoted(line)}: evaluate.py stops here"
                remedy = "join its fragments or leave it out, or choose another convention"
                findings.problems.append(Problem(file.shown, number, finding, remedy))
                continue
            units.append(CountedUnit(name, (parts[0], start, end), unclear))
            quote = "\t".join(fields[2:]) or "".join(fields[1].split(None, 3)[3:])
            findings.quotes.append((name, start, end, quote))
    return CountedUnits(frozenset(folder.files), units)


def read_codes(folder: TrackFolder, annotations: TrackFolder | None, findings: FileFindings) -> CountedUnits:
    """Return the codes of `.tsv` files, the second field of each line.

    With `annotations` (gold) those go out that stand in notes of UNCLEAR mentions only, and on lines that name
    their own document.
    """
    units = []
    for name, file in folder.named():
        unclear = _unclear(name, annotations, findings) if annotations is not None else frozenset()
        for number, line in _lines(file, findings):
            fields = line.split("\t")
            if len(fields) < 2:
                finding = f"{quoted(line)} has no second field: evaluate.py stops here"
                remedy = "write each line as document<tab>code, and no blank lines"
                findings.problems.append(Problem(file.shown, number, finding, remedy))
                continue
            own = fields[0] == name.rpartition("/")[2]
            units.append(CountedUnit(name, fields[1], own and fields[1] in unclear))
    return CountedUnits(frozenset(folder.files), units)


def _unclear(name: str, annotations: TrackFolder, findings: FileFindings) -> frozenset[str]:
    """Return the codes that notes give to UNCLEAR mentions and to no other."""
    file = annotations.files.get(name)
    if file is None:
        finding = f"no {quoted(name + '.ann')} beside its codes: evaluate.py looks there for UNCLEAR mentions and stops"
        findings.problems.append(
            Problem(annotations.source.name, None, finding, "give the folder with subtask1 and subtask2")
        )
        return frozenset()
    lines = list(_lines(file, findings))
    # As in the program's lists: ids of mentions, and after them the codes of their notes.
    groups: dict[bool, set[str]] = {True: set(), False: set()}
    noted: dict[bool, set[str]] = {True: set(), False: set()}
    for number, line in lines:
        if line.startswith("T"):
            fields = line.split("\t")
            parts = fields[1].split() if len(fields) > 1 else []
            if not parts:
                findings.problems.append(_stops(file, number, line))
                continue
            groups[parts[0] == UNCLEAR].add(fields[0].strip())
            if len(parts) > 2 and parts[1].isdecimal() and parts[2].isdecimal():
                findings.quotes.append((name, int(parts[1]), int(parts[2]), "\t".join(fields[2:])))
    for number, line in lines:
        if line.startswith("#"):
            fields = line.split("\t")
            parts = fields[1].split() if len(fields) > 1 else []
            target = parts[1] if len(parts) > 1 else None
            sides = [kind for kind, ids in groups.items() if target in ids]
            if target is None or (sides and len(fields) < 3):
                findings.problems.append(_stops(file, number, line))
                continue
            for kind in sides:
                noted[kind].add(fields[2].strip())
    return frozenset(noted[True] - noted[False])


def _stops(file: SourceFile, number: int, line: str) -> Problem:
    remedy = "write it as brat does: T1<tab>Type start end<tab>text, #1<tab>AnnotatorNotes T1<tab>code"
    return Problem(file.shown, number, f"{quoted(line)} cannot be split: evaluate.py stops here", remedy)


def documents_of(
    gold: TrackFolder, extra: Sequence[str], findings: FileFindings
) -> tuple[Documents, Callable[[str], int], tuple[str, ...]]:
    """Return documents as our reader of brat files has them, then those of the response alone; and where each is.

    Texts that are not there are pieced together from quotes, and a note says so.
    """
    files = gold.of_suffix(".txt").files
    names = sorted({*gold.files, *files}, key=lambda name: name.split("/"))
    names += sorted(set(extra) - set(names), key=lambda name: name.split("/"))
    quotes = {
        name: [row[1:] for row in rows]
        for name, rows in groupby(sorted(findings.quotes, key=itemgetter(0)), key=itemgetter(0))
    }
    texts = []
    for name in names:
        file = files.get(name)
        try:
            texts.append(text_from_quotes(quotes.get(name, ())) if file is None else file.text(keep_bom=True))
        except FormatError as error:
            findings.problems.extend(error.problems)
            texts.append("")
    n_textless = sum(name not in files for name in names)
    notes = (
        (f"documents without a text, shown as pieced together from quoted texts: {n_textless}",) if n_textless else ()
    )
    place = {name: number for number, name in enumerate(names)}
    return Documents(tuple(gold.prefix + name for name in names), tuple(texts)), place.__getitem__, notes


def _lines(file: SourceFile, findings: FileFindings) -> Iterator[tuple[int, str]]:
    """Yield the lines of a file with their numbers, without white space at their ends."""
    try:
        text = file.text(keep_bom=True)
    except FormatError as error:
        findings.problems.extend(error.problems)
        return
    rows = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if rows[-1] == "":
        rows.pop()
    for number, row in enumerate(rows, start=1):
        yield number, row.strip()
