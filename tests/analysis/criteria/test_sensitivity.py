"""The experiment of Tsai et al. 2006: its numbers are those of score, its words those of its numbers."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from nereval_core.analysis.criteria.sensitivity import (
    ALL_TYPES,
    NONE,
    OVERTAKING_COLUMNS,
    SENSITIVITY_COLUMNS,
    merge_settings,
    overtakings,
    ranking_in_words,
    sensitivity,
)
from nereval_core.api.load import load_corpus
from nereval_core.api.load_options import LoadOptions
from nereval_core.cli import main
from nereval_core.corpus import Corpus, Documents, layer
from nereval_core.problems import FormatError
from nereval_core.scoring.criteria import APPLICABLE, CRITERIA
from tests.support import ROOT
from tests.support.shared_corpora import SHARED, needs

DEMO = ROOT / "demo_data" / "biology"
SYSTEMS = ("rules", "perceptron", "annotator-1")
FILES = [str(DEMO / f"{name}.jsonl") for name in ("gold", *SYSTEMS)]
MACRO = "protein,DNA,RNA=macromolecule"
COUNTS = ("COR", "INC", "PAR", "MIS", "SPU", "POS", "ACT")
COUNTINGS = ("one-to-one", "each-side")
RATIOS = ("precision", "recall", "f1")
LOOSER = (
    *(("strict", "left"), ("strict", "right"), ("left", "either"), ("right", "either"), ("either", "approximate")),
    *(("approximate", "type"), ("type", "lenient"), ("strict", "exact"), ("exact", "lenient"), ("exact", "partial")),
    *(("strict", "muc"), ("muc", "strict"), ("muc", "type")),
)
TEXT = "Ann saw Bob in Rome and Oslo."

Run = Callable[..., tuple[int, str, str]]
Spans = Sequence[tuple[int, int, str]]


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a verb in a folder of its own; return exit status, standard output and standard error."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str) -> tuple[int, str, str]:
        capfd.readouterr()
        status = main(arguments)
        out, err = capfd.readouterr()
        return status, out, err

    return call


def object_of(run: Run, *arguments: str) -> dict[str, Any]:
    status, out, err = run(*arguments, "--json", "-")
    assert status == 0, err
    found: dict[str, Any] = json.loads(out)
    return found


def corpus(gold: Spans, **systems: Spans) -> Corpus:
    """Return a corpus of one document."""
    over = Documents(("d1",), (TEXT,))
    layers = [
        layer(name, over, [0] * len(spans), *(list(column) for column in zip(*spans, strict=True)))
        if spans
        else layer(name, over, [], [], [], [])
        for name, spans in {"gold": gold, **systems}.items()
    ]
    return Corpus("c", over, layers[0], tuple(layers[1:]))


def same_as_score(run: Run, files: Sequence[str], merge: str, countings: Sequence[str], *more: str) -> None:
    """Hold every number against that of `score` with the merge, the counting and the criteria of its row."""
    asked = countings[0] if len(countings) == 1 else "both"
    found = object_of(run, "sensitivity", *files, *more, "-q", "--merge", merge, "--counting", asked)
    assert next(iter(found["merges"])) == NONE and list(found["merges"])[-1] == ALL_TYPES
    seen = 0
    for label, rules in found["merges"].items():
        merges = [item for member, name in rules.items() for item in ("--merge", f"{member}={name}")]
        for counting in countings:
            scored = object_of(run, "score", *files, *more, "-q", "--criteria", "all", "--counting", counting, *merges)
            for system in scored["systems"]:
                for name, numbers in system["criteria"].items():
                    (row,) = (
                        row
                        for row in found["scores"]
                        if [row[key] for key in ("system", "criterion", "merge", "counting")]
                        == [system["name"], name, label, counting]
                    )
                    assert {key: row[key] for key in (*COUNTS, *RATIOS)} == {
                        key: numbers[key] for key in (*COUNTS, *RATIOS)
                    }
                    assert row["signature"] == numbers["signature"]
                    if counting == "each-side":
                        for side in ("gold", "pred"):
                            ours = [row[f"{side}_{key}"] for key in COUNTS[:3]]
                            assert ours == [numbers[side][key] for key in COUNTS[:3]]
                    seen += 1
    assert seen == len(found["scores"])


def looser_is_never_less_correct(rows: Sequence[Mapping[str, Any]]) -> None:
    correct = {(row["system"], row["merge"], row["criterion"]): row["COR"] for row in rows}
    for system, merge in {(row["system"], row["merge"]) for row in rows}:
        for stricter, looser in LOOSER:
            assert correct[system, merge, stricter] <= correct[system, merge, looser], (system, merge, looser)


@pytest.mark.parametrize("more", [(), ("--leave-out", "cell_line")])
def test_numbers_are_those_of_score(run: Run, more: tuple[str, ...]) -> None:
    same_as_score(run, FILES, MACRO, COUNTINGS, *more)


@needs("jnlpba")
def test_jnlpba(run: Run) -> None:
    """Answers that stand for two systems: evalIOB2.pl knows no merges, score does."""
    names = ("Genia4EReval1", "answers_legal", "answers_broken")
    files = [str(SHARED / "jnlpba" / f"{name}.iob2") for name in names]
    same_as_score(run, files, MACRO, COUNTINGS[:1], "--repair", "conlleval")
    found = object_of(run, "sensitivity", *files, "--repair", "conlleval", "-q", "--merge", MACRO)
    looser_is_never_less_correct(found["scores"])
    assert any("malformed" in row["signature"] for row in found["scores"] if row["system"] == "answers_broken")


def test_looser_criteria_are_never_less_correct(run: Run) -> None:
    for corpus_name in ("biology", "newspapers", "pharmacology"):
        files = [str(ROOT / "demo_data" / corpus_name / f"{name}.jsonl") for name in ("gold", *SYSTEMS)]
        looser_is_never_less_correct(object_of(run, "sensitivity", *files, "-q")["scores"])


@needs("hipe2020")
def test_hipe_2020_ranking_changes_as_published() -> None:
    """The official rankings of CLEF-HIPE-2020 (English, NE-COARSE-LIT, micro): who overtakes whom from strict to fuzzy.

    The scorer upper-cases types, which a merge does here; team31_bundle5 is not ranked in this column.
    """
    official = {}
    for kind in ("strict", "fuzzy"):
        path = SHARED / "expected" / "hipe2020" / f"official_ranking_en_coarse_{kind}.tsv"
        rows = csv.DictReader(path.open(encoding="utf-8"), delimiter="\t")
        official[kind] = {
            row["System"]: float(row["F1"])
            for row in rows
            if (row["Evaluation"], row["Label"]) == (f"NE-COARSE-LIT-micro-{kind}", "ALL")
        }
    names = sorted(official["strict"])
    assert len(names) == 13 and set(names) == set(official["fuzzy"])
    loaded = load_corpus(
        str(SHARED / "hipe2020" / "gold" / "HIPE-data-v1.3-test-en.tsv"),
        {name: str(SHARED / "hipe2020" / "submissions" / f"{name}.tsv") for name in names},
        options=LoadOptions(repair="conlleval", token_text="gold"),
    )
    upper = {kind: kind.upper() for kind in ("loc", "org", "pers", "prod", "time")}
    table = sensitivity(loaded.corpus, (CRITERIA["strict"], CRITERIA["type"]), {"upper": upper}, marks=loaded.marks)
    rows = overtakings(table).query("criterion == 'type'")
    ours = set(zip(rows["system"], rows["overtakes"], strict=True))
    theirs = {
        pair
        for one, other in combinations(names, 2)
        for pair in ((one, other), (other, one))
        if official["strict"][pair[0]] < official["strict"][pair[1]]
        and official["fuzzy"][pair[0]] > official["fuzzy"][pair[1]]
    }
    assert len(theirs) > 3
    assert ours == theirs


GOLD = [(0, 3, "PER"), (8, 11, "PER"), (15, 19, "LOC"), (24, 28, "LOC")]
HALF = GOLD[:2]
LONG = [(start, end + 1, kind) for start, end, kind in GOLD]
OTHER = [(start, end, {"PER": "LOC", "LOC": "PER"}[kind]) for start, end, kind in GOLD]
CHOSEN = tuple(CRITERIA[name] for name in ("type", "strict", "exact", "lenient"))


def test_who_overtakes_whom() -> None:
    """Half is right in half of the spans, long in all but the ends, other in all but the types."""
    table = sensitivity(corpus(GOLD, half=HALF, long=LONG, other=OTHER), CHOSEN)
    assert ranking_in_words(table) == (
        "order by F1 under strict, types merged: none, counting one-to-one: half, long = other",
        "long overtakes half under type and lenient; with types merged: all types under type and lenient",
        "other overtakes half under exact and lenient; with types merged: all types under every criterion",
        # Level under strict: type, the next criterion asked for, puts long before other.
        "other overtakes long under exact; with types merged: all types under strict and exact",
    )
    changes = overtakings(table)
    assert list(changes.columns) == list(OVERTAKING_COLUMNS)
    assert changes.iloc[0].tolist() == ["long", "half", "type", NONE, "one-to-one"]
    ranks = table[table["merge"] == NONE].pivot(index="system", columns="criterion", values="rank")
    assert ranks["strict"].tolist() == [1, 2, 2]
    assert ranks["exact"].tolist() == [2, 3, 1]
    assert ranks["type"].tolist() == [2, 1, 3]
    assert ranks["lenient"].tolist() == [3, 1, 1]


def test_words_where_nothing_changes_and_of_one_system() -> None:
    table = sensitivity(corpus(GOLD, half=HALF, same=GOLD), CHOSEN, {NONE: {}})
    assert ranking_in_words(table)[1:] == ("no two systems change places under any criterion, merge or counting",)
    assert ranking_in_words(sensitivity(corpus(GOLD, half=HALF), CHOSEN)) == ()


def test_a_counting_changes_places_too() -> None:
    """Two predictions share a gold span: one to one the second is spurious."""
    one = [(0, 3, "PER"), (4, 7, "PER")]
    two = [(0, 1, "PER"), (1, 3, "PER"), (4, 7, "PER")]
    gold = [(0, 3, "PER"), (15, 19, "PER")]
    table = sensitivity(corpus(gold, one=one, two=two), (CRITERIA["lenient"],), {NONE: {}}, ("one-to-one", "each-side"))
    assert table["f1"].tolist() == [2 / 4, 2 / 5, 2 / 4, 4 / 7]
    assert ranking_in_words(table)[1:] == ("two overtakes one counting each-side under lenient",)


def test_the_table_declares_its_columns() -> None:
    for found in (corpus(GOLD, half=HALF), corpus([], none=[]), corpus(GOLD)):
        table = sensitivity(found)
        assert dict(table.dtypes) == SENSITIVITY_COLUMNS
        assert table["criterion"].cat.categories.tolist() == list(APPLICABLE)
        assert len(table) == len(found.systems) * len(APPLICABLE) * (2 if len(found.gold) else 1)


def test_what_is_undefined_has_no_place() -> None:
    table = sensitivity(corpus([], none=[], some=HALF), (CRITERIA["strict"],), {NONE: {}})
    assert table["f1"].isna().tolist() == [True, False]
    assert table["rank"].isna().tolist() == [True, False]
    assert table["f1_minus_strict"].isna().tolist() == [True, False]
    assert ranking_in_words(table)[0].endswith(": some; undefined for none")


def test_strict_is_compared_with_where_it_is_not_shown() -> None:
    found = corpus(GOLD, half=HALF, long=LONG)
    table = sensitivity(found, (CRITERIA["lenient"],), {NONE: {}})
    assert table["criterion"].tolist() == ["lenient"] * 2
    assert table["f1_minus_strict"].tolist() == [0, 1]
    assert ranking_in_words(table)[0].startswith("order by F1 under lenient,")


@pytest.mark.parametrize(
    ("merges", "expected"),
    [
        ([], {}),
        (["PER=X"], {"X": {"PER": "X"}}),
        ([" PER , LOC = X "], {"X": {"PER": "X", "LOC": "X"}}),
        (["PER=X;LOC=Y"], {"X + Y": {"PER": "X", "LOC": "Y"}}),
        (["PER=X", "PER=X"], {"X": {"PER": "X"}}),
        (["PER=X", "LOC=X"], {"PER=X": {"PER": "X"}, "LOC=X": {"LOC": "X"}}),
        (["PER=none", "LOC=all types"], {"PER=none": {"PER": "none"}, "LOC=all types": {"LOC": "all types"}}),
        (["P;E=X"], {"X": {"P;E": "X"}}),
        ([{"PER": "X"}, "LOC=Y"], {"X": {"PER": "X"}, "Y": {"LOC": "Y"}}),
    ],
)
def test_merge_settings(merges: list[Any], expected: dict[str, dict[str, str]]) -> None:
    everything = {"LOC": "all types", "PER": "all types"}
    assert merge_settings(merges, corpus(GOLD)) == {NONE: {}, **expected, ALL_TYPES: everything}


def test_all_types_are_those_scored_under_a_free_name() -> None:
    found = corpus([*GOLD, (4, 7, "all types")])
    assert merge_settings([], found)[ALL_TYPES] == dict.fromkeys(("LOC", "PER", "all types"), "(all types)")
    left = merge_settings([], corpus(GOLD), leave_out=("all types", "gone"))
    assert left[ALL_TYPES] == dict.fromkeys(("LOC", "PER"), "(all types)")
    assert merge_settings([], corpus(GOLD), leave_out=("LOC",)) == {NONE: {}}


def test_all_bad_merges_are_told_at_once() -> None:
    with pytest.raises(FormatError) as error:
        merge_settings(["PER", "=X", "PER=X;PER=Y"], corpus(GOLD))
    assert len(error.value.problems) == 3


def test_criteria_that_need_more_come_in_where_gold_has_it(run: Run) -> None:
    """All of them where gold has cores and alternatives; one that is named needs what it needs."""
    spans = [{"start": 0, "end": 6, "label": "A", "core": [4, 6], "alternatives": [[4, 6]]}, {"start": 8, "end": 9}]
    plain = [{"start": 4, "end": 6, "label": "A"}, {"start": 8, "end": 9}]
    for name, rows in (("gold", spans), ("system", plain)):
        rows = [{"label": "B", **row} for row in rows]
        Path(f"{name}.jsonl").write_text(json.dumps({"id": "d", "text": "abcdefghij", "spans": rows}) + "\n")
    same_as_score(run, ("gold.jsonl", "system.jsonl"), "A,B=C", COUNTINGS)
    found = object_of(run, "sensitivity", "gold.jsonl", "system.jsonl", "-q")
    rows = {row["criterion"]: row["COR"] for row in found["scores"] if row["merge"] == NONE}
    assert list(rows) == list(CRITERIA)
    assert (rows["strict"], rows["core"], rows["alternatives"]) == (1, 2, 2)
    status, _, err = run("sensitivity", *FILES[:2], "--criteria", "strict,core")
    assert status == 2 and "criterion core needs" in err


def test_json(run: Run) -> None:
    found = object_of(run, "sensitivity", *FILES, "-q", "--merge", MACRO, "--criteria", "strict,type")
    assert list(found) == ["nereval", "schema", "gold", "systems", "merges", "scores", "overtakings", "ranking"]
    assert list(found["gold"]) == ["sha256", "documents", "spans"]
    assert [list(system) for system in found["systems"]] == [["name", "sha256", "spans", "identical", "notices"]] * 3
    assert [system["name"] for system in found["systems"]] == list(SYSTEMS)
    members = ("protein", "DNA", "RNA")
    assert found["merges"]["macromolecule"] == dict.fromkeys(members, "macromolecule")
    assert [list(row) for row in found["scores"]] == [list(SENSITIVITY_COLUMNS)] * (3 * 2 * 3)
    assert all(isinstance(row["rank"], int) for row in found["scores"])


def test_csv_is_the_long_table(run: Run) -> None:
    status, out, err = run("sensitivity", *FILES, "--csv", "-", "--counting", "each-side")
    assert status == 0 and "rules.jsonl: jsonl; 20 documents" in err
    rows = list(csv.DictReader(io.StringIO(out)))
    assert list(rows[0]) == list(SENSITIVITY_COLUMNS)
    assert len(rows) == len(SYSTEMS) * len(APPLICABLE) * 2
    assert {row["COR"] for row in rows} == {""} and "" not in {row["gold_COR"] for row in rows}


def test_screen(run: Run) -> None:
    status, out, _ = run("sensitivity", *FILES[:3], "-q", "--merge", MACRO, "--criteria", "strict,lenient")
    assert status == 0
    f1, difference, places = out.split("\n\n")
    assert f1.splitlines() == [
        "F1",
        "system              merge  strict  lenient",
        "rules                none  0.6817   0.8958",
        "perceptron           none  0.4912   0.8363",
        "rules       macromolecule  0.6986   0.8958",
        "perceptron  macromolecule  0.5906   0.8363",
        "rules           all types  0.7099   0.8958",
        "perceptron      all types  0.6140   0.8363",
    ]
    assert difference.startswith("F1 less F1 under strict\n") and places.startswith("Place by F1 among the systems\n")
    signatures = [line for line in places.splitlines() if line.startswith("nereval ")]
    assert len(signatures) == 6 and all(" | criterion strict,lenient | " in line for line in signatures)


@pytest.mark.parametrize(
    ("form", "holds"), [("markdown", "| rules | none |"), ("latex", "\\toprule"), ("html", "<td>macromolecule</td>")]
)
def test_other_forms(run: Run, form: str, holds: str) -> None:
    status, out, err = run("sensitivity", *FILES, "-q", "--merge", MACRO, f"--{form}", "-")
    assert status == 0, err
    assert holds in out and "criterion strict,exact," in out and "nereval" in out


def test_the_page_with_the_figure(run: Run) -> None:
    """The same bytes on every run; Plotly once; no name of a system becomes markup."""
    hostile = f"</script><b>x={FILES[1]}"
    for name in ("one.html", "two.html"):
        status, out, err = run("sensitivity", FILES[0], hostile, FILES[2], "-q", "--figure", name)
        assert status == 0, err
        assert out.startswith("F1\n")
    page = Path("one.html").read_bytes()
    assert page == Path("two.html").read_bytes()
    text = page.decode()
    assert text.count('id="nereval-sensitivity"') == 1 and text.count("Plotly.newPlot(") == 1
    assert text.count("plotly.js v") == 1 and "<script src" not in text
    assert "<b>x" not in text and "&lt;/script&gt;&lt;b&gt;x" in text
    assert "criterion strict,exact," in text


@pytest.mark.parametrize(("package", "figure"), [("plotly", "f.html"), ("kaleido", "f.svg"), ("kaleido", "f.png")])
def test_without_plotly_there_is_no_figure_but_all_else(
    run: Run, monkeypatch: pytest.MonkeyPatch, package: str, figure: str
) -> None:
    """None stands for a package that is not there, as in Python's own import system."""
    monkeypatch.setitem(sys.modules, package, None)
    status, out, err = run("sensitivity", *FILES[:2], "-q", "--figure", figure)
    assert (status, out) == (2, "") and f"pip install {package}" in err and not Path(figure).exists()
    assert run("sensitivity", *FILES[:2], "-q", "--html", "-")[0] == 0


