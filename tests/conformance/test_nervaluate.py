"""nervaluate: 1.2.1 run beside ours, fixtures of 1.1.0 and 0.3.1, the order of input, records, reports."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from nereval_core.conventions import Outcome, ScorerInput, apply, find_convention, option_values
from nereval_core.conventions.nervaluate import matching as nervaluate_matching
from nereval_core.conventions.records import DECISIONS
from nereval_core.corpus import Documents, Layer, layer
from nereval_core.problems import FormatError
from nereval_core.readers import Source
from nereval_core.scoring.count_tables import TEXT_DTYPE
from tests.support import FIXTURES
from tests.support.nervaluate_corpora import (
    FIELDS,
    SCHEMAS,
    Drawn,
    DrawnTags,
    corpora,
    entities,
    reference,
    reference_of_tags,
    tagged_corpora,
)
from tests.support.reconciliation import reconcile

VERSIONS = ("1.2.1", "1.1.0", "0.3.1")
CORPORA = list(corpora())
TAGGED = list(tagged_corpora())


def layers(drawn: Drawn) -> tuple[Layer, Layer]:
    count = len(drawn.documents)
    documents = Documents(tuple(f"d{i}" for i in range(count)), ("x" * drawn.room,) * count)
    gold, pred = (
        layer(
            name,
            documents,
            [number for number, document in enumerate(drawn.documents) for _ in document[side]],
            [start for document in drawn.documents for start, _, _ in document[side]],
            [end for document in drawn.documents for _, end, _ in document[side]],
            [kind for document in drawn.documents for _, _, kind in document[side]],
        )
        for side, name in enumerate(("gold", "pred"))
    )
    return gold, pred


def ours(number: str, drawn: Drawn, **options: Any) -> Outcome:
    convention = find_convention(f"nervaluate-{number}")
    options = {"tags": drawn.tags} | options
    if number != "0.3.1":
        options = {"min_overlap_percentage": drawn.minimum} | options
    return convention.of_layers(*layers(drawn), option_values(convention, options))


def given(tmp_path: Path, drawn: DrawnTags) -> ScorerInput:
    sources = []
    for side, name in enumerate(("gold", "pred")):
        sentences = ("".join(f"w\t{tag}\n" for tag in sentence[side]) for sentence in drawn.sentences)
        path = tmp_path / f"{name}.conll"
        path.write_text("\n".join(sentences), encoding="utf-8")
        sources.append(Source.of_path(path))
    return ScorerInput(gold=sources[0], pred=sources[1], gold_format="conll", pred_format="conll")


def rows(outcome: Outcome) -> dict[str, Any]:
    """Return the figures as the fixtures hold them."""

    def listed(by_schema: Mapping[str, Mapping[str, float]]) -> dict[str, list[float]]:
        return {schema: [by_schema[schema][name] for name in FIELDS] for schema in SCHEMAS}

    scores = outcome.scores
    by_type = {name: listed(by_schema) for name, by_schema in sorted(scores["entities"].items())}
    return {"overall": listed(scores["overall"]), "entities": by_type}


def fixture(number: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((FIXTURES / f"nervaluate-{number}.json").read_text(encoding="utf-8"))
    assert (found["program"], found["version"]) == ("nervaluate", number)
    return found


def expected(number: str, which: str) -> Iterator[dict[str, Any]]:
    if number == "1.2.1":
        drawn = CORPORA if which == "corpora" else [one for one in TAGGED if one.legal]
        yield from map(reference if which == "corpora" else reference_of_tags, drawn)  # type: ignore[arg-type]
    else:
        yield from fixture(number)[which]


def test_the_corpora_hold_2000_documents_and_all_kinds_of_trouble() -> None:
    assert sum(len(drawn.documents) for drawn in CORPORA) >= 2000
    gold = [document[0] for drawn in CORPORA for document in drawn.documents]
    assert any(len(set(spans)) < len(spans) for spans in gold)
    assert any(spans != sorted(spans) for spans in gold)
    assert any(
        one[0] <= two[0] and two[1] <= one[1] and one[:2] != two[:2] for spans in gold for one in spans for two in spans
    )


@pytest.mark.parametrize("number", VERSIONS)
def test_spans_score_as_the_reference_scores_them(number: str) -> None:
    for drawn, figures in zip(CORPORA, expected(number, "corpora"), strict=True):
        assert rows(ours(number, drawn)) == figures


@pytest.mark.parametrize("number", VERSIONS)
def test_tags_score_as_the_reference_scores_them(number: str, tmp_path: Path) -> None:
    drawn = [one for one in TAGGED if one.legal or number == "0.3.1"]
    for one, figures in zip(drawn, expected(number, "tagged"), strict=True):
        assert rows(apply(find_convention(f"nervaluate-{number}"), given(tmp_path, one))) == figures


CUTS = ({"BLOCK": 7}, {"DENSE": 0}, {"DENSE": 10**9, "FEW": 0}, {"FEW": 10**9})


@pytest.mark.parametrize("cut", CUTS)
def test_it_does_not_matter_how_the_work_is_cut(cut: Mapping[str, int], monkeypatch: pytest.MonkeyPatch) -> None:
    some = (*CORPORA[:40:8], *CORPORA[-2:])
    wanted = [[rows(ours(number, drawn)) for drawn in some] for number in VERSIONS]
    for name, value in cut.items():
        monkeypatch.setattr(nervaluate_matching, name, value)
    assert [[rows(ours(number, drawn)) for drawn in some] for number in VERSIONS] == wanted


# Gold, prediction (inclusive ends, as in the reference's papers), then by version strict and ent_type, each as correct,
# incorrect, missed, spurious, and exact where it is not as strict. "same" is the outcome of the version before.
CASES: tuple[tuple[str, str, tuple[str, str, str]], ...] = (
    ("0-2A 3-5B", "0-5A", ("0200 1100", "0110 1010", "same")),
    ("3-5B 0-2A", "0-5A", ("0200 1100", "0110 0110", "0110 1010")),
    ("0-5A", "0-1A 4-5A", ("0101 1001", "same", "same")),
    ("0-5A", "0-1B 2-5A", ("0101 0101", "same", "same")),
    ("0-5A", "2-5A 0-1B", ("0101 0101", "0101 1001", "same")),
    ("2-3A", "1-2A 2-3A", ("1100 2000", "0101 1001", "same")),
    ("2-3A", "2-3A 1-2A", ("1100 2000", "1001 1001", "same")),
    ("0-1A", "0-1A 0-1A", ("2000 2000", "1001 1001", "same")),
    ("0-1A 0-1A", "0-1A", ("1000 1000", "1010 1010", "same")),
    ("0-5A 2-3B", "2-3B 0-5A", ("2000 2000", "0200 0200", "2000 2000")),
    ("0-1A 0-1B", "0-1B", ("1010 1010", "0110 0110 1010", "1010 1010")),
    ("0-1A", "0-1B 0-1A", ("1100 1100 2000", "0101 0101 1001", "same")),
    ("0-1A 2-3A", "1-2A 0-0A", ("0200 2000", "0111 1011", "same")),
)


@pytest.mark.parametrize(("gold", "pred", "outcomes"), CASES)
def test_the_order_of_input_decides(gold: str, pred: str, outcomes: tuple[str, str, str]) -> None:
    spans = [
        [(int(low), int(high[:-1]) + 1, high[-1]) for low, high in (span.split("-") for span in side.split())]
        for side in (gold, pred)
    ]
    drawn = Drawn(6, [(spans[0], spans[1])], ("A", "B"), 1.0)
    before = ""
    for number, wanted in zip(("0.3.1", "1.1.0", "1.2.1"), outcomes, strict=True):
        before = wanted = before if wanted == "same" else wanted
        strict, ent_type, exact = (*wanted.split(), wanted.split()[0])[:3]
        scores = ours(number, drawn).scores["overall"]
        for schema, digits in (("strict", strict), ("ent_type", ent_type), ("exact", exact)):
            found = [scores[schema][name] for name in ("correct", "incorrect", "missed", "spurious")]
            assert "".join(map(str, found)) == digits, (number, schema)
        partial = [scores["partial"][name] for name in ("correct", "partial", "missed", "spurious", "incorrect")]
        assert "".join(map(str, partial)) == exact + "0"


@pytest.mark.parametrize("number", VERSIONS)
def test_counts_are_the_sums_of_records(number: str) -> None:
    for drawn in (*CORPORA[3:40:9], *CORPORA[40:43], CORPORA[-1]):
        outcome = ours(number, drawn)
        records = reconcile(outcome)
        assert set(records["decision"]) <= set(DECISIONS)
        assert set(records["scope"]) <= set(outcome.figures["scope"])


@pytest.mark.parametrize("number", VERSIONS)
def test_records_hold_every_span(number: str) -> None:
    drawn = CORPORA[3]
    gold, pred = layers(drawn)
    for schema in SCHEMAS:
        records = ours(number, drawn, tags=["A"]).records(schema)
        overall = records[records["scope"] == "overall"]
        assert set(overall["gold"]) - {-1} == set(range(len(gold)))
        assert set(overall["pred"]) - {-1} == set(range(len(pred)))
        left_out = overall["why"] == "type is not in tags: left out"
        kinds = (
            overall["gold_type"].astype(TEXT_DTYPE).where(overall["gold"] >= 0, overall["pred_type"].astype(TEXT_DTYPE))
        )
        assert (left_out == (kinds != "A")).all()
        assert (overall.loc[left_out, "decision"] == "IGN").all()


def record_of(number: str, gold: str, pred: str, schema: str = "strict", **options: Any) -> pd.DataFrame:
    sides = [
        [(int(low), int(high[:-1]) + 1, high[-1]) for low, high in (span.split("-") for span in side.split())]
        for side in (gold, pred)
    ]
    return ours(number, Drawn(200, [(sides[0], sides[1])], ("A", "B"), 1.0), **options).records(schema)


REASONS = (
    ("1.1.0", "0-5A 2-3B", "2-3B", "overall", "INC", "the first overlapping gold span in input order was taken, "),
    ("1.2.1", "2-3A", "1-2A 2-3A", "overall", "SPU", "an earlier prediction had used the gold span up"),
    ("1.2.1", "2-3A 3-4A", "1-2A 2-3A", "overall", "INC", "an earlier prediction had used the better gold span up"),
    ("1.2.1", "0-5A", "0-5B", "A", "MIS", "only spans of other types overlap, and each type is scored alone"),
    ("1.2.1", "0-5A", "0-5B", "B", "SPU", "only spans of other types overlap, and each type is scored alone"),
    ("1.2.1", "0-5A", "0-5B", "overall", "INC", "same boundaries, another type"),
    ("1.2.1", "0-5A", "0-6A", "overall", "INC", "overlap, same type"),
    ("1.2.1", "0-5A", "6-6A", "overall", "MIS", "no span of the other side overlaps"),
    ("1.2.1", "0-150A", "150-160A", "overall", "SPU", "the overlap is below min_overlap_percentage"),
    ("1.2.1", "0-1A 2-3A", "0-3A", "overall", "MIS", "the predictions that overlap it were paired with other gold "),
    ("0.3.1", "0-1A", "0-1A 0-1A", "overall", "COR", "an identical gold span counts however often it is matched"),
    ("0.3.1", "0-1A 0-1A", "0-1A", "overall", "IGN", "an identical gold span counts for it"),
    ("0.3.1", "0-1A 2-3A", "0-3A", "overall", "INC", "one prediction counts for every gold span it is the first to "),
    ("0.3.1", "0-5A", "0-1A 2-3A", "overall", "SPU", "every gold span it overlaps had been overlapped before"),
    ("0.3.1", "0-5A 1-2B", "0-5A", "overall", "MIS", "the predictions that overlap it count for other gold spans "),
)


@pytest.mark.parametrize(("number", "gold", "pred", "scope", "decision", "why"), REASONS)
def test_a_record_says_which_rule_decided(
    number: str, gold: str, pred: str, scope: str, decision: str, why: str
) -> None:
    records = record_of(number, gold, pred)
    found = records[(records["scope"] == scope) & (records["decision"] == decision)]["why"]
    assert any(reason.startswith(why) for reason in found), list(found)


def test_min_overlap_percentage_is_a_share_of_the_gold_span() -> None:
    drawn = Drawn(200, [([(0, 4, "A")], [(2, 9, "A")])], ("A",), 50.0)
    assert ours("1.2.1", drawn).scores["overall"]["partial"]["partial"] == 1
    assert ours("1.2.1", drawn, min_overlap_percentage=50.1).scores["overall"]["partial"]["partial"] == 0
    # A character of a gold span of more than 100 is less than the default of one percent.
    assert ours("1.1.0", Drawn(200, [([(0, 101, "A")], [(100, 110, "A")])], ("A",), 1.0)).scores["overall"]["partial"][
        "spurious"
    ]


@pytest.mark.parametrize("number", VERSIONS)
def test_without_tags_all_types_are_scored(number: str) -> None:
    drawn = CORPORA[0]
    kinds = tuple(sorted({span[2] for document in drawn.documents for side in document for span in side}))
    everything = ours(number, drawn, tags=None)
    assert everything.scores == ours(number, drawn, tags=kinds).scores
    assert any(note.startswith("tags not given") for note in everything.notes)


@pytest.mark.parametrize("number", VERSIONS)
def test_layers_and_files_of_the_same_clean_tags_score_alike(number: str, tmp_path: Path) -> None:
    sentences = [(["B-A", "I-A", "O", "B-B"], ["B-A", "O", "O", "B-B"]), (["O", "B-A"], ["B-B", "I-B"])]
    files = given(tmp_path, DrawnTags(sentences, True))
    convention = find_convention(f"nervaluate-{number}")
    read = apply(convention, files)
    for loader in ("default", "list"):
        again = convention.of_layers(*files.read()[:2], option_values(convention, {"loader": loader}))
        assert again.scores == read.scores
        for schema in SCHEMAS:
            pd.testing.assert_frame_equal(again.records(schema), read.records(schema))


@pytest.mark.parametrize("number", VERSIONS)
def test_a_span_of_tags_opens_where_it_lies_in_the_text(number: str, tmp_path: Path) -> None:
    files = given(tmp_path, DrawnTags([(["O", "I-A", "B-A"], ["O", "I-A", "O"])], True))
    records = apply(find_convention(f"nervaluate-{number}"), files).records("strict")
    found = records.loc[records["scope"] == "overall", ["gold_start", "gold_end", "decision"]].to_numpy().tolist()
    assert found == [[2, 3, "COR"], [4, 5, "MIS"]]


@pytest.mark.parametrize("number", ["1.2.1", "1.1.0"])
def test_tags_at_which_nervaluate_stops_are_all_named(number: str, tmp_path: Path) -> None:
    files = given(tmp_path, DrawnTags([(["S-A", "E-A"], ["O", "E-A"])], False))
    with pytest.raises(FormatError) as error:
        apply(find_convention(f"nervaluate-{number}"), files)
    assert [(Path(problem.source).name, problem.line) for problem in error.value.problems] == [
        ("gold.conll", 1),
        ("pred.conll", 2),
    ]
    assert "'S-A' begins a span" in str(error.value)


@pytest.mark.parametrize("schema", SCHEMAS)
def test_the_report_by_types_of_0_3_1_stops_without_types(schema: str) -> None:
    """nervaluate 0.3.1 takes the longest of no names: `max() arg is an empty sequence`."""
    empty = Drawn(9, [([], [])], (), 1.0)
    forms = find_convention("nervaluate-0.3.1").forms
    outcome = ours("0.3.1", empty, tags=None)
    assert forms["text"](outcome).count("\n") == 6
    with pytest.raises(FormatError, match="summary_report_ent stops with a ValueError; take the report overall"):
        forms[f"text-{schema}"](outcome)
    assert "X" in forms[f"text-{schema}"](ours("0.3.1", empty, tags="X"))


def test_0_3_1_reads_what_later_versions_stop_at(tmp_path: Path) -> None:
    files = given(tmp_path, DrawnTags([(["S-A", "E-A"], ["O", "E-A"])], False))
    assert apply(find_convention("nervaluate-0.3.1"), files).scores["overall"]["strict"]["incorrect"] == 1


BAD: tuple[tuple[Mapping[str, Any], str], ...] = (
    ({"min_overlap_percentage": 0.5}, "0.5 is not between 1 and 100"),
    ({"min_overlap_percentage": "nan"}, "nan is not between 1 and 100"),
    ({"min_overlap_percentage": 101}, "101 is not between 1 and 100"),
    ({"loader": "list"}, "nervaluate's loader 'list' counts tags"),
)


@pytest.mark.parametrize(("options", "found"), BAD)
def test_bad_options_are_refused(options: Mapping[str, Any], found: str) -> None:
    with pytest.raises(FormatError, match=found):
        ours("1.2.1", CORPORA[0], **options)


def test_a_type_given_twice_is_refused_where_it_would_count_twice() -> None:
    with pytest.raises(FormatError, match="counts it twice"):
        ours("0.3.1", CORPORA[0], tags="A,B,A")
    assert ours("1.2.1", CORPORA[0], tags="A,B,A").scores == ours("1.2.1", CORPORA[0], tags="A,B").scores


def test_tags_that_no_span_has_are_named() -> None:
    assert "tags that no span has: Q, X" in ours("1.2.1", CORPORA[0], tags="A,Q,X").notes


@pytest.mark.parametrize("number", VERSIONS)
def test_a_side_without_spans_scores_zero(number: str) -> None:
    scores = ours(number, Drawn(9, [([(0, 4, "A")], []), ([], [])], ("A",), 1.0)).scores["overall"]["strict"]
    assert [scores[name] for name in FIELDS] == [0, 0, 0, 1, 0, 1, 0, 0, 0, 0]
    scores = ours(number, Drawn(9, [([], [(0, 4, "A")])], ("A",), 1.0)).scores["overall"]["strict"]
    assert [scores[name] for name in FIELDS] == [0, 0, 0, 0, 1, 0, 1, 0, 0, 0]


def test_reports_of_1_2_1_are_printed_byte_for_byte() -> None:
    from nervaluate import Evaluator

    forms = find_convention("nervaluate-1.2.1").forms
    for drawn in (CORPORA[0], CORPORA[1], CORPORA[41]):
        sides = [[entities(document[side]) for document in drawn.documents] for side in (0, 1)]
        theirs = Evaluator(*sides, list(drawn.tags), loader="dict", min_overlap_percentage=drawn.minimum)
        outcome = ours("1.2.1", drawn)
        assert forms["text"](outcome) == theirs.summary_report()
        assert forms["csv"](outcome) == theirs.results_to_csv()
        for schema in SCHEMAS:
            assert forms[f"text-{schema}"](outcome) == theirs.summary_report(mode="entities", scenario=schema)


@pytest.mark.parametrize("number", ["1.1.0", "0.3.1"])
def test_reports_of_other_versions_are_printed_byte_for_byte(number: str) -> None:
    outcome = ours(number, CORPORA[0])
    for form, printed in fixture(number)["printed"].items():
        assert find_convention(f"nervaluate-{number}").forms[form](outcome) == printed
