"""The memo: results are computed once, told apart by their arguments, bounded in bytes, and refusals are kept too."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import replace
from functools import partial
from threading import Thread

import numpy as np
import pandas as pd
import pytest

from nereval_core.corpus import Corpus, Documents
from nereval_core.problems import FormatError
from nereval_core.scoring import Settings
from nereval_core.scoring.criteria import CRITERIA
from pages.shared.data import caches
from pages.shared.data import memo as memo_module
from pages.shared.data.caches import SMALL_DOCUMENTS, Shelf
from pages.shared.data.kept_corpora import Keeper
from pages.shared.data.loading import load_demo
from pages.shared.data.masks import mask_corpus
from pages.shared.data.memo import Memo, bytes_of, key_of, memoized
from pages.shared.data.page_context import PageContext
from pages.shared.data.reference_layer import swap_gold
from pages.shared.view import View
from tests.support.spans import documents, make

DEMO = load_demo("pharmacology")
MB = 1 << 20


def test_the_results_unused_longest_go_when_all_exceed_the_bound() -> None:
    memo, computed = Memo(10 * MB), []

    def result(number: int) -> object:
        def compute() -> object:
            computed.append(number)
            return np.zeros(4 * MB, np.uint8)

        return memo.get(number, compute)

    for number in (1, 2, 1, 3, 1):
        result(number)
    assert computed == [1, 2, 3] and len(memo) == 2
    result(2)
    assert computed == [1, 2, 3, 2]


def test_the_newest_result_is_kept_however_large_it_is() -> None:
    memo = Memo(MB)
    value = memo.get("large", lambda: np.zeros(2 * MB, np.uint8))
    assert memo.get("large", lambda: None) is value
    memo.get("small", lambda: 1)
    assert memo.get("large", lambda: None) is None


def test_a_result_that_grows_is_measured_again() -> None:
    memo = Memo(4 * MB)
    grows: list[object] = []
    memo.get("grows", lambda: grows)
    memo.get("other", lambda: 1)
    grows.append(np.zeros(5 * MB, np.uint8))
    memo.get("grows", lambda: None)
    memo.measure()
    assert len(memo) == 2
    memo.measure(again=True)
    assert len(memo) == 1


def test_the_corpora_that_results_hold_count_once_each() -> None:
    texts = [Documents((f"d{number}",), ("x" * (2 * MB),)) for number in range(3)]
    corpora = [replace(DEMO, corpus=Corpus("own", over, make("gold", over, []), ())) for over in texts]
    memo = Memo(5 * MB)
    for loaded in corpora:
        for number in range(3):
            memo.get((loaded.id, number), object, loaded)
    assert len(memo) == 6, "there is room for the results about two corpora of two megabytes"


def test_a_new_result_does_not_have_the_corpora_of_all_others_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    memo, measured = Memo(), list[str]()
    corpora = [replace(DEMO, reading=f"reading {number}") for number in range(40)]
    for loaded in corpora:
        memo.get(loaded.id, object, loaded)
    of_corpus = memo_module.objects_of
    monkeypatch.setattr(memo_module, "objects_of", lambda loaded: measured.append(loaded.id) or of_corpus(loaded))
    memo.get("another", object, corpora[-1])
    assert set(measured) == {corpora[-1].id}


def test_results_that_go_take_their_bytes_and_corpora_out_of_the_sums() -> None:
    memo = Memo(20 * MB)
    corpora = [replace(DEMO, key=f"read {number % 3}", reading=f"reading {number}") for number in range(6)]
    for number in range(60):
        loaded = corpora[number % 6]
        memo.get((number, loaded.id), partial(np.zeros, MB if number % 4 else 0, np.uint8), loaded)
        if number % 20 == 19:
            memo.forget("read 1")
            memo.measure(again=True)
    entries = memo._entries.values()
    assert 0 < len(memo) < 20
    assert memo._n_bytes == sum(entry.size for entry in entries) <= 20 * MB
    assert memo._corpora == Counter(entry.corpus for entry in entries)
    assert memo._values == Counter(id(entry.value) for entry in entries)
    memo.clear()
    assert (memo._n_bytes, *memo._corpora, *memo._values) == (0,)


def test_results_go_with_what_was_read() -> None:
    memo = Memo()
    for key in ("one", "other"):
        memo.get(key, object, replace(DEMO, key=key))
    memo.forget("one")
    assert len(memo) == 1


def test_a_refusal_is_kept_like_a_result() -> None:
    memo, computed = Memo(), []

    def refuse() -> object:
        computed.append(1)
        raise FormatError.single("gold", 1, "no spans", "give some")

    for _ in range(2):
        with pytest.raises(FormatError, match="no spans"):
            memo.get("refused", refuse)
    assert computed == [1]


def test_a_fault_is_not_kept() -> None:
    memo = Memo()
    with pytest.raises(ZeroDivisionError):
        memo.get("key", lambda: 1 / 0)
    assert memo.get("key", lambda: 2) == 2


def test_one_of_several_threads_computes_and_the_others_wait() -> None:
    memo, computed, results = Memo(), [], []

    def compute() -> object:
        computed.append(1)
        time.sleep(0.1)
        return object()

    threads = [Thread(target=lambda: results.append(memo.get("key", compute))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert computed == [1] and len(set(map(id, results))) == 1


def test_parameters_with_an_underscore_do_not_tell_results_apart() -> None:
    @memoized()
    def numbers(first: int, _data: object, *, last: int = 0) -> tuple[int, object, int]:
        return first, _data, last

    assert numbers(1, "a") == (1, "a", 0) == numbers(1, "b")
    assert numbers(1, "b", last=2) == (1, "b", 2)
    assert numbers(2, "b") == (2, "b", 0)


def context(**changes: object) -> PageContext:
    view = replace(View(corpus=DEMO.corpus.digest, system="rules"), **changes)  # type: ignore[arg-type]
    return PageContext(DEMO, view, caches.settings_of(DEMO.corpus.gold, view))


def test_what_changes_results_changes_the_key() -> None:
    other = next(name for name in context().systems if name != "rules")
    looser = replace(CRITERIA["strict"], boundaries="overlap")
    arguments = [
        DEMO,
        load_demo("pharmacology"),
        replace(DEMO, corpus=replace(DEMO.corpus, systems=DEMO.corpus.systems[:1])),
        swap_gold(DEMO, "rules"),
        mask_corpus(DEMO),
        Settings((CRITERIA["strict"],)),
        Settings((looser,)),
        context(),
        context(system=other),
        context(criterion="type"),
        context(merge=(("Drug", "x"),)),
        context(resample="author"),
        {"a": 1},
        {"a": 2},
    ]
    assert len({key_of(argument) for argument in arguments}) == len(arguments)
    assert key_of(context(q="x", doc="y", overview_tab="averages")) == key_of(context())


def test_what_is_made_of_a_corpus_has_the_same_key_when_it_is_made_again() -> None:
    ids = [swap_gold.__wrapped__(DEMO, "rules").id for _ in range(2)]  # type: ignore[attr-defined]
    assert ids[0] == ids[1]


def test_a_result_takes_its_own_bytes_and_not_those_of_its_corpus() -> None:
    frame = pd.DataFrame({"a": np.zeros(MB // 8)})
    for value in (np.zeros(MB, np.uint8), [np.zeros(MB, np.uint8)[:10]], {"a": frame}, frame, b"0" * MB):
        assert MB <= bytes_of(value, None, ()) < 1.1 * MB
    assert (
        MB <= bytes_of([bytes(1024) + bytes([place % 256, place // 256]) for place in range(1024)], None, ()) < 1.5 * MB
    )
    scores = caches.scores(DEMO, "rules", caches.settings_of(DEMO.corpus.gold, View()))
    assert 0 < bytes_of(scores, DEMO, ()) < bytes_of(scores, None, ())
    assert bytes_of([scores], DEMO, {id(scores)}) < 200


def test_small_corpora_take_less_room_in_memory_than_large_ones() -> None:
    shelf = Shelf(Keeper(None))
    over = [documents(number, 1) for number in range(1, 40)]
    small = [replace(DEMO, corpus=Corpus("small", one, make("gold", one, []), ())) for one in over]
    many = documents(SMALL_DOCUMENTS + 1, 1)
    large = replace(DEMO, corpus=Corpus("large", many, make("gold", many, []), (make("rules", many, []),)))
    for loaded in (*small, large):
        shelf.put(loaded)
    assert all(shelf.find(loaded.digest) is loaded for loaded in small)
