"""The README cannot drift: what it names exists, what exists it names, and its commands and snippets run."""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import fields
from pathlib import Path

import pytest

import nereval_core as nereval
from nereval_core.api.formats import formats
from nereval_core.cli import VERBS, main, verb_parser
from nereval_core.conventions import conventions
from nereval_core.conventions.outcome import OVERALL
from nereval_core.readers.shared.tag_schemes import SCHEMES
from nereval_core.review.verdict_lines import KEYS
from nereval_core.scoring.criteria import CRITERIA, criteria_from_toml
from pages.shared.components.navigation import pages
from pages.shared.view import View

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS = (
    "python3 -m venv .venv && .venv/bin/pip install -r requirements.txt && .venv/bin/streamlit run app.py",
    "bash tests/run.sh",
)
PROGRAM = "python -m nereval_core "
BAD = "bad.jsonl:"


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def program_lines() -> list[str]:
    return [line for block in blocks("bash") for line in block.splitlines() if line.startswith(PROGRAM)]


def section(title: str) -> str:
    """Return a section with its subsections, without its heading."""
    return README.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def first_cells(text: str) -> set[str]:
    return set(re.findall(r"^\| `?([^`|]+?)`? \|", text, re.MULTILINE)) - {"format", "id", "page", "code", "---"}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder to work in that holds what the README's commands read."""
    (tmp_path / "demo_data").symlink_to(ROOT / "demo_data")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_stands_on_one_line(command: str) -> None:
    assert README.count(command) == 1
    assert command in README.splitlines()


def test_tables_name_every_format_criterion_and_page() -> None:
    known = {row.name: row for row in formats()}
    assert first_cells(section("Formats")) == set(known)
    for name, row in known.items():
        able = f"| `{name}` | {'yes' if row.reads else 'no'} | {'yes' if row.writes else 'no'} |"
        assert able in README
    assert all(re.search(rf"\b{scheme}\b", section("Formats")) for scheme in SCHEMES)
    assert first_cells(section("Matching criteria")) == set(CRITERIA)
    assert first_cells(section("Published scorers")) == set(conventions())
    assert first_cells(section("Pages").partition("\n### ")[0]) == set(pages())


def test_criteria_are_as_in_the_table() -> None:
    for name, criterion in CRITERIA.items():
        row = next(line for line in section("Matching criteria").splitlines() if line.startswith(f"| `{name}` |"))
        types, otherwise, source = (cell.strip() for cell in row.strip("|").split("|")[2:])
        assert source.startswith(criterion.source)
        expected = criterion.otherwise.name if criterion.unit == "span" else "–"
        assert (types, otherwise) == ("equal" if criterion.same_type else "any", expected)
        assert (f"- **`{name}`** needs" in README) == (criterion.needs is not None)


def test_keys_of_exchanged_verdicts_are_listed() -> None:
    listed = README.partition("\n### Verdicts: from one store to another\n")[2].partition("\n### ")[0]
    assert re.findall(r"^\| `(\w+)` \|", listed, re.MULTILINE) == list(KEYS)


def test_link_parameters_are_listed() -> None:
    rows = re.findall(r"^\| (`.*?`) \|", README.partition("\n### Links\n")[2].partition("\n### ")[0], re.MULTILINE)
    listed = [name for row in rows for name in re.findall(r"`(\w+)`", row)]
    assert listed == [field.name for field in fields(View)]


def test_options_are_those_of_the_command_line() -> None:
    option = re.compile(r"(?<![\w-])--[a-z][a-z-]+")
    real = {found for verb in VERBS for found in option.findall(verb_parser(verb).format_help())}
    of_other_programs = {"--server", "--data", "--quick", "--tiny", "--check", "--nthreads", "--nworkers", "--seconds"}
    of_scorers = {f"--{one.name.replace('_', '-')}" for each in conventions().values() for one in each.options}
    named = set(option.findall(README)) - of_other_programs
    assert real <= named <= real | of_scorers


