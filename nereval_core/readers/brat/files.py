"""The texts and annotations of a folder of brat, and the unit of their offsets.

Offsets are code points, unless a whole source quotes its spans by another unit, or `--offsets` names it: tools in Java
and JavaScript count UTF-16 units, others bytes.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple

import numpy as np

from nereval_core.problems import FormatError, quoted
from nereval_core.readers import ReadOptions, Source
from nereval_core.readers.input.file_text import UTF8_BOM, decode_text
from nereval_core.readers.input.source import SourceFile
from nereval_core.readers.shared.offset_units import (
    UNITS,
    CountedSpans,
    Offsets,
    code_points,
    mismatch_cause,
    offsets_in_unit,
)

ORIGINAL = "/original"
"""The folder of CADEC with the spans that annotators marked."""
BIONLP = (".a1", ".a2")
"""The endings of annotations of BioNLP's tasks: what is given, and what is to be found."""
CODE_POINTS = Offsets()
OF_BRAT = tuple(map(Offsets, UNITS))
"""The ways of counting that quotes are held against: brat's offsets are from 0, their ends exclusive."""
# Some tools write a blank where the tab before the quote should be. Digits beyond any text are cut, so that such
# offsets are refused as outside. CADEC's concepts have words between bars behind their codes. The last group is a line
# that is not a T line.
_LINE = re.compile(
    r"(?:(T\S*)\t(\S+|[^\t\n]+\|)"
    r" ([0-9]{1,15})[0-9]* ([0-9]{1,15})[0-9]*((?:;[0-9]+ [0-9]+)*)(?:([\t ])(.*))?$|(.+)|(?=\n))\n?",
    re.MULTILINE,
)
_LINE_ENDS = re.compile(r"\r+$", re.MULTILINE)
Row = tuple[str, str, str, str, str, str, str, str]
"""A line: key, type, start, end, further fragments, separator and quote of a T line, or any other line; else ""."""
Parts = tuple[tuple[int, int], ...]
BLANKS = "\r\n\t\xa0\u2009\u202f"
"""brat writes line ends inside a quote as blanks, and BioNLP's tasks have other blanks in quotes than in texts."""


def with_blanks(text: str) -> str:
    """Return a text with plain blanks for all others, as a quote may have them."""
    # Many times as fast as `str.translate`, which counts where a quote has megabytes.
    for blank in BLANKS:
        text = text.replace(blank, " ")
    return text


class DocumentFiles(NamedTuple):
    """A document: `text` and `raw`, its annotations, are None where there is no such file.

    An error stands for what could not be read; `source` is the file in which the document begins. `further` are
    annotations of the same text in a second file, the `.a2` of BioNLP beside its `.a1`.
    """

    name: str
    source: str
    text: bytes | FormatError | None
    ann: SourceFile | None
    raw: bytes | FormatError | None
    further: SourceFile | None = None


class AnnotatedText(NamedTuple):
    """A text, the rows of its `.ann` file, and the name of that file for messages."""

    text: str
    rows: Sequence[Row]
    source: str


def offset_unit(documents: Iterable[AnnotatedText], named: Offsets | None) -> tuple[Offsets, str] | None:
    """Return what the offsets of documents count, by the quotes of spans of one fragment, and a note on it.

    None stands for quotes that match in no unit for no reason that concerns them all: each is a problem of its own.

    Raises:
        FormatError: the quotes do not fit the `named` unit, or none because all texts differ from those annotated in
            one way, or several that place spans differently.
    """
    texts: list[str] = []
    rows: list[tuple[int, int, int]] = []
    quotes: dict[int, str] = {}
    places: list[tuple[str, int]] = []
    for document in documents:
        texts.append(document.text)
        for number, (key, _, start, end, further, separator, quote, _) in enumerate(document.rows, start=1):
            if key and not further:
                if separator:
                    quotes[len(rows)] = quote
                rows.append((len(texts) - 1, int(start), int(end)))
                places.append((document.source, number))
    columns = np.array(rows, np.int64).reshape(-1, 3)
    spans = CountedSpans(columns[:, 0], columns[:, 1], columns[:, 2], quotes, places.__getitem__, with_blanks)
    try:
        reading = code_points(spans, texts, expected=CODE_POINTS, stated=named, countings=OF_BRAT)
    except FormatError as error:
        if named is None and len(error.problems) > 1 and mismatch_cause(spans, texts, OF_BRAT) is None:
            return None
        raise
    return reading.counting, reading.note


def further_parts(further: str) -> Parts:
    """Return the fragments after the first one as they stand."""
    pairs = (part.split(" ") for part in further[1:].split(";"))
    return tuple((int(start[:15]), int(end[:15])) for start, end in pairs)


