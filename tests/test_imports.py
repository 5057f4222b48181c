"""Imports point one way, the core stays free of the app, and its light parts of heavy packages."""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

# From the bottom up. A name stands for a module or a package; a file belongs to the longest name that fits. What stands
# in one row may import one another, and everything above.
LEVELS = (
    ("nereval_core", "nereval_core.errors", "nereval_core.formulas", "nereval_core.glossary"),
    ("nereval_core.texts",),
    ("nereval_core.digest",),
    (
        "nereval_core.corpus",
        "nereval_core.letters",
        "nereval_core.likeness",
        "nereval_core.masking",
        "nereval_core.shards",
        "nereval_core.subset",
        "nereval_core.tokens",
    ),
    (
        "nereval_core.readers",
        "nereval_core.objects",
        "nereval_core.writers",
        "nereval_core.carrying",
        "nereval_core.counterparts",
        "nereval_core.pairing",
        "nereval_core.parting",
        "nereval_core.restricting",
        "nereval_core.selection",
        "nereval_core.suggested_types",
        "nereval_core.tagged",
        "nereval_core.type_names",
    ),
    (
        "nereval_core.alignment",
        "nereval_core.assignment",
        "nereval_core.averages",
        "nereval_core.beforehand",
        "nereval_core.candidates",
        "nereval_core.fragments",
        "nereval_core.matching",
        "nereval_core.nesting",
        "nereval_core.questions",
        "nereval_core.greedy",
        "nereval_core.solvers",
    ),
    ("nereval_core.criteria",),
    ("nereval_core.by_type", "nereval_core.counts", "nereval_core.scoring"),
    ("nereval_core.tables", "nereval_core.guide", "nereval_core.queries", "nereval_core.searching"),
    ("nereval_core.conventions",),
    ("nereval_core.report",),
    ("nereval_core.analysis",),
    (
        "nereval_core.against",
        "nereval_core.among",
        "nereval_core.attributes",
        "nereval_core.criteria_attributes",
        "nereval_core.cube",
        "nereval_core.described",
        "nereval_core.error_classes",
        "nereval_core.review",
        "nereval_core.slice_attributes",
    ),
    ("nereval_core.ledger",),
    ("nereval_core.library", "nereval_core.store"),
    ("nereval_core.scored",),
    ("nereval_core.engine",),
    (
        "nereval_core.agreement_verb",
        "nereval_core.concept_verbs",
        "nereval_core.consistency_verb",
        "nereval_core.error_verbs",
        "nereval_core.report_parts",
        "nereval_core.report_records",
        "nereval_core.report_verbs",
        "nereval_core.review_verbs",
        "nereval_core.slice_verbs",
    ),
    (
        "nereval_core.agreement_command",
        "nereval_core.commands",
        "nereval_core.compare_command",
        "nereval_core.consistency_command",
        "nereval_core.convention_command",
        "nereval_core.engine_command",
        "nereval_core.errors_command",
        "nereval_core.indexing_command",
        "nereval_core.layer_files",
        "nereval_core.linking_command",
        "nereval_core.report_command",
        "nereval_core.review_apply_command",
        "nereval_core.review_command",
        "nereval_core.sensitivity_command",
        "nereval_core.sensitivity_experiments",
        "nereval_core.slices_command",
        "nereval_core.store_command",
        "nereval_core.types_command",
        "nereval_core.__main__",
    ),
    ("pages", "app"),
)
LEVEL = {name: level for level, names in enumerate(LEVELS) for name in names}
FILES = sorted(
    [*(ROOT / "nereval_core").rglob("*.py"), *(ROOT / "pages").rglob("*.py"), *ROOT.glob("app.py")],
)
# The package's verbs are lazy: `from nereval_core import ...` in a function of the package file points upwards.
FACADE = ROOT / "nereval_core" / "__init__.py"
DRAWING = ROOT / "nereval_core" / "report"


def module_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported(path: Path) -> Iterator[tuple[int, str]]:
    """Yield (line, module or module.name) of every import in the file, those inside functions too."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: relative import"
            for alias in node.names:
                yield node.lineno, f"{node.module}.{alias.name}"


def level_of(name: str) -> int | None:
    """Return the level of the longest known name that `name` lies in, None for other packages."""
    while name:
        if name in LEVEL:
            return LEVEL[name]
        name = name.rpartition(".")[0]
    return None


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def test_every_module_of_the_core_has_a_level() -> None:
    core = {".".join(module_of(path).split(".")[:2]) for path in FILES if module_of(path).startswith("nereval_core")}
    assert core == {name for name in LEVEL if name.startswith("nereval_core")}


@pytest.mark.parametrize("path", FILES, ids=relative)
def test_imports_point_downwards(path: Path) -> None:
    if path == FACADE:
        return
    own = level_of(module_of(path))
    assert own is not None
    wrong = [f"{relative(path)}:{line}: {name}" for line, name in imported(path) if (level_of(name) or 0) > own]
    assert not wrong


@pytest.mark.parametrize("path", [path for path in FILES if module_of(path).startswith("nereval_core")], ids=relative)
def test_the_core_draws_and_serves_nothing(path: Path) -> None:
    packages = {name.partition(".")[0] for _, name in imported(path)}
    assert "streamlit" not in packages
    assert "plotly" not in packages or (path.parent == DRAWING and path.stem.startswith("figures"))


# What a statement may load: the command line answers before anything heavy is imported.
LIGHT = (
    ("import nereval_core", {"numpy", "pandas", "scipy", "pyarrow", "sqlalchemy"}),
    ("import nereval_core.__main__", {"numpy", "pandas", "scipy", "pyarrow", "sqlalchemy"}),
    ("import nereval_core.readers", {"numpy", "pandas", "scipy", "pyarrow"}),
    ("import nereval_core.scoring", {"pandas", "scipy", "pyarrow"}),
    ("import nereval_core.library", {"pandas", "scipy", "pyarrow", "sqlalchemy"}),
    # Needed once a database.
    ("import nereval_core.review.store", {"alembic"}),
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
    assert not loaded & {"numpy", "pandas", "scipy", "pyarrow", "sqlalchemy", "alembic"}


def requirements(path: Path) -> list[str]:
    return [line for line in path.read_text().splitlines() if line and not line.startswith("#")]


def test_requirements_are_those_of_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    assert sorted(requirements(ROOT / "requirements.txt")) == sorted([*project["dependencies"], *extras["app"]])
    assert sorted(requirements(ROOT / "tests" / "requirements.txt")) == sorted([*extras["test"], *extras["lint"]])
