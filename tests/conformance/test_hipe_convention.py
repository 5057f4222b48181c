"""The CLEF-HIPE scorers: every expected figure, row of the tables, slice, edge case and link."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from nereval_core.cli import main
from nereval_core.conventions import Outcome, find_convention
from nereval_core.conventions.hipe import files as hipe_files
from nereval_core.problems import FormatError
from nereval_core.readers import Source
from nereval_core.readers.hipe.rows import HipeFile
from tests.support import ROOT
from tests.support.hipe_scored import scored as scored_anew
from tests.support.shared_corpora import SHARED, files, needs


@cache
def scored(name: str, gold: Path, pred: Path, **options: Any) -> Outcome:
    """Score a run of a shared task once for all tests that look at it."""
    return scored_anew(name, gold, pred, **options)


@pytest.fixture(scope="module", autouse=True)
def _each_file_parsed_once() -> Iterator[None]:
    """Parse each file of the shared task once: it is scored for several tasks, versions and options."""
    parse = hipe_files._parsed
    parsed: dict[str, list[HipeFile]] = {}

    def parse_once(source: Source) -> list[HipeFile]:
        if not source.name.startswith(str(SHARED)):
            return parse(source)
        if source.name not in parsed:
            parsed[source.name] = parse(source)
        return parsed[source.name]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hipe_files, "_parsed", parse_once)
        yield


def same(expected: Any, found: Any, path: str = "") -> None:
    """Check that everything expected is found: counts exactly, floats to 1e-9."""
    if isinstance(expected, Mapping):
        assert set(expected) <= set(found), path
        for key, value in expected.items():
            same(value, found[key], f"{path}/{key}")
    elif expected is None or isinstance(expected, int):
        assert found == expected, path
    else:
        assert found == pytest.approx(expected, rel=0, abs=1e-9), path


def said(command: str) -> dict[str, str]:
    """Return the options of a command that change figures."""
    words = command.split()
    names = ("--noise-level", "--time-period", "--n_best", "--suffix")
    return {name[2:]: words[words.index(name) + 1] for name in names if name in words}


EXPECTED_2022 = files("expected/hipe2022/*.json")
EXPECTED_2020 = [path for path in files("expected/hipe2020/*.json") if "slices" not in path.name]
SLICES_2020 = files("expected/hipe2020/*_slices.json")
TAGS_2022 = SHARED / "hipe2022/tagset-hipe2022-all.txt"
TAGS_2020 = SHARED / "hipe2020/tagset.txt"


@needs("expected")
@needs("hipe2022")
@pytest.mark.parametrize("path", EXPECTED_2022, ids=[path.stem for path in EXPECTED_2022])
def test_every_expected_figure_and_row_of_2022(path: Path) -> None:
    expected = json.loads(path.read_text())
    folders = ("", "") if "relaxed" in path.name else ("gold", "submissions")
    gold, pred = (
        SHARED / "hipe2022" / folder / expected[key]
        for folder, key in zip(folders, ("gold", "submission"), strict=True)
    )
    outcome = scored("hipe-2022", gold, pred, task=expected["task"], tagset=str(TAGS_2022), **said(expected["command"]))
    same(expected["results"], outcome.scores)
    table = find_convention("hipe-2022").forms["tsv"](outcome).split("\r\n")
    for row in expected.get("official_tsv_rows", ()):
        assert row in table
    same(expected["results"], json.loads(find_convention("hipe-2022").forms["json"](outcome)))


@needs("expected")
@needs("hipe2022")
@pytest.mark.parametrize("path", [path for path in EXPECTED_2022 if "relaxed" in path.name], ids=lambda path: path.stem)
def test_relaxed_linking_of_the_files_before_they_were_normalised(path: Path) -> None:
    expected = json.loads(path.read_text())
    folder = SHARED / "hipe2022"
    gold = folder / "gold" / Path(expected["gold"]).name.replace("_histonorm", "")
    options = {"norm-time": True, "map": str(folder / expected["mapping"]), "n_best": "1,3,5", "task": "nel"}
    if "mapping_of_the_gold" in expected:
        options["map_ref"] = str(folder / expected["mapping_of_the_gold"])
    outcome = scored("hipe-2022", gold, folder / expected["unnormalised_submission"], **options)
    same(expected["results"], outcome.scores)


def score_tree(node: Any) -> Any:
    """Return the first table within that has the ranks of linking as its keys."""
    if isinstance(node, Mapping) and "1" in node:
        return node
    inner = node.values() if isinstance(node, Mapping) else node if isinstance(node, list) else ()
    return next((found for one in inner if (found := score_tree(one)) is not None), None)


@needs("hipe2022")
def test_the_recipe_of_relaxed_linking_needs_the_mapping_of_gold_for_ajmc(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "conventions.md").read_text(encoding="utf-8")
    recipe = re.search("`(--convention hipe-2022 --task nel --norm-time [^`]*)`", page)
    assert recipe is not None
    folder = SHARED / "hipe2022"
    gold = folder / "gold/HIPE-2022-v2.1-ajmc-test-fr.tsv"
    pred = folder / "submissions/team5_bundle5_ajmc_fr_1.tsv"
    mapping, historical = (
        str(folder / "relaxed" / f"{name}-QID-mapping-ID-mapping.tsv")
        for name in ("ajmc-alternatives", "historico-fuzzy")
    )
    words = [mapping if word == "MAPPING" else word for word in recipe[1].split()]
    for more, wanted in ((["--map-ref", historical], 81), ([], 82)):
        out = tmp_path / f"{wanted}.json"
        assert main(["score", str(gold), str(pred), *words, *more, "--quiet", "--json", str(out)]) == 0
        scores = score_tree(json.loads(out.read_text())["systems"])
        assert scores["1"]["NEL-LIT"]["TIME-ALL"]["LED-ALL"]["ALL"]["strict"]["TP"] == wanted


@needs("expected")
@needs("hipe2020")
@pytest.mark.parametrize("version", ["june", "july"])
@pytest.mark.parametrize("path", EXPECTED_2020, ids=[path.stem for path in EXPECTED_2020])
def test_every_expected_figure_of_2020(path: Path, version: str) -> None:
    expected = json.loads(path.read_text())
    gold, pred = SHARED / "hipe2020/gold" / expected["gold"], SHARED / "hipe2020/submissions" / expected["submission"]
    name = {"june": "hipe-2020", "july": "hipe-2020-july"}[version]
    for task, figures in expected[f"{version}_2020"].items():
        options = {"task": task, "tagset": str(TAGS_2020), **({"norm-time": True} if task == "nel" else {})}
        if isinstance(figures, str) and "stops" in figures:
            with pytest.raises(FormatError, match="none in column MISC, and ac5c876 of the scorer stops"):
                scored(name, gold, pred, **options)
            continue
        if figures == "same as june_2020":
            figures = expected["june_2020"][task]
        outcome = scored(name, gold, pred, **options)
        scores = outcome.scores["1"] if version == "july" and task == "nel" else outcome.scores
        for column, labels in figures.items():
            same(labels, scores[column] if version == "june" else scores[column]["TIME-ALL"]["LED-ALL"])


@needs("expected")
@needs("hipe2020")
@pytest.mark.parametrize("path", EXPECTED_2020, ids=[path.stem for path in EXPECTED_2020])
def test_the_official_rows_of_2020(path: Path) -> None:
    expected = json.loads(path.read_text())
    gold, pred = SHARED / "hipe2020/gold" / expected["gold"], SHARED / "hipe2020/submissions" / expected["submission"]
    rows = expected["official_rows"]
    mapping = str(SHARED / "hipe2020/historico-fuzzy-QID-mapping-ID-mapping.tsv")
    relaxed = {"suffix": "relaxed", "map": mapping, "n_best": "1,3,5"}
    table: dict[str, list[str]] = {}
    for task in ("nerc_coarse", "nerc_fine", "nel"):
        starts = {"nerc_coarse": "NE-COARSE", "nerc_fine": ("NE-FINE", "NE-NESTED"), "nel": "NEL"}[task]
        if not any(row["Evaluation"].startswith(starts) for row in rows):
            continue
        for more in ({}, relaxed) if task == "nel" else ({},):
            outcome = scored(
                "hipe-2020",
                gold,
                pred,
                task=task,
                tagset=str(TAGS_2020),
                **({"norm-time": True, **more} if task == "nel" else {}),
            )
            for line in find_convention("hipe-2020").forms["tsv"](outcome).split("\r\n")[1:-1]:
                _, evaluation, label, *figures = line.split("\t")
                table[f"{evaluation} {label}"] = figures
    for row in rows:
        precision, recall, f1, _, _, _, tp, fp, fn = table[f"{row['Evaluation']} {row['Label']}"]
        assert [precision, recall, f1, tp, fp, fn] == [row[name] for name in ("P", "R", "F1", "TP", "FP", "FN")], row


@needs("expected")
@needs("hipe2020")
@pytest.mark.parametrize("regime", ["strict", "fuzzy"])
def test_the_official_rankings_of_2020(regime: str) -> None:
    ranking = (SHARED / f"expected/hipe2020/official_ranking_en_coarse_{regime}.tsv").read_text().splitlines()
    gold = SHARED / "hipe2020/gold/HIPE-data-v1.3-test-en.tsv"
    tables: dict[str, list[str]] = {}
    for row in ranking[1:]:
        system = row.split("\t")[0]
        if system not in tables:
            pred = SHARED / f"hipe2020/submissions/{system}.tsv"
            outcome = scored("hipe-2020", gold, pred, task="nerc_coarse", tagset=str(TAGS_2020))
            tables[system] = find_convention("hipe-2020").forms["tsv"](outcome).split("\r\n")
        assert row in tables[system]
    assert len(tables) == 13


@needs("expected")
@needs("hipe2020")
@pytest.mark.parametrize("path", SLICES_2020, ids=[path.stem for path in SLICES_2020])
def test_slices_of_2020(path: Path) -> None:
    expected = json.loads(path.read_text())
    gold, pred = SHARED / "hipe2020/gold" / expected["gold"], SHARED / "hipe2020/submissions" / expected["submission"]
    options = said(expected["command"])
    outcome = scored("hipe-2020-july", gold, pred, task=expected["task"], tagset=str(TAGS_2020), **options)
    same(expected["results"], outcome.scores)


EDGE = json.loads((SHARED / "expected/hipe_edge/cases.json").read_text())["cases"] if SHARED.is_dir() else {}


@needs("hipe_edge")
@needs("expected")
@pytest.mark.parametrize("version", ["hipe-2022", "hipe-2020-july"])
@pytest.mark.parametrize("case", EDGE)
def test_edge_cases(case: str, version: str) -> None:
    expected = EDGE[case]
    folder = SHARED / "hipe_edge" / case
    words = " ".join(expected["options"]).split()
    options: dict[str, Any] = {"task": expected["task"]}
    for number, word in enumerate(words):
        if word == "--tagset":
            options["tagset"] = str(SHARED / "hipe_edge" / words[number + 1])
        elif word == "--original_nel" and version == "hipe-2022":
            options["original_nel"] = True
        elif word in ("--n_best", "--time-period"):
            options[word[2:]] = words[number + 1]
    key = {"hipe-2022": "hipe_2022_6605770", "hipe-2020-july": "hipe_2020_ac5c876"}[version]
    figures = expected[key] if expected[key] != "same" else expected["hipe_2022_6605770"]
    same(figures, scored(version, folder / "gold.tsv", folder / "pred.tsv", **options).scores)
