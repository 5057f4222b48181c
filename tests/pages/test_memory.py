"""What a server forgets once nobody is there, what it keeps, and what its collections pass over."""

from __future__ import annotations

import gc
import time
import weakref

import pytest
import streamlit as st

from pages.shared.data import caches
from pages.shared.data.memo import MEMO
from pages.shared.server.memory import freeze_objects, give_back
from pages.shared.view import View
from tests.support.browser import serve_app_process
from tests.support.http_requests import MB
from tests.support.pages import DEMO, VIEW, opened
from tests.support.processes import resident_bytes
from tests.support.visitors import Visitor


def test_results_are_forgotten_and_computed_anew() -> None:
    # What test modules computed as they were imported, they hold.
    MEMO.clear()
    opened("Overview", VIEW)
    settings = caches.settings_in(DEMO, View())
    scores = caches.scores(DEMO, "rules", settings)
    assert caches.scores(DEMO, "rules", settings) is scores
    strict, forgotten, kept = scores.counts("strict"), weakref.ref(scores), (caches.jobs(), caches.beside())
    del scores
    MEMO.clear()
    # The thread that ran the page may end a little later, and holds what it drew until then.
    until = time.monotonic() + 10
    while forgotten() is not None and time.monotonic() < until:
        give_back()
        time.sleep(0.05)
    assert forgotten() is None
    assert (caches.jobs(), caches.beside()) == kept
    assert caches.scores(DEMO, "rules", settings).counts("strict") == strict
    opened("Overview", VIEW)


def test_a_visitor_cannot_clear_the_caches_of_all() -> None:
    opened("Overview", VIEW)
    settings = caches.settings_in(DEMO, View())
    scores, shared = caches.scores(DEMO, "rules", settings), (caches.shelf(), caches.jobs(), caches.beside())
    n_results = len(MEMO)
    # A browser's message `clear_cache` does this, whoever sends it.
    st.cache_data.clear()
    st.cache_resource.clear()
    assert caches.scores(DEMO, "rules", settings) is scores
    assert (caches.shelf(), caches.jobs(), caches.beside()) == shared
    assert len(MEMO) == n_results > 0


def test_a_visitor_who_left_takes_no_memory_though_nobody_else_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STREAMLIT_SERVER_DISCONNECTED_SESSION_TTL", "1")
    with serve_app_process() as (address, server):
        with Visitor(address) as visitor:
            visitor.open()
            before = resident_bytes(server)
            visitor.upload("upload_files", {"notes.txt": b"\n" * 60 * MB})
            assert resident_bytes(server) > before + 50 * MB
        until = time.monotonic() + 60
        while resident_bytes(server) > before + 30 * MB and time.monotonic() < until:
            time.sleep(0.2)
        assert resident_bytes(server) < before + 30 * MB


def test_collections_pass_over_what_was_frozen_and_runs_of_pages_make_none() -> None:
    opened("Overview", VIEW)
    freeze_objects()
    assert len(gc.get_objects()) < gc.get_freeze_count()
    assert not st.get_option("runner.postScriptGC")
