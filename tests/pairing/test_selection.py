"""Scoring listed documents alone: as if the files had no others."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import nereval_core
from nereval_core.api.load import load_corpus
from nereval_core.api.load_options import LoadOptions
from nereval_core.cli import main
from nereval_core.corpus import Layer
from nereval_core.pairing import added_marks
from nereval_core.pairing.selection import document_ids, listed_ids, restricted
from nereval_core.problems import FormatError, counted
from nereval_core.readers import Reading
from tests.support import ROOT
from tests.support.draws import draws
from tests.support.layer_strategies import content, layers

DEMO = ROOT / "demo_data" / "biology"
GOLD, RULES = DEMO / "gold.jsonl", DEMO / "rules.jsonl"
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)

    def ran(*arguments: object) -> tuple[int, str, str]:
        status = main([str(argument) for argument in arguments])
        return status, *capfd.readouterr()

    return ran


def some_lines(path: Path, ids: set[str]) -> bytes:
    rows = path.read_text(encoding="utf-8").splitlines(keepends=True)
    return "".join(row for row in rows if json.loads(row)["id"] in ids).encode()


LISTS = [
    ("d1\nd2\n", ("d1", "d2"), (1, 2)),
    ("d1\r\n\r\n  \nd2", ("d1", "d2"), (1, 4)),
    (" d1 \nd1\nd1\n", (" d1 ", "d1"), (1, 2)),
    ("#1,2\n", ("#1,2",), (1,)),
]


@pytest.mark.parametrize(("text", "ids", "lines"), LISTS)
def test_ids_stand_one_a_line(text: str, ids: tuple[str, ...], lines: tuple[int, ...]) -> None:
    found = listed_ids(text, source="ids.txt")
    assert (found.ids, found.lines) == (ids, lines)


def test_ids_are_a_file_or_have_commas_between(tmp_path: Path) -> None:
    (tmp_path / "dev.txt").write_text("d1,d2\nd3\n", encoding="utf-8")
    assert document_ids(str(tmp_path / "dev.txt")).ids == ("d1,d2", "d3")
    assert document_ids("d1, d2,d1,") == document_ids("d1,d2")
    for empty in ("", " ,", "\n"):
        with pytest.raises(FormatError, match="no document id in it"):
            document_ids(empty)


@draws(13)
@given(layers(), st.data())
def test_restricting_is_reading_a_file_with_these_documents(layer: Layer, data: st.DataObject) -> None:
    ids = layer.documents.ids
    if not ids:
        return
    wanted = data.draw(st.lists(st.sampled_from(ids), min_size=1, unique=True))
    whole = Reading(layer.documents, layer, "jsonl")
    found = restricted(whole, wanted)
    assert found.restricted == f"{len(wanted)} of {counted(len(ids), 'document')}"
    assert set(found.documents.ids) == set(wanted) and found.layer.documents is found.documents
    # The rest taken too, the two are the whole again.
    wanted_content, made = content(layer), content(found.layer)
    numbers = [number for number, name in enumerate(ids) if name in wanted]
    for key in ("ids", "texts", "tokens", "sentences", "meta of documents"):
        if wanted_content[key] is not None:
            assert list(made[key]) == [wanted_content[key][number] for number in numbers], key
    assert restricted(whole, ids).layer.digest == layer.digest
    assert list(found.layer.types) == sorted({found.layer.label(span) for span in range(len(found.layer))})


def test_scores_are_those_of_files_with_these_documents(tmp_path: Path) -> None:
    ids = {"bio-02", "bio-07", "bio-11"}
    for path in (GOLD, RULES):
        (tmp_path / path.name).write_bytes(some_lines(path, ids))
    options = LoadOptions(documents=document_ids(",".join(sorted(ids))))
    loaded = load_corpus(GOLD, {"rules": RULES}, options=options)
    alone = load_corpus(tmp_path / "gold.jsonl", {"rules": tmp_path / "rules.jsonl"})
    assert loaded.corpus.digest == alone.corpus.digest
    assert loaded.marks["rules"] == ("restricted to 3 of 20 documents",)
    # A prediction that has no others is as good.
    assert load_corpus(GOLD, {"rules": tmp_path / "rules.jsonl"}, options=options).corpus.digest == alone.corpus.digest
    assert load_corpus(tmp_path / "gold.jsonl", {"rules": RULES}, options=options).corpus.digest == alone.corpus.digest
    both = [nereval_core.read(path, documents=ids) for path in (GOLD, RULES)]
    scores = nereval_core.score(both[0], both[1])
    assert (scores.read_gold, scores.marks) == (alone.corpus.gold.digest, loaded.marks["rules"])


def test_documents_without_ids_are_paired_first(tmp_path: Path) -> None:
    words = [("Ann", "B-PER"), ("saw", "O"), ("Rome", "B-LOC")]
    for name, kept in (("gold", 3), ("run", 1)):
        rows = [f"{word} {tag if number < kept else 'O'}\n" for number, (word, tag) in enumerate(words)]
        (tmp_path / f"{name}.conll").write_text("\n".join(rows), encoding="utf-8")
    options = LoadOptions(documents=document_ids("2,3"), scheme="IOB2")
    loaded = load_corpus(tmp_path / "gold.conll", {"run": tmp_path / "run.conll"}, options=options)
    assert loaded.corpus.documents.ids == ("2", "3")
    assert (loaded.corpus.gold.types, len(loaded.corpus.systems[0])) == (("LOC",), 0)
    assert loaded.marks["run"] == ("restricted to 2 of 3 documents",)


def test_documents_are_found_by_their_text_too(tmp_path: Path) -> None:
    rows = [{"id": name, "text": f"Ann saw {name}", "spans": []} for name in ("a", "b", "c")]
    (tmp_path / "gold.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    rows[1]["id"], rows[2]["id"] = "other b", "other c"
    (tmp_path / "run.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    options = LoadOptions(documents=document_ids("a,b"))
    loaded = load_corpus(tmp_path / "gold.jsonl", {"run": tmp_path / "run.jsonl"}, options=options)
    assert loaded.corpus.documents.ids == ("a", "b") and len(loaded.systems["run"].documents) == 2
    options = LoadOptions(documents=document_ids("b,c"))
    loaded = load_corpus(tmp_path / "gold.jsonl", {"run": tmp_path / "run.jsonl"}, options=options)
    assert loaded.corpus.documents.ids == ("b", "c")
    for pair_by in ("text", "order"):
        loaded = load_corpus(
            tmp_path / "gold.jsonl", {"run": tmp_path / "run.jsonl"}, options=replace(options, pair_by=pair_by)
        )
        assert loaded.corpus.documents.ids == ("b", "c")
        assert loaded.corpus.systems[0].documents is loaded.corpus.documents
        assert "restricted to 2 of 3 documents" in loaded.marks["run"]


def test_documents_with_other_ids_are_paired_first(tmp_path: Path) -> None:
    """By text; written otherwise too, and whatever their ids."""
    ids = document_ids("bio-02,bio-07,bio-11")
    plain = load_corpus(GOLD, {"rules": RULES}, options=LoadOptions(documents=ids))
    other = tmp_path / "rules.jsonl"
    other.write_text(RULES.read_text(encoding="utf-8").replace('"id": "bio-', '"id": "x-'), encoding="utf-8")
    for path, options in (
        (other, LoadOptions(documents=ids)),
        (other, LoadOptions(documents=ids, align_text=True)),
        (RULES, LoadOptions(documents=ids, pair_by="text")),
    ):
        found = load_corpus(GOLD, {"rules": path}, options=options)
        assert found.corpus.digest == plain.corpus.digest
        assert found.marks["rules"] == ("restricted to 3 of 20 documents", "paired by text: 20 documents")


BAD: list[tuple[dict[str, Any], str]] = [
    ({"documents": document_ids("bio-01,bio-99")}, "--documents: no document is called 'bio-99'; write ids as in"),
    ({"documents": document_ids("x")}, "--documents: no document is called 'x'"),
    ({"documents": listed_ids("bio-01\nx", source="ids.txt")}, "ids.txt:2: no document is called 'x'"),
]


@pytest.mark.parametrize(("options", "said"), BAD, ids=[said for _, said in BAD])
def test_an_id_that_no_side_has_is_an_error(options: dict[str, Any], said: str) -> None:
    with pytest.raises(FormatError) as caught:
        load_corpus(GOLD, {"rules": RULES}, options=LoadOptions(**options))
    assert [str(problem).startswith(said) for problem in caught.value.problems] == [True]
    with pytest.raises(FormatError, match="no document is called"):
        nereval_core.read(GOLD, documents=options["documents"])


def test_an_id_that_one_side_lacks_is_told_as_ever(tmp_path: Path) -> None:
    (tmp_path / "gold.jsonl").write_bytes(some_lines(GOLD, {"bio-01", "bio-02"}))
    (tmp_path / "run.jsonl").write_bytes(some_lines(RULES, {"bio-02", "bio-03"}))
    with pytest.raises(FormatError) as caught:
        load_corpus(
            tmp_path / "gold.jsonl",
            {"run": tmp_path / "run.jsonl"},
            options=LoadOptions(documents=document_ids("bio-01,bio-02,bio-03")),
        )
    lines = [str(problem) for problem in caught.value.problems]
    assert ["'bio-03' is not in" in lines[0], "'bio-01'" in lines[1] and "is missing" in lines[1]] == [True, True]


def test_marks_add_up_over_parts() -> None:
    parts = [("restricted to 2 of 5 documents", "types mapped: a=b"), ("restricted to 1 of 7 documents",)]
    assert added_marks(parts) == ("restricted to 3 of 12 documents", "types mapped: a=b")


def test_on_the_command_line(run: Run, tmp_path: Path) -> None:
    (tmp_path / "ids.txt").write_text("bio-02\nbio-07\n", encoding="utf-8")
    status, out, err = run("score", GOLD, RULES, "--documents", "ids.txt", "--criteria", "strict")
    assert status == 0 and "| documents 2 | restricted to 2 of 20 documents" in out
    assert "2 documents, " in err and "; restricted to 2 of 20 documents" in err
    assert run("score", GOLD, RULES, "--documents", "bio-02,bio-07", "--criteria", "strict")[1] == out
    status, _, err = run("score", GOLD, RULES, "--documents", "ids.txt", "--json", "ids.txt")
    assert status == 2 and "would overwrite an input" in err
    status, out, _ = run("score", GOLD, RULES, "--documents", "ids.txt", "--convention", "nervaluate-1.2.1")
    assert status == 0 and "restricted to 2 of 20 documents" in out
    status, _, err = run("score", GOLD, RULES, "--documents", "ids.txt", "--engine", "local")
    assert status == 2 and "--documents has no use with --engine" in err
    for files in ((GOLD,), (GOLD, RULES)):
        status, out, _ = run("consistency", *files, "--documents", "ids.txt")
        assert status == 0 and out.splitlines()[-1].endswith("restricted to 2 of 20 documents")
    assert run("convert", GOLD, "some.jsonl", "--to", "jsonl", "--documents", "ids.txt")[0] == 0
    assert nereval_core.read("some.jsonl").documents.ids == ("bio-02", "bio-07")


def corpus_of(*layers: list[str], options: LoadOptions, tmp_path: Path) -> tuple[str, ...]:
    """Return the ids that are scored of files of documents, gold first."""
    paths = []
    for number, ids in enumerate(layers):
        rows = ({"id": name, "text": "abc", "spans": [{"start": 0, "end": 1, "label": "A"}]} for name in ids)
        paths.append(tmp_path / f"{number}.jsonl")
        paths[-1].write_text("".join(json.dumps(row) + "\n" for row in rows) or "{\n")
    systems = {path.stem: path for path in paths[1:]}
    loaded = load_corpus(paths[0], systems, options=options, partial=True)
    assert all(layer.documents is loaded.corpus.documents for layer in loaded.corpus.systems)
    # An empty file is one that cannot be read.
    assert [layer.name for layer in loaded.corpus.systems] == [str(at) for at, ids in enumerate(layers) if at and ids]
    return loaded.corpus.documents.ids


COMMON = [
    # (documents of each side, listed, scored)
    ((["a", "b", "c"], ["c", "b"], ["b", "d", "c"]), None, ("b", "c")),
    ((["a", "b", "c"], ["c", "b"], []), None, ("b", "c")),
    ((["a", "b", "c"], ["c", "b"]), ("a", "b"), ("b",)),
    ((["a", "b"], ["b", "a"]), None, ("a", "b")),
]


@pytest.mark.parametrize(("sides", "listed", "scored"), COMMON)
def test_documents_that_all_have_are_scored_alone(
    sides: tuple[list[str], ...], listed: tuple[str, ...] | None, scored: tuple[str, ...], tmp_path: Path
) -> None:
    ids = None if listed is None else document_ids(",".join(listed))
    assert corpus_of(*sides, options=LoadOptions(common=True, documents=ids), tmp_path=tmp_path) == scored


def test_without_a_document_that_all_have_there_is_nothing_to_score(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"0\.jsonl: no document is in all of the files; score what fits together"):
        corpus_of(["a"], ["b"], options=LoadOptions(common=True), tmp_path=tmp_path)
    for name in ("g", "s"):
        (tmp_path / f"{name}.conll").write_text("Ann\tB-PER\nmet\tO\n\n")
    with pytest.raises(FormatError, match=r"documents without ids, which cannot be looked for in all files"):
        load_corpus(tmp_path / "g.conll", {"s": tmp_path / "s.conll"}, options=LoadOptions(common=True))
