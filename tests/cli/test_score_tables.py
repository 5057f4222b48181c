"""Tables of `score`: confusions in every form are those of the library, and tables as papers print them."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable
from decimal import ROUND_HALF_EVEN, Decimal
from pathlib import Path

import pytest

import nereval_core as nereval
from nereval_core.problems import one_line
from nereval_core.records.tables import by_document, by_type, confusion
from nereval_core.scoring import Scores
from tests.support import ROOT
from tests.support.commands import Cli

BIOLOGY = ROOT / "demo_data" / "biology"
GOLD, RULES, PERCEPTRON = (str(BIOLOGY / f"{name}.jsonl") for name in ("gold", "rules", "perceptron"))
Cell = tuple[str, str, int]


def library_cells(scores: Scores, name: str) -> list[Cell]:
    """Return the confusions of the library, the largest counts first."""
    cells = [(str(row.gold_type), str(row.pred_type), int(row.count)) for row in confusion(scores, name).itertuples()]
    return sorted(cells, key=lambda cell: (-cell[2], cell[0], cell[1]))


def of_rows(rows: Iterable[list[str]]) -> list[Cell]:
    return [(gold, pred, int(count)) for gold, pred, count in rows]


@pytest.mark.parametrize("counting", ["one-to-one", "each-side"])
def test_confusions_are_those_of_the_library_in_every_form(command: Cli, counting: str) -> None:
    forms = ("json", "csv", "markdown", "latex", "html", "excel")
    targets = [item for form in forms for item in (f"--{form}", f"out.{form}")]
    criteria = ("strict", "partial", "fragment") if counting == "one-to-one" else ("strict", "partial")
    options = ("--criteria", ",".join(criteria), "--counting", counting, "--by", "confusion", "-q")
    assert command("score", GOLD, RULES, PERCEPTRON, *options, *targets)[0] == 0
    _, screen, _ = command("score", GOLD, RULES, PERCEPTRON, *options)
    made = {form: Path(f"out.{form}").read_text(encoding="utf-8") for form in forms[:-1]}
    written = {system["name"]: system["criteria"] for system in json.loads(made["json"])["systems"]}
    rows = list(csv.DictReader(io.StringIO(made["csv"])))
    for system, path in (("rules", RULES), ("perceptron", PERCEPTRON)):
        scores = nereval.score(GOLD, path, criteria=criteria, counting=counting)
        for name in criteria:
            cells = library_cells(scores, name)
            assert [tuple(cell.values()) for cell in written[system][name]["confusion"]] == cells
            own = [row for row in rows if (row["system"], row["criterion"], row["part"]) == (system, name, "confusion")]
            assert of_rows([row["gold_type"], row["pred_type"], row["count"]] for row in own) == cells
            assert nereval.to_dict(scores, confusion=True)["systems"][0]["criteria"][name] == written[system][name]
            confused = [cell for cell in cells if cell[0] != cell[1]]
            same = sum(cell[2] for cell in cells) - sum(cell[2] for cell in confused)
            title = f"{system}: {name} by confusion"
            block = screen.partition(f"{title}\n")[2].partition("\n\n")[0].splitlines()
            assert of_rows(line.split() for line in block[1 : len(confused) + 1]) == confused
            assert block[len(confused) + 1].startswith(f"same type on both sides: {same}; ")
            table = made["markdown"].partition(f"## {title}\n".replace("_", r"\_"))[2].partition("\n## ")[0]
            lines = [line.replace("\\", "").strip("| ").split(" | ") for line in re.findall(r"^\|.*", table, re.M)]
            assert of_rows(lines[2:]) == confused
            table = made["latex"].partition(f"% {title}\n")[2].partition(r"\bottomrule")[0].partition("\\midrule\n")[2]
            latex = [line.replace("\\", "").strip().split(" & ") for line in table.splitlines()]
            assert of_rows(latex) == confused
            html = made["html"].partition(f"<h2>{title}</h2>")[2].partition("</table>")[0]
            cells_of_html = re.findall(r"<td(?: class='text')?>(.*?)</td>", html)
            assert of_rows(cells_of_html[at : at + 3] for at in range(0, len(cells_of_html), 3)) == confused


def test_a_type_called_missed_is_not_a_missed_span(command: Cli) -> None:
    spans = [{"start": 0, "end": 1, "label": "missed"}, {"start": 2, "end": 3, "label": "X"}]
    Path("gold.jsonl").write_text(json.dumps({"id": "d", "text": "a b", "spans": spans}) + "\n")
    spans = [{"start": 2, "end": 3, "label": "missed"}]
    Path("run.jsonl").write_text(json.dumps({"id": "d", "text": "a b", "spans": spans}) + "\n")
    _, out, _ = command("score", "gold.jsonl", "run.jsonl", "--criteria", "strict", "--by", "confusion", "-q")
    block = out.partition("by confusion\n")[2].splitlines()
    assert [line.split() for line in block[1:3]] == [["X", "missed", "1"], ["missed", "(missed)", "1"]]


def test_confusions_of_shards_and_published_scorers_are_refused(command: Cli) -> None:
    for option in (("--engine", "local"), ("--convention", "conlleval")):
        status, out, err = command("score", GOLD, RULES, *option, "--by", "type,confusion")
        assert (status, out) == (2, "")
        assert f"--by confusion needs the pairs of criteria, leave it out with {option[0]}" in one_line(err)


def test_the_help_leads_to_confusions(command: Cli) -> None:
    _, out, _ = command("score", "--help")
    assert "--by type,document,confusion" in out and "missed and spurious" in " ".join(out.split())


Row = tuple[str, ...]


def latex_rows(text: str, title: str) -> list[Row]:
    """Return the rows of a table as printed, headings and averages among them."""
    table = text.partition(f"% {title}\n")[2].partition("\\toprule\n")[2].partition(r"\bottomrule")[0]
    lines = [
        line.removesuffix(r" \\") for line in table.splitlines() if not line.startswith((r"\midrule", r"\cmidrule"))
    ]
    return [tuple(cell.strip().replace("\\_", "_") for cell in line.split("&")) for line in lines]


def markdown_rows(text: str, title: str) -> list[Row]:
    table = text.partition(f"## {title}\n")[2].partition("\n## ")[0]
    lines = re.findall(r"^\| (.*) \|$", table, re.MULTILINE)
    return [tuple(line.replace("\\_", "_").split(" | ")) for line in (lines[0], *lines[2:])]


def plain(rows: Iterable[Row]) -> list[Row]:
    """Return rows without the marks of bold."""
    return [tuple(re.sub(r"\\textbf\{(.*)\}|\*\*(.*)\*\*", r"\1\2", cell) for cell in row) for row in rows]


def as_printed(value: float | None, digits: int, percent: bool) -> str:
    """Return a ratio as a paper has it, rounded by decimal arithmetic."""
    if value is None or value != value:
        return "–"
    number = Decimal(repr(value)) * (100 if percent else 1)
    return str(number.quantize(Decimal(1).scaleb(-digits), ROUND_HALF_EVEN))


def library_rows(scores: Scores, name: str, part: str, digits: int, percent: bool) -> dict[str, list[str]]:
    """Return P, R, F1 and support of every row from the tables of the library."""
    table = (by_type if part == "type" else by_document)(scores, name)
    rows = {str(row[part]): [row["precision"], row["recall"], row["f1"], row["POS"]] for _, row in table.iterrows()}
    counts = scores.counts(name)
    macro = scores.macro_types(name) if part == "type" else scores.macro_documents(name)
    rows["micro average"] = [counts.precision, counts.recall, counts.f1, counts.pos]
    rows["macro average"] = [*(macro[ratio].value for ratio in ("precision", "recall", "f1")), counts.pos]
    return {
        key: [*(as_printed(ratio, digits, percent) for ratio in ratios), str(support)]
        for key, (*ratios, support) in rows.items()
    }


STYLES: list[tuple[list[str], int, bool]] = [
    (["--columns", "p, R,f1,SUPPORT"], 4, False),
    (["--columns", "P,R,F1,support", "--percent"], 2, True),
    (["--columns", "P,R,F1,support", "--percent", "--digits", "1"], 1, True),
    (["--columns", "P,R,F1,support", "--digits", "0"], 0, False),
]


@pytest.mark.parametrize(("style", "digits", "percent"), STYLES)
@pytest.mark.parametrize("name", ["strict", "partial", "fragment"])
def test_tables_of_papers_have_the_numbers_of_the_library(
    command: Cli, style: list[str], digits: int, percent: bool, name: str
) -> None:
    options = ("--criteria", name, "--by", "type,document", *style, "--latex", "out.tex", "--markdown", "out.md", "-q")
    assert command("score", GOLD, RULES, PERCEPTRON, *options)[0] == 0
    latex, markdown = (Path(file).read_text(encoding="utf-8") for file in ("out.tex", "out.md"))
    assert ("P, R and F1 in percent" in latex) == ("P, R and F1 in percent" in markdown) == percent
    systems = [nereval.score(GOLD, path, criteria=name) for path in (RULES, PERCEPTRON)]
    for part in ("type", "document"):
        expected = [library_rows(scores, name, part, digits, percent) for scores in systems]
        tex, md = latex_rows(latex, f"{name} by {part}"), markdown_rows(markdown, f"{name} by {part}")
        assert tex[0] == ("", r"\multicolumn{3}{c}{rules}", r"\multicolumn{3}{c}{perceptron}", "")
        assert tex[1] == (part, "P", "R", "F1", "P", "R", "F1", "support")
        assert md[0][1:4] == ("rules P", "rules R", "rules F1")
        assert [row[0] for row in tex[-2:]] == ["micro average", "macro average"]
        assert {row[0] for row in tex[2:]} == {*expected[0], *expected[1]}
        for rows in (tex[2:], md[1:]):
            for row, bare in zip(rows, plain(rows), strict=True):
                own = [rows_of.get(row[0], ["–", "–", "–", "0"]) for rows_of in expected]
                assert list(bare[1:]) == [*own[0][:3], *own[1]]
                for first, second in ((1, 4), (2, 5), (3, 6)):
                    bold = [row[at] != bare[at] for at in (first, second)]
                    pair = [float(bare[at]) if bare[at] != "–" else None for at in (first, second)]
                    if None in pair or pair[0] == pair[1]:
                        assert not any(bold)
                    else:
                        assert bold == [pair[0] == max(pair), pair[1] == max(pair)]


def test_latex_by_type_is_the_table_of_papers_and_of_one_system_has_no_bold(command: Cli) -> None:
    options = ("--criteria", "strict", "--by", "type", "-q")
    _, out, _ = command("score", GOLD, RULES, *options, "--latex", "-")
    rows = latex_rows(out, "rules: strict by type")
    assert rows[0] == ("type", "P", "R", "F1", "support") and "textbf" not in out and "multicolumn" not in out
    scores = nereval.score(GOLD, RULES, criteria="strict")
    assert {row[0]: list(row[1:]) for row in rows[1:]} == library_rows(scores, "strict", "type", 4, False)
    # Markdown keeps the counts until columns are named.
    _, out, _ = command("score", GOLD, RULES, *options, "--markdown", "-", "--digits", "2")
    assert "gold COR" in out and markdown_rows(out, "rules")[1][3] == f"{scores.counts('strict').f1:.2f}"


def test_columns_without_types_are_those_of_criteria(command: Cli) -> None:
    options = ("--columns", "support,SPU,F1,MIS,ACT", "--markdown", "-", "-q")
    _, out, _ = command("score", GOLD, RULES, PERCEPTRON, *options)
    rows = plain(markdown_rows(out, "scores"))
    assert rows[0][:3] == ("criterion", "support", "rules SPU")
    systems = [nereval.score(GOLD, path) for path in (RULES, PERCEPTRON)]
    for row in rows[1:]:
        counts = [scores.counts(row[0]) for scores in systems]
        cells = [cell for own in counts for cell in (own.spu, f"{own.f1:.4f}", own.mis, own.act)]
        assert list(row[1:]) == list(map(str, (counts[0].pos, *cells)))


def test_a_ratio_that_is_undefined_is_left_out_of_the_average_and_of_bold(command: Cli) -> None:
    def layer(name: str, *spans: tuple[int, str]) -> str:
        rows = [{"start": start, "end": start + 1, "label": label} for start, label in spans]
        Path(name).write_text(json.dumps({"id": "d", "text": "a b c", "spans": rows}) + "\n")
        return name

    places = (layer("g.jsonl", (0, "X"), (2, "Y")), layer("a.jsonl", (0, "X")), layer("b.jsonl", (0, "X"), (4, "Y")))
    _, out, _ = command("score", *places, "--criteria", "strict", "--by", "type", "--latex", "-", "-q")
    assert latex_rows(out, "strict by type")[3] == ("Y", "–", "0.0000", "0.0000", "0.0000", "0.0000", "0.0000", "1")
    assert "% a: macro average: undefined and left out: 1 of P" in out


def test_shards_print_the_same_table(command: Cli) -> None:
    for side, path in (("gold", GOLD), ("run", RULES)):
        Path(side).mkdir()
        Path(side, "part.jsonl").write_bytes(Path(path).read_bytes())
    options = ("--by", "type", "--percent", "--latex", "-", "-q")
    whole, by_shards = (command("score", "gold", "run", *options, *engine) for engine in ((), ("--engine", "local")))
    assert whole == by_shards and whole[0] == 0


REFUSED = [
    (("--columns", "P,Q", "--latex", "-"), "--columns 'Q', choose among P, R, F1, support, ACT, MIS, SPU"),
    (("--columns", "", "--latex", "-"), "--columns '', choose among P, R, F1, support"),
    (("--digits", "16", "--latex", "-"), "--digits 16, give 0 to 15"),
    (("--digits", "-1", "--latex", "-"), "--digits -1, give 0 to 15"),
    (("--percent",), "are for tables: give --latex FILE or --markdown FILE"),
    (("--percent", "--csv", "-"), "are for tables: give --latex FILE or --markdown FILE"),
    (("--columns", "F1", "--convention", "conlleval", "--latex", "-"), "--columns is for our criteria"),
]


@pytest.mark.parametrize(("options", "message"), REFUSED)
def test_styles_that_cannot_be_are_refused(command: Cli, options: tuple[str, ...], message: str) -> None:
    status, out, err = command("score", GOLD, RULES, *options)
    assert (status, out) == (2, "") and message in err
