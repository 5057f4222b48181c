"""Imports point one way and in no circle, folders stay small, and what is light loads nothing heavy."""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from tests.support import ROOT

# From the bottom up: a folder imports what stands before it, and itself.
CORE = (
    *("problems", "options", "corpus", "readers", "writers", "pairing", "alignment", "scoring", "records"),
    *(
        "tables",
        "conventions",
        "report",
        "analysis",
        "review",
        "store",
        "ledger",
        "engine",
        "html_report",
        "api",
        "cli",
    ),
    *("compat", "integrations"),
)
PAGES = ("streamlit_internals", "view", "server", "data", "components", "verdicts", "frame")
"""Then come the folders of the pages themselves, which import one another where one shows what is another's."""
MOST_ENTRIES = 25
MOST_ENTRIES_OF_CORE = 22
DRAWING = ("nereval_core.report.figures", "nereval_core.html_report.figures")


def module_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


FILES = {
    module_of(path): path
    for path in sorted([*(ROOT / "nereval_core").rglob("*.py"), *(ROOT / "pages").rglob("*.py"), ROOT / "app.py"])
}
OF_CORE = [module for module in FILES if module.startswith("nereval_core")]


@cache
def imported(module: str) -> Mapping[str, int]:
    """Return the modules that a module imports, those inside functions and for types alone too, with their lines."""
    tree = ast.parse(FILES[module].read_text(encoding="utf-8"))
    return {name: line for node in ast.walk(tree) for line, name in names(node)}


def names(node: ast.AST) -> Iterator[tuple[int, str]]:
    if isinstance(node, ast.Import):
        yield from ((node.lineno, alias.name) for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        assert node.level == 0, f"line {node.lineno}: relative import"
        for alias in node.names:
            full = f"{node.module}.{alias.name}"
            yield node.lineno, full if full in FILES else str(node.module)


def floor(module: str) -> int:
    """Return the place of a module in the order, -1 for other people's packages and for the root of ours."""
    first, _, rest = module.partition(".")
    if first == "nereval_core":
        return CORE.index(rest.partition(".")[0]) if rest and rest != "__main__" else -1
    if first not in ("pages", "app"):
        return -1
    room = rest.removeprefix("shared.").partition(".")[0]
    return len(CORE) + (PAGES.index(room) if room in PAGES else len(PAGES))


def test_every_folder_of_the_core_has_its_place() -> None:
    found = {module.split(".")[1] for module in OF_CORE if module not in ("nereval_core", "nereval_core.__main__")}
    assert found == set(CORE)


def test_imports_point_one_way() -> None:
    wrong = [
        f"{FILES[module].relative_to(ROOT)}:{line}: {name}"
        for module in FILES
        if floor(module) >= 0
        for name, line in imported(module).items()
        if floor(name) > floor(module)
    ]
    assert not wrong


def test_imports_make_no_circle() -> None:
    # The root's package file is a table of names; whoever imports the version from it imports nothing else.
    ours = {module: imported(module).keys() & FILES.keys() - {module, "nereval_core"} for module in FILES}
    list(TopologicalSorter(ours).static_order())


def test_folders_stay_small() -> None:
    folders = {path.parent for path in FILES.values()} - {ROOT}
    entries = {
        folder: [entry for entry in folder.iterdir() if entry.suffix in ("", ".py") and not entry.name.startswith("__")]
        for folder in folders
    }
    assert not {folder: len(found) for folder, found in entries.items() if len(found) > MOST_ENTRIES}
    assert len(entries[ROOT / "nereval_core"]) <= MOST_ENTRIES_OF_CORE


def test_the_core_draws_and_serves_nothing() -> None:
    for module in OF_CORE:
        packages = {name.partition(".")[0] for name in imported(module)}
        assert "streamlit" not in packages
        assert "plotly" not in packages or module.startswith(DRAWING), module


# What a statement may load: the command line answers before anything heavy is imported.
LIGHT = (
    ("import nereval_core", {"numpy", "pandas", "scipy", "pyarrow", "sqlalchemy"}),
    ("import nereval_core.cli", {"numpy", "pandas", "scipy", "pyarrow", "sqlalchemy"}),
    (
        "from nereval_core.cli import VERBS, verb_parser; [verb_parser(verb).format_help() for verb in VERBS]",
        {"numpy", "pandas", "scipy", "pyarrow", "sqlalchemy"},
    ),
    ("import nereval_core.readers", {"numpy", "pandas", "scipy", "pyarrow"}),
    ("import nereval_core.scoring", {"pandas", "scipy", "pyarrow"}),
    ("import nereval_core.api.load", {"pandas", "scipy", "pyarrow", "sqlalchemy"}),
    ("import nereval_core.cli.verdicts", {"pandas", "scipy", "pyarrow"}),
)


@pytest.mark.parametrize(("statement", "heavy"), LIGHT, ids=[statement for statement, _ in LIGHT])
def test_what_is_light_loads_nothing_heavy(statement: str, heavy: set[str]) -> None:
    code = f"{statement}; import sys; print(*({heavy!r} & sys.modules.keys()))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stdout.split() == []


def test_the_help_loads_nothing_heavy() -> None:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "nereval_core", "--help"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=True,
    )
    assert done.stdout.startswith("usage: ")
    loaded = {line.rpartition("|")[2].strip().partition(".")[0] for line in done.stderr.splitlines()}
    assert "argparse" in loaded
    assert not loaded & {"numpy", "pandas", "scipy", "pyarrow", "sqlalchemy"}


