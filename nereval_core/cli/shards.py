"""Scoring shard by shard, `--engine`, in this process or on a Dask cluster, merged as if read in one piece."""

from __future__ import annotations

import argparse
import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from types import MappingProxyType
from typing import Any

from nereval_core.api.load_options import ScoringOptions
from nereval_core.api.scoring import applicable_criteria, sizes_in_words, tell_greedy, tell_notices, tell_unused
from nereval_core.cli import published_scorers as published
from nereval_core.cli.files import Paths, gold_path, real_paths, system_paths
from nereval_core.cli.options import UsageError, load_options, parsed
from nereval_core.cli.output import Console, progress_bar, say, scores_result, write_result
from nereval_core.engine import scored_folder
from nereval_core.engine.merged_scores import ScoredShards, merge_scores
from nereval_core.engine.merged_scores import convention_outcomes as convention_outcomes
from nereval_core.engine.run import run_locally, run_on_dask
from nereval_core.engine.shards import ShardList, list_shards
from nereval_core.engine.tally import check_by_shards
from nereval_core.engine.work import Job, ShardResult
from nereval_core.problems import counted, quoted
from nereval_core.readers.input.temporaries import remove_abandoned, resumable_folder
from nereval_core.report.paper_tables import TableStyle
from nereval_core.scoring import Settings
from nereval_core.store import work_folder
from nereval_core.tables import Column

ENGINES = ("dask", "local")
NOT_FOR_SHARDS = (
    *("gold_format", "pred_format", "column", "gold_column", "pred_column", "scheme", "gold_scheme", "pred_scheme"),
    *("repair", "core_type", "offsets", "span_columns", "labels"),
    *("documents", "types", "gold_types", "pred_types"),
    "differences",
)
"""Options of `score` that do not apply to shards."""


def check_usage(options: argparse.Namespace) -> None:
    """Refuse options that do not go with the engine, and folders that cannot be written into.

    Raises:
        UsageError: one of them.
    """
    if options.engine is None:
        superfluous = next(
            (key for key in ("scheduler", "workers", "work", "out") if getattr(options, key) is not None), None
        )
        raise UsageError(f"--{superfluous} is for scoring shard by shard: give --engine {' or '.join(ENGINES)}")
    for key in NOT_FOR_SHARDS:
        if getattr(options, key) is not None:
            raise UsageError(f"--{key.replace('_', '-')} has no use with --engine, leave it out")
    if options.convention:
        for key in ("out", "records"):
            if getattr(options, key) is not None:
                remedy = "leave it out with --convention (--work DIR keeps the counts)"
                raise UsageError(f"--{key} holds what criteria decide: {remedy}")
        published.check_usage(options)
    if any(isinstance(place, tuple) for place in (gold_path(options), *system_paths(options).values())):
        remedy = "put all shards in one folder"
        raise UsageError(f"parts of one layer (a name given twice) have no use with --engine: {remedy}")
    if options.format not in (None, "auto"):
        raise UsageError("--format has no use with --engine: shards are jsonl or parquet, by how their files end")
    if options.engine == "local" and (options.scheduler is not None or options.workers is not None):
        raise UsageError("--scheduler and --workers are for --engine dask")
    if options.scheduler is not None and options.workers is not None:
        raise UsageError("--workers starts processes here, --scheduler uses those of a cluster: give one of them")
    if options.workers is not None and options.workers < 1:
        raise UsageError(f"--workers {options.workers}, give at least 1")
    if options.out is not None and options.records is not None:
        raise UsageError("--records DIR leaves what --out DIR does and the records besides: give one of them")
    target = _target(options)
    if options.scheduler is not None and target is None and options.work is None:
        raise UsageError("--scheduler: name a folder that all workers reach, --work DIR, --out DIR or --records DIR")
    for key, place in (("work", options.work), ("records" if options.records else "out", target)):
        if place is not None and (problem := _folder_problem(place, options.files)):
            raise UsageError(f"--{key} {quoted(place)} {problem}")
    if target is not None and Path(target).is_dir() and any(Path(target).iterdir()) and not _ours(target):
        raise UsageError(f"{quoted(target)} is a folder with other things in it, give a new or empty one")


def score(
    options: argparse.Namespace,
    places: Mapping[str, str],
    by: Sequence[str],
    style: TableStyle | None,
    ratios: Sequence[Column],
) -> None:
    """Score shard by shard, merge, and write: nothing of the result is written before all shards are done.

    Raises:
        FormatError: with the problems of all shards; the counts of the others are stored.
    """
    convention, values = published.convention_and_options(options) if options.convention else (None, {})
    if convention:
        check_by_shards(convention, values)
    scoring = None if convention else parsed(ScoringOptions, options)
    with _merged(options, scoring.settings if scoring else Settings(()), values) as (result, shards, done, job):
        if scoring is None:
            outcomes = convention_outcomes(result, job.convention, MappingProxyType(dict(job.options)))
            if not options.quiet:
                _say_scored(options.files[0], result, done)
            write_result(published.published_result(options, outcomes, by), places)
            return
        result = _applicable(options, scoring, result, done)
        if (target := _target(options)) is not None:
            scored_folder.write(target, result, shards.shards, done, job)
        write_result(scores_result(result.gold, result.systems, by, style, ratios), places)


