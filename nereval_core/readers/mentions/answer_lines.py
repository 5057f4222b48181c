"""Answers in lines: bullet lists, tables of Markdown, mentions with a type behind them, text with types in brackets.

Read are `- Anna: PER`, `1. Anna (PER)`, `Anna | PER`, `Anna -> PER` and the like, or turned; items below their type;
`| Anna | PER |` below a head; `[Anna](PER) left`; and, for types of gold, `[PER Anna ] left`. Whether mention or type
stands first is decided as for other pairs. Lines beside a list are words around it; a line within it that is no item
makes an answer unreadable.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from nereval_core.readers.mentions.answer_text import SENTENCE_WORDS
from nereval_core.readers.mentions.marked_places import places_of_marks
from nereval_core.readers.mentions.responses import NOTHING, TEXT_KEYS, TYPE_KEYS

BULLET = re.compile(r"(?P<indent>\s*)(?:[-*•–+]|\(?\d{1,3}[.):])\s+(?=\S)")
BESIDE = re.compile(r"\s*(?:\t|\||->|=>|→|⇒|:(?=\s|\*)|=|\s[-–—](?=\s))\s*")
"""What stands between a mention and its type."""
BEHIND = re.compile(r"(?P<text>.+)[\[(](?P<type>[^()\[\]]+)[\])]")
"""A mention with its type in brackets behind it."""
IN_BRACKETS = re.compile(r"[\[(]([^()\[\]]+)[\])]")
NAMED = re.compile(r"(\w+):\s")
"""What may be the type of a further list in the same line."""
LINKED = re.compile(r"\[(?P<text>[^\[\]\n]+)\]\((?P<type>[^\W\d][\w .-]*)\)")
BARRED = re.compile(r"\[(?P<text>[^\[\]|\n]+)\|\s*(?P<type>[^\W\d][\w.-]*)\s*\]")
"""As TANL's models write."""
BOLD = re.compile(r"\*\*(?P<text>[^*\n]+)\*\*\s?[\[(](?P<type>[^()\[\]\n]+)[\])]")
TUPLE = re.compile(r"\((?P<text>[^()\n]+),(?P<type>[^(),\n]+)\)")
FIELD = re.compile(r"(?P<key>[^\W\d][\w ]*):(?P<value>.*)")
"""A line of YAML or of a form, `type: PER`."""
NO_ITEMS = re.compile(r"(?<=:)[ \t]*(?:\[\s*\]|\{\s*\})[ \t]*$", re.MULTILINE)
"""An empty list behind a type, in a list of mentions by type."""
BRACKETED = re.compile(r"\[(?P<type>[^\W\d][\w.-]*)[\s:](?P<text>[^\[\]\n]+)\]")
RULE = re.compile(r"\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*")
"""The line below the head of a table."""
LONGEST_LINE = 2_000
"""The most characters of a line that may be an item."""
EMPHASIS = "*_`\"'“”"
WHOLLY_BOLD = re.compile(r"\*\*[^*]+\*\*:?")
REMARKED = re.compile(r"[,;]\s")
PLACE_COLUMN = re.compile(r"start|begin|end(?:_|$)|stop|offset|range|position|indices|(?:^|_)(?:from|to)$")
"""Names of columns, in small letters, with numbers that say where a mention stands."""
NUMBERS = re.compile(r"\d{1,12}(?:\s*[-–,:]\s*\d{1,12})?")
REMARK = re.compile(r"\s*(?:[(,;]|\s[-–—]\s).*", re.DOTALL)
"""What says more of a type, behind it."""
NO_MENTION = re.compile(
    r"(?:there (?:are|were) |i found |the text (?:has|contains|mentions) )?(?:no (?:named )?entit(?:y|ies)|none)"
    r"(?: (?:(?:were |was |are )?(?:found|mentioned|present|identified|detected)|in (?:the|this) (?:text|sentence)))*",
    re.IGNORECASE,
)


