"""Scoring shard by shard gives what one process gives, bit for bit, and says what is wrong with shards."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nereval_core.cli import main
from nereval_core.engine import scored_folder
from nereval_core.engine.record_files import folder_name, records_path
from nereval_core.engine.run import run_locally
from nereval_core.engine.shard_counts import CountsStore
from nereval_core.engine.shards import list_shards
from nereval_core.engine.tally import Mean, Tally, sum_tallies
from nereval_core.engine.work import Job, score_shard
from nereval_core.pairing import added_marks
from nereval_core.problems import FormatError
from nereval_core.records.tables import RECORD_COLUMNS
from nereval_core.report.json_results import results
from nereval_core.scoring import Counts, Settings
from nereval_core.scoring.averages import Average, Sums
from nereval_core.scoring.counts import ratio_columns
from nereval_core.scoring.criteria import CRITERIA
from nereval_core.scoring.criterion_syntax import criterion_from_parts
from tests.support import PYTHON_PATH
from tests.support.commands import SIDES, Cli, corpus, written
from tests.support.spans import CRITERIA_TESTED

FORMS = ("json", "csv", "markdown", "html")


def both(cli: Cli, *arguments: str) -> tuple[dict[str, bytes], dict[str, bytes]]:
    """Score in one process and shard by shard; return the files written by form."""
    found = []
    for name, engine in (("one", ()), ("shards", ("--engine", "local"))):
        files = [part for form in FORMS for part in (f"--{form}", f"{name}.{form}")]
        status, _, err = cli(*arguments, *files, *engine)
        assert status == 0, err
        found.append({form: Path(f"{name}.{form}").read_bytes() for form in FORMS})
    return found[0], found[1]


ASKED = (
    ("--criteria", "all", "--by", "type,document"),
    ("--criteria", "all", "--counting", "each-side", "--by", "document"),
    ("--criteria", "strict,core,fragment", "--merge", "A,B=AB", "--leave-out", "C", "--by", "type"),
    ("--criterion", "half: boundaries=overlap, minimum=0.5, share=union, types=any, otherwise=PAR"),
)


@pytest.mark.parametrize("asked", ASKED, ids=lambda asked: " ".join(asked)[:40])
@pytest.mark.parametrize("shards", [1, 4, 9])
def test_the_result_is_that_of_one_process(cli: Cli, tmp_path: Path, asked: tuple[str, ...], shards: int) -> None:
    places = written(tmp_path, corpus(seed=shards), shards=shards)
    one, other = both(cli, *places, *asked)
    assert one == other
    system = json.loads(one["json"])["systems"][1]
    assert system["spans"] > 10 and list(system["criteria"])


def test_what_is_printed_is_that_of_one_process(cli: Cli, tmp_path: Path) -> None:
    places = written(tmp_path, corpus())
    one = cli(*places, "--by", "type", "-q")
    assert cli(*places, "--by", "type", "-q", "--engine", "local") == one
    assert one[0] == 0 and "macro over types" in one[1]


def test_other_shards_give_the_same_numbers(cli: Cli, tmp_path: Path) -> None:
    sides = corpus(30)
    texts = set()
    for number, (shards, turn) in enumerate([(1, 0), (3, 7), (30, 11)]):
        turned = {side: [*rows[turn:], *rows[:turn]] for side, rows in sides.items()}
        places = written(tmp_path / str(number), turned, shards=shards)
        status, out, err = cli(*places, "--engine", "local", "--criteria", "all", "--json", "-")
        assert status == 0, err
        texts.add(out)
    assert len(texts) == 1


@pytest.mark.parametrize("missing", ["a document", "a shard", "all but one"])
def test_missing_documents_are_counted_as_empty_likewise(cli: Cli, tmp_path: Path, missing: str) -> None:
    sides = corpus()
    if missing == "a document":
        del sides["one"][3]
    places = written(tmp_path, {"gold": corpus()["gold"], "one": sides["one"]})
    if missing == "a document":
        # The others stay in their shards.
        whole = written(tmp_path, {"one": corpus()["one"]})
        path = Path(whole[0], "part-0.jsonl")
        path.write_text("".join(line for line in path.open() if json.loads(line)["id"] != corpus()["one"][3]["id"]))
    for number in {"a document": (), "a shard": (2,), "all but one": (0, 1, 2, 4)}[missing]:
        Path(places[1], "deep" if number % 2 else "", f"part-{number}.jsonl").unlink()
    status, _, err = cli(*places, "--engine", "local", "--json", "out.json")
    assert status == 2 and "missing" in err and not Path("out.json").exists()
    one, other = both(cli, *places, "--missing", "empty", "--by", "document")
    assert one == other
    assert b"missing counted empty: " in one["json"]


def test_packed_shards_pair_with_plain_ones(cli: Cli, tmp_path: Path) -> None:
    plain = written(tmp_path / "plain", corpus())
    packed = written(tmp_path / "packed", corpus(), packed=True)
    found = [cli(*places, "--engine", "local", "--json", "-") for places in (plain, packed)]
    assert found[0][1] == found[1][1] and found[0][0] == 0
    assert Path(packed[0], "part-0.jsonl.gz").is_file()


def test_shards_of_parquet_are_read_too(cli: Cli, tmp_path: Path) -> None:
    plain = written(tmp_path / "plain", corpus())
    places = [str(tmp_path / side) for side in SIDES]
    for one, place in zip(plain, places, strict=True):
        assert main(["convert", one, place, "--to", "parquet", "--shards", "4", "-q"]) == 0
    # Gold's texts serve the predictions.
    for path in Path(places[1]).rglob("*.texts.parquet"):
        path.unlink()
    asked = ("--criteria", "all", "--by", "type,document")
    one, other = both(cli, *places, *asked)
    assert one == other
    of_jsonl, _ = both(cli, *plain, *asked)
    assert json.loads(of_jsonl["json"]) == json.loads(one["json"])
    assert cli(*places, "--engine", "local", "--out", "scored")[0] == 0
    opened = scored_folder.read("scored")
    assert [len(opened.files(shard["gold"])) for shard in opened.shards] == [2, 2, 2, 2]
    assert [len(opened.files(shard["systems"]["one"])) for shard in opened.shards] == [1, 1, 1, 1]


@pytest.mark.parametrize("packed", [False, True])
def test_empty_files_are_shards_without_documents(cli: Cli, tmp_path: Path, packed: bool) -> None:
    places = written(tmp_path, corpus(), packed=packed)
    for place in places:
        Path(place, "part-9.jsonl").touch()
    one, other = both(cli, *places, "--criteria", "all", "--by", "document")
    assert one == other
    assert cli(*places, "--engine", "local", "--records", "scored")[0] == 0
    assert [shard["documents"] for shard in scored_folder.read("scored").shards] == [5, 5, 5, 5, 4, 0]
    Path(places[1], "part-0.jsonl").write_bytes(b"")
    assert cli(*places, "--engine", "local")[0] == 2
    one, other = both(cli, *places, "--missing", "empty", "--by", "document")
    assert one == other


def test_files_alone_are_one_shard(cli: Cli, tmp_path: Path) -> None:
    places = [str(Path(place, "part-0.jsonl").rename(f"{place}.jsonl")) for place in written(tmp_path, corpus())]
    one, other = both(cli, *places)
    assert one == other


def records_of(target: str, system: str, criterion: str) -> pd.DataFrame:
    """Return the records of all shards as one frame, numbered over the whole."""
    opened = scored_folder.read(target)
    frames = []
    documents = gold = pred = 0
    for shard in opened.shards:
        path = records_path(f"{target}/records", system, criterion, shard["name"])
        frame = pq.read_table(path, columns=list(RECORD_COLUMNS)).to_pandas()
        for column, offset in (("doc", documents), ("gold", gold), ("pred", pred)):
            frame[column] = frame[column].where(frame[column] < 0, frame[column] + offset)
        frames.append(frame)
        documents += shard["documents"]
        gold += shard["gold_spans"]
        pred += shard["systems"][system]["spans"]
    return pd.concat(frames, ignore_index=True)


@pytest.mark.parametrize("counting", ["one-to-one", "each-side"])
def test_records_are_those_of_one_process(cli: Cli, tmp_path: Path, counting: str) -> None:
    places = written(tmp_path, corpus(), shards=3)
    asked = (*places, "--criteria", "strict,core,muc,lenient,fragment", "--counting", counting)
    assert cli(*asked, "--records", "whole.parquet")[0] == 0
    assert cli(*asked, "--engine", "local", "--records", "scored")[0] == 0
    whole = pd.read_parquet("whole.parquet")
    for system, criterion in itertools.product(("one", "two"), ("strict", "core", "muc", "lenient", "fragment")):
        ours = records_of("scored", system, criterion)
        theirs = whole[(whole["system"] == system) & (whole["criterion"] == criterion)][list(RECORD_COLUMNS)]
        if criterion == "fragment":
            # Token runs are not spans as read: their numbers are those of the shard.
            ours, theirs = (frame.drop(columns=["gold", "pred"]) for frame in (ours, theirs))
        assert len(ours)
        pd.testing.assert_frame_equal(
            ours.astype(object).where(ours.notna(), None),
            theirs.astype(object).where(theirs.notna(), None).reset_index(drop=True),
        )


def test_what_is_left_has_the_same_bytes_every_time(cli: Cli, tmp_path: Path) -> None:
    places = written(tmp_path, corpus())
    found = []
    for name in ("first", "second"):
        assert cli(*places, "--engine", "local", "--records", name)[0] == 0
        found.append({path.relative_to(name): path.read_bytes() for path in Path(name).rglob("*") if path.is_file()})
    assert found[0] == found[1]
    # Manifest, results, an entry for each of 5 shards and 2 systems, and records under 4 criteria; for pages columns of
    # gold and of each system, the records of each by criterion, and the documents.
    assert len(found[0]) == 2 + 10 + 40 + (5 + 10) + 2 * 4 + 1


def test_the_scored_folder_opens_again(cli: Cli, tmp_path: Path) -> None:
    places = written(tmp_path, corpus())
    rule = "half: boundaries=overlap, minimum=1/3, share=union, types=any, otherwise=PAR"
    asked = (*places, "--criteria", "all", "--criterion", rule, "--merge", "A=B")
    assert cli(*asked, "--engine", "local", "--out", "scored", "--json", "out.json")[0] == 0
    assert Path("scored/results.json").read_bytes() == Path("out.json").read_bytes()
    opened = scored_folder.read("scored")
    again = results(opened.whole.gold, opened.whole.systems, documents=True)
    plain = results(opened.whole.gold, opened.whole.systems)
    assert plain == json.loads(Path("out.json").read_text())
    assert cli(*asked, "--by", "document", "--json", "out.json")[0] == 0
    assert again == json.loads(Path("out.json").read_text())
    shard = opened.shards[1]
    assert [Path(path).read_bytes() for path in opened.files(shard["gold"])] == [
        Path(places[0], f"{shard['name']}.jsonl").read_bytes()
    ]
    assert not opened.records and not Path("scored/records").exists()


@pytest.mark.parametrize("content", [None, "", "{}", '{"form": 3}', '{"form": 2}', '{"form": 2, "checksum": ""}', "[]"])
def test_no_scored_folder_is_told(tmp_path: Path, content: str | None) -> None:
    if content is not None:
        (tmp_path / "scored.json").write_text(content)
    with pytest.raises(FormatError, match=r"scored folder|the manifest is damaged"):
        scored_folder.read(tmp_path)


def test_a_manifest_of_the_first_form_is_read_and_a_changed_one_is_not(cli: Cli, tmp_path: Path) -> None:
    places = written(tmp_path, corpus())
    assert cli(*places, "--engine", "local", "-q", "--out", "scored")[0] == 0
    manifest = Path("scored/scored.json")
    row = json.loads(manifest.read_text())
    digest = scored_folder.read("scored").digest
    row["shards"][0]["documents"] += 1
    manifest.write_text(json.dumps(row))
    with pytest.raises(FormatError, match="the manifest is damaged: it is not as it was written; score the shards"):
        scored_folder.read("scored")
    row["shards"][0]["documents"] -= 1
    del row["checksum"]
    manifest.write_text(json.dumps(row | {"form": 1}))
    assert scored_folder.read("scored").digest == digest


@pytest.mark.parametrize("harm", ["cut short", "another's", "missing"])
def test_counts_of_documents_that_are_damaged_are_told(cli: Cli, tmp_path: Path, harm: str) -> None:
    places = written(tmp_path, corpus())
    assert cli(*places, "--engine", "local", "-q", "--out", "scored")[0] == 0
    one, other, *_ = sorted(Path("scored/counts").iterdir())
    if harm == "cut short":
        one.write_bytes(one.read_bytes()[:-50])
    elif harm == "another's":
        one.write_bytes(other.read_bytes())
    else:
        one.unlink()
    assert CountsStore("scored/counts").get(one.stem) is None
    told = 0
    for _, scores in scored_folder.read("scored").whole:
        if one.stem in scores.keys:
            with pytest.raises(FormatError, match=r"an entry of the counts of shards cannot be read: .*score again"):
                scores.by_document("strict")
            told += 1
    assert told


@pytest.mark.parametrize("name", ["columns/*.columns", "records/*/*/*.parquet"])
def test_what_has_a_changed_byte_is_made_anew(cli: Cli, tmp_path: Path, name: str) -> None:
    places = written(tmp_path, corpus())
    asked = (*places, "--engine", "local", "-q", "--records", "scored")
    assert cli(*asked)[0] == 0
    place = min(Path("scored").glob(name))
    good = place.read_bytes()
    # Between columns there are zeros that nobody reads.
    at = next(at for at in range(len(good) // 4, len(good)) if good[at])
    place.write_bytes(good[:at] + bytes([good[at] ^ 1]) + good[at + 1 :])
    assert cli(*asked)[0] == 0
    assert place.read_bytes() == good


def entries(work: str | Path) -> dict[str, int]:
    return {path.name: path.stat().st_mtime_ns for path in Path(work).glob("*.npz")}


def test_a_damaged_shard_is_named_and_the_others_are_kept(cli: Cli, tmp_path: Path) -> None:
    places = written(tmp_path, corpus())
    good = Path(places[0], "part-2.jsonl").read_text()
    Path(places[0], "part-2.jsonl").write_text(good.replace('"start": ', '"start": 7', 2))
    Path(places[1], "part-4.jsonl").write_text("no JSON\n")
    asked = (*places, "--engine", "local", "--json", "out.json", "--work", "work", "--out", "scored")
    status, out, err = cli(*asked)
    assert (status, out) == (2, "")
    lines = err.splitlines()
    assert len(lines) > 2
    assert all(line.startswith((f"{places[0]}/part-2.jsonl:", f"{places[1]}/part-4.jsonl:1: ")) for line in lines)
    assert not Path("out.json").exists() and not Path("scored/scored.json").exists()
    # Three shards are whole; of the fifth, one system is.
    before = entries("work")
    assert len(before) == 3 * 2 + 1
    Path(places[0], "part-2.jsonl").write_text(good)
    Path(places[1], "part-4.jsonl").write_text("".join(json.dumps(row) + "\n" for row in corpus()["one"][20:]))
    status, _, err = cli(*asked)
    assert status == 0 and "; 7 of 10 counts of shards were there already" in err
    after = entries("work")
    assert before.items() <= after.items() and len(after) == 10
    one, _ = both(cli, *places)
    assert one["json"] == Path("out.json").read_bytes()


def test_a_shard_that_changed_is_scored_again(cli: Cli, tmp_path: Path) -> None:
    places = written(tmp_path, corpus())
    asked = (*places, "--engine", "local", "--records", "scored", "--json", "out.json")
    assert cli(*asked)[0] == 0
    path = Path(places[1], "part-2.jsonl")
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    rows[0]["spans"] = []
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    status, _, err = cli(*asked)
    assert status == 0 and "; 9 of 10 counts" in err
    one, _ = both(cli, *places)
    assert one["json"] == Path("out.json").read_bytes()
    assert cli(*places, "--records", "whole.parquet")[0] == 0
    whole = pd.read_parquet("whole.parquet", columns=["system", "criterion", "record"])
    theirs = whole[(whole["system"] == "one") & (whole["criterion"] == "strict")]["record"]
    assert records_of("scored", "one", "strict")["record"].tolist() == theirs.tolist()


def test_other_settings_have_entries_of_their_own(cli: Cli, tmp_path: Path) -> None:
    places = written(tmp_path, corpus())
    asked = (*places[:2], "--engine", "local", "--work", "work")
    for number, more in enumerate([(), ("--criteria", "strict"), ("--merge", "A=B"), ("--counting", "each-side")], 1):
        assert "there already" not in cli(*asked, *more)[2]
        assert len(entries("work")) == 5 * number
        assert "; 5 of 5 counts" in cli(*asked, *more)[2]


def test_a_stopped_job_goes_on_where_it_was(cli: Cli, tmp_path: Path) -> None:
    places = written(tmp_path, corpus())
    shards = list_shards(places[0], dict(zip(SIDES[1:], places[1:], strict=True))).shards
    job = Job(settings=Settings(), work=str(tmp_path / "work"))
    done = list(itertools.islice(run_locally(shards, job), 2))
    assert [one.shard for one in done] == [shard.name for shard in shards[:2]]
    status, _, err = cli(*places, "--engine", "local", "--work", "work", "--json", "out.json")
    assert status == 0 and "; 4 of 10 counts" in err
    one, _ = both(cli, *places)
    assert one["json"] == Path("out.json").read_bytes()


@pytest.mark.parametrize("harm", ["cut short", "a byte changed", "emptied", "another file"])
def test_a_damaged_entry_is_made_anew(cli: Cli, tmp_path: Path, harm: str) -> None:
    places = written(tmp_path, corpus())
    asked = (*places, "--engine", "local", "--work", "work", "--json", "out.json")
    assert cli(*asked)[0] == 0
    good = Path("out.json").read_bytes()
    for path in Path("work").glob("*.npz"):
        raw = bytearray(path.read_bytes())
        raw[raw.index(b"gold_spans") + 1] ^= 1
        changed = {
            "cut short": bytes(raw[: -len(raw) // 3]),
            "a byte changed": bytes(raw),
            "emptied": b"",
            "another file": b"x" * 100,
        }
        path.write_bytes(changed[harm])
    status, _, err = cli(*asked)
    assert status == 0 and "there already" not in err
    assert Path("out.json").read_bytes() == good


@pytest.mark.parametrize("harm", ["cut short", "gone", "of another run"])
def test_records_that_are_not_whole_are_made_anew(cli: Cli, tmp_path: Path, harm: str) -> None:
    places = written(tmp_path, corpus())
    asked = (*places[:2], "--engine", "local", "--records", "scored")
    assert cli(*asked)[0] == 0
    path = records_path("scored/records", "one", "strict", "deep/part-1")
    good = path.read_bytes()
    if harm == "gone":
        path.unlink()
    else:
        other = records_path("scored/records", "one", "strict", "part-2").read_bytes()
        path.write_bytes(good[:-50] if harm == "cut short" else other)
    status, _, err = cli(*asked)
    assert status == 0 and "; 4 of 5 counts" in err
    assert path.read_bytes() == good


def test_a_job_without_a_folder_keeps_its_counts_until_it_is_done(cli: Cli, tmp_path: Path) -> None:
    places = written(tmp_path, corpus())
    path = Path(places[0], "part-2.jsonl")
    good = path.read_bytes()
    path.write_bytes(b"{\n")
    assert cli(*places, "--engine", "local")[0] == 2
    (kept,) = Path("cache/nereval-shards").iterdir()
    assert {path.stat().st_mode & 0o777 for path in (kept.parent, kept)} == {0o700}
    assert {path.stat().st_mode & 0o777 for path in kept.iterdir()} == {0o600}
    assert len(entries(kept)) == 8
    path.write_bytes(good)
    assert "; 8 of 10 counts" in cli(*places, "--engine", "local")[2]
    assert not kept.exists()


def test_equal_jobs_at_once_have_folders_of_their_own(tmp_path: Path) -> None:
    places = written(tmp_path, corpus())
    # Both wait for the last shard of the predictions until somebody writes it.
    pipe = Path(places[1], "part-4.jsonl")
    raw = pipe.read_bytes()
    pipe.unlink()
    os.mkfifo(pipe)
    command = [sys.executable, "-m", "nereval_core", "score", *places[:2], "--engine", "local", "-q", "--json"]
    environment = {**os.environ, "PYTHONPATH": PYTHON_PATH, "XDG_CACHE_HOME": str(tmp_path)}
    jobs = [
        subprocess.Popen([*command, f"{number}.json"], cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True)
        for number in range(2)
    ]
    folder, until = tmp_path / "nereval-shards", time.monotonic() + 60
    while time.monotonic() < until and [len(entries(one)) for one in folder.glob("*")] != [4, 4]:
        time.sleep(0.02)
    assert len({one.name for one in folder.iterdir()}) == 2
    whole = tmp_path / "whole"
    whole.write_bytes(raw)
    whole.replace(pipe)
    # Those that wait for the pipe, which no longer has a name, wait for ever.
    for job in jobs:
        job.kill()
        job.wait()
        assert job.stderr is not None
        job.stderr.close()
    again = [
        subprocess.Popen([*command, f"{number}.json"], cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True)
        for number in range(2)
    ]
    said = [job.communicate(timeout=60)[1] for job in again]
    assert [(job.returncode, err) for job, err in zip(again, said, strict=True)] == [(0, "")] * 2
    assert (tmp_path / "0.json").read_bytes() == (tmp_path / "1.json").read_bytes()
    # What the first two left was taken over.
    assert not list(folder.iterdir())


def test_a_document_in_two_shards_is_told(cli: Cli, tmp_path: Path) -> None:
    sides = corpus()
    for rows in sides.values():
        rows.append({**rows[0]})
    places = written(tmp_path, sides)
    status, _, err = cli(*places, "--engine", "local", "--json", "out.json")
    name = sides["gold"][0]["id"]
    found = f"{places[0]}/part-4.jsonl: document id '{name}' stands in {places[0]}/deep/part-1.jsonl already; "
    assert status == 2 and not Path("out.json").exists()
    assert [line for line in err.splitlines() if line.startswith(found) or "stands in" in line] == err.splitlines()
    assert len(err.splitlines()) == 1


WRONG = (
    (("--workers", "2"), "--workers is for scoring shard by shard: give --engine dask or local"),
    (("--out", "x"), "--out is for scoring shard by shard"),
    (("--engine", "local", "--workers", "2"), "--scheduler and --workers are for --engine dask"),
    (("--engine", "dask", "--workers", "0"), "--workers 0, give at least 1"),
    (("--engine", "dask", "--workers", "1", "--scheduler", "tcp://h:1"), "give one of them"),
    (("--engine", "dask", "--scheduler", "tcp://h:1"), "name a folder that all workers reach"),
    (("--engine", "local", "--scheme", "IOB2"), "--scheme has no use with --engine"),
    (("--engine", "local", "--format", "brat"), "shards are jsonl or parquet, by how their files end"),
    (("--engine", "local", "--out", "a", "--records", "b"), "give one of them"),
    (("--engine", "local", "--out", "gold/x"), "lies in an input"),
    (("--engine", "local", "--records", "."), "is a folder with other things in it"),
    (("--engine", "local", "--work", "gold/part-0.jsonl"), "is a file, give a folder"),
)


@pytest.mark.parametrize(("options", "told"), WRONG, ids=lambda value: " ".join(value) if value else "")
def test_misused_options_are_told(cli: Cli, tmp_path: Path, options: tuple[str, ...], told: str) -> None:
    written(tmp_path, corpus())
    status, out, err = cli("gold", "one", *options)
    assert (status, out) == (2, "")
    assert told in err and len(err.splitlines()) == 1


LISTS: tuple[tuple[dict[str, str | None], tuple[str, ...]], ...] = (
    ({"one/part-0.jsonl": None}, ("one: no file for the shard 'part-0' (gold/part-0.jsonl)",)),
    ({"one/more.jsonl": ""}, ("one/more.jsonl: the shard 'more' is not in gold",)),
    ({"gold/part-0.jsonl.gz": ""}, ("gold/part-0.jsonl.gz: a second file of the shard 'part-0' beside",)),
    ({"none/readme.txt": "hello"}, ("none: no shards in it; give files that end in .jsonl",)),
    ({}, ("two: no such file or folder",)),
)


@pytest.mark.parametrize(("changes", "told"), LISTS, ids=lambda value: " ".join(value))
def test_shards_that_do_not_pair_are_told(
    cli: Cli, tmp_path: Path, changes: dict[str, str | None], told: tuple[str, ...]
) -> None:
    written(tmp_path, {side: corpus()[side] for side in ("gold", "one")})
    for name, content in changes.items():
        if content is None:
            Path(name).unlink()
        else:
            Path(name).parent.mkdir(exist_ok=True)
            Path(name).write_text(content)
    system = "two" if not changes else "none" if "none/readme.txt" in changes else "one"
    status, _, err = cli("gold", system, "--engine", "local")
    assert status == 2
    assert len(err.splitlines()) == len(told)
    assert all(line.startswith(start) for line, start in zip(err.splitlines(), told, strict=True))


def test_other_files_are_passed_over(cli: Cli, tmp_path: Path) -> None:
    places = written(tmp_path, corpus())
    for name in ("README.md", "_SUCCESS", ".hidden.jsonl"):
        Path(places[0], name).write_text("hello")
    status, _, err = cli(*places, "--engine", "local")
    assert status == 0 and f"{places[0]}: files that are not shards, passed over: 2" in err


def test_a_criterion_that_gold_lacks_is_skipped_or_refused(cli: Cli, tmp_path: Path) -> None:
    sides = corpus()
    for rows in sides.values():
        for row in rows:
            row["spans"] = [{key: span[key] for key in ("start", "end", "label")} for span in row["spans"]]
    places = written(tmp_path, sides)
    one, other = both(cli, *places, "--criteria", "all", "--by", "document")
    assert one == other
    assert "core" not in json.loads(one["json"])["systems"][0]["criteria"]
    status, _, err = cli(*places, "--engine", "local", "--criteria", "core,strict", "--json", "out.json")
    assert status == 2 and "criterion core needs core terms" in err and not Path("out.json").exists()


def test_a_worker_of_another_version_is_told(tmp_path: Path) -> None:
    places = written(tmp_path, corpus())
    (shard, *_) = list_shards(places[0], {"one": places[1]}).shards
    job = Job(settings=Settings(), work=str(tmp_path / "work"), version="0.0.1")
    (problem,) = score_shard(shard, job).problems
    assert "the job was sent by 0.0.1" in str(problem)


def test_tallies_add_up_in_any_order(tmp_path: Path) -> None:
    places = written(tmp_path, corpus(40), shards=7)
    shards = list_shards(places[0], {"one": places[1]}).shards
    settings = Settings((*CRITERIA.values(), criterion_from_parts("own", {"boundaries": "overlap"}, "test")))
    job = Job(settings=settings, work=str(tmp_path / "work"))
    tallies = [score_shard(shard, job).systems["one"].tally for shard in shards]
    whole = sum_tallies(tallies)
    assert sum_tallies(reversed(tallies)) == whole == sum_tallies([sum_tallies(tallies[4:]), sum_tallies(tallies[:4])])
    assert Tally() + whole == whole + Tally() == whole
    assert Tally.of_json(json.loads(json.dumps(whole.as_json()))) == whole
    assert CountsStore(job.work).get(score_shard(shards[0], job).systems["one"].key) == tallies[0]


sides_of_counts = st.lists(st.lists(st.integers(0, 40), min_size=5, max_size=5), min_size=2, max_size=2)


@given(st.lists(st.tuples(sides_of_counts, st.integers(0, 2)), max_size=40), st.integers(0, 40))
def test_means_of_parts_are_those_of_the_whole(rows: list[tuple[list[list[int]], int]], cut: int) -> None:
    """Against `Average.of` over the ratios of `Counts`: the same floats, however the rows are split."""
    counts = [Counts(tuple(gold), tuple(pred)) for (gold, pred), _ in rows]
    table = np.array([pair for pair, _ in rows], np.int64).reshape(-1, 2, 5)
    group = np.array([group for _, group in rows], np.int64)
    found = ratio_columns(table[:, 0], table[:, 1])
    for name, values in zip(("precision", "recall", "f1"), found, strict=True):
        expected = [getattr(one, name) for one in counts]
        parts = []
        for part in (slice(cut), slice(cut, None)):
            sums = Sums(3)
            sums.add(values[part], group[part])
            parts.append([Mean.of(sums, number) for number in range(3)])
        for number, (one, two) in enumerate(zip(*parts, strict=True)):
            of_group = [value for value, (_, own) in zip(expected, rows, strict=True) if own == number]
            assert (one + two).average == Average.of(of_group)
            assert one + two == two + one and one + Mean() == one


MARKS: tuple[tuple[Any, tuple[str, ...]], ...] = (
    ((), ()),
    ((("missing counted empty: 1 document",), ()), ("missing counted empty: 1 document",)),
    (
        (("missing counted empty: 1 document",), ("missing counted empty: 1 document",)),
        ("missing counted empty: 2 documents",),
    ),
    (
        (("missing counted empty: 2 documents", "token text from gold: 1 token"), ("token text from gold: 9 tokens",)),
        ("missing counted empty: 2 documents", "token text from gold: 10 tokens"),
    ),
    ((("gold repaired: 3 tags",), ("gold repaired: 3 tags",)), ("gold repaired: 3 tags",)),
)


@pytest.mark.parametrize(("parts", "whole"), MARKS)
def test_marks_add_up(parts: Any, whole: tuple[str, ...]) -> None:
    assert added_marks(parts) == whole


NAMES = ("strict", "team/run", "..", ".", "~root", "a b+c", "é", "%2E", "a:b*c?")


def test_names_become_names_of_folders() -> None:
    found = [folder_name(name) for name in NAMES]
    assert len(set(found)) == len(NAMES)
    assert all("/" not in name and name.strip(".") and not name.startswith("~") for name in found)


def test_aligned_and_renamed_documents_are_counted_likewise(cli: Cli, tmp_path: Path) -> None:
    """Marks add up: documents by text, aligned texts, and spans lost in them."""
    sides = corpus(tokens=False)
    for place, row in enumerate(sides["one"]):
        text = row["text"]
        if place % 2 == 0:
            row |= {"text": text.replace(" ", "  "), "spans": [_spaced(span, text) for span in row["spans"]]}
        else:
            row["id"] = f"own {place}"
    places = written(tmp_path, sides)
    one, other = both(cli, *places, "--align-text", "--by", "document")
    assert one == other
    (found,) = {
        row["signature"]
        for row in json.loads(one["json"])["systems"][0]["criteria"].values()
        if "strict" in row["signature"]
    }
    assert "paired by text: 12 documents | aligned texts: 12 documents, " in found
    assert not found.endswith(" 0 spans lost")


def _spaced(value: Any, text: str) -> Any:
    """Return a span, or what belongs to one, in a text with all blanks doubled."""
    if isinstance(value, dict):
        return {key: one if key == "label" else _spaced(one, text) for key, one in value.items()}
    return [_spaced(one, text) for one in value] if isinstance(value, list) else value + text[:value].count(" ")


def test_a_scored_folder_keeps_its_criteria_and_older_ones_are_read() -> None:
    """Older folders have one decision for all pairs that fail, `otherwise`."""
    settings = Settings(CRITERIA_TESTED)
    written = scored_folder.settings_as_json(settings)
    assert scored_folder.settings_of_json(json.loads(json.dumps(written))) == settings
    alike = [rule for rule in CRITERIA_TESTED if len(set(rule.near_misses.values())) < 2]
    older = scored_folder.settings_as_json(replace(settings, criteria=tuple(alike)))
    for row in older["criteria"]:
        decisions = {row.pop("other_boundaries"), row.pop("other_type")}
        row["otherwise"] = "PAR" if "PAR" in decisions else "INC"
    assert scored_folder.settings_of_json(older).criteria == tuple(alike)
