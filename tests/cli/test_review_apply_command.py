"""Verdicts back into the data, on the command line and in the library: copies, what-if, adjudication."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

import nereval_core as nereval
from nereval_core.api.load import Loaded, load_corpus
from nereval_core.api.read import read, write
from nereval_core.api.score import score
from nereval_core.cli import main
from nereval_core.corpus import Layer
from nereval_core.problems import FormatError
from nereval_core.readers import Source
from nereval_core.records.match_records import rows
from nereval_core.review.apply import apply_verdicts
from nereval_core.review.apply.adjudication import UNDECIDED, Undecided, adjudicate
from nereval_core.review.apply.corrected_copy import (
    CHANGE_LOG_SUFFIX,
    LOG_COLUMNS,
    log_csv,
    log_rows,
    signature,
    write_copy,
)
from nereval_core.review.apply.what_if import what_if
from nereval_core.review.standing_verdicts import Reviewed
from nereval_core.review.store import ReviewStore
from nereval_core.review.verdicts import Draft, Key, Kind, Marked, Seen, Side, Verdict
from nereval_core.review.verdicts_on_records import marked, text_digests
from nereval_core.scoring import Settings, score_layers
from nereval_core.scoring.criteria import CRITERIA, SCHEMAS
from nereval_core.writers import pack_layer, writers
from tests.review.test_apply import ANN, DRUG, LONG, OTHER, TWICE, layer_of, spans_of, standing, verdict
from tests.support import ROOT

DEMO = ROOT / "demo_data" / "pharmacology"
GOLD, SYSTEMS = DEMO / "gold.jsonl", {"rules": DEMO / "rules.jsonl", "perceptron": DEMO / "perceptron.jsonl"}
KINDS: tuple[Kind, ...] = ("pred", "both", "neither", "gold", "unclear")


def drafted(loaded: Loaded, system: str, kinds: Sequence[Kind] = KINDS, every: int = 1) -> list[Draft]:
    """Return verdicts on the records of a system that are wrong under strict, of each kind in turn."""
    gold, pred = loaded.corpus.gold, loaded.corpus.system(system)
    found = rows(score_layers(gold, pred, Settings((CRITERIA["strict"],))), "strict")
    wrong = [at for at in range(len(found)) if found.decision[at] != 0][::every]
    drafts = []
    for turn, at in enumerate(wrong):
        spans = [
            marked(layer, int(span)) for layer, span in ((gold, found.gold[at]), (pred, found.pred[at])) if span >= 0
        ]
        side: Side = "gold" if found.anchored[at] else "pred"
        document = int(found.doc[at])
        key = Key(text_digests(gold.documents)[document], side, spans[0])
        seen = Seen.of(gold.documents.ids[document], gold.documents.texts[document], spans[0])
        kind = kinds[turn % len(kinds)]
        right = (Marked(((0, 3),), spans[0].type),) if kind == "neither" and turn % 2 else ()
        drafts.append(Draft(Verdict(key, kind, seen, spans[1] if len(spans) > 1 else None, right)))
    return drafts


@pytest.fixture(scope="module")
def loaded() -> Loaded:
    return load_corpus(str(GOLD), {name: str(path) for name, path in SYSTEMS.items()})


@pytest.fixture
def store(tmp_path: Path) -> ReviewStore:
    return ReviewStore(tmp_path / "review.sqlite")


def test_from_verdicts_to_the_score_of_the_copy(
    loaded: Loaded, store: ReviewStore, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store.give(drafted(loaded, "rules", every=2), "Ann")
    store.give(
        [one for one in drafted(loaded, "perceptron", every=3) if not store.reviewed().of(one.verdict.key)], "Bob"
    )
    where = ["--review", str(tmp_path / "review.sqlite"), "-q"]
    files = [str(GOLD), *(f"{name}={path}" for name, path in SYSTEMS.items())]
    both = tmp_path / "what-if.json"
    named = ["--criteria", "strict,exact,partial,type,alternatives"]
    assert main(["review", "what-if", *files, *where, *named, "--hangs", "--json", str(both)]) == 0
    out = tmp_path / "corrected.jsonl"
    assert main(["review", "apply", *files, *where, "--out", str(out)]) == 0
    signed = capsys.readouterr().out.splitlines()[-1]
    scored = tmp_path / "scores.json"
    assert main(["score", str(out), *files[1:], "-q", *named, "--json", str(scored)]) == 0
    promised, found = json.loads(both.read_text()), json.loads(scored.read_text())
    table = {(row["system"], row["criterion"]): row for row in promised["scores"]}
    for system in found["systems"]:
        for name, row in system["criteria"].items():
            assert row["f1"] == table[system["name"], name]["f1_after"], (system["name"], name)
            assert (row["COR"], row["POS"]) == (
                table[system["name"], name]["COR_after"],
                table[system["name"], name]["POS_after"],
            )
    assert table["rules", "alternatives"]["f1"] is None and table["rules", "alternatives"]["f1_after"] is not None
    assert found["gold"]["sha256"] == promised["corrected"]["sha256"]
    assert f"corrected sha256:{found['gold']['sha256'][:16]}" in signed and signed == promised["signature"]
    log = list(csv.DictReader((tmp_path / f"corrected.jsonl{CHANGE_LOG_SUFFIX}").open(newline="", encoding="utf-8")))
    assert tuple(log[0]) == (*LOG_COLUMNS, "signature") and {row["signature"] for row in log} == {signed}
    assert {row["who"] for row in log} == {"Ann", "Bob"} and len(log) == sum(promised["verdicts"].values())
    # Of one reviewer, and of one kind, there are fewer.
    assert main(["review", "apply", *files, *where, "--out", str(out), "--reviewer", "Bob", "--kind", "pred"]) == 0
    log = list(csv.DictReader((tmp_path / f"corrected.jsonl{CHANGE_LOG_SUFFIX}").open(newline="", encoding="utf-8")))
    assert {(row["who"], row["verdict"]) for row in log} == {("Bob", "prediction is right")}


@pytest.mark.parametrize("format", ["jsonl", "parquet", "brat"])
def test_a_copy_that_is_read_again_scores_as_what_if_said(
    format: str, loaded: Loaded, store: ReviewStore, tmp_path: Path
) -> None:
    store.give(drafted(loaded, "rules"), "Ann")
    gold, systems = loaded.corpus.gold, loaded.corpus.systems
    found = apply_verdicts(gold, store.reviewed(), systems)
    assert found.layer.digest != gold.digest
    name = "out.jsonl" if format == "jsonl" else "out"
    log = log_csv(log_rows(found.log), signature(found))
    notes = write_copy(found.layer, log, tmp_path / name, format=format, inputs=[GOLD], lossy=True)
    criteria = [one for one in CRITERIA.values() if one.lacks(found.layer) is None]
    if found.layer.alternatives and format == "brat":
        assert any("alternatives" in note for note in notes)
        criteria = [one for one in criteria if one.needs is None]
    promised = what_if(found, systems, Settings(tuple(criteria)))
    again = read(tmp_path / name, format=format)
    for system in systems:
        scores = score(again, system, criteria=criteria)
        for one in criteria:
            assert scores.counts(one.name) == promised.counts[system.name, one.name].after, one.name
    assert (tmp_path / f"{name}{CHANGE_LOG_SUFFIX}").read_bytes().count(b"\r\n") == len(found.log) + 1


@pytest.mark.parametrize(
    ("options", "told", "after"),
    [
        (
            [],
            ("2 verdicts applied to 2 places in 2 documents", "1 document with the same text not changed"),
            [[ANN], [ANN, DRUG]],
        ),
        (["--only-this-document"], ("2 verdicts applied to 2 places in 2 documents",), [[ANN], [ANN, DRUG]]),
        (["--every-document"], ("2 verdicts applied to 3 places in 3 documents",), [[ANN], [ANN]]),
    ],
)
def test_verdicts_places_and_documents_are_said_apart(
    options: list[str],
    told: tuple[str, ...],
    after: list[list[Marked]],
    store: ReviewStore,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    texts = ["Ann took aspirin tablets twice."] * 2 + ["Ann took aspirin tablets thrice."]
    given = [verdict("gold", DRUG, "pred"), verdict("gold", ANN, "gold", text=texts[2], document="d2")]
    store.give([Draft(one.verdict) for one in given], "Ann")
    gold, out = str(tmp_path / "gold.jsonl"), str(tmp_path / "out.jsonl")
    write(layer_of([ANN, DRUG], texts), gold)
    assert main(["review", "apply", gold, "--review", store.name, "--out", out, *options]) == 0
    said = capsys.readouterr()
    assert all(line in said.err for line in told)
    assert [spans_of(read(out).layer, number) for number in range(3)] == [*after, [ANN, DRUG]]
    verb = nereval.apply_verdicts(gold, verdicts=store.name, only_this_document="--every-document" not in options)
    assert verb.layer.digest == read(out).layer.digest and signature(verb) in said.out


def test_a_copy_in_columns_of_tags(tmp_path: Path) -> None:
    text = "Ann took aspirin tablets twice"
    gold = layer_of([ANN, DRUG, TWICE], [text])
    pred = replace(layer_of([ANN, LONG, OTHER], [text], "A"), documents=gold.documents)
    given = [verdict("gold", DRUG, "pred", LONG, text=text), verdict("gold", TWICE, "neither", text=text)]
    found = apply_verdicts(gold, standing(*given), [pred])
    assert not write_copy(found.layer, b"", tmp_path / "out.conll", format="conll", inputs=[])
    scores = score(read(tmp_path / "out.conll"), pred, criteria=SCHEMAS)
    promised = what_if(found, [pred], scores.settings).counts
    assert [scores.counts(name) for name in SCHEMAS] == [promised["A", name].after for name in SCHEMAS]
    assert scores.counts("strict").gold == (2, 0, 0, 0, 0)


def test_a_copy_in_the_format_of_gene_mentions(tmp_path: Path) -> None:
    gene = [Marked(span.fragments, "GENE") for span in (ANN, DRUG, LONG)]
    gold = layer_of(gene[:2])
    pred = replace(layer_of([gene[0], gene[2]], name="A"), documents=gold.documents)
    found = apply_verdicts(gold, standing(verdict("gold", gene[1], "both", gene[2])), [pred])
    write_copy(found.layer, b"", tmp_path / "out", format="bc2gm", inputs=[])
    scores = score(read(tmp_path / "out"), pred, criteria=("strict", "alternatives"))
    promised = what_if(found, [pred], scores.settings).counts
    for name in ("strict", "alternatives"):
        assert scores.counts(name) == promised["A", name].after
    assert scores.counts("alternatives").f1 == 1


def test_what_a_format_cannot_hold_is_said_and_nothing_is_written(tmp_path: Path) -> None:
    found = apply_verdicts(layer_of([ANN, DRUG]), standing(verdict("pred", LONG, "pred")))
    with pytest.raises(FormatError, match="'aspirin"):
        write_copy(found.layer, b"log", tmp_path / "out.conll", format="conll", inputs=[])
    assert not list(tmp_path.iterdir())
    with pytest.raises(FormatError, match="'aspirin"):
        pack_layer(found.layer, "conll", "corrected")


def places(tmp_path: Path) -> dict[str, Path]:
    gold = tmp_path / "gold.jsonl"
    write(layer_of([ANN]), gold)
    (tmp_path / "link.jsonl").symlink_to(gold)
    os.link(gold, tmp_path / "hard.jsonl")
    (tmp_path / "way").symlink_to(tmp_path, target_is_directory=True)
    return {
        "itself": gold,
        "by another name": tmp_path / "x" / ".." / "gold.jsonl",
        "by a link": tmp_path / "link.jsonl",
        "by a hard link": tmp_path / "hard.jsonl",
        "by a link on the way": tmp_path / "way" / "gold.jsonl",
        "a folder that holds it": tmp_path,
    }


@pytest.mark.parametrize(
    "name",
    ["itself", "by another name", "by a link", "by a hard link", "by a link on the way", "a folder that holds it"],
)
def test_gold_is_never_written_over(name: str, tmp_path: Path) -> None:
    found = apply_verdicts(layer_of([ANN]), standing(verdict("gold", ANN, "pred")))
    place = places(tmp_path)[name]
    before = (tmp_path / "gold.jsonl").read_bytes(), sorted(tmp_path.iterdir())
    with pytest.raises(FormatError, match="not written over"):
        write_copy(found.layer, b"log", place, format="jsonl", inputs=[tmp_path / "gold.jsonl"])
    assert ((tmp_path / "gold.jsonl").read_bytes(), sorted(tmp_path.iterdir())) == before


def test_neither_the_log_nor_a_file_in_a_folder_that_was_read_nor_the_other_of_a_pair(tmp_path: Path) -> None:
    layer = apply_verdicts(layer_of([ANN]), standing(verdict("gold", ANN, "pred"))).layer
    (tmp_path / "folder").mkdir()
    for out, given in (
        ("a", f"a{CHANGE_LOG_SUFFIX}"),
        ("folder/new", "folder"),
        ("x.spans.parquet", "x.texts.parquet"),
    ):
        with pytest.raises(FormatError, match="not written over"):
            write_copy(layer, b"log", tmp_path / out, format="parquet", inputs=[tmp_path / given])
    assert list(tmp_path.iterdir()) == [tmp_path / "folder"]


def test_the_same_layer_is_packed_as_the_same_bytes(tmp_path: Path) -> None:
    layer = apply_verdicts(layer_of([ANN, DRUG]), standing(verdict("gold", DRUG, "both", LONG))).layer
    for format, name in (("jsonl", "gold.jsonl"), ("brat", "gold.zip"), ("parquet", "gold.zip")):
        file, raw, _ = pack_layer(layer, format, "gold", lossy=True)
        assert (file, raw) == (name, pack_layer(layer, format, "gold", lossy=True)[1])
        (tmp_path / format).mkdir()
        (tmp_path / format / file).write_bytes(raw)
        assert spans_of(read(tmp_path / format / file).layer) == [ANN, DRUG]


ADJUDICATED = {
    "agreed": ([], [ANN], ["g:9-16:Drug no verdict yet", "p:25-30:Dose no verdict yet"]),
    "first is right": ([verdict("gold", DRUG, "gold", LONG)], [ANN, DRUG], ["p:25-30:Dose no verdict yet"]),
    "second is right": ([verdict("gold", DRUG, "pred", LONG)], [ANN, LONG], ["p:25-30:Dose no verdict yet"]),
    "both": ([verdict("gold", DRUG, "both", LONG)], [ANN, DRUG], ["p:25-30:Dose no verdict yet"]),
    "neither": ([verdict("gold", DRUG, "neither", LONG, [OTHER])], [ANN, OTHER], ["p:25-30:Dose no verdict yet"]),
    "unclear": (
        [verdict("gold", DRUG, "unclear", LONG)],
        [ANN],
        ["g:9-16:Drug unclear", "p:25-30:Dose no verdict yet"],
    ),
    "second alone, right": ([verdict("pred", TWICE, "pred")], [ANN, TWICE], ["g:9-16:Drug no verdict yet"]),
    "second alone, wrong": ([verdict("pred", TWICE, "gold")], [ANN], ["g:9-16:Drug no verdict yet"]),
    "second alone, both": ([verdict("pred", TWICE, "both")], [ANN, TWICE], ["g:9-16:Drug no verdict yet"]),
    "first alone, both": ([verdict("gold", DRUG, "both")], [ANN, DRUG], ["p:25-30:Dose no verdict yet"]),
    "of what both have": (
        [verdict("gold", ANN, "neither", ANN)],
        [],
        ["g:9-16:Drug no verdict yet", "p:25-30:Dose no verdict yet"],
    ),
}


@pytest.mark.parametrize(("given", "after", "left"), ADJUDICATED.values(), ids=ADJUDICATED)
def test_two_annotators_become_one_layer(given: list[object], after: list[Marked], left: list[str]) -> None:
    first = layer_of([ANN, DRUG], name="A")
    second = replace(layer_of([ANN, LONG, TWICE], name="B"), documents=first.documents)
    found = adjudicate(first, second, standing(*given))  # type: ignore[arg-type]
    assert spans_of(found.layer) == after and found.agreed == 1
    assert [f"{row.record} {row.reason}" for row in found.open] == left
    assert len(found.log) == len(found.applied.changes) + len(left) and found.layer.name == "adjudicated"


def test_two_spans_that_are_both_right_are_both_in_the_layer_and_what_is_unclear_is_logged_whole() -> None:
    first = layer_of([ANN, DRUG], name="A")
    second = replace(layer_of([ANN, OTHER, TWICE], name="B"), documents=first.documents)
    given = [verdict("gold", DRUG, "both", OTHER), verdict("pred", TWICE, "unclear")]
    turned = [verdict("gold", OTHER, "both", DRUG), verdict("gold", TWICE, "unclear")]
    for layers, verdicts in (((first, second), given), ((second, first), turned)):
        found = adjudicate(*layers, standing(*verdicts))
        assert spans_of(found.layer) == [ANN, OTHER, DRUG] and found.applied.counts()["both kept"] == 1
        assert [row.reason for row in found.open] == ["unclear"]
        row = dict(zip(LOG_COLUMNS, found.log[-1], strict=True))
        assert (row["verdict"], row["who"], row["at"]) == ("guideline unclear", "Ann", verdicts[1].at)
        assert (row["not applied"], row["given on"], row["verdict id"]) == ("unclear", "d0", verdicts[1].uid)


@pytest.mark.parametrize(
    ("undecided", "after"),
    [("leave-out", [ANN]), ("first", [ANN, DRUG]), ("second", [ANN, LONG, TWICE])],
)
def test_open_records_are_left_out_or_as_in_one_of_the_two(undecided: Undecided, after: list[Marked]) -> None:
    first = layer_of([ANN, DRUG], name="A")
    second = replace(layer_of([ANN, LONG, TWICE], name="B"), documents=first.documents)
    layer = adjudicate(first, second, Reviewed(), undecided=undecided).layer
    assert spans_of(layer) == after
    # A verdict stands whatever becomes of the rest.
    reviewed = standing(verdict("gold", DRUG, "neither", LONG, [OTHER]))
    layer = adjudicate(first, second, reviewed, undecided=undecided).layer
    assert OTHER in spans_of(layer) and not {DRUG, LONG} & set(spans_of(layer))
    assert (TWICE in spans_of(layer)) == (undecided == "second")


@pytest.mark.parametrize("undecided", ["leave-out", "second"])
def test_spans_of_the_second_alone_bring_their_links_along(undecided: Undecided) -> None:
    first = replace(layer_of([ANN, DRUG], name="A"), links={0: ("Q1",), 1: ("Q2",)})
    second = replace(
        layer_of([ANN, LONG, TWICE], name="B"),
        documents=first.documents,
        links={0: ("Q9",), 1: ("Q3",), 2: ("Q4",)},
        scores={1: 0.5},
    )
    layer = adjudicate(first, second, standing(verdict("gold", DRUG, "pred", LONG)), undecided=undecided).layer
    assert [layer.links[span] for span in range(len(layer))] == [("Q1",), ("Q3",), ("Q4",)][: len(layer)]
    assert len(layer) == (3 if undecided == "second" else 2) and not layer.scores


def test_codes_that_changed_spans_lose_are_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "gold").mkdir()
    (tmp_path / "gold/d.txt").write_text("Ann took aspirin")
    ann = "T1\tDrug 0 3\tAnn\n#1\tAnnotatorNotes T1\t7\nT2\tDrug 9 13\taspi\n#2\tAnnotatorNotes T2\t722\n"
    (tmp_path / "gold/d.ann").write_text(ann)
    row = {"id": "d", "text": "Ann took aspirin", "spans": [{"start": 9, "end": 16, "label": "Drug"}]}
    (tmp_path / "rules.jsonl").write_text(json.dumps(row) + "\n")
    loaded = load_corpus(str(tmp_path / "gold"), {"rules": str(tmp_path / "rules.jsonl")})
    store = ReviewStore(tmp_path / "review.sqlite")
    store.give([draft for draft in drafted(loaded, "rules", ("pred",)) if draft.verdict.partner is not None], "Ann")
    files = [str(tmp_path / "gold"), str(tmp_path / "rules.jsonl"), "--review", str(tmp_path / "review.sqlite")]
    for verb in ("apply", "adjudicate"):
        out = tmp_path / verb
        left = ["--undecided", "first"] if verb == "adjudicate" else []
        assert main(["review", verb, *files, *left, "--out", str(out), "--to", "brat"]) == 0
        assert "not carried over to changed spans: links of 1 span" in capsys.readouterr().err
        assert (out / "d.ann").read_text() == ("T1\tDrug 0 3\tAnn\n#1\tAnnotatorNotes T1\t7\nT2\tDrug 9 16\taspirin\n")


def test_with_open_records_as_in_the_first_it_is_the_first_corrected(loaded: Loaded, store: ReviewStore) -> None:
    store.give(drafted(loaded, "rules"), "Ann")
    gold, system = loaded.corpus.gold, loaded.corpus.system("rules")
    found = adjudicate(gold, system, store.reviewed(), undecided="first")
    expected = apply_verdicts(gold, store.reviewed(), [system]).layer
    assert spans_of(found.layer) == spans_of(expected) and "open as in the first layer" in found.signature


def test_annotators_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [str(DEMO / "annotator-1.jsonl"), str(DEMO / "annotator-2.jsonl")]
    loaded = load_corpus(files[0], {"annotator-2": files[1]})
    first, second = loaded.corpus.gold, loaded.corpus.systems[0]
    store = ReviewStore(tmp_path / "review.sqlite")
    store.give(drafted(loaded, "annotator-2", ("gold", "pred")), "Ann")
    where = ["--review", str(tmp_path / "review.sqlite"), "-q", "--out", str(tmp_path / "out.jsonl")]
    assert main(["review", "adjudicate", *files, *where]) == 0
    told = capsys.readouterr()
    found = adjudicate(first.renamed("annotator-1"), second, store.reviewed())
    assert told.out.strip() == found.signature and not found.open
    # Neither of the two is gold, in the log or in the list of verdicts.
    log = list(csv.DictReader((tmp_path / f"out.jsonl{CHANGE_LOG_SUFFIX}").open(newline="", encoding="utf-8")))
    assert {row["side"] for row in log} == {"annotator-1", "annotator-2"}
    assert {row["verdict"] for row in log} == {"annotator-1 is right", "annotator-2 is right"}
    assert main(["review", "list", *files, *where[:2], "--json", str(tmp_path / "list.json")]) == 0
    listed = json.loads((tmp_path / "list.json").read_text())["verdicts"]
    assert {row["verdict"] for row in listed} == {"annotator-1 is right", "annotator-2 is right"}
    assert main(["review", "list", *where[:2], "--json", str(tmp_path / "list.json")]) == 0
    listed = json.loads((tmp_path / "list.json").read_text())["verdicts"]
    assert {row["verdict"] for row in listed} == {"gold is right", "prediction is right"}
    assert read(tmp_path / "out.jsonl").layer.digest == found.layer.digest
    layers: list[Layer] = [first, second]
    for one, other in (layers, layers[::-1]):
        agreed = adjudicate(one, replace(other, documents=one.documents), Reviewed())
        assert len(agreed.layer) == agreed.agreed and {row.reason for row in agreed.open} == {UNDECIDED}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["apply", str(GOLD), "--out", "x", "--to", "no"], "no writer for the format 'no'"),
        (["apply", str(GOLD), "--out", "x", "--kind", "maybe"], "--kind: there is no 'maybe'; choose among gold, pred"),
        (["apply", str(GOLD), "--out", "x", "--review", "no.sqlite"], "no.sqlite: there is no such file"),
        (["apply", str(GOLD), "--out", "x", "--reviewer", "Zoe"], "no current verdict of 'Zoe'"),
        (["apply", str(GOLD), "--out", str(GOLD)], "not written over"),
        (["apply", str(GOLD)], "the following arguments are required: --out"),
        (["what-if", str(GOLD)], "name a prediction after gold"),
        (["what-if", str(GOLD), str(SYSTEMS["rules"]), "--criteria", "core"], "criterion core needs"),
        (["adjudicate", str(GOLD), "--out", "x"], "name two annotators; 1 given"),
    ],
)
def test_what_is_wrong_is_said_in_a_line(
    arguments: list[str],
    said: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NEREVAL_REVIEW_URL", f"sqlite:///{tmp_path}/review.sqlite")
    before = GOLD.read_bytes()
    assert main(["review", *arguments, "-q"]) == 2
    told = capsys.readouterr().err
    assert said in told and len(told.splitlines()) == 1
    assert not list(tmp_path.iterdir()) and GOLD.read_bytes() == before


def test_the_verbs_of_the_library(loaded: Loaded, store: ReviewStore) -> None:
    store.give(drafted(loaded, "rules"), "Ann")
    gold, systems = loaded.corpus.gold, loaded.corpus.systems
    expected = apply_verdicts(gold, store.reviewed(), systems)
    paths = {name: str(path) for name, path in SYSTEMS.items()}
    found = nereval.apply_verdicts(str(GOLD), paths, verdicts=store.name)
    assert found.layer.digest == expected.layer.digest and found.counts() == expected.counts()
    with pytest.raises(FormatError, match="no current verdict of 'Bob'; there are verdicts of 'Ann'"):
        nereval.apply_verdicts(gold, {}, verdicts=store.reviewed(), reviewers=["Bob"])
    few = nereval.apply_verdicts(gold, {}, verdicts=store.reviewed(), kinds=[])
    assert few.layer is gold and not few.log
    both = nereval.scores_with_verdicts(str(GOLD), paths, verdicts=store.reviewed(), merge=["A,B=C"])
    again = what_if(expected, systems, both.settings)
    assert both.counts == again.counts and set(both.table()["criterion"]) == set(SCHEMAS)
    first, second = (str(DEMO / f"annotator-{number}.jsonl") for number in (1, 2))
    made = nereval.adjudicate(first, second, verdicts=store.reviewed())
    assert len(made.layer) >= made.agreed and made.open


def test_the_verdicts_themselves_are_not_written_over(
    loaded: Loaded, store: ReviewStore, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store.give(drafted(loaded, "rules")[:2], "Ann")
    kept = str(tmp_path / "review.sqlite")
    where = [str(GOLD), str(SYSTEMS["rules"]), "-q", "--review", kept]
    for verb, option in (("apply", "--out"), ("what-if", "--json")):
        assert main(["review", verb, *where, option, kept]) == 2
        assert "over" in capsys.readouterr().err
    assert len(ReviewStore(kept).reviewed()) == 2


@pytest.mark.parametrize("format", writers())
def test_a_copy_in_every_writable_format(format: str, tmp_path: Path) -> None:
    """What every format can hold: spans of one type, apart from one another, in one line of text."""
    text = "Ann took aspirin tablets twice"
    ann, drug, long, twice = (Marked(span.fragments, "GENE") for span in (ANN, DRUG, LONG, TWICE))
    gold = layer_of([ann, drug, twice], [text])
    pred = replace(layer_of([ann, long], [text], "A"), documents=gold.documents)
    given = [verdict("gold", drug, "pred", long, text=text), verdict("gold", twice, "neither", text=text)]
    found = apply_verdicts(gold, standing(*given), [pred])
    write_copy(found.layer, b"", tmp_path / "out", format=format, inputs=[])
    scores = score(read(tmp_path / "out", format=format), pred, criteria=SCHEMAS)
    promised = what_if(found, [pred], scores.settings).counts
    assert [scores.counts(name) for name in SCHEMAS] == [promised["A", name].after for name in SCHEMAS]
    assert scores.counts("strict").f1 == 1
    name, raw, _ = pack_layer(found.layer, format, "gold")
    assert read(Source.of_uploads([(name, raw)])).format == format
