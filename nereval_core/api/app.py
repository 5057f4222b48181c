"""The verb `app` of the library: the pages on scores, served in the background of a notebook."""

from __future__ import annotations

import atexit
import os
import socket
import subprocess
import time
import urllib.request
import webbrowser
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Self
from urllib.error import URLError
from urllib.parse import urlencode

from markupsafe import Markup

from nereval_core import writers
from nereval_core.api.serving import EXTRA, serving_command, why_no_pages
from nereval_core.options import PORT
from nereval_core.problems import FormatError, one_line
from nereval_core.readers.input.temporaries import TemporaryFolder
from nereval_core.report.link_names import merges_parameter, names_parameter
from nereval_core.report.notebook import in_notebook, note
from nereval_core.scoring import Scores
from nereval_core.scoring.criteria import CRITERIA, same_rule

LOOPBACK = "127.0.0.1"
STARTING_SECONDS = 60.0
ENDING_SECONDS = 10.0


class RunningPages:
    """The pages in the background: `address` opens them, `stop` ends them, as the end of this process does.

    As a context manager they end with the block. `notes` say what the pages show otherwise than the scores.
    """

    def __init__(
        self, address: str, process: subprocess.Popen[bytes], folder: TemporaryFolder, notes: tuple[str, ...]
    ) -> None:
        self.address, self.notes = address, notes
        self._process, self._folder = process, folder
        atexit.register(self.stop)

    @property
    def is_running(self) -> bool:
        return self._process.poll() is None

    def stop(self) -> None:
        """End the server and remove its files; nothing happens where it has ended."""
        _end(self._process)
        self._folder.cleanup()
        atexit.unregister(self.stop)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()

    def _lines(self) -> tuple[str, ...]:
        state = "stop() ends them" if self.is_running else "they have ended"
        return (f"The pages are for this machine alone, with all its accounts; {state}.", *self.notes)

    def __repr__(self) -> str:
        return "\n".join((self.address, *self._lines()))

    def _repr_html_(self) -> str:
        """Return the link to the pages, as notebooks show it."""
        link = Markup('<a href="{0}" target="_blank" rel="noopener">Open the pages</a> <code>{0}</code>')
        return in_notebook(link.format(self.address), *map(note, self._lines()))


def app(scores: Scores | Mapping[str, Scores], *, port: int | None = None, browser: bool = False) -> RunningPages:
    """Open the pages on scores, or on those of several systems by name over one gold, and return their address.

    A server starts in the background, which answers this machine alone, on `port` or a free one. The pages read the
    layers as they were before scoring, and open under the first criterion with the merged and left out types of the
    scores. With `browser` the address is opened, too. Verdicts that are given there are stored as those of `nereval
    app`.

    Raises:
        FormatError: Streamlit or the pages are not installed; no scores, no texts, or scores of different gold; the
            server does not start.
    """
    if (reason := why_no_pages()) is not None:
        raise FormatError.single("app", None, reason, EXTRA)
    systems = _named(scores if isinstance(scores, Mapping) else {scores.read[1].name: scores})
    number = _port(port)
    folder = TemporaryFolder()
    try:
        files = _write_layers(Path(folder.name), systems)
        pages = _serve(number, files, Path(folder.name) / "server.log", folder, systems)
    except BaseException:
        folder.cleanup()
        raise
    if browser:
        webbrowser.open(pages.address)
    return pages


def _named(systems: Mapping[str, Scores]) -> dict[str, Scores]:
    """Return the scores by names that an argument can have, if all are of one gold with texts.

    Raises:
        FormatError: they are not, or there are none.
    """
    if not systems:
        raise FormatError.single("app", None, "no scores", "give the scores of a system")
    first = next(iter(systems.values()))
    if first.gold.documents.sizes is not None:
        raise FormatError.single("app", None, "no texts", "give them: score(…, texts=…)")
    for name, scores in systems.items():
        if scores.read_gold != first.read_gold:
            raise FormatError.single("app", None, f"{one_line(name)} was scored against another gold", "show it alone")
    # The first equals sign of an argument ends the name.
    names = (one_line(name).replace("=", "_").strip() or "system" for name in systems)
    return dict(zip(names, systems.values(), strict=True))


def _port(number: int | None) -> int:
    """Return the port if it is free, by default one that is.

    Raises:
        FormatError: another program listens there, or there is no such port.
    """
    requested = 0 if number is None else int(PORT.parse(str(number)))
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((LOOPBACK, requested))
        except OSError as error:
            raise FormatError.single(
                "port", None, f"{requested} is not free ({error.strerror})", "name another"
            ) from error
        free_port: int = listener.getsockname()[1]
        return free_port


def _write_layers(folder: Path, systems: Mapping[str, Scores]) -> list[str]:
    """Write the layers as they were read; return the arguments that name them."""
    first = next(iter(systems.values()))
    gold = folder / "gold.jsonl"
    writers.write(first.read[0], gold, format="jsonl")
    arguments = [str(gold)]
    for at, (name, scores) in enumerate(systems.items(), start=1):
        place = folder / f"system-{at}.jsonl"
        writers.write(scores.read[1], place, format="jsonl")
        arguments.append(f"{name}={place}")
    return arguments


def _serve(
    number: int, files: list[str], log: Path, folder: TemporaryFolder, systems: Mapping[str, Scores]
) -> RunningPages:
    server = ["--server.port", str(number), "--server.address", LOOPBACK, "--server.headless", "true"]
    with log.open("wb") as output:
        process = subprocess.Popen(
            serving_command(server, ["--files", *files], background=True),
            # It ends when this pipe does: with this process, however that ends.
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=subprocess.STDOUT,
            # Interrupting a cell signals the group of the notebook's kernel.
            start_new_session=os.name == "posix",
        )
    try:
        _wait(process, number, log)
    except BaseException:
        _end(process)
        raise
    parameters, notes = _view(*next(iter(systems.items())))
    return RunningPages(f"http://localhost:{number}/Overview?{urlencode(parameters)}", process, folder, notes)


def _wait(process: subprocess.Popen[bytes], number: int, log: Path) -> None:
    """Return once the server answers.

    Raises:
        FormatError: it ended, or took too long.
    """
    # A proxy of the environment is not asked for this machine.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    end = time.monotonic() + STARTING_SECONDS
    while process.poll() is None and time.monotonic() < end:
        with suppress(URLError, OSError), opener.open(f"http://{LOOPBACK}:{number}/_stcore/health", timeout=1):
            return
        time.sleep(0.1)
    lines = log.read_text(encoding="utf-8", errors="replace").split("\n")
    last = next((line for line in reversed(lines) if line.strip()), "it printed nothing")
    finding = "does not answer" if process.poll() is None else "ended at its start"
    raise FormatError.single("app", None, f"the server {finding}: {one_line(last)}", "try `nereval app`")


def _view(system: str, scores: Scores) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return the parameters of the address that carry the settings of scores, and notes on those that it cannot."""
    settings, criterion = scores.settings, scores.criteria[0]
    parameters, notes = {"system": system}, []
    if criterion.name in CRITERIA and same_rule(criterion, CRITERIA[criterion.name]):
        parameters["criterion"] = criterion.name
    else:
        notes.append(f"The pages do not know the criterion {criterion.name}: load its file there.")
    if settings.merge:
        parameters["merge"] = merges_parameter(settings.merge)
    if settings.leave_out:
        parameters["leaveout"] = names_parameter(settings.leave_out)
    if settings.counting != "one-to-one":
        notes.append("The pages align gold spans and predictions one to one.")
    return parameters, tuple(notes)


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.stdin is not None:
        process.stdin.close()
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(ENDING_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
