"""The shared-task files that tests read where they lie: beside the repository, or where NEREVAL_CORPORA says."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

SHARED = Path(os.environ.get("NEREVAL_CORPORA") or Path(__file__).resolve().parents[3] / "shared" / "corpora")
DEFECTS = SHARED.parent / "defects"


def needs(name: str) -> pytest.MarkDecorator:
    """Skip, and say why, where a folder of corpora is missing."""
    folder = SHARED / name
    return pytest.mark.skipif(not folder.is_dir(), reason=f"{folder} is missing (set NEREVAL_CORPORA)")


def files(pattern: str) -> list[Path]:
    """Return the files that match, sorted; none where the corpora are missing."""
    return sorted(SHARED.glob(pattern))


def defect(name: str) -> Path:
    """Return a small file that was once read wrongly; skip the test, and say why, where the folder is missing."""
    path = DEFECTS / name
    if not DEFECTS.is_dir():
        pytest.skip(f"{DEFECTS} is missing (it lies beside the corpora; set NEREVAL_CORPORA)")
    return path
