"""The verb `agreement` and the library's: the same figures in every form, and what is wrong told before any work."""

from __future__ import annotations

import csv
import io
import json
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import nereval_core as nereval
from nereval_core.analysis.agreement import AGREEMENT_COLUMNS
from nereval_core.analysis.agreement.human_ceiling import CEILING_COLUMNS
from nereval_core.analysis.agreement.summary import agreement_sentences
from nereval_core.problems import FormatError
from tests.support import ROOT
from tests.support.commands import Cli

DEMO = ROOT / "demo_data" / "biology"
NAMES = ("annotator-1", "annotator-2", "perceptron")
FILES = [str(DEMO / f"{name}.jsonl") for name in NAMES]
GIVEN = dict(zip(NAMES, FILES, strict=True))
FEW = ("--resamples", "200", "-q")


@pytest.fixture
def run(command: Cli) -> Cli:
    return partial(command, "agreement")


def done(run: Cli, *arguments: str) -> str:
    status, out, err = run(*arguments, *FEW)
    assert status == 0, err
    return out


def test_json_is_what_the_library_returns(run: Cli) -> None:
    found: dict[str, Any] = json.loads(
        done(run, *FILES, "--seed", "3", "--criteria", "strict,partial", "--by", "document", "--json", "-")
    )
    ours = nereval.agreement(GIVEN, criteria=("strict", "partial"), resamples=200, seed=3)
    table = pd.DataFrame(found["agreement"], columns=list(AGREEMENT_COLUMNS)).astype(dict(AGREEMENT_COLUMNS))
    pd.testing.assert_frame_equal(table, ours.table)
    assert [one["name"] for one in found["annotators"]] == list(NAMES)
    assert found["words"] == list(agreement_sentences(ours, "strict"))
    assert (found["resamples"], found["seed"], found["documents"]) == (200, 3, len(ours.layers[0].documents))
    assert [(one["one"], one["other"]) for one in found["by_document"][::2]] == [
        (None, None),
        *((NAMES[one], NAMES[other]) for one, other in ours.pairs),
    ]
    assert found["by_document"][0]["documents"][0]["document"] == ours.layers[0].documents.ids[0]
    assert "annotator perceptron sha256:" in found["signature"] and "criterion strict,partial" in found["signature"]


def test_what_is_printed_has_every_figure(run: Cli) -> None:
    out = done(run, *FILES[:2], "--by", "type,document")
    for said in ("F1, strict", "observed agreement", "Cohen's kappa", "Krippendorff's alpha", "unitizing alpha (2004)"):
        assert said in out
    assert out.startswith("Agreement of annotator-1 and annotator-2\n") and "By type, F1 under strict" in out
    assert "By document, F1 under strict" in out and "tokens: " in out.splitlines()[-1]
    out = done(run, f"first={FILES[0]}", *FILES[1:])
    assert "Fleiss' kappa" in out and "Agreement of each pair" in out and "\nfirst " in out


def test_csv_has_a_row_for_each_figure(run: Cli) -> None:
    rows = list(csv.DictReader(io.StringIO(done(run, *FILES, "--csv", "-", "--by", "document"))))
    ours = nereval.agreement(GIVEN, resamples=200)
    whole = [row for row in rows if not row["document"]]
    assert len(whole) == len(ours.table)
    assert [row["figure"] for row in whole] == ours.table["figure"].tolist()
    documents = {row["document"] for row in rows} - {""}
    assert documents == set(ours.layers[0].documents.ids)
    everyone = [row for row in rows if row["document"] and not row["one"]]
    wide = ours.by_document(None)
    assert [float(row["value"]) for row in everyone if row["figure"] == "kappa"] == wide["kappa"].tolist()
    assert all(row["signature"].startswith("nereval ") for row in rows)


def test_under_a_lopsided_criterion_documents_are_told_both_ways(run: Cli) -> None:
    half = "half: boundaries=overlap, minimum=0.6, share=gold"
    out = done(run, *FILES[1:], "--criteria", "half", "--criterion", half, "--by", "document", "--json", "-")
    found = json.loads(out)["by_document"]
    assert [(one["one"], one["other"]) for one in found] == [NAMES[1:], NAMES[:0:-1]]
    one, other = ([row["f1"] for row in each["documents"]] for each in found)
    assert one != other
    assert [row["kappa"] for row in found[0]["documents"]] == [row["kappa"] for row in found[1]["documents"]]


def test_what_is_undefined_is_told_beneath_its_table(run: Cli) -> None:
    pharmacology = [path.replace("biology", "pharmacology") for path in FILES]
    out = done(run, *pharmacology, "--by", "type")
    assert "and perceptron: refused, spans of NORMALIZABLES overlap in annotator-1" in out
    assert "\nunitizing alpha (2004) of PROTEINAS: refused, spans of PROTEINAS overlap" in out


