"""Systems that are read in processes of their own are what reading them here gives, and nothing stays behind."""

from __future__ import annotations

import sys
import tempfile
from contextlib import suppress
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

import nereval_core as nereval
from nereval_core import readers
from nereval_core.api import load, parallel_reading
from nereval_core.api.load import load_corpus, read_layers
from nereval_core.api.load_options import LoadOptions
from nereval_core.corpus import SPAN_KEYS
from nereval_core.problems import FormatError
from nereval_core.readers import Reading, ReadOptions, Source

DEMO = Path(__file__).parents[2] / "demo_data" / "pharmacology"
FORMATS = ("bioc", "brat", "conll", "csv", "datasets", "docbin", "jsonl", "parquet", "prodigy", "pubtator")
ENDINGS = {"bioc": ".xml", "docbin": ".spacy", "prodigy": ".jsonl", "datasets": ".jsonl", "brat": "", "parquet": ""}
BIO = "EU B-ORG\nrejects O\n\nGerman B-MISC\nlamb I-MISC\n"


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """Every system is large enough for a process, and there is one; the names of layers read in this process."""
    monkeypatch.setattr(load, "PARALLEL_BYTES", 1)
    monkeypatch.setattr(parallel_reading, "spare_processors", lambda: 1)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    read, names = readers.read, []

    def noting(source: Source, *, format: str = "auto", options: ReadOptions | None = None) -> Reading:
        names.append((options or ReadOptions()).name or "")
        return read(source, format=format, options=options)

    monkeypatch.setattr(readers, "read", noting)
    return names


def alike(one: Reading, other: Reading) -> bool:
    for field in fields(one):
        mine, yours = getattr(one, field.name), getattr(other, field.name)
        if field.name == "layer":
            keys = ("doc", "start", "end", "type")
            assert all(np.array_equal(getattr(mine, key), getattr(yours, key)) for key in keys)
            assert all(dict(getattr(mine, key)) == dict(getattr(yours, key)) for key in SPAN_KEYS)
            assert (mine.name, mine.types, mine.digest) == (yours.name, yours.types, yours.digest)
        elif field.name == "documents":
            assert (mine.ids, list(mine.texts), mine.digest) == (yours.ids, list(yours.texts), yours.digest)
        elif field.name == "places":
            assert list(mine) == list(yours)
        else:
            assert mine == yours, field.name
    return True


@pytest.mark.parametrize("format", FORMATS)
def test_reading_elsewhere_is_reading_here(format: str, here: list[str], tmp_path: Path) -> None:
    pytest.importorskip("spacy") if format == "docbin" else None
    paths = {}
    for name in ("gold", "perceptron", "rules"):
        paths[name] = str(tmp_path / f"{name}{ENDINGS.get(format, '.' + format)}")
        nereval.write(nereval.read(DEMO / f"{name}.jsonl"), paths[name], format=format, lossy=True)
    here.clear()
    gold, systems = paths.pop("gold"), paths
    found = read_layers(gold, systems, LoadOptions())
    # The second system waits for the only process, so that it is read here.
    assert here == ["gold", "rules"]
    assert list(found.systems) == list(systems)
    assert isinstance(found.gold, Reading)
    for name, path in systems.items():
        told = LoadOptions().of_prediction(name, found.gold)
        reading = found.systems[name]
        assert isinstance(reading, Reading)
        assert alike(reading, readers.read(Source.of_path(path), options=told))


@pytest.mark.parametrize(
    ("gold", "system", "again"),
    [
        (BIO, BIO, False),
        ("EU I-ORG\nrejects B-ORG\n", "EU B-ORG\nrejects O\n", True),  # IOB1, in which the system breaks a rule
        (BIO, "EU O\nrejects O\n\nGerman O\nlamb O\n", True),  # no tag, so that the scheme cannot be told
    ],
)
def test_a_system_is_read_again_where_gold_has_another_scheme(
    gold: str, system: str, again: bool, here: list[str], tmp_path: Path
) -> None:
    (tmp_path / "gold.conll").write_text(gold)
    (tmp_path / "pred.conll").write_text(system)
    with suppress(FormatError):
        load_corpus(str(tmp_path / "gold.conll"), {"pred": str(tmp_path / "pred.conll")})
    assert here[:2] == ["gold", "pred"][: 1 + again]


def test_problems_are_those_of_reading_here(here: list[str], tmp_path: Path) -> None:
    (tmp_path / "gold.conll").write_text(BIO)
    (tmp_path / "pred.conll").write_text(BIO.replace("I-MISC", "X-MISC"))
    told = LoadOptions(gold_format="conll", pred_format="conll")
    with pytest.raises(FormatError) as error:
        load_corpus(str(tmp_path / "gold.conll"), {"pred": str(tmp_path / "pred.conll")}, options=told)
    assert [(Path(problem.source).name, problem.line) for problem in error.value.problems] == [("pred.conll", 5)]
    assert here[:2] == ["gold", "pred"]


def test_a_process_that_fails_is_made_up_for(here: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    loaded = load_corpus(str(DEMO / "gold.jsonl"), {"rules": str(DEMO / "rules.jsonl")})
    assert here == ["gold", "rules"]
    assert len(loaded.corpus.systems[0])


def test_nothing_stays_behind_when_gold_ends_it(
    here: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(load, "_read_gold", stopped)
    with pytest.raises(KeyboardInterrupt):
        read_layers(str(DEMO / "gold.jsonl"), {"rules": str(DEMO / "rules.jsonl")}, LoadOptions())
    assert not list(tmp_path.iterdir())
