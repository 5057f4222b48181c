"""Scoring two files of CLEF-HIPE by a convention."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nereval_core import readers
from nereval_core.conventions import Outcome, ScorerInput, find_convention, option_values
from nereval_core.pairing import pair
from nereval_core.readers import ReadOptions, Source
from nereval_core.scoring.count_tables import TEXT_DTYPE


def scored(name: str, gold: Path, pred: Path, **options: Any) -> Outcome:
    convention = find_convention(name)
    given = ScorerInput(gold=Source.of_path(gold), pred=Source.of_path(pred))
    return convention.score(given, option_values(convention, options))


def layers_and_files(name: str, gold: Path, pred: Path, options: dict[str, Any]) -> tuple[Outcome, Outcome]:
    """Score two files as layers and as files, and check that the figures that both have are equal."""
    task = options.get("task", "nerc_coarse")
    column = {"nerc_coarse": "NE-COARSE-LIT", "nerc_fine": "NE-FINE-LIT", "nel": "NE-COARSE-LIT"}[task]
    scorer = find_convention(name)
    read = [readers.read(path, options=ReadOptions(column=column, repair="conlleval")) for path in (gold, pred)]
    layers = scorer.of_layers(read[0].layer, pair(read[0], read[1]).layer, option_values(scorer, options))
    files = scored(name, gold, pred, **options)
    for evaluation in layers.evaluations:
        assert evaluation in files.evaluations
    shared = files.figures[files.figures["evaluation"].isin(layers.evaluations)]
    key = ["evaluation", "scope", "figure"]
    one, two = (
        frame.astype(dict.fromkeys(key, TEXT_DTYPE)).set_index(key)["value"] for frame in (layers.figures, shared)
    )
    assert one.sort_index().equals(two.sort_index())
    assert len(one) > 100
    return layers, files