NO_MERGE = "--merge: 'DNA' is not a merge"
BAD: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = (
    (("gold.jsonl",), ("name a prediction after gold",)),
    (("gold.jsonl", "missing.jsonl"), ("missing.jsonl",)),
    (("gold.jsonl", "rules.jsonl", "--criteria", "loose"), ("no criterion 'loose'",)),
    (("gold.jsonl", "rules.jsonl", "--criteria", "loose", "--merge", "DNA"), ("no criterion 'loose'", NO_MERGE)),
    (("gold.jsonl", "rules.jsonl", "--merge", "DNA"), (NO_MERGE,)),
    (("gold.jsonl", "rules.jsonl", "--counting", "neither"), ("invalid choice: 'neither'",)),
    (("gold.jsonl", "rules.jsonl", "--figure", "f.docx"), ("end the name in .html, .htm, .svg, .png or .pdf",)),
    (("gold.jsonl", "rules.jsonl", "--figure", "f.html", "--html", "f.html"), ("two outputs have the place 'f.html'",)),
    (("gold.jsonl", "x=rules.jsonl", "--json", "rules.jsonl"), ("--json 'rules.jsonl' would overwrite an input",)),
    (("gold.jsonl", "rules.jsonl", "--json", "no/f.json", "--csv", "f.csv"), ("no/f.json: cannot be written",)),
)


