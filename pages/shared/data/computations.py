"""What takes long, computed beside the server: it ends when who asked has left, and within the server's bounds."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from threading import BoundedSemaphore
from typing import Concatenate, ParamSpec, TypeVar

import numpy as np
import streamlit as st

from nereval_core.analysis.comparison.measures import SystemResamples
from nereval_core.corpus import Layer
from nereval_core.scoring import Scores, Settings, score_layers
from pages.shared.data.loading import Loaded
from pages.shared.server.access import only_this_machine
from pages.shared.server.core_process import AT_ONCE, call_apart, server_bounds, waited_for
from pages.shared.streamlit_internals import is_active, session_id
from pages.shared.view import keys

SPANS, DOCUMENTS = 100_000, 5_000
"""Spans of all layers, and documents, from which what looks at a whole corpus takes longer than a process to start."""
SCORED = 2_000_000
"""The same for scoring: spans of both sides."""
COMPARED = 10_000_000
"""The same for what looks at each span once: a million take it a second."""
RESAMPLED = 1 << 33
"""The same for resampling: counts of all units, times resamples. Those of two systems of 100,000 documents take two
seconds, beside which other pages run: numpy leaves the interpreter to them."""
PAIRS = 1 << 14
"""Overlapping pairs up to which tangled layers are scored faster than a process starts."""
TANGLED = 8
"""Overlapping pairs a span from which layers are tangled: spans of ordinary layers overlap one or two others."""
PLACES = BoundedSemaphore(AT_ONCE)
Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


def compute(
    loaded: Loaded,
    title: str,
    call: Callable[Parameters, Result],
    *arguments: Parameters.args,
    **named: Parameters.kwargs,
) -> Result:
    """Return what a function returns about a corpus; for a large corpus it is called in a process of its own.

    `title` says in messages what is computed. The function and its arguments must be such as can be pickled.

    Raises:
        FormatError: as the function, or a bound of the server was reached.
    """
    whole = partial(call, *arguments, **named)
    return _apart(whole, title) if is_large(loaded) else whole()


def score(loaded: Loaded, system: str, settings: Settings) -> Scores:
    """Return the scores of a system; those of many spans, or of tangled ones, from a process of its own.

    Raises:
        FormatError: as `score_layers`, or a bound of the server was reached.
    """
    gold, pred = loaded.corpus.gold, loaded.corpus.system(system)
    whole = partial(score_layers, gold, pred, settings, marks=loaded.marks[system])
    are_many = len(gold) + len(pred) >= SCORED
    return _apart(whole, f"{system}: scoring") if are_many or is_tangled(gold, pred) else whole()


def compare(
    scores: Scores,
    title: str,
    call: Callable[Parameters, Result],
    *arguments: Parameters.args,
    **named: Parameters.kwargs,
) -> Result:
    """Return what a function returns that looks at each span once; of very many spans it is called apart.

    Raises:
        FormatError: as the function, or a bound of the server was reached.
    """
    whole = partial(call, *arguments, **named)
    return _apart(whole, title) if sum(map(len, scores.read)) >= COMPARED else whole()


def resample(
    resampled: SystemResamples,
    title: str,
    call: Callable[Concatenate[SystemResamples, Parameters], Result],
    *arguments: Parameters.args,
    **named: Parameters.kwargs,
) -> Result:
    """Return what a function returns that resamples systems; of very many counts it is called apart.

    Raises:
        FormatError: as the function, or a bound of the server was reached.
    """
    whole = partial(call, resampled, *arguments, **named)
    n_products = resampled.counted.counts.size * resampled.plan.resamples
    return _apart(whole, title) if n_products > RESAMPLED else whole()


def _apart(call: Callable[[], Result], title: str) -> Result:
    bounds = server_bounds(alone=only_this_machine())
    with waited_for(PLACES, check_wanted):
        return call_apart(call, title, check_wanted=check_wanted, bounds=bounds)


def is_large(loaded: Loaded, *, documents: int = DOCUMENTS) -> bool:
    """Return whether computing over the whole corpus takes longer than a process to start.

    `documents` is their number from which it does, however few spans there are.
    """
    gold, systems = loaded.corpus.gold, loaded.corpus.systems
    return (
        len(gold) + sum(map(len, systems)) >= SPANS
        or len(loaded.corpus.documents) >= documents
        or any(is_tangled(gold, system) for system in systems)
    )


def is_tangled(gold: Layer, pred: Layer) -> bool:
    """Return whether spans overlap so many others that scoring them takes longer than a process to start."""
    pairs = overlapping_pairs(gold, pred)
    return pairs >= max(PAIRS, TANGLED * (len(gold) + len(pred)))


def overlapping_pairs(gold: Layer, pred: Layer) -> int:
    """Count the pairs of a gold span and a prediction that share characters, by the outer ends of each."""
    width = np.int64(max(int(layer.end.max(initial=0)) for layer in (gold, pred)) + 1)
    starts, ends = (np.sort(pred.doc * width + side) for side in (pred.start, pred.end))
    begun = np.searchsorted(starts, gold.doc * width + gold.end, "left")
    ended = np.searchsorted(ends, gold.doc * width + gold.start, "right")
    return int((begun - ended).sum())


def check_wanted() -> None:
    """End the run of a page whose visitor has left, stopped it or asked for something else meanwhile."""
    # Streamlit ends a run that is no longer wanted where the run looks at its state.
    st.session_state.get(keys.RUNS)
    session = session_id()
    if session is not None and not is_active(session):
        st.stop()
