"""The servers that tests fork end with the tests, whatever ends these."""

from __future__ import annotations

import os
import select
import subprocess
import sys
from pathlib import Path

from tests.support import ROOT
from tests.support.browser import free_port

TESTS = """import sys
from tests.support.forked_servers import fork_server
fork_server(["run", "app.py", "--server.port", sys.argv[1]], sys.argv[2])
sys.stdin.read()"""


def test_servers_end_with_tests_that_are_killed(tmp_path: Path) -> None:
    # What a server says goes into a pipe, which ends with the server: the number of a process may be another's by then.
    log = tmp_path / "log"
    os.mkfifo(log)
    reader = os.open(log, os.O_RDONLY | os.O_NONBLOCK)
    command = [sys.executable, "-c", TESTS, str(free_port()), str(log)]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(command, cwd=ROOT, env=environment, stdin=subprocess.PIPE) as tests:
        try:
            assert select.select([reader], [], [], 60)[0], "the server says where it is"
        finally:
            tests.kill()
    while select.select([reader], [], [], 30)[0]:
        if not os.read(reader, 4096):
            break
    else:
        raise AssertionError("the server still runs")
    os.close(reader)
