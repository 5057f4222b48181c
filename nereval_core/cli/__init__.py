"""The command line: `nereval VERB …`. Each verb is a file in `verbs`, found by listing that folder.

`options` declares the options that verbs share, `files` assigns files to layers, `runner` reads and scores for all
verbs, `output` writes and prints, and `results` makes the tables, figures and JSON of verbs with many of them.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from types import MappingProxyType
from typing import Protocol, cast

from nereval_core import __version__
from nereval_core.cli import verbs
from nereval_core.cli.options import BAD, Parser, UsageError
from nereval_core.problems import FormatError, Problem, missing_package, quoted
from nereval_core.report import TABLES

BLAS_THREADS = "OPENBLAS_NUM_THREADS"
"""The environment variable from which numpy's linear algebra takes its number of threads when it is imported."""
INTERRUPTED, BROKEN_PIPE = 130, 141
"""Exit statuses: 128 plus the number of the signal, as in a shell."""
STATUS = "exit status: 0 done; 2 bad usage or bad input, one line each on standard error, nothing written\n"
PATHS = frozenset(
    {*TABLES, "files", "input", "output", "training", "columns", "records", "differences", "figure", "work", "out"}
    | {"methods", "review", "types", "gold_types", "pred_types", "against", "junit"}
)
"""Options that are paths, in which any bytes are allowed."""


class Verb(Protocol):
    """A module of `verbs`; to add a verb, add such a file.

    It imports nothing heavy outside `run` and the functions that `run` calls, so that help is printed at once.
    """

    HELP: str
    """One line for the list of verbs."""
    USAGE: str
    """The arguments after the verb: `GOLD PRED [PRED ...] [options]`."""
    EXAMPLE: str
    """Arguments of an example that does something useful."""
    NOTES: str
    """The text after the options in help."""

    def add_arguments(self, parser: Parser) -> None:
        """Declare the options: the verb's own first, those of reading last."""

    def run(self, options: argparse.Namespace) -> None:
        """Run the verb.

        Raises:
            UsageError: options that are invalid or cannot be combined.
            FormatError: bad input.
        """


def _verbs(folder: str, words: tuple[str, ...] = ()) -> Iterator[tuple[str, str]]:
    """Yield the verbs by listing a folder, with their modules; a folder within it is the first of two words."""
    for module in iter_modules([folder]):
        if module.ispkg:
            yield from _verbs(os.path.join(folder, module.name), (*words, module.name))  # noqa: PTH118
        else:
            # `what_if.py` is `what-if`, and `import_.py` is `import`, which Python keeps for itself.
            word = module.name.rstrip("_").replace("_", "-")
            yield " ".join((*words, word)), ".".join((verbs.__name__, *words, module.name))


