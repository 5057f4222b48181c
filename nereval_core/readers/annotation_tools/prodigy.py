"""JSON lines of Prodigy and spaCy: `text`, `spans` with start, end and label, and, from Prodigy, an `answer`.

spaCy's training tuples, `[text, {"entities": [[0, 4, "ORG"]]}]`, one a line or in one list, are such tasks too.

Answers `reject` and `ignore` are kept out and counted; each `_annotator_id` is a layer. A task that an annotator
answered twice alike is read once; two answers to it that differ are refused. Offsets are code points, and
with `token_start` and `token_end` (inclusive) they are held against the tokens.
See Prodigy's documentation, "Annotation interfaces", `ner` and `spans`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from nereval_core.corpus.builder import Builder
from nereval_core.problems import FormatError, Problem, quoted
from nereval_core.readers import Reader, Reading, ReadOptions, Source, select_layer
from nereval_core.readers.input.source import unread_files_note
from nereval_core.readers.shared.annotation_keys import (
    Record,
    choose_keys,
    key_choices,
    key_of,
    sampled_records,
    with_decoded_strings,
)
from nereval_core.readers.shared.offset_conversion import RepeatedTasks, reading_in_code_points
from nereval_core.readers.shared.offset_units import Offsets
from nereval_core.readers.shared.strict_json import Complain, id_string, items, json_type, list_under, score_number
from nereval_core.readers.shared.tag_cells import TagColumn

OFFSETS = Offsets()
WHO = ("_annotator_id", "_session_id")
PLAIN = "annotations"
"""The layer of tasks that do not say whose they are."""
EDGES = ("token_start", "token_end")
PARTS = ("start", "end", "label")

TUPLE = re.compile(r'\s*\[\s*(?:\[\s*)?"(?:[^"\\]|\\.)*"\s*,\s*\{\s*(?:"(?:entities|spans)"|\})')
"""The beginning of a training tuple, or of a list of them."""
SPANS = ("spans", "entities")
NO_SPANS = frozenset(("words", "tags", "pos", "morphs", "lemmas", "heads", "deps", "sent_starts", "cats", "links"))
"""Keys of spaCy's training tuples that hold no spans."""
OTHER_KEYS = frozenset(("text", "tokens", "meta", "options", "accept", "answer", "relations", "html", "image"))
"""Keys of a task that hold no spans."""
TEACH = "tasks about one span each, of which those accepted are the spans of their texts: "

ACCEPT = "accept"
REJECT = "reject"


class ProdigyReader(Reader):
    name = "prodigy"
    description = "JSON lines of Prodigy and spaCy, training tuples too: text and spans, a layer an annotator"
    suffixes = (".jsonl", ".json")
    has_columns = True
    has_layers = True

    def recognise(self, source: Source) -> float:
        """Claim Prodigy's own keys; text and spans without the native format's id may be from spaCy."""
        keys = source.head(*self.suffixes).keys
        if not keys and TUPLE.match("\n".join(source.head(*self.suffixes).lines)):
            return 0.95
        if "text" not in keys or not keys & {"spans", "tokens"} or "ner_tags" in keys:
            return 0.0
        if keys & {"answer", "_input_hash", "_task_hash", *WHO}:
            return 1.0
        return 0.8 if "spans" in keys and "id" not in keys else 0.0

    def layers(self, source: Source, options: ReadOptions) -> tuple[str, ...]:
        """Return the annotators of a file, in the order in which they are met.

        Raises:
            FormatError: with every problem found.
        """
        return tuple(_by_layer(source))

    def read(self, source: Source, options: ReadOptions) -> Reading:
        """Read the tasks that one annotator accepted.

        Raises:
            FormatError: with every problem found; several annotators, and none is named.
        """
        by_layer = _by_layer(source)
        wanted = select_layer(source, options.layer, tuple(by_layer)) if by_layer else PLAIN
        tasks = by_layer.get(wanted, [])
        keys, key_notes = choose_keys(tasks, SPANS, OTHER_KEYS, options.column, source.name)
        key = keys[0] if keys else SPANS[0]
        if len(keys) > 1:
            tasks = [(line, shown, _under(row, key, keys)) for line, shown, row in tasks]
        made = Builder(source.name)
        accepted, joined = _accepted(tasks, key, made.problems)
        repeated = RepeatedTasks()
        for line, shown, row in accepted:
            _document(row, line, shown, made, repeated, key)
        notes = [*unread_files_note(source, source.pick(*self.suffixes)), *key_notes]
        notes += [f"{TEACH}{joined}"] if joined else []
        answers = sorted(Counter(answer for _, _, row in tasks if (answer := _answer(row)) != ACCEPT).items())
        notes += [f"tasks answered {quoted(answer)}, left out: {count}" for answer, count in answers]
        if answers and not accepted:
            found = f"no task that {quoted(wanted)} accepted"
            raise FormatError.single(source.name, None, found, "give tasks whose answer is accept")
        return reading_in_code_points(
            made, source, options, self.name, expected=OFFSETS, notes=[*notes, *repeated.notes()]
        )

    def tag_column_choices(self, source: Source) -> tuple[TagColumn, ...]:
        """Return the keys of which one has to be chosen, by the first records of small files; else nothing."""
        return key_choices(map(_task_of_tuple, sampled_records(source.pick(*self.suffixes))), SPANS, OTHER_KEYS)


