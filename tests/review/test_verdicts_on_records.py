"""Verdicts find their records: by content under any criterion and system, by the old quote where content changed."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nereval_core.corpus import Documents, Layer, layer
from nereval_core.ledger import Ledger, ledger
from nereval_core.records.queries import Query
from nereval_core.review import verdicts_on_records
from nereval_core.review.apply import apply_verdicts
from nereval_core.review.apply.adjudication import UNDECIDED, adjudicate
from nereval_core.review.layer_words import LayerWords
from nereval_core.review.standing_verdicts import Reviewed
from nereval_core.review.store import ReviewStore
from nereval_core.review.verdicts import KINDS, ConflictError, Draft, Key, Kind, Marked, Seen, Verdict
from nereval_core.review.verdicts_on_records import (
    _attached,
    attach_verdicts,
    draft_batch,
    marked,
    places,
    select_batch,
    text_digests,
    verdict_subject,
    verdicts_since,
)
from nereval_core.review.words import (
    decision_in_words,
    meaning,
    verdict_labels,
)
from nereval_core.scoring import Scores, Settings, score_layers
from nereval_core.scoring.criteria import CRITERIA
from tests.support.draws import draws

Spans = list[tuple[int, int, int, str]]
TEXTS = ("Ann took aspirin tablets.", "Bob took nothing, and no aspirin.")
GOLD: Spans = [(0, 0, 3, "Person"), (0, 9, 16, "Drug"), (1, 25, 32, "Drug")]
PRED: Spans = [(0, 0, 3, "Person"), (0, 9, 24, "Drug"), (1, 9, 16, "Drug")]


def layer_of(name: str, spans: Spans, texts: tuple[str, ...] = TEXTS) -> Layer:
    documents = Documents(tuple(f"d{number}" for number in range(len(texts))), texts)
    columns = list(zip(*spans, strict=True)) or [()] * 4
    return layer(name, documents, *map(list, columns))


@dataclass
class Others:
    """What a corpus of two layers knows of itself, and the verdicts of a store."""

    layers: tuple[Layer, Layer]
    store: ReviewStore

    @property
    def gold(self) -> Layer:
        return self.layers[0]

    @property
    def systems(self) -> tuple[str, ...]:
        return (self.layers[1].name,)

    @property
    def reviewed(self) -> Reviewed:
        return self.store.reviewed()

    def scores(self, system: str | None = None, names: object = ()) -> Scores:
        raise AssertionError("not asked for")

    def beside(self, digest: str) -> object | None:
        return None


@pytest.fixture
def store(tmp_path: Path) -> Iterator[ReviewStore]:
    found = ReviewStore(tmp_path / "review.sqlite")
    yield found
    found.close()


def records(
    store: ReviewStore,
    gold: Layer | None = None,
    pred: Layer | None = None,
    *,
    criterion: str = "strict",
    merge: tuple[tuple[str, str], ...] = (),
    leave_out: tuple[str, ...] = (),
) -> Ledger:
    one = layer_of("gold", GOLD) if gold is None else gold
    two = layer_of("system", PRED) if pred is None else pred
    sides = one, replace(two, documents=one.documents)
    scores = score_layers(*sides, Settings((CRITERIA[criterion],), merge, leave_out))
    return ledger(scores, criterion, sides, Others(sides, store))


def give(store: ReviewStore, found: Ledger, record: int, kind: Kind, note: str = "", who: str = "Ann") -> None:
    key, partner, seen = verdict_subject(found.about, record)
    store.give([Draft(Verdict(key, kind, seen, partner, note=note), store.reviewed().version(key))], who)


def mark_entity(store: ReviewStore, found: Ledger, document: int, span: Marked, who: str = "Ann") -> None:
    """Mark an entity that nobody had marked."""
    documents = found.about.read[0].documents
    key = Key(text_digests(documents)[document], "none", span)
    seen = Seen.of(documents.ids[document], documents.texts[document], span)
    store.give([Draft(Verdict(key, "neither", seen, right=(span,)), store.reviewed().version(key))], who)


def kinds(found: Ledger) -> dict[str, str]:
    """Return the verdict of each record that has one."""
    there = attach_verdicts(found.about)
    names = found.frame(found.positions(Query()))["record"].tolist()
    return {
        name: one.verdict.kind + (" (stale)" if there.stale[at] else "")
        for at, name in enumerate(names)
        if (one := there.of(at)) is not None
    }


def test_a_verdict_counts_at_once_and_is_asked_for_like_anything_else(store: ReviewStore) -> None:
    found = records(store)
    assert found.having_counts(Query(), "verdict") == dict.fromkeys(
        ("gold", "pred", "both", "neither", "unclear"), 0
    ) | {"none": 4}
    give(store, found, 1, "pred", note="the tablets belong to it")
    give(store, found, 2, "gold", who="Bob")
    assert kinds(found) == {"g:9-16:Drug": "pred", "p:9-16:Drug": "gold"}
    for name, value, count in (
        ("verdict", "pred", 1),
        ("verdict", "none", 2),
        ("reviewer", "Bob", 1),
        ("noted", "yes", 1),
        ("reviewed", "yes", 2),
    ):
        query = Query(having=((name, value),))
        assert found.total(query).records == found.having_counts(Query(), name)[value] == count
    store.undo("Ann")
    assert kinds(found) == {"p:9-16:Drug": "gold"} and found.total(Query(having=(("verdict", "none"),))).records == 3


@pytest.mark.parametrize("merge", [(), (("Drug", "Chemical"), ("Person", "Chemical"))], ids=["as annotated", "merged"])
@pytest.mark.parametrize("criterion", ["strict", "type", "muc", "lenient"])
def test_verdicts_survive_criteria_merges_order_and_other_systems(
    store: ReviewStore, criterion: str, merge: tuple[tuple[str, str], ...]
) -> None:
    give(store, records(store, criterion=criterion, merge=merge), 1, "pred")
    shuffled = layer_of("gold", [(1 - doc, *span) for doc, *span in reversed(GOLD)], TEXTS[::-1])  # type: ignore[misc]
    same = layer_of("same", [(1, 9, 24, "Drug")], TEXTS[::-1])
    assert kinds(records(store, shuffled, same)) == {"g:9-16:Drug": "pred"}
    assert kinds(records(store, leave_out=("Person",))) == {"g:9-16:Drug": "pred"}
    assert kinds(records(store, leave_out=("Drug",))) == {}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("judged", [(0, 9, 24, "Drug"), None])
@pytest.mark.parametrize("here", [(0, 9, 24, "Drug"), (0, 4, 16, "Drug"), (0, 9, 24, "Person"), None])
def test_a_verdict_says_the_same_of_gold_beside_any_prediction(
    store: ReviewStore, kind: Kind, judged: tuple[int, int, int, str] | None, here: tuple[int, int, int, str] | None
) -> None:
    gold = layer_of("gold", [(0, 9, 16, "Drug")])
    give(store, records(store, gold, layer_of("a", [judged] if judged else [])), 0, kind)
    other = records(store, gold, layer_of("b", [here] if here else []))
    # Where the prediction that was judged is right, or nothing is, another one is not; where both are, gold is.
    kind_here = kind if judged == here else {"pred": "neither", "both": "gold"}.get(kind, kind)
    attached = attach_verdicts(other.about)
    assert kinds(other) == {"g:9-16:Drug": kind_here} and attached.decided.tolist() == [True]
    right = (Marked(((judged[1], judged[2]),), judged[3]),) if kind_here != kind == "pred" and judged else ()
    assert attached.of(0).verdict.right == right  # type: ignore[union-attr]
    for name, value in (("reviewed", "yes"), ("verdict", kind_here), ("reviewer", "Ann")):
        attribute = other.attribute(name)
        assert attribute is not None
        assert attribute.counts().get(value, 0) == 1


@pytest.mark.parametrize("seed", range(20))
def test_as_many_records_are_open_when_gold_is_finished_as_in_the_list_of_a_system(
    store: ReviewStore, seed: int
) -> None:
    """A verdict for another system's prediction was applied to gold, and the record beside this system was open."""
    random = Random(seed)

    def drawn(name: str) -> Layer:
        starts = random.sample(range(0, 20, 3), 5)
        return layer_of(name, [(0, at, at + random.randint(1, 5), random.choice(["Drug", "Person"])) for at in starts])

    gold, layers = drawn("gold"), [drawn("a"), drawn("b")]
    ledgers = [records(store, gold, system) for system in layers]
    for found in ledgers:
        for at in random.sample(range(len(found.about.rows)), 3):
            give(store, found, at, random.choice(list(KINDS)))
    for found, system in zip(ledgers, layers, strict=True):
        finished = adjudicate(gold, replace(system, documents=gold.documents), store.reviewed(), undecided="first")
        n_without = sum(row.reason == UNDECIDED for row in finished.open)
        query = Query(decision=("INC", "PAR", "MIS", "SPU"), having=(("verdict", "none"),))
        assert n_without == found.total(query).records


