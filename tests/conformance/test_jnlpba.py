"""evalIOB2.pl of both versions: the reference's numbers and printouts, its quirks, and records that add up to them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nereval_core import readers
from nereval_core.conventions import Convention, Outcome, ScorerInput, find_convention, option_values
from nereval_core.conventions.jnlpba.objects import WHY
from nereval_core.problems import FormatError
from nereval_core.readers import Source
from tests.support.draws import draws
from tests.support.jnlpba_corpora import COMMAND, SEEDS, VERSIONS, write_corpus
from tests.support.reconciliation import by_layers_and_files, overall_rows, reconcile
from tests.support.reference_fixtures import read_fixture
from tests.support.shared_corpora import SHARED, files, needs

APRIL, OCTOBER = "jnlpba-2004-04", "jnlpba-2004-10"
KEYS = {APRIL: "evalIOB2_2004_04_02", OCTOBER: "evalIOB2_2004_10_14"}


def scored(convention: Convention, gold: Source, pred: Source, **options: Any) -> Outcome:
    return convention.score(ScorerInput(gold=gold, pred=pred), option_values(convention, options))


def source(text: str, name: str = "x.iob2") -> Source:
    return Source.of_uploads([(name, text.encode())])


def rows(tags: str) -> str:
    """Return lines of tokens for tags split by blanks, sentences by `/`."""
    sentences = (sentence.split() for sentence in tags.split("/"))
    return "".join("".join(f"w{i}\t{tag}\n" for i, tag in enumerate(one)) + "\n" for one in sentences)


def of_text(version: str, gold: str, pred: str, **options: Any) -> Outcome:
    return scored(find_convention(version), source(rows(gold), "gold.iob2"), source(rows(pred), "pred.iob2"), **options)


def expected() -> list[Any]:
    cases = []
    for path in files("expected/jnlpba/answers_*.json"):
        case = json.loads(path.read_text())
        cases += [(version, case["gold"], case["answers"], case[key]) for version, key in KEYS.items()]
    for path in files("expected/jnlpba/edge_cases.json"):
        for name, case in json.loads(path.read_text())["cases"].items():
            folder = f"edge/{name}"
            cases += [
                (version, f"{folder}/gold.iob2", f"{folder}/answers.iob2", case[key]) for version, key in KEYS.items()
            ]
    return [pytest.param(*case, id=f"{case[2]}-{case[0]}") for case in cases]


def sections(printed: str) -> list[str]:
    """Return the sections of a printout, those of classes sorted: the order of April's is by chance."""
    first, *others = printed.split("\n[<")
    return [first, *sorted(others)]


def test_drawn_tags_meet_every_rule(tmp_path: Path) -> None:
    fixture = read_fixture("jnlpba")
    assert fixture["command"] == COMMAND
    met: set[str] = set()
    for seed, by_version in zip(SEEDS, fixture["results"], strict=True):
        gold, answers, listed = write_corpus(tmp_path, seed)
        for version in VERSIONS:
            convention, theirs = find_convention(version), by_version[version]
            options = {"l": str(listed)} if listed and version == OCTOBER else {}
            sides = Source.of_path(gold), Source.of_path(answers)
            if theirs["stopped"]:
                with pytest.raises(FormatError, match="evalIOB2"):
                    scored(convention, *sides, **options)
                met.add(theirs["stopped"])
                continue
            outcome = scored(convention, *sides, **options)
            assert sections(convention.forms["text"](outcome)) == sections(theirs["printed"]), (seed, version)
            met |= {*reconcile(outcome)["why"]}
    assert met >= {"[!]No object to identify.", "[!]No object identified.", "insufficient answers."}
    assert met >= {*WHY}


