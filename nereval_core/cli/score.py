"""What the verbs of the command line do. A verb returns what is wrong with its usage, None where it did its work."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from nereval_core import writers
from nereval_core.api import formats as format_table
from nereval_core.api.load import Loaded, read
from nereval_core.cli.files import gold_of, named_systems, overwrites
from nereval_core.cli.options import (
    SHARED,
    fitting,
    load_options,
    loaded_corpus,
    misplaced,
    said_of_files,
    settings_of,
)
from nereval_core.cli.output import (
    STDOUT,
    listed,
    progress_bar,
    put_out,
    say,
    say_read,
    say_unused,
)
from nereval_core.corpus import Layer
from nereval_core.problems import quoted
from nereval_core.report import TABLES
from nereval_core.report.export import RECORD_FORMS, record_form, rendered, screen
from nereval_core.report.score_tables import BY
from nereval_core.scoring import Scores, Settings, score_layers
from nereval_core.scoring.criteria import (
    CRITERIA,
    Criterion,
)

FORMS = (*TABLES, "records", "differences")

ENGINE = ("engine", "scheduler", "workers", "work", "out")
"""Options of scoring shard by shard."""


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
