"""The CLEF-HIPE scorers on files drawn with a seed: the tables and counts of the programs, and every rule met."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from nereval_core.conventions import find_convention
from nereval_core.conventions.hipe.matching import BY_TEXT, LOST, OUTSIDE_SLICE, WHY
from nereval_core.problems import FormatError
from tests.support.hipe_corpora import COMMAND, RUNS, SEEDS, counts, runs, write_corpus
from tests.support.hipe_scored import layers_and_files, scored
from tests.support.reconciliation import reconcile
from tests.support.reference_fixtures import read_fixture

FIXTURE = read_fixture("hipe")
NOT_OF = {
    "hipe-2020": {WHY[OUTSIDE_SLICE], WHY[BY_TEXT]},
    "hipe-2020-july": {WHY[LOST]},
    "hipe-2022": {WHY[LOST]},
}
"""The rules that a version does not have."""


def in_folder(folder: Path, options: dict[str, Any]) -> dict[str, Any]:
    """Return options with the paths of their files."""
    return {name: str(folder / value) if name in ("map", "tagset") else value for name, value in options.items()}


@pytest.mark.parametrize("version", RUNS)
def test_drawn_files_meet_every_rule(version: str, tmp_path: Path) -> None:
    assert FIXTURE["command"] == COMMAND
    convention = find_convention(version)
    met: set[str] = set()
    for seed, by_version in zip(SEEDS, FIXTURE["results"], strict=True):
        gold, pred = write_corpus(tmp_path, seed, version)
        for number, options in runs(version, seed):
            theirs = by_version[version][str(number)]
            if "stopped" in theirs:
                with pytest.raises(FormatError):
                    scored(version, gold, pred, **in_folder(tmp_path, options))
                continue
            outcome = scored(version, gold, pred, **in_folder(tmp_path, options))
            assert convention.forms["tsv"](outcome) == theirs["tsv"], (seed, options)
            if "counts" in theirs:
                assert counts(json.loads(convention.forms["json"](outcome))) == theirs["counts"], (seed, options)
            met |= set(reconcile(outcome)["why"])
    assert met == {*WHY} - NOT_OF[version]


OF_LAYERS: list[tuple[str, dict[str, Any]]] = [
    *((version, {}) for version in RUNS),
    ("hipe-2022", {"task": "nerc_fine"}),
    ("hipe-2022", {"time-period": "1800-1810"}),
]
"""Links drawn beside no mention are none of a layer."""


@pytest.mark.parametrize(("version", "options"), OF_LAYERS, ids=str)
def test_layers_give_what_drawn_files_give(version: str, options: dict[str, Any], tmp_path: Path) -> None:
    gold, pred = write_corpus(tmp_path, 1, version)
    # A layer has the tokens of gold.
    rows = zip(*(path.read_text().split("\n") for path in (gold, pred)), strict=True)
    pred.write_text("\n".join("\t".join([one.split("\t")[0], *two.split("\t")[1:]]) for one, two in rows))
    layers_and_files(version, gold, pred, options)
