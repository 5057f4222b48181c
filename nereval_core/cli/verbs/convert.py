"""The verb `convert`: annotations from one format to another."""

from __future__ import annotations

import argparse
from pathlib import Path

from nereval_core.cli.options import (
    STDOUT,
    Parser,
    UsageError,
    add_lossy,
    add_reading_of_one,
    settings_of_one,
)
from nereval_core.problems import quoted

HELP = "convert annotations to another format"
USAGE = "IN [IN ...] OUT --to FORMAT [options]"
EXAMPLE = "gold.conll gold.jsonl --to jsonl"
NOTES = """\
Several INs are parts of one layer. JSON lines and CoNLL are packed where OUT ends in .gz or .zst.
--escape-formulas concerns cells that begin with =, +, -, @, a tab or a line end; without it they are counted. When such
a file is read, the apostrophe is text. Where it moves offsets the quotes do not fit them, and the file is refused:
convert back from the original.
"""


def add_arguments(parser: Parser) -> None:
    add = parser.add_argument
    add("input", nargs="+", metavar="IN", help="file, folder or zip; several are parts of one layer")
    add("output", metavar="OUT", help="file, or a new or empty folder")
    add("--to", dest="target_format", required=True, metavar="FORMAT", help="see `nereval formats`")
    add("--shards", type=int, metavar="N", help="write OUT as a folder of N files (parquet, jsonl)")
    add_lossy(add)
    escape = "CSV: put an apostrophe before cells that a spreadsheet would run as formulas; it is read as text"
    add("--escape-formulas", action="store_true", help=escape)
    add("-q", "--quiet", action="store_true", help="print nothing about the files read and the parts left out")
    add_reading_of_one(parser)


def run(options: argparse.Namespace) -> None:
    from nereval_core import writers
    from nereval_core.api.read import read
    from nereval_core.api.scoring import tell_read
    from nereval_core.cli.files import overwrites
    from nereval_core.cli.output import Console

    # An unknown format is refused before anything is read.
    writers.writer_of(options.target_format)
    if options.shards is not None and options.shards < 1:
        raise UsageError(f"--shards {options.shards}, write one or more")
    if options.output == STDOUT:
        raise UsageError("convert writes a file, not standard output: name it as OUT")
    if overwrites(options.output, options.input):
        raise UsageError(f"{quoted(options.output)} would overwrite an input, name another place")
    # With a pattern of the shell and no OUT, the last input would be OUT.
    if len(options.input) > 1 and Path(options.output).is_file():
        remedy = "with several inputs name a new file as OUT"
        raise UsageError(f"{quoted(options.output)} would be overwritten, {remedy}")
    console = Console(options.quiet)
    reading = read(
        options.input[0] if len(options.input) == 1 else options.input,
        format=options.source_format,
        **settings_of_one(options),
        progress=console.progress(" + ".join(options.input), "read"),
    )
    notes = writers.write(
        reading.layer,
        options.output,
        format=options.target_format,
        shards=options.shards,
        lossy=options.lossy,
        escape_formulas=options.escape_formulas,
    )
    tell_read(reading, console)
    for note in notes:
        console.read(f"{options.output}: {note}")