def test_a_verdict_on_a_prediction_shows_where_it_is_a_partner(store: ReviewStore) -> None:
    gold = layer_of("gold", [(0, 9, 16, "Drug")])
    give(store, records(store, layer_of("gold", []), layer_of("system", [(0, 9, 24, "Drug")])), 0, "gold")
    assert kinds(records(store, gold, layer_of("system", [(0, 9, 24, "Drug")]))) == {"g:9-16:Drug": "gold"}


ANNA: Spans = [(0, 0, 3, "Person"), (0, 9, 16, "Drug"), (1, 25, 32, "Drug")]
BEN: Spans = [(0, 0, 3, "Person"), (0, 9, 24, "Drug"), (1, 9, 16, "Drug")]


def both_orders(store: ReviewStore) -> tuple[Ledger, Ledger]:
    """Return the records of two annotators, either of whom has gold's place."""
    anna, ben = layer_of("anna", ANNA), layer_of("ben", BEN)
    return records(store, anna, ben), records(store, ben, anna)


def test_a_verdict_names_the_same_annotator_when_the_two_change_places(store: ReviewStore) -> None:
    found, swapped = both_orders(store)
    # Anna's and Ben's boundaries differ; only Ben has the second, only Anna the third.
    for record, kind in ((1, "gold"), (2, "pred"), (3, "gold")):
        give(store, found, record, kind)  # type: ignore[arg-type]
    assert kinds(found) == {"g:9-16:Drug": "gold", "p:9-16:Drug": "pred", "g:25-32:Drug": "gold"}
    assert kinds(swapped) == {"g:9-24:Drug": "pred", "g:9-16:Drug": "gold", "p:25-32:Drug": "pred"}
    keys = [(stored.verdict.key, "d0") for stored in store.reviewed().standing]
    assert None not in places(swapped.about, keys)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "neither"])
