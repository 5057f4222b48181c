"""Printing and writing: results to files and standard output, notes and progress to standard error."""

from __future__ import annotations

import sys
import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from nereval_core.cli.options import STDOUT
from nereval_core.pairing import have_no_common_type
from nereval_core.problems import SHOWN, counted, one_line, quoted

if TYPE_CHECKING:
    from nereval_core.alignment.codes import Progress
    from nereval_core.api.load import Loaded
    from nereval_core.readers import Reading
    from nereval_core.scoring import Settings

PROGRESS_DELAY_SECONDS = 0.5
"""The time after which progress is shown."""


def write_outputs(targets: Mapping[str, str], contents: Mapping[str, bytes]) -> None:
    """Write the contents of each form to its place: all of the files or none, then standard output.

    Raises:
        FormatError: a file cannot be written.
    """
    if not targets:
        return
    from nereval_core import writers

    with ExitStack() as stack:
        # Files appear only when the last of them is written.
        for form, place in targets.items():
            if place != STDOUT:
                stack.enter_context(writers.whole_file(Path(place))).write(contents[form])
    for form, place in targets.items():
        if place == STDOUT:
            sys.stdout.buffer.write(contents[form])


def progress_bar(name: str, done_word: str) -> Progress | None:
    """Return a function that draws a bar on standard error once the work takes long, None if that is no terminal."""
    if not sys.stderr.isatty():
        return None
    began = time.monotonic()
    shown = -1
    shortened = one_line(name)[-40:]

    def show(done: int, total: int) -> None:
        nonlocal shown
        percent = 100 * done // total if total else 100
        if percent == shown or time.monotonic() - began < PROGRESS_DELAY_SECONDS:
            return
        shown = percent
        bar = "#" * (percent // 5)
        end = "\r\x1b[K" if done >= total else ""
        print(f"\r\x1b[K{shortened}: [{bar:<20}] {percent:3d}% {done_word}{end}", end="", file=sys.stderr, flush=True)

    return show


def say(text: str) -> None:
    """Print a line on standard error; a full disk there does not stop the work."""
    with suppress(OSError):
        print(one_line(text), file=sys.stderr)


def sizes_in_words(documents: int, spans: int, types: int) -> str:
    """Return the size of a layer: `20 documents, 1 span, 1 type`."""
    return ", ".join((counted(documents, "document"), counted(spans, "span"), counted(types, "type")))


def say_read(reading: Reading) -> None:
    """Print the format and size of a layer, and the reader's notes."""
    form = f"{reading.format}, {reading.scheme}" if reading.scheme else reading.format
    sizes = sizes_in_words(len(reading.documents), len(reading.layer), len(reading.layer.types))
    say(f"{reading.source}: {'; '.join((form, sizes, *reading.notes))}")


def say_lost(loaded: Loaded) -> None:
    """Print the spans that were lost when layers were projected onto gold's texts."""
    for lost in loaded.lost.values():
        for problem in lost[:SHOWN]:
            say(str(problem))
        if len(lost) > SHOWN:
            say(f"{lost[0].source}: {len(lost)} spans lost in all; the first {SHOWN} are shown")


def say_other_types(loaded: Loaded) -> None:
    """Print the systems that share no type with gold, which may use other names for the same types."""
    gold = loaded.corpus.gold
    for system in loaded.corpus.systems:
        if have_no_common_type(gold, system):
            from nereval_core.pairing.type_suggestions import no_common_type_in_words

            say(f"{system.name}: {no_common_type_in_words(gold, system)}")


def say_unused(settings: Settings, types: Collection[str]) -> None:
    """Print the types to be merged or left out that no span has (`types` are those of spans): often typing errors."""
    merged = dict(settings.merge)
    for option, names in (
        ("--merge", sorted(set(merged).difference(types))),
        ("--leave-out", sorted(set(settings.leave_out).difference(types, merged.values()))),
    ):
        if names:
            say(f"{option}: no span has the type {', '.join(map(quoted, names))}")


def say_greedy(name: str, documents: Sequence[str]) -> None:
    """Print the documents of a system in which clusters were too large for the exact alignment."""
    if documents:
        say(f"{name}: clusters too large to be aligned exactly were aligned greedily, in: {', '.join(documents)}")
