"""The CLEF-HIPE scorers: the rules and their reasons, counts and records, slices, layers and bad input."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nereval_core import readers
from nereval_core.analysis.slices.decades_and_noise import (
    HIPE_SLICE_COLUMNS,
    hipe_decades,
    hipe_ranges,
    hipe_slice_table,
)
from nereval_core.conventions import Outcome, find_convention
from nereval_core.problems import FormatError
from nereval_core.readers import Source
from tests.support.hipe_scored import layers_and_files, scored
from tests.support.shared_corpora import SHARED, needs

HEADER = "TOKEN\tNE-COARSE-LIT\tNE-COARSE-METO\tNE-FINE-LIT\tNE-NESTED\tNEL-LIT\tNEL-METO\tMISC"


def write(folder: Path, name: str, *documents: str, header: str = HEADER, year: int = 2022) -> Path:
    """Write documents given as rows of TOKEN/NE-COARSE-LIT[/NEL-LIT[/MISC]] separated by blanks, with ids and dates."""
    prefix = "# hipe2022:" if year == 2022 else "# "
    lines = [header]
    for number, document in enumerate(documents):
        lines += [f"{prefix}document_id = d{number}", f"{prefix}date = {1800 + 10 * number}-01-02"]
        for row in document.split():
            token, tag, link, misc = [*row.split("/"), "_", "_"][:4]
            lines.append(f"{token}\t{tag}\tO\t{tag}\tO\t{link}\t_\t{misc}")
    path = folder / name
    path.write_text("\n".join(lines) + "\n")
    return path


def overall(outcome: Outcome, schema: str, path: str = "NE-COARSE-LIT/TIME-ALL/LED-ALL") -> Any:
    records = outcome.records(f"{path}/{schema}")
    return records[records["scope"] == "overall"]


STRICT = {
    # gold, prediction -> decisions and the beginning of each reason, predictions first
    "identical": ("a/B-x b/I-x c/O", "a/B-x b/I-x c/O", [("COR", "the same tokens, text and label")]),
    "other label": ("a/B-x b/B-y", "a/B-y b/B-y", [("INC", "the same tokens, another label"), ("COR", "the same")]),
    "text": ("a/B-x b/O", "A/B-x b/O", [("INC", "the same tokens and label, but the text of the tokens differs")]),
    "first of several": (
        "a/B-x b/B-y",
        "a/B-x b/I-x",
        [
            ("INC", "the first of several overlapping gold spans was taken"),
            ("MIS", "the overlapping predictions were m"),
        ],
    ),
    "next": (
        "a/B-x b/I-x c/B-x",
        "a/B-x b/B-x c/I-x",
        [("INC", "it overlaps the gold span, the labels agree"), ("INC", "an earlier prediction had used the first")],
    ),
    "used up": (
        "a/B-x b/I-x",
        "a/B-x b/B-x",
        [("INC", "it overlaps the gold span"), ("SPU", "an earlier prediction had used the overlapping gold span up")],
    ),
    "alone": ("a/O b/B-x", "a/B-x b/O", [("SPU", "no gold span overlaps it"), ("MIS", "no prediction overlaps it")]),
    "left out": (
        "a/B-x b/O",
        "a/B-w b/O",
        [("MIS", "the overlapping predictions were left out"), ("IGN", "the label is neither in gold nor in the tag")],
    ),
    "cut label": (
        "a/B-x-y b/O",
        "a/B-x-y b/O",
        [("IGN", "a label with - or |"), ("IGN", "a label with - or | is not in the scorer's tag set")],
    ),
}


@pytest.mark.parametrize("case", STRICT)
def test_records_say_the_rule_that_decided(case: str, tmp_path: Path) -> None:
    gold, pred, decided = STRICT[case]
    outcome = scored("hipe-2022", write(tmp_path, "g.tsv", gold), write(tmp_path, "p.tsv", pred))
    records = overall(outcome, "strict")
    assert len(records) == len(decided)
    for decision, why, (expected, begins) in zip(records["decision"], records["why"], decided, strict=True):
        assert (decision, why[: len(begins)]) == (expected, begins)


def test_the_first_version_loses_an_entity_over_a_whole_document_and_compares_no_text(tmp_path: Path) -> None:
    gold = write(tmp_path, "g.tsv", "a/B-x b/I-x", "a/O b/B-x", year=2020)
    pred = write(tmp_path, "p.tsv", "a/B-x b/I-x", "a/O B/B-x", year=2020)
    june, july = (scored(name, gold, pred) for name in ("hipe-2020", "hipe-2020-july"))
    records = overall(june, "strict", "NE-COARSE-LIT")
    assert list(records["decision"]) == ["COR", "IGN", "IGN"]
    assert set(records["why"][1:]) == {"it covers a whole document, where this version of the scorer loses it"}
    assert list(overall(july, "strict")["decision"]) == ["COR", "INC"]


def test_records_point_into_the_documents_of_the_reader(tmp_path: Path) -> None:
    gold = write(tmp_path, "g.tsv", "The/O/_/_ old/B-loc/Q1/NoSpaceAfter Rome/I-loc/Q1/EndOfLine", "in/O Bern/B-loc")
    outcome = scored("hipe-2022", gold, gold)
    layer = readers.read(gold).layer
    assert outcome.documents.digest == layer.documents.digest
    records = overall(outcome, "partial")
    assert list(records["gold_text"]) == [layer.text(span) for span in range(len(layer))] == ["oldRome", "Bern"]
    assert list(records["record"]) == ["g:4-11:loc", "g:3-7:loc"]
    assert list(records["document"]) == ["d0", "d1"]
    assert set(outcome.scores["NE-COARSE-LIT"]["TIME-ALL"]["LED-ALL"]) == {"LOC", "ALL"}


def test_a_ranked_list_that_begins_with_an_unknown_link_is_spurious_under_every_label(tmp_path: Path) -> None:
    gold = write(tmp_path, "g.tsv", "a/B-x/Q1 b/O/_ c/B-x/Q2")
    pred = write(tmp_path, "p.tsv", "a/O/_ b/B-x/_|Q2 c/B-x/Q9|Q2")
    outcome = scored("hipe-2022", gold, pred, task="nel", n_best="1,3")
    labels = outcome.scores["3"]["NEL-LIT"]["TIME-ALL"]["LED-ALL"]
    assert {label: figures["strict"]["spurious"] for label, figures in labels.items()} == {
        "Q1": 1,
        "Q2": 1,
        "Q9": 1,
        "ALL": 1,
    }
    assert [labels["Q2"]["strict"][name] for name in ("correct", "missed")] == [1, 0]
    records = outcome.records("3/NEL-LIT/TIME-ALL/LED-ALL/strict")
    assert sorted(records.loc[records["spurious"] == 1, "scope"]) == ["Q1", "Q2", "Q9", "overall"]
    assert "a later link of the ranked list is the gold link" in set(records["why"])


SLICED = {"time-period": "1800-1810,1810-1830", "noise-level": "0.0-0.0,0.05-0.5"}


def test_slices_take_tokens_out_before_spans_are_built(tmp_path: Path) -> None:
    rows = "a/B-x/_/LED0.0 b/I-x/_/LED0.1 c/B-x/_/LED0.0"
    gold = write(tmp_path, "g.tsv", rows, "a/B-x")
    outcome = scored("hipe-2022", gold, gold, **SLICED)
    sizes = {
        (period, level): labels["ALL"]["strict"]["possible"]
        for period, levels in outcome.scores["NE-COARSE-LIT"].items()
        for level, labels in levels.items()
    }
    assert sizes == {
        ("TIME-ALL", "LED-ALL"): 3,
        ("TIME-1800-1810", "LED-ALL"): 2,
        ("TIME-1810-1830", "LED-ALL"): 1,
        ("TIME-ALL", "LED-0.0-0.0"): 3,
        ("TIME-1800-1810", "LED-0.0-0.0"): 2,
        ("TIME-1810-1830", "LED-0.0-0.0"): 1,
        ("TIME-ALL", "LED-0.05-0.5"): 2,
        ("TIME-1800-1810", "LED-0.05-0.5"): 1,
        ("TIME-1810-1830", "LED-0.05-0.5"): 1,
    }
    records = overall(outcome, "strict", "NE-COARSE-LIT/TIME-1800-1810/LED-ALL")
    assert list(records["why"])[2:] == ["its tokens lie outside the slice: left out"] * 2
    assert list(records["decision"])[2:] == ["IGN", "IGN"]


def random_documents(seed: int) -> tuple[list[str], list[str]]:
    """Return tags, malformed ones too, and predictions near them: entities that nest in, cross and miss one another."""
    random = np.random.default_rng(seed)
    sides: tuple[list[str], list[str]] = ([], [])
    for _ in range(6):
        size = int(random.integers(1, 30))
        gold = [str(random.choice(["O", "B-x", "I-x", "I-x", "B-y", "I-y", "I-y", "E-x", "S-y"])) for _ in range(size)]
        pred = [tag if random.random() < 0.6 else str(random.choice(["O", "I-x", "B-y", "I-y", "B-w"])) for tag in gold]
        for side, tags in zip(sides, (gold, pred), strict=True):
            side.append(
                " ".join(
                    f"t{number}/{tag}/{'Q' + str(number % 3) if tag != 'O' else '_'}" for number, tag in enumerate(tags)
                )
            )
    return sides


@pytest.mark.parametrize(
    "options", [{}, SLICED, {"task": "nel", "n_best": "1,3"}, {"task": "nel", "original_nel": True}], ids=str
)
@pytest.mark.parametrize("seed", range(3))
def test_every_count_is_the_sum_of_its_records(seed: int, options: dict[str, Any], tmp_path: Path) -> None:
    gold, pred = random_documents(seed)
    outcome = scored("hipe-2022", write(tmp_path, "g.tsv", *gold), write(tmp_path, "p.tsv", *pred), **options)
    for evaluation in outcome.evaluations[:: 3 if len(outcome.evaluations) > 8 else 1]:
        figures = outcome.figures
        figures = figures[(figures["evaluation"] == evaluation) & figures["counted"]]
        sums = outcome.records(evaluation).groupby("scope", observed=True).sum(numeric_only=True)
        for scope, figure, value in zip(figures["scope"], figures["figure"], figures["value"], strict=True):
            assert sums.loc[scope, figure] == value, (evaluation, scope, figure)


def reading(tags: list[str]) -> list[tuple[int, int, str]]:
    """Return the entities of tags by a reading token by token: first, last, label."""
    found: list[tuple[int, int, str]] = []
    opened: tuple[int, str] | None = None
    for number, tag in enumerate([*tags, "O"]):
        goes_on = tag != "O" and opened is not None and opened[1] == tag[2:] and tag[0] not in "BS"
        if opened is not None and not goes_on:
            found.append((opened[0], number - 1, opened[1]))
        if not goes_on:
            opened = None if tag == "O" else (number, tag[2:])
    return found


def counted(gold: list[tuple[int, int, str]], pred: list[tuple[int, int, str]]) -> dict[str, int]:
    """Return how often each thing befell, by trying every gold span for every prediction in turn."""
    kinds = {"same": 0, "other": 0, "overlap": 0, "overlap other": 0, "spurious": 0, "missed": 0}
    used: list[tuple[int, int, str]] = []
    for first, last, label in pred:
        if (first, last, label) in gold:
            kinds["same"] += 1
            used.append((first, last, label))
            continue
        for one in gold:
            if one[:2] == (first, last):
                kinds["other"] += 1
            elif one[0] <= last and first <= one[1] and one not in used:
                kinds["overlap" if one[2] == label else "overlap other"] += 1
            else:
                continue
            used.append(one)
            break
        else:
            kinds["spurious"] += 1
    return {**kinds, "missed": sum(one not in used for one in gold)}


@pytest.mark.parametrize("seed", range(25))
def test_counts_are_those_of_a_reading_of_the_rules_span_by_span(seed: int, tmp_path: Path) -> None:
    gold, pred = random_documents(100 + seed)
    outcome = scored("hipe-2022", write(tmp_path, "g.tsv", *gold), write(tmp_path, "p.tsv", *pred))
    kinds: dict[str, int] = {}
    tagged = [[[row.split("/")[1] for row in document.split()] for document in side] for side in (gold, pred)]
    known = {label for document in tagged[0] for *_, label in reading(document)}
    for one, two in zip(*tagged, strict=True):
        spans = [span for span in reading(two) if span[2] in known]
        for kind, count in counted(reading(one), spans).items():
            kinds[kind] = kinds.get(kind, 0) + count
    figures = outcome.scores["NE-COARSE-LIT"]["TIME-ALL"]["LED-ALL"]["ALL"]
    for schema, correct in (("strict", ("same",)), ("exact", ("same", "other")), ("ent_type", ("same", "overlap"))):
        assert figures[schema]["correct"] == sum(kinds[kind] for kind in correct)
    assert figures["partial"]["partial"] == kinds["overlap"] + kinds["overlap other"]
    assert [figures["strict"][name] for name in ("spurious", "missed")] == [kinds["spurious"], kinds["missed"]]
    assert sum(kinds.values()) > 10


OF_LAYERS: list[tuple[str, dict[str, Any]]] = [
    ("hipe-2022", {}),
    ("hipe-2022", {"task": "nerc_fine"}),
    ("hipe-2022", {"task": "nel", "n_best": "1,3,5"}),
    ("hipe-2020-july", {"task": "nel"}),
    ("hipe-2020", {}),
    ("hipe-2022", {"time-period": "1880-1890,1890-1910"}),
]


@needs("hipe2022")
@pytest.mark.parametrize(("name", "options"), OF_LAYERS, ids=str)
def test_layers_give_what_files_give(name: str, options: dict[str, Any]) -> None:
    gold = SHARED / "hipe2022/gold/HIPE-2022-v2.1-ajmc-test-en.tsv"
    # The other file has S- and E-, which the first version reads as they stand.
    team = "team1_bundle4" if name == "hipe-2020" else "team2_bundle1"
    pred = SHARED / f"hipe2022/submissions/{team}_ajmc_en_1.tsv"
    layers, files = layers_and_files(name, gold, pred, options)
    if name == "hipe-2022" and "task" not in options:
        assert layers.gold.sha256 == files.gold.sha256 and layers.documents.digest == files.documents.digest


@pytest.mark.parametrize(
    ("dates", "found"),
    [
        (["1798-01-20", "1801-12-31", "1790", "soon"], ("1790-1800", "1800-1810")),
        ([], ()),
        (["1999-01-01"], ("1990-2000",)),
    ],
)
def test_decades(dates: list[str], found: tuple[str, ...]) -> None:
    assert hipe_decades(dates) == found


def test_slices_are_tabled_by_decade_and_noise_with_their_numbers_of_spans(tmp_path: Path) -> None:
    gold = write(tmp_path, "g.tsv", "a/B-x/_/LED0.0 b/O c/B-x/_/LED0.2", "a/B-x b/O c/O")
    pred = write(tmp_path, "p.tsv", "a/B-x b/O c/B-x", "a/O b/O c/B-x")
    periods = hipe_ranges(Source.of_path(gold)).periods
    assert periods == ("1800-1810", "1810-1820")
    table = hipe_slice_table(scored("hipe-2022", gold, pred, time_period=list(periods), noise_level=["0.0-0.1"]))
    assert dict(table.dtypes) == dict(HIPE_SLICE_COLUMNS)
    strict = table[table["schema"] == "strict"]
    rows = strict[["period", "first_year", "level", "most_noise", "gold", "pred", "f1"]].fillna(-1)
    assert [tuple(row) for row in rows.itertuples(index=False)] == [
        ("TIME-ALL", -1, "LED-ALL", -1, 3, 3, pytest.approx(2 / 3)),
        ("TIME-ALL", -1, "LED-0.0-0.1", 0.1, 2, 2, pytest.approx(1 / 2)),
        ("TIME-1800-1810", 1800, "LED-ALL", -1, 2, 2, 1),
        ("TIME-1800-1810", 1800, "LED-0.0-0.1", 0.1, 1, 1, 1),
        ("TIME-1810-1820", 1810, "LED-ALL", -1, 1, 1, 0),
        ("TIME-1810-1820", 1810, "LED-0.0-0.1", 0.1, 1, 1, 0),
    ]
    quiet = write(tmp_path, "q.tsv", "a/B-x")
    assert hipe_ranges(Source.of_path(quiet)).levels == ()
    linked = scored("hipe-2022", gold, gold, task="nel", n_best="1,3")
    assert set(hipe_slice_table(linked)["ranks"]) == {1, 3}
    with pytest.raises(FormatError, match="hipe-2020 has no option --time-period"):
        scored("hipe-2020", gold, pred, **{"time-period": list(periods)})


SEGMENT, DOCUMENT, DATE = "# segment s2", "# document_id = c", "# date = 1900-01-01"
TWO = ["# document_id = a", "x B", "# document_id = b", "y B"]
# Rows of gold and of the prediction; TP, FP and FN that the three commits give alike, None
# where they stop: Evaluator(gold, pred).evaluate("NE-COARSE-LIT", "nerc", merge_lines=True).
ENDINGS: list[tuple[list[str], list[str], tuple[int, int, int] | None]] = [
    ([*TWO, SEGMENT], [*TWO[:3], "y O", SEGMENT], (1, 0, 0)),
    ([*TWO, SEGMENT, ""], [*TWO[:3], "y O", SEGMENT, DATE], (1, 0, 0)),
    ([*TWO, SEGMENT, DOCUMENT], [*TWO, SEGMENT], (1, 0, 0)),
    ([*TWO, DOCUMENT, SEGMENT], [*TWO, SEGMENT], None),
    ([*TWO, DOCUMENT, SEGMENT], TWO, (2, 0, 0)),
    ([*TWO, "", DATE, DOCUMENT, ""], TWO, (2, 0, 0)),
    ([*TWO, SEGMENT], TWO, None),
    (TWO, [*TWO, SEGMENT], None),
    ([*TWO, SEGMENT], ["x B", "y B"], None),
    ([*TWO, DOCUMENT, "z B", SEGMENT], ["x B", "y B", "other B"], (2, 0, 0)),
    ([TWO[0], "x B", SEGMENT], ["x O"], (0, 0, 0)),
    ([TWO[0], "x B", SEGMENT], ["x O", SEGMENT, DOCUMENT], (0, 0, 0)),
]


def written(lines: list[str]) -> str:
    """Return a file of comments, blank lines and tokens with a tag, each token after one outside."""
    bare = {"B": "B-x", "O": "O"}
    rest = "\tO\tO\tO\t_\t_\t_"
    rows = (line if line[:1] in "#" else f"o\tO{rest}\n{line[:-1].strip()}\t{bare[line[-1]]}{rest}" for line in lines)
    return "\n".join([HEADER, *rows]) + "\n"


@pytest.mark.parametrize("name", ["hipe-2020", "hipe-2020-july", "hipe-2022"])
def test_the_last_document_is_lost_where_a_comment_on_a_segment_ends_the_file(name: str, tmp_path: Path) -> None:
    for number, (gold, pred, wanted) in enumerate(ENDINGS):
        for file, lines in (("g.tsv", gold), ("p.tsv", pred)):
            (tmp_path / file).write_text(written(lines))
        try:
            outcome = scored(name, tmp_path / "g.tsv", tmp_path / "p.tsv")
        except FormatError as error:
            assert wanted is None, (number, error)
            continue
        path = "NE-COARSE-LIT" if name == "hipe-2020" else "NE-COARSE-LIT/TIME-ALL/LED-ALL"
        figures = outcome.figures.set_index(["evaluation", "scope", "figure"])["value"]
        found = tuple(figures[f"{path}/strict", "overall", figure] for figure in ("TP", "FP", "FN"))
        assert found == wanted, number
        assert number or ["the last document is left out" in note for note in outcome.notes] == [True]


ROW = "a\tB-x\tO\tB-x\tO\t_\t_\t_\n"
ONE = f"{HEADER}\n# document_id = d0\n{ROW}"
SPELT = "\n".join([HEADER, "# document_id = d0", *(word + ROW[1:-1] for word in "abcdefgh")]) + "\n"
BAD = [
    # name, gold, prediction (None: as gold), options, what is said
    ("hipe-2022", ONE, ONE + ROW, {},
     "p.tsv:4: 2 tokens where gold (G) has 1: they part at 'a' against the end of gold"),
    ("hipe-2022", ONE + "b" + ROW[1:], ONE, {},
     "p.tsv:3: 1 token where gold (G) has 2: the prediction ends against gold"),
    ("hipe-2022", SPELT, SPELT.replace("b\t", "B\t").replace(f"g{ROW[1:]}", ""), {},
     "p.tsv:9: 7 tokens where gold (G) has 8: they part at 'h' against gold's 'g' (G:9)"),
    ("hipe-2022", ONE, ONE.replace("\t_\n", "\n").replace("\t_\t_", "\t_"), {},
     "p.tsv:3: nothing in column NEL-METO, and 6605770"),
    ("hipe-2020-july", ONE, ONE.replace("\t_\n", "\n"), {}, "p.tsv:3: 7 cells, so none in column MISC, and ac5c876"),
    ("hipe-2020", ONE, ONE.replace("\t_\n", "\t_\t_\n"), {},
     "p.tsv:3: 9 cells under a header of 8, and 08d31e6 of the scorer"),
    ("hipe-2022", ONE.replace("\tMISC", "").replace("\t_\n", "\n"), ONE, {},
     "g.tsv:1: no column MISC, and 6605770 of the scorer"),
    ("hipe-2020", ONE, None, {"task": "nerc_fine"},
     "g.tsv:1: no column 'NE-FINE-METO', and 08d31e6 of the scorer stops without it"),
    ("hipe-2022", "# a comment\n" + ONE, ONE, {},
     "g.tsv:1: line 1 is not a header, and 6605770 of the scorer takes it"),
    ("hipe-2022", "a\tb\n", None, {}, "g.tsv:1: 'a\\tb' is not a header"),
    ("hipe-2022", ONE, None, {"glue": "NE-FINE-LIT"}, "--glue: 'NE-FINE-LIT' is not a pair of columns"),
    ("hipe-2022", ONE.replace("\tO\tB-x\tO\t", "\tO\tO\tB-y\t"), None,
     {"glue": "NE-FINE-LIT+NE-NESTED", "task": "nerc_fine"},
     "g.tsv:3: 'B-y' in NE-NESTED cannot be glued to 'O' in NE-FINE-LIT"),
    ("hipe-2022", ONE, None, {"noise-level": "0.1", "time-period": "1900-x"},
     "--noise-level: '0.1' is not a range; write two numbers"),
    ("hipe-2022", ONE, None, {"noise-level": "0.1", "time-period": "1900-x"},
     "--time-period: '1900-x' is not a range; write two years"),
    ("hipe-2022", ONE, None, {"time-period": "1900-1898"}, "--time-period: '1900-1898' is not a range; write two"),
    ("hipe-2022", ONE, None, {"noise-level": "0.1-0.0"}, "--noise-level: '0.1-0.0' is not a range; write two numbers"),
    ("hipe-2022", ONE, None, {"map": __file__}, "--map: task nerc_coarse scores no links; ask for --task nel"),
    ("hipe-2022", ONE, None, {"time-period": "1900-1910"},
     "G: token 1 stands under no date, and the scorer stops on it"),
    ("hipe-2020-july", ONE.replace("# doc", "# date = May\n# doc"), None, {},
     "g.tsv:2: '# date = May' holds no day, and ac5c876"),
    ("hipe-2022", ONE, None, {"norm-histo": True, "task": "nel"},
     "--norm-histo: no mapping of links; give one with --map FILE"),
    ("hipe-2022", ONE + "# segment\n" + ROW, ONE + ROW, {},
     "p.tsv:4: gold begins a segment at 'a', the prediction does not"),
    ("hipe-2020", ONE + "# document_id = d1\n" + ROW, f"{HEADER}\nA{ROW[1:]}{ROW}", {},
     "p.tsv:2: 'A' against gold's 'a' (g.tsv:3): 08d31e6"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "gold", "pred", "options", "said"), BAD, ids=[f"{case[0]}-{case[4]}" for case in BAD])
def test_refuses_where_the_scorer_stops(
    name: str, gold: str, pred: str | None, options: dict[str, Any], said: str, tmp_path: Path
) -> None:
    for file, text in (("g.tsv", gold), ("p.tsv", gold if pred is None else pred)):
        (tmp_path / file).write_text(text)
    with pytest.raises(FormatError) as caught:
        scored(name, tmp_path / "g.tsv", tmp_path / "p.tsv", **options)
    found = [str(problem).replace(f"{tmp_path}/", "") for problem in caught.value.problems]
    assert any(line.startswith(said.replace("(G", "(g.tsv").replace("G: ", "g.tsv: ")) for line in found), found


def test_glued_labels_and_ranked_joined_and_mapped_links(tmp_path: Path) -> None:
    lines = "a\tB-x\tB-u\tB-x\tB-n\t{}\t{}\t_\nb\tI-x\tI-u\tI-x\tO\t{}\t{}\t_\n"
    gold, pred, mapping = (tmp_path / name for name in ("g.tsv", "p.tsv", "m.tsv"))
    gold.write_text(f"{HEADER}\n{lines.format('Q1', '_', 'Q1', '_')}")
    pred.write_text(f"{HEADER}\n{lines.format('Q7|Q8', 'Q1|Q2|Q3', 'Q7|Q8', 'Q1|Q2|Q3')}")
    glued = scored("hipe-2022", gold, pred, task="nerc_fine", glue="NE-FINE-LIT+NE-NESTED")
    assert list(glued.scores["NE-NESTED"]["TIME-ALL"]["LED-ALL"]) == ["X.N", "ALL"]
    mapping.write_text("Main\tAlternatives\t\nhttps://w.org/Q1\thttps://w.org/Q8\t#N/A\n")
    correct = {}
    for name, options in (
        ("plain", {}),
        ("mapped", {"map": str(mapping)}),
        ("joined", {"union-meto-lit": True}),
        ("gold mapped otherwise", {"map": str(mapping), "map-ref": str(_mapping(tmp_path, "Q9", "Q1"))}),
    ):
        outcome = scored("hipe-2020-july", gold, pred, task="nel", n_best="1,2,3,5", **options)
        hipe_slices = (ranks["NEL-LIT"]["TIME-ALL"]["LED-ALL"]["ALL"] for ranks in outcome.scores.values())
        correct[name] = [figures["strict"]["correct"] for figures in hipe_slices]
    # Joined in turn the lists are Q7, Q1, Q8, Q2, EMPTY, Q3.
    assert correct == {
        "plain": [0, 0, 0, 0],
        "mapped": [0, 1, 1, 1],
        "joined": [0, 1, 1, 1],
        "gold mapped otherwise": [0, 0, 0, 0],
    }
    timed = pred.read_text().replace("-x", "-time")
    pred.write_text(timed)
    outcome = scored("hipe-2020-july", gold, pred, task="nel", **{"norm-time": True})
    assert set(outcome.scores["1"]["NEL-LIT"]["TIME-ALL"]["LED-ALL"]) == {"Q1", "ALL"}
    assert set(outcome.records("1/NEL-LIT/TIME-ALL/LED-ALL/strict")["pred_type"]) == {"NIL"}


def _mapping(folder: Path, main: str, item: str) -> Path:
    path = folder / f"{main}.tsv"
    path.write_text(f"Main\tAlternatives\n{main}\t{item}\n")
    return path


def test_the_first_version_takes_two_columns_together_and_writes_the_last_of_ranked_results(tmp_path: Path) -> None:
    lines = "a\tO\tO\tO\tO\t{}\t{}\t_\nb\tO\tO\tO\tO\t_\t_\t_\n"
    gold, pred = tmp_path / "g.tsv", tmp_path / "p.tsv"
    gold.write_text(f"{HEADER}\nx\tO\tO\tO\tO\t_\t_\t_\n{lines.format('Q1', '_')}")
    pred.write_text(f"{HEADER}\nx\tO\tO\tO\tO\t_\t_\t_\n{lines.format('Q2|Q1', 'Q1')}")
    forms = find_convention("hipe-2020").forms
    outcome = scored("hipe-2020", gold, pred, task="nel", n_best="1,3")
    last = json.loads(forms["json"](outcome))
    assert last == outcome.scores["3"]
    assert [outcome.scores[rank]["NEL-LIT"]["ALL"]["strict"]["correct"] for rank in ("1", "3")] == [0, 1]
    assert [line.split("\t")[1] for line in forms["tsv"](outcome).splitlines()[1::4]] == [
        "NEL-LIT-micro-fuzzy-@1",
        "NEL-LIT-micro-fuzzy-@3",
    ]
    both = scored("hipe-2020", gold, pred, task="nel", union=True)
    assert json.loads(forms["json"](both))["NEL-LIT|NEL-METO"]["strict"]["correct"] == 1
    assert forms["tsv"](both).count("\n") == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Alternatives\tOthers\n", "Others' has no column Main; begin with Main<tab>Alternatives"),
        ("", ":1: an empty file, without column Main"),
    ],
)
def test_refuses_a_mapping_that_is_none(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "m.tsv"
    path.write_text(text)
    gold = write(tmp_path, "g.tsv", "a/B-x/Q1")
    with pytest.raises(FormatError) as caught:
        scored("hipe-2022", gold, gold, task="nel", map=str(path))
    assert said in str(caught.value)


def test_comments_of_2022_are_read_by_the_versions_of_2020_and_that_is_said(tmp_path: Path) -> None:
    rows = ("a/B-x b/O", "a/B-x b/O")
    for year, notes in ((2020, 0), (2022, 1)):
        path = write(tmp_path, f"{year}.tsv", *rows, year=year)
        outcome = scored("hipe-2020-july", path, path, **{"time-period": "1800-1805"})
        assert outcome.scores["NE-COARSE-LIT"]["TIME-1800-1805"]["LED-ALL"]["ALL"]["strict"]["correct"] == 1
        assert len(outcome.notes) == notes


def test_predictions_of_types_that_gold_lacks_are_said_to_be_left_out_without_a_tag_set(tmp_path: Path) -> None:
    """Metonymic predictions had 278 false positives where the official results, with the tag set, have 398."""
    gold, pred = write(tmp_path, "g.tsv", "a/B-x b/O c/O"), write(tmp_path, "p.tsv", "a/B-x b/B-y c/B-y")
    tags = tmp_path / "tags.txt"
    tags.write_text("x\ny\n")
    (note,) = scored("hipe-2020", gold, pred).notes[-1:]
    assert note.startswith("NE-COARSE-LIT: 2 predictions not counted, of types that gold lacks")
    outcome = scored("hipe-2020", gold, pred, tagset=str(tags))
    assert not any("not counted" in line for line in outcome.notes)
