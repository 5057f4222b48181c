"""JSON and CSV of Label Studio: tasks with annotations and predictions, as exported (or, of JSON, to be imported).

Each annotator and each model version is a layer, over the tasks that they worked on. Offsets are UTF-16 units, as its
pages count in JavaScript, or, in later versions, code points: the quoted texts tell, white space in them as the
browser shows it. A dialogue is one text, a line a paragraph; its results count within paragraphs.
See Label Studio's documentation, "Export annotations", "Import pre-annotated data" and "Paragraphs".
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any

import msgspec

from nereval_core.corpus.builder import Builder
from nereval_core.problems import FormatError, Problem, ProblemList, counted, either_option, quoted
from nereval_core.readers import Reader, Reading, ReadOptions, Source, select_layer
from nereval_core.readers.input.source import unread_files_note
from nereval_core.readers.shared.annotation_keys import records_of, types_of_value
from nereval_core.readers.shared.list_cells import first_record
from nereval_core.readers.shared.offset_conversion import RepeatedTasks, reading_in_code_points
from nereval_core.readers.shared.offset_units import Offsets, width_of
from nereval_core.readers.shared.strict_json import Complain, id_string, json_type, score_number, typed_list
from nereval_core.readers.shared.tag_cells import is_named_like_prediction

"""The column named is the key of the text in the data of tasks."""

OFFSETS = Offsets("UTF-16 units")
PARAGRAPHS = "paragraphlabels"
SPANS = ("labels", "hypertextlabels", PARAGRAPHS)
"""Types of results that are spans of text."""
ANNOTATIONS = ("annotations", "completions")
"""Keys of the annotations of a task, today and in early versions."""
MODELS = "predictions"
WHOSE = {**dict.fromkeys(ANNOTATIONS, "annotations"), MODELS: "predictions"}
"""Layers of work without an annotator or model."""
MIN = {"annotator", "annotation_id", "id", "created_at", "updated_at", "lead_time"}
"""Keys that JSON-MIN adds to a task's data."""
EXPORT = "export it as JSON, or write it as Label Studio's documentation has it"
BLANKS = re.compile(r"(?:\s|\\n)+")
FILE_NAME = re.compile(
    r"\s*(?:(?:https?|s3|gs|file|azure-blob|hf)://\S+|/?(?:data|upload|files?|mnt|home)/\S+|\S*\?d=\S+"
    r"|\S+\.(?:txt|html?|pdf|json|csv|tsv|xml|md|docx?|png|jpe?g|gif|webp|tiff?|bmp|wav|mp3|flac|m4a|mp4)"
    r"|data:\w+/\S+)\s*",
    re.IGNORECASE,
)
"""A text that is the name or address of a file, as tasks have it that load their text (`valueType="url"`)."""

Results = list[Mapping[str, Any]]
Owner = tuple[bool, str]
"""A layer: true for a model's, and its name."""


@dataclass(slots=True)
class Task:
    """One text with the results of each layer; `paragraphs` are those of a dialogue, none of a text.

    `key` is that of the text in the data; `has_regions` where a result is a part of an image, a recording or a table.
    """

    name: str | None
    own: str | None
    key: str
    text: str
    paragraphs: Sequence[str]
    line: int
    file_name: str
    meta: Mapping[str, Any]
    results: dict[Owner, Results] = field(default_factory=dict)
    has_regions: bool = False


