"""The verb `consistency` and the library's: tables, JSON and lists of places say the same; what is wrong is said."""

from __future__ import annotations

import csv
import io
import json
from functools import partial
from pathlib import Path

import pandas as pd
import pytest

import nereval_core as nereval
from nereval_core.analysis.consistency import FINDING_COLUMNS
from nereval_core.analysis.consistency.indexed_layer import LetterCase
from nereval_core.analysis.consistency.kinds import KINDS
from nereval_core.problems import FormatError
from nereval_core.scoring.count_tables import TEXT_DTYPE
from pages.shared.data.loading import DEMOS
from tests.support.commands import Cli
from tests.support.shared_corpora import SHARED, needs

FOLDER = DEMOS / "biology"
FILES = tuple(str(FOLDER / f"{name}.jsonl") for name in ("gold", "rules", "perceptron"))


@pytest.fixture
def run(command: Cli) -> Cli:
    return partial(command, "consistency")


@needs("bc2gm")
def test_a_gene_called_gas_makes_no_question_of_the_state_of_matter() -> None:
    def first(case: LetterCase) -> list[str]:
        found = nereval.consistency_of(str(SHARED / "bc2gm"), case=case)
        return [str(what).lower() for what in found.table("not-everywhere")["what"].head(8)]

    assert "gas" in first("ignore") and "gas" not in first("differs")


def test_all_forms_say_the_same(run: Cli, tmp_path: Path) -> None:
    places = str(tmp_path / "places.jsonl")
    status, out, err = run(*FILES, "--json", "-", "--records", places, "--quiet")
    assert (status, err) == (0, "")
    found = json.loads(out)
    assert list(found["kinds"]) == list(KINDS) and found["skipped"] == []
    assert [one["name"] for one in found["others"]] == ["rules", "perceptron"]
    library = nereval.consistency_of(FILES[0], {"rules": FILES[1], "perceptron": FILES[2]})
    listed = pd.read_json(places, lines=True, dtype={"document": TEXT_DTYPE})
    rows = list(csv.DictReader(io.StringIO(run(*FILES, "--csv", "-", "--quiet")[1])))
    assert list(rows[0]) == ["layer", *FINDING_COLUMNS, "signature"]
    total = 0
    for kind, one in found["kinds"].items():
        assert one["total"] == len(one["findings"]) == len(library.found[kind])
        assert one["settles"] == sum(finding["settles"] for finding in one["findings"])
        own = [row for row in rows if row["kind"] == kind]
        assert [row["what"].removeprefix("'") for row in own] == [finding["what"] for finding in one["findings"]]
        for rank, finding in enumerate(one["findings"], start=1):
            there = listed[(listed["kind"] == kind) & (listed["rank"] == rank)]
            assert there["how"].value_counts().to_dict() == finding["counts"]
            assert (len(there), there["settle"].sum()) == (finding["places"], finding["settles"])
            total += finding["places"]
    assert len(listed) == total > 10
    assert {"gold", "rules", "perceptron", "text", "signature"} <= set(listed.columns)


def test_the_screen_shows_a_table_a_kind(run: Cli) -> None:
    status, out, err = run(*FILES, "--top", "2")
    assert status == 0
    assert [line for line in out.splitlines() if line.startswith("gold: ")] == [
        f"gold: {kind.title.lower()}" for kind in KINDS.values()
    ]
    assert out.count("| consistency of gold sha256:") == 1
    assert "more: --top, --csv and --json have them" in out
    status, out, err = run(str(FOLDER / "annotator-1.jsonl"), "--kinds", "types,against-all")
    assert (status, err.splitlines()[1:]) == (0, ["Against all others: takes 2 other layers, there are none"])
    assert out.splitlines()[0] == "annotator-1: several types"


@pytest.mark.parametrize("form", ["markdown", "latex", "html", "excel"])
def test_tables_are_written_in_every_form(run: Cli, tmp_path: Path, form: str) -> None:
    place = tmp_path / "found"
    assert run(*FILES, f"--{form}", str(place), "--quiet")[:2] == (0, "")
    assert place.stat().st_size > 500


def test_nothing_found_is_written_too(run: Cli, tmp_path: Path) -> None:
    empty = tmp_path / "empty.jsonl"
    empty.write_text('{"id": "d", "text": "Nothing.", "spans": []}\n', encoding="utf-8")
    place = tmp_path / "places.csv"
    status, out, _ = run(str(empty), "--records", str(place), "--kinds", "types,odd-ends")
    assert status == 0 and "No form has several types." in out and "No span has an odd end." in out
    assert place.read_text(encoding="utf-8").startswith("kind,rank,what,where,document")


WRONG = [
    (["--kinds", "typos"], "--kinds: 'typos' is not a kind; choose among types, "),
    (["--top", "0"], "--top: '0' is not possible; write a whole number from 1"),
    (["--records", "places.txt"], "--records 'places.txt', end the name in one of .parquet, .jsonl, .csv"),
    (["--json", "-", "--csv", "-"], "two outputs have the place '-'"),
    (["--csv", FILES[0]], "would overwrite an input"),
]


@pytest.mark.parametrize(("arguments", "said"), WRONG)
def test_what_is_wrong_is_said(run: Cli, arguments: list[str], said: str) -> None:
    status, out, err = run(*FILES, *arguments)
    assert (status, out) == (2, "")
    assert said in err and len(err.splitlines()) == 1


def test_one_file_may_hold_two_layers(run: Cli, tmp_path: Path) -> None:
    file = tmp_path / "both.conll"
    file.write_text("Rome\tB-loc\tO\nin\tO\tO\nRome\tB-org\tO\n\n", encoding="utf-8")
    status, out, _ = run(str(file), "--gold-column", "2", "--pred-column", "3", "--kinds", "types")
    assert status == 0 and "beside both sha256:" in out and "loc 1, org 1" in out


def test_the_library_takes_objects() -> None:
    texts = ["T cell and t cell", "T cell"]
    layer = [[(0, 6, "A"), (11, 17, "B")], []]
    found = nereval.consistency_of(layer, {"one": [[(0, 6, "A")], []], "two": [[], [(0, 6, "C")]]}, texts=texts)
    assert found.finding("types", 0).counts == {"A": 1, "B": 1}
    assert found.places("not-everywhere", 0)[["doc", "start", "end"]].values.tolist() == [
        [0, 0, 6],
        [0, 11, 17],
        [1, 0, 6],
    ]
    with pytest.raises(FormatError, match="no texts"):
        nereval.consistency_of(layer)
    with pytest.raises(FormatError, match="not a kind"):
        nereval.consistency_of(layer, texts=texts, kinds="typo")
