"""Feed readers with what no tool writes: `python -m tests.fuzzing [READER ...] [--seconds 300] [--folder DIR]`.

Inputs are led by which code they reach (atheris, for CPython on Linux; `pip install atheris`), each reader in a process
of its own. Only a FormatError may come out of one, whose lines are lines of the file; what is read is sound; no input
takes more than two seconds, or the process beyond 500 MB. What breaks that is made small and kept in
DIR/READER/found; exit status 1 says that there is any. With --folder, inputs found before are gone on with.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path

from nereval_core.readers import readers


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("readers", nargs="*", metavar="READER", help="formats (default: all)")
    parser.add_argument("--seconds", type=int, default=300, help="time for each reader (default: 300)")
    parser.add_argument("--jobs", type=int, default=1, help="readers at a time (default: 1)")
    parser.add_argument("--folder", type=Path, help="where inputs and what was found are kept (default: a new one)")
    options = parser.parse_args()
    if unknown := set(options.readers) - set(readers()):
        parser.error(f"no reader {', '.join(sorted(unknown))}, choose among {', '.join(readers())}")
    if find_spec("atheris") is None:
        print("tests.fuzzing: no atheris; pip install atheris (CPython on Linux)", file=sys.stderr)
        return 2
    folder = options.folder or Path(tempfile.mkdtemp(prefix="nereval-fuzzing-"))
    print(f"{'reader':<14}{'inputs':>10}{'read':>10}{'found':>7}   inputs and findings in {folder}", flush=True)
    with ThreadPoolExecutor(options.jobs) as pool:
        chosen = options.readers or list(readers())
        found = list(pool.map(lambda name: fuzzed(name, folder / name, options.seconds), chosen))
    return int(any(found))


def fuzzed(name: str, folder: Path, seconds: int) -> int:
    """Run one reader's process, print what came of it, and return how many faults it found."""
    folder.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "tests.fuzzing.target", name, str(folder), str(seconds)]
    with (folder / "log").open("w") as log:
        # A reader that ends the process ends this one only.
        status = subprocess.run(command, stdout=log, stderr=subprocess.STDOUT, check=False).returncode
    counts = json.loads((folder / "counts.json").read_text()) if (folder / "counts.json").exists() else {}
    # A text beside each says what it is; those the process died of have none.
    found = [path for path in (folder / "found").glob("*") if path.suffix != ".txt"]
    died = f"   ended with status {status}, see {folder / 'log'}" if status else ""
    print(f"{name:<14}{counts.get('inputs', 0):>10,}{counts.get('read', 0):>10,}{len(found):>7}{died}", flush=True)
    return len(found) + (status != 0)


if __name__ == "__main__":
    sys.exit(main())
