"""Documents, sentences, runs and groups as what is resampled: counts by unit, words, and every verb that draws."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nereval_core as nereval
from nereval_core.analysis.bootstrap import bootstrap_sums, ratios
from nereval_core.analysis.intervals import Estimates, acceleration
from nereval_core.analysis.resampling_units import (
    ResamplingPlan,
    ResamplingUnits,
    document_units,
    resampling_choices,
    resampling_units,
)
from nereval_core.analysis.slices.scores_by_slice import slice_bootstrap
from nereval_core.cli import main
from nereval_core.corpus import Documents
from nereval_core.problems import FormatError
from pages.shared.view import View
from tests.pages.test_compare_page import texts
from tests.support.pages import address, opened, upload

SENTENCES = "".join(f"w{number} B-PER\nx O\n\n" if number % 3 else f"w{number} O\nx B-PER\n\n" for number in range(40))
TYPED = "".join(f"w{number} B-PER\nx O\n\n" for number in range(40))


def over(meta: list[dict[str, Any]] | None = None, count: int = 6, *, sentences: bool = False) -> Documents:
    ids = tuple(map(str, range(count)))
    return Documents(ids, ("ab",) * count, meta=meta, unit="sentence" if sentences else "document")


AUTHORS: list[dict[str, Any]] = [{"author": "b"}, {"author": "a"}, {"author": "b"}, {}, {"author": None}, {}]


@pytest.mark.parametrize(
    ("documents", "by", "numbers", "many"),
    [
        (over(), "", [0, 1, 2, 3, 4, 5], "documents"),
        (over(), "document", [0, 1, 2, 3, 4, 5], "documents"),
        (over(sentences=True), "sentence", [0, 1, 2, 3, 4, 5], "sentences"),
        (over(sentences=True), "runs:4", [0, 0, 0, 0, 1, 1], "runs of 4 sentences"),
        (over(), "runs:2", [0, 0, 1, 1, 2, 2], "runs of 2 documents"),
        (over(AUTHORS), "author", [0, 1, 0, 2, 3, 4], "groups of documents with the same author"),
    ],
)
def test_which_unit_each_document_belongs_to(documents: Documents, by: str, numbers: list[int], many: str) -> None:
    units = resampling_units(documents, by)
    assert units.of_documents(np.arange(6)).tolist() == numbers
    assert (units.count, units.plural) == (max(numbers) + 1, many)
    assert units.in_words(1) == f"1 {units.singular}" and units.singular != units.plural


@pytest.mark.parametrize(
    ("documents", "by", "said"),
    [
        (over(sentences=True), "document", "no documents are marked"),
        (over(), "sentence", "not independent; choose document or runs:20"),
        (over(AUTHORS), "source", "no document has 'source'; choose document, author or runs:20"),
        (over(), "runs:1", "'runs:1' is not a length of runs; write runs:N"),
        (over(), "runs:", "'runs:' is not a length"),
        (over(), "runs:x", "'runs:x' is not a length"),
    ],
)
def test_what_cannot_be_resampled_by_is_refused(documents: Documents, by: str, said: str) -> None:
    with pytest.raises(FormatError) as wrong:
        resampling_units(documents, by)
    assert said in str(wrong.value)


def test_notes_warn_of_sentences_and_of_documents_without_the_key() -> None:
    assert "no documents are marked" in resampling_units(over(sentences=True)).notes[0]
    assert resampling_units(over(AUTHORS), "author").notes == (
        "2 documents have no author: each is resampled for itself",
    )
    assert not resampling_units(over()).notes and not resampling_units(over(sentences=True), "runs:2").notes
    assert resampling_choices(over(AUTHORS)) == ("document", "author")


PERIODS: list[dict[str, Any]] = [{"author": a, "period": p} for a, p in zip("aabbcd", "xxyyxx", strict=True)]


def test_units_are_drawn_within_strata() -> None:
    units = resampling_units(over(PERIODS), "author within period")
    assert units.strata is not None and units.strata.tolist() == [0, 1, 0, 0]
    assert units.description == "4 groups of documents with the same author, drawn within the 2 values of period"
    assert "same author within period, seed 0" in units.signature(ResamplingPlan())
    assert units.notes == (
        "1 value has a single unit under period, which every resample contains: intervals are too narrow",
    )
    # Every resample has three units of the first stratum and the one of the second; a unit is its own count here.
    sums = bootstrap_sums(np.eye(4, dtype=np.int32), ResamplingPlan(resamples=400), units.strata)
    assert (sums[1] == 1).all() and (sums[[0, 2, 3]].sum(axis=0) == 3).all()
    assert sums.mean(axis=1) == pytest.approx(1, abs=0.2) and sums[0].max() == 3


def test_the_acceleration_of_strata_is_that_of_the_formula() -> None:
    """Davison and Hinkley 1997, section 5.3, written out."""
    rng = np.random.default_rng(1)
    strata = np.array([0, 0, 0, 1, 1, 1, 1, 1])
    values = rng.normal(size=(2, 8))
    for row, found in zip(values, acceleration(values, strata), strict=True):
        cubes = squares = 0.0
        for stratum, n in ((0, 3), (1, 5)):
            influence = (n - 1) * (row[strata == stratum].mean() - row[strata == stratum])
            cubes += float((influence**3).sum()) / n**3
            squares += float((influence**2).sum()) / n**2
        assert found == pytest.approx(cubes / (6 * squares**1.5))
    assert acceleration(values, np.zeros(8, np.int64)) == pytest.approx(acceleration(values))


@pytest.mark.parametrize(
    ("by", "said"),
    [
        ("author within genre", "no document has 'genre' to draw within; choose author or period"),
        ("period within author", "2 groups of documents with the same period lie in several values of 'author'"),
    ],
)
def test_strata_that_units_do_not_lie_within_are_refused(by: str, said: str) -> None:
    meta = [*PERIODS[:3], {"author": "e", "period": "y"}, *PERIODS[4:]]
    with pytest.raises(FormatError) as wrong:
        resampling_units(over(meta), by)
    assert said in str(wrong.value)


@given(st.lists(st.integers(0, 4), min_size=1, max_size=12), st.randoms(use_true_random=False))
def test_counts_are_summed_by_unit(values: list[int], draw: Any) -> None:
    meta = [{"key": value} for value in values]
    counts = np.array([[draw.randrange(9) for _ in values] for _ in range(3)], np.int32)
    units = resampling_units(over(meta, len(values)), "key")
    found = units.sum_counts(counts)
    assert found.dtype == counts.dtype and found.shape == (3, len(set(values)))
    for unit, value in enumerate(dict.fromkeys(values)):
        chosen = [place for place, one in enumerate(values) if one == value]
        assert found[:, unit].tolist() == counts[:, chosen].sum(axis=1).tolist()
    assert document_units(len(values)).sum_counts(counts) is counts


def write(folder: Path, marked: bool = False) -> list[str]:
    """Write gold and two systems of 40 sentences without documents, or with four documents of ten."""
    rows = {"gold": TYPED, "one": SENTENCES, "two": SENTENCES.replace("w1 B-PER", "w1 O")}
    for name, text in rows.items():
        if marked:
            parts = text.split("\n\n")[:-1]
            text = "".join(
                ("-DOCSTART- O\n\n" if place % 10 == 0 else "") + f"{one}\n\n" for place, one in enumerate(parts)
            )
        (folder / f"{name}.conll").write_text(text)
    return [str(folder / f"{name}.conll") for name in rows]


@pytest.mark.parametrize("verb", ["compare", "agreement", "slices"])
def test_sentences_are_called_sentences_and_warned_of(
    verb: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = write(tmp_path)
    assert main([verb, *files, "--resamples", "200"]) == 0
    out, err = capsys.readouterr()
    assert "no documents are marked, so each sentence is resampled by itself: intervals may be too narrow" in out + err
    assert "200 resamples of sentences" in out
    assert "over documents" not in out and "resamples of documents" not in out
    assert main([verb, *files, "--resamples", "200", "--resample-by", "runs:10", "--json", "-"]) == 0
    assert "resamples of runs of 10 sentences" in capsys.readouterr().out
    assert main([verb, *files, "--resample-by", "document"]) == 2
    assert "--resample-by: no documents are marked" in capsys.readouterr().err


def test_runs_of_ten_sentences_are_documents_of_ten(tmp_path: Path) -> None:
    """Whether what is drawn is marked or asked for, intervals and tests are the same."""
    (tmp_path / "marked").mkdir()
    plain, marked = write(tmp_path), write(tmp_path / "marked", marked=True)
    found = []
    for files, by in ((plain, "runs:10"), (marked, "")):
        gold, one, two = files
        systems = {"one": one, "two": two}
        compared = nereval.compare(gold, systems, resamples=300, resample_by=by, by_type=True)
        agreed = nereval.agreement({"gold": gold, **systems}, resamples=300, resample_by=by)
        sliced = nereval.slices_of(gold, two, resamples=300, resample_by=by, by="frequency")
        figures = ["f1", "kappa", "observed"]
        found.append(
            (
                compared.intervals.to_dict("records"),
                compared.differences.drop(columns="why").to_dict("records"),
                agreed.table[agreed.table["figure"].isin(figures)]
                .drop(columns=["documents", "why"])
                .to_dict("records"),
                [table.drop(columns="documents").to_dict("records") for table in sliced.tables.values()],
            )
        )
    assert str(found[0]) == str(found[1])
    assert found[0][0][0]["units"] == 4


def test_every_verb_draws_within_strata(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = []
    for side in ("gold", "one", "two"):
        (tmp_path / f"{side}.jsonl").write_text(jsonl(side))
        files.append(str(tmp_path / f"{side}.jsonl"))
    for verb, held in (("compare", files), ("agreement", files), ("slices", files[:2])):
        said = []
        for by in ("author", "author within period"):
            line = [verb, *held, "--resamples", "200", "--resample-by", by, "-q", "--json", "-"]
            assert main(line) == 0
            said.append(capsys.readouterr().out)
        assert "same author within period, seed 0" in said[1] and "within period" not in said[0]
        intervals = [re.findall(r'"(?:f1_)?(?:low|high)": ([0-9.]+)', one) for one in said]
        # Slices of so few spans have Wilson's intervals, which are the same within strata.
        assert intervals[0] != intervals[1] or verb == "slices"


def test_slices_vary_within_strata_alone() -> None:
    """One stratum is all right and the other all wrong: within them nothing varies."""
    cells = np.array([[[2] * 6 + [0] * 6, [2] * 6 + [0] * 6, [1] * 12, [1] * 12]], np.int32)

    def intervals(units: ResamplingUnits) -> Estimates:
        bootstrap = slice_bootstrap(ResamplingPlan(resamples=200), units)
        (sums,) = bootstrap.resample_units(cells)
        return bootstrap.estimate(sums.map(ratios))

    within = intervals(replace(document_units(12), strata=np.repeat(np.arange(2), 6)))
    assert within.low.tolist() == within.high.tolist() == [0.5, 0.5, 0.5]
    overall = intervals(document_units(12))
    assert (overall.low < 0.4).all() and (overall.high > 0.6).all()


def test_what_rests_on_one_unit_has_neither_interval_nor_test(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "Aspirin eases pain."
    rows = {"gold": [(0, 7), (14, 18)], "a": [(0, 7)], "b": [(0, 7), (8, 13)]}
    files = []
    for name, spans in rows.items():
        file = tmp_path / f"{name}.jsonl"
        held = [{"start": start, "end": end, "label": "X"} for start, end in spans]
        # A second document without spans tells nothing either.
        file.write_text(
            "".join(
                json.dumps(row) + "\n"
                for row in ({"id": "d1", "text": text, "spans": held}, {"id": "d2", "text": text, "spans": []})
            )
        )
        files.append(str(file))
    for verb, key in (("compare", "scores"), ("compare", "differences"), ("agreement", "agreement")):
        assert main([verb, *files, "-q", "--json", "-"]) == 0
        found = json.loads(capsys.readouterr().out)
        f1 = [row for row in found[key] if row.get("figure", "f1") == "f1"]
        assert f1 and all("rests on one document alone" in row["why"] for row in f1)
        for name in ("low", "high", "f1_low", "precision_high", "p", "p_holm", "best"):
            assert all(row.get(name) is None for row in f1)
        assert "interval nan" not in str(found["words"]) and "stays the best" not in str(found["words"])
    assert main(["slices", *files[:2], "-q", "--by", "length"]) == 0
    assert "no interval, as all spans are in one document: " in capsys.readouterr().out
    (table,) = nereval.slices_of(*files[:2], by="length").tables.values()
    assert set(table["interval"]) == {"none"} and table[["recall_low", "precision_high", "f1_low"]].isna().all(
        axis=None
    )
    assert main(["compare", *files, "-q"]) == 0
    assert "rests on one document alone" in capsys.readouterr().out


def test_pages_ask_what_is_resampled() -> None:
    app = upload(opened("Start"), *(jsonl(side) for side in ("gold", "one", "two")))
    view = View(corpus=address(app)["corpus"], resample="author")
    for page in ("Systems", "Annotators", "Slices"):
        there = opened(page, replace(view, annotators_tab="figures"))
        box = there.selectbox(key="widget_resample_by")
        assert box.value == "author" and "groups of documents with the same author" in box.options
        assert "groups of documents with the same author" in texts(there)
        assert there.selectbox(key="widget_resample_within").value == ""
        there = opened(page, replace(view, annotators_tab="figures", resample="author within period"))
        assert there.selectbox(key="widget_resample_by").value == "author"
        assert there.selectbox(key="widget_resample_within").value == "period"
        assert "6 groups of documents with the same author, drawn within the 2 values of period" in texts(there)
        there.selectbox(key="widget_resample_within").select("").run()
        assert address(there)["resample"] == "author"
    wrong = opened("Systems", replace(view, resample="nothing"))
    assert "no document has 'nothing'" in " ".join(str(one.value) for one in wrong.get("code"))
    assert wrong.selectbox(key="widget_resample_by").value == "document"


def jsonl(side: str) -> str:
    """Write 24 documents by six authors."""
    step = {"gold": 0, "one": 3, "two": 4}[side]
    rows = []
    for number in range(24):
        ends = 7 if not step or number % step else 6
        spans = [{"start": 0, "end": ends, "label": "X"}]
        rows.append(
            {
                "id": f"d{number}",
                "text": "Aspirin eases",
                "spans": spans,
                "meta": {"author": number % 6, "period": number % 2},
            }
        )
    return "".join(json.dumps(row) + "\n" for row in rows)
