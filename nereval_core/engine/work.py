"""The work on one shard, in any process: look up its counts, or read, score and store them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from nereval_core import __version__, readers
from nereval_core.corpus import Documents, Layer, layer
from nereval_core.engine.record_columns import is_whole, write_gold, write_system
from nereval_core.engine.record_files import Recorder, damage_of_records, records_path
from nereval_core.engine.shard_counts import CountsStore, FolderError, file_digest, key_of, settings_digest
from nereval_core.engine.shards import Shard, ShardFiles
from nereval_core.engine.tally import Tally, add_convention_counts, empty_tally, tally_scores
from nereval_core.pairing import Pairing, missing_mark, pair
from nereval_core.problems import FormatError, Problem
from nereval_core.readers import Reading, ReadOptions, SourceFile
from nereval_core.readers.input.origins import OnDisk
from nereval_core.scoring import Scores, Settings, score_layers


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """The settings of the work on all shards: scoring, pairing, the folder of entries, and that of records.

    `columns` is the folder that pages will open: see `nereval_core.engine.record_columns`. `convention` is a published
    scorer to count by, with all of its `options`.
    """

    settings: Settings
    work: str
    records: str | None = None
    columns: str | None = None
    pairing: Pairing = field(default_factory=Pairing)
    version: str = __version__
    convention: str = ""
    options: tuple[tuple[str, Any], ...] = ()

    @property
    def digest(self) -> str:
        """The digest of everything that a shard's counts depend on besides its files."""
        reading = self.reading
        if self.convention:
            reading |= {"convention": self.convention, "options": repr(self.options)}
        return settings_digest(self.settings, **reading)

    @property
    def reading(self) -> dict[str, str]:
        """The options of pairing: `missing`, `token_text` and those that differ from the default."""
        always = {"missing": "error", "token_text": "own"}
        defaults = {"pair_by": "auto", "align_text": False, "truncated": "error"}
        return always | {key: str(value) for key, value in self.pairing.items() if defaults.get(key) != value}


@dataclass(frozen=True, slots=True)
class CountedShard:
    """The counts of a shard under one system: the key of the entry, its tally, and whether it existed before."""

    key: str
    tally: Tally
    stored: bool


@dataclass(frozen=True, slots=True)
class ShardResult:
    """The result of a shard: counts by system and problems. `files` maps its files to their SHA-256."""

    shard: str
    systems: Mapping[str, CountedShard] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)


def score_shard(shard: Shard, job: Job) -> ShardResult:
    """Return the counts of a shard under every system, from the entries where these exist and are whole.

    Problems of the shard are in the result, beside the systems that could be scored.

    Raises:
        FolderError: the counts cannot be stored.
    """
    if job.version != __version__:
        finding = f"the worker runs nereval {__version__}, the job was sent by {job.version}"
        return ShardResult(
            shard.name, problems=(Problem("--scheduler", None, finding, "install one version on all machines"),)
        )
    try:
        return _scored(shard, job)
    except FolderError:
        raise
    except FormatError as error:
        return ShardResult(shard.name, problems=error.problems)
    except OSError as error:
        place = str(error.filename or shard.gold.path)
        finding = f"cannot be used: {error.strerror or error}"
        return ShardResult(shard.name, problems=(Problem(place, None, finding, "check path and disk"),))