READER = ProdigyReader()


def _answer(row: Mapping[str, Any]) -> str:
    return str(row.get("answer", ACCEPT))


def _under(row: Mapping[str, Any], key: str, keys: Sequence[str]) -> Mapping[str, Any]:
    """Return a task with its spans under one key, where they stand under another of the keys."""
    own = key_of(row, keys)
    return row if own in (None, key) else {**row, key: row[own]}


def _accepted(tasks: list[Record], key: str, problems: list[Problem]) -> tuple[list[Record], int]:
    """Return the accepted tasks, and how many tasks were joined that ask about one span of a text each (`ner.teach`).

    What is accepted of the tasks about one text is joined; a text of which all is rejected has no spans. A span that is
    accepted and rejected is a problem.
    """
    by_name: dict[str, list[Record]] = {}
    for task in tasks:
        if (name := _name(task[2])) is not None:
            by_name.setdefault(name, []).append(task)
    questions = {name: rows for name, rows in by_name.items() if len(rows) > 1 and _are_questions(rows, key)}
    accepted: list[Record] = []
    for line, shown, row in tasks:
        name = _name(row)
        if name not in questions:
            if _answer(row) == ACCEPT and not (name and _is_second_answer(by_name[name], row, (line, shown), problems)):
                accepted.append((line, shown, row))
        elif questions[name][0][2] is row:
            _check_answers(questions[name], key, problems)
            by_place = {
                _place(other, key): other[key][0] for _, _, other in questions[name] if _answer(other) == ACCEPT
            }
            spans = list(by_place.values())
            accepted.append((line, shown, {**row, key: spans}))
    return accepted, sum(map(len, questions.values()))


def _are_questions(rows: list[Record], key: str) -> bool:
    """Return whether tasks of one text ask about one span each: Prodigy tells tasks apart by `_task_hash`."""
    spans = [row.get(key) for _, _, row in rows]
    if not all(isinstance(listed, list) and len(listed) == 1 and _is_span(listed[0]) for listed in spans):
        return False
    texts = {row["text"] for _, _, row in rows}
    answers = {(_place(row, key), _answer(row)) for _, _, row in rows}
    return all("_task_hash" in row for _, _, row in rows) and len(texts) == 1 and len(answers) > 1


def _is_second_answer(
    rows: list[Record], row: Mapping[str, Any], place: tuple[int, str], problems: list[Problem]
) -> bool:
    """Complain of a task whose text, told by Prodigy's hash alone, has an accepted task of other content before it."""
    line, shown, first = next(task for task in rows if _answer(task[2]) == ACCEPT)
    if first is row or _name({**row, "_input_hash": None}) is not None or _content(first) == _content(row):
        return False
    found = f"two tasks of one text with different answers: this one, and that at {shown}:{line}"
    problems.append(Problem(place[1], place[0], found, "leave one of them out"))
    return True


