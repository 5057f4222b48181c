"""The report: what is in it, what its numbers lead to, that it is the same on every run, small, and inert."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nereval_core as nereval
from nereval_core.analysis.comparison import compare_scores
from nereval_core.api.report import page, scored
from nereval_core.cli import main
from nereval_core.cli.verbs.report import record_selection, verdicts_and_playlist
from nereval_core.corpus.masking import masked_text
from nereval_core.html_report.figures import script
from nereval_core.html_report.page import (
    Count,
    FigureData,
    Lines,
    Paragraph,
    RecordCard,
    RecordGroup,
    RecordIndex,
    Report,
    ReportTable,
    Section,
    rendered,
)
from nereval_core.html_report.records import MOST, RecordSelection, ScoredSystems
from nereval_core.html_report.sections import report
from nereval_core.ledger import Ledger
from nereval_core.problems import FormatError
from nereval_core.records.queries import Query
from nereval_core.records.tables import records
from nereval_core.review.playlists import Shown as Displayed
from nereval_core.review.playlists import Starred
from nereval_core.review.playlists.store import PlaylistStore
from nereval_core.review.store import ReviewStore
from nereval_core.review.verdicts import Draft, Marked, Verdict
from nereval_core.review.verdicts_on_records import verdict_subject
from nereval_core.scoring import Settings
from nereval_core.scoring.criteria import CRITERIA, SCHEMAS
from nereval_core.tables.glossary import DECISIONS, ERROR_CLASSES, GLOSSARY
from pages.shared.data.loading import load_demo
from tests.support import ROOT

DEMO = load_demo("biology").corpus
SETTINGS = Settings(tuple(CRITERIA[name] for name in SCHEMAS))
LIMIT, EACH_RECORD = 6_000_000, 2_000


@pytest.fixture(scope="module")
def found() -> ScoredSystems:
    return scored(DEMO, {}, SETTINGS)


@pytest.fixture(scope="module")
def whole(found: ScoredSystems) -> Report:
    """A report with every error in it."""
    return report(found, title="Biology", command="nereval report", selection=RecordSelection(each=1_000))


def counts_of(one: Report) -> list[Count]:
    """Return all numbers of a report that lead somewhere."""
    parts = [part for section in one.sections for part in section.parts]
    cells = [cell for part in parts if isinstance(part, ReportTable) for row in part.rows for cell in row]
    cells += [part for words in parts if isinstance(words, Paragraph) for part in words.parts]
    return [cell for cell in cells if isinstance(cell, Count) and cell.required]


def test_sections_stand_in_their_order(whole: Report) -> None:
    names = ["overview", "systems", "confusion", "errors", "types", "records", "glossary", "reproduce"]
    assert [section.name for section in whole.sections] == names
    words = rendered(whole, "")
    assert all(GLOSSARY[code].sentence.split(".")[0] in words for code in (*DECISIONS, *ERROR_CLASSES))
    assert whole.signature in words.replace("&#39;", "'")
    assert all(CRITERIA[name].sentence.split(".")[0] in words for name in SCHEMAS)


def test_systems_are_ranked_with_the_intervals_and_tests_of_compare(whole: Report, found: ScoredSystems) -> None:
    comparison = compare_scores(found.scores, names=found.names)
    (sentences, figure, table, pairs, signatures) = whole.sections[1].parts
    assert isinstance(sentences, Paragraph) and isinstance(figure, FigureData)
    best = comparison.intervals.sort_values("f1").query("criterion == 'strict'").iloc[-1]
    assert f"Under strict {best['system']} has the highest F1, {best['f1']:.3f}" in str(sentences.parts[0])
    assert "a bracket joins" in figure.unit and figure.title == f"F1 of {len(DEMO.systems)} systems under strict"
    assert isinstance(table, ReportTable) and isinstance(pairs, ReportTable)
    cells = {row[0]: row[1] for row in table.rows}
    for row in comparison.intervals.query("criterion == 'strict'").itertuples():
        assert str(cells[row.system]).startswith(f"{row.f1:.3f} [{row.f1_low:.3f}, {row.f1_high:.3f}]")
    assert isinstance(signatures, Lines)
    assert {line for lines in comparison.signatures.values() for line in lines.values()} >= {
        line.partition(": ")[2] for line in signatures.lines
    } or len(signatures.lines) == len(DEMO.systems)


def test_a_lone_system_has_intervals_and_no_rank() -> None:
    lone = report(scored(replace(DEMO, systems=DEMO.systems[:1]), {}, SETTINGS), title="", command="")
    assert (lone.sections[1].name, lone.sections[1].title) == ("systems", "Intervals")
    table, _ = lone.sections[1].parts
    assert isinstance(table, ReportTable) and [str(row[0]) for row in table.rows] == list(SCHEMAS)


FOREIGN = re.compile(r"\b(gold|predict\w*|missed|spurious|systems?)\b", re.IGNORECASE)


@pytest.mark.parametrize("n_systems", [1, 2])
def test_layers_that_are_none_of_gold_and_systems_keep_their_names(n_systems: int) -> None:
    systems = tuple(layer.renamed(name) for layer, name in zip(DEMO.systems, ("ben", "cleo"), strict=False))[:n_systems]
    layers = replace(scored(replace(DEMO, systems=systems), {}, SETTINGS), reference="anna", annotators=True)
    text = rendered(report(layers, title="", command=""), "")
    body = text.partition("<main")[2].partition('<section id="reproduce"')[0]
    # What a criterion asks, and signatures, are the same for any two layers.
    said = re.sub(r"<dt>criterion .*?</dd>|<pre.*?</pre>", "", body, flags=re.DOTALL)
    words = re.sub(r"<[^>]+>", " ", re.sub(r"(?s)<script.*?</script>", "", said))
    assert {match[0] for match in FOREIGN.finditer(words)} == set()
    assert "only anna" in words and "spans of anna" in words and "no prediction" not in words
    (heads, *_) = (part for part in report(layers, title="", command="").sections[-3].parts[1:])
    assert isinstance(heads, RecordGroup) and not FOREIGN.search(heads.records[0].head)


def test_scores_of_predictions_are_calibrated() -> None:
    system = DEMO.systems[0]
    system = replace(system, scores={span: span % 11 / 10 for span in range(len(system))})
    corpus = replace(DEMO, systems=(system, *DEMO.systems[1:]))
    one = report(scored(corpus, {}, SETTINGS), title="", command="")
    assert [section.name for section in one.sections][4:7] == ["types", "calibration", "records"]
    paragraph, *parts = one.sections[5].parts
    assert isinstance(paragraph, Paragraph)
    (said,) = paragraph.parts
    for word in ("Expected calibration error in bins of equal mass", "Brier score", "(95% ", "Area under", "threshold"):
        assert word in str(said)
    figures = [part for part in parts if isinstance(part, FigureData)]
    assert [figure.title.partition(" of ")[0] for figure in figures] == ["Precision", "Precision", "Risk"]
    assert all("<" not in figure.unit for figure in figures)
    tables = [part for part in parts if isinstance(part, ReportTable)]
    assert [sum(int(str(row[-1])) for row in table.rows) for table in tables] == [len(system)] * 2
    assert isinstance(parts[-1], Lines) and len(parts[-1].lines) == 1


def test_with_every_error_in_it_numbers_lead_to_exactly_their_records(whole: Report) -> None:
    """Correct records are in no such report: counts of these, under another criterion, find those that are not."""
    shown = RecordIndex.of_report(whole)
    exact = 0
    for count in counts_of(whole):
        correct = any(code in " ".join(count.required) for code in ("COR",)) or not any(
            re.match(r"c|k", one) for one in count.required
        )
        assert len(shown.of(count)) <= count.number, count
        if not correct and not any(one.startswith("c") and not one.startswith("c0") for one in count.required):
            assert len(shown.of(count)) == count.number, count
            exact += 1
    assert exact > 50


def test_marks_are_what_the_records_are(found: ScoredSystems, whole: Report) -> None:
    groups = [part for part in whole.sections[5].parts if isinstance(part, RecordGroup)]
    shown = [record for group in groups for record in group.records]
    errors = sum(int((records(scores, "strict")["decision"] != "COR").sum()) for scores in found.scores.values())
    assert len(shown) == errors
    for number, name in enumerate(SCHEMAS):
        for place, (system, scores) in enumerate(found.scores.items()):
            rows = records(scores, name)
            for code in ("INC", "PAR", "MIS", "SPU"):
                told = int((rows["decision"] == code).sum())
                there = sum({f"s{place}", f"c{number}{code}"} <= one.marks for one in shown)
                assert there <= told
                assert there == told or name != "strict", (system, name, code)


def test_by_default_the_first_of_each_class(found: ScoredSystems) -> None:
    short = report(found, title="", command="")
    groups = [part for part in short.sections[5].parts if isinstance(part, RecordGroup)]
    assert {len(group.records) for group in groups} <= set(range(1, 11))
    assert any("the first 10 of" in group.title for group in groups)
    assert any(group.title.endswith(", 1 record") for group in groups) or len(groups) > 4


def test_a_query_chooses_records(found: ScoredSystems) -> None:
    asked = RecordSelection(query=Query(decision=("MIS",), gold=("DNA",)), system="rules", most=3)
    (group,) = (part for part in report(found, title="", command="", selection=asked).sections[5].parts[1:])
    assert isinstance(group, RecordGroup) and group.title == "rules, the first 3 of 5 records"
    assert all("missed (MIS): gold DNA" in record.head for record in group.records)


def test_more_can_be_told_of_a_record(found: ScoredSystems) -> None:
    def told(ledger: Ledger, position: int) -> list[tuple[str, str]]:
        row = ledger.frame(np.array([position])).iloc[0]
        return [("verdict", f"gold is right <b>{row['record']}</b>, by Ann")]

    made = rendered(report(found, title="", command="", selection=RecordSelection(each=1), notes_on=told), "")
    assert re.search(r'<p class="line"><b>verdict</b> <bdi>gold is right &lt;b&gt;[gp]:\d+-\d+:', made)


@pytest.mark.parametrize("first", ["type", "partial", "muc", "fragment", "lenient"])
def test_any_criterion_may_be_the_main_one(first: str) -> None:
    made = scored(DEMO, {}, Settings((CRITERIA[first],)))
    assert made.names == (first,)
    for chosen in (RecordSelection(), RecordSelection(query=Query(decision=("MIS", "SPU")))):
        whole = report(made, title="", command="", selection=chosen)
        shown = RecordIndex.of_report(whole)
        assert f"criterion {first}" in whole.signature
        assert all(len(shown.of(count)) <= count.number for count in counts_of(whole))


def test_the_same_bytes_on_every_run(found: ScoredSystems) -> None:
    again = scored(load_demo("biology").corpus, {}, SETTINGS)
    assert page(found).encode() == page(again).encode()
    systems = ", ".join(layer.name for layer in DEMO.systems)
    assert f"<title>{systems} against {DEMO.name}</title>" in page(found)


def test_it_is_small(whole: Report) -> None:
    """Plotly's script stands in it once."""
    made = rendered(whole, script())
    shown = len(RecordIndex.of_report(whole).records)
    assert shown > 250
    assert len(made.encode()) < LIMIT + EACH_RECORD * shown
    articles = re.findall("<article.*?</article>", made, re.DOTALL)
    assert len(articles) == shown and sum(map(len, map(str.encode, articles))) < EACH_RECORD * shown
    assert made.count(script()[:200]) == 1
    ids = re.findall(r'<div class="plot" id="([^"]+)"', made)
    assert len(set(ids)) == len(ids) == len(DEMO.systems) + 3


