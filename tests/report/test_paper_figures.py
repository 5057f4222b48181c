"""Figures for papers: their size, type and fonts as Chromium drew them, and what tells traces apart in greys."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import pandas as pd
import plotly.graph_objects as go
import pytest

from nereval_core.cli import main
from nereval_core.report.colours import SYSTEM_HUES, channels, lightness
from nereval_core.report.figures.comparison import baseline_dots, difference_dots, leaderboard
from nereval_core.report.figures.criteria import overlap_lines
from nereval_core.report.figures.files import WIDTHS_MM, paper_file, why_no_pictures
from nereval_core.report.figures.paper import PAPER_HUES, caption, for_paper
from nereval_core.report.figures.scores import confusion_map, decision_bars
from nereval_core.report.figures.slices import reliability
from nereval_core.scoring.count_tables import TEXT_DTYPE
from tests.support.browser import ROOT, chromium

BIOLOGY = ROOT / "demo_data" / "biology"
FILES = tuple(str(BIOLOGY / f"{name}.jsonl") for name in ("gold", "rules", "perceptron"))
CRITERIA = ["strict", "exact", "partial"]


def difference() -> go.Figure:
    table = pd.DataFrame({"criterion": CRITERIA, "difference": [-0.03, 0.01, 0.05]})
    return difference_dots(table.assign(low=table["difference"] - 0.1, high=table["difference"] + 0.1), "a<b", "c")


def differences() -> go.Figure:
    table = pd.DataFrame({"system": ["b", "c"], "baseline": "a", "criterion": "strict", "difference": [-0.1, 0.2]})
    return baseline_dots(table.assign(low=table["difference"] - 0.1, high=table["difference"] + 0.1), "95% intervals")


def board() -> go.Figure:
    table = pd.DataFrame({"system": ["a", "b", "c"], "f1": [0.5, 0.4, 0.6], "rank": [2, 3, 1], "criterion": "strict"})
    table = table.assign(f1_low=table["f1"] - 0.1, f1_high=table["f1"] + 0.1, units=20, POS=190)
    apart = pd.DataFrame({"system": ["b"], "baseline": ["c"], "difference": [-0.2], "p_holm": [0.01]})
    return leaderboard(table, "95% intervals", apart=apart)


def calibration() -> go.Figure:
    table = pd.DataFrame({"slice": ["0", "1"], "confidence": [0.2, 0.8], "precision": [0.3, 0.9], "ACT": [9, 90]})
    table = table.assign(small=table["ACT"] < 20, precision_low=table["precision"] - 0.1)
    table = table.assign(precision_high=table["precision"] + 0.1)
    return reliability(table, "Precision of a by score", "tenths", 20, diagonal=True)


def curve() -> go.Figure:
    table = pd.DataFrame({"minimum": [step / 20 for step in range(20, -1, -1)], "precision": 0.8, "recall": 0.7})
    marks = [("strict", 0.5), ("a criterion with a long name", 0.9)]
    return overlap_lines(table.assign(f1=0.75), marks, "share of both", "a", (190, 176))


def heat_map() -> go.Figure:
    counts = pd.DataFrame([[3, 0], [1, 2]], ["DNA", "RNA"], ["DNA", "RNA"])
    cells = [[(0, 0), (0, 1)], [(1, 0), (1, 1)]]
    return confusion_map(counts.astype("float64"), counts.astype(TEXT_DTYPE), cells, "Confusion of a", "records", 6)


def bars() -> go.Figure:
    counts = dict(zip(["COR", "INC", "PAR", "MIS", "SPU"], [60, 20, 20, 30, 40], strict=True))
    return decision_bars(pd.DataFrame([{"criterion": "strict", **counts, "POS": 130, "ACT": 140}]), "a")


FIGURES = {made.__name__: made for made in (difference, differences, board, calibration, curve, heat_map, bars)}


def of_others() -> go.Figure:
    """Return a figure that leaves its looks to Plotly."""
    figure = go.Figure([go.Scatter(x=[1, 2], y=[number, 3], name=str(number)) for number in range(4)])
    figure.add_bar(x=[1, 2], y=[1, 2])
    figure.add_box(y=[1, 2, 3])
    figure.add_heatmap(z=[[1, 2], [3, 4]], colorscale="RdBu")
    return figure.add_pie(values=[1, 2])


def test_a_grey_copy_keeps_the_colours_apart() -> None:
    """Greys as a printer or a television makes them (ITU-R BT.601), of 255, and lightness as it is seen, of 100."""
    greys = [0.299 * red + 0.587 * green + 0.114 * blue for red, green, blue in map(channels, PAPER_HUES)]
    assert min(abs(one - other) for one, other in combinations([*greys, 255], 2)) > 25
    assert min(abs(lightness(one) - lightness(other)) for one, other in combinations(PAPER_HUES, 2)) > 12
    assert (lightness("#000000"), round(lightness("#ffffff"), 6), round(lightness("#777777"), 1)) == (0, 100, 50.0)


def colours(figure: go.Figure) -> Iterator[tuple[int, int, int]]:
    for found in re.findall("#[0-9a-f]{6}", str(figure.to_dict()["data"])):
        yield channels(found)


@pytest.mark.parametrize("name", [*FIGURES, "of_others"])
def test_colours_are_of_the_palette_or_grey(name: str) -> None:
    made = for_paper(FIGURES[name]() if name in FIGURES else of_others(), 84)
    known = set(map(channels, (*PAPER_HUES, *SYSTEM_HUES)))
    assert all(one in known or max(one) - min(one) < 24 for one in colours(made) if name != "of_others")
    assert made.layout.title.text is None and made.layout.paper_bgcolor == "#ffffff"
    for trace in (trace for trace in made.data if trace.type == "heatmap" and name == "of_others"):
        light = [lightness(colour) for _, colour in trace.colorscale]
        assert light == sorted(light, reverse=True)


def test_traces_differ_in_symbol_and_in_dash() -> None:
    lines = for_paper(of_others(), 84).data[:4]
    assert len({trace.marker.symbol for trace in lines}) == len({trace.line.dash for trace in lines}) == 4
    assert len({trace.marker.color for trace in lines}) == 4
    p, r, f1 = for_paper(curve(), 84).data
    assert f1.line.dash == "solid" and len({p.line.dash, r.line.dash, "solid"}) == 3
    *systems, bracket = for_paper(board(), 84).data
    assert len({trace.marker.symbol for trace in systems}) == 3 and bracket.mode == "lines"


@pytest.mark.parametrize("name", ["board", "differences"])
def test_a_system_has_its_hue_on_paper_as_on_screen(name: str) -> None:
    on_screen, printed = FIGURES[name](), for_paper(FIGURES[name](), 84)
    for trace, other in zip(on_screen.data, printed.data, strict=True):
        assert trace.marker.color == other.marker.color and trace.error_x.color == other.error_x.color
    assert {trace.marker.color for trace in printed.data if trace.marker.color} <= {*SYSTEM_HUES}


def test_the_figure_itself_stays() -> None:
    figure = board()
    before = figure.to_json()
    for_paper(figure, 84)
    assert figure.to_json() == before


def test_differences_are_those_of_the_system_less_the_baseline() -> None:
    worse, better = differences().data
    assert (worse.x, better.x) == ((-0.1,), (0.2,)) and better.hovertext[0] == "c: +0.2000, 0.1000 to 0.3000"
    assert differences().layout.xaxis.title.text == "← a better · the system better →"
    (other,) = difference().data
    assert other.x == (-0.03, 0.01, 0.05) and other.hovertext[0] == "strict: −0.0300, −0.1300 to 0.0700"
    assert difference().layout.xaxis.title.text == "← a&lt;b better · c better →"


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (["compare", *FILES, "--resamples", "100", "--figure-of", "differences"], "F1 of systems less F1 of rules"),
        (["sensitivity", *FILES[:2], "--curve", "union"], "intersection over union"),
    ],
)
def test_the_command_line_draws_what_the_pages_draw(words: list[str], shown: str, tmp_path: Path) -> None:
    assert main([*words, "-q", "--figure", str(tmp_path / "f.html")]) == 0
    drawn = (tmp_path / "f.html").read_text(encoding="utf-8")
    assert shown in drawn.rpartition("Plotly.newPlot")[2]


def test_differences_of_one_system_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", *FILES[:2], "--figure", "f.html", "--figure-of", "differences"]) == 2
    assert "--figure-of differences draws two systems or more" in capsys.readouterr().err


def test_the_title_is_for_the_caption() -> None:
    assert caption(difference()) == "F1 of c less F1 of a<b"
    assert caption(board()).startswith("F1 of 3 systems under strict. F1, at best 1; n = 190 gold spans in 20")
    assert caption(go.Figure()) == ""


@pytest.mark.browser
def test_the_command_line_draws_for_papers(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    chromium()
    monkeypatch.chdir(tmp_path)
    assert main(["errors", *FILES[:2], "--figure", "f.pdf", "-q"]) == 0
    assert Path("f.pdf").read_bytes().startswith(b"%PDF-")
    assert capsys.readouterr().err.startswith("caption of f.pdf: F1 under strict gained by mending each error class")
    assert main(["errors", *FILES[:2], "--figure", "f.svg", "--figure-width", "77", "-q"]) == 0
    assert 'width="77mm"' in Path("f.svg").read_text(encoding="utf-8")[:300]


@pytest.fixture(scope="module")
def one_chromium() -> Iterator[None]:
    """Have one Chromium draw all pictures, instead of one for each."""
    chromium()
    import kaleido

    kaleido.start_sync_server(mathjax=False)
    yield
    kaleido.stop_sync_server()


# That one was told the options of Kaleido when it started.
one_for_all = pytest.mark.filterwarnings("ignore:The kopts argument is ignored")


@pytest.mark.browser
@one_for_all
@pytest.mark.usefixtures("one_chromium")
@pytest.mark.parametrize("name", FIGURES)
def test_a_pdf_is_as_wide_as_asked_for_and_holds_its_fonts(name: str) -> None:
    assert why_no_pictures() is None
    content = paper_file(FIGURES[name](), "f.pdf", WIDTHS_MM["column"])
    (box,) = re.findall(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", content)
    assert abs(float(box[0]) * 25.4 / 72 - 84) < 0.2
    # Each font of the document comes with the file of its shapes.
    assert content.count(b"/FontDescriptor ") == len(re.findall(rb"/FontFile[23]? ", content)) > 0
    assert b"/Type3" not in content


@pytest.mark.browser
@one_for_all
@pytest.mark.usefixtures("one_chromium")
@pytest.mark.parametrize("name", FIGURES)
def test_an_svg_has_its_size_its_type_and_its_caption(name: str) -> None:
    figure = FIGURES[name]()
    drawing = paper_file(figure, "f.svg", WIDTHS_MM["text"]).decode()
    assert ' width="174mm" height="' in drawing[:300]
    sizes = {float(size) * 72 / 96 for size in re.findall(r"font-size: ([\d.]+)px", drawing)}
    assert sizes and min(sizes) > 6.99 and max(sizes) < 9.01
    words = re.search("<title>(.*?)</title>", drawing)
    assert words is not None and words[1] == caption(figure).replace("<", "&lt;")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--figure-width", "column"), "--figure-width goes with --figure FILE"),
        (("--figure", "f.html", "--figure-width", "84"), "--figure-width is that of a picture, end the name of"),
        (("--figure", "f.pdf", "--figure-width", "wide"), "'wide' is not a width of a figure; write column (84 mm)"),
        (("--figure", "f.pdf", "--figure-width", "nan"), "'nan' is not a width"),
        (("--figure", "f.pdf", "--figure-width", "5000"), "millimetres from 40 to 420"),
    ],
)
def test_a_width_that_cannot_be_is_refused(
    options: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["errors", *FILES[:2], *options]) == 2
    assert said in capsys.readouterr().err
