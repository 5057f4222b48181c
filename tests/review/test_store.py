"""The store of verdicts: every one is kept, who comes second is told, and what is taken back stands no more."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs
from sqlalchemy import inspect, select

from nereval_core.api.verb_options import VerdictOptions
from nereval_core.problems import FormatError
from nereval_core.review.playlists.store import PlaylistStore
from nereval_core.review.store import ReviewStore, databases
from nereval_core.review.store.schema import EVENTS, REVISION
from nereval_core.review.verdicts import ConflictError, Draft, Key, Kind, Marked, Seen, Verdict, text_digest

TEXT = "Ann took aspirin and then more aspirin."


@pytest.fixture
def store(empty_database: str) -> Iterator[ReviewStore]:
    found = ReviewStore(empty_database)
    yield found
    found.close()


def draft(at: int = 9, kind: Kind = "gold", *, seen: int = 0, note: str = "") -> Draft:
    span = Marked(((at, at + 7),), "Drug")
    return Draft(Verdict(Key(text_digest(TEXT), "gold", span), kind, Seen.of("d1", TEXT, span), note=note), seen)


def standing(store: ReviewStore) -> list[tuple[str, str]]:
    return [(one.who, one.verdict.kind) for one in store.reviewed().standing]


def test_what_is_given_stands_and_is_kept(store: ReviewStore) -> None:
    assert standing(store) == [] and store.reviewed().number == 0
    (given,) = store.give([draft(note="see 2.1\n\"'; --")], "Ann")
    assert (given.who, given.version, given.verdict) == ("Ann", 1, draft(note="see 2.1\n\"'; --").verdict)
    again = ReviewStore(store.database.engine.url.render_as_string(hide_password=False))
    assert again.reviewed().of(given.verdict.key) == given and again.history(given.verdict.key) == (given,)
    again.close()


def test_who_comes_second_is_told_and_nothing_of_theirs_is_kept(store: ReviewStore) -> None:
    store.give([draft()], "Ann")
    with pytest.raises(ConflictError, match=r"Ann on .*'aspirin' gold is right") as told:
        store.give([draft(31), draft(9, "pred")], "Bob")
    assert [one.who for one in told.value.theirs] == ["Ann"] and standing(store) == [("Ann", "gold")]
    store.give([draft(31), draft(9, "pred", seen=1)], "Bob")
    assert standing(store) == [("Bob", "gold"), ("Bob", "pred")]
    assert [one.verdict.kind for one in store.history(draft().verdict.key)] == ["gold", "pred"]


def test_what_is_taken_back_stands_no_more(store: ReviewStore) -> None:
    store.give([draft()], "Ann")
    store.give([draft(31), draft(9, "both", seen=1)], "Bob")
    with pytest.raises(ConflictError, match="Bob on"):
        store.undo("Ann")
    assert len(store.undo("Bob")) == 2 and [kind for _, kind in standing(store)] == ["gold"]
    assert store.undo("Bob") == () and store.undo("Eve") == ()
    assert len(store.every()) == 5


def test_taking_back_twice_goes_back_two_steps_and_credits_who_stands_again(store: ReviewStore) -> None:
    key = draft().verdict.key
    (first,) = store.give([draft()], "Ann")
    store.give([draft(kind="pred", seen=1)], "Bob")
    store.give([draft(kind="both", seen=2, note="so")], "Bob")
    assert [one.verdict.kind for one in store.undo("Bob")] == ["pred"]
    assert standing(store) == [("Bob", "pred")]
    store.undo("Bob")
    # As Ann gave it, though Bob was the last to change anything.
    assert store.reviewed().of(key) == first and store.reviewed().version(key) == 5
    assert store.undo("Bob") == ()
    # What was taken back is given anew, on what stands, and taken back again.
    store.give([draft(kind="both", seen=5)], "Bob")
    store.undo("Bob")
    assert store.reviewed().standing == (first,)
    store.undo("Ann")
    assert standing(store) == [] and store.reviewed().version(key) == 8
    assert [one.version for one in store.history(key)] == list(range(1, 9))


def test_verdicts_on_some_records_alone_are_taken_back(store: ReviewStore) -> None:
    key = draft().verdict.key
    other = Draft(structs.replace(draft(31).verdict, key=structs.replace(key, text=text_digest("another"))))
    store.give([draft(31), draft()], "Ann")
    store.give([draft(kind="pred", seen=1), other], "Ann")
    records = {key.record, draft(31).verdict.key.record}
    assert [one.verdict.kind for one in store.undo("Ann", records)] == ["gold"]
    assert len(store.undo("Ann", records)) == 2 and store.undo("Ann", records) == ()
    assert [one.verdict for one in store.reviewed().standing] == [other.verdict]
    assert len(store.undo("Ann")) == 1 and standing(store) == []


def test_the_last_verdict_of_a_reviewer_counts_whoever_decided_since(store: ReviewStore) -> None:
    store.give([draft(), draft(31)], "Ann")
    store.give([draft(kind="pred", seen=1)], "Bob")
    store.give([draft(kind="both", seen=2)], "Ann")
    store.undo("Ann")
    store.give([draft(kind="unclear", seen=4)], "Eve")
    store.give([draft(12)], "Eve")
    store.give([draft(12, "pred", seen=1)], "Bob")
    store.undo("Bob")
    accepted = {
        who: sorted(one.verdict.kind for one in VerdictOptions(reviewers=who).accepted(store.reviewed()).standing)
        for who in (("Ann",), ("Bob",), ("Eve",), ("Ann", "Bob"))
    }
    assert accepted == {
        ("Ann",): ["gold", "gold"],
        ("Bob",): ["pred"],
        ("Eve",): ["gold", "unclear"],
        ("Ann", "Bob"): ["gold", "pred"],
    }
    with pytest.raises(FormatError, match="no current verdict of 'Max'"):
        VerdictOptions(reviewers=("Max",)).accepted(store.reviewed())


def test_a_withdrawn_verdict_can_be_brought_back(store: ReviewStore) -> None:
    store.give([draft()], "Ann")
    store.give([draft(kind="withdrawn", seen=1)], "Bob")
    assert standing(store) == []
    store.undo("Bob")
    assert standing(store) == [("Ann", "gold")]


def test_a_batch_that_somebody_has_changed_in_part_is_not_taken_back(store: ReviewStore) -> None:
    store.give([draft(), draft(31)], "Ann")
    store.give([draft(31, "both", seen=1)], "Bob")
    with pytest.raises(ConflictError, match=r"Bob on .* both are right") as told:
        store.undo("Ann")
    assert len(told.value.theirs) == 1 and len(store.every()) == 3
    # Once Bob has taken his back, Ann's batch stands as she gave it.
    store.undo("Bob")
    assert len(store.undo("Ann")) == 2 and standing(store) == []


def test_documents_of_one_text_share_a_verdict(store: ReviewStore) -> None:
    assert len(store.give([draft(), draft(31), draft()], "Ann")) == 2
    with pytest.raises(FormatError, match="two verdicts on one span"):
        store.give([draft(seen=1), draft(kind="both", seen=1)], "Ann")


def test_a_copy_from_another_day_is_read_anew(store: ReviewStore) -> None:
    store.give([draft(), draft(31)], "Ann")
    assert len(store.reviewed()) == 2
    with store.database.writing() as connection:
        connection.execute(EVENTS.delete())
    # A file that was never longer says so.
    store.accept_losses()
    assert len(store.reviewed()) == 0
    other = ReviewStore(store.database.engine.url.render_as_string(hide_password=False))
    other.give([draft(31), draft()], "Bob")
    other.close()
    assert store.reviewed().reviewers == ("Bob",)


def test_more_threads_than_connections_lose_nothing(store: ReviewStore) -> None:
    def give(number: int) -> int:
        return len(store.give([draft(number)], f"reviewer {number}"))

    with ThreadPoolExecutor(24) as threads:
        assert sum(threads.map(give, range(24))) == 24
    assert len(store.reviewed()) == 24


def test_who_stands_in_line_too_long_is_told(store: ReviewStore, monkeypatch: pytest.MonkeyPatch) -> None:
    store.give([draft()], "Ann")
    monkeypatch.setattr(databases, "WRITER_WAIT_SECONDS", 0.1)
    other = ReviewStore(store.database.engine.url.render_as_string(hide_password=False))
    with store.database.writing():
        with pytest.raises(FormatError, match="another transaction locks it, and nothing was kept; try again"):
            other.give([draft(31)], "Bob")
        # Readers do not wait.
        assert len(other.reviewed()) == 1
    other.give([draft(31)], "Bob")
    assert len(store.reviewed()) == 2
    other.close()


def test_no_transaction_outlives_its_call(store: ReviewStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(databases, "WRITER_WAIT_SECONDS", 0.1)
    store = ReviewStore(store.database.engine.url.render_as_string(hide_password=False))
    for at in range(9, 13):
        store.give([draft(at)], "Ann")
    # From now on there are several connections, and the next one is another.
    with store.database.reading(), store.database.reading(), store.database.reading():
        pass
    records = {draft(at).verdict.key.record for at in range(9, 13)}
    assert [store.undo("Ann", records)[0].version for _ in range(4)] == [2] * 4
    unread = []
    for transaction in (store.database.reading, store.database.writing):
        with suppress(KeyboardInterrupt), transaction() as connection:
            assert connection is not None
            unread.append(connection.execute(select(EVENTS)))
            unread[-1].fetchone()
            raise KeyboardInterrupt
        with transaction() as connection:
            assert connection is not None
            unread.append(connection.execute(select(EVENTS)))
            unread[-1].fetchone()
        store.give([draft(15 + len(unread))], "Bob")
    store.close()


def test_what_was_seen_and_is_gone_is_no_conflict(store: ReviewStore) -> None:
    with pytest.raises(FormatError, match="verdicts that you had seen are there no more; look at what stands"):
        store.give([draft(seen=3)], "Ann")
    assert store.every() == ()


HOSTILE = (
    "<script>alert(1)</script><img src=x onerror=alert(1)>",
    "javascript:alert(1)",
    "'; DROP TABLE verdict_event; --",
    "%s {0} $1 :who \\ \x1b[2J \u202e \u2028 \ufeff \uffff \U0001f600",
    "=cmd|' /C calc'!A0",
)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_kept_as_it_is(store: ReviewStore, text: str) -> None:
    span = Marked(((0, 3),), text)
    # A text may hold a NUL, and so what is quoted of it.
    seen = Seen(f"{text}\0", f"{text}\0", text[:40], text[:40])
    verdict = Verdict(Key(text_digest(text), "pred", span), "neither", seen, span, (span, span), text)
    who = "".join(filter(str.isprintable, text))
    store.give([Draft(verdict)], who)
    (found,) = store.every()
    assert (found.verdict, found.who) == (verdict, who)
    assert len(store.undo(who)) == 1 and len(store.every()) == 2


def odd(**changed: object) -> Draft:
    plain = draft().verdict
    span = changed.pop("span", plain.key.span)
    text = changed.pop("text", plain.key.text)
    side = changed.pop("side", "gold")
    return Draft(structs.replace(plain, key=Key(text, side, span), **changed))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("one", "said"),
    [
        (
            odd(span=Marked(((0, 10**5000),), "Drug")),
            "a span beyond the end of any text; give",
        ),
        (odd(span=Marked(((-(10**5000), 1),), "Drug")), "a span at places out of reach; give"),
        (odd(span=Marked((), "Drug")), r"a span at \[\]; give"),
        (odd(span=Marked(((0, 1),), "\udc00")), r"a type with '\\udc00'"),
        (odd(span=Marked(((0, 1),), "x" * 20_000)), "a type of 20,000 characters"),
        (
            odd(span=Marked(tuple((at, at + 1) for at in range(0, 400_000, 2)), "x")),
            r"a verdict of 3,089,\d+ bytes; give fewer",
        ),
        (odd(seen=Seen("d\ud800", "x")), r"a document's id with '\\ud800'"),
        (odd(seen=Seen("d", "x" * 1_000_000)), "a quote of 1,000,000 characters"),
        (odd(seen=Seen("d", "x", "x" * 41)), "a text before a quote of 41 characters"),
        (odd(text="../../etc/passwd"), "which is not a digest of a text"),
        (odd(kind="maybe"), "there is no verdict 'maybe'"),
        (odd(side="both"), "there is no side 'both'"),
        (odd(right=(Marked(((0, 1),), "x"),)), "right spans beside the verdict 'gold'"),
    ],
    ids=lambda value: value[:30] if isinstance(value, str) else "",
)
def test_what_is_no_verdict_is_refused(store: ReviewStore, one: Draft, said: str) -> None:
    with pytest.raises(FormatError, match=said) as told:
        store.give([one], "Ann")
    assert len(str(told.value).splitlines()) == 1 and len(str(told.value)) < 300
    assert store.every() == ()


@pytest.mark.parametrize("who", ["", "a\0b", "\ud800", "x" * 101])
def test_nobody_takes_anything_back(store: ReviewStore, who: str) -> None:
    with pytest.raises(FormatError, match="reviewer"):
        store.undo(who)


def test_tables_of_other_programs_are_let_be(store: ReviewStore) -> None:
    with store.database.writing() as connection:
        for statement in (
            "CREATE TABLE alembic_version (version_num VARCHAR(32))",
            "INSERT INTO alembic_version VALUES ('f00')",
            "CREATE TABLE verdict (id INTEGER)",
        ):
            connection.exec_driver_sql(statement)
    store.give([draft()], "Ann")
    assert standing(store) == [("Ann", "gold")]
    with store.database.writing() as connection:
        assert connection.exec_driver_sql("SELECT * FROM alembic_version").all() == [("f00",)]
        for table in ("alembic_version", "verdict"):
            connection.exec_driver_sql(f"DROP TABLE {table}")


def test_a_table_of_our_name_that_is_not_ours_is_told(store: ReviewStore) -> None:
    with store.database.writing() as connection:
        connection.exec_driver_sql("CREATE TABLE verdict_event (id INTEGER)")
    with pytest.raises(FormatError, match="already exists, and is not nereval's; name another database"):
        store.give([draft()], "Ann")
    # Nothing of ours was left behind.
    assert store.reviewed().number == 0


@pytest.mark.parametrize(
    ("note", "who", "said"),
    [
        ("a\0b", "Ann", r"a note with '\\x00'"),
        ("\ud800", "Ann", r"a note with '\\ud800'"),
        ("x" * 1_000_000, "Ann", "a note of 1,000,000 characters; shorten it to 10,000"),
        ("", " ", "no name of a reviewer"),
        ("", "Ann\nBob", r"a reviewer's name with 'Ann\\nBob'"),
    ],
)
def test_what_no_database_holds_is_refused(store: ReviewStore, note: str, who: str, said: str) -> None:
    with pytest.raises(FormatError, match=said):
        store.give([draft(31), draft(note=note)], who)
    assert store.every() == ()


def tables_of(store: ReviewStore) -> dict[str, Any]:
    """Return the columns, constraints and indexes of each table of a store."""
    with store.database.reading() as connection:
        assert connection is not None
        inspector = inspect(connection)
        return {
            table: (
                [(column["name"], str(column["type"]), column["nullable"]) for column in inspector.get_columns(table)],
                inspector.get_pk_constraint(table)["constrained_columns"],
                sorted(sorted(unique["column_names"]) for unique in inspector.get_unique_constraints(table)),
                sorted((index["name"], index["column_names"]) for index in inspector.get_indexes(table)),
            )
            for table in sorted(inspector.get_table_names())
        }


def test_a_store_made_by_alembic_opens_and_has_the_tables_of_today(tmp_path: Path) -> None:
    """The fixture is sqlite3's dump of a store that two revisions, 0001 and 0002, had made (nereval at 07bb616)."""
    with closing(sqlite3.connect(tmp_path / "review.sqlite")) as database:
        database.executescript(Path("tests/fixtures/review-store-0002.sql").read_text())
    store = ReviewStore(tmp_path / "review.sqlite")
    key = draft().verdict.key
    assert [(one.who, one.verdict.kind) for one in store.history(key)] == [("Ann", "gold"), ("Bob", "pred")]
    assert all(one.verdict.key == key and one.verdict.key.record == key.record for one in store.every())
    (playlist,) = PlaylistStore(store).playlists().standing
    new = ReviewStore(tmp_path / "new.sqlite")
    new.give([draft()], "Ann")
    assert tables_of(store) == tables_of(new)
    assert playlist.name == "Meeting" and [item.starred.key for item in playlist.items] == [key]
    store.undo("Bob")
    PlaylistStore(store).rename(playlist, "Monday", "Ann")
    assert standing(store) == [("Ann", "gold")]
    store.close()


