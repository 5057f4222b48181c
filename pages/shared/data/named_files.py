"""The files named when the server was started: read before it serves, and shown where an address names no corpus."""

from __future__ import annotations

from nereval_core.api.load import source_of
from nereval_core.cli.files import gold_path, system_paths
from nereval_core.cli.options import BAD, Parser, UsageError, add_reading, load_options
from nereval_core.cli.output import progress_bar
from nereval_core.problems import FormatError
from nereval_core.store import Store
from pages.shared.data.jobs import Watch
from pages.shared.data.kept_corpora import Keeper
from pages.shared.data.loading import Loaded
from pages.shared.server import server_options

_read: Loaded | None = None


def named_corpus() -> Loaded | None:
    """Return the corpus of the files named, None where there are none."""
    return _read


def read_named_files() -> None:
    """Read the files of `nereval app GOLD SYSTEM ...` where there are some; end the server if one cannot be read."""
    global _read
    arguments = server_options().files
    if not arguments:
        return
    parser = Parser(prog="nereval app", allow_abbrev=False)
    add_reading(parser, least=0)
    options = parser.parse_intermixed_args(arguments)
    try:
        gold = source_of(gold_path(options))
        systems = {name: source_of(path) for name, path in system_paths(options).items()}
        _read = Keeper(Store.of_environment()).read(None, gold, systems, load_options(options), watch=_TerminalWatch())
        if _read.problems:
            raise FormatError(_read.problems)
    except UsageError as error:
        parser.error(str(error))
    except FormatError as error:
        parser.exit(BAD, f"{error}\n")


class _TerminalWatch(Watch):
    """A watch that draws a bar on the terminal of the server."""

    def begin(self, stage: str, unit: str = "") -> None:
        super().begin(stage, unit)
        self._bar = progress_bar(stage, "done")

    def step(self, done: int, total: int) -> None:
        super().step(done, total)
        if self._bar is not None:
            self._bar(done, total)
