"""BioC, XML and JSON: collections of documents of passages, with annotations by offset and length.

See Comeau et al. 2013, "BioC: a minimalist approach to interoperability for biomedical text processing". Offsets count
from the start of the document, by the paper in UTF-8 bytes, in most files in code points: the quoted texts tell. What
an annotation is stands in its infons, under keys that each project chooses; those that are common are known here.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from math import isfinite
from typing import Any

from nereval_core.corpus.builder import Builder
from nereval_core.problems import FormatError, ProblemList, counted, quoted, quoted_apart
from nereval_core.readers import Reader, Reading, ReadOptions, Source
from nereval_core.readers.bioc.documents import COLLECTIONS, DOCUMENT, BioCDocument, documents_of_json, documents_of_xml
from nereval_core.readers.bioc.places import (
    MISSING_SENTENCE,
    Bounds,
    PlacedAnnotation,
    PlacedText,
    annotation_name,
    annotations_with_places,
    passage_problems,
    place_annotations,
)
from nereval_core.readers.biomedical.pubtator import concept_links, plain_blanks
from nereval_core.readers.input.file_text import UTF8_BOM
from nereval_core.readers.input.source import SourceFile, unread_files_note

BEFORE = r"(?><\?.*?\?>|<!--.*?-->|<!DOCTYPE\s+collection\b[^>\[]*(?:\[.*?\]\s*)?>|\s++)*+"
OF_SERVICE = re.compile(r'"documents"\s*:\s*\[\s*\{\s*"id"\s*:\s*"[^"]*"\s*,\s*"(?:entities|statistics|warnings)"')
"""The first document of an answer of a service."""
ROOT = re.compile(BEFORE + r"<collection[\s>]", re.DOTALL)
TYPE, LINK, SCORE = "type", "identifier", "score"
"""The keys of infons that we write, and the first that we look for."""
LINKS = (
    *(LINK, "concept id", "conceptid", "cui", "mesh", "omim", "ncbi gene", "ncbi gene identifier", "ncbigene"),
    *("ncbi taxonomy", "ncbi taxonomy identifier", "chebi", "hpo", "tmvar"),
)
"""Keys with concepts, in small letters and with blanks for underscores: of several the first here is taken."""
SCORES = (SCORE, "confidence")
BREAKS = re.compile(r"[|;,]")
NUMBER = re.compile(r"[-+]?[0-9]{1,40}(?:\.[0-9]{0,40})?(?:[eE][-+]?[0-9]{1,3})?")
RANKED = re.compile(f"{LINK} [0-9]+")
OF_PASSAGES = frozenset(("type", "section_type", "section"))
"""Keys that say what a passage is, which is nothing of the document."""
KNOWN_KEYS = 256
"""Keys of infons that are kept with what they are: a corpus has few."""
JOINTS = (" ", " ... ", " [...] ", "")
"""Separators that tools write between the pieces of a discontinuous annotation."""


class BiocReader(Reader):
    name = "bioc"
    description = "BioC XML and JSON: documents of passages, annotations by offset and length with infons"
    suffixes = (".xml", ".bioc", ".json", ".jsonl")
    has_columns = True

    def recognise(self, source: Source) -> float:
        """Claim XML whose root is a collection, and of JSON with documents or passages."""
        head = "\n".join(source.head(*self.suffixes).lines).removeprefix(UTF8_BOM)
        if head.lstrip().startswith("<"):
            return 1.0 if ROOT.match(head) else 0.0
        keys = source.head(*self.suffixes).keys
        # Services' answers have documents too, BigBIO's rows passages.
        if not keys & {*COLLECTIONS, DOCUMENT} or keys & {"modelVersion", "document_id"} or OF_SERVICE.search(head):
            return 0.0
        return 1.0

    def read(self, source: Source, options: ReadOptions) -> Reading:
        """Read all documents; `options.column` names the infon that types stand in.

        Raises:
            FormatError: with every problem found.
        """
        files = source.pick(*self.suffixes)
        problems = ProblemList()
        counts: Counter[str] = Counter()
        documents: list[BioCDocument] = []
        for file in files:
            documents += (documents_of_xml if _is_xml(file) else documents_of_json)(file, problems, counts)
        annotations = annotations_with_places(documents, counts, problems)
        problems += passage_problems(documents)
        if problems:
            raise FormatError(problems)
        key = TYPE if options.column is None else str(options.column)
        placed = place_annotations(documents, annotations, options.offsets)
        starts, ends = placed.start.tolist(), placed.end.tolist()
        # Where no document has an id they are numbered, and paired by their order.
        named = any(document.id for document in documents)
        builder = Builder(source.name, named=named)
        at = 0
        for number, (document, text) in enumerate(zip(documents, placed.texts, strict=True)):
            builder.document(
                (document.id or "") if named else str(number + 1),
                text.text,
                line=document.line,
                source=document.source,
                sentences=_sentences(document, text, builder),
                meta=_metadata(document),
            )
            while at < len(annotations) and annotations[at].document == number:
                first, n_pieces = annotations[at].first, len(annotations[at].annotation.locations)
                pieces = list(zip(starts[first : first + n_pieces], ends[first : first + n_pieces], strict=True))
                _span(annotations[at], pieces, document, text, key, builder, counts)
                at += 1
        layer = builder.finish(options.name or source.label)
        notes = unread_files_note(source, files)
        notes += [f"{what}: {count}" for what, count in sorted(counts.items()) if count]
        return Reading(layer.documents, layer, self.name, (*notes, *placed.notes), places=builder.places)


READER = BiocReader()


def read_infons(infons: Mapping[str, Any], key: str) -> tuple[str, tuple[str, ...], float | None, Mapping[str, Any]]:
    """Return type (the infon under `key`, "" for none), links, score and what is left, which is metadata."""
    rest = dict(infons)
    label = rest.pop(key, None)
    label = str(label) if type(label) in (str, int) else ""
    key_of_kind = {kind: name for name in rest if (kind := _kind(name))}
    links: tuple[str, ...] = ()
    linked = next((key_of_kind[kind] for kind in LINKS if kind in key_of_kind), None)
    if linked is not None and type(rest[linked]) in (str, int, type(None)):
        links = concept_links(str(rest.pop(linked) or ""), BREAKS)
        while links and type(rest.get(ranked_key(linked, len(links) + 1))) is str:
            links += concept_links(rest.pop(ranked_key(linked, len(links) + 1)), BREAKS)
    score = None
    scored = next((key_of_kind[kind] for kind in SCORES if kind in key_of_kind), None)
    if scored is not None and type(rest[scored]) in (int, float, str) and NUMBER.fullmatch(str(rest[scored])):
        value = float(rest[scored])
        if isfinite(value):
            score = value
            del rest[scored]
    return label, links, score, rest


def ranked_key(key: str, rank: int) -> str:
    """Return the key of a link of a ranking: the first has the key itself, others are ours to name."""
    return key if rank == 1 else f"{key} {rank}"


def is_known_infon(key: str) -> bool:
    """Return whether an infon of this key may be taken for a span's type, link or score."""
    return key == TYPE or bool(_kind(key)) or bool(RANKED.fullmatch(key))


