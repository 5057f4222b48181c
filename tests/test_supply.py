"""Lock files hold what is required, licences are known, and nothing opens a connection that leaves this machine."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import tomllib
from importlib.metadata import distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from tests.support import PYTHON_PATH, ROOT

LICENCES = ROOT / ".ci" / "licences.py"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
PLATFORMS = [
    {"python_version": python, "python_full_version": f"{python}.1", "implementation_name": "cpython"}
    | {"platform_python_implementation": "CPython", "sys_platform": system, "platform_machine": machine}
    | {"platform_system": {"linux": "Linux", "darwin": "Darwin"}[system], "os_name": "posix"}
    for python in ("3.11", "3.12", "3.13")
    for system, machine in (("linux", "x86_64"), ("linux", "aarch64"), ("darwin", "arm64"))
]


def requirements(path: str) -> list[str]:
    return (ROOT / path).read_text().splitlines()


SERVER = [
    *PROJECT["dependencies"],
    *(line for extra in ("app", "postgresql") for line in PROJECT["optional-dependencies"][extra]),
]
LOCKS = {
    "docs/server/requirements.lock": SERVER,
    "tests/requirements.lock": [*requirements("requirements.txt"), *requirements("tests/requirements.txt")],
}


def locked(path: str) -> list[tuple[Requirement, int]]:
    """Return the requirements of a lock file with the number of hashes of each."""
    entries = re.split(r"\n(?=[a-z])", re.sub(r"^#.*\n", "", (ROOT / path).read_text(), flags=re.MULTILINE))
    return [
        (Requirement(entry.partition("\\")[0]), len(re.findall(r"--hash=sha256:[0-9a-f]{64}\b", entry)))
        for entry in entries
    ]


@pytest.mark.parametrize(("path", "wanted"), LOCKS.items(), ids=LOCKS)
@pytest.mark.parametrize("platform", PLATFORMS, ids=lambda one: f"{one['python_version']}-{one['platform_machine']}")
def test_a_lock_holds_what_is_required(path: str, wanted: list[str], platform: dict[str, str]) -> None:
    versions: dict[str, str] = {}
    for pin, hashes in locked(path):
        if pin.marker is None or pin.marker.evaluate(platform):
            (one,) = pin.specifier
            assert one.operator == "==" and hashes and pin.name not in versions
            versions[pin.name] = one.version
    required = [one for line in wanted if (one := Requirement(line)).marker is None or one.marker.evaluate(platform)]
    mend = "run bash .ci/lock"
    assert not [
        str(one) for one in required if one.name not in versions or Version(versions[one.name]) not in one.specifier
    ], mend


def test_the_locks_lead_to_each_other() -> None:
    """The tests may have a package on more platforms than a server."""
    for platform in PLATFORMS:
        server, tests = (
            {
                f"{pin.name}{pin.specifier}"
                for pin, _ in locked(path)
                if pin.marker is None or pin.marker.evaluate(platform)
            }
            for path in LOCKS
        )
        assert server <= tests, "a server would run what no test has"


def test_every_licence_is_known() -> None:
    done = subprocess.run([sys.executable, LICENCES], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    listed = {canonicalize_name(row[0]): row[1] for row in rows}
    assert {name: distribution(name).version for name in ("streamlit", "pandas", "pytest")}.items() <= listed.items()
    excused = {canonicalize_name(row[0]) for row in rows if len(row) > 3}
    assert excused <= {pin.name for path in LOCKS for pin, _ in locked(path)}


ABOUT = {
    "License-Expression: GPL-3.0-only": "GPL-3.0-only",
    "License-Expression: MIT AND AGPL-3.0-only": "MIT AND AGPL-3.0-only",
    "License: Ask me": "Ask me",
    "Classifier: License :: OSI Approved :: MIT License\nClassifier: License :: Other": "MIT AND Other",
}


@pytest.mark.parametrize(("about", "expression"), ABOUT.items(), ids=ABOUT.values())
def test_another_licence_is_refused(tmp_path: Path, about: str, expression: str) -> None:
    for name, said in (("good", "License: MIT License\n\nPermission is hereby granted"), ("bad", about)):
        (tmp_path / f"{name}-1.dist-info").mkdir()
        text = said if name == "bad" else said.partition("\n")[0]
        (tmp_path / f"{name}-1.dist-info" / "METADATA").write_text(
            f"Metadata-Version: 2.4\nName: {name}\nVersion: 1\n{text}\n"
        )
    done = subprocess.run([sys.executable, LICENCES, tmp_path], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, f"bad\t1\t{expression}\ngood\t1\tMIT\n")
    assert done.stderr == f"bad: the licence {expression} is not on the list; read it, then add it to .ci/licences.py\n"


@pytest.mark.parametrize(
    "call",
    [
        "socket.create_connection(('192.0.2.1', 9), 1)",
        "urllib.request.urlopen('http://example.org')",
        "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'', ('192.0.2.1', 9))",
    ],
)
def test_connections_are_refused_and_logged(tmp_path: Path, call: str) -> None:
    """The tests of the app, of every verb and of the library run in such processes: see `connections` in conftest."""
    log = tmp_path / "log"
    done = subprocess.run(
        [sys.executable, "-c", f"import socket, urllib.request\n{call}"],
        env=os.environ | {"PYTHONPATH": PYTHON_PATH, "NEREVAL_CONNECTIONS": str(log)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1 and "a test opens a connection" in done.stderr
    assert len(log.read_text().splitlines()) == 1


def test_connections_within_this_machine_are_allowed() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as one:
        assert one.getpeername() == server.getsockname()
