"""The wheel, and an environment that holds it and what it requires, and nothing else."""

from __future__ import annotations

import fcntl
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


def build_once(folder: Path) -> Path:
    """Return a folder with the wheel and the source distribution: `folder`, or as another process has built it."""
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        built = folder / "built"
        if not built.exists():
            # A build that fails leaves no folder of this name.
            building = [sys.executable, "-m", "build", "--no-isolation", "--outdir", f"{built}.new", str(ROOT)]
            subprocess.run(building, check=True, capture_output=True)
            Path(f"{built}.new").rename(built)
    return built


def install_core(distributions: Path, folder: Path) -> Path:
    """Install the wheel into `folder/env` without extras, and return the Python of that environment."""
    venv.create(folder / "env")
    python = folder / "env" / "bin" / "python"
    (wheel,) = distributions.glob("*.whl")
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
