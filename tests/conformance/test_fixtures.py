"""Fixtures of other programs: each names program, version and command."""

from __future__ import annotations

import json
import re
from importlib.util import find_spec
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
OURS = ("numbers.json",)
"""Fixtures of our own earlier versions."""
FIXTURES = [path for path in sorted((TESTS / "fixtures").glob("*.json")) if path.name not in OURS]
RERUN = re.compile(r"python3?(?:\.[0-9]+)? -m (?P<module>tests\.support\.\w+)\b.* tests/fixtures/(?P<file>\S+)")


@pytest.mark.parametrize("path", FIXTURES, ids=[path.name for path in FIXTURES])
def test_a_fixture_names_program_version_and_command(path: Path) -> None:
    fixture = json.loads(path.read_text(encoding="utf-8"))
    for key in ("program", "version", "command"):
        assert isinstance(fixture.get(key), str) and fixture[key].strip(), f"{path.name} names no {key}"
    # A release, a commit or the digest of the file.
    assert re.search(r"[0-9]+\.[0-9]|\b[0-9a-f]{7,64}\b", fixture["version"]), fixture["version"]
    # What ran it can be run again, and writes this file.
    if rerun := RERUN.search(fixture["command"]):
        assert find_spec(rerun["module"]) and rerun["file"] == path.name, fixture["command"]
