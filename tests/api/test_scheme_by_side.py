"""The tag scheme of each side: gold's where a prediction fits it, else the prediction's own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import nereval_core as nereval
from nereval_core.api.load import load_corpus
from nereval_core.api.load_options import LoadOptions
from nereval_core.problems import FormatError
from tests.support.commands import Cli

# One text, with spans [0, 1) A, [1, 3) A, [4, 5) B, in each scheme.
TAGS = {
    "IOB2": "B-A B-A I-A O B-B",
    "IOBES": "S-A B-A E-A O S-B",
    "BILOU": "U-A B-A L-A O U-B",
    "BMES": "S-A B-A E-A O S-B",
    "IOB1": "I-A B-A I-A O I-B",
    "IOE1": "E-A I-A I-A O I-B",
    "IOE2": "E-A I-A E-A O E-B",
}


def written(path: Path, tags: str) -> Path:
    path.write_text("".join(f"w{number}\t{tag}\n" for number, tag in enumerate(tags.split())))
    return path


def scored(gold: Path, pred: Path, options: LoadOptions) -> tuple[set[tuple[int, int, str]], str, tuple[str, ...]]:
    """Return the predicted spans by token, the scheme they were read by, and what the signature says."""
    loaded = load_corpus(gold, {"s": pred}, options=options)
    layer = loaded.corpus.systems[0]
    spans = {(int(layer.start[n]) // 3, int(layer.end[n]) // 3 + 1, layer.label(n)) for n in range(len(layer))}
    return spans, loaded.systems["s"].scheme or "", loaded.marks["s"]


@pytest.mark.parametrize("gold", TAGS)
@pytest.mark.parametrize("pred", TAGS)
def test_each_side_has_its_own_scheme(tmp_path: Path, gold: str, pred: str) -> None:
    sides = written(tmp_path / "gold.conll", TAGS[gold]), written(tmp_path / "pred.conll", TAGS[pred])
    for options in (LoadOptions(gold_scheme=gold), LoadOptions(gold_scheme=gold, pred_scheme=pred)):
        spans, scheme, marks = scored(*sides, options)
        assert spans == {(0, 1, "A"), (1, 3, "A"), (4, 5, "B")}
        if TAGS[gold] == TAGS[pred]:
            assert scheme == (options.pred_scheme or gold)
        if scheme != gold:
            assert marks == (f"tag schemes: gold {gold}, pred {scheme}",)
        else:
            assert marks == ()


def test_a_prediction_without_letters_before_types_is_io(tmp_path: Path) -> None:
    sides = written(tmp_path / "gold.conll", TAGS["IOB2"]), written(tmp_path / "pred.conll", "PER PER PER O LOC")
    assert scored(*sides, LoadOptions())[:2] == ({(0, 3, "PER"), (4, 5, "LOC")}, "IO")
    # Without a token outside, too, as gold has no letters.
    gold = written(tmp_path / "gold.conll", "PER O PER O LOC")
    pred = written(tmp_path / "pred.conll", "PER PER LOC LOC LOC")
    assert scored(gold, pred, LoadOptions(pred_format="conll"))[1:] == ("IO", ())


MALFORMED = [
    # Legal in no scheme.
    ("B-A I-A O I-B B-B", r"pred.conll:4: 'I-B' after 'O' is not legal in IOB2"),
    # Legal in IOB1 and in IOE1, which decode it differently.
    ("I-A I-A O I-B B-B E-B", r"pred.conll:1: 'I-A' at the start of a sentence is not legal in IOB2"),
]


@pytest.mark.parametrize(("tags", "finding"), MALFORMED)
def test_malformed_predictions_are_refused_under_gold_s_scheme(tmp_path: Path, tags: str, finding: str) -> None:
    sides = written(tmp_path / "gold.conll", TAGS["IOB2"]), written(tmp_path / "pred.conll", tags)
    with pytest.raises(FormatError, match=finding):
        scored(*sides, LoadOptions())


def test_a_note_says_which_scheme_each_side_was_read_by(command: Cli) -> None:
    written(Path("gold.conll"), TAGS["IOB2"])
    written(Path("pred.conll"), TAGS["IOBES"])
    written(Path("same.conll"), TAGS["IOB2"])
    status, out, err = command("score", "gold.conll", "pred.conll", "same.conll", "--json", "-")
    assert status == 0
    assert "pred.conll: conll, IOBES;" in err
    assert "tag scheme IOBES (detected; the tags do not fit gold's scheme, IOB2)" in err
    assert "tag scheme IOB2 (gold's)" in err
    signatures = [system["criteria"]["strict"]["signature"] for system in json.loads(out)["systems"]]
    assert [signature.endswith("| tag schemes: gold IOB2, pred IOBES") for signature in signatures] == [True, False]
    assert command("score", "gold.conll", "pred.conll", "--pred-scheme", "BILOU")[0] == 2
    status, _, err = command("score", "gold.conll", "pred.conll", "--convention", "conlleval", "--pred-scheme", "IOBES")
    assert (status, "--pred-scheme IOBES does not change what conlleval counts" in err) == (0, True)


def test_the_library_reads_each_side_by_its_scheme(tmp_path: Path) -> None:
    gold, pred = written(tmp_path / "gold.conll", TAGS["IOB2"]), written(tmp_path / "pred.conll", TAGS["IOBES"])
    objects = [[TAGS[name].split()] for name in ("IOB2", "IOBES")]
    for sides in ((gold, pred), objects, (gold, objects[1])):
        scores = nereval.score(*sides)
        assert scores.counts("strict").cor == 3
        assert scores.marks == ("tag schemes: gold IOB2, pred IOBES",)
    assert nereval.score(gold, pred, pred_scheme="IOBES").counts("strict").cor == 3
    with pytest.raises(FormatError, match="'S-A' is not a tag of IOB2"):
        nereval.score(gold, pred, pred_scheme="IOB2")
