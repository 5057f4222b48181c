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

from nereval_core.corpus import Builder
from nereval_core.problems import FormatError, Problem, counted, quoted, quoted_apart
from nereval_core.readers import Reading, ReadOptions, Source
from nereval_core.readers.bioc.documents import LOST, Bounds, Document, Placed, crowded
from nereval_core.readers.bioc.json import COLLECTIONS, DOCUMENT, from_json
from nereval_core.readers.bioc.places import Found, called, places, standing
from nereval_core.readers.bioc.xml import from_xml
from nereval_core.readers.input.source import UTF8_BOM, SourceFile, left_out
from nereval_core.readers.pubtator import links_of, spaced
from nereval_core.readers.shared.strict_json import first_keys

NAME = "bioc"
DESCRIPTION = "BioC XML and JSON: documents of passages, annotations by offset and length with infons"
COLUMNS = True

SUFFIXES = (".xml", ".bioc", ".json", ".jsonl")
BEFORE = r"(?><\?.*?\?>|<!--.*?-->|<!DOCTYPE\s+collection\b[^>\[]*(?:\[.*?\]\s*)?>|\s++)*+"
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
JOINTS = (" ", " ... ", " [...] ", "")
"""What tools write between the pieces of a discontinuous annotation."""


def recognise(source: Source) -> float:
    """Be sure of XML whose root is a collection, and of JSON with documents or passages."""
    head = "\n".join(source.pick(*SUFFIXES)[0].head()).removeprefix(UTF8_BOM)
    if head.lstrip().startswith("<"):
        return 1.0 if ROOT.match(head) else 0.0
    return 1.0 if first_keys(source, *SUFFIXES) & {*COLLECTIONS, DOCUMENT} else 0.0


def read(source: Source, options: ReadOptions) -> Reading:
    """Read all documents; `options.column` names the infon that types stand in.

    Raises:
        FormatError: with every problem found.
    """
    files = source.pick(*SUFFIXES)
    problems: list[Problem] = []
    counts: Counter[str] = Counter()
    documents: list[Document] = []
    for file in files:
        documents += (from_xml if _is_xml(file) else from_json)(file, problems, counts)
    found = standing(documents, counts, problems)
    problems += crowded(documents)
    if problems:
        raise FormatError(problems)
    key = TYPE if options.column is None else str(options.column)
    placed = places(documents, found, options.offsets)
    starts, ends = placed.start.tolist(), placed.end.tolist()
    # Where no document has an id they are numbered, and paired by their order.
    named = any(document.id for document in documents)
    made = Builder(source.name, named=named)
    at = 0
    for number, (document, text) in enumerate(zip(documents, placed.texts, strict=True)):
        made.document(
            (document.id or "") if named else str(number + 1),
            text.text,
            line=document.line,
            source=document.shown,
            sentences=_sentences(document, text, made),
            meta=_metadata(document),
        )
        while at < len(found) and found[at].document == number:
            pieces = slice(found[at].first, found[at].first + len(found[at].annotation.locations))
            _span(found[at], list(zip(starts[pieces], ends[pieces], strict=True)), document, text, key, made, counts)
            at += 1
    layer = made.finish(options.name or source.label)
    notes = left_out(source, files)
    notes += [f"{what}: {count}" for what, count in sorted(counts.items()) if count]
    return Reading(layer.documents, layer, NAME, (*notes, *placed.notes), places=made.places)


def infons_read(infons: Mapping[str, Any], key: str) -> tuple[str, tuple[str, ...], float | None, Mapping[str, Any]]:
    """Return type (the infon under `key`, "" for none), links, score and what is left, which is metadata."""
    rest = dict(infons)
    label = rest.pop(key, None)
    label = str(label) if type(label) in (str, int) else ""
    known = {kind: name for name in rest if (kind := _kind(name))}
    links: tuple[str, ...] = ()
    linked = next((known[kind] for kind in LINKS if kind in known), None)
    if linked is not None and type(rest[linked]) in (str, int, type(None)):
        links = _concepts(str(rest.pop(linked) or ""))
        while links and type(rest.get(ranked(linked, len(links) + 1))) is str:
            links += _concepts(rest.pop(ranked(linked, len(links) + 1)))
    score = None
    scored = next((known[kind] for kind in SCORES if kind in known), None)
    if scored is not None and type(rest[scored]) in (int, float, str) and NUMBER.fullmatch(str(rest[scored])):
        value = float(rest[scored])
        if isfinite(value):
            score = value
            del rest[scored]
    return label, links, score, rest


