"""Names say what they hold: those that say nothing stay rare."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

import pytest

from tests.support import ROOT

VAGUE = frozenset(
    (
        *("found", "one", "some", "said", "given", "made", "kept", "taken", "asked", "known", "told"),
        *("shown", "left", "seen", "held", "drawn", "chosen", "wanted", "there", "such", "every", "many"),
    )
)
MOST = {"nereval_core": 0.001, "pages": 0.002}
"""The share of vague names among those that the code binds; it only falls."""


def bound_names(path: Path) -> list[str]:
    """Return the names of functions, classes, parameters, variables and attributes that a module binds."""
    names = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                names.append(name)
            case ast.arg(arg=name) | ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                names.append(name)
    return names


@pytest.mark.parametrize("folder", MOST)
def test_vague_names_are_rare(folder: str) -> None:
    names = {path: bound_names(path) for path in (ROOT / folder).rglob("*.py")}
    vague = {
        str(path.relative_to(ROOT)): counts
        for path, bound in names.items()
        if (counts := Counter(name for name in bound if name in VAGUE))
    }
    share = sum(counts.total() for counts in vague.values()) / sum(map(len, names.values()))
    assert share <= MOST[folder], vague
