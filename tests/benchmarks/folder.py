"""How long the app takes over a scored folder of 100 million spans, beside a page that does nothing, and its memory.

The folder is written as scoring its shards writes it. Five parts of a million spans are drawn and scored; each stands
for twenty shards, under other document ids. `python -m tests.benchmarks folder --quick` takes 5 million spans in all.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from nereval_core.corpus import Documents, Layer
from nereval_core.corpus.texts import Texts
from nereval_core.engine import scored_folder as scored
from nereval_core.engine.merged_scores import merge_scores
from nereval_core.engine.record_columns import column_file, map_file, write_gold, write_system, writing_columns
from nereval_core.engine.shard_counts import CountsStore, file_digest, key_of
from nereval_core.engine.shards import Shard, ShardFiles
from nereval_core.engine.tally import id_hashes, tally_scores
from nereval_core.engine.work import CountedShard, Job, ShardResult, gold_key
from nereval_core.records.queries import ORDERS, Query
from nereval_core.scoring import Settings, score_layers
from nereval_core.scoring.criteria import CRITERIA, SCHEMAS
from nereval_core.tables.glossary import DECISIONS
from tests.benchmarks.app import ACTIONS, Action, clicked
from tests.benchmarks.generated import STRIDE, TYPES, generate
from tests.benchmarks.scales import Scale

SPANS, QUICK = 100_000_000, 5_000_000
BY_DOCUMENT = 10
SHARD, PARTS = 1_000_000, 5
BYTES = 220
"""What a span takes on disk: a tenth of a document of 1,000 characters, and its records under four criteria."""
SYSTEM = "system"


def rows(scale: Scale) -> Iterator[tuple[str, float, str]]:
    """Yield what was measured, the figure, and the aim. NEREVAL_FOLDER_SPANS asks for another number of spans."""
    spans = int(os.environ.get("NEREVAL_FOLDER_SPANS", scale.of(SPANS, QUICK, 600)))
    temporary = tempfile.gettempdir()
    need, free = spans * BYTES, shutil.disk_usage(temporary).free
    print(f"folder: {need / 1e9:.1f} GB of disk needed in {temporary}, {free / 1e9:.1f} GB free", flush=True)
    if free < need * 1.1:
        print("folder: not measured, as the disk has too little room", flush=True)
        return
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        start = time.monotonic()
        written(root / "scored", spans, scale.of(SHARD, SHARD, 100))
        size = sum(file.stat().st_size for file in (root / "scored").rglob("*") if file.is_file())
        said = f"scored folder of {spans:,} spans:"
        yield f"{said} bytes on disk a span", size / spans, "–"
        yield f"{said} minutes to write it", (time.monotonic() - start) / 60, "–"
        yield from answered(root / "scored", said)
        found = scored.read(root / "scored")
        memory: list[float] = []
        # At TINY only the clicks are made that a corpus of the store does not have.
        actions = scale.of((*ACTIONS, *MORE), (*ACTIONS, *MORE), (ACTIONS[0], *MORE))
        for row in clicked(found.digest, root, "--data", str(root), actions=actions, scale=scale):
            memory.append(server_memory())
            yield row
        yield f"{said} GB of memory of the server, mapped files included, at most", max(memory), "<= 1.5"


def written(target: Path, spans: int, shard: int = SHARD) -> None:
    """Write a scored folder of so many gold spans, so many in a shard."""
    shards = [min(shard, spans - low) for low in range(0, spans, shard)]
    parts = min(PARTS, len(shards))
    job = Job(
        settings=Settings(tuple(CRITERIA[name] for name in SCHEMAS)),
        work=str(target / scored.COUNTS),
        columns=str(target),
    )
    target.mkdir()
    with ProcessPoolExecutor(os.cpu_count(), mp_context=get_context("spawn")) as pool:
        work = [
            pool.submit(_part, str(target.parent), job, [(n, shards[n]) for n in range(part, len(shards), parts)])
            for part in range(parts)
        ]
        done = [one for part in work for one in part.result()]
    listed = [_shard(target.parent, number) for number in range(len(shards))]
    scored.write(str(target), merge_scores(listed, done, job), listed, done, job)


def _shard(root: Path, number: int) -> Shard:
    paths = [str(root / "shards" / side / f"{number:05}.jsonl") for side in ("gold", SYSTEM)]
    gold, pred = (ShardFiles(path, (path,)) for path in paths)
    return Shard(f"{number:05}", gold, {SYSTEM: pred})


def _part(root: str, job: Job, numbers: Sequence[tuple[int, int]]) -> list[ShardResult]:
    """Draw and score one part, and write it as several shards; the last one of all may be smaller."""
    done = []
    size, made, first = 0, None, ""
    store = CountsStore(job.work)
    for number, spans in numbers:
        if made is None or spans != size:
            size, first = spans, ""
            gold, pred = _drawn(spans, seed=number)
            made = gold, pred, score_layers(gold, pred, job.settings)
            tally, found = tally_scores(*made)
            columns = dict(found)
        gold, pred, scores = made
        over = replace(gold.documents, ids=tuple(f"doc-{number:04}-{inner:06}" for inner in range(len(gold.documents))))
        shard = _shard(Path(root), number)
        files = {}
        for part in (shard.gold, *shard.systems.values()):
            assert part is not None
            Path(part.path).parent.mkdir(parents=True, exist_ok=True)
            Path(part.path).write_text(f"{part.path}\n")
            files[part.path] = file_digest(part.path)
        digests = list(files.values())
        key = key_of(job.digest, digests[:1], digests[1:])
        raw = [one.encode() for one in over.ids]
        columns |= {
            "ids": np.frombuffer(b"".join(raw), np.uint8),
            "id_ends": np.cumsum(np.fromiter(map(len, raw), np.int64, len(raw))),
            "id_hashes": id_hashes(raw),
        }
        store.put(key, tally, columns)
        assert job.columns is not None
        write_gold(job.columns, gold_key(job.digest, digests[:1]), replace(gold, documents=over))
        if first:
            # It knows nothing of ids.
            copied = map_file(column_file(job.columns, first))
            with writing_columns(column_file(job.columns, key), {**copied.about, "key": key}) as writer:
                for name, column in copied.arrays.items():
                    writer.add(name, column)
        else:
            first = key
            write_system(job.columns, key, gold, pred, scores)
        done.append(ShardResult(shard.name, {SYSTEM: CountedShard(key, tally, False)}, (), files))
    return done


def _drawn(spans: int, seed: int) -> tuple[Layer, Layer]:
    """Draw documents without tokens, of words of chance, with gold and the predictions of one system."""
    drawn = generate(spans, by_document=BY_DOCUMENT, seed=seed)
    letters = np.frombuffer(b"etaoinshrdlu    ", np.uint8)
    size = BY_DOCUMENT * STRIDE
    data = letters[np.random.default_rng(seed).integers(0, len(letters), drawn.documents * size, np.uint8)]
    texts = Texts(data, np.arange(drawn.documents + 1, dtype=np.int64) * size)
    documents = Documents(tuple(map(str, range(drawn.documents))), texts)
    types = tuple(f"T{code:02}" for code in range(TYPES))
    gold, pred = (
        Layer(name, documents, side.doc, side.start, side.end, side.type, types)
        for name, side in (("gold", drawn.gold), (SYSTEM, drawn.pred))
    )
    return gold, pred


def answered(folder: Path, said: str) -> Iterator[tuple[str, float, str]]:
    """Yield the milliseconds of CPU of answers that no page kept."""
    opened: list[Any] = []
    yield f"{said} ms of CPU to open", _clock(lambda: opened.append(scored.read(folder))), "–"
    found = opened[0]
    yield f"{said} ms, first look at a criterion", _clock(lambda: found.ledger(SYSTEM, "strict").total(Query())), "–"
    ledger = found.ledger(SYSTEM, "strict")
    wrong = Query(decision=DECISIONS[1:])
    total = ledger.total(wrong).records
    rare = min(ledger.confusion().items(), key=lambda cell: (cell[1], cell[0]))[0]
    cell = Query(gold=(rare[0],), pred=(rare[1],))
    doc = found.records_of_pages.shard(len(found.shards) // 2).documents.ids[7]
    for what, answer in (
        ("a page at the start", partial(ledger.page, wrong)),
        ("a page in the middle", partial(ledger.page, wrong, ORDERS[0], total // 2)),
        ("a page in the middle, sorted by gold type", partial(ledger.page, wrong, "gold", total // 2)),
        (f"the rarest cell of confusion ({ledger.total(cell).records:,} records)", partial(ledger.page, cell)),
        ("facets", partial(ledger.facet_counts, wrong, "doc", 1_000)),
        ("records around one in the middle", partial(ledger.near, wrong, doc)),
        ("a document", partial(ledger.document, doc, found.settings)),
        ("a page of documents in the middle", partial(ledger.documents, "", 1_000_000)),
        ("a search for a word that is nowhere", partial(ledger.total, Query(text="zzzz"))),
        ("a search for a common word", partial(ledger.total, Query(text="the"))),
    ):
        first = _clock(answer)
        yield f"{said} ms, {what}, first time", first, "–"
        yield f"{said} ms, {what}, again", _clock(answer), "–"


def _clock(run: Callable[[], object]) -> float:
    start = time.process_time()
    run()
    return 1_000 * (time.process_time() - start)


def server_memory() -> float:
    """Return the GB of memory of the largest process that this one started, mapped files included."""
    sizes = [0.0]
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            rows = dict(line.split(":", 1) for line in status.read_text().splitlines())
        except OSError:
            continue
        if (
            int(rows["PPid"]) == os.getpid()
            and "VmRSS" in rows
            and rows["Name"].strip().startswith(("python", "stream"))
        ):
            sizes.append(int(rows["VmRSS"].split()[0]) / 1e6)
    return max(sizes)


def jump(page: Any, number: int) -> None:
    """Go to a record anywhere in the queue."""
    box = page.locator(".nw-jump")
    most = int(box.get_attribute("max") or 1)
    # Never the record that is open: that would change nothing.
    box.fill(str(1 + (number + 1) * 7_919 % most))
    page.keyboard.press("Enter")


MORE = (Action("jump to any record of the queue", "Inspect", jump),)