def test_scripts_run_by_their_hashes_alone(whole: Report) -> None:
    made = rendered(whole, script())
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]+)"', made)
    policy = policy.replace("&#39;", "'")
    run = re.findall(r"<script>(.*?)</script>", made, re.DOTALL)
    hashes = [f"'sha256-{base64.b64encode(hashlib.sha256(one.encode()).digest()).decode()}'" for one in run]
    assert len(run) == 2 and f"script-src {' '.join(hashes)};" in policy
    assert policy.startswith("default-src 'none'; ") and "unsafe-eval" not in policy
    assert not re.search(r"""(src|href)=["']?(https?:)?//""", made.replace(script(), ""))


class Outline(HTMLParser):
    """The headings, landmarks, and ids of a page, and whether its tables say what their headers are of."""

    def __init__(self) -> None:
        super().__init__()
        self.levels: list[int] = []
        self.tags: list[str] = []
        self.ids: list[str] = []
        self.targets: list[str] = []
        self.scopes: list[str | None] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.tags.append(tag)
        if re.fullmatch("h[1-6]", tag):
            self.levels.append(int(tag[1]))
        if tag == "th":
            self.scopes.append(found.get("scope"))
        if "id" in found:
            self.ids.append(str(found["id"]))
        self.targets += [str(found[key]) for key in ("aria-labelledby",) if key in found]
        if tag == "a":
            self.targets.append(str(found["href"]).removeprefix("#"))


