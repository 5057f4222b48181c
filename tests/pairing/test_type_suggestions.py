"""Suggested mappings of types: what overlaps first, then names; a file that can be used as it is."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import nereval_core
from nereval_core.cli import main
from nereval_core.corpus import Documents, Layer, layer
from nereval_core.pairing import have_no_common_type, type_suggestions
from nereval_core.pairing.type_names import parse_types, type_names
from nereval_core.pairing.type_suggestions import spellings, suggest_types, suggested_lines
from tests.support import ROOT
from tests.support.draws import draws
from tests.support.layer_strategies import texts
from tests.support.shared_corpora import SHARED, needs

DEMO = ROOT / "demo_data" / "biology"
GOLD, RULES = DEMO / "gold.jsonl", DEMO / "rules.jsonl"
DOCUMENTS = Documents(("d", "e"), ("x" * 100, "y" * 100))


def made(*spans: tuple[int, int, int, str]) -> Layer:
    doc, start, end, kind = zip(*spans, strict=True) if spans else ((), (), (), ())
    return layer("made", DOCUMENTS, doc, start, end, kind)


def by_name(*kinds: str) -> Layer:
    """Make a layer whose spans of these types overlap nothing that `apart` has."""
    return made(*((0, 2 * number, 2 * number + 1, kind) for number, kind in enumerate(kinds)))


def apart(*kinds: str) -> Layer:
    return made(*((1, 2 * number, 2 * number + 1, kind) for number, kind in enumerate(kinds)))


NAMES = [
    ("PERSON", ["PER", "LOC"], "PER", "a name of much the same meaning"),
    ("per", ["PER", "person"], "PER", "the same name except for case and punctuation"),
    ("B-LOC", ["LOC", "ORG"], "LOC", "the same name except for case and punctuation"),
    ("Cell-Line", ["cell_line", "cell_type"], "cell_line", "the same name except for case and punctuation"),
    ("geo-loc", ["LOC", "PER"], "LOC", "a name of much the same meaning"),
    ("creative-work", ["WORK_OF_ART", "PRODUCT"], "WORK_OF_ART", "a name of much the same meaning"),
    ("Chem", ["Chemical", "Disease"], "Chemical", "one name begins the other"),
    ("Diesease", ["Chemical", "Disease"], "Disease", "similar spelling"),
    ("organization", ["LOC", "Org"], "Org", "a name of much the same meaning"),
    ("XYZ", ["PER", "LOC"], None, "overlaps no gold span, and no name is similar"),
    # Two that are alike are none.
    ("cell", ["cell_line", "cell_type"], None, "overlaps no gold span, and no name is similar"),
    ("AB", ["ABACUS"], None, "overlaps no gold span, and no name is similar"),
]


@pytest.mark.parametrize(("name", "kinds", "to", "reason"), NAMES, ids=[row[0] for row in NAMES])
def test_names_that_are_alike(name: str, kinds: Sequence[str], to: str | None, reason: str) -> None:
    (found,) = suggest_types(apart(*kinds), [by_name(name)])
    assert (found.to, found.reason, found.sure) == (to, reason, to is not None)
    assert (found.spans, found.overlapping, found.overlaps) == (1, 0, ())


def test_what_overlaps_is_stronger_than_names() -> None:
    gold = made((0, 0, 5, "ORG"), (0, 10, 15, "ORG"), (0, 20, 25, "LOC"), (0, 30, 35, "PER"))
    pred = made((0, 0, 3, "person"), (0, 12, 20, "person"), (0, 24, 26, "person"), (1, 30, 35, "person"))
    (found,) = suggest_types(gold, [pred])
    assert (found.to, found.sure, found.spans, found.overlapping) == ("ORG", True, 4, 3)
    assert found.counts == "ORG 2, LOC 1"
    assert found.reason == "2 of 3 overlapping spans overlap ORG (LOC 1)"


def test_little_that_overlaps_is_not_sure() -> None:
    gold = made((0, 0, 5, "ORG"), (0, 20, 25, "PER"))
    (found,) = suggest_types(gold, [made((0, 0, 3, "person"))])
    assert (found.to, found.sure) == ("PER", False)
    assert found.reason.startswith("a name of much the same meaning, but 1 of 1 overlapping")
    (found,) = suggest_types(gold, [made((0, 0, 3, "thing"))])
    assert (found.to, found.sure) == ("ORG", False)
    # As many of two types: the name decides, if it can.
    gold = made((0, 0, 9, "ORG"), (0, 0, 9, "PER"))
    assert [(one.to, one.sure) for one in suggest_types(gold, [made((0, 1, 3, "person"))])] == [("PER", True)]
    assert [(one.to, one.sure) for one in suggest_types(gold, [made((0, 1, 3, "thing"))])] == [("ORG", False)]


def test_counts_are_those_of_all_systems_and_of_types_that_gold_lacks() -> None:
    gold = made((0, 0, 5, "A"), (1, 0, 5, "B"))
    one, two = made((0, 0, 5, "x"), (0, 4, 6, "A")), made((0, 2, 3, "x"), (1, 5, 6, "x"))
    (found,) = suggest_types(gold, [one, two])
    assert (found.name, found.to, found.spans, found.overlaps) == ("x", "A", 3, (("A", 2),))
    assert (have_no_common_type(gold, one), have_no_common_type(gold, two), have_no_common_type(made(), two)) == (
        False,
        True,
        False,
    )


KINDS = st.lists(texts(min_size=1), min_size=1, max_size=4)


@draws(20)
@given(KINDS, KINDS)
def test_the_suggestion_is_a_file_that_can_be_read(ours: list[str], theirs: list[str]) -> None:
    gold = made(*((number % 2, number, number + 9, kind) for number, kind in enumerate(ours)))
    pred = made(*((number % 2, number + 3, number + 5, kind) for number, kind in enumerate(theirs)))
    found = suggest_types(gold, [pred])
    text = suggested_lines(found, gold, [pred])
    sure = {one.name: one.to for one in found if one.sure}
    lines = text.splitlines()
    assert len(lines) == text.count("\n") and sum(not line.startswith("#") for line in lines) == len(sure)
    if sure:
        assert dict(parse_types(text, source="suggested").pairs) == sure


def test_hostile_names_stand_on_one_line() -> None:
    gold, pred = made((0, 0, 5, "a\n = b")), made((0, 0, 3, "#c\u2028"), (0, 3, 5, "#c\u2028"))
    text = suggested_lines(suggest_types(gold, [pred]), gold, [pred])
    assert dict(parse_types(text, source="suggested").pairs) == {"#c\u2028": "a\n = b"}


def test_renamed_types_are_found_again(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    names = {"protein": "P1", "DNA": "Q2", "RNA": "R3", "cell_line": "S4", "cell_type": "T5"}
    nereval_core.write(nereval_core.read(RULES, types=type_names(names)), tmp_path / "run.jsonl")
    run = str(tmp_path / "run.jsonl")
    assert main(["score", str(GOLD), run, "--criteria", "strict"]) == 0
    said = capfd.readouterr().err.splitlines()[-1]
    assert said.startswith("run: no type is one of gold's: 'P1', 'Q2', 'R3', 'S4' here, 'DNA', ")
    assert said.endswith("; `nereval types GOLD PRED` suggests a mapping")
    assert main(["types", str(GOLD), run, "--quiet"]) == 0
    text, err = capfd.readouterr()
    assert err == ""
    assert dict(parse_types(text, source="suggested").pairs) == {new: old for old, new in names.items()}
    (tmp_path / "map.txt").write_text(text, encoding="utf-8")
    for arguments in ((run, "--pred-types", str(tmp_path / "map.txt")), (str(RULES),)):
        assert main(["score", str(GOLD), *arguments, "--criteria", "strict", "--quiet"]) == 0
    out, err = capfd.readouterr()
    assert err == ""
    one, two = (line.split()[1:] for line in out.splitlines() if line.startswith("strict "))
    assert one == two
    assert [found.to for found in nereval_core.type_suggestions(GOLD, run)] == sorted(names, key=names.__getitem__)


def test_spellings_of_one_side_are_joined_by_the_most_frequent() -> None:
    gold = made((0, 0, 1, "Per"), (0, 2, 3, "PER"), (0, 4, 5, "PER"), (0, 6, 7, "cell line"), (0, 8, 9, "CellLine"))
    assert spellings([gold, made((0, 0, 1, "LOC"))]) == {"Per": "PER", "cell line": "CellLine"}
    lines = suggested_lines((), gold, [gold]).splitlines()
    assert lines[-2:] == ["# Per = PER", "# cell line = CellLine"] and "--types FILE" in lines[-3]
    # Without their marks the lines are a mapping.
    written = "\n".join(line.removeprefix("# ") for line in lines[-2:])
    assert parse_types(written, source="x").names == {"Per": "PER", "cell line": "CellLine"}
    # Names of two sides are no spellings of one, nor are those that differ in more.
    assert not spellings([made((0, 0, 1, "PER")), made((0, 0, 1, "per"))])
    assert not spellings([made((0, 0, 1, "PER"), (0, 2, 3, "PERSON"))])


def test_spellings_that_the_mapping_settles_are_not_listed() -> None:
    gold = made((0, 0, 9, "PER"), (0, 20, 29, "LOC"), (0, 30, 39, "Loc"))
    pred = made((0, 0, 9, "person"), (0, 1, 9, "Person"), (0, 1, 8, "Person"), (0, 40, 49, "x y"), (0, 50, 51, "xy"))
    lines = suggested_lines(suggest_types(gold, [pred]), gold, [pred]).splitlines()
    assert [line.partition("  #")[0] for line in lines if not line.startswith("#")] == ["Person = PER", "person = PER"]
    # Both names of the person become PER. Those of gold stay, as do those that nothing is sure to rename.
    assert lines[-2:] == ["# Loc = LOC", "# xy = x y"] and "--types FILE" in lines[-3]
    only_persons = made((0, 0, 9, "person"), (0, 1, 9, "Person"))
    text = suggested_lines(suggest_types(made((0, 0, 9, "PER")), [only_persons]), gold, [only_persons])
    assert "several ways" in suggested_lines((), only_persons, [only_persons]) and "# person" not in text


def test_nothing_is_suggested_where_gold_has_every_type(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["types", str(GOLD), str(RULES), "--quiet"]) == 0
    assert "no mapping is needed" in capfd.readouterr().out


@needs("hipe2020")
def test_fine_types_of_a_real_corpus_are_given_their_coarse_ones(capfd: pytest.CaptureFixture[str]) -> None:
    file = str(SHARED / "hipe2020" / "gold" / "HIPE-data-v1.3-test-fr.tsv")
    columns = ("--gold-column", "NE-COARSE-LIT", "--pred-column", "NE-FINE-LIT")
    assert main(["types", file, *columns, "--quiet"]) == 0
    pairs = dict(parse_types(capfd.readouterr().out, source="suggested").pairs)
    assert len(pairs) == 18 and all(fine.split(".")[0] == coarse for fine, coarse in pairs.items())


@given(st.text("ab1T", max_size=8), st.text("ab1T", max_size=8))
def test_bounds_of_similarity_change_no_answer(name: str, other: str) -> None:
    ratio = SequenceMatcher(None, name, other).ratio()
    assert type_suggestions._is_spelt_like(name, other) == (ratio >= type_suggestions.LEAST_SIMILARITY)
