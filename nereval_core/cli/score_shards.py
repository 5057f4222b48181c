"""`score --engine`: shard by shard, in this process or on a Dask cluster, and merged as if read in one piece."""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import MappingProxyType
from typing import Any

from nereval_core.cli import score_conventions as published
from nereval_core.cli.files import Paths, files_of, gold_of, named_systems
from nereval_core.cli.options import fitting, pairing_of, settings_of
from nereval_core.cli.output import how_much, progress_bar, put_out, say, say_unused_types
from nereval_core.engine import scored_folder
from nereval_core.engine.convention_counts import by_shares
from nereval_core.engine.merged_scores import Whole, merged, outcomes
from nereval_core.engine.run import locally, over_dask
from nereval_core.engine.shard_counts import tidied
from nereval_core.engine.shards import Listed, listed
from nereval_core.engine.work import Done, Job
from nereval_core.problems import counted, quoted
from nereval_core.report.export import rendered, screen
from nereval_core.scoring import Settings

ENGINES = ("dask", "local")
WITHOUT_PART = (
    *("gold_format", "pred_format", "column", "gold_column", "pred_column", "scheme", "repair", "core_type", "offsets"),
    *("span_columns", "labels"),
    *("documents", "types", "gold_types", "pred_types"),
    "differences",
)
"""Options of `score` that shards have no use for."""


def misused(options: argparse.Namespace) -> str | None:
    """Return what is wrong with the options of the engine."""
    if options.engine is None:
        given = next(
            (key for key in ("scheduler", "workers", "work", "out") if getattr(options, key) is not None), None
        )
        return f"--{given} is for scoring shard by shard: give --engine {' or '.join(ENGINES)}"
    for key in WITHOUT_PART:
        if getattr(options, key) is not None:
            return f"--{key.replace('_', '-')} has no use with --engine, leave it out"
    if options.convention and (wrong := _misused_published(options)):
        return wrong
    if any(isinstance(place, tuple) for place in (gold_of(options), *named_systems(options).values())):
        return "parts of one layer (a name given twice) have no use with --engine: put all shards in one folder"
    if options.format != "auto":
        return "--format has no use with --engine: shards are jsonl or parquet, by how their files end"
    if options.engine == "local" and (options.scheduler is not None or options.workers is not None):
        return "--scheduler and --workers are for --engine dask"
    if options.scheduler is not None and options.workers is not None:
        return "--workers starts processes here, --scheduler uses those of a cluster: give one of them"
    if options.workers is not None and options.workers < 1:
        return f"--workers {options.workers}, give at least 1"
    if options.out is not None and options.records is not None:
        return "--records DIR leaves what --out DIR does and the records besides: give one of them"
    target = _target(options)
    if options.scheduler is not None and target is None and options.work is None:
        return "--scheduler: name a folder that all workers reach, --work DIR, --out DIR or --records DIR"
    for key, place in (("work", options.work), ("records" if options.records else "out", target)):
        if place is not None and (wrong := _misplaced(place, options.files)):
            return f"--{key} {quoted(place)} {wrong}"
    if target is not None and Path(target).is_dir() and any(Path(target).iterdir()) and not _ours(target):
        return f"{quoted(target)} is a folder with other things in it, give a new or empty one"
    return None


def _misused_published(options: argparse.Namespace) -> str | None:
    """Return what is wrong with options where a published scorer is scored."""
    for key in ("out", "records"):
        if getattr(options, key) is not None:
            return f"--{key} holds what criteria decide: leave it out with --convention (--work DIR keeps the counts)"
    return published.misused(options)


def score(options: argparse.Namespace, targets: Mapping[str, str], by: Sequence[str]) -> None:
    """Score shard by shard, merge, and write: nothing of the result is written before all shards are done.

    Raises:
        FormatError: with the problems of all shards; the counts of the others are stored.
    """
    convention, values = published.chosen(options) if options.convention else (None, {})
    if convention:
        by_shares(convention, values)
    settings = Settings(()) if convention else settings_of(options)
    with _merged(options, settings, values) as (result, found, done, job):
        if convention:
            _put_published(options, result, done, job, targets, by)
        else:
            _put(options, result, found, done, job, targets, by)


@contextmanager
def scored(options: argparse.Namespace, settings: Settings) -> Iterator[Whole]:
    """Score shard by shard and merge, for those who make something else of the counts.

    Raises:
        FormatError: with the problems of all shards; the counts of the others are stored.
    """
    with _merged(options, settings, {}) as (result, _, done, _):
        result = result.under(fitting(settings.criteria, options, result.gold))
        say_unused_types(settings, result.types)
        if not options.quiet:
            _say_scored(options.files[0], result, done)
        yield result


@contextmanager
def _merged(
    options: argparse.Namespace, settings: Settings, values: Mapping[str, Any]
) -> Iterator[tuple[Whole, Listed, list[Done], Job]]:
    gold, systems = _folder(gold_of(options)), {name: _folder(place) for name, place in named_systems(options).items()}
    target = _target(options)
    if options.scheduler is not None:
        # They are opened by other processes, which may run in another folder.
        gold, systems = _absolute(gold), {name: _absolute(path) for name, path in systems.items()}
    found = listed(gold, systems, missing=options.missing)
    for root, count in () if options.quiet else found.passed_over.items():
        say(f"{root}: files that are no shards, passed over: {count}")
    own = None if options.work or target else _cache((settings, options.convention, [*values.items()]), gold, systems)
    work = options.work or own or str(Path(target or "", scored_folder.COUNTS))
    job = Job(
        settings=settings,
        work=_absolute(work),
        records=None if options.records is None else _absolute(str(Path(options.records, scored_folder.RECORDS))),
        columns=None if target is None else _absolute(target),
        pairing=pairing_of(options),
        convention=options.convention or "",
        options=tuple(values.items()),
    )
    tidied(job.work)
    done = _run(options, found, job)
    yield merged(found.shards, done, job), found, done, job
    if own is not None:
        # Nobody asked to keep them, and the work is done.
        shutil.rmtree(own, ignore_errors=True)


