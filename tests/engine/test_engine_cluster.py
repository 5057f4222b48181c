"""The engine on real worker processes: the same bits as one process, whatever happens to a worker."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from nereval_core.engine import run
from tests.support import ROOT
from tests.support.commands import Cli, corpus, written

distributed = pytest.importorskip("distributed")
WAIT = 60
"""Seconds after which something will not happen any more."""


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


def test_a_damaged_shard_is_named_and_the_others_are_kept(cli: Cli, cluster: Any, tmp_path: Path) -> None:
    places = written(tmp_path, corpus())
    path = Path(places[0], "deep", "part-3.jsonl")
    good = path.read_bytes()
    path.write_bytes(b'{"id": 3}\n')
    asked = ("--engine", "dask", "--scheduler", cluster.scheduler_address, "--out", "scored", "--json", "out.json")
    status, out, err = cli(*places, *asked)
    assert (status, out) == (2, "")
    assert err and all(line.startswith(f"{path}:1: ") for line in err.splitlines())
    assert not Path("out.json").exists() and len(list(Path("scored/counts").iterdir())) == 8
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
            until = time.monotonic() + WAIT
            while time.monotonic() < until and not any(Path("work").glob("*.npz")):
                time.sleep(0.001)
            killed.append(len(list(Path("work").glob("*.npz"))))
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


def test_a_job_that_is_interrupted_stops_cleanly_and_goes_on(cli: Cli, tmp_path: Path) -> None:
    places = written(tmp_path, corpus(40), shards=20)
    # A pipe that nobody writes to: the worker that takes it on is still at work when the job is interrupted.
    pipe = Path(places[0], "part-10.jsonl")
    pipe.rename("kept")
    os.mkfifo(pipe)
    asked = ("--criteria", "all", "--work", "work", "--json", "dask.json")
    command = [sys.executable, "-m", "nereval_core", "score", *places, "--engine", "dask", "--workers", "2", *asked]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        command, cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as job:
        until = time.monotonic() + WAIT
        while time.monotonic() < until and not any(Path("work").glob("*.npz")):
            time.sleep(0.005)
        # As a terminal does it: to the job and to its workers.
        os.killpg(job.pid, signal.SIGINT)
        err = job.communicate(timeout=WAIT)[1]
        assert job.returncode == 130, err
    assert err == ""
    assert not Path("dask.json").exists()
    until = time.monotonic() + WAIT
    while time.monotonic() < until and _alive(job.pid):
        time.sleep(0.05)
    assert not _alive(job.pid)
    done = len(list(Path("work").glob("*.npz")))
    assert 0 < done < 40
    Path("kept").replace(pipe)
    status, _, err = cli(*places, "--engine", "local", *asked)
    assert status == 0 and f"; {done} of 40 counts" in err
    assert cli(*places, "--criteria", "all", "--json", "one.json")[0] == 0
    assert Path("one.json").read_bytes() == Path("dask.json").read_bytes()


def _alive(group: int) -> bool:
    """Tell whether a process of the group is left."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def test_no_scheduler_is_told(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "SCHEDULER_SECONDS", 1)
    places = written(tmp_path, corpus())
    status, _, err = cli(*places, "--engine", "dask", "--scheduler", "tcp://127.0.0.1:9", "--work", "work")
    assert status == 2 and len(err.splitlines()) == 1
    assert err.startswith("--scheduler: no Dask scheduler answers at tcp://127.0.0.1:9")
    status, _, err = cli(*places, "--engine", "dask", "--scheduler", "nonsense://", "--work", "work")
    assert status == 2 and len(err.splitlines()) == 1


def test_a_scheduler_that_is_lost_is_told(tmp_path: Path) -> None:
    places = written(tmp_path, corpus(40), shards=20)
    # The worker that takes on a pipe that nobody writes to never ends with it.
    pipe = Path(places[0], "part-10.jsonl")
    pipe.unlink()
    os.mkfifo(pipe)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    dask = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--no-dashboard", "--host", address]
    work = [sys.executable, "-m", "distributed.cli.dask_worker", address, "--no-dashboard", "--nthreads", "2"]
    quiet: Any = {"env": environment, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": tmp_path}
    score = [sys.executable, "-m", "nereval_core", "score", *places, "-q", "--json", "out.json", "--work", "work"]
    with (
        subprocess.Popen(dask, **quiet) as scheduler,
        subprocess.Popen(work, **quiet) as worker,
        subprocess.Popen(
            [*score, "--engine", "dask", "--scheduler", address],
            **quiet | {"stderr": subprocess.PIPE, "text": True},
        ) as job,
    ):
        try:
            until = time.monotonic() + WAIT
            while time.monotonic() < until and not any((tmp_path / "work").glob("*.npz")):
                time.sleep(0.02)
            assert job.poll() is None
            scheduler.kill()
            err = job.communicate(timeout=WAIT)[1]
        finally:
            for process in (scheduler, worker, job):
                process.kill()
    assert (job.returncode, err) == (
        2,
        f"--scheduler: the Dask scheduler at {address} no longer answers; "
        "start it and score again: shards that were scored are kept\n",
    )
    assert not (tmp_path / "out.json").exists()


def test_without_dask_one_line_says_so(tmp_path: Path) -> None:
    places = written(tmp_path, corpus())
    code = "import sys; sys.modules['distributed'] = None; from nereval_core.cli import main; sys.exit(main())"
    done = subprocess.run(
        [sys.executable, "-c", code, "score", *places, "--engine", "dask"],
        env={**os.environ, "PYTHONPATH": str(ROOT), "XDG_CACHE_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    found = "--engine dask: the package distributed is not installed; pip install distributed"
    assert done.stderr.splitlines() == [found]