VERBS: Mapping[str, str] = MappingProxyType(dict(_verbs(verbs.__path__[0])))
"""The module of each verb, by its one or two words."""
GROUPS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "score and check": ("score", "check", "link", "index", "criteria", "conventions"),
        "explain": ("errors", "slices", "sensitivity", "report"),
        "compare": ("compare",),
        "annotators and review": ("agreement", "consistency", *(verb for verb in VERBS if verb.startswith("review "))),
        "files": ("convert", "types", "formats"),
        "app and server": ("app", "store", "doctor", "completion"),
    }
)
"""The verbs by their purpose, in the order of the help."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a verb and return the exit status."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    # Resampling multiplies thin matrices. More threads spin at their barriers: where other processes want the
    # processors too, agreement of 10,000 documents took seven times the CPU.
    os.environ.setdefault(BLAS_THREADS, "1")
    # The caller closed these streams.
    sys.stdout = sys.stdout or os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")
    sys.stderr = sys.stderr or os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A terminal that cannot show a character shows its code instead of failing.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        try:
            # argparse mixes options and file names only without sub-parsers, so the verb is split off here.
            for words in (2, 1):
                if (name := " ".join(arguments[:words])) in VERBS:
                    _run_verb(name, arguments[words:])
                    return 0
            answer_without_verb(arguments)
            return 0
        finally:
            sys.stdout.flush()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else BAD
    except FormatError as error:
        _print_error(str(error))
        return BAD
    except ModuleNotFoundError as error:
        if (sentence := missing_package(error)) is None:
            raise
        _print_error(f"nereval {arguments[0]}: {sentence}")
        return BAD
    except KeyboardInterrupt:
        return INTERRUPTED
    except OSError as error:
        if error.filename is not None:
            place = os.fsdecode(error.filename) if isinstance(error.filename, (str, bytes)) else str(error.filename)
            _print_error(str(Problem(place, None, f"cannot be used: {error.strerror}", "check the path")))
            return BAD
        # Errors of files were handled above: this one is of standard output. The rest of its buffer cannot be
        # written, and the interpreter must not try again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            return BROKEN_PIPE
        _print_error(f"standard output: cannot be written: {error.strerror}; write to a file instead")
        return BAD


def verb_parser(name: str, arguments: Sequence[str] = ()) -> Parser:
    """Return the parser of a verb, for these arguments."""
    verb = _verb(name)
    parser = Parser(
        prog=f"nereval {name}",
        usage=f"nereval {name} {verb.USAGE}",
        description=f"{verb.HELP}\n\nexample:\n  nereval {name} {verb.EXAMPLE}".rstrip(),
        epilog=(f"{verb.NOTES}\n" if verb.NOTES else "") + STATUS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.arguments = arguments
    verb.add_arguments(parser)
    return parser


def verb_help(name: str) -> str:
    """Return the line on a verb in the list of verbs."""
    return _verb(name).HELP


def _verb(name: str) -> Verb:
    return cast(Verb, import_module(VERBS[name]))


def _run_verb(name: str, arguments: Sequence[str]) -> None:
    parser = verb_parser(name, arguments)
    options = parser.parse_intermixed_args(arguments)
    garbled = next((value for value in _texts(options) if not _is_text(value) and not Path(value).exists()), None)
    if garbled is not None:
        parser.error(f"{quoted(garbled)} is not UTF-8, write it as text")
    try:
        _verb(name).run(options)
    except UsageError as error:
        parser.error(str(error))


def answer_without_verb(arguments: Sequence[str]) -> None:
    """Print the help, the version, or the verbs that begin with the first word.

    Raises:
        SystemExit: the arguments are none of these; a line on standard error says which verb may be meant.
    """
    parser = Parser(prog="nereval", usage="nereval VERB …", add_help=False, allow_abbrev=False)
    word = arguments[0] if arguments else ""
    verbs_of_word = [verb for verb in VERBS if verb.startswith(f"{word} ")]
    if word in ("-h", "--help", "help"):
        print(_help(GROUPS), end="")
    elif word == "--version":
        print(f"nereval {__version__}")
    elif verbs_of_word and set(arguments[1:]) & {"-h", "--help"}:
        print(_help({word: verbs_of_word}), end="")
    elif verbs_of_word and not arguments[1:]:
        parser.error(f"say what to do: {', '.join(verbs_of_word)}")
    elif not word or word.startswith("-"):
        parser.error("begin with a VERB, as in `nereval score GOLD PRED`")
    else:
        from difflib import get_close_matches

        two_words = " ".join(arguments[:2])
        close = get_close_matches(two_words, VERBS, 1) or get_close_matches(word, VERBS, 1)
        advice = f"; did you mean `{close[0]}`?" if close else ""
        parser.error(f"there is no verb {quoted(two_words if verbs_of_word else word)}{advice}")


def _help(groups: Mapping[str, Sequence[str]]) -> str:
    """Return the help of the program, with these verbs."""
    width = max(map(len, (verb for group in groups.values() for verb in group))) + 2
    lines = [
        "usage: nereval VERB …",
        "",
        "Score named entity annotations: `nereval score GOLD PRED`.",
        *(
            line
            for title, group in groups.items()
            for line in ("", title, *(f"  {verb:{width}}{verb_help(verb)}" for verb in group))
        ),
        "",
        "`nereval VERB --help` shows an example and the options of a verb, `nereval --version` the version.",
    ]
    return "\n".join(lines) + "\n"


def _texts(options: argparse.Namespace) -> Iterator[str]:
    """Yield the values of options that are texts, not paths."""
    for key, value in vars(options).items():
        if key not in PATHS:
            yield from (item for item in (value if isinstance(value, list) else [value]) if isinstance(item, str))


def _is_text(value: str) -> bool:
    return not any("\ud800" <= char <= "\udfff" for char in value)


def _print_error(text: str) -> None:
    # If standard error cannot be written either, the exit status tells of the error.
    with suppress(OSError):
        print(text, file=sys.stderr)
