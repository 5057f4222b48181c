"""Corpora drawn with a seed, and what spaCy's Scorer makes of them.

`python -m tests.support.spacy_corpora FILE` scores them by the spaCy that is installed and writes a fixture. Only what
stands in the corpora and spaCy's own classes is used here.
"""

from __future__ import annotations

import json
import platform
import random
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

TokenSpans = list[tuple[int, int, str]]
"""First token, last token (exclusive) and label."""

WORDS = ("Ada", "met", "İnci", "😀", "e\u0301t\u00e9", "ß", "-", "in", "Turin")
LABELS = ("PER", "LOC", "overall", "x y", "überall")
SEEDS = range(60)
COMMAND = "python -m tests.support.spacy_corpora tests/fixtures/spacy-3.8.18.json"


@dataclass(frozen=True)
class TokenDocument:
    """Words that single blanks part, and the spans of both sides in the order in which they are given."""

    words: tuple[str, ...]
    gold: TokenSpans
    pred: TokenSpans

    @property
    def text(self) -> str:
        return " ".join(self.words)

    def row(self, side: str) -> dict[str, Any]:
        """Return one side as a row of JSON lines, without its id."""
        tokens = []
        for word in self.words:
            start = tokens[-1][1] + 1 if tokens else 0
            tokens.append((start, start + len(word)))
        spans = [
            {"start": tokens[first][0], "end": tokens[last - 1][1], "label": label}
            for first, last, label in (self.gold if side == "gold" else self.pred)
        ]
        return {"text": self.text, "tokens": tokens, "spans": spans}


def draw(seed: int, *, overlaps: bool) -> list[TokenDocument]:
    """Draw documents; with `overlaps` spans nest, cross and repeat, else they share no token.

    Every sixth corpus has nothing on one side, every tenth nothing on both.
    """
    rng = random.Random(seed)
    labels = list(LABELS[: 1 + seed % 5])
    found = []
    for _ in range(rng.randint(1, 8)):
        words = tuple(rng.choices(WORDS, k=rng.randint(1, 12)))
        gold = _drawn(rng, len(words), labels, overlaps)
        pred = [span for span in gold if rng.random() < 0.6]
        pred += [span for span in _drawn(rng, len(words), labels, overlaps) if overlaps or _free(span, pred)]
        rng.shuffle(pred)
        found.append(
            TokenDocument(words, [] if seed % 6 == 0 else gold, [] if seed % 10 == 0 or seed % 6 == 1 else pred)
        )
    return found


def _drawn(rng: random.Random, size: int, labels: list[str], overlaps: bool) -> TokenSpans:
    found: TokenSpans = []
    for _ in range(rng.randint(0, 5)):
        first = rng.randrange(size)
        span = (first, rng.randint(first + 1, min(size, first + 3)), rng.choice(labels))
        if overlaps or _free(span, found):
            found.append(span)
    return found


def _free(span: tuple[int, int, str], others: TokenSpans) -> bool:
    return all(span[1] <= first or last <= span[0] for first, last, _ in others)


def spacy_scores(documents: Iterable[TokenDocument], *, overlaps: bool) -> dict[str, Any]:
    """Return the figures of the scorers that spaCy registers for its components "spancat" and "ner"."""
    import spacy
    from spacy.pipeline.ner import ner_score
    from spacy.pipeline.spancat import spancat_score
    from spacy.tokens import Doc, Span
    from spacy.training import Example

    vocab = spacy.blank("xx").vocab
    examples = []
    for document in documents:
        docs = []
        for spans in (document.pred, document.gold):
            docs.append(Doc(vocab, words=document.words))
            held = [Span(docs[-1], first, last, label=label) for first, last, label in spans]
            if overlaps:
                docs[-1].spans["sc"] = held
            else:
                docs[-1].set_ents(held)
        examples.append(Example(*docs))
    if overlaps:
        scores: dict[str, Any] = spancat_score(examples, spans_key="sc")
    else:
        scores = ner_score(examples)
    return scores


def main(target: Path) -> None:
    import spacy

    about = {"program": "spaCy", "version": spacy.__version__, "python": platform.python_version(), "command": COMMAND}
    results = {
        name: [spacy_scores(draw(seed, overlaps=overlaps), overlaps=overlaps) for seed in SEEDS]
        for name, overlaps in (("ents", False), ("spans_sc", True))
    }
    content = json.dumps({**about, "results": results}, sort_keys=True, separators=(",", ":"))
    target.write_text(content + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
