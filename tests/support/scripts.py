"""The scripts of the pages without a page: under node, and where there is none in an empty page of the browser."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.support import ROOT

Run = Callable[[str], Any]
"""Evaluates an expression over the functions of scripts."""
LOOP = """
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  let answer;
  try { answer = { value: new Function(JSON.parse(line))() }; } catch (error) { answer = { error: `${error.stack}` }; }
  console.log(JSON.stringify(answer));
});
"""
"""Calls the body of a function on each line: nothing that it declares is there for the next one."""


@contextmanager
def start_node() -> Iterator[Run | None]:
    """Start a node that evaluates the bodies of functions for as long as the block lasts; nothing where there is none.

    One for all tests: to start one takes a hundred times as long as what it is asked.
    """
    path = shutil.which("node")
    if path is None:
        yield None
        return
    with subprocess.Popen([path, "-e", LOOP], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as node:
        assert node.stdin is not None and node.stdout is not None
        questions, answers = node.stdin, node.stdout

        def call(body: str) -> Any:
            questions.write(json.dumps(body) + "\n")
            questions.flush()
            answer = json.loads(answers.readline())
            assert "value" in answer, answer
            return answer["value"]

        yield call


def run_scripts(request: pytest.FixtureRequest, *names: str, more: str = "", folder: str = "inspect") -> Run:
    """Return what evaluates an expression over scripts of a folder of `pages/shared`, and `more`."""
    scripts = [(ROOT / "pages" / "shared" / folder / f"{name}.js").read_text(encoding="utf-8") for name in names]
    script = "".join(scripts) + more
    call = request.getfixturevalue("node")
    if call is None:
        page = request.getfixturevalue("browser").new_page()

        def call(body: str) -> Any:
            return page.evaluate(f"() => {{ {body} }}")

    return lambda expression: call(f"{script}\nreturn ({expression})")
