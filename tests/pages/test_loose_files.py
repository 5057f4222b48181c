"""Loose files of shared tasks, dropped as they are published: they are understood as if they were zipped."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from nereval_core.conventions import ScorerInput, find_convention, option_values
from nereval_core.readers import Source
from nereval_core.readers import read as read_source
from nereval_core.writers import write
from pages.shared.data import caches, kept_corpora
from pages.shared.data.kept_corpora import Keeper
from pages.shared.data.loading import Loaded
from tests.readers.test_readers import zipped
from tests.support.pages import (
    GOLD,
    PREDICTION,
    account,
    address,
    at_start,
    drop,
    give_role,
    opened,
    problems,
    read,
    roles,
    settled,
    sound,
    title,
    unmarked,
    ways,
)
from tests.support.shared_corpora import SHARED, needs

SENTENCES = b"P1 The p53 protein binds MDM2.\nP2 Nothing here.\n"
GENE = b"P1|3 5|p53\nP1|18 21|MDM2\n"
VARIANTS = b"P1|3 12|p53 protein\n"


def loaded(app: AppTest) -> Loaded:
    """Return what was read."""
    assert not app.error
    corpus = caches.find(address(app)["corpus"])
    assert corpus is not None
    return corpus


def published(app: AppTest, scorer: str, system: str) -> dict[str, Any]:
    """Return the figures of a published scorer on the files as they were dropped."""
    sources, convention = loaded(app).sources, find_convention(scorer)
    outcome = convention.score(ScorerInput(gold=sources["gold"], pred=sources[system]), option_values(convention, {}))
    return outcome.scores


def dropped(*paths: Path) -> AppTest:
    return drop(opened("Start"), {path.name: path.read_bytes() for path in paths})


def test_who_is_gold_is_asked_where_no_name_tells_it() -> None:
    folder = Path(__file__).resolve().parents[2] / "demo_data/biology"
    lines = [(folder / f"annotator-{number}.jsonl").read_bytes() for number in (1, 2)]
    files = dict(zip(("anna.jsonl", "bert.jsonl"), lines, strict=True))
    app = drop(opened("Start"), files)
    assert roles(app) == {"anna.jsonl": None, "bert.jsonl": None}
    assert app.button(key="upload_read").disabled
    answers = {button.label: button for button in app.button if button.key.startswith(("upload_gold_", "upload_ann"))}
    assert list(answers) == ["anna is gold", "bert is gold", "None: compare two annotators"]
    app = sound(answers["bert is gold"].click().run())
    assert roles(app) == {"anna.jsonl": "System", "bert.jsonl": "Gold"}
    assert not app.button(key="upload_read").disabled
    app = drop(opened("Start"), files).button(key="upload_annotators").click().run()
    assert set(roles(app).values()) == {"Annotator"}
    assert "upload_annotators" not in [button.key for button in app.button]
    app = settled(app.button(key="upload_read").click().run())
    assert loaded(app).first_annotator == "anna"
    # A name that tells a role is not doubted.
    app = drop(opened("Start"), dict(zip(("anna-gold.jsonl", "bert.jsonl"), lines, strict=True)))
    assert roles(app) == {"anna-gold.jsonl": "Gold", "bert.jsonl": "System"}
    assert "upload_annotators" not in [button.key for button in app.button]


def test_files_of_the_command_read_again_as_annotators_are_annotators(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Both readings have the same texts and spans, by which an address names them."""
    lines = {"anna": GOLD.replace("d1", "twice"), "bert": PREDICTION.replace("d1", "twice")}
    paths = {name: tmp_path / f"{name}.jsonl" for name in lines}
    for name, line in lines.items():
        paths[name].write_text(line)
    gold, system = (Source.of_path(path) for path in paths.values())
    named = Keeper(None).read(None, gold, {"bert": system})
    monkeypatch.setattr(kept_corpora, "_read", named)
    assert caches.find(named.digest) is named
    app = drop(opened("Start"), {f"{name}.jsonl": line.encode() for name, line in lines.items()})
    app = settled(app.button(key="upload_annotators").click().run().button(key="upload_read").click().run())
    assert title(app) == "Annotators"
    assert loaded(app).digest == named.digest and loaded(app).first_annotator == "anna"


