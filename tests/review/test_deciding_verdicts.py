"""The verdicts that decide an order: without them it turns, none is needless, and no smaller set than claimed does."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given as over
from hypothesis import settings as run
from hypothesis import strategies as st

from nereval_core.api.read import read
from nereval_core.corpus import Layer
from nereval_core.review.apply import AppliedVerdicts, apply_verdicts, deciding_verdicts, drop_verdicts
from nereval_core.review.apply.deciding_verdicts import Conclusion, Sums, _Effects, conclude, conclude_pairs
from nereval_core.review.apply.verdict_places import EFFECTIVE, group_verdicts, place_counts
from nereval_core.review.apply.what_if import exact_f1, what_if
from nereval_core.review.tables import conclusion_in_words, conclusion_table
from nereval_core.review.verdicts import Marked, StoredVerdict
from nereval_core.scoring import Counting, Settings, score_layers
from nereval_core.scoring.counts import Counts
from nereval_core.scoring.criteria import CRITERIA
from tests.review.test_apply import ANN, DRUG, GIVEN, LONG, MARKS, TEXT, TEXTS, TWICE, layer_of, standing, verdict

STRICT = Settings((CRITERIA["strict"],))


def sides(gold: Layer, *systems: list[Marked], texts: tuple[str, ...] = (TEXT,)) -> tuple[Layer, Layer]:
    one, two = (
        replace(layer_of(spans, texts, name), documents=gold.documents)
        for name, spans in zip("AB", systems, strict=True)
    )
    return one, two


def lead(found: AppliedVerdicts, systems: tuple[Layer, Layer], settings: Settings) -> int | None:
    """Return which system is ahead: 1 the first, -1 the second, 0 neither; None where a score is undefined."""
    counts = what_if(found, systems, settings).counts
    ratios = [
        None if (after := counts[one.name, settings.criteria[0].name].after) is None else exact_f1(after)
        for one in systems
        if counts
    ]
    if not ratios or ratios[0] is None or ratios[1] is None:
        return None
    return (ratios[0] > ratios[1]) - (ratios[0] < ratios[1])


def check(found: AppliedVerdicts, systems: tuple[Layer, Layer], settings: Settings) -> tuple[int, int]:
    """Hold what is said against every set of verdicts; return the number found and the least there is."""
    ahead = lead(found, systems, settings)
    said = conclude(found, systems, settings)
    if not ahead:
        assert said is None
        return 0, 0
    assert said is not None and said.better == systems[ahead < 0].name
    some = sorted({one.stored.uid for one in found.log if (one.done or one.reason) in EFFECTIVE})

    def turned(gone: tuple[str, ...]) -> bool:
        left, only = drop_verdicts(found.reviewed, gone), found.only_this_document
        now = lead(apply_verdicts(found.gold, left, systems, only_this_document=only), systems, settings)
        return now is not None and now != ahead

    least = next((size for size in range(1, len(some) + 1) if any(map(turned, combinations(some, size)))), None)
    if not said.verdicts:
        assert least is None or not said.firm
        return 0, least or 0
    gone = tuple({change.stored.uid for change in said.changes})
    assert least is not None and said.least <= least <= said.verdicts == len(gone)
    assert turned(gone) and not any(turned(tuple(set(gone) - {one})) for one in gone)
    return said.verdicts, least


@run(deadline=None)
@over(
    st.lists(MARKS, max_size=4),
    st.lists(MARKS, max_size=4),
    st.lists(MARKS, max_size=4),
    st.lists(GIVEN, max_size=6),
    st.sampled_from(["strict", "partial", "type", "muc", "lenient", "alternatives", "fragment"]),
    st.sampled_from(["one-to-one", "each-side"]),
    st.booleans(),
)
def test_tangled_spans_against_every_set_of_verdicts(
    own: list[Marked],
    first: list[Marked],
    second: list[Marked],
    given: list[StoredVerdict],
    criterion: str,
    counting: Counting,
    only: bool,
) -> None:
    gold = layer_of(own, TEXTS)
    systems = sides(gold, first, second, texts=TEXTS)
    found = apply_verdicts(gold, standing(*given), systems, only_this_document=only)
    check(found, systems, Settings((CRITERIA[criterion],), counting=counting))


@pytest.mark.parametrize("criterion", ["strict", "partial", "fragment"])
def test_close_races_against_every_set_of_verdicts(criterion: str) -> None:
    chance = random.Random(criterion)
    text = "ab cd " * 6
    found = []
    for _ in range(16):
        places = [Marked(((low, low + chance.choice((2, 5))),), "X") for low in range(0, 36, 6)]
        # Every verdict takes the side of A, in ways that change the number of gold spans too.
        own = [span for span in places if chance.random() < 0.8]
        short = [Marked(((span.start, span.start + 1),), "X") for span in places]
        theirs = [span for span in short if chance.random() < 0.7]
        gold = layer_of(own, (text,))
        systems = sides(gold, theirs, [span for span in places if chance.random() < 0.5], texts=(text,))
        given = []
        for at, span in enumerate(places):
            if span in own:
                partner = short[at] if short[at] in theirs else None
                given.append(verdict("gold", span, "pred", partner, text=text))
            elif short[at] in theirs:
                given.append(verdict("pred", short[at], "pred", text=text))
        found.append(check(apply_verdicts(gold, standing(*given), systems), systems, Settings((CRITERIA[criterion],))))
    # The search finds the least in nearly all of them, and sets of several.
    several = [row for row in found if row[0] > 1]
    assert len(several) > 3 and sum(row[0] > row[1] for row in found) < 3


def test_it_is_said_what_is_claimed() -> None:
    gold = layer_of([ANN, DRUG, TWICE])
    systems = sides(gold, [ANN, LONG, TWICE], [ANN, DRUG])
    given = [verdict("gold", DRUG, "pred", LONG), verdict("gold", TWICE, "gold")]
    found = apply_verdicts(gold, standing(*given), systems)
    said = conclude(found, systems, STRICT)
    assert said is not None and (said.better, said.verdicts, said.least) == ("A", 1, 1)
    assert conclusion_in_words(said) == "A is better than B only while this verdict stands"
    assert [change.stored for change in said.changes] == given[:1]
    assert said.f1 == (1.0, 0.4) and said.without == (pytest.approx(2 / 3), 0.8)
    assert conclude_pairs(found, systems, STRICT) == {("strict", "A", "B"): said}
    nothing = conclude(apply_verdicts(gold, standing(given[1]), systems), systems, STRICT)
    assert nothing is not None and nothing.firm
    assert conclusion_in_words(nothing) == "B is better than A whichever of the verdicts fall"


def test_verdicts_in_one_tangle_are_one_group() -> None:
    gold = layer_of([ANN, DRUG, TWICE])
    systems = sides(gold, [LONG, TWICE], [ANN])
    joined = Marked(((0, 12),), "Person")
    given = [
        verdict("gold", ANN, "pred", joined),
        verdict("gold", DRUG, "pred", LONG),
        verdict("gold", TWICE, "pred"),
        verdict("pred", LONG, "gold"),
    ]
    found = apply_verdicts(gold, standing(*given), systems)
    groups = group_verdicts(found, systems, by_token=False)
    assert [[one.verdict.key.span for one in group.verdicts] for group in groups] == [[ANN, DRUG], [TWICE]]


def test_a_document_with_many_verdicts_in_one_tangle() -> None:
    text = "x" * 40
    whole = Marked(((0, 40),), "X")
    parts = [Marked(((at, at + 1),), "X") for at in range(0, 20, 2)]
    gold = layer_of([whole, *parts], (text,))
    systems = sides(gold, [whole], parts[:3], texts=(text,))
    given = [verdict("gold", part, "pred", text=text) for part in parts]
    found = apply_verdicts(gold, standing(*given), systems)
    said = conclude(found, systems, STRICT)
    assert said is not None and said.better == "A" and said.verdicts and not said.firm
    assert said.least in (1, 2) and len({change.stored.verdict.key.record for change in said.changes}) == said.verdicts


SENTENCES = [
    ({"firm": True}, "A is better than B whichever of the verdicts fall", "whichever verdicts fall"),
    ({}, "A is better than B; no verdicts were found that this hangs on", "as far as is known"),
    (
        {"verdicts": 1, "least": 1},
        "A is better than B only while this verdict stands",
        "only while this verdict stands",
    ),
    (
        {"verdicts": 3, "least": 3},
        "A is better than B only while these 3 verdicts stand; no smaller set does it",
        "only while these 3 stand",
    ),
    (
        {"verdicts": 3, "least": 2},
        "A is better than B only while these 3 verdicts stand; none of them can be left out, and no set of fewer than "
        "2 does it",
        "only while these 3 stand",
    ),
]


@pytest.mark.parametrize(("fields", "sentence", "duration"), SENTENCES)
def test_a_conclusion_in_words_claims_what_was_proven(fields: dict[str, Any], sentence: str, duration: str) -> None:
    row = Conclusion("A", "B", "strict", (0.5, 0.4), **fields)
    assert conclusion_in_words(row) == sentence
    table = conclusion_table([row])
    assert (table.row(0)["holds"], table.row(0)["f1"]) == (duration, 0.5)


def demo_corpus() -> tuple[AppliedVerdicts, tuple[Layer, Layer]]:
    """Return the demo's gold with every second span refused, and two annotators."""
    gold = read("demo_data/pharmacology/gold.jsonl").layer
    one, two = (
        replace(read(f"demo_data/pharmacology/{name}.jsonl").layer, documents=gold.documents, name=name)
        for name in ("annotator-1", "annotator-2")
    )
    given = []
    for span in range(0, len(gold), 2):
        number = int(gold.doc[span])
        mark = Marked(((int(gold.start[span]), int(gold.end[span])),), gold.label(span))
        text, name = gold.documents.texts[number], gold.documents.ids[number]
        given.append(verdict("gold", mark, "pred", text=text, document=name))
    return apply_verdicts(gold, standing(*given), (one, two)), (one, two)