def test_the_last_verdict_counts_in_whichever_order_it_was_given(store: ReviewStore, kind: Kind) -> None:
    turned_kinds = {"gold": "pred", "pred": "gold"}
    found, swapped = both_orders(store)
    # The same place has another number in either order.
    for record in (1, 2, 3):
        give(store, found, record, kind)
        (position,) = places(swapped.about, [(store.reviewed().standing[-1].verdict.key, "d0")])
        assert position is not None
        give(store, swapped, position, "unclear")
    assert set(kinds(found).values()) == set(kinds(swapped).values()) == {"unclear"}
    store.undo("Ann")
    assert sorted(kinds(found).values()) == sorted(["unclear", "unclear", kind])
    assert sorted(kinds(swapped).values()) == sorted(["unclear", "unclear", turned_kinds.get(kind, kind)])


@pytest.mark.parametrize("kind", list(KINDS))
def test_two_annotators_are_made_into_one_by_the_same_verdicts_in_either_order(store: ReviewStore, kind: Kind) -> None:
    found, _ = both_orders(store)
    for record in (1, 2, 3):
        give(store, found, record, kind)
    anna, ben = layer_of("anna", ANNA), layer_of("ben", BEN)
    ben = replace(ben, documents=anna.documents)
    reviewed = store.reviewed()
    results = [adjudicate(anna, ben, reviewed), adjudicate(ben, anna, reviewed)]
    spans = [{(int(one.layer.doc[at]), marked(one.layer, at)) for at in range(len(one.layer))} for one in results]
    # Where both are right, that of the reference stays, with the other's boundaries as an alternative.
    assert spans[0] == spans[1] or kind == "both"
    assert len(results[0].open) == len(results[1].open) == (3 if kind == "unclear" else 0)
    assert results[0].applied.verdicts == results[1].applied.verdicts