def test_genetag_in_loose_files_is_gold_with_its_variants_and_sentences() -> None:
    files = {"ALTGENE.eval": VARIANTS, "GENE.eval": GENE, "NOTICE.txt": b"All rights.", "run.eval": VARIANTS}
    app = drop(opened("Start"), {**files, "test.in": SENTENCES})
    assert roles(app) == {
        "ALTGENE.eval": "Variants",
        "GENE.eval": "Gold",
        "NOTICE.txt": "Ignore",
        "run.eval": "System",
        "test.in": "Texts",
    }
    assert not app.warning
    corpus = loaded(read(app)).corpus
    assert corpus.gold.alternatives == {0: ((4, 15),)}
    assert corpus.gold.documents.texts[0] == "The p53 protein binds MDM2."


def test_lines_of_unknown_sentences_are_left_out_in_one_click() -> None:
    """The published scorer reads the file as it stands, and counts such a line as wrong."""
    files = {"ALTGENE.eval": VARIANTS, "GENE.eval": GENE, "run.eval": b"P1|3 5|p53\nP9|0 2|abc\n", "test.in": SENTENCES}
    app = read(drop(opened("Start"), files))
    assert problems(app) == ["no sentence 'P9', line 2."]
    (way,) = ways(app)
    assert way == (
        "leave out mentions without a place in the texts: **1 span; 1 mention of unknown sentences left out; the "
        "task's scorer counts each as wrong**"
    )
    app = at_start(settled(ways(app)[way].click().run()))
    assert list(account(app)["spans"]) == [2, 1]
    figures = published(app, "biocreative", "run")
    assert [figures[name] for name in ("TP", "FP", "FN")] == [1, 1, 1]


def test_files_of_genetag_under_other_names_take_the_roles_they_are_given() -> None:
    app = drop(opened("Start"), {"a.txt": GENE, "b.txt": VARIANTS, "c.txt": VARIANTS, "texts.txt": SENTENCES})
    app = give_role(give_role(app, "b.txt", "Variants"), "c.txt", "System")
    corpus = loaded(read(app)).corpus
    assert (len(corpus.gold), len(corpus.system("c"))) == (2, 1)
    assert corpus.gold.alternatives == {0: ((4, 15),)}


def test_sentences_that_lack_are_asked_for_once_before_anything_is_read() -> None:
    app = drop(opened("Start"), {"GENE.eval": GENE, "run.eval": VARIANTS})
    lacking = "Drop the file with the sentences too, such as test.in."
    assert app.button(key="upload_read").disabled and [one.value for one in app.caption].count(lacking) == 1
    app = drop(app, {"GENE.eval": GENE, "run.eval": VARIANTS, "test.in": SENTENCES})
    assert lacking not in [one.value for one in app.caption]
    assert [len(layer) for layer in loaded(read(app)).corpus.systems] == [1]


def test_zipped_gene_mentions_bring_their_own_sentences() -> None:
    whole = zipped(("GENE.eval", GENE), ("test.in", SENTENCES))
    corpus = loaded(read(drop(opened("Start"), {"gold.zip": whole, "run.eval": VARIANTS}))).corpus
    assert (len(corpus.gold), len(corpus.systems[0])) == (2, 1)


def test_variants_are_a_role_of_files_of_one_format_alone() -> None:
    app = drop(opened("Start"), {"x.conll": b"Rome B-LOC\n", "GENE.eval": GENE})
    options = {box.label.split()[-1][:1]: box.options for box in app.selectbox if box.label.startswith("Role of")}
    assert "Variants" in options["G"] and "Variants" not in options["x"]


def test_two_folders_of_brat_dropped_one_after_the_other_are_two_layers() -> None:
    text, first, second = b"Ann met Ben.", b"T1\tPER 0 3\tAnn\n", b"T1\tPER 8 11\tBen\nT2\tPER 0 3\tAnn\n"
    files = [("d1.ann", first), ("d1.txt", text), ("d2.ann", first), ("d2.txt", text), ("d1.ann", second)]
    files += [("d2.ann", second)]
    uploads = [(name, raw, "application/octet-stream") for name, raw in files]
    app = opened("Start").file_uploader(key="upload_files").set_value(uploads).run()
    assert roles(app) == {"folder 1": "Annotator", "folder 2": "Annotator"}
    # Where nothing is gold, the page on annotators shows first what was read.
    shown = settled(app.button(key="upload_read").click().run())
    assert title(shown) == "Annotators"
    app = opened("Start").file_uploader(key="upload_files").set_value(uploads).run()
    app = read(give_role(app, "folder 1", "Gold"))
    assert list(account(app)["spans"]) == [2, 4]


