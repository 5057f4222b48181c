"""Fixtures that say what a published program printed for data which a script of this repository draws with a seed."""

from __future__ import annotations

import hashlib
import json
import os
import random
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures"
Sentences = list[list[tuple[str, str]]]
"""The tags of gold and prediction, token by token."""


def read_fixture(name: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((FIXTURES / f"{name}.json").read_text(encoding="utf-8"))
    return content


def write_fixture(target: Path, programs: Sequence[Path], version: str, command: str, **content: Any) -> None:
    """Write what programs printed, beside their names, their version with the digests of their files, and a command."""
    digests = [f"sha256:{hashlib.sha256(program.read_bytes()).hexdigest()}" for program in programs]
    about = {
        "program": ", ".join(program.name for program in programs),
        "version": ", ".join([version, *digests]),
        "command": command,
    }
    target.write_text(json.dumps({**about, **content}, sort_keys=True) + "\n", encoding="utf-8")


def run_program(*command: str | Path, content: str = "", folder: Path | None = None) -> tuple[str, str]:
    """Return what a program prints on standard output and on standard error.

    The order in which Perl walks through a hash is the same each time.
    """
    environment = os.environ | {"PERL_HASH_SEED": "0", "PERL_PERTURB_KEYS": "0"}
    words = [str(part) for part in command]
    done = subprocess.run(words, input=content.encode(), capture_output=True, cwd=folder, env=environment)
    return done.stdout.decode(), done.stderr.decode()


def draw_sentences(rng: random.Random, letters: str, kinds: Sequence[str], agreement: float = 0.7) -> Sentences:
    """Draw sentences of tags that break every scheme; a prediction has gold's tag with the probability `agreement`."""
    sentences = []
    for _ in range(rng.randint(2, 6)):
        size = rng.randint(1, 10)
        gold, pred = draw_tags(rng, letters, kinds, size), draw_tags(rng, letters, kinds, size)
        sentences.append([(one, one if rng.random() < agreement else two) for one, two in zip(gold, pred, strict=True)])
    return sentences


def draw_tags(rng: random.Random, letters: str, kinds: Sequence[str], size: int) -> list[str]:
    """Draw a row of tags, whose types change seldom."""
    tags: list[str] = []
    kind = rng.choice(kinds)
    for _ in range(size):
        kind = rng.choice(kinds) if rng.random() < 0.3 else kind
        tags.append("O" if rng.random() < 0.35 else f"{rng.choice(letters)}-{kind}")
    return tags