def test_what_changed_is_stale_and_found_by_its_quote(store: ReviewStore) -> None:
    found = records(store)
    give(store, found, 1, "pred")
    give(store, found, 3, "gold")
    # A word more before it; the span is another one; and its words are gone.
    longer = layer_of("gold", [(0, 14, 21, "Drug")], ("Once Ann took aspirin tablets.", TEXTS[1]))
    assert kinds(records(store, longer, layer_of("s", [], longer.documents.texts))) == {"g:14-21:Drug": "pred (stale)"}
    moved = layer_of("gold", [(0, 0, 3, "Person"), (0, 12, 16, "Drug"), (1, 25, 32, "Drug")])
    there = records(store, moved, layer_of("system", [(0, 0, 3, "Person")]))
    assert kinds(there) == {"g:12-16:Drug": "pred (stale)", "g:25-32:Drug": "gold"}
    assert there.total(Query(having=(("stale", "yes"),))).records == 1
    gone = layer_of("gold", [(0, 0, 3, "Person")], ("Ann took nothing.", TEXTS[1]))
    lost = attach_verdicts(records(store, gone, layer_of("system", [], gone.documents.texts)).about).lost
    assert [one.verdict.seen.quote for one in lost] == ["aspirin", "aspirin"]


def test_a_verdict_that_gold_was_corrected_by_is_not_stale_and_says_that_gold_is_right(store: ReviewStore) -> None:
    found = records(store)
    give(store, found, 1, "pred")
    key, partner, seen = verdict_subject(found.about, 3)
    right = (Marked(((22, 32),), "Drug"), Marked(((0, 3),), "Person"))
    store.give([Draft(Verdict(key, "neither", seen, partner, right=right))], "Ann")
    assert kinds(found) == {"g:9-16:Drug": "pred", "g:25-32:Drug": "neither"}
    corrected = layer_of("gold", [(0, 0, 3, "Person"), (0, 9, 24, "Drug"), (1, 0, 3, "Person"), (1, 22, 32, "Drug")])
    again = records(store, corrected)
    # The first one is right of both sides now; where gold lacks a part of what is right the verdict is stale.
    assert kinds(again) == {"g:9-24:Drug": "gold", "g:0-3:Person": "gold", "g:22-32:Drug": "gold"}
    assert not attach_verdicts(again.about).lost
    in_part = layer_of("gold", [(0, 9, 24, "Drug"), (1, 22, 32, "Drug")])
    assert kinds(records(store, in_part)) == {"g:9-24:Drug": "gold", "g:22-32:Drug": "neither (stale)"}
    for gold, reasons in ((corrected, ["applied before"] * 2), (in_part, ["applied before", "stale"])):
        applied = apply_verdicts(gold, store.reviewed(), [layer_of("system", PRED)])
        assert [change.reason for change in applied.log] == reasons and applied.layer.digest == gold.digest


def test_by_text_alone_another_text_under_the_same_id_has_no_verdicts(store: ReviewStore) -> None:
    give(store, records(store), 1, "pred")
    alone = ReviewStore(str(store.database.file), by_text_alone=True)
    assert kinds(records(alone)) == {"g:9-16:Drug": "pred"}
    longer = layer_of("gold", [(0, 14, 21, "Drug")], ("Once Ann took aspirin tablets.", TEXTS[1]))
    found = attach_verdicts(records(alone, longer, layer_of("s", [], longer.documents.texts)).about)
    assert not found.verdicts and not found.lost
    # What is added later is put on records the same way.
    give(alone, records(alone), 2, "gold")
    assert kinds(records(alone, longer, layer_of("s", [], longer.documents.texts))) == {}
    alone.close()


def test_runs_of_tokens_have_no_verdicts(store: ReviewStore) -> None:
    give(store, records(store), 1, "pred")
    assert kinds(records(store, criterion="fragment")) == {}


