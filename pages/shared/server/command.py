"""The command that `nereval app` becomes: `streamlit run`, which Ctrl-C ends in silence, with a shell's exit status.

With BACKGROUND as its first argument it ends when its standard input does: with the program that started it.
"""

from __future__ import annotations

import os
import signal
import sys
from threading import Thread

import click
from streamlit.web import cli

INTERRUPTED = 130
BACKGROUND = "background"
"""As in `nereval_core.api.serving`, which a clone cannot import before Streamlit runs."""


def main() -> None:
    if sys.argv[1:2] == [BACKGROUND]:
        del sys.argv[1]
        Thread(target=_end_with_input, daemon=True).start()
    try:
        cli.main(prog_name="streamlit", standalone_mode=False)
    except (click.Abort, KeyboardInterrupt):
        sys.exit(INTERRUPTED)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)


def _end_with_input() -> None:
    sys.stdin.buffer.read()
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    main()