class TextOffsets:
    """Converts the offsets in one text to code points."""

    def __init__(self, text: str, counting: Offsets) -> None:
        unit_offsets = offsets_in_unit(text, counting.unit)
        self._counting = counting
        self._unit_offsets = None if unit_offsets is None else unit_offsets.tolist()
        self._outside = len(text) + 1

    def starts(self, starts: Iterable[int]) -> list[int]:
        """Return starts in code points; what is not a place in the text gets one behind its end."""
        return [self._place(start - self._counting.base) for start in starts]

    def ends(self, ends: Iterable[int]) -> list[int]:
        """Return ends in code points, exclusive; what is not a place in the text gets one behind its end."""
        last = self._counting.base - self._counting.inclusive
        return [self._place(end - last) for end in ends]

    def _place(self, offset: int) -> int:
        if self._unit_offsets is None:
            return offset if offset >= 0 else self._outside
        place = bisect_left(self._unit_offsets, offset)
        is_boundary = place < len(self._unit_offsets) and self._unit_offsets[place] == offset
        return place if is_boundary else self._outside


def document_files(source: Source) -> tuple[dict[str, SourceFile], dict[str, SourceFile], dict[str, SourceFile]]:
    """Return the files of texts, of annotations, and of further ones, by their paths without the suffix.

    Where texts and annotations lie in folders of their own (CADEC), their names alone count. Beside the folder
    `original`, others have codes for its spans.
    """
    texts, annotations, first, second = (
        {file.name[: -len(suffix)]: file for file in source.by_suffix.get(suffix, ())}
        for suffix in (".txt", ".ann", *BIONLP)
    )
    further = {name: file for name, file in second.items() if name in first}
    annotations |= {**second, **first}
    if texts.keys().isdisjoint(annotations):
        original = {
            name: file for name, file in annotations.items() if f"/{name}".rpartition("/")[0].endswith(ORIGINAL)
        }
        annotations = original or annotations
        plain = [{name.rpartition("/")[2]: file for name, file in files.items()} for files in (texts, annotations)]
        if not plain[0].keys().isdisjoint(plain[1]) and list(map(len, plain)) == [len(texts), len(annotations)]:
            texts, annotations = plain
            further = {name.rpartition("/")[2]: file for name, file in further.items()}
    return texts, annotations, further


def annotated_texts(source: Source, options: ReadOptions) -> Iterator[AnnotatedText]:
    """Yield the texts with each file of annotations; those that cannot be read are passed over."""
    texts, annotations, further = document_files(source)
    for name, file in annotations.items():
        document = document_of(name, texts.get(name), file, loaded(file), options)
        with suppress(FormatError):
            text = text_of(document, options)
            yield AnnotatedText(text, annotation_rows(document.raw, file), file.shown)
            if second := further.get(name):
                yield AnnotatedText(text, annotation_rows(loaded(second), second), second.shown)


def annotation_rows(raw: bytes | FormatError | None, file: SourceFile) -> Sequence[Row]:
    """Return the lines of a file of annotations.

    Raises:
        FormatError: they cannot be read.
    """
    text = decode_text(_or_raised(raw), file.shown).removeprefix(UTF8_BOM)
    return _LINE.findall(_LINE_ENDS.sub("", text) if "\r" in text else text)


def loaded(file: SourceFile) -> bytes | FormatError:
    try:
        return file.read()
    except FormatError as error:
        return error


def document_of(
    name: str,
    file: SourceFile | None,
    ann: SourceFile | None,
    raw: bytes | FormatError | None,
    options: ReadOptions,
    further: SourceFile | None = None,
) -> DocumentFiles:
    """Return a document with its text read: None where there is none."""
    if file is not None:
        return DocumentFiles(name, file.shown, loaded(file), ann, raw, further)
    origin = ann.shown if ann is not None else name
    if options.texts is not None and name in options.texts.index:
        text = options.texts.texts[options.texts.index[name]].encode()
        return DocumentFiles(name, origin, text, ann, raw, further)
    return DocumentFiles(name, origin, None, ann, raw, further)


def text_of(document: DocumentFiles, options: ReadOptions) -> str:
    """Return the text of a document.

    Raises:
        FormatError: there is none, or it cannot be read.
    """
    if document.text is not None:
        text = decode_text(_or_raised(document.text), document.source)
        return text.removeprefix(UTF8_BOM) if text.startswith(UTF8_BOM) and _leaves_mark_out(document, text) else text
    if options.texts is None:
        remedy = f"put {quoted(document.name + '.txt')} beside it, or score it against gold that has the text"
        raise FormatError.single(document.source, None, "no text: the .txt is missing", remedy)
    remedy = "put the .txt beside it, or name the file after the gold document"
    finding = f"no text: neither {quoted(document.name + '.txt')} beside it nor a gold document {quoted(document.name)}"
    raise FormatError.single(document.source, None, finding, remedy)


def _leaves_mark_out(document: DocumentFiles, text: str) -> bool:
    """Return whether the quotes of a text fit if its byte-order mark is not counted, and do not fit if it is."""
    files = [(document.ann, document.raw)] if document.ann is not None else []
    files += [(document.further, loaded(document.further))] if document.further is not None else []
    rows = [row for file, raw in files for row in annotation_rows(raw, file)]
    spans = [
        (int(start), int(end), with_blanks(quote))
        for key, _, start, end, further, separator, quote, _ in rows
        if key and separator and not further
    ]
    with_mark, without = (
        all(with_blanks(form[start:end]) == quote for start, end, quote in spans)
        for form in (text, text.removeprefix(UTF8_BOM))
    )
    return without and not with_mark


def _or_raised(raw: bytes | FormatError | None) -> bytes:
    if isinstance(raw, FormatError):
        raise raw
    return raw or b""