@needs("jnlpba")
@pytest.mark.parametrize(("version", "gold", "pred", "wanted"), expected())
def test_the_reference_says_the_same(version: str, gold: str, pred: str, wanted: dict[str, Any]) -> None:
    folder = SHARED / "jnlpba"
    sides = Source.of_path(folder / gold), Source.of_path(folder / pred)
    if "died" in wanted:
        with pytest.raises(FormatError, match=wanted["died"].rstrip(".")):
            scored(find_convention(version), *sides)
        return
    outcome = scored(find_convention(version), *sides)
    found = outcome.scores
    assert [name for name in wanted if name != "tags"] == sorted(
        (name for name in found if name != "tags"), key=list(wanted).index
    )
    for scope, section in wanted.items():
        if scope == "tags":
            tags = found["tags"]
            assert [tags["tags"], tags["correct tags"], tags["correct IOBs"]] == [
                section[name] for name in ("total", "correct_tags", "correct_IOBs")
            ]
            assert f"{tags['precision with class info']:6.4f}" == section["with_class"]
            assert f"{tags['precision w/o class info']:6.4f}" == section["without_class"]
            continue
        assert found[scope]["OBJECTs"] == section["objects"]
        assert version == OCTOBER or found[scope]["ANSWERs"] == section["answers"]
        for evaluation in ("full", "left", "right"):
            ours, theirs = found[scope][evaluation], section[evaluation]
            assert ours["correct"] == theirs["count"]
            for figure, name in (("recall", "recall"), ("precision", "precision"), ("f-score", "f")):
                if version == APRIL:
                    assert f"{ours[figure]:6.4f}" == theirs[name]
                else:
                    cut = theirs[f"{name}_percent"].removeprefix("cut off in print: ")
                    assert f"{100 * ours[figure]:5.2f}".strip().startswith(cut)
            if "count_without_class_unprinted" in theirs:
                assert ours["w/o class info"]["correct"] == theirs["count_without_class_unprinted"]
    reconcile(outcome)


# evalIOB2.pl of 2004-04-02 (spyysalo/jnlpba, 4455122): perl evalIOB2.pl GOLD ANSWERS under Perl 5.36.
APRIL_PRINT = """
[Tagging Performance]
# of tags: 7,\t correct tags: 5,\t correct IOBs: 5
precision with class info: 0.7143,\t w/o class info: 0.7143

[Object Identification Performance]
# of OBJECTs: 3,\t ANSWERs: 1.

# (recall / precision / f-score) of ...
     FULLY CORRECT answer with class info: 1 (0.3333 / 1.0000 / 0.5000),
    correct LEFT boundary with class info: 1 (0.3333 / 1.0000 / 0.5000),
   correct RIGHT boundary with class info: 3 (1.0000 / 3.0000 / 1.5000),


[<protein> Identification Performance]
# of OBJECTs: 1,\t ANSWERs: 0.

# (recall / precision / f-score) of ...
     FULLY CORRECT answer with class info: 0 (0.0000 / 0.0000 / 0.0000),
    correct LEFT boundary with class info: 0 (0.0000 / 0.0000 / 0.0000),
   correct RIGHT boundary with class info: 1 (1.0000 / 0.0000 / 0.0000),


[<DNA> Identification Performance]
# of OBJECTs: 2,\t ANSWERs: 1.

# (recall / precision / f-score) of ...
     FULLY CORRECT answer with class info: 1 (0.5000 / 1.0000 / 0.6667),
    correct LEFT boundary with class info: 1 (0.5000 / 1.0000 / 0.6667),
   correct RIGHT boundary with class info: 2 (1.0000 / 2.0000 / 1.3333),

"""
# evalIOB2.pl of 2004-10-14 (ArrogantL/nlp, JNLPBA2004_eval): perl evalIOB2.pl ANSWERS GOLD.
LINE = "+------------------+---------------------------------+---------------------------------+------------------" + (
    "---------------+"
)
OCTOBER_ROWS = (
    "|  protein  (   1) |    0 ( 0.00% /  0.00% /  0.00%) |    1 (100.00% /  0.00% /  0.00% |"
    "    0 ( 0.00% /  0.00% /  0.00%) |",
    "|    DNA    (   2) |    1 (50.00% / 100.00% / 66.67% |    2 (100.00% / 200.00% / 133.3 |"
    "    1 (50.00% / 100.00% / 66.67% |",
    "|    RNA    (   0) |    0 ( 0.00% /  0.00% /  0.00%) |    0 ( 0.00% /  0.00% /  0.00%) |"
    "    0 ( 0.00% /  0.00% /  0.00%) |",
    "| cell_type (   0) |    0 ( 0.00% /  0.00% /  0.00%) |    0 ( 0.00% /  0.00% /  0.00%) |"
    "    0 ( 0.00% /  0.00% /  0.00%) |",
    "| cell_line (   0) |    0 ( 0.00% /  0.00% /  0.00%) |    0 ( 0.00% /  0.00% /  0.00%) |"
    "    0 ( 0.00% /  0.00% /  0.00%) |",
    "|  [-ALL-]  (   3) |    1 (33.33% / 100.00% / 50.00% |    3 (100.00% / 300.00% / 150.0 |"
    "    1 (33.33% / 100.00% / 50.00% |",
)
OCTOBER_PRINT = "\n".join(
    [
        "                              Biomedical Entity Recognition Performance (Genaral)"
        "                                         ",
        "                                                                                         "
        "number(recall/precision/f-score) ",
        LINE,
        "|                  |          complete match         |       right boundary match      |"
        "       left boundary match       |",
        LINE,
        *(line for row in OCTOBER_ROWS for line in (row, LINE)),
        "",
        "",
        "",
        "",
    ]
)
ORPHANS = ("O B-protein I-protein O B-DNA / B-DNA I-DNA", "O O I-protein O I-DNA / B-DNA I-DNA")


