"""Files of CLEF-HIPE drawn with a seed, and what the three versions of the scorer make of them.

`python -m tests.support.hipe_corpora FOLDER FILE` runs the programs under `PYTHON` (3.9, with pandas 1, docopt and
smart_open) in the folders of FOLDER that have the names of the conventions, and writes a fixture.
"""

from __future__ import annotations

import json
import os
import random
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.support.reference_fixtures import draw_tags, run_program, write_fixture

HEADER = (
    "TOKEN\tNE-COARSE-LIT\tNE-COARSE-METO\tNE-FINE-LIT\tNE-FINE-METO\tNE-FINE-COMP\tNE-NESTED\tNEL-LIT\tNEL-METO\tMISC"
)
SEEDS = range(9)
KINDS = ("loc", "PERS", "time", "prod-x", "a|b")
LINKS = ("Q1", "Q1", "Q2", "NIL", "_", "-")
RANKED = (*LINKS, "Q2|Q1", "Q3|NIL|Q1", "Q4|Q5")
SELDOM = (
    ("B-loc I-loc B-PERS O B-loc I-loc B-loc O B-loc B-loc", "_ _ _ _ _ _ _ _ _ Q1"),
    ("B-loc B-loc I-loc O B-loc B-loc I-loc O B-loc B-loc", "_ _ _ Q-9|Q1 _ _ _ _ _ Q2|Q1"),
)
"""Tags and links of gold and prediction for what is seldom drawn.

A prediction overlaps two gold spans, the first of which an earlier one has used up; a ranked list begins with a label
that the scorer cuts, or goes on with gold's link; the last token but one has another text in the prediction.
"""
COUNTS = ("correct", "incorrect", "partial", "missed", "spurious")
NAMES = {
    "hipe-2020": "team_bundle1_de_1.tsv",
    "hipe-2020-july": "team_bundle1_de_1.tsv",
    "hipe-2022": "team_bundle1_ajmc_de_1.tsv",
}
"""The names of predictions that each version of the scorer takes."""
COARSE, FINE, LINKING = ({"task": task} for task in ("nerc_coarse", "nerc_fine", "nel"))
GLUED = "NE-COARSE-LIT+NE-FINE-LIT"
SLICES = {"noise-level": "0.0-0.0,0.0-0.2", "time-period": "1800-1810"}
COMMON: list[dict[str, Any]] = [
    COARSE,
    {**COARSE, "tagset": "tagset"},
    FINE,
    {**LINKING, "n_best": "1,2,3"},
    {**LINKING, "norm-time": True, "norm-histo": True, "map": "map"},
]
RUNS: dict[str, list[dict[str, Any]]] = {
    "hipe-2020": [*COMMON, {**FINE, "glueing_cols": GLUED}, {**LINKING, "union": True}],
    "hipe-2020-july": [*COMMON, {**FINE, "glue": GLUED}, {**COARSE, **SLICES}, {**LINKING, **SLICES}],
    "hipe-2022": [*COMMON, {**FINE, "glue": GLUED}, {**COARSE, **SLICES}, {**LINKING, "original_nel": True, **SLICES}],
}
"""Options of each version; those of normalize_linking.py (`norm-…` and `map`) are of a program of their own."""
REPOSITORIES = (
    "hipe-2020: impresso/CLEF-HIPE-2020-scorer 08d31e6cd7a61276def9110158a306fb22045aad; "
    "hipe-2020-july: impresso/CLEF-HIPE-2020-scorer ac5c876eba58065195024cff550c2b5056986f7b; "
    "hipe-2022: hipe-eval/HIPE-scorer 66057705c26e662081ebb5dd576d323858e22ef0"
)
COMMAND = "PYTHON=python3.9 python -m tests.support.hipe_corpora SCORERS tests/fixtures/hipe.json"


def runs(version: str, seed: int) -> list[tuple[int, dict[str, Any]]]:
    """Return the runs of a version that a seed is for, a third of them, with their numbers."""
    return [(number, options) for number, options in enumerate(RUNS[version]) if (number + seed) % 3 == 0]