def _scored(shard: Shard, job: Job) -> ShardResult:
    store = CountsStore(job.work)
    before = _stamps(shard)
    files = {path: file_digest(path) for part in _parts(shard) for path in part.files}
    sides, bare = _sides(shard, job)
    settings = job.digest
    gold = [files[path] for path in shard.gold.files]
    keys = {
        system: key_of(settings, gold, [] if part is None else [files[path] for path in part.files])
        for system, part in sides.items()
    }
    ours = gold_key(settings, gold)
    counted: dict[str, CountedShard] = {}
    for system, key in keys.items():
        tally = store.get(key)
        if tally is not None and (bare or _recorded(shard, job, system, key)) and _in_columns(job, ours, key):
            counted[system] = CountedShard(key, tally, True)
        elif bare:
            tally, columns = empty_tally(job.settings)
            nothing = _empty("gold", Documents((), ()))
            none = _empty(system, nothing.documents)
            _write_columns(job, ours, key, nothing, none, score_layers(nothing, none, job.settings))
            store.put(key, tally, columns)
            counted[system] = CountedShard(key, tally, False)
    missing = {system: part for system, part in sides.items() if system not in counted}
    if not missing:
        return ShardResult(shard.name, counted, (), files)
    problems: list[Problem] = []
    try:
        read = _read(shard.gold, ReadOptions(name="gold"))
    except FormatError as error:
        problems += error.problems
        read = None
    layers: dict[str, tuple[Layer, tuple[str, ...]]] = {}
    for system, part in missing.items():
        try:
            if part is not None:
                options = ReadOptions(name=system)
                if read is not None:
                    options = replace(options, texts=read.documents, gold_types=read.layer.types)
                theirs = _read(part, options)
                if read is not None:
                    paired = pair(read, theirs, **job.pairing)
                    layers[system] = paired.layer.renamed(system), paired.marks
            elif read is not None:
                layers[system] = _empty(system, read.documents), (missing_mark(len(read.documents)),)
        except FormatError as error:
            # Without gold's texts only what has a place is known to be wrong.
            problems += (problem for problem in error.problems if read is not None or problem.line is not None)
    if _stamps(shard) != before:
        finding = "changed while it was read"
        raise FormatError.single(shard.gold.path, None, finding, "score it again when it is written")
    if read is None:
        return ShardResult(shard.name, counted, tuple(dict.fromkeys(problems)), files)
    for system, (pred, marks) in layers.items():
        scores = score_layers(read.layer, pred, job.settings, marks=marks)
        tally, columns = tally_scores(read.layer, pred, scores)
        if job.convention:
            try:
                tally, columns = add_convention_counts(
                    tally, columns, read.layer, pred, job.convention, dict(job.options)
                )
            except FormatError as error:
                problems += error.problems
                continue
        if job.records is not None:
            recorder = Recorder(scores)
            for criterion in job.settings.criteria:
                place = records_path(job.records, system, criterion.name, shard.name)
                recorder.write(criterion.name, place, key=keys[system])
        _write_columns(job, ours, keys[system], read.layer, pred, scores)
        store.put(keys[system], tally, columns)
        counted[system] = CountedShard(keys[system], tally, False)
    return ShardResult(shard.name, counted, tuple(dict.fromkeys(problems)), files)


def gold_key(settings: str, gold: Sequence[str]) -> str:
    """Return the key of the columns of gold, which differs from that of any system."""
    return key_of(settings, gold, ["gold"])


def _in_columns(job: Job, gold: str, system: str) -> bool:
    return job.columns is None or (is_whole(job.columns, gold) and is_whole(job.columns, system))


def _write_columns(job: Job, gold_name: str, name: str, gold: Layer, pred: Layer, scores: Scores) -> None:
    if job.columns is not None:
        if not is_whole(job.columns, gold_name):
            write_gold(job.columns, gold_name, gold)
        write_system(job.columns, name, gold, pred, scores)


def _read(part: ShardFiles, options: ReadOptions) -> Reading:
    return readers.read(part.path, format=part.format, options=options)


def _sides(shard: Shard, job: Job) -> tuple[dict[str, ShardFiles | None], bool]:
    """Return the predictions to be read, and whether all files are empty: some programs write such shards."""
    empty = {system for system, part in shard.systems.items() if part is None or _is_empty(part)}
    bare = len(empty) == len(shard.systems) and _is_empty(shard.gold)
    passed = empty if bare or job.reading["missing"] == "empty" else set()
    return {system: None if system in passed else part for system, part in shard.systems.items()}, bare


def _is_empty(part: ShardFiles) -> bool:
    for path in part.files:
        with SourceFile(path, path, OnDisk(path, path)).stream() as stream:
            if stream.read(1):
                return False
    return True


def _stamps(shard: Shard) -> list[tuple[int, int]]:
    """Return size and modification time of each file, to detect changes."""
    stats = (Path(path).stat() for part in _parts(shard) for path in part.files)
    return [(stat.st_size, stat.st_mtime_ns) for stat in stats]


def _parts(shard: Shard) -> list[ShardFiles]:
    return [shard.gold, *(part for part in shard.systems.values() if part is not None)]


def _empty(system: str, documents: Documents) -> Layer:
    nothing = np.zeros(0, np.int64)
    return layer(system, documents, nothing, nothing, nothing, [])


def _recorded(shard: Shard, job: Job, system: str, key: str) -> bool:
    """Return whether the records asked for exist, are whole, and were made from the same files."""
    return job.records is None or all(
        not damage_of_records(records_path(job.records, system, criterion.name, shard.name), key)
        for criterion in job.settings.criteria
    )
