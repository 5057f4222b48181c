"""Time to read and place mentions without offsets: repeated words, other case, misspelt and made-up ones among them."""

from __future__ import annotations

import json
import random
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import nereval_core
from nereval_core.readers import ReadOptions, read
from tests.benchmarks.scales import Scale

CHARACTERS, MENTIONS = 2_000, 20
VOCABULARY = 5_000


def rows(scale: Scale) -> Iterator[tuple[str, float, str]]:
    """Yield what was measured, the figure, and the aim."""
    documents = scale.of(10_000, 10_000, 20)
    with tempfile.TemporaryDirectory() as folder:
        gold, answers = written(Path(folder), documents)
        texts = nereval_core.read(gold).documents
        taken = []
        for _ in range(scale.runs(3)):
            begun = time.process_time()
            found = read(str(answers), format="mentions", options=ReadOptions(texts=texts))
            taken.append(time.process_time() - begun)
    assert len(found.layer) == documents * MENTIONS
    what = f"seconds of CPU for {documents:,} documents of {CHARACTERS:,} characters with {MENTIONS} mentions each"
    yield what, min(taken), "<= 5" if documents == 10_000 else "reported"


def written(folder: Path, documents: int) -> tuple[Path, Path]:
    """Write texts, and answers in which 85% of mentions are exact, 5% each in other case, misspelt and made up."""
    rng = random.Random(0)
    words = ["".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=rng.randint(3, 11))) for _ in range(VOCABULARY)]
    gold, answers = folder / "gold.jsonl", folder / "answers.jsonl"
    with gold.open("w") as texts, answers.open("w") as mentions:
        for number in range(documents):
            drawn = rng.choices(words, k=CHARACTERS // 8)
            text = " ".join(drawn)[:CHARACTERS]
            texts.write(json.dumps({"id": f"d{number}", "text": text, "spans": []}) + "\n")
            named = [{"text": _mention(rng, drawn), "type": "T"} for _ in range(MENTIONS)]
            mentions.write(json.dumps({"id": f"d{number}", "entities": named}) + "\n")
    return gold, answers


def _mention(rng: random.Random, drawn: list[str]) -> str:
    at, fate = rng.randrange(len(drawn) - 40), rng.random()
    words = " ".join(drawn[at : at + rng.randint(1, 3)])
    if fate < 0.85:
        return words
    if fate < 0.9:
        return words.title()
    if fate < 0.95:
        place = rng.randrange(len(words))
        return f"{words[:place]}q{words[place + 1 :]}"
    return "".join(rng.choices("qxzj", k=12))