def _is_xml(file: SourceFile) -> bool:
    """Return whether the first character is that of XML; other encodings than UTF-8 are the parser's to tell."""
    return file.load(64).removeprefix(b"\xef\xbb\xbf").lstrip().startswith((b"<", b"\xff\xfe", b"\xfe\xff"))


def _sentences(document: BioCDocument, text: PlacedText, builder: Builder) -> list[Bounds]:
    n_missing = text.sentences.count(MISSING_SENTENCE)
    if n_missing:
        finding = f"{counted(n_missing, 'sentence')} not in the passage at the offset given"
        finding = f"document {quoted(document.id or '')}: {finding}"
        builder.problem(document.line, finding, "mend offsets or texts", source=document.source)
        return []
    return text.sentences


def _metadata(document: BioCDocument) -> Mapping[str, Any]:
    """Return the infons of a document, and those of its passages under a key that one of them has."""
    times = Counter(key for passage in document.passages for key in passage.infons)
    once = {
        key: value
        for passage in document.passages
        for key, value in passage.infons.items()
        if times[key] == 1 and key not in OF_PASSAGES
    }
    return {**once, **document.infons}


def _span(
    placed: PlacedAnnotation,
    parts: list[Bounds],
    document: BioCDocument,
    text: PlacedText,
    key: str,
    builder: Builder,
    counts: Counter[str],
) -> None:
    """Add an annotation as a span, or its problem."""
    annotation = placed.annotation
    line = annotation.line or document.line
    label, links, score, meta = read_infons(annotation.infons, key)
    problem = _place_problem(placed, parts, text, counts)
    repeated_key = next((name for name in annotation.repeated if name == key or is_known_infon(name)), None)
    if not problem and repeated_key is not None:
        problem = f"a second infon {quoted(repeated_key)} with another value", "write the one that counts"
    if not problem and not label:
        problem = f"no type in an infon {quoted(key)}", "give it one, or name the infon with the types: --column KEY"
    if problem:
        finding, remedy = problem
        builder.problem(line, f"{annotation_name(annotation, document)}: {finding}", remedy, source=document.source)
        return
    builder.span(
        min(parts)[0],
        max(parts)[1],
        label,
        line=line,
        source=document.source,
        fragments=tuple(sorted(parts)) if len(parts) > 1 else (),
        id=annotation.id,
        links=links,
        score=score,
        meta=meta,
    )


