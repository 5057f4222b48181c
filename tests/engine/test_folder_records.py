"""A scored folder answers as the same corpus in memory does, whatever its shards, and says where it is damaged."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nereval_core.corpus import Documents, Intervals, Layer
from nereval_core.engine import folder_records
from nereval_core.engine.folder_records import FolderRecords
from nereval_core.engine.record_columns import column_file, is_whole, write_gold, write_system
from nereval_core.engine.record_index import ShardKeys, write_index
from nereval_core.ledger import Ledger, ledger
from nereval_core.problems import FormatError
from nereval_core.records.queries import FACETS, ORDERS, Query
from nereval_core.records.tables import RECORD_COLUMNS, records
from nereval_core.scoring import Counting, Settings, score_layers
from nereval_core.scoring.criteria import CRITERIA
from tests.ledger.test_ledger import NAMES, QUERIES, corpus
from tests.support.draws import draws

CUTS = ((8,), (3, 8), (0, 1, 2, 2, 5, 8))
"""Where each shard ends, in documents; some are empty."""


def with_tokens(documents: Documents) -> Documents:
    """Give every second document tokens of its own, so that reasons are told in tokens in some and not in others."""
    tokens = [
        [(start, start + 1) for start, char in enumerate(text) if not char.isspace()] if number % 2 else []
        for number, text in enumerate(documents.texts)
    ]
    return replace(documents, tokens=Intervals.of(tokens))


def part(layer: Layer, documents: Documents, low: int, high: int) -> Layer:
    """Return the layer of some of the documents."""
    some = layer.take(np.flatnonzero((layer.doc >= low) & (layer.doc < high)))
    return replace(some, documents=documents, doc=some.doc - np.int32(low), order=None)


def some_documents(documents: Documents, low: int, high: int) -> Documents:
    tokens = documents.tokens
    return Documents(
        documents.ids[low:high],
        tuple(documents.texts[low:high]),
        None if tokens is None else Intervals.of([tokens.of_document(number) for number in range(low, high)]),
        None,
        None if documents.meta is None else tuple(documents.meta[low:high]),
        sizes=None if documents.sizes is None else documents.sizes[low:high],
    )


def written(folder: Path, gold: Layer, preds: Sequence[Layer], how: Settings, cuts: Sequence[int]) -> FolderRecords:
    """Score shard by shard and leave the columns in a folder."""
    keys = []
    low = 0
    for number, high in enumerate(cuts):
        over = some_documents(gold.documents, low, high)
        own = part(gold, over, low, high)
        write_gold(folder, f"gold-{number}", own)
        names = []
        for system, pred in enumerate(preds):
            theirs = part(pred, over, low, high)
            names.append(f"{system}-{number}")
            write_system(folder, names[-1], own, theirs, score_layers(own, theirs, how))
        keys.append(ShardKeys(f"gold-{number}", tuple(names)))
        low = high
    write_index(folder, keys, [criterion.name for criterion in how.criteria])
    return FolderRecords(str(folder), tuple(keys), how)


def sides(seed: int, dated: bool = True, tokens: bool = False) -> tuple[Layer, Layer]:
    gold, pred = corpus(seed, dated=dated)
    over = with_tokens(gold.documents) if tokens else gold.documents
    links = {span: ("Q1", "Q2")[: 1 + span % 2] for span in range(0, len(pred), 3)}
    scores = {span: span / 10 for span in range(0, len(pred), 2)}
    return replace(gold, documents=over), replace(pred, documents=over, links=links, scores=scores)


@cache
def example(
    seed: int, name: str, cuts: tuple[int, ...], dated: bool = True, counting: Counting = "one-to-one"
) -> tuple[Ledger, Ledger]:
    gold, pred = sides(seed, dated, tokens=seed % 2 == 0)
    merge = (("A", "B"),) if seed % 3 == 0 else ()
    how = Settings(tuple(CRITERIA[one] for one in NAMES), merge, ("C",) if seed % 4 == 3 else (), counting)
    kept = Path(mkdtemp())
    try:
        found = written(kept, gold, [pred], how, cuts)
        for number in range(len(cuts)):
            # What is mapped stays, though its file is gone.
            for one in NAMES:
                found.ledger(0, one).source.part(number)
    finally:
        shutil.rmtree(kept)
    return found.ledger(0, name), ledger(score_layers(gold, pred, how), name, (gold, pred))


CASES = (
    st.integers(0, 7),
    st.sampled_from(NAMES),
    st.sampled_from(CUTS),
    st.booleans(),
    st.sampled_from(["one-to-one", "each-side"]),
)


@draws(27)
@given(*CASES, QUERIES, st.sampled_from(ORDERS))
def test_every_query_is_answered_as_in_memory(
    seed: int, name: str, cuts: tuple[int, ...], dated: bool, counting: Counting, query: Query, order: str
) -> None:
    found, memory = example(seed, name, cuts, dated, counting)
    assert found.offered == memory.offered
    assert found.total(query) == memory.total(query)
    assert found.first(query) == memory.first(query)
    assert found.caveats(query) == ()
    for facet in FACETS:
        for most in (None, 2):
            one, other = found.facet_counts(query, facet, most), memory.facet_counts(query, facet, most)
            assert list(one.items()) == list(other.items())
    assert found.orders(query) == ORDERS
    page, wanted = found.page(query, order, 1, 7), memory.page(query, order, 1, 7)
    assert dict(page.dtypes) == dict(RECORD_COLUMNS)
    same(page, wanted)
    every = [record for piece in found.pieces(query, order) for record in piece["record"]]
    assert every == [record for piece in memory.pieces(query, order) for record in piece["record"]]


def same(one: pd.DataFrame, other: pd.DataFrame) -> None:
    pd.testing.assert_frame_equal(one.astype("object"), other.astype("object"), check_index_type=False)


@draws(8)
@given(*CASES, QUERIES)
def test_the_records_around_a_place(
    seed: int, name: str, cuts: tuple[int, ...], dated: bool, counting: Counting, query: Query
) -> None:
    found, memory = example(seed, name, cuts, dated, counting)
    assert found.confusion() == memory.confusion()
    for piece in memory.pieces(Query()):
        starts = piece["gold_start"].where(piece["record"].str.startswith("g:"), piece["pred_start"])
        for doc, record, start in zip(piece["document"], piece["record"], starts, strict=True):
            assert found.near(query, doc, record, start, around=3) == memory.near(query, doc, record, start, around=3)
            assert found.near(query, doc, start=start) == memory.near(query, doc, start=start)
    with pytest.raises(KeyError):
        found.near(query, "none such")


@draws(8)
@given(*CASES, QUERIES, st.sampled_from(ORDERS))
def test_a_record_has_the_same_place_in_any_order(
    seed: int, name: str, cuts: tuple[int, ...], dated: bool, counting: Counting, query: Query, order: str
) -> None:
    found, memory = example(seed, name, cuts, dated, counting)
    listed = [(doc, record) for piece in memory.pieces(query, order) for doc, record in names_of(piece)]
    assert found.positions(query, order).tolist() == memory.positions(query, order).tolist()
    before = 0
    for position, (doc, record) in enumerate(name for piece in memory.pieces(Query()) for name in names_of(piece)):
        assert found.name(position) == memory.name(position) == (doc, record)
        assert found.position(doc, record) == memory.position(doc, record) == position
        expected: float | None = listed.index((doc, record)) if (doc, record) in listed else None
        if expected is None and order == ORDERS[0]:
            expected = before - 0.5
        assert found.place(query, order, doc, record) == memory.place(query, order, doc, record) == expected
        before += (doc, record) in listed
    assert found.place(query, order, "Doc-0", "g:0-9:none such") is None


def names_of(piece: pd.DataFrame) -> list[tuple[str, str]]:
    return list(zip(piece["document"].astype(str), piece["record"], strict=True))


def test_spans_without_texts(tmp_path: Path) -> None:
    gold, pred = corpus(3, broken=0, dated=False)
    sizes = gold.documents.lengths
    over = replace(gold.documents, texts=("",) * len(sizes), sizes=sizes)
    gold, pred = (replace(layer, documents=over, fragments={}) for layer in (gold, pred))
    how = Settings((CRITERIA["partial"],))
    found = written(tmp_path, gold, [pred], how, (3, 8)).ledger(0, "partial")
    memory = ledger(score_layers(gold, pred, how), "partial", (gold, pred))
    same(found.page(Query(), rows=1_000), memory.page(Query(), rows=1_000))
    same(found.page(Query(), rows=1_000), records(memory.about.scores, "partial"))


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("cuts", CUTS[1:])
@pytest.mark.parametrize("counting", ["one-to-one", "each-side"])
def test_documents(seed: int, cuts: tuple[int, ...], counting: Counting) -> None:
    for name in ("partial", "fragment"):
        found, memory = example(seed, name, cuts, True, counting)
        for text in ("", "doc", "-3", "DOC-4", "none such"):
            for first, rows in ((0, 200), (0, 3), (2, 2), (6, 5), (9, 1)):
                one, other = found.documents(text, first, rows), memory.documents(text, first, rows)
                assert one == other and list(one.counts) == list(other.counts)
        how = memory.about.scores.settings
        for doc in memory.about.scores.gold.documents.ids:
            one, other = found.document(doc, how), memory.document(doc, how)
            assert one.read_gold == other.read_gold and one.read_pred == other.read_pred
            same(records(one, name), records(other, name))


def test_several_systems(tmp_path: Path) -> None:
    gold, pred = sides(1)
    how = Settings((CRITERIA["strict"],))
    found = written(tmp_path, gold, [gold.renamed("same"), pred], how, (3, 8))
    assert found.ledger(0, "strict").total(Query(decision=("COR",))).records == len(gold)
    memory = ledger(score_layers(gold, pred, how), "strict", (gold, pred))
    assert found.ledger(1, "strict").confusion() == memory.confusion()


@pytest.mark.parametrize("budget", [1, 2, 3, 5, 8])
def test_a_search_stops_at_its_budget_and_says_so(monkeypatch: pytest.MonkeyPatch, budget: int) -> None:
    found, memory = example(1, "strict", CUTS[2])
    found = Ledger(found.source)
    monkeypatch.setattr(folder_records, "SEARCHED_RECORDS", budget)
    monkeypatch.setattr(folder_records, "BLOCK_BYTES", 1)
    query = Query(text="a")
    (said,) = found.caveats(query)
    searched = int(said.partition("the first ")[2].partition(" of 8 documents")[0])
    assert 0 < searched < 8
    listed = [piece["document"].tolist() for piece in memory.pieces(query)]
    ids = memory.about.scores.gold.documents.ids
    held = [sum(doc in ids[:most] for piece in listed for doc in piece) for most in (searched - 1, searched)]
    # The last document searched is the one that reaches the budget.
    assert held[0] < budget and found.total(query).records == held[1]
    # In one document everything is looked at.
    for doc in memory.about.scores.gold.documents.ids:
        assert found.caveats(Query(text="a", doc=doc)) == ()
        assert found.total(Query(text="a", doc=doc)) == memory.total(Query(text="a", doc=doc))


def test_what_needs_all_records_is_not_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    found, memory = example(1, "strict", CUTS[2])
    monkeypatch.setattr(folder_records, "SORTED_RECORDS", 4)
    monkeypatch.setattr(folder_records, "OFFERED_RECORDS", 4)
    assert set(ORDERS) - set(found.orders(Query())) == {"text", "longest"}
    (said,) = found.caveats(Query())
    assert "first 4 records" in said
    offered = found.facet_counts(Query(), "doc")
    every = memory.facet_counts(Query(), "doc")
    assert offered and len(offered) < len(every)
    assert all(every[doc] == count for doc, count in offered.items())


def test_a_folder_of_nothing(tmp_path: Path) -> None:
    gold, pred = sides(1)
    found = written(tmp_path, gold, [pred], Settings((CRITERIA["strict"],)), (0,)).ledger(0, "strict")
    assert found.total(Query()) == (0, 0) and found.confusion() == {} and found.first(Query()) is None
    assert found.facet_counts(Query(), "doc") == {} and not len(found.page(Query(), "text"))
    assert found.documents() == ({}, 0) and found.total(Query(text="a")) == (0, 0)


def change_a_byte(path: Path) -> None:
    raw = path.read_bytes()
    path.write_bytes(raw[:70] + bytes([raw[70] ^ 1]) + raw[71:])


DAMAGE = {
    "a byte changed": change_a_byte,
    "cut short": lambda path: path.write_bytes(path.read_bytes()[:-9]),
    "empty": lambda path: path.write_bytes(b""),
    "missing": lambda path: path.unlink(),
    "something else": lambda path: path.write_text("no columns " * 20),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
@pytest.mark.parametrize("key", ["gold-1", "0-1"])
def test_a_damaged_shard_is_named_and_the_others_answer(damage: object, key: str, tmp_path: Path) -> None:
    gold, pred = sides(1)
    made = written(tmp_path, gold, [pred], Settings((CRITERIA["strict"],)), (3, 8))
    assert is_whole(tmp_path, key)
    damage(column_file(tmp_path, key))  # type: ignore[operator]
    assert not is_whole(tmp_path, key)
    found = made.ledger(0, "strict")
    total = found.total(Query()).records
    assert len(found.page(Query(), rows=1)) == 1
    with pytest.raises(FormatError) as error:
        found.page(Query(), first=total - 1)
    (problem,) = error.value.problems
    assert problem.source == str(tmp_path) and problem.found.startswith("shard 2 of 2: ")


def test_columns_of_something_else_are_told(tmp_path: Path) -> None:
    gold, pred = sides(1)
    made = written(tmp_path, gold, [pred, pred], Settings((CRITERIA["strict"],)), (3, 8))
    column_file(tmp_path, "0-1").write_bytes(column_file(tmp_path, "0-0").read_bytes())
    (tmp_path / "index" / "1.0.columns").write_bytes((tmp_path / "index" / "0.0.columns").read_bytes())
    with pytest.raises(FormatError, match="shard 2 of 2: damaged: the columns of something else"):
        made.ledger(0, "strict").page(Query(), first=0)
    with pytest.raises(FormatError, match="index: damaged: the index of something else"):
        made.ledger(1, "strict")


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
@pytest.mark.parametrize("name", ["documents", "0.0"])
def test_a_damaged_index_is_named(damage: object, name: str, tmp_path: Path) -> None:
    gold, pred = sides(1)
    made = written(tmp_path, gold, [pred], Settings((CRITERIA["strict"],)), (3, 8))
    damage(tmp_path / "index" / f"{name}.columns")  # type: ignore[operator]
    with pytest.raises(FormatError, match="index: "):
        made.ledger(0, "strict")
