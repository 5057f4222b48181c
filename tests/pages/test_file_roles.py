"""The groups of dropped files and the roles proposed for them."""

from __future__ import annotations

import pytest

from pages.shared.data.file_roles import (
    are_layers,
    grouped_files,
    languages_of_gold,
    names_in_folders,
    proposed_roles,
)


@pytest.mark.parametrize(
    ("names", "groups"),
    [
        (["gold.zip", "run.zip"], [["gold.zip"], ["run.zip"]]),
        (["a.ann", "a.txt", "b.ann", "b.txt", "x.jsonl"], [["a.ann", "a.txt", "b.ann", "b.txt"], ["x.jsonl"]]),
        (["a.txt", "b.txt"], [["a.txt"], ["b.txt"]]),
        (["g.spans.csv", "g.texts.csv", "s.spans.csv"], [["g.spans.csv", "g.texts.csv"], ["s.spans.csv"]]),
        (["a.xmi", "TypeSystem.xml", "b.xmi"], [["a.xmi", "TypeSystem.xml", "b.xmi"]]),
        (["gold.xmi", "TypeSystem.xml", "model.xmi"], [["gold.xmi"], ["TypeSystem.xml"], ["model.xmi"]]),
        ([f"d{n}.xml" for n in range(9)], [[f"d{n}.xml" for n in range(9)]]),
        (["d1.json", "d2.json"] * 2, [["d1.json", "d2.json"] * 2]),
        (["a.ann", "LICENSE.txt", "a.txt"], [["a.ann", "a.txt"], ["LICENSE.txt"]]),
        (["gold.tsv", "output.tsv", "output.tsv"], [["gold.tsv"], ["output.tsv"], ["output.tsv"]]),
        (["x.json"] * 3, [["x.json"]] * 3),
        (["a.ann"] * 2, [["a.ann"] * 2]),
        (["g.spans.csv", "g.texts.csv"] * 2, [["g.spans.csv", "g.texts.csv"] * 2]),
        ([f"team{n}.tsv" for n in range(9)], [[f"team{n}.tsv"] for n in range(9)]),
    ],
)
def test_files_that_belong_together(names: list[str], groups: list[list[str]]) -> None:
    assert [[names[number] for number in group] for group in grouped_files(names)] == groups


@pytest.mark.parametrize(
    ("layers", "files", "roles"),
    [
        (["", ""], ["HIPE-2020-gold-en.tsv", "team1_run2.tsv"], "Gold System"),
        (["", "", ""], ["x.conll", "bert.conll", "train_ref.conll"], "System System Gold"),
        (["", ""], ["predictions.jsonl", "y.jsonl"], "System Gold"),
        (["anna", "ben"], ["b.zip"] * 2, "Annotator Annotator"),
        (["CURATION_USER", "anna", "INITIAL_CAS/x"], ["p.zip"] * 3, "Gold Annotator Ignore"),
        (["a@b.org", "model-1", ""], ["e.json", "e.json", "rules.json"], "Annotator System System"),
        (["", "", ""], ["arcada", "emerging.test.annotated", "uh_ritual"], "System Gold System"),
        # A word is whole: neither Goldberg nor system's own annotations are told by a part of it.
        (["goldberg", "modelling"], ["b.zip"] * 2, "Annotator Annotator"),
    ],
)
def test_roles_that_names_tell(layers: list[str], files: list[str], roles: str) -> None:
    assert proposed_roles(layers, files, ["conll"] * len(files)) == roles.split()


@pytest.mark.parametrize(
    ("choices", "roles"),
    [
        (["", "", ""], ["", "", ""]),
        (["", "Gold", ""], ["System", "Gold", "System"]),
        (["", "Annotator", ""], ["Annotator", "Annotator", "Annotator"]),
        # Which of the other two is gold is not known yet.
        (["System", "", ""], ["System", "", ""]),
        (["System", "", "Ignore"], ["System", "Gold", "Ignore"]),
    ],
)
def test_who_is_gold_is_open_where_no_name_tells_it(choices: list[str], roles: list[str]) -> None:
    files = ["anna.jsonl", "ben.jsonl", "cleo.jsonl"]
    assert proposed_roles([""] * 3, files, ["jsonl"] * 3, choices=choices) == roles


