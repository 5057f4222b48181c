"""Properties of every convention: its counts are sums of contributions, its records open in the documents."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

from nereval_core.cli import main
from nereval_core.conventions import (
    Convention,
    Outcome,
    ScorerInput,
    ScorerOption,
    apply,
    conventions,
    find_convention,
    option_values,
)
from nereval_core.conventions.convention import ScorerSteps
from nereval_core.conventions.outcome import FIGURE_COLUMNS, RatioNames
from nereval_core.conventions.records import DECISIONS, OVERALL, RECORD_COLUMNS, SIDES, UNITS
from nereval_core.problems import FormatError
from nereval_core.readers import Source
from nereval_core.readers.read_settings import ReadSettings
from nereval_core.scoring.count_tables import TEXT_DTYPE
from nereval_core.scoring.criteria import CRITERIA
from tests.support import biocreative_corpora, germeval_corpora, pharmaconer_corpora, wnut17_corpora
from tests.support.reconciliation import reconcile
from tests.support.shared_corpora import SHARED

TAGS = """\
Ada\tB-PER\tB-PER
Lovelace\tI-PER\tI-PER
met\tO\tB-LOC
Charles\tB-PER\tO
Babbage\tI-PER\tI-PER
in\tO\tO
Turin\tB-LOC\tB-ORG

Turin\tB-LOC\tB-LOC
lies\tO\tO
on\tO\tO
the\tB-LOC\tO
Po\tI-LOC\tB-LOC
"""
"""Token, gold and prediction: equal, longer, shorter, orphaned, of another type, spurious."""

SAMPLES = {
    "hipe": (
        "hipe2022/gold/HIPE-2022-v2.1-ajmc-test-de.tsv",
        "hipe2022/submissions/neurbsl_bundle3_ajmc_de_1.tsv",
    ),
    "biocreative": ("bc2gm", "bc2gm/run_mixed.eval"),
    "pharmaconer": ("pharmaconer/subtask1/ref", "pharmaconer/subtask1/res"),
    "jnlpba": ("jnlpba/Genia4EReval1.iob2", "jnlpba/answers_legal.iob2"),
    "wnut17": ("wnut17/emerging.test.annotated", "wnut17/submissions/arcada"),
}
"""Files of the scorers' own formats, by the beginning of the names of their conventions."""

OF_OTHER_DATA = ("biocreative", "germeval-2014", "pharmaconer", "wnut17")
"""Conventions that do not take TAGS (one type only, two columns, clinical types, the six types of the task), and are
tried on data drawn with a seed."""
SEED = 1
REPAIRS = {"seqscore": {"repair-method": "conlleval"}}
"""The options of conventions that refuse orphans otherwise."""


def drawn_sides(name: str, folder: Path) -> ScorerInput:
    """Write the drawn data of a convention that does not take TAGS."""
    gold: Path
    pred: Path
    if name == "biocreative":
        gold, pred, _ = biocreative_corpora.write_corpus(folder, SEED)
    elif name == "pharmaconer":
        gold, pred = pharmaconer_corpora.write_corpus(folder, SEED)
    elif name == "wnut17":
        gold, pred = wnut17_corpora.write_corpus(folder, SEED)
    else:
        gold, pred = germeval_corpora.write_sides(folder, germeval_corpora.draw(SEED))
    return ScorerInput(gold=Source.of_path(gold), pred=Source.of_path(pred))


each = pytest.mark.parametrize("convention", conventions().values(), ids=lambda convention: convention.name)


def written(folder: Path) -> ScorerInput:
    """Return the two columns of TAGS as two files."""
    for name, column in (("gold", 1), ("pred", 2)):
        rows = [line.split("\t") for line in TAGS.split("\n")]
        text = "\n".join("\t".join((row[0], row[column])) if len(row) > 1 else "" for row in rows)
        (folder / f"{name}.conll").write_text(text, encoding="utf-8")
    return ScorerInput(gold=Source.of_path(folder / "gold.conll"), pred=Source.of_path(folder / "pred.conll"))


