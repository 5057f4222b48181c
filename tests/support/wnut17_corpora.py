"""Tags of WNUT 2017 drawn with a seed, and what wnuteval.py prints for them.

`python -m tests.support.wnut17_corpora SCRIPT FILE` runs the program and writes a fixture. The script is of Python 2:
it is handed functools.reduce as the builtin that it was there.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path

from tests.support.reference_fixtures import Sentences, draw_sentences, run_program, write_fixture

TYPES = ("corporation", "creative-work", "group", "location", "person", "product")
WORDS = ("Ada", "ada", "Bo", "Turin")
SEEDS = range(24)
REPOSITORY = "predictions/wnuteval.py, tavo91/NER-WNUT17 bacc3d1fe404a41b4d23dbfba58f16eca96018ee"
COMMAND = "python -m tests.support.wnut17_corpora wnuteval.py tests/fixtures/wnut17.json"
PYTHON_2 = (
    "import builtins, functools, runpy, sys; builtins.reduce = functools.reduce; sys.argv = sys.argv[1:]; "
    "runpy.run_path(sys.argv[0], run_name='__main__')"
)


def draw(seed: int) -> tuple[list[list[str]], Sentences]:
    """Draw the words of sentences, and their tags.

    Seed 3 has nothing in gold, seed 5 nothing in the prediction; every fourth seed begins a sentence with an O that
    has a type, at which the program stops anywhere else.
    """
    rng = random.Random(seed)
    sentences = draw_sentences(rng, "BI", TYPES[: 1 + seed % 6])
    if seed % 4 == 0:
        sentences.insert(1, [(f"O-{TYPES[0]}", f"B-{TYPES[0]}"), (f"I-{TYPES[0]}", f"I-{TYPES[0]}")])
    if seed in (3, 5):
        sentences = [[("O", two) if seed == 3 else (one, "O") for one, two in sentence] for sentence in sentences]
    return [[rng.choice(WORDS) for _ in sentence] for sentence in sentences], sentences


def write_corpus(folder: Path, seed: int) -> tuple[Path, Path]:
    """Write gold and prediction; the words of predictions of odd seeds are others, and their lines end in CR LF."""
    words, sentences = draw(seed)
    paths = folder / "gold.conll", folder / "pred.conll"
    for side, path in enumerate(paths):
        odd = bool(side and seed % 2)
        blocks = (
            "".join(f"{'x' if odd else word}\t{tags[side]}\n" for word, tags in zip(*rows, strict=True))
            for rows in zip(words, sentences, strict=True)
        )
        path.write_text("\n".join(blocks), encoding="utf-8", newline="\r\n" if odd else "\n")
    return paths


def main(script: Path, target: Path) -> None:
    results = []
    for seed in SEEDS:
        rows = (
            "".join("\t".join((word, *tags)) + "\n" for word, tags in zip(*one, strict=True))
            for one in zip(*draw(seed), strict=True)
        )
        printed, errors = run_program(sys.executable, "-c", PYTHON_2, script, content="\n".join(rows))
        results.append({"printed": printed, "illegal_transitions": errors.count("Invalid tag sequence: ")})
    write_fixture(target, [script], REPOSITORY, COMMAND, results=results)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