class LabelStudioReader(Reader):
    name = "labelstudio"
    description = "JSON and CSV of Label Studio: tasks with annotations and predictions, a layer an annotator and model"
    suffixes = (".json", ".jsonl", ".csv", ".tsv")
    has_columns = True
    has_layers = True

    def recognise(self, source: Source) -> float:
        """Claim objects with data and annotations or predictions, and of JSON-MIN's own keys."""
        head = source.head(*self.suffixes)
        keys = head.keys or frozenset(first_record(head) or ())
        if "data" in keys and keys & set(WHOSE):
            return 1.0
        return 0.95 if {"annotation_id", "annotator"} <= keys else 0.0

    def layers(self, source: Source, options: ReadOptions) -> tuple[str, ...]:
        """Return the annotators and model versions of a file, annotators first.

        Raises:
            FormatError: with every problem found.
        """
        return tuple(_layers(_tasks(source, options.column)[0]))

    def read(self, source: Source, options: ReadOptions) -> Reading:
        """Read the tasks that one annotator or model worked on.

        Cancelled annotations, results that are not spans of text, and all but the last work of one annotator on a task
        are left out and counted.

        Raises:
            FormatError: with every problem found; several layers, and none is named.
        """
        tasks, skipped = _tasks(source, options.column)
        owner_of_layer = _layers(tasks)
        if not owner_of_layer:
            finding = "no annotations or predictions in it"
            raise FormatError.single(source.name, None, finding, "export tasks that somebody worked on")
        layer = select_layer(source, options.layer, tuple(owner_of_layer))
        owner = owner_of_layer[layer]
        # A task's number is of one project: ids that came with the data also pair it with other files.
        unnamed = sum(task.own is None for task in tasks)
        builder = Builder(source.name)
        repeated = RepeatedTasks()
        for task in tasks:
            if owner in task.results:
                name = task.name if unnamed else task.own
                results = [{key: value for key, value in work.items() if key != "id"} for work in task.results[owner]]
                if repeated.holds(name, (task.text, task.paragraphs, task.meta, results)):
                    continue
                builder.document(name, task.text, line=task.line, source=task.file_name, meta=task.meta)
                # One more than there are paragraphs: behind each is a line end.
                unit = (options.offsets or OFFSETS).unit
                begins = [0, *accumulate(width_of(text, unit) + 1 for text in task.paragraphs)]
                for result in task.results[owner]:
                    _span(result, builder, task, begins)
        # Tables have a row for each annotator of a task.
        answered = {(task.name, task.text) for task in tasks if owner in task.results}
        n_missing = len({(task.name, task.text) for task in tasks} - answered)
        notes = unread_files_note(source, source.pick(*self.suffixes))
        keys = sorted({task.key for task in tasks if not task.paragraphs} - {"text"})
        notes += [f"texts taken from {' and '.join(map(quoted, keys))}"] if keys else []
        notes += [f"tasks that {quoted(layer)} has nothing for, left out: {n_missing}"] if n_missing else []
        if 0 < unnamed < len(tasks):
            notes.append(
                f"documents are called by the numbers of tasks, as {counted(unnamed, 'task')} had no id in its data"
            )
        notes += [f"{what}, left out: {count}" for what, count in sorted(skipped.items()) if count]
        notes += repeated.notes()
        return reading_in_code_points(builder, source, options, self.name, expected=OFFSETS, alike=_spaced, notes=notes)


READER = LabelStudioReader()


def _spaced(quote: str) -> str:
    """Return a quote with each run of white space as one blank: browsers show no more of it."""
    return BLANKS.sub(" ", quote)


def _layers(tasks: list[Task]) -> dict[str, Owner]:
    """Return the layers by name, annotators before models; a model called like an annotator is marked as one."""
    owners = sorted(dict.fromkeys(owner for task in tasks for owner in task.results), key=lambda owner: owner[0])
    names = {name for model, name in owners if not model}
    return {f"{name} (model)" if model and name in names else name: (model, name) for model, name in owners}


def _tasks(source: Source, text_key: int | str | None = None) -> tuple[list[Task], Counter[str]]:
    """Read all tasks, and count what is not a span of a layer by its kind; `text_key` is that of the text in the data.

    Raises:
        FormatError: with every problem found.
    """
    problems = ProblemList()
    skipped: Counter[str] = Counter()
    tasks = []
    records = list(records_of(source.pick(*LabelStudioReader.suffixes), problems))
    if text_key is None:
        text_key = _quoted_key([row for _, _, row in records])
    for line, file_name, row in records:
        task = _task(row, line, file_name, skipped, problems, text_key)
        if task is not None:
            tasks.append(task)
    problems += _file_name_problems(tasks)
    if problems:
        raise FormatError(problems)
    return tasks, skipped


def _data_of(row: Any) -> Mapping[str, Any]:
    """Return the data of a task, which JSON-MIN has beside its own keys."""
    data = row.get("data", row) if isinstance(row, dict) else {}
    return {key: value for key, value in data.items() if key not in MIN} if isinstance(data, dict) else {}


def _quoted_key(rows: Sequence[Any]) -> str | None:
    """Return the key of the one string of the data that all quotes fit, where tasks have several and no `text`."""
    fitting: Counter[str] = Counter()
    quotes = 0
    for row in rows:
        data = _data_of(row)
        strings = {key: value for key, value in data.items() if isinstance(value, str) and key != "id"}
        if "text" in strings or len(strings) < 2 or any(map(_is_dialogue, data.values())):
            continue
        for start, end, quote in _quotes(row):
            quotes += 1
            fitting.update(key for key, text in strings.items() if _fits(text, start, end, quote))
    keys = [key for key, count in fitting.items() if count == quotes]
    return keys[0] if len(keys) == 1 else None


