"""What-if scores are those of the layer with the verdicts applied, under every criterion and counting."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given as over
from hypothesis import strategies as st

from nereval_core.api.read import read
from nereval_core.corpus import Layer
from nereval_core.readers import Source
from nereval_core.review.apply import apply_verdicts
from nereval_core.review.apply.what_if import WHAT_IF_COLUMNS, exact_f1, what_if
from nereval_core.review.verdicts import Marked, StoredVerdict
from nereval_core.review.verdicts_on_records import key_of
from nereval_core.scoring import Counting, Settings, score_layers
from nereval_core.scoring.criteria import CRITERIA
from nereval_core.writers import pack_layer
from tests.review.test_apply import ANN, DRUG, GIVEN, LONG, MARKS, TEXT, TEXTS, layer_of, standing, verdict

EVERY = Settings(tuple(CRITERIA.values()))


def over_gold(gold: Layer, spans: list[Marked], texts: tuple[str, ...] = (TEXT,)) -> Layer:
    return replace(layer_of(spans, texts, "system"), documents=gold.documents)


@over(
    st.lists(MARKS, max_size=5),
    st.lists(MARKS, max_size=5),
    st.lists(GIVEN, max_size=6),
    st.sampled_from(["one-to-one", "each-side"]),
)
def test_it_is_the_score_of_the_layer_with_the_verdicts(
    own: list[Marked], theirs: list[Marked], given: list[StoredVerdict], counting: Counting
) -> None:
    gold = layer_of(own, TEXTS, cores={at: (span.start, span.start + 1) for at, span in enumerate(own[:2])})
    pred = over_gold(gold, theirs, TEXTS)
    settings = replace(EVERY, counting=counting)
    found = what_if(apply_verdicts(gold, standing(*given), [pred]), [pred], settings)
    before, after = (score_layers(side, pred, settings) for side in (gold, found.applied.layer))
    for criterion in settings.criteria:
        name = criterion.name
        both = found.counts.get(("system", name))
        known = [
            None if criterion.lacks(side) else scores.counts(name)
            for side, scores in ((gold, before), (found.applied.layer, after))
        ]
        assert (list(both) if both else [None, None]) == known
        for counts in known:
            if counts is not None:
                exact = exact_f1(counts)
                assert counts.f1 == (None if exact is None else pytest.approx(float(exact), abs=1e-15))


def test_alternatives_come_to_life_with_the_first_both() -> None:
    gold = layer_of([ANN, DRUG])
    pred = over_gold(gold, [ANN, LONG])
    found = what_if(apply_verdicts(gold, standing(verdict("gold", DRUG, "both", LONG)), [pred]), [pred], EVERY)
    table = found.table().set_index("criterion")
    assert list(found.table().columns) == list(WHAT_IF_COLUMNS)
    row = table.loc["alternatives"]
    assert row[["f1", "f1_difference"]].isna().all() and row["f1_after"] == 1.0 and row["POS_after"] == 2
    assert table.loc["strict", "f1"] == table.loc["strict", "f1_after"] == 0.5 and "core" not in table.index


def test_it_is_the_same_on_real_spans() -> None:
    gold = read("demo_data/pharmacology/gold.jsonl").layer
    pred = replace(read("demo_data/pharmacology/rules.jsonl").layer, documents=gold.documents, name="rules")
    given = []
    for span in range(0, len(gold), 3):
        key = key_of(gold, span, "gold")
        kind = ("pred", "neither", "gold")[span % 9 // 3]
        text = gold.documents.texts[int(gold.doc[span])]
        document = gold.documents.ids[int(gold.doc[span])]
        given.append(verdict("gold", key.span, kind, text=text, document=document))  # type: ignore[arg-type]
    settings = replace(EVERY, criteria=tuple(one for one in EVERY.criteria if one.lacks(gold) is None))
    found = what_if(apply_verdicts(gold, standing(*given), [pred]), [pred], settings)
    scores = score_layers(found.applied.layer, pred, settings)
    assert len(found.applied.layer) < len(gold) and found.applied.verdicts == len(given)
    for criterion in settings.criteria:
        assert found.counts["rules", criterion.name].after == scores.counts(criterion.name)


@over(st.lists(MARKS, max_size=5), st.lists(MARKS, max_size=5), st.lists(GIVEN, max_size=6))
def test_what_is_written_and_read_again_is_the_layer(
    own: list[Marked], theirs: list[Marked], given: list[StoredVerdict]
) -> None:
    gold = layer_of(own, TEXTS)
    found = apply_verdicts(gold, standing(*given), [over_gold(gold, theirs, TEXTS)])
    name, raw, notes = pack_layer(found.layer, "jsonl", "gold")
    again = read(Source.of_uploads([(name, raw)])).layer
    assert again.digest == found.layer.digest and not notes
