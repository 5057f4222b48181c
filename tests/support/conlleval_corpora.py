"""Tags drawn with a seed, and what conlleval.pl prints for them.

`python -m tests.support.conlleval_corpora SCRIPT FILE` runs the program and writes a fixture.
"""

from __future__ import annotations

import random
import sys
from itertools import product
from pathlib import Path
from typing import Any

from tests.support.reference_fixtures import draw_sentences, run_program, write_fixture

SEEDS = range(32)
RUNS: dict[str, dict[str, Any]] = {"": {}, "-l": {"l": True}, "-r -o x": {"r": True, "o": "x"}}
"""The options of the program, and ours."""
KNOWN = "BIE[]."
"""The letters of the program's table of transitions."""
LETTERS = ("BI", "BIE", "BIES", "BILU", "BIE[].", "BIESLU[].")
KINDS = ("A", "B-C", "D.E", "0")
"""Types with a dash, and the one that is none to the program."""
BARE = ("B", "I", "x", "A")
"""Tags without a type."""
REPOSITORY = "2004-01-26, kyzhouhzau/BERT-NER 0f77e478872453df51cd3c65d1a39b12d9617f9d"
COMMAND = "python -m tests.support.conlleval_corpora conlleval.pl tests/fixtures/conlleval.json"


def draw(seed: int) -> str:
    """Draw a file of tokens with the tags of gold and prediction.

    In seed 0 each tag that the program knows follows each other one in gold, of two types. Every third seed has tags
    without a type and marks of documents and boundaries; in every fourth no blank line ends the file, and seed 13 has
    tags outside alone.
    """
    rng = random.Random(seed)
    blocks = []
    sentences = draw_sentences(rng, LETTERS[seed % 6], KINDS[: 1 + seed % 4])
    if seed == 0:
        tags = ["O", *(f"{letter}-{kind}" for letter, kind in product(KNOWN, KINDS[:2]))]
        sentences = [[(one, rng.choice((one, rng.choice(tags)))) for one in pair] for pair in product(tags, repeat=2)]
    for sentence in sentences:
        rows = [("w", *(("O", "O") if seed == 13 else tags)) for tags in sentence]
        if seed % 3 == 2:
            rows = [(word, *(tag if rng.random() < 0.8 else rng.choice(BARE) for tag in tags)) for word, *tags in rows]
            rows.insert(rng.randint(0, len(rows)), ("-X-", "O", "O"))
            blocks.append("-DOCSTART- O B-A\n")
        blocks.append("".join(" ".join(row) + "\n" for row in rows))
    return "\n".join(blocks) + ("" if seed % 4 == 3 else "\n")


def main(script: Path, target: Path) -> None:
    printed = [
        {options: run_program("perl", script, *options.split(), content=draw(seed))[0] for options in RUNS}
        for seed in SEEDS
    ]
    write_fixture(target, [script], REPOSITORY, COMMAND, printed=printed)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