def ranked(key: str, rank: int) -> str:
    """Return the key of a link of a ranking: the first has the key itself, others are ours to name."""
    return key if rank == 1 else f"{key} {rank}"


def is_known(key: str) -> bool:
    """Say whether an infon of this key may be taken for a span's type, link or score."""
    return key == TYPE or bool(_kind(key)) or bool(RANKED.fullmatch(key))


def _is_xml(file: SourceFile) -> bool:
    """Say whether the first character is that of XML; other encodings than UTF-8 are the parser's to tell."""
    return file.load(64).removeprefix(b"\xef\xbb\xbf").lstrip().startswith((b"<", b"\xff\xfe", b"\xfe\xff"))


def _sentences(document: Document, text: Placed, made: Builder) -> list[Bounds]:
    lost = text.sentences.count(LOST)
    if lost:
        stray = f"{counted(lost, 'sentence')} not in the passage at the offset given"
        found = f"document {quoted(document.id or '')}: {stray}"
        made.problem(document.line, found, "mend offsets or texts", source=document.shown)
        return []
    return text.sentences


def _metadata(document: Document) -> Mapping[str, Any]:
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
    one: Found,
    parts: list[Bounds],
    document: Document,
    text: Placed,
    key: str,
    made: Builder,
    counts: Counter[str],
) -> None:
    """Add an annotation as a span, or say what is wrong with it."""
    annotation = one.annotation
    label, links, score, meta = infons_read(annotation.infons, key)
    wrong = _misplaced(one, parts, text, counts)
    again = next((name for name in annotation.repeated if name == key or is_known(name)), None)
    if not wrong and again is not None:
        wrong = f"a second infon {quoted(again)} with another value", "write the one that counts"
    if not wrong and not label:
        wrong = f"no type in an infon {quoted(key)}", "give it one, or name the infon with the types: --column KEY"
    if wrong:
        found, remedy = wrong
        made.problem(annotation.line, f"{called(annotation, document)}: {found}", remedy, source=document.shown)
        return
    several = len(parts) > 1
    made.span(
        min(parts)[0] if several else parts[0][0],
        max(parts)[1] if several else parts[0][1],
        label,
        line=annotation.line,
        source=document.shown,
        fragments=tuple(sorted(parts)) if several else (),
        id=annotation.id,
        links=links,
        score=score,
        meta=meta,
    )


def _misplaced(one: Found, parts: list[Bounds], text: Placed, counts: Counter[str]) -> tuple[str, str] | None:
    """Return what is wrong with the pieces of an annotation and how to mend it, None where nothing is."""
    if LOST in parts:
        at, length = one.annotation.locations[parts.index(LOST)]
        found = f"{at} to {at + length} is no place in the text of {counted(len(text.text), 'character')}"
        return found, "mend it, or say what offsets count: --offsets"
    low, high = (0, len(text.text)) if one.passage is None else text.passages[one.passage] or (0, 0)
    if not all(low <= start and end <= high for start, end in parts):
        return "it stands outside its passage", "put it into the passage that it stands in"
    if len(parts) > 1:
        order = sorted(parts)
        if any(after[0] < before[1] for before, after in pairwise(order)):
            return "its locations overlap", "write each character once"
        quote = one.annotation.text
        if quote and not _joined(quote, parts, text.text):
            if _joined(quote.strip(), parts, text.text):
                counts["texts of several pieces that match but for blanks at an edge"] += 1
                return None
            there = " ".join(text.text[start:end] for start, end in order)
            here, there = quoted_apart(quote, there)
            return f"its text is {here}, where {there} stands", "mend one of the two"
    return None


def _joined(quote: str, parts: Sequence[Bounds], text: str) -> bool:
    """Say whether a quote is that of pieces: joined, in the order of the file or of the text, or from first to last."""
    rows = [[text[low:high] for low, high in row] for row in (parts, sorted(parts))]
    known = {joint.join(row) for joint in JOINTS for row in rows}
    known.add(text[min(parts)[0] : max(parts)[1]])
    return spaced(quote) in set(map(spaced, known))


@lru_cache(1 << 16)
def _concepts(given: str) -> tuple[str, ...]:
    return links_of(given, BREAKS)


@lru_cache(1 << 10)
def _kind(name: str) -> str:
    """Return a key as the tables have it, "" where they do not."""
    plain = name.lower().replace("_", " ")
    return plain if plain in (*LINKS, *SCORES) else ""
