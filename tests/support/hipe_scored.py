"""Scoring two files of CLEF-HIPE by a convention."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nereval_core.conventions import Given, Outcome, named, settled
from nereval_core.readers import Source


def scored(name: str, gold: Path, pred: Path, **options: Any) -> Outcome:
    convention = named(name)
    given = Given(gold=Source.of_path(gold), pred=Source.of_path(pred))
    return convention.score(given, settled(convention, options))
