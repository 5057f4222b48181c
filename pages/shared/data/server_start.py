"""The start of the server: nothing is served under options that cannot be met, and what is in force is printed."""

from __future__ import annotations

import sys

from nereval_core.cli.options import BAD
from nereval_core.problems import FormatError
from nereval_core.store import Store
from pages.shared.data import masks, verdict_store
from pages.shared.server import check_options, server_options
from pages.shared.server.access import announce_access, check_login, token


def check() -> str:
    """Return where verdicts are kept.

    End the process, with one line for each problem, where an option, token, login or the named verdicts are bad.
    """
    check_options()
    try:
        token()
        check_login()
        return verdict_store.check_named()
    except FormatError as error:
        print(error, file=sys.stderr)
        sys.exit(BAD)


def announce(verdicts: str) -> None:
    """Print who may use the server, what is in force, and where corpora and verdicts are."""
    announce_access()
    options, store = server_options(), Store.of_environment()
    switches = {"--mask": masks.all_masked(), "--read-only": options.read_only, f"--data {options.data}": options.data}
    said = ", ".join(flag if on else f"no {flag.partition(' ')[0]}" for flag, on in switches.items())
    kept = "nowhere" if store is None else f"in {store.folder}"
    print(f"In force: {said}. Corpora are stored {kept}, verdicts in {verdicts}.", flush=True)