def test_a_key_leads_back_to_its_record(store: ReviewStore, monkeypatch: pytest.MonkeyPatch) -> None:
    found = records(store, merge=(("Drug", "Chemical"),))
    for record in range(4):
        assert places(found.about, [(verdict_subject(found.about, record)[0], "d0")]) == [record]
        assert found.position(*found.name(record)) == record
    assert found.position("d0", "g:0-1:Drug") is None
    # Pages ask for a few records at each click: no index of all spans is computed for these.
    with monkeypatch.context() as patch:
        patch.delattr(verdicts_on_records, "_places")
        assert verdict_subject(found.about, 0)[0].side == "gold"
    other = records(store, layer_of("gold", []), layer_of("system", [(0, 0, 3, "Person")]))
    assert places(other.about, [(verdict_subject(found.about, 1)[0], "d0")]) == [None]


def test_a_batch_leaves_alone_what_stands_and_gives_each_key_one_verdict(store: ReviewStore) -> None:
    twice = layer_of("gold", [(0, 4, 8, "Verb"), (1, 4, 8, "Verb"), (1, 0, 3, "Person")], ("Bob took it.",) * 2)
    found = records(store, twice, layer_of("system", [], twice.documents.texts))
    every = found.positions(Query())
    told: list[int] = []
    made = draft_batch(found.about, every, "pred", "one and the same", store.reviewed(), told.append)
    assert len(every) == 3 and len(made) == 2 and not told
    store.give(made, "Ann")
    assert len(select_batch(found.about, every).records) == 0 and select_batch(found.about, every).n_with_verdict == 3
    assert len(select_batch(found.about, every, over=True).records) == 3
    assert verdicts_since(found.about, every, 0) == store.reviewed().standing and not verdicts_since(
        found.about, every, 2
    )
    store.give(draft_batch(found.about, every, "gold", "", store.reviewed()), "Ann")
    assert {one.version for one in store.reviewed().standing} == {2}
    store.undo("Ann")
    assert set(kinds(found).values()) == {"pred"}


def test_lists_say_a_verdict_in_words(store: ReviewStore) -> None:
    found = records(store)
    give(store, found, 1, "pred")
    give(store, found, 3, "unclear", who="Bob")
    assert verdict_labels(attach_verdicts(found.about), range(4)) == [None, "prediction · Ann", None, "unclear · Bob"]
    longer = layer_of("gold", [(0, 14, 21, "Drug")], ("Once Ann took aspirin tablets.", TEXTS[1]))
    moved = records(store, longer, layer_of("s", [], longer.documents.texts))
    assert verdict_labels(attach_verdicts(moved.about), [0]) == ["stale · prediction · Ann"]


def test_attached_verdicts_keep_no_moment_of_the_store(store: ReviewStore) -> None:
    """A server has many corpora and verdicts on all of them."""
    found = records(store)
    give(store, found, 1, "pred")
    attach_verdicts(found.about)
    earlier = weakref.ref(store.reviewed())
    give(store, found, 3, "unclear")
    store.reviewed()
    gc.collect()
    assert earlier() is None and set(kinds(found).values()) == {"pred", "unclear"}


def test_where_another_database_took_the_place_of_one_all_is_attached_anew(store: ReviewStore) -> None:
    found = records(store)
    give(store, found, 1, "pred")
    decided = Query(having=(("verdict", "pred"),))
    one, before, listed = kinds(found), store.reviewed().moment, found.positions(decided).tolist()
    with store.database.writing() as connection:
        connection.exec_driver_sql("DELETE FROM verdict_event")
        # Of another file, not one that has lost its end.
        connection.exec_driver_sql("PRAGMA user_version = 0")
    give(store, found, 3, "pred")
    assert len(one) == len(kinds(found)) == 1 and one != kinds(found)
    assert store.reviewed().since(before) is None
    assert len(listed) == len(found.positions(decided)) == 1 and listed != found.positions(decided).tolist()


