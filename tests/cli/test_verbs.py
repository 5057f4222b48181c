"""Verbs of the command line: each is a file, and its help begins with an example that its parser accepts."""

from __future__ import annotations

import re
import shlex
from importlib import import_module
from itertools import pairwise

import pytest

from nereval_core.cli import GROUPS, VERBS, main, verb_parser
from tests.support import ROOT

FOLDER = ROOT / "nereval_core" / "cli" / "verbs"


def test_every_file_of_the_folder_is_a_verb() -> None:
    files = {file.relative_to(FOLDER) for file in FOLDER.rglob("*.py") if file.name != "__init__.py"}
    words = {" ".join(file.with_suffix("").parts).replace("_", "-").removesuffix("-") for file in files}
    assert set(VERBS) == words
    assert {"score", "review what-if", "review import"} <= words


@pytest.mark.parametrize("verb", VERBS)
def test_help_begins_with_an_example_and_ends_with_reading(verb: str) -> None:
    module = import_module(VERBS[verb])
    example, text = module.EXAMPLE, verb_parser(verb).format_help()
    lines = text.removesuffix(text[text.index(module.NOTES) :] if module.NOTES else "").splitlines()
    assert lines[0].startswith(f"usage: nereval {verb}")
    assert lines.index("example:") < 6
    assert lines[lines.index("example:") + 1].strip() == f"nereval {verb} {example}".strip()
    # The shell takes away where standard output goes.
    verb_parser(verb).parse_intermixed_args(shlex.split(example.partition(" > ")[0]))
    groups = [line for line, below in pairwise(lines) if line.endswith(":") and below.startswith("  -")]
    assert "reading:" not in groups or set(groups[groups.index("reading:") + 1 :]) <= {"what of it is scored:"}


def test_help_and_messages_spell_the_program_nereval(capsys: pytest.CaptureFixture[str]) -> None:
    folders = (ROOT / "nereval_core", ROOT / "pages")
    files = [file for folder in folders for file in folder.rglob("*.py")]
    assert len(files) > 100
    other = re.compile(r'python -m nereval_core|"-m", "nereval_core"')
    spelt = {file.name for file in files if other.search(file.read_text(encoding="utf-8"))}
    # That is where it is explained.
    assert spelt == {"__main__.py"}
    for verb in VERBS:
        assert main([*verb.split(), "--help"]) == 0
        printed = capsys.readouterr().out
        assert printed.startswith(f"usage: nereval {verb}") and "python -m" not in printed
        assert main([*verb.split(), "--no-such-option"]) == 2
        assert f"nereval {verb}" in capsys.readouterr().err


def test_a_published_scorer_s_options_are_in_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["score", "--convention", "hipe-2022", "--help"]) == 0
    assert "options of hipe-2022:" in capsys.readouterr().out


def test_the_help_groups_every_verb_once_and_begins_with_score(capsys: pytest.CaptureFixture[str]) -> None:
    assert sorted(verb for group in GROUPS.values() for verb in group) == sorted(VERBS)
    assert main(["--help"]) == 0
    titles = re.split(r"\n\n(?=\S)", capsys.readouterr().out)
    assert [title.partition("\n")[0] for title in titles[2:-1]] == list(GROUPS)
    assert titles[2].splitlines()[1].split()[0] == "score"


def test_the_help_of_review_lists_its_verbs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["review", "--help"]) == 0
    printed = capsys.readouterr().out
    assert all(f"  {verb} " in printed for verb in VERBS if verb.startswith("review "))
    assert "  score  " not in printed