def _quotes(row: Mapping[str, Any]) -> Iterator[tuple[int, int, str]]:
    """Yield the start, end and quoted text of every result of a task that quotes its text."""
    results = [
        result
        for key in WHOSE
        for work in row.get(key) or ()
        if isinstance(work, dict) and isinstance(work.get("result"), list)
        for result in work["result"]
    ]
    of_least = [value for values in row.values() if isinstance(values, list) for value in values]
    for value in (*of_least, *(result.get("value") for result in results if isinstance(result, dict))):
        if isinstance(value, dict) and isinstance(value.get("text"), str):
            start, end = _integer(value.get("start")), _integer(value.get("end"))
            if start is not None and end is not None:
                yield start, end, value["text"]


def _fits(text: str, start: int, end: int, quote: str) -> bool:
    """Return whether a quote stands at its place in a text, counted in code points or UTF-16 units."""
    units = text.encode("utf-16-le")
    return quote in (text[start:end], units[2 * start : 2 * end].decode("utf-16-le", errors="replace"))


def _file_name_problems(tasks: Sequence[Task]) -> Iterator[Problem]:
    """Yield the problems of tasks whose text is the name of a file, and whose spans quote nothing of it."""
    for task in tasks:
        if task.has_regions and FILE_NAME.fullmatch(task.text):
            finding = f"{quoted(task.key)} is the name of a file, and regions are labelled in it, not spans of a text"
            yield Problem(task.file_name, task.line, finding, "export a project of texts")
            continue
        values = [result.get("value") for results in task.results.values() for result in results]
        quoted_texts = [value.get("text") for value in values if isinstance(value, dict)]
        if FILE_NAME.fullmatch(task.text) and values and not all(text and text in task.text for text in quoted_texts):
            yield Problem(
                task.file_name,
                task.line,
                f"the text {quoted(task.text)} is the name of a file",
                "put the text of that file in its place: the spans are counted in it",
            )


def _task(
    row: Any, line: int, file_name: str, skipped: Counter[str], problems: list[Problem], text_key: int | str | None
) -> Task | None:
    def complain(finding: str, remedy: str) -> None:
        problems.append(Problem(file_name, line, finding, remedy))

    if not isinstance(row, dict):
        complain(f"{json_type(row)} where a task should be", EXPORT)
        return None
    whole = "data" in row
    data = row["data"] if whole else {key: value for key, value in row.items() if key not in MIN}
    if not isinstance(data, dict):
        complain(f"data is {json_type(data)}", EXPORT)
        return None
    key = text_key if isinstance(text_key, str) and isinstance(data.get(text_key), str) else _text_key(data)
    if key is None:
        strings = [name for name, value in data.items() if isinstance(value, str) and name != "id"]
        listed = f": the strings in it are {', '.join(map(quoted, strings))}" if strings else ""
        remedy = (
            f"name the one with the text, {either_option('--column', strings)}"
            if strings
            else "give it as a string under text"
        )
        complain(f"no text in the task's data{listed}", f"{remedy}, or a dialogue as a list of objects")
        return None
    results: dict[Owner, Results] = {}
    has_regions = False
    used = {key, "id"} if whole else {key}
    for owner, listed_results in _sides(row, complain) if whole else _least(data, row, used, complain):
        if listed_results is None:
            skipped["annotations that were cancelled"] += 1
            continue
        if owner in results:
            skipped["earlier work of one annotator or model on one task"] += 1
        results[owner] = [result for result in listed_results if str(result.get("type", "")).lower() in SPANS]
        skipped["results that are not spans of text"] += len(listed_results) - len(results[owner])
        has_regions |= any(_is_region(str(result.get("type", ""))) for result in listed_results)
    meta = {name: value for name, value in data.items() if name not in used}
    for name, value in meta.items():
        if types_of_value(value) is not None:
            skipped[f"lists of spans under {quoted(name)}"] += 1
    paragraphs = [] if isinstance(data[key], str) else [paragraph["text"] for paragraph in data[key]]
    text = "\n".join(paragraphs) if paragraphs else data[key]
    own = id_string(data.get("id")) if whole else None
    has_regions |= not whole and any(
        _is_region(kind)
        for value in meta.values()
        if isinstance(value, list)
        for entry in value
        if isinstance(entry, dict)
        for kind in entry
    )
    return Task(id_string(row.get("id")), own, key, text, paragraphs, line, file_name, meta, results, has_regions)


def _is_region(kind: str) -> bool:
    """Return whether a type of results is one of regions: `rectanglelabels`, `brushlabels`, `timeserieslabels`."""
    return kind.lower().endswith("labels") and kind.lower() not in SPANS


def _text_key(data: Mapping[str, Any]) -> str | None:
    """Return under which key the text stands: what is called so, the one dialogue, or the one string there is."""
    if isinstance(data.get("text"), str):
        return "text"
    dialogues = [key for key, value in data.items() if _is_dialogue(value)]
    if dialogues:
        return dialogues[0] if len(dialogues) == 1 else None
    strings = [key for key, value in data.items() if isinstance(value, str) and key != "id"]
    return strings[0] if len(strings) == 1 else None


