"""The documentation cannot drift: it names all that exists and nothing else, and its commands and snippets run."""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import fields
from pathlib import Path

import pytest

import nereval_core as nereval
from nereval_core.api.read import formats
from nereval_core.cli import VERBS, main
from nereval_core.conventions import conventions
from nereval_core.conventions.records import OVERALL
from nereval_core.readers.shared.tag_schemes import SCHEMES
from nereval_core.review.verdict_lines import KEYS
from nereval_core.scoring.count_tables import TEXT_DTYPE
from nereval_core.scoring.criteria import CRITERIA, SCHEMAS
from nereval_core.scoring.criterion_syntax import criteria_from_toml
from nereval_core.scoring.examples import FIVE_DECISIONS, decide
from pages.shared.components.navigation import pages
from pages.shared.view import View
from tests.support import ROOT
from tests.test_imports import CORE, PAGES

README = "README.md"
DOCS = {
    path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
    for path in (ROOT / README, *sorted((ROOT / "docs").rglob("*.md")))
}
HOW_TO = [name for name in DOCS if name.startswith("docs/how-to/")]
MOST_LINES = {README: 150, "docs/architecture.md": 150} | dict.fromkeys(HOW_TO, 60)
COMMANDS = (
    "python3 -m venv .venv && .venv/bin/pip install -r requirements.txt && .venv/bin/streamlit run app.py",
    "bash tests/run.sh",
)
PROGRAM = "nereval "
BAD = "bad.jsonl:"


def blocks(language: str, text: str) -> list[str]:
    """Return the fenced blocks of a language, without their fences."""
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def write_files(folder: Path, text: str) -> None:
    """Write the fenced blocks with a title, which are the files that the commands and snippets of a page read."""
    for name, content in re.findall(r'^```\w+ title="([\w.-]+)"\n(.*?)^```$', text, re.MULTILINE | re.DOTALL):
        (folder / name).write_text(content, encoding="utf-8")


def only_block(language: str, name: str) -> str:
    (block,) = blocks(language, DOCS[name])
    return block


def program_lines(text: str) -> list[str]:
    return [line for block in blocks("bash", text) for line in block.splitlines() if line.startswith(PROGRAM)]


def section(name: str, title: str) -> str:
    """Return a section of a document with its subsections, without its heading."""
    mark = re.search(rf"^(#+) {re.escape(title)}$", DOCS[name], re.MULTILINE)
    assert mark is not None, f"{name}: no section {title!r}"
    return re.split(rf"^#{{1,{len(mark[1])}}} ", DOCS[name][mark.end() :], maxsplit=1, flags=re.MULTILINE)[0]


def rows(text: str) -> list[list[str]]:
    """Return the cells of all rows of tables, but for the first row of each."""
    lines = re.findall(r"(?<=-\|\n)(?:\|.*\n?)+", text)
    return [
        [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip("|"))]
        for table in lines
        for line in table.splitlines()
    ]


def codes(text: str) -> list[str]:
    """Return the codes in the first cells of tables, in their order."""
    return [code for row in rows(text) for code in re.findall("`([^`]+)`", row[0])]


