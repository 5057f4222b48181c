"""Corpora drawn with a seed, and what the evaluation program of SemEval-2013 task 9.1 makes of them.

`python -m tests.support.semeval_corpora JAR FILE` scores them by the program, evaluateNER.jar, and writes a fixture. It
takes a Java runtime, such as Debian's default-jre-headless.
"""

from __future__ import annotations

import hashlib
import json
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

TYPES = ("drug", "brand", "group", "drug_n")
SEEDS = range(40)
SYSTEMS = ("annotator-1", "annotator-2", "perceptron", "rules")
DEMO = Path(__file__).resolve().parents[2] / "demo_data/pharmacology"
DEMO_TYPES = {"NORMALIZABLES": "drug", "NO_NORMALIZABLES": "group", "PROTEINAS": "brand"}
"""The program takes the types of its task only."""
TEXT = "abcdefghijklmnopqrstuvwxyz"
COMMAND = "python -m tests.support.semeval_corpora evaluateNER.jar tests/fixtures/semeval-2013-9.1.json"
REPOSITORY = "albertrial/SemEval-2013-task-9 8b2ce47"

Span = tuple[str, tuple[tuple[int, int], ...]]
"""Type, and fragments with exclusive ends."""
Sentence = tuple[str, list[Span], list[Span]]
"""Text, gold spans, predictions."""


def draw_sentences(seed: int) -> list[Sentence]:
    """Draw sentences whose spans nest, cross and repeat; those of odd seeds have up to three fragments."""
    rng = random.Random(seed)
    sentences = []
    for _ in range(rng.randint(2, 9)):
        gold = [_span(rng, seed) for _ in range(rng.choice((0, 1, 2, 3, 5)))]
        pred = [span for span in gold if rng.random() < 0.5] + [_span(rng, seed) for _ in range(rng.randint(0, 4))]
        rng.shuffle(pred)
        sentences.append((TEXT, gold, pred))
    # The program ends where there is no gold span at all.
    sentences.append((TEXT, [("drug", ((0, 4),))], []))
    return sentences


def _span(rng: random.Random, seed: int) -> Span:
    kind = rng.choice(TYPES[: 1 + seed % 4])
    start = rng.randrange(16)
    parts = [(start, start + rng.randint(1, 5))]
    for _ in range(rng.choice((0, 0, 0, 1, 2)) if seed % 2 else 0):
        low = parts[-1][1] + rng.randint(1, 2)
        parts.append((low, low + 1))
    return kind, tuple(parts)


def demo_sentences(system: str) -> list[Sentence]:
    """Return the demo data, a document a sentence, with the types of the task in place of its own."""
    layers = []
    for name in ("gold", system):
        lines = (DEMO / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
        layers.append({row["id"]: row for row in map(json.loads, lines)})
    gold, pred = layers
    return [(row["text"], _spans_of(row), _spans_of(pred[name])) for name, row in gold.items()]


def _spans_of(row: dict[str, Any]) -> list[Span]:
    return [(DEMO_TYPES[span["label"]], ((span["start"], span["end"]),)) for span in row["spans"]]


def write_layers(folder: Path, sentences: Iterable[Sentence]) -> tuple[Path, Path]:
    """Write gold and predictions as JSONL, a document a sentence."""
    paths = folder / "gold.jsonl", folder / "pred.jsonl"
    rows: tuple[list[str], list[str]] = ([], [])
    for number, (text, *sides) in enumerate(sentences):
        for lines, spans in zip(rows, sides, strict=True):
            listed = [
                {"start": parts[0][0], "end": parts[-1][1], "label": kind, "fragments": parts} for kind, parts in spans
            ]
            lines.append(json.dumps({"id": f"s{number}", "text": text, "spans": listed}))
    for path, lines in zip(paths, rows, strict=True):
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return paths


def program_results(jar: Path, sentences: Iterable[Sentence]) -> list[str]:
    """Return the lines of figures that the program prints."""
    with tempfile.TemporaryDirectory() as root:
        folder = Path(root)
        (folder / "gold").mkdir()
        lines = []
        xml = ['<?xml version="1.0" encoding="UTF-8"?>', '<document id="DDI-DrugBank.d0">']
        for number, (text, gold, pred) in enumerate(sentences):
            name = f"DDI-DrugBank.d0.s{number}"
            xml.append(f"<sentence id={quoteattr(name)} text={quoteattr(text)}>")
            xml += [
                f'<entity id="{name}.e{at}" charOffset="{_offsets(parts)}" type="{kind}" text="x"/>'
                for at, (kind, parts) in enumerate(gold)
            ]
            xml.append("</sentence>")
            lines += [f"{name}|{_offsets(parts)}|x|{kind}" for kind, parts in pred]
        (folder / "gold/d0.xml").write_text("\n".join([*xml, "</document>", ""]), encoding="utf-8")
        (folder / "task9.1_TEAM_1.txt").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        command = ["java", "-jar", str(jar.resolve()), "gold", "task9.1_TEAM_1.txt"]
        run = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    return list(_figures(run.stdout.splitlines()))


def _offsets(parts: Iterable[tuple[int, int]]) -> str:
    """The program's ends are inclusive."""
    return ";".join(f"{low}-{high - 1}" for low, high in parts)


def _figures(lines: Iterable[str]) -> Iterator[str]:
    """Yield the lines from the first schema on, without blank ones and those about sentences that gold lacks."""
    begun = False
    for line in map(str.strip, lines):
        begun = begun or line.startswith("Strict matching")
        if begun and line and not line.startswith(("Warning", "SCORES FOR", "___")):
            yield line


def main(jar: Path, target: Path) -> None:
    version = subprocess.run(["java", "-version"], capture_output=True, text=True, check=True).stderr.splitlines()[0]
    content = {
        "program": "evaluateNER.jar",
        "version": f"{REPOSITORY}, sha256:{hashlib.sha256(jar.read_bytes()).hexdigest()}",
        "java": version,
        "command": COMMAND,
        "results": [program_results(jar, draw_sentences(seed)) for seed in SEEDS],
        "demo_data": {system: program_results(jar, demo_sentences(system)) for system in SYSTEMS},
    }
    target.write_text(json.dumps(content, sort_keys=True, separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
