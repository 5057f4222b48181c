"""Corpora drawn with a seed as PubTator files, and what bc5cdr_eval.jar of BioCreative V prints for them.

`python -m tests.support.bc5cdr_corpora JAR FILE` runs the program and writes a fixture.
"""

from __future__ import annotations

import hashlib
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

TEXT = "abcdefghijklmnopqrst"
CONCEPTS = ("D1", "MESH:D1", "D2", "OMIM:5", "-1", "D1|D2", "D2|D3|D2")
SEEDS = range(16)
TYPES = ("Disease", "Disease|Chemical")
EVALUATIONS = ("mention", "id")
REPOSITORY = "microsoft/BioGPT 648f7d6503c038b44e70b7510bf431c7be94e891"
COMMAND = "python -m tests.support.bc5cdr_corpora bc5cdr_eval.jar tests/fixtures/bc5cdr.json"


def write_corpus(folder: Path, seed: int) -> tuple[Path, Path]:
    """Write drawn documents and return the two files; some documents have nothing on one side, spans repeat."""
    rng = random.Random(seed)
    sides: tuple[list[str], list[str]] = ([], [])
    for document in range(1, rng.randint(2, 5)):
        gold = [_annotation(rng) for _ in range(rng.choice((0, 2, 5)))]
        pred = [row for row in gold if rng.random() < 0.6] + [_annotation(rng) for _ in range(rng.choice((0, 1, 4)))]
        for blocks, rows in zip(sides, (gold, [] if seed % 7 == 6 else pred), strict=True):
            lines = [f"{document}|t|{TEXT}", f"{document}|a|{TEXT}", *(f"{document}\t{row}" for row in rows)]
            blocks.append("".join(f"{line}\n" for line in lines))
    paths = folder / "gold.txt", folder / "pred.txt"
    for path, blocks in zip(paths, sides, strict=True):
        path.write_text("\n".join(blocks) + "\n", encoding="utf-8")
    return paths


def _annotation(rng: random.Random) -> str:
    start = rng.randrange(8)
    end = start + rng.randint(1, 3)
    row = (start, end, TEXT[start:end], rng.choice(("Disease", "Chemical")), rng.choice(CONCEPTS))
    return "\t".join(map(str, row))


def run(jar: Path, evaluation: str, types: str, gold: Path, pred: Path) -> dict[str, str]:
    """Return what the program prints by name, without its INFO lines."""
    command = [
        "java",
        "-cp",
        str(jar),
        "ncbi.bc5cdr_eval.Evaluate",
        evaluation,
        types,
        "PubTator",
        str(gold),
        str(pred),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return dict(line.split(": ") for line in done.stdout.splitlines() if not line.startswith("INFO"))


def main(jar: Path, target: Path) -> None:
    results = []
    for seed in SEEDS:
        with tempfile.TemporaryDirectory() as root:
            sides = write_corpus(Path(root), seed)
            results.append({types: {name: run(jar, name, types, *sides) for name in EVALUATIONS} for types in TYPES})
    sha256 = hashlib.sha256(jar.read_bytes()).hexdigest()
    about = {"program": "bc5cdr_eval.jar", "version": f"0.0.3, {REPOSITORY}, sha256:{sha256}", "command": COMMAND}
    target.write_text(json.dumps({**about, "results": results}, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
