"""Jobs that end in the middle, by an interrupt, a lost cluster or a full disk, say so and go on where they stopped."""

from __future__ import annotations

import json
import os
import resource
import signal
import socket
import subprocess
import sys
import threading
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

import pytest

from nereval_core.engine import run
from tests.support import PYTHON_PATH, ROOT
from tests.support.commands import WAIT, Cli, corpus, entries, unanswered, wait_for, written

distributed = pytest.importorskip("distributed")


def test_a_job_that_is_interrupted_stops_cleanly_and_goes_on(cli: Cli, tmp_path: Path) -> None:
    places = written(tmp_path, corpus(40), shards=20)
    pipe = Path(places[0], "part-10.jsonl")
    asked = ("--criteria", "all", "--work", "work", "--json", "dask.json")
    command = [sys.executable, "-m", "nereval_core", "score", *places, "--engine", "dask", "--workers", "2", *asked]
    environment = {**os.environ, "PYTHONPATH": PYTHON_PATH}
    with (
        unanswered(pipe),
        subprocess.Popen(
            command, cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True, start_new_session=True
        ) as job,
    ):
        wait_for(lambda: entries("work"))
        # As a terminal does it: to the job and to its workers.
        os.killpg(job.pid, signal.SIGINT)
        err = job.communicate(timeout=WAIT)[1]
        assert job.returncode == 130, err
    assert err == ""
    assert not Path("dask.json").exists()
    wait_for(lambda: not _alive(job.pid))
    done = entries("work")
    assert 0 < done < 40
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


LOST = {
    "dask_scheduler": "no longer answers; start it",
    "dask_worker": "has had no worker for 1 seconds; start workers",
}


@pytest.mark.parametrize(("lost", "told"), LOST.items(), ids=LOST)
def test_a_job_that_loses_its_cluster_says_so_and_goes_on(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lost: str, told: str
) -> None:
    monkeypatch.setattr(run, "WORKER_SECONDS", 1)
    places = written(tmp_path, corpus(40), shards=20)
    asked = (*places, "--work", "work", "--json")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
    with unanswered(Path(places[0], "part-10.jsonl")), ExitStack() as stack:
        started = {}
        for name, options in (("dask_scheduler", ["--host", address]), ("dask_worker", [address, "--no-nanny"])):
            command = [sys.executable, "-m", f"distributed.cli.{name}", "--no-dashboard", *options]
            command += ["--nthreads", "2"] if name == "dask_worker" else []
            process = subprocess.Popen(
                command,
                env={**os.environ, "PYTHONPATH": PYTHON_PATH},
                stdout=subprocess.DEVNULL,
                stderr=subprocess.STDOUT,
            )
            stack.callback(process.wait)
            stack.callback(process.kill)
            started[name] = process
        with distributed.Client(address, timeout=WAIT, set_as_default=False) as client:
            client.wait_for_workers(1, timeout=WAIT)
        killer = threading.Thread(target=lambda: (wait_for(lambda: entries("work")), started[lost].kill()))
        killer.start()
        status, out, err = cli(*asked, "out.json", "-q", "--engine", "dask", "--scheduler", address)
        killer.join()
    kept = "and score again: shards that were scored are kept"
    assert (status, out, err) == (2, "", f"--scheduler: the Dask scheduler at {address} {told} {kept}\n")
    assert not Path("out.json").exists()
    done = entries("work")
    assert 0 < done < 40
    status, _, err = cli(*asked, "rerun.json", "--engine", "local")
    assert status == 0 and f"; {done} of 40 counts" in err
    assert cli(*places, "--json", "one.json")[0] == 0
    assert Path("one.json").read_bytes() == Path("rerun.json").read_bytes()


WATCH = """
import os, sys
def opened(event, given):
    if event == "open" and str(given[0]).endswith(".jsonl"):
        with open(os.environ["WATCHED"], "a") as log:
            print(given[0], file=log)
sys.addaudithook(opened)
"""
"""Logs every shard that a process opens; any Python that finds it imports it when it starts, workers too."""


@pytest.mark.parametrize("engine", [("local",), ("dask", "--workers", "1")], ids=["local", "dask"])
def test_a_full_disk_ends_the_job_which_then_goes_on(cli: Cli, tmp_path: Path, engine: tuple[str, ...]) -> None:
    places = written(tmp_path, corpus(), shards=4)
    # The counts of this shard are larger than the disk has room for.
    with (
        Path(places[0], "deep", "part-3.jsonl").open("a") as file,
        Path(places[2], "deep", "part-3.jsonl").open("a") as other,
    ):
        for number in range(2000):
            line = json.dumps({"id": f"more {number}", "text": "Ann", "spans": [{"start": 0, "end": 3, "label": "A"}]})
            print(line, file=file)
            print(line, file=other)
    (tmp_path / "sitecustomize.py").write_text(WATCH)
    asked = (*places, "--missing", "empty", "--json", "out.json")

    def job(limit: int, *engine: str) -> tuple[int, str, Counter[str]]:
        """Return status, standard error, and how often each shard of gold was opened."""
        log = tmp_path / "opened"
        log.write_text("")
        done = subprocess.run(
            [sys.executable, "-m", "nereval_core", "score", *asked, "--engine", *engine, "--work", "work"],
            env={**os.environ, "PYTHONPATH": f"{tmp_path}:{ROOT}", "WATCHED": str(log)},
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
            capture_output=True,
            text=True,
            check=False,
        )
        names = (Path(line).name for line in log.read_text().splitlines() if line.startswith(places[0]))
        return done.returncode, done.stderr, Counter(names)

    status, err, _ = job(40_000, *engine)
    why = "File too large; mend that and score again: shards that were scored are kept"
    told = f"{Path('work').absolute()}: cannot be written into: {why}"
    assert (status, err.splitlines()[-1], Path("out.json").exists()) == (2, told, False)
    done = entries("work")
    assert 0 < done < 8
    status, err, opened = job(resource.RLIM_INFINITY, *engine)
    assert status == 0 and f"; {done} of 8 counts" in err
    _, _, again = job(resource.RLIM_INFINITY, "local")
    # Shards that were counted are opened for their digests alone, as all are when nothing is left to do.
    assert 2 * len(opened - again) == 8 - done and opened["part-3.jsonl"] > again["part-3.jsonl"]
    assert cli(*asked[:-1], "one.json")[0] == 0
    assert Path("one.json").read_bytes() == Path("out.json").read_bytes()
