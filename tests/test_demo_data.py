"""The demo corpora are what their sources and taggers make of them, and show what they are there to show."""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import unicodedata
from collections import Counter
from itertools import combinations
from pathlib import Path

import pytest

from demo_data.build import markup
from demo_data.build.build import CORPORA, PUBLISHED, SOURCES, WRITTEN, main, taggers
from demo_data.build.markup import MarkupError, Span
from nereval_core.pairing import pair
from nereval_core.readers import ReadOptions, read
from nereval_core.scoring import Settings, score_layers
from nereval_core.scoring.criteria import CRITERIA, SCHEMAS, Decision

LAYERS = ("gold", "annotator-1", "annotator-2", "rules", "perceptron")
TYPES = {
    "pharmacology": ("NORMALIZABLES", "NO_NORMALIZABLES", "PROTEINAS"),
    "biology": ("DNA", "RNA", "cell_line", "cell_type", "protein"),
    "newspapers": ("loc", "org", "pers", "prod", "time"),
}
LANGUAGES = {
    "pharmacology": {"en": 12, "es": 7, "ar": 1},
    "biology": {"en": 20},
    "newspapers": {"en": 17, "de": 2, "fr": 1},
}
LIMIT = 600_000  # bytes: the demo travels with every checkout


def reading(corpus, name):
    return read(PUBLISHED / corpus / f"{name}.jsonl", options=ReadOptions(name=name))


def layer(corpus, name):
    return reading(corpus, name).layer


def rows(corpus, name="gold"):
    return [json.loads(line) for line in (PUBLISHED / corpus / f"{name}.jsonl").read_text("utf-8").splitlines()]


def test_another_process_builds_the_same_bytes(tmp_path):
    # A hash seed of its own: no order may hang on it.
    environment = os.environ | {"PYTHONHASHSEED": "12345", "PYTHONPATH": str(PUBLISHED.parent)}
    subprocess.run([sys.executable, "-m", "demo_data.build", str(tmp_path)], check=True, env=environment, timeout=60)
    built = {str(path.relative_to(tmp_path)): path.read_bytes() for path in tmp_path.rglob("*.jsonl")}
    committed = {str(path.relative_to(PUBLISHED)): path.read_bytes() for path in PUBLISHED.rglob("*.jsonl")}
    assert built.keys() == committed.keys() == {f"{corpus}/{name}.jsonl" for corpus in CORPORA for name in LAYERS}
    assert [name for name in built if built[name] != committed[name]] == []


def test_check_names_the_file_that_differs_and_writes_nothing(tmp_path, capsys):
    for corpus in CORPORA:
        shutil.copytree(PUBLISHED / corpus, tmp_path / corpus)
    changed = tmp_path / "biology" / "rules.jsonl"
    changed.write_text("{}\n", "utf-8")
    assert main(["--check", str(tmp_path)]) == 1
    assert capsys.readouterr().err == f"{changed}: differs from what is built now\n"
    assert changed.read_text("utf-8") == "{}\n"


@pytest.mark.parametrize("corpus", CORPORA)
def test_taggers_work_without_anything_but_dictionary_and_training_documents(corpus, tmp_path):
    folder = tmp_path / corpus
    folder.mkdir()
    for name in ("dictionary.tsv", "training.txt"):
        shutil.copy(SOURCES / corpus / name, folder)
    for name, tag in taggers(folder).items():
        for row in rows(corpus, name):
            found = [(span.start, span.end, span.label) for span in tag(row["text"])]
            assert found == [(span["start"], span["end"], span["label"]) for span in row["spans"]], row["id"]


@pytest.mark.parametrize("corpus", CORPORA)
def test_no_training_document_is_a_text_of_the_corpus(corpus):
    training = {document.text for document in markup.read(SOURCES / corpus / "training.txt")}
    sentences = {part.strip() for row in rows(corpus) for part in re.split(r"(?<=[.;])\s", row["text"])}
    assert training and not training & sentences


@pytest.mark.parametrize("corpus", CORPORA)
def test_every_layer_loads_over_the_same_texts(corpus):
    gold = layer(corpus, "gold")
    assert gold.types == tuple(sorted(TYPES[corpus]))
    assert Counter(meta["language"] for meta in gold.documents.meta) == LANGUAGES[corpus]
    for name in LAYERS:
        other = layer(corpus, name)
        assert other.documents.digest == gold.documents.digest
        assert set(other.types) <= set(gold.types)
        assert not len(other.duplicates)


