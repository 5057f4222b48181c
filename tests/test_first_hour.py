"""A stranger's first hour: wheel, own files, notebook, table for a paper, gate in CI, and uninstalling."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.support import ROOT
from tests.support.core_environment import install_core

GOLD = """\
Ann B-PER
Lee I-PER
met O
Bob B-PER
in O
Rome B-LOC
. O

Paris B-LOC
sleeps O
"""
"""Four spans; the system below finds three, one of which ends early: 2 of 3 are right, F1 is 2 * 2 / (4 + 3)."""
SYSTEM = GOLD.replace("Lee I-PER", "Lee O").replace("Rome B-LOC", "Rome O")
F1 = ".5714"
CELL = """\
import nereval_core as nereval
scores = nereval.score("gold.conll", "system.conll", criteria="strict")
print(scores._repr_html_())
"""


def test_a_stranger_gets_through_the_first_hour(distributions: Path, tmp_path: Path) -> None:
    python = install_core(distributions, tmp_path)
    home, work = tmp_path / "home", tmp_path / "my corpus"
    home.mkdir()
    work.mkdir()
    environment = {"HOME": str(home), "PATH": f"{python.parent}:/usr/bin:/bin", "PYTHONPATH": os.environ["PYTHONPATH"]}
    environment["NEREVAL_CONNECTIONS"] = os.environ["NEREVAL_CONNECTIONS"]

    def run(*command: str) -> tuple[int, str]:
        done = subprocess.run(command, cwd=work, env=environment, capture_output=True, text=True, check=False)
        assert "Traceback" not in done.stderr, done.stderr
        return done.returncode, done.stdout

    (work / "gold.conll").write_text(GOLD)
    (work / "system.conll").write_text(SYSTEM)
    files = ("gold.conll", "system.conll")

    status, table = run("nereval", "score", *files, "--criteria", "strict")
    assert status == 0 and F1 in table

    status, html = run(str(python), "-c", CELL)
    assert status == 0 and "<table" in html and F1 in html

    status, _ = run("nereval", "score", *files, "--criteria", "strict", "--by", "type", "--latex", "table.tex")
    latex = (work / "table.tex").read_text(encoding="utf-8")
    assert status == 0 and F1 in latex
    assert all(part in latex for part in ("\\toprule", "PER", "LOC", "\\bottomrule"))

    assert run("nereval", "check", *files, "--min", "strict.f1=0.57") == (0, "")
    status, line = run("nereval", "check", *files, "--min", "strict.f1=0.58")
    assert status == 1 and "0.5714" in line

    pip = (sys.executable, "-m", "pip", "--python", str(python), "uninstall", "--quiet", "--yes", "nereval-core")
    assert run(*pip)[0] == 0
    assert run(str(python), "-c", "import importlib.util as u; print(u.find_spec('nereval_core'))") == (0, "None\n")
    assert not [path for path in (tmp_path / "env").rglob("*nereval*") if path.name != "__pycache__"]
    places = re.findall(r"^\| `~/(\S+)` \|", (ROOT / "docs" / "limits-and-speed.md").read_text("utf-8"), re.MULTILINE)
    remaining = [str(path.relative_to(home)) for path in home.rglob("*") if path.is_file()]
    assert places and not [path for path in remaining if not path.startswith(tuple(places))]
    assert sorted(path.name for path in work.iterdir()) == ["gold.conll", "system.conll", "table.tex"]