@pytest.mark.parametrize(
    ("names", "layers"),
    [
        (["gold.jsonl", "run-1.jsonl", "notes.csv"], True),
        (["gold.ann", "gold.txt", "anna.ann", "anna.txt"], False),
        (["gold.jsonl", "more.jsonl"], False),
        (["run-1.jsonl", "run-2.jsonl"], False),
    ],
)
def test_files_of_a_zip_are_layers_where_names_tell_gold_and_others(names: list[str], layers: bool) -> None:
    assert are_layers(names) is layers


HIPE = ["HIPE-v1.3-test-en.tsv", "HIPE-v1.3-test-fr.tsv"]


@pytest.mark.parametrize(
    ("files", "languages"),
    [
        ([*HIPE, "team10_bundle1_en_1.tsv"], ["en", "fr"]),
        ([*HIPE, "team1_fr_1.tsv", "team2_fr_1.tsv", "team1_en_1.tsv"], ["fr", "en"]),
        (["gold_de.conll", "gold_en.conll", "x.conll"], ["de", "en"]),
        # Systems, annotators and splits are no languages.
        (["gold.tsv", "run_de.tsv", "run_en.tsv"], []),
        (["test.tsv", "train.tsv", "dev.tsv"], []),
        (["notes_mk.tsv", "notes_ps.tsv"], []),
        (["HIPE-v1.3-test-en.tsv", "team1_en_1.tsv"], []),
        (["ajmc-test-de.tsv", "newseye-test-fi.tsv"], []),
    ],
)
def test_gold_of_several_languages(files: list[str], languages: list[str]) -> None:
    assert languages_of_gold(files) == languages


def test_files_of_other_languages_are_left_out() -> None:
    files = [*HIPE, "team10_bundle1_en_1.tsv", "team1_bundle3_fr_2.tsv", "rules.tsv"]
    none, formats = [""] * 5, ["hipe"] * 5
    assert proposed_roles(none, files, formats, "en") == ["Gold", "Ignore", "System", "Ignore", "System"]
    assert proposed_roles(none, files, formats, "fr") == ["Ignore", "Gold", "Ignore", "System", "System"]


def test_files_of_no_format_are_texts_or_left_out() -> None:
    files = ["d1.txt", "labels.txt", "notes.md", "gold.jsonl", "x.texts.csv"]
    assert proposed_roles([""] * 5, files, [""] * 5) == ["Texts", "Texts", "Ignore", "Gold", "Texts"]


@pytest.mark.parametrize(
    ("names", "folders"),
    [
        ("a.ann a.txt b.ann b.txt", ""),
        ("a.ann a.txt b.ann b.txt a.ann a.txt b.ann b.txt", "11112222"),
        ("a.ann a.txt b.ann b.txt a.ann b.ann", "111122"),
        ("a.ann b.ann a.ann b.ann a.ann b.ann", "112233"),
        # Which of the files came from one folder is not known.
        ("a.ann a.ann b.ann b.ann", ""),
        ("a.ann b.ann c.ann a.ann", ""),
        ("a.txt a.txt", ""),
    ],
)
def test_folders_are_told_apart_where_names_allow(names: str, folders: str) -> None:
    files = names.split()
    expected = [f"folder {number}/{name}" for number, name in zip(folders, files, strict=True)] if folders else files
    assert names_in_folders(files) == expected


def test_genetag_has_names_of_its_own() -> None:
    names = ["ALTGENE.eval", "GENE.eval", "LICENSE.md", "a.eval", "run_variants.eval", "test.in"]
    formats = ["bc2gm", "bc2gm", "", "bc2gm", "bc2gm", ""]
    assert proposed_roles([""] * 6, names, formats) == ["Variants", "Gold", "Ignore", "System", "System", "Texts"]
