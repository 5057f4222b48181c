"""Mentions drawn with a seed, and what the evaluation library of SympTEMIST makes of them.

`python -m tests.support.symptemist_corpora LIBRARY FILE` scores them by the library in that folder. It takes pandas
before 3, of the interpreter that PYTHON names.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

SEEDS = range(30)
COMMAND = "python -m tests.support.symptemist_corpora LIBRARY tests/fixtures/symptemist.json"
VERSION = "nlp4bia-bsc/symptemist_evaluation_library 3b32c0e"
TEXT = "abcdefghij" * 12
HEAD = ("filename", "label", "start_span", "end_span", "text")
Span = tuple[str, int, int]
Document = tuple[str, list[Span], list[Span]]


def draw_documents(seed: int) -> list[Document]:
    """Draw documents whose mentions nest, repeat and lie about places of one, two and three digits."""
    rng = random.Random(seed)
    documents = []
    for number in range(rng.randint(1, 5)):
        gold = [_span(rng, seed) for _ in range(rng.choice((0, 1, 3, 6)))]
        pred = [span for span in gold if rng.random() < 0.6] + [_span(rng, seed) for _ in range(rng.randint(0, 4))]
        rng.shuffle(pred)
        documents.append((f"d{number}", gold, pred))
    return [*documents, ("z", [("A", 5, 9)], [("A", 5, 9 + seed % 2)])]


def _span(rng: random.Random, seed: int) -> Span:
    start = rng.choice((rng.randrange(15), rng.randrange(90, 112)))
    return "AB"[rng.randrange(1 + seed % 2)], start, start + rng.randint(1, 7)


def program_results(library: Path, documents: list[Document]) -> list[str]:
    """Return the figures over all documents."""
    with tempfile.TemporaryDirectory() as root:
        folder = Path(root)
        (folder / "out").mkdir()
        for side, name in ((1, "gold"), (2, "pred")):
            rows = [HEAD]
            for document in documents:
                rows += [
                    (document[0], label, str(start), str(end), TEXT[start:end]) for label, start, end in document[side]
                ]
            (folder / f"{name}.tsv").write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
        script = str(library.resolve() / "symptemist_evaluation.py")
        places = ["-r", "gold.tsv", "-p", "pred.tsv", "-t", "ner", "-o", "out"]
        subprocess.run(
            [os.environ.get("PYTHON", sys.executable), script, *places],
            cwd=folder,
            capture_output=True,
            text=True,
            check=True,
        )
        (result,) = (folder / "out").iterdir()
        lines = result.read_text(encoding="utf-8").splitlines()
    return [line for line in lines if ": " in line and "Results" not in line]


def write_layers(folder: Path, documents: list[Document]) -> tuple[Path, Path]:
    """Write gold and predictions as JSONL."""
    paths = folder / "gold.jsonl", folder / "pred.jsonl"
    for side, path in enumerate(paths, 1):
        rows = [
            {
                "id": document[0],
                "text": TEXT,
                "spans": [{"start": start, "end": end, "label": label} for label, start, end in document[side]],
            }
            for document in documents
        ]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return paths


def main(library: Path, target: Path) -> None:
    content = {
        "program": "symptemist_evaluation.py",
        "version": f"{VERSION}, utils.py sha256:{hashlib.sha256((library / 'utils.py').read_bytes()).hexdigest()}",
        "command": COMMAND,
        "results": [program_results(library, draw_documents(seed)) for seed in SEEDS],
    }
    target.write_text(json.dumps(content, sort_keys=True, separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
