"""What a server forgets once nobody is there, and what it keeps."""

from __future__ import annotations

import gc
import weakref

from pages.shared.data import caches
from pages.shared.server.idle import forget_results
from pages.shared.view import View
from tests.support.pages import DEMO, VIEW, opened


def test_results_are_forgotten_and_computed_anew() -> None:
    opened("Overview", VIEW)
    settings = caches.settings_in(DEMO, View())
    scores = caches.scores(DEMO, "rules", settings)
    assert caches.scores(DEMO, "rules", settings) is scores
    strict, forgotten, kept = scores.counts("strict"), weakref.ref(scores), (caches.jobs(), caches.beside())
    del scores
    forget_results()
    gc.collect()
    assert forgotten() is None
    assert (caches.jobs(), caches.beside()) == kept
    assert caches.scores(DEMO, "rules", settings).counts("strict") == strict
    opened("Overview", VIEW)