def write_corpus(folder: Path, seed: int, version: str) -> tuple[Path, Path]:
    """Write gold and prediction, with a tag set and a table of links beside them; return the first two.

    In every third seed tokens of the prediction have another text, every fourth has labels that the scorer cuts, seed 5
    has no prediction, and the prediction of seed 7 has no comments. Predictions of even seeds have the letters S and E.
    """
    rng = random.Random(seed)
    kinds = KINDS if seed % 4 == 3 else KINDS[:3]
    start = "# hipe2022:" if version == "hipe-2022" and seed % 2 else "# "
    sides: tuple[list[str], list[str]] = ([HEADER], [HEADER])
    for document in range(3):
        comments = [f"{start}document_id = d{document}", f"{start}date = {1800 + 5 * document}-02-03"]
        size = 1 if document == 1 else rng.randint(3, 7)
        rows = [_cells(rng, size, side, kinds, seed) for side in (0, 1)]
        for side, lines in enumerate(sides):
            bare = bool(side) and seed == 7
            lines += [] if bare else comments
            for at in range(size):
                lines += ["# segment_iiif_link = _"] if at == 3 and not bare else []
                other = bool(side) and seed % 3 == 2 and seed != 5 and rng.random() < 0.2
                misc = rng.choice(("_", "LED0.00", "LED0.10", "NoSpaceAfter|LED0.20")) if not side else "_"
                lines.append("\t".join(("X" if other else f"w{at}", *rows[side][at], misc)))
            lines += [] if bare else [""]
    paths = folder / "gold.tsv", folder / NAMES[version]
    for side, (path, lines) in enumerate(zip(paths, sides, strict=True)):
        lines += [] if side and seed == 7 else [f"{start}document_id = seldom", f"{start}date = 1830-01-01"]
        for at, (tag, link) in enumerate(zip(*map(str.split, SELDOM[side]), strict=True)):
            other = side and at == 8 and seed != 7
            lines.append("\t".join(("X" if other else f"w{at}", tag, "O", tag, "O", "O", "O", link, "_", "_")))
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "tagset").write_text("loc\nPERS\ntime\nB-org\n", encoding="utf-8")
    (folder / "map").write_text("Main\tAlternatives\nhttp://w.org/Q1\thttp://w.org/Q2\n", encoding="utf-8")
    return paths


def _cells(rng: random.Random, size: int, side: int, kinds: tuple[str, ...], seed: int) -> list[tuple[str, ...]]:
    """Draw the cells of a document between token and MISC; the prediction begins as gold, which comes first."""
    known = random.Random(f"{seed} {size}")
    letters = "BIISE" if side and seed % 2 == 0 else "BII"
    columns = []
    for _ in range(3):
        tags = draw_tags(known, "BII", kinds[:-1] if seed % 4 == 3 else kinds[:2], size)
        if side:
            others = draw_tags(rng, letters, (*kinds, "org"), size)
            tags = [one if rng.random() < 0.6 else two for one, two in zip(tags, others, strict=True)]
            tags = ["O"] * size if seed == 5 else tags
        columns.append(tags)
    coarse, metonymic, nested = columns
    fine = ["O" if tag == "O" else f"{tag[:2]}{tag[2:]}.{rng.choice('ab')}" for tag in coarse]
    links = []
    for _ in range(2):
        row = [known.choice(LINKS) if known.random() < 0.5 else "" for _ in range(size)]
        row = [link or (row[at - 1] if at else "_") for at, link in enumerate(row)]
        links.append([rng.choice(RANKED) if side and rng.random() < 0.5 else link or "_" for link in row])
    return list(zip(coarse, metonymic, fine, metonymic, nested, nested, *links, strict=True))


def counts(node: Any) -> Any:
    """Return the counts of a tree of results, in the order of COUNTS."""
    if "correct" in node:
        return [node[name] for name in COUNTS]
    return {key: found for key, value in node.items() if isinstance(value, Mapping) and (found := counts(value))}


def score(scorer: Path, folder: Path, version: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Run normalize_linking.py, where it is asked for, and the scorer; return its table, and the counts of its JSON,
    which are many with slices."""
    python = os.environ["PYTHON"]
    gold, pred = Path("gold.tsv"), Path(NAMES[version])
    normal = {name: value for name, value in options.items() if name.startswith("norm") or name == "map"}
    if normal:
        words = [f"--{name}" if value is True else f"--{name}={value}" for name, value in normal.items()]
        for path, switches in ((gold, words[1:]), (pred, words)):
            edition = ["--hipe_edition=hipe-2022"] if version == "hipe-2022" else []
            run_program(
                python, scorer / "normalize_linking.py", "-i", path, "-o", path, *switches, *edition, folder=folder
            )
    words = [
        f"--{name}" if value is True else f"--{name}={value}" for name, value in options.items() if name not in normal
    ]
    words += ["--hipe_edition=hipe-2022", "--log=log"] if version == "hipe-2022" else []
    _, errors = run_program(
        python, scorer / "clef_evaluation.py", "--ref=gold.tsv", f"--pred={pred}", "--outdir=.", *words, folder=folder
    )
    results = folder / f"{pred.stem}_{options['task']}.json"
    if not results.exists():
        return {"stopped": errors.strip().split("\n")[-1]}
    table = {"tsv": results.with_suffix(".tsv").read_bytes().decode()}
    return table if "time-period" in options else table | {"counts": counts(json.loads(results.read_text()))}


def main(scorers: Path, target: Path) -> None:
    results = []
    for seed in SEEDS:
        by_version: dict[str, dict[str, Any]] = {}
        for version in RUNS:
            by_version[version] = {}
            for number, options in runs(version, seed):
                with tempfile.TemporaryDirectory() as root:
                    write_corpus(Path(root), seed, version)
                    scorer = (scorers / version).resolve()
                    by_version[version][str(number)] = score(scorer, Path(root), version, options)
        results.append(by_version)
    programs = sorted(scorers.glob("*/*_evaluation/ner_eval.py"))
    write_fixture(target, programs, REPOSITORIES, COMMAND, results=results)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
