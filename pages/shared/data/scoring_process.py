"""Score tangled layers in a process of its own, which is ended once nobody waits for it. No Streamlit in here."""

from __future__ import annotations

import io
import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from threading import Thread
from types import MappingProxyType
from typing import IO, Any

import numpy as np

from nereval_core.corpus import Layer
from nereval_core.problems import FormatError, Problem
from nereval_core.scoring import Scores, Settings, score_layers
from pages.shared.server.bounds import UNBOUNDED, Bounds, Overtime, bounded_process

PAIRS = 1 << 14
"""Overlapping pairs up to which scoring takes less time than a process needs to start."""
TANGLED = 8
"""Overlapping pairs a span from which layers are tangled: spans of ordinary layers overlap one or two others."""
OUT_OF_MEMORY = 3
"""Exit status of a process that needed more memory than it may have."""
EVERY = 0.1
"""Seconds between two questions whether the scores are still wanted."""


def overlapping_pairs(gold: Layer, pred: Layer) -> int:
    """Count the pairs of a gold span and a prediction that share characters, by the outer ends of each."""
    width = np.int64(max(int(layer.end.max(initial=0)) for layer in (gold, pred)) + 1)
    starts, ends = (np.sort(pred.doc * width + side) for side in (pred.start, pred.end))
    begun = np.searchsorted(starts, gold.doc * width + gold.end, "left")
    ended = np.searchsorted(ends, gold.doc * width + gold.start, "right")
    return int((begun - ended).sum())


def score_apart(
    gold: Layer,
    pred: Layer,
    settings: Settings,
    *,
    marks: Sequence[str],
    check_wanted: Callable[[], None],
    bounds: Bounds = UNBOUNDED,
) -> Scores:
    """Return the scores as `score_layers` does; those of tangled layers from another process.

    `check_wanted` is called while the process runs, and ends it by raising.

    Raises:
        FormatError: as `score_layers`, or a bound was reached.
    """
    pairs = overlapping_pairs(gold, pred)
    if pairs < PAIRS or pairs < TANGLED * (len(gold) + len(pred)):
        return score_layers(gold, pred, settings, marks=marks)
    asked = io.BytesIO()
    _Pickler(asked).dump((gold, pred, settings, marks))
    try:
        with bounded_process("pages.shared.data.scoring_process", bounds) as process:
            # `communicate` never sends what it has not sent when its time is over: a pipe holds 64 kB, and a process
            # needs longer to start than we wait for it. So the pipe is written to beside it.
            pipe, process.stdin = process.stdin, None
            sending = Thread(target=_send, args=(asked.getbuffer(), pipe), daemon=True)
            sending.start()
            while True:
                check_wanted()
                try:
                    answer, _ = process.communicate(timeout=EVERY)
                    break
                except subprocess.TimeoutExpired:
                    continue
    except Overtime:
        raise bounds.too_long(f"{pred.name}: scoring") from None
    if process.returncode == OUT_OF_MEMORY:
        raise bounds.too_large(f"{pred.name}: scoring")
    known = {"gold": gold, "pred": pred, "documents": gold.documents}
    if process.returncode:
        raise RuntimeError(f"the process that scores ended with status {process.returncode}")
    found: Scores | tuple[Problem, ...] = _Unpickler(io.BytesIO(answer), **known).load()
    if isinstance(found, tuple):
        raise FormatError(found)
    return found


def _send(content: memoryview, pipe: IO[bytes] | None) -> None:
    """Write to a process until it has all or ends."""
    assert pipe is not None
    with suppress(BrokenPipeError), pipe:
        pipe.write(content)


class _Pickler(pickle.Pickler):
    """Write layers and scores; the latter without the objects that the reader knows by name."""

    def __init__(self, file: Any, **known: object) -> None:
        super().__init__(file, pickle.HIGHEST_PROTOCOL)
        self._known = {id(one): name for name, one in known.items()}

    def persistent_id(self, obj: Any) -> str | None:
        return self._known.get(id(obj))

    def reducer_override(self, obj: Any) -> Any:
        return (_read_only, (dict(obj),)) if isinstance(obj, MappingProxyType) else NotImplemented


def _read_only(mapping: dict[Any, Any]) -> MappingProxyType[Any, Any]:
    # Its type has no name that a pickle could hold.
    return MappingProxyType(mapping)


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: Any, **known: object) -> None:
        super().__init__(file)
        self._known = known

    def persistent_load(self, pid: Any) -> Any:
        return self._known[pid]


def main() -> None:
    """Score the layers on standard input; only the server that started this process writes to it."""
    out, sys.stdout = sys.stdout.buffer, sys.stderr
    gold, pred, settings, marks = pickle.load(sys.stdin.buffer)
    try:
        found: Scores | tuple[Problem, ...] = score_layers(gold, pred, settings, marks=marks)
    except FormatError as error:
        found = error.problems
    except MemoryError:
        os._exit(OUT_OF_MEMORY)
    _Pickler(out, gold=gold, pred=pred, documents=gold.documents).dump(found)


if __name__ == "__main__":
    main()
