"""Scorers that count as a convention or a criterion that stands: corpora drawn with a seed, and what they print.

`CLASSES=… PYTHON=… python -m tests.support.other_scorers FOLDER FILE` runs the programs in a folder and writes a
fixture. CLASSES names the compiled classes of brateval, PYTHON an interpreter with pandas 1.5.3, which the library of
CANTEMIST needs.
"""

from __future__ import annotations

import os
import random
import re
import runpy
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.support import conlleval_corpora, seqscore_corpora
from tests.support.reference_fixtures import Sentences, draw_sentences, run_program, write_fixture
from tests.support.symptemist_corpora import TEXT, Document, Span

COMMAND = "CLASSES=… PYTHON=… python -m tests.support.other_scorers FOLDER tests/fixtures/other-scorers.json"
VERSION = (
    "jeniyat/WNUT_2020_NER 9a02914, thunlp/Few-NERD fe45e00, edgargsm/SMM4H2022 a5edff8, "
    "TeMU-BSC/cantemist-evaluation-library 98f7e13, cemantix/semeval-2015-task-14-scoring 048bfc9, "
    "READ-BioMed/brateval 17acc16, wikilinks/neleval 68f6841"
)
PROGRAMS = (
    "conlleval_py.py",
    "conlleval_py_partial.py",
    "metric.py",
    "SMM4H22ScoreTask1.py",
    "cantemist/src/cantemist_ner_norm.py",
    "cantemist/src/comp_f1_diag_proc.py",
    "semeval-2015-task-14-task-1-eval.pl",
    "brateval/src/main/java/au/com/nicta/csp/brateval/CompareEntities.java",
    "neleval/neleval/evaluate.py",
)
METASTASIS = "8000/6"
"""The code that CANTEMIST leaves out of the codes of documents."""
CODES = ("8041/3", METASTASIS, "8000/3")
SEEDS = range(12)
TAG_SEEDS = tuple(seed for seed in range(24) if seed % 3 != 2 and seed % 4 != 3)
"""Seeds of conlleval's corpora whose tags all have a type that is not 0."""
RUNS = 8
"""How often the script of SemEval-2015 is run."""
MATCHES = {"strict": ("exact", "exact"), "exact": ("exact", "inexact"), "type": ("overlap", "exact")}
MATCHES |= {"lenient": ("overlap", "inexact")}
"""How brateval matches spans and types, by our criterion."""
MENTION_MEASURES = {"strong_mention_match": "exact", "strong_typed_mention_match": "strict"}
"""Measures of neleval, and our criterion."""
LINK_MEASURES = ("strong_link_match", "entity_match")


def draw(seed: int, types: tuple[str, ...], *, apart: bool = True) -> list[Document]:
    """Draw documents whose spans nest and cross, some of them without gold; `apart`: no two of a side share a place."""
    rng = random.Random(seed)
    documents = []
    for number in range(rng.randint(2, 5)):
        gold = _spans(rng, types, rng.choice((0, 2, 6, 12)), apart=apart)
        pred = [span for span in gold if rng.random() < 0.6]
        if not apart:
            pred += [span for span in gold if rng.random() < 0.2]
        places = {span[1:] for span in pred}
        pred += [span for span in _spans(rng, types, 8, apart=apart) if not apart or span[1:] not in places]
        rng.shuffle(pred)
        documents.append((f"d{number}", gold, pred))
    return [*documents, ("z", [(types[0], 5, 9)], [(types[0], 5, 9)])]


def _spans(rng: random.Random, types: tuple[str, ...], most: int, *, apart: bool) -> list[Span]:
    drawn = []
    for _ in range(rng.randint(0, most)):
        start = rng.randrange(30)
        drawn.append((rng.choice(types), start, start + rng.randint(1, 8)))
    return list({span[1:]: span for span in drawn}.values()) if apart else drawn


def draw_few_nerd(seed: int) -> tuple[seqscore_corpora.Sentences, seqscore_corpora.Sentences]:
    """Draw tags without letters."""
    gold, pred = (
        [[tag.removeprefix("I-") for tag in row] for row in side] for side in seqscore_corpora.draw("IO", seed)
    )
    return gold, pred


