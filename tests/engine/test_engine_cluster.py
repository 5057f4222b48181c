"""The engine on real worker processes: the same bits as one process, whatever happens to a worker."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from nereval_core.engine import run
from tests.support import PYTHON_PATH
from tests.support.commands import WAIT, Cli, corpus, entries, unanswered, wait_for, written

distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Two worker processes."""
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0", silence_logs=50
    ) as started:
        yield started


def contents(folder: str) -> dict[Path, bytes]:
    return {path.relative_to(folder): path.read_bytes() for path in Path(folder).rglob("*") if path.is_file()}


def test_the_result_is_that_of_one_process(cli: Cli, cluster: Any, tmp_path: Path) -> None:
    places = written(tmp_path, corpus())
    asked = (*places, "--criteria", "strict,core,fragment", "--by", "type,document", "--json")
    assert cli(*asked, "one.json")[0] == 0
    assert cli(*asked, "local.json", "--engine", "local", "--records", "local")[0] == 0
    dask = ("--engine", "dask", "--scheduler", cluster.scheduler_address, "--records", "dask")
    status, _, err = cli(*asked, "dask.json", *dask)
    assert status == 0, err
    assert Path("one.json").read_bytes() == Path("dask.json").read_bytes()
    # Manifest, entries and records, byte by byte.
    assert contents("local") == contents("dask")


def test_a_published_scorer_gives_what_it_gives_in_one_process(cli: Cli, cluster: Any, tmp_path: Path) -> None:
    asked = (*written(tmp_path, corpus()), "--convention", "nervaluate-1.2.1", "--tags", "A,C", "-q", "--json", "-")
    dask = ("--engine", "dask", "--scheduler", cluster.scheduler_address, "--work", "counts")
    one = cli(*asked)
    assert one[0] == 0
    assert [cli(*asked, *dask) for _ in range(2)] == [one] * 2


DAMAGE: dict[str, tuple[Callable[[Path], Any], str]] = {
    "fields are missing": (lambda path: path.write_bytes(b'{"id": 3}\n'), ":1: "),
    "truncated": (lambda path: path.write_bytes(path.read_bytes()[:-20]), ":5: "),
    "wrong bytes": (lambda path: path.write_bytes(b"\xff\x00" + path.read_bytes()), ":1: "),
    # It was listed when the job began.
    "vanished": (lambda path: (path.unlink(), path.symlink_to("nowhere")), ": cannot be used: No such file"),
}


@pytest.mark.parametrize(("damage", "told"), DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_shard_is_named_and_the_others_are_kept(
    cli: Cli, cluster: Any, tmp_path: Path, damage: Callable[[Path], Any], told: str
) -> None:
    places = written(tmp_path, corpus())
    path = Path(places[0], "deep", "part-3.jsonl")
    good = path.read_bytes()
    damage(path)
    asked = ("--engine", "dask", "--scheduler", cluster.scheduler_address, "--out", "scored", "--json", "out.json")
    status, out, err = cli(*places, *asked)
    assert (status, out) == (2, "")
    assert err and all(line.startswith(f"{path}{told}") for line in err.splitlines()), err
    assert not Path("out.json").exists() and entries("scored/counts") == 8
    path.unlink()
    path.write_bytes(good)
    status, _, err = cli(*places, *asked)
    assert status == 0 and "; 8 of 10 counts of shards were there already" in err


def test_a_worker_that_is_killed_changes_nothing(cli: Cli, cluster: Any, tmp_path: Path) -> None:
    places = written(tmp_path, corpus(60), shards=30)
    asked = (*places, "--criteria", "all", "--by", "document", "--json")
    assert cli(*asked, "one.json", "--engine", "local")[0] == 0
    with distributed.Client(cluster, set_as_default=False) as client:
        before = set(client.run(os.getpid).values())
        killed: list[int] = []

        def kill() -> None:
            wait_for(lambda: entries("work"))
            killed.append(entries("work"))
            os.kill(min(before), signal.SIGKILL)

        killer = threading.Thread(target=kill)
        killer.start()
        status, _, err = cli(
            *asked, "dask.json", "--engine", "dask", "--scheduler", cluster.scheduler_address, "--work", "work"
        )
        killer.join()
        client.wait_for_workers(2, timeout=WAIT)
        after = set(client.run(os.getpid).values())
    # It died while the job was running, and another process stands in for it.
    assert 0 < killed[0] < 60 and before - after == {min(before)} and len(after) == 2
    assert status == 0, err
    assert Path("one.json").read_bytes() == Path("dask.json").read_bytes()


def test_no_scheduler_is_told(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "SCHEDULER_SECONDS", 1)
    places = written(tmp_path, corpus())
    status, _, err = cli(*places, "--engine", "dask", "--scheduler", "tcp://127.0.0.1:9", "--work", "work")
    assert status == 2 and len(err.splitlines()) == 1
    assert err.startswith("--scheduler: no Dask scheduler answers at tcp://127.0.0.1:9")
    status, _, err = cli(*places, "--engine", "dask", "--scheduler", "nonsense://", "--work", "work")
    assert status == 2 and len(err.splitlines()) == 1


def test_a_shard_that_kills_its_workers_is_named_and_the_others_are_kept(
    cli: Cli, cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # One worker is enough: Dask gives up after three by default.
    monkeypatch.setattr(cluster.scheduler, "allowed_failures", 0)
    places = written(tmp_path, corpus(), shards=6)
    asked = (*places, "--work", "work", "--engine", "dask", "--scheduler", cluster.scheduler_address, "--json")
    path = Path(places[0], "part-2.jsonl")
    with unanswered(path), distributed.Client(cluster, set_as_default=False) as client:
        before = client.run(os.getpid)

        def busy() -> list[str]:
            return [worker for worker, tasks in client.processing().items() if tasks]

        def kill() -> None:
            # What another worker has written it may not have told yet.
            wait_for(lambda: entries("work") == 10 and len(busy()) == 1)
            os.kill(before[busy()[0]], signal.SIGKILL)

        killer = threading.Thread(target=kill)
        killer.start()
        status, out, err = cli(*asked, "out.json", "-q")
        killer.join()
        client.wait_for_workers(2, timeout=WAIT)
    found = "each worker that took it on died; give workers more memory, or cut it into smaller shards"
    assert (status, out, err) == (2, "", f"{path}: {found}\n")
    status, _, err = cli(*asked, "rerun.json")
    assert status == 0 and "; 10 of 12 counts" in err


def test_without_dask_one_line_says_so(tmp_path: Path) -> None:
    places = written(tmp_path, corpus())
    code = "import sys; sys.modules['distributed'] = None; from nereval_core.cli import main; sys.exit(main())"
    done = subprocess.run(
        [sys.executable, "-c", code, "score", *places, "--engine", "dask"],
        env={**os.environ, "PYTHONPATH": PYTHON_PATH, "XDG_CACHE_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    found = "--engine dask: the package distributed is not installed; pip install distributed"
    assert done.stderr.splitlines() == [found]