def test_commands_run(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In the order of the README: later commands read what earlier ones wrote."""
    assert len(program_lines()) > 5
    out = ""
    for line in program_lines():
        status = main(shlex.split(line.removeprefix(PROGRAM)))
        printed = capsys.readouterr()
        assert status == 0, f"{line}\n{printed.err}"
        out += printed.out
    shown = [block for block in blocks("text") if not block.startswith((BAD, "{"))]
    assert len(shown) == 2
    assert all(block in out for block in shown)

    def keys(value: object) -> set[str]:
        if isinstance(value, dict):
            return set(value) | {key for one in value.values() for key in keys(one)}
        return {key for one in value for key in keys(one)} if isinstance(value, list) else set()

    written = json.loads((folder / "scores.json").read_text(encoding="utf-8"))
    types = set(written["systems"][0]["criteria"]["strict"]["types"])
    assert keys(written) - types - set(CRITERIA) <= set(re.findall(r'"(\w+)": ?[…{\["]', section("Command line")))


def test_bad_input_is_told_as_shown(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    row = {"id": "d1", "text": "Aspirin tablet", "spans": [{"start": 0, "end": 70, "label": "Drug"}]}
    (folder / "bad.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    assert main(["score", "bad.jsonl", "bad.jsonl"]) == 2
    (block,) = (block for block in blocks("text") if block.startswith(BAD))
    assert block.strip() in capsys.readouterr().err.splitlines()


@pytest.mark.parametrize("code", blocks("python"), ids=lambda code: code.splitlines()[0])
def test_snippets_run(folder: Path, code: str, capsys: pytest.CaptureFixture[str]) -> None:
    exec(compile(code, "README.md", "exec"), {"__name__": "readme"})
    assert capsys.readouterr().out


def test_native_format_and_composed_criteria_can_be_read(folder: Path) -> None:
    (document,), (criteria,) = blocks("json"), blocks("toml")
    (folder / "document.jsonl").write_text(document, encoding="utf-8")
    (folder / "own.toml").write_text(criteria, encoding="utf-8")
    assert main(["convert", "document.jsonl", "again.jsonl", "--to", "jsonl"]) == 0
    assert json.loads((folder / "again.jsonl").read_text(encoding="utf-8")) == json.loads(document)
    assert len(criteria_from_toml(criteria, "own.toml")) == 1
    assert main(["score", "document.jsonl", "document.jsonl", "--criteria", "strict,own.toml"]) == 0


@pytest.mark.parametrize("example", blocks("example"))
def test_examples_of_published_scorers_hold(folder: Path, example: str) -> None:
    """Lines are `gold [DOCUMENT]: …`, `pred …`, and `SCORER [OPTION=VALUE] [SCOPE]: EVALUATION FIGURE = COUNT`."""
    given: dict[str, dict[str, str]] = {"gold": {}, "pred": {}}
    claims = []
    for line in example.splitlines():
        name, _, rest = line.partition(":")
        side, _, document = name.partition(" ")
        if side in given:
            given[side][document] = rest.strip()
        else:
            claims.append((name, rest.strip()))
    paths = {side: written(folder, side, documents) for side, documents in given.items()}
    assert claims
    for scorer, claim in claims:
        name, *rest = scorer.split()
        figure, _, count = claim.partition(" = ")
        evaluation, figure = figure.split(" ", 1)
        if name == "ours":
            scores = nereval.score(paths["gold"], paths["pred"], criteria=[evaluation], missing="empty")
            counts = scores.counts(evaluation)
            assert getattr(counts, figure.lower()) == int(count), claim
            continue
        options = dict(item.split("=") for item in rest if "=" in item)
        scope = next((item for item in rest if "=" not in item), OVERALL)
        outcome = nereval.reproduce(paths["gold"], paths["pred"], convention=name, options=options)
        asked = {"evaluation": evaluation, "scope": scope, "figure": figure}
        found = outcome.figures.astype(dict.fromkeys(asked, "str"))
        for column, value in asked.items():
            found = found[found[column] == value]
        assert found["value"].tolist() == [int(count)], claim


def written(folder: Path, side: str, documents: dict[str, str]) -> Path:
    """Write one side of an example: tags, or spans in a text of one letter; named documents as a folder of brat."""
    if set(documents) != {""}:
        path = folder / side
        path.mkdir()
        for name, content in documents.items():
            lines = [
                f"T{number}\t{kind} {start} {end}\t{'x' * (end - start)}\n"
                for number, (start, end, kind) in enumerate(spans_of(content), start=1)
            ]
            (path / f"{name}.ann").write_text("".join(lines), encoding="utf-8")
            (path / f"{name}.txt").write_text("x" * 20, encoding="utf-8")
        return path
    content = documents[""]
    if re.match(r"\d", content):
        rows = [{"start": start, "end": end, "label": kind} for start, end, kind in spans_of(content)]
        path = folder / f"{side}.jsonl"
        path.write_text(json.dumps({"id": "d", "text": "x" * 20, "spans": rows}) + "\n", encoding="utf-8")
        return path
    path = folder / f"{side}.conll"
    rows_of_tags = [f"w{number}\t{tag}\n" for number, tag in enumerate(content.split())]
    # A blank line ends the sentence: one scorer drops a last sentence without.
    path.write_text("".join(rows_of_tags) + "\n", encoding="utf-8")
    return path


def spans_of(content: str) -> list[tuple[int, int, str]]:
    return [(int(start), int(end), kind) for start, end, kind in re.findall(r"(\d+)-(\d+) (\w+)", content)]


def test_links_lead_somewhere() -> None:
    targets = re.findall(r"\]\(([^)\s]+)\)", README)
    assert targets
    for target in targets:
        if not re.match(r"[a-z]+://", target):
            path = target.partition("#")[0]
            assert not path or (ROOT / path).exists(), target
