"""Inputs with parts of them changed end in sound readings or in problems; the script that is led by coverage runs."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from nereval_core.readers import ReadOptions, readers
from tests.fuzzing.inputs import OPTIONS, attempt, seeds, shapes, taken
from tests.fuzzing.mutation import changed, words_of
from tests.support import ROOT

ROUNDS = 150


@pytest.mark.parametrize("format", readers())
def test_what_a_shape_begins_with_is_read(format: str) -> None:
    read = [attempt(format, *taken(format, seed)) for seed in seeds(format)]
    assert len(read) == len(shapes(format)) * len(OPTIONS)
    # What is no bytes to begin with is not left as it was.
    assert all(read[:: len(OPTIONS)])


@pytest.mark.parametrize("format", readers())
def test_changed_inputs_end_in_sound_readings_or_in_problems(format: str) -> None:
    given = list(seeds(format))
    words = words_of(given)
    drawn = random.Random(format)
    kept = given.copy()
    for number in range(ROUNDS):
        raw = changed(drawn.choice(kept), drawn.randrange(2**32), words)
        try:
            attempt(format, *taken(format, raw))
        except Exception as error:
            error.add_note(f"round {number}: {taken(format, raw)!r}")
            raise
        # Changes of what is changed go further.
        kept.append(raw)


# Inputs on which a reader failed once, made small by `tests.fuzzing`.
MENDED = [
    ("datasets", {"train.json": b'{"tokens":\x88'}),
    ("inline", {"x.sgm": b'<DOC>&#3;<X E=""\nS="">'}),
    (
        "mentions",
        {"answers.jsonl": b'{"text":"","b":[{"text":"A","":""},{"text":"b","":9223372036854775808}]}'},
    ),
]


@pytest.mark.parametrize(("format", "files"), MENDED)
def test_inputs_that_once_broke_a_reader(format: str, files: dict[str, bytes]) -> None:
    attempt(format, files, ReadOptions())


def test_what_breaks_the_rules_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = next(seeds("doccano"))
    reader: Any = readers()["doccano"]
    from nereval_core.problems import FormatError

    def fails(error: Exception) -> Any:
        def read(*given: Any) -> Any:
            raise error

        return read

    for error in (KeyError("x"), FormatError.single("all.jsonl", 9, "x", "y"), FormatError.single("x", None, "", "y")):
        monkeypatch.setattr(reader, "read", fails(error))
        with pytest.raises((KeyError, AssertionError)):
            attempt("doccano", *taken("doccano", raw))
    monkeypatch.setattr(reader, "read", fails(FormatError.single("all.jsonl", 3, "x", "y")))
    assert not attempt("doccano", *taken("doccano", raw))


def test_the_script_feeds_a_reader(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.fuzzing", "pubtator", "--seconds", "1", "--folder", str(tmp_path)]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if find_spec("atheris") is None:
        assert (run.returncode, run.stderr) == (
            2,
            "tests.fuzzing: no atheris; pip install atheris (CPython on Linux)\n",
        )
        pytest.skip("no atheris here")
    assert run.returncode == 0, run.stdout + run.stderr
    assert json.loads((tmp_path / "pubtator" / "counts.json").read_text())["inputs"] > 0
    assert run.stdout.splitlines()[-1].split()[0] == "pubtator"
