"""What queries ask of records about other criteria: each value's count is the number of records that it opens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pytest

from nereval_core.analysis.criteria.gap import CAUSES, gap, gap_sentence, recover_spans, recovered_sentence
from nereval_core.analysis.criteria.sensitivity import document_folds, merge_types
from nereval_core.analysis.criteria.steps import ladder_sentence, ladder_steps, step_between
from nereval_core.analysis.crosstab import decision_matrix, vanished_confusions
from nereval_core.analysis.sentences import RecordCount, sentence_text
from nereval_core.corpus import Layer
from nereval_core.ledger import Ledger, ledger
from nereval_core.ledger.attributes.comparisons import merge_of, merge_words
from nereval_core.records.queries import Query
from nereval_core.records.tables import DECISIONS
from nereval_core.scoring import Scores, score_layers
from nereval_core.scoring.criteria import APPLICABLE
from pages.shared.data.loading import load_demo
from pages.shared.view import View
from pages.shared.view.link import read_link, write_link
from pages.shared.view.queries import query_of, view_of
from tests.support.spans import settings

DEMO = load_demo("biology").corpus
SCORES = score_layers(DEMO.gold, DEMO.system("rules"), settings(*APPLICABLE))
MERGE = dict.fromkeys(("DNA", "RNA", "protein"), "macro")


@dataclass(frozen=True)
class Same:
    """The scores at hand, whatever is asked for."""

    systems: Sequence[str] = ("rules",)

    @property
    def gold(self) -> Layer:
        return DEMO.gold

    def scores(self, system: str | None = None, names: Sequence[str] = ()) -> Scores:
        return SCORES


def listed(name: str) -> Ledger:
    return ledger(SCORES, name, (DEMO.gold, DEMO.system("rules")), Same())


def opened(records: Ledger, query: Query) -> int:
    """Count the records of a query as a link opens them."""
    view, notices = read_link(write_link(view_of(View(), query)))
    assert not notices and query_of(view) == replace(query, decision=query.decision or DECISIONS)
    count = records.total(query).records
    assert len(records.page(query, rows=10_000)) == count
    return count


@pytest.mark.parametrize(("one", "other"), [("strict", "type"), ("partial", "right"), ("left", "lenient")])
def test_the_parts_of_a_gap_open_their_records(one: str, other: str) -> None:
    found = gap(SCORES, one, other)
    records = listed(found.loose)
    shown = found.table()
    for row in shown.itertuples():
        cause = (f"gap {found.strict}", row.cause)
        for name in ("more", "less"):
            query = Query(decision=DECISIONS, having=(cause, (f"credit {found.strict}", name)))
            assert opened(records, query) == getattr(row, name)
    same = Query(decision=DECISIONS, having=((f"credit {found.strict}", "same"),))
    assert opened(records, same) + shown[["more", "less"]].to_numpy().sum() == len(DEMO.gold)
    assert records.attribute(f"gap {found.strict}") is not None and len(CAUSES) == 7
    numbers = [part for part in gap_sentence(found) if isinstance(part, RecordCount)]
    for criterion in (one, other, "muc"):
        assert [opened(listed(criterion), part.query) for part in numbers] == [part.number for part in numbers] != []


@pytest.mark.parametrize("criterion", ["strict", "muc", "lenient"])
def test_the_steps_of_the_ladder_and_their_parts_open_their_records(criterion: str) -> None:
    """Whichever criterion is chosen: a count before the click is the count after it."""
    steps, records = ladder_steps(SCORES), listed(criterion)
    for step in steps[1:]:
        assert opened(records, step.query()) == step.changed == sum(part.spans for part in step.parts)
        for part in step.parts:
            assert opened(records, part.query(step.above, step.criterion)) == part.spans
    assert any(not part.gains for step in steps for part in step.parts)
    said = ladder_sentence(steps, step_between(SCORES, "strict", "lenient"))
    numbers = [part for part in said if isinstance(part, RecordCount)]
    assert [opened(records, part.query) for part in numbers] == [part.number for part in numbers] != []


@pytest.mark.parametrize(("one", "other"), [("strict", "type"), ("lenient", "partial")])
def test_the_decisions_under_two_criteria_open_their_records(one: str, other: str) -> None:
    table, records = decision_matrix(SCORES, one, other), listed(one)
    for before in DECISIONS:
        for after in DECISIONS:
            query = Query(decision=(before,), having=((f"under {other}", after),))
            assert opened(records, query) == table.loc[before, after]
    flipped = Query(decision=DECISIONS, having=((f"flips {other}", "yes"),))
    assert opened(records, flipped) == table.to_numpy().sum() - np.trace(table.to_numpy())


def test_what_is_recovered_opens_its_records() -> None:
    for words, found in (
        ("recovered", recover_spans(SCORES)),
        ("recovered strict,partial,lenient", recover_spans(SCORES, ("strict", "partial", "lenient"))),
    ):
        for row in found.table().itertuples():
            query = Query(decision=DECISIONS, having=((words, row.recovered),))
            assert opened(listed("strict"), query) == row.spans


def test_confusions_that_disappear_open_their_records() -> None:
    after = merge_types(SCORES, MERGE)
    words = f"merging {merge_words(MERGE)}"
    for name in ("strict", "right", "lenient"):
        records = listed(name)
        for row in vanished_confusions(SCORES, after, name).itertuples():
            pairs = Query(decision=DECISIONS, gold=(row.gold_type,), pred=(row.pred_type,))
            assert opened(records, pairs) == row.pairs
            correct = Query(pairs.decision, (), pairs.gold, pairs.pred, having=((words, "COR"),))
            assert opened(records, correct) == row.correct
        gold = Query(decision=("COR", "INC", "PAR", "MIS"), having=((words, "COR"),))
        assert opened(records, gold) == after.counts(name).cor


def test_the_numbers_of_sentences_open_their_records() -> None:
    for one, other in (("strict", "type"), ("left", "right"), ("partial", "type"), ("strict", "strict")):
        found = gap(SCORES, one, other)
        said = gap_sentence(found)
        assert f"under {found.loose} than under {found.strict}" in sentence_text(said)
        assert [opened(listed(found.loose), part.query) for part in said if isinstance(part, RecordCount)] == [
            part.number for part in said if isinstance(part, RecordCount)
        ]
    said = recovered_sentence(recover_spans(SCORES))
    assert sentence_text(said).startswith(
        "Of 184 gold spans 63 (34%) are not found under strict; 22 (35%) of these are first credited by right"
    )
    for part in said:
        if isinstance(part, RecordCount):
            assert opened(listed("strict"), part.query) == part.number
    nothing = score_layers(DEMO.gold.take(np.arange(0)), DEMO.system("rules"), settings(*APPLICABLE))
    assert gap_sentence(gap(nothing, "strict", "type")) == recovered_sentence(recover_spans(nothing)) == ()


def test_folds_open_their_records() -> None:
    records = listed("strict")
    fold = document_folds(len(DEMO.documents), 4, 9)
    for number in range(4):
        query = Query(decision=DECISIONS, having=(("fold 4 9", str(number + 1)),))
        assert opened(records, query) == int((fold[records.about.rows.doc] == number).sum())


def test_merges_as_words_are_read_back() -> None:
    for merge in (MERGE, {"a,b": "c>d", "x;y=z": "100%"}, {" ": "\n"}):
        assert merge_of(merge_words(merge)) == merge
    for wrong in ("", "x", "x>", ">y", "x,>y", "x>y;x>z"):
        assert merge_of(wrong) is None


NONE = (
    *("gap", "gap loose", "gap fragment", "credit loose", "flips loose", "flips fragment", "recovered strict,loose"),
    *("merging x", "fold", "fold 1 0", "fold 999 0", "fold x 0", "fold 4", "under loose"),
)


@pytest.mark.parametrize("name", NONE)
def test_what_is_not_known_opens_nothing(name: str) -> None:
    records = listed("strict")
    assert records.attribute(name) is None
    assert opened(records, Query(decision=DECISIONS, having=((name, "yes"),))) == 0