def test_it_can_be_read_aloud(whole: Report) -> None:
    outline = Outline()
    outline.feed(rendered(whole, ""))
    assert {"header", "nav", "main", "footer", "section", "article", "figure", "figcaption"} <= set(outline.tags)
    assert outline.tags.count("h1") == outline.tags.count("main") == 1
    assert all(deeper <= level + 1 for level, deeper in zip(outline.levels, outline.levels[1:], strict=False))
    assert len(set(outline.ids)) == len(outline.ids)
    assert set(outline.targets) <= set(outline.ids)
    assert set(outline.scopes) == {"col", "row"}


def test_masked() -> None:
    made = page(scored(DEMO, {}, SETTINGS, mask=True))
    words = {word for text in DEMO.documents.texts for word in re.findall(r"[^\W\d_]{6,}", text)}
    shown = re.sub("<[^>]*>", " ", "".join(re.findall(r"<article.*?</article>", made, re.DOTALL)))
    used = {"predicted", "document", "incorrect", "prediction", "overlaps", "spurious", "missed", "characters"}
    used |= {"perceptron", "annotator", "earlier", "rules", "aligned", "elsewhere", "protein", "another", "different"}
    found = words.intersection(re.findall(r"[^\W\d_]{6,}", shown)) - used
    assert not found
    assert masked_text("Transcripts") in shown
    assert "Texts are masked" in made and "text masked, read as gold sha256:" in made


