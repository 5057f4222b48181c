"""What the verbs of the command line do. A verb returns what is wrong with its usage, None where it did its work."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path
from typing import TypedDict

from nereval_core import writers
from nereval_core.alignment.outcome import Progress
from nereval_core.api import formats as format_table
from nereval_core.api.load import Loaded, LoadOptions, check_criteria, choose_criteria, load_corpus, read
from nereval_core.cli.files import TWO_OF_ONE, Paths, alone, beside_gold, gold_of, named_systems, overwrites
from nereval_core.corpus import Layer
from nereval_core.pairing import Pairing
from nereval_core.pairing.document_lists import DocumentIds, document_ids
from nereval_core.pairing.type_names import TypeNames, read_types
from nereval_core.pairing.type_suggestions import unlike_in_words
from nereval_core.problems import SHOWN, FormatError, Problem, counted, one_line, quoted
from nereval_core.readers import Reading, Source
from nereval_core.readers.input.source import STANDARD
from nereval_core.readers.shared.label_list import LabelList, label_list
from nereval_core.readers.shared.offset_units import Offsets, offsets_of
from nereval_core.readers.shared.table_columns import chosen_columns
from nereval_core.report import TABLES
from nereval_core.report.export import RECORD_FORMS, record_form, rendered, screen
from nereval_core.report.score_tables import BY
from nereval_core.scoring import Scores, Settings, score_layers
from nereval_core.scoring.criteria import (
    CRITERIA,
    SCHEMAS,
    Annotated,
    Criterion,
    criteria_from_toml,
    criterion_from_parts,
    parse_merge,
)

FORMS = (*TABLES, "records", "differences")
ENGINE = ("engine", "scheduler", "workers", "work", "out")
"""Options of scoring shard by shard."""
SELECTING = ("documents", "types", "gold_types", "pred_types")
"""Options that name files which say what is scored."""
SHARED = "shared"
"""What `--documents` says for those that gold and all predictions have."""
STDOUT = "-"
ALL = "all"
PATIENCE = 0.5
"""Seconds before the progress of a system is shown."""


def score(options: argparse.Namespace) -> str | None:
    """Read, score and write: nothing is written before all of it is known."""
    targets = {form: place for form in FORMS if (place := getattr(options, form)) is not None}
    by = listed(options.by)
    wrong = _misused(options, targets, by)
    if wrong:
        return wrong
    if options.engine:
        from nereval_core.cli import score_shards

        score_shards.score(options, targets, by)
        return None
    if options.convention:
        return _score_published(options, targets, by)
    settings = settings_of(options)
    loaded = loaded_corpus(options)
    settings = replace(settings, criteria=fitting(settings.criteria, options, loaded.corpus.gold))
    say_unused(settings, loaded)
    scored = [_scored(loaded, layer, settings) for layer in loaded.corpus.systems]
    gold = loaded.corpus.gold
    contents = {form: rendered(form, gold, scored, by=by, name=place) for form, place in targets.items()}
    put_out(targets, contents)
    if not set(targets) - {"records"}:
        print(screen(scored, by=by), end="")
    return None


def _score_published(options: argparse.Namespace, targets: Mapping[str, str], by: Sequence[str]) -> str | None:
    """Score as a published scorer does."""
    from nereval_core.cli import score_conventions as published

    wrong = published.misused(options)
    if wrong:
        return wrong
    load = load_options(options)
    if load.common:
        return f"--documents {SHARED} does not go with --convention: name the documents"
    sides = published.given_sides(options, gold_of(options), named_systems(options), load.selection)
    outcomes = published.score(options, sides)
    differing = published.compared(outcomes, sides) if options.differences else None
    for name, outcome in () if options.quiet else outcomes:
        for note in outcome.notes:
            say(f"{name}: {note}")
    contents = {
        form: published.rendered(form, outcomes, name=place, by=by, differing=differing)
        for form, place in targets.items()
    }
    put_out(targets, contents)
    if not set(targets) - {"records"}:
        print(published.screen(outcomes, form=options.as_reference, by=by), end="")
    return None


def convert(options: argparse.Namespace) -> str | None:
    """Read one format, or several files as the parts of one layer, and write another."""
    known = writers.writers()
    if options.target_format not in known:
        return f"no writer for the format {quoted(options.target_format)}, choose among {', '.join(known)}"
    if options.shards is not None and options.shards < 1:
        return f"--shards {options.shards}, write one or more"
    if options.output == STDOUT:
        return "a file is written, not standard output: name it OUT"
    if overwrites(options.output, options.input):
        return f"{quoted(options.output)} would overwrite an input, name another place"
    # A pattern of the shell, and OUT forgotten: the last of the files would be it.
    if len(options.input) > 1 and Path(options.output).is_file():
        return f"{quoted(options.output)} would be overwritten, with several files to read name a new one as OUT"
    reading = read(
        options.input[0] if len(options.input) == 1 else options.input,
        format=options.source_format,
        column=options.column,
        scheme=options.scheme,
        repair=options.repair,
        core_type=options.core_type,
        **said_of_files(options),
        types=options.types,
        progress=progress_bar(" + ".join(options.input), "read"),
    )
    notes = writers.write(
        reading.layer,
        options.output,
        format=options.target_format,
        shards=options.shards,
        lossy=options.lossy,
        escape_formulas=options.escape_formulas,
    )
    if not options.quiet:
        say_read(reading)
        for note in notes:
            say(f"{options.output}: {note}")
    return None


def formats(_: argparse.Namespace) -> None:
    """List the formats with what can be done with each."""
    rows = format_table.formats()
    width = max(len(row.name) for row in rows)
    for row in rows:
        able = " and ".join(["read"] * row.reads + ["written"] * row.writes)
        print(f"{row.name:<{width}}  {row.description} ({able})")


def criteria(_: argparse.Namespace) -> None:
    """List the criteria by group, each with its rule and its source."""
    groups: dict[str, list[Criterion]] = {}
    for criterion in CRITERIA.values():
        groups.setdefault(criterion.group, []).append(criterion)
    for group, members in groups.items():
        print(group)
        for criterion in members:
            needs = f"; needs {criterion.needs}" if criterion.needs else ""
            print(f"  {criterion.name:<12}  {criterion.sentence}")
            print(f"{'':16}COR where {criterion.rule()}{needs} [{criterion.source}]")


def put_out(targets: Mapping[str, str], contents: Mapping[str, bytes]) -> None:
    """Write the contents of each form to its place: all of the files or none, then what goes to standard output.

    Raises:
        FormatError: a file cannot be written.
    """
    with ExitStack() as stack:
        # Files take their places only when the last of them is written.
        for form, place in targets.items():
            if place != STDOUT:
                stack.enter_context(writers.whole_file(Path(place))).write(contents[form])
    for form, place in targets.items():
        if place == STDOUT:
            sys.stdout.buffer.write(contents[form])


def _misused(options: argparse.Namespace, targets: Mapping[str, str], by: Sequence[str]) -> str | None:
    """Return what is wrong with options that argparse cannot tell."""
    unknown = [value for value in by if value not in BY]
    if unknown:
        return f"--by {quoted(unknown[0])}, choose among {', '.join(BY)}"
    wrong = misplaced(options, targets)
    if wrong:
        return wrong
    for form in ("as_reference", "differences"):
        if getattr(options, form) is not None and not options.convention:
            return f"--{form.replace('_', '-')}: name the scorer, --convention NAME"
    if any(getattr(options, name) is not None for name in ENGINE):
        from nereval_core.cli import score_shards

        # Records of shards go to a folder.
        targets = {form: place for form, place in targets.items() if form != "records"}
        wrong = score_shards.misused(options)
        if wrong:
            return wrong
    for form in ("records", "differences"):
        place = targets.get(form)
        counted = form == "differences" and place == STDOUT
        if place is not None and not counted and record_form(place) is None:
            return f"--{form} {quoted(place)}, end the name in one of {', '.join(RECORD_FORMS)}"
    return None


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


def say_unlike(loaded: Loaded) -> None:
    """Say which systems share no type with gold: they may call the same things by other names."""
    gold = loaded.corpus.gold
    for system in loaded.corpus.systems:
        if found := unlike_in_words(gold, system):
            say(f"{system.name}: {found}")


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


def _scored(loaded: Loaded, layer: Layer, settings: Settings) -> tuple[Layer, Scores]:
    scores = score_layers(
        loaded.corpus.gold,
        layer,
        settings,
        marks=loaded.marks[layer.name],
        progress=progress_bar(layer.name, "scored"),
    )
    if scores.greedy:
        names = ", ".join(scores.greedy)
        say(f"{layer.name}: clusters too large to be aligned exactly were aligned greedily, in: {names}")
    return layer, scores


def progress_bar(name: str, done_word: str) -> Progress | None:
    """Return what draws a bar on standard error if that is a terminal and the work takes long."""
    if not sys.stderr.isatty():
        return None
    began = time.monotonic()
    shown = -1
    shortened = one_line(name)[-40:]

    def show(done: int, total: int) -> None:
        nonlocal shown
        percent = 100 * done // total if total else 100
        if percent == shown or time.monotonic() - began < PATIENCE:
            return
        shown = percent
        bar = "#" * (percent // 5)
        end = "\r\x1b[K" if done >= total else ""
        print(f"\r\x1b[K{shortened}: [{bar:<20}] {percent:3d}% {done_word}{end}", end="", file=sys.stderr, flush=True)

    return show


def say(text: str) -> None:
    # What is said goes beside the work: it does not fail with a full disk.
    with suppress(OSError):
        print(one_line(text), file=sys.stderr)


def how_much(documents: int, spans: int, types: int) -> str:
    """Return how much was read: `20 documents, 1 span, 1 type`."""
    return ", ".join((counted(documents, "document"), counted(spans, "span"), counted(types, "type")))


def say_read(reading: Reading) -> None:
    form = f"{reading.format}, {reading.scheme}" if reading.scheme else reading.format
    counts = how_much(len(reading.documents), len(reading.layer), len(reading.layer.types))
    say(f"{reading.source}: {'; '.join((form, counts, *reading.notes))}")


def say_unused(settings: Settings, loaded: Loaded) -> None:
    """Say which types to be merged or left out no span has: a slip of the pen would else go unseen."""
    say_unused_types(settings, {kind for layer in (loaded.corpus.gold, *loaded.corpus.systems) for kind in layer.types})


def say_unused_types(settings: Settings, types: Collection[str]) -> None:
    """As `say_unused`, of the types that some span has."""
    merged = dict(settings.merge)
    for option, names in (
        ("--merge", sorted(set(merged).difference(types))),
        ("--leave-out", sorted(set(settings.leave_out).difference(types, merged.values()))),
    ):
        if names:
            say(f"{option}: no span has the type {', '.join(map(quoted, names))}")


def listed(values: Iterable[str]) -> list[str]:
    return [item.strip() for value in values for item in value.split(",") if item.strip()]
