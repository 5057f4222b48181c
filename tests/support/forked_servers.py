"""Servers of the app that are forked from one process, which has imported what they import.

To start a server takes two seconds of a processor, and all but a fifth of that are imports. Only the start differs from
`python -m streamlit run`: a forked server is given its folder, environment, arguments and log, and then runs the same
module. `tests/test_installation.py` starts servers as users do.
"""

from __future__ import annotations

import atexit
import json
import os
import runpy
import signal
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from functools import cache
from importlib import import_module
from typing import Any

from tests.support import ROOT

POLLED = 0.02
"""Seconds between two questions whether a server has ended."""


class ForkedServer:
    """A server that was forked, with what the tests ask of a `subprocess.Popen`."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._status: int | None = None

    def poll(self) -> int | None:
        """Return the exit status, negative for a signal; None for a server that still runs."""
        if self._status is None:
            self._status = _ask(poll=self.pid)
        return self._status

    def terminate(self) -> None:
        if self.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGTERM)

    def wait(self, seconds: float) -> int:
        """Return the exit status of a server that ends.

        Raises:
            TimeoutError: it still runs after so many seconds.
        """
        until = time.monotonic() + seconds
        while (status := self.poll()) is None:
            if time.monotonic() > until:
                raise TimeoutError(f"the server {self.pid} does not end")
            time.sleep(POLLED)
        return status


def fork_server(arguments: list[str], log: str) -> ForkedServer:
    """Start `python -m streamlit` with these arguments in the folder of this repository and the environment of now.

    What it says is added to the file `log`.
    """
    return ForkedServer(_ask(arguments=arguments, log=log, environment=dict(os.environ)))


def _ask(**order: Any) -> Any:
    parent = _parent()
    assert parent.stdin is not None and parent.stdout is not None
    parent.stdin.write(json.dumps(order) + "\n")
    parent.stdin.flush()
    return json.loads(parent.stdout.readline())


@cache
def _parent() -> subprocess.Popen[str]:
    """Start the process that forks, once for all tests of a process; it ends with its input."""
    command = [sys.executable, "-m", __name__]
    parent = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert parent.stdin is not None
    atexit.register(parent.wait)
    atexit.register(parent.stdin.close)
    return parent


def _serve_orders() -> None:
    """Carry out the orders on standard input, a line each; return in each forked process, which then is a server."""
    # As a process that a server starts does: it imports all that a server does, and serves nothing.
    runpy.run_path(str(ROOT / "app.py"), run_name="__mp_main__")
    import_module("streamlit.web.cli")
    # An interrupt from the keyboard is for the tests, which end this process.
    at_interrupt = signal.signal(signal.SIGINT, signal.SIG_IGN)
    running: set[int] = set()
    try:
        for line in sys.stdin:
            order = json.loads(line)
            if "poll" in order:
                ended, status = os.waitpid(order["poll"], os.WNOHANG)
                answer = os.waitstatus_to_exitcode(status) if ended else None
                running.discard(ended)
            else:
                assert threading.active_count() == 1, "a fork has no other threads, and would wait for their locks"
                answer = os.fork()
                if answer == 0:
                    running.clear()
                    signal.signal(signal.SIGINT, at_interrupt)
                    _become(order)
                    return
                running.add(answer)
            print(json.dumps(answer), flush=True)
    finally:
        # Tests that are killed end no server themselves.
        for server in running:
            os.kill(server, signal.SIGTERM)


def _become(order: dict[str, Any]) -> None:
    """Take on the environment, arguments and files of a server."""
    os.environ.clear()
    os.environ.update(order["environment"])
    tempfile.tempdir = None
    sys.argv = ["streamlit", *order["arguments"]]
    log = os.open(order["log"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for number, file in enumerate((nothing, log, log)):
        os.dup2(file, number)
    os.close(log)
    os.close(nothing)


if __name__ == "__main__":
    _serve_orders()
    if sys.argv[1:]:
        runpy.run_module("streamlit", run_name="__main__", alter_sys=True)