def test_systems_are_held_against_the_human_ceiling(run: Cli, tmp_path: Path) -> None:
    rules = str(DEMO / "rules.jsonl")
    systems = ("--system", f"r={rules}", "--system", FILES[2])
    found = json.loads(done(run, *FILES[:2], *systems, "--criteria", "strict,partial", "--json", "-"))
    ours = nereval.agreement(
        {name: GIVEN[name] for name in NAMES[:2]},
        systems={"r": rules, "perceptron": FILES[2]},
        criteria=("strict", "partial"),
        resamples=200,
    ).ceiling
    assert ours is not None
    columns = dict(CEILING_COLUMNS)
    pd.testing.assert_frame_equal(pd.DataFrame(found["ceiling"], columns=list(columns)).astype(columns), ours.table)
    assert [one["name"] for one in found["systems"]] == ["r", "perceptron"]
    assert [one["name"] for one in found["annotators"]] == list(NAMES[:2])
    assert found["ceiling_words"][0].startswith("r does not agree with annotators significantly less")
    assert len(found["ceiling_words"]) == 4
    assert " | system r sha256:" in found["signature"]
    # Without systems the other figures are the same.
    alone = json.loads(done(run, *FILES[:2], "--criteria", "strict,partial", "--json", "-"))
    assert alone["agreement"] == found["agreement"] and "ceiling" not in alone
    out = done(run, *FILES[:2], *systems)
    assert "\nSystems against the human ceiling\n" in out and found["ceiling_words"][0] in out
    rows = csv.DictReader(io.StringIO(done(run, *FILES[:2], *systems, "--csv", "-", "--by", "document")))
    rows = [row for row in rows if row["figure"] == "ceiling"]
    assert [(row["one"], row["documents"]) for row in rows] == [("r", "20"), ("perceptron", "20")]
    assert [float(row["p_holm"]) for row in rows] == ours.table["p_holm"].tolist()[:2]
    pairwise = json.loads(done(run, *FILES[:2], *systems, "--documents", "pairwise", "--json", "-"))
    assert pairwise["ceiling"] == found["ceiling"][:2]
    assert [one["annotator"] for one in pairwise["systems"]] == [*NAMES[:2], *NAMES[:2]]
    assert " | system r with annotator-1 sha256:" in pairwise["signature"]


@pytest.mark.parametrize("form", ["markdown", "latex", "html", "excel"])
def test_every_form_is_written(run: Cli, tmp_path: Path, form: str) -> None:
    assert done(run, *FILES, f"--{form}", "out") == ""
    assert (tmp_path / "out").stat().st_size > 1_000


def test_one_file_with_two_columns(run: Cli, tmp_path: Path) -> None:
    (tmp_path / "both.conll").write_text("Anna B-PER B-PER\nsleeps O O\nhere O B-LOC\n\n")
    found = json.loads(done(run, "both.conll", "--gold-column", "2", "--pred-column", "3", "--json", "-"))
    assert [one["name"] for one in found["annotators"]] == ["column 2", "column 3"]
    assert [one["spans"] for one in found["annotators"]] == [1, 2]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([FILES[0]], "name two annotators or more"),
        ([*FILES, "--by", "span"], "--by 'span'"),
        ([*FILES, "--resamples", "7"], "--resamples: '7' is not possible"),
        ([*FILES, "--seed", "-1"], "--seed: '-1' is not possible"),
        ([*FILES, "--criteria", "core"], "criterion core needs"),
        ([f"a={FILES[0]}", f"a={FILES[1]}"], "name two annotators or more"),
        ([FILES[0], f"a={FILES[0]}", f"a={FILES[1]}"], "in another part of the same layer"),
        ([FILES[0], "nowhere.jsonl"], "nowhere.jsonl"),
        ([*FILES, "--system", FILES[2]], "--system perceptron is called as an annotator"),
        ([*FILES, "--system", "nowhere.jsonl"], "nowhere.jsonl"),
    ],
)
def test_what_is_wrong_is_said_in_a_line(run: Cli, tmp_path: Path, arguments: list[str], said: str) -> None:
    status, out, err = run(*arguments, "--json", "out.json")
    assert (status, out) == (2, "") and said in err.splitlines()[-1]
    assert not (tmp_path / "out.json").exists()


def test_the_library_takes_python_objects_and_layers() -> None:
    spans = [[{"label": "X", "start": 0, "end": 2}], []]
    found = nereval.agreement({"a": spans, "b": [[{"label": "X", "start": 0, "end": 5}], []]}, resamples=100)
    rows = found.rows((0, 1)).set_index("figure")
    assert rows.loc["f1", "value"].tolist() == [0, 0]
    assert rows["why"]["kappa"] == "there are no texts to find them in"
    layers = {name: nereval.read(path).layer for name, path in GIVEN.items()}
    with_layers = nereval.agreement(layers, resamples=100)
    pd.testing.assert_frame_equal(with_layers.table, nereval.agreement(GIVEN, resamples=100).table)
    with pytest.raises(FormatError, match="annotators: no document in any layer; give those of the same texts"):
        nereval.agreement({"a": [], "b": []})
    with pytest.raises(FormatError, match="fewer than two"):
        nereval.agreement({"a": spans})
    with pytest.raises(FormatError, match="'b' is an annotator and a system"):
        nereval.agreement({"a": spans, "b": spans}, systems={"b": spans})


