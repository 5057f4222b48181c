"""An environment that holds the wheel and what it requires, and nothing else."""

from __future__ import annotations

import subprocess
import sys
import venv
from importlib.metadata import distribution
from pathlib import Path

from packaging.requirements import Requirement

from tests.support import ROOT


def required_files(package: str, known: set[str]) -> set[Path]:
    """Return the entries of site-packages of a package and of all that it requires."""
    installed = distribution(package)
    if installed.metadata["Name"] in known:
        return set()
    known.add(installed.metadata["Name"])
    needed = [Requirement(line) for line in installed.requires or ()]
    entries = {
        Path(str(installed.locate_file(file.parts[0]))) for file in installed.files or () if file.parts[0] != ".."
    }
    return entries.union(
        *(
            required_files(requirement.name, known)
            for requirement in needed
            if requirement.marker is None or requirement.marker.evaluate({"extra": ""})
        )
    )


def install_core(folder: Path) -> Path:
    """Build the wheel, install it into `folder/env` without extras, and return the Python of that environment."""
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    subprocess.run(build, check=True, capture_output=True)
    venv.create(folder / "env")
    python = folder / "env" / "bin" / "python"
    (wheel,) = folder.glob("*.whl")
    install = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--no-deps", "--no-index"]
    subprocess.run([*install, str(wheel)], check=True)
    (packages,) = folder.glob("env/lib/python*/site-packages")
    metadata = next(packages.glob("nereval_core-*.dist-info/METADATA")).read_text(encoding="utf-8")
    known: set[str] = set()
    for line in metadata.partition("\n\n")[0].splitlines():
        name, _, value = line.partition(": ")
        if name == "Requires-Dist" and "extra ==" not in value:
            for entry in required_files(Requirement(value).name, known):
                (packages / entry.name).symlink_to(entry)
    return python
