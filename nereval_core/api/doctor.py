"""Examine all that nereval keeps on this machine: where it is, whether it is whole and private, and how to mend it."""

from __future__ import annotations

import json
import os
import sqlite3
import stat
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from nereval_core.engine.record_columns import column_file, map_shard
from nereval_core.engine.record_files import damage_of_records, records_path
from nereval_core.engine.record_index import index_files, map_index, write_index
from nereval_core.engine.scored_folder import COUNTS, RECORDS, RESULTS, ScoredFolder, read
from nereval_core.engine.shard_counts import CountsStore
from nereval_core.problems import FormatError, Problem
from nereval_core.readers.input.temporaries import (
    RESUMABLE_SECONDS,
    TemporaryFolder,
    abandoned,
    foreign_place,
    is_own_file,
    is_temporary,
    remove_abandoned,
)
from nereval_core.report.json_results import json_bytes, results, versions
from nereval_core.review.playlists.store import PlaylistStore
from nereval_core.review.store import MissingVerdictsError, ReviewStore
from nereval_core.review.store.backup import copy_file, integrity_problem, is_left_unfinished
from nereval_core.review.store.databases import FOREIGN, LOGS, LONE_LOG, default_file, foreign_file, has_lone_log
from nereval_core.store import ENTRY, REMARKS, Entry, Store, read_remarks, work_folder
from nereval_core.store.columns import DamagedError, map_columns

MENDED, MENDABLE, NAMED = "mended", "--mend mends it", "not to be mended by nereval"
"""The states of a finding; one that was to be mended and could not be has the reason."""
NO_FILE = "it is no ordinary file"
DAY_SECONDS = 24 * 3600
REMARKS_GONE = "remove them, and with them the name given to the corpus, how far its review is, and its shared link"
SCORE_AGAIN = "score the shards again into this folder: what is whole is not computed again"


@dataclass(frozen=True)
class Storage:
    """Things of one kind in one place: their number, their bytes, and the days since the oldest was used or changed."""

    kind: str
    place: str
    entries: int
    bytes: int
    days: int | None


@dataclass(frozen=True)
class Finding:
    """A problem of something that is kept, and what mends it, None where people have to."""

    problem: Problem
    mend: Callable[[], object] | None = None


@dataclass(frozen=True)
class Examination:
    """All that is kept, and all that is wrong with it."""

    storages: tuple[Storage, ...]
    findings: tuple[Finding, ...]


def examine(review: str | None = None, scored: Sequence[str] = ()) -> Examination:
    """Examine the store of corpora, the verdicts (those in `review`), temporaries, and these scored folders.

    Nothing is changed; call a finding's `mend` to do so.

    Raises:
        FormatError: `review` is neither a file nor the URL of a database.
    """
    storages: list[Storage] = []
    findings: list[Finding] = []
    store = None
    try:
        store = Store.of_environment()
    except FormatError as error:
        findings += map(Finding, error.problems)
    if store is not None:
        entries = store.entries()
        storages.append(_storage("corpora", store.folder, [entry.path for entry in entries]))
        findings += _of_corpora(store, entries)
    with closing(ReviewStore.of_environment(review)) as verdicts:
        file = verdicts.database.file
        storages.append(_storage("verdicts", verdicts.name, [] if file is None else [file, *_logs(file)]))
        findings += _of_verdicts(verdicts, file)
    work = work_folder()
    jobs = [place for place in _listed(work) if is_temporary(place.name)]
    storages.append(_storage("counts of unfinished jobs", work, jobs))
    findings += _open_to_others(work, *jobs)
    findings += _foreign(work, *jobs)
    findings += _abandoned([work], older=RESUMABLE_SECONDS)
    spare = Path(tempfile.gettempdir())
    storages.append(_storage("temporaries", spare, [place for place in _listed(spare) if is_temporary(place.name)]))
    findings += _abandoned([spare, *([store.folder] if store is not None else [])])
    for folder in scored:
        places = list(Path(folder).rglob("*"))
        storages.append(_storage("scored folder", folder, [path for path in places if path.is_file()]))
        # To read from a pipe would wait for whoever writes to it.
        unreadable = list(_no_files(*places))
        findings += unreadable or _of_scored(folder)
        findings += _abandoned([Path(folder), *(path for path in places if path.is_dir())])
    return Examination(tuple(storages), tuple(findings))


def state(finding: Finding) -> str:
    """Return the state of a finding before anything is mended."""
    return NAMED if finding.mend is None else MENDABLE


