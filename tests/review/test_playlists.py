"""Playlists: what is starred stays, in order and with comments, in both databases; who comes second is told."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from dataclasses import replace

import pytest
from msgspec import structs

from nereval_core.ledger import ledger
from nereval_core.problems import FormatError
from nereval_core.review.playlists import (
    ChangedError,
    Item,
    Playlist,
    Shown,
    Starred,
    body_of,
    free_name,
    move_item,
    playlist_records,
    starred_of,
)
from nereval_core.review.playlists.store import PlaylistStore
from nereval_core.review.store import ReviewStore
from nereval_core.review.verdicts import Key, Marked, Seen, text_digest
from nereval_core.review.verdicts_on_records import verdict_subject
from nereval_core.scoring import Settings, score_layers
from nereval_core.scoring.criteria import CRITERIA
from pages.shared.data.loading import load_demo
from tests.review.test_store import TEXT


@pytest.fixture
def store(empty_database: str) -> Iterator[PlaylistStore]:
    found = ReviewStore(empty_database)
    yield PlaylistStore(found)
    found.close()


def again(store: PlaylistStore) -> PlaylistStore:
    """Return another store of the same database, as another server has it."""
    return PlaylistStore(ReviewStore(store.review.database.engine.url.render_as_string(hide_password=False)))


def star(at: int = 9, system: str = "rules", criterion: str = "strict") -> Starred:
    span = Marked(((at, at + 7),), "Drug")
    shown = Shown("ab" * 32, system, criterion, "d1", f"g:{at}-{at + 7}:Drug", "merge=A=B")
    return Starred(Key(text_digest(TEXT), "gold", span), Seen.of("d1", TEXT, span), shown)


def one(store: PlaylistStore) -> Playlist:
    (found,) = store.playlists().standing
    return found


def places(store: PlaylistStore) -> list[int]:
    return [item.starred.key.span.start for item in one(store).items]


def test_what_is_starred_stays_in_order_and_with_comments(store: PlaylistStore) -> None:
    assert store.playlists().standing == ()
    uid = store.make(" Meeting ", "Ann")
    assert store.star(uid, [star(9), star(31), star(0), star(9)], "Ann") == 3
    assert store.star(uid, [star(31), star(31, "other"), star(31, criterion="type")], "Bob") == 2
    assert places(store) == [9, 31, 0, 31, 31]
    store.order(uid, move_item(one(store), 2, 0), "Bob")
    store.comment(uid, one(store).items[0], "<b>why</b>\nnot?", "Bob")
    assert places(store) == [0, 9, 31, 31, 31]
    other = again(store)
    assert one(other) == one(store) and one(other).items[0].comment == "<b>why</b>\nnot?"
    assert (one(other).name, one(other).items[0].who, one(other).items[4].who) == ("Meeting", "Bob", "Bob")
    # What nobody has changed since is not put together anew.
    assert other.playlists() is other.playlists()
    assert other.playlists().find(uid[:12]) == one(store) and one(store).find(star(31).uid[:12]) == 2
    other.review.close()


def test_what_was_taken_out_comes_back_where_it_was(store: PlaylistStore) -> None:
    uid = store.make("Meeting", "")
    store.star(uid, [star(9), star(31)], "")
    store.comment(uid, one(store).items[0], "see 2.1", "")
    store.unstar(uid, one(store).items[0], "")
    assert places(store) == [31] and store.star(uid, [star(9)], "Bob") == 1
    assert places(store) == [9, 31] and one(store).items[0].comment == "see 2.1"


def test_who_comes_second_is_told(store: PlaylistStore) -> None:
    uid = store.make("Meeting", "Ann")
    store.star(uid, [star(9), star(31)], "Ann")
    seen = one(store)
    store.comment(uid, seen.items[0], "first", "Ann")
    with pytest.raises(ChangedError, match=r"Ann on .* wrote 'first': 'aspirin'"):
        store.comment(uid, seen.items[0], "second", "Bob")
    with pytest.raises(ChangedError, match="Ann on"):
        store.order(uid, move_item(seen, 1, 0), "Bob")
    store.unstar(uid, one(store).items[1], "Ann")
    with pytest.raises(ChangedError, match=r"Ann on .* took it out"):
        store.unstar(uid, seen.items[1], "Bob")
    with pytest.raises(ChangedError, match="no such record on the playlist"):
        store.comment(uid, Item(star(50), 1, "", "Bob", "2026-01-01T00:00:00", 1), "never starred", "Bob")
    store.rename(seen, "Monday", "Ann")
    with pytest.raises(ChangedError, match=r"Ann on .* called it 'Monday'"):
        store.remove(seen, "Bob")
    store.remove(one(store), "Ann")
    with pytest.raises(ChangedError, match=r"Ann on .* removed it"):
        store.star(uid, [star(0)], "Bob")
    assert store.playlists().standing == () and store.playlists().find(uid) is None


def test_those_who_star_at_once_lose_nothing(store: PlaylistStore) -> None:
    uid = store.make("Meeting", "Ann")

    def run(system: str) -> None:
        mine = again(store)
        for at in range(10):
            mine.star(uid, [star(at, system)], system)
        mine.review.close()

    threads = [threading.Thread(target=run, args=(name,)) for name in ("one", "two", "three")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    items = one(store).items
    assert len(items) == 30 and len({item.place for item in items}) == 30


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("  ", "playlist's name: nothing; type something"),
        ("a\nb", "line breaks or control characters"),
        ("a\0b", r"'\\x00', which is not a character of a text"),
        ("x" * 101, "101 characters; shorten it to 100"),
        ("MEETING", "there is a playlist 'MEETING'; choose another name"),
    ],
)
def test_names_that_cannot_be_taken_are_refused(store: PlaylistStore, name: str, said: str) -> None:
    store.make("Meeting", "Ann")
    with pytest.raises(FormatError, match=said):
        store.make(name, "Ann")
    assert free_name(store.playlists().standing, "meeting") == "meeting 2"


def test_comments_and_numbers_have_bounds(store: PlaylistStore) -> None:
    uid = store.make("Meeting", "Ann")
    store.star(uid, [star(9)], "Ann")
    for comment in ("x" * 2_001, "\ud800", "\0"):
        with pytest.raises(FormatError, match="comment: "):
            store.comment(uid, one(store).items[0], comment, "Ann")
    with pytest.raises(FormatError, match="1,001 records; put at most 1,000 on one"):
        store.star(uid, [star(9, str(number)) for number in range(1_000)], "Ann")
    assert len(one(store).items) == 1


def test_what_is_starred_is_written_and_read_back() -> None:
    span = Marked(((0, 3), (9, 16)), "<b>\u202e")
    odd = Starred(Key("0" * 64, "pred", span), Seen("é", "Ann"), Shown("", "a b", "c", "d", "e"))
    assert starred_of(json.loads(body_of(odd))) == odd and body_of(odd).isascii()


def test_the_records_of_a_playlist_are_found_in_its_order() -> None:
    corpus = load_demo("pharmacology").corpus
    sides = (corpus.gold, corpus.system("rules"))
    about = ledger(score_layers(*sides), "strict", sides).about
    other = ledger(score_layers(*sides), "type", sides).about
    wanted = [40, 3, 17]
    items = []
    for place, record in enumerate(wanted):
        key, _, seen = verdict_subject(about, record)
        shown = Shown("", "rules" if record != 3 else "another", "strict", seen.document, "")
        items.append(Item(Starred(key, seen, shown), place, f"no {record}", "", "", 1))
    gone = replace(items[0].starred, key=structs.replace(items[0].starred.key, text="0" * 64))
    items.append(replace(items[0], starred=gone))
    playlist = Playlist("", "", "", "", 1, tuple(items))
    found = playlist_records(playlist, about, "rules")
    assert [(record, item.comment) for record, item in found] == [(40, "no 40"), (17, "no 17")]
    # Under another criterion its record is another one, of the same span.
    again = [verdict_subject(other, record)[0] for record, _ in playlist_records(playlist, other, "rules")]
    assert again == [items[0].starred.key, items[2].starred.key]
    fragment = Settings(criteria=(CRITERIA["fragment"],))
    assert playlist_records(playlist, ledger(score_layers(*sides, fragment), "fragment", sides).about, "rules") == []
