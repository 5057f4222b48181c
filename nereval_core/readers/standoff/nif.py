"""NIF 2, the NLP Interchange Format, as Turtle or N-Triples: entities of DBpedia Spotlight, FREME, GERBIL, N3, KORE.

A `nif:Context` with `nif:isString` is a document, called by its address without `#char=…`. What has `nif:beginIndex`
and `nif:endIndex` in it is a span, but for words, sentences and other parts of texts without a link or a class. Its
type is the last part of `itsrdf:taClassRef`, else of `nif:entity`, else `entity` or that of `--type`; links are
`itsrdf:taIdentRef`, scores `itsrdf:taConfidence`. See Hellmann et al. 2013, "Integrating NLP using Linked Data".
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from nereval_core.corpus.builder import Builder
from nereval_core.problems import FormatError, quoted
from nereval_core.readers import Reader, Reading, ReadOptions, Source
from nereval_core.readers.input.source import SourceFile, unread_files_note
from nereval_core.readers.shared.offset_conversion import reading_in_code_points
from nereval_core.readers.shared.offset_units import Offsets
from nereval_core.readers.shared.table_columns import parse_score
from nereval_core.readers.shared.turtle import TYPE, triples

NIF = "http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#"
ITS = "http://www.w3.org/2005/11/its/rdf#"
PLACE = re.compile(r"[#?](?:char=|offset_)[0-9]*[,_][0-9]*$")
LAST_PART = re.compile(r"[^/#:]+$")
PARTS = frozenset(("Word", "Sentence", "Paragraph", "Section", "Title", "Structure"))
"""Kinds of strings that structure a text."""
GENERAL = frozenset(("Thing", "Entity"))
"""Classes that say nothing where another is given."""
ENTITY = "entity"
NUMBER = re.compile(r"-?[0-9]{1,12}")


@dataclass(slots=True)
class _Node:
    """What a file says of a subject: values by the last part of the predicate, and the line where it begins."""

    source: str
    line: int
    values: dict[str, list[str]] = field(default_factory=dict)

    def first(self, key: str) -> str | None:
        return next(iter(self.values.get(key, ())), None)

    @property
    def kinds(self) -> set[str]:
        return {iri.removeprefix(NIF) for iri in self.values.get("type", ())}


class NifReader(Reader):
    name = "nif"
    description = "NIF 2 as Turtle or N-Triples: contexts with strings and links"
    suffixes = (".ttl", ".nt", ".nif", ".n3")

    def recognise(self, source: Source) -> float:
        """Claim text that names NIF's vocabulary, and is neither XML nor JSON."""
        head = source.head(*self.suffixes)
        first = head.first_line.lstrip()
        return 1.0 if NIF in head.text and not first.startswith(("{", "[", "<?xml", "<rdf:", "<!")) else 0.0

    def read(self, source: Source, options: ReadOptions) -> Reading:
        """Read all documents of all files.

        Raises:
            FormatError: with every problem found.
        """
        files = source.pick(*self.suffixes)
        builder = Builder(source.name)
        nodes: dict[str, _Node] = {}
        for file in files:
            try:
                _add_triples(file, nodes)
            except FormatError as error:
                builder.problems += error.problems
        if builder.problems:
            raise FormatError(builder.problems)
        contexts = {iri: node for iri, node in nodes.items() if node.first("isString") is not None}
        spans: dict[str, list[_Node]] = {iri: [] for iri in contexts}
        n_parts = _spans_by_context(nodes, contexts, spans, builder)
        for iri, context in contexts.items():
            text = context.first("isString") or ""
            builder.document(PLACE.sub("", iri), text, line=context.line, source=context.source)
            for span in spans[iri]:
                _add(span, options.type or ENTITY, builder)
        notes = [f"words, sentences and other parts of texts, not read: {n_parts}"] if n_parts else []
        notes += unread_files_note(source, files)
        return reading_in_code_points(builder, source, options, self.name, expected=Offsets(), fixed=False, notes=notes)


READER = NifReader()


def _add_triples(file: SourceFile, nodes: dict[str, _Node]) -> None:
    for subject, predicate, value, line in triples(file.text(), file.shown):
        node = nodes.setdefault(subject, _Node(file.shown, line))
        key = LAST_PART.search(predicate)
        if key and (predicate == TYPE or predicate.startswith((NIF, ITS))):
            node.values.setdefault(key[0], []).append(value)


def _spans_by_context(
    nodes: Mapping[str, _Node], contexts: Mapping[str, _Node], spans: dict[str, list[_Node]], builder: Builder
) -> int:
    """Add the spans of nodes to their contexts; return how many are other parts of texts."""
    n_parts = 0
    for iri, node in nodes.items():
        if iri in contexts or "Context" in node.kinds or not node.values.keys() & {"beginIndex", "endIndex"}:
            continue
        if node.kinds & PARTS and not node.values.keys() & {"taIdentRef", "taClassRef", "entity"}:
            n_parts += 1
            continue
        context = node.first("referenceContext")
        if context is None and len(contexts) == 1:
            context = next(iter(contexts))
        if context in spans:
            spans[context].append(node)
        else:
            finding = f"a string in the context {quoted(context or '')}, which has no text here"
            builder.problem(node.line, finding, "give the context its nif:isString", source=node.source)
    return n_parts


def _add(node: _Node, label: str, builder: Builder) -> None:
    bounds = [node.first(key) or "" for key in ("beginIndex", "endIndex")]
    if not all(map(NUMBER.fullmatch, bounds)):
        finding = f"it begins at {quoted(bounds[0])} and ends at {quoted(bounds[1])}"
        builder.problem(node.line, finding, "write nif:beginIndex and nif:endIndex", source=node.source)
        return
    classes = [match[0] for iri in node.values.get("taClassRef", ()) if (match := LAST_PART.search(iri))]
    entity = LAST_PART.search(node.first("entity") or "")
    kind = next((name for name in classes if name not in GENERAL), (*classes, entity[0] if entity else label)[0])
    builder.span(
        int(bounds[0]),
        int(bounds[1]),
        kind,
        line=node.line,
        source=node.source,
        quote=node.first("anchorOf"),
        links=tuple(dict.fromkeys(node.values.get("taIdentRef", ()))),
        score=parse_score(node.first("taConfidence")),
    )
