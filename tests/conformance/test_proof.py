"""Hold our counts to those of the published scorers, on files of their shared tasks; `test_proof_drawn` needs none.

`strict` must find the very true positives that each scorer found, and by type too. Whatever else of a scorer's figures
follows from the same rules is held as well; what does not is listed below with the reason. Those tables cannot go
stale: a case listed as parting from us has to part.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from nereval_core.api.load import load_corpus
from nereval_core.api.load_options import LoadOptions
from nereval_core.problems import FormatError
from nereval_core.scoring import Counts, Scores, Settings, score_layers
from nereval_core.scoring.criteria import CRITERIA, SCHEMAS
from tests.support.shared_corpora import SHARED, files, needs

# Every scorer begins a new entity at a tag that continues nothing, and takes the tokens of gold.
AS_SCORERS_READ = LoadOptions(repair="conlleval", token_text="gold")

HIPE_SCHEMAS = {"strict": "strict", "exact": "exact", "partial": "partial", "ent_type": "type"}
HIPE_LEFT_OUT = {
    "ent_type": (
        "a prediction takes the first overlapping gold entity still free, whatever its type; ours is the best alignment"
    ),
    "actual by type": "a wrong type is booked under gold's type only; ours is the number of predictions of the type",
    "hipe-2020-july": "equality asks for equal token text too; ours is over positions (seen in team1_bundle3_fr_2)",
    "team23_bundle4_en_1 NE-COARSE-METO": "cells missing from a row are read as no annotation; we refuse the file",
}
"""Figures of the HIPE scorers that follow from rules we do not share, and why."""
UPPER_CASED = {"baseline_bundle4_en_1": "writes LOC where gold has loc; the scorer upper-cases, we need a merge"}

HIPE_EDGE_PARTING = {
    "unknown_type_no_tagset": "predictions of a type that gold lacks are dropped; with us they are spurious",
    "entity_across_segment_lines": "the same: its second prediction is of a type that gold lacks",
    "pipe_label": "a type with a pipe is outside the tag set and vanishes; with us a type is what the file says",
    "token_text_mismatch": "the joined token text must be equal too; ours is over positions",
    "case_folding": "labels are upper-cased, and b- is read as B-; with us case counts, and b- is no tag",
}
JNLPBA_EDGE_PARTING = {
    "answers_before_first_object": "answers before the first gold object are not counted (an uninitialised counter)",
    "orphan_I": "a lone I is no answer, yet may be right; we refuse the sequence",
    "class_change_inside": "B-protein I-DNA is one answer with a class at each end; we refuse the sequence",
    "type_only_in_answers": "the same counter: its first answer comes before the first gold object",
    "fewer_answer_sentences": "gold beyond the last answer is not counted; with us a missing unit is an error",
}
PHARMACONER_EDGE_PARTING = {
    "missing_document": "a document without response costs nothing; with us it is an error, or predicted empty",
    "extra_document": "a response without gold is ignored; with us it is an error",
    "duplicates": "annotations are sets; with us a duplicate is kept and counted",
    "wrong_tag_and_text": "the quoted text is not looked at; with us it must stand at the offsets",
}


def read_json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def scored(
    gold: Path, pred: Path, *, options: LoadOptions = AS_SCORERS_READ, leave_out: tuple[str, ...] = ()
) -> Scores:
    """Read, pair and score one submission."""
    return scored_all(gold, {"system": pred}, options=options, leave_out=leave_out)["system"]


def scored_all(
    gold: Path,
    preds: Mapping[str, Path],
    *,
    options: LoadOptions = AS_SCORERS_READ,
    leave_out: tuple[str, ...] = (),
    merge: Mapping[str, str] | None = None,
) -> dict[str, Scores]:
    """Read, pair and score submissions under the schemas and the two criteria that JNLPBA has beside."""
    loaded = load_corpus(gold, preds, options=options)
    criteria = tuple(CRITERIA[name] for name in (*SCHEMAS, "left", "right"))
    settings = Settings(criteria, tuple(sorted((merge or {}).items())), leave_out)
    return {
        layer.name: score_layers(loaded.corpus.gold, layer, settings, marks=loaded.marks[layer.name])
        for layer in loaded.corpus.systems
    }


def figures(counts: Counts) -> dict[str, int | None]:
    """Return counts under the names that the HIPE scorers give them."""
    return {
        "correct": counts.cor,
        "incorrect": counts.inc,
        "partial": counts.par,
        "missed": counts.mis,
        "spurious": counts.spu,
        "possible": counts.pos,
        "actual": counts.act,
    }


def by_type(scores: Scores, name: str) -> dict[str, Counts]:
    """Return counts by upper-cased type, empty ones for a type that has no span."""
    return {kind.upper(): counts for kind, counts in scores.by_type(name).items()}


# HIPE


def hipe_results() -> dict[tuple[str, str, str], dict[str, Any]]:
    """Return results by label, for every edition, submission and column that a reference gives."""
    found: dict[tuple[str, str, str], dict[str, Any]] = {}
    for path in files("expected/hipe2022/*_nerc_coarse.json"):
        data = read_json(path)
        for column, slices in data["results"].items():
            found["hipe2022", data["submission"], column] = data | {"labels": slices["TIME-ALL"]["LED-ALL"]}
    for path in files("expected/hipe2020/*_?.json"):
        data = read_json(path)
        for column, labels in data["june_2020"].get("nerc_coarse", {}).items():
            found["hipe2020", data["submission"], column] = data | {"labels": labels}
    return {key: data for key, data in found.items() if f"{Path(key[1]).stem} {key[2]}" not in HIPE_LEFT_OUT}


HIPE = hipe_results()


@needs("expected")
def test_hipe_has_every_submission() -> None:
    submissions = {submission for _, submission, column in HIPE if column == "NE-COARSE-LIT"}
    assert len(submissions) == len(files("expected/hipe2022/*_nerc_coarse.json")) + len(
        [path for path in files("expected/hipe2020/*_?.json") if "nerc_coarse" in read_json(path)["june_2020"]]
    )


@needs("expected")
@pytest.mark.parametrize("key", HIPE, ids=lambda key: f"{Path(key[1]).stem} {key[2]}")
def test_hipe(key: tuple[str, str, str]) -> None:
    edition, submission, column = key
    data = HIPE[key]
    options = LoadOptions(repair="conlleval", token_text="gold", gold_column=column, pred_column=column)
    folder = SHARED / edition
    scores = scored(folder / "gold" / data["gold"], folder / "submissions" / submission, options=options)
    for theirs, ours in HIPE_SCHEMAS.items():
        expected = {name: data["labels"]["ALL"][theirs][name] for name in figures(Counts())}
        counts = scores.counts(ours)
        if theirs in HIPE_LEFT_OUT:
            assert counts.cor is not None
            assert counts.cor >= expected["correct"]
            assert (counts.pos, counts.act) == (expected["possible"], expected["actual"])
        else:
            assert figures(counts) == expected, theirs
    ours_by_type = by_type(scores, "strict")
    for label, schemas in data["labels"].items():
        if label != "ALL":
            counts = ours_by_type.pop(label, Counts())
            expected = schemas["strict"]
            assert (counts.gold[0], counts.pos) == (expected["correct"], expected["possible"]), label
            assert counts.gold[0] == counts.pred[0]
    # What is left are types that only predictions have, outside the tag set or not: nothing can be correct there.
    assert not any(counts.pos for counts in ours_by_type.values())


@needs("expected")
def test_hipe_official_ranking() -> None:
    """All thirteen English runs of 2020, as ranked."""
    path = SHARED / "expected/hipe2020/official_ranking_en_coarse_strict.tsv"
    with path.open(encoding="utf-8", newline="") as file:
        rows = [
            row
            for row in csv.DictReader(file, delimiter="\t")
            if row["Evaluation"] == "NE-COARSE-LIT-micro-strict" and row["Label"] == "ALL"
        ]
    folder = SHARED / "hipe2020"
    systems = {row["System"]: folder / "submissions" / f"{row['System']}.tsv" for row in rows}
    gold = folder / "gold/HIPE-data-v1.3-test-en.tsv"
    scores = scored_all(gold, systems)
    assert set(systems) == {path.stem for path in folder.glob("submissions/*_en_?.tsv")} - {"team31_bundle5_en_1"}
    for name in UPPER_CASED:
        assert scores[name].counts("strict").cor == 0
        merge = {kind.upper(): kind for kind in scores[name].gold.types}
        scores |= scored_all(gold, {name: systems[name]}, merge=merge)
    for row in rows:
        counts = scores[row["System"]].counts("strict")
        expected = tuple(int(row[name]) for name in ("TP", "FP", "FN"))
        assert (counts.cor, counts.act - counts.pred[0], counts.pos - counts.gold[0]) == expected, row["System"]


@needs("expected")
def test_hipe_july_2020_parts_where_token_text_differs() -> None:
    path = SHARED / "expected/hipe2020/team1_bundle3_fr_2.json"
    data = read_json(path)
    june, july = (data[run]["nerc_coarse"]["NE-COARSE-LIT"]["ALL"]["strict"] for run in ("june_2020", "july_2020"))
    assert june["correct"] > july["correct"], HIPE_LEFT_OUT["hipe-2020-july"]


def edge_cases(name: str) -> dict[str, Any]:
    path = SHARED / "expected" / name
    cases: dict[str, Any] = read_json(path)["cases"] if path.is_file() else {}
    return cases


HIPE_EDGE = {name: case for name, case in edge_cases("hipe_edge/cases.json").items() if case["task"] != "nel"}
JNLPBA_EDGE = edge_cases("jnlpba/edge_cases.json")
PHARMACONER_EDGE = edge_cases("pharmaconer/subtask1_edge.json")


@needs("expected")
def test_the_tables_of_parting_cases_name_cases() -> None:
    for parting, cases in (
        (HIPE_EDGE_PARTING, HIPE_EDGE),
        (JNLPBA_EDGE_PARTING, JNLPBA_EDGE),
        (PHARMACONER_EDGE_PARTING, PHARMACONER_EDGE),
    ):
        assert set(parting) < set(cases)


def agrees(attempt: Iterable[tuple[object, object]]) -> bool:
    """Tell whether pairs of our figures and theirs are equal; a file that we refuse does not agree."""
    try:
        return all(ours == theirs for ours, theirs in attempt)
    except FormatError:
        return False


@needs("expected")
@pytest.mark.parametrize("name", HIPE_EDGE)
def test_hipe_edge(name: str) -> None:
    labels = HIPE_EDGE[name]["hipe_2022_6605770"]["NE-COARSE-LIT"]["TIME-ALL"]["LED-ALL"]
    folder = SHARED / "hipe_edge" / name

    def attempt() -> Iterable[tuple[object, object]]:
        scores = scored(folder / "gold.tsv", folder / "pred.tsv")
        for theirs, ours in HIPE_SCHEMAS.items():
            if theirs not in HIPE_LEFT_OUT:
                counts = figures(scores.counts(ours))
                yield counts, {figure: labels["ALL"][theirs][figure] for figure in counts}

    assert agrees(attempt()) == (name not in HIPE_EDGE_PARTING), HIPE_EDGE_PARTING.get(name)


# WNUT17


@cache
def wnut17() -> dict[str, Scores]:
    systems = {path.name: path for path in files("wnut17/submissions/*")}
    return scored_all(SHARED / "wnut17/emerging.test.annotated", systems)


@needs("expected")
@pytest.mark.parametrize("path", files("expected/wnut17/*.json"), ids=lambda path: path.stem)
def test_wnut17(path: Path) -> None:
    data = read_json(path)
    scores = wnut17()[Path(data["submission"]).name]
    expected = data["results"]["entity"]
    ours = {"ALL": scores.counts("strict"), **scores.by_type("strict")}
    assert set(ours) == set(expected)
    for label, counts in ours.items():
        assert counts.gold[0] == counts.pred[0]
        found = {"gold": counts.pos, "guess": counts.act, "correct": counts.gold[0]}
        assert found == {figure: expected[label][figure] for figure in found}, label
        # Where nothing was predicted the scorer prints 0, we leave it undefined.
        assert (counts.precision or 0.0) == pytest.approx(expected[label]["p"], abs=1e-9)
        assert counts.recall == pytest.approx(expected[label]["r"], abs=1e-9)
        assert counts.f1 == pytest.approx(expected[label]["f"], abs=1e-9)


# JNLPBA

# Left and right ask for one end and an equal class at that end: within legal sequences an entity has one class, no two
# entities of a side begin or end at the same token, and so the scorer and any best alignment count the same pairs.
JNLPBA_MATCHES = {"full": "strict", "left": "left", "right": "right"}


def jnlpba_pairs(scores: Scores, expected: Mapping[str, Any]) -> Iterable[tuple[object, object]]:
    for theirs, ours in JNLPBA_MATCHES.items():
        counts = {"ALL": scores.counts(ours), **scores.by_type(ours)}
        for label in expected.keys() - {"tags"}:
            row = expected[label]
            found = (counts[label].pos, counts[label].act, counts[label].gold[0], counts[label].pred[0])
            yield found, (row["objects"], row["answers"], row[theirs]["count"], row[theirs]["count"])


@needs("expected")
def test_jnlpba() -> None:
    data = read_json(SHARED / "expected/jnlpba/answers_legal.iob2.json")
    scores = scored(SHARED / "jnlpba" / data["gold"], SHARED / "jnlpba" / data["answers"], options=LoadOptions())
    expected = data["evalIOB2_2004_04_02"]
    for ours, theirs in jnlpba_pairs(scores, expected):
        assert ours == theirs
    assert set(scores.types) == set(expected) - {"tags", "ALL"}
    assert scores.counts("exact").cor == expected["ALL"]["full"]["count_without_class_unprinted"]


@needs("expected")
def test_jnlpba_broken_sequences() -> None:
    """Refused as they are. Read without the malformed chunks, objects, answers and `left` agree.

    `full` and `right` do not: the scorer counts the class of the last token, and an I that continues nothing both
    prolongs what stands before it and may itself be right.
    """
    data = read_json(SHARED / "expected/jnlpba/answers_broken.iob2.json")
    gold, answers = SHARED / "jnlpba" / data["gold"], SHARED / "jnlpba" / data["answers"]
    with pytest.raises(FormatError):
        scored(gold, answers, options=LoadOptions())
    scores = scored(gold, answers, options=LoadOptions(repair="discard"))
    expected = data["evalIOB2_2004_04_02"]["ALL"]
    ours = {theirs: scores.counts(name) for theirs, name in JNLPBA_MATCHES.items()}
    assert all((counts.pos, counts.act) == (expected["objects"], expected["answers"]) for counts in ours.values())
    agreeing = {theirs for theirs, counts in ours.items() if counts.cor == expected[theirs]["count"]}
    assert agreeing == {"left"}


@needs("expected")
@pytest.mark.parametrize("name", JNLPBA_EDGE)
def test_jnlpba_edge(name: str) -> None:
    folder = SHARED / "jnlpba/edge" / name
    expected = {"ALL": JNLPBA_EDGE[name]["evalIOB2_2004_04_02"]["ALL"]}

    def attempt() -> Iterable[tuple[object, object]]:
        options = LoadOptions(scheme="IOB2")
        yield from jnlpba_pairs(scored(folder / "gold.iob2", folder / "answers.iob2", options=options), expected)

    assert agrees(attempt()) == (name not in JNLPBA_EDGE_PARTING), JNLPBA_EDGE_PARTING.get(name)


# PharmaCoNER, sub-track 1


def pharmaconer_pairs(scores: Scores, results: Mapping[str, Any]) -> Iterable[tuple[object, object]]:
    counts = scores.counts("strict")
    yield (
        (counts.cor, counts.act - counts.pred[0], counts.pos - counts.gold[0]),
        tuple(results[figure] for figure in ("TP", "FP", "FN")),
    )
    yield len(scores.gold.documents), results["documents_scored"]
    documents = scores.by_document("strict")
    for document, figures in results["per_document"].items():
        counts = documents.get(document, Counts())
        yield [counts.gold[0], counts.act - counts.pred[0], counts.pos - counts.gold[0]], figures


@needs("expected")
def test_pharmaconer() -> None:
    folder = SHARED / "pharmaconer/subtask1"
    results = read_json(SHARED / "expected/pharmaconer/subtask1.json")["results"]
    scores = scored(folder / "ref/subtask1", folder / "res/subtask1", options=LoadOptions(), leave_out=("UNCLEAR",))
    for ours, theirs in pharmaconer_pairs(scores, results):
        assert ours == theirs
    assert not len(scores.gold.duplicates)
    assert not len(scores.pred.duplicates)
    counts = scores.counts("strict")
    ratios = {"Precision": counts.precision, "Recall": counts.recall, "F1": counts.f1}
    for name, value in results["scores"].items():
        assert ratios[name] == pytest.approx(float(value), abs=1e-9)


@needs("expected")
@pytest.mark.parametrize("name", PHARMACONER_EDGE)
def test_pharmaconer_edge(name: str, tmp_path: Path) -> None:
    folder = SHARED / "pharmaconer/subtask1_edge" / name
    gold = with_texts(folder / "ref/subtask1", folder / "res/subtask1", tmp_path)

    def attempt() -> Iterable[tuple[object, object]]:
        scores = scored(gold, folder / "res/subtask1", options=LoadOptions(), leave_out=("UNCLEAR",))
        yield from pharmaconer_pairs(scores, PHARMACONER_EDGE[name]["results"])

    assert agrees(attempt()) == (name not in PHARMACONER_EDGE_PARTING), PHARMACONER_EDGE_PARTING.get(name)


def with_texts(gold: Path, response: Path, target: Path) -> Path:
    """Copy gold and give each document the text that the quotes in gold, then those of the response, ask for.

    These cases come without texts: the scorer never looks at one.
    """
    for path in sorted(gold.glob("*.ann")):
        text = [" "] * 100
        for side in (response, gold):
            own = side / path.name
            for line in own.read_text(encoding="utf-8").splitlines() if own.is_file() else ():
                if line.startswith("T"):
                    _, _, start, end, quoted = line.replace("\t", " ").split(" ", 4)
                    text[int(start) : int(end)] = quoted.ljust(int(end) - int(start))[: int(end) - int(start)]
        (target / path.name).write_bytes(path.read_bytes())
        (target / f"{path.stem}.txt").write_text("".join(text), encoding="utf-8")
    return target
