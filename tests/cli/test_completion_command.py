"""The scripts of `completion`, run by the shells that they are for."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from nereval_core.cli import VERBS, main

COMPLETED = [
    ("nereval sc", {"score"}),
    ("nereval review ex", {"export"}),
    ("nereval score --crit", {"--criteria", "--criterion"}),
    ("nereval score --counting ", {"one-to-one", "each-side"}),
    ("nereval review list --form", {"--format"}),
]
OF_BASH = """
source "$1"
COMP_WORDS=($2)
[[ $2 == *" " ]] && COMP_WORDS+=("")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_nereval
printf "%s\\n" "${COMPREPLY[@]}"
"""
OF_FISH = "source $argv[1]; complete -C $argv[2]"


@pytest.fixture
def script(tmp_path: Path, capsys: pytest.CaptureFixture[str], request: pytest.FixtureRequest) -> Path:
    """The file with the script of a shell."""
    shell = request.param
    assert main(["completion", shell]) == 0
    path = tmp_path / f"nereval.{shell}"
    path.write_text(capsys.readouterr().out)
    return path


def completed(*command: str) -> set[str]:
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return {line.partition("\t")[0] for line in done.stdout.splitlines() if line}


@pytest.mark.parametrize("script", ["bash"], indirect=True)
@pytest.mark.parametrize(("line", "words"), COMPLETED)
def test_bash_completes(script: Path, line: str, words: set[str]) -> None:
    assert completed("bash", "-c", OF_BASH, "bash", str(script), line) == words


@pytest.mark.parametrize("script", ["bash"], indirect=True)
def test_all_verbs_are_offered(script: Path) -> None:
    first_words = {verb.partition(" ")[0] for verb in VERBS}
    assert completed("bash", "-c", OF_BASH, "bash", str(script), "nereval ") == first_words


@pytest.mark.skipif(not shutil.which("fish"), reason="fish is not installed")
@pytest.mark.parametrize("script", ["fish"], indirect=True)
@pytest.mark.parametrize(("line", "words"), COMPLETED)
def test_fish_completes(script: Path, line: str, words: set[str]) -> None:
    assert completed("fish", "-c", OF_FISH, str(script), line) == words


@pytest.mark.skipif(not shutil.which("zsh"), reason="zsh is not installed")
@pytest.mark.parametrize("script", ["zsh"], indirect=True)
def test_zsh_takes_the_script(script: Path) -> None:
    line = "autoload -U compinit; compinit -u; source $1; print ${_comps[nereval]}"
    assert completed("zsh", "-f", "-c", line, "zsh", str(script)) == {"_bash_complete -o default -F _nereval"}
