"""Scoring two files of CLEF-HIPE by a convention."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nereval_core.conventions import Given, Outcome, find_convention, option_values
from nereval_core.readers import Source


def scored(name: str, gold: Path, pred: Path, **options: Any) -> Outcome:
    convention = find_convention(name)
    given = Given(gold=Source.of_path(gold), pred=Source.of_path(pred))
    return convention.score(given, option_values(convention, options))
