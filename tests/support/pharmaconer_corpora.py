"""Mentions and codes drawn with a seed as folders of PharmaCoNER, and what evaluate.py prints for them.

`python -m tests.support.pharmaconer_corpora FOLDER FILE` runs the programs of the folders subtask1 and subtask2 of the
evaluation script, and writes a fixture.
"""

from __future__ import annotations

import random
import sys
import tempfile
from pathlib import Path

from tests.support.reference_fixtures import run_program, write_fixture

TEXT = "abcdefghijkl"
TYPES = ("PROTEINAS", "NORMALIZABLES", "UNCLEAR")
CODES = ("11", "22", "33", "44")
TRACKS = (1, 2)
SEEDS = range(32)
REPOSITORY = "PlanTL-GOB-ES/PharmaCoNER-CODALAB-Evaluation-Script b354eabd95c875c3eb62c4e80d60d41a83f11079"
COMMAND = "python -m tests.support.pharmaconer_corpora PharmaCoNER tests/fixtures/pharmaconer.json"
UNSPLIT = ("T8", "T9\t\tx", "T9 PROTEINAS 0 1 x")
"""Lines that the script cannot split: it passes over them in sub-track 1 and stops at those of gold in sub-track 2."""
ODD_LINES = ("", "R1\tX Arg1:T1 Arg2:T2", "  T7\tPROTEINAS +0 01\ta  ", "T8\tUNCLEAR 0 1;2 3\ta c")
"""A blank line, a relation, blanks and numbers as Python reads them, and a span with a gap that is UNCLEAR."""


def write_corpus(folder: Path, seed: int) -> tuple[Path, Path]:
    """Write both sub-tracks as folders of gold and response, and return these.

    Every document may be missing on one side; the response of seed 5 is empty, and the gold of seed 6. Every third seed
    has odd lines of mentions, and lines of codes that name another document.
    """
    rng = random.Random(seed)
    sides = folder / f"{seed}/ref", folder / f"{seed}/res"
    for side in sides:
        for track in TRACKS:
            (side / f"subtask{track}").mkdir(parents=True)
    for number in range(1, 3 + seed % 4):
        name = f"d{number}"
        gold = [_mention(rng) for _ in range(rng.randint(0, 5))]
        pred = [row for row in gold if rng.random() < 0.6] + [_mention(rng) for _ in range(rng.randint(0, 3))]
        # A span of gold that is UNCLEAR there, under a type.
        pred += [(TYPES[0], low, high, code) for kind, low, high, code in gold if kind == "UNCLEAR"][: seed % 2]
        pred += pred[:1]
        absent = rng.choice((None, None, None, *sides)) if number > 1 else None
        for side, rows in zip(sides, ([] if seed == 6 else gold, [] if seed == 5 else pred), strict=True):
            if side == absent:
                continue
            odd = rng.sample(ODD_LINES, 2) if seed % 3 == 2 else []
            odd += rng.sample(UNSPLIT, 2) if odd and (side == sides[1] or seed % 2) else []
            _write(side / f"subtask1/{name}.ann", [*_lines(rows), *odd])
            codes = [code for *_, code in rows]
            lines = [f"{name}\t{code}" for code in codes]
            lines += [f"other\t{code}\tand more" for code in codes if seed % 3 == 2]
            _write(side / f"subtask2/{name}.tsv", lines)
    return sides


def _mention(rng: random.Random) -> tuple[str, int, int, str]:
    start = rng.randrange(6)
    return rng.choice(TYPES), start, start + rng.randint(1, 3), rng.choice(CODES)


def _lines(rows: list[tuple[str, int, int, str]]) -> list[str]:
    lines = []
    for number, (kind, low, high, code) in enumerate(rows, 1):
        lines += [f"T{number}\t{kind} {low} {high}\t{TEXT[low:high]}", f"#{number}\tAnnotatorNotes T{number}\t{code}"]
    return lines


def _write(path: Path, lines: list[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def main(programs: Path, target: Path) -> None:
    results = []
    for seed in SEEDS:
        with tempfile.TemporaryDirectory() as root:
            source = write_corpus(Path(root), seed)[0].parent
            printed = {}
            for track in TRACKS:
                script = (programs / f"subtask{track}/evaluate.py").resolve()
                # In sub-track 2 evaluate.py stops at a line of gold's mentions that it cannot split.
                _, errors = run_program(sys.executable, script, source, f"{root}/out")
                text = (Path(root) / "out/scores.txt").read_text()
                printed[str(track)] = None if "Error: " in errors else text
            results.append(printed)
    write_fixture(target, sorted(programs.glob("subtask?/*.py")), REPOSITORY, COMMAND, results=results)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
