"""Hold our counts to those of the published scorers, on data drawn with a seed: the twin of `test_proof`, of no files.

wnuteval.py printed the counts that are asked of it. Of the other scorers our conventions have the counts: beside this
file they are held to what each program printed for drawn data, whose tags break every scheme. Here tags are legal and
every type is in gold, so that our rules and the scorer's are the same.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterable
from pathlib import Path

import pytest

from nereval_core.api.load_options import LoadOptions
from nereval_core.conventions import Outcome, ScorerInput, find_convention, option_values
from nereval_core.problems import FormatError
from nereval_core.readers import Source
from tests.conformance.test_proof import (
    HIPE_LEFT_OUT,
    HIPE_SCHEMAS,
    JNLPBA_MATCHES,
    by_type,
    figures,
    scored,
)
from tests.support import hipe_corpora, wnut17_corpora
from tests.support.reference_fixtures import read_fixture

SEEDS = range(12)
TYPES = ("DNA", "RNA", "protein")
Spans = list[tuple[int, int, str]]
"""First token, end (exclusive) and type."""
Sentences = list[tuple[int, Spans, Spans]]
"""The number of tokens, the gold spans and the predictions."""


def draw(seed: int) -> Sentences:
    """Draw sentences; the first has every type on both sides, as scorers know the types of gold alone."""
    rng = random.Random(seed)
    all_types = [(2 * at, 2 * at + 1, kind) for at, kind in enumerate(TYPES)]
    sentences: Sentences = [(2 * len(TYPES), all_types, all_types)]
    for _ in range(20):
        size = rng.randint(4, 14)
        gold = _flat(rng, size)
        predicted = [span for span in gold if rng.random() < 0.5]
        free = [
            span for span in _flat(rng, size) if all(span[1] <= low or high <= span[0] for low, high, _ in predicted)
        ]
        retyped = [(low, high, rng.choice(TYPES) if rng.random() < 0.3 else kind) for low, high, kind in predicted]
        sentences.append((size, gold, sorted(retyped + free)))
    return sentences


def _flat(rng: random.Random, size: int) -> Spans:
    edges = sorted(rng.sample(range(size + 1), 2 * rng.randint(0, size // 3)))
    return [(low, high, rng.choice(TYPES)) for low, high in zip(edges[::2], edges[1::2], strict=True)]


def tags(size: int, spans: Spans) -> list[str]:
    row = ["O"] * size
    for low, high, kind in spans:
        row[low:high] = [f"B-{kind}", *[f"I-{kind}"] * (high - low - 1)]
    return row


def write_sides(folder: Path, seed: int, suffix: str, rows: str, head: str = "") -> tuple[Path, Path]:
    """Write gold and prediction: a line for each token, `rows` with its number and its tag, sentences apart."""
    paths = folder / f"gold{suffix}", folder / f"pred{suffix}"
    for side, path in enumerate(paths, 1):
        blocks = [
            "".join(rows.format(*cell) for cell in enumerate(tags(sentence[0], sentence[side])))
            for sentence in draw(seed)
        ]
        path.write_text(head + "\n".join(blocks) + "\n", encoding="utf-8")
    return paths


def outcome_of(name: str, gold: Path, pred: Path, **options: object) -> Outcome:
    convention = find_convention(name)
    given = ScorerInput(gold=Source.of_path(gold), pred=Source.of_path(pred))
    return convention.score(given, option_values(convention, options))


def test_drawn_sides_differ_in_every_way() -> None:
    every = [spans for seed in SEEDS for spans in draw(seed)]
    pairs = [
        (one, two) for _, gold, pred in every for one in gold for two in pred if one[0] < two[1] and two[0] < one[1]
    ]
    assert {(one[0] == two[0], one[1] == two[1], one[2] == two[2]) for one, two in pairs} == {
        (left, right, kind) for left in (True, False) for right in (True, False) for kind in (True, False)
    }


@pytest.mark.parametrize("seed", wnut17_corpora.SEEDS)
def test_wnut17(seed: int, tmp_path: Path) -> None:
    printed = read_fixture("wnut17")["results"][seed]["printed"]
    gold, pred = wnut17_corpora.write_corpus(tmp_path, seed)
    if seed % 4 == 0:
        with pytest.raises(FormatError, match="'O-corporation' is not a tag"):
            scored(gold, pred)
        return
    numbers = re.search(r"with (\d+) phrases; \nfound: (\d+) phrases; correct: (\d+)\.", printed)
    assert numbers
    counts = scored(gold, pred).counts("strict")
    assert [counts.pos, counts.act, counts.gold[0]] == [int(number) for number in numbers.groups()]
    assert counts.gold[0] == counts.pred[0]


@pytest.mark.parametrize("version", ["jnlpba-2004-04", "jnlpba-2004-10"])
@pytest.mark.parametrize("seed", SEEDS)
def test_jnlpba(seed: int, version: str, tmp_path: Path) -> None:
    gold, answers = write_sides(tmp_path, seed, ".iob2", "w{}\t{}\n")
    expected = outcome_of(version, gold, answers).scores
    scores = scored(gold, answers, options=LoadOptions(scheme="IOB2"))
    for theirs, ours in JNLPBA_MATCHES.items():
        for label, counts in {"ALL": scores.counts(ours), **scores.by_type(ours)}.items():
            row = expected[label]
            ours_of_label = counts.pos, counts.act, counts.gold[0], counts.pred[0]
            assert ours_of_label == (row["OBJECTs"], row["ANSWERs"], row[theirs]["correct"], row[theirs]["correct"]), (
                label
            )
    # October's version prints it no more.
    if version == "jnlpba-2004-04":
        assert scores.counts("exact").cor == expected["ALL"]["full"]["w/o class info"]["correct"]


@pytest.mark.parametrize("version", hipe_corpora.RUNS)
@pytest.mark.parametrize("seed", SEEDS)
def test_hipe(seed: int, version: str, tmp_path: Path) -> None:
    row = "w{0}\t{1}" + "\tO" * 5 + "\t_" * 3 + "\n"
    gold, pred = write_sides(
        tmp_path, seed, ".tsv", row, hipe_corpora.HEADER + "\n# document_id = d\n# date = 1800-01-01\n"
    )
    outcome = outcome_of(version, gold, pred.rename(tmp_path / hipe_corpora.NAMES[version]), task="nerc_coarse")
    pred = tmp_path / hipe_corpora.NAMES[version]
    labels = hipe_corpora.counts(json.loads(find_convention(version).forms["json"](outcome)))["NE-COARSE-LIT"]
    labels = labels.get("TIME-ALL", {}).get("LED-ALL", labels)
    scores = scored(gold, pred)
    for theirs, ours in HIPE_SCHEMAS.items():
        counts, expected = scores.counts(ours), dict(zip(hipe_corpora.COUNTS, labels["ALL"][theirs], strict=True))
        if theirs in HIPE_LEFT_OUT:
            assert counts.cor is not None and counts.cor >= expected["correct"]
        else:
            assert {name: figures(counts)[name] for name in expected} == expected, theirs
    assert {kind: counts.gold[0] for kind, counts in by_type(scores, "strict").items()} == {
        label: schemas["strict"][0] for label, schemas in labels.items() if label != "ALL"
    }


@pytest.mark.parametrize("seed", SEEDS)
def test_pharmaconer(seed: int, tmp_path: Path) -> None:
    sides = tmp_path / "ref", tmp_path / "res"
    for side, folder in enumerate(sides, 1):
        folder.mkdir()
        for number, sentence in enumerate(draw(seed)):
            (folder / f"d{number}.txt").write_text("x" * sentence[0], encoding="utf-8")
            (folder / f"d{number}.ann").write_text("".join(_annotations(sentence[side])), encoding="utf-8")
    expected = outcome_of("pharmaconer", *sides, subtrack=1).scores
    scores = scored(*sides, options=LoadOptions())
    counts = scores.counts("strict")
    spurious, missed = counts.act - counts.pred[0], counts.pos - counts.gold[0]
    assert (counts.cor, spurious, missed) == tuple(expected[name] for name in ("tp", "fp", "fn"))
    assert counts.f1 == pytest.approx(float(expected["F1"]), abs=1e-9)


def _annotations(spans: Spans) -> Iterable[str]:
    return (f"T{at}\t{kind} {low} {high}\t{'x' * (high - low)}\n" for at, (low, high, kind) in enumerate(spans, 1))
