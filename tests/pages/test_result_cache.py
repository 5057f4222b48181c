"""How many results about corpora are kept: the last of large ones, many more of small ones."""

from __future__ import annotations

from dataclasses import replace

import pytest

from nereval_core.corpus import Corpus
from pages.shared.data.caches import Shelf
from pages.shared.data.kept_corpora import Keeper
from pages.shared.data.loading import Loaded, load_demo, renumbered
from pages.shared.data.result_cache import SMALL_DOCUMENTS, SMALL_FACTOR, keep_results
from tests.support.spans import documents, make

SMALL = load_demo("pharmacology")


def _large() -> Loaded:
    over = documents(SMALL_DOCUMENTS + 1, 1)
    return replace(SMALL, corpus=Corpus("large", over, make("gold", over, []), (make("rules", over, []),)))


@pytest.mark.parametrize(("loaded", "kept"), [(SMALL, 2 * SMALL_FACTOR), (_large(), 2)])
def test_the_last_results_are_kept_in_the_order_of_their_use(loaded: Loaded, kept: int) -> None:
    made: list[int] = []

    @keep_results(2)
    def numbered(about: Loaded) -> int:
        made.append(about.number)
        return about.number

    # The function of the last case is called alike.
    for one in numbered.result_caches:  # type: ignore[attr-defined]
        one.clear()
    several = [replace(loaded, number=renumbered()) for _ in range(kept + 1)]
    for one in several:
        assert numbered(one) == one.number
    for one in several[1:]:
        numbered(one)
    assert made == [one.number for one in several]
    numbered(several[0])
    assert made[-1] == several[0].number and len(made) == kept + 2


def test_small_corpora_take_less_room_in_memory_than_large_ones() -> None:
    shelf = Shelf(Keeper(None))
    over = [documents(number, 1) for number in range(1, 40)]
    small = [replace(SMALL, corpus=Corpus("small", one, make("gold", one, []), ())) for one in over]
    for one in (*small, _large()):
        shelf.put(one)
    assert all(shelf.find(one.digest) is one for one in small)
