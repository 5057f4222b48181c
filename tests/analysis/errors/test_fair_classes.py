"""The classes of FairEval: which records hold the errors of each, and how many are fewer than the errors."""

from __future__ import annotations

import random

import numpy as np
import pytest

from nereval_core.analysis.errors.error_classes import STRICT
from nereval_core.analysis.errors.fair_classes import IN_WORDS, fair_class_table, fair_errors, name_errors
from nereval_core.conventions.faireval.matching import CLASSES
from nereval_core.ledger import ledger
from nereval_core.records.queries import YES, Query
from nereval_core.scoring import score_layers
from nereval_core.scoring.examples import Example, decide
from tests.support.spans import documents, make, random_spans

CASES = [
    # Two parts of a gold span: the second has a record of its own, under strict spurious.
    ("[a b c|X]", "[a|X] b [c|X]", {"BES": ["INC", "SPU"]}),
    ("[a|X] b [c|X]", "[a b c|X]", {"BEL": ["INC", "MIS"]}),
    # The prediction has tokens left for the gold span of another type too.
    ("[a|Y] [b|X]", "[a b|X]", {"BEL": ["INC"], "LBE": ["MIS"]}),
    ("[a b|X] c", "[a b|Y] [c|X]", {"LE": ["INC"], "FP": ["SPU"]}),
    ("[a b|X] [c|Z]", "[a b|X] [c|Z]", {"TP": ["COR", "COR"]}),
]


@pytest.mark.parametrize(("gold", "prediction", "expected"), CASES)
def test_records_that_hold_the_errors_of_a_class(gold: str, prediction: str, expected: dict[str, list[str]]) -> None:
    scores = decide(Example("", gold, prediction))
    records = ledger(scores, STRICT, scores.read)
    held = {}
    for name in CLASSES:
        found = records.positions(Query(having=((f"fair {name}", YES),)))
        if len(found):
            held[name] = [("COR", "INC", "PAR", "MIS", "SPU")[code] for code in records.about.rows.decision[found]]
    assert held == expected


def test_crowded_text_says_where_a_record_holds_several_errors() -> None:
    rng = random.Random(35)
    over = documents(300, 2)
    sides = [make(name, over, [(doc, span) for doc in range(300) for span in random_spans(rng, 6)]) for name in "gp"]
    scores = score_layers(*sides)
    errors, table = fair_errors(scores), ledger(scores, STRICT, scores.read)
    matches = name_errors(scores).rows
    notes = []
    for number, name in enumerate(CLASSES):
        count = int(errors.classes["records"].iat[number])
        places = table.positions(Query(having=((f"fair {name}", YES),)))
        assert len(places) == errors.records[name] <= count == np.count_nonzero(matches.error == number) > 0
        # A record that is opened holds a span of an error of the class.
        gold, pred = (spans[matches.error == number] for spans in (matches.gold, matches.pred))
        held = table.about.rows.take(places)
        assert (np.isin(held.gold, gold[gold >= 0]) | np.isin(held.pred, pred[pred >= 0])).all()
        if len(places) < count:
            notes.append(f"{count:,} {name} in {len(places):,}")
    assert len(notes) > 1
    assert fair_class_table(errors, "p").notes == (f"a record can hold several errors: {', '.join(notes)}",)


def test_every_class_is_explained() -> None:
    assert tuple(IN_WORDS) == CLASSES