@contextmanager
def scored_shards(options: argparse.Namespace, scoring: ScoringOptions) -> Iterator[ScoredShards]:
    """Score shard by shard and merge, for verbs that derive more from the counts than scores.

    Raises:
        FormatError: with the problems of all shards; the counts of the others are stored.
    """
    with _merged(options, scoring.settings, {}) as (result, _, done, _):
        yield _applicable(options, scoring, result, done)


def _applicable(
    options: argparse.Namespace, scoring: ScoringOptions, result: ScoredShards, done: Sequence[ShardResult]
) -> ScoredShards:
    """Return the result under the criteria that gold allows, and say the counts of the shards."""
    console, settings = Console(options.quiet), scoring.settings
    result = result.under(applicable_criteria(scoring, settings.criteria, result.gold, console))
    tell_unused(settings, result.types, console)
    if not options.quiet:
        _say_scored(options.files[0], result, done)
    sides = {side.name: side for side, _ in result}
    tell_notices(result.gold, sides, console, settled=settings.settled_types)
    for side, scores in result:
        tell_greedy(side.name, scores.greedy, console)
    return result


@contextmanager
def _merged(
    options: argparse.Namespace, settings: Settings, values: Mapping[str, Any]
) -> Iterator[tuple[ScoredShards, ShardList, list[ShardResult], Job]]:
    gold, systems = _folder(gold_path(options)), {name: _folder(place) for name, place in system_paths(options).items()}
    target = _target(options)
    if options.scheduler is not None:
        # They are opened by other processes, which may run in another folder.
        gold, systems = _absolute(gold), {name: _absolute(path) for name, path in systems.items()}
    shards = list_shards(gold, systems, missing=load_options(options).missing)
    for root, count in () if options.quiet else shards.passed_over.items():
        say(f"{root}: files that are not shards, passed over: {count}")
    work = options.work or (str(Path(target, scored_folder.COUNTS)) if target else None)
    # Nobody asks to keep the counts where no folder is named.
    own = _cache((settings, options.convention, [*values.items()]), gold, systems)
    with own if work is None else nullcontext(work) as place:
        job = Job(
            settings=settings,
            work=_absolute(place),
            records=None if options.records is None else _absolute(str(Path(options.records, scored_folder.RECORDS))),
            columns=None if target is None else _absolute(target),
            pairing=load_options(options).pairing,
            convention=options.convention or "",
            options=tuple(values.items()),
        )
        Path(place).mkdir(parents=True, exist_ok=True)
        done = _run(options, shards, job)
        yield merge_scores(shards.shards, done, job), shards, done, job


def _run(options: argparse.Namespace, shards: ShardList, job: Job) -> list[ShardResult]:
    show = progress_bar(options.files[0], f"of {len(shards.shards)} shards scored")
    run = (
        run_locally(shards.shards, job)
        if options.engine == "local"
        else run_on_dask(shards.shards, job, scheduler=options.scheduler, workers=options.workers or 0)
    )
    done = []
    for shard in run:
        done.append(shard)
        if show:
            show(len(done), len(shards.shards))
    return done


def _say_scored(gold: str, result: ScoredShards, done: Iterable[ShardResult]) -> None:
    rows = [counted for shard in done for counted in shard.systems.values()]
    stored = sum(counted.stored for counted in rows)
    reuse = f"; {stored} of {len(rows)} counts of shards were there already" if stored else ""
    side = result.gold
    counts = sizes_in_words(len(side.documents), len(side), len(side.types))
    say(f"{gold}: {counted(len(rows) // len(result.systems), 'shard')}, {counts}{reuse}")
    for side, _ in result:
        say(f"{side.name}: {counted(len(side), 'span')}, {counted(len(side.types), 'type')}")


def _target(options: argparse.Namespace) -> str | None:
    place: str | None = options.records or options.out
    return place


def _folder_problem(place: str, inputs: Sequence[str]) -> str | None:
    """Return the reason why a folder cannot be written into, None where it can."""
    if Path(place).exists() and not Path(place).is_dir():
        return "is a file, give a folder"
    real = Path(os.path.realpath(place))
    if any(real == Path(path) or Path(path) in real.parents for path in real_paths(inputs)):
        return "lies in an input, give a folder beside it"
    return None


def _ours(place: str) -> bool:
    """Tell whether a folder holds no more than a job leaves, finished or not."""
    remove_abandoned(Path(place))
    entries = {
        scored_folder.MANIFEST,
        scored_folder.RESULTS,
        scored_folder.COUNTS,
        scored_folder.RECORDS,
        *scored_folder.SHOWN,
    }
    return {entry.name for entry in Path(place).iterdir()} <= entries


@contextmanager
def _cache(settings: object, gold: str, systems: Mapping[str, str]) -> Iterator[str]:
    """Yield the folder for the counts of a job that names none: its own, until it is done.

    The folder of an equal job that was killed before it was done is taken over.
    """
    row = [repr(settings), _absolute(gold), *(f"{name}={_absolute(path)}" for name, path in systems.items())]
    job = hashlib.sha256(json.dumps(row).encode()).hexdigest()[:16]
    with resumable_folder(work_folder(), job) as own:
        yield str(own)


def _folder(place: Paths) -> str:
    assert isinstance(place, str), "parts were refused"
    return place


def _absolute(path: str) -> str:
    return str(Path(path).absolute())