@pytest.mark.parametrize("criterion", ["strict", "type", "fragment"])
def test_counts_of_places_add_up_to_those_of_the_whole(criterion: str) -> None:
    found, systems = demo_corpus()
    settings = Settings((CRITERIA[criterion],))
    groups = group_verdicts(found, systems, by_token=criterion == "fragment")
    places = [(place, group.verdicts) for group in groups for place in group.places]
    assert sum(len(group.verdicts) for group in groups) == found.verdicts > 50
    change = sum(
        sign * place_counts(found, [(place, given if sign > 0 else ()) for place, given in places], systems, settings)
        for sign in (1, -1)
    ).sum(axis=0)
    for number, system in enumerate(systems):
        before, after = (score_layers(gold, system, settings).counts(criterion) for gold in (found.gold, found.layer))
        expected = np.array((after.gold, after.pred)) - np.array((before.gold, before.pred))
        assert expected.any() and np.array_equal(change[number], expected)


def test_the_demo_is_decided_within_the_bound() -> None:
    found, systems = demo_corpus()
    settings = Settings(tuple(CRITERIA[name] for name in ("strict", "type", "fragment")))
    conclusions = conclude_pairs(found, systems, settings)
    assert len(conclusions) == 3
    for row in conclusions.values():
        assert row.firm or row.least <= row.verdicts


