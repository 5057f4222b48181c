"""One refusal names every option that a raw submission needs, and with these it is scored."""

from __future__ import annotations

from pathlib import Path

import pytest

from nereval_core.api.load import load_corpus
from nereval_core.api.load_options import LoadOptions
from nereval_core.cli import main
from nereval_core.problems import MOST, FormatError
from nereval_core.readers import read
from tests.support.shared_corpora import SHARED, needs

ALL = "to score the files as they stand, give all of these options: "
HIPE_EN = "hipe2020/gold/HIPE-data-v1.3-test-en.tsv"
HIPE_FR = "hipe2020/gold/HIPE-data-v1.3-test-fr.tsv"
REPAIR, GOLD_TOKENS = "--repair conlleval", "--token-text gold"

SUBMISSIONS = [
    pytest.param(gold, pred, options, marks=needs(gold.partition("/")[0]), id=Path(pred).stem)
    for gold, pred, options in (
        ("wnut17/emerging.test.annotated", "wnut17/submissions/mic-cis.txt", [REPAIR, GOLD_TOKENS]),
        (HIPE_EN, "hipe2020/submissions/baseline_bundle4_en_1.tsv", [REPAIR, GOLD_TOKENS]),
        (HIPE_EN, "hipe2020/submissions/team33_bundle2_en_1.tsv", [REPAIR, GOLD_TOKENS]),
        (HIPE_EN, "hipe2020/submissions/team31_bundle2_en_1.tsv", [REPAIR]),
        (HIPE_EN, "hipe2020/submissions/team10_bundle1_en_1.tsv", [GOLD_TOKENS]),
        (HIPE_FR, "hipe2020/submissions/team1_bundle3_fr_2.tsv", [REPAIR, GOLD_TOKENS]),
        ("jnlpba/Genia4EReval1.iob2", "jnlpba/answers_broken.iob2", [REPAIR]),
    )
]


def scored(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, list[str]]:
    status = main(["score", *arguments, "--criteria", "strict", "--quiet"])
    return status, capsys.readouterr().err.splitlines()


@pytest.mark.parametrize(("gold", "pred", "options"), SUBMISSIONS)
def test_one_refusal_names_all_options(
    capsys: pytest.CaptureFixture[str], gold: str, pred: str, options: list[str]
) -> None:
    files = str(SHARED / gold), str(SHARED / pred)
    status, lines = scored(capsys, *files)
    assert status == 2
    if len(options) == 1:
        assert options[0] in lines[0] and not any(line.startswith(ALL) for line in lines)
    else:
        assert lines[-1] == ALL + " ".join(options)
    assert scored(capsys, *files, *" ".join(options).split())[0] == 0


GOLD = "-DOCSTART- -X-\n\n# id = a\nRome B-LOC\nis O\n\n-DOCSTART- -X-\n\n# id = b\nBern B-LOC\n"
WRITTEN = {
    "gold malformed, prediction spelt otherwise": (
        GOLD.replace("Bern B-LOC", "Bern I-LOC"),
        GOLD.replace("Rome", "R0me"),
        [ALL + "--repair conlleval --token-text gold"],
    ),
    "one side's problems stand behind the other's, and some have no option": (
        GOLD.replace("Bern B-LOC", "Bern I-LOC"),
        GOLD.replace("Rome", "R0me").replace("Bern B-LOC", "Bern B-LOC\nBasel O"),
        [ALL + "--repair conlleval --token-text gold; 1 problem must be mended in the files"],
    ),
    "nothing behind": (GOLD, GOLD.replace("Rome", "R0me"), []),
    "no option helps": (GOLD, GOLD.replace("is O", "is B"), []),
}


@pytest.mark.parametrize(("gold", "pred", "expected"), WRITTEN.values(), ids=WRITTEN)
def test_options_of_written_files(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, gold: str, pred: str, expected: list[str]
) -> None:
    files = tmp_path / "gold.conll", tmp_path / "pred.conll"
    for file, text in zip(files, (gold, pred), strict=True):
        file.write_text(text, encoding="utf-8")
    status, lines = scored(capsys, *map(str, files))
    assert status == 2 and [line for line in lines if line.startswith(ALL)] == expected


def test_the_problems_of_each_system_hold_what_stands_behind_them(tmp_path: Path) -> None:
    """The app loads what it can: each system that it leaves out has all its problems."""
    files = {name: tmp_path / f"{name}.conll" for name in ("gold", "good", "bad")}
    for name, text in (("gold", GOLD), ("good", GOLD), ("bad", GOLD.replace("Rome B", "R0me I"))):
        files[name].write_text(text, encoding="utf-8")
    gold = files.pop("gold")
    loaded = load_corpus(gold, files, partial=True)
    assert [layer.name for layer in loaded.corpus.systems] == ["good"]
    assert [problem.option for problem in loaded.problems["bad"]] == [REPAIR, GOLD_TOKENS]
    assert not load_corpus(gold, files, options=LoadOptions(repair="conlleval", token_text="gold")).problems


@pytest.mark.parametrize(
    ("format", "text"),
    [("jsonl", '{"id": "a"}\n'), ("conllu", "x\n"), ("pubtator", "x\n"), ("conll", "x\tI-PER\ny\tQ\n\n")],
)
def test_a_reading_ends_at_a_thousand_problems(format: str, text: str, tmp_path: Path) -> None:
    file = tmp_path / "x"
    file.write_text(5_000 * text, encoding="utf-8")
    with pytest.raises(FormatError) as refused:
        read(file, format=format)
    assert len(refused.value.problems) == MOST
    assert refused.value.lines()[-1].startswith("1,000 problems or more, after which no more were looked for")
