"""The Slices page: decades under our criteria on any dated corpus, the CLEF-HIPE scorer's slices on its files."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from dataclasses import replace
from urllib.parse import parse_qsl

import pytest

from nereval_core.analysis.slices.decades_and_noise import (
    LEVELS,
    NOISE,
    PERIOD_COLUMNS,
    UNDATED,
    counts_by_decade,
    decade,
    decade_table,
    document_decades,
    hipe_slice_table,
    span_noise,
)
from nereval_core.readers import Source, read
from nereval_core.report.figures.slices import slice_points
from nereval_core.scoring import Counts, score_layers
from nereval_core.tables.glossary import DECISIONS
from pages.shared.components.downloads import table_key
from pages.shared.data import caches
from pages.shared.data.loading import Loaded, load_demo
from pages.shared.slices.hipe_and_decades import slice_words
from pages.shared.view import View
from pages.shared.view.link import read_link
from tests.pages.test_published_pages import loaded_of
from tests.support.hipe_scored import scored
from tests.support.pages import address, cell, headings, opened
from tests.support.shared_corpora import SHARED, needs
from tests.support.spans import settings
from tests.support.workbench import choose_facet, facets, workbench

NEWS = load_demo("newspapers")
VIEW = View(corpus=NEWS.corpus.digest, system="rules")
NOISY = "Noise (LED) of gold"
COLUMNS = "NE-COARSE-LIT NE-COARSE-METO NE-FINE-LIT NE-FINE-METO NE-FINE-COMP NE-NESTED NEL-LIT NEL-METO"
HEAD = "\t".join(["TOKEN", *COLUMNS.split(), "MISC"]) + "\n"


DECADES = replace(VIEW, slices_tab="decades")


def hipe(tags: str) -> str:
    """Return three documents of 1790, 1795 and 1801; the second name of each is noisy."""
    rows = [HEAD]
    for number, (date, tag) in enumerate(zip(("1790-01-02", "1795-03-04", "1801-05-06"), tags, strict=True)):
        rows.append(f"# date = {date}\n# document_id = d{number}\n")
        for word, label, noise in (("Rome", "B-loc", "LED0.00"), ("and", "O", "_"), ("Pari5", f"{tag}-loc", "LED0.20")):
            cells = [word, "O" if label == "O-loc" else label, *"OOOOO", "_", "_", noise]
            rows.append("\t".join(cells) + "\n")
    return "".join(rows)


@pytest.fixture(scope="module")
def historic() -> Loaded:
    return loaded_of(hipe("BBB"), hipe("OBO"))


@pytest.mark.parametrize(
    ("date", "expected"),
    [("1798-01-20", "1790s"), ("1800", "1800s"), (1912, "1910s"), (None, None), ("May 1800", None), ("18001", None)],
)
def test_the_decade_of_a_date(date: object, expected: str | None) -> None:
    assert decade(date) == expected


def test_decades_add_up_to_the_corpus() -> None:
    gold = NEWS.corpus.gold
    for system in NEWS.corpus.systems:
        scores = score_layers(gold, system, settings("strict", "partial"))
        for name in ("strict", "partial"):
            found = counts_by_decade(scores, name)
            assert sum(found.values(), Counts()) == scores.counts(name)
            table = decade_table(scores, name)
            assert tuple(table.columns) == PERIOD_COLUMNS and list(table["period"]) == sorted(found)
            assert table["documents"].sum() == len(gold.documents)
    expected = defaultdict(int)
    for one in gold.documents.meta or ():
        expected[one["date"][:3] + "0s"] += 1
    assert dict(zip(table["period"], table["documents"], strict=True)) == expected


def test_documents_without_a_date_stand_last() -> None:
    line = '{{"id": "{0}", "text": "Rome", "spans": [{{"start": 0, "end": 4, "label": "loc"}}]{1}}}\n'
    text = line.format("a", "") + line.format("b", ', "meta": {"date": "1801"}')
    loaded = loaded_of(text, text, "a.jsonl")
    assert document_decades(loaded.corpus.documents) == (UNDATED, "1800s")
    app = opened("Slices", View(corpus=loaded.corpus.digest, system="system", slices_tab="decades"))
    assert list(app.dataframe[0].value["decade"]) == ["1800s", UNDATED]


@pytest.mark.parametrize("column", ["COR", "MIS", "POS", "ACT"])
@pytest.mark.parametrize("row", [0, 3])
def test_a_count_of_a_decade_opens_its_records(row: int, column: str) -> None:
    app = opened("Slices", DECADES, table_decades=cell(row, column))
    table = app.dataframe[0].value
    assert f"({column}) in {table['decade'].iat[row]} under strict: {table[column].iat[row]} record" in headings(app)
    link = next(link.proto for link in app.get("page_link") if "Open in Inspect" in link.label)
    app = opened("Inspect", read_link(dict(parse_qsl(link.query_string)))[0])
    assert workbench(app)["total"] == table[column].iat[row]
    assert facets(app)["Period"]["on"] == table["decade"].iat[row]


def test_a_ratio_of_a_decade_opens_its_formula() -> None:
    app = opened("Slices", DECADES, table_decades=cell(1, "F1"))
    value = app.dataframe[0].value["F1"].iat[1]
    assert any(code.value.startswith("F1 = ") and code.value.endswith(f"= {value:.3f}") for code in app.code)


def test_what_is_lacking_is_said_kindly() -> None:
    text = '{"id": "a", "text": "Rome", "spans": [{"start": 0, "end": 4, "label": "loc"}]}\n'
    loaded = loaded_of(text, text, "a.jsonl")
    for shown, word in (("decades", "meta"), ("as-clef-hipe", "LED"), ("scores", "score"), ("worst-slices", "20 gold")):
        app = opened("Slices", View(corpus=loaded.corpus.digest, system="system", slices_tab=shown))
        assert word in app.info[0].value and not app.error


def test_periods_and_noise_are_those_of_the_scorer(historic: Loaded) -> None:
    view = View(corpus=historic.corpus.digest, system="system")
    decades = opened("Slices", replace(view, slices_tab="decades")).dataframe[0].value
    app = opened("Slices", replace(view, slices_tab="as-clef-hipe"))
    periods, noise = (frame.value for frame in app.dataframe[:2])
    assert list(decades["decade"]) == ["1790s", "1800s"] and list(decades["POS"]) == [4, 2]
    assert list(periods["period"]) == ["1790–1799", "1800–1809"]
    assert list(periods["possible"]) == [4, 2] and list(periods["actual"]) == [3, 1]
    rows = noise.set_index("noise (LED)")
    assert rows.at["0.0", "possible"] == 3 and rows.at["0.1–0.3", "possible"] == 3
    assert rows.at["0.0", "R"] == 1 and rows.at["0.1–0.3", "R"] == pytest.approx(1 / 3)
    assert any(code.value.startswith("System\tEvaluation\tLabel\tP\tR\tF1") for code in app.code)


def test_predictions_without_noise_levels_are_noted(historic: Loaded) -> None:
    without = hipe("BBO").replace("LED0.00", "_").replace("LED0.20", "_")
    for loaded, notes in ((historic, 0), (loaded_of(hipe("BBB"), without), 1)):
        view = View(corpus=loaded.corpus.digest, system="system", slice_by="noise")
        told = [info.value for info in opened("Slices", view).info]
        assert [one.startswith("Predictions carry no value for noise") for one in told] == [True] * notes


@pytest.mark.parametrize(("place", "value"), list(enumerate(["0.0-0.0", "0.1-0.3", "no gold span"])))
def test_the_noise_facet_lists_as_many_records_as_it_says(place: int, value: str) -> None:
    view = View(corpus=loaded_of(hipe("BBO"), hipe("OBB")).corpus.digest, system="system", decision=DECISIONS)
    app = opened("Inspect", view)
    rows = facets(app)[NOISY]["values"]
    assert [row[1] for row in rows] == ["0.0", "0.1–0.3", "no gold span"] and rows[place][0] == value
    number = rows[place][2]
    app = choose_facet(app, NOISY, value)
    assert workbench(app)["total"] == number and facets(app)[NOISY]["on"] == value
    again = opened("Inspect", read_link(address(app))[0])
    assert workbench(again)["total"] == number


def test_no_facet_where_nothing_is_known_but_one_that_a_link_asks_for() -> None:
    text = '{"id": "a", "text": "Rome", "spans": [{"start": 0, "end": 4, "label": "loc"}]}\n'
    view = View(corpus=loaded_of(text, text, "a.jsonl").corpus.digest, system="system")
    labels = {"Period", NOISY}
    assert not labels & set(facets(opened("Inspect", view)))
    app = opened("Inspect", replace(view, q='noise:0.1-0.3 period:"no date"'))
    assert labels <= set(facets(app)) and workbench(app)["total"] == 0
    for label in sorted(labels):
        app = choose_facet(app, label, None)
    assert "q" not in app.query_params and not labels & set(facets(app))


@pytest.mark.parametrize("year", ["", "1801", "1911"])
def test_the_same_texts_read_again_with_other_dates_get_their_own_decades(year: str) -> None:
    line = '{"id": "a", "text": "Rome", "spans": [{"start": 0, "end": 4, "label": "loc"}]%s}\n'
    for date in ("", "1848", year):
        loaded = loaded_of(line % (f', "meta": {{"date": "{date}"}}' if date else ""), line % "", "a.jsonl")
        app = opened("Inspect", View(corpus=loaded.corpus.digest, system="system", decision=DECISIONS))
        periods = facets(app).get("Period", {"values": []})["values"]
        assert periods == ([[f"{date[:3]}0s", f"{date[:3]}0s", 1]] if date else [])


@pytest.mark.parametrize(("name", "row"), [("period", 0), ("period", 1), ("level", 0), ("level", 2)])
@pytest.mark.parametrize("count", ["possible", "actual"])
def test_a_count_of_a_slice_opens_its_records(historic: Loaded, name: str, row: int, count: str) -> None:
    view = View(corpus=historic.corpus.digest, system="system", slices_tab="as-clef-hipe")
    key = f"table_slices_{name}"
    app = opened("Slices", view, **{key: cell(row, count)})
    value = app.dataframe[0 if name == "period" else 1].value[count].iat[row]
    assert f": {value} record" in headings(app)
    listed = next(frame.value for frame in app.dataframe if "decision" in frame.value)
    assert listed[count].sum() == value


@pytest.mark.parametrize(
    ("name", "words"),
    [("TIME-1790-1800", "1790–1799"), ("LED-0.0-0.0", "0.0"), ("LED-0.1-0.3", "0.1–0.3"), ("TIME-ALL", "all")],
)
def test_slices_in_words(name: str, words: str) -> None:
    assert slice_words(name) == words


def test_the_figure_holds_the_table_and_says_n() -> None:
    scores = caches.scores(NEWS, "rules", caches.as_read(NEWS))
    names = {"period": "slice", "POS": "n", "precision": "P", "recall": "R", "f1": "F1"}
    table = decade_table(scores, "strict").rename(columns=names)
    figure = slice_points(table, "<i>title</i>", "decade", "; 20 documents")
    for trace in figure.data:
        assert list(trace.y) == table[trace.name].tolist() and trace.mode == "markers", "no line joins slices"
    labels = [f"{label}<br>n={n}" for label, n in zip(table["slice"], table["n"], strict=True)]
    assert list(figure.layout.xaxis.ticktext) == labels
    assert "&lt;i&gt;" in figure.layout.title.text and figure.layout.yaxis.title.text == "P, R, F1"


@pytest.mark.parametrize(
    ("noise", "expected"),
    [
        (0, "0.0-0.0"),
        (0.0005, "in no level"),
        (0.001, "0.001-0.1"),
        (0.1, "0.1-0.3"),
        (0.3, "0.3-1.1"),
        (1.0, "0.3-1.1"),
        (1.1, "in no level"),
        (-1, "in no level"),
        (10**400, "none given"),
        (True, "none given"),
        ("0.1", "none given"),
        (None, "none given"),
    ],
)
def test_the_noise_of_a_span(noise: object, expected: str) -> None:
    spans = [{"start": 0, "end": 4, "label": "loc", "meta": {"LED": noise}}, {"start": 1, "end": 3, "label": "loc"}]
    text = json.dumps({"id": "a", "text": "Rome", "spans": spans})
    layer = read(Source.of_uploads([("a.jsonl", text.encode())]), format="jsonl").layer
    assert [NOISE[code] for code in span_noise(layer)] == [expected, "none given"]


@needs("hipe2022")
@pytest.mark.parametrize("language", ["de", "en", "fr"])
def test_levels_hold_the_gold_spans_that_the_scorer_counts_there(language: str) -> None:
    path = SHARED / f"hipe2022/gold/HIPE-2022-v2.1-ajmc-test-{language}.tsv"
    table = hipe_slice_table(scored("hipe-2022", path, path, noise_level=list(LEVELS)))
    table = table[((table["schema"] == "strict") & (table["level"] != "LED-ALL")).to_numpy()]
    found = Counter(NOISE[code] for code in span_noise(read(Source.of_path(path), format="hipe").layer))
    # The scorer keeps tokens of unknown noise in every level.
    expected = {f"LED-{level}": found[level] + found["none given"] for level in LEVELS}
    assert dict(zip(table["level"], table["gold"], strict=True)) == expected and found["0.0-0.0"] > 100


def test_decades_without_data_are_gaps_and_every_system_has_intervals() -> None:
    """A line was drawn from the 1840s to the 1880s, and decades of 13 to 57 spans had no interval."""
    line = '{{"id": "{0}-{1}", "text": "Rome or Bonn", "spans": [{2}], "meta": {{"date": "{0}"}}}}\n'
    places = ((0, 4), (8, 12), (5, 7))
    rome, bonn, word = ('{{"start": {}, "end": {}, "label": "loc"}}'.format(*place) for place in places)
    years = (1790, 1801, 1840, 1890)
    gold = "".join(line.format(year, number, f"{rome}, {bonn}") for year in years for number in range(12))
    system = "".join(
        line.format(year, number, (rome, bonn, "", word)[number % 4]) for year in years for number in range(12)
    )
    loaded = loaded_of(gold, system, "a.jsonl")
    app = opened("Slices", View(corpus=loaded.corpus.digest, system="system", slices_tab="decades"))
    (chart,) = (chart for chart in app.get("plotly_chart") if "table_slice_systems" in chart.proto.id)
    figure = json.loads(chart.proto.spec)
    assert (
        figure["layout"]["yaxis"]["ticktext"]
        == [
            *(
                "1790s (n=24)",
                "1800s (n=24)",
                "1810s to 1830s: none",
                "1840s (n=24)",
                "1850s to 1880s: none",
                "1890s (n=24)",
            ),
        ]
        or "(n=" not in figure["layout"]["yaxis"]["ticktext"][0]
    )
    (dots,) = (trace for trace in figure["data"] if trace["mode"] == "markers")
    assert [data[1] for data in dots["customdata"]] == ["1790s", "1800s", "1840s", "1890s"]
    assert all(width > 0 for width in dots["error_x"]["array"])
    # Across the rows a grid tells the values; rows whose marks have no intervals stand closer.
    assert figure["layout"]["xaxis"]["showgrid"]
    lines = (gold.splitlines()[::2], system.splitlines()[::2])
    few = loaded_of(*("\n".join(side) for side in lines), "few.jsonl")
    app = opened("Slices", View(corpus=few.corpus.digest, system="system", slices_tab="decades"))
    (chart,) = (chart for chart in app.get("plotly_chart") if "table_slice_systems" in chart.proto.id)
    lower = json.loads(chart.proto.spec)
    assert len(lower["layout"]["yaxis"]["ticktext"]) == len(figure["layout"]["yaxis"]["ticktext"])
    assert lower["layout"]["height"] < figure["layout"]["height"]


def test_a_system_in_a_slice_opens_its_errors_there() -> None:
    view = replace(DECADES, overview_tab="by-slice")
    key = table_key("table_slice_systems", view, "period", ("perceptron", "rules"))
    # Its gold spans are so few that the slice is marked.
    app = opened("Slices", DECADES, **{key: {"selection": {"points": [{"customdata": ["perceptron", "1840s, few"]}]}}})
    (chart,) = (chart for chart in app.get("plotly_chart") if "table_slice_systems" in chart.proto.id)
    labels = json.loads(chart.proto.spec)["layout"]["yaxis"]["ticktext"]
    few = [label for label in labels if ", few (n=" in label]
    assert few and all(int(label.split("n=")[1].rstrip(")")) < 20 for label in few)
    assert all(", few" in label for label in labels if "n=" in label and int(label.split("n=")[1].rstrip(")")) < 20)
    assert any(caption.value.startswith("Few") for caption in app.caption)
    scores = score_layers(NEWS.corpus.gold, NEWS.corpus.system("perceptron"))
    of_decade = counts_by_decade(scores, "strict")["1840s"]
    number = sum(of_decade.gold[1:4])
    assert f"Gold spans of 1840s that perceptron misses or gets wrong: {number} record" in headings(app)
