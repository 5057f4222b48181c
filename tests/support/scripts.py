"""The scripts of the workbench without a page: under node, and where there is none in an empty page of the browser."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from typing import Any

import pytest

from tests.support import ROOT

Run = Callable[[str], Any]
"""Evaluates an expression over the functions of scripts."""


def run_scripts(request: pytest.FixtureRequest, *names: str, more: str = "", folder: str = "inspect") -> Run:
    """Return what evaluates an expression over scripts of a folder of `pages/shared`, and `more`."""
    scripts = [(ROOT / "pages" / "shared" / folder / f"{name}.js").read_text(encoding="utf-8") for name in names]
    script = "".join(scripts) + more
    if node := shutil.which("node"):

        def in_node(expression: str) -> Any:
            source = f"{script}console.log(JSON.stringify({expression}))"
            return json.loads(
                subprocess.run([node, "-"], input=source, text=True, capture_output=True, check=True).stdout
            )

        return in_node
    page = request.getfixturevalue("browser").new_page()

    def in_page(expression: str) -> Any:
        return page.evaluate(f"() => {{ {script} return {expression} }}")

    return in_page