def draw_phrases(seed: int) -> Sentences:
    """Draw tags whose phrases begin with B or I."""
    return draw_sentences(random.Random(seed), "BI", ("PER", "LOC", "X-Y")[: 1 + seed % 3])


def write_brat(folder: Path, documents: list[Document]) -> None:
    for side, name in ((1, "gold"), (2, "pred")):
        (folder / name).mkdir()
        for document in documents:
            lines = [
                f"T{number}\t{label} {start} {end}\t{TEXT[start:end]}\n"
                for number, (label, start, end) in enumerate(document[side], 1)
            ]
            (folder / name / f"{document[0]}.ann").write_text("".join(lines), encoding="utf-8")


def wnut2020(program: Path, seed: int) -> str:
    """Return what the scorer of WNUT 2020 prints of columns of tags."""
    module = f"import sys; sys.path.insert(0, {str(program.parent)!r}); import conlleval_py; "
    with tempfile.TemporaryDirectory() as root:
        file = Path(root, "tags.txt")
        file.write_text(conlleval_corpora.draw(seed), encoding="utf-8")
        return run_program(sys.executable, "-c", f"{module}conlleval_py.evaluate_conll_file({str(file)!r})")[0]


def wnut2020_partial(program: Path, seed: int) -> list[str]:
    """Return the line of counts and those of types, for partial matches."""
    lines = ["".join(f"w {gold} {pred}\n" for gold, pred in rows) for rows in draw_phrases(seed)]
    module = f"import sys; sys.path.insert(0, {str(program.parent)!r}); import conlleval_py_partial as scorer; "
    with tempfile.TemporaryDirectory() as root:
        file = Path(root, "tags.txt")
        file.write_text("\n".join([*lines, ""]), encoding="utf-8")
        printed, _ = run_program(sys.executable, "-c", f"{module}scorer.evaluate_conll_file({str(file)!r})")
    return [line.strip() for line in printed.splitlines() if not line.startswith("accuracy")]


def few_nerd(program: Path, seed: int) -> list[int]:
    """Return gold entities, predictions and right ones."""
    metrics = runpy.run_path(str(program))["Metrics"]()
    counts = [metrics.metrics_by_entity_(pred, gold) for gold, pred in zip(*draw_few_nerd(seed), strict=True)]
    found, expected, correct = (sum(column) for column in zip(*counts, strict=True))
    return [expected, found, correct]


def smm4h(program: Path, documents: list[Document]) -> str:
    """Return the lines of scores.txt, and the counts that are logged."""
    with tempfile.TemporaryDirectory() as root:
        for name in ("ref", "res", "out"):
            Path(root, name).mkdir()
        Path(root, "ref/tweets.tsv").write_text("".join(f"{row[0]}\tx\n" for row in documents), encoding="utf-8")
        for side, name in ((1, "ref/spans.tsv"), (2, "res/spans.tsv")):
            lines = [
                f"{document[0]}\t{label}\t{start}\t{end}\t{TEXT[start:end]}\n"
                for document in documents
                for label, start, end in document[side]
            ]
            Path(root, name).write_text("".join(lines), encoding="utf-8")
        log = run_program(sys.executable, program, root, f"{root}/out", "Detection")[0]
        counts = re.findall(r"TP:\d+ FP:\d+ FN:\d+", log)
        return Path(root, "out/scores.txt").read_text(encoding="utf-8") + "\n".join(counts)


def cantemist(program: Path, documents: list[Document]) -> str:
    """Return precision, recall and F1 of mentions."""
    return cantemist_subtask(program, documents, "ner", write_brat)


def cantemist_norm(program: Path, documents: list[Document]) -> str:
    """Return precision, recall and F1 of mentions with their codes, which are the labels drawn."""
    return cantemist_subtask(program, documents, "norm", write_codes)