def test_each_verdict_is_explained_by_what_it_does_to_gold(store: ReviewStore) -> None:
    about = records(store).about
    said = {
        (record, kind): meaning(kind, *verdict_subject(about, record)[:2]) for record in (1, 2, 3) for kind in KINDS
    }
    assert said[1, "pred"] == "The gold span gives way to the prediction."
    assert said[2, "pred"] == "The prediction is added to gold."
    assert said[3, "pred"] == "The system saw no entity here: the gold span goes."
    assert said[2, "both"] == said[2, "pred"]
    assert len(set(said.values())) == 5 + 3 + 2


def test_both_says_whether_the_prediction_is_an_alternative_or_stands_beside_gold() -> None:
    key = Key("text", "gold", Marked(((0, 3),), "Drug"))
    partners = [((0, 5), "Drug"), ((0, 3), "Dose"), ((0, 5), "Dose")]
    said = [meaning("both", key, Marked((place,), kind)) for place, kind in partners]
    assert "boundaries are accepted" in said[0] and said[1] == said[2] == meaning(
        "both", key, Marked(((0, 1), (2, 3)), "Drug")
    )
    assert LayerWords("a", "b", annotators=True).meaning("both", key, Marked(((0, 3),), "Dose")) == (
        "The span of a stays, and the span of b is added beside it."
    )


def test_what_is_right_is_said_with_its_words() -> None:
    text, span = "the drug of the Anti-TNF-alpha kind", Marked(((16, 30),), "Drug")
    assert decision_in_words("neither", [span], text) == "neither is right; right is “Anti-TNF-alpha” Drug at 16–30"
    apart = Marked(((4, 8), (9, 11), (16, 30)), "Drug")
    words = "neither is right; right is “drug of … Anti-TNF-alpha” Drug at 4–8, 9–11, 16–30"
    assert decision_in_words("neither", [apart], text) == words
    assert decision_in_words("neither", []) == "neither is right; right is no entity"
    assert decision_in_words("withdrawn", []) == "taken back"


SAME = ("Ann took aspirin tablets.", "Bob took it.", "Ann took aspirin tablets.", "Bob took it.", "Eve left.")
STEPS = st.lists(
    st.tuples(
        st.integers(0, 11),
        st.sampled_from(["gold", "pred", "unclear", "undo", "entity"]),
        st.sampled_from(["Ann", "Bob"]),
    ),
    min_size=1,
    max_size=12,
)


@draws(20)
@given(STEPS, st.booleans())
def test_new_verdicts_are_attached_as_all_would_be(steps: list[tuple[int, str, str]], changed: bool) -> None:
    """Verdict by verdict, on texts that repeat and on texts that have changed since, as if all were attached anew."""
    gold = layer_of("gold", [(doc, 0, 3, "Person") for doc in range(5)] + [(0, 9, 16, "Drug")], SAME)
    pred = layer_of("system", [(doc, 0, 3, "Person") for doc in (0, 2, 4)] + [(2, 9, 24, "Drug")], SAME)
    texts = ("Once Ann took aspirin tablets.", SAME[1], "Once Ann took aspirin tablets.", SAME[3], "Eve has left.")
    later = layer_of(
        "gold", [(0, 5, 8, "Person"), (2, 14, 21, "Drug"), (1, 0, 3, "Person"), (4, 0, 3, "Person")], texts
    )
    with TemporaryDirectory() as folder:
        store = ReviewStore(Path(folder) / "review.sqlite")
        found = records(store, gold, pred)
        shown = records(store, later, layer_of("system", [(2, 0, 3, "Person")], texts)) if changed else found
        for record, kind, who in steps:
            if kind == "undo":
                with suppress(ConflictError):
                    store.undo(who)
            elif kind == "entity":
                mark_entity(store, found, record % len(SAME), Marked(((0, 1 + record % 3),), "Word"), who)
            else:
                give(store, found, record % len(found.about.rows), kind, who=who)  # type: ignore[arg-type]
            now = attach_verdicts(shown.about)
            whole = _attached(shown.about, store.reviewed(), shown.about.others.layers)
            every = range(len(shown.about.rows))
            assert list(map(now.of, every)) == list(map(whole.of, every))
            assert now.stale.tolist() == whole.stale.tolist() and now.lost == whole.lost
            assert now.unmarked == whole.unmarked
        store.close()