@pytest.mark.parametrize(("version", "printed"), [(APRIL, APRIL_PRINT), (OCTOBER, OCTOBER_PRINT)])
def test_the_text_is_the_reference_printout(version: str, printed: str) -> None:
    assert find_convention(version).forms["text"](of_text(version, *ORPHANS)) == printed


# What is scored, the evaluation, and (decision, gold, prediction, why) of its overall records.
QUIRKS = [
    (
        APRIL,
        "right",
        ORPHANS,
        [
            ("COR", "w1 w2", "w2", "both end here, and the tags of this token are of one class"),
            ("COR", "w4", "w4", "both end here, and the tags of this token are of one class"),
            ("COR", "w0 w1", "w0 w1", "both end here, and the tags of this token are of one class"),
        ],
    ),
    (
        APRIL,
        "left",
        ("O O O B-DNA", "B-DNA O I-DNA B-RNA"),
        [
            ("MIS", "w3", None, "the other side begins one here, of another class"),
            ("IGN", None, "w0", "stands before the first object of gold: not counted"),
            ("IGN", None, "w2", "an I that follows no B or I belongs to no object"),
            ("SPU", None, "w3", "the other side begins one here, of another class"),
        ],
    ),
    (
        APRIL,
        "full",
        ("B-DNA O / B-RNA I-RNA", "B-DNA O"),
        [
            ("COR", "w0", "w0", "the same tags from the first token to the last"),
            ("IGN", "w0 w1", None, "the answers end before this sentence: not read"),
        ],
    ),
    (
        OCTOBER,
        "full",
        ("B-virus O B-DNA I-DNA", "B-virus B-x B-RNA I-RNA"),
        [
            ("IGN", "w0", "w0", "its class is none of the five"),
            ("MIS", "w2 w3", None, "the other side has the same first and last token, of another class"),
            ("IGN", None, "w1", "its class is none of the five"),
            ("SPU", None, "w2 w3", "the other side has the same first and last token, of another class"),
        ],
    ),
]


@pytest.mark.parametrize(("version", "evaluation", "sides", "wanted"), QUIRKS)
def test_records_say_which_rule_decided(
    version: str, evaluation: str, sides: tuple[str, str], wanted: list[tuple[str, str | None, str | None, str]]
) -> None:
    outcome = of_text(version, *sides)
    assert overall_rows(outcome.records(evaluation), "decision", "gold_text", "pred_text", "why") == wanted
    reconcile(outcome)


def test_a_class_that_changes_inside_counts_where_each_end_has_it() -> None:
    outcome = of_text(APRIL, "B-DNA I-RNA O B-RNA", "B-DNA I-RNA O B-RNA")
    records = outcome.records("right")
    found = records[["scope", "gold_text", "OBJECTs", "ANSWERs", "correct"]].astype("object").to_numpy().tolist()
    assert found == [
        ["overall", "w0 w1", 1, 1, 1],
        ["overall", "w3", 1, 1, 1],
        ["DNA", "w0 w1", 1, 1, 0],
        ["RNA", "w0 w1", 0, 0, 1],
        ["RNA", "w3", 1, 1, 1],
    ]


TWO = "w0\tB-DNA\tB-DNA\nw1\tI-DNA\tO\n\n"


@pytest.mark.parametrize(
    ("version", "options", "counts"),
    [
        (APRIL, {}, (1, 1, 1)),
        (APRIL, {"r": -2}, (1, 1, 0)),
        (APRIL, {"a": -1, "r": 1}, (1, 1, 0)),
        (OCTOBER, {"r": 1}, (1, 1, 0)),
        (OCTOBER, {}, (1, 1, 1)),
    ],
)
def test_fields_count_from_0(version: str, options: dict[str, int], counts: tuple[int, int, int]) -> None:
    both = source(TWO)
    overall = scored(find_convention(version), both, both, **options).scores["ALL"]
    assert (overall["OBJECTs"], overall["ANSWERs"], overall["full"]["correct"]) == counts


