"""Cells of a column of tags in the notations that tools write, and what each is read as."""

from __future__ import annotations

import pytest

from nereval_core.readers.read_settings import ReadSettings
from nereval_core.readers.shared.tag_cells import USUAL, no_tag_remedy, notation_of
from nereval_core.readers.shared.tag_schemes import parse_tag

# Distinct cells, settings, and the tags that they are read as; a dash alone stands for what is not a tag.
NOTATIONS = [
    ("O B-PER I-PER W-LOC", {}, "O B-PER I-PER W-LOC"),
    ("O b-per i-per", {}, "O B-per I-per"),
    ("o b-per i-per", {}, "O B-per I-per"),
    ("O B_PER I_PER", {}, "O B-PER I-PER"),
    ("O B:PER E:PER", {}, "O B-PER E-PER"),
    ("O PER-B PER-I", {}, "O B-PER I-PER"),
    ("O PER_B LOC_S", {}, "O B-PER S-LOC"),
    ("<O> <B-PER> <I-PER>", {}, "O B-PER I-PER"),
    ("O <B-PER> <I_PER>", {}, "O B-PER I-PER"),
    ("O [B-PER] [I-PER]", {}, "O B-PER I-PER"),
    ("O B I", {}, "O B-entity I-entity"),
    ("o b i", {"type": "gene"}, "O B-gene I-gene"),
    ("O B I E S", {"scheme": "IO"}, "O B-entity I-entity E-entity S-entity"),
    ("- B-PER", {}, "O B-PER"),
    ("_ B-PER I-PER", {}, "O B-PER I-PER"),
    ("0 B-PER", {}, "O B-PER"),
    ("OTHER B-PER", {}, "O B-PER"),
    ("OTHER PERSON LOCATION", {}, "O I-PERSON I-LOCATION"),
    ("0 PER LOC", {}, "O I-PER I-LOC"),
    ("NIL B-PER", {"outside": "NIL"}, "O B-PER"),
    ("NIL - PER", {"outside": "NIL,-"}, "O O I-PER"),
    ("O - B-PER", {}, "O - B-PER"),
    ("O - B-PER", {"outside": "-"}, "O O B-PER"),
    ("- _ B-PER", {}, "- - B-PER"),
    ("- PER LOC", {}, "- - -"),
    ("O PER LOC", {}, "O I-PER I-LOC"),
    ("PER LOC", {}, "- -"),
    ("PER LOC", {"scheme": "IO"}, "I-PER I-LOC"),
    ("O B_PER I-PER", {}, "O - I-PER"),
    ("0 1 2", {"labels": ("O", "B-PER", "I-PER")}, "O B-PER I-PER"),
    ("LABEL_0 LABEL_2", {"labels": ("O", "B-PER", "I-PER")}, "O I-PER"),
    ("O LABEL_1", {"labels": ("O", "B-PER")}, "O B-PER"),
    ("LABEL_0 LABEL_7", {"labels": ("O", "B-PER")}, "O -"),
    ("O LABEL_1", {}, "O -"),
]


@pytest.mark.parametrize(("cells", "settings", "tags"), NOTATIONS)
def test_notations(cells: str, settings: dict[str, str], tags: str) -> None:
    notation = notation_of(cells.split(), ReadSettings(**settings))  # type: ignore[arg-type]
    parsed = [notation.parse(cell) for cell in cells.split()]
    assert " ".join("-" if tag is None else "-".join(filter(None, tag)) for tag in parsed) == tags


def test_nothing_in_a_cell_is_outside_beside_tags_alone() -> None:
    assert notation_of(["", "B-PER"], ReadSettings()).parse("") == ("O", "")
    assert notation_of(["", "B-PER", "O"], ReadSettings()).parse("") is None
    assert notation_of(["", "B-PER", "O"], ReadSettings(outside="")).parse("") == ("O", "")


def test_the_usual_notation_has_no_note_and_any_other_has_one() -> None:
    assert notation_of(["O", "B-PER"], ReadSettings()) is USUAL
    assert notation_of(["-", "B_PER"], ReadSettings()).note == (
        "tags are written as 'B_PER', read as B-PER; outside is written '-'"
    )
    assert notation_of(["O", "B", "I"], ReadSettings()).note == (
        "tags are letters without a type: all spans are called 'entity'; --type names it otherwise"
    )


def test_a_remedy_names_the_option_that_reads_the_cell() -> None:
    cells = ["O", "_", "B-PER"]
    assert notation_of(cells, ReadSettings()).parse("_") is None
    assert "--outside _;" in no_tag_remedy("_")
    assert notation_of(cells, ReadSettings(outside="_")).parse("_") == ("O", "")
    assert "--outside ''" in no_tag_remedy("")
    assert "--scheme IO" in no_tag_remedy("PER")
    assert not any("--scheme" in no_tag_remedy(cell) for cell in ("B", "B_PER", "PER-B", "."))


@pytest.mark.parametrize("cell", ["O", "B-a-b", "W-x"])
def test_usual_tags(cell: str) -> None:
    assert parse_tag(cell) == (cell[0], cell[2:])


@pytest.mark.parametrize("cell", ["", "o", "B", "B-", "-B", "O-x", "X-x", "BB-x"])
def test_cells_that_are_not_usual_tags(cell: str) -> None:
    assert parse_tag(cell) is None
