"""Files on the command line: the layers of `GOLD PRED`, `NAME=PATH` and parts with one NAME, and their names."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from nereval_core.api.load import Loaded, load_corpus
from nereval_core.api.scoring import Listener, tell_lost, tell_notices, tell_read
from nereval_core.cli.options import STDOUT, UsageError, load_options
from nereval_core.options import comma_separated
from nereval_core.problems import FormatError, Problem, one_line, quoted
from nereval_core.readers.input.paths import COMPANIONS, LAYER_MARK, STDIN_PATH, label_of, split_layer
from nereval_core.readers.input.source import Source
from nereval_core.readers.shared.strict_json import json_fault
from nereval_core.report import METHODS_FORMS

Paths = str | tuple[str, ...]
"""A path, or those of the parts of one layer."""

TWO_OF_ONE = "two layers of one file: FILE#ONE FILE#OTHER, or both of its columns: --gold-column N --pred-column M"
"""The remedy where one file has both sides."""

INPUTS = ("documents", "types", "gold_types", "pred_types", "relaxed", "training", "columns", "against")
"""Options that name input files other than layers."""


def gold_path(options: argparse.Namespace) -> Paths:
    """Return the path of gold: the first file, or all files that have its name, NAME=PATH.

    Raises:
        FormatError: as `paths_by_name`.
    """
    files = options.files
    name, path = _split_name(files[0])
    if name is None:
        return path
    paths = tuple(_split_name(file)[1] for file in files if _split_name(file)[0] == name)
    return paths if len(paths) > 1 else path


def gold_name(options: argparse.Namespace) -> str:
    """Return the name of gold: that of NAME=PATH, else that of its file or folder."""
    name, path = _split_name(options.files[0])
    return possible_names(path)[0] if name is None else name


def system_paths(options: argparse.Namespace) -> dict[str, Paths]:
    """Return the predictions by the name of their system.

    Raises:
        FormatError: as `paths_by_name`.
    """
    rest = prediction_files(options.files)
    if rest or _asks_for_no_prediction(options):
        return paths_by_name(rest)
    # Gold and prediction are columns of the same files.
    gold = gold_path(options)
    return {possible_names(gold)[0]: gold} if isinstance(gold, str) else {gold_name(options): gold}


def prediction_files(files: Sequence[str]) -> list[str]:
    """Return the files that are not part of gold."""
    name = _split_name(files[0])[0]
    return [file for file in files[1:] if name is None or _split_name(file)[0] != name]


def paths_by_name(files: Sequence[str]) -> dict[str, Paths]:
    """Return paths by name: the one given as NAME=PATH, else that of the file or folder.

    Several files given by one NAME are the parts of one layer.

    Raises:
        FormatError: two systems with one name, one of them not given as NAME=PATH, or an empty name.
    """
    parts: dict[str, list[str]] = {}
    named_paths: list[tuple[str | None, str]] = []
    for name, path in map(_split_name, files):
        if name is None or name not in parts:
            named_paths.append((name, path))
        if name is not None:
            parts.setdefault(name, []).append(path)
    names: list[str] = [name or "" for name, _ in named_paths]
    candidates = [possible_names(path) for _, path in named_paths]
    free = [i for i, (name, _) in enumerate(named_paths) if name is None]
    for i in free:
        names[i] = candidates[i][0]
    for level in range(1, max((len(candidates[i]) for i in free), default=0)):
        clashing = [i for i in free if names.count(names[i]) > 1]
        for i in clashing:
            names[i] = candidates[i][min(level, len(candidates[i]) - 1)]
    if len(set(names)) < len(names):
        raise FormatError(
            Problem(
                path,
                None,
                f"a second system is called {quoted(own or short)}",
                "name each differently: NAME=PATH",
            )
            for i, ((own, path), (short, *_)) in enumerate(zip(named_paths, candidates, strict=True))
            if names[i] in names[:i]
        )
    return {
        name: path if own is None or len(parts[own]) == 1 else tuple(parts[own])
        for name, (own, path) in zip(names, named_paths, strict=True)
    }


def split_runs(files: Sequence[str]) -> tuple[list[str], dict[str, tuple[str, ...]]]:
    """Return files with each run of NAME=RUN,RUN,... as NAME-1=RUN and so on, and the runs' names by system.

    A path that exists is never cut at its commas.

    Raises:
        FormatError: runs without a NAME, a run twice, or another file with the name of the system or of a run.
    """
    names_of_files = [_split_name(file)[0] for file in files]
    split_files, runs = list(files[:1]), {}
    for name, file in zip(names_of_files[1:], files[1:], strict=True):
        path = file if name is None else file.partition("=")[2]
        each = [] if _exists(path) or split_layer(path) is not None else comma_separated(path)
        if len(each) < 2 or (name is not None and name == names_of_files[0]):
            split_files.append(file)
            continue
        names = tuple(f"{name}-{number}" for number in range(1, len(each) + 1))
        problems = {
            "several runs without the name of their system": name is None,
            "a run twice": len(set(each)) < len(each),
            "another file has the name of the system or of a run": names_of_files.count(name) > 1
            or set(names) & set(names_of_files),
        }
        if problem := next((words for words, applies in problems.items() if applies), None):
            raise FormatError.single(file, None, problem, "name each system once, and each run once: NAME=RUN,RUN")
        assert name is not None
        runs[name] = names
        split_files += [f"{run}={path_of_run}" for run, path_of_run in zip(names, each, strict=True)]
    return split_files, runs


def _split_name(file: str) -> tuple[str | None, str]:
    name, equals, path = file.partition("=")
    if not equals or _exists(file) or split_layer(file) is not None:
        return None, file
    if not name.strip() or not path:
        raise FormatError.single(file, None, "a system without a name or a path", "write NAME=PATH")
    return one_line(name.strip()), path


def _exists(path: str) -> bool:
    # Several paths with commas between are longer than a name can be.
    with suppress(OSError):
        return Path(path).exists()
    return False


def possible_names(path: str) -> list[str]:
    """Return the names a system may have, from short to long: `run`, `team/run`, `team/run.jsonl`, `2022/team/...`."""
    if path == STDIN_PATH:
        return ["stdin"]
    layered = split_layer(path)
    if layered is not None:
        place, layer = layered[0], one_line(layered[1])
        return [layer, *(f"{name}{LAYER_MARK}{layer}" for name in possible_names(place))]
    # A folder has its whole name, and so has a path that does not exist, which reading will refuse.
    full = Path(os.path.normpath(Path(path).absolute()))
    stem = label_of(full.name) if full.is_file() else full.name
    parents = [parent for parent in full.parent.parts if parent != full.anchor]
    names = [stem, "/".join((*parents[-1:], stem))]
    names += ["/".join((*parents[-depth:], full.name)) for depth in range(1, len(parents) + 1)]
    # A name from the file system may hold bytes that are not text.
    return [one_line(name) for name in names]


def _asks_for_no_prediction(options: argparse.Namespace) -> bool:
    """Tell whether a verb that needs no prediction is given none."""
    return getattr(options, "alone", False) and None in (options.gold_column, options.pred_column)


def load_layers(
    options: argparse.Namespace,
    listener: Listener,
    gold: Paths | None = None,
    systems: Mapping[str, Paths] | None = None,
    *,
    reference: str | None = None,
) -> Loaded:
    """Read gold and the systems, by default all that are named, and tell what was read.

    Notices on systems call gold by the name `reference`; there are none where it is None, as scoring gives them.

    Raises:
        FormatError: with the problems of all files.
    """
    loaded = load_corpus(
        gold_path(options) if gold is None else gold,
        system_paths(options) if systems is None else systems,
        options=load_options(options),
        progress=lambda name: listener.progress(name, "read"),
    )
    for reading in (loaded.gold, *loaded.systems.values()):
        tell_read(reading, listener)
    tell_lost(loaded, listener)
    if reference is not None:
        tell_notices(loaded.corpus.gold, loaded.named_layers(), listener, reference=reference)
    return loaded


def check_places(options: argparse.Namespace, targets: Mapping[str, str]) -> None:
    """Refuse a missing prediction, two outputs in one place, an output over an input, and methods in no known form.

    `targets` are the places of outputs by option.

    Raises:
        UsageError: one of them.
    """
    lone = not prediction_files(options.files) and not _asks_for_no_prediction(options)
    if lone and None in (options.gold_column, options.pred_column):
        raise UsageError(f"name a prediction after gold, {TWO_OF_ONE}")
    inputs = [*options.files, *getattr(options, "system", ())]
    inputs += [path for key in INPUTS if (path := getattr(options, key, None)) is not None]
    if [file for file in inputs if file == STDIN_PATH or file.endswith(f"={STDIN_PATH}")][1:]:
        raise UsageError("standard input is named twice, name files for all inputs but one")
    paragraph = targets.get("methods", STDOUT)
    if paragraph != STDOUT and not paragraph.lower().endswith(METHODS_FORMS):
        raise UsageError(f"--methods {quoted(paragraph)}, end the name in one of {', '.join(METHODS_FORMS)}")
    places = [place if place == STDOUT else os.path.realpath(place) for place in targets.values()]
    twice = next((place for place in targets.values() if list(targets.values()).count(place) > 1), None)
    if twice or len(set(places)) < len(places):
        raise UsageError(f"two outputs have the place {quoted(twice or places[0])}, give each its own FILE")
    inputs += [item for item in comma_separated(options.criteria or "") if item.endswith(".toml")]
    # Options of published scorers may name tables and lists.
    settings = (value for key, value in vars(options).items() if key.startswith("convention_"))
    with suppress(OSError):
        inputs += [value for value in settings if isinstance(value, str) and Path(value).is_file()]
    for form, place in targets.items():
        if place != STDOUT and overwrites(place, inputs):
            raise UsageError(f"--{form} {quoted(place)} would overwrite an input")


def overwrites(place: str, files: Iterable[str]) -> bool:
    """Tell whether writing a place would overwrite an input given as PATH, NAME=PATH or PATH#LAYER.

    The place overwrites an input if it is that path, a file in that folder, or one of its companions, such as the texts
    of Parquet spans. Links are followed.
    """
    inputs = {other for path in real_paths(files) for other in (path, *_companions(path))}
    return any(
        target in inputs or (Path(target).is_file() and not inputs.isdisjoint(map(str, Path(target).parents)))
        for target in (os.path.realpath(place), *_companions(os.path.realpath(place)))
    )


def real_paths(inputs: Iterable[str]) -> set[str]:
    """Return the paths of inputs given as PATH, NAME=PATH or PATH#LAYER, links followed."""
    paths = {path for file in inputs for path in (file, file.partition("=")[2]) if path}
    cut = filter(None, map(split_layer, paths))
    return {os.path.realpath(path) for path in (*paths, *(path for path, _ in cut))}


def read_json(path: str, remedy: str) -> Any:
    """Return the object of a JSON file.

    Raises:
        FormatError: there is no file, or it is not JSON.
    """
    try:
        return json.loads(Source.of_path(path).files[0].text())
    except json.JSONDecodeError as error:
        raise FormatError.single(path, error.lineno, f"not JSON: {json_fault(error.msg)}", remedy) from None
    except RecursionError:
        raise FormatError.single(path, None, "JSON nested too deeply", remedy) from None


def _companions(path: str) -> list[str]:
    return [path.removesuffix(ending) + other for ending, other in COMPANIONS.items() if path.endswith(ending)]