def test_only_listed_abstracts_count(tmp_path: Path) -> None:
    text = "###MEDLINE:1\n\nw\tB-DNA\n\n###MEDLINE:2\n\nw\tB-RNA\n\n"
    chosen = tmp_path / "ids.lst"
    chosen.write_text("2\n")
    outcome = scored(find_convention(OCTOBER), source(text), source(text), l=str(chosen))
    assert [outcome.scores[name]["OBJECTs"] for name in ("DNA", "RNA", "ALL")] == [0, 1, 1]
    records = outcome.records("full")
    assert records.loc[records["decision"] == "IGN", "why"].tolist() == ["its abstract is not in the list"] * 2


# The list of abstracts and the objects by class that the reading and counting code of evalIOB2.pl of 2004-10-14 gives
# under Perl, as `perl evalIOB2.pl -l LIST FILE FILE`: to it, sentences before the first id are of the abstract "".
HEADLESS = [
    ("", {"protein": 0, "DNA": 0, "RNA": 0}),
    ("1\n", {"protein": 0, "DNA": 1, "RNA": 0}),
    ("1", {"protein": 0, "DNA": 1, "RNA": 0}),
    ("0\n2\n", {"protein": 0, "DNA": 0, "RNA": 1}),
    ("\n", {"protein": 1, "DNA": 0, "RNA": 0}),
    ("1\n\n", {"protein": 1, "DNA": 1, "RNA": 0}),
]


@pytest.mark.parametrize(("listed", "objects"), HEADLESS)
def test_a_blank_line_lists_the_sentences_before_the_first_abstract(
    tmp_path: Path, listed: str, objects: dict[str, int]
) -> None:
    both = source("w\tB-protein\n\n###MEDLINE:1\n\nw\tB-DNA\n\n###MEDLINE:2\n\nw\tB-RNA\n\n")
    chosen = tmp_path / "ids.lst"
    chosen.write_text(listed, encoding="utf-8")
    scores = scored(find_convention(OCTOBER), both, both, l=str(chosen)).scores
    assert {name: scores[name]["OBJECTs"] for name in objects} == objects


def test_october_drops_a_last_sentence_without_a_blank_line() -> None:
    gold = source("w\tB-DNA\n\nw\tB-RNA\n")
    outcome = scored(find_convention(OCTOBER), gold, gold)
    assert outcome.scores["ALL"]["OBJECTs"] == 1
    assert scored(find_convention(APRIL), gold, gold).scores["ALL"]["OBJECTs"] == 2
    assert "no blank line ends the last sentence: dropped" in set(outcome.records("full")["why"])


# What is given and what is said of it.
REFUSED = [
    (
        APRIL,
        "B-DNA O",
        "O O",
        "x: no answer from the first object of gold on: evalIOB2.pl of 2004-04-02 prints the tagging performance and "
        "stops, 'No object identified.'; give at least one, as B- in IOB2 tags",
    ),
    (APRIL, "O B-DNA", "B-DNA O", "x: no answer from the first object of gold on"),
    (APRIL, "O O", "B-DNA O", "x: no object in what is read"),
    (APRIL, "B-DNA / O O", "B-DNA / O", "x:3: sentence 2 has 1 token where gold's (gold.iob2:3) has 2"),
    (APRIL, "B-DNA", "B-DNA / O", "x:3: 2 sentences where gold has 1"),
    (OCTOBER, "B-DNA / O O", "B-DNA / O", "x:3: sentence 2 has 1 token where gold's (gold.iob2:3) has 2"),
    (OCTOBER, "B-DNA / O", "B-DNA", "x: 1 sentence where gold has 2: evalIOB2.pl of 2004-10-14 stops"),
]


@pytest.mark.parametrize(("version", "gold", "pred", "said"), REFUSED)
def test_where_the_reference_stops(version: str, gold: str, pred: str, said: str) -> None:
    with pytest.raises(FormatError) as error:
        of_text(version, gold, pred)
    (line,) = error.value.lines()
    assert line.replace("pred.iob2", "x").replace("gold.iob2: no", "x: no").startswith(said)


def test_answers_that_no_blank_line_ends_are_insufficient_in_october() -> None:
    with pytest.raises(FormatError, match="no blank line ends the last sentence"):
        scored(find_convention(OCTOBER), source("w\tO\n\n"), source("w\tO\n"))


TAGS = ("O", "O", "B-DNA", "I-DNA", "B-RNA", "I-RNA", "I-virus", "E-DNA", "S-DNA", "B", "X")
SENTENCES = st.lists(st.lists(st.tuples(*[st.sampled_from(TAGS)] * 2), min_size=1, max_size=6), min_size=1, max_size=4)


@draws(6)
@given(SENTENCES)
def test_records_add_up_to_the_figures(sentences: list[list[tuple[str, str]]]) -> None:
    gold, pred = (" / ".join(" ".join(pair[side] for pair in one) for one in sentences) for side in (0, 1))
    reconcile(of_text(OCTOBER, gold, pred))
    reconcile(of_text(APRIL, "B-DNA / " + gold, "B-DNA / " + pred))