QUERIES: list[tuple[str, Any]] = [
    ("25", RecordSelection(each=25)),
    ("decision=MIS,SPU", RecordSelection(query=Query(decision=("MIS", "SPU")))),
    (
        "gold=DNA&pred=-&doc=bio-07",
        RecordSelection(query=Query(decision=("INC", "PAR", "MIS", "SPU"), gold=("DNA",), pred=("",), doc="bio-07")),
    ),
    (
        "type=DNA&text=p53+gene&period=1790s&has=class=type+only",
        RecordSelection(
            query=Query(
                decision=("INC", "PAR", "MIS", "SPU"),
                types=("DNA",),
                text="p53 gene",
                period="1790s",
                having=(("class", "type only"),),
            )
        ),
    ),
]
WRONG = [
    ("decision=WRONG", "no decision 'WRONG'"),
    ("colour=red", "no parameter 'colour'"),
    ("gold=", "'gold'=''"),
    ("all", "no parameter 'all'"),
    ("99999999", "'99999999' is not possible"),
]


@pytest.mark.parametrize(("text", "chosen"), QUERIES, ids=[text for text, _ in QUERIES])
def test_records_are_asked_for(text: str, chosen: RecordSelection) -> None:
    assert record_selection(text) == chosen
    assert chosen.most == MOST


@pytest.mark.parametrize(("text", "said"), WRONG, ids=[text for text, _ in WRONG])
def test_records_that_cannot_be_asked_for(text: str, said: str) -> None:
    with pytest.raises(FormatError, match=re.escape(said)):
        record_selection(text)


HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\u202e\0javascript:alert(1)"


def hostile(folder: Path) -> tuple[Path, Path]:
    """Write gold and a prediction whose every text, id, type and metadata is hostile."""
    text = f"Aspirin {HOSTILE} helps {HOSTILE}"
    rows = []
    for label in (HOSTILE, "Drug]]>"):
        spans = [
            {"start": 0, "end": 7, "label": label, "links": [HOSTILE]},
            {"start": 8, "end": 8 + len(HOSTILE), "label": label},
        ]
        rows.append({"id": f"d {HOSTILE}", "text": text, "spans": spans, "meta": {"source": HOSTILE}})
    paths = folder / "gold.jsonl", folder / "pred.jsonl"
    for path, row in zip(paths, rows, strict=True):
        path.write_text(json.dumps(row) + "\n", encoding="utf-8")
    return paths


def test_hostile_text_stands_as_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gold, pred = hostile(tmp_path)
    monkeypatch.chdir(tmp_path)
    options = ["--title", HOSTILE.replace("\0", ""), "--out", "report.html", "-q"]
    assert main(["report", str(gold), f"x</script>={pred}", *options]) == 0
    made = Path("report.html").read_text(encoding="utf-8").replace(script(), "")
    assert made.count("<script>") == made.count("</script>") - made.count("<script type=") == 2
    assert (
        "<img" not in made
        and "\0" not in made
        and "\u202e" not in re.sub("<article.*?</article>", "", made, flags=re.DOTALL)
    )
    assert not re.search(r'(href|src)="(?!#)', made)


