"""The command that `nereval app` becomes: `streamlit run`, which Ctrl-C ends in silence, with a shell's exit status."""

from __future__ import annotations

import sys

import click
from streamlit.web import cli

INTERRUPTED = 130


def main() -> None:
    try:
        cli.main(prog_name="streamlit", standalone_mode=False)
    except (click.Abort, KeyboardInterrupt):
        sys.exit(INTERRUPTED)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)


if __name__ == "__main__":
    main()
