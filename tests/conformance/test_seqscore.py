"""SeqScore: the program's printouts on drawn tags and on submissions, and where it stops."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nereval_core.conventions import Outcome, ScorerInput, find_convention, option_values
from nereval_core.problems import FormatError
from nereval_core.readers import Source
from tests.support.reconciliation import by_layers_and_files, check_texts, overall_rows, reconcile
from tests.support.reference_fixtures import read_fixture
from tests.support.seqscore_corpora import (
    COMMAND,
    FORMS,
    LETTERS,
    METHODS,
    VERSION,
    cases,
    draw,
    submissions,
    write_corpus,
    write_submission,
)
from tests.support.shared_corpora import needs

SEQSCORE = find_convention("seqscore")


def scored(paths: tuple[Path, Path], **options: Any) -> Outcome:
    gold, pred = map(Source.of_path, paths)
    return SEQSCORE.score(ScorerInput(gold=gold, pred=pred), option_values(SEQSCORE, options))


def printed(paths: tuple[Path, Path], labels: str, method: str) -> dict[str, str]:
    """Return what ours prints in each form, or that the program stops."""
    try:
        outcome = scored(paths, labels=labels, repair_method=method)
    except FormatError as error:
        words = error.lines()[0]
        stop = re.search(r"stops with an? (\w+Error)", words)
        assert stop, words
        return {"stops": f"stops: {stop[1]}"}
    reconcile(outcome)
    check_texts(outcome)
    return {
        form: SEQSCORE.forms[name](replace(outcome, options={**outcome.options, "full-precision": bool(arguments)}))
        for form, (name, *arguments) in FORMS.items()
    }


def test_drawn_tags(tmp_path: Path) -> None:
    fixture = read_fixture("seqscore")
    assert (fixture["command"], fixture["version"].partition(",")[0]) == (COMMAND, VERSION)
    stops = set()
    for (labels, method, seed), theirs in zip(cases(), fixture["drawn"], strict=True):
        paths = write_corpus(tmp_path, draw(labels, seed))
        assert printed(paths, labels, method) == theirs, (labels, method, seed)
        stops.add(theirs.get("stops", ""))
    assert stops == {"", "stops: EncodingError", "stops: ValueError"}


BY_DAY = ("arcada", "drexel_cci", "mic-cis", "team23_bundle4_en_1", "team31_bundle2_en_1")
"""Submissions of both tasks with which the program stops in each way that it does with all, and scores."""


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=path.stem, marks=[] if path.stem in BY_DAY else [pytest.mark.nightly])
        for path in submissions()
    ],
)
def test_submissions_to_shared_tasks(path: Path, tmp_path: Path) -> None:
    theirs = read_fixture("seqscore")["real"][path.name]
    paths = write_submission(tmp_path, path)
    for method in METHODS["BIO"]:
        ours = printed(paths, "BIO", method)
        if "stops" in theirs[method]:
            # Of several faults the program names the first, ours those of tags alone.
            assert "stops" in ours, method
        else:
            assert ours == theirs[method], method


def files(gold: str, pred: str) -> ScorerInput:
    sides = [Source.of_uploads([(name, text.encode())]) for name, text in (("gold.conll", gold), ("pred.conll", pred))]
    return ScorerInput(gold=sides[0], pred=sides[1], gold_format="conll", pred_format="conll")


def split(tags: str) -> str:
    """Return lines of tokens for tags split by blanks, sentences by `/`."""
    sentences = (enumerate(sentence.split()) for sentence in tags.split("/"))
    return "\n".join("".join(f"w{place}\t{tag}\n" for place, tag in sentence) for sentence in sentences)


# Gold, prediction, options, and what is said of the first place at which SeqScore stops.
REFUSED = [
    ("B-A O", "I-A O", {}, "pred.conll:1: invalid transition O -> I-A, at which SeqScore stops with an EncodingError"),
    ("O I-A", "O O", {}, "gold.conll:2: invalid transition O -> I-A"),
    ("B-A E-A", "B-A I-A", {"labels": "BIOES"}, "pred.conll:2: I-A at the end of a sentence"),
    ("B-A O", "S-A O", {}, "pred.conll:1: 'S-A' is not a tag of BIO, at which SeqScore stops with an EncodingError"),
    ("B-A O", "A O", {}, "pred.conll:1: 'A' is not a tag of BIO, at which SeqScore stops with an InvalidLabelError"),
    ("B-A O", "B- O", {}, "pred.conll:1: 'B-' is not a tag of BIO, at which SeqScore stops with an AssertionError"),
    ("B-A O", "O-A O", {}, "pred.conll:1: 'O-A' is not a tag of BIO, at which SeqScore stops with an InvalidLabel"),
    ("B-A O / O", "B-A / O O", {}, "pred.conll:3: 'w0' is 'w1' in gold, at which SeqScore stops"),
    ("O / O", "O O", {}, "pred.conll:2: 'w1' is 'w0' in gold, at which SeqScore stops"),
    ("B-A", "B-A", {"labels": "BMEOW", "repair_method": "conlleval"},
     "--repair-method: SeqScore cannot repair BMEOW by conlleval"),
]  # fmt: skip


@pytest.mark.parametrize(("gold", "pred", "options", "message"), REFUSED)
def test_where_seqscore_stops(gold: str, pred: str, options: dict[str, str], message: str) -> None:
    with pytest.raises(FormatError) as error:
        SEQSCORE.score(files(split(gold), split(pred)), option_values(SEQSCORE, options))
    assert error.value.lines()[0].startswith(message)


def test_other_sentences_are_refused() -> None:
    with pytest.raises(FormatError, match="only one side has a sentence that begins at 'b', at which SeqScore stops"):
        SEQSCORE.score(files("a\tO\n\nb\tO\n", "a\tO\nb\tO\n"), option_values(SEQSCORE, {}))


@needs("wnut17")
@pytest.mark.parametrize(
    ("method", "other", "options", "names"),
    [
        ("conlleval", "conlleval", {}, ("phrases", "found", "correct")),
        ("discard", "seqeval-strict", {"scheme": "IOB2"}, ("support", "pred_sum", "tp_sum")),
    ],
)
def test_repaired_bio_counts_as_another_scorer(
    method: str, other: str, options: dict[str, str], names: tuple[str, ...], tmp_path: Path
) -> None:
    convention = find_convention(other)
    recorded = {name: results[method] for name, results in read_fixture("seqscore")["real"].items()}
    scored_paths = [path for path in submissions() if "stops" not in recorded[path.name]]
    assert len(scored_paths) > 8
    for path in scored_paths:
        gold, pred = map(Source.of_path, write_submission(tmp_path, path))
        outcome = convention.score(ScorerInput(gold=gold, pred=pred), option_values(convention, options))
        table = outcome.figures[outcome.figures["scope"] == "overall"]
        counts = [int(table.loc[table["figure"] == name, "value"].iloc[0]) for name in names]
        assert recorded[path.name]["full"].split("\n")[1].split("\t")[-3:] == list(map(str, counts)), path.name


# Repair method, prediction, and the texts that stand for its mentions.
REPAIRED = [
    ("conlleval", "O I-A I-A I-B", ["w1 w2", "w3"]),
    ("conlleval", "B-A I-B I-A / I-A", ["w0", "w1", "w2", "w0"]),
    ("discard", "B-A I-B I-A B-A", ["w0", "w3"]),
    ("discard", "I-A I-A O B-A / I-A", ["w3"]),
]


@pytest.mark.parametrize(("method", "tags", "mentions"), REPAIRED)
def test_repair(method: str, tags: str, mentions: list[str]) -> None:
    gold = re.sub(r"\S+-\S+", "O", tags)
    outcome = SEQSCORE.score(files(split(gold), split(tags)), option_values(SEQSCORE, {"repair_method": method}))
    assert [text for (text,) in overall_rows(outcome.records("mentions"), "pred_text")] == mentions
    reconcile(outcome)


@pytest.mark.parametrize("labels", LETTERS)
def test_layers_score_as_their_files(labels: str, tmp_path: Path) -> None:
    gold, pred = map(Source.of_path, write_corpus(tmp_path, draw(labels, 2)))
    layers, read = by_layers_and_files("seqscore", ScorerInput(gold=gold, pred=pred), {"labels": labels})
    assert layers.scores == read.scores
    assert layers.records().equals(read.records())


def test_spans_that_io_cannot_say_are_refused() -> None:
    sides = files(split("B-A B-A"), split("B-A B-B")).read()[:2]
    with pytest.raises(FormatError, match="a span of A touches another one, which IO cannot say"):
        SEQSCORE.of_layers(*sides, option_values(SEQSCORE, {"labels": "IO"}))
