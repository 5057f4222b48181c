"""Verdicts applied to gold: what each kind does on each side, what it does not, and that nothing hangs on order."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given as over
from hypothesis import strategies as st
from msgspec import structs

from nereval_core.corpus import Documents, Layer, layer
from nereval_core.review.apply import AppliedVerdicts, apply_verdicts, drop_verdicts, select_verdicts
from nereval_core.review.apply.corrected_copy import LOG_COLUMNS, log_rows, signature
from nereval_core.review.standing_verdicts import Reviewed
from nereval_core.review.tables import layer_changes, lost_properties, untaken_properties
from nereval_core.review.verdicts import Key, Kind, Marked, Seen, Side, StoredVerdict, Verdict, text_digest
from nereval_core.review.verdicts_on_records import key_of, marked

TEXT = "Ann took aspirin tablets twice."
ANN, DRUG, LONG, TWICE = (
    Marked(((0, 3),), "Person"),
    Marked(((9, 16),), "Drug"),
    Marked(((9, 24),), "Drug"),
    Marked(((25, 30),), "Dose"),
)
OTHER = Marked(((9, 16),), "Chemical")
SPLIT = Marked(((0, 3), (9, 16)), "Drug")
BEYOND = Marked(((25, 99),), "Dose")


def layer_of(spans: Sequence[Marked], texts: Sequence[str] = (TEXT,), name: str = "gold", **extras: object) -> Layer:
    """Return a layer that has the same spans in each text."""
    documents = Documents(tuple(f"d{number}" for number in range(len(texts))), tuple(texts))
    rows = [(number, span) for number in range(len(texts)) for span in spans]
    parts = {at: span.fragments for at, (_, span) in enumerate(rows) if len(span.fragments) > 1}
    columns = [[doc for doc, _ in rows], *([getattr(span, edge) for _, span in rows] for edge in ("start", "end"))]
    kinds = [span.type for _, span in rows]
    return layer(name, documents, *columns, kinds, extras={"fragments": parts, **extras})  # type: ignore[arg-type]


def verdict(
    side: Side,
    span: Marked,
    kind: Kind,
    partner: Marked | None = None,
    right: Sequence[Marked] = (),
    *,
    who: str = "Ann",
    text: str = TEXT,
    document: str = "d0",
) -> StoredVerdict:
    key = Key(text_digest(text), side, span)
    said = Verdict(key, kind, Seen(document, span.quote(text)), partner, tuple(right))
    return StoredVerdict(said, who, "2026-01-01T00:00:00+00:00", 1, f"{key.record} {document}", "")


def standing(*given: StoredVerdict) -> Reviewed:
    return Reviewed({one.verdict.key.record: one for one in given}, len(given))


def spans_of(found: Layer, document: int = 0) -> list[Marked]:
    return [marked(found, span) for span in range(*found.first[document : document + 2].tolist())]


def said(found: AppliedVerdicts) -> list[tuple[str, str]]:
    """Return by row of the log what was done, or why nothing was, and the spans after it."""
    return [(change.done or change.reason, " ".join(change.quotes)) for change in found.log]


CASES = {
    "gold kept": (verdict("gold", DRUG, "gold", LONG), [ANN, DRUG], "kept", "aspirin"),
    "gold gives way": (verdict("gold", DRUG, "pred", LONG), [ANN, LONG], "replaced", "aspirin tablets"),
    "gold goes": (verdict("gold", DRUG, "pred"), [ANN], "removed", ""),
    "gold gives way to what gold has": (verdict("gold", DRUG, "pred", ANN), [ANN], "replaced", "Ann"),
    "neither, one right": (verdict("gold", DRUG, "neither", LONG, [OTHER]), [ANN, OTHER], "replaced", "aspirin"),
    "neither, two right": (
        verdict("gold", DRUG, "neither", LONG, [TWICE, OTHER]),
        [ANN, OTHER, TWICE],
        "replaced",
        "aspirin twice",
    ),
    "neither, no entity": (verdict("gold", DRUG, "neither", LONG), [ANN], "removed", ""),
    "neither, itself among them": (verdict("gold", DRUG, "neither", None, [DRUG]), [ANN, DRUG], "kept", "aspirin"),
    "both": (verdict("gold", DRUG, "both", LONG), [ANN, DRUG], "alternative added", "aspirin"),
    "both alike": (verdict("gold", DRUG, "both", DRUG), [ANN, DRUG], "nothing to do", "aspirin"),
    "both, other type": (verdict("gold", DRUG, "both", OTHER), [ANN, OTHER, DRUG], "both kept", "aspirin aspirin"),
    "both, no partner": (verdict("gold", DRUG, "both"), [ANN, DRUG], "kept", "aspirin"),
    "both, in pieces": (verdict("gold", DRUG, "both", SPLIT), [ANN, SPLIT, DRUG], "both kept", "Ann … aspirin aspirin"),
    "unclear": (verdict("gold", DRUG, "unclear", LONG), [ANN, DRUG], "unclear", ""),
    "gold in pieces comes in": (verdict("gold", DRUG, "pred", SPLIT), [ANN, SPLIT], "replaced", "Ann … aspirin"),
    "beyond the text": (verdict("gold", DRUG, "neither", None, [BEYOND]), [ANN, DRUG], "outside the text", ""),
    "a type that is not text": (
        verdict("gold", DRUG, "neither", None, [Marked(((0, 3),), "\ud800")]),
        [ANN, DRUG],
        "outside the text",
        "",
    ),
    "span gone": (verdict("gold", TWICE, "pred"), [ANN, DRUG], "stale", ""),
    "span of another layer": (verdict("gold", LONG, "pred"), [ANN, DRUG], "on another layer", ""),
    "text changed": (verdict("gold", DRUG, "pred", text="Ann took aspirin."), [ANN, DRUG], "stale", ""),
    "prediction refused": (verdict("pred", LONG, "gold"), [ANN, DRUG], "nothing to do", ""),
    "prediction taken": (verdict("pred", LONG, "pred"), [ANN, DRUG, LONG], "added", "aspirin tablets"),
    "both, prediction alone": (verdict("pred", LONG, "both"), [ANN, DRUG, LONG], "added", "aspirin tablets"),
    "prediction, right": (verdict("pred", LONG, "neither", None, [TWICE]), [ANN, DRUG, TWICE], "added", "twice"),
    "prediction, none right": (verdict("pred", LONG, "neither"), [ANN, DRUG], "nothing to do", ""),
    "prediction unclear": (verdict("pred", LONG, "unclear"), [ANN, DRUG], "unclear", ""),
    "prediction that gold has": (verdict("pred", DRUG, "pred"), [ANN, DRUG], "would repeat a span", ""),
    "refused, but gold has it": (verdict("pred", DRUG, "gold"), [ANN, DRUG], "gold has the span", ""),
    "right that gold has": (verdict("pred", LONG, "neither", None, [ANN]), [ANN, DRUG], "would repeat a span", ""),
    "right that is all that gold has": (
        verdict("pred", LONG, "neither", None, [ANN, DRUG]),
        [ANN, DRUG],
        "would repeat a span",
        "",
    ),
    "right that gold has in part": (
        verdict("pred", LONG, "neither", None, [ANN, TWICE]),
        [ANN, DRUG, TWICE],
        "added",
        "Ann twice",
    ),
    "prediction gone": (verdict("pred", TWICE, "pred"), [ANN, DRUG], "stale", ""),
}


@pytest.mark.parametrize(("given", "after", "done", "quotes"), CASES.values(), ids=CASES)
def test_each_kind_on_each_side(given: StoredVerdict, after: list[Marked], done: str, quotes: str) -> None:
    gold = layer_of([ANN, DRUG])
    found = apply_verdicts(gold, standing(given), [layer_of([LONG, OTHER])])
    assert (spans_of(found.layer), said(found)) == (after, [(done, quotes)])
    assert (found.layer is gold) == (after == [ANN, DRUG] and done != "alternative added")
    assert found.counts() == {done: 1} and found.verdicts == len(found.changes)
    assert found.layer.documents is gold.documents


def test_both_gives_gold_an_alternative_and_keeps_those_that_it_has() -> None:
    gold = layer_of([ANN, DRUG], alternatives={1: ((4, 16),)})
    found = apply_verdicts(gold, standing(verdict("gold", DRUG, "both", LONG)))
    assert found.layer.alternatives == {1: ((4, 16), (9, 24))}
    again = apply_verdicts(found.layer, standing(verdict("gold", DRUG, "both", LONG)))
    assert again.layer is found.layer and said(again) == [("nothing to do", "aspirin")]


TOUCHING = {
    "two give way to one": ([verdict("gold", ANN, "pred", LONG), verdict("gold", DRUG, "pred", LONG)], [LONG]),
    "one gives way, one comes in": ([verdict("gold", DRUG, "pred", LONG), verdict("pred", LONG, "pred")], [ANN, LONG]),
    "two bring one in": (
        [verdict("pred", LONG, "neither", None, [TWICE]), verdict("pred", OTHER, "neither", None, [TWICE])],
        [ANN, DRUG, TWICE],
    ),
    "what comes in gives way itself": (
        [verdict("gold", DRUG, "pred", LONG), verdict("gold", LONG, "neither", None, [TWICE])],
        [ANN, TWICE],
    ),
    "what comes in has an alternative": (
        [verdict("gold", ANN, "pred", TWICE), verdict("gold", TWICE, "both", Marked(((17, 30),), "Dose"))],
        [DRUG, TWICE],
    ),
    "a circle changes nothing": (
        [verdict("gold", DRUG, "pred", LONG), verdict("gold", LONG, "pred", DRUG)],
        [ANN, DRUG],
    ),
    "two change places": ([verdict("gold", DRUG, "pred", ANN), verdict("gold", ANN, "pred", DRUG)], [ANN, DRUG]),
}


@pytest.mark.parametrize(("given", "after"), TOUCHING.values(), ids=TOUCHING)
def test_verdicts_that_touch_one_another(given: list[StoredVerdict], after: list[Marked]) -> None:
    for order in (given, given[::-1]):
        found = apply_verdicts(layer_of([ANN, DRUG]), standing(*order), [layer_of([LONG, OTHER])])
        assert spans_of(found.layer) == after


ON_D0, ON_D1 = verdict("gold", DRUG, "pred"), verdict("gold", DRUG, "pred", LONG, document="d1")
REPEATED = {
    # Verdicts in the order in which they were given; spans of three documents, two of one text; applied verdicts,
    # places, documents, and documents left alone: of the document that each was given on, then of every document.
    "on the first": ([ON_D0], [[ANN], [ANN, DRUG]], (1, 1, 1, 1), [[ANN], [ANN]], (1, 2, 2, 0)),
    "on the second": ([ON_D1], [[ANN, DRUG], [ANN, LONG]], (1, 1, 1, 1), [[ANN, LONG], [ANN, LONG]], (1, 2, 2, 0)),
    "on each": ([ON_D0, ON_D1], [[ANN], [ANN, LONG]], (2, 2, 2, 0), [[ANN, LONG], [ANN, LONG]], (1, 2, 2, 0)),
    "of two spans": (
        [ON_D0, verdict("gold", ANN, "gold", document="d1")],
        [[ANN], [ANN, DRUG]],
        (2, 2, 2, 2),
        [[ANN], [ANN]],
        (2, 4, 2, 0),
    ),
    "on a document that is not there": (
        [verdict("gold", DRUG, "pred", document="old")],
        [[ANN, DRUG], [ANN, DRUG]],
        (0, 0, 0, 2),
        [[ANN], [ANN]],
        (1, 2, 2, 0),
    ),
    "taken back on the second": (
        [
            ON_D0,
            ON_D1,
            structs.replace(
                ON_D1, verdict=structs.replace(ON_D1.verdict, kind="withdrawn"), uid="back", undoes=ON_D1.uid
            ),
        ],
        [[ANN], [ANN, DRUG]],
        (1, 1, 1, 1),
        [[ANN], [ANN]],
        (1, 2, 2, 0),
    ),
}


@pytest.mark.parametrize(("given", "own", "counted", "every", "every_counted"), REPEATED.values(), ids=REPEATED)
def test_a_verdict_on_a_text_that_repeats(
    given: list[StoredVerdict],
    own: list[list[Marked]],
    counted: tuple[int, ...],
    every: list[list[Marked]],
    every_counted: tuple[int, ...],
) -> None:
    gold = layer_of([ANN, DRUG], [TEXT, TEXT, "Another text, as long as the first one."])
    reviewed = Reviewed().after(structs.replace(one, number=at) for at, one in enumerate(given, start=1))
    for only, spans, numbers in ((True, own, counted), (False, every, every_counted)):
        found = apply_verdicts(gold, reviewed, only_this_document=only)
        assert [spans_of(found.layer, number) for number in range(3)] == [*spans, [ANN, DRUG]]
        assert (found.verdicts, found.places, found.documents, found.spared) == numbers
        assert f"verdicts applied {numbers[0]} | places {numbers[1]} | documents with verdicts {numbers[2]}" in (
            signature(found)
        )
        rows = [dict(zip(LOG_COLUMNS, row, strict=True)) for row in log_rows(found.changes)]
        assert len({row["verdict id"] for row in rows}) == numbers[0] and len(rows) == numbers[1]
        assert not only or all(row["document"] == row["given on"] for row in rows)
        assert apply_verdicts(found.layer, reviewed, only_this_document=only).layer.digest == found.layer.digest


def test_a_text_of_one_document_is_changed_whatever_the_document_is_called() -> None:
    found = apply_verdicts(
        layer_of([ANN, DRUG]), standing(verdict("gold", DRUG, "pred", document="as it was called once"))
    )
    assert spans_of(found.layer) == [ANN]


def test_spans_that_repeat_one_another_go_together_and_what_stays_keeps_what_it_has() -> None:
    extras = {
        "ids": {0: "T1", 1: "T2", 2: "T3"},
        "links": {0: ("P1",), 1: ("D1",)},
        "cores": {1: (9, 12)},
        "scores": {0: 0.5, 2: 0.25},
        "meta": {0: {"sure": True}},
    }
    gold = layer_of([ANN, DRUG, DRUG], **extras)
    found = apply_verdicts(gold, standing(verdict("gold", DRUG, "pred", TWICE))).layer
    assert spans_of(found) == [ANN, TWICE]
    assert (found.ids, found.links, found.cores) == ({0: "T1"}, {0: ("P1",)}, {})
    assert (found.scores, found.meta) == ({0: 0.5}, {0: {"sure": True}})


def test_a_prediction_that_comes_in_brings_what_it_has_and_what_a_changed_span_loses_is_counted() -> None:
    gold = layer_of([ANN, DRUG], meta={0: {"Negation": True}, 1: {"Negation": True, "sure": "no"}})
    system = layer_of([LONG, TWICE], meta={0: {"sure": "yes"}, 1: {"sure": "no"}}, links={1: ("D1",)})
    system = replace(system, documents=gold.documents)
    verdicts = standing(verdict("gold", DRUG, "pred", LONG), verdict("pred", TWICE, "pred"))
    found = apply_verdicts(gold, verdicts, [system]).layer
    assert spans_of(found) == [ANN, LONG, TWICE]
    assert dict(found.meta) == {0: {"Negation": True}, 1: {"sure": "yes"}, 2: {"sure": "no"}}
    assert dict(found.links) == {2: ("D1",)}
    # The span that gave way was negated: its place has metadata of the other side, and the loss is still one.
    (lost,) = lost_properties(gold, found, layer_changes(gold, found))
    assert re.fullmatch(r"metadata of 1 span, in \S+ at \d+-\d+ '.+'", lost)
    # Of equal spans, what the other layer alone has is counted too; scores are its own.
    other = replace(found, meta={0: {"x": 1}, 1: {"sure": "yes"}}, scores={0: 0.5})
    (untaken,) = untaken_properties(other, found)
    assert untaken.startswith("metadata of 1 span, in ")


def test_a_layer_stays_in_the_order_in_which_it_was_read() -> None:
    gold = layer_of([TWICE, DRUG, ANN])
    found = apply_verdicts(gold, standing(verdict("gold", DRUG, "pred", LONG))).layer
    assert found.order is not None
    read = [span for _, span in sorted(zip(found.order.tolist(), spans_of(found), strict=True))]
    assert read == [TWICE, ANN, LONG]


def test_without_other_layers_predictions_are_taken_to_be_there() -> None:
    given = [verdict("gold", LONG, "pred"), verdict("pred", TWICE, "pred")]
    found = apply_verdicts(layer_of([ANN]), standing(*given))
    assert spans_of(found.layer) == [ANN, TWICE] and said(found) == [("added", "twice"), ("stale", "")]


def test_two_that_contradict_one_another_are_told_apart() -> None:
    given = [verdict("gold", DRUG, "pred", LONG), verdict("pred", LONG, "gold")]
    found = apply_verdicts(layer_of([ANN, DRUG]), standing(*given), [layer_of([LONG])])
    assert spans_of(found.layer) == [ANN, LONG]
    assert said(found) == [("replaced", "aspirin tablets"), ("gold has the span", "")]


def test_verdicts_are_chosen_by_reviewer_and_kind() -> None:
    every = standing(verdict("gold", DRUG, "pred"), verdict("gold", ANN, "neither", who="Bob"))
    gold = layer_of([ANN, DRUG])
    for chosen, after in (
        (select_verdicts(every), []),
        (select_verdicts(every, who=["Bob"]), [DRUG]),
        (select_verdicts(every, kinds=["pred"]), [ANN]),
        (select_verdicts(every, who=["Bob"], kinds=["pred"]), [ANN, DRUG]),
        (drop_verdicts(every, [every.of(key_of(gold, 0, "gold")).uid]), [ANN]),
    ):
        assert spans_of(apply_verdicts(gold, chosen).layer) == after


TEXTS = ("abcdef", "abcdef", "bacdef")
WHOLE = st.builds(
    lambda start, size, kind: Marked(((start, min(start + size, 6)),), kind),
    st.integers(0, 5),
    st.integers(1, 3),
    st.sampled_from("XY"),
)
SPLIT_UP = st.builds(
    lambda edges, kind: Marked(((edges[0], edges[1]), (edges[2], edges[3])), kind),
    st.sets(st.integers(0, 6), min_size=4, max_size=4).map(sorted),
    st.sampled_from("XY"),
)
MARKS = WHOLE | WHOLE | SPLIT_UP
ENTITIES = st.builds(
    lambda span, right, number: verdict(
        "none", span, "neither", None, right, text=TEXTS[number], document=f"d{number}"
    ),
    MARKS,
    st.lists(MARKS, min_size=1, max_size=2),
    st.integers(0, 2),
)
GIVEN = ENTITIES | st.builds(
    lambda side, span, kind, partner, right, number: verdict(
        side,
        span,
        kind,
        partner,
        right if kind == "neither" else (),
        text=TEXTS[number],
        document=f"d{number}",
    ),
    st.sampled_from(["gold", "pred"]),
    MARKS,
    st.sampled_from(["gold", "pred", "both", "neither", "unclear"]),
    st.none() | MARKS,
    st.lists(MARKS, max_size=2),
    st.integers(0, 2),
)


@over(st.lists(MARKS, max_size=6), st.lists(MARKS, max_size=4), st.lists(GIVEN, max_size=8), st.randoms())
def test_order_is_free_and_twice_is_once(
    own: list[Marked], theirs: list[Marked], given: list[StoredVerdict], chance: random.Random
) -> None:
    gold, pred = layer_of(own, TEXTS), layer_of(theirs, TEXTS, "system")
    reviewed = standing(*given)
    only = chance.random() < 0.5
    found = apply_verdicts(gold, reviewed, [pred], only_this_document=only)
    shuffled = list(reviewed.last.values())
    chance.shuffle(shuffled)
    other = apply_verdicts(gold, standing(*shuffled), [pred], only_this_document=only)
    assert other.layer.digest == found.layer.digest and other.log == found.log
    again = apply_verdicts(found.layer, reviewed, [pred], only_this_document=only)
    assert again.layer.digest == found.layer.digest
    before = [(number, span) for number in range(len(TEXTS)) for span in spans_of(gold, number)]
    after = [(number, span) for number in range(len(TEXTS)) for span in spans_of(found.layer, number)]
    assert all(after.count(one) <= max(1, before.count(one)) for one in after)
    # One row of the log for each verdict and document that it concerns, done or not.
    assert len(found.log) == sum(
        text_digest(text) == one.verdict.key.text and (not only or one.verdict.seen.document == f"d{number}")
        for one in reviewed.standing
        for number, text in enumerate(TEXTS)
    )


@over(st.lists(MARKS, max_size=6))
def test_gold_is_right_everywhere_changes_nothing(own: list[Marked]) -> None:
    gold = layer_of(own, TEXTS)
    every = [verdict("gold", span, "gold", text=text) for span in own for text in TEXTS]
    found = apply_verdicts(gold, standing(*every), [layer_of([], TEXTS)], only_this_document=False)
    assert found.layer is gold and not found.open and set(found.counts()) <= {"kept"}