@pytest.mark.parametrize("corpus", CORPORA)
def test_the_description_is_true(corpus):
    about = tomllib.loads((PUBLISHED / corpus / "corpus.toml").read_text("utf-8"))
    assert set(about) == {"title", "description", "languages", "gold", "layers"}
    assert about["languages"] == list(LANGUAGES[corpus])
    assert about["description"].count(". ") == 0 and about["description"].endswith(".")
    assert about["gold"] == "gold.jsonl"
    assert [(row["name"], row["file"], row["kind"]) for row in about["layers"]] == [
        ("rules", "rules.jsonl", "system"),
        ("perceptron", "perceptron.jsonl", "system"),
        ("annotator-1", "annotator-1.jsonl", "annotator"),
        ("annotator-2", "annotator-2.jsonl", "annotator"),
    ]
    further = len(markup.read(SOURCES / corpus / "training.txt"))
    assert f"trained on {further} further" in about["layers"][1]["description"]


@pytest.mark.parametrize("corpus", CORPORA)
def test_gold_has_nested_and_discontinuous_spans(corpus):
    nested = fragmented = 0
    for row in rows(corpus):
        pairs = combinations([(span["start"], span["end"]) for span in row["spans"]], 2)
        nested += sum(one != two and (one[0] <= two[0] and two[1] <= one[1]) for one, two in pairs)
        fragmented += sum("fragments" in span for span in row["spans"])
    assert nested >= 5
    assert fragmented >= 2


def test_one_document_runs_from_right_to_left():
    def share(text):
        kinds = Counter(unicodedata.bidirectional(char) for char in text)
        return (kinds["AL"] + kinds["R"]) / (kinds["AL"] + kinds["R"] + kinds["L"])

    found = [row["id"] for corpus in CORPORA for row in rows(corpus) if share(row["text"]) > 0.5]
    assert found == ["ar-01"]


def test_newspapers_are_dated_and_broken_over_lines():
    documents = rows("newspapers")
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\d", row["meta"]["date"]) for row in documents)
    years = [int(row["meta"]["date"][:4]) for row in documents]
    assert years == sorted(years) and years[0] == 1791 and years[-1] == 1908
    covered = [row["text"][span["start"] : span["end"]] for row in documents for span in row["spans"]]
    assert any("-\n" in text for text in covered)
    assert any("ſ" in text for text in covered)


def test_links_name_concepts_of_the_list():
    lines = (SOURCES / "pharmacology" / "concepts.tsv").read_text("utf-8").splitlines()[1:]
    codes = {line.split("\t")[0] for line in lines}
    assert len(codes) == len(lines) and all(re.fullmatch(r"DEMO:\d{4}", code) for code in codes)
    for name in LAYERS:
        links = {link for row in rows("pharmacology", name) for span in row["spans"] for link in span.get("links", ())}
        assert links and links <= {*codes, "NIL"}, name
    spans = [span for row in rows("pharmacology") for span in row["spans"]]
    assert all(span.get("links") for span in spans if span["label"] == "NORMALIZABLES")
    for span in spans:
        assert (span.get("links") == ["NIL"]) == (span["label"] == "NO_NORMALIZABLES")


def test_only_the_rules_rank():
    for name in LAYERS:
        spans = [span for row in rows("pharmacology", name) for span in row["spans"]]
        assert any(len(span.get("links", ())) > 1 for span in spans) == (name == "rules"), name


@pytest.mark.parametrize("corpus", CORPORA)
def test_guidelines_are_pages_that_differ(corpus):
    one, two = ((SOURCES / corpus / f"guideline-{number}.md").read_text("utf-8") for number in (1, 2))
    for text in (one, two):
        assert len(text.split()) > 150
        assert all(f"**{name}**" in text for name in TYPES[corpus])
        assert "## Boundaries" in text and "## Nesting" in text
    assert one != two
    adjudication = (SOURCES / corpus / "adjudication.md").read_text("utf-8")
    changed = [
        first["id"] for first, last in zip(rows(corpus, "annotator-1"), rows(corpus), strict=True) if first != last
    ]
    # Every change from the first annotation to gold is accounted for, and no other.
    assert set(re.findall(r"\b(?:en|es|ar|bio|news)-\d\d\b", adjudication)) == set(changed)