def _content(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a task without hashes, times and annotator: the keys of a session begin with an underscore."""
    return {key: value for key, value in row.items() if not key.startswith("_")}


def _place(row: Mapping[str, Any], key: str) -> tuple[Any, ...]:
    """Return start, end and type of the span that a task asks about."""
    return tuple(row[key][0][part] for part in PARTS)


def _check_answers(rows: list[Record], key: str, problems: list[Problem]) -> None:
    """Complain of spans that one task accepts and another rejects."""
    first: dict[tuple[Any, ...], tuple[int, str, str]] = {}
    for line, shown, row in rows:
        answer, place = _answer(row), _place(row, key)
        if answer not in (ACCEPT, REJECT):
            continue
        before = first.setdefault(place, (line, shown, answer))
        if before[2] != answer:
            start, end, label = place
            found = f"two answers to [{start}, {end}) {label}: {answer} here, {before[2]} at {before[1]}:{before[0]}"
            problems.append(Problem(shown, line, found, "leave one of the two tasks out"))


def _name(row: Mapping[str, Any]) -> str | None:
    """Return the id of a task's text: its own, that of its metadata, or Prodigy's."""
    meta = row["meta"] if isinstance(row.get("meta"), dict) else {}
    ids = map(id_string, (row.get("id"), meta.get("id"), row.get("_input_hash")))
    return next(filter(None, ids), None)


def _by_layer(source: Source) -> dict[str, list[Record]]:
    """Return the tasks by annotator.

    Raises:
        FormatError: with every problem found.
    """
    found: dict[str, list[Record]] = {}
    problems: list[Problem] = []
    for file in source.pick(*ProdigyReader.suffixes):
        for line, row in items(file, problems):
            row = _task_of_tuple(row)
            if not isinstance(row, dict) or not isinstance(row.get("text"), str):
                what = "a task without a text" if isinstance(row, dict) else f"{json_type(row)} where a task should be"
                problems.append(Problem(file.shown, line, what, "write objects with text and spans"))
                continue
            who = next((name for name in map(id_string, map(row.get, WHO)) if name), PLAIN)
            found.setdefault(who, []).append((line, file.shown, row))
    if problems:
        raise FormatError(problems)
    return found


def _task_of_tuple(row: Any) -> Any:
    """Return a training tuple of spaCy as a task; anything else with its lists in strings read."""
    if not (isinstance(row, list) and len(row) == 2 and isinstance(row[0], str) and isinstance(row[1], dict)):
        return with_decoded_strings(row, OTHER_KEYS)
    task: dict[str, Any] = {"text": row[0]}
    for key, value in row[1].items():
        if key == SPANS[0] and isinstance(value, dict):
            # The span groups of spaCy have names.
            task |= {name: _objects(group) for name, group in value.items() if name not in task}
        elif key not in NO_SPANS and key != "text":
            task[key] = _objects(value)
    return task


def _objects(value: Any) -> Any:
    """Return the triples of a training tuple as objects; anything else as it is."""
    if not isinstance(value, list):
        return value
    return [dict(zip(PARTS, entry, strict=False)) if isinstance(entry, list) else entry for entry in value]


def _document(row: Mapping[str, Any], line: int, shown: str, made: Builder, repeated: RepeatedTasks, key: str) -> None:
    def complain(found: str, remedy: str) -> None:
        made.problems.append(Problem(shown, line, found, remedy))

    meta = row["meta"] if isinstance(row.get("meta"), dict) else {}
    name = _name(row)
    if repeated.holds(name, _content(row)):
        return
    tokens = _tokens(row, complain)
    made.document(name, row["text"], line=line, source=shown, tokens=tokens, meta=meta)
    spans = list_under(row, key, complain)
    bad = [at for at, span in enumerate(spans) if not _is_span(span)]
    for at in bad:
        complain(f"{key}[{at}] is not a span", "give start, end and label")
    if bad or not spans:
        return
    keys = set().union(*spans)
    if tokens and keys.issuperset(EDGES):
        _check_tokens(spans, tokens, complain)
    given: dict[str, Any] = {
        what: [value(span.get(key)) for span in spans] for what, (key, value) in BESIDE.items() if key in keys
    }
    starts, ends, labels = ([span[part] for span in spans] for part in PARTS)
    made.spans(starts, ends, labels, **given)


def _is_span(span: Any) -> bool:
    return type(span) is dict and [type(span.get(part)) for part in PARTS] == [int, int, str]


def _check_tokens(spans: list[dict[str, Any]], tokens: list[tuple[int, int]], complain: Complain) -> None:
    """Compare the spans with the tokens that they name as their first and last."""
    for at, span in enumerate(spans):
        first, last = map(span.get, EDGES)
        if type(first) is type(last) is int and 0 <= first <= last < len(tokens):
            low, high = tokens[first][0], tokens[last][1]
            if (low, high) != (span["start"], span["end"]):
                found = f"spans[{at}] is [{span['start']}, {span['end']}), and its tokens are [{low}, {high})"
                complain(found, "mend the offsets or the tokens: token_end is the last token of the span")


def _quote(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _links(value: Any) -> tuple[str, ...] | None:
    link = id_string(value)
    return None if link is None else (link,)


BESIDE: Mapping[str, tuple[str, Callable[[Any], Any]]] = {
    "quotes": ("text", _quote),
    "ids": ("id", id_string),
    "links": ("kb_id", _links),
    "scores": ("score", score_number),
}
"""Further columns of spans: their key in a span, and the function that reads them."""


def _tokens(row: Mapping[str, Any], complain: Complain) -> list[tuple[int, int]]:
    tokens = list_under(row, "tokens", complain)
    try:
        pairs = [(token["start"], token["end"]) for token in tokens]
    except (KeyError, TypeError):
        pairs = [(None, None)]
    if all(type(start) is type(end) is int for start, end in pairs):
        return pairs
    complain("tokens without start and end", "write a list of objects with both, or leave them out")
    return []
