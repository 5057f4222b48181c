"""The verb `doctor`: all that is kept on this machine, whether it is whole and private, and mending it."""

from __future__ import annotations

import argparse
from pathlib import Path

from nereval_core.cli.options import FAILED, Parser, UsageError, add_review_file
from nereval_core.problems import Problem, quoted
from nereval_core.tables import columns_of

HELP = "say what is kept where, check it, and mend it"
USAGE = "[SCORED ...] [options]"
EXAMPLE = "--mend --json health.json"
NOTES = """\
Checked are the store of corpora, the verdicts, temporaries of killed processes, and the scored folders that are named.
Without --mend nothing is changed. Logs are not kept: the server writes them to standard error.
exit status: 1 something was found that is not mended
"""


def add_arguments(parser: Parser) -> None:
    parser.add_argument("files", nargs="*", metavar="SCORED", help="a folder that `score --out` or `--records` made")
    add = parser.add_argument
    add("--mend", action="store_true", help="set modes, make indexes again, remove temporaries and damaged corpora")
    add("--json", metavar="FILE", help="everything as one JSON object; - is standard output")
    add_review_file(parser.add_argument)


def run(options: argparse.Namespace) -> None:
    from nereval_core.api.doctor import MENDED, Storage, examine, mend, state
    from nereval_core.cli.output import Result, write_result
    from nereval_core.report.json_results import versions
    from nereval_core.tables import Table

    for folder in options.files:
        if not Path(folder).is_dir():
            raise UsageError(f"{quoted(folder)} is not a folder, name one that `score --out` made")
    examination = examine(options.review, options.files)
    rows = tuple(
        (*_cells(finding.problem), mend(finding) if options.mend else state(finding))
        for finding in examination.findings
    )
    kept_rows = tuple(tuple(vars(storage).values()) for storage in examination.storages)
    storages = Table("kept", columns_of(*Storage.__dataclass_fields__), kept_rows)
    findings = Table("findings", columns_of("place", "found", "remedy", "state"), rows)
    result = Result(
        tables=lambda: [storages, findings] if rows else [storages],
        long=lambda: findings,
        json=lambda: {**versions(), **{table.title: table.objects() for table in (storages, findings)}},
    )
    write_result(result, {"json": options.json} if options.json is not None else {})
    if any(row[-1] != MENDED for row in rows):
        raise SystemExit(FAILED)


def _cells(problem: Problem) -> tuple[str, str, str]:
    return problem.source, problem.found, problem.remedy
