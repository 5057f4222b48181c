"""Corpora drawn with a seed, and what nervaluate makes of them.

`python -m tests.support.nervaluate_corpora FILE` scores them by the nervaluate that is installed and writes a fixture;
two versions cannot be installed at once. Only what stands in the corpora and the reference's own classes is used here.
"""

from __future__ import annotations

import json
import platform
import random
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

SCHEMAS = ("strict", "exact", "partial", "ent_type")
FIELDS = ("correct", "incorrect", "partial", "missed", "spurious", "possible", "actual", "precision", "recall", "f1")

Spans = list[tuple[int, int, str]]


@dataclass(frozen=True)
class Drawn:
    """Spans (start, end exclusive, type) of both sides by document, in input order, in texts of `room` characters."""

    room: int
    documents: list[tuple[Spans, Spans]]
    tags: tuple[str, ...]
    minimum: float


@dataclass(frozen=True)
class DrawnTags:
    """Tags of both sides by sentence; `legal`: every tag is O, B- or I-."""

    sentences: list[tuple[list[str], list[str]]]
    legal: bool


def corpora() -> Iterator[Drawn]:
    """Draw 40 corpora of 50 documents, 20 of one, and 4 of one document full of spans."""
    rng = random.Random(20130612)
    minima = (1.0, 1.0, 1.0, 34.5, 50.0, 100.0)
    for number in range(40):
        room = rng.choice((6, 12, 30, 300))
        most = rng.choice((2, 4, 8, 16))
        documents = [_document(rng, room, rng.randrange(most + 1), number % 3) for _ in range(50)]
        tags = ("A", "B", "C") if number % 4 else ("A", "C", "Z")
        yield Drawn(room, documents, tags, minima[number % len(minima)])
    for number in range(20):
        yield Drawn(15, [_document(rng, 15, 5, number % 3)], ("A", "B", "C"), minima[number % len(minima)])
    for number in range(4):
        yield Drawn(25, [_document(rng, 25, 220, number % 3)], ("A", "B", "C"), minima[2 + number])


def tagged_corpora() -> Iterator[DrawnTags]:
    """Draw 20 corpora of 25 sentences, every second one with tags that are no IOB."""
    rng = random.Random(20020831)
    for number in range(20):
        letters = "BI" if number % 2 else "BISEX"
        choices = ["O", "O", *(f"{letter}-{kind}" for letter in letters for kind in ("PER", "LOC", "B-X"))]
        if letters != "BI":
            choices += ["B-", "-", "PER", "BB"]
        sentences = []
        for _ in range(25):
            gold = [rng.choice(choices) for _ in range(rng.randrange(1, 12))]
            sentences.append((gold, [tag if rng.random() < 0.6 else rng.choice(choices) for tag in gold]))
        yield DrawnTags(sentences, bool(number % 2))


