"""Files that forges and tools look for: valid by their schemas, of this version, and what they run works."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

import pytest
import yaml

from nereval_core import __version__
from tests.support import OFFLINE, ROOT

FORMS = ".github/ISSUE_TEMPLATE"
SCHEMAS = {
    "CITATION.cff": "citation-file-format",
    "action.yml": "github-actions",
    f"{FORMS}/config.yml": "github-issue-config",
    f"{FORMS}/problem.yml": "github-issue-forms",
    f"{FORMS}/wrong-score.yml": "github-issue-forms",
}
FILES = ("demo_data/biology/gold.jsonl", "demo_data/biology/rules.jsonl")
CHECKS = {"0.65": (0, ""), "0.75": (1, "0.75")}
"""The least F1 that the demo's predictions must have, with the exit status and words of the output."""


def parsed(path: str) -> Any:
    return yaml.safe_load((ROOT / path).read_text(encoding="utf-8"))


@pytest.mark.parametrize(("path", "schema"), SCHEMAS.items(), ids=SCHEMAS)
def test_a_file_fits_its_schema(path: str, schema: str) -> None:
    tool = Path(sys.executable).parent / "check-jsonschema"
    done = subprocess.run(
        [tool, "--builtin-schema", f"vendor.{schema}", ROOT / path], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


def test_the_citation_has_the_newest_version() -> None:
    citation = parsed("CITATION.cff")
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert citation["version"] == __version__
    assert f"## [{__version__}] - {citation['date-released']}" in changelog


def test_the_form_for_scores_asks_for_file_and_signature() -> None:
    fields = {field["id"]: field["validations"]["required"] for field in parsed(f"{FORMS}/wrong-score.yml")["body"]}
    assert fields["file"] and fields["signature"]


@pytest.fixture(scope="module")
def runner(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment variables of a runner on which the action has installed this clone.

    Packages that it requires, and those that build it, are the tests'.
    """
    folder = tmp_path_factory.mktemp("runner")
    environment = os.environ | {
        "RUNNER_TEMP": str(folder),
        "SOURCE": str(ROOT),
        "PYTHONPATH": f"{OFFLINE}:{sysconfig.get_paths()['purelib']}",
        "PIP_NO_INDEX": "1",
        # Pip reads the value as that of build isolation itself.
        "PIP_NO_BUILD_ISOLATION": "0",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    }
    install = parsed("action.yml")["runs"]["steps"][0]
    assert install["env"] == {"SOURCE": "${{ github.action_path }}"}
    done = subprocess.run(["bash", "-e", "-c", install["run"]], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return environment


@pytest.mark.parametrize("least", CHECKS)
def test_the_action_checks_scores(runner: dict[str, str], least: str) -> None:
    check = parsed("action.yml")["runs"]["steps"][1]
    assert check["env"] == {"ARGUMENTS": "${{ inputs.arguments }}"}
    arguments = " ".join((*FILES, "--min", f"strict.f1={least}"))
    done = subprocess.run(
        ["bash", "-e", "-c", check["run"]],
        cwd=ROOT,
        env=runner | {"ARGUMENTS": arguments},
        capture_output=True,
        text=True,
    )
    status, words = CHECKS[least]
    assert (done.returncode, words in done.stdout) == (status, True), done.stderr


@pytest.mark.parametrize("least", CHECKS)
def test_the_hook_checks_scores(runner: dict[str, str], least: str) -> None:
    (hook,) = parsed(".pre-commit-hooks.yaml")
    assert (hook["language"], hook["pass_filenames"]) == ("python", False)
    path = f"{runner['RUNNER_TEMP']}/nereval/bin:{os.environ['PATH']}"
    done = subprocess.run(
        ["env", *shlex.split(hook["entry"]), *FILES, "--min", f"strict.f1={least}"],
        cwd=ROOT,
        env=runner | {"PATH": path},
        capture_output=True,
        text=True,
    )
    status, words = CHECKS[least]
    assert (done.returncode, words in done.stdout) == (status, True), done.stderr