def test_a_lone_surrogate_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    gold = tmp_path / "gold.jsonl"
    gold.write_text('{"id": "a", "text": "\\ud800 Aspirin", "spans": []}\n')
    assert main(["report", str(gold), str(gold), "--out", str(tmp_path / "report.html")]) == 2
    assert "gold.jsonl:1: " in capsys.readouterr().err and not (tmp_path / "report.html").exists()


def test_the_command_makes_it_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    files = [f"demo_data/biology/{name}.jsonl" for name in ("gold", "rules", "perceptron")]
    given = ["report", *files, "--criteria", "type,strict", "--merge", "DNA,RNA=nucleic acid", "--mask", "--quiet"]
    given += ["--records", "decision=INC&gold=nucleic acid", "--title", "Two 'systems'"]
    places = [tmp_path / name for name in ("a.html", "b.html")]
    assert main([*given, "--out", str(places[0])]) == 0
    (block,) = re.findall(r"<code>nereval (report .*?)</code>", places[0].read_text(encoding="utf-8"))
    import html
    import shlex

    again = shlex.split(html.unescape(block))
    assert again[-2:] == ["--out", "report.html"]
    assert main([*again[:-1], str(places[1]), "-q"]) == 0
    assert places[0].read_bytes() == places[1].read_bytes()


USAGE = [
    (["--out", "r.html", "--playlist", "x"], "--playlist: name its file"),
    ([], "--out: name the file of the report"),
    (["--out", "demo_data/biology/gold.jsonl"], "would overwrite an input"),
]


