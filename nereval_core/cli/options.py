"""From options to what they mean: criteria and settings, how files are read and paired, and the corpus itself."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TypedDict

from nereval_core.api.load import Loaded, LoadOptions, check_criteria, choose_criteria, load_corpus
from nereval_core.cli.files import TWO_OF_ONE, Paths, alone, beside_gold, gold_of, named_systems, overwrites
from nereval_core.cli.output import (
    STDOUT,
    listed,
    progress_bar,
    say,
    say_read,
    say_unlike,
)
from nereval_core.pairing import Pairing
from nereval_core.pairing.document_lists import DocumentIds, document_ids
from nereval_core.pairing.type_names import TypeNames, read_types
from nereval_core.problems import SHOWN, FormatError, Problem, quoted
from nereval_core.readers import Source
from nereval_core.readers.input.source import STANDARD
from nereval_core.readers.shared.label_list import LabelList, label_list
from nereval_core.readers.shared.offset_units import Offsets, offsets_of
from nereval_core.readers.shared.table_columns import chosen_columns
from nereval_core.scoring import Settings
from nereval_core.scoring.criteria import (
    CRITERIA,
    SCHEMAS,
    Annotated,
    Criterion,
    criteria_from_toml,
    criterion_from_parts,
    parse_merge,
)

SELECTING = ("documents", "types", "gold_types", "pred_types")
"""Options that name files which say what is scored."""

SHARED = "shared"
"""What `--documents` says for those that gold and all predictions have."""

ALL = "all"


def misplaced(options: argparse.Namespace, targets: Mapping[str, str]) -> str | None:
    """Return what is wrong with the files given: no prediction, two outputs in one place, one over an input."""
    if not beside_gold(options.files) and not alone(options) and None in (options.gold_column, options.pred_column):
        return f"name a prediction after gold, {TWO_OF_ONE}"
    if [file for file in options.files if file == STANDARD or file.endswith(f"={STANDARD}")][1:]:
        return "standard input is given twice, name a file for all but one"
    places = [place if place == STDOUT else os.path.realpath(place) for place in targets.values()]
    twice = next((place for place in targets.values() if list(targets.values()).count(place) > 1), None)
    if twice or len(set(places)) < len(places):
        return f"two outputs go to {quoted(twice or places[0])}, give each its own FILE"
    given = [*options.files]
    given += [item for item in listed([options.criteria or ""]) if item.endswith(".toml")]
    given += [path for key in SELECTING if (path := getattr(options, key, None)) is not None]
    # The tables and lists that published scorers take.
    settings = (value for key, value in vars(options).items() if key.startswith("convention_"))
    with suppress(OSError):
        given += [value for value in settings if isinstance(value, str) and Path(value).is_file()]
    for form, place in targets.items():
        if place != STDOUT and overwrites(place, given):
            return f"--{form} {quoted(place)} would overwrite an input"
    return None


def settings_of(options: argparse.Namespace) -> Settings:
    """Return what is to be scored, or all that is wrong with it at once."""
    problems: list[Problem] = []
    composed: list[Criterion] = []
    chosen: list[str | Criterion] = []
    merge: dict[str, str] = {}
    named = SCHEMAS if options.criteria is None else listed([options.criteria])
    for item in named:
        try:
            if item == ALL:
                # Which of them apply is known when gold is read: see `fitting`.
                chosen += CRITERIA
            elif item.endswith(".toml"):
                composed += criteria_from_toml(Source.of_path(item).files[0].text(), item)
                chosen += composed
            else:
                chosen.append(item)
        except FormatError as error:
            problems += error.problems
    for item in options.criterion:
        try:
            composed.append(_composed(item))
        except FormatError as error:
            problems += error.problems
    try:
        merge = parse_merge(options.merge)
    except FormatError as error:
        problems += error.problems
    criteria: tuple[Criterion, ...] = ()
    try:
        if chosen or composed or not problems:
            criteria = choose_criteria([*chosen, *composed], composed=composed, source="--criteria")
    except FormatError as error:
        problems += error.problems
    if problems:
        raise FormatError(problems)
    leave_out = tuple(sorted(set(listed(options.leave_out))))
    return Settings(criteria, tuple(sorted(merge.items())), leave_out, options.counting)


def fitting(criteria: Iterable[Criterion], options: argparse.Namespace, gold: Annotated) -> tuple[Criterion, ...]:
    """Return the criteria that gold has what they need for; those that only `all` names are skipped, and that is said.

    Raises:
        FormatError: one that is named itself needs what no gold span has.
    """
    named = listed([options.criteria or ""])
    free = {criterion for name, criterion in CRITERIA.items() if ALL in named and name not in named}
    check_criteria((criterion for criterion in criteria if criterion not in free), gold, source="--criteria")
    kept = tuple(criterion for criterion in criteria if criterion.lacks(gold) is None)
    for criterion in criteria:
        if criterion not in kept:
            say(f"--criteria all: {criterion.name} skipped, it needs {criterion.lacks(gold)}")
    bare = len(gold) - len(gold.cores)
    if bare and any(criterion.boundaries == "core" for criterion in kept):
        say(f"core: {bare} of {len(gold)} gold spans have no core, each counts as its own")
    return kept


def _composed(text: str) -> Criterion:
    """Read a criterion written `NAME: key=value, key=value`.

    Raises:
        FormatError: another form, or a part that is unknown or out of range.
    """
    name, colon, rest = text.partition(":")
    parts: dict[str, str] = {}
    for item in rest.split(",") if rest.strip() else ():
        key, equals, value = item.partition("=")
        if not equals or key.strip() in parts or key.strip() in ("merge", "leave_out"):
            colon = ""
        parts[key.strip()] = value.strip()
    if not colon:
        remedy = 'write "NAME: boundaries=overlap, types=any, otherwise=PAR"; merge and leave_out go in a .toml file'
        raise FormatError.single("--criterion", None, f"{quoted(text)} is no criterion", remedy)
    return criterion_from_parts(name.strip(), parts, "--criterion")


def loaded_corpus(options: argparse.Namespace, systems: Mapping[str, Paths] | None = None) -> Loaded:
    """Read gold and the systems, by default all that are named, and say what was read unless told to be quiet."""
    loaded = load_corpus(
        gold_of(options),
        named_systems(options) if systems is None else systems,
        options=load_options(options),
        progress=lambda name: progress_bar(name, "read"),
    )
    if not options.quiet:
        for reading in (loaded.gold, *loaded.systems.values()):
            say_read(reading)
        for lost in loaded.lost.values():
            for problem in lost[:SHOWN]:
                say(str(problem))
            if len(lost) > SHOWN:
                say(f"{lost[0].source}: {len(lost)} spans lost in all; the first {SHOWN} are shown")
    say_unlike(loaded)
    return loaded


def load_options(options: argparse.Namespace) -> LoadOptions:
    def first(*values: int | str | None) -> int | str | None:
        return next((value for value in values if value is not None), None)

    said = said_of_files(options)
    if shared := options.documents == SHARED and not Path(SHARED).is_file():
        said["documents"] = None
    return LoadOptions(
        gold_format=options.gold_format or options.format,
        pred_format=options.pred_format or options.format,
        gold_column=first(options.gold_column, options.column),
        pred_column=first(options.pred_column, options.column),
        scheme=options.scheme,
        repair=options.repair,
        core_type=options.core_type,
        **said,
        common=shared,
        **pairing_of(options),
        gold_types=_types(options.gold_types or options.types),
        pred_types=_types(options.pred_types or options.types),
    )


class SaidOfFiles(TypedDict):
    """What options say of the files that are read, whatever verb reads them."""

    offsets: Offsets | None
    columns: Mapping[str, int | str] | None
    labels: LabelList | None
    documents: DocumentIds | None


def said_of_files(options: argparse.Namespace) -> SaidOfFiles:
    """Return what `--offsets`, `--span-columns`, `--labels` and `--documents` say.

    Raises:
        FormatError: one says what cannot be.
    """
    return {
        "offsets": None if options.offsets is None else offsets_of(options.offsets),
        "columns": None if options.span_columns is None else chosen_columns(options.span_columns),
        "labels": None if options.labels is None else label_list(options.labels),
        "documents": None if options.documents is None else document_ids(options.documents),
    }


def _types(path: str | None) -> TypeNames | None:
    return None if path is None else read_types(path)


def pairing_of(options: argparse.Namespace) -> Pairing:
    """Return how predictions are brought onto gold's documents."""
    return {
        "missing": options.missing,
        "token_text": options.token_text,
        "pair_by": options.pair_by,
        "align_text": options.align_text,
    }
