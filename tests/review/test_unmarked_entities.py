"""Entities that nobody had marked: kept, applied, exported, listed and taken back, like other verdicts."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import replace

import pytest

from nereval_core.corpus import Layer
from nereval_core.problems import FormatError
from nereval_core.review.apply import apply_verdicts
from nereval_core.review.apply.adjudication import adjudicate
from nereval_core.review.apply.corrected_copy import log_rows
from nereval_core.review.exchange import import_verdicts
from nereval_core.review.store import ReviewStore
from nereval_core.review.tables import log_table, staleness_test, verdicts_table
from nereval_core.review.verdict_lines import export_lines, read_lines
from nereval_core.review.verdicts import Draft, Key, Marked, Seen, StoredVerdict, Verdict, given_in_words, text_digest
from tests.review.test_apply import ANN, DRUG, LONG, TEXT, TWICE, layer_of, standing, verdict

SPLIT_DOSE = Marked(((9, 16), (25, 30)), "Dose")


@pytest.fixture
def store(empty_database: str) -> Iterator[ReviewStore]:
    opened = ReviewStore(empty_database)
    yield opened
    opened.close()


def draft(span: Marked, *right: Marked, seen: int = 0) -> Draft:
    key = Key(text_digest(TEXT), "none", span)
    return Draft(Verdict(key, "neither", Seen.of("d0", TEXT, span), right=right), seen)


def spans_of(layer: Layer) -> list[tuple[int, int, str]]:
    return [(int(layer.start[at]), int(layer.end[at]), layer.label(at)) for at in range(len(layer))]


def test_its_spans_are_added_to_gold_once(store: ReviewStore) -> None:
    store.give([draft(TWICE, TWICE, SPLIT_DOSE)], "Ann")
    gold, system = layer_of([ANN]), layer_of([ANN, DRUG], name="system")
    applied = apply_verdicts(gold, store.reviewed(), [system])
    assert spans_of(applied.layer) == [(0, 3, "Person"), (9, 30, "Dose"), (25, 30, "Dose")]
    assert applied.layer.parts(1) == ((9, 16), (25, 30))
    assert applied.counts() == {"added": 1}
    again = apply_verdicts(applied.layer, store.reviewed(), [system])
    assert again.layer is applied.layer and again.counts() == {"would repeat a span": 1}


def test_a_verdict_on_what_was_added_is_followed() -> None:
    entity, later = verdict("none", DRUG, "neither", right=[DRUG]), verdict("gold", DRUG, "pred", LONG)
    applied = apply_verdicts(layer_of([ANN]), standing(entity, later))
    assert spans_of(applied.layer) == [(0, 3, "Person"), (9, 24, "Drug")]


def test_it_reaches_the_adjudicated_layer_and_the_logs(store: ReviewStore) -> None:
    store.give([draft(TWICE, TWICE)], "Ann")
    first = layer_of([ANN, DRUG])
    second = replace(layer_of([ANN, LONG], name="second"), documents=first.documents)
    adjudicated = adjudicate(first, second, store.reviewed())
    assert spans_of(adjudicated.layer) == [(0, 3, "Person"), (25, 30, "Dose")]
    assert [row.record for row in adjudicated.open] == ["g:9-16:Drug"]
    (row,) = log_rows(adjudicated.applied.changes)
    assert row[1:5] == ("none", "25-30:Dose", "twice", "an entity that nobody had marked") and row[8] == "added"
    assert log_table(adjudicated.applied.changes).rows[0][3] == "an entity that nobody had marked"


def test_it_is_listed_and_stale_once_its_text_has_changed(store: ReviewStore) -> None:
    (stored,) = store.give([draft(TWICE, TWICE)], "Ann")
    same, other = layer_of([ANN]), layer_of([ANN], (TEXT + " Or so.",))
    assert verdicts_table([stored], [same]).rows[0][1:5] == (
        "n:25-30:Dose",
        "twice",
        "an entity that nobody had marked",
        "25-30:Dose",
    )
    assert staleness_test([same])(stored) is False and staleness_test([other])(stored) is True
    assert apply_verdicts(other, store.reviewed()).counts() == {"stale": 1}
    assert "'twice' an entity that nobody had marked" in given_in_words(stored)


def test_it_is_changed_withdrawn_and_taken_back(store: ReviewStore) -> None:
    store.give([draft(TWICE, TWICE)], "Ann")
    store.give([draft(TWICE, SPLIT_DOSE, seen=1)], "Ann")
    (key,) = (stored.verdict.key for stored in store.reviewed().standing)
    withdrawn = Verdict(key, "withdrawn", Seen.of("d0", TEXT, TWICE))
    store.give([Draft(withdrawn, 2)], "Ann")
    assert not store.reviewed().standing
    for right in ((SPLIT_DOSE,), (TWICE,)):
        store.undo("Ann")
        (stored,) = store.reviewed().standing
        assert stored.verdict.right == right
    store.undo("Ann")
    assert not store.reviewed().standing


def test_it_goes_to_another_store_and_back(store: ReviewStore, tmp_path_factory: pytest.TempPathFactory) -> None:
    store.give([draft(TWICE, TWICE, SPLIT_DOSE)], "Ann")
    lines = b"".join(export_lines(store.every()))
    other = ReviewStore(tmp_path_factory.mktemp("other") / "review.sqlite")
    with read_lines(io.BytesIO(lines), "f") as verdicts:
        import_verdicts(other, verdicts, "f")
    assert b"".join(export_lines(other.every())) == lines
    assert [stored.verdict for stored in other.reviewed().standing] == [
        stored.verdict for stored in store.reviewed().standing
    ]
    other.close()


@pytest.mark.parametrize(
    ("bad", "finding"),
    [
        (verdict("none", TWICE, "neither"), "without its spans"),
        (verdict("none", TWICE, "gold"), "without its spans"),
        (verdict("none", TWICE, "neither", ANN, [TWICE]), "with a partner"),
    ],
)
def test_what_it_cannot_be_is_refused(bad: StoredVerdict, finding: str, store: ReviewStore) -> None:
    with pytest.raises(FormatError, match=finding):
        store.give([Draft(bad.verdict)], "Ann")
