"""Options of the server, alike for `nereval app` and for `streamlit run app.py -- ...`, and their checks."""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from nereval_core.cli.options import Add, UsageError
from nereval_core.problems import quoted

OPTIONS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "--data": {"type": Path, "metavar": "DIR", "help": "offer the files and folders in DIR on the front page, too"},
        "--review": {
            "metavar": "FILE|URL",
            "help": "where verdicts are kept (default: $NEREVAL_REVIEW_URL, else a file)",
        },
        "--mask": {
            "action": "store_true",
            "help": "replace letters and digits of all texts, which nobody can switch off",
        },
        "--open": {
            "action": "store_true",
            "help": "off this machine, let in whoever reaches the server, without a token",
        },
        "--allow": {
            "metavar": "ADDRESSES",
            "help": "of those who log in, let in these alone: user@example.org,@example.com",
        },
        "--trust-unverified": {
            "action": "store_true",
            "help": "with --allow, trust addresses that the provider of logins calls neither verified nor unverified",
        },
        "--read-only": {"action": "store_true", "help": "take no verdicts and no playlists"},
        "--keep": {
            "type": int,
            "metavar": "DAYS",
            "help": "remove uploads not opened for so long (off this machine: 30)",
        },
        "--memory": {
            "type": float,
            "metavar": "GB",
            "help": "memory of one reading or scoring (off this machine: half of it)",
        },
        "--seconds": {
            "type": float,
            "metavar": "N",
            "help": "time of one reading or scoring (off this machine: 600)",
        },
    }
)
"""The options, and what `add_argument` is told of each."""
LEAST = MappingProxyType({"--keep": (1, "days"), "--memory": (0.5, "gigabytes"), "--seconds": (1, "seconds")})
"""The smallest value of options that are numbers, and what they count; a process that reads starts in 0.3 GB."""
MOST = 1_000_000
"""Their largest value."""


ADDRESS = re.compile(r"[^\s@,]*@[^\s@,]+")
"""An address of mail, or a domain after its @."""


def add_server(add: Add) -> None:
    for flag, how in OPTIONS.items():
        add(flag, **how)


def value_of(options: argparse.Namespace, flag: str) -> Any:
    return getattr(options, flag.removeprefix("--").replace("-", "_"))


def check_server(options: argparse.Namespace) -> None:
    """Refuse numbers out of bounds, a `--data` that is not a folder, and an `--allow` that names no address.

    Raises:
        UsageError: one of them.
    """
    for flag, (least, unit) in LEAST.items():
        number = value_of(options, flag)
        if number is not None and not least <= number <= MOST:
            raise UsageError(f"{flag} {number}, write {least} to {MOST:,} {unit}")
    if options.data is not None and not options.data.is_dir():
        raise UsageError(f"--data {options.data}: no such folder")
    for address in () if options.allow is None else addresses(options.allow):
        if not ADDRESS.fullmatch(address):
            raise UsageError(f"--allow {quoted(address)}: write user@example.org or @example.org, with commas between")


def addresses(names: str) -> frozenset[str]:
    """Return addresses of mail and domains (`@example.org`), with commas between, as they are compared."""
    return frozenset(name.strip().casefold() for name in names.split(","))


def server_arguments(options: argparse.Namespace) -> list[str]:
    """Return the arguments that say what these options say."""
    values = {flag: value_of(options, flag) for flag in OPTIONS}
    return [
        flag if value is True else f"{flag}={value}" for flag, value in values.items() if value not in (None, False)
    ]
