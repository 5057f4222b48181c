"""The scored folder: the output of a job, read without scoring again and without the records in memory.

    DIR/scored.json                             the manifest, see below
    DIR/results.json                            what `--json` writes
    DIR/counts/KEY.npz                          an entry for each shard and system: see `shard_counts`, `tally`
    DIR/columns, DIR/index                      the columns that pages read: see `record_columns`, `record_index`
    DIR/records/SYSTEM/CRITERION/SHARD.parquet  with --records: see `record_files`

The manifest is one JSON object: `form` (2; one of form 1 has no checksum), `nereval` (version), `checksum` (SHA-256
of the object without it, see `_checksum`), `sha256` (of settings and data: the name of the folder in links),
`columns` (the keys of the shards' gold columns), `settings` and `reading` (as given), `gold` and, in order, `systems`
(name, sha256, tally; a system also folder and signatures by criterion), `criteria` (the names of those reported; the
settings hold those computed, in the order of the entries' columns), `records` (whether there are) and `shards` in
order. A shard has `name`, `documents`, `gold_spans`, `gold` and, by system, `systems`: path (null where the system
lacks the shard) and files (path, from here: the way from the folder to it, bytes, sha256); a system's also `spans`
and `counts`, the key of its entry. The number of a shard's first document in the whole is the sum of `documents`
before it, and that of its first span likewise.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from nereval_core import __version__
from nereval_core.engine.folder_records import FolderRecords
from nereval_core.engine.merged_scores import MergedScores, ScoredShards, whole_of_tallies
from nereval_core.engine.record_columns import FOLDER as COLUMNS
from nereval_core.engine.record_columns import column_file as column_place
from nereval_core.engine.record_files import folder_name
from nereval_core.engine.record_index import FOLDER as INDEX
from nereval_core.engine.record_index import ShardKeys, write_index
from nereval_core.engine.shard_counts import CountsStore, replace_file
from nereval_core.engine.shards import Shard, ShardFiles
from nereval_core.engine.tally import Tally
from nereval_core.engine.work import Job, ShardResult, gold_key
from nereval_core.ledger import Ledger
from nereval_core.problems import FormatError
from nereval_core.readers.input.confinement import open_file
from nereval_core.report.json_results import json_bytes, results
from nereval_core.report.signature import signature
from nereval_core.scoring import Settings
from nereval_core.scoring.criteria import Criterion, Decision

MANIFEST, RESULTS, COUNTS, RECORDS = "scored.json", "results.json", "counts", "records"
SHOWN = (COLUMNS, INDEX)
"""The folders that pages read."""
FORM, FORM_UNCHECKED = 2, 1
"""The form of manifests that are written, and the earlier one, without a checksum, that is read too."""


@dataclass(frozen=True, eq=False)
class ScoredFolder:
    """An open scored folder: its scores, and the rows of the manifest on its shards."""

    path: str
    whole: ScoredShards
    shards: tuple[Mapping[str, Any], ...]
    records: bool
    columns: FolderRecords | None = None
    digest: str = ""

    @property
    def settings(self) -> Settings:
        """The settings of the job, with the criteria that are reported."""
        return self.whole.systems[0][1].settings

    def scores(self, system: str) -> MergedScores:
        return next(scores for side, scores in self.whole if side.name == system)

    def ledger(self, system: str, criterion: str) -> Ledger:
        """Return the match records of a system under a criterion.

        Raises:
            FormatError: they were not kept, or a file is missing or damaged.
        """
        names = [side.name for side, _ in self.whole]
        return self.records_of_pages.ledger(names.index(system), criterion)

    @property
    def records_of_pages(self) -> FolderRecords:
        """The records that pages read.

        Raises:
            FormatError: they were not kept.
        """
        if self.columns is None:
            finding = "scored without what pages read"
            raise FormatError.single(self.path, None, finding, "score the shards again, with --out")
        return self.columns

    def files(self, part: Mapping[str, Any]) -> tuple[str, ...]:
        """Return the files of a shard's side: those relative to the folder, else those at their former paths."""
        candidates = ((str(Path(self.path, file["from here"])), str(file["path"])) for file in part["files"])
        return tuple(near if Path(near).is_file() else far for near, far in candidates)