def cantemist_subtask(
    program: Path, documents: list[Document], subtask: str, write: Callable[[Path, list[Document]], None]
) -> str:
    """Return precision, recall and F1 of a subtask as they are printed last."""
    with tempfile.TemporaryDirectory() as root:
        write(Path(root), documents)
        # The script of its other task, which main.py imports, needs more packages.
        module = f"import sys; sys.path.insert(0, {str(program.parent)!r}); import cantemist_ner_norm; "
        call = f"cantemist_ner_norm.main('{root}/gold', '{root}/pred', subtask={subtask!r})"
        printed, errors = run_program(os.environ["PYTHON"], "-c", module + call)
        assert printed, errors
        return printed.splitlines()[-1].partition("|")[2]


def cantemist_codes(program: Path, documents: list[Document]) -> str:
    """Return precision, recall and F1 of the codes of documents."""
    with tempfile.TemporaryDirectory() as root:
        write_index(Path(root), documents)
        Path(root, "codes.tsv").write_text("".join(f"{code}\n" for code in CODES), encoding="utf-8")
        Path(root, "files.txt").write_text("".join(f"{document[0]}\n" for document in documents), encoding="utf-8")
        names = {"-g": "gold.tsv", "-p": "pred.tsv", "-c": "codes.tsv", "-f": "files.txt"}
        arguments = [part for flag, name in names.items() for part in (flag, Path(root, name))]
        printed, errors = run_program(os.environ["PYTHON"], program, *arguments)
        assert printed, errors
        return printed.splitlines()[-1].partition("|")[2]


def write_codes(folder: Path, documents: list[Document]) -> None:
    """Write mentions of one label, with what was drawn as labels for codes in their notes."""
    for side, name in ((1, "gold"), (2, "pred")):
        (folder / name).mkdir()
        for document in documents:
            lines = [
                f"T{number}\tMORFOLOGIA_NEOPLASIA {start} {end}\t{TEXT[start:end]}\n#{number}\tAnnotatorNotes "
                f"T{number}\t{code}\n"
                for number, (code, start, end) in enumerate(document[side], 1)
            ]
            (folder / name / f"{document[0]}.ann").write_text("".join(lines), encoding="utf-8")
            (folder / name / f"{document[0]}.txt").write_text(TEXT, encoding="utf-8")


def write_index(folder: Path, documents: list[Document], *, without: str = "") -> None:
    """Write a line for each code of a document."""
    for side, name in ((1, "gold"), (2, "pred")):
        lines = [f"{document[0]}\t{code}\n" for document in documents for code, *_ in document[side] if code != without]
        (folder / f"{name}.tsv").write_text("".join(lines), encoding="utf-8")


def semeval2015(program: Path, documents: list[Document]) -> dict[str, list[str]]:
    """Return the strict counts, and the relaxed ones of several runs."""
    with tempfile.TemporaryDirectory() as root:
        for side, name in ((1, "gold"), (2, "pred")):
            Path(root, name).mkdir()
            for document in documents:
                lines = [f"{document[0]}|{start}-{end}|{label}\n" for label, start, end in document[side]]
                Path(root, name, f"{document[0]}.pipe").write_text("".join(lines), encoding="utf-8")
        runs = []
        for _ in range(RUNS):
            # The order of a hash is another in each run, as for those who use the script.
            command = f"perl {program.resolve()} -n t -r 1 -input pred -gold gold"
            script = f"cd {root}; unset PERL_HASH_SEED PERL_PERTURB_KEYS; {command}"
            run_program("sh", "-c", script)
            runs.append(re.findall("TP: .*", Path(root, "t_task1_run1.out").read_text(encoding="utf-8")))
    return {"strict": sorted({run[0] for run in runs}), "relaxed": sorted({run[1] for run in runs})}


def brateval(documents: list[Document]) -> dict[str, list[int]]:
    """Return TP, FP and FN of all types, by criterion."""
    counts = {}
    with tempfile.TemporaryDirectory() as root:
        write_brat(Path(root), documents)
        for criterion, (span, kind) in MATCHES.items():
            names = ("-e", f"{root}/pred", "-g", f"{root}/gold", "-s", span, "-t", kind)
            main = "au.com.nicta.csp.brateval.CompareEntities"
            printed, errors = run_program("java", "-cp", os.environ["CLASSES"], main, *names)
            row = re.search(r"\ball\b\D*(\d+)\D+(\d+)\D+(\d+)", printed)
            assert row, (printed, errors)
            counts[criterion] = [int(number) for number in row.groups()]
    return counts


