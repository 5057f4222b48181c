"""Tags that break every scheme, drawn with a seed, and what seqeval prints for them.

`python -m tests.support.seqeval_corpora FILE` runs the package and writes a fixture.
"""

from __future__ import annotations

import random
import sys
import warnings
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tests.support.reference_fixtures import write_fixture

Sentences = list[list[str]]
COMMAND = "python -m tests.support.seqeval_corpora tests/fixtures/seqeval.json"


def generated(seed: int, letters: str, *, suffix: bool, odd: bool, documents: int) -> tuple[Sentences, Sentences]:
    """Return tags of two sides with every sequence the letters can make, and, if odd, types with dashes or without."""
    chance = random.Random(seed)
    types = ("PER", "B-C", "A-", "", "-") if odd else ("PER", "LOC", "B-C")

    def tag() -> str:
        letter, kind = chance.choice(letters), chance.choice(types)
        if letter == "O" and chance.random() < 0.9:
            return "O"
        if odd and chance.random() < 0.1:
            return kind + letter if suffix else letter + kind
        return f"{kind}-{letter}" if suffix else f"{letter}-{kind}"

    gold = [[tag() for _ in range(chance.randint(1, 12))] for _ in range(documents)]
    return gold, [[own if chance.random() < 0.6 else tag() for own in sentence] for sentence in gold]


DOCUMENTS = 30
SEEDS = (1, 2, 3)
"""With the first, types are plain; with the others they have dashes, or are missing."""
LETTERS = {"IOB1": "OBI", "IOB2": "OBI", "IOE1": "OIE", "IOE2": "OIE", "IOBES": "OBIES", "BILOU": "OBILU"}
# Convention, letters, options of both.
CASES: list[tuple[str, str, dict[str, Any]]] = [
    *(("seqeval", letters, {}) for letters in ("OBI", "OBIES", "OBILU", "OBIESLU.M")),
    *(("seqeval", letters, {"suffix": True}) for letters in ("OBI", "OBIESLU.M")),
    *(("seqeval", "OBIESLU.M", {"zero_division": value}) for value in (0, 1)),
    *(("seqeval-strict", letters, {}) for letters in ("OBI", "OIE", "OBIES", "OBILU")),
    *(("seqeval-strict", letters, {"scheme": scheme}) for scheme, letters in LETTERS.items()),
    *(
        ("seqeval-strict", letters, {"scheme": scheme, "suffix": True, "zero_division": 1})
        for scheme, letters in LETTERS.items()
    ),
]


def reports(number: int, seed: int) -> tuple[str, dict[str, dict[str, Any]], float]:
    """Return what seqeval says of a case: the printed report, the report as a dictionary, and the accuracy."""
    from seqeval import scheme as schemes
    from seqeval.metrics import accuracy_score, classification_report

    name, _, options = CASES[number]
    theirs = dict(options)
    if name == "seqeval-strict":
        theirs |= {"mode": "strict", "scheme": getattr(schemes, options["scheme"]) if "scheme" in options else None}
    gold, pred = draw(number, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        text = classification_report(gold, pred, digits=4, **theirs)
        report = classification_report(gold, pred, output_dict=True, **theirs)
    return text, report, accuracy_score(gold, pred)


def draw(number: int, seed: int) -> tuple[Sentences, Sentences]:
    """Draw the tags of a case."""
    _, letters, options = CASES[number]
    suffix = options.get("suffix", False)
    return generated(seed, letters, suffix=suffix, odd=seed != SEEDS[0], documents=DOCUMENTS)


def main(target: Path) -> None:
    from seqeval import scheme
    from seqeval.metrics import sequence_labeling

    printed = [[reports(number, seed)[0] for seed in SEEDS] for number in range(len(CASES))]
    programs = [Path(module.__file__) for module in (sequence_labeling, scheme)]
    write_fixture(target, programs, f"seqeval {version('seqeval')}", COMMAND, printed=printed)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