def plain_search(effects: _Effects, start: Sums) -> list[int]:
    """Drop verdicts by the rule of the search, trying each step of each group anew every time."""
    dropped, now = [0] * len(effects.groups), start

    def after(group: int, choice: int) -> tuple[Sums, Fraction]:
        old, new = effects.sums(((group, dropped[group]), (group, choice)))
        sums = tuple(value - less + more for value, less, more in zip(now, old, new, strict=True))
        return sums, lead_of(sums)

    while (ahead := lead_of(now)) > 0:
        steps = []
        for group in range(len(dropped)):
            for choice in effects.larger(group, dropped[group]):
                sums, ahead_after = after(group, choice)
                cost = choice.bit_count() - dropped[group].bit_count()
                rank = Fraction(-cost) if ahead_after <= 0 else (ahead - ahead_after) / cost
                steps.append(((ahead_after <= 0, rank, -group, -choice), sums))
        (_, _, group, choice), now = max(steps)
        dropped[-group] = -choice
    return dropped


def lead_of(sums: Sums) -> Fraction:
    one, two = (exact_f1(Counts(sums[low : low + 5], sums[low + 5 : low + 10])) for low in (0, 10))
    assert one is not None and two is not None
    return one - two


@pytest.mark.parametrize("criterion", ["strict", "partial", "type"])
def test_the_search_takes_the_steps_of_a_plain_one_with_few_fractions(
    criterion: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = random.Random(criterion)
    text = "ab cd " * 120
    whole = [Marked(((low, low + chance.choice((2, 5))),), "X") for low in range(0, 720, 6)]
    short = [Marked(((span.start, span.start + 1),), chance.choice("XY")) for span in whole]
    gold = layer_of(whole, (text,))
    first = [chance.choice((span, part)) for span, part in zip(whole, short, strict=True)]
    systems = sides(gold, first, [span for span in whole if chance.random() < 0.5], texts=(text,))
    given = [
        verdict("gold", span, "pred", part if part in first else None, text=text)
        for span, part in zip(whole, short, strict=True)
    ]
    found = apply_verdicts(gold, standing(*given), systems)
    settings = Settings((CRITERIA[criterion],))
    effects = deciding_verdicts._Effects(found, systems, settings)
    start = deciding_verdicts._sums(found, systems, settings)
    assert start is not None
    if lead_of(start) < 0:
        systems = systems[::-1]
        effects, start = deciding_verdicts._Effects(found, systems, settings), (*start[10:], *start[:10])
    expected = plain_search(effects, start)
    leads: list[Fraction | None] = []

    def counted_lead(sums: Sums | None) -> Fraction | None:
        leads.append(exact(sums))
        return leads[-1]

    exact = deciding_verdicts._lead
    monkeypatch.setattr(deciding_verdicts, "_lead", counted_lead)
    steps, now = deciding_verdicts._Steps(effects), start
    while (ahead := lead_of(now)) > 0:
        after = steps.take(now, ahead)
        assert after is not None
        now = after
    assert steps.dropped == expected and sum(map(int.bit_count, expected)) > 10
    # Each step of the plain search makes a fraction for each verdict that still stands.
    assert len(leads) < 5 * sum(map(int.bit_count, expected))
