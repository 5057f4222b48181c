"""What verbs print and write: files and standard output, progress, and what was read, on standard error."""

from __future__ import annotations

import sys
import time
from collections.abc import Collection, Iterable, Mapping
from contextlib import ExitStack, suppress
from pathlib import Path

from nereval_core import writers
from nereval_core.alignment.outcome import Progress
from nereval_core.api.load import Loaded
from nereval_core.pairing.type_suggestions import unlike_in_words
from nereval_core.problems import counted, one_line, quoted
from nereval_core.readers import Reading
from nereval_core.scoring import Settings

STDOUT = "-"

PATIENCE = 0.5
"""Seconds before the progress of a system is shown."""


def put_out(targets: Mapping[str, str], contents: Mapping[str, bytes]) -> None:
    """Write the contents of each form to its place: all of the files or none, then what goes to standard output.

    Raises:
        FormatError: a file cannot be written.
    """
    with ExitStack() as stack:
        # Files take their places only when the last of them is written.
        for form, place in targets.items():
            if place != STDOUT:
                stack.enter_context(writers.whole_file(Path(place))).write(contents[form])
    for form, place in targets.items():
        if place == STDOUT:
            sys.stdout.buffer.write(contents[form])


def say_unlike(loaded: Loaded) -> None:
    """Say which systems share no type with gold: they may call the same things by other names."""
    gold = loaded.corpus.gold
    for system in loaded.corpus.systems:
        if found := unlike_in_words(gold, system):
            say(f"{system.name}: {found}")


def progress_bar(name: str, done_word: str) -> Progress | None:
    """Return what draws a bar on standard error if that is a terminal and the work takes long."""
    if not sys.stderr.isatty():
        return None
    began = time.monotonic()
    shown = -1
    shortened = one_line(name)[-40:]

    def show(done: int, total: int) -> None:
        nonlocal shown
        percent = 100 * done // total if total else 100
        if percent == shown or time.monotonic() - began < PATIENCE:
            return
        shown = percent
        bar = "#" * (percent // 5)
        end = "\r\x1b[K" if done >= total else ""
        print(f"\r\x1b[K{shortened}: [{bar:<20}] {percent:3d}% {done_word}{end}", end="", file=sys.stderr, flush=True)

    return show


def say(text: str) -> None:
    # What is said goes beside the work: it does not fail with a full disk.
    with suppress(OSError):
        print(one_line(text), file=sys.stderr)


def how_much(documents: int, spans: int, types: int) -> str:
    """Return how much was read: `20 documents, 1 span, 1 type`."""
    return ", ".join((counted(documents, "document"), counted(spans, "span"), counted(types, "type")))


def say_read(reading: Reading) -> None:
    form = f"{reading.format}, {reading.scheme}" if reading.scheme else reading.format
    counts = how_much(len(reading.documents), len(reading.layer), len(reading.layer.types))
    say(f"{reading.source}: {'; '.join((form, counts, *reading.notes))}")


def say_unused(settings: Settings, loaded: Loaded) -> None:
    """Say which types to be merged or left out no span has: a slip of the pen would else go unseen."""
    say_unused_types(settings, {kind for layer in (loaded.corpus.gold, *loaded.corpus.systems) for kind in layer.types})


def say_unused_types(settings: Settings, types: Collection[str]) -> None:
    """As `say_unused`, of the types that some span has."""
    merged = dict(settings.merge)
    for option, names in (
        ("--merge", sorted(set(merged).difference(types))),
        ("--leave-out", sorted(set(settings.leave_out).difference(types, merged.values()))),
    ):
        if names:
            say(f"{option}: no span has the type {', '.join(map(quoted, names))}")


def listed(values: Iterable[str]) -> list[str]:
    return [item.strip() for value in values for item in value.split(",") if item.strip()]
