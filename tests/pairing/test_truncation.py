"""Predictions that lack the ends of sentences: completed on request, counted, and named where they are refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nereval_core.pairing import added_marks, pair
from nereval_core.problems import FormatError
from nereval_core.readers import Reading, ReadOptions, Source, read
from tests.support.commands import Cli

GOLD = "Ann B-P\nmet O\nBob B-P\nLee I-P\n\nRome B-L\nis O\nbig O\n"


def layer_of(text: str, name: str) -> Reading:
    return read(Source.of_uploads([(name, text.encode())]))


def spans(reading: Reading, pred: Reading, **options: object) -> list[tuple[str, str]]:
    layer = pair(reading, pred, **options).layer  # type: ignore[arg-type]
    return [(layer.text(span), layer.label(span)) for span in range(len(layer))]


# A prediction, its spans once it is completed, and how many sentences and tokens are missing.
CUT = [
    ("Ann B-P\nmet O\nBob B-P\n\nRome B-L\nis O\nbig O\n", [("Ann", "P"), ("Bob", "P"), ("Rome", "L")], (1, 1)),
    ("Ann B-P\n\nRome B-L\n", [("Ann", "P"), ("Rome", "L")], (2, 5)),
    ("Ann B-P\nmet O\n\nRome O\nis O\nbig B-L\n", [("Ann", "P"), ("big", "L")], (1, 2)),
]


@pytest.mark.parametrize("mark", ["", "# newdoc id = d\n"])
@pytest.mark.parametrize(("text", "found", "counts"), CUT)
def test_missing_ends_are_outside(mark: str, text: str, found: list[tuple[str, str]], counts: tuple[int, int]) -> None:
    gold, pred = layer_of(mark + GOLD, "gold.conll"), layer_of(mark + text, "pred.conll")
    assert spans(gold, pred, truncated="outside") == found
    paired = pair(gold, pred, truncated="outside")
    words = [f"{number} {noun}{'s' * (number > 1)}" for number, noun in zip(counts, ("sentence", "token"), strict=True)]
    assert paired.marks == (f"cut off, counted outside: {', '.join(words)}",)
    assert paired.notes[-1] == f"the ends of {words[0]} that the prediction lacks, {words[1]}, taken as outside"
    with pytest.raises(FormatError) as error:
        pair(gold, pred)
    assert all(problem.option == "--truncated outside" for problem in error.value.problems)


def test_sentences_that_a_document_lacks_at_its_end_are_cut_off() -> None:
    gold = layer_of(f"# newdoc id = d\n{GOLD}", "gold.conll")
    pred = layer_of("# newdoc id = d\nAnn B-P\nmet O\n", "pred.conll")
    assert spans(gold, pred, truncated="outside") == [("Ann", "P")]
    assert pair(gold, pred, truncated="outside").marks == ("cut off, counted outside: 2 sentences, 5 tokens",)


def test_a_text_that_is_cut_is_completed(tmp_path: Path) -> None:
    row = {"id": "d", "text": "Ann met Bob", "spans": [{"start": 0, "end": 3, "label": "P"}]}
    gold = layer_of(json.dumps(row), "gold.jsonl")
    assert spans(gold, layer_of(json.dumps(row | {"text": "Ann met"}), "pred.jsonl"), truncated="outside") == [
        ("Ann", "P")
    ]
    # A word that is cut is not a token of gold's.
    with pytest.raises(FormatError) as error:
        pair(gold, layer_of(json.dumps(row | {"text": "Ann m"}), "pred.jsonl"), truncated="outside")
    assert not error.value.problems[0].option


OTHERS = [
    "Ann B-P\nmet O\nLee B-P\n\nRome B-L\nis O\n",  # a token inside is missing
    "met O\nBob B-P\nLee I-P\n\nRome B-L\nis O\n",  # the beginning is missing
    "Rome B-L\nis O\nbig O\n",  # a whole sentence, and no ids
]


@pytest.mark.parametrize("text", OTHERS)
def test_what_is_missing_elsewhere_stays_refused(text: str) -> None:
    gold, pred = layer_of(GOLD, "gold.conll"), layer_of(text, "pred.conll")
    for truncated in ("error", "outside"):
        with pytest.raises(FormatError) as error:
            pair(gold, pred, truncated=truncated)  # type: ignore[arg-type]
        assert "--truncated" not in str(error.value)


def test_whole_predictions_are_paired_as_before() -> None:
    gold, pred = layer_of(GOLD, "gold.conll"), layer_of(GOLD, "pred.conll")
    for truncated in ("error", "outside"):
        assert pair(gold, pred, truncated=truncated).marks == ()  # type: ignore[arg-type]


def test_counts_of_parts_add_up() -> None:
    parts = ("cut off, counted outside: 1 sentence, 3 tokens",), ("cut off, counted outside: 2 sentences, 1 token",)
    assert added_marks(parts) == ("cut off, counted outside: 3 sentences, 4 tokens",)


def test_the_command_line_names_the_option_and_takes_it(command: Cli) -> None:
    Path("gold.conll").write_text(GOLD)
    Path("pred.conll").write_text(CUT[0][0])
    status, _, err = command("score", "gold.conll", "pred.conll")
    assert (status, "(1 sentence and 1 token), take these as outside: --truncated outside" in err) == (2, True)
    status, out, _ = command("score", "gold.conll", "pred.conll", "--truncated", "outside", "--criteria", "strict")
    assert (status, out.splitlines()[-1].endswith("| cut off, counted outside: 1 sentence, 1 token")) == (0, True)


@pytest.mark.parametrize("mark", ["", "# newdoc id = d\n"])
@pytest.mark.parametrize(("text", "found", "counts"), [case for case in CUT if case[2] != (2, 5)])
def test_rows_of_tags_alone_may_be_cut_too(
    tmp_path: Path, mark: str, text: str, found: list[tuple[str, str]], counts: tuple[int, int]
) -> None:
    (tmp_path / "gold.conll").write_text(mark + GOLD)
    rows = [" ".join(line.split()[1] for line in sentence.splitlines()) for sentence in text.split("\n\n")]
    (tmp_path / "predictions.txt").write_text("".join(f"{row}\n" for row in rows))
    gold = read(tmp_path / "gold.conll")
    options = ReadOptions(texts=gold.documents, scheme=gold.scheme)
    pred = read(tmp_path / "predictions.txt", format="tagrows", options=options)
    assert spans(gold, pred, truncated="outside") == found
    assert f"{counts[1]} token" in pair(gold, pred, truncated="outside").marks[0]
    with pytest.raises(FormatError, match="--truncated outside"):
        pair(gold, pred)
