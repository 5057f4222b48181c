"""PubTator: a title and an abstract a document, then a line for each span, its fields between tabs.

Lines `PMID|t|title` and `PMID|a|abstract` are one text, a line end between the two; offsets count that as one
character. Lines `PMID start end mention type concepts` are spans. Lines `PMID relation concept concept` are relations,
behind which BioRED says whether they are novel; they are counted and not read. Any other line is refused, with its
number. See PubTator's help page, "Formats", and the files of BioCreative V CDR, BioRED and the NCBI disease corpus.

The documentation knows no discontinuous spans: of a composite mention the single ones are named, without offsets. Where
a file has them as `0;14` and `5;21`, the mention tells whether that is what is meant.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from functools import lru_cache

from nereval_core.corpus.builder import Builder
from nereval_core.problems import Problem, quoted
from nereval_core.readers import Reader, Reading, ReadOptions, Source
from nereval_core.readers.input.source import SourceFile, unread_files_note
from nereval_core.readers.shared.offset_conversion import reading_in_code_points
from nereval_core.readers.shared.offset_units import Offsets

OFFSETS = Offsets()
TITLE = re.compile(r"([^|\t]+)\|t\|(.*)", re.DOTALL)
ABSTRACT = re.compile(r"([^|\t]+)\|a\|(.*)", re.DOTALL)
OFFSET = re.compile(r"-?[0-9]{1,12}")
OFFSETS_OF = re.compile(r"-?[0-9]{1,12}(?:[;,][0-9]{1,12}){0,99}")
PARTS = re.compile(r"[;,]")
RELATION = re.compile(r"[A-Za-z][A-Za-z_ -]*(?:\t(?=[^\t]*[0-9|:])[^\s]+){2}(?:\t(?i:novel|no|not novel))?\t*")
"""A line of a relation behind its document: its name, two concepts, which words are not, and whether it is novel."""
VARIANT = re.compile(r"(tmVar:)?[cgmnpr]\|[A-Z]{2,}\|")
"""The beginning of the id of a variant, in which bars do not separate concepts."""
BREAKS = re.compile(r"[|;]")
PARTED = "|"
"""Separator of the concepts of one link."""
FIELDS = 6
"""Cells of a row: id, start, end, mention, type, concepts."""
NONE = ("", "-")
UNKNOWN, NIL = "-1", "NIL"
"""Marks for no fitting concept: in these files, and in links."""
BLANK = re.compile(r"\s")
KNOWN_CONCEPTS = 1 << 12
"""Fields of concepts that are kept with their links: the same ones come again and again."""


@dataclass(slots=True)
class PubTatorDocument:
    """A title and its abstract, with the rows of spans below them, their cells, and the lines where they stand."""

    name: str
    title: str
    line: int
    abstract: str | None = None
    lines: list[int] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)

    @property
    def text(self) -> str:
        return f"{self.title}\n{self.abstract}" if self.abstract else self.title


class PubTatorReader(Reader):
    name = "pubtator"
    description = "PubTator: titles, abstracts and lines of spans with concepts"
    suffixes = (".pubtator", ".txt")

    def recognise(self, source: Source) -> float:
        """Claim a source where the first line that is not blank is a title, or an abstract after it."""
        first = source.head(*self.suffixes).first_line
        return 1.0 if TITLE.fullmatch(first) and not first.startswith("{") else 0.0

    def read(self, source: Source, options: ReadOptions) -> Reading:
        """Read all documents of all files.

        Raises:
            FormatError: with every problem found.
        """
        files = source.pick(*self.suffixes)
        builder = Builder(source.name)
        counts: Counter[str] = Counter()
        for file in files:
            for document in _documents(file, counts, builder.problems):
                builder.document(document.name, document.text, line=document.line, source=file.shown)
                if document.rows:
                    _add_spans(document, builder)
                    counts["further fields of spans, not read"] += sum(len(row) > FIELDS for row in document.rows)
        notes = unread_files_note(source, files)
        notes += [f"{what}: {count}" for what, count in sorted(counts.items()) if count]
        return reading_in_code_points(
            builder, source, options, self.name, expected=OFFSETS, alike=plain_blanks, notes=notes
        )


READER = PubTatorReader()


def _add_spans(document: PubTatorDocument, builder: Builder) -> None:
    rows = document.rows
    starts, ends = [row[1] for row in rows], [row[2] for row in rows]
    links = [concept_links(row[5]) if len(row) > 5 else () for row in rows]
    if not PARTS.search("".join((*starts, *ends))):
        labels, quotes = [row[4] for row in rows], [row[3] for row in rows]
        offsets = [*map(int, starts)], [*map(int, ends)]
        builder.spans(*offsets, labels, quotes=quotes, links=[link or None for link in links], lines=document.lines)
        return
    for row, line, link in zip(rows, document.lines, links, strict=True):
        first, last = (list(map(int, PARTS.split(side))) for side in row[1:3])
        parts = tuple(zip(first, last, strict=True)) if len(first) > 1 else ()
        builder.span(first[0], last[-1], row[4], quote=row[3], line=line, fragments=parts, links=link)


def _documents(file: SourceFile, counts: Counter[str], problems: list[Problem]) -> list[PubTatorDocument]:
    documents: list[PubTatorDocument] = []
    lines = file.lines()
    if len(lines) == 1 and "\r" in lines[0]:
        finding = "lines end in a carriage return alone"
        problems.append(Problem(file.shown, None, finding, "save the file with line feeds"))
        return []
    for number, line in enumerate(lines, start=1):
        what, remedy = ("", "") if not line or line.isspace() else _line(line, number, documents, counts)
        if what:
            problems.append(Problem(file.shown, number, what, remedy))
    return documents


def _line(line: str, number: int, documents: list[PubTatorDocument], counts: Counter[str]) -> tuple[str, str]:
    """Add a line to the documents; return what is wrong with it and how to mend that, or nothing."""
    fields = line.split("\t")
    abstract = None
    # The text before a first tab is not an id where it has a bar.
    if "|" in fields[0]:
        title = TITLE.fullmatch(line)
        if title:
            documents.append(PubTatorDocument(title[1], title[2], number))
            return "", ""
        abstract = ABSTRACT.fullmatch(line)
        fields = [abstract[1]] if abstract else fields
    if not documents or fields[0] != documents[-1].name:
        context = f"the document is {quoted(documents[-1].name)}" if documents else "no title before it"
        return (
            f"a line of {quoted(fields[0])}, and {context}",
            "write ID|t|title, ID|a|abstract, then the lines of spans",
        )
    document = documents[-1]
    if abstract:
        if document.abstract is not None or document.rows:
            return "a second abstract, or one below spans", "write one abstract, after the title"
        document.abstract = abstract[2]
    elif len(fields) >= 5 and _offsets(fields[1], fields[2]):
        document.lines.append(number)
        document.rows.append(fields)
    elif RELATION.fullmatch(line, len(fields[0]) + 1):
        counts["relations, not read"] += 1
    else:
        return f"{quoted(line)} is not a span", "write id, start, end, mention, type and concepts with tabs between"
    return "", ""


def _offsets(start: str, end: str) -> bool:
    """Return whether these are offsets, or lists with as many starts as ends."""
    if OFFSET.fullmatch(start) and OFFSET.fullmatch(end):
        return True
    return all(map(OFFSETS_OF.fullmatch, (start, end))) and len(PARTS.split(start)) == len(PARTS.split(end))


@lru_cache(KNOWN_CONCEPTS)
def concept_links(concepts: str, breaks: re.Pattern[str] = BREAKS) -> tuple[str, ...]:
    """Return the concepts of a field as one link: they are not a ranking, a mention has all of them."""
    concepts = concepts.strip()
    parts = [concepts] if VARIANT.match(concepts) else breaks.split(concepts)
    names = [NIL if part == UNKNOWN else part for part in map(str.strip, parts) if part not in NONE]
    return (PARTED.join(names),) if names else ()


def plain_blanks(quote: str) -> str:
    """Return a mention with a blank for each character of white space: a line has no other."""
    return BLANK.sub(" ", quote)
