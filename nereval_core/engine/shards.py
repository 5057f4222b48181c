"""The shards of a corpus: files of JSONL or Parquet in folders, those of gold and of each system paired by name."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from nereval_core.pairing import Missing
from nereval_core.problems import FormatError, Problem, quoted

JSONL = tuple(f"{name}{packed}" for name in (".jsonl", ".ndjson") for packed in ("", ".gz", ".zst", ".zstd"))
SPANS, TEXTS = ".spans.parquet", ".texts.parquet"
SUFFIXES = (*JSONL, SPANS, TEXTS)
"""The endings of shards' files; the name of a shard comes before it."""

ADD = (
    "add it; or, where its documents were read and nothing found in them, count them as predicted empty: "
    "--missing empty"
)


@dataclass(frozen=True, slots=True)
class ShardFiles:
    """The files of one side of a shard: `path` is read, `files` are all that its digest covers."""

    path: str
    files: tuple[str, ...]

    @property
    def format(self) -> str:
        """The format by the ending of the name: a damaged file may look like no format."""
        return "parquet" if self.path.lower().endswith(".parquet") else "jsonl"


@dataclass(frozen=True, slots=True)
class Shard:
    """A shard by its name, with the predictions of each system; None where a system has no file for it."""

    name: str
    gold: ShardFiles
    systems: Mapping[str, ShardFiles | None]


@dataclass(frozen=True, slots=True)
class ShardList:
    """The shards in the order in which one process would read their files, and the number of other files there."""

    shards: tuple[Shard, ...]
    passed_over: Mapping[str, int]


def list_shards(gold: str, systems: Mapping[str, str], *, missing: Missing = "error") -> ShardList:
    """Return the shards of gold with the predictions of each system.

    A single file of gold and a single file of a system are one shard, whatever their names.

    Raises:
        FormatError: no such folder, no shards in it, two files of one shard, a shard that a system lacks (unless
            `missing` is "empty"), a shard that gold lacks.
    """
    problems: list[Problem] = []
    files_by_root: dict[str, dict[str, ShardFiles]] = {}
    passed_over: dict[str, int] = {}
    for root in dict.fromkeys((gold, *systems.values())):
        try:
            files_by_root[root], passed_over[root] = _parts(root)
        except FormatError as error:
            problems += error.problems
    if problems:
        raise FormatError(problems)
    sides: dict[str, dict[str, ShardFiles | None]] = {}
    for system, root in systems.items():
        theirs = files_by_root[root]
        if Path(gold).is_file() and Path(root).is_file():
            theirs = dict(zip(files_by_root[gold], theirs.values(), strict=True))
        sides[system] = {name: theirs.get(name) for name in files_by_root[gold]}
        if missing == "error":
            problems += [
                Problem(root, None, f"no file for the shard {quoted(name)} ({files_by_root[gold][name].path})", ADD)
                for name, part in sides[system].items()
                if part is None
            ]
        problems += [
            Problem(part.path, None, f"the shard {quoted(name)} is not in {gold}", "name it as in gold, or take it out")
            for name, part in theirs.items()
            if name not in files_by_root[gold]
        ]
    if problems:
        raise FormatError(problems)
    shards = (
        Shard(name, part, {system: theirs[name] for system, theirs in sides.items()})
        for name, part in files_by_root[gold].items()
    )
    return ShardList(tuple(shards), {root: count for root, count in passed_over.items() if count})


def _parts(root: str) -> tuple[dict[str, ShardFiles], int]:
    """Return the shards' files below a folder by the name of the shard, and the number of other files."""
    path = Path(root)
    try:
        if path.is_file():
            files = [(path.name, root)]
        elif path.is_dir():
            files = sorted(_walked(root), key=lambda file: PurePosixPath(file[0]).parts)
        else:
            raise FormatError.single(root, None, "no such file or folder", "check the path")
    except OSError as error:
        raise FormatError.single(root, None, f"cannot be read: {error.strerror}", "check the path") from None
    names: dict[str, list[str]] = {}
    others = 0
    for inner, full in files:
        suffix = next((suffix for suffix in SUFFIXES if inner.lower().endswith(suffix)), None)
        if suffix is None:
            others += 1
        else:
            names.setdefault(inner[: -len(suffix)], []).append(full)
    if any(name.endswith(SPANS) for full in names.values() for name in full):
        # As their reader has it.
        names = dict(sorted(names.items()))
    if not names:
        raise FormatError.single(root, None, "no shards in it", f"give files that end in {', '.join(SUFFIXES)}")
    problems = [
        Problem(full[1], None, f"a second file of the shard {quoted(name)} beside {full[0]}", "leave one of them out")
        for name, full in names.items()
        if len(full) > 1 and sorted(map(_ending, full)) != [SPANS, TEXTS]
    ]
    if problems:
        raise FormatError(problems)
    return {name: ShardFiles(min(full, key=_ending), tuple(full)) for name, full in names.items()}, others


def _ending(path: str) -> str:
    return next((suffix for suffix in (SPANS, TEXTS) if path.lower().endswith(suffix)), "")


def _walked(root: str) -> Iterator[tuple[str, str]]:
    """Yield the name inside the folder and the path of each file; hidden files are skipped."""

    def stop(error: OSError) -> None:
        raise error

    for folder, folders, names in os.walk(root, onerror=stop):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            if not name.startswith("."):
                full = os.path.join(folder, name)  # noqa: PTH118
                yield Path(full).relative_to(root).as_posix(), full


def paths(shards: Iterable[Shard]) -> Iterator[str]:
    """Yield every file of the shards."""
    for shard in shards:
        for part in (shard.gold, *shard.systems.values()):
            yield from part.files if part else ()