@pytest.mark.parametrize("known", ["0001", "9999"])
def test_a_store_of_another_revision_is_not_touched(store: ReviewStore, known: str) -> None:
    store.give([draft()], "Ann")
    with store.database.writing() as connection:
        connection.exec_driver_sql(f"UPDATE {REVISION.name} SET version_num = '{known}'")
    other = ReviewStore(store.database.engine.url.render_as_string(hide_password=False))
    for action in (other.reviewed, other.every, lambda: other.give([draft(31)], "Ann"), lambda: other.undo("Ann")):
        with pytest.raises(FormatError, match=f"revision {known}, which this version does not know"):
            action()
    with pytest.raises(FormatError, match=f"revision {known}"):
        PlaylistStore(other).playlists()
    other.close()


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("mysql://x/y", "NEREVAL_REVIEW_URL: a database of the kind mysql; use PostgreSQL or SQLite"),
        ("://", "NEREVAL_REVIEW_URL: no URL of a database"),
        ("sqlite://", "NEREVAL_REVIEW_URL: a URL of SQLite that is more than the path of a file"),
        ("sqlite:///x?mode=ro", "NEREVAL_REVIEW_URL: a URL of SQLite that is more than the path of a file"),
        ("postgresql://ann@host:port/x", "NEREVAL_REVIEW_URL: no URL of a database"),
        ("postgresql://ann:secret@/none?host=/nowhere", "check that the database runs"),
        ("postgresql://ann@/none?host=/nowhere&password=secret", "check that the database runs"),
        ("postgresql://ann@/none?host=/nowhere&passwrd=3", 'invalid connection option "passwrd"; check that'),
    ],
)
def test_a_database_that_is_none_is_said(url: str, said: str) -> None:
    with pytest.raises(FormatError, match=said) as told:
        ReviewStore(url).reviewed()
    assert "secret" not in str(told.value)


def test_the_file_is_the_one_given_else_that_of_the_environment_else_the_users(tmp_path: Path) -> None:
    home = {"XDG_DATA_HOME": str(tmp_path)}
    url = {**home, "NEREVAL_REVIEW_URL": "sqlite:////elsewhere.sqlite"}
    assert ReviewStore.of_environment(tmp_path / "x", url).name == str(tmp_path / "x")
    assert ReviewStore.of_environment(None, url).name == "/elsewhere.sqlite"
    assert ReviewStore.of_environment(None, home).name == str(tmp_path / "nereval" / "review.sqlite")
