"""Pages speak their own words: no text of theirs has an option of the command line."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.support import ROOT

OPTION = re.compile(r"(?<![\w-])--[a-z]")
COMMANDS = {
    "pages/shared/server/__init__.py": "the options of the server itself",
    "pages/shared/server/http_policy.py": "an answer to requests for another host, for whoever runs the server",
    "pages/shared/data/server_start.py": "what the server prints when it starts",
    "pages/shared/server/access.py": "what the server prints where it cannot start",
    "pages/shared/frame/share_menu.py": "the command that makes the report again, in the report",
    "pages/shared/components/refusals.py": "options in problems, which are put into words here",
    "pages/shared/components/downloads.py": "an option in refusals that is looked for",
}
"""Files whose strings may hold options, and why."""


def texts(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the strings of a module with their lines, but those that only explain it."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    explaining = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in explaining:
            yield node.lineno, node.value


def test_no_text_of_a_page_has_an_option() -> None:
    with_options = {
        f"{path.relative_to(ROOT)}:{line}": text
        for path in sorted((ROOT / "pages").rglob("*.py"))
        for line, text in texts(path)
        if OPTION.search(text)
    }
    assert {place.rpartition(":")[0] for place in with_options} == set(COMMANDS), with_options