def test_runs_of_one_name_are_systems_of_their_own_beside_gold() -> None:
    run = b"Ann B-PER\nmet O\nRome O\n"
    other = b"Ann O\nmet O\nRome B-LOC\n"
    files = [("test-en.conll", b"Ann B-PER\nmet O\nRome B-LOC\n"), ("output.conll", run), ("output.conll", other)]
    uploads = [(name, raw, "application/octet-stream") for name, raw in files]
    app = opened("Start").file_uploader(key="upload_files").set_value(uploads).run()
    assert roles(app) == {"test-en.conll": "Gold", "folder 1/output.conll": "System", "folder 2/output.conll": "System"}
    corpus = loaded(read(app)).corpus
    assert {layer.name: layer.types for layer in corpus.systems} == {"output": ("PER",), "output 2": ("LOC",)}


def test_layers_in_xmi_share_their_type_system(tmp_path: Path) -> None:
    """Files of this ending are documents of one layer, but where their names tell roles."""
    for name, text in (("gold", GOLD), ("model", PREDICTION)):
        write(read_source(Source.of_uploads([(f"{name}.jsonl", text.encode())])).layer, tmp_path / name, format="cas")
    files = {f"{name}.xmi": (tmp_path / name / "d1.xmi").read_bytes() for name in ("gold", "model")}
    app = drop(opened("Start"), files | {"TypeSystem.xml": (tmp_path / "gold/TypeSystem.xml").read_bytes()})
    assert roles(app) == {"gold.xmi": "Gold", "model.xmi": "System", "TypeSystem.xml": "Texts"}
    corpus = loaded(read(app)).corpus
    assert [(layer.text(0), layer.label(0)) for layer in (corpus.gold, *corpus.systems)] == [
        ("Aspirin", "Drug"),
        ("Aspirin helps", "Drug"),
    ]


def test_gold_of_two_languages_is_scored_one_at_a_time() -> None:
    gold = b"Ann B-PER\nmet O\n"
    names = ("test-en.conll", "test-fr.conll", "bert_fr.conll", "rules_fr.conll", "bert_en.conll")
    app = drop(opened("Start"), dict.fromkeys(names, gold))
    assert [*roles(app).values()] == ["Ignore", "Gold", "System", "System", "Ignore"]
    app = settled(app.segmented_control(key="upload_language_fr_en").set_value("en").run())
    assert [*roles(app).values()] == ["Gold", "Ignore", "Ignore", "Ignore", "System"]
    assert [layer.name for layer in loaded(read(app)).corpus.systems] == ["bert_en"]


def test_refused_runs_of_one_name_are_told_apart() -> None:
    files = [("gold.conll", "Ann B-PER\nmet O\n"), ("run.conll", "Ann B-PER\nmet I-LOC\n")]
    files += [("run.conll", "Ann B-PER\nmet I-ORG\n")]
    uploads = [(name, text.encode(), "application/octet-stream") for name, text in files]
    app = opened("Start").file_uploader(key="upload_files").set_value(uploads).run()
    app = settled(app.button(key="upload_read").click().run())
    lines = [line.value for line in app.markdown]
    places = [
        next(at for at, line in enumerate(lines) if f"folder {number}/run" in unmarked(line)) for number in (1, 2)
    ]
    findings = [next(at for at, line in enumerate(lines) if f"'I-{kind}'" in unmarked(line)) for kind in ("LOC", "ORG")]
    assert places[0] < findings[0] < places[1] < findings[1], lines
    assert len({button.key for button in app.button if button.label == "Fix and continue"}) == 4


def test_refused_runs_of_one_name_are_told_and_mended() -> None:
    run = b"Ann I-PER\nmet O\nRome O\n"
    files = [("gold.bio.conll", b"Ann B-PER\nmet O\nRome B-LOC\n"), ("output.conll", b"Ann B-PER\nmet I-LOC\n")]
    uploads = [(name, raw, "application/octet-stream") for name, raw in [*files, ("output.conll", run * 2)]]
    app = opened("Start").file_uploader(key="upload_files").set_value(uploads).run()
    app = settled(app.button(key="upload_read").click().run())
    assert [one.label for one in app.button].count("Fix and continue") >= 1


def test_gold_alone_is_not_read_and_says_what_it_lacks() -> None:
    app = drop(opened("Start"), {"gold.conll": b"Ann B-PER\n"})
    assert app.button(key="upload_read").disabled
    lacking = "Drop a system or an annotator too, to hold against gold."
    assert lacking in [one.value for one in app.caption]
    app = drop(app, {"gold.conll": b"Ann B-PER\n", "run.conll": b"Ann O\n"})
    assert not app.button(key="upload_read").disabled
    assert lacking not in [one.value for one in app.caption]


