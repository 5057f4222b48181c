"""Tags drawn with a seed, and what nereval.perl of GermEval 2014 prints for them.

`python -m tests.support.germeval_corpora SCRIPT FILE` runs the program and writes a fixture.
"""

from __future__ import annotations

import hashlib
import json
import random
import subprocess
import sys
from pathlib import Path

TYPES = ("PER", "LOC", "ORG", "OTH", "LOCderiv", "ORGpart", "PERpart")
SEEDS = range(60)
REPOSITORY = "kevinkrs/NLP_project_1 32cb1094901d65aba66a0930aa25f40e11127548"
COMMAND = "python -m tests.support.germeval_corpora nereval.perl tests/fixtures/germeval-2014.json"
Sentences = list[list[tuple[str, ...]]]


def draw(seed: int) -> Sentences:
    """Draw sentences of tokens with gold's outer and inner tag, and the prediction's; odd seeds break the scheme."""
    rng = random.Random(seed)
    found = []
    for _ in range(rng.randint(1, 6)):
        size = rng.randint(1, 10)
        columns = [_tags(rng, size, seed) for _ in range(2)]
        columns += [
            [tag if rng.random() < 0.85 else rng.choice(other) for tag in column]
            for column in list(columns)
            for other in (_tags(rng, size, seed),)
        ]
        found.append(list(zip(*columns, strict=True)))
    return found


def _tags(rng: random.Random, size: int, seed: int) -> list[str]:
    tags: list[str] = []
    kinds = TYPES[: 2 + seed % 6]
    while len(tags) < size:
        kind = rng.choice(kinds)
        tags += rng.choice((["O"], ["O", "O"], [f"B-{kind}"], [f"B-{kind}", f"I-{kind}", f"I-{kind}"]))
        if seed % 2 and rng.random() < 0.3:
            tags.append(f"I-{rng.choice(kinds)}")
    return tags[:size]


def lines(sentences: Sentences, columns: tuple[int, ...]) -> str:
    """Return sentences as lines of number, word and the columns asked for."""
    blocks = []
    for sentence in sentences:
        rows = [
            "\t".join((str(at), f"w{at}", *(tags[column] for column in columns))) for at, tags in enumerate(sentence, 1)
        ]
        blocks.append("".join(f"{row}\n" for row in rows))
    return "\n".join(blocks)


def write_sides(folder: Path, sentences: Sentences) -> tuple[Path, Path]:
    """Write sentences as a file of gold and one of the prediction."""
    paths = folder / "gold.tsv", folder / "pred.tsv"
    for path, columns in zip(paths, ((0, 1), (2, 3)), strict=True):
        path.write_text(lines(sentences, columns), encoding="utf-8")
    return paths


def main(script: Path, target: Path) -> None:
    printed = []
    for seed in SEEDS:
        content = lines(draw(seed), (0, 1, 2, 3))
        done = subprocess.run(["perl", str(script)], input=content, capture_output=True, text=True, check=True)
        printed.append(done.stdout.partition("\nEvaluation per type and mode")[0])
    sha256 = hashlib.sha256(script.read_bytes()).hexdigest()
    about = {"program": "nereval.perl", "version": f"2014-05-19, {REPOSITORY}, sha256:{sha256}", "command": COMMAND}
    target.write_text(json.dumps({**about, "printed": printed}, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