def _place_problem(
    placed: PlacedAnnotation, parts: list[Bounds], text: PlacedText, counts: Counter[str]
) -> tuple[str, str] | None:
    """Return the problem of the pieces of an annotation and its remedy, None for none."""
    if MISSING_SENTENCE in parts:
        location = placed.annotation.locations[parts.index(MISSING_SENTENCE)]
        bounds = f"{location.offset} to {location.offset + location.length}"
        return f"{bounds} is not a place in the text of {counted(len(text.text), 'character')}", "mend it"
    low, high = (0, len(text.text)) if placed.passage is None else text.passages[placed.passage] or (0, 0)
    if not all(low <= start and end <= high for start, end in parts):
        return "it stands outside its passage", "put it into the passage that it stands in"
    if len(parts) == 1:
        return None
    order = sorted(parts)
    if any(after[0] < before[1] for before, after in pairwise(order)):
        return "its locations overlap", "write each character once"
    quote = placed.annotation.text
    if not quote or _is_quote(quote, parts, text.text):
        return None
    if _is_quote(quote.strip(), parts, text.text):
        counts["texts of several pieces that match but for blanks at an edge"] += 1
        return None
    covered = " ".join(text.text[start:end] for start, end in order)
    letters, covered_letters = ("".join(words.split()) for words in (quote, covered))
    if letters.startswith(covered_letters) and len(letters) - len(covered_letters) < len(parts):
        # BC5CDR's sample counts the blank before a piece, and not its last letter.
        counts["texts of several pieces that end a character later than the pieces"] += 1
        return None
    return "its text is {}, where {} stands".format(*quoted_apart(quote, covered)), "mend one of the two"


def _is_quote(quote: str, parts: Sequence[Bounds], text: str) -> bool:
    """Return whether a quote is that of pieces: joined, in either order, or all from the first to the last."""
    rows = [[text[low:high] for low, high in row] for row in (parts, sorted(parts))]
    quotes = {joint.join(row) for joint in JOINTS for row in rows}
    quotes.add(text[min(parts)[0] : max(parts)[1]])
    return plain_blanks(quote) in set(map(plain_blanks, quotes))


@lru_cache(KNOWN_KEYS)
def _kind(name: str) -> str:
    """Return a key as the tables have it, "" where they do not."""
    plain = name.lower().replace("_", " ")
    return plain if plain in (*LINKS, *SCORES) else ""
