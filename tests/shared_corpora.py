"""The shared-task files that tests read where they lie: beside the repository, or where NEREVAL_CORPORA says."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

SHARED = Path(os.environ.get("NEREVAL_CORPORA") or Path(__file__).resolve().parents[2] / "shared" / "corpora")


def needs(name: str) -> pytest.MarkDecorator:
    """Skip, and say why, where a folder of corpora is missing."""
    folder = SHARED / name
    return pytest.mark.skipif(not folder.is_dir(), reason=f"{folder} is missing (set NEREVAL_CORPORA)")


def files(pattern: str) -> list[Path]:
    """Return the files that match, sorted; none where the corpora are missing."""
    return sorted(SHARED.glob(pattern))