def neleval(program: Path, seed: int) -> dict[str, list[int]]:
    """Return TP, FP and FN of types drawn as labels, and of concept ids drawn as labels, by measure."""
    # Python 3.10 took away a name of the module.
    module = "import collections, collections.abc, runpy; collections.Sequence = collections.abc.Sequence; "
    call = "runpy.run_module('neleval', run_name='__main__')"
    counts = {}
    for documents, row, measures in (
        (concepts(seed), "{id}\t{start}\t{end}\tQ1\t1.0\t{label}\n", MENTION_MEASURES),
        (coded(seed), "{id}\t{start}\t{end}\t{label}\t1.0\tT\n", LINK_MEASURES),
    ):
        with tempfile.TemporaryDirectory() as root:
            for side, name in ((1, "gold"), (2, "pred")):
                spans = [(document[0], *span) for document in documents for span in document[side]]
                lines = [row.format(id=name, label=label, start=low, end=high) for name, label, low, high in spans]
                # The program wants the spans of a document in order.
                Path(root, name).write_text("".join(sorted(lines, key=_place)), encoding="utf-8")
            words = ("evaluate", "-f", "tab", "-m", "all-tagging", "-g", f"{root}/gold", f"{root}/pred")
            printed, errors = run_program(
                sys.executable, "-c", module + call, *words, folder=program.resolve().parents[1]
            )
            assert printed, errors
            rows = {line.split("\t")[-1]: line.split("\t") for line in printed.splitlines()[1:]}
        counts |= {name: [int(float(rows[name][column])) for column in (0, 1, 3)] for name in measures}
    return counts


def _place(line: str) -> tuple[str, int, int]:
    name, start, end, *_ = line.split("\t")
    return name, int(start), int(end)


def mentions(seed: int) -> list[Document]:
    return draw(seed, ("MORFOLOGIA_NEOPLASIA",))


def coded(seed: int) -> list[Document]:
    return draw(seed, CODES)


def concepts(seed: int) -> list[Document]:
    return draw(seed, ("C0000001", "C0000002"))


def disorders(seed: int) -> list[Document]:
    return draw(seed, ("C0000001", "C0000002")[: 2 - seed % 2])


def events(seed: int) -> list[Document]:
    return draw(seed, ("ADE", "ADE", "DRUG"), apart=False)


def results(folder: Path) -> Iterator[tuple[str, object]]:
    program = {name.rpartition("/")[2]: folder / name for name in PROGRAMS}
    yield "wnut2020", [wnut2020(program["conlleval_py.py"], seed) for seed in TAG_SEEDS]
    partial = program["conlleval_py_partial.py"]
    yield "wnut2020-partial", [wnut2020_partial(partial, seed) for seed in SEEDS]
    yield "few-nerd", [few_nerd(program["metric.py"], seed) for seed in SEEDS]
    yield "smm4h-2022", [smm4h(program["SMM4H22ScoreTask1.py"], events(seed)) for seed in SEEDS]
    yield "cantemist", [cantemist(program["cantemist_ner_norm.py"], mentions(seed)) for seed in SEEDS]
    yield "cantemist-norm", [cantemist_norm(program["cantemist_ner_norm.py"], coded(seed)) for seed in SEEDS]
    yield "cantemist-codes", [cantemist_codes(program["comp_f1_diag_proc.py"], coded(seed)) for seed in SEEDS]
    script = program["semeval-2015-task-14-task-1-eval.pl"]
    yield "semeval-2015", [semeval2015(script, disorders(seed)) for seed in SEEDS]
    yield "neleval", [neleval(program["evaluate.py"], seed) for seed in SEEDS]
    yield "brateval", [brateval(concepts(seed)) for seed in SEEDS]


def main(folder: Path, target: Path) -> None:
    programs = [folder / name for name in PROGRAMS]
    write_fixture(target, programs, VERSION, COMMAND, results=dict(results(folder)))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
