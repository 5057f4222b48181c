"""Tags drawn with a seed and tags of shared tasks, and what SeqScore says of them.

`SEQSCORE=…/bin/seqscore python -m tests.support.seqscore_corpora FILE` runs the program, of an environment of its own,
and writes a fixture.
"""

from __future__ import annotations

import os
import random
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from nereval_core.readers.shared.tag_schemes import encode, scheme_named
from tests.support.reference_fixtures import draw_tags, run_program, write_fixture
from tests.support.shared_corpora import files

COMMAND = "SEQSCORE=…/bin/seqscore python -m tests.support.seqscore_corpora tests/fixtures/seqscore.json"
VERSION = "seqscore 0.9.0"
LETTERS = {"BIO": "BI", "BIOES": "BIES", "BILOU": "BILU", "BMES": "BMES", "BMEOW": "BMEW", "IO": "I", "IOB": "BI"}
METHODS = {"BIO": ("none", "conlleval", "discard"), "IOB": ("none", "conlleval", "discard")}
"""The repair methods of an encoding that are run; of others, none, and in seed 0 conlleval."""
SEEDS = range(8)
"""Tags of even seeds are well formed; seed 6 has nothing in gold, seed 4 nothing in either."""
FORMS = {"pretty": ("pretty",), "conlleval": ("conlleval",), "delim": ("delim",), "full": ("delim", "--full-precision")}
"""Our form, or delim in full, and the arguments of the program."""
KINDS = ("PER", "B-C", "a long name of a type")
Sentences = list[list[str]]


def cases() -> list[tuple[str, str, int]]:
    """Return each encoding, repair method and seed."""
    listed = []
    for labels in LETTERS:
        for method in METHODS.get(labels, ("none",)):
            listed += [(labels, method, seed) for seed in SEEDS]
    return [*listed, ("BIOES", "conlleval", 0), ("IO", "discard", 0)]


def draw(labels: str, seed: int) -> tuple[Sentences, Sentences]:
    """Draw the tags of both sides."""
    rng = random.Random(f"{labels} {seed}")
    lengths = [rng.randint(1, 9) for _ in range(rng.randint(3, 7))]
    if seed % 2:
        rows = [draw_tags(rng, LETTERS[labels], KINDS[: 1 + seed % 3], size) for size in lengths]
        other = [draw_tags(rng, LETTERS[labels], KINDS, size) for size in lengths]
        mixed = [
            [one if rng.random() < 0.7 else two for one, two in zip(*pair, strict=True)]
            for pair in zip(rows, other, strict=True)
        ]
        return rows, mixed
    sides = [[_legal(rng, labels, size) for size in lengths] for _ in range(2)]
    pred = [own if rng.random() < 0.5 else other for own, other in zip(*sides, strict=True)]
    nothing = [["O"] * size for size in lengths]
    return (nothing if seed in (4, 6) else sides[0]), (nothing if seed == 4 else pred)


def _legal(rng: random.Random, labels: str, size: int) -> list[str]:
    """Draw well-formed tags of a sentence."""
    scheme = scheme_named({"IOB": "IOB1"}.get(labels, labels))
    spans: list[tuple[int, int, str]] = []
    place = 0
    while place < size:
        end = min(size, place + rng.randint(1, 4))
        kind = rng.choice(KINDS)
        touches = bool(spans) and spans[-1][1:] == (place, kind)
        if rng.random() < 0.6 and not (touches and labels == "IO"):
            spans.append((place, end, kind))
        place = end
    return encode(spans, size, scheme)


def write_corpus(folder: Path, sides: Sequence[Sentences]) -> tuple[Path, Path]:
    """Write gold and prediction, as two documents where there are sentences enough."""
    paths = folder / "gold.conll", folder / "pred.conll"
    for path, sentences in zip(paths, sides, strict=True):
        blocks = ["".join(f"w{place}\t{tag}\n" for place, tag in enumerate(tags)) for tags in sentences]
        blocks.insert(0, "-DOCSTART-\tO\n")
        if len(blocks) > 4:
            blocks.insert(3, "-DOCSTART-\tO\n")
        path.write_text("\n".join(blocks), encoding="utf-8")
    return paths


REAL = {
    "wnut17": ("emerging.test.annotated", -1, "*"),
    "hipe2020": ("gold/HIPE-data-v1.3-test-en.tsv", 1, "*_en_1.tsv"),
}
"""Gold, the column of the tags and the submissions, by folder of the shared corpora."""


def submissions() -> list[Path]:
    """Return the submissions to shared tasks."""
    return [path for name, (_, _, names) in REAL.items() for path in files(f"{name}/submissions/{names}")]


def write_submission(folder: Path, submission: Path) -> tuple[Path, Path]:
    """Write gold and a submission, over gold's tokens and sentences."""
    task = submission.parents[1]
    gold, column, _ = REAL[task.name]
    sides = [_rows(path, header=column > 0) for path in (task / gold, submission)]
    queue = iter([row[column] for row in sides[1] if row])
    blocks: tuple[list[str], list[str]] = ([], [])
    for row in sides[0]:
        for lines, tag in zip(blocks, (row[column], next(queue)) if row else ("", ""), strict=True):
            lines.append(f"{row[0]}\t{tag}\n" if row else "\n")
    paths = folder / "gold.conll", folder / "pred.conll"
    for path, lines in zip(paths, blocks, strict=True):
        path.write_text("".join(lines), encoding="utf-8")
    return paths


def _rows(path: Path, *, header: bool) -> list[list[str]]:
    """Return the cells of each line, none of a blank line or, in files with a header, of a comment."""
    lines = path.read_text(encoding="utf-8").split("\n")[int(header) :]
    return [[] if not line.strip() or (header and line[0] == "#") else line.split("\t") for line in lines]


def program_says(paths: Sequence[Path], labels: str, method: str, form: Sequence[str]) -> str:
    """Return what the program prints, or the name of the error at which it stops."""
    gold, pred = paths
    options = ("--labels", labels, "--repair-method", method, "--quiet", "--score-format", *form)
    printed, errors = run_program(os.environ["SEQSCORE"], "score", "--reference", gold, *options, pred)
    if printed:
        return printed
    name = next(line for line in reversed(errors.splitlines()) if line.partition(":")[0].endswith("Error"))
    return f"stops: {name.partition(':')[0].rpartition('.')[2]}"


def printed(paths: Sequence[Path], labels: str, method: str) -> dict[str, str]:
    """Return what the program says in each form, or of the first where it stops."""
    texts = {name: program_says(paths, labels, method, form) for name, form in FORMS.items()}
    return {"stops": texts["pretty"]} if texts["pretty"].startswith("stops") else texts


def main(target: Path) -> None:
    with tempfile.TemporaryDirectory() as root:
        folder = Path(root)
        drawn = [printed(write_corpus(folder, draw(labels, seed)), labels, method) for labels, method, seed in cases()]
        real = {
            submission.name: {
                method: printed(write_submission(folder, submission), "BIO", method) for method in METHODS["BIO"]
            }
            for submission in submissions()
        }
    package = next(Path(os.environ["SEQSCORE"]).resolve().parents[1].glob("lib/*/site-packages/seqscore"))
    programs = [package / name for name in ("encoding.py", "validation.py", "scoring.py", "conll.py")]
    write_fixture(target, programs, VERSION, COMMAND, drawn=drawn, real=real)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