def mend(finding: Finding) -> str:
    """Mend what was found, if it can be, and return its state."""
    if finding.mend is None:
        return NAMED
    try:
        finding.mend()
    except OSError as error:
        return f"could not be mended: {error.strerror}"
    except FormatError as error:
        return f"could not be mended: {error.problems[0].found}"
    return MENDED


def _storage(kind: str, place: str | Path, paths: Iterable[Path]) -> Storage:
    stats = [status for path in paths for inner in (path, *_listed(path)) if (status := _stat(inner)) is not None]
    files = [status for status in stats if stat.S_ISREG(status.st_mode)]
    days = int((time.time() - min(status.st_mtime for status in stats)) / DAY_SECONDS) if stats else None
    return Storage(kind, str(place), len(files), sum(status.st_size for status in files), days)


def _of_corpora(store: Store, entries: Iterable[Entry]) -> Iterator[Finding]:
    listed = [path for path in _listed(store.folder) if ENTRY.fullmatch(path.name) or path.name.endswith(REMARKS)]
    yield from _foreign(*listed)
    remarks = [path for path in listed if path.name.endswith(REMARKS) and is_own_file(path.lstat())]
    yield from _open_to_others(store.folder, *(entry.path for entry in entries), *remarks)
    for entry in entries:
        try:
            about = map_columns(entry.path).about
            damage = "" if about["key"] == entry.key else "another corpus than its name says"
        except (DamagedError, OSError, ValueError, KeyError, TypeError) as error:
            damage = str(error)
        if damage:
            problem = Problem(str(entry.path), None, f"the stored corpus is damaged: {damage}", "remove it")
            yield Finding(problem, entry.path.unlink)
    for path in remarks:
        try:
            read_remarks(path)
        except (OSError, ValueError) as error:
            problem = Problem(str(path), None, f"the remarks on a corpus are damaged: {error}", REMARKS_GONE)
            yield Finding(problem, path.unlink)


def _of_verdicts(store: ReviewStore, file: Path | None) -> Iterator[Finding]:
    remedy = "restore a copy that `nereval review backup` made, or name another one as --review"
    try:
        if file is None:
            _read_all(store)
        elif unreadable := list(_no_files(file, *_logs(file))):
            yield from unreadable
        elif reason := foreign_file(file):
            yield Finding(Problem(str(file), None, reason, FOREIGN))
        elif has_lone_log(file):
            yield Finding(Problem(str(file), None, *LONE_LOG))
        elif file.exists():
            # A group may share a file that is not at the default place.
            ours = file == default_file().absolute()
            places = [file.parent, file] if ours else [file]
            yield from _open_to_others(*places, *_logs(file), group=not ours)
            if is_left_unfinished(file):
                finding = "the file was being written to when a process ended"
                yield Finding(
                    Problem(str(file), None, finding, "open it: what was not kept is taken back"), store.every
                )
                return
            if problem := integrity_problem(file):
                yield Finding(Problem(str(file), None, f"the verdicts are damaged: {problem}", remedy))
                return
            # Opening the file itself would change its rights and its journal.
            with TemporaryFolder(sweep=False) as folder, closing(ReviewStore(Path(folder, "copy"))) as copy:
                copy_file(file, Path(folder, "copy"))
                try:
                    _read_all(copy)
                except FormatError as error:
                    raise type(error)(replace(problem, source=str(file)) for problem in error.problems) from None
    except MissingVerdictsError as error:
        first, *others = error.problems
        yield Finding(first, store.accept_losses)
        # All of them are mended at once.
        yield from (Finding(problem, lambda: None) for problem in others)
    except FormatError as error:
        yield from map(Finding, error.problems)
    except (OSError, sqlite3.Error) as error:
        yield Finding(Problem(store.name, None, f"the verdicts cannot be read: {error}", remedy))


def _read_all(store: ReviewStore) -> None:
    """Read all verdicts and playlists.

    Raises:
        FormatError: one is damaged, or the database cannot be read.
    """
    store.every()
    PlaylistStore(store).playlists()


