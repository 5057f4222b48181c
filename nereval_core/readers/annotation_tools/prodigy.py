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
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from nereval_core.corpus.builder import Builder
from nereval_core.problems import FormatError, Problem, ProblemList, quoted
from nereval_core.readers import Reading, ReadOptions, Source, select_layer
from nereval_core.readers.input.source import unread_files_note
from nereval_core.readers.shared.annotation_keys import KeyedReader, Record, key_of
from nereval_core.readers.shared.offset_conversion import RepeatedTasks, reading_in_code_points
from nereval_core.readers.shared.offset_units import Offsets
from nereval_core.readers.shared.strict_json import Complain, id_string, json_type, score_number, typed_list

OFFSETS = Offsets()
WHO = ("_annotator_id", "_session_id")
PLAIN = "annotations"
"""The layer of tasks that do not say whose they are."""
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


class Span(msgspec.Struct):
    """A span with the concept `kb_id`, and its first and last token."""

    start: int
    end: int
    label: str
    text: Any = None
    id: Any = None
    kb_id: Any = None
    score: Any = None
    token_start: Any = None
    token_end: Any = None


class Token(msgspec.Struct):
    """A token, end exclusive."""

    start: int
    end: int


class ProdigyReader(KeyedReader):
    name = "prodigy"
    description = "JSON lines of Prodigy and spaCy, training tuples too: text and spans, a layer an annotator"
    has_layers = True
    keys = SPANS
    other_keys = OTHER_KEYS

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
        """Return the annotators of a file, in the order of their first tasks.

        Raises:
            FormatError: with every problem found.
        """
        return tuple(self._tasks_by_layer(source))

    def read(self, source: Source, options: ReadOptions) -> Reading:
        """Read the tasks that one annotator accepted.

        Raises:
            FormatError: with every problem found; several annotators, and none is named.
        """
        by_layer = self._tasks_by_layer(source)
        layer = select_layer(source, options.layer, tuple(by_layer)) if by_layer else PLAIN
        tasks = by_layer.get(layer, [])
        keys, key_notes = self.choose_keys(tasks, options, source)
        key = keys[0] if keys else SPANS[0]
        if len(keys) > 1:
            tasks = [(line, file_name, _under(row, key, keys)) for line, file_name, row in tasks]
        builder = Builder(source.name)
        accepted, n_joined = _accepted(tasks, key, builder.problems)
        repeated = RepeatedTasks()
        for line, file_name, row in accepted:
            _add_document(row, line, file_name, builder, repeated, key)
        notes = [*unread_files_note(source, source.pick(*self.suffixes)), *key_notes]
        notes += [f"{TEACH}{n_joined}"] if n_joined else []
        answers = sorted(Counter(answer for _, _, row in tasks if (answer := _answer(row)) != ACCEPT).items())
        notes += [f"tasks answered {quoted(answer)}, left out: {count}" for answer, count in answers]
        if answers and not accepted:
            finding = f"no task that {quoted(layer)} accepted"
            raise FormatError.single(source.name, None, finding, "give tasks whose answer is accept")
        notes += repeated.notes()
        return reading_in_code_points(builder, source, options, self.name, expected=OFFSETS, notes=notes)

    def prepared(self, record: Any) -> Any:
        """Return a training tuple of spaCy as a task; anything else with its lists in strings read."""
        if not (
            isinstance(record, list) and len(record) == 2 and isinstance(record[0], str) and isinstance(record[1], dict)
        ):
            return super().prepared(record)
        task: dict[str, Any] = {"text": record[0]}
        for key, value in record[1].items():
            if key == SPANS[0] and isinstance(value, dict):
                # The span groups of spaCy have names.
                task |= {name: _objects(group) for name, group in value.items() if name not in task}
            elif key not in NO_SPANS and key != "text":
                task[key] = _objects(value)
        return task

    def _tasks_by_layer(self, source: Source) -> dict[str, list[Record]]:
        """Return the tasks by annotator.

        Raises:
            FormatError: with every problem found.
        """
        tasks: dict[str, list[Record]] = {}
        problems = ProblemList()
        for line, file_name, row in self.records(source, problems):
            if not isinstance(row, dict) or not isinstance(row.get("text"), str):
                what = "a task without a text" if isinstance(row, dict) else f"{json_type(row)} where a task should be"
                problems.append(Problem(file_name, line, what, "write objects with text and spans"))
                continue
            annotator = next((name for name in map(id_string, map(row.get, WHO)) if name), PLAIN)
            tasks.setdefault(annotator, []).append((line, file_name, row))
        if problems:
            raise FormatError(problems)
        return tasks


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
    for line, file_name, row in tasks:
        name = _name(row)
        if name not in questions:
            if _answer(row) == ACCEPT and not (
                name and _is_second_answer(by_name[name], row, (line, file_name), problems)
            ):
                accepted.append((line, file_name, row))
        elif questions[name][0][2] is row:
            _check_answers(questions[name], key, problems)
            by_place = {
                _place(other, key): other[key][0] for _, _, other in questions[name] if _answer(other) == ACCEPT
            }
            spans = list(by_place.values())
            accepted.append((line, file_name, {**row, key: spans}))
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
    """Complain of a task whose text (by Prodigy's hash alone) has an accepted task of other content before it."""
    line, file_name, first = next(task for task in rows if _answer(task[2]) == ACCEPT)
    if first is row or _name({**row, "_input_hash": None}) is not None or _content(first) == _content(row):
        return False
    finding = f"two tasks of one text with different answers: this one, and that at {file_name}:{line}"
    problems.append(Problem(place[1], place[0], finding, "leave one of them out"))
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
    for line, file_name, row in rows:
        answer, place = _answer(row), _place(row, key)
        if answer not in (ACCEPT, REJECT):
            continue
        before = first.setdefault(place, (line, file_name, answer))
        if before[2] != answer:
            start, end, label = place
            finding = f"two answers to [{start}, {end}) {label}: {answer} here, {before[2]} at {before[1]}:{before[0]}"
            problems.append(Problem(file_name, line, finding, "leave one of the two tasks out"))


