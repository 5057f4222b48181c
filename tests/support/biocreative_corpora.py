"""Mentions drawn with a seed as lines of BioCreative II, and what alt_eval.perl prints for them.

`python -m tests.support.biocreative_corpora SCRIPT FILE` runs the program and writes a fixture.
"""

from __future__ import annotations

import random
import sys
import tempfile
from pathlib import Path

from tests.support.reference_fixtures import run_program, write_fixture

TEXT = "ab cde f ghij kl mno"
LETTERS = TEXT.replace(" ", "")
SEEDS = range(40)
IDS = "ids"
REPOSITORY = "original-data/train/alt_eval.perl, spyysalo/bc2gm-corpus 018161681145daf751af037cb890f3a54f62a74d"
COMMAND = "python -m tests.support.biocreative_corpora alt_eval.perl tests/fixtures/biocreative.json"
ODD_LINES = ("", "nobar", "|0 1|ab", "s1|", "s1|1e0 2|bc", "s2|4 2|x y|z", "s9|0 1|ab", "s1|0 1|ab\r")
"""A blank line, one without a bar or an id, without offsets, with others than numbers, the end before the start, more
bars, of a sentence that only one side has, and one that ends in a carriage return."""


def write_corpus(folder: Path, seed: int) -> tuple[Path, Path, Path | None]:
    """Write a corpus and return the folder of gold, the run and the list of sentences to be scored, if there is one.

    Gold of even seeds has the sentences; every third seed has odd lines, every fifth a list; in seed 7 nothing is
    right.
    """
    rng = random.Random(seed)
    gold, variants, run = [], [], []
    for name in ("s1", "s2", "s3")[: 1 + seed % 3]:
        spans = sorted({_span(rng) for _ in range(rng.randint(1, 3))})
        near = [(max(0, low + rng.randint(-2, 2)), high + rng.randint(-2, 2)) for low, high in spans for _ in range(3)]
        others = [(low, high) for low, high in [*near, _span(rng)] if low <= high < len(LETTERS)]
        gold += [_line(name, span) for span in spans]
        variants += [_line(name, span) for span in others]
        answers = [] if seed == 7 else [span for span in spans if rng.random() < 0.4]
        answers += [] if seed == 7 else [span for span in others if rng.random() < 0.4]
        rows = [_line(name, span) for span in [*answers, *answers[:1]]]
        # Offsets are compared as they are written.
        rows += [row.replace(" ", "  ", 1) for row in rows[:1] if rng.random() < 0.5]
        rows += [f"{name}|{len(LETTERS)} {len(LETTERS) + 2}|out"] * rng.randint(0, 2)
        rng.shuffle(rows)
        run += rows
    if seed % 3 == 2:
        for lines in (gold, variants, run):
            for line in rng.sample(ODD_LINES, 4):
                lines.insert(rng.randint(0, len(lines)), line)
    corpus = folder / f"corpus-{seed}"
    corpus.mkdir()
    files = {"GENE.eval": gold, "ALTGENE.eval": variants}
    if seed % 2 == 0:
        files["test.in"] = [f"s{number} {TEXT}" for number in (1, 2, 3)]
    for file, lines in files.items():
        _write(corpus / file, lines)
    _write(folder / f"run-{seed}.eval", run)
    listed = folder / f"{IDS}-{seed}" if seed % 5 == 4 else None
    if listed:
        _write(listed, ["s1", "s3"])
    return corpus, folder / f"run-{seed}.eval", listed


def _span(rng: random.Random) -> tuple[int, int]:
    low = rng.randrange(len(LETTERS) - 4)
    return low, low + rng.randint(0, 4)


def _line(name: str, span: tuple[int, int]) -> str:
    return f"{name}|{span[0]} {span[1]}|{LETTERS[span[0] : span[1] + 1]}"


def _write(path: Path, lines: list[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="")


def main(script: Path, target: Path) -> None:
    results = []
    for seed in SEEDS:
        with tempfile.TemporaryDirectory() as root:
            corpus, run, listed = write_corpus(Path(root), seed)
            options = ["-ids", listed] if listed else []
            printed, errors = run_program("perl", script.resolve(), *options, run, folder=corpus)
            results.append({"printed": printed, "stopped": "Illegal division by zero" in errors})
    write_fixture(target, [script], REPOSITORY, COMMAND, results=results)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
