"""Forged values for every component of every page: none makes a page run for ever, or the server fall.

What a browser sends is a visitor's own affair, so that a page may refuse it with a fault; the next one must be drawn.
"""

from __future__ import annotations

import random
from collections import Counter
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from typing import Any

from pages.shared.components.navigation import pages
from tests.endurance import Wanted
from tests.support.browser import serve_app
from tests.support.visitors import Visitor

NUMBERS = (-1, 5, 10**30, 0.5, float("nan"))
VALUES: tuple[Any, ...] = (None, True, *NUMBERS, "", "\ud800", "x" * 300_000, [], [[]], {}, {"a": {}})
KEYS = ("mount", "number", "seq", "events", "act", "at", "record", "key", "value", "doc", "row", "column")
FIELDS = ("out", "select", "choose", "selected", "value")
"""Names of states of the app's components, and of things in them."""
MOST_RUNS = 10
"""Runs of a page after one message, beyond which it runs for ever."""
QUIET_SECONDS = 0.5


def run(folder: Path, wanted: Wanted) -> Counter[str]:
    """Send values as long as is wanted, page after page; count them, refusals, and what must not happen: `endless`."""
    counts: Counter[str] = Counter()
    drawn = random.Random(0)
    with ExitStack() as stack:
        address = stack.enter_context(serve_app())
        for number in count():
            page = sorted(pages())[number % len(pages())]
            if not wanted(counts["sent"]):
                return counts
            with Visitor(address) as visitor:
                visitor.open(page)
                names = [widget.id for widget in visitor.shown.widgets() if widget.DESCRIPTOR.name == "BidiComponent"]
                for name in names:
                    try:
                        visitor.send(name, **{field: forged(drawn) for field in FIELDS})
                        counts["taken"] += 1
                    except AssertionError:
                        counts["refused"] += 1
                    counts["sent"] += 1
                    counts["endless"] += runs_until_quiet(visitor) >= MOST_RUNS
    raise AssertionError


def runs_until_quiet(visitor: Visitor) -> int:
    """Return how often the page begins to run again by itself, until it is quiet or has done so often enough."""
    runs = 0
    while runs < MOST_RUNS:
        try:
            message = visitor.receive(QUIET_SECONDS)
        except TimeoutError:
            break
        runs += message.WhichOneof("type") == "new_session"
    return runs


def forged(drawn: random.Random) -> Any:
    """Return a value of any kind, or an event with some of the keys that events have."""
    if drawn.random() < 0.3:
        return drawn.choice(VALUES)
    return {
        key: [forged(drawn)] if key == "events" and drawn.random() < 0.8 else drawn.choice(VALUES)
        for key in KEYS
        if drawn.random() < 0.7
    }