@needs("bc2gm")
@pytest.mark.parametrize("run", ["run_mixed.eval", pytest.param("run_variants.eval", marks=pytest.mark.nightly)])
def test_biocreative_files_as_published_give_the_numbers_of_its_scorer(run: str) -> None:
    folder = SHARED / "bc2gm"
    names = ["ALTGENE.eval", "GENE.eval", "NOTICE.txt", run, "test.in"]
    app = dropped(*(folder / name for name in names))
    assert [*roles(app).values()] == ["Variants", "Gold", "Ignore", "System", "Texts"]
    figures = published(read(app), "biocreative", run.removesuffix(".eval"))
    expected = json.loads((SHARED / "expected" / "bc2gm" / f"{run}.json").read_text())["results"]
    assert {name: figures[name] for name in ("TP", "FP", "FN")} == {name: expected[name] for name in ("TP", "FP", "FN")}


def as_uploads(*folders: Path) -> list[tuple[str, bytes, str]]:
    """Return the files of folders as a browser gives them, one folder after the other and without their names."""
    paths = [path for folder in folders for path in sorted(folder.iterdir())]
    return [(path.name, path.read_bytes(), "application/octet-stream") for path in paths]


@needs("jnlpba")
def test_jnlpba_as_published() -> None:
    names = ("Genia4EReval1.iob2", "LICENSE.GENIA.txt", "answers_legal.iob2")
    app = dropped(*(SHARED / "jnlpba" / name for name in names))
    assert [*roles(app).values()] == ["Gold", "Ignore", "System"]
    assert list(account(read(app))["spans"]) == [8662, 8102]


@needs("wnut17")
def test_gold_of_wnut17_is_told_by_its_name() -> None:
    paths = [*(SHARED / "wnut17" / "submissions").iterdir(), SHARED / "wnut17" / "emerging.test.annotated"]
    app = dropped(*sorted(paths, key=lambda path: path.name))
    assert [name for name, role in roles(app).items() if role != "System"] == ["emerging.test.annotated"]


@needs("pharmaconer")
def test_pharmaconer_in_two_folders_gives_the_numbers_of_its_evaluator() -> None:
    folder = SHARED / "pharmaconer" / "subtask1"
    uploads = as_uploads(folder / "ref" / "subtask1", folder / "res" / "subtask1")
    app = opened("Start").file_uploader(key="upload_files").set_value(uploads).run()
    app = read(give_role(give_role(app, "folder 1", "Gold"), "folder 2", "System"))
    figures = published(app, "pharmaconer", "folder 2")
    assert {name: figures[name] for name in ("tp", "fp", "fn")} == {"tp": 695, "fp": 94, "fn": 121}


@needs("hipe2020")
def test_raw_runs_of_hipe_are_on_overview_with_their_official_numbers_after_three_actions() -> None:
    folder, runs = SHARED / "hipe2020", ("team10_bundle1_en_1", "team1_bundle3_en_1", "team23_bundle4_en_1")
    # Dropped, read, and mended: their tags are malformed and their tokens spelt differently.
    paths = [folder / "submissions" / f"{run}.tsv" for run in runs]
    app = dropped(folder / "gold" / "HIPE-data-v1.3-test-en.tsv", *paths, folder / "tagset.txt")
    assert [*roles(app).values()] == ["Gold", *["System"] * 3, "Texts"]
    app = settled(app.button(key="upload_read").click().run())
    app = settled(app.button(key="fix_all").click().run())
    assert title(app) == "Overview"
    sources, convention = loaded(app).sources, find_convention("hipe-2020")
    for run in runs:
        files = ScorerInput(gold=sources["gold"], pred=sources[run])
        printed = convention.forms["tsv"](convention.score(files, option_values(convention, {})))
        cells = [line.split("\t")[1:] for line in printed.split("\r\n")]
        (figures,) = (row[2:] for row in cells if row[:2] == ["NE-COARSE-LIT-micro-strict", "ALL"])
        rows = json.loads((SHARED / "expected" / "hipe2020" / f"{run}.json").read_text())["official_rows"]
        (official,) = (
            row for row in rows if row["Evaluation"] == "NE-COARSE-LIT-micro-strict" and row["Label"] == "ALL"
        )
        assert figures[:3] + figures[6:] == [official[name] for name in ("P", "R", "F1", "TP", "FP", "FN")]
