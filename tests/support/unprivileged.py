"""The command line as a user whom rights bind: reads a list of commands as JSON, says what each one said and returned.

Root may write anywhere: as root, this becomes `databases.USER`, once all is imported that may lie where that user
cannot read.
"""

from __future__ import annotations

import io
import json
import os
import pwd
import sys
from contextlib import redirect_stderr, redirect_stdout

import sqlalchemy.dialects.sqlite

from nereval_core.cli import main, verdicts
from tests.support.databases import USER

NEEDED = (sqlalchemy.dialects.sqlite, verdicts)


def said(arguments: list[str]) -> tuple[int, str, str]:
    with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as err:
        status = main(arguments)
    return status, out.getvalue(), err.getvalue()


if __name__ == "__main__":
    commands = json.load(sys.stdin)
    if os.getuid() == 0:
        user = pwd.getpwnam(USER)
        os.setgroups([])
        os.setgid(user.pw_gid)
        os.setuid(user.pw_uid)
    print(json.dumps([said(command) for command in commands]))