@pytest.mark.parametrize("version", [APRIL, OCTOBER])
def test_layers_score_as_their_files(version: str) -> None:
    gold, pred = rows("B-DNA I-DNA O / B-RNA B-RNA I-RNA"), rows("B-DNA O O / B-RNA B-RNA I-RNA")
    given = ScorerInput(
        gold=source(gold, "gold.iob2"), pred=source(pred, "pred.iob2"), gold_format="conll", pred_format="conll"
    )
    layers, read = by_layers_and_files(version, given)
    assert layers.scores == read.scores
    assert layers.records().equals(read.records())


@pytest.mark.parametrize("version", [APRIL, OCTOBER])
def test_nested_spans_are_refused(version: str) -> None:
    text = '{"id": "d", "text": "a b", "tokens": [[0, 1], [2, 3]], "spans": [%s]}\n'
    spans = '{"start": 0, "end": 3, "label": "DNA"}', '{"start": 2, "end": 3, "label": "RNA"}'
    layer = readers.read(source(text % ", ".join(spans), "x.jsonl")).layer
    convention = find_convention(version)
    with pytest.raises(FormatError, match=f"overlaps another span, and {version} counts tags, which cannot say that"):
        convention.of_layers(layer, layer, option_values(convention, {}))


def test_classes_that_the_later_version_does_not_know_are_named() -> None:
    text = "B-LOC O B-protein / O"
    assert of_text(OCTOBER, text, text).notes == ("counted nowhere, as this version knows 5 classes alone: LOC",)
    assert of_text(APRIL, text, text).notes == of_text(OCTOBER, "B-DNA / O", "B-DNA / O").notes == ()


@pytest.mark.parametrize("version", [APRIL, OCTOBER])
def test_sentences_before_the_first_abstract_count(version: str) -> None:
    tags = rows("B-DNA I-DNA / B-RNA"), rows("B-DNA I-DNA / B-DNA")
    marked = [f"w\tB-protein\n\n###MEDLINE:0\n\n{text}" for text in tags]
    outcome = scored(find_convention(version), source(marked[0], "gold.iob2"), source(marked[1], "pred.iob2"))
    assert outcome.documents.ids == ("1", "0")
    figures = outcome.figures.set_index(["evaluation", "scope", "figure"])["value"]
    found = [figures["full", "overall", figure] for figure in ("OBJECTs", "ANSWERs", "correct")]
    assert found == [3, 3, 2]
    reading = readers.read(source(marked[0], "gold.iob2"))
    assert any("before the first document id" in note for note in reading.notes)


DOCSTART = ("-DOCSTART-\tO\n\nw\tB-DNA\n\n-DOCSTART-\tB-RNA\n\n", "-DOCSTART-\tO\n\nw\tB-DNA\n\n-DOCSTART-\tB-DNA\n\n")


@pytest.mark.parametrize("version", [APRIL, OCTOBER])
def test_docstart_is_a_token_to_both_versions(version: str) -> None:
    # Both programs: 2 OBJECTs, 2 ANSWERs, 1 correct; that of April counts 3 tags, 2 of them correct.
    outcome = scored(find_convention(version), source(DOCSTART[0], "gold.iob2"), source(DOCSTART[1], "pred.iob2"))
    figures = outcome.figures.set_index(["evaluation", "scope", "figure"])["value"]
    assert [figures["full", "overall", figure] for figure in ("OBJECTs", "ANSWERs", "correct")] == [2, 2, 1]
    if version == APRIL:
        assert [outcome.scores["tags"][name] for name in ("tags", "correct tags", "correct IOBs")] == [3, 2, 3]


@pytest.mark.parametrize(("listed", "objects"), [("7\n", 2), ("8\n", 1)])
def test_repeated_ids_are_scored_and_listed_together(tmp_path: Path, listed: str, objects: int) -> None:
    # evalIOB2.pl of 2004-10-14 with -l.
    (tmp_path / "list").write_text(listed)
    text = "".join(f"###MEDLINE:{name}\n\nw\tB-DNA\n\n" for name in (7, 8, 7))
    sides = source(text, "gold.iob2"), source(text, "pred.iob2")
    outcome = scored(find_convention(OCTOBER), *sides, l=tmp_path / "list")
    assert outcome.scores["ALL"]["OBJECTs"] == objects
    assert scored(find_convention(APRIL), *sides).scores["ALL"]["OBJECTs"] == 3