class LinePair(NamedTuple):
    """A mention and its type in the order of the answer; `sure` where the order is known, `listed` below its type.

    `details` are the other cells of its row that are numbers, `place` where brackets in the text put it.
    """

    text: str
    type: str
    sure: bool = False
    listed: bool = False
    details: Mapping[str, str] = MappingProxyType({})
    place: tuple[int, int] | None = None


def says_nothing(answer: str) -> bool:
    """Return whether an answer says in words that there is no mention."""
    plain = BULLET.sub("", answer.strip(), count=1).strip(EMPHASIS + ".! ")
    return plain.casefold() in NOTHING or NO_MENTION.fullmatch(plain) is not None


def pairs_of_lines(answer: str, types: Collection[str], text: str = "") -> list[LinePair] | None:
    """Return the mentions of an answer in lines, None where it is not one; `types` are gold's, in small letters."""
    ways = (_of_table(answer), _of_cells(answer), _of_fields(answer, types), _of_brackets(answer, types, text))
    pairs = next((pairs for pairs in ways if pairs is not None), None)
    return _of_items(NO_ITEMS.sub("", answer), types) if pairs is None else pairs


def _of_table(answer: str) -> list[LinePair] | None:
    lines = answer.split("\n")
    rule = _rule(lines)
    if rule is None:
        return None
    head, text, kind = _columns_of_head(lines[rule - 1])
    sure = text is not None and kind is not None
    if not sure:
        if len(head) != 2:
            return None
        text, kind = 0, 1
    rows: list[Sequence[str]] = []
    for line in lines[rule + 1 :]:
        if "|" not in line:
            break
        cells = _cells(line)
        if len(cells) != len(head):
            return None
        rows.append(cells)
    pairs = []
    for row in rows:
        named = zip(head, row, strict=True)
        numbers = {name: cell for name, cell in named if PLACE_COLUMN.search(name) and NUMBERS.fullmatch(cell)}
        pairs.append(LinePair(row[text], row[kind], sure, details=numbers))  # type: ignore[index]
    return [pair for pair in pairs if pair.text]


def _of_cells(answer: str) -> list[LinePair] | None:
    """Return mentions of lines with commas or semicolons between, below a head that names mention and type."""
    lines = [line for line in answer.split("\n") if line.strip() and not line.strip().startswith("```")]
    if not lines:
        return None
    mark = max(",;\t", key=lines[0].count)
    head, text, kind = _columns_of_head(lines[0].replace(mark, "|"))
    if text is None or kind is None:
        return None
    rows = list(csv.reader(lines[1:], delimiter=mark, skipinitialspace=True))
    if any(len(row) != len(head) for row in rows):
        return None
    return [LinePair(row[text].strip(), row[kind].strip(), sure=True) for row in rows if row[text].strip()]


def _of_fields(answer: str, types: Collection[str]) -> list[LinePair] | None:
    """Return mentions of lines `text: Anna` and `type: PER`, in either order, as YAML and forms have them."""
    pairs: list[LinePair] = []
    fields: dict[bool, str] = {}
    for line in answer.split("\n"):
        if not line.strip() or line.strip().startswith("```"):
            continue
        bullet = BULLET.match(line)
        field = FIELD.fullmatch(line[bullet.end() if bullet else 0 :].strip())
        name = field["key"].strip().casefold().replace(" ", "_") if field else ""
        is_type = name in TYPE_COLUMNS
        if field is None or name in types or not (is_type or name in TEXT_COLUMNS or not field["value"]):
            return None
        if field["value"]:
            if is_type in fields:
                return None
            fields[is_type] = _plain(field["value"])
        if len(fields) == 2:
            pairs.append(LinePair(fields[False], fields[True], sure=True))
            fields = {}
    return pairs if pairs and not fields else None


def unread_head(answer: str) -> str:
    """Return the head of a table that does not say which columns hold mentions and types, "" where there is none."""
    lines = answer.split("\n")
    rule = _rule(lines)
    if rule is None:
        return ""
    head, text, kind = _columns_of_head(lines[rule - 1])
    return lines[rule - 1].strip() if len(head) > 2 and None in (text, kind) else ""


def _rule(lines: Sequence[str]) -> int | None:
    """Return the number of the line below the head of a table, None for none."""
    return next((number for number, line in enumerate(lines) if number and RULE.fullmatch(line) and "|" in line), None)


