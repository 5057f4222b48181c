"""Verdicts on the command line: reading accepted verdicts, writing corrected layers, and reporting on both."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable
from contextlib import closing, suppress
from pathlib import Path

from nereval_core.api.load import Loaded
from nereval_core.api.verb_options import VerdictOptions
from nereval_core.cli.files import Paths, load_layers, prediction_files, real_paths
from nereval_core.cli.options import STDOUT, UsageError, parsed
from nereval_core.cli.output import Console, say
from nereval_core.corpus import Layer
from nereval_core.problems import FormatError, counted, quoted
from nereval_core.review.apply import AppliedVerdicts
from nereval_core.review.apply.corrected_copy import write_copy
from nereval_core.review.apply.settlement import REASONS
from nereval_core.review.standing_verdicts import Reviewed
from nereval_core.review.store import ReviewStore
from nereval_core.review.tables import layer_changes, lost_properties, untaken_properties
from nereval_core.review.verdict_lines import is_export


def verdict_options(arguments: argparse.Namespace) -> VerdictOptions:
    """Return which verdicts are accepted, and which documents they change.

    Raises:
        FormatError: an unknown kind.
    """
    return parsed(VerdictOptions, arguments, only_this_document=arguments.only_this_document)


def verdict_count(number: int) -> str:
    """Return a number of verdicts in words: `1,000 verdicts`."""
    return f"{number:,} verdict{'' if number == 1 else 's'}"


def check_kept(place: str, protected: Iterable[str | Path | None]) -> None:
    """Refuse an output that would overwrite the verdicts themselves or an input.

    Raises:
        UsageError: it would be overwritten.
    """
    real = {os.path.realpath(path) for path in protected if path is not None}
    if place != STDOUT and os.path.realpath(place) in real:
        raise UsageError(f"{quoted(place)} would be overwritten, name another FILE")


def check_replaceable(place: str) -> None:
    """Refuse to export verdicts over a file that is not an earlier export.

    Raises:
        FormatError: there is such a file, or it cannot be read.
    """
    path = Path(place)
    if place == STDOUT or not path.is_file():
        return
    try:
        replaceable = is_export(path)
    except OSError as error:
        raise FormatError.single(place, None, error.strerror or "cannot be read", "name another file") from None
    if not replaceable:
        finding = "the file is not an earlier export of verdicts, and is not overwritten"
        raise FormatError.single(place, None, finding, "name another file, or remove this one")


def existing_store(place: str | None) -> ReviewStore:
    """Return the store of verdicts that is named, or the user's own, which may be empty.

    Raises:
        FormatError: a file that is named does not exist, or it names an invalid URL.
    """
    store = ReviewStore.of_environment(place)
    file = store.database.file
    # Of a folder without rights, opening the file in it tells more.
    with suppress(PermissionError):
        if place is not None and file is not None and not file.exists():
            raise FormatError.single(place, None, "there is no such file", "name the file that holds the verdicts")
    return store


def read_verdicts(place: str | None, options: VerdictOptions) -> tuple[Reviewed, Path | None]:
    """Return the accepted verdicts, and their file, None for a database on a server.

    Raises:
        FormatError: a file that does not exist, a database that cannot be read, or a reviewer without a verdict.
    """
    with closing(existing_store(place)) as store:
        return options.accepted(store.reviewed(), store.name), store.database.file


def load_reviewed(options: argparse.Namespace) -> Loaded:
    """Read gold and the systems, which may be none."""
    systems: dict[str, Paths] | None = None if prediction_files(options.files) else {}
    return load_layers(options, Console(options.quiet), systems=systems, reference="gold")


def say_lost_properties(original: Layer, layer: Layer) -> None:
    """Print what spans that verdicts changed had, such as links, and do not have any more."""
    if losses := lost_properties(original, layer, layer_changes(original, layer)):
        say(f"not carried over to changed spans: {'; '.join(losses)}")


def say_untaken_properties(other: Layer, layer: Layer) -> None:
    """Print what a second annotator's spans have that the equal spans of the adjudicated layer do not."""
    if untaken := untaken_properties(other, layer):
        say(f"{other.name}: not taken where both agree: {'; '.join(untaken)}")


def write_layer(options: argparse.Namespace, layer: Layer, log: bytes, verdict_file: Path | None) -> None:
    """Write a layer and its log; refuse to overwrite an input or the verdicts themselves."""
    places: list[str | Path] = [*real_paths(options.files), *([verdict_file] if verdict_file else [])]
    for note in write_copy(layer, log, options.out, format=options.target_format, inputs=places, lossy=options.lossy):
        say(f"{options.out}: {note}")


def say_applied(applied: AppliedVerdicts) -> None:
    """Print the numbers of applied verdicts, changed places and documents, and unchanged documents of equal text."""
    say(
        f"{counted(applied.verdicts, 'verdict')} applied to {counted(applied.places, 'place')} in "
        f"{counted(applied.documents, 'document')}"
    )
    if applied.spared:
        spared = counted(applied.spared, "document")
        say(f"{spared} with the same text not changed; --every-document changes all of them")


def say_counts(applied: AppliedVerdicts) -> None:
    """Print the number of applied verdicts, and of verdicts by outcome."""
    say_applied(applied)
    for name, count in applied.counts().items():
        say(f"{name}: {count}" + (f" ({REASONS[name]})" if name in REASONS else ""))