@pytest.mark.parametrize(("options", "said"), USAGE)
def test_wrong_usage_is_told(
    options: list[str], said: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.delenv("NEREVAL_REVIEW_URL")
    assert main(["report", "demo_data/biology/gold.jsonl", "demo_data/biology/rules.jsonl", *options]) == 2
    assert said in capsys.readouterr().err


def test_the_verb_of_the_library() -> None:
    gold, rules = ("demo_data/biology/gold.jsonl", "demo_data/biology/rules.jsonl")
    root = ROOT
    made = nereval.report_of(str(root / gold), {"rules": str(root / rules)}, criteria="strict", title="R", records=2)
    assert "<title>R</title>" in made and made.count("<article") > 5
    with pytest.raises(FormatError, match="no texts"):
        nereval.report_of([[(0, 3, "A")]], {"x": [[(0, 3, "A")]]})
    with pytest.raises(FormatError, match="no system"):
        nereval.report_of(str(root / gold), {})
    tiny = nereval.report_of([[(0, 3, "A")]], {"x": [[(0, 2, "A")]]}, texts=["abc"])
    assert tiny.count("<article") == 1


@pytest.mark.parametrize("spans", [[[], []], [[(0, 1, "A")], []]], ids=["no spans", "no predictions"])
def test_little_to_tell(spans: list[list[tuple[int, int, str]]]) -> None:
    made = nereval.report_of(spans, {"x": [[], []]}, texts=["a", ""])
    assert "–" in made and made.count("<article") == sum(map(len, spans))


def test_equal_records_are_told_apart() -> None:
    """Two records that say the same are two."""
    same = RecordCard("head", (), rendered.__class__ and "", frozenset({"s0"}))  # type: ignore[arg-type]
    one = Report("t", (), "", (Section("records", "Records", (RecordGroup("g", (same, replace(same))),)),))
    assert RecordIndex.of_report(one).of(Count(2, ("s0",))) == [1, 2]


@pytest.fixture
def reviewed(tmp_path: Path, found: ScoredSystems) -> Path:
    """A file with verdicts on the first missed gold span of `rules`, and on the first incorrect pair."""
    path = tmp_path / "review.sqlite"
    own = found.ledger("rules", "strict")
    store = ReviewStore(path)
    for code, kind, right, note in (
        ("MIS", "neither", (Marked(((0, 5),), "protein"),), "Transcripts <i>may</i> be " + "long " * 400),
        ("INC", "pred", (), ""),
    ):
        key, partner, seen = verdict_subject(own.about, int(own.positions(Query(decision=(code,)))[0]))
        store.give([Draft(Verdict(key, kind, seen, partner, right, note))], "Ann & co")
    store.close()
    return path


def test_verdicts_stand_with_their_records(tmp_path: Path, reviewed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = ROOT / "demo_data" / "biology"
    files = [str(root / f"{name}.jsonl") for name in ("gold", "rules")]
    place = tmp_path / "report.html"
    assert main(["report", *files, "--review", str(reviewed), "--out", str(place), "-q"]) == 0
    made = place.read_text(encoding="utf-8")
    lines = re.findall(r'<p class="line"><b>(\w+)</b> <bdi>(.*?)</bdi>', made)
    assert [name for name, _ in lines].count("verdict") == 2
    assert re.search(r'data-asked="v" data-all="2" [^>]*>2</a> of these records have a verdict\.', made)
    assert any(re.fullmatch(r"prediction is right, by Ann &amp; co, 20\d\d-\d\d-\d\d", line) for _, line in lines)
    assert any("neither is right; right is “" in line and "protein at 0–5" in line for _, line in lines)
    (note,) = (line for name, line in lines if name == "note")
    assert note.startswith("Transcripts &lt;i&gt;may&lt;/i&gt; be long") and len(note) < 700 and note.endswith("…")
    assert main(["report", *files, "--review", str(reviewed), "--mask", "--out", str(place), "-q"]) == 0
    masked_page = place.read_text(encoding="utf-8")
    assert "a verdict. Texts are masked, and so are the notes and old quotes of verdicts." in masked_page
    masked_lines = re.findall(r'<p class="line"><b>note</b> <bdi>(.*?)</bdi>', masked_page)
    assert masked_lines[0].startswith("Xxxxxxxxxxx &lt;x&gt;xxx&lt;/x&gt; xx xxxx")
    monkeypatch.setenv("NEREVAL_REVIEW_URL", f"sqlite:///{reviewed}")
    assert main(["report", *files, "--out", str(place), "-q"]) == 0
    assert re.findall(r'<p class="line"><b>(\w+)</b> <bdi>(.*?)</bdi>', place.read_text(encoding="utf-8")) == lines
    monkeypatch.delenv("NEREVAL_REVIEW_URL")
    assert main(["report", *files, "--out", str(place), "-q"]) == 0
    assert "a verdict" not in place.read_text(encoding="utf-8")


def test_a_store_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = ROOT / "demo_data" / "biology"
    files = [str(root / f"{name}.jsonl") for name in ("gold", "rules")]
    assert main(["report", *files, "--review", "nowhere.sqlite", "--out", str(tmp_path / "r.html"), "-q"]) == 2
    assert "nowhere.sqlite: there is no such file" in capsys.readouterr().err


def test_records_of_a_playlist(tmp_path: Path, found: ScoredSystems) -> None:
    """In its order, with its comments; over masked texts without."""
    own = found.ledger("rules", "strict")
    places = own.positions(Query(decision=("MIS",)))[[3, 0]].tolist()
    names = own.frame(np.array(places))["record"].tolist()
    path = tmp_path / "review.sqlite"
    review = ReviewStore(path)
    store = PlaylistStore(review)
    uid = store.make("For <Monday>", "Ann")
    for system in ("rules", "nobody"):
        starred = []
        for place, name in zip(places, names, strict=True):
            key, _, seen = verdict_subject(own.about, place)
            starred.append(Starred(key, seen, Displayed("", system, "strict", seen.document, name)))
        store.star(uid, starred, "Ann")
    playlist = store.playlists().standing[0]
    store.comment(uid, playlist.items[0], "look <here>", "Ann")
    review.close()
    root = ROOT / "demo_data" / "biology"
    given = ["report", *(str(root / f"{name}.jsonl") for name in ("gold", "rules")), "-q", "--review", str(path)]
    place = tmp_path / "report.html"
    assert main([*given, "--playlist", "For <Monday>", "--out", str(place)]) == 0
    made = place.read_text(encoding="utf-8")
    articles = re.findall("<article.*?</article>", made, re.DOTALL)
    assert len(articles) == 2 and all(name in article for name, article in zip(names, articles, strict=True))
    assert "<b>comment</b> <bdi>look &lt;here&gt;</bdi>" in articles[0]
    assert "The records on the playlist For &lt;Monday&gt;, under strict: 2 records." in made
    assert "Not shown: 2 records of the playlist, of other systems or without text or span here." in made
    assert main([*given, "--playlist", "For <Monday>", "--mask", "--out", str(place)]) == 0
    made = place.read_text(encoding="utf-8")
    assert "<b>comment</b>" not in made and "comments, which may quote them, are left out." in made
    with pytest.raises(FormatError, match="no playlist 'Tuesday'; choose among those there are: 'For <Monday>'"):
        verdicts_and_playlist(str(path), "Tuesday")
