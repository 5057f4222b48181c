"""Inputs that no tool writes are read by every reader, uploaded as on the front page, and packed in archives.

Whatever is given, there may only be a corpus that keeps what corpora promise, or problems that each say what was found
and how to mend it, within SECONDS and MEMORY_BYTES. Nothing is written but in temporary folders, and nothing is left
there.
"""

from __future__ import annotations

import gc
import os
import random
import resource
import shutil
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from nereval_core.problems import FormatError
from nereval_core.readers import Source, read, readers
from nereval_core.readers.recognition.preview import Preview, preview
from pages.shared.data.file_roles import ANNOTATOR, GOLD, IGNORED, TEXTS, first_layers, grouped_files, proposed_roles
from pages.shared.data.kept_corpora import Keeper
from pages.shared.data.loading import GOLD as GOLD_LAYER
from pages.shared.data.loading import Loaded
from pages.shared.data.reading_orders import Part, Selection, Upload, Uploaded
from tests.endurance.tries import FailedTryError, Try, make_tries
from tests.fuzzing.archives import NAMES, PACKINGS, expanding, packed
from tests.fuzzing.inputs import attempt, check_layer, check_problems, check_written, seeds, taken
from tests.fuzzing.mutation import changed, damaged, words_of
from tests.support.processes import peak_bytes

SECONDS = 5.0
"""The processor's time that an input of a few kilobytes may take."""
MEMORY_BYTES = 500 << 20
"""The memory that it may take."""
BACKSTOP_BYTES = 6 << 30
"""Memory beyond this is refused to the process."""
WRITTEN_EACH = 8
"""One of so many corpora that were read is written and read again."""
EXPANDING_EACH = 1_000
"""One of so many inputs expands to megabytes."""
PREFIXES = ("gold", "gold", "sys", "pred", "ann1", "x", "gold.texts", "labels")
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
CHANGES = {"os.mkdir": 0, "os.rename": 1, "os.symlink": 1, "os.link": 1, "os.remove": 0, "os.rmdir": 0, "os.chmod": 0}
"""Events of Python that change files, with the argument that says which."""
LEAVING = frozenset(("subprocess.Popen", "os.system", "os.exec", "socket.connect", "socket.getaddrinfo"))
"""Events that reach other processes and machines."""

Given = tuple[str, Mapping[str, bytes], Callable[[], Iterator[str]]]
"""A try: its kind, its files, and what reads them and yields the outcomes."""


def run(folder: Path, wanted: Callable[[int], bool], *, processes: int = 1, first: int = 0) -> Counter[str]:
    """Read as long as `wanted` says so of the number of inputs; count those `read` and `refused`, and the failures."""
    return make_tries(prepare, folder, wanted, processes=processes, first=first)


def prepare(folder: Path) -> Try:
    return Inputs(folder).make