def outcomes(convention: Convention, folder: Path) -> list[Outcome]:
    """Return the outcomes of a convention for the small files, if it takes them, and for a sample of its own."""
    found = []
    if convention.name in OF_OTHER_DATA:
        found.append(apply(convention, drawn_sides(convention.name, folder)))
    else:
        # The tags hold an orphan, which our reader of layers mends only if told to; a scorer of tags takes it.
        repair: Literal["conlleval"] | None = None if "conll" in convention.formats else "conlleval"
        settings = ReadSettings(repair=repair)
        found.append(apply(convention, replace(written(folder), settings=settings), REPAIRS.get(convention.name, {})))
    sample = next((paths for start, paths in SAMPLES.items() if convention.name.startswith(start)), None)
    if sample and all((SHARED / path).exists() for path in sample):
        gold, pred = (Source.of_path(SHARED / path) for path in sample)
        found.append(apply(convention, ScorerInput(gold=gold, pred=pred)))
    return found


@pytest.fixture(scope="module", params=conventions().values(), ids=lambda convention: convention.name)
def applied(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Convention, list[Outcome]]:
    """A convention with its outcomes, which the tests of its records share."""
    return request.param, outcomes(request.param, tmp_path_factory.mktemp("applied"))


def test_every_count_is_the_sum_of_what_records_contribute(applied: tuple[Convention, list[Outcome]]) -> None:
    for outcome in applied[1]:
        assert list(outcome.figures.columns) == list(FIGURE_COLUMNS)
        reconcile(outcome)


def test_records_have_the_declared_columns_and_open_in_the_documents(applied: tuple[Convention, list[Outcome]]) -> None:
    for outcome in applied[1]:
        for evaluation in outcome.evaluations[:3]:
            records = outcome.records(evaluation)
            assert list(records.columns)[: len(RECORD_COLUMNS)] == list(RECORD_COLUMNS)
            dtypes = {name: records[name].dtype for name in RECORD_COLUMNS}
            assert dtypes == dict(RECORD_COLUMNS)
            assert set(records["decision"]) <= set(DECISIONS)
            assert set(records["unit"]) <= set(UNITS)
            assert set(records["side"]) <= set(SIDES)
            assert (records["evaluation"] == evaluation).all()
            assert records["why"].notna().all()
            assert (records["why"].astype(TEXT_DTYPE) != "").all()
            texts = outcome.documents.texts
            spans = records[(records["unit"] == "span") & records["gold_start"].notna()]
            for doc, start, end, text in spans[["doc", "gold_start", "gold_end", "gold_text"]].itertuples(index=False):
                assert 0 <= start < end <= len(texts[doc])
                assert "".join(text.split()) in "".join(texts[doc][start:end].split())


def test_scores_are_json_and_repeat_themselves(applied: tuple[Convention, list[Outcome]], tmp_path: Path) -> None:
    convention, found = applied
    for one, two in zip(found, outcomes(convention, tmp_path), strict=True):
        assert json.dumps(one.scores, allow_nan=False) == json.dumps(two.scores, allow_nan=False)
        assert one.signature == two.signature
        assert f"convention {convention.name}" in one.signature
        assert one.records().equals(two.records())


@each
def test_a_convention_is_described(convention: Convention) -> None:
    for text in (convention.sentence, convention.needs, convention.source, convention.family):
        assert text.strip() == text != ""
        assert "\n" not in text
    assert set(convention.twins.values()) <= set(CRITERIA)
    assert len({option.name.replace("-", "_") for option in convention.options}) == len(convention.options)


def test_the_signature_holds_the_content_of_files_given_as_options(tmp_path: Path) -> None:
    found = []
    for name, content in (("one", "DNA\n"), ("two", "DNA\n"), ("three", "RNA\n")):
        (tmp_path / name).write_text(content, encoding="utf-8")
        options = {"tagset": tmp_path / name}
        found.append(
            apply(
                find_convention("hipe-2022"),
                replace(written(tmp_path), settings=ReadSettings(repair="conlleval")),
                options,
            ).signature
        )
    assert found[0] == found[1] != found[2]
    assert "tagset sha256:" in found[0]
    assert "suffix" not in found[0]


@pytest.mark.parametrize("name", ["nervaluate-1.2.1", "conlleval"])
def test_what_was_done_to_the_data_stands_in_the_signature(name: str, tmp_path: Path) -> None:
    gold, pred = tmp_path / "gold.jsonl", tmp_path / "pred.jsonl"
    rows = [
        json.dumps({"id": key, "text": "Rome", "spans": [{"start": 0, "end": 4, "label": "LOC"}]}) for key in ("a", "b")
    ]
    gold.write_text("\n".join(rows) + "\n", encoding="utf-8")
    pred.write_text(rows[0] + "\n", encoding="utf-8")
    given = ScorerInput(gold=Source.of_path(gold), pred=Source.of_path(pred), pairing={"missing": "empty"})
    assert "missing counted empty: 1 document" in apply(find_convention(name), given).signature