def _columns_of_head(line: str) -> tuple[list[str], int | None, int | None]:
    """Return the names of a head, and the columns of mentions and of types, None where no name tells."""
    head = [re.sub(r"[\s-]+", "_", cell.casefold()) for cell in _cells(line)]
    text, kind = (
        next((at for at, name in enumerate(head) if name in keys), None) for keys in (TEXT_COLUMNS, TYPE_COLUMNS)
    )
    return head, text, kind


def _cells(line: str) -> list[str]:
    return [cell.strip().strip(EMPHASIS) for cell in line.strip().removeprefix("|").removesuffix("|").split("|")]


TEXT_COLUMNS = frozenset(
    (
        *(*TEXT_KEYS, "named_entity", "entity_mention", "term", "token", "words", "expression", "string"),
        *("text_span", "span_text", "extracted_text", "extracted_entity", "entity_span", "exact_text", "text_mention"),
    )
)
TYPE_COLUMNS = frozenset((*TYPE_KEYS, "entity_class", "entity_category", "named_entity_type", "tags"))


def _of_brackets(answer: str, types: Collection[str], text: str) -> list[LinePair] | None:
    """Return mentions that a text marks by brackets; all of them must name a type of gold where gold is known."""
    for pattern in (LINKED, BARRED, BRACKETED, BOLD) if types else (LINKED,):
        marks = list(pattern.finditer(answer))
        named = [mark["type"].casefold() in types for mark in marks]
        if not marks or (types and not (all(named) if pattern is BOLD else any(named))):
            continue
        lines = {answer.count("\n", 0, mark.start()) for mark in marks}
        if len(marks) > 1 and len(lines) == len(marks) and BULLET.match(answer):
            # A list of links is read as its items.
            continue
        marks = [mark for mark in marks if mark["text"].strip()]
        plain = ""
        spans = []
        at = 0
        for mark in marks:
            plain += answer[at : mark.start()]
            spans.append((len(plain), len(plain) + len(mark["text"])))
            plain += mark["text"]
            at = mark.end()
        places = places_of_marks(plain + answer[at:], spans, text)
        return [
            LinePair(mark["text"].strip(), mark["type"], sure=True, place=place)
            for mark, place in zip(marks, places, strict=True)
        ]
    return None


def _of_items(answer: str, types: Collection[str]) -> list[LinePair] | None:
    lines = [line for line in answer.split("\n") if line.strip() and not line.strip().startswith("```")]
    has_bullets = any(map(BULLET.match, lines))
    if (not types and not has_bullets and len(lines) < 2) or max(map(len, lines), default=0) > LONGEST_LINE:
        return None
    pairs: list[LinePair] = []
    heading = ""
    has_items = False
    n_headings = 0
    for number, line in enumerate(lines):
        bullet = BULLET.match(line)
        content = line[bullet.end() if bullet else 0 :].strip()
        own = _heading(content, types) if not bullet or _begins_list(lines, number) else ""
        of_line = None if own else _pairs_of_item(content, types)
        if own:
            heading = own
            n_headings += 1
        elif of_line is not None:
            if has_bullets and not bullet and not types:
                # Words around the list, or one of its items.
                return None
            # A type with nothing behind it says that there is none of it.
            has_items = True
            pairs += of_line
        elif has_bullets and not bullet:
            heading = ""
        elif heading and not says_nothing(content):
            pairs.append(LinePair(_plain(content), heading, listed=True))
        elif not content.endswith(":") and not says_nothing(content):
            return None
    # Types with nothing below any of them are an answer without mentions.
    return pairs if has_items or pairs or (types and lines and n_headings == len(lines)) else None


def _begins_list(lines: Sequence[str], number: int) -> bool:
    """Return whether the line behind one is an item further in."""
    following = BULLET.match(lines[number + 1]) if number + 1 < len(lines) else None
    own = BULLET.match(lines[number])
    return following is not None and own is not None and len(following["indent"]) > len(own["indent"])


