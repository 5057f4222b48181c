"""What a process takes, as Linux tells it in /proc: memory, threads and open files."""

from __future__ import annotations

from pathlib import Path


def resident_bytes(process: int) -> int:
    """Return the bytes that a process holds itself (RssAnon), and those of mapped files that are loaded (RssFile)."""
    return sum(int(size.split()[0]) * 1024 for name, size in _status(process) if name in ("RssAnon", "RssFile"))


def peak_bytes(process: int | str = "self") -> int:
    """Return the most that a process has held (VmHWM): since it began, or since its `clear_refs` was written to.

    What `getrusage` calls the most is that of the process that started it, where that held more.
    """
    return next(int(size.split()[0]) * 1024 for name, size in _status(process) if name == "VmHWM")


def thread_count(process: int) -> int:
    return sum(int(size) for name, size in _status(process) if name == "Threads")


def open_file_count(process: int) -> int:
    return len(list(Path(f"/proc/{process}/fd").iterdir()))


def _status(process: int | str) -> list[tuple[str, str]]:
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return [(name, size.strip()) for name, _, size in (line.partition(":") for line in lines)]