def test_files_of_another_format_are_scored_by_their_layers(tmp_path: Path) -> None:
    given = written(tmp_path)
    rows = [json.loads(line) for line in JSONL]
    for name in ("gold", "pred"):
        lines = [{"id": row["id"], "text": row["text"], "tokens": row["tokens"], "spans": row[name]} for row in rows]
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    same = ScorerInput(gold=Source.of_path(tmp_path / "gold.jsonl"), pred=Source.of_path(tmp_path / "pred.jsonl"))
    # The orphaned I is a B there, which costs a correct tag but no phrase.
    one, two = (apply(find_convention("conlleval"), each).scores["phrases"] for each in (given, same))
    assert one == two


@pytest.mark.parametrize("name", ["conlleval", "hipe-2022", "jnlpba-2004-04", "nervaluate-1.2.1"])
@pytest.mark.parametrize("other", ["jsonl", "hipe", "conll"])
def test_a_prediction_in_another_format_than_gold_is_scored_by_its_layer(name: str, other: str, tmp_path: Path) -> None:
    contents = {
        "conll": "Ada\tB-PER\nmet\tO\n",
        "jsonl": '{"id": "1", "text": "Ada met", "spans": [{"start": 0, "end": 3, "label": "PER"}]}\n',
        "hipe": "TOKEN\tNE-COARSE-LIT\nAda\tB-PER\nmet\tO\n",
    }
    for form, content in contents.items():
        (tmp_path / f"{form}.tsv").write_text(content, encoding="utf-8")
    gold, pred = (Source.of_path(tmp_path / f"{form}.tsv") for form in ("jsonl", other))
    both = [apply(find_convention(name), ScorerInput(gold=one, pred=two)) for one, two in ((gold, pred), (pred, gold))]
    for outcome in both:
        assert outcome.gold.spans == outcome.pred.spans == 1
        assert (outcome.records()["decision"] != "COR").sum() == 0


TAKEN = ("overall", "overall (type)", "ALL", "tags", "tokens", "micro")
"""Types that are called as scorers call something else."""


@pytest.mark.parametrize("name", ["conlleval", "seqeval", "seqeval-strict", "nervaluate-1.2.1", "nervaluate-0.3.1"])
@pytest.mark.parametrize("form", ["conll", "jsonl"])
def test_types_may_be_called_as_the_whole_is(name: str, form: str, tmp_path: Path) -> None:
    _check_taken(name, form, tmp_path)


def test_classes_of_jnlpba_may_be_called_as_the_whole_is(tmp_path: Path) -> None:
    outcome = _check_taken("jnlpba-2004-04", "conll", tmp_path)
    printed = next(iter(find_convention("jnlpba-2004-04").forms.values()))(outcome)
    assert all(f"[<{kind}> Identification" in printed for kind in TAKEN)
    assert printed.count("[Object Identification") == 1


def _check_taken(name: str, form: str, folder: Path) -> Outcome:
    """Score each type once right, once wrong, and check that no two scopes meet."""
    rows = [[(kind, kind) for kind in TAKEN], [(kind, "micro") for kind in TAKEN]]
    for side in (0, 1):
        if form == "conll":
            lines = ("".join(f"x\tB-{pair[side]}\n" for pair in row) for row in rows)
            text = "\n".join(lines) + "\n"
        else:
            spans = [
                [{"start": 2 * at, "end": 2 * at + 1, "label": pair[side]} for at, pair in enumerate(row)]
                for row in rows
            ]
            documents = [{"id": str(at), "text": "x " * len(TAKEN), "spans": one} for at, one in enumerate(spans)]
            text = "".join(json.dumps(document) + "\n" for document in documents)
        (folder / f"{side}.{form}").write_text(text, encoding="utf-8")
    gold, pred = (Source.of_path(folder / f"{side}.{form}") for side in (0, 1))
    outcome = apply(find_convention(name), ScorerInput(gold=gold, pred=pred))
    table = outcome.figures
    assert not table.duplicated(["evaluation", "scope", "figure"]).any()
    reconcile(outcome)
    assert {"overall", "overall (type)", "overall (type) (type)"} <= set(table["scope"])
    return outcome


