"""seqeval's own tests, of its repository, with our drop-in under its name. They lie outside of this repository."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from nereval_core.compat.seqeval import reporters, scheme
from nereval_core.compat.seqeval.metrics import v1
from tests.support import ROOT
from tests.support.shared_corpora import SHARED

REPOSITORY = Path(os.environ.get("NEREVAL_SEQEVAL") or SHARED.parent / "seqeval")
"""A clone of chakki-works/seqeval at cd01b52."""
ALIASED = """
import sys
import pytest
from nereval_core.compat import seqeval
sys.modules["seqeval"] = seqeval
sys.exit(pytest.main(["-q", "-n", "0", "-p", "no:cacheprovider", "-W", "ignore", *sys.argv[1:]]))
"""
FILES = ("test_metrics.py", "test_reporters.py", "test_scheme.py", "test_v1.py")
SLOW = "test_statistical_tests"
"""Runs conlleval.pl ten thousand times; `test_conlleval.py` holds us against it."""


@pytest.mark.skipif(not REPOSITORY.is_dir(), reason=f"{REPOSITORY} is missing (set NEREVAL_SEQEVAL)")
def test_its_own_tests_pass_under_its_name(tmp_path: Path) -> None:
    shutil.copytree(REPOSITORY / "tests", tmp_path / "tests")
    command = [sys.executable, "-c", ALIASED, *FILES, "-k", f"not {SLOW}"]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    run = subprocess.run(command, cwd=tmp_path / "tests", env=environment, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout[-3000:]
    counts = re.search(r"(\d+) passed, 1 deselected", run.stdout)
    assert counts is not None and int(counts[1]) == 498


def test_entities_of_a_scheme() -> None:
    sentences = [["B-PER", "I-PER", "O", "I-LOC"], [], ["B-LOC"]]
    entities = scheme.Entities(sentences, scheme.IOB2)
    assert [[str(entity) for entity in sentence] for sentence in entities.entities] == [
        ["(0, PER, 0, 2)"],
        [],
        ["(2, LOC, 0, 1)"],
    ]
    assert entities.filter("LOC") == {scheme.Entity(2, 0, 1, "LOC")} and entities.unique_tags == {"PER", "LOC"}
    assert scheme.Tokens(["PER_B"], scheme.IOB2, suffix=True, delimiter="_").entities == [
        scheme.Entity(None, 0, 1, "PER")
    ]
    with pytest.raises(TypeError, match="scheme has to be one of IOB1"):
        scheme.Entities(sentences, scheme.Token)
    with pytest.raises(ValueError, match=r"Invalid token is found: E-A\. Allowed prefixes are: I\|O\|B\."):
        scheme.Entities([["E-A"]], scheme.IOB2)


def test_v1_is_strict() -> None:
    gold, pred = [["B-A", "I-A", "O"]], [["I-A", "I-A", "O"]]
    report = v1.classification_report(gold, pred, output_dict=True)
    assert report["micro avg"]["recall"] == 0  # type: ignore[index]
    assert v1.unique_labels(gold, pred, scheme.IOB2) == ["A"]
    assert v1.classification_report(gold, gold, digits=3).startswith(reporters.StringReporter(width=12).write_header())  # type: ignore[union-attr]
    with pytest.raises(TypeError, match="scheme has to be one of"):
        v1.precision_recall_fscore_support(gold, pred)
