"""Documents drawn with a seed, and what the scripts of i2b2 2014 and MEDDOCAN make of them.

`python -m tests.support.deidentification_corpora I2B2 MEDDOCAN FILE` scores them by the scripts in these folders and
writes a fixture. That of i2b2 takes Python 2 with lxml and numpy, as `python2` or what PYTHON2 names.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

TYPES = ("NAME/PATIENT", "NAME/DOCTOR", "LOCATION/CITY", "DATE/DATE", "ID/IDNUM", "AGE/AGE")
SEEDS = range(30)
COMMAND = "python -m tests.support.deidentification_corpora I2B2 MEDDOCAN tests/fixtures/deidentification.json"
VERSIONS = {
    "i2b2-2014": "kotfic/i2b2_evaluation_scripts acbfd4e",
    "meddocan": "PlanTL-GOB-ES/MEDDOCAN-CODALAB-Evaluation-Script 783a6df",
}
WORDS = ("Anna", "B.", "18-3-02", "(", "Ñuñoa", "id:77", "...", "a_b", "59", "-")

Span = tuple[str, int, int]
Document = tuple[str, str, list[Span], list[Span]]
"""Id, text, gold spans, predictions."""


def draw_documents(seed: int) -> list[Document]:
    """Draw documents whose spans repeat, nest and end two characters off."""
    rng = random.Random(seed)
    documents = []
    for number in range(rng.randint(1, 6)):
        text = " ".join(rng.choice(WORDS) for _ in range(12))
        gold = [_span(rng, seed, text) for _ in range(rng.choice((0, 1, 3, 6)))]
        pred = [_moved(rng, span, text) for span in gold if rng.random() < 0.7]
        pred += [_span(rng, seed, text) for _ in range(rng.randint(0, 3))]
        if seed % 3 == 0:
            pred += [_moved(rng, span, text) for span in gold[:2]]
        rng.shuffle(pred)
        documents.append((f"{100 + seed}-{number:02}", text, gold, pred))
    return documents


def _span(rng: random.Random, seed: int, text: str) -> Span:
    start = rng.randrange(len(text) - 1)
    name, sign, kind = rng.choice(TYPES[: 1 + seed % len(TYPES)]).partition("/")
    if seed % 5 == 4:
        kind = rng.choice((kind, kind, kind.lower()))
    return name + sign + kind, start, min(len(text), start + rng.randint(1, 9))


def _moved(rng: random.Random, span: Span, text: str) -> Span:
    kind, start, end = span
    end = min(len(text), max(start + 1, end + rng.choice((0, 0, 1, 2, 3, -1, -2))))
    return kind, start, end


def sentences_of(documents: Iterable[Document]) -> int:
    """Return how many sentences the drawn documents are said to have."""
    return sum(3 + len(text) % 4 for _, text, _, _ in documents)


def write_layers(folder: Path, documents: Iterable[Document]) -> tuple[Path, Path]:
    """Write gold and predictions as JSONL."""
    paths = folder / "gold.jsonl", folder / "pred.jsonl"
    rows: tuple[list[str], list[str]] = ([], [])
    for name, text, *sides in documents:
        for lines, spans in zip(rows, sides, strict=True):
            listed = [{"start": start, "end": end, "label": kind} for kind, start, end in spans]
            lines.append(json.dumps({"id": name, "text": text, "spans": listed}))
    for path, lines in zip(paths, rows, strict=True):
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return paths


def i2b2_results(scripts: Path, documents: Iterable[Document]) -> list[str]:
    """Return the lines that the script of i2b2 2014 prints of the evaluations over all types."""
    with tempfile.TemporaryDirectory() as root:
        folder = Path(root)
        for side, name in ((2, "gold"), (3, "system")):
            (folder / name).mkdir()
            for document in documents:
                (folder / name / f"{document[0]}.xml").write_text(_xml(document[1], document[side]), encoding="utf-8")
        python = os.environ.get("PYTHON2", "python2").split()
        command = [*python, str(scripts.resolve() / "evaluate.py"), "phi", f"{folder}/system/", f"{folder}/gold/"]
        run = subprocess.run(command, capture_output=True, text=True, check=True)
    lines = [line for line in run.stdout.splitlines() if line]
    first = next(at for at, line in enumerate(lines) if line.startswith("Token "))
    return lines[first : first + 50]


def _xml(text: str, spans: list[Span]) -> str:
    tags = []
    for number, (label, start, end) in enumerate(spans):
        name, _, kind = label.partition("/")
        places = f'start="{start}" end="{end}" text={quoteattr(text[start:end])} TYPE="{kind}"'
        tags.append(f'<{name} id="P{number}" {places} comment=""/>')
    body = f"<TEXT>{escape(text)}</TEXT><TAGS>{''.join(tags)}</TAGS>"
    return f'<?xml version="1.0" encoding="UTF-8" ?>\n<deIdi2b2>{body}</deIdi2b2>\n'


def meddocan_results(scripts: Path, documents: Iterable[Document]) -> list[str]:
    """Return the lines of scores.txt of MEDDOCAN."""
    with tempfile.TemporaryDirectory() as root:
        folder = Path(root)
        for name in ("classes.py", "evaluate.py", "tags.py"):
            shutil.copy(scripts / name, folder / name)
        split = folder / "annotated_corpora/sentence_splitted"
        places = {2: [folder / "in/ref/brat"], 3: [folder / f"in/res/brat/subtask{number}" for number in (1, 2)]}
        for place in [split, *places[2], *places[3]]:
            place.mkdir(parents=True)
        for document in documents:
            name, text = document[:2]
            (split / f"{name}.ann").write_text("T\n" * sentences_of([document]), encoding="utf-8")
            for side, targets in places.items():
                for target in targets:
                    (target / f"{name}.txt").write_text(text, encoding="utf-8")
                    rows = [
                        f"T{number}\t{kind} {start} {end}\t{text[start:end]}\n"
                        for number, (kind, start, end) in enumerate(document[side], 1)
                    ]
                    (target / f"{name}.ann").write_text("".join(rows), encoding="utf-8")
        command = [sys.executable, "evaluate.py", "in", "out"]
        subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
        return (folder / "out/scores.txt").read_text(encoding="utf-8").splitlines()


def main(i2b2: Path, meddocan: Path, target: Path) -> None:
    digests = {
        name: hashlib.sha256((folder / "classes.py").read_bytes()).hexdigest()
        for name, folder in (("i2b2-2014", i2b2), ("meddocan", meddocan))
    }
    content = {
        "program": "evaluate.py",
        "version": "; ".join(f"{name}: {version}, sha256:{digests[name]}" for name, version in VERSIONS.items()),
        "command": COMMAND,
        "i2b2-2014": [i2b2_results(i2b2, draw_documents(seed)) for seed in SEEDS],
        "meddocan": [meddocan_results(meddocan, draw_documents(seed)) for seed in SEEDS],
    }
    target.write_text(json.dumps(content, sort_keys=True, separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:4]))
