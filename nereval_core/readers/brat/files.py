"""The texts and annotations of a folder of brat, file by file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress

from nereval_core.problems import FormatError, quoted
from nereval_core.readers import ReadOptions, Source
from nereval_core.readers.brat.blocks import DocumentFiles
from nereval_core.readers.brat.offsets import AnnotatedText
from nereval_core.readers.input.encodings import UTF8_BOM, decode_text, split_lines
from nereval_core.readers.input.source import SourceFile


def document_files(source: Source) -> tuple[dict[str, SourceFile], dict[str, SourceFile]]:
    """Return the files of texts and of annotations by their paths without the suffix."""
    texts, annotations = (
        {file.name[: -len(suffix)]: file for file in source.by_suffix.get(suffix, ())} for suffix in (".txt", ".ann")
    )
    return texts, annotations


def annotated_texts(source: Source, options: ReadOptions) -> Iterator[AnnotatedText]:
    """Yield the texts that have annotations; those that cannot be read are passed over."""
    texts, annotations = document_files(source)
    for name, file in annotations.items():
        document = document_of(name, texts.get(name), file, loaded(file), options)
        with suppress(FormatError):
            yield AnnotatedText(text_of(document, options), annotation_lines(document), file.shown)


def annotation_lines(document: DocumentFiles) -> Sequence[str]:
    """Return the lines of the annotations of a document.

    Raises:
        FormatError: they cannot be read.
    """
    assert document.ann is not None
    return split_lines(decode_text(_or_raised(document.raw), document.ann.shown).removeprefix(UTF8_BOM))


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
) -> DocumentFiles:
    """Return a document with its text read: None where there is none."""
    if file is not None:
        return DocumentFiles(name, file.shown, loaded(file), ann, raw)
    shown = ann.shown if ann is not None else name
    if options.texts is not None and name in options.texts.index:
        return DocumentFiles(name, shown, options.texts.texts[options.texts.index[name]].encode(), ann, raw)
    return DocumentFiles(name, shown, None, ann, raw)


def text_of(given: DocumentFiles, options: ReadOptions) -> str:
    """Return the text of a document.

    Raises:
        FormatError: there is none, or it cannot be read.
    """
    if given.text is not None:
        return decode_text(_or_raised(given.text), given.shown)
    if options.texts is None:
        remedy = f"put {quoted(given.name + '.txt')} beside it, or score it against gold that has the text"
        raise FormatError.single(given.shown, None, "no text: the .txt is missing", remedy)
    remedy = "put the .txt beside it, or name the file after the gold document"
    found = f"no text: neither {quoted(given.name + '.txt')} beside it nor a gold document {quoted(given.name)}"
    raise FormatError.single(given.shown, None, found, remedy)


def _or_raised(raw: bytes | FormatError | None) -> bytes:
    if isinstance(raw, FormatError):
        raise raw
    return raw or b""
