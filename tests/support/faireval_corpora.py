"""Corpora drawn with a seed, and what FairEval makes of them.

`python -m tests.support.faireval_corpora FairEval.py FILE` scores them by the program and writes a fixture.
"""

from __future__ import annotations

import hashlib
import json
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

LABELS = ("A", "B", "C")
SEEDS = range(40)
TOKENS = 12
WEIGHTS = ("LE = 0.25 TP + 0.75 FP, BE = 1 FN, LBE = .5*FP+.5*FN", "BES = 1 TP, FN = 2 FN", "default")
COMMAND = "python -m tests.support.faireval_corpora FairEval.py tests/fixtures/faireval.json"
REPOSITORY = "katrinortmann/FairEval a6172f2"

Span = tuple[str, tuple[int, ...]]
"""Label, and tokens from 1 on."""
Sentence = tuple[list[Span], list[Span]]
"""Gold spans, predictions."""


def draw_sentences(seed: int) -> list[Sentence]:
    """Draw sentences whose spans nest, cross and repeat; those of odd seeds leave out tokens."""
    rng = random.Random(seed)
    sentences = []
    for _ in range(rng.randint(3, 12)):
        gold = [_span(rng, seed) for _ in range(rng.choice((0, 1, 2, 4, 7)))]
        pred = [span for span in gold if rng.random() < 0.3] + [_span(rng, seed) for _ in range(rng.randint(0, 7))]
        rng.shuffle(pred)
        sentences.append((gold, pred))
    # The program stops at a corpus without gold spans.
    sentences.append(([("A", (1, 2))], []))
    return sentences


def _span(rng: random.Random, seed: int) -> Span:
    first = rng.randint(1, TOKENS)
    tokens = range(first, min(TOKENS, first + rng.choice((0, 0, 1, 2, 3, 5))) + 1)
    inner = [token for token in tokens[1:-1] if not (seed % 2 and rng.random() < 0.2)]
    return rng.choice(LABELS[: 1 + seed % 3]), (tokens[0], *inner, *tokens[1:][-1:])


def draw_options(seed: int) -> dict[str, str]:
    """Return the options of a seed, in the words of the convention; by default those of the paper."""
    options = {}
    if seed % 4 == 1:
        options["focus"] = "system"
    if seed % 5 == 2:
        options["weights"] = WEIGHTS[seed % len(WEIGHTS)]
    return options


def read_sentences(target: Path, system: Path) -> list[Sentence]:
    """Read span files of the program; spans that fill a sentence stay."""
    sides = [[[_parsed(line) for line in lines] for lines in _blocks(path)] for path in (target, system)]
    return list(zip(*sides, strict=True))


def _blocks(path: Path) -> list[list[str]]:
    blocks = path.read_text(encoding="utf-8").strip().split("\n\n")
    return [[line for line in block.splitlines() if line.strip()] for block in blocks]


def _parsed(line: str) -> Span:
    label, first, last, listed = line.split("\t")
    tokens = [int(token) for token in listed.split(",")]
    assert (tokens[0], tokens[-1]) == (int(first), int(last))
    return label, tuple(tokens)


def write_layers(folder: Path, sentences: Iterable[Sentence]) -> tuple[Path, Path]:
    """Write gold and predictions as JSONL, a document a sentence, a token a letter and a blank."""
    paths = folder / "gold.jsonl", folder / "pred.jsonl"
    rows: tuple[list[str], list[str]] = ([], [])
    for number, sides in enumerate(sentences):
        # The tokens that fill a sentence have a number that no sentence reaches.
        size = max(
            (tokens[-1] for spans in sides for label, tokens in spans if label not in ("EMPTY", "NONE")), default=0
        )
        size = max(size, 1)
        for lines, spans in zip(rows, sides, strict=True):
            listed = [_as_json(label, [min(token, size) for token in tokens]) for label, tokens in spans]
            tokens = [[2 * token, 2 * token + 1] for token in range(size)]
            lines.append(json.dumps({"id": f"s{number}", "text": "x " * size, "spans": listed, "tokens": tokens}))
    for path, lines in zip(paths, rows, strict=True):
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return paths


def _as_json(label: str, tokens: list[int]) -> dict[str, Any]:
    edges = [0, *(at for at, (one, other) in enumerate(pairwise(tokens), 1) if other != one + 1), len(tokens)]
    parts = [[2 * tokens[low] - 2, 2 * tokens[high - 1] - 1] for low, high in pairwise(edges)]
    return {"start": parts[0][0], "end": parts[-1][1], "label": label, "fragments": parts}


def program_results(program: Path, sentences: Iterable[Sentence], options: Mapping[str, str], paper: str) -> list[str]:
    """Return the lines that the program writes below its settings."""
    with tempfile.TemporaryDirectory() as root:
        folder = Path(root)
        pairs = list(sentences)
        for side, name in enumerate(("target", "system")):
            (folder / name).mkdir()
            blocks = ["\n".join(_lines(sides[side])) for sides in pairs]
            (folder / name / "spans.csv").write_text("\n\n".join(blocks) + "\n", encoding="utf-8")
        settings = {name: str(folder / name.partition("_")[0] / "spans.csv") for name in ("target_in", "system_in")}
        # Without the line, labels that fill a sentence would count.
        settings |= {"weights": options.get("weights", paper), "eval_out": str(folder / "out.csv"), "exclude": ""}
        settings |= {name: value for name, value in options.items() if name != "weights"}
        config = folder / "spans.config"
        config.write_text("".join(f"{name} = {value}\n" for name, value in settings.items()), encoding="utf-8")
        command = [sys.executable, str(program.resolve()), "--config", str(config)]
        subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
        return written_figures((folder / "out.csv").read_text(encoding="utf-8"))


def _lines(spans: list[Span]) -> Iterator[str]:
    for label, tokens in spans or [("EMPTY", (999,))]:
        yield f"{label}\t{tokens[0]}\t{tokens[-1]}\t{', '.join(map(str, tokens))}"


def written_figures(text: str) -> list[str]:
    """Return the lines of figures below the settings."""
    return [line for line in text[text.index("### Traditional") :].splitlines() if line]


def main(program: Path, target: Path) -> None:
    from nereval_core.conventions.faireval.figures import PAPER

    content = {
        "program": "FairEval.py",
        "version": f"{REPOSITORY}, sha256:{hashlib.sha256(program.read_bytes()).hexdigest()}",
        "command": COMMAND,
        "results": [program_results(program, draw_sentences(seed), draw_options(seed), PAPER) for seed in SEEDS],
    }
    target.write_text(json.dumps(content, sort_keys=True, separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
