"""Corpora drawn with a seed, and what the evaluation script of n2c2 2018, track 2, makes of them.

`python -m tests.support.n2c2_corpora SCRIPT FILE` scores them by the script, Track2-evaluate-ver4.py, and writes a
fixture. Python 3.9 took away xml.etree.cElementTree, which the script imports for track 1 only: it is handed
xml.etree.ElementTree by that name.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import platform
import random
import runpy
import sys
import tempfile
import xml.etree
import xml.etree.ElementTree
from pathlib import Path
from typing import Any

TYPES = ("Drug", "ADE", "Route", "overall")
TEXT = "abcdefghijklmnopqrst"
SEEDS = range(40)
MODES = ("strict", "lenient")
DEMO = Path(__file__).resolve().parents[2] / "demo_data/pharmacology"
SYSTEMS = ("annotator-1", "annotator-2", "perceptron", "rules")
REPOSITORY = "izzykayu/MedicationExtractionAmazonCompare dd0dc272c403403592254b107f0eb927e7a4ab39"
COMMAND = "python -m tests.support.n2c2_corpora Track2-evaluate-ver4.py tests/fixtures/n2c2-2018.json"


def write_corpus(folder: Path, seed: int) -> tuple[Path, Path]:
    """Write drawn documents as brat folders and return them; spans nest, cross and repeat.

    Spans of odd seeds have up to three fragments. Every sixth corpus has an empty prediction, every seventh an empty
    gold side.
    """
    rng = random.Random(seed)
    sides = folder / "gold", folder / "pred"
    for side in sides:
        side.mkdir()
    for document in range(rng.randint(1, 5)):
        gold = [_span(rng, seed) for _ in range(rng.randint(0, 6))]
        pred = [span for span in gold if rng.random() < 0.5] + [_span(rng, seed) for _ in range(rng.randint(0, 6))]
        rng.shuffle(pred)
        for side, spans in zip(sides, ([] if seed % 7 == 6 else gold, [] if seed % 6 == 5 else pred), strict=True):
            (side / f"d{document}.txt").write_text(TEXT + "\n", encoding="utf-8")
            (side / f"d{document}.ann").write_text("".join(_lines(spans)), encoding="utf-8")
    return sides


def _span(rng: random.Random, seed: int) -> tuple[str, list[tuple[int, int]]]:
    count = rng.choice((1, 1, 1, 1, 2, 3)) if seed % 2 else 1
    start = rng.randrange(10)
    parts = [(start, start + rng.randint(1, 4))]
    for _ in range(count - 1):
        low = parts[-1][1] + rng.randint(1, 2)
        parts.append((low, low + 1))
    return rng.choice(TYPES[: 1 + seed % 4]), parts


def _lines(spans: list[tuple[str, list[tuple[int, int]]]]) -> list[str]:
    return [
        f"T{number}\t{kind} {';'.join(f'{low} {high}' for low, high in parts)}\t"
        f"{' '.join(TEXT[low:high] for low, high in parts) or '-'}\n"
        for number, (kind, parts) in enumerate(spans, 1)
    ]


def _write_demo(folder: Path, name: str) -> Path:
    """Write one side of the demo data as brat files without texts, at which the script does not look."""
    target = folder / name
    target.mkdir()
    for line in (DEMO / f"{name}.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        spans = [(span["label"], [(span["start"], span["end"])]) for span in row["spans"]]
        (target / f"{row['id']}.ann").write_text("".join(_lines(spans)), encoding="utf-8")
    return target


def script_results(script: Path, gold: Path, pred: Path) -> dict[str, Any]:
    """Return what the script prints of spans, and its counts and ratios by mode: overall, and by type."""
    xml.etree.cElementTree = xml.etree.ElementTree  # type: ignore[attr-defined]
    sys.modules["xml.etree.cElementTree"] = xml.etree.ElementTree
    program = runpy.run_path(str(script))
    corpora = program["Corpora"](str(gold), str(pred), 2)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        program["main"](str(gold), str(pred), 2, False)
    kinds = sorted({tag.ttype for pair in corpora.docs for record in pair for tag in record.tags.values()})
    found: dict[str, Any] = {"printed": printed.getvalue().partition("*" * 29 + " RELATIONS ")[0]}
    for mode in MODES:
        evaluator = program["MultipleEvaluator"]
        types = {kind: evaluator(corpora, kind, mode).scores["tags"] for kind in kinds}
        found[mode] = evaluator(corpora, None, mode).scores["tags"] | {"types": types}
    return found


def main(script: Path, target: Path) -> None:
    about = {
        "program": "Track2-evaluate-ver4.py",
        "version": f"{REPOSITORY}, sha256:{hashlib.sha256(script.read_bytes()).hexdigest()}",
        "python": platform.python_version(),
        "command": COMMAND,
    }
    results = []
    for seed in SEEDS:
        with tempfile.TemporaryDirectory() as root:
            results.append(script_results(script, *write_corpus(Path(root), seed)))
    demo = {}
    for system in SYSTEMS:
        with tempfile.TemporaryDirectory() as root:
            demo[system] = script_results(script, *(_write_demo(Path(root), name) for name in ("gold", system)))
    content = {**about, "results": results, "demo_data": demo}
    target.write_text(json.dumps(content, sort_keys=True, separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