@pytest.mark.parametrize(("arguments", "said"), BAD, ids=[" ".join(arguments) for arguments, _ in BAD])
def test_bad_input(run: Run, arguments: tuple[str, ...], said: tuple[str, ...]) -> None:
    for name in ("gold", "rules"):
        Path(f"{name}.jsonl").write_bytes((DEMO / f"{name}.jsonl").read_bytes())
    status, out, err = run("sensitivity", *arguments, "-q")
    assert (status, out) == (2, "")
    assert all(text in err for text in said), err
    assert sorted(path.name for path in Path().iterdir()) == ["gold.jsonl", "rules.jsonl"]
    assert Path("rules.jsonl").read_bytes() == (DEMO / "rules.jsonl").read_bytes()


def test_what_was_meant_otherwise_is_said(run: Run) -> None:
    status, _, err = run("sensitivity", *FILES[:2], "--merge", "protien,DNA=x", "--leave-out", "cell")
    assert status == 0
    assert "--merge: no span has the type 'protien'" in err and "--leave-out: no span has the type 'cell'" in err
    kept = ",".join(("DNA", "RNA", "cell_line", "cell_type"))
    status, out, err = run("sensitivity", *FILES[:2], "--leave-out", kept)
    assert status == 0 and "merge 'all types' left out: there is no second type" in err
    assert "all types" not in out


def test_a_criterion_of_ones_own(run: Run) -> None:
    rule = "half: boundaries=overlap, minimum=0.5, share=union, types=any, otherwise=PAR"
    found = object_of(run, "sensitivity", *FILES[:2], "-q", "--criteria", "type", "--criterion", rule)
    assert [row["criterion"] for row in found["scores"]] == ["type", "half"] * 2
    assert "criterion half (the two share a character and at least 0.5" in found["scores"][1]["signature"]
