"""Lists of labels for tags that are numbers, counted from 0: reading them, and problems with them."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nereval_core.problems import FormatError, Problem, quoted
from nereval_core.readers.input.origins import OnDisk
from nereval_core.readers.input.source import SourceFile
from nereval_core.readers.shared.strict_json import RefusedError, loads
from nereval_core.readers.shared.tag_schemes import Tags

OPTION = "--labels"
TAGS = ("ner_tags", "ner", "tags", "labels", "ner_tags_fine")
"""Usual names of columns of tags, the surest first."""


@dataclass(frozen=True)
class LabelList:
    """Labels by number, with their source and, where each has its own, their lines."""

    names: tuple[str, ...]
    source: str = "labels"
    lines: tuple[int, ...] = ()

    def __len__(self) -> int:
        return len(self.names)

    def problems(self, used: Collection[int]) -> Iterator[Problem]:
        """Yield a problem for each label that stands twice, and for each used one that is not a tag."""
        first: dict[str, int] = {}
        for number, name in enumerate(self.names):
            if name in first:
                finding = f"the labels {first[name]} and {number} are both {quoted(name)}"
                yield Problem(self.source, self._line(number), finding, "give the list that the tags were made by")
            first.setdefault(name, number)
        for number in sorted(used):
            if Tags.of([self.names[number]]).odd:
                finding = f"label {number}, {quoted(self.names[number])}, is not a tag"
                yield Problem(self.source, self._line(number), finding, "write O, or a letter, '-' and a type")

    def _line(self, number: int) -> int | None:
        return self.lines[number] if self.lines else None


Labels = LabelList | Sequence[str] | str | os.PathLike[str]
"""A list of labels, the same with commas between, or the file in which they stand."""


def label_list(labels: Labels) -> LabelList:
    """Return labels as a list: `O,B-PER,I-PER`, or what stands in a file, one a line or as `labels_of_json` finds them.

    Raises:
        FormatError: neither labels nor a file, or a file that cannot be read or has no labels.
    """
    if isinstance(labels, LabelList):
        return labels
    if not isinstance(labels, (str, os.PathLike)):
        return LabelList(tuple(labels))
    words = os.fspath(labels)
    if _is_file(words):
        return labels_of_file(SourceFile(Path(words).name, words, OnDisk(words, words)), TAGS)
    if "," not in words:
        finding = f"{quoted(words)} is neither a file nor a list with commas"
        raise FormatError.single(OPTION, None, finding, "write O,B-PER,I-PER,… or name a file with one label a line")
    return LabelList(split_labels(words), OPTION)


def split_labels(words: str) -> tuple[str, ...]:
    """Return labels that stand with commas or white space between."""
    return tuple(words.replace(",", " ").split())


def labels_of_file(file: SourceFile, columns: Sequence[str]) -> LabelList:
    """Return the labels of a file: one a line, a JSON list, features of the library, or the `id2label` of a model.

    Raises:
        FormatError: it cannot be read or has no labels, or those of several columns but none of these.
    """
    text = file.text()
    if text.lstrip()[:1] in ("{", "["):
        try:
            names = labels_of_json(loads(text), columns)
        except RefusedError as error:
            raise FormatError.single(file.shown, None, *error.args) from None
        if names is None:
            finding = f"no list of labels for {' or '.join(columns)}"
            raise FormatError.single(file.shown, None, finding, "write one a line, or give the features of the dataset")
        return LabelList(tuple(names), file.shown)
    lines = [(number, line.strip()) for number, line in enumerate(file.lines(), start=1) if line.strip()]
    return LabelList(tuple(name for _, name in lines), file.shown, tuple(number for number, _ in lines))


def labels_of_json(value: Any, columns: Sequence[str]) -> list[str] | None:
    """Return the labels of a column from a description of features, or those of a model; a list is them already."""
    if isinstance(value, list):
        return _in_order(value)
    if not isinstance(value, dict):
        return None
    if isinstance(value.get("id2label"), dict):
        return _in_order(value["id2label"])
    features = value.get("features")
    if isinstance(features, dict):
        lists = [names for column in columns if (names := _names(features.get(column)))]
        return lists[0] if lists else None
    inner = (entry for entry in value.values() if isinstance(entry, dict))
    return next((labels for entry in inner if (labels := labels_of_json(entry, columns))), None)


def _names(feature: Any) -> list[str] | None:
    """Return the names of a class label, wherever it stands in a feature."""
    inner = feature if isinstance(feature, list) else list(feature.values()) if isinstance(feature, dict) else []
    if isinstance(feature, dict) and "names" in feature:
        return _in_order(feature["names"])
    return next((names for entry in inner if (names := _names(entry))), None)


def _in_order(names: Any) -> list[str] | None:
    if isinstance(names, dict) and all(isinstance(key, str) and key.isdecimal() for key in names):
        names = [names[key] for key in sorted(names, key=int)]
    return names if isinstance(names, list) and names and all(isinstance(name, str) for name in names) else None


def _is_file(path: str) -> bool:
    try:
        return Path(path).is_file()
    except (OSError, ValueError):
        return False
