"""Tags drawn with a seed, and what both versions of evalIOB2.pl print for them.

`python -m tests.support.jnlpba_corpora APRIL OCTOBER FILE` runs the program of 2004-04-02 and that of 2004-10-14, and
writes a fixture.
"""

from __future__ import annotations

import random
import sys
import tempfile
from pathlib import Path

from tests.support.reference_fixtures import draw_sentences, run_program, write_fixture

VERSIONS = ("jnlpba-2004-04", "jnlpba-2004-10")
CLASSES = ("protein", "DNA", "RNA", "cell_type", "cell_line", "virus")
"""The classes of the task, and one that is not one of them."""
SEEDS = range(28)
REPOSITORIES = (
    "2004-04-02: original-data/train/evalIOB2.pl, spyysalo/jnlpba 4455122de861c6e448e2e8c7f19ef8f49dbc32b2; "
    "2004-10-14: JNLPBA2004_eval/evalIOB2.pl, ArrogantL/nlp c92ef0269dd4e8632e64f1a3df655bc2729f7a3b"
)
COMMAND = "python -m tests.support.jnlpba_corpora evalIOB2-04.pl evalIOB2-10.pl tests/fixtures/jnlpba.json"


def write_corpus(folder: Path, seed: int) -> tuple[Path, Path, Path | None]:
    """Write gold and answers, and the list of abstracts to be scored, if there is one (October only); return them.

    Odd seeds have letters of other schemes. In every fifth seed gold begins with a sentence that has no object, and in
    every seventh the answers end before gold; no blank line ends the files of every fourth seed. Every third seed has
    ids of abstracts, and every sixth a list of them. Seed 11 has no object, and seed 13 no answer.
    """
    rng = random.Random(seed)
    sentences = draw_sentences(rng, "BIIES" if seed % 2 else "BI", CLASSES[: 1 + seed % 6])
    if seed % 5 == 4:
        sentences[0] = [("O", two) for _, two in sentences[0]]
    if seed in (11, 13):
        sentences = [[("O", two) if seed == 11 else (one, "O") for one, two in sentence] for sentence in sentences]
    paths = folder / "gold.iob2", folder / "answers.iob2"
    for side, path in enumerate(paths):
        blocks = []
        for number, sentence in enumerate(sentences[: -1 if side and seed % 7 == 6 else None]):
            if seed % 3 == 0 and number % 2:
                blocks.append(f"###MEDLINE:{number}\n")
            blocks.append("".join(f"w{at}\t{tags[side]}\n" for at, tags in enumerate(sentence)))
        path.write_text("\n".join(blocks) + ("" if seed % 4 == 3 else "\n"), encoding="utf-8")
    listed = folder / "listed" if seed % 6 == 3 else None
    if listed:
        listed.write_text("1\n", encoding="utf-8")
    return *paths, listed


def main(april: Path, october: Path, target: Path) -> None:
    results = []
    for seed in SEEDS:
        with tempfile.TemporaryDirectory() as root:
            gold, answers, listed = write_corpus(Path(root), seed)
            options = ["-l", listed] if listed else []
            runs = ("perl", april, gold, answers), ("perl", october, *options, answers, gold)
            # The last line says at what the program stops.
            results.append(
                {
                    version: {"printed": printed, "stopped": errors.strip().split("\n")[-1]}
                    for version, (printed, errors) in zip(VERSIONS, (run_program(*run) for run in runs), strict=True)
                }
            )
    write_fixture(target, [april, october], REPOSITORIES, COMMAND, results=results)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]))
