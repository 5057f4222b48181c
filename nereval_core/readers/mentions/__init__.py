"""JSON lines of what language models answer: mentions with their types and without offsets, a document a line.

`answers` says what is taken for an answer, `placing` how mentions find their place in the text. The documents are
gold's, by the id of the line or, where no line has one, in their order; without gold each line has its own `text`.

A mention that has no place in the text is one that the model made up. It is kept as an empty span at the end of the
text, which overlaps nothing and so is spurious under every criterion; its words, and what the text has that is nearest,
stand in its metadata: `mention`, `placed`, `closest`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from nereval_core.corpus import Documents, Place, layer
from nereval_core.problems import FormatError, Problem, counted, quoted
from nereval_core.readers import Reading, ReadOptions, Source
from nereval_core.readers.input.source import unread_files_note
from nereval_core.readers.mentions.answers import MEND, MalformedError, id_of_line, mentions_of_line
from nereval_core.readers.mentions.placing import Mention, Placing, SearchedText, Way, place_mentions
from nereval_core.readers.read_settings import Unplaced
from nereval_core.readers.shared.strict_json import id_string, items

NAME = "mentions"
DESCRIPTION = "JSON lines of language models: mentions without offsets, or tags in the text; placed in gold's texts"

SUFFIXES = (".jsonl", ".json")
RESPONSES = frozenset(("choices", "custom_id", "completion", "generated_text"))
"""Keys that only responses of language models have."""
LISTS = ("entities", "mentions", "named_entities")
FIRST = re.compile(rf'"(?:{"|".join(LISTS)})"\s*:\s*\[\s*\{{([^{{}}\[\]]*)\}}')
OFFSETS = re.compile(r'"(?:start|begin|end|offset|from|to)\w*"\s*:')
REPEATS = {
    "next": "repeated ones at the next occurrence",
    "all": "each at all occurrences",
    "first": "each at the first occurrence",
}
NOWHERE = "nowhere"
WAYS: Mapping[Way, str] = {"exact": "exactly", "folded": "apart from case or space", "edited": "by edits"}
REPEATED, MALFORMED = "repeated", "malformed answers"


@dataclass(slots=True)
class _Spans:
    """The spans of all documents in columns, and how they came about."""

    rules: Placing
    unplaced: Unplaced
    doc: list[int] = field(default_factory=list)
    start: list[int] = field(default_factory=list)
    end: list[int] = field(default_factory=list)
    label: list[str] = field(default_factory=list)
    lines: list[Place] = field(default_factory=list)
    meta: dict[int, Mapping[str, Any]] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)

    def add_document(self, doc: int, text: str, mentions: Sequence[Mention], lines: Sequence[Place]) -> None:
        """Place the mentions of a document, which stand on these lines, and add the spans."""
        held: set[tuple[int, int, str]] = set()
        searched = SearchedText(text)
        for mention, line, places in zip(mentions, lines, place_mentions(searched, mentions, self.rules), strict=True):
            if not places:
                self.counts[NOWHERE] += 1
                if self.unplaced == "spurious":
                    meta = {"mention": mention.text, "placed": NOWHERE, "closest": searched.closest(mention.text)}
                    self._add(doc, len(text), len(text), mention.type, line, meta)
            for one in places:
                key = (one.start, one.end, mention.type)
                # Under `all` and `first` a mention that is repeated says the same once more.
                if self.rules.repeats != "next" and key in held:
                    self.counts[REPEATED] += 1
                    continue
                held.add(key)
                self.counts[WAYS[one.way]] += 1
                meta = {} if one.way == "exact" else {"mention": mention.text, "placed": WAYS[one.way]}
                self._add(doc, one.start, one.end, mention.type, line, meta)

    def _add(self, doc: int, start: int, end: int, label: str, line: Place, meta: Mapping[str, str]) -> None:
        if meta:
            self.meta[len(self.doc)] = meta
        for column, value in ((self.doc, doc), (self.start, start), (self.end, end)):
            column.append(value)
        self.label.append(label)
        self.lines.append(line)

    def in_words(self) -> str:
        """Return how mentions were placed, which the signature says."""
        told = [f"{way} {self.counts[way]}" for way in WAYS.values() if self.counts[way]]
        if nowhere := self.counts[NOWHERE]:
            told.append(f"{NOWHERE} {nowhere}, {'counted as spurious' if self.unplaced == 'spurious' else 'left out'}")
        told += [f"{kind} {self.counts[kind]}" for kind in (REPEATED, MALFORMED) if self.counts[kind]]
        edits = f"up to {self.rules.edits:g} edits a character" if self.rules.edits else "no edits"
        return f"mentions placed ({REPEATS[self.rules.repeats]}, {edits}): {'; '.join(told) or 'none'}"


def recognise(source: Source) -> float:
    """Claim responses of language models, and entities without offsets."""
    head = source.head(*SUFFIXES)
    if head.keys & RESPONSES:
        return 0.9
    first = None if head.keys.isdisjoint(LISTS) else FIRST.search("\n".join(head.lines))
    return 0.96 if first is not None and not OFFSETS.search(first[1]) else 0.0


def read(source: Source, options: ReadOptions) -> Reading:
    """Read the answers, and place their mentions in the texts of their documents.

    Raises:
        FormatError: with every problem found: answers that cannot be read (unless `options.malformed` is "empty"),
            ids that gold does not have, another number of lines than gold has documents, no texts.
    """
    files = source.pick(*SUFFIXES)
    problems: list[Problem] = []
    answers = [_Answer((file.shown, line), row) for file in files for line, row in items(file, problems)]
    documents, of_document = _documents(answers, options.texts, source, problems)
    found = _Spans(Placing(options.repeated, options.edits), options.unplaced)
    for doc, some in enumerate(of_document):
        mentions: list[Mention] = []
        lines: list[Place] = []
        for answer in some:
            try:
                named = mentions_of_line(answer.row)
            except MalformedError as error:
                found.counts[MALFORMED] += 1
                if options.malformed != "empty":
                    problems.append(Problem(*answer.place, str(error), MEND))
                continue
            mentions += named
            lines += [answer.place] * len(named)
        found.add_document(doc, documents.texts[doc], mentions, lines)
    made = layer(
        options.name or source.label,
        documents,
        found.doc,
        found.start,
        found.end,
        found.label,
        extras={"meta": found.meta},
        where=found.lines.__getitem__,
        unplaced=[span for span, (start, end) in enumerate(zip(found.start, found.end, strict=True)) if start == end],
        problems=problems,
    )
    notes = (found.in_words(), *unread_files_note(source, files))
    places = [some[0].place for some in of_document]
    return Reading(documents, made, NAME, notes, places=places, placed=found.in_words())


class _Answer(NamedTuple):
    place: Place
    row: Any


def _documents(
    answers: Sequence[_Answer], given: Documents | None, source: Source, problems: list[Problem]
) -> tuple[Documents, list[list[_Answer]]]:
    """Return the documents of the answers, and the answers of each: several where lines have one id.

    Raises:
        FormatError: other than one answer for each of gold's documents, where no line has an id; with `problems`.
    """
    ids = [id_string(id_of_line(answer.row)) for answer in answers]
    named = any(one is not None for one in ids)
    if given is not None and not named and len(answers) != len(given):
        found = f"{counted(len(answers), 'answer')} without ids where gold has {counted(len(given), 'document')}"
        raise FormatError([*problems, Problem(source.name, None, found, "give each line the id of its document")])
    texts: dict[str, str] = {}
    of_document: dict[str, list[_Answer]] = {}
    for number, (answer, name) in enumerate(zip(answers, ids, strict=True)):
        text: Any = answer.row.get("text") if given is None and isinstance(answer.row, dict) else None
        if named and name is None:
            problems.append(Problem(*answer.place, "no id, where others have one", "give the id of its document"))
            continue
        key = str(number) if name is None else name
        if given is not None:
            at = given.index.get(key) if named else number
            if at is None:
                found = f"the document {quoted(key)} is not among gold's"
                problems.append(Problem(*answer.place, found, "give an id that gold has, or leave the line out"))
                continue
            key, text = given.ids[at], given.texts[at]
        if not isinstance(text, str):
            remedy = "read it beside gold, whose texts are taken, or give each line its text"
            problems.append(Problem(*answer.place, "mentions without offsets, and no text to place them in", remedy))
            continue
        texts.setdefault(key, text)
        of_document.setdefault(key, []).append(answer)
    known = Documents(tuple(texts), tuple(texts.values()), named=named if given is None else given.named)
    return known, list(of_document.values())