class Inputs:
    """The inputs by number, read in this process, whose temporary folder is `folder`/work."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.work, self.own = folder / "work", folder / "own"
        self.own.mkdir()
        self.seeds = {format: list(seeds(format)) for format in readers()}
        self.words = {format: words_of(given) for format, given in self.seeds.items()}
        for format, given in self.seeds.items():
            attempt(format, *taken(format, given[0]), self.own)
        self.outside: list[str] = []
        self.written = False
        # A module that is first imported while an input is read would be written beside its source, compiled.
        sys.dont_write_bytecode = True
        sys.addaudithook(self._watch)
        resource.setrlimit(resource.RLIMIT_AS, (BACKSTOP_BYTES, resource.RLIM_INFINITY))
        _forget_peak()
        self.allowed = peak_bytes() + MEMORY_BYTES

    def make(self, number: int) -> Iterator[str]:
        """Read the input of a number.

        Raises:
            FailedTryError: something happened that must not.
        """
        drawn = random.Random(number)
        kind, files, outcomes = self._given(drawn)
        began = time.process_time()
        try:
            found = list(outcomes())
        except Exception as error:
            error.add_note(f"{kind}: {dict(files)!r}")
            raise
        seconds = time.process_time() - began
        if broken := [*self._limits_broken(seconds), *self._traces()]:
            raise FailedTryError(f"{kind}: {broken[0]}", f"{kind}: {dict(files)!r}")
        yield from found
        yield kind

    def _limits_broken(self, seconds: float) -> Iterator[str]:
        if seconds > SECONDS:
            yield f"took more than {SECONDS:.0f} seconds"
        if peak_bytes() > self.allowed:
            yield f"took more than {MEMORY_BYTES >> 20} MB"
            _forget_peak()

    def _traces(self) -> Iterator[str]:
        """Yield what was written outside of the folder since this was asked last, and what is left in it."""
        if self.outside:
            yield f"reached out of the temporary folder: {self.outside[0]}"
            self.outside.clear()
        if self.written:
            places = (self.work, self.own, self.folder / "home")
            if any(map(os.listdir, places)):
                # What Python has yet to let go of is not a fault.
                gc.collect()
            for path in [path for place in places for path in place.iterdir()]:
                yield f"left behind: a file or folder in {path.parent.name}"
                shutil.rmtree(path) if path.is_dir() else path.unlink()
            self.written = False

    def _given(self, drawn: random.Random) -> Given:
        kind = drawn.choices(("format", "upload", "archive"), (78, 7, 15))[0]
        format = drawn.choice(tuple(self.seeds))
        if kind == "format":
            files, options = taken(format, self._raw(drawn, format, drawn.choice((0, 1, 1, 1, 2))))
            if drawn.random() < 0.1:
                name = drawn.choice(tuple(files))
                files[name] = damaged(files[name], drawn, [*files.values()])
            again = self.own if drawn.randrange(WRITTEN_EACH) == 0 else None
            return format, files, lambda: _outcome(attempt(format, files, options, again))
        if kind == "upload":
            uploads = self._uploads(drawn)
            return "upload", dict(uploads), partial(self._uploaded, uploads, drawn)
        files, _ = taken(format, self._raw(drawn, format, drawn.choice((0, 0, 1))))
        if drawn.randrange(EXPANDING_EACH) == 0:
            name, raw = drawn.choice(tuple(files.items()))
            return "expanding", files, partial(self._packed, drawn.choice(expanding(name, raw)), drawn)
        made = packed(files, drawn)
        return "archive", made, partial(self._packed, made, drawn)

    def _raw(self, drawn: random.Random, format: str, changes: int) -> bytes:
        raw = drawn.choice(self.seeds[format])
        for _ in range(changes):
            raw = changed(raw, drawn.randrange(1 << 32), self.words[format])
        return raw

    def _uploads(self, drawn: random.Random) -> list[Upload]:
        """Return files as they are dropped together: gold and systems alike, and some that do not belong there."""
        format = drawn.choice(tuple(self.seeds))
        seed = drawn.choice(self.seeds[format])
        found: list[Upload] = []
        for prefix in drawn.sample(PREFIXES, drawn.choice((1, 2, 2, 2, 3))):
            raw = seed
            if drawn.random() < 0.1:
                format = drawn.choice(tuple(self.seeds))
                raw = drawn.choice(self.seeds[format])
            if drawn.random() < 0.5:
                raw = changed(raw, drawn.randrange(1 << 32), self.words[format])
            files = {f"{prefix}.{name.replace('/', '.')}": held for name, held in taken(format, raw)[0].items()}
            if drawn.random() < 0.15:
                files = packed(files, drawn)
            elif drawn.random() < 0.1:
                suffix, pack = drawn.choice(tuple(PACKINGS.items()))
                files = {f"{name}{suffix}": pack(held) for name, held in files.items()}
            found += files.items()
        if drawn.random() < 0.1:
            # A browser tells no paths but in folders, and people rename what they like.
            found[0] = drawn.choice(NAMES), found[0][1]
        return found

    def _uploaded(self, uploads: Sequence[Upload], drawn: random.Random) -> Iterator[str]:
        """Do with uploads what the drop zone of the front page does."""
        rows: list[tuple[list[Upload], str, Preview]] = []
        for numbers in grouped_files([name for name, _ in uploads]):
            group = [uploads[number] for number in numbers]
            try:
                found = preview(Source.of_uploads(group))
            except FormatError as error:
                check_problems(error)
                found = Preview("", 0, problems=error.problems)
            if found.problems:
                check_problems(FormatError(found.problems))
            rows += [(group, layer, found) for layer in first_layers(found.layers) or ("",)]
        proposed = proposed_roles(
            [layer for _, layer, _ in rows], [group[0][0] for group, _, _ in rows], [one.format for _, _, one in rows]
        )
        order = _order(rows, proposed, apart=drawn.random() < 0.2)
        assert isinstance(order.small, bool)
        try:
            loaded = Keeper(None).read(*order.opened(), order.options, first_annotator=order.first_annotator)
        except FormatError as error:
            check_problems(error)
            yield "refused"
            return
        self._check(loaded, drawn)
        yield "read"

    def _check(self, loaded: Loaded, drawn: random.Random) -> None:
        if loaded.problems:
            check_problems(FormatError(loaded.problems))
        for layer in (loaded.corpus.gold, *loaded.corpus.systems):
            check_layer(layer)
            if drawn.randrange(WRITTEN_EACH) == 0:
                check_written(layer, self.own / "again.jsonl")

    def _packed(self, files: Mapping[str, bytes], drawn: random.Random) -> Iterator[str]:
        """Open archives as uploads or, one of four, as a file of this machine, and read what is in them."""
        try:
            if drawn.randrange(4):
                source = Source.of_uploads(files.items())
            else:
                name, raw = next(iter(files.items()))
                place = self.own / name.replace("/", "_")
                place.write_bytes(raw)
                try:
                    source = Source.of_path(place, within=self.own)
                    _ = [file.head().raw for file in source.files]
                    reading = read(source)
                finally:
                    place.unlink()
                check_layer(reading.layer)
                yield "read"
                return
            found = preview(source)
            if found.problems:
                check_problems(FormatError(found.problems))
            check_layer(read(source).layer)
            yield "read"
        except FormatError as error:
            check_problems(error)
            yield "refused"

    def _watch(self, event: str, given: tuple[Any, ...]) -> None:
        """Note that something is written, and where that is outside of the folder, and what leaves this process."""
        if event == "open":
            path, mode, flags = given
            if not (flags & WRITING if isinstance(flags, int) else set(str(mode)) & set("wax+")):
                return
        elif event in CHANGES:
            path = given[CHANGES[event]]
        elif event in LEAVING:
            self.outside.append(event)
            return
        else:
            return
        self.written = True
        if isinstance(path, str | bytes | os.PathLike) and not self._is_inside(os.fspath(path)):
            self.outside.append(f"{event} {path!r}")

    def _is_inside(self, path: str | bytes) -> bool:
        # Links are not followed: what is asked is what the name says.
        place = os.path.normpath(Path.cwd() / os.fsdecode(path))
        return place.startswith((f"{self.folder}/", "/proc/self/"))


def _outcome(done: bool) -> Iterator[str]:
    yield "read" if done else "refused"


def _order(rows: Sequence[tuple[list[Upload], str, Preview]], roles: Sequence[str], *, apart: bool) -> Uploaded:
    """Return the order for rows with these roles, as the drop zone makes it; the first is gold where none is."""
    shared = [file for (group, _, _), role in zip(rows, roles, strict=True) if role == TEXTS for file in group]
    first = roles.index(GOLD) if GOLD in roles else roles.index(ANNOTATOR) if ANNOTATOR in roles else 0
    layers: dict[str, list[Part]] = {GOLD_LAYER: []}
    for number, ((group, layer, found), role) in enumerate(zip(rows, roles, strict=True)):
        if role in (TEXTS, IGNORED) and number != first:
            continue
        name = GOLD_LAYER if number == first else layer or group[0][0]
        wanted = Selection(layer, None, apart and bool(found.apart), found.folders)
        files = group if number == first and role == TEXTS else [*group, *(one for one in shared if one not in group)]
        layers.setdefault(name, []).append(Part(files, wanted))
    return Uploaded("corpus", layers, first_annotator="" if GOLD in roles else "first")


def _forget_peak() -> None:
    """Let the greatest memory of this process be that of now."""
    Path("/proc/self/clear_refs").write_text("5")
