"""Scorers whose numbers a convention or a criterion of ours gives, on recorded results of the originals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import nereval_core as nereval
from nereval_core.conventions import Outcome, ScorerInput, apply, find_convention, option_values
from nereval_core.problems import FormatError
from nereval_core.readers import Source
from tests.support import conlleval_corpora
from tests.support.other_scorers import (
    COMMAND,
    LINK_MEASURES,
    MATCHES,
    MENTION_MEASURES,
    METASTASIS,
    SEEDS,
    TAG_SEEDS,
    VERSION,
    coded,
    concepts,
    disorders,
    draw_few_nerd,
    draw_phrases,
    events,
    mentions,
    write_codes,
    write_index,
)
from tests.support.reconciliation import check_texts, overall_rows, reconcile
from tests.support.reference_fixtures import read_fixture
from tests.support.symptemist_corpora import Document, write_layers

pytestmark = pytest.mark.filterwarnings("ignore")
SMM4H = find_convention("smm4h-2022")


@pytest.fixture(scope="module")
def results() -> dict[str, Any]:
    fixture = read_fixture("other-scorers")
    assert fixture["command"] == COMMAND
    assert fixture["version"].startswith(VERSION)
    found: dict[str, Any] = fixture["results"]
    return found


def scored(name: str, folder: Path, documents: list[Document]) -> Outcome:
    gold, pred = map(Source.of_path, write_layers(folder, documents))
    return apply(find_convention(name), ScorerInput(gold=gold, pred=pred))


def counts(criterion: str, folder: Path, documents: list[Document]) -> tuple[int, int, int]:
    """Return TP, FP and FN under a criterion of ours."""
    scores = nereval.score(*write_layers(folder, documents), criteria=[criterion]).counts(criterion)
    return scores.cor, scores.act - scores.cor, scores.pos - scores.cor


def test_wnut_2020_is_conlleval(results: dict[str, Any]) -> None:
    convention = find_convention("conlleval")
    for seed, theirs in zip(TAG_SEEDS, results["wnut2020"], strict=True):
        file = Source.of_uploads([("tags.conll", conlleval_corpora.draw(seed).encode())])
        outcome = convention.score(ScorerInput(gold=file, pred=file, gold_column=-2), option_values(convention, {}))
        assert convention.forms["text"](outcome) == theirs.replace(" foundGuessed:", ""), seed


@pytest.mark.parametrize(
    ("name", "options", "figures"),
    [
        ("conlleval", {}, ("phrases", "found", "correct")),
        ("seqscore", {"labels": "IO"}, ("Reference", "Predicted", "Correct")),
    ],
)
def test_few_nerd_is_conlleval_on_tags_with_i(
    name: str, options: dict[str, str], figures: tuple[str, ...], results: dict[str, Any]
) -> None:
    convention = find_convention(name)
    for seed, theirs in zip(SEEDS, results["few-nerd"], strict=True):
        files = [
            Source.of_uploads([("x.conll", "\n".join("".join(map(_row, row)) for row in side).encode())])
            for side in draw_few_nerd(seed)
        ]
        outcome = convention.score(ScorerInput(gold=files[0], pred=files[1]), option_values(convention, options))
        scores = next(scores["overall"] for scores in outcome.scores.values() if "overall" in scores)
        assert [scores[figure] for figure in figures] == theirs, seed


def _row(tag: str) -> str:
    return f"w\t{tag if tag == 'O' else f'I-{tag}'}\n"


def test_cantemist_is_strict_where_no_place_is_repeated(results: dict[str, Any], tmp_path: Path) -> None:
    for seed, theirs in zip(SEEDS, results["cantemist"], strict=True):
        tp, fp, fn = counts("strict", tmp_path, mentions(seed))
        precision, recall = tp / (tp + fp), tp / (tp + fn)
        f1 = 2 * precision * recall / (precision + recall)
        assert theirs == "|".join(str(round(value, 3)) for value in (precision, recall, f1)), seed


def test_partial_matches_of_wnut_2020_are_right_boundaries(results: dict[str, Any], tmp_path: Path) -> None:
    for seed, theirs in zip(SEEDS, results["wnut2020-partial"], strict=True):
        layers = []
        for side in (0, 1):
            rows = ["".join(f"w\t{pair[side]}\n" for pair in sentence) for sentence in draw_phrases(seed)]
            (tmp_path / f"{side}.conll").write_text("\n".join(rows), encoding="utf-8")
            layers.append(nereval.read(tmp_path / f"{side}.conll", repair="conlleval"))
        scores = nereval.score(*layers, criteria=["right"])
        overall = scores.counts("right")
        # The blank line at the end counts as one more that is correct.
        counts = f"with {overall.pos} phrases; found: {overall.act} phrases; correct: {overall.cor + 1}."
        lines = []
        for name, row in sorted(scores.by_type("right").items()):
            precision, recall, f1 = (f"{100 * (value or 0):6.2f}" for value in (row.precision, row.recall, row.f1))
            figures = f"precision: {precision}%; recall: {recall}%; FB1: {f1} foundGuessed:  {row.act}"
            lines.append(f"{name}: {figures}")
        assert theirs[0].partition("tokens ")[2] == counts, seed
        assert theirs[1:] == lines, seed


def test_codes_of_cantemist_are_links_and_an_index(results: dict[str, Any], tmp_path: Path) -> None:
    for seed in SEEDS:
        folder = tmp_path / str(seed)
        folder.mkdir()
        write_codes(folder, coded(seed))
        write_index(folder, coded(seed), without=METASTASIS)
        links = nereval.link(folder / "gold", folder / "pred").counts
        codes = nereval.index(folder / "gold.tsv", folder / "pred.tsv").counts
        for name, counts in (("cantemist-norm", links), ("cantemist-codes", codes)):
            values = [round(value or 0, 3) for value in (counts.precision, counts.recall, counts.f1)]
            assert results[name][seed] == "|".join(map(str, values)), (name, seed)


def test_measures_of_neleval_are_criteria_links_and_an_index(results: dict[str, Any], tmp_path: Path) -> None:
    for seed, theirs in zip(SEEDS, results["neleval"], strict=True):
        ours = {name: counts(criterion, tmp_path, concepts(seed)) for name, criterion in MENTION_MEASURES.items()}
        folder = tmp_path / str(seed)
        folder.mkdir()
        write_codes(folder, coded(seed))
        write_index(folder, coded(seed))
        links = nereval.link(folder / "gold", folder / "pred").counts
        codes = nereval.index(folder / "gold.tsv", folder / "pred.tsv").counts
        for name, row in zip(LINK_MEASURES, (links, codes), strict=True):
            ours[name] = (row.right, row.predicted - row.right, row.gold - row.right)
        assert {name: tuple(row) for name, row in theirs.items()} == ours, seed


def test_semeval_2015_strict_is_that_of_symptemist(results: dict[str, Any], tmp_path: Path) -> None:
    for seed, theirs in zip(SEEDS, results["semeval-2015"], strict=True):
        row = scored("symptemist", tmp_path, disorders(seed)).scores["strict"]
        assert theirs["strict"] == [f"TP: {row['tp']}, FP: {row['fp']}, FN: {row['fn']}"], seed
    # What docs/conventions.md says of the relaxed figures.
    assert max(len(runs["relaxed"]) for runs in results["semeval-2015"]) > 1


def test_brateval_counts_alike_but_for_crowded_overlaps(results: dict[str, Any], tmp_path: Path) -> None:
    differing = 0
    for seed, theirs in zip(SEEDS, results["brateval"], strict=True):
        for criterion in MATCHES:
            ours = counts(criterion, tmp_path, concepts(seed))
            differing += sum(one != other for one, other in zip(ours, theirs[criterion], strict=True))
            if criterion in ("strict", "exact"):
                assert ours == tuple(theirs[criterion]), (seed, criterion)
            else:
                # Its greedy pairing finds no more than the best one.
                assert ours[0] >= theirs[criterion][0]
    assert (differing, 3 * len(MATCHES) * len(SEEDS)) == (6, 144)


def test_adverse_drug_events(results: dict[str, Any], tmp_path: Path) -> None:
    for seed, theirs in zip(SEEDS, results["smm4h-2022"], strict=True):
        outcome = scored("smm4h-2022", tmp_path, events(seed))
        rows = [outcome.scores[name] for name in ("Relaxed", "Strict")]
        logged = "\n".join(f"TP:{row['TP']} FP:{row['FP']} FN:{row['FN']}" for row in rows)
        assert SMM4H.forms["text"](outcome) + logged == theirs, seed
        reconcile(outcome)
        check_texts(outcome)


def test_records_of_adverse_drug_events(tmp_path: Path) -> None:
    documents: list[Document] = [
        ("d", [("ADE", 0, 4), ("ADE", 90, 120)], [("ADE", 2, 3), ("ADE", 4, 8), ("ADE", 2, 3), ("DRUG", 0, 4)]),
        ("e", [("ADE", 0, 2)], []),
    ]
    outcome = scored("smm4h-2022", tmp_path, documents)
    assert overall_rows(outcome.records("Relaxed"), "record", "decision", "why") == [
        ("g:0-4:ADE", "COR", "matches this gold span"),
        ("g:0-4:ADE", "COR", "matches this gold span"),
        # The last place of a document does not touch the first of the next.
        ("g:90-120:ADE", "MIS", "matches nothing"),
        ("g:0-2:ADE", "MIS", "matches nothing"),
        ("p:2-3:ADE~2", "IGN", "given twice: left out"),
        ("p:0-4:DRUG", "IGN", "no ADE: left out"),
    ]


def test_discontinuous_events_are_refused(tmp_path: Path) -> None:
    row = (
        '{"id": "d", "text": "a b c", "spans": [{"start": 0, "end": 5, "label": "ADE", "fragments": [[0, 1], [4, 5]]}]}'
    )
    (tmp_path / "gold.jsonl").write_text(row + "\n", encoding="utf-8")
    source = Source.of_path(tmp_path / "gold.jsonl")
    with pytest.raises(FormatError, match="is discontinuous, which files of the task cannot hold"):
        apply(SMM4H, ScorerInput(gold=source, pred=source))
