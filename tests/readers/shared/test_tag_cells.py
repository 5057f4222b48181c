"""Columns of annotations are recognised in every notation, and no format reads one of two in silence."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nereval_core.problems import FormatError
from nereval_core.readers import Source, read
from nereval_core.readers.shared.tag_cells import is_named_like_prediction, kind_of_cells, split_scores

# Cells of a column, and what it holds.
KINDS = [
    ("B-PER O O", "tags"),
    ("O O O", "tags"),
    ("b-per o o", "tags"),
    ("PER_B - -", "tags"),
    ("B O I", "tags"),
    ("B-PER/0.9 O/1.0", "tags"),
    ("PER/0.9 O/1.0", "types"),
    ("PER O O LOC", "types"),
    ("PER OTHER OTHER", "types"),
    ("LABEL_0 LABEL_1 O", "labels"),
    ("1 0 0 3", "numbers"),
    ("8 - - 8", "numbers"),
    ("0 1 2 3", None),
    ("1 1 1 2 2", None),
    ("0.5 0.9 1.0", None),
    ("NN VB .", None),
    ("_ SpaceAfter=No _", None),
    ("- - NN", None),
    ("_ _ _", None),
    ("the O dog o", None),
    ("", None),
]


@pytest.mark.parametrize(("cells", "kind"), KINDS)
def test_kinds(cells: str, kind: str | None) -> None:
    assert kind_of_cells(cells.split()) == kind


def test_scores_are_split_where_every_cell_has_one() -> None:
    assert split_scores(["B-PER/0.5", "O 1"]) == (["B-PER", "O"], [0.5, 1.0])
    assert split_scores(["B-PER/0.5", "O"]) == (["B-PER/0.5", "O"], None)
    assert split_scores(["and/0.5", "or/0.2"]) == (["and/0.5", "or/0.2"], None)


def test_names_of_predictions() -> None:
    names = (
        "prediction",
        "pred_label",
        "predictedTags",
        "hyp",
        "System",
        "model-output",
        "y_pred",
        "NE_pred",
        "output",
    )
    assert all(map(is_named_like_prediction, names))
    assert not any(map(is_named_like_prediction, ("label", "spread", "systematic", "remodel", "hyphen", "tag", "gold")))


NOTATIONS: dict[str, Callable[[str], str]] = {
    "usual": str,
    "in small letters": str.lower,
    "with an underscore": lambda tag: tag.replace("-", "_"),
    "letter last": lambda tag: "-".join(reversed(tag.split("-"))),
    "in angles": "<{}>".format,
    "type alone": lambda tag: tag.rpartition("-")[2],
    "letter alone": lambda tag: tag[0],
    "with a probability": "{}/0.25".format,
    "numbers of labels": lambda tag: f"LABEL_{len(tag) % 3}",
    "another outside": lambda tag: "OTHER" if tag == "O" else tag,
}
TAGS = st.lists(st.sampled_from(["O", "O", "B-PER", "B-LOC"]), min_size=4, max_size=12)


def conll(gold: list[str], pred: list[str]) -> tuple[str, str]:
    return "x.txt", "".join(f"word{at}\t{tags[0]}\t{tags[1]}\n" for at, tags in enumerate(zip(gold, pred, strict=True)))


def tokentable(gold: list[str], pred: list[str]) -> tuple[str, str]:
    rows = (f"word{at},{tags[1]},{tags[0]}\n" for at, tags in enumerate(zip(gold, pred, strict=True)))
    return "x.csv", "word,prediction,label\n" + "".join(rows)


def datasets(gold: list[str], pred: list[str]) -> tuple[str, str]:
    words = [f"word{at}" for at in range(len(gold))]
    return "x.jsonl", json.dumps({"tokens": words, "ner_tags": gold, "predictions": pred})


@pytest.mark.parametrize("notation", NOTATIONS)
@pytest.mark.parametrize("form", [conll, tokentable, datasets])
@given(TAGS, TAGS)
def test_gold_beside_a_prediction_is_never_read_in_silence(
    form: Callable[[list[str], list[str]], tuple[str, str]], notation: str, gold: list[str], pred: list[str]
) -> None:
    size = min(len(gold), len(pred))
    gold, pred = ["O", "O", "B-PER", *gold[:size]], ["O", "O", "B-PER", *pred[:size]]
    name, text = form(gold, list(map(NOTATIONS[notation], pred)))
    with pytest.raises(FormatError, match="2 columns hold tags"):
        read(Source.of_uploads([(name, text.encode())]))