def _name(row: Mapping[str, Any]) -> str | None:
    """Return the id of a task's text: its own, that of its metadata, or Prodigy's."""
    meta = row["meta"] if isinstance(row.get("meta"), dict) else {}
    ids = map(id_string, (row.get("id"), meta.get("id"), row.get("_input_hash")))
    return next(filter(None, ids), None)


def _objects(value: Any) -> Any:
    """Return the triples of a training tuple as objects; anything else as it is."""
    if not isinstance(value, list):
        return value
    return [dict(zip(PARTS, entry, strict=False)) if isinstance(entry, list) else entry for entry in value]


def _add_document(
    row: Mapping[str, Any], line: int, file_name: str, builder: Builder, repeated: RepeatedTasks, key: str
) -> None:
    def complain(finding: str, remedy: str) -> None:
        builder.problem(line, finding, remedy, source=file_name)

    meta = row["meta"] if isinstance(row.get("meta"), dict) else {}
    name = _name(row)
    if repeated.holds(name, _content(row)):
        return
    tokens = typed_list(row, "tokens", list[Token], complain, "write objects with start and end, or leave tokens out")
    pairs = [(token.start, token.end) for token in tokens]
    builder.document(name, row["text"], line=line, source=file_name, tokens=pairs, meta=meta)
    spans = typed_list(row, key, list[Span], complain, "give start, end and label")
    if pairs:
        _check_tokens(spans, pairs, complain)
    links = (id_string(span.kb_id) for span in spans)
    builder.spans(
        [span.start for span in spans],
        [span.end for span in spans],
        [span.label for span in spans],
        quotes=[span.text if isinstance(span.text, str) else None for span in spans],
        ids=[id_string(span.id) for span in spans],
        links=[None if link is None else (link,) for link in links],
        scores=[score_number(span.score) for span in spans],
    )


def _is_span(span: Any) -> bool:
    return type(span) is dict and [type(span.get(part)) for part in PARTS] == [int, int, str]


def _check_tokens(spans: list[Span], tokens: list[tuple[int, int]], complain: Complain) -> None:
    """Compare the spans with the tokens that they name as their first and last."""
    for at, span in enumerate(spans):
        first, last = span.token_start, span.token_end
        if type(first) is type(last) is int and 0 <= first <= last < len(tokens):
            low, high = tokens[first][0], tokens[last][1]
            if (low, high) != (span.start, span.end):
                finding = f"spans[{at}] is [{span.start}, {span.end}), and its tokens are [{low}, {high})"
                complain(finding, "mend the offsets or the tokens: token_end is the last token of the span")
