"""Answers of language models as a layer over the texts of their documents."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from nereval_core.corpus import Documents, Place, layer
from nereval_core.problems import FormatError, Problem, counted, either_option, quoted
from nereval_core.readers import Reading, ReadOptions
from nereval_core.readers.mentions.answer_text import MalformedError
from nereval_core.readers.mentions.answers import Answer, NamedMention, decoded_line, read_answer
from nereval_core.readers.mentions.placing import Mention, Placing, SearchedText, Way, place_mentions
from nereval_core.readers.mentions.responses import (
    COUNT_EMPTY,
    ID_KEYS,
    answer_keys,
    id_of_line,
    is_response,
    text_of_line,
)
from nereval_core.readers.mentions.stated_offsets import locate
from nereval_core.readers.mentions.token_places import CountedMention, places_by_ordinals, places_by_tokens
from nereval_core.readers.read_settings import Unplaced
from nereval_core.readers.shared.strict_json import id_string
from nereval_core.readers.shared.tag_cells import SHOWN_TYPES, TagColumn

Order = Literal["straight", "turned", "ambiguous"]


FORMAT = "mentions"
MEND = f'ask the model for JSON such as {{"PER": ["Anna"]}}{COUNT_EMPTY}'
REPEATS = {
    "next": "repeated ones at the next occurrence",
    "all": "each at all occurrences",
    "first": "each at the first occurrence",
}
NOWHERE = "nowhere"
WAYS: Mapping[Way, str] = {"exact": "exactly", "folded": "apart from case or space", "edited": "by edits"}
SEPARATOR = re.compile(r"\s*[,;]\s+")
DIVIDED = "strings of several mentions divided"
REPEATED, MALFORMED, TURNED = "repeated", "malformed answers", "pairs of type and mention turned"


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
        span_keys: set[tuple[int, int, str]] = set()
        searched = SearchedText(text)
        for mention, line, places in zip(mentions, lines, place_mentions(searched, mentions, self.rules), strict=True):
            if not places:
                self.counts[NOWHERE] += 1
                if self.unplaced == "spurious":
                    meta = {"mention": mention.text, "placed": NOWHERE, "closest": searched.closest(mention.text)}
                    self._add(doc, len(text), len(text), mention.type, line, meta)
            for place in places:
                key = (place.start, place.end, mention.type)
                # Under `all` and `first` a mention that is repeated says the same once more.
                if self.rules.repeats != "next" and key in span_keys:
                    self.counts[REPEATED] += 1
                    continue
                span_keys.add(key)
                self.counts[WAYS[place.way]] += 1
                meta = {} if place.way == "exact" else {"mention": mention.text, "placed": WAYS[place.way]}
                self._add(doc, place.start, place.end, mention.type, line, meta)

    def _add(self, doc: int, start: int, end: int, label: str, line: Place, meta: Mapping[str, str]) -> None:
        if meta:
            self.meta[len(self.doc)] = meta
        for column, value in ((self.doc, doc), (self.start, start), (self.end, end)):
            column.append(value)
        self.label.append(label)
        self.lines.append(line)

    def in_words(self) -> str:
        """Return how mentions were placed, which the signature says."""
        parts = [f"{way} {self.counts[way]}" for way in WAYS.values() if self.counts[way]]
        if nowhere := self.counts[NOWHERE]:
            parts.append(f"{NOWHERE} {nowhere}, {'counted as spurious' if self.unplaced == 'spurious' else 'left out'}")
        placing = {*WAYS.values(), NOWHERE}
        parts += [f"{kind} {count}" for kind, count in self.counts.items() if count and kind not in placing]
        edits = f"up to {self.rules.edits:g} edits a character" if self.rules.edits else "no edits"
        return f"mentions placed ({REPEATS[self.rules.repeats]}, {edits}): {'; '.join(parts) or 'none'}"


def read_answers(
    rows: Iterable[tuple[Place, Any]],
    options: ReadOptions,
    *,
    source: str,
    name: str,
    problems: Sequence[Problem] = (),
    notes: Sequence[str] = (),
    in_order: bool = False,
) -> Reading:
    """Return a reading of answers, one a row with its place, whose mentions are placed in the texts of their documents.

    Where gold has no ids, answers that have some are refused, or taken in their order if they stand `in_order`.

    Raises:
        FormatError: with `problems` and every problem found, see `mentions.read`.
    """
    found_problems = list(problems)
    lines = [_Line(place, decoded_line(row)) for place, row in rows]
    notes = list(notes)
    if options.texts is not None:
        lines = [line._replace(row=_with_gold_id(line.row, options.texts)) for line in lines]
    if in_order and options.texts is not None and not options.texts.named:
        gold_ids = options.texts.index.keys()
        if len(lines) == len(gold_ids) and any(id_of_line(line.row) not in (None, *gold_ids) for line in lines):
            lines = [line._replace(row=_without_id(line.row)) for line in lines]
            notes.append("ids of answers, of which gold has none: answers are taken in their order")
    lines, own_ids = _without_ids_of_responses(lines, options.texts)
    notes += own_ids
    lines, by_text = _by_texts(lines, options.texts)
    notes += by_text
    documents, lines_of_document = _documents(lines, options.texts, source, found_problems)
    types = options.gold_types
    key = None if options.column is None else str(options.column)
    if key is None and (problem := _several_answers(lines, options.texts is not None)):
        raise FormatError([*found_problems, problem])
    answers: list[_DocumentAnswer] = []
    spans = _Spans(Placing(options.repeated, options.edits), options.unplaced)
    for doc, lines_of_one in enumerate(lines_of_document):
        for line in lines_of_one:
            try:
                answers.append(
                    _DocumentAnswer(doc, line.place, read_answer(line.row, documents.texts[doc], types, key))
                )
            except MalformedError as error:
                spans.counts[MALFORMED] += 1
                if options.malformed != "empty":
                    found_problems.append(Problem(*line.place, str(error), error.remedy or MEND))
    mentions = [
        (answer, part)
        for answer, mention in _in_documented_order(answers, documents, types, spans.counts, found_problems)
        for part in _divided(mention, documents.texts[answer.doc], spans.counts)
    ]
    try:
        located = locate(
            [mention for *_, mention in mentions],
            [answer.doc for answer, _ in mentions],
            documents.texts,
            [answer.place for answer, _ in mentions],
            options.offsets,
        )
        by_tokens, note_on_tokens = places_by_tokens(
            {
                number: CountedMention(
                    mentions[number][0].doc, mentions[number][1].text, mentions[number][0].place, stated
                )
                for number, stated in located.of_tokens.items()
            },
            documents,
            [_tokens_of_lines(lines_of_one) for lines_of_one in lines_of_document],
            options.texts,
        )
    except FormatError as error:
        raise FormatError([*found_problems, *error.problems]) from None
    if not by_tokens:
        located.unread.update(key for stated in located.of_tokens.values() for key in stated.keys)
    by_ordinals, note_on_ordinals, ordinal_keys = places_by_ordinals(
        [mention for *_, mention in mentions], [answer.doc for answer, _ in mentions], documents.texts
    )
    for name_of_ordinal in ordinal_keys:
        del located.unread[name_of_ordinal]
    places = {**by_ordinals, **located.places, **by_tokens}
    of_document: list[list[tuple[Mention, Place]]] = [[] for _ in lines_of_document]
    for number, (answer, mention) in enumerate(mentions):
        placed = Mention(mention.text, mention.type, places.get(number, mention.place))
        of_document[answer.doc].append((placed, answer.place))
    for doc, placed_mentions in enumerate(of_document):
        text = documents.texts[doc]
        spans.add_document(doc, text, [mention for mention, _ in placed_mentions], [at for _, at in placed_mentions])
    checked = layer(
        options.name or name,
        documents,
        spans.doc,
        spans.start,
        spans.end,
        spans.label,
        extras={"meta": spans.meta},
        where=spans.lines.__getitem__,
        unplaced=[span for span, (start, end) in enumerate(zip(spans.start, spans.end, strict=True)) if start == end],
        problems=found_problems,
    )
    for answer, *_ in {id(answer): (answer,) for answer in answers}.values():
        spans.counts.update(answer.content.counts)
        located.unread.update(answer.content.unread)
    all_notes = [spans.in_words(), *filter(None, (located.note, note_on_tokens, note_on_ordinals)), *notes]
    if located.unread:
        keys = ", ".join(f"{quoted(key)} {count}" for key, count in sorted(located.unread.items()))
        all_notes.append(f"keys of answers that were not read: {keys}")
    lines_read = [lines_of_one[0].place for lines_of_one in lines_of_document]
    return Reading(
        documents, checked, FORMAT, tuple(all_notes), source=source, places=lines_read, placed=spans.in_words()
    )


class _Line(NamedTuple):
    place: Place
    row: Any


def _tokens_of_lines(lines: Sequence[_Line]) -> Sequence[str] | None:
    """Return the tokens that the first line of a document has, None for none."""
    tokens = lines[0].row.get("tokens") if isinstance(lines[0].row, Mapping) else None
    return tokens if isinstance(tokens, list) and all(isinstance(token, str) for token in tokens) else None


def _with_gold_id(row: Any, gold: Documents) -> Any:
    """Return a line that gives several ids with the first that gold has; any other as it is."""
    keys = [key for key in ID_KEYS if key in row] if isinstance(row, Mapping) else []
    own = next((key for key in keys if id_string(row[key]) in gold.index), None) if len(keys) > 1 else None
    return row if own is None else {key: value for key, value in row.items() if key == own or key not in keys}


def _without_id(row: Any) -> Any:
    return {key: value for key, value in row.items() if key not in ID_KEYS} if isinstance(row, Mapping) else row


def _without_ids_of_responses(lines: list[_Line], gold: Documents | None) -> tuple[list[_Line], list[str]]:
    """Return lines without the ids of responses where gold has none of these, and a note: their order counts."""
    ids = [id_string(id_of_line(line.row)) for line in lines]
    if gold is None or len(lines) != len(gold) or not all(is_response(line.row) for line in lines):
        return lines, []
    if not any(ids) or not gold.index.keys().isdisjoint(filter(None, ids)):
        return lines, []
    note = "ids of responses, of which gold has none: answers are taken in their order"
    return [line._replace(row=_without_id(line.row)) for line in lines], [note]


def _by_texts(lines: list[_Line], gold: Documents | None) -> tuple[list[_Line], list[str]]:
    """Return lines with the ids of the documents whose texts they have, where gold has none of theirs; and a note."""
    ids = [id_string(id_of_line(line.row)) for line in lines]
    if gold is None or not any(ids) or not gold.index.keys().isdisjoint(filter(None, ids)):
        return lines, []
    gold_ids = dict(zip(gold.texts, gold.ids, strict=True))
    names = [gold_ids.get(text) if isinstance(text := text_of_line(line.row), str) else None for line in lines]
    if None in names or len(gold_ids) < len(gold):
        return lines, []
    named = [line._replace(row={**_without_id(line.row), "id": name}) for line, name in zip(lines, names, strict=True)]
    return named, ["ids of which gold has none: answers are those of the documents with their texts"]


def answer_choices(row: Any) -> tuple[TagColumn, ...]:
    """Return the keys of a line that may each hold its answer, with some types of each; nothing where one may."""
    keys = answer_keys(row)
    return tuple(TagColumn(key, _types_under(row, key)) for key in keys) if len(keys) > 1 else ()


def _types_under(row: Any, key: str) -> tuple[str, ...]:
    try:
        types = dict.fromkeys(mention.type for mention in read_answer(row, key=key).mentions)
    except MalformedError:
        return ()
    return tuple(types)[:SHOWN_TYPES]


def _several_answers(lines: Sequence[_Line], beside_gold: bool) -> Problem | None:
    """Return the problem of the first line with several keys that may each hold its answer, None where none has."""
    for line in lines:
        if choices := answer_choices(line.row):
            keys = [f"{quoted(str(choice.number))} ({', '.join(choice.types) or 'words'})" for choice in choices]
            flag = "--pred-column" if beside_gold else "--column"
            option = either_option(flag, (choice.number for choice in choices))
            finding = f"{len(choices)} keys may hold the answer: {', '.join(keys)}"
            remedy = f"name one: {option}; in the app choose beside the upload"
            return Problem(*line.place, finding, remedy)
    return None


def _divided(mention: NamedMention, text: str, counts: Counter[str]) -> list[NamedMention]:
    """Return the mentions of a string that lists several with commas: the text has each of them, but not the whole."""
    if SEPARATOR.search(mention.text) is None or mention.details or mention.place is not None:
        return [mention]
    searched = SearchedText(text)
    parts = SEPARATOR.split(mention.text.strip(" ,;"))
    if len(parts) < 2 or any(searched.ways(mention.text)) or not all(map(searched.has_words, parts)):
        return [mention]
    counts[DIVIDED] += 1
    return [mention._replace(text=part) for part in parts]


class _DocumentAnswer(NamedTuple):
    doc: int
    place: Place
    content: Answer


def _in_documented_order(
    answers: Sequence[_DocumentAnswer],
    documents: Documents,
    types: Sequence[str],
    counts: Counter[str],
    problems: list[Problem],
) -> list[tuple[_DocumentAnswer, NamedMention]]:
    """Return the mentions of all answers, pairs of type and mention turned; ambiguous ones are added to `problems`."""
    mentions = [(answer, mention) for answer in answers for mention in answer.content.mentions]
    lists: dict[tuple[int, int], list[int]] = {}
    for number, (answer, mention) in enumerate(mentions):
        if mention.pair is not None:
            lists.setdefault((id(answer), mention.pair), []).append(number)
    if not lists:
        return mentions
    texts: dict[int, SearchedText] = {}
    pairs = []
    for numbers in lists.values():
        doc = mentions[numbers[0]][0].doc
        named = [mentions[number][1] for number in numbers]
        text = texts.setdefault(doc, SearchedText(documents.texts[doc]))
        pairs.append(Pairs(named, text, any(mention.in_list for mention in named)))
    others = {mention.type for _, mention in mentions if mention.pair is None}
    for numbers, order in zip(lists.values(), pair_orders(pairs, types, others), strict=True):
        for number in numbers if order != "straight" else ():
            answer, mention = mentions[number]
            if order == "ambiguous":
                finding = f"{quoted(mention.text)} and {quoted(mention.type)}: either may be the mention or the type"
                remedy = 'write it as {"text": …, "type": …}'
                problems.append(Problem(*answer.place, finding, remedy))
                break
            mentions[number] = answer, mention._replace(text=mention.type, type=mention.text, place=None)
            counts[TURNED] += 1
    return mentions


def _documents(
    answers: Sequence[_Line], gold: Documents | None, source: str, problems: list[Problem]
) -> tuple[Documents, list[list[_Line]]]:
    """Return the documents of the answers, and the answers of each: several where lines have one id.

    Raises:
        FormatError: other than one answer for each of gold's documents, where no line has an id; with `problems`.
    """
    ids = [id_string(id_of_line(answer.row)) for answer in answers]
    named = any(name is not None for name in ids)
    if gold is not None and not named and len(answers) != len(gold):
        finding = f"{counted(len(answers), 'answer')} without ids where gold has {counted(len(gold), 'document')}"
        raise FormatError([*problems, Problem(source, None, finding, "give each line the id of its document")])
    texts: dict[str, str] = {}
    of_document: dict[str, list[_Line]] = {}
    for number, (answer, name) in enumerate(zip(answers, ids, strict=True)):
        text: Any = text_of_line(answer.row) if gold is None else None
        if named and name is None:
            problems.append(Problem(*answer.place, "no id, where others have one", "give the id of its document"))
            continue
        key = str(number) if name is None else name
        if gold is not None:
            at = gold.index.get(key) if named else number
            if at is None:
                finding = f"the document {quoted(key)} is not among gold's"
                problems.append(Problem(*answer.place, finding, "give an id that gold has, or leave the line out"))
                continue
            key, text = gold.ids[at], gold.texts[at]
        if not isinstance(text, str):
            remedy = "read it beside gold, whose texts are taken, or give each line its text"
            problems.append(Problem(*answer.place, "mentions without offsets, and no text to place them in", remedy))
            continue
        texts.setdefault(key, text)
        of_document.setdefault(key, []).append(answer)
    documents = Documents(tuple(texts), tuple(texts.values()), named=named if gold is None else gold.named)
    return documents, list(of_document.values())


@dataclass(frozen=True)
class Pairs:
    """The pairs of one list or object of an answer, in the documented order, and the text of its document.

    `has_lists` says that an object has lists as values, as an object of mentions by type has.
    """

    mentions: Sequence[NamedMention]
    text: SearchedText
    has_lists: bool = False


def pair_orders(lists: Sequence[Pairs], types: Collection[str], other_types: Iterable[str]) -> list[Order]:
    """Return the order of the pairs of each list.

    `types` are those of gold, empty where gold is not known. Where every first element of a list is a type of gold and
    no second one is, it is turned. Where neither element is a type, the text decides, in which mentions stand and types
    do not, and the types of the other lists of the same file and of mentions that keys name (`other_types`).
    """
    gold = _folded(types)
    vocabulary = gold | _folded(other_types)
    by_types = [_by_types(pairs, vocabulary) for pairs in lists]
    orders = [order or _by_text(pairs) for pairs, order in zip(lists, by_types, strict=True)]
    straight = [pairs for pairs, order in zip(lists, orders, strict=True) if order == "straight"]
    learnt = _folded(mention.type for pairs in straight for mention in pairs.mentions)
    if not learnt and not gold:
        turned = [pairs for pairs, order in zip(lists, orders, strict=True) if order == "turned"]
        learnt = _folded(mention.text for pairs in turned for mention in pairs.mentions)
    known_types = vocabulary | learnt
    return [order or _undecided(pairs, known_types, bool(gold)) for pairs, order in zip(lists, by_types, strict=True)]


def _by_types(pairs: Pairs, types: Collection[str]) -> Order | None:
    """Return the order that types show; None where they do not decide."""
    firsts = [mention.text.casefold() in types for mention in pairs.mentions]
    seconds = [mention.type.casefold() in types for mention in pairs.mentions]
    if all(seconds) and not all(firsts):
        return "straight"
    if all(firsts) and not any(seconds):
        # A type may be a word of the text too: the second elements must be mentions then.
        if any(pairs.text.has_words(mention.type) for mention in pairs.mentions):
            return "turned"
        return "ambiguous" if any(pairs.text.has_words(mention.text) for mention in pairs.mentions) else "turned"
    if all(firsts) and all(seconds):
        same = all(mention.text.casefold() == mention.type.casefold() for mention in pairs.mentions)
        return "straight" if same or pairs.has_lists else _by_text(pairs) or "ambiguous"
    if any(firsts) and any(seconds):
        return "ambiguous"
    if any(seconds):
        return "straight"
    return None


def _by_text(pairs: Pairs) -> Order | None:
    """Return the order in which mentions stand in the text and types do not; None where both or neither do."""
    if pairs.has_lists and any(mention.text in pairs.text.text for mention in pairs.mentions):
        return "straight"
    firsts = any(pairs.text.has_words(mention.text) for mention in pairs.mentions)
    seconds = [pairs.text.has_words(mention.type) for mention in pairs.mentions]
    if not any(seconds):
        return "straight"
    return "turned" if all(seconds) and not firsts else None


def _undecided(pairs: Pairs, types: Collection[str], has_gold: bool) -> Order:
    """Return the order by the types of the whole file, else by the text; ambiguous where these do not decide."""
    firsts = [mention.text.casefold() in types for mention in pairs.mentions]
    seconds = [mention.type.casefold() in types for mention in pairs.mentions]
    if all(firsts) != all(seconds):
        return "straight" if all(seconds) else "turned"
    order = _by_text(pairs)
    if pairs.has_lists and order is None:
        return "straight"
    return (
        "ambiguous" if order == "turned" and (has_gold or pairs.has_lists) and not any(firsts) else order or "ambiguous"
    )


def _folded(names: Iterable[str]) -> set[str]:
    return {name.casefold() for name in names}
