"""Verdicts out of one store and into another: nothing twice, nothing lost, and what was decided apart is listed."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from nereval_core.corpus import Documents
from nereval_core.problems import FormatError
from nereval_core.review.exchange import Imported, import_verdicts
from nereval_core.review.store import ReviewStore
from nereval_core.review.store.rows import row_of, verdict_in
from nereval_core.review.verdict_lines import HAND_KEYS, KEYS, LINE_BYTES, export_lines, read_lines
from nereval_core.review.verdicts import (
    ConflictError,
    Draft,
    Key,
    Kind,
    Marked,
    Seen,
    Side,
    StoredVerdict,
    Verdict,
    text_digest,
)
from tests.support import databases

TEXT = "Ann took aspirin and then more aspirin."
HOSTILE = "<script>alert(1)</script> javascript:alert(1) =1+1 \x1b[2J \u202e \U0001f600 '; DROP TABLE verdict_event; --"
Make = Callable[[str], ReviewStore]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    """Return what makes an empty store of a name."""
    made = []

    def store(name: str) -> ReviewStore:
        made.append(ReviewStore(tmp_path / f"{name}.sqlite"))
        return made[-1]

    yield store
    for one in made:
        one.close()


def give(store: ReviewStore, who: str, at: int = 9, kind: Kind = "gold", note: str = "") -> StoredVerdict:
    span = Marked(((at, at + 7),), "Drug")
    key = Key(text_digest(TEXT), "gold", span)
    right = (Marked(((0, 3), (4, 8)), "PER"),) if kind == "neither" else ()
    partner = Marked(((at, at + 3),), "Drug") if kind == "pred" else None
    verdict = Verdict(key, kind, Seen.of("d1", TEXT, span), partner, right, note)
    return store.give([Draft(verdict, store.reviewed().version(key))], who)[0]


def exported(store: ReviewStore) -> bytes:
    return b"".join(export_lines(store.every()))


def taken(store: ReviewStore, content: bytes) -> Imported:
    with read_lines(io.BytesIO(content), "x.jsonl") as verdicts:
        return import_verdicts(store, verdicts, "x.jsonl")


def test_a_store_is_taken_over_whole_and_twice_changes_nothing(make: Make) -> None:
    one, two = make("one"), make("two")
    give(one, "Ann", note=HOSTILE)
    give(one, "Bob", kind="neither", note="so")
    give(one, "Eve", 31, "pred")
    one.undo("Bob")
    content = exported(one)
    found = taken(two, content)
    assert found == Imported(4, 0, ())
    assert exported(two) == content
    assert all(tuple(store.each_standing()) == store.reviewed().standing for store in (one, two))
    stand = [{(given.who, given.at) for given in store.reviewed().standing} for store in (one, two)]
    assert stand[0] == stand[1] and {who for who, _ in stand[0]} == {"Ann", "Eve"}
    again = taken(two, content)
    assert again == Imported(0, 4, ()) and exported(two) == content
    # Taken back where it came to.
    assert len(two.undo("Eve")) == 1 and [given.who for given in two.reviewed().standing] == ["Ann"]


def test_the_same_verdicts_are_the_same_bytes_whatever_their_order(make: Make) -> None:
    one, two = make("one"), make("two")
    give(one, "Ann")
    give(one, "Bob", 31)
    content = exported(one)
    taken(two, b"".join(reversed(content.splitlines(keepends=True))))
    assert exported(two) == content and content.isascii()
    assert all(list(json.loads(line)) == list(KEYS) for line in content.splitlines())


def test_a_longer_history_extends_a_shorter_one(make: Make) -> None:
    one, two = make("one"), make("two")
    give(one, "Ann")
    taken(two, exported(one))
    give(two, "Bob", kind="both")
    give(two, "Eve", kind="unclear")
    found = taken(one, exported(two))
    assert (found.n_added, found.n_known) == (2, 1) and exported(one) == exported(two)
    # The shorter one has nothing new.
    before = exported(two)
    give(one, "Max", 31)
    assert taken(two, exported(one)).n_added == 1
    assert taken(one, before).n_added == 0


def test_what_was_decided_apart_is_listed_and_the_rest_is_taken(make: Make) -> None:
    one, two = make("one"), make("two")
    give(one, "Ann")
    taken(two, exported(one))
    give(one, "Ann", kind="both", note="see 2.1")
    give(two, "Bob", kind="unclear")
    give(two, "Bob", 31)
    give(two, "Bob", kind="pred")
    found = taken(one, exported(two))
    assert found.n_added == 1 and one.every()[-1].verdict.key.span.start == 31
    (parted,) = found.conflicts
    assert (parted.ours.who, parted.theirs.who, parted.theirs.version) == ("Ann", "Bob", 2)
    said = str(parted)
    assert said.startswith("'aspirin' in 'd1', gold: here Ann on 20")
    assert ": both are right ('see 2.1'); there Bob on 20" in said and said.endswith(": guideline unclear")
    assert [given.verdict.kind for given in one.reviewed().standing] == ["both", "gold"]


def test_from_a_file_to_a_server_and_back(make: Make, server: databases.Server) -> None:
    one, two, three = make("one"), databases.emptied(ReviewStore(server.url)), make("three")
    # More spans than a question to the database names at once.
    spans = [Marked(((at, at + 1),), HOSTILE) for at in range(1_200)]
    drafts = [
        Draft(Verdict(Key(text_digest(TEXT), "pred", span), "both", Seen("d\0", HOSTILE), note=HOSTILE))
        for span in spans
    ]
    for low in (0, 600):
        one.give(drafts[low : low + 600], "Ann")
    one.undo("Ann")
    content = exported(one)
    assert taken(two, content).n_added == 1_800 and exported(two) == content
    assert taken(two, content).n_known == 1_800
    taken(three, exported(two))
    assert exported(three) == content
    assert len(two.undo("Ann")) == 600 and len(two.reviewed()) == 0
    two.close()


@pytest.mark.parametrize("key", ["note", "kind", "who"])
def test_a_verdict_that_was_changed_on_the_way_is_a_conflict(make: Make, key: str) -> None:
    one = make("one")
    give(one, "Ann")
    row = json.loads(exported(one))
    row[key] = {"note": "other", "kind": "pred", "who": "Bob"}[key]
    found = taken(one, json.dumps(row).encode())
    assert (len(found.conflicts), found.n_added, found.n_known) == (1, 0, 0)


def line(**changed: Any) -> bytes:
    seen = {"document": "d1", "quote": "aspirin", "before": "Ann took ", "after": " and then"}
    names = {"uid": "a" * 32, "batch": "b" * 32, "undoes": "", "text": text_digest(TEXT)}
    span = {"fragments": [[9, 16]], "type": "Drug"}
    moment = {"who": "Ann", "at": "2026-01-31T12:00:00+00:00", "version": 1}
    row = {"side": "gold", "span": span, "kind": "gold", "partner": None, "right": [], "note": ""}
    row |= seen | names | moment | changed
    return json.dumps({key: value for key, value in row.items() if value is not ...}).encode() + b"\n"


BAD = (
    (b"{a", "not JSON at position 2 of the line"),
    (b"[1]", "a list where a verdict should be; write one JSON object"),
    (b"\xff", "bytes that are not UTF-8; write the file in UTF-8"),
    (b'{"uid": ' + b"[" * 100_000, "JSON nested too deeply"),
    (b'{"uid": ' + b"9" * 5000 + b"}", "a number with too many digits"),
    (b'{"uid": NaN}', "NaN, which is not JSON"),
    (b'{"uid": "a", "uid": "b"}', "the key 'uid' stands twice"),
    (b"x" * (LINE_BYTES + 1), f"a line of more than {LINE_BYTES:,} bytes"),
    (line(extra=1), "an unknown key 'extra'; the keys are document, side, span"),
    (line(note=...), "no note; see `nereval review import --help`"),
    (line(note=3), "note is an integer; write a string"),
    (line(note="x" * 1_000_000), "a note of 1,000,000 characters; shorten it to 10,000"),
    (line(note="a\0b"), r"a note with '\x00'"),
    (line(note="\ud800"), "half a surrogate pair"),
    (line(who=""), "no name of a reviewer"),
    (line(who="Ann\x1b[2J"), "control characters"),
    (line(uid="Ann"), "uid is 'Ann'; write 32 digits"),
    (line(undoes="c" * 32), "undoes cccccccccccccccccccccccccccccccc, which is not in the history"),
    (line(at="2026-13-31T12:00:00Z"), "at is '2026-13-31T12:00:00Z'; write a moment as"),
    (line(at="yesterday"), "at is 'yesterday'"),
    (line(version=0), "version is out of range"),
    (line(version=2), "version 2 of a history, and no version 1; give each history whole"),
    (line(version=True), "version is true or false; write an integer"),
    (line(kind="maybe"), "there is no verdict 'maybe'; use gold, pred, both, neither, unclear"),
    (line(side="left"), "there is no side 'left'; use gold, pred or none"),
    (line(text="abc"), "'abc', which is not a digest of a text"),
    (line(right=[{"fragments": [[0, 3]], "type": "X"}]), "right spans beside the verdict 'gold'"),
    (line(span=None), "span is null; write an object with fragments and type"),
    (line(span={"start": 9, "end": 16}), "span is not a span"),
    (line(span={"fragments": [[9, 16.5]], "type": "Drug"}), "span has no fragments of two integers each"),
    (line(span={"fragments": [[16, 9]], "type": "Drug"}), "a span at [[16, 9]]; give [start, end] pairs in order"),
    (line(span={"fragments": [[-9, 9]], "type": "Drug"}), "a span at [[-9, 9]]"),
    (line(span={"fragments": [[0, 10**4000]], "type": "Drug"}), "a span beyond the end of any text"),
    (line(span={"fragments": [[9, 16]], "type": ""}), "a span without a type"),
    (line(partner={"fragments": [], "type": "Drug"}), "partner has no fragments"),
    (line(document=...), "no document"),
)


@pytest.mark.parametrize(("bad", "said"), BAD, ids=[said[:40] for _, said in BAD])
def test_a_bad_line_is_told_by_its_number_and_nothing_is_taken(make: Make, bad: bytes, said: str) -> None:
    store = make("one")
    good = line(uid="d" * 32, span={"fragments": [[31, 38]], "type": "Drug"})
    with pytest.raises(FormatError) as told:
        taken(store, b"\xef\xbb\xbf\n" + good + bad + b"\r\n\n")
    (problem,) = told.value.problems
    assert (problem.source, problem.line) == ("x.jsonl", 3) and said in str(problem)
    assert "\n" not in str(problem) and len(str(problem)) < 500
    assert store.every() == ()


def test_two_verdicts_of_one_name_or_place_are_refused(make: Make) -> None:
    other = line(span={"fragments": [[31, 38]], "type": "Drug"})
    with pytest.raises(FormatError, match=r"x\.jsonl:2: a second verdict of the uid a"):
        taken(make("one"), line() + other)
    with pytest.raises(FormatError, match=r"x\.jsonl:2: a second verdict of version 1 on one span"):
        taken(make("one"), line() + line(uid="c" * 32))
    # Two exports, one behind the other, say the same thing twice.
    assert taken(make("one"), line() + line()).n_added == 1


def test_a_name_that_another_span_has_here_is_a_conflict(make: Make) -> None:
    store = make("one")
    taken(store, line())
    found = taken(store, line(span={"fragments": [[31, 38]], "type": "Drug"}))
    assert (len(found.conflicts), found.n_added) == (1, 0) and len(store.every()) == 1


def test_many_verdicts_are_imported_in_batches_and_extend_the_histories_here(make: Make) -> None:
    """More records than one query names, and more verdicts than are written at once."""
    spans = [{"fragments": [[at, at + 1]], "type": "Drug"} for at in range(1_100)]
    first = b"".join(line(uid=f"{at:032x}", span=span) for at, span in enumerate(spans))
    second = b"".join(
        line(uid=f"{at + 5_000:032x}", span=span, version=2, kind="unclear") for at, span in enumerate(spans)
    )
    store = make("one")
    assert taken(store, first).n_added == 1_100
    other = ReviewStore(store.database.file or "")
    imported = taken(other, first + second)
    assert imported == Imported(1_100, 1_100, ())
    assert tuple(map(verdict_in, other.each_row())) == store.every() and len(store.every()) == 2_200
    assert {stored.version for stored in store.reviewed().standing} == {2}
    # Somebody has decided meanwhile: nothing of a large import is kept that does not follow.
    with pytest.raises(ConflictError):
        store.take(map(row_of, store.every()[1_100:]), {stored.verdict.key.record: 1 for stored in store.every()})
    assert len(store.every()) == 2_200
    other.close()


def hand(**changed: Any) -> bytes:
    row = {"document": "d1", "span": {"fragments": [[9, 16]], "type": "Drug"}, "quote": "aspirin", "kind": "both"}
    row |= changed
    assert set(row) <= set(HAND_KEYS)
    return json.dumps(row).encode() + b"\n"


DOCUMENTS = Documents(("d1", "d2"), (TEXT, "Nobody."))


def taken_by_hand(store: ReviewStore, content: bytes, who: str = "Ann") -> Imported:
    with read_lines(io.BytesIO(content), "x", documents=DOCUMENTS, who=who) as verdicts:
        return import_verdicts(store, verdicts, "x")


def test_lines_written_by_hand_are_found_in_the_corpus(make: Make) -> None:
    store = make("one")
    taken_by_hand(store, hand(note="both will do") + hand(side="pred", who="Bob", kind="pred"))
    decided = {(one.who, one.verdict.key.side, one.verdict.kind) for one in store.every()}
    assert decided == {("Ann", "gold", "both"), ("Bob", "pred", "pred")}
    key = Key(text_digest(TEXT), "gold", Marked(((9, 16),), "Drug"))
    stands = store.reviewed().of(key)
    assert stands is not None and stands.verdict.seen == Seen.of("d1", TEXT, key.span)
    assert taken_by_hand(store, hand(note="both will do")).n_known == 1
    # Somebody has decided on it: what is written by hand does not go over it.
    (parted,) = taken_by_hand(store, hand(kind="unclear")).conflicts
    assert (parted.ours.verdict.kind, parted.theirs.verdict.kind) == ("both", "unclear")


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        (hand(document="d3"), "there is no document 'd3' in the corpus"),
        (hand(quote="Aspirin"), "the text there is 'aspirin', not 'Aspirin'; mend the offsets, or the quote"),
        (hand(span={"fragments": [[90, 97]], "type": "Drug"}, quote=""), "a span beyond the text"),
        (
            hand(span={"fragments": [[-7, -1]], "type": "Drug"}, quote="aspiri"),
            "a span beyond the text; give offsets from 0 to 39",
        ),
    ],
)
def test_a_line_written_badly_by_hand_is_told(make: Make, bad: bytes, said: str) -> None:
    with pytest.raises(FormatError) as told:
        taken_by_hand(make("one"), bad)
    assert said in str(told.value)


def test_without_a_corpus_lines_written_by_hand_are_refused(make: Make) -> None:
    with pytest.raises(FormatError, match=r"x\.jsonl:1: a verdict without uid; name the corpus after FILE"):
        taken(make("one"), hand())


words = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
places = st.lists(st.integers(0, 40), min_size=2, max_size=6, unique=True).map(
    lambda ends: tuple(zip(*[iter(sorted(ends)[: len(ends) // 2 * 2])] * 2, strict=True))
)
spans = st.builds(Marked, places, words.filter(bool))


@given(spans, st.sampled_from(["gold", "pred", "none"]))
def test_a_record_is_the_digest_of_its_key_as_json(span: Marked, side: Side) -> None:
    """Stores have these digests: another way to write the key would lose their verdicts."""
    key = Key(text_digest(TEXT), side, span)
    content = json.dumps([key.text, side, span.fragments, span.type])
    assert key.record == text_digest(content)


@st.composite
def histories(draw: st.DrawFn) -> list[StoredVerdict]:
    """Draw a few histories of verdicts, valid but odd."""
    found = []
    for number, span in enumerate(draw(st.lists(spans, max_size=3, unique=True))):
        key = Key(text_digest(TEXT), draw(st.sampled_from(["gold", "pred"])), span)
        for version in range(1, draw(st.integers(1, 4)) + 1):
            kind = draw(st.sampled_from(["gold", "pred", "both", "neither", "unclear", "withdrawn"]))
            right = tuple(draw(st.lists(spans, max_size=2))) if kind == "neither" else ()
            seen = Seen(draw(words), draw(words), draw(words), draw(words))
            partner = draw(st.none() | spans)
            verdict = Verdict(key, kind, seen, partner, right, draw(words).replace("\0", ""))
            who = draw(st.sampled_from(["Ann", "Bób 😀"]))
            uid = f"{number:016x}{version:016x}"
            at = f"2026-01-{draw(st.integers(10, 28))}T12:00:00+00:00"
            found.append(StoredVerdict(verdict, who, at, version, uid, uid))
    return found


@given(histories())
def test_what_is_written_is_read_again(drawn: list[StoredVerdict]) -> None:
    content = b"".join(export_lines(drawn))
    with read_lines(io.BytesIO(content), "x") as verdicts:
        read = list(map(verdict_in, verdicts))
    assert b"".join(export_lines(read)) == content
    assert {one.uid: one for one in read} == {one.uid: structs.replace(one, number=0) for one in drawn}


@given(histories())
def test_a_line_written_in_another_way_is_the_same_verdict(drawn: list[StoredVerdict]) -> None:
    """Lines as they are exported are read at once, any others with all checks."""
    exported_lines = b"".join(export_lines(drawn))
    others = [json.dumps(json.loads(line), ensure_ascii=False).encode() for line in exported_lines.splitlines()]
    compact = [json.dumps(json.loads(line), separators=(",", ":")).encode() for line in exported_lines.splitlines()]
    rows = []
    for content in (exported_lines, b"\n".join(others), b"\r\n".join(compact)):
        with read_lines(io.BytesIO(content), "x") as verdicts:
            rows.append(list(verdicts))
    assert rows[0] == rows[1] == rows[2]
    assert sorted(rows[0]) == sorted(row_of(structs.replace(stored, number=0)) for stored in drawn)
