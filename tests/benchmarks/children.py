"""Commands of nereval in child processes, measured."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence


def measured_command(arguments: Sequence[str]) -> tuple[float, int]:
    """Run a command of nereval in a child process; return its seconds of CPU and the bytes it held at its peak."""
    command = [sys.executable, "-m", "nereval_core", *arguments]
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        sys.exit(f"{' '.join(command)} ended with {child.returncode}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