def write(path: str, result: ScoredShards, shards: Sequence[Shard], done: Iterable[ShardResult], job: Job) -> None:
    """Write manifest and results, the manifest last, and put the entries beside them."""
    root = Path(path)
    (root / COUNTS).mkdir(parents=True, exist_ok=True)
    by_name = {shard_result.shard: shard_result for shard_result in done}
    store = CountsStore(job.work)
    for shard_result in by_name.values():
        for counted in shard_result.systems.values():
            place = root / COUNTS / f"{counted.key}.npz"
            if not (place.exists() and place.samefile(store.path(counted.key))):
                with replace_file(place) as new:
                    shutil.copyfile(store.path(counted.key), new)
    digest = job.digest
    keys = [
        ShardKeys(
            gold_key(digest, [by_name[shard.name].files[path] for path in shard.gold.files]),
            tuple(by_name[shard.name].systems[side.name].key for side, _ in result),
        )
        for shard in shards
    ]
    if job.columns is not None:
        # Of shards that were scored before and have changed, or are no more.
        for place in set(Path(path, COLUMNS).iterdir()) - {column_place(path, key) for own in keys for key in own}:
            place.unlink()
        write_index(path, keys, [criterion.name for criterion in job.settings.criteria])
    with replace_file(root / RESULTS) as place:
        place.write_bytes(json_bytes(results(result.gold, result.systems)))
    manifest = {
        "form": FORM,
        "nereval": __version__,
        "settings": settings_as_json(job.settings),
        "reading": job.reading,
        "criteria": [criterion.name for criterion in result.systems[0][1].criteria],
        "records": job.records is not None,
        "columns": None if job.columns is None else [own.gold for own in keys],
        "sha256": hashlib.sha256(
            json.dumps([digest, result.gold.digest, *([side.name, side.digest] for side, _ in result)]).encode()
        ).hexdigest(),
        "gold": {"sha256": result.gold.digest},
        "systems": [
            {
                "name": side.name,
                "sha256": side.digest,
                "folder": folder_name(side.name),
                "signatures": {criterion.name: signature(scores, criterion.name) for criterion in scores.criteria},
                "tally": scores.tally.as_json(),
            }
            for side, scores in result
        ],
        "shards": [_shard(root, shard, by_name[shard.name]) for shard in shards],
    }
    manifest["checksum"] = _checksum(manifest)
    with replace_file(root / MANIFEST) as place:
        place.write_text(json.dumps(manifest, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def read(path: str | os.PathLike[str], *, within: str | os.PathLike[str] | None = None) -> ScoredFolder:
    """Open a scored folder by its manifest; with `within`, no file outside that folder is read, now or later.

    Raises:
        FormatError: no scored folder, one of another form, or outside `within`.
    """
    name = os.fspath(path)
    limit = None if within is None else os.path.realpath(within)
    try:
        with open_file(Path(path, MANIFEST), limit) as file:
            row = json.loads(file.read())
        form = row["form"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        raise FormatError.single(name, None, "no scored folder", f"give one with a {MANIFEST} in it") from None
    if form not in (FORM, FORM_UNCHECKED):
        finding = f"a scored folder of form {form}, this nereval knows {FORM}"
        raise FormatError.single(name, None, finding, "score the shards again")
    try:
        if form == FORM and row.pop("checksum") != _checksum(row):
            raise ValueError("it is not as it was written")
        return _opened(name, row, limit)
    except (LookupError, TypeError, ValueError, AttributeError, StopIteration) as error:
        finding = f"the manifest is damaged: {error}"
        raise FormatError.single(name, None, finding, "score the shards again into a new folder") from None


def _opened(path: str, row: Mapping[str, Any], limit: str | None) -> ScoredFolder:
    """Return the scored folder of a manifest."""
    settings = settings_of_json(row["settings"])
    result = whole_of_tallies(
        settings,
        {system["name"]: Tally.of_json(system["tally"]) for system in row["systems"]},
        store=CountsStore(str(Path(path, COUNTS)), limit),
        keys={
            system["name"]: tuple(shard["systems"][system["name"]]["counts"] for shard in row["shards"])
            for system in row["systems"]
        },
        gold=row["gold"]["sha256"],
        digests={system["name"]: system["sha256"] for system in row["systems"]},
    )
    reported = [criterion for criterion in settings.criteria if criterion.name in row["criteria"]]
    columns = None
    if row["columns"] is not None:
        keys = (
            ShardKeys(gold, tuple(shard["systems"][system["name"]]["counts"] for system in row["systems"]))
            for gold, shard in zip(row["columns"], row["shards"], strict=True)
        )
        columns = FolderRecords(path, tuple(keys), settings, limit)
    return ScoredFolder(path, result.under(reported), tuple(row["shards"]), row["records"], columns, row["sha256"])


def is_scored(path: str | os.PathLike[str]) -> bool:
    """Return whether the folder has a manifest."""
    return Path(path, MANIFEST).is_file()


def settings_as_json(settings: Settings) -> dict[str, Any]:
    """Return settings as a JSON object."""
    criteria = [
        {key: _plain(value) for key, value in asdict(criterion).items() if value not in ("", ())}
        for criterion in settings.criteria
    ]
    return {
        "criteria": criteria,
        "merge": settings.merge,
        "leave_out": settings.leave_out,
        "counting": settings.counting,
    }


def settings_of_json(row: Mapping[str, Any]) -> Settings:
    """Return the settings that `settings_as_json` wrote."""
    names = {column.name for column in fields(Criterion)}
    criteria = []
    for stored in row["criteria"]:
        values = {key: _tuples(value) for key, value in stored.items() if key in names}
        values |= {key: Decision[values[key]] for key in ("other_boundaries", "other_type") if key in values}
        values["minimum"] = Fraction(values["minimum"])
        criterion = Criterion(**values)
        if "otherwise" in stored:
            # Older folders have one decision for all pairs that fail.
            decision: Any = Decision[stored["otherwise"]]
            criterion = replace(criterion, **{f"other_{part}": decision for part in criterion.near_misses})
        criteria.append(criterion)
    return Settings(tuple(criteria), _tuples(row["merge"]), _tuples(row["leave_out"]), row["counting"])


def _shard(root: Path, shard: Shard, done: ShardResult) -> dict[str, Any]:
    def part(side: ShardFiles | None) -> dict[str, Any]:
        files = [
            {
                "path": str(Path(path).absolute()),
                "from here": os.path.relpath(path, root),
                "bytes": Path(path).stat().st_size,
                "sha256": done.files[path],
            }
            for path in (side.files if side else ())
        ]
        return {"path": None if side is None else str(Path(side.path).absolute()), "files": files}

    counted = done.systems
    tally = next(iter(counted.values())).tally
    return {
        "name": shard.name,
        "documents": tally.documents,
        "gold_spans": tally.gold_spans,
        "gold": part(shard.gold),
        "systems": {
            system: part(side) | {"spans": counted[system].tally.pred_spans, "counts": counted[system].key}
            for system, side in shard.systems.items()
        },
    }


def _plain(value: Any) -> Any:
    if isinstance(value, Decision):
        return value.name
    return str(value) if isinstance(value, Fraction) else value


def _checksum(manifest: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a manifest, which has no checksum yet, as JSON with sorted keys and without blanks."""
    return hashlib.sha256(json.dumps(manifest, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value