def _document(rng: random.Random, room: int, count: int, manner: int) -> tuple[Spans, Spans]:
    """Draw spans that nest, cross and repeat, and predictions that are mostly bent copies; both sides shuffled.

    `manner` 0: long spans too; 1: short ones; 2: as 1, and in the order of the text.
    """

    def drawn() -> tuple[int, int, str]:
        start = rng.randrange(room)
        longest = room - start if manner == 0 else min(3, room - start)
        return start, start + rng.randrange(1, longest + 1), rng.choice("AABCD" if rng.random() < 0.2 else "AABC")

    gold = [drawn() for _ in range(count)]
    gold += [rng.choice(gold) for _ in range(count // 3) if rng.random() < 0.3]
    pred = []
    for start, end, kind in gold:
        fate = rng.random()
        if fate < 0.4:
            pred.append((start, end, kind))
        elif fate < 0.5:
            pred.append((start, end, rng.choice("ABC")))
        elif fate < 0.8:
            low = min(max(0, start + rng.randrange(-2, 3)), room - 1)
            pred.append((low, min(room, max(low + 1, end + rng.randrange(-2, 3))), rng.choice((kind, "A"))))
        elif fate < 0.9:
            pred += [(start, end, kind)] * 2
    pred += [drawn() for _ in range(rng.randrange(count // 3 + 2))]
    for side in (gold, pred):
        if manner == 2:
            side.sort()
        else:
            rng.shuffle(side)
    return gold, pred


def entities(spans: Spans) -> list[dict[str, Any]]:
    """Return spans as nervaluate is given them: ends are inclusive."""
    return [{"label": kind, "start": start, "end": end - 1} for start, end, kind in spans]


def reference(drawn: Drawn) -> dict[str, Any]:
    """Return the installed nervaluate's figures of spans."""
    sides = [[entities(document[side]) for document in drawn.documents] for side in (0, 1)]
    if version("nervaluate").startswith("0."):
        return evaluated(*sides, list(drawn.tags))
    return evaluated(*sides, list(drawn.tags), loader="dict", min_overlap_percentage=drawn.minimum)


def reference_of_tags(drawn: DrawnTags) -> dict[str, Any]:
    """Return the installed nervaluate's figures of tags."""
    sides = [[sentence[side] for sentence in drawn.sentences] for side in (0, 1)]
    tags = sorted({tag[2:] for side in sides for sentence in side for tag in sentence if tag != "O"})
    return evaluated(*sides, tags, loader="list")


def evaluated(true: Any, pred: Any, tags: list[str], **options: Any) -> dict[str, Any]:
    """Return the results of evaluate(): `overall` by schema, `entities` by type and schema, each as FIELDS."""
    from nervaluate import Evaluator

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        results = Evaluator(true, pred, tags=tags, **options).evaluate()
    if isinstance(results, tuple):
        overall, by_type = results[:2]
    else:
        overall, by_type = results["overall"], results["entities"]
    return {"overall": _rows(overall), "entities": {name: _rows(by_type[name]) for name in sorted(by_type)}}


def printed(drawn: Drawn) -> dict[str, str]:
    """Return what the installed nervaluate prints, under the names we give these reports."""
    import nervaluate

    sides = [[entities(document[side]) for document in drawn.documents] for side in (0, 1)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        if version("nervaluate").startswith("0."):
            results, by_type = nervaluate.Evaluator(*sides, tags=list(drawn.tags)).evaluate()[:2]
            found = {f"text-{schema}": nervaluate.summary_report_ent(by_type, schema) for schema in SCHEMAS}
            return {"text": nervaluate.summary_report_overall(results), **found}
        made = nervaluate.Evaluator(*sides, tags=list(drawn.tags), loader="dict", min_overlap_percentage=drawn.minimum)
        found = {f"text-{schema}": made.summary_report(mode="entities", scenario=schema) for schema in SCHEMAS}
        return {"text": made.summary_report(), "csv": made.results_to_csv(), **found}


def _rows(results: dict[str, Any]) -> dict[str, list[float]]:
    plain = {schema: row if isinstance(row, dict) else vars(row) for schema, row in results.items()}
    return {schema: [plain[schema][name] for name in FIELDS] for schema in SCHEMAS}


def main(path: str) -> None:
    number = version("nervaluate")
    fixture = {
        "program": "nervaluate",
        "version": number,
        "python": platform.python_version(),
        "command": f"pip install --no-deps --target DIR nervaluate=={number}; "
        f"PYTHONPATH=DIR:. python -m tests.support.nervaluate_corpora tests/fixtures/{Path(path).name}",
        "fields": FIELDS,
        "printed": printed(next(corpora())),
        "corpora": [reference(drawn) for drawn in corpora()],
        "tagged": [reference_of_tags(drawn) for drawn in tagged_corpora() if drawn.legal or number.startswith("0.")],
    }
    lines = json.dumps(fixture, separators=(",", ":")).replace('{"overall"', '\n{"overall"')
    Path(path).write_text(lines + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