def test_documents_that_an_annotator_has_not_read_are_left_out(run: Cli, tmp_path: Path) -> None:
    row = '{"id": "d%d", "text": "Aspirin eases.", "spans": [{"start": 0, "end": 7, "label": "Drug"}]}\n'
    one, other = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    one.write_text(row % 1 + row % 2 + row % 3)
    other.write_text(row % 1 + row % 3)
    status, _, err = run(str(one), str(other), *FEW)
    assert status == 2 and "score the documents that all have: --documents shared" in err
    for option, f1, documents in (("--documents=shared", 1, 2), ("--missing=empty", 0.8, 3)):
        found = json.loads(done(run, str(one), str(other), option, "--json", "-"))
        assert (found["agreement"][0]["value"], found["documents"]) == (f1, documents)


def test_each_pair_is_compared_on_what_the_two_have(run: Cli, tmp_path: Path) -> None:
    row = '{"id": "d%s", "text": "Aspirin eases.", "spans": [%s]}\n'
    drug, longer = (f'{{"start": 0, "end": {end}, "label": "Drug"}}' for end in (7, 13))
    given = {
        "a": [("1", drug), ("2", drug), ("3", drug)],
        "b": [("3", longer), ("1", drug)],
        "c": [("2", drug), ("4", drug)],
    }
    files = {name: str(tmp_path / f"{name}.jsonl") for name in given}
    for name, rows in given.items():
        Path(files[name]).write_text("".join(row % one for one in rows))
    ours = nereval.agreement(files, documents="pairwise", resamples=200)
    two = nereval.agreement({name: files[name] for name in "ab"}, documents="shared", resamples=200)
    pd.testing.assert_frame_equal(
        ours.rows((0, 1)).reset_index(drop=True), two.rows((0, 1)).reset_index(drop=True), check_dtype=False
    )
    whole = ours.table[ours.table["type"].isna() & ours.table["figure"].eq("f1")]
    assert whole["value"].round(3).tolist()[:3] == [0.75, 0.5, 1] and whole["documents"].tolist() == [0, 2, 1, 0]
    assert whole["why"].iat[0] == (
        "1 of 3 pairs undefined, left out; mean over pairs, each on the documents the two have in common: no interval"
    )
    assert whole["why"].iat[3] == "no document in common"
    found = json.loads(done(run, *files.values(), "--documents", "pairwise", "--json", "-", "--by", "type,document"))
    assert [one["documents"] for one in found["pairs"]] == [2, 1]
    table = pd.DataFrame(found["agreement"], columns=list(AGREEMENT_COLUMNS)).astype(dict(AGREEMENT_COLUMNS))
    pd.testing.assert_frame_equal(table, ours.table)
    assert " | documents pairwise | a sha256:" in found["signature"] and " on documents 2" in found["signature"]
    out = done(run, *files.values(), "--documents", "pairwise", "--by", "type,document")
    assert "one  other  documents" in out and "By document of a and c, F1 under strict" in out
    status, _, err = run(files["b"], files["c"], "--documents", "pairwise", *FEW)
    assert status == 2 and err.splitlines()[-1].startswith("annotators: no two have a document in common")
    with pytest.raises(FormatError, match="no two have a document in common"):
        nereval.agreement({name: files[name] for name in "bc"}, documents="pairwise")
    with pytest.raises(FormatError, match="documents without ids"):
        nereval.agreement({"a": [[(0, 2, "X")]], "b": [[(0, 2, "X")]]}, documents="shared")


def test_the_library_warns_where_annotators_share_no_type() -> None:
    with pytest.warns(UserWarning, match="b against a: no type is one of gold's: 'Y' here, 'X' in gold"):
        nereval.agreement({"a": [[(0, 2, "X")]], "b": [[(0, 2, "Y")]]}, resamples=100)


def test_gamma_is_a_row_of_all_and_a_column_of_pairs(run: Cli) -> None:
    text = done(run, *FILES[:2], "--gamma")
    assert any(line.startswith("gamma ") and "samples: no interval" in line for line in text.splitlines())
    rows = [
        row for row in json.loads(done(run, *FILES, "--gamma", "--json", "-"))["agreement"] if row["figure"] == "gamma"
    ]
    assert [row["type"] for row in rows] == [None] * len(rows) and all(0 < row["value"] < 1 for row in rows)