@pytest.mark.parametrize("corpus", CORPORA)
def test_annotators_and_systems_part_from_gold_and_from_each_other(corpus):
    digests = {layer(corpus, name).digest for name in LAYERS}
    assert len(digests) == len(LAYERS)
    # The second guideline nests nothing, and that is kept to.
    for row in rows(corpus, "annotator-2"):
        ends = [span["end"] for span in row["spans"]]
        assert all(end <= span["start"] for end, span in zip(ends, row["spans"][1:], strict=False)), row["id"]


@pytest.mark.parametrize("corpus", CORPORA)
@pytest.mark.parametrize("name", ["rules", "perceptron", "annotator-2"])
def test_every_decision_occurs(corpus, name):
    settings = Settings(criteria=tuple(CRITERIA[schema] for schema in SCHEMAS))
    gold = reading(corpus, "gold")
    scores = score_layers(gold.layer, pair(gold, reading(corpus, name)).layer, settings)
    found = {code for schema in SCHEMAS for side in scores.decisions(schema) for code in side.tolist()}
    assert found == set(Decision)
    recall = scores.counts("strict").recall
    assert 0.3 < recall < 0.9


def test_it_is_small_and_free():
    files = [path for path in PUBLISHED.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    assert sum(path.stat().st_size for path in files) < LIMIT
    assert (PUBLISHED / "LICENSE").read_text("utf-8").startswith("SPDX-License-Identifier: CC0-1.0\n")


NAMES = {"N": "drug", "P": "protein"}


@pytest.mark.parametrize(
    ("source", "text", "spans"),
    [
        ("no span", "no span", []),
        ("[aspirin|N=] now", "aspirin now", [Span(((0, 7),), "drug", "aspirin")]),
        ("[Folic Acid|N=]", "Folic Acid", [Span(((0, 10),), "drug", "folic-acid")]),
        ("[AAS|N=aspirin]", "AAS", [Span(((0, 3),), "drug", "aspirin")]),
        ("[[TNF|P] antibody|P]", "TNF antibody", [Span(((0, 3),), "protein"), Span(((0, 12),), "protein")]),
        (
            "[alpha-|N~1] and [beta-[blockers|~1]|N]",
            "alpha- and beta-blockers",
            [Span(((0, 6), (16, 24)), "drug"), Span(((11, 24),), "drug")],
        ),
        (r"a \[b\] \| \\", r"a [b] | \\"[:-1], []),
        ("😀 [ש|N]", "😀 ש", [Span(((2, 3),), "drug")]),
    ],
)
def test_markup(source, text, spans):
    assert markup.parse(source, NAMES, "here") == (text, tuple(spans))


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("[open|", "not a tag"),
        ("[open", "never closed"),
        ("close]", "bracket without a type"),
        ("a | b", "not a tag"),
        ("[a|]", "not a tag"),
        ("[a|n]", "not a tag"),
        ("[a|X]", "unknown type X"),
        ("[|N]", "empty"),
        ("[ a|N]", "blank at its edge"),
        ("[a|N~1]", "no second part"),
        ("[a|N~1] [b|N~1]", "its type once"),
        ("[a|~1] [b|N~1]", "its type once"),
        ("[[a|N]|N]", "twice"),
    ],
)
def test_markup_that_is_refused(source, found):
    with pytest.raises(MarkupError, match=re.escape(found)):
        markup.parse(source, NAMES, "here")


@pytest.mark.parametrize(
    ("content", "found"),
    [
        ("=== d1\ntext\n", "name the types"),
        ("types N=drug\ntext\n=== d1\n", "before the first document"),
        ("types N=drug\n=== d1\na\n=== d1\nb\n", "given twice"),
    ],
)
def test_files_that_are_refused(tmp_path, content, found):
    path = Path(tmp_path, "texts.txt")
    path.write_text(content, "utf-8")
    with pytest.raises(MarkupError, match=found):
        markup.read(path)


def test_every_written_layer_has_a_source():
    assert {path.stem for corpus in CORPORA for path in (SOURCES / corpus).glob("*.txt")} == {*WRITTEN, "training"}