def test_documents_without_tokens_are_cut_and_that_is_said(tmp_path: Path) -> None:
    place = tmp_path / "bare.jsonl"
    bare = '{"id": "a", "text": "Ada met", "spans": [{"start": 0, "end": 3, "label": "PER"}]}\n'
    own = bare.replace('"a"', '"b"').replace("met", "me-t").replace('"spans"', '"tokens": [[0, 3], [4, 8]], "spans"')
    nothing = '{"id": "c", "text": "", "spans": []}\n'
    for name in ("conlleval", "hipe-2020", "hipe-2022", "jnlpba-2004-04", "seqeval"):
        for content, said in ((bare, "the documents have"), (bare + own + nothing, "1 of 3 documents have"), (own, "")):
            place.write_text(content, encoding="utf-8")
            outcome = apply(find_convention(name), ScorerInput(gold=Source.of_path(place), pred=Source.of_path(place)))
            told = [note for note in outcome.notes if "have no tokens" in note]
            assert [note.partition(" no tokens")[0] for note in told] == ([said] if said else [])


def _jsonl() -> list[str]:
    """Return TAGS as documents with tokens: one a sentence, the orphaned I of the prediction begun with a B."""
    found = []
    for number, block in enumerate(TAGS.strip().split("\n\n")):
        rows = [line.split("\t") for line in block.split("\n")]
        ends = np.cumsum([len(row[0]) + 1 for row in rows]) - 1
        tokens = [[int(end) - len(row[0]), int(end)] for row, end in zip(rows, ends, strict=True)]
        document: dict[str, Any] = {"id": str(number), "text": " ".join(row[0] for row in rows), "tokens": tokens}
        for side, column in (("gold", 1), ("pred", 2)):
            spans: list[dict[str, Any]] = []
            for index, row in enumerate(rows):
                letter, _, kind = row[column].partition("-")
                if letter == "I" and spans and index and rows[index - 1][column].endswith(f"-{kind}"):
                    spans[-1]["end"] = tokens[index][1]
                elif kind:
                    spans.append({"start": tokens[index][0], "end": tokens[index][1], "label": kind})
            document[side] = spans
        found.append(json.dumps(document))
    return found


JSONL = _jsonl()

