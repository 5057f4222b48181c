"""Bounds of reading and scoring: real processes that take too much, too long, or that nobody waits for."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from nereval_core.conventions import conventions
from nereval_core.problems import FormatError
from nereval_core.readers import Source
from nereval_core.scoring import score_layers
from nereval_core.store import Store
from pages.shared.data.jobs import CancelledError, Watch
from pages.shared.data.kept_corpora import Keeper
from pages.shared.data.loading import load
from pages.shared.data.reading_orders import Part, Uploaded
from pages.shared.data.reading_process import read_order
from pages.shared.server import access, core_process
from pages.shared.server.core_process import Bounds, call_apart
from tests.support.pages import GOLD, PREDICTION
from tests.support.samples import nested

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="memory is bounded on Linux alone")


def order(text: str) -> Uploaded:
    """Return the order to read a system beside some text as gold."""
    files = {"gold": ("gold.jsonl", text), "system": ("system.jsonl", text)}
    return Uploaded("x", {name: [Part([(file, raw.encode())])] for name, (file, raw) in files.items()})


@pytest.mark.parametrize("memory", [None, 8_000_000_000])
def test_small_files_are_read_apart_on_a_server_for_others(tmp_path: Path, memory: int | None) -> None:
    files = {"gold": ("gold.jsonl", GOLD), "system": ("system.jsonl", PREDICTION)}
    asked = Uploaded("x", {name: [Part([(file, raw.encode())])] for name, (file, raw) in files.items()})
    here = read_order(Keeper(None), asked, Watch())
    apart = read_order(Keeper(Store(tmp_path)), asked, Watch(), Bounds(memory, 60, apart=True))
    assert apart.corpus.digest == here.corpus.digest


@LINUX
def test_a_reading_beyond_its_memory_is_one_line(tmp_path: Path) -> None:
    large = "".join(json.dumps({"id": str(n), "text": "x" * 1_000_000, "spans": []}) + "\n" for n in range(150))
    with pytest.raises(FormatError) as refused:
        read_order(Keeper(Store(tmp_path)), order(large), Watch(), Bounds(900_000_000, 60, apart=True))
    (line,) = refused.value.lines()
    assert "takes more memory than the 0.9 GB that the server allows; give less, or" in line
    assert not list(tmp_path.glob("*nereval-*"))


def test_a_reading_beyond_its_time_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"takes longer than the 0\.1 seconds that the server allows"):
        read_order(Keeper(Store(tmp_path)), order(GOLD), Watch(), Bounds(seconds=0.1, apart=True))


def test_a_reading_that_nobody_waits_for_ends(tmp_path: Path) -> None:
    with pytest.raises(CancelledError):
        read_order(Keeper(Store(tmp_path)), order(GOLD), Watch(), Bounds(apart=True, is_waited_for=lambda: False))


def test_scoring_beyond_its_time_is_one_line(tmp_path: Path) -> None:
    for name, shift in (("gold", 0), ("system", 1)):
        (tmp_path / f"{name}.jsonl").write_text(nested(400, shift))
    gold, system = (Source.of_path(tmp_path / f"{name}.jsonl") for name in ("gold", "system"))
    corpus = load("tangled", gold, {"system": system}).corpus
    scoring = partial(score_layers, corpus.gold, corpus.system("system"))
    with pytest.raises(FormatError, match=r"system: scoring: takes longer than the 0\.1 seconds"):
        call_apart(scoring, "system: scoring", check_wanted=lambda: None, bounds=Bounds(seconds=0.1))


@LINUX
def test_a_computation_beyond_its_memory_is_one_line() -> None:
    with pytest.raises(FormatError, match=r"large: takes more memory than the 1\.0 GB that the server allows"):
        call_apart(partial(bytes, 2_000_000_000), "large", check_wanted=lambda: None, bounds=Bounds(1_000_000_000))


def test_a_fault_of_a_computation_is_told_with_its_traceback() -> None:
    with pytest.raises(RuntimeError, match=r"(?s)in the process apart: Traceback.*ZeroDivisionError"):
        call_apart(partial(divmod, 1, 0), "fault", check_wanted=lambda: None)


def test_the_problems_of_a_computation_are_those_of_a_call_here(tmp_path: Path) -> None:
    source = tmp_path / "nested.jsonl"
    source.write_text(nested(4, 0))
    corpus = load("nested", Source.of_path(source), {"system": Source.of_path(source)}).corpus
    asked = partial(conventions()["spacy-ents"].of_layers, corpus.gold, corpus.system("system"), {})
    raised = []
    for call in (asked, lambda: call_apart(asked, "scoring", check_wanted=lambda: None)):
        with pytest.raises(FormatError) as refused:
            call()
        raised.append(refused.value.lines())
    assert raised[0] and raised[0] == raised[1]


def test_a_process_that_says_nothing_ends_when_its_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    def start_sleeping() -> subprocess.Popen[bytes]:
        command = [sys.executable, "-c", "import time; time.sleep(60)"]
        processes.append(subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE))
        return processes[0]

    processes: list[subprocess.Popen[bytes]] = []
    monkeypatch.setattr(core_process, "start_process", start_sleeping)
    begun = time.monotonic()
    with pytest.raises(FormatError, match="long: takes longer than"):
        # More than a pipe holds.
        call_apart(partial(len, bytes(1 << 20)), "long", check_wanted=lambda: None, bounds=Bounds(seconds=0.2))
    assert time.monotonic() - begun < 30 and processes[0].returncode is not None


def test_a_session_is_missed_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    active = [True, False, False]
    monkeypatch.setattr(access, "LEFT", 0.3)
    monkeypatch.setattr(access.streamlit_internals, "session_id", lambda: "session")
    monkeypatch.setattr(access.streamlit_internals, "is_active", lambda session: active.pop(0))
    bounds = access.session_bounds()
    assert bounds.is_waited_for() and bounds.is_waited_for()
    time.sleep(0.4)
    assert not bounds.is_waited_for()


@pytest.mark.parametrize(
    ("own", "limits", "expected"),
    [
        ("0::/a/b\n", {"a/memory.max": "3000000\n", "a/b/memory.max": "max\n"}, 3_000_000),
        ("0::/a/b\n", {"memory.max": "2000000\n", "a/b/memory.max": "3000000\n"}, 2_000_000),
        # The path is the machine's where the namespace is not.
        ("4:cpu:/x\n5:memory:/docker/1\n0::/x\n", {"memory/memory.limit_in_bytes": "4000000\n"}, 4_000_000),
        ("0::/\n", {"memory.max": "9223372036854771712\n"}, None),
        ("", {}, None),
    ],
)
def test_bounds_are_those_of_the_container(
    own: str, limits: dict[str, str], expected: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = core_process._machine_memory()
    (tmp_path / "own").write_text(own)
    for name, limit in limits.items():
        place = tmp_path / "groups" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(limit)
    monkeypatch.setattr(core_process, "OWN_CGROUPS", tmp_path / "own")
    monkeypatch.setattr(core_process, "CGROUPS", tmp_path / "groups")
    if expected is None:
        assert core_process._machine_memory() >= machine
    else:
        assert core_process._machine_memory() == expected
        assert core_process.server_bounds(alone=False).memory == expected // 2