def _of_scored(path: str) -> Iterator[Finding]:
    try:
        folder = read(path)
    except (FormatError, KeyError, TypeError, ValueError) as error:
        finding = "the manifest is damaged" if not isinstance(error, FormatError) else error.problems[0].found
        yield Finding(Problem(path, None, finding, "score the shards again into a new folder"))
        return
    counts = CountsStore(str(Path(path, COUNTS)))
    keys = {key for _, scores in folder.whole for key in scores.keys}
    lost = sorted(key for key in keys if counts.get(key) is None)
    for key in lost:
        yield Finding(Problem(str(counts.path(key)), None, "the counts are missing or damaged", SCORE_AGAIN))
    if not lost:
        yield from _of_results(folder)
    if folder.records:
        yield from _of_records(folder)
    if folder.columns is None:
        return
    shards = folder.columns.shards
    damaged = [
        (column_file(path, key), damage)
        for key in sorted({key for shard in shards for key in shard})
        if (damage := _damage(partial(map_shard, path, key, checked=True)))
    ]
    for place, damage in damaged:
        yield Finding(Problem(str(place), None, f"the columns are damaged: {damage}", SCORE_AGAIN))
    criteria = [criterion.name for criterion in folder.columns.settings.criteria]
    for place in index_files(path, len(folder.whole.systems), len(criteria)):
        if damage := _damage(partial(map_index, path, shards, place.stem, checked=True)):
            mend = None if damaged else partial(write_index, path, shards, criteria)
            yield Finding(Problem(str(place), None, f"the index is damaged: {damage}", "make it again"), mend)


def _of_results(folder: ScoredFolder) -> Iterator[Finding]:
    """Compare the results with those that the manifest says, whichever version wrote them."""
    place = Path(folder.path, RESULTS)
    right = json_bytes(results(folder.whole.gold, folder.whole.systems))
    try:
        written = json.loads(place.read_bytes())
        damage = "" if written | versions() == json.loads(right) else "they are not those of the manifest"
    except (OSError, ValueError, TypeError, RecursionError) as error:
        damage = getattr(error, "strerror", None) or str(error)
    if damage:
        problem = Problem(str(place), None, f"the results are damaged: {damage}", "write them again")
        yield Finding(problem, partial(place.write_bytes, right))


def _of_records(folder: ScoredFolder) -> Iterator[Finding]:
    for shard in folder.shards:
        # Nothing is recorded of a shard without documents.
        for system, part in shard["systems"].items() if shard["documents"] else ():
            for criterion in folder.whole.systems[0][1].computed:
                place = records_path(str(Path(folder.path, RECORDS)), system, criterion, shard["name"])
                if damage := damage_of_records(place, part["counts"]):
                    yield Finding(Problem(str(place), None, f"the records are damaged: {damage}", SCORE_AGAIN))


def _damage(opens: Callable[[], object]) -> str:
    try:
        opens()
    except (DamagedError, OSError, ValueError, KeyError, TypeError) as error:
        return getattr(error, "strerror", None) or str(error)
    return ""


def _open_to_others(*paths: Path, group: bool = False) -> Iterator[Finding]:
    """Find files and folders of this account that other accounts have rights on; those of a `group` may stand."""
    # Windows has no such modes.
    for path in paths if hasattr(os, "geteuid") else ():
        status = _stat(path)
        if status is None or stat.S_ISLNK(status.st_mode) or status.st_uid != os.geteuid():
            continue
        mode = stat.S_IMODE(status.st_mode)
        if excess := mode & (0o007 if group else 0o077):
            private = mode & ~excess
            what = f"other accounts have rights on it: mode {mode:04o}"
            problem = Problem(str(path), None, what, f"chmod {private:04o}")
            yield Finding(problem, partial(path.chmod, private))


def _foreign(*paths: Path) -> Iterator[Finding]:
    """Find what is kept in files of other accounts, behind links, or in no file at all: none of it is used."""
    for path in paths:
        status = _stat(path)
        if status is None or path.is_dir():
            reason = foreign_place(path)
        elif is_own_file(status):
            reason = ""
        elif stat.S_ISREG(status.st_mode):
            reason = "it belongs to another account"
        else:
            reason = "it is a link" if stat.S_ISLNK(status.st_mode) else NO_FILE
        if reason:
            yield Finding(Problem(str(path), None, f"it is not used: {reason}", "remove it, or put your own there"))


def _no_files(*paths: Path) -> Iterator[Finding]:
    """Find what is, or leads to, neither a file nor a folder."""
    for path in paths:
        if not (path.is_file() or path.is_dir()) and _stat(path) is not None:
            yield Finding(Problem(str(path), None, NO_FILE, "remove it"))


def _abandoned(folders: Iterable[Path], older: float = 0) -> Iterator[Finding]:
    for folder in folders:
        for path in abandoned(folder, older=older):
            problem = Problem(str(path), None, "the temporary of a process that is gone", "remove it")
            yield Finding(problem, partial(remove_abandoned, folder, older=older))


def _logs(file: Path) -> list[Path]:
    return [place for ending in LOGS if (place := file.with_name(file.name + ending)).exists()]


def _listed(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []


def _stat(path: Path) -> os.stat_result | None:
    try:
        return path.lstat()
    except OSError:
        return None