OPTIONS = Convention(
    name="x",
    family="f",
    sentence="s",
    needs="n",
    source="s",
    steps=ScorerSteps(
        lambda files, options: pytest.fail("not called"), None, lambda sides, options: pytest.fail("not called")
    ),
    ratios=RatioNames(precision="p", recall="r", f1="f", correct="c"),
    options=(
        ScorerOption("n_best", "how many", "numbers", (1,)),
        ScorerOption("task", "which", choices=("a", "b"), default="a"),
        ScorerOption("norm-time", "whether", "flag", False),
        ScorerOption("share", "how much", "number"),
        ScorerOption("digits", "how many", "integer", 2, least=0, most=99),
        ScorerOption("ranks", "which", "numbers", (1,), least=1),
        ScorerOption("tagset", "where", "file"),
    ),
)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, {"n_best": (1,), "task": "a", "norm-time": False, "share": None, "tagset": None}),
        ({"n-best": "1, 3,5"}, {"n_best": (1, 3, 5)}),
        ({"n_best": 3, "ranks": [1, "2"], "digits": 4}, {"n_best": (3,), "ranks": (1, 2), "digits": 4}),
        ({"norm_time": True, "share": "0.5", "task": "b"}, {"norm-time": True, "share": 0.5, "task": "b"}),
    ],
)
def test_options_are_parsed_with_dash_and_underscore_alike(given: dict[str, Any], expected: dict[str, Any]) -> None:
    values = option_values(OPTIONS, given)
    assert {name: values[name] for name in expected} == expected


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"n_best": "1,x"}, "is not a whole number"),
        ({"n_best": ""}, "is an empty list"),
        ({"task": "c"}, "is not one of a, b"),
        ({"share": "much"}, "is not a number"),
        ({"tagset": "nowhere.txt"}, "is not a file"),
        ({"tagset": "x" * 300}, "cannot be read: File name too long"),
        ({"digits": "-1"}, "'-1' is below 0; how many"),
        ({"digits": "9" * 30}, "is above 99; how many"),
        ({"digits": "9" * 5000}, "is not a whole number"),
        ({"digits": 1.5}, "'1.5' is not a whole number"),
        ({"digits": [1]}, "is not a whole number"),
        ({"tagset": ["PER"]}, "is not a path"),
        ({"ranks": "3,0"}, "'3,0' is below 1; which"),
        ({"depth": "1"}, "x has no option --depth"),
    ],
)
def test_a_wrong_option_is_told(given: dict[str, Any], said: str) -> None:
    with pytest.raises(FormatError, match=said):
        option_values(OPTIONS, given)


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    status = main([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    return status, out, err


def test_the_command_line_scores_by_a_convention(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = written(tmp_path)
    files = (given.gold.name, f"mine={given.pred.name}")
    status, out, err = run(capsys, "score", *files, "--convention", "conlleval", "--json", "-")
    assert (status, err) == (0, "")
    found = json.loads(out)
    (system,) = found["systems"]
    assert system["name"] == "mine"
    assert system["convention"]["name"] == "conlleval"
    assert system["convention"]["scores"] == apply(find_convention("conlleval"), given).scores
    assert (found["gold"]["spans"], system["spans"]) == (5, 6)
    records = tmp_path / "records.csv"
    status, out, _ = run(capsys, "score", *files, "--convention=conlleval", "--by", "type", "--records", records)
    assert status == 0
    assert OVERALL in out
    assert "LOC" in out
    assert records.read_text(encoding="utf-8").startswith("system,evaluation,scope,unit,")
    for form in ("csv", "markdown", "latex", "html"):
        status, out, _ = run(capsys, "score", *files, "--convention", "conlleval", f"--{form}", "-")
        assert status == 0
        assert "FB1" in out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--convention", "bleu"), "no convention 'bleu'; choose one of"),
        (("--convention", "conlleval", "--merge", "A,B=C"), "--merge would change the rules of conlleval"),
        (("--convention", "conlleval", "--counting", "each-side"), "--counting would change the rules"),
        (("--convention", "conlleval", "--repair", "discard"), "--repair: conlleval has its own handling"),
        (
            ("--convention", "conlleval", "--repair", "conlleval", "--token-text", "gold"),
            "leave out --repair alone, other options that a refusal named can stay",
        ),
        (("--convention", "conlleval", "--differences", "x.txt"), "end the name in one of .parquet, .jsonl, .csv"),
        (("--differences", "-"), "--differences: name the published scorer"),
        (("--convention", "seqeval", "--digits=-1", "--as-reference"), "--digits: '-1' is below 0"),
        (("--convention", "seqeval", "--digits", "9" * 400), "is above 99"),
        (("--convention", "hipe-2022", "--task", "nel", "--n-best", "0"), "--n_best: '0' is below 1"),
        (("--as-reference",), "--as-reference: name the published scorer"),
    ],
)
def test_what_makes_no_sense_is_told(
    arguments: tuple[str, ...], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = written(tmp_path)
    status, out, err = run(capsys, "score", given.gold.name, given.pred.name, *arguments)
    assert (status, out) == (2, "")
    assert said in err


def test_differences_are_counted_by_cause_and_written_span_by_span(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = written(tmp_path)
    files = (given.gold.name, f"mine={given.pred.name}", "--repair", "conlleval", "--convention", "conlleval")
    status, out, _ = run(capsys, "score", *files, "--differences", "-", "--quiet")
    assert status == 0
    assert "mine: conlleval phrase against ours, strict" in out
    place = tmp_path / "differences.jsonl"
    assert run(capsys, "score", *files, "--differences", place)[0] == 0
    rows = [json.loads(line) for line in place.read_text(encoding="utf-8").splitlines()]
    counts = [int(number) for number in re.findall(r"^(\d+) +the same ", out, re.MULTILINE)]
    assert counts and sum(counts) == len(rows)
    assert {(row["theirs"], row["ours"]) for row in rows} == {("MIS", "INC"), ("SPU", "INC")}
    same = (given.gold.name, f"mine={given.gold.name}", "--convention", "conlleval")
    status, out, _ = run(capsys, "score", *same, "--differences", "-", "--quiet")
    assert status == 0
    assert "no span is decided differently" in out


def test_another_number_of_tokens_names_the_place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = written(tmp_path)
    short = tmp_path / "short.conll"
    lines = Path(given.pred.name).read_text(encoding="utf-8").split("\n")
    short.write_text("\n".join([*lines[:3], *lines[4:]]), encoding="utf-8")
    status, _, err = run(capsys, "score", given.gold.name, short, "--convention", "conlleval")
    assert status == 2
    assert err == (
        f"{short}:4: 11 tokens where gold ({given.gold.name}) has 12: they part at 'Babbage' against gold's 'Charles'"
        f" ({given.gold.name}:4); give one tag for each gold token\n"
    )


def test_the_conventions_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "conventions")
    assert status == 0
    for convention in conventions().values():
        assert convention.name in out
        assert convention.sentence in out