def with_blocks(language: str) -> list[str]:
    return [name for name, text in DOCS.items() if blocks(language, text)]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder to work in that holds the files that the commands read."""
    (tmp_path / "demo_data").symlink_to(ROOT / "demo_data")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_stands_on_one_line(command: str) -> None:
    assert DOCS[README].splitlines().count(command) == DOCS[README].count(command) == 1


def test_the_documents_have_at_most_28_000_words() -> None:
    assert sum(len(text.split()) for text in DOCS.values()) <= 28_000


def test_the_readme_the_architecture_and_the_how_tos_are_short() -> None:
    assert not {name for name, most in MOST_LINES.items() if len(DOCS[name].splitlines()) > most}


def test_each_page_begins_with_who_needs_it() -> None:
    for name, text in DOCS.items():
        if name != README:
            assert re.match(r"# .*\n\nThis page is for people who(?:se)? ", text), name


def test_tables_name_every_format_criterion_scorer_verb_and_page() -> None:
    able = {row.name: ["yes" if can else "no" for can in (row.reads, row.writes)] for row in formats()}
    assert {row[0].strip("`"): row[1:3] for row in rows(DOCS["docs/formats.md"].partition("\n## ")[0])} == able
    assert set(re.findall(r"^## (.*)", DOCS["docs/formats.md"], re.MULTILINE)) >= set(able)
    assert all(re.search(rf"\b{scheme}\b", section("docs/formats.md", "conll")) for scheme in SCHEMES)
    assert codes(section("docs/scoring.md", "Matching criteria")) == list(CRITERIA)
    assert sorted(codes(DOCS["docs/conventions.md"].partition("\n## ")[0])) == sorted(conventions())
    refused = [name for name, convention in conventions().items() if convention.not_by_shards]
    assert sorted(codes(section("docs/cluster.md", "Published scorers by shards"))) == sorted(refused)
    assert sorted(codes(DOCS["docs/command-line.md"].partition("\n## ")[0])) == sorted(VERBS)
    shown = [row[0] for row in rows(DOCS["docs/pages.md"].partition("\n## ")[0])]
    assert set(shown) == set(pages()) == {name for name in shown if section("docs/pages.md", name)}


def test_criteria_are_as_in_the_table() -> None:
    for name, _, types, otherwise, source in rows(section("docs/scoring.md", "Matching criteria")):
        criterion = CRITERIA[name.strip("`")]
        assert source.startswith(criterion.source)
        decisions = {part: decision.name for part, decision in criterion.near_misses.items()} or {"type": "INC"}
        expected = next(iter(decisions.values()))
        if len(set(decisions.values())) == 2:
            expected = f"{decisions['boundaries']} for other boundaries, {decisions['type']} for another type"
        expected = expected if criterion.unit == "span" else "–"
        assert (types, otherwise) == ("equal" if criterion.same_type else "any", expected)
        assert (f"- **{name}** needs" in DOCS["docs/scoring.md"]) == (criterion.needs is not None)


def test_comparison_and_readme_lead_to_all_there_is() -> None:
    counts = re.findall(r"\[(\d+) (?:formats|criteria|published scorers)\]", DOCS["docs/comparison.md"])
    assert [int(count) for count in counts] == [len(formats()), len(CRITERIA), len(conventions())]
    links = set(re.findall(r"\]\((docs/[\w/-]+\.md)", DOCS[README]))
    assert set(DOCS) - links - {README} <= {"docs/SECURITY.md"}


def test_the_table_of_five_decisions_is_computed() -> None:
    scores = decide(FIVE_DECISIONS)
    shown = []
    for name in (*SCHEMAS, "muc"):
        row = scores.counts(name)
        counts = (row.cor, row.inc, row.par, row.mis, row.spu, row.pos, row.act)
        ratios = (f"{value:.4f}".removeprefix("0") for value in (row.precision, row.recall, row.f1))
        shown.append(f"| `{name}` | {' | '.join([*map(str, counts), *ratios])} |")
    table = section("docs/scoring.md", "Five decisions under one criterion")
    assert [line for line in table.splitlines() if line.startswith("| `")] == shown


def test_keys_of_exchanged_verdicts_are_listed() -> None:
    assert codes(section("docs/verdicts.md", "Export and import")) == list(KEYS)


def test_link_parameters_are_listed() -> None:
    assert codes(section("docs/pages.md", "Links")) == [field.name for field in fields(View)]


def test_options_are_those_of_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    option = re.compile(r"(?<![\w-])--[a-z][a-z-]+")
    assert [main([*verb.split(), "--help"]) for verb in VERBS] == [0] * len(VERBS)
    real = set(option.findall(capsys.readouterr().out)) - {"--help"}
    of_other_programs = {
        "--code",
        "--server",
        "--files",
        "--quick",
        "--require-hashes",
        "--upgrade",
        "--tiny",
        "--check",
        "--nthreads",
        "--nworkers",
        "--tries",
        "--processes",
        "--first",
        "--now",
    }
    of_scorers = {f"--{one.name.replace('_', '-')}" for each in conventions().values() for one in each.options}
    named = {found for text in DOCS.values() for found in option.findall(text)} - of_other_programs - {"--help"}
    assert named <= real | of_scorers


@pytest.mark.parametrize("name", with_blocks("bash"))
def test_commands_run(folder: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """In the order of the document: later commands read files of earlier ones."""
    printed = ""
    write_files(folder, DOCS[name])
    for line in program_lines(DOCS[name]):
        status = main(shlex.split(line.removeprefix(PROGRAM)))
        out, err = capsys.readouterr()
        assert status == 0, f"{line}\n{err}"
        printed += out
    assert program_lines(DOCS[name])
    if name == README:
        for code in blocks("python", DOCS[name]):
            run(code, name)
        printed += capsys.readouterr().out
        assert len(blocks("text", DOCS[name])) == 3
        assert all(block in printed for block in blocks("text", DOCS[name]))
    if name == "docs/command-line.md":
        written = json.loads((folder / "scores.json").read_text(encoding="utf-8"))
        types = set(written["systems"][0]["criteria"]["strict"]["types"])
        shown = set(re.findall(r'"(\w+)": ?[…{\["1]', section(name, "JSON")))
        assert keys(written) - types - set(CRITERIA) <= shown


def keys(value: object) -> set[str]:
    """Return the keys of an object and of all objects inside."""
    if isinstance(value, dict):
        return set(value) | {key for one in value.values() for key in keys(one)}
    return {key for one in value for key in keys(one)} if isinstance(value, list) else set()


def run(code: str, name: str) -> None:
    exec(compile(code, name, "exec"), {"__name__": "documentation"})


def test_the_signature_is_that_of_the_readme() -> None:
    shown = blocks("text", section("docs/scoring.md", "Signature"))
    assert shown and shown[0] in DOCS[README]


@pytest.mark.parametrize("name", [name for name in with_blocks("python") if name != README])
def test_snippets_run(folder: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    write_files(folder, DOCS[name])
    for code in blocks("python", DOCS[name]):
        run(code, name)
        assert capsys.readouterr().out, code


def test_figures_of_speed_are_those_measured() -> None:
    measured = DOCS["docs/limits-and-speed.md"] + DOCS["docs/cluster.md"]
    figures = re.findall(r"\d[\d.,]*\d", section(README, "Speed"))
    assert figures and not [figure for figure in figures if figure not in measured]


def test_every_verb_of_the_library_is_named() -> None:
    named = set(re.findall(r"`(\w+)`", DOCS["docs/library.md"]))
    assert set(nereval.__all__) - {"__version__"} <= named


def test_bad_input_is_reported_as_shown(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    row = {"id": "d1", "text": "Aspirin tablet", "spans": [{"start": 0, "end": 70, "label": "Drug"}]}
    (folder / "bad.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    assert main(["score", "bad.jsonl", "bad.jsonl"]) == 2
    shown = only_block("text", "docs/formats.md")
    assert shown.startswith(BAD)
    assert shown.strip() in capsys.readouterr().err.splitlines()


def test_native_format_and_composed_criteria_can_be_read(folder: Path) -> None:
    document = only_block("json", "docs/formats.md")
    (folder / "document.jsonl").write_text(document, encoding="utf-8")
    write_files(folder, DOCS["docs/how-to/own-criterion.md"])
    criteria = (folder / "own.toml").read_text(encoding="utf-8")
    assert main(["convert", "document.jsonl", "again.jsonl", "--to", "jsonl"]) == 0
    assert json.loads((folder / "again.jsonl").read_text(encoding="utf-8")) == json.loads(document)
    assert len(criteria_from_toml(criteria, "own.toml")) == 1
    assert main(["score", "document.jsonl", "document.jsonl", "--criteria", "strict,own.toml"]) == 0


@pytest.mark.parametrize("example", blocks("example", DOCS["docs/conventions.md"]))
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
        found = outcome.figures.astype(dict.fromkeys(asked, TEXT_DTYPE))
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
        spans = [{"start": start, "end": end, "label": kind} for start, end, kind in spans_of(content)]
        path = folder / f"{side}.jsonl"
        path.write_text(json.dumps({"id": "d", "text": "x" * 20, "spans": spans}) + "\n", encoding="utf-8")
        return path
    path = folder / f"{side}.conll"
    rows_of_tags = [f"w{number}\t{tag}\n" for number, tag in enumerate(content.split())]
    # A blank line ends the sentence: one scorer drops a last sentence without.
    path.write_text("".join(rows_of_tags) + "\n", encoding="utf-8")
    return path


def spans_of(content: str) -> list[tuple[int, int, str]]:
    return [(int(start), int(end), kind) for start, end, kind in re.findall(r"(\d+)-(\d+) (\w+)", content)]


def anchors(text: str) -> set[str]:
    """Return the fragments that lead to the headings of a document, as GitHub makes them."""
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    titles = re.findall(r"^#+ (.*)$", prose, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("name", DOCS)
def test_links_lead_somewhere(name: str) -> None:
    targets = re.findall(r"\]\(([^)\s]+)\)", DOCS[name])
    for target in targets:
        if re.match(r"[a-z]+://", target):
            continue
        path, _, anchor = target.partition("#")
        place = (ROOT / name).parent.joinpath(path).resolve() if path else ROOT / name
        assert place.exists(), target
        assert not anchor or anchor in anchors(place.read_text(encoding="utf-8")), target


def test_links_of_the_code_lead_somewhere() -> None:
    code = [path for folder in ("nereval_core", "pages", "tests") for path in (ROOT / folder).rglob("*.py")]
    links = {link for path in code for link in re.findall(r"docs/[\w-]+\.md#[\w-]+", path.read_text(encoding="utf-8"))}
    assert links
    for link in links:
        name, _, anchor = link.partition("#")
        assert anchor in anchors(DOCS[name]), link


@pytest.mark.parametrize("name", DOCS)
def test_files_named_exist(name: str) -> None:
    """A path in backticks lies below the root, or, in the architecture, below the core too."""
    bases = (ROOT, ROOT / "nereval_core") if name.endswith("architecture.md") else (ROOT,)
    folders = "|".join(sorted(re.escape(path.name) for base in bases for path in base.iterdir() if path.is_dir()))
    paths = re.findall(rf"`((?:{folders})/[\w./-]*)`", DOCS[name])
    assert not [path for path in paths if not any((base / path).exists() for base in bases)]


def test_the_architecture_names_functions_where_they_stand() -> None:
    steps = [row for row in rows(DOCS["docs/architecture.md"]) if len(row) == 3]
    assert len(steps) > 40
    for file, functions, _ in steps:
        path = file.strip("`")
        code = (ROOT / ("" if path.startswith("pages/") else "nereval_core") / path).read_text(encoding="utf-8")
        for function in re.findall(r"`(\w+)`", functions):
            assert re.search(rf"^(?:def|class) {function}\b", code, re.MULTILINE), f"{path}: {function}"


def test_the_architecture_has_the_order_of_folders() -> None:
    order = section("docs/architecture.md", "Which folder may import which")
    core, shared = (re.findall("`([^`]+)`", part) for part in order.split("\n\n")[2:4])
    assert tuple(core) == ("nereval_core", *CORE)
    assert tuple(shared) == ("pages/shared", "nereval_core", *PAGES)
