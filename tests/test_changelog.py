"""The version names the rules of the numbers: a change that moves a number raises it and stands in CHANGELOG.md."""

from __future__ import annotations

import hashlib
import json
import re
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from nereval_core import __version__
from nereval_core.cli import main
from tests.support import ROOT

CHANGELOG = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
PINNED = ROOT / "tests" / "fixtures" / "numbers.json"
"""The digests of the numbers below, and the version that gave them.

Written by `python -m tests.test_changelog`, after the version was raised and the change written up.
"""
CORPORA = ("biology", "newspapers", "pharmacology")
LAYERS = ("gold", "rules", "perceptron")
NOT_NUMBERS = frozenset({"nereval", "signature", "signatures", "sha256", "notes", "methods"})
OF_EVERY_CORPUS = {
    "criteria": ["score", "--criteria", "all", "--by", "type,document"],
    "each side for itself": ["score", "--criteria", "all", "--counting", "each-side"],
    "comparison": ["compare", "--criteria", "strict,type", "--resamples", "200", "--seed", "3"],
    "error classes": ["errors"],
}


def commands() -> dict[str, list[str]]:
    """Return the commands whose numbers are pinned, by name; published scorers are held by tests/conformance."""
    return {
        f"{corpus}: {name}": [verb, *(f"demo_data/{corpus}/{layer}.jsonl" for layer in LAYERS), *options]
        for corpus in CORPORA
        for name, (verb, *options) in OF_EVERY_CORPUS.items()
    }


def numbers_of(value: Any) -> Any:
    """Return a result without what is not a number of it: version, signatures, digests, words."""
    if isinstance(value, dict):
        return {key: numbers_of(part) for key, part in value.items() if key not in NOT_NUMBERS}
    if isinstance(value, list):
        return [numbers_of(part) for part in value]
    # The last digits of intervals and of p come from the platform's mathematics.
    return float(f"{value:.10g}") if isinstance(value, float) else value


def digest_of(command: list[str]) -> str:
    """Return the digest of the numbers that a command gives as JSON."""
    with TemporaryDirectory() as folder, redirect_stdout(StringIO()), redirect_stderr(StringIO()):
        result = Path(folder) / "result.json"
        assert main([*command, "--json", str(result), "--quiet"]) == 0
        numbers = json.dumps(numbers_of(json.loads(result.read_bytes())), sort_keys=True)
    return hashlib.sha256(numbers.encode()).hexdigest()[:16]


def test_the_version_is_the_newest_of_the_changelog() -> None:
    versions = re.findall(r"^## \[(\d+\.\d+\.\d+)\] - (\d{4}-\d\d-\d\d)$", CHANGELOG, re.MULTILINE)
    assert versions[0][0] == __version__
    assert versions == sorted(versions, key=lambda row: tuple(map(int, row[0].split("."))), reverse=True)
    assert [date for _, date in versions] == sorted((date for _, date in versions), reverse=True)


def test_every_version_says_which_numbers_moved() -> None:
    for section in re.split(r"^## ", CHANGELOG, flags=re.MULTILINE)[1:]:
        assert "### Numbers that moved\n\n- " in section, section.partition("\n")[0]


@pytest.mark.parametrize("name", commands())
def test_numbers_are_those_of_the_version(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    pinned = json.loads(PINNED.read_text(encoding="utf-8"))
    assert pinned["version"] == __version__, "a raised version pins its numbers: python -m tests.test_changelog"
    assert digest_of(commands()[name]) == pinned["numbers"][name], (
        "a number moved: raise __version__, write it up in CHANGELOG.md, then python -m tests.test_changelog"
    )


if __name__ == "__main__":
    pinned = {name: digest_of(command) for name, command in commands().items()}
    PINNED.write_text(json.dumps({"version": __version__, "numbers": pinned}, indent=1) + "\n", encoding="utf-8")
