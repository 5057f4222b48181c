"""Entities in brackets, as CorefUD and GUM write them in the MISC of CoNLL-U: `(e1-person-2(e2-place-1)`, `e1)`.

What stands between the dashes is said by `# global.Entity = eid-etype-head-other`: `etype` (or `entity`) is the type,
`eid` (or `GRP`) tells which bracket closes which, `identity` is a link. `e1[1/2]` is the first part of two. See the
documentation of CorefUD, "Description of the data format", and that of GUM, "Entities".
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from urllib.parse import unquote

from nereval_core.problems import Problem, quoted
from nereval_core.readers.conllu.texts import WordDocument, WordNode, value_of

BRACKET = re.compile(r"\(([^()]+)(\)?)|([^()]+)\)")
TYPES, IDS, LINK = ("etype", "entity"), ("eid", "GRP"), "identity"
NUMBERED = re.compile(r"e?[0-9]+(?:\[[0-9]+/[0-9]+\])?")
"""The form of an id where its field is not declared."""
PART = re.compile(r"(.+)\[([0-9]{1,3})/([0-9]{1,3})\]", re.DOTALL)
DECLARE = "say what its fields are: # global.Entity = eid-etype-head-other"
NONE = ("", "_")


@dataclass(slots=True)
class BracketEntity:
    """An entity or a part of one: its first and last node by part; `closers` are what may close it."""

    line: int
    written: str
    id: str
    label: str
    link: str
    closers: tuple[str, ...]
    number: int = 1
    total: int = 1
    first: int = 0
    closed: bool = False
    parts: list[tuple[int, int]] = field(default_factory=list)


@dataclass(slots=True)
class BracketMatcher:
    """Matches the brackets of a document's nodes, in their order.

    `opened` are entities by what may close them, `partial` those that wait for a part, by id, its number and the total.
    """

    source: str
    problems: list[Problem]
    done: list[BracketEntity] = field(default_factory=list)
    opened: dict[str, list[BracketEntity]] = field(default_factory=dict)
    partial: dict[tuple[str, int, int], deque[BracketEntity]] = field(default_factory=dict)

    def complain(self, line: int, finding: str, remedy: str) -> None:
        self.problems.append(Problem(self.source, line, finding, remedy))

    def take(self, value: str, line: int, at: int, fields: Sequence[str]) -> None:
        """Read the brackets that a node opens and closes."""
        reached = 0
        for bracket in BRACKET.finditer(value):
            if bracket.start() != reached:
                break
            reached = bracket.end()
            if bracket[3] is not None:
                self.close(bracket[3], line, at)
                continue
            entity = _opened(bracket[1], line, fields)
            if entity is None:
                self.complain(line, f"{quoted(bracket[0])}, and nothing says which field is the type", DECLARE)
                continue
            entity.first = at
            for closer in entity.closers:
                self.opened.setdefault(closer, []).append(entity)
            if bracket[2]:
                self.close(entity.closers[0], line, at)
        if reached < len(value):
            self.complain(line, f"{quoted(value)} is not a row of brackets", "write (id-type, id) or (id-type)")

    def close(self, closer: str, line: int, at: int) -> None:
        """Close the last open bracket that `closer` may close."""
        candidates = self.opened.get(closer, [])
        while candidates and candidates[-1].closed:
            candidates.pop()
        if not candidates:
            self.complain(line, f"{quoted(closer + ')')} closes nothing", f"open it at its first word: ({closer}-…")
            return
        entity = candidates.pop()
        entity.closed = True
        entity.parts.append((entity.first, at))
        if entity.number > 1:
            waiting = self.partial.get((entity.id, entity.number, entity.total))
            if not waiting:
                finding = f"part {entity.number} of {entity.total} of {quoted(entity.id)} without the one before it"
                self.complain(entity.line, finding, "write all parts in their order, [1/2] and [2/2]")
                return
            first = waiting.popleft()
            first.parts += entity.parts
            entity = first
        if len(entity.parts) == entity.total:
            self.done.append(entity)
        else:
            key = entity.id, len(entity.parts) + 1, entity.total
            self.partial.setdefault(key, deque()).append(entity)

    def finish(self) -> list[BracketEntity]:
        """Return the entities in the order in which they begin; what is not whole goes to the problems."""
        for entity in (entity for entities in self.opened.values() for entity in entities if not entity.closed):
            entity.closed = True
            remedy = f"close it at its last word: {entity.closers[0]})"
            self.complain(entity.line, f"{quoted('(' + entity.written)} is not closed in its document", remedy)
        for entity in (entity for entities in self.partial.values() for entity in entities):
            finding = f"{quoted(entity.id)} has {len(entity.parts)} of {entity.total} parts"
            self.complain(entity.line, finding, "write all parts, [1/2] and [2/2]")
        return sorted(self.done, key=lambda entity: entity.line)


def entities_of(document: WordDocument, key: str, problems: list[Problem]) -> list[BracketEntity]:
    """Return the entities of a document in the order in which they begin; problems are added to `problems`."""
    brackets = BracketMatcher(document.source, problems)
    sentence = 0
    for at, node in enumerate(document.nodes):
        while at >= document.bounds[sentence + 1]:
            sentence += 1
        value = value_of(node.misc, key)
        if value is not None and value not in NONE:
            brackets.take(value, node.line, at, document.sentences[sentence].fields)
    return brackets.finish()


def places_of(entity: BracketEntity, nodes: Sequence[WordNode], counts: Counter[str]) -> list[tuple[int, int]]:
    """Return the places of an entity's parts in the text, code points, none where it has only empty nodes.

    Words of a multiword token stand where it does.
    """
    places: list[tuple[int, int]] = []
    for first, last in entity.parts:
        while first <= last and nodes[first].start < 0:
            first += 1
        while first < last and nodes[last].start < 0:
            last -= 1
        if first > last:
            continue
        counts["entities with an edge in a multiword token, taken to its edge"] += cuts_multiword_token(
            nodes, first, last
        )
        start, end = nodes[first].start, nodes[last].end
        if places and start < places[-1][1]:
            start, end = places[-1][0], max(end, places.pop()[1])
        places.append((start, end))
    counts["entities of empty nodes, which are not in the text, left out"] += not places
    return places


def cuts_multiword_token(nodes: Sequence[WordNode], first: int, last: int) -> bool:
    """Return whether a multiword token reaches beyond these nodes."""
    before, after = nodes[max(first - 1, 0)], nodes[min(last + 1, len(nodes) - 1)]
    return (first > 0 and before.end == nodes[first].end) or (
        last + 1 < len(nodes) and after.start == nodes[last].start
    )


def _opened(written: str, line: int, fields: Sequence[str]) -> BracketEntity | None:
    """Return what an opening bracket says, None where nothing tells the type from the id."""
    if fields:
        values = written.split("-", len(fields) - 1)
        id_at = next((at for at, name in enumerate(fields) if name in IDS), 0)
        type_at = next((at for at, name in enumerate(fields) if name in TYPES), len(values))
        link_at = fields.index(LINK) if LINK in fields else len(values)
    else:
        values = written.split("-")
        numbered = [NUMBERED.fullmatch(value) is not None for value in values[:2]]
        if numbered not in ([True, False], [False, True], [True], [False]):
            return None
        # A bracket with one word is closed by it: a number is an id, another word a type.
        id_at = numbered.index(True) if True in numbered else 0
        type_at = numbered.index(False) if False in numbered else len(values)
        link_at = len(values)
    if id_at >= len(values):
        return None
    label, link = (unquote(values[at]) if at < len(values) else "" for at in (type_at, link_at))
    label, link = ("" if value in NONE else value for value in (label, link))
    # The older form of GUM closes by all fields up to the id.
    closers = tuple(dict.fromkeys((values[id_at], "-".join(values[: id_at + 1]))))
    entity = BracketEntity(line, written, values[id_at], label, link, closers)
    part = PART.fullmatch(entity.id)
    if part is not None:
        entity.id, entity.number, entity.total = part[1], int(part[2]), int(part[3])
    return entity if 0 < entity.number <= entity.total else None