def _heading(line: str, types: Collection[str]) -> str:
    """Return the type that a line names for the items below it, "" for any other line."""
    plain = _plain(line.lstrip("# ").rstrip())
    ends = plain.endswith(":") or line.startswith("#") or WHOLLY_BOLD.fullmatch(line) is not None
    name = plain.rstrip(":").strip(EMPHASIS)
    if types:
        return name if name.casefold() in types else ""
    return name if ends and 0 < len(name.split()) <= 2 else ""


def _pairs_of_item(content: str, types: Collection[str]) -> list[LinePair] | None:
    """Return the mentions of an item, of which it has several where it begins with a type; None where it is none."""
    tuples = list(TUPLE.finditer(content))
    if tuples and not TUPLE.sub("", content).strip("[]{} ,;.") and all(_type(pair["type"], types) for pair in tuples):
        return [LinePair(_plain(pair["text"]), _type(pair["type"], types)) for pair in tuples]
    pieces = re.split(r"\s*[,;]\s*(?=\S)", content)
    lists: list[str] = []
    for piece in pieces:
        if not lists or _plain(BESIDE.split(piece)[0]).casefold() in types:
            lists.append(piece)
        else:
            lists[-1] += f", {piece}"
    if len(lists) > 1 and _plain(BESIDE.split(content)[0]).casefold() in types:
        return [pair for of_type in lists for pair in _pairs_of_item(of_type.rstrip(",; "), types) or ()]
    if len(pieces) > 1 and all(_ends_in_type(piece, types) for piece in pieces):
        return [pair for piece in pieces for pair in _pairs_of_item(piece, types) or ()]
    if sum(mark[1].casefold() in types for mark in IN_BRACKETS.finditer(content)) > 1:
        # Running text with types behind names, which do not say where they begin.
        return None
    behind = BEHIND.fullmatch(content.strip().rstrip(".,;"))
    if behind is not None and (not types or _type(behind["type"], types)) and BESIDE.search(behind["text"]) is None:
        return [LinePair(_plain(behind["text"]), _type(behind["type"], types) or behind["type"].strip())]
    parts = BESIDE.split(content)
    if len(parts) < 2:
        return None
    first = _plain(parts[0])
    rest = _plain(BESIDE.sub("", content[len(parts[0]) :], count=1))
    if first.casefold() in types:
        if any(mark[1].casefold() in types for mark in NAMED.finditer(rest)):
            return None
        mentions = (_plain(mention) for mention in re.split(r"\s*[,;]\s*", rest.strip("[]")))
        return [LinePair(first, mention) for mention in mentions if mention and mention.casefold() not in NOTHING]
    named = [number for number, part in enumerate(parts) if _type(part, types)]
    if named[:1] == [2] and parts[1].casefold() in ("true", "false"):
        # spaCy-LLM asks for `Anna | True | PER | why`, and for what is no mention too.
        return [LinePair(first, _type(parts[2], types))] if parts[1].casefold() == "true" else []
    if len(named) == 1 and not REMARKED.search(parts[named[0] - 1]):
        # What stands behind the type is a remark.
        end = content.index(parts[named[0]], sum(map(len, parts[: named[0]])))
        return [LinePair(_plain(content[:end].rstrip(" \t|:=->→⇒–—")), _type(parts[named[0]], types))]
    if not types and len(parts) == 2 and len(rest.split()) <= SENTENCE_WORDS:
        return [LinePair(first, rest)]
    return None


def _ends_in_type(content: str, types: Collection[str]) -> bool:
    behind = BEHIND.fullmatch(content.strip())
    parts = [behind["text"], behind["type"]] if behind else BESIDE.split(content)
    return len(parts) == 2 and bool(parts[0].strip()) and _plain(parts[1]).casefold() in types


def _type(words: str, types: Collection[str]) -> str:
    """Return the type of gold that words name, perhaps with a remark behind it; "" for none."""
    plain = _plain(words)
    for name in (plain, _plain(REMARK.sub("", plain))):
        if name.casefold() in types:
            return name
    return ""


def _plain(words: str) -> str:
    return words.strip().strip(EMPHASIS).strip()