def _put(
    options: argparse.Namespace,
    result: Whole,
    found: Listed,
    done: Sequence[Done],
    job: Job,
    targets: Mapping[str, str],
    by: Sequence[str],
) -> None:
    settings, target = job.settings, _target(options)
    result = result.under(fitting(settings.criteria, options, result.gold))
    say_unused_types(settings, result.types)
    if not options.quiet:
        _say_scored(options.files[0], result, done)
    for side, scores in result:
        if scores.greedy:
            names = ", ".join(scores.greedy)
            say(f"{side.name}: clusters too large to be aligned exactly were aligned greedily, in: {names}")
    files = {form: place for form, place in targets.items() if form != "records"}
    contents = {form: rendered(form, result.gold, result.systems, by=by) for form in files}
    if target is not None:
        scored_folder.write(target, result, found.shards, done, job)
    put_out(files, contents)
    if not files:
        print(screen(result.systems, by=by), end="")


def _put_published(
    options: argparse.Namespace,
    result: Whole,
    done: Sequence[Done],
    job: Job,
    targets: Mapping[str, str],
    by: Sequence[str],
) -> None:
    found = outcomes(result, job.convention, MappingProxyType(dict(job.options)))
    if not options.quiet:
        _say_scored(options.files[0], result, done)
        for name, outcome in found:
            for note in outcome.notes:
                say(f"{name}: {note}")
    put_out(targets, {form: published.rendered(form, found, name=place, by=by) for form, place in targets.items()})
    if not targets:
        print(published.screen(found, form=options.as_reference, by=by), end="")


def _run(options: argparse.Namespace, found: Listed, job: Job) -> list[Done]:
    show = progress_bar(options.files[0], f"of {len(found.shards)} shards scored")
    run = (
        locally(found.shards, job)
        if options.engine == "local"
        else over_dask(found.shards, job, scheduler=options.scheduler, workers=options.workers or 0)
    )
    done = []
    for one in run:
        done.append(one)
        if show:
            show(len(done), len(found.shards))
    return done


def _say_scored(gold: str, result: Whole, done: Iterable[Done]) -> None:
    rows = [counted for one in done for counted in one.systems.values()]
    stored = sum(counted.stored for counted in rows)
    kept = f"; {stored} of {len(rows)} counts of shards were there already" if stored else ""
    side = result.gold
    counts = how_much(len(side.documents), len(side), len(side.types))
    say(f"{gold}: {counted(len(rows) // len(result.systems), 'shard')}, {counts}{kept}")
    for side, _ in result:
        say(f"{side.name}: {counted(len(side), 'span')}, {counted(len(side.types), 'type')}")


def _target(options: argparse.Namespace) -> str | None:
    place: str | None = options.records or options.out
    return place


def _misplaced(place: str, given: Sequence[str]) -> str | None:
    """Return what is wrong with a folder to write into."""
    if Path(place).exists() and not Path(place).is_dir():
        return "is a file, give a folder"
    real = Path(os.path.realpath(place))
    if any(real == Path(path) or Path(path) in real.parents for path in files_of(given)):
        return "lies in an input, give a folder beside it"
    return None


def _ours(place: str) -> bool:
    """Tell whether a folder holds no more than a job leaves, finished or not."""
    left = {
        scored_folder.MANIFEST,
        scored_folder.RESULTS,
        scored_folder.COUNTS,
        scored_folder.RECORDS,
        *scored_folder.SHOWN,
    }
    return {one.name for one in Path(place).iterdir()} <= left


def _cache(settings: object, gold: str, systems: Mapping[str, str]) -> str:
    """Return the folder for the counts of a job that names none: its own, until it is done.

    The folder of an equal job that ended before it was done is taken over. The name says which process it belongs to,
    and renaming succeeds for one of several processes.
    """
    home = os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()
    row = [repr(settings), _absolute(gold), *(f"{name}={_absolute(path)}" for name, path in systems.items())]
    root, job = Path(home, "nereval-shards"), hashlib.sha256(json.dumps(row).encode()).hexdigest()[:16]
    prefix = f"{job}.{hashlib.sha256(platform.node().encode()).hexdigest()[:8]}."
    own = root / f"{prefix}{os.getpid()}"
    # The counts are of somebody's corpus: other accounts of the machine have no business there.
    with suppress(OSError):
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        root.chmod(0o700)
    for left in () if own.exists() else sorted(root.glob(f"{prefix}*")):
        if not _runs(left.suffix[1:]):
            with suppress(OSError):
                left.rename(own)
                break
    return str(own)


def _runs(process: str) -> bool:
    """Tell whether a process of this machine runs."""
    try:
        os.kill(int(process), 0)
    except (ProcessLookupError, ValueError, OverflowError):
        return False
    except OSError:
        # Somebody else's.
        return True
    return True


def _folder(place: Paths) -> str:
    assert isinstance(place, str), "parts were refused"
    return place


def _absolute(path: str) -> str:
    return str(Path(path).absolute())
