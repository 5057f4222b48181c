"""How long it takes to import, list and export the verdicts of a large review, beside reading the same lines as JSON.

Verdicts are in turn on 30 spans of a document each. Each verb runs in a process of its own on SQLite; seconds are its
CPU time, and memory is its peak.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from functools import partial
from hashlib import sha256
from pathlib import Path

from nereval_core.review.verdict_lines import export_lines
from nereval_core.review.verdicts import KINDS, Key, Marked, Seen, StoredVerdict, Verdict, text_digest
from tests.benchmarks.children import measured_command
from tests.benchmarks.scales import Scale
from tests.benchmarks.slices import seconds

VERDICTS = 300_000
BY_DOCUMENT = 30


def rows(scale: Scale) -> Iterator[tuple[str, float, str]]:
    """Yield what was measured, the figure, and the aim."""
    size = scale.of(VERDICTS, VERDICTS // 10, 100)
    with tempfile.TemporaryDirectory() as folder:
        lines, store, table, copy = (
            Path(folder) / name for name in ("verdicts.jsonl", "store.sqlite", "table", "copy")
        )
        write_verdicts(lines, size)
        limit = seconds(partial(_read, lines))
        for name, command, aim in (
            ("import", ["import", str(lines)], "<= 10"),
            ("import again", ["import", str(lines)], "<= 10"),
            ("list", ["list", "--csv", str(table)], "<= 5"),
            ("export", ["export", str(copy)], "reported"),
        ):
            spent, peak = measured_command(["review", *command, "--review", str(store)])
            yield f"review {name}, {size:,} verdicts / json.loads", spent / limit, aim
            yield f"MB of memory: review {name}, {size:,} verdicts", peak / 1e6, "<= 300"


def write_verdicts(path: Path, size: int) -> None:
    """Write so many verdicts, few at a time: a child process counts what its parent held as its own peak."""
    with path.open("wb") as file:
        for low in range(0, size, 3_000):
            file.writelines(export_lines(map(_verdict, range(low, min(low + 3_000, size)))))


def _read(path: Path) -> None:
    with path.open("rb") as file:
        for line in file:
            json.loads(line)


def _verdict(number: int) -> StoredVerdict:
    document, place = divmod(number, BY_DOCUMENT)
    start = 40 * place
    kind = list(KINDS)[number % 5]
    key = Key(text_digest(f"{document}"), "gold", Marked(((start, start + 9),), f"T{number % 20}"))
    seen = Seen(f"doc-{document}", f"entity {number % 1000}", "a" * 40, "b" * 40)
    partner = Marked(((start, start + 8),), "T1") if number % 3 else None
    right = (Marked(((start, start + 7),), "T2"),) if kind == "neither" else ()
    uid = sha256(b"%d" % number).hexdigest()[:32]
    at = f"2026-01-31T{number // 3_600_000 % 24:02}:{number // 60_000 % 60:02}:{number // 1000 % 60:02}+00:00"
    return StoredVerdict(Verdict(key, kind, seen, partner, right), f"reviewer {number % 4}", at, 1, uid, uid)