def _is_dialogue(value: Any) -> bool:
    """Return whether a value is a list of paragraphs, each with a text."""
    return (
        isinstance(value, list)
        and bool(value)
        and all(
            isinstance(paragraph, dict)
            and isinstance(paragraph.get("text"), str)
            and not any(kind in paragraph for kind in SPANS)
            for paragraph in value
        )
    )


class Work(msgspec.Struct):
    """The work of an annotator or model on a task."""

    result: list[dict[str, Any]]
    completed_by: Any = None
    model_version: Any = None
    was_cancelled: Any = None


Side = tuple[Owner, Sequence[Mapping[str, Any]] | None]
"""A layer and its results; None: cancelled."""


def _sides(row: Mapping[str, Any], complain: Complain) -> Iterator[Side]:
    """Yield the results of every annotation and prediction of a task."""
    for key, default_name in WHOSE.items():
        for work in typed_list(row, key, list[Work], complain, EXPORT):
            name = _who(work.model_version if key == MODELS else work.completed_by) or default_name
            yield (key == MODELS, name), None if work.was_cancelled is True else work.result


def _least(data: Mapping[str, Any], row: Mapping[str, Any], used: set[str], complain: Complain) -> Iterator[Side]:
    """Yield the results of JSON-MIN, which stand among the data in a list under the name of the control.

    Several controls of a project are one layer, unless only some of them are called like predictions.
    """
    results: list[Any] = []
    controls: list[str] = []
    for key, value in data.items():
        if (
            key not in used
            and isinstance(value, list)
            and value
            and all(isinstance(result, dict) and "start" in result for result in value)
            and (any(kind in result for result in value for kind in SPANS) or types_of_value(value) is None)
        ):
            used.add(key)
            controls.append(key)
            results += [
                {"type": next((kind for kind in SPANS if kind in result), ""), "value": result} for result in value
            ]
    if len({is_named_like_prediction(key) for key in controls}) > 1:
        finding = f"{len(controls)} keys hold annotations: {', '.join(map(quoted, controls))}"
        complain(finding, "leave gold or the prediction out of the file")
    yield (False, _who(row.get("annotator")) or "annotations"), results


def _who(value: Any) -> str | None:
    """Return the name of an annotator or model: an address, a number, or an object with these."""
    if isinstance(value, dict):
        value = next((value[key] for key in ("email", "username", "id") if value.get(key)), None)
    return id_string(value)


def _span(result: Mapping[str, Any], builder: Builder, task: Task, begins: Sequence[int]) -> None:
    value = result.get("value")
    value = value if isinstance(value, dict) else {}
    labels = next((value[key] for key in SPANS if isinstance(value.get(key), list)), None)
    place = _place(value, begins)
    if place is None or not labels or not all(isinstance(entry, str) for entry in labels):
        builder.problems.append(Problem(task.file_name, task.line, "a result without start, end and labels", EXPORT))
        return
    quote = value.get("text")
    # A browser's selection over several paragraphs may contain the names of speakers.
    tested = isinstance(quote, str) and (PARAGRAPHS not in value or str(value.get("start")) == str(value.get("end")))
    for label in labels:
        builder.span(
            *place,
            label,
            quote=quote if tested else None,
            id=id_string(result.get("id")) if len(labels) == 1 else None,
            score=score_number(result.get("score")),
            meta=result["meta"] if isinstance(result.get("meta"), dict) else None,
        )


def _place(value: Mapping[str, Any], begins: Sequence[int]) -> tuple[int, int] | None:
    """Return start and end of a result, None where it has none; `begins` are those of the paragraphs of a dialogue."""
    if PARAGRAPHS in value:
        sides = [_within(value, *keys, begins) for keys in (("start", "startOffset"), ("end", "endOffset"))]
    else:
        place = value["globalOffsets"] if isinstance(value.get("globalOffsets"), dict) else value
        sides = [_integer(place.get(key)) for key in ("start", "end")]
    start, end = sides
    return None if start is None or end is None else (start, end)


def _within(value: Mapping[str, Any], paragraph: str, offset: str, begins: Sequence[int]) -> int | None:
    """Return an offset in a paragraph as one in the text, None where there is no such paragraph or place in it."""
    at, inside = _integer(value.get(paragraph)), _integer(value.get(offset))
    if at is None or inside is None or not 0 <= at < len(begins) - 1:
        return None
    # Behind each but the last is a line end.
    return begins[at] + inside if 0 <= inside < begins[at + 1] - begins[at] else None


def _integer(value: Any) -> int | None:
    """Return an offset, which the documentation has as a string of digits too."""
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 13:
        return int(value)
    return value if type(value) is int else None