@pytest.mark.parametrize("name", ["biology", "newspapers", "pharmacology"])
def test_scores_of_small_files_load_nothing_heavy(name: str) -> None:
    """The demo has tangled clusters, identical spans and other text than ASCII."""
    files = [f"demo_data/{name}/{layer}.jsonl" for layer in ("gold", "rules", "perceptron")]
    code = (
        "import sys; from nereval_core.cli import main; main(['score', *sys.argv[1:], '--criteria', 'all']); "
        "print(*{'numpy', 'pandas', 'scipy', 'pyarrow', 'sqlalchemy', 'difflib'} & sys.modules.keys(), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code, *files], capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stderr.splitlines()[-1] == "numpy"


def requirements(path: Path) -> list[str]:
    return [line for line in path.read_text().splitlines() if line and not line.startswith("#")]


def test_requirements_are_those_of_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    assert sorted(requirements(ROOT / "requirements.txt")) == sorted([*project["dependencies"], *extras["app"]])
    assert sorted(requirements(ROOT / "tests" / "requirements.txt")) == sorted([*extras["test"], *extras["lint"]])


# One small file of each side: what the verb enters of ours, so that it answers at once.
ENTERED_BY_SCORE = 50
SCORED = '{"id": "d", "text": "Ann met Bob.", "spans": [{"start": 0, "end": 3, "label": "PER"}]}\n'


def test_score_enters_few_modules(tmp_path: Path) -> None:
    places = [tmp_path / "gold.jsonl", tmp_path / "pred.jsonl"]
    for place, text in zip(places, (SCORED, SCORED.replace('"end": 3', '"end": 2')), strict=True):
        place.write_text(text)
    code = (
        "import sys; from nereval_core.cli import main; main(['score', *sys.argv[1:], '--quiet']); "
        "print(*sorted(name for name in sys.modules if name.partition('.')[0] == 'nereval_core'), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, places)], capture_output=True, text=True, cwd=ROOT, check=True
    )
    entered = done.stderr.split()
    assert "nereval_core.scoring" in entered
    readers = {name.split(".")[2] for name in entered if name.startswith("nereval_core.readers.")}
    assert readers == {"input", "jsonl", "read_settings", "recognition", "shared"}
    assert len(entered) <= ENTERED_BY_SCORE
